"""Principal components from noisy outer products (dwang20, section 6.1.3, Algorithm 6.1.46), one of each user.

User i sends the upper triangle of xxᵀ, diagonal included, with Gaussian noise; the server averages and
takes the k leading eigenvectors.
Solver: dpcheck/solvers/local/ldp_pca_gauss.py; with sparse eigenvectors: ldp_sparse_pca_fps.py.
"""

from sympy import Eq, Expr, Integer, Le, Matrix, Rational, Symbol, cos, expand, eye, log, simplify, sin, sqrt

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant, Quoted

sigma_1 = quantity("sigma_outer", "deviation of the noise on an outer product", printed="σ₁", latex=r"\sigma_1")
outer_gap2 = quantity("outer_gap2", "squared distance of upper triangles", box=(1e-2, 2), printed="‖xxᵀ-yyᵀ‖²△")
cosine2 = quantity("cosine2", "<x, y>^2", box=(1e-3, 1), printed="⟨x,y⟩²")
diagonal2 = quantity("diagonal2", "squares of the differences on the diagonal", box=(1e-3, 2), printed="Σ(x_i²-y_i²)²")
k = quantity("leading", "dimension of the principal subspace", box=(1, 100), integer=True, printed="k", latex="k")
top = quantity("top", "largest eigenvalue of the covariance", box=(1e-6, 1), printed="λ₁", latex=r"\lambda_1")
gap = quantity("gap", "k-th less (k+1)-th eigenvalue", box=(1e-6, 1), printed="(λ_k-λ_(k+1))")
sin2 = quantity("sin2", "squared subspace distance", printed="‖sin Θ‖²", latex=r"\|\sin\Theta\|_F^2")
operator2 = quantity("operator2", "||noisy covariance - covariance||_2^2", printed="‖S̃-Σ‖²")
sampled2 = quantity("sampled2", "||sample covariance - covariance||_2^2", printed="‖S-Σ‖²")
noisy2 = quantity("noisy2", "||mean of the noise||_2^2", printed="‖Z‖²")
signal = quantity("signal", "strength of the spike in (6.7)", box=(0.01, 100), printed="λ", latex=r"\lambda")
kl = quantity("kl", "divergence of two normal laws (6.7)", printed="D(P_V‖P_V')")
sigma_k = quantity("sigma_k", "effective noise variance (6.1)", printed="σ²", latex=r"\sigma^2")
risk_pca = quantity("risk_pca", "minimax squared subspace distance, no interaction", printed="M(S(P(k,σ²)),ε)")
v, x = Symbol("v", nonnegative=True), Symbol("x", positive=True)

# Privacy -------------------------------------------------------------------------------------------
released = Release(sqrt(2), Gaussian(sigma_1), relation=LOCAL)  # users at e₁ and e₂
classical = sqrt(2 * log(Rational(5, 4) / delta)) / eps
private = ApproxDP(eps, delta, relation=LOCAL)
unit = Setting("‖x‖₂ ≤ 1")
CORNERS = "users at e₁ and e₂: two entries of the diagonal move by 1"

sensitivity = Claim(
    id="dwang20.algorithm6.1.46.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 6.1.46, line 2: what its noise is for", line=7398),
    says="Two users' upper triangles of xxᵀ are at most 1 apart.",
    assumes=[unit],
    states=Le(outer_gap2, 1),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[AtMost(Integer(2), CORNERS)],
)

sensitivity_corrected = Claim(
    id="dwang20.algorithm6.1.46.sensitivity.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 6.1.46, line 2: what its noise is for", line=7398),
    says="At most √2, which orthogonal coordinate vectors attain.",
    assumes=[unit],
    states=Le(outer_gap2, 2),
    corrects="dwang20.algorithm6.1.46.sensitivity",
    ignores_units=True,
    checks=[
        Chain(
            outer_gap2,
            Step("<=", (2 - 2 * cosine2 + diagonal2) / 2,
                 because=Premise("an upper triangle has half of the matrix's square, which is at most 2-2⟨x,y⟩², "
                 "and half of "
                                 "the diagonal's")),
            Step("<=", STATEMENT, because=Slack(
                given={"the diagonal is a part of the matrix": (2 - 2 * cosine2 - diagonal2) / 2}, seen=[2 * cosine2])),
        )
    ],
)


def privacy(theorem: str, line: int, *assumes: Hypothesis) -> tuple[Claim, Claim]:
    """The noise of an algorithm of the section, as printed and corrected."""

    def claim(says: str, noise: Expr, *given: Hypothesis, corrects: str | None = None) -> Claim:
        return Claim(
            id=f"dwang20.theorem{theorem}.privacy{'.corrected' if corrects else ''}", kind=Kind.PRIVACY,
            source=Source("dwang20", f"Theorem {theorem}, with line 2 of its algorithm", line=line),
            says=says,
            assumes=[unit, *given],
            states=Eq(sigma_1, noise),
            guarantee=private,
            corrects=corrects,
            ignores_units=True,
            checks=[Accountant(released, CORNERS)],
        )

    return (
        claim("Noise of variance 2ln(1.25/δ)/ε² on each entry makes a user's outer product (ε, δ)-private.", classical,
              *assumes),
        claim("It takes twice that variance, for ε at most 1.", sqrt(2) * classical, eps <= 1,
              corrects=f"dwang20.theorem{theorem}.privacy"),
    )


theorem2_privacy, theorem2_privacy_corrected = privacy("6.1.2", 7385)

# Utility -------------------------------------------------------------------------------------------
principal = [Setting("V and Ṽ are the k leading eigenvectors of Σ and of what the server averages"), gap <= top, n >= d]

theorem2 = Claim(
    id="dwang20.theorem6.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.2, equation (6.2)", line=7387),
    says="The squared subspace distance of the noisy principal components, but for a chance of e^(-C₁p) + p^(-C₂).",
    assumes=[*principal, unit],
    states=Rate(sin2, top**2 * k * d * log(1 / delta) / (gap**2 * n * eps**2)),
    guarantee=private,
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 2),
            {top: x**-9, gap: x**-9 / 2, k: 1, d: x, n: x**3, eps: 1, delta: Rational(1, 10)}, x,
            "Σ times t leaves λ₁/(λ_k-λ_(k+1)) as it is, and noise of size σ₁√(p/n) drowns tΣ as t falls: the leading "
            "direction is the noise's own, and at 45° or more from a given one but for a chance that p brings to 0",
        )
    ],
)

theorem2_corrected = Claim(
    id="dwang20.theorem6.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.2, equation (6.2)", line=7387),
    says="λ₁² belongs to the sample alone: the noise knows nothing of it. But for a chance of 3e^(-p/2), with "
    "enough noise.",
    assumes=[*principal, unit, eps <= 1],
    added=[delta <= Rational(1, 2), Setting("‖S-Σ‖ ≤ 8λ₁√(p/n), as normal samples have it but for a chance of "
    "2e^(-p/2)")],
    states=Rate(sin2, k * d * (top**2 + log(1 / delta) / eps**2) / (gap**2 * n)),
    guarantee=private,
    corrects="dwang20.theorem6.1.2",
    ignores_units=True,
    checks=[
        Chain(
            sin2,
            Step("<=", 4 * k * operator2 / gap**2, because=Premise("Lemma 6.1.7, which is Davis and Kahan's, at "
            "r = 1, s = k")),
            Step("<=", 8 * k * (sampled2 + noisy2) / gap**2, because=Premise("‖S̃-Σ‖² ≤ 2‖S-Σ‖² + 2‖Z‖²")),
            Step("<=", 8 * k * (64 * top**2 * d / n + 16 * d * sigma_1**2 / n) / gap**2,
                 because=Premise("‖S-Σ‖ ≤ 8λ₁√(p/n); ‖Z‖ is 2σ₁√(p/n) on average and √2σ₁/√n-Lipschitz in "
                 "normals, so at "
                                 "most 4σ₁√(p/n) but for a chance of e^(-p)")),
            Step("<=", because=Cites("dwang20.theorem6.1.2.privacy.corrected")),
            Step("<=", 800 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)

# The lower bound -----------------------------------------------------------------------------------
phi = Symbol("phi", real=True)


def divergence() -> Expr:
    """tr(Σ'⁻¹(Σ-Σ'))/2 of two planes of one principal angle φ, in units of 5p(λ+1); angles add up."""
    direction = Matrix([cos(phi), sin(phi)])
    one, other = Matrix([[1, 0], [0, 0]]), direction * direction.T
    cov = [signal * P + eye(2) for P in (one, other)]
    value = (cov[1].inv() * (cov[0] - cov[1])).trace() / 2
    return simplify(expand(value).subs(cos(phi) ** 2, 1 - sin(phi) ** 2)).subs(sin(phi) ** 2, sin2)


lemma5 = Claim(
    id="dwang20.lemma6.1.5", kind=Kind.IDENTITY,
    source=Source("dwang20", "Lemma 6.1.5", line=7637),
    says="The divergence of normal laws with the covariances (6.7).",
    states=Le(kl, signal**2 / (2 * (1 + signal)) * sin2),
    ignores_units=True,
    checks=[AtMost(divergence(), "tr(Σ'⁻¹(Σ-Σ'))/2, plane by plane of the principal angles")],
)

theorem1 = Claim(
    id="dwang20.theorem6.1.1", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 6.1.1", line=7371),
    says="No ε-private protocol without interaction has a smaller squared subspace distance over the class.",
    assumes=[eps <= Rational(1, 2), d <= 4 * k, 4 * k <= 3 * d, Setting("n ≥ Ω(σ²·min{k, p-k}/ε²)")],
    states=Rate(risk_pca, sigma_k * k * d / (n * eps**2), below=True),
    ignores_units=True,
    checks=[Quoted("in part: the packing of subspaces of Lemma 6.1.3 has constants that no source here gives")],
)
