"""The verdicts as one page to search, filter and sort, with a view of each claim: `dpcheck verify --html FILE`.

It reads the record and the catalogue, which hold formulas as text: no mathematics is imported, and it takes a second.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from dpcheck.bounds.language.evidence import CITATION, DOCUMENTS, Kind, Provenance, Verdict
from dpcheck.report.formulas import mathml, name_as_mathml
from dpcheck.report.page import (
    Column,
    Filter,
    Item,
    articles,
    badge,
    breakable,
    command,
    css_name,
    facts,
    listing,
    page,
    section,
)
from dpcheck.report.reading_order import grouped
from dpcheck.report.terminal import files_of
from dpcheck.report.verdicts_page import figure_of, refutations, verdict_of
from dpcheck.verdicts.catalogue import Catalogue, CatalogueRow
from dpcheck.verdicts.failures import Failure

Record = Mapping[str, Any]
NOT_RECORDED = "not recorded"
COLUMNS = (
    Column("claim", "id"),
    Column("what it says", "order"),
    Column("verdict", "verdictrank"),
    Column("found", "rank"),
)
ORDERS = {"order": "as printed", "rank": "gravest failure first", "verdictrank": "verdict", "id": "name"}
MEANS = {
    Verdict.PROVED: "A chain leads to the statement and every link of it is checked; what no machine checked is named.",
    Verdict.CERTIFIED: "Numbers with an error bound, on the box or at the points that the figure names.",
    Verdict.SUPPORTED: "Not refuted by the cases tried; that is no proof.",
    Verdict.LOOSE: "It holds, and a sharper constant is certified.",
    Verdict.REFUTED: "A counterexample inside the printed hypotheses, which can be replayed.",
    Verdict.NOT_REPRODUCED: "An experiment that came out otherwise here.",
    Verdict.VACUOUS: "Nothing meets its hypotheses.",
    Verdict.UNCHECKED: "No check decided; the evidence says why.",
}
CHECKS = {
    "symbolic": "by algebra on the claim's own formula",
    "accountant": "by a tight privacy accountant, over the hypotheses",
    "worst-case": "by the worst case over a whole class of functions",
    "audit": "by an attack on the implementation",
    "rate": "by errors measured over a grid",
    "property": "by a search through random cases",
    CITATION: "a citation of its proof, which has no vote on the verdict",
}
STEP = re.compile(r" (?P<sign>[=≤≥<>]) ")
REASON = re.compile(r" \[(?P<reason>.*?)\](?= [=≤≥<>] |$)")
AT = re.compile(r"\b(?P<name>[A-Za-z_]\w*)(?P<sign>=| in )(?=[-.\d\[])")  # eps=0.5, delta in [1e-10, 0.5]
CLAIM = re.compile(r"\b[a-z]+\d\d\.[\w.]*\w")
DIGITS = 6


def verdict_browser(ids: Collection[str], record: Record, known: Catalogue, lead: str) -> str:
    """The page of these claims; `lead` says what it shows and since when."""
    return Browser(ids, record, known).page(lead)


class Browser:
    """What the parts of the page look up: rows, the record, names of symbols, who cites and corrects whom."""

    def __init__(self, ids: Collection[str], record: Record, known: Catalogue) -> None:
        self.record, self.known = record, known
        self.ids = set(ids)
        self.rows = [row for g in grouped((known.rows[i] for i in ids), known.rows) for row in g.rows]
        self.printed = {name: text.partition(" (--")[0] for name, text in known.symbols.items()}
        self.corrected_by: dict[str, list[str]] = {}
        self.cited_by: dict[str, list[str]] = {}
        for row in known.rows.values():
            if row.corrects:
                self.corrected_by.setdefault(row.corrects, []).append(row.id)
            for cited in dict.fromkeys(row.cites):
                self.cited_by.setdefault(cited, []).append(row.id)
        self.grave = {one.row.id: rank for rank, one in enumerate(refutations(record, known.rows))}

    def page(self, lead: str) -> str:
        items = [self.item(i, row) for i, row in enumerate(self.rows)]
        shown = {row.id: self.claim(row) for row in self.rows}
        body = listing("claims", COLUMNS, items, self.filters(), ORDERS)
        return page("Verdicts", lead, f"{self.bars()}\n{body}\n{articles(shown, 'all claims')}")

    # The listing -------------------------------------------------------------------------------
    def filters(self) -> list[Filter]:
        """By verdict, document, failure, kind, whose statement it is: of each what there is."""
        found = {verdict_of(self.record, row.id) for row in self.rows}
        verdicts = {str(v): v.lower() for v in [*Verdict, NOT_RECORDED] if v in found}
        failures = {self.failure(row) for row in self.rows}
        return [
            Filter("verdict", "verdict", verdicts, buttons=True),
            Filter("document", "document", self.choices(DOCUMENTS, (r.document for r in self.rows))),
            Filter("failure", "severity of a refutation", {f.value: f.value for f in Failure if f in failures}),
            Filter("kind", "kind", self.choices(Kind, (r.kind for r in self.rows))),
            Filter("whose", "whose statement", self.choices(Provenance, (r.provenance for r in self.rows))),
        ]

    @staticmethod
    def choices(all_there_are: Iterable[str], here: Iterable[str]) -> dict[str, str]:
        found = set(here)
        return {str(name): str(name) for name in all_there_are if name in found}

    def failure(self, row: CatalogueRow) -> str:
        """The kind of a refutation's failure, "" if it is none."""
        severity: str = self.record.get(row.id, {}).get("severity", "")
        return severity.partition(":")[0]

    def item(self, order: int, row: CatalogueRow) -> Item:
        kept, verdict = self.record.get(row.id, {}), verdict_of(self.record, row.id)
        severity = kept.get("severity", "")
        ours = "" if row.provenance == Provenance.PRINTED else f" <span class='added'>{row.provenance}</span>"
        name = f"<a class='name' href='#{row.id}'>{breakable(row.id)}</a>"
        cells = [
            f"{name}<br><span class='note'>{escape(row.kind)}</span>{ours}",
            f"{escape(row.says)}<br>{self.formula(row.statement, row)}",
            badge(verdict) + (f"<br><span class='grave'>{escape(severity)}</span>" if severity else ""),
            f"<span class='note'>{escape(shortened(self.in_symbols(figure_of(kept)) if kept else ''))}</span>",
        ]
        ranks = [v.value for v in Verdict]
        values: dict[str, str | float] = {
            "order": order,
            "document": row.document,
            "verdict": verdict,
            "failure": self.failure(row),
            "kind": row.kind,
            "whose": row.provenance,
            "rank": self.grave.get(row.id, 10**6 + order),
            "verdictrank": ranks.index(verdict) if verdict in ranks else len(ranks),
        }
        return Item(row.id, cells, values)

    def bars(self) -> str:
        """What each document prints, by verdict; each piece of a bar filters the listing."""
        printed = [row for row in self.rows if row.provenance == Provenance.PRINTED]
        shown = []
        for document, name in DOCUMENTS.items():
            counts = Counter(verdict_of(self.record, row.id) for row in printed if row.document == document)
            pieces = "".join(
                f"<a class='{css_name(v)}' style='flex-grow:{counts[v]}' title='{counts[v]} {v.lower()}' "
                f"href='#?{query(verdict=v, document=document, whose=Provenance.PRINTED)}'>{counts[v]}</a>"
                for v in [*Verdict, NOT_RECORDED]
                if counts[v]
            )
            if counts:
                total = f"<span class='total'>{sum(counts.values())} printed</span>"
                shown.append(f"<div><span>{escape(name)}</span>{total}<div class='bar'>{pieces}</div></div>")
        return f"<div class='bars'>{''.join(shown)}</div>" if shown else ""

    # One claim ---------------------------------------------------------------------------------
    def claim(self, row: CatalogueRow) -> str:
        """Place, statement, hypotheses, evidence, counterexample, replay, what to use instead."""
        kept, verdict = self.record.get(row.id, {}), verdict_of(self.record, row.id)
        details = [(label, text) for label, _, text in (line.partition(": ") for line in row.details)]
        line = f", line {row.line} of its text" if row.line is not None else ""
        place = f"{DOCUMENTS[row.document]}: {row.place}{line} · {row.kind} · {row.provenance}"
        files = facts((name, breakable(", ".join(paths))) for name, paths in files_of(row).items() if paths)
        promised = [text for label, text in details if label == "guarantee"]
        return "".join(
            [
                f"<h2>{breakable(row.id)} {badge(verdict)}</h2><p class='place'>{escape(place)}</p>",
                f"<p class='says'>{self.linked(row.says, row)}</p>",
                f"<div class='statement'>{self.formula(row.statement, row)}</div>",
                "".join(f"<p>Promised: {escape(text)}</p>" for text in promised),
                "".join(f"<p class='grave'>Units: {escape(text)}</p>" for label, text in details if label == "units"),
                self.grave_words(kept),
                f"<p class='note'>{escape(MEANS[Verdict(verdict)])}</p>" if verdict in [*Verdict] else "",
                section("hypotheses", self.hypotheses(details, row)),
                section("use instead", self.instead(kept, row)),
                section("counterexample", self.counterexample(kept)),
                section("evidence", "".join(self.evidence(piece, row) for piece in kept.get("evidence", []))),
                section("see it again", self.again(kept, row)),
                section("related claims", self.related(row, details)),
                section("symbols", self.symbols(row)),
                section("files", files),
            ]
        )

    def grave_words(self, kept: Record) -> str:
        severity = kept.get("severity", "")
        return f"<p class='grave'>{escape(severity)}</p>" if severity else ""

    def hypotheses(self, details: Sequence[tuple[str, str]], row: CatalogueRow) -> str:
        """Printed ones, then those that we added to prove it."""
        marks = {"assumes": "", "added": "<span class='added'>added</span>"}
        lines = [
            f"<li>{marks[label]}{self.formula(text, row)}</li>"
            for wanted in marks
            for label, text in details
            if label == wanted
        ]
        return f"<ul class='plain'>{''.join(lines)}</ul>" if lines else "<p>None.</p>"

    def instead(self, kept: Record, row: CatalogueRow) -> str:
        """The corrected statement, with its verdict, and how it differs from the printed one."""
        words: str = kept.get("instead", "")
        found = []
        for other in self.corrected_by.get(row.id, []):
            right = self.known.rows[other]
            _, same, differs = words.partition(f"{other}: {right.statement}")
            words = differs.removeprefix(", ") if same else words
            found.append(
                f"<li>{self.link(other)} {badge(verdict_of(self.record, other))}<p>{escape(right.says)}</p>"
                f"<div class='statement'>{self.formula(right.statement, right)}</div></li>"
            )
        said = f"<p class='note'>{self.linked(words, row)}</p>" if words else ""
        return (f"<ul class='plain'>{''.join(found)}</ul>" if found else "") + said

    def counterexample(self, kept: Record) -> str:
        """Its numbers, under the names that the document prints."""
        words = shlex.split(kept.get("replay") or "")
        numbers = [word.partition("=")[::2] for word in words if "=" in word]
        lines = []
        for name, value in numbers:
            shown = name_as_mathml(self.printed[name]) if name in self.printed else escape(name)
            number = f"<td class='number' title='{escape(value)}'>= {escape(rounded(value))}</td>"
            lines.append(f"<tr><th scope='row'>{shown}</th>{number}<td class='note'>{self.meaning(name)}</td></tr>")
        telling = next((e for e in kept.get("evidence", []) if e["verdict"] == kept["verdict"]), None)
        found = f"<p>{escape(self.in_symbols(telling['figure']))}</p>" if telling and lines else ""
        return f"<table class='values'>{''.join(lines)}</table>{found}" if lines else ""

    def evidence(self, piece: Mapping[str, Any], row: CatalogueRow) -> str:
        """What one check found, in words; a proof step by step."""
        verdict = piece["verdict"]
        gap = piece["check"] == CITATION and verdict == Verdict.UNCHECKED
        word = badge("gap", "unchecked") if gap else badge(verdict)
        part = f" <span class='added'>{escape(piece['part'])}</span>" if piece.get("part") else ""
        how = CHECKS.get(piece["check"], piece["check"])
        steps = proof_steps(piece["detail"])
        given = [text for text in piece.get("premises", []) if text not in {reason for _, reason in steps}]
        listed = "".join(f"<li>{self.linked(text, row)}</li>" for text in given)
        return (
            f"<div class='evidence {css_name(verdict)}'><p>{word} {escape(how)}{part}</p>"
            f"<p>{self.linked(self.in_symbols(piece['figure']), row)}</p>"
            + (self.proof(steps, piece.get("premises", []), row) if steps else self.sentence(piece["detail"], row))
            + (f"<p class='note'>Taken as given, checked by no machine:</p><ul>{listed}</ul>" if given else "")
            + "</div>"
        )

    def sentence(self, text: str, row: CatalogueRow) -> str:
        return f"<p class='note'>{self.linked(self.in_symbols(text), row)}</p>" if text else ""

    def proof(self, steps: Sequence[tuple[str, str]], premises: Sequence[str], row: CatalogueRow) -> str:
        """A chain step by step, each with its reason; one that no machine checked is marked."""
        mark = "<span class='added'>given</span>"
        lines = "".join(
            f"<li>{self.formula(shown, row)}"
            f"<span class='because'>{mark if reason in premises else ''}{self.linked(reason, row)}</span></li>"
            for shown, reason in steps
        )
        return f"<ol class='proof'>{lines}</ol>"

    def again(self, kept: Record, row: CatalogueRow) -> str:
        """The counterexample, then all checks of the claim."""
        replay = kept.get("replay")
        return (command(replay) if replay else "") + command(f"dpcheck verify {row.id} --fresh")

    def related(self, row: CatalogueRow, details: Sequence[tuple[str, str]]) -> str:
        cites = [text for label, text in details if label == "cites"]
        lines = [("corrects", self.link(row.corrects))] if row.corrects else []
        lines += [("cites", "<br>".join(self.citation(text, row) for text in cites))] if cites else []
        resting = self.cited_by.get(row.id, [])
        lines += [("cited by", ", ".join(map(self.link, resting)))] if resting else []
        return facts(lines) if lines else ""

    def citation(self, text: str, row: CatalogueRow) -> str:
        """A claim that the proof uses, and what its symbols stand for there."""
        cited, *where = text.split(", ")
        shown = [mathml(part, self.printed.values()) for part in where]
        if not where or None in shown:
            return self.linked(text, row)
        return f"{self.link(cited)} with {', '.join(map(str, shown))}"

    def symbols(self, row: CatalogueRow) -> str:
        """What each stands for, and its unit."""
        lines = []
        for name in row.symbols:
            shown = name_as_mathml(self.printed[name])
            lines.append(f"<tr><th scope='row'>{shown}</th><td>{self.meaning(name)}</td></tr>")
        return f"<table class='values'>{''.join(lines)}</table>" if lines else ""

    # Pieces ------------------------------------------------------------------------------------
    def meaning(self, name: str) -> str:
        """What a symbol stands for, with its unit if it has one."""
        text = self.known.symbols.get(name, "").partition("): ")[2].removesuffix(" (no unit)")
        return re.sub(r"\^(-?\d+(?:/\d+)?)", r"<sup>\1</sup>", escape(text))

    def in_symbols(self, text: str) -> str:
        """A figure with the names that options have as the document prints them: ε = 0.5 for eps=0.5."""

        def shown(at: re.Match[str]) -> str:
            sign = " = " if at["sign"] == "=" else at["sign"]
            return self.printed[at["name"]] + sign if at["name"] in self.printed else at[0]

        return AT.sub(shown, text)

    def formula(self, text: str, row: CatalogueRow) -> str:
        """As mathematics if it is a formula in the claim's symbols, or in any that there are; else as it stands."""
        own = [self.printed[name] for name in row.symbols]
        return mathml(text, own) or mathml(text, self.printed.values()) or escape(text)

    def link(self, claim_id: str) -> str:
        """A claim's name, as a link if it is on this page."""
        return f"<a href='#{claim_id}'>{breakable(claim_id)}</a>" if claim_id in self.ids else breakable(claim_id)

    def linked(self, text: str, row: CatalogueRow) -> str:
        """A text with the claims that it names as links, but for the claim itself."""
        found, at = [], 0
        for match in CLAIM.finditer(text):
            if match[0] in self.ids - {row.id}:
                found += [escape(text[at : match.start()]), self.link(match[0])]
                at = match.end()
        return "".join([*found, escape(text[at:])])


def proof_steps(text: str) -> list[tuple[str, str]]:
    """The steps of a chain, each with its reason, the first with what it begins at; none if the text is no chain."""
    steps, at = [], 0
    for match in REASON.finditer(text):
        steps.append((text[at : match.start()].strip(), match["reason"]))
        at = match.end()
    if at < len(text) or not steps or STEP.search(steps[0][0]) is None:
        return []
    return steps


def query(**values: str) -> str:
    """What stands after #? in an address."""
    return escape(urlencode({name: str(value) for name, value in values.items()}))


def rounded(number: str) -> str:
    """Six digits, where there are more; a word as it is."""
    try:
        return f"{float(number):.{DIGITS}g}" if len(number) > DIGITS + 2 else number
    except ValueError:
        return number


def shortened(text: str, most: int = 220) -> str:
    """Cut at a word."""
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " ..."
