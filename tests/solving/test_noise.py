"""Noise: each sampler against its stated law, and against a planted bug that the same test must flag.

Every statistical test has a fixed seed and rejects at p < 1e-6: over fresh seeds it would raise a false
alarm once in a million runs. Each runs once more on a wrong sampler, which it must reject at the same level.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import gaussian_delta
from dpcheck.kernels import noise

FALSE_ALARM = 1e-6
N = 20_000
SCORES = np.array([0.0, 1.0, 2.5, 2.4, -3.0])
Sampler = Callable[[np.random.Generator], np.ndarray]


def rng() -> np.random.Generator:
    return np.random.default_rng(20_240_229)


def follows(draws: np.ndarray, law: stats.rv_continuous) -> float:
    """p-value of Kolmogorov-Smirnov."""
    return float(stats.kstest(draws, law.cdf).pvalue)


def has_frequencies(indices: np.ndarray, p: np.ndarray) -> float:
    """p-value of the chi-square test."""
    counts = np.bincount(indices, minlength=len(p))
    return float(stats.chisquare(counts, p / p.sum() * len(indices)).pvalue)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda g, scale: noise.laplace(g, scale, N), stats.laplace(scale=0.7)),
        (lambda g, scale: noise.laplace(g, scale, (N // 4, 4)).ravel(), stats.laplace(scale=0.7)),
        (lambda g, scale: noise.gaussian(g, scale, N), stats.norm(scale=0.7)),
        (lambda g, scale: noise.gaussian(g, scale, (N // 4, 4)).ravel(), stats.norm(scale=0.7)),
        (lambda g, scale: noise.l2_laplace(g, scale, N, 1)[:, 0], stats.laplace(scale=0.7)),
    ],
    ids=["laplace", "laplace matrix", "gaussian", "gaussian matrix", "l2_laplace in one dimension"],
)
def test_law_of_entries(draw: Callable[..., np.ndarray], law: stats.rv_continuous) -> None:
    assert follows(draw(rng(), 0.7), law) > FALSE_ALARM
    assert follows(draw(rng(), 1.4), law) < FALSE_ALARM  # planted: scale doubled
    assert follows(draw(rng(), 0.7 * 1.1), law) < FALSE_ALARM  # planted: a tenth too much


@pytest.mark.parametrize("d", [2, 5, 30])
def test_radius_of_l2_laplace(d: int) -> None:
    law = stats.gamma(d, scale=0.7)
    z = noise.l2_laplace(rng(), 0.7, N, d)
    assert follows(np.linalg.norm(z, axis=1), law) > FALSE_ALARM
    for wrong in (stats.gamma(d - 1, scale=0.7), stats.gamma(d, scale=1.4)):  # planted: shape d-1; scale doubled
        assert follows(wrong.rvs(N, random_state=rng()), law) < FALSE_ALARM


@pytest.mark.parametrize("d", [2, 5])
def test_direction_of_l2_laplace(d: int) -> None:
    """A coordinate of a uniform direction, squared, is Beta(1/2, (d-1)/2); its sign is fair."""
    law = stats.beta(0.5, (d - 1) / 2)

    def worst(z: np.ndarray) -> float:
        units = z / np.linalg.norm(z, axis=1, keepdims=True)
        fair = [stats.binomtest(int((u > 0).sum()), N).pvalue for u in units.T]
        return min(*fair, *(follows(u**2, law) for u in units.T)) * 2 * d  # Bonferroni

    assert worst(noise.l2_laplace(rng(), 0.7, N, d)) > FALSE_ALARM
    assert worst(noise.laplace(rng(), 0.7, (N, d))) < FALSE_ALARM  # planted: a product of Laplaces
    assert worst(np.abs(noise.l2_laplace(rng(), 0.7, N, d))) < FALSE_ALARM  # planted: one orthant


@pytest.mark.parametrize("pick", ["exponential", "gumbel"])
def test_exponential_mechanism_and_its_gumbel_form(pick: str) -> None:
    def indices(eps: float) -> np.ndarray:
        if pick == "gumbel":
            return noise.report_noisy_max(SCORES, eps, 1.5, rng(), N, noise="gumbel")
        return noise.exponential_mechanism(SCORES, eps, 1.5, rng(), N)

    p = np.exp(0.8 * SCORES / (2 * 1.5))
    assert has_frequencies(indices(0.8), p) > FALSE_ALARM
    assert has_frequencies(indices(1.6), p) < FALSE_ALARM  # planted: the 2 forgotten


def test_noisy_max_with_laplace() -> None:
    """P(i wins) by quadrature over its own noisy score."""
    grid, step = np.linspace(-40, 40, 80_001, retstep=True)
    utilities = 0.8 * SCORES / (2 * 1.5)
    others = np.array([stats.laplace.cdf(grid - u) for u in utilities])
    p = np.array(
        [
            (stats.laplace.pdf(grid - u) * np.prod(np.delete(others, i, axis=0), axis=0)).sum() * step
            for i, u in enumerate(utilities)
        ]
    )
    assert p.sum() == pytest.approx(1, abs=1e-5)
    assert has_frequencies(noise.report_noisy_max(SCORES, 0.8, 1.5, rng(), N), p) > FALSE_ALARM
    for planted in ("gumbel", "exponential"):
        wrong = noise.report_noisy_max(SCORES, 0.8, 1.5, rng(), 10 * N, noise=planted)
        assert has_frequencies(wrong, p) < FALSE_ALARM


def test_noisy_max_with_exponential_noise_is_permute_and_flip() -> None:
    """Exact law of permute-and-flip for two candidates: the worse wins with probability exp(-gap) / 2."""
    gap = 0.8 * 2.0 / (2 * 1.5)
    p = np.array([1 - math.exp(-gap) / 2, math.exp(-gap) / 2])

    def indices(eps: float) -> np.ndarray:
        return noise.report_noisy_max([2.0, 0.0], eps, 1.5, rng(), N, noise="exponential")

    assert has_frequencies(indices(0.8), p) > FALSE_ALARM
    assert has_frequencies(indices(1.6), p) < FALSE_ALARM  # planted: the 2 forgotten


def test_noisy_max_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = noise.report_noisy_max(SCORES, 1.0, 1.0, rng(), 1000)
    monkeypatch.setattr(noise, "CHUNK", 35)
    np.testing.assert_array_equal(noise.report_noisy_max(SCORES, 1.0, 1.0, rng(), 1000), whole)


def test_one_candidate_and_huge_scores() -> None:
    assert set(noise.exponential_mechanism([5.0], 1.0, 1.0, rng(), 9)) == {0}
    assert set(noise.exponential_mechanism([0.0, 1e6, 0.0], 1.0, 1.0, rng(), 99)) == {1}
    assert set(noise.report_noisy_max([0.0, 1e6, 0.0], 1.0, 1.0, rng(), 99)) == {1}


@pytest.mark.parametrize(("eps", "delta", "sensitivity"), [(0.5, 1e-5, 1.0), (3.0, 1e-3, 0.2), (8.0, 0.1, 2.0)])
def test_exact_sigma_spends_delta_exactly(eps: float, delta: float, sensitivity: float) -> None:
    sigma = noise.gaussian_sigma(sensitivity, eps, delta)
    assert gaussian_delta(eps, sensitivity / sigma) == pytest.approx(delta, rel=1e-6)
    assert gaussian_delta(eps, sensitivity / (0.99 * sigma)) > delta
    classical = sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / eps
    assert noise.gaussian_sigma(sensitivity, eps, delta, method="classical") == pytest.approx(classical)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_scales_are_refused(bad: float) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        noise.laplace(rng(), bad, 3)
    with pytest.raises(InvalidInput, match="sigma"):
        noise.gaussian(rng(), bad, 3)
    with pytest.raises(InvalidInput, match="scale"):
        noise.l2_laplace(rng(), bad, 3, 2)
    with pytest.raises(InvalidInput, match="eps"):
        noise.exponential_mechanism(SCORES, bad, 1.0, rng(), 3)
    with pytest.raises(InvalidInput, match="sensitivity"):
        noise.report_noisy_max(SCORES, 1.0, bad, rng(), 3)


@pytest.mark.parametrize("bad", [[], [[1.0]], [1.0, math.nan], [math.inf]])
def test_bad_scores_are_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidInput, match="scores"):
        noise.exponential_mechanism(bad, 1.0, 1.0, rng(), 3)


@pytest.mark.parametrize("bad", [0, -3, 1.5])
def test_bad_counts_are_refused(bad: int) -> None:
    with pytest.raises(InvalidInput, match="trials"):
        noise.l2_laplace(rng(), 1.0, bad, 2)
    with pytest.raises(InvalidInput, match="d is"):
        noise.l2_laplace(rng(), 1.0, 2, bad)
    with pytest.raises(InvalidInput, match="trials"):
        noise.report_noisy_max(SCORES, 1.0, 1.0, rng(), bad)


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(InvalidInput, match="noise"):
        noise.report_noisy_max(SCORES, 1.0, 1.0, rng(), 3, noise="cauchy")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="method"):
        noise.gaussian_sigma(1.0, 1.0, 1e-5, method="guess")  # type: ignore[arg-type]
