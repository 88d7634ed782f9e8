"""Past: what earlier visits to a claim found out, small enough for a line of a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

EVENTS = 8  # counts: of two datasets, in one event or not, in the other or not
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Past:
    """Bets against one claim so far. `Past()` is the first visit; `AuditResult.past` is for the next one.

    `cells` counts fresh runs by dataset and by the two events, flat; `wealth` and `highest` are logarithms, for every
    rung of the ladder (audits/sequential.py); `delta` is the point of the claim's curve that is bet against.
    """

    visits: int = 0
    delta: float | None = None
    cells: Numbers = (0.0,) * EVENTS
    wealth: Numbers = ()
    highest: Numbers = ()

    @property
    def runs(self) -> int:
        """Fresh runs on each dataset, over all visits."""
        return int(sum(self.cells[: EVENTS // 2]))

    def counts(self) -> np.ndarray:
        """(2 datasets, in A or not, in B or not)."""
        return np.array(self.cells, dtype=float).reshape(2, 2, 2)

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which `from_json` makes the same again."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, said: Any) -> Past:
        """Refused where a file was not written by `to_json`."""
        try:
            made = cls(
                int(said["visits"]),
                None if said["delta"] is None else float(said["delta"]),
                *(tuple(float(number) for number in said[name]) for name in ("cells", "wealth", "highest")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("past", said, "what an earlier visit wrote", REMEDY) from error
        counts = np.array(made.cells)
        rungs = len(made.wealth) == len(made.highest) and not any(map(math.isnan, made.wealth + made.highest))
        if len(counts) != EVENTS or not (counts >= 0).all() or made.visits < 0 or not rungs:
            raise InvalidInput("past", said, "what an earlier visit wrote", REMEDY)
        return made


REMEDY = "Take it from result.past, or begin anew with Past()."
