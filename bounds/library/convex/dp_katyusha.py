"""DP-Katyusha (dwang20, section 3.1.3, Algorithm 3.1.2): noisy variance-reduced gradients with negative momentum.

Theorem 3.1.3 and Remark 3.1.2; the proof stands in dp_katyusha_proof.py. The algorithm as printed adds no noise.
Solver: dpcheck/solvers/convex/dp_katyusha.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, excess_risk, gradients, mu, n, ratio
from dpcheck.bounds.library.convex.dp_katyusha_proof import lead, span, theta, unit_noise, weights
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    full_gradients,
    inner,
    kappa,
    losses,
    near,
    reduced_gradients,
    sigma_n,
    stated_noise,
    strong,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Equals, Follows, Less, Proof, Sharper

extra, more, gap = (Symbol(name, nonnegative=True) for name in ("extra", "more", "gap"))

# Privacy -------------------------------------------------------------------------------------------
released = reduced_gradients(T * inner)  # with noise in line 7

privacy = Claim(
    id="dwang20.theorem3.1.3.privacy",
    source=Source("dwang20", "Theorem 3.1.3, first sentence, and Algorithm 3.1.2 as printed"),
    kind=Kind.PRIVACY,
    says="Algorithm 3.1.2 is (ε, δ)-private with σ of (3.3), though no line of it adds noise.",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
)

privacy_noised = Claim(
    id="dwang20.theorem3.1.3.privacy.noised",
    source=Source("dwang20", "Theorem 3.1.3, first sentence, with the noise of Algorithm 3.1.1 in line 7"),
    kind=Kind.PRIVACY,
    says="With the noise that the proof uses, for all ε ≤ c₁Tm/n².",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[Cites("dwang20.theorem3.1.1")],
    checks=[Accountant(full_gradients(T * inner), "linear losses, as for Theorem 3.1.1: ε has no limit")],
)

privacy_corrected = Claim(
    id="dwang20.theorem3.1.3.privacy.corrected",
    source=Source("dwang20", "Theorem 3.1.3, first sentence"),
    kind=Kind.PRIVACY,
    says="With noise, c = 72 and c₁ = 1, for ε at most 1.",
    assumes=[*losses, eps <= 1, eps <= T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 72)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.3.privacy",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)

noised_corrected = Claim(
    id="dwang20.theorem3.1.3.privacy.noised.corrected",
    source=Source("dwang20", "Theorem 3.1.3, first sentence"),
    kind=Kind.PRIVACY,
    says="With noise, c = 72 and c₁ = 1, for ε at most 1.",
    assumes=privacy_corrected.assumes,
    states=privacy_corrected.states,
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.3.privacy.noised",
)

noisy_steps = Claim(
    id="dwang20.section3.1.7.steps.dp_katyusha",
    source=Source("dwang20", "section 3.1.7, last line: the number of noisy steps of Algorithm 3.1.2"),
    kind=Kind.IDENTITY,
    says="Algorithm 3.1.2 takes 2^(T+1)·m noisy steps.",
    states=Eq(gradients, 2 ** (T + 1) * inner),
    checks=[Equals(T * inner, "T epochs of m steps: the line swaps Algorithms 3.1.2 and 3.1.3")],
)

noisy_steps_corrected = Claim(
    id="dwang20.section3.1.7.steps.dp_katyusha.corrected",
    source=Source("dwang20", "section 3.1.7, last line"),
    kind=Kind.IDENTITY,
    says="It takes T·m.",
    states=Eq(gradients, T * inner),
    corrects="dwang20.section3.1.7.steps.dp_katyusha",
    checks=[Equals(T * inner, "T epochs of m steps")],
)

# Utility -------------------------------------------------------------------------------------------
# Case 1 (n ≤ L/μ): w = 1 + 2/(3√(nL/μ)), log w ≥ 2/5/√(nL/μ), so w^-Tm ≤ 1/X once Tm ≥ 5/2·√(nL/μ)·log X; and
# X = n²ε²μg₀/(dG²log(1/δ)) ≤ n⁴. Rounding T up adds m ≤ 3/4·√(nL/μ).
most_steps = (10 * log(n) + 1) * sqrt(n * kappa)
# Case 2: (2/3)^T with T = log_{3/2} X rounded up, m ≤ 3/4·L/μ + 1 ≤ 2L/μ.
case2_epochs = 4 * log(n) / log(Rational(3, 2)) + 1
first_part = 3 * d * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)  # Φ₀ ≤ 3g₀, shrunk by 1/X
ill = {n: exp(1 + more), L_s: mu * exp(1 + more) * (1 + extra) ** 2}  # n ≤ L/μ
well = {n: exp(1 + more), L_s: mu + gap}
single_log = d * log(n) * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)
at_r = Setting("g₀ ≤ G²/(2μ), as at the minimiser of r")
ranges = [*strong, eps <= n, delta <= Rational(1, 2), n >= 3, at_r]

utility = Claim(
    id="dwang20.theorem3.1.3.utility",
    source=Source("dwang20", "Theorem 3.1.3, equation (3.6)"),
    kind=Kind.UTILITY,
    says="Excess risk of DP-Katyusha with the noise of (3.3) and the parameters of either case.",
    assumes=ranges,
    states=Rate(excess_risk, d * log(n) ** 2 * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem3.1.1")],
    checks=[
        Follows(
            first_part + (T / (2 * L_s) * d * unit_noise).subs(T, most_steps / inner).subs(inner, 3 * n / 4),
            Rational(90), "case 1, (3.42) with c = 1 and Tm ≤ (10·log n + 1)√(nL/μ)", ill,
        ),
        Follows(
            first_part + (d * unit_noise / L_s).subs(inner, 2 * kappa).subs(T, case2_epochs),
            Rational(30), "case 2, (3.44) with c = 1", well,
        ),
        Sharper(single_log, "the corrected version: the noise of all epochs adds up like a geometric series"),
    ],
)

utility_corrected = Claim(
    id="dwang20.theorem3.1.3.utility.corrected",
    source=Source("dwang20", "Theorem 3.1.3, equation (3.6)"),
    kind=Kind.UTILITY,
    says="One logarithm is enough: w^-m + w^-2m + ... ≤ 1/(w^m - 1) ≤ √(3L/(mμ)).",
    assumes=ranges,
    states=Rate(excess_risk, single_log),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.3.utility",
    checks=[
        Follows(
            first_part + (sqrt(3 * kappa / inner) / (2 * L_s) * d * unit_noise.subs(T, most_steps / inner))
            .subs(inner, 3 * n / 4),
            Rational(14), "case 1 with c = 1", ill,
        ),
        Follows(
            first_part + (d * unit_noise / L_s).subs(inner, 2 * kappa).subs(T, case2_epochs),
            Rational(30), "case 2 with c = 1", well,
        ),
    ],
)

# log X ≤ 2·log(nε/√d) where μg₀ ≤ G²log(1/δ).
log_ratio = log(n * eps / sqrt(d))
enough = {eps: 2 * sqrt(d) / n * (1 + gap)}  # nε ≥ 2√d

cost = Claim(
    id="dwang20.theorem3.1.3.cost",
    source=Source("dwang20", "Theorem 3.1.3, gradient complexity"),
    kind=Kind.COST,
    says="Record gradients: n for each snapshot, two for each inner step.",
    assumes=[*strong, at_r, delta <= Rational(1, 2), n * eps >= 2 * sqrt(d)],
    states=Rate(gradients, (n + sqrt(n * kappa)) * log_ratio),
    checks=[
        Follows(
            (Rational(20, 3) * sqrt(kappa / n) + 2) * log_ratio * (n + Rational(3, 2) * n),
            Rational(17), "case 1: T ≤ 10/3·√(L/(μn))·2·log(nε/√d) + 1, m = 3n/4", enough,
        ),
        Follows(
            (5 * log_ratio + 2 * log_ratio) * (n + 4 * n),
            Rational(35), "case 2: T ≤ log_{3/2}(n²ε²/d) + 1, m ≤ 2L/μ ≤ 2n", enough,
        ),
    ],
)

ill_conditioned = Claim(
    id="dwang20.section3.1.3.ill_conditioned",
    source=Source("dwang20", "section 3.1.3, after Theorem 3.1.3"),
    kind=Kind.COST,
    says="For L/μ ≥ n the cost is at most that of DP-SVRG.",
    assumes=[n <= kappa],
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Less(
                    "n + √(nL/μ) ≤ n + L/μ", (n + sqrt(n * kappa)) / (n + kappa), Integer(1),
                    {L_s: mu * n * (1 + extra) ** 2},
                )
            ]
        )
    ],
)

remark2 = Claim(
    id="dwang20.remark3.1.2",
    source=Source("dwang20", "Remark 3.1.2"),
    kind=Kind.IDENTITY,
    says="The new snapshot is the weighted mean of the points y: in one coordinate, with S the sum of w^j x_(j+1).",
    states=Eq(lead, (theta * near + (1 - theta) * span * weights) / weights),
    checks=[
        Equals(theta * near / weights + (1 - theta) * span, "line 10 of the algorithm, with weights that add up to W")
    ],
)
