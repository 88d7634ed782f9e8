"""DP-Katyusha: one step of the proof of Theorem 3.1.3 of dwang20, (3.29) to (3.37).

The epochs, (3.38) to (3.46), stand in dp_katyusha_epochs.py, the theorem in dp_katyusha.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import c, d, eta, mu, quantity
from dpcheck.bounds.library.convex.dp_svrg_proof import gap_next
from dpcheck.bounds.library.convex.variance_reduction import (
    L_s,
    apart,
    away,
    gap_snap,
    inner,
    inner_v,
    kappa,
    losses,
    near,
    sigma_n,
    stated_noise,
)
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

theta = quantity("theta", "weight of x in y = θx + (1-θ)x̃", box=(1e-2, 0.5), below=1.0, printed="θ", latex=r"\theta")
growth = quantity("growth", "w = 1 + ημ", box=(1, 2), printed="w", latex="w")
weights = quantity("weights", "sum of w^t over an epoch", box=(1, 1e4), printed="W", latex="W")
span = quantity("span", "x~ - x_(t-1)", parameter=1, printed="x̃-x", latex=r"\tilde x-x")
lead = quantity("lead", "y_(t-1) - x_(t-1)", parameter=1, printed="y-x", latex="y-x")
forward = quantity("forward", "<v, x_t - x_(t-1)>", loss=1, printed="⟨v,x_t-x⟩", latex=r"\langle v,x_t-x_{t-1}\rangle")
backward = quantity(
    "backward", "<v, x_(t-1) - x_t>", loss=1, printed="⟨v,x-x_t⟩", latex=r"\langle v,x_{t-1}-x_t\rangle"
)
fall = quantity("fall", "F(y_t) - F(y_(t-1))", loss=1, printed="F(y_t)-F(y)", latex="F(y_t)-F(y_{t-1})")
off_step = quantity(
    "off_step",
    "<grad F(y) - v, x_t - x_(t-1)>",
    loss=1,
    printed="⟨∇F(y)-v,x_t-x⟩",
    latex=r"\langle\nabla F(y)-v,x_t-x\rangle",
)
r_rest = quantity("r_rest", "r(u) where all points rest at u", loss=1, printed="r(u)", latex="r(u)")
start = quantity("start", "||x_0 - x*|| at the start of an epoch", parameter=1, printed="‖x₀-x°‖", latex=r"\|x_0-x^*\|")

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
case1 = {eta: sqrt(1 / (3 * mu * inner * L_s)), theta: sqrt(inner * mu / (3 * L_s))}
case2 = {eta: 2 / (3 * L_s), theta: Rational(1, 2)}
unit_noise = stated_noise.subs(c, 1) ** 2  # σ² with c = 1
fits = [Le(L_s * theta + L_s * theta / (1 - theta), 1 / eta)]

equation29_1 = Claim(
    id="dwang20.equation3.29.case1",
    source=Source("dwang20", "equation (3.29) at the parameters of case 1"),
    kind=Kind.UTILITY,
    says="η = √(1/(3μmL)) and θ = √(mμ/(3L)) meet (3.29) for m ≤ 3/4·L/μ.",
    assumes=[inner <= 3 * kappa / 4, Eq(theta, case1[theta]), Eq(eta, case1[eta])],
    states=fits[0],
    checks=[
        Proof(
            [
                Same("1/η is 3Lθ", 1 / case1[eta], 3 * L_s * case1[theta]),
                Less("1 + 1/(1-θ) ≤ 3 for θ ≤ 1/2", 1 + 1 / (1 - theta), Integer(3), {theta: 1 / (2 * (1 + extra))}),
                Less("θ² = mμ/(3L) ≤ 1/4", case1[theta] ** 2, Rational(1, 4), {inner: 3 * kappa / (4 * (1 + extra))}),
            ]
        )
    ],
)

equation29_2 = Claim(
    id="dwang20.equation3.29.case2",
    source=Source("dwang20", "equation (3.29) at the parameters of case 2"),
    kind=Kind.UTILITY,
    says="η = 2/(3L) and θ = 1/2 meet (3.29), with equality.",
    assumes=[Eq(theta, Rational(1, 2)), Eq(eta, case2[eta])],
    states=fits[0],
    checks=[Proof([Same("both sides are 3L/2", fits[0].lhs.subs(case2), fits[0].rhs.subs(case2))])],
)

equation30 = Claim(
    id="dwang20.equation3.30",
    source=Source("dwang20", "equation (3.30), last line"),
    kind=Kind.IDENTITY,
    says="y - x = (1-θ)/θ·(x̃ - x), in one coordinate.",
    states=Eq(lead, (1 - theta) / theta * span),
    checks=[Equals((1 - theta) * span, "y = θx + (1-θ)x̃")],
)

equation30_corrected = Claim(
    id="dwang20.equation3.30.corrected",
    source=Source("dwang20", "equation (3.30), last line"),
    kind=Kind.IDENTITY,
    says="y - x = (1-θ)/θ·(x̃ - y), as it is used later.",
    states=Eq(lead, (1 - theta) / theta * (span - (1 - theta) * span)),
    corrects="dwang20.equation3.30",
    checks=[Equals((1 - theta) * span, "y = θx + (1-θ)x̃; x̃ - y = (x̃-x) - (y-x)")],
)

# In coordinates: x is x_(t-1), x_t; s is x~; u any point; p is grad F(y), v its noisy estimate, V = E(p-v)^2.
x, x_t, s, u, p, v, V = symbols("x x_t s u p v V", real=True)
F_y, F_t, F_s, F_u, r_s, r_t, r_y, r_u = symbols("F_y F_t F_s F_u r_s r_t r_y r_u", real=True)
y = theta * x + (1 - theta) * s
smooth_step = F_y + p * theta * (x_t - x) + L_s / 2 * theta**2 * (x_t - x) ** 2 - F_t
steps_in = {off_step: (p - v) * (x_t - x), forward: v * (x_t - x), near: x_t - x, fall: F_t - F_y}

tangent = quantity(
    "tangent", "<grad F(y), x_(t-1) - u>", loss=1, printed="⟨∇F(y),x-u⟩", latex=r"\langle\nabla F(y),x-u\rangle"
)
off_u = quantity(
    "off_u", "<grad F(y) - v, x_(t-1) - u>", loss=1, printed="⟨∇F(y)-v,x-u⟩", latex=r"\langle\nabla F(y)-v,x-u\rangle"
)

equation31 = Claim(
    id="dwang20.equation3.31",
    source=Source("dwang20", "equation (3.31)"),
    kind=Kind.IDENTITY,
    says="⟨∇F(y), x-u⟩ by the estimate v and the next point x_t, which is x_j here.",
    states=Eq(tangent, off_u + backward + inner_v),
    checks=[Adds(p * (x - u), {off_u: (p - v) * (x - u), backward: v * (x - x_t), inner_v: v * (x_t - u)})],
)

equation32 = Claim(
    id="dwang20.equation3.32",
    source=Source("dwang20", "equation (3.32)"),
    kind=Kind.UTILITY,
    says="How F changes from y to the next y, where a = ‖x_t-x‖.",
    assumes=losses,
    states=Le(fall, theta * (off_step + forward) + L_s * theta**2 / 2 * near**2),
    checks=[Adds(F_t - F_y, steps_in, {"F is L-smooth and y moves by θ(x_t-x)": smooth_step})],
)

bound33 = -fall / theta + off_step + L_s * theta / 2 * near**2
bound34 = -fall / theta + off_step + near**2 / (2 * eta) - L_s * theta / (2 * (1 - theta)) * near**2
linear = AtMost(
    fall / theta - off_step, "a linear F: F(y_t)-F(y) = θ⟨∇F,x_t-x⟩, so ⟨v,x_t-x⟩ is (F(y_t)-F(y))/θ - ⟨∇F-v,x_t-x⟩",
    box={fall: (1, 10), off_step: (1e-3, 1e-2), near: (1e-3, 1e-2), L_s: (0.1, 1), theta: (0.1, 0.5), eta: (0.1, 1)},
)

equation33 = Claim(
    id="dwang20.equation3.33",
    source=Source("dwang20", "equation (3.33)"),
    kind=Kind.UTILITY,
    says="⟨v, x_t-x⟩ from (3.32): the sign of the left side is lost.",
    assumes=losses,
    states=Le(forward, bound33),
    checks=[linear],
)

equation33_corrected = Claim(
    id="dwang20.equation3.33.corrected",
    source=Source("dwang20", "equation (3.33)"),
    kind=Kind.UTILITY,
    says="The same for ⟨v, x-x_t⟩.",
    assumes=losses,
    states=Le(backward, bound33),
    corrects="dwang20.equation3.33",
    checks=[Adds(v * (x - x_t), steps_in, {"(3.32) over θ": smooth_step / theta})],
)

equation34 = Claim(
    id="dwang20.equation3.34",
    source=Source("dwang20", "equation (3.34)"),
    kind=Kind.UTILITY,
    says="(3.33) with (3.29), with the same sign.",
    assumes=[*losses, *fits],
    states=Le(forward, bound34),
    checks=[linear],
)

room = (1 / eta - L_s * theta - L_s * theta / (1 - theta)) / 2 * (x_t - x) ** 2

equation34_corrected = Claim(
    id="dwang20.equation3.34.corrected",
    source=Source("dwang20", "equation (3.34)"),
    kind=Kind.UTILITY,
    says="The same for ⟨v, x-x_t⟩.",
    assumes=[*losses, *fits],
    states=Le(backward, bound34),
    corrects="dwang20.equation3.34",
    checks=[Adds(v * (x - x_t), steps_in, {"(3.32) over θ": smooth_step / theta, "(3.29)": room})],
)

moved = (away**2 + eta**2 * d * sigma_n**2) / (1 + eta * mu) ** 2  # E‖x_t-u‖² for F = 0, r = μ/2·‖x‖², u = x̃ = 0

equation35 = Claim(
    id="dwang20.equation3.35",
    source=Source("dwang20", "equation (3.35), on F = 0 and r = μ/2·‖x‖² with u = x̃ = 0"),
    kind=Kind.UTILITY,
    says="(3.35), printed without the noise: (1+2ημ)·E‖x_t-u‖² ≤ ‖x-u‖²; e, b stand for the two distances.",
    assumes=[Setting("r μ-strongly convex"), *fits],
    states=Le(apart**2, away**2 / (1 + 2 * eta * mu)),
    checks=[
        AtMost(
            moved,
            "x_t is (x - η·noise)/(1+ημ)",
            box={away: (1e-3, 1e-2), theta: (0.1, 0.5), L_s: (0.1, 1), eta: (0.1, 1)},
        )
    ],
)

equation35_corrected = Claim(
    id="dwang20.equation3.35.corrected",
    source=Source("dwang20", "equation (3.35), on F = 0 and r = μ/2·‖x‖² with u = x̃ = 0"),
    kind=Kind.UTILITY,
    says="With the term (1-θ)/(2Lθ)·dσ² that (3.36) has.",
    assumes=[Setting("r μ-strongly convex"), *fits],
    states=Le(apart**2, (away**2 + eta * (1 - theta) / (L_s * theta) * d * sigma_n**2) / (1 + 2 * eta * mu)),
    corrects="dwang20.equation3.35",
    checks=[
        Proof(
            [
                Less("(1+2ημ) ≤ (1+ημ)², which divides E‖x_t-u‖²", 1 + 2 * eta * mu, (1 + eta * mu) ** 2),
                Less(
                    "and η² ≤ η(1-θ)/(Lθ) where (3.29) holds: η ≤ (1-θ)/(Lθ(2-θ))",
                    (1 - theta) / (L_s * theta * (2 - theta)), (1 - theta) / (L_s * theta), {theta: 1 / (1 + more)},
                ),
            ]
        )
    ],
)

equation36 = Claim(
    id="dwang20.equation3.36",
    source=Source("dwang20", "equation (3.36), where all points rest at u and F is constant"),
    kind=Kind.UTILITY,
    says="(3.36), printed with F(u) for F(u)+r(u): at rest r(u) would be at most the noise term.",
    assumes=fits,
    states=Le(r_rest, (1 - theta) / (2 * L_s * theta) * d * sigma_n**2),
    checks=[
        AtMost(
            r_rest,
            "a constant regulariser",
            box={sigma_n: (1e-3, 1e-2), theta: (0.1, 0.5), L_s: (0.1, 1), eta: (0.1, 1)},
        )
    ],
)

equation37 = Claim(
    id="dwang20.equation3.37",
    source=Source("dwang20", "equation (3.37); it is (3.36) with F(u)+r(u)"),
    kind=Kind.UTILITY,
    says="One step: excess risks over u at the next y (g⁺) and at x̃ (g̃), distances of x_t (e) and x (b) from u.",
    assumes=[*losses, Setting("r μ-strongly convex"), *fits],
    states=Le(
        gap_next / theta,
        (1 - theta) / theta * gap_snap + away**2 / (2 * eta) - (1 + eta * mu) / (2 * eta) * apart**2
        + (1 - theta) / (2 * L_s * theta) * d * sigma_n**2,
    ),
    corrects="dwang20.equation3.36",
    cites=[Cites("dwang20.lemma3.1.1"), Cites("dwang20.lemma3.1.3.strongly_convex")],
    checks=[
        Adds(
            (F_t + r_y - F_u - r_u) / theta,
            {gap_snap: F_s + r_s - F_u - r_u, away: x - u, apart: x_t - u},
            {
                "F is convex, at y": F_u - F_y - p * (u - y),
                "(3.32) over θ": smooth_step / theta,
                "r is μ-strongly convex, at x_t": r_u - r_t - ((x - x_t) / eta - v) * (u - x_t)
                - mu / 2 * (u - x_t) ** 2,
                "r is convex, at the next y": (theta * r_t + (1 - theta) * r_s - r_y) / theta,
                "Lemma 3.1.1": (1 - theta) / (2 * L_s * theta)
                * (2 * L_s * (F_s - F_y - p * (s - y)) + d * sigma_n**2 - V),
                "Young": (1 - theta) / (2 * L_s * theta) * V + L_s * theta / (2 * (1 - theta)) * (x_t - x) ** 2
                - (p - v) * (x_t - x),
                "(3.29)": room,
                "of mean 0": -(p - v) * (x - u),
            },
        )
    ],
)
