"""Private regression with a known link and public data (dwang20, sections 5.2.4 and 5.2.5, Algorithm 5.2.40).

What it shares with GLMs stands in scaled_least_squares.py. Solver: dpcheck/solvers/local/nldp_nlr_public.py.
"""

from sympy import Eq, Le, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, ratio
from dpcheck.bounds.library.local.nldp_glm_public import error2
from dpcheck.bounds.library.local.scaled_least_squares import (
    ATTAINED,
    WELL_SPREAD,
    bias,
    corrected_error,
    lemma2,
    m_public,
    noise_unit,
    printed_error,
    released,
    scaling_bias,
    unit_deviation,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Step

of_model = Setting("‖x‖₁ ≤ r, and every record is one of the model: |y| ≤ Lr+|f(0)|+C")

algorithm40 = Claim(
    id="dwang20.algorithm5.2.40", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 5.2.40, line 2, and Proofs of LDP", line=5987),
    says="Noise of variance 32 r²(Lr+|f(0)|+C)² log(2.5/δ)/ε² on x y, and that of GLMs on x xᵀ, is (ε, δ)-private.",
    assumes=[eps < 1, of_model],
    states=Eq(noise_unit, unit_deviation),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    checks=[
        Accountant(
            released,
            "two users with ‖x‖₂ ≤ r, which ‖x‖₁ ≤ r implies: 60 degrees apart, largest labels",
            uses=[of_model],
        )
    ],
)

LINK_FOR_CURVATURE = Setting("Φ'' is f', as E[xy] = E[xf(<x,w*>)]")

theorem4 = Claim(
    id="dwang20.theorem5.2.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.4", line=5782),
    says="For y = f(<x, w*>) + noise and bounded features that are spread well, w_ols is w*/c_f up to O(‖w*‖²_∞/√p).",
    assumes=[*WELL_SPREAD, LINK_FOR_CURVATURE],
    added=lemma2.added,
    states=Rate(bias, scaling_bias),
    ignores_units=True,
    checks=[Chain(bias, Step("<=", because=Cites(lemma2.id), uses=[LINK_FOR_CURVATURE]), Step("<=", 16 * STATEMENT))],
)

theorem5 = printed_error(
    "dwang20.theorem5.2.5", "Theorem 5.2.5, (5.25) to (5.27)", 5815,
    "The error of Algorithm 5.2.40 for bounded f', with probability 1 - exp(-Ω(p)) - ξ.",
    3 * ATTAINED, "f = 1/(1+e⁻ᵗ): f' ≤ 1/4 makes ĉ ≥ 4, and noise of 3/4·σ_u or more on x y stays as w* goes to 0",
)
theorem5_corrected = corrected_error(
    "dwang20.theorem5.2.5.corrected", "Theorem 5.2.5, (5.25) to (5.27)", 5815, theorem5.id,
    sqrt(d / m_public), "Lemma 5.2.8",
)

figure2 = Claim(
    id="dwang20.figure5.2", kind=Kind.EXPERIMENT,
    source=Source("dwang20", "Figure 5.2a and its reading, on the cubic link", line=5838),
    says="The squared relative error, averaged over 1000 runs, is inversely proportional to n, and to ε².",
    assumes=[Setting("features ±1/p, p = 10, w* = (1, ..., 1)/√p, δ = 1/n, m = n, label noise of at most 0.001")],
    states=Rate(error2, 1 / (n * eps**2)),
)
figure2_dimension = Claim(
    id="dwang20.figure5.2.dimension", kind=Kind.EXPERIMENT,
    source=Source("dwang20", "Figure 5.2b and its reading, on the cubic link", line=5840),
    says="The relative error, averaged over 1000 runs, increases with the dimension, p = 5, 10, 12, 15, at ε = 10.",
    assumes=[Setting("features ±1/p, w* = (1, ..., 1)/√p, δ = 1/n, m = n, label noise of at most 0.001")],
    states=Le(ratio, 1),
)
