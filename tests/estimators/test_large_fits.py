"""One fit on large data: a pass in blocks is the plain gradient, no copy is made, momentum costs no privacy.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")
from sklearn.base import clone

import dpcheck as dp
from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.estimators import PrivateHuber, PrivateLogisticRegression, PrivateRidge, base
from dpcheck.kernels.gradient_steps import noisy_descent, starting_point
from dpcheck.kernels.momentum import MomentumSteps
from dpcheck.kernels.running import run
from dpcheck.problems import rows
from dpcheck.problems.constraints import L1Ball, L2Ball, WholeSpace
from dpcheck.problems.losses import Huber, Logistic, Loss, Squared
from dpcheck.problems.problem import Problem
from dpcheck.problems.softmax import softmax_problem
from dpcheck.solvers.convex.dp_gd import DPGD
from dpcheck.testing.planting import with_noise_times

CLAIMED = dp.ApproxDP(1.0, 1e-2)
SHORT = DPGD(steps=10, step_size=0.5, momentum=0.6)
SHAPES = {"n": st.integers(1, 40), "d": st.integers(1, 6), "seed": st.integers(0, 10**6)}


def problem_on(given_rows: Any, y: Any, loss: Loss | int, bound: float, **more: Any) -> Problem:
    if isinstance(loss, int):
        return softmax_problem(given_rows, np.abs(y) * 7 // 1 % loss, loss, row_bound=bound, **more)
    return Problem(given_rows, np.sign(y) if loss.labels == "sign" else y, loss, row_bound=bound, **more)


# The pass in blocks ---------------------------------------------------------------------------------
@given(
    **SHAPES,
    loss=st.sampled_from([Logistic(), Squared(), Huber(0.3), 2, 3, 5]),
    clip=st.floats(0.1, 3.0),
    constant=st.sampled_from([0.0, 0.4, 2.0]),
    l2=st.sampled_from([0.0, 0.7]),
    block=st.integers(1, 60),
    shared=st.booleans(),
    order=st.sampled_from("CF"),
)
@settings(max_examples=150, deadline=None)
def test_a_pass_in_blocks_is_the_plain_gradient(
    n: int, d: int, seed: int, loss: Any, clip: float, constant: float, l2: float, block: int, shared: bool, order: str
) -> None:
    rng = np.random.default_rng(seed)
    X, y = np.asarray(rng.standard_normal((n, d)), order=order), rng.uniform(-1, 1, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows.BoundedRows.pass_over, "__defaults__", (block,))
        patch.setattr(rows, "SHARED", 0 if shared else rows.SHARED)
        patch.setenv("OMP_NUM_THREADS", "2")
        held = problem_on(base.bounded(X, clip, "clip", constant), y, loss, math.hypot(clip, constant), l2=l2)
        w = rng.standard_normal(held.d)
        found = held.gradient(w), held.gradient(w[None])[0], held.gradient(w[None], out=np.empty((1, held.d)))[0]
        assert "dense" not in vars(held.X)  # no table was made of them
    short = X * np.minimum(1, clip / np.linalg.norm(X, axis=1))[:, None]
    table = np.column_stack([short, np.full(n, constant)]) if constant else short
    plain = problem_on(table, y, loss, math.hypot(clip, constant) * (1 + 1e-12), l2=l2).gradient(w)
    for one in found:
        assert np.allclose(one, plain, rtol=1e-10, atol=1e-12)
    together = held.gradient(np.stack([w, -w]))  # several trials: by the table
    assert np.allclose(together[0], plain, rtol=1e-10, atol=1e-12)


def test_sums_have_the_same_bits_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).standard_normal((3000, 7))
    held = base.bounded(X, 1.0, "clip", 0.3)
    monkeypatch.setattr(rows, "SHARED", 0)
    found = []
    for cores in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", cores)
        found.append(held.pass_over(np.ones(8), lambda margins, y: np.tanh(margins) * y, np.ones(3000), 500))
    assert all(np.array_equal(found[0], one) for one in found[1:])


@given(**SHAPES, bound=st.floats(1e-3, 1e3), size=st.floats(1e-3, 1e6), constant=st.sampled_from([0.0, 0.5]))
@settings(max_examples=100, deadline=None)
def test_to_anyone_else_the_rows_are_bounded(
    n: int, d: int, seed: int, bound: float, size: float, constant: float
) -> None:
    """Nothing that asks for an array, an entry or a product gets a row as it was given."""
    X = size * np.random.default_rng(seed).standard_normal((n, d))
    held = base.bounded(X, bound, "clip", constant)
    table, limit = np.asarray(held), math.hypot(bound, constant) * (1 + 1e-15)
    assert held.shape == table.shape == (n, d + (constant > 0))
    assert np.all(np.linalg.norm(table, axis=1) <= limit)
    assert np.all(held.norms <= limit)
    assert np.allclose(held.norms, np.linalg.norm(table, axis=1), rtol=1e-12)
    for same in (held[:], np.array(held), held * 1.0, held.T.T, 1.0 * held, held @ np.eye(table.shape[1])):
        assert np.array_equal(same, table)
    assert not table.flags.writeable


def test_rows_over_the_bound_are_still_refused_by_the_problem() -> None:
    X = np.full((4, 2), 3.0)
    loose = rows.BoundedRows(X, rows.row_norms(X), np.ones(4))
    with pytest.raises(InvalidInput, match=r"norm of row 0 is too large"):
        Problem(loose, np.ones(4), Logistic())
    X[2, 1] = math.nan
    with pytest.raises(InvalidInput, match=r"X at \(2, 1\)"):
        Problem(rows.BoundedRows(X, rows.row_norms(X), np.ones(4)), np.ones(4), Logistic())


@pytest.mark.parametrize(
    "model",
    [
        PrivateLogisticRegression(classes=(0, 1), random_state=0),
        PrivateLogisticRegression(delta=0.0, classes=(0, 1), random_state=0),
        PrivateLogisticRegression(classes=(0, 1, 2), random_state=0),
        PrivateRidge(random_state=0),
        PrivateHuber(delta=0.0, random_state=0),
    ],
)
def test_a_fit_holds_no_copy_of_the_data(model: Any) -> None:
    """What is allocated on the way, traced to the byte, is a fraction of the rows; they stay as they were."""
    rng = np.random.default_rng(0)
    X, y = 3 * rng.standard_normal((20_000, 60)), rng.integers(0, 2, 20_000)
    model.fit(X[:100], y[:100])
    before = X.copy()
    tracemalloc.start()
    model.fit(X, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.5 * X.nbytes
    assert np.array_equal(X, before)
    assert X.flags.writeable


# Momentum -------------------------------------------------------------------------------------------
def flagged(mechanism: Any, trials: int = 20_000) -> bool:
    return audit(mechanism, pair=SHORT.worst_pair(), guarantee=CLAIMED, max_trials=trials, alpha=1e-6, seed=1).violated


def test_momentum_is_not_flagged_and_half_of_the_noise_is() -> None:
    assert not flagged(SHORT.mechanism(CLAIMED))
    assert flagged(with_noise_times(0.5, SHORT, CLAIMED))


def test_its_transcript_is_tight() -> None:
    assert not flagged(SHORT.mechanism(CLAIMED, transcript=True), trials=100_000)
    assert flagged(with_noise_times(0.8, SHORT, CLAIMED, transcript=True), trials=100_000)


@given(**SHAPES, steps=st.integers(1, 20), momentum=st.floats(0.05, 0.95), other=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_noise_is_the_certified_one_whatever_the_momentum_and_the_records(
    n: int, d: int, seed: int, steps: int, momentum: float, other: int
) -> None:
    problems = [
        problem_on(rng.uniform(-1, 1, (n, d)) / math.sqrt(d), rng.uniform(-1, 1, n), Huber(0.7), 1.0)
        for rng in map(np.random.default_rng, (seed, other))
    ]
    runs = [DPGD(steps=steps, momentum=momentum).solve(one, CLAIMED, 0) for one in problems]
    plain = DPGD(steps=steps).solve(problems[0], CLAIMED, 0)
    assert runs[0].noise_std == runs[1].noise_std == plain.noise_std
    assert runs[0].noise_std == pytest.approx(least_noise(CLAIMED, steps=steps) * 2 * 0.7 / n)
    assert runs[0].rests_on == plain.rests_on


@given(**SHAPES, ball=st.sampled_from([WholeSpace(), L2Ball(0.5), L1Ball(1.0)]), momentum=st.floats(0.0, 0.99))
@settings(max_examples=60, deadline=None)
def test_without_noise_the_potential_never_grows_and_gradients_are_asked_for_in_the_set(
    n: int, d: int, seed: int, ball: Any, momentum: float
) -> None:
    """Tseng's potential against a random point of the set."""
    rng = np.random.default_rng(seed)
    problem = problem_on(
        base.bounded(rng.standard_normal((n, d)), 1.0, "clip"), rng.uniform(-1, 1, n), Logistic(), 1.0, constraint=ball
    )
    asked: list[Any] = []
    watched = replace(problem)
    object.__setattr__(watched, "gradient", lambda W: asked.append(W) or problem.gradient(W))
    step, theta = 1 / problem.smoothness, 1 - momentum
    method = MomentumSteps(7, step, momentum, starting_point(problem), ball)
    state, v, before = method.start(1), ball.project(rng.standard_normal(d)), math.inf
    for t in range(7):
        state = method.update(state, method.query(watched, state, t, None), t)
        assert np.all(ball.contains(asked[-1]))
        w, z = state
        gap = float(problem.value(w[0]) - problem.value(v))
        if gap < 0:
            break
        potential = gap + theta**2 / (2 * step) * float(np.sum((z[0] - v) ** 2))
        assert potential <= before + 1e-12
        before = potential


def test_no_momentum_is_plain_descent() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(rng.uniform(-0.5, 0.5, (30, 3)), rng.uniform(-1, 1, 30), Huber(), constraint=L2Ball(0.7))
    plain = noisy_descent(problem, steps=9, step_size=0.8, noise_std=0.0, seed=0, trials=2).w
    still, start = Release(1.0, Gaussian(0.0)), starting_point(problem)
    same = run(MomentumSteps(9, 0.8, 0.0, start, problem.constraint), still, problem, seed=0, trials=2)
    assert np.allclose(same.w, plain, rtol=1e-12)
    near = run(MomentumSteps(400, 1.0, 0.9, start, problem.constraint), still, problem, seed=0, trials=1).w[0]
    assert float(problem.value(near)) == pytest.approx(problem.minimiser()[1], abs=1e-9)


@pytest.mark.parametrize("momentum", [-0.1, 1.0, math.nan, "much", None])
def test_other_momenta_are_refused(momentum: Any) -> None:
    with pytest.raises(InvalidInput, match="momentum"):
        DPGD(momentum=momentum)
    model = PrivateLogisticRegression(classes=(0, 1), solver_options={"momentum": momentum})
    with pytest.raises(InvalidInput, match="momentum"):
        model.fit(np.eye(2), [0, 1])


# What the rules choose ------------------------------------------------------------------------------
def test_rules_take_momentum_for_many_steps_only_and_never_over_a_users_word() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 3)), rng.integers(0, 2, 4000)
    model = PrivateLogisticRegression(1.0, classes=(0, 1), random_state=0)
    few, many = clone(model).fit(X[:60], y[:60]), clone(model).fit(X, y)
    assert 0 < many.plan_.options["momentum"] < 1
    assert many.n_iter_ == many.plan_.options["steps"] < 80
    assert many.noise_std_ == pytest.approx(
        least_noise(many.guarantee_, steps=many.n_iter_) * 2 * math.hypot(1, 3**-0.25) / 4000, rel=1e-3
    )
    assert "momentum" not in few.plan_.options
    own = model.set_params(solver_options={"steps": 100}).fit(X, y)
    assert own.plan_.options == {"steps": 100, "step_size": pytest.approx(1.5 / (0.25 * (1 + 3**-0.5)))}
