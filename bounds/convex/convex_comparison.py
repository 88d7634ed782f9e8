"""Table 3.2 of dwang20: private minimisation of convex risks, method against method."""

from sympy import Integer, Rational, log, sqrt

from bounds.claim import Claim, Kind, Rate, Source
from bounds.convex.outpert_gd import approx_steps
from bounds.symbols import d, eps, n, ratio
from bounds.tables import Cell, Regenerates, Row, Steps, Table

UTILITY, COST, REGULARISER = "utility", "gradient complexity", "non-smooth regulariser"
OUTPUT = "[356] output perturbation"

table3_2 = Table(
    id="dwang20.table3.2",
    source=Source("dwang20", "Table 3.2"),
    title="Convex risks, (ε, δ)-DP; f 1-smooth, 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps"), COST: ("n", "d", "eps")},
    rows=[
        Row(
            "[181] objective perturbation",
            {UTILITY: Cell(sqrt(d) / (n * eps)), COST: Cell("N/A"), REGULARISER: Cell("Yes")},
        ),
        Row(
            "[29] gradient perturbation",
            {
                UTILITY: Cell(sqrt(d) * log(n) ** Rational(3, 2) / (n * eps)),
                COST: Cell(n**2),
                REGULARISER: Cell("Yes"),
            },
        ),
        Row(
            OUTPUT,
            {
                UTILITY: Cell((sqrt(d) / (n * eps)) ** Rational(2, 3), "zhang17.theorem3.approx"),
                COST: Cell(
                    n * (n * eps / d) ** Rational(2, 3),
                    "zhang17.theorem3.approx",
                    lambda _: n * approx_steps,
                    "n gradients a step, T of the theorem",
                ),
                REGULARISER: Cell("No"),
            },
        ),
        Row(
            "Algorithm 3.1.3 (DP-SVRG++)",
            {
                UTILITY: Cell(sqrt(d) / (n * eps), "dwang20.theorem3.1.5"),
                COST: Cell(n * eps / sqrt(d) + n * log(n * eps / d), "dwang20.theorem3.1.5.cost"),
                REGULARISER: Cell("Yes"),
            },
            Steps("dwang20.theorem3.1.4", {"T": log(n * eps / sqrt(d), 2), "inner": Integer(1)}),
        ),
    ],
    lower="dwang20.table3.2.lower",
)

follows = Claim(
    id="dwang20.table3.2",
    source=Source("dwang20", "Table 3.2"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table3_2)],
)

corrected = Claim(
    id="dwang20.table3.2.corrected",
    source=Source("dwang20", "Table 3.2"),
    kind=Kind.IDENTITY,
    says="With n·(nε/√d)^(2/3) gradients for [356]: (nε/d)^(2/3) belongs to its ε-DP version.",
    states=Rate(ratio, Integer(1)),
    corrects="dwang20.table3.2",
    checks=[Regenerates(table3_2.with_cells({(OUTPUT, COST): n * (n * eps / sqrt(d)) ** Rational(2, 3)}))],
)
