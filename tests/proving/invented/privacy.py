"""Pairs that are judged by an accountant, by an exact worst case or by an audit."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from sympy import Eq, Expr, Integer, Le, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Kind, convex, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import (
    Delta,
    Delta_T,
    L,
    T,
    beta,
    delta,
    delta1,
    distance,
    eps,
    eps_out,
    eta,
    excess_risk,
    n,
    sigma,
    sigma_g,
)
from dpcheck.bounds.library.convex.gradient_descent import rate_at, sensitivity_at
from dpcheck.bounds.privacy.exact import gaussian_sigma
from dpcheck.bounds.privacy.numeric_checks import (
    CompositionAccountant,
    Exactness,
    GaussianAccountant,
    SampledGaussianAccountant,
)
from dpcheck.evidence.audit_checks import AuditCheck
from invented.cases import Case, Draw, Pair, case, family

# Accountant ----------------------------------------------------------------------------------------
SMALL = {eps: (0.1, 1.0), delta: (1e-8, 0.1)}


def gaussian_case(noise: Expr, *assumes: Any, box: Any = SMALL) -> Case:
    """Noise over sensitivity, against the exact curve."""
    check = GaussianAccountant(Delta / sigma, "a query that moves by Δ", box)
    return case(check, Eq(sigma, Delta * noise), *assumes, kind=Kind.PRIVACY, guarantee=ApproxDP(eps, delta))


@family("accountant", "Gaussian noise", 2)
def gaussian_noise(draw: Draw) -> Pair:
    inside = draw(st.sampled_from([Rational(5, 4), Rational(3, 2), Integer(2)]))
    noise = sqrt(2 * log(inside / delta)) / eps
    slips = [noise / 2, noise / sqrt(2), sqrt(2 * log(inside / (1 - delta))) / eps, noise * eps * 2, sqrt(2) / eps]
    return gaussian_case(noise, eps <= 1), gaussian_case(draw(st.sampled_from(slips)), eps <= 1)


@family("accountant", "Gaussian noise at any ε", 2)
def gaussian_any_eps(draw: Draw) -> Pair:
    """The classical formula fails beyond ε = 1 or so: the range of ε may not be dropped."""
    inside = draw(st.sampled_from([Rational(5, 4), Rational(2)]))
    noise = sqrt(2 * log(inside / delta)) / eps
    wide = {eps: (0.1, 50.0), delta: (1e-8, 0.1)}
    return gaussian_case(noise, eps <= 1, box=wide), gaussian_case(noise, box=wide)


@family("accountant", "noise that grows with ε", 1)
def gaussian_square(draw: Draw) -> Pair:
    noise, wide = sqrt(2 * log(2 / delta)) / eps, {eps: (0.5, 5.0), delta: (1e-6, 0.1)}
    return gaussian_case(noise, eps <= 5, box=wide), gaussian_case(noise / eps, eps <= 5, box=wide)


@family("accountant", "one record a step", 1)
def one_record(draw: Draw) -> Pair:
    """n² steps on one random record each: enough noise, and a tenth of it, or T forgotten in the count of steps."""
    multiplier = 2 * sqrt(log(3 * n / delta) * log(2 / delta)) / eps
    weaker, more = draw(st.sampled_from([(Rational(1, 10), n**2), (Rational(1, 8), 4 * n**2)]))
    promise = {"kind": Kind.PRIVACY, "guarantee": ApproxDP(eps, delta)}
    true, false = (
        case(
            SampledGaussianAccountant(sigma_g / L, steps, "the whole transcript seen", sizes=(2, 5)),
            Eq(sigma_g, multiplier * factor * L),
            eps <= 1,
            **promise,
        )
        for factor, steps in ((Integer(1), n**2), (weaker, more))
    )
    return true, false


@family("accountant", "composition", 2)
def composed(draw: Draw) -> Pair:
    strong = sqrt(2 * T * log(1 / delta1)) * eps + T * eps * (exp(eps) - 1)
    true = draw(st.sampled_from([strong, T * eps, 2 * T * eps]))
    slips = [
        sqrt(2 * T * log(1 / delta1)) * eps,
        sqrt(2 * log(1 / delta1)) * eps + eps * (exp(eps) - 1),
        strong / 4,
        sqrt(T) * eps,
        T * eps * Rational(9, 10),
        T * eps**2,
    ]
    check = CompositionAccountant("against the optimal composition")
    return case(check, Eq(eps_out, true)), case(check, Eq(eps_out, draw(st.sampled_from(slips))))


# Worst case ----------------------------------------------------------------------------------------
@family("worst-case", "the sensitivity of gradient descent", 1)
def descent_sensitivity(draw: Draw) -> Pair:
    points = [{"n": 5, "T": steps, "eta": 0.8, "L": 2.0, "beta": 1.0} for steps in (1, 2)]
    check = Exactness(sensitivity_at, points, "all smooth convex losses")
    exact = 2 * L * T * eta / n
    bound = exact * draw(st.sampled_from([1, Rational(3, 2)]))
    slip = draw(st.sampled_from([exact / 2, exact / T, exact / n, exact * Rational(19, 20)]))
    assumes = (convex(), smooth(beta), lipschitz(L), eta <= 1 / beta)
    true, false = (case(check, Le(Delta_T, b), *assumes, kind=Kind.SENSITIVITY) for b in (bound, slip))
    return true, false


@family("worst-case", "the rate of gradient descent", 1)
def descent_rate(draw: Draw) -> Pair:
    points = [{"T": steps, "eta": 1.0, "beta": 1.0, "distance": 1.0} for steps in (1, 3)]
    check = Exactness(rate_at, points, "all smooth convex risks")
    exact = beta * distance**2 / (4 * T + 2)
    slip = draw(st.sampled_from([exact / 2, exact / T, exact.subs(T, T + 1), exact.subs(T, T**2)]))
    assumes = (convex(), smooth(beta), Eq(eta, 1 / beta))
    true, false = (case(check, Le(excess_risk, b), *assumes) for b in (exact, slip))
    return true, false


# Audit ---------------------------------------------------------------------------------------------
RECORDS = (np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]))


def audited(draw_noise: Any, guarantee: Any) -> AuditCheck:
    """A sum of records in [0, 1] with noise."""

    def mechanism(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.sum(data) + draw_noise(rng, trials)

    return AuditCheck(lambda: (mechanism, RECORDS, guarantee), "a sum of records in [0, 1]", trials=20_000)


@family("audit", "Laplace noise on a sum", 2)
def audited_laplace(draw: Draw) -> Pair:
    level = draw(st.sampled_from([0.5, 1.0, 2.0]))
    slip = draw(st.sampled_from([0.5, 0.25, 0.6]))
    cases = [
        case(audited(lambda rng, k, s=s: rng.laplace(scale=s / level, size=k), PureDP(level)), Eq(sigma, Delta / eps))
        for s in (1.0, slip)
    ]
    return cases[0], cases[1]


@family("audit", "Gaussian noise on a sum", 1)
def audited_gaussian(draw: Draw) -> Pair:
    need = float(gaussian_sigma(1.0, 1e-2))
    slip = draw(st.sampled_from([0.5, 1 / np.sqrt(2) / 1.2]))
    promise = ApproxDP(1.0, 1e-2)
    cases = [
        case(audited(lambda rng, k, s=s: s * need * rng.standard_normal(k), promise), Eq(sigma, Delta / eps))
        for s in (1.0, slip)
    ]
    return cases[0], cases[1]
