"""Laplacian smoothing (lwang21, sections 5.2, 5.6 and 5.7; lssgd20, section 2 and appendices B, C).

A_σ = I - σL with L the periodic second difference, its eigenvalues λ, γ and β, the means of 1/λ and 1/λ². Both
documents print the same statements; each is a claim of its own. Operator: dpcheck/kernels/smoothing.py.
"""

from collections.abc import Sequence

from sympy import Eq, Expr, I, Integer, Le, Lt, Rational, Symbol, cos, exp, pi, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting
from dpcheck.bounds.language.printed_twice import PrintedTwice
from dpcheck.bounds.language.symbols import TABLE, d, n, quantity
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, NoConstant, Proof, Same

# Symbols -------------------------------------------------------------------------------------------
smoothing = quantity("smoothing", "strength of Laplacian smoothing, σ of A_σ", printed="σ", latex=r"\sigma")
gamma_s = quantity("gamma_s", "mean of 1/λ over the eigenvalues of A_σ", box=(1e-3, 1), printed="γ", latex=r"\gamma")
beta_s = quantity("beta_s", "mean of 1/λ² over the eigenvalues of A_σ", box=(1e-3, 1), printed="β", latex=r"\beta")
condition = quantity(
    "ls_condition", "condition number of A_σ", box=(1, 1e3), printed="κ(A_σ)", latex=r"\kappa(A_\sigma)"
)
eigenvalue = quantity("ls_eigenvalue", "an eigenvalue of A_σ", box=(1, 1e3), printed="λ", latex=r"\lambda")
smoothed2 = quantity("ls_smoothed2", "E ||A^-1 x||^2, x standard normal", printed="E‖A⁻¹x‖²")
induced2 = quantity("ls_induced2", "E <x, A^-1 x>, x standard normal", printed="E‖x‖²_{A⁻¹}")
angle = quantity("ls_angle", "2πj/d of an eigenvalue", box=(1e-2, 6.28), printed="θ", latex=r"\theta")
root_inside = quantity("ls_omega", "(2σ+1-√(4σ+1))/(2σ)", box=(1e-2, 0.99), printed="ω", latex=r"\omega")
mode = quantity("ls_mode", "index of an eigenvalue", box=(1, 100), integer=True, printed="i")
at_mode = 1 + 2 * smoothing - 2 * smoothing * cos(2 * pi * mode / d)


both = PrintedTwice("lwang21", "lssgd20")

# Closed forms, in ω, the root √(4σ+1) and ω^d -------------------------------------------------------
omega, root = (2 * smoothing + 1 - sqrt(4 * smoothing + 1)) / (2 * smoothing), sqrt(4 * smoothing + 1)
outer = (2 * smoothing + 1 + root) / (2 * smoothing)


def gamma_closed(omega: Expr, root: Expr, power: Expr) -> Expr:
    """Proposition 5.3.5, as printed."""
    return (1 + power) / ((1 - power) * root)


def beta_closed(omega: Expr, root: Expr, power: Expr, sigma: Expr, d: Expr) -> Expr:
    """Proposition 5.3.8, as printed."""
    xi = -root / sigma
    top = 2 * power**2 * omega - xi * power**2 + 2 * xi * d * power - 2 * omega + xi
    return top / (sigma**2 * xi**3 * (1 - power) ** 2)


gamma_formula = gamma_closed(omega, root, omega**d)
beta_formula = beta_closed(omega, root, omega**d, smoothing, d)

# Every σ > 0 is (1+g)/g² for one g > 0; then ω = 1/(1+g) and the root is (g+2)/g.
g, P, Q, a, b = symbols("g P Q a b", positive=True)
sigma_g, omega_g, root_g = (1 + g) / g**2, 1 / (1 + g), (g + 2) / g
covers: Sequence[Same | Less] = [
    Same("σ = (1+g)/g² gives 4σ+1 = ((g+2)/g)²", 4 * sigma_g + 1, root_g**2),
    Same("and ω = 1/(1+g)", (2 * sigma_g + 1 - root_g) / (2 * sigma_g), omega_g),
]
inverts = [
    *covers,
    Same(
        "A_σ takes the column (ω^k + ω^(d-k))/(√(4σ+1)(1-ω^d)) to 0 off the diagonal",
        (1 + 2 * sigma_g) * (a + b) - sigma_g * (a / omega_g + b * omega_g) - sigma_g * (a * omega_g + b / omega_g),
        Integer(0),
    ),
    Same(
        "and to 1 on it, so that it is the first column of the inverse",
        (1 + 2 * sigma_g) * (1 + P) - 2 * sigma_g * (omega_g + P / omega_g),
        root_g * (1 - P),
    ),
]

proposition_gamma, proposition_gamma_v0 = both(
    "proposition5.3.5",
    "proposition1",
    kind=Kind.IDENTITY,
    says="γ in closed form, ω = (2σ+1-√(4σ+1))/(2σ).",
    states=Eq(gamma_s, gamma_formula),
    checks=[
        Proof(
            [*inverts, Same("γ is its first entry", (1 + P) / (root_g * (1 - P)), gamma_closed(omega_g, root_g, P))],
            "the diagonal of the inverse of a circulant is the mean of 1/λ",
        )
    ],
)

far = Symbol("far", positive=True)
gamma_limit, gamma_limit_v0 = both(
    "proposition5.3.5.limit",
    "proposition1.limit",
    kind=Kind.IDENTITY,
    says="γ converges to 0 as d grows, almost exponentially: of order 1/d at the least.",
    states=Rate(gamma_s, 1 / d),
    checks=[
        NoConstant(
            1 / sqrt(4 * smoothing + 1),
            {smoothing: Integer(1), d: far},
            far,
            "γ ≥ 1/√(4σ+1) for every d: (1+ω^d)/(1-ω^d) ≥ 1",
            1e3,
        )
    ],
)

gamma_limit_right, gamma_limit_right_v0 = both(
    "proposition5.3.5.limit.corrected",
    "proposition1.limit.corrected",
    kind=Kind.IDENTITY,
    says="γ converges to 1/√(4σ+1), exponentially.",
    states=Eq(gamma_s, 1 / root + 2 * omega**d / ((1 - omega**d) * root)),
    checks=[
        Proof(
            [
                *inverts,
                Same("γ - 1/√(4σ+1)", gamma_closed(omega_g, root_g, P) - 1 / root_g, 2 * P / ((1 - P) * root_g)),
            ],
            "2ω^d/((1-ω^d)√(4σ+1)) is left",
        )
    ],
)

squares = ((1 + omega_g**2) * (1 - P**2) / (1 - omega_g**2) + 2 * d * P) / (root_g**2 * (1 - P) ** 2)
beta_steps = [
    *inverts,
    Same(
        "Σ ω^(2k) = (1-ω^(2m))/(1-ω²) grows by ω^(2m)",
        (1 - (Q * omega_g) ** 2) / (1 - omega_g**2) - (1 - Q**2) / (1 - omega_g**2),
        Q**2,
    ),
    Same(
        "β, the sum of the column's squares (ω^(2k) + ω^(2d-2k) + 2ω^d)/..., is what is printed",
        squares,
        beta_closed(omega_g, root_g, P, sigma_g, d),
    ),
]

proposition_beta, proposition_beta_v0 = both(
    "proposition5.3.8",
    "proposition2",
    kind=Kind.IDENTITY,
    says="β in closed form, ξ = -√(1+4σ)/σ.",
    states=Eq(beta_s, beta_formula),
    checks=[Proof(beta_steps, "the diagonal of A_σ⁻² is the mean of 1/λ²")],
)

share = Symbol("share", nonnegative=True)


def mean_below_one(power: int) -> Proof:
    """The mean of 1/λ to a power is below 1 from d = 2 on."""
    lam = 1 + 2 * smoothing * share
    return Proof(
        [
            Less("no term exceeds 1, as λ = 1 + 2σ(1-cos θ)", 1 / lam**power, Integer(1)),
            Less(
                "and for θ = π or, d odd, θ = π(d-1)/d it is at most that of λ = 1+3σ, below 1",
                1 / (lam + 3 * smoothing) ** power,
                1 / (1 + 3 * smoothing) ** power,
            ),
            Less("cos(π(d-1)/d) ≤ -1/2 from d = 3 on, where it is cos(2π/3)", cos(2 * pi / 3), -Rational(1, 2)),
        ],
        "a mean of numbers in (0, 1], one of them below 1",
    )


proposition_beta_range, proposition_beta_range_v0 = both(
    "proposition5.3.8.range",
    "proposition2.range",
    kind=Kind.IDENTITY,
    says="β lies below 1 from d = 2 on (for d = 1 there are no neighbours and A_σ = I).",
    assumes=[d >= 2],
    states=Lt(beta_s, 1),
    checks=[mean_below_one(2)],
)

gamma_range, gamma_range_v0 = both(
    "section5.1.1.range",
    "section1.1.range",
    kind=Kind.IDENTITY,
    says="γ, like β, is strictly less than one: from d = 2 on.",
    assumes=[d >= 2],
    states=Lt(gamma_s, 1),
    checks=[mean_below_one(1)],
)

omega_range, omega_range_v0 = both(
    "proposition5.3.5.omega",
    "proposition1.omega",
    kind=Kind.IDENTITY,
    says="ω = (2σ+1-√(4σ+1))/(2σ) lies below 1.",
    states=Lt(root_inside, 1),
    checks=[Proof([*covers, Less("1/(1+g) < 1 for g > 0", omega_g, Integer(1))], "ω is 1/(1+g)")],
)

# The operator --------------------------------------------------------------------------------------
eigenvalues, eigenvalues_v0 = both(
    "section5.2.fft",
    "section2.1.fft",
    kind=Kind.IDENTITY,
    says="A_σ⁻¹v = ifft(fft(v)/(1 - σ·fft(c))), c = [-2, 1, 0, …, 0, 1]: the eigenvalue at θ = 2πj/d.",
    states=Eq(eigenvalue, 1 + 2 * smoothing - 2 * smoothing * cos(angle)),
    checks=[
        Equals(
            (1 - smoothing * (-2 + exp(I * angle) + exp(-I * angle))).rewrite(cos).expand(),
            "fft of the stencil: -2 + e^(-iθ) + e^(iθ)",
        )
    ],
)

definite, definite_v0 = both(
    "section5.2.definite",
    "section2.1.definite",
    kind=Kind.IDENTITY,
    says="A_σ is positive definite: its least eigenvalue is 1.",
    states=Le(1, eigenvalue),
    checks=[Proof([Less("λ = 1 + 2σ(1-cos θ), 1-cos θ ≥ 0", Integer(1), 1 + 2 * smoothing * share)], "1 at θ = 0")],
)

plain, plain_v0 = both(
    "section5.2.plain",
    "section2.1.plain",
    kind=Kind.IDENTITY,
    says="With σ = 0 LSSGD is SGD: every eigenvalue of A_σ is 1.",
    assumes=[Setting("σ = 0")],
    states=Eq(eigenvalue, 1),
    checks=[Equals((1 + 2 * smoothing - 2 * smoothing * cos(angle)).subs(smoothing, 0), "A_0 = I")],
)

half = quantity("ls_half", "(d-1)/2 of an odd dimension d", box=(1, 100), integer=True, printed="(d-1)/2")
condition_printed, condition_printed_v0 = both(
    "section5.2.condition",
    "section2.1.condition",
    kind=Kind.IDENTITY,
    says="A_σ has condition number 1+4σ, whatever its dimension.",
    states=Eq(condition, 1 + 4 * smoothing),
    checks=[
        Equals(
            1 + 2 * smoothing + 2 * smoothing * cos(pi / (2 * half + 1)),
            "odd d = 2·half + 1: cos(2πj/d) is least, -cos(π/d), at j = half; the least eigenvalue is 1",
        )
    ],
)

condition_right, condition_right_v0 = both(
    "section5.2.condition.corrected",
    "section2.1.condition.corrected",
    kind=Kind.IDENTITY,
    says="At most 1+4σ, which even dimensions attain.",
    states=Le(condition, 1 + 4 * smoothing),
    checks=[
        AtMost(
            1 + 2 * smoothing * (2 / (1 + share)),
            "1 + 2σ(1-cos θ) with 1-cos θ between 0 and 2; cos π = -1",
            exact=False,
        )
    ],
)


# Gaussian vectors ----------------------------------------------------------------------------------
def trace_lemma(
    lwang21: str, lssgd20: str, what: str, of: str, measure: Symbol, formula: Expr, mean: Symbol, proof: Proof
) -> list[Claim]:
    """E of a quadratic form is a trace, d times a mean over the eigenvalues; both proofs end without the d."""
    printed = str(TABLE[mean].printed)
    stated = both(
        lwang21,
        lssgd20,
        kind=Kind.IDENTITY,
        says=f"{what} is the sum of {of}, that is d{printed}, for a standard normal x.",
        states=Eq(measure, d * formula),
        checks=[proof],
    )
    end = both(
        f"{lwang21}.proof",
        f"{lssgd20}.proof",
        kind=Kind.IDENTITY,
        says=f"The last line of its proof: {what} is {printed}.",
        states=Eq(measure, mean),
        checks=[Equals(d * mean, f"the sum of {of} is d times their mean")],
    )
    right = both(
        f"{lwang21}.proof.corrected",
        f"{lssgd20}.proof.corrected",
        kind=Kind.IDENTITY,
        says=f"It is d{printed}.",
        states=Eq(measure, d * mean),
        checks=[proof],
    )
    return [*stated, *end, *right]


gamma_trace = Same(
    "the trace of A_σ⁻¹ is d of its first entries",
    d * (1 + P) / (root_g * (1 - P)),
    d * gamma_closed(omega_g, root_g, P),
)
induced, induced_v0, induced_end, induced_end_v0, induced_right, induced_right_v0 = trace_lemma(
    "lemma5.5.7",
    "lemma4",
    "E‖x‖² in the norm of A_σ⁻¹",
    "1/λ",
    induced2,
    gamma_formula,
    gamma_s,
    Proof([*inverts, gamma_trace], "E⟨x, Mx⟩ = tr M; γ is the first entry of A_σ⁻¹"),
)
smoothed, smoothed_v0, smoothed_end, smoothed_end_v0, smoothed_right, smoothed_right_v0 = trace_lemma(
    "lemma5.5.8",
    "lemma5",
    "E‖A_σ⁻¹x‖²",
    "1/λ²",
    smoothed2,
    beta_formula,
    beta_s,
    Proof(beta_steps, "E‖Mx‖² = tr M²; β is the first entry of A_σ⁻², its trace d of them"),
)

mode_eigenvalue, mode_eigenvalue_v0 = both(
    "lemma5.5.8.eigenvalue",
    "lemma5.eigenvalue",
    kind=Kind.IDENTITY,
    says="Its proof has the eigenvalues at 2πi/n, n the number of records.",
    assumes=[mode <= d],
    states=Eq(eigenvalue, 1 + 2 * smoothing - 2 * smoothing * cos(2 * pi * mode / n)),
    checks=[Equals(at_mode, "A_σ has d of them: the angles are multiples of 2π/d")],
)

mode_eigenvalue_right, mode_eigenvalue_right_v0 = both(
    "lemma5.5.8.eigenvalue.corrected",
    "lemma5.eigenvalue.corrected",
    kind=Kind.IDENTITY,
    says="At 2πi/d, as in the lemma itself.",
    assumes=[mode <= d],
    states=Eq(eigenvalue, at_mode),
    checks=[
        Equals(
            (1 - smoothing * (-2 + exp(2 * pi * I * mode / d) + exp(-2 * pi * I * mode / d))).rewrite(cos).expand(),
            "A_σ on the vector e^(2πijk/d): the stencil's neighbours turn it by ±2πi/d",
        )
    ],
)
