"""Audits of discrete outputs by a table of their ratios. False alarms: 1e-6 per audit, fixed seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcheck.audits import AuditResult, audit
from dpcheck.audits.scores.tables import OutputTable, row_keys, table_of
from dpcheck.bounds.language.guarantees import PureDP

PAIR = (np.zeros(6), np.array([1.0, 1, 1, -1, -1, -1]))


def above_threshold(data: np.ndarray, rng: np.random.Generator, trials: int, query: float = 8.0) -> np.ndarray:
    """Which noisy queries reach a noisy threshold, up to the second that does: epsilon 1 with query noise 8."""
    reached = data + rng.laplace(scale=query, size=(trials, 6)) >= rng.laplace(scale=2.0, size=(trials, 1))
    seen = reached.cumsum(axis=1)
    return np.where((seen > 2) | ((seen == 2) & ~reached), -1, reached)


def broken(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """The planted bug: query noise that forgets how many answers there are."""
    return above_threshold(data, rng, trials, query=2.0)


def asked(mechanism: Any, **more: Any) -> AuditResult:
    return audit(mechanism, pair=PAIR, guarantee=PureDP(1.0), **{"max_trials": 100_000, "alpha": 1e-6, **more})


@pytest.mark.parametrize(("mechanism", "flagged"), [(above_threshold, False), (broken, True)])
def test_the_table_flags_the_broken_sparse_vector_only(mechanism: Any, flagged: bool) -> None:
    result = asked(mechanism)
    assert result.violated is flagged
    assert "from a table of" in result.event.sentence
    assert result.trials == 100_000


def test_ctrl_c_before_anything_is_counted_stops_the_audit() -> None:
    """There is nothing to report yet."""
    probe = {"calls": 0, "limit": 10**9}

    def stopped(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        probe["calls"] += 1
        if probe["calls"] >= probe["limit"]:
            raise KeyboardInterrupt
        return broken(data, rng, trials)

    counted: list[int] = []
    asked(stopped, max_trials=4000, progress=lambda done, total, bound: counted.append(probe["calls"]))
    probe["calls"], probe["limit"] = 0, counted[0] - 1  # the first chunk of the test
    with pytest.raises(KeyboardInterrupt):
        asked(stopped, max_trials=4000)


def drawn(weights: list[float], runs: int, seed: int = 0) -> OutputTable:
    """Words of four bits from two laws whose log ratio is the sum of the weights of the bits that are set."""
    rng = np.random.default_rng(seed)
    words = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(float)
    second = np.full(16, 1 / 16)
    first = second * np.exp(words @ np.array(weights))
    sides = [words[rng.choice(16, size=runs, p=law / law.sum())] for law in (first, second)]
    return table_of(*sides)


def test_additive_ratios_are_learned_from_fewer_runs_than_the_plain_table_needs() -> None:
    """Five weights for sixteen words: the error falls to about √(5/16) = 0.56 of the plain table's."""
    weights = [0.4, -0.3, 0.5, 0.2]
    truth = np.array([np.dot(row, weights) for row in drawn(weights, 4000).rows])
    errors = []
    for seed in range(20):
        table = drawn(weights, 4000, seed)
        atoms, *_ = table.fitted()
        ours, theirs = table.counts.sum(axis=0)
        errors.append([np.ptp(score - truth) for score in (atoms.scores, np.log(ours / theirs))])
    fitted, plain = np.median(errors, axis=0)
    assert fitted < 0.7 * plain


def test_the_halves_may_be_swapped() -> None:
    """Each half is scored once by the other, so no order of the runs is preferred."""
    table = drawn([0.4, -0.3, 0.5, 0.2], 3000)
    swapped = OutputTable(table.keys, table.rows, table.counts[::-1])
    assert np.array_equal(table.fitted()[0].scores, swapped.fitted()[0].scores)


def test_an_additive_model_of_equal_laws_says_little() -> None:
    """Without a ridge, chance alone spreads the scores by several tenths."""
    spreads = []
    for seed in range(20):
        counts = drawn([0.0] * 4, 200, seed).counts.sum(axis=0)
        held = np.ptp(drawn([0.0] * 4, 200, seed)._model("shrunk to an additive model", counts))
        spreads.append((held, np.ptp(np.log((counts[0] + 0.5) / (counts[1] + 0.5)))))
    held, plain = np.median(spreads, axis=0)
    assert held < 0.2 * plain


def test_rows_have_one_key_each() -> None:
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [-0.0, 1.0]])
    keys = row_keys(rows)
    assert keys[0] == keys[2] == keys[3] != keys[1]


def test_outputs_near_the_largest_float_are_no_trouble() -> None:
    def huge(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return 1e200 * (data + rng.laplace(size=trials))

    assert not audit(huge, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=5000, alpha=1e-6).violated
