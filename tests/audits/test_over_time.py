"""One claim over many visits: evidence adds up, looking often costs nothing, and no visit repeats another's runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import dpcheck as dp

LEVEL = 0.05
LIVES = 16
FALSE_ALARM = 1e-6


def noisy(epsilon: float) -> Any:
    """An answer with Laplace noise that keeps epsilon and not less."""

    def answer(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + rng.laplace(scale=1 / epsilon, size=trials)

    return answer


def visited(mechanism: Any, visits: int, **options: Any) -> dp.AuditResult:
    """The result of the last visit: that after which the claim has fallen, if it does."""
    past = dp.Past()
    for _ in range(visits):
        result = dp.audit(mechanism, pair=(0.0, 1.0), past=past, **options)
        assert result.past is not None
        past = result.past
        if result.violated:
            break
    return result


def fallen(epsilon: float) -> int:
    """How many lives of the claim eps = 1, ten visits each, see it fall."""
    settings: dict[str, Any] = {"guarantee": dp.PureDP(1.0), "alpha": LEVEL, "max_trials": 40}
    return sum(visited(noisy(epsilon), 10, seed=seed, **settings).violated for seed in range(LIVES))


def test_a_true_claim_rarely_ever_falls_and_a_false_one_does() -> None:
    most = stats.binom.isf(FALSE_ALARM, LIVES, LEVEL)
    assert fallen(1.0) <= most
    assert fallen(2.0) > most


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Gaussian noise for mu = 1.05."""
    return data + rng.normal(scale=1 / 1.05, size=trials)


SLIGHTLY_WRONG = [
    (dp.PureDP(1.0), noisy(1.06)),
    (dp.ApproxDP(0.5, 0.1), noisy(0.76)),
    (dp.GaussianDP(1.0), gaussian),
]


@pytest.mark.parametrize(("guarantee", "mechanism"), SLIGHTLY_WRONG, ids=["pure", "approximate", "a curve"])
def test_what_one_visit_cannot_show_falls_in_time(guarantee: dp.Guarantee, mechanism: Any) -> None:
    settings: dict[str, Any] = {"guarantee": guarantee, "alpha": 1e-6, "max_trials": 20_000}
    assert not dp.audit(mechanism, pair=(0.0, 1.0), **settings).violated
    result = visited(mechanism, 40, **settings)
    assert result.violated
    assert result.past is not None
    assert 1 < result.past.visits < 40


def test_a_visit_repeats_bit_for_bit_and_the_next_has_other_runs() -> None:
    settings: dict[str, Any] = {"guarantee": dp.PureDP(1.0), "max_trials": 2000}
    one, same = (visited(noisy(1.0), 1, **settings).past for _ in range(2))
    two = visited(noisy(1.0), 2, **settings).past
    assert one is not None
    assert two is not None
    assert one == same
    assert two.runs == 2 * one.runs
    assert np.any(two.counts() != 2 * one.counts())


@given(st.integers(0, 9), st.lists(st.integers(0, 10**9), min_size=8, max_size=8), st.floats(-700, 700))
@example(1, [0] * 8, 0.1)
def test_what_is_written_is_read_again(visits: int, cells: list[int], wealth: float) -> None:
    past = dp.Past(visits, 1e-5, tuple(map(float, cells)), (wealth,), (wealth,))
    assert dp.Past.from_json(json.loads(json.dumps(past.to_json()))) == past


@pytest.mark.parametrize(
    "said",
    [None, {}, {"visits": 1}, dp.Past(1, 0.0, (-1.0,) * 8).to_json(), dp.Past(1, 0.0, (1.0,)).to_json()],
    ids=str,
)
def test_what_no_visit_wrote_is_refused(said: Any) -> None:
    with pytest.raises(dp.InvalidInput, match="what an earlier visit wrote"):
        dp.Past.from_json(said)


def test_visits_to_another_claim_are_refused() -> None:
    past = visited(noisy(1.0), 1, guarantee=dp.ApproxDP(1.0, 1e-3), max_trials=500).past
    with pytest.raises(dp.InvalidInput, match=r"of visits to PureDP"):
        dp.audit(noisy(1.0), pair=(0.0, 1.0), guarantee=dp.PureDP(1.0), max_trials=500, past=past)
    with pytest.raises(dp.InvalidInput, match="alone"):
        dp.audit(noisy(1.0), pair=(0.0, 1.0), guarantee=dp.PureDP(1.0), past=dp.Past(), stop_early=True)
    with pytest.raises(dp.InvalidInput, match="guarantee"):
        dp.audit(noisy(1.0), pair=(0.0, 1.0), guarantee=None, past=dp.Past())
