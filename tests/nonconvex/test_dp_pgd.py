"""DP-PGD: both published noises against the accountant, attacks from inside and outside, the proximal loop, its bounds.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP
from dpcheck.bounds.library.nonconvex import dp_pgd as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.registry import library
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.nonconvex.dp_pgd import CASES, Breaks, chosen_by, flat_pair, noisy_map2, proofs_bound
from dpcheck.kernels.proximal_steps import LineSearch, Proximal, ProximalSteps
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, Simplex, WholeSpace
from dpcheck.problems.losses import Huber, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_pgd import DPPGD

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPPGD(steps=5)


def flagged(mechanism: Any, pair: tuple[Any, Any]) -> bool:
    return bool(audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=20_000, alpha=1e-6, seed=1).violated)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("solver", "pair"),
    [
        (replace(SHORT, c=1.0), SHORT.worst_pair()),
        (replace(SHORT, c=1.5), SHORT.worst_pair()),
        (SHORT, SHORT.worst_pair()),
        (replace(SHORT, recipe="zcdp"), flat_pair()),
        (replace(SHORT, recipe="zcdp"), SHORT.worst_pair()),
    ],
    ids=["c=1", "c=1.5", "c=8", "zcdp, L = G/100", "zcdp, L = G"],
)
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(solver: DPPGD, pair: Any) -> None:
    """False alarms: 1e-6. Clear cases only: ε is below what is claimed, or above 1.5 times it."""
    noise = solver.solve(pair[0], CLAIMED, 0, calibration="stated").noise_std  # five records, five steps
    exact = GaussianDP(2 * math.sqrt(5) / (5 * noise)).epsilon(CLAIMED.delta)
    assert exact <= CLAIMED.eps or exact > 1.5 * CLAIMED.eps
    assert flagged(solver.mechanism(CLAIMED, "stated", transcript=True), pair) is (exact > CLAIMED.eps)


@pytest.mark.parametrize(("choice", "verdict"), [("exact minimum", "SUPPORTED"), ("noisy minimum", "UNCHECKED")])
def test_a_claim_of_leakage_needs_a_violation(choice: Any, verdict: str) -> None:
    """False alarms: 1e-6. By the noisy maps the choice is post-processing; by the exact ones it leaks."""
    check = Breaks(AuditCheck(lambda: chosen_by(choice), "", 4000))
    assert check.run(library["wangxu19.remark1.minimum.corrected"], Effort()).verdict == verdict


def test_the_remark_on_the_minimum_is_answered_by_the_accountant() -> None:
    """The ε of all iterates is that of Gaussian DP with mu = sqrt(2 rho), at any point."""
    claim = library["wangxu19.remark1.minimum"]
    (check,) = claim.checks
    assert check.run(claim, Effort()).verdict is Verdict.REFUTED
    for level, delta, n, T in ((1.0, 1e-3, 7, 3), (3.0, 1e-6, 50, 400)):
        rho = (math.sqrt(level + math.log(1 / delta)) - math.sqrt(math.log(1 / delta))) ** 2
        found = check.replay(claim, {"eps": level, "delta": delta, "n": n, "T": T})
        assert f"ε = {GaussianDP(math.sqrt(2 * rho)).epsilon(delta):.4g}, claimed more than {level:g}" in found.figure


# Calibration ---------------------------------------------------------------------------------------
@given(level=st.floats(0.1, 5), delta=st.floats(1e-6, 0.2), n=st.integers(2, 60), T=st.integers(1, 50))
@settings(max_examples=15, deadline=None)
def test_step_3_as_printed_and_corrected(level: float, delta: float, n: int, T: int) -> None:
    """2L²T/(n²ρ²) and 2G²T/(n²ρ), ρ found by bisection; the second is never below the exact noise."""
    problem = Problem(np.zeros((n, 2)), np.ones(n), Sigmoid())
    aim, log = ApproxDP(level, delta), math.log(1 / delta)
    rho = optimize.brentq(lambda r: r + 2 * math.sqrt(r * log) - level, 1e-12, level)
    printed = DPPGD(steps=T, recipe="zcdp").calibrated(problem, aim, "stated")
    assert printed.noise_std == pytest.approx(math.sqrt(2 * T) / (6 * math.sqrt(3)) / (n * rho), rel=1e-6)
    corrected = float(theory.box_corrected.evaluate(n=n, eps=level, delta=delta, T=T, G=0.25))
    assert corrected == pytest.approx(0.25 * math.sqrt(2 * T / rho) / n, rel=1e-6)
    assert corrected > DPPGD(steps=T).calibrated(problem, aim).noise_std


@given(delta=st.floats(1e-300, 0.25), level=st.floats(1e-3, 1))
@settings(max_examples=50, deadline=None)
def test_c_8_is_enough_for_every_delta_and_6_is_not(delta: float, level: float) -> None:
    """In logarithms, as δ may be 1e-300: Φ(-ε/μ + μ/2) bounds δ(ε)."""
    mu = 2 * level / math.sqrt(8 * math.log(1 / delta))
    assert stats.norm.logcdf(-level / mu + mu / 2) <= math.log(delta)
    six = 2 / math.sqrt(6 * math.log(1e200))
    spent = stats.norm.logcdf(-1 / six + six / 2) + math.log1p(
        -math.exp(1 + stats.norm.logcdf(-1 / six - six / 2) - stats.norm.logcdf(-1 / six + six / 2))
    )
    assert spent > math.log(1e-200)


def test_default_steps_are_the_best_for_the_proofs_bound() -> None:
    large = logistic_synthetic(2000, 3, 0).problem(Sigmoid())
    steps = DPPGD().default_steps(large, CLAIMED)
    L = 1 / (6 * math.sqrt(3))
    assert steps == round(2000 * math.sqrt(2 * L * 0.5) / (0.25 * math.sqrt(8 * 3 * math.log(100))))
    assert DPPGD().gradients(large, CLAIMED) == 2000 * steps
    assert DPPGD().default_steps(replace(large, row_bound=1.0).with_data(large.X[:2], large.y[:2]), CLAIMED) == 1


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Sigmoid())
    for held in (Simplex(), Box(0.1, 1.0)):
        with pytest.raises(InvalidInput, match="with an l1 term"):
            DPPGD(steps=2, l1=0.1).solve(replace(problem, constraint=held), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="random where step sizes are adaptive"):
        DPPGD(steps=2, adaptive=True, choice="noisy minimum").solve(problem, CLAIMED, 0, calibration="stated")
    for peeking, said in (
        (replace(SHORT, choice="exact minimum"), "choice is exact"),
        (replace(SHORT, adaptive=True), "adaptive is True"),
    ):
        with pytest.raises(InvalidInput, match=said):
            peeking.solve(problem, CLAIMED, 0)


# The loop ------------------------------------------------------------------------------------------
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    l1=st.floats(0, 0.5),
    l2=st.floats(0, 0.5),
    eta=st.floats(0.1, 3),
    held=st.sampled_from([WholeSpace(), L2Ball(0.6), L1Ball(0.8), Box(-0.2, 0.4)]),
)
@settings(max_examples=25, deadline=None)
def test_the_proximal_step_is_the_minimiser(seed: int, d: int, l1: float, l2: float, eta: float, held: Any) -> None:
    """No feasible point near it, or anywhere, has a lower ||u - x||^2 / (2 eta) + r(u)."""
    rng = np.random.default_rng(seed)
    x = 2 * rng.standard_normal(d)
    best = Proximal(l1, l2, held)(x[None], eta)[0]
    others = np.concatenate([best + 1e-3 * rng.standard_normal((50, d)), rng.standard_normal((50, d))])
    points = held.project(np.vstack([best, others]))

    def cost(u: np.ndarray) -> np.ndarray:
        r = l1 * np.abs(u).sum(axis=1) + l2 / 2 * (u**2).sum(axis=1)
        return ((u - x) ** 2).sum(axis=1) / (2 * eta) + r

    assert np.all(cost(points)[1:] >= cost(points)[0] - 1e-12)


def test_rounds_are_uniform_and_the_release_is_x_R() -> None:
    """Chi-square, false alarms: 1e-6; planted: a law that never draws the last round."""
    problem = logistic_synthetic(4, 2, 0).problem(Sigmoid())
    found = DPPGD(steps=6).solve(problem, CLAIMED, 3, trials=20_000, trace=True)
    R = found.trace.stops + 1
    assert stats.chisquare(np.bincount(R, minlength=7)[1:]).pvalue > 1e-6
    assert stats.chisquare(np.bincount(R[R < 6], minlength=7)[1:]).pvalue < 1e-6
    picked = found.trace.points[R - 1, np.arange(len(R))]
    np.testing.assert_allclose(found.w, picked, atol=1e-6 * found.noise_std)
    np.testing.assert_array_equal(found.w[R == 1], 0.0)
    # All T noisy gradients are said to be seen, those after x_R too.
    assert np.all(DPPGD(steps=6).mechanism(CLAIMED, transcript=True)(problem, np.random.default_rng(0), 100) != 0)


def test_the_least_map_is_chosen() -> None:
    """By either choice: of the noisy maps, and of the exact ones."""
    problem = logistic_synthetic(30, 3, 1).problem(Sigmoid(), l2=0.1, constraint=L2Ball(0.3))
    for choice in ("noisy minimum", "exact minimum"):
        solver = DPPGD(steps=8, step_size=2.0, l1=0.01, choice=choice)
        found = solver.solve(problem, CLAIMED, 0, trials=50, calibration="stated", trace=True)
        x, prox = found.trace.points, Proximal.of(problem, 0.01)
        exact = prox.map_norms(x[:-1], replace(problem, l2=0.0).gradient(x[:-1]), 2.0)
        noisy = np.linalg.norm(np.diff(x, axis=0), axis=2) / 2.0
        chosen = np.argmin(noisy if choice == "noisy minimum" else exact, axis=0)
        assert len(set(chosen)) > 2
        np.testing.assert_allclose(found.w, x[chosen, np.arange(50)], atol=1e-6 * found.noise_std)


def without_noise(method: ProximalSteps, problem: Problem) -> np.ndarray:
    """The points of one run."""
    released = Release(1.0, Gaussian(0.0), steps=method.steps)
    trace = run(method, released, problem, seed=0, trials=1, trace=True).trace
    assert trace is not None
    return trace.points[:, 0]


def test_without_noise_it_is_proximal_gradient_descent() -> None:
    """A stationary point of a composite risk, whose value no step raises."""
    problem = logistic_synthetic(50, 3, 1).problem(Sigmoid(), l2=0.05)
    x = without_noise(ProximalSteps(np.ones(3), 5.0, 400, Proximal.of(problem, 0.01)), problem)
    values = problem.value(x) + 0.01 * np.abs(x).sum(axis=1)
    assert np.all(np.diff(values) <= 1e-12)
    assert np.linalg.norm(x[-1] - x[-2]) < 5e-6


def test_backtracking_halves_what_the_model_refuses() -> None:
    """One parabola of curvature 1: steps above 1 are halved, and grow again by 1/0.9."""
    problem = Problem(np.ones((3, 1)), np.zeros(3), Huber(100.0))
    x = without_noise(LineSearch(np.ones(1), 1.5, 3, Proximal.of(problem), records=problem), problem)[:, 0]
    np.testing.assert_allclose(1 - x[1:] / x[:-1], [0.75, 0.75 / 0.9, 0.75 / 0.81], rtol=1e-9)


def test_a_line_search_on_exact_risks_leaks() -> None:
    """False alarms: 1e-6. Of 200 parabolas and 199 one halves the first step; a fixed one is not flagged."""
    first = Problem(np.ones((200, 1)), np.zeros(200), Huber(1.0))
    for adaptive in (True, False):
        solver = DPPGD(steps=2, step_size=1 + 1 / 400, adaptive=adaptive)
        assert flagged(solver.mechanism(CLAIMED, "stated"), (first, first.replace(0, [0.0], 0.0))) is adaptive


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0])
def test_a_halved_step_is_seen_whatever_the_noise(eps: float) -> None:
    """Normals in the plane whose deviations are 1 and 2: P(A) - e^eps Q(A), the largest over discs A, half the time."""
    radii = np.linspace(0.0, 4.0, 4001)
    narrow, wide = stats.chi2.cdf(radii, 2), stats.chi2.cdf(radii / 4, 2)
    claimed = float(theory.halved.subs(theory.eps, eps))
    assert claimed == pytest.approx(float(np.max(narrow - math.exp(eps) * wide)) / 2, rel=1e-4)
    assert claimed > 0.03  # above the 0.01 of the counterexample


# Utility -------------------------------------------------------------------------------------------
def test_the_bound_has_teeth() -> None:
    """Quadratics in one dimension: two thirds of it; without its noise it would not hold."""
    noisy = noisy_map2(CASES[-1], 400, 0).mean()
    assert 0.6 * proofs_bound(CASES[-1]) < noisy < proofs_bound(CASES[-1])
    assert proofs_bound(CASES[-1] | {"noise": 0.0}) < noisy / 10
