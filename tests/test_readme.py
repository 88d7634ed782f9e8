"""The README shows real output: its table must be what was recorded."""

import re
import shlex
from pathlib import Path

import pytest

from dpcheck.cli.main import main
from dpcheck.report.verdicts_page import with_record
from dpcheck.verdicts.failures import rank_of
from dpcheck.verdicts.verify import recorded


def cell(text: str) -> str:
    """As it stands in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^dpcheck (?:verify|claims|bounds|replay) .*$", README, re.MULTILINE)


def test_the_table_is_the_recorded_one():
    table = README.split("<!-- verdicts -->")[1].split("\n\n")[0].strip().splitlines()[2:]
    known = recorded()
    assert len(table) >= 8
    for line in table:
        claim, verdict, failure, figure, instead = (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        row = known[claim]
        assert row["verdict"] == verdict
        assert figure in [cell(piece["figure"]) for piece in row["evidence"] if piece["verdict"] == verdict]
        assert (failure, instead) == tuple(cell(row.get(name, "")) for name in ("severity", "instead"))
    ranks = [rank_of(known[line.split("|")[1].strip()].get("severity", "")) for line in table]
    assert ranks == sorted(ranks)  # the gravest first


def test_the_number_of_claims_is_true():
    assert int(re.search(r"\((\d+) claims so far", README)[1]) == len(recorded())


@pytest.mark.parametrize("line", [c for c in COMMANDS if "--thorough" not in c])
def test_the_commands_work(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)
    assert main(words[1:]) == 0
    assert capsys.readouterr().out


def test_recording_keeps_the_table_true():
    """A row that went stale, in its verdict, figure or checks, is written anew; the rest of the page is untouched."""
    row = next(line for line in README.splitlines() if line.startswith("| zhang17.theorem1 |"))
    stale = README.replace(row, "| zhang17.theorem1 | PROVED |  | audited eps >= 1.0, claimed 60 |  |")
    stale = re.sub(r"\(\d+ claims so far", "(7 claims so far", stale)
    assert stale != README
    assert with_record(stale, recorded()) == README


def test_the_table_is_ordered_by_failure():
    graves = {"a": "misprint: the right form is x", "b": "privacy failure: at ε ≤ 1", "c": "rate: by d"}
    seen = [{"verdict": "REFUTED", "figure": "f"}]
    record = {
        name: {"verdict": "REFUTED", "severity": grave, "instead": "this|that", "evidence": seen}
        for name, grave in graves.items()
    }
    titles = "| claim | verdict | figure | checked by |\n|---|---|---|---|\n"
    table = titles + "".join(f"| {name} | PROVED | g | symbolic |\n" for name in ("a", "b", "gone", "c"))
    found = with_record(f"(1 claims so far)\n<!-- verdicts -->\n{table}\nrest", record)
    rows = found.splitlines()[4:7]
    assert [row.split("|")[1].strip() for row in rows] == ["b", "c", "a"]
    assert rows[0] == "| b | REFUTED | privacy failure: at ε ≤ 1 | f | this\\|that |"
    assert found.startswith("(3 claims so far)")
    assert with_record(found, record) == found


def test_the_commands_are_found():
    assert len(COMMANDS) >= 5
