"""Outputs too wide to keep: a first part of the pilot is seen as it streams by, and says which columns to keep.

With them go summaries of the whole row: extremes, and projections learned on that first part. Memory is a few times
the width, however many runs there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcheck.audits.outputs.columns import ColumnSums, Ruler, telling
from dpcheck.audits.outputs.encoding import Encoding, shortened
from dpcheck.audits.scores.wide import MOST_SQUARE, Extreme, Laws, Projection, fit_extremes, fit_projections
from dpcheck.audits.trials.executor import Chunk, Runner

KEPT_COLUMNS = 256
KEPT_CELLS = 5 * 10**6  # numbers of whole rows, per dataset, for correlations


@dataclass(frozen=True)
class Narrowed(Encoding):
    """Some columns of the whole rows, then their summaries; those that nobody reads stay 0. `width` is of the whole."""

    width: int
    whole: Encoding
    columns: tuple[int, ...]
    summaries: tuple[Extreme | Projection | None, ...] = field(repr=False)

    def __call__(self, raw: Any) -> np.ndarray:
        rows = self.whole(raw)
        summaries = [np.zeros(len(rows)) if summary is None else summary(rows) for summary in self.summaries]
        return np.column_stack([rows[:, list(self.columns)], *summaries])

    def name(self, column: int) -> str:
        if column < len(self.columns):
            return self.whole.name(self.columns[column])
        summary = self.summaries[column - len(self.columns)]
        return "0" if summary is None else f"({summary.phrase(self.whole.name)})"

    def shown(self, row: np.ndarray) -> str:
        return shortened(", ".join(f"{self.name(j)} = {row[j]:.6g}" for j in range(len(self.columns))))

    def read_by(self, score: Any) -> Narrowed:
        """Without the summaries that a score does not read."""
        read = columns_read(score)
        if read is None:
            return self
        kept = {column - len(self.columns) for column in read}
        summaries = tuple(summary if i in kept else None for i, summary in enumerate(self.summaries))
        return replace(self, summaries=summaries)


def columns_read(score: Any) -> set[int] | None:
    """The columns a score reads, or None: perhaps all."""
    if hasattr(score, "base"):
        return columns_read(score.base)
    if hasattr(score, "column"):
        return {int(score.column)}
    return {int(column) for column in score.columns} if hasattr(score, "columns") else None


@dataclass(frozen=True, eq=False)
class Glance:
    """What a chunk shows of each column, and its rows while there is room for them."""

    whole: Encoding
    ruler: Ruler
    room: int

    def __call__(self, outputs: Any, chunk: Chunk) -> tuple[ColumnSums, np.ndarray]:
        rows = self.whole(outputs)
        return self.ruler.seen(rows), rows[: max(0, self.room - chunk.first)].copy()


@dataclass(frozen=True, eq=False)
class Keep:
    """The narrowed rows of a chunk."""

    narrowed: Narrowed

    def __call__(self, outputs: Any, chunk: Chunk) -> np.ndarray:
        return self.narrowed(outputs)


def narrowed_pilot(
    runner: Runner, probe: np.ndarray, whole: Encoding, work: list[Chunk]
) -> tuple[Narrowed, np.ndarray, np.ndarray]:
    """Half of the work to see which columns tell the datasets apart, and rows of these from the other half."""
    middle = 2 * (len(work) // 4)
    glance = Glance(whole, Ruler.of(probe), max(1, KEPT_CELLS // whole.width))
    seen: list[ColumnSums | None] = [None, None]
    kept: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for chunk, (columns, rows) in runner.results(work[:middle], glance):
        before = seen[chunk.side]
        seen[chunk.side] = columns if before is None else before + columns
        kept[chunk.side].append(rows)
    assert seen[0] is not None
    assert seen[1] is not None
    narrowed = narrowed_by(whole, glance.ruler, (seen[0], seen[1]), (np.concatenate(kept[0]), np.concatenate(kept[1])))
    sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for chunk, rows in runner.results(work[middle:], Keep(narrowed)):
        sides[chunk.side].append(rows)
    return narrowed, np.concatenate(sides[0]), np.concatenate(sides[1])


def narrowed_by(
    whole: Encoding, ruler: Ruler, seen: tuple[ColumnSums, ColumnSums], rows: tuple[np.ndarray, np.ndarray]
) -> Narrowed:
    """The columns that differ most, and summaries of the rest."""
    laws = Laws.of(ruler, *seen, *rows, MOST_SQUARE)
    extremes = fit_extremes(Ruler(laws.centre, laws.scale, ruler.edges[:0]))
    columns = tuple(telling(*seen, KEPT_COLUMNS))
    return Narrowed(whole.width, whole, columns, (*extremes, *fit_projections(laws)))
