"""The experiments of lwang21, sections 4.7 and 4.8: Tables 4.2 and 4.3, objective, settings and trends.

What is said of a table is checked against the table itself. The trends of Figure 4.1 are measured again, at a size that
takes seconds, by dpcheck/evidence/nonconvex/dp_srm_experiments.py. Networks: dp_srm_networks.py.
"""

from collections.abc import Callable, Mapping, Sequence

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, diff, exp, floor, log

from dpcheck.bounds.language.claim import Check, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm import big, estimators, half, noise
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import noise2, order, reach, share
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import later_batch
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.proofs import Contradictory, Less, NoConstant, Proof, Same

# Test error, data passes, CPU seconds, gradient norm, and in parentheses the spreads of error and gradient norm.
Row = tuple[float, float, float, float, float, float]
Printed = Mapping[float, Mapping[str, Row]]
ERROR, PASSES, SECONDS, GRADIENT, ERROR_SPREAD, GRADIENT_SPREAD = range(6)
OURS, BASELINES = "DP-SRM", ("DP-GD", "DP-AGD", "RRPSGD")
A9A: Printed = {
    0.2: {
        "DP-GD": (0.4155, 20, 1.245, 0.0953, 0.0107, 0.0212), "DP-AGD": (0.3713, 360, 96.21, 0.0437, 0.0043, 0.0020),
        "RRPSGD": (0.4019, 8, 39.61, 0.2175, 0.0033, 0.0116), OURS: (0.3579, 4, 0.6007, 0.0528, 0.0009, 0.0042),
    },
    0.5: {
        "DP-GD": (0.3859, 20, 1.261, 0.0866, 0.0057, 0.0129), "DP-AGD": (0.3627, 365, 95.45, 0.0402, 0.0038, 0.0022),
        "RRPSGD": (0.3861, 10, 52.32, 0.1454, 0.0028, 0.0126), OURS: (0.3506, 5, 0.7383, 0.0502, 0.0011, 0.0061),
    },
}
IJCNN1: Printed = {
    0.2: {
        "DP-GD": (0.3160, 20, 0.5180, 0.0184, 0.0120, 0.0024), "DP-AGD": (0.2645, 346, 90.05, 0.0133, 0.0044, 0.0018),
        "RRPSGD": (0.3110, 8, 47.64, 0.0175, 0.0106, 0.0023), OURS: (0.2503, 4, 0.4748, 0.0117, 0.0090, 0.0008),
    },
    0.5: {
        "DP-GD": (0.2717, 20, 0.4990, 0.0171, 0.0081, 0.0024), "DP-AGD": (0.2416, 365, 94.28, 0.0397, 0.0029, 0.0025),
        "RRPSGD": (0.3033, 10, 59.06, 0.0160, 0.0110, 0.0018), OURS: (0.2341, 5, 0.4368, 0.0082, 0.0042, 0.0005),
    },
}
WITHOUT_NOISE = ((A9A, 0.3346), (IJCNN1, 0.2096))  # test errors of the non-private baseline


def experiment(
    name: str, place: str, says: str, checks: Sequence[Check] = (), assumes: Sequence[Setting] = ()
) -> Claim:
    """What the text says of an experiment: the first quantity is at most the second."""
    return Claim(
        f"lwang21.{name}", Source("lwang21", place), Kind.EXPERIMENT, says, Le(ratio, 1), assumes, checks=checks
    )


def against(table: Printed, holds: Callable[[Row, Row], Sequence[bool]]) -> dict[str, list[bool]]:
    """For each baseline, at each level, what holds between the row of DP-SRM and its own."""
    return {method: [x for row in table.values() for x in holds(row[OURS], row[method])] for method in BASELINES}


def smaller(table: Printed, *columns: int) -> dict[str, list[bool]]:
    """Whether DP-SRM has the smaller number."""
    return against(table, lambda ours, theirs: [theirs[c] > ours[c] for c in columns])


def apart(ours: Row, theirs: Row) -> list[bool]:
    """Whether DP-SRM's error and gradient norm are the smaller ones by more than both spreads."""
    columns = ((ERROR, ERROR_SPREAD), (GRADIENT, GRADIENT_SPREAD))
    return [ours[c] + ours[spread] < theirs[c] - theirs[spread] for c, spread in columns]


def nearest(table: Printed, best: float) -> list[bool]:
    """Whether DP-SRM's error is the one nearest to the best without noise, by level."""
    return [min(rows, key=lambda m: abs(rows[m][ERROR] - best)) == OURS for rows in table.values()]


PRINTED = "the printed table, every baseline at both privacy levels"


def table_claims(number: str, section: str, data: str, table: Printed) -> list[Claim]:
    """What the text says of Table 4.2 or 4.3: error, gradient norm, cost, and the margin."""
    said = {
        "error": (f"On {data} DP-SRM has a smaller test error than all three baselines.", smaller(table, ERROR)),
        "gradient": (
            f"On {data} DP-SRM reaches a smaller gradient norm than all three baselines.", smaller(table, GRADIENT)
        ),
        "cost": (
            f"On {data} DP-SRM takes fewer data passes and less time than all three.", smaller(table, PASSES, SECONDS)
        ),
        "margin": (
            f"On {data} DP-SRM is ahead by a large margin: by more than the spreads, in error and gradient norm.",
            against(table, apart),
        ),
    }
    place = f"Table {number} and section {section}"
    return [
        experiment(f"table{number}.{part}", place, says, [Counted(rows, 1.0, PRINTED)])
        for part, (says, rows) in said.items()
    ]


error_a9a, gradient_a9a, cost_a9a, margin_a9a = table_claims("4.2", "4.7.1", "a9a", A9A)
error_ijcnn1, gradient_ijcnn1, cost_ijcnn1, margin_ijcnn1 = table_claims("4.3", "4.8.1", "ijcnn1", IJCNN1)

closest = experiment(
    "section4.1.closest", "section 4.1, contributions",
    "Of the private models those of DP-SRM are closest in test error to those without privacy.",
    [Counted({"DP-SRM closest": [x for table, best in WITHOUT_NOISE for x in nearest(table, best)]}, 1.0,
             "Tables 4.2 and 4.3")],
)

# The objective -------------------------------------------------------------------------------------
depth = quantity("srm_depth", "how far a record's loss falls below 0", printed="-f")
wrong_margin = quantity("srm_margin", "margin against the label", printed="-yxθ")
weight = quantity("srm_weight", "weight of the regulariser", printed="λ", latex=r"\lambda")
curvature = quantity("srm_curvature", "curvature of the regulariser in a coordinate", printed="λr''")
z, s = Symbol("z", nonnegative=True), Symbol("s", real=True)
bend = 2 * (1 - 3 * z) / (1 + z) ** 3  # of θ²/(1+θ²), z = θ²

objective = Claim(
    id="lwang21.section4.7.objective",
    source=Source("lwang21", "section 4.7.1, the objective"),
    kind=Kind.EXPERIMENT,
    says="The objective that is minimised is bounded below; as printed it is the logarithm of the likelihood itself.",
    states=Rate(depth, Integer(1)),
    checks=[
        NoConstant(
            log(1 + exp(wrong_margin)), {wrong_margin: big}, big,
            "log φ of a record whose margin goes to -∞; the regulariser is at most λd", at=100.0,
        )
    ],
)

objective_corrected = Claim(
    id="lwang21.section4.7.objective.corrected",
    source=Source("lwang21", "section 4.7.1, the objective"),
    kind=Kind.EXPERIMENT,
    says="With a minus before the sum it is at least 0, and the start θ⁰ = 0 is log 2 above its minimum at most.",
    assumes=[Setting("θ⁰ = 0")],
    states=Le(gap0, log(2)),
    corrects="lwang21.section4.7.objective",
    ignores_units=True,
    checks=[
        Proof(
            [
                Less("-log φ = log(1 + e^m) ≥ 0 at margin -m", Integer(0), log(1 + exp(wrong_margin))),
                Same("at 0 it is log 2, and the regulariser is 0", log(1 + exp(Integer(0))), log(2)),
            ]
        )
    ],
)

regulariser = Claim(
    id="lwang21.section4.7.regulariser",
    source=Source("lwang21", "section 4.7.1, the regulariser"),
    kind=Kind.EXPERIMENT,
    says="The regulariser λΣθ²/(1+θ²) is not convex: its curvature is -λ/2 at θ = 1, at least that, and 2λ at most.",
    states=Le(curvature, 2 * weight),
    checks=[
        Proof(
            [
                Same("the second derivative, z = θ²", diff(s**2 / (1 + s**2), s, 2), bend.subs(z, s**2)),
                Same("-1/2 at θ = 1", bend.subs(z, 1), -half),
                Same("1/2 + it, times 2(1+z)³, is (z-1)²(z+5) ≥ 0", 2 * (1 + z) ** 3 * (half + bend),
                     (z - 1) ** 2 * (z + 5)),
                Less("1 - 3z ≤ (1+z)³", 1 - 3 * z, (1 + z) ** 3),
            ]
        )
    ],
)

# Settings ------------------------------------------------------------------------------------------
y = Symbol("y", positive=True)


def uncovered(name: str, place: str, records: int, batch: int, level: Rational) -> Claim:
    """The experiment's own settings against Lemma 4.3.7: batches of at least `batch`, ε at most `level`, δ = 1e-5."""
    least_share, least_order = Rational(batch, records), floor(1 + log(Integer(10) ** 5) / level)
    covered = Rational(2, 3) * Rational(37, 100)  # what τα(α-1) may be
    here = floor(100 * least_share * least_order * (least_order - 1)) / 100
    return Claim(
        id=f"lwang21.{name}",
        source=Source("lwang21", f"{place}, b at least {batch}, δ = 1e-5, ε at most {float(level)}"),
        kind=Kind.EXPERIMENT,
        says="The privacy tracked by Lemma 4.3.7: some β and T meet the lemma's range of α, "
        f"α ≥ {least_order} and τ ≥ {batch}/{records}.",
        assumes=[share >= least_share, order >= least_order, noise2 >= Rational(7, 10), share <= 1],
        states=Ge(Rational(2, 3) * noise2 * reach(order), order - 1),
        checks=[
            Contradictory(
                [
                    Less(f"α = 1 + log(1e5)/((1-β)ε) ≥ {least_order}", least_order, 1 + log(Integer(10) ** 5) / level),
                    Less("y·log(1/y) ≤ 0.37, y = τα(1+σ'²)", y * log(1 / y), Rational(37, 100), box={y: (1e-3, 1.0)}),
                    Less(
                        "so the limit is at most (2/3)·0.37/(τα), which is below α - 1, the more so for larger τ and α",
                        covered / (least_share * least_order), least_order - 1,
                    ),
                ],
                f"the lemma covers τα(α-1) ≤ 0.25 at most, and here it is at least {float(here):.2f}",
            )
        ],
    )


condition_a9a = uncovered("section4.7.condition", "section 4.7.1: a9a", 32561, 50, half)
condition_ijcnn1 = uncovered("section4.8.condition", "section 4.8.1: ijcnn1", 49990, 50, half)
condition_mnist = uncovered("section4.7.condition.mnist", "section 4.7.2: MNIST", 60000, 256, Rational(6, 5))

tracked = Claim(
    id="lwang21.section4.7.privacy",
    source=Source("lwang21", "section 4.7.1: a9a, b = 100, 4 to 5 data passes, δ = 1e-5"),
    kind=Kind.PRIVACY,
    says="The noise of Theorem 4.5.1 at the settings of the experiment is (ε, δ)-private, though no condition holds.",
    assumes=[
        Eq(n, 32561), Eq(later_batch, 100), Eq(delta, Rational(1, 10**5)), eps >= Rational(1, 5), eps <= Rational(1, 2),
        T >= 650, T <= 1630, Setting("C₁ and C₂ for G and ζ/n₀, b₀ = b"),
    ],
    states=Eq(sigma_n, noise(G)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(estimators(later_batch, T + 1), "T + 1 estimators, at a record's whole sensitivity")],
)

# Trends --------------------------------------------------------------------------------------------
INSTEAD = [Setting("breast cancer and digits stand for a9a and ijcnn1, without the regulariser")]


def trend(name: str, says: str) -> Claim:
    """What the curves of Figures 4.1 and 4.4 show."""
    return experiment(f"section4.7.trend.{name}", "Figures 4.1 and 4.4", says, assumes=INSTEAD)


figure_gradient = trend(
    "gradient",
    "At the same privacy DP-SRM reaches a smaller gradient norm than DP-GD and noisy SGD (its own over the lesser).",
)
figure_objective = trend("objective", "And a smaller objective (its own over the lesser of theirs).")
figure_cost = trend("cost", "It takes fewer record gradients than DP-GD and than RRPSGD.")
figure_eps = trend("eps", "The objective that DP-SRM reaches falls as ε grows.")
