"""What noisy answers cost together: sound bounds on the tight epsilon, under both relations, and the least noise.

account(noise=1.1, rate=0.01, steps=1000, delta=1e-5)            # DP-SGD
account(NoisyRelease(noise=20, law="laplace", steps=10), NoisyRelease(noise=1.1, rate=0.01, steps=1000), delta=1e-5)
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any, Literal

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number, one_of
from dpcheck.bounds.language.guarantees import ADD_REMOVE, REPLACE_ONE, ApproxDP, PureDP, Relation
from dpcheck.bounds.privacy.exact import Interval, counted
from dpcheck.bounds.privacy.laws import Gaussian, Laplace, Poisson, WithoutReplacement
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.bounds.privacy.sampled_gaussian import crossing

Sampling = Literal["poisson", "fixed"]
LAWS: dict[str, type[Gaussian] | type[Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}
RELATIONS = {"add-remove": ADD_REMOVE, "replace-one": REPLACE_ONE}
# A record added moves a sum by its own contribution; one replaced by another, by two that may point opposite ways.
CONTRIBUTIONS = {ADD_REMOVE: 1.0, REPLACE_ONE: 2.0}


LEAST_RATE = 1e-12  # below, 1 - rate has lost its digits


@dataclass(frozen=True)
class NoisyRelease:
    """`steps` sums over records, each with noise of `law` and scale `noise` times the largest contribution of a record.

    A step takes each record with probability `rate` ("poisson"), or that share of them ("fixed"). Contributions are
    bounded in l2 for Gaussian and in l1 for Laplace noise. Without `noise`, `account` finds the least.
    """

    noise: float | None = None
    rate: float = 1.0
    steps: int = 1
    sampling: Sampling = "poisson"
    law: str = "gaussian"

    def __post_init__(self) -> None:
        if self.noise is not None:
            number("noise", self.noise, "a finite number > 0", "Give another noise.", lambda v: 0 < v < math.inf)
        object.__setattr__(self, "steps", counted("steps", self.steps))
        remedy = "It is the share of the records in a step."
        number("rate", self.rate, f"a number in [{LEAST_RATE:g}, 1]", remedy, lambda found: LEAST_RATE <= found <= 1)
        for name, value, known in (("sampling", self.sampling, ("poisson", "fixed")), ("law", self.law, (*LAWS,))):
            one_of(name, value, known, f"Leave it out for {known[0]}.")

    def release(self, relation: Relation) -> Release:
        """As the accountants read it; noise that is open counts as 1."""
        scheme = None
        if self.rate < 1:
            share = Fraction(self.rate)  # only batch / n counts
            fixed = WithoutReplacement(share.numerator, share.denominator)
            scheme = Poisson(self.rate) if self.sampling == "poisson" else fixed
        scale = 1.0 if self.noise is None else float(self.noise)
        return Release(CONTRIBUTIONS[relation], LAWS[self.law](scale), scheme, self.steps, relation=relation)

    def __str__(self) -> str:
        times = "1 answer" if self.steps == 1 else f"{self.steps} answers"
        scale = "" if self.noise is None else f" {self.noise:.6g} times a record's largest contribution"
        drawn = f"each record with probability {self.rate:g}"
        fixed = f"a fixed share, {self.rate:g}, of the records"
        over = "all records" if self.rate == 1 else drawn if self.sampling == "poisson" else fixed
        return f"{times} with {self.law.capitalize()} noise{scale}, from {over}"


@dataclass(frozen=True)
class Spent:
    """Under one relation: the releases with their noise, and sound bounds on their tight epsilon."""

    relation: Relation
    releases: tuple[NoisyRelease, ...]
    low: float
    high: float


@dataclass(frozen=True)
class Spending:
    """What `account` found. `target` is the epsilon that noise was sought for, if it was."""

    delta: float
    spent: tuple[Spent, ...]
    target: float | None = None
    notes: tuple[str, ...] = ()

    def under(self, relation: Relation) -> Spent:
        """The account under that relation."""
        for one in self.spent:
            if one.relation == relation:
                return one
        known = " or ".join(str(one.relation) for one in self.spent)
        raise InvalidInput("relation", str(relation), known, "Ask account() for it.")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """One a relation: its name, bounds on epsilon rounded outwards, delta, and the noise of each release."""
        return [
            (
                str(one.relation),
                outwards(one.low, -1),
                outwards(one.high, 1),
                f"{self.delta:g}",
                " ".join(map(self._noise_text, one.releases)),
            )
            for one in self.spent
        ]

    def _noise_text(self, release: NoisyRelease) -> str:
        """As given, or rounded up where it was sought."""
        noise = float(release.noise or 0.0)
        return f"{noise:.6g}" if self.target is None else outwards(noise, 1)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        spent = [
            {
                "relation": str(one.relation),
                "eps_low": one.low,
                "eps_high": one.high,
                "releases": [asdict(release) for release in one.releases],
            }
            for one in self.spent
        ]
        return {"delta": self.delta, "target": self.target, "spent": spent, "notes": list(self.notes)}

    def __str__(self) -> str:
        first = self.spent[0].releases
        lines = [str(one if self.target is None else replace(one, noise=None)) for one in first]
        for name, low, high, delta, noise in self.rows:
            found = f"{low} ≤ ε ≤ {high} at δ = {delta}"
            sought = f"least noise {noise}, where " if self.target is not None else ""
            lines.append(f"{name}: {sought}{found}")
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        titles = ("relation", "ε at least", "ε at most", "δ", "noise")
        head, *body = (
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
            for tag, cells in (("th", titles), *(("td", row) for row in self.rows))
        )
        said = "".join(f"<p>{escape(line)}</p>" for line in (*map(str, self.spent[0].releases), *self.notes))
        return f"{said}<table>{head}{''.join(body)}</table>"


def account(
    *releases: NoisyRelease,
    delta: float,
    eps: float | None = None,
    relation: Relation | None = None,
    noise: float | None = None,
    rate: float = 1.0,
    steps: int = 1,
    sampling: Sampling = "poisson",
    law: str = "gaussian",
) -> Spending:
    """The tight epsilon at `delta` of all releases together, between sound bounds, under both relations or one.

    One release is given by `noise`, `rate`, `steps`, `sampling` and `law`, several as NoisyRelease. With `eps` the
    least noise that keeps it is found for those without noise, or one factor for all if each has some. Raises
    InvalidInput where no account is known, and where the noise that is given spends more than `eps` already.
    """
    if releases and (noise, rate, steps, sampling, law) != (None, 1.0, 1, "poisson", "gaussian"):
        limit = "given in each NoisyRelease"
        raise InvalidInput("noise, rate, steps, sampling or law", "given beside releases", limit, "Move it there.")
    releases = releases or (NoisyRelease(noise, rate, steps, sampling, law),)
    delta = number("delta", delta, "a number in [0, 1)", "Use 1e-5 for example.", lambda found: 0 <= found < 1)
    if eps is None and any(one.noise is None for one in releases):
        raise InvalidInput("noise", None, "given, or sought for an eps", "Pass noise=1.1, or eps=1.0.")
    if eps is not None:
        number("eps", eps, "a finite number > 0", "Give another eps.", lambda found: 0 < found < math.inf)
    if delta == 0 and any(one.law != "laplace" or one.rate < 1 for one in releases):
        raise InvalidInput("delta", delta, "> 0 for Gaussian noise and for batches", "Use 1e-5 for example.")
    spent, notes = [], []
    for one in (relation,) if relation is not None else (ADD_REMOVE, REPLACE_ONE):
        if not isinstance(one, Relation) or one not in CONTRIBUTIONS:
            raise InvalidInput("relation", str(one), "add/remove-one or replace-one", "Leave it out for both.")
        if relation is None and one == ADD_REMOVE and any(a.sampling == "fixed" and a.rate < 1 for a in releases):
            notes.append("add/remove-one: batches of a fixed size have no account; use Poisson sampling.")
            continue
        noised = releases if eps is None else with_least_noise(releases, eps, delta, one)
        found = epsilon_of(noised, delta, one)
        spent.append(Spent(one, noised, found.low, found.high))
    return Spending(float(delta), tuple(spent), eps, tuple(notes))


def epsilon_of(releases: Sequence[NoisyRelease], delta: float, relation: Relation) -> Interval:
    """Bounds on the tight epsilon of all of them; for delta = 0 of Laplace noise on sums of all records."""
    if delta > 0:
        return Composed(tuple(one.release(relation) for one in releases)).epsilon(delta)
    total = math.fsum(one.steps * CONTRIBUTIONS[relation] / float(one.noise or 1.0) for one in releases)
    return Interval(total, total)


def with_least_noise(
    releases: Sequence[NoisyRelease], eps: float, delta: float, relation: Relation
) -> tuple[NoisyRelease, ...]:
    """With the least noise, rounded up, for those that have none; with all noise multiplied if each has some."""
    free = [one.noise is None for one in releases]
    if not any(free):
        free = [True] * len(releases)

    def noised(factor: float) -> tuple[NoisyRelease, ...]:
        scaled = [replace(one, noise=factor * (one.noise or 1.0)) for one in releases]
        return tuple(new if open_ else one for new, one, open_ in zip(scaled, releases, free, strict=True))

    if all(free):
        released = Composed(tuple(one.release(relation) for one in releases))
        wanted = ApproxDP(eps, delta, relation=relation) if delta > 0 else PureDP(eps, relation=relation)
        before = float(releases[0].noise or 1.0)
        return noised(float(released.calibrated(wanted).parts[0].law.scale) / before * (1 + 1e-12))
    kept = tuple(one for one, open_ in zip(releases, free, strict=True) if not open_)
    already = epsilon_of(kept, delta, relation)
    if already.high >= eps:
        limit = f"above {already.high:.4g}, which the releases with noise spend under {relation}"
        raise InvalidInput("eps", eps, limit, "Raise it, or leave their noise open too.")
    return noised(crossing(lambda factor: epsilon_of(noised(factor), delta, relation).high / eps - 1)[1])


def outwards(value: float, way: int, digits: int = 6) -> str:
    """A positive number with so many digits, rounded up (way = 1) or down (-1)."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounding = decimal.ROUND_CEILING if way > 0 else decimal.ROUND_FLOOR
    return f"{float(decimal.Context(digits, rounding).create_decimal_from_float(value)):.{digits}g}"
