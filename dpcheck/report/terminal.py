"""Verdicts and claims on a terminal, and in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from dpcheck.bounds.language.evidence import CITATION, DOCUMENTS, Verdict
from dpcheck.report.layout import OneLine, hanging, tabbed
from dpcheck.report.reading_order import about, grouped
from dpcheck.verdicts.catalogue import CatalogueRow, catalogue

ROOT = Path(__file__).parents[2]
COLOURS = {
    Verdict.PROVED: "green",
    Verdict.CERTIFIED: "green",
    Verdict.SUPPORTED: "cyan",
    Verdict.LOOSE: "yellow",
    Verdict.REFUTED: "red",
    Verdict.NOT_REPRODUCED: "red",
    Verdict.VACUOUS: "magenta",
    Verdict.UNCHECKED: "bright_black",
}
WIDE = 140  # columns from which a claim of the list is one row, not two
PageLine = tuple[str, Text]  # label and text


def coloured(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=COLOURS.get(Verdict(verdict), "") if verdict in [*Verdict] else "")


# The list ------------------------------------------------------------------------------------------
def claim_list(ids: Sequence[str], known: Mapping[str, Any], width: int) -> Group:
    """All claims, by document and section, in the order of the source; one or two rows each."""
    parts: list[Any] = []
    heads = max(len(i) for i in ids) + 4
    for document, sections in groupby(in_reading_order(ids), key=lambda section: section.document):
        parts.append(Text(f"{document}: {DOCUMENTS[document]}", style="bold"))
        for section in sections:
            parts.append(Text(section.heading, style="italic"))
            for row in section.rows:
                verdict = coloured(verdict_in(known, row.id))
                if width >= WIDE:
                    head = Text(f"  {row.id:<{heads - 4}}  ") + verdict
                    parts.append(hanging(head, row.says, heads + max(map(len, Verdict)) + 2))
                else:
                    parts.append(Text(f"  {row.id}  ") + verdict)
                    parts.append(hanging(" " * 6, row.says, 6))
    return Group(*parts)


def claim_rows(ids: Sequence[str], known: Mapping[str, Any]) -> Group:
    """For a pipe: id, verdict, place, what it says."""
    rows = (row for section in in_reading_order(ids) for row in section.rows)
    return Group(*(tabbed(row.id, verdict_in(known, row.id), row.place, row.says) for row in rows))


def in_reading_order(ids: Sequence[str]) -> Iterator[Any]:
    return iter(grouped(catalogue()[i] for i in ids))


def verdict_in(known: Mapping[str, Any], claim_id: str) -> str:
    return str(known.get(claim_id, {}).get("verdict", "not recorded"))


# One claim -----------------------------------------------------------------------------------------
def claim_page(row: CatalogueRow, symbols: Mapping[str, str], recorded: Mapping[str, Any]) -> Group:
    """One claim, a labelled text for each thing there is to know; commands stay on one line."""
    parts: list[Any] = [Text(row.id, style="bold")]
    for label, text in claim_lines(row, symbols, recorded):
        head = Text(f"  {label:<11}", style="bold")
        parts.append(OneLine(head + text) if label == "replay" else hanging(head, text, len(head)))
    return Group(*parts)


def claim_as_rows(row: CatalogueRow, symbols: Mapping[str, str], recorded: Mapping[str, Any]) -> Group:
    """For a pipe: label and text."""
    return Group(*(tabbed(label, text) for label, text in [("id", row.id), *claim_lines(row, symbols, recorded)]))


def claim_lines(row: CatalogueRow, symbols: Mapping[str, str], recorded: Mapping[str, Any]) -> Iterator[PageLine]:
    """Statement, hypotheses, symbols, source, where its files are, verdict, evidence."""
    details = [(label, text) for label, _, text in (line.partition(": ") for line in row.details)]
    yield "says", Text(row.says)
    yield "states", Text(row.statement)
    yield from ((label, Text(text)) for label, text in details if label in ("guarantee", "assumes", "added"))
    yield from (("symbol", Text(symbols[name])) for name in row.symbols)
    yield "source", Text(f"{row.source}: {row.provenance}")
    if row.corrects:
        yield "corrects", Text(row.corrects)
    for label, text in details:
        if label in ("cites", "units"):
            yield label, Text(text, style="red" if label == "units" else "")
    for label, paths in files_of(row).items():
        yield label, Text(", ".join(paths) or "none")
    yield "checks", Text(", ".join(row.checks) or "none")
    yield "verdict", coloured(recorded.get("verdict", "not recorded"))
    if recorded.get("severity"):
        yield "failure", Text(recorded["severity"], style="red")
        yield "instead", Text(recorded["instead"] or "nothing known")
    for piece in recorded.get("evidence", []):
        label = "gap" if piece["check"] == CITATION and piece["verdict"] == Verdict.UNCHECKED else "evidence"
        detail = f" ({piece['detail']})" if piece["detail"] else ""
        given = f"; given: {'; '.join(piece['premises'])}" if piece.get("premises") else ""
        part = f" ({piece['part']})" if piece.get("part") else ""
        yield label, Text(f"{piece['check']}: {piece['verdict']}. {piece['figure']}{part}{given}{detail}")
    if recorded.get("replay"):
        yield "replay", Text(recorded["replay"])


def files_of(row: CatalogueRow) -> dict[str, list[str]]:
    """Where a claim stands, what runs it, and what tests that: relative to the project's folder."""
    own = [f"dpcheck/{room}/{row.theme}/{row.algorithm}.py" for room in ("solvers", "evidence")]
    attached = [f"{name.replace('.', '/')}.py" for name in row.attached]
    solving = [*(path for path in own if (ROOT / path).exists()), *attached]
    return {
        "stands in": [f"bounds/library/{row.theme}/{row.algorithm}.py"],
        "solver": [*dict.fromkeys(solving)],
        "tests": tests_of(row.theme, row.algorithm, row.id),
    }


def tests_of(theme: str, stem: str, claim_id: str) -> list[str]:
    """The test file of that stem (of the algorithm, for its proof), and those that name the claim or its file."""
    named = (ROOT / "tests" / theme / f"test_{name}.py" for name in (stem, about(stem)))
    library = f"bounds.library.{theme}"
    words = (f"{library}.{stem} ", f'"{claim_id}"', f"{library} import {stem}\n", f"import {stem} as")
    others = [f for f in sorted((ROOT / "tests" / theme).glob("test_*.py")) if any(w in f.read_text() for w in words)]
    return [f.relative_to(ROOT).as_posix() for f in dict.fromkeys([*(f for f in named if f.exists()), *others])]
