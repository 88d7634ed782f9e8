"""The settings of zhang17's experiments (section 4): its two losses, the sizes of Table 2, the baseline's batches.

The trends of Table 3 stand in smooth_erm_experiments.py.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Integer, Le, Rational, Symbol, diff, exp, log

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source, lipschitz
from dpcheck.bounds.language.symbols import L, d, delta, eps, m, n, quantity, ratio
from dpcheck.bounds.library.convex.bassily_sgd import batch_noise
from dpcheck.bounds.library.convex.variance_reduction_experiments import margin
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

v, x = Symbol("v", nonnegative=True), Symbol("x", positive=True)
train_loss = quantity("train_loss", "loss of a record on its right side of the separator", printed="f(w, ξ)")
knee = quantity("knee", "residual from which the Huber loss is linear", printed="δ", latex=r"\delta")
loss_slope = quantity("loss_slope", "derivative of the loss in the residual or margin", printed="|f'|", latex="|f'|")

# Losses --------------------------------------------------------------------------------------------
logistic = Claim(
    id="zhang17.section4.logistic",
    source=Source("zhang17", "section 4, the loss of logistic regression as printed"),
    kind=Kind.EXPERIMENT,
    says="log(1 + exp(1 + y⟨w, x⟩)) rewards the right side: with a positive margin it is at most its value at w = 0.",
    states=Le(train_loss, log(1 + exp(1))),
    checks=[AtMost(log(1 + exp(1 + margin)), "the printed loss at a record with y⟨w, x⟩ = ⟨θ°,x⟩ > 0")],
)

logistic_corrected = Claim(
    id="zhang17.section4.logistic.corrected",
    source=Source("zhang17", "section 4, the loss of logistic regression"),
    kind=Kind.EXPERIMENT,
    says="log(1 + exp(-y⟨w, x⟩)) does.",
    states=Le(train_loss, log(2)),
    corrects="zhang17.section4.logistic",
    checks=[
        Proof(
            [
                Less("e^-m ≤ 1 for a margin m ≥ 0, with 1/(1+v) for e^-m", 1 + 1 / (1 + v), Integer(2)),
                Same("log 2 at w = 0", log(1 + exp(Integer(0))), log(2)),
            ],
            "its value falls from log 2 to 0",
        )
    ],
)

u, k = Symbol("u", real=True), knee
huber = Claim(
    id="zhang17.section4.huber",
    source=Source("zhang17", "section 4, the Huber loss"),
    kind=Kind.EXPERIMENT,
    says="The Huber loss is δ-Lipschitz and 1-smooth in the residual: its two pieces meet with one slope.",
    states=Le(loss_slope, knee),
    checks=[
        Proof(
            [
                Same("values at the knee", (u**2 / 2).subs(u, k), (k * (u - k / 2)).subs(u, k)),
                Same("slopes at the knee", diff(u**2 / 2, u).subs(u, k), diff(k * (u - k / 2), u)),
                Less("|u| ≤ δ on the first piece", k / (1 + v), k),
                Same("which bends by 1", diff(u**2 / 2, u, 2), Integer(1)),
            ],
            "slopes at most δ, bending at most 1",
        )
    ],
)

logistic_lipschitz = Claim(
    id="dwang20.section3.1.5.lipschitz",
    source=Source("dwang20", "section 3.1.5: normalised records make the losses 1-Lipschitz"),
    kind=Kind.EXPERIMENT,
    says="The logistic loss of a record of norm at most 1 is 1-Lipschitz, and 1/4-smooth.",
    assumes=[Setting("‖x‖ ≤ 1")],
    states=Le(loss_slope, 1),
    checks=[
        Proof(
            [
                Same(
                    "its slope in the margin is -1/(1+e^m)",
                    diff(log(1 + exp(-x)), x) + 1 / (1 + exp(x)),
                    Integer(0),
                ),
                Less("which is at most 1 in size, with v for e^m", 1 / (1 + v), Integer(1)),
                Same(
                    "and changes by e^m/(1+e^m)² ≤ 1/4: the rest is a square",
                    Rational(1, 4) - v / (1 + v) ** 2,
                    ((1 - v) / (2 * (1 + v))) ** 2,
                ),
            ],
            "times ‖x‖ ≤ 1",
        )
    ],
)

# Table 2 -------------------------------------------------------------------------------------------


class DataSet(NamedTuple):
    """A line of Table 2, and what the data set's public description says: records, numbers, sizes of categories."""

    name: str
    n: int
    d: int
    records: int
    numbers: int
    categories: Sequence[int]


# Missing entries of ADULT are a value of their own; CreditCard has codes 0 to 6 of education and 0 to 3 of marriage.
TABLE2 = [
    DataSet("BANK", 45211, 42, 45211, 7, (12, 3, 4, 2, 2, 2, 3, 12, 4)),
    DataSet("ADULT", 32561, 110, 32561, 6, (9, 16, 7, 15, 6, 5, 2, 42)),
    DataSet("CreditCard", 30000, 34, 30000, 20, (2, 7, 4)),
    DataSet("WINE", 6497, 12, 6497, 11, (2,)),
    DataSet("BIKE", 17379, 62, 17379, 4, (4, 2, 12, 24, 2, 7, 2, 4)),
]


def columns(data: DataSet) -> int:
    """The most columns there are: the numbers, one for each value of each category, and one of ones."""
    return data.numbers + sum(data.categories) + 1


def least_columns(data: DataSet) -> int:
    """The numbers, and one column less for each category: what does not repeat the others."""
    return data.numbers + sum(size - 1 for size in data.categories)


table2 = Claim(
    id="zhang17.table2",
    source=Source("zhang17", "Table 2 and footnote 4"),
    kind=Kind.EXPERIMENT,
    says="n is the number of records, and d lies between the fewest and the most columns that binary features give.",
    states=Le(ratio, 1),
    checks=[
        Counted(
            {
                "records": [data.n == data.records for data in TABLE2],
                "features": [least_columns(data) <= data.d <= columns(data) for data in TABLE2],
            },
            least=1.0,
            because="the data sets' descriptions at UCI: ADULT has 6 numbers and 102 values of categories, so at most "
            "109 columns with one of ones, and 110 are printed",
        )
    ],
)

# The baseline's batches ----------------------------------------------------------------------------
# Excess risk of SGD is of order (variance of a step)/(number of steps): L²/b + d·noise² over (n/b)², b records a batch.
single, batch = ((L**2 / b + d * batch_noise.subs(m, b) ** 2) * b**2 for b in (Integer(1), m))
share = d * (batch_noise * m / L) ** 2  # of the noise, in units of L²
settings = {d: 12, eps: 2, delta: Rational(1, 1000), n: 6497}  # where it is least

batch_utility = Claim(
    id="zhang17.section4.minibatch.utility",
    source=Source("zhang17", "section 4: batches affect the utility by a constant ratio"),
    kind=Kind.UTILITY,
    says="Variance over steps with batches of m, over that with single records, at the settings: at most 1.01.",
    assumes=[lipschitz(L), m <= 50, d >= 12, eps <= 2, delta <= Rational(1, 1000), n >= 6497],
    states=Le(ratio, Rational(101, 100)),
    checks=[
        Proof(
            [
                Same("the ratio is (m + N)/(1 + N), N the noise's share", batch / single, (m + share) / (1 + share)),
                Less("m - 1 ≤ 49 is at most N/100, which is least at the smallest d and n and the largest ε and δ",
                     Integer(49), share.subs(settings) / 100),
            ],
            "sampling is a small share of what the noise brings",
        )
    ],
)
