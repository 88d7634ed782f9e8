"""The experiments on DP-LSSGD (lwang21, section 5.4; lssgd20, section 4): settings, Table 5.2 (2), trends of figures.

MNIST, 50000 records in batches of 128, 50 epochs (19531 steps), δ = 1e-5, ε from 0.1 to 0.3. The trends are measured
again, on digits, by dpcheck/evidence/nonconvex/dp_lssgd_experiments.py; softmax regression stands in for networks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Eq, Expr, Integer, Le, Rational, log

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Setting, Source, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.nonconvex.dp_lssgd import (
    LINEAR,
    lipschitz_losses,
    noise,
    nu,
    order,
    order_right,
    order_v0,
    released,
    split,
    theorem1,
    theorem2,
)
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.privacy.sampled_gaussian import REPLACE_ONE, epsilon_high, without_replacement
from dpcheck.bounds.proving.proofs import AtMost, Equals

gain = quantity("ls_gain", "what smoothing gains, over what the text says", printed="gain")

RECORDS, BATCH, STEPS, DELTA = 50_000, 128, 19_531, Rational(1, 100_000)
mnist = [Eq(n, RECORDS), Eq(batch, BATCH), Eq(T, STEPS), Eq(delta, DELTA)]
half = Eq(split, Rational(1, 2))

# Settings against theorems -------------------------------------------------------------------------
condition = Claim(
    id="lwang21.section5.4.condition",
    source=Source("lwang21", "section 5.4, the budget given by Theorem 5.3.2"),
    kind=Kind.EXPERIMENT,
    says="At ε = 0.3 (and below) some µ meets α ≤ log(…): already α ≤ log(n/b), with α ≥ log(1/δ)/ε + 1.",
    assumes=[Eq(n, RECORDS), Eq(batch, BATCH), Eq(eps, Rational(3, 10)), Eq(delta, DELTA)],
    states=Le(order, log(n / batch)),
    checks=[AtMost(log(1 / delta) / eps + 1, "α for µ near 0, where it is least")],
)

condition_v0 = Claim(
    id="lssgd20.section4.condition",
    source=Source("lssgd20", "section 4, the budget given by Theorem 1"),
    kind=Kind.EXPERIMENT,
    says="The settings meet ε² ≤ 5T·log(1/δ)b²/n²: at ε = 0.3, and so below.",
    assumes=[*mnist, Eq(eps, Rational(3, 10))],
    states=Le(eps**2, 5 * T * log(1 / delta) * batch**2 / n**2),
    checks=[
        AtMost(
            eps**2,
            "the settings",
            box={n: (5e4, 5e4), batch: (128, 128), T: (19_531, 19_531), delta: (1e-5, 1e-5), eps: (0.3, 0.3)},
        )
    ],
)

privacy = Claim(
    id="lwang21.section5.4.privacy",
    source=Source("lwang21", "section 5.4, the noise of Theorem 5.3.2 at the settings, µ = 1/2"),
    kind=Kind.PRIVACY,
    says="The noise is enough there, though the theorem does not apply.",
    assumes=[*lipschitz_losses, *mnist, half, Eq(order, order_right), eps >= Rational(1, 10), eps <= Rational(3, 10)],
    states=Eq(nu, noise(20 / split)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, LINEAR)],
)

privacy_v0 = Claim(
    id="lssgd20.section4.privacy",
    source=Source("lssgd20", "section 4, the noise of Theorem 1 at the settings"),
    kind=Kind.PRIVACY,
    says="The noise is enough there.",
    assumes=[*lipschitz_losses, *mnist, order_v0, eps >= Rational(1, 10), eps <= Rational(3, 10)],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, LINEAR)],
)


# Tightness -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class NoLess:
    """The claim says that no less than the noise of `of` would do; `part` of it does at `point`."""

    of: Claim
    point: Mapping[str, float]
    part: float
    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.point)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(v) for k, v in point.items()}
        deviation = float(self.of.evaluate(**here)) * self.part
        one = without_replacement(
            2 * here["G"] / (here["batch"] * deviation), int(here["T"]), int(here["batch"]), int(here["n"])
        )
        enough = epsilon_high((one,), here["delta"], REPLACE_ONE)
        figure = f"{self.part:g} of the noise gives eps at most {enough:.4g}, stated {here['eps']:g}"
        verdict = Verdict.REFUTED if enough <= here["eps"] else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, self.because, counterexample=here)


def at(eps_: float, delta_: float, n_: int, batch_: int, steps: int, share: float) -> dict[str, float]:
    """A point of Theorem 5.3.2, or with share = 1/2 of Theorem 1."""
    order_ = math.log(1 / delta_) / ((1 - share) * eps_) + 1
    return {
        "eps": eps_,
        "delta": delta_,
        "n": n_,
        "batch": batch_,
        "T": steps,
        "G": 1.0,
        "ls_order": order_,
        "ls_mu": share,
    }


TIGHT = "The noise of the theorem is tight for DP-SGD: no less gives (ε, δ)-privacy."
tight = Claim(
    id="lwang21.remark5.3.3",
    source=Source("lwang21", "Remark 5.3.3"),
    kind=Kind.LOWER_BOUND,
    says=TIGHT,
    states=Le(noise(20 / split), nu),
    checks=[
        NoLess(
            theorem2, at(2.0, 0.01, 1000, 1, 60_000, 0.5), 0.75, "a point that meets both conditions of Theorem 5.3.2"
        )
    ],
)

tight_v0 = Claim(
    id="lssgd20.remark1",
    source=Source("lssgd20", "Remark 1"),
    kind=Kind.LOWER_BOUND,
    says=TIGHT,
    states=Le(noise(Integer(8)), nu),
    checks=[
        NoLess(theorem1, at(0.3, 1e-5, RECORDS, BATCH, STEPS, 0.5), 0.75, "the settings of the experiments"),
    ],
)


def enough(document: str, place: str, name: str, what: Expr, theirs: Eq, share: Rational) -> Claim:
    """How much of the noise is enough at the settings of the experiments."""
    given = [half] if split in what.free_symbols else []
    return Claim(
        id=f"{document}.{name}.corrected",
        source=Source(document, place),
        kind=Kind.PRIVACY,
        says=f"At the settings of the experiments, ε from 0.1 to 0.3, {share} of it is enough.",
        assumes=[*lipschitz_losses, *mnist, *given, theirs, eps >= Rational(1, 10), eps <= Rational(3, 10)],
        states=Eq(nu, share * what),
        guarantee=ApproxDP(eps, delta),
        corrects=f"{document}.{name}",
        checks=[Accountant(released, LINEAR)],
    )


tight_corrected = enough(
    "lwang21", "Remark 5.3.3", "remark5.3.3", noise(20 / split), Eq(order, order_right), Rational(3, 10)
)
tight_corrected_v0 = enough("lssgd20", "Remark 1", "remark1", noise(Integer(8)), order_v0, Rational(2, 3))

same_table = Claim(
    id="lwang21.table5.2.noise",
    source=Source("lwang21", "Table 5.2, the same to the last digit as Table 2 of lssgd20"),
    kind=Kind.EXPERIMENT,
    says="Both documents print the same accuracies, each with the noise of its own theorem: ν is the same (µ = 1/2).",
    states=Eq(nu, noise(Integer(8))),
    checks=[Equals(noise(Integer(40)), "20/µ = 40 of Theorem 5.3.2 against 8 of Theorem 1, with the same α")],
)

# Table 5.2 of lwang21, Table 2 of lssgd20: mean and deviation in percent, by σ, at ε = .3, .25, .2, .15, .1 ------
PRINTED: Mapping[int, Sequence[tuple[float, float]]] = {
    0: ((81.74, 0.96), (81.45, 1.59), (78.92, 1.14), (77.03, 0.69), (73.49, 1.60)),
    1: ((84.21, 0.51), (83.27, 0.35), (81.56, 0.79), (79.46, 1.33), (76.29, 0.53)),
    2: ((84.23, 0.65), (83.65, 0.76), (82.15, 0.59), (80.77, 1.26), (76.31, 0.93)),
    3: ((85.11, 0.45), (82.97, 0.48), (82.22, 0.28), (80.81, 1.03), (77.13, 0.77)),
}


def against_plain(column: int, higher: bool) -> dict[str, list[bool]]:
    """For each σ > 0, where its column is better than that of σ = 0."""
    return {
        f"σ = {s}": [(a[column] > b[column]) is higher for a, b in zip(row, PRINTED[0], strict=True)]
        for s, row in PRINTED.items()
        if s > 0
    }


printed, printed_v0 = both(
    "table5.2.printed",
    "table2.printed",
    kind=Kind.EXPERIMENT,
    says="The table's own cells: smoothing improves the accuracy at every σ and ε.",
    states=Le(1, gain),
    checks=[Counted(against_plain(0, higher=True), 1.0, "mean accuracies, five runs each")],
)

printed_variance, printed_variance_v0 = both(
    "table5.2.variance",
    "table2.variance",
    kind=Kind.EXPERIMENT,
    says="The table's own cells: smoothing also reduces the variance, at every σ and ε.",
    states=Le(1, gain),
    checks=[Counted(against_plain(1, higher=False), 1.0, "deviations of five runs each; not so at ε = 0.15")],
)


def gain_over(column: int, at_most: int) -> dict[str, list[bool]]:
    """For each σ > 0, where what it gains at ε = 0.1 exceeds what it gains at the larger ε, from a column on."""
    signs = (1, -1)  # accuracy should rise, deviation fall
    found = {}
    for s in (1, 2, 3):
        gains = [signs[column] * (a[column] - b[column]) for a, b in zip(PRINTED[s], PRINTED[0], strict=True)]
        found[f"σ = {s}"] = [gains[-1] > gain for gain in gains[:at_most]]
    return found


especially, especially_v0 = both(
    "table5.2.especially",
    "table2.especially",
    kind=Kind.EXPERIMENT,
    says="The table's own cells: the accuracy gained is largest at ε = 0.1, the strongest privacy.",
    states=Le(1, gain),
    checks=[Counted(gain_over(0, 4), 1.0, "mean accuracies at 0.1 against 0.3, 0.25, 0.2, 0.15")],
)

especially_least, especially_least_v0 = both(
    "table5.2.especially.least",
    "table2.especially.least",
    kind=Kind.EXPERIMENT,
    says="The table's own cells: it is larger at ε = 0.1 than at 0.3, the weakest.",
    states=Le(1, gain),
    checks=[Counted(gain_over(0, 1), 1.0, "mean accuracies at 0.1 against 0.3")],
)

# Trends, measured again ----------------------------------------------------------------------------
SMALLER = Setting("digits for MNIST, the noise of n = 50000 records and 150 steps")
INSTEAD = Setting("softmax regression on digits for the network, the noise of n = 50000 records and 150 steps")


def trend(lwang21: str, lssgd20: str, says: str, where: Setting = SMALLER) -> tuple[Claim, Claim]:
    """A claim that the solver's file measures: what smoothing leaves of error or loss is at most 1."""
    return both(lwang21, lssgd20, kind=Kind.EXPERIMENT, says=says, states=Le(ratio, 1), assumes=[where])


degraded, degraded_v0 = trend(
    "figure5.1.loss",
    "figure1.loss",
    "Training and validation losses of DP-SGD increase when ε falls: from 0.3 to 0.2 to 0.1.",
)
less_accurate, less_accurate_v0 = trend(
    "figure5.1.accuracy", "figure1.accuracy", "DP-SGD is much less accurate than SGD without noise.", INSTEAD
)
accuracy, accuracy_v0 = trend(
    "table5.2", "table2", "Smoothing (σ = 1, 3) improves the test accuracy of private softmax regression."
)
always, always_v0 = trend(
    "remark5.3.6.always",
    "remark2.always",
    "In tests on multi-class logistic regression σ ≠ 0 always beats σ = 0.",
)
loss, loss_v0 = trend(
    "figure5.3.training", "figure3.training", "The training loss of DP-SGD is much higher than that of DP-LSSGD."
)
validation, validation_v0 = trend(
    "figure5.3.validation", "figure3.validation", "The validation loss of DP-LSSGD is much smaller than that of DP-SGD."
)
oscillation, oscillation_v0 = trend(
    "figure5.3.oscillation",
    "figure3.oscillation",
    "The training loss of DP-SGD oscillates more than that of DP-LSSGD, on a logarithmic axis: ε = 0.1.",
)
stronger, stronger_v0 = trend(
    "figure5.3.stronger", "figure3.stronger", "Smoothing improves the loss more at ε = 0.1 than at 0.3."
)
steps, steps_v0 = trend(
    "figure5.4", "figure4", "With step sizes a/t, a = 0.5 and 3, DP-LSSGD always outperforms DP-SGD."
)
mitigated, mitigated_v0 = trend(
    "figure5.5.stability",
    "figure5.stability",
    "Under strong noise the accuracy of DP-LSSGD oscillates less than that of DP-SGD, at a constant step of 0.15.",
    INSTEAD,
)
more_stable, more_stable_v0 = trend(
    "figure5.7.stability", "figure6.stability", "Left: with a larger σ (3 against 1) it oscillates less.", INSTEAD
)
slower, slower_v0 = trend(
    "figure5.7.slower", "figure6.slower", "Left: with a larger σ training is initially slower: ten steps.", INSTEAD
)
rates, rates_v0 = trend(
    "figure5.7.rates",
    "figure6.rates",
    "Middle: DP-LSSGD outperforms DP-SGD at every step: 0.05, 0.15, 0.5.",
    INSTEAD,
)
large_rate, large_rate_v0 = trend(
    "figure5.7.large", "figure6.large", "Middle: it is much more stable at the largest step, here 0.5.", INSTEAD
)
