"""diffprivlib's mechanisms, models and tools as mechanisms, seeded through their own random_state.

Runs are independent and leave no trace in diffprivlib's global budget accountant.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcheck.adapters.estimator import USUAL, Fit, Released, names_or_function
from dpcheck.audits import PerRun, per_run
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import REPLACE_ONE, ApproxDP, Guarantee, PureDP, Relation


def library(part: str) -> Any:
    """A part of diffprivlib, or the sentence on how to install it."""
    try:
        return importlib.import_module(f"diffprivlib.{part}")
    except ImportError as missing:
        raise MissingDependency("diffprivlib", "auditing its mechanisms", "adapters") from missing


@dataclass(frozen=True)
class Randomised:
    """A diffprivlib mechanism applied to a value of the dataset."""

    kind: type
    parameters: dict[str, Any] = field(hash=False)
    value: Callable[[Any], Any] | None = None
    of_data: Callable[[Any], dict[str, Any]] | None = None

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Any:
        more = {} if self.of_data is None else self.of_data(data)
        made = self.kind(**self.parameters, **more, random_state=int(rng.integers(2**31)))
        if self.of_data is not None:  # what is chosen from is in the mechanism
            return [made.randomise() for _ in range(trials)]
        value = data if self.value is None else self.value(data)
        value = value.item() if isinstance(value, np.generic) else value
        return [made.randomise(value) for _ in range(trials)]

    @property
    def __name__(self) -> str:
        return f"diffprivlib.{self.kind.__name__}"

    def guarantee(self, relation: Relation = REPLACE_ONE) -> Guarantee:
        """What it was told to satisfy; Uniform has a delta alone."""
        epsilon, delta = float(self.parameters.get("epsilon", 0.0)), float(self.parameters.get("delta", 0.0))
        return ApproxDP(epsilon, delta, relation=relation) if delta else PureDP(epsilon, relation=relation)


def mechanism(
    kind: type,
    value: Callable[[Any], Any] | None = None,
    *,
    of_data: Callable[[Any], dict[str, Any]] | None = None,
    **parameters: Any,
) -> Randomised:
    """`mechanism(Laplace, epsilon=1, sensitivity=1)`; `value` computes from the dataset what is randomised.

    Exponential and PermuteAndFlip take the dataset's utilities as a parameter: `of_data` computes such parameters.
    """
    if not (isinstance(kind, type) and issubclass(kind, library("mechanisms.base").DPMechanism)):
        limit = "a class of diffprivlib.mechanisms"
        raise InvalidInput("kind", kind, limit, "Pass the class, and its parameters by name.")
    if "random_state" in parameters:
        raise InvalidInput("random_state", parameters["random_state"], "left out", "Each run is seeded by the audit.")
    if of_data is None:
        kind(**parameters)  # bad parameters are refused here, in diffprivlib's words
    return Randomised(kind, dict(parameters), value, of_data)


@dataclass(frozen=True)
class Build:
    """A fresh model with a seed and a budget accountant of its own."""

    kind: type
    parameters: dict[str, Any] = field(hash=False)

    def __call__(self, seed: int) -> Any:
        return self.kind(**self.parameters, random_state=seed, accountant=library("accountant").BudgetAccountant())


def model(kind: type, attributes: Released = USUAL, **parameters: Any) -> PerRun:
    """`model(LinearRegression, epsilon=1, bounds_X=(0, 1), bounds_y=(0, 1))`: data is (X, y), the output `attributes`.

    Name the bounds: diffprivlib reads missing ones off the data, which is a leak of its own.
    """
    if not (isinstance(kind, type) and callable(getattr(kind, "fit", None))):
        raise InvalidInput("kind", kind, "a class of diffprivlib.models", "Pass the class, and its parameters by name.")
    return per_run(Fit(Build(kind, dict(parameters)), names_or_function(attributes), f"diffprivlib.{kind.__name__}"))


@dataclass(frozen=True)
class Tool:
    """One call of a function of diffprivlib.tools, with a seed and a budget accountant of its own."""

    function: Callable[..., Any]
    parameters: dict[str, Any] = field(hash=False)

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        own = {"random_state": int(rng.integers(2**31)), "accountant": library("accountant").BudgetAccountant()}
        return self.function(data, **self.parameters, **own)

    @property
    def __name__(self) -> str:
        return f"diffprivlib.{self.function.__name__}"


def tool(function: Callable[..., Any], **parameters: Any) -> PerRun:
    """`tool(mean, epsilon=1, bounds=(0, 1))`: a function of diffprivlib.tools, of which the dataset is the array.

    Name the bounds, as for a model.
    """
    if isinstance(function, type) or getattr(library("tools"), getattr(function, "__name__", ""), None) is not function:
        limit = "a function of diffprivlib.tools"
        raise InvalidInput("function", function, limit, "Pass the function itself, and its parameters by name.")
    return per_run(Tool(function, dict(parameters)))
