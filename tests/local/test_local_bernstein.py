"""The iterated Bernstein basis, and minimisers of noisy polynomials; five standard errors, fixed seeds."""

from math import comb, factorial

import numpy as np
import pytest
import sympy
from scipy.stats import binom

import dpcheck as dp
from dpcheck.families.bernstein import Grid, GridLosses, iterated_basis, squared_distance, tensor_basis
from dpcheck.solvers.local.bernstein_convex_server import BernsteinConvexServer
from dpcheck.solvers.local.local_bernstein import LocalBernstein
from dpcheck.solvers.local.local_bernstein_1bit import LocalBernsteinOneBit
from dpcheck.solvers.local.local_bernstein_population import LocalBernsteinPopulation

LOCALLY = dp.PureDP(2.0, relation=dp.LOCAL)
X = np.linspace(0, 1, 201)


def data(n, p=1, seed=0):
    return GridLosses(0.2 + 0.3 * np.random.default_rng(seed).random((n, p)), squared_distance, p)


@pytest.mark.parametrize("h", [1, 2, 3, 4])
def test_the_constant_of_lemma_2_is_enough(h):
    for k in (2, 8, 32):
        gap = np.abs(iterated_basis(X, k, h) @ np.sin(np.arange(k + 1) / k) - np.sin(X)).max()  # T = 1
        assert gap <= 2.5**h * factorial(h) ** 2 / k**h


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


@pytest.mark.parametrize("h", [1, 4])
@pytest.mark.parametrize("k", [25, 64, 100, 400])
def test_waves_that_the_polynomial_loses_lead_it_astray(h, k):
    """The example by which (5.3) and (5.4) are refuted, on one axis: w = 1/2 is best, and no place near it is found."""

    def wave(w):
        return np.sin(np.pi * 2 * int(k**0.5) * w) ** 2 + (1 - 2 * w) ** 2 / 4

    polynomial = stable_basis(X, k, h) @ wave(np.arange(k + 1) / k)
    assert polynomial.min() > 0.24
    assert polynomial[wave(X) < 1 / 8].min() > 0.48
    assert wave(np.array(0.5)) < 1e-12


def stable_basis(x, k, h):
    """`iterated_basis` by chances of a binomial law, which do not overflow where k is large."""
    v = np.arange(k + 1)
    power, turn = (binom.pmf(v, k, places[:, None]) for places in (x, v / k))
    total = np.zeros_like(power)
    for i in range(1, h + 1):
        total, power = total + comb(h, i) * (-1) ** (i - 1) * power, power @ turn
    return total


def test_a_product_of_waves_grows_with_the_dimension():
    """The example by which Lemma 5.1.3 is refuted: 13/12 on one axis, and derivatives that no dimension enlarges."""
    y = sympy.Symbol("y")
    wave = sympy.cos(sympy.pi * (2 * y**2 - y))
    values = [float(wave.subs(y, v)) for v in (0, sympy.Rational(1, 2), 1)]
    assert iterated_basis(np.array([1 / 6]), 2, 2)[0] @ values == pytest.approx(13 / 12)
    sizes = [np.abs(sympy.lambdify(y, sympy.diff(wave, y, r))(X)).max() for r in range(1, 5)]
    assert sizes[0] == max(1, sizes[0])  # so that a mixed derivative is largest where all orders are used up
    assert max(sizes[0] ** 4, sizes[0] ** 2 * sizes[1], sizes[1] ** 2, sizes[0] * sizes[2], sizes[3]) < 20_000


@pytest.mark.parametrize("p", [1, 2])
def test_values_at_any_place_are_those_of_the_matrix(p):
    grid, rng = Grid(3, p, 2, finer=4), np.random.default_rng(0)
    values = rng.random((2, len(grid.points)))
    everywhere = np.broadcast_to(grid.places, (2, *grid.places.shape))
    assert np.allclose(grid.values_at(values, everywhere), values @ grid.polynomial.T)


MANY = [
    LocalBernstein(cells=2, order=8),
    LocalBernsteinOneBit(cells=2, order=8),
    BernsteinConvexServer(cells=2, order=8),
]


@pytest.mark.parametrize("solver", MANY)
def test_many_users_find_the_minimiser(solver):
    users = data(40_000)
    found = solver.solve(users, LOCALLY, rng=0, trials=4).w
    assert np.abs(found - users.records.mean()).max() < 0.05
    backwards = GridLosses(1 - users.records, squared_distance)  # planted: other records
    assert np.abs(solver.solve(backwards, LOCALLY, rng=0, trials=4).w - users.records.mean()).min() > 0.1


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
