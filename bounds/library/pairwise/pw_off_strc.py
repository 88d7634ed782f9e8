"""OffPairStrC: the mean of the points of Pairwise GIGA, with noise once (dwang20, section 3.3.4, Algorithm 3.3.14).

Solver: dpcheck/solvers/pairwise/pw_off_strc.py.
"""

from collections.abc import Mapping
from typing import Any

from scipy import special
from sympy import Eq, Expr, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.pairwise.pw_giga import (
    STEP_SIZE,
    T1,
    L,
    alpha,
    bounded,
    clean_regret,
    late_sum,
    losses,
    printed_T1,
    reach,
)
from dpcheck.bounds.library.pairwise.pw_on2off import pair_risk, rademacher
from dpcheck.bounds.library.pairwise.pw_on_strc import INTEGRAL
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.exact_values import ExactValue
from dpcheck.bounds.proving.proofs import NoConstant

mean_parted = quantity("mean_parted", "distance of the mean points of neighbouring runs", parameter=1, printed="‖w̃-w̃'‖")
parted_sum = quantity("parted_sum", "sum of ‖w_t-w'_t‖", parameter=1, printed="Σ‖w_t-w'_t‖")
whole_sum = quantity("whole_sum", "sum of 1/t over 1 ≤ t ≤ n", box=(1, 20), printed="Σ1/t, t ≥ 1")
noise_norm = quantity("noise_norm", "norm of the noise", parameter=1, printed="‖σ‖₂", holds="with probability 1-γ")
MEAN_POINT = Setting("the mean of w_1, ..., w_n, those up to T₁ drawn without the data")
printed_sigma = 8 * sqrt(2) * G * log(n) * sqrt(log(Rational(5, 4) / delta)) / (alpha * n * eps)

# Privacy -------------------------------------------------------------------------------------------
released = Release(reach * log(n / T1) / n, Gaussian(sigma))  # by Lemma 3.3.1 as it is, from T₁ on

theorem6_privacy = Claim(
    id="dwang20.theorem3.3.6.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.6, first sentence, with line 9 of Algorithm 3.3.14", line=2326),
    says="The noisy mean point is (ε, δ)-private.",
    assumes=[*losses, STEP_SIZE, MEAN_POINT, *printed_T1, n > T1, eps <= 1],
    states=Eq(sigma, printed_sigma),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(Release(8 * G * log(n) / (alpha * n), Gaussian(sigma)), "(3.138)")],
    cites=[Cites("dwang20.equation3.138")],
)

equation138 = Claim(
    id="dwang20.equation3.138", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 3.3.6, (3.138), its two ends", line=2604),
    says="The mean points of runs on neighbouring streams are at most 8G·log n/(nα) apart.",
    assumes=[*losses, STEP_SIZE, MEAN_POINT, *printed_T1, n > T1],
    states=Le(mean_parted, 8 * G * log(n) / (n * alpha)),
    checks=[
        Chain(
            mean_parted,
            Step("<=", parted_sum / n, because=Premise("the triangle inequality")),
            Step("<=", STATEMENT, because=Slack(given={
                "Lemma 3.3.1 at each t > T₁, and 0 before": (8 * G / alpha * late_sum - parted_sum) / n,
                INTEGRAL: 8 * G / (alpha * n) * (log(n) - late_sum),
            }), uses=[*losses, STEP_SIZE, MEAN_POINT, *printed_T1, n > T1]),
        )
    ],
    cites=[Cites("dwang20.lemma3.3.1")],
)


def harmonic(points: Mapping[str, Any]) -> Any:
    """Σ 1/t over T₁ < t ≤ n, from t = 1 without T₁."""
    return special.digamma(points["n"] + 1) - special.digamma(points.get("T1", 0) + 1)


equation138_sum = Claim(
    id="dwang20.equation3.138.proof.sum", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 3.3.6, (3.138), its second inequality", line=2604),
    says="The sum of 1/t from t = 1 to n is at most log n.",
    assumes=[n >= 2],
    states=Le(whole_sum, log(n)),
    checks=[ExactValue(harmonic, {n: (2, 1e6)}, "the harmonic numbers")],
)

equation138_sum_corrected = Claim(
    id="dwang20.equation3.138.proof.sum.corrected", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 3.3.6, (3.138), its second inequality", line=2604),
    says="From T₁+1 on, where runs differ, it is.",
    assumes=[n > T1],
    states=Le(late_sum, log(n)),
    corrects="dwang20.equation3.138.proof.sum",
    checks=[ExactValue(harmonic, {n: (2, 1e6), T1: (1, 1e5)}, "differences of harmonic numbers")],
)

# Population risk -----------------------------------------------------------------------------------
mean_point = [*losses, STEP_SIZE, MEAN_POINT, bounded, n > T1, T1 >= 2, n >= 2]
spread = G * diameter * sqrt(log(n / gamma) / n)


def terms(constant: Expr, first_points: Expr) -> Expr:
    """Noise, Rademacher averages, regret, deviation, and the points that ignore the data."""
    noise = 6 * constant * sigma * sqrt(d * log(n / gamma))
    return noise + 4 * rademacher + 2 * constant**2 * log(n) / (alpha * n) + 9 * spread + first_points


explicit6 = Claim(
    id="dwang20.theorem3.3.6.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.6, (3.140), with the points up to T₁", line=2612),
    says="Population risk of the noisy mean point for any T₁ and σ, with probability 1-2γ; γ is the document's ζ.",
    assumes=mean_point,
    states=Le(pair_risk, terms(G, Rational(3, 2) * G * T1 * diameter / n)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            pair_risk,
            Step("<=", 2 * G * noise_norm + 4 * rademacher + (clean_regret + G * T1 * diameter) / n + 9 * spread,
                 because=Premise("Lemma 3.3.5 (Theorem 3 of Kar et al. 2013), B = G‖C‖₂, 6/√(n-1) ≤ 9/√n; points up to "
                                 "T₁ cost G‖C‖₂ each, the noise 2G‖σ‖ (convex, Lipschitz)"),
                 uses=[MEAN_POINT, n > T1, n >= 2]),
            Step("<=", because=Cites("dwang20.theorem3.3.2.giga")),
            Step("<=", STATEMENT, because=Slack(given={
                INTEGRAL: 2 * G**2 / (alpha * n) * (log(n) - late_sum),
                "‖σ‖₂ ≤ σ(√d + √(2 log(n/γ))) (concentration of a normal vector)":
                    2 * G * (3 * sigma * sqrt(d * log(n / gamma)) - noise_norm),
            })),
        )
    ],
)

rate6 = sqrt(d * log(1 / delta)) * G**2 * diameter * log(n / gamma) / (alpha * n * eps) + rademacher
noise6 = sqrt(d * log(Rational(5, 4) / delta) * log(n / gamma)) * G**2 * log(n) / (alpha * n * eps)
first_points6 = G * L**2 * diameter / (alpha**2 * n)
x = Symbol("x", positive=True)

theorem6 = Claim(
    id="dwang20.theorem3.3.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.6, (3.118)", line=2328),
    says="Population risk of OffPairStrC, with probability 1-2γ; γ is the document's ζ.",
    assumes=[*losses, STEP_SIZE, MEAN_POINT, bounded, *printed_T1, n > T1, eps <= 1],
    states=Rate(pair_risk, rate6),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 64),
            {
                L: x, alpha: Integer(1), G: Integer(2), diameter: Integer(1), T1: 16 * x**2, n: 32 * x**2,
                d: Integer(1), eps: Integer(1), delta: Rational(1, 100), gamma: Rational(1, 4),
                rademacher: 2 / sqrt(32 * x**2),
            },
            x,
            "w²/2 - w/2 on [-1/2, 1/2] for every pair, and L-1 more of curvature left of 1/L - 1/2: half of the points "
            "are drawn around 0, so that their mean is at most 1/4, and the minimum at 1/2; R_t ≤ 1/√t, and the noise "
            "vanishes",
        )
    ],
)  # fmt: skip

theorem6_corrected = Claim(
    id="dwang20.theorem3.3.6.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.6, (3.118)", line=2328),
    says="With what the first T₁ points, GIGA's regret and Lemma 3.3.5 add, and without ‖C‖₂ in the noise's term.",
    assumes=[*mean_point, *printed_T1, 17 * L**2 / alpha**2 >= T1, eps <= 1],
    states=Rate(pair_risk, noise6 + rademacher + G**2 * log(n) / (alpha * n) + spread + first_points6),
    corrects="dwang20.theorem3.3.6",
    checks=[
        Chain(
            pair_risk,
            Step("<=", because=Cites("dwang20.theorem3.3.6.explicit")),
            Step("=", because=Cites("dwang20.theorem3.3.6.privacy")),
            Step("<=", 48 * sqrt(2) * noise6 + 4 * rademacher + 2 * G**2 * log(n) / (alpha * n) + 9 * spread
                 + Rational(51, 2) * first_points6, because=Slack(
                     seen=[Rational(3, 2) * G * diameter / n * (17 * L**2 / alpha**2 - T1)])),
            Step("<=", 68 * STATEMENT, because=Slack(seen=[
                (68 - 48 * sqrt(2)) * noise6, 64 * rademacher, 66 * G**2 * log(n) / (alpha * n), 59 * spread,
                Rational(85, 2) * first_points6])),
        )
    ],
)  # fmt: skip
