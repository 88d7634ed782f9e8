"""DP-FW-L1 and the dimension: Corollary 1 / 4.1.1 and what is said around it (wangxu19; dwang20, section 4.1.4).

That (8) / (4.8) depends on the dimension by its logarithm only, and is the smallest bound of the section.
"""

from sympy import Integer, Rational, Symbol, exp, log, simplify, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, T, d, delta, eps, gamma, n, quantity, ratio, run_time
from dpcheck.bounds.library.convex.gaussian_width import diameter, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0
from dpcheck.bounds.library.nonconvex.dp_fw_l1 import ell, rate
from dpcheck.bounds.library.nonconvex.dp_fw_l1_proof import a, likely_gap, pace, points, polytope, size_1, stated_eps0
from dpcheck.bounds.library.nonconvex.dp_pmd import gap_bound, low
from dpcheck.bounds.library.nonconvex.stationarity import both
from dpcheck.bounds.proving.proofs import Follows, Less, NoConstant, Proof, Same

smooth_1 = quantity("smooth_1", "smoothness from l1 to l∞", loss=1, parameter=-2, printed="M", latex="M")
likely_excess = quantity(
    "likely_excess", "mean over R of F(x_R) - F(x°)", loss=1, printed="E_R F(x_R) - F(x°)",
    latex=r"\mathbb{E}_R F(x_R)-F(x^\circ)", holds=LIKELY,
)

extra = Symbol("extra", nonnegative=True)
big = Symbol("big", positive=True)

COROLLARIES, AFTER = ("corollary1", "corollary4.1.1"), ("after Corollary 1", "after Corollary 4.1.1")
log_rate = a ** Rational(1, 4) * sqrt(log(n * d)) / sqrt(n * eps)

corollary, corollary_twin = both(
    *COROLLARIES, places=("Corollary 1 (the copy reads √ for ⁴√)", "Corollary 4.1.1"),
    kind=Kind.UTILITY,
    says="Theorem 6 on the unit l1 ball, |A| = 2d and η ≥ 1/(nd): the gap by (8), as a formula.",
    assumes=[*polytope, n >= 2, Setting("‖C‖₁ = 1, η = 1/(nd)"), Setting("G, L and g₀ are 1, T ≤ n, γ ≤ 1")],
    states=Rate(likely_gap, log_rate),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Proof(
            [
                Less(
                    "ln(n·2d/η) = ln 2 + 2·ln(nd) ≤ 3·ln(nd) for n ≥ 2, with nd = 2e^x",
                    log(2) + 2 * (log(2) + extra), 3 * (log(2) + extra),
                )
            ],
            "(8) is at most √3 times that",
        )
    ],
)

smoothness, smoothness_twin = both(
    *COROLLARIES, ".log_p", places=("Further reducing the utility", "section 4.1.4"),
    kind=Kind.UTILITY,
    says="The gap depends on d by ln d only for |x_ij| ≤ 1: the l2 smoothness that (8) hides is of order 1.",
    assumes=[Setting("squared losses of linear regression, |x_ij| ≤ 1, as after Definition 2")],
    states=Rate(L_s, Integer(1)),
    ignores_units=True,
    checks=[NoConstant(2 * d, {d: big}, big, "x = (1, ..., 1): the Hessian 2xx' has the eigenvalue 2d")],
)

# In l1: F is M-smooth from l1 to l∞, and ‖s - x‖₁ <= 2‖C‖₁.
l1_pace = sqrt(gap0 / (2 * T * smooth_1)) / size_1
l1_bound = (
    gap0 / (pace * T)
    + pace * smooth_1 * (2 * size_1) ** 2 / 2
    + 4 * G * size_1 * log(points * T / gamma) / (n * stated_eps0)
)
l1_balanced = n * eps * sqrt(smooth_1 * gap0) / (G * sqrt(a) * ell)
l1_rate = sqrt(G) * size_1 * (smooth_1 * gap0 * a) ** Rational(1, 4) / sqrt(n * eps)

smoothness_corrected, smoothness_corrected_twin = both(
    *COROLLARIES, ".log_p.corrected", places=("Further reducing the utility", "section 4.1.4"),
    kind=Kind.UTILITY,
    says="With the smoothness M from l1 to l∞, at most 2 in that example, and γ = √(g₀/(2MT))/‖C‖₁ ≤ 1: ln d only.",
    assumes=[Setting("F is M-smooth from l1 to l∞, f G-Lipschitz in l1, C = conv(A)"), Setting("T ≤ n")],
    states=Rate(likely_gap, l1_rate * sqrt(log(n * points / gamma))),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "the explicit bound with M(2‖C‖₁)² for L‖C‖₂², at the T that balances it",
                    simplify(l1_bound.subs(log(points * T / gamma), ell).subs(pace, l1_pace).subs(T, l1_balanced)),
                    (2 * sqrt(2) + 8 * sqrt(2)) * l1_rate * sqrt(ell),
                ),
                Same("M of (⟨x,w⟩-y)²: max |2x_i x_j|", 2 * Integer(1) * 1, Integer(2)),
            ],
            "hidden constant 10√2 suffices",
        )
    ],
)

example = Claim(
    id="wangxu19.definition2.example",
    source=Source("wangxu19", "after Definition 2"),
    kind=Kind.UTILITY,
    says="(⟨x,w⟩ - y)² is O(1)-Lipschitz in l1 for |x_ij|, |y| ≤ 1; nothing is said of w.",
    states=Rate(G, Integer(1)),
    ignores_units=True,
    checks=[NoConstant(2 * size_1, {size_1: big}, big, "x = (1, ..., 1), y = 0: the slope at w is 2‖w‖₁ for w ≥ 0")],
)

example_corrected = Claim(
    id="wangxu19.definition2.example.corrected",
    source=Source("wangxu19", "after Definition 2"),
    kind=Kind.UTILITY,
    says="It is over the unit l1 ball.",
    assumes=[Setting("w in the unit l1 ball")],
    states=Rate(G, Integer(1)),
    corrects="wangxu19.definition2.example",
    ignores_units=True,
    checks=[Follows(Integer(4), Integer(4), "|2(⟨x,w⟩-y)x_j| ≤ 2(1 + 1)·1")],
)

slope, value, least, top = symbols("slope value least top", real=True)

convex_case, convex_case_twin = both(
    "section.further", "section4.1.4", ".convex",
    places=("Further Reducing the Utility, on convex losses", "section 4.1.4, on convex losses"),
    kind=Kind.UTILITY,
    says="For some convex losses the utility depends on d by ln d only: the excess risk, F M-smooth from l1 to l∞.",
    assumes=[convex(), *smoothness_corrected.assumes],
    states=Rate(likely_excess, smoothness_corrected.formula),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "the gap less F(x)-F(x°): what ⟨∇F, x-x°⟩ leaves of the gap, and what convexity leaves",
                    top - (value - least), (top - slope) + (slope - (value - least)),
                )
            ],
            "both are at least 0, so the excess risk is at most the gap: hidden constant 10√2",
        )
    ],
    cites={"wangxu19": [Cites("wangxu19.corollary1.log_p.corrected")],
           "dwang20": [Cites("dwang20.corollary4.1.1.log_p.corrected")]},
)

in_ball, in_ball_twin = both(
    "algorithm4", "algorithm4.1.19", ".width", places=AFTER,
    kind=Kind.LOWER_BOUND,
    says="The Gaussian width of a set that contains the unit l2 ball is at least of order √d.",
    assumes=[Setting("C contains the unit l2 ball")],
    states=Rate(width, sqrt(d), below=True),
    ignores_units=True,
    checks=[
        Proof(
            [Less("E‖b‖ ≥ d/√(d+1) ≥ √d/√2: squared, d/(d+1) ≥ 1/2", Rational(1, 2), d / (d + 1), {d: 1 + extra})],
            "hidden constant 1/√2 suffices",
        )
    ],
)

contains_ball, contains_ball_twin = both(
    "algorithm4", "algorithm4.1.19", ".only_log", places=AFTER,
    kind=Kind.UTILITY,
    says="For a set that contains the unit l2 ball, (8) depends on d by ln d only: its factor ‖C‖₁ is of order 1.",
    assumes=[Setting("C contains the unit l2 ball")],
    states=Rate(size_1, Integer(1)),
    ignores_units=True,
    checks=[NoConstant(sqrt(d), {d: big}, big, "such a C contains (1, ..., 1)/√d, whose l1 norm is √d")],
)

contains_ball_corrected, contains_ball_corrected_twin = both(
    "algorithm4", "algorithm4.1.19", ".only_log.corrected", places=AFTER,
    kind=Kind.UTILITY,
    says="It is at least √d, attained by √d times the l1 ball, |A| = 2d: (8) then grows like √d.",
    assumes=[Setting("C contains the unit l2 ball")],
    states=Rate(size_1, sqrt(d), below=True),
    ignores_units=True,
    checks=[Proof([Same("‖(1, ..., 1)/√d‖₁", d / sqrt(d), sqrt(d))], "hidden constant 1 suffices")],
)

smallest, smallest_twin = both(
    "algorithm4", "algorithm4.1.19", ".smallest", places=AFTER,
    kind=Kind.UTILITY,
    says="For sets that contain the unit l2 ball, (8) over (4), the bound that depends on d.",
    assumes=[Setting("C contains the unit l2 ball")],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[
        NoConstant(
            simplify(rate / low), {size_1: sqrt(big), points: 2 * big, d: big, n: Integer(1000), gamma: Rational(1, 2)},
            big, "C = √d times the l1 ball: (8) grows like √(d·ln d), (4) like d^(1/4)",
        )
    ],
)

unit_ball = {size_1: Integer(1), points: 2 * d, diameter: Integer(2), width: sqrt(2 * log(2 * d))}

on_l1_ball, on_l1_ball_twin = both(
    "algorithm4", "algorithm4.1.19", ".smallest.l1_ball", places=AFTER,
    kind=Kind.UTILITY,
    says="On the unit l1 ball, (8) over (6), as formulas and with one G: η = 1/2, G_C at most √(2·ln 2d).",
    assumes=[Setting("C the unit l1 ball")],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[
        NoConstant(
            simplify((rate / gap_bound).subs(unit_ball)),
            {n: exp(big), d: Integer(100), gamma: Rational(1, 2), delta: exp(-1), eps: Integer(1)}, big,
            "(8) has √ln(n), (6) has no such factor", at=100,
        )
    ],
)

cost, cost_twin = both(
    "algorithm4", "algorithm4.1.19", ".cost", places=AFTER,
    kind=Kind.COST,
    says="Operations of one selection, given the gradient: a score and a noise for each of |A| points.",
    assumes=polytope,
    states=Rate(run_time, points * d),
    ignores_units=True,
    checks=[
        Follows(
            2 * points * d + 2 * points, Integer(4), "|A| scalar products, as many noises and comparisons",
            {d: 1 + extra},
        )
    ],
)
