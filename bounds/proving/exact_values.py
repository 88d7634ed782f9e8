"""A stated bound against the exact value of what it bounds, where that is computed and has no formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict, bounds_above
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.privacy.worst_points import Field, Points, most_usual, roundest, stacked, worst_points

CLEARLY = 1e-6  # what a computed value must exceed a bound by: its error is smaller


@dataclass(frozen=True)
class ExactValue:
    """`value(point)` is the exact value of the claim's subject, for arrays of numbers by the names of the symbols.

    Searched over `box` within the hypotheses: a point above the claim's own right-hand side refutes it. None found is
    SUPPORTED: a search proves nothing.
    """

    value: Callable[[Points], np.ndarray]
    box: Mapping[sympy.Symbol, tuple[float, float]]
    because: str
    samples: int = 400
    unit: Mapping[sympy.Symbol, float] = field(default_factory=dict)  # symbols that both sides have as a factor
    kind: ClassVar[str] = "exact"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not bounds_above(claim):
            return Evidence(self.kind, Verdict.UNCHECKED, "a lower bound: this is a search above one", self.because)
        samples = self.samples * (4 if effort.thorough else 1)
        tried = worst_points(lambda points: self.excess(claim, points), self.searched, effort.seed, samples)
        if len(next(iter(tried.values()))) == 0:
            return Evidence(self.kind, Verdict.UNCHECKED, "no point tried meets the hypotheses", self.because)
        excess = self.excess(claim, tried)
        most = float(excess[0])
        if most > CLEARLY:
            enough = max(CLEARLY, most / 4)
            clear = {name: values[excess > enough] for name, values in tried.items()}
            usual = most_usual(clear, self.searched)
            point = {name: float(values[usual]) for name, values in clear.items()}
            return self.replay(claim, roundest(point, lambda p: self.at(claim, p) > enough, self.searched))
        figure = f"at most {math.exp(most):.4g} of the bound at {len(next(iter(tried.values())))} points"
        ends = ", ".join(f"{TABLE[s].printed} in [{low:g}, {high:g}]" for s, (low, high) in self.box.items())
        return Evidence(self.kind, Verdict.SUPPORTED, figure, f"{self.because}; {ends}", math.exp(-most) - 1)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {str(s): float(point[str(s)]) for s in self.box}
        all_ = {**here, **{str(s): float(v) for s, v in self.unit.items()}}
        exact, stated = float(self.value(stacked([here]))[0]), self.stated(claim, stacked([here]))[0]
        verdict = Verdict.REFUTED if self.at(claim, here) > CLEARLY else Verdict.UNCHECKED
        figure = f"is {exact:.4g}, stated at most {stated:.4g}"
        return Evidence(self.kind, verdict, figure, self.because, exact / stated - 1, counterexample=all_)

    @property
    def searched(self) -> Field:
        """Where to search."""
        whole = frozenset(str(s) for s in self.box if TABLE[s].integer)
        return Field({str(s): ends for s, ends in self.box.items()}, whole)

    def at(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The logarithm of value over bound at one point."""
        return float(self.excess(claim, stacked([point]))[0])

    def excess(self, claim: Claim, points: Points) -> np.ndarray:
        """The same at many, -inf outside of the hypotheses."""
        held = np.ones(np.shape(next(iter(points.values()))), bool)
        for condition in claim.conditions:
            held &= np.asarray(self.evaluated(condition, points), bool)
        found = np.full(held.shape, -np.inf)
        inside = {name: values[held] for name, values in points.items()}
        with np.errstate(all="ignore"):
            ratio = np.log(self.value(inside)) - np.log(self.stated(claim, inside))
        found[held] = np.where(np.isnan(ratio), -np.inf, ratio)
        return found

    def stated(self, claim: Claim, points: Points) -> np.ndarray:
        """The claim's own right-hand side."""
        return np.broadcast_to(self.evaluated(claim.formula, points), np.shape(next(iter(points.values()))))

    def evaluated(self, expr: sympy.Basic, points: Points) -> Any:
        """An expression or a condition, at arrays of numbers by the names of its symbols."""
        expr = expr.subs(dict(self.unit))
        names = sorted(expr.free_symbols, key=str)
        with np.errstate(all="ignore"):
            return sympy.lambdify(names, expr, ["scipy", "numpy"])(*(points[str(s)] for s in names))
