"""What no private algorithm can beat: the lower bounds of Bassily, Smith and Thakurta (2014), as cited.

Their proofs stand in none of the documents, so they are checked for consistency: no upper bound of the library
may fall below them. The scaled forms carry the units that the captions normalise away: a loss f(w) = L·D·g(w/D),
or (μD²)·g(w/D), turns the unit problem into one of any Lipschitz constant and size, and its excess risk with it.
"""

from sympy import Expr, Min, sqrt

from dpcheck.bounds.language.claim import (
    Claim,
    Hypothesis,
    Kind,
    Provenance,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    strongly_convex,
)
from dpcheck.bounds.language.symbols import D, L, d, eps, excess_risk, mu, n
from dpcheck.bounds.proving.consistency import Uncontradicted
from dpcheck.bounds.proving.proofs import Units

strong_rate, convex_rate = Min(1, d / (n**2 * eps**2)), Min(1, sqrt(d) / (n * eps))


def lower(table: str, line: int, says: str, rate: Expr, *assumes: Hypothesis, scaled: bool = False) -> Claim:
    """A caption's lower bound, or the same with units."""
    every = Setting("some dataset, for every (ε, δ)-private algorithm (δ = o(1/n) in the source cited)")
    return Claim(
        id=f"dwang20.table{table}.lower{'.scaled' if scaled else ''}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", f"Table {table}, caption{', with units' if scaled else ''}", line),
        says=says,
        assumes=[every, *assumes],
        states=Rate(excess_risk, rate, below=True),
        ignores_units=not scaled,
        provenance=Provenance.CONSEQUENCE if scaled else Provenance.PRINTED,
        checks=[*([Units()] if scaled else []), Uncontradicted()],
    )


strong = lower(
    "3.1", 566, "Strongly convex losses: no (ε, δ)-private algorithm has less excess risk on every dataset.",
    strong_rate, Setting("each loss is 1-Lipschitz; the set and μ of order 1"),
)
convex_lower = lower(
    "3.2", 586, "Convex losses: no (ε, δ)-private algorithm has less excess risk on every dataset.",
    convex_rate, convex(), Setting("each loss is 1-Lipschitz; the set of order 1"),
)
strong_scaled = lower(
    "3.1", 566, "The same for L-Lipschitz, μ-strongly convex losses over a ball whose radius is of order L/μ.",
    L**2 / mu * strong_rate, strongly_convex(mu), lipschitz(L), scaled=True,
)
convex_scaled = lower(
    "3.2", 586, "The same for L-Lipschitz convex losses over a ball of radius D.",
    L * D * convex_rate, convex(), lipschitz(L), scaled=True,
)
