"""assume="gdp": outputs with Gaussian noise, bounded through their standardised mean gap.

Far stronger than any event, and wrong if the noise is not Gaussian: so the scores' moments and shape are
checked first, on every trial, and a mechanism that fails is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from audits.attacks import AimedName, Coordinate, Given, Score, aimed, fit_projections
from audits.densities import KnownRatio
from audits.epsilon import epsilon_from_mu
from audits.executor import Chunk, chunk_size, chunks
from audits.neighbours import Pair
from audits.outputs import Encoding
from audits.pilot import Pilot, run_pilot
from audits.plan import TEST, Plan
from audits.power import POWER
from audits.result import AuditResult, Curve, Event
from audits.selection import Choice, Target
from bounds.errors import InvalidInput
from bounds.guarantees import GaussianDP

GATE = 1e-3  # how often Gaussian outputs are refused by mistake, over all checks together
PILOT_SHARE = 0.05
DELTA = 1e-5
CURVE_POINTS = 41


@dataclass(frozen=True)
class Moments:
    """Power sums of the scores of a chunk, about a centre and scale from the pilot."""

    encoding: Encoding
    score: Score
    centre: float
    scale: float

    def __call__(self, outputs: Any, chunk: Chunk) -> np.ndarray:
        z = (self.score(self.encoding(outputs)) - self.centre) / self.scale
        square = z * z
        return np.array([len(z), z.sum(), square.sum(), (square * z).sum(), (square * square).sum()])


def mu_limit(first: np.ndarray, second: np.ndarray, alpha: float) -> float:
    """Lower limit on mu = |mean gap| / sigma from two rows of power sums (the sign is fixed by the pilot).

    The two-sample t statistic is noncentral t with noncentrality mu sqrt(nm / (n + m)).
    """
    n, m = first[0], second[0]
    variance = (_central(first)[0] * n + _central(second)[0] * m) / (n + m - 2)
    scale = math.sqrt(n * m / (n + m))
    t = (first[1] / n - second[1] / m) / math.sqrt(variance) * scale
    df = n + m - 2
    if df > 2000:  # the noncentral t is normal to four digits there: Johnson and Welch 1940
        return float(t + special.ndtri(alpha) * math.sqrt(1 + t * t / (2 * df))) / scale
    reach = 40 * math.sqrt(1 + t * t / (2 * df))
    root = optimize.brentq(lambda c: float(stats.nct.sf(t, df, c)) - alpha, t - reach, t + reach)
    return float(root) / scale


def refuse_unless_normal(sums: np.ndarray, pilot: tuple[np.ndarray, np.ndarray]) -> None:
    """Skewness, kurtosis and equal spread on all trials, the whole shape on the pilot; GATE is shared by seven."""
    z = -float(special.ndtri(GATE / 7 / 2))
    for name, row in zip(("first", "second"), sums, strict=True):
        n = row[0]
        variance, third, fourth = _central(row)
        skew, excess = third / variance**1.5, fourth / variance**2 - 3
        if abs(skew) > z * math.sqrt(6 / n) or abs(excess) > z * math.sqrt(24 / n):
            _refuse(f"skewness {skew:.3g}, excess kurtosis {excess:.3g} on the {name} dataset")
    one, two = _central(sums[0])[0], _central(sums[1])[0]
    if abs(math.log(one / two)) > z * math.sqrt(2 / sums[0][0] + 2 / sums[1][0]):
        _refuse(f"variances {one:.4g} and {two:.4g} on the two datasets")
    for scores in pilot:
        distance = stats.kstest((scores - scores.mean()) / scores.std(), "norm").statistic
        if distance * math.sqrt(len(scores)) > 1.4:  # Lilliefors: exceeded by normals about once in 10^4
            _refuse(f"Kolmogorov distance {distance:.3g} from the fitted normal")


def audit_gaussian(plan: Plan, pair: Pair, spent: int) -> AuditResult:
    """A small pilot for the direction, then the noncentral t limit on everything else."""
    runner = plan.runner(pair)
    left = plan.max_trials - spent
    pilot = run_pilot(plan, runner, max(50, min(int(PILOT_SHARE * left), 100_000)), left)
    score, shift = _score(aimed(plan.attack, plan.mechanism, runner.pair), pilot)
    ours, theirs = score(pilot.first), score(pilot.second)
    spread = float(np.sqrt((ours.var() + theirs.var()) / 2))
    if spread == 0 or not np.isfinite(spread):
        _refuse(f"standard deviation {spread:g}")
    reduce = Moments(pilot.encoding, score, float((ours.mean() + theirs.mean()) / 2), spread * shift)
    trials = left - pilot.trials
    sums = np.zeros((2, 5))
    for chunk, row in runner.results(chunks(TEST, trials, chunk_size(plan.max_trials, pilot.encoding.width)), reduce):
        sums[chunk.side] += row
        if plan.progress is not None and chunk.side == 1:
            plan.progress(spent + pilot.trials + chunk.first + chunk.trials, plan.max_trials, 0.0)
    refuse_unless_normal(sums, (ours, theirs))
    mu = max(0.0, mu_limit(sums[0], sums[1], plan.alpha))
    goal = _target(plan, mu)
    bound = epsilon_from_mu(mu, goal.delta)
    middle = float((ours.mean() + theirs.mean()) / 2)
    choice = Choice(score, middle, shift > 0, "first", goal, 0.5, 0.5, bound, normal=True)
    words = f"mean of {score} is {mu:.4g} standard deviations or more {'higher' if shift > 0 else 'lower'}"
    return AuditResult(
        violated=plan.guarantee is not None and bound > goal.epsilon,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + trials,
        seconds=0.0,
        pair=runner.pair,
        event=Event(words, choice, pilot.encoding),
        direction="first",
        detectable_epsilon=_detectable(goal, trials, plan.alpha),
        curve=gaussian_curve(sums[0], sums[1], plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method="noncentral t, assuming Gaussian outputs (checked)",
        counts=(trials, trials, trials),
        health=pilot.health,
    )


def gaussian_curve(first: np.ndarray, second: np.ndarray, alpha: float) -> Curve:
    """Trade-off of two Gaussians mu apart, with the band of mu's two-sided limits: it holds at all points at once."""
    type_one = np.linspace(0.0, 1.0, CURVE_POINTS)
    middle, low, high = (mu_limit(first, second, level) for level in (0.5, alpha / 2, 1 - alpha / 2))
    type_two, most, least = (special.ndtr(-special.ndtri(type_one) - mu) for mu in (middle, low, high))
    return Curve(type_one, type_two, type_one, type_one, least, most, int(first[0]))


def _score(attack: Any, pilot: Pilot) -> tuple[Score, float]:
    """Your score or a known ratio, else the coordinate or discriminant that separates the means; the gap's sign."""
    if isinstance(attack, KnownRatio | AimedName):
        score: Score = attack if isinstance(attack, KnownRatio) else attack.ratio
    elif callable(attack):
        score = Given(attack)
    elif pilot.first.shape[1] == 1:
        score = Coordinate(0)
    else:
        found = fit_projections(pilot.first, pilot.second)
        score = found[-1] if found else Coordinate(0, only=False)
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


def _detectable(goal: Target, trials: int, alpha: float) -> float:
    """Epsilon of the mu whose limit passes the claim's mu with probability 0.99."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_from_mu(middle, goal.delta) <= goal.epsilon else (low, middle)
    # Delta method: the standard error of the gap grows with mu itself.
    step = (special.ndtri(POWER) - special.ndtri(alpha)) * math.sqrt(2 / trials * (1 + high * high / 8))
    return epsilon_from_mu(high + float(step), goal.delta)


def _central(row: np.ndarray) -> tuple[float, float, float]:
    """Second, third and fourth central moments from power sums."""
    n = float(row[0])
    if n < 8:
        raise InvalidInput("max_trials", int(n), "enough for moments (200 or more)", "Raise max_trials.")
    a, b, c, d = (float(value) for value in row[1:] / n)
    return b - a * a, c - 3 * a * b + 2 * a**3, d - 4 * a * c + 6 * a * a * b - 3 * a**4


def _refuse(found: str) -> None:
    limit = "those of Gaussian noise with the same spread on both datasets"
    raise InvalidInput("shape of the outputs", found, limit, "Drop assume='gdp': the bound would not be valid.")
