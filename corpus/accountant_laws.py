"""What every accountant of noisy sums must keep to, whatever its method: laws between two of its own answers.

An account is asked for the epsilon of several releases together, under add/remove-one neighbours with Poisson batches,
and answers with bounds from both sides; one that gives a bound from above alone answers with that twice. A law draws two
questions of which the first has the smaller answer, or the same one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dpcheck.bounds.language.guarantees import gaussian_delta

Bounds = tuple[float, float]
NOISE, RATES, DELTAS, MOST_STEPS, TIMES = (0.6, 8.0), (1e-3, 1.0), (1e-8, 1e-3), 300, (1.01, 3.0)


@dataclass(frozen=True)
class Part:
    """`steps` sums with normal noise of `noise` times one record's share, of batches that take each with chance `rate`."""

    noise: float
    rate: float = 1.0
    steps: int = 1


@dataclass(frozen=True)
class Question:
    """Which epsilon, at `delta`, all parts together."""

    parts: tuple[Part, ...]
    delta: float


Account = Callable[[Question], Bounds]


@dataclass(frozen=True)
class Drawn:
    """What laws are made of: a release, another one, delta, and a factor above 1."""

    one: Part
    other: Part
    delta: float
    times: float

    @property
    def asked(self) -> Question:
        return Question((self.one,), self.delta)


@dataclass(frozen=True)
class Law:
    """`less(drawn)` has at most the epsilon of `more(drawn)`, and the same one if `equal`."""

    name: str
    less: Callable[[Drawn], Question | float]
    more: Callable[[Drawn], Question | float]
    equal: bool = False

    def broken(self, account: Account, drawn: Drawn, slack: float = 1e-9, absolute: float = 1e-12) -> str:
        """In words by how much the answers contradict it, beyond `slack`; nothing if they do not."""
        less, more = (_answer(account, ask(drawn)) for ask in (self.less, self.more))
        if less[0] > more[1] * (1 + slack) + absolute or math.isnan(sum((*less, *more))):
            return f"{less[0]:.6g} is not at most {more[1]:.6g}"
        if self.equal and more[0] > less[1] * (1 + slack) + absolute:
            return f"{less[1]:.6g} is not {more[0]:.6g}"
        return ""


def _answer(account: Account, question: Question | float) -> Bounds:
    return account(question) if isinstance(question, Question) else (question, question)


def gaussian(noise: float, delta: float) -> float:
    """The epsilon of one sum of all records, by its closed form, for which no accountant is needed."""
    mu = 1 / noise
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    return float(brentq(lambda eps: float(gaussian_delta(eps, mu)) - delta, 0.0, mu * (mu / 2 + 40), xtol=1e-13))


def changed(**fields: Callable[[Drawn], Any]) -> Callable[[Drawn], Question]:
    """The release with other fields."""
    return lambda drawn: replace(
        drawn.asked, parts=(replace(drawn.one, **{name: new(drawn) for name, new in fields.items()}),)
    )


def asked(drawn: Drawn) -> Question:
    return drawn.asked


def together(*parts: Callable[[Drawn], Part]) -> Callable[[Drawn], Question]:
    return lambda drawn: Question(tuple(part(drawn) for part in parts), drawn.delta)


def one(drawn: Drawn) -> Part:
    return drawn.one


def other(drawn: Drawn) -> Part:
    return drawn.other


LAWS = (
    Law("more noise loses no more", changed(noise=lambda d: d.one.noise * d.times), asked),
    Law("a larger delta has no larger epsilon", lambda d: replace(d.asked, delta=d.delta * d.times), asked),
    Law("fewer steps lose no more", asked, changed(steps=lambda d: d.one.steps + d.other.steps)),
    Law("smaller batches lose no more", changed(rate=lambda d: d.one.rate / d.times), asked),
    Law("one release less loses no more", asked, together(one, other)),
    Law("the order is of no account", together(one, other), together(other, one), equal=True),
    Law(
        "steps may be split",
        changed(steps=lambda d: d.one.steps + d.other.steps),
        together(one, lambda d: replace(d.one, steps=d.other.steps)),
        equal=True,
    ),
    Law(
        "t sums of all records are one with noise over the root of t",
        changed(rate=lambda d: 1.0),
        lambda d: Question((Part(d.one.noise / math.sqrt(d.one.steps)),), d.delta),
        equal=True,
    ),
    Law(
        "one sum of all records has its closed form",
        changed(rate=lambda d: 1.0, steps=lambda d: 1),
        lambda d: gaussian(d.one.noise, d.delta),
        equal=True,
    ),
    Law("a sampled step loses no more than one of all records", asked, changed(rate=lambda d: 1.0)),
    Law(
        "much noise leaves nothing",
        lambda d: Question((Part(1e5 * d.one.noise, d.one.rate, d.one.steps),), d.delta),
        lambda d: 0.01,
    ),
)


def drawn_at(rng: np.random.Generator) -> Drawn:
    """One of many settings, for accountants that are tried outside of hypothesis."""

    def between(ends: tuple[float, float]) -> float:
        return float(np.exp(rng.uniform(*np.log(ends))))

    def part() -> Part:
        return Part(between(NOISE), between(RATES), int(rng.integers(1, MOST_STEPS)))

    return Drawn(part(), part(), between(DELTAS), between(TIMES))
