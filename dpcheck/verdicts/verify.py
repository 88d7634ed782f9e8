"""From claims to verdicts: run every check, in parallel, and compare with what was recorded."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from dpcheck.bounds.language.claim import (
    CITATION,
    Check,
    Claim,
    Effort,
    Evidence,
    Kind,
    Replayable,
    Verdict,
    as_reported,
    judge,
    pretty,
)
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, MissingDependency, UnknownName
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.verdicts.catalogue import Row, cache_folder, catalogue, digest, libraries, write_whole

if TYPE_CHECKING:  # at run time only where claims are judged anew: a run that has its verdicts needs no mathematics
    from dpcheck.bounds.registry import Entry

AGAINST = (Verdict.REFUTED, Verdict.NOT_REPRODUCED)
RECORD = Path(__file__).with_name("verdicts.json")


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
    def about(self) -> Row:
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
    """Run all checks of one claim. Its seed depends on the claim alone, not on who runs it or when.

    Raises MissingDependency, with the claim's name, where the `verify` extra is not installed.
    """
    entry, started = entry_of(claim_id), time.perf_counter()
    own = replace(effort, seed=(effort.seed + zlib.crc32(claim_id.encode())) % 2**32)
    found = []
    for check in all_checks(entry):
        begun = time.perf_counter()
        try:
            made = check.run(entry.claim, own)
        except MissingDependency as missing:
            purpose = f"{missing.purpose} (of claim {claim_id})"
            raise MissingDependency(missing.package, purpose, missing.extra) from missing
        shown = as_reported(made, entry.claim.kind)
        found.append(replace(shown, seconds=round(time.perf_counter() - begun, 3)))
    verdict = judge(found, entry.claim.kind)
    how_grave, instead = graded(entry, found, own) if verdict is Verdict.REFUTED else ("", "")
    return Judgement(claim_id, verdict, tuple(found), time.perf_counter() - started, how_grave, instead)


def graded(entry: Entry, found: Sequence[Evidence], effort: Effort) -> tuple[str, str]:
    """What kind of failure a refutation is, and what to use instead."""
    from dpcheck.bounds.registry import entries
    from dpcheck.registry import checks_of
    from dpcheck.verdicts.severity import severity

    known = {key: other.claim for key, other in entries().items()}
    grave = severity(entry.claim, checks_of(entry), found, known, recorded(), effort)
    return str(grave), grave.instead


def all_checks(entry: Entry) -> list[Check]:
    """The checks of a claim, and one for each of its citations."""
    from dpcheck.bounds.proving.citations import citations_of
    from dpcheck.bounds.registry import library
    from dpcheck.registry import checks_of

    return [*checks_of(entry), *citations_of(entry.claim, library)]


def replay(claim_id: str, kind: str, point: Mapping[str, Any]) -> Evidence:
    """Show a counterexample again: the first check of that kind that finds it. A point outside is refused."""
    entry = entry_of(claim_id)
    able = [c for c in all_checks(entry) if c.kind == kind and isinstance(c, Replayable)]
    if not able:
        kinds = sorted({c.kind for c in all_checks(entry) if isinstance(c, Replayable)})
        raise UnknownName("check", kind, f"one of {kinds}", f"{claim_id} has no other check to replay.")
    must_be_inside(entry.claim, point)
    return as_reported(replay_with(able, entry.claim, point), entry.claim.kind)


def replay_with(checks: Sequence[Replayable], claim: Claim, point: Mapping[str, Any]) -> Evidence:
    """What the first check that shows the counterexample says; checks that the point is not meant for are passed."""
    found, refused = [], []
    for check in checks:
        try:
            found.append(check.replay(claim, point))
        except KeyError as missing:
            if isinstance(missing, InvalidInput):
                raise
            limit = f"complete, with {missing.args[0]}"
            refused.append(InvalidInput("point", sorted(point), limit, "Give NAME=VALUE for each."))
        except InvalidInput as incomplete:
            refused.append(incomplete)
    if not found:
        raise refused[0]
    return next((e for e in found if shows(e)), found[0])


def shows(found: Evidence) -> bool:
    """Whether a replay shows its counterexample: against a claim, or against the use of a lemma in a proof."""
    gap = found.check == CITATION and found.counterexample is not None
    return found.verdict in AGAINST or gap


def must_be_inside(claim: Claim, point: Mapping[str, Any]) -> None:
    """Refuse a point outside a symbol's domain or the claim's hypotheses: it would refute nothing."""
    for symbol in claim.symbols:
        if str(symbol) in point:
            TABLE[symbol].must_contain(point[str(symbol)])
    broken = claim.violated_by(point)
    if broken is not None:
        given = {str(s): point[str(s)] for s in broken.free_symbols}
        raise HypothesisViolated(claim.id, given, pretty(broken), "Choose a point inside: outside nothing is claimed.")


def entry_of(claim_id: str) -> Entry:
    """The entry of a claim, or an error with the nearest names."""
    from dpcheck.verdicts.lookup import bounds

    if claim_id not in catalogue():
        part = bounds[claim_id]
        ids = ", ".join(c.id for c in part.claims)
        raise UnknownName("claim", claim_id, f"one of its parts: {ids}", "Name the part you mean.")
    return bounds.entry(claim_id)


def select(
    names: Sequence[str] = (), source: str | None = None, algorithm: str | None = None, kind: str | None = None
) -> list[str]:
    """Ids of the claims that match all filters; names are ids or the beginnings of ids."""
    found = [
        key
        for key, row in catalogue().items()
        if (not names or any(key == name or key.startswith(name + ".") for name in names))
        and (source is None or row.document == source)
        and (algorithm is None or row.algorithm == algorithm)
        and (kind is None or row.kind == kind)
    ]
    for name in names:
        if not any(key == name or key.startswith(name + ".") for key in catalogue()):
            entry_of(name)  # an unknown name gets its own sentence, with the nearest ids
    if not found:
        wanted = {"names": list(names), "source": source, "algorithm": algorithm, "kind": kind}
        raise InvalidInput("filter", {k: v for k, v in wanted.items() if v}, "met by a claim", "See `dpcheck claims`.")
    return found


# Running -------------------------------------------------------------------------------------------
def run(ids: Iterable[str], effort: Effort, *, workers: int | None = None, fresh: bool = False) -> Iterator[Judgement]:
    """Judgements as they are done. Finished ones are kept, so a run that was stopped goes on where it was."""
    store = Store(effort)
    left = []
    for claim_id in ids:
        kept = None if fresh else store.read(claim_id)
        if kept is None:
            left.append(claim_id)
        else:
            yield kept
    left.sort(key=lambda claim_id: -catalogue()[claim_id].weight)
    if left:
        from dpcheck.bounds.registry import entries

        entries()  # the claims are imported once, before the processes part
    for done in in_parallel(left, effort, workers or os.cpu_count() or 1):
        store.write(done)
        yield done


def in_parallel(ids: Sequence[str], effort: Effort, workers: int) -> Iterator[Judgement]:
    """Each claim in a process of its own pool; one worker runs in this process."""
    if workers == 1 or len(ids) < 2:
        yield from (verify_one(claim_id, effort) for claim_id in ids)
        return
    pool = ProcessPoolExecutor(workers, initializer=one_of_many)
    try:
        for future in as_completed([pool.submit(verify_one, claim_id, effort) for claim_id in ids]):
            yield future.result()
    except BaseException:  # Ctrl-C, or a caller who stops: nobody waits for the claims under way
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def one_of_many() -> None:
    """A worker leaves Ctrl-C to its parent and the other cores to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


@dataclass(frozen=True)
class Store:
    """Judgements already made with this effort, each with the content it was made from."""

    effort: Effort

    @cached_property
    def folder(self) -> Path:
        """One folder for each effort; one file for each claim, written anew when its content has changed."""
        return cache_folder() / digest([libraries(), str(asdict(self.effort))])[:16]

    def read(self, claim_id: str) -> Judgement | None:
        try:
            raw = json.loads((self.folder / f"{claim_id}.json").read_text(encoding="utf-8"))
            if raw["content"] != catalogue()[claim_id].content:
                return None
            evidence = tuple(read_back(e) for e in raw["evidence"])
            grave = (raw["severity"], raw["instead"])
            return Judgement(claim_id, Verdict(raw["verdict"]), evidence, raw["seconds"], *grave)
        except (OSError, ValueError, TypeError, KeyError):
            return None  # a damaged file costs the resume, not the run

    def write(self, done: Judgement) -> None:
        evidence = [e.to_json() for e in done.evidence]
        raw = {"content": done.about.content, "verdict": done.verdict, "seconds": done.seconds, "evidence": evidence}
        raw |= {"severity": done.severity, "instead": done.instead}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{done.id}.json", json.dumps(raw))
        except OSError:
            return  # a read-only home costs the resume, not the run


def read_back(raw: Mapping[str, Any]) -> Evidence:
    """Evidence as it was before it became JSON."""
    lists = {name: tuple(raw.get(name, ())) for name in ("premises", "rests")}
    return Evidence(**{**raw, **lists, "verdict": Verdict(raw["verdict"])})


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


def fallen(row: Row, known: Mapping[str, str]) -> list[Evidence]:
    """One gap for each claim cited that is refuted, or whose hypotheses cannot be met."""
    lost = (Verdict.REFUTED, Verdict.VACUOUS)
    cited = [c for c in dict.fromkeys(row.cites) if known.get(c) in lost]
    return [Evidence(CITATION, Verdict.UNCHECKED, f"rests on {c}, which is {known[c].lower()}") for c in cited]


# The record ----------------------------------------------------------------------------------------
def recorded() -> dict[str, Any]:
    """What the last `dpcheck verify --record` wrote: verdict and figures by claim."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def record(done: Sequence[Judgement]) -> None:
    """Write the verdicts of this run; claims that no longer exist are dropped, others kept."""
    kept = {k: v for k, v in recorded().items() if k in catalogue()} | as_recorded(done)
    ordered = {k: kept[k] for k in catalogue() if k in kept}
    write_whole(RECORD, json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")


def as_recorded(done: Sequence[Judgement]) -> dict[str, Any]:
    """Judgements in the form of the record."""
    found = {}
    for judgement in done:
        shown = [
            {"check": e.check, "verdict": str(e.verdict), "figure": e.figure, "detail": e.detail}
            | ({"premises": list(e.premises)} if e.premises else {})
            | ({"part": e.part} if e.part else {})
            for e in judgement.evidence
        ]
        found[judgement.id] = {"verdict": str(judgement.verdict), "replay": judgement.replay, "evidence": shown}
        if judgement.severity:
            found[judgement.id] |= {"severity": judgement.severity, "instead": judgement.instead}
    return found


def differences(done: Sequence[Judgement]) -> list[tuple[str, str, str]]:
    """(claim, recorded, found) where the two differ."""
    known = recorded()
    pairs = [(j.id, known.get(j.id, {}).get("verdict", "not recorded"), str(j.verdict)) for j in done]
    return [row for row in pairs if row[1] != row[2]]


def plain(value: float) -> str:
    """All digits, without a trailing .0."""
    return repr(value).removesuffix(".0")
