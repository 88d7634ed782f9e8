"""Bounds side by side: leading exponents, values at one point, who wins where, and what nobody can beat.

A name is the id of a claim or the stem of an algorithm. A stem stands for its best-supported claim of the case
that all the names share: the same error, losses and kind of privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, Kind, Rate, lambdified, pretty
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, T
from dpcheck.bounds.language.utility_case import ANY, APPROX, CONVEX, ONE_NAME, PURE, STRONG, UtilityCase
from dpcheck.bounds.relations.rates import Crossing, Leading, crossing, leading
from dpcheck.bounds.relations.solving import best
from dpcheck.theory.claim_choice import (
    BoundWithNoise,
    candidates,
    dropped_constants,
    lower_bound,
    refuted_privacy,
    shared_case,
    verdict_of,
)

DEFAULTS = {"n": 10_000.0, "d": 50.0, "eps": 1.0, "delta": 1e-5, "gamma": 0.05, "mu": 0.1}  # every other constant: 1
CASES = {"strong": STRONG, "convex": CONVEX, "any": ANY, "pure": PURE, "approx": APPROX}
STEPS = np.unique(np.round(np.geomspace(1, 1e9, 400)))


@dataclass(frozen=True)
class Side:
    """One of the compared bounds: whose it is, how it grows, what it comes to at the point (None: why not)."""

    name: str
    claim: Claim
    verdict: str
    leading: Leading
    value: float | None
    reason: str = ""
    steps: float | None = None

    @property
    def source(self) -> str:
        """The claim it comes from, and whose noise it takes."""
        noise = self.claim.noise if isinstance(self.claim, BoundWithNoise) else ""
        return f"{self.claim.id} with the noise of {noise}" if noise else self.claim.id

    @property
    def explicit(self) -> bool:
        """Whether all its constants are known."""
        return not isinstance(self.claim.states, Rate) and not self.claim.hidden


@dataclass(frozen=True)
class Meeting:
    """Where two sides cross, as one symbol goes through its range and the others stay."""

    first: str
    second: str
    crossing: Crossing
    box: tuple[float, float]

    @property
    def sentence(self) -> str:
        """Who is smaller on which side, in words."""
        name, at = TABLE[self.crossing.symbol].printed, self.crossing.at
        before, after = (self.first, self.second) if self.crossing.below == "first" else (self.second, self.first)
        if not at:
            return f"{before} is smaller than {after} at every {name} from {self.box[0]:g} to {self.box[1]:g}"
        text = f"{before} is smaller than {after} below {name} = {at[0]:.4g}"
        return text + (f", and the order changes again at {', '.join(f'{x:.4g}' for x in at[1:])}" if at[1:] else "")


@dataclass(frozen=True)
class Comparison:
    """What `compare` found. Print it, `plot()` it, or take its fields."""

    case: UtilityCase
    sides: Sequence[Side]
    lower: Side | None
    over: sympy.Symbol
    against: sympy.Symbol | None
    values: Mapping[str, float]
    defaulted: Sequence[str]
    meetings: Sequence[Meeting]
    caution: str
    other_cases: Sequence[UtilityCase]

    @property
    def ranking(self) -> list[Side]:
        """The sides that apply at the point, least bound first."""
        return sorted((s for s in self.sides if s.value is not None), key=lambda s: s.value or 0.0)

    @property
    def constants(self) -> str:
        """What was assumed of the constants that the statements hide."""
        hidden = [s.name for s in (*self.sides, *([self.lower] if self.lower else [])) if not s.explicit]
        return f"Hidden constants are taken as 1 ({', '.join(dict.fromkeys(hidden))})." if hidden else ""

    def curve(self, side: Side, **values: Any) -> np.ndarray:
        """A side's bound at the comparison's values with these (arrays) in their place; nan where it does not apply."""
        return bound_at(side.claim, {**self.values, **values})

    def range_of(self, symbol: sympy.Symbol) -> tuple[float, float]:
        """The range around the point that pictures show: three decades either way for counts, two for the rest."""
        here, row = self.values[str(symbol)], TABLE[symbol]
        reach = 1e3 if row.integer else 1e2
        low, high = here / reach, here * reach
        return max(low, 2.0 if str(symbol) == "n" else 1.0) if row.integer else low, min(high, row.below * 0.5)

    def plot(self, path: Any = None) -> Any:
        """Bounds over the symbol, and the map of who wins. Needs matplotlib; writes to `path` if given."""
        from dpcheck.report import figures  # late: who plots nothing pays for no picture

        return figures.saved(figures.comparison_figure(self), path)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "case": str(self.case),
            "values": dict(self.values),
            "defaulted": list(self.defaulted),
            "constants": self.constants,
            "caution": self.caution,
            "sides": [side_json(s) for s in self.sides],
            "lower": side_json(self.lower) if self.lower else None,
            "ranking": [s.name for s in self.ranking],
            "crossings": [meeting_json(m) for m in self.meetings],
        }

    def __str__(self) -> str:
        from dpcheck.report.theory import as_text, comparison_page  # late: rich is for who prints

        return as_text(comparison_page(self))

    @cached_property
    def _repr(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return self._repr


def compare(
    *names: str,
    over: str = "n",
    measure: str | None = None,
    losses: str | None = None,
    privacy: str | None = None,
    **values: float,
) -> Comparison:
    """Compare the bounds of algorithms (stems) or claims (ids) at a point, and along the symbol `over`.

    `measure` (a symbol's name), `losses` ("strong", "convex", "any") and `privacy` ("pure", "approx") choose the
    case where the names share more than one. Symbols left out take stated defaults. Raises UnknownName for a name
    that is neither, and InvalidInput where the names bound different things.
    """
    if len(names) < 2:
        raise InvalidInput("names to compare", list(names), "two or more", "Name two stems or claim ids.")
    if len(set(names)) < len(names):
        raise InvalidInput("names to compare", list(names), "different from each other", "Drop the repeated one.")
    wanted = {"measure": measure, "losses": CASES.get(losses or ""), "privacy": CASES.get(privacy or "")}
    for what, given, known in (
        ("losses", losses, ("strong", "convex", "any")),
        ("privacy", privacy, ("pure", "approx")),
    ):
        if given is not None and given not in known:
            raise InvalidInput(what, given, f"one of {', '.join(known)}", "Leave it out for the first case shared.")
    chosen, case, others, caution = shared_case({name: candidates(name) for name in names}, wanted)
    lower = lower_bound(case)
    every = [*chosen.values(), *([lower] if lower else [])]
    point, defaulted = filled(every, values, over)
    symbol = next(s for s in TABLE if str(s) == over)
    sides = [side(name, claim, point) for name, claim in chosen.items()]
    against = second_axis(sides, symbol)
    axes = [s for s in (symbol, against) if s is not None]
    meetings = [meeting(a, b, s, point) for s in axes for i, a in enumerate(sides) for b in sides[i + 1 :]]
    mixed = unlike_constants(sides) if len({s.explicit for s in sides}) == 2 else ""
    cautions = (caution, dropped_constants(chosen), mixed, *map(refuted_privacy, chosen))
    caution = " ".join(part for part in cautions if part)
    bottom = side("lower bound", lower, point) if lower else None
    return Comparison(
        case, sides, bottom, symbol, against, point, defaulted, [m for m in meetings if m], caution, others
    )


# Numbers -------------------------------------------------------------------------------------------
def filled(claims: Sequence[Claim], values: Mapping[str, float], over: str) -> tuple[dict[str, float], list[str]]:
    """Every symbol of the formulas with its number, and which of them are defaults. T is chosen, not defaulted."""
    by_name = {str(s): s for s in TABLE}
    values = {str(ONE_NAME.get(name, name)): value for name, value in values.items()}
    for name, value in values.items():
        if name not in by_name:
            raise UnknownName("symbol", name, "one of the table's", "See `dpcheck claims ID` for those of a claim.")
        TABLE[by_name[name]].must_contain(value)
        if np.ndim(value) != 0 or not float(value) > 0:
            raise InvalidInput(name, value, "one number > 0", f"It is the {TABLE[by_name[name]].meaning}.")
    needed = {str(s) for claim in claims for s in claim.formula.free_symbols}
    if over not in needed:
        raise UnknownName(
            "symbol to compare over", over, f"one of {sorted(needed)}", "Choose one the bounds depend on."
        )
    hidden = {str(s) for claim in claims for s in claim.hidden}
    open_ = sorted(needed - values.keys() - hidden - ({"T"} if over != "T" else set()))
    unit = any(claim.ignores_units for claim in claims if claim.kind is not Kind.LOWER_BOUND)
    point = {k: float(v) for k, v in values.items()}
    point |= {name: 1.0 if unit and name == "mu" else default(by_name[name]) for name in open_}
    return point | dict.fromkeys(sorted(hidden - values.keys()), 1.0), open_


def default(symbol: sympy.Symbol) -> float:
    """1 for a constant, else something plain inside its box."""
    low, high = TABLE[symbol].box
    plain = DEFAULTS.get(str(symbol), 1.0)
    return plain if low <= plain <= high else float(f"{math.sqrt(low * high):.1g}")


def bound_at(claim: Claim, values: Mapping[str, Any]) -> np.ndarray:
    """The bound (arrays broadcast), at its best T where T is left open; nan where a hypothesis fails."""
    names = sorted(claim.formula.free_symbols, key=str)
    given = {str(s): np.asarray(values[str(s)], float) for s in claim.symbols if str(s) in values}
    open_T = T in names and "T" not in given
    if open_T:
        given = {k: v[..., None] for k, v in given.items()} | {"T": STEPS}
    with np.errstate(all="ignore"):
        found = lambdified(claim.formula)(*(given[str(s)] for s in names))
    for condition in claim.conditions:
        used = sorted(condition.free_symbols, key=str)
        if all(str(s) in given for s in used):
            found = np.where(sympy.lambdify(used, condition, "numpy")(*(given[str(s)] for s in used)), found, np.nan)
    found = np.where(np.isfinite(found), found, np.nan)
    return np.min(np.where(np.isnan(found), np.inf, found), axis=-1) if open_T else found


def side(name: str, claim: Claim, point: Mapping[str, float]) -> Side:
    """A bound at the point; one that does not apply there says why."""
    value = float(bound_at(claim, point))
    order, verdict = leading(claim.formula), verdict_of(claim)
    if math.isfinite(value):
        open_T = T in claim.formula.free_symbols and "T" not in point
        steps = best(claim, "T", **{k: v for k, v in point.items() if k != "T"}).value if open_T else None
        return Side(name, claim, verdict, order, value, steps=steps)
    broken = claim.violated_by(point)
    reason = f"does not apply: {pretty(broken)} fails" if broken is not None else "is not a number here"
    return Side(name, claim, verdict, order, None, reason)


def meeting(one: Side, two: Side, symbol: sympy.Symbol, point: Mapping[str, float]) -> Meeting | None:
    """Where two sides cross along a symbol; none where neither depends on it."""
    formulas = [s.claim.formula for s in (one, two)]
    if symbol not in formulas[0].free_symbols | formulas[1].free_symbols:
        return None
    row, here = TABLE[symbol], point[str(symbol)]
    box = (min(row.box[0], here), max(row.box[1] * (1e3 if row.integer else 1), here))
    if one.steps is None and two.steps is None:
        return Meeting(one.name, two.name, crossing(formulas[0], formulas[1], symbol, point, box), box)
    grid = np.geomspace(*box, 400)
    with np.errstate(all="ignore"):
        gap = np.subtract(*(np.log(bound_at(s.claim, {**point, str(symbol): grid})) for s in (one, two)))
    if not np.isfinite(gap).any():
        return None
    turns = np.flatnonzero(np.sign(gap[1:]) * np.sign(gap[:-1]) < 0)
    share = gap[turns] / (gap[turns] - gap[turns + 1])
    at = np.exp(np.log(grid[turns]) + share * np.log(grid[turns + 1] / grid[turns]))
    below = "first" if gap[np.isfinite(gap)][0] < 0 else "second"
    return Meeting(one.name, two.name, Crossing(symbol, None, tuple(map(float, at)), below), box)


def second_axis(sides: Sequence[Side], over: sympy.Symbol) -> sympy.Symbol | None:
    """The other symbol that the winner depends on most plainly: d, ε or n."""
    symbols = set().union(*(s.claim.formula.free_symbols for s in sides)) - {over}
    wanted = [s for name in ("d", "eps", "n", "delta") for s in symbols if str(s) == name]
    return wanted[0] if wanted else None


def unlike_constants(sides: Sequence[Side]) -> str:
    """A caution where some constants are known and others taken as 1."""
    known = [s.name for s in sides if s.explicit]
    return f"Only {' and '.join(known)} states its constants: compare exponents, not heights." if known else ""


# Plain values --------------------------------------------------------------------------------------
def side_json(one: Side) -> dict[str, Any]:
    terms = [
        {"term": str(t.expr), "exponents": {str(s): [str(e.power), str(e.log)] for s, e in t.exponents.items()}}
        for t in one.leading.terms
    ]
    found = {
        "name": one.name,
        "claim": one.claim.id,
        "source": one.source,
        "verdict": one.verdict,
        "states": one.claim.text(),
    }
    return {**found, "leading": terms, "value": one.value, "reason": one.reason, "T": one.steps}


def meeting_json(one: Meeting) -> dict[str, Any]:
    found = one.crossing
    formula = None if found.formula is None else str(found.formula)
    return {
        "first": one.first,
        "second": one.second,
        "symbol": str(found.symbol),
        "at": list(found.at),
        "formula": formula,
        "sentence": one.sentence,
    }
