"""Sparse linear and logistic regression by DP-IGHT and DPSL-KT (lwang21, sections 2.5.2 and 3.3.2).

What the theorems of dp_ight.py and dpsl_kt.py come to for rows with a bound K: on their norm in chapter 2, on their
entries in chapter 3. Which of them remarks and tables compare: sparse_regression_comparison.py.
"""

from sympy import Eq, Expr, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, mu, n
from dpcheck.bounds.library.convex.variance_reduction import sigma_n
from dpcheck.bounds.library.sparse.dp_ight import (
    bound,
    enough_kept,
    error_ight,
    from_0,
    kappa_s,
    kept,
    label_noise,
    residual,
    row,
    s_star,
    shrinks,
    statistical,
    truth,
    turned,
)
from dpcheck.bounds.library.sparse.dpsl_kt import (
    alpha_pub,
    answered,
    as_printed,
    beta_pub,
    big,
    chapter2,
    corollary7_explicit,
    curved,
    error_kt,
    explicit,
    log_delta,
    without_curvature,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

u, v, w = (Symbol(name, nonnegative=True) for name in "uvw")

# DP-IGHT -------------------------------------------------------------------------------------------
regression_noise = sqrt(2 * c * T * log(1 / delta)) * row * (sqrt(2 * kept) * truth + label_noise * log(n)) / (n * eps)

corollary6_privacy = Claim(
    id="lwang21.corollary2.5.6.privacy",
    source=Source("lwang21", "Corollary 2.5.6, sparse linear regression", line=902),
    kind=Kind.PRIVACY,
    says="With this noise, λ not given in the source, DP-IGHT is (ε, δ)-private.",
    assumes=[Setting("‖x‖ ≤ K, labels ⟨x, θ*⟩ + ξ with Gaussian ξ: residuals have no bound")],
    states=Eq(sigma_n, regression_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    ignores_units=True,
    checks=[
        Accountant(
            Release(row * residual / n, Gaussian(sigma_n), steps=T),
            "a squared loss's gradient grows with the record's own residual",
            box={T: (1, 1), kept: (1, 1), truth: (1, 1), label_noise: (1, 1), row: (1, 1), eps: (1e-2, 1)},
        )
    ],
)

clipped = row * (sqrt(2 * kept) * truth + label_noise * log(n))
corollary6_privacy_corrected = Claim(
    id="lwang21.corollary2.5.6.privacy.corrected",
    source=Source("lwang21", "Corollary 2.5.6, sparse linear regression", line=902),
    kind=Kind.PRIVACY,
    says="It is with λ = 6 and ε at most log(1/δ), if gradients are clipped to the length that its proof gives them.",
    assumes=[Setting("gradients of records are clipped to K(√(2s)·‖θ*‖ + ν·log n), a public number")],
    added=[n >= 2, eps <= log(1 / delta)],
    states=Eq(sigma_n, regression_noise.subs(c, 6)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.corollary2.5.6.privacy",
    ignores_units=True,
    checks=[Accountant(Release(2 * clipped / n, Gaussian(sigma_n), steps=T), turned)],
)

enough_steps = Setting("T, a logarithm times κ, is so large that (1-1/(7κ))^T‖θ*‖² is below the term of the noise")
privately = T * s_star * log(d) * log(1 / delta) / (n * eps) ** 2


def with_numbers(
    data: list[Hypothesis], noise2: Expr, why: str, noise: list[Hypothesis], statistics: Expr,
    where: dict[Symbol, Expr],
) -> Chain:
    """Equation (2.8.3) at the printed noise, whose square is at most `noise2`, once enough steps are taken.

    `data` and `noise` are the hypotheses on which `statistics` and `noise2` rest.
    """
    left = shrinks**T * truth**2
    felt = (bound - left).subs(statistical, statistics)
    return Chain(
        error_ight,
        Step("<=", because=Cites("lwang21.equation2.8.3", {statistical: statistics}), uses=data),
        Step("<=", 2 * felt, because=Slack(given={"T is large enough": felt - left}), uses=[enough_steps]),
        Step("<=", (2 * felt).subs(sigma_n, sqrt(noise2)), because=Premise(why), uses=noise),
        Step("<=", 10**10 * STATEMENT, where={delta: exp(-w), **where}),
    )


spread = (truth**2 + label_noise**2) * row**2
largest_residual2 = 148 * s_star * truth**2 + 2 * (label_noise * log(n)) ** 2
regression_rows = Setting("sub-Gaussian rows, ‖x‖ ≤ K, n ≥ C₁s·log d: μ = 4/5, β = 6/5")
regression_told = Setting(
    "λ is 3, as in Remark 2.5.3, and ε(n, γ) = 2νK√(log d/n), as Lemma 2.9.2 has it up to a constant"
)
corollary6 = Claim(
    id="lwang21.corollary2.5.6",
    source=Source("lwang21", "Corollary 2.5.6, sparse linear regression", line=921),
    kind=Kind.UTILITY,
    says="Its squared error; T and log²n stand for the log terms on which its constants depend.",
    assumes=[
        regression_rows, *from_0, Eq(kappa_s, Rational(3, 2)),
        Eq(mu, Rational(4, 5)), enough_steps,
    ],
    added=[
        enough_kept, n >= 3, d >= 2, regression_told,
    ],
    states=Rate(
        error_ight,
        label_noise**2 * row**2 * s_star * log(d) / n + spread * s_star * privately * log(n) ** 2,
    ),
    ignores_units=True,
    checks=[
        with_numbers(
            [regression_rows, regression_told],
            6 * T * log(1 / delta) * (row / (n * eps)) ** 2 * largest_residual2,
            "σ as printed with s = 37s*, and (a+b)² ≤ 2a² + 2b²", [regression_told, enough_kept],
            2 * label_noise * row * sqrt(log(d) / n), {n: 3 * exp(u), s_star: 1 + v},
        )
    ],
)

logistic_rows = Setting("sub-Gaussian rows, ‖x‖ ≤ K, n ≥ C₁s·log d")
logistic_told = Setting("ε(n, γ) = 2K√(log d/n), as the proof has it up to a constant")
logistic_noise = Eq(sigma_n, sqrt(T * log(1 / delta)) * row / (n * eps))
logistic = Setting("logistic losses, ‖x‖ ≤ K")
corollary8 = Claim(
    id="lwang21.corollary2.5.8",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression", line=1006),
    kind=Kind.PRIVACY,
    says="With σ² = TK²log(1/δ)/(nε)² DP-IGHT is (ε, δ)-private; logistic losses are K-Lipschitz.",
    assumes=[lipschitz(row), logistic],
    states=logistic_noise,
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Accountant(
            Release(row / n, Gaussian(sigma_n), steps=T),
            "a record with ‖x‖ = K whose label changes: logistic gradients are x apart at every θ; one step, s = d",
            box={T: (1, 1)},
        )
    ],
)

corollary8_corrected = Claim(
    id="lwang21.corollary2.5.8.corrected",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression", line=1006),
    kind=Kind.PRIVACY,
    says="With 12 times that variance, for ε at most log(1/δ).",
    assumes=[lipschitz(row), logistic, eps <= log(1 / delta)],
    states=Eq(sigma_n, sqrt(12 * T * log(1 / delta)) * row / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.corollary2.5.8",
    ignores_units=True,
    checks=[Accountant(Release(2 * row / n, Gaussian(sigma_n), steps=T), turned)],
)

corollary8_utility = Claim(
    id="lwang21.corollary2.5.8.utility",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression", line=1020),
    kind=Kind.UTILITY,
    says="Its squared error; T stands for the log terms on which its constants depend, and κ and μ are constants.",
    assumes=[
        lipschitz(row), logistic_rows, *from_0, enough_steps, logistic_noise,
    ],
    added=[
        enough_kept, d >= 2, kappa_s <= 3, mu >= Rational(1, 10),
        logistic_told,
    ],
    states=Rate(error_ight, row**2 * s_star * log(d) / n + row**2 * privately),
    ignores_units=True,
    checks=[
        with_numbers(
            [logistic_rows, logistic_told],
            T * log(1 / delta) * (row / (n * eps)) ** 2, "σ as printed", [logistic_noise],
            2 * row * sqrt(log(d) / n), {kappa_s: 3 / (1 + u), mu: (1 + v) / 10},
        )
    ],
)

# DPSL-KT without curvature, then with --------------------------------------------------------------
corollary9 = without_curvature(
    "corollary3.3.9", "Corollary 3.3.9, sparse linear regression", 2908,
    "For linear regression on rows with ‖x‖∞ ≤ K.",
    label_noise**2 * row**2 * s_star * log(d) / n
    + alpha_pub**2 * row**2 * s_star**2 * sqrt(log(d) * log(1 / delta)) / (beta_pub * n * eps),
    sqrt(s_star) * row**2,
)
corollary13 = without_curvature(
    "corollary3.3.13", "Corollary 3.3.13, sparse logistic regression", 3083,
    "For logistic regression on rows with ‖x‖∞ ≤ K.",
    row**2 * s_star * log(d) / n + alpha_pub**2 * row * answered / beta_pub, row,
)

statistics = 2 * label_noise * row * sqrt(log(d) / n)  # ‖∇L(θ*)‖∞ = ‖X^Tξ/n‖∞, by Lemma 3.6.3
rows_taught = alpha_pub**2 * log(d) * log(1 / delta) / (beta_pub * (n * eps) ** 2)

corollary11 = Claim(
    id="lwang21.corollary3.3.11", kind=Kind.UTILITY,
    source=Source("lwang21", "Corollary 3.3.11, and again Corollary 3.5.1", line=2996),
    says="For linear regression with μ = 4/5 and β = 6/5, γ being √s·K² up to a constant; so its square is sK⁴.",
    assumes=[Setting("Gaussian rows with ‖x‖∞ ≤ K, σ, λ and s of Corollary 3.3.7"), n >= c1 * s_star * log(d)],
    states=Rate(error_kt, label_noise**2 * row**2 * s_star * log(d) / n + row**2 * s_star**3 * rows_taught),
    hidden=(c1,),
    ignores_units=True,
    checks=[
        NoConstant(
            row**4 * log_delta / (n * eps) ** 2,
            {row: big, n: big, label_noise: 1 / big, d: 100, delta: exp(-1), eps: 1, s_star: 1, alpha_pub: 1,
             beta_pub: 1},
            big,
            "K is a bound on rows, loose for large K: the noise of one entry that the student keeps, σ²/(mβ̃) up to a "
            "number, at the σ of γ = √s·K²",
        )
    ],
)

constant_curvature = Setting("κ = 3/2, μ = 4/5")
regression_teaching = Setting("ε(n, ζ) = 2νK√(log d/n), by Lemma 3.6.3, but for 2/d")
corollary11_corrected = Claim(
    id="lwang21.corollary3.3.11.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Corollary 3.3.11, and again Corollary 3.5.1", line=2996),
    says="With K⁴; γ is √s·K².",
    assumes=[curved, as_printed, constant_curvature],
    added=[*chapter2, delta <= Rational(1, 2), regression_teaching],
    states=Rate(error_kt, label_noise**2 * row**2 * s_star * log(d) / n + row**4 * s_star**3 * rows_taught),
    corrects="lwang21.corollary3.3.11",
    ignores_units=True,
    checks=[
        Chain(
            error_kt,
            Step("<=", because=explicit(
                sqrt(37 * s_star) * row**2, kappa_s=Rational(3, 2), mu=Rational(4, 5), statistical=statistics),
                uses=[as_printed, constant_curvature, regression_teaching]),
            Step("<=", 10**12 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)

logistic_teaching = explicit(row, statistical=2 * row * sqrt(log(d) / n))
at_the_ends = corollary7_explicit.formula.subs(dict(logistic_teaching.where), simultaneous=True).subs(
    {kappa_s: 3, mu: Rational(1, 10)}
)

logistic_slopes = Setting("ε(n, ζ) = 2K√(log d/n), by Hoeffding's inequality, but for 2/d")
corollary15 = Claim(
    id="lwang21.corollary3.3.15", kind=Kind.UTILITY,
    source=Source("lwang21", "Corollary 3.3.15, and again Corollary 3.5.3", line=3153),
    says="For logistic regression, where γ is K; μ and κ are constants, as its proof has them.",
    assumes=[curved, as_printed, kappa_s >= 1],
    added=[
        *chapter2, delta <= Rational(1, 2), kappa_s <= 3, mu >= Rational(1, 10),
        logistic_slopes,
    ],
    states=Rate(error_kt, row**2 * s_star * log(d) / n + row**2 * s_star**2 * rows_taught),
    ignores_units=True,
    checks=[
        Chain(
            error_kt,
            Step("<=", because=logistic_teaching, uses=[as_printed, logistic_slopes]),
            Step("<=", at_the_ends, where={kappa_s: 3 / (1 + w), mu: (1 + u) / 10, delta: 2 ** -(1 + v)}),
            Step("<=", 10**14 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)
