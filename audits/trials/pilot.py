"""The pilot: the first trials, which decide how outputs are encoded, which score and event to test, and
whether the mechanism is fit to be audited at all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcheck.audits.outputs.encoding import NOT_LOOKED_AT, Encoding, Numbers, encoding_of
from dpcheck.audits.outputs.narrowed import Narrowed, narrowed_pilot
from dpcheck.audits.outputs.returned import PerRun, joined
from dpcheck.audits.scores.attacks import Coordinate, Given, Score, candidates, distinct_share
from dpcheck.audits.scores.bits import LowestBit, TrailingZeros
from dpcheck.audits.scores.densities import KnownRatio
from dpcheck.audits.scores.tables import table_of
from dpcheck.audits.scores.wide import Extreme, Quadratic
from dpcheck.audits.statistics import independence
from dpcheck.audits.statistics.event_choice import Choice, Prospect, Target, best_choice, prospect_of, prospect_of_table
from dpcheck.audits.statistics.known_events import prospect_of_fitted, prospect_of_known
from dpcheck.audits.trials.executor import Chunk, Runner, chunk_size, chunks
from dpcheck.audits.trials.plan import PILOT, PROBE, AuditPlan
from dpcheck.bounds.language.errors import InvalidInput

PROBES = 16
CALLS = 8  # at least, in a pilot: enough to see whether calls differ more than runs do
PILOT_CELLS = 2 * 10**7
LARGEST_PILOT = 250_000
WIDEST_KEPT = 2000  # columns: of wider outputs the pilot keeps a part
COLUMN_ATTACKS = ("auto", "coordinates", "projections", "histogram", "learned")
JUDGED = 2000  # runs that must be left to judge scores by
RUNS_PER_COLUMN = 25  # for learning a direction: the error of a mean gap adds up over the columns


@dataclass(frozen=True, eq=False)
class Pilot:
    """Encoded outputs of both datasets, and what was noticed about the mechanism."""

    encoding: Encoding
    first: np.ndarray
    second: np.ndarray
    health: tuple[str, ...]
    runs: int | None = None

    @property
    def trials(self) -> int:
        """Runs per dataset, with those of which no row was kept."""
        return len(self.first) if self.runs is None else self.runs

    def read_by(self, choice: Choice) -> Pilot:
        """Outputs encoded for this event only."""
        if not isinstance(self.encoding, Narrowed):
            return self
        return replace(self, encoding=self.encoding.read_by(choice.score))


def run_pilot(plan: AuditPlan, runner: Runner, trials: int | None, left: int, stage: int = PILOT) -> Pilot:
    """Run `trials` per dataset (a share of the trials `left` when None) and look at the mechanism's health.

    Both datasets have the same seeds: common noise cancels in what tells them apart. The test's runs are independent.
    """
    started = time.perf_counter()
    probe = runner.outputs(Chunk(PROBE, 0, 0, PROBES, 0))
    plan.tell_pace(PROBES, time.perf_counter() - started)
    encoding = encoding_of(probe)
    width = encoding.width
    if trials is None and width > WIDEST_KEPT and narrowable(plan, encoding):
        return streamed_pilot(plan, runner, probe, encoding, share_of(left, width))
    count = min(pilot_size(left, width) if trials is None else trials, max(10, PILOT_CELLS // width))
    size = min(chunk_size(plan.max_trials, width), -(-count // CALLS))
    work = chunks(stage, count, size, twin=True)
    raw = gather(runner, work)
    encoding = encoding_of(joined(raw))
    first, second = encoding(raw[0]), encoding(raw[1])
    calls = [chunk.trials for chunk in work if chunk.side == 0]
    return Pilot(encoding, first, second, health_of(runner, probe, encoding, first, second, calls))


def narrowable(plan: AuditPlan, encoding: Encoding) -> bool:
    """Whether the attack looks at columns, not at outputs as a whole."""
    named = isinstance(plan.attack, str) and plan.attack in COLUMN_ATTACKS
    return named and isinstance(encoding, Numbers) and not callable(getattr(plan.mechanism, "log_density", None))


def streamed_pilot(plan: AuditPlan, runner: Runner, probe: Any, encoding: Encoding, count: int) -> Pilot:
    """A pilot of outputs too wide to keep."""
    size = max(1, min(chunk_size(plan.max_trials, encoding.width), -(-count // (2 * CALLS))))
    work = chunks(PILOT, count, size, twin=True)
    narrowed, first, second = narrowed_pilot(runner, encoding(probe), encoding, work)
    kept = [chunk.trials for chunk in work if chunk.side == 0][-(-len(first) // size) * -1 :]
    health = health_of(runner, probe, narrowed, first, second, kept)
    unseen = f"{NOT_LOOKED_AT}: relations between {encoding.width} columns, but for {len(narrowed.columns)} of them"
    return Pilot(narrowed, first, second, (*health, unseen), count)


def share_of(trials: int, width: int) -> int:
    """Trials for choosing: a quarter of a small audit, a tenth of a large one, up to three tenths for wide outputs."""
    wide = min(RUNS_PER_COLUMN * width, 3 * trials // 10)
    return max(10, min(trials // 4, 15_000), min(max(trials // 10, wide), LARGEST_PILOT))


def pilot_size(trials: int, width: int) -> int:
    """The same within a limit that keeps memory flat."""
    return max(10, min(share_of(trials, width), PILOT_CELLS // max(1, width)))


def gather(runner: Runner, work: list[Chunk]) -> list[Any]:
    """The outputs of both datasets."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    for chunk, outputs in runner.results(work, None):
        parts[chunk.side].append(outputs)
    return [joined(parts[0]), joined(parts[1])]


def prospects(attack: Any, first: np.ndarray, second: np.ndarray, light: bool = False) -> list[Prospect]:
    """Candidate scores with the rates of their events; `aimed(attack, ...)` brings known densities along.

    Scores are fitted on one half of the pilot and judged on the other; those that need no fit see both.
    `light` leaves out the learned ones.
    """
    part = [fitting_share(side) for side in (first, second)]
    discrete = distinct_share(first, second) < 1 / 3
    found: list[Prospect] = []
    if attack == "atoms" or (attack == "auto" and discrete):
        found.append(prospect_of_table(table_of(first, second)))
    for score in candidates(attack, first[: part[0]], second[: part[1]], discrete, light):
        whole = isinstance(score, Coordinate | Extreme | Given | KnownRatio | LowestBit | TrailingZeros)
        a, b = (first, second) if whole else (first[part[0] :], second[part[1] :])
        found.append(judged(score, score(a), score(b)))
    if not found:
        raise InvalidInput("attack", attack, "one that fits these outputs", "Use attack='auto'.")
    return found


def judged(score: Score, first: np.ndarray, second: np.ndarray) -> Prospect:
    """Log ratios speak for themselves, far into the tails; other scores by what was counted."""
    if isinstance(score, KnownRatio):
        return prospect_of_known(score, first, second)
    fitted = isinstance(score, Quadratic) and min(len(first), len(second)) >= JUDGED
    return (prospect_of_fitted if fitted else prospect_of)(score, first, second)


def fitting_share(rows: np.ndarray) -> int:
    """Half of the rows, or up to four fifths where a direction among many columns is to be learned."""
    half = len(rows) // 2
    return int(np.clip(RUNS_PER_COLUMN * rows.shape[1], half, max(half, min(4 * len(rows) // 5, len(rows) - JUDGED))))


def select(
    attack: Any,
    first: np.ndarray,
    second: np.ndarray,
    goals: Sequence[Target],
    trials: int,
    alpha: float,
    light: bool = False,
) -> Choice:
    """The event with the best bound in prospect from `trials` further runs per dataset."""
    return best_choice(prospects(attack, first, second, light), goals, trials, alpha)


def health_of(
    runner: Runner, probe: Any, encoding: Encoding, first: np.ndarray, second: np.ndarray, calls: Sequence[int]
) -> tuple[str, ...]:
    """What a reader must know: parts not looked at, determinism, dependent runs, an rng ignored, global seeding.

    The rows of each dataset were made in `calls` of these many runs.
    """
    found = [f"{NOT_LOOKED_AT}: {words}" for words in encoding.unread]
    constant = not found and bool((first == first[0]).all() and (second == second[0]).all())
    if constant and bool((first[0] == second[0]).all()):
        found.append("deterministic: every run gave the same output on both datasets, nothing to tell apart")
    elif constant:
        found.append("deterministic, and the output depends on the dataset: no epsilon holds")
    dependent = independence.complaint(first, second, calls)
    if dependent is not None:
        found.append(dependent)
    again = runner.outputs(Chunk(PROBE, 0, 0, len(probe), 0))
    encode = encoding_of(probe)
    if not np.array_equal(encode(probe), encode(again)):
        resumed = "" if runner.journal is None else " and its checkpoint not resumed"
        found.append(f"ignores its rng: the same seed gave other outputs, so this result cannot be replayed{resumed}")
    if isinstance(runner.mechanism, PerRun) and runner.mechanism.global_state:
        found.append("takes no rng: numpy's and random's global state was seeded before each run")
    return tuple(found)
