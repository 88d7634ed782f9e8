"""Problems: derived constants are never exceeded and are attained; gradients, minimisers and refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball, Simplex, WholeSpace
from dpcheck.problems.losses import Huber, Linear, Logistic, Loss, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem

LOSSES = [Logistic(), Sigmoid(), Squared(), Linear(), Huber(0.4), SmoothedHinge(0.3), SmoothedHinge(3.0)]
SETS = [WholeSpace(), L2Ball(1.5), L1Ball(2.0), Simplex(), Box(-0.5, 1.0)]
L2 = [0.0, 0.05, 0.6]
CASES = list(itertools.product(LOSSES, SETS, L2))
quick = settings(derandomize=True, deadline=None, max_examples=60)
problems = given(
    st.sampled_from(LOSSES),
    st.sampled_from(SETS),
    st.sampled_from(L2),
    st.integers(0, 2**32 - 1),
    st.floats(0.2, 3.0),
    st.floats(0.2, 2.0),
)


def labels(loss: Loss, n: int, bound: float, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n) if loss.labels == "sign" else rng.uniform(-bound, bound, n)


def sample(
    loss: Loss, within: Constraint, l2: float, seed: int, row: float = 1.0, label: float = 1.0, n: int = 12, d: int = 3
) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X *= row * rng.choice([0.3, 1.0], (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return Problem(X, labels(loss, n, label, rng), loss, l2, within, row_bound=row, label_bound=label)


def feasible(p: Problem, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return p.constraint.project(rng.choice([0.2, 1.0, 5.0], (k, 1)) * rng.standard_normal((k, p.d)))


@quick
@problems
def test_constants_are_never_exceeded(
    loss: Loss, within: Constraint, l2: float, seed: int, row: float, label: float
) -> None:
    p = sample(loss, within, l2, seed, row, label)
    V, W = feasible(p, 48, seed), feasible(p, 48, seed + 1)
    each = np.arange(48) % p.n
    gV, gW = p.gradient_at(V, each), p.gradient_at(W, each)
    assert np.linalg.norm(gV, axis=1).max() <= p.lipschitz * (1 + 1e-9)
    assert np.linalg.norm(gV - l2 * V, axis=1).max() <= p.data_lipschitz * (1 + 1e-9)
    apart = np.linalg.norm(V - W, axis=1)
    assert np.all(np.linalg.norm(gV - gW, axis=1) <= p.smoothness * apart + 1e-9)
    rising = np.einsum("ki,ki->k", gV - gW, V - W)
    assert np.all(rising >= p.curvature[0] * apart**2 - 1e-9)
    assert apart.max() <= p.diameter * (1 + 1e-12)


@quick
@problems
def test_local_lipschitz_is_never_exceeded(
    loss: Loss, within: Constraint, l2: float, seed: int, row: float, label: float
) -> None:
    p = sample(loss, within, l2, seed, row, label)
    W = feasible(p, 60, seed)
    norms = np.linalg.norm(W, axis=1)
    sizes = np.linalg.norm(p.gradient_at(W, np.arange(60) % p.n), axis=1)
    for size, norm in zip(sizes, norms, strict=True):
        assert size <= p.lipschitz_within(norm) * (1 + 1e-9)


def longest(within: Constraint, d: int) -> np.ndarray:
    """A point of the set with the largest norm; far out for the whole space."""
    if isinstance(within, WholeSpace):
        return np.r_[40.0, np.zeros(d - 1)]
    if isinstance(within, Box):
        return np.full(d, within.high if abs(within.high) >= abs(within.low) else within.low)
    return within.reach(d) * np.eye(d)[0]


def search(p: Problem, row: float, label: float) -> tuple[float, float, float]:
    """Largest gradient norm, largest change of gradient and least curvature over records aligned with w.

    Records in the plane of a longest w and a vector perpendicular to it; w runs from zero's side outwards.
    """
    far = longest(p.constraint, p.d)
    e = far / np.linalg.norm(far)
    f = np.eye(p.d)[-1] - e[-1] * e
    f /= np.linalg.norm(f)
    angles = np.linspace(0, 2 * math.pi, 721)
    X = row * (np.cos(angles)[:, None] * e + np.sin(angles)[:, None] * f)
    ys = [-1.0, 1.0] if p.loss.labels == "sign" else [-label, 0.0, label]
    X, y = np.concatenate([X] * len(ys)), np.repeat(ys, len(angles))
    q = p.with_data(X, y)
    every = np.arange(q.n)
    lipschitz = np.linalg.norm(q.gradient_at(np.tile(far, (q.n, 1)), every), axis=1).max()
    steepest, flattest = 0.0, math.inf
    # Short steps v along e and f from centres inside the set, measured by differences of gradients.
    for centre in (p.constraint.project(t * far) for t in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)):
        for v in (e, f):
            h = 1e-4
            W = np.tile(centre, (q.n, 1))
            change = (q.gradient_at(W + h * v, every) - q.gradient_at(W - h * v, every)) / (2 * h)
            steepest = max(steepest, np.linalg.norm(change, axis=1).max())
            flattest = min(flattest, float((change @ v).min()))
    return float(lipschitz), float(steepest), flattest


@pytest.mark.parametrize(("loss", "within", "l2"), CASES, ids=repr)
def test_constants_are_attained(loss: Loss, within: Constraint, l2: float) -> None:
    for row, label in ((1.0, 1.0), (2.0, 0.5)):
        p = sample(loss, within, l2, 0, row, label)
        lipschitz, steepest, flattest = search(p, row, label)
        if math.isfinite(p.lipschitz):
            assert lipschitz >= 0.9 * p.lipschitz
        if p.curvature[1] > 0:
            assert steepest >= 0.9 * p.smoothness
        assert flattest <= p.curvature[0] + 0.1 * abs(p.curvature[0]) + 1e-9


@quick
@problems
def test_gradient_matches_finite_differences(
    loss: Loss, within: Constraint, l2: float, seed: int, row: float, label: float
) -> None:
    p = sample(loss, within, l2, seed, row, label)
    W = feasible(p, 5, seed)
    h = 1e-6
    steps = h * np.eye(p.d)
    central = (p.value(W[:, None] + steps) - p.value(W[:, None] - steps)) / (2 * h)
    np.testing.assert_allclose(p.gradient(W), central, atol=2e-7 * max(1.0, row**2 / 0.3) * 10)


@quick
@problems
def test_sampled_gradients_average_to_the_gradient(
    loss: Loss, within: Constraint, l2: float, seed: int, row: float, label: float
) -> None:
    p = sample(loss, within, l2, seed, row, label)
    w = feasible(p, 1, seed)[0]
    full = p.gradient(w)
    np.testing.assert_allclose(p.gradient_at(np.tile(w, (p.n, 1)), np.arange(p.n)).mean(axis=0), full, atol=1e-12)
    np.testing.assert_allclose(p.gradient_at(w[None], np.arange(p.n)[None])[0], full, atol=1e-12)
    pairs = np.array(list(itertools.combinations(range(p.n), 2)))
    np.testing.assert_allclose(p.gradient_at(np.tile(w, (len(pairs), 1)), pairs).mean(axis=0), full, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_gradient_uses_the_buffers_it_is_given(loss: Loss) -> None:
    p = sample(loss, WholeSpace(), 0.1, 3)
    W = feasible(p, 7, 0)
    expected = p.gradient(W)
    out, margins = np.full((7, p.d), np.nan), np.full((7, p.n), np.nan)
    assert p.gradient(W, out=out, margins=margins) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("loss", "within", "l2"), CASES, ids=repr)
def test_minimiser_is_feasible_and_no_point_is_lower(loss: Loss, within: Constraint, l2: float) -> None:
    p = sample(loss, within, l2, 5)
    if isinstance(loss, Linear) and isinstance(within, WholeSpace) and l2 == 0:
        with pytest.raises(InvalidInput, match="linear"):
            p.minimiser()
        return
    w, least = p.minimiser()
    assert least == p.value(w)
    assert within.contains(w)
    near = within.project(
        w + np.repeat([1e-4, 1e-2], 200)[:, None] * np.random.default_rng(0).standard_normal((400, 3))
    )
    assert p.value(near).min() >= least - 1e-10
    if p.convex:
        assert p.value(feasible(p, 400, 1)).min() >= least - 1e-10


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_hessians_of_many_points_are_those_of_each_and_average_over_batches(loss: Loss) -> None:
    problem = sample(loss, WholeSpace(), 0.05, 3)
    W = np.random.default_rng(1).standard_normal((5, 3))
    each = np.array([problem.hessian(w) for w in W])
    np.testing.assert_allclose(problem.hessians(W), each, atol=1e-12)
    singles = [problem.hessians(W, np.full(5, i)) for i in range(problem.n)]
    np.testing.assert_allclose(np.mean(singles, axis=0), each, atol=1e-12)
    np.testing.assert_allclose(problem.hessians(W, np.tile(np.arange(problem.n), (5, 1))), each, atol=1e-12)
    if math.isfinite(problem.hessian_lipschitz):
        steps = np.linalg.norm(np.diff(W, axis=0), axis=1)
        assert np.all(
            np.linalg.norm(np.diff(each, axis=0), 2, axis=(1, 2)) <= problem.hessian_lipschitz * steps + 1e-12
        )


def test_minimiser_of_squares_in_closed_form() -> None:
    p = sample(Squared(), WholeSpace(), 0.3, 1)
    expected = np.linalg.solve(p.X.T @ p.X / p.n + 0.3 * np.eye(3), p.X.T @ p.y / p.n)
    np.testing.assert_allclose(p.minimiser()[0], expected, atol=1e-12)


def test_minimiser_on_the_ball_in_closed_form() -> None:
    p = sample(Linear(), L2Ball(2.0), 0.0, 1)
    g = -(p.y @ p.X) / p.n
    np.testing.assert_allclose(p.minimiser()[1], -2 * np.linalg.norm(g), atol=1e-10)


def test_separable_data_have_no_minimiser() -> None:
    p = Problem([[1.0, 0.0], [-1.0, 0.1 - 0.1]], [1, -1], Logistic())
    with pytest.raises(InvalidInput, match="separable"):
        p.minimiser()
    assert Problem(p.X, p.y, Logistic(), l2=0.1).minimiser()[1] < math.log(2)


def test_enough_regularisation_makes_the_sigmoid_convex() -> None:
    assert not sample(Sigmoid(), WholeSpace(), 0.05, 0).convex
    assert sample(Sigmoid(), WholeSpace(), 0.6, 0).strong_convexity == pytest.approx(0.6 - 1 / (6 * math.sqrt(3)))


def test_constants_do_not_depend_on_the_rows() -> None:
    p = sample(Squared(), L2Ball(1.5), 0.05, 0)
    q = p.with_data(p.X / 100, p.y / 100)
    for name in ("lipschitz", "data_lipschitz", "smoothness", "strong_convexity", "diameter"):
        assert getattr(p, name) == getattr(q, name)
    assert (p.lipschitz, p.smoothness) == (2.5 + 0.05 * 1.5, 1.05)


def test_neighbours_differ_in_one_record() -> None:
    p = sample(Logistic(), L2Ball(1.0), 0.1, 0)
    q = p.replace(3, [0.0, 1.0, 0.0], -1)
    assert np.flatnonzero((p.X != q.X).any(axis=1)).tolist() == [3]
    assert (q.y[3], q.l2, q.constraint, q.n) == (-1, 0.1, L2Ball(1.0), p.n)
    assert np.linalg.norm(p.gradient(np.ones(3)) - q.gradient(np.ones(3))) <= 2 * p.data_lipschitz / p.n


def test_data_are_copied_and_read_only() -> None:
    X = np.eye(2)
    p = Problem(X, [1, 1], Logistic())
    X[0, 0] = 9.0
    assert p.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        p.X[0, 0] = 2.0


GOOD = {"X": [[0.6, 0.8], [0.0, 1.0]], "y": [1, -1], "loss": Logistic()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [], "y": []}, "shape of X"),
        ({"X": np.empty((0, 2)), "y": []}, "shape of X"),
        ({"X": [[1.0, 0.0], [1.0]]}, "unequal length"),
        ({"X": [0.5, 0.5]}, "shape of X"),
        ({"X": [[math.nan, 0.0], [0.0, 1.0]]}, r"X at \(0, 0\) is no number"),
        ({"X": [[1.0, 0.0], [0.0, -math.inf]]}, r"X at \(1, 1\)"),
        ({"y": [1, math.nan]}, r"labels at \(1,\)"),
        ({"X": [[0.6, 0.8], [0.6, 0.9]]}, "norm of row 1"),
        ({"y": [1, 0]}, "label 1 is neither; it must be -1 or 1"),
        ({"y": [1, -1, 1]}, "shape of y"),
        ({"loss": Squared(), "y": [0.2, -1.5]}, "label 1 is too large"),
        ({"l2": -0.1}, "l2"),
        ({"l2": math.nan}, "l2"),
        ({"row_bound": 0.0}, "row_bound"),
        ({"label_bound": math.inf}, "label_bound"),
        ({"constraint": Box((0.0,) * 3, (1.0,) * 3)}, "coordinates"),
    ],
)
def test_bad_input_is_refused(change: dict[str, object], message: str) -> None:
    Problem(**GOOD)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=message):
        Problem(**{**GOOD, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("i", "x", "y"), [(2, [0, 1], 1), (-1, [0, 1], 1), (0, [0, 1, 0], 1), (0, [2, 0], 1), (0, [0, 1], 3)]
)
def test_bad_replacement_is_refused(i: int, x: list[float], y: float) -> None:
    with pytest.raises(InvalidInput):
        Problem(**GOOD).replace(i, x, y)  # type: ignore[arg-type]


def test_rows_at_the_bound_up_to_rounding_pass() -> None:
    Problem([[1.0 + 5e-13, 0.0]], [1], Logistic())
    with pytest.raises(InvalidInput):
        Problem([[1.0 + 5e-12, 0.0]], [1], Logistic())
