"""Worst cases as programs: vectors of unknown inner products, functions of a class, what is to be made large.

Every vector is a row of coefficients over a basis whose Gram matrix G is unknown; every function value is a free
number. A class of functions enters by its interpolation inequalities (Taylor, Hendrickx, Glineur 2017): data (x, g, f)
belong to a function of the class if and only if they hold for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.performance.interior_point import Cone

Array = np.ndarray
Kind = Literal["interpolation", "monotone", "norm", "least_norm", "least_value"]
ZERO = -1  # the value that is 0: of each function, one value is free to choose


@dataclass(frozen=True)
class ConvexClass:
    """Convex functions: `smoothness` may be infinite (not differentiable), `strong_convexity` 0."""

    smoothness: float = math.inf
    strong_convexity: float = 0.0

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """Of ||dg||^2, ||dx||^2 and <dg, dx> in f_i >= f_j + <g_j, dx> + ..., with dx = x_i - x_j, dg = g_i - g_j."""
        L, mu = self.smoothness, self.strong_convexity
        if math.isinf(L):
            return 0.0, mu / 2, 0.0
        return 1 / (2 * (L - mu)), mu * L / (2 * (L - mu)), -mu / (L - mu)


@dataclass(frozen=True)
class Inequality:
    """One inequality of a program, between vectors and values given by their numbers.

    - interpolation: vectors (x_i, g_i, x_j, g_j), values (f_i, f_j), of one function of the class
    - monotone: vectors (dx, dg), the sum of the two interpolation inequalities of a pair
    - norm: ||vector|| <= bound
    - least_norm, least_value: the value `least` is at most ||vector||^2, or at most another value
    """

    kind: Kind
    vectors: tuple[int, ...] = ()
    values: tuple[int, ...] = ()
    smoothness: float = math.inf
    strong_convexity: float = 0.0
    bound: float = 0.0

    def products(self, V: Array, minus: float = -1.0) -> list[tuple[float, Array, Array]]:
        """(coefficient, u, v): the sum of coefficient * <u, v> is the left side. `minus` = 1 is for error bounds."""
        if self.kind == "norm":
            (a,) = self.vectors
            return [(1.0, V[a], V[a])]
        if self.kind == "least_norm":
            (a,) = self.vectors
            return [(-1.0, V[a], V[a])]
        if self.kind == "least_value":
            return []
        alpha, beta, gamma = ConvexClass(self.smoothness, self.strong_convexity).coefficients
        if self.kind == "monotone":
            dx, dg = (V[a] for a in self.vectors)
            found = [(2 * gamma - 1, dg, dx), (2 * alpha, dg, dg), (2 * beta, dx, dx)]
        else:
            x, g, other, there = (V[a] for a in self.vectors)
            dx, dg = x + minus * other, g + minus * there
            found = [(1.0, there, dx), (alpha, dg, dg), (beta, dx, dx), (gamma, dg, dx)]
        return [(c, u, v) for c, u, v in found if c != 0]

    @property
    def balance(self) -> list[tuple[int, int]]:
        """(value, coefficient) on the left side; the value 0 is left out."""
        if self.kind == "interpolation":
            up, down = self.values[1], self.values[0]
        elif self.kind == "least_norm":
            up, down = self.values[0], ZERO
        elif self.kind == "least_value":
            up, down = self.values
        else:
            return []
        return [(v, c) for v, c in ((up, 1), (down, -1)) if v != ZERO and up != down]

    @property
    def right(self) -> float:
        return self.bound**2 if self.kind == "norm" else 0.0

    def matrix(self, V: Array) -> Array:
        """The left side as a symmetric matrix over the basis."""
        return combined(self.products(V), V.shape[1])

    def to_json(self) -> dict[str, Any]:
        raw = asdict(self)
        return {k: (None if isinstance(v, float) and math.isinf(v) else v) for k, v in raw.items()}

    @staticmethod
    def from_json(raw: dict[str, Any]) -> Inequality:
        smooth = math.inf if raw["smoothness"] is None else float(raw["smoothness"])
        return Inequality(
            raw["kind"], tuple(raw["vectors"]), tuple(raw["values"]), smooth, raw["strong_convexity"], raw["bound"]
        )


def combined(products: Iterable[tuple[float, Array, Array]], size: int) -> Array:
    """The symmetric matrix of a sum of coefficient * <u, v>."""
    out = np.zeros((size, size))
    for c, u, v in products:
        if u is v:
            out += np.outer(c * u, v)
        else:
            half = np.outer(c / 2 * u, v)
            out += half + half.T
    return out


@dataclass(frozen=True)
class Objective:
    """What is made large: ||vector||^2, or a sum of values."""

    vector: int | None = None
    values: tuple[int, ...] = ()

    def products(self, V: Array) -> list[tuple[float, Array, Array]]:
        return [] if self.vector is None else [(1.0, V[self.vector], V[self.vector])]


@dataclass(frozen=True, eq=False)
class Program:
    """A worst case as data. `blocks` part the basis where a symmetry lets the Gram matrix be block diagonal;
    constraints of one entry of `groups` are images of each other and share a multiplier, values of one entry of
    `columns` are equal."""

    vectors: Array  # (vectors, basis)
    values: int
    constraints: tuple[Inequality, ...]
    objective: Objective
    first: tuple[bool, ...]  # constraints to begin with; the others are added when they are violated
    groups: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    columns: tuple[int, ...]
    value_unit: float = 1.0  # of the solver's values
    lengths: tuple[float, ...] = ()  # of the basis vectors as first built, in those of this basis; () is all 1

    def cone(self, chosen: Sequence[int]) -> tuple[Cone, list[list[int]]]:
        """The program with some constraints only, for the solver; and which constraints each of its rows sums."""
        together: dict[int, list[int]] = {}
        for i in chosen:
            together.setdefault(self.groups[i], []).append(i)
        members = list(together.values())
        columns = np.array(self.columns, int)
        free = len(set(self.columns))
        A, B = np.zeros((len(members), *(self.vectors.shape[1],) * 2)), np.zeros((len(members), free))
        c = np.zeros(len(members))
        for row, group in enumerate(members):
            for i in group:
                A[row] += self.constraints[i].matrix(self.vectors)
                c[row] += self.constraints[i].right
                for value, coefficient in self.constraints[i].balance:
                    B[row, columns[value]] += coefficient
        A0, b0 = combined(self.objective.products(self.vectors), self.vectors.shape[1]), np.zeros(free)
        np.add.at(b0, columns[list(self.objective.values)], 1.0)
        parts = [np.ix_(block, block) for block in self.blocks]
        inside = [A[:, np.array(block)[:, None], np.array(block)] for block in self.blocks]
        unit = self.value_unit
        return Cone(inside, [A0[part] for part in parts], B * unit, b0 * unit, c), members

    def free(self, y: Array) -> Array:
        """The values, from the solver's."""
        return np.asarray(y[list(self.columns)]) * self.value_unit

    def gram(self, parts: Sequence[Array]) -> Array:
        """The whole Gram matrix from its blocks."""
        out = np.zeros((self.vectors.shape[1],) * 2)
        for block, part in zip(self.blocks, parts, strict=True):
            out[np.ix_(block, block)] = part
        return out

    def excess(self, gram: Array, values: Array) -> Array:
        """Left minus right side of every constraint at a Gram matrix and values: positive is violated."""
        lengths, directions = np.linalg.eigh(gram)
        where = self.vectors @ (directions * np.sqrt(np.maximum(lengths, 0.0)))
        padded = np.append(values, 0.0)
        out = np.empty(len(self.constraints))
        for i, constraint in enumerate(self.constraints):
            left = math.fsum(c * float(u @ v) for c, u, v in constraint.products(where))
            out[i] = left + sum(c * padded[v] for v, c in constraint.balance) - constraint.right
        return out

    def rescaled(self, gram: Array, values: Array) -> Program:
        """The same program over a basis whose vectors are of about the length they have in `gram`, and so the values.

        The factors are powers of two, so that nothing is rounded.
        """
        length = np.sqrt(np.maximum(np.diag(gram), 1e-24 * np.max(np.diag(gram)) + 1e-300))
        unit = 2.0 ** round(math.log2(max(float(np.max(np.abs(values), initial=0.0)), 1e-12)))
        power = 2.0 ** np.round(np.log2(length))
        lengths = tuple(power * (self.lengths or 1.0))
        return replace(self, vectors=self.vectors * power, value_unit=unit, lengths=lengths)

    def same_units(self, other: Program) -> bool:
        return self.lengths == other.lengths and self.value_unit == other.value_unit

    def reached(self, gram: Array, values: Array) -> float:
        """The objective at a Gram matrix and values."""
        if self.objective.vector is not None:
            v = self.vectors[self.objective.vector]
            return float(v @ gram @ v)
        return float(np.sum(values[list(self.objective.values)]))


@dataclass
class Builder:
    """Collects a program. Vectors are rows over a basis that grows; `even` and `odd` basis vectors are kept apart."""

    room: int
    rows: list[Array] = field(default_factory=list)
    parity: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    constraints: list[Inequality] = field(default_factory=list)
    first: list[bool] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)

    def basis(self, block: int = 0) -> Array:
        """A new vector, independent of the others."""
        e = np.zeros(self.room)
        e[len(self.parity)] = 1.0
        self.parity.append(block)
        return e

    @property
    def zero(self) -> Array:
        return np.zeros(self.room)

    def vector(self, row: Array) -> int:
        """The number of a vector."""
        self.rows.append(row)
        return len(self.rows) - 1

    def value(self, equal_to: int | None = None) -> int:
        """A new free value, or the image of another under the program's symmetry."""
        self.columns.append(len(set(self.columns)) if equal_to is None else self.columns[equal_to])
        return len(self.columns) - 1

    def add(self, constraint: Inequality, first: bool = True, group: int | None = None) -> int:
        """A constraint and its group; a new group unless given."""
        self.constraints.append(constraint)
        self.first.append(first)
        self.groups.append(len(self.groups) if group is None else group)
        return self.groups[-1]

    def norm(self, row: Array, bound: float, group: int | None = None) -> int:
        return self.add(Inequality("norm", (self.vector(row),), bound=bound), group=group)

    def monotone(self, dx: Array, dg: Array, of: ConvexClass) -> None:
        """The pair (dx, dg) of differences of points and gradients of one function."""
        vectors = self.vector(dx), self.vector(dg)
        self.add(Inequality("monotone", vectors, (), of.smoothness, of.strong_convexity))

    def program(self, objective: Objective) -> Program:
        used = len(self.parity)
        blocks = tuple(tuple(i for i, p in enumerate(self.parity) if p == b) for b in sorted(set(self.parity)))
        rows = np.array(self.rows)[:, :used]
        return Program(
            rows,
            len(self.columns),
            tuple(self.constraints),
            objective,
            tuple(self.first),
            tuple(self.groups),
            blocks,
            tuple(self.columns),
        )


@dataclass
class Oracle:
    """One function of a class: the points where it is asked, and its inequalities between them."""

    builder: Builder
    of: ConvexClass
    lipschitz: float | None = None
    data: list[tuple[int, int, int]] = field(default_factory=list)  # numbers of point, gradient, value

    def ask(self, point: Array, gradient: Array, value: int | None = None) -> int:
        """The number of the answer; its first value is 0."""
        if value is None:
            value = self.builder.value() if self.data else ZERO
        vectors = self.builder.vector(point), self.builder.vector(gradient)
        self.data.append((*vectors, value))
        if self.lipschitz is not None and np.any(gradient):
            self.builder.add(Inequality("norm", (vectors[1],), bound=self.lipschitz))
        return len(self.data) - 1

    def between(self, i: int, j: int) -> Inequality:
        """f_i >= f_j + <g_j, x_i - x_j> + ..."""
        (x, g, f), (other, there, value) = self.data[i], self.data[j]
        return Inequality(
            "interpolation", (x, g, other, there), (f, value), self.of.smoothness, self.of.strong_convexity
        )

    def interpolate(self, near: int) -> None:
        """All pairs; to begin with only those at most `near` apart, or with the first point asked."""
        for i in range(len(self.data)):
            for j in range(len(self.data)):
                if i != j:
                    self.builder.add(self.between(i, j), first=abs(i - j) <= near or 0 in (i, j))
