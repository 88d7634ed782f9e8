"""Scores of canaries by a trained model: the higher, the more it looks as if the canary was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits.training.canaries import length
from dpcheck.bounds.language.errors import InvalidInput

Score = Callable[[Any, Any], Any]
TINY = 1e-12  # the least probability that a loss is taken of


def loss(model: Any, records: Any) -> np.ndarray:
    """Minus the loss on (X, y): log-loss of a model with predict_proba, squared error of one with predict."""
    if not (isinstance(records, tuple) and len(records) == 2):
        remedy = "Pass canaries as (X, y), or a score of your own."
        raise InvalidInput("canaries", type(records).__name__, "(X, y) for a loss", remedy)
    X, y = records
    if hasattr(model, "predict_proba"):
        places = {label: place for place, label in enumerate(np.asarray(model.classes_).tolist())}
        chances = np.asarray(model.predict_proba(X), float)
        column = np.array([places.get(label, -1) for label in np.asarray(y).tolist()])
        own = np.where(column >= 0, chances[np.arange(len(column)), column], 0.0)
        return np.asarray(np.log(np.maximum(own, TINY)))
    if hasattr(model, "predict"):
        return -((np.asarray(model.predict(X), float) - np.asarray(y, float)) ** 2)
    remedy = "Pass score=f with f(model, canaries) -> one number for each."
    raise InvalidInput("model", type(model).__name__, "one with predict or predict_proba for score='loss'", remedy)


def dot_product(model: Any, records: Any) -> np.ndarray:
    """Of each canary's gradient with the update that training returned: an array, or a list of arrays.

    The sum of gradients, not a step against it: turn the sign of an update of descent.
    """
    update = np.concatenate([np.ravel(part) for part in model]) if isinstance(model, list | tuple) else np.ravel(model)
    gradients = np.asarray(records, float).reshape(len(records), -1)
    if gradients.shape[1] != len(update):
        limit = f"as many numbers as the update ({len(update)})"
        raise InvalidInput("canary", f"{gradients.shape[1]} numbers", limit, "Pass gradients, or a score of your own.")
    return gradients @ update


@dataclass(frozen=True, eq=False)
class Compared:
    """A score minus that of a reference model, which no canary was trained on: what is hard for all models cancels."""

    score: Score
    reference: Any

    def __call__(self, model: Any, records: Any) -> np.ndarray:
        return np.asarray(self.score(model, records), float) - np.asarray(self.score(self.reference, records), float)


NAMED: dict[str, Score] = {"loss": loss, "dot product": dot_product}


def checked_scores(found: Any, records: Any) -> np.ndarray:
    """One finite number for each canary."""
    scores = np.asarray(found, float)
    if scores.shape != (length(records),):
        limit = f"one number for each of {length(records)} canaries"
        raise InvalidInput("shape of the scores", scores.shape, limit, "Return a flat array.")
    if np.isnan(scores).any():
        raise InvalidInput("scores", f"{np.isnan(scores).sum()} NaN", "numbers", "A model that diverged shows nothing.")
    return scores


def overlap(records: Any) -> float:
    """How far gradients are from right angles: the largest singular value in squares, over the largest norm's.

    1 for gradients at right angles; by power iteration, so a little less than it is.
    """
    rows = np.asarray(records, float).reshape(len(records), -1)
    largest = float((rows**2).sum(axis=1).max())
    direction = np.random.default_rng(0).standard_normal(rows.shape[1])
    value = 0.0
    for _ in range(30):
        direction = rows.T @ (rows @ direction)
        value = float(np.linalg.norm(direction))
        if value == 0:
            return 0.0
        direction /= value
    return value / largest
