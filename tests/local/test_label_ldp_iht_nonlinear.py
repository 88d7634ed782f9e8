"""Private labels with a link: it is followed with its own step size, its labels are wider, other solvers refuse it."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.hard_thresholding import WAVY, generated, hard_thresholding, step_size
from dpcheck.solvers.local.label_ldp_iht import LabelLDPIHT
from dpcheck.solvers.local.label_ldp_iht_nonlinear import LabelLDPIHTNonlinear

PRIVATE = dp.ApproxDP(1.0, 1e-3, relation=dp.LABEL_ONLY)


def test_a_link_is_followed_with_its_own_step_size_and_not_with_that_of_none() -> None:
    data, truth = generated(4000, 20, 1, 0.0, seed=1, link=WAVY)
    errors = [
        np.linalg.norm(hard_thresholding(data, data.y[None], 8, eta, 40)[0] - truth) for eta in (step_size(WAVY), 1.0)
    ]
    assert errors[0] < 1e-3 < errors[1]


def test_noise_grows_with_the_slope() -> None:
    """|f(1) - f(-1)| + 2C = 16.1 labels apart for f(u) = 8u + cos u, of which the published noise hides 4C = 0.2."""
    data, _ = generated(10, 2, 1, 0.05, seed=0, link=WAVY)
    solver = LabelLDPIHTNonlinear()
    needed, stated = (solver.calibrated(data, PRIVATE, how).noise_std for how in ("certified", "stated"))
    plain = LabelLDPIHT().calibrated(generated(10, 2, 1, 0.05, seed=0)[0], PRIVATE).noise_std
    assert needed / plain == pytest.approx(16.1 / 2.1)
    assert needed > 30 * stated


def test_a_link_needs_the_solver_that_knows_it() -> None:
    pair = LabelLDPIHTNonlinear().worst_pair()
    with pytest.raises(dp.InvalidInput, match="link"):
        LabelLDPIHT().solve(pair[0], PRIVATE)
