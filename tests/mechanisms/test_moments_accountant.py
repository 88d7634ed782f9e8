"""Lemma 2.1.7 of dwang20: an audit of summed gradients."""

from __future__ import annotations

from typing import Any

import pytest

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.mechanisms import moments_accountant as theory
from dpcheck.evidence.mechanisms.moments_accountant import SIZES, SummedGradients, attacked


@pytest.mark.parametrize(
    ("claim", "constants", "noise_factor", "flagged"),
    [
        (theory.lemma7, {"c2": 3.0}, 1.0, True),  # what the accountant refutes, with the constant that serves below
        (theory.lemma7_corrected, {}, 1.0, False),
        (theory.lemma7_corrected, {}, 0.2, True),
    ],
    ids=["as printed", "corrected", "a fifth of the noise"],
)
def test_the_audit_of_summed_gradients(
    claim: Claim, constants: dict[str, Any], noise_factor: float, flagged: bool
) -> None:
    """False alarms: 1e-6. The sum alone, not the transcript, so that it takes a fifth of the noise to be caught."""
    mechanism, pair, promised = attacked(claim, **constants)
    mechanism = SummedGradients(**SIZES, deviation=mechanism.deviation * noise_factor)
    found = audit(mechanism, pair=pair, guarantee=promised, max_trials=40_000, alpha=1e-6, seed=1)
    assert found.violated is flagged
