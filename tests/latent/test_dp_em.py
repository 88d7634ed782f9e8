"""The document's private EM: right on its models, hidden by its noise; DP EM as printed gives a record away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.evidence.latent.dp_em import one_step
from dpcheck.families.em_models import MissingCovariates, SignedMixture
from dpcheck.families.robust_means import LARGEST, robust_average
from dpcheck.solvers.latent.clipped_dp_gradient_em import ClippedDPGradientEM, clipped_mean
from dpcheck.solvers.latent.dp_em import DPEM, as_printed
from dpcheck.solvers.latent.dp_gradient_em import DPGradientEM
from dpcheck.testing.planting import with_noise_times

TRUTH = np.array([2.0, -1.0, 2.0])
AIM = dp.ApproxDP(0.9, 1e-2)


def test_each_finds_the_components_of_many_records() -> None:
    records = SignedMixture.drawn(100_000, TRUTH, np.random.default_rng(0))
    for solver, within in (
        (ClippedDPGradientEM(steps=15), 0.1),
        (DPGradientEM(steps=15, second_moment=3.0), 1.0),
        (DPEM(steps=15, second_moment=5.0), 1.0),
    ):
        found = solver.solution(records, dp.ApproxDP(1.0, 1e-5), 0, trials=3).w
        gaps = np.minimum(np.linalg.norm(found - TRUTH, axis=1), np.linalg.norm(found + TRUTH, axis=1))
        assert gaps.max() < within


def test_the_printed_statistic_of_dp_em_is_a_cubic_and_the_corrected_one_is_held() -> None:
    scale, kappa = 50.0, 3.0
    for size, moved in ((100.0, 8.0), (1e3, 1e4), (1e4, 1e7)):
        record = np.array([[size]])
        assert robust_average(record, scale, kappa)[0] <= scale * LARGEST
        assert abs(as_printed(record, scale, kappa)[0]) > moved  # what (7.68) says
    unit = np.array([[0.7], [-0.2]])
    assert as_printed(unit, 1.0, kappa) == pytest.approx(robust_average(unit, 1.0, kappa))  # s = 1 loses nothing


def test_audits_flag_dp_em_as_printed_and_certified_noise_only_when_there_is_too_little() -> None:
    """Alpha 1e-6 each."""
    asked: dict[str, Any] = {"guarantee": AIM, "max_trials": 3000, "alpha": 1e-6, "seed": 0, "executor": 1}
    mechanism, pair, _ = one_step()
    assert dp.audit(mechanism, pair=pair, **asked).violated
    for solver in (DPEM(steps=2), DPGradientEM(steps=2), ClippedDPGradientEM(steps=2)):
        pair = solver.worst_pair()
        assert not dp.audit(solver.mechanism(AIM, transcript=True), pair=pair, **asked).violated
        less = with_noise_times(0.3, solver, AIM, transcript=True)  # planted
        assert dp.audit(less, pair=pair, **asked).violated


def test_clipped_gradients_are_no_longer_than_the_clip() -> None:
    records = MissingCovariates.drawn(50, TRUTH, np.random.default_rng(1))
    at = 5 * np.ones((1, 3))
    assert np.linalg.norm(clipped_mean(records, at, 0.1)) <= 0.1
    assert clipped_mean(records, at, 1e9) == pytest.approx(records.gradients(at).mean(axis=0))


@pytest.mark.parametrize("solver", [DPEM(), DPGradientEM(), ClippedDPGradientEM()])
def test_other_data_and_starts_are_refused_by_name(solver: dp.Solver) -> None:
    with pytest.raises(dp.InvalidInput, match="data"):
        solver.solve(np.zeros((5, 2)), AIM)
    records = SignedMixture.drawn(50, TRUTH, np.random.default_rng(1))
    with pytest.raises(dp.InvalidInput, match="start"):
        type(solver)(start=(1.0,)).solve(records, AIM)  # type: ignore[call-arg]


def test_dp_em_takes_mixtures_alone() -> None:
    with pytest.raises(dp.InvalidInput, match="SignedMixture"):
        DPEM().solve(MissingCovariates.drawn(50, TRUTH, np.random.default_rng(1)), AIM)
