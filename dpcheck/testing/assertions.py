"""Privacy as a test: `assert_private(mechanism, ...)` and the decorator `@private(...)`.

A pass says what it would have caught; a test that could not have caught anything does not pass.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from dpcheck.audits import AuditResult, MechanismFailed, Neighbours, audit
from dpcheck.audits.pairs.pair_in_words import difference
from dpcheck.audits.past import Past
from dpcheck.audits.trials.fingerprints import content
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, shown
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.report.audit_page import shown_of
from dpcheck.testing import history
from dpcheck.testing import run_ledger as ledger

TRIALS = 100_000
ALPHA = 1e-6
DEPENDENT = "runs are not independent"
UNHEALTHY = ("deterministic", ledger.UNSEEDED, "too few trials", "equal datasets", DEPENDENT)
LONGEST_PAIR = 600  # characters of a pair in the run's ledger

F = TypeVar("F", bound=Callable[..., Any])


class PrivacyViolation(DpcheckError, AssertionError):
    """A mechanism broke its guarantee; the message has all a colleague needs, `result` the rest."""

    def __init__(self, message: str, result: AuditResult) -> None:
        super().__init__(message, result)
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])


class Unhealthy(DpcheckError, AssertionError):
    """The audit found nothing, and could not have; or nothing that counts: `check` names why."""

    def __init__(self, check: str, message: str) -> None:
        super().__init__(check, message)
        self.check = check

    def __str__(self) -> str:
        return f"this test proves nothing (health check): {self.args[1]}"


def assert_private(
    mechanism: Any,
    *,
    guarantee: Guarantee,
    pair: tuple[Any, Any] | None = None,
    neighbours: Neighbours | None = None,
    alpha: float = ALPHA,
    max_trials: int = TRIALS,
    seed: int | None = None,
    must_detect: float | None = None,
    suppress: Sequence[str] = (),
    trust_assumption: bool = False,
    **options: Any,
) -> AuditResult:
    """Audit `mechanism` and raise PrivacyViolation if it breaks `guarantee`.

    A true guarantee fails with probability at most `alpha`. The seed comes from the test's name unless given, so
    a test has one outcome. `must_detect`: refuse a pass that would not have caught this epsilon. `suppress` names
    health checks to leave out: "deterministic", "ignores its rng", "too few trials", "equal datasets",
    "runs are not independent". Further options go to `dpcheck.audit`. Raises Unhealthy when the test could not have
    caught anything, or when what it caught counts for nothing since runs depend on each other.

    A mechanism that draws from a source of its own, as a secure generator is, passes or fails like any other, with
    fresh runs each time: `alpha` then holds for each run of the test, and its result, which cannot be replayed, says
    so. Only under hypothesis, which repeats examples, it has to be accepted by `suppress`.

    With `assume="gdp"` the test still rests on the bound that assumes nothing (and so does what it would have caught):
    a violation that only follows if the noise is Gaussian is noted in the result's `health` and in the run's report.
    `trust_assumption=True`, for noise that is known to be Gaussian, fails the test on it.

    Under `pytest --dpcheck-history FILE` the evidence adds up from run to run, and `alpha` holds for all of them.

    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=1.0, size=trials)
    >>> assert_private(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0)).violated
    False
    """
    __tracebackhide__ = True
    test = ledger.current()
    _check_request(guarantee, must_detect, suppress)
    if test is not None and test.budget is not None:
        max_trials = test.budget
    if seed is None:
        seed = 0 if test is None else test.seed
    if pair is not None and _equal(pair) and "equal datasets" not in suppress:
        raise Unhealthy("equal datasets", f"equal datasets: both are {shown(pair[0])}. Change one record.")
    arguments: dict[str, Any] = {"pair": pair, "neighbours": neighbours, "guarantee": guarantee}
    visit = None if test is None else _visit(test, mechanism, alpha, {**arguments, **options})
    arguments |= {"alpha": alpha} if visit is None else {"alpha": visit.level, "past": visit.past}
    try:
        result = audit(mechanism, **arguments, max_trials=max_trials, seed=seed, **options)
    except InvalidInput as refused:
        raise refused.with_traceback(None) from None  # its sentence says it all: the engine's frames are noise
    except MechanismFailed as failed:
        raise failed.alone() from failed.__cause__
    if any(message.startswith("stopped by hand") for message in result.health):
        raise KeyboardInterrupt
    if not trust_assumption:
        result = _proved(result)
    # Unseeded under @given, one example may pass and fail: the one outcome it always has comes first.
    complaints = _complaints(result, suppress)
    void = ledger.UNSEEDED in complaints or DEPENDENT in complaints or not result.violated
    illness = _illness(result, must_detect, suppress) if void else None
    if test is not None:
        entry = _entry(mechanism, result, test, illness)
        test.enter(entry if visit is None else {**entry, **visit.entry(alpha, result, illness)})
    if illness is not None:
        raise illness
    if result.violated:
        raise PrivacyViolation(failure_text(mechanism, result, max_trials, test), result)
    return result


def private(
    *,
    guarantee: Guarantee,
    pair: tuple[Any, Any] | None = None,
    neighbours: Neighbours | None = None,
    alpha: float = ALPHA,
    max_trials: int = TRIALS,
    **options: Any,
) -> Callable[[F], F]:
    """Turn a function that returns a mechanism into a test that the mechanism is private.

    Takes what `assert_private` takes. The function may use fixtures and parameters, and stand under `@given`.

    >>> from dpcheck.audits import replace_one
    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> @private(guarantee=PureDP(1.0), neighbours=replace_one(low=0, high=1, n=5))
    ... def test_mean():
    ...     return lambda data, rng, trials: data.mean() + rng.laplace(scale=0.2, size=trials)
    >>> test_mean()
    """
    if pair is None and neighbours is None:
        remedy = "Pass pair=(data, neighbour) or neighbours=replace_one(low=0, high=1, n=10)."
        raise InvalidInput("pair", None, "given, or neighbours to search", remedy)
    settings: dict[str, Any] = {"guarantee": guarantee, "pair": pair, "neighbours": neighbours, "alpha": alpha}
    settings |= {"max_trials": max_trials, **options}

    def decorate(function: F) -> F:
        if getattr(function, "is_hypothesis_test", False):
            limit = "above @private, which turns the returned mechanism into a test"
            raise InvalidInput("@given", "below @private", limit, "Swap the two decorators.")

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            mechanism = function(*args, **kwargs)
            if not callable(mechanism):
                limit = "a mechanism: callable as mechanism(data, rng, trials)"
                what = f"what {function.__name__} returned"
                raise InvalidInput(what, mechanism, limit, "End the function with `return mechanism`.")
            assert_private(mechanism, **settings)

        wrapper.is_dpcheck_test = True  # type: ignore[attr-defined]
        return wrapper  # type: ignore[return-value]

    return decorate


def failure_text(mechanism: Any, result: AuditResult, max_trials: int, test: ledger.RunningTest | None) -> str:
    """What a colleague needs: claimed, found, the pair, the event, how to see it again."""
    sure = f"a false alarm has probability at most {result.alpha:g}"
    lines = [
        ("claimed", str(result.guarantee)),
        ("found", f"epsilon {result.finding} ({sure})"),
        ("first", _data(result.pair[0])),
        ("second", _data(result.pair[1])),
        ("differ", difference(*result.pair)),
        ("event", f"{result.event}, likelier on the {result.direction} dataset: {result.counted}"),
        *[("note", message) for message in result.health],
        ("replay", _replay(result, max_trials)),
    ]
    if test is not None:
        lines.append(("", test.replay))
    body = "\n".join(f"  {name:<8} {text}" for name, text in lines)
    return f"{name_of(mechanism)} is not as private as claimed.\n{body}"


@dataclass(frozen=True)
class _Visit:
    """An audit whose evidence adds up (testing/history.py)."""

    claim: str
    code: str
    version: int
    level: float
    past: Past

    def entry(self, alpha: float, result: AuditResult, illness: Unhealthy | None) -> ledger.Entry:
        """What is remembered: nothing of runs that count for nothing."""
        said: ledger.Entry = {"alpha": alpha, "claim": self.claim}
        if result.past is None or illness is not None:
            return said
        return {**said, "remembered": {"code": self.code, "version": self.version, "past": result.past.to_json()}}


ALONE = ("assume", "checkpoint", "past", "stop_early")  # options of an audit that is to be what it is, on its own


def _visit(test: ledger.RunningTest, mechanism: Any, alpha: float, asked: Mapping[str, Any]) -> _Visit | None:
    """What is remembered of this audit; None where nothing adds up, as under hypothesis, whose examples differ."""
    if test.history is None or _under_hypothesis() or any(asked.get(name) for name in ALONE):
        return None
    claim = test.next_claim()
    read = {name: asked.get(name) for name in ("pair", "neighbours", "guarantee", "attack", "delta")}
    read |= {"key": asked["key"], "pair": None} if asked.get("key") else {"mechanism": mechanism}
    code = content(read, "the mechanism")
    kept = test.history.get(claim)
    version = history.version_of(kept, code)
    known = kept is not None and version == int(kept["version"])
    past = Past.from_json(kept["past"]) if kept is not None and known else Past()
    return _Visit(claim, code, version, history.level(alpha, version), past)


def _replay(result: AuditResult, max_trials: int) -> str:
    if any(message.startswith(ledger.UNSEEDED) for message in result.health):
        return "not bit for bit: it draws from a source of its own; each run of the test has the same false-alarm rate"
    if result.past is not None:
        return f"what {result.past.visits} visits have found stays in the history until the mechanism changes"
    return f"the same call with seed={result.seed}, max_trials={max_trials}"


def _proved(result: AuditResult) -> AuditResult:
    """What follows without an assumption; a violation that needs one becomes a note."""
    if result.without is None:
        return result
    proved = replace(result.without, seconds=result.seconds)
    if not result.violated or proved.violated:
        return proved
    found = f"epsilon >= {result.epsilon_lower:.4g} at delta {result.delta:.3g}, claimed {result.claimed:.4g}"
    note = f"{ledger.DOUBTED}{result.condition}: {found}. trust_assumption=True fails the test on it"
    return replace(proved, health=(*proved.health, note))


def name_of(mechanism: Any) -> str:
    """What people call it."""
    return str(getattr(mechanism, "__name__", None) or type(mechanism).__name__)


def _check_request(guarantee: Any, must_detect: float | None, suppress: Sequence[str]) -> None:
    if not isinstance(guarantee, Guarantee):
        remedy = "Use PureDP(1.0), ApproxDP(1.0, 1e-5), ...; dpcheck.audit measures without one."
        raise InvalidInput("guarantee", guarantee, "a Guarantee", remedy)
    if must_detect is not None and not must_detect > 0:
        raise InvalidInput("must_detect", must_detect, "an epsilon > 0", "Leave it out to accept any power.")
    unknown = [name for name in ([suppress] if isinstance(suppress, str) else suppress) if name not in UNHEALTHY]
    if isinstance(suppress, str) or unknown:
        raise InvalidInput("suppress", suppress, f"a tuple of names among {UNHEALTHY}", "Leave it out to check all.")
    _check_deadline()


def _check_deadline() -> None:
    """An audit under a hypothesis deadline fails on a slow day and not on the next: refused, by name."""
    if not _under_hypothesis():
        return
    deadline = sys.modules["hypothesis"].settings.default.deadline
    if deadline is not None:
        limit = "None around an audit, whose time depends on the machine"
        raise InvalidInput("hypothesis deadline", str(deadline), limit, "Add @settings(deadline=None).")


def _under_hypothesis() -> bool:
    hypothesis = sys.modules.get("hypothesis")
    return hypothesis is not None and bool(hypothesis.currently_in_test_context())


def _complaints(result: AuditResult, suppress: Sequence[str]) -> dict[str, str]:
    """The auditor's remarks that a pass does not survive, by the name of the check."""
    accepted = (*suppress, *(() if _under_hypothesis() else (ledger.UNSEEDED,)))
    found = {name: message for message in result.health for name in UNHEALTHY if message.startswith(name)}
    return {name: message for name, message in found.items() if name not in accepted}


def _illness(result: AuditResult, must_detect: float | None, suppress: Sequence[str]) -> Unhealthy | None:
    """The first health check that a pass does not survive."""
    complaints = _complaints(result, suppress)
    for name, message in sorted(complaints.items(), key=lambda found: found[0] != DEPENDENT):
        return Unhealthy(name, f"{message.split(': raise')[0]}. {REMEDIES[name]}")
    if must_detect is None or result.detectable_epsilon <= must_detect or "too few trials" in suppress:
        return None
    if math.isinf(result.detectable_epsilon):
        return Unhealthy("no power", f"must_detect={must_detect:g}, but no number can be named: {result.power}.")
    caught = f"would have caught epsilon >= {result.detectable_epsilon:.4g}, not {must_detect:g}"
    return Unhealthy("too few trials", f"too few trials ({result.trials}): {caught}. Raise max_trials.")


REMEDIES = {
    "deterministic": "Use the rng that is passed in, or suppress=('deterministic',) if this is meant.",
    ledger.UNSEEDED: (
        "Hypothesis runs an example more than once. Draw from the rng that is passed in, or accept a source of its "
        "own with suppress=('ignores its rng',)."
    ),
    DEPENDENT: "What such runs show, or do not show, says nothing.",
    "too few trials": "Raise max_trials (or --dpcheck-budget), or alpha.",
}


def _entry(mechanism: Any, result: AuditResult, test: ledger.RunningTest, illness: Unhealthy | None) -> ledger.Entry:
    """The audit as plain values; long pairs are cut, and what only a page shows stands apart."""
    said: ledger.Entry = json.loads(result.to_json())
    said.pop("curve", None)
    pair = " and ".join(_data(data) for data in result.pair)
    outcome = "unhealthy" if illness is not None else "violated" if result.violated else "passed"
    words = {"finding": result.finding, "would_catch": result.would_catch, "replay": test.replay}
    about = {"test": test.name, "mechanism": name_of(mechanism), "outcome": outcome, "page": shown_of(result)}
    return {**said, **words, "pair": pair, **about}


def _data(data: Any) -> str:
    text = " ".join(repr(data).split())
    return text if len(text) <= LONGEST_PAIR else text[: LONGEST_PAIR - 3] + "..."


def _equal(pair: Any) -> bool:
    try:
        return bool(np.array_equal(pair[0], pair[1]))
    except (TypeError, ValueError, IndexError):
        return False
