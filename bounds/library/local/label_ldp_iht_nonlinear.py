"""Private labels f(⟨x, θ*⟩) + ξ with slopes of f from a to b (dwang20, section 5.3.5, Algorithm 5.3.45).

Solver: dpcheck/solvers/local/label_ldp_iht_nonlinear.py. The condition on Δ: hard_thresholding.py.
"""

from sympy import Integer, Le, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, eta, n
from dpcheck.bounds.library.local.hard_thresholding import iht, noise_C, off_iht, rip, slope_a, slope_b
from dpcheck.bounds.library.local.label_ldp_iht import USUAL, after_steps, labels, printed_noise, private
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.proving.proofs import NoConstant

x = Symbol("x", positive=True)

released, printed, any_label, corrected = labels(
    "5.3.11", 6702, 2 * (slope_b * sqrt(s_star) + noise_C), "f(⟨x, θ*⟩)",
    "all, f(±√s*) ± C with f(u) = bu, by θ* of s* entries 1/√s* and a row of their signs or of the opposite",
)

theorem11 = Claim(
    id="dwang20.theorem5.3.11", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.11", line=6704),
    says="The distance from θ* after T steps, but for a chance of Te^(-n) + 2T/p^c.",
    assumes=[*iht, eps <= 1, 14 * rip <= 9 * slope_a**2 - 5 * slope_b**2],
    states=Le(
        off_iht, 2 ** (-T) * truth + c * slope_b * noise_C * log(1 / delta) * sqrt(s_star * log(d)) / (sqrt(n) * eps)
    ),
    hidden=(c,),
    guarantee=private,
    ignores_units=True,
    checks=[
        NoConstant(
            printed_noise / (2 * slope_b * sqrt(n)),
            {slope_a: 1 / x, slope_b: 1 / x, rip: x**-3, eta: x**2, n: x**8, d: exp(x), T: x, noise_C: Integer(1),
             s_star: Integer(1), truth: sqrt(8 * log(5)) / x**3, eps: Integer(1), delta: Integer(1) / 4},
            x,
            "f(u) = bu, ξ = 0 and θ* = ±e₁τ/(2b√n): whatever is made of the noisy labels takes the wrong sign with "
            "probability 0.3. The error falls as b grows, as in Theorem 5.3.10",
            at=100,
        )
    ],
)

theorem11_corrected = Claim(
    id="dwang20.theorem5.3.11.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.11", line=6704),
    says="With C/b for bC, as a step size is of order 1/b², and with √T, where the labels of a step are not those that "
    "made θ_t; but for a chance of 2T/p.",
    assumes=[*iht, eps <= 1],
    added=[*USUAL, Setting("each step takes the labels of n/T users of its own")],
    states=Le(
        off_iht,
        2 ** (-T) * truth + c * noise_C / slope_b * log(1 / delta) * sqrt(s_star * T * log(d)) / (sqrt(n) * eps),
    ),
    hidden=(c,),
    guarantee=private,
    corrects="dwang20.theorem5.3.11",
    ignores_units=True,
    checks=[after_steps(slope_b, n / T, {}, printed, 450)],
)
