"""What an audit says it would have caught, it catches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audits import audit, detectable_epsilon
from bounds.errors import InvalidInput
from bounds.guarantees import PureDP


def test_more_trials_catch_smaller_violations() -> None:
    found = [detectable_epsilon(0.5, 10**k, claimed=1.0, delta=0.0, alpha=0.05) for k in (2, 3, 4, 5, 6)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1.012


def test_a_tiny_audit_says_that_it_catches_nothing() -> None:
    assert detectable_epsilon(0.5, 5, claimed=1.0, delta=0.0, alpha=1e-6) == math.inf


def test_the_promise_is_kept() -> None:
    """40 seeded audits of a Laplace mechanism at the detectable epsilon of a pass at alpha = 1e-6.

    Flagged with probability 0.99 each, so fewer than 36 of 40 has probability 1e-4; the seeds are fixed.
    """

    def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + rng.laplace(size=trials)

    passed = audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=20_000, alpha=1e-6)
    assert not passed.violated
    worse = (0.0, passed.detectable_epsilon)
    flags = [
        audit(laplace, pair=worse, guarantee=PureDP(1.0), max_trials=20_000, alpha=1e-6, seed=s).violated
        for s in range(40)
    ]
    assert sum(flags) >= 36


def test_no_trials_no_power() -> None:
    with pytest.raises(InvalidInput):
        detectable_epsilon(0.5, 0, claimed=1.0, delta=0.0, alpha=0.05)
