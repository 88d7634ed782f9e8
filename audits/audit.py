"""audit(): attack a mechanism on neighbouring datasets and bound its epsilon from below.

A pilot chooses the pair, the score and the event; fresh trials then certify the bound.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audits.attacks import Coordinate, Given, TrailingZeros, candidates, checked_attack, distinct_share
from audits.executor import Chunk, Runner, chunk_size, chunks
from audits.intervals import checked_level
from audits.neighbours import Neighbours, Pair
from audits.outputs import Encoding, Mechanism, PerRun, encoding_of, joined
from audits.power import detectable_epsilon, detectable_gaussian
from audits.ratio import ratio_bound
from audits.result import AuditResult, Curve, Event, Progress, curve_from_counts
from audits.selection import Choice, Prospect, Target, best_choice, prospect_of, prospect_of_table, targets
from audits.tables import table_of
from bounds.errors import InvalidInput, MixedRelations
from bounds.guarantees import LABEL_ONLY, LOCAL, REPLACE_ONE, Guarantee

PILOT, TEST, SEARCH, PROBE = 0, 1, 2, 3  # stages: each has seeds of its own
CURVE_TRIALS = 500_000
CURVE_POINTS = 41
PILOT_CELLS = 2 * 10**7
FEWEST_TRIALS = 20
SLOPE = 0.85  # of the predicted bound: ordering outcomes by too steep a slope costs more than by too flat a one


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
    executor: Executor | None = None,
    checkpoint: Any = None,
    progress: Progress | None = None,
    delta: float | None = None,
    assume: str | None = None,
) -> AuditResult:
    """Attack `mechanism(data, rng, trials)` and give a lower bound on its epsilon that is valid at level alpha.

    Pass a `pair` of datasets (any objects), or `neighbours` to search for one. `guarantee` is the claim to test,
    or None to measure epsilon at `delta` (0 unless given). `max_trials` counts runs per dataset, all stages
    together. `attack` is "auto", one of the named attacks, or a callable from outputs to scores.
    `progress(done, total, bound)` is called as trials come in. Raises InvalidInput for bad arguments and outputs,
    MechanismFailed when the mechanism raises.

    >>> from bounds.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=0.5, size=trials)      # calibrated for eps = 2
    >>> audit(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000).violated
    True
    """
    started = time.perf_counter()
    plan = Plan(mechanism, guarantee, max_trials, alpha, seed, attack, executor, progress, delta, neighbours)
    spent = 0
    if pair is None:
        pair, spent = plan.find_pair()
    elif neighbours is not None and not neighbours.is_pair(*pair):
        limit = f"neighbours ({neighbours})"
        raise InvalidInput("pair", pair, limit, "Change one record only, and stay inside the domain.")
    prepared = plan.prepare(pair, spent)
    counts, grid_counts, curve_trials = plan.certify(prepared)
    return plan.conclude(prepared, counts, grid_counts, curve_trials, time.perf_counter() - started)


@dataclass(frozen=True)
class Prepared:
    """What the pilot decided: everything the test needs, fixed before its first trial."""

    runner: Runner
    encoding: Encoding
    choice: Choice
    grid: np.ndarray
    pilot_trials: int
    test_trials: int
    health: tuple[str, ...]


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


@dataclass(frozen=True)
class Plan:
    """The arguments of an audit, checked, and its stages."""

    mechanism: Any
    guarantee: Any
    max_trials: int
    alpha: float
    seed: int
    attack: Any
    executor: Executor | None
    progress: Progress | None
    delta: float | None
    neighbours: Neighbours | None

    def __post_init__(self) -> None:
        if not callable(self.mechanism):
            remedy = "Pass the function itself; per_run(f) wraps one of a single run."
            raise InvalidInput("mechanism", self.mechanism, "callable as mechanism(data, rng, trials)", remedy)
        if not isinstance(self.max_trials, int | np.integer) or self.max_trials < FEWEST_TRIALS:
            limit = f"an integer >= {FEWEST_TRIALS}"
            raise InvalidInput("max_trials", self.max_trials, limit, "Use 100_000 for a quick audit.")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InvalidInput("seed", self.seed, "an integer >= 0", "Use seed=0.")
        if self.guarantee is not None and not isinstance(self.guarantee, Guarantee):
            remedy = "Use PureDP(1.0), ApproxDP(1.0, 1e-5), ..., or None to measure."
            raise InvalidInput("guarantee", self.guarantee, "a Guarantee or None", remedy)
        checked_level(self.alpha)
        checked_attack(self.attack)
        if self.guarantee is not None and self.neighbours is not None:
            object.__setattr__(self, "guarantee", claim_for(self.guarantee, self.neighbours))

    @property
    def goals(self) -> list[Target]:
        """What may be tested; refused when the guarantee claims nothing there."""
        found = targets(self.guarantee, self.delta)
        if not found or not all(np.isfinite(goal.epsilon) for goal in found):
            limit = f"one at which {self.guarantee} claims a finite epsilon"
            raise InvalidInput("delta", self.delta, limit, "Use 1e-5 for example.")
        return found

    def runner(self, pair: Pair) -> Runner:
        """The mechanism on this pair."""
        return Runner(self.mechanism, (pair[0], pair[1]), int(self.seed), self.executor)

    def find_pair(self) -> tuple[Pair, int]:
        """The most telling pair of the relation, and the trials it took to find."""
        if self.neighbours is None:
            remedy = "Pass pair=(data, neighbour) or neighbours=replace_one(low=0, high=1, n=10)."
            raise InvalidInput("pair", None, "given, or neighbours to search", remedy)
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(self.seed), spawn_key=(SEARCH,))))
        count = 12
        each = max(5, self.max_trials // 5 // count)
        pairs = self.neighbours.pairs(rng, count)
        best, value = pairs[0], -np.inf
        for k, pair in enumerate(pairs):
            prospect = self._prospect(pair, each, k)
            if prospect > value:
                best, value = pair, prospect
        return best, each * len(pairs)

    def _prospect(self, pair: Pair, trials: int, k: int) -> float:
        runner = replace(self.runner(pair), seed=int(self.seed) + 0)
        outputs = _gather(runner, chunks(SEARCH + 10 + k, trials, trials))
        encoding = encoding_of(joined(outputs))
        first, second = encoding(outputs[0]), encoding(outputs[1])
        choice = select(self.attack, first, second, self.goals, self.max_trials, self.alpha)
        return choice.margin

    def prepare(self, pair: Pair, spent: int) -> Prepared:
        """Run the pilot, check the mechanism's health, choose the event."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput("pair", pair, "two datasets", "Pass pair=(data, neighbour).")
        runner = self.runner((pair[0], pair[1]))
        probe = runner.outputs(Chunk(PROBE, 0, 0, min(16, self.max_trials), 0))
        width = encoding_of(probe).width
        left = self.max_trials - spent
        pilot = pilot_size(left, width)
        size = chunk_size(self.max_trials, width)
        raw = _gather(runner, chunks(PILOT, pilot, size))
        encoding = encoding_of(joined(raw))
        first, second = encoding(raw[0]), encoding(raw[1])
        choice = select(self.attack, first, second, self.goals, left - pilot, self.alpha)
        pooled = np.concatenate([choice.score(first), choice.score(second)])
        grid = np.unique(np.quantile(pooled, np.linspace(0.01, 0.99, CURVE_POINTS), method="lower"))
        health = health_of(runner, probe, first, second)
        return Prepared(runner, encoding, choice, grid, spent + pilot, left - pilot, health)

    def certify(self, ready: Prepared) -> tuple[np.ndarray, np.ndarray, int]:
        """Fresh trials on both datasets: hits per dataset, counts of the curve's grid, trials behind the curve."""
        tally = Tally(ready.encoding, ready.choice, ready.grid)
        size = chunk_size(self.max_trials, ready.encoding.width)
        work = chunks(TEST, ready.test_trials, size)
        totals = np.zeros((2, 1 + len(ready.grid)), dtype=np.int64)
        curve_trials = 0
        for chunk, counts in ready.runner.results(work, tally):
            totals[chunk.side] += counts
            curve_trials += chunk.trials if chunk.side == 1 and chunk.first < CURVE_TRIALS else 0
            if self.progress is not None and chunk.side == 1:
                done = chunk.first + chunk.trials
                bound = self._bound(ready.choice, totals[:, 0], done)
                self.progress(ready.pilot_trials + done, self.max_trials, bound)
        return totals[:, 0], totals[:, 1:], curve_trials

    def _bound(self, choice: Choice, hits: np.ndarray, trials: int) -> float:
        favoured, other = (hits[0], hits[1]) if choice.direction == "first" else (hits[1], hits[0])
        slope = float(np.exp(max(SLOPE * choice.predicted, 0.0)))
        counts = (int(favoured), trials, int(other), trials)
        return ratio_bound(*counts, delta=choice.target.delta, alpha=self.alpha, slope=slope)

    def conclude(
        self, ready: Prepared, hits: np.ndarray, grid_counts: np.ndarray, curve_trials: int, seconds: float
    ) -> AuditResult:
        """The bound, what it says about the claim, and what it would have caught."""
        choice, n = ready.choice, ready.test_trials
        goal = choice.target
        bound = self._bound(choice, hits, n)
        favoured, other = (0, 1) if choice.direction == "first" else (1, 0)
        rate = float(np.clip(hits[favoured] / n, 1 / n, 1))
        if choice.normal and goal.delta > 0:
            caught = detectable_gaussian(n, claimed=goal.epsilon, delta=goal.delta, alpha=self.alpha)
        else:
            caught = detectable_epsilon(rate, n, claimed=goal.epsilon, delta=goal.delta, alpha=self.alpha)
        health = ready.health
        if not np.isfinite(caught):
            health += (f"too few trials ({self.max_trials}) to catch any violation with this event: raise max_trials",)
        curve: Curve | None = None
        if curve_trials:
            curve = curve_from_counts(grid_counts[0], grid_counts[1], curve_trials, self.alpha)
        return AuditResult(
            violated=self.guarantee is not None and bound > goal.epsilon,
            epsilon_lower=bound,
            delta=goal.delta,
            alpha=float(self.alpha),
            trials=ready.pilot_trials + n,
            seconds=seconds,
            pair=ready.runner.pair,
            event=Event(sentence_of(choice), choice, ready.encoding),
            direction=choice.direction,
            detectable_epsilon=caught,
            curve=curve,
            seed=int(self.seed),
            guarantee=self.guarantee,
            claimed=goal.epsilon,
            counts=(int(hits[favoured]), int(hits[other]), n),
            health=health,
        )


def claim_for(guarantee: Guarantee, neighbours: Neighbours) -> Guarantee:
    """The guarantee under the relation of the neighbours; replace-one covers a label and a single local record."""
    own, theirs = guarantee.relation, neighbours.relation
    if own.name == REPLACE_ONE.name and theirs.name in (LABEL_ONLY.name, LOCAL.name):
        return replace(guarantee.to_relation(replace(own, size=theirs.size)), relation=theirs)
    if own.name != theirs.name and (own.name, theirs.name) != ("add/remove-one", "replace-one"):
        remedy = f"State the guarantee for it: {type(guarantee).__name__}(..., relation=neighbours.relation)."
        raise MixedRelations("the guarantee's relation", str(own), f"that of the neighbours ({theirs})", remedy)
    return guarantee.to_relation(theirs)


def pilot_size(trials: int, width: int) -> int:
    """Trials for choosing: a quarter of a small audit, a tenth of a large one, less of a huge one."""
    share = max(min(trials // 4, 20_000), min(trials // 10, int(1e5 * (trials / 1e6) ** 0.5)))
    return max(10, min(share, PILOT_CELLS // max(1, width)))


def select(
    attack: Any, first: np.ndarray, second: np.ndarray, goals: list[Target], trials: int, alpha: float
) -> Choice:
    """Fit scores on one half of the pilot and choose the event on the other; scores that need no fit see both."""
    half = (len(first) // 2, len(second) // 2)
    discrete = distinct_share(first, second) < 1 / 3
    found: list[Prospect] = []
    if attack == "atoms" or (attack == "auto" and discrete):
        found.append(prospect_of_table(table_of(first, second)))
    for score in candidates(attack, first[: half[0]], second[: half[1]], discrete):
        whole = isinstance(score, Coordinate | Given | TrailingZeros)
        a, b = (first, second) if whole else (first[half[0] :], second[half[1] :])
        found.append(prospect_of(score, score(a), score(b)))
    if not found:
        raise InvalidInput("attack", attack, "one that fits these outputs", "Use attack='auto'.")
    return best_choice(found, goals, trials, alpha)


def health_of(runner: Runner, probe: Any, first: np.ndarray, second: np.ndarray) -> tuple[str, ...]:
    """What a reader must know: determinism, a mechanism that ignores its rng, global seeding."""
    found = []
    constant = bool((first == first[0]).all() and (second == second[0]).all())
    if constant and bool((first[0] == second[0]).all()):
        found.append(
            "deterministic: every run gave the same output on both datasets, so there was nothing to tell apart"
        )
    elif constant:
        found.append("deterministic, and the output depends on the dataset: no epsilon holds")
    again = runner.outputs(Chunk(PROBE, 0, 0, len(probe), 0))
    if not np.array_equal(np.asarray(encoding_of(probe)(probe)), np.asarray(encoding_of(probe)(again))):
        found.append("ignores its rng: the same seed gave other outputs, so this result cannot be replayed")
    if isinstance(runner.mechanism, PerRun) and runner.mechanism.global_state:
        found.append("takes no rng: numpy's and random's global state was seeded before each run")
    return tuple(found)


def sentence_of(choice: Choice) -> str:
    """The event in words."""
    sign = ">=" if choice.above else "<"
    return f"{choice.score} {sign} {choice.threshold:.10g}"


def _gather(runner: Runner, work: list[Chunk]) -> list[Any]:
    """The outputs of both datasets."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    for chunk, outputs in runner.results(work, None):
        parts[chunk.side].append(outputs)
    return [joined(parts[0]), joined(parts[1])]
