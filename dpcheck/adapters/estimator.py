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


@dataclass(frozen=True)
class Fit:
    """One run: fit what `make(seed)` gives, release `attributes` as one row."""

    make: Callable[[int], Any]
    attributes: tuple[str, ...]
    __name__: str = "estimator"

    def __call__(self, data: Any, rng: np.random.Generator) -> np.ndarray:
        return released(self.make(int(rng.integers(2**31))), data, self.attributes)


@dataclass(frozen=True)
class UnseededFit:
    """The same for an estimator that takes no random_state: the global state is seeded around it."""

    model: Any
    attributes: tuple[str, ...]
    __name__: str = "estimator"

    def __call__(self, data: Any) -> np.ndarray:
        return released(copy.deepcopy(self.model), data, self.attributes)


@dataclass(frozen=True)
class Copy:
    """A fresh copy of a model with its own random_state."""

    model: Any

    def __call__(self, seed: int) -> Any:
        return copy.deepcopy(self.model).set_params(random_state=seed)


def fitted(model: Any, attributes: Sequence[str] = USUAL) -> PerRun:
    """A mechanism from an estimator: data is X, or (X, y); the output is the fitted attributes in one row.

    `random_state` is set anew for each run where the model has one; otherwise numpy's and random's global state
    is seeded. Raises InvalidInput for a model without `fit`, and for attributes that it does not have once fitted.
    """
    if not callable(getattr(model, "fit", None)) or isinstance(model, type):
        raise InvalidInput("model", model, "an estimator with fit(X, y)", "Pass an instance: LogisticRegression().")
    names, name = tuple(attributes), type(model).__name__
    if "random_state" in (model.get_params() if hasattr(model, "get_params") else {}):
        return per_run(Fit(Copy(model), names, name))
    return per_run(UnseededFit(model, names, name))


def released(model: Any, data: Any, attributes: tuple[str, ...]) -> np.ndarray:
    """Fit, and put the attributes side by side."""
    model = model.fit(*data) if isinstance(data, tuple) else model.fit(data)
    found = [getattr(model, name, None) for name in attributes]
    if any(value is None for value in found):
        there = sorted(name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
        limit = f"among those of the fitted {type(model).__name__}: {there}"
        raise InvalidInput("attributes", attributes, limit, "Name what the model releases: attributes=('coef_',).")
    return np.concatenate([np.ravel(np.asarray(value, float)) for value in found])
