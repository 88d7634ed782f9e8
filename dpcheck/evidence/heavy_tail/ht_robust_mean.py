"""The private robust mean, attacked and measured. Claims: bounds/library/heavy_tail/ht_robust_mean.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.robust_means import printed_truncation, robust_average
from dpcheck.solvers.heavy_tail.ht_robust_mean import HtRobustMean

CLAIMED = ApproxDP(1.0, 1e-2)


def attacked() -> tuple[Any, Any, Guarantee]:
    """With the constant 9 of the explicit claim."""
    solver = HtRobustMean(c=9.0)
    return solver.mechanism(CLAIMED, "stated"), solver.worst_pair(), CLAIMED


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record of any size and sign moves the mean of others, and what is claimed of it."""
    n, scale, kappa = case["n"], 10.0 ** case["scale"], 10.0 ** case["kappa"]
    data = np.full((n, 1), 10.0 ** case["others"])
    means = []
    for sign, power in (("sign", "size"), ("other_sign", "other_size")):
        data[0] = (2 * case[sign] - 1) * 10.0 ** case[power]
        means.append(robust_average(data, scale, kappa))
    bound = float(theory.sensitivity.evaluate(s_trunc=scale, n=n))
    return float(abs(means[0] - means[1])[0]), bound


SIZE = (-6.0, 250.0)


def errors(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """Of the robust mean of Student numbers with three degrees of freedom about 1, so that E x² = 4."""
    n, rng = int(case["n"]), np.random.default_rng(seed)
    x = 1 + rng.standard_t(3, size=(n, trials))
    return np.asarray(abs(robust_average(x, case["s_trunc"], case["kappa_tr"]) - 1))


def setting(n: int, gamma: float) -> dict[str, float]:
    kappa = 2 * float(np.log(1 / gamma))
    return {"n": n, "gamma": gamma, "v_moment": 4.0, "kappa_tr": kappa, "s_trunc": printed_truncation(n, 4.0, gamma)}


CHECKS = {
    "dwang20.equation3.80.explicit": [AuditCheck(attacked, "a record from far below to far above", at={"n": 10})],
    "dwang20.equation3.80.sensitivity": [
        Property(
            moved,
            {"n": (2, 20), "scale": (-3.0, 3.0), "kappa": (-1.0, 3.0), "others": SIZE, "size": SIZE, "other_size": SIZE,
             "sign": (0, 1), "other_sign": (0, 1)},
            "records of any size and sign, computed in doubles",
        )
    ],
    "dwang20.lemma3.2.3.explicit": [
        Within(errors, [setting(100, 0.05), setting(1000, 0.2)], "Student numbers with three degrees of freedom")
    ],
}  # fmt: skip
