"""The average of vectors, a coordinate of each user: unbiased over its public coins, which are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.solvers.local.ldp_avg_multidim import InGroups, LdpAvgMultidim

LOCAL = dp.PureDP(1.0, relation=dp.LOCAL)
USERS = np.linspace(0, 1, 30)[:, None] ** [1, 2, 8]


def test_averages_are_unbiased() -> None:
    w = LdpAvgMultidim().solve(USERS, LOCAL, rng=0, trials=4000).w
    off = abs(w.mean(axis=0) - USERS.mean(axis=0)) / (w.std(axis=0) / len(w) ** 0.5)
    assert off.max() < 5
    wrong = abs(w.mean(axis=0) - USERS.mean(axis=0)[::-1]) / (w.std(axis=0) / len(w) ** 0.5)
    assert wrong.max() > 5  # planted: coordinates in another order
    groups = USERS.var(axis=0) * (len(USERS) - 10) / (len(USERS) - 1)  # ten users a group, without replacement
    assert w.var(axis=0) == pytest.approx((groups + 2) / 10, rel=0.2)


def test_groups_are_equal_and_ignore_the_data() -> None:
    coins = InGroups(31, 3, 2.0**-30).coins(np.random.default_rng(0), 500)
    sizes = np.array([np.bincount(row.astype(int)) for row in coins])
    assert set(sizes.ravel()) == {10, 11}
    assert abs((coins == 0).mean(axis=0) - 11 / 31).max() < 5 * (0.25 / 500) ** 0.5


def test_it_conforms() -> None:
    dp.check_solver(LdpAvgMultidim())


def test_fewer_users_than_coordinates_are_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="number of users"):
        LdpAvgMultidim().solve(USERS[:2], LOCAL)
    with pytest.raises(dp.InvalidInput, match="users"):
        LdpAvgMultidim(upper=0.5).solve(USERS, LOCAL)
