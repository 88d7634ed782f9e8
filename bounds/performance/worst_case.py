"""Performance estimation: exact worst cases of first-order methods over whole classes of functions.

Each is a semidefinite program (bounds/performance/); its dual is a proof that anybody can check again without the
solver (`worst.certificate.check()`), its primal a concrete pair of datasets or function that the method can be run on
(`worst.instance()`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats, number, one_of
from dpcheck.bounds.performance import sensitivity as programs
from dpcheck.bounds.performance.certificate import Certificate, Checked, NotCertified
from dpcheck.bounds.performance.instance import (
    Function,
    Pair,
    function_of,
    pair_of,
    permuted_pair_of,
    quadratic_pair,
    whole_pair_of,
)
from dpcheck.bounds.performance.methods import NAMES, FirstOrderMethod, Name
from dpcheck.bounds.performance.program import ConvexClass
from dpcheck.bounds.performance.rate import MEASURES, SQUARED, Measure, rate
from dpcheck.bounds.performance.sensitivity import NeighbouringObjectives
from dpcheck.bounds.performance.solve import SolvedProgram, solve
from dpcheck.bounds.privacy.exact import counted, positive

__all__ = [
    "MEASURES",
    "NAMES",
    "Certificate",
    "Checked",
    "Function",
    "NotCertified",
    "Pair",
    "WorstCase",
    "convergence_rate",
    "gradient_descent_rate",
    "gradient_descent_sensitivity",
    "one_step_expansion",
    "permuted_sensitivity",
    "sensitivity",
]

Path = Literal["own", "both"]
Build = Callable[[float, float], Pair | Function]
MET = 1e-6  # relative gap at which a bound counts as attained
WHOLE = 8  # steps up to which all pairs of points are used where they matter


@dataclass(frozen=True)
class WorstCase:
    """A worst case, proved from above (`value`, the dual) and met from below (`lower`, the primal).

    `gap` is relative, and grows where a run contracts to less than about 1e-5. `certificate` proves `value`, in the
    program's units. `residual` is by how much the witness leaves the program's constraints; 0 is not at all.
    `exact`: the program describes the class exactly, or what it says is attained; otherwise `value` is still an upper
    bound, and `lower` is what linear or quadratic losses reach.
    """

    value: float
    lower: float
    gap: float
    residual: float
    seconds: float
    certificate: Certificate = field(repr=False)
    exact: bool = True
    position: int | None = None  # of the differing record, in permuted order
    build: Build | None = field(default=None, repr=False, compare=False)
    units: tuple[float, float] = field(default=(1.0, 1.0), repr=False)  # of length and of gradients in the program

    def instance(self) -> Any:
        """A pair of neighbouring datasets (Pair), or a function (Function), on which the method does its worst."""
        if self.build is None:
            raise InvalidInput("instance", "of one step", "of a whole run", "Ask for `sensitivity` with steps=1.")
        return self.build(*self.units)


def sensitivity(
    method: Name = "gradient",
    *,
    n: int,
    steps: int,
    step_size: float | tuple[float, ...],
    smoothness: float,
    strong_convexity: float = 0.0,
    lipschitz: float,
    path: Path = "both",
    regularised: bool = False,
    momentum: float | tuple[float, ...] | None = None,
) -> WorstCase:
    """sup ||w_T - w_T'|| over datasets of n convex losses that differ in one record, from one start.

    Smooth losses: the gradients of the two differing losses have norm at most `lipschitz` at the iterates of both
    runs, or only each on its own run (`path="own"`; the same value if convex). `smoothness=math.inf`: all losses are
    `lipschitz`. `regularised`: `strong_convexity` is a common (mu/2)||w||^2 on top of convex losses, and `lipschitz`
    and `smoothness - mu` are those of the losses. Projected and proximal methods share their set or regulariser.

    >>> worst = sensitivity("projected", n=10, steps=2, step_size=1.0, smoothness=1.0, lipschitz=1.0)
    >>> round(worst.value, 5)
    0.4
    """
    n = counted("n", n)
    scaled, eta = _unit_steps(method, steps, step_size, momentum, strong_convexity / smoothness)
    beta, mu = _curvature(smoothness, strong_convexity)
    if path not in ("own", "both"):
        raise InvalidInput("path", path, '"own" or "both"', 'Use "both" if the bound holds on a region.')
    unit = eta * float(positive("lipschitz", lipschitz)) / n
    return _scaled(_sensitivity(scaled, n, eta * beta, eta * mu, path == "both", bool(regularised)), unit, unit / eta)


def permuted_sensitivity(
    *,
    n: int,
    passes: int = 1,
    step_size: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    lipschitz: float,
    regularised: bool = False,
    method: Name = "gradient",
) -> WorstCase:
    """sup ||w_T - w_T'|| of passes over n records, one a step, in one order for both runs: at the worst position.

    Exact for one pass. In more, records may be other functions in each pass: an upper bound, which convex losses attain
    at steps up to 2 / smoothness.

    >>> round(permuted_sensitivity(n=5, step_size=0.5, smoothness=1.0, lipschitz=1.0).value, 5)
    1.0
    """
    n, passes = counted("n", n), counted("passes", passes)
    beta, mu = _curvature(smoothness, strong_convexity)
    scaled, eta = _unit_steps(method, n * passes, step_size, None, 0.0)
    unit = eta * float(positive("lipschitz", lipschitz))
    return _scaled(_permuted(scaled, n, eta * beta, eta * mu, bool(regularised)), unit, unit / eta)


def gradient_descent_sensitivity(**question: Any) -> WorstCase:
    """`sensitivity` of gradient descent.

    >>> worst = gradient_descent_sensitivity(n=10, steps=2, step_size=1.0, smoothness=1.0, lipschitz=1.0)
    >>> round(worst.value, 5)
    0.4
    """
    return sensitivity("gradient", **question)


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
    eta = float(positive("step_size", step_size))
    beta, mu = _curvature(smoothness, strong_convexity)
    unit = eta * float(positive("lipschitz", lipschitz)) / n
    return _scaled(_expansion(n, float(positive("gap", gap)) / unit, eta * beta, eta * mu), unit, unit / eta)


def convergence_rate(
    method: Name = "gradient",
    *,
    steps: int,
    step_size: float | tuple[float, ...],
    smoothness: float = math.inf,
    strong_convexity: float = 0.0,
    lipschitz: float | None = None,
    measure: Measure = "value",
    momentum: float | tuple[float, ...] | None = None,
    composite: bool | None = None,
) -> WorstCase:
    """sup after T steps, given ||w_0 - w*|| <= 1, of the excess `value`, the `distance`, the norm of the `gradient`.

    Or of the `best_value`, the `best_gradient` of all points where one is asked, and the last `gradient_map`. The
    objective is smooth, or `lipschitz`, or both; for proximal and projected methods (`composite` for accelerated
    ones) a convex regulariser or set is added to it.

    >>> round(convergence_rate("proximal", steps=3, step_size=0.5, smoothness=2.0).value, 6)  # beta / (4T)
    0.166667
    """
    beta, mu = _curvature(smoothness, strong_convexity)
    if math.isinf(beta) and lipschitz is None:
        raise InvalidInput("smoothness", smoothness, "finite, unless lipschitz is", "Pass smoothness or lipschitz.")
    if lipschitz is not None:
        positive("lipschitz", lipschitz)
    # In units where beta = 1, or else the Lipschitz constant.
    size = beta if math.isfinite(beta) else float(lipschitz or 1.0)
    sizes = floats("step_size", step_size, "a number > 0, or one a step", "Use 1 / smoothness for example.")
    eta = float(sizes) * size if not sizes.shape else tuple((size * sizes.ravel()).tolist())
    whole = FirstOrderMethod(method, steps, eta, momentum, composite, mu / beta)
    one_of("measure", measure, sorted(MEASURES), 'Use "value" for the excess loss.')
    bound = None if lipschitz is None else lipschitz / size
    found = _rate(whole, beta / size, mu / size, measure, bound)
    return replace(_scaled(found, 1.0 if measure == "distance" else size, 1.0), units=(1.0, size))


def gradient_descent_rate(
    *,
    steps: int,
    step_size: float,
    smoothness: float,
    strong_convexity: float = 0.0,
    measure: Measure = "value",
) -> WorstCase:
    """`convergence_rate` of gradient descent on a smooth objective.

    >>> round(gradient_descent_rate(steps=3, step_size=0.5, smoothness=2.0).value, 6)  # beta / (4T + 2)
    0.142857
    """
    question: dict[str, Any] = {"smoothness": smoothness, "strong_convexity": strong_convexity, "measure": measure}
    return convergence_rate("gradient", steps=steps, step_size=step_size, **question)


# Solved once for each question -----------------------------------------------------------------------
@lru_cache(maxsize=512)
def _sensitivity(method: FirstOrderMethod, n: int, beta: float, mu: float, both: bool, regularised: bool) -> WorstCase:
    sides = NeighbouringObjectives.of(n, beta, mu, regularised, both, everywhere=math.isinf(beta))
    about = f"{method.name} descent, {method.steps} steps on neighbouring datasets of {n}"
    if sides.common is not None and (sides.aligned_is_exact or method.steps == 1):
        solved = solve(programs.aligned(method, sides), about)
        return _shown(solved, math.sqrt, lambda *units: pair_of(solved, method, sides, *units))
    if method.name == "gradient" and 1 < method.steps <= WHOLE and not sides.aligned_is_exact:
        with contextlib.suppress(NotCertified):  # badly scaled, as for many records: the aligned program is not
            solved = solve(programs.exhaustive(method, sides), about)
            return _shown(solved, math.sqrt, lambda *units: whole_pair_of(solved, method, sides, *units))
    return _relaxed(solve(programs.aligned(method, sides), about), quadratic_pair(method, sides))


@lru_cache(maxsize=512)
def _permuted(method: FirstOrderMethod, n: int, beta: float, mu: float, regularised: bool) -> WorstCase:
    record, quadratic = ConvexClass(beta, mu), mu if regularised else 0.0
    sides = NeighbouringObjectives(None, ConvexClass(beta - quadratic, mu - quadratic), quadratic=quadratic)
    found: list[WorstCase] = []
    for at in range(n):
        about = f"{method.name} descent, {method.steps} steps on {n} records in order, record {at} differs"
        solved = solve(programs.permuted(method, record, sides, n, at), about)

        def build(length: float, gradient: float, solved: SolvedProgram = solved, at: int = at) -> Pair:
            return permuted_pair_of(solved, method, record, sides, at, length, gradient)

        if method.steps == n and not method.takes_prox:  # a function is asked once, at one pair of points
            shown = _shown(solved, math.sqrt, build)
        else:
            shown = _relaxed(solved, quadratic_pair(method, sides, [record] * n, at))
        found.append(replace(shown, position=at))
    return max(found, key=lambda worst: worst.value)


def _relaxed(solved: SolvedProgram, pair: Pair) -> WorstCase:
    """A program that asks for less than the class: its bound, and an instance that need not reach it."""
    found, met = _shown(solved, math.sqrt, lambda *units: replace(pair, units=units)), pair.reached()
    gap = 1 - met / found.value
    return replace(found, lower=met, gap=gap, residual=0.0, exact=gap < MET)


@lru_cache(maxsize=512)
def _expansion(n: int, gap: float, beta: float, mu: float) -> WorstCase:
    sides = NeighbouringObjectives.of(n, beta, mu, False, False, everywhere=False)
    solved = solve(
        programs.aligned(FirstOrderMethod("gradient", 1, 1.0), sides, gap), f"one step from a gap of {gap:g}"
    )
    return _shown(solved, math.sqrt, None)


@lru_cache(maxsize=512)
def _rate(method: FirstOrderMethod, beta: float, mu: float, measure: Measure, lipschitz: float | None) -> WorstCase:
    of = ConvexClass(beta, mu)
    solved = solve(
        rate(method, of, measure, lipschitz), f"{measure} after {method.steps} steps of {method.name} descent"
    )
    taken: Callable[[float], float] = math.sqrt if measure in SQUARED else float
    return _shown(solved, taken, lambda *units: function_of(solved, method, of, measure, *units))


def _shown(solved: SolvedProgram, taken: Callable[[float], float], build: Build | None) -> WorstCase:
    value, met = math.nextafter(taken(solved.upper), math.inf), taken(max(solved.lower, 0.0))
    residual = max(solved.violation, 0.0)
    return WorstCase(value, met, abs(value - met) / value, residual, solved.seconds, solved.certificate, build=build)


def _scaled(worst: WorstCase, length: float, gradient: float) -> WorstCase:
    """Back from the program's units. Relative figures and the certificate stay in them."""
    return replace(worst, value=worst.value * length, lower=worst.lower * length, units=(length, gradient))


def _unit_steps(
    name: Name, steps: int, size: float | tuple[float, ...], momentum: Any, condition: float
) -> tuple[FirstOrderMethod, float]:
    """The method with largest step 1, and that step."""
    method = FirstOrderMethod(
        name, steps, size if isinstance(size, int | float) else tuple(size), momentum, None, condition
    )
    eta = max(method.step_sizes)
    same = len(set(method.step_sizes)) == 1
    return replace(method, step_size=1.0 if same else tuple(s / eta for s in method.step_sizes)), eta


def _curvature(smoothness: float, strong_convexity: float) -> tuple[float, float]:
    """Smoothness and strong convexity: checked."""
    beta = number("smoothness", smoothness, "a number > 0", "Give another smoothness.", lambda found: found > 0)
    limit, remedy = f"a number in [0, smoothness={beta:g})", "Use 0 for merely convex losses."
    return beta, number("strong_convexity", strong_convexity, limit, remedy, lambda found: 0 <= found < beta)
