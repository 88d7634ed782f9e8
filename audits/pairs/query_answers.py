"""Neighbours of mechanisms whose data are query answers (sparse vector, noisy max): any two within the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.audits.pairs.domains import ORDERS, SLACK, Ball, Domain
from dpcheck.audits.pairs.drawn_pairs import Pair
from dpcheck.audits.pairs.neighbours import Neighbours
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number, one_of, whole
from dpcheck.bounds.language.guarantees import Relation

ANSWERS = Relation("query answers")


def queries(
    k: int = 10, sensitivity: float = 1.0, low: float = -1.0, high: float = 1.0, *, norm: Ball = "linf"
) -> Neighbours:
    """The data are the answers to k queries, in [low, high]; neighbours are at most `sensitivity` apart in `norm`.

    For mechanisms of query answers (sparse vector, noisy max): one record moves each answer by at most the
    sensitivity ("linf"), or all of them together ("l1", "l2"). Answers count from the mechanism's threshold or
    wherever it looks; widen the range for a mechanism that looks elsewhere. Goes with a guarantee under any relation.

    >>> near = queries(k=3)
    >>> near.is_pair(np.zeros(3), np.array([1.0, 1.0, -1.0]))
    True
    """
    count = whole("k", k, "an integer >= 1", "Pass the number of queries.")
    low, high = number("low", low, "a number", "Pass low=-1."), number("high", high, "a number", "Pass high=1.")
    moves = number("sensitivity", sensitivity, "a finite number > 0", "Pass sensitivity=1.0 for counts.")
    return Answers(ANSWERS, Domain(low, high, count), 1, sensitivity=moves, norm=norm)


@dataclass(frozen=True)
class Answers(Neighbours):
    """Vectors of query answers, neighbours when no farther apart than the queries' sensitivity."""

    sensitivity: float = 1.0
    norm: Ball = "linf"
    counted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.sensitivity) and self.sensitivity > 0):
            limit = "a finite number > 0"
            raise InvalidInput("sensitivity", self.sensitivity, limit, "Pass sensitivity=1.0 for counts.")
        one_of("norm", self.norm, ORDERS, "Use 'linf' when each answer may move.")

    def __str__(self) -> str:
        return f"{self.domain.d} {self.relation}, sensitivity {self.sensitivity:g} in {self.norm}"

    @property
    def single(self) -> bool:
        return True

    @property
    def reach(self) -> float:
        """How far apart neighbours may be."""
        return self.sensitivity * self.relation.size

    def _is_pair(self, first: Any, second: Any) -> bool:
        if not super()._is_pair(first, second):
            return False
        return bool(np.linalg.norm(np.subtract(first, second), ORDERS[self.norm]) <= self.reach * (1 + SLACK))

    def patterns(self) -> Iterator[Pair]:
        """The classic shapes of StatDP (Ding et al. 2018): answers move up, down, or cross, from each level."""
        low, middle = self.domain.low, self.domain.middle
        moves = [self.step(shape) for shape in self._shapes()]
        yield from (self.moved(middle, move) for move in moves)
        yield from (self.moved(middle + np.maximum(-move, 0), move) for move in moves)
        yield from (self.moved(middle, -move) for move in moves)
        yield from (self.moved(low + np.maximum(-move, 0), move) for move in moves)

    def _shapes(self) -> list[np.ndarray]:
        """Who moves up (1) and who down (-1): all, all but some at the end or the start, one alone, every other."""
        k = self.domain.d or 1
        place, ones = np.arange(k), np.ones(k)
        sizes = dict.fromkeys((1, -(-k // 4), k // 2))  # one, a quarter, half
        mixed = [np.where(where < size, -1.0, ones) for where in (place[::-1], place) for size in sizes]
        alone = [np.where(where == 0, ones, 0.0) for where in (place[::-1], place)]
        return [ones, *mixed, *alone, np.where(place % 2 == 0, ones, -1.0)]

    def random(self, rng: np.random.Generator) -> Pair:
        """A few levels, or any answers; and any of them move."""
        k, low, high = self.domain.d or 1, self.domain.low, self.domain.high
        levels = rng.choice([low, self.domain.middle, high, rng.uniform(low, high)], size=int(rng.integers(1, 4)))
        shape = rng.choice([-1.0, 0.0, 1.0], size=k, p=[0.4, 0.2, 0.4])
        first = rng.choice(levels, size=k) if rng.random() < 0.7 else rng.uniform(low, high, size=k)
        return self.moved(first, self.step(shape))

    def varied(self, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
        """Pairs near this one: all answers shifted, some from another level, some that move another way."""
        first, move = pair[0], np.subtract(pair[1], pair[0])
        low, high = self.domain.low, self.domain.high
        some = rng.random(len(move)) < rng.uniform(0.1, 0.5)
        yield self.moved(first + rng.uniform(-0.5, 0.5) * (high - low), move)
        yield self.moved(np.where(some, rng.uniform(low, high), first), move)
        yield self.moved(first, self.step(np.where(some, -move, move)))
        yield self.moved(first, self.step(np.where(some, rng.choice([-1.0, 1.0]) * self.reach, move)))

    def step(self, shape: np.ndarray) -> np.ndarray:
        """A shape as far as neighbours may be apart."""
        return Domain(high=self.reach, d=len(shape), ball=self.norm).fit(shape)

    def moved(self, first: Any, move: np.ndarray) -> Pair:
        """Both clipped to the range of the answers, which brings them no farther apart."""
        low, high = self.domain.low, self.domain.high
        return np.clip(first + np.zeros(len(move)), low, high), np.clip(first + move, low, high)
