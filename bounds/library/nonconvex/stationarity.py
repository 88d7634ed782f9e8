"""Private search for stationary points (wangxu19; dwang20, section 4.1): what its algorithms rest on.

The paper and the chapter print the same statements under two numbers: `both` makes the two claims of one statement.
Here: symbols, composition, the moments accountant, Gaussian widths. The dimension, printed p, is d.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, integrate, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import PrintedTwice, again
from dpcheck.bounds.language.symbols import MEAN, T, c1, c2, delta, delta1, eps, eps_out, m, n, quantity, ratio
from dpcheck.bounds.library.convex import gaussian_width
from dpcheck.bounds.library.convex.gaussian_width import diameter, minkowski
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, sigma_n
from dpcheck.bounds.library.mechanisms import gaussian
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

step_map = quantity(
    "step_map", "E ||(x_R - x_(R+1))/γ||, with the noise of step R", loss=1, parameter=-1, printed="E ‖g_C,R‖",
    latex=r"\mathbb{E}\|g_{C,R}\|", holds=MEAN,
)
step_map2 = quantity(
    "step_map2", "E ||(x_R - x_(R+1))/γ||^2, with the noise of step R", loss=2, parameter=-2, printed="E ‖g_C,R‖²",
    latex=r"\mathbb{E}\|g_{C,R}\|^2", holds=MEAN,
)
tangent_gap = quantity(
    "tangent_gap", "f(x₁) - f(x₂) - <grad f(x₂), x₁ - x₂>", loss=1, printed="f(x₁)-f(x₂)-⟨∇f(x₂),x₁-x₂⟩",
    latex=r"f(x_1)-f(x_2)-\langle\nabla f(x_2),x_1-x_2\rangle",
)
far = quantity("two_points", "||x₁ - x₂||", parameter=1, printed="‖x₁-x₂‖", latex=r"\|x_1-x_2\|")
inner = quantity("inner_uv", "<u, v>", loss=1, printed="⟨u,v⟩", latex=r"\langle u,v\rangle")
dual_C = quantity("dual_C", "max over w in C of <w, v>", loss=1, printed="‖v‖_C°", latex=r"\|v\|_{C^{\circ}}")
smooth_C = quantity("smooth_C", "smoothness in the norm of the set", loss=1, printed="L̃", latex=r"\tilde L")

losses = [smooth(L_s), lipschitz(G)]  # Assumption 1 / 4.1.1: not convex
composite = [*losses, Setting("r closed and convex")]
a = log(1 / delta)
both = PrintedTwice("wangxu19", "dwang20")
extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))


def full_gradients(steps: Expr) -> Release:
    """T noisy full gradients, two of which differ by up to 2G/n."""
    return Release(2 * G / n, Gaussian(sigma_n), steps=steps)


seen_in_x_R = full_gradients((T - 1) / 2)  # with probability 1/2: see IterateAccountant

# Smoothness ----------------------------------------------------------------------------------------
_along = Symbol("s", nonnegative=True)

definition3, definition3_dwang = both(
    "definition3", "definition4.0.2",
    kind=Kind.IDENTITY,
    says="What is L-smooth lies at most L/2·‖x₁-x₂‖² above its tangent, in any norm and over any convex set.",
    assumes=[smooth(L_s)],
    states=Le(tangent_gap, L_s / 2 * far**2),
    checks=[
        Proof(
            [
                Same(
                    "∫₀¹ ⟨∇f(x₂+s(x₁-x₂))-∇f(x₂), x₁-x₂⟩ ds, where the dual norm of the first is at most L·s‖x₁-x₂‖",
                    integrate(L_s * _along * far * far, (_along, 0, 1)), L_s / 2 * far**2,
                )
            ],
            "attained by L/2·‖x‖₂²",
        )
    ],
)

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
)

definition5 = again(gaussian.lemma1, "wangxu19.definition5", "Definition 5, the Gaussian mechanism")
definition5_corrected = again(gaussian.lemma1_corrected, "wangxu19.definition5.corrected", "Definition 5")

lemma2 = Claim(
    id="wangxu19.lemma2",
    source=Source("wangxu19", "Lemma 2, the moments accountant, q = m/n; noise Gσ/n, where the copy reads εσ/n"),
    kind=Kind.PRIVACY,
    says="There are c₁ and c₂ for which σ = c₂·q√(T·ln(1/δ))/ε is enough for all ε < c₁q²T; noise Gσ/n on a mean.",
    assumes=[lipschitz(G), m <= n, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, c2 * G * m * sqrt(T * a) / (n**2 * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    checks=[
        Accountant(
            Release(2 * G / m, Gaussian(sigma_n), WithoutReplacement(m, n), T),
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
)

# The norm of a set, and its Gaussian width -----------------------------------------------------------
_k, _w, _v, _most = symbols("k w v most", real=True)

definition7, definition7_dwang = both(
    "definition7", "definition4.1.2",
    kind=Kind.IDENTITY,
    says="max over C of ⟨w, v⟩ is the norm dual to ‖·‖_C: ⟨u, v⟩ is at most ‖u‖_C times it, with equality for some u.",
    assumes=[Setting("C symmetric")],
    states=Le(inner, minkowski * dual_C),
    checks=[
        Adds(
            _k * _w * _v, {minkowski: _k, dual_C: _most},
            {"u = k·w with k = ‖u‖_C and w in C, where ⟨w, v⟩ is at most its maximum": _k * (_most - _w * _v)},
        )
    ],
)

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
