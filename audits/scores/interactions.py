"""Dependence between discrete columns: parities of the columns' bits that only one dataset favours.

Columns that each look the same on both datasets may still tell them apart together. Of up to sixteen bits every subset
is looked at, by a Walsh-Hadamard transform of the outputs' counts; of more, every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpcheck.audits.scores.learned import fit_additive

MOST_VALUES = 8  # of a column that is worth bits
MOST_BITS = 512
MOST_CELLS = 2**21  # runs of a dataset times bits
ALL_SUBSETS = 16  # bits of which every subset is looked at
MOST_TERMS = 32
SURE = 8.0  # a term that chance alone makes in one audit of e to this many
HINT = 2.0  # standard errors from which a single bit joins

Bit = tuple[int, float]  # a column and the value at which the bit is set


@dataclass(frozen=True, eq=False)
class Parities:
    """Log-likelihood ratio as a weighted sum of parities of bits, each of which is a column's being at a value."""

    terms: tuple[tuple[Bit, ...], ...]
    weights: np.ndarray = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return signs(self.terms, rows) @ self.weights

    def phrase(self, name: Callable[[int], str]) -> str:
        """In words, with name(j) for column j: the heaviest term in full."""
        heaviest = self.terms[int(np.abs(self.weights).argmax())]
        said = " xor ".join(f"({name(column)} == {value:.6g})" for column, value in heaviest[:4])
        more = f" xor {len(heaviest) - 4} more" if len(heaviest) > 4 else ""
        return f"learned log-likelihood ratio (of {len(self.terms)} parities, foremost {said}{more})"


def fit_parities(first: np.ndarray, second: np.ndarray) -> list[Parities]:
    """A score if any two or more bits tell the datasets apart beyond what each says alone; none otherwise."""
    few = MOST_CELLS // max(1, len(bits_of(np.concatenate([first[:1000], second[:1000]]))))
    first, second = first[:few], second[:few]
    rows, counts = np.concatenate([first, second]), np.repeat(np.eye(2), [len(first), len(second)], axis=1)
    terms = telling_terms(rows, counts)
    if not terms:
        return []
    return [Parities(terms, fit_additive(signs(terms, rows), counts)[:-1])]


def telling_terms(rows: np.ndarray, counts: np.ndarray) -> tuple[tuple[Bit, ...], ...]:
    """The subsets of bits whose parity differs most, then the single bits that differ; empty if no subset does.

    `counts` (2, rows) has the runs of each row on both datasets.
    """
    bits = bits_of(rows)
    if not 2 <= len(bits) <= MOST_BITS:
        return ()
    error = np.sqrt((1 / counts.sum(axis=1)).sum())
    law = counts / counts.sum(axis=1, keepdims=True)
    gap = law[0] - law[1]
    flat = signs(tuple((bit,) for bit in bits), rows)
    subsets, differ = _every_subset(flat, gap) if len(bits) <= ALL_SUBSETS else _every_pair(flat, gap)
    z = np.abs(differ) / error
    clear = np.flatnonzero(z**2 / 2 > np.log(len(z)) + SURE)
    chosen = [subsets(k) for k in clear[np.argsort(-z[clear], kind="stable")][:MOST_TERMS]]
    if not chosen:
        return ()
    alone = np.flatnonzero(np.abs(gap @ flat) > HINT * error)
    return tuple(tuple(bits[i] for i in term) for term in [*chosen, *([i] for i in alone[:MOST_TERMS])])


def bits_of(rows: np.ndarray) -> list[Bit]:
    """For each column of few values, one bit for each value but the least."""
    found: list[Bit] = []
    for j in range(rows.shape[1]):
        if len(np.unique(rows[:1000, j])) <= MOST_VALUES:
            values = np.unique(rows[:, j])
            found += [(j, float(value)) for value in values[1:]] if len(values) <= MOST_VALUES else []
    return found


def signs(terms: tuple[tuple[Bit, ...], ...], rows: np.ndarray) -> np.ndarray:
    """One column per term: 1 where an even number of its bits is set, -1 where an odd number is."""
    found = np.ones((len(rows), len(terms)))
    for k, term in enumerate(terms):
        for column, value in term:
            found[rows[:, column] == value, k] *= -1.0
    return found


Subsets = Callable[[int], list[int]]


def _every_subset(flat: np.ndarray, gap: np.ndarray) -> tuple[Subsets, np.ndarray]:
    """The mean parity of every subset of two or more bits on the first dataset less that on the second."""
    bits = flat.shape[1]
    place = (flat < 0) @ (1 << np.arange(bits))
    table = np.bincount(place, gap, 2**bits)
    for i in range(bits):
        even, odd = table.reshape(-1, 2, 2**i).swapaxes(0, 1)
        table = np.stack([even + odd, even - odd], axis=1).reshape(-1)
    several = np.array([k for k in range(2**bits) if k & (k - 1)])
    return lambda k: [i for i in range(bits) if several[k] >> i & 1], table[several]


def _every_pair(flat: np.ndarray, gap: np.ndarray) -> tuple[Subsets, np.ndarray]:
    """The same for every pair of bits."""
    i, j = np.triu_indices(flat.shape[1], 1)
    return lambda k: [int(i[k]), int(j[k])], ((flat * gap[:, None]).T @ flat)[i, j]
