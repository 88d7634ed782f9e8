"""Statements falsified on purpose, and whether their checks notice: a verdict that survives has no teeth.

What an accountant certifies of a mutant on a whole box, with another figure than before, it has read and found true:
such a mutant is counted as true, not as a survivor.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dpcheck.audits.trials.spreading import spread
from dpcheck.bounds.language.claim import Check, Claim, Effort, Evidence, judge
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.registry import library
from dpcheck.progress import Meter
from dpcheck.verdicts import falsifying
from dpcheck.verdicts.catalogue import catalogue, current
from dpcheck.verdicts.falsifying import STRONG, Mutant, mutants_of
from dpcheck.verdicts.verify import Piece, checks_of, entry_of, libraries, recorded
from dpcheck.verdicts.written import cache_folder, write_whole

DECIDING = ("symbolic", "accountant", "worst-case")  # the kinds whose checks may say a strong verdict
LATE, TRUE = "out of time", "true after all"
RECORD = Path(__file__).with_name("mutants.json")  # the count that the verdicts page shows


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: its verdict if it keeps a strong one, or noticed, true after all, out of time."""

    id: str
    how: str
    statement: str
    verdict: str
    why: str
    seconds: float

    @property
    def survived(self) -> bool:
        return self.verdict in STRONG


@dataclass
class Survey:
    """All outcomes of a run, and how many mutants it did not come to."""

    outcomes: list[Outcome] = field(default_factory=list)
    left: int = 0

    @property
    def survivors(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.survived]

    @property
    def late(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.verdict == LATE]

    def counts(self) -> dict[str, dict[str, int]]:
        """Per document: mutants made, noticed, survivors, true after all, out of time."""
        found: dict[str, Counter[str]] = {}
        for o in self.outcomes:
            kind = "survivors" if o.survived else o.verdict if o.verdict in (LATE, TRUE) else "noticed"
            found.setdefault(o.id.split(".")[0], Counter()).update(["mutants", kind])
        return {document: dict(count) for document, count in found.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts(),
            "not run": self.left,
            "survivors": [asdict(o) for o in self.survivors],
            "out of time": [asdict(o) for o in self.late],
        }


@dataclass(frozen=True)
class Basis:
    """A claim with its checks, those that decide first, and what they say of the statement as it is printed."""

    claim: Claim
    checks: tuple[Check, ...]
    found: tuple[Evidence, ...]

    @property
    def strong(self) -> bool:
        """Whether there is a verdict to lose."""
        return judge(self.found, self.claim.kind) in STRONG

    def mutants(self) -> list[Mutant]:
        """The statement falsified, where a corrected version does not show the mutant to be true."""
        known = recorded()
        better = [
            library[row.id]
            for row in catalogue().values()
            if row.corrects == self.claim.id and known.get(row.id, {}).get("verdict") in STRONG
        ]
        return list(mutants_of(self.claim, self.checks, better, self.found))


def basis(claim_id: str, effort: Effort) -> Basis:
    """The claim judged as it is printed, by the checks that decide."""
    entry = entry_of(claim_id)
    checks = tuple(sorted(checks_of(entry), key=lambda c: c.kind not in DECIDING))
    found = tuple(c.run(entry.claim, effort) for c in checks if c.kind in DECIDING)
    return Basis(entry.claim, checks, found)


def judged(about: Basis, mutant: Mutant, effort: Effort, seconds: float) -> Outcome:
    """Run the claim's checks on the mutant, those that decide first. A check that refuses it has noticed."""
    started = time.perf_counter()
    found: list[Evidence] = []
    verdict, why = "noticed", ""
    try:
        with TimeLimit(seconds):
            for check in about.checks:
                if check.kind not in DECIDING and judge(found, mutant.claim.kind) not in STRONG:
                    break
                found.append(check.run(mutant.claim, effort))
            verdict = str(judge(found, mutant.claim.kind))
            telling = next((e for e in found if e.verdict == verdict), None)
            why = f"{telling.check}: {telling.figure}" if telling else ""
            if verdict in STRONG and telling is not None and reread(telling, about.found):
                verdict = TRUE
    except OutOfTime:
        verdict = LATE
    except (DpcheckError, ArithmeticError, ValueError, TypeError, KeyError, NotImplementedError) as error:
        verdict, why = "noticed", f"refused: {type(error).__name__}"
    taken = round(time.perf_counter() - started, 2)
    return Outcome(about.claim.id, mutant.how, mutant.claim.text(), verdict, why, taken)


def reread(piece: Evidence, before: Sequence[Evidence]) -> bool:
    """Whether an accountant covered the whole box again and came to other numbers: it has read the mutant."""
    whole = piece.check == "accountant" and not piece.part
    return whole and piece.figure not in {e.figure for e in before}


def survey(
    ids: Iterable[str],
    *,
    sample_size: int | None = None,
    seed: int = 0,
    executor: Any = None,
    each: float = 60.0,
    total: float = float("inf"),
) -> Survey:
    """The mutants of the claims that are PROVED, CERTIFIED or LOOSE: all, or one each of so many random claims.

    `each` limits a mutant's seconds, `total` those of the whole run. Finished claims are kept until a file changes
    that they depend on, so a run that was stopped goes on where it was. `executor` is what audits take; None is a
    process per core. Where it runs changes no outcome, but for mutants that only a faster machine judges in time.
    """
    found, order = Survey(), [str(claim_id) for claim_id in ids]
    if sample_size is not None:
        order = [order[place] for place in np.random.default_rng(seed).permutation(len(order))]
    wanted = len(order) if sample_size is None else sample_size
    work = Falsifier(seed, each, time.time() + total, one=sample_size is not None)
    ids, done = iter(order), 0
    with Meter("falsifying", "claims", wanted) as meter:
        while some := list(islice(ids, max(0, wanted - done))):  # of a share, some may have no mutant: then more
            for claim_id, outcomes, left in falsified(work, some, executor or os.cpu_count() or 1):
                found.outcomes += outcomes
                found.left += left
                done += sample_size is None or bool(outcomes)
                meter.update(done, note=claim_id)
            if found.left:
                break
    found.outcomes.sort(key=lambda o: (order.index(o.id), o.how))
    return found


def falsified(work: Falsifier, ids: Sequence[str], places: Any) -> Iterator[tuple[str, list[Outcome], int]]:
    """Claims with the outcomes of their mutants and how many are left, those of an earlier run first."""
    unknown = []
    for claim_id in ids:
        known = None if work.one else Kept(claim_id, work.seed, work.each).read()
        if known is None:
            unknown.append(claim_id)
        else:
            yield claim_id, known, 0
    pieces = [Piece(claim_id, current().contents[claim_id]) for claim_id in unknown]
    for place, (outcomes, left) in spread(work, pieces, places):
        if not left and not work.one:
            Kept(unknown[place], work.seed, work.each).write(outcomes)
        yield unknown[place], outcomes, left


@dataclass(frozen=True)
class Falsifier:
    """Judges all mutants of a claim, or a random one, wherever it is sent; `until` is the time on the clock."""

    seed: int
    each: float
    until: float
    one: bool = False
    libraries: str = field(default_factory=libraries)

    def __call__(self, piece: Piece) -> tuple[list[Outcome], int]:
        """The outcomes, and how many there was no time for."""
        piece.must_be_here(self.libraries)
        found: list[Outcome] = []
        if self.one and time.time() > self.until:
            return found, 1
        about = basis(piece.claim_id, Effort(seed=self.seed))
        mutants = about.mutants() if about.strong else []
        if self.one and mutants:
            rng = np.random.default_rng([self.seed, zlib.crc32(piece.claim_id.encode())])
            mutants = [mutants[int(rng.integers(len(mutants)))]]
        for i, mutant in enumerate(mutants):
            if time.time() > self.until:
                return found, len(mutants) - i
            found.append(judged(about, mutant, Effort(seed=self.seed), self.each))
        return found, 0


@dataclass(frozen=True)
class Kept:
    """The outcomes of one claim in the user's cache, with the content they were made from."""

    claim_id: str
    seed: int
    each: float

    @property
    def path(self) -> Path:
        return cache_folder() / "mutants" / f"{self.claim_id}.json"

    @property
    def content(self) -> str:
        return f"{current().contents[self.claim_id]} {how_made()} {self.seed} {self.each:g}"

    def read(self) -> list[Outcome] | None:
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8"))
            return [Outcome(**o) for o in raw["outcomes"]] if raw["content"] == self.content else None
        except (OSError, ValueError, TypeError, KeyError):
            return None  # none yet, or damaged: it costs the time to make it

    def write(self, found: Sequence[Outcome]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps({"content": self.content, "outcomes": [asdict(o) for o in found]}))
        except OSError:
            return  # a read-only home costs the resume, not the run


def how_made() -> str:
    """Two files in short: how mutants are made and judged is part of what an outcome depends on."""
    texts = [Path(file).read_bytes() for file in (falsifying.__file__, __file__)]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def seed_of_tree() -> int:
    """One number for all that verdicts depend on: a share drawn with it is the same as long as no file changes."""
    whole = "".join(content for _, content in sorted(current().contents.items()))
    return zlib.crc32(whole.encode())


class OutOfTime(BaseException):
    """Raised in a check that takes too long; nothing in between may catch it."""


class TimeLimit:
    """Ends what runs inside, in whichever thread, after so many seconds of work and at its next step in Python.

    On a busy machine work takes longer than the clock says: what counts is the processor's time.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over, self.lock = False, threading.Lock()

    def __enter__(self) -> None:
        self.thread, self.began = threading.get_ident(), time.process_time()
        self.look_in(self.seconds)

    def look_in(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self.end)
        self.timer.daemon = True
        self.timer.start()

    def end(self) -> None:
        with self.lock:
            left = self.seconds - (time.process_time() - self.began)
            if not self.over and left > 0:
                self.look_in(max(left, 0.01))
            elif not self.over:
                self.raise_there(ctypes.py_object(OutOfTime))

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.over = True
            self.timer.cancel()
        self.raise_there(None)  # what has not arrived yet must not arrive later

    def raise_there(self, error: ctypes.py_object[type[OutOfTime]] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)
