"""DP-FW-L1 (wangxu19, Algorithm 4; dwang20, section 4.1.4, Algorithm 4.1.19): Frank-Wolfe by private selections.

The exponential mechanism, Theorem 6 / 4.1.6 with its proof, and what is said after Corollary 1 / 4.1.1. A is the finite
set whose convex hull is C, and ‖C‖₁ the largest l1 norm on it; the failure probability, printed η, is γ of the table,
and the step size γ_t is `pace`. Solver: dpcheck/solvers/nonconvex/dp_fw_l1.py.
"""

from typing import Any

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import T, d, delta, delta1, eps, eps_out, gamma, n, quantity, run_time, x_tail
from dpcheck.bounds.library.convex.gaussian_width import diameter, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0
from dpcheck.bounds.library.nonconvex.stationarity import a, both, gap_t, likely_gap, miss, pace
from dpcheck.bounds.privacy.iterate_accountants import SelectionAccountant
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.release import Release, Seen
from dpcheck.bounds.proving.chains import STATEMENT, Chain, OnlySolution, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

size_1 = quantity("size_1", "largest l1 norm of a point of the set", parameter=1, printed="‖C‖₁", latex=r"\|C\|_1")
points = quantity("points", "number of points of A", box=(2, 1e6), integer=True, printed="|A|", latex="|A|")
eps0 = quantity("eps0", "epsilon of one selection", printed="ε₀", latex=r"\varepsilon_0")
score_gap = quantity("score_gap", "sensitivity of the score -<s, grad F>", loss=1, printed="Δu", latex=r"\Delta u")
noise_scale = quantity("noise_scale", "scale of the noise on a score", loss=1, printed="λ", latex=r"\lambda")
loss_range = quantity("loss_range", "largest less least privacy loss of a selection", printed="range", latex="r")
rho_T = quantity("rho_T", "zero-concentrated privacy parameter of T selections", printed="ρ", latex=r"\rho")
bound8 = quantity("bound8", "right-hand side of (8) / (4.8)", printed="(8)", latex="(8)")
g, g_other, up, down = (Symbol(name, nonnegative=True) for name in ("g", "g_other", "up", "down"))
big = Symbol("big", positive=True)

NUMBERS, REMARKS = ("theorem6", "theorem4.1.6"), ("algorithm4", "algorithm4.1.19")
AFTER: dict[str, Any] = {"places": ("after Corollary 1", "after Corollary 4.1.1"), "lines": (278, 2869)}
IN_HULL = Setting("C = conv(A), A finite")
in_l1 = [lipschitz(G, "in l1"), IN_HULL]
polytope = [smooth(L_s), *in_l1]  # Assumption 4 / 4.1.4
stated_eps0 = eps / sqrt(8 * T * a)

# The exponential mechanism: weights e^(u/λ) --------------------------------------------------------------
definition6 = Claim(
    id="wangxu19.definition6",
    source=Source("wangxu19", "Definition 6, the exponential mechanism", line=85),
    kind=Kind.PRIVACY,
    says="Selecting with probabilities proportional to e^(u/λ), λ = 2Δu/ε, is ε-private.",
    assumes=[Eq(noise_scale, 2 * score_gap / eps)],
    states=Le(eps_out, eps),
    guarantee=PureDP(eps_out),
    checks=[
        Chain(
            eps_out,
            Step(
                "<=", 2 * score_gap / noise_scale,
                because=Premise("a neighbour changes a weight, and the sum of all, by a factor of at most e^(Δu/λ)"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

lemma3 = Claim(
    id="wangxu19.lemma3",
    source=Source("wangxu19", "Lemma 3", line=87),
    kind=Kind.UTILITY,
    says="What a selection falls short of the best score by, but for a probability of e^(-t); t is x.",
    assumes=[Eq(gamma, exp(-x_tail))],
    states=Le(miss, 2 * score_gap / eps0 * (log(points) + x_tail)),
    checks=[
        Chain(
            miss,
            Step(
                "=",
                STATEMENT,
                because=OnlySolution(
                    lambda beta: [points * exp(-eps0 * beta / (2 * score_gap)) - exp(-x_tail)],
                    "β is exceeded with probability |R|·e^(-ε₀β/(2Δu)) = γ at most: at most |R| candidates fall so "
                    "short, each with e^(-ε₀β/(2Δu)) of the best one's weight",
                ),
                uses=[Eq(gamma, exp(-x_tail))],
            ),
        )
    ],
)

bounded_range = Claim(
    id="dwang20.algorithm4.1.19.range",
    source=Source("dwang20", "Algorithm 4.1.19, step 2", line=2855),
    kind=Kind.PRIVACY,
    says="The privacy loss of a selection with weights e^(u/λ) has a range of at most 2Δu/λ, not only that size.",
    states=Le(loss_range, 2 * score_gap / noise_scale),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            loss_range,
            Step("=", (up + down) / noise_scale, because=Premise("the loss is (u-u')/λ plus the same for all s")),
            Step("<=", STATEMENT, because=Slack({
                "u rises by Δu at most": (score_gap - up) / noise_scale,
                "u falls by Δu at most": (score_gap - down) / noise_scale,
            })),
        )
    ],
)

noisy_max, noisy_max_twin = both(
    *REMARKS, ".noisy_max", **AFTER,
    kind=Kind.PRIVACY,
    says="Report-noisy-max in place of the exponential mechanism: Laplace (or exponential) noise of scale 2Δu/ε₀.",
    assumes=polytope,
    states=Eq(noise_scale, 2 * score_gap / eps0),
    guarantee=PureDP(eps0),
    provenance=Provenance.READING,
)

# Privacy -------------------------------------------------------------------------------------------
sensitivity = Claim(
    id="dwang20.theorem4.1.6.sensitivity",
    source=Source("dwang20", "proof of Theorem 4.1.6, Δu", line=3054),
    kind=Kind.SENSITIVITY,
    says="How far a replaced record moves a score, as printed: with ε below.",
    assumes=in_l1,
    states=Rate(score_gap, size_1 * G / (n * eps)),
    misprint_of="dwang20.theorem4.2.14.sensitivity",
    checks=[
        NoConstant(
            2 * G * size_1 / n, {G: Integer(1), size_1: Integer(1), n: Integer(10), eps: big}, big,
            "a linear loss that turns round moves the score of the longest s by 2G‖s‖₁/n, whatever ε is",
        )
    ],
)

sensitivity_corrected = Claim(
    id="dwang20.theorem4.1.6.sensitivity.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.6, Δu", line=3054),
    kind=Kind.SENSITIVITY,
    says="How far a replaced record moves a score: ‖s‖₁ times 2G/n, the change of the gradient in l∞.",
    assumes=in_l1,
    states=Le(score_gap, 2 * G * size_1 / n),
    corrects="dwang20.theorem4.1.6.sensitivity",
    checks=[
        Chain(
            score_gap,
            Step(
                "<=",
                size_1 * (g + g_other) / n,
                because=Premise("Hölder: ‖s‖₁ times two gradients in l∞, over n"),
                uses=[IN_HULL],
            ),
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    {
                        "‖∇f(x,z)‖∞ ≤ G (Lipschitz in l1)": size_1 * (G - g) / n,
                        "‖∇f(x,z')‖∞ ≤ G (Lipschitz in l1)": size_1 * (G - g_other) / n,
                    }
                ),
            ),
        )
    ],
)

sensitivity_again = Claim(
    id="dwang20.theorem4.2.14.sensitivity",
    source=Source("dwang20", "proof of Theorem 4.2.14, Δu of the same algorithm", line=3768),
    kind=Kind.SENSITIVITY,
    says="How far a replaced record moves a score.",
    assumes=in_l1,
    states=Rate(score_gap, size_1 * G / n),
    checks=[Chain(score_gap, Step("<=", because=Cites(sensitivity_corrected.id)), Step("<=", 2 * STATEMENT))],
)

moved = sensitivity_corrected.formula
released = Release(moved, Selected(2 * moved / eps0), steps=T, seen=Seen.RANDOM_ITERATE)  # x_R shows R-1 selections

privacy, privacy_twin = both(
    *NUMBERS, ".privacy", lines=(268, 2861),
    kind=Kind.PRIVACY,
    says="With selections of ε₀ = ε/√(8T·ln(1/δ)), DP-FW-L1 is (ε, δ)-private for any ε and δ above 0.",
    assumes=polytope,
    states=Eq(eps0, stated_eps0),
    guarantee=ApproxDP(eps, delta),
    cites={
        "wangxu19": [Cites("wangxu19.lemma1", {eps: stated_eps0, delta1: delta})],
        "dwang20": [Cites("dwang20.lemma2.1.5")],
    },
    checks=[
        SelectionAccountant(
            "linear losses on one coordinate: each selection's loss is ±ε₀/2; in exact arithmetic x_R tells R and all "
            "that was selected, a different sum of powers of γ each; the cited composition is for ε < 1"
        )
    ],
)


def by_ranges(corners: Setting) -> Chain:
    """The ε' of T selections among the corners that a hypothesis speaks of."""
    return Chain(
        eps_out,
        Step("<=", rho_T + 2 * sqrt(rho_T * a), because=Premise("ρ-zCDP has ε' = ρ+2√(ρ·ln(1/δ)) (Bun, Steinke)")),
        Step(
            "<=", T * loss_range**2 / 8 + 2 * sqrt(T * loss_range**2 / 8 * a),
            because=Premise("losses of range r are r²/8-zCDP (Cesar, Rogers 2021), and ρ adds up over T steps"),
        ),
        Step("<=", because=Cites(bounded_range.id, {noise_scale: 2 * score_gap / eps0}), uses=[corners]),
        Step("=", STATEMENT),
    )


privacy_corrected, privacy_corrected_twin = both(
    *NUMBERS, ".privacy.corrected", lines=(268, 2861),
    kind=Kind.PRIVACY,
    says="The ε' that these selections have at δ: at most ε wherever ε ≤ 48·ln(1/δ), and near ε/4 for small ε.",
    assumes=[*polytope, Eq(eps0, stated_eps0)],
    states=Le(eps_out, eps / 4 + eps**2 / (64 * a)),
    guarantee=ApproxDP(eps_out, delta),
    checks=[by_ranges(IN_HULL)],
)

# The proof (dwang20, section 4.1.6) ------------------------------------------------------------------
tail = log(points * T / gamma)
falls_short = (  # but for a probability of η/T, each of T selections
    Step("<=", because=Cites(lemma3.id, {gamma: gamma / T, x_tail: log(T / gamma)})),
    Step("<=", because=Cites(sensitivity_corrected.id)),
)

equation12 = Claim(
    id="dwang20.equation4.12",
    source=Source("dwang20", "equation (4.12), β", line=3054),
    kind=Kind.UTILITY,
    says="What a selection falls short by, with probability 1-η/T.",
    assumes=[*polytope, Eq(eps0, stated_eps0)],
    states=Rate(miss, G * size_1 * sqrt(8 * T * a) * tail / (n * eps)),
    checks=[Chain(miss, *falls_short, Step("<=", 4 * STATEMENT))],
)

explicit = Claim(
    id="dwang20.theorem4.1.6.explicit",
    source=Source("dwang20", "proof of Theorem 4.1.6, its last display, with the constant that O() hides", line=3074),
    kind=Kind.UTILITY,
    says="The gap at x_R in the mean over R, with probability 1-η, any step up to 1; ε₀ is that of each selection.",
    assumes=[*polytope, pace <= 1],
    states=Le(likely_gap, gap0 / (pace * T) + pace * L_s * diameter**2 / 2 + 4 * G * size_1 * tail / (n * eps0)),
    provenance=Provenance.READING,
    checks=[
        Chain(
            likely_gap,
            Step("=", gap_t / pace, because=Premise("R is uniform on 1..T: both stand for means over the steps")),
            Step("<=", because=Cites("dwang20.equation4.13")),
            Step(
                "<=", (gap0 / T + pace * miss + L_s * pace**2 * diameter**2 / 2) / pace,
                because=Premise("the falls of F add up to F(x₁) - F(x_(T+1)) ≤ F(x₁) - F(x°)"),
            ),
            *falls_short,
            Step("<=", STATEMENT),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
ell = log(points * n / gamma)
rate = size_1 * a ** Rational(1, 4) * sqrt(ell) / sqrt(n * eps)
choices = [Eq(T, n * eps / (sqrt(a) * ell)), Eq(pace, sqrt(2 / T) / diameter), Eq(eps0, stated_eps0)]
# What O() hides, as in the caption of Table 1; ‖x-y‖₂ ≤ ‖x‖₁ + ‖y‖₁; steps that stay in C.
FEW = Setting("T ≤ n")
kept = [Eq(G, 1), Eq(L_s, 1), Eq(gap0, 1), diameter <= 2 * size_1, pace <= 1, FEW]
by_explicit = (
    Step("<=", because=Cites(explicit.id)),
    Step("<=", explicit.formula.subs(tail, ell), because=Premise("T ≤ n, so ln(|A|T/η) ≤ ln(|A|n/η)"), uses=[FEW]),
)

small_set = [points <= 2 * d, n >= 2, gamma >= 1 / (n * d)]

utility, utility_twin = both(
    *NUMBERS, places=("Theorem 6, equation (8) (the text has √ for ⁴√)", "Theorem 4.1.6, equation (4.8)"),
    lines=(272, 2863),
    kind=Kind.UTILITY,
    says="The gap at x_R with these γ_t and T, in the mean over R, but for a probability η (γ here).",
    assumes=[*polytope, *choices],
    added=kept,
    states=Rate(likely_gap, rate),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Chain(likely_gap, *by_explicit, Step("<=", 15 * STATEMENT))],
)

corollary, corollary_twin = both(
    "corollary1", "corollary4.1.1", places=("Corollary 1 (the text has √ for ⁴√)", "Corollary 4.1.1"),
    lines=(276, 2867),
    kind=Kind.UTILITY,
    says="(8) on the unit l1 ball or the simplex, whose vertices are at most 2d, for η ≥ 1/(nd) (η is γ here).",
    assumes=[*polytope, *choices, Eq(size_1, 1), small_set[0]],
    added=[*kept, *small_set[1:]],
    states=Rate(likely_gap, a ** Rational(1, 4) * sqrt(log(n * d)) / sqrt(n * eps)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Chain(
            likely_gap,
            *by_explicit,
            Step("<=", 15 * rate),
            Step(
                "<=",
                15 * rate.subs(ell, 3 * log(n * d)),
                because=Premise("|A|n/η ≤ 2n²d² ≤ (nd)³ for n ≥ 2"),
                uses=small_set,
            ),
            Step("<=", 26 * STATEMENT),
        )
    ],
)

# After Corollary 1 / 4.1.1 ---------------------------------------------------------------------------
HAS_BALL = Setting("C contains the unit l2 ball")

in_ball, in_ball_twin = both(
    *REMARKS, ".width", **AFTER,
    kind=Kind.LOWER_BOUND,
    says="The Gaussian width of a set that contains the unit l2 ball is at least of order √d.",
    assumes=[HAS_BALL],
    states=Rate(width, sqrt(d), below=True),
    ignores_units=True,
    checks=[
        Chain(
            width,
            Step(
                ">=",
                d / sqrt(d + 1),
                because=Premise("b/‖b‖ lies in C, and E‖b‖ ≥ d/√(d+1) for d normals"),
                uses=[HAS_BALL],
            ),
            Step(">=", STATEMENT / sqrt(2)),
        )
    ],
)

contains_ball, contains_ball_twin = both(
    *REMARKS, ".only_log", **AFTER,
    kind=Kind.UTILITY,
    says="For a set that contains the unit l2 ball, (8) grows with d no faster than √ln d, other things being equal.",
    assumes=[HAS_BALL],
    states=Rate(bound8, sqrt(log(d))),
    ignores_units=True,
    provenance=Provenance.READING,
    checks=[
        NoConstant(
            rate, {size_1: sqrt(big), points: 2 * big, d: big, n: 1000, gamma: exp(-1), eps: 1, delta: exp(-1)}, big,
            "such a C contains (1, ..., 1)/√d, so ‖C‖₁ ≥ √d, attained by √d times the l1 ball with |A| = 2d",
        )
    ],
)

cost, cost_twin = both(
    *REMARKS, ".cost", **AFTER,
    kind=Kind.COST,
    says="Operations of one selection, given the gradient.",
    assumes=polytope,
    states=Rate(run_time, points * d),
    ignores_units=True,
    checks=[
        Chain(
            run_time,
            Step("<=", 2 * points * d + 2 * points, because=Premise("|A| scalar products, as many noises, a maximum")),
            Step("<=", 4 * STATEMENT),
        )
    ],
)
