"""The README shows real output: its table must be what was recorded."""

import re
import shlex
from pathlib import Path

import pytest

from dpcheck.cli.main import main
from dpcheck.report.verdicts_page import with_record
from dpcheck.verdicts.verify import recorded

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^dpcheck (?:verify|claims|bounds|replay) .*$", README, re.MULTILINE)


def test_the_table_is_the_recorded_one():
    table = README.split("<!-- verdicts -->")[1].split("\n\n")[0].strip().splitlines()[2:]
    known = recorded()
    assert len(table) >= 8
    for line in table:
        claim, verdict, figure, checks = (cell.strip() for cell in line.strip("|").split("|"))
        row = known[claim]
        assert row["verdict"] == verdict
        assert figure in [piece["figure"] for piece in row["evidence"] if piece["verdict"] == verdict]
        assert checks == ", ".join(dict.fromkeys(piece["check"] for piece in row["evidence"]))


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
    stale = README.replace(row, "| zhang17.theorem1 | PROVED | audited eps >= 1.0, claimed 60 | audit |")
    stale = re.sub(r"\(\d+ claims so far", "(7 claims so far", stale)
    assert stale != README
    assert with_record(stale, recorded()) == README


def test_the_commands_are_found():
    assert len(COMMANDS) >= 5
