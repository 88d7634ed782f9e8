"""What no private algorithm can beat: the lower bounds of Bassily, Smith and Thakurta (2014), as cited.

Their proofs stand in none of the documents, so they are checked for consistency: no upper bound of the library
may fall below them. The scaled forms carry the units that the captions normalise away: a loss f(w) = L·D·g(w/D),
or (μD²)·g(w/D), turns the unit problem into one of any Lipschitz constant and size, and its excess risk with it.
"""

from sympy import Min, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, strongly_convex
from dpcheck.bounds.language.symbols import D, L, beta, d, delta, eps, excess_risk, mu, n, ratio
from dpcheck.bounds.library.convex.outpert_gd import theorem2_approx
from dpcheck.bounds.proving.consistency import Uncontradicted
from dpcheck.bounds.proving.proofs import Proof, Same, Units

every_algorithm = Setting("some dataset, for every (ε, δ)-private algorithm (δ = o(1/n) in the source cited)")
strong_rate, convex_rate = Min(1, d / (n**2 * eps**2)), Min(1, sqrt(d) / (n * eps))

strong = Claim(
    id="dwang20.table3.1.lower",
    source=Source("dwang20", "Table 3.1, caption"),
    kind=Kind.LOWER_BOUND,
    says="Strongly convex losses: no (ε, δ)-private algorithm has less excess risk on every dataset.",
    assumes=[every_algorithm, Setting("each loss is 1-Lipschitz; the set and μ of order 1")],
    states=Rate(excess_risk, strong_rate, below=True),
    ignores_units=True,
    checks=[Uncontradicted()],
)

convex_lower = Claim(
    id="dwang20.table3.2.lower",
    source=Source("dwang20", "Table 3.2, caption"),
    kind=Kind.LOWER_BOUND,
    says="Convex losses: no (ε, δ)-private algorithm has less excess risk on every dataset.",
    assumes=[every_algorithm, convex(), Setting("each loss is 1-Lipschitz; the set of order 1")],
    states=Rate(excess_risk, convex_rate, below=True),
    ignores_units=True,
    checks=[Uncontradicted()],
)

strong_scaled = Claim(
    id="dwang20.table3.1.lower.scaled",
    source=Source("dwang20", "Table 3.1, caption, with units"),
    kind=Kind.LOWER_BOUND,
    says="The same for L-Lipschitz, μ-strongly convex losses over a ball whose radius is of order L/μ.",
    assumes=[every_algorithm, strongly_convex(mu), lipschitz(L)],
    states=Rate(excess_risk, L**2 / mu * strong_rate, below=True),
    checks=[Units(), Uncontradicted()],
)

convex_scaled = Claim(
    id="dwang20.table3.2.lower.scaled",
    source=Source("dwang20", "Table 3.2, caption, with units"),
    kind=Kind.LOWER_BOUND,
    says="The same for L-Lipschitz convex losses over a ball of radius D.",
    assumes=[every_algorithm, convex(), lipschitz(L)],
    states=Rate(excess_risk, L * D * convex_rate, below=True),
    checks=[Units(), Uncontradicted()],
)

matches = Claim(
    id="zhang17.section1.matches_lower_bound",
    source=Source("zhang17", "section 1, contribution 1 and its footnote"),
    kind=Kind.UTILITY,
    says="In n and d, Theorem 2 matches the lower bound of Bassily et al. (μ a constant): their ratio has neither.",
    assumes=[*theorem2_approx.assumes, *strong.assumes, d <= n**2 * eps**2],
    states=Rate(ratio, log(1 / delta)),
    cites=[Cites("zhang17.theorem2.approx"), Cites("dwang20.table3.1.lower")],
    checks=[
        Proof(
            [
                Same(
                    "Theorem 2 at L = β = μ = 1 over d/(n²ε²), which is the lower bound where d ≤ n²ε²",
                    theorem2_approx.formula.subs({L: 1, beta: 1, mu: 1}) / (d / (n**2 * eps**2)),
                    log(1 / delta),
                )
            ],
            "the ratio is log(1/δ)",
        )
    ],
)
