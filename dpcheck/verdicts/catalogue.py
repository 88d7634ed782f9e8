"""The claims at a glance: what is shown of each, which files judge it, and the content that its verdict depends on.

The rows are those that `dpcheck verify --record` wrote, read without any mathematics. Where a file has changed since,
they are made anew by walking all claims and their evidence, and kept in the user's cache until the next change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from dpcheck.bounds import index
from dpcheck.bounds.index import LIBRARY, File
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.verdicts.rows import EVIDENCE, Catalogue, CatalogueRow, as_recorded, plain, row_from
from dpcheck.verdicts.written import cache_folder, write_whole


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
            from dpcheck.bounds.registry import unknown  # late: it takes sympy

            raise unknown(name, catalogue())
    if not found:
        wanted = {"names": list(names), "source": source, "algorithm": algorithm, "kind": kind}
        raise InvalidInput("filter", {k: v for k, v in wanted.items() if v}, "met by a claim", "See `dpcheck claims`.")
    return found


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
    from dpcheck.verdicts.indexing import made  # late: it takes all the mathematics there is

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
