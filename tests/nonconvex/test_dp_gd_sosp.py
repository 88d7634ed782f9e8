"""DP-GD: all iterates are let out; the smaller the noise, the longer at a saddle, which refutes Lemma 4.3.4."""

from __future__ import annotations

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.nonconvex.dp_gd_sosp import descents, escape_steps
from dpcheck.families.second_order import second_order_error
from dpcheck.problems.saddles import saddle
from dpcheck.solvers.nonconvex.dp_gd_sosp import DPGDSOSP, iterates

CLAIMED = ApproxDP(1.0, 1e-5)


def test_rows_hold_all_iterates_and_each_is_a_step_from_the_one_before() -> None:
    problem = saddle("sigmoid").problem
    found = DPGDSOSP(steps=6).solve(problem, CLAIMED, 0, trials=3, trace=True)
    points = iterates(found.w, problem.d)
    assert points.shape == (3, 7, 2)
    np.testing.assert_allclose(points, found.trace.points.transpose(1, 0, 2), atol=1e-6 * found.noise_std)
    steps = (points[:, :-1] - points[:, 1:]) * problem.smoothness
    np.testing.assert_allclose(steps, found.trace.answers.transpose(1, 0, 2), atol=1e-4 * found.noise_std)


def test_a_thousandth_of_the_noise_takes_the_same_number_of_steps_more() -> None:
    """Escapes take a + b·ln n steps, b = 1/ln(1 + |λ|/M); five standard errors. No Γ without n can hold."""
    found = saddle("phase retrieval")
    rate = np.log1p(-found.least / found.problem.smoothness)
    first, second = (escape_steps(n, 200, 1) for n in (1e4, 1e10))
    spread = np.sqrt((first.var() + second.var()) / 200)
    assert abs(second.mean() - first.mean() - np.log(1e6) / rate) < 5 * spread + 2
    assert second.min() > first.mean()


def test_without_noise_the_saddle_holds() -> None:
    found = saddle("matrix sensing")
    quiet, noisy = (descents(found, noise, 1500, 4, 0)[:, -1] for noise in (0.0, 1e-6))
    level, rho = found.least**2 / found.problem.hessian_lipschitz, found.problem.hessian_lipschitz
    assert np.all(second_order_error(found.problem, quiet, rho) > 0.9 * level)
    assert np.all(second_order_error(found.problem, noisy, rho) < 0.5 * level)
