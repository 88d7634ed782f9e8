"""The claims at a glance: what is shown of each, which files judge it, and the content that its verdict depends on.

The rows are those that `dpcheck verify --record` wrote, read without any mathematics. Where a file has changed since,
they are made anew by walking all claims and their evidence, and kept in the user's cache until the next change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from dpcheck.bounds import index
from dpcheck.bounds.index import LIBRARY, File
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.verdicts.written import cache_folder, write_whole

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
        from dpcheck.verdicts.dependencies import content

        return {claim_id: content(self.depends(row), self.files) for claim_id, row in self.rows.items()}

    def depends(self, row: CatalogueRow) -> list[str]:
        """The modules that a verdict comes from, without those that they import."""
        from dpcheck.verdicts.dependencies import CITATIONS, JUDGE

        cited = [CITATIONS, *(self.rows[claim_id].module for claim_id in row.cites)] if row.cites else []
        others = {other.module for other in self.rows.values()} if row.reads_all else set()
        return [JUDGE, row.module, *row.attached, *cited, *sorted(others)]


def catalogue() -> Mapping[str, CatalogueRow]:
    """Every claim by id, in the order of a walk."""
    return current().rows


@lru_cache(maxsize=1)
def current() -> Catalogue:
    """As recorded if no file has changed, or as kept since the last change, or else made anew."""
    if not index.changed(index.files(), (LIBRARY, *EVIDENCE)):
        recorded = as_recorded()
        if recorded is not None:
            return recorded
    return kept()


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
            from dpcheck.bounds.registry import unknown

            raise unknown(name, catalogue())
    if not found:
        wanted = {"names": list(names), "source": source, "algorithm": algorithm, "kind": kind}
        raise InvalidInput("filter", {k: v for k, v in wanted.items() if v}, "met by a claim", "See `dpcheck claims`.")
    return found


# Recorded ------------------------------------------------------------------------------------------
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


# Kept ----------------------------------------------------------------------------------------------
def kept() -> Catalogue:
    """As in the user's cache, if no file has changed since; or else made anew, and put there."""
    path = cache_folder() / "catalogue.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        files = {module: File(digest, tuple(imports)) for module, (digest, imports) in raw["files"].items()}
        if files and not index.changed(files, (LIBRARY, *EVIDENCE)):
            rows = {claim_id: row_from(claim_id, home, row) for claim_id, (home, row) in raw["rows"].items()}
            return Catalogue(rows, raw["symbols"], files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass  # none yet, or damaged: it costs the time to make it
    from dpcheck.verdicts.indexing import made

    found = made()
    raw = {
        "files": {module: (file.digest, file.imports) for module, file in found.files.items()},
        "rows": {claim_id: (row.module, plain(row)) for claim_id, row in found.rows.items()},
        "symbols": found.symbols,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(raw))
    except OSError:
        pass  # a read-only home costs time, not the run
    return found
