"""Selecting: the first iterate that passes both noisy tests, the last one where none does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_gd_sosp as descent
from dpcheck.bounds.library.nonconvex import dp_select_sosp as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.nonconvex import dp_select_sosp as measured
from dpcheck.families.second_order import second_order_error
from dpcheck.kernels.running import run
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.saddles import saddle
from dpcheck.solvers.nonconvex.dp_select_sosp import DPSelectSOSP, Selection

FOUND = saddle("phase retrieval")


def chosen(aim: float, noise: float, steps: int = 400) -> np.ndarray:
    problem = FOUND.problem
    deepest = -math.sqrt(problem.hessian_lipschitz * aim)
    method = Selection(FOUND.at, steps, 1 / problem.smoothness, aim, deepest)
    released = Release(1.0, Gaussian(noise), steps=method.steps)
    return run(method, released, problem, seed=2, trials=6).w


def test_what_is_chosen_is_within_the_bound_of_theorem_4_3_2() -> None:
    """1.68α where the noise is at most Err₁ and Err₂, which it is here; the saddle, of level 2α, is passed over."""
    aim = FOUND.least**2 / FOUND.problem.hessian_lipschitz / 2
    errors = second_order_error(FOUND.problem, chosen(aim, aim / 20), FOUND.problem.hessian_lipschitz)
    assert np.all(errors <= 1.68 * aim)
    # Planted: without the Hessian the saddle itself passes.
    assert np.linalg.norm(FOUND.problem.gradient(FOUND.at[None])) < aim


def test_the_first_that_passes_is_taken_and_the_last_where_none_does() -> None:
    np.testing.assert_allclose(chosen(1e3, 1e-6), np.tile(FOUND.at, (6, 1)))  # all pass
    last = chosen(1e-12, 1e-3, steps=20)
    assert np.all(np.linalg.norm(last - FOUND.at, axis=1) > 1e-5)


def test_half_of_the_budget_goes_to_the_descent() -> None:
    problem, promised = opposite_pair(5)[0], ApproxDP(1.0, 1e-2)
    parts = DPSelectSOSP(steps=7, bending=1.0).calibrated(problem, promised).released.parts
    costs = [float(part.ratio) ** 2 * float(part.steps) for part in parts]
    assert np.array(costs) / sum(costs) == pytest.approx([0.5, 0.25, 0.25])


@pytest.mark.parametrize("place", range(3))
def test_measured_runs_take_the_fewest_records_that_keep_noise_below_err_1_and_err_2(place: int) -> None:
    """Planted: half as many, with which one of the three lengths is too long."""
    case = measured.case_of(place)

    def quiet(n: int) -> bool:
        numbers = {name: case[name] for name in ("G", "M_second", "d", "T", "eps", "delta", "gamma")} | {"n": n}
        most = float(theory.out_gradient.formula.subs(theory.alpha, case["alpha_sosp"])) / 3
        flat = (1 - math.sqrt(0.5)) * math.sqrt(case["rho_h"] * case["alpha_sosp"])
        return bool(
            saddle_points.lemma8.evaluate(c=64, **numbers) <= most
            and saddle_points.lemma8_matrix.evaluate(c=64, C_spectral=5, **numbers) <= flat
            and descent.lemma2.evaluate(c=16, **numbers) <= most / 20
        )

    assert quiet(measured.needed(case))
    assert not quiet(measured.needed(case) // 2)
