"""OpenDP measurements as mechanisms, and the guarantee that their own privacy map states.

OpenDP draws from the system's secure source, which has no seed: such an audit cannot be replayed, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    Guarantee,
    PureDP,
    Relation,
    group,
)

STEPS = {  # metrics that count records
    "SymmetricDistance": ADD_REMOVE,
    "InsertDeleteDistance": ADD_REMOVE,
    "ChangeOneDistance": REPLACE_ONE,
    "HammingDistance": REPLACE_ONE,
}


@dataclass(frozen=True)
class Measured:
    """A measurement, invoked once per trial on `prepare(data)`."""

    measurement: Any
    prepare: Callable[[Any], Any]

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> Any:
        argument = self.prepare(data)
        return [self.measurement(argument) for _ in range(trials)]

    @property
    def __name__(self) -> str:
        return "opendp measurement"

    def guarantee(self, d_in: Any = 1, delta: float | None = None, relation: Relation | None = None) -> Guarantee:
        """What the measurement's privacy map states for inputs at distance `d_in`.

        A smoothed measure is a whole curve: `delta` picks the point. `relation` names what distance d_in means;
        left out, it follows from the input metric, and is replace-one where that does not count records.
        """
        metric = str(self.measurement.input_metric).partition("(")[0]
        steps = STEPS.get(metric)
        if relation is None:
            relation = REPLACE_ONE if steps is None else group(steps, int(d_in))
        return read_loss(str(self.measurement.output_measure), self.measurement.map(d_in), delta, relation)


def measurement(made: Any, prepare: Callable[[Any], Any] | None = None) -> Measured:
    """A mechanism from an OpenDP measurement; `prepare` turns a dataset into its argument (arrays become lists)."""
    try:
        from opendp.mod import Measurement
    except ImportError as missing:
        raise MissingDependency("opendp", "auditing its measurements", "adapters") from missing
    if not isinstance(made, Measurement):
        remedy = "Pass what make_laplace, then_gaussian, ... return."
        raise InvalidInput("measurement", made, "an opendp Measurement", remedy)
    return Measured(made, plain if prepare is None else prepare)


def plain(data: Any) -> Any:
    """Arrays as lists, numpy numbers as Python's."""
    return data.tolist() if isinstance(data, np.ndarray | np.generic) else data


def read_loss(measure: str, loss: Any, delta: float | None, relation: Relation) -> Guarantee:
    """OpenDP's loss as a guarantee."""
    if measure.startswith("MaxDivergence"):
        return PureDP(float(loss), relation=relation)
    if measure.startswith("ZeroConcentratedDivergence"):
        return ZCDP(float(loss), relation=relation)
    if measure.startswith(("Approximate(MaxDivergence", "FixedSmoothedMaxDivergence")):
        epsilon, fixed = loss
        return (
            ApproxDP(float(epsilon), float(fixed), relation=relation) if fixed else PureDP(epsilon, relation=relation)
        )
    if measure.startswith("SmoothedMaxDivergence"):
        if delta is None:
            raise InvalidInput("delta", None, "given for a privacy profile", "Pass delta=1e-6 for example.")
        return ApproxDP(float(loss.epsilon(delta)), delta, relation=relation)
    remedy = "State the guarantee yourself, for example ApproxDP(1.0, 1e-5)."
    raise InvalidInput("output measure", measure, "max divergence, smoothed or fixed, or zCDP", remedy)
