"""Detectors, each as a function of a mechanism and a case: what it says, in how many runs and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from corpus.case import Case, Run
from dpcheck.audits import audit, per_run, replay

ALPHA, TRIALS = 1e-6, 20_000


@dataclass(frozen=True)
class Said:
    """Whether a detector flags a mechanism, with epsilon from below, its own words, and what it took."""

    flagged: bool
    epsilon: float
    words: str
    runs: int
    seconds: float


def by_replay(run: Run, case: Case) -> Said:
    """On the case's pair, at default settings."""
    found = replay(per_run(run), case.pair, case.claim)
    return Said(found.violated, found.low, found.verdict, found.runs, found.seconds)


def by_replay_search(run: Run, case: Case) -> Said:
    """On the neighbours that a search tries."""
    found = replay(per_run(run), None, case.claim, neighbours=case.neighbours)
    return Said(found.violated, found.low, found.verdict, found.runs, found.seconds)


def by_audit(run: Run, case: Case) -> Said:
    """By counting, on the neighbours that a search finds, at a false-alarm rate of 1e-6."""
    started = time.perf_counter()
    found = audit(
        per_run(run), guarantee=case.claim, neighbours=case.neighbours, max_trials=TRIALS, alpha=ALPHA, seed=0
    )
    return Said(found.violated, found.epsilon_lower, found.verdict, 2 * found.trials, time.perf_counter() - started)


DETECTORS: dict[str, Callable[[Run, Case], Said]] = {
    "replay": by_replay,
    "replay with search": by_replay_search,
    "audit with search": by_audit,
}
