"""Gradients whose tanh is evaluated in single precision, where the noise hides the difference."""

from __future__ import annotations

import math

import numpy as np

from dpcheck.problems.losses import Array, SignLoss
from dpcheck.problems.problem import Problem

# Up to this many records single precision also sums the slopes: its error grows with their number.
RECORDS_SUMMED_SINGLE = 64
LARGEST_TABLE = 1 << 22  # numbers in the rows: copies are made of them, and rows in a file may be too many for that
# Total variation that single-precision slopes may put between a run and exact arithmetic.
SINGLE_TV = 1e-5
ROUNDED = 1e-4  # of the sensitivity: as much more noise may pay for gradients in single precision


def hidden_by_noise(problem: Problem, noise_std: float, steps: int) -> bool:
    """Whether gradients in single precision move the law of the whole run by less than SINGLE_TV.

    Each step's mean moves by at most e = single_error(problem), so the divergence of the transcripts is
    at most steps e^2 / (2 noise^2) and, by Pinsker, their total variation sqrt(steps) e / (2 noise).
    """
    error = single_error(problem)
    return math.isfinite(error) and noise_std > 0 and math.sqrt(steps) * error / (2 * noise_std) <= SINGLE_TV


def single_error(problem: Problem) -> float:
    """How far the gradient in single precision is from the exact one, at most; infinite if there is none."""
    loss, elsewhere = problem.loss, problem.parted or problem.n * problem.X.shape[1] > LARGEST_TABLE
    if not isinstance(loss, SignLoss) or loss.tanh_form is None or elsewhere:
        return math.inf
    # A sum of n products of size height * row_bound / n, each factor rounded once (Higham 2002, section 3.1).
    summed = (problem.n + 2) * 2.0**-24 * loss.tanh_form[1] if problem.n <= RECORDS_SUMMED_SINGLE else 0.0
    return problem.row_bound * (loss.single_error + summed)


def in_single(problem: Problem) -> bool:
    """Whether gradients may be in single precision at the price of hardly more noise. A public rule."""
    return problem.n * single_error(problem) <= ROUNDED * problem.data_lipschitz < math.inf


def rounded_bound(problem: Problem, bound: float | None = None) -> float:
    """The bound on a record's gradient, with what single precision may add: full gradients are then 2G/n + 2e apart."""
    G = problem.data_lipschitz if bound is None else bound
    return G + problem.n * single_error(problem) if in_single(problem) else G


class SingleGradient:
    """The gradient in single precision, off by at most `single_error(problem)`; margins stay double.

    For losses of the form shift + height * tanh(rate * u), whose factors go into the matrices once. Single numbers
    hold rows in units of their bound: their own might be too small or too large for them.
    """

    def __init__(self, problem: Problem, k: int) -> None:
        assert isinstance(problem.loss, SignLoss)
        assert problem.loss.tanh_form is not None
        shift, height, rate = problem.loss.tanh_form
        signed = problem.X * problem.y[:, None]
        self.summed_single = problem.n <= RECORDS_SUMMED_SINGLE
        self.inward = np.ascontiguousarray(rate * signed.T)
        self.unit = problem.row_bound if self.summed_single else 1.0
        self.outward = (height / problem.n * (signed / self.unit)).astype(np.float32 if self.summed_single else float)
        # Repeated for every trial: adding a row of d to each would run a loop of length d.
        self.shift = np.tile(shift * signed.mean(axis=0), (k, 1))
        self.slopes = np.empty((k, problem.n), np.float32)
        self.sums = np.empty((k, problem.d), np.float32)
        self.l2 = problem.l2

    def fill(self, W: Array, G: Array, margins: Array) -> None:
        """The gradient at W, into G."""
        m = len(W)
        slopes = self.slopes[:m]
        np.copyto(slopes, np.matmul(W, self.inward, out=margins), casting="same_kind")
        if self.summed_single:
            G[...] = np.matmul(np.tanh(slopes, out=slopes), self.outward, out=self.sums[:m])
            G *= self.unit
        else:
            np.matmul(np.tanh(slopes, out=margins), self.outward, out=G)
        G += self.shift[:m]
        if self.l2 > 0:
            G += self.l2 * W
