"""The majority of private answers, attacked and counted. Claims: bounds/library/latent/private_majority_vote.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special, stats

from dpcheck.bounds.language.guarantees import LOCAL_ATTRIBUTE, Guarantee, PureDP
from dpcheck.bounds.library.latent import private_majority_vote as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.solvers.latent.private_majority_vote import PrivateMajorityVote


def attacked() -> tuple[Any, Any, Guarantee]:
    claimed = PureDP(1.0, relation=LOCAL_ATTRIBUTE)
    return PrivateMajorityVote().mechanism(claimed, "stated"), PrivateMajorityVote().worst_pair(), claimed


def exact_vote_error(n: int, k: int, eps: float) -> float:
    """The chance that fewer than n/2 of n reports are right, k of them of experts; y* = 1, so that ties are right."""
    right = np.arange(k + 1)
    chances = stats.binom.pmf(right, k, special.expit(eps))
    return float(chances @ stats.binom.cdf(math.ceil(n / 2) - 1 - right, n - k, 0.5))


def sized(case: Mapping[str, Any]) -> tuple[int, int]:
    return math.ceil(17 * case["k"] ** 2 * case["more"]), case["k"]


def at_least_sharper(case: Mapping[str, Any]) -> tuple[float, float]:
    """The stated lower bound, and the exact error, which must not be below."""
    n, k = sized(case)
    return float(theory.any_epsilon.evaluate(experts=k, n=n)), exact_vote_error(n, k, case["eps"])


def at_least_stated(case: Mapping[str, Any]) -> tuple[float, float]:
    n, k = sized(case)
    return float(theory.left.evaluate(experts=k, n=n, eps=case["eps"])), exact_vote_error(n, k, case["eps"])


def off_normal(case: Mapping[str, Any]) -> tuple[float, float]:
    """Of n two-point variables, at every jump of the distribution, and the bound."""
    n, p = case["n"], case["p"]
    law, sd = stats.binom(n, p), math.sqrt(p * (1 - p))
    at = np.arange(n + 1)
    normal = stats.norm.cdf((at - n * p) / (sd * math.sqrt(n)))
    far = max(np.abs(law.cdf(at) - normal).max(), np.abs(law.cdf(at - 1) - normal).max())
    third = p * (1 - p) * (p**2 + (1 - p) ** 2)
    return float(far), float(theory.lemma4_corrected.evaluate(n=n, deviation=sd, third=third))


INSTANCES = {"k": (7, 60), "more": (1.0, 100.0)}
CHECKS = {
    "dwang20.theorem7.1.4.privacy": [AuditCheck(attacked, "the majority of one report; the answer is 1 or 0")],
    "dwang20.theorem7.1.4": [
        Property(at_least_stated, {**INSTANCES, "eps": (1.7347, 12.0)}, "the bound over the exact error")
    ],
    "dwang20.theorem7.1.4.sharper": [
        Property(at_least_sharper, {**INSTANCES, "eps": (0.001, 12.0)}, "the bound over the exact error, at any ε")
    ],
    "dwang20.lemma7.1.4.corrected": [
        Property(off_normal, {"n": (1, 400), "p": (0.01, 0.99)}, "two-point laws, whose distance is exact")
    ],
}
