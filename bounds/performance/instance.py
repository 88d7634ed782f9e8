"""Worst cases made concrete: neighbouring datasets, or a function, on which a method does what the program says.

The Gram matrix gives vectors, the program's inequalities give functions through them (interpolant.py). Running the
method on these is a lower bound that owes nothing to the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dpcheck.bounds.performance.certificate import NotCertified
from dpcheck.bounds.performance.interpolant import Interpolant
from dpcheck.bounds.performance.methods import FirstOrderMethod
from dpcheck.bounds.performance.program import Builder, ConvexClass
from dpcheck.bounds.performance.rate import Measure
from dpcheck.bounds.performance.sensitivity import CONVEX, NeighbouringObjectives
from dpcheck.bounds.performance.solve import SolvedProgram

Array = np.ndarray
SLOPE = 1e-4  # of each function along the new direction, in units of a record's largest gradient
FURTHEST = 60  # doublings of the drift
FEW = 1e-13  # eigenvalues of the Gram matrix below this share of the largest are dropped


@dataclass(frozen=True, eq=False)
class Function:
    """The objective f + h, in the units of the question, with the method and the start of its worst run."""

    f: Interpolant
    h: Interpolant | None
    start: Array
    method: FirstOrderMethod
    measure: Measure
    units: tuple[float, float] = (1.0, 1.0)

    def value(self, w: Array) -> float:
        """The objective; its least value is 0, at 0. `h` is what the prox is taken of."""
        length, gradient = self.units
        inner = w / length
        return length * gradient * (self.f.value(inner) + (self.h.value(inner) if self.h else 0.0))

    def gradient(self, w: Array) -> Array:
        """Of the smooth part."""
        return self.units[1] * self.f.gradient(w / self.units[0])

    def run(self) -> list[Array]:
        """The points of the method."""
        return self._run()[0]

    def _run(self) -> tuple[list[Array], list[Array]]:
        """The points, and those where a gradient is asked, with the last."""
        length, gradient = self.units
        h = self.h
        asked: list[Array] = []

        def ask(_: int, w: Array) -> Array:
            asked.append(w)
            return self.gradient(w)

        prox = None if h is None else lambda _, w, eta: length * h.prox(w / length, eta * gradient / length)
        points = _in_units(self.method, self.units).walk(self.start * length, ask, prox)
        return points, [*asked, points[-1]]

    def reached(self) -> float:
        """What the run makes of the measure."""
        points, asked = self._run()
        if self.measure == "gradient_map":
            eta, theta = _in_units(self.method, self.units).step_sizes[-1], self.method.momenta[-1]
            base = points[-2] + theta * (points[-2] - points[max(len(points) - 3, 0)])
            return float(np.linalg.norm(base - points[-1])) / eta
        single = {
            "value": lambda: self.value(points[-1]),
            "distance": lambda: float(np.linalg.norm(points[-1])),
            "gradient": lambda: float(np.linalg.norm(self.gradient(points[-1]))),
            "best_value": lambda: min(self.value(w) for w in asked),
            "best_gradient": lambda: min(float(np.linalg.norm(self.gradient(w))) for w in asked),
        }
        return float(single[self.measure]())


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring datasets: objectives that share `common` and differ in `own` and `other`, 1/n of one loss.

    In permuted order `common` is the list of the records' losses, and `position` that of the differing one.
    """

    common: list[Interpolant | None]
    own: Interpolant
    other: Interpolant
    regulariser: Interpolant | None
    start: Array
    method: FirstOrderMethod
    line: Array | float = 0.0  # the slope of a linear term of the common part
    curvature: float = 0.0  # of a common quadratic, (curvature / 2)||w||^2, where the differing record is asked
    position: int | None = None
    units: tuple[float, float] = (1.0, 1.0)

    def value(self, w: Array, dataset: int, t: int = 0) -> float:
        """Of the objective of dataset 0 or 1, without the regulariser; in permuted order, of the record of step t."""
        at, alone = w / self.units[0], (self.own, self.other)[dataset]
        record = self.common[t % len(self.common)]
        differs = self.position is None or t % len(self.common) == self.position
        found = alone.value(at) + self.curvature / 2 * float(at @ at) if differs else 0.0
        if record is not None and (self.position is None or not differs):
            found += record.value(at)
        return self.units[0] * self.units[1] * (found + float(np.sum(self.line * at)))

    def gradient(self, w: Array, dataset: int, t: int = 0) -> Array:
        """Of the objective of dataset 0 or 1; in permuted order, of the record of step t."""
        at, alone = w / self.units[0], (self.own, self.other)[dataset]
        if self.position is None:
            shared = self.common[0]
            found = alone.gradient(at) + (shared.gradient(at) if shared else 0.0) + self.line + self.curvature * at
        elif t % len(self.common) == self.position:
            found = alone.gradient(at) + self.curvature * at
        else:
            record = self.common[t % len(self.common)]
            assert record is not None
            found = record.gradient(at)
        return np.asarray(self.units[1] * found)

    def run(self, dataset: int) -> list[Array]:
        """The points of the method on dataset 0 or 1."""
        length, gradient = self.units
        h = self.regulariser
        prox = None if h is None else lambda _, w, eta: length * h.prox(w / length, eta * gradient / length)
        walk = _in_units(self.method, self.units).walk
        return walk(self.start * length, lambda t, w: self.gradient(w, dataset, t), prox)

    def reached(self) -> float:
        """The distance between the last points of the two runs."""
        return float(np.linalg.norm(self.run(0)[-1] - self.run(1)[-1]))


def _in_units(method: FirstOrderMethod, units: tuple[float, float]) -> FirstOrderMethod:
    return replace(method, step_size=tuple(eta * units[0] / units[1] for eta in method.step_sizes))


def _coordinates(solved: SolvedProgram) -> Array:
    """Rows: the basis vectors of the program, with this Gram matrix."""
    values, vectors = np.linalg.eigh(solved.gram)
    kept = values > FEW * max(values[-1], 1e-300)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


# Rates -----------------------------------------------------------------------------------------------
def function_of(
    solved: SolvedProgram, method: FirstOrderMethod, of: ConvexClass, measure: Measure, length: float, gradient: float
) -> Function:
    """The worst function of a convergence rate: the minimiser is 0, with value 0."""
    made = _functions(solved, [of, ConvexClass()])
    at = solved.program.vectors @ _coordinates(solved)
    start = next(c.vectors[0] for c in solved.program.constraints if c.kind == "norm" and c.bound == 1.0)
    return Function(made[0], made[1] if len(made) > 1 else None, at[start], method, measure, (length, gradient))


def _functions(solved: SolvedProgram, families: list[ConvexClass]) -> list[Interpolant]:
    """The functions of a program, in the order they were first asked: points that an inequality joins are of one."""
    at = solved.program.vectors @ _coordinates(solved)
    values = np.append(solved.values, 0.0)
    data: dict[int, tuple[int, int]] = {}
    joined: dict[int, int] = {}

    def root(x: int) -> int:
        while joined.setdefault(x, x) != x:
            x = joined[x]
        return x

    for c in solved.program.constraints:
        if c.kind == "interpolation":
            x, g, other, there = c.vectors
            data[x], data[other] = (g, c.values[0]), (there, c.values[1])
            a, b = sorted((root(x), root(other)))
            joined[b] = a
    parts: dict[int, list[int]] = {}
    for x in sorted(data):
        parts.setdefault(root(x), []).append(x)
    return [
        Interpolant(at[part], at[[data[x][0] for x in part]], values[[data[x][1] for x in part]], of)
        for part, of in zip(parts.values(), families, strict=False)
    ]


# Sensitivity, differences of the runs ------------------------------------------------------------------
@dataclass
class _Replay(Builder):
    """Gives the program's basis vectors again, now as coordinates, in the order they were made."""

    coordinates: Array = field(default_factory=lambda: np.zeros((0, 0)))
    given: list[Array] = field(default_factory=list)

    def basis(self, block: int = 0) -> Array:
        self.given.append(self.coordinates[len(self.given)])
        return self.given[-1]


def _replayed(
    solved: SolvedProgram, method: FirstOrderMethod, gradient: Callable[[_Replay, int, Array], tuple[Array, Array]]
) -> tuple[list[tuple[Array, Array, Array]], list[tuple[Array, Array]]]:
    """(difference of the points asked, of the common gradients, of the records') a step; and those of the prox."""
    U = _coordinates(solved) * np.array(solved.program.lengths or [1.0])[:, None]
    b = _Replay(room=U.shape[1], coordinates=U)
    asked: list[tuple[Array, Array, Array]] = []
    proxes: list[tuple[Array, Array]] = []

    def step(t: int, delta: Array) -> Array:
        shared, alone = gradient(b, t, delta)
        asked.append((delta, shared, alone))
        return shared + alone

    def prox(_: int, delta: Array, eta: float) -> Array:
        moved = b.basis() if np.any(delta) else b.zero
        proxes.append((delta - moved, moved / eta))
        return delta - moved

    method.walk(b.zero, step, prox)
    return asked, proxes


def pair_of(
    solved: SolvedProgram, method: FirstOrderMethod, sides: NeighbouringObjectives, length: float, gradient: float
) -> Pair:
    """From an aligned program: the runs are carried along a new direction, so that times do not see each other.

    Along it the common part is a line of slope -drift with a slight bend, every other function has a slight bend: a
    drift is sought for which all inequalities hold. The records' gradients grow by SLOPE, and are scaled back.
    """
    asked, proxes = _replayed(solved, method, lambda b, t, d: (sides.shared(b, d), sides.alone(b, d)))
    drift = 1.0 if sides.common is not None else 0.0
    for _ in range(FURTHEST):
        found = _carried(method, sides, asked, proxes, drift)
        if found is not None:
            return replace(found, units=(length, gradient))
        drift *= 2
    raise NotCertified("the drift", drift, "one at which all inequalities hold", "Ask for fewer steps.")


def _carried(
    method: FirstOrderMethod,
    sides: NeighbouringObjectives,
    asked: list[tuple[Array, Array, Array]],
    proxes: list[tuple[Array, Array]],
    drift: float,
) -> Pair | None:
    """The pair at one drift, or None if an inequality fails."""
    mu = sides.quadratic
    bend = SLOPE / (2 * drift * sum(method.step_sizes) * (1 + sum(method.momenta))) if drift else 0.0
    places: list[float] = []  # along the new direction: of both runs when asked, and after the prox
    after: list[float] = []

    def along(_: int, e: Array) -> Array:
        places.append(float(e[0]))
        return np.array([-drift + (mu + 2 * bend) * e[0]])

    def held(_: int, e: Array, eta: float) -> Array:
        after.append(float(e[0] / (1 + eta * bend)))
        return np.array([after[-1]])

    method.walk(np.zeros(1), along, held)
    shrink = 1 / math.sqrt(1 + SLOPE**2) if drift else 1.0
    common, own, other, prox = (_Lifted() for _ in range(4))
    for (delta, shared, alone), e in zip(asked, places, strict=True):
        for half, record in ((shrink / 2, own), (-shrink / 2, other)):
            if sides.common is not None:
                common.add(half * delta, half * (shared - mu * delta), e, bend)
            record.add(half * delta, half * alone, e, bend)
    for (delta, moved), e in zip(proxes, after, strict=True):
        for half in (shrink / 2, -shrink / 2):
            prox.add(half * delta, half * moved, e, bend)
    families = sides.common or CONVEX, sides.own, sides.own, CONVEX
    made = [part.function(of) for part, of in zip((common, own, other, prox), families, strict=True)]
    if drift and not all(holds(part) for part in made if part is not None):
        return None
    line = np.zeros(len(asked[0][0]) + 1)
    start = line.copy()
    line[-1] = -drift
    assert made[1] is not None
    assert made[2] is not None
    return Pair([made[0]], made[1], made[2], made[3], start, method, line, curvature=mu)


class _Lifted:
    """Data of one function, with the new coordinate."""

    def __init__(self) -> None:
        self.x: list[Array] = []
        self.g: list[Array] = []
        self.f: list[float] = []

    def add(self, point: Array, gradient: Array, place: float, bend: float) -> None:
        x, g = np.append(point, place), np.append(gradient, bend * place)
        if not any(np.array_equal(x, known) for known in self.x):
            self.x.append(x)
            self.g.append(g)
            self.f.append(bend * place**2 / 2)

    def function(self, of: ConvexClass) -> Interpolant | None:
        return Interpolant(np.array(self.x), np.array(self.g), np.array(self.f), of) if self.x else None


def permuted_pair_of(
    solved: SolvedProgram,
    method: FirstOrderMethod,
    record: ConvexClass,
    sides: NeighbouringObjectives,
    position: int,
    length: float,
    gradient: float,
) -> Pair:
    """From one pass in order: each function is asked once in each run, at mirrored points."""

    def step(b: _Replay, t: int, delta: Array) -> tuple[Array, Array]:
        if t == position:
            return sides.shared(b, delta), sides.alone(b, delta)
        return NeighbouringObjectives(record, record).shared(b, delta), b.zero

    asked, proxes = _replayed(solved, method, step)
    records: list[Interpolant | None] = []
    for delta, shared, _ in asked:
        both = np.array([1.0, -1.0])[:, None] / 2
        ends = slice(0, 2 if np.any(delta) else 1)
        records.append(Interpolant((both * delta)[ends], (both * shared)[ends], np.zeros(2)[ends], record))
    delta, _, alone = asked[position]
    own, other = (
        Interpolant(sign * delta[None] / 2, sign * alone[None] / 2, np.zeros(1), sides.own) for sign in (1, -1)
    )
    h = None
    if proxes:
        x = [sign * d / 2 for d, _ in proxes for sign in (1, -1)]
        g = [sign * s / 2 for _, s in proxes for sign in (1, -1)]
        h = Interpolant(np.array(x), np.array(g), np.zeros(len(x)), CONVEX)
    start = np.zeros(len(delta))
    return Pair(records, own, other, h, start, method, 0.0, sides.quadratic, position, (length, gradient))


def whole_pair_of(
    solved: SolvedProgram, method: FirstOrderMethod, sides: NeighbouringObjectives, length: float, gradient: float
) -> Pair:
    """From an exhaustive program, which has all points of all functions."""
    families = [sides.common] if sides.common else []
    made = _functions(solved, [*families, sides.own, sides.own])
    common = made[0] if sides.common else None
    start = np.zeros(made[-1].x.shape[1])
    units = (length, gradient)
    return Pair([common], made[-2], made[-1], None, start, method, curvature=sides.quadratic, units=units)


def quadratic_pair(
    method: FirstOrderMethod,
    sides: NeighbouringObjectives,
    records: list[ConvexClass] | None = None,
    position: int | None = None,
) -> Pair:
    """The simplest pair: one dimension, the least curvature everywhere, slopes +k and -k of the differing record.

    With no curvature its losses are linear. k is the largest that keeps the record's gradients at most 1. It is an
    instance of every class, and so a lower bound where a program is only an upper one.
    """
    zero = np.zeros((1, 1))
    common = [_flat(of) for of in records] if records else [_flat(sides.common) if sides.common else None]
    own, other = (Interpolant(zero, np.full((1, 1), sign), np.zeros(1), sides.own) for sign in (1.0, -1.0))
    pair = Pair([*common], own, other, None, np.zeros(1), method, 0.0, sides.quadratic, position)
    points = pair.run(0)
    asked = np.concatenate(points) * (1 + 2 * max(method.momenta))  # momentum goes beyond the points
    reach = float(np.max(np.abs(asked))) if method.name == "accelerated" else float(np.max(np.abs(points[:-1])))
    slope = 1 / (1 + sides.own.strong_convexity * reach)
    own, other = (replace(part, g=part.g * slope) for part in (own, other))
    return replace(pair, own=own, other=other)


def _flat(of: ConvexClass) -> Interpolant:
    zero = np.zeros((1, 1))
    return Interpolant(zero, zero, np.zeros(1), of)


def holds(part: Interpolant, room: float = 1e-7) -> bool:
    """Whether the data of a function keep all its interpolation inequalities, up to rounding and the solver."""
    alpha, beta, gamma = part.of.coefficients
    dx, dg = part.x[:, None] - part.x[None], part.g[:, None] - part.g[None]
    forward = np.einsum("ijk,jk->ij", dx, part.g)
    bent = alpha * (dg**2).sum(axis=2) + beta * (dx**2).sum(axis=2) + gamma * (dg * dx).sum(axis=2)
    left = part.f[None] - part.f[:, None] + forward + bent
    scale = 1 + np.abs(part.f[None] - part.f[:, None]) + np.abs(forward)
    return bool(np.all(left <= room * np.maximum(1.0, 1e-6 * scale)))
