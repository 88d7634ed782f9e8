"""Private records with labels f(⟨x, θ*⟩) + ξ, slopes of f from a to b (dwang20, section 5.3.5, Algorithm 5.3.44).

Solver: dpcheck/solvers/local/ldp_iht_nonlinear.py. The condition on Δ: hard_thresholding.py.
"""

from sympy import Eq, Le, Rational, exp, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import T, c, d, eps, eta
from dpcheck.bounds.library.local.hard_thresholding import iht, noise_C, off_iht, reach, rip, slope_a, slope_b
from dpcheck.bounds.library.local.ldp_iht import (
    gradient,
    inner_now,
    inner_true,
    radius,
    rate,
    released,
    sphere,
    spread,
    tail,
    u,
    v,
    x,
)
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

private = PureDP(eps, relation=LOCAL)

theorem9_privacy = Claim(
    id="dwang20.theorem5.3.9.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.3.9, with the randomizer (5.75)", line=6634),
    says="Each user reports once, on her gradient's own side with probability e^ε/(1+e^ε) at norm r: ε-private "
    "for any ε > 0.",
    assumes=[Setting("the gradients of users have norm at most r")],
    states=Eq(sphere, radius * (exp(eps) + 1) / (exp(eps) - 1)),
    guarantee=private,
    ignores_units=True,
    checks=[Accountant(released, "opposite gradients of norm r")],
)

sloped = [
    slope_a <= slope_b,
    Setting("x in {±1}^d, θ* and θ_t in the unit ball with s* and 8s* nonzeros, |y - f(⟨x, θ*⟩)| ≤ C, a ≤ f' ≤ b"),
]

norm = Claim(
    id="dwang20.theorem5.3.9.gradient", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, its first display", line=7103),
    says="Gradients have norm r = O(bC√p).",
    assumes=[*sloped, s_star <= d],
    states=Rate(gradient, slope_b * noise_C * sqrt(d)),
    ignores_units=True,
    checks=[
        NoConstant(
            slope_b * sqrt(d) * (slope_b * sqrt(s_star) + noise_C),
            {s_star: x, d: x, noise_C: 1, slope_a: 1, slope_b: 1}, x,
            "f(u) = u, θ_t = 0, θ* of s* entries 1/√s* and x of ones: ⟨x, θ*⟩ = √s*",
        )
    ],
)

norm_corrected = Claim(
    id="dwang20.theorem5.3.9.gradient.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, its first display", line=7103),
    says="They have norm at most b√p·(b(1+√8)√s* + C).",
    assumes=sloped,
    states=Le(gradient, slope_b * sqrt(d) * (slope_b * (1 + sqrt(8)) * sqrt(s_star) + noise_C)),
    corrects="dwang20.theorem5.3.9.gradient",
    ignores_units=True,
    checks=[
        Chain(
            gradient,
            Step("<=", slope_b * sqrt(d) * (slope_b * (inner_now + inner_true) + noise_C),
                 because=Premise("∇_i = x·f'·(f(⟨x, θ_t⟩) - f(⟨x, θ*⟩) - ξ), f' ≤ b and ‖x‖₂ = √p")),
            Step("<=", STATEMENT, because=Slack(given={
                "|⟨x, θ_t⟩| ≤ ‖θ_t‖₁ ≤ √(8s*)‖θ_t‖₂": slope_b**2 * sqrt(d) * (sqrt(8 * s_star) - inner_now),
                "|⟨x, θ*⟩| ≤ ‖θ*‖₁ ≤ √s*‖θ*‖₂": slope_b**2 * sqrt(d) * (sqrt(s_star) - inner_true),
            })),
        )
    ],
)

theorem9 = Claim(
    id="dwang20.theorem5.3.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.9, equation (5.82)", line=6658),
    says="The distance from θ* after T steps, but for a chance of 2T/p^c; b and C are left out.",
    assumes=[*iht, d >= 2],
    states=Rate(off_iht, 2 ** (-T) * truth + rate),
    guarantee=private,
    ignores_units=True,
    checks=[Quoted("from a proof whose bound on gradients is false (dwang20.theorem5.3.9.gradient)")],
)

after = Rational(9, 2) / slope_b**2 * reach * tail * (slope_b * noise_C + spread)
theorem9_explicit = Claim(
    id="dwang20.theorem5.3.9.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.9, equation (5.82)", line=6658),
    says="With √s* + C/b, and r = b√p·(b(1+√8)√s*+C), for ε at most 1, but for a chance of 2T/p.",
    assumes=[*iht, *sloped, eps <= 1, d >= 2, Setting("E[ξ | x] = 0; blocks of n/T users, unbiased reports")],
    states=Le(off_iht, 2 ** (-T) * truth + c * (sqrt(s_star) + noise_C / slope_b) * rate),
    hidden=(c,),
    guarantee=private,
    corrects="dwang20.theorem5.3.9",
    ignores_units=True,
    checks=[
        Chain(
            off_iht,
            Step("<=", because=Cites("dwang20.theorem5.3.9.steps")),
            Step("<=", 2 ** (-T) * truth + Rational(7, 2) * eta * reach * tail * (slope_b * noise_C + spread),
                 because=Premise("as for dwang20.theorem5.3.5.corrected; labels' deviations are weighted by f' ≤ "
                 "b, and a block "
                                 "is new to the θ_t that it is asked about")),
            Step("<=", 2 ** (-T) * truth + after, where={eta: Rational(9, 7) / (slope_b**2 * (1 + rip) * (1 + v))}),
            Step("=", 2 ** (-T) * truth + after.subs(radius, norm_corrected.formula),
                 because=Premise("r of dwang20.theorem5.3.9.gradient.corrected")),
            Step("<=", STATEMENT, where={eps: 1 / (1 + v), d: (sqrt(2) + u) ** 2}),
            choosing={c: 2000},
        )
    ],
)
printed, corrected = [theorem9_privacy], [theorem9_privacy, norm_corrected]  # for the solvers
