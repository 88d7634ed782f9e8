"""Guarantee: a privacy guarantee as a frozen value, with its neighbouring relation.

Every guarantee knows its privacy profile (the least delta it implies at each epsilon), its trade-off
curve, its conversions (tight, and as textbooks quote them) and how it composes. Parameters may be
sympy expressions: such a value describes a claim and cannot be asked for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.given import floats, is_number, listed, number, one_of, whole

How = Literal["tight", "textbook"]


@dataclass(frozen=True)
class Relation:
    """Which pairs of datasets are neighbours: `size` steps of the named change."""

    name: str
    size: int = 1

    def __str__(self) -> str:
        return self.name if self.size == 1 else f"{self.name}, groups of {self.size}"


REPLACE_ONE = Relation("replace-one")
ADD_REMOVE = Relation("add/remove-one")
LABEL_ONLY = Relation("label-only")
LOCAL = Relation("local")
LOCAL_ATTRIBUTE = Relation("local attribute")  # one attribute of one user's record
RELATIONS = (REPLACE_ONE, ADD_REMOVE, LABEL_ONLY, LOCAL, LOCAL_ATTRIBUTE)
OF_ONE_USER = frozenset({LOCAL.name, LOCAL_ATTRIBUTE.name})  # what changes is one user's, who reports by herself
# Steps of the first relation that make one of the second; of a record, any number of its attributes.
STEPS = {(ADD_REMOVE.name, REPLACE_ONE.name): 2, (LOCAL.name, LOCAL_ATTRIBUTE.name): 1}


def checked_delta(delta: Any) -> float:
    """A delta in [0, 1)."""
    remedy = "Use 0, or 1e-5 for example."
    return number("delta", delta, "a number in [0, 1)", remedy, lambda found: 0 <= found < 1)


def group(relation: Relation, k: int) -> Relation:
    """Datasets that differ in up to k steps of `relation`."""
    size = whole("group size", k, "an integer >= 1", "Use k=1 for single records.")
    return replace(relation, size=relation.size * size)


@dataclass(frozen=True)
class Guarantee:
    """What the five notions share. `limits` gives each parameter's range as (low, high, in words)."""

    relation: Relation = field(default=REPLACE_ONE, kw_only=True)
    limits: ClassVar[dict[str, tuple[Callable[[float], bool], str]]] = {}

    def __post_init__(self) -> None:
        for name, (allowed, words) in self.limits.items():
            value = getattr(self, name)
            if getattr(value, "is_number", True) is False:  # symbolic
                continue
            if not is_number(value) or not allowed(float(value)):
                raise InvalidInput(name, value, words, f"Give {type(self).__name__} another {name}.")
            object.__setattr__(self, name, float(value))

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers (or symbols) that define it."""
        return {name: getattr(self, name) for name in self.limits}

    def __str__(self) -> str:
        inner = ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in self.parameters.items())
        return f"{type(self).__name__}({inner}; {self.relation})"

    def profile(self, eps: Any) -> Any:
        """The least delta this guarantee implies at `eps` (any real, vectorised)."""
        raise NotImplementedError

    def epsilon(self, delta: float) -> float:
        """The least epsilon >= 0 with profile(epsilon) <= `delta`; infinity if there is none."""
        return smallest_epsilon(lambda eps: float(self.profile(eps)), checked_delta(delta))

    def to_approx(self, delta: float, how: How = "tight") -> ApproxDP:
        """(epsilon, delta)-DP at this delta; "textbook" uses the conversion that papers quote."""
        tight = self.epsilon(delta)  # checks delta for both
        eps = tight if how == "tight" else self._textbook_epsilon(delta)
        if math.isinf(eps):
            raise InvalidInput("delta", delta, f"one that {self} reaches", "Ask for a larger delta.")
        return ApproxDP(eps, delta, relation=self.relation)

    def _textbook_epsilon(self, delta: float) -> float:
        return self.epsilon(delta)

    def tradeoff(self, alpha: Any) -> Any:
        """Least type-II error that a test of level `alpha` can reach, by this guarantee (vectorised).

        The supremum over eps of the two supporting lines of each (eps, profile(eps)), on a grid of eps:
        a lower bound on the curve, exact for pure and approximate DP whose own eps is on the grid.
        """
        level = floats("alpha", alpha, "a level, or an array of them", "Use 0.05 for example.")[..., None]
        own = [self.parameters["eps"]] if isinstance(self, PureDP | ApproxDP) else []
        eps = np.concatenate([np.linspace(0, 4, 401), np.linspace(4, 60, 225)[1:], own])
        miss = 1 - np.asarray(self.profile(eps))
        lines = np.maximum(miss - np.exp(eps) * level, np.exp(-eps) * (miss - level))
        return np.clip(lines.max(axis=-1), 0.0, 1.0)[()]

    def implies(self, other: Guarantee) -> bool:
        """Whether this guarantee alone implies `other` (up to 1e-12), under the same relation."""
        self.must_share_relation(other)
        slack = 1 + 1e-12
        if isinstance(other, PureDP):
            return self.epsilon(0.0) <= other.eps * slack
        if isinstance(other, ApproxDP):
            return bool(self.profile(other.eps) <= other.delta + 1e-12)
        if isinstance(other, ZCDP | RenyiDP):
            orders = [other.alpha] if isinstance(other, RenyiDP) else np.geomspace(1.001, 1e6, 400)
            theirs = (lambda a: other.eps) if isinstance(other, RenyiDP) else (lambda a: a * other.rho)
            return all(self.renyi(a) <= theirs(a) * slack for a in orders)
        assert isinstance(other, GaussianDP)
        eps = np.linspace(-20, 20, 401)
        return bool(np.all(self.profile(eps) <= other.profile(eps) + 1e-12))

    def renyi(self, order: float) -> float:
        """An upper bound on the Renyi divergence of this order; infinity where nothing follows."""
        raise NotImplementedError

    def compose(self, *others: Guarantee) -> Guarantee:
        """The guarantee of releasing all of them, adaptively."""
        return compose([self, *others])

    def to_relation(self, relation: Relation, *, attributes: int | None = None) -> Guarantee:
        """This guarantee under another relation: add/remove gives replace-one (two steps), and groups follow.

        A local guarantee covers each attribute of a record; one of an attribute covers the record in as many steps as
        a record has `attributes`.
        """
        if not isinstance(relation, Relation):
            raise InvalidInput("relation", relation, "a Relation", "Use REPLACE_ONE or ADD_REMOVE.")
        if relation == self.relation:
            return self
        return replace(self.for_group(self.steps_to(relation, attributes)), relation=relation)

    def steps_to(self, relation: Relation, attributes: int | None) -> int:
        """How many of this guarantee's steps make one of the other relation's, refused where none do."""
        own = self.relation
        between = (own.name, relation.name)
        remedy = "Recompute the noise for it."
        if between == (LOCAL_ATTRIBUTE.name, LOCAL.name):
            remedy = "Say how many attributes=... a record has."
            if attributes is not None:
                return math.ceil(relation.size * whole("attributes", attributes, "an integer >= 1", remedy) / own.size)
        elif between == (LOCAL.name, LOCAL_ATTRIBUTE.name):
            return STEPS[between]  # a record holds all of its attributes
        elif own.name == relation.name or between in STEPS:
            return math.ceil(relation.size * STEPS.get(between, 1) / own.size)
        limit = f"{relation} or one that implies it"
        raise MixedRelations("neighbouring relation", str(own), limit, remedy)

    def for_group(self, k: int) -> Guarantee:
        """The same notion for k steps of the relation."""
        raise NotImplementedError

    def must_share_relation(self, other: Guarantee) -> None:
        """Replace-one and add/remove are never mixed silently."""
        if self.relation != other.relation:
            limit = f"the same on both sides ({self.relation})"
            raise MixedRelations("neighbouring relation", str(other.relation), limit, "Use .to_relation(...) first.")


POSITIVE = (lambda x: 0 < x < math.inf, "a finite number > 0")


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-DP.

    >>> round(float(PureDP(1.0).profile(0.0)), 6)
    0.462117
    """

    eps: Any
    limits: ClassVar = {"eps": POSITIVE}

    def profile(self, eps: Any) -> Any:
        """Randomised response is the worst case: (e^E - e^eps)+ / (1 + e^E)."""
        return randomised_response_delta(eps, self.eps)

    def renyi(self, order: float) -> float:
        """Of randomised response, which attains it."""
        if math.isinf(order):
            return float(self.eps)
        p = scipy.special.log_expit(self.eps), scipy.special.log_expit(-self.eps)
        return float(np.logaddexp(order * p[0] + (1 - order) * p[1], order * p[1] + (1 - order) * p[0]) / (order - 1))

    def to_zcdp(self, how: How = "tight") -> ZCDP:
        """rho = eps tanh(eps/2) is exact; textbook: eps^2 / 2."""
        tight = self.eps * math.tanh(self.eps / 2)
        return ZCDP(tight if how == "tight" else self.eps**2 / 2, relation=self.relation)

    def for_group(self, k: int) -> PureDP:
        return replace(self, eps=k * self.eps)


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-DP."""

    eps: Any
    delta: Any
    limits: ClassVar = {
        "eps": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
        "delta": (lambda x: 0 <= x < 1, "a number in [0, 1)"),
    }

    def profile(self, eps: Any) -> Any:
        """Worst case: fail openly with probability delta, else randomised response."""
        return self.delta + (1 - self.delta) * randomised_response_delta(eps, self.eps)

    def renyi(self, order: float) -> float:
        if self.delta > 0:
            return math.inf
        return PureDP(self.eps).renyi(order) if self.eps > 0 else 0.0

    def for_group(self, k: int) -> ApproxDP:
        growth = k if self.eps == 0 else math.expm1(k * self.eps) / math.expm1(self.eps)
        return replace(self, eps=k * self.eps, delta=min(growth * self.delta, math.nextafter(1, 0)))


@dataclass(frozen=True)
class RenyiDP(Guarantee):
    """Renyi divergence of order alpha at most eps."""

    alpha: Any
    eps: Any
    limits: ClassVar = {
        "alpha": (lambda x: 1 < x < math.inf, "a finite number > 1"),
        "eps": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
    }

    def profile(self, eps: Any) -> Any:
        """Canonne-Kamath-Steinke: delta <= exp((a-1)(R - eps)) / a * (1 - 1/a)^(a-1)."""
        eps = floats("eps", eps)
        if self.eps == 0:  # both laws are the same
            return -np.expm1(np.minimum(eps, 0.0))[()]
        a = self.alpha
        log_delta = (a - 1) * (self.eps - eps) - math.log(a) + (a - 1) * math.log1p(-1 / a)
        positive = np.exp(np.minimum(log_delta, 0.0))
        return np.where(eps >= 0, positive, np.minimum(1.0, positive))[()]

    def epsilon(self, delta: float) -> float:
        """No finite epsilon at delta = 0, however small the profile gets, unless nothing is revealed."""
        return math.inf if delta == 0 and self.eps > 0 else super().epsilon(delta)

    def renyi(self, order: float) -> float:
        return float(self.eps) if order <= self.alpha else math.inf

    def _textbook_epsilon(self, delta: float) -> float:
        """Mironov: eps + log(1/delta) / (alpha - 1)."""
        return float(self.eps + math.log(1 / delta) / (self.alpha - 1)) if delta > 0 else math.inf

    def for_group(self, k: int) -> Guarantee:
        if k == 1:
            return self
        raise InvalidInput("group size", k, "1 for a single Renyi order", "State it as zCDP or Gaussian DP.")


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """rho-zero-concentrated DP: Renyi divergence at most rho * alpha for every alpha > 1."""

    rho: Any
    limits: ClassVar = {"rho": POSITIVE}

    def profile(self, eps: Any) -> Any:
        """The best Renyi order, each converted as in Canonne-Kamath-Steinke."""
        eps = floats("eps", eps)[..., None]
        # Orders by their distance from 1: where delta is near 1, the best are about e^-rho away.
        above = np.concatenate([np.geomspace(1e-14, 1e-3, 240, endpoint=False), np.geomspace(1e-3, 1e5, 2001)])
        log_delta = above * ((1 + above) * self.rho - eps) - np.log1p(above)
        log_delta = log_delta + above * (np.log(above) - np.log1p(above))
        return np.exp(np.minimum(log_delta.min(axis=-1), 0.0))[()]

    def epsilon(self, delta: float) -> float:
        """No finite epsilon at delta = 0, however small the profile gets."""
        return math.inf if checked_delta(delta) == 0 else super().epsilon(delta)

    def renyi(self, order: float) -> float:
        return float(self.rho * order)

    def _textbook_epsilon(self, delta: float) -> float:
        """Bun-Steinke: rho + 2 sqrt(rho log(1/delta))."""
        return float(self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta))) if delta > 0 else math.inf

    def for_group(self, k: int) -> ZCDP:
        return replace(self, rho=k**2 * self.rho)


@dataclass(frozen=True)
class GaussianDP(Guarantee):
    """mu-Gaussian DP: no easier to test than N(0, 1) against N(mu, 1).

    >>> round(float(GaussianDP(1.0).profile(1.0)), 6)
    0.126937
    """

    mu: Any
    limits: ClassVar = {"mu": POSITIVE}

    def profile(self, eps: Any) -> Any:
        return gaussian_delta(eps, self.mu)

    def epsilon(self, delta: float) -> float:
        return math.inf if delta == 0 else super().epsilon(delta)

    def tradeoff(self, alpha: Any) -> Any:
        return scipy.special.ndtr(scipy.special.ndtri(1 - np.asarray(alpha, float)) - self.mu)[()]

    def renyi(self, order: float) -> float:
        return float(order * self.mu**2 / 2)

    def to_zcdp(self) -> ZCDP:
        return ZCDP(self.mu**2 / 2, relation=self.relation)

    def for_group(self, k: int) -> GaussianDP:
        return replace(self, mu=k * self.mu)


def compose(guarantees: Sequence[Guarantee], how: How = "tight", slack: float | None = None) -> Guarantee:
    """One guarantee for the adaptive release of all of them.

    Like notions add up (Gaussian: mu in square; zCDP: rho; Renyi at one order: eps). Pure and approximate
    DP: "textbook" adds epsilons and deltas; "tight" with a `slack` delta' > 0 gives the better of that and
    strong composition (Dwork-Rothblum-Vadhan, heterogeneous form). Pure, zCDP and Gaussian mix through zCDP.
    """
    guarantees = listed("guarantees", guarantees, "a list of guarantees", "Pass what is released.")
    if not guarantees or not all(isinstance(g, Guarantee) for g in guarantees):
        raise InvalidInput("guarantees", guarantees, "at least one guarantee", "Pass what is released.")
    first, *rest = guarantees
    for other in rest:
        first.must_share_relation(other)
    relation = first.relation
    if all(isinstance(g, GaussianDP) for g in guarantees):
        return GaussianDP(math.sqrt(sum(g.parameters["mu"] ** 2 for g in guarantees)), relation=relation)
    if all(isinstance(g, RenyiDP) for g in guarantees):
        orders = {g.parameters["alpha"] for g in guarantees}
        if len(orders) > 1:
            raise InvalidInput("Renyi orders", sorted(orders), "one order for all", "Convert to a common order.")
        return RenyiDP(orders.pop(), sum(g.parameters["eps"] for g in guarantees), relation=relation)
    if all(isinstance(g, PureDP | ApproxDP) for g in guarantees):
        return _compose_approx(guarantees, how, slack)
    rhos = [
        g.rho if isinstance(g, ZCDP) else g.to_zcdp().rho
        for g in guarantees
        if isinstance(g, ZCDP | PureDP | GaussianDP)
    ]
    if len(rhos) < len(guarantees):
        names = sorted({type(g).__name__ for g in guarantees})
        raise InvalidInput("mixture of guarantees", names, "convertible to one notion", "Convert with to_approx().")
    return ZCDP(sum(rhos), relation=relation)


def _compose_approx(guarantees: Sequence[Guarantee], how: How, slack: float | None) -> Guarantee:
    eps = np.array([g.parameters["eps"] for g in guarantees])
    deltas = [g.parameters.get("delta", 0.0) for g in guarantees]
    relation = guarantees[0].relation
    total, delta = float(eps.sum()), sum(deltas)
    one_of("how", how, get_args(How), "Leave it out for the tight one.")
    if slack is not None:
        remedy = "It is the extra delta, 1e-6 for example."
        slack = number("slack", slack, "a number in (0, 1)", remedy, lambda found: 0 < found < 1)
    if how == "tight" and slack is not None:
        strong = math.sqrt(2 * math.log(1 / slack) * float(eps @ eps)) + float(eps @ np.tanh(eps / 2))
        if strong < total:
            return ApproxDP(strong, delta + slack, relation=relation)
    if delta == 0:
        return PureDP(total, relation=relation)
    return ApproxDP(total, min(delta, math.nextafter(1, 0)), relation=relation)


def randomised_response_delta(eps: Any, own: float) -> Any:
    """Exact profile of randomised response that is own-DP and no better."""
    eps = floats("eps", eps)
    inside = -np.expm1(np.minimum(eps, own) - own) * scipy.special.expit(own)
    return np.where(eps < -own, -np.expm1(np.minimum(eps, 0.0)), inside)[()]


def gaussian_delta(eps: Any, mu: Any) -> Any:
    """Exact profile of N(0,1) against N(mu,1): Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).

    Written as Phi(-a) (1 - R) with R from log-space, so that it keeps its digits in the far tail. Where mu is small
    both terms agree in many digits, and the difference is integrated instead.
    """
    eps, mu = floats("eps", eps), np.asarray(mu, float)
    upper = scipy.special.log_ndtr(mu / 2 - eps / mu)
    gap = np.minimum(eps + scipy.special.log_ndtr(-mu / 2 - eps / mu) - upper, 0.0)
    plain = np.where(np.isneginf(upper), 0.0, np.exp(upper) * -np.expm1(gap))
    small = (mu < SMALL_MU) & (eps >= 0)
    return np.where(small, _small_gaussian_delta(eps, mu), plain)[()] if np.any(small) else plain[()]


SMALL_MU = 0.1
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def _small_gaussian_delta(eps: Any, mu: Any) -> Any:
    """The same for small mu, as phi(a) times the integral of 1 - x M(x) from a = eps/mu - mu/2 to a + mu.

    M(x) = Phi(-x)/phi(x) is Mills' ratio, e^eps phi(a + mu) = phi(a), and M'(x) = x M(x) - 1.
    """
    a, mu = np.maximum(eps / mu - mu / 2, -SMALL_MU), np.minimum(mu, SMALL_MU)
    x = a[..., None] + mu[..., None] * (NODES + 1) / 2
    bend = 1 - x * (math.sqrt(math.pi / 2) * scipy.special.erfcx(x / math.sqrt(2)))
    far = np.maximum(x, 20.0) ** -2  # where 1 - x M(x) would lose its digits: its asymptotic series
    bend = np.where(x > 20, far * (1 - far * (3 - far * (15 - far * (105 - far * (945 - far * 10395))))), bend)
    return np.exp(-a * a / 2) / math.sqrt(2 * math.pi) * mu * (bend @ (WEIGHTS / 2))


def smallest_epsilon(profile: Callable[[float], float], delta: float) -> float:
    """The least eps >= 0 with profile(eps) <= delta, for a decreasing profile, rounded up."""
    if profile(0.0) <= delta:
        return 0.0
    high = 1.0
    while profile(high) > delta:
        high *= 2
        if high > 1e6:
            return math.inf
    # Bisection, not a root finder: a profile that is flat at delta has a whole interval of roots.
    low = 0.0
    while high - low > 1e-14 * high + 1e-300:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if profile(middle) <= delta else (middle, high)
    return high
