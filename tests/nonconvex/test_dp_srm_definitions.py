"""The definitions of lwang21, section 4.3: what they promise is kept, and what would break them is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dpcheck.bounds.library.nonconvex import dp_srm_definitions as theory
from dpcheck.bounds.privacy.exact import gaussian_delta
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex import dp_srm_definitions as checked
from dpcheck.kernels.recursive_momentum import Plan

CASES = {
    "n": st.integers(2, 8), "d": st.integers(1, 3), "seed": st.integers(0, 10**6), "loss": st.integers(0, 2),
    "zeta": st.floats(0.2, 1.5), "slowing": st.floats(1, 3), "size": st.floats(0.01, 10),
    "Delta": st.floats(0.1, 5), "sigma": st.floats(0.5, 5), "eps": st.floats(0.01, 4), "pieces": st.integers(1, 3),
}  # fmt: skip


@given(st.fixed_dictionaries(CASES))
@settings(max_examples=25, deadline=None)
def test_what_the_definitions_promise_is_kept(case: dict[str, Any]) -> None:
    for measure in (checked.quiet_run, checked.quotient, checked.change, checked.any_event):
        measured, bound = measure(case)
        assert not exceeds(measured, bound)


def test_too_few_steps_are_not_stationary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a tenth of the steps of Algorithm 4."""
    case = {"n": 4, "d": 2, "seed": 1, "loss": 1, "zeta": 0.05, "slowing": 1.0}
    measured, zeta = checked.quiet_run(case)
    assert measured <= zeta

    def shorter(steps: int, *rest: Any) -> Plan:
        return Plan(max(1, steps // 10), *rest)

    monkeypatch.setattr(checked, "Plan", shorter)
    measured, zeta = checked.quiet_run(case)
    assert measured > zeta


@given(reach=st.floats(0.1, 5), sigma=st.floats(0.5, 5), eps=st.floats(0.01, 4))
@settings(max_examples=30, deadline=None)
def test_the_half_line_attains_the_least_delta(reach: float, sigma: float, eps: float) -> None:
    edge = reach / 2 + sigma**2 * eps / reach
    one, other = (float(special.ndtr((centre - edge) / sigma)) for centre in (reach, 0.0))
    stated = float(theory.private.evaluate(Delta=reach, sigma=sigma, eps=eps))
    assert one - np.exp(eps) * other == pytest.approx(stated, rel=1e-6, abs=1e-12)
    assert float(gaussian_delta(eps, reach / sigma)) == pytest.approx(stated, rel=1e-6, abs=1e-12)
