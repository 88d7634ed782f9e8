"""`dpcheck audit`: exit codes, files, interruption, resumption, and errors in one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck.cli.main import main

MECHANISMS = """
import time
import numpy as np

def good(data, rng, trials):
    return data.mean() + rng.laplace(scale=1 / len(data), size=trials)

def half(data, rng, trials):
    return data.mean() + rng.laplace(scale=0.5 / len(data), size=trials)

def one_run(data, rng):
    return float(half(data, rng, 1)[0])

def slow(data, rng, trials):
    time.sleep(0.02)
    with open("calls", "a") as file:
        file.write("x")
    return half(data, rng, trials)

def fussy(data, rng, trials):
    return data.mean() + rng.gamma(2.0, size=trials)

def gauss(data, rng, trials):
    return data.sum() + rng.normal(scale=2.0, size=trials)

def raises(data, rng, trials):
    return deeper(data)

def deeper(data):
    raise ZeroDivisionError("pole")

def binary(data, rng, trials):
    assert set(data.tolist()) <= {0.0, 1.0}, "attacked where no record can be"
    return half(data, rng, trials)

def letters(data, rng, trials):
    return (data == "b").mean() + rng.laplace(scale=0.5 / len(data), size=trials)

def impatient(data, rng, trials):
    raise KeyboardInterrupt

class Holder:
    inner = staticmethod(half)

number = 3
"""
WHERE = ("--replace-one", "0", "1", "--n", "5")
QUICK = ("--trials", "2e4", "--alpha", "1e-6")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with mechanisms to audit."""
    (tmp_path / "shop.py").write_text(MECHANISMS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    return tmp_path


def call(*words: str) -> int:
    try:
        return main(["audit", *words])
    except SystemExit as stop:
        return int(stop.code or 0)


def test_exit_codes_say_the_verdict(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("shop:good", "--epsilon", "1", *WHERE, *QUICK) == 0
    assert "not violated: PureDP(eps=1; replace-one)" in capsys.readouterr().out
    assert call("shop:half", "--epsilon", "1", *WHERE, *QUICK) == 1
    assert "VIOLATED: PureDP(eps=1; replace-one)" in capsys.readouterr().out
    assert call("shop:Holder.inner", "--epsilon", "1", "--delta", "1e-5", *WHERE, *QUICK) == 1
    assert "ApproxDP(eps=1, delta=1e-05; replace-one)" in capsys.readouterr().out


def test_claims_and_relations_of_other_kinds(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("pair.npz", np.array([1.0, 0, 0]), np.zeros(2))
    near = ("--add-remove", "0", "1", "--n", "3", "--pair", "pair.npz", *QUICK)
    assert call("shop:gauss", "--mu", "0.5", *near) == 0
    assert call("shop:gauss", "--mu", "0.25", *near) == 1
    assert call("shop:gauss", "--rho", "0.01", *near) == 1
    assert "ZCDP(rho=0.01; add/remove-one)" in capsys.readouterr().out
    assert call("shop:half", *WHERE, *QUICK) == 0
    assert "measured" in capsys.readouterr().out
    ball = ("--replace-one", "0", "1", "--n", "2", "--d", "2", "--ball", "l2", "--trials", "1e3", "--alpha", "1e-6")
    assert call("shop:half", "--epsilon", "1", *ball) == 1
    assert "array([[" in capsys.readouterr().out


def test_by_replay(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = ("--method", "replay", "--epsilon", "1", *WHERE)
    assert call("shop:good", *again, "--json", "r.json") == 0
    assert json.loads(Path("r.json").read_text())["verdict"] == "kept on this pair"
    assert call("shop:one_run", "--per-run", *again, "--html", "r.html") == 1
    assert "shop.py:9" in capsys.readouterr().out
    assert "shop:one_run: violated" in Path("r.html").read_text()
    assert call("shop:good", *again, "--hostile") == 1
    assert "nan" in capsys.readouterr().out
    assert call("shop:fussy", *again) == 3
    assert "unseen" in capsys.readouterr().out
    assert call("shop:good", "--method", "replay", *WHERE) == 2  # no claim to compare with
    assert call("shop:good", "--epsilon", "1", "--hostile", *WHERE) == 2


def test_files_hold_the_result(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("pair.npz", first=np.zeros(5), second=np.eye(5)[0])
    options = ("--epsilon", "1", "--pair", "pair.npz", *QUICK)
    assert call("shop:half", *options, "--json", "r.json", "--html", "r.html") == 1
    said = json.loads(Path("r.json").read_text())
    assert said["violated"]
    assert said["pair"] == [[0.0] * 5, [1.0, 0, 0, 0, 0]]
    page = Path("r.html").read_text()
    assert "shop:half: VIOLATED" in page
    assert "<svg" in page or "matplotlib is not installed" in page
    capsys.readouterr()
    assert call("shop:half", *options, "--json") == 1
    again = json.loads(capsys.readouterr().out)
    assert {**again, "seconds": 0} == {**said, "seconds": 0}


def test_records_can_be_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen: binary data attacked at 0.5, which no dataset has."""
    assert call("shop:binary", "--epsilon=1", "--replace-one", "--values", "0", "1", "--n", "5", *QUICK) == 1
    assert (
        call("--epsilon=1", "--n", "5", *QUICK, "--replace-one", "0", "1", "shop:good") == 0
    )  # the target may be last
    assert call("shop:binary", "--epsilon=3", "--add-remove", "--values", "0", "1", "--n", "5", *QUICK) == 0
    capsys.readouterr()
    assert call("shop:letters", "--epsilon", "1", "--replace-one", "--values", "a", "b", "--n", "5", *QUICK) == 1
    assert "'b'" in capsys.readouterr().out


def test_a_mechanism_that_raises_shows_its_own_lines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen: ninety lines, mostly ours."""
    assert call("shop:raises", "--epsilon", "1", *WHERE) == 2
    said = capsys.readouterr().err
    assert ["in raises" in said, "in deeper" in said, "dpcheck/audits" in said] == [True, True, False]
    assert len(said.splitlines()) <= 15


def test_one_run_functions_and_workers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--per-run", "--epsilon", "1", *WHERE, "--trials", "4000", "--json")
    assert call("shop:one_run", *options) == 1
    alone = json.loads(capsys.readouterr().out)
    assert call("shop:one_run", *options, "--workers", "2") == 1
    assert {**json.loads(capsys.readouterr().out), "seconds": 0} == {**alone, "seconds": 0}


def test_stopping_early_takes_fewer_trials(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("shop:half", "--epsilon", "1", *WHERE, "--trials", "1e5", "--stop-early", "--json") == 1
    assert json.loads(capsys.readouterr().out)["trials"] < 1e5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nope:x", *WHERE), "module is nope"),
        (("shop:nope", *WHERE), "name is nope"),
        (("shop", *WHERE), "MODULE:NAME"),
        (("shop:number", *WHERE), "a function (data, rng, trials)"),
        (("shop:good", "--epsilon", "1"), "--replace-one 0 1 --n 10"),
        (("shop:good", "--epsilon", "-1", *WHERE), "finite number > 0"),
        (("shop:good", "--epsilon", "1", "--mu", "1", *WHERE), "one of them"),
        (("shop:good", "--epsilon", "1", *WHERE, "--local", "0", "1"), "one of them"),
        (("shop:good", "--epsilon", "1", "--pair", "no.npz"), "savez"),
        (("shop:good", "--epsilon", "1", "--pair", "shop.py"), "savez"),
        (("shop:good", "--epsilon", "1", *WHERE, "--json", "no/such/r.json"), "Create the folder first"),
        (("shop:good", "--epsilon", "1", *WHERE, "--workers", "0"), "workers is 0"),
        (("shop:good", "--epsilon", "1", *WHERE, "--alpha", "2"), "alpha is 2"),
        (("shop:good", "--epsilon", "1", *WHERE, "--trials", "1.5"), "not a whole number"),
        (("shop:good", "--epsilon", "1", *WHERE, "--nonsense"), "unrecognized arguments"),
        (("shop:raises", "--epsilon", "1", *WHERE), "ZeroDivisionError: pole"),
        (("shop:binary", "--epsilon", "1", "--values", "0", "1"), "beside a relation"),
        (("shop:binary", "--epsilon", "1", *WHERE, "--values", "0", "1"), "beside --replace-one LOW HIGH"),
        (("shop:binary", "--epsilon", "1", "--local", "--values", "0"), "at least two different values"),
        (("shop:good", "--epsilon", "1", "--add-remove", "1"), "--add-remove is 1; it must be LOW HIGH"),
        (("shop:good", "--epsilon", "1", "--replace-one"), "--replace-one is given alone"),
    ],
)
def test_bad_usage_is_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert call(*words) == 2
    heard = capsys.readouterr()
    assert said in " ".join(heard.err.split())
    assert "Traceback" not in heard.err
    assert heard.out == ""


def test_interrupted_at_once_it_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("shop:impatient", "--epsilon", "1", *WHERE, "--json", "k.json", "--checkpoint", "kept") == 130
    said = capsys.readouterr()
    assert "stopped after 0 of 1000000 trials" in said.out
    assert "kept in kept" in said.err
    assert json.loads(Path("k.json").read_text())["interrupted"]


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dpcheck.cli.main", "audit", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env={**os.environ, "COLUMNS": "200"}, **pipes)


def until_progress(process: subprocess.Popen[str]) -> str:
    """Wait for the first line of progress."""
    assert process.stderr is not None
    return next(line for line in process.stderr if "so far" in line)


SLOW = ("shop:slow", "--epsilon", "1", "--pair", "pair.npz", "--trials", "100000")


def test_interrupted_it_says_what_is_known(here: Path) -> None:
    np.savez("pair.npz", first=np.zeros(5), second=np.eye(5)[0])
    process = start(here, *SLOW, "--json", "known.json")
    until_progress(process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "epsilon" in out
    known = json.loads(Path("known.json").read_text())
    assert 0 < known["trials"] < 100_000
    assert known["epsilon_lower"] > 0


def test_killed_it_resumes_with_the_same_bits(here: Path) -> None:
    np.savez("pair.npz", first=np.zeros(5), second=np.eye(5)[0])
    process = start(here, *SLOW, "--checkpoint", "kept")
    until_progress(process)
    process.kill()
    process.communicate(timeout=30)
    counted = {}
    for name, more in {"resumed": ("--checkpoint", "kept"), "whole": ()}.items():
        Path("calls").unlink()
        assert call(*SLOW, *more, "--json", f"{name}.json") == 1
        counted[name] = Path("calls").stat().st_size
    assert counted["resumed"] < counted["whole"]
    resumed, whole = (json.loads(Path(f"{name}.json").read_text()) for name in counted)
    assert {**resumed, "seconds": 0} == {**whole, "seconds": 0}
