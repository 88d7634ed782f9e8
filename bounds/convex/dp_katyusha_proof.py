"""DP-Katyusha: the proof of Theorem 3.1.3 of dwang20, (3.29) to (3.46). The theorem stands in dp_katyusha.py."""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from bounds.claim import Cites, Claim, Kind, Rate, Setting, Source
from bounds.convex.dp_svrg_proof import gap_next
from bounds.convex.variance_reduction import (
    G,
    L_s,
    apart,
    away,
    gap0,
    gap_snap,
    inner,
    kappa,
    losses,
    near,
    sigma_n,
    stated_noise,
    strong,
)
from bounds.coordinates import Adds
from bounds.proofs import AtMost, Equals, Less, Proof, Same
from bounds.symbols import T, c, d, delta, eps, eta, excess_risk, mu, n, quantity

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
)  # fmt: skip

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
)  # fmt: skip

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
)  # fmt: skip

D_0, D_m, D_next = symbols("D_0 D_m D_next", nonnegative=True)
epoch_right = (
    (1 - theta) / theta * weights * gap_snap
    + start**2 / (2 * eta)
    + weights * (1 - theta) / (2 * L_s * theta) * d * sigma_n**2
)

equation39 = Claim(
    id="dwang20.equation3.39",
    source=Source("dwang20", "equations (3.38) and (3.39)"),
    kind=Kind.UTILITY,
    says="One epoch, with W = 1 + w + ... + w^(m-1): g⁺ at the new snapshot, e = ‖x_m-x°‖.",
    assumes=[*losses, Setting("r μ-strongly convex"), *fits],
    states=Le(weights / theta * gap_next + growth**inner / (2 * eta) * apart**2, epoch_right),
    cites=[Cites("dwang20.equation3.37")],
    checks=[
        Proof(
            [
                Same(
                    "w^t times the distances of (3.37) telescope, as w = 1 + ημ",
                    (D_0 - growth**inner * D_m) + (growth**inner * D_m - growth ** (inner + 1) * D_next),
                    D_0 - growth ** (inner + 1) * D_next,
                ),
                Same(
                    "the other terms of (3.37) add up to W times",
                    weights * (1 - theta) / theta,
                    (1 - theta) / theta * weights,
                ),
            ],
            "(3.37) with weights w^t, then Jensen's inequality and Remark 3.1.2",
        )
    ],
)

# F = 0, r = μ/2·x², from x₀ = x̃ = 1: x_t = w^-t, exactly.
w_ = 1 + case1[theta] / inner
W_ = (w_**inner - 1) / (w_ - 1)
snap_ = 1 - case1[theta] + case1[theta] * inner / (w_ * W_)
old_, new_ = ((1 - case1[theta]) / case1[theta] * W_ * mu / 2 * gap_ for gap_ in (1, snap_**2))

equation40 = Claim(
    id="dwang20.equation3.40",
    source=Source("dwang20", "equation (3.40)"),
    kind=Kind.UTILITY,
    says="Case 1, (3.39) times w^-m, printed with w^m/(2η) on the left.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(
        (1 - theta) / theta * weights * gap_next + growth**inner / (2 * eta) * apart**2,
        growth ** (-inner) * epoch_right,
    ),
    checks=[
        AtMost(
            new_ + w_ ** (-inner) / (2 * case1[eta]), "F = 0, r = μ/2·x², no noise: x_t = w^-t", exact=True,
            against=w_ ** (-inner) * (old_ + 1 / (2 * case1[eta])), box={inner: (2, 50), L_s: (1, 100), mu: (0.1, 1)},
        )
    ],
)  # fmt: skip

zeta = Symbol("zeta", nonnegative=True)
decreasing = {zeta: sqrt(3) * extra / (1 + extra)}  # ζ < √3

equation40_corrected = Claim(
    id="dwang20.equation3.40.corrected",
    source=Source("dwang20", "equation (3.40)"),
    kind=Kind.UTILITY,
    says="With 1/(2η).",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le((1 - theta) / theta * weights * gap_next + apart**2 / (2 * eta), growth ** (-inner) * epoch_right),
    corrects="dwang20.equation3.40",
    checks=[
        Proof(
            [
                Less(
                    "log φ(ζ) = log(1-ζ/√3) + m·log(1+ζ/(√3m)) falls: its slope is 1/(√3+ζ/m) - 1/(√3-ζ)",
                    1 / (sqrt(3) + zeta / inner), 1 / (sqrt(3) - zeta), decreasing,
                ),
                Same("from φ(0) = 1", (1 - zeta / sqrt(3)).subs(zeta, 0), Integer(1)),
            ],
            "(1-θ)w^m = φ(√(mμ/L)) ≤ 1, so 1/θ ≥ (1-θ)/θ·w^m",
        )
    ],
)  # fmt: skip

potential = theta / (2 * eta * (1 - theta) * weights)

equation41 = Claim(
    id="dwang20.equation3.41",
    source=Source("dwang20", "equation (3.41)"),
    kind=Kind.UTILITY,
    says="Case 1: the potential shrinks by w^m in an epoch.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(
        gap_next + potential * apart**2,
        growth ** (-inner) * (gap_snap + potential * start**2 + d * sigma_n**2 / (2 * L_s)),
    ),
    cites=[Cites("dwang20.equation3.40.corrected")],
    checks=[
        Proof(
            [
                Same(
                    "the left side of (3.40) corrected, divided",
                    ((1 - theta) / theta * weights * gap_next + apart**2 / (2 * eta)) / ((1 - theta) / theta * weights),
                    gap_next + potential * apart**2,
                ),
                Same(
                    "and the right side",
                    epoch_right / ((1 - theta) / theta * weights),
                    gap_snap + potential * start**2 + d * sigma_n**2 / (2 * L_s),
                ),
            ]
        )
    ],
)

equation42 = Claim(
    id="dwang20.equation3.42",
    source=Source("dwang20", "equation (3.42)"),
    kind=Kind.UTILITY,
    says="All epochs of case 1: T times the noise of one.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(excess_risk, growth ** (-T * inner) * gap0 + potential * start**2 + T / (2 * L_s) * d * sigma_n**2),
    cites=[Cites("dwang20.equation3.41")],
    checks=[
        Proof(
            [
                Less("every w^-ms = 1/ζ is at most 1, so T of them at most T", 1 / zeta, Integer(1), {zeta: 1 + extra}),
            ],
            "(3.41) T times; the second term is printed outside the bracket, where it is larger",
        ),
    ],
)  # fmt: skip

equation43 = Claim(
    id="dwang20.equation3.43",
    source=Source("dwang20", "equation (3.43), second term"),
    kind=Kind.IDENTITY,
    says="The noise of (3.42) with σ² of (3.3), c = 1.",
    states=Eq(excess_risk, T**2 * inner * d * G**2 * log(1 / delta) / (2 * L_s * n**2 * eps**2)),
    checks=[Equals(T / (2 * L_s) * d * unit_noise, "σ² = G²Tm·log(1/δ)/(n²ε²)")],
)

equation44 = Claim(
    id="dwang20.equation3.44",
    source=Source("dwang20", "equation (3.44)"),
    kind=Kind.UTILITY,
    says="Case 2, m = 3/4·L/μ: one epoch.",
    assumes=[*losses, Setting("r μ-strongly convex"), Eq(inner, 3 * kappa / 4)],
    states=Le(
        weights * gap_next + 3 * L_s / 4 * apart**2,
        Rational(2, 3) * (weights * gap_snap + 3 * L_s / 4 * start**2 + weights * d * sigma_n**2 / (2 * L_s)),
    ),
    cites=[Cites("dwang20.equation3.39")],
    checks=[
        Proof(
            [
                Same(
                    "(3.39) at θ = 1/2, η = 2/(3L)", epoch_right.subs(case2),
                    weights * gap_snap + 3 * L_s / 4 * start**2 + weights * d * sigma_n**2 / (2 * L_s),
                ),
                Same("Bernoulli: w^m ≥ 1 + m·2μ/(3L) = 3/2", 1 + 3 * kappa / 4 * 2 * mu / (3 * L_s), Rational(3, 2)),
                Less("w^m ≤ e^(2mμ/(3L)) = √e ≤ 2 = 1/θ", exp(Rational(1, 2)), Integer(2)),
            ],
            "divided by w^m, which lies between 3/2 and 2",
        )
    ],
)  # fmt: skip

equation46 = Claim(
    id="dwang20.equation3.46",
    source=Source("dwang20", "equation (3.46)"),
    kind=Kind.UTILITY,
    says="All epochs of case 2.",
    assumes=[*strong, Setting("m ≤ 2L/μ")],
    states=Rate(excess_risk, Rational(2, 3) ** T * gap0 + d * T * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)),
    cites=[Cites("dwang20.equation3.44")],
    checks=[
        Proof(
            [
                Same(
                    "Φ₀ = g₀ + 3L/(4m)·‖x₀-x°‖² ≤ g₀ + μ·2g₀/μ with m = 3/4·L/μ",
                    gap0 + 3 * L_s / (4 * (3 * kappa / 4)) * (2 / mu * gap0), 3 * gap0,
                ),
                Same("the noise of all epochs: 2/3 + 4/9 + ... = 2", Rational(2, 3) / (1 - Rational(2, 3)), Integer(2)),
                Same(
                    "times dσ²/(2L), with σ² of (3.3), c = 1 and m = 2L/μ",
                    (d * unit_noise / L_s).subs(inner, 2 * kappa),
                    2 * d * T * G**2 * log(1 / delta) / (n**2 * eps**2 * mu),
                ),
            ],
            "hidden constant 3 suffices",
        )
    ],
)  # fmt: skip
