"""Exact laws of the exponential mechanism on a net. Claims: bounds/library/nonconvex/expmech_net_erm.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.library.nonconvex import expmech_net_erm as theory
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.problems.losses import Array, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.expmech_net_erm import NetERM, net, scores


def random_pair(case: Mapping[str, Any]) -> tuple[Problem, Problem]:
    """Sigmoid losses, one record of which gives way to another; at the corners of the domain every other time."""
    rng, n, d = np.random.default_rng(int(case["seed"])), int(case["n"]), int(case["d"])
    X, far = in_unit_ball(rng, n, d), in_unit_ball(rng, 1, d)[0]
    if case["seed"] % 2:
        X[0] = np.eye(d)[0]
        far = -X[0]
    first = Problem(X, rng.choice([-1.0, 1.0], n), Sigmoid(), l2=case["ridge"])
    return first, first.replace(0, far, float(rng.choice([-1.0, 1.0])))


def points_of(problem: Problem, mesh: float) -> Array:
    """The net of the problem's ball, `mesh` of its radius fine."""
    radius = problem.data_lipschitz / problem.l2
    return net(problem.d, radius, mesh * radius)


def values_of(problem: Problem) -> dict[str, float]:
    return {"L": problem.data_lipschitz, "ridge": problem.l2, "n": problem.n}


def log_law(problem: Problem, points: Array, eps: float) -> Array:
    """The log-probabilities of all points, with the claim's own scale."""
    return special.log_softmax(scores(problem, points) / float(theory.privacy.evaluate(**values_of(problem), eps=eps)))


def largest_loss(case: Mapping[str, Any]) -> tuple[float, float]:
    """The largest log-ratio of the two laws, exactly, against ε."""
    first, second = random_pair(case)
    points = points_of(first, case["mesh"])
    laws = [log_law(p, points, case["eps"]) for p in (first, second)]
    return float(np.abs(laws[0] - laws[1]).max()), case["eps"]


def largest_move(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a score moves on the net, against the claim."""
    first, second = random_pair(case)
    points = points_of(first, case["mesh"])
    moved = np.abs(scores(first, points) - scores(second, points)).max()
    return float(moved), float(theory.sensitivity.evaluate(**values_of(first)))


def probability_above(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact probability that a draw's excess risk is above the explicit bound, against γ."""
    problem, _ = random_pair({**case, "d": 1})
    mesh = case["mesh"] * problem.data_lipschitz / problem.l2
    points, gamma = points_of(problem, case["mesh"]), case["gamma"]
    line = np.linspace(-1, 1, 20_001)[:, None] * problem.data_lipschitz / problem.l2
    excess = problem.value(points) - problem.value(line).min()
    bound = theory.explicit.evaluate(**values_of(problem), d=1, eps=case["eps"], gamma=gamma, mesh=mesh)
    law = np.exp(log_law(problem, points, case["eps"]))
    return float(law[excess > float(bound)].sum()), gamma


def attacked() -> tuple[Any, Any, PureDP]:
    solver, claimed = NetERM(mesh=0.1), PureDP(1.0)
    return solver.mechanism(claimed, "stated"), solver.worst_pair(), claimed


PAIRS = {"seed": (0, 10**6), "n": (1, 8), "d": (1, 2), "ridge": (0.05, 2.0), "mesh": (0.05, 0.9)}
CHECKS = {
    "dwang20.theorem4.2.4.privacy": [
        Property(largest_loss, {**PAIRS, "eps": (0.1, 5.0)}, "exact laws on neighbouring data"),
        AuditCheck(attacked, "three linear losses, one of which turns round"),
    ],
    "dwang20.theorem4.2.4.sensitivity": [Property(largest_move, PAIRS, "sigmoid losses, corners of the domain")],
    "dwang20.theorem4.2.4.explicit": [
        Property(probability_above, {**PAIRS, "eps": (0.1, 50.0), "gamma": (0.01, 0.5)}, "exact laws on the line")
    ],
}
