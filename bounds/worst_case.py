"""Performance estimation: exact worst cases of gradient descent over whole classes of functions.

Each is a semidefinite program; its dual is a proof, which is checked again here without the solver.
"""

from __future__ import annotations

import contextlib
import io
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from bounds.accounting import counted, positive
from bounds.errors import DpcheckError, InvalidInput, MissingDependency

TOLERANCE = 1e-6  # of the rechecked proof, in units where the answer is of order one
Measure = Literal["value", "distance", "gradient"]
Path = Literal["own", "both"]


class NotCertified(DpcheckError):
    """The solver's dual is not a proof within the tolerance."""


@dataclass(frozen=True)
class WorstCase:
    """A worst case, proved from above (`value`, the dual) and met from below (`lower`, the primal).

    `gap` is relative. `certificate` is the dual rechecked in plain numpy: `identity` is the largest error of
    the identity "objective - sum of multiplier * constraint = bound - <S, Gram>" in the function values, which
    must cancel; `min_eigenvalue` is that of S, which must be positive semidefinite; `min_multiplier` that of
    the inequalities, before the negative ones are set to 0. `residual` is the worst of the three.
    """

    value: float
    lower: float
    gap: float
    residual: float
    seconds: float
    certificate: dict[str, float] = field(repr=False)


def gradient_descent_sensitivity(
    *,
    n: int,
    steps: int,
    step_size: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    lipschitz: float,
    path: Path = "both",
    regularised: bool = False,
) -> WorstCase:
    """sup ||w_T - w_T'|| over datasets of n smooth convex losses that differ in one record, from one start.

    The gradients of the two differing losses have norm at most `lipschitz` at the iterates: of both runs, or
    only each on its own run (`path="own"`; the same value if convex). `regularised`: `strong_convexity` is a
    common (mu/2)||w||^2 on top of convex losses, and `lipschitz` and `smoothness - mu` are those of the losses.

    >>> worst = gradient_descent_sensitivity(n=10, steps=2, step_size=1.0, smoothness=1.0, lipschitz=1.0)
    >>> round(worst.value, 5)
    0.4
    """
    n, steps = counted("n", n), counted("steps", steps)
    eta, beta, mu = _descent(step_size, smoothness, strong_convexity)
    if path not in ("own", "both"):
        raise InvalidInput("path", path, '"own" or "both"', 'Use "both" if the bound holds on a region.')
    # In units of length eta L / n only eta beta and eta mu are left. For convex losses the bound at the own
    # iterates already gives what linear losses attain.
    unit = eta * float(positive("lipschitz", lipschitz)) / n
    both = path == "both" and mu > 0 and not regularised
    return _scaled(_sensitivity(n, steps, eta * beta, eta * mu, both, regularised), unit)


def one_step_expansion(
    *,
    n: int,
    gap: float,
    step_size: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    lipschitz: float,
) -> WorstCase:
    """sup ||w_+ - w_+'|| after one step on neighbouring datasets, given ||w - w'|| <= gap: the induction step.

    The differing losses are bounded at their own iterate; convex: gap + 2 eta L / n.
    """
    n = counted("n", n)
    eta, beta, mu = _descent(step_size, smoothness, strong_convexity)
    unit = eta * float(positive("lipschitz", lipschitz)) / n
    return _scaled(_expansion(n, float(positive("gap", gap)) / unit, eta * beta, eta * mu), unit)


def gradient_descent_rate(
    *,
    steps: int,
    step_size: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    measure: Measure = "value",
) -> WorstCase:
    """sup after T steps, given ||w_0 - w*|| <= 1: of F(w_T) - F*, of ||w_T - w*|| or of ||grad F(w_T)||.

    >>> round(gradient_descent_rate(steps=3, step_size=0.5, smoothness=2.0).value, 6)  # beta / (4T + 2)
    0.142857
    """
    steps = counted("steps", steps)
    eta, beta, mu = _descent(step_size, smoothness, strong_convexity)
    units = {"value": beta, "distance": 1.0, "gradient": beta}
    if measure not in units:
        raise InvalidInput("measure", measure, f"one of {sorted(units)}", 'Use "value" for the excess loss.')
    # In units where beta = 1.
    return _scaled(_rate(steps, eta * beta, mu / beta, measure), units[measure])


@lru_cache(maxsize=512)
def _sensitivity(n: int, steps: int, beta: float, mu: float, both: bool, regularised: bool) -> WorstCase:
    """Unit step, unit gradients: F = common + own, where own is 1/n of the differing loss."""
    pep = _problem()
    common, own, other = _neighbouring_functions(pep, n, beta, mu, regularised)
    w = v = pep.set_initial_point()
    for t in range(steps):
        pull, push = own.gradient(w), other.gradient(v)
        bounded = [pull, push]
        if both and t > 0:
            bounded += [own.gradient(v), other.gradient(w)]
        for gradient in bounded:
            pep.add_constraint(gradient**2 <= 1)
        w, v = w - common.gradient(w) - pull, v - common.gradient(v) - push
    return _solved(pep, (w - v) ** 2, math.sqrt, scale=(2.0 * steps) ** 2)


@lru_cache(maxsize=512)
def _expansion(n: int, gap: float, beta: float, mu: float) -> WorstCase:
    pep = _problem()
    common, own, other = _neighbouring_functions(pep, n, beta, mu, False)
    w, v = pep.set_initial_point(), pep.set_initial_point()
    pep.add_constraint((w - v) ** 2 <= gap**2)
    pull, push = own.gradient(w), other.gradient(v)
    for gradient in (pull, push):
        pep.add_constraint(gradient**2 <= 1)
    after = (w - common.gradient(w) - pull) - (v - common.gradient(v) - push)
    return _solved(pep, after**2, math.sqrt, scale=(gap + 2) ** 2)


@lru_cache(maxsize=512)
def _rate(steps: int, eta: float, mu: float, measure: Measure) -> WorstCase:
    pep = _problem()
    objective = _function(pep, 1.0, mu)
    best = objective.stationary_point()
    w = pep.set_initial_point()
    pep.add_constraint((w - best) ** 2 <= 1)
    for _ in range(steps):
        w = w - eta * objective.gradient(w)
    if measure == "value":
        return _solved(pep, objective(w) - objective(best), float, scale=1 / (4 * steps + 2))
    squared = (w - best) ** 2 if measure == "distance" else objective.gradient(w) ** 2
    return _solved(pep, squared, math.sqrt, scale=1.0)


def _descent(step_size: float, smoothness: float, strong_convexity: float) -> tuple[float, float, float]:
    """Step, smoothness, strong convexity: checked."""
    eta, beta = float(positive("step_size", step_size)), float(positive("smoothness", smoothness))
    if not 0 <= strong_convexity < beta:
        limit = f"a number in [0, smoothness={beta:g})"
        raise InvalidInput("strong_convexity", strong_convexity, limit, "Use 0 for merely convex losses.")
    return eta, beta, float(strong_convexity)


def _problem() -> Any:
    try:
        from PEPit import PEP
    except ImportError as error:
        raise MissingDependency("PEPit", "performance estimation", extra="verify") from error
    return PEP()


def _function(pep: Any, smoothness: float, strong_convexity: float) -> Any:
    from PEPit.functions import SmoothConvexFunction, SmoothStronglyConvexFunction

    if strong_convexity > 0:
        return pep.declare_function(SmoothStronglyConvexFunction, L=smoothness, mu=strong_convexity)
    return pep.declare_function(SmoothConvexFunction, L=smoothness)


def _neighbouring_functions(pep: Any, n: int, beta: float, mu: float, regularised: bool) -> tuple[Any, Any, Any]:
    """What the two objectives share, and 1/n of the loss each has alone."""
    rest = (n - 1) / n
    if regularised:
        alone = (beta - mu) / n, 0.0
        shared = (beta - mu) * rest + mu, mu
    else:
        alone = beta / n, mu / n
        shared = beta * rest, mu * rest
    common = _function(pep, *shared) if n > 1 or regularised else _Nothing()
    return common, _function(pep, *alone), _function(pep, *alone)


class _Nothing:
    """The shared part of two datasets of one record each."""

    def gradient(self, point: Any) -> Any:
        return 0 * point


def _scaled(worst: WorstCase, unit: float) -> WorstCase:
    """Back from the program's units. Relative figures and the certificate stay in them."""
    return WorstCase(
        worst.value * unit, worst.lower * unit, worst.gap, worst.residual, worst.seconds, dict(worst.certificate)
    )


def _solved(pep: Any, objective: Any, shown: Callable[[float], float], scale: float) -> WorstCase:
    """Solve, recheck the dual, evaluate the primal witness. `scale` makes the objective of order one."""
    start = time.perf_counter()
    pep.set_performance_metric(objective / scale)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # "may be inaccurate" is judged below, by the recheck
        try:
            pep.solve(verbose=0, solver="CLARABEL")
        except Exception as error:
            raise NotCertified(f"the solver failed on this program: {error}") from error
    certificate = _recheck(pep, objective / scale)
    residual = max(certificate["identity"], -certificate["min_eigenvalue"], -certificate["min_multiplier"], 0.0)
    if residual > TOLERANCE:
        raise NotCertified(f"the dual is off by {residual:.1e}, more than {TOLERANCE:.0e}: shorten the horizon")
    upper, lower = certificate["bound"] * scale, certificate["witness"] * scale
    value, met = shown(upper), shown(max(lower, 0.0))
    return WorstCase(value, met, abs(value - met) / value, residual, time.perf_counter() - start, certificate)


def _recheck(pep: Any, objective: Any) -> dict[str, float]:
    """The dual proof and the primal witness from multipliers and data alone.

    For every Gram matrix G and values F: objective = <A0, G> + b0.F + c0, each constraint <Ai, G> + bi.F + ci
    is <= 0 (or = 0). With multipliers m: objective <= c0 - m.c + (b0 - m.b).F - <S, G>, S = m.A - A0.
    """
    from PEPit.tools.expressions_to_matrices import expression_to_matrices

    A0, b0, c0 = expression_to_matrices(objective)
    # The first prepared constraint is PEPit's own "objective <= metric"; the others are the problem's.
    constraints = pep._list_of_prepared_constraints[1:]
    parts = [expression_to_matrices(constraint.expression) for constraint in constraints]
    A, b = np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
    c = np.array([p[2] for p in parts], float)
    free = np.array([constraint.equality_or_inequality == "equality" for constraint in constraints])
    raw = np.array([float(constraint.eval_dual()) for constraint in constraints])
    m = np.where(free, raw, np.maximum(raw, 0.0))
    S = np.tensordot(m, A, axes=1) - A0
    gram = _positive_part(np.asarray(pep.G_value))
    return {
        "bound": float(c0 - m @ c),
        "identity": float(np.max(np.abs(b0 - m @ b), initial=0.0)),
        "min_eigenvalue": float(np.linalg.eigvalsh((S + S.T) / 2)[0]),
        "min_multiplier": float(np.min(raw[~free], initial=0.0)),
        "constraints": float(len(constraints)),
        "witness": float(np.sum(A0 * gram) + b0 @ np.asarray(pep.F_value) + c0),
        "witness_violation": _violation(A, b, c, free, gram, np.asarray(pep.F_value)),
    }


def _positive_part(gram: np.ndarray) -> np.ndarray:
    """The nearest Gram matrix of actual vectors."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _violation(A: np.ndarray, b: np.ndarray, c: np.ndarray, free: np.ndarray, gram: np.ndarray, F: np.ndarray) -> float:
    """By how much the witness leaves the constraints."""
    slack = np.tensordot(A, gram, axes=2) + b @ F + c
    return float(np.max(np.where(free, np.abs(slack), slack), initial=0.0))
