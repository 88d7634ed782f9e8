"""audit(): attack a mechanism on neighbouring datasets and bound its epsilon from below.

A pilot chooses the pair, the score and the event; fresh trials then certify the bound, in one leg or two.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from audits.attacks import aimed
from audits.epsilon import epsilon_lower
from audits.executor import Chunk, Runner, chunk_size, chunks
from audits.gaussian import audit_gaussian
from audits.intervals import anytime
from audits.journal import Journal
from audits.neighbours import Neighbours, Pair
from audits.outputs import Encoding, Mechanism
from audits.pilot import LARGEST_PILOT, PILOT_CELLS, Pilot, run_pilot, select, sentence_of
from audits.plan import TEST, Plan
from audits.power import detectable_epsilon, detectable_gaussian
from audits.ratio import Leg, joint_bound
from audits.result import AuditResult, Event, Progress, curve_from_counts
from audits.search import find_pair
from audits.selection import Choice
from audits.sequential import audit_early
from audits.tables import Atoms
from audits.workers import workplace
from bounds.errors import InvalidInput
from bounds.guarantees import Guarantee

CURVE_TRIALS = 500_000
CURVE_POINTS = 41
LEAST_HITS = 25  # expected on the other dataset in a leg: with fewer, one test of them all is stronger than two
ASSUMPTIONS = (None, "gdp")


def audit(
    mechanism: Mechanism,
    *,
    pair: Pair | None = None,
    neighbours: Neighbours | None = None,
    guarantee: Guarantee | None,
    max_trials: int = 1_000_000,
    alpha: float = 0.05,
    seed: int = 0,
    attack: Any = "auto",
    stop_early: bool = False,
    executor: Any = None,
    checkpoint: Any = None,
    progress: Progress | None = None,
    delta: float | None = None,
    assume: str | None = None,
) -> AuditResult:
    """Attack `mechanism(data, rng, trials)` and give a lower bound on its epsilon that is valid at level alpha.

    Pass a `pair` of datasets (any objects), or `neighbours` to search for one. `guarantee` is the claim to test,
    or None to measure epsilon at `delta` (0 unless given). `max_trials` counts runs per dataset, all stages
    together. `attack` is "auto", one of the named attacks ("coordinates", "projections", "atoms", "histogram", "bits",
    "learned", "likelihood_ratio"), `likelihood_ratio(...)` of known densities, or a callable from outputs to scores.
    `stop_early` tests as trials come in and stops at the first proof of a violation. `assume="gdp"` uses that
    outputs are Gaussian, and refuses when they are not. `checkpoint` names a file to resume from.
    `executor` is a concurrent.futures executor, a Dask client or a number of processes (1: this one); by default
    a slow mechanism that is importable gets a process per core. `seed` gives the same bits wherever trials run.
    `progress(done, total, bound)` is called as trials come in. Raises InvalidInput for bad arguments and outputs,
    MechanismFailed when the mechanism raises, WorkerLost when an executor loses its workers.

    >>> from bounds.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=0.5, size=trials)      # calibrated for eps = 2
    >>> audit(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000).violated
    True
    """
    started = time.perf_counter()
    if assume not in ASSUMPTIONS:
        raise InvalidInput("assume", assume, "None or 'gdp'", "Drop it: no assumption is the safe choice.")
    plan = Plan(mechanism, guarantee, max_trials, alpha, seed, attack, delta, neighbours, progress=progress)
    with closing(workplace(executor, plan.max_trials, stop_early)) as place:
        plan = replace(plan, place=place)
        if checkpoint is not None:
            plan = replace(plan, journal=Journal(checkpoint, fingerprint(plan, pair, stop_early, assume)))
        found, spent = (plan.checked_pair(pair), 0) if pair is not None else find_pair(plan)
        if assume == "gdp":
            result = audit_gaussian(plan, found, spent)
        elif stop_early:
            result = audit_early(plan, found, spent)
        else:
            result = audit_fixed(plan, found, spent)
    return replace(result, seconds=time.perf_counter() - started)


def fingerprint(plan: Plan, pair: Pair | None, stop_early: bool, assume: str | None) -> str:
    """What must agree for a checkpoint to be resumed."""
    name = getattr(plan.mechanism, "__qualname__", getattr(plan.mechanism, "__name__", type(plan.mechanism).__name__))
    numbers = (plan.max_trials, plan.alpha, plan.seed, plan.delta, stop_early, assume)
    attack = plan.attack if isinstance(plan.attack, str) else _named(plan.attack)
    data = None if pair is None else [_said(part) for part in pair]
    near = None if plan.neighbours is None else (str(plan.neighbours), plan.neighbours.domain, plan.neighbours.labels)
    return repr((name, numbers, attack, str(plan.guarantee), near, data))


def _named(attack: Any) -> str:
    """A function by its name; an attack by known densities by that of its densities."""
    inner = getattr(attack, "log_density", attack)
    return f"{type(attack).__qualname__}({getattr(inner, '__qualname__', getattr(inner, '__name__', ''))})"


def _said(data: Any) -> str:
    """Array contents in full; other objects by their type, since their repr may hold an address."""
    if isinstance(data, np.ndarray):
        return f"{data.shape}{data.tolist()}"
    return repr(data) if isinstance(data, int | float | str | tuple | list) else type(data).__qualname__


@dataclass(frozen=True)
class Tally:
    """Counts one chunk's outputs: in the event, and (in the first chunks) above each point of the curve's grid."""

    encoding: Encoding
    choice: Choice
    grid: np.ndarray = field(repr=False)

    def __call__(self, outputs: Any, chunk: Chunk) -> np.ndarray:
        scores = self.choice.score(self.encoding(outputs))
        counts = np.zeros(1 + len(self.grid), dtype=np.int64)
        counts[0] = np.count_nonzero(self.choice.holds(scores))
        if chunk.first < CURVE_TRIALS:
            counts[1:] = len(scores) - np.searchsorted(np.sort(scores), self.grid, side="left")
        return counts


@dataclass
class Tested:
    """Running counts of an event's test: hits and grid counts per dataset, and the runs behind them."""

    choice: Choice
    counts: np.ndarray
    trials: int = 0
    curve_trials: int = 0
    stopped: bool = False

    def pairs(self) -> tuple[int, int, int, int]:
        """Hits and runs on the favoured dataset, then on the other."""
        hits = self.counts[:, 0].tolist()
        k, j = hits if self.choice.direction == "first" else reversed(hits)
        return k, self.trials, j, self.trials

    def leg(self, delta: float) -> Leg:
        """The counts, with the slope that orders outcomes: the bound expected less half its width.

        Ordering by too steep a slope costs more than by too flat a one.
        """
        k, n, j, _ = self.pairs()
        expected = self.choice.predicted
        naive = np.log(max(self.choice.p - delta, 1e-300) / max(self.choice.q, 1e-300))
        return Leg(k, j, n, float(np.exp(np.clip(expected - 0.5 * (naive - expected), 0.0, 50.0))))


def audit_fixed(plan: Plan, pair: Pair, spent: int) -> AuditResult:
    """A pilot chooses the event, all remaining trials test it.

    A table of outputs is learned again after a first leg, from all that came before: its order is uncertain after any
    pilot, while a threshold is soon found.
    """
    runner = plan.runner(pair)
    left = plan.max_trials - spent
    pilot = run_pilot(plan, runner, None, left)
    attack = aimed(plan.attack, plan.mechanism, runner.pair)
    rest, ahead = left - pilot.trials, spent + pilot.trials
    choice = select(attack, pilot.first, pilot.second, plan.goals, rest, plan.alpha)
    size = chunk_size(plan.max_trials, pilot.encoding.width)
    first = first_leg(choice, pilot, rest, size)
    legs = []
    if first > 0:
        kept = Kept([pilot.first], [pilot.second])
        legs.append(certify(plan, runner, pilot, choice, ahead, chunks(TEST, first, size), kept))
        if not legs[0].stopped:
            ours, theirs = np.vstack(kept.first), np.vstack(kept.second)
            choice = select(attack, ours, theirs, [choice.target], rest - first, plan.alpha)
    if not (legs and legs[0].stopped):
        work = chunks(TEST, rest, size, start=first // size)
        legs.append(certify(plan, runner, pilot, choice, ahead + first, work))
    if legs[0].trials == 0:
        raise KeyboardInterrupt  # before anything was known
    return conclude(plan, runner, pilot, legs, spent)


def first_leg(choice: Choice, pilot: Pilot, trials: int, size: int) -> int:
    """Trials to test a table on before it is learned again: as many as the pilot had, in whole chunks.

    None where the pilot was long enough, where there is too little left for a second leg, or where the event is so
    rare that two tests would share few hits.
    """
    twice = 2 * pilot.trials
    fits = twice * pilot.encoding.width <= PILOT_CELLS and pilot.trials < LARGEST_PILOT
    pays = twice <= trials and isinstance(choice.score, Atoms) and choice.q * pilot.trials >= LEAST_HITS
    return pilot.trials // size * size if fits and pays else 0


class Kept(NamedTuple):
    """Encoded outputs of both datasets, piece by piece, to learn from."""

    first: list[np.ndarray]
    second: list[np.ndarray]


def certify(
    plan: Plan, runner: Runner, pilot: Pilot, choice: Choice, ahead: int, work: list[Chunk], kept: Kept | None = None
) -> Tested:
    """Fresh trials on both datasets, after `ahead` others. Ctrl-C ends them early, and what was counted is kept."""
    scores = np.concatenate([choice.score(pilot.first), choice.score(pilot.second)])
    grid = np.unique(np.quantile(scores, np.linspace(0.01, 0.99, CURVE_POINTS), method="lower"))
    tally = Tally(pilot.encoding, choice, grid)
    totals = Tested(choice, np.zeros((2, 1 + len(grid)), dtype=np.int64))
    pending = np.zeros(1 + len(grid), dtype=np.int64)
    try:
        for chunk, found in runner.results(work, tally if kept is None else None):
            counts = found
            if kept is not None:
                kept[chunk.side].append(pilot.encoding(found))
                counts = tally(found, chunk)
            if chunk.side == 0:
                pending = counts
                continue
            # Both datasets of a place are added together, so an interruption leaves equal numbers of runs.
            totals.counts[0] += pending
            totals.counts[1] += counts
            totals.trials += chunk.trials
            totals.curve_trials += chunk.trials if chunk.first < CURVE_TRIALS else 0
            if plan.progress is not None:
                sofar = epsilon_lower(*totals.pairs(), delta=choice.target.delta, alpha=plan.alpha)
                plan.progress(ahead + totals.trials, plan.max_trials, float(sofar))
    except KeyboardInterrupt:
        totals.stopped = True
    return totals


def certified_bound(legs: Sequence[Tested], delta: float, alpha: float) -> float:
    """The exact ratio test; after an interruption, limits that hold at every time at once."""
    last = legs[-1]
    if not last.stopped:
        return joint_bound([leg.leg(delta) for leg in legs], delta=delta, alpha=alpha)
    # Each leg gets its share of alpha, and the better one is taken.
    alpha /= len(legs)
    before = joint_bound([leg.leg(delta) for leg in legs[:-1]], delta=delta, alpha=alpha) if len(legs) > 1 else 0.0
    if last.trials == 0:
        return before
    k, n, j, _ = last.pairs()
    p_low, q_high = float(anytime(k, n, alpha / 2)[0]), float(anytime(j, n, alpha / 2)[1])
    return max(before, float(np.log((p_low - delta) / q_high)) if p_low - delta > q_high else 0.0)


def conclude(plan: Plan, runner: Runner, pilot: Pilot, legs: Sequence[Tested], spent: int) -> AuditResult:
    """What the bound says about the claim, and what it would have caught."""
    last, runs = legs[-1], sum(leg.trials for leg in legs)
    if last.trials == 0:  # interrupted before anything was counted: the leg before it speaks
        last = replace(legs[0], stopped=True)
    choice, goal = last.choice, last.choice.target
    bound = certified_bound(legs, goal.delta, plan.alpha)
    k, n, j, _ = last.pairs()
    claim = {"claimed": goal.epsilon, "delta": goal.delta, "alpha": plan.alpha}
    if choice.normal and goal.delta > 0:
        caught = detectable_gaussian(runs, **claim)
    else:
        caught = detectable_epsilon(float(np.clip(k / n, 1 / n, 1)), runs, **claim)
    health = pilot.health
    if not np.isfinite(caught):
        health += (f"too few trials ({plan.max_trials}) to catch any violation with this event: raise max_trials",)
    if last.stopped:
        health += (f"stopped by hand after {runs} of the test's trials: the bound holds at every time at once",)
    above = last.counts[:, 1:]
    method = "confidence sequence" if last.stopped else "exact ratio test"
    return AuditResult(
        violated=plan.guarantee is not None and bound > goal.epsilon,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + runs,
        seconds=0.0,
        pair=runner.pair,
        event=Event(sentence_of(choice), choice, pilot.encoding),
        direction=choice.direction,
        detectable_epsilon=caught,
        curve=curve_from_counts(above[0], above[1], last.curve_trials, plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method=f"{method}, {len(legs)} legs" if len(legs) > 1 else method,
        counts=(k, j, n),
        legs=tuple(leg.leg(goal.delta) for leg in legs),
        health=health,
    )
