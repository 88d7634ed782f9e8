"""Lemmas 2.1.6 and 2.1.7 of dwang20: moments against exact profiles, and an audit of summed gradients (1e-6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.guarantees import gaussian_delta
from dpcheck.bounds.library.convex import dp_accmd, dp_svrg
from dpcheck.bounds.library.mechanisms import moments_accountant as theory
from dpcheck.bounds.proving.citations import citations_of
from dpcheck.bounds.registry import library
from dpcheck.evidence.mechanisms.moments_accountant import SIZES, SummedGradients, attacked

FALSE_ALARM = 1e-6


@given(mu=st.floats(0.05, 1.5), eps=st.floats(0.01, 8), order=st.integers(1, 20))
@settings(max_examples=80, deadline=None)
def test_moments_of_a_gaussian_bound_its_exact_profile(mu: float, eps: float, order: int) -> None:
    """α(λ) = λ(λ+1)μ²/2. Planted: half the moment falls below at its best order."""
    bound = theory.lemma6_corrected.evaluate(moment=order * (order + 1) * mu**2 / 2, lam=order, eps=eps)
    assert gaussian_delta(eps, mu) <= bound * (1 + 1e-9)
    half = [theory.lemma6_corrected.evaluate(moment=k * (k + 1) / 4, lam=k, eps=6.0) for k in range(1, 20)]
    assert min(half) < gaussian_delta(6.0, 1.0)


def test_verdicts_of_lemma_2_1_7() -> None:
    """As printed even for ε ≤ 1, by small batches; the paths of the others replay."""
    claim = theory.lemma7
    found = claim.checks[0].run(claim, Effort())
    assert found.verdict is Verdict.REFUTED
    assert "no c₂ works" in found.figure
    large = {"T": 2000, "delta": 3e-5, "eps": 2, "m": 100, "n": 300, "c1": 0.01, "ray.T": 1, "ray.eps": 1}
    assert theory.lemma7_batch.checks[0].replay(theory.lemma7_batch, large).verdict is Verdict.REFUTED
    assert (
        theory.lemma7_batch_corrected.checks[0].run(theory.lemma7_batch_corrected, Effort()).verdict
        is Verdict.CERTIFIED
    )


@pytest.mark.parametrize(
    ("claim", "constants", "noise_factor", "flagged"),
    [
        (theory.lemma7, {"c2": 3.0}, 1.0, True),  # what the accountant refutes, with the constant that serves below
        (theory.lemma7_corrected, {}, 1.0, False),
        (theory.lemma7_corrected, {}, 0.2, True),
    ],
    ids=["as printed", "corrected", "a fifth of the noise"],
)
def test_the_audit_of_summed_gradients(claim, constants, noise_factor, flagged) -> None:
    """False alarms: 1e-6. The sum alone, not the transcript, so that it takes a fifth of the noise to be caught."""
    mechanism, pair, promised = attacked(claim, **constants)
    mechanism = SummedGradients(**SIZES, deviation=mechanism.deviation * noise_factor)
    found = audit(mechanism, pair=pair, guarantee=promised, max_trials=40_000, alpha=FALSE_ALARM, seed=1)
    assert found.violated is flagged


def test_the_theorems_of_section_3_1_name_what_they_lack() -> None:
    """Theorem 3.1.6 has no condition on ε at all; Theorem 3.1.1 has Lemma 2.1.7's; Remark 3.1.1 drops ε < 1."""

    def told(claim, cited):
        (found,) = [c.run(claim, Effort()) for c in citations_of(claim, library) if c.cites.id == cited]
        return found

    missing = told(dp_accmd.theorem6, "dwang20.lemma2.1.7")
    assert missing.verdict is Verdict.UNCHECKED
    assert "needs ε < T·c₁·m^2/n^2" in missing.figure
    assert told(dp_svrg.theorem1, "dwang20.lemma2.1.7").verdict is Verdict.PROVED
    assert "needs ε < 1" in told(dp_svrg.remark1, "dwang20.lemma2.1.5").figure
    assert "needs λ ≤" in told(dp_svrg.theorem1, "dwang20.equation3.13").figure
    assert "needs ε ≤ T·c₁·m/n^2" in told(dp_svrg.theorem2, "dwang20.theorem3.1.1").figure
