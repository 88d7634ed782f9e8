"""Claims of every kind are tested along their whole trade-off curve, at any strength."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dpcheck.audits import AuditResult, audit
from dpcheck.audits.statistics.event_choice import STEP, Target, targets
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

STRENGTHS = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
CURVES = st.one_of(
    STRENGTHS.map(GaussianDP),
    STRENGTHS.map(ZCDP),
    st.builds(lambda order, eps: RenyiDP(1 + order, eps), STRENGTHS, STRENGTHS),
)
ALPHA = 1e-6  # false-alarm rate of every audit here


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.normal(size=trials)


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def constant(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.zeros(trials)


def leak(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.full(trials, float(data))


def response(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return (rng.random(trials) < 0.3 + 0.4 * data).astype(int)


def words(data: float, rng: np.random.Generator, trials: int) -> list[str]:
    return ["yes" if hit else "no" for hit in response(data, rng, trials)]


@given(CURVES)
@settings(max_examples=60, deadline=None)
def test_goals_lie_on_the_curve_and_leave_no_gap(claim: Guarantee) -> None:
    """Each goal is claimed (its delta is not below the profile), and the next one is near it in log odds."""
    goals = targets(claim, None)
    delta, epsilon = (np.array([getattr(goal, name) for goal in goals]) for name in ("delta", "epsilon"))
    assert np.all(delta >= claim.profile(epsilon))
    assert np.all(np.diff(epsilon) >= 0)
    # Beyond this the rounding of a large epsilon moves delta by more than its distance from 1: no choice of the grid's.
    sharp = 1 - 1e-8 if epsilon[0] < 1e4 else 0.9
    wanted = np.concatenate([[min(float(claim.profile(0.0)), sharp)], delta[delta < sharp], [1e-8]])
    assert delta[0] >= wanted[0]
    assert np.all(-np.diff(special.logit(wanted)) < 2 * STEP)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 4.472, 14.0, 1000.0])
def test_goals_of_a_gaussian_are_claimed_to_fifty_digits(mu: float) -> None:
    """Red for a delta that is rounded to the nearest number instead of up."""
    with mpmath.workdps(60):
        for goal in targets(GaussianDP(mu), None):
            eps, gap = mpmath.mpf(goal.epsilon), mpmath.mpf(mu)
            exact = mpmath.ncdf(gap / 2 - eps / gap) - mpmath.exp(eps) * mpmath.ncdf(-gap / 2 - eps / gap)
            assert exact <= goal.delta <= exact + 1e-3 * min(exact, 1 - exact)


def test_a_claim_that_is_a_point_is_that_point() -> None:
    assert targets(PureDP(8.0), None) == [Target(0.0, 8.0)]
    assert targets(ApproxDP(2.0, 0.9), None) == [Target(0.9, 2.0)]
    assert targets(RenyiDP(2.0, 0.0), None) == [Target(0.0, 0.0)]


BROKEN = {  # claim, gap of unit Gaussians that keeps it, gap that breaks it, trials
    "weak gdp": (GaussianDP(0.05), 0.05, 0.4, 4000),
    "gdp": (GaussianDP(1.0), 1.0, 2.0, 1500),
    "strong gdp": (GaussianDP(4.472), 4.472, 17.9, 1500),
    "weak zcdp": (ZCDP(0.001), 0.0447, 0.6, 4000),
    "strong zcdp": (ZCDP(5.0), 3.16, 20.0, 4000),
    "renyi": (RenyiDP(4.0, 2.0), 1.0, 3.0, 1500),
    "strong renyi": (RenyiDP(1.5, 5.0), 2.58, 30.0, 4000),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("early", [False, True])
def test_strong_and_weak_claims_fall_and_hold(name: str, early: bool) -> None:
    """Seen: 84,999 against 0 of 85,000 runs and "not violated", since no delta above 0.3 was tested."""
    claim, kept, broken, trials = BROKEN[name]
    asked: dict[str, Any] = {"guarantee": claim, "alpha": ALPHA, "stop_early": early, "max_trials": trials}
    assert not audit(gaussian, pair=(0.0, kept), **asked).violated
    found = audit(gaussian, pair=(0.0, broken), **asked)
    assert found.violated
    assert found.epsilon_lower >= found.claimed == pytest.approx(claim.epsilon(found.delta), abs=1e-6)


def test_the_row_that_was_reported() -> None:
    """GaussianDP(4.472) with noise four times too small, the default alpha."""
    found = audit(gaussian, pair=(0.0, 4 * 4.472), guarantee=GaussianDP(4.472), max_trials=1500)
    assert found.violated
    assert found.delta > 0.9


HUGE = [PureDP(300.0), PureDP(800.0), ApproxDP(800.0, 1e-5), GaussianDP(1e3), ZCDP(1e3), RenyiDP(1.001, 1e3)]
ODD = [ApproxDP(0.0, 0.1), ApproxDP(1.0, 1 - 1e-7), RenyiDP(2.0, 0.0), PureDP(1e-3)]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("mechanism", [laplace, constant, leak, response, words])
def test_every_claim_gives_a_result_whatever_its_size(mechanism: Callable[..., Any], early: bool) -> None:
    """Seen: OverflowError at a claim of 300 under stop_early, LinAlgError at a constant output."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for claim in [*HUGE, *ODD]:
            for trials in (20, 57):
                asked: dict[str, Any] = {"max_trials": trials, "stop_early": early, "alpha": ALPHA}
                said(audit(mechanism, pair=(0.0, 1.0), guarantee=claim, **asked), claim, mechanism)


def said(result: AuditResult, claim: Guarantee, mechanism: Any) -> None:
    """Consistent, finite, and no false alarm: nothing tells the outputs of `constant` apart."""
    assert math.isfinite(result.epsilon_lower)
    assert result.epsilon_lower >= result.claimed or not result.violated
    assert not (result.violated and (mechanism is constant or claim in HUGE))
    assert str(claim) in repr(result)


def test_a_constant_output_may_be_watched_for_long() -> None:
    """Seen: a singular matrix, once the counts outweigh the pseudo-runs."""
    for claim in (GaussianDP(20.0), ApproxDP(1.0, 1 - 1e-7)):
        assert not audit(constant, pair=(0.0, 1.0), guarantee=claim, max_trials=2000, stop_early=True).violated


def test_an_epsilon_of_zero_is_exceeded_in_words() -> None:
    """Seen: VIOLATED with "epsilon >= 0, claimed 0". Rungs beyond a claim of 0 are numbers of their own."""
    found = audit(leak, pair=(0.0, 1.0), guarantee=ApproxDP(0.0, 0.1), max_trials=3000, stop_early=True)
    assert found.violated
    assert found.finding.startswith(("> 0 at", ">= 0.0"))
    assert found.trials == found.counts[2]
