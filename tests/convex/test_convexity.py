"""What the definitions of smoothness, strong convexity and the set's norm yield, on functions that meet them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Le

from dpcheck.bounds.language.claim import Claim, Effort, Verdict, judge
from dpcheck.bounds.library.convex import convexity as theory

seeds = st.integers(0, 2**20)


def verdict_of(claim: Claim) -> Verdict:
    return judge([check.run(claim, Effort()) for check in claim.checks])


@given(seed=seeds, dim=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_quadratics_lie_between_the_two_bounds(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
    curvatures = rng.uniform(0.1, 3, size=dim)
    H = basis @ np.diag(curvatures) @ basis.T
    x, y = rng.normal(size=(2, dim))
    above, gap = (x - y) @ H @ (x - y) / 2, float(np.linalg.norm(x - y))
    L, mu = float(curvatures.max()), float(curvatures.min())
    assert above <= theory.smooth_above.evaluate(L_smooth=L, point_gap=gap) * (1 + 1e-9)
    assert above <= theory.two_sided.evaluate(beta=L, point_gap=gap) * (1 + 1e-9)
    risk = x @ H @ x / 2  # least at 0
    assert x @ x <= theory.quantifiers_corrected.evaluate(mu=mu, risk_gap=float(risk)) * (1 + 1e-9)


@given(x=st.floats(1e-3, 2), y=st.floats(-2, 2))
@settings(max_examples=60, deadline=None)
def test_the_fourth_power_has_a_mu_for_each_pair_and_none_for_all(x: float, y: float) -> None:
    """x⁴: what lies above the tangent at y is (x-y)²(x²+2xy+3y²), positive unless x = y."""
    if abs(x - y) < 1e-3:
        return
    above = x**4 - y**4 - 4 * y**3 * (x - y)
    assert above == pytest.approx((x - y) ** 2 * (x**2 + 2 * x * y + 3 * y**2), rel=1e-6, abs=1e-12)
    assert 2 * (x**2 + 2 * x * y + 3 * y**2) > 0
    assert 2 * x**2 == pytest.approx(2 * (x**4 - 0) / x**2)  # the pair (x, 0)


@given(seed=seeds, dim=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_the_l1_ball_and_its_dual(seed: int, dim: int) -> None:
    w, v = np.random.default_rng(seed).normal(size=(2, dim))
    bound = theory.dual.evaluate(set_norm=float(np.abs(w).sum()), dual_norm=float(np.abs(v).max()))
    assert w @ v <= bound * (1 + 1e-9)
    corner = np.sign(v) * (np.abs(v) == np.abs(v).max())
    assert corner @ v == pytest.approx(np.abs(v).max())


@given(seed=seeds, dim=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_the_entropy_has_modulus_one_in_l1(seed: int, dim: int) -> None:
    """Pinsker: Σ x log(x/z) is at least 1/2·‖x-z‖₁² on the simplex."""
    x, z = np.random.default_rng(seed).dirichlet(np.ones(dim), size=2)
    divergence = float(np.sum(x * np.log(x / z)))
    assert 0.5 * np.abs(x - z).sum() ** 2 <= divergence + 1e-12
    assert theory.divergence_above.subject.subs({theory.modulus: 1, theory.step_gap: 2}) == 2


def test_a_third_of_the_smoothness_is_refuted() -> None:
    third = theory.smooth_above.formula / 3
    planted = replace(theory.smooth_above, id="dwang20.planted", states=Le(theory.above_tangent, third))
    assert verdict_of(planted) is Verdict.REFUTED
