"""Population risk of the local Bernstein mechanism with a regulariser (dwang20, Theorem 5.1.3, Lemma 5.1.14).

The server adds μ/2·‖w‖² to the polynomial. The document's p is d, its failure probability β is γ; x is log(1/β).
Solver: dpcheck/solvers/local/local_bernstein_population.py.
"""

from sympy import Integer, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import (
    LOGS_FREE,
    Cites,
    Claim,
    Kind,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    strongly_convex,
)
from dpcheck.bounds.language.symbols import (
    L,
    d,
    eps,
    gamma,
    likely_excess_risk,
    mu,
    n,
    population_risk,
    quantity,
    x_tail,
)
from dpcheck.bounds.library.local.local_bernstein import (
    D_h,
    all_orders,
    corollary2_explicit,
    enough_tail,
    k,
    some_D_p,
    target_error,
    users_needed,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals

erm_gap = quantity("erm_gap", "excess population risk of the empirical minimiser", loss=1, printed="F(ŵ)-F*")
off_minimum = quantity("off_minimum", "distance from the empirical minimiser", parameter=1, printed="‖w-ŵ‖")

lemma14 = Claim(
    id="dwang20.lemma5.1.14", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.14", line=5307),
    says="Excess population risk from excess empirical risk, for strongly convex Lipschitz losses.",
    assumes=[lipschitz(L), strongly_convex(mu)],
    states=Le(population_risk, sqrt(2 * L**2 / mu) * sqrt(likely_excess_risk) + 4 * L**2 / (gamma * mu * n)),
    checks=[
        Chain(
            population_risk,
            Step("<=", L * off_minimum + erm_gap, because=Premise("the population risk is L-Lipschitz")),
            Step("<=", L * off_minimum + 2 * L**2 / (gamma * mu * n), because=Premise(
                "another record moves the minimiser by 2L/(μn) at most (strongly convex, Lipschitz), so its gap is"
                " 2L²/(μn) on average: Markov"), uses=[lipschitz(L), strongly_convex(mu)]),
            Step("<=", L * sqrt(2 * likely_excess_risk / mu) + 2 * L**2 / (gamma * mu * n), because=Premise(
                "the empirical risk grows by μ/2·‖w-ŵ‖² from its minimiser on")),
            Step("<=", STATEMENT),
        )
    ],
)

conditions = [*corollary2_explicit.assumes, convex(), lipschitz(Integer(1))]
regularised = Setting("the server adds ‖w‖²/2·n^(-1/12), and ‖w‖₂ ≤ 1 on C, as its proof says")
moderate = [eps <= 1, D_h >= 1, regularised]
root = x_tail ** Rational(1, 8) * (D_h / eps) ** Rational(1, 4) * d ** Rational(1, 8) * 2 ** (d * (d + 1) / 4)
twelfth, hidden_log = n ** -Rational(1, 12), log(k) ** Rational(1, 4)
others = 16 / (gamma * twelfth * n) + twelfth / 2

theorem3 = Claim(
    id="dwang20.theorem5.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.3", line=4884),
    says="Excess population risk of the regularised minimiser; D_h is D_p here, and (log k)^(1/4) is what Õ hides.",
    assumes=conditions,
    added=[*corollary2_explicit.added, *moderate],
    states=Rate(population_risk, root * hidden_log / (gamma * n ** Rational(1, 12))),
    ignores_units=True,
    checks=[
        Chain(
            population_risk,
            Step("<=", sqrt(8 * likely_excess_risk / twelfth) + others, because=Premise(
                "Lemma 5.1.14 for the regularised loss, which is 2-Lipschitz; the regulariser costs ‖w‖²/2·n^(-1/12)"),
                uses=[convex(), lipschitz(Integer(1)), regularised]),
            Step("<=", because=Cites("dwang20.corollary5.1.2.explicit")),
            Step("=", 4 * sqrt(10) * sqrt(1 + sqrt(log(k))) * root * twelfth + others),
            Step("<=", 20 * root * twelfth * hidden_log + others, because=Premise("1 + √log k ≤ 2.3√log k, as k ≥ 2")),
            Step("<=", 50 * STATEMENT, because=Slack({
                "γ ≤ 1": (1 / gamma - 1) * 20 * root * twelfth * hidden_log,
                "the root and n are at least 1, and k at least 2":
                    (24 * root * twelfth * hidden_log - 16 / (twelfth * n)) / gamma,
                "the root is at least 1, γ at most, and k at least 2":
                    (6 * root * hidden_log / gamma - Rational(1, 2)) * twelfth,
            }), uses=[*moderate, enough_tail]),
        )
    ],
    cites=[Cites("dwang20.lemma5.1.14", {L: Integer(2), mu: twelfth}, granted="the regularised losses are")],
)

theorem3_users = Claim(
    id="dwang20.theorem5.1.3.users", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.3, second display", line=4888),
    says="Users that make it at most α.",
    assumes=[*all_orders, convex(), lipschitz(Integer(1)), LOGS_FREE],
    added=[some_D_p, enough_tail, *moderate],
    states=Rate(
        users_needed,
        x_tail ** Rational(3, 2) * D_h**3 * d ** Rational(3, 2) * 8 ** (d * (d + 1)) * eps**-3
        * target_error**-12 * gamma**-12,
    ),
    ignores_units=True,
    checks=[
        Equals(
            (root / (gamma * target_error)) ** 12,
            "the first display, (log k)^(1/4) aside, is α at this n",
            uses=[*all_orders, convex(), lipschitz(Integer(1)), LOGS_FREE, some_D_p, enough_tail, *moderate],
        )
    ],
    cites=[Cites("dwang20.theorem5.1.3", granted="n is what the display says")],
)
