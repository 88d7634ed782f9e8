"""One statement of two documents: ids, places, corrections and citations of the pair."""

from __future__ import annotations

from sympy import Integer

from dpcheck.bounds.language.claim import Cites, Kind, Rate
from dpcheck.bounds.language.printed_twice import PrintedTwice, again, place_of
from dpcheck.bounds.language.symbols import n, ratio

both = PrintedTwice("wangxu19", "dwang20")
STATEMENT = {"kind": Kind.UTILITY, "says": ".", "states": Rate(ratio, Integer(1) / n)}


def test_each_document_has_its_own_id_and_place() -> None:
    ours, theirs = both("lemma1", "lemma4.1.7", ".sum", **STATEMENT)
    assert (ours.id, theirs.id) == ("wangxu19.lemma1.sum", "dwang20.lemma4.1.7.sum")
    assert (str(ours.source), str(theirs.source)) == ("wangxu19, Lemma 1", "dwang20, Lemma 4.1.7")
    assert ours.corrects is None
    assert (ours.states, ours.says) == (theirs.states, theirs.says)
    placed = both("lemma1", "lemma4.1.7", places=("here", "there"), lines=(7, 2718), **STATEMENT)
    assert [(claim.source.place, claim.source.line) for claim in placed] == [("here", 7), ("there", 2718)]


def test_a_correction_names_the_claim_of_its_own_document() -> None:
    pair = both("lemma1", "lemma4.1.7", ".sum.corrected", **STATEMENT)
    assert [claim.corrects for claim in pair] == ["wangxu19.lemma1.sum", "dwang20.lemma4.1.7.sum"]
    whole = both("lemma1.corrected", "lemma4.1.7.corrected", **STATEMENT)
    assert [(claim.corrects, claim.source.place) for claim in whole] == [
        ("wangxu19.lemma1", "Lemma 1"),
        ("dwang20.lemma4.1.7", "Lemma 4.1.7"),
    ]


def test_citations_are_shared_or_by_document() -> None:
    one = Cites("dwang20.lemma2.1.7")
    assert [claim.cites for claim in both("lemma1", "lemma4.1.7", cites=[one], **STATEMENT)] == [[one], [one]]
    assert [c.cites for c in both("lemma1", "lemma4.1.7", cites={"dwang20": [one]}, **STATEMENT)] == [[], [one]]


def test_a_statement_from_elsewhere() -> None:
    first, _ = both("lemma1", "lemma4.1.7", **STATEMENT)
    pair = both.again(first, "lemma9", "lemma4.1.9", ".corrected")
    assert [claim.corrects for claim in pair] == ["wangxu19.lemma9", "dwang20.lemma4.1.9"]
    assert str(again(first, "zhang17.lemma3", "Lemma 3", 9).source) == "zhang17, Lemma 3 (line 9)"
    assert pair[0].states is first.states


def test_places_of_numbers() -> None:
    assert place_of("lemma5.6.2.corrected") == "Lemma 5.6.2"
    assert place_of("section.experiments.eps") == "Section"
