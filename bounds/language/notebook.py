"""Claims in a notebook: statement, hypotheses, verdict, source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import sympy

from dpcheck.bounds.language.formulas import latex
from dpcheck.bounds.language.on_record import on_record
from dpcheck.bounds.language.statements import Hypothesis

if TYPE_CHECKING:  # they show themselves by what is here
    from dpcheck.bounds.language.claim import Claim

NotebookLine = tuple[str, str, bool]  # label, text, whether that is mathematics


def html_of(claims: Sequence[Claim]) -> str:
    """A table for each claim."""
    return "".join(
        f"<table class='dpcheck-claim'><caption style='text-align:left'><b>{escape(claim.id)}</b></caption>"
        + "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(label)}</th>"
            f"<td style='text-align:left'>{f'${escape(text)}$' if formula else escape(text)}</td></tr>"
            for label, text, formula in lines_of(claim)
        )
        + "</table>"
        for claim in claims
    )


def markdown_of(claims: Sequence[Claim]) -> str:
    """A list for each claim."""
    return "\n\n".join(
        f"**{claim.id}**\n\n"
        + "\n".join(
            f"- *{label}*: {f'${text}$' if formula else escaped(text)}" for label, text, formula in lines_of(claim)
        )
        for claim in claims
    )


def lines_of(claim: Claim) -> Iterator[NotebookLine]:
    """What there is to know of a claim in a glance."""
    known = on_record(claim.id)
    yield "says", claim.says, False
    yield "states", claim.latex(), True
    if claim.promise:
        yield "guarantee", claim.promise, False
    for hypothesis in claim.assumes:
        yield ("added" if hypothesis in claim.added else "assumes"), *in_words(hypothesis)
    yield "verdict", known.get("verdict", "not recorded"), False
    if known.get("severity"):
        yield "failure", known["severity"], False
        yield "instead", known.get("instead") or "nothing known", False
    yield "source", f"{claim.source}: {claim.provenance}", False


def in_words(hypothesis: Hypothesis) -> tuple[str, bool]:
    """Relations as mathematics, the rest as it is said."""
    if isinstance(hypothesis, sympy.Basic):
        return latex(hypothesis), True
    return str(hypothesis), False


def escaped(text: str) -> str:
    """Signs that Markdown would read."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>$|" else sign for sign in text)
