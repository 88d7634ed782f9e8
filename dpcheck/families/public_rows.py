"""Private least squares, scaled by a root that public rows determine: what both protocols of section 5.2 do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee, Relation
from dpcheck.bounds.library.local import nldp_glm_public as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.kernels.method import Array
from dpcheck.kernels.one_answer import HELD
from dpcheck.solver import Calibration, Example, Solver, approximate

LARGEST_ROOT = 1e6


@dataclass(frozen=True, eq=False)
class PublicRows:
    """Rows with ‖x‖₂ ≤ row_bound and labels |y| ≤ label_bound of users, and public rows of the same law."""

    X: Array
    y: Array
    public: Array
    row_bound: float = 1.0
    label_bound: float = 1.0

    def __post_init__(self) -> None:
        for name in ("X", "y", "public"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        shapes = self.X.ndim == 2 and self.y.shape == (len(self.X),) and self.public.shape[1:] == self.X.shape[1:]
        if not shapes or len(self.X) < 1 or len(self.public) < 1:
            limit = "X (n, p), y (n,) and public rows (m, p)"
            raise InvalidInput("data", (self.X.shape, self.y.shape, self.public.shape), limit, "Match their shapes.")
        longest = float(np.linalg.norm(self.X, axis=1).max())
        if not longest <= self.row_bound * (1 + 1e-12):
            raise InvalidInput("rows", longest, f"of norm at most {self.row_bound:g}", "Scale or clip them.")
        if not float(np.abs(self.y).max()) <= self.label_bound * (1 + 1e-12):
            limit = f"at most {self.label_bound:g}"
            raise InvalidInput("labels", float(np.abs(self.y).max()), limit, "Clip them: every record is to be hidden.")

    @property
    def n(self) -> int:
        """Users."""
        return len(self.X)


def random_record(data: PublicRows, rng: np.random.Generator) -> PublicRows:
    """One record replaced by one as long as the bounds allow."""
    X, y, i = data.X.copy(), data.y.copy(), int(rng.integers(data.n))
    x = rng.standard_normal(X.shape[1])
    X[i] = x * data.row_bound * (1 - 1e-12) / np.linalg.norm(x)
    y[i] = rng.choice([-1.0, 1.0]) * data.label_bound
    return replace(data, X=X, y=y)


def smallest_roots(change: Callable[[Array], Array], margins: Array) -> Array:
    """Of each row of margins the least c > 0 with c·mean(change(c·margins)) = 1, by bracketing; nan if there is none.

    There may be two roots: the mean falls again where all margins are large. Newton's method may find the other.
    """

    def reached(c: Array) -> Array:
        return np.asarray(c * change(c[:, None] * margins).mean(axis=1) >= 1)

    low, high = np.zeros(len(margins)), np.full(len(margins), np.nan)
    for c in np.geomspace(1e-3, LARGEST_ROOT, 200):
        found = np.isnan(high) & reached(np.full(len(margins), c))
        high[found] = c
        low[np.isnan(high)] = c
    for _ in range(60):
        middle = (low + high) / 2
        above = reached(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


@dataclass(frozen=True)
class ScaledLeastSquares(Solver):
    """`change` is the derivative of the mean in the margin: Φ'' of a GLM, f' of a regression.

    A run whose root does not exist, or whose noisy Gram matrix has no positive spectrum, gives 0.
    """

    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    privacy: ClassVar[Claim] = theory.theorem1

    def change(self, margins: Array) -> Array:
        """Of the link, at these margins."""
        raise NotImplementedError

    def must_suit(self, data: PublicRows, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data, PublicRows):
            raise InvalidInput("data", type(data).__name__, "PublicRows", "Give rows, labels and public rows.")
        if calibration == "stated":
            approximate(guarantee)

    def release(self, data: PublicRows, plan: None) -> Release:
        return theory.released.at(row_r=data.row_bound)  # privacy: dwang20.theorem5.2.1

    def method(self, data: PublicRows, plan: None, released: Released) -> OneReport:
        p = data.X.shape[1]
        public, unit = data.public, data.row_bound / data.label_bound
        return OneReport(
            lambda data: reported(data, unit), lambda reports: self.served(reports, public, unit),
            users=data.n, each=p * (p + 1) // 2 + p, outputs=p,
        )  # fmt: skip

    def served(self, reports: Array, public: Array, unit: float) -> Array:
        """Least squares of the sums, times the root."""
        p, means = public.shape[1], reports.mean(axis=1)
        rows, columns = np.triu_indices(p)
        gram = np.empty((len(means), p, p))
        gram[:, rows, columns] = gram[:, columns, rows] = means[:, : len(rows)]
        found, definite = np.zeros((len(means), p)), np.linalg.eigvalsh(gram)[:, 0] > 0
        least = np.linalg.solve(gram[definite], means[definite, len(rows) :, None] / unit)[..., 0]
        for first in range(0, len(least), held := max(1, HELD // len(public))):
            part = least[first : first + held]
            part *= np.nan_to_num(smallest_roots(self.change, part @ public.T))[:, None]
        found[definite] = least
        return found

    def stated(self, data: PublicRows, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = guarantee.parameters
        noise = self.privacy.evaluate(row_r=data.row_bound, eps=promised["eps"], delta=promised["delta"])
        return self.release(data, plan).with_noise(float(noise)), [self.privacy]

    def certifying(self, data: PublicRows, plan: None) -> Sequence[Claim]:
        return []

    def worst_pair(self) -> tuple[PublicRows, PublicRows]:
        """One user swaps her two coordinates, whose product is a quarter, and the sign of her label."""
        a, b = np.sqrt((1 + np.sqrt(0.75)) / 2), np.sqrt((1 - np.sqrt(0.75)) / 2)
        public = np.array([[0.5, 0.5], [0.5, -0.5]])
        first = PublicRows(np.array([[a, b]]) * (1 - 1e-12), np.array([1.0]), public)
        return first, replace(first, X=first.X[:, ::-1].copy(), y=-first.y)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), ApproxDP(1.0, 1e-2, relation=LOCAL), neighbour=random_record, bug=0.25)


def reported(data: PublicRows, unit: float) -> Array:
    """The upper triangle of xxᵀ, and xy in its unit, (n, p(p+1)/2 + p)."""
    rows, columns = np.triu_indices(data.X.shape[1])
    return np.hstack([data.X[:, rows] * data.X[:, columns], unit * data.X * data.y[:, None]])
