"""DP-FW-L1 against the other methods as the dimension grows: what is said after Corollary 1 / 4.1.1, measured.

The documents print no such experiment: "all the previous results depend on p while (8) depends only on log(p)" is said
of bounds, in dp_fw_l1_dimension.py. Runs: dpcheck/evidence/nonconvex/dp_fw_l1_experiments.py.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Kind, Setting
from dpcheck.bounds.language.symbols import ratio
from dpcheck.bounds.library.nonconvex.dp_fw_l1_dimension import AFTER
from dpcheck.bounds.library.nonconvex.stationarity import both

ALGORITHMS = ("algorithm4", "algorithm4.1.19")
ON_L1_BALL = Setting("sigmoid losses over the unit l1 ball")

grows_less, grows_less_dwang = both(
    *ALGORITHMS,
    ".dimension",
    places=AFTER,
    kind=Kind.EXPERIMENT,
    says="For |x_ij| ≤ 1 the gap of DP-FW-L1 grows with d by less than those of DP-FW-L2 and DP-PGD.",
    assumes=[ON_L1_BALL, Setting("entries of the rows ±1")],
    states=Le(ratio, 1),
)

wins, wins_dwang = both(
    *ALGORITHMS,
    ".dimension.smallest",
    places=AFTER,
    kind=Kind.EXPERIMENT,
    says="For |x_ij| ≤ 1 and d ≥ 16 its gap is below those of the other two.",
    assumes=[ON_L1_BALL, Setting("entries of the rows ±1")],
    states=Le(ratio, 1),
)

smallest, smallest_dwang = both(
    *ALGORITHMS,
    ".smallest.measured",
    places=AFTER,
    kind=Kind.EXPERIMENT,
    says="For rows of norm at most 1, where one G serves all methods, the gap of DP-FW-L1 is the smallest.",
    assumes=[ON_L1_BALL, Setting("rows of norm at most 1")],
    states=Le(ratio, 1),
)
