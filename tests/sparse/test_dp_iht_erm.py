"""DP-IHT: its iterates are sparse, it finds a sparse minimiser, and other constraint sets are refused."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber
from dpcheck.problems.problem import Problem
from dpcheck.solvers.sparse.dp_iht_erm import DPIHT

PRIVATE = dp.ApproxDP(1.0, 1e-5)
RNG = np.random.default_rng(0)
ROWS = RNG.choice([-1.0, 1.0], (20_000, 30)) / np.sqrt(30)
TRUTH = np.where(np.arange(30) < 2, 2.0, 0.0)
LINEAR = Problem(ROWS, np.clip(ROWS @ TRUTH, -1, 1), Huber(0.5), row_bound=1.0, label_bound=1.0)


def test_it_finds_the_two_entries_that_matter() -> None:
    w = DPIHT(kept=4, steps=30, step_size=10.0).solve(LINEAR, PRIVATE, rng=0, trials=5).w
    assert np.all(np.count_nonzero(w, axis=1) == 4)
    assert np.all(np.argsort(-np.abs(w), axis=1)[:, :2] < 2)
    turned = DPIHT(kept=4, steps=30, step_size=10.0).solve(
        Problem(ROWS, -LINEAR.y, Huber(0.5), row_bound=1.0, label_bound=1.0), PRIVATE, rng=0, trials=5
    )
    assert np.all(w[:, :2] > 0.5)
    assert np.all(turned.w[:, :2] < -0.5)  # labels turned round turn it round


def test_another_set_is_refused() -> None:
    ball = Problem(ROWS, LINEAR.y, Huber(0.5), constraint=L2Ball(1.0), row_bound=1.0, label_bound=1.0)
    with pytest.raises(dp.InvalidInput, match="constraint"):
        DPIHT().solve(ball, PRIVATE)


def test_the_published_noise_needs_its_own_range() -> None:
    assert DPIHT(kept=4).solve(LINEAR, PRIVATE, rng=0, trials=2, calibration="stated").noise_std > 0
    with pytest.raises(dp.HypothesisViolated):
        DPIHT(kept=4).solve(LINEAR, dp.ApproxDP(2.0, 1e-5), calibration="stated")
