"""DP-LSSGD: lines of the utility proofs, and what the text makes of the bounds (lwang21, chapter 5; lssgd20).

The bounds before T is chosen, the noise in them, what σ changes, rates without noise, the ℓ₂ norm. The theorems:
dp_lssgd_proof.py (convex) and dp_lssgd_stationarity.py.
"""

from sympy import Eq, Expr, Integer, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, d, delta, eps, eta, excess_risk, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.nonconvex.dp_lssgd import lipschitz_losses, noise, nu, order, order_right, split
from dpcheck.bounds.library.nonconvex.dp_lssgd_proof import (
    D_0,
    D_sigma,
    bound2,
    lam,
    log_delta,
    more,
    rate4,
    spent,
    step,
    v,
    w,
)
from dpcheck.bounds.library.nonconvex.dp_lssgd_stationarity import bound3, descent, factor, gap, modes, norm2, rate7
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import beta_s, both, gamma_s, smoothing
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

nu2 = quantity("ls_nu2", "variance of the noise on a coordinate", loss=2, parameter=-2, printed="ν²", latex=r"\nu^2")
plain2 = quantity(
    "ls_plain2", "E‖∇F(w̃)‖² in the ℓ₂ norm", loss=2, parameter=-2, printed="E‖∇F(w̃)‖₂²", holds="in expectation"
)
scaled_bound = quantity("ls_scaled_bound", "(1+4σ) times the bound of Theorem 3", printed="(1+4σ)·bound")
largest = 1 + 4 * smoothing  # eigenvalue of A_σ, at most

# Before T is chosen --------------------------------------------------------------------------------
theorem4_proof = Claim(
    id="lwang21.theorem5.3.4.proof",
    source=Source("lwang21", "Proof of Theorem 5.3.4, before T is chosen"),
    kind=Kind.UTILITY,
    says="Excess risk of the mean iterate, η = 1/√T ≤ 1/(2L), L-smooth losses, every T and ν.",
    assumes=[convex(), lipschitz(G), smooth(L_s), batch <= n, 4 * L_s**2 <= T],
    states=Le(excess_risk, 3 * (D_sigma + G**2 / batch + gamma_s * d * nu**2) / (2 * sqrt(T))),
    ignores_units=True,
    checks=[
        Proof(
            [
                *step,
                Less(
                    "η²‖∇F‖² ≤ 2Lη²(F-F*) ≤ 4/3·η(F-F*), η ≤ 1/(2L)", 2 * L_s / (2 * L_s * (1 + more)), Rational(4, 3)
                ),
                Same(
                    "summed over T steps with 2/3·η(F-F*) left of each, over 2/3·ηT",
                    ((D_sigma + T * eta**2 * (G**2 / batch + gamma_s * d * nu**2)) / (Rational(2, 3) * eta * T)).subs(
                        eta, 1 / sqrt(T)
                    ),
                    3 * (D_sigma + G**2 / batch + gamma_s * d * nu**2) / (2 * sqrt(T)),
                ),
            ],
            "E‖noise‖² in the norm of A⁻¹ is γdν²",
        )
    ],
    cites=[Cites("lwang21.lemma5.5.7"), Cites("lwang21.theorem5.3.4.step.corrected", {eta: 1 / sqrt(T)})],
)

theorem7_proof = Claim(
    id="lwang21.theorem5.3.7.proof",
    source=Source("lwang21", "Proof of Theorem 5.3.7, without its last step"),
    kind=Kind.UTILITY,
    says="‖∇F‖² in the norm of A⁻¹ at a random iterate: 2D_F/(ηT) + ηL(G²/b+dβν²), η = 1/√T ≤ 1/L, every T and ν.",
    assumes=[lipschitz(G), smooth(L_s), batch <= n, L_s**2 <= T],
    states=Le(norm2, (2 * gap + L_s * (G**2 / batch + d * beta_s * nu**2)) / sqrt(T)),
    ignores_units=True,
    checks=[
        Proof(
            [
                *descent,
                Less("1 - ηL/2 ≥ 1/2 for η ≤ 1/L", Rational(1, 2), 1 - 1 / (2 * (1 + more))),
                Same(
                    "F falls by η/2·‖∇F‖² and rises by Lη²/2·(G²/b + dβν²): summed over T steps, over ηT/2",
                    ((gap + T * L_s * eta**2 / 2 * (G**2 / batch + d * beta_s * nu**2)) / (eta * T / 2)).subs(
                        eta, 1 / sqrt(T)
                    ),
                    (2 * gap + L_s * (G**2 / batch + d * beta_s * nu**2)) / sqrt(T),
                ),
            ],
            "E‖A⁻¹·noise‖² is dβν²",
        )
    ],
    cites=[Cites("lwang21.lemma5.5.8")],
)

# The noise in the bounds ---------------------------------------------------------------------------
true_noise: Expr = (noise(20 / split) ** 2).subs(order, order_right)
stated_noise: Expr = 20 * T * G**2 * log_delta / (spent * split * (1 - split))
noise4 = Claim(
    id="lwang21.theorem5.3.4.noise",
    source=Source("lwang21", "Proofs of Theorems 5.3.4 and 5.3.7, ν² put in"),
    kind=Kind.UTILITY,
    says="ν² of Theorem 5.3.2 is at most 20TG²log(1/δ)/(n²ε²µ(1-µ)).",
    assumes=lipschitz_losses,
    states=Le(nu2, stated_noise),
    checks=[AtMost(true_noise, "α = log(1/δ)/((1-µ)ε) + 1: the 1 is dropped")],
)

noise4_corrected = Claim(
    id="lwang21.theorem5.3.4.noise.corrected",
    source=Source("lwang21", "Proofs of Theorems 5.3.4 and 5.3.7, ν² put in"),
    kind=Kind.UTILITY,
    says="At most 2-µ times that for ε ≤ log(1/δ).",
    assumes=[*lipschitz_losses, eps <= log_delta],
    states=Le(nu2, (2 - split) * stated_noise),
    corrects="lwang21.theorem5.3.4.noise",
    checks=[
        Proof(
            [
                Same(
                    "the share is 1 + (1-µ)ε/log(1/δ)",
                    true_noise,
                    stated_noise * (1 + (1 - split) * eps / log_delta),
                ),
                Less("which is at most 2-µ", 1 + (1 - split) / (1 + more), 2 - split, {split: 1 / (1 + v)}),
            ]
        )
    ],
)

true_noise_v0: Expr = (noise(Integer(8)) ** 2).subs(order, 2 * log_delta / eps + 1)
noise2 = Claim(
    id="lssgd20.theorem2.noise",
    source=Source("lssgd20", "Proofs of Theorems 2 and 3, ν² put in"),
    kind=Kind.UTILITY,
    says="ν² of Theorem 1 is at most 24TG²log(1/δ)/(n²ε²).",
    assumes=[*lipschitz_losses, eps**2 <= 5 * T * log(1 / delta) * batch**2 / n**2],
    states=Le(nu2, 24 * T * G**2 * log_delta / spent),
    checks=[AtMost(true_noise_v0, "8T(2log(1/δ) + ε)G²/(n²ε²), which is more for ε > log(1/δ)")],
)

noise2_corrected = Claim(
    id="lssgd20.theorem2.noise.corrected",
    source=Source("lssgd20", "Proofs of Theorems 2 and 3, ν² put in"),
    kind=Kind.UTILITY,
    says="It is for ε ≤ log(1/δ).",
    assumes=[*lipschitz_losses, eps <= log_delta],
    states=Le(nu2, 24 * T * G**2 * log_delta / spent),
    corrects="lssgd20.theorem2.noise",
    checks=[
        Proof(
            [
                Same(
                    "the share is 2/3 + ε/(3log(1/δ))",
                    true_noise_v0,
                    24 * T * G**2 * log_delta / spent * (Rational(2, 3) + eps / (3 * log_delta)),
                ),
                Less("which is at most 1", Rational(2, 3) + 1 / (3 * (1 + more)), Integer(1)),
            ]
        )
    ],
)

# What σ changes ------------------------------------------------------------------------------------
TERM = "Of two σ, one of them 0 (DP-SGD), the convex bounds differ in γ(D_σ+G²) alone: the square of their ratio."
plain = {gamma_s: Integer(1), D_sigma: D_0}
term_v0 = Claim(
    id="lssgd20.remark2.term",
    source=Source("lssgd20", "Remark 2"),
    kind=Kind.UTILITY,
    says=TERM,
    states=Eq(ratio, gamma_s * (D_sigma + G**2) / (D_0 + G**2)),
    ignores_units=True,
    checks=[Equals((bound2 / bound2.subs(plain)) ** 2, "Theorem 2 over itself at γ = 1 and D₀")],
)

term = Claim(
    id="lwang21.remark5.3.6.term",
    source=Source("lwang21", "Remark 5.3.6"),
    kind=Kind.UTILITY,
    says=TERM,
    states=Eq(ratio, gamma_s * (D_sigma + G**2) / (D_0 + G**2)),
    ignores_units=True,
    checks=[Equals((rate4 / rate4.subs(plain)) ** 2, "Theorem 5.3.4 over itself at γ = 1 and D₀ has G²/b for G²")],
)

term_corrected = Claim(
    id="lwang21.remark5.3.6.term.corrected",
    source=Source("lwang21", "Remark 5.3.6"),
    kind=Kind.UTILITY,
    says="In γ(D_σ+G²/b).",
    states=Eq(ratio, gamma_s * (D_sigma + G**2 / batch) / (D_0 + G**2 / batch)),
    corrects="lwang21.remark5.3.6.term",
    ignores_units=True,
    checks=[Equals((rate4 / rate4.subs(plain)) ** 2, "Theorem 5.3.4 over itself at γ = 1 and D₀")],
)

# Rates without noise -------------------------------------------------------------------------------
same_rate, same_rate_v0 = both(
    "section5.2.rate",
    "section2.1.rate",
    kind=Kind.UTILITY,
    says="LSSGD has the rate of SGD on convex risks, 1/√T: at most 1+4σ times its bound, η = 1/√T.",
    assumes=[convex(), lipschitz(G), Setting("no noise, the mean iterate")],
    states=Le(excess_risk, largest * (D_0 + G**2) / (2 * sqrt(T))),
    ignores_units=True,
    checks=[
        Proof(
            [
                *step,
                Less("D_σ ≤ (1+4σ)D₀, as λ ≤ 1+4σ", lam * w**2, largest * w**2, {lam: 1 + 4 * smoothing / (1 + more)}),
                Same(
                    "(D_σ + Tη²G²)/(2ηT) at η = 1/√T",
                    ((D_sigma + T * eta**2 * G**2) / (2 * eta * T)).subs(eta, 1 / sqrt(T)),
                    (D_sigma + G**2) / (2 * sqrt(T)),
                ),
                Less("and G² ≤ (1+4σ)G²", largest * D_0 + G**2, largest * (D_0 + G**2)),
            ],
            "SGD's bound is (D₀+G²)/(2√T)",
        )
    ],
)

same_rate_nonconvex, same_rate_nonconvex_v0 = both(
    "section5.2.rate.nonconvex",
    "section2.1.rate.nonconvex",
    kind=Kind.UTILITY,
    says="And on others: ‖∇F‖² of a random iterate in the ℓ₂ norm is at most 1+4σ times SGD's bound.",
    assumes=[lipschitz(G), smooth(L_s), Setting("no noise, a random iterate")],
    states=Le(plain2, largest * (gap + L_s * G**2 / 2) / sqrt(T)),
    ignores_units=True,
    checks=[
        Proof(
            [
                *descent,
                Less("‖∇F‖² ≤ (1+4σ)‖∇F‖² in the norm of A⁻¹", v**2, largest * v**2 / (1 + 4 * smoothing / (1 + more))),
                Same(
                    "(D_F + TLη²G²/2)/(ηT) at η = 1/√T",
                    ((gap + T * L_s * eta**2 * G**2 / 2) / (eta * T)).subs(eta, 1 / sqrt(T)),
                    (gap + L_s * G**2 / 2) / sqrt(T),
                ),
            ],
            "SGD's bound is (D_F + LG²/2)/√T",
        )
    ],
)

# The l2 norm ---------------------------------------------------------------------------------------
plain_norm, plain_norm_v0 = both(
    "theorem5.3.7.l2",
    "theorem3.l2",
    kind=Kind.UTILITY,
    says="‖∇F‖² in the ℓ₂ norm is at most 1+4σ times that in the norm of A⁻¹.",
    states=Le(plain2, largest * norm2),
    checks=[
        Proof(
            [
                Less(
                    "mode by mode: v² ≤ (1+4σ)v²/λ, as λ ≤ 1+4σ",
                    v**2,
                    largest * v**2 / lam,
                    {lam: 1 + 4 * smoothing / (1 + more)},
                )
            ],
            "1/λ_min(A⁻¹) is the largest eigenvalue of A",
        )
    ],
)

through_zeta = {beta_s: (factor / largest) ** 2}
zeta_v0 = Claim(
    id="lssgd20.theorem3.zeta",
    source=Source("lssgd20", "after Proposition 2"),
    kind=Kind.UTILITY,
    says="1+4σ times the bound of Theorem 3 is 4ζG√(6dL(2D_F+LG²)log(1/δ))/(nε), ζ = (1+4σ)√β.",
    states=Eq(scaled_bound, 4 * factor * G * sqrt(6 * d * L_s * (2 * gap + L_s * G**2) * log_delta) / (n * eps)),
    ignores_units=True,
    checks=[Equals(largest * bound3.subs(through_zeta), "Theorem 3 with √β = ζ/(1+4σ)")],
)

zeta = Claim(
    id="lwang21.theorem5.3.7.zeta",
    source=Source("lwang21", "after Proposition 5.3.8"),
    kind=Kind.UTILITY,
    says="In the ℓ₂ norm ζG√(dL(2D_F+LG²)log(1/δ))/(nε): printed with 4√6, where Theorem 5.3.7 hides a constant. At a "
    "random iterate, from the corrected theorem.",
    assumes=[lipschitz(G), smooth(L_s), *modes, batch <= n, eps <= log_delta, Setting("T ≥ L²")],
    states=Rate(plain2, factor * G * sqrt(d * L_s * (2 * gap + L_s * G**2) * log_delta) / (n * eps)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "1+4σ times theorem5.3.7.corrected, √β = ζ/(1+4σ), squared",
                    ((largest * 2 * sqrt(120) * rate7) ** 2).subs(through_zeta),
                    480 * factor**2 * G**2 * d * L_s * (2 * gap + L_s * G**2 / batch) * log_delta / spent,
                ),
                Less("G²/b ≤ G²", 2 * gap + L_s * G**2 / batch, 2 * gap + L_s * G**2, {batch: 1 + more}),
            ],
            "with the constant √480",
        )
    ],
    cites=[Cites("lwang21.theorem5.3.7.corrected"), Cites("lwang21.theorem5.3.7.l2")],
)
