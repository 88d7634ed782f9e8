"""Good calls of everything public, to be spoilt by tests/using/test_fuzz.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dpcheck as dp
from dpcheck import audits, estimators, local, worst_case
from dpcheck.bounds.registry import library

Call = tuple[Callable[..., Any], dict[str, Any]]
X = np.array([[0.6, 0.0], [0.0, 0.5], [0.3, -0.4], [-0.5, 0.2], [0.1, 0.7], [-0.2, -0.6]])
Y = np.array([1, -1, 1, -1, 1, -1])
CLAIM = dp.PureDP(1.0)
NEAR = dp.replace_one(low=0, high=1, n=3)
POINT = {"n": 100, "d": 2, "eps": 1.0, "delta": 1e-3, "L": 1.0, "beta": 1.0, "mu": 0.1}


def noisy(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.sum(data) + rng.laplace(size=trials)


def trained(data: Any, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(np.sum(data, axis=0) + rng.normal(size=2))


def alignment(model: np.ndarray, records: Any) -> np.ndarray:
    return np.asarray(np.asarray(records) @ model)


def density(data: Any, outputs: Any) -> Any:
    return -np.abs(outputs - data)


def fitted(kind: Any) -> Callable[..., Any]:
    """An estimator made, fitted and asked."""

    def whole(X: Any = X, y: Any = Y, **settings: Any) -> Any:
        model = kind(**settings)
        model.fit(X, y)
        asked = next(name for name in ("predict", "transform", "score") if hasattr(model, name))
        return getattr(model, asked)(X)

    return whole


def reported(kind: Any) -> Callable[..., Any]:
    """A randomiser made, one round of reports, and the server's answer."""

    def whole(records: Any, rng: Any = 0, **settings: Any) -> Any:
        made = kind(**settings)
        return made.aggregate(made.privatize(records, rng))

    return whole


def once(function: Any, **settings: Any) -> Any:
    """A function of one run, audited."""
    return dp.audit(dp.per_run(function), pair=(0.0, 1.0), guarantee=CLAIM, **settings)


def private_test(**settings: Any) -> None:
    dp.private(**settings)(lambda: noisy)()


AUDIT: dict[str, Any] = {"mechanism": noisy, "pair": (0.0, 1.0), "guarantee": CLAIM, "max_trials": 100}
UNUSED: dict[str, Any] = {"neighbours": None, "alpha": 0.05, "seed": 0, "attack": "auto", "delta": None, "key": None}
ANSWERS = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
FIT = {"epsilon": 1.0, "delta": 1e-3, "random_state": 0}
CALLS: dict[str, Call] = {
    "PureDP": (dp.PureDP, {"eps": 1.0, "relation": dp.REPLACE_ONE}),
    "ApproxDP": (dp.ApproxDP, {"eps": 1.0, "delta": 1e-5, "relation": dp.REPLACE_ONE}),
    "ZCDP": (dp.ZCDP, {"rho": 0.5}),
    "GaussianDP": (dp.GaussianDP, {"mu": 1.0}),
    "RenyiDP": (dp.RenyiDP, {"alpha": 2.0, "eps": 1.0}),
    "Relation": (dp.Relation, {"name": "replace-one", "size": 1}),
    "epsilon": (dp.ZCDP(0.5).epsilon, {"delta": 1e-5}),
    "profile": (dp.GaussianDP(1.0).profile, {"eps": 1.0}),
    "tradeoff": (dp.ApproxDP(1.0, 1e-5).tradeoff, {"alpha": 0.1}),
    "to_relation": (CLAIM.to_relation, {"relation": dp.Relation("replace-one", 2)}),
    "compose": (dp.compose, {"guarantees": [CLAIM, dp.ApproxDP(1.0, 1e-5)], "how": "tight", "slack": None}),
    "audit": (dp.audit, {**AUDIT, **UNUSED, "assume": None, "past": None, "progress": False, "checkpoint": None}),
    "audit, stopped early": (dp.audit, {**AUDIT, **UNUSED, "stop_early": True, "progress": None}),
    "audit, searched": (dp.audit, {**AUDIT, **UNUSED, "pair": None, "neighbours": NEAR, "executor": 1}),
    "assert_private": (
        dp.assert_private,
        {**AUDIT, "max_trials": 2000, "alpha": 1e-3, "seed": 0, "must_detect": None, "suppress": ()},
    ),
    "private": (private_test, {"pair": (0.0, 1.0), "guarantee": dp.PureDP(2.0), "max_trials": 2000, "alpha": 1e-3}),
    "audit_training": (
        dp.audit_training,
        {"train": trained, "data": X, "canaries": dp.Canaries(X[:3]), "score": alignment,
         "guarantee": dp.ApproxDP(8.0, 1e-5, relation=dp.ADD_REMOVE), "runs": 1, "seed": 0, "alpha": 0.05,
         "delta": None, "assume": None, "guesses": None},
    ),
    "Canaries": (dp.Canaries, {"records": X, "instead": None, "relabelled": False}),
    "Past.from_json": (dp.Past.from_json, {"said": dp.Past().to_json()}),
    "per_run": (once, {"function": lambda data, rng: data + rng.laplace(), "max_trials": 40}),
    "transcript": (dp.transcript, {"means": lambda data, before: np.zeros(1), "steps": 1, "noise_std": 1.0}),
    "likelihood_ratio": (dp.likelihood_ratio, {"log_density": density, "law": None}),
    "replace_one": (dp.replace_one, {"low": 0.0, "high": 1.0, "n": 3, "d": None, "ball": None, "values": None,
                                     "labels": None, "targets": None, "columns": None}),
    "add_remove": (dp.add_remove, {"low": 0.0, "high": 1.0, "n": 3, "d": 2, "ball": "l2"}),
    "label_only": (dp.label_only, {"low": 0.0, "high": 1.0, "n": 3, "labels": (-1, 1)}),
    "one_attribute": (dp.one_attribute, {"low": 0.0, "high": 1.0, "d": 3, "values": None}),
    "one_user": (dp.one_user, {"low": 0.0, "high": 1.0, "d": None, "values": None}),
    "queries": (dp.queries, {"k": 3, "sensitivity": 1.0, "low": -1.0, "high": 1.0, "norm": "linf"}),
    "group": (dp.group, {"neighbours": NEAR, "k": 2}),
    "account": (dp.account, {"delta": 1e-5, "eps": None, "relation": None, "noise": 1.0, "rate": 1.0, "steps": 3,
                             "sampling": "poisson", "law": "gaussian"}),
    "NoisyRelease": (dp.NoisyRelease, {"noise": 1.0, "rate": 0.5, "steps": 2, "sampling": "poisson"}),
    "best": (dp.best, {"bound": library["dwang20.theorem4.1.1"], "over": "T", "n": 100, "eps": 1.0, "G": 1.0, "c": 1.0,
                        "delta": 1e-5}),
    "evaluate": (library["zhang17.theorem2.approx"].evaluate, dict(POINT)),
    "rank": (dp.rank, {"executor": 1, "n": 1000, "d": 2, "eps": 1.0, "delta": 1e-5, "loss": "logistic",
                       "strongly_convex": 0.0, "model": "central", "row_bound": 1.0}),
    "need": (dp.need, {"error": 0.1, "d": 2, "eps": 1.0, "delta": 1e-5, "loss": "logistic"}),
    "Problem": (dp.Problem, {"X": X, "y": Y, "loss": dp.Logistic(), "l2": 0.0, "constraint": dp.L2Ball(),
                             "row_bound": 1.0, "label_bound": 1.0}),
    "softmax_problem": (dp.softmax_problem, {"X": X, "y": np.array([0, 1, 2, 0, 1, 2]), "classes": 3, "l2": 0.1}),
    "Huber": (dp.Huber, {"threshold": 1.0}),
    "SmoothedHinge": (dp.SmoothedHinge, {"smoothing": 0.5}),
    "Softmax": (dp.Softmax, {"classes": 3}),
    "Box": (dp.Box, {"low": -1.0, "high": 1.0}),
    "L1Ball": (dp.L1Ball, {"radius": 1.0}),
    "L2Ball": (dp.L2Ball, {"radius": 1.0}),
    "LqBall": (dp.LqBall, {"radius": 1.0, "q": 1.5}),
    "measure": (
        dp.measure,
        {"solver": "outpert_gd", "problem": dp.Problem(X, Y, dp.Logistic(), l2=0.5), "grid": {"eps": [1.0, 2.0]},
         "guarantee": CLAIM, "trials": 3, "seed": 0, "calibration": "certified", "confidence": 0.95, "measure": None},
    ),
    "logistic": (fitted(estimators.PrivateLogisticRegression), {"X": X, "y": Y, **FIT}
    ),
    "ridge": (fitted(estimators.PrivateRidge), {"X": X, "y": X[:, 0], **FIT}),
    "huber": (fitted(estimators.PrivateHuber), {"X": X, "y": X[:, 0], **FIT}),
    "sparse": (fitted(estimators.PrivateSparseLogisticRegression), {"X": X, "y": Y, **FIT}),
    "components": (fitted(estimators.LocalPCA), {"X": X, "y": None, "epsilon": 1.0, "delta": 1e-3}),
    "precision": (fitted(estimators.PrivateGraphicalLasso), {"X": X, "y": None, "alpha": 1.0, "delta": 1e-3}),
    "mixture": (fitted(estimators.PrivateGaussianMixture), {"X": X, "y": None, "epsilon": 1.0, "delta": 1e-3}),
    "private components": (fitted(estimators.PrivatePCA), {"X": X, "y": None, "epsilon": 1.0, "delta": 1e-3}),
    "covariance": (fitted(estimators.PrivateCovariance), {"X": X, "y": None, "epsilon": 1.0, "delta": 1e-3}),
    "KaryResponse": (reported(local.KaryResponse), {"rng": 0, "records": np.array([0, 1, 2]), "eps": 1.0, "k": 3}),
    "OneBit": (reported(local.OneBit), {"rng": 0, "records": np.array([0.1, -0.5]), "eps": 1.0}),
    "Piecewise": (reported(local.Piecewise), {"rng": 0, "records": np.array([0.1, -0.5]), "eps": 1.0}),
    "local L2Ball": (reported(local.L2Ball), {"rng": 0, "records": X, "eps": 1.0, "d": 2}),
    "which": (local.which, {"n": 1000, "d": 5, "eps": 1.0}),
    "robust_mean": (dp.robust_mean, {"x": X[:, 0], "epsilon": 1.0, "delta": 1e-3, "second_moment": 1.0}),
    "private_answers": (dp.private_answers, {"labels": ANSWERS, "epsilon": 1.0, "missing": "private",
                                             "random_state": 0}),
    "truth_inference": (dp.truth_inference, {"labels": ANSWERS, "method": "dawid-skene", "reported_with": 1.0,
                                             "steps": 3}),
    "private_truth_inference": (dp.private_truth_inference, {"labels": ANSWERS, "epsilon": 1.0, "method": "majority",
                                                             "missing": "public", "steps": 3, "random_state": 0}),
    "split_evenly": (dp.split_evenly, {"problem": dp.Problem(X, Y, dp.Logistic(), l2=0.5), "count": 3}),
    "replay": (dp.replay, {"mechanism": noisy, "pair": (0.0, 1.0), "guarantee": CLAIM, "seed": 0}),
    "anytime": (audits.anytime, {"count": 3, "trials": 10, "alpha": 0.05}),
    "clopper_pearson": (audits.clopper_pearson, {"count": 3, "trials": 10, "alpha": 0.05}),
    "ratio_bound": (audits.ratio_bound, {"hits": 30, "other_hits": 10, "trials": 100, "delta": 0.0, "alpha": 0.05}),
    "gradient_descent_rate": (worst_case.gradient_descent_rate,
                              {"steps": 1, "step_size": 0.5, "smoothness": 1.0, "strong_convexity": 0.1}),
}  # fmt: skip
