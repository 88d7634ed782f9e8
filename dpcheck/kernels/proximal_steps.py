"""Noisy proximal gradient steps, all trials at once: the loop under DP-PGD, and what an adversary knows of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.kernels.blocks import Seed, block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.running import must_be_finite
from dpcheck.kernels.variance_reduction import proximal
from dpcheck.problems.losses import Array
from dpcheck.problems.problem import Problem

Choice = Literal["random", "noisy minimum", "exact minimum"]
GROWTH, SHRINK = 1 / 0.9, 0.5  # of a backtracked step: TFOCS tries a longer one each time, and halves what fails


@dataclass(frozen=True, eq=False)
class MapTrace(Trace):
    """`gradient_norms` are those of the exact maps P(x_k, grad F, gamma), `map_norms` those of the noisy ones, (T, k).

    All T steps are in it, whatever the round R, one a trial, of which x_R is released.
    """

    map_norms: Array
    rounds: NDArray[np.int64]

    @property
    def released_maps(self) -> Array:
        """||g_C,R|| of each trial."""
        return self.map_norms[self.rounds - 1, np.arange(len(self.rounds))]


@dataclass(frozen=True, eq=False)
class ProximalSteps:
    """x_(k+1) = prox(x_k - eta (grad F + sigma z)): the loop, and the law of each x_k - eta(...) for an adversary."""

    start: Array
    eta: float
    steps: int
    sigma: float
    l1: float = 0.0
    adaptive: bool = False

    @property
    def etas(self) -> Array:
        """One step size a step."""
        return np.full(self.steps, self.eta)

    def run(
        self, problem: Problem, seed: Seed, trials: int, choice: Choice = "random", trace: bool = False
    ) -> tuple[Array, MapTrace | None]:
        """The chosen iterate of each trial; blocks, and streams for noise and rounds, as in `noisy_descent`."""
        parent, w, parts = seed_of(seed), np.empty((trials, problem.d)), []
        for number, first, last in block_cuts(problem, trials):
            own = child(parent, number)
            x0 = self.start[first:last] if self.start.ndim == 2 else np.tile(self.start, (last - first, 1))
            rounds = np.random.default_rng(child(own, 2)).integers(1, self.steps + 1, last - first)
            w[first:last], part = self.block(problem, np.random.default_rng(child(own, 0)), x0, rounds, choice, trace)
            parts.append(part)
        must_be_finite(w)
        if not trace:
            return w, None
        iterates, led, exact, noisy, rounds = (np.concatenate(piece, axis=-1 if i == 4 else 1)
                                               for i, piece in enumerate(zip(*parts, strict=True)))  # fmt: skip
        law = None if self.adaptive or self.sigma == 0 or self.start.ndim == 2 else self
        return w, MapTrace(iterates, exact, map_norms=noisy, rounds=rounds, unprojected=led, law=law)  # type: ignore[arg-type]

    def block(
        self, problem: Problem, rng: np.random.Generator, x: Array, rounds: NDArray[np.int64], choice: Choice,
        trace: bool,
    ) -> tuple[Array, tuple[Any, ...]]:  # fmt: skip
        """The chosen iterates of some trials, and what a trace keeps."""
        data = replace(problem, l2=0.0)
        chosen, best, rounds = x.copy(), np.full(len(x), math.inf), rounds.copy()
        kept: tuple[list[Array], ...] = ([x], [], [], [])
        eta: Any = np.full((len(x), 1), self.eta) if self.adaptive else self.eta
        for k in range(1, self.steps + 1):
            exact = data.gradient(x)
            noisy = exact + self.sigma * rng.standard_normal(x.shape)  # privacy: wangxu19.algorithm1.noise.corrected
            if self.adaptive:
                eta = backtracked(data, problem, self.l1, x, exact, noisy, eta)
            led = x - eta * noisy
            new = proximal(problem, self.l1, led, eta)
            maps = np.linalg.norm(x - new, axis=1) / np.ravel(eta)
            still = exact_map(problem, self.l1, x, exact, eta) if trace or choice == "exact minimum" else maps
            if choice == "random":
                here = rounds == k
            else:
                score = maps if choice == "noisy minimum" else still
                here = score < best
                best, rounds = np.where(here, score, best), np.where(here, k, rounds)
            chosen[here] = x[here]
            if trace:
                for held, value in zip(kept, (new, led, still, maps), strict=True):
                    held.append(value)
            x, eta = new, eta * GROWTH if self.adaptive else eta
        return chosen, (*(np.stack(held) for held in kept), rounds) if trace else ()

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the points before the proximal step, (k, T, d), up to a constant, (k,)."""
        data = replace(problem, l2=0.0)
        x, logs = np.broadcast_to(self.start, released[:, 0].shape), np.zeros(len(released))
        for led in released.transpose(1, 0, 2):
            logs += gaussian_log_density(led, x - self.eta * data.gradient(x), self.eta * self.sigma)
            x = proximal(problem, self.l1, led, self.eta)
        return logs


def exact_map(problem: Problem, l1: float, x: Array, gradient: Array, eta: Any) -> Array:
    """||P(x, grad F, eta)|| of (4.2), for each point."""
    return np.linalg.norm(x - proximal(problem, l1, x - eta * gradient, eta), axis=1) / np.ravel(eta)


def backtracked(data: Problem, problem: Problem, l1: float, x: Array, exact: Array, noisy: Array, eta: Array) -> Array:
    """Step sizes halved until F lies below its quadratic model, as TFOCS does: they are read off the exact F."""
    value, eta = data.value(x), eta.copy()
    for _ in range(60):
        move = proximal(problem, l1, x - eta * noisy, eta) - x
        model = value + np.einsum("kd,kd->k", exact, move) + np.einsum("kd,kd->k", move, move) / (2 * eta[:, 0])
        bad = data.value(x + move) > model + 1e-12
        if not bad.any():
            break
        eta[bad] *= SHRINK
    return eta
