"""docs/verdicts.md: what was recorded, as a page to read. `dpcheck verify --record` writes it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Any

from dpcheck.bounds.language.evidence import CITATION, DOCUMENTS, Kind, Provenance, Verdict
from dpcheck.report.reading_order import grouped, parsed
from dpcheck.verdicts.catalogue import CatalogueRow
from dpcheck.verdicts.failures import Failure, rank_of
from dpcheck.verdicts.written import write_whole

MUTANTS = Path(__file__).parents[1] / "verdicts" / "mutants.json"  # written by `dpcheck verify --mutants --record`
MOST = 10  # refutations shown at the top, of each sort
ABOUT_ERRORS = (Kind.UTILITY, Kind.SENSITIVITY, Kind.LOWER_BOUND, Kind.COST)
AUDITED = re.compile(r"audited eps >= (\S+) at delta \S+, claimed (\S+)")
NO_EPSILON = "no ε is kept"
NO_CONSTANT = re.compile(r"^no (constant|\S+) works")
STATED = re.compile(
    r"(?:delta is|epsilon is|reaches|worst case|measured|is)(?: at least| in)? \[?([^\s,]+?)(?:, \S+\])?,? "
    r"(?:stated|bound)(?: at most)? (\S+)"
)
LARGER = re.compile(r"noise must be (\S+) times larger")
MORE = re.compile(r"= (\S+), claimed more than (\S+)")  # a leak that is none
WEIGHTY = ("theorem", "corollary", "proposition", "lemma")  # a tie goes to what is named so
GROWS = re.compile(r"left/right grows (\S+)x")

RULE = """\
The order is computed: by the kind of failure, then by the factor found over stated, then theorems before lemmas before
the rest, then by how many claims rest on it. A privacy failure is one at ε ≤ 1 in the setting printed; “only beyond”
says up to where no failure was found; a misprint is a statement whose right form the document prints elsewhere. What is
not printed (consequences, our readings, corrections) is not counted as the document's."""


@dataclass(frozen=True)
class Refutation:
    """A refuted claim and what decides its rank."""

    row: CatalogueRow
    found: str
    grade: int
    factor: float
    resting: int
    severity: str = ""
    instead: str = ""

    @property
    def order(self) -> tuple[int, int, float, int, int]:
        word, _ = parsed(self.row.id)
        weight = WEIGHTY.index(word) if word in WEIGHTY else len(WEIGHTY)
        rank = rank_of(self.severity)
        if self.severity.startswith(Failure.BEYOND) and self.row.kind != Kind.PRIVACY:
            rank = rank_of(Failure.CONSTANT)  # an error bound that holds at every usual ε misleads little
        return rank, self.grade, -self.factor, weight, -self.resting


def page(record: Mapping[str, Any], rows: Mapping[str, CatalogueRow]) -> str:
    """The whole page, from the record and the catalogue."""
    parts = [
        "# Verdicts",
        "Written by `dpcheck verify --record` from `dpcheck/verdicts/record/`; do not edit. "
        "`dpcheck claims ID` shows a claim with its hypotheses, files and evidence.",
        *summary(record, rows),
        *consequential(record, rows),
        *teeth(),
    ]
    for document, groups in groupby(grouped(rows.values(), rows), key=lambda g: g.document):
        parts.append(f"## {document}: {DOCUMENTS[document]}")
        for group in groups:
            parts += [f"### {document}, {group.heading}", table(group.rows, record)]
    return "\n\n".join(parts) + "\n"


def write(path: Path, record: Mapping[str, Any], rows: Mapping[str, CatalogueRow]) -> None:
    """The page into a file, all or nothing."""
    write_whole(path, page(record, rows))


README_TITLES = ("claim", "verdict", "failure", "figure", "instead")


def with_record(readme: str, record: Mapping[str, Any]) -> str:
    """The README with its table, and the number of claims, as recorded.

    The table keeps its claims, the gravest failures first. Of a claim's figures the row keeps the one that is most like
    the figure it had.
    """
    head, mark, rest = readme.partition("<!-- verdicts -->\n")
    table, gap, tail = rest.partition("\n\n")
    titles, _, *old = ([cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines())
    figures = {cells[0]: cells[titles.index("figure")] for cells in old if cells[0] in record}
    order = sorted(figures, key=lambda claim: rank_of(record[claim].get("severity", "")))  # a tie stays as it was
    rows = [line(README_TITLES), "|" + "---|" * len(README_TITLES), *(readme_row(c, figures[c], record) for c in order)]
    head = re.sub(r"\(\d+ claims so far", f"({len(record)} claims so far", head)
    return "".join([head, mark, "\n".join(rows), gap, tail])


def readme_row(claim: str, figure: str, record: Mapping[str, Any]) -> str:
    """A claim, its verdict, how grave it is and what to use instead."""
    known = record[claim]
    figures = [piece["figure"] for piece in known["evidence"] if piece["verdict"] == known["verdict"]] or [figure]
    best = max(figures, key=lambda found: SequenceMatcher(None, found, figure).ratio())
    return line([claim, known["verdict"], known.get("severity", ""), best, known.get("instead", "")])


# Parts ---------------------------------------------------------------------------------------------
def summary(record: Mapping[str, Any], rows: Mapping[str, CatalogueRow]) -> list[str]:
    """Counts by document and verdict: of what is printed, then of what is ours."""
    printed = [r for r in rows.values() if r.provenance == Provenance.PRINTED]
    parts = ["## Summary", counted(record, printed), "Refuted statements that are printed, by failure:"]
    refuted = [r.id for r in printed if verdict_of(record, r.id) == Verdict.REFUTED]
    kinds = Counter(record[claim_id].get("severity", "").partition(":")[0] or "not graded" for claim_id in refuted)
    names = [f.value for f in Failure if kinds[f.value]] + (["not graded"] if kinds["not graded"] else [])
    parts.append("\n".join([line(names), "|" + "---|" * len(names), line(str(kinds[name]) for name in names)]))
    ours = [r for r in rows.values() if r.provenance != Provenance.PRINTED]
    sorts = Counter(r.provenance for r in ours)
    words = ", ".join(f"{sorts[p]} {p.value}" for p in Provenance if sorts[p])
    return [*parts, f"Ours, and not counted as the document's ({words}):", counted(record, ours)]


def counted(record: Mapping[str, Any], rows: Sequence[CatalogueRow]) -> str:
    """A table of verdicts by document."""
    counts = {d: Counter(verdict_of(record, r.id) for r in rows if r.document == d) for d in DOCUMENTS}
    total = sum(counts.values(), Counter())
    names = [v.value for v in Verdict] + (["not recorded"] if total["not recorded"] else [])
    lines = [line(["document", "claims", *names]), "|" + "---|" * (len(names) + 2)]
    for document, count in [*((d, c) for d, c in counts.items() if c), ("all", total)]:
        lines.append(line([document, str(sum(count.values())), *(str(count[name] or "") for name in names)]))
    return "\n".join(lines)


def consequential(record: Mapping[str, Any], rows: Mapping[str, CatalogueRow]) -> list[str]:
    """The refutations that matter most, by the rule that is printed with them."""
    found = refutations(record, rows)
    better = {row.corrects: row.id for row in reversed([*rows.values()]) if row.corrects}
    parts = ["## The most consequential refutations", RULE]
    for title, kinds in (("Privacy", (Kind.PRIVACY,)), ("Errors and costs", ABOUT_ERRORS)):
        sort = [r for r in found if r.row.kind in kinds]
        lines = [line(["", "claim", "what it says", "failure", "found", "instead"]), "|---|---|---|---|---|---|"]
        for rank, one in enumerate(sort[:MOST], 1):
            instead = better.get(one.row.id, "")
            shown = one.instead or (f"`{instead}`: {verdict_of(record, instead)}" if instead else "")
            lines.append(line([str(rank), f"`{one.row.id}`", one.row.says, one.severity, one.found, shown]))
        parts += [f"### {title}", "\n".join(lines)]
    return parts


def teeth() -> list[str]:
    """How many statements falsified on purpose kept their verdict, as the last `--mutants --record` counted them."""
    if not MUTANTS.exists():
        return []
    kept = json.loads(MUTANTS.read_text(encoding="utf-8"))
    names = ["mutants", "noticed", "survivors", "true after all", "out of time"]
    lines = [line(["document", *names]), "|" + "---|" * (len(names) + 1)]
    for document, count in kept["counts"].items():
        lines.append(line([document, *(str(count.get(name, "")) for name in names)]))
    words = (
        "Every statement that is proved, certified or loose is falsified in several ways (constant, exponents, dropped "
        "logarithms, swapped symbols, dropped or weakened hypotheses, direction), and its checks run again: one that "
        "keeps its verdict has no teeth. True after all is what an accountant reads and certifies on the whole box."
    )
    kept_verdict = [f"- `{o['id']}`, {o['how']}: {o['verdict']} ({o['why']})" for o in kept["survivors"]]
    return [
        "## Statements falsified on purpose",
        words,
        "\n".join(lines),
        *(["\n".join(kept_verdict)] if kept_verdict else []),
    ]


def table(rows: Sequence[CatalogueRow], record: Mapping[str, Any]) -> str:
    """One section: claim, statement in words, verdict, figure, how to see it again."""
    lines = [line(["claim", "what it says", "verdict", "failure", "figure", "again"]), "|---|---|---|---|---|---|"]
    for row in rows:
        kept = record.get(row.id, {})
        again = kept.get("replay") or f"dpcheck verify {row.id}"
        cells = [verdict_of(record, row.id), kept.get("severity", ""), figure_of(kept), f"`{again}`"]
        lines.append(line([f"`{row.id}`", marked(row), *cells]))
    return "\n".join(lines)


def marked(row: CatalogueRow) -> str:
    """What a claim says, with whose statement it is if not the document's, and the hypotheses that are added."""
    ours = f" *({row.provenance})*" if row.provenance not in (Provenance.PRINTED, Provenance.CORRECTION) else ""
    added = [text for label, _, text in (d.partition(": ") for d in row.details) if label == "added"]
    return row.says + ours + (f" *(added: {', '.join(added)})*" if added else "")


def line(cells: Iterable[str]) -> str:
    """A row of a table; a bar in a cell is not a border."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


# What the record says ------------------------------------------------------------------------------
def verdict_of(record: Mapping[str, Any], claim_id: str) -> str:
    return str(record.get(claim_id, {}).get("verdict", "not recorded"))


def figure_of(kept: Mapping[str, Any]) -> str:
    """Of the evidence that decided."""
    own = [e for e in kept.get("evidence", []) if e["check"] != CITATION]
    telling = next((e for e in own if e["verdict"] == kept["verdict"]), next(iter(own), None))
    if telling is None:
        return ""
    part = f" ({telling['part']})" if telling.get("part") and telling["part"] not in telling["figure"] else ""
    given = f"; given: {'; '.join(telling['premises'])}" if telling.get("premises") else ""
    return f"{telling['figure']}{part}{given}"


def refutations(record: Mapping[str, Any], rows: Mapping[str, CatalogueRow]) -> list[Refutation]:
    """All printed claims that are refuted, the most consequential first."""
    resting = {claim_id: len(rest_on(claim_id, rows)) for claim_id in rows}
    printed = (row for row in rows.values() if row.provenance == Provenance.PRINTED)
    kept = [row for row in printed if verdict_of(record, row.id) == Verdict.REFUTED]
    found = []
    for row in kept:
        grave = {name: record[row.id].get(name, "") for name in ("severity", "instead")}
        found.append(replace(graded(row, record[row.id]["evidence"], resting[row.id]), **grave))
    return sorted(found, key=lambda r: r.order)


def graded(row: CatalogueRow, evidence: Sequence[Mapping[str, Any]], resting: int) -> Refutation:
    """The gravest piece of evidence: an audit, then no constant or lost units, then a factor."""
    pieces = [str(e["figure"]) for e in evidence if e["verdict"] == Verdict.REFUTED and e["check"] != CITATION]
    grades = [(*grade(figure), figure) for figure in pieces]
    best = min(grades, key=lambda g: (g[0], -g[1]))
    return Refutation(row, best[2], best[0], best[1], resting)


def grade(figure: str) -> tuple[int, float]:
    """(0, factor) for an audit or where no epsilon does, (1, 1) for no constant or units, (2, factor) for numbers,
    (3, 1) for words.
    """
    audited, stated = AUDITED.search(figure), STATED.search(figure)
    if audited:
        return 0, quotient(*audited.groups())
    if NO_EPSILON in figure:
        return 0, math.inf
    if NO_CONSTANT.search(figure) or GROWS.search(figure):
        return 1, 1.0
    larger, more = LARGER.search(figure), MORE.search(figure)
    if larger:
        return 2, quotient(larger[1], "1")
    if more:
        return 2, quotient(more[2], more[1])
    return (2, quotient(*stated.groups())) if stated else (3, 1.0)


def quotient(found: str, claimed: str) -> float:
    """Found over claimed; above all others if the claimed is 0 or less, 1 if these are no real numbers."""
    try:
        a, b = (float(text.rstrip(",;")) for text in (found, claimed))
    except ValueError:
        return 1.0
    return a / b if b > 0 else math.inf


def rest_on(claim_id: str, rows: Mapping[str, CatalogueRow]) -> set[str]:
    """The claims that cite it, those that cite these, and so on."""
    found: set[str] = set()
    left = [claim_id]
    while left:
        cited = left.pop()
        new = {row.id for row in rows.values() if cited in row.cites} - found
        found |= new
        left.extend(new)
    return found
