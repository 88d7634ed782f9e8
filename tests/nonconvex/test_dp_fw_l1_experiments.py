"""DP-FW-L1 against the others as d grows: the data, why the others' noise grows, and the trend both ways round."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.registry import library
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.evidence.nonconvex import dp_fw_l1_experiments as experiments
from dpcheck.evidence.nonconvex.dp_fw_l1_experiments import CHECKS, GUARANTEE, METHODS, first_coordinate


@pytest.mark.parametrize("d", [4, 64])
def test_rows_are_those_described(d: int) -> None:
    signs, scaled = first_coordinate(d, "entries"), first_coordinate(d, "norms")
    assert set(np.unique(signs.X)) == {-1.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(scaled.X, axis=1), 1.0)
    assert np.array_equal(signs.y, signs.X[:, 0])
    assert signs.data_lipschitz == pytest.approx(scaled.data_lipschitz * math.sqrt(d))


def test_noise_of_the_others_grows_with_the_rows_and_that_of_selections_does_not() -> None:
    """From d = 16 to 64 the l2 bound of a gradient doubles; its largest entry does not."""
    for name, solver in METHODS.items():
        near, far = (solver.solve(first_coordinate(d, "entries"), GUARANTEE, 0).noise_std for d in (16, 64))
        assert far / near == pytest.approx(1.0 if name == "DP-FW-L1" else 2.0)
    for solver in METHODS.values():
        near, far = (solver.solve(first_coordinate(d, "norms"), GUARANTEE, 0).noise_std for d in (16, 64))
        assert far == pytest.approx(near)


def test_the_trend_the_wrong_way_round_is_refuted() -> None:
    claim = library["wangxu19.algorithm4.dimension"]
    check = CHECKS[claim.id][0]
    assert check.run(claim, Effort(seed=3)).verdict is Verdict.SUPPORTED

    def upside_down(seed: int, trials: int) -> dict[str, float]:
        return {name: 1 / value for name, value in experiments.growth(seed, trials).items()}

    found = Ratios(upside_down, "", trials=check.trials).run(claim, Effort(seed=3))
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None


def test_the_gap_of_selections_grows_like_a_logarithm_at_most() -> None:
    """From d = 4 to 256 ln d grows by a factor 4, √d by 8; the gap starts at 1/4, where the others end up."""
    found = experiments.gaps("entries", 0, 100)
    assert found["DP-FW-L1"][-1] < 4 * found["DP-FW-L1"][0]
    for name in ("DP-FW-L2", "DP-PGD"):
        assert found[name][-1] > 0.9 / 4 > 2 * found["DP-FW-L1"][-1]


def test_both_documents_claims_have_their_checks() -> None:
    stems = ("wangxu19.algorithm4.", "dwang20.algorithm4.1.19.")
    assert {k for k in library if k.startswith(stems) and library[k].kind == "experiment"} == set(CHECKS)
