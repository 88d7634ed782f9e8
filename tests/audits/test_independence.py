"""Runs of one call must be independent: dependence is named, independent runs are left in peace."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import comb, exp
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import audit, per_run
from dpcheck.audits.statistics.independence import (
    LEVEL,
    NAME,
    complaint,
    complaint_of_counts,
    log_chance_of_spread,
    log_chance_of_streaks,
)
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.testing.assertions import PrivacyViolation, Unhealthy, assert_private

Law = Callable[[np.random.Generator, int], np.ndarray]


# The two bounds, against every outcome there is -----------------------------------------------------
@pytest.mark.parametrize("calls", [(3, 3, 3), (1, 2, 6), (4, 4), (2, 2, 2, 2, 2), (5, 1, 1, 1)])
def test_the_bound_on_uneven_calls_holds_for_every_number_of_hits(calls: tuple[int, ...]) -> None:
    sizes = np.array(calls)
    for total in range(sum(calls) + 1):
        table = [
            (
                log_chance_of_spread(np.array(hits), sizes),
                np.prod([comb(m, x) for m, x in zip(calls, hits, strict=True)]),
            )
            for hits in product(*(range(m + 1) for m in calls))
            if sum(hits) == total
        ]
        for level, _ in table:
            chance = sum(ways for bound, ways in table if bound <= level) / comb(sum(calls), total)
            assert chance <= exp(level) + 1e-12


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_the_bound_on_streaks_holds_for_every_number_of_hits(n: int) -> None:
    for total in range(n + 1):
        table = []
        for places in combinations(range(n), total):
            event = np.zeros(n, dtype=bool)
            event[list(places)] = True
            table.append(log_chance_of_streaks(event))
        for level in set(table):
            assert sum(bound <= level for bound in table) / len(table) <= exp(level) + 1e-12


# Laws ------------------------------------------------------------------------------------------------
LAWS: dict[str, Law] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "no mean": lambda rng, n: rng.pareto(0.3, n),
    "coin": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "rare": lambda rng, n: (rng.random(n) < 0.002).astype(float),
    "constant": lambda rng, n: np.zeros(n),
    "mixed": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.normal(size=n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, rng.normal(size=n)),
}
DEPENDENT: dict[str, Law] = {
    "one draw for all": lambda rng, n: rng.normal(size=n) + rng.normal(),
    "one scale for all": lambda rng, n: rng.normal(size=n) * rng.uniform(0.5, 2),
    "one coin for all": lambda rng, n: (rng.random(n) < rng.random()).astype(float),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "antithetic neighbours": lambda rng, n: np.outer(rng.normal(size=-(-n // 2)), [1, -1]).ravel()[:n],
    "antithetic halves": lambda rng, n: np.outer([1, -1], rng.normal(size=-(-n // 2))).ravel()[:n],
    "each twice": lambda rng, n: np.repeat(rng.normal(size=-(-n // 2)), 2)[:n],
}


@pytest.mark.parametrize("calls", [[625] * 8, [24, 8, 8, 9, 10, 12, 14, 16], [1] * 50, [7]])
@pytest.mark.parametrize("name", LAWS)
def test_independent_runs_are_left_in_peace(name: str, calls: list[int]) -> None:
    """A complaint has probability at most 1e-6 each."""
    rng = np.random.default_rng(1)
    rows = [LAWS[name](rng, sum(calls))[:, None] for _ in range(2)]
    assert complaint(rows[0], rows[1], calls) is None
    hits = [[np.count_nonzero(part > 0) for part in np.split(side[:, 0], np.cumsum(calls)[:-1])] for side in rows]
    assert complaint_of_counts(np.array(hits).T, calls) is None


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_runs_are_named(name: str) -> None:
    def mechanism(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return DEPENDENT[name](rng, trials)

    result = audit(mechanism, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000)
    assert [message for message in result.health if message.startswith(NAME) and "per_run(f)" in message]


def test_one_run_a_call_is_independent() -> None:
    """The planted one, as a function of one run: false-alarm rate 1e-6."""
    once = per_run(lambda data, rng: DEPENDENT["one draw for all"](rng, 1)[0])
    health = audit(once, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=2000).health
    assert not any(message.startswith(NAME) for message in health)


def test_what_only_the_test_shows_is_named_too() -> None:
    """Hits of the event, call by call, vary four times as much as chance has them: too little for a pilot."""
    rng = np.random.default_rng(0)
    calls = np.full(32, 1000)
    even = rng.binomial(1000, 0.1, size=(32, 2))
    assert complaint_of_counts(even, calls) is None
    uneven = rng.binomial(1000, np.clip(rng.normal(0.1, 0.03, size=(32, 2)), 0, 1))
    assert NAME in str(complaint_of_counts(uneven, calls))


def test_a_test_of_dependent_runs_proves_nothing_either_way() -> None:
    def shared(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return rng.normal(size=trials) + rng.normal()

    def leaking(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return 9 * data + shared(data, rng, trials)

    asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": PureDP(1.0), "max_trials": 20_000}
    for mechanism in (shared, leaking):
        with pytest.raises(Unhealthy, match=rf"{NAME}: calls differ .*chance below {LEVEL:g}") as caught:
            assert_private(mechanism, **asked)
        assert caught.value.check == NAME
    with pytest.raises(PrivacyViolation):
        assert_private(leaking, **asked, suppress=(NAME,))
