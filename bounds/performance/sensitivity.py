"""How far two runs on neighbouring datasets part: programs for the differences of the runs, and for both runs whole.

The two objectives share a common part; each has the loss of one record alone. Lengths are in units of step * L / n,
gradients in units of L / n, so that the record's gradients have norm at most 1.

Aligned programs use the inequalities between the two runs at equal times only, and so only differences:
delta_t = w_t - v_t and those of the gradients. That is always an upper bound. It is exact where no function is
strongly convex on its own record's path and there is a common part: as its gradient is not bounded, it may carry both
runs along a new direction, on which points of different times lie so far apart that their inequalities hold with room
to spare (each function may have a slope of any small size along it). `pair_of` in instance.py does so in numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcheck.bounds.performance.methods import FirstOrderMethod
from dpcheck.bounds.performance.program import Builder, ConvexClass, Objective, Oracle, Program

Array = np.ndarray
CONVEX = ConvexClass()  # of regularisers and indicators


@dataclass(frozen=True)
class NeighbouringObjectives:
    """What the two objectives share (None: nothing), and 1/n of the loss each has alone.

    `both`: the record's gradients are bounded on both runs, else each on its own. `common_bound`: of the gradients
    of the common part, None if there is none. `quadratic`: the mu of a common (mu/2)||w||^2 on top.
    """

    common: ConvexClass | None
    own: ConvexClass
    both: bool = False
    common_bound: float | None = None
    quadratic: float = 0.0

    @staticmethod
    def of(
        n: int, smoothness: float, strong_convexity: float, regularised: bool, both: bool, everywhere: bool
    ) -> NeighbouringObjectives:
        """A mean of n losses. `regularised`: the strong convexity is a common quadratic on convex losses."""
        quadratic = strong_convexity if regularised else 0.0
        beta, mu = smoothness - quadratic, strong_convexity - quadratic
        rest = (n - 1) / n
        common = ConvexClass(beta * rest, mu * rest) if n > 1 else None
        bound = float(n - 1) if everywhere and n > 1 else None
        return NeighbouringObjectives(common, ConvexClass(beta / n, mu / n), both and mu > 0, bound, quadratic)

    @property
    def aligned_is_exact(self) -> bool:
        """Whether equal times are all that matters."""
        return self.own.strong_convexity == 0 and self.common_bound is None

    def step(self, b: Builder, delta: Array) -> Array:
        """The difference of the two objectives' gradients at points that differ by `delta`."""
        return self.shared(b, delta) + self.alone(b, delta)

    def shared(self, b: Builder, delta: Array) -> Array:
        """Of the common part."""
        if self.common is None or not np.any(delta):
            return self.quadratic * delta
        change = b.basis()
        b.monotone(delta, change, self.common)
        if self.common_bound is not None:
            b.norm(change / 2, self.common_bound)
        return change + self.quadratic * delta

    def alone(self, b: Builder, delta: Array) -> Array:
        """Of the record's two losses; by symmetry each has half of the difference."""
        pull = b.basis()
        b.norm(pull / 2, 1.0)
        if self.both and np.any(delta):
            other = b.basis()
            b.norm(other / 2, 1.0)
            b.monotone(delta, (pull - other) / 2, self.own)
        return pull


def aligned(method: FirstOrderMethod, sides: NeighbouringObjectives, gap: float | None = None) -> Program:
    """Full gradients. `gap`: the runs may start that far apart."""
    b = Builder(room=4 * method.steps + 2)
    start = b.zero
    if gap is not None:
        start = b.basis()
        b.norm(start, gap)
    return _parted(b, method, start, lambda _, delta: sides.step(b, delta))


def permuted(
    method: FirstOrderMethod, record: ConvexClass, sides: NeighbouringObjectives, n: int, position: int
) -> Program:
    """One record a step, in the same order in both runs; the one at `position` of n differs."""
    b = Builder(room=4 * method.steps + 2)

    def gradient(t: int, delta: Array) -> Array:
        if t % n == position:
            return sides.step(b, delta)
        return NeighbouringObjectives(record, record).shared(b, delta)

    return _parted(b, method, b.zero, gradient)


def _parted(b: Builder, method: FirstOrderMethod, start: Array, gradient: Callable[[int, Array], Array]) -> Program:
    def prox(_: int, delta: Array, __: float) -> Array:
        if not np.any(delta):
            return delta
        moved = b.basis()
        b.monotone(delta - moved, moved, CONVEX)
        return delta - moved

    last = method.walk(start, gradient, prox)[-1]
    return b.program(Objective(vector=b.vector(last)))


def exhaustive(method: FirstOrderMethod, sides: NeighbouringObjectives) -> Program:
    """Full gradients, all pairs of points of both runs: exact also for strongly convex records.

    Exchanging the runs is a symmetry: the basis is split in sums (block 0) and differences (block 1) of mirror
    images, and mirrored constraints share a multiplier.
    """
    b = Builder(room=8 * method.steps + 2)
    common = Oracle(b, sides.common) if sides.common else None
    own, other = Oracle(b, sides.own), Oracle(b, sides.own)

    def bounded(*rows: Array, bound: float | None = 1.0) -> None:
        group = None
        for row in rows:
            if bound is not None:
                group = b.norm(row, bound, group)

    def ask(oracle: Oracle, image: Oracle, point: Array, there: Array, odd: bool = True) -> tuple[Array, Array]:
        """The gradient at a point and at its mirror image."""
        mean, half = b.basis(0), b.basis(1) if odd else b.zero
        answers: list[int] = []
        for to, at, g in ((oracle, point, mean + half), (image, there, mean - half)):
            if answers and not odd and oracle is image:
                break  # one point, one answer
            value = None
            if answers and oracle.data[answers[0]][2] != -1 and to.data:
                value = b.value(equal_to=oracle.data[answers[0]][2])
            answers.append(to.ask(at, g, value))
        return mean + half, mean - half

    w = v = b.zero
    for t, eta in enumerate(method.step_sizes):
        shared = b.zero, b.zero
        if common:
            shared = ask(common, common, w, v, odd=t > 0)
            bounded(*shared[: 1 + (t > 0)], bound=sides.common_bound)
        pull, push = ask(own, other, w, v)
        bounded(pull, push)
        if sides.both and t > 0:
            bounded(*ask(own, other, v, w))
        shared = shared[0] + sides.quadratic * w, shared[1] + sides.quadratic * v
        w, v = w - eta * (shared[0] + pull), v - eta * (shared[1] + push)
    if common:
        _mirrored(b, common, common, [_image(i) for i in range(len(common.data))])
    _mirrored(b, own, other, list(range(len(own.data))))
    return b.program(Objective(vector=b.vector(w - v)))


def _image(i: int) -> int:
    """The first point is its own image; then the runs alternate."""
    return i if i == 0 else i + 1 if i % 2 else i - 1


def _mirrored(b: Builder, oracle: Oracle, image: Oracle, at: list[int]) -> None:
    """All pairs of one function with their images; to begin with, neighbours in time."""
    done = set()
    for i in range(len(oracle.data)):
        for j in range(len(oracle.data)):
            if i == j or (i, j) in done:
                continue
            group = b.add(oracle.between(i, j), first=abs(i - j) <= 2)
            if oracle is not image or (at[i], at[j]) != (i, j):
                b.add(image.between(at[i], at[j]), first=abs(i - j) <= 2, group=group)
            if oracle is image:
                done.add((at[i], at[j]))
