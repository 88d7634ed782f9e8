"""DP-SVRG++: its epochs, the condition on ε, and the bound of its proof."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.convex import dp_svrgpp as evidence
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrgpp import DPSVRGpp

CLAIMED = ApproxDP(1.0, 1e-2)


@given(epochs=st.integers(1, 6), inner=st.integers(1, 5), level=st.floats(0.2, 2), c=st.floats(0.5, 20))
@settings(max_examples=15, deadline=None)
def test_epochs_double_and_all_their_steps_count(epochs: int, inner: int, level: float, c: float) -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Huber(0.7))
    solver = DPSVRGpp(epochs, inner, 1.0, c=c)
    assert solver.plan(problem, CLAIMED).lengths == tuple(2**s * inner for s in range(1, epochs + 1))
    found = solver.solve(problem, ApproxDP(level, 1e-3), 0, calibration="stated", trace=True)
    assert found.steps == len(found.trace.answers) == (2 ** (epochs + 1) - 2) * inner
    assert found.noise_std == pytest.approx(0.7 * math.sqrt(c * 2**epochs * inner * math.log(2e3)) / (9 * level))
    assert solver.gradients(problem, CLAIMED) == epochs * 9 + 2 * found.steps


def test_the_condition_on_eps_is_checked_when_its_constant_is_given() -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Logistic())
    DPSVRGpp(2, 3, 1.0, c1=7.0).solve(problem, CLAIMED, 0, calibration="stated")  # 7 * 4 * 3 / 81 > 1
    with pytest.raises(HypothesisViolated, match=r"theorem3\.1\.4"):
        DPSVRGpp(2, 3, 1.0, c1=6.0).solve(problem, CLAIMED, 0, calibration="stated")


def test_the_bound_has_teeth() -> None:
    """Without its noise term it would be exceeded: many epochs from near the minimiser, noise of 1."""
    case = {"n": 5, "d": 3, "seed": 1, "T": 5, "inner": 4, "noise": 1.0, "size": 0.0, "l1": 0.3, "l2": 0.3}
    measured, bound = evidence.all_epochs(case)
    assert evidence.all_epochs(case | {"noise": 0.0})[1] < measured < bound
