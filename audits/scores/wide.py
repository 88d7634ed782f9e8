"""Scores of wide outputs: extremes over all columns, projections that are learned with shrinkage, and quadratics.

What is fitted here is fitted on one part of a pilot and judged on another, so several degrees of shrinkage may compete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import linalg

from dpcheck.audits.outputs.columns import BLOCK, LARGEST, SMALLEST, ColumnSums, Ruler, tamed

Name = Callable[[int], str]
Kind = Literal["largest", "smallest", "farthest", "energy"]
MOST_SQUARE = 1500  # columns for which a covariance matrix is kept
MOST_LIGHT = 64  # the same when many pairs of datasets are compared
MOST_WORK = 2 * 10**10  # rows times squared columns of a covariance
SHRINKAGES = (1e-3, 1e-8, 1e-5, 0.1)  # towards uncorrelated columns
KINDS: tuple[Kind, ...] = ("largest", "smallest", "farthest", "energy")
PARTS = (2, 4, 8, 16, 32)  # columns of a quadratic
FEWEST_RUNS = 10


def row_by_row(rows: np.ndarray, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A score of each row, some rows at a time: what it makes on the way stays small."""
    step = max(1, BLOCK // max(1, rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(np.concatenate([score(rows[i : i + step]) for i in range(0, max(1, len(rows)), step)]))


def finite(scores: np.ndarray) -> np.ndarray:
    """Scores of outputs that are infinite, or near the largest float, as numbers whose squares are numbers too."""
    if np.abs(scores).max(initial=0.0) <= LARGEST:  # which no NaN is
        return scores
    return np.nan_to_num(np.clip(scores, -LARGEST, LARGEST), nan=0.0)


@dataclass(frozen=True, eq=False)
class Projection:
    """A weighted sum of the columns."""

    weights: np.ndarray = field(repr=False)
    name: str

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # einsum, not BLAS: the same bits for any size of block
            return finite(np.einsum("ij,j->i", rows, self.weights))

    def phrase(self, name: Name) -> str:
        """In words, with the largest weights where they are few."""
        heavy = np.flatnonzero(self.weights)
        if len(heavy) > 3:
            return f"projection on the {self.name}"
        terms = [f"{self.weights[j]:+.4g} * {name(int(j))}" for j in heavy]
        return " ".join(terms).removeprefix("+")


@dataclass(frozen=True, eq=False)
class Clipped:
    """A weighted sum of the standardised columns, each clipped: outliers of heavy tails do not drown it."""

    ruler: Ruler = field(repr=False)
    weights: np.ndarray = field(repr=False)

    def clipped(self, rows: np.ndarray) -> np.ndarray:
        """Columns between -1 and 1."""
        return np.clip((rows - self.ruler.centre) / self.ruler.scale, -1, 1)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return row_by_row(rows, lambda part: np.einsum("ij,j->i", self.clipped(part), self.weights))

    def phrase(self, name: Name) -> str:
        """In words."""
        return "projection on the difference of the means of the clipped outputs"


@dataclass(frozen=True, eq=False)
class Extreme:
    """The most extreme of the standardised columns, or the sum of their squares: a leak in any one of them shows."""

    ruler: Ruler = field(repr=False)
    kind: Kind

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return row_by_row(rows, self._of)

    def _of(self, rows: np.ndarray) -> np.ndarray:
        z = (rows - self.ruler.centre) / self.ruler.scale
        if self.kind == "largest":
            return np.asarray(z.max(axis=1))
        if self.kind == "smallest":
            return np.asarray(z.min(axis=1))
        if self.kind == "farthest":
            return np.asarray(np.abs(z).max(axis=1))
        return np.einsum("ij,ij->i", z, z)

    def phrase(self, name: Name) -> str:
        """In words."""
        if self.kind == "energy":
            return "sum of the squares of the standardised outputs"
        kind = "largest distance from the centre among" if self.kind == "farthest" else f"{self.kind} of"
        return f"{kind} the {len(self.ruler.centre)} standardised outputs"


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Log-likelihood ratio of two Gaussians that differ in means and covariances along some directions."""

    columns: np.ndarray = field(repr=False)
    centre: np.ndarray = field(repr=False)
    directions: np.ndarray = field(repr=False)  # (columns, directions)
    linear: np.ndarray = field(repr=False)
    curvature: np.ndarray = field(repr=False)
    level: float

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return row_by_row(rows, self._of)

    def _of(self, rows: np.ndarray) -> np.ndarray:
        # One direction after the other, on rows that lie one after the other: the same bits for a single row, too.
        z = np.ascontiguousarray(rows[:, self.columns]) - self.centre
        total = np.full(len(z), self.level)
        for direction, linear, bent in zip(self.directions.T, self.linear, self.curvature, strict=True):
            along = np.einsum("ij,j->i", z, np.ascontiguousarray(direction))
            total += (linear + bent * along) * along
        return total

    def phrase(self, name: Name) -> str:
        """In words, with the columns where they are few."""
        few = len(self.columns) <= 4
        of = " and ".join(name(int(j)) for j in self.columns) if few else f"{len(self.columns)} outputs"
        return f"quadratic discriminant of {of}"


WideScore = Projection | Clipped | Extreme | Quadratic


def fit_wide(first: np.ndarray, second: np.ndarray, light: bool) -> list[WideScore]:
    """Extremes, projections and quadratics, fitted on rows of both datasets; `light` does without the costly ones."""
    ruler = Ruler.of_both(first, second)
    laws = Laws.of(ruler, ruler.seen(first), ruler.seen(second), first, second, MOST_LIGHT if light else MOST_SQUARE)
    return [*fit_extremes(ruler), fit_clipped(ruler, first, second), *fit_projections(laws), *fit_quadratics(laws)]


def fit_plain_projections(first: np.ndarray, second: np.ndarray) -> list[Projection]:
    """Two of them, for discrete outputs: there tables do the rest, and more candidates only mean more lucky ones."""
    plain = ("difference of the means", f"linear discriminant, shrunk by {SHRINKAGES[0]:g}")
    return [projection for name, projection in _projections(first, second).items() if name in plain]


def fit_extremes(ruler: Ruler) -> list[Extreme]:
    """All four."""
    return [Extreme(ruler, kind) for kind in KINDS]


@dataclass(frozen=True, eq=False)
class Laws:
    """Means and covariances on both datasets of the columns about a common centre, over a common scale."""

    centre: np.ndarray
    scale: np.ndarray
    means: np.ndarray  # (2, width)
    spreads: np.ndarray | None  # (2, width, width), unless there are more columns than can be paired
    runs: tuple[int, int]
    rows: np.ndarray  # some standardised rows about their own means, of both datasets

    @classmethod
    def of(
        cls, ruler: Ruler, one: ColumnSums, two: ColumnSums, first: np.ndarray, second: np.ndarray, most: int
    ) -> Laws:
        """From columns seen in many runs, of which these rows were kept; pairs of at most so many columns are kept."""
        centre, gap = ruler.centre + (one.mean + two.mean) / 2, np.abs(one.mean - two.mean)
        scale = np.sqrt((one.variance + two.variance) / 2)
        # Without any noise the means say it all: a column that never varies is taken to vary by little.
        scale = np.where(scale > SMALLEST, scale, np.where(gap > SMALLEST, 1e-3 * gap, 1.0))
        means = np.array([seen.mean + ruler.centre - centre for seen in (one, two)]) / scale
        count, width = min(len(first), len(second)), len(scale)
        most_rows = max(FEWEST_RUNS, BLOCK // width)
        shown = zip((first[:most_rows], second[:most_rows]), means, strict=True)
        some = [(tamed(side) - centre) / scale - mean for side, mean in shown]
        spreads = None
        if count >= FEWEST_RUNS and width <= min(most, count):
            rows = MOST_WORK // width**2
            sides = zip((first[:rows], second[:rows]), means, strict=True)
            spreads = np.array([_spread(side, centre + scale * mean, scale) for side, mean in sides])
        return cls(centre, scale, means, spreads, (one.runs, two.runs), np.concatenate(some))

    @property
    def gap(self) -> np.ndarray:
        """Of the standardised means."""
        return np.asarray(self.means[0] - self.means[1])

    @property
    def standing_out(self) -> float:
        """The size that none of as many gaps without cause would reach."""
        return float(np.sqrt(2 * np.log(len(self.scale) + 1) * (1 / self.runs[0] + 1 / self.runs[1])))


def _spread(rows: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The covariance of standardised rows, some rows at a time."""
    total, step = np.zeros((len(scale), len(scale))), max(1, BLOCK // len(scale))
    for i in range(0, len(rows), step):
        z = (tamed(rows[i : i + step]) - centre) / scale
        total += z.T @ z
    return total / len(rows)


def fit_projections(laws: Laws) -> list[Projection]:
    """Directions along which the means differ, from columns taken one by one to no shrinkage at all."""
    gap, scale = laws.gap, laws.scale
    if not np.any(gap):
        return []
    strong = np.where(np.abs(gap) > laws.standing_out, gap, 0.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of columns with next to no noise
        found = [
            (gap * scale, "difference of the means"),
            (gap / scale, "difference of the means over the variances"),
            (strong / scale, "difference of the means where it stands out"),
            (1 / scale, "sum of the standardised outputs"),
            *((weights / scale, f"linear discriminant, {how}") for how, weights in discriminants(laws).items()),
        ]
    return [
        Projection(weights / np.abs(weights).max(), name)
        for weights, name in found
        if np.any(weights) and np.isfinite(weights).all()
    ]


def best_projection(first: np.ndarray, second: np.ndarray) -> Projection | None:
    """The projection that parts the means most in noise: the kind is chosen on a half that it was not fitted to."""
    half = (len(first) // 2, len(second) // 2)
    kinds = _projections(first[: half[0]], second[: half[1]])
    best, name = 0.0, ""
    for kind, projection in kinds.items():
        a, b = projection(first[half[0] :]), projection(second[half[1] :])
        apart = abs(float(a.mean() - b.mean())) / (float(np.sqrt(a.var() + b.var())) + 1e-300)
        best, name = (apart, kind) if apart > best else (best, name)
    whole = _projections(first, second)
    return whole.get(name, next(iter(whole.values()), None))


def _projections(first: np.ndarray, second: np.ndarray) -> dict[str, Projection]:
    ruler = Ruler.of_both(first, second)
    laws = Laws.of(ruler, ruler.seen(first), ruler.seen(second), first, second, MOST_SQUARE)
    return {one.name: one for one in fit_projections(laws)}


def discriminants(laws: Laws) -> dict[str, np.ndarray]:
    """Weights of standardised columns: correlations shrunk by several amounts, and by that of Ledoit and Wolf.

    The first is of what each column adds to those before it, where the gap of that stands out from its error: it finds
    the one step of a process that differs.
    """
    if laws.spreads is None:
        return discriminants_by_rows(laws)
    correlation = laws.spreads.mean(axis=0)
    values, vectors = np.linalg.eigh(correlation)
    turned, values = vectors.T @ laws.gap, np.maximum(values, 0.0)
    amounts = shrinkages(laws.rows, values, min(laws.runs))
    lower = np.linalg.cholesky((1 - 1e-6) * correlation + 1e-6 * np.eye(len(values)))
    steps = linalg.solve_triangular(lower, laws.gap, lower=True)
    steps = linalg.solve_triangular(lower.T, np.where(np.abs(steps) > laws.standing_out, steps, 0.0), lower=False)
    shrunk = {how: vectors @ (turned / ((1 - share) * values + share)) for how, share in amounts.items()}
    return {"steps that stand out": steps, **shrunk}


def discriminants_by_rows(laws: Laws) -> dict[str, np.ndarray]:
    """The same where columns are more than rows or too many to pair: Woodbury's identity on some rows."""
    rows = laws.rows[:: max(1, len(laws.rows) // MOST_SQUARE)]
    if len(rows) < FEWEST_RUNS:
        return {}
    values, vectors = np.linalg.eigh(rows @ rows.T / len(rows))
    within, values = vectors.T @ (rows @ laws.gap) / len(rows), np.maximum(values, 0.0)
    found = {}
    for how, share in shrinkages(rows, values, len(rows)).items():
        inner = vectors @ ((1 - share) * within / ((1 - share) * values + share))
        found[how] = laws.gap - rows.T @ inner
    return found


def shrinkages(rows: np.ndarray, eigenvalues: np.ndarray, runs: int) -> dict[str, float]:
    """Shares of the identity in a correlation that is to be inverted."""
    fixed = {f"shrunk by {share:g}": share for share in SHRINKAGES}
    return {**fixed, "Ledoit-Wolf": ledoit_wolf(rows, eigenvalues, runs)}


def ledoit_wolf(rows: np.ndarray, eigenvalues: np.ndarray, runs: int) -> float:
    """The share of the identity that brings a sample correlation of `runs` nearest to the truth (2004, section 3.3)."""
    size = float((eigenvalues**2).sum())  # squared norm of the correlation, or of the Gram matrix: the same
    apart = size - float(eigenvalues.sum()) ** 2 / rows.shape[1]
    noise = (float((np.einsum("ij,ij->i", rows, rows) ** 2).mean()) - size) / runs
    return float(np.clip(noise / apart, min(SHRINKAGES), 1.0)) if apart > 0 else 1.0


def fit_clipped(ruler: Ruler, first: np.ndarray, second: np.ndarray) -> Clipped:
    """Weights: the gap of the clipped columns' means over their variances."""
    blank = Clipped(ruler, np.ones(first.shape[1]))
    moments = []
    for side in (first, second):
        total, squares, step = np.zeros(side.shape[1]), np.zeros(side.shape[1]), max(1, BLOCK // side.shape[1])
        for i in range(0, len(side), step):
            part = blank.clipped(side[i : i + step])
            total, squares = total + part.sum(axis=0), squares + (part * part).sum(axis=0)
        moments.append((total / len(side), squares / len(side)))
    (one, one_square), (two, two_square) = moments
    variance = (one_square - one**2 + two_square - two**2) / 2
    return Clipped(ruler, (one - two) / np.maximum(variance, 1e-6))


def fit_quadratics(laws: Laws) -> list[Quadratic]:
    """Of the columns whose covariances differ most, two and more; and along the directions that differ most."""
    if laws.spreads is None:
        return []
    width, order = len(laws.scale), columns_that_differ(laws.spreads)
    most = min(len(order), min(laws.runs) // 4)
    found = [along(laws, order[:k], np.eye(k)) for k in sorted({min(k, most) for k in PARTS} - {0, 1})]
    if width > PARTS[0]:
        values, vectors = np.linalg.eigh(laws.spreads[0] - laws.spreads[1])
        strongest = np.argsort(-np.abs(values), kind="stable")
        found += [along(laws, np.arange(width), vectors[:, strongest[:k]]) for k in (1, 4) if k < width]
    return found


def columns_that_differ(spreads: np.ndarray) -> np.ndarray:
    """Columns in the order in which the pairs with the largest gaps of covariance, over their errors, name them."""
    noise = sum(spread**2 + np.outer(np.diagonal(spread), np.diagonal(spread)) for spread in spreads)
    gap = np.triu(np.abs(spreads[0] - spreads[1]) / np.sqrt(noise + 1e-300))
    most = min(gap.size, 4 * PARTS[-1] ** 2)
    places = np.argpartition(-gap, most - 1, axis=None)[:most]
    places = places[np.argsort(-gap.flat[places], kind="stable")]
    named = np.stack(np.unravel_index(places, gap.shape), axis=1).reshape(-1)
    return np.array(list(dict.fromkeys(named.tolist())))


def along(laws: Laws, columns: np.ndarray, basis: np.ndarray) -> Quadratic:
    """The log-likelihood ratio of what the basis shows of these columns, in directions that make it diagonal."""
    assert laws.spreads is not None
    one, two = (basis.T @ spread[np.ix_(columns, columns)] @ basis for spread in laws.spreads)
    # One covariance is diag(values) there, the other diag(2 - values), their mean the identity.
    values, vectors = linalg.eigh(one, (one + two) / 2 + 1e-6 * np.eye(len(one)))
    share = min(0.5, len(values) / min(laws.runs))
    ours = np.clip((1 - share) * values + share, 1e-6, 2 - 1e-6)
    theirs = 2 - ours
    one, two = (vectors.T @ (basis.T @ mean[columns]) for mean in laws.means)
    turned = (basis @ vectors) / laws.scale[columns][:, None]
    level = float((np.log(theirs / ours) - one**2 / ours + two**2 / theirs).sum() / 2)
    bent = (1 / theirs - 1 / ours) / 2
    return Quadratic(columns, laws.centre[columns], turned, one / ours - two / theirs, bent, level)
