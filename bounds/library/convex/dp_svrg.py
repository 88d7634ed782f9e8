"""DP-SVRG (dwang20, section 3.1.3, Algorithm 3.1.1): noisy variance-reduced gradients, strongly convex regulariser.

Theorems 3.1.1 and 3.1.2 and Remark 3.1.1. Lemmas stand in variance_reduction.py, the proof of Theorem 3.1.2 in
dp_svrg_proof.py. Solver: dpcheck/solvers/convex/dp_svrg.py.
"""

from sympy import Eq, Ge, Le, Rational, Symbol, exp, log, simplify, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import (
    T,
    c,
    c1,
    d,
    delta,
    eps,
    eta,
    excess_risk,
    gradients,
    m,
    mu,
    n,
    q,
    quantity,
    ratio,
)
from dpcheck.bounds.library.convex.dp_svrg_proof import contraction, noise_part
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    chosen,
    chosen_sigma2,
    drawn_differences,
    full_gradients,
    inner,
    kappa,
    lam,
    losses,
    reduced_gradients,
    sigma_1,
    sigma_n,
    stated_noise,
    strong,
)
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.numeric_checks import GaussianAccountant
from dpcheck.bounds.proving.proofs import AtMost, Contradictory, Follows, Less, NoConstant, Proof, Same

noise_term = quantity(
    "noise_term", "σ²p/L, what the noise adds to the proof's bound", loss=1, printed="σ²d/L", latex=r"\sigma^2 d/L"
)

extra, gap, more = (Symbol(name, nonnegative=True) for name in ("extra", "gap", "more"))


# Privacy -------------------------------------------------------------------------------------------
released = reduced_gradients(T * inner)

theorem1 = Claim(
    id="dwang20.theorem3.1.1",
    source=Source("dwang20", "Theorem 3.1.1, equation (3.3)"),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-SVRG is (ε, δ)-private for all ε ≤ c₁Tm/n².",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[
        Cites("dwang20.lemma2.1.7", {m: 1, T: T * inner, c1: 2 * c1}),  # a c₁ below the lemma's
        Cites("dwang20.equation3.13", {lam: chosen, sigma_1: sqrt(chosen_sigma2).subs(T, T * inner)}),
        Cites("dwang20.equation3.17"),
        Cites("dwang20.equation3.18", {T: T * inner}),
    ],
    checks=[
        Accountant(
            full_gradients(T * inner),
            "linear losses: the true ε grows like the square of the stated one, which has no limit",
        )
    ],
)

theorem1_corrected = Claim(
    id="dwang20.theorem3.1.1.corrected",
    source=Source("dwang20", "Theorem 3.1.1"),
    kind=Kind.PRIVACY,
    says="With c = 72 and c₁ = 1, for ε at most 1: a replaced record moves a step by 4G when drawn, 2G/n always.",
    assumes=[*losses, eps <= 1, eps <= T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 72)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.1",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)


remark1 = Claim(
    id="dwang20.remark3.1.1",
    source=Source("dwang20", "Remark 3.1.1"),
    kind=Kind.PRIVACY,
    says="Noise larger by a factor of order log(T/δ) makes DP-SVRG (ε, δ)-private without a condition on ε.",
    assumes=losses,
    states=Eq(sigma_n, c * log(T / delta) * G * sqrt(T * inner * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    cites=[Cites("dwang20.lemma2.1.5", {T: T * inner}), Cites("dwang20.lemma2.1.2", {q: 1 / n})],
    checks=[
        Accountant(
            drawn_differences(T * inner),
            "the noise falls to 0 as n and m grow together: a record drawn, with probability m/n, is seen",
        )
    ],
)

remark1_corrected = Claim(
    id="dwang20.remark3.1.1.corrected",
    source=Source("dwang20", "Remark 3.1.1"),
    kind=Kind.PRIVACY,
    says="Without the condition: δ plus the probability of ever drawing the record; else only full gradients differ.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta + 1 - (1 - 1 / n) ** (T * inner)),
    corrects="dwang20.remark3.1.1",
    checks=[
        GaussianAccountant(
            simplify(2 * G * sqrt(T * inner) / n / stated_noise.subs(c, 8)), "T·m full gradients, each 2G/n apart"
        ),
        for_every_delta,
    ],
)

amplified = log(T / delta)  # the factor on the noise
factor, first_term, last_term = (Symbol(name, positive=True) for name in ("factor", "first_term", "last_term"))

remark1_utility = Claim(
    id="dwang20.remark3.1.1.utility",
    source=Source("dwang20", "Remark 3.1.1, second half, with Õ read as O"),
    kind=Kind.UTILITY,
    says="Noise larger by log(T/δ) costs a factor of order log(Tm/δ) in (3.4) and (3.6), whose noise term is σ²d/L.",
    states=Rate(ratio, log(T * inner / delta)),
    cites=[Cites("dwang20.theorem3.1.2.proof")],
    checks=[
        NoConstant(
            amplified**2, {T: 10, inner: 1, delta: exp(-factor)}, factor,
            "σ² grows by log²(T/δ): with T = 10, m = 1 and δ to 0 that outgrows log(Tm/δ)", at=100,
        )
    ],
)

remark1_utility_corrected = Claim(
    id="dwang20.remark3.1.1.utility.corrected",
    source=Source("dwang20", "Remark 3.1.1, second half"),
    kind=Kind.UTILITY,
    says="The factor is log²(Tm/δ) there, and log(Tm/δ) in (3.8), whose epochs balance the noise with the first term.",
    states=Rate(ratio, log(T * inner / delta) ** 2),
    corrects="dwang20.remark3.1.1.utility",
    checks=[
        Proof(
            [
                Less("log(T/δ) ≤ log(Tm/δ), a logarithm of m more", extra, extra + more),
                Same(
                    "(3.8): A/2^T + B·2^T·x² is least at 2^T = √(A/B)/x, and is 2√(AB)·x there",
                    first_term / (sqrt(first_term / last_term) / factor)
                    + last_term * sqrt(first_term / last_term) / factor * factor**2,
                    2 * sqrt(first_term * last_term) * factor,
                ),
            ],
            "squared in (3.4) and (3.6), once in (3.8)",
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
# An epoch at η = 1/(48L) with m = 193·L/μ steps: A < 1/2, and 0.05·σ²d/L of noise.
best = {eta: 1 / (48 * L_s)}
rate = d * log(n) * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)
at_most_T = 4 * log(n) / log(2) + 1  # log2(n^2 eps^2 / d) rounded up, for eps <= n

theorem2 = Claim(
    id="dwang20.theorem3.1.2",
    source=Source("dwang20", "Theorem 3.1.2, equation (3.4)"),
    kind=Kind.UTILITY,
    says="Excess risk of DP-SVRG with the noise of (3.3), after T = O(log(n²ε²μ/(dG²log(1/δ)))) epochs.",
    assumes=[*strong, eps <= n, delta <= Rational(1, 2), n >= 3, Setting("g₀ ≤ G²/(2μ), as at the minimiser of r")],
    states=Rate(excess_risk, rate),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem3.1.1")],
    checks=[
        Follows(
            d * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)
            + (noise_part.subs(best) * 2).subs(sigma_n, stated_noise.subs(c, 1)).subs(inner, 193 * kappa + 1)
            .subs(T, at_most_T),
            Rational(140),
            "(3.28) with c = 1, η = 1/(48L), m = 193L/μ + 1 and T at most 4·log₂n + 1 epochs",
            {n: exp(1 + more), L_s: mu + gap},
        )
    ],
)

theorem2_private = Claim(
    id="dwang20.theorem3.1.2.private",
    source=Source("dwang20", "Theorems 3.1.1 and 3.1.2 together"),
    kind=Kind.UTILITY,
    says="Where Theorem 3.1.1 applies, the noise term σ²d/L of the proof has a floor that does not fall with n.",
    assumes=[*strong, eps <= c1 * T * inner / n**2],
    states=Ge(noise_term, c / c1 * d * G**2 * log(1 / delta) / (eps * L_s)),
    hidden=(c, c1),
    checks=[
        Proof(
            [
                Same(
                    "σ²d/L at the least T·m, n²ε/c₁ (σ² grows with T·m)",
                    (stated_noise**2 * d / L_s).subs(T, n**2 * eps / (c1 * inner)),
                    c / c1 * d * G**2 * log(1 / delta) / (eps * L_s),
                )
            ],
            "n cancels",
        )
    ],
)

equation5 = Claim(
    id="dwang20.equation3.5",
    source=Source("dwang20", "Theorem 3.1.2, equation (3.5) with η ≤ 1/(12L)"),
    kind=Kind.UTILITY,
    says="For η ≤ 1/(12L), (3.5) holds once m is sufficiently large.",
    assumes=[*strong, eta <= 1 / (12 * L_s)],
    states=Le(contraction, Rational(1, 2)),
    checks=[AtMost(8 * L_s * eta / (1 - 8 * L_s * eta), "the left side as m grows without bound")],
)

least_m = 8 / (extra * (1 - extra)) / (Rational(1, 2) - extra / (1 - extra))  # over L/μ, with extra for 8Lη

equation5_corrected = Claim(
    id="dwang20.equation3.5.corrected",
    source=Source("dwang20", "Theorem 3.1.2, equation (3.5)"),
    kind=Kind.UTILITY,
    says="It holds at η = 1/(48L) for m ≥ 193L/μ; η must be below 1/(24L), and no η allows an m below 192L/μ.",
    assumes=[*strong, Eq(eta, 1 / (48 * L_s)), inner >= 193 * kappa],
    states=Le(contraction, Rational(1, 2)),
    corrects="dwang20.equation3.5",
    checks=[
        Proof(
            [
                Less(
                    "the left side at η = 1/(48L)", contraction.subs(best), Rational(1, 2),
                    {inner: 193 * (mu + gap) / mu + extra, L_s: mu + gap},
                ),
                Same(
                    "the least m over L/μ, 8/(a(1-a)) / (1/2 - a/(1-a)) with a = 8Lη, is stationary at a = 1/6",
                    least_m.diff(extra).subs(extra, Rational(1, 6)),
                    extra * 0,
                ),
                Same(
                    "and 192 there",
                    least_m.subs(extra, Rational(1, 6)),
                    192 + extra * 0,
                ),
            ]
        )
    ],
)

cost = Claim(
    id="dwang20.theorem3.1.2.cost",
    source=Source("dwang20", "Theorem 3.1.2, gradient complexity"),
    kind=Kind.COST,
    says="Record gradients: n for each snapshot, two for each inner step.",
    assumes=[
        *strong,
        Setting("g₀ ≤ G²/(2μ), as at the minimiser of r"),
        delta <= Rational(1, 2),
        n * eps >= 2 * sqrt(d),
    ],
    states=Rate(gradients, (n + kappa) * log(n * eps / sqrt(d))),
    checks=[
        Follows(
            (3 * log(n * eps / sqrt(d)) / log(2)) * (n + 2 * (193 * kappa + kappa)),
            Rational(1680),
            "T(n + 2m): T at most log₂(n²ε²/d) + 1 ≤ 3·log₂(nε/√d), m at most 193L/μ + 1 ≤ 194L/μ",
            {eps: 2 * sqrt(d) / n * (1 + extra)},
        )
    ],
)

faster = Claim(
    id="dwang20.section3.1.3.faster",
    source=Source("dwang20", "section 3.1.3, after Theorem 3.1.2"),
    kind=Kind.COST,
    says="For L/μ ≤ n the cost over DP-SGD's n² is of order log(nε/√d)/n.",
    assumes=[kappa <= n, n * eps >= 2 * sqrt(d)],
    states=Rate(ratio, log(n * eps / sqrt(d)) / n),
    checks=[
        Follows(
            cost.formula / n**2, Rational(2), "(n + L/μ)·log(nε/√d) over n²",
            {L_s: mu * n / (1 + extra), eps: 2 * sqrt(d) / n * (1 + more)},
        )
    ],
)

steps_per_condition = quantity(
    "steps_per_condition", "m / (L/mu), the constant of m = Θ(L/μ)", box=(192, 1e4), printed="M", latex="M"
)

faster_private = Claim(
    id="dwang20.section3.1.3.faster.private",
    source=Source("dwang20", "section 3.1.3, with the condition of Theorem 3.1.1"),
    kind=Kind.COST,
    says="The same for an ε that Theorem 3.1.1 covers, with m = M·L/μ, and above c₁MT/n.",
    assumes=[kappa <= n, Setting("ε ≤ c₁Tm/n² with m = M·L/μ"), Setting("ε > c₁MT/n")],
    states=Rate(ratio, log(n * eps / sqrt(d)) / n),
    hidden=(c1,),
    checks=[
        Contradictory(
            [
                Less(
                    "c₁T·M·(L/μ)/n² ≤ c₁MT/n for L/μ ≤ n: the two limits on ε exclude each other",
                    c1 * T * steps_per_condition * kappa / n**2,
                    c1 * T * steps_per_condition / n,
                    {n: kappa + extra},
                )
            ],
            "Theorem 3.1.1 covers such well-conditioned problems for ε ≤ c₁MT/n only",
        )
    ],
)
