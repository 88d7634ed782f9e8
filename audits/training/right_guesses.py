"""How likely an attacker guesses so many coins right, at most, if training is as private as supposed.

Each of m fair coins decides whether a canary is trained on. The attacker sees what training returns and guesses r of
the coins. Datasets that differ in one coin are neighbours. Permute the coins and exchange their sides before training,
and undo it in the guesses: that is as private and as often right, and so is the mixture of all these ways, since
privacy profiles are convex. Hence only the law p(d) of the number of right guesses counts. A coin drawn at random is
guessed right while d - 1 others are with probability a_d = d p(d) / m, and wrong with b_d = (r - d + 1) p(d - 1) / m;
so training with the profile delta(.) has, for every set D of numbers and every eps, however the canaries interfere,

    sum over D of a_d - e^eps b_d  <=  delta(eps).                                                                  (*)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from dpcheck.audits.training.curves import Curves

SMALLEST_LOG = -650.0  # below it a binomial probability is no number to divide by
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def chance_of_right(right: Any, guesses: Any, coins: int, eps: Any, delta: Any) -> Any:
    """The most that P(at least `right` of `guesses`) can be under (eps, delta)-DP: exact, and vectorised.

    Let B be the binomial law of `guesses` trials with e^eps / (1 + e^eps), and p = B s. As d B(d) = e^eps (r - d + 1)
    B(d - 1), (*) bounds the rises of s: sum of d B(d) / m (s(d) - s(d - 1))+ <= delta. With b = B(at least v) and c_d =
    b B(< d) for d <= v, (1 - b) B(>= d) above, P(>= v) - b = sum of c_d (s(d) - s(d - 1)). As B is log-concave,
    c_d / (d B(d)) is largest at v: P(>= v) <= b + m delta b (1 - b) / (v B(v)), and one rise at v attains it.
    Steinke, Nasr and Jagielski (2023) have the case delta = 0, and a larger term for delta.

    >>> round(float(chance_of_right(9, 10, 10, 1.0, 0.0)), 6)  # the binomial tail
    0.204012
    """
    v, r, eps, delta = np.broadcast_arrays(*(np.asarray(x, float) for x in (right, guesses, eps, delta)))
    some = np.maximum(v, 1.0)
    tail = special.betainc(some, r - some + 1, special.expit(eps))
    log_point = some * special.log_expit(eps) + (r - some) * special.log_expit(-eps)
    log_point = log_point - special.betaln(some, r - some + 1)  # of v B(v), since v C(r, v) = 1 / beta(v, r - v + 1)
    share = tail / np.exp(np.maximum(log_point, SMALLEST_LOG))
    with np.errstate(over="ignore", divide="ignore"):
        beyond = 1 / np.maximum(some - np.exp(eps) * (r - some), 0.0)  # by a geometric series, far above the mean
    share = np.where(log_point > SMALLEST_LOG, share, beyond)
    with np.errstate(invalid="ignore"):
        extra = np.where(delta > 0, coins * delta * share * (1 - tail), 0.0)
    return np.where(v < 1, 1.0, np.minimum(tail + extra, 1.0))[()]


def mass_needed(curves: Curves, right: int, guesses: int, coins: int, chance: float) -> np.ndarray:
    """The least total probability under which P(at least `right`) = `chance`; above 1, that chance is impossible.

    Takes (*) for the sets of all numbers >= u, and every eps at once: a test of power A = sum of a_d errs at least
    `least_error(A)` often, which sum of b_d must reach. With T_u = P(at least u) that reads
    (r - u + 1) T_(u-1) >= T_u + S + m least_error((u T_u + S) / m), S = T_(u+1) + T_(u+2) + ...
    The right side grows with every T, so the least of them come one by one, from T_v = chance with none above it.
    The recursion of Mahloujifar, Melis and Chaudhuri (2024) is of this kind.
    """
    tail = np.full(curves.size, float(chance))
    above = np.zeros(curves.size)
    for u in range(right, 0, -1):
        power = np.minimum((u * tail + above) / coins, 1.0)
        before = (tail + above + coins * curves.least_error(power)) / (guesses - u + 1)
        above = above + tail
        tail = np.maximum(tail, before)
        if np.all(tail > 1):
            break
        tail = np.minimum(tail, 2.0)  # decided already; keeps what follows a number
    return tail


def chance_if_separate(curves: Curves, right: int, guesses: int, coins: int) -> np.ndarray:
    """The most that P(at least `right`) can be if each coin is seen through a release of its own, with this curve.

    Given these releases coins are independent, so it is best to guess the r that show the largest losses. Given how
    rare the next largest is (a share u of all, the (r + 1)-th of m uniform numbers), these r are alike: each is
    right with probability A / u, where a test of power A and error u - A is the best that guesses this share.
    """
    if guesses == coins:
        shares, weights = np.ones(1), np.ones(1)
    else:
        shares = special.betaincinv(guesses + 1, coins - guesses, (NODES + 1) / 2)
        weights = WEIGHTS / 2
    low, high = np.broadcast_arrays(shares / 2, shares)
    low, high = np.tile(low, (curves.size, 1)), np.tile(high, (curves.size, 1))
    for _ in range(45):
        middle = (low + high) / 2
        short = middle + curves.least_error(middle) < shares
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    if right < 1:
        return np.ones(curves.size)
    return np.asarray(special.betainc(right, guesses - right + 1, high / shares) @ weights)
