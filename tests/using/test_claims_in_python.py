"""Claims as a person meets them in Python: by a common name, in a notebook, with a name misspelt."""

from __future__ import annotations

import copy
from html.parser import HTMLParser

import pytest

import dpcheck as dp
from dpcheck.bounds.language import notebook, on_record
from dpcheck.bounds.registry import StatementParts
from dpcheck.verdicts.record import recorded

POINT = {"n": 10_000, "d": 50, "eps": 1, "delta": 1e-5, "L": 1, "beta": 0.25, "mu": 0.01}
REFUTED = "zhang17.lemma9"


# Names ---------------------------------------------------------------------------------------------
def test_a_name_that_is_no_symbol_is_refused() -> None:
    """Seen: foo=1 was ignored."""
    claim = dp.bounds["zhang17.theorem2.approx"]
    with pytest.raises(dp.UnknownName, match=r"symbol is foo; .* takes L, beta, d, delta, eps, mu, n"):
        claim.evaluate(**POINT, foo=1)
    with pytest.raises(dp.UnknownName, match="Did you mean eps"):
        claim.evaluate(**POINT, epsilon=2.0)
    with pytest.raises(dp.UnknownName, match="symbol is foo"):
        dp.bounds["zhang17.theorem2"].evaluate(**POINT, foo=1)
    assert claim.evaluate(**POINT, T=7) == claim.evaluate(**POINT)  # a symbol, of which the claim does not speak


@pytest.fixture(scope="module")
def parts() -> StatementParts:
    """README's own id."""
    found: StatementParts = dp.bounds["zhang17.theorem2"]
    return found


def test_a_common_name_reads_as_its_parts(parts: StatementParts) -> None:
    lines = parts.text().splitlines()
    assert lines[0] == f"zhang17.theorem2.pure: {dp.bounds['zhang17.theorem2.pure'].text()}"
    assert [line.split(":")[0] for line in lines] == [claim.id for claim in parts]
    assert str(parts) == repr(parts) == parts.text()
    assert all(claim.latex() in parts.latex() for claim in parts)
    assert parts._repr_latex_().startswith("$")


def test_a_part_is_had_by_number_and_by_its_own_name(parts: StatementParts) -> None:
    assert parts["pure"] is parts[0] is parts["zhang17.theorem2.pure"]
    assert len(parts) == len(list(parts)) >= 2
    with pytest.raises(dp.UnknownName, match=r"one of pure, approx"):
        parts["nope"]


def test_what_only_a_part_has_is_answered_with_their_names(parts: StatementParts) -> None:
    for name in ("says", "states", "assumes", "formula", "guarantee"):
        with pytest.raises(AttributeError, match=rf"its own {name}: zhang17\.theorem2\.pure, .*Name one"):
            getattr(parts, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        parts.nonsense  # noqa: B018
    assert copy.copy(parts).id == parts.id


# Notebooks -----------------------------------------------------------------------------------------
class Reader(HTMLParser):
    """Rows of a page's tables, and whether every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag in ("th", "td", "b"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells[-1] += data


@pytest.mark.parametrize("claim_id", [REFUTED, "zhang17.theorem2.pure", "lwang21.theorem2.5.4.corrected"])
def test_a_claim_shows_statement_hypotheses_verdict_and_source(claim_id: str) -> None:
    claim, known = dp.bounds[claim_id], recorded()[claim_id]
    page = Reader()
    page.feed(claim._repr_html_())
    assert page.open == []
    assert page.cells[0] == claim_id
    rows = list(zip(page.cells[1::2], page.cells[2::2], strict=True))
    assert ("says", claim.says) in rows
    assert ("states", f"${claim.latex()}$") in rows
    assert ("verdict", known["verdict"]) in rows
    assert ("source", f"{claim.source}: {claim.provenance}") in rows
    assert sum(label in ("assumes", "added") for label, _ in rows) == len(claim.assumes)
    assert sum(label == "added" for label, _ in rows) == len(claim.added)
    assert [text for label, text in rows if label == "failure"] == [x for x in [known.get("severity")] if x]
    shown = claim._repr_markdown_()
    assert shown.startswith(f"**{claim_id}**")
    for label, cell in rows:
        text = cell if cell.startswith("$") else notebook.escaped(cell)
        assert f"- *{label}*: {text}" in shown.splitlines()


def test_a_refutation_says_how_grave_and_what_instead() -> None:
    shown = dp.bounds[REFUTED]._repr_markdown_()
    assert "*failure*: only beyond" in shown
    assert "*instead*: zhang17.lemma9.corrected" in shown


def test_parts_are_shown_one_below_the_other(parts: StatementParts) -> None:
    assert parts._repr_html_() == "".join(claim._repr_html_() for claim in parts)
    assert parts._repr_markdown_().count("*verdict*") == len(parts)


def test_without_a_record_a_claim_is_still_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_record, "_answers", [])
    assert "*verdict*: not recorded" in dp.bounds[REFUTED]._repr_markdown_()
