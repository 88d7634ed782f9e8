"""Exact draws: their laws by counting (false alarms 1e-6 a test, fixed seeds), and tails that no double reaches."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.privacy.laws import OneBit
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels import exact_draws
from dpcheck.kernels.selection import selection_logs

FALSE_ALARM = 1e-6
TRIALS = 200_000


def fits(counts: np.ndarray, law: np.ndarray) -> bool:
    """A chi-square test of counts against a law, sparse cells joined."""
    often = law * counts.sum() >= 5
    seen = np.append(counts[often], counts[~often].sum())
    due = np.append(law[often], max(1e-300, 1 - law[often].sum())) * counts.sum()
    return bool(stats.chi2.sf(((seen - due) ** 2 / np.maximum(due, 1e-9)).sum(), len(seen) - 1) > FALSE_ALARM)


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_discrete_laplace_has_its_law(scale: int) -> None:
    drawn = exact_draws.discrete_laplace(np.random.default_rng(scale), scale, (TRIALS // 2, 2))
    z = np.arange(-200, 201)
    ratio = math.exp(-1 / scale)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    assert fits(np.bincount(drawn.ravel() + 200, minlength=401), law)
    assert not fits(np.bincount(np.abs(drawn.ravel()) + 200, minlength=401), law)  # a bug: no sign


def test_a_fine_grid_is_filled_far_out() -> None:
    """Beyond 15 scales doubles of numpy's Laplace are 2^-30 apart and more; here every place has its probability."""
    scale = 1 << 40
    drawn = exact_draws.discrete_laplace(np.random.default_rng(0), scale, TRIALS)
    assert stats.kstest(drawn / scale, "laplace").pvalue > FALSE_ALARM
    assert stats.binomtest(int((drawn % 2).sum()), TRIALS).pvalue > FALSE_ALARM


def test_choices_have_their_law() -> None:
    scale, behind = 1000, np.array([0, 500, 1000, 5300])
    drawn = exact_draws.exponential_choice(np.random.default_rng(1), np.tile(behind, (TRIALS, 1)), scale)
    law = np.exp(-behind / scale)
    assert fits(np.bincount(drawn, minlength=4), law / law.sum())
    assert not fits(np.bincount(drawn, minlength=4), np.full(4, 0.25))


@pytest.mark.parametrize("scale", [0, -1, 1 << 60])
def test_scales_that_would_overflow_are_refused(scale: int) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        exact_draws.discrete_laplace(np.random.default_rng(0), scale, 3)


@pytest.mark.parametrize(
    ("choose", "noise", "wrong"),
    [
        (exact_draws.permute_and_flip, "exponential", "gumbel"),
        (exact_draws.exponential_choice, "gumbel", "exponential"),
    ],
)
def test_selections_have_their_laws(choose, noise, wrong) -> None:  # type: ignore[no-untyped-def]
    scale, behind = 1000, np.array([0, 300, 1000, 2600])
    drawn = choose(np.random.default_rng(2), np.tile(behind, (TRIALS, 1)), scale)
    right, other = (np.exp(selection_logs(-behind[None] / scale, 2.0, 1.0, kind))[0] for kind in (noise, wrong))
    assert fits(np.bincount(drawn, minlength=4), right)
    assert not fits(np.bincount(drawn, minlength=4), other)


def test_the_largest_after_discrete_noise_has_its_law() -> None:
    """On a fine lattice that of real Laplace noise; on a coarse one ties go to the first column."""
    places = np.array([0, -300, -1000, -2600])
    drawn = exact_draws.noisy_maximum(np.random.default_rng(3), np.tile(1000 * places, (TRIALS, 1)), 1_000_000)
    law = np.exp(selection_logs(places[None] / 1000, 2.0, 1.0, "laplace"))[0]
    assert fits(np.bincount(drawn, minlength=4), law)
    assert not fits(np.bincount(drawn[::-1] ^ 1, minlength=4), law)
    ties = exact_draws.noisy_maximum(np.random.default_rng(4), np.zeros((TRIALS, 2), np.int64), 1)
    r = math.exp(-1)
    equal = ((1 - r) / (1 + r)) ** 2 * (1 + 2 * r**2 / (1 - r**2))
    assert fits(np.bincount(ties), np.array([(1 + equal) / 2, (1 - equal) / 2]))


# Reports of one bit ----------------------------------------------------------------------------------
@pytest.mark.parametrize("eps", [1e-6, 0.1, 1.0, 5.0, 20.0, 36.0, 40.0, 100.0])
def test_no_report_is_rarer_than_promised(eps: float) -> None:
    """In 60 digits, for users at both ends; doubles alone let one of them never be seen from eps = 37 on."""
    scale = float(Release(2.0, OneBit(1.0), relation=LOCAL).calibrated(PureDP(eps, relation=LOCAL)).law.scale)
    (seldom,) = exact_draws.rare(np.array([1.0]), scale)
    with mpmath.workdps(60):
        assert seldom > 0
        assert ((1 << exact_draws.COIN) - int(seldom)) / mpmath.mpf(int(seldom)) <= mpmath.exp(mpmath.mpf(eps))


def test_reports_have_their_law() -> None:
    asked = np.tile([0.5, -1.0, 0.0], (TRIALS, 1))
    often = (exact_draws.reports(np.random.default_rng(5), asked, 2.0) > 0).sum(axis=0)
    for count, p, wrong in zip(often, (0.625, 0.25, 0.5), (0.375, 0.75, 0.4), strict=True):
        assert stats.binomtest(int(count), TRIALS, p).pvalue > FALSE_ALARM
        assert stats.binomtest(int(count), TRIALS, wrong).pvalue < FALSE_ALARM


# Rounded ideal noise ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("d", "scale"), [(1, 1 << 20), (3, 1 << 20), (10, 1 << 20), (3, 1 << 44)])
def test_rounded_noise_has_its_law(d: int, scale: int) -> None:
    """The radius is Gamma(d), a coordinate of the direction squared is Beta; at 2^44 intervals decide nearly all."""
    trials = 20_000 if scale < 1 << 40 else 1000
    drawn = exact_draws.rounded_l2_laplace(np.random.default_rng(d), scale, trials, d) / scale
    radius = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(radius, stats.gamma(d).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(radius * 1.2, stats.gamma(d).cdf).pvalue < FALSE_ALARM
    assert stats.binomtest(int((drawn[:, 0] > 0).sum()), trials).pvalue > FALSE_ALARM
    if d > 1:
        law = stats.beta(0.5, (d - 1) / 2)
        assert stats.kstest((drawn[:, 0] / radius) ** 2, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("d", [1, 2, 5])
def test_doubles_are_as_exact_as_they_say(d: int) -> None:
    """Against intervals that know 128 bits more, over draws that are hard: small, near 1, and as they come."""
    rng = np.random.default_rng(d)
    leading = rng.integers(0, 1 << 53, size=(120, d + 2 * ((d + 1) // 2)))
    for i in range(60):  # one of the numbers near an end
        end = int(rng.integers(1, 1000))
        leading[i, rng.integers(leading.shape[1])] = end if i % 2 else (1 << 53) - end
    z, off = exact_draws._in_doubles(leading, d)
    one = 1 << 100
    exact = [exact_draws._refined(rng, one, [int(bits) for bits in row], d) for row in leading]
    gap = np.array(
        [max(abs(mpmath.mpf(a) / one - b) for a, b in zip(x, y, strict=True)) for x, y in zip(exact, z, strict=True)]
    )
    assert np.all(gap <= off)
    assert np.any(gap > off / 1000)  # a bound that says something


def test_a_uniform_number_without_leading_bits_is_looked_up() -> None:
    """The first bits are all 0, with probability 2^-53: the tail goes on."""
    _, off = exact_draws._in_doubles(np.zeros((1, 3), np.int64), 1)
    assert off == np.inf
    (far,) = exact_draws._refined(np.random.default_rng(0), 1 << 20, [0, 1 << 52, 1 << 52], 1)
    assert abs(far) > 53 * math.log(2) * (1 << 20)
