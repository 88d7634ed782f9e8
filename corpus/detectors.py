"""Detectors, each as a function of one side of a case: what it says, in how many runs and seconds, or why nothing."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from corpus.case import Case, Side
from dpcheck.audits import audit, audit_training, per_run, replay
from dpcheck.bounds.language.guarantees import ADD_REMOVE
from dpcheck.testing.training_loop import check_training
from dpcheck.theory.account import NoisyRelease, account

ALPHA, TRIALS, LONGER = 1e-6, 20_000, 200_000
NOISES, RATES, STEPS, DELTAS = (0.8, 1.0, 4.0, 20.0), (1.0, 0.2, 0.01), (1, 4, 100), (1e-3, 1e-5)
UNSURE = 1e-6  # by which an accountant may lie below a sound bound: its own rounding


@dataclass(frozen=True)
class Said:
    """Whether a detector flags a mechanism, with the loss from below, its own words, and what it took.

    `applies` is False where it has nothing to look at; the words then say why.
    """

    flagged: bool
    epsilon: float
    words: str
    runs: int
    seconds: float
    applies: bool = True


def not_for(why: str) -> Said:
    """There is nothing for this detector to look at."""
    return Said(False, 0.0, why, 0, 0.0, applies=False)


def by_replay(side: Side, case: Case) -> Said:
    """On the case's pair, at default settings."""
    found = replay(per_run(side.run), case.pair, side.claim)
    return Said(found.violated, found.low, found.verdict, found.runs, found.seconds)


def by_replay_search(side: Side, case: Case) -> Said:
    """On the neighbours that a search tries."""
    if case.neighbours is None:
        return not_for("the claim is about this pair alone")
    found = replay(per_run(side.run), None, side.claim, neighbours=case.neighbours)
    return Said(found.violated, found.low, found.verdict, found.runs, found.seconds)


def by_audit(side: Side, case: Case, attack: str = "auto", trials: int = TRIALS) -> Said:
    """By counting, on the neighbours that a search finds (the pair where a claim is about it alone)."""
    started = time.perf_counter()
    where = {"pair": case.pair} if case.neighbours is None else {"neighbours": case.neighbours}
    found = audit(
        per_run(side.run), guarantee=side.claim, max_trials=trials, alpha=ALPHA, seed=0, attack=attack, **where
    )
    seconds = time.perf_counter() - started
    return Said(found.violated, found.epsilon_lower, found.verdict, 2 * found.trials, seconds)


def by_longer_audit(side: Side, case: Case) -> Said:
    """With ten times the runs, for a loss that so few do not show."""
    if not case.subtle:
        return not_for("fewer runs are enough")
    return by_audit(side, case, trials=LONGER)


def by_audit_of_bits(side: Side, case: Case) -> Said:
    """By the last bits of what comes out: on request only, as nearly every float implementation tells by them."""
    if not case.arithmetic:
        return not_for("its twin computes with floats as well")
    return by_audit(side, case, attack="bits", trials=TRIALS)


def by_canaries(side: Side, case: Case) -> Said:
    """One training run."""
    if case.trained is None:
        return not_for("nothing is trained")
    asked, started = case.trained, time.perf_counter()
    claim = side.claim if asked.claim is None else asked.claim
    delta = float(side.claim.parameters.get("delta", 0.0))
    found = audit_training(
        side.run,
        asked.data,
        canaries=asked.canaries,
        score=asked.score,
        guarantee=claim,
        runs=asked.runs,
        seed=0,
        # Without an assumption private training may show every coin with probability delta.
        alpha=ALPHA if asked.assume is not None else max(ALPHA, 100 * delta),
        delta=delta if asked.claim is not None else None,
        assume=asked.assume,
    )
    return Said(found.violated, found.epsilon_lower, found.verdict, asked.runs, time.perf_counter() - started)


def by_account(side: Side, case: Case) -> Said:
    """An accountant against sound bounds on a grid of releases; a loop against what its accountant was told."""
    started = time.perf_counter()
    if side.says is not None and side.told is not None:
        shown, points = 0.0, 0
        for release, delta in grid(side.told):
            points += 1
            low = account(release, delta=delta, relation=ADD_REMOVE).spent[0].low
            if side.says(release, delta) < low * (1 - UNSURE):
                shown = max(shown, low)
        return Said(shown > 0, shown, "never below what is spent", points, time.perf_counter() - started)
    if side.told is None:
        return not_for("no accountant, and no loop")
    checked = check_training(side.run, case.loop or case.pair, side.told)
    unseen = [finding.point for finding in checked.findings if finding.kept is None]
    words = ", ".join(finding.point for finding in checked.broken) or f"not seen: {', '.join(unseen)}" * bool(unseen)
    seconds = time.perf_counter() - started
    return Said(bool(checked.broken), math.inf, words or "as told", 8, seconds)


def grid(told: NoisyRelease) -> list[tuple[NoisyRelease, float]]:
    """Releases of the same law, with and without batches as told."""
    rates = RATES if told.rate < 1 else (1.0,)
    noises = NOISES if told.law == "gaussian" else NOISES[2:]
    found = [
        (NoisyRelease(noise, rate, steps, told.sampling, told.law), delta)
        for noise, rate, steps, delta in itertools.product(noises, rates, STEPS, DELTAS)
    ]
    return [(told, delta) for delta in DELTAS] + found


DETECTORS: dict[str, Callable[[Side, Case], Said]] = {
    "replay": by_replay,
    "replay with search": by_replay_search,
    "audit with search": by_audit,
    "longer audit": by_longer_audit,
    "audit of bits": by_audit_of_bits,
    "canaries": by_canaries,
    "accountant or loop": by_account,
}
OWN_PAIR = ("replay",)  # detectors that are given the pair that shows the bug
ON_REQUEST = ("longer audit", "audit of bits")
