"""How fast a method converges: programs for one run against the minimiser, from a start at distance at most 1.

A proximal method minimises f + h, f of the class, h convex. Adding <a, w> to f and taking it from h changes no point
of the run, so the gradients at the minimiser may be taken as 0. A projection is the prox of an indicator; its worst
case is the same: h(w) - <a, w> is an indicator for some h, where the products <a, w_t>, with a new direction of any
length in a, are as free as values of h.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.performance.methods import FirstOrderMethod
from dpcheck.bounds.performance.program import Builder, ConvexClass, Inequality, Objective, Oracle, Program

Array = np.ndarray
Measure = Literal["value", "distance", "gradient", "best_value", "best_gradient", "gradient_map"]
MEASURES: tuple[Measure, ...] = ("value", "distance", "gradient", "best_value", "best_gradient", "gradient_map")
SQUARED = ("distance", "gradient", "best_gradient", "gradient_map")


def rate(method: FirstOrderMethod, of: ConvexClass, measure: Measure, lipschitz: float | None = None) -> Program:
    """The excess of the last point, its distance, its gradient, the best of all, or the last gradient map."""
    if measure not in MEASURES:
        raise InvalidInput("measure", measure, f"one of {sorted(MEASURES)}", 'Use "value" for the excess loss.')
    composite = method.takes_prox
    if composite and measure in ("gradient", "best_value", "best_gradient"):
        limit = "value, distance or gradient_map for a proximal or projected method"
        raise InvalidInput("measure", measure, limit, "The gradient of a composite objective need not exist.")
    b = Builder(room=2 * method.steps + 4)
    f, h = Oracle(b, of, lipschitz), Oracle(b, ConvexClass())
    f.ask(b.zero, b.zero)
    h.ask(b.zero, b.zero)
    start = b.basis()
    b.norm(start, 1.0)
    maps: list[Array] = []

    def gradient(_: int, point: Array) -> Array:
        g = b.basis()
        f.ask(point, g)
        maps.append(g)
        return g

    def prox(_: int, point: Array, eta: float) -> Array:
        s = b.basis()
        h.ask(point - eta * s, s)
        maps[-1] = maps[-1] + s
        return point - eta * s

    last = method.walk(start, gradient, prox)[-1]
    if measure in ("value", "gradient", "best_value", "best_gradient"):
        gradient(method.steps, last)
    objective = _objective(b, f, h, measure, last, maps[method.steps - 1])
    # Smooth functions are told by neighbours in time; of others any two points may matter.
    f.interpolate(near=1 if math.isfinite(of.smoothness) else method.steps + 1)
    if composite:
        h.interpolate(near=1)
    return b.program(objective)


def _objective(b: Builder, f: Oracle, h: Oracle, measure: Measure, last: Array, moved: Array) -> Objective:
    if measure == "value":
        values = (f.data[-1][2], h.data[-1][2])
        return Objective(values=tuple(v for v in values if v >= 0))
    if measure in ("distance", "gradient_map"):
        return Objective(vector=b.vector(last if measure == "distance" else moved))
    if measure == "gradient":
        return Objective(vector=f.data[-1][1])
    least = b.value()
    for _, g, value in f.data[1:]:
        if measure == "best_gradient":
            b.add(Inequality("least_norm", (g,), (least,)))
        else:
            b.add(Inequality("least_value", (), (least, value)))
    return Objective(values=(least,))
