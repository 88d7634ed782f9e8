"""The mean of vectors by half spheres: unbiased, of the variance it must have, the client's and the kernel's alike."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck import local
from dpcheck.bounds.library.local import ldp_l2_randomizer as theory
from dpcheck.solvers.local.ldp_l2_randomizer import LdpL2Randomizer

LOCAL = dp.PureDP(1.0, relation=dp.LOCAL)
USERS = np.random.default_rng(3).standard_normal((20, 4))
USERS /= np.linalg.norm(USERS, axis=1)[:, None] * np.linspace(1, 3, 20)[:, None]


def test_the_mean_is_unbiased_with_its_variance_and_not_with_the_printed_length() -> None:
    w = LdpL2Randomizer().solve(USERS, LOCAL, rng=0, trials=20_000).w
    error = w.std(axis=0) / len(w) ** 0.5
    assert (abs(w.mean(axis=0) - USERS.mean(axis=0)) / error).max() < 5
    client = local.L2Ball(1.0, 4)
    spread = (client.largest**2 - (USERS**2).sum(axis=1)).mean() / len(USERS)
    assert ((w - USERS.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(spread, rel=0.05)
    # Planted: reports of length r√p, as printed with constant 1.
    short = w * 2 / client.largest
    assert (abs(short.mean(axis=0) - USERS.mean(axis=0)) / error).max() > 5


def test_client_and_claim_have_the_same_length() -> None:
    assert local.L2Ball(1.0, 4, radius=3.0).largest == pytest.approx(
        theory.unbiased_corrected.evaluate(eps=1.0, d=4, r_ball=3.0)
    )


def test_it_conforms() -> None:
    dp.check_solver(LdpL2Randomizer())


@pytest.mark.parametrize("users", [5 * USERS, USERS[0], USERS[:0], "users", USERS * np.nan])
def test_users_outside_are_refused(users: np.ndarray) -> None:
    with pytest.raises(dp.InvalidInput, match="users"):
        LdpL2Randomizer().solve(users, LOCAL)
