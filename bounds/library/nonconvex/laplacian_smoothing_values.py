"""Laplacian smoothing, continued: Fourier coefficients, tables of γ and β, diffusion.

lwang21, sections 5.6 and 5.7; lssgd20, appendices B and C. The operator: laplacian_smoothing.py.
"""

from collections.abc import Sequence
from functools import partial

from sympy import Add, Eq, Expr, I, Integer, Mul, Rational, Symbol, diff, exp, integrate, pi, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Setting
from dpcheck.bounds.language.symbols import TABLE, d, quantity
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import (
    P,
    Q,
    beta_formula,
    beta_s,
    both,
    covers,
    g,
    gamma_closed,
    gamma_formula,
    gamma_s,
    omega,
    omega_g,
    outer,
    root,
    root_g,
    sigma_g,
    smoothing,
)
from dpcheck.bounds.proving.proofs import Equals, Less, PrintedCells, Proof, Same

coefficient = quantity("ls_coefficient", "a Fourier coefficient", printed="f[k]")
comb = quantity("ls_comb", "a Fourier coefficient of d equal impulses", printed="g[k]")
lag = quantity("ls_lag", "index k of a Fourier coefficient", box=(1, 100), integer=True, printed="k")
time_step = quantity("ls_time_step", "time step of a diffusion", printed="Δt", latex=r"\Delta t")
spacing = quantity("ls_spacing", "distance of grid points", printed="h")
contour = quantity("ls_contour", "∮f(z)dz around the unit circle, over i", printed="∮f(z)dz/i")
residue = quantity("ls_residue", "residue at a double pole c", printed="Res(f,c)")
derivative = quantity("ls_derivative", "derivative of (z-c)²f at a double pole c", printed="((z-c)²f)'(c)")

# Fourier coefficients ------------------------------------------------------------------------------
z, pole, turn = symbols("z pole turn", real=True)
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

circle, circle_v0 = both(
    "lemma5.6.1.contour",
    "lemma6.contour",
    kind=Kind.IDENTITY,
    says="∮f(z)dz around the unit circle is 2πi times the residues inside: here of one pole, power by power.",
    states=Eq(contour, 2 * pi * residue),
    checks=[
        Proof(
            [
                Same("z⁻¹: ∮dz/z = ∫i dθ", integrate(I, (turn, 0, 2 * pi)), 2 * pi * I),
                Same("every other power, z^(k-1): (e^(2πik) - 1)/k", (exp(2 * pi * I * lag) - 1) / lag, Integer(0)),
                Same("and z^(-k-1)", (1 - exp(-2 * pi * I * lag)) / lag, Integer(0)),
                Same(
                    "a pole inside: 1/(z-c) = 1/z·1/(1-c/z), a series with one z⁻¹",
                    1 / z / (1 - pole / z),
                    1 / (z - pole),
                ),
                Same("outside: -1/c·1/(1-z/c), a series without", -1 / pole / (1 - z / pole), 1 / (z - pole)),
            ],
            "integrated term by term, z = e^(iθ)",
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

outer_g = 1 + g  # the other root, 1/ω
contour_form, contour_form_v0 = both(
    "equation5.6.4",
    "equation11",
    kind=Kind.IDENTITY,
    says="f[k] as a contour integral with the poles α₋ = ω inside and α₊ outside: its residue -ω^k/(σ(α₋-α₊)).",
    states=Eq(coefficient, -(omega**lag) / (smoothing * (omega - outer))),
    checks=[
        Proof(
            [
                *covers,
                Same("α₊ = 1/ω", (2 * sigma_g + 1 + root_g) / (2 * sigma_g), outer_g),
                Same(
                    "with z = e^(iθ), dθ = dz/(iz), the integrand is that of (5.6.4)",
                    1 / (z * (1 + 2 * sigma_g - sigma_g * (z + 1 / z))),
                    -1 / (sigma_g * (z - omega_g) * (z - outer_g)),
                ),
                Less("α₋ lies inside", omega_g, Integer(1)),
                Less("α₊ outside", Integer(1), outer_g),
                Same("the residue is that of Lemma 5.6.2", -Q / (sigma_g * (omega_g - outer_g)), Q / root_g),
            ],
            "one pole inside the circle",
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
                Same(
                    "and by residues: d/dz z^(k+1)/(σ²(z-α₊)²) at α₋",
                    (lag + 1) * Q / (sigma_g * (omega_g - outer_g)) ** 2
                    - 2 * Q * omega_g / (sigma_g**2 * (omega_g - outer_g) ** 3),
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

aliased, aliased_v0 = both(
    "equation5.6.5",
    "equation12",
    kind=Kind.IDENTITY,
    says="γ, a mean over d angles, is the sum of f[ℓd] over all whole ℓ, and that is Proposition 5.3.5 (1).",
    states=Eq(gamma_s, gamma_formula),
    checks=[
        Proof(
            [
                *covers,
                Same("Σ ω^(|ℓ|d) = 1 + 2ω^d/(1-ω^d)", (1 + 2 * P / (1 - P)) / root_g, gamma_closed(omega_g, root_g, P)),
            ],
            "d impulses keep every d-th coefficient",
        )
    ],
)

# Tables --------------------------------------------------------------------------------
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


def table(lwang21: str, lssgd20: str, mean: Symbol, formula: Expr, printed: Sequence[int]) -> tuple[Claim, Claim]:
    """A printed table, cell by cell."""
    return both(
        lwang21,
        lssgd20,
        kind=Kind.IDENTITY,
        says=f"The values of {TABLE[mean].printed}, to three decimals, for σ = 1 to 5 and d = 1000 to 100000.",
        states=Eq(mean, formula),
        checks=[PrintedCells(partial(cells, printed=printed), f"{len(SIGMAS) * len(SIZES)} cells as printed")],
    )


table_gamma, table_gamma_v0 = table("table5.3", "table3", gamma_s, gamma_formula, GAMMAS)
table_beta, table_beta_v0 = table("table5.4", "table4", beta_s, beta_formula, BETAS)

# Diffusion -----------------------------------------------------------------------------------------
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
