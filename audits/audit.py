"""audit(): attack a mechanism on neighbouring datasets and bound its epsilon from below.

A pilot chooses the pair, the score and the event; fresh trials then certify the bound.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audits.attacks import aimed
from audits.epsilon import epsilon_lower
from audits.executor import Chunk, Runner, chunk_size, chunks
from audits.gaussian import audit_gaussian
from audits.intervals import anytime
from audits.journal import Journal
from audits.neighbours import Neighbours, Pair
from audits.outputs import Encoding, Mechanism
from audits.pilot import Pilot, run_pilot, select, sentence_of
from audits.plan import BY_HAND, TEST, Plan
from audits.power import detectable_epsilon, detectable_gaussian
from audits.ratio import ratio_bound
from audits.result import AuditResult, Event, Progress, curve_from_counts
from audits.search import find_pair
from audits.selection import Choice
from audits.sequential import audit_early
from audits.workers import workplace
from bounds.errors import InvalidInput
from bounds.guarantees import Guarantee

CURVE_TRIALS = 500_000
CURVE_POINTS = 41
CURVE_PILOT = 50_000  # runs of the pilot that place the points
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
            places = np.bincount(np.searchsorted(self.grid, scores, side="right"), minlength=len(counts))
            counts[1:] = places[:0:-1].cumsum()[::-1]
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

    def bound(self, delta: float, alpha: float) -> float:
        """The exact ratio test; after an interruption, limits that hold at every time at once."""
        k, n, j, m = self.pairs()
        if not self.stopped:
            return ratio_bound(k, j, n, delta=delta, alpha=(1 - BY_HAND) * alpha)
        level = BY_HAND * alpha / 2
        p_low, q_high = float(anytime(k, n, level)[0]), float(anytime(j, m, level)[1])
        return float(np.log((p_low - delta) / q_high)) if p_low - delta > q_high else 0.0


def audit_fixed(plan: Plan, pair: Pair, spent: int) -> AuditResult:
    """A pilot chooses the event, all remaining trials test it."""
    runner = plan.runner(pair)
    left = plan.max_trials - spent
    pilot = run_pilot(plan, runner, None, left, twin=True)  # common noise cancels in what tells the datasets apart
    attack = aimed(plan.attack, plan.mechanism, runner.pair)
    choice = select(attack, pilot.first, pilot.second, plan.goals, left - pilot.trials, plan.alpha)
    tested = certify(plan, runner, pilot, choice, spent)
    return conclude(plan, runner, pilot, tested, spent)


def certify(plan: Plan, runner: Runner, pilot: Pilot, choice: Choice, spent: int) -> Tested:
    """Fresh trials on both datasets. Ctrl-C ends them early, and what was counted is kept."""
    ahead = spent + pilot.trials
    work = chunks(TEST, plan.max_trials - ahead, chunk_size(plan.max_trials, pilot.encoding.width))
    scores = np.concatenate([choice.score(side[:CURVE_PILOT]) for side in (pilot.first, pilot.second)])
    grid = np.unique(np.quantile(scores, np.linspace(0.01, 0.99, CURVE_POINTS), method="lower"))
    tally = Tally(pilot.encoding, choice, grid)
    totals = Tested(choice, np.zeros((2, 1 + len(grid)), dtype=np.int64))
    pending = np.zeros(1 + len(grid), dtype=np.int64)
    try:
        for chunk, counts in runner.results(work, tally):
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
        if totals.trials == 0:
            raise  # nothing is known yet
        totals.stopped = True
    return totals


def conclude(plan: Plan, runner: Runner, pilot: Pilot, tested: Tested, spent: int) -> AuditResult:
    """What the bound says about the claim, and what it would have caught."""
    choice, goal = tested.choice, tested.choice.target
    bound = tested.bound(goal.delta, plan.alpha)
    k, n, j, _ = tested.pairs()
    claim = {"claimed": goal.epsilon, "delta": goal.delta, "alpha": (1 - BY_HAND) * plan.alpha}
    if choice.normal and goal.delta > 0:
        caught = detectable_gaussian(n, **claim)
    else:
        caught = detectable_epsilon(float(np.clip(k / n, 1 / n, 1)), n, **claim)
    health = pilot.health
    if not np.isfinite(caught):
        health += (f"too few trials ({plan.max_trials}) to catch any violation with this event: raise max_trials",)
    if tested.stopped:
        health += (f"stopped by hand after {n} of the test's trials: the bound holds at every time at once",)
    above = tested.counts[:, 1:]
    return AuditResult(
        violated=plan.guarantee is not None and bound > goal.epsilon,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + n,
        seconds=0.0,
        pair=runner.pair,
        event=Event(sentence_of(choice), choice, pilot.encoding),
        direction=choice.direction,
        detectable_epsilon=caught,
        curve=curve_from_counts(above[0], above[1], tested.curve_trials, plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method="confidence sequence" if tested.stopped else "exact ratio test",
        counts=(k, j, n),
        health=health,
    )
