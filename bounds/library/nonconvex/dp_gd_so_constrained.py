"""DP-GD-SO (dwang20, section 4.3.1, Algorithm 4.3.27): second-order stationary points of a convex set, privately.

Theorem 4.3.3 with Lemmas 4.3.8 to 4.3.10; α' = α/2, γ = √(ρα), γ' = γ/2. Definition 4.3.4 says what is aimed at. D is
the diameter of the set, Φ the share of the least q that step 8 finds. Solver:
dpcheck/solvers/nonconvex/dp_gd_so_constrained.py.
"""

from sympy import Eq, Expr, Ge, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, gamma, m, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.nonconvex.saddle_points import (
    SENSITIVITIES,
    B,
    F_next,
    F_now,
    H_size,
    M,
    a,
    alpha,
    bounded,
    by_moments,
    e_size,
    enough,
    extra,
    gradients,
    hessian_by_moments,
    hessian_lipschitz,
    in_turn,
    losses,
    more,
    rank,
    rest,
    rho_h,
    sigma_H,
    slack,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import Equals

D = quantity("D_set", "diameter of the set", parameter=1, printed="D", latex="D")
Phi = quantity("Phi_share", "share of the least value that step 8 finds", box=(1e-2, 1.0), printed="Φ", latex=r"\Phi")
theta = quantity("theta_so", "step towards u_t", box=(1e-4, 1.0), printed="θ", latex=r"\theta")
pace = quantity("pace_so", "step towards v_t", box=(1e-4, 1.0), printed="η", latex=r"\eta")
slope = quantity("slope_so", "r of step 8: how far <g_t, u - w_t> may rise", loss=1, printed="r", latex="r")
first = quantity("first_so", "-min over C of <grad F, w - w_t>", loss=1, printed="-min⟨∇F,w-w_t⟩")
second = quantity(
    "second_so", "-min of the quadratic form where <grad F, w - w_t> = 0", loss=1, printed="-min(w-w_t)ᵀ∇²F(w-w_t)"
)
fall_first = quantity("fall_first", "what a step towards v_t gains", loss=1, printed="F(w_t)-F(w_(t+1))")
fall_second = quantity("fall_second", "what a step towards u_t gains", loss=1, printed="F(w_t)-F(w_(t+1))")
first_form = quantity("first_form", "the first form of T in Theorem 4.3.3", printed="max{D²MB/α², B√ρD⁶/(Φ³α^1.5)}")
found = quantity("found_so", "-q(u_t)", loss=1, printed="-q(u_t)")

wide = Symbol("wide", nonnegative=True)
half, bent = alpha / 2, sqrt(rho_h * alpha) / 2  # α' and γ'
released = in_turn(rank)

# Privacy ---------------------------------------------------------------------------------------------
privacy = Claim(
    id="dwang20.theorem4.3.3.privacy",
    source=Source("dwang20", "Theorem 4.3.3, privacy", line=3916),
    kind=Kind.PRIVACY,
    says="There are c₁, c₂ and c₃ with which DP-GD-SO is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*losses, eps < c1 * T],
    states=Eq(sigma_n, by_moments),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[Cites("dwang20.lemma2.1.7", {m: n})],
    checks=[
        Accountant(gradients(), "linear losses, the gradients alone: T cancels, so a condition on it limits nothing")
    ],
)

privacy_corrected = Claim(
    id="dwang20.theorem4.3.3.privacy.corrected",
    source=Source("dwang20", "Theorem 4.3.3, privacy", line=3916),
    kind=Kind.PRIVACY,
    says="With c₂ = c₃ = 16, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4), Eq(sigma_H, hessian_by_moments.subs(c, 16))],
    states=Eq(sigma_n, by_moments.subs(c, 16)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem4.3.3.privacy",
    checks=[Accountant(in_turn(), SENSITIVITIES)],
)

hessian_noise = Claim(
    id="dwang20.theorem4.3.3.hessian",
    source=Source("dwang20", "Theorem 4.3.3, privacy, the noise on Hessians", line=3916),
    kind=Kind.PRIVACY,
    says="The same of the noise on Hessians.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4), Eq(sigma_n, by_moments.subs(c, 16))],
    states=Eq(sigma_H, hessian_by_moments.subs(c, 16)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(in_turn(), SENSITIVITIES)],
)

# Definition 4.3.4 compares ⟨∇F, w-w_t⟩ with α and a quadratic form with √(ρα): units are dropped in this section.
OF_THETA = Equals(Phi * bent / (rho_h * D**3), "θ = Φγ'/(ρD³), with which Lemma 4.3.10 is proved")
OF_SLOPE = Equals(Phi**2 * bent**2 / (18 * rho_h * D**3), "r = Φ²γ'²/(18ρD³), with which Lemma 4.3.10 is proved")

# Step sizes ------------------------------------------------------------------------------------------
printed_theta = Claim(
    id="dwang20.theorem4.3.3.theta",
    source=Source("dwang20", "Theorem 4.3.3, θ", line=3916),
    kind=Kind.IDENTITY,
    says="θ = Φα/(2D³).",
    assumes=losses,
    states=Eq(theta, Phi * alpha / (2 * D**3)),
    misprint_of="dwang20.lemma4.3.10.theta",
    ignores_units=True,
    checks=[OF_THETA],
)

theta_corrected = Claim(
    id="dwang20.theorem4.3.3.theta.corrected",
    source=Source("dwang20", "Theorem 4.3.3, θ", line=3916),
    kind=Kind.IDENTITY,
    says="θ = Φ√(α/ρ)/(2D³).",
    assumes=losses,
    states=Eq(theta, Phi * sqrt(alpha / rho_h) / (2 * D**3)),
    corrects="dwang20.theorem4.3.3.theta",
    ignores_units=True,
    checks=[OF_THETA],
)

proof_theta = Claim(
    id="dwang20.lemma4.3.10.theta",
    source=Source("dwang20", "proof of Lemma 4.3.10, θ = Φγ'/(ρD³) with γ' = √(ρα)/2", line=4364),
    kind=Kind.IDENTITY,
    says="θ = Φ√(α/ρ)/(2D³).",
    assumes=losses,
    states=Eq(theta, Phi * sqrt(alpha / rho_h) / (2 * D**3)),
    ignores_units=True,
    checks=[OF_THETA],
)

printed_slope = Claim(
    id="dwang20.theorem4.3.3.slope",
    source=Source("dwang20", "Theorem 4.3.3, r (Φ²Φα for the Φ²·ρα that γ'² = ρα/4 gives)", line=3916),
    kind=Kind.IDENTITY,
    says="r = Φ³α/(72ρD³).",
    assumes=losses,
    states=Eq(slope, Phi**3 * alpha / (72 * rho_h * D**3)),
    misprint_of="dwang20.lemma4.3.10.slope",
    ignores_units=True,
    checks=[OF_SLOPE],
)

slope_corrected = Claim(
    id="dwang20.theorem4.3.3.slope.corrected",
    source=Source("dwang20", "Theorem 4.3.3, r, with ρ for the last Φ", line=3916),
    kind=Kind.IDENTITY,
    says="r = Φ²α/(72D³).",
    assumes=losses,
    states=Eq(slope, Phi**2 * alpha / (72 * D**3)),
    corrects="dwang20.theorem4.3.3.slope",
    ignores_units=True,
    checks=[OF_SLOPE],
)

proof_slope = Claim(
    id="dwang20.lemma4.3.10.slope",
    source=Source("dwang20", "proof of Theorem 4.3.3, r = Φ²γ'²/(18ρD³) with γ' = √(ρα)/2", line=4318),
    kind=Kind.IDENTITY,
    says="r = Φ²α/(72D³).",
    assumes=losses,
    states=Eq(slope, Phi**2 * alpha / (72 * D**3)),
    ignores_units=True,
    checks=[OF_SLOPE],
)

# One step --------------------------------------------------------------------------------------------
most_e, most_H = Phi**2 * bent**2 / (18 * rho_h * D**4), Phi * bent / (9 * D**2)
quiet = [e_size <= most_e, e_size <= half / (4 * D), H_size <= most_H]  # (4.69), (4.70)
quieter = {e_size: most_e / (1 + more), H_size: most_H / (1 + rest)}

lemma9 = Claim(
    id="dwang20.lemma4.3.9",
    source=Source("dwang20", "Lemma 4.3.9", line=4342),
    kind=Kind.UTILITY,
    says="What a step towards v_t gains.",
    assumes=[*bounded, e_size <= half / (4 * D), Eq(pace, half / (D**2 * M))],
    states=Le(F_next, F_now - half**2 / (4 * D**2 * M)),
    ignores_units=True,
    checks=[
        Chain(
            F_next,
            Step(
                "<=",
                F_now - pace * half + pace * D * e_size + M / 2 * pace**2 * D**2,
                because=Premise("F is M-smooth, ⟨g_t, v_t-w_t⟩ ≤ -α', and ‖v_t-w_t‖ ≤ D"),
            ),
            Step("<=", STATEMENT, where={e_size: half / (4 * D) / (1 + more)}),
        )
    ],
)

lemma10 = Claim(
    id="dwang20.lemma4.3.10",
    source=Source("dwang20", "Lemma 4.3.10; the cubic term has exponent 3, as its second line has it", line=4356),
    kind=Kind.UTILITY,
    says="What a step towards u_t gains.",
    assumes=[
        *losses,
        e_size <= most_e,
        H_size <= most_H,
        Eq(theta, Phi * bent / (rho_h * D**3)),
        Eq(slope, Phi**2 * bent**2 / (18 * rho_h * D**3)),
    ],
    states=Le(F_next, F_now - Phi**3 * bent**3 / (6 * rho_h**2 * D**6)),
    ignores_units=True,
    checks=[
        Chain(
            F_next,
            Step(
                "<=",
                F_now
                + theta * slope
                + theta * D * e_size
                - theta**2 * Phi * bent / 2
                + theta**2 * D**2 * H_size / 2
                + theta**3 * rho_h * D**3 / 6,
                because=Premise("the Hessian is ρ-Lipschitz, ⟨g_t, u_t-w_t⟩ ≤ r, q(u_t) ≤ -Φγ', and ‖u_t-w_t‖ ≤ D"),
                uses=[hessian_lipschitz],
            ),
            Step("<=", STATEMENT, where=quieter),
        )
    ],
)

gain_first = Claim(
    id="dwang20.lemma4.3.9.gain",
    source=Source("dwang20", "Lemma 4.3.9, as a gain", line=4342),
    kind=Kind.UTILITY,
    says="The same, as what the step gains.",
    assumes=lemma9.assumes,
    states=Ge(fall_first, half**2 / (4 * D**2 * M)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            fall_first,
            Step("=", F_now - F_next, because=Premise("that is what the step gains")),
            Step(">=", because=Cites("dwang20.lemma4.3.9")),
            Step("=", STATEMENT),
        )
    ],
)

gain_second = Claim(
    id="dwang20.lemma4.3.10.gain",
    source=Source("dwang20", "Lemma 4.3.10, as a gain", line=4356),
    kind=Kind.UTILITY,
    says="The same, as what the step gains.",
    assumes=lemma10.assumes,
    states=Ge(fall_second, Phi**3 * bent**3 / (6 * rho_h**2 * D**6)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            fall_second,
            Step("=", F_now - F_next, because=Premise("that is what the step gains")),
            Step(">=", because=Cites("dwang20.lemma4.3.10")),
            Step("=", STATEMENT),
        )
    ],
)

# The output ------------------------------------------------------------------------------------------
out_first = Claim(
    id="dwang20.theorem4.3.3.first_order",
    source=Source("dwang20", "proof of Theorem 4.3.3, the first condition at the output", line=4378),
    kind=Kind.UTILITY,
    says="⟨∇F(w_t), w-w_t⟩ ≥ -α over the set (max is printed for min).",
    assumes=[*bounded, e_size <= half / (4 * D)],
    states=Le(first, alpha),
    ignores_units=True,
    checks=[
        Chain(
            first,
            Step("<=", half + D * e_size, because=Premise("step 4 did not step: ⟨g_t, v-w_t⟩ ≥ -α/2, and ‖v-w_t‖ ≤ D")),
            Step("<=", STATEMENT, where={e_size: half / (4 * D) / (1 + more)}),
        )
    ],
)

out_second = Claim(
    id="dwang20.theorem4.3.3.second_order",
    source=Source("dwang20", "proof of Theorem 4.3.3, the second condition at the output", line=4388),
    kind=Kind.UTILITY,
    says="(w-w_t)ᵀ∇²F(w-w_t) ≥ -√(ρα) where ⟨∇F, w-w_t⟩ = 0; u_t is within Φ of the best, so Φ·min q ≥ q(u_t).",
    assumes=[*losses, e_size <= most_e, H_size <= most_H, found <= Phi * bent, Phi <= Rational(9, 5)],
    states=Le(second, 2 * bent),
    ignores_units=True,
    checks=[
        Chain(
            second,
            Step(
                "<=",
                found / Phi + D**2 * H_size,
                because=Premise("⟨g_t, w-w_t⟩ ≤ D‖ε‖ ≤ r there, by the Hessians' ρ; q(u_t) ≤ Φ·min q; noise"),
                uses=[hessian_lipschitz],
            ),
            Step("<=", bent + Phi * bent / 9, where={found: Phi * bent / (1 + more), H_size: most_H / (1 + rest)}),
            Step("<=", STATEMENT, where={Phi: Rational(9, 5) / (1 + extra)}),
        )
    ],
)

# How many records ------------------------------------------------------------------------------------
either = D**2 * M * B / alpha**2 + B * sqrt(rho_h) * D**6 / (Phi**3 * alpha ** Rational(3, 2))

steps = Claim(
    id="dwang20.theorem4.3.3.steps",
    source=Source("dwang20", "Theorem 4.3.3, T", line=3916),
    kind=Kind.UTILITY,
    says="T = O(max{D²MB/α², B√ρD⁶/(Φ³α^1.5)}), the maximum written as a sum.",
    assumes=[
        *losses,
        *quiet,
        Eq(pace, half / (D**2 * M)),
        Eq(theta, Phi * bent / (rho_h * D**3)),
        Eq(slope, Phi**2 * bent**2 / (18 * rho_h * D**3)),
    ],
    states=Rate(T, either),
    ignores_units=True,
    checks=[
        Chain(
            T,
            Step(
                "<=",
                B / fall_first + B / fall_second,
                because=Premise("steps of either kind gain B at most together, and so do as many times the least gain"),
            ),
            Step("<=", because=Cites("dwang20.lemma4.3.9.gain")),
            Step("<=", because=Cites("dwang20.lemma4.3.10.gain")),
            Step("<=", 48 * STATEMENT),
        )
    ],
)

product = Claim(
    id="dwang20.theorem4.3.3.product",
    source=Source("dwang20", "Theorem 4.3.3, T, the second form", line=3916),
    kind=Kind.UTILITY,
    says="The maximum is O(BM√ρD⁶/(Φ³α²)), where D, M and ρ are at least 1, Φ and α at most 1.",
    assumes=losses,
    added=[D >= 1, M >= 1, rho_h >= 1, Phi <= 1, alpha <= 1],
    states=Rate(first_form, B * M * sqrt(rho_h) * D**6 / (Phi**3 * alpha**2)),
    ignores_units=True,
    checks=[
        Chain(
            first_form,
            Step("<=", either, because=Premise("the first form with the Hessians' ρ, its maximum a sum"),
                 uses=[hessian_lipschitz]),
            Step("<=", 2 * STATEMENT, where={
                D: 1 + extra, M: 1 + more, rho_h: (1 + rest) ** 2, Phi: 1 / (1 + wide), alpha: 1 / (1 + slack) ** 2}),
        )
    ],
)

many = B * M * sqrt(rho_h) * D**6 / (Phi**3 * alpha**2)
AS_LEMMAS = "(4.69), (4.70), enough where Hessians are ρ-Lipschitz (Lemma 4.3.10), solved for n (4.71), c₂ = c₃ = 16"
SIZES = Premise(f"{AS_LEMMAS}; ln T is left out, and 1 ≤ 2·ln(1/ξ)")
not_sure = gamma <= Rational(1, 2)


def records(part: str, condition: str, from_noise: Expr, printed: Expr) -> Claim:
    """One of the three sizes of Theorem 4.3.3, as its proof prints them last, with Φ."""
    return Claim(
        id=f"dwang20.theorem4.3.3.{part}",
        source=Source("dwang20", f"Theorem 4.3.3, the sample size, for {condition}", line=4394),
        kind=Kind.UTILITY,
        says=f"Records with which the noise is small enough for {condition}; Ω̃ leaves logarithms out.",
        assumes=[*losses, Eq(T, many)],
        added=[not_sure],
        states=Rate(enough, printed),
        ignores_units=True,
        checks=[
            Chain(
                enough,
                Step("<=", 4 * sqrt(T * a) * from_noise / eps, because=SIZES, uses=[hessian_lipschitz, not_sure]),
                Step("<=", 300 * STATEMENT),
            )
        ],
    )


fourth, root = rho_h ** Rational(1, 4), sqrt(M * B * a) / (eps * alpha)
theorem3 = records(
    "records",
    "the slope r of step 8",
    sqrt(d) * G * log(1 / gamma) * 18 * rho_h * D**4 / (Phi**2 * bent**2),
    G * D**7 * sqrt(d) * root * log(1 / gamma) * fourth / (Phi ** Rational(7, 2) * alpha),
)
by_step = records(
    "records_step",
    "the test of step 4",
    sqrt(d) * G * log(1 / gamma) * 4 * D / half,
    G * D**4 * sqrt(d) * root * log(1 / gamma) * fourth / (Phi ** Rational(3, 2) * alpha),
)
by_hessian = records(
    "records_hessian",
    "the Hessian",
    2 * log(1 / gamma) * M * d * 9 * D**2 / (Phi * bent),
    M * D**5 * d * root * log(1 / gamma) / (fourth * Phi ** Rational(5, 2) * sqrt(alpha)),
)

remark1 = Claim(
    id="dwang20.remark4.3.1",
    source=Source("dwang20", "Remark 4.3.1, all but d, ε and α left out", line=3962),
    kind=Kind.UTILITY,
    says="d/(εα²) records are enough in the constrained case; logarithms are left out.",
    assumes=[*losses, Eq(T, many)],
    added=[Eq(quantity_, 1) for quantity_ in (G, M, B, rho_h, D, Phi)] + [alpha <= 1],
    states=Rate(enough, d / (eps * alpha**2)),
    ignores_units=True,
    checks=[
        Chain(
            enough,
            Step(
                "<=",
                4
                * sqrt(T)
                * (
                    sqrt(d) * G * 18 * rho_h * D**4 / (Phi**2 * bent**2)
                    + sqrt(d) * G * 4 * D / half
                    + M * d * 9 * D**2 / (Phi * bent)
                )
                / eps,
                because=Premise(f"{AS_LEMMAS}; logarithms are left out"),
                uses=[hessian_lipschitz],
            ),
            Step("<=", 500 * STATEMENT, where={d: (1 + more) ** 2, alpha: 1 / (1 + rest) ** 2}),
        )
    ],
)
