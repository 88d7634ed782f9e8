"""The white-box attack on iterative solvers: its law is exact, it sees what the last iterate hides, bugs are flagged.

Audits have fixed seeds and a false-alarm rate of 1e-6 each unless they measure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import (
    AuditResult,
    audit,
    epsilon_from_mu,
    gaussian_log_density,
    likelihood_ratio,
    mixture_log_density,
    transcript,
)
from dpcheck.audits.scores.attacks import aimed
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Linear, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD
from dpcheck.testing.planting import with_noise_times

CLAIM = ApproxDP(1.0, 1e-2)
X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def linear_pair(n: int) -> tuple[Problem, Problem]:
    first = Problem(np.ones((n, 1)), -np.ones(n), Linear())
    return first, first.replace(0, [1.0], 1.0)


# A simple noisy gradient descent, with all its steps known ------------------------------------------------------
STEPS, RATE, SIGMA = 12, 0.5, 8.0


def gradient(w: np.ndarray, data: float) -> np.ndarray:
    """Clipped to [-1, 1], so that neighbours are at most 2 apart in every step."""
    return np.clip(w - data, -1, 1)


def means(released: np.ndarray, data: float) -> np.ndarray:
    """The gradient that each noisy one was made from, by the iterates that the noisy ones led to."""
    w, found = np.zeros_like(released[:, 0]), np.empty_like(released)
    for t in range(STEPS):
        found[:, t] = gradient(w, data)
        w = 0.7 * w - RATE * released[:, t]
    return found


def gradients(data: float, rng: np.random.Generator, trials: int, sigma: float = SIGMA) -> np.ndarray:
    w, released = np.zeros((trials, 1)), np.empty((trials, STEPS, 1))
    for t in range(STEPS):
        released[:, t] = gradient(w, data) + sigma * rng.standard_normal((trials, 1))
        w = 0.7 * w - RATE * released[:, t]
    return released


def last_iterate(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    powers = 0.7 ** np.arange(STEPS)[::-1]
    return -RATE * gradients(data, rng, trials)[..., 0] @ powers


def quieter(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Planted: the noise of a single step, as if one step were all that is released."""
    return gradients(data, rng, trials, sigma=SIGMA / math.sqrt(STEPS))


FAR = (-1e6, 1e6)  # the gradients are -1 and 1 all along: sqrt(T) Gaussian mechanisms of sensitivity 2
DELTA = 1e-2
EXACT = epsilon_from_mu(math.sqrt(STEPS) * 2 / SIGMA, DELTA)
ATTACK = likelihood_ratio(transcript(means, steps=STEPS, noise_std=SIGMA))


def test_the_transcript_shows_what_the_last_iterate_hides() -> None:
    """At alpha = 0.05 with Gaussian scores: nine tenths of the exact epsilon of the composition, and more than the last
    iterate, which forgets a third of each step.
    """
    asked: dict[str, Any] = {"pair": FAR, "guarantee": None, "delta": DELTA, "assume": "gdp", "max_trials": 8000}
    whole = audit(gradients, attack=ATTACK, **asked)
    last = audit(last_iterate, **asked)
    assert 0.9 * EXACT < whole.epsilon_lower <= EXACT
    assert last.epsilon_lower < 0.75 * EXACT
    assert "Transcript" in str(whole.event)


def test_a_planted_bug_is_flagged() -> None:
    """False-alarm rate 1e-6: the fair one passes, noise calibrated for one step of twelve does not."""
    asked: dict[str, Any] = {"guarantee": ApproxDP(EXACT * 1.001, DELTA), "max_trials": 1500, "alpha": 1e-6}
    for mode in ({"assume": "gdp"}, {"stop_early": True}):
        assert not audit(gradients, pair=FAR, attack=ATTACK, **asked, **mode).violated
        assert audit(quieter, pair=FAR, attack=ATTACK, **asked, **mode).violated


def test_other_noise_and_unrevealed_coins() -> None:
    """Each step adds its value with probability a half, unseen, to Laplace noise: the density says so."""

    def steps(released: np.ndarray, data: float) -> np.ndarray:
        return mixture_log_density([(0.5, -np.abs(released - part)[..., 0]) for part in (0.0, data)])

    def coins(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return rng.integers(2, size=(trials, 4, 1)) * data + rng.laplace(size=(trials, 4, 1))

    density = transcript(steps=4, log_density=steps)
    pair = (0.0, 2.0)
    exact = 4 * math.log((1 + math.exp(2)) / 2)
    asked: dict[str, Any] = {"attack": likelihood_ratio(density).on(pair), "max_trials": 20_000, "alpha": 1e-6}
    assert not audit(coins, pair=pair, guarantee=PureDP(exact), **asked).violated
    assert audit(coins, pair=pair, guarantee=PureDP(exact / 4), **asked).violated
    ratio = likelihood_ratio(density).on(pair)
    first, second = (ratio(coins(data, np.random.default_rng(0), 100_000).reshape(-1, 4)) for data in pair)
    assert np.exp(second).mean() == pytest.approx(1, abs=6 * np.exp(second).std() / 300)
    assert np.exp(-first).mean() == pytest.approx(1, abs=6 * np.exp(-first).std() / 300)


@pytest.mark.parametrize(
    "wrong",
    [
        {"means": means, "steps": 0, "noise_std": 1.0},
        {"means": means, "steps": 2.5, "noise_std": 1.0},
        {"means": means, "steps": 3},
        {"means": means, "steps": 3, "noise_std": 0.0},
        {"means": means, "steps": 3, "noise_std": [1.0, 1.0]},
        {"means": means, "steps": 3, "noise_std": 1.0, "log_density": means},
        {"steps": 3},
    ],
)
def test_bad_transcripts_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        transcript(**wrong)


def test_outputs_that_are_no_transcript_are_refused() -> None:
    with pytest.raises(InvalidInput, match="multiple of steps"):
        transcript(means, steps=STEPS, noise_std=1.0)(np.zeros((5, STEPS + 1)), 0.0)
    with pytest.raises(InvalidInput, match="one log density per run and step"):
        transcript(steps=2, log_density=lambda released, data: released)(np.zeros((5, 4)), 0.0)
    with pytest.raises(InvalidInput, match="at least one"):
        mixture_log_density([])


# The library's own solvers ---------------------------------------------------------------------------------------
def test_noisy_gradient_descent_leaks_its_exact_epsilon_to_the_white_box() -> None:
    """Full batches on linear losses: mu = sqrt(T) (2L/n) / sigma exactly. The last iterate, whose later steps are
    shorter, leaks less. Measured at alpha = 0.05.
    """
    solver, pair = BassilySGD(batch=10, steps=25), linear_pair(10)
    noise = solver.solve(pair[0], CLAIM, 0).noise_std
    exact = epsilon_from_mu(math.sqrt(25) * 2 / 10 / noise, CLAIM.delta)
    asked: dict[str, Any] = {"pair": pair, "guarantee": CLAIM, "max_trials": 8000, "assume": "gdp"}
    inside = audit(solver.mechanism(CLAIM, transcript=True), **asked)
    outside = audit(solver.mechanism(CLAIM), **asked)
    assert 0.9 * exact < inside.epsilon_lower <= exact
    assert outside.epsilon_lower < 0.9 * exact
    assert "log_density" in str(inside.event)
    assert not inside.violated


def test_the_white_box_flags_bugs_of_sampled_batches() -> None:
    """Batches of 5 out of 10, unrevealed; false-alarm rate 1e-6. Planted: half the noise. `auto` finds the ratio."""
    solver = BassilySGD(batch=5)
    pair = solver.worst_pair()

    def attacked(factor: float) -> AuditResult:
        mechanism = with_noise_times(factor, solver, CLAIM, transcript=True)
        attack = aimed("auto", mechanism, pair)
        return audit(mechanism, pair=pair, guarantee=CLAIM, attack=attack, max_trials=20_000, alpha=1e-6)

    assert not attacked(1.0).violated
    assert "log_density" in str(attacked(1.0).event)
    assert attacked(0.5).violated


SOLVERS = [BassilySGD(batch=3, steps=4), BassilySGD(batch=2, steps=4), BassilySGD(batch=1, steps=4)]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("constraint", [None, L2Ball(0.3)], ids=["free", "ball"])
def test_the_law_of_a_transcript_is_exact(solver: Solver, constraint: Any) -> None:
    """E exp(ratio) = 1 on the second dataset and E exp(-ratio) = 1 on the first, up to six standard errors."""
    first = Problem(X, [1, -1, 1], Logistic(), l2=0.1, **({} if constraint is None else {"constraint": constraint}))
    pair = (first, first.replace(0, [-1.0, 0.0], 1.0))
    mechanism: Any = with_noise_times(0.5, solver, CLAIM, transcript=True)
    ratio = likelihood_ratio(mechanism.log_density).on(pair)
    rng = np.random.default_rng(4)
    scores = [ratio(mechanism(data, rng, 20_000).reshape(20_000, -1)) for data in pair]
    assert scores[0].mean() > 0 > scores[1].mean()
    for weights in (np.exp(-scores[0]), np.exp(scores[1])):
        assert weights.mean() == pytest.approx(1, abs=6 * weights.std() / math.sqrt(20_000))


def test_the_transcript_holds_every_noisy_answer() -> None:
    """Whose steps, projected, are the points of the run."""
    problem = Problem(X, [1, -1, 1], Logistic(), constraint=L2Ball(0.2))
    solver = BassilySGD(batch=3, steps=6)
    answers = solver.mechanism(CLAIM, transcript=True)(problem, np.random.default_rng(0), 7)
    found = solver.solve(problem, CLAIM, np.random.default_rng(0), trials=7, trace=True)
    assert answers.shape == (7, 6, 2)
    w, etas = np.zeros((7, 2)), solver.step_sizes(problem, found.noise_std, 6)
    for t in range(6):
        w = problem.constraint.project(w - etas[t] * answers[:, t])
        np.testing.assert_allclose(w, found.trace.points[t + 1], atol=1e-12)


def test_gaussian_log_density_keeps_what_depends_on_the_noise() -> None:
    from scipy import stats

    rows, centre = np.random.default_rng(0).standard_normal((2, 5, 3, 2))
    std = np.array([0.5, 1.0, 2.0])
    exact = stats.norm(centre, std[:, None]).logpdf(rows).sum(axis=2)
    constant = 2 * math.log(2 * math.pi) / 2
    assert gaussian_log_density(rows, centre, std) - constant == pytest.approx(exact)


def test_one_answer_is_a_transcript_of_one_step() -> None:
    problem = Problem(X, [1, -1, 1], Logistic(), l2=0.1)
    box: Any = OutputPerturbationGD().mechanism(PureDP(1.0), transcript=True)
    assert box(problem, np.random.default_rng(0), 3).shape == (3, 1, 2)


def test_transcripts_without_a_density_say_so() -> None:
    problem = Problem(X, [1, -1, 1], Logistic(), l2=0.1)
    quiet: Any = with_noise_times(0.0, BassilySGD(batch=3, steps=2), CLAIM, transcript=True)
    with pytest.raises(InvalidInput, match="> 0 in every step"):
        quiet.log_density(quiet(problem, np.random.default_rng(0), 3), problem)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 2))
    many = Problem(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.ones(30), Logistic())
    crowd: Any = BassilySGD(batch=10, steps=2).mechanism(CLAIM, transcript=True)
    with pytest.raises(InvalidInput, match="fewer distinct records"):
        crowd.log_density(crowd(many, rng, 3), many)
