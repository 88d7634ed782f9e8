"""The Gaussian mechanism (zhang17, Lemmas 1 and 7): against dp-accounting, sampled moments, and an audit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict, judge
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, gaussian_delta
from dpcheck.bounds.library.mechanisms import gaussian
from dpcheck.bounds.privacy.exact import gaussian_sigma
from dpcheck.evidence.mechanisms.gaussian import attacked
from dpcheck.kernels import noise
from dpcheck.solvers.mechanisms.gaussian import GaussianMechanism

FALSE_ALARM = 1e-6
Z = stats.norm.isf(FALSE_ALARM / 2)


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


@given(eps=st.floats(0.01, 1.0), delta=st.floats(1e-10, 0.2))
@settings(max_examples=60, deadline=None)
def test_the_classical_noise_is_enough_up_to_one(eps: float, delta: float) -> None:
    sigma = gaussian.lemma1_corrected.evaluate(eps=eps, delta=delta, Delta=1.0)
    assert gaussian_delta(eps, 1 / sigma) <= delta
    assert gaussian_sigma(eps, delta) <= sigma


def test_the_classical_noise_fails_beyond() -> None:
    sigma = gaussian.lemma1.evaluate(eps=15.0, delta=1e-3, Delta=1.0)
    assert gaussian_delta(15.0, 1 / sigma) > 1e-3
    with pytest.raises(HypothesisViolated, match="ε ≤ 1"):
        gaussian.lemma1_corrected.evaluate(eps=15.0, delta=1e-3, Delta=1.0)
    assert judge([c.run(gaussian.lemma1, Effort()) for c in gaussian.lemma1.checks]) is Verdict.REFUTED


@pytest.mark.parametrize("d", [1, 4, 20])
def test_lemma_7(d: int) -> None:
    """The sampled mean of ||z||^2 within the band that it leaves once in a million; planted: noise 3% off, d - 1."""
    sigma, trials = 0.7, 40_000
    z = noise.gaussian(np.random.default_rng(d), sigma, (trials, d))
    mean = np.einsum("ij,ij->i", z, z).mean()
    half = Z * sigma**2 * math.sqrt(2 * d / trials)  # ||z||^2 / sigma^2 is chi-square: variance 2d
    assert abs(mean - gaussian.lemma7.evaluate(d=d, sigma=sigma)) < half
    assert abs(mean - gaussian.lemma7.evaluate(d=d + 1, sigma=sigma)) > half
    assert abs(1.1**2 * mean - gaussian.lemma7.evaluate(d=d, sigma=sigma)) > half


@pytest.mark.parametrize("guarantee", [ApproxDP(1.0, 1e-2), ApproxDP(4.0, 1e-2), GaussianDP(1.0)], ids=str)
def test_audit(guarantee: ApproxDP | GaussianDP) -> None:
    """False alarms: 1e-6. Planted: noise halved; at eps = 4, noise for a delta of 0.3."""
    exact = 1.0 if isinstance(guarantee, GaussianDP) else noise.gaussian_sigma(1.0, guarantee.eps, guarantee.delta)

    def flagged(sigma: float) -> bool:
        def release(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
            return data + noise.gaussian(rng, sigma, (trials, 1))

        found = audit(release, pair=(0.0, 1.0), guarantee=guarantee, max_trials=40_000, alpha=FALSE_ALARM, seed=5)
        return found.violated

    assert not flagged(exact)
    assert flagged(exact / 2)
    if isinstance(guarantee, ApproxDP) and guarantee.eps == 4.0:
        assert flagged(noise.gaussian_sigma(1.0, 4.0, 0.3))


# dwang20, Definition 2.1.3 and Lemma 2.1.9 ---------------------------------------------------------
CASES = [
    (ApproxDP(6.0, 0.5), "stated", 1.0, True),  # no range of ε
    (ApproxDP(6.0, 0.5), "certified", 1.0, False),
    (ApproxDP(1.0, 0.01), "stated", 1.0, False),
    (ZCDP(0.5), "stated", 8.0, True),  # the square is missing, and the sensitivity is 4
    (ZCDP(0.5), "certified", 8.0, False),
]


@pytest.mark.parametrize(("guarantee", "calibration", "row_bound", "flagged"), CASES, ids=str)
def test_the_audit_flags_what_the_accountant_refutes(
    guarantee: Guarantee, calibration: str, row_bound: float, flagged: bool
) -> None:
    """False alarms: 1e-6."""
    mechanism, pair, promised = attacked(guarantee, calibration, row_bound)  # type: ignore[arg-type]
    found = audit(mechanism, pair=pair, guarantee=promised, max_trials=100_000, alpha=FALSE_ALARM, seed=2)
    assert found.violated is flagged


def test_the_solver_refuses_what_is_not_printed() -> None:
    solver = GaussianMechanism()
    problem, _ = solver.worst_pair()
    with pytest.raises(InvalidInput, match="ApproxDP or ZCDP"):
        solver.solve(problem, GaussianDP(1.0), 0, calibration="stated")
    with pytest.raises(InvalidInput):
        solver.solve(problem, PureDP(1.0), 0)


def test_definition_2_1_3_is_refuted_without_the_range_of_eps() -> None:
    found = [
        judge([c.run(x, Effort()) for c in x.checks]) for x in (gaussian.definition3, gaussian.definition3_corrected)
    ]
    assert found == [Verdict.REFUTED, Verdict.LOOSE]


def test_the_attack_reaches_nine_tenths_of_eps() -> None:
    """The certified noise is exact on the worst pair; false alarms: 1e-6."""
    solver, promised = GaussianMechanism(), ApproxDP(1.0, 0.01)
    pair = solver.worst_pair()
    found = audit(
        solver.mechanism(promised), pair=pair, guarantee=promised, max_trials=400_000, alpha=FALSE_ALARM, seed=1
    )  # fmt: skip
    assert not found.violated
    assert found.epsilon_lower >= 0.9
