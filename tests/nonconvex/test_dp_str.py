"""DP-STR: small batches break the printed noise and not the certified one; its sample size; full batches are DP-TR."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_str as theory
from dpcheck.kernels.trust_region import trust_region_steps
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_str import DPSTR
from dpcheck.solvers.nonconvex.dp_tr import DPTR

CLAIMED = ApproxDP(0.9, 2e-3)


def noises(solver: DPSTR, calibration: str, n: int) -> list[float]:
    released = solver.calibrated(opposite_pair(n)[0], CLAIMED, calibration).released  # type: ignore[arg-type]
    return [float(part.law.scale) for part in released.parts]


def test_printed_noise_is_not_private_for_small_batches() -> None:
    """By a sound lower bound on ε; planted beside it: certified noise keeps what is promised."""
    solver = DPSTR(steps=4, radius=0.5, batch=1, large_delta=True)
    problem = opposite_pair(300)[0]
    printed, certified = (solver.calibrated(problem, CLAIMED, way).released for way in ("stated", "certified"))
    assert printed.parts[0].epsilon(CLAIMED.delta).low > 2 * CLAIMED.eps
    assert certified.epsilon(CLAIMED.delta).high <= CLAIMED.eps


def test_certified_noise_grows_as_batches_shrink() -> None:
    large, small = (noises(DPSTR(steps=4, radius=0.5, batch=m, large_delta=True), "certified", 300) for m in (100, 3))
    assert small[0] > 3 * large[0]


def test_batches_of_all_records_are_dp_tr() -> None:
    problem = opposite_pair(5)[0]
    promised = ApproxDP(1.0, 1e-2)
    full, plain = (
        s.calibrated(problem, promised) for s in (DPSTR(steps=3, radius=0.5, batch=5), DPTR(steps=3, radius=0.5))
    )
    for mine, theirs in zip(full.released.parts, plain.released.parts, strict=True):
        assert float(mine.law.scale) == pytest.approx(float(theirs.law.scale), rel=2e-3)


def test_gradients_and_hessians_are_of_the_records_drawn() -> None:
    problem = Problem([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0], Sigmoid())
    solver = DPSTR(steps=1, radius=0.5, batch=1, hessian_batch=1, large_delta=True)
    method = solver.method(
        problem, solver.plan(problem, CLAIMED), solver.release(problem, solver.plan(problem, CLAIMED))
    )
    state = method.start(2)
    asked = method.query(problem, state, 0, np.array([0, 1]))
    np.testing.assert_allclose(asked[:, :2], [problem.gradient_at(np.zeros((1, 2)), [i])[0] for i in (0, 1)])
    bends = method.query(problem, (np.ones((2, 2)), *state[1:]), 1, np.array([0, 1]))
    assert np.count_nonzero(bends[0]) == np.count_nonzero(bends[1]) == 1  # xxᵀ of an axis


def test_batches_beyond_the_records_are_refused() -> None:
    with pytest.raises(InvalidInput, match="batch"):
        DPSTR(steps=1, radius=0.5, batch=9).solve(opposite_pair(5)[0], CLAIMED)


def test_records_of_theorem_4_3_5_are_too_few_and_those_of_the_corrected_theorem_are_not() -> None:
    """Hessians M·I with the box's noise: λ stays above √(αρ) at 30 times (4.59), and not with ln(1/δ) for its root."""
    d, here = 50, {"delta": 1e-300, "eps": 0.5, "T": 1}
    sizes = {"d": d, "alpha_sosp": 1.0, "gamma": 0.1, "delta": here["delta"], "eps": here["eps"]}
    rng = np.random.default_rng(0)
    upper = np.triu(rng.standard_normal((200, d, d)))
    noise = upper + np.triu(upper, 1).transpose(0, 2, 1)

    def multipliers(claim: Claim) -> np.ndarray:
        n = math.ceil(30 * claim.formula.subs({s: sizes[s.name] for s in claim.formula.free_symbols}))
        scale = float(theory.box_hessian.evaluate(n=n, d=d, M_second=1.0, batch=1, **here))
        return trust_region_steps(np.zeros((200, d)), np.eye(d) + scale * noise, 1.0)[1]

    assert multipliers(theory.theorem7).min() > 1
    assert multipliers(theory.theorem7_corrected).max() <= 1
