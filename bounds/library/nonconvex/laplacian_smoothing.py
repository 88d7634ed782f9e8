"""Laplacian smoothing (lwang21, sections 5.2, 5.6 and Remark 5.5.6; lssgd20, section 2, appendix B and Remark 3).

A_σ = I - σL with L the periodic second difference; γ and β are the means of 1/λ and 1/λ² over its eigenvalues λ. Both
documents print the same statements; lssgd20 writes α for ω. Operator: dpcheck/kernels/smoothing.py; measured by
dpcheck/evidence/nonconvex/laplacian_smoothing.py.
"""

from collections.abc import Callable, Sequence
from functools import partial

from sympy import Eq, Expr, I, Integer, Le, Lt, Matrix, Rational, Symbol, cos, exp, expand, limit, oo, pi, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting
from dpcheck.bounds.language.printed_twice import PrintedTwice
from dpcheck.bounds.language.symbols import TABLE, d, quantity, ratio
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, OnlySolution, Premise, Step
from dpcheck.bounds.proving.derivations import Expectation, gaussian
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant, PrintedCells
from dpcheck.bounds.proving.steps import Less

both = PrintedTwice("lwang21", "lssgd20")

# Symbols -------------------------------------------------------------------------------------------
smoothing = quantity("smoothing", "strength of Laplacian smoothing, σ of A_σ", printed="σ", latex=r"\sigma")
gamma_s = quantity("gamma_s", "mean of 1/λ over the eigenvalues of A_σ", box=(1e-3, 1), printed="γ", latex=r"\gamma")
beta_s = quantity("beta_s", "mean of 1/λ² over the eigenvalues of A_σ", box=(1e-3, 1), printed="β", latex=r"\beta")
gamma_limit = quantity("ls_gamma_limit", "limit of γ as the dimension grows", printed="lim γ")
condition = quantity("ls_condition", "condition number of A_σ", box=(1, 1e3), printed="κ(A_σ)")
eigenvalue = quantity("ls_eigenvalue", "an eigenvalue of A_σ", box=(1, 1e3), printed="λ", latex=r"\lambda")
angle = quantity("ls_angle", "2πj/d of an eigenvalue", box=(1e-2, 6.28), printed="θ", latex=r"\theta")
smoothed2 = quantity("ls_smoothed2", "E ||A^-1 x||^2, x standard normal", printed="E‖A⁻¹x‖²")
induced2 = quantity("ls_induced2", "E <x, A^-1 x>, x standard normal", printed="E‖x‖²_{A⁻¹}")
lag = quantity("ls_lag", "index k of a Fourier coefficient", box=(1, 100), integer=True, printed="k")
coefficient = quantity("ls_coefficient", "Fourier coefficient of 1/λ(θ)", printed="f[k]")
coefficient2 = quantity("ls_coefficient2", "Fourier coefficient of 1/λ(θ)²", printed="f[k]")
shift = quantity("ls_shift", "A_σ⁻¹ of a difference of gradients is shift·(1, 0, 0)", printed="s")
length = quantity("ls_length", "‖g‖, g a difference of gradients", printed="‖g‖")
inner2 = quantity("ls_inner2", "‖A_σ⁻¹g‖²", printed="‖d‖²")
forward2 = quantity("ls_forward2", "‖D₊A_σ⁻¹g‖²", printed="‖D₊d‖²")
second2 = quantity("ls_second2", "‖LA_σ⁻¹g‖²", printed="‖Ld‖²")
left_error = quantity("ls_left_error", "squared error of a signal after smoothing over that before", printed="MSE")

root = sqrt(4 * smoothing + 1)
omega = (2 * smoothing + 1 - root) / (2 * smoothing)
xi = -root / smoothing
v, t = Symbol("v", positive=True), Symbol("t", nonnegative=True)


def in_v(e: Expr) -> Expr:
    """The expression at σ = v(v+1), which reaches every σ > 0 and takes the roots: ω = v/(v+1), √(4σ+1) = 2v+1."""
    return e.subs(omega, v / (v + 1)).subs(root, 2 * v + 1).subs(smoothing, v * (v + 1))


def inserted(subject: Expr, equations: Callable[[Expr], Sequence[Expr]], only: str) -> Chain:
    """The statement solves these equations."""
    return Chain(subject, Step("=", STATEMENT, because=OnlySolution(equations, only)))


# The operator --------------------------------------------------------------------------------------
def applied(u: Expr) -> Expr:
    """A_σ on a sequence in k: (1+2σ)u[k] - σ(u[k-1] + u[k+1])."""
    return (1 + 2 * smoothing) * u - smoothing * (u.subs(lag, lag - 1) + u.subs(lag, lag + 1))


wave = exp(I * angle * lag)
fft, fft_v0 = both(
    "section5.2.fft", "section2.1.fft", places=("section 5.2.1, FFT", "section 2.1, FFT"), lines=(8305, 91),
    kind=Kind.IDENTITY,
    says="A_σ⁻¹v = ifft(fft(v)/(1 - σ·fft(c))), c = [-2, 1, 0, …, 0, 1]: it divides by the eigenvalue at θ = 2πj/d.",
    states=Eq(eigenvalue, 1 + 2 * smoothing - 2 * smoothing * cos(angle)),
    checks=[
        inserted(
            eigenvalue,
            lambda lam: [expand((applied(wave) - lam * wave).rewrite(exp))],
            "u[k] = e^(iθk), θ = 2πj/d, are the d vectors of the discrete Fourier transform",
        )
    ],
)

EVEN = Setting("d is even")
even, even_v0 = both(
    "section5.2.condition", "section2.1.condition", places=("section 5.2.1", "section 2.1"), lines=(8290, 89),
    kind=Kind.IDENTITY,
    says="A_σ has condition number 1+4σ, whatever its dimension: an even one. In an odd one it is 1+2σ(1+cos(π/d)).",
    states=Eq(condition, 1 + 4 * smoothing),
    added=[EVEN],
    checks=[
        Chain(
            condition,
            Step(
                "=",
                eigenvalue,
                because=Premise("λ is least at θ = 0, where it is 1, and largest at θ = π, j = d/2"),
                uses=[EVEN],
            ),
            Step("=", because=Cites("lwang21.section5.2.fft", {angle: pi})),
            Step("=", STATEMENT),
        )
    ],
)

# Closed forms --------------------------------------------------------------------------------------
FALLS = "and no other sequence does that is even in k and falls to 0"
fourier, fourier_v0 = both(
    "lemma5.6.2", "lemma7", lines=(9949, 443), kind=Kind.IDENTITY,
    says="1/(1+2σ(1-cos θ)) has the Fourier coefficients ω^|k|/√(4σ+1), ω = (2σ+1-√(4σ+1))/(2σ).",
    states=Eq(coefficient, omega**lag / root),
    checks=[
        inserted(
            coefficient,
            lambda f: [
                in_v(applied(f)),
                in_v((1 + 2 * smoothing) * f.subs(lag, 0) - 2 * smoothing * f.subs(lag, 1)) - 1,
            ],
            f"λ(θ)·1/λ(θ) = 1: A_σ takes its coefficients to 1 at k = 0 and to 0 elsewhere, {FALLS}",
        )
    ],
)

squared_fourier, squared_fourier_v0 = both(
    "equation5.6.6", "equation13", lines=(10210, 513), kind=Kind.IDENTITY,
    says="The Fourier coefficients of its square, k ≥ 0.",
    states=Eq(
        coefficient2, (lag + 1) * omega**lag / (4 * smoothing + 1) + 2 * smoothing * omega ** (lag + 1) / root**3
    ),
    checks=[
        inserted(
            coefficient2,
            lambda h: [
                in_v(applied(h) - fourier.formula),
                in_v(
                    (1 + 2 * smoothing) * h.subs(lag, 0)
                    - 2 * smoothing * h.subs(lag, 1)
                    - fourier.formula.subs(lag, 0)
                ),
            ],
            f"λ(θ)·1/λ(θ)² = 1/λ(θ): A_σ takes its coefficients to those of Lemma 5.6.2, {FALLS}",
        )
    ],
    cites=[Cites("lwang21.lemma5.6.2")],
)

power = omega**d
gamma_formula = (1 + power) / ((1 - power) * root)
beta_formula = (2 * omega ** (2 * d + 1) - xi * power**2 + 2 * xi * d * power - 2 * omega + xi) / (
    smoothing**2 * xi**3 * (1 - power) ** 2
)
SAMPLED = "Poisson summation: the mean over the d angles is the sum of f[ℓd] over all whole ℓ,"
proposition_gamma, proposition_gamma_v0 = both(
    "proposition5.3.5", "proposition1", lines=(8514, 142), kind=Kind.IDENTITY,
    says="γ in closed form, ω = (2σ+1-√(4σ+1))/(2σ).",
    states=Eq(gamma_s, gamma_formula),
    checks=[
        Chain(
            gamma_s,
            Step("=", coefficient * (1 + power) / (1 - power), because=Premise(f"{SAMPLED} f[0]·ω^(|ℓ|d) each")),
            Step("=", because=Cites("lwang21.lemma5.6.2", {lag: Integer(0)})),
            Step("=", STATEMENT),
        )
    ],
)

proposition_beta, proposition_beta_v0 = both(
    "proposition5.3.8", "proposition2", lines=(8585, 156), kind=Kind.IDENTITY,
    says="β in closed form, ξ = -√(1+4σ)/σ.",
    states=Eq(beta_s, beta_formula),
    checks=[
        Chain(
            beta_s,
            Step(
                "=", coefficient2 * (1 + power) / (1 - power) + 2 * d / (4 * smoothing + 1) * power / (1 - power) ** 2,
                because=Premise(f"{SAMPLED} (f[0] + |ℓ|d/(4σ+1))·ω^(|ℓ|d) each"),
            ),
            Step("=", because=Cites("lwang21.equation5.6.6", {lag: Integer(0)})),
            Step("=", STATEMENT, where={smoothing: t * (t + 1)}),
        )
    ],
)

below_one, below_one_v0 = both(
    "proposition5.3.8", "proposition2", ".range", lines=(8600, 156), kind=Kind.IDENTITY,
    says="Therefore β lies in (0, 1). From d = 2 on: in one dimension there are no neighbours and A_σ = I.",
    states=Lt(beta_s, 1),
    added=[d >= 2],
    checks=[
        Chain(
            beta_s,
            Step(
                "<=", 1 - (1 - 1 / (1 + 3 * smoothing) ** 2) / d,
                because=Premise(
                    "β is the mean of d numbers 1/λ², none above 1; that of the angle nearest π has λ ≥ 1+3σ, as its "
                    "cosine is -1/2 at most"
                ),
                uses=[d >= 2],
            ),
            Step("<", STATEMENT, box={smoothing: (1e-2, 1e2), d: (2, 1e6)}),
        )
    ],
)


def limit_of_gamma() -> Expr:
    """The limit of Proposition 5.3.5's formula as d grows, in σ again."""
    return limit(in_v(gamma_formula), d, oo).subs(v, (root - 1) / 2)


far = Symbol("far", positive=True)
gamma_limit_printed, gamma_limit_printed_v0 = both(
    "proposition5.3.5", "proposition1", ".limit", lines=(8528, 142), kind=Kind.IDENTITY,
    says="That is, γ converges to 0, almost exponentially, as the dimension d increases: as fast as 1/d, then.",
    states=Rate(gamma_s, 1 / d),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        NoConstant(
            1 / root, {smoothing: Integer(1), d: far}, far, "γ ≥ 1/√(4σ+1) for every d: (1+ω^d)/(1-ω^d) ≥ 1", at=1e3
        )
    ],
    cites=[Cites("lwang21.proposition5.3.5")],
)

gamma_limit_right, gamma_limit_right_v0 = both(
    "proposition5.3.5", "proposition1", ".limit.corrected", lines=(8528, 142), kind=Kind.IDENTITY,
    says="γ converges to 1/√(4σ+1), exponentially: ω^d falls to 0. Tables 5.3 (3) have that for every d.",
    states=Eq(gamma_limit, 1 / root),
    checks=[Equals(limit_of_gamma, "the limit of the proposition's own formula, as ω < 1")],
)

falling, falling_v0 = both(
    "remark5.3.6", "remark2", lines=(8534, 144), kind=Kind.UTILITY,
    says="γG² decreases as σ increases: γ at a larger σ over γ at σ.",
    states=Le(ratio, 1),
    checks=[
        Chain(
            ratio,
            Step(
                "<=", (1 + smoothing * t) / (1 + (smoothing + v) * t),
                because=Premise(
                    "of two means of 1/λ, λ = 1+σt and 1+(σ+v)t with t = 2-2cos θ, the ratio is at most the largest of "
                    "their terms' ratios"
                ),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

# Gaussian vectors ----------------------------------------------------------------------------------
induced, induced_v0 = both(
    "lemma5.5.7", "lemma4", lines=(9187, 343), kind=Kind.IDENTITY,
    says="E‖x‖² in the norm of A_σ⁻¹, x standard normal, is the sum of 1/λ, that is dγ.",
    states=Eq(induced2, d * gamma_s),
    checks=[Expectation(lambda y: d * gamma_s * y**2, gaussian(Integer(1)), "in the eigenbasis: Σ E y²/λ, y normal")],
)

smoothed, smoothed_v0 = both(
    "lemma5.5.8", "lemma5", lines=(9561, 389), kind=Kind.IDENTITY,
    says="E‖A_σ⁻¹x‖², x standard normal, is the sum of 1/λ², that is dβ.",
    states=Eq(smoothed2, d * beta_s),
    checks=[Expectation(lambda y: d * beta_s * y**2, gaussian(Integer(1)), "in the eigenbasis: Σ E y²/λ², y normal")],
)

# Differences of gradients --------------------------------------------------------------------------
example = Matrix([shift, 0, 0])  # d of the remark, in three dimensions
forward = Matrix([[-1, 1, 0], [0, -1, 1], [1, 0, -1]])  # D₊
second = Matrix([[-2, 1, 1], [1, -2, 1], [1, 1, -2]])  # L


def size2(vector: Matrix) -> Expr:
    """The squared norm."""
    return vector.dot(vector)


identity, identity_v0 = both(
    "remark5.5.6", "remark3", lines=(9135, 329), kind=Kind.IDENTITY,
    says="‖d‖ + 2σ‖D₊d‖²/dim + σ²‖Ld‖²/dim = ‖g‖ for d = A_σ⁻¹g; here at d = s·(1, 0, 0), dim = 3.",
    states=Eq(
        length, shift + 2 * smoothing * size2(forward * example) / 3 + smoothing**2 * size2(second * example) / 3
    ),
    checks=[Equals(lambda: sqrt(size2(example - smoothing * second * example)), "g = A_σd = s·(1+2σ, -σ, -σ)")],
)

identity_right, identity_right_v0 = both(
    "remark5.5.6", "remark3", ".corrected", lines=(9135, 329), kind=Kind.IDENTITY,
    says="‖d‖² + 2σ‖D₊d‖² + σ²‖Ld‖² = ‖g‖²: all norms squared and no dimension.",
    states=Eq(length**2, inner2 + 2 * smoothing * forward2 + smoothing**2 * second2),
    checks=[
        inserted(
            length**2,
            lambda total: [
                total.subs({forward2: t * inner2, second2: t**2 * inner2}) - (1 + smoothing * t) ** 2 * inner2
            ],
            "Parseval: in the mode of angle θ, t = 2-2cos θ, D₊ multiplies ‖d‖² by t, L by t², A_σ by (1+σt)²",
        )
    ],
)

stronger, stronger_v0 = both(
    "remark5.5.6", "remark3", ".privacy", lines=(9177, 337), kind=Kind.PRIVACY,
    says="As smoothing shrinks differences of gradients, the same noise gives much stronger privacy: read as, the "
    "ratio of shift to noise falls by the √β of Lemma 5.5.8 (5).",
    assumes=[beta_s < 1],
    states=Le(ratio, sqrt(beta_s)),
    provenance=Provenance.READING,
    checks=[AtMost(Integer(1), "A_σ⁻¹ is applied to the noise too, and one to one: the ratio stays what it was")],
)

unchanged, unchanged_v0 = both(
    "remark5.5.6", "remark3", ".privacy.corrected", lines=(9177, 337), kind=Kind.PRIVACY,
    says="Smoothing changes nothing: whoever sees the iterates has the likelihood ratios of DP-SGD, for every σ.",
    states=Eq(ratio, 1),
)

# Tables, signals -----------------------------------------------------------------------------------
SIGMAS, SIZES = (1, 2, 3, 4, 5), (1000, 10_000, 100_000)
GAMMAS, BETAS = (447, 333, 277, 243, 218), (268, 185, 149, 128, 114)  # thousandths, the same in every row


def cells(formula: Expr, printed: Sequence[int]) -> list[Less]:
    """Each printed cell is within half a thousandth of the formula."""
    return [
        Less(
            f"σ = {sigma}, d = {size}: printed 0.{thousandths}",
            abs(formula.subs(smoothing, sigma).evalf(40, subs={d: size}) - Rational(thousandths, 1000)),
            Rational(1, 2000),
        )
        for sigma, thousandths in zip(SIGMAS, printed, strict=True)
        for size in SIZES
    ]


def table(first: str, second: str, lines: tuple[int, int], mean: Symbol, printed: Sequence[int]) -> tuple[Claim, Claim]:
    """A printed table, cell by cell."""
    return both(
        first,
        second,
        lines=lines,
        kind=Kind.IDENTITY,
        says=f"The values of {TABLE[mean].printed}, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
        states=Eq(mean, gamma_formula if mean == gamma_s else beta_formula),
        checks=[PrintedCells(partial(cells, printed=printed), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
    )


table_gamma, table_gamma_v0 = table("table5.3", "table3", (10182, 500), gamma_s, GAMMAS)
table_beta, table_beta_v0 = table("table5.4", "table4", (10291, 529), beta_s, BETAS)

signals, signals_v0 = both(
    "figure5.2", "figure2", lines=(8348, 102), kind=Kind.EXPERIMENT,
    says="Smoothing removes noise efficiently: from a sine with noise 0.1 (σ = 10), from sin(x)sin(y) with noise 0.2, "
    "row by row (σ = 100).",
    added=[Setting("the printed N(0, I) of 2 by 2 is one standard normal a point")],
    states=Le(left_error, 1),
)
