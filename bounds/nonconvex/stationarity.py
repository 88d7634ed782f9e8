"""Private search for stationary points (wangxu19; dwang20, section 4.1): what its algorithms rest on.

The paper and the chapter print the same statements under two numbers: `both` makes the two claims of one statement.
Here: symbols, composition, the moments accountant, Gaussian widths. The dimension, printed p, is d.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt

from bounds.accountant import Accountant
from bounds.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from bounds.convex import gaussian_width
from bounds.convex.gaussian_width import diameter
from bounds.convex.variance_reduction import G, L_s, sigma_n
from bounds.guarantees import ApproxDP
from bounds.mechanisms import gaussian
from bounds.printed_twice import PrintedTwice, again
from bounds.proofs import AtMost, Less, Proof, Same
from bounds.releases import Releases, WithoutReplacement
from bounds.symbols import MEAN, T, c1, c2, delta, delta1, eps, eps_out, m, n, quantity, ratio

step_map = quantity(
    "step_map", "E ||(x_R - x_(R+1))/γ||, with the noise of step R", loss=1, parameter=-1, printed="E ‖g_C,R‖",
    latex=r"\mathbb{E}\|g_{C,R}\|", holds=MEAN,
)  # fmt: skip
step_map2 = quantity(
    "step_map2", "E ||(x_R - x_(R+1))/γ||^2, with the noise of step R", loss=2, parameter=-2, printed="E ‖g_C,R‖²",
    latex=r"\mathbb{E}\|g_{C,R}\|^2", holds=MEAN,
)  # fmt: skip
smooth_C = quantity("smooth_C", "smoothness in the norm of the set", loss=1, printed="L̃", latex=r"\tilde L")

losses = [smooth(L_s), lipschitz(G)]  # Assumption 1 / 4.1.1: not convex
composite = [*losses, Setting("r closed and convex")]
a = log(1 / delta)
both = PrintedTwice("wangxu19", "dwang20")
extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))


def full_gradients(steps: Expr) -> Releases:
    """T noisy full gradients, two of which differ by up to 2G/n."""
    return Releases(2 * G / (n * sigma_n), steps)


# Composition and the Gaussian mechanism (wangxu19, Preliminaries) ------------------------------------
composed = eps * sqrt(8 * T * log(1 / delta1))
one_response = (exp(eps) - exp(composed.subs(T, 1))) / (1 + exp(eps))  # exact δ at ε' of one randomised response

lemma1 = Claim(
    id="wangxu19.lemma1",
    source=Source("wangxu19", "Lemma 1, advanced composition"),
    kind=Kind.PRIVACY,
    says="T steps of ε'/√(8T·ln(1/δ')) each are (ε', Tδ+δ')-private together, for ε' < 1 and any δ'.",
    assumes=[composed < 1],
    states=Eq(eps_out, composed),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    checks=[
        AtMost(
            one_response,
            "one step, randomised response with δ = 0: the δ' it needs at ε', with δ' near 1",
            box={eps: (0.1, 20), delta1: (0.5, 0.9999), T: (1, 1)},
            against=delta1,
        )
    ],
)

_r = Symbol("r", positive=True)  # √(8·ln(1/δ')): at least √(8·ln 2) > 2.3

lemma1_corrected = Claim(
    id="wangxu19.lemma1.corrected",
    source=Source("wangxu19", "Lemma 1, advanced composition"),
    kind=Kind.PRIVACY,
    says="The same for δ' at most 1/2.",
    assumes=[composed < 1, delta1 <= Rational(1, 2)],
    states=Eq(eps_out, composed),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    corrects="wangxu19.lemma1",
    checks=[
        Proof(
            [
                Same(
                    "the first term of strong composition is ε'/2", sqrt(2 * T * log(1 / delta1)) * eps, composed / 2
                ),
                Same(
                    "the second, Tε(e^ε-1), is ε'/2 times 2ε'(e^ε-1)/(r²ε) with r = √(8·ln(1/δ')) and ε' = rε√T",
                    T * eps * (exp(eps) - 1), (_r * eps * sqrt(T)) / 2 * (2 * _r * eps * sqrt(T) * (exp(eps) - 1))
                    / (_r**2 * eps),
                ),
                Less(
                    "2(e^ε-1)/(r²ε) ≤ 1 for r ≥ 2.3 and ε ≤ 1/r, where ε' ≤ 1", 2 * (exp(eps) - 1),
                    Rational(529, 100) * eps, box={eps: (1e-9, 0.435)},
                ),
                Less("and √(8·ln 2) ≥ 2.3", Rational(23, 10), sqrt(8 * log(2))),
            ],
            "strong composition (zhang17.lemma10.corrected) gives at most ε'/2 + ε'/2",
        )
    ],
    cites=[Cites("zhang17.lemma10.corrected")],
)  # fmt: skip

definition5 = again(gaussian.lemma1, "wangxu19.definition5", "Definition 5, the Gaussian mechanism")
definition5_corrected = again(gaussian.lemma1_corrected, "wangxu19.definition5.corrected", "Definition 5")

lemma2 = Claim(
    id="wangxu19.lemma2",
    source=Source("wangxu19", "Lemma 2, the moments accountant, with q = m/n and noise Gσ/n on the mean of a batch"),
    kind=Kind.PRIVACY,
    says="There are c₁ and c₂ for which σ = c₂·q√(T·ln(1/δ))/ε is enough for all ε < c₁q²T; noise Gσ/n as printed.",
    assumes=[lipschitz(G), m <= n, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, c2 * G * m * sqrt(T * a) / (n**2 * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    checks=[
        Accountant(
            Releases(2 * G / (m * sigma_n), T, WithoutReplacement(m, n)),
            "the mean of m gradients moves by 2G/m, so that the noise must be Gσ/m; and no condition limits ε at m = n",
        )
    ],
)

lemma2_corrected = Claim(
    id="wangxu19.lemma2.corrected",
    source=Source("wangxu19", "Lemma 2, at q = 1, where this paper uses it"),
    kind=Kind.PRIVACY,
    says="Full batches, c₂² = 8, for ε at most 1 and δ at most 1/4: the condition is on ε, not on T.",
    assumes=[lipschitz(G), eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, G * sqrt(8 * T * a) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="wangxu19.lemma2",
    checks=[Accountant(full_gradients(T), "T full gradients, each 2G/n apart"), gaussian.for_every_delta],
)

# Noise by advanced composition over c = 8, both in deviations: steps of ε/√(8T·ln(2/δ)) at δ/(2T) each.
by_composition = sqrt(64 * T * log(Rational(5, 2) * T / delta) * log(2 / delta))
_x, _y = (Symbol(name, positive=True) for name in ("x", "y"))

saving = Claim(
    id="wangxu19.section.preliminaries.saving",
    source=Source("wangxu19", "Preliminaries, before Lemma 2"),
    kind=Kind.PRIVACY,
    says="The noise of advanced composition over that of the moments accountant, in deviations, δ at most 1/2.",
    assumes=[delta <= Rational(1, 2)],
    states=Rate(ratio, sqrt(log(T / delta))),
    checks=[
        Proof(
            [
                Same(
                    "the ratio squared, with x = ln(1/δ) and y = ln T", (by_composition**2 / (8 * T * a)).subs(
                        {delta: exp(-_x), T: exp(_y)}),
                    8 * (log(Rational(5, 2)) + _x + _y) * (log(2) + _x) / _x,
                ),
                Less(
                    "at most 38(x + y) for x ≥ ln 2", 8 * (log(Rational(5, 2)) + _x + _y) * (log(2) + _x) / _x,
                    38 * (_x + _y), {_x: log(2) + extra},
                ),
            ],
            "hidden constant √38 suffices",
        )
    ],
)  # fmt: skip

# Gaussian width ------------------------------------------------------------------------------------
WIDTH = ("definition8", "definition4.1.3")
AFTER = ("after Definition 8", "after Definition 4.1.3")
width_l1, width_l1_dwang = both.again(gaussian_width.width_l1, *WIDTH, ".l1_ball", places=AFTER)
width_sparse, width_sparse_dwang = both.again(gaussian_width.width_sparse, *WIDTH, ".sparse", places=AFTER)
width_sparse_corrected, width_sparse_corrected_dwang = both.again(
    gaussian_width.width_sparse_corrected, *WIDTH, ".sparse.corrected", places=AFTER
)
lemma4, lemma4_dwang = both.again(gaussian_width.lemma7, "lemma4", "lemma4.1.1")
set_norm = again(gaussian_width.lemma6, "dwang20.lemma4.1.4", "Lemma 4.1.4")
set_norm_corrected = again(gaussian_width.lemma6_corrected, "dwang20.lemma4.1.4.corrected", "Lemma 4.1.4")

in_the_norm_of_the_set = Claim(
    id="dwang20.lemma4.1.4.smooth",
    source=Source("dwang20", "after Lemma 4.1.4"),
    kind=Kind.IDENTITY,
    says="What is L-smooth in l2 is L‖C‖₂²-smooth in the norm of the set; convexity is not needed.",
    assumes=[smooth(L_s), Setting("C symmetric")],
    states=Le(smooth_C, L_s * diameter**2),
    checks=[
        AtMost(L_s * (diameter / 2) ** 2, "‖v‖₂ ≤ R‖v‖_C in both norms of ‖∇F(x)-∇F(y)‖* ≤ LR²‖x-y‖_C, R = ‖C‖₂/2")
    ],
    cites=[Cites("dwang20.lemma4.1.4")],
)
