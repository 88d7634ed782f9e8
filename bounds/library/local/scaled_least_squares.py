"""Least squares, scaled: what section 5.2 of dwang20 rests on, for generalised linear models and for known links.

With a public scale c, c·w_ols is nearly the w* of a model y ~ Φ'(<x, w*>), whatever Φ. Each user reports x xᵀ and x y
with noise. Proofs: section 5.2.6. Algorithms: nldp_glm_public.py, nldp_nlr_public.py. The document's p is d here, its ξ
is γ; max{1, a} is written 1 + a, which is it up to a factor of 2 that O() and Ω() hide.
"""

from sympy import Eq, Expr, Ge, Integer, Le, Rational, erfinv, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL
from dpcheck.bounds.language.symbols import LIKELY, c1, c2, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

# Features
r = quantity("features_r", "bound on the norm of a user's features", box=(0.1, 10), printed="r", latex="r")
kappa = quantity("kappa_x", "sub-Gaussian norm of whitened features", box=(0.8, 10), printed="κ_x", latex=r"\kappa_x")
rho2 = quantity("rho2", "condition number of Σ", box=(1, 1e3), printed="ρ₂", latex=r"\rho_2")
rho_inf = quantity("rho_inf", "condition number in l∞", box=(1, 1e3), printed="ρ_∞", latex=r"\rho_\infty")
cov = quantity("cov_norm", "largest eigenvalue of Σ", printed="‖Σ‖₂", latex=r"\|\Sigma\|_2")
lam_min = quantity("lam_min", "least eigenvalue of Σ", printed="λ_min", latex=r"\lambda_{\min}")
root_inf = quantity("root_inf", "l∞ norm of Σ^½", printed="‖Σ^½‖_∞", latex=r"\|\Sigma^{1/2}\|_\infty")
first = quantity("first_moment", "E|v_j| of whitened features", printed="E|v_j|", latex=r"\mathbb{E}|v_j|")
moved = quantity("moved_moment", "E|v_j°| of their zero-bias transforms", printed="E|v_j°|", latex=r"\mathbb{E}|v_j^*|")
third = quantity("third_moment", "E|v_j|³ of whitened features", printed="E|v_j|³", latex=r"\mathbb{E}|v_j|^3")
# Models
G_link = quantity("G_link", "Lipschitz constant of Φ'' or f'", printed="G", latex="G")
c_link = quantity("c_link", "1/E Φ''(<x, w*>), or 1/E f'", printed="c_Φ", latex=r"c_\Phi")
curvature = quantity("curvature", "E Φ''(c <x, w_ols>)", printed="E Φ''", latex=r"\mathbb{E}\Phi''")
w_j = quantity("w_j", "a coordinate of w*", printed="w*_j", latex="w^*_j")
ols_j = quantity("ols_j", "the same coordinate of w_ols", printed="w_ols,j", latex="w^{ols}_j")
w_inf = quantity("w_inf", "largest coordinate of w*", printed="‖w*‖_∞", latex=r"\|w^*\|_\infty")
slope_gap = quantity("slope_gap", "largest |D_jj - 1/c|", printed="|D_jj-1/c_Φ|", latex=r"|D_{jj}-1/c_\Phi|")
bias = quantity("off_scale", "‖w*/c - w_ols‖_∞", printed="‖w*/c_Φ - w_ols‖_∞", latex=r"\|w^*/c_\Phi-w^{ols}\|_\infty")
# Least squares
ols_norm = quantity("ols_norm", "norm of w_ols", printed="‖w_ols‖₂", latex=r"\|w^{ols}\|_2")
data_norm = quantity("data_norm", "norm of the data's own w̃_ols", printed="‖w̃_ols‖₂", latex=r"\|\tilde w^{ols}\|_2")
sampled = quantity(
    "sampled_error", "distance of the data's w̃_ols from w_ols",
    printed="‖w̃_ols - w_ols‖₂", latex=r"\|\tilde w^{ols}-w^{ols}\|_2", holds=LIKELY,
)
ols_shift2 = quantity(
    "ols_shift2", "squared distance of the private w_ols from that of the data",
    printed="‖ŵ_ols - w̃_ols‖₂²", latex=r"\|\hat w^{ols}-\tilde w^{ols}\|_2^2", holds=LIKELY,
)
ols_error = quantity(
    "ols_error", "distance of the private w_ols from that of the population",
    printed="‖ŵ_ols - w_ols‖₂", latex=r"\|\hat w^{ols}-w^{ols}\|_2", holds=LIKELY,
)
# Noise
noise_unit = quantity(
    "noise_unit", "deviation of a report's noise, in units of r² and of r times the bound on labels", printed="σ_u"
)
shift2 = quantity("report_shift2", "squared distance of two users' reports, in those units", printed="‖s-s'‖²")
size_x = quantity("size_x", "‖x‖²/r² of a user", box=(0.01, 1), printed="a", latex="a")
size_other = quantity("size_other", "the same of another", box=(0.01, 1), printed="a'", latex="a'")
inner = quantity("inner_x", "|<x, x'>|/r²", box=(0.01, 1), printed="|<x,x'>|/r²")
form = quantity("noise_form", "‖Ew‖² in the norm of M", printed="‖Ew‖²_M", latex=r"\|Ew\|_M^2", holds=LIKELY)
trace_M = quantity("trace_M", "trace of M", printed="tr M", latex=r"\mathrm{tr}\,M")
w_size2 = quantity("w_size2", "squared norm of w", printed="‖w‖²", latex=r"\|w\|^2")
entry = quantity("entry_std", "standard deviation of an entry of E", printed="σ", latex=r"\sigma")
along2 = quantity("along2", "largest (uᵀEw)² over M's eigenvectors u", printed="(uᵀEw)²", latex="(u^TEw)^2")
variance = quantity("along_variance", "variance of uᵀEw", printed="Var uᵀEw", latex=r"\mathrm{Var}\,u^TEw")
cross2 = quantity("cross2", "<u, w>²", printed="<u,w>²", latex=r"\langle u,w\rangle^2")
doubled = quantity("doubled", "Σ u_i² w_i²", printed="Σu_i²w_i²", latex=r"\sum_iu_i^2w_i^2")
noise2 = quantity("label_noise2", "‖E₂‖²", printed="‖E₂‖²", latex=r"\|E_2\|^2")
_a, _b, z = symbols("a b z", positive=True)

# What a user lets out --------------------------------------------------------------------------------
in_ball = Setting("‖x‖₂ ≤ r, |y| ≤ 1")

report_shift = Claim(
    id="dwang20.algorithm5.2.39.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 5.2.39, lines 2 and 3, together", line=5684),
    says="In units of r² and r, a user moves x xᵀ and x y together by at most √(9/2), reached at 60 degrees.",
    assumes=[size_x <= 1, size_other <= 1, in_ball],
    states=Le(shift2, Rational(9, 2)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            shift2,
            Step("<=", size_x**2 + size_other**2 - 2 * inner**2 + size_x + size_other + 2 * inner, because=Premise(
                "‖xxᵀ-x'x'ᵀ‖_F² counts entries below the diagonal again, and ‖xy-x'y'‖² is largest at |y| = |y'| = 1"),
                uses=[in_ball]),
            Step("<=", STATEMENT, because=Slack(seen=[
                1 - size_x, 1 - size_other, (1 - size_x) * (1 + size_x), (1 - size_other) * (1 + size_other),
                2 * (inner - Rational(1, 2)) ** 2])),
        )
    ],
)
released = Release(sqrt(report_shift.formula), Gaussian(noise_unit), relation=LOCAL)
unit_deviation = sqrt(32 * log(Rational(5, 2) / delta)) / eps  # lines 2 and 3 of Algorithm 5.2.39, over r² and r

# Scaling ---------------------------------------------------------------------------------------------
lemma1 = Claim(
    id="dwang20.lemma5.2.1", kind=Kind.IDENTITY,
    source=Source("dwang20", "Lemma 5.2.1, each coordinate", line=5698),
    says="For normal features w* is c_Φ·w_ols, where c_Φ is a fixed point of z ↦ 1/E Φ''(<x, w_ols>z).",
    assumes=[Setting("x ~ N(0, Σ)"), Eq(c_link, 1 / curvature)],
    states=Eq(w_j, c_link * ols_j),
)

WELL_SPREAD = [
    Setting("‖x‖₂ ≤ r, E x = 0, Σ^½ diagonally dominant; v = Σ^-½x with constant conditional first and second moments"),
    Setting("Φ'' (of a known link, f') is G-Lipschitz, c_Φ = 1/E Φ''(<x, w*>)"),
]
scaling_bias = G_link * r * kappa**3 * sqrt(rho2) * rho_inf * w_inf**2 / sqrt(d)
spread_out = rho_inf * G_link * root_inf * w_inf**2
OF_ROOT = Setting("ρ_∞ = ‖Σ^½‖_∞‖Σ^-½‖_∞, as the proof of Theorem 5.2.4 has it (“of Σ” in words)")

lemma2 = Claim(
    id="dwang20.lemma5.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.2, (5.17)", line=5712),
    says="For bounded features that are spread well, w_ols is w*/c_Φ up to O(‖w*‖²_∞/√p).",
    assumes=WELL_SPREAD,
    added=[OF_ROOT],
    states=Le(bias, 16 * scaling_bias),
    ignores_units=True,
    checks=[
        Chain(
            bias,
            Step("<=", rho_inf * slope_gap * w_inf, because=Premise(
                "w_ols = Σ^-½DΣ^½w*, D_jj = E Φ''((v_j°-v_j)(Σ^½w*)_j + <x, w*>), v_j° the zero-bias form of v_j")),
            Step("<=", spread_out * (moved + first), because=Premise(
                "Φ'' is G-Lipschitz, |v_j° - v_j| ≤ |v_j°| + |v_j|")),
            Step("<=", spread_out * Rational(3, 2) * third, because=Slack({
                "E|v_j°| = E|v_j|³/2": spread_out * (third / 2 - moved),
                "E|v_j| ≤ 1 ≤ E|v_j|³, as E v_j² = 1": spread_out * (third - first)})),
            Step("<=", spread_out * Rational(3, 2) * (sqrt(3) * kappa) ** 3, because=Premise(
                "E|v_j|³ ≤ (√3 κ_x)³, by the definition of κ_x")),
            Step("<=", 9 * sqrt(3) * rho_inf * G_link * kappa**3 * w_inf**2 * sqrt(rho2 * lam_min), because=Premise(
                "‖Σ^½‖_∞ ≤ 2√‖Σ‖₂, as Σ^½ is diagonally dominant; ‖Σ‖₂ = ρ₂λ_min")),
            Step("<=", 9 * sqrt(3) * scaling_bias, because=Premise("p·λ_min ≤ tr Σ = E‖x‖² ≤ r²"),
                 uses=[*WELL_SPREAD, OF_ROOT]),
            Step("<=", STATEMENT),
        )
    ],
)

# Noise -----------------------------------------------------------------------------------------------
lemma4 = Claim(
    id="dwang20.lemma5.2.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.4", line=5891),
    says="A symmetric Gaussian matrix times a fixed vector, in the norm of a fixed M, with probability 1-ξ.",
    assumes=[Setting("M is positive semi-definite; entries of E on and above its diagonal are N(0, σ²)")],
    states=Le(form, entry**2 * trace_M * w_size2 * log(2 * d**2 / gamma)),
    ignores_units=True,
    checks=[
        AtMost(
            entry**2 * trace_M * w_size2 * (2 - 1 / d) * 2 * erfinv(1 - gamma) ** 2,
            "the quantile where w and the one eigenvector of M are the diagonal: uᵀEu ~ N(0, (2-1/p)σ²)",
        )
    ],
)

tail = 2 * trace_M * log(2 * d**2 / gamma)
lemma4_corrected = Claim(
    id="dwang20.lemma5.2.4.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.4", line=5891),
    says="Four times that: uᵀEw has a variance of up to 2σ²‖w‖², and the square of a normal twice it in its tail.",
    assumes=lemma4.assumes,
    states=Le(form, 4 * lemma4.formula),
    corrects=lemma4.id,
    ignores_units=True,
    checks=[
        Chain(
            form,
            Step("<=", trace_M * along2, because=Premise("‖Ew‖²_M = Σ λ_k (u_kᵀEw)² over M's eigenvectors u_k"),
                 uses=lemma4.assumes),
            Step("<=", tail * variance, because=Premise(
                "P(|z| ≥ t) ≤ 2exp(-t²/2) of a normal z, for p ≤ p² of them")),
            Step("=", tail * entry**2 * (w_size2 + cross2 - doubled), because=Premise(
                "Var uᵀEw = σ²(‖w‖² + <u,w>² - Σu_i²w_i²), where ‖u‖ = 1: entries off the diagonal stand there twice")),
            Step("<=", STATEMENT, because=Slack(
                {"<u,w>² ≤ ‖w‖² (Cauchy and Schwarz)": tail * entry**2 * (w_size2 - cross2)},
                seen=[tail * entry**2 * doubled])),
        )
    ],
)

REALISED = Setting("XᵀX is invertible, x is sub-Gaussian with ‖Σ^-½x‖_ψ₂ ≤ κ_x = O(1), ‖x‖₁ ≤ r, |y| ≤ 1")
lemma9 = Claim(
    id="dwang20.lemma5.2.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.9, (5.28)", line=5931),
    says="How far the noise moves the least-squares solution of the data, with probability 1 - exp(-Ω(p)) - ξ.",
    assumes=[REALISED, Ge(n, c1 * kappa**4 * cov**2 * d * r**4 * log(1 / delta) / (eps * lam_min) ** 2)],
    states=Rate(
        ols_shift2,
        d * r**2 * (1 + r**2 * data_norm**2) * log(1 / delta) * log(d**2 / gamma) / (eps**2 * n * lam_min**2),
    ),
    hidden=[c1],
    ignores_units=True,
    checks=[
        NoConstant(
            sqrt(d) / r**2,
            {d: z, n: 8 * log(250) * z**5, eps: Rational(1), delta: Rational(1, 100), gamma: Rational(1, 100),
             lam_min: z**-2, cov: z**-2, kappa: Rational(1), r: Rational(1), data_norm: 1 / z},
            z,
            "features ±1/p: XᵀX + E₁ is n/p²·(I + 2W + o(1)), W a Wigner matrix; about √p eigenvalues lie within"
            " n/p²·1/√p of 0 (local semicircle law), and there (XᵀX+E₁)⁻¹E₂ has squares of (p²/n)²·p·nσ_u² = 4",
        )
    ],
)

ENOUGH_USERS = Setting(
    "n ≥ C·p(κ_x⁴‖Σ‖₂² + r⁴log(1/δ)/ε²)/λ_min² for a large C, by which XᵀX + E₁ has no eigenvalue below nλ_min/4, "
    "but for exp(-Ω(p)) (Lemmas 5.2.5 and 5.2.6)"
)
USUAL = [delta <= Rational(1, 2), gamma <= Rational(1, 2)]
confidence = sqrt(log(Rational(5, 2) / delta)) * sqrt(log(4 * d**2 / gamma))
lemma9_explicit = Claim(
    id="dwang20.lemma5.2.9.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.2.9, (5.28), with the noise of Algorithm 5.2.39", line=5931),
    says="(5.28) with a number for its constant, where n exceeds a sum and not a product.",
    assumes=[REALISED, ENOUGH_USERS],
    states=Le(ols_shift2, 2**12 * d * r**2 * (1 + r**2 * data_norm**2) * confidence**2 / (eps**2 * n * lam_min**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            ols_shift2,
            Step("<=", 32 / (n * lam_min) ** 2 * (form + noise2), because=Premise(
                "ŵ_ols - w̃_ols = (XᵀX+E₁)⁻¹(E₂ - E₁w̃_ols); no eigenvalue below nλ_min/4; (a+b)² ≤ 2a² + 2b²"),
                uses=[REALISED, ENOUGH_USERS]),
            Step("<=", because=Cites(lemma4_corrected.id, {
                entry: r**2 * unit_deviation * sqrt(n), trace_M: d, w_size2: data_norm**2, gamma: gamma / 2},
                granted="M = I, and E₁ is a sum of n matrices")),
            Step("<=", 32 / (n * lam_min) ** 2 * d * n * unit_deviation**2 * log(4 * d**2 / gamma) * (
                4 * r**4 * data_norm**2 + 2 * r**2), because=Premise(
                "‖E₂‖² ≤ 2p·nr²σ_u²·log(4p²/ξ) but for ξ/2, as p coordinates are normal")),
            Step("<=", STATEMENT),
        )
    ],
)

lemma9_corrected = Claim(
    id="dwang20.lemma5.2.9.corrected", kind=Kind.UTILITY,
    source=lemma9.source,
    says="So it is where n exceeds a sum: the printed product is less where ‖Σ‖₂ is small, as it is for bounded x.",
    assumes=[REALISED, ENOUGH_USERS],
    added=USUAL,
    states=lemma9.states,
    corrects=lemma9.id,
    ignores_units=True,
    checks=[
        Chain(
            Cites(lemma9_explicit.id),
            Step("<=", 2**16 * STATEMENT),
        )
    ],
)

# Small parameters: features ±1/p, signs independent, r = 1, logistic labels, and w* to 0. The noise E₂ stays:
# |(Xᵀy + E₂)₁| ≥ σ√n/4 and ‖XᵀX + E₁‖_∞ ≤ n + 4p²σ√n hold together with probability above a half.
ATTAINED = unit_deviation / 4 / (sqrt(n) + 4 * d**2 * unit_deviation)
SMALL_W: dict[Expr, Expr] = {
    d: z, n: z**6, eps: Rational(1), delta: Rational(1, 100), gamma: 1 / z, lam_min: z**-2, cov: z**-2,
    root_inf: 1 / z, rho2: Rational(1), rho_inf: Rational(1), kappa: Rational(1), r: Rational(1), c_link: Rational(4),
    w_inf: z**-8, ols_norm: z**-7,
}
lam_denominator = (1 + 1 / sqrt(lam_min)) / sqrt(lam_min)  # 1/(λ^½ min{λ^½, 1})


def stays(value: Expr, because: str, more: dict[Expr, Expr] | None = None) -> NoConstant:
    """What does not go to 0 with w*, as the bound does."""
    return NoConstant(value, SMALL_W | (more or {}), z, because, at=100)


equation29 = Claim(
    id="dwang20.equation5.29", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.29), proof of Theorem 5.2.3", line=5997),
    says="The private least-squares solution is off by no more than a multiple of ‖w_ols‖₂.",
    assumes=lemma9.assumes,
    states=Rate(
        ols_error,
        kappa * sqrt(d) * r**2 * ols_norm
        * sqrt(log(1 / delta) * log(d**2 / gamma)) / (eps * sqrt(n)) * lam_denominator,
    ),
    hidden=[c1],
    ignores_units=True,
    checks=[stays(ATTAINED - ols_norm, "the noise on x y stays as w* goes to 0: the 1 of (5.28) is lost")],
)

equation29_corrected = Claim(
    id="dwang20.equation5.29.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.29)", line=5997),
    says="With the 1 of (5.28), which it drops, and the error of the sample, of which Lemma 5.2.10 speaks.",
    assumes=[REALISED, ENOUGH_USERS],
    added=[delta <= Rational(1, 2)],
    states=Le(
        ols_error,
        2**7 * sqrt(d) * r * (1 + r * ols_norm) * confidence / (eps * sqrt(n) * lam_min) + sampled,
    ),
    corrects=equation29.id,
    ignores_units=True,
    checks=[
        Chain(
            ols_error,
            Step("<=", sqrt(ols_shift2) + sampled, because=Premise("the triangle inequality")),
            Step("<=", because=Cites(lemma9_explicit.id)),
            Step("<=", 2**6 * sqrt(d) * r * (2 + r * ols_norm) * confidence / (eps * sqrt(n) * lam_min) + sampled,
                because=Premise("√(1+a²) ≤ 1+a, and r‖w̃_ols‖ ≤ r‖w_ols‖ + 1 by Lemma 5.2.10, as n is large")),
            Step("<=", STATEMENT),
        )
    ],
)

# Utility of both algorithms --------------------------------------------------------------------------
m_public = quantity("m_public", "number of public records", box=(10, 1e6), integer=True, printed="m", latex="m")
ols_inf = quantity("ols_inf", "largest coordinate of w_ols", printed="‖w_ols‖_∞", latex=r"\|w^{ols}\|_\infty")
error_inf = quantity(
    "w_error_inf", "largest error of a coordinate of w",
    printed="‖ŵ - w*‖_∞", latex=r"\|\hat w-w^*\|_\infty", holds=LIKELY,
)
SCALABLE = [
    *WELL_SPREAD,
    Setting("‖x‖₁ ≤ r; c·E Φ''(<x, w_ols>c) is at least 1+τ at c̄, and its slope at least M up to c̄ and c_Φ"),
    Setting("|Φ''| ≤ L (Theorem 5.2.3: it is sub-Gaussian near w_ols); r, κ_x, G, L, 1/τ, 1/M and c̄ are O(1)"),
]
FOUND = Setting("m ≥ p, and m and n so large that there is a root ĉ ≤ c̄ (Lemmas 5.2.11 and 5.2.12)")
conditions, w_factor = rho2 * rho_inf**2, w_inf**2 * (1 + w_inf**2)
inverse_c = 1 + 1 / c_link
needed = cov**2 * d**2 * conditions * w_factor * log(1 / delta) / (eps**2 * lam_min) * (1 + 1 / lam_min) * inverse_c**2


def printed_error(name: str, place: str, line: int, says: str, attained: Expr, because: str) -> Claim:
    """Theorems 5.2.2 and 5.2.5, which have one formula."""
    shared = conditions * w_factor * sqrt(cov) * d * inverse_c**2
    noise = sqrt(log(1 / delta) * log(d / gamma**2)) / (eps * sqrt(n)) * lam_denominator
    floor = conditions * root_inf * w_inf**3 * (1 + w_inf) / sqrt(d) * inverse_c
    enough = [
        Ge(m_public, c2 * cov * w_factor * conditions * d**2 * inverse_c**2),
        Ge(n, c1 * needed * log(d / gamma)),
    ]
    return Claim(
        id=name, kind=Kind.UTILITY,
        source=Source("dwang20", place, line),
        says=says,
        assumes=[*SCALABLE, *enough],
        states=Rate(error_inf, shared / sqrt(m_public) + shared * noise + floor),
        hidden=[c1, c2],
        ignores_units=True,
        checks=[stays(attained - w_inf, because, {m_public: z**9})],
    )


def corrected_error(name: str, place: str, line: int, corrects: str, public: Expr, by: str, *more: Setting) -> Claim:
    """The same with what stays as w* goes to 0; sampling public records moves ĉ by (1 + ‖w_ols‖₂)·`public`, by `by`."""
    factor, ols_most = conditions * (1 + w_inf) ** 4, 17 * sqrt(rho2) * rho_inf * w_inf * (1 + w_inf)
    floor = conditions * ((1 + c_link) * w_inf * (1 + w_inf)) ** 2 / sqrt(d)
    noise = sqrt(d) * confidence / (eps * lam_min * sqrt(n))

    ones = {G_link: Integer(1), r: Integer(1), kappa: Integer(1)}

    def split(ols: Expr, off: Expr) -> Expr:
        private = ols_error / (1 + ols_norm) * (1 + sqrt(d) * ols) * (1 + ols)
        return private + ols * (1 + sqrt(d) * ols) * public + (c_link + ols * c_link**2) * off

    return Claim(
        id=name, kind=Kind.UTILITY,
        source=Source("dwang20", place, line),
        says="With 1 + ‖w_ols‖ for ‖w_ols‖ in the noise, and c_Φ·(5.17), of power 2 in w*, in what stays as n grows.",
        assumes=[*SCALABLE, REALISED, ENOUGH_USERS, FOUND, *more, rho2 >= 1, rho_inf >= 1],
        added=[*lemma2.added, *USUAL, eps <= 1],
        states=Rate(error_inf, factor * sqrt(d) * (noise + public) + floor),
        corrects=corrects,
        ignores_units=True,
        checks=[
            Chain(
                error_inf,
                Step("<=", split(ols_inf, bias), because=Premise(
                    f"(5.39), {by}, |f'| ≥ M and ‖w_ols‖₂ ≤ √p‖w_ols‖_∞; factors that O() hides are 1 from here on"),
                    uses=[*SCALABLE, FOUND, *more]),
                Step("<=", because=Cites(lemma2.id, ones)),
                Step("<=", split(ols_most, lemma2.formula.subs(ones)), because=Premise(
                    "‖w_ols‖_∞ ≤ ‖w*‖_∞/c_Φ + (5.17), and 1/c_Φ = O(1)")),
                Step("<=", 2**9 * (factor * sqrt(d) * (ols_error / (1 + ols_norm) + public) + floor),
                     where={d: (1 + _a) ** 2, rho2: (1 + _b) ** 2, rho_inf: 1 + z}),
                Step("<=", because=Cites(equation29_corrected.id, {r: Integer(1)})),
                Step("<=", 2**9 * (factor * sqrt(d) * (2**8 * noise + public) + floor), because=Premise(
                    "Lemma 5.2.10: the error of the sample is O(√(p/(nλ_min))), less than what noise of ε ≤ 1 adds"),
                    uses=[eps <= 1]),
                Step("<=", 2**17 * STATEMENT),
            )
        ],
    )
