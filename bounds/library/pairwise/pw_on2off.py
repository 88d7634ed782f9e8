"""The mean of the points of an online run (dwang20, section 3.3.3, Theorem 3.3.5, Remark 3.3.2).

From regret to population risk by Theorem 3 of Kar et al. 2013 (Lemma 3.3.5), which stands in none of the documents.
Solver: dpcheck/solvers/pairwise/pw_on2off.py.
"""

from sympy import Expr, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import eps, gamma, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.pairwise.pw_giga import L, alpha
from dpcheck.bounds.library.pairwise.pw_on_c import (
    convex_cost,
    convex_noise_alone,
    convex_noise_is_most,
    convex_regret,
    convex_terms,
    explicit3,
    fourth_root,
    product,
    small_set,
    squared_constants,
)
from dpcheck.bounds.library.pairwise.pw_on_strc import (
    NOISE,
    explicit2,
    known,
    likely_regret,
    noise_alone,
    noise_cost,
    noise_is_most,
    per_record,
    small,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

TWICE = "with probability 1-2γ"  # the regret is bounded but for γ, and so is what it says of the risk
pair_risk = quantity(
    "pair_risk", "excess population risk of losses of pairs", loss=1, printed="Err_P(ŵ)",
    latex=r"\mathrm{Err}_{\mathcal{P}}(\hat w)", holds=TWICE,
)
rademacher = quantity(
    "rademacher", "mean of the Rademacher averages of the losses of pairs", loss=1,
    printed="ΣR_t/n", latex=r"\frac{1}{n}\sum\mathcal{R}_t",
)
LEMMA5 = Premise("Lemma 3.3.5 (Theorem 3 of Kar et al. 2013) with B = G‖C‖₂; the mean of points, by Jensen (convex)")
deviation = 6 * G * diameter * sqrt(log(n / gamma) / (n - 1))

explicit5_strong = Claim(
    id="dwang20.theorem3.3.5.strongly_convex.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.5, (3.136) with the regret put in", line=2587),
    says="Population risk of the mean point of OnPairStrC.",
    assumes=[*known, small, eps <= 1, n >= 2],
    states=Le(pair_risk, 4 * rademacher + explicit2.formula / (n - 1) + deviation),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            pair_risk,
            Step("<=", 4 * rademacher + likely_regret / (n - 1) + deviation, because=LEMMA5),
            Step("<=", because=Cites("dwang20.theorem3.3.2.explicit")),
            Step("=", STATEMENT),
        )
    ],
)

explicit5 = Claim(
    id="dwang20.theorem3.3.5.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.5, (3.136) with the regret put in", line=2587),
    says="Population risk of the mean point of OnPairC, for any α.",
    assumes=[*explicit3.assumes, n >= 2],
    states=Le(pair_risk, 4 * rademacher + convex_terms / (n - 1) + deviation),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            pair_risk,
            Step("<=", 4 * rademacher + convex_regret / (n - 1) + deviation, because=LEMMA5),
            Step("<=", because=Cites("dwang20.theorem3.3.3.explicit")),
            Step("=", STATEMENT),
        )
    ],
)

# Where the noise costs most
spread_is_less = deviation / 6 <= noise_cost / n
convex_spread_is_less = deviation / 6 <= convex_cost / n
well_conditioned = Setting("α is at most L²‖C‖₂")
per_round = noise_cost * L**2 * diameter / (alpha * n)  # the first term of (3.108), with L²‖C‖₂/α as a factor


def conditioned(times: Expr) -> Slack:
    """The noise's cost gets the factor L²‖C‖₂/α."""
    part = times * noise_cost / (n * alpha) * (L**2 * diameter - alpha)
    return Slack(given={"α ≤ L²‖C‖₂, where the noise costs something": part})


theorem5 = Claim(
    id="dwang20.theorem3.3.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.5, (3.116)", line=2276),
    says="Population risk of the mean point of OnPairC, α = n^(-1/4), with probability 1-2γ; γ is the document's ζ.",
    assumes=[*explicit5.assumes, fourth_root],
    added=[*convex_noise_is_most, convex_spread_is_less],
    states=Rate(pair_risk, rademacher + product / n ** Rational(1, 4)),
    ignores_units=True,
    checks=[
        Chain(
            pair_risk,
            Step("<=", because=Cites("dwang20.theorem3.3.5.explicit")),
            Step("<=", 4 * rademacher + 2 * convex_terms / n + deviation, because=per_record(convex_terms)),
            Step("<=", 4 * rademacher + 2 * (NOISE + 1) * convex_cost / n + deviation,
                 because=convex_noise_alone(2 / n)),
            Step("<=", 4 * rademacher + 2 * (NOISE + 4) * convex_cost / n, because=Slack(seen=[
                6 * (convex_cost / n - deviation / 6)])),
            Step("<=", 4 * rademacher + 8 * (NOISE + 4) * product * sqrt(n) / (alpha * n), because=squared_constants(
                2 * (NOISE + 4) / (NOISE + 1) / n), uses=[small_set]),
            Step("<=", 8 * (NOISE + 4) * STATEMENT, because=Slack(seen=[(8 * NOISE + 28) * rademacher])),
        )
    ],
)

theorem5_strong = Claim(
    id="dwang20.theorem3.3.5.strongly_convex", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.5, (3.117)", line=2280),
    says="Population risk of the mean point of OnPairStrC, with probability 1-2γ; γ is the document's ζ.",
    assumes=explicit5_strong.assumes,
    added=[*noise_is_most, spread_is_less, well_conditioned],
    states=Rate(pair_risk, rademacher + per_round),
    ignores_units=True,
    checks=[
        Chain(
            pair_risk,
            Step("<=", because=Cites("dwang20.theorem3.3.5.strongly_convex.explicit")),
            Step("<=", 4 * rademacher + 2 * explicit2.formula / n + deviation, because=per_record(explicit2.formula)),
            Step("<=", 4 * rademacher + 2 * NOISE * noise_cost / n + deviation, because=noise_alone(2 / n)),
            Step("<=", 4 * rademacher + 2 * (NOISE + 3) * noise_cost / n, because=Slack(seen=[
                6 * (noise_cost / n - deviation / 6)])),
            Step("<=", 4 * rademacher + 2 * (NOISE + 3) * per_round, because=conditioned(2 * (NOISE + 3)),
                 uses=[well_conditioned]),
            Step("<=", 2 * (NOISE + 3) * STATEMENT, because=Slack(seen=[(2 * NOISE + 2) * rademacher])),
        )
    ],
)
