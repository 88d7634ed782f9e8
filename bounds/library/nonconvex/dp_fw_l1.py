"""DP-FW-L1 (wangxu19, Algorithm 4; dwang20, section 4.1.4, Algorithm 4.1.19): Frank-Wolfe by private selections.

Definition 6, Lemma 3 and Theorem 6 / 4.1.6; the proof stands in dp_fw_l1_proof.py, Corollary 1 / 4.1.1 and what is said
of the dimension in dp_fw_l1_dimension.py. The failure probability, printed η, is γ of the table. Solver:
dpcheck/solvers/nonconvex/dp_fw_l1.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, simplify, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import T, delta, delta1, eps, gamma, n, quantity, x_tail
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0
from dpcheck.bounds.library.nonconvex.dp_fw_l1_proof import (
    a,
    best_pace,
    eps0,
    explicit,
    likely_gap,
    pace,
    points,
    polytope,
    score_gap,
    sensitivity_corrected,
    size_1,
    stated_eps0,
)
from dpcheck.bounds.library.nonconvex.stationarity import both
from dpcheck.bounds.privacy.iterate_accountants import SelectionAccountant
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.release import Release, Seen
from dpcheck.bounds.proving.proofs import Less, NoConstant, Proof, Same

log_weight = quantity(
    "log_weight", "log of a candidate's weight", printed="ln weight", latex=r"\ln\mathrm{weight}", box=(1e-3, 1e3)
)
noise_scale = quantity("noise_scale", "scale of the noise on a score", loss=1, printed="λ", latex=r"\lambda")
divergence = quantity("selection_renyi", "Renyi divergence of one selection", printed="D_α", latex=r"D_\alpha")
order = quantity(
    "selection_order", "order of the Renyi divergence of a selection", box=(1.01, 1e3), printed="α", latex=r"\alpha"
)

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
big, x = (Symbol(name, positive=True) for name in ("big", "x"))

# The exponential mechanism (wangxu19, Preliminaries) -------------------------------------------------
definition6 = Claim(
    id="wangxu19.definition6",
    source=Source("wangxu19", "Definition 6, the exponential mechanism"),
    kind=Kind.PRIVACY,
    says="Weights exp(εu/(2Δu)): a neighbour changes each, and their sum, by a factor of at most e^(ε/2).",
    states=Eq(log_weight, eps / 2),
    guarantee=PureDP(eps),
    checks=[
        Proof(
            [
                Same("a weight changes by exp(ε·Δu/(2Δu))", exp(eps * score_gap / (2 * score_gap)), exp(eps / 2)),
                Same("so does their sum: together e^ε", exp(eps / 2) * exp(eps / 2), exp(eps)),
            ]
        )
    ],
)

lemma3 = Claim(
    id="wangxu19.lemma3",
    source=Source("wangxu19", "Lemma 3"),
    kind=Kind.UTILITY,
    says="The probability that a selection falls short of the best score by (2Δu/ε)(ln|R| + t) or more; t is x.",
    states=Le(gamma, exp(-x_tail)),
    checks=[
        Proof(
            [
                Same(
                    "each such candidate has at most e^(-ln|R| - t) of the best one's weight; there are at most |R|",
                    points * exp(-(log(points) + x_tail)), exp(-x_tail),
                )
            ]
        )
    ],
)

# Privacy -------------------------------------------------------------------------------------------
NUMBERS = ("theorem6", "theorem4.1.6")
moved = sensitivity_corrected.formula  # a score, between neighbours
released = Release(moved, Selected(2 * moved / eps0), steps=T, seen=Seen.RANDOM_ITERATE)  # x_R shows R-1 selections

privacy, privacy_twin = both(
    *NUMBERS, ".privacy",
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

rho = T * stated_eps0**2 / 8

privacy_corrected, privacy_corrected_twin = both(
    *NUMBERS, ".privacy.corrected",
    kind=Kind.PRIVACY,
    says="The same for ε ≤ 48·ln(1/δ): T selections of range ε₀ are Tε₀²/8-zCDP.",
    cites=[Cites("dwang20.algorithm4.1.19.range", {order: Integer(2)})],
    assumes=[*polytope, eps <= 48 * a],
    states=Eq(eps0, stated_eps0),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same("ρ = Tε₀²/8", rho, eps**2 / (64 * a)),
                Same("2√(ρ·ln(1/δ))", 2 * sqrt(eps**2 / (64 * a) * a), eps / 4),
                Less(
                    "ρ + 2√(ρ·ln(1/δ)) ≤ ε, with ε = 48·ln(1/δ)/(1+e) and x = ln(1/δ)",
                    eps**2 / (64 * x) + eps / 4, eps, {eps: 48 * x / (1 + extra)},
                ),
            ],
            "zCDP of bounded range, converted: ε²/(64·ln(1/δ)) + ε/4",
        )
    ],
)

zcdp_eps0 = sqrt(8 / T) * (sqrt(eps + a) - sqrt(a))

sharper, sharper_twin = both(
    *NUMBERS, ".privacy.sharper",
    kind=Kind.PRIVACY,
    says="Larger selections, for any ε and δ: about four times those stated where ε is small against ln(1/δ).",
    cites=[Cites("dwang20.algorithm4.1.19.range", {order: Integer(2)})],
    assumes=polytope,
    states=Eq(eps0, zcdp_eps0),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "ρ + 2√(ρ·ln(1/δ)) = ε at ρ = (√(ε+x) - √x)², x = ln(1/δ)",
                    (sqrt(eps + x) - sqrt(x)) ** 2 + 2 * (sqrt(eps + x) - sqrt(x)) * sqrt(x), eps,
                )
            ],
            "Tε₀²/8 = ρ",
        )
    ],
)

bounded_range = Claim(
    id="dwang20.algorithm4.1.19.range",
    source=Source("dwang20", "Algorithm 4.1.19, what its selections are"),
    kind=Kind.PRIVACY,
    says="The Rényi divergence of a selection: its loss has range ε₀, so it is ε₀²/8-zCDP.",
    assumes=[order > 1],
    states=Le(divergence, order * eps0**2 / 8),
    checks=[
        Proof(
            [
                Same(
                    "log E_Q e^(sℓ) is 0 at s = 0 and 1, and its second derivative, a variance of numbers with range "
                    "ε₀, is at most ε₀²/4: so it lies below s(s-1)/2·ε₀²/4 for s ≥ 1",
                    (order * (order - 1) / 2 * eps0**2 / 4) / (order - 1), order * eps0**2 / 8,
                ),
                Same("the variance: 1/4 - p(1-p) is a square", Rational(1, 4) - x * (1 - x), (x - Rational(1, 2)) ** 2),
            ]
        )
    ],
)

noisy_max, noisy_max_twin = both(
    "algorithm4", "algorithm4.1.19", ".noisy_max", places=("after Corollary 1", "after Corollary 4.1.1"),
    kind=Kind.PRIVACY,
    says="Report-noisy-max in place of the exponential mechanism: Laplace (or exponential) noise of scale 2Δu/ε₀.",
    assumes=polytope,
    states=Eq(noise_scale, 2 * score_gap / eps0),
    guarantee=PureDP(eps0),
    checks=[
        Proof(
            [
                Same(
                    "given the others' noise, a candidate wins if its noise exceeds a threshold, which a neighbour "
                    "moves by at most 2Δu: over the scale",
                    2 * score_gap / (2 * score_gap / eps0), eps0,
                )
            ],
            "the tail of the noise beyond a threshold falls by at most e^ε₀ over a shift of ε₀ scales",
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
rate = size_1 * a ** Rational(1, 4) * sqrt(log(n * points / gamma)) / sqrt(n * eps)

utility, utility_twin = both(
    *NUMBERS, places=("Theorem 6, equation (8) (the copy reads √ for ⁴√)", "Theorem 4.1.6, equation (4.8)"),
    kind=Kind.UTILITY,
    says="The gap at x_R with γ = √(2/(T‖C‖₂²)), T = nε/(√ln(1/δ)·ln(|A|n/η)), in the mean over R; G and L fixed.",
    assumes=[*polytope, Setting("G and L at most 1")],
    states=Rate(likely_gap, rate),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        NoConstant(
            1 / (18 * size_1) - 1,
            {
                size_1: 1 / (2 * big), points: Integer(2), gamma: Rational(1, 4), eps: Integer(1), delta: exp(-1),
                n: Integer(20),
            },
            big,
            "f(x) = x on [-s/2, s/2] with s = 1/big, T = 3: γ = √(2/3)/s is above 2, and x₃ = γ²s/2 + O(1) with "
            "probability 1/2, far outside the set",
        )
    ],
)

# With γ = √(2g₀/(LT))/‖C‖₂ <= 1 and T = nε‖C‖₂√(Lg₀)/(G‖C‖₁√ln(1/δ)·ln(|A|n/η)), both terms are of one size.
ell = Symbol("ell", positive=True)  # ln(|A|n/η), at least ln(|A|T/η) if T <= n
balanced = n * eps * diameter * sqrt(L_s * gap0) / (G * size_1 * sqrt(a) * ell)
corrected_rate = sqrt(G * size_1 * diameter) * (L_s * gap0 * a) ** Rational(1, 4) / sqrt(n * eps)
two_terms = simplify(
    explicit.formula.subs(eps0, stated_eps0).subs(log(points * T / gamma), ell).subs(pace, best_pace).subs(T, balanced)
)

utility_corrected, utility_corrected_twin = both(
    *NUMBERS, ".corrected",
    kind=Kind.UTILITY,
    cites=[Cites("dwang20.theorem4.1.6.explicit")],
    says="With all that (8) hides, at γ = √(2g₀/(LT))/‖C‖₂ ≤ 1 and T ≤ n that balances its two terms.",
    assumes=[*polytope, Setting("T between 2g₀/(L‖C‖₂²) and n")],
    states=Rate(likely_gap, corrected_rate * sqrt(log(n * points / gamma))),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof(
            [
                Same(
                    "the explicit bound there, with ln(|A|T/η) ≤ ℓ = ln(|A|n/η)",
                    two_terms, (sqrt(2) + 8 * sqrt(2)) * corrected_rate * sqrt(ell),
                )
            ],
            "hidden constant 9√2 suffices",
        )
    ],
)

fixed_size, fixed_size_twin = both(
    *NUMBERS, ".fixed_size",
    kind=Kind.UTILITY,
    cites=[Cites("dwang20.theorem4.1.6.explicit")],
    says="As printed, it holds where T ≤ n, γ ≤ 1 and also g₀ is fixed: at G = L = g₀ = 1.",
    assumes=[*polytope, Setting("G, L and g₀ are 1; ‖C‖₂ ≤ 2‖C‖₁, T ≤ n and γ ≤ 1")],
    states=Rate(likely_gap, rate),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "(g₀+L)‖C‖₂/√(2T) + β at T = nε/(√ln(1/δ)·ℓ), with ‖C‖₂ = 2‖C‖₁",
                    simplify(
                        explicit.formula.subs(eps0, stated_eps0).subs(log(points * T / gamma), ell)
                        .subs(pace, sqrt(2 / T) / diameter).subs(T, n * eps / (sqrt(a) * ell))
                        .subs({G: 1, L_s: 1, gap0: 1}).subs(diameter, 2 * size_1)
                    ),
                    10 * sqrt(2) * size_1 * a ** Rational(1, 4) * sqrt(ell) / sqrt(n * eps),
                )
            ],
            "hidden constant 10√2 suffices",
        )
    ],
)
