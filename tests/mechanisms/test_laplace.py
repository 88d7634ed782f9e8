"""The Laplace mechanism (zhang17, Lemma 1): its density ratio exactly, and an audit (false alarms: 1e-6)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits import audit
from bounds.accounting import laplace_delta
from bounds.claim import Effort, Verdict
from bounds.guarantees import PureDP
from bounds.mechanisms.laplace import lemma1
from dpcheck import noise

FALSE_ALARM = 1e-6
vectors = st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(np.array)


def log_ratio(z: np.ndarray, first: np.ndarray, second: np.ndarray, scale: float) -> float:
    """Of the densities exp(-|z|_1 / scale) of two noisy answers at z; their constant is common."""
    return float((np.abs(z - second) - np.abs(z - first)).sum() / scale)


@given(z=vectors, first=vectors, second=vectors, eps=st.floats(0.05, 5))
@settings(max_examples=100, deadline=None)
def test_density_ratios_stay_within_eps(z: np.ndarray, first: np.ndarray, second: np.ndarray, eps: float) -> None:
    distance = float(np.abs(first - second).sum())
    scale = lemma1.evaluate(Delta1=max(distance, 1e-3), eps=eps)
    assert log_ratio(z, first, second, scale) <= eps * (1 + 1e-9) + 1e-12


@given(first=vectors, second=vectors, eps=st.floats(0.05, 5))
@settings(max_examples=50, deadline=None)
def test_eps_is_attained_and_less_noise_exceeds_it(first: np.ndarray, second: np.ndarray, eps: float) -> None:
    """At the answer itself; planted: the l2 distance for the l1 distance."""
    apart = np.abs(first - second)
    if apart.min() < 0.1:
        second = first + 1.0
        apart = np.ones(3)
    scale = lemma1.evaluate(Delta1=apart.sum(), eps=eps)
    assert log_ratio(first, first, second, scale) == pytest.approx(eps, rel=1e-9)
    wrong = lemma1.evaluate(Delta1=float(np.linalg.norm(apart)), eps=eps)
    assert log_ratio(first, first, second, wrong) > eps * 1.01


@pytest.mark.parametrize("d", [1, 3])
def test_audit(d: int) -> None:
    """False alarms: 1e-6. Planted: noise halved; in three dimensions, l2 sensitivity."""
    claimed = PureDP(1.0)

    def flagged(sensitivity: float) -> bool:
        scale = float(lemma1.evaluate(Delta1=sensitivity, eps=claimed.eps))

        def release(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
            return data + noise.laplace(rng, scale, (trials, d))

        pair = (np.zeros(d), np.ones(d))
        found = audit(release, pair=pair, guarantee=claimed, max_trials=30_000, alpha=FALSE_ALARM, seed=4)
        return found.violated

    assert not flagged(float(d))
    assert flagged(d / 2)
    if d > 1:
        assert flagged(math.sqrt(d))


def test_the_exact_profile_ends_where_the_lemma_says() -> None:
    scale = lemma1.evaluate(Delta1=1.0, eps=0.7)
    assert laplace_delta(0.7, 1 / scale) == 0.0
    assert laplace_delta(0.69, 1 / scale) > 0.0
    assert lemma1.checks[0].run(lemma1, Effort()).verdict is Verdict.PROVED
