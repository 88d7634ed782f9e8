"""From claims to verdicts: run every check, in parallel, and compare with what was recorded."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.evidence import CITATION, Effort, Evidence, Kind, Verdict, judge
from dpcheck.verdicts.attached import checks_from
from dpcheck.verdicts.catalogue import CatalogueRow, catalogue, current
from dpcheck.verdicts.record import as_recorded, recorded
from dpcheck.verdicts.written import cache_folder, write_whole

if TYPE_CHECKING:  # at run time only where claims are judged anew: a run that has its verdicts needs no mathematics
    from dpcheck.bounds.language.claim import Check
    from dpcheck.bounds.registry import Entry

LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "scikit-learn", "hypothesis")  # whose versions may change a verdict
AGAINST = (Verdict.REFUTED, Verdict.NOT_REPRODUCED)


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict and the evidence it rests on."""

    id: str
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    seconds: float = 0.0
    severity: str = ""
    instead: str = ""

    @property
    def telling(self) -> Evidence | None:
        """The piece of evidence that decided."""
        own = [e for e in self.evidence if e.check != CITATION]
        return next((e for e in own if e.verdict == self.verdict), next(iter(self.evidence), None))

    @property
    def gaps(self) -> list[Evidence]:
        """What the proof in the source uses without having it."""
        return [e for e in self.evidence if e.check == CITATION and e.verdict is Verdict.UNCHECKED]

    @property
    def about(self) -> CatalogueRow:
        """The claim, as the catalogue shows it."""
        return catalogue()[self.id]

    @property
    def refuting(self) -> Evidence | None:
        """The evidence whose counterexample a refutation rests on."""
        found = (e for e in self.evidence if e.verdict == self.verdict and e.counterexample is not None)
        return next(found, None) if self.verdict in AGAINST else None

    @property
    def replay(self) -> str | None:
        """The command that shows the counterexample again."""
        found = self.refuting
        if found is None:
            return None
        numbers = {k: v for k, v in (found.counterexample or {}).items() if isinstance(v, int | float)}
        point = (shlex.quote(f"{k}={plain(v)}") for k, v in numbers.items())
        return " ".join([f"dpcheck replay {self.id} --check {found.check}", *point])

    def to_json(self) -> dict[str, Any]:
        """One row of `dpcheck verify --json`."""
        row, telling = self.about, self.telling
        return {
            "id": self.id,
            "source": row.source,
            "kind": row.kind,
            "statement": row.statement,
            "verdict": str(self.verdict),
            "severity": self.severity,
            "instead": self.instead,
            "check": telling.check if telling else None,
            "figure": telling.shown if telling else None,
            "premises": list(telling.premises) if telling else [],
            "counterexample": self.refuting.to_json()["counterexample"] if self.refuting else None,
            "replay": self.replay,
            "seconds": round(self.seconds, 3),
            "says": row.says,
            "corrects": row.corrects,
            "gaps": [e.figure for e in self.gaps],
            "evidence": [e.to_json() for e in self.evidence],
        }


def verify_one(claim_id: str, effort: Effort) -> Judgement:
    """Run all checks of one claim. No file of other claims is imported, but what it cites and what its checks read."""
    from dpcheck.verdicts.judging import evidence_of

    entry, started = entry_of(claim_id), time.perf_counter()
    found = evidence_of(entry.claim, all_checks(entry), effort)
    verdict = judge(found, entry.claim.kind)
    how_grave, instead = graded(entry, found, effort) if verdict is Verdict.REFUTED else ("", "")
    return Judgement(claim_id, verdict, tuple(found), time.perf_counter() - started, how_grave, instead)


def graded(entry: Entry, found: Sequence[Evidence], effort: Effort) -> tuple[str, str]:
    """What kind of failure a refutation is, and what to use instead."""
    from dpcheck.bounds.registry import library
    from dpcheck.verdicts.severity import severity

    claim = entry.claim
    near = [row.id for row in catalogue().values() if claim.id == row.corrects or claim.misprint_of == row.id]
    known = {claim_id: library[claim_id] for claim_id in near}
    grave = severity(claim, checks_of(entry), found, known, recorded(), effort)
    return str(grave), grave.instead


def checks_of(entry: Entry) -> list[Check]:
    """The checks of a claim; no file is imported but those that bring one."""
    row = catalogue().get(entry.claim.id)
    return checks_from(entry.claim, () if row is None else row.attached)


def all_checks(entry: Entry) -> list[Check]:
    """Its checks, and one for each of its citations."""
    from dpcheck.bounds.proving.citations import citations_of
    from dpcheck.bounds.registry import library

    return [*checks_of(entry), *citations_of(entry.claim, library)]


def by_chance(ids: Iterable[str]) -> list[str]:
    """Those with a check that draws samples: all that another seed may change."""
    from dpcheck.verdicts.judging import BY_CHANCE

    return [claim_id for claim_id in ids if any(c.kind in BY_CHANCE for c in checks_of(entry_of(claim_id)))]


def entry_of(claim_id: str) -> Entry:
    """The entry of a claim, or an error with the nearest names."""
    from dpcheck.bounds.registry import library

    if claim_id not in catalogue():
        part = library[claim_id]
        ids = ", ".join(c.id for c in part.claims)
        raise UnknownName("claim", claim_id, f"one of its parts: {ids}", "Name the part you mean.")
    return library.entry(claim_id)


# Running -------------------------------------------------------------------------------------------
def run(ids: Iterable[str], effort: Effort, *, executor: Any = None, fresh: bool = False) -> Iterator[Judgement]:
    """Judgements as they are done. Finished ones are kept, so a run that was stopped goes on where it was.

    `executor` is what audits take; None is a process per core. Verdicts have the same bits wherever they are reached.
    """
    store = Store(effort)
    left = []
    for claim_id in ids:
        kept = None if fresh else store.read(claim_id)
        if kept is None:
            left.append(claim_id)
        else:
            yield kept
    left.sort(key=lambda claim_id: -catalogue()[claim_id].weight)
    for module in {name for claim_id in left for name in current().depends(catalogue()[claim_id])}:
        importlib.import_module(module)  # once, before the processes part
    if left:
        from dpcheck.audits.trials.spreading import spread

        work = Judge(effort, libraries())
        places = os.cpu_count() or 1 if executor is None else executor
        for _, done in spread(work, [Piece(claim_id, current().contents[claim_id]) for claim_id in left], places):
            store.write(done)
            yield done


@dataclass(frozen=True)
class Piece:
    """A claim to judge, and the content of all that its verdict depends on."""

    claim_id: str
    content: str

    def __str__(self) -> str:
        return self.claim_id

    def must_be_here(self, sent_with: str) -> None:
        """Refuses where the files or the libraries are others than those it was sent with."""
        here = current().contents.get(self.claim_id), libraries()
        if here != (self.content, sent_with):
            limit = f"the files and libraries that {self.claim_id} was sent with ({sent_with})"
            raise InvalidInput("dpcheck of a worker", here[1], limit, "Install the same versions on every worker.")


@dataclass(frozen=True)
class Judge:
    """Judges claims wherever it is sent; refuses to where the files or the libraries are others."""

    effort: Effort
    libraries: str

    def __call__(self, piece: Piece) -> Judgement:
        piece.must_be_here(self.libraries)
        return verify_one(piece.claim_id, self.effort)


@dataclass(frozen=True)
class Store:
    """Judgements already made with this effort, each with the content it was made from."""

    effort: Effort

    @cached_property
    def folder(self) -> Path:
        """One for each effort and set of libraries. One file for each claim, written anew when its content changes."""
        name = hashlib.sha256(f"{libraries()}\n{asdict(self.effort)}".encode()).hexdigest()[:16]
        return cache_folder() / name

    def read(self, claim_id: str) -> Judgement | None:
        try:
            raw = json.loads((self.folder / f"{claim_id}.json").read_text(encoding="utf-8"))
            if raw["content"] != current().contents[claim_id]:
                return None
            evidence = tuple(read_back(e) for e in raw["evidence"])
            grave = (raw["severity"], raw["instead"])
            return Judgement(claim_id, Verdict(raw["verdict"]), evidence, raw["seconds"], *grave)
        except (OSError, ValueError, TypeError, KeyError):
            return None  # a damaged file costs the resume, not the run

    def write(self, done: Judgement) -> None:
        evidence = [e.to_json() for e in done.evidence]
        raw = {
            "content": current().contents[done.id],
            "verdict": done.verdict,
            "seconds": done.seconds,
            "evidence": evidence,
            "severity": done.severity,
            "instead": done.instead,
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{done.id}.json", json.dumps(raw))
        except OSError:
            return  # a read-only home costs the resume, not the run


def read_back(raw: Mapping[str, Any]) -> Evidence:
    """Evidence as it was before it became JSON."""
    lists = {name: tuple(raw.get(name, ())) for name in ("premises", "rests")}
    return Evidence(**{**raw, **lists, "verdict": Verdict(raw["verdict"])})


def libraries() -> str:
    """Python and the libraries that verdicts depend on, with their versions."""
    versions = [f"python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} absent")
    return ", ".join(versions)


# Standing ------------------------------------------------------------------------------------------
def with_standing(done: Sequence[Judgement]) -> list[Judgement]:
    """The judgements with how the claims stand that they rest on: by this run, or else by the record.

    A chain through a claim that is refuted proves nothing, nor does one through a chain that has fallen so. One
    through a claim that is not itself proved is given that claim.
    """
    known = recorded() | as_recorded(done)
    while True:  # verdicts only fall and premises only grow, along citations that make no circle
        settled = [standing(j, known) for j in done]
        now = known | as_recorded(settled)
        if now == known:
            break
        known = now
    verdicts = {key: row["verdict"] for key, row in known.items()}
    return [replace(j, evidence=(*j.evidence, *fallen(j.about, verdicts))) for j in settled]


def standing(judgement: Judgement, known: Mapping[str, Any]) -> Judgement:
    """The judgement, each of its chains with the weight of what it cites."""
    weighed = tuple(weigh(e, known) for e in judgement.evidence)
    if weighed == judgement.evidence:
        return judgement
    return replace(judgement, evidence=weighed, verdict=judge(weighed, Kind(judgement.about.kind)))


def weigh(piece: Evidence, known: Mapping[str, Any]) -> Evidence:
    """A proof with the verdicts of the claims it cites: lost if one is refuted, given those that are not proved."""
    if piece.verdict not in (Verdict.PROVED, Verdict.CERTIFIED) or not piece.rests:
        return piece
    verdicts = {c: known.get(c, {}).get("verdict", Verdict.UNCHECKED) for c in piece.rests}
    lost = [c for c, verdict in verdicts.items() if verdict in (Verdict.REFUTED, Verdict.VACUOUS)]
    if lost:
        figure = f"rests on {lost[0]}, which is {verdicts[lost[0]].lower()}"
        return replace(piece, verdict=Verdict.UNCHECKED, figure=figure)
    given = []
    for cited, verdict in verdicts.items():
        proofs = [e for e in known.get(cited, {}).get("evidence", ()) if e["verdict"] == Verdict.PROVED]
        if not proofs or verdict not in (Verdict.PROVED, Verdict.LOOSE):
            given.append(f"{cited} ({verdict.lower()})")
        elif any(e.get("premises") for e in proofs):
            given.append(f"what {cited} is given")
    return replace(piece, premises=tuple(dict.fromkeys([*piece.premises, *given])))


def fallen(row: CatalogueRow, known: Mapping[str, str]) -> list[Evidence]:
    """One gap for each claim cited that is refuted, or whose hypotheses cannot be met."""
    lost = (Verdict.REFUTED, Verdict.VACUOUS)
    cited = [c for c in dict.fromkeys(row.cites) if known.get(c) in lost]
    return [Evidence(CITATION, Verdict.UNCHECKED, f"rests on {c}, which is {known[c].lower()}") for c in cited]


def plain(value: float) -> str:
    """All digits, without a trailing .0."""
    return repr(value).removesuffix(".0")
