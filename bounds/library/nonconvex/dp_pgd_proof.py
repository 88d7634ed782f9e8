"""The proof of DP-PGD's utility (dwang20, section 4.1.6), line by line, and what it gives for exact gradients.

Vectors stand in one coordinate: x, u = x⁺ = x-γg, p = ∇F(x), e the noise, q a subgradient of r at x⁺.
"""

from sympy import Eq, Le, Rational, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import T, d, eta, gradient_map2, gradient_norm2, quantity
from dpcheck.bounds.library.convex.gaussian_width import gain, shake
from dpcheck.bounds.library.convex.variance_reduction import L_s, gap0, r_u, r_x, sigma_n
from dpcheck.bounds.library.nonconvex.stationarity import composite, losses, step_map2
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

moved = quantity("moved_pgd", "||x+ - x||_2", parameter=1, printed="‖x⁺-x‖₂", latex=r"\|x^+-x\|_2")
map_size = quantity("map_size", "||g_C,k||", loss=1, parameter=-1, printed="‖g_k‖", latex=r"\|g_k\|")
noise_size = quantity("noise_size", "||ε_k||", loss=1, parameter=-1, printed="‖ε_k‖", latex=r"\|\varepsilon_k\|")
cross = quantity(
    "noise_cross", "<ε_k, g_C,k>", loss=2, parameter=-2, printed="⟨ε_k,g_k⟩", latex=r"\langle\varepsilon,g\rangle"
)
F_now = quantity("F_pgd", "F^r(x_k)", loss=1, printed="F(x_k)", latex="F^r(x_k)")
F_next = quantity("F_pgd_next", "F^r(x_(k+1))", loss=1, printed="F(x_(k+1))", latex="F^r(x_{k+1})")

x, u, p, e, q, g, r_0, r_1, f_0, f_1 = symbols("x u p e q g r_0 r_1 f_0 f_1", real=True)
steps = [*composite, Setting("a constant step size γ, printed η")]

lemma2 = Claim(
    id="dwang20.lemma4.1.2",
    source=Source("dwang20", "Lemma 4.1.2"),
    kind=Kind.UTILITY,
    says="What a proximal step with an error ε gains, where r(u) = r(x⁺) and r(x_j) = r(x).",
    assumes=[Setting("r closed and convex")],
    states=Le(moved**2 / eta + r_u - r_x + shake, gain),
    checks=[
        Adds(
            (u - x) ** 2 / eta + r_1 - r_0 + e * (u - x),
            {gain: p * (x - u)},
            {
                "x⁺ is optimal, against x": (p + e + (u - x) / eta + q) * (x - u),
                "r lies above its tangent at x⁺": r_0 - r_1 - q * (x - u),
            },
        )
    ],
)

# With x - x⁺ = γg: what L-smoothness and Lemma 4.1.2 say.
smoothness = {"F is L-smooth": f_0 - eta * p * g + L_s / 2 * eta**2 * g**2 - f_1}
by_lemma = {"Lemma 4.1.2": eta * p * g - eta * g**2 - r_1 + r_0 + eta * e * g}
where = {F_now: f_0 + r_0, map_size: g, noise_size: e, cross: e * g}
printed_line = F_now - (eta - L_s / 2 * eta**2) * map_size**2 - eta * cross

descent = Claim(
    id="dwang20.theorem4.1.2.descent",
    source=Source("dwang20", "proof of Theorem 4.1.2, one step, first line"),
    kind=Kind.UTILITY,
    says="One step, with -γ⟨ε,g⟩ as printed.",
    assumes=[*steps, eta <= 1 / L_s],
    states=Le(F_next, printed_line),
    checks=[
        AtMost(
            F_now,
            "F and r constant, C = ℝᵈ: g is the noise itself, ⟨ε,g⟩ = ‖g‖², and the value stays",
            against=printed_line.subs(cross, map_size**2),
        )
    ],
    cites=[Cites("dwang20.lemma4.1.2")],
)

descent_corrected = Claim(
    id="dwang20.theorem4.1.2.descent.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.2, one step, first line"),
    kind=Kind.UTILITY,
    says="The sign is +: x⁺-x = -γg. The next line holds either way.",
    assumes=steps,
    states=Le(F_next, F_now - (eta - L_s / 2 * eta**2) * map_size**2 + eta * cross),
    corrects="dwang20.theorem4.1.2.descent",
    checks=[Adds(f_1 + r_1, where, {**smoothness, **by_lemma})],
    cites=[Cites("dwang20.lemma4.1.2")],
)

young = Claim(
    id="dwang20.theorem4.1.2.step",
    source=Source("dwang20", "proof of Theorem 4.1.2, one step, second line"),
    kind=Kind.UTILITY,
    says="One step, the noise apart.",
    assumes=steps,
    states=Le(F_next, F_now - (eta - L_s * eta**2) * map_size**2 + noise_size**2 / (2 * L_s)),
    checks=[Adds(f_1 + r_1, where, {**smoothness, **by_lemma, "a square": (L_s * eta * g - e) ** 2 / (2 * L_s)})],
    cites=[Cites("dwang20.theorem4.1.2.descent.corrected")],
)

half = {eta: 1 / (2 * L_s)}
summed = Claim(
    id="dwang20.theorem4.1.2.sum",
    source=Source("dwang20", "proof of Theorem 4.1.2, the sum over all steps, γ constant"),
    kind=Kind.UTILITY,
    says="The mean squared map of T steps of size γ, printed η, below 1/L.",
    assumes=[*steps, eta < 1 / L_s],
    states=Le(step_map2, (gap0 + T * d * sigma_n**2 / (2 * L_s)) / (T * (eta - L_s * eta**2))),
    checks=[
        Proof(
            [
                Less("the weights γ-Lγ² are positive", L_s * eta**2, eta, {eta: 1 / (L_s * (1 + gap0))}),
                Same(
                    "the second line in the mean over T steps: (γ-Lγ²)·E‖g‖² ≤ Δ/T + dσ²/(2L)",
                    (gap0 / T + d * sigma_n**2 / (2 * L_s)) / (eta - L_s * eta**2),
                    (gap0 + T * d * sigma_n**2 / (2 * L_s)) / (T * (eta - L_s * eta**2)),
                ),
            ],
            "R uniform: E‖g_R‖² is the mean over the steps",
        )
    ],
    cites=[Cites("dwang20.theorem4.1.2.step")],
)

proof = Claim(
    id="dwang20.theorem4.1.2.proof",
    source=Source("dwang20", "proof of Theorem 4.1.2, at γ = 1/(2L)"),
    kind=Kind.UTILITY,
    says="The mean squared noisy map at x_R with all constants: Δ = F(x₁)-F°, printed g₀.",
    assumes=[*steps, Eq(eta, 1 / (2 * L_s))],
    states=Le(step_map2, 4 * L_s * gap0 / T + 2 * d * sigma_n**2),
    checks=[
        Proof(
            [
                Same("γ - Lγ² = 1/(4L)", (eta - L_s * eta**2).subs(half), 1 / (4 * L_s)),
                Same("in the sum", summed.formula.subs(half), 4 * L_s * gap0 / T + 2 * d * sigma_n**2),
            ]
        )
    ],
    cites=[Cites("dwang20.theorem4.1.2.sum")],
)

noiseless = Claim(
    id="dwang20.theorem4.1.2.noiseless",
    source=Source("dwang20", "Theorem 4.1.2, for the map of the exact gradient that equation (4.2) defines"),
    kind=Kind.UTILITY,
    says="The mean squared map of the exact gradient at x_R: proximal steps do not move points apart.",
    assumes=[*steps, Eq(eta, 1 / (2 * L_s))],
    states=Le(gradient_map2, 8 * L_s * gap0 / T + 6 * d * sigma_n**2),
    checks=[
        Proof(
            [
                Same("‖P(∇F)‖ ≤ ‖P(∇F+ε)‖ + ‖ε‖, and (a+b)² is 2a² + 2b² less a square",
                     2 * map_size**2 + 2 * noise_size**2,
                     (map_size + noise_size) ** 2 + (map_size - noise_size) ** 2),
                Same("twice the proof's bound, and 2dσ²", 2 * proof.formula + 2 * d * sigma_n**2,
                     8 * L_s * gap0 / T + 6 * d * sigma_n**2),
            ]
        )
    ],
    cites=[Cites("dwang20.theorem4.1.2.proof"), Cites("dwang20.lemma3.1.4")],
)

free = Claim(
    id="dwang20.theorem4.1.2.unconstrained",
    source=Source("dwang20", "Theorem 4.1.2, for C = ℝᵈ and r = 0, where the map is the gradient"),
    kind=Kind.UTILITY,
    says="The mean squared gradient at x_R: the noise of step R is independent of it.",
    assumes=[*losses, Setting("C = ℝᵈ, r = 0, γ = 1/(2L)")],
    states=Le(gradient_norm2, (8 * L_s * gap0 / T + d * sigma_n**2) / 3),
    checks=[
        Proof(
            [
                Same(
                    "a step -γ(p+e), ⟨p,e⟩ of mean 0: F falls by 3/(8L)·p² and rises by e²/(8L)",
                    (-eta * p * p + L_s / 2 * eta**2 * (p**2 + e**2)).subs(half),
                    -Rational(3, 8) / L_s * p**2 + e**2 / (8 * L_s),
                ),
                Same(
                    "T steps, divided by 3T/(8L)",
                    (gap0 + T * d * sigma_n**2 / (8 * L_s)) * 8 * L_s / (3 * T),
                    (8 * L_s * gap0 / T + d * sigma_n**2) / 3,
                ),
            ]
        )
    ],
)
