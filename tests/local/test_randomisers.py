"""Randomisers of dpcheck.local: unbiased, of the variance and the loss they name, attacked over all their records.

Statistical tests have fixed seeds: five standard errors, and audits with a false-alarm rate of 1e-6 each.
"""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck import local
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.local.frequencies import ORACLES, walsh_hadamard
from dpcheck.settings import limits_of

MEANS = [local.Laplace, local.OneBit, local.Piecewise, local.Hybrid]
EPSILONS = [0.3, 1.0, 3.0]
RANDOMISERS: list[local.Randomiser] = [
    *(kind(eps) for kind in MEANS for eps in (0.3, 2.0)),
    *(kind(eps, k) for kind in ORACLES for eps, k in ((1.0, 6), (2.0, 64))),
    local.UnaryEncoding(1.0, 6, optimised=False),
    *(local.L2Ball(eps, d, radius=2.0) for eps, d in ((0.5, 1), (1.0, 3), (2.0, 20))),
]
ATTACKED = [*(kind(2.0) for kind in MEANS), *(kind(2.0, 6) for kind in ORACLES), local.L2Ball(2.0, 3)]


def named(randomiser: local.Randomiser) -> str:
    return str(randomiser)


def two_records(randomiser: local.Randomiser, rng: np.random.Generator) -> tuple[Any, Any]:
    return randomiser.neighbours.random(rng)


# Unbiased, with the variance it names ---------------------------------------------------------------------
@pytest.mark.parametrize("kind", MEANS)
@pytest.mark.parametrize("eps", EPSILONS)
def test_means_are_unbiased_and_spread_as_they_say(kind: type[local.Mean], eps: float) -> None:
    one = kind(eps)
    for i, x in enumerate((-1.0, 0.0, 0.4, 1.0)):
        z = one.privatize(x, i, trials=40_000)
        assert abs(z.mean() - x) < 5 * z.std() / len(z) ** 0.5
        squares = (z - x) ** 2
        assert abs(squares.mean() - one.variance(1, x)) <= 5 * squares.std() / len(z) ** 0.5 + 1e-9
        assert one.variance(7) >= one.variance(7, x) == one.variance(1, x) / 7


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize(("eps", "k"), [(0.5, 5), (1.0, 64), (3.0, 20)])
def test_shares_are_unbiased_and_spread_as_they_say(kind: type[local.Frequencies], eps: float, k: int) -> None:
    one, rng, runs = kind(eps, k), np.random.default_rng(k), 200
    items = np.minimum(rng.geometric(0.3, 400) - 1, k - 1)
    truth = np.bincount(items, minlength=k) / len(items)
    found = np.array([one.aggregate(one.privatize(items, rng)) for _ in range(runs)])
    deviation = np.sqrt([one.variance(len(items), share) for share in truth])
    assert np.abs((found.mean(axis=0) - truth) / deviation).max() * runs**0.5 < 5
    relative = (((found - truth) / deviation) ** 2).mean(axis=1)  # over items, which are nearly independent
    assert abs(relative.mean() - 1) < 5 * relative.std() / runs**0.5
    shares = one.aggregate(one.privatize(items, rng), on_simplex=True)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("d", [1, 4, 30])
def test_vectors_are_unbiased_and_spread_as_they_say(d: int) -> None:
    one, rng = local.L2Ball(1.0, d, radius=2.0), np.random.default_rng(d)
    x = rng.standard_normal(d)
    x *= 1.5 / np.linalg.norm(x)
    z = one.privatize(x, rng, trials=40_000)
    assert np.abs((z.mean(axis=0) - x) / z.std(axis=0)).max() < 5 / len(z) ** 0.5
    squares = ((z - x) ** 2).sum(axis=1)
    assert abs(squares.mean() - one.variance(1, x)) < 5 * squares.std() / len(z) ** 0.5 + 1e-9
    assert one.aggregate(z) == pytest.approx(z.mean(axis=0))


def test_which_is_best_is_told_by_variances() -> None:
    assert isinstance(local.best_frequencies(64, 1.0), local.SubsetSelection)
    assert isinstance(local.best_frequencies(64, 1.0, shortest=True), local.LocalHashing)
    assert isinstance(local.best_frequencies(3, 4.0, shortest=True), local.KaryResponse)
    for eps in EPSILONS:
        assert min((kind(eps) for kind in MEANS), key=lambda one: one.variance()) == local.Hybrid(eps) or eps < 0.61


# The loss it names ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("randomiser", RANDOMISERS, ids=named)
def test_no_two_records_lose_more_than_epsilon_and_some_lose_it(randomiser: local.Randomiser) -> None:
    rng = np.random.default_rng(0)
    pairs = [two_records(randomiser, rng) for _ in range(50)]
    pairs += [pair for pair, _ in zip(randomiser.neighbours.classic(), range(20), strict=False)]
    losses = [randomiser.loss(*pair) for pair in pairs]
    assert max(losses) <= randomiser.eps
    assert max(losses) == pytest.approx(randomiser.eps, rel=1e-6)
    assert all(randomiser.loss(record, record) == 0 for record, _ in pairs)


@pytest.mark.parametrize("randomiser", RANDOMISERS, ids=named)
def test_the_loss_is_that_of_its_density_and_the_density_that_of_its_reports(randomiser: local.Randomiser) -> None:
    """Chances of both records' reports differ by the loss at most, reach it, and average to what they must."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        first, second = two_records(randomiser, rng)
        z = randomiser.privatize(first, rng, trials=10_000)
        with np.errstate(over="ignore"):
            gap = randomiser.log_density(z, first) - randomiser.log_density(z, second)
        loss = randomiser.loss(first, second)
        assert np.abs(gap).max() <= loss + 1e-9
        if np.ptp(gap) > 0 and not isinstance(randomiser, local.Laplace):
            assert np.abs(gap).max() == pytest.approx(loss, rel=1e-6)
        ratios = np.exp(-gap)  # of the second to the first: their average is 1
        normal = ratios.mean() - 1
        assert abs(normal) < 5 * ratios.std() / len(z) ** 0.5 + 1e-9


# Attacked with any two records ----------------------------------------------------------------------------
@pytest.mark.parametrize("randomiser", ATTACKED, ids=named)
def test_a_search_over_all_records_finds_nothing_and_would(randomiser: local.Randomiser) -> None:
    def searched(claimed: float) -> dp.AuditResult:
        promise = replace(randomiser.guarantee, eps=claimed)
        asked: dict[str, Any] = {"neighbours": randomiser.neighbours, "max_trials": 8_000, "alpha": 1e-6}
        return dp.audit(randomiser, guarantee=promise, executor=1, **asked)

    assert not searched(randomiser.eps).violated
    assert searched(randomiser.eps / 2).violated  # planted: a report that claims half of what it tells


@dataclass(frozen=True)
class WrongTrueBit(local.UnaryEncoding):
    """Planted, after pure-LDP's published bug: the true bit is sent as it is, only the others are perturbed."""

    def drawn(self, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bits = super().drawn(records, rng)
        bits[np.arange(len(records)), records] = True
        return bits


@dataclass(frozen=True)
class WrongQ(local.UnaryEncoding):
    """Planted, after another library's bug: the other bits are sent too rarely."""

    @cached_property
    def q(self) -> float:
        return 0.5 * math.exp(-2 * self.eps)


@dataclass(frozen=True)
class FewerPlaces(local.SubsetSelection):
    """Planted: a set that holds the true item too often."""

    @cached_property
    def p(self) -> float:
        return 0.9


@pytest.mark.parametrize("broken", [WrongTrueBit(1.0, 6), WrongQ(1.0, 6), FewerPlaces(1.0, 6)], ids=named)
def test_broken_randomisers_are_caught(broken: local.Randomiser) -> None:
    asked: dict[str, Any] = {"neighbours": broken.neighbours, "max_trials": 8_000, "alpha": 1e-6}
    assert dp.audit(broken, guarantee=broken.guarantee, executor=1, **asked).violated


# Bad input -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("randomiser", RANDOMISERS, ids=named)
def test_settings_records_and_reports_are_refused_by_name(randomiser: local.Randomiser) -> None:
    limits = limits_of(type(randomiser))
    for setting in fields(randomiser):
        for value in limits[setting.name].refuses:
            with pytest.raises(InvalidInput, match=setting.name):
                replace(randomiser, **{setting.name: value})
    outside = np.full(randomiser.width or (), 98765.0)
    for records in (outside, np.nan * outside, "secret", None, []):
        with pytest.raises(InvalidInput, match="records") as refused:
            randomiser.privatize(records, trials=3)
        assert not re.search("98765|nan|secret", str(refused.value))  # a client's log is no place for her record
    inside = two_records(randomiser, np.random.default_rng(0))[0]
    with pytest.raises(InvalidInput, match="records is outside at place 1"):
        randomiser.privatize(np.stack([inside, outside]))
    for trials in (0, 1.5, True):
        with pytest.raises(InvalidInput, match="trials"):
            randomiser.privatize(inside, 0, trials)  # type: ignore[arg-type]
    for reports in ([], "a", None, np.full((4, 97), 0.5), [np.nan], [[1e9]]):
        with pytest.raises(InvalidInput, match="reports"):
            randomiser.aggregate(reports)


@pytest.mark.parametrize("randomiser", RANDOMISERS, ids=named)
def test_seeds_reproduce_and_clients_have_none(randomiser: local.Randomiser) -> None:
    record = two_records(randomiser, np.random.default_rng(0))[0]
    copy = pickle.loads(pickle.dumps(randomiser))
    assert np.array_equal(randomiser.privatize(record, 5, 40), copy.privatize(record, 5, 40))
    fresh = [randomiser.privatize(record, None, 40) for _ in range(2)]
    assert not np.array_equal(*fresh)
    users = np.stack([record] * 3)
    assert len(randomiser.privatize(users, 0)) == 3
    randomiser.aggregate(randomiser.privatize(users, 0))


def test_a_hadamard_matrix_is_its_own_inverse() -> None:
    values = np.random.default_rng(0).standard_normal(16)
    assert walsh_hadamard(walsh_hadamard(values)) == pytest.approx(16 * values)
    with pytest.raises(InvalidInput, match="power of two"):
        walsh_hadamard(values[:3])
