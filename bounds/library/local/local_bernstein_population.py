"""Population risk of the local Bernstein mechanism with a regulariser (dwang20, Theorem 5.1.3, Lemma 5.1.14).

The server adds μ/2·‖w‖² to the polynomial. The document's p is d, its failure probability β is γ; x is log(1/β).
Solver: dpcheck/solvers/local/local_bernstein_population.py.
"""

from sympy import Eq, Expr, Integer, Le, Rational, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, strongly_convex
from dpcheck.bounds.language.symbols import (
    L,
    d,
    eps,
    gamma,
    likely_excess_risk,
    mu,
    n,
    population_risk,
    x_tail,
)
from dpcheck.bounds.library.local.local_bernstein import D_h, at_theorem, h, target_error, users_needed
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Quoted

lemma14 = Claim(
    id="dwang20.lemma5.1.14", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.14", line=5307),
    says="Excess population risk from excess empirical risk, for strongly convex Lipschitz losses.",
    assumes=[lipschitz(L), strongly_convex(mu)],
    states=Le(population_risk, sqrt(2 * L**2 / mu) * sqrt(likely_excess_risk) + 4 * L**2 / (gamma * mu * n)),
    checks=[Quoted("from Shalev-Shwartz and others")],
)

conditions = [*at_theorem, convex(), lipschitz(Integer(1)), Eq(h, d), Setting("the server adds ‖w‖²/2·n^(-1/12)")]
ordinary = [eps <= 1, D_h >= 1, x_tail >= 1, Setting("‖w‖₂ ≤ 1 on C")]


def root(power: Expr) -> Expr:
    """The square root of Corollary 5.1.2 at n = 1 with this power of p, and of log(1/β) the one that (5.3) has."""
    return x_tail ** Rational(1, 8) * (D_h / eps) ** Rational(1, 4) * power * 2 ** (d * (d + 1) / 4)


right = root(d ** Rational(3, 8))  # of Corollary 5.1.2 as (5.8) gives it
regularised = Chain(
    population_risk,
    Step("<=", 2 * sqrt(2 * n ** Rational(1, 12)) * right / n ** Rational(1, 8)
         + 16 / (gamma * n ** Rational(11, 12)) + n ** -Rational(1, 12) / 2, because=Premise(
             "Lemma 5.1.14 for the regularised loss, 2-Lipschitz, at the risk of Corollary 5.1.2 as (5.8) gives it;"
             " the regulariser costs μ/2·‖w‖² ≤ μ/2")),
    Step("<=", 20 * STATEMENT, because=Slack(given={
        "γ ≤ 1": (3 / gamma - 2 * sqrt(2)) * right / n ** Rational(1, 12),
        "the root is at least 1, and so is n": (right / n ** Rational(1, 12) - n ** -Rational(11, 12)) * 16 / gamma,
        "the root is at least 1, and γ at most": (right / gamma - Rational(1, 2)) / n ** Rational(1, 12),
    })),
)

theorem3 = Claim(
    id="dwang20.theorem5.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.3", line=4884),
    says="Excess population risk of the regularised minimiser; D_h is D_p here.",
    assumes=conditions,
    added=ordinary,
    states=Rate(population_risk, root(d ** Rational(1, 8)) / (gamma * n ** Rational(1, 12))),
    ignores_units=True,
    checks=[regularised],
    cites=[Cites("dwang20.corollary5.1.2")],
)

theorem3_corrected = Claim(
    id="dwang20.theorem5.1.3.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.3", line=4884),
    says="The same with the power of p that Corollary 5.1.2 has when (5.8) is followed.",
    assumes=conditions,
    added=ordinary,
    states=Rate(population_risk, right / (gamma * n ** Rational(1, 12))),
    corrects="dwang20.theorem5.1.3",
    ignores_units=True,
    checks=[regularised],
)

theorem3_users = Claim(
    id="dwang20.theorem5.1.3.users", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.3, second display", line=4888),
    says="Users that make it at most α.",
    assumes=conditions,
    added=ordinary,
    states=Rate(
        users_needed,
        x_tail ** Rational(3, 2) * D_h**3 * d ** Rational(3, 2) * 8 ** (d * (d + 1)) * eps**-3
        * target_error**-12 * gamma**-12,
    ),
    ignores_units=True,
    checks=[Quoted("from the first display, whose power of p the proof does not give")],
    cites=[Cites("dwang20.theorem5.1.3")],
)
