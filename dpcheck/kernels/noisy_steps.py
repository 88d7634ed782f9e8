"""What a white-box adversary knows of a noisy descent: the exact law of each step, given the steps before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density, mixture_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.losses import Array
from dpcheck.problems.problem import Problem

MOST_BATCHES = 1000  # that a step may have drawn, batches with the same records counted once


@dataclass(frozen=True, eq=False)
class NoisySteps:
    """u_t = w_(t-1) - eta_t (g + sigma_t z), w_t = project(u_t); g is the gradient of all records or of a batch."""

    start: Array
    etas: Array
    sigmas: Array
    batch: int | None

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the points u_1, ..., u_T, shape (k, T, d), up to a constant, shape (k,); batches are not revealed.

        A trial that stopped, by a rule that ignores the data, repeats its iterate: those steps say nothing.
        """
        if np.any(self.sigmas == 0):
            raise InvalidInput("noise_std", 0.0, "> 0 in every step", "Without noise a transcript has no density.")
        batches = [(1.0, None)] if self.batch is None else list(drawn(problem, self.batch))
        w, total = np.broadcast_to(self.start, released[:, 0].shape), np.zeros(len(released))
        for t, (eta, sigma) in enumerate(zip(self.etas, self.sigmas, strict=True)):
            u = released[:, t]
            gradients = record_gradients(problem, w) if self.batch else problem.gradient(w)[None]
            means = ((p, w - eta * mean_of(gradients, shares)) for p, shares in batches)
            step = mixture_log_density((p, gaussian_log_density(u, mean, eta * sigma)) for p, mean in means)
            total += np.where((u == w).all(axis=1), 0.0, step)
            w = problem.constraint.project(u)
        return total


def mean_of(gradients: Array, shares: Array | None) -> Array:
    """The gradient of a batch that holds each distinct record with this share; (r, k, d) to (k, d)."""
    return gradients[0] if shares is None else np.einsum("r,rkd->kd", shares, gradients)


def record_gradients(problem: Problem, W: Array) -> Array:
    """Of each distinct record at each point, (r, k, d)."""
    places, _ = distinct(problem)
    return np.stack([problem.gradient_at(W, np.full(len(W), i)) for i in places])


def distinct(problem: Problem) -> tuple[list[int], list[int]]:
    """Where each distinct record first occurs, and how often it does."""
    records = np.column_stack([problem.X, problem.y])
    _, places, counts = np.unique(records, axis=0, return_index=True, return_counts=True)
    return places.tolist(), counts.tolist()


def drawn(problem: Problem, batch: int) -> Iterator[tuple[float, Array]]:
    """The batches that may be drawn without replacement: probability, and share of each distinct record."""
    _, counts = distinct(problem)
    for parts in compositions(counts, batch):
        ways = math.prod(math.comb(count, int(part)) for count, part in zip(counts, parts, strict=True))
        yield ways / math.comb(problem.n, batch), parts / batch


def compositions(counts: list[int], total: int) -> NDArray[np.int64]:
    """All ways to take `total` out of piles of these sizes, one a row."""
    parts, left, rest = np.zeros((1, 0), int), np.array([total]), sum(counts)
    for count in counts:
        rest -= count
        low, high = np.maximum(0, left - rest), np.minimum(count, left)
        rows = np.repeat(np.arange(len(left)), high - low + 1)
        part = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
        parts, left = np.column_stack([parts[rows], part]), left[rows] - part
        if len(parts) > MOST_BATCHES:
            remedy = "Audit a pair with fewer distinct records, such as solver.worst_pair()."
            raise InvalidInput("different batches", f"over {MOST_BATCHES}", f"at most {MOST_BATCHES}", remedy)
    return parts
