"""Anything with `fit`: a ridge regression with noise on its coefficients, calibrated right and by half.

Run: python examples/audit_estimator.py (numpy only; scikit-learn's own estimators work the same way)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpcheck as dp
from dpcheck.adapters.estimator import fitted

MU = 0.5  # the noise is calibrated for this Gaussian DP


class PrivateRidge:
    """Ridge regression through a noisy moment vector: rows of X in the unit l2 ball, y in [-1, 1].

    Replacing a record moves the sum of y x by at most 2 in l2 (the features' second moment is taken as public).
    """

    def __init__(self, sensitivity: float = 2.0, random_state: int | None = None) -> None:
        self.sensitivity, self.random_state = sensitivity, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"sensitivity": self.sensitivity, "random_state": self.random_state}

    def set_params(self, **params: Any) -> PrivateRidge:
        vars(self).update(params)
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> PrivateRidge:
        rng = np.random.default_rng(self.random_state)
        moment = X.T @ y + rng.normal(scale=self.sensitivity / MU, size=X.shape[1])
        self.coef_ = moment / (len(X) / X.shape[1] + 1.0)
        return self


def main(trials: int = 20_000) -> tuple[dp.AuditResult, dp.AuditResult]:
    """Sensitivity 2 is right; 1 forgets that a label may change its sign."""
    near = dp.label_only(high=1, n=4, d=2, ball="l2", labels=(-1, 1))
    X, y = np.tile([1.0, 0.0], (4, 1)), np.ones(4)
    pair = (X, y), (X, y * [-1, 1, 1, 1])
    options = {"pair": pair, "neighbours": near, "guarantee": dp.GaussianDP(MU), "max_trials": trials, "alpha": 1e-6}
    results = [dp.audit(fitted(PrivateRidge(size), ("coef_",)), **options) for size in (2.0, 1.0)]
    return results[0], results[1]


if __name__ == "__main__":
    for result in main():
        print(result, end="\n\n")
