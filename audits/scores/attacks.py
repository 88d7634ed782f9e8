"""Attacks: outputs to one score per run, the larger the more it speaks for the first dataset (or the second).

A score is a frozen value that can be called, pickled and described; `candidates` fits those worth trying.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from dpcheck.audits.outputs.columns import LARGEST, Ruler, telling
from dpcheck.audits.scores.bits import LowestBit, TrailingZeros
from dpcheck.audits.scores.densities import KnownRatio, LikelihoodRatio
from dpcheck.audits.scores.frequencies import finer, periods
from dpcheck.audits.scores.interactions import fit_parities
from dpcheck.audits.scores.learned import fit_logistic, fit_trees
from dpcheck.audits.scores.tables import Name, distinct, row_keys, table_of
from dpcheck.audits.scores.wide import fit_plain_projections, fit_wide
from dpcheck.bounds.language.errors import InvalidInput

NAMES = ("auto", "coordinates", "projections", "atoms", "histogram", "bits", "learned", "likelihood_ratio")
MOST_COORDINATES = 16
SURE = 1e150  # stands for infinity: its square is a number
MOST_ROWS = 30_000
MOST_LEARNED = 256  # columns
MOST_CELLS = 2 * 10**6  # of a logistic regression
ENOUGH_KEYS = 4096
MOST_VALUES = 64  # of a column that is counted together with others


class Score(Protocol):
    """Rows (m, k) to scores (m,), with a phrase for reports in the user's words for columns."""

    def __call__(self, rows: np.ndarray) -> np.ndarray: ...

    def phrase(self, name: Name) -> str: ...


@dataclass(frozen=True)
class Coordinate:
    """One column as it is."""

    column: int

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.column]

    def phrase(self, name: Name) -> str:
        return name(self.column)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Estimated log-likelihood ratio of a score, by cells; values that repeat have cells of their own."""

    base: Score
    edges: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return self.scores[np.searchsorted(self.edges, self.base(rows), side="right")]

    def phrase(self, name: Name) -> str:
        return f"log-likelihood ratio of {self.base.phrase(name)} (a histogram of {len(self.scores)} cells)"


@dataclass(frozen=True, eq=False)
class Additive:
    """Sum of the log-likelihood ratios of the columns: the ratio itself when their noises are independent."""

    parts: tuple[Score, ...] = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.sum([part(rows) for part in self.parts], axis=0)

    def phrase(self, name: Name) -> str:
        return f"sum of the log-likelihood ratios of {len(self.parts)} histograms"


@dataclass(frozen=True, eq=False)
class Polynomial:
    """Log-likelihood ratio as a logistic model of the standardised columns and their squares."""

    columns: np.ndarray = field(repr=False)
    centre: np.ndarray = field(repr=False)
    scale: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        # Contiguous, so that sums have the same bits for a single row as for many.
        z = np.clip((np.ascontiguousarray(rows[:, self.columns]) - self.centre) / self.scale, -30, 30)
        k = z.shape[1]
        return np.einsum("ij,j->i", z, self.weights[:k]) + np.einsum("ij,j->i", z * z, self.weights[k:])

    def phrase(self, name: Name) -> str:
        return "learned log-likelihood ratio (logistic in the outputs and their squares)"


@dataclass(frozen=True)
class Given:
    """Your own score of the outputs, for instance a known log-likelihood ratio."""

    function: Callable[[Any], Any]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        scores = np.asarray(self.function(rows[:, 0] if rows.shape[1] == 1 else rows), float)
        if scores.shape != (len(rows),):
            raise InvalidInput("shape of the attack's scores", scores.shape, f"({len(rows)},)", "One score per run.")
        if np.isnan(scores).any():
            raise InvalidInput("a score of the attack", "NaN", "a number", "Return -inf or inf for certainty.")
        return np.clip(scores, -SURE, SURE)

    def phrase(self, name: Name) -> str:
        return f"{getattr(self.function, '__name__', 'your attack')}(output)"


def checked_attack(attack: Any) -> Any:
    """A known name, a likelihood ratio or a callable."""
    if callable(attack) or isinstance(attack, LikelihoodRatio) or (isinstance(attack, str) and attack in NAMES):
        return attack
    limit = f"one of {', '.join(NAMES)}, likelihood_ratio(log_density), or a callable"
    raise InvalidInput("attack", attack, limit, "Use attack='auto'.")


class AimedName(str):
    """A named attack on a mechanism whose densities are known: their ratio on the pair at hand comes with it."""

    ratio: KnownRatio


def aimed(attack: Any, mechanism: Any, pair: tuple[Any, Any]) -> Any:
    """The attack on this pair. Known densities, given or the mechanism's own `log_density`, become a score."""
    if isinstance(attack, LikelihoodRatio):
        return attack.on(pair)
    own = getattr(mechanism, "log_density", None)
    if attack == "likelihood_ratio" and not callable(own):
        limit = "used on a mechanism with a method log_density(outputs, data)"
        raise InvalidInput("attack", attack, limit, "Pass attack=likelihood_ratio(log_density).")
    if attack not in ("auto", "likelihood_ratio") or not callable(own):
        return attack
    name = AimedName(attack)
    name.ratio = LikelihoodRatio(own).on(pair)
    return name


def candidates(attack: Any, first: np.ndarray, second: np.ndarray, discrete: bool, light: bool) -> list[Score]:
    """The scores an attack stands for, fitted on pilot rows of both datasets (tables are made elsewhere)."""
    if callable(attack):
        return [attack if isinstance(attack, KnownRatio) else Given(attack)]
    fitted: list[Score] = [attack.ratio] if isinstance(attack, AimedName) else []

    def wanted(name: str) -> bool:
        return attack in ("auto", name)

    columns = [Coordinate(j) for j in telling_columns(first, second)]
    if wanted("coordinates"):
        fitted += columns
    if wanted("projections") and first.shape[1] > 1:
        fitted += fit_plain_projections(first, second) if discrete else fit_wide(first, second, light)
    if wanted("histogram") and (not discrete or attack == "histogram"):
        cells = [fit_histogram(column, first, second) for column in columns]
        fitted += [*cells[:4], *([Additive(tuple(cells))] if len(cells) > 1 else [])]
        fitted += [] if light else fit_fine(cells, first, second)
    if attack == "bits":  # on request only: nearly every float implementation leaks there, whatever its noise
        fitted += [kind(column.column) for column in columns[:4] for kind in (TrailingZeros, LowestBit)]
    if attack == "auto" and first.shape[1] > 1 and not (discrete or light):  # tables know parities themselves
        fitted += fit_parities(first, second)
    known = isinstance(attack, AimedName)  # then there is nothing to learn
    if attack == "learned" or (attack == "auto" and first.shape[1] > 1 and not (discrete or light or known)):
        fitted += fit_learned(first, second)
    if attack == "auto" and first.shape[1] > 1 and not (discrete or light):
        fitted += fit_part_tables(first, second)
    return fitted


def distinct_share(first: np.ndarray, second: np.ndarray) -> float:
    """Distinct outputs over outputs; 1 where the first few thousand never repeat, as no table of them would help."""
    few = np.concatenate([first[:ENOUGH_KEYS], second[:ENOUGH_KEYS]])
    for part in (few[:, :1], few):  # often one column says it
        if len(distinct(np.sort(row_keys(part)))) == len(few):
            return 1.0
    keys = row_keys(np.concatenate([first, second]))
    return len(distinct(np.sort(keys))) / len(keys)


def fit_part_tables(first: np.ndarray, second: np.ndarray) -> list[Score]:
    """A table of the columns of few values, where they are some of all and what they say together repeats."""
    some = np.concatenate([first[:ENOUGH_KEYS], second[:ENOUGH_KEYS]])
    ordered = np.sort(some, axis=0)
    values = 1 + np.count_nonzero(ordered[1:] != ordered[:-1], axis=0)
    few = np.flatnonzero((values > 1) & (values <= MOST_VALUES))
    repeats = 2 <= len(few) < first.shape[1] and distinct_share(first[:, few], second[:, few]) < 1 / 3
    return [replace(table_of(first[:, few], second[:, few]).fitted()[0], columns=few)] if repeats else []


def telling_columns(first: np.ndarray, second: np.ndarray, most: int = MOST_COORDINATES) -> list[int]:
    """All columns if they are few, else those that differ most."""
    if first.shape[1] <= most:
        return list(range(first.shape[1]))
    ruler = Ruler.of_both(first, second)
    return telling(ruler.seen(first), ruler.seen(second), most)


def fit_histogram(base: Score, first: np.ndarray, second: np.ndarray) -> Histogram:
    """Cells of equal pooled mass, plus one for each value that holds more than a cell's share."""
    a, b = base(first), base(second)
    pooled = np.sort(np.concatenate([a, b]))
    cells = int(np.clip(len(pooled) ** (1 / 3), 4, 64))
    edges = np.unique(pooled[np.linspace(0, len(pooled) - 1, cells + 1)[1:-1].astype(int)])
    starts = np.flatnonzero(np.append(True, pooled[1:] != pooled[:-1]))
    counts = np.diff(starts, append=len(pooled))
    heavy = pooled[starts[counts > max(8, len(pooled) / cells / 4)]][:256]
    edges = np.unique(np.concatenate([edges, heavy, np.nextafter(heavy, np.inf)]))
    ours = np.bincount(np.searchsorted(edges, a, side="right"), minlength=len(edges) + 1)
    theirs = np.bincount(np.searchsorted(edges, b, side="right"), minlength=len(edges) + 1)
    ratio = np.log((ours + 0.5) / (len(a) + 0.5)) - np.log((theirs + 0.5) / (len(b) + 0.5))
    return Histogram(base, edges, ratio)


def fit_fine(cells: list[Histogram], first: np.ndarray, second: np.ndarray) -> list[Score]:
    """Narrower cells and periods, for the columns whose runs speak for them: most have neither, and cost little."""
    narrow = [refined(cell, first, second) for cell in cells]
    phases = [fit_histogram(phase, first, second) for phase in periods(first, second)]
    found: list[Score] = [one for one, cell in zip(narrow, cells, strict=True) if one is not cell]
    if found and len(cells) > 1:
        found.append(Additive(tuple(narrow)))
    if phases:
        found += [*phases[:4], Additive((*narrow, *phases))]
    return found


def refined(cell: Histogram, first: np.ndarray, second: np.ndarray) -> Histogram:
    """The same with more cells, if the runs speak for it."""
    found = finer(cell.base(first), cell.base(second), cell.edges)
    return cell if found is None else Histogram(cell.base, *found)


def fit_learned(first: np.ndarray, second: np.ndarray) -> list[Score]:
    """Logistic regression on columns and squares, and boosted trees: on rows and columns within limits."""
    columns = np.array(telling_columns(first, second, MOST_LEARNED))
    a, b = _tamed(first[:MOST_ROWS, columns]), _tamed(second[:MOST_ROWS, columns])
    pooled, side = np.concatenate([a, b]), np.repeat([1.0, 0.0], [len(a), len(b)])
    centre, scale = pooled.mean(axis=0), pooled.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    z = np.clip((pooled - centre) / scale, -30, 30)
    few = slice(None, None, -(-z.size // MOST_CELLS))
    polynomial = Polynomial(columns, centre, scale, fit_logistic(np.hstack([z, z * z])[few], side[few])[:-1])
    return [polynomial, fit_trees(pooled, side, columns)]


def _tamed(rows: np.ndarray) -> np.ndarray:
    """Infinite entries moved to the largest finite ones, and none so large that moments fail."""
    size = np.abs(rows)
    if size.max(initial=0.0) <= LARGEST:
        return rows
    edge = min(float(size[np.isfinite(size)].max(initial=1.0)), LARGEST)
    return np.clip(rows, -edge, edge)
