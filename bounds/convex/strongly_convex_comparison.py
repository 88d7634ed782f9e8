"""Table 3.1 of dwang20: private minimisation of strongly convex risks, method against method."""

from sympy import Integer, Symbol, log, sqrt

from bounds.claim import Claim, Kind, Rate, Source
from bounds.convex.outpert_gd import strong_steps_approx
from bounds.symbols import beta, d, eps, mu, n, ratio
from bounds.tables import Cell, Regenerates, Row, Steps, Table

kappa = beta / mu
UTILITY, COST, REGULARISER = "utility", "gradient complexity", "non-smooth regulariser"
epochs = log(n * eps / sqrt(d))
regulariser = Symbol("lambda", positive=True) * Symbol("w_hat", positive=True) ** 2  # λ‖x*‖²

table3_1 = Table(
    id="dwang20.table3.1",
    source=Source("dwang20", "Table 3.1"),
    title="Strongly convex risks, (ε, δ)-DP; f 1-Lipschitz, log(1/δ) dropped",
    keeps={UTILITY: ("n", "d", "eps"), COST: ("n", "d", "eps", "mu")},
    rows=[
        Row(
            "[67], [66] objective perturbation",
            {UTILITY: Cell(d / (n**2 * eps**2)), COST: Cell("N/A"), REGULARISER: Cell("No")},
        ),
        Row(
            "[181] objective perturbation",
            {
                UTILITY: Cell(d / (n**2 * eps**2) + regulariser / (n * eps)),
                COST: Cell("N/A"),
                REGULARISER: Cell("Yes"),
            },
        ),
        Row(
            "[29] gradient perturbation",
            {UTILITY: Cell(d * log(n) ** 2 / (n**2 * eps**2)), COST: Cell(n**2), REGULARISER: Cell("Yes")},
        ),
        Row(
            "[356] output perturbation",
            {
                UTILITY: Cell(d / (n**2 * eps**2), "zhang17.theorem2.approx"),
                COST: Cell(
                    n * kappa * log(n * eps / kappa),
                    "zhang17.theorem2.approx",
                    lambda _: n * strong_steps_approx,
                    "n gradients a step, T of the theorem",
                ),
                REGULARISER: Cell("No"),
            },
        ),
        Row(
            "[159] output perturbation",
            {UTILITY: Cell(d / (n**2 * eps**2)), COST: Cell("N/A"), REGULARISER: Cell("No")},
        ),
        Row(
            "Algorithm 3.1.1 (DP-SVRG)",
            {
                UTILITY: Cell(d * log(n) / (n**2 * eps**2), "dwang20.theorem3.1.2"),
                COST: Cell((n + kappa) * epochs, "dwang20.theorem3.1.2.cost"),
                REGULARISER: Cell("Yes"),
            },
            Steps("dwang20.theorem3.1.1", {"T": epochs, "inner": kappa}),
        ),
        Row(
            "Algorithm 3.1.2 (DP-Katyusha)",
            {
                UTILITY: Cell(d * log(n) ** 2 / (n**2 * eps**2), "dwang20.theorem3.1.3.utility"),
                COST: Cell((n + sqrt(kappa * n)) * epochs, "dwang20.theorem3.1.3.cost"),
                REGULARISER: Cell("Yes"),
            },
            Steps("dwang20.theorem3.1.3.privacy", {"T": epochs, "inner": kappa}),
        ),
    ],
    lower="dwang20.table3.1.lower",
)

follows = Claim(
    id="dwang20.table3.1",
    source=Source("dwang20", "Table 3.1"),
    kind=Kind.IDENTITY,
    says="Each cell on a method that the documents analyse follows from its theorem, under the caption's conventions.",
    states=Rate(ratio, Integer(1)),
    checks=[Regenerates(table3_1)],
)
