"""Attacks on the bits of floats: naive samplers are caught, those that a public grid covers are not.

False alarms: 1e-6 an audit, fixed seeds.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from scipy import special

import dpcheck as dp
from dpcheck.audits.scores.bits import ZERO, Attainable, LowestBit, TrailingZeros
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP

FALSE_ALARM = 1e-6
TRIALS = 20_000


def test_places_of_bits() -> None:
    rows = np.array([[1.0], [0.75], [-6.0], [2.0**-1074], [0.0], [-0.0], [1 + 2.0**-52], [np.inf]])
    assert LowestBit(0)(rows).tolist() == [0, -2, 1, -1074, ZERO, ZERO, -52, ZERO]
    assert TrailingZeros(0)(rows)[[0, 6]].tolist() == [52, 0]


def inverse_normal(rng: np.random.Generator, trials: int) -> np.ndarray:
    """By the inverse of the law, as textbooks have it."""
    return special.ndtri(np.maximum(rng.integers(0, 1 << 53, trials), 1) * 2.0**-53)


def drawn(noise: str, rng: np.random.Generator, trials: int) -> np.ndarray:
    return rng.laplace(size=trials) if noise == "laplace" else inverse_normal(rng, trials)


def audited(mechanism: Any, pair: tuple[float, float], claimed: Any, attack: Any) -> Any:
    return dp.audit(
        mechanism, pair=pair, guarantee=claimed, attack=attack, max_trials=TRIALS, alpha=FALSE_ALARM, seed=0, executor=1
    )


@pytest.mark.parametrize("pair", [(0.0, 1.0), (0.3, 1.3), (-1 / 3, 1 / 3)])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("grid", [False, True])
def test_what_an_answer_cannot_give_tells_it_apart(
    pair: tuple[float, float], noise: Literal["laplace", "gaussian"], grid: bool
) -> None:
    """Noise that is large enough, three times over: plain doubles are caught, on a grid of 2^-30 nothing is seen."""
    claimed, scale = (PureDP(1.0), 3.0) if noise == "laplace" else (ApproxDP(1.0, 1e-3), 8.0)

    def mechanism(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        found = data + scale * drawn(noise, rng, trials)
        return np.rint(found * 2.0**30) * 2.0**-30 if grid else found

    found = audited(mechanism, pair, claimed, Attainable(pair, scale, noise))
    assert found.violated != grid
    assert audited(mechanism, pair, claimed, "auto").violated is False  # who looks at the values alone sees nothing


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_an_output_is_attainable_from_its_own_answer(noise: Literal["laplace", "gaussian"]) -> None:
    rng, attack = np.random.default_rng(0), Attainable((0.3, 1.3), 2.0, noise)
    outputs = 0.3 + 2.0 * drawn(noise, rng, TRIALS)
    assert attack.possible(outputs, 0.3).all()
    assert attack.possible(outputs, 1.3).mean() < 0.9


@pytest.mark.parametrize("naive", [True, False])
def test_an_answer_of_zero_leaves_noise_its_lowest_bits(naive: bool) -> None:
    """numpy's own normals, on 0 and on 1/2: no sampler needs to be known."""

    def mechanism(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        found = data + 2.0 * rng.standard_normal(trials)
        return found if naive else np.rint(found * 2.0**30) * 2.0**-30

    assert audited(mechanism, (0.0, 0.5), ApproxDP(1.0, 1e-3), "bits").violated == naive
