"""Gradient descent by private robust means of each coordinate (dwang20, section 3.2.4, Algorithm 3.2.8, its proofs).

What descent makes of gradients that err by χ: robust_descent.py. In the text the width of the multiplicative noise is
1/√β and the failure probability δ'; here they are 1/√κ and γ. Solver: dpcheck/solvers/heavy_tail/ht_dpsco_robust_gd.py.
"""

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, Delta, T, d, delta, eps, gamma, n, quantity, sigma_g
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as means
from dpcheck.bounds.library.heavy_tail.robust_descent import (
    D0,
    F_T,
    ROOM,
    alpha,
    bent,
    beta,
    chi,
    diam,
    erring,
    risk_after,
)
from dpcheck.bounds.library.heavy_tail.robust_descent import strong as strong_risk
from dpcheck.bounds.library.mechanisms.zcdp import rho
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant, Quoted, Units

v = quantity("v_grad", "bound on E (∇_jℓ)²", loss=2, parameter=-2, printed="v", latex="v")
s = quantity("s_grad", "size from which on φ holds ∇_jℓ down", loss=1, parameter=-1, printed="s", latex="s")
g = quantity(
    "grad_coordinate", "|∇_jℓ(w, x)|", loss=1, parameter=-1, printed="∇_jℓ", latex=r"\nabla_j\ell"
)
term = quantity(
    "robust_term", "s E φ(∇_jℓ(1+η)/s)", loss=1, parameter=-1, printed="s E φ(∇_jℓ(1+η)/s)",
    latex=r"s\mathbb{E}\phi(\nabla_j\ell(1+\eta)/s)",
)
moved = quantity("moved_grad", "l2 sensitivity of a gradient", loss=1, parameter=-1, printed="Δ_g", latex=r"\Delta_g")
uniform = quantity(
    "uniform_err", "largest error of the robust gradient over W", loss=1, parameter=-1, printed="sup ‖ĝ-∇L‖",
    latex=r"\sup_w\|\hat g-\nabla L\|", holds=LIKELY,
)
noisy_uniform = quantity(
    "noisy_uniform_err", "the same with noise", loss=1, parameter=-1, printed="sup ‖g-∇L‖",
    latex=r"\sup_w\|g-\nabla L\|", holds=LIKELY,
)
at_a_point = quantity(
    "point_err", "error of the robust gradient at a point that no record decides", loss=1, parameter=-1,
    printed="‖ĝ(w)-∇L(w)‖", latex=r"\|\hat g(w)-\nabla L(w)\|", holds=LIKELY,
)
noisy_at_a_point = quantity(
    "noisy_point_err", "the same with noise", loss=1, parameter=-1, printed="‖g(w)-∇L(w)‖",
    latex=r"\|g(w)-\nabla L(w)\|", holds=LIKELY,
)
far = Symbol("x", positive=True)
_u, _a, _d, _n = symbols("u a d n", nonnegative=True)
ell, kappa = means.ell, means.kappa
root_gap = sqrt(eps + log(1 / delta)) - sqrt(log(1 / delta))  # its square is the ρ with ρ + 2√(ρ log(1/δ)) = ε

# Algorithm 3.2.8 -------------------------------------------------------------------------------------
estimate = Claim(
    id="dwang20.equation3.78", kind=Kind.IDENTITY,
    source=Source("dwang20", "(3.78), a record's term, for ∇_jℓ > 0", line=1635),
    says="What a record adds to a robust gradient, by (3.68) with a = ∇_jℓ/s and b = ∇_jℓ/(s√β).",
    states=Eq(term, g * (1 - g**2 / (2 * s**2 * kappa)) - g**3 / (6 * s**2)
              + s * means.correction.subs({means.a: g / s, means.b: g / (s * sqrt(kappa))})),
    checks=[
        Chain(
            term,
            Step("=", s * means.smoothed, because=Premise("(3.66) and (3.67): E over η ~ N(0, 1/β), times s")),
            Step("=", because=Cites("dwang20.equation3.68", {means.a: g / s, means.b: g / (s * sqrt(kappa))})),
            Step("=", STATEMENT),
        )
    ],
)

heavy = Setting("records with E (∇_jℓ(w, x))² ≤ v for every w and j")
tuned = sqrt(n * v / (2 * ell))

sensitivity = Claim(
    id="dwang20.theorem3.2.7.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 3.2.7; of one coordinate, so √d times that of d", line=1898),
    says="One record moves a robust gradient by at most 4√2/3·s√d/n.",
    states=Le(moved, 4 * sqrt(2) / 3 * s * sqrt(d) / n),
    provenance=Provenance.READING,
    checks=[
        Chain(
            moved,
            Step("<=", sqrt(d) * Delta, because=Premise("d coordinates, each moved by at most Δ")),
            Step("<=", because=Cites("dwang20.equation3.80.sensitivity", {means.s: s})),
            Step("<=", STATEMENT),
        )
    ],
)
released = Release(sensitivity.formula, Gaussian(sigma_g), steps=T)

privacy = Claim(
    id="dwang20.theorem3.2.7.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.7, with lines 1 and 3 of Algorithm 3.2.8; line 1 as (3.82) needs it: the "
                  "copy has no root over log(1/δ) + ε, and an opening bracket without its square", line=1631),
    says="σ² = 8vdT/(9 log(1/γ) n ε̃) makes Algorithm 3.2.8 (ε, δ)-private, with the ρ of zCDP for ε̃.",
    assumes=[eps < 1],
    states=Eq(sigma_g, sqrt(8 * v * d * T / (9 * ell * n)) * (sqrt(eps + log(1 / delta)) + sqrt(log(1 / delta))) / eps),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    cites=[Cites(f"dwang20.lemma2.1.{part}") for part in ("8", "9.corrected", "10")],
    checks=[Accountant(
        Release(released.sensitivity.subs(s, tuned), Gaussian(sigma_g), steps=T),
        "a record whose gradient turns from far below to far above in every coordinate",
    )],
)

# Errors of robust gradients --------------------------------------------------------------------------
SAME_SIGN = (
    "d = 1, n = 2, gradients of ±√v, as likely: with probability 1/2 both have one sign, and at γ = 1/20 the robust "
    "mean is then √(v/3)·E φ(√3(1+η)) > √v/4 away from 0, with log(1/γ) or twice that for β; L_D may be quite flat"
)
two_records = {beta: 1 / far, n: Integer(2), d: Integer(1), v: Integer(1), gamma: Rational(1, 20), diam: Integer(1)}

lemma9 = Claim(
    id="dwang20.lemma3.2.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.9, (3.95)", line=1911),
    says="Robust gradients err by O(βd√(v log(Δn/γ)/n)), at all w together.",
    assumes=[heavy, Setting("L_D is β-smooth")],
    states=Rate(uniform, beta * d * sqrt(v * log(diam * n / gamma) / n)),
    ignores_units=True,
    checks=[NoConstant(sqrt(v) / 4, two_records, far, SAME_SIGN)],
)

lemma9_corrected = Claim(
    id="dwang20.lemma3.2.9.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.9", line=1911),
    says="At a point that no record decides, with γ/d for γ in s and β: O(√(dv log(d/γ)/n)), however flat L_D is.",
    assumes=[heavy, gamma <= Rational(1, 2)],
    states=Rate(at_a_point, sqrt(d * v * log(d / gamma) / n)),
    corrects="dwang20.lemma3.2.9",
    checks=[
        Chain(
            at_a_point,
            Step("<=", sqrt(d) * means.mean_error, because=Premise("d coordinates, each off with probability γ/d")),
            Step("<=", because=Cites(
                "dwang20.lemma3.2.3.explicit",
                {means.v: v, gamma: gamma / d, kappa: 2 * log(d / gamma), means.s: sqrt(n * v / (2 * log(d / gamma)))},
                granted="gradients at a fixed w are independent numbers"), uses=[heavy]),
            Step("<=", 4 * STATEMENT, where={gamma: means.usual[gamma], d: 1 + _u}),
        )
    ],
)

lemma10 = Claim(
    id="dwang20.lemma3.2.10", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.10, (3.96), ε̃ being the ρ of zCDP", line=1917),
    says="With noise they err by O(βd√(vT log(Δn/γ)/(nε̃))), with probability 1-2γ.",
    assumes=[heavy, Setting("L_D is β-smooth")],
    states=Rate(noisy_uniform, beta * d * sqrt(v * T * log(diam * n / gamma) / (n * rho))),
    ignores_units=True,
    checks=[NoConstant(
        sqrt(v) / 4, {**two_records, T: Integer(1), rho: Rational(1, 50)}, far,
        f"{SAME_SIGN}; with probability 1/4 > 2γ noise leads farther away",
    )],
)

each = log(d / gamma)
lemma10_corrected = Claim(
    id="dwang20.lemma3.2.10.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.10", line=1917),
    says="With the noise of Algorithm 3.2.8, γ/d for γ throughout: O(√(dv log(d/γ)/n) + d√(vT/(nε̃))) at such a point.",
    assumes=[heavy, gamma <= Rational(1, 2)],
    states=Rate(noisy_at_a_point, sqrt(d * v * each / n) + d * sqrt(v * T / (n * rho))),
    corrects="dwang20.lemma3.2.10",
    checks=[
        Chain(
            noisy_at_a_point,
            Step("<=", sqrt(d) * (means.mean_error + sqrt(8 * v * d * T / (9 * each * n * rho)) * sqrt(6 * each)),
                 because=Premise("each coordinate, and its noise beyond σ√(6 log(d/γ)), but for 2(γ/d)³ ≤ γ/(2d)")),
            Step("<=", because=Cites(
                "dwang20.lemma3.2.3.explicit",
                {means.v: v, gamma: 2 * (gamma / d) ** 3, kappa: 2 * each, means.s: sqrt(n * v / (2 * each))},
                granted="gradients at a fixed w are independent numbers"), uses=[heavy]),
            Step("<=", 5 * STATEMENT, where={gamma: means.usual[gamma], d: 1 + _u}),
        )
    ],
)

# Strongly convex -------------------------------------------------------------------------------------
theorem7 = Claim(
    id="dwang20.theorem3.2.7", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.7", line=1669),
    says="Excess risk after T = O(β/α log n) steps of 1/β, with probability 1-2γT.",
    assumes=[heavy, *strong_risk],
    states=Rate(F_T, v * diam**2 * beta**4 * d**2 * log(n) ** 2 * log(1 / delta) * ell / (alpha**3 * n * eps**2)),
    checks=[
        NoConstant(
            beta / 50,
            {alpha: 1 / far, beta: 1 / far, v: 1 / far**2, diam: Integer(2), n: Integer(2), d: Integer(1),
             eps: Rational(1, 2), delta: Rational(1, 10), gamma: Rational(1, 20)},
            far,
            "βw²/2 for every record, on [-1, 1], T = 1: noise moves w by σ/β > 1/2, which does not depend on β as "
            "v = β², so |w| ≥ 1/5 with a chance above 2/3, not 2γT = 1/10; the bound falls like β³",
        ),
        Units(),
    ],
)

theorem7_corrected = risk_after(
    "dwang20.theorem3.2.7.corrected", "dwang20.theorem3.2.7", Source("dwang20", "Theorem 3.2.7", line=1669),
    "In what gradients err by: the start's error and theirs add up, where the text multiplies them.",
)

at_one = d * sqrt(T * log(n / gamma) / (n * rho))
AT_ONE = Setting("χ = d√(T log(n/γ)/(nε̃)), which is Lemma 3.2.10 for β = v = 1")


# Convex ----------------------------------------------------------------------------------------------
taylor = Claim(
    id="dwang20.theorem3.2.5.taylor", kind=Kind.IDENTITY,
    source=Source("dwang20", "end of the proof of Theorem 3.2.5, from below, as it is used", line=1894),
    says="ρ of zCDP is ε²/log(1/δ) at least, up to a number.",
    assumes=[Eq(rho, root_gap**2)],
    added=[eps <= 1, delta <= Rational(1, 2)],
    states=Ge(rho, eps**2 / (7 * log(1 / delta))),
    checks=[
        Chain(
            rho,
            Step(">=", eps**2 / (4 * log(1 / delta) + 2 * eps), because=Premise(
                "√(a+ε) - √a = ε/(√(a+ε) + √a), and (x+y)² ≤ 2x² + 2y²")),
            Step(">=", STATEMENT, where={delta: means.usual[delta], eps: 1 / (1 + _u)}),
        )
    ],
)

theorem7_given = Claim(
    id="dwang20.theorem3.2.7.given", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.7, for v = β = Δ = 1, given Lemma 3.2.10", line=1669),
    says="With constants of order 1 the rate follows from gradients that err by at most this χ, Lemma 3.2.10 at β = 1.",
    assumes=[*strong_risk, *erring, Eq(rho, root_gap**2), Eq(T, (1 + alpha) / alpha * log(n)), alpha <= 1, AT_ONE],
    added=[delta <= Rational(1, 2), gamma <= Rational(1, 2), eps <= 1, n >= 3],
    states=Rate(F_T, d**2 * log(n) ** 2 * log(1 / delta) * ell / (alpha**3 * n * eps**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            F_T,
            Step("<=", because=Cites("dwang20.theorem3.2.7.corrected", {
                chi: at_one, beta: Integer(1), diam: Integer(1)}), uses=[AT_ONE]),
            Step("<=", 1 / n**2 + at_one**2 * (1 + alpha) ** 2 / alpha**2, because=Premise(
                "(1-x)^T ≤ e^(-xT), which is 1/n here, and (a+b)² ≤ 2a² + 2b²")),
            Step("<=", 1 / n + 8 * d**2 * log(n) * log(n / gamma) / (alpha**3 * n * rho), because=Slack(
                {"n ≥ 1": 1 / n - 1 / n**2, "log n and log(n/γ) are positive":
                    d**2 * log(n) * log(n / gamma) / (alpha**3 * n * rho) * (8 - (1 + alpha) ** 3)})),
            Step("<=", because=Cites("dwang20.theorem3.2.5.taylor")),
            Step("<=", 200 * STATEMENT, where={**means.usual, n: exp(1 + _n), alpha: 1 / (1 + _a), d: 1 + _d}),
        )
    ],
)

balanced = (d**2 * log(n / gamma) / (n * rho)) ** Rational(1, 3)  # χ = d√(T log(n/γ)/(nρ)) at T = 1/χ
rate8 = d ** Rational(2, 3) * (log(1 / delta) * log(n / gamma) / (n * eps**2)) ** Rational(1, 3)
tuned8 = [*bent, ROOM, Eq(rho, root_gap**2), Ge(n, d**2 * log(n / gamma) / rho), Eq(T, 1 / balanced)]

theorem8 = Claim(
    id="dwang20.theorem3.2.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.8, (3.82), for v = β = D₀ = 1; √ε in T is √ε̃ in its proof", line=1690),
    says="Excess risk of the last iterate after T = 1/χ steps, convex case; Õ leaves powers of logarithms free.",
    assumes=[heavy, *tuned8],
    states=Rate(F_T, rate8),
    ignores_units=True,
    checks=[Quoted(
        "that all gradients err by at most χ at once is Lemma 3.2.10, whose heart Lemma 3.2.9 quotes from [148]; as "
        "printed both fail where L_D is flat. What follows from it: dwang20.theorem3.2.8.given")],
)

theorem8_given = Claim(
    id="dwang20.theorem3.2.8.given", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.2.8, after Lemma 3.2.10, for v = β = D₀ = 1", line=1690),
    says="It follows from Lemma 3.2.10 at β = v = 1, and any other way to gradients that err by at most this χ.",
    assumes=[*tuned8, *erring, AT_ONE],
    added=[delta <= Rational(1, 2), eps <= 1],
    states=Rate(F_T, rate8),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            F_T,
            Step("<=", because=Cites("dwang20.equation3.100", {chi: balanced, beta: Integer(1), D0: Integer(1)}),
                 uses=[AT_ONE]),
            Step("<=", 17 * balanced, because=Slack({"n ≥ d² log(n/γ)/ε̃": (balanced - balanced**2) / 2},
                                                    seen=[balanced / 2])),
            Step("<=", because=Cites("dwang20.theorem3.2.5.taylor")),
            Step("<=", 34 * STATEMENT),
        )
    ],
)
