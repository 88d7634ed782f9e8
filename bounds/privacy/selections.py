"""Private selections, composed: the exponential mechanism by its bounded range, others by pure DP.

The log ratio of two laws of an exponential mechanism has range eps0, not only size eps0 (Durfee and Rogers 2019). The
worst laws with that range have two values of the loss, t and t - eps0; an adversary may choose t anew each step. The
recursion below is the exact optimum over t (Dong, Durfee, Rogers 2020), rounded up.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from dpcheck.bounds.privacy.exact import SLACK, counted, optimal_composition, positive
from dpcheck.bounds.privacy.random_iterate import at_least_two, averaged

Array = np.ndarray
CELLS = 24  # values of t per step; between them a second-order bound
LONGEST = 48  # selections that the recursion follows; beyond, zCDP


@lru_cache(maxsize=256)
def bounded_range_deltas(eps0: float, most: int, at: float) -> Array:
    """Upper bounds on delta at eps = `at` after 0, 1, ..., `most` adaptive selections of range eps0."""
    e, m = float(positive("eps0", eps0)), CELLS
    t = np.arange(m + 1) * e / m
    u, floor = np.exp(-t), np.exp(-e)
    q = (u - floor) / (1 - floor)  # probability of the loss t under the second law, linear in u
    bent = (np.sqrt(u[:-1]) - np.sqrt(u[1:])) ** 2 / (1 - floor)  # how far 1 - q may rise above its chord in 1/u
    half = most * m
    x = at + np.arange(-half, half + 1) * e / m
    h, found = np.maximum(0.0, -np.expm1(x)), [max(0.0, -float(np.expm1(at)))]
    for k in range(1, most + 1):
        # Beyond the grid the profile after k - 1 selections is known: 0 above, 1 - e^x below.
        below, above = -np.expm1(x[0] - np.arange(m, 0, -1) * e / m), np.zeros(m)
        wide = np.concatenate([below, h, above])
        rows = np.arange(m + 1)
        shifted = np.stack([wide[m - i : m - i + len(x)] for i in rows])  # h(x - t_i)
        raised = np.stack([wide[2 * m - i : 2 * m - i + len(x)] for i in rows])  # h(x - t_i + eps0)
        first, second = shifted / u[:, None], raised * floor / u[:, None]
        ends = q[:, None] * first + (1 - q)[:, None] * second
        room = -np.diff(q)[:, None] * np.maximum(np.diff(first, axis=0), 0.0) / 4 + bent[:, None] * second[1:]
        h = (np.maximum(ends[:-1], ends[1:]) + room).max(axis=0)
        h = np.where(x <= -k * e, -np.expm1(np.minimum(x, 0.0)), np.where(x >= k * e, 0.0, np.minimum(h, 1.0)))
        found.append(float(h[half]))
    return np.array(found) * (1 + SLACK)


def selection_delta(eps0: float, steps: int, at: float, *, bounded_range: bool, random_iterate: bool = True) -> float:
    """An upper bound on delta at eps = `at` of x_R, R uniform on 1..steps, made of R - 1 selections; or of all."""
    if not random_iterate:
        if not bounded_range:
            return float(optimal_composition(eps0, 0.0, steps).profile(at))
        short = steps <= LONGEST
        return float(bounded_range_deltas(eps0, steps, at)[-1] if short else ZCDP(steps * eps0**2 / 8).profile(at))
    if not bounded_range:

        def pure(counts: Array) -> Array:
            composed = [optimal_composition(eps0, 0.0, int(k)).profile(at) if k else 0.0 for k in counts]
            return np.array(composed)

        return averaged(pure, steps)
    if steps - 1 <= LONGEST:
        return float(np.mean(bounded_range_deltas(eps0, steps - 1, at)))

    def by_zcdp(counts: Array) -> Array:
        return np.array([ZCDP(int(k) * eps0**2 / 8).profile(at) if k else 0.0 for k in counts])

    return averaged(by_zcdp, steps)


def two_point_deltas(eps0: float, share: float, counts: Array, at: float) -> Array:
    """Exact delta at eps = `at` after each number of selections with losses t and t - eps0, t = share * eps0."""
    t = share * eps0
    p = np.expm1(t - eps0) / np.expm1(-eps0)  # of the loss t under the first law
    found = []
    for k in counts:
        ups = np.arange(int(k) + 1)
        loss = ups * t + (int(k) - ups) * (t - eps0)
        choose = scipy.special.gammaln(k + 1) - scipy.special.gammaln(ups + 1) - scipy.special.gammaln(k - ups + 1)
        mass = np.exp(choose + ups * np.log(p) + (k - ups) * np.log1p(-p))
        found.append(float(mass @ -np.expm1(np.minimum(at - loss, 0.0))))
    return np.array(found)


def reached_delta(eps0: float, steps: int, at: float, share: float = 0.5) -> float:
    """A lower bound on what x_R leaks: linear losses on one coordinate attain two_point_deltas, and x_R tells R."""
    return averaged(lambda counts: two_point_deltas(eps0, share, counts, at), steps, below=True, blocks=24)


@lru_cache(maxsize=256)
def selection_epsilon(
    guarantee: Guarantee, steps: int, *, bounded_range: bool = True, random_iterate: bool = True
) -> float:
    """The largest eps0 of a selection with which x_R (or else all `steps` of them) keeps the guarantee, rounded down.

    >>> 5 < selection_epsilon(ApproxDP(1.0, 1e-5), 100) * (8 * 100 * 11.513) ** 0.5 < 6  # Theorem 6 has 1 there
    True
    """
    count = at_least_two(steps) - 1 if random_iterate else counted("steps", steps)
    if isinstance(guarantee, ZCDP):
        return float(np.sqrt((8 if bounded_range else 2) * guarantee.rho / count))
    if isinstance(guarantee, PureDP):
        return float(guarantee.eps) / count
    if not isinstance(guarantee, ApproxDP):
        limit = "PureDP, ApproxDP or ZCDP"
        raise InvalidInput("guarantee", str(guarantee), limit, "Convert it with to_approx().")
    eps, delta = float(guarantee.eps), float(guarantee.delta)

    def keeps(eps0: float) -> bool:
        found = selection_delta(eps0, steps, eps, bounded_range=bounded_range, random_iterate=random_iterate)
        return found <= delta

    low, high = eps / count, 2 * eps / count  # basic composition keeps any delta
    while high < 1e3 and keeps(high):
        low, high = high, 2 * high
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
