"""Columns at a glance: running moments, cells and extremes of every column, in memory that the runs do not fill.

They say which of a million columns differ between two datasets: by mean, spread, shape, or the far tail alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

RULER_ROWS = 1000
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
LARGEST = 1e70  # entries beyond, infinite ones among them, count as this: its fourth power is a number
SMALLEST = 1e-140  # spreads below count as none: their squares are no numbers
BLOCK = 2**20  # numbers that are worked on at a time


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What was seen of each column: runs, sums about a centre, how often it passed each edge, and its extremes."""

    runs: int
    total: np.ndarray = field(repr=False)
    squares: np.ndarray = field(repr=False)
    above: np.ndarray = field(repr=False)  # (edges, width)
    highest: np.ndarray = field(repr=False)
    lowest: np.ndarray = field(repr=False)

    def __add__(self, more: ColumnSums) -> ColumnSums:
        return ColumnSums(
            self.runs + more.runs,
            self.total + more.total,
            self.squares + more.squares,
            self.above + more.above,
            np.maximum(self.highest, more.highest),
            np.minimum(self.lowest, more.lowest),
        )

    @property
    def mean(self) -> np.ndarray:
        """Of each column, from its centre."""
        return self.total / self.runs

    @property
    def variance(self) -> np.ndarray:
        """Of each column."""
        return np.maximum(self.squares / self.runs - self.mean**2, 0.0)


@dataclass(frozen=True, eq=False)
class Ruler:
    """A centre, a scale and edges for each column, from a few rows of both datasets together: no label is read."""

    centre: np.ndarray = field(repr=False)
    scale: np.ndarray = field(repr=False)
    edges: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, rows: np.ndarray) -> Ruler:
        """Quantiles; a column that never varies has scale 1."""
        low, high = np.quantile(tamed(rows), (0.25, 0.75), axis=0, method="nearest")
        edges = np.quantile(tamed(rows), QUANTILES, axis=0, method="nearest")
        spread = np.where(high > low, (high - low) / 2, tamed(rows).std(axis=0))
        return cls(edges[len(edges) // 2], np.where(spread > SMALLEST, spread, 1.0), edges)

    @classmethod
    def of_both(cls, first: np.ndarray, second: np.ndarray) -> Ruler:
        """From the first rows of either."""
        most = min(RULER_ROWS, max(16, BLOCK // first.shape[1])) // 2
        return cls.of(np.concatenate([first[:most], second[:most]]))

    def seen(self, rows: np.ndarray) -> ColumnSums:
        """The columns of these rows."""
        width = rows.shape[1]
        step = max(1, BLOCK // max(1, width))
        parts = [self._seen(rows[i : i + step]) for i in range(0, len(rows), step)]
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found

    def _seen(self, rows: np.ndarray) -> ColumnSums:
        rows = tamed(rows)
        z = rows - self.centre
        above = np.stack([(rows > edge).sum(axis=0) for edge in self.edges])
        return ColumnSums(len(rows), z.sum(axis=0), (z * z).sum(axis=0), above, rows.max(axis=0), rows.min(axis=0))


def tamed(rows: np.ndarray) -> np.ndarray:
    """No entry so large that moments fail."""
    return np.clip(rows, -LARGEST, LARGEST)


def telling(first: ColumnSums, second: ColumnSums, most: int) -> list[int]:
    """The columns that differ most by means, spreads, shares above an edge and extremes, taken from each in turn."""
    share = 1 / first.runs + 1 / second.runs
    one, two = first.variance, second.variance
    noise = np.sqrt(one / first.runs + two / second.runs) + 1e-300
    means = np.abs(first.mean - second.mean) / noise
    spreads = np.abs(one - two) / (one + two + 1e-300)
    pooled = (first.above + second.above) / (first.runs + second.runs)
    gaps = np.abs(first.above / first.runs - second.above / second.runs)
    shapes = (gaps / np.sqrt(pooled * (1 - pooled) * share + 1e-300)).max(axis=0)
    reach = np.maximum(np.abs(first.highest - second.highest), np.abs(first.lowest - second.lowest))
    tails = reach / (np.sqrt((one + two) / 2) + 1e-300)
    orders = [np.argsort(-figure, kind="stable")[:most].tolist() for figure in (means, spreads, shapes, tails)]
    return list(dict.fromkeys(column for places in zip(*orders, strict=True) for column in places))[:most]
