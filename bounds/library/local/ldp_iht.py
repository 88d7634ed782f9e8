"""LDP-IHT (dwang20, section 5.3.3, Algorithm 5.3.41): users report gradients, whole records private.

Block t of n/T users sends points of half spheres, the server takes a step of iterative hard thresholding. Solver:
dpcheck/solvers/local/ldp_iht.py; the randomiser: ldp_l2_randomizer.py.
"""

from sympy import Eq, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import T, c, d, eps, eta, n, quantity
from dpcheck.bounds.library.local.hard_thresholding import linear, linear_iht, noise_C, off_iht, reach, rip
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import HalfSphere, Interaction
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

radius = quantity("gradient_r", "bound on the norm of a user's gradient", printed="r", latex="r")
sphere = quantity("sphere", "scale of a report on a half sphere", printed="σ", latex=r"\sigma")
gradient = quantity("gradient", "norm of a user's gradient", printed="‖∇_i‖", latex=r"\|\nabla_i\|")
inner_now = quantity("inner_now", "|<x, theta_t>|", printed="|⟨x,θ_t⟩|")
inner_true = quantity("inner_true", "|<x, theta*>|", printed="|⟨x,θ°⟩|")
u, v, x = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True), Symbol("x", positive=True)

# Privacy -------------------------------------------------------------------------------------------
# Each user answers once, knowing the reports of earlier blocks; gradients of norm up to r are 2r apart.
released = Release(
    2 * radius, HalfSphere(sphere, d), steps=T, relation=LOCAL, interaction=Interaction.SEQUENTIAL
)

theorem5_privacy = Claim(
    id="dwang20.theorem5.3.5.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.3.5, with the randomizer (5.75)", line=6496),
    says="Each user reports once, on her gradient's own side with probability e^ε/(1+e^ε) at norm r: ε-private "
    "for any ε > 0.",
    assumes=[Setting("the gradients of users have norm at most r")],
    states=Eq(sphere, radius * (exp(eps) + 1) / (exp(eps) - 1)),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[Accountant(released, "opposite gradients of norm r")],
)

# Gradients -----------------------------------------------------------------------------------------
sparse = [Setting("x in {±1}^d, θ* and θ_t in the unit ball with s* and 8s* nonzeros, |y - ⟨x, θ*⟩| ≤ C")]

norm = Claim(
    id="dwang20.theorem5.3.5.gradient", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 5.3.41, line 3, and the proof of Theorem 5.3.9", line=6482),
    says="Gradients have norm r = O(C√p), as |⟨x, θ⟩| ≤ ‖x‖∞‖θ‖₂ ≤ 1.",
    assumes=[*sparse, s_star <= d],
    states=Rate(gradient, noise_C * sqrt(d)),
    ignores_units=True,
    checks=[
        NoConstant(
            sqrt(d) * (sqrt(s_star) + noise_C), {s_star: x, d: x, noise_C: 1}, x,
            "θ_t = 0, θ* of s* entries 1/√s* and x of ones: ⟨x, θ*⟩ = √s*",
        )
    ],
)

norm_corrected = Claim(
    id="dwang20.theorem5.3.5.gradient.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 5.3.41, line 3, and the proof of Theorem 5.3.9", line=6482),
    says="They have norm at most √p·((1+√8)√s* + C), as |⟨x, θ⟩| ≤ ‖θ‖₁; disjoint supports attain it.",
    assumes=sparse,
    states=Le(gradient, sqrt(d) * ((1 + sqrt(8)) * sqrt(s_star) + noise_C)),
    corrects="dwang20.theorem5.3.5.gradient",
    ignores_units=True,
    checks=[
        Chain(
            gradient,
            Step("<=", sqrt(d) * (inner_now + inner_true + noise_C),
                 because=Premise("∇_i = x(⟨x, θ_t⟩ - ⟨x, θ*⟩ - ξ), and ‖x‖₂ = √p")),
            Step("<=", STATEMENT, because=Slack(given={
                "|⟨x, θ_t⟩| ≤ ‖θ_t‖₁ ≤ √(8s*)‖θ_t‖₂": sqrt(d) * (sqrt(8 * s_star) - inner_now),
                "|⟨x, θ*⟩| ≤ ‖θ*‖₁ ≤ √s*‖θ*‖₂": sqrt(d) * (sqrt(s_star) - inner_true),
            })),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
rate = sqrt(d * log(d) * T * s_star) / (sqrt(n) * eps)

theorem5 = Claim(
    id="dwang20.theorem5.3.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.5, equation (5.76)", line=6501),
    says="The distance from θ* after T steps with r = O(C√p), but for a chance of 2T/p^c.",
    assumes=[*linear_iht, d >= 2],
    states=Rate(off_iht, 2 ** (-T) * truth + noise_C * rate),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[
        NoConstant(
            truth / 2,
            {noise_C: x**-3, d: x, n: x**2, T: log(x) / log(2), s_star: 1, truth: 1, eps: 1, eta: 1,
             rip: 1 / sqrt(x)}, x,
            "C = 1/p³: reports have norm O(r√p) = O(Cp), so that T = log p steps end within O(TCp) < 1/2 of θ₀ = 0",
            at=2**20,
        )
    ],
)

tail = sqrt(6 * log(d) * T / n)
spread = sqrt(103) * radius / eps
LARGEST = Premise(
    "in a block of n/T users coordinates of the labels' and the reports' deviations are sub-Gaussian with C²T/n "
    "and 103r²T/"
    "(nε²): all are below √(6·log d) of it in every step but for T·4/d² ≤ 2T/d (a report's: density at most 2 on its "
    "sphere, whose radius is at most r·coth(ε/2)√(πd/2), and coth(ε/2) ≤ 2.164/ε for ε ≤ 1)"
)

theorem5_corrected = Claim(
    id="dwang20.theorem5.3.5.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.5, equation (5.76)", line=6501),
    says="With √s*+C for C and r = √p·((1+√8)√s*+C), for ε at most 1, but for a chance of 2T/p.",
    assumes=[*linear_iht, *sparse, eps <= 1, d >= 2, Setting("E[ξ | x] = 0; blocks of n/T users, reports with "
    "the radius "
                                                            "that makes them unbiased")],
    states=Le(off_iht, 2 ** (-T) * truth + c * (sqrt(s_star) + noise_C) * rate),
    hidden=(c,),
    guarantee=PureDP(eps, relation=LOCAL),
    corrects="dwang20.theorem5.3.5",
    ignores_units=True,
    checks=[
        Chain(
            off_iht,
            Step("<=", because=Cites("dwang20.theorem5.3.9.steps", linear)),
            Step("<=", 2 ** (-T) * truth + Rational(7, 2) * eta * reach * tail * (noise_C + spread), because=LARGEST),
            Step("<=", 2 ** (-T) * truth + Rational(9, 2) * reach * tail * (noise_C + spread),
                 where={eta: Rational(9, 7) / ((1 + rip) * (1 + v))}),
            Step("=", 2 ** (-T) * truth
                 + Rational(9, 2) * reach * tail * (noise_C + spread.subs(radius, norm_corrected.formula)),
                 because=Premise("r of dwang20.theorem5.3.5.gradient.corrected")),
            Step("<=", STATEMENT, where={eps: 1 / (1 + v), d: (sqrt(2) + u) ** 2}),
            choosing={c: 2000},
        )
    ],
)

printed, corrected = [theorem5_privacy], [theorem5_privacy, norm_corrected]  # for the solvers
