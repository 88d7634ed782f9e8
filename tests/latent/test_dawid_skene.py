"""Dawid and Skene's iteration climbs F, agrees with crowd-kit, and does what is said at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import dpcheck as dp
from dpcheck.families.truth_inference import agreement, dawid_skene, majority, posterior, sides
from tests.latent.test_private_dawid_skene import crowd

NAN = float("nan")


def F(X: np.ndarray, p: np.ndarray, y: np.ndarray) -> float:
    """(7.4), with 1 - y_j."""
    one = X * np.log(p)[:, None] + (1 - X) * np.log(1 - p)[:, None]
    zero = X * np.log(1 - p)[:, None] + (1 - X) * np.log(p)[:, None]
    return float((one * y + zero * (1 - y)).sum() + special.entr(y).sum() + special.entr(1 - y).sum())


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 8))
def test_each_half_step_climbs(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (n, m)), rng.uniform(0.05, 0.95, m)
    reports, other = (2.0 * X - 1)[None], rng.uniform(0.05, 0.95, n)
    p = agreement(reports, y[None])[0]
    best = F(X, p, y)
    assert best >= F(X, other, y) - 1e-9
    assert F(X, p, posterior(reports, p[None])[0]) >= best - 1e-9
    assert F(X, p, 1 - y) <= F(X, p, posterior(reports, p[None])[0]) + 1e-9  # planted order: the labels turned round


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_is_crowd_kits(missing: float) -> None:
    """Every task has a mirror image, so that the prior that crowd-kit estimates is the uniform one of (7.3)."""
    aggregation: Any = pytest.importorskip("crowdkit.aggregation")
    pandas: Any = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    half, _, _ = crowd(15, 40, seed=2)
    answers = np.hstack([half, 1 - half]).astype(float)
    gone = rng.random(half.shape) < missing
    answers[np.hstack([gone, gone])] = NAN
    users, tasks = np.nonzero(~np.isnan(answers))
    frame = pandas.DataFrame({"worker": users, "task": tasks, "label": answers[users, tasks].astype(int)})
    theirs = aggregation.OneCoinDawidSkene(n_iter=7, tol=-1.0).fit(frame)
    reports = sides(answers)[None]
    p, y = dawid_skene(reports, majority(reports), 7, 1e-10)
    assert np.allclose(theirs.probas_[1].sort_index().to_numpy(), y[0], atol=1e-8)
    after = agreement(reports, y)[0]  # their skills are those of the last labels
    assert np.allclose(theirs.skills_.sort_index().to_numpy(), after, atol=1e-8)
    assert not np.allclose(p[0], p[0].mean())
    votes = aggregation.MajorityVote().fit_predict_proba(frame).reindex(columns=[0, 1], fill_value=0.0)
    assert np.allclose(votes[1].sort_index().to_numpy(), majority(reports)[0])


def test_batches_are_what_single_matrices_give() -> None:
    reports = sides(np.stack([crowd(6, 9, seed)[0] for seed in range(5)]).astype(float))
    p, y = dawid_skene(reports, majority(reports), 5, 0.01)
    for i in range(5):
        one = dawid_skene(reports[i : i + 1], majority(reports[i : i + 1]), 5, 0.01)
        assert np.allclose(one[0], p[i], atol=1e-12)
        assert np.allclose(one[1], y[i], atol=1e-12)


# At the edges -----------------------------------------------------------------------------------------
def test_who_answers_all_wrong_is_read_the_other_way_round() -> None:
    answers, truth, _ = crowd(9, 300)
    found = dp.truth_inference(np.vstack([answers, 1 - truth, 1 - truth]))
    assert np.array_equal(found.labels, truth)
    assert found.abilities[-1] < 0.01


def test_one_user_is_believed() -> None:
    for method in ("majority", "dawid-skene"):
        found = dp.truth_inference([[0, 1, 1]], method=method)  # type: ignore[arg-type]
        assert found.labels.tolist() == [0, 1, 1]
        assert np.all(np.isfinite(found.probabilities))


def test_a_tie_is_one_and_a_task_without_answers_has_no_label() -> None:
    found = dp.truth_inference([[0, NAN], [1, NAN]], method="majority")
    assert found.labels.tolist() == [1, -1]
    assert found.probabilities.tolist() == [0.5, 0.5]


def test_a_user_without_answers_moves_nothing() -> None:
    answers, _, _ = crowd(5, 30)
    with_her = dp.truth_inference(np.vstack([answers, np.full(30, NAN)]))
    assert np.allclose(with_her.probabilities, dp.truth_inference(answers).probabilities)
    assert with_her.abilities[-1] == 0.5


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 50.0, 700.0])
def test_very_small_and_very_large_epsilon(epsilon: float) -> None:
    answers, truth, _ = crowd(20, 200)
    found = dp.private_truth_inference(answers, epsilon, random_state=0)
    assert np.all((found.abilities >= 0) & (found.abilities <= 1))
    assert np.all((found.probabilities >= 0) & (found.probabilities <= 1))
    wrong = np.mean(found.labels != truth)
    assert wrong < 0.05 if epsilon > 1 else 0.2 < wrong < 0.8


def test_a_missing_answer_is_a_coin_or_is_seen() -> None:
    answers = np.full((1, 10_000), NAN)
    hidden = dp.private_answers(answers, 3.0, random_state=0)
    assert abs(hidden.mean() - 0.5) < 0.025  # Hoeffding at 1e-5
    assert np.isnan(dp.private_answers(answers, 3.0, missing="public", random_state=0)).all()


def test_what_is_promised_is_said() -> None:
    found = dp.private_truth_inference(crowd(4, 7)[0], 0.5)
    assert found.guarantee == dp.PureDP(0.5, relation=dp.LOCAL_ATTRIBUTE)
    assert found.for_a_record == dp.PureDP(3.5, relation=dp.LOCAL)
    assert not found.caveats
    assert dp.truth_inference(crowd(4, 7)[0]).for_a_record is None
    with pytest.warns(UserWarning, match="random_state"):
        assert dp.private_truth_inference(crowd(4, 7)[0], 0.5, random_state=3).caveats


def test_frames_and_masked_arrays_have_missing_answers() -> None:
    pandas: Any = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0, None, 1], "b": [1, 1, 1]}, dtype="Int8")
    masked = np.ma.masked_array([[0, 1], [7, 1], [1, 1]], [[0, 0], [1, 0], [0, 0]])
    expected = dp.truth_inference([[0, 1], [NAN, 1], [1, 1]])
    for labels in (frame, masked):
        assert np.array_equal(dp.truth_inference(labels).probabilities, expected.probabilities)


@pytest.mark.parametrize("labels", [[[0, 2]], [[0.5]], [], [[]], [0, 1], "secret", [["secret"]], None, [[[0]]], np.inf])
def test_other_labels_are_refused_without_being_quoted(labels: Any) -> None:
    with pytest.raises(dp.InvalidInput, match="labels") as refused:
        dp.private_truth_inference(labels, 1.0)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("epsilon", [0.0, 5e-324, -1.0, NAN, np.inf, "1", None])
def test_epsilon_is_a_number_above_0(epsilon: Any) -> None:
    with pytest.raises(dp.InvalidInput, match="epsilon"):
        dp.private_truth_inference([[0, 1]], epsilon)
