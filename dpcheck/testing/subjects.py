"""What promises are tried on: a solver with data, a pair and a guarantee; and how they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.privacy.laws import NO_DENSITY
from dpcheck.kernels.method import Method
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibrated, Solver
from dpcheck.testing.movement import random_pair
from dpcheck.testing.planting import with_noise_times

SEARCHED = 12  # random pairs, of which the one that moves most is audited


class NotConforming(DpcheckError, AssertionError):
    """A solver breaks a promise; the message names both, and what was seen."""

    def __init__(self, solver: str, promise: str, seen: str) -> None:
        super().__init__(solver, promise, seen)
        self.solver, self.promise, self.seen = solver, promise, seen

    def __str__(self) -> str:
        return f"{self.solver} does not conform: {self.promise}. Seen: {self.seen or 'the opposite'}"


class Untried(Exception):
    """A promise that cannot be tried on this subject, and why."""


@dataclass(frozen=True)
class Subject:
    """A solver, data and guarantee to try promises on; `pair` is its worst one."""

    solver: Solver
    data: Any
    pair: tuple[Any, Any]
    guarantee: Guarantee
    neighbour: Callable[[Any, np.random.Generator], Any] | None
    reaches: float
    seed: int
    alpha: float
    trials: int
    bug: float

    def ready(self) -> tuple[Calibrated, Method]:
        """Calibrated on the data, and a fresh method."""
        done = self.solver.calibrated(self.data, self.guarantee)
        return done, self.solver.method(self.data, done.plan, done.released)

    def solved(self, rng: Any = 0, trials: int = 7, **how: Any) -> Any:
        """Solutions on the data."""
        return self.solver.solution(self.data, self.guarantee, rng, trials=trials, **how)

    def mechanism(self, factor: float = 1.0, *, transcript: bool = False) -> Any:
        """Certified, with its noise times a factor; without its `log_density` where that has no formula."""
        if factor == 1:
            found = self.solver.mechanism(self.guarantee, transcript=transcript)
        else:
            found = with_noise_times(factor, self.solver, self.guarantee, transcript=transcript)
        return found if self.has_density else partial(found)

    @property
    def has_density(self) -> bool:
        """Whether that of a transcript has a formula."""
        done = self.solver.calibrated(self.pair[0], self.guarantee)
        return not any(isinstance(part.law, NO_DENSITY) for part in done.released.parts)

    def flagged(self, mechanism: Any, pair: tuple[Any, Any]) -> bool:
        """Whether an audit finds a violation; of a true guarantee with probability at most alpha."""
        found = audit(
            mechanism,
            pair=pair,
            guarantee=self.guarantee,
            max_trials=self.trials,
            alpha=self.alpha,
            seed=self.seed,
            executor=1,
        )
        return found.violated

    def random_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Neighbours that nobody chose."""
        if self.neighbour is None and not isinstance(self.data, Problem):
            raise Untried("example() has no `neighbour` for such data")
        rng = np.random.default_rng(self.seed)
        return (random_pair(self.data, self.neighbour, rng) for _ in range(SEARCHED))
