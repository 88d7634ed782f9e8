"""Table 5.1 of lwang21, Table 1 of lssgd20: DP-SGD with and without Laplacian smoothing."""

from dataclasses import replace

from sympy import Integer, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, eps, n, ratio
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table

UTILITY, MEASURE = "utility", "measure"
SGD = "DP-SGD, nonconvex (ZZM17a)"
G, D_0, D_sigma, gamma_s, beta_s = (Symbol(x, positive=True) for x in ("G", "D_0", "D_sigma", "gamma_s", "beta_s"))

table5_1 = Table(
    id="lwang21.table5.1",
    source=Source("lwang21", "Table 5.1"),
    title="DP-SGD and DP-LSSGD, (ε, δ)-DP; constants and logarithms dropped",
    keeps={UTILITY: ("n", "d", "eps", "G", "D_0", "D_sigma", "gamma_s", "beta_s")},
    hides_logs=True,
    rows=[
        Row(
            "DP-SGD, convex (BST14a)",
            {UTILITY: Cell(sqrt((D_0 + G**2) * d) / (eps * n)), MEASURE: Cell("optimality gap")},
        ),
        Row(
            SGD,
            {
                UTILITY: Cell(
                    sqrt(d) / (eps * n), "zhang17.theorem5.rate", sqrt, "the root: the theorem bounds the square"
                ),
                MEASURE: Cell("ℓ₂-norm of gradient"),
            },
        ),
        Row(
            "DP-LSSGD, convex",
            {
                UTILITY: Cell(
                    sqrt(gamma_s * (D_sigma + G**2) * d) / (eps * n),
                    "lwang21.theorem5.3.4",
                    lambda bound: bound / G,
                    "without the factor G that the table drops in every row",
                ),
                MEASURE: Cell("optimality gap"),
            },
        ),
        Row(
            "DP-LSSGD, nonconvex",
            {
                UTILITY: Cell(
                    sqrt(beta_s * d) / (eps * n),
                    "lwang21.theorem5.3.7",
                    lambda bound: sqrt(bound.subs(G, 1)),
                    "the root: the theorem bounds the square; G at 1, as the cell has none",
                ),
                MEASURE: Cell("ℓ₂-norm of gradient, in the norm of A_σ⁻¹"),
            },
        ),
    ],
)

THEIRS = {"lwang21.theorem5.3.4": "lssgd20.theorem2", "lwang21.theorem5.3.7": "lssgd20.theorem3"}
table1 = replace(
    table5_1,
    id="lssgd20.table1",
    source=Source("lssgd20", "Table 1"),
    rows=[
        replace(
            row,
            cells={
                name: replace(cell, claim=THEIRS.get(cell.claim, cell.claim) if cell.claim else None)
                for name, cell in row.cells.items()
            },
        )
        for row in table5_1.rows
    ],
)

ROOTS = {
    (SGD, UTILITY): sqrt(sqrt(d) / (eps * n)),
    ("DP-LSSGD, nonconvex", UTILITY): sqrt(sqrt(beta_s * d) / (eps * n)),
}

follows = Claim(
    id="lwang21.table5.1",
    source=Source("lwang21", "Table 5.1"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table5_1)],
)

corrected = Claim(
    id="lwang21.table5.1.corrected",
    source=Source("lwang21", "Table 5.1"),
    kind=Kind.IDENTITY,
    says="With the root of the nonconvex cells: what is bounded by √d/(εn) is the squared norm of the gradient.",
    states=Rate(ratio, Integer(1)),
    corrects="lwang21.table5.1",
    checks=[
        Regenerates(table5_1.with_cells(ROOTS)),
    ],
)

follows_v0 = Claim(
    id="lssgd20.table1",
    source=Source("lssgd20", "Table 1"),
    kind=Kind.IDENTITY,
    says=follows.says,
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table1)],
)

corrected_v0 = Claim(
    id="lssgd20.table1.corrected",
    source=Source("lssgd20", "Table 1"),
    kind=Kind.IDENTITY,
    says=corrected.says,
    states=Rate(ratio, Integer(1)),
    corrects="lssgd20.table1",
    checks=[Regenerates(table1.with_cells(ROOTS))],
)
