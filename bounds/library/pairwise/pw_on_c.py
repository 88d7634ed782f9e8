"""OnPairC: OnPairStrC on convex losses with α/2·‖w-w₀‖² added (dwang20, section 3.3.2, Algorithm 3.3.10).

Solver: dpcheck/solvers/pairwise/pw_on_c.py.
"""

from sympy import Eq, Expr, Integer, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Hypothesis,
    Kind,
    Provenance,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.pairwise.pw_giga import STEP_SIZE, T1, L, alpha
from dpcheck.bounds.library.pairwise.pw_on_strc import (
    CLEAN,
    NOISE,
    explicit2,
    likely_regret,
    noise_alone,
    noise_cost,
    noise_is_most,
    root_rho,
    rounds,
    scaled,
    small,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

G_tilde, L_tilde = G + alpha * diameter, L + alpha  # of ℓ + α/2·‖w-w₀‖²
as_perturbed = {G: G_tilde, L: L_tilde}
REGULARISED = Setting("Algorithm 3.3.9 runs on ℓ + α/2·‖w-w₀‖², which is α-strongly convex")
perturbed: list[Hypothesis] = [
    convex(), strongly_convex(alpha), smooth(L_tilde), lipschitz(G_tilde), REGULARISED, STEP_SIZE, CLEAN,
    16 * L_tilde**2 / alpha**2 <= T1, T1 >= 7,
]
convex_noise = sqrt(32 * rounds) * G_tilde / (alpha * root_rho)
convex_regret = quantity(
    "convex_regret", "regret on ℓ, without the regulariser", loss=1, printed="R_(A,ℓ)(n, D)", holds=LIKELY
)

theorem3_privacy = Claim(
    id="dwang20.theorem3.3.3.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.3, first sentence, with line 4 of Algorithm 3.3.10", line=2158),
    says="The whole sequence of outputs is (ε, δ)-private.",
    assumes=[*perturbed, eps <= 1],
    states=Eq(scaled, convex_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(Release(8 * G_tilde / alpha, Gaussian(scaled), steps=rounds), "Lemma 3.3.1, at every t > T₁")],
    cites=[Cites("dwang20.theorem3.3.1", as_perturbed)],
)

# Regret on ℓ: that on ℓ̃, and what the regulariser changes
convex_terms = explicit2.formula.subs(as_perturbed, simultaneous=True) + n * alpha * diameter**2

explicit3 = Claim(
    id="dwang20.theorem3.3.3.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.3, before α is chosen", line=2549),
    says="Regret on ℓ for any α.",
    assumes=[*perturbed, 17 * L_tilde**2 / alpha**2 >= T1, n > T1, rounds <= n, small, eps <= 1],
    states=Le(convex_regret, convex_terms),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            convex_regret,
            Step("<=", likely_regret + n * alpha * diameter**2 / 2, because=Premise(
                "0 ≤ α/2·‖w-w₀‖² ≤ α/2·‖C‖₂², n times"), uses=[REGULARISED]),
            Step("<=", because=Cites("dwang20.theorem3.3.2.explicit", as_perturbed)),
            Step("<=", STATEMENT),
        )
    ],
)

# α as chosen, where the noise costs most
fourth_root = Eq(alpha, n ** Rational(-1, 4))
convex_cost = noise_cost.subs(as_perturbed, simultaneous=True)
small_set = G_tilde <= 2 * L * G * diameter
convex_noise_is_most = [
    *(h.subs(as_perturbed, simultaneous=True) for h in noise_is_most), n * alpha * diameter**2 <= convex_cost,
    small_set,
]  # fmt: skip
product = L**2 * G**2 * diameter**2 * sqrt(d * log(1 / delta)) * log(n / gamma) ** Rational(3, 2) / eps


def convex_noise_alone(share: Expr) -> Slack:
    """The terms of the explicit bound, a share of each, against `NOISE` + 1 times the noise."""
    others = noise_alone(share, as_perturbed)
    return Slack(given=others.given, seen=[*others.seen, share * (convex_cost - n * alpha * diameter**2)])


def squared_constants(share: Expr) -> Slack:
    """G̃² gives way to (2LG‖C‖₂)²."""
    part = convex_cost / G_tilde**2
    spare = 4 * L**2 * G**2 * diameter**2 - G_tilde**2
    return Slack(given={"G̃ ≤ 2LG‖C‖₂, squared": share * (NOISE + 1) * part * spare})


theorem3 = Claim(
    id="dwang20.theorem3.3.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.3, (3.110)", line=2160),
    says="Regret of OnPairC, α = n^(-1/4), with probability 1-γ; γ is the document's ζ.",
    assumes=[*explicit3.assumes, fourth_root],
    added=convex_noise_is_most,
    states=Rate(convex_regret, product * n ** Rational(3, 4)),
    ignores_units=True,
    checks=[
        Chain(
            convex_regret,
            Step("<=", because=Cites("dwang20.theorem3.3.3.explicit")),
            Step("<=", (NOISE + 1) * convex_cost, because=convex_noise_alone(Integer(1))),
            Step("<=", 4 * (NOISE + 1) * product * sqrt(n) / alpha, because=squared_constants(Integer(1)),
                 uses=[small_set]),
            Step("=", 4 * (NOISE + 1) * STATEMENT),
        )
    ],
)
