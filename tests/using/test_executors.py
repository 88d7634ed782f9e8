"""`verify`, `measure`, `audit` and the benchmarks on the executors that audits take, with the same bits everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from benchmarks import search, validity
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Effort
from dpcheck.cli.main import main
from dpcheck.datasets import logistic_synthetic
from dpcheck.theory.measurement import measure
from dpcheck.verdicts import mutants, verify

FEW = ["zhang17.lemma9", "zhang17.lemma9.exact", "zhang17.algorithm1.pure"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))


def judged(executor: Any) -> dict[str, Any]:
    """Verdicts and evidence, without the seconds that they took."""
    done = {j.id: j for j in verify.run(FEW, Effort(), executor=executor, fresh=True)}
    return {k: (j.verdict, tuple(replace(e, seconds=0.0) for e in j.evidence), j.severity) for k, j in done.items()}


def test_verdicts_have_the_same_bits_on_a_cluster(dask: Any) -> None:
    """Symbolic, property and audit."""
    assert judged(dask) == judged(1)


def test_a_worker_with_other_files_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    piece = verify.Piece(FEW[0], verify.current().contents[FEW[0]])
    assert verify.Judge(Effort(), verify.libraries())(piece).id == FEW[0]
    with pytest.raises(InvalidInput, match=r"the files and libraries that zhang17\.lemma9 was sent with"):
        verify.Judge(Effort(), verify.libraries())(replace(piece, content="other"))
    with pytest.raises(InvalidInput, match="Install the same versions"):
        verify.Judge(Effort(), "python 2, sympy 0.1")(piece)


def test_measurements_have_the_same_bits_on_a_cluster(dask: Any) -> None:
    def run(executor: Any) -> dict[str, Any]:
        return measure(
            "dp_gd",
            lambda n: logistic_synthetic(n=n, d=3, seed=0).problem(dp.Logistic(), l2=0.1),
            {"n": [50, 100]},
            trials=5,
            executor=executor,
        ).to_json()

    here = run(None)
    assert run(dask) == here
    assert run(2) == here


def test_benchmarks_have_the_same_bits_on_a_cluster(dask: Any) -> None:
    case, name = validity.cases()["randomised response"], "parity of a count"
    runs = [
        (
            validity.measure(case, 6, 200, place) | {"seconds": 0.0},
            search.measured(name, search.REPORTED[name], range(3), 400, place),
        )
        for place in (1, 2, dask)
    ]
    assert runs[0] == runs[1] == runs[2]


# The command line ------------------------------------------------------------------------------------
def test_the_command_line_takes_a_cluster(dask: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = dask.scheduler.address
    rows = []
    for where in ("processes:1", "processes:2", f"dask:{address}"):
        file = tmp_path / "v.json"
        assert main(["verify", "zhang17.lemma9", "--fresh", "--executor", where, "--json", str(file)]) == 0
        rows.append([{**row, "seconds": 0, "evidence": 0} for row in json.loads(file.read_text())])
    assert rows[0] == rows[1] == rows[2]
    capsys.readouterr()
    for words in (
        ["measure", "outpert_gd", "--over", "n", "50", "100", "--trials", "10", "--l2", "0.1", "--json"],
        ["rank", "--n", "1e5", "--d", "50", "--eps", "1"],
        ["verify", "zhang17.lemma9", "--mutants"],
    ):
        said = []
        for where in ("processes:1", f"dask:{address}"):
            assert main([*words, "--executor", where]) == 0
            said.append(capsys.readouterr().out)
        assert said[0] == said[1]


def test_an_audit_on_the_command_line_takes_a_cluster(dask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for where in ("processes:1", f"dask:{dask.scheduler.address}"):
        words = ["audit", "benchmarks.strength:laplace", "--epsilon", "0.5", "--local", "0", "1", "--trials", "3000"]
        assert main([*words, "--json", "--executor", where]) == 1
        said.append({**json.loads(capsys.readouterr().out), "seconds": 0})
    assert said[0] == said[1]
    assert np.isfinite(said[0]["epsilon_lower"])


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("verify zhang17.lemma9 --executor threads:2", "processes:N with N >= 1, or dask:ADDRESS"),
        ("verify zhang17.lemma9 --workers 2 --executor processes:2", "--workers N is short for"),
        ("measure dp_gd --over n 50 100 --workers 0", "workers is 0"),
        ("audit benchmarks.strength:laplace --local 0 1 --executor dask:", "processes:N"),
    ],
)
def test_bad_executors_are_one_sentence(command: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def outcomes(executor: Any, **how: Any) -> list[Any]:
    """What became of each mutant, without the seconds that it took."""
    return [replace(o, seconds=0.0) for o in mutants.survey(FEW, executor=executor, **how).outcomes]


def test_mutants_fare_alike_on_a_cluster(dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, and a share; what a cluster judged is kept here."""
    here = outcomes(1)
    assert here
    for name, executor in (("processes", 2), ("cluster", dask)):
        monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / name))
        assert outcomes(executor) == here
        assert outcomes(executor, sample_size=2, seed=3) == outcomes(1, sample_size=2, seed=3)
        with monkeypatch.context() as nothing_is_sent:
            nothing_is_sent.setattr(mutants, "spread", lambda work, pieces, places: iter(pieces))
            assert outcomes(executor) == here


def test_rankings_have_the_same_bits_on_a_cluster(dask: Any) -> None:
    problem: dict[str, Any] = {"n": 1e5, "d": 50, "eps": 1.0, "strongly_convex": 0.01}
    here = dp.rank(**problem)
    for executor in (2, dask):
        there = dp.rank(**problem, executor=executor)
        assert there.to_json() == here.to_json()
        assert [row.value for g in there.groups for row in g.rows] == [row.value for g in here.groups for row in g.rows]
        assert str(there) == str(here)
