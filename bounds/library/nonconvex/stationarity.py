"""Private search for stationary points (wangxu19; dwang20, section 4.1): what its algorithms rest on.

The paper and the chapter print the same statements under two numbers: `both` makes the two claims of one statement.
Here: composition, the moments accountant, Gaussian widths, one Frank-Wolfe step. The dimension, printed p, is d.
"""

from typing import Any

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import PrintedTwice, again
from dpcheck.bounds.language.symbols import LIKELY, MEAN, T, c, c1, c2, delta, delta1, eps, eps_out, m, n, quantity
from dpcheck.bounds.library.convex import gaussian_width
from dpcheck.bounds.library.convex.gaussian_width import diameter, l2, minkowski
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, sigma_n
from dpcheck.bounds.library.mechanisms import gaussian
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step

step_map = quantity(
    "step_map", "E ||(x_R - x_(R+1))/γ||, with the noise of step R", loss=1, parameter=-1, printed="E ‖g_C,R‖",
    latex=r"\mathbb{E}\|g_{C,R}\|", holds=MEAN,
)
step_map2 = quantity(
    "step_map2", "E ||(x_R - x_(R+1))/γ||^2, with the noise of step R", loss=2, parameter=-2, printed="E ‖g_C,R‖²",
    latex=r"\mathbb{E}\|g_{C,R}\|^2", holds=MEAN,
)
smooth_C = quantity("smooth_C", "smoothness in the norm of the set", loss=1, printed="L̃", latex=r"\tilde L")
pace = quantity("pace", "step size of Frank-Wolfe", box=(1e-4, 1.0), printed="γ_t", latex=r"\gamma_t")
miss = quantity("miss", "what a vertex falls short of the best one by", loss=1, printed="β", latex=r"\beta")
gap_t = quantity("gap_t", "step size times the gap at x_t", loss=1, printed="γ_t𝒢_t", latex=r"\gamma_t\mathcal{G}_t")
likely_gap = quantity(
    "likely_gap", "mean over R of the Frank-Wolfe gap at x_R", loss=1, printed="E_R FW-gap(x_R)",
    latex=r"\mathbb{E}_R\,\mathcal{G}_R", holds=LIKELY,
)
fallen = quantity("fallen", "F(x_t) - F(x_(t+1))", loss=1, printed="F(x_t)-F(x_{t+1})", latex="F(x_t)-F(x_{t+1})")

losses = [smooth(L_s), lipschitz(G)]  # Assumption 1 / 4.1.1: not convex
composite = [*losses, Setting("r closed and convex")]
a = log(1 / delta)
both = PrintedTwice("wangxu19", "dwang20")
extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))


def full_gradients(steps: Expr) -> Release:
    """T noisy full gradients, two of which differ by up to 2G/n."""
    return Release(2 * G / n, Gaussian(sigma_n), steps=steps)


seen_in_x_R = full_gradients((T - 1) / 2)  # with probability 1/2: see IterateAccountant
stated_noise = G * sqrt(c * T * a) / (n * eps)  # (3) / (4.3)
# Noise by advanced composition over c = 8, both in deviations: steps of ε/√(8T·ln(2/δ)) at δ/(2T) each.
by_composition = sqrt(64 * T * log(Rational(5, 2) * T / delta) * log(2 / delta))

# Composition and the Gaussian mechanism (wangxu19, Preliminaries) ------------------------------------
composed = eps * sqrt(8 * T * log(1 / delta1))

lemma1 = Claim(
    id="wangxu19.lemma1",
    source=Source("wangxu19", "Lemma 1, advanced composition", line=77),
    kind=Kind.PRIVACY,
    says="T steps, each (ε, δ)-private with ε = ε'/√(8T·ln(1/δ')), are (ε', Tδ+δ')-private together, for ε' < 1.",
    assumes=[composed < 1],
    added=[delta1 <= Rational(1, 2)],
    states=Eq(eps_out, composed),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    checks=[
        Chain(
            Cites("zhang17.lemma10.corrected"),
            Step(
                "<=", composed / 2 + eps * sqrt(T / (2 * log(1 / delta1))),
                because=Premise("e^ε-1 ≤ 2ε for ε ≤ 1, and 2√T·ε ≤ 1/√(2·ln(1/δ')) where ε' < 1"),
                uses=[composed < 1],
            ),
            Step("<=", STATEMENT, where={delta1: exp(-log(2) - extra)}),
        )
    ],
)

definition5 = again(gaussian.lemma1, "wangxu19.definition5", "Definition 5, the Gaussian mechanism", 79)
definition5_corrected = again(gaussian.lemma1_corrected, "wangxu19.definition5.corrected", "Definition 5", 79)

lemma2 = Claim(
    id="wangxu19.lemma2",
    source=Source("wangxu19", "Lemma 2, q = l/n, with Gσ/l for the noise, where the text has εσ/n", line=83),
    kind=Kind.PRIVACY,
    says="There are c₁ and c₂ with which noise Gσ/l, σ = c₂·q√(T·ln(1/δ))/ε, is enough for all ε < c₁q²T (m for l).",
    assumes=[lipschitz(G), m <= n, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, c2 * G * sqrt(T * a) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    provenance=Provenance.READING,
    checks=[
        Accountant(
            Release(2 * G / m, Gaussian(sigma_n), WithoutReplacement(m, n), T),
            "linear losses: T steps tell the two apart as if ε² were stated, and no condition limits ε as T grows",
        )
    ],
)

lemma2_corrected = Claim(
    id="wangxu19.lemma2.corrected",
    source=Source("wangxu19", "Lemma 2, at q = 1, where this paper uses it", line=83),
    kind=Kind.PRIVACY,
    says="Full batches, c₂² = 8, for ε at most 1 and δ at most 1/4: the condition is on ε, not on T.",
    assumes=[lipschitz(G), eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, G * sqrt(8 * T * a) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="wangxu19.lemma2",
    checks=[Accountant(full_gradients(T), "T full gradients, each 2G/n apart")],
)

# The norm of a set, and its Gaussian width -----------------------------------------------------------
WIDTH = ("definition8", "definition4.1.3")
AFTER: dict[str, Any] = {"places": ("after Definition 8", "after Definition 4.1.3"), "lines": (183, 2776)}
width_l1, width_l1_dwang = both.again(gaussian_width.width_l1, *WIDTH, ".l1_ball", **AFTER)
width_sparse, width_sparse_dwang = both.again(gaussian_width.width_sparse, *WIDTH, ".sparse", **AFTER)
lemma4, lemma4_dwang = both.again(gaussian_width.lemma7, "lemma4", "lemma4.1.1", lines=(185, 2778))
set_norm = again(gaussian_width.lemma6, "dwang20.lemma4.1.4", "Lemma 4.1.4", 2980)

in_the_norm_of_the_set = Claim(
    id="dwang20.lemma4.1.4.smooth",
    source=Source("dwang20", "after Lemma 4.1.4; convexity is not needed", line=2982),
    kind=Kind.IDENTITY,
    says="What is L-smooth in l2 is L‖C‖₂²-smooth in the norm of the set.",
    assumes=[smooth(L_s), Setting("C symmetric")],
    states=Le(smooth_C, L_s * diameter**2),
    checks=[
        Chain(
            smooth_C,
            Step(
                "<=", L_s * (l2 / minkowski) ** 2,
                because=Premise("‖∇F(x)-∇F(y)‖* ≤ r‖∇F(x)-∇F(y)‖₂ ≤ rL‖x-y‖₂ ≤ r²L‖x-y‖_C, r the largest ‖v‖₂/‖v‖_C"),
            ),
            Step("<=", because=Cites("dwang20.lemma4.1.4")),
            Step("=", STATEMENT),
        )
    ],
)

# One Frank-Wolfe step --------------------------------------------------------------------------------
# In one coordinate: from x towards the vertex s, far away, where v is the best one and p the gradient at x.
x, s, v, p, far = symbols("x s v p far", real=True)

equation13 = Claim(
    id="dwang20.equation4.13",
    source=Source("dwang20", "equation (4.13); with ⟨v-v̂,-ε⟩ for β also the line after (4.10)", line=3066),
    kind=Kind.UTILITY,
    says="One step towards a vertex that falls short of the best one by at most β.",
    assumes=[smooth(L_s)],
    states=Le(gap_t, fallen + pace * miss + L_s * pace**2 * diameter**2 / 2),
    checks=[
        Chain(
            gap_t,
            Step("=", pace * p * (x - v), because=Premise("the gap is ⟨∇F(x), x-v⟩ at the best vertex v")),
            Step("<=", STATEMENT, because=Slack({
                "F is L-smooth": fallen + pace * p * (s - x) + L_s / 2 * pace**2 * far**2,
                "⟨∇F, s⟩ ≤ ⟨∇F, v⟩ + β": pace * (miss - p * s + p * v),
                "‖s-x‖₂ ≤ ‖C‖₂": L_s / 2 * pace**2 * (diameter**2 - far**2),
            })),
        )
    ],
)
