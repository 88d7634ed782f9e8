"""Tables 2.1 and 3.1 of lwang21: private sparse linear regression."""

from sympy import Add, Expr, Integer, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import d, eps, n, ratio
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Table

METHOD, UTILITY, SPEED, CURVATURE, SUPPORT = "method", "utility", "convergence", "RSC/RSS", "support selection"
s, missed = (Symbol(name, positive=True) for name in ("s_star", "gamma"))  # sparsity; see the captions on γ and υ
K = Symbol("row", positive=True)  # a bound on rows: of their norm, K̃, in the rows above DPSL-KT, else of their entries


def private_part(bound: Expr) -> Expr:
    """The terms that depend on epsilon, without the log n of constants: else the rows above would not compare."""
    return Add(*(term for term in Add.make_args(bound) if eps in term.free_symbols)).subs(log(n), 1)


table2_1 = Table(
    id="lwang21.table2.1",
    source=Source("lwang21", "Table 2.1", line=490),
    title="Sparse linear regression, (ε, δ)-DP; log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps", "s_star", "gamma")},
    rows=[
        Row("Frank-Wolfe (TTZ15)", {
            METHOD: Cell("iterative"), UTILITY: Cell(log(n * d) / (n * eps) ** Rational(2, 3)),
            SPEED: Cell("sub-linear"), CURVATURE: Cell("No"), SUPPORT: Cell("No"),
        }),
        Row("Two stage (KST12)", {
            METHOD: Cell("objective"), UTILITY: Cell(s**2 * log(2 / missed) / (n * eps) ** 2),
            SPEED: Cell("NA"), CURVATURE: Cell("Yes"), SUPPORT: Cell("Yes"),
        }),
        Row("DP-IGHT", {
            METHOD: Cell("iterative"),
            UTILITY: Cell(
                s**2 * log(d) / (n * eps) ** 2, "lwang21.corollary2.5.6", private_part,
                "what privacy adds to the statistical error",
            ),
            SPEED: Cell("linear"), CURVATURE: Cell("Yes"), SUPPORT: Cell("No"),
        }),
    ],
)

follows = Claim(
    id="lwang21.table2.1",
    source=Source("lwang21", "Table 2.1", line=490),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table2_1)],
)

PRIVATE = "what privacy adds to the statistical error"
DATA = "data assumption"
table3_1 = Table(
    id="lwang21.table3.1",
    source=Source("lwang21", "Table 3.1", line=2425),
    title="Sparse linear regression, (ε, δ)-DP, by privacy alone; log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps", "s_star", "gamma", "row")},
    rows=[
        Row("Frank-Wolfe (TTZ15)", {
            DATA: Cell("‖x‖∞ ≤ 1"), UTILITY: Cell(log(n * d) / (n * eps) ** Rational(2, 3)),
            SPEED: Cell("sub-linear"), CURVATURE: Cell("No"),
        }),
        Row("Two stage (KST12)", {
            DATA: Cell("‖x‖₂ ≤ K̃"), UTILITY: Cell(K**2 * s**2 * log(2 / missed) / (n * eps) ** 2),
            SPEED: Cell("NA"), CURVATURE: Cell("RSC/RSS"),
        }),
        Row("DP-IGHT (WG19a)", {
            DATA: Cell("‖x‖₂ ≤ K̃"),
            UTILITY: Cell(K**2 * s**2 * log(d) / (n * eps) ** 2, "lwang21.corollary2.5.6", private_part, PRIVATE),
            SPEED: Cell("linear"), CURVATURE: Cell("RSC/RSS"),
        }),
        Row("DPSL-KT, λ > 0", {
            DATA: Cell("‖x‖∞ ≤ K"),
            UTILITY: Cell(K**2 * s**2 * sqrt(log(d)) / (n * eps), "lwang21.corollary3.3.9", private_part, PRIVATE),
            SPEED: Cell("linear"), CURVATURE: Cell("No"),
        }),
        Row("DPSL-KT, λ = 0", {
            DATA: Cell("‖x‖∞ ≤ K, RSC/RSS"),
            UTILITY: Cell(K**2 * s**3 * log(d) / (n * eps) ** 2, "lwang21.corollary3.3.11", private_part, PRIVATE),
            SPEED: Cell("linear"), CURVATURE: Cell("RSC/RSS"),
        }),
    ],
)

follows3 = Claim(
    id="lwang21.table3.1",
    source=Source("lwang21", "Table 3.1", line=2425),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse is that of its corollary, true or not.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table3_1)],
)
