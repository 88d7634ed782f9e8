"""The lasso on private labels: its optimality conditions, and more users bring it nearer."""

from __future__ import annotations

import numpy as np

import dpcheck as dp
from dpcheck.families.hard_thresholding import generated
from dpcheck.solvers.local.label_ldp_lasso import LabelLDPLasso

PRIVATE = dp.ApproxDP(1.0, 1e-3, relation=dp.LABEL_ONLY)


def test_it_is_the_minimiser_of_its_own_penalty_and_of_no_other() -> None:
    data, _ = generated(300, 20, 2, 0.5, seed=3)
    theta = LabelLDPLasso(steps=2000, penalty=0.1).fitted(data, 1.0, data.y[None])[0]
    slopes = data.X.T @ (data.y - data.X @ theta) / data.n
    kept = theta != 0
    assert 0 < np.count_nonzero(kept) < 20
    assert np.allclose(slopes[kept], 0.1 * np.sign(theta[kept]), atol=1e-6)
    assert np.all(np.abs(slopes) <= 0.1 + 1e-6)
    assert not np.allclose(slopes[kept], 0.05 * np.sign(theta[kept]), atol=1e-6)


def test_more_users_bring_it_nearer() -> None:
    errors = []
    for n in (4_000, 64_000):
        data, truth = generated(n, 20, 1, 0.05, seed=2)
        errors.append(np.linalg.norm(LabelLDPLasso().solve(data, PRIVATE, rng=0, trials=8).w - truth, axis=1).mean())
    assert errors[1] < 0.5 * errors[0]
