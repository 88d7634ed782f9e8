"""MPC Out P: averages of local minimisers, and why the printed noise is too small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Logistic, Sigmoid
from dpcheck.problems.parties import Parties, split_evenly
from dpcheck.solvers.distributed.mpc_out_p import MPCOutP

FALSE_ALARM = 1e-6
THREE = split_evenly(logistic_synthetic(60, 3, 0).problem(Logistic(), l2=0.1), 3)


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4), d=st.integers(1, 3), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_parties_weigh_alike_whatever_their_sizes(sizes: list[int], d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (sum(sizes), d)) / np.sqrt(d)
    data = Parties(X, rng.choice([-1.0, 1.0], len(X)), Logistic(), l2=0.1, sizes=tuple(sizes))
    w = rng.standard_normal(d)
    assert data.gradient(w) == pytest.approx(np.mean([p.gradient(w) for p in data.parties], axis=0))
    assert data.value(w) == pytest.approx(np.mean([p.value(w) for p in data.parties]))
    assert data.hessian(w) == pytest.approx(np.mean([p.hessian(w) for p in data.parties], axis=0))
    assert np.allclose(data.gradient(data.minimiser()[0]), 0, atol=1e-8)


@pytest.mark.parametrize(("calibration", "leaks"), [("stated", True), ("certified", False)])
def test_printed_noise_leaks_in_three_dimensions(calibration: dp.solver.Calibration, leaks: bool) -> None:
    """False alarms: 1e-6, a fixed seed. The bug is the document's: l1 noise for an l2 sensitivity."""
    solver, promised = MPCOutP(), dp.PureDP(1.0)
    mechanism = solver.mechanism(promised, calibration, transcript=True)
    pair = solver.worst_pair()
    found = dp.audit(mechanism, pair=pair, guarantee=promised, max_trials=15_000, alpha=FALSE_ALARM, seed=1)
    assert found.violated == leaks


def test_noise_of_each_party_and_of_the_smallest() -> None:
    """As Table 6.1 has them: sqrt(m) and m times the deviation of noise inside, about one average."""
    found = {
        noise: MPCOutP(noise=noise).solve(THREE, dp.PureDP(1.0), 0, trials=20_000, calibration="stated").w
        for noise in ("inside", "each", "smallest")
    }
    centre = THREE.minimisers().mean(axis=0)
    spread = {noise: w.std(axis=0) for noise, w in found.items()}
    for noise, w in found.items():
        assert np.all(abs(w.mean(axis=0) - centre) < 5 * spread[noise] / np.sqrt(len(w)))
    assert spread["each"] / spread["inside"] == pytest.approx(np.sqrt(3), rel=0.05)
    assert spread["smallest"] / spread["inside"] == pytest.approx(3.0, rel=0.05)


def test_what_is_refused() -> None:
    alone = logistic_synthetic(10, 2, 0).problem(Logistic(), l2=0.1)
    for data, why in [(alone, "split_evenly"), (split_evenly(dp.Problem(alone.X, alone.y, Logistic()), 2), "l2 > 0")]:
        with pytest.raises(dp.InvalidInput, match=why):
            MPCOutP().solve(data, dp.PureDP(1.0))
    with pytest.raises(dp.InvalidInput, match="strongly convex"):
        MPCOutP().solve(split_evenly(dp.Problem(alone.X, alone.y, Sigmoid(), l2=0.01), 2), dp.PureDP(1.0))
    with pytest.raises(dp.InvalidInput, match="add up to the 10 rows"):
        Parties(alone.X, alone.y, Logistic(), sizes=(3, 3))
    with pytest.raises(dp.InvalidInput, match="PureDP"):
        MPCOutP().solve(THREE, dp.ApproxDP(1.0, 1e-5))
