"""Queries from noisy coefficients and features: unbiased, and right without noise; five standard errors."""

import itertools

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.solvers.local.local_chebyshev_kway import LocalChebyshevKway, disjunction
from dpcheck.solvers.local.local_trig_smooth import LocalTrigSmooth

LOCALLY = dp.PureDP(4.0, relation=dp.LOCAL)


@pytest.mark.parametrize(("k", "gamma"), [(2, 0.25), (6, 0.05), (25, 0.05)])
def test_the_polynomial_is_close_to_a_disjunction(k, gamma):
    values = np.polynomial.polynomial.polyval(np.arange(k + 1), disjunction(k, gamma))
    assert abs(values[0]) < 1e-9
    assert np.abs(values[1:] - 1).max() <= gamma + 1e-6
    assert len(disjunction(k, gamma)) - 1 <= 0.5 * k**0.5 * np.log(2 / gamma) + 1


def test_coefficients_answer_every_query_of_the_data():
    data = np.random.default_rng(0).integers(0, 2, (40, 4)).astype(float)
    solver = LocalChebyshevKway(attributes=2, gamma=0.05)
    exact = solver.reported(data).mean(axis=0, keepdims=True)
    for pair in itertools.combinations(range(4), 2):
        query = np.isin(np.arange(4), pair)
        assert abs(solver.answer(exact, query)[0] - data[:, query].any(axis=1).mean()) <= 0.05 + 1e-9
    assert np.abs(solver.reported(np.ones((1, 4))) - solver.reported(np.zeros((1, 4)))).sum() == pytest.approx(
        sum(abs(c) * 4**i for i, c in enumerate(disjunction(2, 0.05)))
    )


@pytest.mark.parametrize("solver", [LocalChebyshevKway(), LocalTrigSmooth(degree=3)])
def test_means_of_reports_are_unbiased(solver):
    data = np.random.default_rng(1).integers(0, 2, (200, 2)).astype(float)
    exact = solver.method(data, None, solver.release(data, None).with_noise(1.0)).ask(data).mean(axis=0)
    w = solver.solve(data, LOCALLY, rng=0, trials=1000).w
    spread = w.std(axis=0) / 1000**0.5
    assert np.all(np.abs(w.mean(axis=0) - exact) < 5 * spread)
    assert np.any(np.abs(w.mean(axis=0) / 2 - exact) > 5 * spread)  # planted: a server that halves


def test_features_answer_smooth_functions():
    data, solver = np.random.default_rng(2).uniform(-1, 1, (50, 2)), LocalTrigSmooth(degree=8)
    exact = solver.features(data).mean(axis=0, keepdims=True)

    def smooth(x):
        return np.exp(x[:, 0] / 2) * np.sin(x[:, 1])

    assert abs(solver.answer(exact, smooth, 2)[0] - smooth(data).mean()) < 1e-5


def test_features_move_by_more_than_is_printed():
    solver = LocalTrigSmooth(degree=6)
    first, second = (solver.features(x) for x in solver.worst_pair())
    assert np.abs(first - second).sum() > 1.1 * 6


def test_records_outside_are_refused():
    with pytest.raises(dp.InvalidInput, match=r"\[-1, 1\]"):
        LocalTrigSmooth().solve(np.full((3, 1), 2.0), LOCALLY)
    with pytest.raises(dp.InvalidInput, match="0 and 1"):
        LocalChebyshevKway().solve(np.full((3, 2), 0.5), LOCALLY)
