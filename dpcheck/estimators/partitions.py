"""Dask arrays for a fit: partitions of whole rows with their labels, and how each of them reads its own records."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.losses import Array
from dpcheck.problems.parted_rows import PartedLabels
from dpcheck.problems.rows import BoundedRows


@dataclass(frozen=True, eq=False)
class Partitions:
    """A table whose blocks of whole rows stay where Dask has them: delayed (records, labels), one pair a partition."""

    blocks: tuple[tuple[Any, Any], ...] = field(repr=False)
    shape: tuple[int, int]


class ReadsRecords(Protocol):
    """What an estimator does with records: clip, mend, recode."""

    rows: str

    def _given_here(self, X: Any, y: Any) -> tuple[Any, Any]: ...

    def _bounded(self, X: Any, read: Any, scaling: float) -> BoundedRows: ...


@dataclass(frozen=True, eq=False)
class PartitionReader:
    """The estimator's own way of reading records, for one partition. It goes without the seed of the noise."""

    model: ReadsRecords
    scaling: float

    def __call__(self, records: Any, labels: Any) -> tuple[BoundedRows, Array]:
        X, read = self.model._given_here(records, labels)
        return self.model._bounded(X, read, self.scaling), read.targets


def is_dask(value: Any) -> bool:
    """Whether it is a Dask array (if so, whoever made it has imported that); its other collections are refused."""
    arrays = sys.modules.get("dask.array")
    if arrays is not None and isinstance(value, arrays.Array):
        return True
    if type(value).__module__.partition(".")[0] == "dask":
        remedy = "Pass frame.to_dask_array(lengths=True)."
        raise InvalidInput("data", type(value).__name__, "a Dask array, or data in memory", remedy)
    return False


def partitioned(X: Any, y: Any) -> Partitions:
    """The Dask array X and its labels, an array of numpy's or of Dask's, cut alike; sizes and types may be refused."""
    if getattr(X, "ndim", 0) != 2 or X.dtype.kind == "c":
        given = f"{getattr(X, 'ndim', 0)} axes of {getattr(X, 'dtype', type(X).__name__)}"
        raise InvalidInput("X", given, "a table of numbers, one row a record", "Pass a Dask array of shape (n, d).")
    if not all(np.isfinite(size) and size >= 1 for size in X.shape):
        limit = "known, and at least 1 each: the number of records is public"
        raise InvalidInput("shape of X", X.shape, limit, "Call X.compute_chunk_sizes() first.")
    import dask.array as arrays

    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if not is_dask(y):
        # Sent to the partitions once, not with every step.
        held = np.asarray(y)
        must_match(held.shape, X.shape)
        y = arrays.from_array(held, chunks=(X.chunks[0],)).persist()
    must_match(y.shape, X.shape)
    y = y if y.chunks[0] == X.chunks[0] else y.rechunk((X.chunks[0],))
    blocks = zip(X.to_delayed().ravel().tolist(), y.to_delayed().ravel().tolist(), strict=True)
    return Partitions(tuple(blocks), (int(X.shape[0]), int(X.shape[1])))


def must_match(labels: tuple[int, ...], table: tuple[int, ...]) -> None:
    """One label a row."""
    if labels != (table[0],):
        raise InvalidInput("shape of y", labels, f"({table[0]},), one label a row", "Match the two.")


def label_columns(n: int, models: int) -> list[PartedLabels]:
    """The labels of each model."""
    return [PartedLabels(n, partial(column, j)) for j in range(models)]


def column(j: int, targets: Array) -> Array:
    return targets[:, j]


def places(targets: Array) -> Any:
    """The class of each record."""
    return targets.argmax(axis=1)
