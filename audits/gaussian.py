"""assume="gdp": outputs with Gaussian noise, bounded through their standardised mean gap.

Far stronger than any event, and wrong if the noise is not Gaussian. So the pilot is looked at before the trials are
spent, and all trials afterwards; where they look otherwise, the bound that is given assumes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from dpcheck.audits.outputs.encoding import Encoding
from dpcheck.audits.outputs.event_in_words import sentence_of
from dpcheck.audits.pairs.neighbours import Pair
from dpcheck.audits.result import AuditResult, Curve, Event
from dpcheck.audits.scores.attacks import AimedName, Coordinate, Given, Score, aimed
from dpcheck.audits.scores.densities import KnownRatio
from dpcheck.audits.scores.wide import best_projection
from dpcheck.audits.statistics.counted_event import CountedEvent
from dpcheck.audits.statistics.epsilon import epsilon_from_mu
from dpcheck.audits.statistics.event_choice import Choice, Target, prospect_of
from dpcheck.audits.statistics.mean_gap import IndependentRuns, TwinRuns, twin_share
from dpcheck.audits.statistics.normality import GATE, FittedNormal, Shape, unlike_gaussian
from dpcheck.audits.statistics.power import (
    ALIKE,
    NOT_TOLD_APART,
    POWER,
    Power,
    View,
    gaussian_power,
    mu_from_epsilon,
    no_power,
    power_of,
)
from dpcheck.audits.trials.executor import Chunk, Runner, chunk_size, chunks
from dpcheck.audits.trials.pilot import Pilot, run_pilot
from dpcheck.audits.trials.plan import BY_HAND, TEST, TWINS, AuditPlan
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import GaussianDP

FEWEST = 1000  # trials; with fewer, logistic noise passed the checks in more than one audit of ten
FEWEST_SO_FAR = 500  # of the test's runs, for a bound before the end
PILOT_SHARE, FEWEST_PILOT, LARGEST_PILOT = 0.05, 250, 100_000
PILOT_GATE = 0.2  # share of GATE for the look at the pilot
EVENT = 0.1  # share of alpha for the event that is counted in case the noise is not Gaussian
DELTA = 1e-5
CURVE_POINTS = 41
SUMS = 6  # runs, first to fourth powers, hits of the event: what a row of a chunk begins with
ASSUMES = "the noise is Gaussian"


@dataclass(frozen=True)
class NotGaussian:
    """The pilot looked otherwise: how, and the trials that it took."""

    reason: str
    trials: int


@dataclass(frozen=True)
class Reading:
    """What is kept of a chunk: power sums of the scores about a centre, hits of the event, the shape by a ruler."""

    encoding: Encoding
    event: Choice
    centre: float
    scale: float
    rulers: tuple[FittedNormal, FittedNormal]

    def __call__(self, outputs: Any, chunk: Chunk) -> np.ndarray:
        return self.row(self.event.score(self.encoding(outputs)), chunk.side)

    def row(self, scores: np.ndarray, side: int) -> np.ndarray:
        """The same of scores."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found when all is added up
            z = (scores - self.centre) / self.scale
            square = z * z
            sums = [z.sum(), square.sum(), (square * z).sum(), (square * square).sum()]
            hits = np.count_nonzero(self.event.holds(scores))
            return np.array([len(z), *sums, hits, *self.rulers[side].row(z)])

    def shapes(self, rows: np.ndarray) -> tuple[Shape, Shape]:
        """Of rows by chunk and dataset."""
        with np.errstate(invalid="ignore"):
            one, two = (Shape(self.rulers[k], rows[:, k, :SUMS].sum(axis=0), rows[:, k, SUMS:]) for k in (0, 1))
        return one, two


def audit_gaussian(plan: AuditPlan, pair: Pair, spent: int) -> AuditResult | NotGaussian:
    """A small pilot for the direction, the likeness of twins and the shape; then the mean gap from everything else.

    Twins share their noise, so the event that is counted alongside has limits that hold under any dependence.
    """
    runner, goals = plan.runner(pair), [goal for goal in plan.goals if goal.delta > 0]
    left = plan.max_trials - spent
    size = max(min(FEWEST_PILOT, left // 4), min(int(PILOT_SHARE * left), LARGEST_PILOT))
    pilot = run_pilot(plan, runner, size, left, TWINS)
    score = _score(aimed(plan.attack, plan.mechanism, runner.pair), pilot)
    with np.errstate(over="ignore", invalid="ignore"):
        ours, theirs = score(pilot.first), score(pilot.second)
        spread = float(np.sqrt((ours.var() + theirs.var()) / 2))
    if spread == 0 or not np.isfinite(spread):
        return NotGaussian("no noise" if spread == 0 else "outputs beyond all bounds", pilot.trials)
    event = prospect_of(score, ours, theirs).best(goals, left - pilot.trials, EVENT * plan.alpha)
    reading = _reading(pilot, event, ours, theirs, spread)
    rows = np.array([[reading.row(ours, 0), reading.row(theirs, 1)]])
    reason = unlike_gaussian(reading.shapes(rows), PILOT_GATE * GATE)
    if reason is not None:
        return NotGaussian(reason, pilot.trials)
    sign = math.copysign(1.0, reading.scale)
    measured = measure(plan, runner, reading, twin_share(sign * ours, sign * theirs), spent + pilot.trials)
    return conclude(plan, runner, pilot, reading, measured, spent)


def check_request(plan: AuditPlan, stop_early: bool) -> None:
    """Refuses what cannot be done under the assumption, before anything is run."""
    if stop_early:
        remedy = "Drop stop_early: with the assumption a small max_trials says as much; or drop assume."
        raise InvalidInput("stop_early", True, "False with assume='gdp'", remedy)
    if plan.max_trials < FEWEST:
        limit = f"at least {FEWEST} with assume='gdp': fewer do not show whether the noise is Gaussian"
        raise InvalidInput("max_trials", plan.max_trials, limit, "Raise max_trials, or drop assume.")
    if not any(goal.delta > 0 for goal in plan.goals):
        limit = "a number in (0, 1): Gaussian noise has no epsilon at delta = 0"
        raise InvalidInput("delta", 0.0, limit, f"Pass delta={DELTA:g}.")


def dropped(result: AuditResult, reason: str, seen: str) -> AuditResult:
    """A bound that assumes nothing, and why."""
    note = f"assume='gdp' was dropped: {seen} showed {reason}; this bound assumes nothing"
    return replace(result, health=(*result.health, note))


def conclude(
    plan: AuditPlan, runner: Runner, pilot: Pilot, reading: Reading, measured: MeasuredRows, spent: int
) -> AuditResult:
    """The bound of the mean gap if all trials look Gaussian, else that of the event; their levels add up to alpha."""
    level = (BY_HAND if measured.stopped else 1 - BY_HAND) * plan.alpha
    reason = unlike_gaussian(reading.shapes(np.array(measured.rows)), (1 - PILOT_GATE) * GATE)
    event = replace(reading.event, normal=reading.event.normal and reason is None)
    without = _without(plan, runner, pilot, event, measured, EVENT * level, spent)
    if reason is not None:
        return dropped(without, reason, f"{without.counts[2]} trials")
    # Each chunk might have been the last when stopped by hand: their levels add up.
    level *= (1 - EVENT) / (measured.looks if measured.stopped else 1)
    gap = measured.gap()
    mu = max(0.0, gap.limit(level))
    goal = _target(plan, mu)
    bound = epsilon_from_mu(mu, goal.delta)
    more = without.delta == goal.delta and without.epsilon_lower > bound
    if more or (without.violated and bound <= goal.epsilon):
        return without  # nothing is gained by the assumption
    violated = plan.guarantee is not None and bound > goal.epsilon
    power = no_power(plan.guarantee, violated, measured.stopped, pilot.health) or _power(goal, gap, level, pilot)
    limits = "twin runs with the same noise" if isinstance(gap, TwinRuns) else "noncentral t"
    words = f"{sentence_of(reading.event, reading.encoding)} (scores {mu:.4g} standard deviations apart or more)"
    return replace(
        without,
        violated=violated,
        epsilon_lower=bound,
        delta=goal.delta,
        event=replace(without.event, sentence=words),
        detectable_epsilon=power.epsilon,
        power=power.model,
        health=pilot.health + power.health(plan.max_trials) + _by_hand(measured),
        curve=gaussian_curve(gap, plan.alpha),
        claimed=goal.epsilon,
        method=f"{limits}, assuming that {ASSUMES} (it looks so)",
        assumes=ASSUMES,
        without=without,
    )


def _by_hand(measured: MeasuredRows) -> tuple[str, ...]:
    """What a reader must know of a stop."""
    said = f"stopped by hand after {measured.runs} of the test's trials: the bound holds after each chunk"
    return (said,) if measured.stopped else ()


def _without(
    plan: AuditPlan, runner: Runner, pilot: Pilot, event: Choice, measured: MeasuredRows, level: float, spent: int
) -> AuditResult:
    """What the event's counts say, whatever the noise."""
    counted = measured.counted(event, level)
    bound, goal = counted.bound(measured.stopped), event.target
    violated = plan.guarantee is not None and bound > goal.epsilon
    view = View(event, counted.hits, counted.others, counted.runs, pilot.encoding.width, pilot.trials)
    power = no_power(plan.guarantee, violated, measured.stopped, pilot.health) or power_of(counted, view)
    return AuditResult(
        violated=violated,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + measured.runs,
        seconds=0.0,
        pair=runner.pair,
        event=Event(sentence_of(event, pilot.encoding), event, pilot.encoding),
        direction=event.direction,
        detectable_epsilon=power.epsilon,
        power=power.model,
        curve=None,
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method="a limit on each rate",
        counts=(counted.hits, counted.others, counted.runs),
        health=pilot.health + power.health(plan.max_trials) + _by_hand(measured),
    )


@dataclass
class MeasuredRows:
    """Rows of both datasets as chunks come in; `share` as in TwinRuns, None for independent runs."""

    share: float | None
    looks: int
    rows: list[np.ndarray] = field(default_factory=list)
    stopped: bool = False

    @property
    def runs(self) -> int:
        """Per dataset."""
        return int(sum(row[0, 0] for row in self.rows))

    @property
    def enough(self) -> bool:
        """Whether there are enough runs, and chunks, to say something before the end."""
        return len(self.rows) > 1 and self.runs >= FEWEST_SO_FAR

    def counted(self, event: Choice, level: float) -> CountedEvent:
        """The event's hits, for a bound at this level."""
        hits = np.array(self.rows)[:, :, SUMS - 1].sum(axis=0).astype(int).tolist()
        k, j = hits if event.direction == "first" else reversed(hits)
        return CountedEvent(event, k, j, self.runs, level)

    def gap(self) -> IndependentRuns | TwinRuns:
        """What these sums say of the mean gap."""
        rows = np.array(self.rows)[:, :, :SUMS]
        sums = rows.sum(axis=0)
        if self.share is None or len(rows) < 2:
            return IndependentRuns(sums)
        means = rows[:, :, 1] / rows[:, :, 0]
        return TwinRuns(sums, np.stack([rows[:, 0, 0], means[:, 0] - means[:, 1]], axis=1), self.share)


def measure(plan: AuditPlan, runner: Runner, reading: Reading, share: float | None, ahead: int) -> MeasuredRows:
    """All remaining trials, as twins where that pays. Ctrl-C ends them early, and what was summed is kept."""
    trials = plan.max_trials - ahead
    work = chunks(TEST, trials, chunk_size(trials, reading.encoding.width), twin=share is not None)
    measured = MeasuredRows(share, len(work) // 2)
    first = np.zeros(0)
    try:
        for chunk, row in runner.results(work, reading):
            if chunk.side == 0:
                first = row
                continue
            measured.rows.append(np.stack([first, row]))
            if plan.progress is not None:
                plan.progress(ahead + measured.runs, plan.max_trials, bound_so_far(plan, reading, measured))
    except KeyboardInterrupt:
        if not measured.enough:
            raise  # nothing is known yet
        measured.stopped = True
    return measured


def bound_so_far(plan: AuditPlan, reading: Reading, measured: MeasuredRows) -> float:
    """What a stop at this moment certifies: of the gap while the runs look Gaussian, of the event otherwise."""
    if not measured.enough:
        return 0.0
    level = BY_HAND * plan.alpha
    if unlike_gaussian(reading.shapes(np.array(measured.rows)), (1 - PILOT_GATE) * GATE) is not None:
        return measured.counted(reading.event, EVENT * level).bound(stopped=True)
    mu = max(0.0, measured.gap().limit((1 - EVENT) * level / measured.looks))
    return epsilon_from_mu(mu, _target(plan, mu).delta)


def gaussian_curve(gap: IndependentRuns | TwinRuns, alpha: float) -> Curve:
    """Trade-off of two Gaussians mu apart, with the band of mu's two-sided limits: it holds at all points at once."""
    type_one = np.linspace(0.0, 1.0, CURVE_POINTS)
    middle, low, high = (gap.limit(level) for level in (0.5, alpha / 2, 1 - alpha / 2))
    type_two, most, least = (special.ndtr(-special.ndtri(type_one) - mu) for mu in (middle, low, high))
    return Curve(type_one, type_two, type_one, type_one, least, most, int(gap.sums[0, 0]))


def _score(attack: Any, pilot: Pilot) -> Score:
    """Your score or a known ratio, else the coordinate or discriminant that separates the means."""
    if isinstance(attack, KnownRatio | AimedName):
        return attack if isinstance(attack, KnownRatio) else attack.ratio
    if callable(attack):
        return Given(attack)
    if pilot.first.shape[1] == 1:
        return Coordinate(0)
    return best_projection(pilot.first, pilot.second) or Coordinate(0)


def _reading(pilot: Pilot, event: Choice, ours: np.ndarray, theirs: np.ndarray, spread: float) -> Reading:
    """Scores about their common centre, turned so that the first dataset's lie above; a ruler for each dataset."""
    centre = float((ours.mean() + theirs.mean()) / 2)
    scale = math.copysign(spread, float(ours.mean() - theirs.mean()))
    one, two = (FittedNormal.of((scores - centre) / scale) for scores in (ours, theirs))
    return Reading(pilot.encoding, event, centre, scale, (one, two))


def _target(plan: AuditPlan, mu: float) -> Target:
    """The claim at its delta; a claim with many is tested where it is nearest to this mu."""
    goals = [goal for goal in plan.goals if goal.delta > 0]
    if len(goals) == 1:
        return goals[0]
    if isinstance(plan.guarantee, GaussianDP):
        return min(goals, key=lambda goal: abs(math.log(goal.delta / DELTA)))
    return max(goals, key=lambda goal: epsilon_from_mu(mu, goal.delta) - goal.epsilon)


def _power(goal: Target, gap: IndependentRuns | TwinRuns, alpha: float, pilot: Pilot) -> Power:
    """Epsilon of the mu whose limit passes the claim's mu with probability 0.99."""
    if gap.limit(ALIKE) <= 0:
        return Power.none(NOT_TOLD_APART)
    claimed = mu_from_epsilon(goal.epsilon, goal.delta)
    need = claimed + gap.distance(claimed, alpha, POWER)
    return gaussian_power(need, goal.delta, pilot.encoding.width, pilot.trials)
