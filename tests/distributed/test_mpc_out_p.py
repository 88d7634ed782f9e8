"""MPC Out P: averages of local minimisers, why the printed noise is too small, and what unlike parties cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.bounds.library.distributed import mpc_out_p as theory
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Huber, Logistic, Sigmoid
from dpcheck.problems.parties import Parties, split_evenly
from dpcheck.solvers.distributed.mpc_out_p import MPCOutP

FALSE_ALARM = 1e-6
THREE = split_evenly(logistic_synthetic(60, 3, 0).problem(Logistic(), l2=0.1), 3)


def unlike(count: int, each: int, lam: float) -> Parties:
    """The counterexample to Theorem 6.5.3: one party pulls with G = 1 all the way, the others sit at 0."""
    far = 1 / lam + 1.0
    y = np.r_[np.full(each, far), np.zeros((count - 1) * each)]
    return Parties(np.ones((len(y), 1)), y, Huber(1.0), l2=lam, label_bound=far, sizes=(each,) * count)


@pytest.mark.parametrize(("count", "each"), [(2, 1), (2, 50), (5, 50)])
def test_unlike_parties_are_as_far_off_as_the_claim_computes_whatever_they_hold(count: int, each: int) -> None:
    data = unlike(count, each, lam=0.5)
    gap = float(abs(data.minimisers().mean() - data.minimiser()[0][0]))
    here = {"parties": count, "G": 1.0, "L_smooth": 1.0, "lam_parties": 0.5}
    exact = float(theory.lone_pull.subs({s: here[str(s)] for s in theory.lone_pull.free_symbols}))
    stated = theory.theorem5_3.evaluate(n_least=each, **here)
    assert gap == pytest.approx(exact, rel=1e-6)
    assert gap <= theory.theorem5_3_corrected.evaluate(**here)
    assert (gap > stated) == (each > 10)  # printed, it falls with the records


def test_averages_of_like_parties_keep_the_bias_of_one() -> None:
    """The counterexample to Theorem 6.3.3, i.i.d. y of 1/4 and -3/4: local minimisers, by their closed form."""
    each, c = 40, 0.25
    share = np.arange(each + 1) / each  # of records at 1/4
    closed = np.where(share > 0.5, (2 * share - 1) * c / (share + 1), (2 * share - 1) * c)
    for k in (0, 7, 20, 33, 40):
        y = np.r_[np.full(k, c), np.full(each - k, -3 * c)]
        found = dp.Problem(np.ones((each, 1)), y, Huber(c), l2=1.0).minimiser()[0][0]
        assert found == pytest.approx(closed[k], abs=1e-7)
    chances = np.exp([np.sum(np.log(np.arange(k + 1, each + 1))) - np.sum(np.log(np.arange(1, each - k + 1)))
                      for k in range(each + 1)]) / 2.0**each  # fmt: skip
    bias = float(chances @ closed)
    assert bias <= -c / (6 * np.sqrt(2 * each)) < 0
    assert bias**2 / 2 >= c**2 / (144 * each)


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
