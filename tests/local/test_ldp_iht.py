"""Reported gradients: reports are unbiased, too few users are refused, more users bring it nearer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.library.local import ldp_iht as theory
from dpcheck.bounds.library.local import ldp_minimax_lower
from dpcheck.families.hard_thresholding import LINEAR, SparseRecords, generated, gradients
from dpcheck.solvers.local.ldp_iht import LDPIHT

PRIVATE = dp.PureDP(1.0, relation=dp.LOCAL)


def off_centre(length: float, data: SparseRecords, box: Any, k: int = 4000) -> float:
    """How many standard errors the mean of reports is from the mean gradient at θ₀ = 0, at its worst."""
    reports = box(data, np.random.default_rng(0), k)[:, 0].reshape(k, data.n, data.d)
    means = length * reports.mean(axis=1)
    wanted = (gradients(np.zeros((1, data.d)), data.X, data.y, LINEAR) @ data.X / data.n)[0]
    return float(np.max(np.abs(means.mean(axis=0) - wanted) / (means.std(axis=0) / k**0.5)))


def test_reports_are_unbiased_and_a_forgotten_coth_is_not() -> None:
    data, _ = generated(50, 3, 1, 0.05, seed=0)
    solver = LDPIHT(steps=1)
    done = solver.calibrated(data, PRIVATE)
    length = solver.method(data, done.plan, done.released).length
    box = solver.mechanism(PRIVATE, transcript=True)
    assert off_centre(length, data, box) < 6
    assert off_centre(length * np.tanh(0.5), data, box) > 6  # planted: the radius O(r√p) as printed


def test_more_users_bring_it_nearer() -> None:
    errors = []
    for n in (4_000, 100_000):
        data, truth = generated(n, 4, 1, 0.05, seed=1)
        errors.append(np.linalg.norm(LDPIHT(steps=3).solve(data, PRIVATE, rng=0, trials=4).w - truth, axis=1).mean())
    assert errors[1] < 0.6 * errors[0]


def test_its_error_lies_between_what_nobody_beats_and_what_is_proved() -> None:
    """At ε = 1/2, the largest of the lower bound; constants are those of the proofs. Planted: a server that says 0."""
    n, d, steps = 400_000, 4, 3
    data, truth = generated(n, d, 1, 1.0, seed=1)
    w = LDPIHT(steps=steps).solve(data, dp.PureDP(0.5, relation=dp.LOCAL), rng=0, trials=4).w
    squared = float(((w - truth) ** 2).sum(axis=1).mean())
    at = {"n": n, "d": d, "eps": 0.5}
    most = theory.theorem5_corrected.evaluate(**at, T=steps, s_star=1, noise_C=1.0, truth=1.0, eta=1.0, rip=0.1)
    assert ldp_minimax_lower.theorem2.evaluate(**at) / 256 < squared < min(most, 0.7) ** 2
    assert float(((0 * w - truth) ** 2).sum(axis=1).mean()) > 0.7**2


def test_each_step_needs_users_of_its_own() -> None:
    data, _ = generated(3, 4, 1, 0.05, seed=1)
    with pytest.raises(dp.InvalidInput, match="at least steps=4"):
        LDPIHT(steps=4).solve(data, PRIVATE)


def test_rows_must_be_signs_and_privacy_pure() -> None:
    data, _ = generated(8, 4, 1, 0.05, seed=1)
    with pytest.raises(dp.InvalidInput, match="-1 and 1"):
        LDPIHT().solve(SparseRecords(data.X / 2, data.y, 1, 0.05), PRIVATE)
    with pytest.raises(dp.InvalidInput, match="PureDP"):
        LDPIHT().solve(data, dp.ApproxDP(1.0, 1e-3, relation=dp.LOCAL))
