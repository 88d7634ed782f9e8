"""DP-TR: the counterexample to (4.85) happens, runs stop and escape, audits see gradients and Hessians.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.nonconvex import dp_tr as theory
from dpcheck.families.second_order import NoisyDerivatives, second_order_error, triangle
from dpcheck.families.trust_region_runs import TrustRegion, noisy_run
from dpcheck.kernels import transcripts
from dpcheck.kernels.running import run
from dpcheck.kernels.trust_region import trust_region_steps
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.problems.saddles import saddle
from dpcheck.solvers.nonconvex.dp_tr import DPTR

CLAIMED = ApproxDP(1.0, 1e-2)


@dataclass(frozen=True)
class Bowls:
    """n records of loss ±(w_1 + M‖w‖²/2), seen at 0 alone: both derivatives move by all that the release allows."""

    signs: tuple[float, ...]
    d: int = 3
    M: float = 2.0

    @property
    def n(self) -> int:
        return len(self.signs)

    def gradient(self, W: np.ndarray) -> np.ndarray:
        return np.tile(np.mean(self.signs) * np.eye(self.d)[0], (len(W), 1))

    def hessians(self, W: np.ndarray, index: object = None) -> np.ndarray:
        return np.tile(np.mean(self.signs) * self.M * np.eye(self.d), (len(W), 1, 1))


@dataclass(frozen=True)
class Printed:
    """One step of Algorithm 4.3.28 with its printed noise times a factor, all answers seen."""

    factor: float = 1.0

    def parts(self, data: Bowls) -> tuple[TrustRegion, object]:
        numbers = {"n": data.n, "d": data.d, "T": 1, "G": 1.0, "M_second": data.M, "eps": 1.0, "delta": 1e-2}
        noises = [self.factor * float(c.evaluate(**numbers)) for c in (theory.theorem4, theory.theorem4_hessian)]
        return TrustRegion(np.zeros(data.d), 1, 0.5, 0.1), noisy_run(1, *noises)

    def __call__(self, data: Bowls, rng: np.random.Generator, trials: int) -> np.ndarray:
        method, released = self.parts(data)
        trace = run(method, released, data, seed=rng, trials=trials, trace=True).trace  # type: ignore[arg-type]
        assert trace is not None
        return np.ascontiguousarray(trace.answers.transpose(1, 0, 2))

    def log_density(self, outputs: np.ndarray, data: Bowls) -> np.ndarray:
        return transcripts.log_density(*self.parts(data), data, np.asarray(outputs))  # type: ignore[arg-type]


@pytest.mark.parametrize(("factor", "violated"), [(1.0, False), (0.25, True)])
def test_the_printed_noise_holds_where_both_derivatives_move_most(factor: float, violated: bool) -> None:
    """False alarms: 1e-6. Hessians ±M·I reach 2M√p/n in Frobenius norm; planted: a quarter of the noise."""
    pair = Bowls((1.0,) * 5), Bowls((-1.0, 1.0, 1.0, 1.0, 1.0))
    found = audit(Printed(factor), pair=pair, guarantee=CLAIMED, max_trials=20_000, alpha=1e-6, seed=1)
    assert found.violated is violated


def test_the_counterexample_to_equation_4_85_happens() -> None:
    """One coordinate: the noisy gradient is 0, the noisy curvature -λ, noise and third derivative as allowed."""
    alpha, rho, lam = 1.0, 1.0, 1.001
    u = alpha**1.5 / math.sqrt(rho)
    (h,), (found,) = trust_region_steps(np.zeros((1, 1)), np.full((1, 1, 1), -lam), math.sqrt(alpha / rho))
    assert found == pytest.approx(lam)
    g, H = alpha / 6, -lam + math.sqrt(alpha * rho) / 3  # what the noise hid
    gained = g * h[0] + H * h[0] ** 2 / 2 + rho * h[0] ** 3 / 6
    assert gained > -lam * alpha / (2 * rho) + u / 3 + 0.9 * u / 6
    assert g / 2 + (-lam + math.sqrt(alpha * rho) / 6) / 2 + rho / 6 <= -lam / 2 + u / 3 + 1e-12  # half the noise


@pytest.mark.parametrize(("least_is_known", "noise"), [(True, 1e-6), (False, 0.0)])
def test_runs_leave_a_saddle_and_stop_at_a_second_order_point(least_is_known: bool, noise: float) -> None:
    """Planted: without a Hessian (and without noise) the saddle is where it stays."""
    found = saddle("phase retrieval")
    rho, alpha = found.problem.hessian_lipschitz, 2.3e-4
    radius = math.sqrt(alpha / rho)
    method = TrustRegion(found.at, 600, radius, alpha / radius)
    if not least_is_known:
        method = Flat(found.at, 600, radius, alpha / radius)
    w = run(method, noisy_run(600, noise, noise), found.problem, seed=0, trials=8).w
    left = second_order_error(found.problem, w, rho) <= 9 * alpha
    assert np.all(left == least_is_known)


@dataclass(frozen=True, eq=False)
class Flat(TrustRegion):
    """Sees no curvature."""

    def symmetric(self, answer: np.ndarray) -> np.ndarray:
        return np.tile(np.eye(self.d), (len(answer), 1, 1))


def test_hessian_noise_is_drawn_once_for_an_entry_and_its_mirror_image() -> None:
    method = NoisyDerivatives(np.zeros(3), 1)
    assert method.width == triangle(3) == 6
    matrix = method.symmetric(np.arange(6.0)[None])[0]
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.unique(matrix).size == 6


def test_stopped_trials_ask_nothing_more() -> None:
    problem = Problem([[1.0]], [1.0], Sigmoid())
    method = TrustRegion(np.zeros(1), 4, 0.5, 1e9)  # stops at once
    assert np.any(method.query(problem, method.start(2), 0, None) != 0)
    stopped = (np.zeros((2, 1)), np.zeros((2, 1)), np.ones((2, 1)))
    assert np.all(method.query(problem, stopped, 2, None) == 0)


def test_defaults_are_those_of_theorem_4_3_5() -> None:
    problem = Problem([[1.0, 0.0]], [1.0], Sigmoid())
    plan = DPTR(aim=0.1).plan(problem, CLAIMED)
    assert plan.radius == pytest.approx(math.sqrt(0.1 / 0.125))
    assert plan.steps == math.ceil(6 * math.sqrt(0.125) * 0.5 / 0.1**1.5)


def test_refusals_name_what_fails() -> None:
    problem = Problem([[1.0, 0.0]], [1.0], Sigmoid())
    with pytest.raises(InvalidInput, match="whole space"):
        DPTR().solve(replace(problem, constraint=L2Ball(1.0)), CLAIMED)
    with pytest.raises(InvalidInput, match="Pass radius"):
        DPTR().solve(Problem([[1.0]], [1.0], Huber(1.0)), CLAIMED)
    with pytest.raises(InvalidInput, match="delta > 0"):
        DPTR().solve(problem, PureDP(1.0))
