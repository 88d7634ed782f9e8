"""Population risk by stability (zhang17, section 3.1): false for one sample, true on average."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.convex import smooth_erm_population as theory


def means(size: int) -> list[tuple[float, float]]:
    """The mean of n coin tosses of ±1, with its probability: the minimiser of 1/2 (w - ξ)² over the sample."""
    return [((2 * k - size) / size, math.comb(size, k) / 2**size) for k in range(size + 1)]


@given(size=st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_on_average_the_risk_is_within_the_bound(size: int) -> None:
    """Losses 1/2 (w-ξ)² on [-1, 1]: L = 2, Δ_T = 2/n at the minimiser, no optimisation error, no noise."""
    bound = theory.stability_corrected.evaluate(L=2, Delta_T=2 / size, opt_error=0, noise_length=0)
    average = sum(p * w**2 / 2 for w, p in means(size))
    assert average == pytest.approx(1 / (2 * size))
    assert average <= bound


def test_a_sample_breaks_it_from_nine_records_on() -> None:
    for size in range(1, 30):
        bound = theory.stability.evaluate(L=2, Delta_T=2 / size, opt_error=0, noise_length=0)
        worst = max(w**2 / 2 for w, _ in means(size))
        assert bool(worst > bound) is (size > 8)
    evidence = theory.stability.checks[0].run(theory.stability, Effort())
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.counterexample is not None
    assert evidence.counterexample["n"] > 8


@given(gamma=st.floats(1e-9, 0.5))
@settings(max_examples=50, deadline=None)
def test_runs_to_boost(gamma: float) -> None:
    needed = math.ceil(math.log2(1 / gamma))
    assert 0.5**needed <= gamma * (1 + 1e-12)
    assert needed <= 3 * theory.boosting.evaluate(gamma=gamma)


@given(reach=st.floats(0.1, 10), size=st.integers(10, 10**6))
@settings(max_examples=50, deadline=None)
def test_the_regulariser_balances_only_with_its_radius(reach: float, size: int) -> None:
    here = {"L": 1.0, "beta": 1.0, "d": 4, "eps": 1.0, "gamma": 0.1, "n": size}
    risk = lambda mu: math.sqrt(4) / (size * mu * 0.1) + mu * reach**2 / 2  # noqa: E731
    best = float(theory.regulariser_corrected.evaluate(R=reach, **here))
    assert risk(best) <= min(risk(best * f) for f in (0.5, 0.9, 1.1, 2))
    printed = float(theory.regulariser.evaluate(**here))
    assert risk(printed) >= risk(best) * (1 - 1e-12)
    assert printed == pytest.approx(best * reach)
