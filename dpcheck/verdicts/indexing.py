"""The catalogue made anew, by walking all claims and all evidence; and written as the index that is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpcheck.bounds import index
from dpcheck.bounds.index import LIBRARY, File
from dpcheck.bounds.language.claim import pretty
from dpcheck.bounds.language.symbols import TABLE, unit_text
from dpcheck.bounds.registry import Entry, entries
from dpcheck.verdicts import rows
from dpcheck.verdicts.attached import checks_from, checks_in
from dpcheck.verdicts.dependencies import CITATIONS, JUDGE, files_below, reads_all_claims
from dpcheck.verdicts.rows import EVIDENCE, Catalogue, CatalogueRow, plain
from dpcheck.verdicts.written import as_json, write_changed

SLOW = {"worst-case": 4, "rate": 3, "audit": 2, "accountant": 2, "property": 1}  # who goes first in a parallel run


def made() -> Catalogue:
    """By walking all claims and all evidence."""
    themes = [module for package in (LIBRARY, *EVIDENCE) for module in index.modules_in(package)]
    files = files_below([*themes, JUDGE, CITATIONS, __name__])  # with what makes rows, so that a change of it shows
    attached = attached_modules()
    found = {claim_id: made_row(entry, attached.get(claim_id, ()), files) for claim_id, entry in entries().items()}
    symbols = {
        row.name: f"{row.printed} (--{row.name}): {row.meaning} ({unit_text(row.unit)})" for row in TABLE.values()
    }
    return Catalogue(found, symbols, files)


def attached_modules() -> dict[str, list[str]]:
    """The modules that attach checks to a claim, by claim id."""
    found: dict[str, list[str]] = {}
    for module in (module for package in EVIDENCE for module in index.modules_in(package)):
        for claim_id in checks_in(module, entries()):
            found.setdefault(claim_id, []).append(module)
    return found


def made_row(entry: Entry, attached: Sequence[str], files: Mapping[str, File]) -> CatalogueRow:
    """One claim's row."""
    claim = entry.claim
    checks = checks_from(claim, attached)
    return CatalogueRow(
        id=claim.id,
        theme=entry.theme,
        algorithm=entry.algorithm,
        document=claim.source.document,
        place=claim.source.place,
        line=claim.source.line,
        provenance=str(claim.provenance),
        kind=str(claim.kind),
        statement=claim.text(),
        says=claim.says,
        corrects=claim.corrects,
        cites=tuple(c.id for c in claim.cites),
        weight=sum(SLOW.get(check.kind, 0) for check in checks),
        checks=tuple(dict.fromkeys(check.kind for check in checks)),
        attached=tuple(attached),
        reads_all=reads_all_claims({*attached, *(type(check).__module__ for check in checks)}, files),
        details=tuple(details(entry)),
        symbols=tuple(sorted(str(symbol) for symbol in claim.symbols)),
    )


def details(entry: Entry) -> list[str]:
    """What a claim's page shows beside the statement, but for symbols and files."""
    claim = entry.claim
    found = []
    if claim.promise:
        found.append(f"guarantee: {claim.promise}")
    found += [f"{'added' if h in claim.added else 'assumes'}: {pretty(h)}" for h in claim.assumes]
    for cites in claim.cites:
        found.append(f"cites: {cites.id}" + "".join(f", {pretty(k)} = {pretty(v)}" for k, v in cites.where.items()))
    if claim.unit_gap and not claim.ignores_units:
        found.append(f"units: {claim.unit_gap}")
    return found


# Written -------------------------------------------------------------------------------------------
def write_index(made: Catalogue) -> None:
    """Write the index and what is shown, each file only if it differs; the files of gone documents go."""
    homes: dict[str, list[str]] = {}
    by_document: dict[str, dict[str, Any]] = {}
    for claim_id, row in made.rows.items():
        homes.setdefault(f"{row.theme}.{row.algorithm}", []).append(claim_id)
        by_document.setdefault(row.document, {})[claim_id] = plain(row)
    write_changed(index.FOLDER / index.CLAIMS, as_json(homes))
    told = {index.CLAIMS: index.text_digest(index.FOLDER / index.CLAIMS)}
    lines = {module: " ".join([file.digest, *file.imports]) for module, file in made.files.items()}
    write_changed(index.FOLDER / index.FILES, as_json(told | lines))
    rows.SHOWN.mkdir(exist_ok=True)
    for document, claims in by_document.items():
        used = {name for claim in claims.values() for name in claim.get("symbols", "").split()}
        symbols = {name: made.symbols[name] for name in sorted(used)}
        write_changed(rows.SHOWN / f"{document}.json", as_json({"symbols": symbols, "claims": claims}))
    for path in rows.SHOWN.glob("*.json"):
        if path.stem not in by_document:
            path.unlink()
