"""DP-IGHT (lwang21, chapter 2, Algorithm 1): noisy gradients and hard thresholding.

Theorems 2.5.2 and 2.5.4, Remark 2.5.3 and Corollary 2.7.1. κ is β/μ. A loss with sparse eigenvalues is Lipschitz on
bounded sets only: G bounds the gradients where the iterates go. Solver: dpcheck/solvers/sparse/dp_ight.py. Corollaries
2.5.6 and 2.5.8: regression_corollaries.py.
"""

from sympy import E, Eq, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP
from dpcheck.bounds.language.symbols import MEAN, T, d, delta, eps, mu, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

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
largest2 = quantity("largest2", "E ||u||_inf^2 of the noise u", loss=2, parameter=-2, printed="E‖u‖∞²")
error_now = quantity("error_now", "E ||theta_t - theta*||^2", parameter=2, printed="E‖θ_t-θ°‖²")
error_next = quantity("error_next", "E ||theta_(t+1) - theta*||^2", parameter=2, printed="E‖θ_(t+1)-θ°‖²")
error_ight = quantity(
    "error_ight", "squared distance of the last iterate from the truth", parameter=2, printed="E‖θ_T-θ°‖²", holds=MEAN
)

losses = [lipschitz(G)]
gradients = Release(2 * G / n, Gaussian(sigma_n), steps=T)  # replacing a record moves the mean gradient by 2G/n
turned = "linear losses, one of which turns round: T full gradients, each 2G/n apart"
big = Symbol("big", positive=True)
u, v, w = (Symbol(name, nonnegative=True) for name in "uvw")
a, z = Symbol("a", real=True), Symbol("z", real=True)

# Privacy -------------------------------------------------------------------------------------------
theorem2 = Claim(
    id="lwang21.theorem2.5.2",
    source=Source("lwang21", "Theorem 2.5.2", line=748),
    kind=Kind.PRIVACY,
    says="DP-IGHT with noise σ² = TG²/(n²ρ) is ρ-zCDP.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(T / budget) * G / n),
    guarantee=ZCDP(budget),
    checks=[Accountant(gradients, turned)],
)

theorem2_corrected = Claim(
    id="lwang21.theorem2.5.2.corrected",
    source=Source("lwang21", "Theorem 2.5.2", line=748),
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
    source=Source("lwang21", "Remark 2.5.3", line=752),
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
    source=Source("lwang21", "Remark 2.5.3", line=752),
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
    source=Source("lwang21", "Remark 2.5.3, for ε ≤ log(1/δ)", line=765),
    kind=Kind.PRIVACY,
    says="That σ² is at most 6TG²log(1/δ)/(nε)².",
    assumes=[*losses, delta <= exp(-eps)],
    states=Le(sigma_n, sqrt(6 * T * log(1 / delta)) * G / (n * eps)),
    checks=[
        Chain(
            sigma_n,
            Step("=", sqrt(T) * G / (n * converted), because=Premise("σ of Remark 2.5.3")),
            Step("=", sqrt(T) * G / (n * eps) * (sqrt(log(1 / delta) + eps) + sqrt(log(1 / delta)))),
            Step("<=", sqrt(2 * T * (2 * log(1 / delta) + eps)) * G / (n * eps), because=Premise("(a+b)² ≤ 2a² + 2b²")),
            Step("<=", STATEMENT, where={delta: exp(-eps * (1 + v))}),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
over = Symbol("over", nonnegative=True)  # E (‖u‖∞²/σ² - t)⁺

lemma101_proof = Claim(
    id="lwang21.lemma2.10.1.proof",
    source=Source("lwang21", "Lemma 2.10.1, last line of its proof", line=2156),
    kind=Kind.UTILITY,
    says="The largest squared coordinate of Gaussian noise, with a number.",
    states=Le(largest2, 2 * sigma_n**2 * log(4 * d)),
    checks=[
        Chain(
            largest2,
            Step("<=", STATEMENT, because=Slack(
                given={
                    "‖u‖∞² is at most tσ² and what it exceeds that by, at t = 2·log d":
                    sigma_n**2 * (2 * log(d) + over) - largest2,
                    "that is ∫ P(‖u‖∞² > sσ²)ds from t on, on average, and P ≤ d·e^(-s/2)": sigma_n**2 * (2 - over),
                },
                seen=[2 * sigma_n**2 * (log(4) - 1)])),
        )
    ],
)

lemma101 = Claim(
    id="lwang21.lemma2.10.1",
    source=Source("lwang21", "Lemma 2.10.1", line=2108),
    kind=Kind.UTILITY,
    says="The largest squared coordinate of Gaussian noise is of order σ²·log d.",
    added=[d >= 2],
    states=Rate(largest2, sigma_n**2 * log(d)),
    checks=[
        Chain(
            largest2,
            Step("<=", because=Cites("lwang21.lemma2.10.1.proof")),
            Step("<=", 6 * STATEMENT, where={d: 2 * (1 + u)}),
        )
    ],
)


def factor(kept_per_truth):  # type: ignore[no-untyped-def]
    """α₁(1 - 3ημ/7) with s so many times s*, η = 2/(β+μ)."""
    return (1 + 2 / sqrt(kept_per_truth - 1)) * (1 - Rational(3, 7) * 2 / (kappa_s + 1))


shrinks = 1 - 1 / (7 * kappa_s)
step_size = Setting("η = 2/(β+μ)")
keeps_more = Setting("s = (16κ²+1)s*")
enough_kept = Setting("s = (16κ²+1)s*, η = 2/(β+μ)")

contracts = Claim(
    id="lwang21.theorem2.5.4.contraction",
    source=Source("lwang21", "equation (2.8.2)", line=1676),
    kind=Kind.UTILITY,
    says="A step shrinks the squared error by 1 - 1/(7κ).",
    assumes=[kappa_s >= 1, step_size, Setting("s = (4κ²+1)s*")],
    states=Le(contraction, shrinks),
    checks=[AtMost(factor(4 * kappa_s**2 + 1), "the factor of the display before, which is 1 + 1/(7κ)")],
)

contracts_corrected = Claim(
    id="lwang21.theorem2.5.4.contraction.corrected",
    source=Source("lwang21", "equation (2.8.2)", line=1676),
    kind=Kind.UTILITY,
    says="It does with s = (16κ²+1)s*; the theorem leaves the number open.",
    assumes=[kappa_s >= 1, step_size, keeps_more],
    states=Le(contraction, shrinks),
    corrects="lwang21.theorem2.5.4.contraction",
    checks=[
        Chain(
            contraction,
            Step("=", factor(16 * kappa_s**2 + 1), because=Premise("the factor of the display before, at this s"),
                 uses=[step_size, keeps_more]),
            Step("<=", STATEMENT),
        )
    ],
)

eigenvalues = Setting("sparse eigenvalues from μ to κμ on 2s + s* coordinates, Condition 2.5.1")
curved = [eigenvalues, kappa_s >= 1]
starts_at_0 = Setting("θ₀ = 0")
from_0 = [*curved, starts_at_0]
sparse = [*losses, *from_0]
eta = 2 / (mu * (kappa_s + 1))
alpha_1 = 1 + 1 / (2 * kappa_s)
touched = (32 * kappa_s**2 + 3) * s_star  # 2s + s*
off = sqrt(error_now)
after = alpha_1 * (
    (1 - 3 * eta * mu / 7) * error_now + Rational(11, 2) * eta / mu * touched * (statistical**2 + largest2)
)

one_step = Claim(
    id="lwang21.theorem2.5.4.step",
    source=Source("lwang21", "proof of Theorem 2.5.4, up to (2.8.2)", line=1651),
    kind=Kind.UTILITY,
    says="One step of DP-IGHT, with a number; printed with β - μ, so that at κ = 1 noise would do nothing.",
    assumes=curved,
    added=[enough_kept],
    states=Le(error_next, shrinks * error_now + 578 * kappa_s * s_star / mu**2 * (statistical**2 + largest2)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            error_next,
            Step("<=", alpha_1 * (a - eta * z) ** 2,
                 because=Premise("(2.8.1), and thresholding to s costs 1 + 2√s*/√(s-s*) (LAL16, Lemma 3.3)"),
                 uses=[enough_kept]),
            Step("<=", after, because=Slack(
                given={
                    "‖I-ηH‖² ≤ 1-ημ by the eigenvalues": alpha_1 * ((1 - eta * mu) * error_now - a**2),
                    "Cauchy-Schwarz, ‖I-ηH‖ ≤ 1": alpha_1 * 2 * eta * (a * z + off * z),
                    "‖∇L(θ*)+u‖² on 2s + s* coordinates, by the largest": alpha_1 * Rational(11, 4) * eta / mu
                    * (2 * touched * (statistical**2 + largest2) - z**2),
                },
                seen=[
                    alpha_1 * 4 * eta * mu / 7 * (off - 7 * z / (4 * mu)) ** 2,
                    alpha_1 * eta / mu * (1 - eta * mu) * z**2,
                ],
            ), uses=[eigenvalues, enough_kept]),
            Step("<=", STATEMENT),
        )
    ],
)

bound = shrinks**T * truth**2 + 24276 * kappa_s**2 * s_star / mu**2 * (statistical**2 + sigma_n**2 * log(d))
fading = exp(-T / (7 * kappa_s))
more = (kappa_s - 1) * fading * truth**2

equation83 = Claim(
    id="lwang21.equation2.8.3",
    source=Source("lwang21", "equation (2.8.3), with a number for C₃ and any σ", line=1707),
    kind=Kind.UTILITY,
    says="The squared error after T steps.",
    assumes=from_0,
    added=[enough_kept, d >= 2],
    states=Le(error_ight, bound),
    provenance=Provenance.READING,
    checks=[
        Chain(
            error_ight,
            Step("<=", shrinks**T * truth**2 + 4046 * kappa_s**2 * s_star / mu**2 * (statistical**2 + largest2),
                 because=Induction(T, truth**2, OneStep("lwang21.theorem2.5.4.step", error_now, error_next)),
                 uses=[starts_at_0]),
            Step("<=", because=Cites("lwang21.lemma2.10.1.proof")),
            Step("<=", STATEMENT, where={d: 2 * (1 + u)}),
        )
    ],
)

noise_error = kappa_s**3 * G**2 * s_star * log(d) / (n**2 * mu**2 * budget)
data_error = kappa_s**2 * s_star * statistical**2 / mu**2


def steps_log(sparsity):  # type: ignore[no-untyped-def]
    """T over C₃κ."""
    return log(budget * n**2 * mu**2 * truth**2 / (kappa_s**2 * G**2 * sparsity * log(d)))


theorem4 = Claim(
    id="lwang21.theorem2.5.4",
    source=Source("lwang21", "Theorem 2.5.4, equation (2.5.1)", line=785),
    kind=Kind.UTILITY,
    says="The squared error after T = C₃κ·log(ρn²μ²‖θ*‖²/(κ²G²s·log d)) steps, as printed: log(ρnμ‖θ*‖/(s*κG)).",
    assumes=sparse,
    states=Rate(error_ight, data_error + noise_error * log(budget * n * mu * truth / (s_star * kappa_s * G))),
    ignores_units=True,
    misprint_of="lwang21.theorem2.5.4.corrected",
    checks=[
        NoConstant(
            steps_log(kept) * G**2 / (mu**2 * n**2 * budget),
            {n: big, budget: 2 / big, d: 1000, kept: 1000, s_star: 1, kappa_s: 1, mu: 1, G: 1, truth: 1,
             statistical: 1 / big**2},
            big,
            "quadratic losses, ρ = 2/n: the noise of the last step alone, η²σ², has a log n in T where the printed "
            "logarithm is log 2",
        )
    ],
)

fewest = E * kappa_s**2 * G**2 * s_star * log(d)  # log X is 1 at least: the bound is below what no step at all gives

theorem4_corrected = Claim(
    id="lwang21.theorem2.5.4.corrected",
    source=Source("lwang21", "proof of Theorem 2.5.4, the display before (2.8.4), at its T", line=1734),
    kind=Kind.UTILITY,
    says="The squared error after T = 7κ·log(ρn²μ²‖θ*‖²/(κ²G²s*·log d)) steps, with κ times that logarithm, T/7.",
    assumes=[*sparse, Eq(sigma_n, sqrt(T / budget) * G / n), Eq(T, 7 * kappa_s * steps_log(s_star))],
    added=[enough_kept, d >= 2, fewest <= budget * n**2 * mu**2 * truth**2],
    states=Rate(error_ight, data_error + noise_error * T / kappa_s),
    corrects="lwang21.theorem2.5.4",
    ignores_units=True,
    checks=[
        Chain(
            error_ight,
            Step("<=", because=Cites("lwang21.equation2.8.3")),
            Step("<=", bound.subs(shrinks**T, fading), because=Premise("1-x ≤ e^(-x)")),
            Step("<=", bound.subs(shrinks**T, kappa_s * fading), because=Slack(seen=[more])),
            Step("<=", 24_300 * STATEMENT, where={budget: fewest / (n * mu * truth) ** 2 * (1 + v)}),
        )
    ],
)

private_error = kappa_s**3 * G**2 * s_star * log(d) / (n * mu * eps) ** 2
private_log = log(n**2 * mu**2 * log(1 / delta) / (kappa_s * kept * G**2 * log(d)))  # T over C₃κ, as printed

corollary71 = Claim(
    id="lwang21.corollary2.7.1",
    source=Source("lwang21", "Corollary 2.7.1", line=1225),
    kind=Kind.UTILITY,
    says="The same under (ε, δ)-DP with σ of Remark 2.5.3, as printed: without log(1/δ), which its proof has.",
    assumes=sparse,
    states=Rate(
        error_ight, data_error + private_error * log(n * mu * truth * log(1 / delta) / (s_star * kappa_s * G))
    ),
    ignores_units=True,
    misprint_of="lwang21.corollary2.7.1.corrected",
    checks=[
        NoConstant(
            private_log * G**2 / (mu * n * converted) ** 2,
            {n: 10**6, eps: 1, delta: exp(-big), d: 1000, kept: 1000, s_star: 1, kappa_s: 1, mu: 1, G: 1, truth: 1,
             statistical: 1 / big**2},
            big, "quadratic losses: the noise of the last step alone, η²σ², grows like log(1/δ) as δ falls", at=500,
        )
    ],
)

signal = n * mu * truth / (kappa_s * G)
room = signal**2 * log(1 / delta) / (s_star * log(d))
printed_log = log(signal * log(1 / delta) / s_star)

large_logs = [delta <= exp(-eps), delta <= exp(-1), d >= 3, signal >= (E * s_star) ** 2]

corollary71_corrected = Claim(
    id="lwang21.corollary2.7.1.corrected",
    source=Source("lwang21", "proof of Corollary 2.7.1, last display, at its T", line=1835),
    kind=Kind.UTILITY,
    says="With log(1/δ), as the proof has it, after T = 7κ·log((nμ‖θ*‖)²·log(1/δ)/(κ²G²s*·log d)) steps; σ as printed.",
    assumes=[*sparse, Eq(T, 7 * kappa_s * log(room))],
    added=[enough_kept, *large_logs],
    states=Rate(error_ight, data_error + private_error * log(1 / delta) * printed_log),
    corrects="lwang21.corollary2.7.1",
    ignores_units=True,
    checks=[
        Chain(
            error_ight,
            Step("<=", because=Cites("lwang21.equation2.8.3")),
            Step("<=", bound.subs(shrinks**T, fading), because=Premise("1-x ≤ e^(-x)")),
            Step("<=", bound.subs(shrinks**T, kappa_s * fading), because=Slack(seen=[more])),
            Step("<=", because=Cites("lwang21.remark2.5.3.bound")),
            Step("<=", 4_100_000 * STATEMENT, because=Slack(
                given={
                    "T is 7κ times a logarithm that is at most 4 times the printed one, as n²μ²‖θ*‖² ≥ κ²G²s*³":
                    private_error * log(1 / delta) * 145_656 * (28 * printed_log - T / kappa_s),
                    "the printed one is 1 at least, and ε ≤ log(1/δ)":
                    private_error * log(1 / delta) * (4_100_000 - 28 * 145_656) * printed_log
                    - kappa_s * truth**2 * fading,
                },
                seen=[(4_100_000 - 24_276) * data_error],
            ), uses=large_logs),
        )
    ],
)
