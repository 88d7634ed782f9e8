"""Exact draws: their laws by counting (false alarms 1e-6 a test, fixed seeds), and tails that no double reaches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels import exact_draws

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
