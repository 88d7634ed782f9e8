"""DP-FW-L1 for the population risk (dwang20, section 4.2.2, Algorithm 4.2.22, Theorem 4.2.6), over the unit l1 ball
with entries of x in [-1, 1], and what section 4.2.4 proves of DP-FW-L1 under l1 smoothness (Theorem 4.2.14).

Lemmas stand in glm_risk.py; the selections are those of dp_fw_l1. Solver: dpcheck/solvers/nonconvex/dp_fw_l1_glm.py.
"""

from dataclasses import replace

from sympy import Eq, Expr, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Hypothesis, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.language.symbols import T, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, gap0
from dpcheck.bounds.library.nonconvex import dp_fw_l1
from dpcheck.bounds.library.nonconvex.dp_fw_l1 import eps0, points, score_gap, size_1, stated_eps0, tail
from dpcheck.bounds.library.nonconvex.glm_risk import (
    GLM,
    ROBUST,
    STEEP,
    B_link,
    C_link,
    C_res,
    bend_glm,
    c_link,
    c_res,
    glm_constant,
    lipschitz_glm,
    pop_gap,
    pop_inner,
    pop_likely,
    robust_slope,
    slope_glm,
    slope_res,
    smooth_glm,
)
from dpcheck.bounds.library.nonconvex.stationarity import a, fallen, gap_t, likely_gap, miss, p, pace, s, v, x
from dpcheck.bounds.privacy.iterate_accountants import SelectionAccountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

M1 = quantity("M_l1", "smoothness in l1 of each loss", loss=1, parameter=-2, printed="M", latex="M")
across = quantity("across", "l1 diameter of the set", parameter=1, printed="diam₁(C)", latex=r"\mathrm{diam}_1(C)")
far = Symbol("far", nonnegative=True)
k = Symbol("k", positive=True)

# The losses, and what a record moves ----------------------------------------------------------------
LIPSCHITZ = ("theorem4.2.6.lipschitz", 3792, "proof of Theorem 4.2.6, ‖∇ℓ‖∞", slope_glm, lipschitz_glm)
SMOOTH = ("theorem4.2.6.smooth", 3801, "proof of Theorem 4.2.6, smoothness in l1", bend_glm, smooth_glm)
steep, steep_corrected = (glm_constant(*LIPSCHITZ, fixed=fixed) for fixed in (False, True))
bent, bent_corrected = (glm_constant(*SMOOTH, fixed=fixed) for fixed in (False, True))


def moves(part: str, losses: Setting, size: Expr, gradient: Symbol, bound: Claim) -> Claim:
    """The sensitivity of a score, in order."""
    return Claim(
        id=f"dwang20.theorem4.2.6.{part}", kind=Kind.SENSITIVITY,
        source=Source("dwang20", "Theorem 4.2.6, the sensitivities", line=3337),
        says="How far a replaced record moves the score of a corner of the unit l1 ball.",
        assumes=[losses],
        states=Rate(score_gap, size / n),
        ignores_units=True,
        checks=[
            Chain(
                score_gap,
                Step("<=", 2 * gradient / n, because=Premise(
                    "Hölder: a corner has ‖s‖₁ = 1, and a record's gradient in l∞ gives way to another's, over n"),
                    uses=[losses]),
                Step("<=", because=Cites(bound.id)),
                Step("<=", 4 * STATEMENT),
            )
        ],
    )


sensitivity = moves("sensitivity", GLM, lipschitz_glm, slope_glm, steep_corrected)
sensitivity_robust = moves("robust_sensitivity", ROBUST, C_res, slope_res, robust_slope)

# Privacy: that of the selections --------------------------------------------------------------------
in_l1_smooth = [smooth(M1), *dp_fw_l1.in_l1]  # Assumption 4.2.4
PRIVATE, AT_GLM = "dwang20.theorem4.2.14.privacy", "dwang20.theorem4.2.6.privacy"
gap_privacy = replace(again(dp_fw_l1.privacy_twin, PRIVATE, "Theorem 4.2.14", 3762), assumes=in_l1_smooth)
gap_privacy_corrected = replace(
    again(dp_fw_l1.privacy_corrected_twin, f"{PRIVATE}.corrected", "Theorem 4.2.14", 3762),
    assumes=[*in_l1_smooth, Eq(eps0, stated_eps0)],
)
privacy = replace(
    again(dp_fw_l1.privacy_twin, AT_GLM, "Theorem 4.2.6, generalised linear model", 3337),
    says="With selections of ε₀ = ε/√(8T·ln(1/δ)), DP-FW-L1 is (ε, δ)-private; no condition on ε or δ is printed.",
    assumes=[GLM],
    checks=[
        SelectionAccountant(
            "the link σ(s) = s, d = 1, among records with x = 0: (1, 1) and (-1, 1) move a score by 2·C_σ(B+1)/n = 4/n "
            "at every w, a Δ of another constant moves the ε of failure alone; where steps are short each selection's "
            "loss is ±ε₀/2; in exact arithmetic x_R "
            "tells R and all that was selected"
        )
    ],
)
privacy_corrected = replace(
    again(dp_fw_l1.privacy_corrected_twin, f"{AT_GLM}.corrected", "Theorem 4.2.6, generalised linear model", 3337),
    assumes=[GLM, Eq(eps0, stated_eps0)],
    checks=[dp_fw_l1.by_ranges(GLM)],  # selections among the corners of the unit ball
)

# The gap under l1 smoothness (Theorem 4.2.14) --------------------------------------------------------
equation53 = replace(
    again(dp_fw_l1.equation12, "dwang20.equation4.53", "equation (4.53), β", 3770),
    assumes=[*in_l1_smooth, Eq(eps0, stated_eps0)],
)

equation54 = Claim(
    id="dwang20.equation4.54", kind=Kind.UTILITY,
    source=Source("dwang20", "equation (4.54); its ‖C‖₁ is the l1 diameter", line=3778),
    says="One step towards a corner that falls short of the best one by at most β, where F is smooth in l1.",
    assumes=[smooth(M1)],
    states=Le(gap_t, fallen + pace * miss + M1 * pace**2 * across**2 / 2),
    checks=[
        Chain(
            gap_t,
            Step("=", pace * p * (x - v), because=Premise("the gap is ⟨∇F(x), x-v⟩ at the best corner v")),
            Step("<=", STATEMENT, because=Slack({
                "F is M-smooth in l1": fallen + pace * p * (s - x) + M1 / 2 * pace**2 * far**2,
                "⟨∇F, s⟩ ≤ ⟨∇F, v⟩ + β": pace * (miss - p * s + p * v),
                "‖s-x‖₁ ≤ diam₁(C)": M1 / 2 * pace**2 * (across**2 - far**2),
            })),
        )
    ],
)

explicit = Claim(
    id="dwang20.theorem4.2.14.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 4.2.14, its last display, with the constant that O() hides", line=3786),
    says="The gap at w_R in the mean over R, with probability 1-η, any step up to 1.",
    assumes=[*in_l1_smooth, pace <= 1],
    states=Le(likely_gap, gap0 / (pace * T) + pace * M1 * across**2 / 2 + 4 * G * size_1 * tail / (n * eps0)),
    checks=[
        Chain(
            likely_gap,
            Step("=", gap_t / pace, because=Premise("R is uniform on 1..T: both stand for means over the steps")),
            Step("<=", because=Cites(equation54.id)),
            Step("<=", (gap0 / T + pace * miss + M1 * pace**2 * across**2 / 2) / pace,
                 because=Premise("the falls of F add up to F(w₁) - F(w_(T+1)) ≤ F(w₁) - F(w°)")),
            *dp_fw_l1.falls_short,
            Step("<=", STATEMENT),
        )
    ],
)  # fmt: skip

ell = log(points * n / gamma)
choices = [Eq(T, n * eps / (sqrt(a) * ell)), Eq(pace, sqrt(2 / (M1 * T)) / across), Eq(eps0, stated_eps0)]

not_long = Setting("T ≤ n")
theorem14 = Claim(
    id="dwang20.theorem4.2.14", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.14, (4.52); √ for ⁴√ in the text, the root of T over both logs", line=3764),
    says="The gap at w_R with these γ_t and T, in the mean over R, but for a probability η (γ here).",
    assumes=[*in_l1_smooth, *choices],
    added=[Eq(G, 1), Eq(M1, 1), Eq(gap0, 1), Eq(size_1, across), pace <= 1, not_long],
    states=Rate(likely_gap, across * a ** Rational(1, 4) * sqrt(ell) / sqrt(n * eps)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Chain(
            likely_gap,
            Step("<=", because=Cites(explicit.id)),
            Step("<=", explicit.formula.subs(tail, ell), because=Premise("T ≤ n, so ln(|A|T/η) ≤ ln(|A|n/η)"),
                 uses=[not_long]),
            Step("<=", 15 * STATEMENT),
        )
    ],
)

# The population risk (Theorem 4.2.6) -----------------------------------------------------------------
logs = log(n * d / gamma)
rate = a ** Rational(1, 4) * sqrt(logs) / sqrt(n * eps)
settings = [Eq(T, n * eps / (sqrt(a) * logs)), Eq(pace, sqrt(2 / T)), Eq(eps0, stated_eps0)]
length = k**4 / log(20 * k)
many = {d: Integer(1), delta: exp(-1), gamma: Rational(1, 20), n: k, eps: k**3, T: length, pace: sqrt(2 / length),
        eps0: k**3 / sqrt(8 * length)}  # fmt: skip
ANY = "at ε = n³ the rate falls as √(ln n)/n²; any algorithm, private or not, has with more than η = 0.05 at least"


def population(part: str, losses: Setting, least: Expr, why: str) -> Claim:
    """The population risk as printed: without a term for n records standing in for their law."""
    return Claim(
        id=f"dwang20.theorem4.2.6{part}", kind=Kind.UTILITY,
        source=Source("dwang20", f"Theorem 4.2.6{', robust regression' if part else ''}; ⁴√ for 4√ in the text", 3337),
        says="The excess population risk at w_R with these γ_t and T, but for a probability η (γ here).",
        assumes=[losses, lipschitz(G, "in l1"), *settings],
        states=Rate(pop_likely, rate), guarantee=ApproxDP(eps, delta), ignores_units=True,
        checks=[NoConstant(least / n, many, k, f"{ANY} {why}")],
    )


near = Setting("T ≤ n; gradients of L̂ and L_P are at most √(ln(nd/η)/n) apart in l∞")


def with_sample(claim: Claim, lemma: str, losses: list[Hypothesis], steep: int, bent: int, high: int) -> Claim:
    """The same with a term for the sample; constants are numbers, the last that by which a loss ranges over `high`."""
    drawn = sqrt(logs / n)
    return Claim(
        id=f"{claim.id}.corrected", source=claim.source, kind=Kind.UTILITY,
        says="With what n records leave open, √(ln(nd/η)/n): the printed rate where ε is at most √ln(1/δ).",
        assumes=[losses[0], *settings],
        added=[
            *losses[1:], lipschitz(Integer(steep), "in l1"), smooth(Integer(bent)), dp_fw_l1.IN_HULL, pace <= 1,
            near,
        ],
        states=Rate(pop_likely, rate + drawn), guarantee=ApproxDP(eps, delta), ignores_units=True, corrects=claim.id,
        checks=[
            Chain(
                pop_likely,
                Step("=", pop_gap, because=Premise("at w_R, in the mean over R")),
                Step("<=", because=Cites(lemma)),
                Step("=", pop_inner),
                Step("<=", likely_gap + 2 * drawn, because=Premise(
                    "gradients are so far apart in l∞ on the whole ball (Foster, Sekhari, Sridharan 2018); "
                    "w* is in it, and its l1 diameter is 2"), uses=[near]),
                Step("<=", because=Cites(explicit.id, {
                    gap0: Integer(high), M1: Integer(bent), G: Integer(steep), across: Integer(2), size_1: Integer(1),
                    points: 2 * d}), uses=[losses[-1]]),
                Step("<=", 2 * drawn + high / (pace * T) + 2 * pace * bent + 4 * steep * 2 * logs / (n * eps0),
                     because=Premise("2dT/η ≤ (nd/η)², as T ≤ n and η ≤ 1/2"), uses=[near]),
                Step("<=", 200 * STATEMENT),
            )
        ],
    )  # fmt: skip


half = Rational(1, 2)
theorem6 = population(
    "", GLM, Rational(1, 16), "1/(16n): x = 1, σ(s) = 1/2+s/4, w* = ±1/√n, which n labels mix up with 0.09 (Le Cam)"
)
theorem6_robust = population(
    ".robust", ROBUST, Rational(1, 400),
    "1/(400n): x = 1, biweight with c = 4, noise of density cos²(πξ/2) on [-1,1], w* = ±1/(2π√n) (Le Cam, Hellinger)",
)
theorem6_corrected = with_sample(
    theorem6, "dwang20.lemma4.2.5", [GLM, Eq(C_link, 1), Eq(c_link, half), Eq(B_link, 1)], 4, 6, 4
)
theorem6_robust_corrected = with_sample(
    theorem6_robust, "dwang20.lemma4.2.6.corrected", [ROBUST, STEEP, Eq(c_res, half), Eq(C_res, 1)], 1, 1, 2
)
