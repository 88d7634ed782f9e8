"""Sparse regression by hard thresholding: records, steps and what protocols with private labels share.

Claims: bounds/library/local/hard_thresholding.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LABEL_ONLY, ApproxDP, Guarantee, Relation
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver, approximate

Array = np.ndarray


# Records -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Link:
    """A function f with slopes between `low` and `high`; labels are f(⟨x, θ⟩) up to bounded noise."""

    f: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    low: float
    high: float


def itself(u: Array) -> Array:
    """f(u) = u."""
    return u


def eight_and_cosine(u: Array) -> Array:
    """f(u) = 8u + cos u, of the document's experiments."""
    return 8 * u + np.cos(u)


def eight_less_sine(u: Array) -> Array:
    """Its slope."""
    return 8 - np.sin(u)


LINEAR = Link(itself, np.ones_like, 1.0, 1.0)
WAVY = Link(eight_and_cosine, eight_less_sine, 7.0, 9.0)


@dataclass(frozen=True, eq=False)
class SparseRecords:
    """Users with rows and labels within `noise` of f(⟨x, θ*⟩), where ‖θ*‖₂ ≤ 1 has at most `nonzeros` entries.

    Labels have the range of rows of ±1, unless `label_bound` says that all are of that size at most.
    """

    X: Array
    y: Array
    nonzeros: int
    noise: float
    link: Link = LINEAR
    label_bound: float | None = None

    def __post_init__(self) -> None:
        X, y = np.asarray(self.X), np.asarray(self.y)
        if X.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
            raise InvalidInput("records", "others", "arrays of numbers", "Encode what is none.")
        X, y = X.astype(float), y.astype(float)
        if X.ndim != 2 or X.size == 0 or y.shape != X.shape[:1]:
            raise InvalidInput("records", (X.shape, y.shape), "X of (users, d) and y of (users,)", "One row a user.")
        if not np.all(np.isfinite(X)):
            raise InvalidInput("rows", "some", "finite numbers", "Rows are public: mend those that are not.")
        if not 1 <= self.nonzeros <= X.shape[1] or not 0 <= self.noise < math.inf:
            found, limit = (self.nonzeros, self.noise), f"from 1 to {X.shape[1]}, and finite from 0 on"
            raise InvalidInput("nonzeros and noise", found, limit, "They are public bounds of the problem.")
        if self.label_bound is not None and not 0 < self.label_bound < math.inf:
            raise InvalidInput("label_bound", self.label_bound, "finite and > 0", "Leave it out for rows of ±1.")
        low, high = self.labels
        if not np.all((y >= low - 1e-9) & (y <= high + 1e-9)):
            limit = f"from {low:.6g} to {high:.6g}, as nonzeros, noise and link allow"
            raise InvalidInput("labels", "some outside", limit, "Clip them, or raise a bound.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", np.clip(y, low, high))  # what was rounded beyond an end stands at it

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def labels(self) -> tuple[float, float]:
        """The least and the largest label: as said, or as some θ* of the class allows, where |⟨x, θ*⟩| ≤ √nonzeros."""
        if self.label_bound is not None:
            return -self.label_bound, self.label_bound
        ends = self.link.f(np.sqrt(self.nonzeros) * np.array([-1.0, 1.0]))
        return float(ends[0]) - self.noise, float(ends[1]) + self.noise

    def with_label(self, i: int, label: float) -> SparseRecords:
        """Another label of one user."""
        y = self.y.copy()
        y[i] = label
        return replace(self, y=y)


def must_be_records(data: Any, links: Sequence[Link]) -> None:
    """Refuse other data, and records with a link that a solver is not for."""
    if not isinstance(data, SparseRecords) or data.link not in links:
        limit = "SparseRecords with a link that this solver is for"
        raise InvalidInput("data", type(data).__name__, limit, "Make them of X, y, nonzeros and noise.")


def other_label(data: SparseRecords, rng: np.random.Generator) -> SparseRecords:
    """A neighbour: the label of one user is another one of the range."""
    return data.with_label(int(rng.integers(data.n)), float(rng.uniform(*data.labels)))


def other_record(data: SparseRecords, rng: np.random.Generator) -> SparseRecords:
    """A neighbour: row and label of one user are others."""
    X, i = data.X.copy(), int(rng.integers(data.n))
    X[i] = rng.choice([-1.0, 1.0], data.d)
    return replace(data, X=X).with_label(i, float(rng.uniform(*data.labels)))


def generated(
    n: int, d: int, nonzeros: int, noise: float, seed: int, link: Link = LINEAR
) -> tuple[SparseRecords, Array]:
    """The document's generator with ‖θ*‖₂ = 1: entries uniform on [0, 1] at random places, scaled; and θ*."""
    rng = np.random.default_rng(seed)
    theta = np.zeros(d)
    theta[rng.choice(d, nonzeros, replace=False)] = rng.random(nonzeros)
    theta /= np.linalg.norm(theta)
    X = rng.choice([-1.0, 1.0], (n, d))
    return SparseRecords(X, link.f(X @ theta) + rng.uniform(-noise, noise, n), nonzeros, noise, link), theta


# Steps ---------------------------------------------------------------------------------------------
def thresholded(V: Array, kept: int) -> Array:
    """Each row with its `kept` largest entries, the others 0, projected onto the unit ball."""
    found = V
    if kept < V.shape[1]:
        found = np.zeros_like(V)
        largest = np.argpartition(np.abs(V), -kept, axis=1)[:, -kept:]
        np.put_along_axis(found, largest, np.take_along_axis(V, largest, axis=1), axis=1)
    return found / np.maximum(1, np.linalg.norm(found, axis=1, keepdims=True))


def gradients(theta: Array, X: Array, y: Array, link: Link) -> Array:
    """(f(⟨x, θ⟩) - y)·f'(⟨x, θ⟩) of each trial and user, (k, n): times x it is a user's gradient."""
    at = theta @ X.T
    return np.asarray((link.f(at) - y) * link.slope(at))


def step_size(link: Link) -> float:
    """The middle of what contracts: 2/(a² + b²)."""
    return 2 / (link.low**2 + link.high**2)


# Private labels ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LabelPrivate(Solver):
    """Each user sends her label with Gaussian noise, rows being public; the server fits a sparse θ to them.

    What is let out are the reports, so that nobody need be trusted with a label; neighbours differ in one.
    """

    relations: ClassVar[tuple[Relation, ...]] = (LABEL_ONLY,)
    minimises: ClassVar[bool] = False
    links: ClassVar[tuple[Link, ...]] = (LINEAR,)
    theory: ClassVar[Any]  # with `released`, `printed` and `corrected`: the library's module, or part of it

    @abstractmethod
    def fitted(self, data: SparseRecords, deviation: float, labels: Array) -> Array:
        """θ of noisy labels (k, n), (k, d). Of the data it uses the rows and public bounds."""

    def must_suit(self, data: SparseRecords, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_records(data, self.links)

    def release(self, data: SparseRecords, plan: None) -> Release:
        low, high = data.labels
        known: Release = self.theory.released  # of labels at the two ends of their range
        return replace(known, sensitivity=high - low)

    def method(self, data: SparseRecords, plan: None, released: Released) -> OneReport:
        server = partial(self.fitted, data, float(released.parts[0].law.scale))
        return OneReport(labels_of, partial(of_labels, server), data.n, 1, data.d)

    def stated(self, data: SparseRecords, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised: ApproxDP = approximate(guarantee)
        claim: Claim = self.theory.printed
        noise = claim.evaluate(noise_C=data.noise, eps=promised.eps, delta=promised.delta)
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def certifying(self, data: SparseRecords, plan: None) -> Sequence[Claim]:
        return [self.theory.corrected]

    def worst_pair(self) -> tuple[SparseRecords, SparseRecords]:
        """One user at the two ends of all labels."""
        link = self.links[0]
        data = SparseRecords(np.ones((1, 1)), np.array([float(link.f(np.zeros(1))[0])]), 1, 0.05, link)
        low, high = data.labels
        return data.with_label(0, low), data.with_label(0, high)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), ApproxDP(1.0, 1e-2, relation=LABEL_ONLY), neighbour=other_label)


def labels_of(data: SparseRecords) -> Array:
    """One number of each user."""
    return data.y[:, None]


def of_labels(server: Callable[[Array], Array], reports: Array) -> Array:
    """The server's side, of reports (k, users, 1)."""
    return server(reports[:, :, 0])


def hard_thresholding(data: SparseRecords, labels: Array, kept: int, eta: float, steps: int) -> Array:
    """Iterative hard thresholding from 0 on noisy labels (k, n)."""
    theta = np.zeros((len(labels), data.d))
    for _ in range(steps):
        theta = thresholded(theta - eta / data.n * gradients(theta, data.X, labels, data.link) @ data.X, kept)
    return theta


@dataclass(frozen=True)
class LabelPrivateThresholding(LabelPrivate):
    """Hard thresholding on noisy labels: 8·nonzeros entries are kept; the step size is in the middle."""

    steps: int = count(20)
    kept: int | None = count(None)
    step_size: float | None = positive(None)

    def fitted(self, data: SparseRecords, deviation: float, labels: Array) -> Array:
        eta = step_size(data.link) if self.step_size is None else self.step_size
        return hard_thresholding(data, labels, min(self.kept or 8 * data.nonzeros, data.d), eta, self.steps)
