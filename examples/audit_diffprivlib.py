"""diffprivlib: its Laplace mechanism and its naive Bayes model, each as claimed and with a wrong bound.

Run: python examples/audit_diffprivlib.py (needs the extra `adapters`)
"""

from __future__ import annotations

import numpy as np
from diffprivlib.mechanisms import Laplace
from diffprivlib.models import GaussianNB

import dpcheck as dp
from dpcheck.adapters import diffprivlib

X = np.array([[0.0], [0.0], [1.0], [1.0]])
FLIPPED = np.array([[1.0], [0.0], [1.0], [1.0]])
LABELS = np.array([0, 0, 1, 1])


def mean(sensitivity: float) -> diffprivlib.Randomised:
    """The mean of ten numbers in [0, 1]; its sensitivity is 0.1."""
    return diffprivlib.mechanism(Laplace, value=np.mean, epsilon=1.0, sensitivity=sensitivity)


def audit_mechanism(trials: int = 20_000) -> tuple[dp.AuditResult, dp.AuditResult]:
    """The right sensitivity, and that of a mean of twenty."""
    near = dp.replace_one(low=0, high=1, n=10)
    options = {"neighbours": near, "guarantee": dp.PureDP(1.0), "max_trials": trials, "alpha": 1e-6}
    return dp.audit(mean(0.1), **options), dp.audit(mean(0.05), **options)


def audit_model(trials: int = 1_000) -> tuple[dp.AuditResult, dp.AuditResult]:
    """A model trained with epsilon 1, and one trained with epsilon 20 and sold as 1.

    Of the first, so few fits tell nothing but that it is no such gross liar: its `power` says why.
    """
    pair = (X, LABELS), (FLIPPED, LABELS)
    results = []
    for epsilon in (1.0, 20.0):
        bayes = diffprivlib.model(GaussianNB, ("theta_", "var_", "class_count_"), epsilon=epsilon, bounds=(0, 1))
        results.append(dp.audit(bayes, pair=pair, guarantee=dp.PureDP(1.0), max_trials=trials, alpha=1e-6))
    return results[0], results[1]


if __name__ == "__main__":
    for result in (*audit_mechanism(), *audit_model()):
        print(result, end="\n\n")
