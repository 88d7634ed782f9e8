"""DP-SVRG on batches: its published-form noise holds without Theorem 3.1.1's condition; audits; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.reduced_gaussian import reduced_epsilon
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.convex import dp_svrg_minibatch as solvers
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrg_minibatch import DPSVRGMinibatch

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPSVRGMinibatch(epochs=1, inner=5, step_size=4.0)


def flagged(mechanism: Any, pair: tuple[Any, Any]) -> bool:
    return audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=20_000, alpha=1e-6, seed=1).violated


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("calibration", ["stated", "certified"])
def test_neither_calibration_is_flagged_and_a_tenth_of_the_noise_is(calibration: Any) -> None:
    """False alarms: 1e-6."""
    pair = SHORT.worst_pair()
    assert not flagged(SHORT.mechanism(CLAIMED, calibration), pair)
    assert flagged(SHORT.mechanism(CLAIMED, calibration, noise_factor=0.1), pair)


def test_the_transcript_is_not_flagged_and_a_fifth_of_the_noise_is() -> None:
    """False alarms: 1e-6. Batches of 3."""
    solver = DPSVRGMinibatch(epochs=2, inner=3, step_size=4.0, batch=3)
    assert not flagged(solver.mechanism(CLAIMED, transcript=True), solver.worst_pair())
    assert flagged(solver.mechanism(CLAIMED, noise_factor=0.2, transcript=True), solver.worst_pair())


@given(
    level=st.floats(0.1, 1), delta=st.floats(1e-6, 0.1), n=st.integers(2, 60), inner=st.integers(1, 60),
    epochs=st.integers(1, 4),
)  # fmt: skip
@settings(max_examples=10, deadline=None)
def test_the_stated_noise_holds_by_the_accountant(level: float, delta: float, n: int, inner: int, epochs: int) -> None:
    """c = 72 and the least batch, wherever: no condition between eps, n and Tm is left."""
    problem = Problem(np.zeros((n, 2)), np.ones(n), Huber(0.7))
    guarantee, solver = ApproxDP(level, delta), DPSVRGMinibatch(epochs, inner, 1.0)
    found = solver.solve(problem, guarantee, 0, calibration="stated")
    batch = solver.batch_of(problem, guarantee, solver.plan(problem, guarantee))
    assert batch == min(n, max(1, math.ceil(n * level / math.sqrt(epochs * inner))))
    assert reduced_epsilon(found.noise_std / 0.7, n, batch, epochs * inner, delta).high <= level
    assert solver.solve(problem, guarantee, 0).noise_std < found.noise_std


def test_smaller_batches_are_refused_when_stated() -> None:
    problem = Problem(np.zeros((40, 2)), np.ones(40), Logistic())
    with pytest.raises(HypothesisViolated, match="minibatch"):
        DPSVRGMinibatch(1, 4, 1.0, batch=10).solve(problem, CLAIMED, 0, calibration="stated")
    DPSVRGMinibatch(1, 4, 1.0, batch=10).solve(problem, CLAIMED, 0)  # certified noise covers any batch
    with pytest.raises(InvalidInput, match="batch"):
        DPSVRGMinibatch(batch=0)


# Utility -------------------------------------------------------------------------------------------
@given(
    n=st.integers(2, 8), d=st.integers(1, 3), seed=st.integers(0, 10**6), kappa=st.floats(1, 5),
    step=st.floats(0.05, 0.9), inner=st.integers(1, 40), noise=st.floats(0, 1), size=st.floats(0, 3),
    batch=st.integers(1, 8),
)  # fmt: skip
@settings(max_examples=10, deadline=None)
def test_an_epoch_keeps_equation_3_28(**case: Any) -> None:
    measured, bound = solvers.one_epoch(case)
    assert not exceeds(measured, bound)


def test_it_beats_single_records_at_equal_privacy() -> None:
    """n = 400, eps = 1, 120 steps: certified noise for single records is at least three times that for batches."""
    problem = logistic_synthetic(400, 3, 7).problem(Logistic(), l2=0.25)
    one, many = (DPSVRGMinibatch(3, 40, 0.5, batch=b).solve(problem, ApproxDP(1.0, 1e-3), 0) for b in (1, 40))
    assert one.noise_std > 3 * many.noise_std
