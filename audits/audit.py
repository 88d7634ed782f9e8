"""audit(): attack a mechanism on neighbouring datasets and bound its epsilon from below.

A pilot chooses the pair, the score and the event; fresh trials then certify the bound.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcheck.audits.gaussian import NotGaussian, audit_gaussian, check_request, dropped
from dpcheck.audits.outputs.encoding import Encoding
from dpcheck.audits.outputs.event_in_words import sentence_of
from dpcheck.audits.outputs.returned import Mechanism
from dpcheck.audits.over_time import audit_again
from dpcheck.audits.pairs.neighbours import Neighbours, Pair
from dpcheck.audits.pairs.search import find_pair
from dpcheck.audits.past import Past
from dpcheck.audits.result import AuditResult, Event, Progress, curve_from_counts
from dpcheck.audits.scores.attacks import aimed
from dpcheck.audits.scores.simpler_scores import simpler
from dpcheck.audits.scores.tables import Atoms, row_keys
from dpcheck.audits.sequential import audit_early
from dpcheck.audits.statistics import independence
from dpcheck.audits.statistics.event_choice import Choice
from dpcheck.audits.statistics.intervals import anytime
from dpcheck.audits.statistics.power import Power, RatioTest, View, no_power, power_of
from dpcheck.audits.statistics.ratio import ratio_bound
from dpcheck.audits.trials.executor import Chunk, MechanismFailed, Runner, chunk_size, chunks
from dpcheck.audits.trials.fingerprints import fingerprint
from dpcheck.audits.trials.journal import Journal
from dpcheck.audits.trials.pilot import Pilot, run_pilot, select
from dpcheck.audits.trials.plan import BY_HAND, TEST, AuditPlan
from dpcheck.audits.trials.watching import Watch
from dpcheck.audits.trials.workers import workplace
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee

CURVE_TRIALS = 500_000
CURVE_POINTS = 41
CURVE_PILOT = 50_000  # runs of the pilot that place the points
ASSUMPTIONS = (None, "gdp")
UNKEPT = "checkpoint not written to the end ({}): a rerun repeats what is missing"


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
    key: str | None = None,
    progress: Progress | bool | None = None,
    delta: float | None = None,
    assume: str | None = None,
    past: Past | None = None,
) -> AuditResult:
    """Attack `mechanism(data, rng, trials)` and give a lower bound on its epsilon that is valid at level alpha.

    The runs of one call must be independent of each other: nothing drawn once may serve several of them. `health`
    says so if they do not look it; `per_run` makes a mechanism of a function of one run.
    Pass a `pair` of datasets (any objects), or `neighbours` to search for one. `guarantee` is the claim to test,
    or None to measure epsilon at `delta` (0 unless given). `max_trials` counts runs per dataset, all stages
    together. `attack` is "auto", one of the named attacks ("coordinates", "projections", "atoms", "histogram", "bits",
    "learned", "likelihood_ratio"), `likelihood_ratio(...)` of known densities, or a callable from outputs to scores.
    `stop_early` tests as trials come in and stops at the first proof of a violation. `assume="gdp"` bounds
    epsilon far more tightly if the noise is Gaussian, which the result then says (`assumes`; `without` has the bound
    that assumes nothing); where outputs look otherwise it is dropped, which `health` says. `checkpoint` names a file to
    resume from: it belongs to the mechanism's code and state, to the data and to all arguments, and no other audit is
    resumed from it. Where these cannot be read, your `key` stands for mechanism and data. With `past`, evidence of many
    visits adds up at one false-alarm rate: pass Past() first, then the `past` of the last result.
    `executor` is a concurrent.futures executor, a Dask client or a number of processes (1: this one); by default
    a slow mechanism that is importable gets a process per core. `seed` gives the same bits wherever trials run.
    What takes longer than a moment shows a bar with rate and time left on a terminal and in a notebook, not in CI;
    `progress=False` shows none. A function `progress(done, total, bound)` is called instead as trials of the test come
    in, with the bound that stopping now would certify; if it has a method `stage(name, done, total)`, that hears of
    search and pilot. Raises InvalidInput for bad arguments and outputs, MechanismFailed when the mechanism raises,
    WorkerLost when an executor loses its workers.

    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=0.5, size=trials)      # calibrated for eps = 2
    >>> audit(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000).violated
    True
    """
    started = time.perf_counter()
    if not (assume is None or isinstance(assume, str)) or assume not in ASSUMPTIONS:
        raise InvalidInput("assume", assume, "None or 'gdp'", "Drop it: no assumption is the safe choice.")
    plan = AuditPlan(mechanism, guarantee, max_trials, alpha, seed, attack, delta, neighbours, key=key)
    if assume == "gdp":
        check_request(plan, stop_early)
    if not isinstance(stop_early, bool | np.bool_):
        raise InvalidInput("stop_early", stop_early, "True or False", "Leave it out to use all trials.")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InvalidInput("progress", progress, "True, False, None or a function", "Leave it out for a bar.")
    if past is not None and not isinstance(past, Past):
        raise InvalidInput("past", past, "a Past", "Pass Past() first, then result.past.")
    if past is not None and (stop_early or assume or checkpoint is not None):
        remedy = "Drop the other: visits are bets without an assumption, and each is a whole one."
        raise InvalidInput("past", "given", "alone, without stop_early, assume or checkpoint", remedy)
    try:
        with ExitStack() as stack:
            if callable(progress):
                plan = replace(plan, progress=progress)
            elif (watch := stack.enter_context(Watch(plan.max_trials, progress))).looked_at:
                plan = replace(plan, progress=watch)  # else no bound is worked out on the way
            plan = replace(plan, place=stack.enter_context(closing(workplace(executor, plan.max_trials, stop_early))))
            if checkpoint is not None:
                journal = Journal(checkpoint, fingerprint(plan, pair, stop_early, assume))
                plan = replace(plan, journal=stack.enter_context(closing(journal)))
            found, spent = (plan.checked_pair(pair), 0) if pair is not None else find_pair(plan)
            if assume == "gdp":
                result = audit_assuming(plan, found, spent)
            elif past is not None:
                result = audit_again(plan, found, spent, past)
            elif stop_early:
                result = audit_early(plan, found, spent)
            else:
                result = audit_fixed(plan, found, spent)
    except MechanismFailed as failed:
        raise failed.alone() from failed.__cause__
    if plan.journal is not None and plan.journal.full:
        result = replace(result, health=(*result.health, UNKEPT.format(plan.journal.full)))
    return replace(result, seconds=time.perf_counter() - started)


def audit_assuming(plan: AuditPlan, pair: Pair, spent: int) -> AuditResult:
    """Under Gaussian noise; without, by the trials that are left, if a pilot looks otherwise."""
    result = audit_gaussian(plan, pair, spent)
    if not isinstance(result, NotGaussian):
        return result
    return dropped(audit_fixed(plan, pair, spent + result.trials), result.reason, f"{result.trials} pilot trials")


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
    calls: list[tuple[int, int, int]] = field(default_factory=list)  # hits on each dataset, runs

    def pairs(self) -> tuple[int, int, int, int]:
        """Hits and runs on the favoured dataset, then on the other."""
        hits = self.counts[:, 0].tolist()
        k, j = hits if self.choice.direction == "first" else reversed(hits)
        return k, self.trials, j, self.trials

    def bound(self, delta: float, alpha: float) -> float:
        """The exact ratio test; after an interruption, limits that hold at every time at once."""
        if self.stopped:
            return self.by_hand(delta, alpha)
        k, n, j, _ = self.pairs()
        return ratio_bound(k, j, n, delta=delta, alpha=(1 - BY_HAND) * alpha)

    def by_hand(self, delta: float, alpha: float) -> float:
        """What a stop at this moment certifies."""
        k, n, j, m = self.pairs()
        level = BY_HAND * alpha / 2
        p_low, q_high = float(anytime(k, n, level)[0]), float(anytime(j, m, level)[1])
        return float(np.log((p_low - delta) / q_high)) if p_low - delta > q_high else 0.0


def audit_fixed(plan: AuditPlan, pair: Pair, spent: int) -> AuditResult:
    """A pilot chooses the event, all remaining trials test it."""
    runner = plan.runner(pair)
    left = plan.max_trials - spent
    pilot = run_pilot(plan, runner, None, left)
    attack = aimed(plan.attack, plan.mechanism, runner.pair)
    ahead = left - pilot.trials
    choice = select(attack, pilot.first, pilot.second, plan.goals, ahead, plan.alpha)
    choice = simpler(choice, pilot.first, pilot.second, ahead, plan.alpha)
    pilot = pilot.read_by(choice)
    tested = certify(plan, runner, pilot, choice, spent)
    return conclude(plan, runner, pilot, tested, spent)


def certify(plan: AuditPlan, runner: Runner, pilot: Pilot, choice: Choice, spent: int) -> Tested:
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
            totals.calls.append((int(pending[0]), int(counts[0]), chunk.trials))
            totals.curve_trials += chunk.trials if chunk.first < CURVE_TRIALS else 0
            if plan.progress is not None:
                plan.progress(ahead + totals.trials, plan.max_trials, totals.by_hand(choice.target.delta, plan.alpha))
    except KeyboardInterrupt:
        if totals.trials == 0:
            raise  # nothing is known yet
        totals.stopped = True
    return totals


def conclude(plan: AuditPlan, runner: Runner, pilot: Pilot, tested: Tested, spent: int) -> AuditResult:
    """What the bound says about the claim, and what it would have caught."""
    choice, goal = tested.choice, tested.choice.target
    bound = tested.bound(goal.delta, plan.alpha)
    k, n, j, _ = tested.pairs()
    violated = plan.guarantee is not None and bound > goal.epsilon
    health = pilot.health
    if not any(message.startswith(independence.NAME) for message in health):
        *hits, runs = np.array(tested.calls).T
        dependent = independence.complaint_of_counts(np.stack(hits, axis=1), runs)
        health += () if dependent is None else (dependent,)
    power = no_power(plan.guarantee, violated, tested.stopped, health) or power_of_event(plan, pilot, tested)
    health += power.health(plan.max_trials)
    if tested.stopped:
        health += (f"stopped by hand after {n} of the test's trials: the bound holds at every time at once",)
    above = tested.counts[:, 1:]
    return AuditResult(
        violated=violated,
        epsilon_lower=bound,
        delta=goal.delta,
        alpha=float(plan.alpha),
        trials=spent + pilot.trials + n,
        seconds=0.0,
        pair=runner.pair,
        event=Event(sentence_of(choice, pilot.encoding), choice, pilot.encoding),
        direction=choice.direction,
        detectable_epsilon=power.epsilon,
        power=power.model,
        curve=curve_from_counts(above[0], above[1], tested.curve_trials, plan.alpha),
        seed=plan.seed,
        guarantee=plan.guarantee,
        claimed=goal.epsilon,
        method="confidence sequence" if tested.stopped else "exact ratio test",
        counts=(k, j, n),
        health=health,
    )


def power_of_event(plan: AuditPlan, pilot: Pilot, tested: Tested) -> Power:
    """What the ratio test of this event would have caught."""
    choice, goal = tested.choice, tested.choice.target
    k, n, j, _ = tested.pairs()
    above = tested.counts[:, 1:] if choice.direction == "first" else tested.counts[::-1, 1:]
    tails = above if choice.above else tested.curve_trials - above
    size, rarest = (pilot.encoding.width, pilot.trials // 2), 0
    if isinstance(choice.score, Atoms):
        rarest = int(np.unique(row_keys(np.concatenate([pilot.first, pilot.second])), return_counts=True)[1].min())
    view = View(choice, k, j, n, *size, tails, tested.curve_trials, rarest)
    return power_of(RatioTest(n, goal.epsilon, goal.delta, (1 - BY_HAND) * plan.alpha), view)
