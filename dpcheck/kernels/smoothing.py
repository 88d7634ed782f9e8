"""Laplacian smoothing A_σ⁻¹ v by FFT, all trials at once, and noisy gradient steps that it smooths.

Claims: bounds/library/nonconvex/laplacian_smoothing.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.gradient_steps import GradientSteps
from dpcheck.kernels.method import Array, State
from dpcheck.kernels.noise import must_be_counts


@dataclass(frozen=True)
class LaplacianSmoothing:
    """A_σ = I - σL on R^d, L the periodic second difference. σ = 0 and d = 1 give the identity.

    >>> LaplacianSmoothing(1.0, 4).solve(np.array([1.0, 0.0, 0.0, 0.0])).round(4).tolist()
    [0.4667, 0.2, 0.1333, 0.2]
    """

    sigma: float
    d: int

    def __post_init__(self) -> None:
        must_be_counts(d=self.d)
        if not 0 <= self.sigma < math.inf:
            raise InvalidInput("smoothing", self.sigma, "a finite number >= 0", "Pass smoothing=0.0 for none.")

    @cached_property
    def eigenvalues(self) -> Array:
        """1 + 2σ - 2σ cos(2πj/d), j = 0 to d-1 (lwang21.section5.2.fft)."""
        return 1 + 2 * self.sigma * (1 - np.cos(2 * np.pi * np.arange(self.d) / self.d))

    @property
    def gamma(self) -> float:
        """Mean of 1/λ (lwang21.proposition5.3.5)."""
        return float(np.mean(1 / self.eigenvalues))

    @property
    def beta(self) -> float:
        """Mean of 1/λ² (lwang21.proposition5.3.8)."""
        return float(np.mean(self.eigenvalues**-2.0))

    def apply(self, v: Array) -> Array:
        """A_σ v along the last axis."""
        return (1 + 2 * self.sigma) * v - self.sigma * (np.roll(v, 1, axis=-1) + np.roll(v, -1, axis=-1))

    def solve(self, v: Array) -> Array:
        """A_σ⁻¹ v along the last axis."""
        if self.sigma == 0 or self.d == 1:
            return v
        half = self.eigenvalues[: self.d // 2 + 1]
        return np.fft.irfft(np.fft.rfft(v, axis=-1) / half, n=self.d, axis=-1)

    def norm2(self, v: Array) -> Array:
        """‖v‖² in the norm of A_σ: D_σ of v = w⁰ - w*."""
        return np.asarray(np.einsum("...i,...i->...", v, self.apply(v)))

    def dual_norm2(self, v: Array) -> Array:
        """‖v‖² in the norm of A_σ⁻¹."""
        return np.asarray(np.einsum("...i,...i->...", v, self.solve(v)))


@dataclass(frozen=True, eq=False)
class SmoothedSteps(GradientSteps):
    """w <- w - η_t A_σ⁻¹ (gradient + noise)."""

    operator: LaplacianSmoothing = field(kw_only=True)

    def update(self, state: State, answer: Array, t: int) -> State:
        return super().update(state, self.operator.solve(answer), t)

    def grain(self, scale: float) -> float:
        return super().grain(scale) / float(self.operator.eigenvalues.max())
