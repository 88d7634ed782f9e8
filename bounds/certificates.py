"""Certificates over a whole box: cells whose worst corner keeps the claim, split until all are decided.

A bound that is monotone in each variable needs only its corners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bounds.accounting import SLACK, UNIT
from bounds.errors import InvalidInput
from bounds.guarantees import gaussian_delta

Array = np.ndarray


@dataclass(frozen=True)
class CellCertificate:
    """Whether a claim holds on a whole box: certified, refuted by a point, or undecided on some cells."""

    certified: bool
    counterexample: dict[str, float] | None
    cells: int
    undecided: int
    undecided_cell: dict[str, tuple[float, float]] | None = None


Corner = Mapping[str, Array]


def certify_cells(
    violation_upper: Callable[[Corner, Corner], Array],
    violation_at: Callable[[Corner], Array],
    box: Mapping[str, tuple[float, float]],
    log: bool = True,
    limit: int = 500_000,
) -> CellCertificate:
    """Cover a box with cells until each is certified, one violates at a corner, or `limit` cells were tried.

    `violation_upper(low, high)` bounds the violation on each cell from above (<= 0: the claim holds there);
    `violation_at(point)` is the violation at points (> 0: a counterexample). Both take arrays by name.

    >>> def at(p): return p["x"] ** 2 - p["x"] - 2
    >>> def upper(low, high): return high["x"] ** 2 - low["x"] - 2
    >>> found = certify_cells(upper, at, {"x": (1, 1.9)})
    >>> found.certified, found.undecided
    (True, 0)
    """
    names = list(box)
    outer = np.array([box[name] for name in names], float)
    _must_be_box(box, outer, log)
    cells = np.log(outer)[None] if log else outer[None]  # (cell, name, end)
    tried, turn = 0, 0

    def corner(which: Any) -> dict[str, Array]:
        raw = cells[:, np.arange(len(names)), which]
        raw = np.clip(np.exp(raw), outer[:, 0], outer[:, 1]) if log else raw
        return dict(zip(names, raw.T, strict=True))

    while len(cells):
        tried += len(cells)
        for which in product((0, 1), repeat=len(names)):
            points = corner(np.array(which))
            bad = np.flatnonzero(np.asarray(violation_at(points)) > 0)
            if len(bad):
                found = {name: float(values[bad[0]]) for name, values in points.items()}
                return CellCertificate(False, found, tried, len(cells))
        low, high = corner(np.zeros(len(names), int)), corner(np.ones(len(names), int))
        low, high = _widened(low, high) if log else (low, high)
        open_cells = cells[~(np.asarray(violation_upper(low, high)) <= 0)]
        if len(open_cells) and tried + 2 * len(open_cells) > limit:
            shown = np.exp(open_cells[0]) if log else open_cells[0]
            ends = {name: (float(a), float(b)) for name, (a, b) in zip(names, shown, strict=True)}
            return CellCertificate(False, None, tried, len(open_cells), ends)
        cells = _halved(open_cells, turn % len(names))
        turn += 1
    return CellCertificate(True, None, tried, 0)


def certify_gaussian_noise(
    mu_of: Callable[[Array, Array], Array], eps: tuple[float, float], delta: tuple[float, float], limit: int = 500_000
) -> CellCertificate:
    """Whether Gaussian noise with sensitivity / noise = mu_of(eps, delta) is (eps, delta)-DP on a whole box.

    `mu_of` must be monotone in eps and in delta: then a cell's worst case is the exact profile at its least
    eps and at the largest mu of its corners, against its least delta.

    >>> certify_gaussian_noise(lambda e, d: e / np.sqrt(2 * np.log(1.25 / d)), (0.01, 1), (1e-9, 0.1)).certified
    True
    """

    def upper(low: Corner, high: Corner) -> Array:
        corners = [np.asarray(mu_of(a["eps"], b["delta"])) for a in (low, high) for b in (low, high)]
        return _excess(gaussian_delta(low["eps"], np.max(corners, axis=0)), low["delta"], 1 + SLACK)

    def at(point: Corner) -> Array:
        return _excess(
            gaussian_delta(point["eps"], mu_of(point["eps"], point["delta"])), point["delta"], 1 / (1 + SLACK)
        )

    return certify_cells(upper, at, {"eps": eps, "delta": delta}, limit=limit)


def _excess(true: Array, stated: Array, factor: float) -> Array:
    return np.asarray(true * factor / stated - 1)


def _widened(low: dict[str, Array], high: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """A cell's ends moved out by a few roundings, so that neighbours overlap."""
    room = 64 * UNIT
    return {k: v * (1 - room) for k, v in low.items()}, {k: v * (1 + room) for k, v in high.items()}


def _halved(cells: Array, along: int) -> Array:
    left, right = cells.copy(), cells.copy()
    middle = cells[:, along].mean(axis=1)
    left[:, along, 1], right[:, along, 0] = middle, middle
    return np.concatenate([left, right])


def _must_be_box(box: Mapping[str, tuple[float, float]], outer: Array, log: bool) -> None:
    good = np.all(np.isfinite(outer)) and np.all(outer[:, 0] <= outer[:, 1])
    if not good or (log and np.any(outer <= 0)):
        limit = "finite (low, high) pairs" + (" of positive numbers" if log else "")
        raise InvalidInput("box", dict(box), limit, "Order the ends, or pass log=False.")
