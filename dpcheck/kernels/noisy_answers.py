"""Noise on answers, law by law: drawing it for a block of trials, and the log density of what came out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import (
    Gaussian,
    HalfSphere,
    L2Laplace,
    Laplace,
    Law,
    OneBit,
    Selected,
    SmoothNoise,
    Wishart,
)
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.kernels import exact_draws
from dpcheck.kernels.blocks import NOISE_HELD, steps_held
from dpcheck.kernels.method import Method
from dpcheck.kernels.noise import l2_laplace
from dpcheck.kernels.reports import half_sphere_log_density, half_spheres, log_chances
from dpcheck.kernels.selection import select, selection_logs
from dpcheck.kernels.wishart import wishart_log_density, wishart_triangles

Array = np.ndarray
STOPPED = 0.0  # what a transcript shows of a trial that has stopped; no answer with noise is that
NO_CANDIDATE = -1.0


def part_of(released: Released, t: int) -> Any:
    """The release that step t belongs to; the last one goes on, unless they take turns."""
    parts = released.parts
    if isinstance(released, Composed) and released.in_turn:
        return parts[t % len(parts)]
    for part in parts[:-1]:
        if t < round(float(part.steps)):
            return part
        t -= round(float(part.steps))
    return parts[-1]


def answer_width(method: Method, released: Released) -> int:
    """How many numbers an answer has: a selection is one, whatever it chose from; smooth noise lets out no bounds."""
    law = released.parts[0].law
    return 1 if isinstance(law, Selected) else method.width // 2 if isinstance(law, SmoothNoise) else method.width


class NoisyAnswers:
    """Noise for all steps of a block. Normals are drawn a few steps at a time into one buffer."""

    def __init__(self, released: Released, rng: np.random.Generator, method: Method, buffer: Array) -> None:
        self.released, self.rng, self.buffer = released, rng, buffer
        self.width, self.steps, self.lattice = method.width, method.steps, method.lattice
        self.laws = [part.law for part in released.parts]
        self.held = 0

    def of(self, asked: Array, t: int) -> Array:
        """The answer of step t; `asked` may be written into."""
        law = self.laws[0] if len(self.laws) == 1 else part_of(self.released, t).law
        scale = float(law.scale)
        if isinstance(law, Selected):
            return chosen(law, asked, self.rng) if self.lattice == 0 else self._chosen_exactly(law, asked)
        if isinstance(law, OneBit):
            return exact_draws.reports(self.rng, asked, scale)
        if isinstance(law, HalfSphere):
            return half_spheres(self.rng, asked.reshape(-1, int(law.width)), scale).reshape(asked.shape)
        if isinstance(law, SmoothNoise):
            numbers, bounds = np.split(asked, 2, axis=1)
            drawn = self.rng.standard_normal(numbers.shape)
            return np.asarray(numbers + scale * bounds * (np.sinh(drawn) if law.noise == "arsinh" else drawn))
        if isinstance(law, Gaussian):
            drawn = self._normals(t, len(asked))
            drawn *= scale
        elif scale == 0:
            return asked
        elif self.lattice > 0:
            whole = whole_scale(scale, self.lattice)
            drawn_whole = (
                exact_draws.discrete_laplace(self.rng, whole, asked.shape)
                if isinstance(law, Laplace)
                else exact_draws.rounded_l2_laplace(self.rng, whole, *asked.shape)
            )
            return np.asarray((multiples(asked, self.lattice) + drawn_whole) * self.lattice)
        elif isinstance(law, Wishart):
            matrices = asked.size // triangle(law)  # of a user each, where an answer holds several
            drawn = wishart_triangles(self.rng, scale, float(law.degrees), int(law.side), matrices).reshape(asked.shape)
        elif isinstance(law, Laplace):
            drawn = self.rng.laplace(scale=scale, size=asked.shape)
        else:
            drawn = l2_laplace(self.rng, scale, *asked.shape)
        asked += drawn
        return asked

    def _chosen_exactly(self, law: Selected, scores: Array) -> Array:
        """A selection by scores in whole multiples of the lattice, (k, 1)."""
        scale = float(law.scale)
        if scale == 0:
            return scores.argmax(axis=1)[:, None].astype(float)
        places, whole = multiples(scores, self.lattice), whole_scale(scale, self.lattice)
        if law.noise == "laplace":
            return exact_draws.noisy_maximum(self.rng, places, whole)[:, None].astype(float)
        behind = places.max(axis=1, keepdims=True) - places
        choose = exact_draws.exponential_choice if law.noise == "gumbel" else exact_draws.permute_and_flip
        return choose(self.rng, behind, whole)[:, None].astype(float)

    def _normals(self, t: int, running: int) -> Array:
        """Those of step t; a refill draws for the trials that still run."""
        if self.held == 0:
            self.held = steps_held(running, self.width, self.steps)
        at = t % self.held
        if at == 0:
            shape = (min(self.held, self.steps - t), running, self.width)
            self.normals = self.buffer[: math.prod(shape)].reshape(shape)
            self.rng.standard_normal(out=self.normals)
        return self.normals[at, :running]


def triangle(law: Wishart) -> int:
    """Entries of a matrix, each once."""
    return int(law.side) * (int(law.side) + 1) // 2


def multiples(values: Array, lattice: float) -> NDArray[np.int64]:
    """Of the lattice, a power of two, rounded."""
    return np.rint(values / lattice).astype(np.int64)


def whole_scale(scale: float, lattice: float) -> int:
    """A whole number of the lattice, rounded up."""
    return math.ceil(scale / lattice)


def noise_buffer(k: int, width: int, steps: int) -> Array:
    """Memory for the normals of blocks of up to k trials; narrower blocks hold more steps."""
    return np.empty(min(steps * k * width, max(NOISE_HELD, k * width)))


def chosen(law: Selected, scores: Array, rng: np.random.Generator) -> Array:
    """The selected candidate of each trial, (k, 1)."""
    if float(law.scale) == 0:
        return scores.argmax(axis=1)[:, None].astype(float)
    return select(scores, 2.0, float(law.scale), rng, law.noise)[:, None].astype(float)  # type: ignore[arg-type]


def log_density(law: Law, answers: Array, asked: Array) -> Array:
    """Of answers (k, width) to what was asked, up to a constant, (k,); 0 for trials that had stopped."""
    if float(law.scale) == 0:
        raise InvalidInput("noise_std", 0.0, "> 0 in every step", "Without noise a transcript has no density.")
    if isinstance(law, Selected):
        index = answers[:, 0].astype(int)
        logs = selection_logs(asked, 2.0, float(law.scale), law.noise)  # type: ignore[arg-type]
        return np.where(index >= 0, logs[np.arange(len(logs)), np.maximum(index, 0)], 0.0)
    if isinstance(law, OneBit):
        return log_chances(answers, asked, float(law.scale)).sum(axis=1)
    if isinstance(law, HalfSphere):
        vectors = (len(asked), -1, int(law.width))
        return half_sphere_log_density(answers.reshape(vectors), asked.reshape(vectors), float(law.scale)).sum(axis=1)
    if isinstance(law, SmoothNoise):
        return smooth_log_density(law, answers, asked)
    return np.where((answers == STOPPED).all(axis=1), 0.0, _additive(law, answers, asked))


def smooth_log_density(law: SmoothNoise, answers: Array, asked: Array) -> Array:
    """Of numbers with noise as wide as their bounds, up to a constant, (k,)."""
    numbers, bounds = np.split(asked, 2, axis=1)
    width = float(law.scale) * bounds
    z = (answers - numbers) / width
    y = np.arcsinh(z) if law.noise == "arsinh" else z
    logs = -(y**2) / 2 - np.log(width) - (np.log1p(z**2) / 2 if law.noise == "arsinh" else 0.0)
    return np.asarray(logs.sum(axis=1))


def _additive(law: Law, answers: Array, asked: Array) -> Array:
    scale, d = float(law.scale), answers.shape[1]
    if isinstance(law, Gaussian):
        return gaussian_log_density(answers, asked, scale)
    gap = answers - asked
    if isinstance(law, Wishart):
        found = wishart_log_density(gap.reshape(-1, triangle(law)), scale, float(law.degrees), int(law.side))
        return found.reshape(len(answers), -1).sum(axis=1)
    size = np.abs(gap).sum(axis=1) if isinstance(law, Laplace) else np.linalg.norm(gap, axis=1)
    assert isinstance(law, Laplace | L2Laplace)
    return -size / scale - d * math.log(scale)
