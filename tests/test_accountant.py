"""The accountant on invented claims: each planted slip is refuted at a point that replays, no sound claim is."""

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
from sympy import Eq, Ge, Rational, Symbol, log, sqrt

from bounds import moments
from bounds.accountant import Accountant
from bounds.accounting import gaussian_mu, least_noise
from bounds.adversary import Field, worst_points
from bounds.claim import Claim, Effort, Evidence, Kind, Source, Verdict
from bounds.errors import InvalidInput
from bounds.guarantees import ADD_REMOVE, LOCAL, REPLACE_ONE, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from bounds.moments import Sampled
from bounds.privacy_question import Question
from bounds.releases import Poisson, Releases, WithoutReplacement, WithReplacement
from bounds.sampled_gaussian import (
    Release,
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
from bounds.symbols import Delta, Delta1, L, T, c, c1, delta, eps, m, n, sigma, sigma_g
from dpcheck import verify

QUICK = Effort()
HOLDS = (Verdict.LOOSE, Verdict.CERTIFIED, Verdict.SUPPORTED)
APPROX = ApproxDP(eps, delta)


def claim(states: Any, *assumes: Any, guarantee: Guarantee = APPROX, hidden: tuple[Any, ...] = ()) -> Claim:
    source = Source("dwang20", "nowhere")
    return Claim("dwang20.invented1", source, Kind.PRIVACY, ".", states, assumes, guarantee, hidden=hidden)


def refuted_again(check: Accountant, about: Claim, found: Evidence) -> bool:
    """REFUTED at a point inside the hypotheses, in plain numbers, that replays as `dpcheck replay` would."""
    if found.verdict is not Verdict.REFUTED:
        return False
    point = dict(found.counterexample or {})
    assert all(isinstance(v, float) for v in point.values())
    verify.must_be_inside(about, point)
    return check.replay(about, point).verdict is Verdict.REFUTED


# All records in every step -------------------------------------------------------------------------
classical = sqrt(2 * log(Rational(5, 4) / delta)) * Delta / eps
gradients = Releases(2 * L / (n * sigma_g), T)  # T full gradients, each moved by 2L/n
descent_noise = sqrt(8 * T * L**2 * log(Rational(5, 4) / delta)) / (n * eps)


@pytest.mark.parametrize(
    ("about", "releases"),
    [
        (claim(Eq(sigma, classical), eps <= 1), Releases(Delta / sigma)),
        (claim(Eq(sigma**2, classical**2), eps <= 1), Releases(Delta / sigma)),
        (claim(Ge(sigma, classical), eps <= 1), Releases(Delta / sigma)),
        (claim(Eq(sigma, sqrt(2 * log(1 / delta)) * Delta / eps), eps <= 1), Releases(Delta / sigma)),
        (claim(Eq(sigma_g, descent_noise), eps <= 1), gradients),
        (claim(Eq(sigma_g, descent_noise), eps <= 1), [Releases(L / (n * sigma_g), k) for k in (T, 3 * T)]),
    ],
    ids=["classical", "variance", "at least", "log(1/δ) for log(1.25/δ), harmless", "T steps", "two kinds of step"],
)  # fmt: skip
def test_sound_noise_is_certified_on_the_whole_box(about: Claim, releases: Any) -> None:
    found = Accountant(releases, "sound").run(about, QUICK)
    assert found.verdict in (Verdict.LOOSE, Verdict.CERTIFIED)
    assert "cells" in found.detail


@pytest.mark.parametrize(
    ("about", "releases"),
    [
        (claim(Eq(sigma, classical), eps <= 1), Releases(2 * Delta / sigma)),
        (claim(Eq(sigma, classical / 2), eps <= 1), Releases(Delta / sigma)),
        (claim(Eq(sigma, classical)), Releases(Delta / sigma)),
        (claim(Eq(sigma, sqrt(log(1 / delta)) * Delta / eps), eps <= 1), Releases(Delta / sigma)),
        (claim(Eq(sigma, classical * eps), eps <= 2), Releases(Delta / sigma)),
        (claim(Eq(sigma_g, descent_noise / sqrt(T)), eps <= 1), gradients),
        (claim(Eq(sigma_g, descent_noise / n), eps <= 1), gradients),
        (claim(Eq(sigma_g**2, descent_noise / n), eps <= 1), gradients),
        (claim(Eq(sigma_g, descent_noise / 2), eps <= 1), gradients),
        (claim(Eq(sigma, Delta / eps), guarantee=PureDP(eps)), Releases(Delta / sigma)),
    ],
    ids=[
        "sensitivity without its factor 2", "noise halved", "range of ε dropped", "no 2 and no 1.25", "ε for ε²",
        "T missing", "n² for n", "square missing", "L for 2L", "Gaussian noise, pure DP",
    ],
)  # fmt: skip
def test_a_slip_is_refuted_and_replays(about: Claim, releases: Any) -> None:
    check = Accountant(releases, "planted")
    assert refuted_again(check, about, check.run(about, QUICK))


@given(limit=st.floats(0.4, 0.999), step=st.integers(8, 14))
@settings(max_examples=4, deadline=None)
def test_a_failure_in_a_corner_is_found_inside_the_hypotheses(limit: float, step: int) -> None:
    last = Rational(repr(limit))
    just = Rational(repr(float(gaussian_mu(limit, 0.01)) * 1.02))
    about = claim(Eq(sigma, Delta / (just * (eps / last) ** step)), eps <= last)
    check = Accountant(Releases(Delta / sigma), "fails at the end only", {eps: (0.1, 1.0), delta: (0.0099, 0.0101)})
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert (found.counterexample or {})["eps"] <= limit


@pytest.mark.parametrize(
    ("guarantee", "noise", "expected"),
    [
        (ZCDP(eps), Delta / sqrt(2 * eps), Verdict.CERTIFIED),
        (ZCDP(eps), sqrt(Delta / (2 * eps)), Verdict.REFUTED),
        (ZCDP(eps), Delta / sqrt(eps), Verdict.LOOSE),
        (RenyiDP(8, eps), 2 * Delta / sqrt(eps), Verdict.CERTIFIED),
        (RenyiDP(8, eps), Delta / sqrt(eps), Verdict.REFUTED),
        (GaussianDP(eps), Delta / eps, Verdict.CERTIFIED),
        (GaussianDP(eps), Delta / (2 * eps), Verdict.REFUTED),
    ],
    ids=["zCDP", "Δ for Δ²", "zCDP, loose", "Rényi", "Rényi, factor 2", "Gaussian DP", "Gaussian DP, halved"],
)
def test_other_notions_are_exact(guarantee: Guarantee, noise: Any, expected: Verdict) -> None:
    about, check = claim(Eq(sigma, noise), guarantee=guarantee), Accountant(Releases(Delta / sigma), "one release")
    found = check.run(about, QUICK)
    assert found.verdict is expected
    assert expected is not Verdict.REFUTED or refuted_again(check, about, found)


def test_laplace_noise() -> None:
    pure = PureDP(eps)
    steps = Releases(Delta1 / sigma, T, noise="laplace")
    exact = Accountant(steps, "T releases").run(claim(Eq(sigma, T * Delta1 / eps), guarantee=pure), QUICK)
    assert exact.verdict is Verdict.CERTIFIED
    missing = claim(Eq(sigma, Delta1 / eps), guarantee=pure)
    assert refuted_again(Accountant(steps, "T"), missing, Accountant(steps, "T").run(missing, QUICK))
    sampled_one = Releases(Delta1 / sigma, 1, WithoutReplacement(1, n), noise="laplace")
    assert Accountant(sampled_one, "").run(missing, QUICK).verdict in (Verdict.CERTIFIED, Verdict.LOOSE)
    # Strong composition with 8 for 2: holds for T steps of Laplace noise under approximate DP.
    strong = claim(Eq(sigma, sqrt(8 * T * log(1 / delta)) * Delta1 / eps), eps <= 1)
    box = {T: (1, 1000), delta: (1e-6, 0.01)}
    assert Accountant(steps, "", box).run(strong, QUICK).verdict in HOLDS
    weak = claim(Eq(sigma, sqrt(log(1 / delta)) * Delta1 / eps), eps <= 1)
    assert refuted_again(Accountant(steps, "", box), weak, Accountant(steps, "", box).run(weak, QUICK))


def test_waste_is_reported_and_sound() -> None:
    about = claim(Eq(sigma, 3 * classical), eps <= 1)
    found = Accountant(Releases(Delta / sigma), "three times the classical noise").run(about, QUICK)
    assert found.verdict is Verdict.LOOSE
    assert 3.2 < 1 + (found.margin or 0) < 3.5
    tight = claim(Eq(sigma, 3 * classical / Rational(repr(1 + (found.margin or 0)))), eps <= 1)
    assert Accountant(Releases(Delta / sigma), "").run(tight, QUICK).verdict in HOLDS


# Sampled steps -------------------------------------------------------------------------------------
thrice = Releases(2 * L / sigma_g, n**2, WithReplacement(3, n))
one_record = Releases(2 * L / sigma_g, n**2, WithoutReplacement(1, n))
stated = 2 * L * sqrt(log(3 * n / delta) * log(2 / delta)) / eps
batches = Releases(2 * L / (m * sigma_g), T, WithoutReplacement(m, n))
sampled_noise = L * sqrt(T * log(1 / delta)) / (n * eps)
SMALL = {eps: (0.1, 1.0), delta: (1e-8, 0.1)}


with_full_gradient = Releases(4 * L / sigma_g, T, WithoutReplacement(1, n), always=2 * L / (n * sigma_g))
drawn_by_poisson = Releases(2 * L / sigma_g, (n / 3) ** 2, Poisson(1 / n))


def test_sampled_noise_is_certified_for_all_sizes() -> None:
    found = Accountant(one_record, "n² steps on one record each").run(claim(Eq(sigma_g, stated), eps <= 1), QUICK)
    assert found.verdict is Verdict.LOOSE
    assert "n in [2, 1e+06]" in found.detail


@pytest.mark.parametrize(
    ("about", "releases"),
    [
        (claim(Eq(sigma_g, stated / 8), eps <= 1), one_record),
        (claim(Eq(sigma_g, stated), eps <= 1), Releases(2 * L / sigma_g, n**3, WithoutReplacement(1, n))),
        (claim(Eq(sigma_g, stated / n), eps <= 1), one_record),
        (claim(Eq(sigma_g, 3 * sampled_noise), eps <= 1, m <= n), batches),
        (claim(Eq(sigma_g, sampled_noise), eps <= 1, eps <= T * (m / n) ** 2, m <= n), batches),
        (claim(Eq(sigma_g, 2 * L * log(1 / delta) / eps), eps <= 1), thrice),
        (claim(Eq(sigma_g, stated / 5), eps <= 1), Releases(2 * L / sigma_g, n**2, Poisson(1 / n))),
    ],
    ids=[
        "a factor", "one n too many in the steps", "n² for n", "condition on ε dropped", "factor 3", "with replacement",
        "Poisson",
    ],
)  # fmt: skip
def test_a_slip_in_sampled_noise_is_refuted_and_replays(about: Claim, releases: Any) -> None:
    check = Accountant(releases, "planted", SMALL)
    assert refuted_again(check, about, check.run(about, QUICK))


def test_the_relation_matters() -> None:
    """Noise that is enough when a record is added or removed, and not when it is replaced and moves twice as far."""
    noise = least_factor((poisson(1.0, 400, 0.05),), 1.0, 1e-5, ADD_REMOVE) * 1.02
    rate, steps, box = Rational(1, 20), 400, {delta: (1e-5, 1e-5), eps: (1.0, 1.0)}
    added = claim(Eq(sigma_g, Rational(repr(noise)) * L), guarantee=ApproxDP(eps, delta, relation=ADD_REMOVE))
    replaced = claim(Eq(sigma_g, Rational(repr(noise)) * L))
    kept = Accountant(Releases(L / sigma_g, steps, Poisson(rate)), "", box)
    assert kept.run(added, QUICK).verdict in HOLDS
    broken = Accountant(Releases(2 * L / sigma_g, steps, Poisson(rate)), "", box)
    assert refuted_again(broken, replaced, broken.run(replaced, QUICK))


def test_a_full_gradient_under_the_noise_of_a_sampled_one() -> None:
    """SVRG: 4L when the record is drawn, 2L/n always. Noise for the first alone is not enough for both."""
    both = with_full_gradient
    noise = L * sqrt(72 * T * log(1 / delta)) / (n * eps)
    conditions = (eps <= 1, eps <= T / n**2)
    assert Accountant(both, "").run(claim(Eq(sigma_g, noise), *conditions), QUICK).verdict in HOLDS
    # By itself the sampled part is seen to fail with a fifth of that noise.
    wrong = claim(Eq(sigma_g, noise / 5), *conditions)
    assert refuted_again(Accountant(both, ""), wrong, Accountant(both, "").run(wrong, QUICK))


def test_points_alone_are_called_support() -> None:
    """No bound covers cells when a record may be drawn twice in a step: nothing is certified."""
    about = claim(Eq(sigma_g, 40 * L * log(2 / delta) / eps), eps <= 1)
    found = Accountant(Releases(2 * L / sigma_g, n, WithReplacement(3, n)), "", {n: (4, 100)}).run(about, QUICK)
    assert found.verdict is Verdict.SUPPORTED
    assert "points tried" in found.detail


# Hidden constants ----------------------------------------------------------------------------------
hidden_noise = sqrt(c * L**2 * T * log(1 / delta)) / (n * eps)
single = Releases(4 * L / sigma_g, T, WithoutReplacement(1, n))
condition = eps <= c1 * T / n**2


def test_the_smallest_constant_of_full_gradients() -> None:
    about = claim(Eq(sigma_g, hidden_noise), eps <= 1, hidden=(c,))
    found = Accountant(gradients, "").run(about, QUICK)
    assert found.verdict is Verdict.CERTIFIED
    exact = 4 / (float(gaussian_mu(1.0, 1e-10)) ** 2 * math.log(1e10))
    assert f"{exact:.3g}" in found.figure


@pytest.mark.parametrize(
    ("about", "releases", "why"),
    [
        (claim(Eq(sigma_g, hidden_noise), eps <= 1, hidden=(c,)), single, "drawn at least once"),
        (claim(Eq(sigma_g, hidden_noise), condition, hidden=(c, c1)), single, "grows without bound"),
        (claim(Eq(sigma_g, hidden_noise / sqrt(T)), eps <= 1, hidden=(c,)), gradients, "grows without bound"),
        (claim(Eq(sigma_g, hidden_noise), hidden=(c,)), gradients, "grows without bound"),
    ],
    ids=["DP-SVRG without its condition", "DP-SVRG, any ε", "T missing", "any ε"],
)
def test_no_constant_works(about: Claim, releases: Releases, why: str) -> None:
    check = Accountant(releases, "")
    found = check.run(about, QUICK)
    assert found.figure.startswith("no c works")
    assert why in found.detail
    assert refuted_again(check, about, found)


def test_the_constant_of_sampled_steps_under_their_condition() -> None:
    """The catalogue measures 5 to 6 for a shift of 2L: 20 to 26 for 4L."""
    about = claim(Eq(sigma_g, hidden_noise), eps <= 1, condition, hidden=(c, c1))
    found = Accountant(single, "").run(about, QUICK)
    assert found.verdict in HOLDS
    low, high = (float(found.figure.split(": ")[1].split(" ")[i]) for i in (0, 2))
    assert 20 < low < high < 27


def test_a_constant_of_the_hypotheses_alone() -> None:
    """Some range of eps makes the classical noise right; none makes a hundredth of it right."""
    good = claim(Eq(sigma, classical), eps <= c1, hidden=(c1,))
    assert Accountant(Releases(Delta / sigma), "").run(good, QUICK).verdict in HOLDS
    bad = claim(Eq(sigma, classical / 100), eps <= c1, hidden=(c1,))
    check = Accountant(Releases(Delta / sigma), "")
    assert refuted_again(check, bad, check.run(bad, QUICK))


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
        pld.from_gaussian_mechanism(1 / ratio, sampling_prob=rate, value_discretization_interval=2e-3,
                                    pessimistic_estimate=high, use_connect_dots=high)
        for high in (False, True)
    ]  # fmt: skip
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
        release = (Release(float(ratio[i]), int(steps[i]), (1 - rate[i], rate[i]), alone or laplace, noise),)
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


# The search ----------------------------------------------------------------------------------------


@given(place=st.tuples(*(st.floats(0.05, 0.95) for _ in range(3))), seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_a_narrow_peak_is_found(place: tuple[float, ...], seed: int) -> None:
    field = Field({"a": (1e-3, 1e3), "b": (1e-6, 1.0), "n": (1.0, 1e6)}, frozenset({"n"}))
    ends = field.ends
    peak = ends[:, 0] + np.array(place) * (ends[:, 1] - ends[:, 0])

    def score(points: Any) -> Any:
        return -(((field.logs(points) - peak) / (ends[:, 1] - ends[:, 0])) ** 2).sum(axis=1)

    best = field.logs(worst_points(score, field, seed, 512))[0]
    assert np.all(np.abs(best - peak) / (ends[:, 1] - ends[:, 0]) < 0.03)


@given(place=st.lists(st.floats(0, 1), min_size=15, max_size=15), which=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_a_cell_is_worse_than_any_point_in_it(place: list[float], which: int) -> None:
    """Its promise is smaller and its releases leak more; it is neither dropped nor cut where hypotheses hold."""
    about, releases = [
        (claim(Eq(sigma_g, sampled_noise), eps <= 1, eps <= T * (m / n) ** 2, m <= n), batches),
        (claim(Eq(sigma_g, sampled_noise), eps <= 1, eps <= T / n**2), with_full_gradient),
        (claim(Eq(sigma_g, stated), eps <= 1, guarantee=ApproxDP(eps, 1 - (1 - delta) ** T)), drawn_by_poisson),
        (claim(Eq(sigma, classical), eps <= 1), Releases(Delta / sigma, T)),
    ][which]  # fmt: skip
    question = Question(about, (releases,))
    low, high, point = {}, {}, {}
    for (name, (start, end)), a, b, t in zip(question.box.items(), place, place[5:], place[10:], strict=False):
        sides = sorted(math.log(start) + share * math.log(end / start) for share in (a, b))
        low[name], high[name] = (np.array([math.exp(side)]) for side in sides)
        point[name] = np.array([math.exp(sides[0] + t * (sides[1] - sides[0]))])
    cell, here = question.ranges(low, high), question.values(point)
    room = 1 + 1e-9
    for name in here.promise:
        assert cell.promise[name][0] <= here.promise[name][0] * room
    for worst, step in zip(cell.steps, here.steps, strict=True):
        assert worst.ratio[0] * room >= step.ratio[0]
        assert worst.steps[0] * room >= step.steps[0]
        assert worst.picked[0] * room >= min(step.picked[0], 1.0)
        assert worst.always[0] * room >= step.always[0]
        assert worst.product is not None
        assert worst.product[0] * room + 1e-300 >= (step.steps[0] - 1) * (min(step.picked[0], 1.0) * step.ratio[0]) ** 2
    if question.inside(point)[0]:
        assert not question.outside(low, high)[0]
        inner = question.shrunk(low, high)
        for name, value in point.items():
            assert inner[0][name][0] / room <= value[0] <= inner[1][name][0] * room


def test_symbols_that_count_only_as_a_product_are_one() -> None:
    question = Question(claim(Eq(sigma_g, L * sqrt(T * m) / n), eps <= T * m / n**2), (Releases(L / sigma_g, T * m),))
    assert [str(s) for s in question.merged] == ["m"]
    assert question.box["T"] == (1, 1e8)


def test_seeds_reproduce() -> None:
    about, check = claim(Eq(sigma_g, stated / 8), eps <= 1), Accountant(one_record, "", SMALL)
    assert check.run(about, Effort(seed=5)) == check.run(about, Effort(seed=5))


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="declared in the table"):
        Accountant(Releases(Symbol("unheard_of") / sigma), "").run(claim(Eq(sigma, classical)), QUICK)
    with pytest.raises(InvalidInput, match="for sampled or mixed releases"):
        Accountant(single, "").run(claim(Eq(sigma_g, stated), guarantee=ZCDP(eps)), QUICK)
    with pytest.raises(InvalidInput, match="Poisson under add/remove"):
        epsilon_bounds((without_replacement(1.0, 5, 1, 10),), 1e-3, ADD_REMOVE)
    with pytest.raises(InvalidInput, match="replace-one or add/remove-one"):
        epsilon_bounds((poisson(1.0, 5, 0.1),), 1e-3, LOCAL)
    with pytest.raises(InvalidInput, match="rate"):
        poisson(1.0, 5, 1.5)
    with pytest.raises(InvalidInput, match="batch"):
        with_replacement(1.0, 5, 100, 10)


# Calibration ---------------------------------------------------------------------------------------
SCHEMES = ("without replacement", "poisson", "with replacement")


@pytest.mark.parametrize("sampling", SCHEMES)
@pytest.mark.parametrize(("level", "delta_", "steps"), [(1.0, 1e-5, 200), (0.2, 1e-6, 20)])
def test_least_noise_is_enough_and_little_less_is_not(sampling: Any, level: float, delta_: float, steps: int) -> None:
    noise = least_noise(ApproxDP(level, delta_), steps=steps, batch=5, n=200, sampling=sampling)
    make = {
        "without replacement": lambda r: without_replacement(r, steps, 5, 200),
        "poisson": lambda r: poisson(r, steps, 5 / 200),
        "with replacement": lambda r: with_replacement(r, steps, 5, 200),
    }[sampling]
    assert epsilon_bounds((make(1 / noise),), delta_).high <= level * (1 + 1e-9)
    assert epsilon_bounds((make(1.02 / noise),), delta_).high > level
    assert noise < least_noise(ApproxDP(level, delta_), steps=steps)


def test_least_noise_of_full_batches_is_exact() -> None:
    assert least_noise(ApproxDP(1.0, 1e-5), steps=9) == pytest.approx(3 / gaussian_mu(1.0, 1e-5), rel=1e-12)
    assert least_noise(ZCDP(0.5), steps=4) == pytest.approx(2.0)
    assert least_noise(RenyiDP(8.0, 1.0), steps=4) == pytest.approx(4.0)
    assert least_noise(GaussianDP(0.5), steps=4) == pytest.approx(4.0)
    whole = least_noise(ApproxDP(1.0, 1e-5), steps=9, batch=50, n=50, sampling="without replacement")
    assert whole == pytest.approx(least_noise(ApproxDP(1.0, 1e-5), steps=9), rel=1e-6)


@pytest.mark.parametrize(
    ("guarantee", "options", "words"),
    [
        (PureDP(1.0), {}, "no pure DP"),
        (ApproxDP(1.0, 0.0), {}, "delta"),
        (ZCDP(1.0), {"sampling": "poisson", "batch": 1, "n": 5}, "ApproxDP under replace-one"),
        (ApproxDP(1.0, 1e-5, relation=ADD_REMOVE), {"sampling": "poisson", "batch": 1, "n": 5}, "replace-one"),
        (ApproxDP(1.0, 1e-5), {"sampling": "poisson"}, "given for sampled steps"),
        (ApproxDP(1.0, 1e-5), {"sampling": "without replacement", "batch": 6, "n": 5}, "at most n=5"),
        (ApproxDP(1.0, 1e-5), {"steps": 0}, "steps"),
    ],
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
