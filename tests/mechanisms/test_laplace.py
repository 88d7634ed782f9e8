"""The Laplace mechanism (zhang17, Lemma 1; dwang20, Definition 2.1.2): its density ratio exactly, and audits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.mechanisms import laplace as theory
from dpcheck.bounds.library.mechanisms.laplace import lemma1
from dpcheck.bounds.privacy.exact import laplace_delta
from dpcheck.kernels import noise
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.solvers.mechanisms.laplace import LaplaceMechanism, l1_sensitivity

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


# dwang20, Definition 2.1.2 -------------------------------------------------------------------------
def test_the_printed_density_is_none_and_the_corrected_one_is() -> None:
    for claim, verdict in ((theory.density, Verdict.REFUTED), (theory.density_corrected, Verdict.PROVED)):
        found = claim.checks[0].run(claim, Effort())
        assert found.verdict is verdict
    assert theory.density_corrected.evaluate(reach=50.0, sigma=1.0) == pytest.approx(1.0)
    samples = np.random.default_rng(0).laplace(scale=0.7, size=200_000)
    mass = theory.density_corrected.evaluate(reach=1.0, sigma=0.7)
    assert abs(np.mean(np.abs(samples) <= 1.0) - mass) < 5 * math.sqrt(mass * (1 - mass) / len(samples))


@given(d=st.integers(1, 6), n=st.integers(1, 9), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_sensitivity_covers_all_neighbours_and_is_attained(d: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = turned_row(d, n)
    assert np.abs(first.X.mean(0) - second.X.mean(0)).sum() == pytest.approx(l1_sensitivity(first), rel=1e-9)
    rows = rng.normal(size=(2, d))
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
    pair = [first.replace(0, row, 0.0) for row in rows]
    assert np.abs(pair[0].X.mean(0) - pair[1].X.mean(0)).sum() <= l1_sensitivity(first) * (1 + 1e-9)


def test_other_guarantees_are_refused() -> None:
    with pytest.raises(InvalidInput, match="PureDP"):
        LaplaceMechanism().solve(turned_row(2)[0], ApproxDP(1.0, 1e-5), 0)


def test_noise_std_is_the_deviation() -> None:
    """Five standard errors of the variance, which is 2 scale^2 with fourth moment 24 scale^4."""
    problem, _ = turned_row(2)
    found = LaplaceMechanism().solve(problem, PureDP(1.0), 3, trials=50_000)
    assert found.w.var() == pytest.approx(found.noise_std**2, rel=5 * math.sqrt(5 / found.w.size))


def test_the_attack_reaches_nine_tenths_of_eps() -> None:
    """The worst pair attains eps exactly; false alarms: 1e-6."""
    solver, promised = LaplaceMechanism(), PureDP(1.0)
    pair = solver.worst_pair()
    found = audit(
        solver.mechanism(promised), pair=pair, guarantee=promised, max_trials=400_000, alpha=FALSE_ALARM, seed=1
    )  # fmt: skip
    assert not found.violated
    assert found.epsilon_lower >= 0.9
