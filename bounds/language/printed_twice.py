"""One statement that two documents print: a claim for each, under its own number and place.

    both = PrintedTwice("wangxu19", "dwang20")
    theorem1, theorem1_dwang = both("theorem1", "theorem4.1.1", ".privacy", kind=..., says=..., states=...)

An id that ends in `.corrected` corrects the claim before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcheck.bounds.language.claim import Cites, Claim, Source

CORRECTED = ".corrected"


@dataclass(frozen=True)
class PrintedTwice:
    """Two documents; called with the two numbers of a statement it makes the two claims."""

    first: str
    second: str

    def __call__(
        self,
        first: str,
        second: str,
        part: str = "",
        *,
        places: tuple[str, str] | None = None,
        lines: tuple[int | None, int | None] = (None, None),
        cites: Sequence[Cites] | Mapping[str, Sequence[Cites]] = (),
        misprint_of: tuple[str | None, str | None] = (None, None),
        **statement: Any,
    ) -> tuple[Claim, Claim]:
        """`part` ends both ids. Places are read off the numbers unless given. `cites` is for both, or by document."""

        def claim(document: str, number: str, place: str, line: int | None, right: str | None) -> Claim:
            claim_id = f"{document}.{number}{part}"
            own = cites.get(document, ()) if isinstance(cites, Mapping) else cites
            source = Source(document, place, line)
            corrects = corrected_by(claim_id)
            return Claim(claim_id, source, corrects=corrects, cites=[*own], misprint_of=right, **statement)

        here, there = places or (place_of(first), place_of(second))
        ours = claim(self.first, first, here, lines[0], misprint_of[0])
        return ours, claim(self.second, second, there, lines[1], misprint_of[1])

    def again(
        self,
        claim: Claim,
        first: str,
        second: str,
        part: str = "",
        *,
        places: tuple[str, str] | None = None,
        lines: tuple[int | None, int | None] = (None, None),
    ) -> tuple[Claim, Claim]:
        """A statement of another document or chapter that stands word for word in these two."""
        here, there = places or (place_of(first), place_of(second))
        ours = again(claim, f"{self.first}.{first}{part}", here, lines[0])
        return ours, again(claim, f"{self.second}.{second}{part}", there, lines[1])


def again(claim: Claim, claim_id: str, place: str, line: int | None = None) -> Claim:
    """A statement that stands in another document or chapter word for word."""
    source = Source(claim_id.split(".")[0], place, line)
    return replace(claim, id=claim_id, source=source, corrects=corrected_by(claim_id))


def corrected_by(claim_id: str) -> str | None:
    """The id of what the claim of this id corrects, if any."""
    return claim_id.removesuffix(CORRECTED) if claim_id.endswith(CORRECTED) else None


def place_of(number: str) -> str:
    """`Lemma 5.6.2` of lemma5.6.2.corrected."""
    found = re.match(r"([a-z]+)([\d.]*\d)?", number)
    assert found is not None
    return f"{found[1].capitalize()} {found[2] or ''}".strip()
