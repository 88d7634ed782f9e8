"""Methods that ask for a noisy gradient and a noisy Hessian in turn (dwang20, section 4.3): what they share.

A Hessian is asked for as its upper triangle, each entry once: noise is drawn once for an entry and its mirror image,
and the triangle's l2 norm is at most the Frobenius norm. Both questions have the triangle's width; a gradient is
padded with zeros. What is made of the answers, stopping included, sees nothing else of the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.problems.conditioning import loss_smoothness, public_gap
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.problem import Problem
from dpcheck.problems.sensing import Sensing
from dpcheck.settings import allowing

Data = Problem | Sensing
MOST_STEPS = 1000  # by default


@dataclass(frozen=True, eq=False)
class NoisyDerivatives(Method):
    """From `begin`, (d,). A state is where each trial stands, its last noisy gradient, and whether it has stopped."""

    begin: Array
    rounds_taken: int

    @property
    def steps(self) -> int:  # type: ignore[override]
        return 2 * self.rounds_taken

    @property
    def width(self) -> int:  # type: ignore[override]
        return triangle(self.d)

    @property
    def d(self) -> int:
        return int(self.begin.shape[-1])

    @cached_property
    def upper(self) -> tuple[Any, Any]:
        """Rows and columns of the upper triangle."""
        return np.triu_indices(self.d)

    def start(self, k: int) -> State:
        return np.tile(self.begin, (k, 1)), np.zeros((k, self.d)), np.zeros((k, 1))

    def query(self, data: Data, state: State, t: int, drawn: Drawn) -> Array:
        w, _, stopped = state
        runs = stopped[:, 0] == 0
        batch = None if drawn is None else drawn[runs]
        asked = np.zeros((len(w), self.width))
        if np.any(runs):
            asked[runs] = self.gradients(data, w[runs], batch) if t % 2 == 0 else self.triangles(data, w[runs], batch)
        return asked

    def gradients(self, data: Data, w: Array, drawn: Drawn) -> Array:
        """Padded to the width of a triangle."""
        found = data.gradient(w) if drawn is None else data.gradient_at(w, drawn)
        return np.pad(found, ((0, 0), (0, self.width - self.d)))

    def triangles(self, data: Data, w: Array, drawn: Drawn) -> Array:
        """Of the Hessians, diagonal included."""
        return data.hessians(w, drawn)[:, self.upper[0], self.upper[1]]

    def symmetric(self, answer: Array) -> Array:
        """Upper triangles as symmetric matrices, (k, d, d)."""
        found = np.empty((len(answer), self.d, self.d))
        found[:, self.upper[0], self.upper[1]] = answer
        found[:, self.upper[1], self.upper[0]] = answer
        return found

    def update(self, state: State, answer: Array, t: int) -> State:
        w, gradient, stopped = state
        if t % 2 == 0:
            return w, answer[:, : self.d].copy(), stopped
        runs = stopped[:, 0] == 0
        if np.any(runs):
            w, stopped = w.copy(), stopped.copy()
            w[runs], stopped[runs, 0] = self.moved(w[runs], gradient[runs], self.symmetric(answer[runs]))
        return w, gradient, stopped

    def moved(self, w: Array, gradient: Array, hessian: Array) -> tuple[Array, Array]:
        """Where a noisy gradient and a noisy Hessian lead, (k, d), and whether the trial stops there, (k,)."""
        raise NotImplementedError


def triangle(d: int) -> int:
    """Entries of a symmetric matrix, each once."""
    return d * (d + 1) // 2


# What the theorems ask of data, from public bounds -----------------------------------------------------
def constants(data: Data) -> dict[str, float]:
    """By the names of the symbols in bounds/library/nonconvex/saddle_points.py; Hessians move by 2M√k/n, k their rank.

    A regulariser is the same on all records and moves nothing: it is left out of M.
    """
    rank = data.rank if isinstance(data, Sensing) else 1
    smooth = data.smoothness if isinstance(data, Sensing) else loss_smoothness(data)
    return {"G": data.data_lipschitz, "M_second": smooth, "hessian_rank": float(rank)}


def bend(data: Data) -> float:
    """ρ; refused where the loss has none and so no radius follows."""
    rho = data.hessian_lipschitz
    if not 0 < rho < math.inf:
        limit = "a loss whose Hessian changes, at a bounded rate, to choose a radius by"
        raise InvalidInput("Hessian-Lipschitz constant", rho, limit, "Pass radius and steps yourself.")
    return rho


def largest_gap(data: Data) -> float:
    """A public bound on F at 0 less its least value, for losses that are at least 0."""
    return 1.0 if isinstance(data, Sensing) else public_gap(data)


def step_size(data: Data) -> float:
    """1/M of Theorem 4.3.1, the regulariser included; 1 for linear losses."""
    return 1 / (data.smoothness or 1.0)


def descent_steps(data: Data, aim: float) -> int:
    """MB/α² of Theorem 4.3.1 with B the largest loss at 0; from 1 to 1000."""
    return int(min(MOST_STEPS, max(1, math.ceil(largest_gap(data) / (step_size(data) * aim**2)))))


def is_point(start: Any) -> bool:
    """One row of finite numbers; that it has the problem's dimension is seen with the problem."""
    point = np.asarray(start, float)
    return point.ndim == 1 and point.size > 0 and bool(np.isfinite(point).all())


def start_setting() -> Any:
    """A public point to begin at, by default 0."""
    refuses = ((), (math.nan,), (0.0, math.inf), ("a",), 1.0)
    return allowing(None, "a point with finite coordinates", is_point, refuses=refuses)


def must_be_free(data: Data, name: str) -> None:
    """Refuse a constraint set that the algorithm would leave."""
    if not isinstance(data.constraint, WholeSpace):
        raise InvalidInput("constraint", data.constraint, "the whole space", f"{name} does not project.")


def second_order_error(data: Data, W: Array, rho: float) -> Array:
    """The least α for which each point is an α-SOSP (dwang20, Definition 4.3.2), (k,)."""
    sizes = np.linalg.norm(data.gradient(W), axis=1)
    least = np.linalg.eigvalsh(data.hessians(W))[:, 0]
    return np.maximum(sizes, np.maximum(-least, 0.0) ** 2 / rho)
