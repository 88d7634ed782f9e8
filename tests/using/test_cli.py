"""The command line: exit codes, tables, files, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcheck.bounds import index
from dpcheck.bounds.language.claim import Verdict
from dpcheck.bounds.registry import entries
from dpcheck.cli.main import main
from dpcheck.verdicts import record, rows
from dpcheck.verdicts.verify import AGAINST, checks_of


def named(wanted: Callable[[set[str]], bool]) -> list[str]:
    """Claims whose checks are wanted, and those of all their parts: `verify` takes a name with its parts."""
    kinds = {key: {c.kind for c in checks_of(entry)} for key, entry in entries().items()}
    parts = {key: [k for k in kinds if k == key or k.startswith(key + ".")] for key in kinds}
    return [key for key in kinds if all(wanted(kinds[k]) for k in parts[key])]


SYMBOLIC = named(lambda kinds: kinds == {"symbolic"})
# Of one document, every other of those that are no part's common name.
ONE_DOCUMENT = [
    claim_id
    for claim_id in SYMBOLIC
    if claim_id.startswith("zhang17.") and not any(other.startswith(f"{claim_id}.") for other in entries())
][::2]
SHORT = named(lambda kinds: "worst-case" not in kinds)
KEYS = ["id", "source", "kind", "statement", "verdict", "check", "figure", "counterexample", "replay", "seconds"]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache and a wide terminal of our own; the committed record must come out untouched."""
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "220")
    folders = (index.FOLDER, rows.SHOWN, record.FOLDER)
    before = [as_bytes(folder) for folder in folders]
    yield
    assert [as_bytes(folder) for folder in folders] == before


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a person sees it, who gets headings that a pipe does not."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def as_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.json")}


@pytest.fixture
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of all that --record writes; the file of zhang17's verdicts."""
    for room, name in ((record, "FOLDER"), (index, "FOLDER"), (rows, "SHOWN")):
        folder = getattr(room, name)
        copy = tmp_path / "dpcheck" / "own" / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(room, name, copy)
    return record.FOLDER / "zhang17.json"


@pytest.fixture(scope="module")
def symbolic_rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `dpcheck verify --json` writes for claims of a document that have symbolic checks alone."""
    folder = tmp_path_factory.mktemp("symbolic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPCHECK_CACHE", str(folder))
        assert main(["verify", *ONE_DOCUMENT, "--json", str(folder / "v.json"), "--workers", "1"]) == 0
    return list(json.loads((folder / "v.json").read_text()))


# verify --------------------------------------------------------------------------------------------
def test_the_table_and_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "zhang17.lemma9", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    for word in ("zhang17.lemma9.exact", "Lemma 9", "checked by symbolic", "instead zhang17.lemma9.corrected"):
        assert word in shown
    assert "dpcheck replay zhang17.lemma9 --check symbolic" in shown
    assert "3 claims in" in shown
    verdicts = [record.recorded_of(f"zhang17.lemma9{part}")["verdict"] for part in ("", ".corrected", ".exact")]
    counts = Counter(verdict.lower() for verdict in verdicts)
    assert all(f"{number} {verdict}" in shown for verdict, number in counts.items())


@pytest.mark.parametrize("columns", ["80", "100"])
def test_a_narrow_terminal_loses_no_column_and_no_command(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands stay on one line, so that they can be copied."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": columns}.items():
        monkeypatch.setenv(name, value)
    main(["verify", "zhang17.theorem2.approx.proof", "--workers", "1"])
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(len(line) for line in lines if "dpcheck replay" not in line) <= int(columns)
    (command,) = [line for line in lines if line.strip().startswith("dpcheck replay")]
    assert main(shlex.split(command)[1:]) == 0


def test_json_has_the_keys_of_the_design(symbolic_rows: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in symbolic_rows] == ONE_DOCUMENT
    for row in symbolic_rows:
        assert row.keys() >= set(KEYS)
        assert row["verdict"] in [*Verdict]
        assert row["counterexample"] is None or isinstance(row["counterexample"], dict)
        assert (row["replay"] is None) == (row["verdict"] not in AGAINST)
        assert (row["counterexample"] is None) == (row["replay"] is None)
        assert isinstance(row["seconds"], float)
        assert row["statement"] == entries()[row["id"]].claim.text()


def test_symbolic_replays_reproduce(capsys: pytest.CaptureFixture[str]) -> None:
    found = [r for r in record.recorded().values() if r["replay"] and "symbolic" in r["replay"]]
    assert len(found) > 10
    for row in found:
        program, *arguments = shlex.split(row["replay"])
        assert program == "dpcheck"
        assert main(arguments) == 0, row["replay"]
        assert row["verdict"] in capsys.readouterr().out


def test_recorded_replays_of_the_accountant_reproduce() -> None:
    commands = [r["replay"] for r in record.recorded().values() if r["replay"] and "accountant" in r["replay"]]
    assert commands
    assert [main(shlex.split(c)[1:]) for c in commands] == [0] * len(commands)


def test_filters(tmp_path: Path) -> None:
    file = tmp_path / "v.json"
    arguments = ["--source", "zhang17", "--algorithm", "subsampling", "--kind", "privacy"]
    assert main(["verify", *arguments, "--json", str(file), "--workers", "1"]) == 0
    assert [r["id"] for r in json.loads(file.read_text())] == [
        "zhang17.lemma9",
        "zhang17.lemma9.corrected",
        "zhang17.lemma9.exact",
    ]


def test_workers_and_reruns_write_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []
    for workers, cache in (("1", "a"), ("2", "b"), ("2", "b")):
        monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / cache))
        assert main(["verify", "zhang17.lemma9", "--json", str(tmp_path / "v.json"), "--workers", workers]) == 0
        rows.append(json.loads((tmp_path / "v.json").read_text()))
    assert rows[1] == rows[2]  # to the second: the third run read what the second one kept
    for row in (*rows[0], *rows[1]):
        for part in (row, *row["evidence"]):
            del part["seconds"]
    assert rows[0] == rows[1]


def test_html(tmp_path: Path) -> None:
    file = tmp_path / "v.html"
    assert main(["verify", "zhang17.lemma9", "--html", str(file), "--workers", "1"]) == 0
    assert "zhang17.lemma9.exact" in file.read_text()
    assert "REFUTED" in file.read_text()


def test_a_changed_record_is_shown(own_record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(own_record.read_text())
    rows["zhang17.lemma9"]["verdict"] = "CERTIFIED"
    own_record.write_text(json.dumps(rows))
    written = own_record.read_bytes()
    assert main(["verify", "zhang17.lemma9", "--workers", "1"]) == 1
    shown = capsys.readouterr().out
    assert "differ from the record" in shown
    (line,) = [x for x in shown.splitlines() if "zhang17.lemma9:" in x and "CERTIFIED" in x]
    assert "REFUTED" in line
    assert own_record.read_bytes() == written
    assert main(["verify", "zhang17.lemma9.exact", "--workers", "1"]) == 0  # the others are as recorded


def test_only_record_writes(own_record: Path) -> None:
    rows = json.loads(own_record.read_text())
    del rows["zhang17.lemma9"]
    own_record.write_text(json.dumps(rows))
    assert main(["verify", "zhang17.lemma9", "--workers", "1"]) == 1
    assert "zhang17.lemma9" not in json.loads(own_record.read_text())
    assert main(["verify", "zhang17.lemma9", "--workers", "1", "--record"]) == 0
    assert json.loads(own_record.read_text())["zhang17.lemma9"]["verdict"] == "REFUTED"
    assert main(["verify", "zhang17.lemma9", "--workers", "1"]) == 0


# Bad usage -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("verify zhang17.lemma99", "claim is zhang17.lemma99"),
        ("verify zhang17.lemma9 nonsense", "claim is nonsense"),
        ("verify --source nobody", "met by a claim"),
        ("verify --algorithm outpert_gd --kind lower\\ bound", "met by a claim"),
        ("verify zhang17.lemma9 --workers 0", "workers is 0"),
        ("verify zhang17.lemma9 --json missing/v.json", "in a folder that exists"),
        ("verify zhang17.lemma9 --html missing/v.html", "in a folder that exists"),
        ("verify zhang17.lemma9 --json .", "a file, not a folder"),
        ("claims zhang17.lemma99", "Did you mean zhang17.lemma9"),
        ("bounds zhang17.lemma99 --n 3", "claim is zhang17.lemma99"),
        ("bounds zhang17.lemma2 --n ten", "n is ten; it must be a finite number"),
        ("bounds zhang17.lemma2 --n nan", "n is nan; it must be a finite number"),
        ("bounds zhang17.lemma2 --n", "pairs of --NAME VALUE"),
        ("bounds zhang17.lemma2 n=3", "pairs of --NAME VALUE"),
        ("bounds zhang17.lemma2 --n 10 --L 1 --T 3 --eta 0.1 --epsilonn 3", "option is --epsilonn"),
        ("bounds zhang17.lemma2 --n 0 --L 1 --T 3 --eta 0.1", "n is 0"),
        ("bounds zhang17.lemma2 --n 10 --L 1 --T 3", "with ['eta']. eta is the step size"),
        ("bounds zhang17.theorem2 --n 10", "Name the part you mean"),
        ("bounds zhang17.theorem2 --n 10 --d 5 --L 1 --beta 1 --mu 0.1 --eps 0", "eps"),
        ("replay zhang17.lemma9 --check symbolic eps", "point is eps; it must be NAME=VALUE"),
        ("replay zhang17.lemma9 --check symbolic eps=x q=0.1", "eps is x"),
        ("replay zhang17.lemma9 --check symbolic eps=2", "complete, with ['q']"),
        ("replay zhang17.lemma9 --check symbolic eps=2 q=7", "zhang17.lemma9 does not apply"),
        ("replay zhang17.lemma9 --check audit eps=2", "check is audit"),
        ("replay zhang17.theorem1 --check accountant eps=36", "complete, with delta"),
        ("replay zhang17.theorem5.privacy --check audit seed=nan trials=100", "seed is nan"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_2(
    command: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dpcheck: ")
    assert words in err.replace("\n", " ")
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 3
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == []


@pytest.mark.parametrize(
    "command",
    ["", "frobnicate", "verify --kind nonsense", "verify --workers two", "replay zhang17.lemma9", "claims --x"],
)
def test_a_command_that_does_not_parse_exits_2(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command))
    assert stopped.value.code == 2
    assert "usage: dpcheck" in capsys.readouterr().err


@pytest.mark.parametrize("letters", [247, 300])
def test_a_file_that_cannot_be_written(letters: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name too long, for itself or for the temporary file beside it: a sentence, and nothing half-written."""
    file = tmp_path / f"{'x' * letters}.json"
    assert main(["verify", "zhang17.lemma9", "--workers", "1", "--json", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.strip().splitlines()[-1].startswith("dpcheck: ")
    assert "Traceback" not in err
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == []


# claims, bounds, replay ----------------------------------------------------------------------------
def test_the_list_has_every_claim_and_its_verdict(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims"]) == 0
    shown = capsys.readouterr().out
    known = record.recorded()
    for claim_id in entries():
        assert f" {claim_id} " in shown
    assert shown.count("REFUTED") == sum(r["verdict"] == "REFUTED" for r in known.values())
    assert "Zhang, Zheng, Mou, Wang" in shown


def test_the_list_can_be_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--algorithm", "subsampling"]) == 0
    shown = capsys.readouterr().out
    assert "zhang17.lemma9.exact" in shown
    assert "zhang17.lemma2" not in shown


@pytest.mark.parametrize(
    "claim_id", ["zhang17.lemma2", "zhang17.theorem1.corrected", "zhang17.remark.population.convex"]
)
def test_the_page_of_a_claim(claim_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", claim_id]) == 0
    shown = capsys.readouterr().out
    claim, row = entries()[claim_id].claim, record.recorded()[claim_id]
    flat = " ".join(shown.replace("│", " ").split())
    for part in (
        claim.says,
        claim.text(),
        str(claim.source),
        row["verdict"],
        f"bounds/library/{entries()[claim_id].theme}/",
    ):
        assert " ".join(part.split()) in flat
    assert shown.count("assumes") == len(claim.assumes)
    for piece in row["evidence"]:
        assert f"{piece['check']}: {piece['verdict']}. {piece['figure']}" in flat
    assert (claim.unit_gap or "") in flat
    if row["replay"]:
        assert row["replay"] in flat


@pytest.mark.parametrize(
    ("claim_id", "solver", "tests"),
    [
        ("zhang17.lemma9", "dpcheck/evidence/mechanisms/subsampling.py", "tests/mechanisms/test_subsampling.py"),
        ("dwang20.theorem3.1.1", "dpcheck/solvers/convex/dp_svrg.py", "tests/convex/test_dp_svrg.py"),
        ("dwang20.table3.1", "none", "none"),
    ],
)
def test_the_page_names_the_three_files(
    claim_id: str, solver: str, tests: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["claims", claim_id]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"solver {solver}" in shown
    assert f"tests {tests}" in shown


def test_the_list_goes_by_section(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Natural numbers: Lemma 2.1.10 after Lemma 2.1.9, section 3.1 after 2.1."""
    assert main(["claims", "dwang20"]) == 0
    shown = capsys.readouterr().out
    marks = ["Section 2.1", "dwang20.lemma2.1.9 ", "dwang20.lemma2.1.10 ", "Section 3.1", "dwang20.theorem3.1.1 "]
    places = [shown.index(mark) for mark in marks]
    assert places == sorted(places)


def test_bounds_evaluates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("bounds zhang17.lemma2 --n 100 --T 10 --L 2 --eta 0.5")) == 0
    shown = capsys.readouterr().out
    assert "Δ_T: 0.3" in shown
    assert "verdict: LOOSE" in shown


def test_bounds_picks_the_part(capsys: pytest.CaptureFixture[str]) -> None:
    point = "--n 10000 --d 50 --eps 1 --L 1 --beta 0.25 --mu 0.01"
    assert main(shlex.split(f"bounds zhang17.theorem2 {point} --delta 1e-5")) == 0
    assert "zhang17.theorem2.approx:" in capsys.readouterr().out
    assert main(shlex.split(f"bounds zhang17.theorem2 {point}")) == 0
    assert "zhang17.theorem2.pure:" in capsys.readouterr().out


def test_bounds_names_the_hypothesis_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("bounds zhang17.lemma2 --n 10 --T 1 --L 1 --eta 2 --beta 1")) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "zhang17.lemma2 does not apply" in err
    assert "η ≤ 1/β" in err


def test_bounds_warns_of_a_refuted_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("bounds zhang17.lemma9 --eps 2 --q 0.1")) == 0
    assert "corrected: zhang17.lemma9.corrected, zhang17.lemma9.exact" in capsys.readouterr().out


def test_a_replay_where_nothing_shows_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("replay zhang17.lemma9 --check symbolic eps=0.1 q=0.1")) == 1
    assert "does not show here" in capsys.readouterr().out


def test_a_property_replays_with_whole_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """A seed is a whole number on the command line too."""
    command = "replay zhang17.lemma2 --check property n=2 d=1 T=1 seed=3 step=0.5 l2=0.1 opposite=1"
    assert main(shlex.split(command)) == 1
    assert "measured" in capsys.readouterr().out


# Ctrl-C --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("workers", "names"), [("1", ONE_DOCUMENT), ("2", SHORT)], ids=["alone", "two workers"])
def test_ctrl_c_shows_what_is_known(workers: str, names: list[str], tmp_path: Path) -> None:
    """Stopped as soon as the first claim is done."""
    file = tmp_path / "v.json"
    surroundings = os.environ | {"DPCHECK_CACHE": str(tmp_path / "cache"), "COLUMNS": "220"}
    command = [sys.executable, "-m", "dpcheck.cli.main", "verify", *names, "--workers", workers, "--json", str(file)]
    run = subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not [*(tmp_path / "cache").rglob("*.*.json")] and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)
    finally:
        run.kill()
    assert run.returncode == 130, err
    assert f"of {len(names)} claims (stopped early)" in out
    assert "Traceback" not in err
    assert "a rerun goes on from here" in err
    known = json.loads(file.read_text())
    assert 1 <= len(known) < len(names)
    kept = {f.stem for f in (tmp_path / "cache").rglob("*.*.json")}
    assert {row["id"] for row in known} <= kept
