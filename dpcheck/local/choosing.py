"""Which randomiser for which question, and what it costs that nobody is trusted: exact errors at n users.

Errors are against the mean of the very users who report: of numbers and vectors the largest over what they may hold, of
a share that of an item which nobody holds. A curator sees all records and adds Laplace noise of the same eps to their
mean (to a vector noise of density exp(-eps |x| / sensitivity)), for neighbours that differ in one record.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from dpcheck.bounds.privacy.exact import counted
from dpcheck.local.frequencies import ORACLES
from dpcheck.local.means import Hybrid, Laplace, OneBit, Piecewise
from dpcheck.local.randomiser import Randomiser
from dpcheck.local.vectors import L2Ball


@dataclass(frozen=True)
class LocalChoice:
    """The randomisers for one question, the best first, with the root of their mean squared error at n users."""

    question: str
    n: int
    errors: tuple[tuple[str, float], ...]
    central: float

    @property
    def best(self) -> str:
        """The randomiser of least error."""
        return self.errors[0][0]

    @property
    def error(self) -> float:
        """Its error."""
        return self.errors[0][1]

    @property
    def lost(self) -> float:
        """How many times a curator's error that is."""
        return self.error / self.central

    @property
    def users(self) -> float:
        """How many users it would take to have the error that a curator has with n."""
        return self.n * self.lost**2

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self) | {"best": self.best, "error": self.error, "lost": self.lost, "users": self.users}


def which(n: float, d: float, eps: float) -> tuple[LocalChoice, ...]:
    """For a mean of numbers, a mean of vectors in d dimensions and the shares of d items.

    >>> number, vector, items = which(n=10_000, d=64, eps=1.0)
    >>> number.best, round(number.lost)
    ('Hybrid(eps=1.0)', 73)
    """
    n, d = counted("n", n), counted("d", d)
    numbers = [kind(eps) for kind in (Hybrid, OneBit, Piecewise, Laplace)]
    noise = 2 / (n * eps)  # its scale, on a mean that a replaced record moves by 2/n in the question's norm
    found = [choice("mean of a number in [-1, 1]", n, numbers, math.sqrt(2) * noise)]
    if d > 1:
        found += [
            choice(f"mean of a vector of norm 1, d = {d}", n, [L2Ball(eps, d)], math.sqrt(d * (d + 1)) * noise),
            choice(f"share of a rare item, of {d}", n, [kind(eps, d) for kind in ORACLES], math.sqrt(2) * noise),
        ]
    return tuple(found)


def choice(question: str, n: int, known: list[Any], central: float) -> LocalChoice:
    """These randomisers, by their error."""
    errors = sorted((error_of(one, n), repr(one)) for one in known)
    least = min(central, errors[0][0])  # a curator can do what users do, too
    return LocalChoice(question, n, tuple((name, error) for error, name in errors), least)


def error_of(one: Randomiser, n: int) -> float:
    """Root of the mean squared error at n users; of a share, where nobody holds the item."""
    return math.sqrt(one.variance(n))  # type: ignore[attr-defined]
