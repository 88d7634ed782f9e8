"""DP-LSSGD (lwang21, Algorithm 5; lssgd20, Algorithm 1). Claims: bounds/library/nonconvex/dp_lssgd.py and its kin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.smoothed_solver import SmoothedSolver
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.losses import Array

Schedule = Literal["falling", "constant"]


Output = Literal["last", "mean", "random"]


@dataclass(frozen=True)
class DPLSSGD(SmoothedSolver):
    """w <- w - η A_σ⁻¹ (gradient of a random batch + noise), from 0; smoothing = 0 is DP-SGD.

    Step sizes fall as rate/t (the documents' experiments) or are constant, rate/√T (their theorems). The algorithm
    returns the last iterate, the convex theorems are about the mean; of nonconvex risks a random one is small.
    """

    schedule: Schedule = field(default="falling", kw_only=True)
    released: Output = field(default="last", kw_only=True)
    name: ClassVar[str] = "dp_lssgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, value, known in (
            ("schedule", self.schedule, ("falling", "constant")),
            ("released", self.released, ("last", "mean", "random")),
        ):
            if value not in known:
                raise InvalidInput(what, value, f"one of {', '.join(known)}", f"Use {known[0]}.")

    @property
    def needs_path(self) -> bool:  # type: ignore[override]
        return self.released != "last"

    def step_sizes(self, steps: int) -> Array:
        falling = self.schedule == "falling"
        return self.rate / np.arange(1.0, steps + 1) if falling else np.full(steps, self.rate / np.sqrt(steps))

    def moved(self, w: Array, smooth: Array, eta: float, memory: list[Array]) -> Array:
        return w - eta * smooth

    def path(self, operator: LaplacianSmoothing, etas: Array, released: Array) -> Iterator[tuple[Array, Array]]:
        """A_σ(w^k - w^(k+1))/η is the noisy gradient."""
        w = np.zeros(released[:, 0].shape)
        for t, eta in enumerate(etas):
            yield w, operator.apply(w - released[:, t]) / eta
            w = released[:, t]

    def output(self, iterates: Array, rng: np.random.Generator) -> Array:
        """w^T; the mean of w^0 to w^(T-1), weighted by the step sizes; or one of these at random, so weighted."""
        if self.released == "last":
            return iterates[-1]
        etas = self.step_sizes(len(iterates) - 1)
        weights = etas / etas.sum()
        if self.released == "mean":
            return np.asarray(np.einsum("t,tkd->kd", weights, iterates[:-1]))
        k = iterates.shape[1]
        return iterates[rng.choice(len(weights), size=k, p=weights), np.arange(k)]
