"""The two queries of dwang20's privacy proof, against quadrature and the orders that the constants leave."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sympy import Eq

from dpcheck.bounds.language.claim import Claim, Effort, Verdict, judge
from dpcheck.bounds.library.convex import variance_reduction_queries as theory


def verdict_of(claim: Claim) -> Verdict:
    return judge([check.run(claim, Effort()) for check in claim.checks])


@given(order=st.integers(1, 4), gap=st.floats(0.1, 1), sigma=st.floats(0.5, 2))
@settings(max_examples=30, deadline=None)
def test_the_moment_of_two_gaussians_by_quadrature(order: int, gap: float, sigma: float) -> None:
    P, Q = stats.norm(gap, sigma), stats.norm(0, sigma)
    centre = (order + 1) * gap
    value, _ = integrate.quad(
        lambda x: math.exp((order + 1) * P.logpdf(x) - order * Q.logpdf(x)), centre - 12 * sigma, centre + 12 * sigma
    )
    assert math.log(value) == pytest.approx(
        float(theory.equation14.evaluate(lam=order, mean_gap=gap, sigma_2=sigma)), rel=1e-6, abs=1e-9
    )


@given(eps=st.floats(1e-3, 5), delta=st.floats(1e-9, 0.5))
@settings(max_examples=60, deadline=None)
def test_a_whole_order_is_there_for_small_epsilon(eps: float, delta: float) -> None:
    """λ = ⌈2·log(1/δ)/ε⌉ meets exp(-λε/2) ≤ δ, and 2λε/log(1/δ), 4(λ+1)ε/log(1/δ) stay below 6 and 16."""
    log = math.log(1 / delta)
    if eps > log:
        return
    order = math.ceil(2 * log / eps)
    assert math.exp(-order * eps / 2) <= delta * (1 + 1e-9)
    assert 2 * order * eps / log <= 6 * (1 + 1e-9)
    assert 4 * (order + 1) * eps / log <= 16 * (1 + 1e-9)


def test_deviations_that_add_up_are_refuted() -> None:
    wrong = Eq(theory.query_noise, theory.sigma_1 + theory.sigma_2)
    assert verdict_of(replace(theory.equation11, id="dwang20.planted", states=wrong)) is Verdict.REFUTED
