"""Table 1 of wangxu19: private search for stationary points of risks that need not be convex."""

from sympy import Integer, Rational, Symbol, log, sqrt

from bounds.claim import Claim, Kind, Rate, Source
from bounds.nonconvex.dp_fw_l1_proof import points
from bounds.symbols import d, delta, eps, n, ratio
from bounds.tables import Cell, Regenerates, Row, Steps, Table

UTILITY, REGULARISER, MEASURE = "utility", "non-smooth regulariser", "measure"
width, diameter = (Symbol(name, positive=True) for name in ("G_C", "diameter"))
low = (d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
high = ((diameter**2 + width**2) * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)

table1 = Table(
    id="wangxu19.table1",
    source=Source("wangxu19", "Table 1"),
    title="Risks that need not be convex, (ε, δ)-DP; Lipschitz and smoothness constants 1, ‖C‖ ≤ 1",
    keeps={UTILITY: ("n", "d", "eps", "delta", "G_C", "diameter")},
    rows=[
        Row(
            "Zhang et al. 2017",
            {
                # The copy at hand reads ln(2/e) under the root, as it reads ne for nε: taken as ln(n/δ).
                UTILITY: Cell(
                    (d * log(1 / delta) * log(n / delta)) ** Rational(1, 4) / sqrt(n * eps),
                    "zhang17.theorem5.rate",
                    sqrt,
                    "the root: the theorem bounds the square",
                ),
                REGULARISER: Cell("No"),
                MEASURE: Cell("ℓ₂ norm of the gradient"),
            },
        ),
        Row(
            "Wang, Ye, Xu 2017",
            {UTILITY: Cell(low), REGULARISER: Cell("No"), MEASURE: Cell("ℓ₂ norm of the gradient")},
        ),
        Row(
            "Algorithm 1",
            {
                UTILITY: Cell(low, "wangxu19.theorem2"),
                REGULARISER: Cell("Yes"),
                MEASURE: Cell("ℓ₂ norm of the projected gradient"),
            },
            Steps("wangxu19.theorem1", {"T": n * eps / sqrt(d)}),
        ),
        Row(
            "Algorithm 2",
            {UTILITY: Cell(high, "wangxu19.theorem4"), REGULARISER: Cell("No"), MEASURE: Cell("Frank-Wolfe gap")},
        ),
        Row(
            "Algorithm 3",
            {
                UTILITY: Cell(
                    high,
                    "wangxu19.theorem5",
                    lambda e: e / diameter ** Rational(3, 2),
                    "its factor ‖C‖^(3/2) is at most 1 by the caption",
                ),
                REGULARISER: Cell("Yes"),
                MEASURE: Cell("ℓ₂ norm of the projected gradient"),
            },
        ),
        Row(
            "Algorithm 4",
            {
                UTILITY: Cell(
                    log(1 / delta) ** Rational(1, 4) * sqrt(log(n * d)) / sqrt(n * eps),
                    "wangxu19.theorem6",
                    lambda e: e.subs(points, d),
                    "|A| = d, as for the simplex",
                ),
                REGULARISER: Cell("No"),
                MEASURE: Cell("Frank-Wolfe gap"),
            },
        ),
    ],
)

follows = Claim(
    id="wangxu19.table1",
    source=Source("wangxu19", "Table 1"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table1)],
)
