"""Local protocols as releases: half spheres, rounds of users, public coins; each with the mistake it catches.

Audits have fixed seeds and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, REPLACE_ONE, ApproxDP, PureDP
from dpcheck.bounds.privacy.laws import Coins, Gaussian, HalfSphere, Interaction, Laplace, OneBit, Poisson
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.kernels.reports import half_sphere_log_density, half_spheres, unbiased_radius
from dpcheck.kernels.running import run
from dpcheck.settings import flag
from dpcheck.solver import Calibrated
from dpcheck.testing.movement import Broken, movement

CLAIM = PureDP(1.0, relation=LOCAL)
USERS = np.array([1.0, 0.2, -0.4, 0.7])


# Releases --------------------------------------------------------------------------------------------
def test_a_half_sphere_costs_what_a_bit_does() -> None:
    bit = Release(2, OneBit(1.0), relation=LOCAL).calibrated(CLAIM)
    sphere = Release(2, HalfSphere(1.0, 7), relation=LOCAL).calibrated(CLAIM)
    assert sphere.law.scale == bit.law.scale == pytest.approx(1 / math.tanh(0.5))
    assert sphere.law.width == 7


@pytest.mark.parametrize("law", [OneBit(1.0), HalfSphere(1.0, 3), Laplace(1.0)])
def test_a_user_who_answers_in_one_of_many_steps_pays_for_one(law: Any) -> None:
    once = Release(2, law, relation=LOCAL).calibrated(CLAIM).law.scale
    rounds = Release(2, law, steps=9, relation=LOCAL, interaction=Interaction.SEQUENTIAL)
    assert rounds.calibrated(CLAIM).law.scale == once
    assert replace(rounds, interaction=Interaction.NONE).calibrated(CLAIM).law.scale > 4 * once


def test_gaussian_rounds_pay_for_one_step_too() -> None:
    promised = ApproxDP(1.0, 1e-5, relation=LOCAL)
    once, rounds = (
        Release(2, Gaussian(1.0), steps=steps, relation=LOCAL, interaction=Interaction.SEQUENTIAL) for steps in (1, 9)
    )
    assert once.calibrated(promised).law.scale == rounds.calibrated(promised).law.scale


@pytest.mark.parametrize(
    "changes",
    [
        {"relation": REPLACE_ONE, "coins": Coins.PUBLIC},
        {"relation": REPLACE_ONE, "interaction": Interaction.SEQUENTIAL},
        {"interaction": Interaction.SEQUENTIAL, "sampling": Poisson(0.5)},
        {"interaction": Interaction.SEQUENTIAL, "always": 1.0},
    ],
)
def test_combinations_without_a_meaning_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Release(**{"sensitivity": 1.0, "law": Laplace(1.0), "relation": LOCAL, **changes})


# Half spheres ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_reports_of_a_half_sphere_average_to_the_record(d: int) -> None:
    rng = np.random.default_rng(d)
    x = rng.standard_normal(d)
    x *= 0.8 / np.linalg.norm(x)
    z = half_spheres(rng, np.tile(x, (100_000, 1)), 1.3)
    assert np.linalg.norm(z, axis=1) == pytest.approx(1)
    means = 1.3 * unbiased_radius(d) * z
    off = np.abs(means.mean(axis=0) - x) / (means.std(axis=0) / len(z) ** 0.5)
    assert off.max() < 5
    # Planted: the radius √d, which leaves out that a uniform coordinate is √(2/(πd)) on average.
    off = np.abs(1.3 * d**0.5 * z.mean(axis=0) - x) / (means.std(axis=0) / len(z) ** 0.5)
    assert (off.max() > 5) == (d > 1)


def test_a_record_of_nothing_is_reported_anywhere() -> None:
    z = half_spheres(np.random.default_rng(0), np.zeros((50_000, 3)), 1.0)
    assert np.abs(z.mean(axis=0)).max() < 5 * (1 / 3 / len(z)) ** 0.5


def test_chances_of_a_half_sphere_add_up() -> None:
    """The density is with respect to twice the uniform law: it averages to 1/2."""
    rng = np.random.default_rng(1)
    u = rng.standard_normal((200_000, 4))
    x = np.array([0.3, 0.0, -0.5, 0.1])
    density = np.exp(half_sphere_log_density(u, x, 0.9))
    assert abs(density.mean() - 0.5) < 5 * density.std() / len(u) ** 0.5


# Rounds and coins, in a protocol made up for it -----------------------------------------------------------
@dataclass(frozen=True, eq=False)
class InRounds(Method):
    """Half of the users in each of two steps; which half is first is a public coin. Broken: all in both."""

    users: int
    broken: bool = False
    steps = 2

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.users

    @staticmethod
    def coins(rng: np.random.Generator, k: int) -> Array:  # type: ignore[override]
        return rng.integers(0, 2, (k, 1)).astype(float)

    def start(self, k: int) -> State:
        return np.zeros((k, 1)), np.zeros((k, 1))

    def start_with(self, k: int, coins: Array | None) -> State:
        assert coins is not None
        return np.zeros((k, 1)), coins

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        asked = (np.arange(self.users) + t + state[1]) % 2 == 0
        return np.where(asked | self.broken, data, 0.0)

    def update(self, state: State, answer: Array, t: int) -> State:
        return state[0] + answer.sum(axis=1, keepdims=True), state[1]


@dataclass(frozen=True)
class Rounds(dp.Solver):
    """The protocol as a solver."""

    broken: bool = flag()
    name: ClassVar[str] = "rounds"
    relations: ClassVar[Any] = (LOCAL,)

    def release(self, data: Array, plan: None) -> Release:
        said: dict[str, Any] = {"interaction": Interaction.SEQUENTIAL, "coins": Coins.PUBLIC}
        return Release(2.0, OneBit(1.0), steps=2, relation=LOCAL, **said)

    def method(self, data: Array, plan: None, released: Released) -> Method:
        return InRounds(len(data), self.broken)

    def stated(self, data: Array, guarantee: Any, plan: None) -> tuple[Released, Sequence[Claim]]:
        raise InvalidInput("calibration", "stated", "certified", "Nobody stated this.")

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return []

    def worst_pair(self) -> tuple[Array, Array]:
        return USERS, np.concatenate([[-1.0], USERS[1:]])


def test_a_user_who_answers_again_is_noticed() -> None:
    pair = Rounds().worst_pair()

    def moved(solver: Rounds) -> float:
        done = solver.calibrated(pair[0], CLAIM)
        assert isinstance(done, Calibrated)
        return movement(solver, pair, done, 0).largest

    assert moved(Rounds()) == pytest.approx(1)
    with pytest.raises(Broken, match="answers again in step 1"):
        moved(Rounds(broken=True))


@pytest.mark.parametrize("broken", [False, True])
def test_the_transcript_of_a_whole_run_with_its_coins_is_attacked(broken: bool) -> None:
    solver = Rounds(broken=broken)
    seen = dp.audit(
        solver.mechanism(CLAIM, transcript=True),
        pair=solver.worst_pair(),
        guarantee=CLAIM,
        max_trials=20_000,
        alpha=1e-6,
        executor=1,
    )
    assert seen.violated is broken


def test_the_density_of_a_transcript_is_given_its_coins() -> None:
    box: Any = Rounds().mechanism(CLAIM, transcript=True)
    rows = box(USERS, np.random.default_rng(0), 1000)
    assert rows.shape == (1000, 1 + 2 * len(USERS))
    gap = box.log_density(rows, USERS) - box.log_density(rows, Rounds().worst_pair()[1])
    assert np.abs(gap).max() == pytest.approx(1.0)  # epsilon, and never both steps of a user
    assert set(rows[:, 0]) == {0.0, 1.0}


def test_coins_that_the_release_does_not_own_to_are_refused() -> None:
    private = Release(2.0, OneBit(2.0), steps=2, relation=LOCAL)
    with pytest.raises(InvalidInput, match="coins"):
        run(InRounds(len(USERS)), private, USERS, seed=0, trials=3)
    public = replace(private, steps=1, coins=Coins.PUBLIC)
    method = OneReport(lambda data: data, mean_of_users, len(USERS), 1, 1)
    with pytest.raises(InvalidInput, match="coins"):
        run(method, public, USERS, seed=0, trials=3)


def test_the_old_name_of_one_user_still_answers() -> None:
    with pytest.warns(DeprecationWarning, match="one_user"):
        assert dp.local(values=(0, 1)) == dp.one_user(values=(0, 1))
