"""Replay: exact where it sees through, each planted bug flagged, its correct twin never; silent about the rest."""

from __future__ import annotations

import json
import math
import os
import random
import secrets
import sys
import types
from collections.abc import Callable
from random import gauss
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

import dpcheck as dp
from dpcheck.audits import add_remove, label_only, per_run, replace_one, replay
from dpcheck.audits.same_noise.hidden_shifts import Shifts, cost
from dpcheck.audits.same_noise.result import KEPT, UNSEEN, VIOLATED
from dpcheck.audits.same_noise.selections import LAWS, _largest
from dpcheck.audits.same_noise.telling import SURE, runs_to_tell
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

ZEROS = np.zeros(10)
ONE = np.eye(10)[0]
PAIR = (ZEROS, ONE)
REMOVED = (ONE, ZEROS[1:])
PURE, APPROX = PureDP(1.0), ApproxDP(1.0, 1e-5)
MU = 0.2638  # a little less than what APPROX allows
Run = Callable[[Any, np.random.Generator], Any]


def verdict(function: Run, pair: Any = PAIR, guarantee: Guarantee = PURE, **more: Any) -> str:
    return replay(per_run(function), pair, guarantee, **more).verdict


# Exact where it sees through --------------------------------------------------------------------------
@given(st.integers(1, 5), st.integers(0, 3), st.integers(0, 10**6), st.sampled_from(["laplace", "normal"]))
@settings(max_examples=60)
def test_linear_mechanisms_have_the_epsilon_of_theory(d: int, extra: int, seed: int, law: str) -> None:
    rng = np.random.default_rng(seed)
    mix, base, moved = rng.normal(size=(d, d + extra)), 10 * rng.normal(size=d), rng.normal(size=d)

    def mixed(data: Any, rng: np.random.Generator) -> Any:
        return data + mix @ getattr(rng, law)(size=d + extra)

    if law == "normal":
        truth = math.sqrt(float(moved @ np.linalg.solve(mix @ mix.T, moved)))
        result = replay(per_run(mixed), (base, base + moved), GaussianDP(truth))
    else:
        # The dual of the least l1 norm, by its corners: an independent way to the same number.
        assume(extra == 0)
        truth = float(np.abs(np.linalg.solve(mix, moved)).sum())
        result = replay(per_run(mixed), (base, base + moved), PureDP(truth))
    assert result.low == pytest.approx(truth, rel=1e-6)
    assert result.high == pytest.approx(truth, rel=1e-6)
    assert result.kept


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=30), st.integers(0, 10**6))
@settings(max_examples=40)
def test_one_noise_each_in_any_number(scales: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    base, moved = rng.normal(size=len(scales)), rng.normal(size=len(scales))
    truth = float(np.abs(moved / np.array(scales)).sum())
    result = replay(
        per_run(lambda data, rng: data + rng.laplace(scale=scales)), (base, base + moved), PureDP(truth * 0.99)
    )
    assert result.violated
    assert result.low == pytest.approx(truth, rel=1e-6)
    assert replay(per_run(lambda data, rng: data + rng.laplace(scale=scales)), result.pair, PureDP(truth)).kept


def test_two_laplace_noises_on_one_number_cost_what_the_wider_one_does() -> None:
    result = replay(per_run(lambda x, rng: x + rng.laplace(scale=2.0) + rng.laplace(scale=0.5)), (0.0, 1.0), PURE)
    assert (result.low, result.high) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize(
    ("law", "size", "guarantee", "truth"),
    [
        ("Laplace", 0.7, PURE, 0.7),
        ("logistic", 0.7, PURE, 0.7),
        ("Gaussian", 0.7, PURE, math.inf),
        ("uniform", 0.1, PURE, math.inf),
        ("Gaussian", 0.7, GaussianDP(1.0), 0.7),
        ("Gaussian", 0.7, ZCDP(1.0), 0.245),
        ("Gaussian", 0.7, RenyiDP(3.0, 1.0), 0.735),
        ("Gaussian", 0.7, APPROX, GaussianDP(0.7).epsilon(1e-5)),
        ("Laplace", 0.7, APPROX, 0.7 + 2 * math.log1p(-1e-5)),
    ],
)
def test_one_shift_costs_what_is_known(law: str, size: float, guarantee: Guarantee, truth: float) -> None:
    one = np.array([0])
    shift = Shifts(one, np.array([law], dtype=object), np.array([size]), np.array([1.0]), one)
    assert cost(shift, guarantee) == pytest.approx((truth, truth), rel=1e-5)


@pytest.mark.parametrize("gap", [0.0, 0.5, 3.0])
def test_the_larger_of_two_by_laplace_noise(gap: float) -> None:
    weights = np.exp(_largest(np.array([1 + 2 * gap, 1.0]), np.array([2.0, 2.0]), *LAWS["Laplace"]))
    assert weights[0] == pytest.approx(1 - math.exp(-gap) * (2 + gap) / 4, rel=1e-8)
    assert weights.sum() == pytest.approx(1, rel=1e-8)


def test_gumbel_noise_is_the_exponential_mechanism() -> None:
    base = np.array([0.3, 1.0, -2.0])
    weights = np.exp(_largest(base, np.full(3, 1.5), *LAWS["Gumbel"]))
    assert weights == pytest.approx(np.exp(base / 1.5) / np.exp(base / 1.5).sum(), rel=1e-6)


@given(st.lists(st.floats(0.02, 0.98), min_size=2, max_size=5), st.integers(0, 10**6))
@settings(max_examples=30)
def test_probabilities_of_outputs_are_exact(keep: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(0, 2, len(keep)) for _ in range(2))
    assume(np.any(first != second))
    p = np.array(keep)

    def bits(x: Any, rng: np.random.Generator) -> Any:
        return np.where(rng.random(len(x)) < p, x, 1 - x)

    truth = float(np.abs(np.log(p / (1 - p)))[first != second].sum())
    assume(truth > 1e-3)
    result = replay(per_run(bits), (first, second), PureDP(truth))
    assert result.kept
    assert result.low == pytest.approx(truth)


def test_laplace_shifts_in_renyi_divergence_as_integrated() -> None:
    x = np.linspace(-60, 60, 2_000_001)
    p, q = np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x - 0.7)) / 2
    integrated = math.log(np.trapezoid(p**3 * q**-2.0, x)) / 2
    one = np.array([0])
    shift = Shifts(one, np.array(["Laplace"], dtype=object), np.array([0.7]), np.array([1.0]), one)
    assert cost(shift, RenyiDP(3.0, 1.0))[0] == pytest.approx(integrated, rel=1e-6)


# Bugs and their twins ---------------------------------------------------------------------------------
def clipped_sum(scale: float) -> Run:
    return lambda x, rng: np.clip(x, 0, 1).sum() + rng.laplace(scale=scale)


def histogram(scale: float) -> Run:
    def counts(x: Any, rng: np.random.Generator) -> Any:
        return np.maximum(np.histogram(x, 4, (0, 1))[0] + rng.laplace(scale=scale, size=4), 0).tolist()

    return counts


def inverse_cdf(scale: float) -> Run:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        u = rng.uniform(-0.5, 0.5)
        return x.sum() - scale * np.sign(u) * np.log(1 - 2 * abs(u))

    return noisy


def by_math(scale: float) -> Run:
    def noisy(x: Any) -> Any:
        u = random.random() - 0.5
        return float(x.sum()) - scale * math.copysign(1, u) * math.log(1 - 2 * abs(u))

    return noisy  # type: ignore[return-value]


def geometric(p: float) -> Run:
    return lambda x, rng: int(x.sum()) + int(rng.geometric(p)) - int(rng.geometric(p))


def two_exponentials(scale: float) -> Run:
    return lambda x, rng: x.sum() + rng.exponential(scale) - rng.exponential(scale)


def noisy_mean(sizes: str) -> Run:
    def mean(x: Any, rng: np.random.Generator) -> Any:
        n = len(x) if sizes == "exact" else 10
        return (x.sum() + rng.laplace(scale=1.0)) / n

    return mean


def same_noise(shared: bool) -> Run:
    def both(x: Any, rng: np.random.Generator) -> Any:
        noise = rng.laplace(scale=2.0, size=2)
        return x.sum() + noise[0], 3 + x[0] / 2 + noise[0 if shared else 1]

    return both


def iterate(sigma: float, clip: bool = True) -> Run:
    def descent(x: Any, rng: np.random.Generator) -> Any:
        X, w = np.column_stack([np.ones(len(x)), 5 * x]), np.zeros(2)
        for _ in range(10):
            g = X * (1 / (1 + np.exp(-X @ w)) - x)[:, None]
            if clip:
                g /= np.maximum(1, np.linalg.norm(g, axis=1))[:, None]
            w = w - 0.1 * (g.sum(axis=0) + rng.normal(0, sigma, 2))
        return w

    return descent


def one_step(scale: float) -> Run:
    return lambda x, rng: np.exp(np.tanh((x.sum() + rng.laplace(scale=scale)) / 100))


def seeded(constant: bool) -> Run:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        own = default_rng(7 if constant else rng.integers(2**63))
        return x.sum() + own.laplace()

    return noisy


def key_reused(reused: bool) -> Run:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        key = int(rng.integers(2**31))
        return [x[:i].sum() + default_rng([key, 0 if reused else i]).laplace(scale=2) for i in (3, 5)]

    return noisy


def global_state(scale: float) -> Run:
    return lambda x: x.sum() + np.random.laplace(0, scale)  # type: ignore[misc,return-value] # noqa: NPY002


def python_gauss(sigma: float) -> Run:
    return lambda x: float(x.sum()) + gauss(0, sigma)  # type: ignore[misc,return-value]


def secret(scale: float) -> Run:
    return lambda x: float(x.sum()) + secrets.SystemRandom().normalvariate(0, scale)  # type: ignore[misc,return-value]


SECURE, MODULE_RNG = secrets.SystemRandom(), np.random.default_rng(0)


def module_generators(scale: float) -> Run:
    return lambda x: (float(x.sum()) + SECURE.gauss(0, scale), x[0] + MODULE_RNG.normal(0, scale))  # type: ignore


def from_list(scale: float) -> Run:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        noise = np.array([rng.laplace(scale=scale) for _ in range(3)])
        return np.round(np.array([x.sum(), x[0], 1.0]) + noise, 3)

    return noisy


def covariance(scale: float) -> Run:
    def eigen(x: Any, rng: np.random.Generator) -> Any:
        noise = np.triu(rng.normal(0, scale, (2, 2)))
        X = np.column_stack([x, 1 - x])
        return X.T @ X + noise + np.triu(noise, 1).T

    return eigen


def released(bounds: bool) -> Run:
    def quantity(x: Any, rng: np.random.Generator) -> Any:
        high = x.max() if not bounds else 1.0
        return {"high": high, "sum": np.clip(x, 0, high).sum() + rng.laplace()}

    return quantity


def classes(inferred: bool) -> Run:
    def counts(x: Any, rng: np.random.Generator) -> Any:
        found = np.unique(x) if inferred else np.array([0.0, 1.0])
        return {str(label): np.sum(x == label) + rng.laplace(scale=2) for label in found}

    return counts


def argmax_of(scale: float, exact: bool) -> Run:
    def best(x: Any, rng: np.random.Generator) -> Any:
        scores = np.array([x.sum(), 0.5]) + (0 if exact else rng.laplace(scale=scale, size=2))
        return int(np.argmax(scores))

    return best


def noisy_best(scale: float, law: str = "laplace") -> Run:
    def best(x: Any, rng: np.random.Generator) -> Any:
        return "abc"[np.argmax(np.array([x.sum(), 1 - x[0], 1.0]) + getattr(rng, law)(scale=scale, size=3))]

    return best


def exponential_mechanism(eps: float) -> Run:
    def best(x: Any, rng: np.random.Generator) -> Any:
        weights = np.exp(eps * np.array([x.sum(), 1 - x[0], 1.0]) / 2)
        return rng.choice(["a", "b", "c"], p=weights / weights.sum()), x.sum() + rng.laplace(scale=4)

    return best


def randomised_response(keep: float) -> Run:
    return lambda x, rng: bool(x[0]) if rng.random() < keep else not x[0]


def one_of_five(eps: float) -> Run:
    def other(x: Any, rng: np.random.RandomState) -> Any:
        if rng.uniform(0, 2) <= 2 * math.exp(eps) / (math.exp(eps) + 4):
            return int(x[0])
        place = rng.integers(4)
        return int(place + (place >= x[0]))

    return other  # type: ignore[return-value]


def unary(kept: float) -> Run:
    def bits(x: Any, rng: np.random.Generator) -> Any:
        true = np.arange(4) == x[0]
        return (rng.random(4) < np.where(true, kept, 1 / (1 + math.e))).tolist()

    return bits


def scaled_coins(eps: float) -> Run:
    def flipped(x: Any, rng: np.random.Generator) -> Any:
        rest = 1 - rng.random() * (math.exp(eps) + 1)
        return bool(x[0]) if rest > 1 - math.exp(eps) else not x[0]

    return flipped


def by_intervals(share: float) -> Run:
    def answer(x: Any) -> Any:
        u = random.random()
        return int(x[0]) if u < share else 1 - int(x[0]) if u < 0.75 else 2

    return answer  # type: ignore[return-value]


def positive_part(scale: float) -> Run:
    return lambda x, rng: [max(0, c + rng.laplace(scale=scale)) for c in np.histogram(x, 3, (0, 1))[0]]


CASES: dict[str, tuple[Run, Run, Any, Guarantee]] = {
    "scale": (clipped_sum(0.5), clipped_sum(1.0), PAIR, PURE),
    "histogram for one count": (histogram(1.0), histogram(2.0), PAIR, PURE),
    "positive part": (positive_part(1.0), positive_part(2.0), PAIR, PURE),
    "inverse cdf": (inverse_cdf(0.5), inverse_cdf(1.0), PAIR, PURE),
    "inverse cdf by math": (by_math(0.5), by_math(1.0), PAIR, PURE),
    "geometric": (geometric(0.8), geometric(0.6), PAIR, PURE),
    "two exponentials": (two_exponentials(0.9), two_exponentials(1.0), PAIR, PURE),
    "exact size": (noisy_mean("exact"), noisy_mean("public"), REMOVED, PURE),
    "noise used twice": (same_noise(True), same_noise(False), PAIR, PURE),
    "nonlinear afterwards": (one_step(0.5), one_step(1.0), PAIR, PURE),
    "constant seed": (seeded(True), seeded(False), PAIR, PURE),
    "key used twice": (key_reused(True), key_reused(False), (ZEROS, np.eye(10)[3] / 2), PURE),
    "numpy's global state": (global_state(0.5), global_state(1.0), PAIR, PURE),
    "python's gauss": (python_gauss(0.9 / MU), python_gauss(1 / MU), PAIR, APPROX),
    "secure normal": (secret(0.9 / MU), secret(1 / MU), PAIR, APPROX),
    "generators of the module": (module_generators(0.9 / MU), module_generators(1.5 / MU), PAIR, APPROX),
    "drawn into a list": (from_list(1.0), from_list(2.0), PAIR, PURE),
    "symmetric noise": (covariance(1.0), covariance(1.5 / MU), PAIR, APPROX),
    "bounds of the data": (released(False), released(True), PAIR, PURE),
    "classes of the data": (classes(True), classes(False), PAIR, PURE),
    "noisy maximum": (noisy_best(0.5), noisy_best(2), PAIR, PURE),
    "maximum by Gumbel noise": (noisy_best(0.9, "gumbel"), noisy_best(2, "gumbel"), PAIR, PURE),
    "exponential mechanism": (exponential_mechanism(3.0), exponential_mechanism(1.0), PAIR, PURE),
    "randomised response": (randomised_response(0.75), randomised_response(0.73), PAIR, PURE),
    "one of five": (one_of_five(1.1), one_of_five(1.0), PAIR, PURE),
    "unary encoding": (unary(0.6), unary(0.5), PAIR, PURE),
    "scaled coins": (scaled_coins(1.2), scaled_coins(1.0), PAIR, PURE),
    "by intervals": (by_intervals(0.6), by_intervals(0.5), PAIR, PURE),
    "exact maximum": (argmax_of(1, exact=True), argmax_of(1, exact=False), PAIR, PURE),
}


@pytest.mark.parametrize("name", CASES)
def test_bugs_are_flagged_and_their_twins_are_not(name: str) -> None:
    bug, twin, pair, guarantee = CASES[name]
    found, fine = (replay(per_run(f), pair, guarantee) for f in (bug, twin))
    assert found.verdict == VIOLATED, found
    assert fine.verdict == KEPT, fine
    assert found.low >= found.claimed
    assert fine.high <= fine.claimed * (1 + 1e-6)


def test_lines_are_named() -> None:
    result = replay(lambda x, rng, trials: x.mean() + rng.laplace(scale=0.05, size=trials), PAIR, PURE)
    line = result.hidings[0]
    assert line.words == "adds Laplace(0.05) to a value that moved by 0.1: epsilon 2"
    assert (line.site.file, line.law, line.scale) == (__file__, "Laplace", pytest.approx(0.05))
    assert f"test_replay.py:{line.site.line} adds" in str(result)


def test_iterations_are_compared_step_by_step() -> None:
    sigma = 1.01 * math.sqrt(10) * 1 / MU  # ten answers, each moved by at most the length of one or two clipped rows
    fine = replay(per_run(iterate(2 * sigma)), PAIR, APPROX, released="noisy values")
    assert fine.kept
    assert "dearest of 10 draws" in str(fine)
    assert verdict(iterate(sigma / 2), PAIR, APPROX, released="noisy values") == VIOLATED
    assert verdict(iterate(2 * sigma, clip=False), PAIR, ApproxDP(0.2, 1e-5), released="noisy values") == VIOLATED
    assert verdict(iterate(sigma / 2), PAIR, APPROX) == UNSEEN  # only the last iterate is released


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_noisy_value_that_meets_the_data_again(one_by_one: bool) -> None:
    def descent(x: Any, rng: np.random.Generator, sigma: float) -> Any:
        w = 0.0
        for _ in range(4):
            moves = [np.clip(w - each, -1, 1) for each in x] if one_by_one else np.clip(w - x, -1, 1)
            w = w - 0.1 * (np.sum(moves) + rng.normal(0, sigma))
        return w

    for sigma, expected in ((4.1 / MU, KEPT), (1 / MU, VIOLATED)):
        loop = per_run(lambda x, rng, sigma=sigma: descent(x, rng, sigma))
        assert replay(loop, PAIR, APPROX, released="noisy values").verdict == expected


# What it does not see ---------------------------------------------------------------------------------
OWN = (np.random.default_rng(0),)  # in a tuple, where no other one can be put


def sparse_vector(x: Any, rng: np.random.Generator) -> Any:
    threshold = 3 + rng.laplace(scale=2)
    return [bool(q + rng.laplace(scale=4) > threshold) for q in (x.sum(), 5 * x[0], 7.0, 8 * x[0])]


def best_with_its_value(x: Any, rng: np.random.Generator) -> Any:
    noisy = np.array([x.sum(), 1.0]) + rng.laplace(scale=2, size=2)
    return int(np.argmax(noisy)), noisy[np.argmax(noisy)]


UNREADABLE: dict[str, Run] = {
    "multiplied": lambda x, rng: (1 + x.sum()) * rng.laplace() * rng.laplace(),
    "two uniform numbers": lambda x, rng: bool(x[0]) ^ bool(rng.random(2).sum() < 0.8),
    "waiting for a coin": lambda x, rng: next(i for i in range(10**6) if rng.random() < 0.5) + x[0],
    "sorted": lambda x, rng: sorted(np.array([x[0], 1 - x[0]]) + rng.laplace(size=2)),
    "mirrored": lambda x, rng: abs(2 * x[0] - 1 + rng.laplace()),
    "noisy maximum by hand": lambda x, rng: max(range(3), key=(3 * x[0] + rng.laplace(scale=4, size=3)).__getitem__),
    "maximum with its noise": best_with_its_value,
    "sparse vector": sparse_vector,
    "sampled": lambda x, rng: x[rng.choice(len(x), 3)].sum() + rng.laplace(scale=0.1),
    "poisson sampled": lambda x, rng: x[rng.random(len(x)) < 0.3].sum() + rng.laplace(scale=0.1),
    "rejected": lambda x, rng: next(v for v in iter(lambda: x.sum() + rng.laplace(scale=0.5), None) if -1 < v < 2),
    "a generator of its own": lambda x, rng: x.sum() + OWN[0].laplace(),
    "raw bits": lambda x, rng: x.sum() + rng.bit_generator.random_raw() / 2**64,
    "bytes of the system": lambda x, rng: int(x.sum()) ^ (os.urandom(1)[0] & 1),
    "gamma noise": lambda x, rng: x.sum() + rng.gamma(2.0),
    "as many draws as records": lambda x, rng: (x + rng.laplace(size=len(x)))[:3].sum() if x[0] else rng.laplace(),
    "cut noise": lambda x, rng: x.sum() + np.clip(rng.laplace(), -1, 1),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_it_cannot_read_is_said(name: str) -> None:
    result = replay(per_run(UNREADABLE[name]), PAIR, PURE)
    assert result.verdict == UNSEEN, result
    assert result.unseen
    assert result.high > result.claimed


@pytest.mark.parametrize("sign", [1, -1])
def test_a_leak_that_only_rare_noise_shows_is_no_assurance(sign: int) -> None:
    def rarely(x: Any, rng: np.random.Generator) -> Any:
        noisy = x.sum() + rng.laplace()
        return round(float(noisy), 2) if sign * noisy < 8 else float(x[0])

    assert verdict(rarely) == UNSEEN


def test_a_change_that_no_batch_holds_is_no_assurance() -> None:
    sampled = per_run(lambda x, rng: x[rng.integers(1, len(x), 3)].sum() + rng.laplace(scale=1e-3))
    assert replay(sampled, PAIR, PURE).verdict == UNSEEN


@pytest.mark.parametrize("guarantee", [PURE, APPROX, PureDP(0.1), ApproxDP(0.5, 0.1), GaussianDP(1.0)])
def test_always_and_never_is_as_rare_as_stated(guarantee: Guarantee) -> None:
    runs = runs_to_tell(guarantee)
    for p in np.linspace(0, 1, 997):
        q = float(guarantee.tradeoff(1 - p))  # the least that the claim allows on the second dataset
        assert (p * (1 - q)) ** runs <= SURE * (1 + 1e-3)
    if guarantee == PURE:
        p = math.e / (1 + math.e)  # randomised response is that bad: fewer runs would not do
        assert (p * p) ** (runs - 1) > SURE


# Listening ----------------------------------------------------------------------------------------------
def test_generators_are_as_before() -> None:
    watched = [(np.random, "laplace"), (np.random, "default_rng"), (np.random, "Generator"), (random, "gauss")]
    watched += [(random, "Random"), (os, "urandom"), (secrets, "randbelow"), (np, "array")]
    before = [getattr(module, name) for module, name in watched]
    state, own = random.getstate(), default_rng

    def failing(x: Any, rng: np.random.Generator) -> Any:
        np.random.laplace()  # noqa: NPY002
        raise ValueError("always")

    with pytest.raises(InvalidInput, match="always"):
        replay(per_run(failing), PAIR, PURE)
    verdict(histogram(1.0))
    assert [getattr(module, name) for module, name in watched] == before
    assert (random.getstate(), default_rng) == (state, own)


def test_known_samplers_of_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    class Laplace:
        @staticmethod
        def _laplace_sampler(*uniforms: Any) -> Any:
            one, two, three, four = uniforms
            return np.log(1 - one) * np.cos(np.pi * two) + np.log(1 - three) * np.cos(np.pi * four)

    monkeypatch.setitem(sys.modules, "diffprivlib.mechanisms.laplace", types.SimpleNamespace(Laplace=Laplace))

    def noisy(x: Any, rng: np.random.Generator) -> Any:
        return max(0.0, x.sum() - 2.0 * Laplace._laplace_sampler(*(rng.random() for _ in range(4))))

    assert verdict(noisy, PAIR, PureDP(0.5)) == KEPT
    assert verdict(noisy, PAIR, PureDP(0.4)) == VIOLATED
    assert Laplace._laplace_sampler(0.0, 0.0, 0.0, 0.0) == 0  # its own again
    assert Laplace()._laplace_sampler(0.0, 0.0, 0.0, 0.0) == 0


class Stocked:
    """Holds its noise as a static method."""

    noise = staticmethod(np.random.laplace)

    def __call__(self, x: Any, rng: np.random.Generator) -> Any:
        return x.sum() + self.noise(0.0, 1.0)


def test_a_static_method_that_is_listened_to_stays_one() -> None:
    before = vars(Stocked)["noise"].__func__
    assert verdict(Stocked()) == KEPT
    assert isinstance(vars(Stocked)["noise"], staticmethod)
    assert vars(Stocked)["noise"].__func__ is before


def test_a_dataset_that_raises_is_told_apart() -> None:
    def fussy(x: Any, rng: np.random.Generator) -> Any:
        if x.any():
            raise ValueError("a one")
        return x.sum() + rng.laplace()

    result = replay(per_run(fussy), PAIR, PURE)
    assert result.violated
    assert "raised ValueError" in result.leaks[0]


def test_the_data_are_left_alone() -> None:
    def destroying(x: Any, rng: np.random.Generator) -> Any:
        x += 1
        return x.sum() + rng.laplace(scale=1)

    assert verdict(destroying) == KEPT
    assert ZEROS.sum() == 0
    assert ONE.sum() == 1


def test_many_numbers_take_no_more_runs() -> None:
    base = np.zeros(20_000)
    result = replay(
        per_run(lambda x, rng: x + rng.normal(0, 2, len(x))), (base, base + 2 / math.sqrt(20_000)), GaussianDP(1.0)
    )
    assert result.kept
    assert result.runs <= 20
    assert result.low == pytest.approx(1.0)


# Many pairs ---------------------------------------------------------------------------------------------
def test_the_worst_pair_is_found_and_shrunk() -> None:
    near = replace_one(low=0, high=1, n=(1, 9))
    result = replay(
        lambda x, rng, trials: np.median(x) + rng.laplace(scale=0.1, size=trials), None, PURE, neighbours=near
    )
    assert result.violated
    assert result.low == pytest.approx(10)
    assert [len(data) for data in result.pair] == [1, 1]


def test_sensitivity_for_nonnegative_numbers_alone() -> None:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        return x.sum() + rng.laplace(scale=3.0)  # the upper bound in place of the width

    claim = PureDP(1.0, relation=ADD_REMOVE)
    assert replay(per_run(noisy), None, claim, neighbours=add_remove(low=-5, high=3, n=4)).low == pytest.approx(5 / 3)
    assert replay(per_run(noisy), None, claim, neighbours=add_remove(low=0, high=3, n=4)).kept


def test_hostile_records() -> None:
    near = replace_one(low=0, high=1, n=5)
    naive = per_run(lambda x, rng: np.clip(x, 0, 1).sum() + rng.laplace())
    careful = per_run(lambda x, rng: np.clip(np.nan_to_num(x), 0, 1).sum() + rng.laplace())
    assert replay(naive, None, PURE, neighbours=near).kept
    assert replay(naive, None, PURE, neighbours=near, hostile=True).violated  # a NaN comes through
    assert replay(careful, None, PURE, neighbours=near, hostile=True).kept
    first = per_run(lambda x, rng: np.clip(np.nan_to_num(x), 0, 1)[:3].sum() + rng.laplace())
    assert replay(first, None, PURE, neighbours=near, hostile=True).violated  # another order changes several


def test_a_class_that_vanishes() -> None:
    def rates(data: Any, rng: np.random.Generator) -> Any:
        X, y = data
        return {str(label): X[y == label].sum() + rng.laplace(scale=4) for label in np.unique(y)}

    near = label_only(low=0, high=1, n=4, labels=(0, 1))
    result = replay(per_run(rates), None, PURE, neighbours=near)
    assert result.violated
    assert "tells the datasets apart" in result.leaks[0]


@given(st.integers(2, 8), st.floats(0.2, 3), st.integers(0, 10**6))
@settings(max_examples=15)
def test_a_calibrated_sum_is_never_flagged(n: int, eps: float, seed: int) -> None:
    near = replace_one(low=-2, high=5, n=n)
    noisy = per_run(lambda x, rng: np.clip(x, -2, 5).sum() + rng.laplace(scale=7 / eps))
    result = replay(noisy, None, PureDP(eps), neighbours=near, pairs=10, seed=seed)
    assert result.kept
    assert result.high == pytest.approx(eps)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"pair": PAIR}, "guarantee"),
        ({"guarantee": PURE}, "pair"),
        ({"pair": REMOVED, "guarantee": PURE, "neighbours": replace_one(low=0, high=1)}, "one record only"),
        ({"pair": (1, 2, 3), "guarantee": PURE}, "two datasets"),
        ({"pair": PAIR, "guarantee": PURE, "seed": -1}, "seed"),
        ({"pair": PAIR, "guarantee": PURE, "released": "all"}, "released"),
        ({"neighbours": replace_one(), "guarantee": PURE, "pairs": 0}, "pairs"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        replay(per_run(clipped_sum(1.0)), **arguments)
    with pytest.raises(InvalidInput, match="mechanism"):
        replay(3, **arguments)


def test_noisy_values_changed_in_place() -> None:
    def summed(x: Any, rng: np.random.Generator, scale: float) -> Any:
        noise = rng.laplace(scale=scale, size=2)
        noise += [x.sum(), 0]
        total = noise[0]
        total += x[0]
        return round(float(total), 3)

    assert verdict(lambda x, rng: summed(x, rng, 2.0)) == KEPT
    assert verdict(lambda x, rng: summed(x, rng, 1.0)) == VIOLATED


# In a test suite ------------------------------------------------------------------------------------------
def test_assert_private_by_replay() -> None:
    near, fine, bad = replace_one(low=0, high=1, n=5), per_run(clipped_sum(1.0)), per_run(clipped_sum(0.5))
    assert dp.assert_private(fine, pair=PAIR, guarantee=PURE, method="replay").kept
    assert dp.assert_private(fine, neighbours=near, guarantee=PURE, method="replay", pairs=8).pairs == 8
    with pytest.raises(dp.PrivacyViolation, match=r"test_replay.py:\d+ adds Laplace\(0.5\)") as caught:
        dp.assert_private(bad, neighbours=near, guarantee=PURE, method="replay")
    assert caught.value.result.low == pytest.approx(2)
    sampled = per_run(UNREADABLE["sampled"])
    with pytest.raises(dp.Unhealthy, match="not seen through") as unseen:
        dp.assert_private(sampled, pair=PAIR, guarantee=PURE, method="replay")
    assert unseen.value.check == "not seen through"
    assert not dp.assert_private(
        sampled, pair=PAIR, guarantee=PURE, method="replay", suppress=("not seen through",)
    ).kept
    with pytest.raises(InvalidInput, match="method"):
        dp.assert_private(fine, pair=PAIR, guarantee=PURE, method="guess")


@dp.private(guarantee=PURE, neighbours=replace_one(low=0, high=1, n=5), method="replay")
def test_as_a_decorator() -> Any:
    return per_run(clipped_sum(1.0))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0, 1))
def test_under_hypothesis(rows: list[float], other: float) -> None:
    data = np.array(rows)
    assume(data[0] != other)
    pair = (data, np.concatenate([[other], data[1:]]))
    assert dp.assert_private(per_run(histogram(2.0)), pair=pair, guarantee=PURE, method="replay").kept


def test_the_result_in_json_and_html() -> None:
    result = replay(per_run(clipped_sum(0.5)), PAIR, PURE)
    said = json.loads(result.to_json())
    assert (said["verdict"], said["low"]) == (VIOLATED, pytest.approx(2))
    assert "adds Laplace" in result._repr_html_()


# Random programs -------------------------------------------------------------------------------------------
def one_array(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    return values + rng.laplace(scale=scales)


def one_by_one(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    return [value + scale * rng.laplace() for value, scale in zip(values, scales, strict=True)]


def into_a_list(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    noise = np.array([rng.laplace(0, scale) for scale in scales])
    return np.asarray(values) - noise


def in_place(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    noisy = np.array(values)
    noisy += np.random.RandomState(int(rng.integers(2**31))).laplace(size=len(values)) * scales
    return noisy


def exponentials(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    return values + scales * (rng.exponential(size=len(scales)) - rng.exponential(size=len(scales)))


def located(values: Any, scales: Any, rng: np.random.Generator) -> Any:
    return [rng.laplace(value, scale) for value, scale in zip(values, scales, strict=True)]


STYLES = [one_array, one_by_one, into_a_list, in_place, exponentials, located]
AFTER: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda noisy: noisy,
    "scaled": lambda noisy: {"all": [-3 * v + 1 for v in noisy]},
    "bent": lambda noisy: [math.atan(v) for v in noisy],
    "sums": lambda noisy: np.cumsum(np.asarray(noisy)),
    "clipped": lambda noisy: np.clip(noisy, -1, 1),
    "rounded": lambda noisy: [round(float(v)) for v in noisy],
    "sorted": lambda noisy: sorted(noisy),
    "largest": lambda noisy: int(np.argmax(noisy)),
    "compared": lambda noisy: [bool(v > 0.3) for v in noisy],
    "the mean": lambda noisy: np.mean(noisy),
    "some": lambda noisy: [v for v in noisy if v > 0],
    "words": lambda noisy: " ".join(f"{float(v):.2f}" for v in noisy),
    "a product": lambda noisy: noisy[0] * noisy[-1],
}
TELLING = ("as it is", "scaled", "bent", "sums")


@given(
    st.sampled_from(STYLES),
    st.sampled_from(sorted(AFTER)),
    st.lists(st.tuples(st.floats(-2, 2), st.floats(-1, 1), st.floats(0.1, 5)), min_size=1, max_size=4),
    st.integers(0, 1000),
)
@settings(max_examples=70)
def test_random_programs(style: Any, after: str, queries: list[tuple[float, float, float]], seed: int) -> None:
    base, moved, scales = (np.array(column) for column in zip(*queries, strict=True))
    truth = float(np.abs(moved / scales).sum())
    assume(truth > 1e-3)
    pair = (base, base + moved)

    def program(x: Any, rng: np.random.Generator) -> Any:
        return AFTER[after](style(x, scales, rng))

    fine = replay(per_run(program), pair, PureDP(truth * (1 + 1e-5)), seed=seed)
    assert not fine.violated, fine  # whatever is done afterwards
    if after in TELLING:
        tight = replay(per_run(program), pair, PureDP(truth * 0.9), seed=seed)
        assert not tight.kept, tight  # nothing is lost on the way


@pytest.mark.parametrize("one_seed", [True, False])
def test_generators_of_one_seed_that_draw_other_shapes(one_seed: bool) -> None:
    """The first of three numbers is the single one again: their difference has no noise, and that is not passed."""

    def two_layers(data: Any, rng: np.random.Generator) -> Any:
        key = int(rng.integers(2**31))
        other = key if one_seed else int(rng.integers(2**31))
        first = data.sum() + np.random.default_rng(key).normal(0, 20)
        return [first, *(2 * data.sum() + np.random.default_rng(other).normal(0, 20, 3))]

    pair = np.zeros(4), np.eye(4)[0]
    if one_seed:
        low, high, *_ = two_layers(pair[0], np.random.default_rng(0))
        assert low == high
    result = replay(per_run(two_layers), pair, ApproxDP(1.0, 1e-5))
    assert result.kept != one_seed, result
    assert ("made with one seed" in str(result.unseen)) == one_seed
