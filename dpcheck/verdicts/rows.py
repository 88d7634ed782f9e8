"""A claim as a row of the catalogue, and all rows together: plain values, which take no mathematics to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpcheck.bounds import index
from dpcheck.bounds.index import LIBRARY, File
from dpcheck.verdicts.dependencies import CITATIONS, JUDGE, content

SHOWN = Path(__file__).with_name("shown")  # one file for each document
TOLD = ("id", "theme", "algorithm", "document")  # by the index
WORDS = ("cites", "checks", "attached", "symbols")  # written on one line each
EVIDENCE = ("dpcheck.evidence", "dpcheck.solvers")  # below these, files attach checks to claims: their CHECKS


@dataclass(frozen=True)
class CatalogueRow:
    """What is shown of a claim, and what judges it: `attached` are the modules that bring checks from outside."""

    id: str
    theme: str
    algorithm: str
    document: str
    place: str
    kind: str
    statement: str
    says: str
    corrects: str | None = None
    cites: tuple[str, ...] = ()
    weight: int = 0
    checks: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()
    reads_all: bool = False
    details: tuple[str, ...] = ()  # "label: text": guarantee, hypotheses, citations, units
    symbols: tuple[str, ...] = ()
    line: int | None = None
    provenance: str = "printed"

    @property
    def source(self) -> str:
        return f"{self.document}, {self.place}" + (f" (line {self.line})" if self.line is not None else "")

    @property
    def module(self) -> str:
        """Where the claim stands."""
        return f"{LIBRARY}.{self.theme}.{self.algorithm}"


@dataclass(frozen=True)
class Catalogue:
    """All claims in the order of a walk, what their symbols mean, and the files that verdicts depend on."""

    rows: Mapping[str, CatalogueRow]
    symbols: Mapping[str, str]
    files: Mapping[str, File]

    @cached_property
    def contents(self) -> Mapping[str, str]:
        """The content that each verdict depends on, by claim."""
        return {claim_id: content(self.depends(row), self.files) for claim_id, row in self.rows.items()}

    def depends(self, row: CatalogueRow) -> list[str]:
        """The modules that a verdict comes from, without those that they import."""
        cited = [CITATIONS, *(self.rows[claim_id].module for claim_id in row.cites)] if row.cites else []
        others = {other.module for other in self.rows.values()} if row.reads_all else set()
        return [JUDGE, row.module, *row.attached, *cited, *sorted(others)]


def as_recorded() -> Catalogue | None:
    """What the last `dpcheck verify --record` wrote; None if it is missing, damaged or of other claims."""
    shown: dict[str, Any] = {}
    symbols: dict[str, str] = {}
    try:
        for path in sorted(SHOWN.glob("*.json")):
            raw = json.loads(path.read_text(encoding="utf-8"))
            shown |= raw["claims"]
            symbols |= raw["symbols"]
        rows = {claim_id: row_from(claim_id, home, shown.pop(claim_id)) for claim_id, home in index.claims().items()}
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if shown else Catalogue(rows, symbols, index.files())


def row_from(claim_id: str, module: str, raw: Mapping[str, Any]) -> CatalogueRow:
    """A row from plain values; what is not given is as it is for most."""
    theme, algorithm = module.split(".")[-2:]
    words = {name: tuple(raw.get(name, "").split()) for name in WORDS}
    values = {**raw, **words, "details": tuple(raw.get("details", ()))}
    return CatalogueRow(claim_id, theme, algorithm, claim_id.partition(".")[0], **values)


def plain(row: CatalogueRow) -> dict[str, Any]:
    """A row without what its place and its id tell, and without what it does not have."""
    values = asdict(row) | {name: " ".join(getattr(row, name)) for name in WORDS}
    return {name: value for name, value in values.items() if name not in TOLD and value}
