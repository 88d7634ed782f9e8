"""The divergences that judge the lemmas of DP-SRM are exact, and the lemmas' own limits are what they say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.library.nonconvex import dp_srm_privacy as lemmas
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex import dp_srm_privacy as checked


def test_the_divergences_are_those_of_the_accountant() -> None:
    """Order 2 in closed form: u > 0 of (1+u)^2 + 1/(1+u) - 2 - u; and no sampling gives the Gaussian's alpha/(2 s)."""
    orders = np.array([1.5, 2.0, 8.0])
    np.testing.assert_allclose(checked.divergences(1.0, 3.0, orders), orders / 6, rtol=1e-6)
    rng = np.random.default_rng(0)
    u = 0.1 * np.expm1(rng.standard_normal(4_000_000) / 2 - 1 / 8)
    mean = np.where(u > 0, (1 + u) ** 2 + 1 / (1 + u) - 2 - u, 0.0)
    sampled = math.log1p(mean.mean())
    error = 5 * mean.std() / math.sqrt(len(mean))
    assert checked.divergences(0.1, 4.0, np.array([2.0]))[0] == pytest.approx(sampled, abs=error)


@given(share=st.floats(1e-3, 0.5), sigma=st.floats(0.8, 10), order=st.integers(2, 30))
@settings(max_examples=30, deadline=None)
def test_a_record_drawn_by_itself_has_the_binomial_divergence(share: float, sigma: float, order: int) -> None:
    """Of a whole order the moment is a sum over how many of its factors come from the far normal."""
    logs = [
        math.log(math.comb(order, k)) + k * math.log(share) + (order - k) * math.log1p(-share)
        + k * (k - 1) / (2 * sigma**2) for k in range(order + 1)
    ]  # fmt: skip
    forward = float(np.logaddexp.reduce(logs)) / (order - 1)
    found = checked.poisson_divergence(share, sigma, float(order))
    assert found >= forward * (1 - 1e-6) - 1e-12
    assert found == pytest.approx(forward, rel=0.5)  # the other way round is seldom far from it


@given(
    share=st.floats(0.02, 0.99), sigma=st.floats(1, 30), part=st.floats(0, 1), ratio=st.floats(0.7, 60),
)  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_quoted_and_printed_limits_hold(**case: Any) -> None:
    for measure in (checked.quoted_accountant, checked.other_limit):
        measured, bound = measure(case)
        assert not exceeds(measured, bound)


def test_the_quoted_bound_has_teeth() -> None:
    """At sigma = 1 the leading term is nearly used up: three quarters of it would be exceeded."""
    measured, bound = checked.quoted_accountant({"share": 0.05, "sigma": 1.0, "part": 0.1})
    assert 0.75 * bound < measured < bound


def test_the_limit_printed_last_is_another_one() -> None:
    """Within it there are orders that (4.10.2) does not allow."""
    here = {"share": 1e-4, "noise2": 0.7, "srm_order": 8.0}
    assert lemmas.printed_condition.violated_by(here) is None
    assert lemmas.subsampled_corrected.violated_by(here) is not None
