"""DP-IHT for sparsity-constrained empirical risk (dwang20, section 5.3.5, Algorithm 5.3.43).

Noisy full gradients, of whose steps the k largest entries are kept. Solver: dpcheck/solvers/sparse/dp_iht_erm.py. A
loss with restricted strong convexity ρ and smoothness ℓ = κρ is Lipschitz on bounded sets only: G bounds the gradients
where the iterates go. ‖g‖ and ‖z‖ are those of the noisy gradient and of the noise on the supports of a step.
"""

from sympy import Eq, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, excess_risk, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.sparse.dp_ight import gradients, kappa_s, largest2, turned
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step

rho = quantity("rho_s", "restricted strong convexity", loss=1, parameter=-2, printed="ρ", latex=r"\rho_s")
k = quantity("k_kept", "entries that thresholding keeps", box=(1, 1e6), integer=True, printed="k", latex="k")
k_star = quantity("k_star", "nonzeros of the best sparse point", box=(1, 1e3), integer=True, printed="k°", latex="k^*")
gap_now = quantity("iht_gap", "L(x_t) - L(x*)", loss=1, printed="(L(x_t)-L(x°))")
gap_next = quantity("iht_gap_next", "L(x_(t+1)) - L(x*)", loss=1, printed="(L(x_(t+1))-L(x°))")
gap_0 = quantity("iht_gap_0", "L(x_0) - L(x*)", loss=1, printed="(L(x₀)-L(x°))")
away = quantity("iht_away", "||x_t - x*||", parameter=1, printed="‖x_t-x°‖")
g = quantity("iht_g", "norm of the noisy gradient on two supports", loss=1, parameter=-1, printed="‖g‖")
z = quantity("iht_z", "norm of the noise on three supports", loss=1, parameter=-1, printed="‖z‖")
t, u, v, w = (Symbol(name, nonnegative=True) for name in "tuvw")

released = gradients
restricted = Setting("restricted strong convexity ρ and smoothness κρ at 2k + k*, x* the best k-sparse point")
losses = [lipschitz(G, "where the iterates go"), restricted, kappa_s >= 1]

# Privacy -------------------------------------------------------------------------------------------
theorem8_privacy = Claim(
    id="dwang20.theorem5.3.8.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.3.8, its first sentence, and Algorithm 5.3.43, line 2", line=6583),
    says="There is a c with which σ² = cT·log(1/δ)G²/(n²ε²) makes T noisy gradients (ε, δ)-private.",
    assumes=[lipschitz(G, "where the iterates go"), eps <= 1],
    added=[delta <= Rational(1, 2)],
    states=Eq(sigma_n, sqrt(c * T * log(1 / delta)) * G / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    checks=[Accountant(released, turned)],
)

theorem8_privacy_explicit = Claim(
    id="dwang20.theorem5.3.8.privacy.explicit", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.3.8, its first sentence, with a number", line=6583),
    says="It is private with c = 8, for δ at most 1/4.",
    assumes=[lipschitz(G, "where the iterates go"), eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, sqrt(8 * T * log(1 / delta)) * G / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(released, turned)],
)

# A step --------------------------------------------------------------------------------------------
lemma12 = Claim(
    id="dwang20.lemma5.3.12", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.12, equation (5.93)", line=7061),
    says="How far an iterate is from the best sparse point, by its risk, its noisy gradient and the noise.",
    assumes=losses,
    states=Le(away**2, -4 / rho * gap_now + 8 / rho**2 * g**2 + 8 / rho**2 * z**2),
    checks=[
        Chain(
            away**2,
            Step("<=", STATEMENT, because=Slack(
                given={"restricted strong convexity at x_t, and Cauchy-Schwarz":
                       4 / rho * ((g + z) * away - gap_now - rho / 2 * away**2)},
                seen=[8 / rho**2 * (g - rho * away / 4) ** 2, 8 / rho**2 * (z - rho * away / 4) ** 2]),
                 uses=[restricted]),
        )
    ],
)

q = k_star / (k + k_star)
ell = kappa_s * rho
by_592 = (
    (1 - 2 * q) * gap_now + q * (2 * ell - rho) * away**2 + (q - Rational(1, 2)) / (2 * ell) * g**2
    + (k + k_star) / (2 * ell * (k - 3 * k_star)) * z**2
)
left = (Rational(1, 2) - q) / (2 * ell) - 8 * q * (2 * ell - rho) / rho**2  # of -‖g‖², after one use of the lemma
used = q * (2 * ell - rho) + left * rho**2 / 8

equation95 = Claim(
    id="dwang20.equation5.95", kind=Kind.UTILITY,
    source=Source("dwang20", "equation (5.95), without its term of mean 0", line=7077),
    says="One step with η = 1/(2ℓ), for k at least (1+64κ²)k*; 37ℓ/ρ² is 37κ/ρ.",
    assumes=[*losses, k >= (1 + 64 * kappa_s**2) * k_star],
    states=Le(gap_next, (1 - 1 / (8 * kappa_s)) * gap_now + 37 * kappa_s / rho * z**2),
    checks=[
        Chain(
            gap_next,
            Step("<=", by_592, because=Premise("(5.92), η = 1/(2ℓ): smoothness, and Lemma 5.3.3 on k + 2k* entries")),
            Step("<=", STATEMENT, because=Slack(
                cited=[(used, Cites(lemma12.id))],
                seen=[
                    left * rho**2 / 8 * away**2,
                    q * (8 * kappa_s - 1) / (4 * kappa_s) * gap_now,
                    (37 * kappa_s / rho - (k + k_star) / (2 * ell * (k - 3 * k_star)) - 8 / rho**2 * used) * z**2,
                ])),
        )
    ],
)

# T steps -------------------------------------------------------------------------------------------
lemma13 = Claim(
    id="dwang20.lemma5.3.13", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.13", line=7079),
    says="The largest squared coordinate of Gaussian noise is of order σ²·log p.",
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

fading = (1 - 1 / (8 * kappa_s)) ** T
noise = 131 * kappa_s**2 * k_star * 296 * kappa_s**2 / rho
enough = 2 * G**2 / rho * k_star / (n * eps) ** 2

private = ApproxDP(eps, delta)
few = k_star <= (n * eps) ** 2
tuned = Setting("η = 1/(2ℓ), T = 8κ·log(n²ε²/k*), k = (1+64κ²)k*")

theorem8 = Claim(
    id="dwang20.theorem5.3.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.8, equation (5.79), with the G, ρ and ℓ that its O omits", line=6585),
    says="The excess risk over the best sparse point after T = O(κ·log(n²ε²/k*)) steps with k = (1+64κ²)k*; what the O "
    "omits is κ⁵G²/ρ.",
    assumes=[*losses, eps <= 1, tuned],
    added=[delta <= Rational(1, 4), d >= 2, n >= 2, few],
    states=Rate(
        excess_risk, kappa_s**5 * G**2 / rho * log(n) * log(d) * k_star * log(1 / delta) / (n**2 * eps**2)
    ),
    guarantee=private,
    checks=[
        Chain(
            excess_risk,
            Step("<=", fading * gap_0 + 296 * kappa_s**2 / rho * z**2, because=Induction(
                T, gap_0, OneStep(Cites(equation95.id, {k: (1 + 64 * kappa_s**2) * k_star}), gap_now, gap_next))),
            Step("<=", fading * gap_0 + noise * largest2,
                 because=Premise("‖z‖² ≤ (2k+k*)‖z‖∞² on three supports, and 2k+k* = (3+128κ²)k* ≤ 131κ²k*")),
            Step("<=", because=Cites("lwang21.lemma2.10.1.proof")),
            Step("=", because=Cites(theorem8_privacy_explicit.id), uses=[private]),
            Step("<=", enough + 256 * noise * kappa_s * log(n) * log(4 * d) * log(1 / delta) * (G / (n * eps)) ** 2,
                 because=Premise("(1-1/8κ)^T ≤ e^(-T/8κ) = k*/(nε)², L(x₀)-L(x*) ≤ 2G²/ρ by convexity and G, and "
                                 "T ≤ 16κ·log n; T ≥ 0 as k* ≤ (nε)²"), uses=[tuned, few, eps <= 1]),
            Step("<=", 60_000_000 * STATEMENT,
                 where={n: 2 * exp(u), d: 2 * exp(w), delta: 2 ** -(2 + v), kappa_s: 1 + t}),
        )
    ],
)
