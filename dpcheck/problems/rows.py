"""Rows of a large table as a fit sees them, within a bound and with a constant feature, without a copy of the table.
A pass reads blocks that stay in cache: margins and their pull on the weights in one visit of each row. So a table may
be larger than memory, where it is a file's map (numpy.memmap).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
# (margins, labels) -> slopes of the same rows, shaped as their margins: (rows,) or (rows, models).
Slopes = Callable[[Array, Any], Array]

# Numbers a block, 1 MB: it stays in the second-level cache, and the BLAS does not split it among threads, which would
# wait for one another at every block.
BLOCK = 1 << 17
# Tables of more numbers are shared among the cores, in this many shares.
SHARED, SHARES = 1 << 20, 8


@dataclass(frozen=True, eq=False)
class GivenRows:
    """A table of numbers of any type as it was given: what is read of it are floats, a copy of that part alone.

    Rows marked as `bad` are read as zeros; `long` ones, whose norm is no number, with `length` as their largest entry.

    >>> GivenRows(np.array([[1, 2], [3, 4]], np.int8), bad=np.array([True, False]))[0:2].tolist()
    [[0.0, 0.0], [3.0, 4.0]]
    """

    table: Any
    bad: NDArray[np.bool_] | None = None
    long: NDArray[np.bool_] | None = None
    length: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.table.shape
        return n, d

    @property
    def size(self) -> int:
        return int(self.table.size)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, part: Any) -> Array:
        rows = np.asarray(self.table[part], float)
        if self.bad is not None and np.any(self.bad[part]):
            rows = np.where(self.bad[part][..., None], 0.0, rows)
        if self.long is not None and np.any(self.long[part]):
            most = np.abs(rows).max(axis=-1, keepdims=True)
            shortened = rows / np.where(most > 0, most, 1.0) * self.length
            rows = np.where(self.long[part][..., None], shortened, rows)
        return rows


def as_given(X: Any, **marks: Any) -> GivenRows:
    """The table with these marks beside those that it has."""
    return replace(X, **marks) if isinstance(X, GivenRows) else GivenRows(X, **marks)


class BoundedRows(NDArrayOperatorsMixin):
    """Row i is factors[i] * given[i], then `constant` unless that is 0; the argument `norms` is that of the given rows.

    numpy takes it for the table of these rows, which is then made once; only what is written for it, `pass_over`, and
    the choice of some rows of a file go without. The rows as given, which may be over the bound, are for nobody else.

    >>> rows = BoundedRows(np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([5.0, 1.0]), np.array([0.2, 1.0]), constant=0.5)
    >>> rows.shape, np.asarray(rows).tolist()
    ((2, 3), [[0.6000000000000001, 0.8, 0.5], [0.0, 1.0, 0.5]])
    """

    def __init__(self, given: Array | GivenRows, norms: Array, factors: Array, constant: float = 0.0) -> None:
        self._given, self._factors, self.constant = given, factors, float(constant)
        self.norms: Array = np.hypot(norms * factors, self.constant)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self._given.shape
        return n, d + (self.constant != 0)

    def __len__(self) -> int:
        return len(self._given)

    def pass_over(self, w: Array, slopes: Slopes, labels: Any, block: int = BLOCK) -> Array:
        """The sum of slope_i * row_i, in the shape of w: (d,) for one margin a row, (models, d) for one a model.

        Large tables are cut in SHARES, whatever the number of cores that take them, so that sums have the same bits.
        """
        if self._given.size < SHARED:
            return self._pulled(w, slopes, labels, block, slice(0, len(self)))
        cuts = np.linspace(0, len(self), SHARES + 1).astype(int)
        shares = [slice(first, last) for first, last in pairwise(cuts.tolist())]
        pull = partial(self._pulled, w, slopes, labels, block)
        if cores() == 1:
            return np.asarray(sum(map(pull, shares)))
        with ThreadPoolExecutor(cores()) as pool:
            return np.asarray(sum(pool.map(pull, shares)))

    def _pulled(self, w: Array, slopes: Slopes, labels: Any, block: int, share: slice) -> Array:
        """That of the rows in `share`, block by block."""
        held = w[..., :-1] if self.constant else w
        total = np.zeros(w.shape)
        pulled = total[..., :-1] if self.constant else total
        for part in parts(self._given, block, share):
            rows, factors = self._given[part], self._factors[part]
            margins = rows @ held.T
            scaled = margins.T  # a view, so that one line serves both shapes
            scaled *= factors
            if self.constant:
                margins += self.constant * w[..., -1]
            pull = slopes(margins, labels[part])
            if self.constant:
                total[..., -1] += self.constant * pull.sum(axis=0)
            pulled += (pull.T * factors) @ rows
        return total

    @cached_property
    def dense(self) -> Array:
        """The table of these rows, made once."""
        table = np.empty(self.shape)
        for part in parts(self._given, BLOCK):
            table[part] = self._chosen(part)
        table.setflags(write=False)
        return table

    def _chosen(self, index: Any) -> Array:
        """Some of the rows, by places or a slice."""
        rows = self._given[index] * self._factors[index][..., None]
        return np.concatenate([rows, np.full((*rows.shape[:-1], 1), self.constant)], axis=-1) if self.constant else rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.dense, dtype=dtype, copy=bool(copy) or (dtype is not None and np.dtype(dtype) != float))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        plain = (x.dense if isinstance(x, BoundedRows) else x for x in inputs)
        return getattr(ufunc, method)(*plain, **settings)

    def __getitem__(self, index: Any) -> Any:
        some = isinstance(index, np.ndarray) and index.dtype.kind in "iu" and in_a_file(self._given)
        if (some or isinstance(index, slice)) and "dense" not in vars(self):
            return self._chosen(index)
        return self.dense[index]

    def take(self, index: Any, axis: int = 0) -> Any:
        """As numpy's, for rows."""
        return self[np.asarray(index)] if axis == 0 else self.dense.take(index, axis=axis)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # not yet set, or asked for by a copy or a pickle
            raise AttributeError(name)
        return getattr(self.dense, name)


def in_a_file(table: Any) -> bool:
    """Whether it is the map of a file, however it was cut or converted."""
    held = table.table if isinstance(table, GivenRows) else table
    while held is not None and not isinstance(held, np.memmap):
        held = getattr(held, "base", None)
    return held is not None


def row_norms(X: Any, block: int = BLOCK) -> Array:
    """Euclidean norms, infinite where the square of one is no number; without a table of the squares."""
    if isinstance(X, BoundedRows):
        return X.norms
    norms = np.empty(len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in parts(X, block):
            rows = X[part]
            np.sqrt(np.einsum("ij,ij->i", rows, rows), out=norms[part])
    return norms


def largest_entries(X: Any) -> Array:
    """Of each row, in size."""
    found = np.empty(len(X))
    for part in parts(X, BLOCK):
        np.abs(X[part]).max(axis=1, out=found[part])
    return found


def parts(X: Any, block: int, within: slice | None = None) -> Iterator[slice]:
    """Consecutive rows of about `block` numbers, of all or of those `within`."""
    rows = max(1, block // max(1, X.shape[1]))
    first, last = (within.start, within.stop) if within else (0, len(X))
    return (slice(at, min(last, at + rows)) for at in range(first, last, rows))


def cores() -> int:
    """Those that this process may use: as many as OMP_NUM_THREADS says, where it does."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdigit() and int(said) > 0:
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
