"""Anything with `fit` as a mechanism: each run fits a fresh copy and releases its fitted attributes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits import PerRun, per_run
from dpcheck.bounds.language.errors import InvalidInput

USUAL = ("coef_", "intercept_")
Released = Sequence[str] | Callable[[Any], Any]  # of a fitted model: attributes, or whatever a function makes of it


@dataclass(frozen=True)
class Fit:
    """One run: fit what `make(seed)` gives, release `attributes` as one row."""

    make: Callable[[int], Any]
    attributes: Released
    __name__: str = "estimator"

    def __call__(self, data: Any, rng: np.random.Generator) -> np.ndarray:
        return released(self.make(int(rng.integers(2**31))), data, self.attributes)


@dataclass(frozen=True)
class UnseededFit:
    """The same for an estimator that takes no random_state: the global state is seeded around it."""

    model: Any
    attributes: Released
    __name__: str = "estimator"

    def __call__(self, data: Any) -> np.ndarray:
        return released(copy.deepcopy(self.model), data, self.attributes)


@dataclass(frozen=True)
class Copy:
    """A fresh copy of a model with its own random_state."""

    model: Any

    def __call__(self, seed: int) -> Any:
        return copy.deepcopy(self.model).set_params(random_state=seed)


def fitted(model: Any, attributes: Released = USUAL) -> PerRun:
    """A mechanism from an estimator: data is X, or (X, y); the output is the fitted attributes in one row.

    Where attributes do not say it, a function of the fitted model does: `attributes=lambda model: model.predict(X)`.

    `random_state` is set anew for each run where the model has one; otherwise numpy's and random's global state
    is seeded. Raises InvalidInput for a model without `fit`, and for attributes that it does not have once fitted.
    """
    if not callable(getattr(model, "fit", None)) or isinstance(model, type):
        raise InvalidInput("model", model, "an estimator with fit(X, y)", "Pass an instance: LogisticRegression().")
    names, name = names_or_function(attributes), type(model).__name__
    if "random_state" in (model.get_params() if hasattr(model, "get_params") else {}):
        return per_run(Fit(Copy(model), names, name))
    return per_run(UnseededFit(model, names, name))


def names_or_function(attributes: Released) -> Released:
    """A name alone stands for itself, not for its letters."""
    return attributes if callable(attributes) else (attributes,) if isinstance(attributes, str) else tuple(attributes)


def released(model: Any, data: Any, attributes: Released) -> np.ndarray:
    """Fit, and put the attributes side by side."""
    model = model.fit(*data) if isinstance(data, tuple) else model.fit(data)
    if callable(attributes):
        return np.ravel(np.asarray(attributes(model), float))
    found = [getattr(model, name, None) for name in attributes]
    if any(value is None for value in found):
        there = sorted(name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
        limit = f"among those of the fitted {type(model).__name__}: {there}"
        raise InvalidInput("attributes", attributes, limit, "Name what the model releases: attributes=('coef_',).")
    return np.concatenate([np.ravel(np.asarray(value, float)) for value in found])
