"""The accountants against dp-accounting and closed forms, each with a planted bug it must catch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from dp_accounting import dp_event, gaussian_mechanism, privacy_accountant
from dp_accounting.pld import common, pld_privacy_accountant
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ADD_REMOVE, REPLACE_ONE, gaussian_delta
from dpcheck.bounds.privacy import sampled_gaussian
from dpcheck.bounds.privacy.cells import certify_cells, never_holds, range_of
from dpcheck.bounds.privacy.exact import (
    Interval,
    amplified_epsilon,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_sigma,
    gaussian_sigma_classical,
    laplace_delta,
    optimal_composition,
    strong_composition,
)
from dpcheck.bounds.privacy.loss_sums import Sums, attained_epsilon
from dpcheck.bounds.privacy.sampled_gaussian import (
    epsilon_bounds,
    subsampled_gaussian_epsilon,
    subsampled_gaussian_noise,
)

quick = settings(max_examples=30, deadline=None)
deltas = st.floats(1e-12, 0.3)


# ---------------------------------------------------------------- one release


@given(eps=st.floats(0.01, 50.0), delta=deltas, sensitivity=st.floats(1e-3, 1e3))
@quick
def test_gaussian_sigma_is_exact_and_safe(eps: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_sigma(eps, delta, sensitivity)
    assert gaussian_delta(eps, sensitivity / sigma) <= delta
    assert gaussian_delta(eps, sensitivity / (sigma * (1 - 1e-6))) > delta


@given(delta=st.floats(1e-10, 0.2), sigma=st.floats(0.2, 30.0))
@quick
def test_gaussian_epsilon_agrees(delta: float, sigma: float) -> None:
    theirs = gaussian_mechanism.get_epsilon_gaussian(sigma, delta)
    assert gaussian_epsilon(delta, 1 / sigma) == pytest.approx(theirs, rel=1e-6, abs=1e-9)


@given(eps=st.floats(0.05, 10.0), delta=st.floats(1e-9, 0.1))
@quick
def test_gaussian_sigma_agrees(eps: float, delta: float) -> None:
    assert gaussian_sigma(eps, delta) == pytest.approx(gaussian_mechanism.get_sigma_gaussian(eps, delta), rel=1e-4)


def test_vectorised() -> None:
    eps, delta = np.array([0.1, 1.0, 5.0]), np.array([[1e-3], [1e-6]])
    sigma = gaussian_sigma(eps, delta)
    assert sigma.shape == (2, 3)
    assert sigma[1, 2] == gaussian_sigma(5.0, 1e-6)
    assert np.allclose(gaussian_epsilon(delta, gaussian_mu(eps, delta)), np.broadcast_to(eps, (2, 3)))


def test_classical_noise_is_enough_below_one_and_not_for_large_epsilon() -> None:
    for eps in (0.01, 0.1, 0.5, 0.99):
        assert gaussian_sigma_classical(eps, 1e-5) > gaussian_sigma(eps, 1e-5)
    assert gaussian_sigma_classical(10.0, 1e-5) < gaussian_sigma(10.0, 1e-5)


@given(eps=st.floats(-3.0, 4.0), ratio=st.floats(0.1, 4.0))
@settings(max_examples=10, deadline=None)
def test_laplace_profile_agrees(eps: float, ratio: float) -> None:
    theirs = pld.from_laplace_mechanism(1 / ratio, value_discretization_interval=1e-3, use_connect_dots=True)
    high = theirs.get_delta_for_epsilon(eps)
    assert laplace_delta(eps, ratio) <= high + 1e-12
    assert laplace_delta(eps, ratio) == pytest.approx(high, abs=1e-4)


def test_laplace_profile_sees_a_wrong_constant() -> None:
    theirs = pld.from_laplace_mechanism(1.0, use_connect_dots=True).get_delta_for_epsilon(0.5)
    assert laplace_delta(0.5, 1.01) != pytest.approx(theirs, abs=1e-4)


# ---------------------------------------------------------------- composition


@given(eps=st.floats(0.01, 0.5), delta=st.sampled_from([0.0, 1e-7, 1e-4]), steps=st.integers(1, 40))
@settings(max_examples=10, deadline=None)
def test_optimal_composition_agrees(eps: float, delta: float, steps: int) -> None:
    grid = 1e-3
    one = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(eps, delta), grid)
    ours = optimal_composition(eps, delta, steps)
    for at in (0.0, 0.3 * eps * steps, 0.8 * eps * steps):
        theirs = one.self_compose(steps).get_delta_for_epsilon(at)
        # They round each loss up, by less than one step of their grid.
        assert ours.profile(at) - 1e-9 <= theirs <= ours.profile(at - steps * grid) + 1e-9


@given(eps=st.floats(0.001, 1.0), steps=st.integers(1, 300), slack=st.floats(1e-9, 0.1))
@quick
def test_tight_composition_is_below_the_textbooks(eps: float, steps: int, slack: float) -> None:
    tight = optimal_composition(eps, 0.0, steps).epsilon(slack)
    assert tight <= strong_composition(eps, steps, slack) * (1 + 1e-12)
    assert tight <= eps * steps * (1 + 1e-12)


def test_composition_of_one_is_itself() -> None:
    assert optimal_composition(0.7, 1e-5, 1).epsilon(1e-5) == pytest.approx(0.7, rel=1e-9)
    assert optimal_composition(0.7, 1e-5, 3).epsilon(1e-5) == math.inf


def test_strong_composition_as_printed() -> None:
    """zhang17.theorem4 composes n^2 steps of eps / (n sqrt(2 log(2/delta))): more than eps at eps = 1."""
    for delta, total in ((1e-5, 1.041), (1e-3, 1.066), (1e-1, 1.167)):
        n = 10_000
        one = 1 / (n * math.sqrt(2 * math.log(2 / delta)))
        assert strong_composition(one, n**2, delta / 2) == pytest.approx(total, abs=1e-3)


@given(eps=st.floats(0.0, 900.0), q=st.floats(1e-4, 1.0))
@quick
def test_amplification(eps: float, q: float) -> None:
    small = amplified_epsilon(eps, q)
    assert 0 <= small <= eps + 1e-12
    if eps < 600:
        assert small == pytest.approx(math.log1p(q * math.expm1(eps)), rel=1e-12, abs=1e-15)


# ---------------------------------------------------------------- sampled batches


def noise_of_rrpsgd(n: int, delta: float) -> float:
    return 2 * math.sqrt(math.log(3 * n / delta) * math.log(2 / delta))


@pytest.mark.parametrize(
    ("n", "delta", "tight"),
    [
        (20, 1e-2, 0.171),
        (20, 1e-3, 0.222),
        (20, 1e-5, 0.242),
        (100, 1e-2, 0.150),
        (100, 1e-3, 0.204),
        (100, 1e-5, 0.228),
    ],
)
def test_rrpsgd(n: int, delta: float, tight: float) -> None:
    bounds = subsampled_gaussian_epsilon(noise_of_rrpsgd(n, delta), n, 1, n**2, delta)
    assert bounds.low == pytest.approx(tight, abs=6e-4)
    assert bounds.low <= bounds.high <= 1.09 * bounds.low
    planted = subsampled_gaussian_epsilon(noise_of_rrpsgd(n, delta) / 2, n, 1, n**2, delta)
    assert planted.low > bounds.high  # a factor two in the noise cannot hide


@pytest.mark.parametrize("multiplier", [0.1, 0.01, 1e-6])
def test_almost_no_noise_still_has_a_lower_bound(multiplier: float) -> None:
    """Losses beyond the range of floats: the largest output shows a drawn record; more noise shows less."""
    bounds = subsampled_gaussian_epsilon(multiplier, 10_000, 1, 100, 1e-6)
    assert 400 < bounds.low <= bounds.high
    assert bounds.low > subsampled_gaussian_epsilon(0.5, 10_000, 1, 100, 1e-6).high


@given(q=st.integers(1, 9), mu=st.floats(0.02, 3.0), delta=st.floats(1e-8, 1e-2))
@example(q=1, mu=0.0215, delta=8.03e-4)  # epsilon 1e-4: what a window leaves out would show
@example(q=1, mu=0.244, delta=9.72e-3)  # epsilon 1e-5, far below a cell
@quick
def test_one_sampled_step_has_a_closed_form(q: int, mu: float, delta: float) -> None:
    """The grid machinery, which is not used for one step, against the formula that is."""
    release = (sampled_gaussian.without_replacement(mu, 1, q, 10),)
    exact = sampled_gaussian.epsilon_bounds(release, delta)
    assert exact.high - exact.low <= 1e-6 * exact.high + 1e-9
    low = sampled_gaussian.attained(release, delta, REPLACE_ONE, 1e-4)
    high = sampled_gaussian.sound(release, delta, REPLACE_ONE, 1e-4)
    assert low <= exact.high
    assert high >= exact.low
    assert high - low <= 2 * width_of_a_cell(release, q / 10, exact.high, delta) + 1e-9


def width_of_a_cell(release: tuple[sampled_gaussian.NoisySum], q: float, eps: float, delta: float) -> float:
    """How far the grid may raise epsilon: delta is convex in e^eps, and the grid takes its chord over a cell.

    A chord lies at most width^2 / 8 times the second derivative above, the density of the loss there; over the first,
    the loss's tail, that is in epsilon. Cells of the attack are smaller.
    """
    rough, order = sampled_gaussian.moments_epsilon(release, delta)
    if rough == 0:
        return 0.0
    width, _ = sampled_gaussian._grid(release, delta, rough, order, 1e-4)
    mu = release[0].ratio
    x = math.log1p(math.expm1(eps) / q) / mu + mu / 2  # where the loss is eps
    slope = mu * (1 - (1 - q) * math.exp(-eps))
    return float(width**2 / 8 * norm.pdf(x) / norm.sf(x) / slope)


@pytest.mark.parametrize(
    ("ratio", "steps", "rate"),
    [(3.03, 60_000_001, 9.1287e-05), (2.5, 60_000_000, 1e-4), (3.5, 20_000_000, 1e-4), (3.03, 10_000_000, 1e-4)],
)
def test_sums_beyond_the_range_of_floats_are_bounded_soundly(ratio: float, steps: int, rate: float) -> None:
    """Losses add up to thousands, whose exponentials are no floats. Seen: a lower bound of infinity, and a warning."""
    release = (sampled_gaussian.NoisySum(ratio, steps, (1 - rate, rate), True),)
    low = sampled_gaussian.attained(release, 3e-6, REPLACE_ONE, 0.05)
    high = sampled_gaussian.sound(release, 3e-6, REPLACE_ONE, 0.05)
    assert high / 5 < low <= high < math.inf


def test_nothing_is_attained_where_nothing_is_known() -> None:
    """The second law has underflowed, or its error is beyond floats: neither says that the attacker is sure."""
    loss, mass = np.array([-2.0, -1.0]), np.array([0.5, 0.5])
    for other, error in ((np.zeros(2), np.zeros(2)), (mass, np.full(2, np.inf))):
        assert attained_epsilon(Sums(loss, [mass, other], [np.zeros(2), error]), 1e-6) == 0.0


@given(steps=st.integers(2, 400), mu=st.floats(0.05, 1.0), delta=st.floats(1e-9, 1e-2))
@settings(max_examples=8, deadline=None)
def test_nearly_full_batches_approach_the_gaussian(steps: int, mu: float, delta: float) -> None:
    """q = 1 - 1e-9 must lie between the grid's bounds and the closed form of q = 1."""
    exact = float(gaussian_epsilon(delta, mu * math.sqrt(steps)))
    nearly = (sampled_gaussian.NoisySum(mu, steps, (1e-9, 1 - 1e-9)),)
    low = sampled_gaussian.attained(nearly, delta, REPLACE_ONE, 1e-3)
    high = sampled_gaussian.sound(nearly, delta, REPLACE_ONE, 1e-3)
    assert low <= exact * (1 + 1e-6) + 1e-9
    assert high >= exact * (1 - 1e-6) - 1e-9
    assert high - low < 0.01 * exact + 0.02


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-10])
@pytest.mark.parametrize("steps", [2, 30, 3000])
@pytest.mark.parametrize(("noise", "n", "batch"), [(1.0, 100, 1), (4.0, 100, 10), (20.0, 50, 25), (0.5, 1000, 5)])
def test_bounds_are_ordered_and_refine(noise: float, n: int, batch: int, steps: int, delta: float) -> None:
    coarse = subsampled_gaussian_epsilon(noise, n, batch, steps, delta, tolerance=2e-2)
    fine = subsampled_gaussian_epsilon(noise, n, batch, steps, delta, tolerance=1e-3)
    assert 0 <= fine.low <= fine.high
    # Two sound intervals of one number meet.
    assert coarse.low <= fine.high * (1 + 1e-9)
    assert fine.low <= coarse.high * (1 + 1e-9)


def poisson(noise: float, q: float, relation: privacy_accountant.NeighboringRelation) -> float:
    event = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(noise))
    accountant = pld_privacy_accountant.PLDAccountant(relation, value_discretization_interval=1e-3)
    return float(accountant.compose(event, 1000).get_epsilon(1e-5))


def test_poisson_by_dp_accounting_depends_on_the_relation() -> None:
    relations = privacy_accountant.NeighboringRelation
    assert poisson(1.0, 0.01, relations.ADD_OR_REMOVE_ONE) == pytest.approx(1.829, abs=2e-3)
    assert poisson(1.0, 0.01, relations.REPLACE_ONE) == pytest.approx(2.84, abs=1e-2)
    # The attained pair at twice the noise is the pair of add/remove: an independent value of the lower bound.
    assert subsampled_gaussian_epsilon(2.0, 100, 1, 1000, 1e-5).low == pytest.approx(1.8282, abs=1e-3)


def test_sampling_bounds_against_a_direct_simulation_of_the_pair() -> None:
    """T = 2, q = 1/2: the exact delta by two-dimensional quadrature of the attained pair."""
    mu, q, eps = 1.0, 0.5, 0.6
    x = np.linspace(-9, 10, 3001)
    b = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    a = (1 - q) * b + q * np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    gap = np.multiply.outer(a, a) - math.exp(eps) * np.multiply.outer(b, b)
    delta = float(np.maximum(gap, 0).sum() * (x[1] - x[0]) ** 2)
    bounds = epsilon_bounds((sampled_gaussian.poisson(mu, 2, q),), delta, ADD_REMOVE, 1e-4)
    assert bounds.low <= eps + 1e-4
    assert bounds.low == pytest.approx(eps, abs=0.01)
    assert bounds.high >= eps - 1e-4


@pytest.mark.parametrize(("eps", "delta", "n", "batch", "steps"), [(1.0, 1e-5, 100, 10, 500), (0.3, 1e-6, 20, 1, 400)])
def test_noise_inverts_epsilon(eps: float, delta: float, n: int, batch: int, steps: int) -> None:
    noise = subsampled_gaussian_noise(eps, delta, n, batch, steps)
    assert subsampled_gaussian_epsilon(noise, n, batch, steps, delta).high <= eps
    assert subsampled_gaussian_epsilon(noise * 0.99, n, batch, steps, delta).high > eps


def test_full_batch_noise_is_the_gaussian_one() -> None:
    noise = subsampled_gaussian_noise(1.0, 1e-5, 10, 10, 1)
    assert noise == pytest.approx(2 * gaussian_sigma(1.0, 1e-5), rel=2e-4)


# ---------------------------------------------------------------- certificates


def test_cells_in_three_dimensions() -> None:
    def upper(low: Any, high: Any) -> Any:
        return high["x"] * high["y"] - low["z"] ** 2

    assert certify_cells(upper, {"x": (0.1, 1), "y": (0.1, 1), "z": (1.01, 2)}).certified
    failing = certify_cells(upper, {"x": (0.1, 1), "y": (0.1, 1), "z": (0.5, 2)}, limit=3000)
    assert not failing.certified
    assert 0 < failing.left < 1
    assert failing.cells <= 3000
    cell = failing.undecided_cell
    assert cell is not None
    assert cell["x"][1] * cell["y"][1] > cell["z"][0] ** 2
    assert certify_cells(lambda lo, hi: hi["x"] ** 2 - 4, {"x": (-1.5, 1.9)}, log=False).certified


def test_an_equality_is_left_undecided_not_certified() -> None:
    """No finite cover proves an equality; the limit is kept and the rest is said to be open."""
    found = certify_cells(lambda lo, hi: hi["x"] / lo["x"] - 1, {"x": (0.5, 1.0)}, limit=3000)
    assert not found.certified
    assert found.left > 0


def test_whole_numbers_need_no_cover_between_them() -> None:
    """x (5 - x) <= 6 at every whole number, and not at 2.5."""

    def upper(low: Any, high: Any) -> Any:
        return high["x"] * (5 - low["x"]) - 6.5

    box = {"x": (1.0, 5.0)}
    assert certify_cells(upper, box, whole={"x"}).certified
    assert not certify_cells(lambda lo, hi: hi["x"] * (5 - lo["x"]) - 6.2, box, limit=2000).certified


def test_shrinking_drops_what_no_hypothesis_allows() -> None:
    """x <= 1 holds where x y <= 1 and y >= 1: cells outside are cut off, not covered."""

    def shrink(low: Any, high: Any) -> Any:
        return low, {**high, "x": np.minimum(high["x"], np.maximum(1 / low["y"], low["x"]))}

    box = {"x": (0.01, 100.0), "y": (1.0, 10.0)}
    assert not certify_cells(lambda lo, hi: hi["x"] - 1.01, box, limit=2000).certified

    def upper(low: Any, high: Any) -> Any:
        return np.where(low["x"] * low["y"] > 1, -1.0, high["x"] - 1.01)

    cut, plain = (certify_cells(upper, box, shrink=way) for way in (shrink, None))
    assert cut.certified
    assert plain.certified
    assert cut.cells < plain.cells


x_, y_ = sympy.Symbol("x", positive=True), sympy.Symbol("y", positive=True)


@given(ends=st.tuples(*(st.floats(0.1, 5.0) for _ in range(4))), share=st.tuples(st.floats(0, 1), st.floats(0, 1)))
@quick
def test_ranges_enclose_every_value(ends: tuple[float, ...], share: tuple[float, float]) -> None:
    box = {name: tuple(np.array([v]) for v in sorted(ends[i : i + 2])) for name, i in (("x", 0), ("y", 2))}
    at = {
        s: float(box[str(s)][0][0] + t * (box[str(s)][1][0] - box[str(s)][0][0]))
        for s, t in zip((x_, y_), share, strict=True)
    }
    for expr in (
        x_ / y_ - sympy.log(x_),
        (x_ - y_) ** 2,
        sympy.sqrt(x_) * sympy.exp(-y_),
        x_**y_,
        sympy.Min(x_, 1 / y_),
        sympy.Max(x_ - y_, 0) ** 3,
        sympy.ceiling(x_ * y_),
        sympy.log(x_ / y_) * (1 - x_),
        x_ ** sympy.Rational(-1, 3),
    ):
        low, high = range_of(expr, box)
        assert low[0] <= float(expr.subs(at)) <= high[0]


def test_ranges_of_what_a_double_cannot_hold() -> None:
    """(1 - 1/x)^y, written so that both factors leave the doubles: nothing must be claimed of it."""
    box = {"x": (np.array([2.0]), np.array([1e6])), "y": (np.array([1.0]), np.array([1e10]))}
    low, high = range_of((x_ - 1) ** y_ / x_**y_, box)
    assert low[0] <= 0
    assert high[0] >= 1 - 1e-6
    low, high = range_of((1 - 1 / x_) ** y_, box)
    assert low[0] <= 1e-300
    assert 1 - 1e-6 <= high[0] < 1
    low, high = range_of(1 / (x_ - 5), box)
    assert low[0] == -np.inf
    assert high[0] == np.inf


def test_hypotheses_that_fail_on_a_whole_cell() -> None:
    box = {"x": (np.array([1.0, 3.0]), np.array([2.0, 4.0])), "y": (np.array([2.5, 2.5]), np.array([2.6, 2.6]))}
    assert never_holds(x_ <= y_, box).tolist() == [False, True]
    assert never_holds(x_ > y_, box).tolist() == [True, False]
    assert never_holds(sympy.Eq(x_, y_), box).tolist() == [True, True]


# ---------------------------------------------------------------- input


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_budgets(bad: float) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: gaussian_sigma(bad, 1e-5),
        lambda: gaussian_sigma(1.0, 1e-5, bad),
        lambda: gaussian_sigma_classical(bad, 1e-5),
        lambda: gaussian_epsilon(1e-5, bad),
        lambda: laplace_delta(1.0, bad),
        lambda: strong_composition(bad, 10, 1e-5),
        lambda: optimal_composition(bad, 0.0, 10),
        lambda: subsampled_gaussian_epsilon(bad, 10, 1, 10, 1e-5),
        lambda: subsampled_gaussian_noise(bad, 1e-5, 10, 1, 10),
        lambda: amplified_epsilon(1.0, min(bad, -bad)),
    ]
    for call in calls:
        with pytest.raises(InvalidInput):
            call()


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, math.nan])
def test_bad_deltas(bad: float) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: gaussian_sigma(1.0, bad),
        lambda: gaussian_epsilon(bad, 1.0),
        lambda: strong_composition(1.0, 10, bad),
        lambda: optimal_composition(1.0, 0.0, 10).epsilon(bad),
        lambda: subsampled_gaussian_epsilon(1.0, 10, 1, 10, bad),
    ]
    for call in calls:
        with pytest.raises(InvalidInput):
            call()


def test_bad_counts_and_boxes() -> None:
    for n, batch, steps in ((10, 11, 1), (0, 1, 1), (10, 0, 1), (10, 1, 0), (10, 1, 1.5), (math.nan, 1, 1)):
        with pytest.raises(InvalidInput):
            subsampled_gaussian_epsilon(1.0, n, batch, steps, 1e-5)  # type: ignore[arg-type]
    for box in ({"x": (2.0, 1.0)}, {"x": (0.0, 1.0)}, {"x": (1.0, math.inf)}):
        with pytest.raises(InvalidInput):
            certify_cells(lambda lo, hi: hi["x"], box)


def test_interval() -> None:
    assert 0.5 in Interval(0.0, 1.0)
    assert 1.5 not in Interval(0.0, 1.0)
