"""Training loops: each planted bug breaks its point, the correct loop none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.testing.training_loop import check_training
from dpcheck.theory.account import NoisyRelease

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(40, 3)), RNG.choice([0.0, 1.0], 40)
X[-1], Y[-1] = (20.0, -20.0, 20.0), 1.0  # long enough to be clipped
REMOVED = ((X, Y), (X[:-1], Y[:-1]))
OTHER = X.copy()
OTHER[-1] *= -1
REPLACED = ((X, Y), (OTHER, Y))
CLAIM = NoisyRelease(noise=1.1, rate=0.25, steps=30)


def train(data: Any, rng: np.random.Generator, bug: str = "") -> Any:
    X, y = data
    n, clip, batch, steps = len(X), 1.0, 10, 31 if bug == "a step more" else 30
    w, own = np.zeros(3), int(rng.integers(2**31)) if bug == "key reused" else 0
    for step in range(steps):
        chosen = rng.random(n) < (0.6 if bug == "rate" else 0.25)
        if bug == "everybody":
            chosen[:] = True
        if bug == "shuffled":
            chosen = np.isin(np.arange(n), rng.permutation(n)[:batch])
        g = X[chosen] * (1 / (1 + np.exp(-X[chosen] @ w)) - y[chosen])[:, None]
        norms = np.linalg.norm(g, axis=1)
        if bug != "not clipped":
            g = g / np.maximum(1, norms / clip)[:, None]
        if bug == "clipped by coordinate":
            g = np.clip(X[chosen] * 9, -clip, clip)
        noise = (0 if bug == "no noise" else 1.1) * clip / (batch if bug == "noise of the mean on the sum" else 1)
        drawn = (np.random.default_rng(own) if bug == "key reused" else rng).normal(0, noise, 3)
        if bug == "fixed seed":
            drawn = np.random.default_rng([7, step]).normal(0, noise, 3)
        if bug == "later steps":
            drawn = drawn * (0.5 if step > steps / 2 else 1.0)
        size = len(g) if bug == "size of the batch" else batch
        w = w - 0.5 * (g.sum(axis=0) + drawn) / size
    return (w, X.max()) if bug == "beside" else w


def broken(bug: str, pair: Any = REMOVED, claim: NoisyRelease = CLAIM) -> list[str]:
    result = check_training(lambda data, rng: train(data, rng, bug), pair, claim)
    return [finding.point for finding in result.broken]


def test_a_correct_loop_is_kept_in_every_point() -> None:
    result = check_training(train, REMOVED, CLAIM)
    assert result.kept, result
    assert not result.broken
    assert check_training(train, REPLACED, CLAIM).kept


@pytest.mark.parametrize(
    ("bug", "point"),
    [
        ("not clipped", "noise"),
        ("clipped by coordinate", "noise"),
        ("noise of the mean on the sum", "noise"),
        ("later steps", "noise"),
        ("a step more", "steps"),
        ("rate", "rate"),
        ("everybody", "rate"),
        ("shuffled", "sampling"),
        ("beside", "model"),
        ("key reused", "noise"),
        ("size of the batch", "noise"),
        ("no noise", "noise"),
        ("fixed seed", "noise"),
    ],
)
def test_each_bug_breaks_its_point(bug: str, point: str) -> None:
    assert point in broken(bug)


@pytest.mark.parametrize("pair", [REMOVED, REPLACED])
def test_noise_that_goes_on_in_later_steps_is_not_used_again(pair: Any) -> None:
    def with_memory(data: Any, rng: np.random.Generator) -> Any:
        X, y = data
        w, slow, squares = np.zeros(3), np.zeros(3), np.ones(3)
        for _ in range(30):
            chosen = rng.random(len(X)) < 0.25
            g = X[chosen] * (1 / (1 + np.exp(-X[chosen] @ w)) - y[chosen])[:, None]
            g = g / np.maximum(1, np.linalg.norm(g, axis=1))[:, None]
            noisy = (g.sum(axis=0) + rng.normal(0, 1.1, 3)) / 10
            slow, squares = 0.9 * slow + 0.1 * noisy, 0.99 * squares + 0.01 * noisy**2
            w = w - 0.5 * slow / np.sqrt(squares)
        return w

    result = check_training(with_memory, pair, CLAIM)
    assert result.kept, result


def test_no_batches_where_some_are_claimed() -> None:
    def whole(data: Any, rng: np.random.Generator) -> Any:
        return sum(np.clip(data, -1, 1).sum() + rng.normal(0, 2) for _ in range(5))

    pair = (np.ones(6), np.ones(5))
    assert check_training(whole, pair, NoisyRelease(noise=2.0, steps=5)).kept
    points = [f.point for f in check_training(whole, pair, NoisyRelease(noise=2.0, steps=5, rate=0.1)).broken]
    assert points == ["sampling", "rate"]
    assert [f.point for f in check_training(whole, pair, NoisyRelease(noise=2.0, steps=5, law="laplace")).broken] == [
        "noise"
    ]


def test_noise_that_cannot_be_followed_is_no_accusation() -> None:
    def converting(data: Any, rng: np.random.Generator) -> Any:
        w = 0.0
        for _ in range(5):
            w = w - 0.1 * (np.clip(w - data, -1, 1).sum() + float(rng.normal(0, 2)))
        return w

    result = check_training(converting, (np.ones(6), np.ones(5)), NoisyRelease(noise=2.0, steps=5))
    assert [finding.kept for finding in result.findings] == [None]
    assert "looks at noise" in result.findings[0].seen


def test_pairs_of_another_kind_are_refused() -> None:
    for pair in ((np.ones(5), np.zeros(5)), (np.arange(5), np.arange(1, 5)), (np.ones(5), np.ones(3))):
        with pytest.raises(InvalidInput, match="lacks the last record"):
            check_training(train, pair, CLAIM)
    with pytest.raises(InvalidInput, match="noise"):
        check_training(train, REMOVED, NoisyRelease(rate=0.1))


ROWS = RNG.normal(size=(25, 3))
ROWS[-1] = (20.0, -20.0, 20.0)
FLIPPED = ROWS.copy()
FLIPPED[-1] *= -1
FIXED = NoisyRelease(noise=2.0, rate=0.4, steps=8, sampling="fixed")
COINS = NoisyRelease(noise=2.0, rate=0.4, steps=8)
WHOLE = NoisyRelease(noise=2.0, steps=6)
SHORT, LONG = (ROWS, ROWS[:-1]), (ROWS, FLIPPED)


def of_norm_one(g: Any) -> Any:
    return g / np.maximum(1, np.linalg.norm(g, axis=1))[:, None]


def sampled(bug: str) -> Any:
    """A loop over batches, with one thing wrong."""

    def train(data: Any, rng: np.random.Generator) -> Any:
        n, batch, rate, w = len(data), 10, 0.4, np.zeros(3)
        key = int(rng.integers(2**31))
        coins = np.random.default_rng(key)
        noise = np.random.default_rng(key) if bug == "one seed for batches and noise" else rng
        chosen = np.empty(0, dtype=int)
        for step in range(8):
            if bug in ("fixed size", "with repetition"):
                chosen = rng.choice(n, batch, replace=bug == "with repetition")
            elif step == 0 or bug != "one batch for all steps":
                chosen = np.flatnonzero(coins.random(n) < rate)
            if bug == "the mean is clipped":
                g = (data[chosen] - w).mean(axis=0)
                w = w - 0.1 * (g / max(1, float(np.linalg.norm(g))) + noise.normal(0, 2 / batch, 3))
                continue
            size = int(rate * n) if bug == "size by the number of records" else batch
            w = w - 0.1 * (of_norm_one(data[chosen] - w).sum(axis=0) + noise.normal(0, 2, 3)) / size
        return w

    return train


def in_passes(bug: str) -> Any:
    """Two passes over batches in order, forwards and back; the last of each is smaller."""

    def train(data: Any, rng: np.random.Generator) -> Any:
        w, batch, held = np.zeros(3), 10, np.zeros(3)
        for turn in range(3 if bug == "a pass more" else 2):
            rows = data if turn % 2 == 0 else data[::-1]
            for i in range(0, 25, batch):
                g = of_norm_one(rows[i : i + batch] - w)
                held = held + g.sum(axis=0)
                if bug == "left over" and len(g) < batch:
                    continue
                size = len(g) if bug == "the last batch by its size" else batch
                w = w - 0.1 * (held / size + rng.normal(0, 2 / batch, 3))
                held = np.zeros(3)
        return w

    return train


@pytest.mark.parametrize(
    ("loop", "pair", "claim", "point"),
    [
        (sampled("fixed size"), LONG, COINS, "sampling"),
        (sampled(""), LONG, FIXED, "sampling"),
        (sampled("with repetition"), LONG, FIXED, "noise"),
        (sampled("one batch for all steps"), LONG, COINS, "sampling"),
        (sampled("one seed for batches and noise"), SHORT, COINS, "noise"),
        (sampled("the mean is clipped"), LONG, COINS, "noise"),
        (sampled("size by the number of records"), SHORT, COINS, "noise"),
        (in_passes("the last batch by its size"), LONG, WHOLE, "noise"),
        (in_passes("left over"), LONG, WHOLE, "noise"),
        (in_passes("a pass more"), LONG, WHOLE, "steps"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bugs_of_batches(loop: Any, pair: Any, claim: NoisyRelease, point: str) -> None:
    assert point in [finding.point for finding in check_training(loop, pair, claim).broken]


@pytest.mark.parametrize(
    ("loop", "pair", "claim"),
    [
        (sampled(""), SHORT, COINS),
        (sampled(""), LONG, COINS),
        (sampled("fixed size"), LONG, FIXED),
        (in_passes(""), LONG, WHOLE),
    ],
)
def test_their_correct_twins_are_kept(loop: Any, pair: Any, claim: NoisyRelease) -> None:
    result = check_training(loop, pair, claim)
    assert result.kept, result


def test_a_record_that_moves_nothing_accuses_nobody() -> None:
    """It is in no step of any path, as if the batch were always the same one."""

    def idle(data: Any, rng: np.random.Generator) -> Any:
        steps = [0 * data[rng.random(len(data)) < 0.25].sum() + rng.normal(0, 2) for _ in range(30)]
        return np.array(steps)

    pair = np.ones(5), np.append(np.ones(4), 0.0)
    result = check_training(idle, pair, NoisyRelease(noise=2.0, rate=0.25, steps=30))
    assert not result.broken
    assert not result.kept
