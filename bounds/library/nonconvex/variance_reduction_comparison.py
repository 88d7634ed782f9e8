"""Table 4.1 of lwang21: private search for stationary points, utility and gradients."""

from sympy import Add, Expr, Integer, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, delta, eps, n, ratio
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table
from dpcheck.bounds.relations.rates import exponent

UTILITY, COST = "utility", "gradient complexity"


def steepest(cost: Expr) -> Expr:
    """The term of a sum that grows fastest with n."""
    return max(Add.make_args(cost), key=lambda term: exponent(term, n).power)


best = (d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)

table4_1 = Table(
    id="lwang21.table4.1",
    source=Source("lwang21", "Table 4.1", line=4821),
    title="Risks that need not be convex, (ε, δ)-DP: E‖∇F‖ and gradient evaluations",
    keeps={UTILITY: ("n", "d", "eps", "delta"), COST: ("n", "d", "eps")},
    rows=[
        Row("RRPSGD (ZZM17)", {
            UTILITY: Cell(
                (d * log(n / delta) * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps), "zhang17.theorem5.rate", sqrt,
                "the root: the theorem bounds the square",
            ),
            COST: Cell(n**2, "zhang17.table1.nonconvex.time", lambda e: e / d, "d operations a gradient"),
        }),
        Row("DP-GD (WYX17)", {UTILITY: Cell(best), COST: Cell(n**2 * eps / sqrt(d))}),
        Row("DP-SRM", {
            UTILITY: Cell(best, "lwang21.theorem4.5.4.corrected"),
            COST: Cell(
                (n * eps) ** Rational(3, 2) / d ** Rational(3, 4), "lwang21.theorem4.5.4.cost", steepest,
                "its first term: the second is larger only for nε < √d",
            ),
        }),
    ],
)

follows = Claim(
    id="lwang21.table4.1",
    source=Source("lwang21", "Table 4.1", line=4821),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions; "
    "whether DP-SRM has both and privacy at once: lwang21.theorem4.5.4.privacy.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table4_1)],
)
