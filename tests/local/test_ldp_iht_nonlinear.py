"""Reported gradients with a link: none is longer than the radius, which those of the plain radius would be."""

from __future__ import annotations

import numpy as np

import dpcheck as dp
from dpcheck.families.hard_thresholding import WAVY, generated, gradients
from dpcheck.solvers.local.ldp_iht_nonlinear import LDPIHTNonlinear

PRIVATE = dp.PureDP(1.0, relation=dp.LOCAL)


def test_no_gradient_is_longer_than_the_radius() -> None:
    data, truth = generated(500, 6, 1, 0.5, seed=0, link=WAVY)
    radius = LDPIHTNonlinear().calibrated(data, PRIVATE).plan.radius
    longest = np.abs(gradients(np.stack([-truth, 0 * truth]), data.X, data.y, WAVY)).max() * np.sqrt(data.d)
    published = WAVY.high * data.noise * np.sqrt(data.d)  # bC√d
    assert published < longest <= radius


def test_more_users_bring_it_nearer() -> None:
    errors = []
    for n in (4_000, 200_000):
        data, truth = generated(n, 4, 1, 0.05, seed=1, link=WAVY)
        found = LDPIHTNonlinear(steps=3).solve(data, dp.PureDP(2.0, relation=dp.LOCAL), rng=0, trials=4)
        errors.append(np.linalg.norm(found.w - truth, axis=1).mean())
    assert errors[1] < 0.6 * errors[0]
