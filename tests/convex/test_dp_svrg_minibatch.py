"""DP-SVRG on batches: its published-form noise holds without Theorem 3.1.1's condition, and batches pay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP, gaussian_delta
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrg_minibatch import DPSVRGMinibatch

CLAIMED = ApproxDP(1.0, 1e-2)


@given(
    level=st.floats(0.1, 1),
    delta=st.floats(1e-6, 0.1),
    n=st.integers(2, 60),
    inner=st.integers(1, 60),
    epochs=st.integers(1, 4),
)
@settings(max_examples=10, deadline=None)
def test_the_stated_noise_holds_by_the_accountant(level: float, delta: float, n: int, inner: int, epochs: int) -> None:
    """c = 72 and the least batch, wherever: no condition between eps, n and Tm is left."""
    problem = Problem(np.zeros((n, 2)), np.ones(n), Huber(0.7))
    guarantee, solver = ApproxDP(level, delta), DPSVRGMinibatch(epochs, inner, 1.0, large_delta=True)
    done = solver.calibrated(problem, guarantee, "stated")
    assert done.plan.batch == min(n, max(1, math.ceil(n * level / math.sqrt(epochs * inner))))
    assert done.released.epsilon(delta).high <= level
    assert solver.calibrated(problem, guarantee).noise_std < done.noise_std


@pytest.mark.parametrize(("n", "steps"), [(5, 1), (20, 40)])
def test_full_batches_are_exact(n: int, steps: int) -> None:
    """All records drawn: the step is the full gradient at x, 2G/n apart."""
    problem = Problem(np.zeros((n, 2)), np.ones(n), Logistic())
    noise = DPSVRGMinibatch(1, steps, 1.0, batch=n).calibrated(problem, CLAIMED).noise_std
    ratio = 2 * math.sqrt(steps) / (n * noise)
    assert gaussian_delta(1.0, ratio) <= CLAIMED.delta < gaussian_delta(1.0, 1.001 * ratio)


def test_smaller_batches_are_refused_when_stated() -> None:
    problem = Problem(np.zeros((40, 2)), np.ones(40), Logistic())
    with pytest.raises(HypothesisViolated, match="minibatch"):
        DPSVRGMinibatch(1, 4, 1.0, batch=10).solve(problem, CLAIMED, 0, calibration="stated")
    DPSVRGMinibatch(1, 4, 1.0, batch=10).solve(problem, CLAIMED, 0)  # certified noise covers any batch
