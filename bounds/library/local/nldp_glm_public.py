"""Generalised linear models with public unlabelled data (dwang20, section 5.2.3, Algorithm 5.2.39).

A user sends xxᵀ and xy with Gaussian noise; the server makes least squares of the sums and scales it by a root found on
public rows. The document's p is d. Solver: dpcheck/solvers/local/nldp_glm_public.py.
"""

from sympy import Eq, Expr, Le, Max, Min, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, d, delta, eps, gamma, m, n, quantity, sigma
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

row = quantity("row_r", "bound on the norm of a row", box=(0.1, 10), printed="r", latex="r")
w_inf = quantity("w_inf", "largest coordinate of the true parameter", box=(1e-3, 10), printed="‖w*‖∞")
top = quantity("cov_top", "largest eigenvalue of the covariance", box=(1e-3, 10), printed="‖Σ‖₂")
least = quantity("cov_least", "least eigenvalue of the covariance", box=(1e-4, 10), printed="λ_min")
ratio2 = quantity("cov_ratio2", "condition number of the covariance in l2", box=(1, 100), printed="ρ₂")
ratio_inf = quantity("cov_ratio_inf", "condition number of the covariance in l∞", box=(1, 100), printed="ρ∞")
factor = quantity("glm_factor", "1/E Φ''(⟨x, w*⟩)", box=(0.1, 100), printed="c_Φ")
root_inf = quantity("cov_root_inf", "l∞ norm of the root of the covariance", box=(1e-3, 10), printed="‖Σ^½‖∞")
gap_inf = quantity("glm_gap", "largest error of a coordinate", printed="‖ŵ-w*‖∞", holds=LIKELY)
bias_inf = quantity("glm_bias", "largest coordinate of w*/c_Φ - w_ols", printed="‖w*/c_Φ-w_ols‖∞")
lip2 = quantity("glm_G", "Lipschitz constant of Φ''", box=(0.01, 10), printed="G")
spread = quantity("glm_kappa", "sub-Gaussian norm of the whitened row", box=(0.5, 10), printed="κ_x")
big = Symbol("big", positive=True)

# Privacy -------------------------------------------------------------------------------------------
# Both reports in units of the first: xxᵀ (upper triangle) and r·xy. With ‖x‖₂, ‖x'‖₂ ≤ r, |y|, |y'| ≤ 1 and
# c = ⟨x,x'⟩/r² they move by at most r²√(2 - 2c² + 2 + 2|c|), which is largest at c = 1/2.
released = Release(sqrt(Rational(9, 2)) * row**2, Gaussian(sigma), relation=LOCAL)

theorem1 = Claim(
    id="dwang20.theorem5.2.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.2.1 with lines 2 and 3 of Algorithm 5.2.39", line=5722),
    says="Noise √(32 log(2.5/δ))·r²/ε on xxᵀ, and 1/r times that on xy, is (ε, δ)-private for ε < 1.",
    assumes=[eps <= 1],
    states=Eq(sigma, sqrt(32 * log(Rational(5, 2) / delta)) * row**2 / eps),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    ignores_units=True,
    checks=[Accountant(released, "x = (a, b), x' = (b, a) with ⟨x,x'⟩ = r²/2 and y' = -y")],
)

# Utility -------------------------------------------------------------------------------------------
design = [Setting("x is sub-Gaussian with ‖x‖₁ ≤ r; G, L, τ, M, c̄, r and κ_x are O(1)")]

bounded_rows = [Setting("x is sub-Gaussian, ‖x‖₂ ≤ r, Σ^½ diagonally dominant, conditional moments constant")]

lemma2 = Claim(
    id="dwang20.lemma5.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.2, (5.17)", line=5716),
    says="Least squares points almost along w*, for bounded rows.",
    assumes=bounded_rows,
    states=Le(bias_inf, 16 * lip2 * row * spread**3 * sqrt(ratio2) * ratio_inf * w_inf**2 / sqrt(d)),
    ignores_units=True,
    checks=[Quoted("from Erdogdu, Bayati and Dicker")],
)


def bound(w: Expr) -> Expr:
    """(5.20), with this in the place of ‖w*‖∞ before the noise terms; max{1, a} is 1 + a up to a factor of 2."""
    size = ratio2 * ratio_inf**2 * w**2 * (1 + w**2) * sqrt(top) * d * Max(1 / factor, 1) ** 2
    noise = sqrt(log(1 / delta) * log(d / gamma**2)) / (eps * sqrt(least) * Min(sqrt(least), 1) * sqrt(n))
    bias = ratio2 * ratio_inf**2 * root_inf * w_inf**3 * (1 + w_inf) / sqrt(d) * Max(1, 1 / factor)
    return size / sqrt(m) + size * noise + bias


theorem2 = Claim(
    id="dwang20.theorem5.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.2, (5.20)", line=5734),
    says="Largest error of a coordinate; ξ is γ here.",
    assumes=[*design, Setting("n and m as in (5.18) and (5.19)")],
    states=Rate(gap_inf, bound(w_inf)),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 1000),
            {w_inf: 1 / big, d: 2, n: 10**6, m: 10**6, eps: 1, delta: Rational(1, 10**6), gamma: Rational(1, 10),
             top: 1, least: 1, ratio2: 1, ratio_inf: 1, factor: 4, root_inf: 1},
            big,
            "w* → 0: all terms vanish, but the noise on xy does not: at n = 10⁶ the error of ŵ stays above 0.001 with"
            " probability 0.9, whatever p and the constants",
        )
    ],
    cites=[Cites("dwang20.lemma5.2.2")],
)

theorem2_corrected = Claim(
    id="dwang20.theorem5.2.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.2.2, (5.20)", line=5734),
    says="With 1+‖w*‖∞ in the terms of noise and sampling, and ‖w*‖∞² in the bias: (5.29) drops the noise on xy.",
    assumes=[*design, Setting("n and m as in (5.18) and (5.19)")],
    states=Rate(
        gap_inf,
        bound(1 + w_inf) + ratio2 * ratio_inf**2 * w_inf**2 / sqrt(d) * Max(1, 1 / factor) * Max(1, factor),
    ),
    corrects="dwang20.theorem5.2.2",
    ignores_units=True,
    checks=[Quoted("from the proof of Theorem 5.2.2, with r(1 + r‖w‖) of Lemma 5.2.9 kept")],
)
