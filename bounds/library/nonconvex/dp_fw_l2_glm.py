"""DP-FW-L2 for the population risk (dwang20, section 4.2.2, Algorithm 4.2.21, Theorem 4.2.5), and what section 4.2.3
repeats of DP-FW-L2 (Algorithm 4.2.23, Theorem 4.2.13). Lemmas stand in glm_risk.py; the steps are those of dp_fw_l2.

Solver: dpcheck/solvers/nonconvex/dp_fw_l2_glm.py.
"""

from sympy import Eq, Expr, Integer, Rational, Symbol, exp, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Hypothesis, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.language.symbols import T, c1, c2, d, delta, eps, frank_wolfe_gap, n
from dpcheck.bounds.library.convex.gaussian_width import diameter, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex import dp_fw_l2, stationarity
from dpcheck.bounds.library.nonconvex.glm_risk import (
    GLM,
    ROBUST,
    STEEP,
    B_link,
    C_link,
    C_res,
    c_link,
    c_res,
    lipschitz_glm,
    pop_gap,
    pop_inner,
    pop_mean,
)
from dpcheck.bounds.library.nonconvex.stationarity import a, pace
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

k = Symbol("k", positive=True)
released = Release(2 * G / n, Gaussian(sigma_n), steps=T)

# Privacy -------------------------------------------------------------------------------------------
ACROSS = "the other records' gradients, large against the noise, lie along one axis: x_R shows the sum across it"


def noise_claims(part: str, line: int, place: str, losses: Setting, size: Expr, least: Expr, factor: int, at: str
                 ) -> tuple[Claim, Claim]:  # fmt: skip
    """σ² = c₂·size²·T·ln(1/δ)/(n²ε²) with some constants, and with 8·factor² for c₂ where a gradient is factor·size."""
    seen = Release(least / n, Gaussian(sigma_n), steps=(T - 1) / 2)
    stated = size * sqrt(c2 * T * a) / (n * eps)
    printed = Claim(
        id=f"dwang20.theorem4.2.5.{part}", source=Source("dwang20", place, line), kind=Kind.PRIVACY,
        says="There are c₁ and c₂ with which Algorithm 4.2.21 is (ε, δ)-private for all ε < c₁T and δ < 1.",
        assumes=[losses, eps < c1 * T],
        states=Eq(sigma_n, stated), guarantee=ApproxDP(eps, delta), hidden=(c1, c2), ignores_units=True,
        checks=[IterateAccountant(seen, f"{at}; {ACROSS}; T cancels")],
    )
    moved = Release(2 * factor * size / n, Gaussian(sigma_n), steps=T)
    corrected = Claim(
        id=f"{printed.id}.corrected", source=Source("dwang20", place, line), kind=Kind.PRIVACY,
        says=f"With c₂ = {8 * factor**2}, for ε at most 1 and δ at most 1/4.",
        assumes=[losses, eps <= 1, delta <= Rational(1, 4)],
        states=Eq(sigma_n, stated.subs(c2, 8 * factor**2)), guarantee=ApproxDP(eps, delta), ignores_units=True,
        corrects=printed.id,
        checks=[Accountant(moved, f"T full gradients, each {2 * factor} times that over n apart")],
    )
    return printed, corrected


privacy, privacy_corrected = noise_claims(
    "privacy", 3313, "Theorem 4.2.5, generalised linear model", GLM, lipschitz_glm,
    Rational(39, 200) * lipschitz_glm, 2,
    "a sigmoid link, C_σ = B = 1: (x, 1) and (-x, 1) have gradients 2σ'⟨w,x⟩ ≥ 0.39 apart along x, wherever w is",
)
privacy_robust, privacy_robust_corrected = noise_claims(
    "robust_privacy", 3315, "Theorem 4.2.5, robust regression", ROBUST, C_res, Rational(3, 2) * C_res, 1,
    "a biweight loss with c = 10 and C_ψ = 1: labels 1 and -1 have gradients 3/2 apart along x wherever w is",
)

# Utility -------------------------------------------------------------------------------------------
rate = (d * a) ** Rational(1, 4) / sqrt(n * eps)
choices = [Eq(T, n * eps / sqrt(d * a)), Eq(pace, rate), eps < c1 * T]
far = {d: Integer(1), delta: exp(-1), n: k, eps: k**3, T: k**4, pace: 1 / k**2}
ANY = "at ε = n³, below c₁T for large n, the rate falls as 1/n²; no algorithm, private or not, does better than"


def unlearnable(part: str, line: int, losses: Setting, least: Expr, why: str) -> Claim:
    """The population risk as printed: without a term for n records standing in for their law."""
    return Claim(
        id=f"dwang20.theorem4.2.5{part}", kind=Kind.UTILITY,
        source=Source("dwang20", f"Theorem 4.2.5{', robust regression' if part else ''}", line),
        says="The excess population risk at w_R, with these γ_t and T.",
        assumes=[losses, lipschitz(G), *choices],
        states=Rate(pop_mean, rate), guarantee=ApproxDP(eps, delta), hidden=(c1,), ignores_units=True,
        checks=[NoConstant(least / n, far, k, f"{ANY} {why}")],
    )


theorem5 = unlearnable(
    "", 3313, GLM, Rational(1, 200),
    "1/(200n): x = 1, σ(s) = 1/2+s/4, w* = ±1/√n, which n labels tell apart with an error of at least 0.09 (Le Cam)",
)
theorem5_robust = unlearnable(
    ".robust", 3315, ROBUST, Rational(1, 2000),
    "1/(2000n): x = 1, biweight with c = 4, noise of density cos²(πξ/2) on [-1,1], w* = ±1/(2π√n) (Le Cam, Hellinger)",
)


near = Setting("gradients of L̂ and L_P are at most 1/√n apart in the mean")


def learnable(claim: Claim, lemma: str, losses: list[Hypothesis], steep: int, bent: int, high: int) -> Claim:
    """The same with a term for the sample; constants are numbers, the last that by which a loss ranges over `high`."""
    return Claim(
        id=f"{claim.id}.corrected", source=claim.source, kind=Kind.UTILITY,
        says="With what n records leave open, 1/√n: the printed rate where ε is at most √(d·ln(1/δ)).",
        assumes=[losses[0], *choices[:2]],
        added=[
            *losses[1:], lipschitz(Integer(steep)), smooth(Integer(bent)), pace <= 1,
            Eq(sigma_n, steep * sqrt(8 * T * a) / (n * eps)),
            near,
        ],
        states=Rate(pop_mean, rate + 1 / sqrt(n)), guarantee=ApproxDP(eps, delta), ignores_units=True,
        corrects=claim.id,
        checks=[
            Chain(
                pop_mean,
                Step("=", pop_gap, because=Premise("both stand for means over data and R")),
                Step("<=", because=Cites(lemma)),
                Step("=", pop_inner),
                Step("<=", frank_wolfe_gap + 1 / sqrt(n), because=Premise(
                    "gradients are 1/√n apart on the ball (Foster, Sekhari, Sridharan 2018), w* is in "
                    "it, so that ⟨∇L̂(w), w-w*⟩ is at most the gap"), uses=[near]),
                Step("<=", because=Cites("dwang20.theorem4.1.4.direct", {
                    gap0: Integer(high), L_s: Integer(bent), G: Integer(steep), diameter: Integer(2), width: sqrt(d)},
                    granted="the unit ball is symmetric"), uses=[losses[-1]]),
                Step("=", (high + 2 * bent + 2 * steep * sqrt(8)) * rate + 1 / sqrt(n)),
                Step("<=", 100 * STATEMENT),
            )
        ],
    )  # fmt: skip


half = Rational(1, 2)
theorem5_corrected = learnable(
    theorem5, "dwang20.lemma4.2.5", [GLM, Eq(C_link, 1), Eq(c_link, half), Eq(B_link, 1)], 4, 6, 4
)
theorem5_robust_corrected = learnable(
    theorem5_robust, "dwang20.lemma4.2.6.corrected", [ROBUST, STEEP, Eq(c_res, half), Eq(C_res, 1)], 1, 1, 2
)

# What section 4.2.3 repeats of section 4.1.2 (M for L, L for G) --------------------------------------
NUMBER, PLACE = "dwang20.theorem4.2.13", "Theorem 4.2.13"
gap_privacy = again(dp_fw_l2.privacy_dwang, f"{NUMBER}.privacy", PLACE, 3621)
gap_privacy_corrected = again(dp_fw_l2.privacy_corrected_dwang, f"{NUMBER}.privacy.corrected", PLACE, 3621)
gap = again(dp_fw_l2.theorem4_dwang, NUMBER, "Theorem 4.2.13, (4.47) (the text has √ for ⁴√ in γ)", 3621)
gap_corrected = again(dp_fw_l2.theorem4_corrected_dwang, f"{NUMBER}.corrected", "Theorem 4.2.13, (4.47)", 3623)
set_norm = again(stationarity.set_norm, "dwang20.lemma4.2.4", "Lemma 4.2.4", 3629)
set_smooth = again(stationarity.in_the_norm_of_the_set, "dwang20.lemma4.2.4.smooth", "after Lemma 4.2.4", 3631)
