"""assume="gdp": limits on the distance of two Gaussians, from independent runs and from twins with the same noise.

False alarms: the stated level, on fixed seeds; each count's own limit is stated beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpcheck.audits import audit, epsilon_from_mu
from dpcheck.audits.statistics.mean_gap import IndependentRuns, TwinRuns, twin_share
from dpcheck.audits.trials.executor import chunks
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP

Shape = int | tuple[int, int]  # runs, or places and runs of each
Draw = Callable[[np.random.Generator, Shape], tuple[np.ndarray, np.ndarray]]
MU = 0.7


def same_noise(rng: np.random.Generator, n: Shape) -> tuple[np.ndarray, np.ndarray]:
    noise = rng.standard_normal(n)
    return noise + MU, noise


def partly_shared(rng: np.random.Generator, n: Shape) -> tuple[np.ndarray, np.ndarray]:
    one, two, shared = (rng.standard_normal(n) for _ in range(3))
    return 0.9 * shared + math.sqrt(0.19) * one + MU, 0.9 * shared + math.sqrt(0.19) * two


def out_of_step(rng: np.random.Generator, n: Shape) -> tuple[np.ndarray, np.ndarray]:
    """The second dataset uses up the seed faster: its noise is that of other runs, with the opposite sign."""
    noise = rng.standard_normal(n)
    return noise + MU, -np.roll(noise, 3, axis=-1)


def power_sums(scores: np.ndarray) -> np.ndarray:
    return np.array([scores.size, *(float((scores**k).sum()) for k in (1, 2, 3, 4)), 0])


def twins(draw: Draw, rng: np.random.Generator, share: float, places: int = 30, size: int = 20) -> TwinRuns:
    pair = draw(rng, (places, size))
    gaps = pair[0].mean(axis=1) - pair[1].mean(axis=1)
    return TwinRuns(np.array([power_sums(side) for side in pair]), np.stack([np.full(places, size), gaps], 1), share)


@pytest.mark.parametrize("draw", [same_noise, partly_shared, out_of_step])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_twin_limits_exceed_the_truth_as_rarely_as_they_say(draw: Draw, alpha: float) -> None:
    """Lower and upper limits of 2000 audits; at the stated level a count above `most` has probability 1e-6."""
    rng, share = np.random.default_rng(1), twin_share(*draw(np.random.default_rng(2), 5000)) or 0.5
    found = [twins(draw, rng, share) for _ in range(2000)]
    most = stats.binom.isf(1e-6, len(found), alpha)
    assert sum(gap.limit(alpha) > MU for gap in found) <= most
    assert sum(gap.limit(1 - alpha) < MU for gap in found) <= most


def test_the_count_above_has_teeth() -> None:
    """The bug it would catch: twins have one noise between them, and counting it twice makes limits too narrow."""
    rng, alpha = np.random.default_rng(1), 0.05
    found = [twins(same_noise, rng, 0.02) for _ in range(2000)]
    counted_twice = [TwinRuns(2 * gap.sums, gap.chunks, gap.share) for gap in found]
    assert sum(gap.limit(alpha) > MU for gap in counted_twice) > stats.binom.isf(1e-6, len(found), alpha)


def test_twins_are_far_stronger_where_noise_is_added() -> None:
    rng = np.random.default_rng(3)
    twin = twins(same_noise, rng, 0.02, places=32, size=300)
    a, b = rng.standard_normal((2, 9600))
    alone = IndependentRuns(np.array([power_sums(a + MU), power_sums(b)]))
    assert MU - twin.limit(0.05) < 0.5 * 1.645 * math.sqrt(2 / 9600)
    assert twin.distance(MU, 0.05, 0.99) < 0.5 * alone.distance(MU, 0.05, 0.99)
    assert twin.limit(0.01) < twin.limit(0.05) < twin.limit(0.5) < twin.limit(0.95)


def test_unlike_twins_do_not_pay() -> None:
    rng = np.random.default_rng(4)
    assert twin_share(*rng.standard_normal((2, 500))) is None
    assert twin_share(*out_of_step(rng, 500)) is None
    assert twin_share(*same_noise(rng, 500)) == 0.02


def test_twin_chunks_share_their_seed_and_others_do_not() -> None:
    one, two, *_ = chunks(1, 100, 50, twin=True)
    assert np.array_equal(one.rng(7).random(5), two.rng(7).random(5))
    assert one.key != two.key  # a checkpoint keeps both
    apart, other, *_ = chunks(1, 100, 50)
    assert not np.array_equal(apart.rng(7).random(5), other.rng(7).random(5))


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def own_noise(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Noise that depends on the data as well as on the seed, as when records are hashed into it."""
    return data + np.random.default_rng([rng.integers(2**32), round(data * 1000)]).standard_normal(trials)


@pytest.mark.parametrize(("mechanism", "method"), [(gaussian, "twin runs"), (own_noise, "noncentral t")])
def test_an_audit_uses_twins_where_it_can(mechanism: Any, method: str) -> None:
    claim = GaussianDP(MU)
    asked: dict[str, Any] = {"assume": "gdp", "guarantee": claim, "max_trials": 20_000, "alpha": 1e-6}
    fair, broken = (audit(mechanism, pair=(0.0, gap), **asked) for gap in (MU, 1.2 * MU))
    assert method in fair.method
    assert method in broken.method
    assert (fair.violated, broken.violated) == (False, True)
    assert fair.epsilon_lower == audit(mechanism, pair=(0.0, MU), executor=2, **asked).epsilon_lower
    hits, others, runs = broken.counts
    where = broken.event.choice
    assert where is not None
    rates = [stats.norm.cdf((1 if where.above else -1) * (mean - where.threshold)) for mean in (0.0, 1.2 * MU)]
    favoured, other = rates if broken.direction == "first" else reversed(rates)
    assert favoured > other
    assert (hits / runs, others / runs) == pytest.approx((favoured, other), abs=5 * math.sqrt(0.25 / runs))


def test_ctrl_c_keeps_what_is_known_and_pays_for_it() -> None:
    claim = ApproxDP(epsilon_from_mu(MU, 1e-5), 1e-5)
    asked: dict[str, Any] = {"assume": "gdp", "guarantee": claim, "max_trials": 20_000, "alpha": 1e-6}
    shown: list[float] = []

    def stop(done: int, total: int, bound: float) -> None:
        shown.append(bound)
        if done > total // 2:
            raise KeyboardInterrupt

    stopped = audit(gaussian, pair=(0.0, 1.2 * MU), progress=stop, **asked)
    assert stopped.violated
    assert stopped.trials < 20_000
    assert any("stopped by hand" in message for message in stopped.health)
    assert 0 < stopped.epsilon_lower == shown[-1]  # the display is what a stop at that moment certifies
    with pytest.raises(KeyboardInterrupt):
        audit(gaussian, pair=(0.0, MU), progress=_at_once, **asked)


@pytest.mark.parametrize("trials", [1000, 2000])
def test_watching_a_small_audit_changes_nothing(trials: int) -> None:
    """With a few runs so far there are no moments to show, which is no reason to give up."""
    asked: dict[str, Any] = {
        "pair": (0.0, 2.0),
        "guarantee": None,
        "delta": 1e-5,
        "assume": "gdp",
        "max_trials": trials,
    }
    shown: list[float] = []
    watched = audit(gaussian, progress=lambda done, total, bound: shown.append(bound), **asked)
    assert watched.epsilon_lower == audit(gaussian, **asked).epsilon_lower > 0
    assert shown[0] == 0 < shown[-1]


def _at_once(done: int, total: int, bound: float) -> None:
    raise KeyboardInterrupt
