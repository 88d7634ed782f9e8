"""audit_training: planted bugs are found at a false-alarm rate of 1e-6, correct twins pass, bad input is refused."""

from __future__ import annotations

import json
import runpy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import dpcheck as dp
from dpcheck.audits.training.canary_scores import loss, overlap

WIDTH = 400
NONE = np.zeros((0, WIDTH))
CLAIM = dp.GaussianDP(0.5, relation=dp.ADD_REMOVE)
GRADIENTS = dp.Canaries.orthogonal(WIDTH, WIDTH)


def noisy_sum(gradients: np.ndarray, rng: np.random.Generator, std: float = 2.0, clip: float = 1.0) -> np.ndarray:
    """Right for CLAIM: gradients of norm 1 at most, noise of 1 / 0.5."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    clipped = gradients / np.maximum(1.0, norms / clip)
    return np.asarray(clipped.sum(axis=0) + std * rng.standard_normal(gradients.shape[1]))


def noise_on_the_mean(gradients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The noise of the sum is divided too, by the batch size."""
    return np.asarray(gradients.sum(axis=0) + 2.0 / 16 * rng.standard_normal(gradients.shape[1]))


def audited(train: Any, **more: Any) -> dp.TrainingAudit:
    options = {"canaries": GRADIENTS, "score": "dot product", "guarantee": CLAIM, "alpha": 1e-6, **more}
    if not isinstance(options["guarantee"], dp.PureDP | dp.ApproxDP):
        options.setdefault("delta", 1e-9)  # below alpha, or training may show everything
    return dp.audit_training(train, NONE, **options)


@pytest.mark.parametrize("assume", [None, "curve", "separate", "gaussian"])
def test_a_planted_bug_is_found_and_the_correct_twin_passes(assume: str | None) -> None:
    """Too little noise on a sum; the false-alarm rate of each audit is 1e-6."""
    found, passed = audited(noise_on_the_mean, assume=assume), audited(noisy_sum, assume=assume)
    assert found.violated
    assert found.epsilon_lower > found.claimed
    assert not passed.violated
    assert (found.without is None) == (assume is None)
    assert (found.assumes == "") == (assume is None)


def test_gradients_that_are_not_clipped_are_found() -> None:
    long = dp.Canaries.orthogonal(WIDTH, WIDTH, norm=30.0)
    assert audited(partial(noisy_sum, clip=np.inf), canaries=long).violated
    assert not audited(noisy_sum, canaries=long).violated


def test_replaced_records_are_another_relation() -> None:
    """Opposite gradients move a sum by 2: noise for add/remove is too little for the same mu by replacement."""
    by_replacement = dp.GaussianDP(0.5)
    found = audited(noisy_sum, guarantee=by_replacement, assume="gaussian", runs=3)
    assert found.violated
    assert "stand-ins" in found.neighbours
    assert not audited(partial(noisy_sum, std=4.0), guarantee=by_replacement, assume="gaussian", runs=3).violated
    with pytest.raises(dp.MixedRelations, match="instead"):
        audited(noisy_sum, canaries=GRADIENTS.records, guarantee=by_replacement)
    with pytest.raises(dp.MixedRelations, match="one record"):
        audited(noisy_sum, guarantee=dp.GaussianDP(0.5, relation=dp.LOCAL))


def test_several_runs_are_pooled_with_fresh_coins_and_noise() -> None:
    one, four = audited(noisy_sum, alpha=0.05), audited(noisy_sum, alpha=0.05, runs=4)
    assert four.coins.shape == (4, WIDTH)
    assert not np.array_equal(four.coins[0], four.coins[1])
    assert np.array_equal(one.coins[0], four.coins[0])
    assert four.detectable_epsilon < one.detectable_epsilon


@pytest.mark.parametrize("claim", [dp.ApproxDP(0.0, 1e-9), dp.GaussianDP(1e-9)])
def test_a_claim_of_epsilon_zero_is_not_refuted_by_nothing(claim: dp.Guarantee) -> None:
    def silent(gradients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal(gradients.shape[1])

    assert not audited(silent, guarantee=claim).violated
    assert audited(noise_on_the_mean, guarantee=claim).violated


def test_one_seed_gives_the_same_bits() -> None:
    one, again, other = (audited(noisy_sum, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.scores, again.scores)
    assert not np.array_equal(one.scores, other.scores)


def test_overlapping_gradients_and_other_noise_are_refused() -> None:
    alike = dp.Canaries(np.tile(np.eye(WIDTH)[0], (50, 1)))
    for assume in ("separate", "gaussian"):
        result = audited(noisy_sum, canaries=alike, assume=assume)
        assert result.assumes == ""
        assert "overlap (50 times" in result.health[0]

    def heavy(gradients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(gradients.sum(axis=0) + rng.standard_t(2, gradients.shape[1]))

    assert "was dropped: scores show" in audited(heavy, assume="gaussian").health[0]
    assert overlap(GRADIENTS.records) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def digits() -> tuple[tuple[np.ndarray, np.ndarray], dp.Canaries]:
    X, y = load_digits(return_X_y=True)
    return (X[:600] / 16, y[:600]), dp.Canaries.mislabelled(X[600:800] / 16, y[600:800])


def test_a_tree_that_remembers_everything_is_found(digits: tuple[Any, dp.Canaries]) -> None:
    data, canaries = digits
    options: Any = {"canaries": canaries, "guarantee": dp.PureDP(1.0), "alpha": 1e-6}
    result = dp.audit_training(DecisionTreeClassifier(), data, **options)
    assert result.violated
    assert result.verdict == "VIOLATED"
    stump = DecisionTreeClassifier(max_depth=1)
    assert not dp.audit_training(stump, data, **options).violated


def test_a_reference_takes_away_what_is_hard_for_all() -> None:
    """Given, or trained on the data and all stand-ins; its score is subtracted."""
    seen: list[np.ndarray] = []

    def mean(data: np.ndarray, rng: np.random.Generator) -> float:
        seen.append(data)
        return float(data.mean())

    def score(model: Any, records: Any) -> np.ndarray:
        return np.asarray(model * np.asarray(records)[:, 0])

    canaries = dp.Canaries(np.arange(1.0, 31.0)[:, None], np.zeros((30, 1)))
    options: Any = {"canaries": canaries, "guarantee": dp.PureDP(1.0)}
    plain = dp.audit_training(mean, np.ones((5, 1)), score=score, **options)
    given = dp.audit_training(mean, np.ones((5, 1)), score=score, reference=2.0, **options)
    assert given.scores[0] == pytest.approx(plain.scores[0] - 2.0 * canaries.records[:, 0])
    seen.clear()
    rows = (np.eye(4), np.array([0, 1, 0, 1]))
    pairs = dp.Canaries.mislabelled(*rows)

    def fitted(data: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> LogisticRegression:
        seen.append(data[1])
        return LogisticRegression().fit(*data)

    dp.audit_training(fitted, rows, canaries=pairs, score="loss difference", guarantee=dp.PureDP(1.0))
    assert seen[0].tolist() == [0, 1, 0, 1, 0, 1, 0, 1]  # every canary had its stand-in


@pytest.mark.filterwarnings("ignore:.*found by trying")
def test_our_own_sgd_keeps_its_promise_and_not_another() -> None:
    """Rows on axes of their own, labelled one way or the other; noise for epsilon 60 breaks a claim of 1."""
    rows = np.eye(300)
    canaries = dp.Canaries((rows, np.ones(300)), (rows, -np.ones(300)), relabelled=True)

    def sgd(data: tuple[np.ndarray, np.ndarray], rng: np.random.Generator, epsilon: float) -> np.ndarray:
        problem = dp.Problem(*data, dp.Logistic())
        solver = dp.solvers.DPSGD(steps=3, batch=len(data[0]))
        return np.asarray(solver.solve(problem, dp.ApproxDP(epsilon, 1e-9), rng=int(rng.integers(2**31))).w[0])

    def margin(w: np.ndarray, records: Any) -> np.ndarray:
        return np.asarray(records[0] @ w * records[1])

    options: Any = {"canaries": canaries, "score": margin, "guarantee": dp.ApproxDP(1.0, 1e-9), "alpha": 1e-6}
    nobody = (np.zeros((0, 300)), np.zeros(0))
    assert not dp.audit_training(partial(sgd, epsilon=1.0), nobody, **options).violated
    assert dp.audit_training(partial(sgd, epsilon=60.0), nobody, **options).violated


def test_the_example_on_digits() -> None:
    """Logistic regression and a network pass by all four bounds; half the noise is found (false-alarm rate 1e-6)."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples/audit_one_training.py"))
    results = example["main"](alpha=1e-6, delta=1e-9)
    assert [result.violated for result in results] == 2 * [False, False, False, False, True]


def test_losses() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 2.0])
    assert loss(Ridge(alpha=1e-9).fit(X, y), (X, y + 1)) == pytest.approx([-1.0, -1.0])
    unknown = loss(LogisticRegression().fit(X, [0, 1]), (X, np.array([0, 7])))  # a class that the model never met
    assert unknown[1] < -20 < unknown[0]
    with pytest.raises(dp.InvalidInput, match="score of your own"):
        loss(Ridge(), X)
    with pytest.raises(dp.InvalidInput, match="predict"):
        loss(object(), (X, y))


def test_makers() -> None:
    rows = dp.Canaries.at_bound(50, 4, norm=3.0, labels=(0, 1))
    assert np.linalg.norm(rows.records[0], axis=1) == pytest.approx(3.0)
    assert np.array_equal(rows.instead[0], -rows.records[0])
    wrong = dp.Canaries.mislabelled(np.zeros((30, 2)), np.arange(30) % 3)
    assert np.all(wrong.records[1] != wrong.instead[1])
    assert wrong.stand_ins(dp.LABEL_ONLY) is wrong.instead
    assert wrong.stand_ins(dp.ADD_REMOVE) is None
    with pytest.raises(dp.MixedRelations):
        rows.stand_ins(dp.LABEL_ONLY)
    some = dp.Canaries.orthogonal(3, 7, norm=2.0).records
    assert some @ some.T == pytest.approx(4 * np.eye(3))
    for bad in (lambda: dp.Canaries.orthogonal(8, 7), lambda: dp.Canaries.mislabelled([[0.0]], [1])):
        with pytest.raises(dp.InvalidInput):
            bad()
    with pytest.raises(dp.InvalidInput, match="stand-in"):
        dp.Canaries(np.zeros((3, 1)), np.zeros((2, 1)))
    with pytest.raises(dp.InvalidInput, match="at least one"):
        dp.Canaries(np.zeros((0, 1)))


def test_lists_of_anything_can_be_trained_on() -> None:
    def longest(words: list[str], rng: np.random.Generator) -> set[str]:
        return set(words)

    words = dp.Canaries([f"word {i}" for i in range(60)])
    result = dp.audit_training(
        longest,
        ["a", "b"],
        canaries=words,
        score=lambda model, records: [word in model for word in records],
        guarantee=dp.PureDP(1.0, relation=dp.ADD_REMOVE),
    )
    assert result.violated


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "runs": ({"runs": 0}, ">= 1"),
    "seed": ({"seed": -1}, ">= 0"),
    "assume": ({"assume": "luck"}, "one of"),
    "curve of a point": ({"assume": "curve", "guarantee": dp.ApproxDP(1.0, 1e-5)}, "GaussianDP"),
    "separate without a claim": ({"assume": "separate", "guarantee": None}, "Claim a curve"),
    "Gaussian at delta 0": ({"assume": "gaussian", "guarantee": dp.PureDP(1.0)}, "delta = 0"),
    "another delta": ({"guarantee": dp.ApproxDP(1.0, 1e-5), "delta": 1e-6}, "the claim's own"),
    "delta 0 of a curve": ({"delta": 0.0}, "reaches"),
    "guarantee": ({"guarantee": 1.0}, "a guarantee"),
    "alpha": ({"alpha": 0.0}, "strictly between"),
    "alpha below delta": ({"alpha": 1e-6, "delta": 1e-5}, "above delta"),
    "guesses": ({"guesses": WIDTH + 1}, f"from 1 to {WIDTH}"),
    "score": ({"score": "luck"}, "or a function"),
    "scores of another length": ({"score": lambda model, records: np.zeros(3)}, "each of 400"),
    "NaN": ({"score": lambda model, records: np.full(WIDTH, np.nan)}, "diverged"),
    "canaries of another width": ({"canaries": np.zeros((5, 3))}, "data and canaries alike"),
    "canaries of another kind": ({"canaries": (np.zeros((5, WIDTH)), np.zeros(5))}, "Lay out both alike"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    options, said = BAD[name]
    with pytest.raises(dp.InvalidInput, match=said):
        audited(noisy_sum, **options)


def test_what_cannot_be_trained_is_refused() -> None:
    for nothing in (np.zeros(3), DecisionTreeClassifier):
        with pytest.raises(dp.InvalidInput, match="Pass an instance"):
            audited(nothing)
    with pytest.raises(dp.InvalidInput, match="as many numbers as the update"):
        audited(lambda data, rng: np.zeros(3))


def test_stopping_by_hand_keeps_what_is_done() -> None:
    done = []

    def stops(gradients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return noisy_sum(gradients, rng)

    result = audited(stops, runs=5, guesses=3 * WIDTH)  # more than there are coins in the end
    assert result.coins.shape == (2, WIDTH)
    assert result.health[-1] == "stopped by hand after 2 of 5 runs"
    with pytest.raises(KeyboardInterrupt):
        audited(stops)


def test_a_pass_says_what_it_could_have_shown() -> None:
    few = audited(noisy_sum, canaries=dp.Canaries.orthogonal(10, WIDTH), guarantee=dp.ApproxDP(8.0, 1e-5), alpha=0.05)
    assert "no number: so few coins" in few.would_catch
    enough = audited(noisy_sum, alpha=0.05)
    assert f"epsilon >= {enough.detectable_epsilon:.4g} would" in dict(enough.lines())["power"]
    assert enough.detectable_epsilon > enough.claimed
    assert any("10 coins are too few" in said for said in few.health)
    pure = audited(noisy_sum, guarantee=dp.PureDP(2.0))
    assert "randomised response" in pure.would_catch
    constant = audited(noisy_sum, score=lambda model, records: np.zeros(WIDTH))
    assert any("tell nothing" in said for said in constant.health)


def test_the_result_shows_itself() -> None:
    result = audited(noise_on_the_mean, assume="curve", alpha=0.05, delta=1e-9)
    lines = dict(result.lines())
    assert lines["verdict"].startswith("VIOLATED")
    assert "claimed 2.91" in lines["epsilon"]
    assert "whatever the mechanism" in lines["anyway"]
    assert "left out" in lines["seen"]
    assert "1e-06" in lines["confirm"]
    assert "<th>verdict</th>" in result._repr_html_()
    assert json.loads(result.to_json())["bound"]["name"] == "declared curve"
    assert repr(result).splitlines()[0].startswith("verdict    VIOLATED")
