"""Rates of private sparse regression side by side: Tables 2.1 and 3.1 of lwang21, and the remarks of section 3.3."""

from sympy import Add, E, Eq, Expr, Integer, Rational, Symbol, exp, expand, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import d, delta, eps, mu, n, quantity, ratio
from dpcheck.bounds.library.sparse.dp_ight import row, s_star
from dpcheck.bounds.library.sparse.dpsl_kt import alpha_pub, beta_pub, corollary7, slope, theorem5
from dpcheck.bounds.library.sparse.ight import beta_bar
from dpcheck.bounds.library.sparse.regression_corollaries import corollary9, corollary11, corollary13
from dpcheck.bounds.proving.proofs import Equals
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

# What remarks say of the rates ---------------------------------------------------------------------
def private_rate(claim: Claim) -> Expr:
    """What privacy adds, without what Õ and the remarks leave out: logarithms, and constants of losses and features."""
    left_out = {d: E, delta: exp(-1), alpha_pub: 1, beta_pub: 1, mu: 1}
    terms = [(term, term.free_symbols) for term in Add.make_args(expand(claim.formula))]
    return Add(*(term.subs(left_out) for term, names in terms if eps in names and beta_bar not in names))


gain = quantity("gain_kt", "one rate over another", printed="improvement")
longest = quantity("longest_row", "bound on the norm of a row", box=(0.1, 1e3), printed="K̃", latex=r"\tilde K")
dp_ight_rate = (longest * s_star / (n * eps)) ** 2  # as Table 3.1 has it


no_logs = Setting("powers of logarithms are left out, as Õ does")


def improvement(name: str, line: int, says: str, stated: Expr, ratio: Expr) -> Claim:
    """A ratio of two rates that a remark prints."""
    return Claim(
        id=f"lwang21.{name}", kind=Kind.IDENTITY,
        source=Source("lwang21", f"Remark {name.removeprefix('remark').removesuffix('.frank_wolfe')}", line=line),
        says=says,
        assumes=[no_logs],
        states=Eq(gain, stated),
        ignores_units=True,
        checks=[Equals(ratio, "the two rates, as their statements have them", uses=[no_logs])],
    )


remark8 = improvement(
    "remark3.3.8", 2823, "Corollary 3.3.7's rate is that of Theorem 3.3.5 over nε/(γ√s*).",
    n * eps / (slope * sqrt(s_star)), private_rate(theorem5) / private_rate(corollary7),
)
remark10 = improvement(
    "remark3.3.10", 2940, "Corollary 3.3.9's rate is DP-IGHT's over K̃²/(K²nε).",
    longest**2 / (row**2 * n * eps), dp_ight_rate / private_rate(corollary9),
)
remark10_fw = improvement(
    "remark3.3.10.frank_wolfe", 2940, "It is Frank-Wolfe's over (nε)^(1/3)/(Ks*)².",
    (n * eps) ** Rational(1, 3) / (row * s_star) ** 2, (n * eps) ** Rational(-2, 3) / private_rate(corollary9),
)
remark12 = improvement(
    "remark3.3.12", 3022, "Corollary 3.3.11's rate is that of Corollary 3.3.9 over nε/s*.",
    n * eps / s_star, private_rate(corollary9) / private_rate(corollary11),
)
remark14 = improvement(
    "remark3.3.14", 3110, "Corollary 3.3.13's rate is DP-IGHT's, taken as for linear regression, over K̃²√s*/(Knε).",
    longest**2 * sqrt(s_star) / (row * n * eps), dp_ight_rate / private_rate(corollary13),
)
