"""multi-freq-ldpy's client functions as mechanisms of one user's item, seeded through numpy's global state.

Compiled clients keep a random state of their own, which nobody can seed; the Python they were compiled from is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcheck.adapters.hashed_reports import numbers_of
from dpcheck.audits import Neighbours, PerRun, one_user, per_run
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, PureDP


@dataclass(frozen=True, eq=False)
class Report:
    """One report: what the client function gives for an item, as numbers; a set of items is sorted."""

    function: Callable[..., Any]
    k: int
    eps: float
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, data: Any) -> np.ndarray:
        numbers = numbers_of(self.function(int(data), self.k, self.eps, **self.options))
        return np.sort(numbers) if self.function.__name__ == "SS_Client" else numbers

    @property
    def __name__(self) -> str:
        return f"multi_freq_ldpy.{self.function.__name__}"


def client(function: Any, k: int, eps: float, **options: Any) -> PerRun:
    """A mechanism from GRR_Client, UE_Client, LH_Client, SS_Client, ... of multi_freq_ldpy.pure_frequency_oracles."""
    if not callable(function):
        limit = "a client function of multi_freq_ldpy"
        raise InvalidInput("client", function, limit, "Pass the function itself: UE_Client.")
    return per_run(Report(getattr(function, "py_func", function), int(k), float(eps), dict(options)))


@dataclass(frozen=True, eq=False)
class TupleReport:
    """One report of several attributes, for a tuple of items."""

    function: Callable[..., Any]
    sizes: tuple[int, ...]
    eps: float
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, data: Any) -> np.ndarray:
        items = [int(item) for item in data]
        sent = self.function(items, list(self.sizes), len(self.sizes), self.eps, **self.options)
        return np.hstack([numbers_of(part) for part in sent])

    @property
    def __name__(self) -> str:
        return f"multi_freq_ldpy.{self.function.__name__}"


def tuple_client(function: Any, sizes: Sequence[int], eps: float, **options: Any) -> PerRun:
    """The same from SPL_GRR_Client, SMP_UE_Client, RSpFD_GRR_Client, ...: data are tuples, an item of each domain.

    What these call is compiled and cannot be seeded unless NUMBA_DISABLE_JIT=1 is set before they are imported.
    """
    if not callable(function):
        limit = "a client function of multi_freq_ldpy"
        raise InvalidInput("client", function, limit, "Pass the function itself: RSpFD_GRR_Client.")
    return per_run(TupleReport(function, tuple(int(k) for k in sizes), float(eps), dict(options)))


def guarantee(eps: float) -> PureDP:
    """What it is told to satisfy."""
    return PureDP(float(eps), relation=LOCAL)


def neighbours(k: int) -> Neighbours:
    """Its items, from 0."""
    return one_user(values=range(int(k)))
