"""The exponential mechanism on a net (dwang20, section 4.2.2, Theorems 4.2.4 and 4.2.12): pure privacy, in time that
is exponential in d. Every minimiser of the regularised risk lies in a ball of radius L/λ, of which a net is searched.

The failure probability, printed β, is γ of the table; ‖w₀‖ = 0. Solver: dpcheck/solvers/nonconvex/expmech_net_erm.py.
"""

from sympy import Eq, Le, Min, Rational, Symbol, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.language.symbols import L, d, eps, gamma, likely_excess_risk, n, quantity, ridge, run_time, x_tail
from dpcheck.bounds.library.mechanisms import exponential
from dpcheck.bounds.library.nonconvex.dp_fw_l1 import eps0, points, score_gap
from dpcheck.bounds.library.nonconvex.langevin import inward, regular, ridged, size
from dpcheck.bounds.library.nonconvex.stationarity import miss
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost

mesh = quantity("mesh", "how near a net comes to every point of its ball", parameter=1, printed="α", latex=r"\alpha")
star = quantity("star", "norm of a minimiser of the regularised risk", parameter=1, printed="‖w*‖", latex=r"\|w^*\|")
net_gap = quantity(
    "net_gap", "least risk on the net less the least of all", loss=1, printed="min over N - min", latex=r"\Delta_N"
)
gumbel = exponential.gumbel
pulled, pulled_other, steep, gone = symbols("g h s y", nonnegative=True)
copies = Symbol("s", positive=True)
radius = L / ridge
ON_NET = Setting("w drawn from an α-net of the ball of radius L/λ, by the exponential mechanism")

lemma3 = again(exponential.lemma3, "dwang20.lemma4.2.3", "Lemma 4.2.3", 3557)

# The net -------------------------------------------------------------------------------------------
ball = Claim(
    id="dwang20.theorem4.2.4.ball", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 4.2.4, first lines", line=3563),
    says="The ball that holds every minimiser; squared.",
    assumes=regular,
    states=Le(star**2, radius**2),
    checks=[
        Chain(
            star**2,
            Step("<=", radius**2 + 2 / ridge * inward,
                 because=Slack(cited=[(2 / ridge, Cites("dwang20.theorem4.2.2.dissipative", {size: star}))])),
            Step("=", radius**2, because=Premise("∇F(w*) = 0")),
            Step("=", STATEMENT),
        )
    ],
)

size_of_net = Claim(
    id="dwang20.theorem4.2.4.net", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 4.2.4, the volume argument", line=3567),
    says="Points of an α-net of that ball: as many as fit α apart are enough.",
    assumes=regular,
    states=Le(points, (1 + 2 * L / (ridge * mesh)) ** d),
    checks=[
        AtMost(
            (radius + mesh / 2) ** d / (mesh / 2) ** d,
            "balls of radius α/2 around points α apart are disjoint, and in one of radius L/λ+α/2: volumes",
            exact=False,
        )
    ],
)

best_of_net = Claim(
    id="dwang20.theorem4.2.4.near", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 4.2.4, the net's best point; O() hides the constant", line=3569),
    says="How far the best point of the net is above the minimum.",
    assumes=regular,
    states=Le(net_gap, 2 * L * mesh),
    provenance=Provenance.READING,
    checks=[
        Chain(
            net_gap,
            Step("<=", steep * mesh, because=Slack({
                "s is the steepest F between w* and the point of the net next to it": steep * gone - net_gap,
                "which is within α": steep * (mesh - gone)})),
            Step("<=", STATEMENT, because=Slack({"‖∇F‖ ≤ L + λ‖w‖ ≤ 2L there (Lipschitz)": (2 * L - steep) * mesh}),
                 uses=[ridged]),
        )
    ],
)

# Privacy -------------------------------------------------------------------------------------------
sensitivity = Claim(
    id="dwang20.theorem4.2.4.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 4.2.4, the sensitivity; O() hides the constant; w₀ = 0", line=3571),
    says="How far a replaced record moves the score of a point, less that of w₀.",
    assumes=regular,
    states=Le(score_gap, 2 * L**2 / (ridge * n)),
    provenance=Provenance.READING,
    checks=[
        Chain(
            score_gap,
            Step("<=", (pulled + pulled_other) / n, because=Premise("one record's ℓ(w)-ℓ(0) gives way to another's")),
            Step("<=", STATEMENT, because=Slack({
                "|ℓ(w,z)-ℓ(0,z)| ≤ L‖w‖ ≤ L²/λ (Lipschitz)": (L * radius - pulled) / n,
                "|ℓ(w,z')-ℓ(0,z')| ≤ L²/λ (Lipschitz)": (L * radius - pulled_other) / n,
            }), uses=[ridged]),
        )
    ],
)

released = Release(sensitivity.formula, Selected(gumbel))

privacy = Claim(
    id="dwang20.theorem4.2.4.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 4.2.4: there is an ε-private algorithm, that of its proof", line=3265),
    says="Points of the net with probabilities proportional to e^(u/s), s = 4L²/(λnε), are ε-private.",
    assumes=regular,
    states=Eq(gumbel, 4 * L**2 / (ridge * n * eps)),
    guarantee=PureDP(eps),
    provenance=Provenance.READING,
    checks=[
        AtMost(2 * sensitivity.formula / gumbel, "a weight and the sum of all change by e^(Δu/s) at most", against=eps)
    ],
)

# Utility -------------------------------------------------------------------------------------------
explicit = Claim(
    id="dwang20.theorem4.2.4.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 4.2.4, the two errors together, with constants", line=3573),
    says="The excess risk of a draw from the net, but for a probability γ.",
    assumes=[*regular, ON_NET],
    states=Le(
        likely_excess_risk,
        2 * L * mesh + 4 * L**2 / (ridge * n * eps) * (d * log(1 + 2 * L / (ridge * mesh)) + log(1 / gamma)),
    ),
    guarantee=PureDP(eps),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", net_gap + miss, because=Premise("the best of the net, and what a draw falls short of it by"),
                 uses=[ON_NET]),
            Step("<=", because=Cites(best_of_net.id)),
            Step("<=", because=Cites("wangxu19.lemma3", {eps0: eps, x_tail: log(1 / gamma)})),
            Step("<=", because=Cites(size_of_net.id)),
            Step("<=", because=Cites(sensitivity.id)),
            Step("<=", STATEMENT),
        )
    ],
)

units = [Eq(L, 1), Eq(ridge, 1)]
logs = 1 + log((1 + 2 / mesh) / gamma)

general = Claim(
    id="dwang20.section4.2.2.any_net", kind=Kind.UTILITY,
    source=Source("dwang20", "after Theorem 4.2.4; max for +, and the logarithm is what Õ hides", line=3269),
    says="The excess risk with a net of any width.",
    assumes=[*regular, ON_NET],
    added=units,
    states=Rate(likely_excess_risk, (d / (n * eps) + mesh) * logs),
    guarantee=PureDP(eps),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", because=Cites(explicit.id)),
            Step("<=", 4 * STATEMENT, because=Slack(
                {"d ≥ 1": 4 / (n * eps) * (d - 1) * log(1 / gamma)},
                [4 * d / (n * eps), 2 * mesh, 4 * mesh * log(1 + 2 / mesh), 4 * mesh * log(1 / gamma)])),
        )
    ],
)

theorem4 = Claim(
    id="dwang20.theorem4.2.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.4, α = d/(nε); the logarithm is what Õ hides", line=3265),
    says="The excess risk of an ε-private algorithm, but for a probability γ: that of the net, with α = d/(nε).",
    assumes=[*regular, ON_NET, Eq(mesh, d / (n * eps))],
    added=units,
    states=Rate(likely_excess_risk, d / (n * eps) * (1 + log((1 + 2 * n * eps / d) / gamma))),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", because=Cites(explicit.id)),
            Step("<=", 4 * STATEMENT, because=Slack(
                {"d ≥ 1": 4 / (n * eps) * (d - 1) * log(1 / gamma)}, [2 * d / (n * eps)])),
        )
    ],
)

time = Claim(
    id="dwang20.theorem4.2.4.time", kind=Kind.COST,
    source=Source("dwang20", "Theorem 4.2.4, last sentence; also in Theorem 4.2.12", line=3265),
    says="Losses to evaluate, and as many operations if one takes a bounded number.",
    assumes=[*regular, ON_NET, Eq(mesh, d / (n * eps))],
    states=Rate(run_time, (1 + 2 * L * n * eps / (ridge * d)) ** d * n),
    ignores_units=True,
    checks=[
        Chain(
            run_time,
            Step("<=", points * n, because=Premise("every record's loss at every point of the net"), uses=[ON_NET]),
            Step("<=", because=Cites(size_of_net.id)),
            Step("<=", STATEMENT),
        )
    ],
)

# What no algorithm can beat ------------------------------------------------------------------------
within = Min(n, d / (20 * eps))

linear_risk = Setting("for every ε-private algorithm some data; ℓ(w,z) = -⟨w,z⟩ - λ‖w‖²/2 over the unit ball")
large_d = [d >= 28, eps <= d / 20]
lower = Claim(
    id="dwang20.theorem4.2.12.lower", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 4.2.12, first part, r = 1; the regulariser cancels", line=3581),
    says="On some data no ε-private algorithm has less excess risk with a probability above 1/2.",
    assumes=[linear_risk],
    added=large_d,
    states=Rate(likely_excess_risk, Min(1, d / (n * eps)), below=True),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step(">=", (1 - sqrt(3) / 2) * copies / n, because=Premise(
                "e^(d/8) corners v of the cube are 60° apart (Gilbert, Varshamov); s copies of one, and n-s records, "
                "even in number, that cancel, have the risk -s⟨w,v⟩/n; if each v were met within 30° with more than "
                "1/2 on its data, on one of these all would be with e^(-sε)/2 (group privacy), together above 1 where "
                "sε < d/8 - ln 2"), uses=[linear_risk]),
            Step(">=", STATEMENT * Rational(13, 4000), because=Slack(
                {"s = min(n, d/(20ε)) rounded down, or one more to be even or odd as n is: at least half of it, at "
                 "most n, and sε ≤ d/10 < d/8 - ln 2, as d ≥ 28 and ε ≤ d/20":
                    (1 - sqrt(3) / 2) / n * (copies - within / 2),
                 "min(n, d/(20ε))/n ≥ min(1, d/(nε))/20":
                    (1 - sqrt(3) / 2) / 2 * (within / n - Min(1, d / (n * eps)) / 20)},
                [((1 - sqrt(3) / 2) / 40 - Rational(13, 4000)) * Min(1, d / (n * eps))]), uses=large_d),
        )
    ],
)
