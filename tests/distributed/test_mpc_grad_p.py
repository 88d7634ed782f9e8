"""MPC Grad P: what it minimises, how it does, and from which ε on its printed noise fails."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.library.distributed import mpc_grad_p as theory
from dpcheck.bounds.library.distributed import noise_comparison
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Logistic
from dpcheck.problems.parties import split_evenly
from dpcheck.solvers.distributed.mpc_grad_p import MPCGradP

FALSE_ALARM = 1e-6
PROMISED = dp.ApproxDP(1.0, 1e-3)
PEOPLE = logistic_synthetic(600, 3, 0).problem(Logistic(), l2=0.1)


def test_the_number_of_parties_does_not_matter_and_noise_of_each_does() -> None:
    """Noise inside has the same deviation for 1 and 20 parties; that of each party, averaged, sqrt(20) times it."""
    one, many = split_evenly(PEOPLE, 1), split_evenly(PEOPLE, 20)
    inside = [MPCGradP(steps=5).calibrated(data, PROMISED).noise_std for data in (one, many)]
    each = MPCGradP(steps=5, noise="each").calibrated(many, PROMISED).noise_std
    assert inside[0] == pytest.approx(inside[1])
    assert each / np.sqrt(20) / inside[1] == pytest.approx(np.sqrt(20))


def test_risk_is_within_the_explicit_bound_and_with_noise_of_each_party_is_not() -> None:
    """The mean of 200 runs with the noise of (6.3.1), less five standard errors; planted: every party adds noise."""
    data = split_evenly(PEOPLE, 60)
    here = {"parties": 60, "n_least": 10, "d": 3, "eps": 1.0, "delta": 1e-3, "G": 1.0, "lam_parties": data.l2}
    least = data.minimiser()[1]
    steps = MPCGradP().plan(data, PROMISED)
    bound = (1 - data.l2 / data.smoothness) ** steps * (data.value(np.zeros(3)) - least)
    noise = theory.theorem4.evaluate(T=steps, **{k: v for k, v in here.items() if k not in ("d", "lam_parties")})
    bound += 3 * noise**2 / (2 * data.l2)
    for noise_by, within in (("inside", True), ("each", False)):
        found = MPCGradP(noise=noise_by).solve(data, PROMISED, 0, trials=200, calibration="stated")
        risk = data.value(found.w) - least
        assert (risk.mean() - 5 * risk.std() / np.sqrt(200) <= bound) == within


def test_own_gradients_are_averaged_without_bias() -> None:
    data = split_evenly(PEOPLE, 4)
    found = [MPCGradP(steps=3, noise=n).solve(data, PROMISED, 0, trials=4000).w for n in ("inside", "each")]
    error = np.sqrt(sum(w.var(axis=0) / len(w) for w in found))
    assert np.all(abs(found[0].mean(axis=0) - found[1].mean(axis=0)) < 5 * error)


@pytest.mark.parametrize(
    ("claim", "eps", "leaks"),
    [(theory.theorem4, 1.0, False), (theory.theorem4, 12.0, True), (noise_comparison.grad_budget, 0.5, True)],
    ids=["theorem, ε = 1", "theorem, ε = 12", "table, ε = 0.5"],
)
def test_noise_of_the_theorem_and_of_the_table(claim: dp.Claim, eps: float, leaks: bool) -> None:
    """The exact account of what is released, at δ = 0.001: the table lacks log(1/δ)."""
    here = {"parties": 4, "n_least": 10, "T": 25, "G": 1.0, "eps": eps, "delta": 1e-3}
    scale = float(claim.evaluate(**{str(s): here[str(s)] for s in claim.formula.free_symbols}))
    released = theory.released.at(**{k: here[k] for k in ("parties", "n_least", "T", "G")}).with_noise(scale)
    spent = released.epsilon(1e-3)
    assert (spent.low > eps) if leaks else (spent.high <= eps)


def test_what_is_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="split_evenly"):
        MPCGradP().solve(PEOPLE, PROMISED)
    with pytest.raises(dp.InvalidInput, match="delta > 0"):
        MPCGradP().solve(split_evenly(PEOPLE, 2), dp.PureDP(1.0))
    flat = split_evenly(logistic_synthetic(20, 2, 0).problem(Logistic()), 2)
    with pytest.raises(dp.InvalidInput, match="number of steps"):
        MPCGradP().solve(flat, PROMISED)
