"""What solvers share: seeds of every kind, the grid of their outputs, mechanisms to audit, hypotheses, noise.

What each of them promises is tried for all in test_conformance.py.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpcheck
from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    RenyiDP,
    gaussian_delta,
)
from dpcheck.bounds.library.convex.gradient_descent import lemma2_corrected
from dpcheck.bounds.library.convex.outpert_gd import theorem2_approx
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels import noise
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.constraints import L2Ball, WholeSpace
from dpcheck.problems.losses import Huber, Logistic, Sigmoid, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solution, Solver, gaussian_noise_for, gaussian_parameters, must_meet, on_grid, undecided
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, descend
from dpcheck.solvers.finding import solvers
from dpcheck.solvers.mechanisms.laplace import LaplaceMechanism
from dpcheck.testing.planting import with_noise_times

FALSE_ALARM = 1e-6
CLAIMED = ApproxDP(1.0, 1e-2)
SETTINGS: list[tuple[Solver, Any]] = [
    (OutputPerturbationGD(steps=5), PureDP(1.0)),
    (OutputPerturbationGD(steps=5), CLAIMED),
    (BassilySGD(batch=2, steps=4), CLAIMED),
    (BassilySGD(batch=6, steps=4), CLAIMED),
]
IDS = ["outpert_gd pure", "outpert_gd approx", "bassily_sgd batches", "bassily_sgd full"]
each = pytest.mark.parametrize(("solver", "guarantee"), SETTINGS, ids=IDS)


def ended(solver: OutputPerturbationGD, p: Problem) -> np.ndarray:
    """w_T, before noise."""
    values = solver.values(p, CLAIMED)
    return descend(p, values["eta"], int(values["T"]))[-1]


def problem(n: int = 6, l2: float = 0.1) -> Problem:
    return logistic_synthetic(n, 3, 0).problem(Logistic(), l2=l2)


# Seeds and trials ----------------------------------------------------------------------------------
@each
@given(seed=st.integers(0, 2**63), trials=st.integers(1, 40), stated=st.booleans())
@settings(max_examples=15, deadline=None)
def test_same_seed_same_bits(solver: Solver, guarantee: Any, seed: int, trials: int, stated: bool) -> None:
    def run(rng: Any, trace: bool = False) -> Solution:
        calibration: Any = "stated" if stated else "certified"
        return solver.solve(problem(), guarantee, rng, trials=trials, calibration=calibration, trace=trace)

    first = run(seed)
    assert first.w.shape == (trials, 3)
    np.testing.assert_array_equal(run(seed).w, first.w)
    np.testing.assert_array_equal(run(np.random.SeedSequence(seed)).w, first.w)
    np.testing.assert_array_equal(run(np.random.default_rng(seed)).w, run(np.random.default_rng(seed)).w)
    traced = run(seed, trace=True)
    np.testing.assert_array_equal(traced.w, first.w)
    assert first.trace is None
    assert traced.trace is not None
    assert first.noise_std == traced.noise_std


def test_mean_and_covariance_of_a_batch() -> None:
    """Of Gaussian output perturbation: N(w_T, sigma^2 I), at 1e-6; planted: a shifted mean, one coordinate 5% off."""
    trials, solver = 20_000, OutputPerturbationGD(steps=5)
    found = solver.solve(problem(), CLAIMED, 8, trials=trials)
    z = (found.w - ended(solver, problem())) / found.noise_std

    def plausible(x: np.ndarray) -> bool:
        means = stats.chi2.sf(trials * (x.mean(axis=0) ** 2).sum(), 3)
        powers = min(2 * min(stats.chi2.sf(s, trials), stats.chi2.cdf(s, trials)) for s in (x**2).sum(axis=0))
        products = [(x[:, i] * x[:, j]).sum() / math.sqrt(trials) for i, j in ((0, 1), (0, 2), (1, 2))]
        crossed = min(2 * stats.norm.sf(abs(p)) for p in products)
        return min(means, 3 * powers, 3 * crossed) / 3 > FALSE_ALARM

    assert plausible(z)
    assert not plausible(z + 0.05)
    assert not plausible(z * np.array([1.05, 1, 1]))
    assert not plausible(z + 0.1 * z[:, ::-1])


# Last bits -----------------------------------------------------------------------------------------
def in_the_last_bits(w: np.ndarray) -> np.ndarray:
    """Small outputs that are whole multiples of 2^-53: what is left when a larger number was added to the noise."""
    units = w * 2.0**53
    return ((np.abs(w) < 0.1) & (units == np.floor(units))).astype(float)


def flagged_by_bits(mechanism: Any, pair: Any, guarantee: Any) -> bool:
    found = audit(
        mechanism, pair=pair, guarantee=guarantee, max_trials=60_000, alpha=FALSE_ALARM, seed=1, attack=in_the_last_bits
    )
    return found.violated


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6)], ids=str)
def test_the_last_bits_of_an_output_tell_nothing(guarantee: Any) -> None:
    """False alarms: 1e-6. One dataset ends at 0, where noise keeps its bits; its neighbour does not.

    Planted: the same noise, added to the same w_T, released as the float that it is.
    """
    first = Problem([[1.0], [0.0]], [0.0, 0.0], Huber(1.0))
    pair, solver = (first, first.replace(0, [1.0], 1.0)), OutputPerturbationGD(steps=3)

    def naked(data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
        found = solver.solve(data, guarantee, 0)
        pure = isinstance(guarantee, PureDP)
        z = noise.l2_laplace(rng, found.noise_std, trials, 1) if pure else rng.normal(0, found.noise_std, (trials, 1))
        return ended(solver, data) + z

    assert not flagged_by_bits(solver.mechanism(guarantee), pair, guarantee)
    assert flagged_by_bits(naked, pair, guarantee)


@each
def test_outputs_lie_on_the_grid(solver: Solver, guarantee: Any) -> None:
    """With noise above 2^-10, all outputs are multiples of 2^-40; the points of the run are not, but for pure DP."""
    found = solver.solve(problem(), guarantee, 5, trials=200, trace=True)
    assert found.trace is not None
    assert found.w.std() > 2.0**-10
    assert np.all(found.w * 2.0**40 == np.rint(found.w * 2.0**40))
    last = found.trace.points[-1]
    assert np.all(last * 2.0**40 == np.rint(last * 2.0**40)) == isinstance(guarantee, PureDP)
    np.testing.assert_allclose(found.w, last, atol=2.0**-28 * found.w.std())


@given(scale=st.floats(1e-6, 100), seed=st.integers(0, 2**32 - 1), ball=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_grid_is_public_and_fine(scale: float, seed: int, ball: bool) -> None:
    """A power of two between 2^-30 and 2^-29 of the noise; points move by half a cell, and stay in their set."""
    p = replace(problem(), constraint=L2Ball(1.0) if ball else WholeSpace())
    w = p.constraint.project(scale * np.random.default_rng(seed).standard_normal((50, 3)))
    rounded = on_grid(w, scale, p)
    assert np.abs(rounded - w).max() <= scale * 2.0**-29
    assert np.all(p.constraint.contains(rounded))
    if not ball:
        step = 2.0 ** (math.floor(math.log2(scale)) - 29)
        assert np.all(rounded / step == np.rint(rounded / step))
        assert not np.all(w / step == np.rint(w / step))
    np.testing.assert_array_equal(on_grid(w, 0.0, p), w)


# Mechanisms ----------------------------------------------------------------------------------------
@each
def test_a_mechanism_is_the_solver_under_a_guarantee(solver: Solver, guarantee: Any) -> None:
    rng = np.random.default_rng
    mechanism = solver.mechanism(guarantee)
    direct = solver.solve(problem(), guarantee, rng(4), trials=7).w
    np.testing.assert_array_equal(mechanism(problem(), rng(4), 7), direct)
    again = pickle.loads(pickle.dumps(mechanism))  # workers get a copy
    np.testing.assert_array_equal(again(problem(), rng(4), 7), direct)


@each
def test_a_planted_bug_is_less_noise_and_nothing_else(solver: Solver, guarantee: Any) -> None:
    """The wrapper changes the noise, the solver has no setting that does."""
    honest, whole, halved = solver.mechanism(guarantee), *(with_noise_times(f, solver, guarantee) for f in (1.0, 0.5))
    rng, p = np.random.default_rng, problem()
    np.testing.assert_array_equal(whole(p, rng(4), 7), honest(p, rng(4), 7))
    assert halved.calibrated(p).noise_std == honest.calibrated(p).noise_std / 2
    with pytest.raises(TypeError, match="noise_factor"):
        replace(solver, noise_factor=0.5)


# Refusals ------------------------------------------------------------------------------------------
def test_must_meet_names_the_first_hypothesis_that_fails() -> None:
    def refused(p: Problem, **values: float) -> str:
        with pytest.raises(HypothesisViolated) as error:
            must_meet(lemma2_corrected, p, **values)
        return str(error.value)

    assert "Sigmoid loss) violates each loss is convex" in refused(replace(problem(), loss=Sigmoid(), l2=0.0))
    assert "Squared loss) violates each loss is L-Lipschitz" in refused(replace(problem(), loss=Squared()))
    assert "eta <= 1/beta" in refused(problem(), eta=5.0, beta=0.35)
    must_meet(lemma2_corrected, problem(), eta=1.0, beta=0.35)
    with pytest.raises(HypothesisViolated, match="strongly convex"):
        must_meet(theorem2_approx, problem(l2=0.0))


# Noise ---------------------------------------------------------------------------------------------
@given(sensitivity=st.floats(1e-3, 1e3), eps=st.floats(0.01, 10), delta=st.floats(1e-9, 0.3), order=st.floats(1.1, 50))
@settings(max_examples=60, deadline=None)
def test_gaussian_noise_for_each_notion(sensitivity: float, eps: float, delta: float, order: float) -> None:
    """No more and no less than the notion allows; 1% less noise breaks it."""
    sigma = gaussian_noise_for(ApproxDP(eps, delta), sensitivity)
    assert gaussian_delta(eps, sensitivity / sigma) <= delta < gaussian_delta(eps, sensitivity / (0.99 * sigma))
    for guarantee in (GaussianDP(eps), ZCDP(eps), RenyiDP(order, eps)):
        mu = sensitivity / gaussian_noise_for(guarantee, sensitivity)
        assert GaussianDP(mu).renyi(order) == pytest.approx(guarantee.renyi(order), rel=1e-9)


def test_gaussian_noise_is_refused_for_pure_dp() -> None:
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(InvalidInput, match="reachable with Gaussian noise"):
            gaussian_noise_for(guarantee, 1.0)


def test_public_parameters() -> None:
    assert gaussian_parameters(PureDP(2.0)) == (2.0, 0.0)
    assert gaussian_parameters(ApproxDP(2.0, 0.1)) == (2.0, 0.1)
    eps, delta = gaussian_parameters(GaussianDP(1.0))
    assert gaussian_delta(eps, 1.0) == pytest.approx(delta, rel=1e-6)


# Registration --------------------------------------------------------------------------------------
def test_solvers_are_found_by_file_and_by_class() -> None:
    found = solvers()
    assert {"outpert_gd", "bassily_sgd", "laplace"} <= set(found)
    for stem, solver in found.items():
        assert solver.name == stem
        assert getattr(dpcheck.solvers, solver.__name__) is solver
    with pytest.raises(AttributeError, match="OutputPerturbationGD"):
        _ = dpcheck.solvers.Unwritten


# Hypotheses ----------------------------------------------------------------------------------------
def test_what_nothing_decides_is_listed() -> None:
    """The data decide convexity and smoothness; that the run starts at 0 is words."""
    found = OutputPerturbationGD(steps=3).solve(problem(l2=0.0), CLAIMED, 0)
    assert "assumed: the run starts at 0" in found.rests_on
    assert not any("convex" in word for word in found.rests_on)
    assert undecided(lemma2_corrected, problem(l2=0.0)) == []
    assert undecided(lemma2_corrected, np.zeros(3)) == [f"assumed: {h}" for h in lemma2_corrected.assumes[:3]]


def test_a_method_that_peeks_is_refused_when_certified() -> None:
    class Peeking(OneAnswer):
        def peek(self, data: Any, state: Any, t: int, asked: Any) -> Any:  # type: ignore[override]
            return (state[0] + data.X.mean(),)

    @dataclass(frozen=True)
    class Broken(LaplaceMechanism):
        def method(self, data: Any, plan: Any, released: Any) -> OneAnswer:
            return Peeking(lambda records: records.X.mean(axis=0), data.d)

    first, _ = Broken().worst_pair()
    with pytest.raises(InvalidInput, match="learns of the records only through noisy answers"):
        Broken().solve(first, PureDP(1.0), 0)
    assert Broken().solve(first, PureDP(1.0), 0, calibration="stated").w.shape == (1, 3)
    box: Any = Broken().mechanism(PureDP(1.0), "stated", transcript=True)
    with pytest.raises(InvalidInput, match="Audit its output"):
        box.log_density(box(first, np.random.default_rng(0), 2), first)


class Counted(Problem):
    """Counts the record gradients that are asked for."""

    asked = 0

    def gradient(self, W: Any, out: Any = None, margins: Any = None) -> Any:
        Counted.asked += self.n * (np.asarray(W).size // self.d)
        return super().gradient(W, out, margins)

    def gradient_at(self, W: Any, index: Any) -> Any:
        Counted.asked += np.asarray(index).size
        return super().gradient_at(W, index)


@pytest.mark.parametrize("stem", ["outpert_gd", "bassily_sgd", "dp_sgd"])
def test_gradients_are_counted_as_they_are_evaluated(stem: str) -> None:
    data = logistic_synthetic(n=120, d=3, seed=0).problem(Logistic(), l2=0.5)
    counted = Counted(data.X, data.y, data.loss, data.l2)
    solver, guarantee = solvers()[stem](), ApproxDP(1.0, 1e-3)
    Counted.asked = 0
    solver.solution(counted, guarantee, 0)
    assert Counted.asked == solver.gradients(counted, guarantee)
