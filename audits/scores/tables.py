"""Scores for discrete outputs: a table from each distinct output to an estimated log-likelihood ratio.

Plug-in ratios are noisy where outputs are rare, so they are shrunk towards light models of the columns; how
much is judged by leaving each run out of its own estimate, which costs nothing for counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from dpcheck.audits.scores.interactions import signs, telling_terms
from dpcheck.audits.scores.learned import fit_additive, fit_boosted

Name = Callable[[int], str]  # the user's word for a column
MOST_WORK = 2 * 10**9  # outputs times squared columns of an additive model
MOST_COLUMNS = 256  # of a model
ROUNDS = 150  # rows are distinct outputs, so trees are cheap here
LEAST_CHANCE = 0.05  # runs are never taken for more than twenty times their number
WEIGHTS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 1e5)  # pseudo-runs that a model is worth, per output


@dataclass(frozen=True, eq=False)
class Atoms:
    """Estimated log-likelihood ratio of each distinct output; an output the pilot never saw scores 0."""

    keys: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    runs: np.ndarray = field(repr=False)  # of the pilot, with each output
    smoothed: str = ""
    columns: np.ndarray | None = field(default=None, repr=False)  # None: all of the output

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        keys = row_keys(rows if self.columns is None else rows[:, self.columns])
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.scores[place], 0.0)

    def phrase(self, name: Name) -> str:
        of = "the output" if self.columns is None else f"{name(int(self.columns[0]))} and {len(self.columns) - 1} more"
        return f"log-likelihood ratio of {of}{self.smoothed} (a table of {len(self.keys)} values)"


@dataclass(frozen=True, eq=False)
class OutputTable:
    """Distinct outputs of a pilot: keys in order, one row for each, and counts (2 halves, 2 datasets, outputs)."""

    keys: np.ndarray
    rows: np.ndarray
    counts: np.ndarray

    def fitted(self) -> tuple[Atoms, np.ndarray, np.ndarray]:
        """The table, and the estimated probability of each output on the first and on the second dataset.

        Each output's share of runs on the first dataset has a beta prior centred on a model; the model and its
        weight are those under which each half of the pilot is likeliest when the other was fitted.
        """
        best = (-np.inf, "", 1.0)
        for name in self._names():
            fits = [special.expit(self._model(name, half)) for half in self.counts]
            for weight in WEIGHTS:
                best = max(best, (self._evidence(fits, weight), name, weight))
        _, name, weight = best
        ours, theirs = self.counts.sum(axis=0)
        prior = special.expit(self._model(name, self.counts.sum(axis=0)))
        share = (ours + weight * prior) / (ours + theirs + weight)
        runs = ours + theirs
        table = Atoms(self.keys, special.logit(share), self.rows, runs, f", {name}" if name else "")
        return table, runs * share / ours.sum(), runs * (1 - share) / theirs.sum()

    def _evidence(self, fits: list[np.ndarray], weight: float) -> float:
        """How likely each half is when the other was fitted: what was seen adds to the prior before it is scored."""
        total = 0.0
        for share, seen, scored in zip(fits, self.counts, self.counts[::-1], strict=True):
            a, b = seen[0] + weight * share, seen[1] + weight * (1 - share)
            total += float((special.betaln(a + scored[0], b + scored[1]) - special.betaln(a, b)).sum())
        return total

    def _names(self) -> list[str]:
        rich = self.rows.shape[1] > 1 and len(self.keys) > 8
        indicators = one_hot(self.rows).shape[1] if rich else 0
        additive = 0 < indicators <= MOST_COLUMNS and len(self.keys) * indicators**2 <= MOST_WORK
        together = rich and telling_terms(self.rows, self.counts.sum(axis=0))
        return [
            "",
            *(["shrunk to parities"] if together else []),
            *(["shrunk to boosted trees"] if rich and self.rows.shape[1] <= MOST_COLUMNS else []),
            *(["shrunk to an additive model"] if additive else []),
        ]

    def _model(self, name: str, counts: np.ndarray) -> np.ndarray:
        """Log-likelihood ratio of each output by a model of its columns; none says that the datasets agree."""
        if not name:
            return np.zeros(len(self.keys))
        if name.endswith("trees"):
            rows, side = np.concatenate([self.rows, self.rows]), np.repeat([1.0, 0.0], len(self.rows))
            return fit_boosted(rows, side, counts.reshape(-1).astype(float), rounds=ROUNDS)(self.rows)
        parities = name.endswith("parities")
        features = signs(telling_terms(self.rows, counts), self.rows) if parities else one_hot(self.rows)
        weights = fit_additive(features, counts)
        return features @ weights[:-1] + weights[-1]


def table_of(first: np.ndarray, second: np.ndarray) -> OutputTable:
    """Count the distinct outputs in each half of both sides: in runs without common noise that would tell as much."""
    sides = [row_keys(first), row_keys(second)]
    keys, place = np.unique(np.concatenate(sides), return_index=True)
    counts = np.zeros((2, 2, len(keys)))
    for i, side in enumerate(sides):
        half = len(side) // 2
        for j, part in enumerate((side[:half], side[half:])):
            counts[j, i] = np.bincount(np.searchsorted(keys, part), minlength=len(keys))
    return OutputTable(
        keys, np.concatenate([first, second])[place], counts / chance(sides[0], sides[1], counts.sum(axis=0))
    )


def chance(first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> float:
    """The variance of the counts' differences, relative to that of independent runs.

    Runs of the same seed that give the same output on both datasets cancel; without common noise they do so as often
    as outputs agree by accident.
    """
    law = counts / counts.sum(axis=1, keepdims=True)
    apart = 1.0 - float(law[0] @ law[1])
    if apart <= 0 or len(first) != len(second):
        return 1.0
    return float(np.clip(np.mean(first != second) / apart, LEAST_CHANCE, 1.0))


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct ones of values in order; np.unique hashes them first, which takes many times as long."""
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values


def row_keys(rows: np.ndarray) -> np.ndarray:
    """One integer per distinct row: odd multiples of the scrambled bits of each column, added modulo 2**64."""
    bits = (np.ascontiguousarray(rows) + 0.0).view(np.uint64)
    if bits.shape[1] == 1:
        return bits[:, 0]
    odd = np.random.Generator(np.random.PCG64(20_240_607)).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    mixed = (bits ^ (bits >> np.uint64(31))) * (odd * np.uint64(2) + np.uint64(1))
    return (mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64)


def one_hot(rows: np.ndarray) -> np.ndarray:
    """An indicator for each value of each column that varies."""
    columns = []
    for j in range(rows.shape[1]):
        values = np.unique(rows[:, j])
        if 1 < len(values) <= 32:
            columns.append(rows[:, [j]] == values[None, 1:])
    return np.hstack(columns).astype(float) if columns else np.zeros((len(rows), 0))
