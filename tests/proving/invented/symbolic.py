"""Pairs that are judged by symbolic proof."""

from __future__ import annotations

import numpy as np
import sympy
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Max, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Kind, Rate
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import (
    D,
    L,
    T,
    beta,
    d,
    delta,
    eps,
    eps_out,
    excess_risk,
    m,
    mu,
    n,
    noise_norm2,
    q,
    ratio,
    sigma,
    sigma_g,
    w_hat,
)
from dpcheck.bounds.proving.derivations import Expectation, gaussian_length, l2_laplace_length, laplace_size
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant, Units
from invented.cases import Draw, Pair, case, family, fraction, halves, largest_ratio, powers, product, slipped


# Symbolic ------------------------------------------------------------------------------------------
@family("symbolic", "an identity of products", 6)
def identity(draw: Draw) -> Pair:
    constant, of = draw(fraction), powers(draw)
    check = Equals(product(constant, of), "derived")
    wrong = slipped(draw, constant, of)
    return case(check, Eq(ratio, product(constant, of))), case(check, Eq(ratio, product(*wrong)))


@family("symbolic", "a bound that is attained", 6)
def attained(draw: Draw) -> Pair:
    """Whether a slip makes a bound false is worked out by hand; one that only loosens it is a true claim too."""
    constant, of = draw(fraction), powers(draw)
    check = AtMost(product(constant, of), "attained")
    wrong = slipped(draw, constant, of)
    false = wrong if largest_ratio((constant, of), wrong) > 0.02 else (constant / 2, of)
    true = wrong if largest_ratio((constant, of), wrong) < 0 else (constant, of)
    return case(check, Le(ratio, product(*true))), case(check, Le(ratio, product(*false)))


@family("symbolic", "a square written out")
def square(draw: Draw) -> Pair:
    a, b, c = draw(fraction), draw(fraction), draw(st.sampled_from([Rational(1, 2), Rational(0), Rational(2)]))
    check = Equals((a * L + b * sigma_g) ** 2, "(x + y)²")
    parts = a**2 * L**2 + b**2 * sigma_g**2
    cross = 2 * a * b * L * sigma_g
    return case(check, Eq(ratio, parts + cross)), case(check, Eq(ratio, parts + c * cross))


@family("symbolic", "max for sum")
def max_for_sum(draw: Draw) -> Pair:
    a, b = draw(fraction), draw(fraction)
    first, second = a * L * D / n, b * beta * D**2 / T
    check = AtMost(first + second, "both terms are attained at once")
    return case(check, Le(ratio, first + second)), case(check, Le(ratio, Max(first, second)))


@family("symbolic", "Jensen on a function that is not convex")
def jensen(draw: Draw) -> Pair:
    a, b = draw(fraction), draw(fraction)
    share = a / (a + b)
    inside = share * L + (1 - share) * beta
    for_log = draw(st.booleans())
    f = log if for_log else sqrt
    of_mean, mean_of = f(1 + inside), share * f(1 + L) + (1 - share) * f(1 + beta)
    return case(AtMost(mean_of, "E f(X)"), Le(ratio, of_mean)), case(AtMost(of_mean, "f(E X)"), Le(ratio, mean_of))


@family("symbolic", "log of the wrong thing")
def wrong_log(draw: Draw) -> Pair:
    a, b = draw(fraction), draw(st.integers(1, 5))
    right = a * L * sqrt(log((b + 1) / delta) * d)
    wrong = draw(st.sampled_from([log((b + 1) / (1 - delta / 2)), log(n), log((b + 1) * n), log(1 + 1 / delta) / 2]))
    check = Equals(right, "derived")
    return case(check, Eq(ratio, right)), case(check, Eq(ratio, a * L * sqrt(wrong * d)))


@family("symbolic", "a range of ε that is too wide")
def eps_range(draw: Draw) -> Pair:
    """e^ε - 1 ≤ cε holds up to a root; the false claim allows half as much again."""
    end = draw(st.fractions(min_value=Rational(1, 2), max_value=3, max_denominator=8))
    end = Rational(end.numerator, end.denominator)
    slope = Rational(int(np.ceil(1000 * np.expm1(float(end)) / float(end))), 1000)
    check, states = AtMost(exp(eps) - 1, "attained"), Le(ratio, slope * eps)
    return case(check, states, eps <= end), case(check, states, eps <= end * Rational(3, 2))


@family("symbolic", "a hypothesis dropped")
def dropped(draw: Draw) -> Pair:
    """Larger by a power of the one over the other, of two symbols of one unit: true where their order is assumed."""
    constant, of = draw(fraction), powers(draw)
    small, large = draw(st.sampled_from([(mu, beta), (d, n), (m, n), (w_hat, D), (sigma_g, L)]))
    value = product(constant, of)
    check, states = AtMost(value, "attained"), Le(ratio, value * (large / small) ** draw(halves.map(abs)))
    return case(check, states, small <= large), case(check, states)


@family("symbolic", "amplification beyond its range")
def amplification(draw: Draw) -> Pair:
    factor = draw(st.sampled_from([Rational(3, 2), Rational(2), Rational(3)]))
    end = {Rational(3, 2): Rational(7, 10), Rational(2): Rational(5, 4), Rational(3): Rational(19, 10)}[factor]
    check = AtMost(log(1 + q * (exp(eps) - 1)), "randomised response on one record")
    states = Le(eps_out, factor * q * eps)
    return case(check, states, q <= 1, eps <= end), case(check, states, q <= 1)


@family("symbolic", "a moment of l2 Laplace noise")
def l2_moment(draw: Draw) -> Pair:
    k = draw(st.integers(1, 3))
    moment = sigma**k * sympy.Mul(*(d + j for j in range(k)))
    slips = [d**k * sigma**k, moment / 2, moment * (d + k) / d, moment * sigma]
    check = Expectation(lambda r: r**k, l2_laplace_length(d, sigma), "radius")
    wrong = draw(st.sampled_from(slips[1:] if k == 1 else slips))
    return case(check, Eq(noise_norm2, moment)), case(check, Eq(noise_norm2, wrong))


@family("symbolic", "a moment of Gaussian noise")
def gaussian_moment(draw: Draw) -> Pair:
    k = draw(st.sampled_from([2, 4]))
    moment = {2: d * sigma**2, 4: d * (d + 2) * sigma**4}[k]
    slips = [moment / d, moment * 2, moment * sigma, moment * (d + 1) / d]
    check = Expectation(lambda r: r**k, gaussian_length(d, sigma), "length")
    return case(check, Eq(noise_norm2, moment)), case(check, Eq(noise_norm2, draw(st.sampled_from(slips))))


@family("symbolic", "the variance of Laplace noise", 1)
def laplace_variance(draw: Draw) -> Pair:
    check = Expectation(lambda x: x**2, laplace_size(sigma), "one coordinate")
    return case(check, Eq(noise_norm2, 2 * sigma**2)), case(check, Eq(noise_norm2, sigma**2))


@family("symbolic", "a rate that no constant saves")
def no_constant(draw: Draw) -> Pair:
    big = Symbol("big", positive=True)
    a, k = draw(fraction), draw(st.sampled_from([Rational(1, 2), Integer(1), Integer(2)]))
    check = NoConstant(a * L * d**k / n, {L: 1, n: 10, d: big}, big, "d grows")
    slip = draw(st.sampled_from([Rational(1, 2), Rational(1, 3), k]))
    return case(check, Rate(excess_risk, L * d**k / n)), case(check, Rate(excess_risk, L * d ** (k - slip) / n))


@family("symbolic", "units that disagree", 5)
def units(draw: Draw) -> Pair:
    a = draw(fraction)
    right = a * L * D * d / (n * eps)
    wrong = right * draw(st.sampled_from([L, D, beta, mu])) ** draw(st.sampled_from([-1, 1, Rational(1, 2)]))
    return case(Units(), Rate(excess_risk, right)), case(Units(), Rate(excess_risk, wrong))


@family("symbolic", "add/remove for replace-one")
def neighbours_of_a_mean(draw: Draw) -> Pair:
    """Replacing one gradient of norm L moves their mean by 2L/n; adding one, by half as much."""
    steps = draw(st.sampled_from([Integer(1), T]))
    moved = 2 * L * steps / n
    noise = {True: moved / eps, False: L * steps / (n * eps)}
    true, false = (
        case(
            AtMost(moved / sigma, "moved over scale", against=eps),
            Eq(sigma, scale),
            kind=Kind.PRIVACY,
            guarantee=PureDP(eps),
        )
        for scale in noise.values()
    )
    return true, false
