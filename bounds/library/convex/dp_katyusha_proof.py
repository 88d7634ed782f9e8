"""DP-Katyusha: the proof of Theorem 3.1.3 of dwang20, (3.29) to (3.46), for the algorithm with noise in line 7.

w = 1 + ημ; W = 1 + w + ... + w^(m-1). In a proof about one step vectors stand in one coordinate, with u at 0. Slips of
the pen that the next display mends have no claim: (3.30) has x for y, (3.33) and (3.34) lose a sign, (3.35) the noise,
(3.36) r(u), (3.40) a factor w^-m.
"""

from sympy import Eq, Le, Rational, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import T, d, eta, excess_risk, mu, quantity, t
from dpcheck.bounds.library.convex.variance_reduction import L_s, apart, away, gap_snap, inner, losses, sigma_n
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step

theta = quantity("theta", "weight of x in y = θx + (1-θ)x̃", box=(1e-2, 0.5), below=1.0, printed="θ", latex=r"\theta")
gap_y = quantity("gap_y", "F(y_t) - F(u) with regularisers", loss=1, printed="g(y)", latex="g(y_t)")
gap_new = quantity("gap_new", "F(x~_s) - F(x*) with regularisers", loss=1, printed="g(x̃_s)", latex=r"g(\tilde x_s)")
start = quantity("start", "||x_0 - x*|| at the start of an epoch", parameter=1, printed="‖x₀-x°‖", latex=r"\|x_0-x^*\|")
summed, summed_next = (
    quantity(name, f"the left side of (3.38) after {when}", loss=1, printed=printed)
    for name, when, printed in (("summed", "t steps", "S_t"), ("summed_next", "t+1 steps", "S_(t+1)"))
)
potential, potential_next, potential0 = (
    quantity(name, f"left side of (3.41), or of (3.44) over W, {when}", loss=1, printed=printed)
    for name, when, printed in (
        ("potential", "before an epoch", "Φ"), ("potential_next", "after it", "Φ⁺"), ("potential0", "at x₀", "Φ₀"),
    )
)  # fmt: skip
weights = quantity("weights", "sum of w^t over an epoch", box=(1, 1e4), printed="W", latex="W")
grown = quantity("grown", "w^m", box=(1, 1e3), printed="wᵐ", latex="w^m")

w = 1 + eta * mu
strongly = [*losses, Setting("r μ-strongly convex")]
fits = Le(L_s * theta + L_s * theta / (1 - theta), 1 / eta)  # (3.29)
noise = d * sigma_n**2 / (2 * L_s)
case1 = [Eq(eta, 1 / (3 * L_s * theta)), theta <= Rational(1, 2), Setting("case 1: ημm = θ")]
CASE2 = Setting("case 2: θ = 1/2, η = 2/(3L), m = 3/4·L/μ")
DEFINED = Premise("the definition of Φ")

equation29 = Claim(
    id="dwang20.equation3.29",
    source=Source("dwang20", "equation (3.29) at the parameters of case 1, where 3Lθη = 1", line=1090),
    kind=Kind.UTILITY,
    says="η = √(1/(3μmL)) and θ = √(mμ/(3L)) ≤ 1/2 meet the constraint (3.29).",
    assumes=case1,
    states=fits,
    checks=[
        Chain(L_s * theta + L_s * theta / (1 - theta), Step("<=", 3 * L_s * theta), Step("=", STATEMENT)),
    ],
)

# p is grad F(y), v its noisy estimate, V = E(p-v)^2; s is x~; x_(t-1) and x_t are away and apart, u is 0.
p, v, V, s, F_y, F_u, r_s, r_t, r_y, r_u = symbols("p v V s F_y F_u r_s r_t r_y r_u", real=True)
y, move = theta * away + (1 - theta) * s, apart - away
F_t, F_s = gap_y + F_u + r_u - r_y, gap_snap + F_u + r_u - r_s
share = (1 - theta) / (2 * L_s * theta)

equation37 = Claim(
    id="dwang20.equation3.37",
    source=Source("dwang20", "equation (3.37)", line=1165),
    kind=Kind.UTILITY,
    says="One step: excess risks over u at the next y and at x̃ (g̃), distances of x_t (e) and x_(t-1) (b) from u.",
    assumes=[*strongly, fits],
    states=Le(
        gap_y / theta,
        (1 - theta) / theta * gap_snap + away**2 / (2 * eta) - w / (2 * eta) * apart**2 + share * d * sigma_n**2,
    ),
    checks=[
        Chain(
            gap_y / theta,
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    given={
                        "F is convex, at y": F_u - F_y + p * y,
                        "F is L-smooth and y moves by θ(x_t-x), (3.32)": (
                            F_y + p * theta * move + L_s / 2 * theta**2 * move**2 - F_t
                        ) / theta,
                        "r is μ-strongly convex, and x_t a proximal step (Lemma 3.1.3)": r_u - r_t
                        - (move / eta + v) * apart - mu / 2 * apart**2,
                        "r is convex, at the next y": (theta * r_t + (1 - theta) * r_s - r_y) / theta,
                        "Lemma 3.1.1": share * (2 * L_s * (F_s - F_y - p * (s - y)) + d * sigma_n**2 - V),
                        "Young": share * V + L_s * theta / (2 * (1 - theta)) * move**2 - (p - v) * move,
                        "(3.29)": (1 / eta - L_s * theta - L_s * theta / (1 - theta)) / 2 * move**2,
                        "E v = ∇F(y)": -(p - v) * away,
                    }
                ),
            ),
        )
    ],
)  # fmt: skip

constant = (1 - theta) / theta * gap_snap + share * d * sigma_n**2  # of (3.37), the same in each step

equation38_step = Claim(
    id="dwang20.equation3.38.step",
    source=Source("dwang20", "before equation (3.38): (3.37) times w^t", line=1167),
    kind=Kind.UTILITY,
    says="What a step adds to the left side of (3.38).",
    assumes=[*strongly, fits],
    states=Le(summed_next, summed + w**t * constant),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            summed_next,
            Step(
                "=", summed + w**t * (gap_y / theta + w / (2 * eta) * apart**2 - away**2 / (2 * eta)),
                because=Premise("S_t is the sum of w^j·g(y)/θ over t steps and w^t/(2η)·‖x_t-x°‖²"),
            ),
            Step("<=", because=Cites("dwang20.equation3.37")),
            Step("=", STATEMENT),
        )
    ],
)  # fmt: skip

equation38 = Claim(
    id="dwang20.equation3.38",
    source=Source("dwang20", "equation (3.38)", line=1169),
    kind=Kind.UTILITY,
    says="(3.37) with weights w^t, added up over an epoch: S_m; W is written out.",
    assumes=[*strongly, fits],
    states=Le(summed, start**2 / (2 * eta) + (w**inner - 1) / (eta * mu) * constant),
    checks=[
        Chain(
            summed,
            Step(
                "<=",
                STATEMENT,
                because=Induction(
                    inner, start**2 / (2 * eta),
                    OneStep(Cites("dwang20.equation3.38.step", {t: inner}), summed, summed_next),
                ),
            ),
        )
    ],
)  # fmt: skip

epoch = weights / theta * gap_new + grown / (2 * eta) * apart**2
epoch_bound = start**2 / (2 * eta) + weights * constant

equation39 = Claim(
    id="dwang20.equation3.39",
    source=Source("dwang20", "equation (3.39)", line=1177),
    kind=Kind.UTILITY,
    says="One epoch, from x̃ (g̃) to x̃_s, and from x₀ to x_m, which is e away from x°.",
    assumes=[*strongly, fits],
    states=Le(epoch, epoch_bound),
    checks=[
        Chain(
            epoch,
            Step("<=", summed, because=Premise("Jensen: x̃_s is the mean of the y_t with weights w^t (Remark 3.1.2)")),
            Step("<=", because=Cites("dwang20.equation3.38")),
            Step("=", epoch_bound, because=Premise("1 + w + ... + w^(m-1) = (w^m-1)/(ημ)")),
            Step("<=", STATEMENT),
        )
    ],
)

# Case 1, n ≤ L/μ: 3Lθη = 1 and ημm = θ; Φ is g(x̃) + weight·‖x₀-x°‖².
weight1 = theta / (2 * eta * (1 - theta) * weights)

equation41 = Claim(
    id="dwang20.equation3.41",
    source=Source("dwang20", "equation (3.41)", line=1195),
    kind=Kind.UTILITY,
    says="Case 1: the potential Φ = g(x̃) + θ/(2η(1-θ)W)·‖x₀-x°‖² shrinks by w^m in an epoch, but for the noise.",
    assumes=[*strongly, *case1],
    states=Le(potential_next, (potential + noise) / grown),
    checks=[
        Chain(
            potential_next,
            Step("=", gap_new + weight1 * apart**2, because=DEFINED),
            Step(
                "<=", theta / (grown * (1 - theta) * weights) * epoch,
                because=Slack(given={"(1-θ)w^m ≤ e^-θ·e^(ημm) = 1": gap_new * (1 / (grown * (1 - theta)) - 1)}),
            ),
            Step("<=", because=Cites("dwang20.equation3.39")),
            Step("=", (gap_snap + weight1 * start**2 + noise) / grown),
            Step("=", (potential + noise) / grown, because=DEFINED),
            Step("<=", STATEMENT),
        )
    ],
)  # fmt: skip

equation42 = Claim(
    id="dwang20.equation3.42",
    source=Source("dwang20", "equation (3.42), its bracket around all of Φ₀", line=1199),
    kind=Kind.UTILITY,
    says="All epochs of case 1: T times the noise of one.",
    assumes=[*strongly, *case1],
    added=[grown >= 1],
    states=Le(excess_risk, grown**-T * potential0 + T * noise),
    provenance=Provenance.READING,
    checks=[Chain(excess_risk, Step("<=", potential, because=Premise("Φ ≥ g")), Step("<=", STATEMENT, because=Induction(T, potential0, OneStep("dwang20.equation3.41", potential, potential_next))))],
)

# Case 2, n ≥ L/μ: θ = 1/2, η = 2/(3L), m = 3/4·L/μ.
at2 = {theta: Rational(1, 2), eta: 2 / (3 * L_s)}
weight2 = 3 * L_s / (4 * weights)
before2 = gap_snap + weight2 * start**2 + noise

equation44 = Claim(
    id="dwang20.equation3.44",
    source=Source("dwang20", "equation (3.44), over W", line=1211),
    kind=Kind.UTILITY,
    says="Case 2: the potential Φ = g(x̃) + 3L/(4W)·‖x₀-x°‖² shrinks to two thirds in an epoch, but for the noise.",
    assumes=[*strongly, CASE2],
    states=Le(potential_next, Rational(2, 3) * (potential + noise)),
    checks=[
        Chain(
            potential_next,
            Step("=", gap_new + weight2 * apart**2, because=DEFINED),
            Step(
                "<=", epoch.subs(at2) / (grown * weights),
                because=Slack(given={"w^m ≤ e^(ημm) = √e ≤ 2": gap_new * (2 / grown - 1)}),
            ),
            Step("<=", because=Cites("dwang20.equation3.39", at2)),
            Step(
                "<=", Rational(2, 3) * before2,
                because=Slack(given={"Bernoulli: w^m ≥ 1 + ημm = 3/2": (Rational(2, 3) - 1 / grown) * before2}),
            ),
            Step("=", Rational(2, 3) * (potential + noise), because=DEFINED),
            Step("<=", STATEMENT),
        )
    ],
)  # fmt: skip

equation46 = Claim(
    id="dwang20.equation3.46",
    source=Source("dwang20", "equation (3.46), its constants written out", line=1217),
    kind=Kind.UTILITY,
    says="All epochs of case 2: their noise adds up like a geometric series.",
    assumes=[*strongly, CASE2],
    states=Le(excess_risk, Rational(2, 3) ** T * potential0 + 2 * noise),
    provenance=Provenance.READING,
    checks=[Chain(excess_risk, Step("<=", potential, because=Premise("Φ ≥ g")), Step("<=", STATEMENT, because=Induction(T, potential0, OneStep("dwang20.equation3.44", potential, potential_next))))],
)
