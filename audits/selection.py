"""Choosing the event: on pilot scores, the threshold, side, direction and delta with the best bound in prospect.

Nothing here touches the trials that certify the bound, so it may look as often and as cleverly as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audits.attacks import Score
from audits.epsilon import Direction, checked_delta
from audits.tables import Table, distinct
from bounds.guarantees import ApproxDP, Guarantee, PureDP

MOST_THRESHOLDS = 1500
CAUTION = 2.5  # pilot standard errors taken off a rate before it is believed: the tails are full of lucky cells
DELTAS = np.concatenate([[0.0], np.geomspace(1e-6, 0.3, 23)])


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


def targets(guarantee: Guarantee | None, delta: float | None) -> list[Target]:
    """The points of the guarantee's profile that may be tested."""
    if guarantee is None:
        return [Target(checked_delta(0.0 if delta is None else delta), 0.0)]
    if delta is not None:
        return [Target(checked_delta(delta), guarantee.epsilon(delta))]
    if isinstance(guarantee, PureDP):
        return [Target(0.0, float(guarantee.eps))]
    if isinstance(guarantee, ApproxDP):
        return [Target(float(guarantee.delta), float(guarantee.eps))]
    claims = [(float(d), guarantee.epsilon(float(d))) for d in DELTAS]
    return [Target(d, eps) for d, eps in claims if np.isfinite(eps)]


@dataclass(frozen=True, eq=False)
class Prospect:
    """A score with its candidate thresholds and the rates of the events above and below them, by the pilot."""

    score: Score
    thresholds: np.ndarray
    events: list[tuple[bool, Direction, np.ndarray, np.ndarray]]
    normal: bool = False

    def best(self, goals: Sequence[Target], trials: int, alpha: float, favoured: Direction | None = None) -> Choice:
        """The event with the largest margin to be expected from `trials` further runs per dataset."""
        best: Choice | None = None
        for above, direction, p, q in self.events:
            if favoured not in (None, direction):
                continue
            for goal in goals:
                bound = predicted_bound(p, q, goal.delta, trials, alpha)
                i = int(np.argmax(bound))
                place = (float(self.thresholds[i]), above, direction, goal, float(p[i]), float(q[i]), float(bound[i]))
                found = Choice(self.score, *place, normal=self.normal)
                if best is None or found.margin > best.margin:
                    best = found
        assert best is not None
        return best


def best_choice(prospects: Sequence[Prospect], goals: Sequence[Target], trials: int, alpha: float) -> Choice:
    """The event with the best prospect over all candidate scores; the earlier score wins a near tie."""
    found = [prospect.best(goals, trials, alpha) for prospect in prospects]
    return max(found, key=lambda choice: choice.margin)


def prospect_of(score: Score, first: np.ndarray, second: np.ndarray) -> Prospect:
    """From pilot scores: fitted normals where both look normal, cautious frequencies otherwise."""
    ours, theirs = np.sort(first), np.sort(second)
    thresholds = candidate_thresholds(ours, theirs)
    normal = _normal(thresholds, first, second)
    return Prospect(score, thresholds, normal or _empirical(thresholds, ours, theirs), normal is not None)


def prospect_of_table(table: Table) -> Prospect:
    """From the distinct outputs of a pilot: events are made of the outputs with the most telling ratios.

    Their rates are shrunk estimates, discounted already: any further caution was measured to cost power.
    """
    atoms, p, q = table.fitted()
    order = np.argsort(atoms.scores, kind="stable")
    p, q, thresholds = p[order], q[order], atoms.scores[order]
    above_p, above_q = np.cumsum(p[::-1])[::-1], np.cumsum(q[::-1])[::-1]
    below_p, below_q = np.cumsum(p) - p, np.cumsum(q) - q
    events: Events = [
        (True, "first", above_p, above_q),
        (False, "second", below_q, below_p),
    ]
    return Prospect(atoms, thresholds, events)


def predicted_bound(p: Any, q: Any, delta: float, trials: int, alpha: float) -> Any:
    """What the certified bound will about be if these are the rates, unfloored so that bad events still rank.

    The two errors of log(p - delta) and log q, each from its score limit, are added in square (MOVER).
    """
    # Half a count more: the median of log of a small count lies below the log of its mean, and bounds pay for it.
    p, q = np.asarray(p, float), np.asarray(q, float) + 0.5 / trials
    z = -special.ndtri(alpha)
    low, high = wilson(p, trials, -z), wilson(q, trials, z)
    gain, least = np.maximum(p - delta, 1e-300), np.maximum(low - delta, 1e-300)
    width = np.hypot(np.log(gain / least), np.log(high / q))
    return np.where(low > delta, np.log(gain / q) - width, -50.0 + low - delta)


def wilson(rate: Any, trials: int, z: float) -> Any:
    """The score limit z standard errors from a rate: a closed form close to Clopper-Pearson even for rare events."""
    rate = np.clip(np.asarray(rate, float), 0.0, 1.0)
    centre = rate + z * z / (2 * trials)
    width = z * np.sqrt(rate * (1 - rate) / trials + (z / (2 * trials)) ** 2)
    return np.clip((centre + width) / (1 + z * z / trials), 0.0, 1.0)


def candidate_thresholds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Distinct ones of scores in order: all if few, else even ranks in the bulk and geometric ones in both tails."""
    values = distinct(np.sort(np.concatenate([first, second]), kind="stable"))  # merges what is in order already
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


Events = list[tuple[bool, Direction, np.ndarray, np.ndarray]]


def _empirical(thresholds: np.ndarray, first: np.ndarray, second: np.ndarray) -> Events:
    """Cautious rates of the events above and below each threshold, for either dataset as the favoured one.

    Scores are given in order.
    """
    n, m = len(first), len(second)
    ours = 1 - np.searchsorted(first, thresholds, side="left") / n
    theirs = 1 - np.searchsorted(second, thresholds, side="left") / m
    events: Events = []
    for above in (True, False):
        a, b = (ours, theirs) if above else (1 - ours, 1 - theirs)
        events.append((above, "first", wilson(a, n, -CAUTION), wilson(b, m, CAUTION)))
        events.append((above, "second", wilson(b, m, -CAUTION), wilson(a, n, CAUTION)))
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
