"""DP-IHT for sparsity-constrained empirical risk (dwang20, section 5.3.5, Algorithm 5.3.43).

There is no solver: what is released is that of dp_ight.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, excess_risk, n
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.sparse.dp_ight import gradients, s_star, turned
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Quoted

theorem8_privacy = Claim(
    id="dwang20.theorem5.3.8.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.3.8 and Algorithm 5.3.43, line 2", line=6583),
    says="There is a c with which σ² = cT·log(1/δ)G²/(n²ε²) makes T noisy gradients (ε, δ)-private.",
    assumes=[lipschitz(G), eps <= 1],
    added=[delta <= Rational(1, 2)],
    states=Eq(sigma_n, sqrt(c * T * log(1 / delta)) * G / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    checks=[Accountant(gradients, turned)],
)

theorem8 = Claim(
    id="dwang20.theorem5.3.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.8, equation (5.79)", line=6585),
    says="The excess risk over the best k*-sparse point after T = O(κ·log(n²ε²/k*)) steps, G, ρ and ℓ counted as "
    "constants.",
    assumes=[lipschitz(G), Setting("restricted strong convexity and smoothness at 2k + k*, k ≥ (1+64κ²)k*"), eps <= 1],
    states=Rate(excess_risk, log(n) * log(d) * s_star * log(1 / delta) / (n**2 * eps**2)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Quoted("with κ in its constants, and losses both Lipschitz and strongly convex, which no unbounded "
    "set allows")],
)
