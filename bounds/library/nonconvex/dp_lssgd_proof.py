"""Utility of DP-LSSGD (lwang21, Theorems 5.3.4 and 5.3.7; lssgd20, Theorems 2 and 3): the theorems and their proofs.

With the printed number of steps, which lacks γ (or β), both theorems fail: too few steps to get anywhere. With the
proofs' own number they hold, for convex risks as printed and for others at a random iterate. η = 1/√T hides units.
"""

from sympy import Expr, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, d, delta, eps, eta, excess_risk, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.nonconvex.dp_lssgd import nu
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both, gamma_s, smoothing
from dpcheck.bounds.proving.proofs import AtMost, Less, NoConstant, Proof, Same

D_sigma = quantity("D_sigma", "‖w⁰-w*‖² in the norm of A_σ", parameter=2, printed="D_σ", latex=r"D_\sigma")
D_0 = quantity("D_0", "‖w⁰-w*‖²", parameter=2, printed="D₀", latex="D_0")
gap_k = quantity("ls_gap_k", "F(w^k) - F(w*)", loss=1, printed="g_k", latex="F(w^k)-F^*")
slope2 = quantity("ls_slope2", "‖∇F(w^k)‖²", loss=2, parameter=-2, printed="‖∇F(w^k)‖²")
spread2 = quantity("ls_spread2", "E‖∇f_B - ∇F‖²", loss=2, parameter=-2, printed="E‖∇f_B-∇F‖²")
scaled = quantity("ls_scaled", "γ·D_σ, what smoothing makes of D₀", parameter=2, printed="γD_σ")

log_delta, spent = log(1 / delta), n**2 * eps**2
far, x, y, v, w, lam = symbols("far x y v w lam", positive=True)
more, extra = (Symbol(name, nonnegative=True) for name in ("more", "extra"))
modes = [gamma_s <= 1, gamma_s * d >= 1, d >= 2]  # one eigenvalue of A_σ is 1

# One step, in a coordinate of the eigenbasis: eigenvalue λ, gradient v, error w
step: list[Same | Less] = [
    Same(
        "‖w - ηA⁻¹v‖² in the norm of A",
        lam * (w - eta * v / lam) ** 2,
        lam * w**2 - 2 * eta * v * w + eta**2 * v**2 / lam,
    ),
    Less("‖v‖² in the norm of A⁻¹ is at most ‖v‖², as λ ≥ 1", v**2 / lam, v**2, {lam: 1 + more}),
]


def at_most_noise(constant: int, split: Expr, top: int) -> Less:
    """ν² over TG²log(1/δ)/(n²ε²), ε ≤ log(1/δ): constant·ε·α/(µ·log(1/δ)) with α = log(1/δ)/((1-µ)ε) + 1."""
    ratio_of_eps = 1 / (1 + more)  # ε / log(1/δ)
    return Less(
        f"ν² ≤ {top}·TG²log(1/δ)/(n²ε²) for ε ≤ log(1/δ)",
        constant / split * (1 / (1 - split) + ratio_of_eps),
        Integer(top),
    )


# Convex, lssgd20 -----------------------------------------------------------------------------------
bound2 = 2 * G * sqrt(6 * gamma_s * (D_sigma + G**2) * d * log_delta) / (n * eps)
printed_T = (D_sigma + G**2) * spent / (24 * d * G**2 * log_delta)
few = "F = G·max(0, ‖w*‖ - ⟨u,w⟩), u constant, so that A_σu = u: the mean iterate moves by √T·G at most, and Jensen"

theorem2 = Claim(
    id="lssgd20.theorem2",
    source=Source("lssgd20", "Theorem 2"),
    kind=Kind.UTILITY,
    says="Excess risk with η = 1/√T and T = (D_σ+G²)n²ε²/(24dG²log(1/δ)) steps.",
    assumes=[convex(), lipschitz(G), *modes, eps**2 <= 5 * printed_T * log_delta * batch**2 / n**2, batch <= n],
    states=Le(excess_risk, bound2),
    ignores_units=True,
    checks=[AtMost(G * (sqrt(D_sigma) - G * sqrt(printed_T + 1)), few, box={D_sigma: (1, 1e8), G: (0.1, 10)})],
    cites=[Cites("lssgd20.lemma4")],
)

theorem2_proof = Claim(
    id="lssgd20.theorem2.proof",
    source=Source("lssgd20", "Proof of Theorem 2"),
    kind=Kind.UTILITY,
    says="Excess risk of the mean iterate with η = 1/√T, for every T and ν.",
    assumes=[convex(), lipschitz(G)],
    states=Le(excess_risk, (D_sigma + G**2 + gamma_s * d * nu**2) / (2 * sqrt(T))),
    ignores_units=True,
    checks=[
        Proof(
            [
                *step,
                Same(
                    "summed over T steps with 2η⟨∇F, w-w*⟩ ≥ 2η(F-F*), over 2ηT",
                    ((D_sigma + T * eta**2 * (G**2 + gamma_s * d * nu**2)) / (2 * eta * T)).subs(eta, 1 / sqrt(T)),
                    (D_sigma + G**2 + gamma_s * d * nu**2) / (2 * sqrt(T)),
                ),
            ],
            "E‖noise‖² in the norm of A⁻¹ is γdν²",
        )
    ],
)

best_T = printed_T / gamma_s
theorem2_corrected = Claim(
    id="lssgd20.theorem2.corrected",
    source=Source("lssgd20", "Theorem 2"),
    kind=Kind.UTILITY,
    says="The same bound with the proof's T = (D_σ+G²)n²ε²/(24γdG²log(1/δ)), a whole number, for ε ≤ log(1/δ).",
    assumes=[convex(), lipschitz(G), *modes, eps <= log_delta],
    states=Le(excess_risk, bound2),
    corrects="lssgd20.theorem2",
    ignores_units=True,
    checks=[
        Proof(
            [
                *step,
                at_most_noise(4, Rational(1, 2), 24),
                Same(
                    "the bound at that T, squared",
                    (((D_sigma + G**2 + gamma_s * d * 24 * T * G**2 * log_delta / spent) / (2 * sqrt(T))) ** 2).subs(
                        T, best_T
                    ),
                    bound2**2,
                ),
            ],
            "½(A/√T + B√T) = √(AB) at T = A/B",
        )
    ],
)

# Convex, lwang21 -----------------------------------------------------------------------------------
rate4 = G * sqrt(6 * gamma_s * (D_sigma + G**2 / batch) * d * log_delta) / (n * eps)
path4 = {
    n: far,
    eps: Integer(10),
    delta: exp(-1),
    batch: Integer(1),
    G: Integer(1),
    d: 400 * far**2,
    gamma_s: 1 / far,
    D_sigma: 8 * far**2 - 1,
}
theorem4 = Claim(
    id="lwang21.theorem5.3.4",
    source=Source("lwang21", "Theorem 5.3.4"),
    kind=Kind.UTILITY,
    says="Excess risk with η = 1/√T and T = C₁(D_σ+G²/b)n²ε²/(dG²log(1/δ)), where Theorem 5.3.2 applies.",
    assumes=[convex(), lipschitz(G), *modes, batch <= n],
    states=Rate(excess_risk, rate4),
    ignores_units=True,
    checks=[
        NoConstant(
            G * (sqrt(D_sigma) - G * sqrt((D_sigma + G**2 / batch) * spent / (d * G**2 * log_delta) + 1)),
            path4,
            far,
            f"{few}; C₁ = 1 (any other: d times C₁), µ = 1/2, T = 2n², where the conditions of Theorem 5.3.2 hold",
            1e4,
        )
    ],
    cites=[
        Cites("lwang21.lemma5.5.7"),
        Cites("lwang21.equation5.5.3"),
        Cites("lwang21.equation5.5.4"),
    ],
)

theorem4_corrected = Claim(
    id="lwang21.theorem5.3.4.corrected",
    source=Source("lwang21", "Theorem 5.3.4"),
    kind=Kind.UTILITY,
    says="With γ in T as in the proof, T = (D_σ+G²/b)n²ε²/(120γdG²log(1/δ)) whole, T ≥ 4L², L-smooth losses, µ = 1/2.",
    assumes=[convex(), lipschitz(G), smooth(L_s), *modes, batch <= n, eps <= log_delta, Setting("T ≥ 4L²")],
    states=Le(excess_risk, 3 * sqrt(20) * rate4),
    corrects="lwang21.theorem5.3.4",
    ignores_units=True,
    checks=[
        Proof(
            [
                *step,
                Less(
                    "η²‖∇F‖² ≤ 2Lη²(F-F*) ≤ 4/3·η(F-F*), η ≤ 1/(2L)", 2 * L_s / (2 * L_s * (1 + more)), Rational(4, 3)
                ),
                at_most_noise(20, Rational(1, 2), 120),
                Same(
                    "3/2·(A/√T + B√T) at T = A/B, squared",
                    ((Rational(3, 2) * (x / sqrt(T) + y * sqrt(T))) ** 2).subs(T, x / y),
                    9 * x * y,
                ),
                Same(
                    "with A = D_σ+G²/b and B = 120γdG²log(1/δ)/(n²ε²)",
                    9 * (D_sigma + G**2 / batch) * 120 * gamma_s * d * G**2 * log_delta / spent,
                    (3 * sqrt(20) * rate4) ** 2,
                ),
            ],
            "2/3·η of the progress is left",
        )
    ],
)


# Steps of the convex proof -------------------------------------------------------------------------
variance_step = Claim(
    id="lwang21.equation5.5.3",
    source=Source("lwang21", "(5.5.3)"),
    kind=Kind.UTILITY,
    says="The variance of the mean gradient of b records drawn without replacement.",
    assumes=[lipschitz(G), batch <= n, n >= 2],
    states=Le(spread2, G**2 / batch),
    checks=[
        AtMost(
            G**2 * (n - batch) / ((n - 1) * batch),
            "G²·(n-b)/(b(n-1)), attained by gradients of norm G and mean 0",
            where={n: 1 + extra + more, batch: 1 + extra},
        )
    ],
)

progress = Claim(
    id="lwang21.equation5.5.4",
    source=Source("lwang21", "(5.5.4)"),
    kind=Kind.UTILITY,
    says="(1-Lη/2)η‖∇F‖² ≤ F - F* for an L-smooth F.",
    assumes=[smooth(L_s), eta < 2 / L_s],
    states=Le(slope2, gap_k / ((1 - L_s * eta / 2) * eta)),
    checks=[
        Proof(
            [
                Same("a step 1/L shows ‖∇F‖² ≤ 2L(F-F*)", -1 / L_s + L_s / 2 * (1 / L_s) ** 2, -1 / (2 * L_s)),
                Same("1 - 2Lη(1-Lη/2) is a square", 1 - 2 * L_s * eta * (1 - L_s * eta / 2), (1 - L_s * eta) ** 2),
            ],
            "2L ≤ 1/((1-Lη/2)η)",
        )
    ],
)

missing = Claim(
    id="lwang21.theorem5.3.4.step",
    source=Source("lwang21", "Proof of Theorem 5.3.4, after (5.5.4)"),
    kind=Kind.UTILITY,
    says="η²‖∇F‖² ≤ 4/3·η(F-F*), of a convex F with G-Lipschitz losses, as the theorem assumes; here G = ‖∇F‖.",
    assumes=[convex(), lipschitz(G)],
    states=Le(slope2, 4 * gap_k / (3 * eta)),
    checks=[AtMost(G**2 + 0 * gap_k, "F = G·|w| near 0, where F - F* is as small as one likes")],
)

missing_corrected = Claim(
    id="lwang21.theorem5.3.4.step.corrected",
    source=Source("lwang21", "Proof of Theorem 5.3.4, after (5.5.4)"),
    kind=Kind.UTILITY,
    says="The same for L-smooth losses and η ≤ 1/(2L), that is T ≥ 4L², which the theorem does not assume.",
    assumes=[convex(), smooth(L_s), eta <= 1 / (2 * L_s)],
    states=Le(slope2, 4 * gap_k / (3 * eta)),
    corrects="lwang21.theorem5.3.4.step",
    checks=[AtMost(2 * L_s * gap_k, "‖∇F‖² ≤ 2L(F-F*)", {eta: 1 / (2 * L_s * (1 + more))}, exact=False)],
)

# What smoothing gains ------------------------------------------------------------------------------
factor_printed, factor_printed_v0 = both(
    "section5.1.1.gain",
    "section1.1.gain",
    kind=Kind.UTILITY,
    says="Smoothing makes the bound smaller, γ(D_σ+G²) ≤ D₀+G², by a factor much less than one: here γD_σ against D₀.",
    assumes=[Setting("w⁰-w* alternates in sign, d even")],
    states=Le(scaled, D_0),
    checks=[
        AtMost(
            (1 + 4 * smoothing) / sqrt(1 + 4 * smoothing) * D_0,
            "D_σ = (1+4σ)D₀ for an alternating w⁰-w*, and γ ≥ 1/√(4σ+1)",
        )
    ],
)

factor_right, factor_right_v0 = both(
    "section5.1.1.gain.corrected",
    "section1.1.gain.corrected",
    kind=Kind.UTILITY,
    says="For a constant w⁰-w*, γD_σ ≤ D₀: smoothing helps towards smooth minimisers.",
    assumes=[gamma_s <= 1, Setting("w⁰-w* constant")],
    states=Le(scaled, D_0),
    checks=[AtMost(gamma_s * D_0, "A_σ leaves constants as they are: D_σ = D₀", {gamma_s: 1 / (1 + more)})],
)

generic, generic_v0 = both(
    "remark5.3.6.generic",
    "remark2.generic",
    kind=Kind.UTILITY,
    says="In a generic direction γD_σ is on average no less than D₀: smoothing gains nothing in that part.",
    assumes=[Setting("w⁰-w* uniform on a sphere")],
    states=Le(D_0, scaled),
    checks=[
        Proof(
            [
                Same(
                    "γ·E D_σ/D₀ is the mean of λ_i/λ_j over all i, j, and pairs of them exceed 2 by a square",
                    x / y + y / x - 2,
                    (x - y) ** 2 / (x * y),
                ),
            ],
            "the mean of 1/λ is at least one over the mean of λ",
        )
    ],
)

monotone, monotone_v0 = both(
    "remark5.3.6",
    "remark2",
    kind=Kind.UTILITY,
    says="γG² falls as σ grows: γ at σ + s over γ at σ, eigenvalue by eigenvalue.",
    states=Le(ratio, 1),
    checks=[
        AtMost(
            (1 + smoothing * more) / (1 + (smoothing + extra) * more),
            "λ = 1 + σ·2(1-cos θ) grows with σ",
            exact=False,
        )
    ],
)
