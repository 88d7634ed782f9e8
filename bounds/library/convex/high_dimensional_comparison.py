"""Table 3.3 of dwang20: private minimisation over a set, in terms of its Gaussian width."""

from sympy import Integer, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import eps, n, ratio
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table

UTILITY, COST, REGULARISER = "utility", "gradient complexity", "non-smooth regulariser"
width, diameter, regulariser = (Symbol(name, positive=True) for name in ("G_C", "diameter", "lambda"))
spread = width**2 + diameter**2  # G_C² + ‖C‖²

table3_3 = Table(
    id="dwang20.table3.3",
    source=Source("dwang20", "Table 3.3"),
    title="Convex risks over a set C of Gaussian width G_C, (ε, δ)-DP; f 1-smooth, 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "eps", "G_C", "diameter"), COST: ("n", "eps", "G_C", "diameter")},
    rows=[
        Row(
            "[269] gradient perturbation",
            {
                UTILITY: Cell(sqrt(spread) * log(n) / (n * eps)),
                COST: Cell(n**3 * eps**2 / (spread * log(n) ** 2)),
                REGULARISER: Cell("Yes"),
            },
        ),
        Row(
            "[269] objective perturbation",
            {
                UTILITY: Cell((width + regulariser * diameter**2) / (n * eps)),
                COST: Cell("N/A"),
                REGULARISER: Cell("No"),
            },
        ),
        Row(
            "[270] gradient perturbation",
            {
                UTILITY: Cell(width ** Rational(2, 3) * log(n) ** 2 / (n * eps) ** Rational(2, 3)),
                COST: Cell((n * eps / width) ** Rational(2, 3)),
                REGULARISER: Cell("Yes"),
            },
        ),
        Row(
            "Algorithm 3.1.4 (DP-AccMD)",
            {
                UTILITY: Cell(sqrt(spread) / (n * eps), "dwang20.theorem3.1.7"),
                COST: Cell(n ** Rational(3, 2) * sqrt(eps) / spread ** Rational(1, 4), "dwang20.theorem3.1.7.cost"),
                REGULARISER: Cell("No"),
            },
        ),
    ],
)

follows = Claim(
    id="dwang20.table3.3",
    source=Source("dwang20", "Table 3.3"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table3_3)],
)
