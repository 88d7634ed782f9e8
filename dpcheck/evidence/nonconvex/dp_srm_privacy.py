"""The lemmas behind the privacy of DP-SRM against exact divergences. Claims: bounds/library/nonconvex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize, special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.nonconvex import dp_srm_privacy as lemmas
from dpcheck.evidence.checks import Property

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


STEP = 0.02  # of a sum over the line; what is summed is as smooth as a normal density
PARTS = np.linspace(0.0, 1.0, 12)


def largest_share(claim: Claim, share: float, ratio: float, most: float) -> tuple[float, float]:
    """The largest divergence over the claim's, at orders up to the largest that it allows; and 1."""
    orders = 1.01 + PARTS * (most - 1.01) * (1 - 1e-9)
    stated = claim.evaluate(share=share, noise2=ratio, srm_order=orders)
    return float((divergences(share, ratio, orders) / stated).max()), 1.0


def amplified(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 4.3.7 corrected."""
    share, ratio = case["share"] ** 3, case["ratio"]

    def allowed(order: float) -> float:
        return 2 / 3 * ratio * math.log(1 / (share * order * (1 + ratio))) - (order - 1)

    if allowed(1.01) <= 0:
        return 0.0, 1.0
    most = optimize.brentq(allowed, 1.01, 1.01 + 2 * ratio * math.log(1 / share) + 1)
    return largest_share(lemmas.subsampled_corrected, share, ratio, most)


def theorem9(case: Mapping[str, Any]) -> tuple[float, float]:
    """The same pair's divergence of a whole order against (4.10.1)."""
    share, ratio, order = case["share"] ** 3, case["ratio"], int(case["order"])
    terms = [math.log(2) + j * math.log(share) + math.log(math.comb(order, j)) + (j - 1) * j / (2 * ratio)
             for j in range(3, order + 1)]  # fmt: skip
    second = share**2 * math.comb(order, 2) * min(4 * math.expm1(1 / ratio), 2 * math.exp(1 / ratio))
    bound = float(np.logaddexp.reduce([math.log(second), *terms]))
    return float(divergences(share, ratio, np.array([float(order)]))[0]), float(np.logaddexp(0.0, bound)) / (order - 1)


def poisson_divergence(share: float, sigma: float, order: float) -> float:
    """Of one noisy sum to which a record belongs with probability `share`, at a distance of 1, either way round.

    The likelihood ratio is 1 + u: its moments of order a and 1 - a, less 1 and what is linear in u, whose mean is 0.
    """
    x = np.arange(-12.0, order / sigma + 12.0, STEP)
    u = share * np.expm1(x / sigma - 1 / (2 * sigma**2))
    worst = 0.0
    for p in (order, 1 - order):
        power = p * np.log1p(u)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            plain, taylor = np.log(np.expm1(power) - p * u), np.log(p * (p - 1) / 2 * u**2)
            bend = np.select([np.abs(power) < 1e-4, power > 30], [taylor, power], plain)
        logs = bend - x**2 / 2 + math.log(STEP / math.sqrt(2 * math.pi))
        worst = max(worst, float(np.logaddexp(0.0, special.logsumexp(logs))) / (order - 1))
    return worst


def quoted_accountant(case: Mapping[str, Any]) -> tuple[float, float]:
    """That divergence against the leading term alone of what Remark 4.3.8 quotes."""
    share, sigma = case["share"] ** 3 / 2, case["sigma"]
    most = sigma**2 * math.log(1 / (share * sigma)) if share * sigma < 1 else 0.0
    if most <= 1.02:
        return 0.0, 1.0
    order = 1.01 + case["part"] * (most - 1.01) * 0.999
    stated = lemmas.remark8.evaluate(share=share, srm_order=order, sigma=sigma, c1=0.0)
    return poisson_divergence(share, sigma, order), float(stated)


def other_limit(case: Mapping[str, Any]) -> tuple[float, float]:
    """The limit that the end of section 4.10 prints."""
    share, ratio = case["share"] ** 3, case["ratio"]
    most = math.log(1 / (share * (1 + ratio)))
    return largest_share(lemmas.printed_condition, share, ratio, most) if most > 1.02 else (0.0, 1.0)


CHECKS = {
    "lwang21.lemma4.3.7.subsampled.corrected": [
        Property(
            amplified, {"share": (0.02, 0.99), "ratio": (0.7, 60.0)}, "a dominating pair, orders α that it allows",
            examples=40,
        )
    ],
    "lwang21.equation4.10.1": [
        Property(
            theorem9, {"share": (0.05, 0.9), "ratio": (0.7, 60.0), "order": (2, 40)}, "a dominating pair, α to 40"
        )
    ],
    "lwang21.remark4.3.8": [
        Property(
            quoted_accountant, {"share": (0.02, 0.99), "sigma": (1.0, 30.0), "part": (0.0, 1.0)},
            "c₁ = 0: the leading term alone, one step",
        )
    ],
    "lwang21.section4.10.condition": [
        Property(
            other_limit, {"share": (0.02, 0.99), "ratio": (0.7, 60.0)}, "a dominating pair, orders α that it allows",
            examples=40,
        )
    ],
}  # fmt: skip
