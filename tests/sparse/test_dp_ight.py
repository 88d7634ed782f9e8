"""DP-IGHT: the printed noise is half of what its sensitivity takes; an attacker sees it, and not the corrected one.

Audits have a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.guarantees import ZCDP, gaussian_delta
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.bounds.registry import library

REFUTED = [
    "lwang21.theorem2.5.2", "lwang21.remark2.5.3", "lwang21.theorem2.5.4.contraction", "lwang21.theorem2.5.4",
    "lwang21.corollary2.5.6.privacy", "lwang21.corollary2.5.8",
]  # fmt: skip


def last_iterate(claim: str, rho: float) -> Callable[[np.ndarray, np.random.Generator, int], np.ndarray]:
    """Three steps on linear losses in one dimension, where thresholding keeps the only coordinate."""

    def release(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        sigma = float(library[claim].evaluate(T=3, n=len(data), G=1.0, budget=rho))
        noisy = data.mean() + sigma * rng.standard_normal((trials, 3))
        return -noisy.sum(axis=1)

    return release


@pytest.mark.parametrize(
    ("claim", "flagged"), [("lwang21.theorem2.5.2", True), ("lwang21.theorem2.5.2.corrected", False)]
)
def test_the_audit_flags_the_printed_noise_only(claim: str, flagged: bool) -> None:
    pair = (np.ones(5), np.r_[-1.0, np.ones(4)])
    seen = audit(
        last_iterate(claim, 1.0), pair=pair, guarantee=ZCDP(1.0), max_trials=100_000, alpha=1e-6, seed=1, assume="gdp"
    )
    assert seen.violated is flagged


@given(steps=st.integers(1, 50), n=st.integers(2, 500), rho=st.floats(0.01, 5), G=st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_the_corrected_noise_is_exact(steps: int, n: int, rho: float, G: float) -> None:
    """T releases 2G/n apart have mu^2/2 = rho, and the printed noise 2 rho."""
    for claim, times in ((theory.theorem2_corrected, 1), (theory.theorem2, 2)):
        sigma = float(claim.evaluate(T=steps, n=n, G=G, budget=rho))
        assert steps * (2 * G / (n * sigma)) ** 2 / 2 == pytest.approx(times * rho)


@given(level=st.floats(0.05, 20), delta=st.floats(1e-8, 0.1))
@settings(max_examples=30, deadline=None)
def test_remark_2_5_3_corrected_keeps_its_promise(level: float, delta: float) -> None:
    sigma = float(theory.remark3_corrected.evaluate(T=1, n=1, G=1.0, eps=level, delta=delta))
    assert gaussian_delta(level, 2 / sigma) <= delta


@pytest.mark.parametrize("claim", REFUTED)
def test_counterexamples_replay(claim: str) -> None:
    check = library[claim].checks[0]
    found = check.run(library[claim], Effort())
    assert found.verdict is Verdict.REFUTED
    assert check.replay(library[claim], found.counterexample).verdict is Verdict.REFUTED  # type: ignore[attr-defined]


@given(kappa=st.floats(1, 1e4))
@settings(max_examples=50, deadline=None)
def test_sixteen_times_the_sparsity_contracts_and_four_times_does_not(kappa: float) -> None:
    four, sixteen = (float(theory.factor(a * kappa**2 + 1).subs(theory.kappa_s, kappa)) for a in (4, 16))
    assert sixteen <= 1 - 1 / (7 * kappa) + 1e-12 < 1 < four
    assert four == pytest.approx(1 + 1 / (7 * kappa))


def test_the_table_follows() -> None:
    table = library["lwang21.table2.1"]
    assert table.checks[0].run(table, Effort()).verdict is Verdict.PROVED
    assert math.isfinite(float(theory.corollary6.evaluate(
        n=100, d=10, eps=1.0, delta=1e-3, s_star=2, truth=1.0, row=1.0, label_noise=0.1
    )))  # fmt: skip
