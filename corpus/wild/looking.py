"""Looking at a subject with the detectors, and what they said as plain values."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

from corpus.wild.subject import Subject
from dpcheck.audits import audit, replay
from dpcheck.audits.pairs.pair_in_words import pair_words
from dpcheck.bounds.language.errors import DpcheckError

ALPHA = 1e-6  # false-alarm rate of each audit
PAIRS = 20  # of neighbours that replay tries, where no pair is given

Said = dict[str, Any]


def looked_at(subject: Subject) -> Said:
    """What audit and replay say of it, with the loss from below where they find a violation."""
    mechanism = subject.make()
    asked: dict[str, Any] = {"pair": subject.pair} if subject.pair is not None else {"neighbours": subject.neighbours}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = {"audit": by_audit(mechanism, subject, asked), "replay": by_replay(mechanism, subject, asked)}
    return {**described(subject), **said}


def described(subject: Subject) -> Said:
    """What it is, and where it is looked at."""
    return {
        "name": subject.name,
        "claim": str(subject.claim),
        "pair": "" if subject.pair is None else pair_words(subject.pair),
        **{field: getattr(subject, field) for field in ("finding", "promise", "thread", "limit", "trials")},
    }


def by_audit(mechanism: Any, subject: Subject, asked: dict[str, Any]) -> Said:
    found = audit(
        mechanism,
        guarantee=subject.claim,
        max_trials=subject.trials,
        alpha=ALPHA,
        seed=0,
        attack=subject.attack,
        executor=1,
        progress=False,
        **asked,
    )
    event = str(found.event) if found.violated else ""
    epsilon = {"lower": found.epsilon_lower, "claimed": found.claimed, "delta": found.delta}
    runs = {"runs": 2 * found.trials, "seconds": round(found.seconds, 1), "seeded": seeded(found.health)}
    return {"verdict": found.verdict, "violated": found.violated, "event": event, **epsilon, **runs}


def by_replay(mechanism: Any, subject: Subject, asked: dict[str, Any]) -> Said:
    started = time.perf_counter()
    try:
        found = replay(mechanism, asked.get("pair"), subject.claim, neighbours=asked.get("neighbours"), pairs=PAIRS)
    except DpcheckError as error:
        return {"verdict": "refused", "violated": False, "why": str(error), "runs": 0}
    lower = found.low if found.violated and math.isfinite(found.low) else None
    line = str(found.leaks[0]) if found.leaks else ""
    took = {"runs": found.runs, "seconds": round(time.perf_counter() - started, 1)}
    return {"verdict": found.verdict, "violated": found.violated, "lower": lower, "leak": line, **took}


def seeded(health: tuple[str, ...]) -> bool:
    """Whether the audit can be repeated bit for bit."""
    return not any("ignores its rng" in message for message in health)
