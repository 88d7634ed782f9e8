"""Draws: each with its place, law and shape, in the book of a run; the same units of noise again on request.

A draw of a location-scale law is `loc + scale * unit`: units are held still while data, and with them loc and scale,
change. Units depend on the seed and on the draw's number alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator  # by its own name, whatever stands in its place meanwhile

OURS = ("dpcheck.audits.", "numpy", "random", "scipy.stats", "contextlib", "torch")
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.standard_normal(shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "exponential": lambda rng, shape: rng.standard_exponential(shape),
    "logistic": lambda rng, shape: rng.logistic(size=shape),
    "Gumbel": lambda rng, shape: rng.gumbel(size=shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "uniform": lambda rng, shape: rng.random(shape),
}
Made = Callable[[int, Any, Callable[[np.ndarray], Any], str], Any]  # of a draw's number, value, function and law
DOUBLE = np.dtype(float)
COIN = "coin"  # any other draw: its value is held still, its law is not read
SPENT = "spent"  # uniform numbers that a known sampler of noise has used up
SAMPLERS = {("diffprivlib.mechanisms.laplace", "Laplace", "_laplace_sampler"): "Laplace"}  # of uniform numbers: its law
GEOMETRIC = "geometric"
UNLIKELY = 1e-16  # geometric numbers that come up more rarely are not listed
FEW = 32  # whole numbers that are listed
MANY = 2**24  # seeds: of fewer, everybody may try all
CHOICE = "choice"  # one of several, with weights


@dataclass(frozen=True)
class Site:
    """A line of code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


@dataclass(frozen=True, eq=False)
class Draw:
    """One call of a generator: `units` of `law`, which became values by location and scale.

    `seed` is what its generator was made with, None where that came from the audit; `call` is its name in numpy.
    """

    site: Site
    law: str
    call: str
    units: np.ndarray = field(repr=False)
    seed: str | None = None
    turn: int = 0  # which draw of a generator with that seed
    parameter: float | None = None  # of a geometric draw its probability, of a choice or coin the number of outcomes

    @property
    def again(self) -> tuple[Any, ...] | None:
        """What is the same for a draw that repeats another: its generator was made once more from the same seed."""
        return None if self.seed is None else (self.seed, self.turn, self.law, self.units.shape)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What two runs have in common as long as they go the same way."""
        return self.site, self.law, self.call, self.units.shape, self.parameter


@dataclass(eq=False)
class Origin:
    """What a generator was made from, and how many draws it has made."""

    words: str
    turns: int = 0


@dataclass(eq=False)
class Book:
    """The draws of one run. `moved` has what is added to the units of the draw with that number."""

    seed: int
    moved: Mapping[int, np.ndarray] = field(default_factory=dict)
    made: Made = lambda number, value, again, law: value
    tossing: bool = False  # small whole numbers are choices
    chosen: Callable[[int, np.ndarray], int] = lambda place, weights: place
    draws: list[Draw] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)  # of randomness that cannot be held still
    tossed: dict[str, int] = field(default_factory=dict)  # coins by their value
    seeds: set[int] = field(default_factory=set)  # coins that were used to seed a generator that is listened to
    other_coins: bool = (
        False  # coins fall another way: what is made of a seed stays the same, what is made of it else not
    )

    def rng(self, origin: Origin | None) -> np.random.Generator:
        """For the next draw: the same for the same number, or for the same turn of a generator with the same seed."""
        words = [self.seed, 0] if origin is None else [*origin.words.encode(), 1]
        turn = len(self.draws) if origin is None else origin.turns
        return Generator(np.random.PCG64(np.random.SeedSequence(words, spawn_key=(turn,))))

    def enter(self, law: str, call: str, units: Any, origin: Origin | None, parameter: float | None = None) -> int:
        """A draw, under its number."""
        units = np.asarray(units, float)
        if origin is None:
            self.draws.append(Draw(caller(), law, call, units, parameter=parameter))
        else:
            self.draws.append(Draw(caller(), law, call, units, origin.words, origin.turns, parameter))
            origin.turns += 1
        return len(self.draws) - 1

    def units(self, law: str, call: str, shape: tuple[int, ...], origin: Origin | None) -> tuple[int, np.ndarray]:
        """Fresh units, entered under their number."""
        units = LAWS[law](self.rng(origin), shape)
        offset = self.moved.get(len(self.draws))
        if offset is not None and offset.shape == units.shape:
            units = units + offset if law != "uniform" else offset
        return self.enter(law, call, units, origin), units

    def located(
        self, law: str, call: str, loc: Any, scale: Any, size: Any, origin: Origin | None, dtype: Any = DOUBLE
    ) -> Any:
        """A draw of a location-scale law."""
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else shape_of(size)
        number, units = self.units(law, call, shape, origin)

        def again(unit: np.ndarray) -> Any:
            value = loc + scale * unit
            return value if dtype == DOUBLE else np.asarray(value, dtype)[()]

        value = again(units)
        plain = np.asarray(value, dtype) if shape else float(value) if dtype == DOUBLE else dtype.type(value)
        return self.made(number, plain, again, law)

    def coin(
        self, call: str, origin: Origin | None, value: Callable[[np.random.Generator], Any], outcomes: Any = None
    ) -> Any:
        """Any other draw, one of so many `outcomes`, the same whenever it is asked the same."""
        rng = self.rng(origin)
        if self.other_coins:
            rng.random()
        number = self.enter(COIN, call, (), origin, outcomes)
        tossed = value(rng)
        if np.asarray(tossed).dtype.kind in "iu":
            self.tossed[repr(np.asarray(tossed).tolist())] = number
        return tossed

    def geometric(self, p: Any, size: Any, origin: Origin | None) -> Any:
        """Whole numbers; a difference of two is discrete Laplace noise."""
        if np.ndim(p) != 0:
            return self.coin("geometric", origin, lambda rng: rng.geometric(p, size))
        shape = () if size is None else shape_of(size)
        if self.tossing:
            counted = self._counted(float(p), shape)
            self.enter(GEOMETRIC, "geometric", counted, origin, float(p))
            return int(counted) if shape == () else counted
        units = np.asarray(self.rng(origin).geometric(p, shape))
        offset = self.moved.get(len(self.draws))
        if offset is not None and offset.shape == units.shape:
            units = units + np.round(offset)
        number = self.enter(GEOMETRIC, "geometric", units, origin, float(p))
        plain = int(units) if shape == () else units.astype(np.int64)
        return self.made(number, plain, lambda unit: unit, GEOMETRIC)

    def _counted(self, p: float, shape: tuple[int, ...]) -> np.ndarray:
        """Geometric numbers as choices: all but those that floats would not tell from never."""
        most = 1 if p >= 1 else math.ceil(math.log(UNLIKELY) / math.log1p(-p))
        weights = p * np.exp(np.arange(max(1, most)) * (math.log1p(-p) if p < 1 else 0.0))
        return np.array([1 + self.chosen(0, weights) for _ in range(math.prod(shape))], np.int64).reshape(shape)

    def choice(self, options: Any, weights: Any, origin: Origin | None) -> Any:
        """One of the options, by weights."""
        weights = np.asarray(weights, float)
        place = int(np.searchsorted(np.cumsum(weights), self.rng(origin).random() * weights.sum(), side="right"))
        self.enter(CHOICE, "choice", (), origin, float(len(weights)))
        place = self.chosen(min(place, len(weights) - 1), weights)
        return place if np.ndim(options) == 0 else np.asarray(options)[place]

    def sampled(self, law: str, call: str, uniforms: tuple[Any, ...]) -> Any:
        """Noise that a known sampler makes of uniform numbers, in place of these."""
        shape, left = np.shape(uniforms[0]), sum(np.size(numbers) for numbers in uniforms)
        for number in range(len(self.draws) - 1, -1, -1):
            draw = self.draws[number]
            if left > 0 and draw.law == "uniform":
                left -= draw.units.size
                self.draws[number] = replace(draw, law=SPENT, units=np.empty(0))
        return self.located(law, call, 0.0, 1.0, shape, None)

    def as_seed(self, entropy: Any) -> Any:
        """A seed in words that are the same for the same seed: coins in it by their number, whatever their value."""
        entropy = entropy.tolist() if isinstance(entropy, np.generic | np.ndarray) else entropy
        if isinstance(entropy, tuple | list):
            return [self.as_seed(part) for part in entropy]
        number = self.tossed.get(repr(entropy))
        if number is None:
            return entropy
        self.seeds.add(number)
        few = self.draws[number].parameter
        if few is not None and few < MANY:
            self.sources.append(f"{caller()} seeds a generator by one of only {few:.0f} numbers")
        return f"coin {number} under noise {self.seed}"

    def deaf(self, what: str) -> None:
        """A source that is not held still was used."""
        self.sources.append(f"{caller()} draws from {what}")


def caller() -> Site:
    """The line that asked, outside of this package and of the libraries that only pass on."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(OURS):
        frame = frame.f_back
    return Site(frame.f_code.co_filename, frame.f_lineno)


def shape_of(size: Any) -> tuple[int, ...]:
    """As numpy reads it."""
    return tuple(int(n) for n in size) if np.ndim(size) else (int(size),)


def twins_of_seed(draws: Sequence[Draw], public: Container[str | None]) -> tuple[Draw, Draw] | None:
    """Two draws that begin at one place of the same stream, and take something else from it, if there are any.

    Both come from generators that were made with one seed that nobody knows: their numbers hang together, how is not
    known. Of a public seed everything is known anyway.
    """
    places: dict[tuple[str, int], Draw] = {}
    for draw in draws:
        if draw.seed is not None and draw.seed not in public:
            other = places.setdefault((draw.seed, draw.turn), draw)
            if other.again != draw.again:
                return other, draw
    return None
