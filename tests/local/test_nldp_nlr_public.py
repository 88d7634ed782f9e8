"""Regression with a known link from local reports: bounds on labels, and the model recovered."""

from dataclasses import replace

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.scaled_least_squares import LabelledUsers, fitting_scale, least_squares, report
from dpcheck.solvers.local.nldp_nlr_public import LINKS, PublicLinkRegression

SIGNS = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
W = np.array([0.6, 0.6, 0.5])


@pytest.mark.parametrize(("link", "f"), [("sine", np.sin), ("cubic", lambda t: t**3 / 3)])
def test_the_model_is_recovered_up_to_its_bias(link: str, f: np.ufunc) -> None:
    mean = report(SIGNS, f(SIGNS @ W), 1.0, 1.0).mean(axis=0, keepdims=True)
    solution = least_squares(mean, 3, 1.0, 1.0)
    scaled = (fitting_scale(LINKS[link].slope, solution @ SIGNS.T)[:, None] * solution)[0]
    assert scaled == pytest.approx(W, rel=0.15)
    assert scaled != pytest.approx(W, rel=1e-3)  # features that are not normal leave a bias of order 1/√p (5.2.4)


def test_labels_may_be_as_large_as_the_model_allows() -> None:
    solver = PublicLinkRegression(link="sigmoid", label_noise=0.1)
    assert solver.label_bound(2.0) == pytest.approx(0.25 * 2 + 0.5 + 0.1)
    users = LabelledUsers(SIGNS, np.full(8, solver.label_bound(1.0)), SIGNS)
    ask = dp.ApproxDP(0.9, 1e-2, relation=dp.LOCAL)
    assert solver.solution(users, ask, 0).w.shape == (1, 3)
    with pytest.raises(dp.InvalidInput, match="label"):
        solver.solution(replace(users, y=users.y + 0.01), ask, 0)


def test_scaled_reports_move_as_far_as_those_of_a_glm() -> None:
    solver = PublicLinkRegression()
    first, second = (report(d.X, d.y, 1.0, solver.label_bound(1.0)) for d in solver.worst_pair())
    assert ((first - second) ** 2).sum() == pytest.approx(4.5)
