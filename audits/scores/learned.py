"""Light learned likelihood ratios: logistic regression and boosted shallow trees.

Trees are scikit-learn's where it is installed; all else needs no extra package.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import scipy  # its parts are imported on first use
from scipy import special
from threadpoolctl import ThreadpoolController

BINS = 32
MOST_COLUMNS = 64
MOST_TREE_CELLS = 10**6  # of trees of our own
MOST_CELLS = 4 * 10**5  # of gradient boosting
FEWEST_ROWS = 2000  # for which loading scikit-learn is worth its time
RIDGES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)  # precision of an additive model's weights around 0
FREE = 1e-6  # of its intercept
NEWTON_STEPS = 20


def fit_logistic(features: np.ndarray, side: np.ndarray, ridge: float = 1e-3) -> np.ndarray:
    """Weights and then the intercept, which is free, of a ridge logistic regression of `side` (1 or 0)."""
    X = np.hstack([features, np.ones((len(features), 1))])
    penalty = np.append(np.full(features.shape[1], ridge), 0.0)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = X @ w
        value = np.mean(np.logaddexp(0, z) - side * z) + float(penalty @ w**2) / 2
        return float(value), X.T @ (special.expit(z) - side) / len(X) + penalty * w

    found = scipy.optimize.minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x)


def fit_additive(features: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights and then the intercept of the log odds of each row's first count against its second.

    The weights are held at 0 by the precision of RIDGES under which the counts are likeliest, the weights integrated
    out by Laplace's method: rare features would else seem telling by chance.
    """
    X = np.hstack([features, np.ones((len(features), 1))])
    (hits, others), w = counts.astype(float), np.zeros(X.shape[1])
    runs, best = hits + others, (-np.inf, w)
    for ridge in RIDGES:  # from strong to weak: each starts from the one before
        penalty = np.append(np.full(features.shape[1], ridge), FREE)
        for _ in range(NEWTON_STEPS):
            share = special.expit(X @ w)
            curve = (X * (runs * share * (1 - share))[:, None]).T @ X + np.diag(penalty)
            step = np.linalg.solve(curve, X.T @ (hits - runs * share) - penalty * w)
            w = w + step
            if np.abs(step).max() < 1e-6:
                break
        z = X @ w
        fit = hits @ z - runs @ np.logaddexp(0, z) - penalty @ w**2 / 2
        evidence = fit + (np.log(penalty).sum() - np.linalg.slogdet(curve)[1]) / 2
        best = max(best, (float(evidence), w), key=lambda found: found[0])
    return best[1]


@dataclass(frozen=True, eq=False)
class Boosted:
    """Log-likelihood ratio as a sum of depth-limited trees over binned columns."""

    columns: np.ndarray = field(repr=False)
    edges: tuple[np.ndarray, ...] = field(repr=False)
    splits: np.ndarray = field(repr=False)  # (trees, levels, 2): column and bin, the same split across a level
    leaves: np.ndarray = field(repr=False)  # (trees, 2**levels)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        codes = [np.searchsorted(e, rows[:, c], side="left") for c, e in zip(self.columns, self.edges, strict=True)]
        total = np.zeros(len(rows))
        for split, leaf in zip(self.splits, self.leaves, strict=True):
            place = np.zeros(len(rows), int)
            for column, cut in split:
                place = 2 * place + (codes[column] > cut)
            total += leaf[place]
        return total

    def phrase(self, name: Callable[[int], str]) -> str:
        return f"learned log-likelihood ratio ({len(self.leaves)} boosted trees)"


@dataclass(frozen=True, eq=False)
class GradientBoosted:
    """Log-likelihood ratio by scikit-learn's gradient boosting."""

    columns: np.ndarray = field(repr=False)
    model: Any = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with _one_thread():
            return np.asarray(self.model.decision_function(rows[:, self.columns]), float)

    def phrase(self, name: Callable[[int], str]) -> str:
        """In words."""
        return f"learned log-likelihood ratio (gradient boosting on {len(self.columns)} outputs)"


def fit_trees(rows: np.ndarray, side: np.ndarray, columns: np.ndarray) -> GradientBoosted | Boosted:
    """Trees on these columns of the outputs: scikit-learn's where it is installed, else plainer ones of our own."""
    model = _gradient_boosting() if len(rows) >= FEWEST_ROWS else None
    if model is None:
        few = slice(None, None, -(-rows.size // MOST_TREE_CELLS))
        plain = fit_boosted(rows[few], side[few], most_columns=len(columns))
        return replace(plain, columns=columns[plain.columns])
    few = slice(None, None, -(-rows.size // MOST_CELLS))
    with _one_thread():
        return GradientBoosted(columns, model.fit(rows[few], side[few]))


def _gradient_boosting() -> Any | None:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    asked = {"learning_rate": 0.15, "max_iter": 60, "max_leaf_nodes": 12, "max_bins": 64, "l2_regularization": 1.0}
    return HistGradientBoostingClassifier(early_stopping=False, random_state=0, **asked)


def _one_thread() -> AbstractContextManager[Any]:
    """On a shared machine a second thread of scikit-learn's waits by spinning, mostly: 75 s of CPU instead of 4."""
    limited: AbstractContextManager[Any] = _threads().limit(limits=1, user_api="openmp")
    return limited


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()  # looks through what is loaded, which takes a while: once scikit-learn is


def fit_boosted(
    rows: np.ndarray,
    side: np.ndarray,
    weight: np.ndarray | None = None,
    rounds: int = 40,
    levels: int = 3,
    rate: float = 0.2,
    most_columns: int = MOST_COLUMNS,
) -> Boosted:
    """Newton boosting of `side` (1 or 0) with oblivious trees: one split per level."""
    mass = np.ones(len(rows)) if weight is None else weight
    columns = _varied(rows)[:most_columns]
    edges = tuple(_cuts(rows[:, c]) for c in columns)
    codes = np.stack([np.searchsorted(e, rows[:, c], side="left") for c, e in zip(columns, edges, strict=True)])
    margin = np.zeros(len(rows))
    splits, leaves = [], []
    for _ in range(rounds):
        p = special.expit(margin)
        slope, curve = mass * (side - p), mass * p * (1 - p)
        split, place = _tree(codes, slope, curve, levels)
        leaf = rate * np.bincount(place, slope, 2**levels) / (np.bincount(place, curve, 2**levels) + 1.0)
        margin += leaf[place]
        splits.append(split)
        leaves.append(leaf)
    return Boosted(columns, edges, np.array(splits), np.array(leaves))


def _varied(rows: np.ndarray) -> np.ndarray:
    """Columns that vary."""
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    return varied if len(varied) else np.array([0])


def _cuts(column: np.ndarray) -> np.ndarray:
    """Cut points: between all values when there are few, else at quantiles."""
    values = np.unique(column)
    if len(values) <= BINS:
        return values[:-1] if len(values) > 1 else values
    return np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1], method="lower"))


def _tree(codes: np.ndarray, slope: np.ndarray, curve: np.ndarray, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Greedy level-wise splits: each level takes the column and cut with the largest total gain."""
    place = np.zeros(codes.shape[1], int)
    chosen = []
    for level in range(levels):
        nodes, best = 2**level, (-1.0, 0, 0)
        for j, code in enumerate(codes):
            cell = place * BINS + np.minimum(code, BINS - 1)
            g = np.bincount(cell, slope, nodes * BINS).reshape(nodes, BINS).cumsum(axis=1)
            h = np.bincount(cell, curve, nodes * BINS).reshape(nodes, BINS).cumsum(axis=1)
            right_g, right_h = g[:, -1:] - g, h[:, -1:] - h
            gain = (g**2 / (h + 1.0) + right_g**2 / (right_h + 1.0)).sum(axis=0)
            cut = int(gain[:-1].argmax())
            if gain[cut] > best[0]:
                best = (float(gain[cut]), j, cut)
        chosen.append(best[1:])
        place = 2 * place + (codes[best[1]] > best[2])
    return np.array(chosen), place
