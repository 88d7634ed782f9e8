"""Pairs that are judged by running something: rates, and properties of code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st
from sympy import Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Kind, Rate
from dpcheck.bounds.language.symbols import (
    T,
    beta,
    d,
    delta,
    eps,
    excess_risk,
    gamma,
    likely_excess_risk,
    n,
    ratio,
    sigma,
)
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Exponents, Trend, Within
from invented.cases import Draw, Pair, case, family


# Rate ----------------------------------------------------------------------------------------------
@family("rate", "exponents of several symbols", 3)
def several_exponents(draw: Draw) -> Pair:
    """Errors with the exponents that are claimed; and a claim that is off by a half in one of them."""
    drawn = {"n": [-2.0, -1.0], "d": [0.5, 1.0], "eps": [-2.0, -1.0]}
    true = {name: draw(st.sampled_from(values)) for name, values in drawn.items()}

    def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        size = np.prod([point[s] ** k for s, k in true.items()])
        return size * np.random.default_rng(seed).gamma(2.0, size=trials)

    grid = {"n": (100, 1000, 10_000), "d": (1, 8, 64), "eps": (0.05, 0.5, 5.0)}
    check = Exponents(grid, measure, "planted", factorial=draw(st.booleans()), two_sided=True, trials=200)
    off = draw(st.sampled_from(sorted(true)))
    wrong = true | {off: true[off] + draw(st.sampled_from([0.5, -0.5, 1, -1]))}
    names = {"n": n, "d": d, "eps": eps}
    formulas = [sympy.Mul(*(names[s] ** Rational(str(k)) for s, k in row.items())) for row in (true, wrong)]
    right, false = (case(check, Rate(excess_risk, f), kind=Kind.EXPERIMENT) for f in formulas)
    return right, false


@family("rate", "growth with T", 2)
def growth(draw: Draw) -> Pair:
    power = draw(st.sampled_from([0.5, 1.0, 2.0]))

    def measure(x: float, trials: int, seed: int) -> np.ndarray:
        return x**power * np.random.default_rng(seed).exponential(size=trials)

    check = Trend("T", (1, 10, 100, 1000), measure, "planted", trials=400)
    slip = draw(st.sampled_from([Rational(1, 2), Rational(1, 4)]))
    right, false = (
        case(check, Rate(excess_risk, T**k), kind=Kind.EXPERIMENT)
        for k in (Rational(str(power)), Rational(str(power)) - slip if Rational(str(power)) != slip else Rational(1, 8))
    )
    return right, false


@family("rate", "log(1/δ) for its square", 1)
def power_of_log(draw: Draw) -> Pair:
    def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return np.log(1 / point["delta"]) ** 2 * np.random.default_rng(seed).gamma(4.0, size=trials)

    check = Exponents({"delta": (1e-9, 1e-6, 1e-3, 0.1)}, measure, "planted", slack=0.02, two_sided=True)
    right, false = (case(check, Rate(excess_risk, log(1 / delta) ** k), kind=Kind.EXPERIMENT) for k in (2, 1))
    return right, false


@family("rate", "an explicit constant, in the mean", 2)
def explicit_mean(draw: Draw) -> Pair:
    """β/2·E‖z‖² of Gaussian noise is β/2·dσ², exactly: measured on a quadratic."""

    def measure(at: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        noise = at["sigma"] * np.random.default_rng(seed).standard_normal((trials, int(at["d"])))
        return at["beta"] / 2 * np.sum(noise**2, axis=1)

    cases = [{"beta": 2.0, "d": float(size), "sigma": 0.5} for size in draw(st.sampled_from([(2, 8), (4,), (10, 3)]))]
    check = Within(measure, cases, "a quadratic", trials=2000)
    bound = beta / 2 * d * sigma**2
    slip = draw(st.sampled_from([bound / 2, bound / d, bound / sqrt(2), bound * sigma]))
    return case(check, Le(excess_risk, Rational(11, 10) * bound)), case(check, Le(excess_risk, slip))


@family("rate", "an explicit constant, with probability 1-γ", 2)
def explicit_likely(draw: Draw) -> Pair:
    level = draw(st.sampled_from([0.05, 0.1, 0.2]))

    def measure(at: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).exponential(size=trials)

    check = Within(measure, [{"gamma": level}], "exponential tails", trials=2000)
    slip = draw(st.sampled_from([log(1 / gamma) / 2, log(2 / (1 - gamma)), sqrt(log(1 / gamma)) / 2]))
    right, false = (case(check, Le(likely_excess_risk, b)) for b in (log(2 / gamma), slip))
    return right, false


# Property ------------------------------------------------------------------------------------------
@family("property", "n for n²", 2)
def mean_of_records(draw: Draw) -> Pair:
    """Replacing one number in [0, 1] moves the mean by up to 1/n, and the variance by up to 1/n."""
    statistic = draw(st.sampled_from([np.mean, np.var]))

    def measured(bound: Callable[[int], float]) -> Callable[[Mapping[str, Any]], tuple[float, float]]:
        def measure(at: Mapping[str, Any]) -> tuple[float, float]:
            rng = np.random.default_rng(at["seed"])
            first = rng.integers(0, 2, size=at["n"]).astype(float)
            second = first.copy()
            second[0] = 1 - first[0]
            return abs(float(statistic(first) - statistic(second))), bound(at["n"])

        return measure

    ranges = {"n": (2, 50), "seed": (0, 1000)}
    slip = draw(st.sampled_from([lambda k: 1 / k**2, lambda k: 1 / (4 * k), lambda k: 1 / k**1.5 / 2]))
    bounds = (lambda k: 1 / k, slip)
    cases = [case(Property(measured(b), ranges, "random records", examples=60), Le(ratio, 1)) for b in bounds]
    return cases[0], cases[1]


@family("property", "clipping each coordinate for clipping the norm", 2)
def clipped(draw: Draw) -> Pair:
    limit = draw(st.sampled_from([0.5, 1.0, 3.0]))

    def by_norm(x: np.ndarray) -> np.ndarray:
        return x * min(1.0, limit / max(float(np.linalg.norm(x)), 1e-12))

    def by_coordinate(x: np.ndarray) -> np.ndarray:
        return np.clip(x, -limit, limit)

    def measured(clip: Callable[[np.ndarray], np.ndarray]) -> Callable[[Mapping[str, Any]], tuple[float, float]]:
        def measure(at: Mapping[str, Any]) -> tuple[float, float]:
            x = at["scale"] * np.random.default_rng(at["seed"]).standard_normal(at["d"])
            return float(np.linalg.norm(clip(x))), limit

        return measure

    ranges = {"d": (1, 12), "seed": (0, 1000), "scale": (0.1, 10.0)}
    cases = [case(Property(measured(f), ranges, "random vectors"), Le(ratio, 1)) for f in (by_norm, by_coordinate)]
    return cases[0], cases[1]
