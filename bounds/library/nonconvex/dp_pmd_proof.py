"""DP-PMD: Lemma 4.1.5 and the proof of Theorem 4.1.5 of dwang20. The theorem stands in dp_pmd.py.

‖·‖ is the norm whose unit ball is the set C, ‖·‖° its dual; L̃ = L‖C‖₂² the smoothness in that norm, w of modulus 1.
g is (x_k - x_(k+1))/γ with γ in 1/loss, so that ‖g‖ is in units of the loss.
"""

from sympy import Eq, Function, Ge, Le, Rational, Symbol, limit, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import MEAN, T, c, delta, eps, n, quantity
from dpcheck.bounds.library.convex.dp_accmd_proof import dual2
from dpcheck.bounds.library.convex.gaussian_width import (
    diameter,
    gain,
    lemma5,
    modulus,
    shake,
    spread,
    step_gap,
    weight,
)
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, r_u, r_x, sigma_n
from dpcheck.bounds.proving.proofs import AtMost, Follows, Minimises, Proof, Same, Units

mirror_map2 = quantity(
    "mirror_map2", "E ||(x_R - x_(R+1))/γ||_C^2, a step of mirror descent with its noise", loss=2,
    printed="E ‖g_C,R‖²", latex=r"\mathbb{E}\|g_{C,R}\|^2", holds=MEAN,
)
exact_map2 = quantity(
    "exact_map2", "E ||(x_R - x+)/γ||_C^2, the mirror step from x_R without noise", loss=2,
    printed="E ‖P_C(x_R)‖²", latex=r"\mathbb{E}\|P_C(x_R)\|^2", holds=MEAN,
)
lowered = quantity(
    "lowered", "F^r(x_k) - F^r(x_(k+1))", loss=1, printed="F^r(x_k)-F^r(x_{k+1})", latex="F^r(x_k)-F^r(x_{k+1})"
)
pull = quantity(
    "pull_mirror", "<grad F(x) + ε + (grad w(x+) - grad w(x))/γ, u - x+>", loss=1, printed="⟨∇F+ε+(∇w⁺-∇w)/γ,u-x⁺⟩"
)
map_k = quantity("map_k", "||(x_k - x_(k+1))/γ||_C", loss=1, printed="‖g_k‖", latex=r"\|g_k\|")
noise_k = quantity("noise_k", "||ε_k||*", loss=1, printed="‖ε_k‖°", latex=r"\|\varepsilon_k\|_*")
mirror_steps = quantity("mirror_steps", "T of DP-PMD", printed="T", latex="T")
map_gap = quantity(
    "map_gap", "||P_C(x, g, γ) - P_C(x, h, γ)||_C", loss=1, printed="‖P_C(x,g)-P_C(x,h)‖", latex=r"\|P_C(g)-P_C(h)\|"
)
input_gap = quantity("input_gap", "||g - h||*", loss=1, printed="‖g-h‖°", latex=r"\|g-h\|_*")

mirror = Setting("w has modulus α, r convex")  # α is 1 in the theorem
losses = [smooth(L_s), lipschitz(G), Setting("C symmetric and bounded"), mirror]
L_C = L_s * diameter**2  # smoothness in the norm of the set, as printed
stated_noise = G * sqrt(c * T * log(1 / delta)) / (n * eps)  # equation (3) / (4.3)
best_steps = n * eps * sqrt(L_C * gap0) / (G * sqrt(spread * log(1 / delta)))

lemma415 = Claim(
    id="dwang20.lemma4.1.5",
    source=Source("dwang20", "Lemma 4.1.5, with r for h"),
    kind=Kind.UTILITY,
    says="A mirror step with an error ε: what it gains, where r(u) = r(x⁺) and r(x_j) = r(x).",
    assumes=[mirror],
    states=Le(modulus / weight * step_gap**2 + r_u - r_x + shake, gain),
    checks=lemma5.checks,  # the same lemma, word for word, as Lemma 3.1.5
)

# In coordinates: x = x_k, u = x_(k+1) = x - γg, p = grad F(x), e = noise; γ = weight; F and r at both points.
x, g, e, F_0, F_1, r_0, r_1, p = symbols("x g e F_0 F_1 r_0 r_1 p", real=True)
# Two steps, to u with the gradient g and to v with h: w_* is grad w there, r_*_ a subgradient of r.
h, u, v, w_u, w_v, w_x, r_u_, r_v_ = symbols("h u v w_u w_v w_x r_u_ r_v_", real=True)
gamma, L_t, s = (Symbol(name, positive=True) for name in ("gamma_", "L_t", "s"))

w = Function("w")
bregman = w(u) - w(x) - w(x).diff(x) * (u - x)

optimal = Claim(
    id="dwang20.equation4.11",
    source=Source("dwang20", "equation (4.11), with p's tangent in place of p, for all u (printed x) in C"),
    kind=Kind.IDENTITY,
    says="x⁺ is optimal: r(x⁺) ≤ r(u) + ⟨∇F(x)+ε+(∇w(x⁺)-∇w(x))/γ, u-x⁺⟩; in the check w = ‖x‖²/2.",
    assumes=[mirror],
    states=Le(r_x, r_u + pull),
    checks=[
        Proof(
            [
                Same(
                    "the objective from x⁺ towards u, r at most its chord: its slope at x⁺, at least 0",
                    limit(
                        ((p + e) * s * (u - v) + ((v + s * (u - v) - x) ** 2 - (v - x) ** 2) / (2 * gamma)
                         + s * (r_1 - r_0)) / s, s, 0,
                    ),
                    (p + e + (v - x) / gamma) * (u - v) + r_1 - r_0,
                ),
                Same("V(u, x) of any w has the slope ∇w(u)-∇w(x) in u", bregman.diff(u), w(u).diff(u) - w(x).diff(x)),
            ],
            "a minimiser over a convex set has no direction of descent",
        )
    ],
)

descent = Claim(
    id="dwang20.theorem4.1.5.descent",
    source=Source("dwang20", "proof of Theorem 4.1.5, one step at γ = 1/(2L̃)"),
    kind=Kind.UTILITY,
    says="What a step lowers the risk by.",
    assumes=losses,
    states=Ge(lowered, map_k**2 / (4 * L_C) - noise_k**2 / (2 * L_C)),
    cites=[Cites("dwang20.lemma4.1.5", {modulus: Rational(1), weight: 1 / (2 * L_C)})],
    checks=[
        Proof(
            [
                Same(
                    "smoothness, Lemma 4.1.5 and Young: the drop less (γ-L̃γ²)‖g‖² - ‖ε‖²/(2L̃) is the sum of what each "
                    "of the three leaves",
                    (F_0 + r_0 - F_1 - r_1) - (gamma - L_t * gamma**2) * g**2 + e**2 / (2 * L_t),
                    (F_0 - gamma * p * g + L_t / 2 * gamma**2 * g**2 - F_1)
                    + (gamma * p * g - gamma * g**2 - r_1 + r_0 + gamma * e * g)
                    + (L_t * gamma * g - e) ** 2 / (2 * L_t),
                ),
                Same("γ-L̃γ² at γ = 1/(2L̃)", (gamma - L_t * gamma**2).subs(gamma, 1 / (2 * L_t)), 1 / (4 * L_t)),
            ],
            "each of the three is at least 0",
        )
    ],
)

explicit = Claim(
    id="dwang20.theorem4.1.5.explicit",
    source=Source("dwang20", "proof of Theorem 4.1.5, with its constants"),
    kind=Kind.UTILITY,
    says="The step from x_R with its noise, for any T and σ; g₀ = F^r(x₁) - F^r(x°) and E‖b‖°² for standard normal b.",
    assumes=losses,
    states=Le(mirror_map2, 4 * L_C * gap0 / T + 2 * sigma_n**2 * dual2),
    cites=[Cites("dwang20.theorem4.1.5.descent")],
    checks=[
        Proof(
            [
                Same(
                    "T steps of the descent lemma, over T/(4L̃)",
                    (gap0 + T * sigma_n**2 * dual2 / (2 * L_C)) * 4 * L_C / T,
                    4 * L_C * gap0 / T + 2 * sigma_n**2 * dual2,
                )
            ]
        )
    ],
)

explicit_tight = Claim(
    id="dwang20.theorem4.1.5.explicit.radius",
    source=Source("dwang20", "proof of Theorem 4.1.5, with the radius for the diameter"),
    kind=Kind.UTILITY,
    says="With γ = 2/(L‖C‖₂²): half the diameter is enough in Lemma 4.1.4, and the first term falls to a quarter.",
    assumes=losses,
    states=Le(mirror_map2, L_C * gap0 / T + 2 * sigma_n**2 * dual2),
    checks=[
        Proof(
            [
                Same(
                    "4L̃g₀/T with L̃ = L(‖C‖₂/2)²",
                    4 * L_s * (diameter / 2) ** 2 * gap0 / T,
                    L_C * gap0 / T,
                )
            ]
        )
    ],
)

nonexpansive = Claim(
    id="dwang20.definition4.1.4.nonexpansive",
    source=Source("dwang20", "after Definition 4.1.4: what parts the noisy step from the projected gradient"),
    kind=Kind.UTILITY,
    says="Two gradients at one point: their projected gradients differ by no more than they do, w of modulus 1.",
    assumes=[mirror],
    states=Le(map_gap, input_gap),
    checks=[
        Proof(
            [
                Same(
                    "γ⟨h-g, u-v⟩ - ‖u-v‖² is a sum of what is at least 0: the optimality of u at v and of v at u, the "
                    "modulus of w, and the monotone subgradients of r",
                    gamma * (h - g) * (u - v) - (u - v) ** 2,
                    (gamma * g + w_u - w_x + gamma * r_u_) * (v - u)
                    + (gamma * h + w_v - w_x + gamma * r_v_) * (u - v)
                    + ((w_u - w_v) * (u - v) - (u - v) ** 2)
                    + gamma * (r_u_ - r_v_) * (u - v),
                )
            ],
            "so ‖u-v‖² ≤ γ‖g-h‖°‖u-v‖",
        )
    ],
)

exact_map = Claim(
    id="dwang20.theorem4.1.5.projected_gradient",
    source=Source("dwang20", "Theorem 4.1.5, for the projected gradient of Definition 4.1.4, which has no noise"),
    kind=Kind.UTILITY,
    says="The projected gradient at x_R: (a+b)² ≤ 2a² + 2b² with b the noise of one more step.",
    assumes=losses,
    states=Le(exact_map2, 8 * L_C * gap0 / T + 6 * sigma_n**2 * dual2),
    cites=[Cites("dwang20.theorem4.1.5.explicit"), Cites("dwang20.definition4.1.4.nonexpansive")],
    checks=[
        AtMost(2 * explicit.formula + 2 * sigma_n**2 * dual2, "twice the bound on the noisy step, and twice E‖ε‖°²")
    ],
)

steps = Claim(
    id="dwang20.theorem4.1.5.steps",
    source=Source("dwang20", "proof of Theorem 4.1.5, T"),
    kind=Kind.UTILITY,
    says="The number of steps that balances the two terms, as the proof prints it: without g₀.",
    assumes=losses,
    states=Rate(mirror_steps, n * eps * sqrt(L_C) / (G * sqrt(spread * log(1 / delta)))),
    checks=[Units()],
)

noisy_bound = explicit.formula.subs(sigma_n, stated_noise).subs(dual2, spread)

steps_corrected = Claim(
    id="dwang20.theorem4.1.5.steps.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.5, T"),
    kind=Kind.UTILITY,
    says="With √g₀, and √(2/c) in front: the minimiser of the bound in T.",
    assumes=losses,
    states=Eq(T, sqrt(2 / c) * best_steps),
    corrects="dwang20.theorem4.1.5.steps",
    checks=[Minimises(noisy_bound, T, None, "4L̃g₀/T + 2cG²T·ln(1/δ)·(G_C²+‖C‖₂²)/(nε)²")],
)

at_best = Claim(
    id="dwang20.theorem4.1.5.square",
    source=Source("dwang20", "proof of Theorem 4.1.5, after T is set"),
    kind=Kind.UTILITY,
    says="The square of the step's norm at the best T, c = 1, with g₀ where the proof drops it.",
    assumes=losses,
    states=Rate(mirror_map2, G * sqrt(L_C * gap0) * sqrt(spread * log(1 / delta)) / (n * eps)),
    cites=[Cites("dwang20.theorem4.1.5.explicit")],
    checks=[Follows(noisy_bound.subs(c, 1).subs(T, best_steps), Rational(6), "the explicit bound at T")],
)
