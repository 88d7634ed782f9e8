"""Table 3.2 of dwang20: private minimisation of convex risks, method against method."""

from sympy import Expr, Integer, Le, Rational, Symbol, exp, integrate, limit, log, oo, sqrt, sympify

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import beta, d, delta, distance, eps, mu, n, ratio
from dpcheck.bounds.library.convex.dp_svrgpp import theorem5_corrected
from dpcheck.bounds.library.convex.outpert_gd import approx_steps
from dpcheck.bounds.library.convex.strongly_convex_comparison import accuracy_share, table3_1
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.proofs import Less, NoConstant, Proof, Same
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Steps, Table

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

optimal = Claim(
    id="dwang20.section3.1.3.optimal",
    source=Source("dwang20", "section 3.1.3: (3.8) is optimal"),
    kind=Kind.UTILITY,
    says="The bound (3.8) of DP-SVRG++, as corrected, over the lower bound √d/(nε) of Table 3.2 has neither n nor d.",
    assumes=[d <= n**2 * eps**2],
    states=Rate(ratio, sqrt(log(1 / delta))),
    cites=[Cites("dwang20.table3.2.lower")],
    checks=[
        Proof(
            [
                Same(
                    "(3.8) at G = ‖w₀-ŵ‖ = 1 over √d/(nε), which is the lower bound where d ≤ n²ε²",
                    theorem5_corrected.formula.subs({G: 1, distance: 1}) / (sqrt(d) / (n * eps)),
                    sqrt(log(1 / delta)),
                )
            ],
            "the ratio is √(log(1/δ)), which the table drops",
        )
    ],
)

# Gradients for a share ε₀ of the start, without noise and up to constants: (3.50) halves the potential in epochs of
# doubling length, so 1/ε₀ + n·log(1/ε₀); (3.58) needs √(1/ε₀) full gradients.
doubling, accelerated = 1 / accuracy_share + n * log(1 / accuracy_share), n / sqrt(accuracy_share)
big = Symbol("big", positive=True)
above, part = (Symbol(name, nonnegative=True) for name in ("above", "part"))

svrgpp_agd = Claim(
    id="dwang20.section3.1.3.svrgpp_agd",
    source=Source("dwang20", "section 3.1.3, quoted from [10]"),
    kind=Kind.COST,
    says="SVRG++ takes no more gradients than accelerated gradient descent, by (3.50) and (3.58) without noise.",
    states=Rate(ratio, Integer(1)),
    cites=[Cites("dwang20.equation3.50"), Cites("dwang20.equation3.58")],
    checks=[
        NoConstant(
            doubling / accelerated, {accuracy_share: 1 / big, n: 10}, big, "1/ε₀ outgrows n/√ε₀ as ε₀ falls below 1/n²"
        )
    ],
)

svrgpp_agd_corrected = Claim(
    id="dwang20.section3.1.3.svrgpp_agd.corrected",
    source=Source("dwang20", "section 3.1.3, quoted from [10]"),
    kind=Kind.COST,
    says="It does for ε₀ at least 1/n², which covers the errors of order 1/n that privacy leaves.",
    assumes=[accuracy_share >= 1 / n**2],
    states=Rate(ratio, Integer(1)),
    corrects="dwang20.section3.1.3.svrgpp_agd",
    checks=[
        Proof(
            [
                Less("1/ε₀ ≤ n/√ε₀ for √ε₀ ≥ 1/n, with x = 1/√ε₀", big**2, n * big, {n: big * (1 + above)}),
                Same(
                    "x - 1 ≥ log x: with x = e^a, e^a - 1 - a = ∫(a-s)e^s ds",
                    exp(above) - 1 - above,
                    integrate((above - part) * exp(part), (part, 0, above)),
                ),
                Same("so n·log(1/ε₀) = 2n·log x is at most 2n·x", 2 * n * log(big), n * log(big**2)),
            ],
            "the ratio is at most 3",
        )
    ],
)


# Text against tables -------------------------------------------------------------------------------
def outgrows(cell: Cell, lower: Expr) -> bool:
    """Whether a printed bound exceeds a lower bound by more than any constant as n grows, all else fixed."""
    bound = sympify(cell.printed)
    grows = bound.subs(dict.fromkeys(bound.free_symbols - {n}, 1)) / lower.subs({d: 1, eps: 1})
    return bool(limit(grows, n, oo) == oo)


OBJECTIVE = {  # every row on objective perturbation, with the lower bound of its table's caption
    "[66], strongly convex": (table3_1.rows[0].cells[UTILITY], d / (n**2 * eps**2)),
    "[181], strongly convex": (table3_1.rows[1].cells[UTILITY], d / (n**2 * eps**2)),
    "[181], convex": (table3_2.rows[0].cells[UTILITY], sqrt(d) / (n * eps)),
}

objective = Claim(
    id="dwang20.section3.1.objective",
    source=Source("dwang20", "section 3.1: objective perturbation cannot achieve the optimal bound"),
    kind=Kind.UTILITY,
    says="Every bound on objective perturbation in Tables 3.1 and 3.2 exceeds the lower bound by more than a constant.",
    states=Le(1, ratio),
    checks=[
        Counted(
            {"above the lower bound": [outgrows(*row) for row in OBJECTIVE.values()]}, least=1.0,
            because="the cells as printed: those of [66] and of [181] on convex risks are the lower bounds themselves",
        )
    ],
)

svrg_cost, output_cost = (sympify(table3_1.rows[row].cells[COST].printed) for row in (5, 3))

less = Claim(
    id="dwang20.section3.1.1.less",
    source=Source("dwang20", "section 3.1.1, on Table 3.1: less gradient complexity than before"),
    kind=Kind.COST,
    says="The cell of DP-SVRG is at most of the order of that of [356], output perturbation (L = 1, κ = 1/μ).",
    states=Rate(ratio, Integer(1)),
    checks=[
        NoConstant(
            (svrg_cost / output_cost).subs({beta: 1}), {mu: 1 / (10 * (1 - 1 / big)), n: 10, d: 1, eps: 1}, big,
            "as κ grows to nε the logarithm of n·κ·log(nε/κ) falls to 0",
        )
    ],
)

less_corrected = Claim(
    id="dwang20.section3.1.1.less.corrected",
    source=Source("dwang20", "section 3.1.1, on Table 3.1"),
    kind=Kind.COST,
    says="It is for κ between 1 and √d, and less by the factor 1/κ + 1/n.",
    assumes=[mu <= 1, 1 / mu <= sqrt(d), n * eps >= 2 * sqrt(d)],
    states=Rate(ratio, mu + 1 / n),
    ignores_units=True,
    corrects="dwang20.section3.1.1.less",
    checks=[
        Proof(
            [
                Same("(n + κ)/(nκ) with κ = 1/μ", (n + 1 / mu) / (n / mu), mu + 1 / n),
                Less("nε/√d ≤ nε/κ for κ ≤ √d, with √d = κ(1+a)", 1 / (big * (1 + above)), 1 / big),
            ],
            "the logarithm of DP-SVRG is the smaller one",
        )
    ],
)
