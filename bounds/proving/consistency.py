"""A lower bound against every upper bound of the library: if one lies below the other, one of the two is false."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Verdict, lambdified
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.language.utility_case import CONVEX, STRONG, losses_of
from dpcheck.bounds.registry import entries

KEPT = ("n", "d", "eps", "delta", "gamma", "T")
UNIT = ("L", "G", "beta", "L_smooth", "mu", "D", "w_hat", "distance", "D_F", "gap0", "c", "c1", "c2")  # both sides at 1
WIDE, VANISHING = 6.0, 1.5  # a ratio that falls by this when logarithms are 6 times as long has no constant below it


@dataclass(frozen=True)
class Uncontradicted:
    """No upper bound on the same error, for losses the lower bound is about, falls below it without end.

    Both are true only up to constants, so what contradicts is a ratio upper/lower that keeps falling as the box
    of n, d, ε and δ is widened. Left out are upper bounds that the library itself corrects, and those in terms of
    other features of the problem, such as the width of its set.
    """

    points: int = 20_000
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        least, below = float("inf"), ""
        uppers = list(upper_bounds(claim))
        for upper in uppers:
            near, far = (least_ratio(claim, upper, wide, self.points, effort.seed) for wide in (1.0, WIDE))
            if far < near / VANISHING:
                below = f"{upper.id} lies below it: upper/lower falls from {near:.2g} to {far:.2g} in a wider box"
                break
            least = min(least, far)
        if below:
            return Evidence(self.kind, Verdict.UNCHECKED, below, "one of the two is false")
        figure = f"upper/lower at least {least:.3g} against {len(uppers)} upper bounds"
        detail = f"L, β, μ and D at 1; {self.points} points of n, d, ε, δ and T each, and as many in a wider box"
        return Evidence(self.kind, Verdict.SUPPORTED if uppers else Verdict.UNCHECKED, figure, detail)


def upper_bounds(lower: Claim) -> Iterator[Claim]:
    """Upper bounds of private methods on the same error, of the same losses, or of all convex ones."""
    covered = {CONVEX} if losses_of(lower) == CONVEX else {STRONG, CONVEX}
    claims = [entry.claim for entry in entries().values()]
    corrected = {claim.corrects for claim in claims}
    for claim in claims:
        names = {str(s) for s in claim.formula.free_symbols}
        private = claim.kind is Kind.UTILITY and "eps" in names and names <= {*KEPT, *UNIT}
        if private and claim.subject == lower.subject and losses_of(claim) in covered and claim.id not in corrected:
            yield claim


def least_ratio(lower: Claim, upper: Claim, wide: float, points: int, seed: int) -> float:
    """The least upper/lower over the symbols' boxes, their logarithms times `wide`, where both claims apply."""
    symbols = sorted(lower.symbols | upper.symbols, key=str)
    rng = np.random.default_rng(seed)
    values: dict[sympy.Symbol, np.ndarray] = {}
    for symbol in symbols:
        low, high = np.log(TABLE[symbol].box)
        low, high = (low if TABLE[symbol].integer else low * wide), (high * wide if high > 0 else high)
        share = rng.random(points)
        share[: points // 4] = np.round(share[: points // 4])  # slips show in corners
        kept = str(symbol) in KEPT
        values[symbol] = np.exp(low + share * (high - low)) if kept else np.ones(points)
        if kept and TABLE[symbol].integer:
            values[symbol] = np.maximum(1, np.round(values[symbol]))
    ratio = at(upper.formula, values) / at(lower.formula, values)
    for condition in (*lower.conditions, *upper.conditions):
        if all(str(s) in KEPT for s in condition.free_symbols):
            names = sorted(condition.free_symbols, key=str)
            with np.errstate(all="ignore"):
                held = sympy.lambdify(names, condition, "numpy")(*(values[s] for s in names))
            ratio = np.where(held, ratio, np.inf)
    return float(np.min(np.where(np.isfinite(ratio), ratio, np.inf)))


def at(expr: sympy.Expr, values: dict[sympy.Symbol, np.ndarray]) -> np.ndarray:
    """The expression at all points."""
    with np.errstate(all="ignore"):
        found = lambdified(expr)(*(values[s] for s in sorted(expr.free_symbols, key=str)))
    return np.broadcast_to(found, next(iter(values.values())).shape)
