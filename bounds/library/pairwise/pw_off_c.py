"""OffPairC: OffPairStrC on convex losses with α/2·‖w-w₀‖² added (dwang20, section 3.3.4, Algorithm 3.3.15).

At α of order 1/√n the points up to T₁ = 16L̃²/α² are a share of all n that does not shrink: the error has a floor. With
T₁ = 3+L/α, which Lemma 3.3.1 allows, it has none. Solver: dpcheck/solvers/pairwise/pw_off_c.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Kind,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import c1, d, delta, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.pairwise.pw_giga import STEP_SIZE, T1, L, alpha
from dpcheck.bounds.library.pairwise.pw_off_strc import MEAN_POINT, explicit6, printed_sigma
from dpcheck.bounds.library.pairwise.pw_on2off import TWICE, pair_risk, rademacher
from dpcheck.bounds.library.pairwise.pw_on_c import G_tilde, L_tilde, as_perturbed
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

REGULARISED = Setting("Algorithm 3.3.14 runs on ℓ + α/2·‖w-w₀‖², which is α-strongly convex")
perturbed = [convex(), strongly_convex(alpha), smooth(L_tilde), lipschitz(G_tilde), REGULARISED, STEP_SIZE, MEAN_POINT]
root_n = Eq(alpha, c1 / sqrt(n))
convex_risk = quantity("convex_risk", "population risk on ℓ + α/2·‖w-w₀‖²", loss=1, printed="Err̃_P(ŵ)", holds=TWICE)
x = Symbol("x", positive=True)

theorem6_privacy = Claim(
    id="dwang20.theorem3.3.6.convex.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.6, third sentence, with line 4 of Algorithm 3.3.15", line=2332),
    says="The noisy mean point is (ε, δ)-private, for any α.",
    assumes=[*perturbed, 16 * L_tilde**2 / alpha**2 <= T1, T1 >= 7, n > T1, eps <= 1],
    states=Eq(sigma, printed_sigma.subs(G, G_tilde)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(Release(8 * G_tilde * log(n) / (alpha * n), Gaussian(sigma)), "(3.138)")],
    cites=[Cites("dwang20.equation3.138", as_perturbed)],
)

theorem6 = Claim(
    id="dwang20.theorem3.3.6.convex", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.6, (3.119), α = c₁/√n", line=2334),
    says="Population risk of OffPairC, with probability 1-2γ; γ is the document's ζ.",
    assumes=[convex(), smooth(L), lipschitz(G), REGULARISED, STEP_SIZE, MEAN_POINT,
             Setting("T₁ = max{⌈16L̃²/α²⌉, 7}, L̃ = L+α"), root_n, eps <= 1],
    states=Rate(
        pair_risk,
        sqrt(d * log(1 / delta) * log(n)) * G**2 * diameter**2 * log(n / gamma) / (sqrt(n) * eps) + rademacher,
    ),
    hidden=[c1],
    ignores_units=True,
    checks=[
        NoConstant(
            2 / (c1**2 + 16),
            {
                n: x, alpha: c1 / sqrt(x), L: Integer(1), G: Rational(3, 2), diameter: Integer(1), d: Integer(1),
                eps: Integer(1), delta: Rational(1, 100), gamma: Rational(1, 4), rademacher: 2 / sqrt(x),
            },
            x,
            "(w-1)²/2 on [-1/2, 1/2] for every pair: a share of at least 16/(c₁²+16) of the points, T₁/n or all, is "
            "drawn around 0, and the slope is 1/2 at the minimum, so a quarter of that share is lost; R_t ≤ 1/√t, and "
            "the noise vanishes",
        )
    ],
)  # fmt: skip

# With the least T₁
longest = 5 + L / alpha  # 3 + L/α, rounded up, and at least 4
short = [T1 >= 2, longest >= T1, n > T1, n >= 2, Eq(alpha, 1 / sqrt(n))]
corrected_terms = explicit6.formula.subs({**as_perturbed, T1: longest}, simultaneous=True) + alpha * diameter**2 / 2

theorem6_corrected = Claim(
    id="dwang20.theorem3.3.6.convex.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.6, (3.119)", line=2334),
    says="With T₁ = 3+L/α, α = 1/√n and any σ: T₁ costs G̃‖C‖₂T₁/n, of order 1/√n.",
    assumes=[*perturbed, *short],
    states=Le(pair_risk, corrected_terms.subs(alpha, 1 / sqrt(n))),
    corrects="dwang20.theorem3.3.6.convex",
    ignores_units=True,
    checks=[
        Chain(
            pair_risk,
            Step("<=", convex_risk + alpha * diameter**2 / 2, because=Premise("0 ≤ α/2·‖w-w₀‖² ≤ α/2·‖C‖₂²"),
                 uses=[REGULARISED]),
            Step("<=", because=Cites("dwang20.theorem3.3.6.explicit", {pair_risk: convex_risk, **as_perturbed})),
            Step("<=", corrected_terms, because=Slack(seen=[Rational(3, 2) * G_tilde * diameter / n * (longest - T1)])),
            Step("=", STATEMENT),
        )
    ],
)
