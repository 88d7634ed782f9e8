"""Bounds side by side: leading exponents, values at one point, who wins where, and what nobody can beat.

A name is the id of a claim or the stem of an algorithm. A stem stands for its best-supported claim of each kind; only
bounds of one kind are ranked: see likeness.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, lambdified, pretty
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, T
from dpcheck.bounds.language.utility_case import ANY, APPROX, CONVEX, ONE_NAME, PURE, STRONG, UtilityCase
from dpcheck.bounds.registry import entries
from dpcheck.bounds.relations.rates import Crossing, Leading, crossing, leading
from dpcheck.bounds.relations.solving import best
from dpcheck.theory.claim_choice import BoundWithNoise, candidates, refuted_privacy, verdict_of
from dpcheck.theory.likeness import (
    KNOWN,
    Likeness,
    best_by_kind,
    constants_of,
    like_with_like,
    lower_bound_of,
    model_of,
    preference,
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
        return constants_of(self.claim) == KNOWN


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
class Alike:
    """Bounds of one kind, which may be ranked; the lower bound of that class; and where two of them cross."""

    kind: Likeness
    sides: Sequence[Side]
    lower: Side | None
    against: sympy.Symbol | None
    meetings: Sequence[Meeting]

    @property
    def ranking(self) -> list[Side]:
        """The sides that apply at the point, least bound first."""
        return sorted((s for s in self.sides if s.value is not None), key=lambda s: s.value or 0.0)

    @property
    def explicit(self) -> bool:
        """Whether all constants are known."""
        return self.kind.constants == KNOWN

    @property
    def headline(self) -> str:
        """Who is least at the point; nothing where fewer than two apply."""
        order = self.ranking
        if len(order) < 2 or not order[0].value or not order[1].value:
            return ""
        factor = order[1].value / order[0].value
        if factor < 1 + 1e-9:
            return f"{order[0].name} and {order[1].name} are equal here."
        aside = "" if self.explicit else ", constants aside"
        return f"{order[0].name} is least here, {order[1].name} {factor:.3g} times larger{aside}."


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: groups of bounds that are alike. Print it, `plot()` it, or take its fields."""

    groups: Sequence[Alike]
    over: sympy.Symbol
    values: Mapping[str, float]
    defaulted: Sequence[str]
    caution: str
    also_shared: Sequence[Likeness]

    @property
    def only(self) -> Alike:
        """The one group; refused where the bounds are unlike."""
        if len(self.groups) == 1:
            return self.groups[0]
        said = "; ".join(f"{', '.join(s.name for s in group.sides)}: {group.kind}" for group in self.groups)
        raise InvalidInput("comparison", "of unlike bounds", "of bounds of one kind to be ranked", f"They are {said}.")

    @property
    def sides(self) -> Sequence[Side]:
        """Of all groups; a name may be in several."""
        return [side for group in self.groups for side in group.sides]

    @property
    def case(self) -> UtilityCase:
        """Of the one group."""
        return self.only.kind.case

    @property
    def lower(self) -> Side | None:
        """Of the one group."""
        return self.only.lower

    @property
    def meetings(self) -> Sequence[Meeting]:
        """Of the one group."""
        return self.only.meetings

    @property
    def ranking(self) -> list[Side]:
        """Of the one group: unlike bounds are not ranked."""
        return self.only.ranking

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
        """Of each group the bounds over the symbol, and the map of who wins. Needs matplotlib; writes to `path`."""
        from dpcheck.report import figures

        return figures.saved(figures.comparison_figure(self), path)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        groups = [
            {
                "kind": str(group.kind),
                "sides": [side_json(s) for s in group.sides],
                "lower": side_json(group.lower) if group.lower else None,
                "ranking": [s.name for s in group.ranking],
                "headline": group.headline,
                "crossings": [meeting_json(m) for m in group.meetings],
            }
            for group in self.groups
        ]
        point = {"values": dict(self.values), "defaulted": list(self.defaulted)}
        return {"groups": groups, **point, "caution": self.caution}

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

    Only bounds of one kind are ranked: the same error, promised alike, for the same losses and privacy, with constants
    known alike. Where the names share no kind, there are several groups. `measure` (a symbol's name), `losses`
    ("strong", "convex", "any") and `privacy` ("pure", "approx") choose among kinds. Symbols left out take stated
    defaults. Raises UnknownName for a name that is neither, and InvalidInput where the names bound different things.
    """
    if len(names) < 2:
        raise InvalidInput("names to compare", list(names), "two or more", "Name two stems or claim ids.")
    if len(set(names)) < len(names):
        raise InvalidInput("names to compare", list(names), "different from each other", "Drop the repeated one.")
    for what, given, known in (
        ("losses", losses, ("strong", "convex", "any")),
        ("privacy", privacy, ("pure", "approx")),
    ):
        if given is not None and given not in known:
            raise InvalidInput(what, given, f"one of {', '.join(known)}", "Leave it out for the first kind shared.")
    by_name = {name: best_by_kind(candidates(name), model_of(stem_of(name))) for name in names}
    must_share_an_error(by_name, measure)
    kinds = {name: wanted(kinds, measure, losses, privacy, name) for name, kinds in by_name.items()}
    chosen = like_with_like(kinds)
    lowers = {kind: lower_bound_of(kind.case, kind.constants, kind.model) for kind, _ in chosen}
    every = [*(c for _, claims in chosen for c in claims.values()), *(c for c in lowers.values() if c)]
    point, defaulted = filled(every, values, over)
    symbol = next(s for s in TABLE if str(s) == over)
    groups = [alike(kind, claims, lowers[kind], symbol, point) for kind, claims in chosen]
    shared = set.intersection(*(set(mine) for mine in kinds.values())) if len(groups) == 1 else set()
    others = sorted(shared - {chosen[0][0]}, key=preference)
    failures = {name: refuted_privacy(name, point["eps"]) for name in names} if "eps" in point else {}
    said = [
        f"The privacy of {name} as published is refuted ({failure})." for name, failure in failures.items() if failure
    ]
    caution = " ".join(said)
    return Comparison(groups, symbol, point, defaulted, caution, others)


def stem_of(name: str) -> str:
    """The algorithm's stem, of a claim's id too."""
    return entries()[name].algorithm if name in entries() else name


def must_share_an_error(by_name: Mapping[str, Mapping[Likeness, Claim]], measure: str | None) -> None:
    """Refuse where no two names bound the same error, or one does not bound the error asked for."""
    measures = {name: {str(kind.case.measure) for kind in kinds} for name, kinds in by_name.items()}
    every = [m for mine in measures.values() for m in mine]
    shared = max(map(every.count, every)) > 1 if measure is None else all(measure in mine for mine in measures.values())
    if not shared:
        printed = {
            name: " and ".join(sorted({TABLE[kind.case.measure].printed for kind in kinds}))
            for name, kinds in by_name.items()
        }
        said = "; ".join(f"{name} bounds {words}" for name, words in printed.items())
        raise InvalidInput("comparison", "of different errors", "of bounds on one and the same error", f"{said}.")


def wanted(
    kinds: Mapping[Likeness, Claim], measure: str | None, losses: str | None, privacy: str | None, name: str
) -> dict[Likeness, Claim]:
    """Those of the case asked for; refused where a name has none."""
    asked = (measure, CASES.get(losses or ""), CASES.get(privacy or ""))
    found = {}
    for kind, claim in kinds.items():
        has = (str(kind.case.measure), kind.case.losses, kind.case.privacy)
        if all(ask is None or ask == have for ask, have in zip(asked, has, strict=True)):
            found[kind] = claim
    if not found:
        limit = "a case that each name has a bound for"
        said = "; ".join(dict.fromkeys(str(kind.case) for kind in kinds))
        raise InvalidInput("case", ", ".join(filter(None, asked)), limit, f"{name} has {said}.")
    return found


def alike(
    kind: Likeness, claims: Mapping[str, Claim], lower: Claim | None, over: sympy.Symbol, point: Mapping[str, float]
) -> Alike:
    """The bounds of one kind at the point, and where they cross."""
    sides = [side(name, claim, point) for name, claim in claims.items()]
    against = second_axis(sides, over)
    axes = [s for s in (over, against) if s is not None]
    meetings = [meeting(a, b, s, point) for s in axes for i, a in enumerate(sides) for b in sides[i + 1 :]]
    bottom = side("lower bound", lower, point) if lower else None
    return Alike(kind, sides, bottom, against, [m for m in meetings if m])


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
    point = {k: float(v) for k, v in values.items()}
    point |= {name: default(by_name[name]) for name in open_}
    return point | dict.fromkeys(sorted(hidden - values.keys()), 1.0), open_


def default(symbol: sympy.Symbol) -> float:
    """1 for a constant, else something plain inside its box."""
    low, high = TABLE[symbol].box
    plain = DEFAULTS.get(str(symbol), 1.0)
    return plain if low <= plain <= high else float(f"{math.sqrt(low * high):.1g}")


def bound_at(claim: Claim, values: Mapping[str, Any]) -> np.ndarray:
    """The bound (arrays broadcast), at its best T where T is left open; nan where a hypothesis fails."""
    return least_over_steps(claim.formula, claim.conditions, values)[0]


def least_over_steps(
    formula: sympy.Expr, conditions: Sequence[sympy.Basic], values: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray | None]:
    """A formula's value (arrays broadcast) and, where T is open, the T that makes it least among STEPS.

    Values are nan where a condition fails; one that names other symbols than these is passed over.
    """
    names = sorted(formula.free_symbols, key=str)
    symbols = set(names).union(*(c.free_symbols for c in conditions))
    given = {str(s): np.asarray(values[str(s)], float) for s in symbols if str(s) in values}
    open_T = T in names and "T" not in given
    if open_T:
        given = {k: v[..., None] for k, v in given.items()} | {"T": STEPS}
    with np.errstate(all="ignore"):
        found = lambdified(formula)(*(given[str(s)] for s in names))
        for condition in conditions:
            used = sorted(condition.free_symbols, key=str)
            if all(str(s) in given for s in used):
                found = np.where(holding(condition, used)(*(given[str(s)] for s in used)), found, np.nan)
    found = np.where(np.isfinite(found), found, np.nan)
    if not open_T:
        return found, None
    least = np.where(np.isnan(found), np.inf, found)
    return np.min(least, axis=-1), STEPS[np.argmin(least, axis=-1)]


def holding(condition: sympy.Basic, names: Sequence[sympy.Symbol]) -> Any:
    """Whether it holds, as a function of arrays; equations up to rounding."""
    if isinstance(condition, sympy.Eq):
        sides = sympy.lambdify(names, condition.args, "numpy")

        def equal(*numbers: np.ndarray) -> Any:
            left, right = sides(*numbers)
            return np.isclose(left, right, rtol=1e-12, atol=0)

        return equal
    return sympy.lambdify(names, condition, "numpy")


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
