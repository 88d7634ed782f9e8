"""What "kept" rests on: every way found of leaking beside the noise is planted here, and none is kept."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import per_run, replay
from dpcheck.audits.same_noise.holdings import changed, state
from dpcheck.audits.same_noise.result import KEPT, UNSEEN, VIOLATED
from dpcheck.bounds.language.guarantees import GaussianDP, PureDP

PAIR = (np.zeros(10), np.eye(10)[0])
PURE = PureDP(1.0)
Run = Callable[[Any, np.random.Generator], Any]


def discrete(p: float, rng: np.random.Generator) -> int:
    return int(rng.geometric(p)) - int(rng.geometric(p))


def cancelled(x: Any, rng: np.random.Generator) -> Any:
    noise = rng.laplace()
    noisy = x.sum() + noise
    return noisy - noise


def shared(x: Any, rng: np.random.Generator) -> Any:
    noisy = x.sum() / 2 + rng.laplace()
    return noisy, noisy + 1e-13 * x[0]


def mixed(x: Any, rng: np.random.Generator) -> Any:
    a, b = rng.laplace(scale=4, size=2)
    return x.sum() + a + b, x.sum() + a, b + 1e-10 * x[0]


def in_a_band(x: Any, rng: np.random.Generator) -> Any:
    noise = rng.laplace()
    return 5 * x[0] if 0.11 < noise < 0.12 else x.sum() + noise


def band_of_answers(x: Any, rng: np.random.Generator) -> Any:
    noisy = x.sum() + rng.laplace()
    return (round(float(noisy), 1), x[0]) if 0.11 < noisy < 0.12 else (round(float(noisy), 1), 0.0)


def not_selected(x: Any, rng: np.random.Generator) -> Any:
    best = int(np.argmax(np.array([x[0], 30.0, 0.0]) + rng.laplace(scale=4, size=3)))
    return best if best == 1 else (best, x[0])


def order_of_keys(x: Any, rng: np.random.Generator) -> Any:
    return dict(sorted({"sum": x.sum() + rng.laplace(), "size": 10}.items(), reverse=bool(x[0])))


def past_the_methods(x: Any, rng: np.random.Generator) -> Any:
    return x.sum() + np.random.Generator.laplace(rng)


def raising_rarely(x: Any, rng: np.random.Generator) -> Any:
    noisy = x.sum() + rng.laplace()
    if noisy > 30 and x[0]:
        raise ValueError("far out")
    return noisy


def two_in_small_units(x: Any, rng: np.random.Generator) -> Any:
    return 1e-9 * x.sum() + rng.laplace(scale=1e-10) + rng.laplace(scale=2e-10)


def few_seeds(x: Any, rng: np.random.Generator) -> Any:
    return x.sum() + np.random.default_rng(int(rng.integers(10))).laplace()


def seed_released(x: Any, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    return seed, x.sum() + np.random.default_rng(seed).laplace()


def coins_of_a_released_seed(x: Any, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    return seed, bool(x[0]) ^ bool(np.random.default_rng(seed).random() < 0.4)


def coins_that_cannot_be_read(x: Any, rng: np.random.Generator) -> Any:
    kept = bool(x[0]) ^ bool(rng.random() < 0.4)
    return (each for each in (kept, x[0]))


def one_by_one(x: Any, rng: np.random.Generator) -> Any:
    return (each for each in (x[0], x[1]))


def seldom(x: Any, rng: np.random.Generator) -> Any:
    noise = rng.standard_exponential(out=np.empty(1)) - rng.standard_exponential(out=np.empty(1))
    return [value if value > 9.5 else 0.0 for value in 2 * x[:1] + noise]


LEAKS: dict[str, tuple[Run, str]] = {
    "noise taken away again": (cancelled, VIOLATED),
    "single precision and a little": (
        lambda x, rng: float(np.float32(x.sum() + rng.laplace())) + 1e-12 * x[0],
        VIOLATED,
    ),
    "rounded and a little": (lambda x, rng: round(float(x.sum() + rng.laplace()), 2) + 1e-11 * x[0], VIOLATED),
    "parity of a rounded number": (lambda x, rng: 2 * int(x.sum() + rng.laplace()) + int(x[0]), VIOLATED),
    "clipped and a little": (lambda x, rng: np.clip(x.sum() + rng.laplace(), -1, 1) + 1e-12 * x[0], UNSEEN),
    "modulo and a little": (lambda x, rng: (x.sum() + rng.laplace()) % 1 + 1e-12 * x[0], UNSEEN),
    "noise in single precision": (lambda x, rng: 1e-9 * x.sum() + float(np.float32(rng.laplace())), VIOLATED),
    "noise cast to single precision": (
        lambda x, rng: 1e-9 * x.sum() + rng.laplace(size=2).astype(np.float32),
        VIOLATED,
    ),
    "noise drawn in single precision": (
        lambda x, rng: 1e-9 * x.sum() + rng.standard_normal(dtype=np.float32),
        UNSEEN,
    ),
    "noise of a few decimals": (lambda x, rng: 1e-9 * x.sum() + np.round(rng.laplace(), 3), VIOLATED),
    "clipped noise": (lambda x, rng: x.sum() + np.clip(rng.laplace(), -30, 30), UNSEEN),
    "steps of another length": (lambda x, rng: 0.3 * discrete(0.6, rng) + 1e-7 * x[0], VIOLATED),
    "parity of whole noise": (lambda x, rng: 2 * discrete(0.6, rng) + int(x[0]), VIOLATED),
    "noise used twice and a little": (shared, VIOLATED),
    "noises mixed and a little": (mixed, VIOLATED),
    "a place without noise": (lambda x, rng: [x.sum() + rng.laplace(), 1 + 1e-13 * x[0]], VIOLATED),
    "noise below the rounding of floats": (lambda x, rng: 1e6 + 1e-3 * x.sum() + rng.laplace(scale=1e-14), VIOLATED),
    "noise as fine as the rounding": (lambda x, rng: 1e6 + 1e-9 * x.sum() + rng.laplace(scale=1e-9), UNSEEN),
    "small units": (two_in_small_units, VIOLATED),
    "coins and a little": (lambda x, rng: bool(rng.random() < 0.5) + 1e-10 * x[0], VIOLATED),
    "a band of noise": (in_a_band, UNSEEN),
    "seldom above a threshold": (seldom, UNSEEN),
    "a band of answers": (band_of_answers, UNSEEN),
    "what is hardly ever selected": (not_selected, UNSEEN),
    "type": (lambda x, rng: (int if x[0] else float)(round(float(x.sum() + rng.laplace()))), VIOLATED),
    "precision": (lambda x, rng: (np.float32 if x[0] else np.float64)(round(x.sum() + rng.laplace())), VIOLATED),
    "order of keys": (order_of_keys, VIOLATED),
    "sign of zero": (lambda x, rng: [x.sum() + rng.laplace(), math.copysign(0.0, x[0] - 0.5)], VIOLATED),
    "digits of a large number": (lambda x, rng: (int(x[0]) + 2**60, x.sum() + rng.laplace()), VIOLATED),
    "list or tuple": (lambda x, rng: (list if x[0] else tuple)([x.sum() + rng.laplace()]), VIOLATED),
    "length": (lambda x, rng: [x.sum() + rng.laplace()] + [0] * int(x[0]), VIOLATED),
    "blanks in text": (lambda x, rng: f"{x.sum() + rng.laplace():.3f}{' ' * int(x[0])}", UNSEEN),
    "an exception": (lambda x, rng: x.sum() + rng.laplace() + [0][int(x[0])], VIOLATED),
    "an exception at rare noise": (raising_rarely, UNSEEN),
    "order of draws": (lambda x, rng: x.sum() + [rng.laplace(), rng.laplace()][int(x[0])], UNSEEN),
    "a generator past its methods": (past_the_methods, UNSEEN),
    "one of few seeds": (few_seeds, UNSEEN),
    "a seed beside its noise": (seed_released, UNSEEN),
    "what cannot be read": (one_by_one, UNSEEN),
    "a seed beside its coins": (coins_of_a_released_seed, UNSEEN),
    "coins in what cannot be read": (coins_that_cannot_be_read, UNSEEN),
}


@pytest.mark.parametrize("name", LEAKS)
def test_no_leak_beside_the_noise_is_kept(name: str) -> None:
    leak, expected = LEAKS[name]
    assert replay(per_run(leak), PAIR, PURE).verdict == expected


def two_libraries(x: Any) -> Any:
    return float(x.sum()) + random.gauss(0, 4), x[0] + np.random.normal(0, 4)  # noqa: NPY002 - seeded alike by per_run


TWINS: dict[str, tuple[Run, Any]] = {
    "single precision of what is noisy": (lambda x, rng: float(np.float32(x.sum() + rng.laplace())), PURE),
    "rounded": (lambda x, rng: np.round(x.sum() + rng.laplace(scale=2, size=2), 1), PURE),
    "clipped": (lambda x, rng: np.clip(x.sum() + rng.laplace(), -1, 1), PURE),
    "modulo": (lambda x, rng: (x.sum() + rng.laplace()) % 1, PURE),
    "whole noise": (lambda x, rng: 2 * (int(x[0]) + discrete(0.6, rng)), PURE),
    "noise used twice": (lambda x, rng: (x.sum() + rng.laplace()) * np.array([1, -3]), PURE),
    "all in single precision": (
        lambda x, rng: x.astype(np.float32).sum() + np.float32(2) * rng.standard_normal(dtype=np.float32),
        GaussianDP(0.5),
    ),
    "small units": (lambda x, rng: 1e-9 * x.sum() + rng.laplace(scale=1e-10) + rng.laplace(scale=1e-9), PURE),
    "large numbers": (lambda x, rng: 1e10 + x.sum() + rng.laplace(), PURE),
    "generators of two libraries": (two_libraries, GaussianDP(0.36)),  # type: ignore[dict-item]
    "a threshold": (lambda x, rng: "high" if x.sum() + rng.laplace() > 3 else "low", PURE),
    "values above a threshold": (
        lambda x, rng: [float(v) if v > 1 else None for v in x[:3] + rng.laplace(size=3)],
        PURE,
    ),
    "twelve positive parts": (
        lambda x, rng: [max(0, c + rng.laplace(scale=2)) for c in np.histogram(x, 12, (0, 1))[0]],
        PURE,
    ),
    "into an array": (lambda x, rng: 2 * x[:2] + 4 * rng.standard_normal(out=np.empty(2)), GaussianDP(0.5)),
    "a coin of Python's": (lambda x, rng: bool(x[0]) ^ random.choice([True, False]), PURE),
    "one of Python's samples": (lambda x, rng: random.sample([bool(x[0]), not x[0]], 1), PURE),
}


@pytest.mark.parametrize("name", TWINS)
def test_the_same_without_a_leak_is_kept(name: str) -> None:
    twin, claim = TWINS[name]
    result = replay(per_run(twin), PAIR, claim)
    assert result.verdict == KEPT, result


def test_noise_that_becomes_a_plain_number_is_mentioned() -> None:
    def converting(x: Any, rng: np.random.Generator) -> Any:
        return x.sum() + float(rng.laplace())

    result = replay(per_run(converting), PAIR, PURE)
    assert result.kept
    assert "becomes a plain number" in result.notes[0]
    assert not replay(per_run(lambda x, rng: x.sum() + rng.laplace()), PAIR, PURE).notes


# State ------------------------------------------------------------------------------------------------
CALLS = {"made": 0}


class Counting:
    """Leaks from its n-th call on; made with a generator of its own."""

    def __init__(self, first: float) -> None:
        self.calls, self.first, self.rng = 0, first, np.random.default_rng(0)

    def __call__(self, x: Any, rng: np.random.Generator, trials: int) -> Any:
        self.calls += 1
        return x.sum() + self.rng.laplace(size=trials) + (3 * x[0] if self.calls > self.first else 0)


def counting_globally(x: Any, rng: np.random.Generator) -> Any:
    CALLS["made"] += 1
    return x.sum() + rng.laplace() + (3 * x[0] if CALLS["made"] > 1000 else 0)


def counting_in_a_closure(first: float) -> Run:
    calls = itertools.count()
    return lambda x, rng: x.sum() + rng.laplace() + (3 * x[0] if next(calls) > first else 0)


def counting_in_a_default(x: Any, rng: np.random.Generator, calls: list[int] = []) -> Any:  # noqa: B006
    calls.append(1)
    return x.sum() + rng.laplace() + (3 * x[0] if len(calls) > 1000 else 0)


STATEFUL: dict[str, Any] = {
    "from the eighth run on": Counting(7),
    "after a thousand runs": Counting(1000),
    "a method": Counting(1000).__call__,
    "a partial": functools.partial(Counting(1000)),
    "a closure": per_run(counting_in_a_closure(8)),
    "a closure, late": per_run(counting_in_a_closure(1000)),
    "a global": per_run(counting_globally),
    "a default": per_run(counting_in_a_default),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_what_later_runs_release_is_not_seen(name: str) -> None:
    result = replay(STATEFUL[name], PAIR, PURE)
    assert result.verdict == UNSEEN
    assert "state" in result.unseen[0]


def test_a_violation_stands_beside_a_counter() -> None:
    assert replay(Counting(1000), PAIR, PureDP(0.5)).low == pytest.approx(1)
    assert not replay(Counting(10), PAIR, PureDP(0.5)).violated  # which of its runs broke it?


def test_what_is_made_on_first_use_is_no_state() -> None:
    made: dict[str, float] = {}

    def cached(x: Any, rng: np.random.Generator) -> Any:
        return x.sum() + rng.laplace(scale=made.setdefault("scale", 1.0))

    assert replay(per_run(cached), PAIR, PURE).kept


def test_what_a_mechanism_holds_is_compared() -> None:
    def holding(value: Any) -> Any:
        return lambda: value

    for before, after in (([1], [2]), ({"a": 1}, {"a": 1, "b": 2}), (np.zeros(2), np.ones(2)), (range(2), range(3))):
        assert changed(state(holding(before)), state(holding(after)))
        assert not changed(state(holding(before)), state(holding(before)))


# Random mechanisms --------------------------------------------------------------------------------------
SHAPES: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda noisy: noisy,
    "single precision": np.float32,
    "rounded": lambda noisy: np.round(noisy, 1),
    "clipped": lambda noisy: np.clip(noisy, -2, 2),
    "positive": lambda noisy: [max(0.0, each) for each in noisy],
    "signs": lambda noisy: [bool(each > 0.2) for each in noisy],
    "text": lambda noisy: ";".join(f"{each:.1f}" for each in noisy),
}
BESIDE: dict[str, Callable[[Any], Any]] = {
    "exactly": lambda x: x[0],
    "a little": lambda x: 1 + 1e-12 * x[0],
    "by length": lambda x: [0] * (1 + int(x[0])),
    "by type": lambda x: (int if x[0] else float)(7),
    "in words": lambda x: "yes" if x[0] else "no",
    "by sign": lambda x: math.copysign(0.0, x[0] - 0.5),
}


@given(st.sampled_from(sorted(SHAPES)), st.sampled_from(sorted(BESIDE)), st.floats(0.5, 20), st.integers(1, 4))
@settings(max_examples=25)
def test_random_leaks_beside_random_noise_are_violations(shape: str, leak: str, scale: float, d: int) -> None:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        return SHAPES[shape](x[:d] + rng.laplace(scale=scale, size=d))

    def leaking(x: Any, rng: np.random.Generator) -> Any:
        return [noisy(x, rng), BESIDE[leak](x)]

    claim = PureDP(1 / scale)
    assert replay(per_run(noisy), PAIR, claim).kept
    assert not replay(per_run(leaking), PAIR, claim).kept
    assert not replay(per_run(noisy), PAIR, PureDP(0.9 / scale)).kept
