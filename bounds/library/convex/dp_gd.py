"""DP-GD: full-batch noisy gradient descent, the plain baseline of section 3.1 of dwang20.

The source cites [356] for it, which perturbs the output (outpert_gd.py): the experiments are measured against that.
Solver: dpcheck/solvers/convex/dp_gd.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, excess_risk, gradients, mu, n
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, losses, sigma_n
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Follows, Induction

extra = Symbol("extra", nonnegative=True)
stated_noise = G * sqrt(c * T * log(1 / delta)) / (n * eps)
beta = L_s + mu  # smoothness with the regulariser
strong = [*losses, Setting("r = μ/2·‖x‖², step size 1/(L+μ)")]

released = Release(2 * G / n, Gaussian(sigma_n), steps=T)  # T full gradients, each 2G/n apart

privacy = Claim(
    id="dwang20.section3.1.5.dp_gd",
    source=Source("dwang20", "section 3.1.5, DP-GD read as noise on each gradient, by Lemma 2.1.7 at q = 1"),
    kind=Kind.PRIVACY,
    says="T noisy full gradients with c = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "T full gradients, each 2G/n apart"), for_every_delta],
)

utility = Claim(
    id="dwang20.section3.1.5.dp_gd.utility",
    source=Source("dwang20", "section 3.1.5, DP-GD read as noise on each gradient"),
    kind=Kind.UTILITY,
    says="Excess risk of the last iterate on strongly convex risks, for every T and noise.",
    assumes=strong,
    states=Le(excess_risk, (1 - mu / beta) ** T * gap0 + d * sigma_n**2 / (2 * mu)),
    checks=[
        Induction(
            T, gap0, lambda b: (1 - mu / beta) * b + d * sigma_n**2 / (2 * beta),
            "a noisy step: F falls by ‖∇F‖²/(2β) and rises by ‖noise‖²/(2β), and ‖∇F‖² ≥ 2μ(F-F°)",
        ),
    ],
)

cost = Claim(
    id="dwang20.section3.1.5.dp_gd.cost",
    source=Source("dwang20", "section 3.1.5, DP-GD read as noise on each gradient"),
    kind=Kind.COST,
    says="n record gradients for each of T = (L+μ)/μ·log(n²ε²/d) steps, L ≥ μ.",
    assumes=[*strong, mu <= L_s, n * eps >= 2 * sqrt(d)],
    states=Rate(gradients, n * L_s / mu * log(n * eps / sqrt(d))),
    checks=[
        Follows(
            n * (2 * L_s / mu) * 2 * log(n * eps / sqrt(d)), Integer(4), "(1-μ/β)^T ≤ e^(-Tμ/β) = d/(n²ε²)",
            {eps: 2 * sqrt(d) / n * (1 + extra)},
        )
    ],
)
