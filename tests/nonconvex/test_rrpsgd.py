"""Random-round private SGD: privacy, calibration, the law of the round, convergence.

Every audit has a fixed seed and a false-alarm rate of 1e-6. The accountant covers the whole transcript, the solver
releases one iterate: so a bug that halves the noise is told by an attacker who sees the transcript, and one that
quarters it by an attacker who sees the release. How much each of them can see is computed below.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_epsilon, subsampled_gaussian_noise
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.nonconvex.rrpsgd import CHECKS, leaking_step
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Logistic, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD
from dpcheck.testing.planting import with_noise_times
from dpcheck.theory.exponents import fitted

FALSE_ALARM = 1e-6
CLAIMED = ApproxDP(1.0, 1e-2)
SOLVER = RandomRoundSGD(start_gap=1.0)
losses = st.one_of(
    st.sampled_from([Logistic(), Sigmoid()]), st.floats(0.1, 2).map(Huber), st.floats(0.1, 2).map(SmoothedHinge)
)


def attack(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 25_000, seed: int = 1
) -> bool:
    found = audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=FALSE_ALARM, seed=seed)
    return found.violated


@lru_cache(maxsize=8)
def released_epsilon(factor: float) -> float:
    """The exact epsilon at delta = 1e-2 of w_R on the worst pair, n = 10: a mixture over rounds and draws."""
    n, delta = 10, CLAIMED.delta
    noise = factor * subsampled_gaussian_noise(CLAIMED.eps, delta, n, 1, n**2)
    x = np.linspace(-n * n - 8 * n * noise, n * n + 8 * n * noise, 3001)
    laws = np.zeros((2, len(x)))
    for done in range(1, n * n):
        drawn = np.arange(min(done, 45) + 1)
        odds = stats.binom.pmf(drawn, done, 1 / n)
        at = (x - done + 2 * drawn[:, None]) / (noise * math.sqrt(done))
        each = np.exp(-(at**2) / 2) / (noise * math.sqrt(2 * math.pi * done)) / n**2
        laws += np.array([each[0], odds @ each])
    width = x[1] - x[0]

    def spent(level: float) -> float:
        return max(float(np.maximum(a - math.exp(level) * b, 0).sum()) * width for a, b in (laws, laws[::-1]))

    low, high = 0.0, 30.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if spent(middle) <= delta else (middle, high)
    return high


# Privacy -------------------------------------------------------------------------------------------
def test_how_strong_a_planted_bug_must_be() -> None:
    """With half the noise the transcript loses twice what is claimed, the release little more; with a quarter, 2.3."""
    noise = subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, 10, 1, 100)
    transcript = {f: subsampled_gaussian_epsilon(f * noise, 10, 1, 100, CLAIMED.delta) for f in (1.0, 0.5)}
    assert transcript[1.0].high <= CLAIMED.eps < 2 * CLAIMED.eps < transcript[0.5].low
    assert released_epsilon(1.0) < 0.7 * CLAIMED.eps
    assert released_epsilon(0.5) < 1.5 * CLAIMED.eps
    assert released_epsilon(0.25) > 2 * CLAIMED.eps


def test_audit_of_the_release_on_the_worst_pair() -> None:
    """False alarms: 1e-6. Planted: a quarter of the noise; the noise of one step for n^2 (T ignored)."""
    pair = SOLVER.worst_pair()
    assert not attack(SOLVER.mechanism(CLAIMED), pair)
    assert attack(with_noise_times(0.25, SOLVER, CLAIMED), pair)
    one, all_ = (subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, 10, 1, k) for k in (1, 100))
    assert one < all_ / 3
    assert attack(with_noise_times(one / all_, SOLVER, CLAIMED), pair)


def test_audit_of_the_transcript_on_the_worst_pair() -> None:
    """False alarms: 1e-6. Planted: halved noise, which is also a sensitivity of L where it is 2L."""
    pair = SOLVER.worst_pair()
    assert not attack(SOLVER.mechanism(CLAIMED, transcript=True), pair)
    assert attack(with_noise_times(0.5, SOLVER, CLAIMED, transcript=True), pair)


@st.composite
def neighbours(draw: Any) -> tuple[Problem, Problem]:
    phi, size, d = draw(losses), draw(st.integers(2, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((size + 1, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = rng.choice([-1.0, 1.0], size + 1)
    if draw(st.booleans()):
        X[size], y[size] = -X[0], y[0]
    first = Problem(X[:size], y[:size], phi, l2=draw(st.sampled_from([0.0, 0.1])))
    return first, first.replace(0, X[size], y[size])


@given(
    pair=neighbours(), level=st.floats(0.2, 2), delta=st.floats(1e-4, 0.05), seed=st.integers(0, 2**32 - 1)
)  # fmt: skip
@settings(max_examples=8, deadline=None)
def test_random_neighbours_are_never_flagged(
    pair: tuple[Problem, Problem], level: float, delta: float, seed: int
) -> None:
    """False alarms: 1e-6 for each example."""
    guarantee = ApproxDP(level, delta)
    assert not attack(RandomRoundSGD().mechanism(guarantee), pair, guarantee, trials=4000, seed=seed)


def test_a_step_size_read_off_the_data_is_refused_and_flagged() -> None:
    """Theorem 5's step size leaks: refused when certified; stated, the audit flags it (false alarms: 1e-6)."""
    mechanism, pair, guarantee = leaking_step()
    assert attack(mechanism, pair, guarantee, trials=4000)
    public = replace(mechanism, solver=RandomRoundSGD(start_gap=0.5))
    assert not attack(public, pair, guarantee, trials=4000)  # the same run with a public number
    with pytest.raises(InvalidInput, match="start_gap is data; it must be a public number"):
        mechanism.solver.solve(pair[0], guarantee, 0)
    with pytest.raises(InvalidInput, match="only through noisy answers"):
        mechanism.solver.mechanism(guarantee, "stated", transcript=True).log_density(np.ones((1, 16, 1)), pair[0])
    assert "zhang17.theorem5.privacy" in CHECKS


# Calibration ---------------------------------------------------------------------------------------
@given(level=st.floats(0.1, 1.0), delta=st.floats(1e-5, 0.2), size=st.integers(2, 30), row=st.floats(0.1, 3))
@settings(max_examples=15, deadline=None)
def test_stated_noise_is_the_claims_own_and_certified_noise_is_below(
    level: float, delta: float, size: int, row: float
) -> None:
    problem = Problem(np.zeros((size, 1)), np.ones(size), Sigmoid(), row_bound=row)
    guarantee = ApproxDP(level, delta)
    stated, certified = (SOLVER.calibrated(problem, guarantee, how) for how in ("stated", "certified"))  # type: ignore[arg-type]
    assert stated.rests_on[0] == "zhang17.theorem4"
    assert stated.noise_std == theory.theorem4.evaluate(n=size, eps=level, delta=delta, L=problem.data_lipschitz)
    assert problem.data_lipschitz == pytest.approx(row / 4)
    assert certified.noise_std < stated.noise_std
    multiplier = certified.noise_std / problem.data_lipschitz
    assert subsampled_gaussian_epsilon(multiplier, size, 1, size**2, delta).high <= level * (1 + 1e-9)
    assert subsampled_gaussian_epsilon(0.99 * multiplier, size, 1, size**2, delta).high > level


@given(level=st.floats(0.1, 3.0), delta=st.floats(1e-5, 0.05), more=st.floats(1.05, 3.0))
@settings(max_examples=15, deadline=None)
def test_noise_falls_with_eps_and_delta(level: float, delta: float, more: float) -> None:
    """The accountant answers to 1e-4."""
    here = subsampled_gaussian_noise(level, delta, 8, 1, 64)
    easier = subsampled_gaussian_noise(level * more, delta, 8, 1, 64)
    looser = subsampled_gaussian_noise(level, delta * more, 8, 1, 64)
    assert easier < here
    assert looser <= here * (1 + 2e-4)


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(InvalidInput, match="must be ApproxDP with delta > 0"):
            RandomRoundSGD().solve(problem, guarantee, 0)
    with pytest.raises(HypothesisViolated, match="each loss is L-Lipschitz"):
        RandomRoundSGD().solve(replace(problem, loss=Squared()), CLAIMED, 0)
    with pytest.raises(HypothesisViolated, match="eps <= 1"):
        RandomRoundSGD().solve(problem, ApproxDP(2.0, 1e-2), 0, calibration="stated")
    held = replace(problem, loss=Squared(), constraint=L2Ball(1.0))
    assert RandomRoundSGD().solve(held, CLAIMED, 0).w.shape == (1, 2)
    with pytest.raises(InvalidInput, match="unbounded below"):
        RandomRoundSGD().solve(SOLVER.worst_pair()[0], CLAIMED, 0)


# The round -----------------------------------------------------------------------------------------
def rounds_run(calibration: Any, n: int = 4, trials: int = 40_000) -> np.ndarray:
    """How many steps each trial took: noise moves every one of them, and the trace counts as many."""
    problem = logistic_synthetic(n, 1, 0).problem(Logistic())
    found = SOLVER.solve(problem, CLAIMED, 5, trials=trials, calibration=calibration, trace=True)
    assert found.steps == n**2
    steps = np.count_nonzero(np.diff(found.trace.points[..., 0], axis=0), axis=0)
    np.testing.assert_array_equal(steps, found.trace.stops)
    return steps


def uniform_on(seen: np.ndarray, first: int, last: int) -> float:
    """p-value of the chi-square test that rounds are uniform on first..last; 0 if any lies outside."""
    counts = np.bincount(seen, minlength=last + 1)
    if counts[:first].any() or len(counts) > last + 1:
        return 0.0
    return float(stats.chisquare(counts[first:]).pvalue)


def test_the_law_of_the_round() -> None:
    """Uniform on 1..n^2 as published, on 0..n^2-1 when certified (w_(R-1)); false alarms: 1e-6."""
    stated, certified = rounds_run("stated"), rounds_run("certified")
    assert uniform_on(stated, 1, 16) > FALSE_ALARM
    assert uniform_on(certified, 0, 15) > FALSE_ALARM
    # Planted: laws off by one at either end, and one that never draws the last round.
    assert uniform_on(stated, 0, 15) < FALSE_ALARM
    assert uniform_on(certified, 1, 16) < FALSE_ALARM
    shorter = np.random.default_rng(0).integers(0, 15, 40_000)
    assert uniform_on(shorter, 0, 15) < FALSE_ALARM


def test_a_run_that_cannot_move_stays_and_has_its_trace() -> None:
    problem = Problem(np.ones((3, 2)) / 2, np.zeros(3), Huber(1.0))
    found = RandomRoundSGD(start_gap="data").solve(problem, CLAIMED, 0, trials=2, calibration="stated", trace=True)
    np.testing.assert_array_equal(found.w, np.zeros((2, 2)))
    assert found.trace.points.shape == (10, 2, 2)
    np.testing.assert_array_equal(found.trace.asked_norms, np.zeros((9, 2)))


# Convergence ---------------------------------------------------------------------------------------
def measured(problem: Problem, level: float, seed: int, trials: int = 400) -> tuple[np.ndarray, float]:
    """||grad F||^2 of the released iterates, and the bound of Theorem 5 (at w_(R-1))."""
    solver = RandomRoundSGD()
    found = solver.solve(problem, ApproxDP(level, 1e-2), seed, trials=trials)
    gradients = problem.gradient(found.w)
    deviation = math.sqrt(4 * problem.data_lipschitz**2 + problem.d * found.noise_std**2)
    bound = theory.theorem5_general_corrected.evaluate(
        n=problem.n, beta=problem.smoothness, D_F=solver.start_distance(problem), sigma_g=deviation,
        eta=solver.step_size(problem, found.noise_std),
    )  # fmt: skip
    return np.einsum("ij,ij->i", gradients, gradients), float(bound)


@given(
    size=st.integers(2, 12), d=st.integers(1, 4), level=st.floats(0.2, 4.0), phi=losses, seed=st.integers(0, 10**6)
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_squared_gradient_is_below_theorem_5(size: int, d: int, level: float, phi: Any, seed: int) -> None:
    """The mean less five standard errors (false alarms: 3e-7 for each example), with a public start gap."""
    norms, bound = measured(logistic_synthetic(size, d, seed).problem(phi), level, seed)
    assert norms.mean() - 5 * norms.std() / math.sqrt(len(norms)) <= bound


def pulled(n: int) -> Problem:
    """One coordinate, curvature 1: as steep as the constants allow."""
    return Problem(np.ones((n, 1)), np.linspace(0.6, 1.0, n), Huber(1.0))


def test_theorem_5_would_notice_a_step_size_without_its_n() -> None:
    """Planted: steps n times as long keep the iterates noisy, and the same comparison fails."""
    problem = pulled(30)
    norms, bound = measured(problem, 1.0, 0)
    assert norms.mean() < bound
    wild = RandomRoundSGD(start_gap=0.5 * 30**2).solve(problem, ApproxDP(1.0, 1e-2), 0, trials=400)
    worse = problem.gradient(wild.w)[:, 0] ** 2
    assert worse.mean() - 5 * worse.std() / 20 > bound


@pytest.mark.parametrize(
    ("grid", "wrong"),
    [([(15, 1.0), (30, 1.0), (60, 1.0)], -2.0), ([(40, 0.5), (40, 1.0), (40, 2.0), (40, 4.0)], -1.5)],
    ids=["n", "eps"],
)
def test_measured_exponents(grid: list[tuple[int, float]], wrong: float) -> None:
    """The error falls at least as fast as its bound: 99.9% intervals and a slack of 0.1. A power more is told apart."""
    logs = np.log([float(n) * level for n, level in grid])
    samples, bounds = zip(*(measured(pulled(n), level, i, 800) for i, (n, level) in enumerate(grid)), strict=True)
    points = [{"x": float(x)} for x in np.exp(logs)]
    low, _, _ = fitted(points, samples, ["x"], miss=1e-3, seed=0).slopes["x"]
    assert low <= np.polyfit(logs, np.log(bounds), 1)[0] + 0.1
    assert low > wrong + 0.1
