"""Choosing the event: on pilot scores, the threshold, side, direction and the point of the claim's curve to test it at.

Nothing here touches the trials that certify the bound, so it may look as often and as cleverly as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from dpcheck.audits.scores.attacks import Score
from dpcheck.audits.scores.tables import OutputTable, distinct
from dpcheck.audits.statistics.epsilon import Direction
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP, checked_delta

MOST_THRESHOLDS = 1500
CAUTION = 2.5  # pilot standard errors taken off a rate before it is believed: the tails are full of lucky cells
LEAST_DELTA, MOST_DELTA = 1e-9, 1 - 1e-12  # beyond these no number of trials that anyone runs tells anything
STEP = 0.6  # between the deltas of a curve, in log odds
LARGEST_SLOPE = 300.0  # log of a slope that no rate times the number of trials can stand, and whose square is a number
AS_GOOD = 0.9  # share of the best promise by counts that a score must have, by counts, for its model to be asked
BOLD = 1.5  # the same where caution leaves nothing to hope for: then a rare event that was seen is worth a try,
LITTLE = 0.3  # a promised epsilon below which that is asked
HOPE = 0.25  # at a share of what it seems to promise


Events = list[tuple[bool, Direction, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Target:
    """One (delta, epsilon) that the guarantee claims."""

    delta: float
    epsilon: float


@dataclass(frozen=True)
class Choice:
    """An event {score >= threshold} (or <), the dataset it favours, and what the pilot says of it."""

    score: Score
    threshold: float
    above: bool
    direction: Direction
    target: Target
    p: float
    q: float
    predicted: float
    normal: bool = False

    def holds(self, scores: np.ndarray) -> np.ndarray:
        """Which runs fall into the event."""
        return scores >= self.threshold if self.above else scores < self.threshold

    @property
    def margin(self) -> float:
        """Predicted bound over the claim."""
        return self.predicted - self.target.epsilon

    @property
    def merit(self) -> float:
        """What choices at different points of a curve are compared by: margins there are of different kinds."""
        return float(merit_of(self.p, self.q, self.target.epsilon, self.target.delta, self.predicted))


def targets(guarantee: Guarantee | None, delta: float | None) -> list[Target]:
    """The points of the guarantee's profile that may be tested: one, or all along a curve."""
    if guarantee is None:
        return [Target(checked_delta(0.0 if delta is None else delta), 0.0)]
    if delta is not None:
        return [Target(checked_delta(delta), guarantee.epsilon(delta))]
    if isinstance(guarantee, PureDP):
        return [Target(0.0, float(guarantee.eps))]
    if isinstance(guarantee, ApproxDP):
        return [Target(float(guarantee.delta), float(guarantee.eps))]
    return along(guarantee)


def along(guarantee: Guarantee) -> list[Target]:
    """A curve's points from epsilon = 0 up, evenly spaced in the log odds of delta: dense near 0 and near 1 alike.

    Each is an epsilon with the delta that is implied there, rounded up. So each is claimed, however far the search for
    evenly spaced ones went.
    """
    top = min(float(guarantee.profile(0.0)), MOST_DELTA)
    odds = np.arange(special.logit(max(top, LEAST_DELTA)) - STEP, special.logit(LEAST_DELTA), -STEP)
    epsilons = np.concatenate([[0.0], _epsilons(guarantee, special.expit(odds))])
    deltas = np.asarray(guarantee.profile(epsilons), float)
    deltas = deltas + 1e-9 * np.minimum(deltas, 1 - deltas) + np.where(deltas > 0, 4 * np.spacing(deltas), 0.0)
    points = [*zip(deltas, epsilons, strict=True), (0.0, guarantee.epsilon(0.0))]
    found = [Target(float(d), float(eps)) for d, eps in points if d < 1 and np.isfinite(eps)]
    return list(dict.fromkeys(found))


def _epsilons(guarantee: Guarantee, deltas: np.ndarray) -> np.ndarray:
    """Where the profile is about at each of these deltas."""
    low, high = np.zeros(len(deltas)), np.ones(len(deltas))
    while (short := np.asarray(guarantee.profile(high)) > deltas).any() and high.max() < 1e12:
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    for _ in range(50):
        middle = (low + high) / 2
        beyond = np.asarray(guarantee.profile(middle)) <= deltas
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high


@dataclass(frozen=True, eq=False)
class Prospect:
    """A score with its candidate thresholds and the rates of the events above and below them, by the pilot."""

    score: Score
    thresholds: np.ndarray
    events: Events
    normal: bool = False
    bold: Events | None = None
    model: Events | None = None  # by a fitted ratio, which says more of the tails than counts do

    def hopeful(self) -> Prospect:
        """The same read boldly."""
        return self if self.bold is None else replace(self, events=self.bold)

    def best(self, goals: Sequence[Target], trials: int, alpha: float, favoured: Direction | None = None) -> Choice:
        """The event, and the goal to test it at, from which most is to be expected of `trials` further runs."""
        epsilon, delta = (np.array([getattr(goal, name) for goal in goals]) for name in ("epsilon", "delta"))
        best: Choice | None = None
        for above, direction, p, q in self.events:
            if favoured not in (None, direction):
                continue
            bound = predicted_bound(p[:, None], q[:, None], delta, trials, alpha)
            merit = bound if len(goals) == 1 else merit_of(p[:, None], q[:, None], epsilon, delta, bound)
            i, j = (int(k) for k in np.unravel_index(np.argmax(merit), merit.shape))
            place = (float(self.thresholds[i]), above, direction, goals[j], float(p[i]), float(q[i]))
            found = Choice(self.score, *place, float(bound[i, j]), normal=self.normal)
            if best is None or comparable(found, goals) > comparable(best, goals):
                best = found
        assert best is not None
        return best


def comparable(choice: Choice, goals: Sequence[Target]) -> float:
    """What choices are compared by: the margin where there is one goal, else the merit."""
    return choice.margin if len(goals) == 1 else choice.merit


def best_choice(prospects: Sequence[Prospect], goals: Sequence[Target], trials: int, alpha: float) -> Choice:
    """The event with the best prospect over all candidate scores; the earlier score wins a near tie.

    Counts, which are read with caution, say which scores are good; a model only where among its events to stop.
    """
    found = [prospect.best(goals, trials, alpha) for prospect in prospects]
    best = seen = max(found, key=lambda choice: comparable(choice, goals))
    for prospect, counted in zip(prospects, found, strict=True):
        if prospect.model is not None:
            hope = replace(prospect, events=prospect.model).best(goals, trials, alpha)
            as_good = counted.predicted >= AS_GOOD * seen.predicted
            best = hope if as_good and comparable(hope, goals) > comparable(best, goals) else best
    if best.predicted < LITTLE:
        hopes = [prospect.hopeful().best(goals, trials, alpha) for prospect in prospects]
        hope = max(hopes, key=lambda choice: comparable(choice, goals))
        best = hope if HOPE * hope.predicted > best.predicted else best
    return best


def merit_of(p: Any, q: Any, epsilon: Any, delta: Any, predicted: Any) -> Any:
    """Where the bound is to pass the claim, how surely; elsewhere how near it comes (at most 0)."""
    margin = predicted - epsilon
    return np.where(margin > 0, np.maximum(evidence(p, q, epsilon, delta), 0.0), margin)


def evidence(p: Any, q: Any, epsilon: Any, delta: Any) -> Any:
    """The excess of p over e^epsilon q + delta, in standard errors of a single run at the rates that the claim allows.

    Those are the pooled ones of the ratio test (audits/statistics/ratio.py). What n runs show is sqrt(n) times this.
    """
    slope = np.exp(np.minimum(epsilon, LARGEST_SLOPE))
    excess = p - slope * q - delta
    pooled = np.clip((p - delta + q) / (slope + 1), 0.0, 1.0)
    null = np.clip(slope * pooled + delta, 0.0, 1.0)
    spread = null * (1 - null) + slope**2 * pooled * (1 - pooled)
    return excess / np.sqrt(np.maximum(spread, 1e-300))


def prospect_of(score: Score, first: np.ndarray, second: np.ndarray) -> Prospect:
    """From pilot scores: fitted normals where both look normal, cautious frequencies otherwise."""
    ours, theirs = np.sort(first), np.sort(second)
    thresholds = candidate_thresholds(ours, theirs)
    normal = _normal(thresholds, first, second)
    if normal is not None:
        return Prospect(score, thresholds, normal, True)
    careful, bold = (_empirical(thresholds, ours, theirs, caution) for caution in (CAUTION, BOLD))
    return Prospect(score, thresholds, careful, bold=bold)


def prospect_of_table(table: OutputTable) -> Prospect:
    """From the distinct outputs of a pilot: events are made of the outputs with the most telling ratios.

    Rates that a model of the columns shrinks are discounted already: further caution was measured to cost power. A
    plain table is no better than its counts: its most telling outputs are full of lucky ones.
    """
    atoms, p, q = table.fitted()
    order = np.argsort(atoms.scores, kind="stable")
    p, q, thresholds = p[order], q[order], atoms.scores[order]
    above_p, above_q = np.cumsum(p[::-1])[::-1], np.cumsum(q[::-1])[::-1]
    below_p, below_q = np.cumsum(p) - p, np.cumsum(q) - q
    ours, theirs = table.counts.sum(axis=(0, 2))
    events: Events = [
        (True, "first", above_p, above_q),
        (False, "second", below_q, below_p),
    ]
    if not atoms.smoothed:
        events = [
            (True, "first", wilson(above_p, ours, -CAUTION), wilson(above_q, theirs, CAUTION)),
            (False, "second", wilson(below_q, theirs, -CAUTION), wilson(below_p, ours, CAUTION)),
        ]
    return Prospect(atoms, thresholds, events)


def predicted_bound(p: Any, q: Any, delta: Any, trials: int, alpha: float) -> Any:
    """What the certified bound will about be if these are the rates, unfloored so that bad events still rank.

    The two errors of log(p - delta) and log q, each from its score limit, are added in square (MOVER).
    """
    # Half a count more: the median of log of a small count lies below the log of its mean, and bounds pay for it.
    p, q = np.asarray(p, float), np.asarray(q, float) + 0.5 / trials
    z = -special.ndtri(alpha)
    low, high = wilson(p, trials, -z), wilson(q, trials, z)
    gain, least = np.maximum(p - delta, 1e-300), np.maximum(low - delta, 1e-300)
    width = np.hypot(np.log(gain / least), np.log(high / q))
    # Without any gain in sight, the event that tells the datasets apart best is the nearest to one.
    return np.where(low > delta, np.log(gain / q) - width, -50.0 + low - high - delta)


def wilson(rate: Any, trials: int, z: float) -> Any:
    """The score limit z standard errors from a rate: a closed form close to Clopper-Pearson even for rare events."""
    rate = np.clip(np.asarray(rate, float), 0.0, 1.0)
    centre = rate + z * z / (2 * trials)
    width = z * np.sqrt(rate * (1 - rate) / trials + (z / (2 * trials)) ** 2)
    return np.clip((centre + width) / (1 + z * z / trials), 0.0, 1.0)


def candidate_thresholds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Distinct ones of scores in order: all if few, else even ranks in the bulk and geometric ones in both tails.

    After a gap wider than the bulk a threshold stands in the middle: rare outliers may fall short of those seen.
    """
    pooled = np.sort(np.concatenate([first, second]), kind="stable")  # merges what is in order already
    values = distinct(pooled)
    low, high = pooled[len(pooled) // 4], pooled[3 * len(pooled) // 4]
    if high > low and np.isfinite(values[[0, -1]]).all():
        halves = values / 2  # sums and differences of which are numbers, however large the values
        before = np.concatenate([halves[:1], halves[:-1]])
        values = np.where(halves - before > high / 2 - low / 2, halves + before, values)
    if len(values) <= MOST_THRESHOLDS:
        return values
    ranks = np.geomspace(1, len(values) / 2, MOST_THRESHOLDS // 3)
    bulk = np.linspace(0, len(values) - 1, MOST_THRESHOLDS // 3)
    return values[np.unique(np.concatenate([ranks, len(values) - ranks, bulk]).astype(int))]


def looks_normal(scores: np.ndarray) -> bool:
    """Skewness, kurtosis and the tails' share all within about three standard errors of a normal's."""
    with np.errstate(over="ignore", invalid="ignore"):  # outputs near the largest float are not normal
        n, spread = len(scores), float(scores.std())
    if n < 200 or not np.isfinite(spread) or spread == 0:
        return False
    z = (scores - scores.mean()) / spread
    square = z * z
    skew, kurtosis = float(np.mean(square * z)), float(np.mean(square * square)) - 3
    return abs(skew) < 3 * np.sqrt(6 / n) and abs(kurtosis) < 3 * np.sqrt(24 / n) and len(np.unique(scores[:200])) > 150


def _empirical(thresholds: np.ndarray, first: np.ndarray, second: np.ndarray, caution: float) -> Events:
    """Cautious rates of the events above and below each threshold, for either dataset as the favoured one.

    Scores are given in order.
    """
    n, m = len(first), len(second)
    ours = 1 - np.searchsorted(first, thresholds, side="left") / n
    theirs = 1 - np.searchsorted(second, thresholds, side="left") / m
    events: Events = []
    for above in (True, False):
        a, b = (ours, theirs) if above else (1 - ours, 1 - theirs)
        events.append((above, "first", wilson(a, n, -caution), wilson(b, m, caution)))
        events.append((above, "second", wilson(b, m, -caution), wilson(a, n, caution)))
    return events


def _normal(thresholds: np.ndarray, first: np.ndarray, second: np.ndarray) -> Events | None:
    """Rates from fitted normals when both scores look normal: far less noisy in the tails, where the witness sits."""
    if not (looks_normal(first) and looks_normal(second)):
        return None
    ratio = first.std() / second.std()
    if abs(np.log(ratio)) < 3 * np.sqrt(1 / (2 * len(first)) + 1 / (2 * len(second))):
        one = two = np.sqrt((first.var() + second.var()) / 2)
    else:
        one, two = first.std(), second.std()
    a, b = (first.mean() - thresholds) / one, (second.mean() - thresholds) / two
    events: Events = []
    for above, sign in ((True, 1), (False, -1)):
        events.append((above, "first", special.ndtr(sign * a), special.ndtr(sign * b)))
        events.append((above, "second", special.ndtr(sign * b), special.ndtr(sign * a)))
    return events
