"""The iterated Bernstein basis, and minimisers of noisy polynomials; five standard errors, fixed seeds."""

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.bernstein import Grid, GridLosses, iterated_basis, squared_distance, tensor_basis
from dpcheck.solvers.local.local_bernstein import LocalBernstein
from dpcheck.solvers.local.local_bernstein_1bit import LocalBernsteinOneBit
from dpcheck.solvers.local.local_bernstein_population import LocalBernsteinPopulation

LOCALLY = dp.PureDP(2.0, relation=dp.LOCAL)
X = np.linspace(0, 1, 201)


def data(n, p=1, seed=0):
    return GridLosses(0.2 + 0.3 * np.random.default_rng(seed).random((n, p)), squared_distance, p)


@pytest.mark.parametrize(("h", "least", "most"), [(1, 0.9, 1.1), (2, 1.9, 2.1), (3, 2.8, 3.2)])
def test_the_error_falls_with_the_order(h, least, most):
    errors = [np.abs(iterated_basis(X, k, h) @ np.sin(np.arange(k + 1) / k) - np.sin(X)).max() for k in (16, 32)]
    assert least < np.log2(errors[0] / errors[1]) < most


@pytest.mark.parametrize("h", [1, 2, 4])
def test_the_basis_is_a_partition_whose_absolute_values_stay_small(h):
    for k in (1, 2, 5, 16):
        basis = iterated_basis(X, k, h)
        assert np.allclose(basis.sum(axis=1), 1)
        assert np.allclose(basis @ (np.arange(k + 1) / k), X)  # lines are kept
        assert np.abs(basis).sum(axis=1).max() <= 2**h - 1 + 1e-9


def test_two_axes_are_a_product():
    grid = Grid(3, 2, 1)
    values = (grid.points[:, 0] * (1 - grid.points[:, 1])).ravel()
    assert np.allclose(tensor_basis(grid.cells, 3, 1, 2) @ values, grid.places[:, 0] * (1 - grid.places[:, 1]))


def test_x_squared_attains_one_eighth():
    k = 10
    gap = np.abs(iterated_basis(X, k, 1) @ ((np.arange(k + 1) / k) ** 2 / 2) - X**2 / 2).max()
    assert np.isclose(gap, 1 / (8 * k))


@pytest.mark.parametrize("solver", [LocalBernstein(cells=2, order=8), LocalBernsteinOneBit(cells=2, order=8)])
def test_many_users_find_the_minimiser(solver):
    users = data(100_000)
    found = solver.solve(users, LOCALLY, rng=0, trials=8).w
    assert np.abs(found - users.records.mean()).max() < 0.05
    backwards = GridLosses(1 - users.records, squared_distance)  # planted: other records
    assert np.abs(solver.solve(backwards, LOCALLY, rng=0, trials=8).w - users.records.mean()).min() > 0.1


def test_the_regulariser_pulls_to_zero():
    plain, pulled = (
        LocalBernsteinPopulation(cells=2, order=8, regulariser=mu)
        .solve(data(50_000), LOCALLY, rng=0, trials=4)
        .w.mean()
        for mu in (0.0, 1.0)
    )
    assert 0 < pulled < 0.7 * plain


def test_bad_data_are_refused():
    with pytest.raises(dp.InvalidInput, match=r"\[0, 1\]"):
        LocalBernstein(cells=2).solve(GridLosses(np.full((5, 1), 3.0), squared_distance), LOCALLY)
    with pytest.raises(dp.InvalidInput, match="at least 3"):
        LocalBernsteinOneBit(cells=2).solve(data(2), LOCALLY)
    with pytest.raises(dp.InvalidInput, match="points"):
        LocalBernstein(cells=40).solve(data(2, p=3), LOCALLY)
