"""The experiments of section 4.3.3: the data's rule, the regulariser, where runs start, how stand-ins are judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex.saddle_experiments import trust_region
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.evidence.nonconvex import saddle_experiments as measured
from dpcheck.evidence.nonconvex.saddle_experiments import COVERTYPE, IJCNN, LOSSES, problem_of, work

FEW = replace(IJCNN, n=2000, batch=200)


def test_sizes_are_those_of_table_4_2() -> None:
    assert (COVERTYPE.n, COVERTYPE.d, COVERTYPE.batch) == (581_012, 54, 50_000)
    assert (IJCNN.n, IJCNN.d, IJCNN.batch) == (35_000, 22, 5000)


def test_rows_have_norm_1_and_labels_are_turned_round_as_often_as_said() -> None:
    """Five standard errors of a share; both losses see the same records."""
    one, other = (problem_of(FEW, loss) for loss in LOSSES)
    np.testing.assert_allclose(np.linalg.norm(one.X, axis=1), 1.0)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    direction = np.random.default_rng(11).standard_normal(FEW.d)
    share = (one.y * (one.X @ direction) < 0).mean()
    assert abs(share - FEW.wrong) < 5 * (FEW.wrong * (1 - FEW.wrong) / FEW.n) ** 0.5


def test_the_regulariser_is_in_value_gradient_and_hessian() -> None:
    """Central differences; its constants by search. Planted: the problem without it."""
    problem = replace(problem_of(FEW, "logistic"), strength=1.0)  # type: ignore[call-arg]
    w, step = np.random.default_rng(0).standard_normal((3, FEW.d)), 1e-5
    for i in range(FEW.d):
        side = step * np.eye(FEW.d)[i]
        slope = (problem.value(w + side) - problem.value(w - side)) / (2 * step)
        np.testing.assert_allclose(problem.gradient(w)[:, i], slope, atol=1e-8)
        bend = (problem.gradient(w + side) - problem.gradient(w - side)) / (2 * step)
        np.testing.assert_allclose(problem.hessians(w)[:, i], bend, atol=1e-8)
    without = replace(problem, strength=0.0)  # type: ignore[call-arg]
    assert np.abs(without.gradient(w) - problem.gradient(w)).max() > 0.1
    t = np.linspace(-10, 10, 200_001)
    assert np.abs((2 - 6 * t**2) / (1 + t**2) ** 3).max() <= problem.smoothness - without.smoothness + 1e-12
    third = np.abs(24 * t * (t**2 - 1) / (1 + t**2) ** 4).max()
    assert 0.999 * 4.67 <= third <= problem.hessian_lipschitz - without.hessian_lipschitz


def test_runs_of_all_methods_and_budgets_begin_at_the_same_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "starts", lambda here, seed, trials: np.full((trials, here.d), float(seed)))
    found = {
        (name, eps): measured.ends.__wrapped__(FEW, "sigmoid", name, eps, 3, 2)
        for name in ("DP-TR", "DP-STR")
        for eps in (0.25, 0.9)
    }
    radius, T = (0.1 / problem_of(FEW, "sigmoid").hessian_lipschitz) ** 0.5, 34
    for w in found.values():
        assert np.linalg.norm(w - 3.0, axis=1).max() <= T * radius * (1 + 1e-9)
        assert np.linalg.norm(w - 3.0, axis=1).min() > 0.01


def test_the_time_of_batches_is_counted_in_derivatives_of_records() -> None:
    counted = work(IJCNN, "sigmoid")
    assert counted["DP-TR"] / counted["DP-STR"] == pytest.approx(IJCNN.n / IJCNN.batch)
    assert counted["DP-GD"] % IJCNN.n == 0


def test_stand_ins_decide_nothing_against_the_document() -> None:
    """Planted: the same runs on the document's own data are not reproduced."""
    sway = np.linspace(0, 1, 10)
    for stand_in, expected in ((True, Verdict.UNCHECKED), (False, Verdict.NOT_REPRODUCED)):
        check = Lower(lambda seed, trials, thorough: {"one": (10 + sway, sway)}, "planted", stand_in=stand_in)
        assert check.run(trust_region, Effort()).verdict is expected
