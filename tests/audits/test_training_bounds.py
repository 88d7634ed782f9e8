"""Bounds from right guesses: exact against every mechanism on few coins, valid against simulations.

False alarms: a count of bounds above the truth may exceed its limit with probability 1e-6 (fixed seeds).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse, stats

from benchmarks.one_training import _limit, no_median_above
from dpcheck.audits.training.canary_bounds import (
    CanaryBound,
    CoinScores,
    Question,
    detectable,
    from_any,
    from_curve,
    from_mean_gap,
    from_separate,
)
from dpcheck.audits.training.curves import GaussianCurves, curves_at, gaussian_mu
from dpcheck.audits.training.right_guesses import chance_if_separate, chance_of_right, mass_needed
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, gaussian_delta

DELTA, ALPHA = 1e-5, 0.05
MU = float(gaussian_mu(np.array([4.0]), DELTA)[0])


def best_mechanism(m: int, r: int, v: int, points: list[tuple[float, float]]) -> float:
    """P(at least v of r guesses right), maximised over all laws of guesses given m coins with these (eps, delta)."""
    coins = list(product((0, 1), repeat=m))
    answers = [y for y in product((-1, 0, 1), repeat=m) if sum(map(abs, y)) == r]
    at = {(s, y): i for i, (s, y) in enumerate(product(coins, answers))}
    neighbours = [(s, t) for s, t in product(coins, coins) if sum(a != b for a, b in zip(s, t, strict=True)) == 1]
    size = len(at) + len(neighbours) * len(points) * len(answers)
    entries: list[tuple[int, int, float]] = []
    limits: list[float] = []
    extra = len(at)
    for (s, t), (eps, delta) in product(neighbours, points):
        for y in answers:  # excess of y is at least P(y | s) - e^eps P(y | t)
            row = len(limits)
            entries += [(row, at[s, y], 1.0), (row, at[t, y], -np.exp(eps)), (row, extra, -1.0)]
            limits.append(0.0)
            extra += 1
        entries += [(len(limits), place, 1.0) for place in range(extra - len(answers), extra)]
        limits.append(delta)
    rows, columns, values = zip(*entries, strict=True)
    total = sparse.lil_matrix((len(coins), size))
    gain = np.zeros(size)
    for (s, y), place in at.items():
        total[coins.index(s), place] = 1.0
        right = sum(guess == (1 if coin else -1) for guess, coin in zip(y, s, strict=True))
        gain[place] = -(right >= v) / len(coins)
    found = optimize.linprog(
        gain,
        A_ub=sparse.csr_matrix((values, (rows, columns)), shape=(len(limits), size)),
        b_ub=limits,
        A_eq=total.tocsr(),
        b_eq=np.ones(len(coins)),
        method="highs",
    )
    return float(-found.fun)


@pytest.mark.parametrize(("m", "r", "v"), [(1, 1, 1), (2, 2, 2), (2, 2, 1), (3, 3, 2), (3, 2, 2), (3, 3, 3), (3, 1, 1)])
@pytest.mark.parametrize(("eps", "delta"), [(0.0, 0.05), (1.0, 0.02), (0.7, 0.0)])
def test_no_mechanism_guesses_better_and_one_as_well(m: int, r: int, v: int, eps: float, delta: float) -> None:
    """Over all mechanisms on m coins, by linear programming; with fewer guesses than coins too."""
    assert chance_of_right(v, r, m, eps, delta) == pytest.approx(best_mechanism(m, r, v, [(eps, delta)]), abs=1e-7)


def best_law(m: int, r: int, v: int, points: list[tuple[float, float]]) -> float:
    """The same over laws of the number of right guesses, as in the docstring of right_guesses.py."""
    blocks, sizes = len(points), r + 1 + len(points) * r
    rises = sparse.lil_matrix((blocks * (r + 1), sizes))
    limits = np.zeros(blocks * (r + 1))
    for j, (eps, delta) in enumerate(points):
        for d in range(1, r + 1):
            row, excess = j * (r + 1) + d, r + 1 + j * r + d - 1
            rises[row, d], rises[row, d - 1], rises[row, excess] = d / m, -np.exp(eps) * (r - d + 1) / m, -1.0
            rises[j * (r + 1), excess] = 1.0
        limits[j * (r + 1)] = delta
    gain, total = np.zeros(sizes), np.zeros((1, sizes))
    gain[v : r + 1], total[0, : r + 1] = -1.0, 1.0
    found = optimize.linprog(gain, A_ub=rises.tocsr(), b_ub=limits, A_eq=total, b_eq=[1.0], method="highs")
    return float(-found.fun)


def gaussian_points(mu: float, count: int) -> list[tuple[float, float]]:
    return [(float(eps), float(gaussian_delta(eps, mu))) for eps in np.linspace(-3, 5, count)]


@pytest.mark.parametrize(("m", "r", "v"), [(2, 2, 2), (3, 3, 2), (3, 2, 2)])
def test_only_the_law_of_the_number_right_counts(m: int, r: int, v: int) -> None:
    points = gaussian_points(0.8, 9)
    assert best_law(m, r, v, points) == pytest.approx(best_mechanism(m, r, v, points), abs=1e-6)


@pytest.mark.parametrize(
    ("m", "r", "v", "mu"), [(2, 2, 2, 0.8), (3, 3, 3, 0.8), (40, 20, 17, 0.5), (100, 30, 25, 0.36)]
)
def test_no_mechanism_below_a_curve_guesses_better(m: int, r: int, v: int, mu: float) -> None:
    """The recursion calls no chance impossible that a mechanism has (by a program that sees 65 points of it).

    It takes fewer sets than there are, and is within a quarter of the best.
    """
    best, curve = best_law(m, r, v, gaussian_points(mu, 65)), GaussianCurves(np.array([mu]))
    assert mass_needed(curve, v, r, m, 0.998 * best)[0] <= 1
    assert mass_needed(curve, v, r, m, 1.25 * best)[0] > 1


def test_leaking_at_times_with_hidden_tails_limits_every_bound() -> None:
    """The mechanism behind the limit has the curve of the limit's epsilon, and of none much below: by its own sums."""
    seen, m, eps = 0.1, 1000, 4.0
    w, mu = ALPHA / (0.5 - seen), float(gaussian_mu(np.array([eps]), DELTA)[0])
    limit = _limit(mu, m, seen, DELTA, w)
    edges = np.linspace(-12, 12, 48_001)
    p, q = (np.diff(stats.norm.cdf(edges, loc=shift)) for shift in (mu / 2, -mu / 2))
    from_outside = np.cumsum((p + q)[::-1])[::-1]
    end = edges[np.searchsorted(-from_outside, -seen / m)]  # the scores of both laws beyond either end
    tails, most = np.abs((edges[1:] + edges[:-1]) / 2) > end, np.exp(mu * end)
    both = (p + q)[tails] / 2
    up = np.sign((edges[1:] + edges[:-1])[tails]) > 0
    p[tails] = 2 * both * np.where(up, most, 1) / (1 + most)
    q[tails] = 2 * both * np.where(up, 1, most) / (1 + most)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    losses = np.linspace(0, 6, 301)
    profile = np.array([w * np.maximum(p - np.exp(e) * q, 0).sum() for e in losses])
    allowed = [
        gaussian_delta(losses, float(gaussian_mu(np.array([x]), DELTA)[0])) for x in (1.01 * limit, 0.95 * limit)
    ]
    assert np.all(profile <= allowed[0])
    assert np.any(profile > allowed[1])
    assert no_median_above(eps, 100) < no_median_above(eps, m) < no_median_above(eps, 10_000) < eps


def test_a_curve_of_one_point_needs_no_less_than_that_point() -> None:
    """The recursion for (eps, delta) itself is close to the exact chance, and never below it."""
    for eps, delta, r, v, m in ((1.0, 1e-3, 40, 36, 100), (0.5, 1e-4, 60, 48, 60), (2.0, 1e-5, 30, 30, 1000)):
        exact = float(chance_of_right(v, r, m, eps, delta))
        curve = curves_at(ApproxDP(eps, delta), np.array([eps]), delta)
        assert mass_needed(curve, v, r, m, exact)[0] <= 1 + 1e-9
        assert mass_needed(curve, v, r, m, 1.5 * exact)[0] > 1


def test_separate_canaries_are_those_with_the_largest_losses() -> None:
    """Against draws of m Gaussian releases: the r furthest from the middle are guessed."""
    m, r, v, runs = 40, 15, 12, 20_000
    rng = np.random.default_rng(0)
    coins = rng.random((runs, m)) < 0.5
    seen = coins * 1.0 + rng.standard_normal((runs, m)) - 0.5
    chosen = np.argsort(-np.abs(seen), axis=1)[:, :r]
    right = (np.take_along_axis(seen > 0, chosen, 1) == np.take_along_axis(coins, chosen, 1)).sum(axis=1)
    chance = float(chance_if_separate(GaussianCurves(np.array([1.0])), v, r, m)[0])
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], runs, chance)
    assert low <= (right >= v).sum() <= high
    pure = curves_at(PureDP(1.0), np.array([1.0]), 0.0)
    assert chance_if_separate(pure, v, r, r)[0] == pytest.approx(stats.binom.sf(v - 1, r, 1 / (1 + np.exp(-1))))


def test_guesses_alternate_between_both_ends_of_each_run() -> None:
    scores = np.array([[5.0, 1.0, 3.0, 2.0, 4.0], [0.0, 9.0, 1.0, 2.0, 3.0]])
    coins = np.array([[True, True, False, False, True], [False, True, True, True, True]])
    # run 1: 5 in (right), 1 out (wrong), 4 in (right), 2 out (right), 3 in (wrong)
    # run 2: 9 in (right), 0 out (right), 3 in (right), 1 out (wrong), 2 in (right)
    hits = [1, 1, 0, 1, 1, 1, 1, 0, 0, 1]
    assert CoinScores(scores, coins).right().tolist() == [0, *np.cumsum(hits).tolist()]


@pytest.mark.parametrize(("m", "most"), [(10, 1.05), (100, 3.49), (1000, 5.78)])
def test_with_every_guess_right_all_that_coins_can_show_is_shown(m: int, most: float) -> None:
    """The binomial's limit alpha^(1/m), less a little for delta."""
    assert from_any(np.arange(m + 1), Question(m, DELTA, ALPHA, None)).epsilon == pytest.approx(most, abs=0.03)


@settings(max_examples=8, deadline=None)
@given(st.integers(10, 400), st.data())
def test_more_right_guesses_never_lower_a_bound(m: int, data: st.DataObject) -> None:
    hits = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    more = hits | (np.random.default_rng(m).random(m) < 0.3)
    asked = Question(m, DELTA, ALPHA, GaussianDP(1.0))
    fewer, many = (np.concatenate([[0], np.cumsum(x)]) for x in (hits, more))
    for bound in (from_any, from_curve, from_separate):
        assert bound(fewer, asked).epsilon <= bound(many, asked).epsilon


def bounds_of(seen: CoinScores, asked: Question) -> list[CanaryBound]:
    right = seen.right()
    return [from_any(right, asked), from_curve(right, asked), from_separate(right, asked), from_mean_gap(seen, asked)]


def gaussian_coins(rng: np.random.Generator, runs: int, m: int, mu: float) -> CoinScores:
    coins = rng.random((runs, m)) < 0.5
    return CoinScores(mu * coins + rng.standard_normal((runs, m)) + rng.standard_normal((runs, 1)), coins)


@pytest.mark.parametrize(("runs", "m"), [(1, 60), (3, 40)])
def test_bounds_exceed_the_truth_as_rarely_as_stated(runs: int, m: int) -> None:
    """Orthogonal canaries in a Gaussian release, one run and runs that are pooled; the benchmark has 2,000 of each."""
    rng, audits = np.random.default_rng(runs), 70
    asked = Question(runs * m, DELTA, ALPHA, GaussianDP(MU))
    bounds = np.array([[b.epsilon for b in bounds_of(gaussian_coins(rng, runs, m, MU), asked)] for _ in range(audits)])
    assert (bounds > 4.0).sum(axis=0).max() <= stats.binom.isf(1e-6, audits, ALPHA)
    assert np.all(np.diff(np.median(bounds, axis=0)) > 0)  # each assumption buys something


@pytest.mark.parametrize("assume", [None, "curve", "separate", "gaussian"])
def test_the_stated_power_is_met(assume: str | None) -> None:
    """Of trainings at the detectable epsilon 99 in 100 are flagged: fewer than the limit have probability 1e-6."""
    asked, rng, audits = Question(300, DELTA, ALPHA, GaussianDP(0.5)), np.random.default_rng(1), 40
    mu = float(gaussian_mu(np.array([detectable(asked, assume)]), DELTA)[0])
    place = (None, "curve", "separate", "gaussian").index(assume)
    flagged = sum(
        bounds_of(gaussian_coins(rng, 1, 300, mu), asked)[place].epsilon >= asked.claimed for _ in range(audits)
    )
    assert flagged >= stats.binom.ppf(1e-6, audits, 0.97)  # the last by a normal approximation; guesses by both ends


def test_interference_breaks_the_separate_bound_alone() -> None:
    """With probability 0.1 all coins are shown, else none: (0, 0.1)-DP, though a separate one would never look so."""
    claim, audits, rng = ApproxDP(0.01, 0.1), 150, np.random.default_rng(0)
    asked = Question(50, 0.1, ALPHA, claim)
    above = np.zeros(2, int)
    for _ in range(audits):
        coins = rng.random((1, 50)) < 0.5
        right = CoinScores(coins + 0.0 if rng.random() < 0.1 else rng.standard_normal((1, 50)), coins).right()
        above += [from_any(right, asked).epsilon > 0.01, from_separate(right, asked).epsilon > 0.01]
    assert above[0] <= stats.binom.isf(1e-6, audits, ALPHA)
    assert above[1] > audits * 0.06


@pytest.mark.parametrize("claim", [GaussianDP(1.0), ZCDP(0.5), ApproxDP(2.0, DELTA)])
def test_curves_are_those_of_the_guarantee(claim: Guarantee) -> None:
    """A row of one: the claim itself, whose trade-off at 1 - power is the least error."""
    delta = DELTA
    power = np.linspace(0.05, 0.95, 7)[None, :]
    found = curves_at(claim, np.array([claim.epsilon(delta)]), delta).least_error(power)[0]
    assert found == pytest.approx(claim.tradeoff(1 - power[0]), abs=2e-3)


def test_other_scores_than_gaussian_are_refused() -> None:
    rng = np.random.default_rng(0)
    coins = rng.random((1, 2000)) < 0.5
    asked = Question(2000, DELTA, ALPHA, GaussianDP(1.0))
    for noise, said in ((rng.laplace(size=(1, 2000)), "mean distance"), (np.zeros((1, 2000)), "no noise")):
        assert said in from_mean_gap(CoinScores(noise, coins), asked).refused
    assert "20 of each" in from_mean_gap(CoinScores(noise[:, :30], coins[:, :30]), asked).refused
