"""DP gradient EM: a private robust mean of each coordinate of EM's gradient (dwang20, section 7.2.3, Algorithm 7.2.56).

The failure probability, printed ζ, is γ; the γ of Lipschitz-Gradient-2 is γ_Q; the width of the multiplicative noise,
1/√β, is 1/√κ. μ, v, γ_Q are those of Q. How large τ is in three models: em_moments.py.
Solver: dpcheck/solvers/latent/dp_gradient_em.py.
"""

from typing import Any

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import LOGS_FREE, Cites, Claim, Kind, Rate, Setting, Source, pretty
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, T, c, d, delta, eps, gamma, n, quantity, sigma_g
from dpcheck.bounds.library.heavy_tail import ht_dpsco_robust_gd as descent
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as means
from dpcheck.bounds.library.latent.em_moments import largest, norm, r, sd
from dpcheck.bounds.library.mechanisms.zcdp import rho
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, OnlySolution, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant, Units

tau = quantity("tau_em", "bound on E (∇_jq)²", loss=2, parameter=-2, printed="τ", latex=r"\tau")
s = descent.s
mu_Q = quantity("mu_Q", "smoothness of Q(·; β*)", loss=1, parameter=-2, printed="μ", latex=r"\mu")
v_Q = quantity("v_Q", "strong concavity of Q(·; β*)", loss=1, parameter=-2, printed="v", latex="v")
gamma_Q = quantity("gamma_Q", "γ of Lipschitz-Gradient-2", loss=1, parameter=-2, printed="γ_Q", latex=r"\gamma_Q")
R = quantity("R_em", "radius of the set B about β*", parameter=1, printed="R", latex="R")
chi = quantity("chi_em", "bound on what a noisy gradient errs by", loss=1, parameter=-1, printed="χ", latex=r"\chi")
moved = quantity("moved_grad_em", "l2 sensitivity of a robust gradient", loss=1, parameter=-1, printed="Δ_g")
nearness = quantity("k_em", "R/‖β*‖", below=1.0, box=(1e-2, 1), printed="k")
dist = quantity("dist_em", "‖β - β*‖", parameter=1, printed="‖β-β*‖", latex=r"\|\beta-\beta^*\|")
exact = quantity("exact_em", "‖β + η∇Q(β; β) - β*‖", parameter=1, printed="‖β+η∇Q(β;β)-β*‖")
toward = quantity("toward_em", "‖β + η∇Q(β; β*) - β*‖", parameter=1, printed="‖β+η∇Q(β;β*)-β*‖")
drift = quantity("drift_em", "‖∇Q(β; β) - ∇Q(β; β*)‖", loss=1, parameter=-1, printed="‖∇Q(β;β)-∇Q(β;β*)‖")
dist_T = quantity(
    "dist_T_em", "‖β^T - β*‖", parameter=1, printed="‖β^T-β*‖", latex=r"\|\beta^T-\beta^*\|", holds=LIKELY
)
off = quantity(
    "off_em", "error of a noisy robust gradient at a point that no record decides", loss=1, parameter=-1,
    printed="‖∇̃Q_n-∇Q‖", latex=r"\|\tilde\nabla Q_n-\nabla Q\|", holds=LIKELY,
)
aim = quantity("alpha_em", "error that is asked for", box=(1e-3, 1), printed="α", latex=r"\alpha")
enough = quantity("n_enough_em", "number of records at which the error is α", printed="n(α)", latex=r"n(\alpha)")
each, ell, far = log(d / gamma), log(1 / gamma), Symbol("x", positive=True)
_u, _v = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True)
per_ratio = (sqrt(eps + log(1 / delta)) + sqrt(log(1 / delta))) / eps  # 1/ε̃

# Privacy -----------------------------------------------------------------------------------------------
sensitivity = Claim(
    id="dwang20.theorem7.2.2.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 7.2.2; of one coordinate, so √d times that of d", 9978),
    says="One record moves a robust gradient by at most 4√2/3·s√d/n.",
    states=Le(moved, 4 * sqrt(2) / 3 * s * sqrt(d) / n),
    checks=[
        Chain(
            moved,
            Step("<=", sqrt(d) * means.Delta, because=Premise("d coordinates, each moved by at most Δ")),
            Step("<=", because=Cites("dwang20.equation7.59.sensitivity", {means.s: s})),
            Step("<=", STATEMENT),
        )
    ],
)
released = Release(sensitivity.formula, Gaussian(sigma_g), steps=T)
truncation = sqrt(n * tau / (2 * each))  # s of line 1
printed_noise = sqrt(8 * tau * d * T / (9 * each * n)) * per_ratio
FAR = "a record whose gradient turns from far below to far above in every coordinate"

privacy = Claim(
    id="dwang20.theorem7.2.2", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 7.2.2, with lines 1 and 3 of Algorithm 7.2.56", 9621),
    says="σ² = 8τdT/(9βnε̃²) with s = √(nτ/(2β)), β = log(d/γ), makes Algorithm 7.2.56 (ε, δ)-private.",
    assumes=[eps < 1],
    states=Eq(sigma_g, printed_noise),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.lemma7.2.18"), Cites("dwang20.lemma7.2.19")],
    checks=[Accountant(Release(released.sensitivity.subs(s, truncation), Gaussian(sigma_g), steps=T), FAR)],
)

# Errors of a step --------------------------------------------------------------------------------------
curved = [
    Setting("Q(·; β*) is μ-smooth and v-strongly concave on B, β* its maximiser; η = 2/(μ+v)"),
    Setting("Lipschitz-Gradient-2(γ_Q, B): ‖∇Q(β; β*) - ∇Q(β; β)‖ ≤ γ_Q‖β - β*‖ on B"),
]
eta_Q, iota = 2 / (mu_Q + v_Q), 1 - 2 * (v_Q - gamma_Q) / (mu_Q + v_Q)
contraction = Claim(
    id="dwang20.equation7.75", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.75), with (7.72) and (7.74)", 10000),
    says="An exact step brings β nearer to β* by the factor 1 - 2(v-γ_Q)/(μ+v).",
    assumes=[*curved, v_Q <= mu_Q],
    states=Le(exact, iota * dist),
    checks=[
        Chain(
            exact,
            Step("<=", toward + eta_Q * drift, because=Premise("the triangle inequality")),
            Step("<=", STATEMENT, because=Slack({
                "(7.74): gradient ascent on Q(·; β*) with η = 2/(μ+v)":
                    (mu_Q - v_Q) / (mu_Q + v_Q) * dist - toward,
                "Lipschitz-Gradient-2": eta_Q * (gamma_Q * dist - drift)}), uses=[*curved, v_Q <= mu_Q]),
        )
    ],
)
heavy = Setting("E (∇_jq(β; β))² ≤ τ for every j and every β of B")
fresh = Setting("β^(t-1) is made without the records of step t, as if each step had n of its own")
few = each <= d * T / rho
stray = Claim(
    id="dwang20.equation7.78", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.78), where β = log(d/γ) cancels the logarithm", 10022),
    says="A noisy robust gradient errs by O(d√(τT/(nε̃²))), with probability 1-2γ.",
    assumes=[heavy],
    added=[fresh, gamma <= Rational(1, 2), few],
    states=Rate(off, d * sqrt(tau * T / (n * rho))),
    checks=[
        Chain(
            off,
            Step("<=", sqrt(d) * (means.mean_error + sqrt(8 * tau * d * T / (9 * each * n * rho)) * sqrt(6 * each)),
                 because=Premise("each coordinate, and its noise beyond σ√(6 log(d/γ)), but for 2(γ/d)³ ≤ γ/(2d)"),
                 uses=[heavy, fresh]),
            Step("<=", because=Cites(
                "dwang20.lemma3.2.3.explicit",
                {means.v: tau, gamma: 2 * (gamma / d) ** 3, means.kappa: each, means.s: truncation},
                granted="gradients at a fixed β are independent numbers"), uses=[fresh]),
            Step("<=", 5 * (sqrt(d * tau * each / n) + d * sqrt(tau * T / (n * rho))),
                 where={gamma: means.usual[gamma], d: 1 + _u}),
            Step("<=", 10 * STATEMENT, because=Slack(
                {"log(d/γ) ≤ dT/ε̃²": 5 * (d * sqrt(tau * T / (n * rho)) - sqrt(d * tau * each / n))}), uses=[few]),
        )
    ],
)

one_step = Setting("every noisy gradient errs by at most χ ≤ (v-γ_Q)R/2, and ‖β⁰-β*‖ ≤ R/2: no step leaves B")


def after(claim_id: str, corrects: str, source: Source, says: str, *more: Any) -> Claim:
    """What T steps come to: the start's error and that of the gradients add up."""
    return Claim(
        id=claim_id, kind=Kind.UTILITY, source=source, says=says,
        assumes=[*curved, one_step, v_Q <= mu_Q, gamma_Q < v_Q, *more],
        states=Le(dist_T, iota**T * R / 2 + chi / (v_Q - gamma_Q)),
        corrects=corrects,
        cites=[Cites("dwang20.equation7.75")],
        checks=[
            Chain(dist_T, Step("<=", STATEMENT, uses=[*curved, one_step], because=Induction(
                T, start=R / 2, step=lambda b: iota * b + 2 * chi / (mu_Q + v_Q),
                given="(7.75) and (7.71): a step brings a distance b to ιb + ηχ at most",
            )))
        ],
    )


LAST = (
    "Q(β; β') = -‖β-y‖²/2 in one dimension, y normal: nothing is latent, each noisy gradient is a robust mean, and the "
    "noise of the last step alone, σ = √(8τT/(9 log(1/γ)n))/ε̃, is in β^T"
)
noise_left = sqrt(tau * log(1 / delta) / (n * ell)) / (5 * eps)
shrinking = {n: far**6, d: Integer(1), eps: Rational(1, 2), delta: Rational(1, 10), gamma: 1 / far}
many = Ge(n, c * d**2 * tau * log(1 / delta) * ell * log(n) / ((v_Q - gamma_Q) ** 2 * eps**2 * R**2))
theorem3 = Claim(
    id="dwang20.theorem7.2.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.2.3, (7.62) and (7.63)", 9646),
    says="The error of Algorithm 7.2.56 after T = O((μ+v)/(v-γ_Q) log n) steps, with R as a factor.",
    assumes=[*curved, heavy, gamma_Q < v_Q, v_Q <= mu_Q, many, LOGS_FREE],
    states=Rate(dist_T, R * sqrt((v_Q + mu_Q) / (v_Q - gamma_Q) ** 3) * d * log(1 / delta) * ell * sqrt(tau)
                / sqrt(n * eps**2)),
    hidden=[c],
    checks=[
        NoConstant(
            noise_left, {**shrinking, R: 1 / far, tau: Integer(2), mu_Q: Integer(1), v_Q: Integer(1),
                         gamma_Q: Rational(1, 2)}, far,
            f"{LAST}, however small R is; Remark 7.2.1 has small R in mind: “n should be large enough”, as it is here"),
        Units(),
    ],
)
theorem3_corrected = after(
    "dwang20.theorem7.2.3.corrected", theorem3.id, theorem3.source,
    "In what noisy gradients err by: R multiplies what fades alone; at points that no record decides χ is (7.78)'s.",
)

# Models ------------------------------------------------------------------------------------------------
OF_MODELS = (
    "τ is a bound on a second moment, so at least cσ², and the noise of the last step alone, η√(8τT/(9 log(1/γ)n))/ε̃, "
    "is in β^T, however small ‖β*‖ is"
)
small = {**shrinking, norm: 1 / far, largest: 1 / far, r: Integer(10)}
apart = {**small, sd: far ** Rational(-5, 4)}  # ‖β*‖/σ is beyond any r
blurred = {**small, sd: 1 / (10 * far)}


def model(
    number: str, line: int, name: str, radius: Any, says: str, so: str, factor: Any, path: Any, *size: Any
) -> tuple[Claim, Claim]:
    """Theorems 7.2.4 to 7.2.6: (7.63) with the model's τ and μ = v = 1, and ‖β*‖ for R, which is `radius`."""
    source = Source("dwang20", f"Theorem {number}", line)
    sizes = Setting(f"{name}, μ = v = 1, R = {pretty(radius)}")
    printed = Claim(
        id=f"dwang20.theorem{number}", kind=Kind.UTILITY, source=source, says=says,
        assumes=[Setting(f"{name}, β⁰ as near as printed; T = O(log n), η = O(1)"), *size, LOGS_FREE],
        states=Rate(dist_T, norm * d * log(1 / delta) * ell * factor / sqrt(n * eps**2)),
        ignores_units=True, hidden=[c],
        checks=[NoConstant(sd * sqrt(log(1 / delta) / (n * ell)) / (100 * eps), path, far, OF_MODELS)],
    )
    right = Claim(
        id=f"{printed.id}.corrected", kind=Kind.UTILITY, source=source,
        says=f"{name}: ‖β*‖ multiplies what fades alone; χ is (7.78)'s, with τ = {so}.",
        assumes=[sizes, *curved, one_step, gamma_Q < 1],
        states=Le(dist_T, gamma_Q**T * radius / 2 + chi / (1 - gamma_Q)),
        corrects=printed.id, ignores_units=True,
        checks=[
            Chain(
                dist_T,
                Step("<=", because=Cites(
                    "dwang20.theorem7.2.3.corrected", {mu_Q: Integer(1), v_Q: Integer(1), R: radius}),
                    uses=[sizes]),
                Step("<=", STATEMENT),
            )
        ],
    )
    return printed, right


theorem4, theorem4_corrected = model(
    "7.2.4", 9678, "a mixture", norm / 4, "Error for Gaussian mixtures, (7.65).", "O(‖β*‖∞² + R² + σ²)",
    sqrt(largest**2 + sd**2), apart, norm >= r * sd, largest <= norm,
    Ge(n, c * d**2 * sqrt(largest**2 + sd**2) * log(1 / delta) * ell / (eps**2 * norm**2)),
)
theorem5, theorem5_corrected = model(
    "7.2.5", 9708, "mixed regressions", norm / 32,
    "Error for mixed regressions, (7.66); a sum for the larger of two.", "O(‖β*‖² + σ²)",
    sqrt(norm**2 + sd**2 + d * norm**2), apart, norm >= r * sd,
    Ge(n, c * d**2 * ((norm**2 + sd**2) ** 2 + d * norm**2) * log(1 / delta) * ell / (eps**2 * norm**2)),
)
theorem6, theorem6_corrected = model(
    "7.2.6", 9734, "missing covariates", nearness * norm, "Error for regression with missing covariates.",
    "O((1+r²)²(‖β*‖² + σ²))", sqrt(d) * norm + sd**2 + norm**2, blurred, norm <= r * sd,
    Ge(n, c * d**2 * (sqrt(d) * norm + sd**2 + norm**2) ** 2 * log(1 / delta) * ell / (eps**2 * norm**2)),
)

at_error = Setting("n(α) is where d/(√n ε) = α")
remark2 = Claim(
    id="dwang20.remark7.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Remark 7.2.2, sample complexity at ‖β*‖, σ = O(1)", 9688),
    says="The error of (7.65), d/(√n ε), here printed d/√(nε), is α with n of order d²/(α²ε), ε not squared.",
    assumes=[at_error, LOGS_FREE], states=Rate(enough, d**2 / (aim**2 * eps)),
    ignores_units=True,
    checks=[NoConstant(d**2 / (aim**2 * eps**2), {d: Integer(1), aim: Rational(1, 2), eps: 1 / far}, far,
                       "d/(√n ε) = α at n = d²/(α²ε²)")],
)
remark2_corrected = Claim(
    id="dwang20.remark7.2.2.corrected", kind=Kind.UTILITY,
    source=remark2.source, says="It takes d²/(α²ε²).",
    assumes=[at_error], states=Rate(enough, d**2 / (aim**2 * eps**2)),
    corrects=remark2.id, ignores_units=True,
    checks=[Chain(
        enough,
        Step("=", d**2 / (aim**2 * eps**2), uses=[at_error], because=OnlySolution(
            lambda x: [d / (sqrt(x) * eps) - aim], "it falls in n")),
        Step("<=", STATEMENT),
    )],
)
