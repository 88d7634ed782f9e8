"""Table 3.1 of dwang20: private minimisation of strongly convex risks, method against method."""

from sympy import Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Source
from dpcheck.bounds.language.symbols import beta, d, delta, eps, gradients, mu, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_svrg import theorem2
from dpcheck.bounds.library.convex.outpert_gd import strong_steps_approx
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, strong
from dpcheck.bounds.proving.proofs import Follows, Proof, Same
from dpcheck.bounds.proving.tables import Cell, Regenerates, Row, Steps, Table

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

near_optimal = Claim(
    id="dwang20.section3.1.3.near_optimal",
    source=Source("dwang20", "sections 3.1.1 and 3.1.3: (3.4) is near optimal"),
    kind=Kind.UTILITY,
    says="The bound (3.4) of DP-SVRG over the lower bound d/(n²ε²) of Table 3.1 is a product of logarithms.",
    assumes=[d <= n**2 * eps**2],
    states=Rate(ratio, log(n) * log(1 / delta)),
    cites=[Cites("dwang20.theorem3.1.2"), Cites("dwang20.table3.1.lower")],
    checks=[
        Proof(
            [
                Same(
                    "(3.4) at G = μ = 1 over d/(n²ε²), which is the lower bound where d ≤ n²ε²",
                    theorem2.formula.subs({G: 1, mu: 1}) / (d / (n**2 * eps**2)),
                    log(n) * log(1 / delta),
                )
            ],
            "the ratio is log n·log(1/δ)",
        )
    ],
)

accuracy_share = quantity(
    "accuracy_share",
    "excess risk to be reached over the start's",
    box=(1e-9, 0.5),
    below=1.0,
    printed="ε₀",
    latex="e_0",
)
above, part = (Symbol(name, nonnegative=True) for name in ("above", "part"))
# Without noise (3.41) shrinks the potential by w^m, w = 1 + √(μ/(3mL)); 1/log w ≤ 1 + √(3mL/μ), as w·log w ≥ w - 1.
# An epoch takes n + 2m ≤ 5n/2 gradients; the last one may be needed in part only.
ill = (1 + sqrt(3 * (3 * n / 4) * L_s / mu)) * log(1 / accuracy_share) / (3 * n / 4) + 1  # epochs of m = 3n/4 steps
well = log(1 / accuracy_share) / log(Rational(3, 2)) + 1  # each shrinks it by 3/2

katyusha = Claim(
    id="dwang20.section3.1.3.katyusha",
    source=Source("dwang20", "section 3.1.3, the complexity of Katyusha quoted from [8]"),
    kind=Kind.COST,
    says="Without noise, gradients of Algorithm 3.1.2 that bring its potential down to a share ε₀ of the start's.",
    assumes=[*strong, accuracy_share <= Rational(1, 2)],
    states=Rate(gradients, (n + sqrt(n * L_s / mu)) * log(1 / accuracy_share)),
    cites=[Cites("dwang20.equation3.41"), Cites("dwang20.equation3.44")],
    checks=[
        Follows(5 * n / 2 * ill, Integer(7), "n ≤ L/μ", {n: 1 + above, accuracy_share: exp(-part) / 2}),
        Follows(5 * n / 2 * well, Integer(10), "n ≥ L/μ", {accuracy_share: exp(-part) / 2}),
    ],
)
