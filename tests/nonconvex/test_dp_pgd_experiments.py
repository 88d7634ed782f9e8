"""The experiments on DP-PGD: noise by three accountants, data and starts, a check that tells both ways round."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Verdict
from dpcheck.bounds.registry import library
from dpcheck.evidence.nonconvex.dp_pgd_experiments import (
    CHAPTER,
    CHECKS,
    PAPER,
    FirstIsLess,
    Printed,
    along,
    log_norms,
    problem_of,
)

SMALL = Printed(500, 5, 0.01, 1e-3, T=10)


@given(n=st.integers(2, 10**5), eps=st.floats(1, 5), delta=st.floats(1e-5, 1e-3), T=st.integers(1, 1000))
@settings(max_examples=30, deadline=None)
def test_noise_by_zcdp_is_least_and_that_by_moments_next_to_it(n: int, eps: float, delta: float, T: int) -> None:
    """Where the best order is below 32, whole orders cost at most 2%; advanced composition at least a factor 2."""
    here = Printed(n, 1, 0.0, delta, eps, T)
    zcdp, moments, advanced = (
        replace(here, noise=way).deviation
        for way in ("zcdp", "moments", "advanced")  # type: ignore[arg-type]
    )
    assert zcdp <= moments * (1 + 1e-12) <= 1.02 * zcdp
    assert advanced > 2 * zcdp


def test_the_moments_accountant_meets_its_own_condition_and_no_less_would() -> None:
    noise = Printed(100, 1, 0.0, 1e-4, 1.0, 20, "moments").deviation
    orders = np.arange(1, 33)
    for factor, enough in ((1.0, True), (0.999, False)):
        mu = 2 * math.sqrt(20) / (100 * noise * factor)
        best = np.min(orders * (orders + 1) * mu**2 / 2 - orders * 1.0)
        assert bool(best <= -math.log(1e4) + 1e-9) is enough


def test_data_and_settings_are_the_documents() -> None:
    assert (PAPER.n, PAPER.d, PAPER.strength, PAPER.delta) == (10_000, 100, 0.01, 1e-3)
    assert (CHAPTER.n, CHAPTER.d, CHAPTER.strength, CHAPTER.delta) == (50_000, 50, 1e-4, 1e-4)
    few, more = problem_of(50, 4), problem_of(200, 4)
    np.testing.assert_allclose(np.linalg.norm(more.X, axis=1), 1.0)
    np.testing.assert_array_equal(few.X, more.X[:50])
    assert set(more.y) == {-1.0, 1.0}


def test_settings_share_starts_and_normals_and_starts_differ() -> None:
    """One step: the exact map is at the start; with noise alone the noisy map is as long as the noise."""
    one, other = (log_norms(replace(SMALL, T=1, eps=eps), 3, 4) for eps in (1e-3, 2e-3))
    np.testing.assert_allclose(one[:, 1], other[:, 1])
    assert len(set(one[:, 1])) == 4
    louder = replace(SMALL, T=1, eps=1e-3).deviation / replace(SMALL, T=1, eps=2e-3).deviation
    np.testing.assert_allclose(np.exp(one[:, 0] - other[:, 0]), louder, rtol=1e-2)


@pytest.mark.parametrize(("values", "verdict"), [((0.5, 5.0), Verdict.SUPPORTED), ((5.0, 0.5), Verdict.NOT_REPRODUCED)])
def test_a_trend_the_wrong_way_round_is_not_reproduced(values: Any, verdict: Verdict) -> None:
    small = Printed(2000, 20, 0.01, 1e-3, T=100)
    assert FirstIsLess(partial(along, small, "eps", values), "").judge(1, 16).verdict is verdict


@pytest.mark.parametrize(
    ("noisy", "exact", "verdict"),
    [
        (-1.0, 0.0, Verdict.SUPPORTED),
        (-1.0, 1.0, Verdict.UNCHECKED),
        (0.0, 1.0, Verdict.UNCHECKED),
        (1.0, 1.0, Verdict.NOT_REPRODUCED),
    ],
)
def test_what_depends_on_the_map_is_left_open(noisy: float, exact: float, verdict: Verdict) -> None:
    def measure(seed: int, trials: int) -> Any:
        runs = np.random.default_rng(seed).standard_normal((trials, 2)) / 10
        return {"made up": (runs + np.array([noisy, exact]), np.zeros((trials, 2)))}

    assert FirstIsLess(measure, "").judge(0, 20).verdict is verdict


def test_every_finding_has_its_check() -> None:
    places = ("wangxu19.section.experiments.", "dwang20.section4.1.5.")
    assert {k for k in library if k.startswith(places) and not library[k].checks} == set(CHECKS)
