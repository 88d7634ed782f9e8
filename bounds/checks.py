"""The accountant and the worst-case check: numeric, each with an error bound.

The accountant searches the hypotheses' box for a point where the stated noise leaks more than stated, and
certifies the box if there is none. The worst-case check compares a stated constant with the exact one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sympy

from bounds import accounting, certificates, sampled_gaussian
from bounds.claim import Claim, Effort, Evidence, Verdict, lambdified
from bounds.errors import InvalidInput
from bounds.guarantees import gaussian_delta
from bounds.symbols import TABLE, delta, eps, n
from bounds.worst_case import WorstCase

LOOSE_FROM = 1.05  # a stated constant this much above the certified one is worth calling loose


@dataclass(frozen=True)
class GaussianAccountant:
    """One Gaussian release: `mu` is its true sensitivity over its noise, in eps and delta.

    `box` gives the search ranges; numeric hypotheses of the claim on eps and delta cut them.
    """

    mu: sympy.Expr
    because: str
    box: Mapping[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if self.mu.free_symbols - {eps, delta}:
            raise InvalidInput("mu", str(self.mu), "a function of eps and delta", "Substitute the other symbols.")
        box = self.ranges(claim)
        points = grid(box, 400 if effort.thorough else 160)
        excess = np.log(self.true_delta(points) + 1e-300) - np.log(points["delta"])
        worst = int(np.argmax(excess))
        if excess[worst] > 1e-6:
            raw = {k: float(v[worst]) for k, v in points.items()}
            plain = roundest(points, excess)
            found = self.replay(claim, plain)
            kept = found.verdict is Verdict.REFUTED and claim.violated_by(plain) is None
            return found if kept else self.replay(claim, raw)
        certificate = certificates.certify_gaussian_noise(
            lambda e, dl: lambdified_at(self.mu, {"eps": e, "delta": dl}), box["eps"], box["delta"]
        )
        where = f"eps in [{box['eps'][0]:g}, {box['eps'][1]:g}], delta in [{box['delta'][0]:g}, {box['delta'][1]:g}]"
        if not certificate.certified:
            return Evidence(self.kind, Verdict.UNCHECKED, f"undecided on {where}", self.because)
        wasted = self.noise_wasted(points)
        verdict = Verdict.LOOSE if wasted.min() > LOOSE_FROM else Verdict.CERTIFIED
        figure = f"noise {wasted.min():.3f} to {wasted.max():.3f} times what is needed"
        detail = f"{self.because}; exact curve on {certificate.cells} cells: {where}"
        return Evidence(self.kind, verdict, figure, detail, margin=float(wasted.min() - 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: np.asarray(float(point[k])) for k in ("eps", "delta")}
        true = float(self.true_delta(here))
        verdict = Verdict.REFUTED if true > here["delta"] * (1 + 1e-6) else Verdict.UNCHECKED
        figure = f"eps={here['eps']:g}: delta is {true:.3g}, stated {here['delta']:g}"
        shown = {k: float(v) for k, v in here.items()}
        return Evidence(self.kind, verdict, figure, self.because, true / shown["delta"] - 1, counterexample=shown)

    def true_delta(self, points: Mapping[str, Any]) -> Any:
        """The exact delta at the stated eps."""
        return gaussian_delta(points["eps"], lambdified_at(self.mu, points))

    def noise_wasted(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        """Stated noise over the least noise that would do, on a thinned grid."""
        thin = {k: v[:: max(1, len(v) // 400)] for k, v in points.items()}
        needed = np.array([accounting.gaussian_sigma(e, dl) for e, dl in zip(thin["eps"], thin["delta"], strict=True)])
        return 1 / (lambdified_at(self.mu, thin) * needed)

    def ranges(self, claim: Claim) -> dict[str, tuple[float, float]]:
        """Search box of eps and delta, cut by the claim's own conditions on them alone."""
        cut = {}
        for symbol in (eps, delta):
            low, high = self.box.get(symbol, TABLE[symbol].box)
            for condition in claim.conditions:
                if condition.free_symbols == {symbol}:
                    allowed = condition.as_set()
                    low, high = max(low, float(allowed.inf)), min(high, float(allowed.sup))
            cut[str(symbol)] = (low, high)
        return cut


@dataclass(frozen=True)
class SampledGaussianAccountant:
    """Noisy gradients of a random record (or batch), many steps: sound bounds from both sides.

    `multiplier` is the noise deviation over the Lipschitz constant, `steps` and `batch` are functions of n.
    The verdict speaks of the points tried, which the evidence lists: nothing is claimed between them.
    """

    multiplier: sympy.Expr
    steps: sympy.Expr
    because: str
    batch: int = 1
    sizes: Sequence[int] = (2, 5, 20, 100)
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        points = [
            {"eps": e, "delta": dl, "n": float(size)}
            for size in (*self.sizes, *((10 * self.sizes[-1],) if effort.thorough else ()))
            for e in ((0.1, 0.5, 1.0) if effort.thorough else (0.1, 1.0))
            for dl in (1e-1, 1e-3, 1e-5)
        ]
        bounds_at = [self.true_epsilon(p) for p in points]
        excess = [b.low / p["eps"] for b, p in zip(bounds_at, points, strict=True)]
        if max(excess) > 1 + 1e-6:
            return self.replay(claim, points[int(np.argmax(excess))])
        used = [b.high / p["eps"] for b, p in zip(bounds_at, points, strict=True)]
        if max(used) > 1:
            worst = points[int(np.argmax(used))]
            return Evidence(self.kind, Verdict.UNCHECKED, f"between the bounds at {worst}", self.because)
        sharper = 1 / self.least_factor(points)
        verdict = Verdict.LOOSE if sharper > LOOSE_FROM else Verdict.CERTIFIED
        figure = f"true eps at most {max(used):.3f} of stated; noise {sharper:.2f} times too large"
        detail = f"{self.because}; {len(points)} points, n in {list(self.sizes)}, delta in 1e-5..1e-1"
        return Evidence(self.kind, verdict, figure, detail, margin=sharper - 1)

    def least_factor(self, points: Sequence[Mapping[str, float]]) -> float:
        """By how much all noise may be multiplied so that every point still keeps its promise (eps 1, n up to 100)."""
        small = [p for p in points if p["n"] <= 100 and p["eps"] == 1.0]
        low, high = 0.05, 1.0
        while high / low > 1.05:
            middle = float(np.sqrt(low * high))
            keeps = all(self.true_epsilon(p, middle).high <= p["eps"] for p in small)
            low, high = (low, middle) if keeps else (middle, high)
        return high

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(point[k]) for k in ("eps", "delta", "n")}
        true = self.true_epsilon(here)
        verdict = Verdict.REFUTED if true.low > here["eps"] * (1 + 1e-6) else Verdict.UNCHECKED
        figure = f"eps is in [{true.low:.4g}, {true.high:.4g}], stated {here['eps']:g}"
        return Evidence(self.kind, verdict, figure, self.because, true.low / here["eps"] - 1, counterexample=here)

    def true_epsilon(self, point: Mapping[str, float], factor: float = 1.0) -> Any:
        """Sound lower and upper bound of the tight epsilon at this point."""
        multiplier = factor * float(lambdified_at(self.multiplier, point))
        steps = int(sympy.sympify(self.steps).subs(n, int(point["n"])))
        return sampled_gaussian.subsampled_gaussian_epsilon(
            multiplier, int(point["n"]), self.batch, steps, point["delta"]
        )


@dataclass(frozen=True)
class CompositionAccountant:
    """A composition theorem against the optimal composition of randomised responses, which is exact."""

    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        sizes = (1, 2, 5, 10, 50, 200, 1000) if effort.thorough else (1, 2, 10, 200)
        epsilons = np.geomspace(1e-3, 5, 25 if effort.thorough else 12)
        slacks = (0.3, 1e-2, 1e-5, 1e-9)
        points = [{"eps": float(e), "T": float(k), "delta1": s} for e in epsilons for k in sizes for s in slacks]
        used = [self.optimal(p) / float(claim.evaluate(**p)) for p in points]
        worst = int(np.argmax(used))
        if used[worst] > 1 + 1e-9:
            return self.replay(claim, points[worst])
        figure = f"optimal composition uses at most {used[worst]:.4f} of the stated epsilon"
        verdict = Verdict.LOOSE if used[worst] < 1 / LOOSE_FROM else Verdict.CERTIFIED
        detail = f"{self.because}; {len(points)} points, eps 1e-3 to 5, T up to {max(sizes)}, slack 1e-9 to 0.3"
        return Evidence(self.kind, verdict, figure, detail, margin=1 / used[worst] - 1)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(point[k]) for k in ("eps", "T", "delta1")}
        exact, stated = self.optimal(here), float(claim.evaluate(**here))
        verdict = Verdict.REFUTED if exact > stated * (1 + 1e-9) else Verdict.UNCHECKED
        figure = f"epsilon is {exact:.6g}, stated {stated:.6g}"
        return Evidence(self.kind, verdict, figure, self.because, exact / stated - 1, counterexample=here)

    def optimal(self, point: Mapping[str, float]) -> float:
        """The exact epsilon of T releases, each eps-DP, at delta = slack."""
        return accounting.optimal_composition(point["eps"], 0.0, int(point["T"])).epsilon(point["delta1"])


@dataclass(frozen=True)
class Exactness:
    """A stated constant against the exact worst case of performance estimation at several points.

    `worst(point)` solves the semidefinite program; `points` are numbers for the claim's symbols.
    """

    worst: Callable[[Mapping[str, float]], WorstCase]
    points: Sequence[Mapping[str, float]]
    because: str
    kind: ClassVar[str] = "worst-case"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        points = self.points if effort.thorough else self.points[:5]
        results = [(p, float(claim.evaluate(**p)), self.worst(p)) for p in points]
        point, stated, found = max(results, key=lambda r: r[2].lower / r[1])
        if found.lower > above(stated):
            return self.replay(claim, point)
        slack = np.array([s / w.value for _, s, w in results])
        gaps = max(w.gap for _, _, w in results)
        if any(w.value > above(s) for _, s, w in results):
            return Evidence(self.kind, Verdict.UNCHECKED, "the dual bound lies above the statement", self.because)
        verdict = Verdict.LOOSE if slack.min() > LOOSE_FROM else Verdict.CERTIFIED
        spread = f"{slack.min():.6f}" if np.ptp(slack) < 1e-4 else f"{slack.min():.3f} to {slack.max():.3f}"
        figure = f"stated / exact = {spread}"
        detail = f"{self.because}; {len(points)} programs, primal-dual gap at most {gaps:.1e}"
        return Evidence(self.kind, verdict, figure, detail, margin=float(slack.min() - 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(v) for k, v in point.items()}
        stated, found = float(claim.evaluate(**here)), self.worst(here)
        verdict = Verdict.REFUTED if found.lower > above(stated) else Verdict.UNCHECKED
        figure = f"worst case {found.lower:.6g}, stated at most {stated:.6g}"
        return Evidence(self.kind, verdict, figure, self.because, found.lower / stated - 1, counterexample=here)


@dataclass(frozen=True)
class Counted:
    """How often a claim holds in a printed table: each named list must hold in a share `least` of its rows."""

    rows: Mapping[str, Sequence[bool]]
    least: float
    because: str
    kind: ClassVar[str] = "property"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        figure = ", ".join(f"{name} in {sum(held)} of {len(held)} rows" for name, held in self.rows.items())
        shares = {name: sum(held) / len(held) for name, held in self.rows.items()}
        if min(shares.values()) >= self.least:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because)
        return Evidence(self.kind, Verdict.REFUTED, figure, self.because, counterexample=shares)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.run(claim, Effort())


def above(stated: float) -> float:
    """What a solved program must exceed to contradict a statement, at points whose scale is 1.

    The solver answers to about 1e-7, absolute: a worst case below 1e-3 is not told apart to five digits. (Lemma 5
    corrected at mu = 0.9, T = 5 comes out 7e-8 above its 7.3e-4.)
    """
    return stated * (1 + 1e-5) + 1e-6


def grid(box: Mapping[str, tuple[float, float]], size: int) -> dict[str, np.ndarray]:
    """A log-spaced product grid, flattened."""
    axes = [np.geomspace(lo, hi, size) for lo, hi in box.values()]
    return dict(zip(box, (a.ravel() for a in np.meshgrid(*axes, indexing="ij")), strict=True))


def roundest(points: Mapping[str, np.ndarray], excess: np.ndarray) -> dict[str, float]:
    """Among clear violations, the one with the smallest eps at a delta people use; rounded up."""
    bad = np.flatnonzero(excess > np.log(1.5)) if np.any(excess > np.log(1.5)) else np.flatnonzero(excess > 0)
    near = bad[np.argmin(np.abs(np.log(points["delta"][bad]) - np.log(1e-3)))]
    same = bad[points["delta"][bad] == points["delta"][near]]
    first = same[np.argmin(points["eps"][same])]
    up = 10.0 ** np.floor(np.log10(points["eps"][first]))
    return {
        "eps": float(np.ceil(points["eps"][first] / up * 10) / 10 * up),
        "delta": float(f"{points['delta'][first]:.0e}"),
    }


def lambdified_at(expr: sympy.Expr, values: Mapping[str, Any]) -> Any:
    """A vectorised evaluation by name."""
    names = sorted(sympy.sympify(expr).free_symbols, key=str)
    return lambdified(sympy.sympify(expr))(*(np.asarray(values[str(s)], float) for s in names))
