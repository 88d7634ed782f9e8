"""Wide outputs: what one of many columns leaks, what two of them have in common, a shift along an unknown direction.

Audits run at alpha = 1e-6 (the false-alarm rate of each), on fixed seeds; each has an innocent twin that must pass.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.covariance import ledoit_wolf_shrinkage

from dpcheck.audits import audit
from dpcheck.audits.outputs.columns import Ruler, telling
from dpcheck.audits.outputs.narrowed import Narrowed
from dpcheck.audits.scores.attacks import candidates
from dpcheck.audits.scores.wide import Laws, Quadratic, along, fit_wide, ledoit_wolf
from dpcheck.audits.statistics.event_choice import Choice, Target, candidate_thresholds, predicted_bound
from dpcheck.audits.statistics.known_events import as_far_as_seen
from dpcheck.audits.trials.pilot import run_pilot, select
from dpcheck.audits.trials.plan import AuditPlan
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP

ALPHA = 1e-6
LOOSE = ApproxDP(1.0, 1e-3)


def rare_leak(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """One of 200 columns is 20 higher in a share `data` of the runs."""
    outputs = rng.standard_normal((trials, 200))
    outputs[:, 151] += 20 * (rng.random(trials) < data)
    return outputs


def correlated(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    outputs = rng.standard_normal((trials, 80))
    outputs[:, 66] = data * outputs[:, 41] + np.sqrt(1 - data**2) * outputs[:, 66]
    return outputs


def walk(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return (data + rng.standard_normal((trials, len(data)))).cumsum(axis=1)


def heavy(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_t(1, size=(trials, len(data)))


def very_wide(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """The last of 2500 columns leaks now and then: more columns than a pilot keeps."""
    outputs = rng.standard_normal((trials, 2500))
    outputs[:, -1] += 30 * (rng.random(trials) < data)
    return outputs


SIGNS = np.random.default_rng(3).choice([-1.0, 1.0], size=150)
WIDE: dict[str, tuple[Any, tuple[Any, Any], tuple[Any, Any], Guarantee, int]] = {
    "rare leak": (rare_leak, (0.01, 0.0), (0.01, 0.01), LOOSE, 12_000),
    "correlation": (correlated, (0.0, 0.8), (0.8, 0.8), PureDP(1.0), 6000),
    "step of a walk": (walk, (np.zeros(150), 2.5 * np.eye(150)[90]), (np.zeros(150), np.zeros(150)), LOOSE, 6000),
    "heavy tails": (heavy, (np.zeros(150), 0.35 * SIGNS), (np.zeros(150), np.zeros(150)), LOOSE, 5000),
    "last of 2500": (very_wide, (0.15, 0.0), (0.15, 0.15), LOOSE, 2000),
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_outputs_are_told_apart(name: str) -> None:
    mechanism, pair, innocent, guarantee, trials = WIDE[name]
    asked: dict[str, Any] = {"guarantee": guarantee, "max_trials": trials, "alpha": ALPHA, "executor": 1}
    assert audit(mechanism, pair=pair, **asked).violated
    assert not audit(mechanism, pair=innocent, **asked).violated


def test_the_column_that_leaks_is_named_by_its_place_in_the_output() -> None:
    """Though the pilot kept a tenth of the columns; and where trials run changes no bit."""

    def shifted(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return very_wide(0.0, rng, trials) + data * (np.arange(2500) == 2499)

    asked: dict[str, Any] = {"pair": (4.0, 0.0), "guarantee": LOOSE, "max_trials": 600, "attack": "coordinates"}
    found = audit(shifted, executor=1, **asked)
    assert found.violated
    assert "output[2499]" in str(found.event)
    assert any("2500 columns" in line for line in found.health)
    assert found.trials == 600
    with ThreadPoolExecutor(2) as pool:
        again = audit(shifted, executor=pool, **asked)
    assert (again.counts, again.epsilon_lower) == (found.counts, found.epsilon_lower)
    assert str(again.event) == str(found.event)


def test_a_streamed_pilot_keeps_few_columns_and_computes_only_what_the_event_reads() -> None:
    plan = AuditPlan(very_wide, LOOSE, 600, 0.05, 0)
    pilot = run_pilot(plan, plan.runner((0.3, 0.0)), None, 600)
    assert isinstance(pilot.encoding, Narrowed)
    assert 2499 in pilot.encoding.columns
    assert pilot.first.shape[1] == len(pilot.encoding.columns) + len(pilot.encoding.summaries) < 300
    assert pilot.trials == 180 > len(pilot.first)
    (one,) = [score for score in candidates("coordinates", pilot.first, pilot.second, False, True) if score.column == 0]
    focused = pilot.encoding.read_by(one)
    assert not any(focused.summaries)
    outputs = very_wide(0.3, np.random.default_rng(0), 5)
    assert np.array_equal(one(focused(outputs)), outputs[:, pilot.encoding.columns[0]])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**31))
def test_columns_seen_in_parts_are_columns_seen_at_once(one: int, two: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_cauchy((one + two, width))
    rows[rng.random(rows.shape) < 0.1] = np.inf
    ruler = Ruler.of(rows[:1])
    whole, parts = ruler.seen(rows), ruler.seen(rows[:one]) + ruler.seen(rows[one:])
    assert whole.runs == parts.runs
    for name in ("above", "highest", "lowest"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    for name in ("total", "squares"):
        assert getattr(whole, name) == pytest.approx(getattr(parts, name), rel=1e-9)
    assert np.isfinite(whole.variance).all()


def test_each_way_to_differ_puts_a_column_first_in_its_turn() -> None:
    """Mean, spread, shape with the same mean and spread, and the far tail alone, among 500 columns."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 2000, 500))
    second[:, 450] += 0.5
    second[:, 460] *= 1.5
    second[:, 470] = rng.choice([-1.0, 1.0], size=2000)
    second[7, 480] = 30.0
    ruler = Ruler.of_both(first, second)
    assert set(telling(ruler.seen(first), ruler.seen(second), 16)[:8]) >= {450, 460, 470, 480}
    assert len(telling(ruler.seen(first), ruler.seen(first), 16)) == 16


def test_scores_travel_have_words_and_give_the_same_bits_in_any_block() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2, 1200, 40))
    second[:, 3] += 0.3
    rows = rng.standard_normal((101, 40))
    scores = candidates("auto", first, second, False, False)
    assert any("gradient boosting" in score.phrase(str) for score in scores)
    for score in scores:
        again, whole = pickle.loads(pickle.dumps(score)), score(rows)
        assert np.array_equal(np.concatenate([again(rows[:1]), again(rows[1:40]), again(rows[40:])]), whole)
    for wide in fit_wide(first, second, light=False):
        assert wide.phrase(lambda j: f"field {j}")
    pair = next(score for score in scores if isinstance(score, Quadratic))
    assert f"field {pair.columns[0]} and " in pair.phrase(lambda j: f"field {j}")


def test_without_scikit_learn_plainer_trees_take_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sklearn.ensemble", None)
    rng = np.random.default_rng(2)
    first, second = rng.standard_normal((2, 1500, 90))
    second[:, 80] = first[:, 80] + 2.0
    trees = candidates("learned", first, second, False, False)[-1]
    assert "boosted trees" in trees.phrase(str)
    assert 80 in trees.columns
    assert trees(second).mean() < trees(first).mean() - 1  # also beyond the first 64 columns


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 30), st.integers(20, 200), st.integers(0, 2**31))
def test_shrinkage_is_that_of_ledoit_and_wolf(width: int, runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((runs, width)) @ rng.standard_normal((width, width))
    found = ledoit_wolf(rows, np.linalg.eigvalsh(rows.T @ rows / runs), runs)
    assert found == pytest.approx(max(ledoit_wolf_shrinkage(rows, assume_centered=True), 1e-8), rel=1e-6)


def test_a_quadratic_is_the_log_ratio_of_two_gaussians() -> None:
    rng = np.random.default_rng(4)
    means, roots = rng.standard_normal((2, 3)), rng.standard_normal((2, 3, 3))
    spreads = roots @ roots.swapaxes(1, 2) + np.eye(3)
    runs = 10**9  # so that nothing is shrunk
    laws = Laws(np.zeros(3), np.ones(3), means, spreads, (runs, runs), np.zeros((0, 3)))
    rows = rng.standard_normal((50, 3))
    ours, theirs = (stats.multivariate_normal(m, c).logpdf(rows) for m, c in zip(means, spreads, strict=True))
    assert along(laws, np.arange(3), np.eye(3))(rows) == pytest.approx(ours - theirs, rel=1e-3, abs=1e-3)


def test_a_threshold_stands_in_the_middle_of_a_wide_gap() -> None:
    scores = np.concatenate([np.linspace(-1, 1, 100), [20.0, 22.0]])
    thresholds = candidate_thresholds(scores, scores[:50])
    assert 10.5 in thresholds
    assert 20.0 not in thresholds
    assert candidate_thresholds(np.array([0.0, 1.0]), np.array([0.0, 0.0, 0.0, 0.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("end", [1.0, 3.0, np.inf])
def test_a_ratio_is_believed_as_far_as_runs_show_it_to_rise(end: float) -> None:
    rng = np.random.default_rng(5)
    ratios = rng.uniform(-9, 9, 20_000)
    side = (rng.random(len(ratios)) < 1 / (1 + np.exp(-np.clip(ratios, -end, end)))).astype(float)
    found = as_far_as_seen(ratios, side)
    inside = np.abs(ratios) < min(end, 3.5) - 0.5
    assert found[inside] == pytest.approx(ratios[inside], abs=0.15)
    edge = min(end, 6.0)
    assert np.abs(found[np.abs(ratios) > edge]) == pytest.approx(end if end < 9 else 7.0, abs=0.3 if end < 9 else 1.5)


def partly_correlated(data: tuple[float, float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Two of 20 normals have a correlation, but for a share of the runs: with it, no ratio passes 1 / share."""
    correlation, spared = data
    outputs = rng.standard_normal((trials, 20))
    moved = correlation * outputs[:, 11] + np.sqrt(1 - correlation**2) * outputs[:, 16]
    outputs[:, 16] = np.where(rng.random(trials) < spared, outputs[:, 16], moved)
    return outputs


def independent_laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=(trials, 5))


@pytest.mark.parametrize(
    ("mechanism", "pair", "goal"),
    [
        (partly_correlated, ((0.0, 0.0), (0.5, 0.0)), 3.3),
        (partly_correlated, ((0.0, 0.0), (0.7, 0.1)), 2.4),
        (independent_laplace, (0.0, 2.0), 6.8),
    ],
)
def test_the_event_of_a_fitted_ratio_is_as_rare_as_pays(mechanism: Any, pair: tuple[Any, Any], goal: float) -> None:
    """Believed too little, the first loses a fifth; believed for ever, the second does; the third is no Gaussian."""
    rng = np.random.default_rng(6)

    def rate(choice: Choice, data: Any) -> float:
        return float(np.mean([choice.holds(choice.score(mechanism(data, rng, 10**5))).mean() for _ in range(2)]))

    bounds = []
    for _ in range(3):
        choice = select("auto", *(mechanism(data, rng, 15_000) for data in pair), [Target(0.0, 1.0)], 85_000, 0.05)
        favoured, other = pair if choice.direction == "first" else pair[::-1]
        bounds.append(float(predicted_bound(rate(choice, favoured), rate(choice, other), 0.0, 85_000, 0.05)))
    assert np.median(bounds) >= goal
