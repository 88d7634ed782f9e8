"""The descent under output perturbation: how far neighbouring runs part, how they converge, the risk they leave."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from outpert_gd_problems import (
    bound_of,
    divergence,
    either,
    losses,
    natural_step,
    neighbours,
    none,
    regularisers,
    worst_pair,
)

from dpcheck.bounds.language.claim import Effort, Kind, Rate, Verdict, lambdified
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.language.symbols import eps, excess_risk, n
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.convex import outpert_gd as theory
from dpcheck.datasets import linear_synthetic, logistic_synthetic
from dpcheck.evidence.checks import Trend
from dpcheck.evidence.convex.outpert_gd import strong_error_by
from dpcheck.evidence.random_problems import excess
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, descend, exact_lemma
from dpcheck.testing.planting import with_noise_times


# Sensitivity ---------------------------------------------------------------------------------------
@given(pair=either, steps=st.integers(1, 25), share=st.floats(0.05, 1.0))
@settings(max_examples=150, deadline=None)
def test_neighbouring_runs_stay_within_the_lemma(pair: tuple[Problem, Problem], steps: int, share: float) -> None:
    eta = share * natural_step(pair[0])
    assert divergence(pair, eta, steps) <= bound_of(exact_lemma(pair[0]), pair[0], eta, steps) * (1 + 1e-9) + 1e-12


@given(pair=neighbours(l2=st.floats(0.1, 1.0), loss=st.just(Sigmoid())), steps=st.integers(1, 25))
@settings(max_examples=40, deadline=None)
def test_the_lemma_also_covers_a_sigmoid_made_convex(pair: tuple[Problem, Problem], steps: int) -> None:
    """The loss alone is not convex, but with the regulariser it is, with mu = l2 - 1/(6 sqrt 3)."""
    assert pair[0].convex
    eta = natural_step(pair[0])
    assert divergence(pair, eta, steps) <= bound_of(exact_lemma(pair[0]), pair[0], eta, steps) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("l2", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("steps", [2, 5, 40])
def test_the_worst_pair_attains_it_and_exceeds_wrong_bounds(steps: int, l2: float) -> None:
    pair = worst_pair(l2)
    eta = natural_step(pair[0])
    measured, bound = divergence(pair, eta, steps), bound_of(exact_lemma(pair[0]), pair[0], eta, steps)
    assert 0.99 * bound <= measured <= bound * (1 + 1e-9)
    assert measured > bound / 2 * 1.5  # planted: without its factor 2
    assert measured > bound_of(exact_lemma(pair[0]), pair[0], eta, 1) * 1.2  # planted: T ignored


def test_random_pairs_exceed_wrong_bounds_too() -> None:
    """Records that pull apart with full weight: the wrong bounds fail on ordinary data, not only on the worst."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    first = Problem(X, np.full(5, 50.0), Huber(0.5), label_bound=50.0)
    pair = first, first.replace(0, -X[0], 50.0)
    measured, bound = divergence(pair, 1.0, 8), bound_of(gradient_descent.lemma2_corrected, first, 1.0, 8)
    assert bound / 2 * 1.5 < measured <= bound * (1 + 1e-9)
    assert measured > 4 * bound_of(gradient_descent.lemma2_corrected, first, 1.0, 1)


# Convergence ---------------------------------------------------------------------------------------
@st.composite
def fits(draw: Any, l2: Any = none) -> Problem:
    """A problem with a minimiser: every row has both labels, so nothing is separable."""
    phi, size, d = draw(losses), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((size, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.ones(size) if phi.labels == "sign" else rng.uniform(-1, 1, size)
    twice = np.concatenate([X, X, X]), np.concatenate([y, y, -y])
    return Problem(*twice, phi, l2=draw(l2))


@given(problem=fits(), steps=st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_gradient_descent_keeps_lemma_8(problem: Problem, steps: int) -> None:
    w, least = problem.minimiser()
    beta = problem.smoothness
    left = float(problem.value(descend(problem, 1 / beta, steps)[-1])) - least
    bound = gradient_descent.lemma8_corrected.evaluate(beta=beta, eta=1 / beta, T=steps, distance=np.linalg.norm(w))
    assert left <= bound * (1 + 1e-9) + 1e-9


@given(problem=fits(l2=regularisers), steps=st.integers(1, 30), share=st.floats(0.05, 1.0))
@settings(max_examples=60, deadline=None)
def test_gradient_descent_keeps_lemma_5(problem: Problem, steps: int, share: float) -> None:
    w, least = problem.minimiser()
    beta, mu = problem.smoothness, problem.strong_convexity
    left = float(problem.value(descend(problem, share / beta, steps)[-1])) - least
    bound = gradient_descent.lemma5_corrected.evaluate(
        beta=beta, mu=mu, eta=share / beta, T=steps, distance=np.linalg.norm(w)
    )  # fmt: skip
    assert left <= bound * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("steps", [1, 4, 30])
def test_both_rates_are_attained(steps: int) -> None:
    """A Huber loss of threshold 1/(2T+1) for Lemma 8, a parabola for Lemma 5; planted: T doubled."""
    kink = Problem([[1.0]], [1.0], Huber(1 / (2 * steps + 1)))
    left = float(kink.value(descend(kink, 1.0, steps)[-1]))
    assert left == pytest.approx(
        gradient_descent.lemma8_corrected.evaluate(beta=1, eta=1, T=steps, distance=1.0), rel=1e-9
    )
    assert left > gradient_descent.lemma8_corrected.evaluate(beta=1, eta=1, T=2 * steps, distance=1.0)

    bowl = Problem([[1.0]], [1.0], Linear(), l2=0.5)
    w, least = bowl.minimiser()
    left = float(bowl.value(descend(bowl, 0.2, steps)[-1])) - least
    values = {"beta": 0.5, "mu": 0.5, "eta": 0.2, "distance": float(w[0])}
    assert left == pytest.approx(gradient_descent.lemma5_corrected.evaluate(T=steps, **values), rel=1e-6)
    assert left > gradient_descent.lemma5_corrected.evaluate(T=2 * steps, **values)


PROOFS = {
    (True, True): theory.theorem2_pure_proof.formula,
    (True, False): theory.theorem2_approx_proof_corrected.formula,
    (False, True): theory.convex_bound_pure,
    (False, False): theory.convex_bound_approx,
}


def over_proof(problem: Problem, guarantee: Guarantee, factor: float, seed: int) -> float:
    """Mean excess risk of the published noise, less five standard errors (false alarms: 3e-7), over the bound."""
    radius = None if problem.l2 > 0 else max(1.0, float(np.linalg.norm(problem.minimiser()[0])))
    solver = OutputPerturbationGD(radius=radius)
    w = with_noise_times(factor, solver, guarantee, "stated")(problem, np.random.default_rng(seed), 400)
    risks = problem.value(w) - problem.minimiser()[1]
    formula = PROOFS[problem.l2 > 0, isinstance(guarantee, PureDP)]
    values = solver.values(problem, guarantee)
    bound = lambdified(formula)(*(values[str(s)] for s in sorted(formula.free_symbols, key=str)))
    return float((risks.mean() - 5 * risks.std() / math.sqrt(len(risks))) / bound)


@given(
    size=st.integers(20, 80), d=st.integers(1, 5), l2=st.sampled_from([0.0, 0.05, 0.5]), seed=st.integers(0, 999),
    guarantee=st.sampled_from([PureDP(0.5), PureDP(2.0), ApproxDP(0.5, 1e-3), ApproxDP(1.0, 1e-5)]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_excess_risk_is_below_the_explicit_bound(size: int, d: int, l2: float, seed: int, guarantee: Guarantee) -> None:
    problem = linear_synthetic(size, d, seed).problem(Huber(0.5), l2=l2)
    assert over_proof(problem, guarantee, 1.0, seed) <= 1


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-3)], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_noise_that_forgets_the_division_by_n_exceeds_it(l2: float, guarantee: Guarantee) -> None:
    problem = linear_synthetic(60, 3, 0).problem(Huber(0.5), l2=l2)
    assert over_proof(problem, guarantee, 1.0, 0) <= 1
    assert over_proof(problem, guarantee, float(problem.n), 0) > 1


@pytest.mark.parametrize(("symbol", "grid"), [("n", (200, 400, 800, 1600)), ("eps", (0.5, 1.0, 2.0, 4.0))])
def test_measured_exponents_of_theorem_2(symbol: str, grid: tuple[float, ...]) -> None:
    """The intervals are 99.9%, plus a slack of 0.1 for finite n. Claims of one power more or less are told apart."""
    trend = Trend(symbol, grid, strong_error_by(symbol), "", two_sided=True)
    assert trend.run(theory.theorem2_pure, Effort()).verdict is Verdict.SUPPORTED
    variable = {"n": n, "eps": eps}[symbol]
    for wrong in (variable**-3, variable**-1):
        planted = replace(
            theory.theorem2_pure, id="zhang17.planted", kind=Kind.EXPERIMENT, states=Rate(excess_risk, wrong)
        )
        assert trend.run(planted, Effort()).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("symbol", "grid"), [("n", (400, 1600, 6400)), ("eps", (0.5, 2.0, 8.0))])
def test_measured_exponents_of_theorem_3(symbol: str, grid: tuple[float, ...]) -> None:
    """As above; -2/3 is an upper bound, which -1 would undercut."""

    def measure(value: float, trials: int, seed: int) -> np.ndarray:
        here = {"n": 400.0, "eps": 1.0} | {symbol: value}
        problem = logistic_synthetic(int(here["n"]), 3, seed=7).problem(Logistic())
        solver = OutputPerturbationGD(radius=6.0)
        return excess(problem, solver, ApproxDP(here["eps"], 1e-3), trials, seed, "stated")

    trend = Trend(symbol, grid, measure, "")
    assert trend.run(theory.theorem3_approx_corrected, Effort()).verdict is Verdict.SUPPORTED
    variable = {"n": n, "eps": eps}[symbol]
    planted = replace(
        theory.theorem3_approx_corrected,
        id="zhang17.planted",
        kind=Kind.EXPERIMENT,
        states=Rate(excess_risk, variable ** sympy.Rational(-4, 3)),
    )
    assert trend.run(planted, Effort()).verdict is Verdict.REFUTED


@given(
    level=st.floats(0.5, 5), size=st.integers(1, 2000), d=st.integers(1, 20), l2=st.sampled_from([0.0, 0.01, 0.3])
)  # fmt: skip
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
