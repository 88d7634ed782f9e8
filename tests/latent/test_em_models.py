"""The latent models: gradients are derivatives, Bayes' weights make β* a fixed point, and how far EM reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import dpcheck as dp
from dpcheck.bounds.library.latent import em_moments
from dpcheck.families.em_models import (
    LatentRecords,
    MissingCovariates,
    Regressions,
    SignedMixture,
    another_record,
    gradient_em,
)


def derivative(log_density: Any, at: np.ndarray, sd: float) -> np.ndarray:
    """σ² times the gradient of a log density: that of q(·; β) at β."""
    return sd**2 * optimize.approx_fprime(at, log_density, 1e-6)


def test_the_mixtures_gradient_is_that_of_the_likelihood() -> None:
    y, at, sd = np.array([0.7, -0.4]), np.array([0.5, 0.3]), 0.8

    def log_density(b: np.ndarray) -> float:
        return float(np.logaddexp(*(-((y - s * b) ** 2).sum() / (2 * sd**2) for s in (1, -1))))

    found = SignedMixture(sd, Y=np.vstack([y, y])).gradients(at[None])[0, 0]
    assert found == pytest.approx(derivative(log_density, at, sd), abs=1e-4)
    printed = SignedMixture(sd, "printed", Y=np.vstack([y, y])).gradients(at[None])[0, 0]
    assert np.abs(printed - found).max() > 0.05  # planted: the printed weight


def test_the_regressions_gradient_is_that_of_the_likelihood() -> None:
    x, y, at, sd = np.array([[0.7, -0.4]]), 0.9, np.array([0.5, 0.3]), 0.8

    def log_density(b: np.ndarray) -> float:
        return float(np.logaddexp(*(-((y - s * (x @ b)[0]) ** 2) / (2 * sd**2) for s in (1, -1))))

    rows = Regressions(sd, X=np.vstack([x, x]), y=np.array([y, y]))
    assert rows.gradients(at[None])[0, 0] == pytest.approx(derivative(log_density, at, sd), abs=1e-4)


def test_missing_covariates_are_right_at_the_truth_on_average_and_off_elsewhere() -> None:
    """Five standard errors at β*; the gradient that K misses away from it is seen."""
    truth, rng = np.array([0.8, -0.5, 0.3]), np.random.default_rng(0)
    records = MissingCovariates.drawn(40_000, truth, rng, missing=0.3)
    at_truth = records.gradients(truth[None])[:, 0]
    assert np.all(np.abs(at_truth.mean(axis=0)) < 5 * at_truth.std(axis=0) / records.n**0.5)
    away = records.gradients(2 * truth[None])[:, 0]
    assert np.any(np.abs(away.mean(axis=0)) > 5 * away.std(axis=0) / records.n**0.5)
    whole = MissingCovariates(1.0, X=records.X, y=records.y, seen=np.ones_like(records.X))
    b = np.array([[0.1, 0.2, 0.3]])
    plain = (records.y - records.X @ b[0])[:, None] * records.X
    assert whole.gradients(b)[:, 0] == pytest.approx(plain)  # nothing missing: least squares


def test_gradients_with_missing_covariates_are_as_long_as_is_proved_and_longer_than_printed() -> None:
    """Lemmas 7.2.8 and 7.2.22 where σ is small and ‖β*‖ smaller: of order σ, five hundred times what they say."""
    sd, length, rng = 1e-3, 1e-6, np.random.default_rng(3)
    records = MissingCovariates.drawn(20_000, np.array([length]), rng, sd=sd, missing=0.01)
    found = records.gradients(np.array([[length]]))[:, 0, 0]
    at = {"norm_em": length, "sd_em": sd, "snr_em": length / sd, "d": 1}
    assert float((found**2).mean()) < 100 * float(em_moments.lemma8_corrected.evaluate(**at))
    assert float((found**2).mean()) > 1e4 * float(em_moments.lemma8.evaluate(**at))
    assert float(found.std()) < 100 * float(em_moments.lemma22_corrected.evaluate(**at))
    assert float(found.std()) > 300 * float(em_moments.lemma22.evaluate(**at))


def fixed_point(truth: float, power: float) -> float:
    """Of EM on all records there may be, in one dimension with σ = 1: β = E tanh(power β y) y."""

    def next_of(b: float) -> float:
        def term(v: float) -> float:
            return float(np.tanh(power * b * (truth + v)) * (truth + v) * stats.norm.pdf(v))

        return float(integrate.quad(term, -12, 12, epsabs=1e-11)[0])

    return float(optimize.fixed_point(next_of, truth, xtol=1e-9, maxiter=5000, method="del2"))


def test_bayes_weights_have_the_truth_for_a_fixed_point_and_the_printed_ones_have_not() -> None:
    assert fixed_point(1.5, 1.0) == pytest.approx(1.5, abs=1e-6)
    assert fixed_point(1.5, 0.5) == pytest.approx(1.247, abs=2e-3)
    assert fixed_point(3.0, 0.5) == pytest.approx(2.9923, abs=1e-3)


@pytest.mark.parametrize("kind", [SignedMixture, Regressions])
def test_em_contracts_in_the_ball_of_the_lemmas_and_far_beyond(kind: Any) -> None:
    """From R = ‖β*‖/4, the lemma's radius for mixtures, by a factor below 1 a step; and from right angles almost."""
    truth, rng = np.array([3.0, 0.0, 0.0]), np.random.default_rng(1)
    records: LatentRecords = kind.drawn(20_000, truth, rng)
    near = gradient_em(records, truth + np.array([0.0, 0.75, 0.0]), 30, 0.5)
    gaps = np.linalg.norm(near - near[-1], axis=1)
    assert np.all(gaps[1:6] < 0.75 * gaps[:5])
    assert np.linalg.norm(near[-1] - truth) < 0.05
    far = gradient_em(records, np.array([0.3, 3.0, 0.0]), 60, 0.5)[-1]
    assert np.linalg.norm(far - truth) < 0.05
    nowhere = gradient_em(records, np.zeros(3), 50, 0.5)[-1]
    assert np.linalg.norm(nowhere) == 0  # 0 is a fixed point: a start must be off it


@pytest.mark.parametrize("kind", [SignedMixture, Regressions, MissingCovariates])
def test_neighbours_differ_in_one_record_and_gradients_stay_numbers(kind: Any) -> None:
    rng = np.random.default_rng(2)
    records = kind.drawn(20, np.ones(3), rng)
    other = another_record(records, rng)
    at = 1e6 * rng.standard_normal((2, 3))
    assert np.any(records.gradients(at) != other.gradients(at), axis=(1, 2)).sum() == 1
    fields: dict[str, Any] = (
        {"Y": np.full((2, 3), 1e300)} if kind is SignedMixture else {"X": np.full((2, 3), 1e300), "y": [1e300, 0]}
    )
    if kind is MissingCovariates:
        fields["seen"] = np.ones((2, 3))
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(kind(**fields).gradients(at)).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SignedMixture(Y=[[np.nan], [1.0]]), "finite"),
        (lambda: SignedMixture(0.0, Y=[[1.0], [2.0]]), "sd"),
        (lambda: SignedMixture(1.0, "guess", Y=[[1.0], [2.0]]), "posterior"),
        (lambda: Regressions(X=np.ones((2, 1)), y=np.ones(3)), "one a row"),
        (lambda: MissingCovariates(X=np.ones((2, 1)), y=np.ones(2), seen=np.full((2, 1), 0.5)), "seen"),
    ],
)
def test_records_that_are_none_are_refused_by_name(make: Any, said: str) -> None:
    with pytest.raises(dp.InvalidInput, match=said):
        make()
