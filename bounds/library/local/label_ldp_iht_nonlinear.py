"""Private labels f(⟨x, θ*⟩) + ξ with slopes of f from a to b (dwang20, section 5.3.5, Algorithm 5.3.45).

Solver: dpcheck/solvers/local/label_ldp_iht_nonlinear.py. The condition on Δ: hard_thresholding.py.
"""

from sympy import Le, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, n
from dpcheck.bounds.library.local.hard_thresholding import iht, noise_C, off_iht, slope_b
from dpcheck.bounds.library.local.label_ldp_iht import labels, private
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.proving.proofs import Quoted

released, printed, theorem11_any_label, corrected = labels(
    "5.3.11", 6702, 2 * (slope_b * sqrt(s_star) + noise_C), "f(⟨x, θ*⟩)",
    "all, f(±√s*) ± C with f(u) = bu, by θ* of s* entries 1/√s* and a row of their signs or of the opposite",
)

theorem11 = Claim(
    id="dwang20.theorem5.3.11", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.11", line=6704),
    says="The distance from θ* after T steps, but for a chance of Te^(-n) + 2T/p^c.",
    assumes=[*iht, eps <= 1],
    states=Le(
        off_iht, 2 ** (-T) * truth + c * slope_b * noise_C * log(1 / delta) * sqrt(s_star * log(d)) / (sqrt(n) * eps)
    ),
    hidden=(c,),
    guarantee=private,
    ignores_units=True,
    checks=[Quoted("from a proof that takes f'(⟨x, θ_t⟩) for independent of the labels that made θ_t")],
)
