"""Lower bounds on epsilon from the scores of canaries whose coins are known, each with what it assumes.

A bound tests a row of hypotheses "epsilon is at most this", from small to large, and ends at the first that it cannot
reject. Only the smallest true one matters for errors: a bound above the truth has rejected it. So every hypothesis may
have a test of its own, and guesses as many coins as serve best against the leak it would just about notice.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy import special

from dpcheck.audits.statistics.epsilon import epsilon_from_mu
from dpcheck.audits.statistics.mean_gap import noncentral_limit
from dpcheck.audits.statistics.normality import GATE, FittedNormal, Shape, unlike_gaussian
from dpcheck.audits.statistics.power import POWER
from dpcheck.audits.training.curves import GaussianCurves, curves_at, gaussian_mu, profiles_at
from dpcheck.audits.training.right_guesses import chance_if_separate, chance_of_right, mass_needed
from dpcheck.bounds.language.guarantees import Guarantee

STEPS = ((0.01, 2.0), (0.02, 6.0), (0.05, 20.0), (0.25, 60.0))  # between hypotheses, up to here
PLANNED = np.geomspace(0.25, 32.0, 22)  # hypotheses that a number of guesses is worked out for
POINTS = np.concatenate(
    [np.linspace(0, 4, 21), np.geomspace(4.5, 30, 9)]
)  # losses where a curve is looked at to plan by it
SIZES, FEWEST = 30, 8  # numbers of guesses to plan with, and the least of them
WORDS = {
    "on the first dataset": "of canaries in",
    "on the second dataset": "of those out",
    "the two datasets": "the two",
}
BLOCK = 64  # hypotheses that are looked at together
FEWEST_SCORES = 20  # on either side, for a mean gap


@dataclass(frozen=True, eq=False)
class CoinScores:
    """Scores of canaries (high: trained on) and the coins that decided it, one row for each run.

    Several runs with coins and noise of their own are one release of all coins: each coin is seen by its own run
    alone, so that flipping it changes the whole no more than that run. Guesses are spread evenly over runs.
    """

    scores: np.ndarray = field(repr=False)
    coins: np.ndarray = field(repr=False)

    @property
    def size(self) -> int:
        """How many coins there are."""
        return self.coins.size

    def right(self) -> np.ndarray:
        """How many of the first k = 0, 1, ... guesses are right: highest and lowest scores of each run in turn."""
        by_score = np.argsort(-self.scores, axis=1, kind="stable")
        m = self.scores.shape[1]
        turns = np.empty(m, int)
        turns[0::2], turns[1::2] = np.arange((m + 1) // 2), m - 1 - np.arange(m // 2)
        guess_in = np.arange(m) % 2 == 0
        hits = np.take_along_axis(self.coins, by_score[:, turns], axis=1) == guess_in
        return np.concatenate([[0], np.cumsum(hits.T.ravel())])


@dataclass(frozen=True)
class CanaryBound:
    """One lower bound on epsilon: what it assumes beside the coins, what it counted, or why it was refused."""

    name: str
    epsilon: float
    assumes: str
    counted: str = ""
    refused: str = ""

    def refutes(self, claim: Guarantee | None, claimed: float) -> bool:
        """Whether the claim, which is one of the hypotheses, was rejected."""
        return claim is not None and self.epsilon > 0 and self.epsilon >= claimed

    def __str__(self) -> str:
        if self.refused:
            return f"refused: {self.refused}"
        condition = f", if {self.assumes}" if self.assumes else ""
        return f">= {self.epsilon:.4g}{condition}{f'  ({self.counted})' if self.counted else ''}"


@dataclass(frozen=True)
class Question:
    """What is asked of the coins: delta, level, the claim (None to measure) and a number of guesses, if it is given."""

    coins: int
    delta: float
    alpha: float
    claim: Guarantee | None
    guesses: int | None = None

    @property
    def claimed(self) -> float:
        """The claim's epsilon at delta; 0 without a claim."""
        return 0.0 if self.claim is None else self.claim.epsilon(self.delta)

    def hypotheses(self) -> np.ndarray:
        """From small to large, the claim among them."""
        pieces, start = [], 0.0
        for step, end in STEPS:
            pieces.append(start + step * np.arange(1, round((end - start) / step) + 1))
            start = end
        inside = [self.claimed] if 0 < self.claimed < math.inf else []
        return np.unique(np.concatenate([*pieces, inside]))

    def planned(self, sizes: np.ndarray) -> np.ndarray:
        """The number of guesses of each hypothesis."""
        if self.guesses is not None:
            return np.full(len(self.hypotheses()), self.guesses)
        place = np.searchsorted(PLANNED, self.hypotheses())  # that of a larger one, lest guesses be too few by a little
        return sizes[np.minimum(place, len(sizes) - 1)]


def from_any(right: np.ndarray, asked: Question) -> CanaryBound:
    """Whatever the mechanism, the canaries and their interference."""
    tried = asked.hypotheses()
    guesses = asked.planned(plan_for_any(asked.coins, asked.delta, asked.alpha))
    rejected = chance_of_right(right[guesses], guesses, asked.coins, tried, asked.delta) <= asked.alpha
    bound, place = last_rejected(tried, lambda first, last: rejected[first:last], np.array([len(tried)]))
    return CanaryBound("any mechanism", bound, "", counted(right, guesses[place]))


def from_curve(right: np.ndarray, asked: Question) -> CanaryBound:
    """The claim's whole trade-off curve instead of one point of it; canaries may interfere."""
    claim = asked.claim
    assert claim is not None
    tried = asked.hypotheses()
    guesses = asked.planned(plan_for_curve(asked.coins, asked.delta, asked.alpha, claim))

    def rejected(first: int, last: int) -> np.ndarray:
        r = int(guesses[first])
        curves = curves_at(claim, tried[first:last], asked.delta)
        return mass_needed(curves, int(right[r]), r, asked.coins, asked.alpha) > 1

    ends = np.append(np.flatnonzero(np.diff(guesses)) + 1, len(tried))
    bound, place = last_rejected(tried, rejected, ends)
    assumes = f"the trade-off curve is that of some {type(claim).__name__}"
    return CanaryBound("declared curve", bound, assumes, counted(right, guesses[place]))


def from_separate(right: np.ndarray, asked: Question) -> CanaryBound:
    """The claim's curve, and canaries that do not interfere."""
    claim = asked.claim
    assert claim is not None
    tried = asked.hypotheses()
    r = asked.coins if asked.guesses is None else asked.guesses

    def rejected(first: int, last: int) -> np.ndarray:
        curves = curves_at(claim, tried[first:last], asked.delta)
        return chance_if_separate(curves, int(right[r]), r, asked.coins) <= asked.alpha

    bound, _ = last_rejected(tried, rejected, np.append(np.arange(BLOCK, len(tried), BLOCK), len(tried)))
    curve = f"the trade-off curve is that of some {type(claim).__name__}"
    assumes = f"{curve} and each canary shows through a release of its own"
    return CanaryBound("separate canaries", bound, assumes, counted(right, r))


def from_mean_gap(seen: CoinScores, asked: Question) -> CanaryBound:
    """Scores of canaries trained on against those of the others, in standard deviations: mu of Gaussian noise.

    Scores are a_run + gap in_i + noise, so that the gap within runs over its error is noncentral t. Where gaps differ,
    their mean stands for the largest, and their spread for noise: the limit is then too low rather than too high.
    """
    name, assumes = "mean gap", "the scores have Gaussian noise, each its own and all of one size"
    ins = seen.coins.sum(axis=1)
    outs = seen.coins.shape[1] - ins
    if min(ins.sum(), outs.sum()) < FEWEST_SCORES or min(ins.min(), outs.min()) < 1:
        few = f"{ins.sum()} canaries in and {outs.sum()} out; it needs {FEWEST_SCORES} of each, and both in every run"
        return CanaryBound(name, 0.0, assumes, refused=few)
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.stack([(seen.scores * side).sum(axis=1) / side.sum(axis=1) for side in (seen.coins, ~seen.coins)])
        left = np.where(seen.coins, seen.scores - means[0][:, None], seen.scores - means[1][:, None])
        spread = math.sqrt((left**2).sum() / max(left.size - 2 * len(ins), 1))
    if not (math.isfinite(spread) and spread > 0):
        return CanaryBound(name, 0.0, assumes, refused="the scores have no noise" if spread == 0 else "infinite scores")
    reason = unlike_gaussian((shape_of(left[seen.coins] / spread), shape_of(left[~seen.coins] / spread)), GATE)
    if reason is not None:
        for theirs, ours in WORDS.items():
            reason = reason.replace(theirs, ours)
        return CanaryBound(name, 0.0, assumes, refused=f"scores show {reason}")
    weights = ins * outs / (ins + outs)
    scale = math.sqrt(weights.sum())
    t = float(weights @ (means[0] - means[1])) / scale / spread
    mu = max(0.0, noncentral_limit(t, left.size - 2 * len(ins), scale, asked.alpha))
    said = f"scores {mu:.4g} standard deviations apart or more"
    return CanaryBound(name, epsilon_from_mu(mu, asked.delta), assumes, said)


def detectable(asked: Question, assume: str | None) -> float:
    """The least epsilon that the claim's own test flags with probability POWER, with canaries as good as can be.

    That is, gradients at right angles under Gaussian noise, of which the largest losses are guessed; at delta = 0,
    coins by randomised response. Infinite where the test rejects nothing, however many guesses are right.
    """
    claim, claimed = asked.claim, np.array([asked.claimed])
    assert claim is not None
    if assume == "gaussian":
        mu = float(gaussian_mu(claimed, asked.delta)[0])
        error = math.sqrt(4 / asked.coins * (1 + mu * mu / 8))  # by the delta method
        return epsilon_from_mu(mu + float(special.ndtri(POWER) - special.ndtri(asked.alpha)) * error, asked.delta)
    place = int(np.searchsorted(asked.hypotheses(), asked.claimed))
    if assume is None:
        r = int(asked.planned(plan_for_any(asked.coins, asked.delta, asked.alpha))[place])
    elif assume == "curve":
        r = int(asked.planned(plan_for_curve(asked.coins, asked.delta, asked.alpha, claim))[place])
    else:
        r = asked.coins if asked.guesses is None else asked.guesses

    def rejects(right: int) -> bool:
        if assume is None:
            return bool(chance_of_right(right, r, asked.coins, asked.claimed, asked.delta) <= asked.alpha)
        curves = curves_at(claim, claimed, asked.delta)
        if assume == "curve":
            return bool(mass_needed(curves, right, r, asked.coins, asked.alpha)[0] > 1)
        return bool(chance_if_separate(curves, right, r, asked.coins)[0] <= asked.alpha)

    if not rejects(r):
        return math.inf
    least = bisect_left(range(r), True, key=rejects)
    if asked.delta == 0:
        return float(special.logit(special.betaincinv(least, r - least + 1, POWER)))
    low, high = 0.0, 40.0
    for _ in range(40):
        mu = (low + high) / 2
        found = chance_if_separate(GaussianCurves(np.array([mu])), least, r, asked.coins)[0] >= POWER
        low, high = (low, mu) if found else (mu, high)
    return epsilon_from_mu(high, asked.delta)


def shape_of(left: np.ndarray) -> Shape:
    """What these scores look like, about their mean."""
    ruler = FittedNormal.of(left)
    sums = np.array([len(left), *((left**k).sum() for k in (1, 2, 3, 4)), 0.0])
    return Shape(ruler, sums, ruler.row(left)[None, :])


def counted(right: np.ndarray, guesses: int) -> str:
    """In words."""
    return f"{right[guesses]} of {guesses} guesses right"


def last_rejected(tried: np.ndarray, rejected: Callable[[int, int], np.ndarray], ends: np.ndarray) -> tuple[float, int]:
    """The largest hypothesis below which all are rejected, asked block by block, and the place of the first kept."""
    first = 0
    for last in ends.tolist():
        kept = np.flatnonzero(~np.asarray(rejected(first, last)))
        if len(kept):
            place = first + int(kept[0])
            return float(tried[place - 1]) if place else 0.0, place
        first = last
    return float(tried[-1]), len(tried) - 1


@lru_cache(maxsize=32)
def plan_for_any(coins: int, delta: float, alpha: float) -> np.ndarray:
    """Guesses for each of PLANNED, where nothing but (eps, delta) is supposed."""
    return best_sizes(coins, alpha, PLANNED[:, None], np.full((len(PLANNED), 1), delta))


@lru_cache(maxsize=32)
def plan_for_curve(coins: int, delta: float, alpha: float, claim: Guarantee) -> np.ndarray:
    """The same where the curve is supposed: by the best of its points, which comes near and is quick."""
    deltas = profiles_at(claim, PLANNED, delta, POINTS)
    return best_sizes(coins, alpha, np.broadcast_to(POINTS, deltas.shape), deltas)


def best_sizes(coins: int, alpha: float, losses: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """For each row of points (loss, delta): the number of guesses whose test rejects the least leak.

    The leak is that of Gaussian scores mu apart: v right and r - v wrong of m coins are expected at mu =
    Phi^-1(v / m) - Phi^-1((r - v) / m).
    """
    sizes = np.unique(np.geomspace(min(FEWEST, coins), coins, SIZES).astype(int))
    low, high = np.zeros((len(losses), len(sizes))), np.tile(sizes.astype(float), (len(losses), 1))
    for _ in range(20):  # the least v that rejects; not rounded, or the choice would follow the rounding
        middle = (low + high) / 2
        chances = chance_of_right(middle[..., None], sizes[:, None], coins, losses[:, None, :], deltas[:, None, :])
        enough = chances.min(axis=-1) <= alpha
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    every = chance_of_right(sizes[:, None], sizes[:, None], coins, losses[:, None, :], deltas[:, None, :])
    never = every.min(axis=-1) > alpha
    mu = special.ndtri(high / coins) - special.ndtri(np.maximum(sizes - high, 0.5) / coins)
    return np.where(never.all(axis=1), coins, sizes[np.argmin(np.where(never, np.inf, mu), axis=1)])
