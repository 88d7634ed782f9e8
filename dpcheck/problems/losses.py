"""Losses of a linear model, phi(<x, w>, y), each with the exact range of its first two derivatives.
The constants of a Problem (Lipschitz, smoothness, curvature) are derived from these ranges, never declared.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpcheck.bounds.language.given import number

Array: TypeAlias = NDArray[np.float64]
Labels = Literal["sign", "real"]


@dataclass(frozen=True)
class Loss(ABC):
    """phi(margin, y). `labels`: "sign" means y in {-1, 1}, "real" means |y| <= a label bound.

    `separable` losses fall to zero as the margin grows: on separable data they have no minimiser. A `multiclass` loss
    takes one score a class in place of the margin.
    """

    convex: ClassVar[bool] = True
    labels: ClassVar[Labels] = "sign"
    separable: ClassVar[bool] = False
    multiclass: ClassVar[bool] = False

    @abstractmethod
    def value(self, margin: Any, y: Any) -> Any:
        """phi, elementwise."""

    @abstractmethod
    def derivative(self, margin: Any, y: Any) -> Any:
        """phi', the derivative in the margin, elementwise."""

    @abstractmethod
    def second_derivative(self, margin: Any, y: Any) -> Any:
        """phi'', elementwise; at a kink of phi' one of its two sides."""

    @abstractmethod
    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        """The supremum of |phi'| over |margin| <= margin_bound and the allowed labels; may be infinite."""

    @abstractmethod
    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        """Infimum and supremum of phi'' over |margin| <= margin_bound and the allowed labels."""

    def third_derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        """The supremum of the third derivative's size there; infinite where phi'' jumps, or nobody worked it out."""
        return math.inf

    def gradient_bound(self, row_bound: float, radius: float, label_bound: float, l2: float) -> float:
        """The supremum of ||phi' x + l2 w|| over ||x|| <= row_bound and ||w|| <= radius.

        |phi'| is largest at the end of the margin's range, where phi' x and w point the same way, so that
        the triangle inequality is an equality. Losses for which this fails override it.
        """
        pull = row_bound * self.derivative_bound(row_bound * radius, label_bound)
        return pull + l2 * radius if l2 > 0 else pull


class SignLoss(Loss):
    """A loss psi(y * margin) of labels in {-1, 1}."""

    labels: ClassVar[Labels] = "sign"
    # (shift, height, rate) if psi'(u) = shift + height * tanh(rate * u), which single precision does fast,
    # and the worst error of psi' when tanh is evaluated so.
    tanh_form: ClassVar[tuple[float, float, float] | None] = None
    single_error: ClassVar[float] = math.inf

    def value(self, margin: Any, y: Any) -> Any:
        return self.level(np.multiply(y, margin))

    def derivative(self, margin: Any, y: Any) -> Any:
        return y * self.slope(np.multiply(y, margin, dtype=float))

    def second_derivative(self, margin: Any, y: Any) -> Any:
        return self.bend(np.multiply(y, margin, dtype=float))

    @abstractmethod
    def level(self, u: Any) -> Any:
        """psi(u)."""

    @abstractmethod
    def slope(self, u: Any, out: Any = None) -> Any:
        """psi'(u); `out` may be `u` itself."""

    @abstractmethod
    def bend(self, u: Any) -> Any:
        """psi''(u)."""


@dataclass(frozen=True)
class Logistic(SignLoss):
    """log(1 + exp(-y m)).

    >>> Logistic().derivative_bound(math.inf), Logistic().curvature_range(math.inf)
    (1.0, (0.0, 0.25))
    """

    separable: ClassVar[bool] = True
    tanh_form: ClassVar[tuple[float, float, float] | None] = (-0.5, 0.5, 0.5)
    # Rounding u moves psi' by at most 0.224 * 2^-24; half of tanh's own error, two units of 2^-24. Rounded up.
    single_error: ClassVar[float] = 1e-7

    def level(self, u: Any) -> Any:
        return np.logaddexp(0.0, np.negative(u))

    def slope(self, u: Any, out: Any = None) -> Any:
        with np.errstate(over="ignore"):  # exp = inf gives the right limit, -0.0
            out = np.exp(u, out=out)
        out = np.add(out, 1, out=out if isinstance(out, np.ndarray) else None)
        return np.divide(-1, out, out=out if isinstance(out, np.ndarray) else None)

    def bend(self, u: Any) -> Any:
        return special.expit(u) * special.expit(np.negative(u))

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return float(special.expit(margin_bound))

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return float(special.expit(margin_bound) * special.expit(-margin_bound)), 0.25

    def third_derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return Sigmoid().curvature_range(margin_bound)[1]  # psi' is 1 less than a sigmoid


@dataclass(frozen=True)
class Sigmoid(SignLoss):
    """1 / (1 + exp(y m)), the smooth 0-1 loss: not convex."""

    convex: ClassVar[bool] = False
    separable: ClassVar[bool] = True

    def level(self, u: Any) -> Any:
        return special.expit(np.negative(u))

    def slope(self, u: Any, out: Any = None) -> Any:
        s = special.expit(u, out=out)
        return np.multiply(s, s - 1, out=out)

    def bend(self, u: Any) -> Any:
        s = special.expit(np.negative(u))
        return s * (1 - s) * (1 - 2 * s)

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 0.25

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        # psi''' = 0 at u = log(2 + sqrt 3), where |psi''| = 1 / (6 sqrt 3)
        most = float(self.bend(min(margin_bound, math.log(2 + math.sqrt(3)))))
        return -most, most

    def third_derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 0.125  # s(1-s)(1-6s+6s^2) at s = 1/2, where every margin bound reaches

    def gradient_bound(self, row_bound: float, radius: float, label_bound: float, l2: float) -> float:
        """|phi'| falls with |m| while the alignment 2 l2 phi' m grows: maximised over cells of m.

        ||phi' x + l2 w||^2 = phi'^2 ||x||^2 + 2 l2 phi' m + l2^2 ||w||^2 with m = <x, w>. On a cell [a, b]
        phi' is bounded by its value at a; past m = 2 both terms fall. So the bound is sound, and tight as
        the cells are fine.
        """
        if l2 == 0:
            return row_bound / 4
        if math.isinf(radius):
            return math.inf
        m = np.linspace(0.0, min(row_bound * radius, 2.0), 4001)
        p = -self.slope(m[:-1])
        return math.sqrt(np.max((p * row_bound) ** 2 + 2 * l2 * p * m[1:]) + (l2 * radius) ** 2)


@dataclass(frozen=True)
class SmoothedHinge(SignLoss):
    """The hinge max(0, 1 - y m) with its kink replaced by a parabola of width `smoothing` > 0."""

    smoothing: float = 0.5

    def __post_init__(self) -> None:
        must_be_positive("smoothing", self.smoothing)

    def level(self, u: Any) -> Any:
        short = np.maximum(0.0, np.subtract(1.0, u))
        bent = np.minimum(short, self.smoothing)
        return bent * (short - bent / 2) / self.smoothing

    def slope(self, u: Any, out: Any = None) -> Any:
        out = np.subtract(u, 1.0, out=out)
        out = np.divide(out, self.smoothing, out=out if isinstance(out, np.ndarray) else None)
        return np.clip(out, -1.0, 0.0, out=out if isinstance(out, np.ndarray) else None)

    def bend(self, u: Any) -> Any:
        short = np.subtract(1.0, u)
        return np.where((short > 0) & (short < self.smoothing), 1 / self.smoothing, 0.0)

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return min(1.0, (1 + margin_bound) / self.smoothing)

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        bent = 1 / self.smoothing
        all_bent = margin_bound <= min(1.0, self.smoothing - 1)
        none_bent = margin_bound <= 1 - self.smoothing
        return (bent if all_bent else 0.0), (0.0 if none_bent else bent)


@dataclass(frozen=True)
class Squared(Loss):
    """(m - y)^2 / 2. Its Lipschitz constant is finite only over a bounded set."""

    labels: ClassVar[Labels] = "real"

    def value(self, margin: Any, y: Any) -> Any:
        return np.subtract(margin, y) ** 2 / 2

    def derivative(self, margin: Any, y: Any) -> Any:
        return np.subtract(margin, y)

    def second_derivative(self, margin: Any, y: Any) -> Any:
        return np.ones_like(np.subtract(margin, y), dtype=float)

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return margin_bound + label_bound

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return 1.0, 1.0

    def third_derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 0.0


@dataclass(frozen=True)
class Huber(Loss):
    """r^2 / 2 for a residual |r| = |m - y| up to `threshold`, then linear (003, section 4)."""

    labels: ClassVar[Labels] = "real"
    threshold: float = 1.0

    def __post_init__(self) -> None:
        must_be_positive("threshold", self.threshold)

    def value(self, margin: Any, y: Any) -> Any:
        size = np.abs(np.subtract(margin, y))
        bent = np.minimum(size, self.threshold)
        return bent * (size - bent / 2)

    def derivative(self, margin: Any, y: Any) -> Any:
        return np.clip(np.subtract(margin, y), -self.threshold, self.threshold)

    def second_derivative(self, margin: Any, y: Any) -> Any:
        return np.where(np.abs(np.subtract(margin, y)) <= self.threshold, 1.0, 0.0)

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return min(self.threshold, margin_bound + label_bound)

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return (1.0 if margin_bound + label_bound <= self.threshold else 0.0), 1.0


@dataclass(frozen=True)
class Linear(Loss):
    """-y m: gradient -y x everywhere, the worst case of the sensitivity lemmas (003, Lemmas 1 and 2)."""

    labels: ClassVar[Labels] = "real"

    def value(self, margin: Any, y: Any) -> Any:
        return np.negative(np.multiply(y, margin, dtype=float))

    def derivative(self, margin: Any, y: Any) -> Any:
        return np.broadcast_to(np.negative(y), np.broadcast_shapes(np.shape(margin), np.shape(y))) + 0.0

    def second_derivative(self, margin: Any, y: Any) -> Any:
        return np.zeros(np.broadcast_shapes(np.shape(margin), np.shape(y)))

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return label_bound

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return 0.0, 0.0

    def third_derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 0.0


def must_be_regulariser(value: float) -> None:
    """Refuse anything but a finite number >= 0."""
    number("l2", value, "a finite number >= 0", "Pass l2=0.0 for none.", lambda found: 0 <= found < math.inf)


def must_be_positive(what: str, value: float) -> None:
    """Refuse anything but a finite number > 0."""
    number(what, value, "a finite number > 0", f"Pass {what}=1.0 for example.", lambda found: 0 < found < math.inf)
