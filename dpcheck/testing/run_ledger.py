"""What the audits of a test run add up to: the test under way, and one entry per audit.

Standard library only: the pytest plugin loads this in every run, also where nothing is audited.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

DOUBTED = "violated only"  # how a note on a violation begins that follows under an assumption and not without
UNSEEDED = "ignores its rng"  # how the remark begins on a mechanism whose runs no seed repeats
Entry = dict[str, Any]  # an audit as plain values: what AuditResult.to_json says, and the test it ran in


@dataclass(frozen=True)
class RunningTest:
    """The test under way: its name, the run's seed and budget, where its audits are entered, what is known of them."""

    name: str
    base: int
    budget: int | None
    enter: Callable[[Entry], None]
    history: Mapping[str, Any] | None = None
    kept_in: str | None = None
    named: list[str] = field(default_factory=list)

    def next_claim(self) -> str:
        """Under which the next audit is remembered: the test's name, with a number from the second on."""
        self.named.append(self.name if not self.named else f"{self.name} ({len(self.named) + 1})")
        return self.named[-1]

    @property
    def seed(self) -> int:
        """Its own seed. Only the file's name counts, not its folder: the root of a run may move, the outcome not."""
        path, _, rest = self.name.partition("::")
        text = f"{self.base} {path.replace(chr(92), '/').rsplit('/', 1)[-1]}::{rest}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")

    @property
    def replay(self) -> str:
        """The command that runs it again."""
        budget = "" if self.budget is None else f" --dpcheck-budget={self.budget}"
        kept = "" if self.kept_in is None else f" --dpcheck-history={self.kept_in}"
        return f'pytest "{self.name}" --dpcheck-seed={self.base}{budget}{kept}'


_under_way: list[RunningTest] = []


@contextmanager
def running(test: RunningTest) -> Iterator[None]:
    """While this lasts, audits belong to `test`."""
    _under_way.append(test)
    try:
        yield
    finally:
        _under_way.remove(test)


def current() -> RunningTest | None:
    """The test under way, if pytest runs one."""
    return _under_way[-1] if _under_way else None


def total_false_alarm(entries: Sequence[Entry]) -> float:
    """At most this is the probability that any audit of a true guarantee was flagged: the sum of the levels."""
    return min(1.0, sum(float(entry["alpha"]) for entry in entries))


def by_test(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries of each test, in the order they came."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry["test"], []).append(entry)
    return found


def line_of(name: str, entries: Sequence[Entry], failed: bool) -> str:
    """One test in one line: a pass says what it would have caught, a planted bug that it was."""
    bad = next((entry for entry in entries if entry["outcome"] != "passed"), None)
    many = f"{len(entries)} audits, " if len(entries) > 1 else ""
    if bad is not None:
        found = f"{bad['outcome'].upper()} {name}: {many}epsilon {bad['finding']}"
        return f"{found}{'' if failed else ' (as the test expects)'}"
    weakest = max(entries, key=lambda entry: float(entry["detectable_epsilon"]))
    caught, found = weakest["would_catch"], weakest["finding"]
    notes = [note for entry in entries for note in entry.get("health", ())]
    doubts = [note for note in notes if note.startswith(DOUBTED)]
    unseeded = ["fresh runs each time, with a source of its own"] if any(n.startswith(UNSEEDED) for n in notes) else []
    said = f"PRIVATE {name}: {many}{caught} (epsilon {found}, {weakest['trials']} trials)"
    return "; ".join([said, *doubts, *unseeded, *lives_of(entries)])


def lives_of(entries: Sequence[Entry]) -> list[str]:
    """What visits have added up to, where they do."""
    visits = [entry["past"]["visits"] for entry in entries if entry.get("past")]
    return [f"visit {max(visits)} since its code changed"] if visits else []


def closing_line(entries: Sequence[Entry], unaudited: Sequence[str] = ()) -> str:
    """How many, how many flagged, the false-alarm probability of the whole run, and tests that failed without one."""
    flagged = sum(entry["outcome"] == "violated" for entry in entries)
    audits = f"{len(entries)} audit{'' if len(entries) == 1 else 's'}"
    since = " and all before it in its history" if any(entry.get("past") for entry in entries) else ""
    failed = f"; failed before an audit was over: {', '.join(unaudited)}" if unaudited else ""
    return (
        f"{audits} in {_count(len(by_test(entries)), 'test')}, {flagged} flagged; "
        f"total false-alarm probability of this run{since}: at most {total_false_alarm(entries):.3g}{failed}"
    )


def json_report(entries: Sequence[Entry], unaudited: Sequence[str] = ()) -> str:
    """The whole run as JSON."""
    total: Entry = {"audits": len(entries), "flagged": sum(e["outcome"] == "violated" for e in entries)}
    total |= {"false_alarm_probability": total_false_alarm(entries), "failed_without_audit": list(unaudited)}
    return json.dumps({**total, "entries": [without_page(entry) for entry in entries]}, indent=1) + "\n"


def without_page(entry: Entry) -> Entry:
    """An entry without what only a page shows: its curve, its datasets at length."""
    return {name: value for name, value in entry.items() if name != "page"}


def html_report(entries: Sequence[Entry], unaudited: Sequence[str] = ()) -> str:
    """The whole run as one page that needs nothing else."""
    from dpcheck.report.run_page import run_page

    return run_page(entries, closing_line(entries, unaudited))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
