"""DP-PMD (wangxu19, Algorithm 3; dwang20, section 4.1.3, Algorithm 4.1.18): noisy mirror descent, composite risk.

Theorem 5 (4.1.5) with its proof from section 4.1.6 of dwang20, and Remark 3 (4.1.3). ‖·‖ is the norm whose unit ball is
the set C, ‖·‖° its dual; L̃ = L‖C‖₂² the smoothness in that norm, w of modulus 1. g is (x_k - x_(k+1))/γ with γ in
1/loss, so that ‖g‖ is in units of the loss. The dimension, printed p, is d. Solver:
dpcheck/solvers/nonconvex/dp_pmd.py.
"""

from dataclasses import replace

from sympy import Eq, Ge, Le, Rational, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import MEAN, T, c, c2, d, delta, eps, n, quantity
from dpcheck.bounds.library.convex.dp_accmd_proof import dual2
from dpcheck.bounds.library.convex.gaussian_width import diameter, gain, modulus, shake, spread, step_gap, weight, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, full_gradients, gap0, r_u, r_x, sigma_n
from dpcheck.bounds.library.nonconvex.dp_pgd import fixed, low, reached, stated_noise, usual
from dpcheck.bounds.library.nonconvex.stationarity import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.privacy.release import Seen
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Rearranged, Slack, Step

mirror_map = quantity(
    "mirror_map", "E ||(x_R - x_(R+1))/γ||_2, a step of mirror descent with its noise", loss=1, parameter=1,
    printed="E ‖g_C,R‖₂", latex=r"\mathbb{E}\|g_{C,R}\|_2", holds=MEAN,
)
mirror_map2 = quantity(
    "mirror_map2", "E ||(x_R - x_(R+1))/γ||_C^2, a step of mirror descent with its noise", loss=2,
    printed="E ‖g_C,R‖²", latex=r"\mathbb{E}\|g_{C,R}\|^2", holds=MEAN,
)
map_k = quantity("map_k", "||(x_k - x_(k+1))/γ||_C", loss=1, printed="‖g_k‖", latex=r"\|g_k\|")
noise_k = quantity("noise_k", "||ε_k||*", loss=1, printed="‖ε_k‖°", latex=r"\|\varepsilon_k\|_*")
cross_k = quantity("cross_k", "<ε_k, g_k>", loss=2, printed="⟨ε_k,g_k⟩", latex=r"\langle\varepsilon_k,g_k\rangle")
F_k = quantity("F_pmd", "F^r(x_k)", loss=1, printed="F(x_k)", latex="F^r(x_k)")
F_k1 = quantity("F_pmd_next", "F^r(x_(k+1))", loss=1, printed="F(x_(k+1))", latex="F^r(x_{k+1})")

mirror = Setting("w has modulus α, r convex")  # α is 1 in the theorem
IN_NORM = Setting("C symmetric and bounded")
losses = [smooth(L_s), lipschitz(G), IN_NORM, mirror]
L_C = L_s * diameter**2  # smoothness in the norm of the set, as printed
NUMBERS, REMARK3 = ("theorem5", "theorem4.1.5"), ("remark3", "remark4.1.3")

# Privacy -------------------------------------------------------------------------------------------
all_seen = full_gradients(T)
released = replace(all_seen, seen=Seen.RANDOM_ITERATE)  # x_R, what R-1 noisy gradients made of the start

privacy, privacy_twin = both(
    *NUMBERS, ".privacy", lines=(239, 2830), kind=Kind.PRIVACY,
    says="There are c and c₂ with which the noise of (3) / (4.3) makes DP-PMD (ε, δ)-private for all ε < c₂T.",
    assumes=[*losses, eps < c2 * T],
    states=Eq(sigma_n, stated_noise), guarantee=ApproxDP(eps, delta),
    hidden=(c, c2),
    checks=[IterateAccountant(
        full_gradients((T - 1) / 2),
        "linear losses; x_R shows (T-1)/2 noisy gradients with probability 1/2, at a δ of twice the stated: the "
        "true ε grows like the square of the stated one, which ε < c₂T does not limit",
    )],
)

privacy_corrected, privacy_corrected_twin = both(
    *NUMBERS, ".privacy.corrected", lines=(239, 2830), kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4, for every T.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)), guarantee=ApproxDP(eps, delta),
    checks=[Accountant(all_seen, "T full gradients, each 2G/n apart, all seen")],
)

# Utility: one step ---------------------------------------------------------------------------------
bent, tilt = symbols("bent tilt", real=True)  # ⟨∇w(x⁺)-∇w(x), x⁺-x⟩/γ, and ⟨q, x-x⁺⟩ for a subgradient q of r at x⁺

lemma5 = Claim(
    id="dwang20.lemma4.1.5",
    source=Source("dwang20", "Lemma 4.1.5, with r for h", line=3020),
    kind=Kind.UTILITY,
    says="A mirror step with an error ε: what it gains, where r(u) = r(x⁺) and r(x_j) = r(x).",
    assumes=[mirror],
    states=Ge(gain, modulus / weight * step_gap**2 + r_u - r_x + shake),
    checks=[Chain(
        gain,
        Step(
            ">=",
            STATEMENT,
            because=Slack(
                given={
                    "x⁺ is a minimiser over C: (4.11) at u = x": gain - shake - bent + tilt,
                    "w has modulus α": bent - modulus / weight * step_gap**2,
                    "r lies above its tangent at x⁺": r_x - r_u - tilt,
                }
            ),
        ),
    )],
)

descent = Claim(
    id="dwang20.theorem4.1.5.descent",
    source=Source("dwang20", "proof of Theorem 4.1.5, one step, second line", line=3040),
    kind=Kind.UTILITY,
    says="One step, the noise apart. (The line before has -γ⟨ε,g⟩ for +γ⟨ε,g⟩; this one holds either way.)",
    assumes=losses,
    states=Le(F_k1, F_k - (weight - L_C * weight**2) * map_k**2 + noise_k**2 / (2 * L_C)),
    checks=[
        Chain(
            F_k1,
            Step(
                "<=",
                F_k - gain + L_C / 2 * step_gap**2 + r_u - r_x,
                because=Premise("F is L̃-smooth in the norm of C; r(u) and r(x_j) are r at x_(k+1) and x_k"),
                uses=[IN_NORM],
            ),
            Step("<=", because=Cites("dwang20.lemma4.1.5", {modulus: Rational(1)})),
            Step(
                "=",
                F_k - (1 / weight - L_C / 2) * (weight * map_k) ** 2 + weight * cross_k,
                because=Premise("x_k - x_(k+1) = γ·g_k"),
            ),
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    given={"⟨ε,g⟩ ≤ ‖ε‖°‖g‖": weight * (noise_k * map_k - cross_k)},
                    seen=[(L_C * weight * map_k - noise_k) ** 2 / (2 * L_C)],
                ),
            ),
        )
    ],
)

# Utility: all steps --------------------------------------------------------------------------------
half = [*losses, Eq(weight, 1 / (2 * L_C))]

explicit = Claim(
    id="dwang20.theorem4.1.5.explicit",
    source=Source("dwang20", "proof of Theorem 4.1.5, the sum over all steps; E‖b‖°² where it has O()", line=3044),
    kind=Kind.UTILITY,
    says="The step from x_R with its noise, for any T and σ; g₀ = F^r(x₁) - F^r(x°) and E‖b‖°² for standard normal b.",
    assumes=half,
    states=Le(mirror_map2, 4 * L_C * gap0 / T + 2 * sigma_n**2 * dual2), provenance=Provenance.READING,
    checks=[Chain(
        mirror_map2,
        Step("=", map_k**2, because=Premise("R is uniform: the mean over the steps k and their noise")),
        Step("<=", because=Rearranged("dwang20.theorem4.1.5.descent")),
        Step("<=", (gap0 / T + sigma_n**2 * dual2 / (2 * L_C)) / (weight - L_C * weight**2),
             because=Premise("in that mean F(x_k) - F(x_(k+1)) is at most g₀/T, and ‖ε_k‖°² is σ²·E‖b‖°²")),
        Step("=", STATEMENT),
    )],
)

rate = diameter ** Rational(3, 2) * (spread * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
printed_steps = n * eps * diameter / sqrt(spread * log(1 / delta))

utility, utility_twin = both(
    *NUMBERS, lines=(239, 2834),
    places=("Theorem 5, equation (7) (the copy reads √ for ⁴√, Table 1 has ⁴√)", "Theorem 4.1.5, equation (4.7)"),
    kind=Kind.UTILITY,
    says="The step from x_R, with γ = 1/(2L‖C‖₂²) and T = nε‖C‖₂/√((‖C‖₂²+G_C²)·ln(1/δ)), for G, L and g₀ fixed.",
    assumes=[*half, Eq(sigma_n, stated_noise), Eq(T, printed_steps)],
    added=fixed,
    states=Rate(mirror_map, rate), guarantee=ApproxDP(eps, delta),
    hidden=(c,), ignores_units=True,
    checks=[Chain(
        mirror_map,
        Step("<=", diameter * sqrt(mirror_map2), because=Premise("Jensen; ‖v‖₂ ≤ ‖C‖₂‖v‖ (Lemma 4.1.4)")),
        Step("<=", because=Cites("dwang20.theorem4.1.5.explicit")),
        Step("<=", diameter * sqrt(4 * L_C * gap0 / T + 2 * sigma_n**2 * spread),
             because=Premise("E‖b‖°² ≤ G_C² + ‖C‖₂²: the maximum over C is ‖C‖₂-Lipschitz (Gaussian Poincaré)")),
        Step("<=", 5 * STATEMENT, where=reached),
        choosing={c: Rational(8)},
    )],
)

# Remark 3 / 4.1.3 ----------------------------------------------------------------------------------
gap_bound = diameter * (spread * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)  # (6) / (4.6)
_x, _y = symbols("x y", nonnegative=True)
narrow = {**usual, width: diameter * sqrt(d) / 2 / (1 + _x)}

less, less_twin = both(
    *REMARK3, lines=(245, 2838), kind=Kind.UTILITY,
    says="For ‖C‖₂ ≤ 1, (7) is at most (4), as formulas: G_C is at most ‖C‖₂√d/2 for every symmetric set.",
    assumes=[diameter <= 1, width <= diameter * sqrt(d) / 2],
    added=[d >= 2, delta <= Rational(1, 2)],
    states=Le(rate, low), provenance=Provenance.READING,
    ignores_units=True,
    checks=[Chain(
        rate,
        Step("<=", (diameter**8 * (1 + d / 4) * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps), where=narrow),
        Step("<=", STATEMENT, where={**usual, diameter: 1 / (1 + _x), d: 2 + _y}),
    )],
)

same_bound, same_bound_twin = both(
    *REMARK3, ".frank_wolfe", lines=(245, 2838), kind=Kind.UTILITY,
    says="(7) is at most (6), as formulas, for ‖C‖₂ ≤ 1; without the terms of C, at ‖C‖₂ = 1, they are the same.",
    assumes=[diameter <= 1],
    added=[delta <= Rational(1, 2)],
    states=Le(rate, gap_bound), provenance=Provenance.READING,
    ignores_units=True,
    checks=[Chain(rate, Step("<=", STATEMENT, where={**usual, diameter: 1 / (1 + _x) ** 2}))],
)
