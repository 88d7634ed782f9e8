"""The accountant's bounds at points and in cells, against dp-accounting and exact pairs; the least noise they allow."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from dpcheck.bounds.privacy import moments
from dpcheck.bounds.privacy.exact import gaussian_mu, least_noise
from dpcheck.bounds.privacy.laws import Gaussian, Poisson, WithoutReplacement, WithReplacement
from dpcheck.bounds.privacy.moments import Sampled
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.privacy.sampled_gaussian import (
    NoisySum,
    attained,
    epsilon_bounds,
    epsilon_high,
    every_record,
    least_factor,
    poisson,
    sound,
    with_noise_times,
    with_replacement,
    without_replacement,
)

# Bounds at one point -------------------------------------------------------------------------------
rates, ratios, budgets = st.floats(1e-3, 0.9), st.floats(0.02, 3.0), st.floats(1e-8, 0.1)
few = settings(max_examples=12, deadline=None)


@given(rate=rates, ratio=ratios, steps=st.integers(1, 2000), level=budgets, kind=st.integers(0, 3))
@few
def test_bounds_are_ordered_and_monotone(rate: float, ratio: float, steps: int, level: float, kind: int) -> None:
    size = max(2, round(1 / rate))
    make: Any = [
        lambda r, k, q: poisson(r, k, q),
        lambda r, k, q: without_replacement(r, k, min(2, size), size) if q == rate else without_replacement(r, k, 2, 2),
        lambda r, k, q: with_replacement(r, k, 2, size) if q == rate else with_replacement(r, k, 4, size),
        lambda r, k, q: poisson(r, k, q, noise="laplace"),
    ][kind]
    here = epsilon_bounds((make(ratio, steps, rate),), level)
    assert 0 <= here.low <= here.high
    for more in (make(1.5 * ratio, steps, rate), make(ratio, 2 * steps, rate), make(ratio, steps, min(1.0, 2 * rate))):
        assert epsilon_bounds((more,), level).high >= here.low * (1 - 1e-6)
    assert epsilon_bounds((make(ratio, steps, rate),), level / 10).high >= here.low


@given(rate=st.floats(0.01, 0.5), ratio=st.floats(0.2, 2.0), steps=st.integers(1, 300), level=st.floats(1e-7, 0.05))
@settings(max_examples=6, deadline=None)
def test_poisson_agrees_with_dp_accounting(rate: float, ratio: float, steps: int, level: float) -> None:
    ours = epsilon_bounds((poisson(ratio, steps, rate),), level, ADD_REMOVE)
    made = [
        pld.from_gaussian_mechanism(
            1 / ratio,
            sampling_prob=rate,
            value_discretization_interval=2e-3,
            pessimistic_estimate=high,
            use_connect_dots=high,
        )
        for high in (False, True)
    ]
    below, above = (p.self_compose(steps).get_epsilon_for_delta(level) for p in made)
    assert ours.low <= above * (1 + 1e-6) + 1e-6
    assert ours.high >= below * (1 - 1e-6) - 1e-6
    assert ours.high - ours.low <= 0.01 * ours.high + 1e-3


@pytest.mark.parametrize(("ratio", "rate", "steps"), [(1.0, 0.1, 50), (0.3, 0.02, 400), (2.0, 0.005, 100)])
def test_replacing_under_poisson_has_an_exact_pair(ratio: float, rate: float, steps: int) -> None:
    """The two bounds of the pair at +-ratio/2 nearly meet, and no other pair of records leaks more."""
    found = epsilon_bounds((poisson(ratio, steps, rate),), 1e-5)
    assert found.high <= 1.01 * found.low
    for near, far in ((0.5, 0.0), (0.5, -0.25), (0.3, -0.5)):
        low = pair_delta(rate, near * ratio, far * ratio, found.high, steps=1)
        assert low <= pair_delta(rate, 0.5 * ratio, -0.5 * ratio, found.high, steps=1) + 1e-12


def pair_delta(rate: float, one: float, other: float, eps: float, steps: int) -> float:
    """The hockey-stick divergence of two mixtures, by quadrature."""

    def density(x: Any, mean: float) -> Any:
        return (1 - rate) * np.exp(-(x**2) / 2) + rate * np.exp(-((x - mean) ** 2) / 2)

    x = np.linspace(-12, 12, 20001)
    gap = np.maximum(density(x, one) - math.exp(eps) * density(x, other), 0)
    return float(gap.sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi))


def test_parts_compose() -> None:
    """Gaussian and sampled steps together: no less than each, no more than basic composition at half the delta."""
    full, drawn = every_record(0.05, 40), without_replacement(0.5, 40, 1, 20)
    both = epsilon_bounds((full, drawn), 1e-5)
    each = [epsilon_bounds((r,), 1e-5) for r in (full, drawn)]
    halves = [epsilon_bounds((r,), 5e-6) for r in (full, drawn)]
    assert max(b.low for b in each) <= both.high
    assert both.low <= sum(b.high for b in halves)
    assert both.low <= both.high <= 1.15 * both.low


def test_laplace_sums_agree_with_dp_accounting() -> None:
    theirs = pld.from_laplace_mechanism(2.0, value_discretization_interval=1e-3).self_compose(30)
    ours = epsilon_bounds((every_record(0.5, 30, "laplace"),), 1e-4)
    assert ours.low <= theirs.get_epsilon_for_delta(1e-4) <= ours.high * 1.001
    assert ours.high <= 1.005 * ours.low


def test_two_draws_of_one_record_leak_more_than_one() -> None:
    once = epsilon_bounds((without_replacement(0.5, 100, 10, 100),), 1e-5)
    twice = epsilon_bounds((with_replacement(0.5, 100, 10, 100),), 1e-5)
    assert once.low < twice.low < twice.high < 1.3 * twice.low
    same = epsilon_bounds((with_replacement(0.5, 100, 1, 100),), 1e-5)
    assert same.low == pytest.approx(epsilon_bounds((without_replacement(0.5, 100, 1, 100),), 1e-5).low, rel=1e-3)


# Bounds at many points -----------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), alone=st.booleans(), laplace=st.booleans())
@few
def test_screens_hold_where_the_sums_decide(seed: int, alone: bool, laplace: bool) -> None:
    rng = np.random.default_rng(seed)
    rate, ratio = 10 ** rng.uniform(-3, -0.05, 4), 10 ** rng.uniform(-2, 0.5, 4)
    steps, level = np.ceil(10 ** rng.uniform(0, 3.5, 4)), 10 ** rng.uniform(-8, -1, 4)
    noise: Any = "laplace" if laplace else "gaussian"
    part = Sampled(ratio, steps, rate, alone or laplace, noise)
    joined = Sampled(ratio, steps, rate, alone or laplace, noise, steps * (rate * ratio) ** 2) if alone else part
    below = moments.epsilon_below(part, level, alone or laplace)
    for i in range(4):
        release = (NoisySum(float(ratio[i]), int(steps[i]), (1 - rate[i], rate[i]), alone or laplace, noise),)
        low, high = (f(release, float(level[i]), REPLACE_ONE, 5e-3) for f in (attained, sound))
        assert below[i] <= high * (1 + 1e-6) + 1e-9
        for guess in (low + 1e-3, 2 * low + 0.01):
            above = moments.epsilon_above([joined.at([i])], np.array([guess]), level[i : i + 1])
            assert above[0] >= low * (1 - 1e-6) - 1e-9


@given(ratio=st.floats(0.01, 1.5), rate=st.floats(1e-4, 0.5), order=st.integers(1, 12))
@few
def test_the_joint_bound_of_a_cell_covers_its_inside(ratio: float, rate: float, order: int) -> None:
    """The moments of one step, by quadrature, anywhere below the cell's ends."""
    a, end = order + 1, Sampled(np.array([ratio]), np.ones(1), np.array([rate]), product=np.ones(1))
    bound = float(moments._spent_jointly(end, np.full((1, 11), float(order)))[0, 0])
    for r, q in ((ratio, rate), (ratio / 3, rate), (ratio, rate / 10), (ratio / 2, rate / 2)):
        x = np.linspace(r / 2, a * r + 12, 40_001)
        u = q * np.expm1(r * x - r * r / 2)
        gain = (np.expm1(a * np.log1p(u)) - a * u) + (np.expm1((1 - a) * np.log1p(u)) + (a - 1) * u)
        found = float(integrate.trapezoid(gain * np.exp(-(x**2) / 2), x)) / math.sqrt(2 * math.pi)
        assert math.log1p(found) <= bound * (q * r) ** 2 * (1 + 1e-7)


def test_total_variation_decides_at_large_delta() -> None:
    part = Sampled(np.array([0.1]), np.ones(1), np.ones(1))
    assert moments.epsilon_above([part], np.array([0.01]), np.array([0.06]))[0] == 0
    assert 2 * special.ndtr(0.05) - 1 < 0.06


# Calibration ---------------------------------------------------------------------------------------
def test_least_noise_of_full_batches_is_exact() -> None:
    assert least_noise(ApproxDP(1.0, 1e-5), steps=9) == pytest.approx(3 / gaussian_mu(1.0, 1e-5), rel=1e-12)
    assert least_noise(ZCDP(0.5), steps=4) == pytest.approx(2.0)
    assert least_noise(RenyiDP(8.0, 1.0), steps=4) == pytest.approx(4.0)
    assert least_noise(GaussianDP(0.5), steps=4) == pytest.approx(4.0)


SCHEMES = {
    "without replacement": WithoutReplacement(5, 200),
    "poisson": Poisson(5 / 200),
    "with replacement": WithReplacement(5, 200),
}


@pytest.mark.parametrize("sampling", SCHEMES)
@pytest.mark.parametrize(("level", "delta_", "steps"), [(1.0, 1e-5, 200), (0.2, 1e-6, 20)])
def test_sampled_noise_is_enough_and_little_less_is_not(sampling: str, level: float, delta_: float, steps: int) -> None:
    release = Release(1.0, Gaussian(1.0), SCHEMES[sampling], steps).calibrated(ApproxDP(level, delta_))
    assert release.epsilon(delta_).high <= level * (1 + 1e-9)
    assert release.with_noise_times(1 / 1.02).epsilon(delta_).high > level
    assert release.law.scale < least_noise(ApproxDP(level, delta_), steps=steps)


@pytest.mark.parametrize(
    ("guarantee", "options", "words"),
    [(PureDP(1.0), {}, "no pure DP"), (ApproxDP(1.0, 0.0), {}, "delta"), (ApproxDP(1.0, 1e-5), {"steps": 0}, "steps")],
)
def test_least_noise_refuses(guarantee: Guarantee, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        least_noise(guarantee, **options)


def test_a_delta_above_the_chance_of_being_drawn_needs_next_to_no_noise() -> None:
    """It used to leave the range of floats. A record is drawn at all with probability 0.0085, below delta."""
    releases = (without_replacement(1 / 5, 1, 5, 2000), without_replacement(1 / 3, 4, 3, 2000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factor = least_factor(releases, 1.0, 1e-2)
    assert 0 < factor < 0.1
    assert epsilon_high(with_noise_times(releases, factor), 1e-2, REPLACE_ONE) <= 1
    assert math.isinf(epsilon_high(with_noise_times(releases, 1e-9), 1e-3, REPLACE_ONE))
