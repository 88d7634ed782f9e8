"""OnPairStrC: strongly convex losses of pairs, online (dwang20, section 3.3.2, Algorithm 3.3.9).

t·w_t has noise of the same deviation t·σ_t at every time t > T₁. Line 13 writes the noisy point into w_t, from where
line 11 goes on; Lemmas 3.3.1 and 3.3.2 go on from the point before its noise, and so does what is judged here, unless
it says "literal". Solvers: dpcheck/solvers/pairwise/pw_on_strc.py and, literally, pw_giga.py.
"""

from collections.abc import Mapping

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, MEAN, d, delta, eps, gamma, n, quantity, regret
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
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step

scaled = quantity("scaled_noise", "t times the deviation of the noise at time t", parameter=1, printed="t·σ_t")
rounds = quantity("rounds", "outputs with noise", box=(1, 1e6), integer=True, printed="n-T₁", latex="n-T_1")
likely_regret = quantity(
    "likely_regret", "sum of losses less that of the best fixed point", loss=1, printed="R_A(n, D)", holds=LIKELY
)
early, away = (
    quantity(f"drift_{part}", f"sum of ‖w_t-w̃_t‖ over {when}", parameter=1, printed=f"Σ‖w_t-w̃_t‖, {when}")
    for part, when in (("early", "t ≤ T₁"), ("late", "t > T₁"))
)
noise_sum = quantity("noise_sum", "sum of the norms of the noise", parameter=1, printed="Σ‖n_t‖")
mean_noise = quantity("mean_noise", "expected sum of the noise's norms", parameter=1, printed="E Σ‖n_t‖", holds=MEAN)
mean_norm = quantity("normal_norm", "E of the norm of a standard normal vector", box=(0.5, 1e2), printed="E ‖z‖")

v = Symbol("v", nonnegative=True)  # how far δ is below e^(-ε)
CLEAN = Setting("line 11 goes on from the point before its noise, as in Lemmas 3.3.1 and 3.3.2")
LITERAL = Setting("the next step goes on from the noisy point, as it stands in the algorithm")
root_rho = sqrt(log(1 / delta) + eps) - sqrt(log(1 / delta))  # ρ + 2√(ρ·log(1/δ)) = ε
printed_noise = sqrt(32 * rounds) * G / (alpha * root_rho)

# Privacy -------------------------------------------------------------------------------------------
# t·w_t from the noiseless run at every t > T₁, by Lemma 3.3.1 and as it is
printed_release = Release(8 * G / alpha, Gaussian(scaled), steps=rounds)
released = Release(reach, Gaussian(scaled), steps=rounds)
literal = Release(reach * sqrt(1 + 1 / T1), Gaussian(scaled), in_pieces=True)  # Lemma 3.3.1 "in loop"

theorem1 = Claim(
    id="dwang20.theorem3.3.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.1, with lines 3 and 12 of Algorithm 3.3.9", line=2119),
    says="The whole sequence of outputs is (ε, δ)-private.",
    assumes=[*losses, STEP_SIZE, CLEAN, *printed_T1, eps <= 1],
    states=Eq(scaled, printed_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(printed_release, "Lemma 3.3.1, at every t > T₁")],
    cites=[Cites("dwang20.lemma3.3.1"), Cites("dwang20.lemma2.1.10")],
)

theorem1_literal = Claim(
    id="dwang20.theorem3.3.1.literal", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.1, with line 13 of Algorithm 3.3.9 as it stands", line=2119),
    says="So it is if line 11 goes on from the noisy point, which takes about √n times less noise.",
    assumes=[*losses, STEP_SIZE, LITERAL, *printed_T1, eps <= 1],
    states=Eq(scaled, printed_noise),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    checks=[Accountant(Release(8 * G / alpha, Gaussian(scaled)), "at most that in all steps together, as T₁ ≥ 7")],
)

# Regret --------------------------------------------------------------------------------------------
known = [*losses, STEP_SIZE, CLEAN, bounded, *printed_T1, 17 * L**2 / alpha**2 >= T1, n > T1, rounds <= n]
small = delta <= exp(-eps)  # "ε/log(1/δ) ≪ 1"

lemma2 = Claim(
    id="dwang20.lemma3.3.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.3.2; T there is n", line=2499),
    says="Outputs with noise, and T₁ points that ignore the data, cost so much more than GIGA.",
    assumes=[lipschitz(G), CLEAN],
    states=Le(regret, clean_regret + G * noise_sum + G * T1 * diameter),
    checks=[
        Chain(
            regret,
            Step("<=", clean_regret + G * (early + away), because=Premise("each L̂_t is G-Lipschitz")),
            Step("<=", STATEMENT, because=Slack(given={
                "the first T₁ outputs are at most ‖C‖₂ away": G * (T1 * diameter - early),
                "the others at most their noise: projections do not expand": G * (noise_sum - away),
            }), uses=[CLEAN]),
        )
    ],
)

taylor = Claim(
    id="dwang20.theorem3.3.1.taylor", kind=Kind.IDENTITY,
    source=Source("dwang20", "after Theorem 3.3.1, σ_t² ≃ 128G²(n-T₁)log(1/δ)/(α²t²ε²)", line=2123),
    says="For ε ≤ log(1/δ) the noise is at most √1.5 times its approximation.",
    assumes=[*losses, STEP_SIZE, CLEAN, *printed_T1, rounds <= n, small, eps <= 1],
    states=Le(scaled, sqrt(192 * n * log(1 / delta)) * G / (alpha * eps)),
    provenance=Provenance.READING,
    checks=[
        Chain(
            scaled,
            Step("=", because=Cites("dwang20.theorem3.3.1")),
            Step("=", sqrt(32 * rounds) * G / (alpha * eps) * (sqrt(log(1 / delta) + eps) + sqrt(log(1 / delta)))),
            Step("<=", sqrt(64 * rounds * (2 * log(1 / delta) + eps)) * G / (alpha * eps),
                 because=Premise("(a+b)² ≤ 2a² + 2b²")),
            Step("<=", sqrt(192 * rounds * log(1 / delta)) * G / (alpha * eps), where={delta: exp(-eps * (1 + v))}),
            Step("<=", STATEMENT),
        )
    ],
)

price = G**2 * sqrt(d * n * log(1 / delta)) / (alpha * eps)
start_cost = G * L**2 * diameter / alpha**2
theorem_rate = price * log(n) + start_cost + G**2 * log(n) / alpha
POSITIVE, GROWS = "logarithms of 1/δ and n/γ are positive", "log n ≤ log(n/γ)"
INTEGRAL = "Σ 1/t over T₁ < t ≤ n is at most log n, an integral"


def explicit(noise: Expr, harmonic: Expr) -> Expr:
    """The regret of GIGA, of T₁ points that ignore the data, and of noise of so much a unit of Σ 1/t."""
    return (2 * G**2 / alpha + noise) * harmonic + 3 * G * T1 * diameter / 2


theorem2_expected = Claim(
    id="dwang20.theorem3.3.2.expected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.2, (3.109)", line=2131),
    says="Expected regret of OnPairStrC; (3.135) is a line of its proof.",
    assumes=[*known, small, eps <= 1],
    states=Rate(regret, theorem_rate),
    checks=[
        Chain(
            regret,
            Step("<=", because=Cites("dwang20.lemma3.3.2", {noise_sum: mean_noise})),
            Step("<=", because=Cites("dwang20.theorem3.3.2.giga")),
            Step("=", explicit(G * scaled * mean_norm, late_sum), because=Premise("E‖n_t‖ = σ_t·E‖z‖, z normal")),
            Step("<=", explicit(G * scaled * sqrt(d), late_sum), because=Premise("E‖z‖ ≤ √E‖z‖² = √d (Jensen)")),
            Step("<=", because=Cites("dwang20.theorem3.3.1.taylor")),
            Step("<=", Rational(51, 2) * STATEMENT, because=Slack(
                given={
                    INTEGRAL: (2 * G**2 / alpha + sqrt(192) * price) * (log(n) - late_sum),
                    POSITIVE: (Rational(51, 2) - sqrt(192)) * price * log(n),
                },
                seen=[3 * G * diameter / 2 * (17 * L**2 / alpha**2 - T1), Rational(47, 2) * G**2 * log(n) / alpha],
            )),
        )
    ],
)

# With probability 1-γ (the document's ζ): ‖z‖ ≤ √d + √(2 log(1/γ')) for each of n outputs, γ' = γ/n
likely_norm = quantity("likely_norm", "largest norm of n standard normal vectors", printed="max ‖z_t‖", holds=LIKELY)
likely_price = price * sqrt(log(n / gamma))
likely_terms = (2 * G**2 / alpha + 3 * sqrt(192) * likely_price) * log(n) + Rational(51, 2) * start_cost

explicit2 = Claim(
    id="dwang20.theorem3.3.2.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.2, (3.108), with constants", line=2129),
    says="Regret of OnPairStrC with probability 1-γ; γ is the document's ζ.",
    assumes=[*known, small, eps <= 1],
    states=Le(likely_regret, likely_terms),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            likely_regret,
            Step("<=", because=Cites("dwang20.lemma3.3.2", {regret: likely_regret})),
            Step("<=", because=Cites("dwang20.theorem3.3.2.giga")),
            Step("<=", explicit(G * scaled * likely_norm, late_sum), because=Premise("‖n_t‖ = σ_t‖z_t‖")),
            Step("<=", explicit(G * scaled * 3 * sqrt(d * log(n / gamma)), late_sum), because=Premise(
                "each ‖z_t‖ is at most √d + √(2 log(n/γ)) but for γ/n (concentration of a normal vector)")),
            Step("<=", because=Cites("dwang20.theorem3.3.1.taylor")),
            Step("<=", STATEMENT, because=Slack(
                given={INTEGRAL: (2 * G**2 / alpha + 3 * sqrt(192) * likely_price) * (log(n) - late_sum)},
                seen=[3 * G * diameter / 2 * (17 * L**2 / alpha**2 - T1)],
            ), uses=[T1 >= 7, n > T1]),
        )
    ],
)

theorem2 = Claim(
    id="dwang20.theorem3.3.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.2, (3.108)", line=2129),
    says="Regret of OnPairStrC with probability 1-γ; γ is the document's ζ.",
    assumes=[*known, small, eps <= 1],
    states=Rate(likely_regret, price * log(n / gamma) ** Rational(3, 2) + start_cost + G**2 * log(n) / alpha),
    checks=[
        Chain(
            likely_regret,
            Step("<=", because=Cites("dwang20.theorem3.3.2.explicit")),
            Step("<=", 3 * sqrt(192) * STATEMENT, because=Slack(
                given={GROWS: 3 * sqrt(192) * likely_price * (log(n / gamma) - log(n))},
                seen=[(3 * sqrt(192) - 2) * G**2 * log(n) / alpha, (3 * sqrt(192) - Rational(51, 2)) * start_cost],
            )),
        )
    ],
)

# The printed products of Theorems 3.3.3 to 3.3.5 stand for the sum of (3.108) where its first term, the noise, is most
noise_cost = price * log(n / gamma) ** Rational(3, 2)
noise_is_most = [G**2 * log(n) / alpha <= noise_cost, start_cost <= noise_cost]


NOISE = 2 + Rational(51, 2) + 3 * sqrt(192)


def noise_alone(share: Expr, where: Mapping[Symbol, Expr] | None = None) -> Slack:
    """The terms of (3.108), a share of each, against `NOISE` times the first."""

    def read(part: Expr) -> Expr:
        return (share * part).subs(where or {}, simultaneous=True)

    return Slack(
        given={GROWS: read(3 * sqrt(192) * likely_price * (log(n / gamma) - log(n)))},
        seen=[read(2 * (noise_cost - G**2 * log(n) / alpha)), read(Rational(51, 2) * (noise_cost - start_cost))],
    )


def per_record(terms: Expr) -> Slack:
    """Terms over n-1 give way to twice the terms over n."""
    return Slack(given={"1/(n-1) ≤ 2/n": terms * (2 / n - 1 / (n - 1))})
