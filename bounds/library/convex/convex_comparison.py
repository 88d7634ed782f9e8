"""Tables 3.1 to 3.3 of dwang20: private minimisation of convex risks, method against method."""

from sympy import Expr, Integer, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import beta, d, eps, mu, n, ratio
from dpcheck.bounds.library.convex.outpert_gd import approx_steps, strong_steps_approx
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Steps, Table

UTILITY, COST, REGULARISER = "utility", "gradient complexity", "non-smooth regulariser"
OUTPUT = "[356] output perturbation"
kappa, epochs = beta / mu, log(n * eps / sqrt(d))
width, diameter, regulariser, w_hat = (Symbol(name, positive=True) for name in ("G_C", "diameter", "lambda", "w_hat"))
spread = width**2 + diameter**2  # G_C² + ‖C‖²


def row(
    method: str, utility: Expr | Cell, cost: Expr | Cell | None, non_smooth: bool, privacy: Steps | None = None
) -> Row:
    """A method, its utility and cost (None for N/A), and whether it takes a non-smooth regulariser."""
    utility_cell, cost_cell = (
        cell if isinstance(cell, Cell) else Cell("N/A" if cell is None else cell) for cell in (utility, cost)
    )
    cells = {UTILITY: utility_cell, COST: cost_cell, REGULARISER: Cell("Yes" if non_smooth else "No")}
    return Row(method, cells, privacy)


def all_gradients(steps: Expr, printed: Expr, claim: str) -> Cell:
    """The cost of [356]: n gradients for each of the theorem's steps."""
    return Cell(printed, claim, lambda _: n * steps, "n gradients a step, T of the theorem")


optimal = d / (n**2 * eps**2)
table3_1 = Table(
    id="dwang20.table3.1",
    source=Source("dwang20", "Table 3.1", line=566),
    title="Strongly convex risks, (ε, δ)-DP; f 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps"), COST: ("n", "d", "eps", "mu")},
    rows=[
        row("[67], [66] objective perturbation", optimal, None, False),
        row("[181] objective perturbation", optimal + regulariser * w_hat**2 / (n * eps), None, True),
        row("[29] gradient perturbation", optimal * log(n) ** 2, n**2, True),
        row(
            OUTPUT, Cell(optimal, "zhang17.theorem2.approx"),
            all_gradients(strong_steps_approx, n * kappa * log(n * eps / kappa), "zhang17.theorem2.approx"), False,
        ),
        row("[159] output perturbation", optimal, None, False),
        row(
            "Algorithm 3.1.1 (DP-SVRG)", Cell(optimal * log(n), "dwang20.theorem3.1.2"),
            Cell((n + kappa) * epochs, "dwang20.theorem3.1.2.cost"), True,
            Steps("dwang20.theorem3.1.1", {"T": epochs, "inner": kappa}),
        ),
        row(
            "Algorithm 3.1.2 (DP-Katyusha)", Cell(optimal * log(n) ** 2, "dwang20.theorem3.1.3.utility"),
            Cell((n + sqrt(kappa * n)) * epochs, "dwang20.theorem3.1.3.cost"), True,
            Steps("dwang20.theorem3.1.3.privacy", {"T": epochs, "inner": kappa}),
        ),
    ],
    lower="dwang20.table3.1.lower",
)

table3_2 = Table(
    id="dwang20.table3.2",
    source=Source("dwang20", "Table 3.2", line=586),
    title="Convex risks, (ε, δ)-DP; f 1-smooth, 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps"), COST: ("n", "d", "eps")},
    rows=[
        row("[181] objective perturbation", sqrt(d) / (n * eps), None, True),
        row("[29] gradient perturbation", sqrt(d) * log(n) ** Rational(3, 2) / (n * eps), n**2, True),
        row(
            OUTPUT, Cell((sqrt(d) / (n * eps)) ** Rational(2, 3), "zhang17.theorem3.approx"),
            all_gradients(approx_steps, n * (n * eps / d) ** Rational(2, 3), "zhang17.theorem3.approx"), False,
        ),
        row(
            "Algorithm 3.1.3 (DP-SVRG++)", Cell(sqrt(d) / (n * eps), "dwang20.theorem3.1.5"),
            Cell(n * eps / sqrt(d) + n * log(n * eps / d), "dwang20.theorem3.1.5.cost"), True,
            Steps("dwang20.theorem3.1.4", {"T": log(n * eps / sqrt(d), 2), "inner": Integer(1)}),
        ),
    ],
    lower="dwang20.table3.2.lower",
)

table3_3 = Table(
    id="dwang20.table3.3",
    source=Source("dwang20", "Table 3.3", line=594),
    title="Convex risks over a set C of Gaussian width G_C, (ε, δ)-DP; f 1-smooth, 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "eps", "G_C", "diameter"), COST: ("n", "eps", "G_C", "diameter")},
    rows=[
        row(
            "[269] gradient perturbation", sqrt(spread) * log(n) / (n * eps),
            n**3 * eps**2 / (spread * log(n) ** 2), True,
        ),
        row("[269] objective perturbation", (width + regulariser * diameter**2) / (n * eps), None, False),
        row(
            "[270] gradient perturbation", width ** Rational(2, 3) * log(n) ** 2 / (n * eps) ** Rational(2, 3),
            (n * eps / width) ** Rational(2, 3), True,
        ),
        row(
            "Algorithm 3.1.4 (DP-AccMD)", Cell(sqrt(spread) / (n * eps), "dwang20.theorem3.1.7"),
            Cell(n ** Rational(3, 2) * sqrt(eps) / spread ** Rational(1, 4), "dwang20.theorem3.1.7.cost"), False,
        ),
    ],
)


def follows(table: Table, says: str = "", corrects: str | None = None) -> Claim:
    """That the cells of a table are what the documents' theorems give."""
    printed = (
        "Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions."
    )
    return Claim(
        id=table.id if corrects is None else f"{table.id}.corrected",
        source=table.source,
        kind=Kind.IDENTITY,
        says=says or printed,
        states=Rate(ratio, Integer(1)),
        corrects=corrects,
        checks=[Regenerates(table)],
    )


strongly_convex, convex, over_a_set = (follows(table) for table in (table3_1, table3_2, table3_3))
right_cost = {(OUTPUT, COST): n * (n * eps / sqrt(d)) ** Rational(2, 3)}
corrected = follows(
    table3_2.with_cells(right_cost),
    "With n·(nε/√d)^(2/3) gradients for [356]: (nε/d)^(2/3) belongs to its ε-DP version.",
    table3_2.id,
)
