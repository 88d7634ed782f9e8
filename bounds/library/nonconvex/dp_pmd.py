"""DP-PMD (wangxu19, Algorithm 3; dwang20, section 4.1.3, Algorithm 4.1.18): noisy mirror descent, composite risk.

Theorem 5 / 4.1.5 and Remark 3 / 4.1.3; the proof stands in dp_pmd_proof.py. The dimension, printed p, is d. Solver:
dpcheck/solvers/nonconvex/dp_pmd.py.
"""

from dataclasses import replace

from sympy import Eq, Expr, Integer, Le, Rational, Symbol, log, simplify, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Kind, Rate, Setting
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import MEAN, T, c, c2, d, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_accmd_proof import V_step, dual2, z_gap
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, full_gradients, gap0, sigma_n
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.library.nonconvex.dp_pmd_proof import best_steps, exact_map, explicit, losses, stated_noise
from dpcheck.bounds.library.nonconvex.stationarity import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.privacy.release import Seen
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import Follows, Less, Proof, Same

mirror_map = quantity(
    "mirror_map", "E ||(x_R - x_(R+1))/γ||_2, a step of mirror descent with its noise", loss=1, parameter=1,
    printed="E ‖g_C,R‖₂", latex=r"\mathbb{E}\|g_{C,R}\|_2", holds=MEAN,
)

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
NUMBERS = ("theorem5", "theorem4.1.5")
all_seen = full_gradients(T)
released = replace(all_seen, seen=Seen.RANDOM_ITERATE)  # x_R, what R-1 noisy gradients made of the start

u, v = symbols("u v", real=True)
euclidean, euclidean_twin = both(
    "definition9", "definition4.1.4", ".euclidean", places=("after Definition 9", "after Definition 4.1.4"),
    kind=Kind.IDENTITY,
    says="With w = ‖x‖²/2 the mirror step is the projected one of (2) / (4.2): its Bregman divergence.",
    states=Eq(V_step, z_gap**2 / 2),
    checks=[Adds(u**2 / 2 - v**2 / 2 - v * (u - v), {z_gap: u - v})],
)

# Privacy -------------------------------------------------------------------------------------------
privacy, privacy_twin = both(
    *NUMBERS, ".privacy",
    kind=Kind.PRIVACY,
    says="There are c and c₂ with which the noise of (3) / (4.3) makes DP-PMD (ε, δ)-private for all ε < c₂T.",
    assumes=[*losses, eps < c2 * T],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c2),
    checks=[
        IterateAccountant(
            full_gradients((T - 1) / 2),
            "linear losses; x_R shows (T-1)/2 noisy gradients with probability 1/2, at a δ of twice the stated: the "
            "true ε grows like the square of the stated one, which ε < c₂T does not limit",
        )
    ],
)

privacy_corrected, privacy_corrected_twin = both(
    *NUMBERS, ".privacy.corrected",
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4, for every T.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(all_seen, "T full gradients, each 2G/n apart, all seen"),
        for_every_delta,
    ],
)

# Utility -------------------------------------------------------------------------------------------
rate = diameter ** Rational(3, 2) * (spread * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
printed_steps = n * eps * diameter / sqrt(spread * log(1 / delta))
fixed = {G: Integer(1), L_s: Integer(1), gap0: Integer(1), c: Integer(1)}


def of_the_step(bound: Expr, steps: Expr) -> Expr:
    """The bound on E‖g‖₂² at this T: ‖C‖₂² times that on E‖g‖², E‖b‖°² at most G_C² + ‖C‖₂²."""
    whole = (diameter**2 * bound).subs(dual2, spread).subs(sigma_n, stated_noise)
    return simplify(whole.subs(T, steps))


utility, utility_twin = both(
    *NUMBERS, places=("Theorem 5, equation (7) (the copy reads √ for ⁴√)", "Theorem 4.1.5, equation (4.7)"),
    kind=Kind.UTILITY,
    cites=[Cites("dwang20.theorem4.1.5.explicit")],
    says="The step from x_R, with γ = 1/(2L‖C‖₂²) and T = nε‖C‖₂/√((‖C‖₂²+G_C²)·ln(1/δ)); G, L and g₀ are fixed.",
    assumes=[*losses, Setting("T at least 1"), Setting("G, L and F^r(x₁)-F^r(x°) at most 1")],
    states=Rate(mirror_map, rate),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "E‖g‖₂² ≤ ‖C‖₂²(4L̃g₀/T + 2σ²(G_C²+‖C‖₂²)) at G = L = g₀ = c = 1 and the theorem's T",
                    of_the_step(explicit.formula, printed_steps).subs(fixed),
                    6 * rate**2,
                )
            ],
            "hidden constant √6 suffices, by Jensen's inequality",
        )
    ],
)

scaled, scaled_twin = both(
    *NUMBERS, ".scaled",
    kind=Kind.UTILITY,
    cites=[Cites("dwang20.theorem4.1.5.explicit")],
    says="With all that (7) / (4.7) hides, at T = nε√(L‖C‖₂²g₀)/(G√((‖C‖₂²+G_C²)·ln(1/δ))).",
    assumes=losses,
    states=Rate(mirror_map, rate * sqrt(G) * (L_s * gap0) ** Rational(1, 4)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "E‖g‖₂² at that T, c = 1", of_the_step(explicit.formula, best_steps).subs(c, 1),
                    6 * (rate * sqrt(G) * (L_s * gap0) ** Rational(1, 4)) ** 2,
                )
            ],
            "hidden constant √6 suffices, by Jensen's inequality",
        )
    ],
)

projected, projected_twin = both(
    *NUMBERS, ".projected_gradient.rate",
    kind=Kind.UTILITY,
    cites=[Cites("dwang20.theorem4.1.5.projected_gradient")],
    says="The same rate for the projected gradient at x_R, which has no noise: what Table 1 / 4.1 says is measured.",
    assumes=losses,
    states=Rate(mirror_map, rate * sqrt(G) * (L_s * gap0) ** Rational(1, 4)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "E‖P_C‖₂² at that T, c = 1", of_the_step(exact_map.formula, best_steps).subs(c, 1),
                    14 * (rate * sqrt(G) * (L_s * gap0) ** Rational(1, 4)) ** 2,
                )
            ],
            "hidden constant √14 suffices, by Jensen's inequality",
        )
    ],
)

# Remark 3 / 4.1.3 ----------------------------------------------------------------------------------
low = (d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)  # (4) / (4.4)
gap_bound = diameter * (spread * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)  # (6) / (4.6)

less, less_twin = both(
    "remark3", "remark4.1.3",
    kind=Kind.UTILITY,
    says="For ‖C‖₂ ≤ 1 and d ≥ 2, (7) is at most (4), as formulas: G_C is at most ‖C‖₂√d/2 for every set.",
    assumes=[diameter <= 1, d >= 2, width <= diameter * sqrt(d) / 2],
    states=Le(ratio, 1),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("(7) over (4), to the fourth", simplify((rate / low) ** 4), diameter**6 * spread / d),
                Less(
                    "at most 1 for ‖C‖₂ = 1/(1+a), G_C = ‖C‖₂√d/2/(1+b) and d = 2 + e",
                    diameter**8 * (1 + d / 4), d, {diameter: 1 / (1 + extra), d: 2 + more},
                ),
            ],
            "the ratio falls with ‖C‖₂ and grows with G_C",
        )
    ],
)

same_bound, same_bound_twin = both(
    "remark3", "remark4.1.3", ".frank_wolfe",
    kind=Kind.UTILITY,
    says="The bounds (7) and (6) are of one order when the terms of C are left out, ‖C‖₂ = 1.",
    assumes=[Setting("‖C‖₂ = 1")],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[Follows((rate / gap_bound).subs(diameter, 1), Integer(1), "(7) over (6)")],
)
