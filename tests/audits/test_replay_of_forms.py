"""Replay in few runs: forms that no noise decides on, and geometric noise whose likeliest outcomes are listed.

What a branch on noise decides, in whatever way it is written, must never be taken for what the data decide: each way is
tried on a mechanism that keeps its promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import add_remove, per_run, replay
from dpcheck.audits.same_noise import enumeration
from dpcheck.audits.same_noise.enumeration import Tosses, distribution, likeliest, loss
from dpcheck.audits.same_noise.result import KEPT, UNSEEN, VIOLATED
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, PureDP

PAIR = (np.zeros(10), np.eye(10)[0])
PURE = PureDP(1.0)
FEW = 20  # runs
Run = Callable[[Any, np.random.Generator], Any]


# Forms --------------------------------------------------------------------------------------------------
def counts_of_found_values(x: Any, rng: np.random.Generator) -> Any:
    return {float(value): np.sum(x == value) + rng.laplace(scale=2) for value in np.unique(x)}


def as_long_as_the_largest(x: Any, rng: np.random.Generator) -> Any:
    cells = int(x.max()) + 1
    return np.bincount(x.astype(int), minlength=cells) + rng.laplace(scale=2, size=cells)


@pytest.mark.parametrize("run", [counts_of_found_values, as_long_as_the_largest])
def test_a_form_that_no_noise_decides_on_is_told_in_few_runs(run: Run) -> None:
    result = replay(per_run(run), PAIR, PURE)
    assert result.violated
    assert result.low == math.inf
    assert result.runs <= FEW


def by_comparison(noisy: Any) -> Any:
    return [noisy] if noisy > 0.5 else []


def by_a_plain_number(noisy: Any) -> Any:
    return [1.0] * (2 + (float(noisy) > 0.5))


def by_its_length(noisy: Any) -> Any:
    return [1.0] * len(f"{noisy:.1f}")


def by_a_whole_number(noisy: Any) -> Any:
    return np.zeros(int(abs(noisy)) % 3)


def by_rounding(noisy: Any) -> Any:
    return ["odd"] if round(noisy) % 2 else "even"


def by_a_bend(noisy: Any) -> Any:
    return [1.0] if np.maximum(noisy, 0.5) > 0.5 else []


def by_an_error(noisy: Any) -> Any:
    return [math.sqrt(abs(float(noisy) - 0.65) - 0.35)]  # on one dataset at most


def by_a_mask(noisy: Any) -> Any:
    return np.array([1.0, 2.0])[np.array([noisy, -noisy]) > 0.5]


def by_a_sign(noisy: Any) -> Any:
    return np.copysign(0.0, noisy - 0.5)


def by_an_infinite_number(noisy: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1e308 * (noisy - 0.5) * 1e3


def by_the_sign_of_a_zero(noisy: Any) -> Any:
    return 0.0 * (noisy - 0.5)


def by_its_bytes(noisy: Any) -> Any:
    return [1.0] * (1 + np.asarray(noisy).tobytes()[0] % 2)


WAYS = [
    by_comparison,
    by_a_plain_number,
    by_its_length,
    by_a_whole_number,
    by_rounding,
    by_a_bend,
    by_an_error,
    by_a_mask,
    by_a_sign,
    by_an_infinite_number,
    by_the_sign_of_a_zero,
    by_its_bytes,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_form_that_noise_decides_on_is_no_violation(way: Callable[[Any], Any]) -> None:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        return way(x.sum() + rng.laplace())

    for seed in range(30):
        assert not replay(per_run(noisy), PAIR, PURE, seed=seed).violated


def test_a_branch_in_the_line_that_asks_is_none_of_the_data() -> None:
    for seed in range(20):
        result = replay(per_run(lambda x, rng: [1] * len(str(x.sum() + rng.laplace())[:4])), PAIR, PURE, seed=seed)
        assert not result.violated
        result = replay(per_run(lambda x, rng: [1] * int(x.sum() + rng.laplace() > 0)), PAIR, PURE, seed=seed)
        assert not result.violated


# Geometric noise ----------------------------------------------------------------------------------------
THRESHOLD = 5
P = 1 - math.exp(-1)
AT = math.exp(-THRESHOLD) / (1 + math.exp(-1))  # of discrete Laplace noise at the threshold or above


def shown(x: Any, rng: np.random.Generator, strictly: bool) -> Any:
    """The noisy size, if it is large; nothing at all of nothing."""
    if len(x) == 0:
        return None
    noisy = len(x) + int(rng.geometric(P)) - int(rng.geometric(P))
    return noisy if noisy > THRESHOLD or (noisy == THRESHOLD and not strictly) else None


ONE_OR_NONE = (np.zeros(1), np.zeros(0))


def at_delta(delta: float, strictly: bool, **how: Any) -> Any:
    claim = ApproxDP(1.0, delta, relation=ADD_REMOVE)
    return replay(per_run(lambda x, rng: shown(x, rng, strictly)), guarantee=claim, **how)


def test_a_count_at_the_threshold_is_found() -> None:
    """The planted bug shows the threshold itself, the account begins above it."""
    found = at_delta(AT, strictly=False, pair=ONE_OR_NONE)
    assert found.verdict == VIOLATED
    assert found.runs <= FEW
    assert at_delta(AT, strictly=False, neighbours=add_remove(low=0, high=1, n=(1, 2)), pairs=6).violated


@pytest.mark.parametrize(("share", "verdict"), [(0.2, VIOLATED), (1.0, UNSEEN), (1.5, KEPT)])
def test_bounds_of_a_threshold_meet_at_the_truth(share: float, verdict: str) -> None:
    assert at_delta(share * AT, strictly=True, pair=ONE_OR_NONE).verdict == verdict


def test_wide_geometric_noise_is_not_listed() -> None:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        large = len(x) > 0 and len(x) + int(rng.geometric(0.01)) - int(rng.geometric(0.01)) > 500
        return True if large else None

    result = replay(per_run(noisy), ONE_OR_NONE, ApproxDP(1.0, 1e-3, relation=ADD_REMOVE))
    assert result.verdict == UNSEEN
    assert result.runs <= FEW


WEIGHTS = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4)
TABLES = st.tuples(WEIGHTS, st.lists(WEIGHTS, min_size=4, max_size=4))


def tossing(table: Any) -> Callable[[Tosses], Any]:
    """Two tosses, the second by the first; two of its outcomes look alike."""

    def run(tosses: Tosses) -> Any:
        first = tosses.toss(np.array(table[0]))
        return first % 3, tosses.toss(np.array(table[1][first]))

    return run


@settings(max_examples=60, deadline=None)
@given(TABLES, TABLES, st.sampled_from([0.0, 1e-3, 0.1]), st.integers(1, 40))
def test_a_part_of_the_outcomes_bounds_the_whole(one: Any, other: Any, delta: float, runs: int) -> None:
    claim = PureDP(1.0) if delta == 0 else ApproxDP(1.0, delta)
    sides = [tossing(one), tossing(other)]
    listed = [distribution(run) for run in sides]
    assert listed[0] is not None
    assert listed[1] is not None
    exact = loss(listed[0], listed[1], claim)[0]
    with mock.patch.object(enumeration, "LIKELIEST", runs):
        bounds = likeliest(sides[0], sides[1], claim, math.inf)
    assert bounds is not None
    assert bounds[0] <= exact * (1 + 1e-9) + 1e-9
    assert exact <= bounds[1] * (1 + 1e-9) + 1e-9
    if runs >= 32:  # all of them
        assert bounds[0] == pytest.approx(exact, abs=1e-6)
        assert bounds[1] == pytest.approx(exact, abs=1e-6)
