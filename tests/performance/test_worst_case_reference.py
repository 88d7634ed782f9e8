"""The same programs, modelled and solved by PEPit: one value from two implementations."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from dpcheck.bounds.performance.methods import FirstOrderMethod
from dpcheck.bounds.performance.worst_case import convergence_rate, sensitivity

PEPit = pytest.importorskip("PEPit")
from PEPit.functions import (  # noqa: E402
    ConvexFunction,
    ConvexLipschitzFunction,
    SmoothConvexFunction,
    SmoothStronglyConvexFunction,
)
from PEPit.primitive_steps import proximal_step  # noqa: E402


def value_of(problem: Any) -> float:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return float(problem.solve(verbose=0, solver="CLARABEL"))


def reference_sensitivity(method: FirstOrderMethod, n: int, beta: float, mu: float, both: bool) -> float:
    """Both runs whole, in units of length eta L / n: nothing is aligned, mirrored or left out."""
    problem = PEPit.PEP()

    def smooth(share: float) -> Any:
        if mu > 0:
            return problem.declare_function(SmoothStronglyConvexFunction, L=beta * share, mu=mu * share)
        return problem.declare_function(SmoothConvexFunction, L=beta * share)

    common, own, other = smooth((n - 1) / n), smooth(1 / n), smooth(1 / n)
    shared = problem.declare_function(ConvexFunction)
    start = problem.set_initial_point()
    asked: list[Any] = [[], []]

    def run(record: Any, which: int) -> Any:
        def gradient(_: int, w: Any) -> Any:
            pull = record.gradient(w)
            asked[which].append(w)
            problem.add_constraint(pull**2 <= 1)
            return common.gradient(w) + pull

        def prox(_: int, w: Any, eta: float) -> Any:
            return proximal_step(w, shared, eta)[0]

        return method.walk(start, gradient, prox)[-1]

    apart = run(own, 0) - run(other, 1)
    if both:
        for record, points in ((own, asked[1][1:]), (other, asked[0][1:])):
            for w in points:
                problem.add_constraint(record.gradient(w) ** 2 <= 1)
    problem.set_performance_metric(apart**2)
    return math.sqrt(value_of(problem))


CASES: list[Any] = [
    ("gradient", 0.9, 0.0, "own"),
    ("gradient", 2.5, 0.0, "own"),
    ("gradient", 0.9, 0.2, "own"),
    ("gradient", 0.9, 0.2, "both"),
    ("projected", 0.9, 0.0, "own"),
    ("accelerated", 0.9, 0.0, "own"),
    ("heavy_ball", 0.9, 0.0, "own"),
]


@pytest.mark.parametrize(("name", "beta", "mu", "path"), CASES)
def test_sensitivity(name: Any, beta: float, mu: float, path: Any) -> None:
    n, steps = 5, 3
    ours = sensitivity(
        name, n=n, steps=steps, step_size=1.0, smoothness=beta, strong_convexity=mu, lipschitz=n, path=path
    )
    theirs = reference_sensitivity(FirstOrderMethod(name, steps, 1.0), n, beta, mu, path == "both")
    assert ours.value == pytest.approx(theirs, rel=2e-5)


def reference_rate(method: FirstOrderMethod, declare: Callable[[Any], Any], best: bool = False) -> float:
    problem = PEPit.PEP()
    f = declare(problem)
    h = problem.declare_function(ConvexFunction)
    whole = f + h if method.takes_prox else f
    least = whole.stationary_point()
    start = problem.set_initial_point()
    problem.add_constraint((start - least) ** 2 <= 1)
    points = method.walk(start, lambda _, w: f.gradient(w), lambda _, w, eta: proximal_step(w, h, eta)[0])
    for w in points if best else points[-1:]:
        problem.set_performance_metric(whole(w) - whole(least))
    return value_of(problem)


@pytest.mark.parametrize(
    ("name", "composite"),
    [("gradient", None), ("proximal", None), ("accelerated", None), ("accelerated", True), ("heavy_ball", None)],
)
def test_rate(name: Any, composite: bool | None) -> None:
    method = FirstOrderMethod(name, 3, 0.8, composite=composite)
    theirs = reference_rate(method, lambda p: p.declare_function(SmoothConvexFunction, L=1.0))
    ours = convergence_rate(name, steps=3, step_size=0.8, smoothness=1.0, composite=composite)
    assert ours.value == pytest.approx(theirs, rel=2e-5)


def test_subgradient_rate() -> None:
    method = FirstOrderMethod("gradient", 3, 0.4)
    theirs = reference_rate(method, lambda p: p.declare_function(ConvexLipschitzFunction, M=1.0), best=True)
    ours = convergence_rate(steps=3, step_size=0.4, lipschitz=1.0, measure="best_value")
    assert ours.value == pytest.approx(theirs, rel=2e-5)
