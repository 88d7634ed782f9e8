"""Guarantees against an independent accountant, against each other, and against bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import dp_event, gaussian_mechanism, privacy_accountant, rdp
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language import guarantees
from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    LABEL_ONLY,
    LOCAL,
    LOCAL_ATTRIBUTE,
    RELATIONS,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    compose,
    gaussian_delta,
    group,
)

budgets = st.floats(0.01, 8.0)
deltas = st.floats(1e-10, 0.2)
quick = settings(max_examples=30, deadline=None)

EACH = [PureDP(0.7), ApproxDP(1.3, 1e-5), ZCDP(0.2), RenyiDP(4.0, 0.3), GaussianDP(0.8)]


@given(eps=budgets, mu=st.floats(0.1, 3.0))
@settings(max_examples=10, deadline=None)
def test_gaussian_profile_agrees(eps: float, mu: float) -> None:
    theirs = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-3, use_connect_dots=True)
    assert GaussianDP(mu).profile(eps) == pytest.approx(theirs.get_delta_for_epsilon(eps), rel=1e-4, abs=1e-5)


@given(delta=deltas, sigma=st.floats(0.3, 20.0))
@quick
def test_gaussian_epsilon_agrees(delta: float, sigma: float) -> None:
    theirs = gaussian_mechanism.get_epsilon_gaussian(sigma, delta)
    assert GaussianDP(1 / sigma).epsilon(delta) == pytest.approx(theirs, rel=1e-6, abs=1e-9)


def test_gaussian_agreement_sees_a_wrong_constant() -> None:
    """A planted bug: a percent on mu moves epsilon far beyond the tolerance of the test above."""
    assert GaussianDP(1.01).epsilon(1e-5) != pytest.approx(gaussian_mechanism.get_epsilon_gaussian(1.0, 1e-5), rel=1e-6)


def test_gaussian_profile_keeps_its_digits_in_the_tail() -> None:
    import mpmath

    with mpmath.workdps(60):
        for eps, mu in [(1.0, 0.03), (0.01, 0.001), (10.0, 0.3), (-3.0, 0.5), (0.0, 1e-6), (300.0, 30.0)]:
            e, m = mpmath.mpf(eps), mpmath.mpf(mu)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
            assert float(gaussian_delta(eps, mu) / exact) == pytest.approx(1, abs=1e-9)


@example(alpha=1.5, eps=0.015625, delta=0.125)
@given(alpha=st.sampled_from([1.5, 2.0, 4.0, 16.0, 64.0]), eps=st.floats(0.01, 3.0), delta=deltas)
@quick
def test_renyi_conversion_agrees(alpha: float, eps: float, delta: float) -> None:
    theirs, _ = rdp.compute_epsilon([alpha], [eps], delta)
    ours = RenyiDP(alpha, eps).epsilon(delta)
    by_total_variation = delta**2 + math.expm1(-eps) > 0  # Bretagnolle and Huber: they say 0 then, the conversion more
    assert ours == pytest.approx(max(theirs, 0.0), rel=1e-6, abs=1e-6) or (by_total_variation and theirs <= 0 <= ours)


@given(rho=st.floats(1e-4, 2.0), delta=deltas)
@quick
def test_zcdp_is_the_renyi_curve(rho: float, delta: float) -> None:
    orders = 1 + np.geomspace(1e-3, 1e4, 4000)
    theirs, _ = rdp.compute_epsilon(orders, rho * orders, delta)
    assert ZCDP(rho).epsilon(delta) == pytest.approx(theirs, rel=1e-3, abs=1e-4)


@given(eps=budgets, at=st.floats(-6.0, 8.0), delta=st.floats(0.0, 0.1))
@quick
def test_approximate_profile_agrees(eps: float, at: float, delta: float) -> None:
    """Against the loss distribution of (eps, delta): eps, -eps and infinity."""
    masses = (1 - delta) / (1 + math.exp(-eps)), (1 - delta) / (1 + math.exp(eps))
    hockey = delta + sum(p * max(0.0, -math.expm1(at - x)) for p, x in zip(masses, (eps, -eps), strict=True))
    assert ApproxDP(eps, delta).profile(at) == pytest.approx(hockey, abs=1e-12)


@given(eps=budgets)
@quick
def test_pure_to_zcdp_is_exact(eps: float) -> None:
    orders = 1 + np.geomspace(1e-5, 1e4, 400)
    highest = max(PureDP(eps).renyi(a) / a for a in orders)
    assert highest == pytest.approx(PureDP(eps).to_zcdp().rho, rel=1e-4)
    assert PureDP(eps).to_zcdp().rho <= PureDP(eps).to_zcdp("textbook").rho


@pytest.mark.parametrize("guarantee", EACH, ids=str)
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_tight_is_never_above_textbook(guarantee: Guarantee, delta: float) -> None:
    if guarantee.epsilon(delta) < math.inf:
        assert guarantee.to_approx(delta).eps <= guarantee.to_approx(delta, "textbook").eps * (1 + 1e-12)


@pytest.mark.parametrize("guarantee", EACH, ids=str)
def test_epsilon_is_the_least(guarantee: Guarantee) -> None:
    eps = guarantee.epsilon(1e-4)
    assert guarantee.profile(eps) <= 1e-4
    assert eps == 0 or guarantee.profile(eps * (1 - 1e-6)) > 1e-4


@pytest.mark.parametrize(("own", "delta"), [(1.3, 0.0), (3.7, 0.0), (0.3, 1e-5), (5.1, 1e-5)])
def test_epsilon_where_the_profile_is_flat(own: float, delta: float) -> None:
    """The profile equals delta on a whole half line: the least epsilon is its left end."""
    assert ApproxDP(own, delta).epsilon(delta) == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("guarantee", [ZCDP(0.5), RenyiDP(2.0, 0.5), GaussianDP(1.0)], ids=str)
def test_no_pure_guarantee_follows(guarantee: Guarantee) -> None:
    """A profile that underflows is not zero."""
    assert guarantee.epsilon(0.0) == math.inf
    assert not guarantee.implies(PureDP(1e5))
    with pytest.raises(InvalidInput):
        guarantee.to_approx(0.0)


@pytest.mark.parametrize("guarantee", EACH, ids=str)
def test_tradeoff_is_convex_decreasing_and_symmetric(guarantee: Guarantee) -> None:
    alpha = np.linspace(0, 1, 401)
    curve = np.asarray(guarantee.tradeoff(alpha))
    assert np.all(np.diff(curve) <= 1e-12)
    assert np.all(np.diff(curve, 2) >= -1e-9)
    assert np.all(curve <= 1 - alpha + 1e-12)
    # Symmetric: the curve is its own inverse where it is positive.
    inside = (curve > 1e-3) & (alpha > 1e-3)
    tolerance = 1e-6 if not isinstance(guarantee, ZCDP | RenyiDP) else 1e-3
    assert np.allclose(guarantee.tradeoff(curve[inside]), alpha[inside], atol=tolerance)


def test_tradeoff_of_gaussian_is_bounded_by_its_profile() -> None:
    alpha = np.linspace(0.001, 0.999, 200)
    exact = GaussianDP(0.8).tradeoff(alpha)
    lines = Guarantee.tradeoff(GaussianDP(0.8), alpha)
    assert np.all(lines <= exact + 1e-12)
    assert np.max(exact - lines) < 1e-3


@given(mus=st.lists(st.floats(0.05, 1.0), min_size=1, max_size=4))
@settings(max_examples=5, deadline=None)
def test_gaussian_composition_agrees(mus: list[float]) -> None:
    joint = dp_event.ComposedDpEvent([dp_event.GaussianDpEvent(1 / mu) for mu in mus])
    accountant = rdp.RdpAccountant(neighboring_relation=privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE)
    theirs = accountant.compose(joint).get_epsilon(1e-5)
    ours = compose([GaussianDP(mu) for mu in mus]).epsilon(1e-5)
    assert ours <= theirs * (1 + 1e-9)
    assert ours > 0.7 * theirs - 0.01


def test_composition_of_each_notion() -> None:
    assert compose([ZCDP(0.1), ZCDP(0.2)]).parameters == {"rho": pytest.approx(0.3)}
    assert compose([RenyiDP(2, 0.1), RenyiDP(2, 0.2)]).parameters == {"alpha": 2.0, "eps": pytest.approx(0.3)}
    assert compose([PureDP(1), ApproxDP(2, 1e-5)]).parameters == {"eps": 3.0, "delta": 1e-5}
    assert isinstance(compose([PureDP(1), GaussianDP(1)]), ZCDP)
    strong = compose([PureDP(0.01)] * 1000, slack=1e-6)
    assert strong.parameters["eps"] < 2
    assert compose([PureDP(0.01)] * 1000).parameters["eps"] == pytest.approx(10)


def test_relations_are_never_mixed() -> None:
    ours, theirs = PureDP(1.0), PureDP(1.0, relation=ADD_REMOVE)
    for act in (lambda: compose([ours, theirs]), lambda: ours.implies(theirs), lambda: ours.compose(theirs)):
        with pytest.raises(MixedRelations):
            act()
    with pytest.raises(MixedRelations):
        ours.to_relation(ADD_REMOVE)
    with pytest.raises(MixedRelations):
        ours.to_relation(LABEL_ONLY)


def test_relation_and_group_conversion() -> None:
    assert GaussianDP(1.0, relation=ADD_REMOVE).to_relation(REPLACE_ONE) == GaussianDP(2.0)
    assert ZCDP(0.1).to_relation(group(REPLACE_ONE, 3)).parameters == {"rho": pytest.approx(0.9)}
    pair = ApproxDP(1.0, 1e-6).to_relation(group(REPLACE_ONE, 2))
    assert pair.parameters == {"eps": 2.0, "delta": pytest.approx(1e-6 * (1 + math.e))}
    assert ApproxDP(1.0, 1e-6, relation=group(REPLACE_ONE, 4)).to_relation(REPLACE_ONE).parameters["eps"] == 1.0


def test_a_record_covers_its_attributes_and_attributes_a_record_in_as_many_steps() -> None:
    one, row = PureDP(0.5, relation=LOCAL_ATTRIBUTE), PureDP(0.5, relation=LOCAL)
    assert one.to_relation(LOCAL, attributes=7) == PureDP(3.5, relation=LOCAL)
    assert row.to_relation(group(LOCAL_ATTRIBUTE, 5)) == PureDP(0.5, relation=group(LOCAL_ATTRIBUTE, 5))
    five = PureDP(0.5, relation=group(LOCAL_ATTRIBUTE, 5))
    assert five.to_relation(LOCAL, attributes=7) == PureDP(1.0, relation=LOCAL)
    assert one.to_relation(group(LOCAL_ATTRIBUTE, 3)).parameters == {"eps": 1.5}
    with pytest.raises(MixedRelations, match="attributes="):
        one.to_relation(LOCAL)
    with pytest.raises(InvalidInput, match="attributes"):
        one.to_relation(LOCAL, attributes=0)


@pytest.mark.parametrize("relation", [r for r in RELATIONS if r not in (LOCAL, LOCAL_ATTRIBUTE)])
def test_attributes_and_other_relations_are_never_mixed(relation: guarantees.Relation) -> None:
    one = PureDP(0.5, relation=LOCAL_ATTRIBUTE)
    with pytest.raises(MixedRelations):
        one.to_relation(relation, attributes=7)
    with pytest.raises(MixedRelations):
        compose([one, PureDP(0.5, relation=relation)])


@given(mu=st.floats(0.1, 1.0), k=st.integers(2, 4))
@quick
def test_group_conversion_holds_for_the_gaussian(mu: float, k: int) -> None:
    """Group privacy of the (eps, delta) a Gaussian has must hold for the k times larger shift."""
    alone = GaussianDP(mu).to_approx(1e-4).for_group(k)
    assert gaussian_delta(alone.eps, k * mu) <= alone.delta * (1 + 1e-9)


def test_group_conversion_sees_a_missing_factor() -> None:
    """Planted: k eps with delta left as it was is false for a Gaussian."""
    assert gaussian_delta(3 * GaussianDP(1.0).epsilon(1e-4), 3.0) > 1e-4


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "many", None])
@pytest.mark.parametrize("make", [PureDP, ZCDP, GaussianDP, lambda x: RenyiDP(1 + (x if x == 0.0 else -1), 1.0)])
def test_bad_parameters(make: object, bad: object) -> None:
    with pytest.raises(InvalidInput):
        make(bad)  # type: ignore[operator]


@pytest.mark.parametrize("bad", [-1e-9, 1.0, 2.0, math.nan])
def test_bad_delta(bad: float) -> None:
    with pytest.raises(InvalidInput):
        ApproxDP(1.0, bad)
    for guarantee in EACH:
        with pytest.raises(InvalidInput):
            guarantee.epsilon(bad)
        with pytest.raises(InvalidInput):
            guarantee.to_approx(bad, "textbook")
    with pytest.raises(InvalidInput):
        compose([PureDP(1.0)] * 2, slack=bad)


def test_bad_groups_and_mixtures() -> None:
    with pytest.raises(InvalidInput):
        group(REPLACE_ONE, 0)
    with pytest.raises(InvalidInput):
        compose([])
    with pytest.raises(InvalidInput):
        compose([RenyiDP(2, 1), ZCDP(1)])
    with pytest.raises(InvalidInput):
        compose([RenyiDP(2, 1), RenyiDP(3, 1)])


def test_smallest_epsilon_never_rounds_down() -> None:
    for mu in np.geomspace(0.01, 10, 50):
        eps = guarantees.smallest_epsilon(lambda e, m=mu: float(gaussian_delta(e, m)), 1e-6)
        assert gaussian_delta(eps, mu) <= 1e-6
