"""Laplacian smoothing, continued: Fourier coefficients, tables of γ and β, denoising, diffusion.

lwang21, Figure 5.2, sections 5.6 and 5.7; lssgd20, Figure 2, appendices B and C. The operator: laplacian_smoothing.py.
"""

from collections.abc import Sequence

from sympy import Add, Eq, Expr, I, Integer, Le, Mul, Rational, Symbol, cos, diff, exp, pi, symbols

from bounds.claim import Kind, Setting
from bounds.nonconvex.laplacian_smoothing import (
    Q,
    beta_formula,
    beta_s,
    both,
    covers,
    gamma_formula,
    gamma_s,
    omega,
    omega_g,
    root,
    root_g,
    sigma_g,
    smoothing,
)
from bounds.proofs import AtMost, Equals, Less, Proof, Same
from bounds.symbols import d, quantity

coefficient = quantity("ls_coefficient", "a Fourier coefficient", printed="f[k]")
comb = quantity("ls_comb", "a Fourier coefficient of d equal impulses", printed="g[k]")
lag = quantity("ls_lag", "index k of a Fourier coefficient", box=(1, 100), integer=True, printed="k")
time_step = quantity("ls_time_step", "time step of a diffusion", printed="Δt", latex=r"\Delta t")
spacing = quantity("ls_spacing", "distance of grid points", printed="h")
left_error = quantity("ls_left_error", "mean squared error of a signal after smoothing", printed="MSE")
residue = quantity("ls_residue", "residue at a double pole c", printed="Res(f,c)")
derivative = quantity("ls_derivative", "derivative of (z-c)²f at a double pole c", printed="((z-c)²f)'(c)")

# Fourier coefficients ------------------------------------------------------------------------------
z, pole = symbols("z pole", real=True)
terms = symbols("a0:5", real=True)
series = Add(*(coef * (z - pole) ** j for j, coef in enumerate(terms)))
residues, residues_v0 = both(
    "lemma5.6.1",
    "lemma6",
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
)

c_ = Symbol("c_", real=True)
fourier, fourier_v0 = both(
    "lemma5.6.2",
    "lemma7",
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
)

squared_fourier, squared_fourier_v0 = both(
    "equation5.6.6",
    "equation13",
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
)

impulses, impulses_v0 = both(
    "proposition5.3.5.comb",
    "proposition1.comb",
    kind=Kind.IDENTITY,
    says="The coefficient of d impulses at 2πj/d is d/(2π) if k divides d: here k = 1.",
    assumes=[d >= 2],
    states=Eq(comb, d / (2 * pi)),
    checks=[Equals(Mul(0, d), "k = 1: the d-th roots of unity sum to (1 - e^(2πi))/(1 - e^(2πi/d)) = 0")],
)

impulses_right, impulses_right_v0 = both(
    "proposition5.3.5.comb.corrected",
    "proposition1.comb.corrected",
    kind=Kind.IDENTITY,
    says="It is d/(2π) if d divides k, and else 0.",
    assumes=[Setting("d divides k")],
    states=Eq(comb, d / (2 * pi)),
    checks=[
        Proof(
            [
                Same(
                    "d divides k: each of the d terms e^(2πijk/d)/(2π) is 1/(2π)",
                    d * exp(2 * pi * I * lag) / (2 * pi),
                    d / (2 * pi),
                ),
                Same(
                    "else the numerator of the geometric sum, 1 - e^(2πik), is 0", 1 - exp(2 * pi * I * lag), Integer(0)
                ),
            ]
        )
    ],
)

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
    "table5.3",
    "table3",
    kind=Kind.IDENTITY,
    says="The values of γ, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
    states=Eq(gamma_s, gamma_formula),
    checks=[Proof(cells(gamma_formula, GAMMAS), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
)

table_beta, table_beta_v0 = both(
    "table5.4",
    "table4",
    kind=Kind.IDENTITY,
    says="The values of β, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
    states=Eq(beta_s, beta_formula),
    checks=[Proof(cells(beta_formula, BETAS), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
)

shrink = 1 - 1 / (1 + 20 * (1 - cos(pi / 50)))
figure_signal, figure_signal_v0 = both(
    "section5.2.denoising",
    "section2.2.denoising",
    kind=Kind.IDENTITY,
    says="Figure 5.2 (a): smoothing with σ = 10 removes noise of variance 0.01 from a sine of 100 points: at most a "
    "fifth of the mean squared error is left.",
    states=Le(left_error, Rational(1, 500)),
    checks=[
        AtMost(
            shrink**2 / 2 + beta_formula.subs({smoothing: 10, d: 100}) / 100,
            "bias of the sine, an eigenvector with λ = 1 + 20(1-cos(2π/100)), plus β/100",
        )
    ],
)

diffusion, diffusion_v0 = both(
    "section5.7.diffusion",
    "section2.2.diffusion",
    kind=Kind.IDENTITY,
    says="Smoothing is a backward Euler step of the diffusion equation on [0, 1] with σ = Δt.",
    states=Eq(smoothing, time_step),
    checks=[Equals(time_step / spacing**2, "the second difference over the spacing's square approximates ∂²u/∂x²")],
)

diffusion_right, diffusion_right_v0 = both(
    "section5.7.diffusion.corrected",
    "section2.2.diffusion.corrected",
    kind=Kind.IDENTITY,
    says="With grid points h apart σ = Δt/h², and periodic ends, not those of Neumann, give A_σ.",
    states=Eq(smoothing, time_step / spacing**2),
    checks=[
        Proof(
            [
                Same(
                    "the second difference of z² is its second derivative times h²",
                    (z + spacing) ** 2 - 2 * z**2 + (z - spacing) ** 2,
                    diff(z**2, z, 2) * spacing**2,
                ),
                Same("of z³ too", (z + spacing) ** 3 - 2 * z**3 + (z - spacing) ** 3, diff(z**3, z, 2) * spacing**2),
            ],
            "backward Euler: v = v₀ + Δt·Lv/h²",
        )
    ],
)
