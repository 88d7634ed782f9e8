"""Amplification by sampling (zhang17, Lemma 9; dwang20, Lemma 2.1.2): a sampled response, exactly and under attack."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.library.mechanisms import subsampling as theory
from dpcheck.bounds.privacy.exact import amplified_epsilon
from dpcheck.evidence.mechanisms.subsampling import sampled, truthful_response

sizes = st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))


@given(size=sizes, eps=st.floats(0.05, 4.0))
@settings(max_examples=50, deadline=None)
def test_the_exact_bound_is_attained(size: tuple[int, int], eps: float) -> None:
    """log(1 + q(e^ε-1)), which is less than ε and more than q ε, a rule that would be planted."""
    n, m = size
    laws = truthful_response(n + 1, m, eps, 0.0)
    with np.errstate(all="ignore"):
        found = float(np.nanmax(np.log(sampled(laws, 0) / sampled(laws, n))))
    assert found == pytest.approx(float(theory.lemma9_exact.evaluate(q=m / n, eps=eps)), rel=1e-9)
    assert found == pytest.approx(float(amplified_epsilon(eps, m / n)), rel=1e-9)
    assert m == n or m / n * eps < found < eps


@given(q=st.floats(1e-6, 1.0), eps=st.floats(1e-3, 1.256))
@settings(max_examples=100, deadline=None)
def test_twice_the_share_is_enough_within_the_corrected_range(q: float, eps: float) -> None:
    assert theory.lemma9_exact.evaluate(q=q, eps=eps) <= theory.lemma9_corrected.evaluate(q=q, eps=eps) * (1 + 1e-12)
    with pytest.raises(HypothesisViolated):
        theory.lemma2_corrected.evaluate(q=q, eps=eps + 1.3)


def sampled_response(eps: float):  # type: ignore[no-untyped-def]
    """Whether a 1 was drawn, one record out of ten, by randomised response."""

    def release(ones: int, rng: np.random.Generator, trials: int) -> np.ndarray:
        drawn = rng.random(trials) < ones / 10
        honest = rng.random(trials) < special.expit(eps)
        return np.where(honest, drawn, ~drawn).astype(float)[:, None]

    return release


@pytest.mark.parametrize(
    ("claim", "eps", "flagged"),
    [(theory.lemma2, 3.0, True), (theory.lemma2_corrected, 1.25, False), (theory.lemma9_exact, 3.0, False)],
    ids=["as printed", "corrected", "exact"],
)
def test_the_audit_of_a_sampled_response(claim: Claim, eps: float, flagged: bool) -> None:
    """False alarms: 1e-6. Planted: the printed bound, where it is false."""
    promised = PureDP(float(claim.evaluate(q=0.1, eps=eps)))
    found = audit(sampled_response(eps), pair=(1, 0), guarantee=promised, max_trials=60_000, alpha=1e-6, seed=5)
    assert found.violated is flagged
    assert flagged is (math.log1p(0.1 * math.expm1(eps)) > promised.eps * (1 + 1e-9))
