"""Regression with a known link from local reports: bounds on labels, and the model recovered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.evidence.local.nldp_nlr_public import CUBIC, cubic_labels
from dpcheck.evidence.local.scaled_least_squares import Signs
from dpcheck.families.scaled_least_squares import LabelledUsers, fitting_scale, least_squares, report
from dpcheck.solvers.local.nldp_nlr_public import LINKS, PublicLinkRegression

SIGNS = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
W = np.array([0.6, 0.6, 0.5])
ASKED = dp.ApproxDP(0.9, 1e-2, relation=dp.LOCAL)


@pytest.mark.parametrize(("link", "f"), [("sine", np.sin), ("cubic", lambda t: t**3 / 3)])
def test_the_model_is_recovered_up_to_its_bias(link: str, f: np.ufunc) -> None:
    mean = report(SIGNS, f(SIGNS @ W), 1.0, 1.0).mean(axis=0, keepdims=True)
    solution = least_squares(mean, 3, 1.0, 1.0)
    scaled = (fitting_scale(LINKS[link].slope, solution @ SIGNS.T)[0][:, None] * solution)[0]
    assert scaled == pytest.approx(W, rel=0.15)
    assert scaled != pytest.approx(W, rel=1e-3)  # features that are not normal leave a bias of order 1/√p (5.2.4)


def test_labels_may_be_as_large_as_the_model_allows() -> None:
    solver = PublicLinkRegression(link="sigmoid", label_noise=0.1)
    assert solver.label_bound(2.0) == pytest.approx(0.25 * 2 + 0.5 + 0.1)
    users = LabelledUsers(SIGNS, np.full(8, solver.label_bound(1.0)), SIGNS)
    assert solver.solution(users, ASKED, 0).w.shape == (1, 3)
    with pytest.raises(dp.InvalidInput, match="labels"):
        solver.solution(replace(users, y=users.y + 0.01), ASKED, 0)


def test_scaled_reports_move_as_far_as_those_of_a_glm() -> None:
    first, second = (report(d.X, d.y, 1.0, CUBIC.label_bound(1.0)) for d in CUBIC.worst_pair())
    assert ((first - second) ** 2).sum() == pytest.approx(4.5)


def test_counted_patterns_have_the_law_of_single_users() -> None:
    """Mean reports of n users by patterns against users drawn one by one: means and spreads, five standard errors."""
    design, n, runs = Signs(3, 0.5, 0.5, LINKS["cubic"].slope, cubic_labels, CUBIC.label_bound(1.0)), 50, 4000
    rng = np.random.default_rng(0)
    by_patterns = design.mean_reports(n, runs, rng)
    X = rng.choice([-0.5, 0.5], (runs * n, 3))
    y = (X.sum(axis=1) * 0.5) ** 3 / 3 + rng.choice([-0.001, 0.001], runs * n)
    one_by_one = report(X, y, 1.0, design.label_bound).reshape(runs, n, -1).mean(axis=1)
    moving = one_by_one.std(axis=0) > 1e-9
    error = np.sqrt(2 / runs) * one_by_one.std(axis=0)[moving]
    assert np.all(np.abs(by_patterns.mean(axis=0) - one_by_one.mean(axis=0))[moving] < 5 * error)
    assert by_patterns.std(axis=0)[moving] == pytest.approx(one_by_one.std(axis=0)[moving], rel=0.08)
    assert by_patterns[:, ~moving] == pytest.approx(one_by_one[:, ~moving])
