"""DP-LSSGD on nonconvex risks (lwang21, Theorem 5.3.7 and (5.5.5); lssgd20, Theorem 3 and (5)): gradient norms.

As printed the theorems fail twice: the number of steps lacks β, and the gradient at the mean of the iterates is not
the mean of their gradients. Convex risks: dp_lssgd_proof.py.
"""

from sympy import Eq, Integer, Le, Lt, Rational, Symbol, asin, cos, diff, exp, log, pi, sin, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, d, delta, eps, eta, n, quantity
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.nonconvex.dp_lssgd import nu
from dpcheck.bounds.library.nonconvex.dp_lssgd_proof import at_most_noise
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import beta_s, both, smoothing
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, NoConstant, Proof, Same, Sharper

gap = quantity("ls_gap", "F(w⁰) - F(w*)", loss=1, printed="D_F", latex="D_F")
flat = quantity("ls_flat", "length over which a risk has slope G", parameter=1, box=(1, 1e4), printed="x")
norm2 = quantity(
    "ls_norm2",
    "E‖∇F(w̃)‖² in the norm of A_σ⁻¹",
    loss=2,
    parameter=-2,
    printed="E‖∇F(w̃)‖²_{A⁻¹}",
    latex=r"\mathbb{E}\|\nabla F(\tilde w)\|^2_{A^{-1}}",
    holds="in expectation",
)
factor = quantity("ls_zeta", "factor of the bound in the ℓ₂ norm", box=(1, 1e3), printed="ζ", latex=r"\zeta")
jensen2 = quantity("ls_jensen2", "‖∇F‖² at the mean of the iterates", printed="‖∇F(w̃)‖²")
farther = quantity("ls_distance", "distance from the local minimum", printed="‖a-a*‖")
slope = quantity("ls_slope", "norm of the gradient", printed="‖∇f(a)‖")

log_delta, spent = log(1 / delta), n**2 * eps**2
far, x, y, v, lam = symbols("far x y v lam", positive=True)
more = Symbol("more", nonnegative=True)
losses = [lipschitz(G), smooth(L_s)]
modes = [beta_s <= 1, beta_s * d >= 1, d >= 2]  # one eigenvalue of A_σ is 1
descent: list[Same | Less] = [
    Less("‖A⁻¹v‖² ≤ ‖v‖² in the norm of A⁻¹, as λ ≥ 1", v**2 / lam**2, v**2 / lam, {lam: 1 + more}),
    Less("and that is at most ‖v‖²", v**2 / lam, v**2, {lam: 1 + more}),
]
few = (
    "F falls with slope G along a constant u for a length x ≥ √T·G, then levels off: half of the time, by the symmetry "
    "of the noise, the mean iterate has not come so far"
)

# lssgd20 -------------------------------------------------------------------------------------------
bound3 = 4 * G * sqrt(6 * beta_s * d * L_s * (2 * gap + L_s * G**2) * log_delta) / (n * eps)

# T+1 = x²/G² fixes n²ε² = 12dLG²log(1/δ)·K with K = T(1-k)/D_F: ν² in the printed T is 8TαG²/(n²ε).
k = 2 * (2 * log_delta + eps) / (3 * d * log_delta)
ledge = G * flat + G**2 / (2 * L_s)
attained = 4 * sqrt(beta_s * (2 * ledge + L_s * G**2) * ledge / (2 * (flat**2 / G**2 - 1) * (1 - k)))

theorem3 = Claim(
    id="lssgd20.theorem3",
    source=Source("lssgd20", "Theorem 3"),
    kind=Kind.UTILITY,
    says="Gradient at the mean iterate, η = 1/√T and T = (D_F+Lν²)n²ε²/(12dLG²log(1/δ)).",
    assumes=[*losses, *modes],
    states=Le(norm2, bound3),
    ignores_units=True,
    checks=[
        AtMost(
            G**2 / 2,
            f"{few}; n from T+1 = x²/G², and b as large as Theorem 1 asks",
            against=attained,
            box={
                flat: (10, 1e4),
                G: (1, 2),
                L_s: (0.5, 2),
                d: (200, 1e4),
                beta_s: (1e-3, 1),
                eps: (0.01, 2),
                delta: (1e-6, 0.1),
            },
        )
    ],
    cites=[Cites("lssgd20.lemma5")],
)

best_T = (2 * gap + L_s * G**2) * spent / (24 * d * L_s * beta_s * G**2 * log_delta)
half_steps = (gap + L_s * (G**2 + d * beta_s * nu**2) / 2) / sqrt(T)
theorem3_steps: list[Same | Less] = [
    *descent,
    Same(
        "F falls by η‖∇F‖² and rises by Lη²/2·(G² + dβν²): summed over T steps, over ηT",
        ((gap + T * L_s * eta**2 / 2 * (G**2 + d * beta_s * nu**2)) / (eta * T)).subs(eta, 1 / sqrt(T)),
        half_steps,
    ),
]
theorem3_proof = Claim(
    id="lssgd20.theorem3.proof",
    source=Source("lssgd20", "Proof of Theorem 3, without its last step"),
    kind=Kind.UTILITY,
    says="‖∇F‖² in the norm of A⁻¹ at a random one of the iterates: 2D_F/(ηT) + ηL(G²+dβν²), η = 1/√T, every T and ν.",
    assumes=losses,
    states=Le(norm2, (2 * gap + L_s * (G**2 + d * beta_s * nu**2)) / sqrt(T)),
    ignores_units=True,
    checks=[
        Proof(
            [*theorem3_steps, Less("and twice that is printed", half_steps, 2 * half_steps)], "E‖A⁻¹·noise‖² is dβν²"
        ),
        Sharper(half_steps, "a step needs no 1 - ηL/2: G² bounds the second moment"),
    ],
)

theorem3_half = Claim(
    id="lssgd20.theorem3.proof.sharper",
    source=Source("lssgd20", "Proof of Theorem 3, without its last step"),
    kind=Kind.UTILITY,
    says="Half of it: all of η‖∇F‖² is left of a step.",
    assumes=losses,
    states=Le(norm2, half_steps),
    ignores_units=True,
    checks=[Proof(theorem3_steps, "E‖A⁻¹·noise‖² is dβν²")],
)

theorem3_corrected = Claim(
    id="lssgd20.theorem3.corrected",
    source=Source("lssgd20", "Theorem 3"),
    kind=Kind.UTILITY,
    says="Half of it, at a random iterate, T = (2D_F+LG²)n²ε²/(24dLβG²log(1/δ)) whole, ε ≤ log(1/δ).",
    assumes=[*losses, *modes, eps <= log_delta],
    states=Le(norm2, bound3 / 2),
    corrects="lssgd20.theorem3",
    ignores_units=True,
    checks=[
        Proof(
            [
                *descent,
                at_most_noise(4, Rational(1, 2), 24),
                Same(
                    "½(A/√T + B√T) = √(AB) at T = A/B, squared, with A = 2D_F+LG² and B = 24dLβG²log(1/δ)/(n²ε²)",
                    (2 * gap + L_s * G**2) * 24 * d * L_s * beta_s * G**2 * log_delta / spent,
                    (bound3 / 2) ** 2,
                ),
            ],
            "a step needs no 1 - ηL/2: G² bounds the second moment",
        )
    ],
)

# lwang21 -------------------------------------------------------------------------------------------
rate7 = G * sqrt(beta_s * d * L_s * (2 * gap + L_s * G**2 / batch) * log_delta) / (n * eps)
path7 = {
    n: far,
    eps: Integer(10),
    delta: exp(-1),
    batch: Integer(1),
    G: Integer(1),
    L_s: Integer(1),
    d: 100 * far + 75,
    beta_s: 1 / far,
    gap: 2 * far + Rational(1, 2),
}
theorem7 = Claim(
    id="lwang21.theorem5.3.7",
    source=Source("lwang21", "Theorem 5.3.7"),
    kind=Kind.UTILITY,
    says="Gradient at the mean iterate, η = 1/√T, T = C₁(D_F+LG²/b)n²ε²/(dLG²log(1/δ)), where Theorem 5.3.2 applies.",
    assumes=[*losses, *modes, batch <= n],
    states=Rate(norm2, rate7),
    ignores_units=True,
    checks=[
        NoConstant(
            G**2 / 2,
            path7,
            far,
            f"{few}; x = 2n, T = 2n², µ = 1/2, where Theorem 5.3.2 applies; C₁ = 1 (any other: d times C₁)",
            1e6,
        )
    ],
    cites=[Cites("lwang21.lemma5.5.8"), Cites("lwang21.equation5.5.3")],
)

theorem7_corrected = Claim(
    id="lwang21.theorem5.3.7.corrected",
    source=Source("lwang21", "Theorem 5.3.7"),
    kind=Kind.UTILITY,
    says="With T = (2D_F+LG²/b)n²ε²/(120dLβG²log(1/δ)) whole, T ≥ L², at a random iterate; µ = 1/2, ε ≤ log(1/δ).",
    assumes=[*losses, *modes, batch <= n, eps <= log_delta, Setting("T ≥ L²")],
    states=Le(norm2, 2 * sqrt(120) * rate7),
    corrects="lwang21.theorem5.3.7",
    ignores_units=True,
    checks=[
        Proof(
            [
                *descent,
                Less("1 - ηL/2 ≥ 1/2 for η ≤ 1/L", Rational(1, 2), 1 - 1 / (2 * (1 + more))),
                at_most_noise(20, Rational(1, 2), 120),
                Same(
                    "A/√T + B√T = 2√(AB) at T = A/B, squared, with A = 2D_F+LG²/b and B = 120dLβG²log(1/δ)/(n²ε²)",
                    4 * (2 * gap + L_s * G**2 / batch) * 120 * d * L_s * beta_s * G**2 * log_delta / spent,
                    (2 * sqrt(120) * rate7) ** 2,
                ),
            ],
            "half of η‖∇F‖² is left of each step",
        )
    ],
)

# The last step: the mean of the iterates -----------------------------------------------------------
slant = quantity("ls_slant", "slope of sin at the iterates, sin h", box=(1e-3, 0.5), printed="s")
offset = asin(slant)  # h, the distance of the iterates from stationary points
stays, gone = -pi / 2 + offset, 3 * pi / 2 + offset
jensen, jensen_v0 = both(
    "theorem5.3.7.mean",
    "theorem3.mean",
    kind=Kind.UTILITY,
    says="Its last step: ‖∇F‖² at the mean of the iterates is at most its mean over them. Here F = sin, three iterates "
    "at -π/2 + h and one at 3π/2 + h, where F'² is s², s = sin h.",
    states=Le(jensen2, slant**2),
    checks=[
        AtMost(cos(offset) ** 2, "the mean of the iterates is h, where F'² = cos²h: F is not convex, ‖∇F‖² neither")
    ],
)

jensen_right, jensen_right_v0 = both(
    "theorem5.3.7.mean.corrected",
    "theorem3.mean.corrected",
    kind=Kind.UTILITY,
    says="At an iterate drawn at random its expectation is that mean, in the example s², s = sin h.",
    states=Eq(jensen2, slant**2),
    checks=[Equals((3 * cos(stays) ** 2 + cos(gone) ** 2) / 4, "three iterates in four at -π/2 + h, one at 3π/2 + h")],
)

# The l2 norm ---------------------------------------------------------------------------------------
zeta, zeta_v0 = both(
    "theorem5.3.7.norm",
    "theorem3.norm",
    kind=Kind.UTILITY,
    says="In the ℓ₂ norm the bound has ζ = (1+4σ)√β > 1 for √β: no gain from smoothing, as the text says.",
    states=Lt(1, factor),
    checks=[
        Proof(
            [
                Less(
                    "λ ≤ 1+4σ, so each term (1+4σ)²/λ² is at least 1", 1 + 4 * smoothing / (1 + more), 1 + 4 * smoothing
                ),
                Less("and that of λ = 1 above 1", Integer(1) + 4 * smoothing, (1 + 4 * smoothing) ** 2),
            ],
            "ζ² is a mean of numbers at least 1, one of them (1+4σ)²",
        )
    ],
)

# Example (5.5.5) -----------------------------------------------------------------------------------
inside = x**2 / 4 + y**2
outside = sin(pi / 2 * inside)


def gradient_norm(f, at):  # type: ignore[no-untyped-def]
    """The norm of f's gradient at a point."""
    return sqrt(sum(diff(f, z).subs({x: at[0], y: at[1]}) ** 2 for z in (x, y)))


first, second = (Integer(2), Integer(0)), (Integer(1), sqrt(3) / 2)
height = quantity("ls_height", "factor on the example's function", printed="s")
example_slope, example_slope_v0 = both(
    "equation5.5.5",
    "equation5",
    kind=Kind.IDENTITY,
    says="At a₂ = (1, √3/2) the example's gradient has norm √13/2 (for s·f, s times that), from either side.",
    states=Eq(slope, height * sqrt(13) / 2),
    checks=[
        Equals(
            gradient_norm(height * outside, second) + 0 * height,
            "a₂ lies on the ellipse x²/4 + y² = 1: the outer branch, sin(π/2·(x²/4+y²)), has gradient 0 there",
        )
    ],
)

example_right, example_right_v0 = both(
    "equation5.5.5.corrected",
    "equation5.corrected",
    kind=Kind.IDENTITY,
    says="It is the inner branch's; f has a kink there and is not L-smooth. At a₁ = (2, 0) that one has norm 1.",
    states=Eq(slope, sqrt(13) / 2),
    checks=[
        Proof(
            [
                Same("a₁ and a₂ lie on the ellipse", inside.subs({x: 2, y: 0}), inside.subs({x: 1, y: sqrt(3) / 2})),
                Same("inner gradient at a₂", gradient_norm(inside, second), sqrt(13) / 2),
                Same("at a₁", gradient_norm(inside, first), Integer(1)),
            ]
        )
    ],
)

example_distance, example_distance_v0 = both(
    "equation5.5.5.distance",
    "equation5.distance",
    kind=Kind.IDENTITY,
    says="a₂ is √7/2 from the local minimum, and so nearer than a₁, at 2.",
    states=Eq(farther, sqrt(7) / 2),
    checks=[
        Proof(
            [
                Same("‖a₂‖", sqrt(second[0] ** 2 + second[1] ** 2), sqrt(7) / 2),
                Less("below ‖a₁‖", sqrt(7) / 2, Integer(2)),
            ]
        )
    ],
)
