"""Noise of the operating system: its laws by counting, and that unseeded runs use it.

False alarms: 1e-6 a test; bytes with a fixed seed stand for those of the system.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.kernels.system_generator import SystemGenerator
from dpcheck.problems.extreme_pairs import opposite_pair

FALSE_ALARM = 1e-6
N = 40_000
LAWS: dict[str, tuple[Any, Any]] = {
    "random": (lambda g: g.random((N // 2, 2)).ravel(), stats.uniform()),
    "inside": (lambda g: g.inside(N), stats.uniform()),
    "normal": (lambda g: g.standard_normal((N // 4, 4)).ravel(), stats.norm()),
    "normal, into memory": (lambda g: g.standard_normal(out=np.empty(N)), stats.norm()),
    "exponential": (lambda g: g.standard_exponential(N), stats.expon()),
    "gumbel": (lambda g: g.gumbel(size=N), stats.gumbel_r()),
    "chi-square": (lambda g: g.chisquare(np.full(4, 1.5), (N // 4, 4)).ravel(), stats.chi2(1.5)),
    "laplace": (lambda g: g.laplace(scale=3.0, size=N), stats.laplace(scale=3.0)),
}


@pytest.fixture(autouse=True)
def same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", np.random.default_rng(20_240_229).bytes)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_draws_have_their_laws(name: str) -> None:
    draw, law = LAWS[name]
    drawn = draw(SystemGenerator())
    assert stats.kstest(drawn, law.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(1.1 * drawn, law.cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize(("low", "high"), [(7, None), (-3, 5), (0, 3 << 61)])
def test_whole_numbers_are_uniform(low: int, high: int | None) -> None:
    """At 3 * 2^61 a quarter of all words would favour small numbers, were they not drawn again."""
    first, last = (0, low) if high is None else (low, high)
    drawn = SystemGenerator().integers(low, high, size=N)
    assert first <= drawn.min() <= drawn.max() < last
    cells = min(last - first, 6)
    places = (drawn.astype(object) - first) * cells // (last - first)
    counts = np.bincount(places.astype(int), minlength=cells)
    due = np.diff([-(-(last - first) * k // cells) for k in range(cells + 1)]) / (last - first)
    assert stats.chisquare(counts, N * due.astype(float)).pvalue > FALSE_ALARM


def test_orders_are_uniform() -> None:
    drawn = SystemGenerator().permuted(np.tile([0, 1, 2], (N, 1)), axis=1)
    assert stats.chisquare(np.bincount(drawn @ [9, 3, 1])[[5, 7, 11, 15, 19, 21]]).pvalue > FALSE_ALARM


def test_tails_go_on_where_words_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of zeros: 12 deviations away, and not at infinity."""
    monkeypatch.setattr(os, "urandom", bytes)
    assert 12 < -SystemGenerator().standard_normal(1)[0] < 13


def test_far_cells_of_the_grid_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words whose tail is that beyond seven deviations: thousands of different numbers in a millionth of one."""
    generator, start = SystemGenerator(), int(stats.norm.sf(7) * 2.0**64)
    far = np.uint64(2 * start)
    monkeypatch.setattr(generator, "words", lambda count: np.full(count, far))
    monkeypatch.setattr(generator, "inside", np.random.default_rng(0).random)
    drawn = generator.standard_normal(10_000)
    assert np.ptp(drawn) < 1e-6
    assert len(np.unique(drawn)) > 5000


@pytest.mark.parametrize("rng", [None, 0])
@pytest.mark.filterwarnings("ignore::dpcheck.solver.SeededNoiseWarning")
def test_runs_without_a_seed_take_their_noise_from_the_system(rng: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a system that says the same forever, and numpy as it is, what they release is the same."""
    monkeypatch.setattr(os, "urandom", bytes)
    solver = dp.solvers.DPGD(steps=3, step_size=0.5)
    released = [solver.solve(opposite_pair(5)[0], dp.ApproxDP(1.0, 1e-2), rng, trials=2).w for _ in range(2)]
    np.testing.assert_array_equal(*released)
    assert (released[0][0] == released[0][1]).all() == (rng is None)  # all words are the same
