"""Listening: every generator that is made or shared tells its draws to the book of the run under way."""

from __future__ import annotations

import os
import random
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState  # by their own names, whatever stands in their place meanwhile

from dpcheck.audits.same_noise.draws import FEW, SAMPLERS, Book, Origin, shape_of
from dpcheck.audits.same_noise.holdings import Put, holdings
from dpcheck.audits.same_noise.torch_draws import torch_heard


# Generators -----------------------------------------------------------------------------------------
@dataclass(eq=False)
class Ear:
    """What generators tell their draws to: the book of the run under way; and all of these generators."""

    book: Book
    generators: list[Any] = field(default_factory=list)


class _Laws:
    """The location-scale laws of numpy's generators, told to a book."""

    ear: Ear
    origin: Origin | None

    @property
    def book(self) -> Book:
        return self.ear.book

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return self._standard("uniform", "random", size, dtype, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self.book.located("uniform", "uniform", low, np.subtract(high, low), size, self.origin)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled("Gaussian", "normal", loc, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return self._standard("Gaussian", "standard_normal", size, dtype, out)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled("Laplace", "laplace", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled("logistic", "logistic", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled("Gumbel", "gumbel", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled("exponential", "exponential", 0.0, scale, size)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        return self._standard("exponential", "standard_exponential", size, dtype, out)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._scaled("Cauchy", "standard_cauchy", 0.0, 1.0, () if size is None else size)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *rest: Any, **options: Any) -> Any:
        values, vectors = np.linalg.eigh(np.asarray(cov, float))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        shape = () if size is None else shape_of(size)
        number, units = self.book.units("Gaussian", "multivariate_normal", (*shape, len(root)), self.origin)

        def again(unit: np.ndarray) -> Any:
            return mean + unit @ root

        return self.book.made(number, np.asarray(again(units)), again, "Gaussian")

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self.book.geometric(p, size, self.origin)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *rest: Any, **options: Any) -> Any:
        if p is not None and size is None and not rest and not options and np.ndim(a) <= 1:
            return self.book.choice(a, p, self.origin)
        base = Generator if isinstance(self, Generator) else RandomState
        return _tossed(self, base, "choice", (a, size, replace, p, *rest), options)

    def integers(self, low: Any, high: Any = None, size: Any = None, *rest: Any, **options: Any) -> Any:
        return self._whole(Generator, "integers", (low, high, size, *rest), options)

    def randint(self, low: Any, high: Any = None, size: Any = None, *rest: Any, **options: Any) -> Any:
        return self._whole(RandomState, "randint", (low, high, size, *rest), options)

    def _whole(self, base: type, name: str, args: Any, options: Any) -> Any:
        low, high, size, *rest = args
        if self.book.tossing and size is None and not rest and not options and np.ndim(low) == 0:
            least, most = (0, int(low)) if high is None else (int(low), int(high))
            if 0 < most - least <= FEW:
                return least + self.book.choice(most - least, np.ones(most - least), self.origin)
        one = size is None and np.ndim(low) == 0 and np.ndim(high) == 0
        outcomes = float(low if high is None else high - low) if one else None
        return _tossed(self, base, name, args, options, outcomes)

    def _standard(self, law: str, call: str, size: Any, dtype: Any, out: Any) -> Any:
        if out is not None:
            out[...] = self._standard(law, call, np.shape(out), out.dtype, None)
            return out
        return self.book.located(law, call, 0.0, 1.0, () if size is None else size, self.origin, np.dtype(dtype))

    def _scaled(self, law: str, call: str, loc: Any, scale: Any, size: Any) -> Any:
        if np.any(np.asarray(scale) < 0):
            raise ValueError("scale < 0")
        return self.book.located(law, call, loc, scale, size, self.origin)


class ListenedGenerator(_Laws, Generator):
    """numpy's Generator, listened to."""

    def __init__(self, ear: Ear, origin: Origin | None = None) -> None:
        Generator.__init__(self, np.random.PCG64(0))
        self.ear, self.origin = ear, origin
        ear.generators.append(self)

    def untouched(self) -> bool:
        """Whether nobody drew from it behind the book's back."""
        return bool(super().bit_generator.state == UNTOUCHED_BITS)

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        if self.origin is None:
            return [ListenedGenerator(self.ear) for _ in range(n_children)]
        self.origin.turns += 1
        words = f"{self.origin.words}, spawned at {self.origin.turns}"
        return [ListenedGenerator(self.ear, Origin(f"{words}, {i}")) for i in range(n_children)]

    @property
    def bit_generator(self) -> Any:
        self.book.deaf("the bits of a generator")
        return super().bit_generator


class ListenedState(_Laws, RandomState):
    """numpy's RandomState, listened to."""

    def __init__(self, ear: Ear, origin: Origin | None = None) -> None:
        RandomState.__init__(self, 0)
        self.ear, self.origin = ear, origin
        ear.generators.append(self)

    def untouched(self) -> bool:
        """Whether nobody drew from it behind the book's back."""
        state = RandomState.get_state(self, legacy=False)["state"]
        return bool(state["pos"] == UNTOUCHED_STATE["pos"] and np.array_equal(state["key"], UNTOUCHED_STATE["key"]))

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        return self.standard_normal(shape or None)

    def random_sample(self, size: Any = None) -> Any:
        return self.random(size)

    ranf = sample = random_sample

    def seed(self, seed: Any = None) -> None:
        self.origin = _origin(self.book, seed, "RandomState")


class ListenedRandom(Random):
    """Python's Random, listened to."""

    def __init__(self, ear: Ear, origin: Origin | None = None) -> None:
        self.ear: Ear | None = None
        super().__init__(0)
        self.ear, self.origin = ear, origin
        self.fresh = self.getstate()
        ear.generators.append(self)

    def untouched(self) -> bool:
        """Whether nobody drew from it behind the book's back."""
        return self.getstate() == self.fresh

    def _told(self) -> Book:
        assert self.ear is not None
        return self.ear.book

    def random(self) -> Any:
        return self._told().located("uniform", "random", 0.0, 1.0, (), self.origin)

    def uniform(self, a: Any, b: Any) -> Any:
        return self._told().located("uniform", "uniform", a, b - a, (), self.origin)

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._told().located("Gaussian", "gauss", mu, sigma, (), self.origin)

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._told().located("Gaussian", "normalvariate", mu, sigma, (), self.origin)

    def expovariate(self, lambd: Any = 1.0) -> Any:
        return self._told().located("exponential", "expovariate", 0.0, 1.0 / lambd, (), self.origin)

    def _randbelow(self, n: int) -> int:  # what Random's choices, samples and whole numbers are made of
        if self._told().tossing and 0 < n <= FEW:
            return int(self._told().choice(n, np.ones(n), self.origin))
        return int(self._told().coin("randrange", self.origin, partial(_below, n), float(n)))

    def getrandbits(self, k: int) -> int:
        return int(self._told().coin("getrandbits", self.origin, partial(_below, 1 << k), 2.0 ** min(k, 1000)))

    def seed(self, a: Any = None, version: int = 2) -> None:
        if self.ear is not None:
            self.origin = _origin(self.ear.book, a, "Random")


def _below(n: int, rng: np.random.Generator) -> int:
    return int.from_bytes(rng.bytes(n.bit_length() // 8 + 16)) % n


UNTOUCHED_BITS = np.random.PCG64(0).state
UNTOUCHED_STATE: Any = RandomState(0).get_state(legacy=False)["state"]


def _pass_on(kind: type, base: type, known: type) -> None:
    """Every other public method of numpy's class is a coin: drawn by a fresh generator, told to the book."""
    for name in dir(base):
        method = getattr(base, name)
        if name.startswith("_") or name in vars(known) or name in vars(kind) or not callable(method):
            continue
        if name in ("get_state", "set_state"):
            continue

        def coin(self: Any, *args: Any, _name: str = name, **options: Any) -> Any:
            return _tossed(self, base, _name, args, options)

        setattr(kind, name, coin)


def _tossed(listened: Any, base: type, name: str, args: Any, options: Any, outcomes: float | None = None) -> Any:
    """A draw of numpy's that is a coin."""

    def value(rng: np.random.Generator) -> Any:
        drawing = rng if base is Generator else RandomState(int(rng.integers(2**32)))
        return getattr(drawing, name)(*args, **options)

    return listened.book.coin(name, listened.origin, value, outcomes)


_pass_on(ListenedGenerator, Generator, _Laws)
_pass_on(ListenedState, RandomState, _Laws)


# Where generators are made --------------------------------------------------------------------------
@dataclass(eq=False)
class Room:
    """While it is open, every generator that is made or shared is listened to, by whatever name is known."""

    ear: Ear
    shared: ListenedState
    plain: ListenedRandom
    before: tuple[Any, ...]
    all_of_torch: Callable[[], bool]  # starts a run

    @contextmanager
    def run(self, book: Book) -> Iterator[ListenedGenerator]:
        """One run, told to its own book."""
        self.ear.book, self.shared.origin, self.plain.origin = book, None, None
        known = len(self.ear.generators)
        self.all_of_torch()
        yield ListenedGenerator(self.ear)
        if not all(generator.untouched() for generator in self.ear.generators):
            book.sources.append("something draws from a generator past its methods")
        if not self.all_of_torch():
            book.sources.append("something draws from torch's generator unheard")
        del self.ear.generators[known:]  # made in this run

    def strays(self) -> list[str]:
        """Global generators that were used by a name that is not known here."""
        both = zip(("numpy's", "Python's"), self.before, _global_states(), strict=True)
        return [f"something draws from {whose} global generator unheard" for whose, one, two in both if one != two]


def _global_states() -> tuple[Any, ...]:
    state = np.random.mtrand._rand.get_state(legacy=False)["state"]
    return (state["pos"], state["key"].tobytes()), random.getstate()


@contextmanager
def listening(mechanism: Any) -> Iterator[Room]:
    """Every generator that is made, shared or held by the mechanism is listened to, by whatever name it knows it."""
    ear = Ear(Book(0))
    with torch_heard(ear, lambda seed: _origin(ear.book, seed, "torch")) as all_of_torch:
        room = Room(ear, ListenedState(ear), ListenedRandom(ear), _global_states(), all_of_torch)
        with _replaced(room, mechanism):
            yield room


@contextmanager
def _replaced(room: Room, mechanism: Any) -> Iterator[None]:
    ear = room.ear
    replaced: list[tuple[Any, str, Any]] = [
        (np.random, "default_rng", lambda seed=None: _generator(ear, seed)),
        (np.random, "Generator", _stand_in(Generator, lambda seed=None: _generator(ear, seed))),
        (
            np.random,
            "RandomState",
            _stand_in(RandomState, lambda seed=None: ListenedState(ear, _origin(ear.book, seed, "RandomState"))),
        ),
        (random, "Random", _stand_in(Random, lambda seed=None: ListenedRandom(ear, _origin(ear.book, seed, "Random")))),
        (random, "SystemRandom", _stand_in(random.SystemRandom, lambda seed=None: ListenedRandom(ear))),
        (secrets, "SystemRandom", _stand_in(random.SystemRandom, lambda seed=None: ListenedRandom(ear))),
        (os, "urandom", lambda size: ear.book.coin("urandom", None, lambda rng: rng.bytes(size))),
        *((np.random, name, getattr(room.shared, name)) for name in NUMPY),
        *((random, name, getattr(room.plain, name)) for name in PYTHON),
        *((secrets, name, _coin(ear, name)) for name in SECRETS),
    ]
    replaced += [
        (getattr(sys.modules[module], kind), name, _sampler(ear, law, name))
        for (module, kind, name), law in SAMPLERS.items()
        if module in sys.modules
    ]
    new = {id(getattr(module, name)): value for module, name, value in replaced}
    kept: list[tuple[Put, Any]] = [(partial(setattr, module, name), vars(module)[name]) for module, name, _ in replaced]
    puts: list[tuple[Put, Any]] = [(partial(setattr, module, name), value) for module, name, value in replaced]
    for held in holdings(mechanism):
        heard = new.get(id(held.value)) or _listened(ear, held.value)
        if held.put is not None and heard is not None:
            kept.append((held.put, held.value))
            puts.append((held.put, heard))
    try:
        for put, value in puts:
            put(value)
        yield
    finally:
        for put, value in kept:
            put(value)


def _sampler(ear: Ear, law: str, name: str) -> Any:
    return staticmethod(lambda *uniforms: ear.book.sampled(law, name, uniforms))


NUMPY = [
    n for n in dir(np.random) if n.islower() and hasattr(RandomState, n) and not n.startswith("_") and "state" not in n
]
SECRETS = ("randbelow", "randbits", "choice", "token_bytes", "token_hex")
PYTHON = [n for n in dir(Random) if n[0] != "_" and callable(getattr(random, n, None)) and not n.endswith("state")]


def _listened(ear: Ear, value: Any) -> Any:
    """A listened generator in place of a generator, or a method of one in place of its method; else None."""
    for base, kind in KINDS.items():
        if isinstance(value, base):
            return kind(ear)
        if isinstance(getattr(value, "__self__", None), base):
            return getattr(kind(ear), value.__name__, None)
    return None


KINDS: dict[type, Any] = {Generator: ListenedGenerator, RandomState: ListenedState, Random: ListenedRandom}


def _generator(ear: Ear, seed: Any) -> np.random.Generator:
    if isinstance(seed, ListenedGenerator):
        return seed
    if isinstance(seed, Generator):
        ear.book.deaf("a generator of its own")
        return seed
    return ListenedGenerator(ear, _origin(ear.book, seed))


def _origin(book: Book, seed: Any, kind: str = "") -> Origin | None:
    """What a generator of a kind was made from, in words that are the same for the same seed; None for the system's."""
    if isinstance(seed, np.random.BitGenerator):
        seed = seed.seed_seq
    entropy: Any = seed
    branch: tuple[int, ...] = ()
    if isinstance(seed, np.random.SeedSequence):
        entropy, branch = seed.entropy, seed.spawn_key
    if entropy is None:
        return None
    words = f"{book.as_seed(entropy)!r}{f' of {kind}' if kind else ''}"
    return Origin(f"{words}, branch {branch}" if branch else words)


def _coin(ear: Ear, name: str) -> Callable[..., Any]:
    def draw(*args: Any) -> Any:
        return ear.book.coin(name, None, lambda rng: getattr(_Secret(int(rng.integers(2**63))), name)(*args))

    return draw


class _Secret(Random):
    """What `secrets` offers, by a seeded generator."""

    def randbelow(self, n: int) -> int:
        return self.randrange(n)

    def randbits(self, k: int) -> int:
        return self.getrandbits(k)

    def token_bytes(self, n: int | None = None) -> bytes:
        return self.randbytes(32 if n is None else n)

    def token_hex(self, n: int | None = None) -> str:
        return self.token_bytes(n).hex()


def _stand_in(kind: type, make: Callable[..., Any]) -> Any:
    """A class in name: calling it makes a listened generator, and instances of the real one count as its own."""

    class Meta(type):
        def __call__(cls, *args: Any, **options: Any) -> Any:
            return make(*args, **options)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, kind)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, kind)

        def __getattr__(cls, name: str) -> Any:
            return getattr(kind, name)

    return Meta(kind.__name__, (), {"__doc__": kind.__doc__})
