"""Smoothness and strong convexity: what the definitions yield (zhang17, section 2.1; dwang20, chapter 3 and 3.1.4).

Along the line between two points: h is their difference, s the share of the way.
"""

from sympy import Integer, Le, Symbol, integrate, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source, convex, smooth
from dpcheck.bounds.language.symbols import beta, distance, mu, quantity, ratio
from dpcheck.bounds.library.convex.gaussian_width import diameter, minkowski, modulus, step_gap
from dpcheck.bounds.library.convex.variance_reduction import L_s
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, NoConstant, Proof, Same, Sharper

above_tangent = quantity(
    "above_tangent",
    "f(x) - f(y) - <grad f(y), x - y>",
    loss=1,
    printed="f(x)-f(y)-⟨∇f(y),x-y⟩",
    latex=r"f(x)-f(y)-\langle\nabla f(y),x-y\rangle",
)
point_gap = quantity("point_gap", "distance of two points", parameter=1, printed="‖x-y‖", latex=r"\|x-y\|")
bregman_xz = quantity("bregman_xz", "V(x, z) of a distance generating function", printed="V(x,z)", latex="V(x,z)")
risk_gap = quantity("risk_gap", "F(x) - F(x*)", loss=1, printed="F(x)-F(x°)", latex="F(x)-F(x^*)")
s, big = Symbol("s", nonnegative=True), Symbol("big", positive=True)
x, y, f_x, f_y, slope = symbols("x y f_x f_y slope", real=True)

two_sided = Claim(
    id="zhang17.section2.1.smooth",
    source=Source("zhang17", "Assumption 1"),
    kind=Kind.IDENTITY,
    says="β-smoothness keeps f within β/2·‖u-v‖² of its tangent; of a convex f only the upper side says more.",
    assumes=[smooth(beta), convex()],
    states=Le(above_tangent, beta / 2 * point_gap**2),
    checks=[
        AtMost(
            integrate(beta * s * point_gap * point_gap, (s, 0, 1)),
            "∫⟨∇f(v+sh)-∇f(v), h⟩ ds ≤ ∫β·s‖h‖² ds, with equality for β/2·‖w‖²; a convex f lies above its tangent",
        )
    ],
)

smooth_above = Claim(
    id="dwang20.definition3.0.2",
    source=Source("dwang20", "Definition 3.0.2, what it yields"),
    kind=Kind.IDENTITY,
    says="An L-smooth f, in any norm, lies at most L/2·‖θ₁-θ₂‖² above its tangent.",
    assumes=[smooth(L_s)],
    states=Le(above_tangent, L_s / 2 * point_gap**2),
    checks=[
        AtMost(
            integrate(L_s * s * point_gap * point_gap, (s, 0, 1)),
            "∫⟨∇f(θ₂+sh)-∇f(θ₂), h⟩ ds ≤ ∫‖∇f(θ₂+sh)-∇f(θ₂)‖°·‖h‖ ds ≤ ∫L·s‖h‖·‖h‖ ds",
        )
    ],
)

quantifiers = Claim(
    id="dwang20.definition3.0.3",
    source=Source("dwang20", "Definition 3.0.3: for any x, y there exists μ > 0"),
    kind=Kind.IDENTITY,
    says="If each pair of points has a μ > 0 of its own, as printed, then one μ serves all: 1/μ(x,y) is bounded.",
    states=Rate(ratio, Integer(1)),
    checks=[
        NoConstant(
            1 / (2 * point_gap**2),
            {point_gap: 1 / big},
            big,
            "x⁴ at the points ‖x-y‖ and 0: its largest μ there is 2‖x-y‖², which has no least value",
        )
    ],
)

quantifiers_corrected = Claim(
    id="dwang20.definition3.0.3.corrected",
    source=Source("dwang20", "Definition 3.0.3, with one μ; as the proof of Theorem 3.1.2 uses it"),
    kind=Kind.IDENTITY,
    says="With one μ for all pairs: a point is no further from the minimiser than √(2/μ·(F(x)-F(x°))).",
    assumes=[Setting("F μ-strongly convex")],
    states=Le(distance**2, 2 / mu * risk_gap),
    corrects="dwang20.definition3.0.3",
    checks=[
        Adds(
            (x - y) ** 2,
            {risk_gap: f_x - f_y},
            {
                "F lies μ/2·‖x-x°‖² above its tangent at x°": 2
                / mu
                * (f_x - f_y - slope * (x - y) - mu / 2 * (x - y) ** 2),
                "whose slope towards x is not negative": 2 / mu * slope * (x - y),
            },
        )
    ],
)

divergence_above = Claim(
    id="dwang20.definition3.1.5",
    source=Source("dwang20", "Definition 3.1.5, as the proof of Theorem 3.1.7 uses it before (3.53)"),
    kind=Kind.IDENTITY,
    says="The Bregman divergence of a w with modulus α is at least α/2·‖x-z‖².",
    assumes=[Setting("w has modulus α")],
    states=Le(modulus / 2 * step_gap**2, bregman_xz),
    checks=[
        Proof(
            [
                Same(
                    "V(x,z) = ∫⟨∇w(z+sh)-∇w(z), h⟩ ds ≥ ∫α·‖sh‖²/s ds",
                    integrate(modulus * (s * step_gap) ** 2 / s, (s, 0, 1)),
                    modulus / 2 * step_gap**2,
                )
            ],
            "with equality for w = α/2·‖x‖²",
        )
    ],
)

smooth_in_set = Claim(
    id="dwang20.lemma3.1.6.smooth",
    source=Source("dwang20", "after Lemma 3.1.6"),
    kind=Kind.IDENTITY,
    says="F, L-smooth in l2, is L‖C‖₂²-smooth in the norm of the set.",
    assumes=[smooth(L_s), Setting("C symmetric")],
    states=Le(above_tangent, L_s * diameter**2 / 2 * minkowski**2),
    checks=[
        AtMost(L_s / 2 * (diameter / 2 * minkowski) ** 2, "‖v‖₂ ≤ R‖v‖_C with R = ‖C‖₂/2"),
        Sharper(L_s * (diameter / 2) ** 2 / 2 * minkowski**2, "with the radius, half the diameter"),
    ],
)

inner_w = quantity("inner_w", "<w, v>", loss=1, printed="⟨w,v⟩", latex=r"\langle w,v\rangle")
set_norm = quantity("set_norm", "||w||_C", printed="‖w‖_C", latex=r"\|w\|_C")
dual_norm = quantity("dual_norm", "max over C of |<w, v>|", loss=1, printed="‖v‖_C°", latex=r"\|v\|_{C^*}")

dual = Claim(
    id="dwang20.definition3.1.3",
    source=Source("dwang20", "Definition 3.1.3: the dual of the Minkowski norm"),
    kind=Kind.IDENTITY,
    says="max over C of |⟨w, v⟩| is dual to the norm of the set: ⟨w, v⟩ ≤ ‖w‖_C·‖v‖_C°, attained in C.",
    assumes=[Setting("C symmetric, convex, closed")],
    states=Le(inner_w, set_norm * dual_norm),
    checks=[
        Adds(
            set_norm * x,
            {dual_norm: y},
            {"w/‖w‖_C lies in C, so ⟨w/‖w‖_C, v⟩ (x) is at most the maximum (y)": set_norm * (y - x)},
        )
    ],
)
