"""zCDP (dwang20, Lemmas 2.1.8 to 2.1.10): the divergence of Gaussians by quadrature, and the conversion."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpcheck.bounds.language.guarantees import ZCDP
from dpcheck.bounds.library.mechanisms import zcdp as theory


@given(order=st.floats(1.05, 8), apart=st.floats(0.05, 2), sigma=st.floats(0.5, 3))
@settings(max_examples=40, deadline=None)
def test_the_divergence_of_gaussians_by_quadrature(order: float, apart: float, sigma: float) -> None:
    def integrand(x: float) -> float:
        logs = stats.norm.logpdf(x, apart, sigma), stats.norm.logpdf(x, 0, sigma)
        return math.exp(order * logs[0] + (1 - order) * logs[1])

    middle = order * apart  # the integrand is a Gaussian bell around it
    value, _ = integrate.quad(integrand, middle - 12 * sigma, middle + 12 * sigma)
    exact = math.log(value) / (order - 1)
    assert order * theory.lemma9_corrected.evaluate(Delta=apart, sigma=sigma) == pytest.approx(
        exact, rel=1e-6, abs=1e-9
    )
    if abs(apart - 1) > 0.01:  # planted: the square is missing
        assert order * theory.lemma9.evaluate(Delta=apart, sigma=sigma) != pytest.approx(exact, rel=1e-3)


@given(rho=st.floats(1e-3, 20), delta=st.floats(1e-9, 0.3))
@settings(max_examples=60, deadline=None)
def test_the_conversion_is_never_below_the_tight_one(rho: float, delta: float) -> None:
    stated = float(theory.lemma10.evaluate(rho=rho, delta=delta))
    assert stated == pytest.approx(ZCDP(rho).to_approx(delta, how="textbook").eps)
    assert ZCDP(rho).epsilon(delta) <= stated * (1 + 1e-9)
