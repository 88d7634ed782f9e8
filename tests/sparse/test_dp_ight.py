"""DP-IGHT: the printed noise is half of what its sensitivity takes; an attacker sees it, and not the corrected one.

Audits have a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Linear
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.sparse.dp_ight import DPIGHT

ROWS = np.random.default_rng(0).choice([-1.0, 1.0], (4000, 50)) / np.sqrt(50)
TRUTH = np.where(np.arange(50) < 3, [3.0, -2.0, 2.0] + [0.0] * 47, 0.0)
LABELS = np.clip(ROWS @ TRUTH, -1, 1)


@pytest.mark.parametrize(("calibration", "flagged"), [("stated", True), ("certified", False)])
def test_the_audit_flags_the_printed_noise_only(calibration: Calibration, flagged: bool) -> None:
    """The last iterate of three steps in one dimension, where thresholding keeps the only coordinate."""
    solver = DPIGHT(kept=1, steps=3, step_size=0.5)
    seen = dp.audit(
        solver.mechanism(dp.ZCDP(1.0), calibration), pair=solver.worst_pair(), guarantee=dp.ZCDP(1.0),
        max_trials=100_000, alpha=1e-6, seed=1, assume="gdp",
    )  # fmt: skip
    assert seen.violated is flagged


@given(steps=st.integers(1, 50), n=st.integers(2, 500), rho=st.floats(0.01, 5), G=st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_the_corrected_noise_is_exact(steps: int, n: int, rho: float, G: float) -> None:
    """T releases 2G/n apart have mu^2/2 = rho, and the printed noise 2 rho."""
    for claim, times in ((theory.theorem2_corrected, 1), (theory.theorem2, 2)):
        sigma = float(claim.evaluate(T=steps, n=n, G=G, budget=rho))
        assert steps * (2 * G / (n * sigma)) ** 2 / 2 == pytest.approx(times * rho)


def test_a_step_keeps_its_bound() -> None:
    """Quadratic losses with the extreme curvatures, noise and a gradient at the truth: the bound on one step is kept.

    Planted: the printed coefficient, with beta - mu, has no noise in it at kappa = 1.
    """
    rng = np.random.default_rng(0)
    d, s_star, mu, sigma = 400, 2, 1.0, 0.3
    for kappa in (1.0, 2.0):
        kept = round(16 * kappa**2 + 1) * s_star
        truth = np.r_[np.ones(s_star), np.zeros(d - s_star)]
        curvature = np.where(np.arange(d) % 2, mu, kappa * mu)
        noise = sigma * rng.standard_normal((2000, d))
        moved = -2 / (mu * (kappa + 1)) * (curvature * -truth + noise)
        smallest = np.sort(np.abs(moved), axis=1)[:, -kept, None]
        errors = np.sum((np.where(np.abs(moved) >= smallest, moved, 0.0) - truth) ** 2, axis=1)
        largest2 = float(np.mean(np.max(noise**2, axis=1)))
        at = {"kappa_s": kappa, "mu": mu, "s_star": s_star, "error_now": float(s_star), "largest2": largest2}
        assert errors.mean() <= float(theory.one_step.evaluate(**at, statistical=1e-9))
        if kappa == 1.0:
            assert errors.mean() > (1 - 1 / 7) * s_star * 1.01


def test_it_finds_the_entries_that_matter() -> None:
    problem = Problem(ROWS, LABELS, Huber(1.0), row_bound=1.0, label_bound=1.0)
    w = DPIGHT(kept=3, steps=5, step_size=50.0).solve(problem, dp.ApproxDP(4.0, 1e-5), rng=0, trials=20).w
    assert np.all(np.count_nonzero(w, axis=1) == 3)
    assert np.mean(np.all(w[:, :3] * TRUTH[:3] > 0, axis=1)) >= 0.9
    climbing = DPIGHT(kept=3, steps=5, step_size=50.0).solve(
        problem.with_data(ROWS, -LABELS), dp.ApproxDP(4.0, 1e-5), rng=0, trials=20
    )
    assert not np.any(np.all(climbing.w[:, :3] * TRUTH[:3] > 0, axis=1))  # planted: labels turned round


def test_what_it_is_not_for_is_refused() -> None:
    ball = Problem(ROWS, LABELS, Huber(1.0), constraint=L2Ball(1.0), row_bound=1.0, label_bound=1.0)
    with pytest.raises(dp.InvalidInput, match="constraint"):
        DPIGHT().solve(ball, dp.ApproxDP(1.0, 1e-5))
    with pytest.raises(dp.InvalidInput, match="data"):
        DPIGHT().solve(ROWS, dp.ApproxDP(1.0, 1e-5))
    with pytest.raises(dp.InvalidInput, match="step_size"):
        DPIGHT().solve(Problem(ROWS, LABELS, Linear()), dp.ApproxDP(1.0, 1e-5))
