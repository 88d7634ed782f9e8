"""DP-Katyusha: the proof of Theorem 3.1.3 of dwang20, (3.29) to (3.46), for the algorithm with noise in line 7.

w = 1 + ημ; W = 1 + w + ... + w^(m-1). In a proof about one step vectors stand in one coordinate, with u at 0. Slips of
the pen that the next display mends have no claim: (3.30) has x for y, (3.33) and (3.34) lose a sign, (3.35) the noise,
(3.36) r(u), (3.40) a factor w^-m.
"""

from collections.abc import Sequence

from sympy import Basic, Eq, Le, Rational, symbols

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import T, d, eta, excess_risk, mu, quantity, t
from dpcheck.bounds.library.convex.variance_reduction import L_s, apart, away, gap_snap, inner, losses, sigma_n
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step

theta = quantity("theta", "weight of x in y = θx + (1-θ)x̃", box=(1e-2, 0.5), below=1.0, printed="θ", latex=r"\theta")
gap_y = quantity("gap_y", "F(y_t) - F(u) with regularisers", loss=1, printed="g(y)", latex="g(y_t)")
gap_new = quantity("gap_new", "F(x~_s) - F(x*) with regularisers", loss=1, printed="g(x̃_s)", latex=r"g(\tilde x_s)")
start = quantity("start", "||x_0 - x*|| at the start of an epoch", parameter=1, printed="‖x₀-x°‖", latex=r"\|x_0-x^*\|")
summed = quantity("summed", "left side of (3.38) after t steps", loss=1, printed="S_t")
summed_next = quantity("summed_next", "left side of (3.38) after t+1 steps", loss=1, printed="S_(t+1)")
potential = quantity("potential", "left side of (3.41), or of (3.44) over W, before an epoch", loss=1, printed="Φ")
potential_next = quantity("potential_next", "the same after the epoch", loss=1, printed="Φ⁺")
potential0 = quantity("potential0", "the same at x_0", loss=1, printed="Φ₀")
weights = quantity("weights", "sum of w^t over an epoch", box=(1, 1e4), printed="W", latex="W")
grown = quantity("grown", "w^m", box=(1, 1e3), printed="wᵐ", latex="w^m")

w = 1 + eta * mu
noise = d * sigma_n**2 / (2 * L_s)
strongly = [*losses, Setting("r μ-strongly convex")]
fits = Le(L_s * theta + L_s * theta / (1 - theta), 1 / eta)  # (3.29)
CASE1 = Setting("case 1: ημm = θ")
case1 = [Eq(eta, 1 / (3 * L_s * theta)), theta <= Rational(1, 2), CASE1]
case2 = Setting("case 2: θ = 1/2, η = 2/(3L), m = 3/4·L/μ")
READING = Provenance.READING


def equation(
    number: str, line: int, says: str, assumes: Sequence[Hypothesis], states: Basic, *steps: Step, place: str = "",
    provenance: Provenance = Provenance.PRINTED,
) -> Claim:
    """A line of the proof, and the chain from its left side."""
    return Claim(
        id=f"dwang20.equation{number}", source=Source("dwang20", place or f"equation ({number})", line=line),
        kind=Kind.UTILITY, says=says, assumes=assumes, states=states, provenance=provenance,
        checks=[Chain(states.lhs, *steps)],
    )


equation29 = equation(
    "3.29", 1090, "η = √(1/(3μmL)) and θ = √(mμ/(3L)) ≤ 1/2 meet the constraint (3.29).", [*losses, *case1], fits,
    Step("<=", 3 * L_s * theta),
    Step("<=", STATEMENT),
    place="equation (3.29) at the parameters of case 1, where 3Lθη = 1",
)

# One step: p is grad F(y), v its noisy estimate, V = E(p-v)^2; s is x~; x_(t-1) and x_t are away and apart, u is 0.
p, v, V, s, F_y, F_u, r_s, r_t, r_y, r_u = symbols("p v V s F_y F_u r_s r_t r_y r_u", real=True)
y, move = theta * away + (1 - theta) * s, apart - away
F_t, F_s = gap_y + F_u + r_u - r_y, gap_snap + F_u + r_u - r_s
share = (1 - theta) / (2 * L_s * theta)
gives_away = Slack(
    given={
        "F is convex, at y": F_u - F_y + p * y,
        "F is L-smooth and y moves by θ(x_t-x), (3.32)":
            (F_y + p * theta * move + L_s / 2 * theta**2 * move**2 - F_t) / theta,
        "r is μ-strongly convex, and x_t a proximal step (Lemma 3.1.3)":
            r_u - r_t - (move / eta + v) * apart - mu / 2 * apart**2,
        "r is convex, at the next y": (theta * r_t + (1 - theta) * r_s - r_y) / theta,
        "Lemma 3.1.1": share * (2 * L_s * (F_s - F_y - p * (s - y)) + d * sigma_n**2 - V),
        "Young": share * V + L_s * theta / (2 * (1 - theta)) * move**2 - (p - v) * move,
        "E v = ∇F(y)": -(p - v) * away,
    },
    seen=[(1 / eta - L_s * theta - L_s * theta / (1 - theta)) / 2 * move**2],  # (3.29)
)
constant = (1 - theta) / theta * gap_snap + share * d * sigma_n**2  # the same in each step

equation37 = equation(
    "3.37", 1165, "One step: g at the next y and at x̃ (g̃) over u, distances of x_t (e) and x_(t-1) (b) from u.",
    [*strongly, fits],
    Le(gap_y / theta, constant + away**2 / (2 * eta) - w / (2 * eta) * apart**2),
    Step("<=", STATEMENT, because=gives_away),
)

# An epoch ------------------------------------------------------------------------------------------
ONE_MORE = Premise("S_t is the sum of w^j·g(y)/θ over t steps and w^t/(2η)·‖x_t-x°‖²")
JENSEN = Premise("Jensen: x̃_s is the mean of the y_t with weights w^t (Remark 3.1.2)")
epoch = weights / theta * gap_new + grown / (2 * eta) * apart**2
epoch_bound = start**2 / (2 * eta) + weights * constant

equation38_step = equation(
    "3.38.step", 1167, "What a step adds to the left side of (3.38).", [*strongly, fits],
    Le(summed_next, summed + w**t * constant),
    Step("=", summed + w**t * (gap_y / theta + w / (2 * eta) * apart**2 - away**2 / (2 * eta)), because=ONE_MORE),
    Step("<=", because=Cites("dwang20.equation3.37")),
    Step("<=", STATEMENT),
    place="before equation (3.38): (3.37) times w^t", provenance=Provenance.CONSEQUENCE,
)

adds_up = OneStep(Cites("dwang20.equation3.38.step", {t: inner}), summed, summed_next)
equation38 = equation(
    "3.38", 1169, "(3.37) with weights w^t, added up over an epoch: S_m; W is written out.", [*strongly, fits],
    Le(summed, start**2 / (2 * eta) + (w**inner - 1) / (eta * mu) * constant),
    Step("<=", STATEMENT, because=Induction(inner, start**2 / (2 * eta), adds_up)),
)

equation39 = equation(
    "3.39", 1177, "One epoch, from x̃ (g̃) to x̃_s, and from x₀ to x_m, which is e away from x°.", [*strongly, fits],
    Le(epoch, epoch_bound),
    Step("<=", summed, because=JENSEN),
    Step("<=", because=Cites("dwang20.equation3.38")),
    Step("=", epoch_bound, because=Premise("1 + w + ... + w^(m-1) = (w^m-1)/(ημ)")),
    Step("<=", STATEMENT),
)

# All epochs: Φ is g(x̃) + weight·‖x₀-x°‖² ------------------------------------------------------------
DEFINED, AT_LEAST = Premise("the definition of Φ"), Premise("Φ ≥ g")
weight1 = theta / (2 * eta * (1 - theta) * weights)
short = {"(1-θ)w^m ≤ e^-θ·e^(ημm) = 1": gap_new * (1 / (grown * (1 - theta)) - 1)}

equation41 = equation(
    "3.41", 1195, "Case 1: Φ = g(x̃) + θ/(2η(1-θ)W)·‖x₀-x°‖² shrinks by w^m in an epoch, but for the noise.",
    [*strongly, *case1],
    Le(potential_next, (potential + noise) / grown),
    Step("=", gap_new + weight1 * apart**2, because=DEFINED),
    Step("<=", theta / (grown * (1 - theta) * weights) * epoch, because=Slack(given=short), uses=[CASE1]),
    Step("<=", because=Cites("dwang20.equation3.39")),
    Step("=", (gap_snap + weight1 * start**2 + noise) / grown),
    Step("=", (potential + noise) / grown, because=DEFINED),
    Step("<=", STATEMENT),
)

equation42 = equation(
    "3.42", 1199, "All epochs of case 1: T times the noise of one.", [*strongly, *case1, grown >= 1],
    Le(excess_risk, grown**-T * potential0 + T * noise),
    Step("<=", potential, because=AT_LEAST),
    Step("<=", STATEMENT, because=Induction(T, potential0, OneStep("dwang20.equation3.41", potential, potential_next))),
    place="equation (3.42), its bracket around all of Φ₀", provenance=READING,
)

at2 = {theta: Rational(1, 2), eta: 2 / (3 * L_s)}
weight2 = 3 * L_s / (4 * weights)
before2 = gap_snap + weight2 * start**2 + noise
long = {"w^m ≤ e^(ημm) = √e ≤ 2": gap_new * (2 / grown - 1)}
bernoulli = {"Bernoulli: w^m ≥ 1 + ημm = 3/2": (Rational(2, 3) - 1 / grown) * before2}

equation44 = equation(
    "3.44", 1211, "Case 2: Φ = g(x̃) + 3L/(4W)·‖x₀-x°‖² shrinks to two thirds in an epoch, but for the noise.",
    [*strongly, case2],
    Le(potential_next, Rational(2, 3) * (potential + noise)),
    Step("=", gap_new + weight2 * apart**2, because=DEFINED),
    Step("<=", epoch.subs(at2) / (grown * weights), because=Slack(given=long)),
    Step("<=", because=Cites("dwang20.equation3.39", at2)),
    Step("<=", Rational(2, 3) * before2, because=Slack(given=bernoulli)),
    Step("=", Rational(2, 3) * (potential + noise), because=DEFINED),
    Step("<=", STATEMENT),
    place="equation (3.44), over W",
)

equation46 = equation(
    "3.46", 1217, "All epochs of case 2: their noise adds up like a geometric series.", [*strongly, case2],
    Le(excess_risk, Rational(2, 3) ** T * potential0 + 2 * noise),
    Step("<=", potential, because=AT_LEAST),
    Step("<=", STATEMENT, because=Induction(T, potential0, OneStep("dwang20.equation3.44", potential, potential_next))),
    place="equation (3.46), its constants written out", provenance=READING,
)
