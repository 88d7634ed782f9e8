"""Non-linear regression with public unlabelled data (dwang20, section 5.2.4, Algorithm 5.2.40).

As nldp_glm_public, for y = f(⟨x, w*⟩) + noise, |y| ≤ Lr + |f(0)| + C. Solver: dpcheck/solvers/local/nldp_nlr_public.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, sigma
from dpcheck.bounds.library.local.nldp_glm_public import (
    bias_inf,
    bound,
    bounded_rows,
    design,
    gap_inf,
    lip2,
    ratio2,
    ratio_inf,
    row,
    spread,
    w_inf,
)
from dpcheck.bounds.library.local.nldp_glm_public import released as glm_released
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Quoted

released = glm_released  # xxᵀ and r·xy/(Lr+|f(0)|+C): labels in units of their bound

algorithm40_privacy = Claim(
    id="dwang20.algorithm5.2.40", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 5.2.40, line 2", line=5802),
    says="Noise √(32 log(2.5/δ))·r²/ε on xxᵀ, and (Lr+|f(0)|+C)/r times that on xy, is (ε, δ)-private.",
    assumes=[eps <= 1, Setting("every record obeys |y| ≤ Lr+|f(0)|+C, or is clipped to it")],
    states=Eq(sigma, sqrt(32 * log(Rational(5, 2) / delta)) * row**2 / eps),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    ignores_units=True,
    checks=[Accountant(released, "x = (a, b), x' = (b, a) with ⟨x,x'⟩ = r²/2 and y' = -y")],
)

theorem4 = Claim(
    id="dwang20.theorem5.2.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.4", line=5784),
    says="Least squares points almost along w*, also for non-linear regression.",
    assumes=bounded_rows,
    states=Rate(bias_inf, lip2 * row * spread**3 * sqrt(ratio2) * ratio_inf * w_inf**2 / sqrt(d)),
    ignores_units=True,
    checks=[Quoted("through zero-bias transformations, whose lemmas no check here derives")],
)

theorem5 = Claim(
    id="dwang20.theorem5.2.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.5, (5.27)", line=5826),
    says="Largest error of a coordinate; c_Φ is c_f here.",
    assumes=[*design, Setting("n and m as in (5.25) and (5.26)")],
    states=Rate(gap_inf, bound(w_inf)),
    ignores_units=True,
    checks=[Quoted("from Theorem 5.2.2, whose bound vanishes with w* although the noise does not")],
    cites=[Cites("dwang20.theorem5.2.2"), Cites("dwang20.theorem5.2.4")],
)
