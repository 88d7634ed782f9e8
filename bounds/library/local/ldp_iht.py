"""LDP-IHT (dwang20, section 5.3.3, Algorithm 5.3.41): users report gradients, whole records private.

Block t of n/T users sends points of half spheres, the server takes a step of iterative hard thresholding. Solver:
dpcheck/solvers/local/ldp_iht.py; the randomiser: ldp_l2_randomizer.py; with a link: ldp_iht_nonlinear.py.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import T, c, d, eps, eta, n, quantity, ratio, sigma
from dpcheck.bounds.library.local.hard_thresholding import linear, linear_iht, noise_C, off_iht, reach, rip
from dpcheck.bounds.library.local.ldp_l2_randomizer import proxy, r
from dpcheck.bounds.library.local.ldp_l2_randomizer import released as one_report
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Interaction
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant

gradient = quantity("gradient", "norm of a user's gradient", printed="‖∇_i‖", latex=r"\|\nabla_i\|")
inner_now = quantity("inner_now", "|<x, theta_t>|", printed="|⟨x,θ_t⟩|")
inner_true = quantity("inner_true", "|<x, theta*>|", printed="|⟨x,θ°⟩|")
u, v, x = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True), Symbol("x", positive=True)
private = PureDP(eps, relation=LOCAL)

# Privacy -------------------------------------------------------------------------------------------
# Each user answers once, knowing the reports of earlier blocks; gradients of norm up to r are 2r apart.
released = Release(
    one_report.sensitivity, one_report.law, steps=T, relation=LOCAL, interaction=Interaction.SEQUENTIAL
)


short = Setting("the gradients of users have norm at most r")


def privacy_of(theorem: str, line: int) -> Claim:
    """The first sentence of Theorems 5.3.5 and 5.3.9."""
    return Claim(
        id=f"dwang20.theorem{theorem}.privacy", kind=Kind.PRIVACY,
        source=Source("dwang20", f"Theorem {theorem}, its first sentence, with the randomizer (5.75)", line=line),
        says="Each user reports once, on her gradient's own side with probability e^ε/(1+e^ε) at norm r: ε-private "
        "for any ε > 0.",
        assumes=[short],
        states=Eq(sigma, r * (exp(eps) + 1) / (exp(eps) - 1)),
        guarantee=private,
        checks=[Accountant(released, "opposite gradients of norm r", uses=[short])],
    )


theorem5_privacy = privacy_of("5.3.5", 6496)

# Gradients -----------------------------------------------------------------------------------------
users = Setting("x in {±1}^d, θ* and θ_t in the unit ball with s* and 8s* nonzeros, |y - ⟨x, θ*⟩| ≤ C")

norm = Claim(
    id="dwang20.theorem5.3.5.gradient", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 5.3.41, line 3, and the proof of Theorem 5.3.9", line=6481),
    says="Gradients have norm r = O(C√p), as |⟨x, θ⟩| ≤ ‖x‖∞‖θ‖₂ ≤ 1.",
    assumes=[users, s_star <= d],
    states=Rate(gradient, noise_C * sqrt(d)),
    ignores_units=True,
    checks=[
        NoConstant(
            sqrt(d) * (sqrt(s_star) + noise_C), {s_star: x, d: x**2, noise_C: 1}, x,
            "θ_t = 0, θ* of s* entries 1/√s*, x of ones and ξ = C: ⟨x, θ*⟩ = √s*, which C = 1 does not bound",
        )
    ],
)

norm_corrected = Claim(
    id="dwang20.theorem5.3.5.gradient.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 5.3.41, line 3, and the proof of Theorem 5.3.9", line=6481),
    says="They have norm at most √p·((1+√8)√s* + C), as |⟨x, θ⟩| ≤ ‖θ‖₁; disjoint supports attain it.",
    assumes=[users],
    states=Le(gradient, sqrt(d) * ((1 + sqrt(8)) * sqrt(s_star) + noise_C)),
    corrects="dwang20.theorem5.3.5.gradient",
    ignores_units=True,
    checks=[
        Chain(
            gradient,
            Step("<=", sqrt(d) * (inner_now + inner_true + noise_C),
                 because=Premise("∇_i = x(⟨x, θ_t⟩ - ⟨x, θ*⟩ - ξ), and ‖x‖₂ = √p"), uses=[users]),
            Step("<=", STATEMENT, because=Slack(given={
                "|⟨x, θ_t⟩| ≤ ‖θ_t‖₁ ≤ √(8s*)‖θ_t‖₂": sqrt(d) * (sqrt(8 * s_star) - inner_now),
                "|⟨x, θ*⟩| ≤ ‖θ*‖₁ ≤ √s*‖θ*‖₂": sqrt(d) * (sqrt(s_star) - inner_true),
            })),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
rate = sqrt(d * log(d) * T * s_star) / (sqrt(n) * eps)
tail = sqrt(6 * log(d) * T / n)
blocks = Setting("blocks of n/T users, E[ξ | x] = 0, reports of the length that makes them unbiased")
usual = [eps <= 1, d >= 2, blocks]
LARGEST = Premise(
    "in a block of n/T users, whom θ_t does not depend on, coordinates of the mean f'ξx and of the reports' deviations "
    "are sub-Gaussian with b²C²T/n and σ²(R)T/n: all are below √(6·log d) of their deviations in every step, but for a "
    "chance of T·4/d² ≤ 2T/d"
)
RADIUS = "r is the bound on gradients"


def explicit(
    radius: Expr, slope: Expr, where: dict[Symbol, Expr], *records: Setting, constant: int | None = None
) -> Chain:
    """T steps, of which each halves the distance up to its noise, with the largest step size, 9/(7b²)."""
    noise = slope * noise_C + sqrt(proxy)
    after = 2 ** (-T) * truth + Rational(9, 2) / slope**2 * reach * tail * noise
    return Chain(
        off_iht,
        Step("<=", because=Cites("dwang20.theorem5.3.9.steps", where)),
        Step("<=", 2 ** (-T) * truth + Rational(7, 2) * eta * reach * tail * noise, because=LARGEST,
             uses=[*records, blocks, private]),
        Step("<=", after, where={eta: Rational(9, 7) / (slope**2 * (1 + rip) * (1 + v))}),
        Step("<=", because=Cites("dwang20.lemma5.3.1.explicit", {r: radius}, granted=RADIUS)),
        Step("<=", STATEMENT, where={eps: 1 / (1 + v), d: (sqrt(2) + u) ** 2}),
        choosing=None if constant is None else {c: constant},
    )


theorem5_corrected = Claim(
    id="dwang20.theorem5.3.5.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.5, equation (5.76)", line=6500),
    says="With √s*+C for C and r = √p·((1+√8)√s*+C), for ε at most 1, but for a chance of 2T/p.",
    assumes=[*linear_iht, users, *usual],
    states=Le(off_iht, 2 ** (-T) * truth + 4000 * (sqrt(s_star) + noise_C) * rate),
    guarantee=private,
    corrects="dwang20.theorem5.3.5",
    ignores_units=True,
    checks=[explicit(norm_corrected.formula, Rational(1), linear, users)],
)

WITHIN = 5  # (1+√8)√s* + C is at most 5C if s* ≤ C²
within = Setting("gradients have norm r = 5C√p at most, where line 3 has O(C√p)")

theorem5 = Claim(
    id="dwang20.theorem5.3.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.5, equation (5.76)", line=6500),
    says="The distance from θ* after T steps with r = O(C√p), but for a chance of 2T/p^c, where that r bounds "
    "gradients: it does if √s* is at most of the order of C.",
    assumes=[*linear_iht, users],
    added=[*usual, within],
    states=Le(off_iht, 2 ** (-T) * truth + c * noise_C * rate),
    hidden=(c,),
    guarantee=private,
    ignores_units=True,
    checks=[explicit(WITHIN * noise_C * sqrt(d), Rational(1), linear, users, within, constant=4000)],
)

optimality = Claim(
    id="dwang20.section5.3.3.optimality", kind=Kind.UTILITY,
    source=Source("dwang20", "section 5.3.3, after Theorem 5.3.5", line=6504),
    says="For s* = 1 the error's bound, the root of O(p·log p·log n/(nε²)), is that of Theorem 5.3.2 up to √log p; of "
    "the squares, as they stand there, the quotient is log p·log n.",
    assumes=[d >= 2],
    states=Rate(ratio, sqrt(log(d))),
    misprint_of="dwang20.section5.3.3.optimality.corrected",
    checks=[
        NoConstant(
            sqrt(d * log(d) * log(n) / (n * eps**2) / (d / (n * eps**2))), {d: 2, n: exp(x), eps: 1}, x,
            "the root of the two bounds' quotient, as printed: √(log p·log n)", at=100,
        )
    ],
)

optimality_corrected = Claim(
    id="dwang20.section5.3.3.optimality.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.76) at T = log n and s* = 1, over the root of (5.72)", line=6500),
    says="It is √(log p·log n): the log n of the bound is lost in the remark.",
    assumes=[d >= 2],
    states=Eq(ratio, sqrt(log(d) * log(n))),
    corrects="dwang20.section5.3.3.optimality",
    checks=[Equals(sqrt(d * log(d) * log(n) / (n * eps**2) / (d / (n * eps**2))), "the root of the quotient")],
)

printed, corrected = [theorem5_privacy], [theorem5_privacy, norm_corrected]  # for the solvers
