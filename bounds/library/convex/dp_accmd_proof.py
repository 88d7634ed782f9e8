"""DP-AccMD: the proof of Theorem 3.1.7 of dwang20, (3.51) to (3.59). The theorem stands in dp_accmd.py.

‖·‖ is the norm whose unit ball is the set, ‖·‖° its dual; L is the smoothness in that norm unless L‖C‖₂² is written.
"""

from sympy import Eq, Integer, Le, Symbol, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, delta, eps, excess_risk, n, quantity, ratio, t
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, losses, sigma_n
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import Equals, Less, Minimises, Proof, Same, Units

divergence = quantity("divergence", "Bregman divergence V(x*, x_0)", printed="V₀", latex="V_0")
alpha_k = quantity("alpha_k", "step of z at k+1", loss=-1, printed="α", latex=r"\alpha_{k+1}")
dual2 = quantity(
    "dual2", "E ||b||*^2 for standard normal b", parameter=2, printed="E‖b‖°²", latex=r"\mathbb{E}\|b\|_*^2"
)

extra = Symbol("extra", nonnegative=True)
big = Symbol("big", positive=True)
L_C = L_s * diameter**2  # smoothness in the norm of the set, as printed
steps2 = L_C * sqrt(divergence) * n * eps / (G * sqrt(log(1 / delta)) * sqrt(spread))  # T² of (3.59)
alpha = (t + 2) / (4 * L_s)  # α_(k+1) at k = t
rho = 1 / (2 * alpha_k * L_s)  # r_k

algorithm_alpha = Claim(
    id="dwang20.algorithm3.1.4.alpha",
    source=Source("dwang20", "Algorithm 3.1.4, line 4"),
    kind=Kind.IDENTITY,
    says="α_(k+1) = (k+2)/(4L) with the smoothness of F in l2, for a set of any diameter (k is t).",
    states=Eq(alpha_k, alpha),
    checks=[Units()],
)

algorithm_alpha_corrected = Claim(
    id="dwang20.algorithm3.1.4.alpha.corrected",
    source=Source("dwang20", "Algorithm 3.1.4, line 4, as the proof asks"),
    kind=Kind.IDENTITY,
    says="With the smoothness L‖C‖₂² in the norm of the set; r_k stays 2/(k+2).",
    states=Eq(alpha_k, (t + 2) / (4 * L_C)),
    corrects="dwang20.algorithm3.1.4.alpha",
    checks=[
        Proof(
            [Same("r_k = 1/(2αL‖C‖₂²)", 1 / (2 * (t + 2) / (4 * L_C) * L_C), 2 / (t + 2))],
            "α⟨∇F, z⟩ is a pure number like V",
        )
    ],
)

three_point = quantity(
    "three_point", "<-grad V(z+, z), z+ - u>", printed="⟨-∇V,z⁺-u⟩", latex=r"\langle-\nabla V,z^+-u\rangle"
)
V_old = quantity("V_old", "V(u, z_k)", printed="V(u,z)", latex="V(u,z_k)")
V_new = quantity("V_new", "V(u, z_(k+1))", printed="V(u,z⁺)", latex="V(u,z_{k+1})")
V_step = quantity("V_step", "V(z_(k+1), z_k)", printed="V(z⁺,z)", latex="V(z_{k+1},z_k)")
w_u, w_z, w_n, g_z, g_n, u, z, z_n = symbols("w_u w_z w_n g_z g_n u z z_n", real=True)

equation52 = Claim(
    id="dwang20.equation3.52",
    source=Source("dwang20", "equation (3.52), the equality"),
    kind=Kind.IDENTITY,
    says="The three points of the Bregman divergence.",
    states=Eq(three_point, V_old - V_new - V_step),
    checks=[
        Adds(
            -(g_n - g_z) * (z_n - u),
            {
                V_old: w_u - w_z - g_z * (u - z), V_new: w_u - w_n - g_n * (u - z_n),
                V_step: w_n - w_z - g_z * (z_n - z),
            },
        )
    ],
)

noisy_gain = quantity(
    "noisy_gain", "<α b, z_k - z_(k+1)>", printed="⟨αb,z-z⁺⟩", latex=r"\langle\alpha b,z_k-z_{k+1}\rangle"
)
b_dual = quantity("b_dual", "||b||*", loss=1, printed="‖b‖°", latex=r"\|b\|_*")
scaled_gain = quantity(
    "scaled_gain", "<α grad F(x), z_k - u>", printed="⟨α∇F,z-u⟩", latex=r"\langle\alpha\nabla F,z_k-u\rangle"
)
decrease = quantity("decrease", "F(x_(k+1)) - F(y_(k+1))", loss=1, printed="F(x)-F(y)", latex="F(x)-F(y)")
z_gap = quantity("z_gap", "||z_k - z_(k+1)||", printed="‖z-z⁺‖", latex=r"\|z_k-z_{k+1}\|")

noisy_step, noisy_rest = (
    quantity(name, words, printed=printed, latex=latex)
    for name, words, printed, latex in (
        ("noisy_step", "<α(grad F + b), z_k - z_(k+1)>", "⟨α(∇F+b),z-z⁺⟩", r"\langle\alpha(\nabla F+b),z-z^+\rangle"),
        ("noisy_rest", "<α(grad F + b), z_(k+1) - u>", "⟨α(∇F+b),z⁺-u⟩", r"\langle\alpha(\nabla F+b),z^+-u\rangle"),
    )
)
grad, b = symbols("grad b", real=True)

equation51 = Claim(
    id="dwang20.equation3.51",
    source=Source("dwang20", "equation (3.51)"),
    kind=Kind.IDENTITY,
    says="The gradient against z-u, by the noisy gradient and the next z; the noise has mean 0 given z.",
    states=Eq(scaled_gain, noisy_step + noisy_rest),
    checks=[
        Adds(
            alpha_k * grad * (z - u),
            {noisy_step: alpha_k * (grad + b) * (z - z_n), noisy_rest: alpha_k * (grad + b) * (z_n - u)},
            {"of mean 0: α⟨b, z-u⟩": alpha_k * b * (z - u)},
        )
    ],
)

equation53 = Claim(
    id="dwang20.equation3.53",
    source=Source("dwang20", "equation (3.53), its last step"),
    kind=Kind.UTILITY,
    says="The noise against the move of z.",
    states=Le(noisy_gain, alpha_k**2 * b_dual**2 + z_gap**2 / 4),
    checks=[
        Adds(
            alpha_k * b_dual * z_gap, {},
            {"⟨b, z-z⁺⟩ ≤ ‖b‖°·‖z-z⁺‖, which leaves a square": (alpha_k * b_dual - z_gap / 2) ** 2},
        )
    ],
)

equation54 = Claim(
    id="dwang20.equation3.54",
    source=Source("dwang20", "equation (3.54), with ∇F where F is printed"),
    kind=Kind.IDENTITY,
    says="The factors before ⟨∇F, x-v⟩ and ‖x-v‖² when z-z⁺ = (x-v)/r: α/r = 2α²L and 1/(4r²) = α²L².",
    states=Eq(ratio, 2 * alpha_k**2 * L_s * (1 - L_s / 2)),
    ignores_units=True,
    checks=[Equals(alpha_k / rho - 1 / (4 * rho**2), "r = 1/(2αL)")],
)

# In coordinates: p is grad F(x), b the noise, y the y step; its rival r z+ + (1-r) y_k is x - r (z - z+).
b, p, x, y, F_x, F_y = symbols("b p x y F_x F_y", real=True)
rival = x - rho * (z - z_n)
mirror = {
    "z⁺ is optimal": ((g_n - g_z) + alpha_k * (p + b)) * (u - z_n),
    "w is 1-strongly convex": w_n - w_z - g_z * (z_n - z) - (z_n - z) ** 2 / 2,
    "F is L-smooth": 2 * alpha_k**2 * L_s * (F_x + p * (y - x) + L_s / 2 * (y - x) ** 2 - F_y),
    "of mean 0": alpha_k * b * (z - u),
}
in_mirror = {V_old: w_u - w_z - g_z * (u - z), V_new: w_u - w_n - g_n * (u - z_n), b_dual: b, decrease: F_x - F_y}

equation55 = Claim(
    id="dwang20.equation3.55",
    source=Source("dwang20", "equation (3.55)"),
    kind=Kind.UTILITY,
    says="One step of the algorithm as printed.",
    assumes=losses,
    states=Le(scaled_gain, 2 * alpha_k**2 * L_s * decrease + V_old - V_new + alpha_k**2 * b_dual**2),
    ignores_units=True,
    cites=[Cites("dwang20.equation3.53"), Cites("dwang20.equation3.54")],
    checks=[
        Adds(
            alpha_k * p * (z - u), in_mirror,
            {
                **mirror,
                "Young": (alpha_k * b - (z - z_n) / 2) ** 2,
                "y is optimal": 2 * alpha_k**2 * L_s
                * (L_s / 2 * (rival - x) ** 2 + p * (rival - x) - L_s / 2 * (y - x) ** 2 - p * (y - x)),
            },
        )
    ],
)

equation55_repaired = Claim(
    id="dwang20.equation3.55.noisy_y",
    source=Source("dwang20", "equation (3.55), for one noisy gradient in both steps"),
    kind=Kind.UTILITY,
    says="The same if the y step uses the noisy gradient, and L‖y-x‖² in place of L/2·‖y-x‖².",
    assumes=losses,
    states=Le(scaled_gain, 2 * alpha_k**2 * L_s * decrease + V_old - V_new + alpha_k**2 * b_dual**2),
    ignores_units=True,
    checks=[
        Adds(
            alpha_k * p * (z - u), in_mirror,
            {
                **mirror,
                "a square": alpha_k**2 * (b + L_s * (y - x)) ** 2,
                "y is optimal": 2 * alpha_k**2 * L_s
                * (L_s * (rival - x) ** 2 + (p + b) * (rival - x) - L_s * (y - x) ** 2 - (p + b) * (y - x)),
            },
        )
    ],
)

equation56 = Claim(
    id="dwang20.equation3.56",
    source=Source("dwang20", "equation (3.56), the factor of F(y_k)"),
    kind=Kind.IDENTITY,
    says="α(1-r)/r = 2α²L - α.",
    states=Eq(alpha_k, 2 * alpha_k**2 * L_s - alpha_k),
    ignores_units=True,
    checks=[Equals(alpha_k * (1 - rho) / rho, "r = 1/(2αL)")],
)

telescoping = Claim(
    id="dwang20.theorem3.1.7.telescoping",
    source=Source("dwang20", "proof of Theorem 3.1.7, after (3.56)"),
    kind=Kind.IDENTITY,
    says="2α_k²L = 2α_(k+1)²L - α_(k+1) + 1/(8L), and 2α₁²L - α₁ = 0 (k is t).",
    states=Eq(ratio, 2 * alpha**2 * L_s - alpha + 1 / (8 * L_s)),
    ignores_units=True,
    checks=[
        Equals(2 * alpha.subs(t, t - 1) ** 2 * L_s, "α_k = (k+1)/(4L)"),
        Proof([Same("at k = 0", (2 * alpha**2 * L_s - alpha).subs(t, 0), Integer(0))]),
    ],
)

squares = T * (2 * T**2 + 9 * T + 13) / (96 * L_s**2)  # sum of α_k² for k = 1..T

equation57 = Claim(
    id="dwang20.equation3.57",
    source=Source("dwang20", "equation (3.57), with z_T where z_(T-1) is printed"),
    kind=Kind.UTILITY,
    says="The noise of all steps: the sum of α_k² is of order T³/L².",
    states=Rate(ratio, T**3 / L_s**2),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("one more term", squares + alpha.subs(t, T) ** 2, squares.subs(T, T + 1)),
                Same("none at T = 0", squares.subs(T, 0), Integer(0)),
                Less("2T² + 9T + 13 ≤ 24T²", squares, T**3 / (4 * L_s**2), {T: 1 + extra}),
            ],
            "hidden constant 1/4 suffices",
        )
    ],
)

equation58 = Claim(
    id="dwang20.equation3.58",
    source=Source("dwang20", "equation (3.58), with its constant; for one noisy gradient in both steps"),
    kind=Kind.UTILITY,
    says="The explicit bound for every T: L_C = L‖C‖₂² and E‖b‖°² for standard normal b.",
    assumes=[*losses, Setting("C symmetric")],
    states=Le(excess_risk, 8 * L_C * divergence / (T + 1) ** 2 + T * sigma_n**2 * dual2 / (2 * L_C)),
    checks=[
        Proof(
            [
                Same("over 2α_T²L", 1 / (2 * (alpha.subs(t, T - 1)) ** 2 * L_s), 8 * L_s / (T + 1) ** 2),
                Less(
                    "the sum of α_k² over 2α_T²L is at most T/(2L)",
                    squares * 8 * L_s / (T + 1) ** 2, T / (2 * L_s), {T: 1 + extra},
                ),
                Same(
                    "the sum of α_k is 2α_T²L plus (T-1)/(8L)",
                    T * (T + 3) / (8 * L_s), (T + 1) ** 2 / (8 * L_s) + (T - 1) / (8 * L_s),
                ),
            ],
            "(3.57) divided; F(y_k) ≥ F(x°) in the second sum",
        )
    ],
)

equation59 = Claim(
    id="dwang20.equation3.59",
    source=Source("dwang20", "equation (3.59)"),
    kind=Kind.UTILITY,
    says="T² that balances a/T² + bT², with a = 8LV₀ and b = G²·log(1/δ)·(G_C²+‖C‖₂²)/(2Ln²ε²), up to a constant.",
    states=Rate(ratio, (steps2 / diameter**2)),
    ignores_units=True,
    checks=[
        Minimises(
            8 * L_s * divergence / big + big * (G**2 * log(1 / delta) * spread / (2 * L_s * n**2 * eps**2)),
            big,
            4 * steps2 / diameter**2,
            "8LV₀/x + b·x over x = T²",
        ),
    ],
)
