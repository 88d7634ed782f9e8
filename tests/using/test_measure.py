"""Measured error against bounds: intervals that cover, bounds that hold, planted noise, pictures that speak."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, PureDP
from dpcheck.bounds.registry import library
from dpcheck.cli.main import main
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD
from dpcheck.testing.planting import planted
from dpcheck.theory.measurement import Measurement, measure


def strong(size: int, dim: int = 3) -> Problem:
    return logistic_synthetic(size, dim, seed=1).problem(Logistic(), l2=0.1)


@pytest.fixture(scope="module")
def over_n() -> Measurement:
    return measure("outpert_gd", strong, {"n": [100, 200, 400]}, guarantee=PureDP(1.0), trials=100)


def test_measured_error_lies_in_the_corridor(over_n: Measurement) -> None:
    certified, lower = over_n.line("certified"), over_n.line("lower")
    assert certified is not None
    assert certified.claim == "zhang17.theorem2.pure.proof"
    assert certified.explicit
    assert lower is not None
    assert lower.claim == "dwang20.table3.1.lower.scaled"
    assert np.all(over_n.mean < certified.values)
    assert over_n.exceeded == []
    assert np.all(over_n.low < over_n.mean)
    assert np.all(over_n.mean < over_n.high)
    slope = np.polyfit(np.log(over_n.grid), np.log(over_n.mean), 1)[0]
    assert slope == pytest.approx(-2, abs=0.6)


def test_bounds_are_evaluated_with_the_problem_s_own_constants(over_n: Measurement) -> None:
    solver, guarantee = OutputPerturbationGD(), PureDP(1.0)
    values = solver.values(strong(200), guarantee)
    claim = library["zhang17.theorem2.pure.proof"]
    expected = claim.evaluate(**{str(s): values[str(s)] for s in claim.symbols if str(s) in values})
    assert over_n.line("certified").values[1] == pytest.approx(expected)


def test_one_seed_one_result(over_n: Measurement) -> None:
    again = measure("outpert_gd", strong, {"n": [100, 200, 400]}, guarantee=PureDP(1.0), trials=100)
    np.testing.assert_array_equal(again.mean, over_n.mean)
    other = measure("outpert_gd", strong, {"n": [100, 200, 400]}, guarantee=PureDP(1.0), trials=100, seed=1)
    assert not np.array_equal(other.mean, over_n.mean)


def test_stated_and_certified_are_told_apart() -> None:
    found = measure("outpert_gd", strong, {"n": [100, 200]}, guarantee=ApproxDP(1.0, 1e-5), trials=20)
    assert found.line("stated").claim == "zhang17.theorem2.approx.proof"
    assert "REFUTED" in found.line("stated").label
    assert found.line("certified").claim == "zhang17.theorem2.approx.proof.corrected"
    assert "PROVED" in found.line("certified").label


@pytest.mark.parametrize(
    ("grid", "fixed"),
    [({"eps": [0.5, 1.0, 2.0]}, "eps"), ({"T": [2, 8]}, "T"), ({"d": [2, 4]}, "d")],
    ids=lambda v: str(v),
)
def test_other_axes(grid: dict[str, list[float]], fixed: str) -> None:
    problem: Any = (lambda dim: strong(200, dim)) if fixed == "d" else strong(200)
    found = measure("outpert_gd", problem, grid, guarantee=PureDP(1.0), trials=20)
    assert list(found.grid) == sorted(grid[fixed])
    assert f"{fixed if fixed != 'eps' else 'ε'} = " not in found.setting
    assert found.line("certified") is not None


def test_planted_noise_is_seen_above_the_bound() -> None:
    """A thousand times the noise: the measured error leaves the certified bound, and the result says so."""
    found = measure(
        planted(1000.0, OutputPerturbationGD()), strong, {"n": [100, 200]}, guarantee=PureDP(1.0), trials=50
    )
    assert {claim for claim, _ in found.exceeded} == {"zhang17.theorem2.pure.proof"}
    assert any("above zhang17.theorem2.pure.proof at n = 100" in note for note in found.notes)


def test_intervals_cover_the_mean_about_as_often_as_they_say() -> None:
    """80% intervals from 20 runs each, against the mean of 20 000: binomial, so 15 of 30 is far below."""
    problem = strong(100)
    solver, guarantee = OutputPerturbationGD(), PureDP(1.0)
    w = solver.solve(problem, guarantee, 99, trials=20_000).w
    truth = float(np.mean(problem.value(w)) - problem.minimiser()[1])
    hits = 0
    for seed in range(30):
        found = measure(solver, problem, {"eps": [1.0, 2.0]}, guarantee=guarantee, trials=20, seed=seed, confidence=0.8)
        hits += found.low[0] <= truth <= found.high[0]
    assert 0.5 <= hits / 30 <= 1


def test_losses_that_are_not_convex_are_measured_by_their_gradient() -> None:
    def sigmoid(size: int) -> Problem:
        return logistic_synthetic(size, 2, seed=1).problem(Sigmoid())

    found = measure("rrpsgd", sigmoid, {"n": [6, 12]}, guarantee=ApproxDP(1.0, 1e-3), trials=50)
    assert str(found.measure) == "gradient_norm2"
    assert found.line("certified").claim == "zhang17.theorem5.general"
    assert np.all(found.high < found.line("certified").values)
    assert "The library has no lower bound for this case." in found.notes


def test_a_case_without_bounds_says_so() -> None:
    found = measure("bassily_sgd", strong(100), {"eps": [0.5, 1.0]}, guarantee=ApproxDP(1.0, 1e-3), trials=20)
    assert any("No bound with explicit constants applies to bassily_sgd" in note for note in found.notes)
    assert "hidden constant as 1" in found.line("stated").label
    gradient = measure(
        "bassily_sgd",
        strong(100),
        {"eps": [0.5, 1.0]},
        guarantee=ApproxDP(1.0, 1e-3),
        trials=20,
        measure="gradient_norm2",
    )
    assert gradient.lines == []
    assert any("No bound of the library applies" in note for note in gradient.notes)


def test_a_minimiser_outside_the_radius_voids_the_bound() -> None:
    solver = OutputPerturbationGD(radius=0.01)
    found = measure(solver, strong, {"n": [100, 200]}, guarantee=PureDP(1.0), trials=20)
    assert found.line("certified") is None or "D" not in {
        str(s) for s in library[found.line("certified").claim].symbols
    }
    assert any("‖ŵ‖ ≤ D" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"solver": "nobody"}, UnknownName, "solver is nobody"),
        ({"grid": {}}, InvalidInput, "one of n, d, eps, T"),
        ({"grid": {"n": [10, 20], "d": [1, 2]}}, InvalidInput, "one of n, d, eps, T"),
        ({"grid": {"mu": [0.1, 0.2]}}, InvalidInput, "one of n, d, eps, T"),
        ({"grid": {"n": [100]}}, InvalidInput, "two or more"),
        ({"grid": {"n": [100, 100.5]}}, InvalidInput, "whole number"),
        ({"grid": {"n": [100, -3]}}, InvalidInput, "n is -3"),
        ({"problem": strong(10)}, InvalidInput, "a function of n"),
        ({"problem": lambda size: strong(10)}, InvalidInput, "n of the problem is 10"),
        ({"problem": lambda size: size}, InvalidInput, "n of the problem is int"),
        ({"grid": {"eps": [1.0, 2.0]}}, InvalidInput, "a Problem for a grid of eps"),
        ({"grid": {"eps": [1.0, 2.0]}, "problem": strong(10), "guarantee": ZCDP(0.1)}, InvalidInput, "an eps to vary"),
        ({"grid": {"T": [1, 2]}, "problem": strong(10), "solver": "rrpsgd"}, InvalidInput, "lets be set"),
        ({"trials": 1}, InvalidInput, "at least two runs"),
        ({"confidence": 1.5}, InvalidInput, "confidence is 1.5"),
        ({"measure": "run_time"}, InvalidInput, "measure is run_time"),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[Exception], words: str) -> None:
    arguments = {
        "solver": "outpert_gd",
        "problem": strong,
        "grid": {"n": [20, 30]},
        "guarantee": PureDP(1.0),
        "trials": 5,
    }
    arguments |= change
    solver, problem, grid = (arguments.pop(k) for k in ("solver", "problem", "grid"))
    with pytest.raises(error, match=words):
        measure(solver, problem, grid, **arguments)


def test_a_solver_that_does_not_apply_says_so_itself() -> None:
    with pytest.raises(HypothesisViolated, match="convex"):
        measure("outpert_gd", lambda k: logistic_synthetic(k, 2, seed=0).problem(Sigmoid()), {"n": [10, 20]}, trials=5)


# Showing -------------------------------------------------------------------------------------------
def test_the_picture_says_what_it_shows(over_n: Measurement, tmp_path: Path) -> None:
    figure = over_n.plot(tmp_path / "m.svg")
    (ax,) = figure.axes
    assert ax.get_xlabel() == "n, number of records"
    assert "excess empirical risk" in ax.get_ylabel()
    assert ax.get_xscale() == ax.get_yscale() == "log"
    legend = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    for words in (
        "mean of 100 runs",
        "95% confidence interval",
        "certified bound",
        "worst dataset",
        "what is promised",
    ):
        assert words in legend
    assert "worst dataset" in figure.get_supxlabel().replace("\n", " ")
    assert (tmp_path / "m.svg").read_text().startswith("<?xml")


def test_text_and_json(over_n: Measurement) -> None:
    shown = str(over_n)
    for words in ("outpert_gd", "Logistic loss with l2 = 0.1", "95% interval", "certified", "Lower bounds hold for"):
        assert words in shown
    found = json.loads(json.dumps(over_n.to_json()))
    assert found["grid"] == [100, 200, 400]
    assert [line["role"] for line in found["lines"]] == ["certified", "lower"]
    assert all(math.isfinite(x) for x in found["mean"])


def test_the_public_names() -> None:
    assert dp.measure is measure
    assert callable(dp.compare)
    assert callable(dp.best)


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    picture = tmp_path / "m.png"
    command = f"measure outpert_gd --over n 50 100 --d 2 --l2 0.1 --delta 0 --trials 20 --plot {picture}"
    assert main(shlex.split(command)) == 0
    assert "zhang17.theorem2.pure.proof" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000
    assert main(shlex.split("measure outpert_gd --over eps 0.5 1 --n 50 --l2 0.1 --trials 20 --json")) == 0
    assert json.loads(capsys.readouterr().out)["symbol"] == "eps"
    assert main(shlex.split("measure nobody --over n 50 100")) == 2
    assert "solver is nobody" in capsys.readouterr().err
