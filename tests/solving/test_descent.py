"""The kernel on noisy gradient steps: against a plain loop on the same noise, and the same bits however it is cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpcheck import datasets
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels import blocks, noisy_answers
from dpcheck.kernels.blocks import seed_of
from dpcheck.kernels.drawn import records
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.kernels.running import Run
from dpcheck.kernels.single_precision import SingleGradient, hidden_by_noise, single_error
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball, Simplex, WholeSpace
from dpcheck.problems.losses import Huber, Linear, Logistic, Loss, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem

SETS = [WholeSpace(), L2Ball(0.4), L1Ball(0.4), Simplex(), Box(-0.1, 0.3)]
LOSSES = [Logistic(), Sigmoid(), SmoothedHinge(0.5), Squared(), Huber(0.3), Linear()]
FALSE_ALARM = 1e-6


def problem(loss: Loss | None = None, within: Constraint | None = None, l2: float = 0.1, n: int = 6) -> Problem:
    data = datasets.logistic_synthetic(n, 3, 0)
    return data.problem(loss or Logistic(), l2=l2, constraint=within or WholeSpace())


def run(p: Problem, **changes: object) -> Run:
    settings: dict[str, object] = {"steps": 7, "step_size": 0.5, "noise_std": 0.3, "seed": 5, "trials": 50}
    return noisy_descent(p, **{**settings, **changes})  # type: ignore[arg-type]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 trials, and noise for 3 steps at a time."""
    monkeypatch.setattr(blocks, "LARGEST_BLOCK", 64)
    for module in (blocks, noisy_answers):
        monkeypatch.setattr(module, "NOISE_HELD", 3 * 64 * 3)


def plain_loop(p: Problem, etas: np.ndarray, sigmas: np.ndarray, noise: np.ndarray, batches: list | None) -> np.ndarray:
    """One trial, one record and one step at a time; noise (steps, k, d)."""
    runs = []
    for trial in range(noise.shape[1]):
        w = p.constraint.project(np.zeros(p.d))
        for t, (eta, sigma) in enumerate(zip(etas, sigmas, strict=True)):
            chosen = range(p.n) if batches is None else np.atleast_1d(batches[t][trial])
            each = [p.loss.derivative(float(p.X[i] @ w), p.y[i]) * p.X[i] for i in chosen]
            w = p.constraint.project(w - eta * (sum(each) / len(each) + p.l2 * w + sigma * noise[t, trial]))
        runs.append(w)
    return np.array(runs)


def streams(seed: int, block: int = 0) -> tuple[np.random.Generator, np.random.Generator]:
    """The noise and record streams of a block, by numpy's own spawning."""
    of_block = np.random.SeedSequence(seed).spawn(block + 1)[block]
    noise, record, _ = of_block.spawn(3)
    return np.random.default_rng(noise), np.random.default_rng(record)


@pytest.mark.parametrize("within", SETS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_equals_a_plain_loop_on_the_same_noise(loss: Loss, within: Constraint) -> None:
    p = problem(loss, within)
    etas, sigmas = np.linspace(0.5, 0.1, 7), np.linspace(0.0, 0.6, 7)
    got = run(p, step_size=etas, noise_std=sigmas, trials=9).w
    noise = streams(5)[0].standard_normal((7, 9, 3))
    np.testing.assert_allclose(got, plain_loop(p, etas, sigmas, noise, None), atol=1e-13)


@pytest.mark.parametrize("batch", [1, 2, 6])
def test_sampled_steps_equal_a_plain_loop(batch: int) -> None:
    p = problem(within=L2Ball(0.8))
    noise_rng, record_rng = streams(5)
    noise = noise_rng.standard_normal((7, 9, 3))
    batches = [records(record_rng, 9, p.n, batch) for _ in range(7)]
    expected = plain_loop(p, np.full(7, 0.5), np.full(7, 0.3), noise, batches)
    np.testing.assert_allclose(run(p, batch=batch, trials=9).w, expected, atol=1e-13)


@pytest.mark.parametrize("settings", [{}, {"batch": 2}, {"rounds": lambda rng, k: rng.integers(0, 8, k)}])
def test_same_seed_same_bits(settings: dict[str, object]) -> None:
    p = problem()
    first = run(p, **settings).w
    np.testing.assert_array_equal(run(p, **settings).w, first)
    np.testing.assert_array_equal(run(p, seed=np.random.SeedSequence(5), **settings).w, first)
    assert not np.array_equal(run(p, seed=6, **settings).w, first)
    assert len(np.unique(first[:, 0])) >= 40  # trials differ from each other


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("settings", [{}, {"batch": 2}, {"rounds": lambda rng, k: rng.integers(0, 8, k)}])
def test_blocks_may_be_run_anywhere(settings: dict[str, object]) -> None:
    p = problem()
    whole = run(p, trials=200, **settings).w
    parts = [run(p, trials=200, blocks=blocks, **settings).w for blocks in (range(1), range(1, 3), range(3, 4))]
    assert [len(part) for part in parts] == [64, 128, 8]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(run(p, trials=128, **settings).w, whole[:128])
    assert not np.array_equal(whole[:64], whole[64:128])


@pytest.mark.usefixtures("small_blocks")
def test_every_block_equals_a_plain_loop() -> None:
    """Noise drawn a few steps at a time is the same stream; the last block is narrower and holds more."""
    p = problem()
    whole = run(p, trials=70, precision="double").w
    for block, rows in ((0, slice(0, 64)), (1, slice(64, 70))):
        noise = streams(5, block)[0].standard_normal((7, len(whole[rows]), 3))
        expected = plain_loop(p, np.full(7, 0.5), np.full(7, 0.3), noise, None)
        np.testing.assert_allclose(whole[rows], expected, atol=1e-13)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("precision", ["auto", "double"])
@pytest.mark.parametrize("settings", [{}, {"batch": 2}, {"rounds": lambda rng, k: rng.integers(0, 8, k)}])
def test_trace_changes_nothing(settings: dict[str, object], precision: str) -> None:
    p = problem(within=L2Ball(1.0))
    bare = run(p, trials=150, precision=precision, **settings)
    traced = run(p, trials=150, precision=precision, trace=True, **settings)
    np.testing.assert_array_equal(traced.w, bare.w)
    assert bare.trace is None
    assert traced.trace is not None
    assert traced.trace.points.shape == (8, 150, 3)
    np.testing.assert_array_equal(traced.trace.points[-1], traced.w)


def test_trace_holds_gradients_before_noise() -> None:
    p = problem()
    trace = run(p, trace=True).trace
    assert trace is not None
    for t in range(7):
        expected = np.linalg.norm(p.gradient(trace.points[t]), axis=1)
        np.testing.assert_allclose(trace.asked_norms[t], expected, atol=single_error(p))


def test_rounds_stop_each_trial_at_its_own_step() -> None:
    p = problem()
    rounds = np.random.default_rng(0).integers(0, 8, 50)
    stopped = run(p, rounds=lambda rng, k: rounds, trace=True)
    assert stopped.trace is not None
    for trial, R in enumerate(rounds):
        path = stopped.trace.points[:, trial]
        np.testing.assert_array_equal(path[R:], np.tile(stopped.w[trial], (8 - R, 1)))
        assert len(np.unique(path[: R + 1, 0])) == R + 1
    np.testing.assert_array_equal(stopped.w[rounds == 0], 0.0)


@pytest.mark.usefixtures("small_blocks")
def test_trials_that_never_start_have_no_gradient_of_another_block() -> None:
    trace = run(problem(), trials=200, rounds=lambda rng, k: np.arange(k) % 2, trace=True).trace
    assert trace is not None
    started = np.concatenate([np.arange(k) % 2 for k in (64, 64, 64, 8)]) == 1
    assert np.all(trace.asked_norms[:, ~started] == 0)
    assert np.all(trace.asked_norms[0, started] > 0)
    assert np.all(trace.asked_norms[1:] == 0)  # all have stopped


def test_rounds_are_those_of_plain_descent_without_noise() -> None:
    p = problem()
    full = run(p, noise_std=0.0, trials=1, trace=True).trace
    rounds = np.arange(50) % 8
    got = run(p, noise_std=0.0, rounds=lambda rng, k: rounds).w
    assert full is not None
    np.testing.assert_allclose(got, full.points[rounds, 0], atol=1e-14)


def test_rounds_that_all_equal_the_last_change_nothing() -> None:
    p = problem()
    np.testing.assert_array_equal(run(p, rounds=lambda rng, k: np.full(k, 7)).w, run(p).w)


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_records_are_uniform_and_distinct(batch: int) -> None:
    """Chi-square at a false-alarm rate of 1e-6, and a planted bug: the last record never drawn."""
    rng = np.random.default_rng(0)
    chosen = records(rng, 20_000, 6, batch).reshape(20_000, batch)
    assert all(len(set(row)) == batch for row in chosen[:500].tolist())

    def p_value(indices: np.ndarray) -> float:
        # One index a trial, at a random place, so that the draws are independent.
        place = rng.integers(indices.shape[1], size=len(indices))
        return float(stats.chisquare(np.bincount(indices[np.arange(len(indices)), place], minlength=6)).pvalue)

    assert p_value(chosen) > FALSE_ALARM
    assert p_value(records(rng, 20_000, 5, batch).reshape(20_000, batch)) < FALSE_ALARM


def test_sampled_steps_have_the_mean_of_the_full_step() -> None:
    """One step from a point: mean over trials against the gradient, by t-tests at 1e-6 in all."""
    p, start = problem(), np.array([0.5, -0.2, 0.1])
    expected = start - 0.5 * p.gradient(start)
    for batch in (1, 3):
        w = run(p, steps=1, batch=batch, start=start, trials=20_000).w
        assert stats.ttest_1samp(w, expected).pvalue.min() * 3 > FALSE_ALARM
        planted = w - 0.5 * p.l2 * start  # the regulariser counted twice
        assert stats.ttest_1samp(planted, expected).pvalue.min() * 3 < FALSE_ALARM


def test_one_step_has_the_law_of_its_noise() -> None:
    """Kolmogorov-Smirnov at 1e-6; planted: a tenth more noise."""
    p = problem()
    w = run(p, steps=1, noise_std=0.8, trials=20_000).w[:, 1]
    mean = -0.5 * p.gradient(np.zeros(3))[1]
    assert stats.kstest(w, stats.norm(mean, 0.4).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(w, stats.norm(mean, 0.44).cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize("within", SETS, ids=repr)
def test_constraint_is_respected_at_every_step(within: Constraint) -> None:
    trace = run(problem(within=within), noise_std=2.0, trace=True).trace
    assert trace is not None
    assert np.all(within.contains(trace.points))


def test_finds_the_minimiser_without_noise() -> None:
    p = problem(within=L2Ball(0.4))
    w = run(p, noise_std=0.0, steps=2000, step_size=1 / p.smoothness, trials=2).w
    np.testing.assert_allclose(p.value(w), p.minimiser()[1], atol=1e-10)


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("within", [WholeSpace(), L2Ball(0.4)], ids=repr)
def test_single_precision_is_as_exact_as_stated(n: int, within: Constraint) -> None:
    """Both ways of summing. Noise-free errors are checked at each step of the same path."""
    p = problem(within=within, n=n)
    W = 5 * np.random.default_rng(0).standard_normal((3000, 3))
    G = np.empty_like(W)
    SingleGradient(p, 3000).fill(W, G, np.empty((3000, n)))
    assert 0 < np.linalg.norm(G - p.gradient(W), axis=1).max() <= single_error(p)
    auto, double = run(p), run(p, precision="double")
    assert 0 < np.abs(auto.w - double.w).max() <= 7 * 0.5 * single_error(p) * 2


def test_single_precision_only_where_noise_hides_it() -> None:
    p = problem()
    assert hidden_by_noise(p, 1.0, 10)
    assert not hidden_by_noise(p, 1e-4, 10)
    assert not hidden_by_noise(p, 0.0, 10)
    assert not hidden_by_noise(problem(Squared()), 1.0, 10)
    np.testing.assert_array_equal(run(p, noise_std=1e-4).w, run(p, noise_std=1e-4, precision="double").w)


def test_runs_begin_at_the_start() -> None:
    p, start = problem(), np.array([0.5, -0.2, 0.1])
    trace = run(p, start=start, trace=True).trace
    assert trace is not None
    np.testing.assert_array_equal(trace.points[0], np.tile(start, (50, 1)))


def test_answers_are_what_moved_the_points() -> None:
    """Before projection, noise and all; 0 once a trial has stopped, and `stops` says when."""
    p = problem(within=L2Ball(0.3))
    trace = run(p, rounds=lambda rng, k: rng.integers(0, 8, k), trace=True).trace
    assert trace is not None
    for t in range(7):
        led, on = trace.points[t] - 0.5 * trace.answers[t], trace.stops > t
        np.testing.assert_allclose(trace.points[t + 1][on], p.constraint.project(led[on]), atol=1e-12)
        assert np.all(trace.answers[t][~on] == 0)
    assert np.linalg.norm(trace.points[0] - 0.5 * trace.answers[0], axis=1).max() > 0.3  # some were projected


def test_blocks_shrink_with_the_number_of_records() -> None:
    assert blocks.block_size(problem(n=20)) == 2048
    assert blocks.block_size(problem(n=569)) == 64
    assert blocks.block_size(problem(n=100)) == 512


def test_seed_of_every_kind() -> None:
    assert seed_of(3).entropy == 3
    sequence = np.random.SeedSequence(4)
    assert seed_of(sequence) is sequence
    assert sequence.n_children_spawned == 0
    assert seed_of(None).entropy != seed_of(None).entropy
    rng = np.random.default_rng(0)
    first, second = seed_of(rng).entropy, seed_of(rng).entropy
    assert first != second
    assert seed_of(np.random.default_rng(0)).entropy == first
    with pytest.raises(InvalidInput, match="seed"):
        seed_of(-1)
    with pytest.raises(InvalidInput, match="seed"):
        seed_of("0")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": 0}, "trials"),
        ({"trials": -1}, "trials"),
        ({"steps": 0}, "steps"),
        ({"steps": 2.5}, "steps"),
        ({"step_size": 0.0}, "step_size"),
        ({"step_size": math.nan}, "step_size"),
        ({"step_size": [0.1, 0.1]}, "length of step_size"),
        ({"noise_std": -1.0}, "noise_std"),
        ({"noise_std": math.inf}, "noise_std"),
        ({"batch": 0}, "batch"),
        ({"batch": 7}, "at most n=6"),
        ({"start": [0.0, 0.0]}, "shape of start"),
        ({"start": [math.nan, 0.0, 0.0]}, "start"),
        ({"rounds": lambda rng, k: np.full(k, 8)}, "rounds"),
        ({"rounds": lambda rng, k: np.full(k, -1)}, "rounds"),
        ({"rounds": lambda rng, k: np.ones(k)}, "rounds"),
        ({"rounds": lambda rng, k: np.ones(k + 1, int)}, "rounds"),
        ({"blocks": range(0)}, "blocks"),
        ({"blocks": range(1, 2)}, "blocks"),
        ({"seed": -3}, "seed"),
        ({"precision": "half"}, "precision"),
    ],
)
def test_bad_input_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run(problem(), **change)


def test_start_outside_the_set_is_refused() -> None:
    with pytest.raises(InvalidInput, match="constraint set"):
        run(problem(within=L2Ball(0.4)), start=[1.0, 0.0, 0.0])


def test_iterates_that_overflow_are_refused() -> None:
    with pytest.raises(InvalidInput, match="step_size"):
        run(problem(Squared()), step_size=1e200)
