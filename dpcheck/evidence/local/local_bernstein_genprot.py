"""The law of the place that a user sends, exactly, over public numbers and pairs of losses.

Claims: bounds/library/local/local_bernstein_genprot.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.bounds.library.local import local_bernstein_genprot as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.solvers.local.local_bernstein_genprot import LocalBernsteinGenProt

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)  # exact for products of up to 127 linear factors


def place_law(kept: np.ndarray) -> np.ndarray:
    """P(g = t) when t is kept with these chances: ∫ Π(1 - p_s u) over s ≠ t is E 1/(1 + how many others)."""
    u = (NODES + 1) / 2
    others = 1 - np.outer(u, kept)
    product = others.prod(axis=1)
    alone = (WEIGHTS / 2) @ (product[:, None] / others)
    return np.asarray(kept * alone + np.prod(1 - kept) / len(kept))


def kept_chances(y: np.ndarray, v: float, eps: float) -> np.ndarray:
    """½·f_v(y)/f_0(y); never outside [½e^-ε, ½e^ε], so that the printed clipping does nothing."""
    return np.asarray(0.5 * np.exp(eps * (np.abs(y) - np.abs(y - v))))


def loss(y: np.ndarray, v: float, other: float, eps: float) -> float:
    """The largest log ratio of the two laws."""
    first, second = (place_law(kept_chances(y, x, eps)) for x in (v, other))
    return float(np.abs(np.log(first / second)).max())


def measured(case: Mapping[str, Any]) -> tuple[float, float]:
    """Some y above 1, some below 0, the rest between; v and v' anywhere, and at the ends."""
    eps, total = float(case["eps"]), int(case["T"])
    above = min(int(case["above"]), total)
    between = min(int(case["between"]), total - above)
    inner = np.random.default_rng(int(case["seed"])).random(between)
    y = np.concatenate([np.full(above, 2.0), inner, np.full(total - above - between, -1.0)])
    pairs = [(0.0, 1.0), (float(case["v"]), float(case["other"]))]
    return max(loss(y, *pair, eps) for pair in pairs), float(theory.theorem12_privacy.evaluate(eps=eps))


CASES = {
    "eps": (0.01, 0.25), "T": (1, 60), "above": (0, 60), "between": (0, 5), "seed": (0, 1000),
    "v": (0.0, 1.0), "other": (0.0, 1.0),
}  # fmt: skip



def attacked() -> tuple[Any, Any, Guarantee]:
    """One of four users, by everything that is public of all of them."""
    solver, claimed = LocalBernsteinGenProt(cells=2, numbers=4), PureDP(1.0, relation=LOCAL)
    return solver.mechanism(claimed, transcript=True), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem5.1.12.privacy": [Property(measured, CASES, "exact laws of the place, T up to 60")],
    "dwang20.theorem5.1.12.flips": [AuditCheck(attacked, "numbers and places seen; a loss of 0 or of 1 everywhere")],
}
