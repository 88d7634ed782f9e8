"""Claims by id, each from its own file: the rows kept between runs say which, so the other files are not imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from dpcheck.bounds.registry import Entry, Library, claims_of
from dpcheck.verdicts.catalogue import catalogue


class Lookup(Library):
    """The library without importing all of it. The first use after a change takes as long as all claims take."""

    def ids(self) -> Iterable[str]:
        return catalogue()

    def entry(self, claim_id: str) -> Entry:
        row = catalogue()[claim_id]
        module = importlib.import_module(f"dpcheck.bounds.library.{row.theme}.{row.algorithm}")
        claim = next(claim for claim in claims_of(module) if claim.id == claim_id)
        return Entry(claim, row.theme, row.algorithm)


bounds = Lookup()
