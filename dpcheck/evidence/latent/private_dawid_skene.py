"""Private answers attacked, and the lemmas of their error. Claims: bounds/library/latent/private_dawid_skene.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special, stats

from dpcheck.bounds.language.guarantees import LOCAL, LOCAL_ATTRIBUTE, Guarantee, PureDP
from dpcheck.bounds.library.latent import private_dawid_skene as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.truth_inference import agreement
from dpcheck.kernels.reports import log_chances
from dpcheck.solvers.latent.private_dawid_skene import PrivateDawidSkene

BIT = PureDP(1.0, relation=LOCAL_ATTRIBUTE)
TASKS = 3


def attacked() -> tuple[Any, Any, Guarantee]:
    """One answer of one user; the reports are seen."""
    return PrivateDawidSkene().mechanism(BIT, "stated", transcript=True), PrivateDawidSkene().worst_pair(), BIT


def attacked_record() -> tuple[Any, Any, Guarantee]:
    """All of a user's answers turn round."""
    pair = np.ones((1, TASKS)), np.zeros((1, TASKS))
    return PrivateDawidSkene().mechanism(BIT, "stated", transcript=True), pair, BIT.to_relation(LOCAL, attributes=TASKS)


def losses(case: Mapping[str, Any], changed: int) -> float:
    """The exact loss of all reports of a row between any two rows that differ in so many of three entries."""
    rng = np.random.default_rng(case["seed"])
    rows = np.tile(rng.integers(-1, 2, TASKS).astype(float), (2, 1))  # 0: no answer
    places = rng.permutation(TASKS)[:changed]
    rows[1, places] = rng.integers(-1, 2, changed)
    scale = float(theory.theorem1.evaluate(eps=case["eps"]))
    reports = np.array(np.meshgrid(*[[-1.0, 1.0]] * TASKS)).reshape(TASKS, -1).T
    one, other = (log_chances(reports, row, scale).sum(axis=1) for row in rows)
    return float(np.abs(one - other).max())


def loss_of_a_bit(case: Mapping[str, Any]) -> tuple[float, float]:
    return losses(case, 1), case["eps"] * (1 + 1e-9)


def loss_of_a_row(case: Mapping[str, Any]) -> tuple[float, float]:
    return losses(case, TASKS), TASKS * case["eps"] * (1 + 1e-9)


def events_fail(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact chance (a union of users and of tasks) that E₁ or E₂ fails where all p̂ are alike, and 4/m."""
    m, p, lam = case["m"], case["p"], case["lam"]
    n = max(2, int(case["share"] * m))

    def beyond(size: int, far: float) -> float:
        law = stats.binom(size, p)
        return float(law.cdf(math.ceil(size * p - far) - 1) + law.sf(math.floor(size * p + far)))

    weight = abs(special.logit(np.clip(p, lam, 1 - lam)))
    far = 2 * math.log(1 / lam) * math.sqrt(n * math.log(m)) / weight if weight else math.inf
    second = m * beyond(n, far) if math.isfinite(far) else 0.0
    return n * beyond(m, math.sqrt(m * math.log(m))) + second, 4 / m


def logits_off(case: Mapping[str, Any]) -> tuple[float, float]:
    """One step of the code from labels of error r: the log odds against Lemma 7.1.3, if E₁ holds."""
    rng = np.random.default_rng(case["seed"])
    n, m, lam = 4, case["m"], case["lam"]
    truth, p = rng.integers(0, 2, m), np.where(rng.random(n) < 0.5, rng.random(n), np.round(rng.random(n)))
    right = rng.random((n, m)) < p[:, None]
    # Hard errors on some tasks, all for or against what the first user said, or soft ones.
    before = case["share"] * (0.25 - 2 * lam)
    y = truth.astype(float)
    picked = np.flatnonzero(right[0])[: int(before * m)] if case["kind"] else np.arange(int(before * m))
    y[picked] = 1 - y[picked]
    small = math.sqrt(math.log(m) / m)
    if np.abs(right.mean(axis=1) - p).max() > small:
        return 0.0, 1.0
    reports = np.where(right, 2 * truth - 1, 1 - 2 * truth)[None].astype(float)
    found = np.clip(agreement(reports, y[None])[0], lam, 1 - lam)
    gap = np.abs(special.logit(found) - special.logit(np.clip(p, lam, 1 - lam))).max()
    error = float(np.abs(y - truth).mean())
    return float(gap), 2 / lam * (small + error)


BITS = {"seed": (0, 10_000), "eps": (0.01, 20.0)}
EVENTS = {"m": (9, 3000), "share": (0.0, 1.0), "p": (0.01, 0.99), "lam": (0.005, 0.125)}
STEPS = {"seed": (0, 10_000), "m": (9, 2000), "lam": (0.001, 0.12), "share": (0.0, 1.0), "kind": (0, 1)}
CHECKS = {
    "dwang20.theorem7.1.1": [
        AuditCheck(attacked, "all reports seen; one answer is 1 or 0"),
        Property(loss_of_a_bit, BITS, "the exact loss of a row's reports, one entry being another of 0, 1 and none"),
    ],
    "dwang20.theorem7.1.1.record": [
        AuditCheck(attacked_record, f"all reports seen; all {TASKS} answers turn round", at={"tasks": TASKS}),
        Property(loss_of_a_row, BITS, "the exact loss of a row's reports between any two rows"),
    ],
    "dwang20.lemma7.1.1": [Property(events_fail, EVENTS, "exact binomial tails, users being alike")],
    "dwang20.lemma7.1.3": [Property(logits_off, STEPS, "one step of the code, from labels that are wrong on purpose")],
}
