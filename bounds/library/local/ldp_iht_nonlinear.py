"""Private records with labels f(⟨x, θ*⟩) + ξ, slopes of f from a to b (dwang20, section 5.3.5, Algorithm 5.3.44).

Solver: dpcheck/solvers/local/ldp_iht_nonlinear.py. The condition on Δ: hard_thresholding.py.
"""

from sympy import Le, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, c, d
from dpcheck.bounds.library.local.hard_thresholding import iht, noise_C, off_iht, slope_a, slope_b
from dpcheck.bounds.library.local.ldp_iht import (
    WITHIN,
    explicit,
    gradient,
    inner_now,
    inner_true,
    privacy_of,
    private,
    rate,
    released,
    usual,
    x,
)
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

__all__ = ["released"]  # what is let out is what it is without a link

users = Setting(
    "x in {±1}^d, θ* and θ_t in the unit ball with s* and 8s* nonzeros, |y - f(⟨x, θ*⟩)| ≤ C, a ≤ f' ≤ b"
)

theorem9_privacy = privacy_of("5.3.9", 6634)

norm = Claim(
    id="dwang20.theorem5.3.9.gradient", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, its first display, and Algorithm 5.3.44, line 3", line=7103),
    says="Gradients have norm r = O(bC√p).",
    assumes=[users, s_star <= d],
    states=Rate(gradient, slope_b * noise_C * sqrt(d)),
    ignores_units=True,
    checks=[
        NoConstant(
            slope_b * sqrt(d) * (slope_b * sqrt(s_star) + noise_C),
            {s_star: x, d: x**2, noise_C: 1, slope_a: 1, slope_b: 1}, x,
            "f(u) = u, θ_t = 0, θ* of s* entries 1/√s*, x of ones and ξ = C: ⟨x, θ*⟩ = √s*, which C = 1 does not bound",
        )
    ],
)

norm_corrected = Claim(
    id="dwang20.theorem5.3.9.gradient.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, its first display", line=7103),
    says="They have norm at most b√p·(b(1+√8)√s* + C).",
    assumes=[users],
    states=Le(gradient, slope_b * sqrt(d) * (slope_b * (1 + sqrt(8)) * sqrt(s_star) + noise_C)),
    corrects="dwang20.theorem5.3.9.gradient",
    ignores_units=True,
    checks=[
        Chain(
            gradient,
            Step("<=", slope_b * sqrt(d) * (slope_b * (inner_now + inner_true) + noise_C),
                 because=Premise("∇_i = x·f'·(f(⟨x, θ_t⟩) - f(⟨x, θ*⟩) - ξ), f' ≤ b and ‖x‖₂ = √p"),
                 uses=[users]),
            Step("<=", STATEMENT, because=Slack(given={
                "|⟨x, θ_t⟩| ≤ ‖θ_t‖₁ ≤ √(8s*)‖θ_t‖₂": slope_b**2 * sqrt(d) * (sqrt(8 * s_star) - inner_now),
                "|⟨x, θ*⟩| ≤ ‖θ*‖₁ ≤ √s*‖θ*‖₂": slope_b**2 * sqrt(d) * (sqrt(s_star) - inner_true),
            })),
        )
    ],
)

theorem9_corrected = Claim(
    id="dwang20.theorem5.3.9.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.9, equation (5.82)", line=6657),
    says="With √s* + C/b, and r = b√p·(b(1+√8)√s*+C), for ε at most 1, but for a chance of 2T/p.",
    assumes=[*iht, users, *usual],
    states=Le(off_iht, 2 ** (-T) * truth + 4000 * (sqrt(s_star) + noise_C / slope_b) * rate),
    guarantee=private,
    corrects="dwang20.theorem5.3.9",
    ignores_units=True,
    checks=[explicit(norm_corrected.formula, slope_b, {}, users)],
)

within = Setting("gradients have norm r = 5bC√p at most, where line 3 has O(bC√p)")

theorem9 = Claim(
    id="dwang20.theorem5.3.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.9, equation (5.82), of which C and b are left out", line=6657),
    says="The distance from θ* after T steps, but for a chance of 2T/p^c; with C(1+1/b), counted as a constant, and "
    "where r = O(bC√p) bounds gradients: it does if √s* is at most of the order of C/b.",
    assumes=[*iht, users],
    added=[*usual, within],
    states=Le(off_iht, 2 ** (-T) * truth + c * noise_C * (1 + 1 / slope_b) * rate),
    hidden=(c,),
    guarantee=private,
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[explicit(WITHIN * slope_b * noise_C * sqrt(d), slope_b, {}, users, within, constant=4000)],
)

printed, corrected = [theorem9_privacy], [theorem9_privacy, norm_corrected]  # for the solvers
