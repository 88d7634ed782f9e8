"""DP-AccMD: the proof of Theorem 3.1.7 of dwang20, (3.51) to (3.58). The theorem stands in dp_accmd.py.

‖·‖ is the norm whose unit ball is the set, ‖·‖° its dual, and L the smoothness in it: ‖C‖₂ = 1 without loss of
generality, as the source has it. α stands for α_t = (t+1)/(4L), r for 1/(2αL), g for F - F(x°). In proofs about one
step vectors stand in one coordinate, with u at 0.
"""

from sympy import Basic, Expr, Le, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import T, excess_risk, quantity, t
from dpcheck.bounds.library.convex.variance_reduction import L_s, sigma_n
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step

divergence = quantity("divergence", "Bregman divergence V(x*, x_0)", printed="V₀", latex="V_0")
alpha_k = quantity("alpha_k", "step of z", loss=-1, printed="α", latex=r"\alpha_t")
dual2 = quantity(
    "dual2", "E ||b||*^2 for standard normal b", parameter=2, printed="E‖b‖°²", latex=r"\mathbb{E}\|b\|_*^2"
)
V_old = quantity("V_old", "V(u, z_k)", printed="V(u,z)", latex="V(u,z_k)")
V_new = quantity("V_new", "V(u, z_(k+1))", printed="V(u,z⁺)", latex="V(u,z_{k+1})")
b_dual = quantity("b_dual", "||b||*", loss=1, printed="‖b‖°", latex=r"\|b\|_*")
scaled_gain = quantity(
    "scaled_gain", "<α grad F(x), z_k - u>", printed="⟨α∇F,z-u⟩", latex=r"\langle\alpha\nabla F,z_k-u\rangle"
)
decrease = quantity("decrease", "F(x_(k+1)) - F(y_(k+1))", loss=1, printed="F(x)-F(y⁺)", latex="F(x)-F(y^+)")
gap_x, gap_old, gap_new = (
    quantity(f"accmd_{name}", f"F({point}) - F(x*)", loss=1, printed=f"g({point})")
    for name, point in (("gap_x", "x"), ("gap_old", "y"), ("gap_new", "y⁺"))
)
phi, phi_next = (
    quantity(name, f"V({z}) + (2α²L-α)·g({point}), α of the step to come", printed=printed)
    for name, z, point, printed in (("phi", "x*, z", "y", "Φ"), ("phi_next", "x*, z+", "y+", "Φ⁺"))
)

in_norm = Setting("F convex, L-smooth in ‖·‖; w 1-strongly convex in ‖·‖")
exact_y, noisy_y = Setting("y steps by the exact gradient, as printed"), Setting("y steps by the noisy gradient")
CONVEX = "F is convex, at x = r·z + (1-r)·y, and (1-r)/r = 2αL-1"
SAME_POINTS = Premise("F(x)-F(y⁺) = g(x)-g(y⁺); the noise is σ times a standard normal")
DEFINED = Premise("the definition of Φ")
alpha = (t + 1) / (4 * L_s)
doubled = 2 * alpha_k**2 * L_s

# p is grad F(x), b the noise, g_z and g_n gradients of w; y's rival r z+ + (1-r) y is x - r (z - z+).
p, x, y, z, z_n, w_z, g_z, g_n, F_x = symbols("p x y z z_n w_z g_z g_n F_x", real=True)
b, w_u, F_y = b_dual, V_old + w_z - g_z * z, F_x - decrease
w_n = w_u - V_new + g_n * z_n
rival = -(z - z_n) / (2 * alpha_k * L_s)  # less x
common = {
    "z⁺ is optimal": -z_n * ((g_n - g_z) + alpha_k * (p + b)),
    "w is 1-strongly convex": w_n - w_z - g_z * (z_n - z) - (z_n - z) ** 2 / 2,
    "F is L-smooth": doubled * (F_x + p * (y - x) + L_s / 2 * (y - x) ** 2 - F_y),
    "E b = 0": alpha_k * b * z,
}


def line(
    number: str, at: int, says: str, states: Basic, *steps: Step, place: str = "", setting: Setting = exact_y,
    provenance: Provenance = Provenance.READING,
) -> Claim:
    """A line of the proof, and the chain from its left side."""
    return Claim(
        id=f"dwang20.equation{number}", kind=Kind.UTILITY, says=says, states=states, assumes=[in_norm, setting],
        source=Source("dwang20", place or f"equation ({number}), its constant written out", line=at),
        provenance=provenance, ignores_units=True, checks=[Chain(states.lhs, *steps)],
    )


def gives_away(gradient: Expr, weight: Expr, square: Expr) -> Slack:
    """What (3.55) gives away where y steps by a gradient, with so much of ‖y-x‖² beside it."""
    best = weight * rival**2 + gradient * rival - weight * (y - x) ** 2 - gradient * (y - x)
    optimal = {"y⁺ is optimal, and r·z⁺ + (1-r)·y a rival": doubled * best}
    return Slack(given=common | optimal, seen=[square])


in_coordinates = Premise("in one coordinate")
one_step = Le(scaled_gain, doubled * decrease + V_old - V_new + alpha_k**2 * b_dual**2)

equation55 = line(
    "3.55",
    1322,
    "One step of the algorithm as printed.",
    one_step,
    Step("=", alpha_k * p * z, because=in_coordinates, uses=[exact_y]),
    Step("<=", STATEMENT, because=gives_away(p, L_s / 2, (alpha_k * b - (z - z_n) / 2) ** 2)),
    place="equation (3.55)", provenance=Provenance.PRINTED,
)

equation55_repaired = line(
    "3.55.noisy_y",
    1322,
    "The same if the y step uses the noisy gradient, and L‖y-x‖² for L/2·‖y-x‖².",
    one_step,
    Step("=", alpha_k * p * z, because=in_coordinates, uses=[noisy_y]),
    Step("<=", STATEMENT, because=gives_away(p + b, L_s, alpha_k**2 * (b + L_s * (y - x)) ** 2)),
    place="equation (3.55), for one noisy gradient in both steps",
    setting=noisy_y,
    provenance=Provenance.CONSEQUENCE,
)

convexity = scaled_gain + (doubled - alpha_k) * (gap_old - gap_x) - alpha_k * gap_x
noise = alpha_k**2 * sigma_n**2 * dual2

equation56 = line(
    "3.56", 1341, "One step in terms of g and V.",
    Le(doubled * gap_new + V_new, (doubled - alpha_k) * gap_old + V_old + noise),
    Step("<=", doubled * gap_new + V_new + convexity, because=Slack(given={CONVEX: convexity})),
    Step("<=", because=Cites("dwang20.equation3.55")),
    Step("=", (doubled - alpha_k) * gap_old + V_old + noise, because=SAME_POINTS),
    Step("<=", STATEMENT),
    place="equation (3.56), less F(u) on both sides, its constant written out",
)

to_come = t * (t + 2) / (8 * L_s)  # 2α²L - α of the next step

equation57_step = line(
    "3.57.step", 1343, "One step adds its noise to Φ.", Le(phi_next, phi + noise.subs(alpha_k, alpha)),
    Step("=", to_come * gap_new + V_new, because=DEFINED),
    Step("<=", doubled.subs(alpha_k, alpha) * gap_new + V_new),
    Step("<=", because=Cites("dwang20.equation3.56", {alpha_k: alpha})),
    Step("=", phi + noise.subs(alpha_k, alpha), because=DEFINED),
    Step("<=", STATEMENT),
    place="before equation (3.57): (3.56) with 2α_k²L = 2α_(k+1)²L - α_(k+1) + 1/(8L)",
    provenance=Provenance.CONSEQUENCE,
)

squares = T * (2 * T**2 + 9 * T + 13) / (96 * L_s**2)  # sum of α_k² for k = 1..T
adds_up = OneStep(Cites("dwang20.equation3.57.step", {t: T + 1}), phi, phi_next)

equation57 = line(
    "3.57", 1347, "All steps: the sum of α_k², which is of order T³/L², times the noise.",
    Le(phi, divergence + sigma_n**2 * dual2 * squares),
    Step("<=", STATEMENT, because=Induction(T, divergence, adds_up)),
)

last = alpha.subs(t, T)
weight = doubled.subs(alpha_k, last)

equation58 = line(
    "3.58", 1351, "The explicit bound for every T.",
    Le(excess_risk, 8 * L_s * divergence / (T + 1) ** 2 + T * sigma_n**2 * dual2 / (2 * L_s)),
    Step("<=", (weight * gap_new + V_new) / weight, because=Premise("V ≥ 0")),
    Step("<=", because=Cites("dwang20.equation3.56", {alpha_k: last})),
    Step("=", (phi + noise.subs(alpha_k, last)) / weight, because=DEFINED),
    Step("<=", because=Cites("dwang20.equation3.57", {T: T - 1})),
    Step("<=", STATEMENT),
)
