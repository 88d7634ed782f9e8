"""What no local protocol can beat in sparse regression (dwang20, Theorems 5.3.1 to 5.3.4, 5.3.7 and 5.3.10).

Records private: y = ±1 with E[y | x] = h⟨x, v⟩ for v = ±e_j, against h = 0. Labels private: a packing of sparse θ under
uniform noise. The lemmas of Fano, Le Cam and Pinsker are premises; Bessel's inequality and algebra do the rest.
"""

from sympy import Expr, Le, Min, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LABEL_ONLY, LOCAL, Guarantee, PureDP
from dpcheck.bounds.language.symbols import d, eps, n, quantity
from dpcheck.bounds.library.local.hard_thresholding import noise_C, rip, slope_a, slope_b
from dpcheck.bounds.library.sparse.dp_ight import s_star
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step

h = quantity("shift_h", "distance of the hypotheses from 0", box=(1e-6, 0.5), below=1.0, printed="δ", latex=r"\delta")
chi2 = quantity("chi2_user", "largest chi-square of a user's reports", box=(1e-4, 10), printed="χ²", latex=r"\chi^2")
capacity = quantity("capacity", "C_inf of the hypotheses", printed="C∞", latex=r"C_\infty")
bessel = quantity("bessel", "sum of squared coefficients of a function of norm 1", box=(1e-3, 1), printed="Σ⟨γ,yx_j⟩²")
divergence = quantity("report_divergence", "KL divergence of all reports from their mixture", printed="D(M₀‖M̄)")
size = quantity("gamma_size", "mean square of a function on the records", box=(1e-3, 1), printed="‖γ‖²")
chi2_zcdp = quantity("chi2_zcdp", "e^(kappa+2 rho)-1 of (kappa, rho)-zCDP", box=(1e-4, 10), printed="(e^(κ+2ρ)-1)")
wide = quantity("wide", "log(p/s)", box=(1, 12), printed="log(p/s)", latex=r"\log(p/s)")
risk = quantity("sparse_risk", "private minimax squared error", printed="M(‖·‖²)", latex=r"\mathcal{M}")
sum_risk = quantity("sum_risk", "private minimax error of the sum of coordinates", printed="M(|1ᵀ·|)")
label_risk = quantity("label_risk", "minimax squared error with private labels", printed="M'(‖·‖²)")
u, v = (Symbol(name, nonnegative=True) for name in "uv")
signs = Setting("x uniform on {±1}^p, y = ±1 with E[y | x] = δ⟨x, v⟩, v = ±e_j")
one_sparse = Setting("P(1, p, 2): x uniform on {±1}^p, θ* one-sparse in the unit ball, labels within 2 of ⟨x, θ*⟩")
IN_CLASS = "these laws are in P(1, p, 2), as |y - δ⟨x, v⟩| ≤ 2"
weak, pure = eps <= Rational(1, 2), PureDP(eps, relation=LOCAL)

# How far the hypotheses are apart ------------------------------------------------------------------
lemma10 = Claim(
    id="dwang20.lemma5.3.10", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 5.3.10, equation (5.85)", line=6872),
    says="How well a bounded function tells the 2p hypotheses apart, on average.",
    assumes=[signs],
    states=Le(capacity, h**2 / d),
    ignores_units=True,
    checks=[
        Chain(
            capacity,
            Step("=", h**2 / d * bessel, because=Premise("ψ_v(γ) = δ⟨γ, y⟨x, v⟩⟩, and v = ±e_j: each j twice of 2p"),
                 uses=[signs]),
            Step("<=", STATEMENT, because=Slack(given={
                "Bessel: the yx_j are orthonormal": h**2 / d * (size - bessel), "|γ| ≤ 1": h**2 / d * (1 - size)})),
        )
    ],
)

apart = Claim(
    id="dwang20.theorem5.3.4.divergence", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 5.3.11 at these hypotheses, for any χ²", line=6960),
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
                                 "squares of E (q(z|x)-m₀(z))yx_j at each z, Bessel leaves χ²(q(·|x)‖m₀) ≤ χ²"),
                 uses=[signs]),
            Step("<=", STATEMENT, because=Slack(
                given={"Bessel: the yx_j are orthonormal": n * chi2 * h**2 / (d * (1 - h)) * (1 - bessel)},
                seen=[n * chi2 * h**2 / d * (1 - 2 * h) / (1 - h)])),
        )
    ],
)


# Le Cam --------------------------------------------------------------------------------------------
def le_cam(
    name: str, place: str, line: int, subject: Symbol, scale: Expr, why: str,
    private: Guarantee | None, *weak: Hypothesis, power: int = 2,
) -> Claim:
    """At δ = r/(1+r)/4, or its root, for min{1, r}; χ² is twice the scale at most."""
    loss = h**2 / 2 if power == 2 else h  # of any θ at 0 and at θ_v, together
    r = (d / (n * scale)) ** Rational(power, 2)
    here = {h: (r / (1 + r)) ** Rational(1, power) / 4}
    return Claim(
        id=f"dwang20.{name}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", place, line=line),
        says="No sequentially interactive protocol of this privacy has a smaller error on the worst law of the class.",
        assumes=[one_sparse, *weak],
        states=Rate(subject, Min(1, r), below=True),
        guarantee=private,
        ignores_units=True,
        checks=[
            Chain(
                subject,
                Step(">=", (loss / 2 * (Rational(3, 4) - divergence / 2)).subs(here), because=Premise(
                    "Le Cam: half of what any θ loses at both, times 1-TV; TV ≤ √(D/2) ≤ 1/4 + D/2 (Pinsker)")),
                Step(">=", because=Cites(apart.id, here, granted=IN_CLASS)),
                Step(">=", (loss / 2 * (Rational(3, 4) - 2 * n * scale * h**2 / d)).subs(here), because=Premise(why),
                     uses=[one_sparse, *weak, *([private] if private is not None else [])]),
                Step(">=", r / (1 + r) / 128),
                Step(">=", STATEMENT / 256),
            )
        ],
    )


PURE = "ratios of densities within e^ε: χ² ≤ (e^ε-1)² ≤ 2ε² for ε ≤ 1/2"
theorem2 = le_cam("theorem5.3.2", "Theorem 5.3.2, equation (5.72)", 6403, risk, eps**2, PURE, pure, weak)
theorem3 = le_cam("theorem5.3.3", "Theorem 5.3.3, equation (5.73)", 6417, sum_risk, eps**2, PURE, pure, weak, power=1)
theorem4_zcdp = le_cam(
    "theorem5.3.4.zcdp", "Theorem 5.3.4, under (κ, ρ)-zCDP", 6443, risk, chi2_zcdp,
    "D₂ ≤ κ+2ρ is χ² ≤ e^(κ+2ρ)-1", None,
)
theorem4_renyi = le_cam(
    "theorem5.3.4.renyi", "Theorem 5.3.4, under (2, log(1+ε²))-Renyi privacy", 6447, risk, eps**2,
    "D₂ ≤ log(1+ε²) is χ² ≤ ε²", None, eps <= 1,
)

# Fano ----------------------------------------------------------------------------------------------
whole = d * log(d) / (n * eps**2)
fano = h**2 / 4 * (1 - (n * eps**2 * capacity + log(2)) / (log(2) + log(d)))
at_whole = {h: sqrt(whole / (1 + whole)) / 2}
theorem1 = Claim(
    id="dwang20.theorem5.3.1", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 5.3.1, equation (5.71)", line=6395),
    says="No ε-private protocol without interaction has a smaller error on the worst law of the class.",
    assumes=[one_sparse, weak],
    added=[d >= 2],
    states=Rate(risk, Min(1, whole), below=True),
    guarantee=pure,
    ignores_units=True,
    checks=[
        Chain(
            risk,
            Step(">=", fano.subs(at_whole),
                 because=Premise("Lemma 5.3.7, of Duchi, Jordan and Wainwright: 2p hypotheses, √2δ apart"),
                 uses=[one_sparse, weak, pure]),
            Step(">=", because=Cites(lemma10.id, at_whole, granted=IN_CLASS)),
            Step(">=", whole / (1 + whole) / 64, where={d: 2 * exp(u)}),
            Step(">=", STATEMENT / 128, where={d: 2 * exp(u)}),
        )
    ],
)


def private_labels(name: str, place: str, line: int, slope: Expr, mean: str, *assumes: Hypothesis) -> Claim:
    """Theorems 5.3.7 and 5.3.10: s-sparse θ = δ√(2/s)·z, z of a packing, labels with uniform noise."""
    per_user = slope**2 * (1 + rip) * n * eps**2 / noise_C**2
    r = s_star * wide / per_user
    apart2 = r / (1 + r) / 400  # δ²
    left = apart2 / 8
    records = [Setting("X satisfies RIP at 17s with Δ"), Setting(f"labels within C of {mean}")]
    labels = PureDP(eps, relation=LABEL_ONLY)
    return Claim(
        id=f"dwang20.{name}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", place, line=line),
        says="No ε-private protocol without interaction has a smaller error, labels alone being private.",
        assumes=[weak, *assumes, *records],
        added=[wide >= 3],
        states=Rate(label_risk, Min(1, r), below=True),
        guarantee=labels,
        ignores_units=True,
        checks=[
            Chain(
                label_risk,
                Step(">=", left * (1 - (38 * per_user * apart2 + log(2)) / (s_star / 2 * wide)), because=Premise(
                    "Lemma 5.3.8 with c < 19: δ apart, log|packing| ≥ (s/2)log(p/s) (Lemma 5.3.14, p ≥ 2s), and TV ≤ "
                    "b|⟨θ-θ', x_i⟩|/2C, whose squares add up to 2n(1+Δ)b²δ²/C² at most by RIP"),
                    uses=[*records, weak, labels]),
                Step(">=", left * (Rational(81, 100) - 2 * log(2) / (s_star * wide)), because=Slack(
                    seen=[left * Rational(19, 100) * s_star * wide / (per_user + s_star * wide)])),
                Step(">=", Rational(32, 100) * left, because=Slack(
                    seen=[left * (Rational(49, 100) - 2 * log(2) / (s_star * wide))])),
                Step(">=", STATEMENT / 20000),
            )
        ],
    )


theorem7 = private_labels("theorem5.3.7", "Theorem 5.3.7", 6553, Rational(1), "⟨x, θ*⟩")
theorem10 = private_labels("theorem5.3.10", "Theorem 5.3.10", 6671, slope_b, "f(⟨x, θ*⟩)", slope_a <= slope_b)
