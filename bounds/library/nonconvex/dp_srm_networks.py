"""The networks of lwang21, sections 4.7.2 and 4.8.2: the numbers of the text, and the trend of Figure 4.2.

The trend is measured again, on digits, by dpcheck/evidence/nonconvex/dp_srm_networks.py.
"""

from dpcheck.bounds.language.claim import Setting
from dpcheck.bounds.library.nonconvex.dp_srm_experiments import experiment
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.proofs import Quoted

# Test errors in percent, DP-SRM and DP-SGD, by privacy level.
NETWORKS = {
    "mnist": {1.2: (4.49, 5.33), 3.0: (3.62, 3.81), 7.0: (2.91, 2.93)},
    "cnn6": {2.0: (33.2, 33.2), 4.0: (31.0, 31.2), 8.0: (29.3, 29.4)},
    "cnn5": {6.0: (50.3, 51.0), 8.0: (48.2, 50.2), 10.0: (47.1, 49.3)},
}
# Iterations and seconds of CNN6, DP-SRM and DP-SGD.
SPEED = {4.0: ((6.8e3, 1.3e4), (643.0, 1115.0)), 8.0: ((2.6e4, 5.8e4), (2589.0, 5176.0))}


networks_error = experiment(
    "section4.7.networks", "sections 4.7.2 and 4.8.2, Figures 4.2, 4.3 and 4.5",
    "The networks' test error under DP-SRM is no larger than under DP-SGD.",
    [
        Counted(
            {k: [ours <= theirs for ours, theirs in v.values()] for k, v in NETWORKS.items()}, 1.0, "printed numbers"
        )
    ],
)
networks_cost = experiment(
    "section4.7.networks.cost", "sections 4.7.2 and 4.8.2, Figures 4.3 and 4.5",
    "On CNN6 DP-SRM takes about half the iterations and time of DP-SGD (at most 0.6).",
    [
        Counted(
            {"iterations": [a <= 0.6 * b for (a, b), _ in SPEED.values()],
             "time": [a <= 0.6 * b for _, (a, b) in SPEED.values()]}, 1.0, "printed numbers",
        )
    ],
)

networks_speed = experiment(
    "section4.7.networks.speed", "section 4.7.2, Figure 4.2 (a)",
    "At ε = 3 DP-SRM takes 0.3 of DP-SGD's iterations to a comparable test error (here 1.1 times it at most).",
    assumes=[Setting("digits and one hidden layer stand for MNIST and its network")],
)
networks_time = experiment(
    "section4.7.networks.time", "sections 4.7.2 and 4.8.2, Figures 4.2 and 4.5",
    "On MNIST DP-SRM takes 0.4 of DP-SGD's time at ε = 3, less than half at ε = 7; on CNN5 it takes less.",
    [Quoted("from curves of seconds that the text does not have in numbers, on a machine and networks not here")],
)
