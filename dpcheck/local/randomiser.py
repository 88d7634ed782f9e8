"""Randomiser: what runs on a user's device, and what the server makes of the reports.

A small frozen value that can be sent to a client: one record in, one private report out. `dp.audit(randomiser,
neighbours=randomiser.neighbours, guarantee=randomiser.guarantee)` attacks it with any two records of its domain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.audits import Neighbours
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import NO_NUMBER
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.kernels.blocks import Seed, seed_of
from dpcheck.kernels.exact_draws import COIN
from dpcheck.kernels.system_generator import SystemGenerator
from dpcheck.settings import allowing, must_be_allowed

Array = np.ndarray
MOST_EPSILON = 20.0  # so that the rarest side of a coin of 62 bits has 2^32 of its numbers
LEAST_EPSILON = 1e-9  # below, a report says nothing, and its scale loses its digits
HAIR = 2.0**-30  # of eps is left for what chances are rounded by, on coins of 62 bits


def epsilon() -> Any:
    """The privacy of one report."""
    refused = (0.0, 5e-324, -1.0, 21.0, np.inf, np.nan, "1", None)
    remedy = "Ten is already little privacy."
    return allowing(1.0, f"a number in [{LEAST_EPSILON:g}, 20]", _some_privacy, refuses=refused, remedy=remedy)


def _some_privacy(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and LEAST_EPSILON <= value <= MOST_EPSILON


@dataclass(frozen=True)
class Randomiser(ABC):
    """An eps-private report of one record, any two records being neighbours, and its server.

    Records of n users are an array whose first axis is the users'; so are their reports.
    """

    eps: float = epsilon()
    width: ClassVar[int | None] = None  # numbers a record has; None for a single one

    def __post_init__(self) -> None:
        must_be_allowed(self)

    @property
    def guarantee(self) -> PureDP:
        """What a report promises its user."""
        return PureDP(self.eps, relation=LOCAL)

    @property
    def spent(self) -> float:
        """What chances are computed with: a hair below eps, so that rounding them never exceeds it."""
        return self.eps * (1 - HAIR)

    @property
    @abstractmethod
    def neighbours(self) -> Neighbours:
        """The domain of records, any two of which are neighbours."""

    @abstractmethod
    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        """One report for each record; all lie in the domain."""

    @abstractmethod
    def aggregate(self, reports: Any) -> Any:
        """The server's unbiased estimate from the reports of n users: their mean, or the share of each item."""

    @abstractmethod
    def loss(self, record: Any, other: Any) -> float:
        """The privacy loss between two records: the largest |log ratio| of a report's chances, exactly."""

    @abstractmethod
    def log_density(self, outputs: Any, data: Any) -> Array:
        """Of reports in rows, given one record, up to a constant."""

    def privatize(self, records: Any, rng: Seed = None, trials: int | None = None) -> Array:
        """One report for each user's record; with `trials`, so many independent reports of a single record.

        Without `rng` the coins come from the operating system's cryptographic generator, as a client's should.
        """
        kept = self.checked(records, single=trials is not None)
        if trials is not None:
            if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
                raise InvalidInput("trials", trials, "a whole number >= 1", "Leave it out for one report a user.")
            kept = np.broadcast_to(kept, (int(trials), *kept.shape[1:]))
        if rng is None:
            return self.drawn(kept, SystemGenerator())
        return self.drawn(kept, rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng)))

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Array:
        """As an audit calls it: reports of one record."""
        return self.privatize(data, rng, trials)

    def checked(self, records: Any, single: bool = False) -> Array:
        """Records as an array, (users,) or (users, width); refused outside the domain."""
        shape = "" if self.width is None else f" of {self.width} numbers"
        try:
            found = np.asarray(records, float)
        except NO_NUMBER:
            found = np.empty(0)
        found = found[None] if single else found
        wanted = found.shape[:1] if self.width is None else (*found.shape[:1], self.width)
        if found.ndim < 1 or found.size == 0 or found.shape != wanted:
            limit = f"one{shape}" if single else f"an array with one row{shape} a user"
            raise InvalidInput("records", records, limit, "Pass `trials` for many reports of one record.")
        return self.must_be_inside(found)

    @abstractmethod
    def must_be_inside(self, records: Array) -> Array:
        """The records, refused where one lies outside of the domain."""

    def reported(self, reports: Any, width: int | None, allowed: str, inside: Any) -> Array:
        """Reports as an array (users,) or (users, width) that the server can read; others are refused."""
        try:
            found = np.asarray(reports, float)
        except (TypeError, ValueError):
            found = np.empty(0)
        shaped = found.ndim == (1 if width is None else 2) and found.size > 0
        shaped = shaped and (width is None or found.shape[1] == width)
        if not shaped or not np.all(np.isfinite(found)) or not np.all(inside(found)):
            limit = f"{'one' if width is None else width} for each user: {allowed}"
            raise InvalidInput("reports", reports, limit, f"Pass what {type(self).__name__}.privatize returned.")
        return found


def falls(rng: np.random.Generator, chance: float, shape: Any) -> Array:
    """Heads with this probability each."""
    return np.asarray(rng.integers(0, 1 << COIN, size=shape) < int(chance * 2.0**COIN))


def must_hold(held: Any, what: Any, limit: str, remedy: str) -> None:
    """Refuse records of which some are outside."""
    if not np.all(held):
        raise InvalidInput("records", np.asarray(what)[~np.asarray(held)][:1].tolist()[0], limit, remedy)
