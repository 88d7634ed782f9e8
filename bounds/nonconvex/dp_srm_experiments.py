"""The experiments of lwang21, sections 4.7 and 4.8: Tables 4.2 and 4.3, the networks' numbers, settings and trends.

What is said of a table is checked against the table itself. The trends of Figure 4.1 are measured again, at a size that
takes seconds, by dpcheck/solvers/nonconvex/dp_srm_experiments.py.
"""

from collections.abc import Mapping, Sequence

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, log

from bounds.accountant import Accountant
from bounds.checks import Counted
from bounds.claim import Check, Claim, Kind, Setting, Source
from bounds.convex.variance_reduction import G, sigma_n
from bounds.guarantees import ApproxDP
from bounds.nonconvex.dp_srm import estimators, noise
from bounds.nonconvex.dp_srm_privacy import noise2, order, reach, share
from bounds.nonconvex.dp_srm_sensitivity import later_batch
from bounds.proofs import Contradictory, Less
from bounds.symbols import T, delta, eps, n, ratio

Row = tuple[float, float, float, float]  # test error, data passes, CPU seconds, gradient norm
OURS = "DP-SRM"
A9A: Mapping[float, Mapping[str, Row]] = {
    0.2: {
        "DP-GD": (0.4155, 20, 1.245, 0.0953), "DP-AGD": (0.3713, 360, 96.21, 0.0437),
        "RRPSGD": (0.4019, 8, 39.61, 0.2175), OURS: (0.3579, 4, 0.6007, 0.0528),
    },
    0.5: {
        "DP-GD": (0.3859, 20, 1.261, 0.0866), "DP-AGD": (0.3627, 365, 95.45, 0.0402),
        "RRPSGD": (0.3861, 10, 52.32, 0.1454), OURS: (0.3506, 5, 0.7383, 0.0502),
    },
}  # fmt: skip
IJCNN1: Mapping[float, Mapping[str, Row]] = {
    0.2: {
        "DP-GD": (0.3160, 20, 0.5180, 0.0184), "DP-AGD": (0.2645, 346, 90.05, 0.0133),
        "RRPSGD": (0.3110, 8, 47.64, 0.0175), OURS: (0.2503, 4, 0.4748, 0.0117),
    },
    0.5: {
        "DP-GD": (0.2717, 20, 0.4990, 0.0171), "DP-AGD": (0.2416, 365, 94.28, 0.0397),
        "RRPSGD": (0.3033, 10, 59.06, 0.0160), OURS: (0.2341, 5, 0.4368, 0.0082),
    },
}  # fmt: skip
# Test errors in percent, DP-SRM and DP-SGD, by privacy level.
NETWORKS = {
    "mnist": {1.2: (4.49, 5.33), 3.0: (3.62, 3.81), 7.0: (2.91, 2.93)},
    "cnn6": {2.0: (33.2, 33.2), 4.0: (31.0, 31.2), 8.0: (29.3, 29.4)},
    "cnn5": {6.0: (50.3, 51.0), 8.0: (48.2, 50.2), 10.0: (47.1, 49.3)},
}
# Iterations and seconds of CNN6, DP-SRM and DP-SGD.
SPEED = {4.0: ((6.8e3, 1.3e4), (643.0, 1115.0)), 8.0: ((2.6e4, 5.8e4), (2589.0, 5176.0))}


def experiment(name: str, place: str, says: str, checks: Sequence[Check] = ()) -> Claim:
    """What the text says of an experiment: the first quantity is at most the second."""
    return Claim(f"lwang21.{name}", Source("lwang21", place), Kind.EXPERIMENT, says, Le(ratio, 1), checks=checks)


def smaller(table: Mapping[float, Mapping[str, Row]], *columns: int) -> dict[str, list[bool]]:
    """For each baseline and level, whether DP-SRM has the smaller number."""
    return {
        method: [row[method][c] > row[OURS][c] for row in table.values() for c in columns]
        for method in ("DP-GD", "DP-AGD", "RRPSGD")
    }


PRINTED = "the printed table, every baseline at both privacy levels"
error_a9a = experiment(
    "table4.2.error", "Table 4.2 and section 4.7.1", "On a9a DP-SRM has a smaller test error than all three baselines.",
    [Counted(smaller(A9A, 0), 1.0, PRINTED)],
)  # fmt: skip
gradient_a9a = experiment(
    "table4.2.gradient", "Table 4.2 and section 4.7.1",
    "On a9a DP-SRM reaches a smaller gradient norm than all three baselines, by a large margin.",
    [Counted(smaller(A9A, 3), 1.0, PRINTED)],
)  # fmt: skip
cost_a9a = experiment(
    "table4.2.cost", "Table 4.2 and section 4.7.1",
    "On a9a DP-SRM takes fewer data passes and less time than all three.",
    [Counted(smaller(A9A, 1, 2), 1.0, PRINTED)],
)  # fmt: skip
error_ijcnn1 = experiment(
    "table4.3.error", "Table 4.3 and section 4.8.1",
    "On ijcnn1 DP-SRM has a smaller test error than all three baselines.",
    [Counted(smaller(IJCNN1, 0), 1.0, PRINTED)],
)  # fmt: skip
gradient_ijcnn1 = experiment(
    "table4.3.gradient", "Table 4.3 and section 4.8.1",
    "On ijcnn1 DP-SRM reaches a smaller gradient norm than all three baselines, by a large margin.",
    [Counted(smaller(IJCNN1, 3), 1.0, PRINTED)],
)  # fmt: skip
cost_ijcnn1 = experiment(
    "table4.3.cost", "Table 4.3 and section 4.8.1",
    "On ijcnn1 DP-SRM takes fewer data passes and less time than all three.",
    [Counted(smaller(IJCNN1, 1, 2), 1.0, PRINTED)],
)  # fmt: skip

networks_error = experiment(
    "section4.7.networks", "sections 4.7.2 and 4.8.2, Figures 4.2, 4.3 and 4.5",
    "The networks' test error under DP-SRM is no larger than under DP-SGD.",
    [
        Counted(
            {k: [ours <= theirs for ours, theirs in v.values()] for k, v in NETWORKS.items()}, 1.0, "printed numbers"
        )
    ],
)  # fmt: skip
networks_cost = experiment(
    "section4.7.networks.cost", "sections 4.7.2 and 4.8.2, Figures 4.3 and 4.5",
    "On CNN6 DP-SRM takes about half the iterations and time of DP-SGD (at most 0.6).",
    [
        Counted(
            {"iterations": [a <= 0.6 * b for (a, b), _ in SPEED.values()],
             "time": [a <= 0.6 * b for _, (a, b) in SPEED.values()]}, 1.0, "printed numbers",
        )
    ],
)  # fmt: skip

# Settings ------------------------------------------------------------------------------------------
y = Symbol("y", positive=True)
SMALLEST_SHARE = Rational(50, 32561)  # the smallest batch of the grid, on a9a
LEAST_ORDER = 24  # α = 1 + log(1e5)/((1-β)ε) is above for ε ≤ 1/2 and any β

covered = Claim(
    id="lwang21.section4.7.condition",
    source=Source("lwang21", "section 4.7.1: a9a, b at least 50, δ = 1e-5, ε at most 0.5"),
    kind=Kind.EXPERIMENT,
    says="The privacy tracked by Lemma 4.3.7: some β and T meet the lemma's range of α, α ≥ 24 and τ ≥ 50/32561.",
    assumes=[share >= SMALLEST_SHARE, order >= LEAST_ORDER, noise2 >= Rational(7, 10), share <= 1],
    states=Ge(Rational(2, 3) * noise2 * reach(order), order - 1),
    checks=[
        Contradictory(
            [
                Less("1 + log(1e5)/0.5 ≥ 24", Integer(LEAST_ORDER), 1 + 2 * log(Integer(10) ** 5)),
                Less("y·log(1/y) ≤ 0.37 for y = τα(1+σ'²)", y * log(1 / y), Rational(37, 100), box={y: (1e-3, 1.0)}),
                Less(
                    "so the limit is at most (2/3)·0.37/(τα), which is below α - 1, the more so for larger τ and α",
                    Rational(2, 3) * Rational(37, 100) / (SMALLEST_SHARE * LEAST_ORDER), Integer(LEAST_ORDER - 1),
                ),
            ],
            "the lemma covers τα(α-1) ≤ 0.25 at most, and here it is at least 0.84",
        )
    ],
)  # fmt: skip

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
)  # fmt: skip

# Trends --------------------------------------------------------------------------------------------
figure_gradient = experiment(
    "section4.7.trend.gradient", "Figures 4.1 and 4.4",
    "At the same privacy DP-SRM reaches a smaller gradient norm than DP-GD and noisy SGD (its own over the lesser).",
)  # fmt: skip
figure_objective = experiment(
    "section4.7.trend.objective", "Figures 4.1 and 4.4", "And a smaller objective (its own over the lesser of theirs)."
)
figure_cost = experiment(
    "section4.7.trend.cost", "Figures 4.1 and 4.4", "It takes fewer record gradients than DP-GD and than RRPSGD."
)
figure_eps = experiment(
    "section4.7.trend.eps", "Figures 4.1 and 4.4", "The objective that DP-SRM reaches falls as ε grows."
)
