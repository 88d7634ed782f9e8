"""Table 5.1 of lwang21, Table 1 of lssgd20: DP-SGD with and without Laplacian smoothing."""

from collections.abc import Callable

from sympy import Expr, Integer, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, eps, n, ratio
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table

UTILITY, MEASURE = "utility", "measure"
G, D_0, D_sigma, gamma_s, beta_s = (Symbol(x, positive=True) for x in ("G", "D_0", "D_sigma", "gamma_s", "beta_s"))


def printed(table_id: str, place: str, line: int, convex: str, nonconvex: str, squared: bool = False) -> Table:
    """The table as printed, or from the corrected theorems with squares in its nonconvex rows."""
    convex, nonconvex = (f"{theorem}{'.corrected' * squared}" for theorem in (convex, nonconvex))
    power: Callable[[Expr], Expr] = (lambda bound: bound) if squared else sqrt
    norm = f"{'squared ' * squared}ℓ₂-norm of gradient"
    how = "" if squared else "the root: the theorem bounds the square"
    return Table(
        id=table_id,
        source=Source(table_id.split(".")[0], place, line=line),
        title="DP-SGD and DP-LSSGD, (ε, δ)-DP; constants and logarithms dropped",
        keeps={UTILITY: ("n", "d", "eps", "G", "D_0", "D_sigma", "gamma_s", "beta_s")},
        hides_logs=True,
        rows=[
            Row(
                "DP-SGD, convex (BST14a)",
                {UTILITY: Cell(sqrt((D_0 + G**2) * d) / (eps * n)), MEASURE: Cell("optimality gap")},
            ),
            Row(
                "DP-SGD, nonconvex (ZZM17a)",
                {UTILITY: Cell(sqrt(d) / (eps * n), "zhang17.theorem5.rate", power, how), MEASURE: Cell(norm)},
            ),
            Row(
                "DP-LSSGD, convex",
                {
                    UTILITY: Cell(
                        sqrt(gamma_s * (D_sigma + G**2) * d) / (eps * n), convex, lambda bound: bound / G,
                        "without the factor G that the table drops in every row",
                    ),
                    MEASURE: Cell("optimality gap"),
                },
            ),
            Row(
                "DP-LSSGD, nonconvex",
                {
                    UTILITY: Cell(
                        sqrt(beta_s * d) / (eps * n), nonconvex, lambda bound: power(bound.subs(G, 1)),
                        f"{how}{'; ' * bool(how)}G at 1, as the cell has none",
                    ),
                    MEASURE: Cell(f"{norm}, in the norm of A_σ⁻¹"),
                },
            ),
        ],
    )


FIRST = ("lwang21.table5.1", "Table 5.1", 8075, "lwang21.theorem5.3.4", "lwang21.theorem5.3.7")
SECOND = ("lssgd20.table1", "Table 1", 41, "lssgd20.theorem2", "lssgd20.theorem3")
table5_1, table1 = printed(*FIRST), printed(*SECOND)


def follows(table: Table, corrected: Table, theorem: str, line: int) -> tuple[Claim, Claim]:
    """The table as printed, and with the measure that its theorem has, printed at that line."""
    right = f"{table.id}.corrected"
    return (
        Claim(
            id=table.id,
            source=table.source,
            kind=Kind.IDENTITY,
            says="Each cell on a method that the documents analyse follows from its theorem: the nonconvex ones bound "
            "the ℓ₂-norm of the gradient.",
            states=Rate(ratio, Integer(1)),
            misprint_of=right,
            checks=[Regenerates(table)],
        ),
        Claim(
            id=right,
            source=Source(table.source.document, f"{table.source.place}, with the measure of {theorem}", line=line),
            kind=Kind.IDENTITY,
            says="The nonconvex cells bound the squared norm of the gradient, as the theorems have it.",
            states=Rate(ratio, Integer(1)),
            corrects=table.id,
            checks=[Regenerates(corrected)],
        ),
    )


cells, cells_corrected = follows(table5_1, printed(*FIRST, squared=True), "Theorem 5.3.7", 8546)
cells_v0, cells_v0_corrected = follows(table1, printed(*SECOND, squared=True), "Theorem 3", 148)
