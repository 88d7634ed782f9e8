"""What chains and quadrature show of the Langevin diffusion. Claims: bounds/library/nonconvex/langevin.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.library.nonconvex import langevin
from dpcheck.evidence.property_checks import Property
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.problems.losses import Array, Labels, Loss, Sigmoid
from dpcheck.problems.problem import Problem

CHAINS = 2000
WITHIN = math.sqrt(math.log(2e6) / (2 * CHAINS))  # of an empirical distribution function, missed once in 1e6 (DKW)


@dataclass(frozen=True)
class Waves(Loss):
    """1 - cos(m - y): 1-Lipschitz and 1-smooth, with a minimum every 2π."""

    convex: ClassVar[bool] = False
    labels: ClassVar[Labels] = "real"

    def value(self, margin: Any, y: Any) -> Any:
        return 1 - np.cos(np.subtract(margin, y))

    def derivative(self, margin: Any, y: Any) -> Any:
        return np.sin(np.subtract(margin, y))

    def second_derivative(self, margin: Any, y: Any) -> Any:
        return np.cos(np.subtract(margin, y))

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 1.0

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return -1.0, 1.0


def three_wells(n: int = 1) -> Problem:
    """F(w) = 1 - cos w + w²/40."""
    return Problem(np.ones((n, 1)), np.zeros(n), Waves(), l2=float(langevin.LAM))


def random_risk(case: Mapping[str, Any]) -> Problem:
    """A few sigmoid losses on the line, not convex, with a regulariser."""
    rng = np.random.default_rng(int(case["seed"]))
    return Problem(rng.uniform(-1, 1, (8, 1)), rng.choice([-1.0, 1.0], 8), Sigmoid(), l2=case["ridge"])


def sigmoid_sizes(case: Mapping[str, Any]) -> tuple[float, float]:
    """Gradient, Hessian and value at 0 of one record's sigmoid loss, each over the constant it should have."""
    rng, d = np.random.default_rng(int(case["seed"])), int(case["d"])
    x = rng.normal(size=d)
    x *= case["norm"] / np.linalg.norm(x)
    problem = Problem(x[None], np.array([1.0 if case["sign"] else -1.0]), Sigmoid())
    w = case["far"] * x / case["norm"] + case["aside"] * rng.normal(size=d)
    steep, bent = np.linalg.norm(problem.gradient(w)), np.linalg.norm(problem.hessian(w), 2)
    found = max(4 * float(steep), 6 * math.sqrt(3) * float(bent), 2 * float(problem.value(np.zeros(d))))
    return found, float(langevin.sigmoid.evaluate()) * (1 + 1e-12)


def chains(
    problem: Problem, heat: float, eta: float, steps: int, seed: int, start: float = 0.0, k: int = CHAINS
) -> Array:
    """k chains at this temperature, the end of each."""
    noise = math.sqrt(2 / (eta * heat))
    return noisy_descent(
        problem, steps=steps, step_size=eta, noise_std=noise, seed=seed, trials=k, start=[start], precision="double"
    ).w[:, 0]


def paths(problem: Problem, heat: float, eta: float, steps: int, seed: int, start: float, k: int) -> Array:
    """The same, all points of each, (steps + 1, k)."""
    found = noisy_descent(
        problem, steps=steps, step_size=eta, noise_std=math.sqrt(2 / (eta * heat)), seed=seed, trials=k, start=[start],
        trace=True, precision="double",
    )  # fmt: skip
    assert found.trace is not None
    return np.asarray(found.trace.points[..., 0])


def gibbs(problem: Problem, heat: float) -> tuple[Array, Array]:
    """Points of the line and the Gibbs law's weights there, by quadrature over a thousand deviations and more."""
    reach = 2 * problem.data_lipschitz / problem.l2 + 12 / math.sqrt(heat * problem.l2)
    at = np.linspace(-reach, reach, 20_001)
    logs = -heat * problem.value(at[:, None])
    weights = np.exp(logs - logs.max())
    return at, weights / weights.sum()


def off_the_gibbs_law(case: Mapping[str, Any], stirred: float = 1.0) -> tuple[float, float]:
    """The largest gap between the distribution functions of long chains and of the Gibbs law at `stirred` its heat."""
    problem, heat = random_risk(case), case["heat"]
    eta = 0.02 / problem.smoothness  # a step leaves an error of its own of this order
    ends = np.sort(chains(problem, heat * stirred, eta, math.ceil(5 / (eta * problem.l2)), int(case["seed"])))
    at, weights = gibbs(problem, heat)
    cdf = np.interp(ends, at, np.cumsum(weights))
    ranks = np.arange(CHAINS)
    return float(np.maximum(cdf - ranks / CHAINS, (ranks + 1) / CHAINS - cdf).max()), WITHIN + 0.02


def gibbs_excess(case: Mapping[str, Any], squared: bool = False) -> tuple[float, float]:
    """E F - min F, or E w², under the Gibbs law against the claim's bound."""
    problem = random_risk(case)
    at, weights = gibbs(problem, case["heat"])
    values = {"d": 1, "heat": case["heat"], "L": problem.data_lipschitz, "ridge": problem.l2}
    if squared:
        return float(weights @ at**2), float(langevin.second_moment.evaluate(**values))
    risk = problem.value(at[:, None])
    M = problem.smoothness - problem.l2
    return float(weights @ risk - risk.min()), float(langevin.explicit_risk.evaluate(**values, M=M))


def leaves_the_well(case: Mapping[str, Any]) -> tuple[float, float]:
    """The share of chains from 2π that were beyond π, five deviations down, against the bound for the diffusion."""
    eta, k = 0.01, 400
    steps = math.ceil(case["t"] / eta)
    path = paths(three_wells(), case["heat"], eta, steps, int(case["seed"]), 2 * math.pi, k)
    share = float((path.min(axis=0) < math.pi).mean())
    bound = float(langevin.stays.evaluate(heat=case["heat"], lasting=steps * eta))
    return share - 5 * math.sqrt(share * (1 - share) / k), min(1.0, bound)


def entropy(mean: float, variance: float, stiff: float) -> float:
    """D(N(mean, variance) ‖ N(0, 1/stiff))."""
    return (stiff * (variance + mean**2) - 1 - math.log(stiff * variance)) / 2


def normal_decay(case: Mapping[str, Any]) -> tuple[float, float]:
    """F = stiff·w²/2, from a normal law: entropy after a time, exactly; the Sobolev constant is 1/stiff."""
    stiff, t = case["stiff"], case["t"]
    later = (case["mean"] * math.exp(-stiff * t), 1 / stiff + (case["variance"] - 1 / stiff) * math.exp(-2 * stiff * t))
    values = {"entropy0": entropy(case["mean"], case["variance"], stiff), "lasting": t, "sobolev": 1 / stiff}
    return entropy(*later, stiff), float(langevin.decay.evaluate(**values))


def normal_transport(case: Mapping[str, Any]) -> tuple[float, float]:
    """W₂ between two normal laws, exactly, where the Dirichlet form is α times the usual one."""
    stiff, alpha = case["stiff"], case["alpha"]
    apart = math.hypot(case["mean"], math.sqrt(case["variance"]) - 1 / math.sqrt(stiff))
    far = entropy(case["mean"], case["variance"], stiff)
    return apart, float(langevin.transport.evaluate(sobolev=1 / (stiff * alpha), form=alpha, entropy=far))


RISKS = {"seed": (0, 10**6), "ridge": (0.05, 1.0), "heat": (1.0, 30.0)}
RECORDS = {
    "seed": (0, 10**6), "d": (1, 5), "norm": (0.01, 1.0), "sign": (0, 1), "far": (-5.0, 5.0), "aside": (0.0, 2.0)
}  # fmt: skip
ON_THE_LINE = "sigmoid risks on the line, by quadrature"
NORMALS = {"mean": (0.01, 5.0), "variance": (0.05, 5.0), "stiff": (0.1, 5.0)}
CHECKS = {
    "dwang20.section4.2.2.sigmoid": [Property(sigmoid_sizes, RECORDS, "parameters and records by search")],
    "dwang20.equation4.16": [Property(
        off_the_gibbs_law, {**RISKS, "heat": (1.0, 8.0), "ridge": (0.3, 1.0)},
        "2000 long chains on sigmoid risks against the Gibbs law by quadrature; DKW at 1e-6, 0.02 for the step size",
        examples=12)],
    "dwang20.section4.2.1.decay": [Property(normal_decay, {**NORMALS, "t": (0.01, 3.0)}, "normal laws, exactly")],
    "dwang20.section4.2.1.transport": [
        Property(normal_transport, {**NORMALS, "alpha": (0.1, 10.0)}, "normal laws, exactly")],
    "dwang20.lemma4.2.2.explicit": [Property(gibbs_excess, RISKS, ON_THE_LINE, examples=40)],
    "dwang20.lemma4.2.2.moment": [Property(partial(gibbs_excess, squared=True), RISKS, ON_THE_LINE, examples=40)],
    "dwang20.theorem4.2.3.stays": [Property(
        leaves_the_well, {"seed": (0, 10**6), "heat": (6.0, 16.0), "t": (0.5, 4.0)}, "400 chains", examples=10)],
}  # fmt: skip
