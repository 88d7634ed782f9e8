"""DP-IGHT (lwang21, chapter 2, Algorithm 1): noisy gradients and hard thresholding; what Table 2.1 rests on.

Theorems 2.5.2 and 2.5.4, Remark 2.5.3, Corollaries 2.5.6 and 2.5.8. Of the chapter's lemmas none is here, and there
is no solver: utility is judged from the recursion that the proof of Theorem 2.5.4 ends in.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP
from dpcheck.bounds.language.symbols import MEAN, T, beta, c, d, delta, eps, mu, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost, Less, NoConstant, Proof, Same

budget = quantity("budget", "zero-concentrated privacy parameter", box=(1e-3, 10), printed="ρ", latex=r"\rho")
s_star = quantity("s_star", "nonzeros of the true parameter", box=(1, 1e3), integer=True, printed="s°", latex="s^*")
kept = quantity("kept", "coordinates that thresholding keeps", box=(1, 1e4), integer=True, printed="s", latex="s")
kappa_s = quantity("kappa_s", "sparse condition number", box=(1, 1e3), printed="κ", latex=r"\kappa")
truth = quantity("truth", "norm of the true parameter", parameter=1, printed="‖θ°‖", latex=r"\|\theta^*\|")
row = quantity("row", "bound on the norm of a row", box=(0.1, 10), printed="K", latex="K")
label_noise = quantity("label_noise", "deviation of the labels", box=(0.01, 10), printed="ν", latex=r"\nu")
statistical = quantity(
    "statistical", "largest coordinate of the gradient at the truth", loss=1, parameter=-1, printed="ε(n,γ)"
)
residual = quantity("residual", "distance of two neighbours' residuals", box=(1e-2, 1e6), printed="|r-r'|")
contraction = quantity("contraction", "factor of the squared error in a step", printed="α₁(1-3ημ/7)")
error_ight = quantity("error_ight", "E ||theta_T - theta*||^2", parameter=2, printed="E‖θ_T-θ°‖²", holds=MEAN)

losses = [lipschitz(G)]
gradients = Release(2 * G / n, Gaussian(sigma_n), steps=T)  # replacing a record moves the mean gradient by 2G/n
turned = "linear losses, one of which turns round: T full gradients, each 2G/n apart"
big = Symbol("big", positive=True)
u, v, x = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True), Symbol("x", positive=True)

# Privacy -------------------------------------------------------------------------------------------
theorem2 = Claim(
    id="lwang21.theorem2.5.2",
    source=Source("lwang21", "Theorem 2.5.2"),
    kind=Kind.PRIVACY,
    says="DP-IGHT with noise σ² = TG²/(n²ρ) is ρ-zCDP.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(T / budget) * G / n),
    guarantee=ZCDP(budget),
    checks=[Accountant(gradients, turned)],
)

theorem2_corrected = Claim(
    id="lwang21.theorem2.5.2.corrected",
    source=Source("lwang21", "Theorem 2.5.2"),
    kind=Kind.PRIVACY,
    says="It takes σ² = 2TG²/(n²ρ): the sensitivity is 2G/n, and (2G/n)²/(2σ²) is added up T times.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(2 * T / budget) * G / n),
    guarantee=ZCDP(budget),
    corrects="lwang21.theorem2.5.2",
    checks=[Accountant(gradients, turned)],
)

converted = sqrt(log(1 / delta) + eps) - sqrt(log(1 / delta))  # √ρ with ρ + 2√(ρ·log(1/δ)) = ε

remark3 = Claim(
    id="lwang21.remark2.5.3",
    source=Source("lwang21", "Remark 2.5.3"),
    kind=Kind.PRIVACY,
    says="With σ = √T·G/(n(√(log(1/δ)+ε) - √log(1/δ))) it is (ε, δ)-private.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(T) * G / (n * converted)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(gradients, turned)],
    cites=[Cites("lwang21.theorem2.5.2", {budget: converted**2})],
)

remark3_corrected = Claim(
    id="lwang21.remark2.5.3.corrected",
    source=Source("lwang21", "Remark 2.5.3"),
    kind=Kind.PRIVACY,
    says="With √2 times as much.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(2 * T) * G / (n * converted)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.remark2.5.3",
    checks=[Accountant(gradients, turned)],
    cites=[Cites("lwang21.theorem2.5.2.corrected", {budget: converted**2})],
)

remark3_bound = Claim(
    id="lwang21.remark2.5.3.bound",
    source=Source("lwang21", "Remark 2.5.3, for ε ≤ log(1/δ)"),
    kind=Kind.PRIVACY,
    says="That σ² is at most 6TG²log(1/δ)/(nε)².",
    assumes=[*losses, eps <= log(1 / delta)],
    states=Le(sigma_n, sqrt(6 * T * log(1 / delta)) * G / (n * eps)),
    checks=[
        Proof(
            [
                Same(
                    "ε/(√(L+ε)-√L) = √(L+ε)+√L, with L for log(1/δ)",
                    (sqrt(x + u) - sqrt(x)) * (sqrt(x + u) + sqrt(x)),
                    u,
                ),
                Less("at most √6·√L, as √(1+ε/L) + 1 ≤ √6", sqrt(1 + x) + 1, sqrt(6), box={x: (1e-6, 1.0)}),
            ]
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
step = 2 / (beta + mu)  # the proof's η


def factor(kept_per_truth):  # type: ignore[no-untyped-def]
    """α₁(1 - 3ημ/7) with s so many times s*, over κ."""
    return (1 + 2 / sqrt(kept_per_truth - 1)) * (1 - Rational(3, 7) * 2 / (kappa_s + 1))


contracts = Claim(
    id="lwang21.theorem2.5.4.contraction",
    source=Source("lwang21", "proof of Theorem 2.5.4: s = (4κ²+1)s*, η = 2/(β+μ)"),
    kind=Kind.UTILITY,
    says="A step shrinks the squared error by 1 - 1/(7κ).",
    assumes=[kappa_s >= 1],
    states=Le(contraction, 1 - 1 / (7 * kappa_s)),
    checks=[AtMost(factor(4 * kappa_s**2 + 1), "the factor of the proof, which is 1 + 1/(7κ)")],
)

contracts_corrected = Claim(
    id="lwang21.theorem2.5.4.contraction.corrected",
    source=Source("lwang21", "proof of Theorem 2.5.4"),
    kind=Kind.UTILITY,
    says="It does with s = (16κ²+1)s*.",
    assumes=[kappa_s >= 1],
    states=Le(contraction, 1 - 1 / (7 * kappa_s)),
    corrects="lwang21.theorem2.5.4.contraction",
    checks=[AtMost(factor(16 * kappa_s**2 + 1), "the factor of the proof", {kappa_s: 1 + u}, exact=False)],
)

noise_error = kappa_s**3 * G**2 * s_star * log(d) / (n**2 * mu**2 * budget)
data_error = kappa_s**2 * s_star * statistical**2 / mu**2
steps_log = log(budget * n**2 * mu**2 * truth**2 / (kappa_s**2 * G**2 * kept * log(d)))  # T over C₃κ

eigenvalues = Setting("sparse eigenvalues between μ and β, Condition 2.5.1, gradients at most G on the path")

recursion = Setting("the proof's recursion for the squared error, with 14η/μ for its coefficient")

theorem4 = Claim(
    id="lwang21.theorem2.5.4",
    source=Source("lwang21", "Theorem 2.5.4, equation (2.5.1)"),
    kind=Kind.UTILITY,
    says="The squared error after T = C₃κ·log(ρn²μ²‖θ*‖²/(κ²G²s·log d)) steps, as printed: log(ρnμ‖θ*‖/(s*κG)).",
    assumes=[*losses, eigenvalues, kappa_s >= 1],
    states=Rate(error_ight, data_error + noise_error * log(budget * n * mu * truth / (s_star * kappa_s * G))),
    ignores_units=True,
    checks=[
        NoConstant(
            (1 / mu) ** 2 * steps_log * G**2 / (n**2 * budget),
            {n: big, budget: 2 / big, d: 1000, kept: 1000, s_star: 1, kappa_s: 1, mu: 1, G: 1, truth: 1,
             statistical: 1 / big**2},
            big,
            "ρ = 2/n: the noise of the last step alone, η²σ², has a log n in T where the printed logarithm is log 2",
        )
    ],
)

theorem4_corrected = Claim(
    id="lwang21.theorem2.5.4.corrected",
    source=Source("lwang21", "Theorem 2.5.4, equation (2.5.1)"),
    kind=Kind.UTILITY,
    says="With the logarithm of T, s = (16κ²+1)s*, for the noise printed (twice it for the corrected one).",
    assumes=[*losses, eigenvalues, recursion, kappa_s >= 1, d >= 2],
    states=Rate(error_ight, data_error + noise_error * steps_log),
    corrects="lwang21.theorem2.5.4",
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("the sum of r^t is at most 7κ for r = 1 - 1/(7κ)", 1 / (1 - (1 - 1 / (7 * kappa_s))), 7 * kappa_s),
                Less(
                    "7κ·α₁(2s+s*)·14η/μ ≤ 10290κ²s*/μ²: α₁ ≤ 3/2, 2s+s* ≤ 35κ²s*, η ≤ 2/(κμ)",
                    7 * kappa_s * Rational(3, 2) * (32 * kappa_s**2 + 3) * 14 * 2 / (kappa_s + 1),
                    10290 * kappa_s**2, {kappa_s: 1 + u},
                ),
                Less("E‖u‖∞² ≤ 2σ²log(4d) and log(4d) ≤ 3·log d for d ≥ 2: 4d ≤ d³", 4 * (2 + u), (2 + u) ** 3),
            ],
            "hidden constants 10290 and, with C₃, 61740·C₃ suffice",
        )
    ],
    cites=[Cites("lwang21.theorem2.5.4.contraction.corrected")],
)

regression_noise = sqrt(2 * c * T * log(1 / delta)) * row * (sqrt(2 * kept) * truth + label_noise * log(n)) / (n * eps)

corollary6_privacy = Claim(
    id="lwang21.corollary2.5.6.privacy",
    source=Source("lwang21", "Corollary 2.5.6, sparse linear regression"),
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
            box={T: (1, 1), kept: (1, 1), truth: (1, 1), label_noise: (1, 1), row: (1, 1)},
        )
    ],
)

spread = (truth**2 + label_noise**2) * row**2
corollary6 = Claim(
    id="lwang21.corollary2.5.6",
    source=Source("lwang21", "Corollary 2.5.6, sparse linear regression"),
    kind=Kind.UTILITY,
    says="Its squared error; logarithms of n in the constants, as the source has it.",
    assumes=[
        eigenvalues, recursion, Setting("sub-Gaussian rows, ‖x‖ ≤ K, n ≥ C₁s·log d: μ = 4/5, β = 6/5"),
        kept <= 37 * s_star, n >= 3, d >= 2,
    ],
    states=Rate(
        error_ight,
        label_noise**2 * row**2 * s_star * log(d) / n + spread * s_star**2 * log(d) * log(1 / delta) / (n * eps) ** 2,
    ),
    ignores_units=True,
    checks=[
        Proof(
            [
                Less(
                    "G² = K²(√(2s)‖θ*‖ + ν)² ≤ 2K²(2s‖θ*‖² + ν²) ≤ 148·K²s*(‖θ*‖² + ν²) for s ≤ 37s*: an s* of its own",
                    2 * row**2 * (74 * s_star * truth**2 + label_noise**2), 148 * spread * s_star, {s_star: 1 + u},
                ),
                Same(
                    "κ = 3/2 and μ = 4/5 with ‖∇L(θ*)‖∞² of order ν²K²log d/n: the first term",
                    data_error.subs(
                        {kappa_s: Rational(3, 2), mu: Rational(4, 5), statistical: label_noise * row * sqrt(log(d) / n)}
                    ),
                    Rational(225, 64) * label_noise**2 * row**2 * s_star * log(d) / n,
                ),
            ],
            "Theorem 2.5.4 with ρ of order ε²/log(1/δ): s*G² is of order s*²; log n counted as a constant",
        )
    ],
    cites=[Cites("lwang21.theorem2.5.4.corrected", {kappa_s: Rational(3, 2), mu: Rational(4, 5)})],
)

corollary8 = Claim(
    id="lwang21.corollary2.5.8",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression"),
    kind=Kind.PRIVACY,
    says="With σ² = TK²log(1/δ)/(nε)² DP-IGHT is (ε, δ)-private; logistic losses are K-Lipschitz.",
    assumes=[lipschitz(row)],
    states=Eq(sigma_n, sqrt(T * log(1 / delta)) * row / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Accountant(Release(2 * row / n, Gaussian(sigma_n), steps=T), turned)],
)

corollary8_corrected = Claim(
    id="lwang21.corollary2.5.8.corrected",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression"),
    kind=Kind.PRIVACY,
    says="With 12 times that variance, for ε at most log(1/δ).",
    assumes=[lipschitz(row), eps <= log(1 / delta)],
    states=Eq(sigma_n, sqrt(12 * T * log(1 / delta)) * row / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.corollary2.5.8",
    ignores_units=True,
    checks=[Accountant(Release(2 * row / n, Gaussian(sigma_n), steps=T), turned)],
)

corollary8_utility = Claim(
    id="lwang21.corollary2.5.8.utility",
    source=Source("lwang21", "Corollary 2.5.8, sparse logistic regression"),
    kind=Kind.UTILITY,
    says="Its squared error, κ and μ counted as constants and logarithms of n too, as the source has it.",
    assumes=[
        lipschitz(row), eigenvalues, recursion, Setting("‖∇L(θ*)‖∞² of order K²log d/n"), eps <= log(1 / delta), d >= 2,
    ],
    states=Rate(
        error_ight, row**2 * s_star * log(d) / n + row**2 * s_star * log(d) * log(1 / delta) / (n * eps) ** 2
    ),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "(2.5.1) corrected at ρ = ε²/(6·log(1/δ)), G = K, κ = μ = 1: six times the second term",
                    noise_error.subs({kappa_s: 1, mu: 1, G: row, budget: eps**2 / (6 * log(1 / delta))}),
                    6 * row**2 * s_star * log(d) * log(1 / delta) / (n * eps) ** 2,
                ),
                Same(
                    "and its first term", data_error.subs({kappa_s: 1, mu: 1, statistical: row * sqrt(log(d) / n)}),
                    row**2 * s_star * log(d) / n,
                ),
            ]
        )
    ],
    cites=[Cites("lwang21.theorem2.5.4.corrected", {G: row, kappa_s: Integer(1), mu: Integer(1)})],
)
