"""The exponential mechanism (dwang20, Definition 2.1.4, Lemma 2.1.3): laws, frequencies, sensitivity (1e-6)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.mechanisms import exponential as theory
from dpcheck.evidence.mechanisms import exponential as code
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.kernels.running import run
from dpcheck.problems.losses import Linear, Logistic, Loss, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.mechanisms import exponential as solvers
from dpcheck.solvers.mechanisms.exponential import ExponentialMechanism, scores, sensitivity
from dpcheck.testing.planting import flagged, with_noise_times

FALSE_ALARM = 1e-6
CLAIMED = PureDP(1.0)


def random_problem(seed: int, loss: Loss | None = None, n: int = 6, d: int = 2) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
    return Problem(X, rng.choice([-1.0, 1.0], size=n), loss or Logistic())


def choices(values: np.ndarray, scale: float, seed: int, trials: int) -> np.ndarray:
    """Places of the chosen ones, through the kernel as the solver does."""
    method = OneAnswer(lambda scores: scores, len(values), np.arange(len(values))[:, None])
    return run(method, theory.released.with_noise(scale), values, seed=seed, trials=trials).w[:, 0].astype(int)


@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_gumbel_noise_draws_from_the_stated_weights(scale: float) -> None:
    """A chi-square test that a true law fails once in a million; planted: scores squeezed by a tenth."""
    values, trials = np.array([0.0, -0.5, -1.0, 0.2, -2.0]), 200_000
    counts = np.bincount(choices(values, scale, 0, trials), minlength=5)

    def fits(law: np.ndarray) -> bool:
        return bool(stats.chisquare(counts, trials * law).pvalue > FALSE_ALARM)

    assert fits(special.softmax(values / scale))
    assert not fits(special.softmax(0.9 * values / scale))


@given(seed=st.integers(0, 10_000), record=st.integers(0, 5), eps=st.floats(0.05, 4))
@settings(max_examples=60, deadline=None)
def test_exact_ratios_stay_within_eps_on_every_neighbour(seed: int, record: int, eps: float) -> None:
    """Random problems, a record replaced by any other."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(5, 2))
    problem = random_problem(seed)
    row = rng.normal(size=2)
    other = problem.replace(record, row / max(1.0, np.linalg.norm(row)), rng.choice([-1.0, 1.0]))
    change = sensitivity(problem, points)
    assert np.abs(scores(problem, points) - scores(other, points)).max() <= change * (1 + 1e-9)
    laws = [code.log_law(scores(p, points), eps, change) for p in (problem, other)]
    assert np.max(np.abs(laws[0] - laws[1])) <= eps * (1 + 1e-9)


def test_the_sensitivity_is_attained_and_half_of_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear losses attain it. False alarms: 1e-6. Planted: the range of a loss taken as half of what it is."""
    points = np.array([[1.0, 0.0], [0.0, 2.0]])
    first = Problem(np.array([[0.0, 1.0], [0.5, 0.0]]), np.ones(2), Linear())
    change = np.abs(scores(first, points) - scores(first.replace(0, [0.0, 1.0], -1.0), points)).max()
    assert change == pytest.approx(sensitivity(first, points))
    monkeypatch.setattr(solvers, "sensitivity", lambda problem, points: sensitivity(problem, points) / 2)
    solver = ExponentialMechanism()
    assert flagged(solver.mechanism(CLAIMED), solver.worst_pair(), CLAIMED, trials=60_000)


def test_measured_shortfalls_keep_lemma_2_1_3() -> None:
    """All but the best at the threshold: the sampled share within a band left once in a million, and below e^-t."""
    t, k, trials = 1.0, 20, 100_000
    values = np.full(k, -code.shortfall(k, 1.0, t))
    values[3] = 0.0
    missed = np.mean(choices(values, 2.0, 2, trials) != 3)
    bound = float(theory.lemma3.evaluate(x_tail=t))
    exact = (k - 1) / k * bound / (1 + (k - 1) / k * bound)
    assert abs(missed - exact) < stats.norm.isf(FALSE_ALARM / 2) * math.sqrt(exact * (1 - exact) / trials)
    assert missed <= bound
    assert np.mean(choices(values / 2, 2.0, 2, trials) != 3) > bound  # planted: half the shortfall


def test_bad_input_is_named_and_without_noise_the_best_point_is_chosen() -> None:
    problem = random_problem(4)
    good = ExponentialMechanism(points=((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)))
    with pytest.raises(InvalidInput, match="PureDP"):
        good.solve(problem, ApproxDP(1.0, 1e-5), 0)
    with pytest.raises(InvalidInput, match="rows of 2 finite numbers"):
        ExponentialMechanism(points=((1.0,),)).solve(problem, CLAIMED, 0)
    with pytest.raises(InvalidInput, match="a loss of y"):
        good.solve(random_problem(0, Squared()), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="not 0"):
        ExponentialMechanism(points=((0.0, 0.0),)).solve(problem, CLAIMED, 0)
    best = np.asarray(good.points)[np.argmax(scores(problem, np.asarray(good.points)))]
    quiet = with_noise_times(0.0, good, CLAIMED)
    np.testing.assert_array_equal(quiet(problem, np.random.default_rng(0), 3), np.tile(best, (3, 1)))
