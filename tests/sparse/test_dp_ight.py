"""DP-IGHT: the printed noise is half of what its sensitivity takes; an attacker sees it, and not the corrected one.

Audits have a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.guarantees import ZCDP
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.bounds.registry import library


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


def test_a_step_keeps_its_bound() -> None:
    """Quadratic losses with the extreme curvatures, noise and a gradient at the truth: the bound on one step is kept.

    Planted: the printed coefficient, with beta - mu, has no noise in it at kappa = 1.
    """
    rng = np.random.default_rng(0)
    d, s_star, mu, sigma = 400, 2, 1.0, 0.3
    for kappa in (1.0, 2.0):
        kept = round(16 * kappa**2 + 1) * s_star
        truth = np.r_[np.ones(s_star), np.zeros(d - s_star)]
        curvature = np.where(np.arange(d) % 2, mu, kappa * mu)
        noise = sigma * rng.standard_normal((2000, d))
        moved = -2 / (mu * (kappa + 1)) * (curvature * -truth + noise)
        smallest = np.sort(np.abs(moved), axis=1)[:, -kept, None]
        errors = np.sum((np.where(np.abs(moved) >= smallest, moved, 0.0) - truth) ** 2, axis=1)
        largest2 = float(np.mean(np.max(noise**2, axis=1)))
        at = {"kappa_s": kappa, "mu": mu, "s_star": s_star, "error_now": float(s_star), "largest2": largest2}
        assert errors.mean() <= float(theory.one_step.evaluate(**at, statistical=1e-9))
        if kappa == 1.0:
            assert errors.mean() > (1 - 1 / 7) * s_star * 1.01
