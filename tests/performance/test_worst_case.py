"""Worst cases of gradient descent against closed forms; a wrong constant is refuted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.performance import worst_case
from dpcheck.bounds.performance.worst_case import (
    WorstCase,
    gradient_descent_rate,
    gradient_descent_sensitivity,
    one_step_expansion,
)


def convex(n: int = 10, steps: int = 3, step_size: float = 0.7, lipschitz: float = 2.0) -> WorstCase:
    return gradient_descent_sensitivity(n=n, steps=steps, step_size=step_size, smoothness=1.3, lipschitz=lipschitz)


def proved(worst: WorstCase) -> None:
    """The proof checks itself, and what it proves is met."""
    assert worst.certificate.check().margin >= 0
    assert worst.residual < 1e-7
    assert worst.gap < 1e-6
    assert worst.lower == pytest.approx(worst.value, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_convex_sensitivity(n: int, steps: int) -> None:
    """2 L T eta / n (zhang17.lemma2.corrected), and not 1.9 or the 3 of the lemma."""
    worst = convex(n, steps)
    unit = 2.0 * steps * 0.7 / n
    assert worst.value == pytest.approx(2 * unit, rel=1e-6)
    assert worst.lower > 1.9 * unit
    assert worst.value < 3 * unit
    proved(worst)


def test_steps_beyond_two_over_smoothness_expand() -> None:
    """The bound needs eta <= 2 / beta: beyond, the same program says so."""
    worst = gradient_descent_sensitivity(n=10, steps=3, step_size=2.5, smoothness=1.0, lipschitz=1.0)
    assert worst.lower > 1.05 * (2 * 3 * 2.5 / 10)


def test_one_record() -> None:
    assert convex(n=1, steps=2).value == pytest.approx(2 * 2 * 2 * 0.7, rel=1e-6)


@pytest.mark.parametrize("step_size", [0.3, 0.9, 2 / 1.1])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_regularised_sensitivity(steps: int, step_size: float) -> None:
    """2 L (1 - (1 - eta mu)^T) / (n mu) for Lipschitz losses plus a common regulariser, eta <= 2/(beta + mu)."""
    n, mu = 10, 0.1
    worst = gradient_descent_sensitivity(
        n=n, steps=steps, step_size=step_size, smoothness=1.0, strong_convexity=mu, lipschitz=1.0, regularised=True
    )
    assert worst.value == pytest.approx(2 / (n * mu) * (1 - (1 - step_size * mu) ** steps), rel=1e-6)
    proved(worst)


@pytest.mark.parametrize("n", [2, 10])
def test_strongly_convex_sensitivity_depends_on_where_the_gradients_are_bounded(n: int) -> None:
    """On both runs the closed form is an upper bound; on the own run only, it is exceeded."""
    steps, eta, mu = 3, 0.9, 0.1
    form = 2 / (n * mu) * (1 - (1 - eta * mu) ** steps)
    weak = mu * (n - 1) / n
    weaker_form = 2 / (n * weak) * (1 - (1 - eta * weak) ** steps)
    both = gradient_descent_sensitivity(
        n=n, steps=steps, step_size=eta, smoothness=1.0, strong_convexity=mu, lipschitz=1.0
    )
    own = gradient_descent_sensitivity(
        n=n, steps=steps, step_size=eta, smoothness=1.0, strong_convexity=mu, lipschitz=1.0, path="own"
    )
    assert both.value < form < own.lower
    assert own.value < weaker_form
    proved(both)
    proved(own)


def test_sensitivity_grows_with_steps_and_step_size() -> None:
    by_steps = [convex(steps=t).value for t in (1, 2, 3, 4)]
    by_size = [convex(step_size=eta).value for eta in (0.1, 0.4, 0.7, 1.0)]
    assert np.all(np.diff(by_steps) > 0)
    assert np.all(np.diff(by_size) > 0)


def test_units() -> None:
    """Lipschitz constant and length scale out; the answer is in the units of the input."""
    assert convex(lipschitz=200.0).value == pytest.approx(100 * convex(lipschitz=2.0).value, rel=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 5, 10])
def test_convex_rate(steps: int) -> None:
    """beta / (4T + 2) at eta = 1/beta (Drori-Teboulle 2014), well below the 2 beta / T of zhang17.lemma8."""
    worst = gradient_descent_rate(steps=steps, step_size=0.5, smoothness=2.0)
    assert worst.value == pytest.approx(2 / (4 * steps + 2), rel=1e-6)
    assert worst.lower > 2 / (4.1 * steps + 2)
    proved(worst)


def test_strongly_convex_rate() -> None:
    worst = gradient_descent_rate(steps=4, step_size=0.5, smoothness=2.0, strong_convexity=0.2, measure="distance")
    assert worst.value == pytest.approx(0.9**4, rel=1e-6)
    proved(worst)


def test_gradient_rate() -> None:
    worst = gradient_descent_rate(steps=4, step_size=0.5, smoothness=2.0, measure="gradient")
    assert worst.value == pytest.approx(2 / 5, rel=1e-6)


@pytest.mark.parametrize("gap", [0.01, 1.0, 50.0])
def test_one_step(gap: float) -> None:
    worst = one_step_expansion(n=10, gap=gap, step_size=0.5, smoothness=2.0, lipschitz=3.0)
    assert worst.value == pytest.approx(gap + 2 * 0.5 * 3 / 10, rel=1e-6)
    assert worst.lower > gap + 1.9 * 0.5 * 3 / 10
    proved(worst)


def test_one_strongly_convex_step() -> None:
    worst = one_step_expansion(n=10, gap=1.0, step_size=0.5, smoothness=2.0, strong_convexity=0.5, lipschitz=3.0)
    assert worst.value == pytest.approx(1 - 0.5 * 0.5 * 9 / 10 + 0.3, rel=1e-6)


def test_random_quadratics_never_exceed_the_worst_case() -> None:
    rng = np.random.default_rng(0)
    n, steps, eta, L = 5, 4, 0.7, 2.0
    bound = convex(n=n, steps=steps, step_size=eta, lipschitz=L).value
    for _ in range(50):
        curvature = rng.uniform(0, 1.3, n)
        centre = rng.normal(size=n)
        slope = rng.uniform(-L, L, 2)
        w = np.zeros(2)
        for _ in range(steps):
            shared = (curvature[1:] * (w[:, None] - centre[1:])).sum(axis=1)
            w = w - eta / n * (shared + slope)
        assert abs(w[0] - w[1]) <= bound * (1 + 1e-7)


def test_same_question_is_solved_once() -> None:
    worst_case._sensitivity.cache_clear()
    convex(steps=2)
    convex(steps=2, lipschitz=5.0)
    assert worst_case._sensitivity.cache_info().misses == 1


@pytest.mark.parametrize(
    "change",
    [
        {"n": 0},
        {"steps": 0},
        {"steps": 1.5},
        {"step_size": 0.0},
        {"smoothness": math.nan},
        {"strong_convexity": 1.0},
        {"strong_convexity": -0.1},
        {"lipschitz": -1.0},
        {"path": "mine"},
    ],
)
def test_bad_input(change: dict[str, Any]) -> None:
    good = {"n": 10, "steps": 2, "step_size": 0.5, "smoothness": 1.0, "lipschitz": 1.0}
    with pytest.raises(InvalidInput):
        gradient_descent_sensitivity(**{**good, **change})


def test_bad_measure() -> None:
    with pytest.raises(InvalidInput):
        gradient_descent_rate(steps=1, step_size=1.0, smoothness=1.0, measure="speed")  # type: ignore[arg-type]
