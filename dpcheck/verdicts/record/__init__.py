"""The committed record: the verdict of every claim and the figures it rests on, one file for each document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.written import as_json, write_changed

if TYPE_CHECKING:
    from dpcheck.verdicts.verify import Judgement

FOLDER = Path(__file__).parent
Recorded = dict[str, Any]  # verdict, replay, evidence


def recorded() -> dict[str, Recorded]:
    """What the last `dpcheck verify --record` wrote, by claim, in the order of the documents' names."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json")))
    return {claim_id: row for rows in files for claim_id, row in rows.items()}


def recorded_of(claim_id: str) -> Recorded:
    """What was recorded of one claim; empty if nothing was."""
    path = FOLDER / f"{claim_id.partition('.')[0]}.json"
    found: Recorded = json.loads(path.read_text(encoding="utf-8")).get(claim_id, {}) if path.is_file() else {}
    return found


def record(done: Sequence[Judgement]) -> None:
    """Write the verdicts of this run; claims that no longer exist are dropped, others kept."""
    rows = {**recorded(), **as_recorded(done)}
    write({claim_id: rows[claim_id] for claim_id in catalogue() if claim_id in rows})


def write(rows: Mapping[str, Recorded]) -> None:
    """These and no others, each document's to its own file."""
    documents: dict[str, dict[str, Recorded]] = {}
    for claim_id, row in rows.items():
        documents.setdefault(claim_id.partition(".")[0], {})[claim_id] = row
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        if path.stem not in documents:
            path.unlink()
    for document, own in documents.items():
        write_changed(FOLDER / f"{document}.json", as_json(own))


def as_recorded(done: Iterable[Judgement]) -> dict[str, Recorded]:
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
