"""Worst cases of other methods: closed forms where known, and runs on the pairs that attain them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.performance.instance import holds
from dpcheck.bounds.performance.interpolant import Interpolant, simplex_maximum
from dpcheck.bounds.performance.methods import NAMES, FirstOrderMethod
from dpcheck.bounds.performance.program import ConvexClass
from dpcheck.bounds.performance.worst_case import (
    MEASURES,
    Pair,
    WorstCase,
    convergence_rate,
    permuted_sensitivity,
    sensitivity,
)
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.problems.losses import Linear
from dpcheck.problems.problem import Problem

SMOOTH: dict[str, Any] = {"n": 10, "step_size": 0.7, "smoothness": 1.0, "lipschitz": 2.0}


def attained(worst: WorstCase, rel: float = 1e-5) -> None:
    """The proof checks itself, the bounds meet, and a run of the method on the instance reaches them."""
    worst.certificate.check()
    assert worst.exact
    assert worst.gap < 1e-5
    assert worst.instance().reached() == pytest.approx(worst.value, rel=rel)


# Sensitivity -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["gradient", "projected", "proximal"])
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_projections_and_proxes_do_not_expand(method: Any, steps: int) -> None:
    """2 L T eta / n, as without them."""
    worst = sensitivity(method, steps=steps, **SMOOTH)
    assert worst.value == pytest.approx(2 * 2.0 * steps * 0.7 / 10, rel=1e-8)
    attained(worst)


@pytest.mark.parametrize("method", ["gradient", "projected"])
def test_regularised_runs_contract(method: Any) -> None:
    mu, eta, steps, n = 0.2, 0.7, 5, 10
    worst = sensitivity(method, steps=steps, strong_convexity=mu, regularised=True, **SMOOTH)
    assert worst.value == pytest.approx(2 * 2.0 / (n * mu) * (1 - (1 - eta * mu) ** steps), rel=1e-8)
    attained(worst)


def test_step_sizes_may_change() -> None:
    etas = (1.0, 0.5, 0.25)
    worst = sensitivity("projected", n=4, steps=3, step_size=etas, smoothness=1.0, lipschitz=1.0)
    assert worst.value == pytest.approx(2 * sum(etas) / 4, rel=1e-8)
    attained(worst)


@pytest.mark.parametrize("method", ["accelerated", "heavy_ball"])
def test_momentum_is_less_stable(method: Any) -> None:
    """More than gradient descent at every horizon, and more than linear losses can show from some horizon on."""
    runs = [sensitivity(method, steps=t, **SMOOTH) for t in (3, 6, 10)]
    plain = [sensitivity(steps=t, **SMOOTH) for t in (3, 6, 10)]
    assert all(a.value > b.value for a, b in zip(runs, plain, strict=True))
    linear = abs(float(FirstOrderMethod(method, 10, 0.7).walk(np.zeros(1), lambda *_: np.full(1, 2 * 2.0 / 10))[-1][0]))
    assert runs[-1].lower > 1.001 * linear
    for worst in runs:
        attained(worst)


def test_acceleration_grows_faster_than_any_fixed_power() -> None:
    """Attia-Koren 2021: the sensitivity of accelerated descent doubles and doubles again."""
    values = [sensitivity("accelerated", steps=t, **SMOOTH).value for t in (5, 10, 20)]
    assert values[2] / values[1] > values[1] / values[0] > 2


def test_a_step_too_long_expands() -> None:
    worst = sensitivity(n=10, steps=4, step_size=2.5, smoothness=1.0, lipschitz=1.0)
    assert worst.lower > 1.1 * 2 * 4 * 2.5 / 10
    attained(worst)


@pytest.mark.parametrize("path", ["own", "both"])
def test_strongly_convex_records(path: Any) -> None:
    attained(sensitivity(steps=4, strong_convexity=0.2, path=path, **SMOOTH), rel=1e-4)


def test_lipschitz_losses_that_are_not_smooth() -> None:
    """Between what linear losses reach and 2 eta L (sqrt T + 2T/n) (Bassily, Feldman, Guzman, Talwar 2020)."""
    n, steps, eta, L = 10, 4, 0.7, 2.0
    worst = sensitivity(n=n, steps=steps, step_size=eta, smoothness=math.inf, lipschitz=L)
    assert 2 * L * eta * steps / n < worst.value <= 2 * eta * L * (math.sqrt(steps) + 2 * steps / n)
    attained(worst)


def test_lipschitz_losses_with_a_regulariser_contract() -> None:
    """Only the losses are Lipschitz, not the quadratic: the runs part less than without it, and still more than 0."""
    plain = sensitivity(n=10, steps=4, step_size=0.7, smoothness=math.inf, lipschitz=2.0)
    held = sensitivity(
        n=10, steps=4, step_size=0.7, smoothness=math.inf, strong_convexity=0.5, lipschitz=2.0, regularised=True
    )
    assert 0.5 * plain.value < held.value < plain.value
    attained(held)


def test_without_a_common_part_nothing_carries_the_runs_apart() -> None:
    """One record: the aligned program bounds a heavy ball that swings, and does not claim to be exact."""
    worst = sensitivity(
        "heavy_ball", n=1, steps=8, step_size=1.7, smoothness=1.0, strong_convexity=0.2, lipschitz=1.0, regularised=True
    )
    assert not worst.exact
    assert worst.instance().reached() == pytest.approx(worst.lower, rel=1e-9)
    assert worst.lower < worst.value


def test_many_strongly_convex_records_fall_back_to_the_aligned_program() -> None:
    """The form of lemma 3 corrected holds for them, whichever program answers."""
    mu, eta, n, steps = 0.2, 0.08, 1000, 5
    worst = sensitivity(n=n, steps=steps, step_size=eta, smoothness=1.0, strong_convexity=mu, lipschitz=1.0)
    assert worst.value <= 2 / (n * mu) * (1 - (1 - eta * mu) ** steps) * (1 + 1e-7)
    assert worst.lower <= worst.value
    worst.certificate.check()


def test_a_relaxed_program_says_so_and_brackets_the_exact_one() -> None:
    question: dict[str, Any] = {**SMOOTH, "strong_convexity": 0.2}
    exact = sensitivity(steps=8, **question)
    relaxed = sensitivity("projected", steps=8, **question)
    assert not relaxed.exact
    assert relaxed.lower <= exact.value * (1 + 1e-9)
    assert exact.lower <= relaxed.value
    assert relaxed.instance().reached() == pytest.approx(relaxed.lower, rel=1e-9)
    relaxed.certificate.check()


@pytest.mark.parametrize(("mu", "regularised"), [(0.0, False), (0.2, False), (0.2, True)])
def test_one_pass_in_order(mu: float, regularised: bool) -> None:
    """2 eta L at the worst position: the last record, if earlier differences shrink."""
    worst = permuted_sensitivity(
        n=6, step_size=0.7, smoothness=1.0, strong_convexity=mu, lipschitz=2.0, regularised=regularised
    )
    assert worst.value == pytest.approx(2 * 0.7 * 2.0, rel=1e-8)
    assert worst.position == 5 or mu == 0
    attained(worst)


def test_one_pass_with_steps_too_long_is_worst_for_the_first_record() -> None:
    worst = permuted_sensitivity(n=5, step_size=2.5, smoothness=1.0, lipschitz=1.0)
    assert worst.position == 0
    assert worst.value == pytest.approx(2 * 2.5 * 1.5**4, rel=1e-7)
    attained(worst)


def test_several_passes_add_up() -> None:
    """2 eta L a pass: an upper bound that linear losses attain."""
    worst = permuted_sensitivity(n=3, passes=4, step_size=0.5, smoothness=1.0, lipschitz=1.0)
    assert worst.value == pytest.approx(4 * 2 * 0.5, rel=1e-8)
    assert worst.lower == pytest.approx(worst.value, rel=1e-8)
    attained(worst)
    strong = permuted_sensitivity(n=3, passes=4, step_size=0.5, smoothness=1.0, strong_convexity=0.2, lipschitz=1.0)
    assert not strong.exact
    assert strong.instance().reached() == pytest.approx(strong.lower, rel=1e-9)


def test_the_pair_is_a_pair_of_the_class() -> None:
    """Its functions keep all interpolation inequalities, and the records' gradients the Lipschitz bound."""
    pair = sensitivity("accelerated", steps=5, **SMOOTH).instance()
    assert isinstance(pair, Pair)
    for part in (pair.own, pair.other, pair.common[0]):
        assert part is not None
        assert holds(part, room=1e-6)
    for dataset, part in enumerate((pair.own, pair.other)):
        for w in pair.run(dataset):
            norm = np.linalg.norm(part.gradient(w / pair.units[0])) * pair.units[1]
            assert norm <= 2.0 / 10 * (1 + 1e-7)


@pytest.mark.parametrize("steps", [1, 5])
def test_the_solvers_descent_attains_the_worst_case_on_linear_losses(steps: int) -> None:
    """A Problem of dpcheck: one record's slope is turned round, the kernel runs without noise."""
    n, eta = 10, 0.7
    here = Problem(np.ones((n, 1)), np.ones(n), Linear())
    there = here.replace(0, [1.0], -1.0)
    ends = [
        noisy_descent(p, steps=steps, step_size=eta, noise_std=0.0, seed=0, trials=1).w[0, 0] for p in (here, there)
    ]
    worst = sensitivity(n=n, steps=steps, step_size=eta, smoothness=1.0, lipschitz=here.lipschitz)
    assert abs(ends[0] - ends[1]) == pytest.approx(worst.value, rel=1e-8)


@pytest.mark.parametrize("dataset", [0, 1])
def test_gradients_of_a_pair_are_those_of_its_values(dataset: int) -> None:
    whole = sensitivity(steps=3, strong_convexity=0.2, regularised=True, **SMOOTH).instance()
    ordered = permuted_sensitivity(n=3, step_size=2.5, smoothness=1.0, lipschitz=1.0).instance()
    rng = np.random.default_rng(0)
    for pair, steps in ((whole, [0]), (ordered, [0, 1, 2])):
        w = pair.run(0)[1] + 0.01 * rng.normal(size=len(pair.start)) * pair.units[0]
        along = rng.normal(size=len(w)) * 1e-4 * pair.units[0]
        for t in steps:
            change = pair.value(w + along, dataset, t) - pair.value(w - along, dataset, t)
            assert change == pytest.approx(2 * pair.gradient(w, dataset, t) @ along, rel=1e-3, abs=1e-9)


# Rates ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_proximal_rate(steps: int) -> None:
    """beta / (4T) (Taylor, Hendrickx, Glineur 2017), and the same for projections."""
    for method in ("proximal", "projected"):
        worst = convergence_rate(method, steps=steps, step_size=0.5, smoothness=2.0)  # type: ignore[arg-type]
        assert worst.value == pytest.approx(2.0 / (4 * steps), rel=1e-7)
        attained(worst)


@pytest.mark.parametrize("steps", [2, 6])
def test_accelerated_rate_is_below_its_textbook_bound(steps: int) -> None:
    """2 beta / (T + 1)^2 (Beck-Teboulle 2009), with and without a regulariser."""
    plain = convergence_rate("accelerated", steps=steps, step_size=0.5, smoothness=2.0)
    composite = convergence_rate("accelerated", steps=steps, step_size=0.5, smoothness=2.0, composite=True)
    assert plain.value < composite.value < 2 * 2.0 / (steps + 1) ** 2
    attained(plain)
    attained(composite, rel=1e-4)


@pytest.mark.parametrize("steps", [1, 4])
def test_subgradient_rate(steps: int) -> None:
    """L / sqrt(T + 1) for the best point at step 1 / (L sqrt(T + 1)): optimal (Drori-Teboulle 2016)."""
    step = 1 / (2.0 * math.sqrt(steps + 1))
    worst = convergence_rate(steps=steps, step_size=step, lipschitz=2.0, measure="best_value")
    assert worst.value == pytest.approx(2.0 / math.sqrt(steps + 1), rel=1e-6)
    attained(worst)


@pytest.mark.parametrize("measure", ["value", "distance", "gradient", "best_value", "best_gradient", "gradient_map"])
@pytest.mark.parametrize("method", ["gradient", "accelerated", "heavy_ball"])
def test_every_measure_is_attained(measure: Any, method: Any) -> None:
    attained(convergence_rate(method, steps=4, step_size=0.5, smoothness=2.0, strong_convexity=0.2, measure=measure))


def test_a_lipschitz_bound_helps_where_it_binds() -> None:
    smooth = convergence_rate(steps=2, step_size=0.5, smoothness=2.0).value
    both = convergence_rate(steps=2, step_size=0.5, smoothness=2.0, lipschitz=0.1)
    assert both.value < 0.8 * smooth
    attained(both)
    far = convergence_rate(steps=2, step_size=0.5, smoothness=2.0, lipschitz=50.0)
    assert far.value == pytest.approx(smooth, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2])
def test_strong_convexity_of_lemma_5_at_its_sharpest(n: int) -> None:
    """mu = 0.9, T up to 5, where an earlier solver lay 1e-4 above the closed form: it holds."""
    for steps in (3, 4, 5):
        mu, eta = 0.9, 1 / 1.9
        form = mu / 2 / (mu - 1 + (1 - eta * mu) ** (-2 * steps))
        worst = convergence_rate(steps=steps, step_size=eta / n, smoothness=n, strong_convexity=mu * n)
        assert worst.lower <= n * form * (1 + 1e-9)
        assert worst.value == pytest.approx(n * form, rel=2e-6)


@pytest.mark.parametrize("steps", [1, 4])
def test_the_known_worst_function_is_a_huber_loss(steps: int) -> None:
    """Slope 1 / (2T + 1), then flat: gradient descent at step 1 leaves 1 / (4T + 2) (Drori-Teboulle 2014)."""
    slope = 1 / (2 * steps + 1)
    w = FirstOrderMethod("gradient", steps, 1.0).walk(np.ones(1), lambda _, w: np.clip(w, -slope, slope))[-1][0]
    left = slope * (abs(w) - slope / 2) if abs(w) > slope else w * w / 2
    assert left == pytest.approx(convergence_rate(steps=steps, step_size=1.0, smoothness=1.0).value, rel=1e-7)


# Functions through given data ------------------------------------------------------------------------------
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 0.5), st.integers(1, 8))
def test_interpolants_pass_through_their_data_and_stay_in_the_class(seed: int, mu: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    curvature, L = rng.uniform(mu, 1.0, 3), 1.2
    x = rng.normal(size=(count, 3))
    f = Interpolant(x, curvature * x, (x**2 @ curvature) / 2, ConvexClass(L, mu))
    for at, value in zip(x, f.f, strict=True):
        assert f.value(at) == pytest.approx(value, abs=1e-7)
        assert f.gradient(at) == pytest.approx(curvature * at, abs=1e-5)
    u, v = rng.normal(size=(2, 3)) * 3
    dx, dg = u - v, f.gradient(u) - f.gradient(v)
    room = 1e-6 * (1 + dx @ dx)
    assert mu * dx @ dx - room <= dg @ dx <= L * dx @ dx + room
    assert f.value(u) >= f.value(v) + f.gradient(v) @ dx - room
    if mu == 0:
        assert np.linalg.norm(f.gradient(u)) <= np.max(np.linalg.norm(f.g, axis=1)) + 1e-6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_weights_on_the_simplex_are_optimal(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    A, level = rng.normal(size=(count, 4)), rng.normal(size=count)
    weights = simplex_maximum(A @ A.T, level)
    slopes = level - A @ A.T @ weights
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    assert slopes.max() - weights @ slopes < 1e-8  # no vertex is better


# Bad input -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        lambda: sensitivity("newton", steps=2, **SMOOTH),  # type: ignore[arg-type]
        lambda: sensitivity(steps=2, **{**SMOOTH, "step_size": (0.1, 0.2, 0.3)}),
        lambda: sensitivity("heavy_ball", steps=2, momentum=-0.1, **SMOOTH),
        lambda: permuted_sensitivity(n=3, passes=0, step_size=1.0, smoothness=1.0, lipschitz=1.0),
        lambda: convergence_rate(steps=2, step_size=1.0),
        lambda: convergence_rate(steps=2, step_size=1.0, smoothness=1.0, lipschitz=-1.0),
        lambda: convergence_rate("proximal", steps=2, step_size=1.0, smoothness=1.0, measure="gradient"),
        lambda: convergence_rate(steps=2, step_size=1.0, smoothness=1.0, measure="speed"),  # type: ignore[arg-type]
    ],
)
def test_bad_input(call: Any) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        call()


def test_names() -> None:
    assert "accelerated" in NAMES
    assert "gradient_map" in MEASURES
