"""Table 4.1 of lwang21: private search for stationary points, utility and gradients."""

from sympy import Add, Eq, Expr, Integer, Rational, log, sqrt, sympify

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, delta, eps, n, ratio
from dpcheck.bounds.proving.proofs import Equals
from dpcheck.bounds.proving.rates import exponent
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table

UTILITY, COST = "utility", "gradient complexity"


def steepest(cost: Expr) -> Expr:
    """The term of a sum that grows fastest with n."""
    return max(Add.make_args(cost), key=lambda term: exponent(term, n).power)


best = (d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)

table4_1 = Table(
    id="lwang21.table4.1",
    source=Source("lwang21", "Table 4.1"),
    title="Risks that need not be convex, (ε, δ)-DP: E‖∇F‖ and gradient evaluations",
    keeps={UTILITY: ("n", "d", "eps", "delta"), COST: ("n", "d", "eps")},
    rows=[
        Row(
            "RRPSGD (ZZM17)",
            {
                UTILITY: Cell(
                    (d * log(n / delta) * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps),
                    "zhang17.theorem5.rate",
                    sqrt,
                    "the root: the theorem bounds the square",
                ),
                COST: Cell(n**2, "zhang17.table1.nonconvex.time", lambda e: e / d, "d operations a gradient"),
            },
        ),
        Row("DP-GD (WYX17)", {UTILITY: Cell(best), COST: Cell(n**2 * eps / sqrt(d))}),
        Row(
            "DP-SRM",
            {
                UTILITY: Cell(best, "lwang21.theorem4.5.4"),
                COST: Cell(
                    (n * eps) ** Rational(3, 2) / d ** Rational(3, 4),
                    "lwang21.theorem4.5.4.cost",
                    steepest,
                    "its first term: the second is larger only for nε < √d",
                ),
            },
        ),
    ],
)

follows = Claim(
    id="lwang21.table4.1",
    source=Source("lwang21", "Table 4.1"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table4_1)],
)

# What the text around the table says ---------------------------------------------------------------
cell = {(row.method.split()[0], name): sympify(c.printed) for row in table4_1.rows for name, c in row.cells.items()}

cheaper = Claim(
    id="lwang21.section4.1.factor",
    source=Source("lwang21", "section 4.1, contributions"),
    kind=Kind.COST,
    says="DP-GD's gradients over those of DP-SRM, of order n^(3/2): √n times (√d/ε)^(1/2), so Θ(√n) at fixed d and ε.",
    states=Eq(ratio, sqrt(n) * d ** Rational(1, 4) / sqrt(eps)),
    checks=[Equals(cell["DP-GD", COST] / cell["DP-SRM", COST], "the cells of Table 4.1")],
)

cheaper_private = Claim(
    id="lwang21.section4.1.factor.corrected",
    source=Source("lwang21", "section 4.1, contributions, privacy counted"),
    kind=Kind.COST,
    says="With batches that make Theorem 4.5.4 private it is Θ(n^(1/4)), see lwang21.theorem4.5.4.cost.corrected.",
    states=Eq(ratio, (n / (eps * sqrt(d))) ** Rational(1, 4)),
    corrects="lwang21.section4.1.factor",
    checks=[
        Equals(
            cell["DP-GD", COST] / (n ** Rational(7, 4) * eps ** Rational(5, 4) / d ** Rational(3, 8)),
            "DP-GD's cell over n^(7/4)ε^(5/4)/d^(3/8)",
        )
    ],
)

sharper = Claim(
    id="lwang21.section4.2.factor",
    source=Source("lwang21", "section 4.2, DP-GD against RRPSGD"),
    kind=Kind.UTILITY,
    says="DP-GD improves on RRPSGD's utility by the factor log(n/δ)^(1/4).",
    states=Eq(ratio, log(n / delta) ** Rational(1, 4)),
    checks=[
        Equals(
            (cell["RRPSGD", UTILITY] ** 4 / cell["DP-GD", UTILITY] ** 4) ** Rational(1, 4),
            "the cells of Table 4.1, fourth powers",
        )
    ],
)
