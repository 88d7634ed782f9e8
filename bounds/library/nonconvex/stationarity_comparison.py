"""Table 1 of wangxu19, Table 4.1 of dwang20: private search for stationary points of risks that need not be convex."""

from dataclasses import replace
from typing import Any

from sympy import Integer, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, delta, eps, n, ratio
from dpcheck.bounds.library.nonconvex.dp_fw_l1 import points
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Steps, Table

UTILITY, REGULARISER, MEASURE = "utility", "non-smooth regulariser", "measure"
width, diameter = (Symbol(name, positive=True) for name in ("G_C", "diameter"))
low = (d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
high = ((diameter**2 + width**2) * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)

GRADIENT, PROJECTED, GAP = "ℓ₂ norm of the gradient", "ℓ₂ norm of the projected gradient", "Frank-Wolfe gap"


def row(method: str, utility: Cell, regulariser: str, measure: str, privacy: Steps | None = None) -> Row:
    """A line of the table."""
    return Row(method, {UTILITY: utility, REGULARISER: Cell(regulariser), MEASURE: Cell(measure)}, privacy)


# The copy at hand reads ln(2/e) under the first root, as it reads ne for nε: taken as ln(n/δ).
zhang17_row = Cell(
    (d * log(1 / delta) * log(n / delta)) ** Rational(1, 4) / sqrt(n * eps), "zhang17.theorem5.rate",
    sqrt, "the root: the theorem bounds the square",
)
AT_MOST_1 = "is at most 1 by the caption"
table1 = Table(
    id="wangxu19.table1",
    source=Source("wangxu19", "Table 1", line=40),
    title="Risks that need not be convex, (ε, δ)-DP; Lipschitz and smoothness constants 1, ‖C‖ ≤ 1",
    keeps={UTILITY: ("n", "d", "eps", "delta", "G_C", "diameter")},
    rows=[
        row("Zhang et al. 2017", zhang17_row, "No", GRADIENT),
        row("Wang, Ye, Xu 2017", Cell(low), "No", GRADIENT),
        row(
            "Algorithm 1", Cell(low, "wangxu19.theorem2"), "Yes", PROJECTED,
            Steps("wangxu19.theorem1", {"T": n * eps / sqrt(d)}),
        ),
        row(
            "Algorithm 2", Cell(high, "wangxu19.theorem4", lambda e: e / diameter, f"its factor ‖C‖ {AT_MOST_1}"),
            "No", GAP,
        ),
        row(
            "Algorithm 3",
            Cell(
                high, "wangxu19.theorem5", lambda e: e / diameter ** Rational(3, 2), f"its factor ‖C‖^(3/2) {AT_MOST_1}"
            ),
            "Yes", PROJECTED,
        ),
        row(
            "Algorithm 4",
            Cell(
                log(1 / delta) ** Rational(1, 4) * sqrt(log(n * d)) / sqrt(n * eps), "wangxu19.theorem6",
                lambda e: e.subs(points, d), "|A| = d, as for the simplex",
            ),
            "No", GAP,
        ),
    ],
)

follows = Claim(
    id="wangxu19.table1",
    source=Source("wangxu19", "Table 1", line=40),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table1)],
)

# dwang20 prints the same table with its own numbers, and the last logarithm of the first row outside the root.
CHAPTER = {f"wangxu19.theorem{i}": f"dwang20.theorem4.1.{i}" for i in (1, 2, 4, 5, 6)}
METHODS = {"Zhang et al. 2017": "[356]", "Wang, Ye, Xu 2017": "[327]"} | {
    f"Algorithm {i}": f"Algorithm 4.1.{15 + i}" for i in (1, 2, 3, 4)
}


def in_chapter(row: Row) -> Row:
    """The row under the chapter's numbers."""
    cells = {name: replace(cell, claim=CHAPTER.get(cell.claim or "", cell.claim)) for name, cell in row.cells.items()}
    privacy = None if row.privacy is None else replace(row.privacy, claim=CHAPTER[row.privacy.claim])
    return Row(METHODS[row.method], cells, privacy)


IN_CHAPTER: dict[str, Any] = {"id": "dwang20.table4.1", "source": Source("dwang20", "Table 4.1", line=2687)}
table41 = replace(table1, **IN_CHAPTER, rows=[in_chapter(row) for row in table1.rows]).with_cells(
    {("[356]", UTILITY): (d * log(1 / delta)) ** Rational(1, 4) * log(n / delta) / sqrt(n * eps)}
)
follows_dwang = replace(follows, **IN_CHAPTER, checks=[Regenerates(table41)])
