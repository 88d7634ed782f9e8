"""Release: what an algorithm lets out and how, as one value that accountant, calibration and transcript all read.

gradients = Release(2 * G / n, Gaussian(sigma), steps=T)         # in the symbols of a claim
gradients.at(n=100, G=1, T=50).calibrated(ApproxDP(1, 1e-5))     # in numbers, with the least noise that keeps it
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import sympy

from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    OF_ONE_USER,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    Guarantee,
    PureDP,
    Relation,
)
from dpcheck.bounds.privacy import (
    batches,
    exact,
    random_iterate,
    sampled_gaussian,
    selections,
    smooth_noise,
    wishart_noise,
)
from dpcheck.bounds.privacy.exact import Interval
from dpcheck.bounds.privacy.laws import (
    RESPONSES,
    Coins,
    Gaussian,
    InOrder,
    Interaction,
    L2Laplace,
    Laplace,
    Law,
    Poisson,
    Scheme,
    Selected,
    SmoothNoise,
    Wishart,
    WithoutReplacement,
)

ORDINARY = (1e-6, 1e6)  # sensitivities that need no other unit
ZERO, ONE = sympy.Integer(0), sympy.Integer(1)
SHARES = (0.01, 0.03, 0.1, 0.2, 1 / 3, 0.5)  # of the variance for what all records enter; 1/3 is best for many steps


class Seen(enum.Enum):
    """What of the steps is let out."""

    EVERYTHING = "every noisy answer"
    RANDOM_ITERATE = "x_R, R uniform on 1..T: what R - 1 answers made of the start"


@dataclass(frozen=True)
class Release:
    """Noise of one law on an answer, `steps` times, adaptively chosen.

    `sensitivity` is how far a record moves the answer of a step whose batch holds it: between two records under
    replace-one, between record and none under add/remove. `always` is the same for a part of the answer that all
    records enter, under the same noise (the full gradient of SVRG). Symbolic or numeric: `at` fills in numbers.
    Of a local protocol it says what a user knows of earlier reports, and whose coins are seen with the reports.
    With `in_pieces` one answer goes out in several steps, all of which a record moves by `sensitivity` together.
    """

    sensitivity: Any
    law: Law
    sampling: Scheme | None = None
    steps: Any = ONE
    always: Any = ZERO
    seen: Seen = Seen.EVERYTHING
    relation: Relation = REPLACE_ONE
    interaction: Interaction = Interaction.NONE
    coins: Coins = Coins.PRIVATE
    in_pieces: bool = False

    def __post_init__(self) -> None:
        spoken = (self.interaction, self.coins)
        if spoken != (Interaction.NONE, Coins.PRIVATE) and self.relation.name not in OF_ONE_USER:
            limit = "said of a local protocol alone"
            raise InvalidInput("interaction and coins", [s.name for s in spoken], limit, "Use relation=LOCAL.")
        if self.interaction is Interaction.SEQUENTIAL and (self.sampling is not None or self.always != 0):
            limit = "without sampling: each user answers in one step"
            raise InvalidInput("sequential release", str(self.sampling), limit, "Leave out `sampling` and `always`.")

    @property
    def answered(self) -> Any:
        """The number of steps that a record takes part in, where it takes part in all that it may."""
        return ONE if self.interaction is Interaction.SEQUENTIAL else self.steps

    @property
    def parts(self) -> tuple[Release, ...]:
        """The releases it is composed of: itself."""
        return (self,)

    @property
    def ratio(self) -> Any:
        """Sensitivity over the scale of the noise."""
        return self.sensitivity / self.law.scale

    @property
    def always_ratio(self) -> Any:
        """The same for the part that all records enter."""
        return self.always / self.law.scale

    @property
    def numbers(self) -> tuple[sympy.Expr, ...]:
        """Its expressions: ratio, steps, ratio of what all records enter, and the numbers of sampling and of law."""
        own = () if self.sampling is None else tuple(vars(self.sampling).values())
        if isinstance(self.law, Wishart):
            own = (*own, self.law.excess)
        return tuple(sympy.sympify(e) for e in (self.ratio, self.answered, self.always_ratio, *own))

    def at(self, **values: float) -> Release:
        """With numbers for symbols. The scale of the noise may stay open: `calibrated` finds it."""

        def filled(value: Any) -> Any:
            if not isinstance(value, sympy.Basic):
                return value
            found = value.subs({s: values[str(s)] for s in value.free_symbols if str(s) in values})
            return float(found) if found.is_number else found

        inner: dict[str, Any] = {
            name: replace(part, **{f.name: filled(getattr(part, f.name)) for f in fields(part)})
            for name, part in (("law", self.law), ("sampling", self.sampling))
            if part is not None
        }
        return replace(self, **{k: filled(getattr(self, k)) for k in ("sensitivity", "steps", "always")}, **inner)

    def with_noise(self, scale: float) -> Release:
        """The same with noise of this scale."""
        return replace(self, law=replace(self.law, scale=scale))

    def with_noise_times(self, factor: float) -> Release:
        """The same with the noise multiplied."""
        return replace(self, law=self.law.times(factor))

    def followed_by(self, *others: Release) -> Composed:
        """This release first, then the others."""
        return Composed((self, *others))

    # What it promises -------------------------------------------------------------------------------
    def calibrated(self, guarantee: Guarantee) -> Release:
        """With the least noise, rounded up, that is certified to keep the guarantee; refused where none is known."""
        return self.with_noise(1.0).with_noise_times(least_factor(self.with_noise(1.0), guarantee))

    def epsilon(self, delta: float) -> Interval:
        """Sound bounds on the tight epsilon at delta."""
        return epsilon_of(self, delta)

    def supports(self, guarantee: Guarantee) -> bool:
        """Whether a certified calibration to this guarantee is known."""
        try:
            account_of(self.parts, guarantee)
        except InvalidInput:
            return False
        return True


@dataclass(frozen=True)
class Composed:
    """Releases one after the other, adaptively, all seen; their noise is scaled together.

    With `in_turn` they take turns, a step of each in every round: a noisy gradient, then a noisy Hessian, and again.
    What they cost together is the same.
    """

    parts: tuple[Release, ...]
    in_turn: bool = False

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidInput("parts", self.parts, "at least one release", "Compose what is let out.")
        for part in self.parts:
            if part.relation != self.relation:
                limit = f"{self.relation}, which the first release is for"
                remedy = "State all releases for one relation."
                raise MixedRelations("neighbouring relation", str(part.relation), limit, remedy)
        if self.in_turn and len({part.steps for part in self.parts}) > 1:
            given = [str(part.steps) for part in self.parts]
            raise InvalidInput("steps", given, "the same for releases that take turns", "Compose them in order.")

    @property
    def relation(self) -> Relation:
        return self.parts[0].relation

    @property
    def steps(self) -> Any:
        return sum(part.steps for part in self.parts)

    def at(self, **values: float) -> Composed:
        """With numbers for symbols."""
        return replace(self, parts=tuple(part.at(**values) for part in self.parts))

    def with_noise_times(self, factor: float) -> Composed:
        """The same with all noise multiplied."""
        return replace(self, parts=tuple(part.with_noise_times(factor) for part in self.parts))

    def calibrated(self, guarantee: Guarantee) -> Composed:
        """With all noise multiplied by the least factor that keeps the guarantee."""
        return self.with_noise_times(least_factor(self, guarantee))

    def epsilon(self, delta: float) -> Interval:
        """Sound bounds on the tight epsilon at delta."""
        return epsilon_of(self, delta)

    supports = Release.supports


Released = Release | Composed


# Calibration -----------------------------------------------------------------------------------------
def least_factor(released: Released, guarantee: Guarantee) -> float:
    """The least factor on all noise, rounded up, with which the releases keep the guarantee.

    Accounts search about 1: releases that are far from it are measured in a power of two near their sensitivity.
    """
    parts, account = released.parts, account_of(released.parts, guarantee)
    largest = max(float(part.ratio) + float(part.always_ratio) for part in parts)
    if largest == 0 or not math.isfinite(largest) or ORDINARY[0] <= largest <= ORDINARY[1]:
        return float(account(parts, guarantee))
    unit = math.ldexp(1.0, math.frexp(largest)[1])
    scaled = tuple(replace(p, sensitivity=float(p.sensitivity) / unit, always=float(p.always) / unit) for p in parts)
    return float(account(scaled, guarantee)) * unit


def account_of(parts: Sequence[Release], guarantee: Guarantee) -> Any:
    """The account that can calibrate these releases to this guarantee; an unknown combination is refused."""
    if any(part.relation != guarantee.relation for part in parts):
        limit = f"{parts[0].relation}, which this release is for"
        remedy = "Convert the guarantee with to_relation(), or state the release for the other relation."
        raise MixedRelations("neighbouring relation", str(guarantee.relation), limit, remedy)
    laws, seen = {type(part.law) for part in parts}, {part.seen for part in parts}
    sampled = any(part.sampling is not None and not isinstance(part.sampling, InOrder) for part in parts)
    whole = seen == {Seen.EVERYTHING}
    pure = isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0)
    exact_for_gaussians = laws == {Gaussian} and not sampled
    if exact_for_gaussians and not pure:
        if whole:
            return _gaussian_factor
        if len(parts) == 1:
            return _iterate_factor
    if laws == {Selected} and len(parts) == 1 and not sampled and isinstance(guarantee, PureDP | ApproxDP | ZCDP):
        return _selection_factor
    if laws <= {Laplace, L2Laplace} and not sampled and whole and pure:
        return _pure_factor
    if laws <= {*RESPONSES} and len(parts) == 1 and not sampled and whole and isinstance(guarantee, PureDP):
        return _one_bit_factor
    if laws == {SmoothNoise} and len(parts) == 1 and not sampled and whole and not pure:
        arsinh = getattr(parts[0].law, "noise", "") == "arsinh"
        if isinstance(guarantee, ApproxDP | ZCDP if arsinh else ApproxDP) and (arsinh or count(parts[0]) == 1):
            return _smooth_factor
    if laws <= {Gaussian, Laplace} and whole and isinstance(guarantee, ApproxDP) and guarantee.delta > 0:
        return _summed_factor
    if laws == {Wishart} and len(parts) == 1 and not sampled and whole and isinstance(guarantee, ApproxDP) and not pure:
        return _wishart_factor
    names = ", ".join(sorted(law.__name__ for law in laws))
    limit = f"one for which an account of {names} noise{' on sampled batches' if sampled else ''} is known"
    raise InvalidInput("guarantee", str(guarantee), limit, remedy_for(laws, sampled))


def account_name(released: Released, guarantee: Guarantee) -> str:
    """The account that certified noise rests on, in words."""
    return ACCOUNTS[account_of(released.parts, guarantee)]


def remedy_for(laws: set[type], sampled: bool) -> str:
    """What to do instead."""
    if laws <= {Laplace, L2Laplace, *RESPONSES} and not sampled:
        return "Use PureDP, which implies the others."
    if laws == {Gaussian} and not sampled:
        return "Gaussian noise gives no pure DP: use delta > 0, zCDP, Renyi or Gaussian DP."
    if SmoothNoise in laws:
        return "Use ApproxDP with delta > 0 (or zCDP for arsinh noise), and smooth noise by itself, from all records."
    if Wishart in laws:
        return "Use ApproxDP with delta > 0: a matrix outside the cone of a neighbour rules it out, at any scale."
    if Selected in laws:
        return "Account for selections by themselves, from all records."
    return "Use ApproxDP with delta > 0, and count every answer as seen; convert other notions with .to_approx(delta)."


def count(part: Release) -> int:
    """The number of steps that a record takes part in."""
    return 1 if isinstance(part.sampling, InOrder) else exact.counted("steps", _whole(part.answered))


def _gaussian_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    total = math.sqrt(sum(count(part) * _moved(part) ** 2 for part in parts))
    return exact.least_noise(_unrelated(guarantee)) * total * (1 + 4 * exact.SLACK)  # more than epsilon_of rounds up


def _iterate_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    return random_iterate.iterate_noise(guarantee, count(parts[0])) * _moved(parts[0])


def _selection_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    (part,) = parts
    assert isinstance(part.law, Selected)
    eps0 = selections.selection_epsilon(
        guarantee, count(part), bounded_range=part.law.ranged, random_iterate=part.seen is Seen.RANDOM_ITERATE
    )
    return 2 * float(part.ratio) / eps0


def _pure_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    eps = float(exact.positive("eps", guarantee.parameters["eps"]))
    return float(sum(count(part) * _moved(part) for part in parts)) / eps


def _one_bit_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    """(e^x + 1)/(e^x - 1) times the largest norm of an answer, with x = eps for each step."""
    (part,) = parts
    eps = float(exact.positive("eps", guarantee.parameters["eps"])) / count(part)
    return float(part.ratio) / 2 / math.tanh(eps / 2)


def _smooth_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    (part,) = parts
    law, moved = part.law, float(part.ratio)
    assert isinstance(law, SmoothNoise)
    smoothness, width = float(law.smoothness), _whole(law.width)
    if law.noise == "arsinh":
        return smooth_noise.arsinh_scale(guarantee, smoothness, count(part) * width) * moved
    assert isinstance(guarantee, ApproxDP)
    return smooth_noise.smooth_gaussian_scale(guarantee, smoothness, width) * moved


def _wishart_factor(parts: Sequence[Release], guarantee: Guarantee) -> float:
    """s/(2c) may be so large; of several steps each keeps its share."""
    (part,) = parts
    assert isinstance(part.law, Wishart)
    assert isinstance(guarantee, ApproxDP)
    share = ApproxDP(guarantee.eps / count(part), guarantee.delta / count(part))
    return float(part.ratio) / (2 * wishart_noise.largest_move(share, float(part.law.excess))) * (1 + exact.SLACK)


@lru_cache(maxsize=1024)
def _summed_factor(parts: tuple[Release, ...], guarantee: Guarantee) -> float:
    eps, delta = (float(guarantee.parameters[name]) for name in ("eps", "delta"))
    parts = joined(parts)
    if all(part.always == 0 for part in parts):
        sums = tuple(noisy_sum(part) for part in parts)
        return sampled_gaussian.least_factor(sums, eps, delta, guarantee.relation)

    def excess(factor: float) -> float:
        sums = split([part.with_noise_times(factor) for part in parts], delta)
        return sampled_gaussian.epsilon_high(sums, delta, guarantee.relation) / eps - 1

    return sampled_gaussian.crossing(excess, accuracy=1e-3)[1]


ACCOUNTS = {
    _gaussian_factor: "account: exact composition of Gaussian noise",
    _iterate_factor: "account: exact profiles of Gaussian noise, averaged over a random iterate",
    _selection_factor: "account: optimal composition of private selections",
    _pure_factor: "account: basic composition of Laplace noise",
    _one_bit_factor: "account: exact loss of randomised response",
    _smooth_factor: "account: smooth sensitivity, by a shift and a dilation of the noise",
    _wishart_factor: "account: exact loss of Wishart noise, the worst move at an extreme one",
    _summed_factor: "account: privacy losses of sampled sums, rounded up",
}


def epsilon_of(released: Released, delta: float) -> Interval:
    """Sound bounds on the tight epsilon at delta of all that is seen of Gaussian or Laplace noise on sums."""
    parts = released.parts
    other = (Selected, SmoothNoise, L2Laplace, Wishart, *RESPONSES)
    if any(part.seen is not Seen.EVERYTHING or isinstance(part.law, other) for part in parts):
        limit = "Gaussian or Laplace noise, all of it seen"
        raise InvalidInput("release", str(released), limit, "Calibrate it, or audit it.")
    parts = joined(parts)
    # Sums of all records cost the same under every relation.
    relation = released.relation if any(noisy_sum(part).sampled for part in parts) else REPLACE_ONE
    if all(part.always == 0 for part in parts):
        return sampled_gaussian.epsilon_bounds(tuple(noisy_sum(part) for part in parts), delta, relation)
    alone = [tuple(noisy_sum(replace(part, always=0)) for part in parts)]
    alone.append(tuple(_everyone(part.always_ratio, part) for part in parts if part.always != 0))
    low = max(sampled_gaussian.epsilon_low(sums, delta, relation) for sums in alone)
    return Interval(low, sampled_gaussian.epsilon_high(split(parts, delta), delta, relation))


def joined(parts: Sequence[Release]) -> tuple[Release, ...]:
    """Where no batch misses a record, what it moves is one answer under all of the noise."""
    return tuple(
        replace(part, sensitivity=part.sensitivity + part.always, always=0)
        if part.always != 0 and not noisy_sum(part).sampled
        else part
        for part in parts
    )


def noisy_sum(part: Release) -> batches.NoisySum:
    """One release for the accountants of sampled sums; what all records enter is left out."""
    ratio, steps, noise, scheme = float(part.ratio), count(part), noise_name(part.law), part.sampling
    if scheme is None or isinstance(scheme, InOrder):
        return batches.every_record(ratio, steps, noise)
    if isinstance(scheme, Poisson):
        return batches.poisson(ratio, steps, float(scheme.rate), noise)
    if _whole(scheme.batch) == _whole(scheme.of) and isinstance(scheme, WithoutReplacement):
        return batches.every_record(ratio, steps, noise)
    make = batches.without_replacement if isinstance(scheme, WithoutReplacement) else batches.with_replacement
    return make(ratio, steps, _whole(scheme.batch), _whole(scheme.of), noise)


def split(parts: Sequence[Release], delta: float) -> tuple[batches.NoisySum, ...]:
    """What is drawn and what all records enter, each with a share of the noise: of sound shares the one that moments
    like best.
    """

    def shared(share: float) -> tuple[batches.NoisySum, ...]:
        found = []
        for part in parts:
            if part.always == 0:
                found.append(noisy_sum(part))
            else:
                found.append(noisy_sum(replace(part, always=0).with_noise_times(math.sqrt(1 - share))))
                found.append(_everyone(float(part.always_ratio) / math.sqrt(share), part))
        return tuple(found)

    return min((shared(share) for share in SHARES), key=lambda sums: sampled_gaussian.moments_epsilon(sums, delta)[0])


def _everyone(ratio: float, part: Release) -> batches.NoisySum:
    return batches.every_record(float(ratio), count(part), noise_name(part.law))


def noise_name(law: Law) -> batches.Noise:
    """As the accountants of sums call it."""
    return "laplace" if isinstance(law, Laplace) else "gaussian"


def _moved(part: Release) -> float:
    """How far a record moves an unsampled answer, in units of its noise."""
    return float(part.ratio) + float(part.always_ratio)


def _whole(value: Any) -> int:
    """A count; what is not whole is rounded up, which is safe for steps."""
    return math.ceil(float(value) - 1e-9)


def _unrelated(guarantee: Guarantee) -> Guarantee:
    """Gaussian noise on all records costs the same under every relation."""
    alike = guarantee.relation.size == 1 and guarantee.relation.name in (ADD_REMOVE.name, *OF_ONE_USER)
    return replace(guarantee, relation=REPLACE_ONE) if alike else guarantee
