"""Regression from one noisy report of each user and public features: least squares, then a scale that fits the link.

A user reports the upper triangle of x xᵀ in units of r², and x y in units of r B, where ‖x‖₂ ≤ r and |y| ≤ B, so that
noise of one scale suits both. The server solves least squares from their means, and scales the solution by the least c
with c · mean slope(c <x, w>) = 1 over the public features: slope is Φ'' of a GLM, f' of a link (dwang20, section 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.kernels.method import Array
from dpcheck.kernels.one_answer import HELD

ROUNDING = 1e-12  # of a bound, for how norms are computed; what is above it is scaled to it
FINENESS, DOUBLINGS, HALVINGS = 4, 24, 45  # scales tried: four in each doubling; then halvings of the gap
TINY = 2.0**-20
BELOW_ONE = ApproxDP(0.9, 1e-2, relation=LOCAL)  # where the published noise is claimed to do


@dataclass(frozen=True)
class Slope:
    """Φ'' of a GLM or f' of a link; a scale below which none can fit, 1 over its largest value if it has one; and its
    degree if it is homogeneous, as |t|² is: then the scale has a formula.
    """

    of: Callable[[Array], Array]
    least: float = TINY
    degree: float | None = None


@dataclass(frozen=True, eq=False)
class LabelledUsers:
    """Users' features X (n, p) and labels y (n,), private; features of others (m, p), public; and the public bound r.

    Raises InvalidInput on what is not finite, of the wrong shape, or too long. No refusal quotes a record.
    """

    X: Array
    y: Array
    public: Array
    row_bound: float = 1.0

    def __post_init__(self) -> None:
        for name, axes in (("X", 2), ("y", 1), ("public", 2)):
            try:
                found = np.asarray(getattr(self, name), float)
            except (TypeError, ValueError):
                found = np.empty(0)
            if found.ndim != axes or found.size == 0 or not np.all(np.isfinite(found)):
                limit = f"finite numbers in {axes} dimension{'s' if axes > 1 else ''}, at least one"
                raise InvalidInput(name, f"shape {found.shape}", limit, "Pass one row a person.")
            object.__setattr__(self, name, found)
        if len(self.y) != len(self.X) or self.public.shape[1] != self.X.shape[1]:
            shapes = [self.X.shape, self.y.shape, self.public.shape]
            raise InvalidInput("X, y, public", shapes, "(n, p), (n,) and (m, p)", "Give each user one label.")
        if not 0 < self.row_bound < np.inf:
            raise InvalidInput("row_bound", self.row_bound, "a finite number > 0", "It bounds ‖x‖₂ and is public.")
        if np.any(np.linalg.norm(self.X, axis=1) > self.row_bound * (1 + ROUNDING)):
            raise InvalidInput("users' features", "some", f"of norm at most {self.row_bound:g}", "Clip or scale them.")

    @property
    def n(self) -> int:
        return len(self.X)

    def with_user(self, i: int, x: Array, y: float) -> LabelledUsers:
        """The neighbour in which user i has another record."""
        X, labels = self.X.copy(), self.y.copy()
        X[i], labels[i] = x, y
        return replace(self, X=X, y=labels)


def must_be_labelled(data: Any, label_bound: float) -> None:
    """Refuse other data, and labels beyond what the noise hides."""
    if not isinstance(data, LabelledUsers):
        raise InvalidInput("data", type(data).__name__, "LabelledUsers", "Give X, y and public features.")
    if np.any(np.abs(data.y) > label_bound * (1 + ROUNDING)):
        raise InvalidInput(
            "users' labels", "some", f"at most {label_bound:g} in size", "Clip them to the public bound."
        )


# A user ----------------------------------------------------------------------------------------------
def report(X: Array, y: Array, row_bound: float, label_bound: float) -> Array:
    """What each user is asked for, (n, p(p+1)/2 + p)."""
    rows, columns = np.triu_indices(X.shape[1])
    scaled = X / np.maximum(row_bound, np.linalg.norm(X, axis=1))[:, None]
    return np.hstack([scaled[:, rows] * scaled[:, columns], scaled * np.clip(y / label_bound, -1, 1)[:, None]])


# The server ------------------------------------------------------------------------------------------
def least_squares(mean_report: Array, p: int, row_bound: float, label_bound: float) -> Array:
    """(XᵀX)⁻¹Xᵀy from mean reports (k, p(p+1)/2 + p), (k, p)."""
    rows, columns = np.triu_indices(p)
    gram = np.empty((len(mean_report), p, p))
    gram[:, rows, columns] = gram[:, columns, rows] = mean_report[:, : len(rows)] * row_bound**2
    return np.asarray(np.linalg.solve(gram, mean_report[:, len(rows) :, None] * (row_bound * label_bound))[..., 0])


def enough_users(public: Array, row_bound: float, noise_std: float) -> int:
    """Users from which on the noise on x xᵀ, a matrix of norm about 2σr²√(p/n), is at most half the least eigenvalue of
    the features' covariance, as the public ones show it. With far fewer the solution is noise.
    """
    p = public.shape[1]
    least = float(np.linalg.eigvalsh(public.T @ public / len(public))[0])
    if least <= 0:
        raise InvalidInput("public features", "some", "of full rank", "Leave out features that others determine.")
    return math.ceil(p * (4 * noise_std * row_bound**2 / least) ** 2)


def fitting_scale(slope: Slope, predicted: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """The least c > 0 with c · mean slope(c · predicted) = 1 in each row, (k,), and whether there is one, (k,).

    Where there is none, what comes nearest. Newton's iteration, as printed, finds some root or none: beyond the least
    one the function may fall back to 0. `weights` (k, m) says how often each prediction counts.
    """
    k, m = predicted.shape
    share = np.broadcast_to(1 / m if weights is None else weights / weights.sum(axis=1, keepdims=True), (k, m))
    if slope.degree is not None:
        mean = np.einsum("ij,ij->i", slope.of(predicted), share)
        return mean ** (-1 / (1 + slope.degree)), mean > 0

    def height(c: Array, rows: Array) -> Array:
        return np.asarray(c * np.einsum("ij,ij->i", slope.of(c[:, None] * predicted[rows]), share[rows]))

    low, high, nearest, best = np.full(k, slope.least), np.full(k, np.nan), np.full(k, slope.least), np.full(k, -np.inf)
    for c in slope.least * 2.0 ** (np.arange(FINENESS * DOUBLINGS + 1) / FINENESS):
        rows = np.flatnonzero(np.isnan(high))
        if not rows.size:
            break
        reached = height(np.full(len(rows), c), rows)
        better = reached > best[rows]
        nearest[rows[better]], best[rows[better]] = c, reached[better]
        high[rows[reached >= 1]] = c
        low[rows[reached < 1]] = c
    found = np.flatnonzero(~np.isnan(high))
    ends = np.stack([low[found], high[found]])
    for _ in range(HALVINGS if found.size else 0):
        middle = ends.mean(axis=0)
        above = height(middle, found) >= 1
        ends = np.where([~above, above], middle, ends)
    nearest[found] = ends[1]
    return nearest, ~np.isnan(high)


def scaled_solution(mean_report: Array, data: LabelledUsers, slope: Slope, label_bound: float) -> Array:
    """Least squares from the users' mean report, times the scale that the public features ask for."""
    w = least_squares(mean_report, data.X.shape[1], data.row_bound, label_bound)
    for first in range(0, len(w), held := max(1, HELD // len(data.public))):
        part = w[first : first + held]
        part *= fitting_scale(slope, part @ data.public.T)[0][:, None]
    return w


def protocol(data: LabelledUsers, slope: Slope, label_bound: float) -> OneReport:
    """One report a user, and the server's solution."""

    def asked(users: Any) -> Array:
        return report(users.X, users.y, users.row_bound, label_bound)

    def served(reports: Array) -> Array:
        return scaled_solution(mean_of_users(reports), data, slope, label_bound)

    p = data.X.shape[1]
    return OneReport(asked, served, data.n, p * (p + 3) // 2, p)


# Pairs -----------------------------------------------------------------------------------------------
def worst_users(label_bound: float) -> tuple[LabelledUsers, LabelledUsers]:
    """One user at 60 degrees from the other and with the opposite label, turned so that x xᵀ differs on the diagonal
    alone, where each entry is counted once: she moves the report by √(9/2), the most there is.
    """
    public = np.array([[0.6, 0.0], [0.0, 0.6], [0.5, 0.5], [-0.4, 0.5]])
    one, other = (np.array([[np.cos(a), np.sin(a)]]) for a in np.deg2rad([15.0, 75.0]))
    first, second = (LabelledUsers(x, np.array([y]), public) for x, y in ((one, label_bound), (other, -label_bound)))
    return first, second


def another_user(data: LabelledUsers, rng: np.random.Generator, label_bound: float) -> LabelledUsers:
    """One user replaced by a random one, as long as the bounds allow or shorter."""
    x = rng.standard_normal(data.X.shape[1])
    x *= data.row_bound * rng.choice([1.0, rng.random()]) / np.linalg.norm(x)
    return data.with_user(int(rng.integers(data.n)), x, label_bound * rng.choice([-1.0, 1.0, rng.random()]))
