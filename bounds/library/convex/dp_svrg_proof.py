"""DP-SVRG: the proof of Theorem 3.1.2 of dwang20, (3.21) to (3.28). The theorem stands in dp_svrg.py."""

from sympy import Eq, Le, Rational, Symbol, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import T, d, eta, excess_risk, mu, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import (
    L_s,
    apart,
    away,
    gap0,
    gap_snap,
    gap_x,
    inner,
    losses,
    sigma_n,
    strong,
    variance,
)
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

gap_next = quantity("gap_next", "F(x_t) - F(x*) with regularisers", loss=1, printed="g⁺", latex="g^+")
drift = quantity(
    "drift",
    "<v - grad F(x_(t-1)), x_t - x*>",
    loss=1,
    printed="⟨v-∇F,x_t-x°⟩",
    latex=r"\langle v-\nabla F,x_t-x^*\rangle",
)
drift_hat = quantity(
    "drift_hat",
    "<v - grad F(x_(t-1)), x^_t - x*>",
    loss=1,
    printed="⟨v-∇F,x̂_t-x°⟩",
    latex=r"\langle v-\nabla F,\hat x_t-x^*\rangle",
)
slide = quantity("slide", "<g, x_(t-1) - x*>", loss=1, printed="⟨g,x-x°⟩", latex=r"\langle g,x_{t-1}-x^*\rangle")
move = quantity("move", "||g||, g = (x_(t-1) - x_t) / eta", loss=1, parameter=-1, printed="‖g‖", latex=r"\|g\|")
mu_F = quantity("mu_F", "strong convexity of F alone", loss=1, parameter=-2, printed="μ_F", latex=r"\mu_F")
slope_F = quantity("slope_F", "||grad F(x_(t-1))||", loss=1, parameter=-1, printed="‖∇F‖", latex=r"\|\nabla F\|")
slope_v = quantity("slope_v", "||v||, along grad F", loss=1, parameter=-1, printed="‖v‖", latex=r"\|v\|")
hat_gap = quantity("hat_gap", "||x_t - x^_t||", parameter=1, printed="‖x_t-x̂_t‖", latex=r"\|x_t-\hat x_t\|")
pull = quantity(
    "pull",
    "-2η<v - grad F(x_(t-1)), x_t - x*>",
    parameter=2,
    printed="-2η⟨v-∇F,x_t-x°⟩",
    latex=r"-2\eta\langle v-\nabla F,x_t-x^*\rangle",
)
off = quantity("off", "||v - grad F(x_(t-1))||", loss=1, parameter=-1, printed="‖v-∇F‖", latex=r"\|v-\nabla F\|")
extra = Symbol("extra", nonnegative=True)
contraction = 1 / (eta * (1 - 8 * eta * L_s) * mu * inner) + 8 * L_s * eta * (inner + 1) / (inner * (1 - 8 * L_s * eta))
noise_part = 2 * eta / (1 - 8 * L_s * eta) * sigma_n**2 * d

# In coordinates: x is x_(t-1), z is x*, g the step, so that x_t = x - eta g; p is grad F(x), v its noisy estimate.
x, z, g, v, p, x_hat, F_x, F_t, F_z, r_t, r_z = symbols("x z g v p x_hat F_x F_t F_z r_t r_z", real=True)
x_t = x - eta * g
facts = {
    "F is convex": F_z - F_x - p * (z - x) - mu_F / 2 * (z - x) ** 2,
    "F is L-smooth": F_x + p * (x_t - x) + L_s / 2 * (x_t - x) ** 2 - F_t,
    "g - v is a subgradient of r at x_t": r_z - r_t - (g - v) * (z - x_t) - mu / 2 * (z - x_t) ** 2,
    "η ≤ 1/L": eta / 2 * (1 - L_s * eta) * g**2,
}
in_coordinates = {
    slide: g * (x - z), move: g, away: x - z, apart: x_t - z, drift: (v - p) * (x_t - z),
    gap_next: F_t + r_t - F_z - r_z,
}

equation21 = Claim(
    id="dwang20.equation3.21",
    source=Source("dwang20", "equation (3.21)"),
    kind=Kind.IDENTITY,
    says="The distance to x° after a step x_t = x - ηg: e = ‖x_t-x°‖, b = ‖x-x°‖.",
    states=Eq(apart**2, away**2 - 2 * eta * slide + eta**2 * move**2),
    checks=[Adds((x_t - z) ** 2, in_coordinates)],
)

equation22 = Claim(
    id="dwang20.equation3.22",
    source=Source("dwang20", "equation (3.22), quoted from Xiao and Zhang"),
    kind=Kind.UTILITY,
    says="What a proximal step gains, for F μ_F- and r μ-strongly convex.",
    assumes=[*losses, eta <= 1 / L_s],
    states=Le(gap_next, slide - eta / 2 * move**2 - mu_F / 2 * away**2 - mu / 2 * apart**2 - drift),
    checks=[Adds(in_coordinates[gap_next], in_coordinates, facts)],
)

equation23 = Claim(
    id="dwang20.equation3.23",
    source=Source("dwang20", "equation (3.23)"),
    kind=Kind.UTILITY,
    says="The distance after a step, from (3.21) and (3.22).",
    assumes=[*losses, eta <= 1 / L_s],
    states=Le(apart**2, away**2 - 2 * eta * gap_next - 2 * eta * drift),
    checks=[
        Adds(
            (x_t - z) ** 2, in_coordinates,
            {f"2η times: {why}": 2 * eta * fact.subs({mu: 0, mu_F: 0}) for why, fact in facts.items()},
        )
    ],
)

equation24 = Claim(
    id="dwang20.equation3.24",
    source=Source("dwang20", "equation (3.24)"),
    kind=Kind.UTILITY,
    says="The distance of x_t from the step x̂_t with the exact gradient, printed without η before ∇F (v along ∇F).",
    assumes=[slope_v < slope_F, eta * slope_v < slope_F],
    states=Le(hat_gap, slope_F - eta * slope_v),
    ignores_units=True,
    checks=[AtMost(eta * (slope_F - slope_v), "r = 0: x_t and x̂_t are η(∇F - v) apart", box={eta: (1, 10)})],
)

equation24_corrected = Claim(
    id="dwang20.equation3.24.corrected",
    source=Source("dwang20", "equation (3.24)"),
    kind=Kind.UTILITY,
    says="With η before ∇F.",
    assumes=[slope_v < slope_F],
    states=Le(hat_gap, eta * slope_F - eta * slope_v),
    corrects="dwang20.equation3.24",
    cites=[Cites("dwang20.lemma3.1.4")],
    checks=[
        Proof(
            [
                Same(
                    "the two points that are projected are η(∇F - v) apart",
                    (x - eta * v) - (x - eta * p),
                    eta * (p - v),
                )
            ],
            "Lemma 3.1.4: a proximal step does not expand",
        )
    ],
)

equation25 = Claim(
    id="dwang20.equation3.25",
    source=Source("dwang20", "equation (3.25)"),
    kind=Kind.UTILITY,
    says="The noise against x_t, by the noise against x̂_t, which does not depend on it.",
    states=Le(pull, 2 * eta**2 * off**2 - 2 * eta * drift_hat),
    checks=[
        Adds(
            -2 * eta * (v - p) * (x_t - z), {off: v - p, drift_hat: (v - p) * (x_hat - z)},
            {"Cauchy-Schwarz with (3.24) corrected": 2 * eta * (eta * (v - p) ** 2 + (v - p) * (x_t - x_hat))},
        )
    ],
)

# One component L/2 x^2, the others 0, r = 0: exact for every pair of gaps.
spread = 2 * L_s * (1 - 1 / n) * (sqrt(gap_x) + sqrt(gap_snap)) ** 2 + d * sigma_n**2

equation26 = Claim(
    id="dwang20.equation3.26",
    source=Source("dwang20", "equation (3.26)"),
    kind=Kind.UTILITY,
    says="The variance of a step by the excess risks g at x_(t-1) and g̃ at x̃, with 2L.",
    assumes=losses,
    states=Le(variance, 2 * L_s * (gap_x + gap_snap) + d * sigma_n**2),
    cites=[Cites("dwang20.lemma3.1.1")],
    checks=[
        AtMost(
            spread, "one loss L/2·x², the others 0; x and x̃ on opposite sides", box={sigma_n: (1e-3, 1e-2), n: (3, 1e3)}
        )
    ],
)

equation26_corrected = Claim(
    id="dwang20.equation3.26.corrected",
    source=Source("dwang20", "equation (3.26)"),
    kind=Kind.UTILITY,
    says="The same with 4L.",
    assumes=losses,
    states=Le(variance, 4 * L_s * (gap_x + gap_snap) + d * sigma_n**2),
    corrects="dwang20.equation3.26",
    checks=[
        Proof(
            [
                Same(
                    "∇f(x)-∇f(x̃) by way of ∇f(x°): ‖a-b‖² = 2‖a‖² + 2‖b‖² - ‖a+b‖²",
                    (x - z) ** 2, 2 * x**2 + 2 * z**2 - (x + z) ** 2,
                ),
                Same("each ‖∇f(·)-∇f(x°)‖² is at most 2L·D_f, twice", 2 * (2 * L_s * gap_x), 4 * L_s * gap_x),
            ],
            "and D_F(x, x°) ≤ g, since -∇F(x°) is a subgradient of r",
        ),
    ],
)

equation27 = Claim(
    id="dwang20.equation3.27",
    source=Source("dwang20", "equation (3.27)"),
    kind=Kind.UTILITY,
    says="The expected distance after a step, with 16η²L and 4η²σ²d.",
    assumes=[*losses, eta <= 1 / L_s],
    states=Le(
        apart**2, away**2 - 2 * eta * gap_next + 16 * eta**2 * L_s * (gap_x + gap_snap) + 4 * eta**2 * sigma_n**2 * d
    ),
    checks=[
        AtMost(
            away**2 - 2 * eta * gap_next + 2 * eta**2 * equation26_corrected.formula,
            "(3.23), (3.25) and (3.26) corrected", exact=False,
        )
    ],
)

equation28 = Claim(
    id="dwang20.equation3.28",
    source=Source("dwang20", "equation (3.28)"),
    kind=Kind.UTILITY,
    says="One epoch: the excess risk of the new snapshot by that of the old.",
    assumes=[*strong, eta < 1 / (8 * L_s)],
    states=Le(excess_risk, contraction * gap_snap + noise_part),
    checks=[
        Equals(
            (2 / mu * gap_snap + 16 * L_s * eta**2 * (inner + 1) * gap_snap + 4 * inner * eta**2 * sigma_n**2 * d)
            / (2 * inner * eta * (1 - 8 * eta * L_s)),
            "(3.27) summed over m steps from x̃, with b² ≤ 2g̃/μ and Jensen's inequality",
        )
    ],
)

proof = Claim(
    id="dwang20.theorem3.1.2.proof",
    source=Source("dwang20", "proof of Theorem 3.1.2, after (3.28)"),
    kind=Kind.UTILITY,
    says="All epochs together, with A at most 1/2.",
    assumes=[*strong, eta < 1 / (12 * L_s), Setting("(3.5) holds")],
    states=Le(excess_risk, Rational(1, 2) ** T * gap0 + sigma_n**2 * d / L_s),
    checks=[
        Proof(
            [
                Less(
                    "2η/(1-8Lη) ≤ 1/(2L) for η ≤ 1/(12L)",
                    noise_part, sigma_n**2 * d / (2 * L_s), {eta: 1 / (12 * L_s * (1 + extra))},
                ),
                Same("1 + 1/2 + 1/4 + ... ≤ 2", 2 * sigma_n**2 * d / (2 * L_s), sigma_n**2 * d / L_s),
            ]
        )
    ],
)
