"""The experiments of lwang21, sections 4.7 and 4.8: what the text says of DP-SRM, against the numbers it prints.

Tables 4.2 (a9a) and 4.3 (ijcnn1), and the networks' numbers. Means of 30 runs, δ = 1e-5; nothing is measured here.
"""

from collections.abc import Mapping, Sequence

from sympy import Le

from dpcheck.bounds.language.claim import Check, Claim, Kind, Source
from dpcheck.bounds.language.symbols import ratio
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.proofs import Quoted

PrintedRow = tuple[float, float, float, float]  # test error, data passes, CPU seconds, gradient norm
Printed = Mapping[float, Mapping[str, PrintedRow]]  # by ε and method
ERROR, PASSES, SECONDS, GRADIENT = range(4)
OURS, BASELINES = "DP-SRM", ("DP-GD", "DP-AGD", "RRPSGD")
A9A: Printed = {
    0.2: {
        "DP-GD": (0.4155, 20, 1.245, 0.0953), "DP-AGD": (0.3713, 360, 96.21, 0.0437),
        "RRPSGD": (0.4019, 8, 39.61, 0.2175), OURS: (0.3579, 4, 0.6007, 0.0528),
    },
    0.5: {
        "DP-GD": (0.3859, 20, 1.261, 0.0866), "DP-AGD": (0.3627, 365, 95.45, 0.0402),
        "RRPSGD": (0.3861, 10, 52.32, 0.1454), OURS: (0.3506, 5, 0.7383, 0.0502),
    },
}
IJCNN1: Printed = {
    0.2: {
        "DP-GD": (0.3160, 20, 0.5180, 0.0184), "DP-AGD": (0.2645, 346, 90.05, 0.0133),
        "RRPSGD": (0.3110, 8, 47.64, 0.0175), OURS: (0.2503, 4, 0.4748, 0.0117),
    },
    0.5: {
        "DP-GD": (0.2717, 20, 0.4990, 0.0171), "DP-AGD": (0.2416, 365, 94.28, 0.0397),
        "RRPSGD": (0.3033, 10, 59.06, 0.0160), OURS: (0.2341, 5, 0.4368, 0.0082),
    },
}
WITHOUT_NOISE = ((A9A, 0.3346), (IJCNN1, 0.2096))  # test errors of the non-private baseline
# Test errors of the networks in percent, DP-SRM and DP-SGD, by ε; iterations and seconds of CNN6.
MNIST = {1.2: (4.49, 5.33), 3.0: (3.62, 3.81), 7.0: (2.91, 2.93)}
CNN6 = {2.0: (33.2, 33.2), 4.0: (31.0, 31.2), 8.0: (29.3, 29.4)}
CNN5 = {6.0: (50.3, 51.0), 8.0: (48.2, 50.2), 10.0: (47.1, 49.3)}
ITERATIONS = {4.0: (6.8e3, 1.3e4), 8.0: (2.6e4, 5.8e4)}
TIME = {4.0: (643.0, 1115.0), 8.0: (2589.0, 5176.0)}


def experiment(name: str, place: str, line: int, says: str, check: Check) -> Claim:
    """What the text says of an experiment: the first quantity is at most the second."""
    return Claim(
        f"lwang21.{name}", Source("lwang21", place, line), Kind.EXPERIMENT, says, Le(ratio, 1), checks=[check]
    )


def printed(rows: Mapping[str, Sequence[bool]]) -> Counted:
    return Counted(rows, 1.0, "the numbers that the document prints, at each ε of its own")


def smaller(table: Printed, *columns: int) -> dict[str, list[bool]]:
    """For each baseline, at each ε, whether DP-SRM has the smaller number."""
    return {m: [rows[m][c] > rows[OURS][c] for rows in table.values() for c in columns] for m in BASELINES}


def table_claims(number: str, line: int, data: str, table: Printed) -> list[Claim]:
    """What the text says of a table: test error, gradient norm, and cost."""
    said = {
        "error": ("has a smaller test error than all three baselines", smaller(table, ERROR)),
        "gradient": ("reaches a smaller gradient norm than all three baselines", smaller(table, GRADIENT)),
        "cost": ("takes fewer data passes and less time than all three", smaller(table, PASSES, SECONDS)),
    }
    return [
        experiment(f"table{number}.{part}", f"Table {number} and the text on it", line, f"On {data} DP-SRM {says}.",
                   printed(rows))
        for part, (says, rows) in said.items()
    ]


error_a9a, gradient_a9a, cost_a9a = table_claims("4.2", 5884, "a9a", A9A)
error_ijcnn1, gradient_ijcnn1, cost_ijcnn1 = table_claims("4.3", 6035, "ijcnn1", IJCNN1)

closest = experiment(
    "section4.1.closest", "section 4.1, contributions", 4753,
    "Of the private models those of DP-SRM are closest in test error to those without privacy.",
    printed(
        {
            "DP-SRM closest": [
                min(rows, key=lambda m: abs(rows[m][ERROR] - best)) == OURS
                for table, best in WITHOUT_NOISE
                for rows in table.values()
            ]
        }
    ),
)

trend = experiment(
    "section4.7.trend", "Figures 4.1 and 4.4", 5884,
    "DP-SRM's objective falls faster and lower than that of the three baselines, on a9a and ijcnn1.",
    Quoted("from curves that the text does not have in numbers; the data sets are not here"),
)

networks_error = experiment(
    "section4.7.networks", "sections 4.7.2 and 4.8.2, Figures 4.2, 4.3 and 4.5", 5949,
    "The networks' test error under DP-SRM is no larger than under DP-SGD.",
    printed(
        {name: [ours <= theirs for ours, theirs in errors.values()]
         for name, errors in (("MNIST", MNIST), ("CNN6", CNN6), ("CNN5", CNN5))}
    ),
)
networks_cost = experiment(
    "section4.7.networks.cost", "sections 4.7.2 and 4.8.2, Figures 4.3 and 4.5", 6012,
    "On CNN6 DP-SRM takes fewer iterations and less time than DP-SGD.",
    printed(
        {name: [ours < theirs for ours, theirs in rows.values()]
         for name, rows in (("iterations", ITERATIONS), ("time", TIME))}
    ),
)
networks_time = experiment(
    "section4.7.networks.time", "sections 4.7.2 and 4.8.2, Figures 4.2 and 4.5", 5955,
    "On MNIST DP-SRM takes 0.3 of DP-SGD's iterations and 0.4 of its time at ε = 3, less than half at ε = 7.",
    Quoted("from curves that the text does not have in numbers, on networks and a machine not here"),
)
