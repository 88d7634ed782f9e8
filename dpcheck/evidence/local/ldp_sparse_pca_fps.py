"""Fantope projection and selection: Lemma 6.1.15 run by run. Claims: bounds/library/local/ldp_sparse_pca_fps.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.bounds.library.local import ldp_sparse_pca_fps as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.outer_products import symmetric
from dpcheck.solvers.local.ldp_sparse_pca_fps import LdpSparsePcaFps, selected


def recovered(case: Mapping[str, Any]) -> tuple[float, float]:
    """A covariance with a sparse subspace, noise of any size, and λ its largest entry: X̂ against the lemma's bound."""
    rng, d, k, rows = np.random.default_rng(case["seed"]), case["d"], case["k"], case["k"] + case["more"]
    V = np.zeros((d, k))
    V[rng.permutation(d)[:rows]] = np.linalg.qr(rng.standard_normal((rows, k)))[0]
    truth, gap = V @ V.T, case["gap"]
    noise = symmetric(10.0 ** -case["digits"] * rng.standard_normal((1, d * (d + 1) // 2)), d)[0]
    penalty = float(np.abs(noise).max())
    found = selected((gap * truth + 0.01 * np.eye(d) + noise)[None], k, penalty, gap, 200)[0]
    bound = theory.lemma15.evaluate(s_rows=rows, l1_penalty=penalty, eigengap=gap, leading=k, top_eigenvalue=gap + 0.01)
    return float(np.linalg.norm(found - truth)), float(bound)


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    claimed = ApproxDP(1.0, 1e-2, relation=LOCAL)
    solver = LdpSparsePcaFps(steps=1)  # what is seen are the reports, whatever the server makes of them
    return solver.mechanism(claimed, transcript=True), solver.worst_pair(), claimed


searched = {"seed": (0, 1 << 30), "d": (6, 10), "k": (1, 3), "more": (0, 3), "gap": (0.1, 1.0), "digits": (0.5, 4.0)}
CHECKS = {
    "dwang20.lemma6.1.15": [Property(recovered, searched, "200 steps of ADMM on random sparse subspaces", examples=20)],
    "dwang20.theorem6.1.4.privacy.corrected": [AuditCheck(attacked, "certified noise; a user at e₁ or at e₂")],
}
