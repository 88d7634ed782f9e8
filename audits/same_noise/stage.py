"""Stage: a mechanism on a pair, run after run; what comes back as numbers and words, with the draws behind it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpcheck.audits.outputs.canonical import form_of
from dpcheck.audits.outputs.returned import FailedRun, Mechanism, as_array
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.same_noise.draws import COIN, GEOMETRIC, Book, Draw, Site, caller
from dpcheck.audits.same_noise.enumeration import Tosses
from dpcheck.audits.same_noise.listening import Room
from dpcheck.audits.same_noise.noisy_values import Trace, arrays_of_noise, seen
from dpcheck.audits.same_noise.responses import EPS

Released = Literal["output", "noisy values"]
Public = frozenset[str | None]  # seeds that are the same in every run


@dataclass(frozen=True, eq=False)
class Seen:
    """One run: its output as numbers and words, and what was drawn for it."""

    numbers: np.ndarray
    words: tuple[Any, ...]
    names: tuple[str, ...]
    draws: tuple[Draw, ...]
    sources: tuple[str, ...]
    coins: tuple[Draw, ...]  # draws that are no noise, and seed no generator
    eps: float = EPS  # the rounding of the numbers' type

    @property
    def way(self) -> tuple[Any, ...]:
        """Where control flow went, as far as draws show it."""
        return tuple(draw.kind for draw in self.draws)

    def same_as(self, other: Seen) -> bool:
        """Whether both released the same."""
        return self.words == other.words and np.array_equal(self.numbers, other.numbers)


@dataclass(eq=False)
class Stage:
    """A mechanism and a pair; counts runs."""

    mechanism: Mechanism
    pair: Pair
    seed: int
    room: Room
    released: Released = "output"
    runs: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    outside: Site = field(default_factory=caller)

    def run(
        self,
        side: int,
        moved: Mapping[int, np.ndarray] | None = None,
        seed: int = 0,
        trace: Trace | None = None,
        other_coins: bool = False,
    ) -> Seen:
        """One run on a dataset of the pair, with the units of some draws moved, or its noisy values traced."""
        self.runs += 1
        book = Book(self.seed + seed, {} if moved is None else moved, other_coins=other_coins)
        tracing: Any = nullcontext()
        if trace is not None:
            book.made, book.chosen, tracing = trace.made, trace.chosen, arrays_of_noise()
            book.tossing, trace.outside = isinstance(trace, Tosses), self.outside
        data = copy.deepcopy(self.pair[side])
        with self.room.run(book) as rng, tracing:
            try:
                output = as_array(seen(self.mechanism(data, rng, 1)))[0]
            except (FailedRun, Exception) as error:  # what it raises is seen, too
                cause = error.cause if isinstance(error, FailedRun) else error
                self.failed[side] = output = f"raised {type(cause).__name__}: {cause}"
        guise = ("guise of the output", guise_of(output))
        coins = [draw for i, draw in enumerate(book.draws) if draw.law == COIN and i not in book.seeds]
        numbers, words, names = _read(output)
        sources = tuple(dict.fromkeys(book.sources))
        return Seen(numbers, (*words, guise), names, tuple(book.draws), sources, tuple(coins), _rounding(output))


def _read(output: Any) -> tuple[np.ndarray, tuple[Any, ...], tuple[str, ...]]:
    """An output's numbers, the words around them, and a name for each number."""
    numbers: list[np.ndarray] = []
    words: list[Any] = []
    names: list[str] = []
    for name, leaf in form_of(output).items():
        values = np.ravel(np.asarray(leaf, float)) if not isinstance(leaf, str) else None
        if values is None or not np.all(np.isfinite(values)):
            words.append((name, str(leaf)))
            continue
        words.append((name, np.shape(leaf)))
        numbers.append(values)
        names += [name] if values.size == 1 else [f"{name}[{i}]" for i in range(values.size)]
    return np.concatenate(numbers) if numbers else np.empty(0), tuple(words), tuple(names)


def _rounding(output: Any) -> float:
    """That of the output's numbers, if it is one array of floats; else that of doubles."""
    kind = getattr(output, "dtype", None)
    return float(np.finfo(kind).eps) if kind is not None and kind.kind == "f" else EPS


def guise_of(output: Any) -> Any:
    """What equal outputs may still differ in, for everybody to see: types, orders of keys, signs of zeros."""
    if isinstance(output, dict):
        return type(output).__name__, tuple((repr(key), guise_of(value)) for key, value in output.items())
    if isinstance(output, list | tuple):
        return type(output).__name__, tuple(map(guise_of, output))
    if isinstance(output, np.ndarray) and output.dtype == object:
        return "array", output.shape, tuple(map(guise_of, output.ravel().tolist()))
    if isinstance(output, np.ndarray | float | np.floating):
        kind = str(output.dtype) if isinstance(output, np.ndarray | np.generic) else "float"
        values = np.asarray(output)
        negative = np.flatnonzero((values == 0) & np.signbit(values)) if values.dtype.kind == "f" else np.empty(0)
        return kind, negative.tobytes()
    return type(output).__name__


def difference(first: Seen, second: Seen) -> str:
    """The first words in which two outputs differ."""
    ours, theirs = dict(first.words), dict(second.words)
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            if name.startswith("guise"):
                return "its types, the order of its keys or the signs of its zeros"
            one, two = (_said(words, name) for words in (ours, theirs))
            return f"{name} is {one} on the first, {two} on the second"
    return "the order of its parts" if first.words != second.words else "its numbers"


def _said(words: Mapping[str, Any], name: str) -> str:
    said = words.get(name, "missing")
    return said if isinstance(said, str) else f"of shape {said}" if said else "a number"


def public_seeds(one: Seen, other: Seen) -> Public:
    """Seeds of generators that are the same in two runs under different noise: everybody knows what they draw."""
    return frozenset(draw.seed for draw in one.draws) & {draw.seed for draw in other.draws} - {None}


def parting(first: Seen, second: Seen) -> str:
    """Where control flow parts, as far as draws show it."""
    for one, two in zip(first.draws, second.draws, strict=False):
        if one.kind != two.kind:
            ours, theirs = (f"{each.site} draws {_drawn(each)}" for each in (one, two))
            return f"control flow parts: {ours} on the first dataset, {theirs} on the second"
    if len(first.draws) != len(second.draws):
        more, which = (first, "first") if len(first.draws) > len(second.draws) else (second, "second")
        extra = more.draws[min(len(first.draws), len(second.draws))]
        return f"control flow parts: {extra.site} draws {_drawn(extra)} on the {which} dataset only"
    return ""


def _drawn(draw: Draw) -> str:
    law = draw.law if draw.law not in (COIN, GEOMETRIC) else draw.call
    return f"{law} of shape {draw.units.shape}" if draw.units.shape else law
