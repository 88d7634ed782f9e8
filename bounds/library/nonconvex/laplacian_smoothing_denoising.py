"""What Laplacian smoothing does to noise: signals (lwang21, Figure 5.2; lssgd20, Figure 2), gradients, differences.

The text of section 5.2 (2), Remark 5.5.6 (3). Measured by the file of this name in dpcheck/solvers/nonconvex.
"""

from sympy import Eq, Le, Rational, Symbol, cos, pi, symbols

from dpcheck.bounds.language.claim import Kind, Setting
from dpcheck.bounds.language.symbols import d, quantity, ratio
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import (
    P,
    beta_closed,
    beta_formula,
    beta_s,
    beta_steps,
    both,
    omega_g,
    root_g,
    sigma_g,
    smoothing,
    squares,
)
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

left_error = quantity("ls_left_error", "mean squared error of a signal after smoothing", printed="MSE")
left_noise = quantity("ls_left_noise", "share of the noise's power that smoothing leaves", printed="β")
variance = quantity("ls_variance", "E‖∇f_B - ∇F‖², before smoothing", loss=2, parameter=-2, printed="E‖∇f_B-∇F‖²")
less_variance = quantity("ls_less_variance", "E‖A⁻¹(∇f_B - ∇F)‖²", loss=2, parameter=-2, printed="E‖A⁻¹(∇f_B-∇F)‖²")
compressed = quantity("ls_compressed", "E‖A⁻¹g‖², g uniform on a sphere", printed="E‖A⁻¹g‖²")
radius2 = quantity("ls_radius2", "‖g‖² on that sphere", printed="‖g‖²")

LINE, PLANE = {"sigma": 10, "points": 100}, {"sigma": 100, "points": 10_000}  # (a); (b) to (d), row by row
v, lam = symbols("v lam", positive=True)
more = Symbol("more", nonnegative=True)


def left(figure: dict[str, int]) -> Less:
    """β of a figure's setting is at most a tenth."""
    value = beta_formula.subs({smoothing: figure["sigma"], d: figure["points"]}).evalf(30)
    return Less(f"σ = {figure['sigma']}, {figure['points']} points", value, Rational(1, 10))


# Signals -------------------------------------------------------------------------------------------
shrink = 1 - 1 / (1 + 20 * (1 - cos(pi / 50)))
line, line_v0 = both(
    "figure5.2.line",
    "figure2.line",
    kind=Kind.IDENTITY,
    says="(a): smoothing with σ = 10 removes noise of variance 0.01 from a sine of 100 points: at most a fifth of the "
    "mean squared error is left.",
    states=Le(left_error, Rational(1, 500)),
    checks=[
        AtMost(
            shrink**2 / 2 + beta_formula.subs({smoothing: 10, d: 100}) / 100,
            "bias of the sine, an eigenvector with λ = 1 + 20(1-cos(2π/100)), plus β/100",
        )
    ],
)

noise, noise_v0 = both(
    "figure5.2.noise",
    "figure2.noise",
    kind=Kind.IDENTITY,
    says="Smoothing removes noise efficiently: of its power at most a tenth is left, in (a) and in (d).",
    states=Le(left_noise, Rational(1, 10)),
    checks=[Proof([left(LINE), left(PLANE)], "E‖A⁻¹x‖² = dβ")],
)

plane, plane_v0 = both(
    "figure5.2.plane",
    "figure2.plane",
    kind=Kind.EXPERIMENT,
    says="(b) to (d): smoothing with σ = 100, row by row, brings sin(x)sin(y) with noise 0.2 nearer to what it was.",
    assumes=[Setting("the printed N(0, I) of 2 by 2 read as one standard normal a point")],
    states=Le(ratio, 1),
)

wave, wave_v0 = both(
    "figure5.2.plane.signal",
    "figure2.plane.signal",
    kind=Kind.EXPERIMENT,
    says="A consequence: it removes signal too. In (d) more error is bias than noise.",
    assumes=[Setting("σ = 100, the wave of (b)")],
    states=Le(ratio, 1),
)

# Gradients -----------------------------------------------------------------------------------------
gradient, gradient_v0 = both(
    "section5.2.2.gradient",
    "section2.2.gradient",
    kind=Kind.EXPERIMENT,
    says="The smoothed noisy gradient is nearer to the gradient than the noisy one: here softmax regression on digits.",
    assumes=[Setting("digits for MNIST, the noise of n = 50000 records")],
    states=Le(ratio, 1),
)

less_spread, less_spread_v0 = both(
    "section5.2.variance",
    "section2.1.variance",
    kind=Kind.IDENTITY,
    says="Smoothing reduces the variance of stochastic gradients.",
    states=Le(less_variance, variance),
    checks=[
        Proof(
            [Less("mode by mode: v²/λ² ≤ v², as λ ≥ 1", v**2 / lam**2, v**2, {lam: 1 + more})],
            "no mode of ∇f_B - ∇F grows",
        )
    ],
)

# Differences of gradients --------------------------------------------------------------------------
compression, compression_v0 = both(
    "remark5.5.6.compression",
    "remark3.compression",
    kind=Kind.IDENTITY,
    says="The ℓ₂ norm of a random direction is compressed by what Lemma 5.5.8 (5) says: E‖A⁻¹g‖² = β‖g‖².",
    states=Eq(compressed, beta_s * radius2),
    checks=[
        Proof(
            [
                *beta_steps,
                Same(
                    "a uniform direction has E gg' = ‖g‖²/d·I, so that E‖A⁻¹g‖² is ‖g‖²/d times the trace of A⁻²",
                    radius2 / d * (d * squares),
                    radius2 * beta_closed(omega_g, root_g, P, sigma_g, d),
                ),
            ],
            "a uniform direction is uniform in the eigenbasis",
        )
    ],
)

differences, differences_v0 = both(
    "remark5.5.6.differences",
    "remark3.differences",
    kind=Kind.EXPERIMENT,
    says="Numerical experiments: ‖A⁻¹(∇f_i - ∇f_j)‖ is much less than ‖∇f_i - ∇f_j‖, taken as less than half.",
    assumes=[Setting("softmax regression on digits, σ = 1 and 3")],
    states=Le(ratio, Rational(1, 2)),
)
