"""The Gaussian mechanism (zhang17, Lemmas 1 and 7; dwang20, Lemma 2.1.9): dp-accounting, sampled moments, audits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, gaussian_delta
from dpcheck.bounds.library.mechanisms import gaussian
from dpcheck.evidence.mechanisms.gaussian import attacked
from dpcheck.kernels import noise
from dpcheck.solver import Calibration
from dpcheck.solvers.mechanisms.gaussian import GaussianMechanism

FALSE_ALARM = 1e-6


@given(eps=st.floats(0.05, 6), ratio=st.floats(0.1, 4), sensitivity=st.floats(0.1, 10))
@settings(max_examples=60, deadline=None)
def test_the_exact_curve_agrees_with_dp_accounting(eps: float, ratio: float, sensitivity: float) -> None:
    sigma = sensitivity / ratio
    ours = gaussian.exact.evaluate(eps=eps, Delta=sensitivity, sigma=sigma)
    theirs = privacy_loss_mechanism.GaussianPrivacyLoss(sigma, sensitivity=sensitivity).get_delta_for_epsilon(eps)
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-12)
    assert ours == pytest.approx(gaussian_delta(eps, ratio), rel=1e-6, abs=1e-12)
    if ours > 1e-12:
        assert theirs != pytest.approx(gaussian_delta(eps, 1.05 * ratio), rel=1e-3)  # planted: 5% less noise


@pytest.mark.parametrize("d", [1, 4, 20])
def test_lemma_7(d: int) -> None:
    """The sampled mean of ||z||^2 within the band that it leaves once in a million; planted: noise 10% off, d + 1."""
    sigma, trials = 0.7, 40_000
    z = noise.gaussian(np.random.default_rng(d), sigma, (trials, d))
    mean = np.einsum("ij,ij->i", z, z).mean()
    half = stats.norm.isf(FALSE_ALARM / 2) * sigma**2 * math.sqrt(2 * d / trials)  # chi-square: variance 2d
    assert abs(mean - gaussian.lemma7.evaluate(d=d, sigma=sigma)) < half
    assert abs(mean - gaussian.lemma7.evaluate(d=d + 1, sigma=sigma)) > half
    assert abs(1.1**2 * mean - gaussian.lemma7.evaluate(d=d, sigma=sigma)) > half


CASES: list[tuple[Guarantee, Calibration, float, bool]] = [
    (ApproxDP(6.0, 0.5), "stated", 1.0, True),  # no range of ε
    (ApproxDP(6.0, 0.5), "certified", 1.0, False),
    (ApproxDP(1.0, 0.01), "stated", 1.0, False),
    (ZCDP(0.5), "stated", 8.0, True),  # the square is missing, and the sensitivity is 4
    (ZCDP(0.5), "certified", 8.0, False),
]


@pytest.mark.parametrize(("guarantee", "calibration", "row_bound", "flagged"), CASES, ids=str)
def test_the_audit_flags_what_the_accountant_refutes(
    guarantee: Guarantee, calibration: Calibration, row_bound: float, flagged: bool
) -> None:
    """False alarms: 1e-6."""
    mechanism, pair, promised = attacked(guarantee, calibration, row_bound)
    found = audit(mechanism, pair=pair, guarantee=promised, max_trials=100_000, alpha=FALSE_ALARM, seed=2)
    assert found.violated is flagged


def test_the_solver_refuses_what_is_not_printed() -> None:
    solver = GaussianMechanism()
    problem, _ = solver.worst_pair()
    with pytest.raises(InvalidInput, match="ApproxDP or ZCDP"):
        solver.solve(problem, GaussianDP(1.0), 0, calibration="stated")
    with pytest.raises(InvalidInput):
        solver.solve(problem, PureDP(1.0), 0)
