"""assume="gdp": outputs with Gaussian noise, bounded through their standardised mean gap.

Far stronger than any event, and wrong if the noise is not Gaussian: so the scores' moments and shape are
checked first, on every trial, and a mechanism that fails is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special, stats

from audits.attacks import AimedName, Coordinate, Given, Score, aimed
from audits.densities import KnownRatio
from audits.epsilon import epsilon_from_mu
from audits.executor import Chunk, Runner, chunk_size, chunks
from audits.mean_gap import IndependentRuns, TwinRuns, central_moments, twin_share
from audits.neighbours import Pair
from audits.outputs import Encoding
from audits.pilot import Pilot, run_pilot, sentence_of
from audits.plan import BY_HAND, TEST, Plan
from audits.power import POWER
from audits.result import AuditResult, Curve, Event
from audits.selection import Choice, Target
from audits.wide import best_projection
from bounds.errors import InvalidInput
from bounds.guarantees import GaussianDP

GATE = 1e-3  # how often Gaussian outputs are refused by mistake, over all checks together
PILOT_SHARE = 0.05
DELTA = 1e-5
CURVE_POINTS = 41
FEWEST_RUNS = 200  # for moments to mean something


@dataclass(frozen=True)
class Moments:
    """Power sums of the scores of a chunk, about a centre and scale from the pilot; runs on the first one's side."""

    encoding: Encoding
    score: Score
    centre: float
    scale: float

    def __call__(self, outputs: Any, chunk: Chunk) -> np.ndarray:
        z = (self.score(self.encoding(outputs)) - self.centre) / self.scale
        square = z * z
        sums = [z.sum(), square.sum(), (square * z).sum(), (square * square).sum()]
        return np.array([len(z), *sums, np.count_nonzero(z > 0)])


def refuse_unless_normal(sums: np.ndarray, pilot: tuple[np.ndarray, np.ndarray]) -> None:
    """Skewness, kurtosis and equal spread on all trials, the whole shape on the pilot; GATE is shared by seven."""
    z = -float(special.ndtri(GATE / 7 / 2))
    for name, row in zip(("first", "second"), sums, strict=True):
        n = row[0]
        variance, third, fourth = central_moments(row)
        skew, excess = third / variance**1.5, fourth / variance**2 - 3
        if abs(skew) > z * math.sqrt(6 / n) or abs(kurtosis_score(excess, n)) > z:
            _refuse(f"skewness {skew:.3g}, excess kurtosis {excess:.3g} on the {name} dataset")
    one, two = central_moments(sums[0])[0], central_moments(sums[1])[0]
    if abs(math.log(one / two)) > z * math.sqrt(2 / sums[0][0] + 2 / sums[1][0]):
        _refuse(f"variances {one:.4g} and {two:.4g} on the two datasets")
    for scores in pilot:
        distance = stats.kstest((scores - scores.mean()) / scores.std(), "norm").statistic
        if distance * math.sqrt(len(scores)) > 1.4:  # Lilliefors: exceeded by normals about once in 10^4
            _refuse(f"Kolmogorov distance {distance:.3g} from the fitted normal")


def kurtosis_score(excess: float, n: float) -> float:
    """A normal score for the excess kurtosis of n normals, whose own law is skewed (Anscombe and Glynn 1983)."""
    mean = -6 / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (excess - mean) / math.sqrt(variance)
    skew = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + math.sqrt(1 + 4 / skew**2))
    cube = (1 - 2 / a) / (1 + x * math.sqrt(2 / (a - 4)))
    return (1 - 2 / (9 * a) - math.copysign(abs(cube) ** (1 / 3), cube)) / math.sqrt(2 / (9 * a))


def audit_gaussian(plan: Plan, pair: Pair, spent: int) -> AuditResult:
    """A small pilot for the direction and the likeness of twins, then limits on the mean gap from everything else."""
    runner = plan.runner(pair)
    left = plan.max_trials - spent
    pilot = run_pilot(plan, runner, max(50, min(int(PILOT_SHARE * left), 100_000)), left, twin=True)
    score, shift = _score(aimed(plan.attack, plan.mechanism, runner.pair), pilot)
    ours, theirs = score(pilot.first), score(pilot.second)
    spread = float(np.sqrt((ours.var() + theirs.var()) / 2))
    if spread == 0 or not np.isfinite(spread):
        _refuse(f"standard deviation {spread:g}")
    reduce = Moments(pilot.encoding, score, float((ours.mean() + theirs.mean()) / 2), spread * shift)
    measured = measure(plan, runner, reduce, twin_share(shift * ours, shift * theirs), spent + pilot.trials)
    gap, level = measured.gap(), (1 - BY_HAND) * plan.alpha
    refuse_unless_normal(gap.sums, (ours, theirs))
    if measured.stopped:  # each chunk might have been the last: their levels add up
        level = BY_HAND * plan.alpha / measured.looks
    mu = max(0.0, gap.limit(level))
    goal = _target(plan, mu)
    bound = epsilon_from_mu(mu, goal.delta)
    middle = float((ours.mean() + theirs.mean()) / 2)
    choice = Choice(score, middle, shift > 0, "first", goal, 0.5, 0.5, bound, normal=True)
    words = f"{sentence_of(choice)}, halfway between Gaussians {mu:.4g} standard deviations apart or more"
    runs = int(gap.sums[0, 0])
    limits = "twin runs with the same noise" if isinstance(gap, TwinRuns) else "noncentral t"
    by_hand = (f"stopped by hand after {runs} of the test's trials: the bound holds after each chunk",)
    return AuditResult(
        violated=plan.guarantee is not None and bound > goal.epsilon,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + runs,
        seconds=0.0,
        pair=runner.pair,
        event=Event(words, choice, pilot.encoding),
        direction="first",
        detectable_epsilon=_detectable(goal, gap, level),
        curve=gaussian_curve(gap, plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method=f"{limits}, assuming Gaussian outputs (checked)",
        counts=(int(gap.sums[0, 5]), int(gap.sums[1, 5]), runs),
        health=pilot.health + (by_hand if measured.stopped else ()),
    )


@dataclass
class Measured:
    """Power sums of both datasets as chunks come in, and the sums of each chunk of twins."""

    share: float | None
    looks: int
    rows: list[np.ndarray] = field(default_factory=list)
    stopped: bool = False

    @property
    def enough(self) -> bool:
        """Whether there are enough runs, and chunks, to say something before the end."""
        return len(self.rows) > 1 and sum(row[0, 0] for row in self.rows) >= FEWEST_RUNS

    def gap(self) -> IndependentRuns | TwinRuns:
        """What these sums say of the mean gap."""
        rows = np.array(self.rows)
        sums = rows.sum(axis=0)
        if self.share is None or len(rows) < 2:
            return IndependentRuns(sums)
        means = rows[:, :, 1] / rows[:, :, 0]
        return TwinRuns(sums, np.stack([rows[:, 0, 0], means[:, 0] - means[:, 1]], axis=1), self.share)


def measure(plan: Plan, runner: Runner, reduce: Moments, share: float | None, ahead: int) -> Measured:
    """All remaining trials, as twins where that pays. Ctrl-C ends them early, and what was summed is kept."""
    trials = plan.max_trials - ahead
    work = chunks(TEST, trials, chunk_size(trials, reduce.encoding.width), twin=share is not None)
    measured = Measured(share, len(work) // 2)
    first = np.zeros(6)
    delta = max((goal.delta for goal in plan.goals), default=0.0)
    try:
        for chunk, row in runner.results(work, reduce):
            if chunk.side == 0:
                first = row
                continue
            measured.rows.append(np.stack([first, row]))
            if plan.progress is not None:
                bound = (
                    epsilon_from_mu(measured.gap().limit(plan.alpha), delta) if measured.enough and delta > 0 else 0.0
                )
                plan.progress(ahead + chunk.first + chunk.trials, plan.max_trials, bound)
    except KeyboardInterrupt:
        if not measured.enough:
            raise  # nothing is known yet
        measured.stopped = True
    return measured


def gaussian_curve(gap: IndependentRuns | TwinRuns, alpha: float) -> Curve:
    """Trade-off of two Gaussians mu apart, with the band of mu's two-sided limits: it holds at all points at once."""
    type_one = np.linspace(0.0, 1.0, CURVE_POINTS)
    middle, low, high = (gap.limit(level) for level in (0.5, alpha / 2, 1 - alpha / 2))
    type_two, most, least = (special.ndtr(-special.ndtri(type_one) - mu) for mu in (middle, low, high))
    return Curve(type_one, type_two, type_one, type_one, least, most, int(gap.sums[0, 0]))


def _score(attack: Any, pilot: Pilot) -> tuple[Score, float]:
    """Your score or a known ratio, else the coordinate or discriminant that separates the means; the gap's sign."""
    if isinstance(attack, KnownRatio | AimedName):
        score: Score = attack if isinstance(attack, KnownRatio) else attack.ratio
    elif callable(attack):
        score = Given(attack)
    elif pilot.first.shape[1] == 1:
        score = Coordinate(0)
    else:
        score = best_projection(pilot.first, pilot.second) or Coordinate(0, only=False)
    gap = float(score(pilot.first).mean() - score(pilot.second).mean())
    return score, 1.0 if gap >= 0 else -1.0


def _target(plan: Plan, mu: float) -> Target:
    """The claim at its delta; a claim with many is tested where it is nearest to this mu."""
    goals = [goal for goal in plan.goals if goal.delta > 0]
    if not goals:
        limit = "a number in (0, 1): Gaussian noise has no epsilon at delta = 0"
        raise InvalidInput("delta", 0.0, limit, f"Pass delta={DELTA:g}.")
    if len(goals) == 1:
        return goals[0]
    if isinstance(plan.guarantee, GaussianDP):
        return min(goals, key=lambda goal: abs(math.log(goal.delta / DELTA)))
    return max(goals, key=lambda goal: epsilon_from_mu(mu, goal.delta) - goal.epsilon)


def _detectable(goal: Target, gap: IndependentRuns | TwinRuns, alpha: float) -> float:
    """Epsilon of the mu whose limit passes the claim's mu with probability 0.99."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_from_mu(middle, goal.delta) <= goal.epsilon else (low, middle)
    return epsilon_from_mu(high + gap.distance(high, alpha, POWER), goal.delta)


def _refuse(found: str) -> None:
    limit = "those of Gaussian noise with the same spread on both datasets"
    raise InvalidInput("shape of the outputs", found, limit, "Drop assume='gdp': the bound would not be valid.")
