"""Constants and lemmas of generalised linear models, attacked. Claims: glm_risk.py, dp_fw_l2_glm.py of the library.

Losses are differentiated by differences, so that no factor of a derivative is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_fw_l1_glm as in_l1
from dpcheck.bounds.library.nonconvex import glm_risk
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.glm_losses import Biweight
from dpcheck.problems.losses import Array
from dpcheck.solvers.nonconvex.dp_fw_l2_glm import DPFWL2GLM

STEP = 1e-4  # of differences
SLACK = 1 + 1e-6  # what they may be off by


def link_of(case: Mapping[str, Any]) -> tuple[Callable[[Any], Any], dict[str, float]]:
    """σ' = A·e^(-r(s+1)) and σ(0) = p, with the constants of Assumption 4.2.2 on [-1, 1]; E[y|x] = p is for w* = 0."""
    A, r = case["A"], case["r"]

    def link(s: Any) -> Any:
        return case["p"] + A / r * (np.exp(-r) - np.exp(-r * (np.asarray(s) + 1)))

    sizes = {"C_slope": max(1.0, A, r * A), "B_link": float(np.abs(link(np.array([-1.0, 1.0]))).max())}
    return link, {**sizes, "c_slope": A * float(np.exp(-2 * r))}


def constant(case: Mapping[str, Any], claim: Claim, order: int) -> tuple[float, float]:
    """The largest derivative of (σ(s)-y)² in s, of this order, over y and s = ⟨w,x⟩: that of a record with ‖x‖ = 1."""
    link, sizes = link_of(case)
    s, y = np.linspace(-1, 1, 101), np.array([[0.0], [1.0]])
    before, here, after = ((link(s + step) - y) ** 2 for step in (-STEP, 0.0, STEP))
    found = (after - before) / (2 * STEP) if order == 1 else (before - 2 * here + after) / STEP**2
    return float(np.abs(found).max()), float(claim.evaluate(**sizes)) * SLACK


def risk_by_inner(case: Mapping[str, Any]) -> tuple[float, float]:
    """L_P(w)-L_P(w*) against Lemma 4.2.5, for a few x of equal chance, labels in the mean."""
    link, sizes = link_of(case)
    rng = np.random.default_rng(int(case["seed"]))
    x, w, star = (v / np.maximum(1, np.linalg.norm(v, axis=-1, keepdims=True)) for v in (
        2 * rng.normal(size=(4, 2)), 2 * rng.normal(size=2), 2 * rng.normal(size=2)))  # fmt: skip

    def risk(at: Array) -> float:
        return float(((link(x @ at) - link(x @ star)) ** 2).mean())

    shift = STEP * (w - star)
    inner = (risk(w + shift) - risk(w - shift)) / (2 * STEP)
    return risk(w), float(glm_risk.lemma5.evaluate(**sizes, pop_inner=max(inner, 0.0))) * SLACK + 1e-9


def robust_risk(case: Mapping[str, Any], claim: Claim, at_0: bool) -> tuple[float, float]:
    """The same against Lemma 4.2.6: x = 1, a biweight loss, noise ±e, w-w* = s; c_ψ by h'(0) or by all of h(s)/s."""
    noise = case["e"] * np.array([1.0, -1.0])
    loss = Biweight(2 + case["e"] + case["room"])  # above 1 + Y, so that ψ' > 0 on all residuals

    def risk(s: float) -> float:
        return float(np.mean(loss.value(s, noise)) - np.mean(loss.value(0.0, noise)))

    def h(s: Array) -> Array:
        return np.asarray(loss.derivative(s[:, None], noise).mean(axis=1))

    near = float(h(np.array([STEP]))[0]) / STEP
    everywhere = np.linspace(STEP, 2, 2000)
    least = 0.99 * (near if at_0 else float((h(everywhere) / everywhere).min()))
    if least <= 0:  # not of the class
        return 0.0, 1.0
    inner = float(h(np.array([case["s"]]))[0]) * case["s"]
    return risk(case["s"]), float(claim.evaluate(C_res=1.0, c_res=least, pop_inner=inner)) * SLACK


def known_links(case: Mapping[str, Any]) -> tuple[float, float]:
    """The sizes of Assumption 4.2.2 for the sigmoid and the probit link at a margin."""
    s = case["s"]
    sigmoid, normal = special.expit(s), np.exp(-(s**2) / 2) / np.sqrt(2 * np.pi)
    rows = [(sigmoid, sigmoid * (1 - sigmoid), sigmoid * (1 - sigmoid) * (1 - 2 * sigmoid)),
            (special.ndtr(s), normal, -s * normal)]  # fmt: skip
    found = max(max(level, slope, abs(bend), 0.19 / slope) for level, slope, bend in rows)
    return float(found), float(glm_risk.links.evaluate())


def attacked(transcript: bool) -> tuple[Any, Any, ApproxDP]:
    solver, claimed = DPFWL2GLM(steps=8, step_size=0.3, c2=8.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(claimed, "stated", transcript=transcript), solver.worst_pair(), claimed


LINKS = {"A": (0.1, 3.0), "r": (0.1, 2.0), "p": (0.0, 1.0)}
RESIDUALS = {"e": (0.0, 1.0), "room": (0.05, 3.0), "s": (0.01, 2.0)}
SEARCH = "links by search, all margins ⟨w,x⟩ and labels of each"
SLOPES = (glm_risk.equation50, glm_risk.equation50_corrected, in_l1.steep, in_l1.steep_corrected)
BENDS = (glm_risk.hessian, glm_risk.hessian_corrected, in_l1.bent, in_l1.bent_corrected)
CHECKS = {
    "dwang20.section4.2.2.links": [Property(known_links, {"s": (-1.0, 1.0)}, "sigmoid and probit, all margins")],
    **{c.id: [Property(partial(constant, claim=c, order=1), LINKS, SEARCH)] for c in SLOPES},
    **{c.id: [Property(partial(constant, claim=c, order=2), LINKS, SEARCH)] for c in BENDS},
    "dwang20.lemma4.2.5": [Property(risk_by_inner, {**LINKS, "seed": (0, 10**6)}, "random x, w and w* in the disc")],
    "dwang20.lemma4.2.6": [Property(
        partial(robust_risk, claim=glm_risk.lemma6, at_0=True), RESIDUALS,
        "biweight losses, c_ψ = 0.99·h'(0): away from 0 the loss flattens, and h(s) is less than c_ψ·s")],
    "dwang20.lemma4.2.6.corrected": [Property(
        partial(robust_risk, claim=glm_risk.lemma6_corrected, at_0=False), RESIDUALS, "biweight losses")],
    "dwang20.theorem4.2.5.robust_privacy.corrected": [
        AuditCheck(partial(attacked, transcript), "one steep record among flat ones", at={"T": 8, "n": 5})
        for transcript in (False, True)],
}  # fmt: skip
