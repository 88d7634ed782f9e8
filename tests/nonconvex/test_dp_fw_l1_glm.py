"""DP-FW-L1 for the population risk: defaults, what d costs, audits, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.nonconvex import dp_fw_l1_glm as theory
from dpcheck.families.glm_losses import SquaredLogistic
from dpcheck.problems.constraints import L1Ball, L2Ball
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l1_glm import DPFWL1GLM
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)


def signs(n: int, d: int, seed: int = 0) -> Problem:
    """Rows of signs, of norm √d; the label follows the first entry."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], (n, d))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 1.0, -1.0)
    return Problem(X, y, SquaredLogistic(), constraint=L1Ball(1.0), row_bound=math.sqrt(d))


def test_defaults_are_those_of_the_theorem() -> None:
    problem = signs(2000, 3)
    done = DPFWL1GLM().calibrated(problem, CLAIMED)
    assert done.plan == round(2000 / (math.sqrt(math.log(100)) * math.log(2000 * 3 / 0.05)))
    assert DPFWL1GLM().method(problem, done.plan, done.released).pace == pytest.approx(math.sqrt(2 / done.plan))
    stated = DPFWL1GLM().calibrated(problem, CLAIMED, "stated")
    eps0 = float(theory.privacy.evaluate(eps=1.0, delta=1e-2, T=done.plan))
    slope = problem.loss.derivative_bound(1.0)
    assert stated.noise_std == pytest.approx(2 * (2 * slope / 2000) / eps0)
    assert done.noise_std < stated.noise_std / 2  # the stated selections use a quarter of eps or less


def test_a_gradient_does_not_grow_with_the_dimension() -> None:
    """In l∞ it is bounded by the slope; the l2 bound of the same rows is √d times that."""
    noise = {d: DPFWL1GLM(steps=20).calibrated(signs(50, d), CLAIMED).noise_std for d in (2, 200)}
    assert noise[2] == noise[200]


def test_it_finds_the_entry_that_matters() -> None:
    """Half a hundred dimensions; without data the share of weight on the first would be 1/50."""
    found = DPFWL1GLM().solve(signs(3000, 50), CLAIMED, 0, trials=30).w
    assert found[:, 0].mean() > 0.5
    assert np.abs(found).sum(axis=1).max() <= 1 + 1e-9


def test_a_fifth_of_the_noise_is_flagged() -> None:
    """False alarms: 1e-6."""
    solver = DPFWL1GLM(steps=8, step_size=0.3)
    asked = {"pair": solver.worst_pair(), "guarantee": CLAIMED, "max_trials": 20_000, "alpha": 1e-6, "seed": 1}
    assert not audit(solver.mechanism(CLAIMED), **asked).violated
    assert audit(with_noise_times(0.2, solver, CLAIMED), **asked).violated


def test_refusals_name_what_fails() -> None:
    problem = signs(20, 2)
    with pytest.raises(InvalidInput, match=r"L1Ball\(1\.0\)"):
        DPFWL1GLM().solve(replace(problem, constraint=L2Ball(1.0)), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="at most 1"):
        DPFWL1GLM().solve(replace(problem, X=2 * problem.X, row_bound=4.0), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="delta > 0"):
        DPFWL1GLM().solve(problem, PureDP(1.0), 0)
    with pytest.raises(InvalidInput, match="at least 2"):
        DPFWL1GLM(steps=1).solve(problem, CLAIMED, 0)
