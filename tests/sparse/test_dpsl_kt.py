"""DPSL-KT: as printed one record shows in the student's support; with a teacher that keeps all entries it does not.

Audits have a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.evidence.sparse.dpsl_kt import attacked
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber
from dpcheck.solvers.sparse.dpsl_kt import DPSLKT, TaughtProblem, flipping_pair
from dpcheck.testing.planting import with_noise_times

PRIVATE = dp.ApproxDP(1.0, 1e-5)
PAIR = flipping_pair(20, 0.1, 41, seed=0)


@given(st.integers(1, 300), st.floats(0.01, 2.0))
@settings(max_examples=25, deadline=None)
def test_a_sparse_teacher_moves_by_as_much_as_it_is_long(k: int, l2: float) -> None:
    """n = 2k + 1: the closed form of the counterexample, and well above (3.6.4) from a few records on."""
    pair = flipping_pair(k, l2, 2, seed=0)
    solver = DPSLKT(kept=1, sparse_teacher=True, teacher_steps=2000)
    done = solver.calibrated(pair[0], PRIVATE, "stated")
    first, second = (solver.method(data, done.plan, done.released).answers(data) for data in pair)
    size = (k + 1) / (2 * k + 1) / ((k + 1) / (2 * k + 1) + l2)
    assert first == pytest.approx(pair[0].public @ [size, 0.0], rel=1e-6)
    assert second == pytest.approx(pair[0].public @ [0.0, size], rel=1e-6)


def flagged(mechanism: Any, pair: tuple[Any, Any], claimed: dp.Guarantee = PRIVATE) -> bool:
    return dp.audit(mechanism, pair=pair, guarantee=claimed, max_trials=20_000, alpha=1e-6, seed=1).violated


def test_the_audit_flags_the_student_as_printed() -> None:
    mechanism, pair, _ = attacked()
    assert flagged(mechanism, pair)


def test_the_audit_flags_certified_noise_only_where_it_is_cut() -> None:
    solver, pair, claimed = DPSLKT(kept=1), DPSLKT(kept=1).worst_pair(), dp.ApproxDP(1.0, 1e-2)
    assert not flagged(solver.mechanism(claimed), PAIR, claimed)
    assert not flagged(solver.mechanism(claimed, transcript=True), pair, claimed)
    assert flagged(with_noise_times(0.5, solver, claimed, transcript=True), pair, claimed)  # planted


def test_the_student_learns_what_the_teacher_knows() -> None:
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(30) < 2, 3.0, 0.0)
    X, public = (rng.choice([-1.0, 1.0], (size, 30)) / np.sqrt(30) for size in (100_000, 2000))
    data = TaughtProblem(X, np.clip(X @ truth, -1, 1), Huber(1.0), l2=0.05, public=public)
    w = DPSLKT(kept=2).solve(data, dp.ApproxDP(2.0, 1e-6), rng=0, trials=10).w
    assert np.all(np.count_nonzero(w, axis=1) == 2)
    assert np.all(w[:, :2] > 0.2)
    turned = DPSLKT(kept=2).solve(data.with_data(X, -data.y), dp.ApproxDP(2.0, 1e-6), rng=0, trials=10).w
    assert np.all(turned[:, :2] < -0.2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"public": np.ones((3, 1))}, "public"),
        ({"public": np.zeros((3, 2))}, "public"),
        ({"public": np.full((3, 2), np.nan)}, "public"),
        ({"l2": 0.0}, "l2"),
        ({"constraint": L2Ball(1.0)}, "constraint"),
    ],
)
def test_what_it_is_not_for_is_refused(change: dict[str, Any], words: str) -> None:
    fine = {"l2": 0.1, "public": np.ones((3, 2))}
    with pytest.raises(dp.InvalidInput, match=words):
        DPSLKT().solve(TaughtProblem(np.eye(2), np.ones(2), Huber(1.0), **(fine | change)), PRIVATE)


def test_a_sparse_teacher_is_not_certified() -> None:
    with pytest.raises(dp.InvalidInput, match="falls with n"):
        DPSLKT(sparse_teacher=True).solve(PAIR[0], PRIVATE)
