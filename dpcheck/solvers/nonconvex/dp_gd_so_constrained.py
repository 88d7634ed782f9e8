"""DP-GD-SO over a ball (dwang20, Algorithm 4.3.27). Claims: bounds/library/nonconvex/dp_gd_so_constrained.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_gd_so_constrained as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.families.second_order import NoisyDerivatives, bend, constants, largest_gap, start_setting
from dpcheck.families.trust_region_runs import with_both
from dpcheck.kernels.gradient_steps import starting_point
from dpcheck.kernels.method import Array
from dpcheck.kernels.trust_region import trust_region_steps
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive, share
from dpcheck.solver import Calibrated, Calibration, Example, Solver, approximate, must_meet

MOST_STEPS = 200  # by default


@dataclass(frozen=True)
class Plan:
    """Rounds, and the numbers of Theorem 4.3.3 as its proof has them, the set's diameter being 1."""

    steps: int
    pace: float  # η
    theta: float
    slope: float  # r
    alpha: float
    deep: float  # Φ√(ρα)/2


@dataclass(frozen=True, eq=False)
class InBall(NoisyDerivatives):
    """A step to the vertex of the noisy gradient, else along the noisy Hessian; a trial stops where neither gains."""

    radius: float
    plan: Plan

    def moved(self, w: Array, gradient: Array, hessian: Array) -> tuple[Array, Array]:
        vertex = L2Ball(self.radius).linear_minimiser(gradient)
        slides = np.einsum("kd,kd->k", gradient, vertex - w) < -self.plan.alpha / 2
        h, q = curved_steps(w, gradient, hessian, self.radius, self.plan.slope)
        curves = q <= -self.plan.deep
        new = np.where(
            slides[:, None],
            w + self.plan.pace * (vertex - w),
            w + np.where(curves, self.plan.theta, 0.0)[:, None] * h,
        )
        return new, ~slides & ~curves

    def grain(self, scale: float) -> float:
        return self.radius


def curved_steps(w: Array, gradient: Array, hessian: Array, radius: float, slope: float) -> tuple[Array, Array]:
    """h = u - w with the least q = <h, H h> over ||w + h|| <= radius and <g, h> <= slope, (k, d), and q, (k,).

    Without the second condition u is a trust-region step about 0. Where that breaks the condition, the least lies on
    the condition's boundary, a trust-region problem again, or is another stationary point of the ball.
    """
    pull = np.einsum("kij,kj->ki", hessian, w)
    best = trust_region_steps(-2 * pull, 2 * hessian, radius)[0] - w
    over = np.einsum("kd,kd->k", gradient, best) > slope
    if np.any(over):
        w, gradient, bends = w[over], gradient[over], hessian[over]
        others = stationary(2 * bends, -2 * pull[over], radius) - w[:, None]
        allowed = np.einsum("kd,kcd->kc", gradient, others) <= slope
        candidates = np.concatenate(
            [np.where(allowed[..., None], others, 0.0), on_the_edge(w, gradient, bends, radius, slope)[:, None]], axis=1
        )
        values = np.einsum("kci,kij,kcj->kc", candidates, bends, candidates)
        best[over] = candidates[np.arange(len(w)), values.argmin(axis=1)]
    return best, np.asarray(np.einsum("ki,kij,kj->k", best, hessian, best))


def stationary(A: Array, a: Array, radius: float) -> Array:
    """All u of norm radius with (A + lam I) u = -a for some lam, (k, 2d, d); 0 for what is none.

    These lam are eigenvalues of [[-A, aa'/radius^2], [I, -A]] (Adachi, Iwata, Nakatsukasa and Takeda 2017).
    """
    k, d = a.shape
    eye = np.broadcast_to(np.eye(d), (k, d, d))
    outer = a[:, :, None] * a[:, None, :] / radius**2
    lams = np.linalg.eigvals(np.concatenate([np.concatenate([-A, outer], 2), np.concatenate([eye, -A], 2)], 1))
    values, vectors = np.linalg.eigh(A)
    parts = np.einsum("kij,ki->kj", vectors, a)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = -np.einsum("kij,kcj->kci", vectors, parts[:, None] / (values[:, None] + lams.real[..., None]))
        off = np.abs(np.linalg.norm(u, axis=2) / radius - 1)
        return np.where((off < 1e-6)[..., None], u / np.linalg.norm(u, axis=2)[..., None] * radius, 0.0)


def on_the_edge(w: Array, gradient: Array, hessian: Array, radius: float, slope: float) -> Array:
    """The least q where <g, h> = slope: a trust-region problem in d - 1 directions; 0 if none is inside."""
    size = np.linalg.norm(gradient, axis=1)
    normal = gradient / size[:, None]
    level = np.einsum("kd,kd->k", normal, w) + slope / size  # <normal, u>
    inner = np.sqrt(np.maximum(radius**2 - level**2, 0.0))
    if w.shape[1] == 1:
        return np.where((np.abs(level) <= radius)[:, None], level[:, None] * normal - w, 0.0)
    across = np.linalg.svd(normal[:, None, :])[2][:, 1:, :]  # orthonormal rows, (k, d-1, d)
    base = level[:, None] * normal - w
    reduced = across @ hessian @ across.transpose(0, 2, 1)
    pull = np.einsum("kij,kjl,kl->ki", across, hessian, base)
    steps = trust_region_steps(2 * pull, 2 * reduced, np.maximum(inner, np.finfo(float).tiny))[0]
    found = base + np.einsum("kj,kjd->kd", steps, across)
    return np.where((np.abs(level) <= radius)[:, None], found, 0.0)


@dataclass(frozen=True)
class DPGDSOConstrained(Solver):
    """DP-GD-SO over an l2 ball. `share` is Φ; step sizes and r are those of the proof of Theorem 4.3.3.

    Definition 4.3.4 compares a loss with α and with √(ρα), which agree in units where D, the diameter, is 1: there the
    theorem is taken, with MD² for M and ρD³ for ρ. `aim` is α as a share of GD, the most that <∇F, w - w*> can be.
    `bending` is ρ, by default from the loss; `steps` by default 48(MB/α² + B√ρ/(Φ³α^1.5)), at most 200. A noisy
    Hessian is asked for in every round and used where the algorithm does. A run that does not stop lets out where it
    ends.
    """

    aim: float = share(0.1)
    share: float = share(1.0)
    steps: int | None = count()
    bending: float | None = positive()
    start: tuple[float, ...] | None = start_setting()
    name: ClassVar[str] = "dp_gd_so_constrained"
    for_estimators: ClassVar[bool] = False  # it seeks second-order stationary points

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        must_meet(saddle_points.low_rank, data)
        if not isinstance(data.constraint, L2Ball):
            limit = "an l2 ball, over which step 8 can be solved"
            raise InvalidInput("constraint", data.constraint, limit, "Pass constraint=L2Ball(1.0).")

    def plan(self, data: Problem, guarantee: Guarantee) -> Plan:
        D = data.diameter
        M, rho = (loss_smoothness(data) + data.l2) * D**2, (self.bending or bend(data)) * D**3
        alpha = self.aim * data.data_lipschitz * D
        numbers = {"D_set": 1.0, "M_second": M, "rho_h": rho, "alpha_sosp": alpha, "Phi_share": self.share}
        theta, slope = (float(c.evaluate(**numbers)) for c in (theory.theta_corrected, theory.slope_corrected))
        many = 48 * float(theory.steps.evaluate(**numbers, B_risk=largest_gap(data)))
        pace, deep = alpha / (2 * M), self.share * math.sqrt(rho * alpha) / 2
        steps = self.steps or int(min(MOST_STEPS, math.ceil(many)))
        return Plan(steps, min(1.0, pace), min(1.0, theta), slope, alpha, deep)

    def release(self, data: Problem, plan: Plan) -> Composed:
        # privacy: dwang20.theorem4.3.4.low_rank
        numbers = constants(data)
        equal = {"sigma_n": numbers["G"], "sigma_H": numbers["M_second"] * math.sqrt(numbers["hessian_rank"])}
        return theory.released.at(n=data.n, T=plan.steps, **numbers, **equal)

    def method(self, data: Problem, plan: Plan, released: Released) -> InBall:
        assert isinstance(data.constraint, L2Ball)
        return InBall(starting_point(data, self.start), plan.steps, data.constraint.radius, plan)

    def stated(self, data: Problem, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]:
        """With c₂ = c₃ = 16: the printed theorem names none."""
        aim, claims = approximate(guarantee), [theory.privacy_corrected, theory.hessian_noise]
        numbers = {"n": data.n, "d": data.d, "T": plan.steps, "eps": aim.eps, "delta": aim.delta, **constants(data)}
        on_gradients, on_hessians = (float(claim.evaluate(**numbers)) for claim in claims)
        return with_both(self.release(data, plan), on_gradients, on_hessians), claims

    def certifying(self, data: Problem, plan: Plan) -> Sequence[Claim]:
        return [saddle_points.low_rank]

    def taken(self, done: Calibrated) -> int:
        """T at most; each asks for a gradient and a Hessian."""
        return int(done.plan.steps)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=2, bending=1.0), bug=0.3)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: gradients differ by 2G/n everywhere, Hessians not at all."""
        return opposite_pair(5, L2Ball(1.0))
