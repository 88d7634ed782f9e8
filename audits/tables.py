"""Scores for discrete outputs: a table from each distinct output to an estimated log-likelihood ratio.

Plug-in ratios are noisy where outputs are rare, so they are shrunk towards light models of the columns; how
much is judged by leaving each run out of its own estimate, which costs nothing for counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import special

from audits.learned import fit_boosted, fit_logistic

MOST_ONE_HOT = 400
PLAIN = 0.5
WEIGHTS = (1.0, 4.0, 16.0, 64.0)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Estimated log-likelihood ratio of each distinct output; an output the pilot never saw scores 0."""

    keys: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    smoothed: str = ""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        keys = row_keys(rows)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.scores[place], 0.0)

    def __str__(self) -> str:
        return f"log-likelihood ratio of the output{self.smoothed} (a table of {len(self.keys)} values)"


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct outputs of a pilot: keys in order, one row and the two counts for each."""

    keys: np.ndarray
    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def scores(self) -> list[tuple[Atoms, np.ndarray, np.ndarray]]:
        """Candidate tables, each with the scores its own runs would get had they been left out."""
        found = [self._candidate(np.zeros(len(self.keys)), 2 * PLAIN, "")]
        if self.rows.shape[1] > 1 and len(self.keys) > 8:
            for name, prior in self._models():
                found += [self._candidate(prior, weight, f", shrunk to {name}") for weight in WEIGHTS]
        return found

    def _models(self) -> list[tuple[str, np.ndarray]]:
        rows = np.concatenate([self.rows, self.rows])
        side = np.repeat([1.0, 0.0], len(self.rows))
        # Both sides weigh the same, so the model's margin is a log-likelihood ratio.
        weight = np.concatenate([self.first / self.first.sum(), self.second / self.second.sum()])
        weight = weight * (self.first.sum() + self.second.sum()) / 2
        models = [("boosted trees", fit_boosted(rows, side, weight)(self.rows))]
        hot = one_hot(self.rows)
        if hot.shape[1] <= MOST_ONE_HOT:
            both = np.concatenate([hot, hot])
            w = fit_logistic(both, side, weight, ridge=1.0 / weight.sum())
            models.append(("an additive model", hot @ w[:-1] + w[-1]))
        return models

    def _candidate(self, prior: np.ndarray, weight: float, name: str) -> tuple[Atoms, np.ndarray, np.ndarray]:
        n, m = self.first.sum(), self.second.sum()
        share = special.expit(prior)

        def ratio(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
            return np.log((ours + weight * share) / (theirs + weight * (1 - share))) + np.log(m / n)

        table = Atoms(self.keys, ratio(self.first, self.second), name)
        one, two = ratio(np.maximum(self.first - 1, 0), self.second), ratio(self.first, np.maximum(self.second - 1, 0))
        return table, np.repeat(one, self.first), np.repeat(two, self.second)


def table_of(first: np.ndarray, second: np.ndarray) -> Table:
    """Count the distinct outputs of both sides."""
    a, b = row_keys(first), row_keys(second)
    keys, place = np.unique(np.concatenate([a, b]), return_index=True)
    ours = np.bincount(np.searchsorted(keys, a), minlength=len(keys))
    theirs = np.bincount(np.searchsorted(keys, b), minlength=len(keys))
    return Table(keys, np.concatenate([first, second])[place], ours, theirs)


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
