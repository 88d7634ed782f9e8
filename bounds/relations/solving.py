"""Any symbol of a bound given the others, and the value of a symbol that makes a bound least.

Numbers by bracketing, on the safe side of the target; a closed form where one is known and agrees with the number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # its parts are imported on first use
import sympy

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.formulas import pretty
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.statements import Rate
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.relations.rates import along, power_of

if TYPE_CHECKING:  # claims solve for their symbols
    from dpcheck.bounds.language.claim import Claim

WIDEST = (1e-12, 1e18)
POINTS = 600
TARGETS = ("error", "target")
ERROR = sympy.Symbol("error", positive=True)  # the measure in closed forms: its printed name is a formula


@dataclass(frozen=True)
class Solved:
    """The value of a symbol at which a bound keeps to a target.

    `check` is the bound there: at most the target, and equal to it up to rounding unless a whole number or a
    hypothesis stands in the way. `formula` is the closed form, with `error` for the target; None if there is none.
    """

    claim: str
    symbol: str
    value: float
    target: float
    check: float
    formula: sympy.Expr | None
    note: str

    def __str__(self) -> str:
        shown = f"{self.symbol} = {self.value:.10g}, where {self.claim} gives {self.check:.4g} (target {self.target:g})"
        closed = f"; {self.symbol} = {pretty(self.formula)}" if self.formula is not None else ""
        return shown + closed + (f". {self.note}" if self.note else "")

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {**asdict(self), "formula": None if self.formula is None else str(self.formula)}


@dataclass(frozen=True)
class Best:
    """The value of a symbol that makes a bound least, and the bound there."""

    symbol: str
    value: float
    bound: float
    formula: sympy.Expr | None


# Solving -------------------------------------------------------------------------------------------
def solve_for(claim: Claim, symbol: str, **values: Any) -> Solved:
    """The value of `symbol` at which the claim's bound keeps to a target, given all its other symbols.

    The target is `error=` (or `target=`, or the bounded quantity by its own name). Returned is the least value
    from which on the bound stays within it (n, eps), else the largest up to which it does (d, delta), else the
    least that does (T). Raises InvalidInput with the best attainable value where none does, and
    HypothesisViolated where only values outside the hypotheses would.
    """
    wanted = symbol_named(claim, symbol)
    given = {str(s): 1.0 for s in claim.hidden if s != wanted} | numbers_of(claim, symbol, values)
    if wanted == claim.subject:
        value = float(claim.evaluate(**given))
        return Solved(claim.id, symbol, value, value, value, claim.formula, constants_note(claim))
    target = target_of(claim, values)
    bound = along(claim.formula, wanted, given)
    value, binding = search(claim, wanted, target, given, bound)
    note = " ".join(part for part in (binding, constants_note(claim)) if part)
    formula = closed_form(claim, wanted, target, given, bound)
    return Solved(claim.id, symbol, value, target, float(bound(value)), formula, note)


def search(
    claim: Claim, wanted: sympy.Symbol, target: float, given: Mapping[str, float], bound: Callable[[Any], Any]
) -> tuple[float, str]:
    """The threshold on the safe side, and a sentence if a hypothesis rather than the target sets it."""
    allowed = conditions_along(claim, wanted, given)

    def keeps(x: Any) -> Any:
        return bound(x) <= target * (1 + 1e-12)  # nan does not

    def fits(x: Any) -> Any:
        return keeps(x) & allowed(x)

    grid = domain(wanted)
    if not keeps(grid).any():
        found = best(claim, wanted, **given)
        if not keeps(found.value):
            raise unreachable(claim, wanted, target, found)
        grid = np.sort(np.append(grid, found.value))
    free = edge(grid, keeps, wanted)
    if allowed(free):
        return free, ""
    if not fits(grid).any():
        raise outside(claim, wanted, {**given, str(wanted): free})
    return edge(grid, fits, wanted), "A hypothesis sets this value, not the target."


def conditions_along(claim: Claim, wanted: sympy.Symbol, given: Mapping[str, float]) -> Callable[[Any], Any]:
    """Whether all numeric hypotheses that these symbols decide hold, as a function of one symbol."""
    tests = []
    for condition in claim.conditions:
        names = sorted(condition.free_symbols, key=str)
        if all(s == wanted or str(s) in given for s in names):
            tests.append((names, sympy.lambdify(names, condition, "numpy")))

    def hold(x: Any) -> Any:
        held = np.ones(np.shape(x), bool)
        for names, test in tests:
            held &= test(*(np.asarray(x if s == wanted else given[str(s)], float) for s in names))
        return held

    return hold


def outside(claim: Claim, wanted: sympy.Symbol, point: Mapping[str, float]) -> HypothesisViolated:
    """The target is met only where the claim does not apply: name the hypothesis."""
    broken = claim.violated_by(point)
    assert broken is not None
    given = {str(s): point[str(s)] for s in broken.free_symbols}
    remedy = f"Without it {wanted} would be {point[str(wanted)]:.4g}: relax the target or change the other values."
    return HypothesisViolated(claim.id, given, pretty(broken), remedy)


def edge(grid: np.ndarray, keeps: Callable[[Any], Any], wanted: sympy.Symbol) -> float:
    """The end of the range that keeps the target, to the last digit: see `solve_for` for which end."""
    fits = keeps(grid)
    if fits[-1]:
        breaks = np.flatnonzero(~fits)
        first = int(breaks[-1]) + 1 if breaks.size else 0
        return whole(bisected(grid[first - 1], grid[first], keeps) if first else float(grid[0]), wanted, keeps, up=True)
    if fits[0]:
        last = int(np.flatnonzero(~fits)[0]) - 1
        return whole(bisected(grid[last + 1], grid[last], keeps), wanted, keeps, up=False)
    first = int(np.flatnonzero(fits)[0])
    return whole(bisected(grid[first - 1], grid[first], keeps), wanted, keeps, up=True)


def bisected(fails: float, works: float, keeps: Callable[[Any], Any]) -> float:
    """The working end of the boundary between the two."""
    for _ in range(200):
        middle = math.sqrt(fails * works)
        if not min(fails, works) < middle < max(fails, works):
            break
        fails, works = (fails, middle) if keeps(middle) else (middle, works)
    return float(works)


def whole(value: float, wanted: sympy.Symbol, keeps: Callable[[Any], Any], up: bool) -> float:
    """Rounded to the safe side where the symbol counts something."""
    if not TABLE[wanted].integer:
        return value
    rounded = math.ceil(value * (1 - 1e-12)) if up else math.floor(value * (1 + 1e-12))
    rounded = max(1, rounded)
    return float(rounded if keeps(rounded) else rounded + (1 if up else -1))


def domain(wanted: sympy.Symbol) -> np.ndarray:
    """Values to try, log-spaced over all that the symbol can be."""
    row = TABLE[wanted]
    low = 1.0 if row.integer else WIDEST[0]
    high = row.below * (1 - 1e-9) if math.isfinite(row.below) else WIDEST[1]
    return np.geomspace(low, high, POINTS)


def unreachable(claim: Claim, wanted: sympy.Symbol, target: float, found: Best) -> InvalidInput:
    """No value reaches the target: the error that says how near one gets."""
    what = f"{wanted} with {claim.id} at most {target:g}"
    limit = f"one that exists; the bound is at best {found.bound:.4g}, at {wanted} = {found.value:.4g}"
    return InvalidInput(what, "no value", limit, "Relax the target or change the other values.")


# The least bound -----------------------------------------------------------------------------------
def best(bound: Claim | sympy.Expr, over: str | sympy.Symbol, **values: Any) -> Best:
    """The value of `over` that makes the bound least, given its other symbols: the T* of a convergence bound."""
    if not isinstance(bound, sympy.Basic) and not hasattr(bound, "formula"):
        raise InvalidInput("bound", bound, "a claim or a formula", "Pass library['...'] or its right-hand side.")
    expr = sympy.sympify(bound) if isinstance(bound, sympy.Basic) else bound.formula
    symbol = next((s for s in expr.free_symbols if str(s) == str(over)), None)
    if symbol is None:
        raise UnknownName("symbol", str(over), f"one of {sorted(map(str, expr.free_symbols))}", "See the bound.")
    given = {k: number(k, v, "a number", "It is a symbol of the bound.") for k, v in values.items()}
    grid = domain(symbol)
    height = along(expr, symbol, given)
    heights = height(grid)
    at = int(np.argmin(np.where(np.isfinite(heights), heights, np.inf)))
    ends = np.log([grid[max(0, at - 1)], grid[min(len(grid) - 1, at + 1)]])
    found = scipy.optimize.minimize_scalar(
        lambda u: float(height(math.exp(u))), bounds=tuple(ends), method="bounded", options={"xatol": 1e-12}
    )
    tried = [float(grid[at]), math.exp(float(found.x))]
    if TABLE[symbol].integer:
        tried = [max(1.0, float(f(x))) for x in tried for f in (math.floor, math.ceil)]
    sizes = [float(height(x)) for x in tried]
    least = int(np.argmin(sizes))
    return Best(str(symbol), tried[least], sizes[least], stationary(expr, symbol))


def stationary(expr: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr | None:
    """Where A·s^a + B·s^b is least, a < 0 < b: in closed form; None for other bounds."""
    by_power = coefficients(expr, symbol) or {}
    by_power.pop(sympy.Integer(0), None)
    if len(by_power) != 2:
        return None
    (a, A), (b, B) = sorted(by_power.items(), key=lambda pair: float(pair[0]))
    if not (a < 0 < b):
        return None
    return sympy.simplify((-a * A / (b * B)) ** (1 / (b - a)))


# Closed forms --------------------------------------------------------------------------------------
def closed_form(
    claim: Claim, wanted: sympy.Symbol, target: float, given: Mapping[str, float], bound: Callable[[Any], Any]
) -> sympy.Expr | None:
    """The symbol as a function of the others and of the bounded quantity; only one that hits the target is kept."""
    measure = ERROR if claim.holds or not claim.subject.is_Symbol else claim.subject
    here = {**given, str(measure): target}
    for formula in inverses(claim.formula, wanted, measure):
        value = complex(sympy.N(formula.subs({s: here[str(s)] for s in formula.free_symbols})))
        real = value.real > 0 and abs(value.imag) < 1e-9 * value.real
        if real and math.isclose(float(bound(value.real)), target, rel_tol=1e-6):
            return formula
    return None


def inverses(expr: sympy.Expr, s: sympy.Symbol, measure: sympy.Symbol) -> list[sympy.Expr]:
    """Candidates for the s that gives the bound the value `measure`."""
    power = power_of(expr, s)
    if power is not None and power != 0:
        return [sympy.powdenest((measure / expr.subs(s, 1)) ** (1 / power), force=True)]
    return [f for by in (by_lambert, by_exponential, by_quadratic) for f in by(expr, s, measure)]


def by_lambert(expr: sympy.Expr, s: sympy.Symbol, measure: sympy.Symbol) -> list[sympy.Expr]:
    """A·s^k·log(B·s)^j = m: with u = log(B s), u = (j/k)·W((k/j)·(m B^k / A)^(1/j)), on either branch."""
    expr = sympy.expand_power_base(expr, force=True)
    factors = sympy.Mul.make_args(expr)
    logs = [f for f in factors if s in f.free_symbols and isinstance(f.as_base_exp()[0], sympy.log)]
    if len(logs) != 1:
        return []
    (logarithm, j), rest = logs[0].as_base_exp(), expr / logs[0]
    k, one = power_of(rest, s), power_of(logarithm.args[0], s)
    if k is None or one not in (1, -1) or not j.is_number:
        return []
    A, B = rest.subs(s, 1), logarithm.args[0].subs(s, 1)
    if k == 0:
        return [sympy.exp((measure / A) ** (1 / j) * one) / B**one]
    x = k * one / j
    inner = x * (measure * B ** (k * one) / A) ** (1 / j)
    return [(sympy.exp(sympy.LambertW(inner, branch) / x) / B) ** one for branch in (-1, 0)]


def by_exponential(expr: sympy.Expr, s: sympy.Symbol, measure: sympy.Symbol) -> list[sympy.Expr]:
    """A·exp(-a·s) + B = m: what a linear rate leaves."""
    fading = [t for t in sympy.Add.make_args(expr) if s in t.free_symbols]
    if len(fading) != 1:
        return []
    slope = -sympy.diff(sympy.expand_log(sympy.log(fading[0]), force=True), s)
    if s in slope.free_symbols:
        return []
    return [sympy.log(fading[0].subs(s, 0) / (measure - (expr - fading[0]))) / slope]


def by_quadratic(expr: sympy.Expr, s: sympy.Symbol, measure: sympy.Symbol) -> list[sympy.Expr]:
    """A·s^p + C = m, or a quadratic in s^p."""
    by_power = coefficients(expr, s)
    if by_power is None:
        return []
    rest = by_power.pop(sympy.Integer(0), sympy.Integer(0)) - measure
    powers = sorted(by_power, key=lambda p: abs(float(p)))
    if len(powers) == 1:
        return [(-rest / by_power[powers[0]]) ** (1 / powers[0])]
    if len(powers) != 2 or powers[1] != 2 * powers[0]:
        return []
    b, a = (by_power[p] for p in powers)
    root = sympy.sqrt(b**2 - 4 * a * rest)
    return [((sign * root - b) / (2 * a)) ** (1 / powers[0]) for sign in (1, -1)]


def coefficients(expr: sympy.Expr, s: sympy.Symbol) -> dict[sympy.Expr, sympy.Expr] | None:
    """The factor of each power of s in a sum; None where a term is no power of it."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(sympy.expand(expr, log=False)):
        power = power_of(term, s)
        if power is None:
            return None
        found[power] = found.get(power, sympy.Integer(0)) + term / s**power
    return found


# Input ---------------------------------------------------------------------------------------------
def symbol_named(claim: Claim, name: str) -> sympy.Symbol:
    """The claim's symbol of that name."""
    by_name = {str(s): s for s in claim.formula.free_symbols | claim.subject.free_symbols}
    if name not in by_name:
        raise UnknownName("symbol to solve for", name, f"one of {sorted(by_name)}", f"They are those of {claim.id}.")
    return by_name[name]


def target_of(claim: Claim, values: Mapping[str, Any]) -> float:
    """What the bound is to keep to."""
    found = {k: values[k] for k in (*TARGETS, str(claim.subject)) if k in values}
    if len(found) != 1:
        limit = f"given once, as error= or {claim.subject}="
        raise InvalidInput("target", found or None, limit, f"It is what {claim.id} is to stay below.")
    ((name, value),) = found.items()
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < float(value) < math.inf:
        raise InvalidInput(name, value, "a finite number > 0", "It is what the bound is to stay below.")
    return float(value)


def numbers_of(claim: Claim, wanted: str, values: Mapping[str, Any]) -> dict[str, float]:
    """The given values as numbers, each within its symbol's domain."""
    by_name = {str(s): s for s in claim.symbols | claim.formula.free_symbols}
    found = {}
    for name, value in values.items():
        if name == wanted:
            raise InvalidInput(name, value, "left open: it is to be solved for", f"Leave {name} out.")
        if name in (*TARGETS, str(claim.subject)):
            continue
        if np.ndim(value) != 0:
            raise InvalidInput(name, value, "one number", "Solve for one point at a time.")
        if name in by_name:
            TABLE[by_name[name]].must_contain(value)
        found[name] = float(value)
    return found


def constants_note(claim: Claim) -> str:
    """What was assumed of constants that the statement does not give."""
    hidden = isinstance(claim.states, Rate) or bool(claim.hidden)
    return "Hidden constants are taken as 1." if hidden else ""
