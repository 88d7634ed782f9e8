"""The lemmas behind the privacy of DP-SRM against exact divergences. Claims: bounds/library/nonconvex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize, special

from dpcheck.bounds.library.nonconvex import dp_srm_privacy as lemmas
from dpcheck.evidence.property_checks import Property

NODES, WEIGHTS = special.roots_legendre(400)


def divergences(share: float, ratio: float, orders: np.ndarray) -> np.ndarray:
    """Renyi divergences of one step's dominating pair (loss_pairs.py): upper bounds for replace-one neighbours.

    With u = share (e^(x/s - 1/(2s^2)) - 1) over standard normal x, s^2 = ratio: where u > 0 the pair has likelihood
    ratios 1 + u and, in the mirror, 1/(1 + u), so the moment is 1 + E (1+u)^a + (1+u)^(1-a) - 2 - u over u > 0.
    """
    s, a = math.sqrt(ratio), orders[:, None]
    low, high = 1 / (2 * s), a / s + 12.0
    x = low + (NODES + 1) / 2 * (high - low)
    u = share * np.expm1(x / s - 1 / (2 * ratio))
    power = a * np.log1p(u)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = np.log(np.expm1(power) + np.expm1((1 - a) * np.log1p(u)) - u)
        taylor = np.log(a * (a - 1) * u**2 * (1 - u / 2))  # near 0 the difference loses its digits
        bend = np.select([power < 1e-4, power > 30], [taylor, power], plain)
    logs = bend - x**2 / 2 + np.log(WEIGHTS * (high - low) / math.sqrt(8 * math.pi))
    return np.asarray(np.logaddexp(0.0, special.logsumexp(logs, axis=1)) / (orders - 1))


PARTS = np.linspace(0.0, 1.0, 12)


def amplified(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 4.3.7 corrected: the largest divergence over the claim's, at orders up to the largest that it allows."""
    share, ratio = case["share"] ** 3, case["ratio"]

    def allowed(order: float) -> float:
        return 2 / 3 * ratio * math.log(1 / (share * order * (1 + ratio))) - (order - 1)

    if allowed(1.01) <= 0:
        return 0.0, 1.0
    most = optimize.brentq(allowed, 1.01, 1.01 + 2 * ratio * math.log(1 / share) + 1)
    orders = 1.01 + PARTS * (most - 1.01) * (1 - 1e-9)
    stated = lemmas.subsampled_corrected.evaluate(share=share, noise2=ratio, srm_order=orders)
    return float((divergences(share, ratio, orders) / stated).max()), 1.0


def theorem9(case: Mapping[str, Any]) -> tuple[float, float]:
    """The same pair's divergence of a whole order against (4.10.1), its sum added up."""
    share, ratio, order = case["share"] ** 3, case["ratio"], int(case["order"])
    j = np.arange(3, order + 1)
    choose = special.gammaln(order + 1) - special.gammaln(j + 1) - special.gammaln(order - j + 1)
    terms = float(np.sum(2 * np.exp(j * math.log(share) + choose + (j - 1) * j / (2 * ratio))))
    stated = lemmas.theorem9.evaluate(share=share, noise2=ratio, whole_order=order, lemma_sum=terms)
    return float(divergences(share, ratio, np.array([float(order)]))[0]), float(stated)


CHECKS = {
    "lwang21.lemma4.3.7.subsampled.corrected": [
        Property(
            amplified, {"share": (0.02, 0.99), "ratio": (0.7, 60.0)}, "a dominating pair, orders α that it allows",
            examples=40,
        )
    ],
    "lwang21.equation4.10.1": [
        Property(
            theorem9, {"share": (0.05, 0.9), "ratio": (0.7, 60.0), "order": (2, 20)}, "a dominating pair, α to 20"
        )
    ],
}
