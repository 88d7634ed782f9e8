"""Noisy outer products: the server's matrix is unbiased, directions are found, and the Fantope is projected onto."""

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.outer_products import subspace_distance2, symmetric, upper_triangles
from dpcheck.solvers.local.ldp_pca_gauss import LocalPCA
from dpcheck.solvers.local.ldp_sparse_pca_fps import LocalSparsePCA, onto_fantope

PRIVATE = dp.ApproxDP(4.0, 1e-3, relation=dp.LOCAL)


def users(n, d, seed):
    """Records of the ball, mostly along the first coordinate."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) * np.r_[1.0, np.full(d - 1, 0.1)]
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("solver", [LocalPCA(), LocalSparsePCA()])
def test_the_leading_direction_is_found(solver):
    found = solver.solve(users(20_000, 5, 0), PRIVATE, rng=0, trials=4).w.reshape(4, 5, 1)
    assert subspace_distance2(found, np.eye(5)[:, :1]).max() < 0.05  # chance is 0.8


def test_upper_triangles_make_the_covariance():
    rows = users(10, 4, 1)
    assert np.allclose(symmetric(upper_triangles(rows).mean(axis=0)[None], 4)[0], rows.T @ rows / 10)


def test_the_published_noise_is_too_small():
    stated = LocalPCA().calibrated(np.eye(2), dp.ApproxDP(1.0, 1e-5, relation=dp.LOCAL), "stated")
    certified = LocalPCA().calibrated(np.eye(2), dp.ApproxDP(1.0, 1e-5, relation=dp.LOCAL))
    assert stated.noise_std < 0.95 * certified.noise_std


def test_projections_have_trace_k_and_spectrum_within_one():
    S = np.random.default_rng(0).standard_normal((3, 6, 6))
    values = np.linalg.eigvalsh(onto_fantope(S + S.transpose(0, 2, 1), 2))
    assert np.allclose(values.sum(axis=1), 2)
    assert values.min() > -1e-9
    assert values.max() < 1 + 1e-9


@pytest.mark.parametrize(
    ("data", "k", "words"), [(np.full((2, 2), 2.0), 1, "norm at most 1"), (np.eye(2), 3, "at most d")]
)
def test_bad_records_are_refused(data, k, words):
    with pytest.raises(dp.InvalidInput, match=words):
        LocalPCA(k=k).solve(data, PRIVATE)
