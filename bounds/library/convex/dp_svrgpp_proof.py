"""DP-SVRG++: the proof of Theorem 3.1.5 of dwang20, (3.47) to (3.50). The theorem stands in dp_svrgpp.py."""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, d, delta, distance, eps, eta, excess_risk, n, quantity
from dpcheck.bounds.library.convex.dp_svrg_proof import equation26_corrected, gap_next
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    apart,
    away,
    gap0,
    gap_snap,
    gap_x,
    inner,
    losses,
    sigma_n,
)
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, Less, NoConstant, Proof, Same

gap_begin = quantity("gap_begin", "F(x_0^s) - F(x*) with regularisers", loss=1, printed="g_begin", latex="g_{begin}")
gap_end = quantity("gap_end", "F(x_0^(s+1)) - F(x*) with regularisers", loss=1, printed="g_end", latex="g_{end}")
length = quantity("length", "steps m_s of an epoch", box=(2, 1e6), integer=True, printed="m_s", latex="m_s")

extra = Symbol("extra", nonnegative=True)
big = Symbol("big", positive=True)
composite = [*losses, Setting("r convex")]

# In coordinates: x is x_(t-1), y is x_t, z is x*; p is grad F(x), v its noisy estimate.
x, y, z, p, v, F_x, F_y, F_z, r_y, r_z = symbols("x y z p v F_x F_y F_z r_y r_z", real=True)
back_v = quantity("back_v", "<v, x_(t-1) - x_t>", loss=1, printed="⟨v,x-x_t⟩", latex=r"\langle v,x-x_t\rangle")
to_best = quantity(
    "to_best",
    "<v, x_(t-1) - x*> + r(x_t) - r(x*) in expectation",
    loss=1,
    printed="⟨v,x-x°⟩+Δr",
    latex=r"\langle v,x-x^*\rangle+\Delta r",
)
along = quantity(
    "along", "<grad F(x_(t-1)), x_t - x_(t-1)>", loss=1, printed="⟨∇F,x_t-x⟩", latex=r"\langle\nabla F,x_t-x\rangle"
)
jump = quantity("jump", "||x_t - x_(t-1)||", parameter=1, printed="‖x_t-x‖", latex=r"\|x_t-x\|")

equation47 = Claim(
    id="dwang20.equation3.47",
    source=Source("dwang20", "equation (3.47)"),
    kind=Kind.UTILITY,
    says="The excess risk at x_t, by smoothness, convexity and an unbiased v.",
    assumes=composite,
    states=Le(gap_next, to_best + along + L_s / 2 * jump**2),
    checks=[
        Adds(
            F_y + r_y - F_z - r_z, {to_best: v * (x - z) + r_y - r_z, along: p * (y - x), jump: y - x},
            {
                "F is L-smooth": F_x + p * (y - x) + L_s / 2 * (y - x) ** 2 - F_y,
                "F is convex": F_z - F_x - p * (z - x),
                "of mean 0": (v - p) * (x - z),
            },
        )
    ],
)

equation48 = Claim(
    id="dwang20.equation3.48",
    source=Source("dwang20", "equation (3.48)"),
    kind=Kind.UTILITY,
    says="A proximal step against x°; b and e are ‖x-x°‖ and ‖x_t-x°‖.",
    assumes=[Setting("r convex")],
    states=Le(to_best, back_v + away**2 / (2 * eta) - apart**2 / (2 * eta) - jump**2 / (2 * eta)),
    cites=[Cites("dwang20.lemma3.1.3.convex")],
    checks=[
        Adds(
            v * (x - z) + r_y - r_z, {back_v: v * (x - y), away: x - z, apart: y - z, jump: y - x},
            {"(x-x_t)/η - v is a subgradient of r at x_t": r_z - r_y - ((x - y) / eta - v) * (z - y)},
        )
    ],
)

young = eta / (2 * (1 - eta * L_s))
per_step = 4 * eta * L_s / (1 - eta * L_s) * (gap_x + gap_snap) + eta / (1 - eta * L_s) * d * sigma_n**2

step_bound = Claim(
    id="dwang20.theorem3.1.5.step",
    source=Source("dwang20", "proof of Theorem 3.1.5, the chain after (3.48)"),
    kind=Kind.UTILITY,
    says="One step: variance at most 8L(g + g̃) + 2σ²d, divided by 2(1-ηL)/η.",
    assumes=[*composite, eta < 1 / L_s],
    states=Le(gap_next, per_step + (away**2 - apart**2) / (2 * eta)),
    checks=[
        Adds(
            (v - p) * (x - y) - (1 - eta * L_s) / (2 * eta) * (x - y) ** 2,
            {gap_x: (v - p) ** 2 / (8 * L_s), gap_snap: 0 * x, sigma_n: 0 * x, away: 0 * x, apart: 0 * x},
            {"Young": ((v - p) * sqrt(young) - (x - y) / (2 * sqrt(young))) ** 2},
        ),
        AtMost(
            young * equation26_corrected.formula + (away**2 - apart**2) / (2 * eta),
            "with (3.26) corrected, which is half as large", {eta: 1 / (L_s * (1 + extra))}, exact=False,
        ),
    ],
)

third = {eta: 1 / (13 * L_s)}

constants13 = Claim(
    id="dwang20.theorem3.1.5.constants",
    source=Source("dwang20", "proof of Theorem 3.1.5, η = 1/(13L)"),
    kind=Kind.IDENTITY,
    says="The step above at η = 1/(13L): a third of the excess risks and σ²d/(12L).",
    states=Eq(excess_risk, (gap_x + gap_snap) / 3 + d * sigma_n**2 / (12 * L_s)),
    checks=[Equals(per_step.subs(third), "4ηL/(1-ηL) and η/(1-ηL)")],
)

epoch49 = (
    (gap_begin - gap_end) / length
    + gap_snap
    + 3 * (away**2 - apart**2) / (2 * eta * length)
    + d * sigma_n**2 / (4 * L_s)
)
total = Symbol("total", real=True)

equation49 = Claim(
    id="dwang20.equation3.49",
    source=Source("dwang20", "equation (3.49)"),
    kind=Kind.UTILITY,
    says="One epoch from x₀ to x₀': twice the excess risk of its mean; b, e are the distances of x₀ and x₀' from x°.",
    assumes=[*composite, Eq(eta, 1 / (13 * L_s))],
    states=Le(2 * excess_risk, epoch49),
    checks=[
        Proof(
            [
                Same(
                    "3 times the mean over 1..m less the mean over 0..m-1: 2 times the mean plus (g_end - g_begin)/m",
                    3 * total / length - (total + gap_begin - gap_end) / length,
                    2 * total / length + (gap_end - gap_begin) / length,
                ),
                Same("3 times σ²d/(12L)", 3 * d * sigma_n**2 / (12 * L_s), d * sigma_n**2 / (4 * L_s)),
                Same(
                    "3 times the distances",
                    3 * (away**2 - apart**2) / (2 * eta * length),
                    (away**2 - apart**2) / (2 * eta / 3 * length),
                ),
            ],
            "the mean of the steps times 3, then Jensen's inequality",
        )
    ],
)


def phi(snapshot, reach, excess, steps):  # type: ignore[no-untyped-def]
    """The potential: g̃ + 3/(4ηm)·‖x₀-x°‖² + g/(2m)."""
    return snapshot + 3 * reach**2 / (4 * eta * steps) + excess / (2 * steps)


equation50 = Claim(
    id="dwang20.equation3.50",
    source=Source("dwang20", "equation (3.50)"),
    kind=Kind.UTILITY,
    says="The potential halves in an epoch, up to σ²d/(8L); m_s is twice m_(s-1).",
    assumes=[*composite, Eq(eta, 1 / (13 * L_s))],
    states=Le(
        2 * phi(excess_risk, apart, gap_end, length),
        phi(gap_snap, away, gap_begin, length / 2) + d * sigma_n**2 / (4 * L_s),
    ),
    cites=[Cites("dwang20.equation3.49")],
    checks=[
        Proof(
            [
                Same(
                    "(3.49) with all that concerns the end on the left",
                    epoch49 + 2 * (3 * apart**2 / (4 * eta * length) + gap_end / (2 * length)),
                    phi(gap_snap, away, gap_begin, length / 2) + d * sigma_n**2 / (4 * L_s),
                )
            ]
        )
    ],
)

summed = Claim(
    id="dwang20.theorem3.1.5.proof",
    source=Source("dwang20", "proof of Theorem 3.1.5, after (3.50)"),
    kind=Kind.UTILITY,
    says="All epochs together, for every T and m.",
    assumes=[*composite, Eq(eta, 1 / (13 * L_s))],
    states=Le(excess_risk, 2 * gap0 / 2**T + 3 * distance**2 / (2**T * 4 * eta * inner) + d * sigma_n**2 / (4 * L_s)),
    cites=[Cites("dwang20.equation3.50")],
    checks=[
        Proof(
            [
                Less(
                    "(1 + 1/(2m))·g₀ ≤ 2g₀ in Φ₀, whose m₀ is m", phi(gap0, distance, gap0, inner),
                    2 * gap0 + 3 * distance**2 / (4 * eta * inner), {inner: 1 + extra},
                ),
                Same("the noise: 1/8 + 1/16 + ... = 1/4", Rational(1, 8) / (1 - Rational(1, 2)), Rational(1, 4)),
            ]
        )
    ],
)

chosen = Claim(
    id="dwang20.theorem3.1.5.epochs",
    source=Source("dwang20", "proof of Theorem 3.1.5, the choice of T"),
    kind=Kind.UTILITY,
    says="With 2^T = nε/(G√d·√(1/δ)), as the proof prints it, the first term is of the order (3.8); A = 1.",
    assumes=composite,
    states=Rate(excess_risk, G * sqrt(d * log(1 / delta)) / (n * eps)),
    ignores_units=True,
    checks=[
        NoConstant(
            G * sqrt(d) * sqrt(1 / delta) / (n * eps), {delta: 1 / big, n: 10, d: 1, eps: 1, G: 1}, big,
            "A/2^T is G√d·√(1/δ)/(nε): √(1/δ) for √(log(1/δ))",
        )
    ],
)

chosen_corrected = Claim(
    id="dwang20.theorem3.1.5.epochs.corrected",
    source=Source("dwang20", "Theorem 3.1.5, the choice of T"),
    kind=Kind.UTILITY,
    says="With √(log(1/δ)), as in the theorem; A = 1.",
    assumes=composite,
    states=Rate(excess_risk, G * sqrt(d * log(1 / delta)) / (n * eps)),
    corrects="dwang20.theorem3.1.5.epochs",
    ignores_units=True,
    checks=[Follows(G * sqrt(d * log(1 / delta)) / (n * eps), Integer(1), "A/2^T at 2^T = nε/(G√(d·log(1/δ)))")],
)
