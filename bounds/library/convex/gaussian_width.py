"""Gaussian width and mirror steps (dwang20, sections 3.1.2 and 3.1.6): what DP-AccMD rests on.

The widths named after Definition 3.1.4, and Lemmas 3.1.5 to 3.1.7. ‖·‖_C is the norm whose unit ball is the set C;
the dimension, printed p, is d.
"""

from sympy import Expr, Le, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source, smooth
from dpcheck.bounds.language.symbols import d, quantity
from dpcheck.bounds.library.convex.variance_reduction import L_s, r_u, r_x
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Sharper

width = quantity("G_C", "Gaussian width of the set", parameter=1, printed="G_C", latex="G_C")
diameter = quantity("diameter", "l2 diameter of the set", parameter=1, printed="‖C‖₂", latex=r"\|C\|_2")
modulus = quantity("modulus", "strong convexity of the distance generating function", printed="α", latex=r"\alpha")
weight = quantity("weight", "gamma in 1/γ·V(u, x)", loss=-1, printed="γ", latex=r"\gamma")
gain = quantity("gain", "<grad F(x), x - x+>", loss=1, printed="⟨∇F,x-x⁺⟩", latex=r"\langle\nabla F,x-x^+\rangle")
shake = quantity("shake", "<ε, x+ - x>", loss=1, printed="⟨ε,x⁺-x⟩", latex=r"\langle\varepsilon,x^+-x\rangle")
step_gap = quantity("step_gap", "||x+ - x||", printed="‖x⁺-x‖", latex=r"\|x^+-x\|")
l2 = quantity("l2", "||v||_2", parameter=1, printed="‖v‖₂", latex=r"\|v\|_2")
minkowski = quantity("minkowski", "||v||_C", printed="‖v‖_C", latex=r"\|v\|_C")
radius = quantity("radius", "largest l2 norm in the set", parameter=1, printed="R", latex="R")
width2 = quantity(
    "width2", "E (max over C of <w, v>)^2, v standard normal", parameter=2, printed="E W", latex=r"\mathbb{E}W"
)
sparsity = quantity("sparsity", "non-zero entries of a unit vector", box=(1, 1e3), integer=True, printed="s", latex="s")
above_tangent = quantity(
    "above_tangent",
    "F(x+v) - F(x) - <grad F(x), v>",
    loss=1,
    printed="F(x+v)-F(x)-⟨∇F(x),v⟩",
    latex=r"F(x+v)-F(x)-\langle\nabla F(x),v\rangle",
)

more = Symbol("more", nonnegative=True)
moment = Symbol("moment", nonnegative=True)  # log E e^(λ·max)
spread = width**2 + diameter**2
symmetric = Setting("C symmetric")



def largest(subject: Expr, count: Expr, why: str) -> Slack:
    """The mean of the largest of e^count variables, each with E e^(λx) ≤ e^(λ²/2), at the best λ, √(2·count)."""
    rate = sqrt(2 * count)
    return Slack(given={
        "λ·E max ≤ log E e^(λ·max) (Jensen)": moment / rate - subject,
        f"e^(λ·max) is at most their sum, {why}": (count + rate**2 / 2 - moment) / rate,
    })  # fmt: skip


width_l1 = Claim(
    id="dwang20.definition3.1.4.l1_ball",
    source=Source("dwang20", "after Definition 3.1.4", line=600),
    kind=Kind.IDENTITY,
    says="The Gaussian width of the unit l1 ball, the mean of the largest of d absolute normals.",
    added=[d >= 2],
    states=Rate(width, sqrt(log(d))),
    ignores_units=True,
    checks=[
        Chain(
            width,
            Step("<=", sqrt(2 * log(2 * d)), because=largest(width, log(2 * d), "2d normals with E e^(λx) = e^(λ²/2)")),
            Step("<=", 2 * STATEMENT, where={d: 2 * exp(more)}),
        )
    ],
)

choices = sparsity * (1 + log(d / sparsity))  # log N, of the N ≤ (e·d/s)^s supports
SUPPORTS = "N ≤ (e·d/s)^s norms on supports, less √s: they deviate like normals"

width_sparse = Claim(
    id="dwang20.definition3.1.4.sparse",
    source=Source("dwang20", "after Definition 3.1.4", line=600),
    kind=Kind.IDENTITY,
    says="The Gaussian width of the unit vectors with s non-zero entries out of d.",
    added=[2 * sparsity <= d],
    states=Rate(width, sqrt(sparsity * log(d / sparsity))),
    ignores_units=True,
    checks=[
        Chain(
            width,
            Step("<=", sqrt(sparsity) + sqrt(2 * choices), because=largest(width - sqrt(sparsity), choices, SUPPORTS)),
            Step("<=", sqrt(2 * (sparsity + 2 * choices)), because=Premise("√a + √b ≤ √(2(a+b))")),
            Step("<=", 4 * STATEMENT, where={d: 2 * sparsity * exp(more)}),
        )
    ],
)

tangent = quantity("tangent", "<p, x+ - x>, p a subgradient of r at x+", loss=1, printed="⟨p,x⁺-x⟩")
bend = quantity("bend", "<grad w(x+) - grad w(x), x+ - x>/γ", loss=1, printed="⟨∇w(x⁺)-∇w(x),x⁺-x⟩/γ")
step_left = modulus / weight * step_gap**2 + r_u - r_x + shake
step_parts = {
    "x⁺ is optimal, (3.10) at u = x": gain - shake - tangent - bend,
    "w has modulus α": bend - modulus / weight * step_gap**2,
    "r lies above its tangent at x⁺": tangent - r_u + r_x,
}

lemma5 = Claim(
    id="dwang20.lemma3.1.5",
    source=Source("dwang20", "Lemma 3.1.5, read with h = r", line=927),
    kind=Kind.UTILITY,
    says="A mirror step with an error ε: what it gains, where r(u) is r(x⁺) and r(x_j) is r(x).",
    assumes=[Setting("w has modulus α, r convex")],
    states=Le(step_left, gain),
    checks=[Chain(step_left, Step("<=", STATEMENT, because=Slack(given=step_parts)))],
)

lemma6 = Claim(
    id="dwang20.lemma3.1.6",
    source=Source("dwang20", "Lemma 3.1.6", line=941),
    kind=Kind.UTILITY,
    says="The l2 norm by the norm of the set, with its diameter.",
    assumes=[symmetric],
    states=Le(l2, diameter * minkowski),
    checks=[
        Chain(l2, Step("<=", because=Cites("dwang20.lemma3.1.6.corrected")), Step("<=", STATEMENT)),
        Sharper(diameter / 2 * minkowski, "Lemma 3.1.6 corrected, attained at the farthest point"),
    ],
)

in_the_set = {
    "v/‖v‖_C lies in C, whose points have norm at most R": radius * minkowski - l2,
    "C holds w and -w, at most ‖C‖₂ apart": (diameter / 2 - radius) * minkowski,
}

lemma6_corrected = Claim(
    id="dwang20.lemma3.1.6.corrected",
    source=Source("dwang20", "Lemma 3.1.6", line=941),
    kind=Kind.UTILITY,
    says="With the radius, half the diameter.",
    assumes=[symmetric],
    states=Le(l2, diameter / 2 * minkowski),
    corrects="dwang20.lemma3.1.6",
    checks=[Chain(l2, Step("<=", STATEMENT, because=Slack(given=in_the_set), uses=[symmetric]))],
)

lemma6_smooth = Claim(
    id="dwang20.lemma3.1.6.smooth",
    source=Source("dwang20", "after Lemma 3.1.6", line=943),
    kind=Kind.UTILITY,
    says="F, L-smooth in l2, is L‖C‖₂²-smooth in the norm of the set.",
    assumes=[smooth(L_s), symmetric],
    states=Le(above_tangent, L_s * diameter**2 / 2 * minkowski**2),
    checks=[
        Chain(
            above_tangent,
            Step("<=", L_s / 2 * l2**2, because=Premise("F is L-smooth in l2")),
            Step("<=", because=Cites("dwang20.lemma3.1.6")),
            Step("<=", STATEMENT),
        )
    ],
)

POINCARE = Premise("the maximum moves by at most ‖C‖₂/2·‖v-v'‖: its variance is at most ‖C‖₂²/4 (Poincaré)")

lemma7 = Claim(
    id="dwang20.lemma3.1.7",
    source=Source("dwang20", "Lemma 3.1.7", line=947),
    kind=Kind.UTILITY,
    says="The mean squared maximum of ⟨w, v⟩ over C, v standard normal.",
    assumes=[symmetric],
    states=Rate(width2, spread),
    checks=[
        Chain(
            width2,
            Step("<=", width**2 + diameter**2 / 4, because=POINCARE, uses=[symmetric]),
            Step("<=", STATEMENT),
        )
    ],
)
