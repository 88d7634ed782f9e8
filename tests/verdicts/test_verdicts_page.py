"""docs/verdicts.md against dpcheck/verdicts/record, which it must agree with; and the rule of its order."""

from __future__ import annotations

import copy
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcheck.bounds import index
from dpcheck.bounds.language.claim import Verdict
from dpcheck.bounds.language.evidence import Provenance
from dpcheck.cli.main import main
from dpcheck.report import verdicts_page
from dpcheck.verdicts import record
from dpcheck.verdicts import rows as room
from dpcheck.verdicts.catalogue import CatalogueRow, catalogue
from dpcheck.verdicts.record import recorded

README = Path(__file__).parents[2] / "README.md"
PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
VERDICTS = "|".join(["not recorded", *(v.value for v in Verdict)])
ROW = re.compile(
    rf"^\| `([\w.]+)` \| (.*) \| ({VERDICTS}) \| ((?:[^|]|\\\|)*) \| (.*) \| `(dpcheck .*)` \|$", re.MULTILINE
)


def shown(piece: dict[str, Any]) -> str:
    """The figure with the part of the claim it is about and what a proof is given."""
    given = f"; given: {'; '.join(piece['premises'])}" if "premises" in piece else ""
    part = f" ({piece['part']})" if "part" in piece and piece["part"] not in piece["figure"] else ""
    return f"{piece['figure']}{part}{given}".replace("|", "\\|")


def disagreements(page: str, record: dict[str, Any]) -> set[str]:
    """Claims whose row is missing, or not what the record says: read from the page, not from what wrote it."""
    seen = {claim: tuple(cells) for claim, _, *cells in ROW.findall(page)}
    wrong = {claim for claim in record if claim not in seen}
    for claim, (verdict, failure, figure, again) in seen.items():
        kept = record.get(claim, {"verdict": "not recorded", "evidence": [], "replay": None})
        figures = [shown(e) for e in kept["evidence"] if e["verdict"] == verdict] or [""]
        replay = (kept["replay"] or f"dpcheck verify {claim}").replace("|", "\\|")
        same = (verdict, failure, again) == (kept["verdict"], kept.get("severity", "").replace("|", "\\|"), replay)
        if not same or figure not in figures:
            wrong.add(claim)
    return wrong


def test_the_page_agrees_with_the_record() -> None:
    assert disagreements(PAGE.read_text(encoding="utf-8"), recorded()) == set()


@pytest.mark.parametrize("part", ["verdict", "figure", "replay", "claim"])
def test_a_planted_difference_is_caught(part: str) -> None:
    record = copy.deepcopy(recorded())
    kept = record["zhang17.lemma9"]
    if part == "verdict":
        kept["verdict"] = "PROVED"
    elif part == "figure":
        kept["evidence"][0]["figure"] += " or so"
    elif part == "replay":
        kept["replay"] += " q=1"
    else:
        record["zhang17.lemma999"] = record.pop("zhang17.lemma9")
    found = disagreements(PAGE.read_text(encoding="utf-8"), record)
    assert found == ({"zhang17.lemma9", "zhang17.lemma999"} if part == "claim" else {"zhang17.lemma9"})


def test_the_page_is_as_the_command_would_write_it() -> None:
    """If this fails alone: a claim was added or reworded. `dpcheck verify --record` writes the page anew."""
    written, anew = PAGE.read_text(encoding="utf-8"), verdicts_page.page(recorded(), catalogue())
    differing = set(written.splitlines()) ^ set(anew.splitlines())
    assert not differing, "run `dpcheck verify --record`"  # these lines, not two pages of seven hundred rows
    assert written == anew


def test_the_counts_add_up() -> None:
    text = PAGE.read_text(encoding="utf-8")
    totals = re.findall(r"^\| all \| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert len(totals) == 2  # what is printed, and what is ours
    counts = Counter(row["verdict"] for row in recorded().values())
    columns = [[int(x.strip() or 0) for x in cells.split("|")][: len(Verdict)] for _, cells in totals]
    assert [sum(both) for both in zip(*columns, strict=True)] == [counts[v.value] for v in Verdict]
    assert sum(int(number) for number, _ in totals) == len(ROW.findall(text))
    printed = sum(row.provenance == Provenance.PRINTED for row in catalogue().values())
    assert int(totals[0][0]) == printed


# The order of the refutations ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("figure", "grade"),
    [
        ("audited eps >= 6.989 at delta 0.001, claimed 1", (0, 6.989)),
        ("no c₂ works: it must exceed 2.02, 3.13 at T·λ for λ = 1, 10", (1, 1.0)),
        ("no constant works: value/rate is 4.077, and 1001x that 1000 times later", (1, 1.0)),
        ("parameter times 1e+06: left/right grows 1e+06x", (1, 1.0)),
        ("reaches 3, stated at most 1.5", (2, 2.0)),
        ("ε = 10: delta is 2e-05, stated 1e-05; 5 times the noise holds", (2, 2.0)),
        ("is 0.5523, stated 0.5523-3.142j", (2, 1.0)),
        ("reaches 9.99, stated at most -9.99", (2, float("inf"))),
        ("better error in 3 of 12 settings, less work in 5", (3, 1.0)),
    ],
)
def test_figures_are_graded(figure: str, grade: tuple[int, float]) -> None:
    found = verdicts_page.grade(figure)
    assert found == (grade[0], pytest.approx(grade[1]))


def rows_and_record(
    *claims: tuple[str, str, list[str], tuple[str, ...]],
) -> tuple[dict[str, CatalogueRow], dict[str, Any]]:
    rows, record = {}, {}
    for claim_id, kind, figures, cites in claims:
        rows[claim_id] = CatalogueRow(claim_id, "convex", "a", claim_id.split(".")[0], "", kind, "", "", None, cites)
        evidence = [{"check": "symbolic", "verdict": "REFUTED", "figure": f, "detail": ""} for f in figures]
        record[claim_id] = {"verdict": "REFUTED", "replay": "dpcheck replay x", "evidence": evidence}
    return rows, record


def test_the_order_is_the_rule_on_the_page() -> None:
    rows, record = rows_and_record(
        ("zhang17.lemma1", "privacy", ["no c works: it must exceed 2, 3"], ()),
        ("zhang17.lemma2", "privacy", ["reaches 1, stated at most 2", "audited eps >= 3 at delta 0.1, claimed 1"], ()),
        ("zhang17.theorem1", "privacy", ["audited eps >= 60 at delta 0.1, claimed 30"], ()),
        ("zhang17.lemma3", "privacy", ["no c works: it must exceed 2, 3"], ("zhang17.lemma4",)),
        ("zhang17.lemma4", "privacy", ["no c works: it must exceed 2, 3"], ()),
        ("zhang17.theorem2", "privacy", ["no c works: it must exceed 2, 3"], ()),
    )
    found = [r.row.id.partition(".")[2] for r in verdicts_page.refutations(record, rows)]
    assert found == ["lemma2", "theorem1", "theorem2", "lemma4", "lemma1", "lemma3"]
    assert verdicts_page.rest_on("zhang17.lemma4", rows) == {"zhang17.lemma3"}


def test_every_refuted_privacy_claim_on_the_page_has_evidence() -> None:
    found = verdicts_page.refutations(recorded(), {k: r for k, r in catalogue().items() if k in recorded()})
    refuted = {k for k, v in recorded().items() if v["verdict"] == "REFUTED"}
    assert {r.row.id for r in found} == {k for k in refuted if catalogue()[k].provenance == Provenance.PRINTED}
    assert [r.order for r in found] == sorted(r.order for r in found)
    assert all(r.grade < 3 for r in found if r.row.kind == "privacy")


# The command ---------------------------------------------------------------------------------------
def test_markdown_and_record_write_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--markdown anywhere, with this run's verdicts; --record beside the record, if there is a docs folder."""
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    before = PAGE.read_bytes()
    rows = recorded()
    del rows["zhang17.lemma9"]
    for module, name, folder in ((record, "FOLDER", "record"), (index, "FOLDER", "index"), (room, "SHOWN", "shown")):
        monkeypatch.setattr(module, name, tmp_path / "dpcheck" / "verdicts" / folder)
        getattr(module, name).mkdir(parents=True)
    record.write(rows)
    file = tmp_path / "page.md"
    assert main(["verify", "zhang17.lemma9", "--workers", "1", "--markdown", str(file)]) == 1
    assert disagreements(file.read_text(encoding="utf-8"), rows) == {"zhang17.lemma9"}
    assert re.search(r"\| REFUTED \| only beyond: [^|]* \| reaches 0.494", file.read_text(encoding="utf-8"))
    assert main(["verify", "zhang17.lemma9", "--workers", "1", "--record"]) == 0
    (tmp_path / "docs").mkdir()
    readme, true = tmp_path / "README.md", README.read_text(encoding="utf-8")
    readme.write_text(true.replace("audited eps >= 8", "audited eps >= 7"), encoding="utf-8")
    assert main(["verify", "zhang17.lemma9", "--workers", "1", "--record"]) == 0
    assert disagreements((tmp_path / "docs" / "verdicts.md").read_text(encoding="utf-8"), recorded()) == set()
    assert readme.read_text(encoding="utf-8") == true
    assert PAGE.read_bytes() == before


def test_whose_statement_it_is_and_what_is_added_are_marked() -> None:
    row = CatalogueRow("zhang17.lemma1", "convex", "a", "zhang17", "", "privacy", "", "It holds.")
    assert verdicts_page.marked(row) == "It holds."
    ours = replace(row, provenance="our reading", details=("assumes: n ≥ 2", "added: δ ≤ 1/2"))
    assert verdicts_page.marked(ours) == "It holds. *(our reading)* *(added: δ ≤ 1/2)*"
