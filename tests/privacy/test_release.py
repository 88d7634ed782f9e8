"""Release: numbers for symbols, noise that is enough and no more, what is refused; each with the mistake it catches."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import dp_accounting
import numpy as np
import pytest
import sympy
from dp_accounting import rdp
from dp_accounting.pld import pld_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    LABEL_ONLY,
    LOCAL,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    RenyiDP,
    gaussian_delta,
    group,
)
from dpcheck.bounds.library.convex.variance_reduction import full_gradients, on_a_line, reduced_gradients
from dpcheck.bounds.privacy.laws import (
    Gaussian,
    InOrder,
    L2Laplace,
    Laplace,
    Poisson,
    Selected,
    WishartDifference,
    WithoutReplacement,
    WithReplacement,
)
from dpcheck.bounds.privacy.release import Composed, Release, Seen, account_name
from dpcheck.kernels.drawn import draw
from dpcheck.kernels.noisy_answers import part_of

CLAIMED = ApproxDP(1.0, 1e-3)
G, n, T, b, sigma = sympy.symbols("G n T b sigma", positive=True)
SYMBOLIC = Release(4 * G / b, Gaussian(sigma), WithoutReplacement(b, n), T, always=2 * G / n)
NUMBERS = {"G": 0.5, "n": 40, "T": 6, "b": 4}


# Numbers for symbols --------------------------------------------------------------------------------
@given(sizes=st.permutations(list(NUMBERS)), cut=st.integers(0, 4))
@settings(max_examples=15, deadline=None)
def test_numbers_may_come_one_after_the_other(sizes: list[str], cut: int) -> None:
    """The scale of the noise stays open; what is filled in is the release written in numbers."""
    first, second = ({k: NUMBERS[k] for k in part} for part in (sizes[:cut], sizes[cut:]))
    found = SYMBOLIC.at(**first).at(**second)
    assert found.law.scale == sigma
    assert found.at(sigma=2.0) == Release(0.5, Gaussian(2.0), WithoutReplacement(4.0, 40.0), 6.0, always=0.025)
    assert found.calibrated(CLAIMED) == found.at(sigma=7.0).calibrated(CLAIMED)


def test_the_expressions_are_those_of_the_accountant() -> None:
    values = {str(s): v for s, v in zip((G, n, T, b, sigma), (0.5, 40, 6, 4, 2.0), strict=True)}
    in_symbols = [float(e.subs({s: values[str(s)] for s in e.free_symbols})) for e in SYMBOLIC.numbers]
    assert in_symbols == [float(e) for e in SYMBOLIC.at(**values).numbers]


# Calibration: enough, and no more --------------------------------------------------------------------
schemes = st.sampled_from([None, InOrder(), WithoutReplacement(3, 30), WithReplacement(2, 25), Poisson(0.1)])
releases = st.builds(
    Release,
    sensitivity=st.floats(0.05, 20.0),
    law=st.sampled_from([Gaussian(1.0), Laplace(1.0)]),
    sampling=schemes,
    steps=st.integers(1, 40),
)
guarantees = st.builds(ApproxDP, st.floats(0.2, 4.0), st.floats(1e-5, 0.02))


@given(release=releases, guarantee=guarantees)
@settings(max_examples=15, deadline=None)
def test_calibrated_noise_keeps_the_promise_and_one_percent_less_breaks_it(release: Release, guarantee: Any) -> None:
    done = release.calibrated(guarantee)
    assert done == release.with_noise(1.0).with_noise_times(done.law.scale)
    kept = done.epsilon(guarantee.delta)
    assert kept.low <= kept.high <= guarantee.eps
    assert done.with_noise_times(0.99).epsilon(guarantee.delta).high > guarantee.eps


@given(first=releases, second=releases, guarantee=guarantees)
@settings(max_examples=4, deadline=None)
def test_composed_releases_are_scaled_together(first: Release, second: Release, guarantee: Any) -> None:
    both = first.followed_by(second)
    done = both.calibrated(guarantee)
    factors = {part.law.scale / before.law.scale for part, before in zip(done.parts, both.parts, strict=True)}
    assert len(factors) == 1
    assert (
        done.epsilon(guarantee.delta).high <= guarantee.eps < done.with_noise_times(0.99).epsilon(guarantee.delta).high
    )
    # Planted: each calibrated by itself, the other forgotten.
    apart = Composed(tuple(part.calibrated(guarantee) for part in both.parts))
    assert apart.epsilon(guarantee.delta).high > guarantee.eps


@given(first=releases, second=releases)
@settings(max_examples=10, deadline=None)
def test_releases_that_take_turns_cost_the_same_and_alternate(first: Release, second: Release) -> None:
    first, second = replace(first, steps=4), replace(second, steps=4)
    turns = Composed((first, second), in_turn=True)
    assert turns.with_noise_times(2.0).in_turn
    assert turns.at(n=5).in_turn
    assert turns.epsilon(1e-3) == first.followed_by(second).epsilon(1e-3)
    assert [part_of(turns, t) for t in range(4)] == [first, second, first, second]
    assert [part_of(first.followed_by(second), t) for t in range(5)] == [first] * 4 + [second]
    with pytest.raises(InvalidInput, match="take turns"):
        replace(turns, parts=(first, replace(second, steps=5)))


@given(sensitivity=st.floats(0.01, 10.0), steps=st.integers(1, 100), always=st.floats(0.0, 5.0))
@settings(max_examples=20, deadline=None)
def test_noise_on_all_records_is_exact_in_every_notion(sensitivity: float, steps: int, always: float) -> None:
    """All that a record moves is one answer: the total of both parts. Planted: a step, or a part, not counted."""
    release = Release(sensitivity, Gaussian(1.0), steps=steps, always=always)
    total = math.sqrt(steps) * (sensitivity + always)
    for guarantee, noise in ((ZCDP(0.5), total), (GaussianDP(0.5), 2 * total), (RenyiDP(4.0, 0.5), 2 * total)):
        assert release.calibrated(guarantee).law.scale == pytest.approx(noise)
    scale = release.calibrated(CLAIMED).law.scale
    assert gaussian_delta(1.0, total / scale) <= 1e-3 < gaussian_delta(1.0, 1.001 * total / scale)
    assert release.calibrated(CLAIMED).epsilon(1e-3).high == pytest.approx(1.0)
    for wrong in (replace(release, steps=steps + 1), replace(release, always=always + 0.01 * sensitivity)):
        assert wrong.with_noise(scale).epsilon(1e-3).high > 1.0


@pytest.mark.parametrize("law", [Laplace(1.0), L2Laplace(1.0), WishartDifference(1.0)])
def test_pure_noise_is_basic_composition(law: Any) -> None:
    release = Release(0.3, law, steps=5, always=0.1)
    assert release.calibrated(PureDP(0.5)).law.scale == pytest.approx(5 * 0.4 / 0.5)
    assert account_name(release, PureDP(0.5)) == "account: basic composition of Laplace noise"


def test_in_order_a_record_enters_one_step() -> None:
    """Planted: counted as often as there are steps, the noise would be sqrt(50) times as large."""
    once = Release(2.0, Gaussian(1.0))
    for guarantee in (CLAIMED, ZCDP(0.1)):
        ordered = Release(2.0, Gaussian(1.0), InOrder(), 50).calibrated(guarantee)
        assert ordered.law == once.calibrated(guarantee).law
        every = Release(2.0, Gaussian(1.0), steps=50).calibrated(guarantee)
        assert every.law.scale == pytest.approx(math.sqrt(50) * ordered.law.scale)
    assert Release(2.0, Gaussian(9.0), InOrder(), 50).epsilon(1e-3) == once.with_noise(9.0).epsilon(1e-3)


def test_a_second_pass_is_refused() -> None:
    """It would be a second step for a record, which the release does not count."""
    assert draw(InOrder(), np.random.default_rng(0), 2, 5, 4).tolist() == [4, 4]
    with pytest.raises(InvalidInput, match="one pass"):
        draw(InOrder(), np.random.default_rng(0), 2, 5, 5)


# Against dp-accounting --------------------------------------------------------------------------------
def their_epsilon(event: Any, relation: Any, delta: float, accountant: Any = None) -> float:
    named = {ADD_REMOVE: "ADD_OR_REMOVE_ONE", REPLACE_ONE: "REPLACE_ONE"}[relation]
    kind = accountant or (lambda r: pld_privacy_accountant.PLDAccountant(r, value_discretization_interval=1e-3))
    return float(kind(getattr(dp_accounting.NeighboringRelation, named)).compose(event).get_epsilon(delta))


@pytest.mark.parametrize(
    ("law", "event"),
    [(Gaussian(3.0), dp_accounting.GaussianDpEvent(3.0)), (Laplace(6.0), dp_accounting.LaplaceDpEvent(6.0))],
)
@pytest.mark.parametrize(("rate", "steps"), [(None, 1), (None, 30), (0.05, 100), (0.5, 10)])
def test_one_law_agrees(law: Any, event: Any, rate: float | None, steps: int) -> None:
    """Sensitivity 1, added or removed. Planted: another number of steps leaves the interval."""
    sampled = event if rate is None else dp_accounting.PoissonSampledDpEvent(rate, event)
    ours = Release(1.0, law, None if rate is None else Poisson(rate), steps, relation=ADD_REMOVE)
    theirs = their_epsilon(dp_accounting.SelfComposedDpEvent(sampled, steps), ADD_REMOVE, 1e-4)
    found = ours.epsilon(1e-4)
    assert found.low * 0.998 - 1e-4 <= theirs <= found.high * 1.005 + 1e-3
    wrong = replace(ours, steps=2 * steps).epsilon(1e-4)
    assert not wrong.low * 0.998 - 1e-4 <= theirs <= wrong.high * 1.005 + 1e-3


def test_compositions_agree() -> None:
    """Gaussian sums of all records, then sampled ones, then Laplace noise."""
    parts = (
        Release(1.0, Gaussian(8.0), None, 10, relation=ADD_REMOVE),
        Release(1.0, Gaussian(1.5), Poisson(0.05), 40, relation=ADD_REMOVE),
        Release(1.0, Laplace(5.0), relation=ADD_REMOVE),
    )
    event = dp_accounting.ComposedDpEvent(
        [
            dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(8.0), 10),
            dp_accounting.SelfComposedDpEvent(
                dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(1.5)), 40
            ),
            dp_accounting.LaplaceDpEvent(5.0),
        ]
    )
    theirs = their_epsilon(event, ADD_REMOVE, 1e-4)
    found = Composed(parts).epsilon(1e-4)
    assert found.low * 0.998 <= theirs <= found.high * 1.005 + 1e-3
    assert theirs > 1.01 * Composed(parts[:2]).epsilon(1e-4).high  # a part left out would show


@pytest.mark.parametrize(("batch", "size", "steps"), [(5, 100, 50), (1, 20, 10), (30, 60, 20)])
def test_fixed_batches_are_within_their_renyi_bound(batch: int, size: int, steps: int) -> None:
    """Theirs is an upper bound, by moments: at least our lower one, and never below it by a forgotten step."""
    ours = Release(1.0, Gaussian(2.0), WithoutReplacement(batch, size), steps).epsilon(1e-4)
    event = dp_accounting.SelfComposedDpEvent(
        dp_accounting.SampledWithoutReplacementDpEvent(size, batch, dp_accounting.GaussianDpEvent(2.0)), steps
    )
    theirs = their_epsilon(event, REPLACE_ONE, 1e-4, lambda r: rdp.RdpAccountant(neighboring_relation=r))
    assert ours.low <= ours.high <= theirs


# What all records enter, beside what is drawn --------------------------------------------------------
GRID = np.linspace(-60.0, 60.0, 60_001)


def normal(mean: float, noise: float) -> np.ndarray:
    return np.exp(-(((GRID - mean) / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi))


def one_step(noise: float, size: int, old: Any, new: Any, rest: float) -> tuple[np.ndarray, np.ndarray]:
    """Densities of a step of SVRG on single records, G = 1: gradients of the differing one at (x~, x), differences of
    the others.
    """
    laws = []
    for at_snap, at_x in (old, new):
        full = at_snap / size
        drawn = normal(at_x - at_snap + full, noise)
        laws.append((1 - 1 / size) * normal(rest + full, noise) + drawn / size)
    return laws[0], laws[1]


def leaked(p: np.ndarray, q: np.ndarray, eps: float) -> float:
    """The delta at eps, both ways."""
    step = GRID[1] - GRID[0]
    return max(float(np.maximum(a - math.exp(eps) * c, 0.0).sum() * step) for a, c in ((p, q), (q, p)))


def most_leaked(noise: float, size: int, eps: float, *, line: bool) -> float:
    """Over all corners; on a line those with f'(x) <= f'(x~), as x < x~."""
    corners = [(a, c) for a in (-1.0, 1.0) for c in (-1.0, 1.0) if not line or c <= a]
    rests = (-2.0, 0.0) if line else (-2.0, 0.0, 2.0)
    return max(leaked(*one_step(noise, size, o, w, r), eps) for o in corners for w in corners for r in rests)


def svrg(size: int, steps: int = 1, batch: int = 1, *, line: bool = False) -> Release:
    release = reduced_gradients(steps, batch).at(G=1.0, n=size)
    return on_a_line(release) if line else release


slopes = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(
    noise=st.floats(1.0, 4),
    size=st.integers(2, 12),
    delta=st.floats(1e-3, 0.1),
    old=slopes,
    new=slopes,
    rest=st.floats(-2, 2),
)
@settings(max_examples=20, deadline=None)
def test_one_step_never_leaks_more_than_the_bound(
    noise: float, size: int, delta: float, old: Any, new: Any, rest: float
) -> None:
    """By quadrature, gradients of size at most 1 in all signs."""
    high = svrg(size).with_noise(noise).epsilon(delta).high
    assert math.isfinite(high)
    assert leaked(*one_step(noise, size, old, new, rest), high) <= delta * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("line", [True, False])
def test_the_bound_is_near_what_the_worst_gradients_leak(line: bool) -> None:
    """Within 2.5 in epsilon."""
    high = svrg(8, line=line).with_noise(1.5).epsilon(1e-2).high
    assert most_leaked(1.5, 8, high, line=line) <= 1e-2 < most_leaked(1.5, 8, high / 2.5, line=line)


@pytest.mark.parametrize("forgotten", ["what all records enter", "the second gradient of a drawn record", "the draw"])
def test_noise_that_forgets_a_part_leaks_more_than_promised(forgotten: str) -> None:
    """Planted, by quadrature: the calibrated noise keeps (eps, delta), that of a release with a part left out not."""
    size, aim = 4, ApproxDP(0.3, 0.05)
    whole = svrg(size)
    wrong = {
        "what all records enter": replace(whole, sensitivity=2.0, always=0),
        "the second gradient of a drawn record": replace(whole, sensitivity=1.0),
        "the draw": full_gradients(1).at(G=1.0, n=size),
    }[forgotten]
    assert most_leaked(whole.calibrated(aim).law.scale, size, aim.eps, line=False) <= aim.delta
    assert most_leaked(wrong.calibrated(aim).law.scale, size, aim.eps, line=False) > aim.delta


@given(guarantee=guarantees, size=st.integers(3, 30), steps=st.integers(1, 50), line=st.booleans())
@settings(max_examples=5, deadline=None)
def test_both_parts_together_are_calibrated(guarantee: ApproxDP, size: int, steps: int, line: bool) -> None:
    done = svrg(size, steps, line=line).calibrated(guarantee)
    found = done.epsilon(guarantee.delta)
    assert found.low <= found.high <= guarantee.eps < done.with_noise_times(0.99).epsilon(guarantee.delta).high
    assert replace(done, always=0).epsilon(guarantee.delta).high < found.high


def test_larger_batches_and_lines_need_less() -> None:
    plain, line, batch, long = (
        r.calibrated(CLAIMED).law.scale for r in (svrg(20, 30), svrg(20, 30, line=True), svrg(20, 30, 5), svrg(20, 60))
    )
    assert max(line, batch) < plain < long


# Selections ------------------------------------------------------------------------------------------
scores = st.lists(st.floats(-5, 5), min_size=3, max_size=3)


def gumbel_probabilities(u: Any, scale: float) -> np.ndarray:
    """Of the largest score after Gumbel noise: the exponential mechanism."""
    weights = np.exp((np.asarray(u) - np.max(u)) / scale)
    return weights / weights.sum()


@given(old=scores, moves=st.lists(st.floats(-0.7, 0.7), min_size=3, max_size=3), eps=st.floats(0.1, 3))
@settings(max_examples=60, deadline=None)
def test_a_selection_keeps_pure_privacy(old: list[float], moves: list[float], eps: float) -> None:
    """Exactly: the log ratios of the two laws of the exponential mechanism."""
    scale = Release(0.7, Selected(1.0)).calibrated(PureDP(eps)).law.scale
    p, q = (gumbel_probabilities(u, scale) for u in (old, np.add(old, moves)))
    assert np.abs(np.log(p / q)).max() <= eps * (1 + 1e-9)


def test_scores_that_move_apart_need_twice_the_sensitivity() -> None:
    """Planted: noise of scale sensitivity / eps, where one score rises and the others fall, breaks the promise."""
    old, new = np.array([-50.0, 0.0, 0.0]), np.array([-51.0, 1.0, 1.0])
    scale = Release(1.0, Selected(1.0)).calibrated(PureDP(0.5)).law.scale
    for factor, kept in ((1.0, True), (0.5, False)):
        p, q = (gumbel_probabilities(u, factor * scale) for u in (old, new))
        assert bool(np.abs(np.log(p / q)).max() <= 0.5) is kept


@pytest.mark.parametrize("noise", ["gumbel", "exponential", "laplace"])
def test_selections_compose(noise: str) -> None:
    """A bounded range is worth something, a random iterate shows less than all, and pure DP adds up."""
    release = Release(0.5, Selected(1.0, noise), steps=10)
    seen = release.calibrated(CLAIMED).law.scale
    assert replace(release, seen=Seen.RANDOM_ITERATE).calibrated(CLAIMED).law.scale < seen
    assert release.calibrated(PureDP(1.0)).law.scale == pytest.approx(2 * 0.5 * 10)
    assert (seen < Release(0.5, Selected(1.0, "laplace"), steps=10).calibrated(CLAIMED).law.scale) is (
        noise == "gumbel"
    )


def test_a_random_iterate_needs_less_noise_than_all() -> None:
    release = Release(0.5, Gaussian(1.0), steps=20)
    only = replace(release, seen=Seen.RANDOM_ITERATE)
    assert only.calibrated(CLAIMED).law.scale < release.calibrated(CLAIMED).law.scale
    assert account_name(only, CLAIMED) != account_name(release, CLAIMED)


# Refusals --------------------------------------------------------------------------------------------
DRAWN = WithoutReplacement(2, 10)


@pytest.mark.parametrize(
    ("release", "guarantee", "words"),
    [
        (Release(1.0, Gaussian(1.0)), PureDP(1.0), "no pure DP"),
        (Release(1.0, Gaussian(1.0), DRAWN), PureDP(1.0), "delta > 0"),
        (Release(1.0, Gaussian(1.0), DRAWN), ApproxDP(1.0, 0.0), "delta > 0"),
        (Release(1.0, Gaussian(1.0), DRAWN), ZCDP(1.0), "to_approx"),
        (Release(1.0, Gaussian(1.0), DRAWN, 5, seen=Seen.RANDOM_ITERATE), CLAIMED, "sampled batches"),
        (Release(1.0, Laplace(1.0), DRAWN), PureDP(1.0), "sampled batches"),
        (Release(1.0, Laplace(1.0)), GaussianDP(1.0), "PureDP"),
        (Release(1.0, L2Laplace(1.0)), CLAIMED, "PureDP"),
        (Release(1.0, Selected(1.0), DRAWN), CLAIMED, "Selected noise on sampled"),
        (Release(1.0, Selected(1.0)).followed_by(Release(1.0, Gaussian(1.0))), CLAIMED, "Gaussian, Selected"),
        (Release(1.0, Selected(1.0)).followed_by(Release(1.0, Selected(1.0))), CLAIMED, "Selected"),
    ],
)
def test_unknown_combinations_are_refused_not_guessed(release: Any, guarantee: Any, words: str) -> None:
    assert not release.supports(guarantee)
    with pytest.raises(InvalidInput, match=words):
        release.calibrated(guarantee)


@pytest.mark.parametrize(
    "release",
    [
        Release(1.0, Selected(1.0)),
        Release(1.0, L2Laplace(1.0)),
        Release(1.0, Gaussian(1.0), seen=Seen.RANDOM_ITERATE, steps=3),
        Release(1.0, Gaussian(1.0), DRAWN, relation=group(REPLACE_ONE, 2)),
        Release(1.0, Gaussian(1.0), DRAWN, relation=LOCAL),
        Release(1.0, Gaussian(1.0), DRAWN, relation=ADD_REMOVE),
    ],
)
def test_no_epsilon_where_no_account_is_known(release: Release) -> None:
    with pytest.raises(InvalidInput):
        release.epsilon(1e-3)


@pytest.mark.parametrize("relation", [ADD_REMOVE, LOCAL, LABEL_ONLY, group(REPLACE_ONE, 2)])
def test_relations_are_not_mixed(relation: Any) -> None:
    """Nor are two in one composition; the same relation on both sides is fine for noise on all records."""
    release = Release(1.0, Gaussian(1.0), steps=4)
    with pytest.raises(MixedRelations, match="to_relation"):
        release.calibrated(replace(CLAIMED, relation=relation))
    with pytest.raises(MixedRelations):
        release.followed_by(replace(release, relation=relation))
    if relation in (ADD_REMOVE, LOCAL):
        same = replace(release, relation=relation).calibrated(replace(CLAIMED, relation=relation))
        assert same.law == release.calibrated(CLAIMED).law


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ({"sampling": WithoutReplacement(30, 20)}, "batch"),
        ({"sampling": Poisson(1.5)}, "rate"),
        ({"steps": 0}, "steps"),
        ({"sensitivity": -1.0}, "ratio"),
    ],
)
def test_bad_numbers_are_named(bad: dict[str, Any], word: str) -> None:
    release = replace(Release(1.0, Gaussian(1.0), WithoutReplacement(1, 20), 5), **bad)
    with pytest.raises(InvalidInput, match=word):
        release.epsilon(1e-2)
    with pytest.raises(InvalidInput, match=word):
        release.calibrated(CLAIMED)
    with pytest.raises(InvalidInput, match="delta"):
        Release(1.0, Gaussian(1.0)).epsilon(1.0)


def test_nothing_is_no_composition() -> None:
    with pytest.raises(InvalidInput, match="at least one release"):
        Composed(())
