"""The graphical lasso under privacy: what the mechanisms of section 6.3 share (dwang20, sections 6.3.2 to 6.3.5).

Θ* minimises -log det Θ + ⟨S, Θ⟩ + ρ‖Θ‖₁ over positive definite Θ, diagonal included, S = Σxxᵀ/n, ‖x‖₂ ≤ 1; Θ̂ has
S̃ = S + N for S. Its mechanisms: sicov_*.py, each with a solver of the same stem; what they share there is
dpcheck/families/precision_matrices.py.
"""

from sympy import Eq, Ge, Le, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import d, n, quantity
from dpcheck.bounds.library.local.ldp_pca_gauss import cosine2
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

rho = quantity("rho_glasso", "penalty of the graphical lasso", box=(1e-3, 10), printed="ρ", latex=r"\rho")
scale = quantity("c_wishart", "scale of Wishart noise, C = cI", box=(1e-9, 1e9), printed="c", latex="c")
degrees = quantity("m_wishart", "degrees of freedom of Wishart noise", box=(2, 1e9), printed="m", latex="m")
largest = quantity(
    "theta_largest", "largest spectral norm of two minimisers", printed="β", latex=r"\max\|\Theta\|_2"
)
gap = quantity("theta_gap", "distance of two minimisers", printed="‖Θ-Θ'‖_F", latex=r"\|\Theta-\Theta'\|_F")
moved = quantity("moment_gap", "distance of two second moments", printed="‖S-S'‖_F", latex=r"\|S-S'\|_F")
top = quantity("theta_top", "largest eigenvalue of Θ*", printed="‖Θ*‖₂", latex=r"\|\Theta^*\|_2")
bottom = quantity("theta_bottom", "least eigenvalue of Θ*", printed="σ_min(Θ*)", latex=r"\sigma_{\min}(\Theta^*)")
step = quantity("prox_step", "step of the proximal map", printed="η", latex=r"\eta")
contraction = quantity(
    "prox_contraction", "Lipschitz constant of Θ + ηΘ⁻¹", box=(1e-6, 0.999), below=1.0, printed="q", latex="q"
)
captured = quantity("theta_captured", "tr(SΘ*)", printed="tr(SΘ*)", latex=r"\mathrm{tr}(S\Theta^*)")
S_trace = quantity("moment_trace", "tr(S)", box=(1e-3, 1), printed="tr(S)", latex=r"\mathrm{tr}(S)")
S_top = quantity("moment_top", "largest eigenvalue of S", box=(1e-3, 1), printed="‖S‖₂", latex=r"\|S\|_2")
M = quantity("theta_largest2", "max{‖Θ*‖₂², ‖Θ̂‖₂²}", printed="max‖Θ‖²", latex=r"\max\|\Theta\|_2^2")
noise_norm = quantity("noise_fro", "Frobenius norm of the noise", printed="‖N‖_F", latex=r"\|N\|_F")
error = quantity(
    "precision_error", "Frobenius distance from the precision matrix", printed="‖Θ̂-Θ*‖_F",
    latex=r"\|\hat\Theta-\Theta^*\|_F",
)
traced = quantity("moment_gap_trace", "trace of the positive part of S' - S", printed="tr(S'-S)₊")
row = quantity("row_top", "largest norm of a record", box=(1e-3, 1), printed="max‖x‖", latex=r"\max\|x\|_2")
second = quantity("glasso_gamma", "γ of (6.88)", printed="γ", latex=r"\gamma")
l1_moved = quantity("moment_gap_l1", "l1 distance of the upper triangles of two second moments", printed="Δ₁")

_v = Symbol("v", nonnegative=True)
unit = Setting("‖x‖₂ ≤ 1 for every record, one record replaced")
solved = Setting("Θ* minimises (6.83), S positive semidefinite")
both = Setting("both minimisers exist")
FIXED = "(6.98): the minimisers are fixed points of prox(Θ - η(S-Θ⁻¹)), so that e ≤ qe + η‖S-S'‖"
APART = "‖xxᵀ-yyᵀ‖_F² = ‖x‖⁴ + ‖y‖⁴ - 2⟨x,y⟩² ≤ 2 - 2⟨x,y⟩², and √(1-t) ≤ 1 - t/2"
LEMMA6 = "Lemma 6.3.6: Θ + ηΘ⁻¹ contracts by q ≤ 1 - η/β² for 0 < η ≤ σ_min²"

upper = Claim(
    id="dwang20.lemma6.3.5.upper", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.3.5, (6.87), the first number of the minimum", line=8675),
    says="The largest eigenvalue of Θ* is at most (d - α tr(S))/ρ, α = 1/(‖S‖₂+ρd).",
    assumes=[solved],
    states=Le(top, (d - S_trace / (S_top + rho * d)) / rho),
    ignores_units=True,
    checks=[
        Chain(
            top,
            Step("<=", (d - captured) / rho, because=Premise(
                "ρ‖Θ*‖₂ ≤ ρ tr(Θ*) ≤ ρ‖Θ*‖₁, and ⟨S, Θ*⟩ + ρ‖Θ*‖₁ = d: the least value along Θ*'s ray"),
                uses=[solved]),
            Step("<=", (d - bottom * S_trace) / rho, because=Premise("tr(SΘ*) ≥ σ_min(Θ*) tr(S)"), uses=[solved]),
            Step("<=", because=Cites("dwang20.lemma6.3.5.lower")),
            Step("<=", STATEMENT),
        )
    ],
)

lower = Claim(
    id="dwang20.lemma6.3.5.lower", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.3.5, (6.87), α", line=8675),
    says="The least eigenvalue of Θ* is at least α = 1/(‖S‖₂+ρd).",
    assumes=[solved],
    states=Ge(bottom, 1 / (S_top + rho * d)),
    ignores_units=True,
)

either = Claim(
    id="dwang20.lemma6.3.5.gamma", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.3.5, (6.88), the second number of the minimum", line=8675),
    says="The largest eigenvalue of Θ* is at most γ of (6.88), for S with an inverse and without.",
    assumes=[solved],
    states=Le(top, second),
    ignores_units=True,
)

moments = Claim(
    id="dwang20.equation6.98.moments", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "after (6.98)", line=8904),
    says="A record moves S by at most 2/n (by √2/n, in fact).",
    assumes=[unit],
    states=Le(moved, 2 / n),
    ignores_units=True,
    checks=[Chain(moved, Step("<=", because=Cites("dwang20.equation6.98.moments.least")), Step("<=", STATEMENT))],
)

least_moments = Claim(
    id="dwang20.equation6.98.moments.least", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "after (6.98)", line=8904),
    says="A record moves S by at most √2/n, and from e₁ to e₂ by that.",
    assumes=[unit],
    states=Le(moved, sqrt(2) / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            moved,
            Step("<=", sqrt(2) * (1 - cosine2 / 2) / n, because=Premise(APART), uses=[unit]),
            Step("<=", STATEMENT),
        ),
        AtMost(sqrt(2) / n, "from e₁ to e₂: two entries of the diagonal move by 1/n"),
    ],
)

traces = Claim(
    id="dwang20.theorem6.3.4.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Theorems 6.3.4 and 6.3.6: what Wishart noise must hide", line=8763),
    says="What a record adds to S, and what it takes from it, have traces of at most 1/n.",
    assumes=[unit, row <= 1],
    states=Le(traced, 1 / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            traced,
            Step("<=", row**2 / n, because=Premise("of (yyᵀ-xxᵀ)/n the positive part has no larger trace than yyᵀ/n"),
                 uses=[unit]),
            Step("<=", STATEMENT, where={row: 1 / (1 + _v)}),
        ),
    ],
)

sensitivity = Claim(
    id="dwang20.equation6.99", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "(6.99)", line=8914),
    says="A record moves the minimiser by at most 2β²/n, β being the larger spectral norm of the two.",
    assumes=[unit, solved],
    states=Le(gap, 2 * largest**2 / n),
    ignores_units=True,
    checks=[
        Chain(
            gap,
            Step("<=", step * moved / (1 - contraction), because=Premise(FIXED), uses=[solved]),
            Step("<=", largest**2 * moved, because=Premise(LEMMA6), uses=[solved]),
            Step("<=", because=Cites("dwang20.equation6.98.moments")),
            Step("<=", STATEMENT),
        )
    ],
)

stability = Claim(
    id="dwang20.theorem6.3.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.3, (6.93)", line=8755),
    says="Noise N on S moves the minimiser by at most max{‖Θ*‖₂², ‖Θ̂‖₂²}‖N‖_F.",
    assumes=[solved, Eq(M, largest**2)],
    added=[both],
    states=Le(error, M * noise_norm),
    ignores_units=True,
    checks=[
        Chain(
            error,
            Step("<=", step * noise_norm / (1 - contraction), because=Premise(f"{FIXED}, S̃-S = N"),
                 uses=[solved, both]),
            Step("<=", step * noise_norm / (step / largest**2), because=Premise(LEMMA6), uses=[solved, both]),
            Step("<=", STATEMENT),
        )
    ],
)

triangle_sensitivity = Claim(
    id="dwang20.theorem6.3.5.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Theorem 6.3.5: what its noise must hide", line=8769),
    says="A record moves the upper triangle of S by at most √(d(d+3)/2)/n in l1, and for d = 2 by that.",
    assumes=[unit],
    states=Le(l1_moved, sqrt(d * (d + 3) / 2) / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            l1_moved,
            Step("<=", sqrt(d * (d + 3)) / 2 * moved, because=Premise(
                "Cauchy and Schwarz, an entry off the diagonal standing for two of the matrix")),
            Step("<=", sqrt(d * (d + 3)) / 2 * sqrt(2) * (1 - cosine2 / 2) / n, because=Premise(APART), uses=[unit]),
            Step("<=", STATEMENT),
        ),
    ],
)
