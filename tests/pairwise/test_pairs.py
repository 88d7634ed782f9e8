"""Losses of pairs: gradients by hand, sensitivities reached and kept, sequences, buffers, and too few records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.bounds.library.pairwise import pw_giga as theory
from dpcheck.families.pairwise import PairProblem, PSDBall, giga, opposite_labels, stepped
from dpcheck.families.stream_buffers import heaviest, rs_x
from dpcheck.problems.losses import Linear, Logistic, Squared
from dpcheck.solvers.pairwise.pw_giga import PairwiseGIGA
from dpcheck.solvers.pairwise.pw_off_c import OffPairC
from dpcheck.solvers.pairwise.pw_off_strc import OffPairStrC
from dpcheck.solvers.pairwise.pw_on_strc import OnPairStrC

PRIVATE = dp.ApproxDP(1.0, 1e-3)


def stream(n: int, d: int, seed: int, metric: bool = False, l2: float = 4.0) -> PairProblem:
    """Two classes on the sphere, apart along the first axis."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, d)) + 2 * y[:, None] * np.eye(d)[0]
    return PairProblem(X / np.linalg.norm(X, axis=1, keepdims=True) / (1 + 1e-12), y, l2=l2, metric=metric)


@pytest.mark.parametrize("metric", [False, True])
def test_gradients_are_slopes_of_losses_written_out_pair_by_pair(metric: bool) -> None:
    one = stream(7, 2, 0, metric)
    w = one.middle + 0.1 * np.arange(one.width)

    def loss(w: np.ndarray, t: int, i: int) -> float:
        apart = one.X[t] - one.X[i]
        if metric:
            margin = one.y[t] * one.y[i] * (1 - apart @ w.reshape(2, 2) @ apart)
        else:
            margin = (one.y[t] - one.y[i]) * (apart @ w)
        return float(np.log1p(np.exp(-margin)) + 2.0 * ((w - one.middle) ** 2).sum())

    steps = 1e-6 * np.eye(one.width)
    slopes = [np.mean([loss(w + e, 6, i) - loss(w - e, 6, i) for i in range(6)]) / 2e-6 for e in steps]
    assert one.gradient(w[None], 6, slice(0, 6))[0] == pytest.approx(slopes, abs=1e-7)
    pairs = [loss(w, t, i) for t in range(7) for i in range(7) if i != t]
    assert one.value(w[None])[0] == pytest.approx(np.mean(pairs))


def test_what_is_taken_for_pairs_comes_to_the_same() -> None:
    one = stream(30, 3, 5)
    squared = PairProblem(one.X, one.y, Squared(), l2=2.0)
    W = np.random.default_rng(6).standard_normal((4, 3))
    for t in (1, 7, 29):
        for problem in (one, squared):
            assert problem.gradient(W, t, slice(0, t)) == pytest.approx(problem.gradient(W, t, np.arange(t)))
    assert squared.gradient(W, 29, slice(0, 29)) != pytest.approx(one.gradient(W, 29, slice(0, 29)))  # planted


def test_points_that_ignore_the_data_keep_the_error_from_vanishing() -> None:
    """-4w of each pair of opposite labels: w = 1 is best. A quarter of the points at 0 leaves 1/4, few leave less."""

    def lost(n: int, first: int | None) -> float:
        y = np.tile([1.0, -1.0], n // 2)
        one = PairProblem(y[:, None], y, Linear())
        solver = OffPairC(first=first)
        plan = solver.plan(one, PRIVATE)
        method = solver.method(one, plan, solver.release(one, plan))
        return 1 - float(method.query(one, method.start(1), 0, None)[0, 0])

    assert min(lost(n, n // 4) for n in (200, 800)) >= 0.25
    assert lost(800, None) < 0.03


def test_projections_are_the_nearest_matrices() -> None:
    ball, rng = PSDBall(1.0), np.random.default_rng(1)
    W = rng.standard_normal((1, 9))
    near = ball.project(W)
    for _ in range(200):
        root = rng.standard_normal((3, 3))
        other = ball.project((root @ root.T).reshape(1, 9) * rng.uniform(0, 1))
        assert np.linalg.norm(W - near) <= np.linalg.norm(W - other) + 1e-12
    assert np.linalg.eigvalsh(near.reshape(3, 3)).min() > -1e-12


def test_the_worst_stream_reaches_the_sharper_lemma_and_half_of_the_printed() -> None:
    """At the time of the record that differs; 2G/(αt), as the proof's first case has it, would be half of that."""
    one, other = opposite_labels(40, 16, l2=4.0)
    gaps = np.linalg.norm(giga(one, 16) - giga(other, 16), axis=1)
    numbers = {"G": 4.0, "alpha_pair": 4.0, "L_pair": 4.0, "T1": 16}
    bound = theory.regularised.evaluate(later=np.arange(1, 25), **numbers)
    printed = theory.lemma1.evaluate(later=np.arange(1, 25), **numbers)
    assert gaps[0] == pytest.approx(bound[0])
    assert np.all(gaps <= bound * (1 + 1e-12))
    assert 0.5 < gaps[0] / printed[0] < 0.54
    assert gaps[0] > 1.9 * theory.first_case.evaluate(t=17, **numbers)


def test_in_the_loop_one_record_moves_all_later_steps_by_little() -> None:
    """Given equal points, all steps together; a buffer of one place that keeps the record is planted."""
    one, other = opposite_labels(300, 16, l2=4.0)

    def moved(rows: list[np.ndarray]) -> float:
        at = range(16, 300)
        gaps = [(t + 1) * (stepped(one, p, t, r) - stepped(other, p, t, r)) for t, r in zip(at, rows, strict=True)]
        return float(np.linalg.norm(gaps))

    p, reach = one.middle[None], float(theory.reach.subs({theory.G: 4, theory.alpha: 4, theory.T1: 16}))
    assert 0.99 * reach < moved([np.arange(t) for t in range(16, 300)]) < reach * (1 + 1 / 16) ** 0.5
    assert moved([np.arange(t) if t == 16 else np.array([16]) for t in range(16, 300)]) > 10 * reach


def test_places_of_the_buffer_are_uniform_and_independent() -> None:
    """A chi-square of pairs of places at time 12, false alarms 1e-6; one that never replaces is planted."""
    rng = np.random.default_rng(0)
    held = np.array([rs_x(13, 3, rng)[12] for _ in range(12_000)])
    assert held.shape == (12_000, 3)
    pairs = np.bincount(12 * held[:, 0] + held[:, 1], minlength=144)
    assert stats.chisquare(pairs).pvalue > 1e-6
    kept = np.array([rs_x(13, 3, rng)[4] for _ in range(12_000)])
    assert stats.chisquare(np.bincount(12 * kept[:, 0] + kept[:, 1], minlength=144)).pvalue < 1e-6


def test_the_weight_of_a_buffer_is_that_of_its_heaviest_record() -> None:
    buffers = (np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 0, 0]))
    assert heaviest(buffers, 3, 6) == pytest.approx(4 / 9 + 1 / 9 + 1)  # record 0, never in a step of its own


def test_noise_in_the_loop_does_not_grow_with_the_stream() -> None:
    noise = {}
    for kind in (OnPairStrC, PairwiseGIGA):
        noise[kind.name] = [kind().calibrated(stream(n, 2, 2), PRIVATE).noise_std for n in (100, 400)]
    assert noise["pw_giga"][0] == noise["pw_giga"][1]
    assert noise["pw_on_strc"][1] > 1.9 * noise["pw_on_strc"][0]


def test_outputs_are_a_sequence_of_feasible_points() -> None:
    one = stream(40, 2, 3, metric=True)
    found = OnPairStrC().solve(one, PRIVATE, rng=0, trials=3)
    points = found.w.reshape(3, found.steps, 4)
    assert np.linalg.norm(points, axis=2).max() < 1 + 1e-6
    assert np.linalg.eigvalsh(points.reshape(-1, 2, 2)).min() > -1e-6


def test_the_direction_is_found_from_many_records() -> None:
    one = stream(3000, 3, 4, l2=1.0)
    found = OffPairStrC().solve(one, dp.ApproxDP(4.0, 1e-4), rng=0, trials=20).w
    cosines = found[:, 0] / np.linalg.norm(found, axis=1)
    assert cosines.min() > 0.9
    assert abs(found[:, 1] / np.linalg.norm(found, axis=1)).max() < 0.5  # planted: another axis


def test_the_experiments_of_the_document_take_no_step() -> None:
    """T₁ as printed, with G = L = 4 of rows of norm 1, beside the largest n of the figures."""
    for n, alpha in ((90, 1e-3), (350, 350**-0.25), (350, 350**-0.5)):
        assert 16 * ((4 + alpha) / alpha) ** 2 > n
    assert 16 * ((4 + 20.0) / 20.0) ** 2 < 90  # it would take a regulariser of this size


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: PairProblem(np.eye(3) * 2, [1, -1, 1]), "norm of row 0 is too large"),
        (lambda: PairProblem(np.eye(3), [1, 0, 1]), "labels"),
        (lambda: PairProblem(np.eye(2), [1, -1]), "records"),
        (lambda: PairProblem(np.eye(3), [1, -1, 1], l2=-1.0), "l2"),
        (lambda: OnPairStrC().solve(stream(30, 2, 0, l2=0.0), PRIVATE), "l2"),
        (lambda: OnPairStrC().solve(stream(30, 2, 0, l2=0.01), PRIVATE), "records"),
        (lambda: OnPairStrC(first=4).solve(stream(30, 2, 0, l2=1.0), PRIVATE), "first"),
        (lambda: OnPairStrC().solve(stream(30, 2, 0), dp.PureDP(1.0)), "delta"),
        (lambda: OnPairStrC().solve(np.eye(3), PRIVATE), "PairProblem"),
    ],
)  # fmt: skip
def test_what_it_cannot_take_is_refused_by_name(make, word: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(dp.InvalidInput, match=word):
        make()


def test_linear_losses_need_no_more_start_than_the_least() -> None:
    assert OnPairStrC().plan(opposite_labels(30, 16, 4.0)[0], PRIVATE).first == 4
    assert Linear().curvature_range(4.0)[1] == 0 < Logistic().curvature_range(4.0)[1]
