"""The experiments of dwang20, section 4.3.3 (Table 4.2, Figures 4.5 to 4.9), on DP-GD, DP-TR and DP-STR.

No numbers are printed but the accuracy without privacy, 86% and 95%: what the text reads off the figures is measured
again by dpcheck/evidence/nonconvex/saddle_experiments.py, on draws in place of Covertype and IJCNN.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import ratio

STAND_INS = Setting("draws of the size and the best accuracy of Covertype and IJCNN in place of these")


def finding(part: str, figures: str, line: int, says: str) -> Claim:
    """Of two quantities the first is the smaller."""
    source = Source("dwang20", f"section 4.3.3, on {figures}", line)
    return Claim(
        f"dwang20.section4.3.3.{part}", source, Kind.EXPERIMENT, says, Le(ratio, 1),
        added=[] if part == "time" else [STAND_INS],
    )  # fmt: skip


accuracy = finding("accuracy", "Figure 4.5", 4112, "Fewer labels are wrong as ε grows, with the sigmoid loss.")
trust_region = finding(
    "trust_region", "Figures 4.6 to 4.9, subfigures 1 and 2", 4114,
    "DP-TR leaves a smaller optimality gap and a shorter gradient than DP-GD.",
)  # fmt: skip
stochastic = finding(
    "stochastic", "Figures 4.6 to 4.9, subfigures 1 and 2", 4114,
    "DP-GD and DP-TR leave a smaller gap and a shorter gradient than DP-STR.",
)  # fmt: skip
time = finding(
    "time", "Figures 4.6 to 4.9, subfigure 3", 4116,
    "DP-STR takes less time than DP-TR and DP-GD: most derivatives of records, with the printed batches.",
)  # fmt: skip
