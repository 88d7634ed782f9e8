"""Verdicts and claims on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dpcheck.bounds.language.evidence import CITATION, DOCUMENTS, Verdict
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


def coloured(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=COLOURS.get(Verdict(verdict), "") if verdict in [*Verdict] else "")


def claim_list(ids: Sequence[str], known: dict[str, Any]) -> Group:
    """All claims, by document and section, in the order of the source."""
    parts: list[Any] = []
    for document, sections in groupby(grouped(catalogue()[i] for i in ids), key=lambda section: section.document):
        parts.append(Text(f"{document}: {DOCUMENTS[document]}", style="bold"))
        for section in sections:
            table = Table(title=section.heading, title_justify="left", show_header=False, box=None, pad_edge=False)
            table.add_column(min_width=36, overflow="fold")
            table.add_column(no_wrap=True)
            table.add_column(overflow="fold")
            for row in section.rows:
                verdict = known.get(row.id, {}).get("verdict", "not recorded")
                table.add_row(f"  {row.id}", coloured(verdict), Text(row.says))
            parts.append(table)
    return Group(*parts)


def claim_page(row: CatalogueRow, symbols: Mapping[str, str], recorded: Mapping[str, Any]) -> Panel:
    """One claim: statement, hypotheses, symbols, source, where its files are, verdict, evidence."""
    table = Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    details = [(label, text) for label, _, text in (line.partition(": ") for line in row.details)]

    def add(label: str, text: str) -> None:
        table.add_row(label, Text(text))  # not markup: [loss] is a word

    add("says", row.says)
    add("states", row.statement)
    for label, text in details:
        if label in ("guarantee", "assumes", "added"):
            add(label, text)
    for name in row.symbols:
        add("symbol", symbols[name])
    add("source", f"{row.source}: {row.provenance}")
    if row.corrects:
        add("corrects", row.corrects)
    for label, text in details:
        if label in ("cites", "units"):
            table.add_row(label, Text(text, style="red" if label == "units" else ""))
    for label, paths in files_of(row).items():
        add(label, ", ".join(paths) or "none")
    add("checks", ", ".join(row.checks) or "none")
    table.add_row("verdict", coloured(recorded.get("verdict", "not recorded")))
    if recorded.get("severity"):
        table.add_row("failure", Text(recorded["severity"], style="red"))
        table.add_row("instead", Text(recorded["instead"] or "nothing known"))
    for piece in recorded.get("evidence", []):
        label = "gap" if piece["check"] == CITATION and piece["verdict"] == Verdict.UNCHECKED else "evidence"
        detail = f" ({piece['detail']})" if piece["detail"] else ""
        given = f"; given: {'; '.join(piece['premises'])}" if piece.get("premises") else ""
        part = f" ({piece['part']})" if piece.get("part") else ""
        add(label, f"{piece['check']}: {piece['verdict']}. {piece['figure']}{part}{given}{detail}")
    if recorded.get("replay"):
        add("replay", recorded["replay"])
    return Panel(table, title=row.id, title_align="left")


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
