"""Laplacian smoothing (lwang21, sections 5.2, 5.6 and 5.7; lssgd20, section 2 and appendices B, C).

A_σ = I - σL with L the periodic second difference, its eigenvalues λ, γ and β, the means of 1/λ and 1/λ². Both
documents print the same statements; each is a claim of its own. Operator: dpcheck/smoothing.py.
"""

import re
from collections.abc import Sequence
from typing import Any

from sympy import Add, Eq, Expr, I, Integer, Le, Lt, Mul, Rational, Symbol, cos, diff, exp, pi, sqrt, symbols

from bounds.claim import Claim, Kind, Rate, Setting, Source
from bounds.proofs import AtMost, Equals, Less, NoConstant, Proof, Same
from bounds.symbols import d, quantity

# Symbols -------------------------------------------------------------------------------------------
smoothing = quantity("smoothing", "strength of Laplacian smoothing, σ of A_σ", printed="σ", latex=r"\sigma")
gamma_s = quantity("gamma_s", "mean of 1/λ over the eigenvalues of A_σ", box=(1e-3, 1), printed="γ", latex=r"\gamma")
beta_s = quantity("beta_s", "mean of 1/λ² over the eigenvalues of A_σ", box=(1e-3, 1), printed="β", latex=r"\beta")
condition = quantity("ls_condition", "condition number of A_σ", box=(1, 1e3), printed="κ(A_σ)", latex=r"\kappa(A_\sigma)")
eigenvalue = quantity("ls_eigenvalue", "an eigenvalue of A_σ", box=(1, 1e3), printed="λ", latex=r"\lambda")
smoothed2 = quantity("ls_smoothed2", "E ||A^-1 x||^2, x standard normal", printed="E‖A⁻¹x‖²")
induced2 = quantity("ls_induced2", "E <x, A^-1 x>, x standard normal", printed="E‖x‖²_{A⁻¹}")
coefficient = quantity("ls_coefficient", "a Fourier coefficient", printed="f[k]")
comb = quantity("ls_comb", "a Fourier coefficient of d equal impulses", printed="g[k]")
lag = quantity("ls_lag", "index k of a Fourier coefficient", box=(1, 100), integer=True, printed="k")
time_step = quantity("ls_time_step", "time step of a diffusion", printed="Δt", latex=r"\Delta t")
spacing = quantity("ls_spacing", "distance of grid points", printed="h")
angle = quantity("ls_angle", "2πj/d of an eigenvalue", box=(1e-2, 6.28), printed="θ", latex=r"\theta")
residue = quantity("ls_residue", "residue at a double pole c", printed="Res(f,c)")
derivative = quantity("ls_derivative", "derivative of (z-c)²f at a double pole c", printed="((z-c)²f)'(c)")
left_error = quantity("ls_left_error", "mean squared error of a signal after smoothing", printed="MSE")


def place(name: str) -> str:
    """`Lemma 5.6.2` of lemma5.6.2.corrected."""
    found = re.match(r"([a-z]+)([\d.]*\d)?", name)
    assert found is not None
    return f"{found[1].capitalize()} {found[2] or ''}".strip()


def both(lwang21: str, lssgd20: str, **fields: Any) -> list[Claim]:
    """One statement as either document prints it; an id that ends in `.corrected` names what it corrects."""
    made = []
    for document, name in (("lwang21", lwang21), ("lssgd20", lssgd20)):
        wrong = f"{document}.{name.removesuffix('.corrected')}" if name.endswith(".corrected") else None
        made.append(Claim(id=f"{document}.{name}", source=Source(document, place(name)), corrects=wrong, **fields))
    return made


# Closed forms, in ω, the root √(4σ+1) and ω^d -------------------------------------------------------
omega, root = (2 * smoothing + 1 - sqrt(4 * smoothing + 1)) / (2 * smoothing), sqrt(4 * smoothing + 1)


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
    "proposition5.3.5", "proposition1",
    kind=Kind.IDENTITY,
    says="γ in closed form, ω = (2σ+1-√(4σ+1))/(2σ).",
    states=Eq(gamma_s, gamma_formula),
    checks=[
        Proof(
            [*inverts, Same("γ is its first entry", (1 + P) / (root_g * (1 - P)), gamma_closed(omega_g, root_g, P))],
            "the diagonal of the inverse of a circulant is the mean of 1/λ",
        )
    ],
)  # fmt: skip

far = Symbol("far", positive=True)
gamma_limit, gamma_limit_v0 = both(
    "proposition5.3.5.limit", "proposition1.limit",
    kind=Kind.IDENTITY,
    says="γ converges to 0 as d grows, almost exponentially: of order 1/d at the least.",
    states=Rate(gamma_s, 1 / d),
    checks=[
        NoConstant(
            1 / sqrt(4 * smoothing + 1), {smoothing: Integer(1), d: far}, far,
            "γ ≥ 1/√(4σ+1) for every d: (1+ω^d)/(1-ω^d) ≥ 1", 1e3,
        )
    ],
)  # fmt: skip

gamma_limit_right, gamma_limit_right_v0 = both(
    "proposition5.3.5.limit.corrected", "proposition1.limit.corrected",
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
)  # fmt: skip

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
    "proposition5.3.8", "proposition2",
    kind=Kind.IDENTITY,
    says="β in closed form, ξ = -√(1+4σ)/σ.",
    states=Eq(beta_s, beta_formula),
    checks=[Proof(beta_steps, "the diagonal of A_σ⁻² is the mean of 1/λ²")],
)  # fmt: skip

share = Symbol("share", nonnegative=True)
proposition_beta_range, proposition_beta_range_v0 = both(
    "proposition5.3.8.range", "proposition2.range",
    kind=Kind.IDENTITY,
    says="β lies below 1 from d = 2 on (for d = 1 there are no neighbours and A_σ = I).",
    assumes=[d >= 2],
    states=Lt(beta_s, 1),
    checks=[
        Proof(
            [
                Less("1/λ² ≤ 1 as λ = 1 + 2σ(1-cos θ)", 1 / (1 + 2 * smoothing * share) ** 2, Integer(1)),
                Less("and for θ = π or, d odd, θ = π(d-1)/d it is at most 1/(1+3σ)², below 1",
                     1 / (1 + 2 * smoothing * (Rational(3, 2) + share)) ** 2, 1 / (1 + 3 * smoothing) ** 2),
                Less("cos(π(d-1)/d) ≤ -1/2 from d = 3 on, where it is cos(2π/3)", cos(2 * pi / 3), -Rational(1, 2)),
            ],
            "a mean of numbers at most 1, one of them smaller",
        )
    ],
)  # fmt: skip

# The operator --------------------------------------------------------------------------------------
eigenvalues, eigenvalues_v0 = both(
    "section5.2.fft", "section2.1.fft",
    kind=Kind.IDENTITY,
    says="A_σ⁻¹v = ifft(fft(v)/(1 - σ·fft(c))), c = [-2, 1, 0, …, 0, 1]: the eigenvalue at θ = 2πj/d.",
    states=Eq(eigenvalue, 1 + 2 * smoothing - 2 * smoothing * cos(angle)),
    checks=[
        Equals(
            (1 - smoothing * (-2 + exp(I * angle) + exp(-I * angle))).rewrite(cos).expand(),
            "fft of the stencil: -2 + e^(-iθ) + e^(iθ)",
        )
    ],
)  # fmt: skip

half = quantity("ls_half", "(d-1)/2 of an odd dimension d", box=(1, 100), integer=True, printed="(d-1)/2")
condition_printed, condition_printed_v0 = both(
    "section5.2.condition", "section2.1.condition",
    kind=Kind.IDENTITY,
    says="A_σ has condition number 1+4σ, whatever its dimension.",
    states=Eq(condition, 1 + 4 * smoothing),
    checks=[
        Equals(
            1 + 2 * smoothing + 2 * smoothing * cos(pi / (2 * half + 1)),
            "odd d = 2·half + 1: cos(2πj/d) is least, -cos(π/d), at j = half; the least eigenvalue is 1",
        )
    ],
)  # fmt: skip

condition_right, condition_right_v0 = both(
    "section5.2.condition.corrected", "section2.1.condition.corrected",
    kind=Kind.IDENTITY,
    says="At most 1+4σ, which even dimensions attain.",
    states=Le(condition, 1 + 4 * smoothing),
    checks=[
        AtMost(
            1 + 2 * smoothing * (2 / (1 + share)), "1 + 2σ(1-cos θ) with 1-cos θ between 0 and 2; cos π = -1", exact=False
        )
    ],
)  # fmt: skip

# Gaussian vectors ----------------------------------------------------------------------------------
induced, induced_v0 = both(
    "lemma5.5.7", "lemma4",
    kind=Kind.IDENTITY,
    says="E‖x‖² in the norm of A_σ⁻¹ is the sum of 1/λ, that is dγ, for a standard normal x.",
    states=Eq(induced2, d * gamma_formula),
    checks=[
        Proof(
            [*inverts, Same("the trace of A_σ⁻¹ is d of its first entries", d * (1 + P) / (root_g * (1 - P)),
                            d * gamma_closed(omega_g, root_g, P))],
            "E⟨x, Mx⟩ = tr M",
        )
    ],
)  # fmt: skip

smoothed, smoothed_v0 = both(
    "lemma5.5.8", "lemma5",
    kind=Kind.IDENTITY,
    says="E‖A_σ⁻¹x‖² is the sum of 1/λ², that is dβ, for a standard normal x.",
    states=Eq(smoothed2, d * beta_formula),
    checks=[Proof(beta_steps, "E‖Mx‖² = tr M²; the trace of A_σ⁻² is d of its first entries")],
)  # fmt: skip

induced_end, induced_end_v0 = both(
    "lemma5.5.7.proof", "lemma4.proof",
    kind=Kind.IDENTITY,
    says="The last line of its proof: E‖x‖² in the norm of A_σ⁻¹ is γ.",
    states=Eq(induced2, gamma_s),
    checks=[Equals(d * gamma_s, "the sum of 1/λ is d times their mean")],
)  # fmt: skip

induced_right, induced_right_v0 = both(
    "lemma5.5.7.proof.corrected", "lemma4.proof.corrected",
    kind=Kind.IDENTITY,
    says="It is dγ.",
    states=Eq(induced2, d * gamma_s),
    checks=[
        Proof(
            [*inverts, Same("the trace over the first entry", d * (1 + P) / (root_g * (1 - P)),
                            d * gamma_closed(omega_g, root_g, P))],
            "γ is the first entry of A_σ⁻¹, its trace d of them",
        )
    ],
)  # fmt: skip

smoothed_end, smoothed_end_v0 = both(
    "lemma5.5.8.proof", "lemma5.proof",
    kind=Kind.IDENTITY,
    says="The last line of its proof: E‖A_σ⁻¹x‖² is β.",
    states=Eq(smoothed2, beta_s),
    checks=[Equals(d * beta_s, "the sum of 1/λ² is d times their mean")],
)  # fmt: skip

smoothed_right, smoothed_right_v0 = both(
    "lemma5.5.8.proof.corrected", "lemma5.proof.corrected",
    kind=Kind.IDENTITY,
    says="It is dβ.",
    states=Eq(smoothed2, d * beta_s),
    checks=[Proof(beta_steps, "β is the first entry of A_σ⁻², its trace d of them")],
)  # fmt: skip

# Fourier coefficients ------------------------------------------------------------------------------
z, pole = symbols("z pole", real=True)
terms = symbols("a0:5", real=True)
series = Add(*(coef * (z - pole) ** j for j, coef in enumerate(terms)))
residues, residues_v0 = both(
    "lemma5.6.1", "lemma6",
    kind=Kind.IDENTITY,
    says="The residue at a pole of order n is the (n-1)th derivative of (z-c)ⁿf over (n-1)!; for n = 1 and 2, as used.",
    states=Eq(residue, derivative),
    checks=[
        Proof(
            [
                Same("order 1: (z-c)f at c", series.subs(z, pole), terms[0]),
                Same("order 2: the derivative of (z-c)²f at c", diff(series, z).subs(z, pole), terms[1]),
            ],
            "coefficients of the Laurent series",
        )
    ],
)  # fmt: skip

c_ = Symbol("c_", real=True)
fourier, fourier_v0 = both(
    "lemma5.6.2", "lemma7",
    kind=Kind.IDENTITY,
    says="1/(1+2σ(1-cos θ)) has the Fourier coefficients ω^|k|/√(4σ+1).",
    states=Eq(coefficient, omega**lag / root),
    checks=[
        Proof(
            [
                *covers,
                Same(
                    "Σ ω^|k| e^(ikθ) = (1-ω²)/(1-2ω·cos θ+ω²), two geometric series",
                    (1 - omega_g**2) / (1 - 2 * omega_g * c_ + omega_g**2) / root_g,
                    1 / (1 + 2 * sigma_g * (1 - c_)),
                ),
            ],
            "the series sums to the function",
        )
    ],
)  # fmt: skip

squared_fourier, squared_fourier_v0 = both(
    "equation5.6.6", "equation13",
    kind=Kind.IDENTITY,
    says="The Fourier coefficients of its square, k > 0.",
    states=Eq(coefficient, (lag + 1) * omega**lag / (4 * smoothing + 1) + 2 * smoothing * omega ** (lag + 1) / root**3),
    checks=[
        Proof(
            [
                *covers,
                Same(
                    "Σ_j f[j]f[k-j]: k+1 terms ω^k between, and 2Σω^(k+2j) = 2ω^(k+2)/(1-ω²) outside",
                    ((lag + 1) * Q + 2 * Q * omega_g**2 / (1 - omega_g**2)) / root_g**2,
                    (lag + 1) * Q / (4 * sigma_g + 1) + 2 * sigma_g * Q * omega_g / root_g**3,
                ),
            ],
            "a product's coefficients are a convolution",
        )
    ],
)  # fmt: skip

impulses, impulses_v0 = both(
    "proposition5.3.5.comb", "proposition1.comb",
    kind=Kind.IDENTITY,
    says="The coefficient of d impulses at 2πj/d is d/(2π) if k divides d: here k = 1.",
    assumes=[d >= 2],
    states=Eq(comb, d / (2 * pi)),
    checks=[Equals(Mul(0, d), "k = 1: the d-th roots of unity sum to (1 - e^(2πi))/(1 - e^(2πi/d)) = 0")],
)  # fmt: skip

impulses_right, impulses_right_v0 = both(
    "proposition5.3.5.comb.corrected", "proposition1.comb.corrected",
    kind=Kind.IDENTITY,
    says="It is d/(2π) if d divides k, and else 0.",
    assumes=[Setting("d divides k")],
    states=Eq(comb, d / (2 * pi)),
    checks=[
        Proof(
            [
                Same("d divides k: each of the d terms e^(2πijk/d)/(2π) is 1/(2π)", d * exp(2 * pi * I * lag) / (2 * pi),
                     d / (2 * pi)),
                Same("else the numerator of the geometric sum, 1 - e^(2πik), is 0", 1 - exp(2 * pi * I * lag), Integer(0)),
            ]
        )
    ],
)  # fmt: skip

# Tables and figures --------------------------------------------------------------------------------
SIGMAS, SIZES = (1, 2, 3, 4, 5), (1000, 10_000, 100_000)
GAMMAS, BETAS = (447, 333, 277, 243, 218), (268, 185, 149, 128, 114)  # thousandths, the same in every row


def cells(formula: Expr, printed: Sequence[int]) -> list[Less]:
    """Each printed cell is within half a thousandth of the formula; ω^d is below 1e-100 in all of them."""
    found = []
    for sigma, thousandths in zip(SIGMAS, printed, strict=True):
        value = formula.subs(smoothing, sigma)
        for size in SIZES:
            exact = value.subs(d, size).evalf(40)
            gap = abs(exact - Rational(thousandths, 1000))
            found.append(Less(f"σ = {sigma}, d = {size}: printed 0.{thousandths}", gap, Rational(1, 2000)))
    return found


table_gamma, table_gamma_v0 = both(
    "table5.3", "table3",
    kind=Kind.IDENTITY,
    says="The values of γ, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
    states=Eq(gamma_s, gamma_formula),
    checks=[Proof(cells(gamma_formula, GAMMAS), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
)  # fmt: skip

table_beta, table_beta_v0 = both(
    "table5.4", "table4",
    kind=Kind.IDENTITY,
    says="The values of β, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
    states=Eq(beta_s, beta_formula),
    checks=[Proof(cells(beta_formula, BETAS), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
)  # fmt: skip

shrink = 1 - 1 / (1 + 20 * (1 - cos(pi / 50)))
figure_signal, figure_signal_v0 = both(
    "section5.2.denoising", "section2.2.denoising",
    kind=Kind.IDENTITY,
    says="Figure 5.2 (a): smoothing with σ = 10 removes noise of variance 0.01 from a sine of 100 points: at most a fifth "
    "of the mean squared error is left.",
    states=Le(left_error, Rational(1, 500)),
    checks=[
        AtMost(
            shrink**2 / 2 + beta_formula.subs({smoothing: 10, d: 100}) / 100,
            "bias of the sine, an eigenvector with λ = 1 + 20(1-cos(2π/100)), plus β/100",
        )
    ],
)  # fmt: skip

diffusion, diffusion_v0 = both(
    "section5.7.diffusion", "section2.2.diffusion",
    kind=Kind.IDENTITY,
    says="Smoothing is a backward Euler step of the diffusion equation on [0, 1] with σ = Δt.",
    states=Eq(smoothing, time_step),
    checks=[Equals(time_step / spacing**2, "the second difference over the spacing's square approximates ∂²u/∂x²")],
)  # fmt: skip

diffusion_right, diffusion_right_v0 = both(
    "section5.7.diffusion.corrected", "section2.2.diffusion.corrected",
    kind=Kind.IDENTITY,
    says="With grid points h apart σ = Δt/h², and periodic ends, not those of Neumann, give A_σ.",
    states=Eq(smoothing, time_step / spacing**2),
    checks=[
        Proof(
            [
                Same("the second difference of z² is its second derivative times h²",
                     (z + spacing) ** 2 - 2 * z**2 + (z - spacing) ** 2, diff(z**2, z, 2) * spacing**2),
                Same("of z³ too", (z + spacing) ** 3 - 2 * z**3 + (z - spacing) ** 3, diff(z**3, z, 2) * spacing**2),
            ],
            "backward Euler: v = v₀ + Δt·Lv/h²",
        )
    ],
)  # fmt: skip
