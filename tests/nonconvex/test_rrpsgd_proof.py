"""Inequalities (1) to (5) of zhang17's A.6, along steps and against exact tails."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sympy import Le

from dpcheck.bounds.language.claim import Claim, Effort, Verdict, judge
from dpcheck.bounds.language.symbols import beta, eta
from dpcheck.bounds.library.nonconvex import rrpsgd_proof as theory


def verdict_of(claim: Claim) -> Verdict:
    return judge([check.run(claim, Effort()) for check in claim.checks])


@given(seed=st.integers(0, 2**20), share=st.floats(0.05, 1.9))
@settings(max_examples=60, deadline=None)
def test_a_noisy_step_on_a_non_convex_quadratic_obeys_1(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    curvatures = rng.uniform(-1, 1, size=3)
    smoothness = float(np.abs(curvatures).max())
    step = share / smoothness
    w, e, z = rng.normal(size=(3, 3))
    F = lambda x: float(np.sum(curvatures * x**2) / 2)  # noqa: E731
    p = curvatures * w
    moved = w - step * (p + e + z)
    bend = smoothness * step**2
    right = F(w) - F(moved) + (bend - step) * p @ e + ((bend - step) * p + bend * e) @ z + bend / 2 * (z @ z + e @ e)
    assert (step - bend / 2) * p @ p <= right + 1e-9


@given(dim=st.integers(1, 50), size=st.integers(2, 30), gamma=st.floats(1e-6, 0.5))
@settings(max_examples=60, deadline=None)
def test_the_tails_of_noise_stay_within_4_and_5(dim: int, size: int, gamma: float) -> None:
    """Y_t with the largest factor it can have is Gaussian; the sum of R_t is a chi-square: exact tails, at most γ/3."""
    here = {"beta": 1.0, "eta": 0.3, "n": size, "d": dim, "gamma": gamma}
    noise = 2 * math.sqrt(math.log(3 * size / 0.01) * math.log(2 / 0.01))  # Algorithm 2 at L = ε = 1, δ = 0.01
    limit = float(theory.equation4.evaluate(L=1, eps=1.0, delta=0.01, **here))
    assert stats.norm.sf(limit / (size * (0.3 + 0.09) * noise)) <= gamma / 3
    limit = float(theory.equation5.evaluate(alpha_g=noise, **here))
    assert stats.chi2.sf(limit / (0.5 * noise**2 * 0.09), dim * size**2) <= gamma / 3 * (1 + 1e-9)


@given(dim=st.integers(1, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_factor_a_grows_like_d(dim: int) -> None:
    a = -1 / math.expm1(-2 / dim)
    assert dim / 2 <= a <= 1.5 * theory.dimension.evaluate(d=dim)


def test_half_of_the_bend_is_not_proved() -> None:
    planted = replace(
        theory.equation1,
        id="zhang17.planted",
        states=Le(theory.equation1.subject, theory.equation1.formula - beta / 4 * eta**2 * theory.strayed**2),
    )
    assert verdict_of(planted) is not Verdict.PROVED
