"""Verdicts and claims on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dpcheck.bounds.language.claim import CITATION, DOCUMENTS, Verdict, pretty
from dpcheck.bounds.language.symbols import TABLE, unit_text
from dpcheck.report.reading_order import about, grouped
from dpcheck.verdicts.catalogue import catalogue, files_of_checks
from dpcheck.verdicts.verify import Judgement

if TYPE_CHECKING:
    from dpcheck.bounds.registry import Entry

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


def verdict_table(done: Sequence[Judgement]) -> Table:
    """Claim, source, verdict, figure, how, seconds; in the order of the claims."""
    order = {key: i for i, key in enumerate(catalogue())}
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("claim", overflow="fold", min_width=10)
    table.add_column("source", overflow="fold", max_width=18)
    table.add_column("verdict", no_wrap=True)
    table.add_column("figure", overflow="fold", min_width=10)
    table.add_column("checked by", overflow="fold", max_width=12)
    table.add_column("s", justify="right", no_wrap=True)
    for judgement in sorted(done, key=lambda j: order[j.id]):
        telling, place = judgement.telling, judgement.about.place.split(",")[0]
        kinds = ", ".join(dict.fromkeys(e.check for e in judgement.evidence)) or "nothing yet"
        figure = telling.shown if telling else "no check applies"
        figure += f" [{judgement.severity}]" if judgement.severity else ""
        table.add_row(
            judgement.id, place, coloured(judgement.verdict), Text(figure), kinds, f"{judgement.seconds:.1f}"
        )  # fmt: skip
    return table


def summary(done: Sequence[Judgement], total: int, seconds: float) -> str:
    """One line: how many of what."""
    counts = Counter(j.verdict for j in done)
    parts = ", ".join(f"{counts[v]} {v.value.lower()}" for v in Verdict if counts[v])
    head = f"{len(done)} claims" if len(done) == total else f"{len(done)} of {total} claims (stopped early)"
    return f"{head} in {seconds:.1f} s: {parts}"


def replay_lines(done: Sequence[Judgement]) -> Text:
    """One command per refuted claim, to be printed without wrapping so that it can be copied."""
    commands = [f"  {j.replay}" for j in done if j.replay]
    return Text("\n").join([Text("Replay a counterexample:", style="bold"), *map(Text, commands)])


def gap_lines(done: Sequence[Judgement]) -> Text:
    """One line per hypothesis that a proof uses without having it, in the order of the claims."""
    order = {key: i for i, key in enumerate(catalogue())}
    lines = [f"  {j.id}: {gap.figure}" for j in sorted(done, key=lambda j: order[j.id]) for gap in j.gaps]
    return Text("\n").join([Text("Gaps between statement and proof:", style="bold"), *map(Text, lines)])


def difference_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    """What a run found against what was recorded."""
    table = Table(title="Verdicts that differ from the record", header_style="bold")
    for name in ("claim", "recorded", "found"):
        table.add_column(name)
    for claim_id, old, new in rows:
        table.add_row(claim_id, coloured(old), coloured(new))
    return table


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
                table.add_row(f"  {row.id}", coloured(verdict), row.says)
            parts.append(table)
    return Group(*parts)


def claim_page(entry: Entry, known: dict[str, Any]) -> Panel:
    """One claim: statement, hypotheses, source, where its files are, verdict, evidence."""
    from dpcheck.registry import checks_of  # which imports every solver

    claim, row = entry.claim, known.get(entry.claim.id, {})
    table = Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("says", claim.says)
    table.add_row("states", claim.text())
    if claim.guarantee is not None:
        inner = ", ".join(pretty(v) for v in claim.guarantee.parameters.values())
        table.add_row("guarantee", f"{type(claim.guarantee).__name__}({inner}), {claim.guarantee.relation} neighbours")
    for hypothesis in claim.assumes:
        table.add_row("added" if hypothesis in claim.added else "assumes", pretty(hypothesis))
    for symbol in sorted(claim.symbols, key=str):
        row_of = TABLE[symbol]
        table.add_row("symbol", f"{row_of.printed} (--{row_of.name}): {row_of.meaning} ({unit_text(row_of.unit)})")
    line = f", line {claim.source.line} of the text" if claim.source.line is not None else ""
    table.add_row("source", f"{claim.source}{line} ({claim.provenance})")
    if claim.corrects:
        table.add_row("corrects", claim.corrects)
    for cites in claim.cites:
        table.add_row("cites", cites.id + "".join(f", {pretty(k)} = {pretty(v)}" for k, v in cites.where.items()))
    if claim.unit_gap and not claim.ignores_units:
        table.add_row("units", Text(claim.unit_gap, style="red"))
    for label, paths in files_of(entry).items():
        table.add_row(label, ", ".join(paths) or "none")
    table.add_row("checks", ", ".join(dict.fromkeys(c.kind for c in checks_of(entry))) or "none")
    table.add_row("verdict", coloured(row.get("verdict", "not recorded")))
    if row.get("severity"):
        table.add_row("failure", Text(row["severity"], style="red"))
        table.add_row("instead", Text(row["instead"] or "nothing known"))
    for piece in row.get("evidence", []):
        label = "gap" if piece["check"] == CITATION and piece["verdict"] == Verdict.UNCHECKED else "evidence"
        detail = f" ({piece['detail']})" if piece["detail"] else ""
        given = f"; given: {'; '.join(piece['premises'])}" if piece.get("premises") else ""
        table.add_row(label, f"{piece['check']}: {piece['verdict']}. {piece['figure']}{given}{detail}")
    if row.get("replay"):
        table.add_row("replay", row["replay"])
    return Panel(table, title=claim.id, title_align="left")


def files_of(entry: Entry) -> dict[str, list[str]]:
    """Where a claim stands, what runs it, and what tests that: relative to the project's folder."""
    theme, stem = entry.theme, entry.algorithm
    solver = f"dpcheck/solvers/{theme}/{stem}.py"
    attached = [f"{name.replace('.', '/')}.py" for name in files_of_checks().get(entry.claim.id, [])]
    solving = [solver, *attached] if (ROOT / solver).exists() else attached
    return {
        "stands in": [f"bounds/{theme}/{stem}.py"],
        "solver": [*dict.fromkeys(solving)],
        "tests": tests_of(theme, stem, entry.claim.id),
    }


def tests_of(theme: str, stem: str, claim_id: str) -> list[str]:
    """The test file of that stem (of the algorithm, for its proof), and those that name the claim or its file."""
    named = (ROOT / "tests" / theme / f"test_{name}.py" for name in (stem, about(stem)))
    words = (f"bounds.{theme}.{stem} ", f'"{claim_id}"', f"bounds.{theme} import {stem}\n", f"import {stem} as")
    others = [f for f in sorted((ROOT / "tests" / theme).glob("test_*.py")) if any(w in f.read_text() for w in words)]
    return [f.relative_to(ROOT).as_posix() for f in dict.fromkeys([*(f for f in named if f.exists()), *others])]


def consoles() -> tuple[Console, Console]:
    """Standard output, and standard error for progress and errors."""
    return Console(), Console(stderr=True)
