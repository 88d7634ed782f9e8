"""DP-SVRG (dwang20, section 3.1.3, Algorithm 3.1.1): noisy variance-reduced gradients, strongly convex regulariser.

Theorems 3.1.1 and 3.1.2 and Remark 3.1.1. Lemmas stand in variance_reduction.py, the proof of Theorem 3.1.2 in
dp_svrg_proof.py. Solver: dpcheck/solvers/convex/dp_svrg.py.
"""

from sympy import Eq, Ge, Lt, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, eta, excess_risk, gradients, m, mu, n, q, quantity
from dpcheck.bounds.library.convex.dp_svrg_proof import contraction, small_steps
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    full_gradients,
    gap0,
    inner,
    kappa,
    lam,
    losses,
    reduced_gradients,
    regularised,
    sigma_1,
    sigma_n,
    stated_noise,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step

# Privacy -------------------------------------------------------------------------------------------
released = reduced_gradients(T * inner)

theorem1 = Claim(
    id="dwang20.theorem3.1.1",
    source=Source("dwang20", "Theorem 3.1.1, equation (3.3)", line=656),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-SVRG is (ε, δ)-private for all ε ≤ c₁Tm/n².",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[
        Cites("dwang20.lemma2.1.7", {m: 1, T: T * inner, c1: 2 * c1}),  # a c₁ below the lemma's
        Cites("dwang20.equation3.13", {lam: 2 * log(1 / delta) / eps, sigma_1: stated_noise / G}),
    ],
    checks=[
        Accountant(
            full_gradients(Rational(3, 4) * T * inner),
            "linear losses, of which the output, a mean of iterates, keeps ¾ of Tm full gradients: the true ε grows "
            "like the square of the stated one, which Tm/n² does not limit",
            box={n: (100, 100)},
        )
    ],
)

theorem1_corrected = Claim(
    id="dwang20.theorem3.1.1.corrected",
    source=Source("dwang20", "Theorem 3.1.1", line=656),
    kind=Kind.PRIVACY,
    says="With c = 72 and c₁ = 1, for ε at most 1: a replaced record moves a step by 4G when drawn, 2G/n always.",
    assumes=[*losses, eps <= 1, eps <= T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 72)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.1",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)

# With r = G/2·|x - b| the iterate rests at b, whatever noise below G/2 does, until a record is drawn whose loss has
# slope 0 at x~ and G at b: that the output is not b tells as much as all gradients would.
drawn_differences = Release(G, Gaussian(sigma_n), WithoutReplacement(1, n), T * inner)

remark1 = Claim(
    id="dwang20.remark3.1.1",
    source=Source("dwang20", "Remark 3.1.1", line=662),
    kind=Kind.PRIVACY,
    says="Noise larger by a factor of order log(T/δ) makes DP-SVRG (ε, δ)-private without a condition on ε.",
    assumes=losses,
    states=Eq(sigma_n, c * log(T / delta) * G * sqrt(T * inner * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    cites=[Cites("dwang20.lemma2.1.5", {T: T * inner}), Cites("dwang20.lemma2.1.2", {q: 1 / n})],
    checks=[
        Accountant(
            drawn_differences,
            "the noise falls to 0 as n and m grow together, and a record is drawn with probability m/n: r = G/2·|x-b| "
            "keeps the iterate at b until then, so that the output tells",
            box={T: (1, 1), eps: (1e-2, 1)},
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
enough = n**2 * eps**2 / (d * log(1 / delta))  # 2^T halves a start of risk G²/(2μ), as at the minimiser of r, to noise
order = d * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)

theorem2 = Claim(
    id="dwang20.theorem3.1.2",
    source=Source("dwang20", "Theorem 3.1.2, equation (3.4), the noise of (3.3) with c = 1", line=666),
    kind=Kind.UTILITY,
    says="Excess risk of DP-SVRG after T = O(log(n²ε²μ/(dG²log(1/δ)))) epochs of m = Θ(L/μ) steps, where (3.5) holds.",
    assumes=[*small_steps, contraction < Rational(1, 2), Eq(sigma_n, stated_noise.subs(c, 1))],
    added=[enough <= 2**T, 6 * log(n) >= T, inner <= 200 * kappa, gap0 <= G**2 / (2 * mu)],
    states=Rate(excess_risk, log(n) * order),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem3.1.1")],
    checks=[
        Chain(
            excess_risk,
            Step("<=", because=Cites("dwang20.theorem3.1.2.proof")),
            Step("<=", 1203 * STATEMENT, because=Slack(seen=[
                gap0 * (1 / enough - 2**-T),
                (G**2 / (2 * mu) - gap0) / enough,
                order * T / kappa * (200 * kappa - inner),
                Rational(401, 2) * order * (6 * log(n) - T),
                order * (T - 1) / 2,
            ])),
        )
    ],
)

equation5 = Claim(
    id="dwang20.equation3.5",
    source=Source("dwang20", "Theorem 3.1.2, equation (3.5)", line=672),
    kind=Kind.UTILITY,
    says="Some η = Θ(1/L) and m = Θ(L/μ) meet (3.5); η ≤ 1/(12L) is not enough: it takes η < 1/(24L).",
    assumes=regularised,
    added=[Eq(eta, 1 / (48 * L_s)), inner >= 193 * kappa, mu <= L_s],
    states=Lt(contraction, Rational(1, 2)),
    checks=[Chain(contraction, Step("<", STATEMENT))],
)

cost = Claim(
    id="dwang20.theorem3.1.2.cost",
    source=Source("dwang20", "Theorem 3.1.2, gradient complexity", line=674),
    kind=Kind.COST,
    says="Record gradients of T = O(log(n²ε²μ/(dG²log(1/δ)))) epochs of m = Θ(L/μ) steps.",
    assumes=regularised,
    added=[5 * log(n * eps / sqrt(d)) >= T, inner <= 200 * kappa],
    states=Rate(gradients, (n + kappa) * log(n * eps / sqrt(d))),
    checks=[
        Chain(
            gradients,
            Step("=", T * (n + 2 * inner), because=Premise("Algorithm 3.1.1: n for each snapshot, two for each step")),
            Step("<=", 2000 * STATEMENT, because=Slack(seen=[
                2 * T * (200 * kappa - inner), 400 * (n + kappa) * (5 * log(n * eps / sqrt(d)) - T), 399 * n * T])),
        )
    ],
)

noise_term = quantity(
    "noise_term", "σ²p/L, what the noise adds to the proof's bound", loss=1, printed="σ²d/L", latex=r"\sigma^2 d/L"
)

theorem2_private = Claim(
    id="dwang20.theorem3.1.2.private",
    source=Source("dwang20", "Theorems 3.1.1 and 3.1.2 together, for any c and c₁", line=666),
    kind=Kind.UTILITY,
    says="Where Theorem 3.1.1 applies, the noise term σ²d/L of the proof has a floor that does not fall with n.",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Ge(noise_term, c / c1 * d * G**2 * log(1 / delta) / (eps * L_s)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            noise_term,
            Step("=", stated_noise**2 * d / L_s, because=Premise("the term of the proof, with σ of (3.3)")),
            Step(">=", STATEMENT),
        )
    ],
)
