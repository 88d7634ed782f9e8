"""multi-freq-ldpy's client functions as mechanisms of one user's item, seeded through numpy's global state.

Compiled clients keep a random state of their own, which nobody can seed; the Python they were compiled from is run.
"""

from __future__ import annotations

from collections.abc import Callable
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


def guarantee(eps: float) -> PureDP:
    """What it is told to satisfy."""
    return PureDP(float(eps), relation=LOCAL)


def neighbours(k: int) -> Neighbours:
    """Its items, from 0."""
    return one_user(values=range(int(k)))
