"""Output-perturbation gradient descent: its descent, its noise, and what its theorems say of both.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bugs planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from dpcheck.bounds.library.convex import outpert_gd as theory
from dpcheck.datasets import linear_synthetic, logistic_synthetic
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Linear, Logistic, Loss, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, at, descend, exact_lemma, pull
from dpcheck.testing.planting import with_noise_times

FALSE_ALARM = 1e-6
FAR = 1e6  # labels so far away that a Huber loss keeps its full gradient
GUARANTEES = [PureDP(1.0), ApproxDP(1.0, 1e-2), ZCDP(0.5), GaussianDP(1.0), RenyiDP(4.0, 1.0)]
Pair = tuple[Problem, Problem]


def worst_pair(l2: float = 0.0, d: int = 1) -> Pair:
    """The solver's own pair, with a regulariser, in more dimensions."""
    X = np.zeros((2, d))
    X[0, 0] = 1.0
    first = Problem(X, np.array([FAR, FAR]), Huber(1.0), l2=l2, label_bound=FAR)
    return first, first.replace(0, X[0], -FAR)


def natural_step(problem: Problem) -> float:
    return 1 / (problem.smoothness + problem.strong_convexity)


def divergence(pair: Pair, eta: float, steps: int) -> float:
    return float(np.linalg.norm(np.subtract(*(descend(p, eta, steps)[-1] for p in pair))))


def exact_bound(problem: Problem, eta: float, steps: int) -> float:
    """How far neighbouring runs part at most, by the lemma that certified noise rests on."""
    here = {"n": problem.n, "T": steps, "eta": eta, "L": pull(problem, eta, steps), "mu": problem.strong_convexity}
    return at(exact_lemma(problem), here)


def flagged(mechanism: Any, pair: Pair, guarantee: Guarantee, trials: int = 20_000) -> bool:
    found = audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=FALSE_ALARM, seed=1)
    return found.violated


# The descent ---------------------------------------------------------------------------------------
@st.composite
def neighbours(draw: Any) -> Pair:
    """A random problem and one with its first record replaced, at times by the opposite of the largest record.

    A sigmoid loss is not convex, but with this regulariser it is: mu = l2 - 1/(6 sqrt 3).
    """
    smooth: st.SearchStrategy[Loss] = st.floats(0.1, 2).map(Huber) | st.floats(0.1, 2).map(SmoothedHinge)
    phi = draw(st.sampled_from([Logistic(), Sigmoid()]) | smooth)
    l2 = draw(st.floats(0.1, 1.0) if phi == Sigmoid() else st.just(0.0) | st.floats(0.02, 1.0))
    size, d, bound = draw(st.integers(2, 8)), draw(st.integers(1, 4)), draw(st.sampled_from([0.5, 2.0, 50.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((size + 1, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * rng.choice([1.0, 2.0], (size + 1, 1))
    y = rng.choice([-1.0, 1.0], size + 1) if phi.labels == "sign" else bound * rng.uniform(-1, 1, size + 1)
    if draw(st.booleans()):
        X[0] /= np.linalg.norm(X[0])
        X[size], y[size] = -X[0], y[0]
    first = Problem(X[:size], y[:size], phi, l2=l2, label_bound=bound)
    return first, first.replace(0, X[size], y[size])


@given(pair=neighbours(), steps=st.integers(1, 25), share=st.floats(0.05, 1.0))
@settings(max_examples=150, deadline=None)
def test_neighbouring_runs_stay_within_the_lemma(pair: Pair, steps: int, share: float) -> None:
    eta = share * natural_step(pair[0])
    assert divergence(pair, eta, steps) <= exact_bound(pair[0], eta, steps) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("l2", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("steps", [2, 5, 40])
def test_the_worst_pair_attains_it_and_exceeds_wrong_bounds(steps: int, l2: float) -> None:
    pair = worst_pair(l2)
    eta = natural_step(pair[0])
    measured, bound = divergence(pair, eta, steps), exact_bound(pair[0], eta, steps)
    assert 0.99 * bound <= measured <= bound * (1 + 1e-9)
    assert measured > exact_bound(pair[0], eta, 1) * 1.2  # planted: T ignored


@given(
    l2=st.just(0.0) | st.floats(0.01, 5.0), steps=st.integers(1, 60), row=st.floats(0.1, 10.0), seed=st.integers(0, 99)
)
@settings(max_examples=60, deadline=None)
def test_runs_meet_no_gradient_above_the_pull(l2: float, steps: int, row: float, seed: int) -> None:
    data = logistic_synthetic(6, 2, seed)
    problem = Problem(row * data.X, data.y, Logistic(), l2=l2 * row**2, row_bound=row)
    eta = natural_step(problem)
    slopes = problem.loss.derivative(descend(problem, eta, steps)[:-1] @ problem.X.T, problem.y)
    met = (np.abs(slopes) * np.linalg.norm(problem.X, axis=1)).max()
    most = pull(problem, eta, steps)
    assert met <= most <= problem.data_lipschitz
    assert steps > 1 or most == pytest.approx(row / 2)  # one step: the gradient at 0
    assert l2 < 1 or most < 0.7 * row


@given(level=st.floats(0.5, 5), size=st.integers(1, 2000), d=st.integers(1, 20), l2=st.sampled_from([0.0, 0.01, 0.3]))
@settings(max_examples=60, deadline=None)
def test_number_of_steps_is_that_of_the_theorems(level: float, size: int, d: int, l2: float) -> None:
    """The formula rounded up, at least 1: (n eps / d)^(2/3) at L = beta = D = 1, a logarithm with a regulariser."""
    problem = Problem(np.zeros((size, d)), np.zeros(size), Huber(1.0), l2=l2)
    steps = OutputPerturbationGD(radius=1.0).values(problem, PureDP(level))["T"]
    if l2 > 0:
        L, beta = 1 + 2 * l2, 1 + l2
        expected = (l2**2 + beta**2) / (l2 * beta) * math.log((l2 * size * level / (L * d)) ** 2)
    else:
        expected = (size * level / d) ** (2 / 3)
    assert -1e-9 <= steps - max(1.0, expected) < 1


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("guarantee", "l2"), [*((g, 0.0) for g in GUARANTEES), *((g, 0.2) for g in GUARANTEES[:2])], ids=str
)
def test_audit_of_the_worst_pair_and_of_noise_that_ignores_T(guarantee: Guarantee, l2: float) -> None:
    """False alarms: 1e-6. The suite of all solvers plants other bugs, without a regulariser."""
    steps, pair = 6, worst_pair(l2)
    eta = natural_step(pair[0])
    one_step = exact_bound(pair[0], eta, 1) / exact_bound(pair[0], eta, steps)
    for factor in (1.0, one_step):
        mechanism = with_noise_times(factor, OutputPerturbationGD(steps=steps), guarantee)
        assert flagged(mechanism, pair, guarantee) == (factor < 1)


@pytest.mark.parametrize("d", [2, 6])
def test_pure_noise_in_more_dimensions(d: int) -> None:
    """False alarms: 1e-6. The best statistic is the difference of the distances to the two noiseless outputs."""
    steps, guarantee, pair = 5, PureDP(1.0), worst_pair(d=d)
    ends = [descend(p, 1.0, steps)[-1] for p in pair]
    solver, scale = OutputPerturbationGD(steps=steps), exact_bound(pair[0], 1.0, steps) / guarantee.eps

    def as_seen(release: Any) -> Any:
        def nearer(data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
            w = release(data, rng, trials)
            apart = np.linalg.norm(w - ends[1], axis=1) - np.linalg.norm(w - ends[0], axis=1)
            return apart.round(9)  # the last bits tell where floating point rounded, not what the law is

        return nearer

    def radius_of_one_dimension(data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
        z = rng.standard_normal((trials, d))
        z *= rng.exponential(scale, (trials, 1)) / np.linalg.norm(z, axis=1, keepdims=True)
        return descend(data, 1.0, steps)[-1] + z

    assert not flagged(as_seen(solver.mechanism(guarantee)), pair, guarantee, 40_000)
    for planted in (with_noise_times(0.5, solver, guarantee), radius_of_one_dimension):
        assert flagged(as_seen(planted), pair, guarantee, 40_000)


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-3), ZCDP(0.5)], ids=str)
def test_law_of_the_output(guarantee: Guarantee) -> None:
    """Kolmogorov-Smirnov on the distance to w_T, at p < 1e-6; scales 5% off are flagged."""
    problem, d = logistic_synthetic(30, 4, 0).problem(Logistic(), l2=0.1), 4
    found = OutputPerturbationGD(steps=9).solve(problem, guarantee, 3, trials=40_000)
    lengths = np.linalg.norm(found.w - descend(problem, natural_step(problem), 9)[-1], axis=1)
    for off, fits in ((1.0, True), (1.05, False), (0.95, False)):
        law = (stats.gamma if isinstance(guarantee, PureDP) else stats.chi)(d, scale=off * found.noise_std)
        assert (stats.kstest(lengths, law.cdf).pvalue > FALSE_ALARM) == fits


# Utility -------------------------------------------------------------------------------------------
PROOFS: dict[tuple[bool, bool], Claim] = {
    (True, True): theory.theorem2_pure_proof,
    (True, False): theory.theorem2_approx_proof_corrected,
    (False, True): theory.theorem3_pure_proof,
    (False, False): theory.theorem3_approx_proof,
}


@pytest.mark.parametrize("guarantee", [PureDP(0.5), ApproxDP(1.0, 1e-3)], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_published_noise_keeps_the_explicit_bounds_and_without_its_n_does_not(l2: float, guarantee: Guarantee) -> None:
    """The mean of 400 runs, less five standard errors: false alarms 3e-7."""
    problem = linear_synthetic(60, 3, 0).problem(Huber(0.5), l2=l2)
    w, least = problem.minimiser()
    solver = OutputPerturbationGD(radius=None if l2 > 0 else max(1.0, float(np.linalg.norm(w))))
    bound = at(PROOFS[l2 > 0, isinstance(guarantee, PureDP)], solver.values(problem, guarantee))
    for factor in (1.0, float(problem.n)):
        noisy = with_noise_times(factor, solver, guarantee, "stated")(problem, np.random.default_rng(0), 400)
        risks = problem.value(noisy) - least
        assert (risks.mean() - 5 * risks.std() / math.sqrt(len(risks)) <= bound) == (factor == 1.0)


# Refusals ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("calibration", ["certified", "stated"])
@pytest.mark.parametrize(
    ("loss", "l2", "hypothesis"),
    [(Squared(), 0.0, "L-Lipschitz"), (Squared(), 0.1, "L-Lipschitz"), (Sigmoid(), 0.05, "convex")],
    ids=["squared", "squared, l2", "sigmoid, small l2"],
)
def test_broken_hypotheses_are_named(loss: Loss, l2: float, hypothesis: str, calibration: Any) -> None:
    problem = logistic_synthetic(10, 2, 0).problem(loss, l2=l2)
    with pytest.raises(HypothesisViolated, match=f"violates each loss is .*{hypothesis}"):
        OutputPerturbationGD().solve(problem, PureDP(1.0), 0, calibration=calibration)


def test_what_else_is_refused() -> None:
    problem = logistic_synthetic(10, 2, 0).problem(Logistic())
    with pytest.raises(InvalidInput, match="does not project"):
        OutputPerturbationGD().solve(replace(problem, constraint=L2Ball(1.0)), PureDP(1.0), 0)
    with pytest.raises(InvalidInput, match="smoothness is 0"):
        OutputPerturbationGD().solve(replace(problem, loss=Linear()), PureDP(1.0), 0)
    for guarantee in (ZCDP(0.5), GaussianDP(1.0), RenyiDP(2.0, 1.0)):
        with pytest.raises(InvalidInput, match="paper states no other noise"):
            OutputPerturbationGD(steps=2).solve(problem, guarantee, 0, calibration="stated")
