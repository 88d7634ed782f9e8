"""What no local protocol can beat in sparse regression (dwang20, Theorems 5.3.1 to 5.3.4, 5.3.7 and 5.3.10).

Records private: y = ±1 with E[y | x] = h⟨x, v⟩ for v = ±e_j, against h = 0. Labels private: a packing of sparse θ under
uniform noise. The lemmas of Fano, Le Cam and Pinsker are premises; Bessel's inequality does the rest.
"""

from sympy import Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import d, eps, n, quantity
from dpcheck.bounds.library.local.hard_thresholding import noise_C, rip, slope_a, slope_b
from dpcheck.bounds.library.sparse.dp_ight import s_star
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step

h = quantity("shift_h", "distance of the hypotheses from 0", box=(1e-6, 0.5), below=1.0, printed="δ", latex=r"\delta")
chi2 = quantity("chi2_user", "largest chi-square of a user's reports", box=(1e-4, 10), printed="χ²", latex=r"\chi^2")
capacity = quantity("capacity", "C_inf of the hypotheses", printed="C∞", latex=r"C_\infty")
bessel = quantity("bessel", "sum of squared coefficients of a function of norm 1", box=(1e-3, 1), printed="Σ⟨γ,yx_j⟩²")
divergence = quantity("report_divergence", "KL divergence of all reports from their mixture", printed="D(M₀‖M̄)")
chi2_zcdp = quantity("chi2_zcdp", "e^(kappa+2 rho)-1 of (kappa, rho)-zCDP", box=(1e-4, 10), printed="(e^(κ+2ρ)-1)")
wide = quantity("wide", "log(p/s)", box=(1, 12), printed="log(p/s)", latex=r"\log(p/s)")
risk = quantity("sparse_risk", "private minimax squared error", printed="M(‖·‖²)", latex=r"\mathcal{M}")
sum_risk = quantity("sum_risk", "private minimax error of the sum of coordinates", printed="M(|1ᵀ·|)")
label_risk = quantity("label_risk", "minimax squared error with private labels", printed="M'(‖·‖²)")
u, v = (Symbol(name, nonnegative=True) for name in "uv")
signs = Setting("x uniform on {±1}^p, y = ±1 with E[y | x] = δ⟨x, v⟩, v = ±e_j: laws of P(1, p, 2)")

lemma10 = Claim(
    id="dwang20.lemma5.3.10", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 5.3.10, equation (5.85)", line=6872),
    says="How well a bounded function tells the 2p hypotheses apart, on average.",
    assumes=[signs],
    states=Le(capacity, h**2 / d),
    ignores_units=True,
    checks=[],  # dpcheck/evidence/local/ldp_minimax_lower.py tries every vertex of the cube of γ
)

apart = Claim(
    id="dwang20.theorem5.3.4.divergence", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 5.3.11 at these hypotheses, for any χ² and with a proof", line=6960),
    says="Reports of n users, each of whose channels has χ² between any two records, on the hypotheses and on δ = 0.",
    assumes=[signs, 2 * h <= 1],
    states=Le(divergence, 2 * n * chi2 * h**2 / d),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            divergence,
            Step("<=", n * chi2 * h**2 * bessel / (d * (1 - h)),
                 because=Premise("convexity and the chain rule leave one user; log t ≤ t-1, and m_v ≥ (1-δ)m₀; of the "
                                 "squares of E (q(z|x)-m₀(z))yx_j at each z, Bessel leaves χ²(q(·|x)‖m₀) ≤ χ²")),
            Step("<=", STATEMENT, because=Slack(
                given={"Bessel: the yx_j are orthonormal": n * chi2 * h**2 / (d * (1 - h)) * (1 - bessel)},
                seen=[n * chi2 * h**2 / d * (1 - 2 * h) / (1 - h)])),
        )
    ],
)


def at_most_one(rate: Expr) -> Expr:
    """min{1, rate} up to a factor of 2, without a corner."""
    return rate / (1 + rate)


def le_cam(
    name: str, place: str, line: int, subject: Symbol, scale: Expr, why: str, *assumes: Hypothesis, power: int = 2
) -> Claim:
    """A bound by Le Cam at δ = ¼√min{1, p/(n·scale)}; χ² is twice the scale at most."""
    loss = h**2 / 2 if power == 2 else h  # of any θ at 0 and at θ_v, together
    known = loss / 2 * (Rational(3, 4) - 2 * n * scale * h**2 / d)
    rate = at_most_one(d / (n * scale))
    return Claim(
        id=f"dwang20.{name}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", place, line=line),
        says="No such protocol has a smaller error, whatever the one-sparse θ* and the labels within 2 of ⟨x, "
        "θ*⟩; min{1, r} "
        "is written r/(1+r), which is between a half of it and all.",
        assumes=[signs, *assumes],
        added=[2 * h <= 1],
        states=Rate(subject, rate if power == 2 else sqrt(rate), below=True),
        ignores_units=True,
        checks=[
            Chain(
                subject,
                Step(">=", loss / 2 * (Rational(3, 4) - divergence / 2),
                     because=Premise("Le Cam: half of what any θ loses at both, times 1-TV; TV ≤ √(D/2) ≤ 1/4 + "
                     "D/2 (Pinsker)")),
                Step(">=", because=Cites("dwang20.theorem5.3.4.divergence")),
                Step(">=", known, because=Premise(why)),
                Step(">=", known.subs(h, sqrt(rate) / 4), because=Premise("any δ ≤ 1/2 is allowed: δ² = r/(1+r)/16")),
                Step(">=", STATEMENT / 128),
            )
        ],
    )


PURE = "ratios of densities within e^ε: χ² ≤ (e^ε-1)² ≤ 2ε² for ε ≤ 1/2"
weak = eps <= Rational(1, 2)
theorem2 = le_cam("theorem5.3.2", "Theorem 5.3.2, equation (5.72)", 6403, risk, eps**2, PURE, weak)
theorem3 = le_cam("theorem5.3.3", "Theorem 5.3.3, equation (5.73)", 6417, sum_risk, eps**2, PURE, weak, power=1)
theorem4_zcdp = le_cam(
    "theorem5.3.4.zcdp", "Theorem 5.3.4, under (κ, ρ)-zCDP", 6443, risk, chi2_zcdp, "D₂ ≤ κ+2ρ is χ² ≤ e^(κ+2ρ)-1"
)
theorem4_renyi = le_cam(
    "theorem5.3.4.renyi", "Theorem 5.3.4, under (2, log(1+ε²))-Renyi privacy", 6447, risk, eps**2,
    "D₂ ≤ log(1+ε²) is χ² ≤ ε²", eps <= 1,
)

# Fano ----------------------------------------------------------------------------------------------
whole_rate = at_most_one(d * log(d) / (n * eps**2))
known = h**2 / 4 * (1 - (n * eps**2 * h**2 / d + log(2)) / (log(2) + log(d)))
theorem1 = Claim(
    id="dwang20.theorem5.3.1", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 5.3.1, equation (5.71)", line=6395),
    says="No ε-private protocol without interaction has a smaller error on one-sparse θ*; min{1, r} is written "
    "r/(1+r).",
    assumes=[signs, weak],
    added=[d >= 2, 2 * h <= 1],
    states=Rate(risk, whole_rate, below=True),
    ignores_units=True,
    checks=[
        Chain(
            risk,
            Step(">=", h**2 / 4 * (1 - (n * eps**2 * capacity + log(2)) / (log(2) + log(d))),
                 because=Premise("Lemma 5.3.7, of Duchi, Jordan and Wainwright: 2p hypotheses, √2δ apart")),
            Step(">=", because=Cites("dwang20.lemma5.3.10")),
            Step(">=", known.subs(h, sqrt(whole_rate) / 2), because=Premise("any δ ≤ 1/2 is allowed: δ² = r/(1+r)/4")),
            Step(">=", STATEMENT / 64, where={d: 2 * exp(u)}),
        )
    ],
)


def labels(name: str, line: int, slope: Expr, *assumes: Hypothesis) -> Claim:
    """Theorems 5.3.7 and 5.3.10: s-sparse θ = δ√(2/s)·z, z of a packing, labels with uniform noise."""
    per_user = slope**2 * (1 + rip) * n * eps**2 / noise_C**2
    packing = s_star / 2 * wide  # of (s/2)·log((p-s)/(s/2)), as 2(p/s-1) ≥ p/s
    known = h**2 / 8 * (1 - (38 * per_user * h**2 + log(2)) / packing)
    rate = at_most_one(s_star * wide / per_user)
    return Claim(
        id=f"dwang20.{name}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", name.capitalize().replace("m5", "m 5"), line=line),
        says="No ε-private protocol without interaction has a smaller error, labels alone being private; min{1, "
        "r} is r/(1+r).",
        assumes=[weak, *assumes, Setting("X satisfies RIP at 17s with Δ"), Setting("labels within C of f(⟨x, θ*⟩)")],
        added=[wide >= 3],
        states=Rate(label_risk, rate, below=True),
        ignores_units=True,
        checks=[
            Chain(
                label_risk,
                Step(">=", known,
                     because=Premise("Lemma 5.3.8 with c < 19: δ apart, log|packing| ≥ (s/2)log(p/s) for p ≥ 2s "
                     "(Lemma 5.3.14), "
                                     "and TV ≤ b|⟨θ-θ', x_i⟩|/2C, whose squares add up to 2n(1+Δ)b²δ²/C² at most "
                                     "by RIP")),
                Step(">=", known.subs(h, sqrt(rate) / 20), because=Premise("any δ ≤ 1/√2 is allowed: δ² = "
                "r/(1+r)/400")),
                Step(">=", rate / 3200 * (Rational(81, 100) - 2 * log(2) / (s_star * wide)), because=Slack(
                    seen=[rate / 3200 * Rational(19, 100) * (1 - per_user / (per_user + s_star * wide))])),
                Step(">=", STATEMENT / 10000, because=Slack(
                    seen=[rate / 3200 * (Rational(49, 100) - 2 * log(2) / (s_star * wide))]),
                    where={wide: 3 + u, s_star: 1 + v}),
            )
        ],
    )


theorem7 = labels("theorem5.3.7", 6553, Rational(1))
theorem10 = labels("theorem5.3.10", 6671, slope_b, slope_a <= slope_b)
