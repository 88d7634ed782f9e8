"""What an audit says it would have caught, it catches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from audits import AuditResult, audit, detectable_epsilon, epsilon_from_mu
from audits.power import detectable_gaussian
from bounds.errors import InvalidInput
from bounds.guarantees import ApproxDP, Guarantee, PureDP


def test_more_trials_catch_smaller_violations() -> None:
    found = [detectable_epsilon(0.5, 10**k, claimed=1.0, delta=0.0, alpha=0.05) for k in (2, 3, 4, 5, 6)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1.02


def test_a_tiny_audit_says_that_it_catches_nothing() -> None:
    assert detectable_epsilon(0.5, 5, claimed=1.0, delta=0.0, alpha=1e-6) == math.inf


def test_rare_events_promise_nothing() -> None:
    """Nine hits against none cannot refute eps = 1 often enough, whatever epsilon stands behind them."""
    assert detectable_epsilon(0.01, 900, claimed=1.0, delta=0.0, alpha=0.05) == math.inf
    assert detectable_epsilon(0.01, 15_000, claimed=1.0, delta=0.0, alpha=0.05) < 3


def test_with_a_delta_the_worse_mechanism_may_be_gaussian() -> None:
    asked: dict[str, Any] = {"claimed": 1.0, "delta": 1e-5, "alpha": 0.05}
    assert detectable_epsilon(0.5, 4000, **asked) == detectable_gaussian(4000, **asked)
    assert detectable_gaussian(4000, claimed=1.0, delta=0.0, alpha=0.05) == math.inf


# The promise -----------------------------------------------------------------------------------------------------
def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def response(data: tuple[int, float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Randomised response of a bit, which tells the truth with odds e^eps."""
    bit, eps = data
    return np.where(rng.random(trials) < special.expit(eps), bit, 1 - bit)


def noisy_max(scores: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Of five candidates, with Gumbel noise: the exponential mechanism."""
    return (scores + rng.gumbel(size=(trials, len(scores)))).argmax(axis=1)


def rivals(eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose winner changes, at this epsilon: both normalisers agree, so the lead itself is epsilon."""
    return np.array([eps, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, eps, 0.0, 0.0, 0.0])


def gap(eps: float, delta: float) -> tuple[float, float]:
    """Means of unit Gaussians at this epsilon for this delta."""
    return 0.0, float(optimize.brentq(lambda mu: epsilon_from_mu(mu, delta) - eps, 1e-3, 30))


# A mechanism, its pair by epsilon, the claim that is tight at epsilon 1, the audit's mode, its trials, and how many.
FAMILIES: dict[str, tuple[Any, Any, Guarantee, dict[str, Any], int, int]] = {
    "laplace": (laplace, lambda eps: (0.0, eps), PureDP(1.0), {}, 5000, 100),
    "gaussian": (gaussian, lambda eps: gap(eps, 1e-5), ApproxDP(1.0, 1e-5), {}, 5000, 100),
    "gaussian, strict": (gaussian, lambda eps: gap(eps, 1e-2), ApproxDP(1.0, 1e-2), {"alpha": 1e-6}, 5000, 100),
    "response": (response, lambda eps: ((0, eps), (1, eps)), PureDP(1.0), {}, 5000, 100),
    "noisy max": (noisy_max, rivals, PureDP(1.0), {}, 5000, 100),
    "gdp": (gaussian, lambda eps: gap(eps, 1e-5), ApproxDP(1.0, 1e-5), {"assume": "gdp"}, 5000, 100),
    "laplace, early": (laplace, lambda eps: (0.0, eps), PureDP(1.0), {"stop_early": True}, 500, 50),
    "gaussian, early": (gaussian, lambda eps: gap(eps, 1e-5), ApproxDP(1.0, 1e-5), {"stop_early": True}, 500, 50),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_promise_is_kept(name: str) -> None:
    """Audits at the claim say what they would catch; many audits at the least of their answers catch it.

    `enough` of them must: if each flagged with probability 0.99 exactly, fewer would with probability 0.02 at most
    (97 of 100, 48 of 50). Seeds are fixed, and the answer is meant to be cautious.
    """
    mechanism, pair, claim, mode, trials, seeds = FAMILIES[name]

    def audited(eps: float, seed: int) -> AuditResult:
        return audit(mechanism, pair=pair(eps), guarantee=claim, max_trials=trials, seed=seed, **mode)

    caught = min(audited(1.0, seed).detectable_epsilon for seed in (1001, 1002, 1003))
    assert 1 < caught < 8
    enough = int(stats.binom.ppf(0.02, seeds, 0.99))
    assert sum(audited(caught, seed).violated for seed in range(seeds)) >= enough


def test_no_trials_no_power() -> None:
    with pytest.raises(InvalidInput):
        detectable_epsilon(0.5, 0, claimed=1.0, delta=0.0, alpha=0.05)
