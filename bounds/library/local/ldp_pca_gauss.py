"""Principal components from noisy outer products (dwang20, section 6.1.3, Algorithm 6.1.46).

User i sends the upper triangle of xxᵀ, diagonal included, with Gaussian noise; the server averages, S̃ = S + Z, and
takes the k leading eigenvectors. Σ is the covariance of a record, S of n of them.
Solver: dpcheck/solvers/local/ldp_pca_gauss.py; with sparse eigenvectors: ldp_sparse_pca_fps.py.
"""

from collections.abc import Sequence

from sympy import Eq, Expr, Integer, Le, Matrix, Rational, Symbol, cos, eye, log, simplify, sin, sqrt

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, PureDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

radius = quantity("r_outer", "largest norm of a record", box=(0.1, 10), printed="max‖x‖", latex=r"\max\|x\|_2")
sigma_1 = quantity("sigma_outer", "deviation of the noise on an outer product", printed="σ₁", latex=r"\sigma_1")
matrix2 = quantity("matrix2", "squared distance of two records' outer products", printed="‖xxᵀ-yyᵀ‖²")
cosine2 = quantity("cosine2", "squared inner product of two records", box=(1e-3, 1), printed="⟨x,y⟩²")
k = quantity("leading", "dimension of the principal subspace", box=(1, 100), integer=True, printed="k", latex="k")
top = quantity("top_eigenvalue", "largest eigenvalue of Σ", box=(1e-6, 1), printed="λ₁", latex=r"\lambda_1")
gap = quantity("eigengap", "k-th less (k+1)-th eigenvalue of Σ", box=(1e-6, 1), printed="(λ_k-λ_(k+1))")
sin2 = quantity("sin2", "squared subspace distance", printed="‖sin Θ‖²", latex=r"\|\sin\Theta\|_F^2")
off2 = quantity("pca_off2", "squared norm of S̃ - Σ", printed="‖S̃-Σ‖²", latex=r"\|\tilde S-\Sigma\|_2^2")
sampled2 = quantity("pca_sampled2", "squared norm of S - Σ", printed="‖S-Σ‖²", latex=r"\|S-\Sigma\|_2^2")
noise2 = quantity("pca_noise2", "squared norm of the mean of the noise", printed="‖Z‖²", latex=r"\|Z\|_2^2")
spike = quantity("pca_spike", "strength of the spike in (6.7)", printed="λ", latex=r"\lambda")
divergence = quantity("divergence_spiked", "relative entropy of two normal laws (6.7)", printed="D(P_V‖P_V')")
noise_variance = quantity("noise_variance", "effective noise variance (6.1)", printed="σ²", latex=r"\sigma^2")
apart2 = quantity("pca_apart2", "least squared distance of the subspaces of a packing", printed="min‖sin Θ‖²")
log_count = quantity("pca_log_count", "logarithm of the number of subspaces of a packing", printed="log|V|")
risk_pca = quantity("risk_pca", "minimax squared subspace distance, no interaction", printed="M(S(P(k,σ²)),ε)")
u, v, x = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True), Symbol("x", positive=True)

# Privacy -------------------------------------------------------------------------------------------
released = Release(sqrt(2) * radius**2, Gaussian(sigma_1), relation=LOCAL)
classical = sqrt(2 * log(Rational(5, 4) / delta)) / eps
private = ApproxDP(eps, delta, relation=LOCAL)
unit = Setting("‖x‖₂ ≤ 1 for every record x in ℝᵖ")

bounded = Setting("records of norm at most max‖x‖")

sensitivity = Claim(
    id="dwang20.algorithm6.1.46.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 6.1.46, line 2: what its noise must hide", line=7398),
    says="The outer products of two records are √2 apart at most, and so are their upper triangles; those of e₁ and "
    "e₂ are as far.",
    assumes=[bounded],
    states=Le(matrix2, 2 * radius**4),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            matrix2,
            Step("<=", 2 * radius**4 - 2 * cosine2, because=Premise("‖xxᵀ-yyᵀ‖² = ‖x‖⁴ + ‖y‖⁴ - 2⟨x,y⟩²"),
                 uses=[bounded]),
            Step("<=", STATEMENT),
        ),
        AtMost(2 * radius**4, "x along e₁ and y along e₂: two entries of the diagonal move by max‖x‖²"),
    ],
)


def noise_of_a_user(stem: str, place: str, line: int, *assumes: Hypothesis) -> tuple[Claim, Claim]:
    """The noise that a document prints for a user's outer product, and as corrected."""

    def claim(says: str, noise: Expr, *given: Hypothesis, corrects: str | None = None) -> Claim:
        return Claim(
            id=f"dwang20.{stem}{'.corrected' if corrects else ''}", kind=Kind.PRIVACY,
            source=Source("dwang20", place, line=line),
            says=says,
            assumes=[unit, *given],
            states=Eq(sigma_1, noise),
            guarantee=private,
            corrects=corrects,
            ignores_units=True,
            checks=[
                Accountant(
                    released.at(r_outer=1.0), "users at e₁ and e₂: two entries of the diagonal move by 1", uses=[unit]
                )
            ],
        )

    return (
        claim("Noise of variance 2ln(1.25/δ)/ε² on each entry makes a user's outer product (ε, δ)-private.", classical,
              *assumes),
        claim("It takes twice that variance, for ε at most 1.", sqrt(2) * classical, eps <= 1,
              corrects=f"dwang20.{stem}"),
    )


def privacy(theorem: str, line: int, *assumes: Hypothesis) -> tuple[Claim, Claim]:
    """The noise of an algorithm of section 6.1."""
    place = f"Theorem {theorem}, first sentence, and line 2 of its algorithm"
    return noise_of_a_user(f"theorem{theorem}.privacy", place, line, *assumes)


theorem2_privacy, theorem2_privacy_corrected = privacy("6.1.2", 7385)

# Utility -------------------------------------------------------------------------------------------
leading_ones = Setting("V and Ṽ are the k leading eigenvectors of Σ and of S̃")
spectrum = [leading_ones, gap <= top]
# With the same normals for both, S of (6.7) differs from that of I/(10p) in row and column j alone.
HIDDEN_SPIKE = (
    "on (6.7) with V = e_j and λ = 1 the spike is 1/(10p), and the law of S̃ is O(n/p² + 1/p) in relative entropy from "
    "that of Σ = I/(10p): S̃ hardly tells which j it is, and of p axes some one has ⟨ṽ, e_j⟩² ≤ 1/2 but for a chance of "
    "2/p + O(p^(-1/4))"
)
spiked = {top: 1 / (5 * x), gap: 1 / (10 * x), k: Integer(1), d: x, n: x**Rational(3, 2)}

theorem2 = Claim(
    id="dwang20.theorem6.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.2, equation (6.2)", line=7387),
    says="The squared subspace distance of the noisy principal components, but for a chance of e^(-C₁p) + p^(-C₂).",
    assumes=[*spectrum, unit, n >= d],
    states=Rate(sin2, top**2 * k * d * log(1 / delta) / (gap**2 * n * eps**2)),
    guarantee=private,
    ignores_units=True,
    checks=[NoConstant(Rational(1, 2), {**spiked, eps: Rational(1, 2), delta: Rational(1, 10)}, x, HIDDEN_SPIKE)],
)

normal_sample = Setting("‖S-Σ‖ ≤ 8λ₁√(p/n), as of n normal records but for a chance of 2e^(-p/2) (Davidson and Szarek)")

theorem2_corrected = Claim(
    id="dwang20.theorem6.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.2, equation (6.2)", line=7387),
    says="λ₁² belongs to the sample alone: noise that is enough knows nothing of it. But for a chance of 2e^(-p).",
    assumes=[*spectrum, unit, n >= d, eps <= 1],
    added=[
        delta <= Rational(1, 2),
        normal_sample,
    ],
    states=Rate(sin2, k * d * (top**2 + log(1 / delta) / eps**2) / (gap**2 * n)),
    guarantee=private,
    corrects="dwang20.theorem6.1.2",
    ignores_units=True,
    checks=[
        Chain(
            sin2,
            Step("<=", 4 * k * off2 / gap**2, because=Premise("Lemma 6.1.7 with r = 1 and s = k (Yu, Wang, Samworth)"),
                 uses=[leading_ones]),
            Step("<=", 8 * k * (sampled2 + noise2) / gap**2, because=Premise("S̃ = S + Z, and (a+b)² ≤ 2a² + 2b²")),
            Step("<=", 8 * k * (64 * top**2 * d / n + noise2) / gap**2, because=Premise("‖S-Σ‖ ≤ 8λ₁√(p/n)"),
                 uses=[normal_sample]),
            Step(
                "<=",
                8 * k * (64 * top**2 * d / n + 16 * sigma_1**2 * d / n) / gap**2,
                because=Premise(
                    "either end of Z's spectrum is at most 2σ₁√(p/n) on average (Sudakov and Fernique), and moves by "
                    "√2σ₁/√n at most as its normals move by 1: within 4σ₁√(p/n) but for a chance of e^(-p)"
                ),
            ),
            Step("<=", because=Cites("dwang20.theorem6.1.2.privacy.corrected")),
            Step("<=", 800 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)

# Lower bounds --------------------------------------------------------------------------------------
phi = Symbol("phi", real=True)


def half_trace() -> Expr:
    """tr(Σ'⁻¹(Σ-Σ'))/2 of two lines at an angle φ in their plane, in units of 5p(λ+1)."""
    one, other = Matrix([1, 0]), Matrix([cos(phi), sin(phi)])
    first, second = (spike * line * line.T + eye(2) for line in (one, other))
    return simplify((second.inv() * (first - second)).trace() / 2).subs(sin(phi) ** 2, sin2)


lemma5 = Claim(
    id="dwang20.lemma6.1.5", kind=Kind.IDENTITY,
    source=Source("dwang20", "Lemma 6.1.5", line=7637),
    says="The relative entropy of normal laws with the covariances (6.7).",
    states=Le(divergence, spike**2 / (2 * (1 + spike)) * sin2),
    ignores_units=True,
    checks=[
        AtMost(
            half_trace(),
            "it is tr(Σ'⁻¹(Σ-Σ'))/2, as determinants agree, and a sum over the planes of the principal angles",
        )
    ],
)


not_empty = Setting("‖Z‖_ψ₂ may be a constant: of variance 1 it is 1.2 at least, and the class with 1 is empty")
enough_n = Setting("n ≥ σ²·min{k, p-k}/ε²")
weak, pure = eps <= Rational(1, 2), PureDP(eps, relation=LOCAL)


def packed(risk: Expr, rows: Expr, shape: Sequence[Hypothesis], enough: Setting, *last: Step) -> Chain:
    """Fano's inequality over the subspaces of (I, tB), B a matrix of signs with k columns and so many rows."""
    q = k * rows
    t2 = noise_variance / (152 * n * eps**2)
    return Chain(
        risk,
        Step(
            ">=",
            apart2 / 8 * (1 - (19 * n * eps**2 * divergence / 2 + log(2)) / log_count),
            because=Premise("Lemma 6.1.1 (Duchi, Jordan, Wainwright), c < 19, and Pinsker: ‖P-P'‖² ≤ D(P‖P')/2"),
            uses=[weak, pure],
        ),
        Step(">=", because=Cites("dwang20.lemma6.1.5")),
        Step(
            ">=",
            t2 * q / 64 * (1 - (19 * n * eps**2 * t2 * q / noise_variance + log(2)) / (q / 4)),
            because=Premise(
                "(1+λ)/λ² = σ²; of the matrices of q signs half have ‖B‖² ≤ 4π(rows + columns), of which for q ≥ 11 "
                "e^(q/4) differ in q/8 entries or more (Gilbert); with t² = σ²/(152nε²), so that t‖B‖ ≤ 1, the "
                "subspaces of (I, tB) and (I, tB') have t²q/8 ≤ t²‖B-B'‖²/4 ≤ ‖sin Θ‖² ≤ t²‖B-B'‖² ≤ 4t²q"
            ),
            uses=[enough, not_empty, *shape],
        ),
        *last,
    )


spread_out = [d <= 4 * k, 4 * k <= 3 * d]  # by which records of (6.7) have norm 1 at most
reached = {d: 4 * (4 + u), k: (4 + u) * (1 + 3 * v) / (1 + v)}  # p ≥ 16 and p/4 ≤ k ≤ 3p/4

theorem1 = Claim(
    id="dwang20.theorem6.1.1", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 6.1.1", line=7371),
    says="No ε-private protocol without interaction has a smaller squared subspace distance over the class.",
    assumes=[weak, *spread_out, enough_n],
    added=[d >= 16, not_empty],
    states=Rate(risk_pca, noise_variance * k * d / (n * eps**2), below=True),
    guarantee=pure,
    ignores_units=True,
    checks=[packed(risk_pca, d - k, spread_out, enough_n, Step(">=", STATEMENT / 200_000, where=reached))],
)
