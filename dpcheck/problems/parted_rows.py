"""Rows in partitions that stay where they are, on a cluster or on disk: of them only sums over all records come back.

Each partition reads its own records within the public bounds (clipped, mended) whenever it is passed over, and sends a
sum. The sums are added in an order that the partitions alone decide: the same bits on any number of workers, and after
a worker was lost. Noise is added once, to the total, by whoever asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpcheck.audits.trials.executor import said
from dpcheck.audits.trials.spreading import PieceLost
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.problems.rows import Array, BoundedRows, Slopes

Reader = Callable[[Any, Any], tuple[BoundedRows, Array]]  # records and labels as given -> rows within bounds, targets
FAN = 16  # sums that are added in one task


@dataclass(frozen=True)
class PartedLabels:
    """The labels of rows in partitions: `pick` finds them among the targets of each."""

    n: int
    pick: Callable[[Array], Array]

    @property
    def shape(self) -> tuple[int]:
        return (self.n,)

    def __len__(self) -> int:
        return self.n


@dataclass(frozen=True, eq=False)
class PartedRows(NDArrayOperatorsMixin):
    """Rows of norm at most `bound` and entries at most `entry_bound`, by the word of their reader.

    `blocks` are Dask's delayed (records, labels), one pair a partition. Whatever asks for more than sums is refused.
    """

    blocks: Sequence[tuple[Any, Any]] = field(repr=False)
    read: Reader
    shape: tuple[int, int]
    bound: float
    entry_bound: float

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def norms(self) -> Array:
        """All that is known of them."""
        return np.array([self.bound])

    def pass_over(self, w: Array, slopes: Slopes, labels: PartedLabels) -> Array:
        """The sum of slope_i * row_i, as of BoundedRows: one visit of each partition, one sum from each."""
        dask = library()
        asked = dask.delayed(Pull(self.read, labels.pick, np.array(w), slopes), traverse=False)
        ask, add = dask.delayed(pulled, pure=False), dask.delayed(added, pure=False)
        sums = [ask(asked, place, records, own) for place, (records, own) in enumerate(self.blocks)]
        while len(sums) > 1:
            sums = [add(sums[first : first + FAN]) for first in range(0, len(sums), FAN)]
        try:
            return np.asarray(sums[0].compute())
        except Exception as error:
            distributed = sys.modules.get("distributed")
            if distributed is None or not isinstance(error, distributed.KilledWorker):
                raise
            raise PieceLost("a pass over the partitions", said(error)) from error

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        limit = "sums over all of them, at one point"
        remedy = "Use solver='dp_gd' or 'outpert_gd', or load the rows: X.compute()."
        raise InvalidInput("what is asked of rows in partitions", "single records", limit, remedy)

    __getitem__ = __array__ = __array_ufunc__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by a copy or a pickle
            raise AttributeError(name)
        self._refuse()


@dataclass(frozen=True, eq=False)
class Pull:
    """What all partitions are asked for."""

    read: Reader
    pick: Callable[[Array], Array]
    w: Array
    slopes: Slopes


def pulled(asked: Pull, place: int, records: Any, labels: Any) -> Array:
    """The sum of one partition, which is all that leaves it; a refusal says which it was."""
    if len(records) == 0:
        return np.zeros(asked.w.shape)
    try:
        rows, targets = asked.read(np.asarray(records), np.asarray(labels))
    except InvalidInput as refused:
        what = f"{refused.what} of partition {place}"
        raise InvalidInput(what, refused.value, refused.limit, refused.remedy) from refused
    return rows.pass_over(asked.w, asked.slopes, asked.pick(targets))


def added(sums: Sequence[Array]) -> Array:
    """Their sum, in this order."""
    total = np.array(sums[0])
    for one in sums[1:]:
        total += one
    return total


def library() -> Any:
    """Dask, or the sentence on how to install it."""
    try:
        import dask
    except ImportError as missing:
        raise MissingDependency("dask", "reading data in partitions", "distributed") from missing
    return dask
