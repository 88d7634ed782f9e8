"""Pairs from a hypothesis strategy: drawn from the audit's seed, and shrunk by hypothesis itself.

Hypothesis is imported when a strategy is at hand, and not before: auditing does not depend on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import is_frame
from dpcheck.bounds.language.errors import InvalidInput

Pair = tuple[Any, Any]
REMEDY = "Pass a strategy of tuples (first, second), for example dpcheck.strategies.neighbouring(...)."


def is_strategy(value: Any) -> bool:
    """Whether this is a hypothesis strategy (if so, hypothesis has been imported by whoever made it)."""
    hypothesis = sys.modules.get("hypothesis.strategies")
    return hypothesis is not None and isinstance(value, hypothesis.SearchStrategy)


@dataclass(frozen=True, eq=False)
class Examples:
    """The pairs of a strategy. The same seed and count draw the same pairs."""

    strategy: Any = field(repr=False)

    def __str__(self) -> str:
        return repr(self.strategy)

    def draw(self, seed: int, count: int) -> list[Pair]:
        """Up to `count` pairs, hypothesis's simplest first; fewer when the strategy has no more."""
        drawn: list[Any] = []
        self._find(lambda pair: drawn.append(pair), seed, count, shrink=False)
        if not drawn:
            raise InvalidInput("neighbours", self.strategy, "a strategy that has examples", REMEDY)
        for pair in drawn:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InvalidInput("an example of neighbours", pair, "two datasets", REMEDY)
        return [(pair[0], pair[1]) for pair in drawn]

    def shrunk(self, seed: int, count: int, pair: Pair, keeps: Callable[[Pair], bool]) -> Pair:
        """The simplest pair, by hypothesis's own order, that `keeps` what `pair` shows; `pair` is of that draw."""
        known = {content(pair): True}
        failed: list[Exception] = []
        drawn = False

        def wanted(example: Any) -> bool:
            nonlocal drawn
            place = content(example)
            drawn = drawn or place == content(pair)
            if not drawn:
                return False
            if place not in known:
                try:
                    known[place] = not failed and keeps((example[0], example[1]))
                except Exception as error:
                    failed.append(error)  # raised from here, it would be taken for what is looked for
                    known[place] = False
            return known[place]

        found = self._find(wanted, seed, count, shrink=True)
        if failed:
            raise failed[0]
        return pair if found is None else (found[0], found[1])

    def _find(self, wanted: Callable[[Any], Any], seed: int, count: int, shrink: bool) -> Any:
        import hypothesis
        from hypothesis.errors import NoSuchExample, Unsatisfiable

        phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else [])]
        quiet = hypothesis.settings(
            max_examples=count,
            database=None,
            deadline=None,
            derandomize=False,
            phases=phases,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(hypothesis.HealthCheck),
        )

        def search() -> Any:
            try:
                return hypothesis.find(self.strategy, wanted, settings=quiet, random=Random(seed))
            except (NoSuchExample, Unsatisfiable):
                return None

        if not hypothesis.currently_in_test_context():
            return search()
        # Inside a @given test hypothesis refuses to search again; a thread of its own is outside that test.
        with ThreadPoolExecutor(1) as aside:
            return aside.submit(search).result()


def content(value: Any) -> Any:
    """What an example holds, as something to compare by."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist())
    if isinstance(value, tuple | list):
        return tuple(content(item) for item in value)
    if is_frame(value):  # its repr leaves out rows
        return tuple((str(name), str(column.dtype), repr(column.tolist())) for name, column in value.items())
    return repr(value)
