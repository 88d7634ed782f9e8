"""Bounds that n users contradict, and the family (6.37). Claims: bounds/library/matrix/private_assouad.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.matrix import private_assouad as theory
from dpcheck.evidence.property_checks import Property

USERS = {"n": (1, 1_000_000), "eps": (0.05, 0.34), "h": (0.01, 0.5)}
NOTHING = 1e-300  # what mixtures that are equal tell, as a positive number


def reached(claim: Claim, *told: str) -> Any:
    """The bound on four laws with r = 1, against the error of randomised response.

    Λ has two rows: Bernoulli(1/2) for v = + and either, Bernoulli(1/2 ± h) for v = -. The mixtures are equal; the
    parameters h apart, so that α = h²/2. The mean of n debiased reports errs by 1/(4n tanh²(ε/2)) at most, squared.
    """

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        alpha = case["h"] ** 2 / 2
        zeros = dict.fromkeys(told, NOTHING)
        bound = claim.evaluate(n=case["n"], eps=case["eps"], assouad_r=1, assouad_alpha=alpha, **zeros)
        return float(bound), 1 / (4 * case["n"] * math.tanh(case["eps"] / 2) ** 2)

    return measure


def kept(case: Mapping[str, Any]) -> tuple[float, float]:
    """The corrected bound on the same laws, whose pairs are h apart in total variation."""
    values = {"n": case["n"], "eps": case["eps"], "assouad_r": 1, "assouad_alpha": case["h"] ** 2 / 2}
    bound = theory.theorem6_corrected.evaluate(assouad_tv=case["h"], **values)
    return max(0.0, float(bound)), 1 / (4 * case["n"] * math.tanh(case["eps"] / 2) ** 2)


def told(case: Mapping[str, Any]) -> tuple[float, float]:
    """χ² of the reports of a random channel, against Lemma 6.2.12."""
    rng, eps = np.random.default_rng(case["seed"]), case["eps"]
    inputs, outputs = case["inputs"], case["outputs"]
    channel = np.exp(eps * rng.random((inputs, outputs)) ** case["edge"])
    channel /= channel.sum(axis=1, keepdims=True)
    eps = float(np.log(channel.max(axis=0) / channel.min(axis=0)).max())
    one, other = rng.dirichlet(np.ones(inputs), 2)
    m, q = one @ channel, other @ channel
    bound = theory.lemma12.evaluate(eps=eps, assouad_tv=np.abs(one - other).sum() / 2)
    return float(((m - q) ** 2 / q).sum()), float(bound)


def covariances(case: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Two members of the family, which differ in so many v_j, and the numbers of the claims."""
    rng, p, c = np.random.default_rng(case["seed"]), case["p"], 1 / (10 * case["p"])
    r, k = p // 2, min(case["k"], p // 2)
    a = case["share"] / (4 * k)
    rows = np.zeros((r, p))
    for j in range(r):  # cyclic: every column has k ones
        rows[j, p - r + (j + np.arange(k)) % r] = 1.0
    v = np.zeros((2, r))
    v[0] = rng.integers(0, 2, r)
    v[1] = v[0]
    moved = rng.permutation(r)[: max(2, round(case["part"] * r))]  # α is printed with H > 1, and meant with H ≥ 1
    v[1, moved] = 1 - v[1, moved]
    found = []
    for signs in v:
        corner = signs[:, None] * rows
        whole = np.zeros((p, p))
        whole[:r] += corner
        whole[:, :r] += corner.T
        found.append(c * (np.eye(p) + a * whole))
    values = {"d": float(p), "family_c": c, "family_alpha": a, "family_k": float(k)}
    return found[0], found[1], {**values, "H": float(len(moved))}


def separation(claim: Claim) -> Any:
    """The stated α, against the ratio of a pair, which α is at most."""

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        one, other, values = covariances(case)
        ratio = np.abs(np.linalg.eigvalsh(one - other)).max() ** 2 / (2 * values.pop("H"))
        names = {str(s) for s in claim.formula.free_symbols}
        return float(claim.evaluate(**{k: v for k, v in values.items() if k in names})), float(ratio)

    return measure


def norms(case: Mapping[str, Any]) -> tuple[float, float]:
    one, _, values = covariances(case)
    return float(np.linalg.eigvalsh(one)[-1]), float(theory.lemma6_norm.evaluate(d=values["d"]))


CHANNEL = {"seed": (0, 1 << 30), "eps": (0.01, 0.6), "inputs": (2, 6), "outputs": (2, 6), "edge": (0.01, 1.0)}
FAMILY = {"seed": (0, 1 << 30), "p": (4, 30), "k": (1, 5), "share": (0.1, 1.0), "part": (0.0, 1.0)}
FOUR = "four laws whose mixtures are equal, against randomised response"
CHECKS = {
    "dwang20.theorem6.2.5": [Property(reached(theory.theorem5, "assouad_told"), USERS, FOUR)],
    "dwang20.theorem6.2.6": [Property(reached(theory.theorem6, "assouad_chi2"), USERS, FOUR)],
    "dwang20.theorem6.2.6.corrected": [Property(kept, USERS, FOUR)],
    "dwang20.corollary6.2.2": [Property(reached(theory.corollary2, "assouad_chi2_n"), USERS, FOUR)],
    "dwang20.lemma6.2.12": [Property(told, CHANNEL, "random channels and laws")],
    "dwang20.lemma6.2.7": [Property(separation(theory.lemma7), FAMILY, "pairs of the family, c = 1/(10p)")],
    "dwang20.lemma6.2.7.corrected": [Property(separation(theory.lemma7_corrected), FAMILY, "pairs of the family")],
    "dwang20.lemma6.2.6.norm": [Property(norms, FAMILY, "members of the family")],
}
