"""DP-LSAdam: Adam's update, and the noise of DP-LSSGD."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_lsadam import DPLSAdam
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)


@given(sigma=st.floats(0, 5), steps=st.integers(1, 6), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_without_noise_it_is_adam(sigma: float, steps: int, seed: int) -> None:
    """Kingma and Ba, Algorithm 1, on the smoothed full gradient."""
    rng = np.random.default_rng(seed)
    problem = Problem(rng.standard_normal((4, 3)) / 9, rng.choice([-1.0, 1.0], 4), Logistic(), row_bound=2.0)
    quiet = with_noise_times(0.0, DPLSAdam(4, steps, sigma, 0.1), CLAIMED)
    w, m, s = np.zeros(3), np.zeros(3), np.zeros(3)
    for t in range(1, steps + 1):
        g = LaplacianSmoothing(sigma, 3).solve(problem.gradient(w))
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    assert quiet(problem, rng, 2) == pytest.approx(np.tile(w, (2, 1)), abs=1e-9)


def test_its_noise_is_that_of_dp_lssgd() -> None:
    """Post-processing: the budget does not know what is done with the noisy gradients."""
    problem = Problem(np.zeros((20, 2)), np.ones(20), Logistic())
    for calibration in ("certified", "stated"):
        noises = {
            kind(5, 8, 1.0, document="lssgd20").calibrated(problem, CLAIMED, calibration).noise_std  # type: ignore[arg-type]
            for kind in (DPLSAdam, DPLSSGD)
        }
        assert len(noises) == 1
