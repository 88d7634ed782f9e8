"""How far runs of Pairwise GIGA part on searched neighbouring streams. Claims: bounds/library/pairwise/pw_giga.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.pairwise import pw_giga
from dpcheck.evidence.property_checks import Property
from dpcheck.families.pairwise import PairProblem, giga, least_first
from dpcheck.problems.losses import Linear, Logistic


def stream(case: Mapping[str, Any], l2: float) -> PairProblem:
    """Records on the sphere, or all on one line, in which pairs pull hardest."""
    rng = np.random.default_rng(int(case["seed"]))
    n = int(case["n"])
    X = rng.standard_normal((n, int(case["d"])))
    if case["line"]:
        X = np.outer(rng.choice([-1.0, 1.0], n), X[0])
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-12)
    loss = Linear() if case["linear"] else Logistic()
    return PairProblem(X, rng.choice([-1.0, 1.0], n), loss, l2=l2, metric=bool(case["metric"]))


def parting(claim: Claim, printed: bool) -> Property:
    """The distance at the worst time, over the claim's bound there, of streams that differ at any position."""

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        one = stream(case, case["l2"])
        row = one.X[int(case["at"] * one.n)] * (-1 if case["opposite"] else 1)
        other = one.replace(int(case["at"] * one.n), row, float(case["label"] * 2 - 1))
        L = one.curvature + one.l2 if printed else one.curvature
        first = max(7, int(np.ceil(16 * L**2 / one.l2**2))) if printed else least_first(L, one.l2)
        if first >= one.n:
            return 0.0, 1.0
        gaps = np.linalg.norm(giga(one, first) - giga(other, first), axis=1)
        G = one.lipschitz + one.l2 * one.diameter if printed else one.lipschitz
        values = {"G": G, "alpha_pair": one.l2, "L_pair": L, "T1": first, "later": np.arange(1, len(gaps) + 1)}
        shares = gaps / claim.evaluate(**values)
        return float(shares.max()), 1.0

    cases = {
        "n": (8, 60), "d": (1, 3), "seed": (0, 10**6), "l2": (3.0, 30.0), "at": (0.0, 0.999), "label": (0, 1),
        "opposite": (0, 1), "metric": (0, 1), "linear": (0, 1), "line": (0, 1),
    }  # fmt: skip
    return Property(measure, cases, "two runs on random and extreme streams, AUC and metric, at the worst time")


CHECKS = {
    "dwang20.lemma3.3.1": [parting(pw_giga.lemma1, printed=True)],
    "dwang20.lemma3.3.1.regularised": [parting(pw_giga.regularised, printed=False)],
}
