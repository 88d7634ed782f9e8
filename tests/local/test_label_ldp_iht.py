"""Private labels: the fit finds θ*, the printed sign climbs, records outside are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.hard_thresholding import SparseRecords, generated, hard_thresholding, thresholded
from dpcheck.solvers.local.label_ldp_iht import LabelLDPIHT

PRIVATE = dp.ApproxDP(1.0, 1e-3, relation=dp.LABEL_ONLY)


def test_without_noise_the_truth_is_found_and_with_the_printed_sign_it_is_not() -> None:
    data, truth = generated(2000, 40, 2, 0.0, seed=1)
    found = hard_thresholding(data, data.y[None], 16, 1.0, 30)[0]
    climbing = hard_thresholding(data, data.y[None], 16, -1.0, 30)[0]
    assert np.linalg.norm(found - truth) < 1e-6
    assert np.linalg.norm(climbing - truth) > 1


def test_more_users_bring_it_nearer() -> None:
    errors = []
    for n in (4_000, 64_000):
        data, truth = generated(n, 20, 1, 0.05, seed=2)
        errors.append(np.linalg.norm(LabelLDPIHT().solve(data, PRIVATE, rng=0, trials=8).w - truth, axis=1).mean())
    assert errors[1] < 0.5 * errors[0]  # a rate of n^(-1/2) would bring it to a quarter


def test_thresholding_keeps_the_largest_within_the_ball() -> None:
    assert np.allclose(thresholded(np.array([[3.0, -4.0, 1.0]]), 2), [[0.6, -0.8, 0.0]])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[np.nan]], [0.0], "finite"),
        ([[1.0]], [3.0], "labels"),
        ([[1.0]], [0.0, 1.0], "users"),
        ([[1.0]], [np.nan], "labels"),
    ],
)
def test_records_outside_are_refused(X: Any, y: Any, words: str) -> None:
    with pytest.raises(dp.InvalidInput, match=words):
        SparseRecords(np.array(X), np.array(y), 1, 0.5)


def test_it_promises_nothing_about_rows() -> None:
    data, _ = generated(10, 2, 1, 0.05, seed=1)
    with pytest.raises(dp.MixedRelations, match="label-only"):
        LabelLDPIHT().solve(data, dp.ApproxDP(1.0, 1e-3, relation=dp.LOCAL))
