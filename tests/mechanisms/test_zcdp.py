"""zCDP (dwang20, Definition 2.1.5, Lemmas 2.1.8 to 2.1.10): divergences by numerical integration and on small laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.guarantees import ZCDP
from dpcheck.bounds.library.mechanisms import zcdp as theory
from dpcheck.evidence.mechanisms import zcdp as code


@given(order=st.floats(1.05, 8), apart=st.floats(0.05, 2), sigma=st.floats(0.5, 3))
@settings(max_examples=40, deadline=None)
def test_the_divergence_of_gaussians_by_quadrature(order: float, apart: float, sigma: float) -> None:
    def integrand(x: float) -> float:
        logs = stats.norm.logpdf(x, apart, sigma), stats.norm.logpdf(x, 0, sigma)
        return math.exp(order * logs[0] + (1 - order) * logs[1])

    middle = order * apart  # the integrand is a Gaussian bell around it
    value, _ = integrate.quad(integrand, middle - 12 * sigma, middle + 12 * sigma)
    exact = math.log(value) / (order - 1)
    assert theory.definition5.evaluate(order=order, Delta=apart, sigma=sigma) == pytest.approx(
        exact, rel=1e-6, abs=1e-9
    )
    ours = theory.lemma9_corrected.evaluate(Delta=apart, sigma=sigma)
    assert order * ours == pytest.approx(exact, rel=1e-6, abs=1e-9)
    if abs(apart - 1) > 0.01:  # planted: the square is missing
        assert order * theory.lemma9.evaluate(Delta=apart, sigma=sigma) != pytest.approx(exact, rel=1e-3)


@given(rho=st.floats(1e-3, 20), delta=st.floats(1e-9, 0.3))
@settings(max_examples=60, deadline=None)
def test_the_conversion_is_never_below_the_tight_one(rho: float, delta: float) -> None:
    stated = float(theory.lemma10.evaluate(rho=rho, delta=delta))
    assert stated == pytest.approx(ZCDP(rho).to_approx(delta, how="textbook").eps)
    assert ZCDP(rho).epsilon(delta) <= stated * (1 + 1e-9)


@pytest.mark.parametrize("claim_id", sorted(code.CHECKS))
def test_exact_cases_keep_the_bound_and_catch_a_smaller_one(claim_id: str) -> None:
    """A bound of 0.6 times the stated one would be exceeded."""
    (check,) = code.CHECKS[claim_id]
    assert check.run(theory.lemma8, Effort()).verdict is Verdict.SUPPORTED

    shares = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        whole = {k: isinstance(low, int) for k, (low, _) in check.cases.items()}
        case = {
            k: int(rng.integers(*ends, endpoint=True)) if whole[k] else rng.uniform(*ends)
            for k, ends in check.cases.items()
        }
        measured, bound = check.measure(case)
        shares.append(measured / bound if bound else 0.0)
    assert 0.6 < max(shares) <= 1 + 1e-9
