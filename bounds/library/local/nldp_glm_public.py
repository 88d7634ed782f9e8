"""Private GLM regression with public unlabelled data (dwang20, section 5.2.3, Algorithm 5.2.39; experiments in 5.2.5).

What it shares with known links stands in scaled_least_squares.py. Solver: dpcheck/solvers/local/nldp_glm_public.py.
"""

from sympy import Eq, Ge, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import c1, c2, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.local.scaled_least_squares import (
    ATTAINED,
    SCALABLE,
    conditions,
    corrected_error,
    cov,
    error_inf,
    inverse_c,
    lam_denominator,
    m_public,
    needed,
    noise_unit,
    printed_error,
    released,
    rho2,
    rho_inf,
    stays,
    unit_deviation,
    w_factor,
    w_inf,
    z,
)
from dpcheck.bounds.privacy.accountant import Accountant

mean_norm = quantity("mean_norm", "E ‖x‖₂ over √p", printed="μ̃", latex=r"\tilde\mu")
error2 = quantity("relative_error2", "squared error over ‖w*‖²_∞", printed="error²", latex=r"\mathrm{error}^2")

# Privacy ---------------------------------------------------------------------------------------------
in_domain = Setting("‖x‖₁ ≤ r, |y| ≤ 1")

theorem1 = Claim(
    id="dwang20.theorem5.2.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.2.1, Algorithm 5.2.39, lines 2 and 3", line=5722),
    says="Noise of variance 32 r⁴ log(2.5/δ)/ε² on x xᵀ and 32 r² log(2.5/δ)/ε² on x y is (ε, δ)-private, ε below 1.",
    assumes=[eps < 1, in_domain],
    states=Eq(noise_unit, unit_deviation),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    checks=[
        Accountant(
            released,
            "two users with ‖x‖₂ ≤ r, which ‖x‖₁ ≤ r implies: 60 degrees apart, opposite labels",
            uses=[in_domain],
        )
    ],
)

# Utility ---------------------------------------------------------------------------------------------
STAYS = "logistic losses: Φ'' ≤ 1/4 makes ĉ ≥ 4, and the noise on x y stays as w* goes to 0 (the 1 of (5.28) is lost)"
theorem2 = printed_error(
    "dwang20.theorem5.2.2", "Theorem 5.2.2, (5.18) to (5.20)", 5726,
    "The error of Algorithm 5.2.39 for bounded Φ'', with probability 1 - exp(-Ω(p)) - ξ.",
    4 * ATTAINED, STAYS,
)
theorem2_corrected = corrected_error(
    "dwang20.theorem5.2.2.corrected", "Theorem 5.2.2, (5.18) to (5.20)", 5726, theorem2.id,
    sqrt(d / m_public), "Lemma 5.2.8",
)

theorem3 = Claim(
    id="dwang20.theorem5.2.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.3, (5.21) to (5.23)", line=5746),
    says="The same where Φ''(<x, w>) is sub-Gaussian near w_ols, with ε²n public records or more.",
    assumes=[
        *SCALABLE,
        Ge(m_public, c2 * eps**2 * n / mean_norm**2),
        Ge(n, c1 * needed * log(d**2 / gamma)),
    ],
    states=Rate(
        error_inf,
        conditions * sqrt(cov) * d * w_inf * (1 + w_inf**3) * inverse_c**2
        * sqrt(log(1 / delta) * log(d**2 / gamma)) / (eps * sqrt(n)) * lam_denominator
        + conditions * w_factor / sqrt(d) * inverse_c
        + sqrt(rho2) * rho_inf * w_inf * (1 + w_inf) / mean_norm * sqrt(d**2 * log(m_public) / m_public) * inverse_c,
    ),
    hidden=[c1, c2],
    ignores_units=True,
    checks=[stays(4 * ATTAINED - w_inf, STAYS, {m_public: z**9, mean_norm: 1 / z})],
)
theorem3_corrected = corrected_error(
    "dwang20.theorem5.2.3.corrected", "Theorem 5.2.3, (5.21) to (5.23)", 5746, theorem3.id,
    sqrt(d * log(m_public) / m_public) / mean_norm, "Lemma 5.2.7",
    Setting("Φ''(<x, cw>) is sub-Gaussian for w near w_ols and every c ≤ c̄, not at c = 1 alone"),
)

# Experiments -----------------------------------------------------------------------------------------
figure1 = Claim(
    id="dwang20.figure5.1", kind=Kind.EXPERIMENT,
    source=Source("dwang20", "Figure 5.1a and its reading, on logistic losses", line=5838),
    says="The squared relative error, averaged over 1000 runs, is inversely proportional to n, and to ε².",
    assumes=[Setting("features ±1/p, p = 10, w* = (1, ..., 1)/√p, δ = 1/n, m = n")],
    states=Rate(error2, 1 / (n * eps**2)),
)
