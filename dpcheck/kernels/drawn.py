"""Batches: how a scheme draws them, and all that it may draw, for the density of a step whose batch is not revealed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import InOrder, Scheme, WithoutReplacement
from dpcheck.bounds.privacy.release import Released
from dpcheck.kernels.blocks import size_of, steps_held
from dpcheck.kernels.method import Drawn
from dpcheck.kernels.noisy_answers import part_of

MOST_BATCHES = 1000  # that a step may have drawn, batches with the same records counted once


class Draws:
    """The batches of a block of k trials. Where all are single records, many steps of them are drawn in one call."""

    def __init__(self, released: Released, rng: np.random.Generator, k: int, n: int, steps: int) -> None:
        self.released, self.rng, self.k, self.n = released, rng, k, n
        scheme = released.parts[0].sampling
        alone = len(released.parts) == 1 and isinstance(scheme, WithoutReplacement) and must_fit(scheme, n) == 1 < n
        self.held = steps_held(k, 1, steps) if alone else 0

    def of(self, t: int, running: int) -> Drawn:
        """Those of step t, for the trials that still run."""
        if self.held == 0:
            return draw(part_of(self.released, t).sampling, self.rng, running, self.n, t)
        at = t % self.held
        if at == 0:
            self.records = self.rng.integers(self.n, size=(self.held, self.k))
        return self.records[at, :running]


def draw(scheme: Scheme | None, rng: np.random.Generator, k: int, n: int, t: int) -> Drawn:
    """The records of step t: (k,) for one a trial, else (k, batch); None for all."""
    if scheme is None:
        return None
    if isinstance(scheme, InOrder):
        return np.full(k, in_order(t, n))
    if not isinstance(scheme, WithoutReplacement):
        limit = "all records, WithoutReplacement or InOrder"
        raise InvalidInput("sampling", type(scheme).__name__, limit, "No kernel draws such batches.")
    batch = must_fit(scheme, n)
    return None if batch == n else records(rng, k, n, batch)


def in_order(t: int, n: int) -> int:
    """The record of step t; a second pass, which the release does not count, is refused."""
    if t >= n:
        raise InvalidInput("steps", f"over {n}", f"at most n={n}, one pass", "Take fewer steps, or draw records.")
    return t


def must_fit(scheme: WithoutReplacement, n: int) -> int:
    """The size of a batch; refused where the release is about another number of records than there are."""
    batch, of = round(float(scheme.batch)), round(float(scheme.of))
    if of != n or batch > n:
        raise InvalidInput("batch", f"{batch} of {of}", f"drawn from the n={n} records", "Match release and data.")
    return batch


def records(rng: np.random.Generator, k: int, n: int, batch: int) -> NDArray[np.int64]:
    """Indices of uniform records, (k,) for one a trial, else (k, batch) without replacement."""
    if batch == 1:
        return rng.integers(n, size=k)
    if batch**2 > n:
        return rng.random((k, n)).argpartition(batch - 1, axis=1)[:, :batch]
    index = rng.integers(n, size=(k, batch))  # small batches: again while a record comes twice
    twice = np.arange(k)
    while len(twice):
        ordered = np.sort(index[twice], axis=1)
        twice = twice[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        index[twice] = rng.integers(n, size=(len(twice), batch))
    return index


# All that may be drawn -------------------------------------------------------------------------------
def possible(scheme: Scheme | None, data: Any, t: int) -> Iterator[tuple[float, NDArray[np.int64] | None]]:
    """(probability, records) of each batch of step t; batches that hold equal records are one."""
    n = size_of(data)
    if scheme is None or (isinstance(scheme, WithoutReplacement) and must_fit(scheme, n) == n):
        yield 1.0, None
    elif isinstance(scheme, InOrder):
        yield 1.0, np.array([in_order(t, n)])
    elif isinstance(scheme, WithoutReplacement):
        places, counts = distinct(data)
        batch = must_fit(scheme, n)
        for parts in compositions(counts, batch):
            ways = math.prod(math.comb(count, int(part)) for count, part in zip(counts, parts, strict=True))
            yield ways / math.comb(n, batch), np.repeat(places, parts)
    else:
        limit = "all records, WithoutReplacement or InOrder"
        raise InvalidInput("sampling", type(scheme).__name__, limit, "Audit the output instead of the transcript.")


def distinct(data: Any) -> tuple[NDArray[np.int64], list[int]]:
    """Where each distinct record first occurs, and how often it does."""
    rows = np.column_stack([data.X, data.y]) if hasattr(data, "X") else np.reshape(data, (size_of(data), -1))
    _, places, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return places, counts.tolist()


def compositions(counts: list[int], total: int) -> NDArray[np.int64]:
    """All ways to take `total` out of piles of these sizes, one a row."""
    parts, left, rest = np.zeros((1, 0), int), np.array([total]), sum(counts)
    for count in counts:
        rest -= count
        low, high = np.maximum(0, left - rest), np.minimum(count, left)
        rows = np.repeat(np.arange(len(left)), high - low + 1)
        part = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
        parts, left = np.column_stack([parts[rows], part]), left[rows] - part
        if len(parts) > MOST_BATCHES:
            remedy = "Audit a pair with fewer distinct records, such as solver.worst_pair()."
            raise InvalidInput("different batches", f"over {MOST_BATCHES}", f"at most {MOST_BATCHES}", remedy)
    return parts
