"""What an audit would have caught: the smallest true epsilon that it flags with probability 0.99, or why no such
number is named.

The number says how large a violation could still hide behind a pass. It rests on a model of a worse mechanism, which is
named beside it and which the certifying runs must support:
    share      in an event as frequent as this one it shows as large a part of its epsilon as was shown of the claim;
    saturated  it shows nearly all of it there, because here no part of the event showed more than the whole;
    Gaussian   it is a wider gap of the same Gaussians, along a direction that wide outputs must be searched for.
A leak on another pair, or one that the attack cannot see, is not covered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import special

from dpcheck.audits.outputs.encoding import NOT_LOOKED_AT
from dpcheck.audits.scores.densities import KnownRatio
from dpcheck.audits.scores.tables import Atoms
from dpcheck.audits.statistics import independence
from dpcheck.audits.statistics.epsilon import epsilon_from_mu
from dpcheck.audits.statistics.event_choice import Choice, predicted_bound, wilson
from dpcheck.audits.statistics.intervals import checked_level
from dpcheck.audits.statistics.ratio import SET_ASIDE, Ordering, order_at, tail_probability
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, checked_delta

POWER = 0.99
LARGEST = 60.0  # an epsilon beyond which nothing is private
LARGEST_MU = 20.0
BLOCK = 0.05  # standard deviations of a count: a forecast needs no more digits
# Standard errors of the excess p - e^eps q that choosing the event on a pilot may cost, by tests/audits/test_power.py.
CHOOSING = 1.0
TAIL = np.linspace(-2, 9, 400)  # thresholds of the events of Gaussians
ALIKE = 1e-3  # how often two datasets with the same law of outputs pass for different ones
ERRORS = 2.5  # standard errors by which a share is taken lower than it was seen
LEARNING = 5.0  # over the root of the runs that scores of several columns were learned from: a part of the share
LEAST_SHARE = 1 / 4  # an event that shows less of the claim says nothing of worse mechanisms
# An event whose parts show at most a share FLAT more than the whole is saturated. Gaussians, whose tails show ever
# more, do not pass for it: the last quarter of any of their events that is FREQUENT shows a quarter more.
FLAT = 0.15
FREQUENT = 0.05
RAREST = 50  # pilot runs that every output of a table must have been met by, or rare ones are chosen by luck
PARTS = (1 / 2, 1 / 4)  # of an event's hits

Rates = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Power:
    """The smallest true epsilon flagged with probability 0.99 and the model it rests on; or infinity, and why."""

    epsilon: float
    model: str

    @classmethod
    def none(cls, reason: str) -> Power:
        """No number is named, for this reason."""
        return cls(math.inf, reason)

    def health(self, max_trials: int) -> tuple[str, ...]:
        """What a reader must know: that the audit was too short to catch anything, if it was."""
        few = f"too few trials ({max_trials}) to catch any violation with this event: raise max_trials"
        return (few,) if self.model == TOO_FEW else ()


class ClaimTest(Protocol):
    """A test of a claim, seen from the mechanisms it is to flag."""

    def least(self, rates: Rates, low: float, high: float) -> float:
        """The least level between the two whose event, at these rates, is flagged surely enough; else infinity."""
        ...

    def tail(self, mu: float) -> tuple[float, float]:
        """The rates of the tail that the test would choose between unit Gaussians this far apart."""
        ...


@dataclass(frozen=True, eq=False)
class View:
    """An event as the certifying runs met it: hits on the dataset it favours, on the other, and the runs of each.

    `tails` counts, among `tail_runs` runs of either dataset (the favoured one first), those beyond points of the
    event's score, on the event's side. `width` is that of the outputs, `fitted` how many of them a score learned from,
    `rarest` how many pilot runs met the rarest of a table's outputs.
    """

    choice: Choice
    hits: float
    other: float
    runs: int
    width: int
    fitted: int
    tails: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))
    tail_runs: int = 1
    rarest: int = 0

    @property
    def rates(self) -> tuple[float, float]:
        """On the favoured dataset and, half a hit up, on the other; never quite 0 or 1."""
        least, most = 1 / self.runs, 1 - 0.5 / self.runs
        return float(np.clip(self.hits / self.runs, least, most)), float(min((self.other + 0.5) / self.runs, most))

    @property
    def sees_all(self) -> bool:
        """Whether the event's score looks at the whole output."""
        return self.width == 1 or isinstance(self.choice.score, KnownRatio)

    def told_apart(self) -> bool:
        """Whether the datasets differ in the event's rate, or beyond any point of its score, at the level ALIKE."""
        counts = np.hstack([[[self.hits], [self.other]], self.tails])
        runs = np.array([self.runs] + [self.tail_runs] * self.tails.shape[1])
        mean = counts.mean(axis=0)
        errors = np.sqrt(np.maximum(2 * mean * (1 - mean / runs), 0.5))
        levels = ALIKE / 2 / np.array([1.0] + [2.0 * self.tails.shape[1]] * self.tails.shape[1])
        return bool((np.abs(counts[0] - counts[1]) / errors > -special.ndtri(levels)).any())

    def epsilon(self) -> tuple[float, float]:
        """What the event alone shows, beyond the target's delta, and its standard error."""
        (p, q), n = self.rates, self.runs
        gain = p - self.choice.target.delta
        if gain <= 0:
            return 0.0, math.inf
        return math.log(gain / q), math.sqrt((p * (1 - p) / gain**2 + (1 - q) / q) / n)

    def share_of_claim(self) -> float:
        """The part of the claim that the event shows, cautiously; a mechanism that leaks less makes it too small.

        Another pilot may choose an event that shows less, so that choosing is charged here too.
        """
        eps, error = self.epsilon()
        claimed = self.choice.target.epsilon
        share = min(max(eps - (ERRORS + CHOOSING) * error, 0.0) / claimed, 1.0) if claimed > 0 else 0.0
        return share if self.sees_all else share * max(1 - LEARNING / math.sqrt(self.fitted), 0.0)

    def share_of_parts(self) -> float:
        """The part of what its most telling part shows that the event shows, cautiously; 0 if it is not saturated."""
        (p, q), n = self.rates, self.tail_runs
        if not self.sees_all or p < FREQUENT or self.choice.target.delta > 0:
            return 0.0
        cuts = self.cuts()
        if len(cuts) < len(PARTS) + 1 and not isinstance(self.choice.score, Atoms):  # a coarse score hides its parts
            return 0.0
        eps, slack = math.log(p / q), 0.0
        if len(cuts) > 1:
            parts = np.maximum(-np.diff([*cuts, (0.0, 0.0)], axis=0) * n, 0.5)
            more = np.log(parts[:, 0] / parts[:, 1]) - eps + ERRORS * np.sqrt((1 / parts).sum(axis=1))
            slack = max(float(more.max()), 0.0)
        return eps / (eps + slack) if eps > 0 and slack <= FLAT * eps else 0.0

    def cuts(self) -> list[tuple[float, float]]:
        """Rates of the event, and of nested parts of it that hold about half of its hits, and a quarter."""
        p, q = self.rates
        found = [(p, q)]
        ours, theirs = self.tails / self.tail_runs
        for part in PARTS:
            near = (ours <= 1.2 * part * p) & (ours >= part * p / 1.2) & (ours < 0.9 * found[-1][0])
            if near.any():
                best = int(np.where(near, np.abs(ours - part * p), np.inf).argmin())
                found.append((float(ours[best]), float(theirs[best])))
        return found

    def gap(self) -> float:
        """How far apart unit Gaussians with these rates are: the upper limit, by ERRORS standard errors."""
        p, q = self.rates
        x, y = float(special.ndtri(p)), float(special.ndtri(q))
        error = sum(r * (1 - r) / self.runs * 2 * math.pi * math.exp(z * z) for r, z in ((p, x), (q, y)))
        return max(x - y + ERRORS * math.sqrt(error), 0.0)


def no_power(guarantee: Guarantee | None, violated: bool, stopped: bool, health: Sequence[str]) -> Power | None:
    """The reasons to name no number that do not depend on the event."""
    if guarantee is None:
        return Power.none(NO_CLAIM)
    if violated or stopped:
        return Power.none(VIOLATED if violated else STOPPED)
    doubt = next((message for message in health if message.startswith((NOT_LOOKED_AT, independence.NAME))), None)
    return None if doubt is None else Power.none(doubt)


def power_of(test: ClaimTest, view: View) -> Power:
    """What this test, which met this event, would have caught."""
    if view.choice.target.epsilon > LARGEST:
        return Power.none(TOO_FEW)
    if view.choice.normal and view.choice.target.delta > 0:
        return power_on_gaussians(test, view)
    claim, parts = view.share_of_claim(), view.share_of_parts()
    share, reason = max(claim, parts), ""
    if not view.told_apart():
        reason = NOT_TOLD_APART
    elif share < LEAST_SHARE:
        reason = HARDLY_SHOWN.format(share)
    elif isinstance(view.choice.score, Atoms) and view.rarest < RAREST:
        reason = RARE_OUTPUTS
    if reason:
        return Power.none(reason if math.isfinite(least_epsilon(test, view, 1.0)) else TOO_FEW)
    return named(least_epsilon(test, view, share), (SATURATED if parts > claim else SHARE).format(share))


def power_on_gaussians(test: ClaimTest, view: View) -> Power:
    """The same where the event is the tail of Gaussians, whose gap may be wider."""
    if not view.told_apart():
        return Power.none(NOT_TOLD_APART)
    goal, share = view.choice.target, 1.0
    if not view.sees_all:
        claimed = learned_gap(mu_from_epsilon(goal.epsilon, goal.delta), view.width, view.fitted)
        share = min(view.gap() / claimed, 1.0) if claimed > 0 else 0.0

    def seen(mu: float) -> float:
        return mu if view.sees_all else share * learned_gap(mu, view.width, view.fitted)

    mu = test.least(lambda mu: test.tail(seen(mu)), 0.0, LARGEST_MU)
    found = epsilon_from_mu(mu, goal.delta) if math.isfinite(mu) else math.inf
    return named(found, GAUSSIAN if view.sees_all else WIDE_GAUSSIAN.format(view.fitted))


def named(eps: float, model: str) -> Power:
    """The number, unless no number of this model is within reach of so few trials."""
    return Power(eps, model) if math.isfinite(eps) else Power.none(TOO_FEW)


def least_epsilon(test: ClaimTest, view: View, share: float) -> float:
    """The least epsilon that is flagged by an event as frequent as this one, which shows this share of a claim."""
    (p, _), goal = view.rates, view.choice.target

    def rates(eps: float) -> tuple[float, float]:
        return p, max(p - goal.delta, 0.0) * math.exp(-shown(share, goal.epsilon, eps))

    return test.least(rates, goal.epsilon, goal.epsilon + LARGEST)


NO_CLAIM = "there is no claim to test"
VIOLATED = "the claim is violated"
STOPPED = "the audit was stopped by hand"
TOO_FEW = "too few trials to catch any violation with this event"
NOT_TOLD_APART = (
    "the two datasets could not be told apart: a violation on another pair, or one that this attack cannot see,"
    " is not covered"
)
RARE_OUTPUTS = "some outputs are too rare for the pilot to judge: another pilot may choose a rarer event"
HARDLY_SHOWN = "the event surely shows {:.2g} of the claim only, so nothing says what a worse mechanism would show"
SHARE = "a worse mechanism shows, by such an event, at least the share of its epsilon seen here of the claim ({:.2g})"
SATURATED = "a worse mechanism shows at least {:.2g} of its epsilon by such an event: no part of this one shows more"
GAUSSIAN = "a worse mechanism has a wider gap of the same Gaussians"
WIDE_GAUSSIAN = GAUSSIAN + ", along a direction learned from {} runs"


def shown(share: float, claimed: float, eps: float) -> float:
    """What an event shows of this epsilon that shows a share of the claimed one.

    The share may fall as epsilon grows: half of what hides now hides as much again of all that is added. (Thresholds on
    Cauchy noise fall from 0.72 to 0.62 between one and eight times a claim of 1.)
    """
    return share * (claimed + (1 + share) / 2 * (eps - claimed))


def gaussian_power(need: float, delta: float, width: int, fitted: int) -> Power:
    """Of Gaussians whose gap must be this wide along the direction that was learned from so many runs."""
    if width == 1:
        return Power(epsilon_from_mu(need, delta), GAUSSIAN)
    low, high = need, max(LARGEST_MU, 4 * need)
    if learned_gap(high, width, fitted) < need:
        return Power.none(TOO_FEW)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if learned_gap(middle, width, fitted) >= need else (middle, high)
    return Power(epsilon_from_mu(high, delta), WIDE_GAUSSIAN.format(fitted))


def mu_from_epsilon(eps: float, delta: float) -> float:
    """The gap of unit Gaussians that are exactly (eps, delta)-private."""
    low, high = 0.0, 1.0
    while epsilon_from_mu(high, delta) <= eps:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_from_mu(middle, delta) <= eps else (low, middle)
    return high


def learned_gap(mu: float, width: int, runs: int) -> float:
    """What is left of a gap along the direction that so many runs of either dataset teach in this many dimensions.

    Their mean difference is off by variance 2/runs in every dimension; the covariance that a discriminant needs costs
    a further factor.
    """
    if width >= 2 * runs:
        return 0.0
    return mu**2 / math.sqrt(mu**2 + 2 * width / runs) * math.sqrt(1 - width / (2 * runs))


def detectable_epsilon(
    rate: float, trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER, share: float = 1.0
) -> float:
    """The smallest epsilon flagged with probability `power` by an event that happens at `rate` on one dataset.

    The model: a worse mechanism has an event that the favoured dataset meets at this rate, and the other dataset
    e^(share epsilon) times less often (beyond delta); choosing it on a pilot costs a standard error. A share below one
    is met again of the claim, and by less of what exceeds it. Infinity when this many trials cannot tell any epsilon
    from the claim. Gaussian outputs, with delta > 0, show their epsilon in the far tail only: see detectable_gaussian.

    >>> round(detectable_epsilon(0.5, 100_000, claimed=1.0, delta=0.0, alpha=0.05), 2)
    1.04
    """
    if trials < 1:
        raise InvalidInput("trials", trials, "an integer >= 1", "Give the audit some trials.")
    checked_level(alpha), checked_delta(delta)
    if claimed > LARGEST:
        return math.inf

    def rates(eps: float) -> tuple[float, float]:
        return rate, max(rate - delta, 0.0) * math.exp(-shown(share, claimed, eps))

    return RatioTest(trials, claimed, delta, alpha, power).least(rates, claimed, claimed + LARGEST)


def detectable_gaussian(trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER) -> float:
    """The same for Gaussian outputs, a worse mechanism being one with a wider gap of means: epsilon of the least mu."""
    if delta == 0 or claimed > LARGEST:
        return math.inf
    test = RatioTest(trials, claimed, delta, alpha, power)
    mu = test.least(test.tail, 0.0, LARGEST_MU)
    return epsilon_from_mu(mu, delta) if math.isfinite(mu) else math.inf


@dataclass(frozen=True)
class RatioTest:
    """The ratio test of a claim, and how surely it is to flag."""

    trials: int
    claimed: float
    delta: float
    alpha: float
    power: float = POWER

    def tail(self, mu: float) -> tuple[float, float]:
        """The rates of the tail of two unit Gaussians, mu apart, with the best bound in prospect."""
        p, q = special.ndtr(mu - TAIL), special.ndtr(-TAIL)
        best = int(predicted_bound(p, q, self.delta, self.trials, self.alpha).argmax())
        return float(p[best]), float(q[best])

    def least(self, rates: Rates, low: float, high: float) -> float:
        """The least level between the two whose event is flagged; infinity if there is none.

        A rough level, from outcomes that rank above the claim itself, says about which rates the test is to be exact.
        """
        order = order_at(self.trials, self.delta, self.alpha)
        rough = self._bisected(order, math.exp(self.claimed), rates, low, high)
        if math.isinf(rough):
            return math.inf
        rank = critical_rank(order, rates(rough)[1], self.claimed, self.alpha)
        return self._bisected(order, rank, rates, low, high)

    def _bisected(self, order: Ordering, rank: float, rates: Rates, low: float, high: float) -> float:
        def flagged(level: float) -> bool:
            p, q = rates(level)
            spread = math.sqrt((p * (1 - p) + math.exp(2 * self.claimed) * q * (1 - q)) / self.trials)
            met = np.array([max(p - CHOOSING * spread, 0.0)])
            return p < 1 and float(tail_probability(order, rank, met, np.array([q]), BLOCK)[0]) >= self.power

        step = 0.01
        while not flagged(low + step):
            low, step = low + step, 1.6 * step
            if low + step > high:
                return math.inf
        high = low + step
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (low, middle) if flagged(middle) else (middle, high)
        return high


def critical_rank(order: Ordering, q: float, claimed: float, alpha: float) -> float:
    """The least rank that the claim would be rejected at, for counts of the other dataset about as q has them."""
    z = -float(special.ndtri(SET_ASIDE * alpha / 2))
    nearby = np.linspace(wilson(q, order.trials, -z), wilson(q, order.trials, z), 5)
    p = np.minimum(math.exp(claimed) * nearby + order.delta, 1.0)
    level = alpha * (1 - SET_ASIDE)
    low, high = claimed, claimed + 3.0
    for _ in range(14):
        middle = (low + high) / 2
        enough = float(tail_probability(order, math.exp(middle), p, nearby, BLOCK).max()) <= level
        low, high = (low, middle) if enough else (middle, high)
    return math.exp(high)
