"""DP-LSSGD (lwang21, chapter 5, Algorithm 5; lssgd20, Algorithm 1): noisy gradients of batches, smoothed by A_σ⁻¹.

Privacy: Theorem 5.3.2 with Lemmas 5.5.3 to 5.5.5, and what the review version had, Theorem 1 with Lemmas 1 to 3. What
the algorithm returns is a function of the noisy gradients, so that all that is said of these holds for it. Utility:
dp_lssgd_proof.py. The operator: laplacian_smoothing.py. Solver: dpcheck/solvers/nonconvex/dp_lssgd.py.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Eq, Expr, Ge, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Effort,
    Evidence,
    Kind,
    Provenance,
    Source,
    Verdict,
    lipschitz,
)
from dpcheck.bounds.language.guarantees import ApproxDP, RenyiDP
from dpcheck.bounds.language.symbols import Delta, T, batch, delta, eps, n, quantity, sigma
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.privacy.sampled_gaussian import REPLACE_ONE, epsilon_high, without_replacement
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

nu = quantity(
    "ls_nu", "noise on each coordinate of a batch's gradient", loss=1, parameter=-1, printed="ν", latex=r"\nu"
)
split = quantity("ls_mu", "share of ε that the steps spend", box=(1e-2, 0.99), below=1.0, printed="µ", latex=r"\mu")
order = quantity("ls_order", "Rényi order", box=(1.05, 1e4), printed="α", latex=r"\alpha")
spread = quantity("ls_spread", "variance of the noise over the squared sensitivity", box=(0.1, 1e4), printed="σ'²")
share = quantity("ls_tau", "share of the records in a batch", box=(1e-6, 1.0), printed="τ", latex=r"\tau")
renyi = quantity("ls_renyi", "Rényi divergence of the order", box=(1e-6, 1e3), printed="ρ", latex=r"\rho")
renyi1 = quantity("ls_renyi1", "Rényi divergence of the first mechanism", box=(1e-6, 1e3), printed="ρ₁")
renyi2 = quantity("ls_renyi2", "Rényi divergence of the second", box=(1e-6, 1e3), printed="ρ₂")

moment1 = quantity("ls_moment1", "E(p/q)^α of the (first) mechanism", box=(1, 1e6), printed="m")
moment2 = quantity("ls_moment2", "E(p/q)^α of the second", box=(1, 1e6), printed="m₂")

lipschitz_losses = [lipschitz(G), batch <= n]
released = Release(2 * G / batch, Gaussian(nu), WithoutReplacement(batch, n), T)
LINEAR = "linear losses: all noisy gradients of batches seen, smoothed or not"


def noise(constant: Expr) -> Expr:
    """The noise's deviation, ν² = constant·TαG²/(n²ε)."""
    return sqrt(constant * T * order * G**2 / (n**2 * eps))


def of_moment(moment: Symbol, divergence: Symbol) -> Eq:
    """Definition 5.5.2: m = E(p/q)^α is e^((α-1)ρ)."""
    return Eq(moment, exp((order - 1) * divergence))


# Rényi accounting ----------------------------------------------------------------------------------
gaussian, gaussian_v0 = both(
    "lemma5.5.3", "lemma1.gaussian", places=("Lemma 5.5.3, first part", "Lemma 1, first part"), lines=(8907, 289),
    kind=Kind.PRIVACY,
    says="The Gaussian mechanism has Rényi divergence αΔ²/(2σ²).",
    assumes=[order > 1],
    states=Eq(sigma, Delta * sqrt(order / (2 * renyi))),
    guarantee=RenyiDP(order, renyi),
    checks=[Accountant(Release(Delta, Gaussian(sigma)), "two means Δ apart")],
)

two_moments = [of_moment(moment1, renyi1), of_moment(moment2, renyi2)]
composition, composition_v0 = both(
    "lemma5.5.4", "lemma2", lines=(8921, 291), kind=Kind.PRIVACY,
    says="Rényi divergences of one order add up under adaptive composition: here of two mechanisms.",
    assumes=[order > 1, *two_moments],
    states=Le(renyi, renyi1 + renyi2),
    checks=[
        Chain(
            renyi,
            Step(
                "<=", log(moment1 * moment2) / (order - 1),
                because=Premise(
                    "the moment of both outputs is at most the product, whatever came first (the tower rule)"
                ),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

conversion, conversion_v0 = both(
    "lemma5.5.5", "lemma3", lines=(8937, 293), kind=Kind.PRIVACY,
    says="(α, ρ)-Rényi privacy is (ρ + log(1/δ)/(α-1), δ)-privacy.",
    assumes=[order > 1, of_moment(moment1, renyi)],
    states=Le(eps, renyi + log(1 / delta) / (order - 1)),
    checks=[
        Chain(
            eps,
            Step(
                "<=", log(moment1 / delta) / (order - 1),
                because=Premise("the loss exceeds ε with probability m·e^(-(α-1)ε) at most (Markov), which is δ there"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

# Amplification -------------------------------------------------------------------------------------
amplification_v0 = Claim(
    id="lssgd20.lemma1",
    source=Source("lssgd20", "Lemma 1, second part", line=289),
    kind=Kind.PRIVACY,
    says="Without replacement the Gaussian mechanism has Rényi divergence τ²α/σ'² for σ'² ≥ 1/1.25 and every α.",
    assumes=[order > 1, share <= 1, spread >= Rational(4, 5)],
    states=Le(renyi, share**2 * order / spread),
    checks=[
        AtMost(
            order / (order - 1) * log(share) + order / (2 * spread),
            "all other records alike: P ≥ τN(1,σ'²), Q = N(0,σ'²), so that E_Q[(P/Q)^α] ≥ τ^α·e^(α(α-1)/(2σ'²))",
            box={order: (2, 1000), share: (1e-3, 1), spread: (0.8, 100)},
        )
    ],
)

limited = [order > 1, spread >= Rational(3, 2), order <= log(1 / (share * (1 + spread)))]
amplification = Claim(
    id="lwang21.lemma5.5.3.subsampled",
    source=Source("lwang21", "Lemma 5.5.3, second part", line=8912),
    kind=Kind.PRIVACY,
    says="Without replacement it has 5τ²α/σ'² for σ'² ≥ 1.5 and α ≤ log(1/(τ(1+σ'²))).",
    assumes=limited,
    states=Le(renyi, 5 * share**2 * order / spread),
)

amplification_right = Claim(
    id="lssgd20.lemma1.corrected",
    source=Source("lssgd20", "Lemma 1, second part", line=289),
    kind=Kind.PRIVACY,
    says="The same divergence under the conditions that lwang21 prints in Lemma 5.5.3, with five times as much.",
    assumes=limited,
    states=Le(renyi, share**2 * order / spread),
    corrects="lssgd20.lemma1",
)

# Theorem 1 of lssgd20 ------------------------------------------------------------------------------
order_v0 = Eq(order, 2 * log(1 / delta) / eps + 1)
theorem1 = Claim(
    id="lssgd20.theorem1",
    source=Source("lssgd20", "Theorem 1", line=130),
    kind=Kind.PRIVACY,
    says="DP-LSSGD with ν² = 8TαG²/(n²ε), α = 2log(1/δ)/ε + 1, is (ε, δ)-private for ε² ≤ 5T·log(1/δ)b²/n².",
    assumes=[*lipschitz_losses, order_v0, eps**2 <= 5 * T * log(1 / delta) * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, LINEAR)],
    cites=[
        Cites(
            "lssgd20.lemma1", {share: batch / n, spread: 2 * T * (2 * log(1 / delta) + eps) * batch**2 / (n * eps) ** 2}
        ),
        Cites("lssgd20.lemma2", {m.lhs: m.rhs for m in two_moments}),
        Cites("lssgd20.lemma3", {moment1: of_moment(moment1, renyi).rhs}),
    ],
)

theorem1_corrected = Claim(
    id="lssgd20.theorem1.corrected",
    source=Source("lssgd20", "Theorem 1", line=130),
    kind=Kind.PRIVACY,
    says="The same noise for ε at most 1 and at most Tb²/n².",
    assumes=[*lipschitz_losses, order_v0, eps <= 1, eps <= T * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    corrects="lssgd20.theorem1",
    checks=[Accountant(released, LINEAR)],
)

# Theorem 5.3.2 of lwang21 --------------------------------------------------------------------------
order_right = log(1 / delta) / ((1 - split) * eps) + 1
conditions = [
    order <= log(split * n**3 * eps / (5 * batch**3 * T * order + split * batch * n**2 * eps)),
    5 * batch**2 * T * order / (split * n**2 * eps) >= Rational(3, 2),
]
theorem2 = Claim(
    id="lwang21.theorem5.3.2",
    source=Source("lwang21", "Theorem 5.3.2", line=8437),
    kind=Kind.PRIVACY,
    says="DP-LSSGD with ν² = 20TαG²/(µn²ε), α = log(1/δ)/((1-µ)ε) + 1, is (ε, δ)-private where two conditions hold.",
    assumes=[*lipschitz_losses, Eq(order, order_right), *conditions],
    states=Eq(nu, noise(20 / split)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(
            released,
            LINEAR,
            box={eps: (1, 100), delta: (1e-10, 0.5), n: (10, 1e6), batch: (1, 1000), T: (1, 1e4), split: (0.05, 0.95)},
        )
    ],
    cites=[
        Cites("lwang21.lemma5.5.3.subsampled", {share: batch / n, spread: (batch * noise(20 / split) / (2 * G)) ** 2}),
        Cites("lwang21.lemma5.5.4", {m.lhs: m.rhs for m in two_moments}),
        Cites("lwang21.lemma5.5.5", {moment1: of_moment(moment1, renyi).rhs}),
    ],
)

# The documents' own settings -----------------------------------------------------------------------
RECORDS, BATCH, STEPS, DELTA = 50_000, 128, 19_531, Rational(1, 100_000)  # MNIST, 50 epochs
mnist = [Eq(n, RECORDS), Eq(batch, BATCH), Eq(T, STEPS), Eq(delta, DELTA)]
strong = [eps >= Rational(1, 10), eps <= Rational(3, 10)]

met = Claim(
    id="lwang21.section5.4.condition",
    source=Source("lwang21", "section 5.4, the budget given by Theorem 5.3.2", line=8655),
    kind=Kind.IDENTITY,
    says="The theorem applies to the experiments, ε ≤ 0.3: then α ≤ log(n/b) for some µ, where α ≥ log(1/δ)/ε + 1.",
    assumes=[*mnist, *strong],
    states=Le(order, log(n / batch)),
    provenance=Provenance.CONSEQUENCE,
    checks=[AtMost(log(1 / delta) / eps + 1, "α for µ near 0, where it is least")],
)


def trained(document: str, place: str, line: int, name: str, given: list[Any], stated: Expr) -> Claim:
    """The noise of the document's theorem at the settings of its experiments."""
    return Claim(
        id=f"{document}.{name}.privacy",
        source=Source(document, place, line=line),
        kind=Kind.PRIVACY,
        says="Models are trained with (ε, 1e-5)-privacy, ε from 0.1 to 0.3, by the noise of the document's theorem.",
        assumes=[*lipschitz_losses, *mnist, *strong, *given],
        states=Eq(nu, stated),
        guarantee=ApproxDP(eps, delta),
        checks=[Accountant(released, LINEAR)],
    )


half = [Eq(split, Rational(1, 2)), Eq(order, order_right)]
private = trained("lwang21", "section 5.4, µ = 1/2", 8653, "section5.4", half, noise(20 / split))
private_v0 = trained("lssgd20", "section 4", 170, "section4", [order_v0], noise(Integer(8)))


@dataclass(frozen=True)
class NoLess:
    """The claim says that no less than its right-hand side would do; `part` of it does at `point`, µ = 1/2, G = 1."""

    point: Mapping[str, float]
    part: float
    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.point)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(x) for k, x in point.items()}
        alpha = math.log(1 / here["delta"]) / (0.5 * here["eps"]) + 1
        deviation = float(claim.evaluate(**here, G=1.0, ls_mu=0.5, ls_order=alpha)) * self.part
        steps, b, records = (int(here[name]) for name in ("T", "batch", "n"))
        spent = without_replacement(2 / (b * deviation), steps, b, records)
        enough = epsilon_high((spent,), here["delta"], REPLACE_ONE)
        figure = f"{self.part:g} of the noise gives eps at most {enough:.4g}, stated {here['eps']:g}"
        verdict = Verdict.REFUTED if enough <= here["eps"] else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, self.because, 1 / self.part - 1, counterexample=here)


TIGHT = "The noise of the theorem is also tight for DP-SGD: read as, no less of it gives (ε, δ)-privacy."
tight = Claim(
    id="lwang21.remark5.3.3",
    source=Source("lwang21", "Remark 5.3.3", line=8457),
    kind=Kind.LOWER_BOUND,
    says=TIGHT,
    assumes=theorem2.assumes,
    states=Ge(nu, noise(20 / split)),
    provenance=Provenance.READING,
    checks=[
        NoLess(
            {"eps": 2.0, "delta": 0.01, "n": 1000, "batch": 1, "T": 60_000},
            0.75,
            "a point that meets both conditions of Theorem 5.3.2",
        )
    ],
)

tight_v0 = Claim(
    id="lssgd20.remark1",
    source=Source("lssgd20", "Remark 1", line=132),
    kind=Kind.LOWER_BOUND,
    says=TIGHT,
    assumes=theorem1.assumes,
    states=Ge(nu, noise(Integer(8))),
    provenance=Provenance.READING,
    checks=[
        NoLess(
            {"eps": 0.3, "delta": float(DELTA), "n": RECORDS, "batch": BATCH, "T": STEPS},
            0.75,
            "the settings of the experiments",
        )
    ],
)
