"""DP-SGD with Lemma 2.1.7's noise: as printed it is flagged, over the batch it is not; calibration.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it. The descent itself
is tested in test_bassily_sgd.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_epsilon
from dpcheck.problems.losses import Huber, Logistic, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_sgd import DPSGD
from dpcheck.testing.planting import flagged

CLAIMED = ApproxDP(1.0, 1e-2)
PAIR = DPSGD(batch=5).worst_pair()


@pytest.mark.parametrize("over_batch", [False, True])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(over_batch: bool) -> None:
    """False alarms: 1e-6. Ten records, batches of two, ten steps, c = 3: (G/n) sigma leaks, (G/b) sigma does not."""
    solver = DPSGD(batch=2, steps=10, c=3.0, over_batch=over_batch)
    guarantee = ApproxDP(0.4, 1e-2)  # q^2 T
    noise = solver.solve(PAIR[0], guarantee, 0, calibration="stated").noise_std
    tight = subsampled_gaussian_epsilon(2 * noise, 10, 2, 10, guarantee.delta)
    assert tight.high <= guarantee.eps if over_batch else tight.low > 2 * guarantee.eps
    assert flagged(solver.mechanism(guarantee, "stated"), PAIR, guarantee) is not over_batch


@given(
    level=st.floats(0.1, 2),
    n=st.integers(2, 60),
    batch=st.integers(1, 60),
    steps=st.integers(1, 40),
    c=st.floats(0.5, 5),
    over=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_stated_noise_is_the_lemmas(level: float, n: int, batch: int, steps: int, c: float, over: bool) -> None:
    problem, b = Problem(np.zeros((n, 1)), np.ones(n), Huber(0.7)), min(batch, n)
    solver = DPSGD(batch=batch, steps=steps, c=c, over_batch=over)
    found = solver.solve(problem, ApproxDP(level, 1e-3), 0, calibration="stated").noise_std
    sigma = c * b / n * math.sqrt(steps * math.log(1e3)) / level
    assert found == pytest.approx(0.7 * sigma / (b if over else n))


def test_refusals_name_what_fails() -> None:
    problem = Problem(np.zeros((10, 1)), np.ones(10), Logistic())
    with pytest.raises(HypothesisViolated, match=r"lemma2\.1\.7"):
        DPSGD(batch=2, steps=10, c1=2.0).solve(problem, CLAIMED, 0, calibration="stated")
    DPSGD(batch=2, steps=10, c1=3.0).solve(problem, CLAIMED, 0, calibration="stated")  # 3 * 0.04 * 10 > 1
    with pytest.raises(HypothesisViolated, match="Lipschitz"):
        DPSGD(batch=2).solve(replace(problem, loss=Squared()), CLAIMED, 0)
