"""Gaussian width and mirror steps (dwang20, sections 3.1.2 and 3.1.6): what DP-AccMD rests on.

The widths named after Definition 3.1.4, and Lemmas 3.1.5 to 3.1.7. ‖·‖_C is the norm whose unit ball is the set C;
the dimension, printed p, is d.
"""

from sympy import Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import d, quantity
from dpcheck.bounds.library.convex.variance_reduction import r_u, r_x
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Follows, Less, NoConstant, Proof, Same, Sharper

width = quantity("G_C", "Gaussian width of the set", parameter=1, printed="G_C", latex="G_C")
diameter = quantity("diameter", "l2 diameter of the set", parameter=1, printed="‖C‖₂", latex=r"\|C\|_2")
modulus = quantity("modulus", "strong convexity of the distance generating function", printed="α", latex=r"\alpha")
weight = quantity("weight", "gamma in 1/γ·V(u, x)", loss=-1, printed="γ", latex=r"\gamma")
gain = quantity("gain", "<grad F(x), x - x+>", loss=1, printed="⟨∇F,x-x⁺⟩", latex=r"\langle\nabla F,x-x^+\rangle")
shake = quantity("shake", "<ε, x+ - x>", loss=1, printed="⟨ε,x⁺-x⟩", latex=r"\langle\varepsilon,x^+-x\rangle")
step_gap = quantity("step_gap", "||x+ - x||", printed="‖x⁺-x‖", latex=r"\|x^+-x\|")
l2 = quantity("l2", "||v||_2", parameter=1, printed="‖v‖₂", latex=r"\|v\|_2")
minkowski = quantity("minkowski", "||v||_C", printed="‖v‖_C", latex=r"\|v\|_C")
width2 = quantity(
    "width2", "E (max over C of <w, v>)^2, v standard normal", parameter=2, printed="E W", latex=r"\mathbb{E}W"
)
sparsity = quantity("sparsity", "non-zero entries of a unit vector", box=(1, 1e3), integer=True, printed="s", latex="s")

extra = Symbol("extra", nonnegative=True)
big = Symbol("big", positive=True)
spread = width**2 + diameter**2

width_l1 = Claim(
    id="dwang20.definition3.1.4.l1_ball",
    source=Source("dwang20", "after Definition 3.1.4"),
    kind=Kind.IDENTITY,
    says="The Gaussian width of the unit l1 ball, the mean of the largest of d absolute normals, d ≥ 2.",
    assumes=[d >= 2],
    states=Rate(width, sqrt(log(d))),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "exp(λ·E max) ≤ 2d·exp(λ²/2) at λ = √(2·log 2d)",
                    log(2 * d) / sqrt(2 * log(2 * d)) + sqrt(2 * log(2 * d)) / 2, sqrt(2 * log(2 * d)),
                ),
                Less("2·log 2d ≤ 4·log d for d ≥ 2", 2 * (log(2) + log(d)), 4 * log(d), {d: exp(log(2) + extra)}),
            ],
            "hidden constant 2 suffices",
        )
    ],
)

width_sparse = Claim(
    id="dwang20.definition3.1.4.sparse",
    source=Source("dwang20", "after Definition 3.1.4"),
    kind=Kind.IDENTITY,
    says="The Gaussian width of the unit vectors with s non-zero entries out of d.",
    assumes=[sparsity <= d],
    states=Rate(width, sqrt(sparsity * log(d / sparsity))),
    ignores_units=True,
    checks=[
        NoConstant(
            sparsity / sqrt(sparsity + 1), {sparsity: big, d: big + 1}, big,
            "s = d-1: the first s entries alone give E‖b‖ ≥ s/√(s+1), and s·log(d/s) stays at 1",
        )
    ],
)

width_sparse_corrected = Claim(
    id="dwang20.definition3.1.4.sparse.corrected",
    source=Source("dwang20", "after Definition 3.1.4"),
    kind=Kind.IDENTITY,
    says="It is of order √(s·log(e·d/s)).",
    assumes=[sparsity <= d],
    states=Rate(width, sqrt(sparsity * (1 + log(d / sparsity)))),
    corrects="dwang20.definition3.1.4.sparse",
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "(e·d/s)^s choices of s entries, each norm √s in mean, with the deviations of a normal: "
                    "√s + √(2·log N) with log N = s·(1 + log(d/s)); squared with 1 + log(d/s) = x",
                    (sqrt(sparsity) + sqrt(2 * sparsity * big)) ** 2, sparsity * (1 + sqrt(2 * big)) ** 2,
                ),
                Less("(1 + √(2x))² ≤ 2 + 4x ≤ 6x for x ≥ 1", 2 + 4 * big, 6 * big, {big: 1 + extra}),
            ],
            "hidden constant √6 suffices",
        )
    ],
)

width_at_most = Claim(
    id="dwang20.section3.1.4.width",
    source=Source("dwang20", "section 3.1.4, on the Gaussian width"),
    kind=Kind.IDENTITY,
    says="The Gaussian width is of order √d, for sets of diameter 1.",
    assumes=[Setting("‖C‖₂ = 1")],
    states=Rate(width, sqrt(d)),
    ignores_units=True,
    checks=[Follows(sqrt(d) / 2, Rational(1, 2), "E sup ⟨b, w⟩ ≤ R·E‖b‖ ≤ R√d with R = ‖C‖₂/2")],
)

# In coordinates: x, u = x+; p is grad F(x), e the error; a is (grad w(u) - grad w(x))(u - x), at least alpha (u-x)^2.
x, u, p, e, a, r_0, r_1, q = symbols("x u p e a r_0 r_1 q", real=True)

uphill = quantity(
    "uphill", "<grad F(x) + ε + p, x+ - u>", loss=1, printed="⟨∇F+ε+p,x⁺-u⟩", latex=r"\langle\nabla F+p,x^+-u\rangle"
)
held_back = quantity(
    "held_back",
    "1/γ·<grad w(x+) - grad w(x), u - x+>",
    loss=1,
    printed="⟨∇V,u-x⁺⟩/γ",
    latex=r"\langle\nabla V,u-x^+\rangle",
)
rise, bend = (Symbol(name, positive=True) for name in ("rise", "bend"))

equation10 = Claim(
    id="dwang20.equation3.10",
    source=Source("dwang20", "equation (3.10)"),
    kind=Kind.UTILITY,
    says="At the minimiser x⁺ over a convex set no direction towards a u of the set goes down.",
    assumes=[Setting("C convex, w differentiable, r convex")],
    states=Le(uphill, held_back),
    checks=[
        Proof(
            [
                Same(
                    "a slope -a and a second derivative of at most M leave -a²/(2M) at the share a/M of the way to u",
                    -rise * (rise / bend) + bend / 2 * (rise / bend) ** 2,
                    -(rise**2) / (2 * bend),
                ),
                Less("which is below the minimum", -(rise**2) / (2 * bend), Integer(0)),
            ],
            "so the slope at x⁺ towards u is not negative",
        )
    ],
)

lemma5 = Claim(
    id="dwang20.lemma3.1.5",
    source=Source("dwang20", "Lemma 3.1.5, read with h = r"),
    kind=Kind.UTILITY,
    says="A mirror step with an error ε: what it gains, where r(u) = r(x⁺) and r(x_j) = r(x).",
    assumes=[Setting("w has modulus α, r convex")],
    states=Le(modulus / weight * step_gap**2 + r_u - r_x + shake, gain),
    cites=[Cites("dwang20.equation3.10")],
    checks=[
        Adds(
            modulus / weight * (u - x) ** 2 + r_1 - r_0 + e * (u - x), {gain: p * (x - u)},
            {
                "(3.10) at u = x, with q a subgradient of r at x⁺": (p + e + q) * (x - u) - a / weight,
                "w has modulus α": (a - modulus * (u - x) ** 2) / weight,
                "r lies above its tangent at x⁺": r_0 - r_1 - q * (x - u),
            },
        )
    ],
)

lemma6 = Claim(
    id="dwang20.lemma3.1.6",
    source=Source("dwang20", "Lemma 3.1.6"),
    kind=Kind.UTILITY,
    says="The l2 norm by the norm of the set, with its diameter.",
    assumes=[Setting("C symmetric")],
    states=Le(l2, diameter * minkowski),
    checks=[
        AtMost(
            diameter / 2 * minkowski,
            "v/‖v‖_C lies in C, whose points have norm at most R = ‖C‖₂/2: w and -w are both in it",
        ),
        Sharper(diameter / 2 * minkowski, "with the radius, attained at the farthest point"),
    ],
)

lemma6_corrected = Claim(
    id="dwang20.lemma3.1.6.corrected",
    source=Source("dwang20", "Lemma 3.1.6"),
    kind=Kind.UTILITY,
    says="With the radius, half the diameter: F is LR²-smooth in the norm of the set.",
    assumes=[Setting("C symmetric")],
    states=Le(l2, diameter / 2 * minkowski),
    corrects="dwang20.lemma3.1.6",
    checks=[AtMost(diameter / 2 * minkowski, "v/‖v‖_C lies in C; equality at the farthest point")],
)

lemma7 = Claim(
    id="dwang20.lemma3.1.7",
    source=Source("dwang20", "Lemma 3.1.7"),
    kind=Kind.UTILITY,
    says="The mean squared maximum of ⟨w, v⟩ over C, v standard normal.",
    assumes=[Setting("C symmetric")],
    states=Rate(width2, spread),
    checks=[
        Follows(
            width**2 + (diameter / 2) ** 2, Integer(1),
            "its variance is at most R² = ‖C‖₂²/4: the maximum is R-Lipschitz in v (Gaussian Poincaré inequality)",
        )
    ],
)
