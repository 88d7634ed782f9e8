"""What it takes to hide a movement: the shift of the noise that undoes it, and what that shift costs in privacy.

If numbers are `base + slope * units` on both datasets, the second dataset's numbers are the first's with the units
shifted by s, where slope * s = the movement. Any such s bounds the loss from above. It is exact where s is the only
one; for Gaussian units at the shortest s; for Laplace units, at delta = 0, at the s of least l1 norm (far out in that
direction the densities' ratio tends to it).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from dpcheck.audits.same_noise.draws import GEOMETRIC
from dpcheck.audits.same_noise.responses import ALONE, FAR, Response
from dpcheck.bounds.language.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    smallest_epsilon,
)

EQUAL = 1e-9  # relative: scales that differ by less are the same, since no float generator draws a thousand units
DISCRETE = "discrete Laplace"
LIPSCHITZ = ("Laplace", "logistic", DISCRETE)  # shifted by s these lose s at most, and as much in the far tail
MOST_PARTS = 60  # different shifts that an account of Laplace noise at delta > 0 adds up
ORDERS = 1 + np.geomspace(1e-3, 1e4, 1500)


@dataclass(frozen=True, eq=False)
class Shifts:
    """The shift of each unit that hides a movement, and how its scale changes.

    `exact`: no other shifts hide it better, `exact_pure`: none at delta = 0. `bare` numbers moved with no noise on
    them; `clashing` ones share noise that cannot hide both. `unclear` says why nothing is known.
    """

    unit: np.ndarray
    law: np.ndarray
    size: np.ndarray
    ratio: np.ndarray
    row: np.ndarray
    exact: bool = True
    exact_pure: bool = True
    bare: tuple[int, ...] = ()
    clashing: tuple[int, ...] = ()
    unclear: str = ""

    @property
    def rescaled(self) -> np.ndarray:
        """Which units have another scale on the second dataset."""
        return np.abs(self.ratio - 1) > EQUAL

    def of(self, which: np.ndarray) -> Shifts:
        """These alone: what an attacker learns who sees nothing else."""
        return Shifts(self.unit[which], self.law[which], self.size[which], self.ratio[which], self.row[which])


def shifts_of(
    moved: np.ndarray,
    first: Response,
    second: Response,
    lost: np.ndarray,
    rates: np.ndarray,
    public: np.ndarray,
    equal: float = EQUAL,
) -> Shifts:
    """The shifts that hide `moved` (second minus first), of which floats have `lost` so much.

    `rates` are those of geometric units, `public` tells which units everybody knows. Scales that differ by less than
    `equal`, relatively, are the same.
    """
    one, two = (_without(response, public) for response in (first, second))
    rows = np.zeros(len(moved), dtype=bool)
    rows[one.row] = rows[two.row] = True
    bare = tuple(np.flatnonzero(~rows & (moved != 0)).tolist())
    if bare:
        return _nothing(bare=bare)
    if not (np.array_equal(one.row, two.row) and np.array_equal(one.unit, two.unit)):
        order = [np.lexsort((response.unit, response.row)) for response in (one, two)]
        one, two = (
            Response(r.rows, r.row[o], r.unit[o], r.slope[o], r.laws) for r, o in zip((one, two), order, strict=True)
        )
        if not (np.array_equal(one.row, two.row) and np.array_equal(one.unit, two.unit)):
            return _nothing(unclear="the noise falls on other numbers on the second dataset")
    if len(np.unique(one.row)) == len(one.row):
        return _alone(moved, one, two, lost, rates, equal)
    return _together(moved, one, two, lost, rates, equal)


def _nothing(bare: tuple[int, ...] = (), clashing: tuple[int, ...] = (), unclear: str = "") -> Shifts:
    empty = np.empty(0)
    whole = empty.astype(int)
    return Shifts(whole, empty.astype(object), empty, empty, whole, bare=bare, clashing=clashing, unclear=unclear)


def _without(response: Response, public: np.ndarray) -> Response:
    kept = ~public[response.unit]
    return Response(response.rows, response.row[kept], response.unit[kept], response.slope[kept], response.laws)


def _alone(
    moved: np.ndarray, one: Response, two: Response, lost: np.ndarray, rates: np.ndarray, equal: float
) -> Shifts:
    """Every number has one unit; a unit may have several numbers, whose shifts must then agree."""
    size, ratio = moved[one.row] / one.slope, two.slope / one.slope
    slack = lost[one.row] / np.abs(one.slope)
    ratio = np.where(np.abs(ratio - 1) <= equal + slack / FAR[0], 1.0, ratio)
    if np.any((ratio != 1) & (np.abs(ratio - 1) <= 4 * slack)):  # slopes of bent noise are read from short moves
        return _nothing(unclear="the scale of the noise is not read as precisely as the rounding of floats asks for")
    order = np.lexsort((np.abs(size), one.unit))
    unit, start = np.unique(one.unit[order], return_index=True)
    groups = np.split(order, start[1:]) if len(order) else []
    shared = [g for g in groups if len(g) > 1]
    clashing = [g for g in shared if np.ptp(size[g]) > slack[g].sum() or np.ptp(ratio[g]) > EQUAL * ratio[g].max()]
    if clashing:
        return _nothing(clashing=tuple(one.row[clashing[0]].tolist()))
    chosen = np.array([g[-1] for g in groups], dtype=int)
    return _read(unit, one.laws[unit], size[chosen], ratio[chosen], one.row[chosen], rates[unit], slack[chosen])


def _together(
    moved: np.ndarray, one: Response, two: Response, lost: np.ndarray, rates: np.ndarray, equal: float
) -> Shifts:
    """Numbers that mix units."""
    matrix, other = one.dense, two.dense
    if np.any(np.abs(matrix - other) > equal * np.abs(matrix) + lost[:, None] / ALONE):
        return _nothing(unclear="noise that mixes has another scale on the second dataset")
    heights = np.abs(matrix).max(axis=1)
    heights[heights == 0] = 1.0
    matrix, moved, lost = matrix / heights[:, None], moved / heights, lost / heights  # so that no number drowns another
    used = np.flatnonzero(np.any(matrix != 0, axis=0))
    laws, rates = one.laws[used].copy(), rates[used]
    keep = _joined(matrix[:, used], laws, rates, equal)
    matrix, laws, used, rates = matrix[:, used[keep]], laws[keep], used[keep], rates[keep]
    gaussian = bool(np.all(laws == "Gaussian"))
    size = np.linalg.lstsq(matrix, moved, rcond=None)[0]
    slack = lost + 64 * np.finfo(float).eps * (np.abs(matrix) @ np.abs(size))
    left = np.abs(matrix @ size - moved)
    if np.any(left > slack):
        return _nothing(clashing=tuple(np.flatnonzero(left > slack).tolist()))
    exact = gaussian or bool(np.linalg.matrix_rank(matrix) == len(used))
    hidden = exact
    if not exact and np.any(laws == "Laplace"):
        least = _least_sum(matrix, moved, laws == "Laplace")
        hidden = least is not None and bool(np.all(np.abs(matrix @ least - moved) <= slack))
        size = least if least is not None and hidden else size
    # Where Laplace noise alone does not hide it, Gaussian noise must, which at delta = 0 it never does.
    readable = hidden or np.any(laws == "Gaussian")
    exact_pure = exact or bool(readable and np.all(np.isin(laws, ("Laplace", "Gaussian"))))
    row, loose = np.abs(matrix).argmax(axis=0), np.max(slack) / np.abs(matrix).max(axis=0)
    return _read(used, laws, size, np.ones(len(used)), row, rates, loose, exact, exact_pure)


def _joined(matrix: np.ndarray, laws: np.ndarray, rates: np.ndarray, equal: float) -> np.ndarray:
    """Which units are left where a difference of two exponentials is Laplace, of geometric numbers discrete Laplace."""
    keep = np.ones(len(laws), dtype=bool)
    for i in range(len(laws)):
        for j in range(i + 1, len(laws)):
            twins = laws[i] == laws[j] and laws[i] in ("exponential", GEOMETRIC) and rates[i] == rates[j]
            if keep[i] and keep[j] and twins and np.allclose(matrix[:, i], -matrix[:, j], rtol=equal, atol=0):
                keep[j] = False
                laws[i] = "Laplace" if laws[i] == "exponential" else DISCRETE
    return keep


def _least_sum(matrix: np.ndarray, moved: np.ndarray, usable: np.ndarray) -> np.ndarray | None:
    """The shift of the usable units with the least l1 norm."""
    from scipy.optimize import linprog

    part, most = matrix[:, usable], np.abs(moved).max()
    if most == 0:
        return np.zeros(len(usable))
    solved = linprog(np.ones(2 * part.shape[1]), A_eq=np.hstack([part, -part]), b_eq=moved / most)
    if solved.status != 0:
        return None
    corner = np.abs(solved.x[: part.shape[1]] - solved.x[part.shape[1] :]) > 1e-9
    size = np.zeros(len(usable))
    size[np.flatnonzero(usable)[corner]] = np.linalg.lstsq(part[:, corner], moved, rcond=None)[0]
    return size


def _read(
    unit: np.ndarray,
    laws: np.ndarray,
    size: np.ndarray,
    ratio: np.ndarray,
    row: np.ndarray,
    rates: np.ndarray,
    slack: np.ndarray,
    exact: bool = True,
    exact_pure: bool = True,
) -> Shifts:
    """Discrete Laplace units cost by their rate, if they can make the step at all."""
    grid = laws == DISCRETE
    size = np.where(np.abs(size) < 1e-300, 0.0, np.abs(size))
    if np.any(grid & (np.abs(size - np.round(size)) > np.minimum(slack, 1e-3))):
        return _nothing(clashing=tuple(row[grid].tolist()))
    size = np.where(grid, np.round(size) * rates, size)
    moves = (size != 0) | (np.abs(ratio - 1) > EQUAL)
    return Shifts(unit[moves], laws[moves], size[moves], ratio[moves], row[moves], exact, exact_pure)


# What shifts cost ------------------------------------------------------------------------------------
def cost(shifts: Shifts, guarantee: Guarantee) -> tuple[float, float]:
    """Bounds on the guarantee's own parameter (epsilon, rho or mu) that the shifts cost together."""
    if shifts.unclear:
        return 0.0, math.inf
    if shifts.bare or shifts.clashing:
        return math.inf, math.inf
    if len(shifts.unit) == 0:
        return 0.0, 0.0
    low, high = _rescaled_cost(shifts, guarantee) if np.any(shifts.rescaled) else _shifted_cost(shifts, guarantee)
    exact = shifts.exact or (
        shifts.exact_pure and guarantee.parameters.get("delta", 1.0 - isinstance(guarantee, PureDP)) == 0
    )
    return (low if exact else 0.0), high


def _shifted_cost(shifts: Shifts, guarantee: Guarantee) -> tuple[float, float]:
    mu = float(np.linalg.norm(shifts.size[shifts.law == "Gaussian"]))
    pure = float(np.sum(shifts.size[np.isin(shifts.law, LIPSCHITZ)]))
    laplace = shifts.size[shifts.law == "Laplace"]
    others = ~np.isin(shifts.law, (*LIPSCHITZ, "Gaussian"))
    one_sided = np.isin(shifts.law, ("uniform", "exponential"))
    unread = bool(np.any(others))  # no account of these beyond delta = 0
    if isinstance(guarantee, PureDP):
        if mu > 0 or np.any(one_sided):
            return math.inf, math.inf
        return pure, math.inf if unread else pure
    if isinstance(guarantee, GaussianDP):
        return mu, mu if pure == 0 and not unread else math.inf
    known = len(laplace) == np.count_nonzero(np.isin(shifts.law, LIPSCHITZ))
    if isinstance(guarantee, RenyiDP | ZCDP):
        orders = np.array([guarantee.alpha]) if isinstance(guarantee, RenyiDP) else ORDERS
        divergence = orders * mu**2 / 2 + sum(
            _laplace_renyi(s, orders) * k for s, k in Counter(laplace.tolist()).items()
        )
        found = float(np.max(divergence if isinstance(guarantee, RenyiDP) else divergence / orders))
        return found, math.inf if unread or not known else found * (1 + 1e-6)
    assert isinstance(guarantee, ApproxDP)
    low, high = _approx_cost(mu, laplace, float(guarantee.delta))
    return low, math.inf if unread else high if known else (pure if mu == 0 else math.inf)


def _laplace_renyi(size: float, orders: np.ndarray) -> np.ndarray:
    """Renyi divergence of Laplace noise from itself shifted."""
    up = np.log(orders / (2 * orders - 1)) + size * (orders - 1)
    down = np.log((orders - 1) / (2 * orders - 1)) - size * orders
    return np.asarray(np.logaddexp(up, down) / (orders - 1))


def _approx_cost(mu: float, laplace: np.ndarray, delta: float) -> tuple[float, float]:
    """Epsilon at delta of Gaussian and Laplace shifts together: exact for one kind, else by the accountant."""
    pure = float(laplace.sum())
    if delta == 0:
        return (math.inf, math.inf) if mu > 0 else (pure, pure)
    if len(laplace) == 0:
        found = GaussianDP(mu).epsilon(delta) if mu > 0 else 0.0
        return found, found
    if mu == 0 and len(laplace) == 1:
        found = max(0.0, pure + 2 * math.log1p(-delta))
        return found, found
    times = Counter(np.round(laplace, 12).tolist())
    if len(times) > MOST_PARTS:
        return (GaussianDP(mu).epsilon(delta) if mu > 0 else 0.0), pure if mu == 0 else math.inf
    from dpcheck.bounds.privacy.laws import Gaussian, Laplace
    from dpcheck.bounds.privacy.release import Composed, Release

    parts = [Release(size, Laplace(1.0), None, count) for size, count in times.items()]
    parts += [Release(mu, Gaussian(1.0))] if mu > 0 else []
    bounds = Composed(tuple(parts)).epsilon(delta)
    return float(bounds.low), float(bounds.high)


def _rescaled_cost(shifts: Shifts, guarantee: Guarantee) -> tuple[float, float]:
    """Noise whose scale tells the datasets apart: its tails differ by any factor."""
    changed = shifts.of(shifts.rescaled)
    heavy = np.isin(changed.law, (*LIPSCHITZ, "Gaussian", "exponential"))
    if isinstance(guarantee, PureDP | ZCDP) and np.any(heavy):
        return math.inf, math.inf
    if not isinstance(guarantee, ApproxDP):
        return 0.0, math.inf
    if guarantee.delta == 0:
        return (math.inf if np.any(heavy) else 0.0), math.inf
    # One number alone is no more than what is released: its epsilon bounds that of all from below.
    read = np.flatnonzero(np.isin(changed.law, ("Laplace", "Gaussian")))
    strongest = read[np.argsort(-np.abs(np.log(changed.ratio[read])) - changed.size[read])][:3]
    found = [_two_scales(str(changed.law[i]), changed.size[i], changed.ratio[i], guarantee.delta) for i in strongest]
    return max(found, default=0.0), math.inf


def _two_scales(law: str, shift: float, ratio: float, delta: float) -> float:
    """Epsilon at delta, from below, of a unit law against itself shifted and scaled: by the masses of small cells."""
    cdf = special.ndtr if law == "Gaussian" else _laplace_cdf
    width = (12.0 if law == "Gaussian" else 50.0) * max(1.0, ratio) + shift
    edges = np.concatenate([[-np.inf], np.linspace(-width, width, 40_001), [np.inf]])
    p, q = (_masses(cdf, points) for points in (edges, (edges - shift) / ratio))

    def epsilon(one: np.ndarray, other: np.ndarray) -> float:
        return smallest_epsilon(lambda e: float(np.maximum(one - math.exp(min(e, 700)) * other, 0).sum()), delta)

    return max(epsilon(p, q), epsilon(q, p))


def _masses(cdf: Any, edges: np.ndarray) -> np.ndarray:
    """Of a symmetric law between the edges, with their digits in both tails."""
    left, right = edges[:-1], edges[1:]
    return np.where(left >= 0, cdf(-left) - cdf(-right), cdf(right) - cdf(left))


def _laplace_cdf(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)
