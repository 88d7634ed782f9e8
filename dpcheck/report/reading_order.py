"""Claims in the order of their source: by document, by section, then by the numbers that are printed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from dpcheck.bounds.language.evidence import DOCUMENTS
from dpcheck.verdicts.catalogue import CatalogueRow, catalogue

Number = tuple[int, ...]
# What a statement is called in its id, in the order in which a section is read: what is claimed, then how it is proved.
WORDS = {
    "abstract": "Abstract",
    "definition": "Definitions",
    "assumption": "Assumptions",
    "algorithm": "Algorithms",
    "theorem": "Theorems",
    "proposition": "Propositions",
    "corollary": "Corollaries",
    "remark": "Remarks",
    "lemma": "Lemmas",
    "equation": "Equations",
    "section": "Text",
    "table": "Tables",
    "figure": "Figures",
}
NAME = re.compile(r"[a-z]+\d+\.(?P<word>[a-z_]+?)(?P<number>\d+(?:\.\d+)*)?(?:\.|$)")


@dataclass(frozen=True)
class Group:
    """The claims of one section, in reading order."""

    document: str
    heading: str
    rows: tuple[CatalogueRow, ...]


def parsed(claim_id: str) -> tuple[str, Number]:
    """Word and number of an id: dwang20.theorem3.1.2.cost is ("theorem", (3, 1, 2))."""
    found = NAME.match(claim_id)
    if found is None:
        return claim_id.partition(".")[2], ()
    return found["word"], tuple(int(part) for part in (found["number"] or "").split(".") if part)


def own_section(claim_id: str) -> Number:
    """The section that an id tells: 3.1 of theorem3.1.2 and of section3.1; equations and tables count by chapter."""
    word, number = parsed(claim_id)
    return number[:2] if len(number) > 2 or (word == "section" and len(number) == 2) else ()


def sections(rows: Iterable[CatalogueRow]) -> dict[str, Number]:
    """The section of each claim of the documents that number by section; the others' claims are left out.

    An equation or a table, which counts by chapter, is in the section that most claims of its file are in, or of the
    algorithm whose proof or experiments the file holds.
    """
    rows = list(rows)
    told = {row.id: own_section(row.id) for row in rows}
    sectioned = {row.document for row in rows if len(parsed(row.id)[1]) > 2}
    by_file: dict[tuple[str, str, str], Counter[Number]] = {}
    for row in rows:
        if told[row.id]:
            by_file.setdefault((row.document, row.theme, about(row.algorithm)), Counter())[told[row.id]] += 1
    found = {}
    for row in rows:
        if row.document in sectioned:
            most = by_file.get((row.document, row.theme, about(row.algorithm)), Counter()).most_common(1)
            found[row.id] = told[row.id] or (most[0][0] if most else parsed(row.id)[1][:1])
    return found


def about(stem: str) -> str:
    """The algorithm that a file is about: dp_svrg of dp_svrg_proof."""
    return stem.removesuffix("_proof").removesuffix("_experiments")


def grouped(rows: Iterable[CatalogueRow], known: Mapping[str, CatalogueRow] | None = None) -> list[Group]:
    """The claims by document and section, each group in reading order; `known` is all there are."""
    known = catalogue() if known is None else known
    place, rank = sections(known.values()), {claim_id: i for i, claim_id in enumerate(known)}
    words, documents = [*WORDS], [*DOCUMENTS]

    def key(row: CatalogueRow) -> tuple[int, Number, int, Number, bool, int]:
        word, number = parsed(row.id)
        kind = words.index(word) if word in words else len(words)
        part = row.id != f"{row.document}.{word}{'.'.join(map(str, number))}"  # the whole comes before its parts
        return documents.index(row.document), place.get(row.id, ()), kind, number, part, rank[row.id]

    def group(row: CatalogueRow) -> tuple[str, str]:
        section = ".".join(map(str, place.get(row.id, ())))
        if row.id in place:
            return row.document, f"Section {section}" if "." in section else f"Chapter {section}"
        return row.document, WORDS.get(parsed(row.id)[0], "Others")

    found = groupby(sorted(rows, key=key), key=group)
    return [Group(document, heading, tuple(members)) for (document, heading), members in found]
