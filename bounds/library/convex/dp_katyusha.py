"""DP-Katyusha (dwang20, section 3.1.3, Algorithm 3.1.2): noisy variance-reduced gradients with negative momentum.

Theorem 3.1.3; the proof stands in dp_katyusha_proof.py. The algorithm as printed adds no noise.
Solver: dpcheck/solvers/convex/dp_katyusha.py.
"""

from sympy import Eq, Expr, Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, eta, excess_risk, gradients, mu, n
from dpcheck.bounds.library.convex.dp_katyusha_proof import grown, theta
from dpcheck.bounds.library.convex.variance_reduction import (
    R_STRONG,
    G,
    L_s,
    full_gradients,
    inner,
    kappa,
    losses,
    reduced_gradients,
    sigma_n,
    stated_noise,
    strong,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Premise, Step

more, extra = (Symbol(name, nonnegative=True) for name in ("more", "extra"))

# Privacy -------------------------------------------------------------------------------------------
released = reduced_gradients(T * inner)  # with noise in line 7
noisy = Setting("line 7 adds u ~ N(0, σ²I)")

privacy = Claim(
    id="dwang20.theorem3.1.3.privacy",
    source=Source("dwang20", "Theorem 3.1.3, first sentence, and Algorithm 3.1.2 as printed", line=709),
    kind=Kind.PRIVACY,
    says="Algorithm 3.1.2 is (ε, δ)-private with σ of (3.3), though no line of it adds noise.",
    assumes=[*losses, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    misprint_of="dwang20.theorem3.1.3.queries",
)

queries = Claim(
    id="dwang20.theorem3.1.3.queries",
    source=Source("dwang20", "section 3.1.7, the queries M_i of “the Proof of Theorem 3.1.3”, with noise", line=955),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which all noisy gradients together are (ε, δ)-private for all ε ≤ c₁Tm/n².",
    assumes=[*losses, noisy, eps <= c1 * T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    checks=[
        Accountant(
            full_gradients(T * inner),
            "linear losses, whose queries are full gradients: the true ε grows like the square of the stated one",
            box={n: (100, 100)},
        )
    ],
)

privacy_corrected = Claim(
    id="dwang20.theorem3.1.3.privacy.corrected",
    source=Source("dwang20", "Theorem 3.1.3, first sentence", line=709),
    kind=Kind.PRIVACY,
    says="With noise in line 7, as the proof has it, c = 72 and c₁ = 1, for ε at most 1.",
    assumes=[*losses, noisy, eps <= 1, eps <= T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 72)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.3.privacy",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)

# Utility -------------------------------------------------------------------------------------------
# X = n²ε²μg₀/(dG²log(1/δ)) ≤ n⁴; log w ≥ 2/5/√(nL/μ) in case 1.
unit = d * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)
inner1, inner2 = 3 * n / 4, 3 * kappa / 4
epochs1, epochs2 = 15 * sqrt(kappa / n) * log(n), 11 * log(n)
LONG1 = Premise("Φ₀ ≤ 3g₀ shrinks to 3g₀/X in T = 15√(L/(μn))·log n epochs")
LONG2 = Premise("Φ₀ ≤ 3g₀ shrinks to 3g₀/X in T = 11·log n epochs")
PARAMETERS = Setting("m and θ as in the two cases; T = 15√(L/(μn))·log n and T = 11·log n epochs for their O()")
NEAR = Setting("g₀ ≤ G²/(2μ), as at the minimiser of r")
SHRINKS = [PARAMETERS, NEAR, R_STRONG, eps <= n]
usual = {n: exp(1 + more), delta: exp(-extra) / 2}


def noise_of(factor: Expr, epochs: Expr, steps: Expr) -> Expr:
    """`factor` times dσ²/(2L) with the σ of the corrected theorem, after so many epochs of so many steps."""
    return factor * d / (2 * L_s) * (privacy_corrected.formula**2).subs({T: epochs, inner: steps})


utility = Claim(
    id="dwang20.theorem3.1.3.utility",
    source=Source("dwang20", "Theorem 3.1.3, equation (3.6)", line=711),
    kind=Kind.UTILITY,
    says="Excess risk of DP-Katyusha, with noise of the order of (3.3) in line 7 and the parameters of either case.",
    assumes=[*strong, Eq(eta, 1 / (3 * L_s * theta)), theta <= Rational(1, 2), grown >= 1, PARAMETERS],  # in both cases
    added=[eps <= n, delta <= Rational(1, 2), n >= 3, NEAR],
    states=Rate(excess_risk, d * log(n) ** 2 * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Cases(
            {
                n <= kappa: Chain(
                    excess_risk,
                    Step("<=", because=Cites("dwang20.equation3.42", granted="ημm = θ")),
                    Step("<=", 3 * unit + noise_of(epochs1, epochs1, inner1), because=LONG1, uses=SHRINKS),
                    Step("<=", 6100 * STATEMENT, where=usual),
                ),
                n >= kappa: Chain(
                    excess_risk,
                    Step("<=", because=Cites("dwang20.equation3.46", granted="θ = 1/2, m = 3/4·L/μ")),
                    Step("<=", 3 * unit + noise_of(Integer(2), epochs2, inner2), because=LONG2, uses=SHRINKS),
                    Step("<=", 600 * STATEMENT, where=usual),
                ),
            }
        )
    ],
)

log_ratio = log(n * eps / sqrt(d))
enough = {eps: 2 * sqrt(d) / n * (1 + more)}

cost = Claim(
    id="dwang20.theorem3.1.3.cost",
    source=Source("dwang20", "Theorem 3.1.3, gradient complexity", line=713),
    kind=Kind.COST,
    says="Record gradients of T epochs: n for the snapshot, two for each of m steps.",
    assumes=strong,
    added=[n * eps >= 2 * sqrt(d)],
    states=Rate(gradients, (n + sqrt(n * kappa)) * log_ratio),
    checks=[
        Cases({
            n <= kappa: Chain(
                gradients,
                Step("=", sqrt(kappa / n) * log_ratio * (n + 2 * inner1), because=Premise("T and m of case 1")),
                Step("<=", 3 * STATEMENT, where=enough),
            ),
            n >= kappa: Chain(
                gradients,
                Step("=", log_ratio * (n + 2 * inner2), because=Premise("T and m of case 2")),
                Step("<=", 3 * STATEMENT, where={**enough, L_s: mu * n / (1 + extra)}),
            ),
        })
    ],
)
