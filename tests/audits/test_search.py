"""The pair search finds pairs that violate where few do, in any place, whoever makes the noise.

A search only proposes, so no false alarm comes from it: most tests ask for the exact epsilon of the pair it chose.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.search import TUNING, Release, mixed_only, needles, sum_reaches
from dpcheck.audits import Neighbours, add_remove, audit, group, label_only, queries, replace_one
from dpcheck.audits.pairs import search as searching
from dpcheck.audits.pairs.drawn_pairs import content
from dpcheck.audits.pairs.search import find_pair
from dpcheck.audits.pairs.shrinking import cost, shrunk
from dpcheck.audits.trials.plan import AuditPlan
from dpcheck.bounds.language.guarantees import PureDP

CLAIM = PureDP(1.0)


def chosen(mechanism: Any, near: Neighbours, trials: int, seed: int) -> Any:
    pair, spent = find_pair(AuditPlan(mechanism, CLAIM, trials, 0.05, seed, neighbours=near))
    assert near.is_pair(*pair)
    assert spent <= searching.BUDGET * trials
    return pair


@pytest.mark.parametrize(
    "release",
    [
        Release(sum_reaches(25), replace_one(values=range(6), n=7)),
        Release(mixed_only, replace_one(values=range(6), n=9)),
        Release(needles("tests", 4, 0.03, 0.7), replace_one(values=range(6), n=6)),
    ],
    ids=["sum reaches", "mixed only", "needles"],
)
def test_one_random_pair_in_twenty_is_enough(release: Release) -> None:
    """Of classic patterns hardly any violates; one random pair in twenty does, by 1.5."""
    assert 0.03 < release.share(np.random.default_rng(0)) < 0.07
    assert release.epsilon(chosen(release, release.near, 100_000, 0)) > CLAIM.eps


def test_the_audit_says_so() -> None:
    """False-alarm rate 1e-6."""
    release = TUNING["mixed only"]
    asked: dict[str, Any] = {"guarantee": CLAIM, "max_trials": 100_000, "alpha": 1e-6}
    assert audit(release, neighbours=release.near, **asked).violated
    fair = Release(lambda data: np.exp([0.5 * (data[0] % 2), 0.0]), release.near)
    assert not audit(fair, neighbours=release.near, **asked).violated


def from_elsewhere(answer: Callable[[np.ndarray], float]) -> Callable[..., np.ndarray]:
    own = np.random.default_rng(7)  # goes on from call to call, so the same seed gives other outputs

    def release(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return answer(data) + own.laplace(size=trials)

    return release


def both_high(data: np.ndarray) -> float:
    return float(data[1] > 0.5 and data[3] > 0.5)


def clipped_sum(data: np.ndarray) -> float:
    return float(np.clip(data.mean(), 0, 1) * len(data))


@pytest.mark.parametrize(
    ("answer", "near", "trials"),
    [(both_high, replace_one(0, 1, n=5), 100_000), (clipped_sum, replace_one(-10, 10, n=5), 20_000)],
)
def test_noise_from_elsewhere_does_not_lead_astray(
    answer: Callable[[np.ndarray], float], near: Neighbours, trials: int
) -> None:
    """Two datasets with the same answer have the same law: they are never chosen, though their noise differs."""
    for seed in range(3):
        first, second = chosen(from_elsewhere(answer), near, trials, seed)
        assert answer(first) != answer(second)


def test_a_record_in_any_place_may_leak() -> None:
    def last(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return 3 * data[-1] + rng.laplace(size=trials)

    for near in (replace_one(0, 1, n=6), group(replace_one(0, 1, n=6), 2)):
        first, second = chosen(last, near, 20_000, 0)
        assert abs(first[-1] - second[-1]) > 0.9


RELATIONS = {
    "scalars": replace_one(-1, 2, n=(2, 6)),
    "rows": replace_one(high=1, n=4, d=3, ball="l2"),
    "categories": add_remove(values=("a", "b", "c"), n=(2, 5)),
    "labels": label_only(0, 1, n=4, d=2),
    "groups": group(replace_one(0, 1, n=6), 3),
    "grouped removal": group(add_remove(0, 1, n=6), 2),
    "answers": queries(4),
}


@pytest.mark.parametrize("name", RELATIONS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_changed_and_simpler_pairs_are_pairs(name: str, seed: int) -> None:
    near, rng = RELATIONS[name], np.random.default_rng(seed)
    pair = near.random(rng)
    parts = near.parts(pair)
    if parts is not None and name != "answers":
        assert content(near.build(*parts)) == content(pair)
    for changed in near.varied(pair, rng):
        assert near.is_pair(*changed)
    simpler = shrunk(near, pair, lambda simpler: bool(rng.random() < 0.5))
    assert near.is_pair(*simpler)
    assert cost(near, simpler) <= cost(near, pair)


def test_backgrounds_are_diverse() -> None:
    """Both all alike and all different, sorted and not, from the edges and from the inside."""
    near, rng = replace_one(0, 1, n=9), np.random.default_rng(0)
    kept = [np.array(parts[0]) for parts in (near.parts(near.random(rng)) for _ in range(300)) if parts is not None]
    different = np.array([len({*row.tolist()}) for row in kept])
    assert {1, 2, 8} <= {*different.tolist()}
    sorted_ones = np.mean([bool((np.diff(row) >= 0).all()) for row in kept if len({*row.tolist()}) > 3])
    assert 0.05 < sorted_ones < 0.5
    assert 0.1 < np.mean([bool(np.isin(row, (0, 0.5, 1)).all()) for row in kept]) < 0.7
    assert np.mean([row.std() < 0.1 and len({*row.tolist()}) > 3 for row in kept]) > 0.02


def test_wide_outputs_keep_memory_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round keeps at most MOST_CELLS numbers: here those of all its pairs are counted; the final, as many again."""
    kept: dict[str, list[int]] = {"survivors": [], "best_first": []}

    def watch(name: str) -> None:
        honest = getattr(searching, name)

        def watched(race: Any, alive: Any, *rest: Any) -> Any:
            found = honest(race, alive, *rest)
            kept[name].append(sum(side.size for one in alive for part in one.outputs.values() for side in part))
            return found

        monkeypatch.setattr(searching, name, watched)

    def wide(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data.sum() + rng.laplace(size=(trials, 50))

    watch("survivors")
    watch("best_first")
    monkeypatch.setattr(searching, "MOST_CELLS", 400_000)
    chosen(wide, replace_one(0, 1, n=3), 100_000, 0)
    assert 0 < max(kept["survivors"]) <= 400_000
    assert 400_000 < max(kept["best_first"]) <= 800_000


def test_the_last_few_are_compared_on_fresh_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a classic pattern among them. On the runs of the race the leaders were lucky: those do not count again."""
    calls: list[tuple[list[Any], range, Any]] = []
    honest = searching.best_first

    def watched(race: Any, alive: list[Any], blocks: range) -> Any:
        found = honest(race, alive, blocks)
        calls.append((alive, blocks, found[0]))
        return found

    monkeypatch.setattr(searching, "best_first", watched)
    near = replace_one(0, 1, n=5)
    pair = chosen(from_elsewhere(clipped_sum), near, 100_000, 0)
    (_, raced, _), *_, (last_few, fresh, best) = calls
    assert len(fresh) == 1
    assert not {*raced} & {*fresh}
    assert {content(one.pair) for one in last_few} & {content(one) for one in near.few_classic(256)}
    assert best.figures[fresh].margin == max(one.figures[fresh].margin for one in last_few)
    assert abs(clipped_sum(pair[0]) - clipped_sum(pair[1])) > 0.9


def test_same_pair_in_every_process() -> None:
    """Also for strings, whose hashes differ from process to process."""
    script = (
        "from dpcheck import PureDP, audit, replace_one\nimport numpy as np\n"
        "def m(x, rng, k): return 3 * len({*x.tolist()}) + rng.laplace(size=k)\n"
        "near = replace_one(values=('a', 'b', 'c', 'd'), n=(3, 6))\n"
        "r = audit(m, neighbours=near, guarantee=PureDP(1.0), max_trials=4000, seed=5)\n"
        "print(r.pair, r.epsilon_lower, r.trials)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, check=True
        ).stdout
        for salt in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_column_without_noise_gives_no_warning() -> None:
    """The number of records beside a noisy mean: it moves by infinitely many standard deviations."""

    def mean_and_count(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        means = data.mean() + rng.laplace(scale=0.1, size=trials)
        return np.column_stack([means, np.full(trials, len(data))])

    near = add_remove(low=0, high=1, n=10)
    claim = PureDP(1.0, relation=near.relation)
    assert audit(mean_and_count, neighbours=near, guarantee=claim, max_trials=2_000, alpha=1e-6).violated
