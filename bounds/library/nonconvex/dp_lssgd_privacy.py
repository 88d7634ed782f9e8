"""DP-LSSGD: what its privacy theorem rests on and what follows (lwang21, chapter 5; lssgd20), and its cost.

The definition of Rényi privacy, the query of a step, the budget after some of the steps, the algorithm's output,
clipping, and the budgets of the experiments. The theorems: dp_lssgd.py.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special
from sympy import Eq, Integer, Le, Rational, Symbol, log

from dpcheck.bounds.language.claim import Cites, Claim, Effort, Evidence, Kind, Rate, Setting, Source, Verdict
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP
from dpcheck.bounds.language.symbols import Delta, T, d, delta, eps, eps_out, n, quantity, ratio, sigma, t
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.nonconvex.dp_lssgd import (
    conditions,
    lipschitz_losses,
    noise,
    nu,
    order,
    order_right,
    order_v0,
    released,
    renyi,
    split,
    step_change,
    theorem1,
    theorem1_corrected,
    theorem2,
)
from dpcheck.bounds.library.nonconvex.dp_lssgd_experiments import BATCH, DELTA, RECORDS, STEPS, at
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_high, poisson
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.proofs import Follows, Less, Proof, Same

clip = quantity("ls_clip", "norm that gradients are clipped to", loss=1, parameter=-1, printed="C")
clipped = quantity("ls_clipped", "norm of a clipped gradient", loss=1, parameter=-1, printed="‖clip(v)‖")
multiplier = quantity("ls_multiplier", "noise over the clipping norm, times the batch", printed="NM")
x, more = Symbol("x", real=True), Symbol("more", nonnegative=True)

# Definitions and steps -----------------------------------------------------------------------------
definition, definition_v0 = both(
    "definition5.5.2",
    "definition3",
    kind=Kind.PRIVACY,
    says="log E(p/q)^α/(α-1), the expectation over q: for two Gaussians Δ apart αΔ²/(2σ²), as Lemma 5.5.3 (1) has it.",
    assumes=[order > 1],
    states=Eq(renyi, order * Delta**2 / (2 * sigma**2)),
    checks=[
        Proof(
            [
                Same(
                    "the exponent of p^α·q^(1-α) is that of N(αΔ, σ²) and a constant: the square completed",
                    -order * (x - Delta) ** 2 / (2 * sigma**2) - (1 - order) * x**2 / (2 * sigma**2),
                    -((x - order * Delta) ** 2) / (2 * sigma**2) + order * (order - 1) * Delta**2 / (2 * sigma**2),
                ),
                Same(
                    "the constant over α-1",
                    order * (order - 1) * Delta**2 / (2 * sigma**2) / (order - 1),
                    order * Delta**2 / (2 * sigma**2),
                ),
            ],
            "a normal density integrates to 1",
        )
    ],
)

query = Claim(
    id="lwang21.theorem5.3.2.query",
    source=Source("lwang21", "Proof of Theorem 5.3.2, the query (n/b)∇F"),
    kind=Kind.SENSITIVITY,
    says="A replaced record moves (n/b)∇F by at most 2G/b.",
    assumes=lipschitz_losses,
    states=Le(step_change, 2 * G / batch),
    checks=[
        Proof(
            [
                Less(
                    "one of n terms of ∇F changes, by ‖g‖ + ‖g'‖ at most",
                    n / batch * (G / (1 + more) + G) / n,
                    2 * G / batch,
                )
            ],
            "n cancels",
        )
    ],
)

iterate = Claim(
    id="lwang21.theorem5.3.2.iterate",
    source=Source("lwang21", "Proof of Theorem 5.3.2, the k-th iterate"),
    kind=Kind.PRIVACY,
    says="After k of T steps (kµε/T + (1-µ)ε, δ)-private: k steps of Rényi divergence µε/T, converted at α.",
    assumes=[*lipschitz_losses, Eq(order, order_right), *conditions, t <= T],
    states=Le(eps_out, t * split * eps / T + (1 - split) * eps),
    checks=[
        Proof(
            [
                Same(
                    "ρ + log(1/δ)/(α-1) with ρ = kµε/T",
                    t * (split * eps / T) + log(1 / delta) / (order_right - 1),
                    t * split * eps / T + (1 - split) * eps,
                ),
            ],
            "Lemmas 5.5.4 and 5.5.5",
        )
    ],
    cites=[Cites("lwang21.theorem5.3.2.proof"), Cites("lwang21.lemma5.5.4"), Cites("lwang21.lemma5.5.5")],
)

# The algorithm's output ----------------------------------------------------------------------------
algorithm = Claim(
    id="lwang21.algorithm5",
    source=Source("lwang21", "Algorithm 5"),
    kind=Kind.PRIVACY,
    says="Its output, the last iterate, is (ε, δ)-private with ν of Theorem 5.3.2.",
    assumes=[*lipschitz_losses, Eq(order, order_right), *conditions],
    states=Eq(nu, noise(20 / split)),
    guarantee=ApproxDP(eps, delta),
    checks=[Implied(theorem2, "the last iterate is a function of the noisy gradients")],
    cites=[Cites("lwang21.theorem5.3.2")],
)

algorithm_v0 = Claim(
    id="lssgd20.algorithm1",
    source=Source("lssgd20", "Algorithm 1"),
    kind=Kind.PRIVACY,
    says="Its output, the last iterate, is (ε, δ)-private with ν of Theorem 1: here after one step.",
    assumes=[*lipschitz_losses, order_v0, Eq(T, 1), eps**2 <= 5 * T * log(1 / delta) * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "one step: the output is the noisy gradient, smoothed, which is a bijection")],
    cites=[Cites("lssgd20.theorem1")],
)

algorithm_v0_corrected = Claim(
    id="lssgd20.algorithm1.corrected",
    source=Source("lssgd20", "Algorithm 1"),
    kind=Kind.PRIVACY,
    says="It is for ε at most 1 and at most Tb²/n².",
    assumes=[*lipschitz_losses, order_v0, eps <= 1, eps <= T * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    corrects="lssgd20.algorithm1",
    checks=[Implied(theorem1_corrected, "the last iterate is a function of the noisy gradients")],
    cites=[Cites("lssgd20.theorem1.corrected")],
)

# Experiments ---------------------------------------------------------------------------------------
clipping, clipping_v0 = both(
    "section5.4.clipping",
    "section4.clipping",
    kind=Kind.SENSITIVITY,
    says="v/max(1, ‖v‖/C) has norm at most C, which is what the Lipschitz condition is used for.",
    states=Le(clipped, clip),
    checks=[
        Proof(
            [
                Less("‖v‖ ≤ C: v itself", clip / (1 + more), clip),
                Same("‖v‖ ≥ C: ‖v‖/(‖v‖/C)", clip * (1 + more) / (clip * (1 + more) / clip), clip),
            ],
            "two cases",
        )
    ],
)


def tensorflow_privacy(noise_multiplier: float, rate: float, steps: int, delta: float) -> float:
    """The epsilon that TensorFlow Privacy reported in 2019: Poisson batches, add/remove, Rényi divergences of whole
    orders (5 to 63, 128, 256, 512), converted by Lemma 5.5.5."""
    found = []
    for order_ in (*range(5, 64), 128, 256, 512):
        k = np.arange(order_ + 1)
        binomial = special.gammaln(order_ + 1) - special.gammaln(k + 1) - special.gammaln(order_ - k + 1)
        powers = k * math.log(rate) + (order_ - k) * math.log1p(-rate)
        moment = float(special.logsumexp(binomial + powers + k * (k - 1) / (2 * noise_multiplier**2)))
        found.append((steps * moment + math.log(1 / delta)) / (order_ - 1))
    return min(found)


@dataclass(frozen=True)
class SameBudget:
    """The claim says that TensorFlow Privacy gives the noise of `of` the same ε at `point`: here, to a tenth."""

    of: Claim
    point: Mapping[str, float]
    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.point)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(v) for k, v in point.items()}
        formula = self.of.formula
        deviation = float(formula.subs({s: here[str(s)] for s in formula.free_symbols}))  # whatever its conditions
        found = tensorflow_privacy(
            deviation * here["batch"] / here["G"], here["batch"] / here["n"], int(here["T"]), here["delta"]
        )
        figure = f"TensorFlow Privacy gives eps = {found:.4g}, the theorem {here['eps']:g}"
        apart = abs(found / here["eps"] - 1)
        if apart > 0.1:
            return Evidence(self.kind, Verdict.REFUTED, figure, self.because, apart, counterexample=here)
        return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because, apart)


SETTINGS = at(0.3, float(DELTA), RECORDS, BATCH, STEPS, 0.5)
CONSISTENT = "The budget of the theorem and that of TensorFlow Privacy were checked to be consistent: here at ε = 0.3."
consistent = Claim(
    id="lwang21.section5.4.consistent",
    source=Source("lwang21", "section 5.4, before 5.4.1"),
    kind=Kind.EXPERIMENT,
    says=CONSISTENT,
    assumes=[Setting("the settings of the experiments on MNIST, µ = 1/2")],
    states=Eq(ratio, 1),
    checks=[SameBudget(theorem2, SETTINGS, "the noise of Theorem 5.3.2, batches of 128 of 50000, 19531 steps")],
)

consistent_v0 = Claim(
    id="lssgd20.section4.consistent",
    source=Source("lssgd20", "section 4, before 4.1"),
    kind=Kind.EXPERIMENT,
    says=CONSISTENT,
    assumes=[Setting("the settings of the experiments on MNIST")],
    states=Eq(ratio, 1),
    checks=[SameBudget(theorem1, SETTINGS, "the noise of Theorem 1, batches of 128 of 50000, 19531 steps")],
)


@dataclass(frozen=True)
class Spends:
    """The tight ε of `steps` Poisson batches, add/remove, is at most the claim's right-hand side."""

    noise_multiplier: float
    rate: float
    steps: int
    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        release = poisson(1 / self.noise_multiplier, self.steps, self.rate)
        spent, stated = epsilon_high((release,), float(DELTA), ADD_REMOVE), float(claim.formula)
        verdict = Verdict.CERTIFIED if spent <= stated else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, f"eps at most {spent:.4g}, drawn up to {stated:g}", self.because)


cifar, cifar_v0 = both(
    "figure5.6.privacy",
    "figure7.privacy",
    kind=Kind.EXPERIMENT,
    says="Noise multiplier 2 on CIFAR10: the budget of 50 epochs stays within the figure's axis, which ends at 1.5.",
    assumes=[Setting("batches of 256 of 50000, δ = 1e-5")],
    states=Le(eps, Rational(3, 2)),
    checks=[Spends(2.0, 256 / 50_000, 9766, "50 epochs are 9766 steps")],
)

# Cost ----------------------------------------------------------------------------------------------
cost, cost_v0 = both(
    "section5.8.cost",
    "section5.cost",
    kind=Kind.COST,
    says="The extra cost is almost negligible: two transforms of d numbers, against the gradients of b records.",
    assumes=[d >= 2],
    states=Rate(ratio, log(d) / batch),
    checks=[
        Follows(
            (2 * 5 * d * log(d) / log(2) + 2 * d) / (2 * batch * d),
            Integer(9),
            "5d·log₂d operations a transform, 2d for the quotient; a record's gradient takes 2d at least",
            box={d: (2, 1e8), batch: (1, 1e4)},
        )
    ],
)
