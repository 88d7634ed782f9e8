"""A claim's promise and what is released, together: their numbers at any point and on any cell of the hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, pretty
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, Relation
from dpcheck.bounds.language.symbols import TABLE, delta, eps
from dpcheck.bounds.privacy import batches
from dpcheck.bounds.privacy.cells import KnownRanges, Range, never_holds, range_of
from dpcheck.bounds.privacy.laws import RESPONSES, Gaussian, InOrder, WithoutReplacement
from dpcheck.bounds.privacy.release import ONE, ZERO, Release, noise_name
from dpcheck.bounds.privacy.release_values import StepValues, Values, most_picked, release_at, share_picked

Array = np.ndarray
Points = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Question:
    """Whether what is released keeps the claim's promise, over the box of its hypotheses."""

    claim: Claim
    releases: tuple[Release, ...]
    limits: Mapping[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    fixed: Mapping[sympy.Symbol, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(isinstance(r.sampling, InOrder) for r in self.releases):
            raise InvalidInput(
                "sampling", "one pass", "batches or all records", "Give the release of one step, unsampled."
            )
        unknown = sorted(str(s) for s in self._free if s not in TABLE)
        if unknown:
            raise InvalidInput("symbols", unknown, "declared in the table", "Add them to bounds/language/symbols.py.")
        if len(self._noise_constants) > 1:
            found = [str(s) for s in self._noise_constants]
            raise InvalidInput("hidden constants of the noise", found, "one", "Give the others in `fixed`.")

    # Symbols -----------------------------------------------------------------------------------------
    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised; (eps, delta)-DP unless the claim says otherwise."""
        return self.claim.guarantee or ApproxDP(eps, delta)

    @property
    def relation(self) -> Relation:
        return self.guarantee.relation

    @cached_property
    def _defined(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Symbols that the statement, or a hypothesis of the form symbol = expression, defines."""
        found = {}
        equations = [c for c in self.claim.conditions if isinstance(c, sympy.Eq)]
        for relation in [self.claim.states, *equations]:
            if not isinstance(relation, sympy.core.relational.Relational):
                continue
            left, right = relation.args
            base, power = left.as_base_exp()
            if base.is_Symbol and power.is_number and base not in right.free_symbols and base not in (eps, delta):
                found[base] = right ** (1 / power)
        return found

    @cached_property
    def reads_statement(self) -> bool:
        """Whether the claim's own formula is in what is released or promised: if not, nothing here depends on it."""
        base = self.claim.subject.as_base_exp()[0]
        used = set().union(*(sympy.sympify(e).free_symbols for e in self.guarantee.parameters.values()))
        used = used.union(*(sympy.sympify(e).free_symbols for r in self.releases for e in r.numbers))
        for _ in self._defined:
            used = used.union(*(e.free_symbols for s, e in self._defined.items() if s in used))
        return base in self._defined and base in used

    def _plain(self, expr: Any) -> sympy.Expr:
        """Without the symbols that are defined by others."""
        expr = sympy.sympify(expr)
        for _ in range(len(self._defined) + 1):
            expr = expr.subs(self._defined)
        return expr

    def _given(self, expr: sympy.Basic) -> sympy.Basic:
        """With the fixed symbols' values."""
        return expr.subs({s: sympy.Rational(repr(float(v))) for s, v in self.fixed.items()})

    @cached_property
    def promised(self) -> dict[str, sympy.Expr]:
        """The parameters of the guarantee."""
        return {name: self._given(self._plain(value)) for name, value in self.guarantee.parameters.items()}

    @cached_property
    def expressions(self) -> tuple[tuple[sympy.Expr, ...], ...]:
        """Per release: ratio, steps, always and the numbers of its sampling, simplified."""
        return tuple(tuple(self._given(_simplified(self._plain(e))) for e in _in_one(r)) for r in self.releases)

    @cached_property
    def conditions(self) -> list[sympy.Basic]:
        """The claim's numeric hypotheses that are still open."""
        open_ = [self._given(self._plain(c)) for c in self.claim.conditions]
        return [c for c in open_ if c != sympy.true]

    @cached_property
    def constant(self) -> sympy.Symbol | None:
        """The hidden constant in the noise, if the claim only says that there is one."""
        return self._noise_constants[0] if self._noise_constants else None

    @cached_property
    def _noise_constants(self) -> list[sympy.Symbol]:
        used = set().union(*(e.free_symbols for es in self.expressions for e in es))
        return [s for s in self.claim.hidden if s in used]

    @cached_property
    def open_constants(self) -> list[sympy.Symbol]:
        """Hidden constants that stand in the hypotheses only."""
        free = set().union(*(c.free_symbols for c in self.conditions), set())
        return [s for s in self.claim.hidden if s in free and s != self.constant]

    @cached_property
    def names(self) -> list[sympy.Symbol]:
        """The symbols to search, in a fixed order."""
        known = {self.constant, *self.open_constants, *self.merged}
        return sorted(self._free - known, key=str)

    @property
    def _parts(self) -> list[sympy.Basic]:
        return [*self.promised.values(), *(e for es in self.expressions for e in es), *self.conditions]

    @cached_property
    def _free(self) -> set[sympy.Symbol]:
        return set().union(*(p.free_symbols for p in self._parts))

    @cached_property
    def merged(self) -> dict[sympy.Symbol, sympy.Symbol]:
        """Symbols that stand only in a product with another one, which is searched for both while they are 1."""
        found: dict[sympy.Symbol, sympy.Symbol] = {}
        hidden = {self.constant, *self.open_constants, *self.limits}
        able = sorted((s for s in self._free - hidden if TABLE[s].integer and TABLE[s].box[0] == 1), key=str)
        for one, other in combinations(able, 2):
            if one in found or other in found:
                continue
            if all(other not in _simplified(p.subs(one, one / other)).free_symbols for p in self._parts):
                found[other] = one
        return found

    @cached_property
    def box(self) -> dict[str, tuple[float, float]]:
        """Search ranges: `limits`, else the table's, cut by the hypotheses on one symbol."""
        found = {str(s): self._range(s) for s in self.names}
        for other, one in self.merged.items():
            low, high = found[str(one)]
            found[str(one)] = (low, high * TABLE[other].box[1])
        return found

    def _range(self, symbol: sympy.Symbol) -> tuple[float, float]:
        low, high = self.limits.get(symbol, TABLE[symbol].box)
        for condition in self.conditions:
            if condition.free_symbols == {symbol}:
                allowed = condition.as_set()
                low, high = max(low, float(allowed.inf)), min(high, float(allowed.sup))
        if not low <= high:
            raise InvalidInput(f"range of {symbol}", (low, high), "not empty", "Check box and hypotheses.")
        return low, high

    # Numbers -----------------------------------------------------------------------------------------
    @cached_property
    def _call(self) -> Any:
        everything = [*self.promised.values(), *(e for es in self.expressions for e in es)]
        return sympy.lambdify(self._arguments, everything, ["scipy", "numpy"], cse=True)

    @cached_property
    def _tests(self) -> Any:
        return [sympy.lambdify(self._arguments, c, ["scipy", "numpy"]) for c in self.conditions]

    @property
    def _arguments(self) -> list[sympy.Symbol]:
        own = [] if self.constant is None else [self.constant]
        return [*self.names, *self.merged, *own, *self.open_constants]

    def _columns(self, points: Points) -> list[Any]:
        return [np.asarray(points.get(str(s), 1.0), float) for s in self._arguments]

    def inside(self, points: Points) -> Array:
        """Where all hypotheses hold, and batches are no larger than what they are drawn from."""
        columns = self._columns(points)
        shape = np.broadcast_shapes(*(c.shape for c in columns))
        held = np.ones(shape, bool)
        with np.errstate(all="ignore"):
            for test in self._tests:
                held &= np.broadcast_to(np.asarray(test(*columns), bool), shape)
            for step in self.values(points).steps:
                held &= np.isfinite(step.ratio) & (step.ratio > 0) & (step.picked <= 1) & (step.picked > 0)
        return held

    def values(self, points: Points) -> Values:
        """Promise and releases at these points."""
        columns = self._columns(points)
        shape = np.broadcast_shapes(*(c.shape for c in columns))
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(np.asarray(v, float), shape) for v in self._call(*columns)]
        promise = dict(zip(self.promised, found, strict=False))
        rest, steps = found[len(promise) :], []
        for own, expressions in zip(self.releases, self.expressions, strict=True):
            ratio, count, always, *sizes = rest[: len(expressions)]
            rest = rest[len(expressions) :]
            most, fewest = (np.maximum(whole, 1.0) for whole in (np.ceil(count - 1e-9), np.floor(count + 1e-9)))
            picked = np.broadcast_to(share_picked(own.sampling, sizes), shape)
            steps.append(StepValues(ratio, most, always, picked, own, tuple(sizes), fewest))
        return Values(promise, tuple(steps))

    def ranges(self, low: Points, high: Points) -> Values:
        """The worst of promise and releases on each cell: least promise, largest ratio, steps and share picked."""
        box = self._cells(low, high)
        shape = np.shape(next(iter(low.values())))
        known = KnownRanges()
        promise = {k: np.broadcast_to(range_of(e, box, known)[0], shape) for k, e in self.promised.items()}
        steps = []
        for own, (ratio, count, always, *sizes) in zip(self.releases, self.expressions, strict=True):
            ends = [range_of(e, box, known) for e in sizes]
            most = [np.broadcast_to(range_of(e, box, known)[1], shape) for e in (ratio, count, always)]
            counted = np.maximum(np.ceil(most[1] - 1e-9), 1.0)
            picked = np.broadcast_to(np.minimum(most_picked(own.sampling, ends), 1.0), shape)
            least = tuple(np.broadcast_to(bottom, shape) for bottom, _ in ends)
            steps.append(StepValues(most[0], counted, most[2], picked, own, least))
        for i, (product, shared) in enumerate(self.products):
            top = [np.broadcast_to(range_of(e, box, known)[1], shape) for e in (product, shared)]
            steps[i] = replace(steps[i], product=top[0], shared=top[1])
        return Values(promise, tuple(steps))

    @cached_property
    def products(self) -> list[tuple[sympy.Expr, sympy.Expr]]:
        """steps (picked ratio)^2 and steps always^2 of each release: symbols that cancel do not widen their range."""
        found = []
        for own, (ratio, count, always, *sizes) in zip(self.releases, self.expressions, strict=True):
            rate = ONE if own.sampling is None else sizes[0] / sizes[1] if len(sizes) == 2 else sizes[0]
            whole = count if count.is_integer else count + 1
            found.append((_simplified(whole * (rate * ratio) ** 2), _simplified(whole * always**2)))
        return found

    def _cells(self, low: Points, high: Points) -> dict[str, Range]:
        one = np.asarray(1.0)
        return {name: (low[name], high[name]) for name in low} | {str(s): (one, one) for s in self.merged}

    def outside(self, low: Points, high: Points, about: str | None = None) -> Array:
        """Cells on which some hypothesis fails throughout; of all, or of those that join this symbol with others."""
        box, known = self._cells(low, high), KnownRanges()
        found = np.zeros(np.shape(next(iter(low.values()))), bool)
        for condition in self.conditions:
            if about is None or about in self.joined.get(condition, ()):
                found |= never_holds(condition, box, known)
        for own, (_, _, _, *sizes) in zip(self.releases, self.expressions, strict=True):
            if isinstance(own.sampling, WithoutReplacement):
                found |= range_of(sizes[0], box, known)[0] > range_of(sizes[1], box, known)[1]
        return found

    @cached_property
    def joined(self) -> dict[sympy.Basic, set[str]]:
        """The symbols of each hypothesis that joins several."""
        return {c: {str(s) for s in c.free_symbols} for c in self.conditions if len(c.free_symbols) > 1}

    def shrunk(self, low: Points, high: Points) -> tuple[Points, Points]:
        """Cells less the ends, of each side in turn, on which a hypothesis that joins several symbols fails."""
        low, high = dict(low), dict(high)
        for part in (1 / 2, 1 / 4, 1 / 8):
            for name in low:
                width = (high[name] / low[name]) ** part
                for end, cut in ((high, high[name] / width), (low, low[name] * width)):
                    slab = ({**low, name: cut}, high) if end is high else (low, {**high, name: cut})
                    end[name] = np.where(self.outside(*slab, about=name), cut, end[name])
        return low, high

    def released(self, point: Mapping[str, float]) -> tuple[batches.NoisySum, ...]:
        """What is released at one point, each `always` with a share of the noise of its own."""
        values = self.values({k: np.asarray(v, float) for k, v in point.items()})
        found = []
        for step in values.steps:
            parts = step.parts(self.relation)
            found.append(release_at(step, float(parts[0].ratio)))
            if len(parts) > 1:
                found.append(batches.every_record(float(parts[1].ratio), int(step.steps), noise_name(step.of.law)))
        return tuple(found)

    def attacked(self, point: Mapping[str, float]) -> list[tuple[batches.NoisySum, ...]]:
        """Parts of what is released at one point that an attacker may look at, each with all of its noise."""
        values = self.values({k: np.asarray(v, float) for k, v in point.items()})
        steps = [replace(step, steps=step.fewest) for step in values.steps if step.fewest is not None]
        found = [tuple(release_at(step, float(step.ratio)) for step in steps)]
        shared = [s for s in steps if s.of.always != 0]
        if shared:
            found.append(
                tuple(batches.every_record(float(s.always), int(s.steps), noise_name(s.of.law)) for s in shared)
            )
        return found

    def completed(self, point: Mapping[str, float]) -> dict[str, float]:
        """The point with the symbols that a product stands for."""
        return {**point, **{str(s): 1.0 for s in self.merged}, **{str(s): v for s, v in self.fixed.items()}}

    def shown(self) -> str:
        """The box in words."""
        ends = (f"{TABLE[s].printed} in [{self.box[str(s)][0]:g}, {self.box[str(s)][1]:g}]" for s in self.names)
        also = (pretty(c) for c in self.conditions if len(c.free_symbols) > 1)
        once = (
            f"{TABLE[b].printed} = 1 (only {TABLE[a].printed}·{TABLE[b].printed} counts)"
            for b, a in self.merged.items()
        )
        return ", ".join([*ends, *once, *also])


@lru_cache(maxsize=4096)
def _simplified(expr: sympy.Basic) -> sympy.Basic:
    return sympy.simplify(expr)


def _in_one(release: Release) -> list[sympy.Expr]:
    """Steps of Gaussian noise on sums of all records are one such step: what they have in common then cancels."""
    ratio, steps, *rest = release.numbers
    if isinstance(release.law, RESPONSES):  # its loss is that of Laplace noise with this ratio
        return [sympy.log((2 + ratio) / (2 - ratio)), steps, *rest]
    if release.sampling is None and isinstance(release.law, Gaussian) and steps.is_integer and rest == [ZERO]:
        return [ratio * sympy.sqrt(steps), ONE, ZERO]
    return [ratio, steps, *rest]
