"""The bounds that are checked on exact laws of small mechanisms: kept there, and nearly reached."""

from __future__ import annotations

import numpy as np
import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.registry import library
from dpcheck.evidence.false_alarms import exceeds
from dpcheck.evidence.mechanisms import composition, exponential, subsampling, zcdp
from dpcheck.evidence.property_checks import Property

CHECKED = {
    claim_id: check
    for module in (composition, exponential, subsampling, zcdp)
    for claim_id, checks in module.CHECKS.items()
    for check in checks
    if isinstance(check, Property)
}


@pytest.mark.parametrize("claim_id", sorted(CHECKED))
def test_random_cases_keep_the_bound_and_catch_a_smaller_one(claim_id: str) -> None:
    """A bound of 0.6 times the stated one would be exceeded."""
    check = CHECKED[claim_id]
    assert check.run(library[claim_id], Effort()).verdict is Verdict.SUPPORTED
    found = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        case = {
            name: int(rng.integers(low, high, endpoint=True)) if isinstance(low, int) else rng.uniform(low, high)
            for name, (low, high) in check.cases.items()
        }
        found.append(check.measure(case))
    assert not any(exceeds(*pair) for pair in found)
    assert any(exceeds(measured, 0.6 * bound) for measured, bound in found)
