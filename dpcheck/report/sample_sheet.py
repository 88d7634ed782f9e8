"""A sheet of random verdicts, each with all that a reader beside the document needs to sign it or to object."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from dpcheck.bounds.language.evidence import CITATION, DOCUMENTS, Provenance, Verdict
from dpcheck.verdicts.catalogue import CatalogueRow

CHECKED = {
    "symbolic": "By derivation, each step checked by machine",
    "accountant": "By computing the privacy loss of what is released",
    "audit": "By attacking the implementation",
    "worst-case": "By the exact worst case (a semidefinite program)",
    "property": "By cases that were tried",
    "exact": "By the exact value",
    "rate": "By measuring",
    CITATION: "What the proof in the document uses",
}
MEANS = {
    Verdict.PROVED: "follows from the hypotheses, given what is listed as given",
    Verdict.CERTIFIED: "holds, by numbers with an error bound, on the box or at the points named",
    Verdict.SUPPORTED: "nothing contradicts it where it was tried",
    Verdict.LOOSE: "holds, and a smaller bound or less noise would hold too",
    Verdict.REFUTED: "false inside its printed hypotheses and quantifiers",
    Verdict.NOT_REPRODUCED: "a run at the settings named does not show it",
    Verdict.VACUOUS: "its hypotheses exclude each other",
    Verdict.UNCHECKED: "not decided",
}


def sheet(
    count: int, seed: int, rows: Mapping[str, CatalogueRow], record: Mapping[str, Any], symbols: Mapping[str, str]
) -> str:
    """`count` claims, drawn from all that are recorded; `symbols` says what each name means."""
    ids = sorted(claim_id for claim_id in rows if claim_id in record)
    drawn = random.Random(seed).sample(ids, min(count, len(ids)))
    head = [
        f"# {len(drawn)} verdicts, drawn with seed {seed}",
        "Read each beside the document. Sign it if you would defend the verdict, its severity and its wording before "
        "the authors; otherwise say what is wrong. How statements are read: docs/reading-a-statement.md.",
        "\n".join(f"- {verdict}: {words}" for verdict, words in MEANS.items()),
    ]
    return "\n\n".join([*head, *(entry(i, rows[c], rows, record, symbols) for i, c in enumerate(drawn, 1))]) + "\n"


def entry(
    number: int,
    row: CatalogueRow,
    rows: Mapping[str, CatalogueRow],
    record: Mapping[str, Any],
    symbols: Mapping[str, str],
) -> str:
    """One claim."""
    kept = record[row.id]
    return "\n\n".join(
        [
            f"## {number}. {row.id}: {kept['verdict']}",
            "\n".join([*about(row, rows, symbols), *graded(kept), *found(kept), *cited(row, rows, record)]),
            "- [ ] signed  - [ ] objection:",
        ]
    )


def about(row: CatalogueRow, rows: Mapping[str, CatalogueRow], symbols: Mapping[str, str]) -> Iterator[str]:
    """Where it stands, whose it is, and what it says."""
    line = f", line {row.line} of the text" if row.line is not None else ""
    yield f"- **Place**: {DOCUMENTS[row.document]}; {row.place}{line}"
    corrects = f" of {row.corrects}" if row.corrects else ""
    yield f"- **Whose**: {row.provenance}{corrects}"
    yield f"- **In words**: {row.says}"
    yield f"- **Statement**: `{row.statement}`"
    meanings = (symbols[name].partition(" (--") for name in row.symbols if name in symbols)
    told = [f"{printed} {rest.partition('): ')[2].rpartition(' (')[0]}" for printed, _, rest in meanings]
    yield f"- **Symbols**: {'; '.join(told) or 'none'}"
    promise = said(row, "guarantee")
    if promise:
        yield f"- **Promise**: {'; '.join(promise)}"
    yield from hypotheses(row, rows)


def said(row: CatalogueRow, label: str) -> list[str]:
    """Its details of this kind."""
    return [text for name, _, text in (d.partition(": ") for d in row.details) if name == label]


def hypotheses(row: CatalogueRow, rows: Mapping[str, CatalogueRow]) -> Iterator[str]:
    """What it assumes, and whose that is: a correction shares some with the printed statement."""
    assumed = said(row, "assumes")
    mended = rows.get(row.corrects or "")
    printed = said(mended, "assumes") if mended is not None else assumed
    whose = ", printed" if row.corrects or row.provenance == Provenance.PRINTED else ""
    yield f"- **Hypotheses{whose}**: {'; '.join(h for h in assumed if h in printed) or 'none'}"
    for title, ours in (
        ("Hypotheses of this version", [h for h in assumed if h not in printed]),
        ("Hypotheses, added by us", said(row, "added")),
    ):
        if ours:
            yield f"- **{title}**: {'; '.join(ours)}"


def graded(kept: Mapping[str, Any]) -> Iterator[str]:
    """How grave a refutation is."""
    if kept.get("severity"):
        yield f"- **Severity**: {kept['severity']}"
        yield f"- **Instead**: {kept.get('instead') or 'nothing known'}"


def found(kept: Mapping[str, Any]) -> Iterator[str]:
    """The evidence in words; what decided comes first."""
    own = [e for e in kept["evidence"] if e["check"] != CITATION]
    if not own:
        yield "- **Evidence**: no check applies"
    for piece in sorted(own, key=lambda e: e["verdict"] != kept["verdict"]):
        part = f", {piece['part']}" if piece.get("part") else ""
        detail = f" ({piece['detail']})" if piece["detail"] else ""
        yield f"- **{way_of(piece)}{part}**: {piece['verdict']}. {piece['figure']}{detail}"
        for premise in piece.get("premises", ()):
            yield f"    - given, not checked here: {premise}"
    if kept.get("replay"):
        yield f"- **Again**: `{kept['replay']}`"


def way_of(piece: Mapping[str, Any]) -> str:
    """How a piece of evidence was come by."""
    words = CHECKED.get(piece["check"], piece["check"])
    if piece["check"] != "symbolic":
        return words
    weaker = {
        Verdict.REFUTED: "By a counterexample",
        Verdict.UNCHECKED: "Tried, and left open",
        Verdict.SUPPORTED: "By computing with its formula",
    }
    return weaker.get(Verdict(piece["verdict"]), words)


def cited(row: CatalogueRow, rows: Mapping[str, CatalogueRow], record: Mapping[str, Any]) -> Iterator[str]:
    """What it cites, with how that stands, and the gaps between statement and proof."""
    for claim_id in dict.fromkeys(row.cites):
        stands = record.get(claim_id, {}).get("verdict", "not recorded")
        says = rows[claim_id].statement if claim_id in rows else ""
        yield f"- **Uses** {claim_id}, {stands}: `{says}`"
    for piece in record[row.id]["evidence"]:
        if piece["check"] == CITATION and piece["verdict"] == Verdict.UNCHECKED:
            yield f"- **Gap of the document's proof**: {piece['figure']}"
