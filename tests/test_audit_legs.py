"""Tables of outputs are learned again on the way: two legs, one bound. False alarms: 1e-6 per audit, fixed seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import AuditResult, MechanismFailed, audit, joint_bound
from bounds.errors import InvalidInput
from bounds.guarantees import PureDP

TRIALS = 100_000
PAIR = (np.zeros(6), np.array([1.0, 1, 1, -1, -1, -1]))


def above_threshold(data: np.ndarray, rng: np.random.Generator, trials: int, query: float = 8.0) -> np.ndarray:
    """Which noisy queries reach a noisy threshold, up to the second that does: epsilon 1 with query noise 8."""
    reached = data + rng.laplace(scale=query, size=(trials, 6)) >= rng.laplace(scale=2.0, size=(trials, 1))
    seen = reached.cumsum(axis=1)
    return np.where((seen > 2) | ((seen == 2) & ~reached), -1, reached)


def broken(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """The planted bug: query noise that forgets how many answers there are."""
    return above_threshold(data, rng, trials, query=2.0)


def asked(mechanism: Any, **more: Any) -> AuditResult:
    return audit(mechanism, pair=PAIR, guarantee=PureDP(1.0), **{"max_trials": TRIALS, "alpha": 1e-6, **more})


def facts(result: AuditResult) -> tuple[Any, ...]:
    return result.epsilon_lower, result.legs, result.event.sentence, result.direction, result.trials


@pytest.mark.parametrize(("mechanism", "flagged"), [(above_threshold, False), (broken, True)])
def test_two_legs_give_one_bound_that_their_counts_reproduce(mechanism: Any, flagged: bool) -> None:
    result = asked(mechanism)
    assert result.violated is flagged
    assert len(result.legs) == 2
    assert result.epsilon_lower == joint_bound(result.legs, delta=0.0, alpha=1e-6)
    assert result.counts == (result.legs[-1].hits, result.legs[-1].other_hits, result.legs[-1].trials)
    assert result.trials == TRIALS
    assert result.legs[1].trials >= 2 * result.legs[0].trials


def test_an_event_too_rare_for_two_tests_is_tested_once() -> None:
    def rare(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return above_threshold(data, rng, trials, query=0.7)

    result = asked(rare)
    assert len(result.legs) == 1
    assert result.violated


@pytest.mark.parametrize("share", [0.35, 0.8])
def test_ctrl_c_in_either_leg_keeps_what_is_known(share: float) -> None:
    def stop(done: int, total: int, bound: float) -> None:
        if done > share * total:
            raise KeyboardInterrupt

    result = asked(broken, progress=stop)
    assert "stopped by hand" in str(result.health)
    assert share * TRIALS < result.trials < (share + 0.1) * TRIALS
    assert 0 < result.epsilon_lower < asked(broken).epsilon_lower


@pytest.mark.parametrize("mechanism", [broken, lambda data, rng, trials: data[0] + rng.laplace(size=trials)])
def test_ctrl_c_before_anything_is_counted_stops_the_audit(mechanism: Any) -> None:
    """In one leg or in two: there is nothing to report yet."""
    probe = {"calls": 0, "limit": 10**9}

    def stopped(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        probe["calls"] += 1
        if probe["calls"] >= probe["limit"]:
            raise KeyboardInterrupt
        return np.asarray(mechanism(data, rng, trials))

    pilot = {"max_trials": 4000}
    counted: list[int] = []
    asked(stopped, progress=lambda done, total, bound: counted.append(probe["calls"]), **pilot)
    probe["calls"], probe["limit"] = 0, counted[0] - 1  # the first chunk of the test
    with pytest.raises(KeyboardInterrupt):
        asked(stopped, **pilot)


def test_no_legs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="legs"):
        joint_bound([], delta=0.0, alpha=0.05)


def test_a_checkpoint_resumes_in_either_leg(tmp_path: Path) -> None:
    calls = {"left": -1, "made": 0}

    def fragile(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        calls["left"] -= 1
        calls["made"] += 1
        if calls["left"] == 0:
            raise OSError("power cut")
        return broken(data, rng, trials)

    whole = asked(fragile)
    total, file = calls["made"], tmp_path / "legs.ckpt"
    for limit in (total // 3, total // 3):  # the first in the first leg, the second in the second
        calls["left"] = limit
        with pytest.raises(MechanismFailed):
            asked(fragile, checkpoint=file)
    calls["left"], calls["made"] = -1, 0
    assert facts(asked(fragile, checkpoint=file)) == facts(whole)
    assert calls["made"] < total / 2


def test_workers_change_no_bit() -> None:
    assert facts(asked(broken, executor=2)) == facts(asked(broken, executor=1))


def test_outputs_near_the_largest_float_are_no_trouble() -> None:
    def huge(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return 1e200 * (data + rng.laplace(size=trials))

    assert not audit(huge, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=5000, alpha=1e-6).violated
