"""Reports on half spheres, attacked and averaged. Claims: bounds/library/local/ldp_l2_randomizer.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpcheck import local
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.bounds.library.local import ldp_l2_randomizer as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.kernels.reports import unbiased_radius
from dpcheck.solvers.local.ldp_l2_randomizer import LdpL2Randomizer


def attacked() -> tuple[Any, Any, Guarantee]:
    claimed = PureDP(1.0, relation=LOCAL)
    return LdpL2Randomizer().mechanism(claimed, "stated", transcript=True), LdpL2Randomizer().worst_pair(), claimed


def largest_loss(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact loss of any two records of the ball: directions, lengths and dimension are searched."""
    rng = np.random.default_rng(case["seed"])
    one = local.L2Ball(case["eps"], case["d"])
    rows = rng.standard_normal((2, case["d"]))
    rows[1] = np.where(case["turned"] == 1, -rows[0], rows[1])
    rows *= (np.array([case["first"], case["second"]]) / np.linalg.norm(rows, axis=1))[:, None]
    return one.loss(*rows), one.eps


def spread_of_a_coordinate(case: Mapping[str, Any]) -> tuple[float, float]:
    """2/t²·log E exp(t(z - Ez)) of the coordinate along x, by quadrature over the sphere's angle, and the bound."""
    d, scale = case["d"], 1 / math.tanh(case["eps"] / 2)  # of a ball of radius 1
    nodes, weights = np.polynomial.legendre.leggauss(200)
    angle = (nodes + 1) * np.pi / 4
    weights = weights * np.sin(angle) ** (d - 2)
    z = scale * unbiased_radius(d) * np.cos(angle)  # on the own side
    t = case["t"] * math.sqrt(d) / (scale * unbiased_radius(d))
    own = (1 + case["norm"] / scale) / 2
    exponents = np.concatenate([t * (z - case["norm"]), -t * (z + case["norm"])])
    chances = np.concatenate([own * weights, (1 - own) * weights]) / weights.sum()
    bound = theory.explicit.evaluate(r_ball=1.0, eps=case["eps"])
    return 2 / t**2 * float(logsumexp(exponents, b=chances)), float(bound)


CASES = {"seed": (0, 1000), "d": (1, 30), "eps": (0.01, 8.0), "first": (0.001, 1.0), "second": (0.001, 1.0)}
COORDINATES = {"d": (2, 60), "eps": (0.01, 1.0), "norm": (0.0, 1.0), "t": (0.01, 6.0)}
CHECKS = {
    "dwang20.lemma5.3.1.explicit": [
        Property(spread_of_a_coordinate, COORDINATES, "the exact moments of the coordinate along x, by quadrature")
    ],
    "dwang20.equation5.75.privacy": [
        AuditCheck(attacked, "all reports seen; a user at x or at -x"),
        Property(largest_loss, {**CASES, "turned": (0, 1)}, "the exact loss between any two records of the ball"),
    ],
}
