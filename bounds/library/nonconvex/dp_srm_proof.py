"""The proof of Theorem 4.5.4 of lwang21 (DP-SRM) at its parameters: (4.9.17) to (4.9.20), and its outline.

What they are put into: dp_srm_estimator.py. The theorem: dp_srm.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, c1, c2, d, delta, eps, gradient_norm, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_estimator import estimate_bound, roots
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import split
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import (
    chosen_order,
    first_batch,
    later_batch,
    later_reach,
    losses,
    momentum,
    sigma_first,
    slowing,
    target,
)
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, Less, Minimises, NoConstant, Proof, Same, Sharper

# Theorem 4.5.4's parameters, constants as in the proof.
accuracy = sqrt(G) * (L_s * gap0 * d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
batch_of_proof = G**2 / (L_s * gap0)
first_of_proof = G**2 / (accuracy * L_s * gap0)
steps_of_proof = 4 * (L_s * gap0) ** 2 / accuracy**3  # and 1 more, rounded down

balance = quantity("balance", "G sqrt(L g0 d log(1/delta))/(n eps)", loss=2, parameter=-2, printed="K")
noise_part = quantity("noise_part", "d sigma_0^2/(T zeta gamma)", loss=1, parameter=-1, printed="dσ₀²/(Tζγ)")
later_part = quantity("srm_later_part", "d sigma^2/gamma", loss=2, parameter=-2, printed="dσ²/γ")
both_parts = quantity(
    "srm_both_parts", "(T d sigma^2 + d sigma_0^2)/(T gamma)", loss=2, parameter=-2, printed="d(σ²+σ₀²/T)/γ"
)
u, v = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True)
big = Symbol("big", positive=True)

# The parameters ------------------------------------------------------------------------------------
chosen = {momentum: sqrt(2) * target / slowing, later_batch: G**2 / (slowing * target),
          first_batch: G**2 / (target * L_s * gap0)}
quiet = {sigma_n: Integer(0), sigma_first: Integer(0)}


def with_parameters(bound):  # type: ignore[no-untyped-def]
    """A bound without its noise, at the parameters of the proof and the least T."""
    return bound.subs(quiet).subs(chosen, simultaneous=True).subs(T, 4 * slowing * L_s * gap0 / target**2)


plain = with_parameters(estimate_bound + sum(roots))
exact_plain = 3 * target + sqrt(2) * target + 2 * sqrt(2) * target + target / (4 * sqrt(2)) + (
    2 ** Rational(1, 4) + 2 ** Rational(3, 4) + 1 / (2 * 2 ** Rational(1, 4))
) * target

equation18 = Claim(
    id="lwang21.equation4.9.18",
    source=Source("lwang21", "equation (4.9.18)"),
    kind=Kind.UTILITY,
    says="Without noise, at the proof's γ, b, b₀ and T, (4.9.15) corrected and (4.9.16) are 15ζ at most, for G ≥ 1.",
    assumes=[*losses, G >= 1],
    states=Le(gradient_norm, 15 * target),
    ignores_units=True,
    checks=[
        AtMost(plain, "the terms one by one", {G: 1 + u}, exact=False),
        AtMost(plain, "each at most what it is for G = 1", {G: 1 + u}, exact=False, against=exact_plain),
        Sharper(exact_plain, "10.7ζ by the same terms: 3ζ stand for the 6ζ of (4.9.15)"),
    ],
    cites=[Cites("lwang21.equation4.9.15.corrected"), Cites("lwang21.equation4.9.16")],
)

equation18_any = Claim(
    id="lwang21.equation4.9.18.any_g",
    source=Source("lwang21", "before equation (4.9.18), without loss of generality G > 1"),
    kind=Kind.UTILITY,
    says="The same for every G: the terms of (4.9.17) are at most 15ζ.",
    assumes=losses,
    states=Le(plain, 15 * target),
    ignores_units=True,
    checks=[AtMost(plain, "√2ζ/G² alone exceeds it: γ = √2ζ/n₀ is no pure number, so G cannot be scaled away")],
)

order_over = chosen_order / (split * eps)  # what (4.9.19) writes as log(1/δ)/ε²

equation19 = Claim(
    id="lwang21.equation4.9.19",
    source=Source("lwang21", "equation (4.9.19)"),
    kind=Kind.UTILITY,
    says="σ² with log(1/δ)/ε² for α/(βε), as printed.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(14 * T * log(1 / delta)) * later_reach / (n * eps)),
    checks=[Equals(sqrt(14 * T * order_over) * later_reach / n, "Theorem 4.5.1 with α = log(1/δ)/((1-β)ε) + 1")],
)

equation19_corrected = Claim(
    id="lwang21.equation4.9.19.corrected",
    source=Source("lwang21", "equation (4.9.19)"),
    kind=Kind.UTILITY,
    says="At β = 1/2 it is at most √6 times that for ε ≤ log(1/δ).",
    assumes=[*losses, Eq(split, Rational(1, 2)), eps <= log(1 / delta)],
    states=Le(sigma_n, sqrt(6 * 14 * T * log(1 / delta)) * later_reach / (n * eps)),
    corrects="lwang21.equation4.9.19",
    checks=[
        Proof(
            [
                Less(
                    "α/(βε) = (2log(1/δ)/ε + 1)·2/ε ≤ 6·log(1/δ)/ε²", order_over.subs(split, Rational(1, 2)),
                    6 * log(1 / delta) / eps**2, {delta: exp(-eps * (1 + u))},
                )
            ]
        )
    ],
)

first_noise = d * 14 * G**2 * log(1 / delta) / (n * eps) ** 2 / target * slowing / (sqrt(2) * target)

equation20 = Claim(
    id="lwang21.equation4.9.20",
    source=Source("lwang21", "equation (4.9.20), the term of C₅"),
    kind=Kind.UTILITY,
    says="dσ₀²/(Tζγ) is of order n₀dG²log(1/δ)/(nε)², as printed.",
    states=Rate(noise_part, slowing * d * G**2 * log(1 / delta) / (n * eps) ** 2),
    ignores_units=True,
    checks=[
        NoConstant(
            first_noise,
            {n: big, eps: 1, d: 1, delta: Rational(1, 100), G: 1, slowing: sqrt(big), target: 1 / sqrt(big)},
            big, "with (4.9.19) and γ = √2ζ/n₀ it is 7√2·n₀dG²log(1/δ)/((nε)²ζ²)",
        )
    ],
)

equation20_corrected = Claim(
    id="lwang21.equation4.9.20.corrected",
    source=Source("lwang21", "equation (4.9.20), the term of C₅"),
    kind=Kind.UTILITY,
    says="Over ζ², which makes it of order ζ.",
    states=Rate(noise_part, slowing * d * G**2 * log(1 / delta) / ((n * eps) ** 2 * target**2)),
    corrects="lwang21.equation4.9.20",
    ignores_units=True,
    checks=[Follows(first_noise, 7 * sqrt(2), "with (4.9.19) and γ = √2ζ/n₀")],
)

# (4.9.20) without C₅: with (4.9.19), (1-γ)ζ/n₀ + γG ≤ (1+√2)Gζ/n₀, T = 4n₀L·g₀/ζ² and γ = √2ζ/n₀.
variance = log(1 / delta) / (n * eps) ** 2
later_noise = d * 14 * 4 * slowing * L_s * gap0 / target**2 * ((1 + sqrt(2)) * G * target / slowing) ** 2 * variance

other_terms = Claim(
    id="lwang21.equation4.9.20.terms",
    source=Source("lwang21", "equation (4.9.20), the terms of C₃, C₄ and C₆"),
    kind=Kind.UTILITY,
    says="dσ²/(ζγ) is of order L·g₀G²d·log(1/δ)/(nεζ)²; the roots of C₄ and C₆ are as printed too. G ≥ 1.",
    assumes=[*losses, G >= 1],
    states=Rate(later_part, L_s * gap0 * G**2 * d * log(1 / delta) / (n * eps * target) ** 2),
    ignores_units=True,
    checks=[
        Follows(later_noise * slowing / (sqrt(2) * target) / target, Integer(231), "C₃, by γ = √2ζ/n₀"),
        Proof(
            [
                Same(
                    "C₄: the square of √(dσ²/γ) is G²L·g₀·d·log(1/δ)/((nε)²ζ) times a number",
                    later_noise * slowing / (sqrt(2) * target),
                    28 * sqrt(2) * (1 + sqrt(2)) ** 2 * G**2 * L_s * gap0 * d * variance / target,
                ),
                Same(
                    "C₆: the square of √(dσ₀²/(Tγ)) is n₀dG²log(1/δ)/((nε)²ζ) times a number",
                    d * 14 * G**2 * variance * slowing / (sqrt(2) * target),
                    7 * sqrt(2) * slowing * d * G**2 * variance / target,
                ),
            ]
        ),
    ],
)

# All eleven terms over ζ: σ's at most √6 times (4.9.19), T at most 5n₀L·g₀/ζ², γG + (1-γ)ζ/n₀ at most (1+√2)Gζ/n₀.
later2 = 6 * 14 * 5 * (1 + sqrt(2)) ** 2 / sqrt(2)  # dσ²/(ζγ) over ζ²
first2 = 6 * 14 / sqrt(2)  # dσ₀²/(Tζγ) over ζ
constant = 11 + later2 + sqrt(later2) + first2 + sqrt(first2)

total = Claim(
    id="lwang21.equation4.9.20.total",
    source=Source("lwang21", "equation (4.9.20) to the end of the proof"),
    kind=Kind.UTILITY,
    says="With ζ of Theorem 4.5.4 the whole bound is a number times ζ (C₇, which the source leaves open), for ζ ≤ 1.",
    assumes=[*losses, Eq(split, Rational(1, 2)), eps <= log(1 / delta), G >= 1, target <= 1, slowing >= 1],
    states=Le(gradient_norm, 1900 * target),
    ignores_units=True,
    checks=[
        Proof(
            [
                Less("(1-γ)ζ/n₀ + γG ≤ (1+√2)Gζ/n₀ for G ≥ 1", target / slowing + sqrt(2) * target / slowing * G,
                     (1 + sqrt(2)) * G * target / slowing, {G: 1 + u}),
                Less("T ≤ 4n₀L·g₀/ζ² + 1 ≤ 5n₀L·g₀/ζ² as n₀L·g₀ = n₀²ζ ≥ ζ²",
                     4 * slowing * (slowing * target) / target**2 + 1, 5 * slowing * (slowing * target) / target**2,
                     {slowing: 1 + u, target: 1 / (1 + v)}),
                Same("(nε)² = G²·L·g₀·d·log(1/δ)/ζ⁴: dσ²/(ζγ) is later2·ζ², as L·g₀ = n₀ζ",
                     d * 6 * 14 * 5 * slowing * (slowing * target) / target**2
                     * ((1 + sqrt(2)) * G * target / slowing) ** 2 * log(1 / delta)
                     / (G**2 * slowing * target * d * log(1 / delta) / target**4) * slowing / (sqrt(2) * target**2),
                     later2 * target**2),
                Same("and dσ₀²/(Tζγ) is first2·ζ",
                     d * 6 * 14 * G**2 * log(1 / delta) / (G**2 * slowing * target * d * log(1 / delta) / target**4)
                     * slowing / (sqrt(2) * target**2),
                     first2 * target),
                Less("their roots times √ζ, all powers of ζ ≤ 1 at most ζ: the numbers add up",
                     constant, Integer(1900)),
            ]
        )
    ],
    cites=[Cites("lwang21.equation4.9.18"), Cites("lwang21.equation4.9.19.corrected")],
)

best_target = Claim(
    id="lwang21.section4.6.target",
    source=Source("lwang21", "section 4.6.2, the smallest ζ"),
    kind=Kind.UTILITY,
    says="C₁ζ + C₂K/ζ with K = √(L·g₀·d·log(1/δ))G/(nε) is least at √(C₂K/C₁), Theorem 4.5.4's ζ up to the constants.",
    states=Eq(target, sqrt(c2 * balance / c1)),
    hidden=(c1, c2),
    checks=[
        Minimises(c1 * target + c2 * balance / target, target, None, "C₁ζ + C₂K/ζ"),
        Proof(
            [
                Same(
                    "√K is the ζ of Theorem 4.5.4",
                    sqrt(sqrt(L_s * gap0 * d * log(1 / delta)) * G / (n * eps)),
                    accuracy,
                )
            ]
        ),
    ],
)

# Section 4.6.2, the outline ------------------------------------------------------------------------
# The noise of Theorem 4.5.1 per unit, and T of the proof where L·g₀ = n₀ζ: σ₀ = G, σ = (1-γ)ζ/n₀ + γG, T = 4n₀²/ζ.
dominated = Claim(
    id="lwang21.section4.6.dominated",
    source=Source("lwang21", "section 4.6.2, after the bound on the estimators' error"),
    kind=Kind.UTILITY,
    says="At the theorem's parameters the noise term (Tdσ² + dσ₀²)/(Tγ) is dominated by dσ²/γ.",
    states=Rate(both_parts, d * sigma_n**2 / momentum),
    checks=[
        NoConstant(
            (T * d * sigma_n**2 + d * sigma_first**2) / (T * momentum),
            {d: 1, G: 1, slowing: big, momentum: sqrt(2) / big**2, T: 4 * big**3, sigma_first: 1,
             sigma_n: (1 - sqrt(2) / big**2) / big**2 + sqrt(2) / big**2},
            big, "ζ = 1/n₀, G = L·g₀ = 1: σ² falls like ζ⁴, and T, which divides σ₀², grows like 1/ζ³ only", at=1e3,
        )
    ],
)

dominated_corrected = Claim(
    id="lwang21.section4.6.dominated.corrected",
    source=Source("lwang21", "section 4.6.2, after the bound on the estimators' error"),
    kind=Kind.UTILITY,
    says="It is the other way round: dσ²/γ is at most 24ζ times dσ₀²/(Tγ), for G ≥ 1 and T of the proof.",
    assumes=[*losses, G >= 1, Setting("T = 4n₀²/ζ, γ = √2ζ/n₀ ≤ 1, the noise of Theorem 4.5.1")],
    states=Le(later_part, 24 * target * d * sigma_first**2 / (T * momentum)),
    corrects="lwang21.section4.6.dominated",
    ignores_units=True,
    checks=[
        Proof(
            [
                Less("σ ≤ (1+√2)(ζ/n₀)·σ₀: ζ/n₀ + √2(ζ/n₀)G, over σ₀ = G", target / slowing * (1 + sqrt(2) * G) / G,
                     (1 + sqrt(2)) * target / slowing, {G: 1 + u}),
                Less("so Tσ² ≤ 4(1+√2)²ζ·σ₀² with T = 4n₀²/ζ",
                     4 * slowing**2 / target * ((1 + sqrt(2)) * target / slowing) ** 2, 24 * target),
            ]
        )
    ],
)

# The four noise terms of (4.9.20), C₅ corrected, with n₀ = L·g₀/ζ and K as in section 4.6.2.
noise_terms = {
    "C₃": balance**2 / target**2, "C₄": balance / sqrt(target), "C₅": balance**2 / target**3, "C₆": balance / target,
}

combined = Claim(
    id="lwang21.section4.6.combined",
    source=Source("lwang21", "section 4.6.2, the bound for any ζ"),
    kind=Kind.UTILITY,
    says="The noise terms of (4.9.20) are of order ζ + K/ζ for every ζ, K = √(L·g₀·d·log(1/δ))G/(nε).",
    states=Rate(both_parts, target + balance / target),
    ignores_units=True,
    checks=[
        NoConstant(
            sum(noise_terms.values()), {balance: 1 / big, target: 1 / big ** Rational(3, 4)}, big,
            "below √K the term of C₅ is K²/ζ³, whose share of K/ζ grows: 'the smallest ζ' cannot be solved for there",
        )
    ],
)

combined_corrected = Claim(
    id="lwang21.section4.6.combined.corrected",
    source=Source("lwang21", "section 4.6.2, the bound for any ζ"),
    kind=Kind.UTILITY,
    says="From ζ = √K, the theorem's, up to 1 they are.",
    assumes=[balance <= target**2, target <= 1],
    states=Rate(both_parts, target + balance / target),
    corrects="lwang21.section4.6.combined",
    ignores_units=True,
    checks=[
        Proof(
            [
                Less(f"{name} ≤ K/ζ", term, balance / target, {balance: (1 + v) ** -4 / (1 + u), target: (1 + v) ** -2})
                for name, term in noise_terms.items()
            ],
            "hidden constant 4 suffices: ζ = (1+v)^(-2), K = ζ²/(1+u)",
        )
    ],
)

fixed = {G: Integer(1), L_s: Integer(1), gap0: Integer(1)}

batches = Claim(
    id="lwang21.theorem4.5.4.batches",
    source=Source("lwang21", "Theorem 4.5.4 and after Remark 4.5.5, b₀ and b"),
    kind=Kind.COST,
    says="With G, L and g₀ fixed b is a number and b₀, the only large batch, of order √(nε)/d^(1/4), here δ ≤ 1/e.",
    assumes=[delta <= exp(-1), Setting("G = L = g₀ = 1")],
    states=Rate(first_batch, sqrt(n * eps) / d ** Rational(1, 4)),
    checks=[
        Follows(first_of_proof.subs(fixed), Integer(1), "b₀ = G²/(ζL·g₀)", {delta: exp(-((1 + u) ** 4))}),
        Proof([Same("b = G²/(n₀ζ) = G²/(L·g₀)", G**2 / (L_s * gap0 / target * target), batch_of_proof)]),
    ],
)
