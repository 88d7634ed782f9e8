"""What DP-SRM releases: a uniform iterate has the mean gradient norm of its run; the last one may have any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex import dp_srm_estimator as estimator
from dpcheck.bounds.library.nonconvex.dp_srm_algorithm import newest
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex import dp_srm_algorithm as checked
from dpcheck.evidence.nonconvex.dp_srm import numbers_of
from dpcheck.evidence.nonconvex.dp_srm_algorithm import CHECKS, Cliff

CASE = {
    "n": 6, "d": 1, "seed": 1, "loss": 1, "zeta": 1.0, "slowing": 1.0, "T": 20, "gamma": 0.5, "first": 6, "batch": 6,
    "noise": 0.0,
}  # fmt: skip


def test_the_output_is_drawn_from_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarms: six standard errors, 2e-9. Planted: the last iterate in its place."""
    measured, bound = checked.drawn(CASE)
    assert not exceeds(measured, bound)
    honest = checked.measured_run

    def planted(case: Any, last: bool) -> Any:
        *rest, done = honest(case, last=True)
        return (*rest, done)

    monkeypatch.setattr(checked, "measured_run", planted)
    planted_at, _ = checked.drawn(CASE)
    assert planted_at > 2 * bound


def test_on_the_cliff_the_mean_keeps_the_bound_and_the_last_iterate_does_not() -> None:
    problem, plan, numbers, iterates = checked.cliff_run({"zeta": 0.05})
    norms = np.linalg.norm(problem.gradient(iterates), axis=1)
    claim = estimator.equation17_corrected
    bound = float(claim.evaluate(**numbers_of(claim, numbers)))
    assert norms[: plan.steps].mean() < bound < norms[plan.steps - 1] / 5
    assert plan.steps > 4 * numbers["gap0"] / 0.05**2  # T of the proof, n0 = L = 1


def test_the_refutation_replays() -> None:
    claim = newest
    check = CHECKS[claim.id][0]
    evidence = check.run(claim, Effort())
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.counterexample is not None
    assert check.replay(claim, evidence.counterexample).verdict is Verdict.REFUTED


@given(slope=st.floats(0.001, 0.2), edge=st.floats(0, 3), margin=st.floats(-2, 8))
@settings(max_examples=60, deadline=None)
def test_the_cliff_is_what_it_says(slope: float, edge: float, margin: float) -> None:
    """Slope and curvature are derivatives, within their bounds; the foot is at height 0."""
    loss, h = Cliff(slope, edge), 1e-6
    around = np.array([margin - h, margin + h])
    assert np.diff(loss.value(around, 0.0))[0] / (2 * h) == pytest.approx(loss.derivative(margin, 0.0), abs=1e-5)
    assert abs(loss.derivative(margin, 0.0)) <= 1 + 1e-12
    change = np.diff(loss.derivative(around, 0.0))[0] / (2 * h)
    assert -1 - 1e-6 <= change <= 1 + 1e-6
    assert loss.value(loss.steepest + 1, 0.0) == pytest.approx(0.0, abs=1e-12)
    assert loss.value(margin, 0.0) >= -1e-12
