"""What every solver promises: seeds, independent trials, traces, mechanisms to audit, and typed refusals."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpcheck
from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    REPLACE_ONE,
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
from dpcheck.problems.constraints import L2Ball, WholeSpace
from dpcheck.problems.losses import Huber, Logistic, Sigmoid, Squared
from dpcheck.problems.problem import Problem
from dpcheck.registry import solvers
from dpcheck.solver import Solution, Solver, gaussian_noise_for, gaussian_parameters, must_meet, on_grid
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD

FALSE_ALARM = 1e-6
CLAIMED = ApproxDP(1.0, 1e-2)
SETTINGS: list[tuple[Solver, Any]] = [
    (OutputPerturbationGD(steps=5), PureDP(1.0)),
    (OutputPerturbationGD(steps=5), CLAIMED),
    (BassilySGD(batch=2, steps=4), CLAIMED),
    (BassilySGD(batch=6, steps=4), CLAIMED),
    (RandomRoundSGD(), CLAIMED),
]
IDS = ["outpert_gd pure", "outpert_gd approx", "bassily_sgd batches", "bassily_sgd full", "rrpsgd"]
each = pytest.mark.parametrize(("solver", "guarantee"), SETTINGS, ids=IDS)


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


@each
def test_other_seeds_and_other_trials_differ(solver: Solver, guarantee: Any) -> None:
    rows = [solver.solve(problem(), guarantee, s, trials=50).w for s in (0, 1)]
    rng = np.random.default_rng(0)
    rows += [solver.solve(problem(), guarantee, rng, trials=50).w for _ in range(2)]  # a generator moves on
    moved = np.concatenate(rows)
    moved = moved[np.any(moved != 0, axis=1)]  # a random round of 0 steps stays at 0
    assert len(moved) > 150
    assert len(np.unique(moved[:, 0])) == len(moved)


def independent(w: np.ndarray) -> float:
    """p-value that successive trials are uncorrelated, each coordinate (Bonferroni)."""
    return min(float(stats.spearmanr(c[:-1], c[1:]).pvalue) for c in w.T) * w.shape[1]


@each
def test_trials_are_independent(solver: Solver, guarantee: Any) -> None:
    """False alarms: 1e-6. Planted: trials that share a tenth of their noise with the one before."""
    w = solver.solve(problem(), guarantee, 3, trials=20_000).w
    assert independent(w) > FALSE_ALARM
    assert independent(w[1:] + 0.1 * w[:-1]) < FALSE_ALARM
    assert independent(np.repeat(w[:10_000], 2, axis=0)) < FALSE_ALARM


def test_mean_and_covariance_of_a_batch() -> None:
    """Of Gaussian output perturbation: N(w_T, sigma^2 I), at 1e-6; planted: a shifted mean, one coordinate 5% off."""
    trials, solver = 20_000, OutputPerturbationGD(steps=5)
    found = solver.solve(problem(), CLAIMED, 8, trials=trials, trace=True)
    assert found.trace is not None
    z = (found.w - found.trace.iterates[-1, 0]) / found.noise_std

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
    )  # fmt: skip
    return found.violated


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6)], ids=str)
def test_the_last_bits_of_an_output_tell_nothing(guarantee: Any) -> None:
    """False alarms: 1e-6. One dataset ends at 0, where noise keeps its bits; its neighbour does not.

    Planted: the same noise, added to the same w_T, released as the float that it is.
    """
    first = Problem([[1.0], [0.0]], [0.0, 0.0], Huber(1.0))
    pair, solver = (first, first.replace(0, [1.0], 1.0)), OutputPerturbationGD(steps=3)

    def naked(data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
        found = solver.solve(data, guarantee, 0, trace=True)
        assert found.trace is not None
        pure = isinstance(guarantee, PureDP)
        z = noise.l2_laplace(rng, found.noise_std, trials, 1) if pure else rng.normal(0, found.noise_std, (trials, 1))
        return found.trace.iterates[-1] + z

    assert not flagged_by_bits(solver.mechanism(guarantee), pair, guarantee)
    assert flagged_by_bits(naked, pair, guarantee)


@each
def test_outputs_lie_on_the_grid(solver: Solver, guarantee: Any) -> None:
    """With noise above 2^-10, all outputs are multiples of 2^-40; iterates are not."""
    found = solver.solve(problem(), guarantee, 5, trials=200, trace=True)
    assert found.trace is not None
    assert found.w.std() > 2.0**-10
    assert np.all(found.w * 2.0**40 == np.rint(found.w * 2.0**40))
    last = found.trace.iterates[-1]
    assert not np.all(last * 2.0**40 == np.rint(last * 2.0**40))
    if last.shape == found.w.shape:
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
def test_planted_factors_multiply(solver: Solver, guarantee: Any) -> None:
    """A solver planted with a bug keeps it as a mechanism."""
    plain = solver.solve(problem(), guarantee, 0).noise_std
    halved = replace(solver, noise_factor=0.5)
    assert halved.solve(problem(), guarantee, 0).noise_std == pytest.approx(plain / 2, rel=1e-3)
    rng = np.random.default_rng
    quarter = replace(solver, noise_factor=0.25).solve(problem(), guarantee, rng(1), trials=3).w
    np.testing.assert_array_equal(halved.mechanism(guarantee, noise_factor=0.5)(problem(), rng(1), 3), quarter)
    np.testing.assert_array_equal(
        halved.mechanism(guarantee)(problem(), rng(1), 3), halved.solve(problem(), guarantee, rng(1), trials=3).w
    )


@each
def test_worst_pairs_are_neighbours(solver: Solver, guarantee: Any) -> None:
    first, second = solver.worst_pair()
    differ = np.any(first.X != second.X, axis=1) | (first.y != second.y)
    assert differ.sum() == 1
    assert (first.loss, first.l2, first.row_bound, first.label_bound) == (
        second.loss,
        second.l2,
        second.row_bound,
        second.label_bound,
    )


# Refusals ------------------------------------------------------------------------------------------
@each
def test_bad_calls_are_typed(solver: Solver, guarantee: Any) -> None:
    for trials in (0, -1, 1.5, True):
        with pytest.raises(InvalidInput, match="trials"):
            solver.solve(problem(), guarantee, 0, trials=trials)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="calibration"):
        solver.solve(problem(), guarantee, 0, calibration="guessed")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be a Guarantee"):
        solver.solve(problem(), 1.0, 0)  # type: ignore[arg-type]
    with pytest.raises(MixedRelations, match="add/remove"):
        solver.solve(problem(), replace(guarantee, relation=ADD_REMOVE), 0)
    with pytest.raises(MixedRelations):
        solver.solve(problem(), replace(guarantee, relation=replace(REPLACE_ONE, size=2)), 0)
    for nothing in (ApproxDP(0.0, 1e-2), RenyiDP(2.0, 0.0)):
        with pytest.raises(InvalidInput, match="eps > 0"):
            solver.solve(problem(), nothing, 0)
    for seed in (-1, 1.5, "0"):
        with pytest.raises(InvalidInput, match="seed"):
            solver.solve(problem(), guarantee, seed)  # type: ignore[arg-type]
    for factor in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidInput, match="noise_factor"):
            replace(solver, noise_factor=factor)


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
    assert {"outpert_gd", "bassily_sgd", "rrpsgd"} <= set(found)
    for stem, solver in found.items():
        assert solver.name == stem
        assert getattr(dpcheck.solvers, solver.__name__) is solver
    with pytest.raises(AttributeError, match="OutputPerturbationGD"):
        _ = dpcheck.solvers.Unwritten


def test_a_solver_of_ones_own() -> None:
    """The base class does the checking; a subclass only runs."""

    @dataclass(frozen=True)
    class Nothing(Solver):
        name: ClassVar[str] = "nothing"

        def run(self, p: Problem, guarantee: Any, seed: Any, trials: int, calibration: Any, trace: bool) -> Solution:
            return Solution(np.zeros((trials, p.d)), guarantee, 0.0, (), 0)

        def worst_pair(self) -> tuple[Problem, Problem]:
            return problem(), problem().replace(0, np.zeros(3), 1.0)

    assert Nothing().solve(problem(), PureDP(1.0), trials=4).w.shape == (4, 3)
    with pytest.raises(InvalidInput, match="trials"):
        Nothing().solve(problem(), PureDP(1.0), trials=0)
