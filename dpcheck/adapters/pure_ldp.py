"""pure-LDP's clients as mechanisms of one user's item, seeded through numpy's and random's global state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.adapters.hashed_reports import numbers_of
from dpcheck.audits import Neighbours, PerRun, one_user, per_run
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, PureDP


@dataclass(frozen=True, eq=False)
class Report:
    """One report: what the client sends of an item, as numbers."""

    made: Any

    def __call__(self, data: Any) -> np.ndarray:
        return numbers_of(self.made.privatise(int(data)))

    @property
    def __name__(self) -> str:
        return f"pure_ldp.{type(self.made).__name__}"


def client(made: Any) -> PerRun:
    """A mechanism from a client with `privatise(item)`: UEClient(epsilon=1, d=64, use_oue=True), for example."""
    if not callable(getattr(made, "privatise", None)) or isinstance(made, type):
        limit = "a client of pure_ldp.frequency_oracles"
        raise InvalidInput("client", made, limit, "Pass an instance: UEClient(epsilon=1.0, d=64).")
    return per_run(Report(made))


def guarantee(made: Any) -> PureDP:
    """What it was told to satisfy."""
    return PureDP(float(made.epsilon), relation=LOCAL)


def neighbours(made: Any) -> Neighbours:
    """Its items, any two of which are neighbours: pure-LDP counts from 1 unless it is given an index_mapper."""
    return one_user(values=range(1, int(made.d) + 1))
