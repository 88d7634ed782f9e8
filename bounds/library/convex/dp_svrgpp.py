"""DP-SVRG++ (dwang20, section 3.1.3, Algorithm 3.1.3): epochs that double, for convex losses and regularisers.

Theorems 3.1.4 and 3.1.5 and the proof of the latter, (3.49) and (3.50). One step stands in variance_reduction.py.
Solver: dpcheck/solvers/convex/dp_svrgpp.py.
"""

from dataclasses import replace

from sympy import Eq, Expr, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, distance, eps, eta, excess_risk, gradients, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import (
    R_CONVEX,
    G,
    L_s,
    apart,
    away,
    composite,
    full_gradients,
    gap0,
    gap_next,
    gap_snap,
    gap_x,
    inner,
    losses,
    reduced_gradients,
    sigma_n,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant

gap_begin = quantity("gap_begin", "F(x_0^s) - F(x*) with regularisers", loss=1, printed="g_begin", latex="g_{begin}")
gap_end = quantity("gap_end", "F(x_0^(s+1)) - F(x*) with regularisers", loss=1, printed="g_end", latex="g_{end}")
length = quantity("length", "steps m_s of an epoch", box=(2, 1e6), integer=True, printed="m_s", latex="m_s")
stated_noise = G * sqrt(c * 2**T * inner * log(2 / delta)) / (n * eps)  # (3.7)

# Privacy -------------------------------------------------------------------------------------------
steps = (2 ** (T + 1) - 2) * inner  # 2m + 4m + ... + 2^T m
released = reduced_gradients(steps)

theorem4 = Claim(
    id="dwang20.theorem3.1.4",
    source=Source("dwang20", "Theorem 3.1.4, equation (3.7)", line=725),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-SVRG++ is (ε, δ)-private for all ε ≤ c₁·2^T·m/n².",
    assumes=[*losses, eps <= c1 * 2**T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    checks=[
        Accountant(
            full_gradients(Rational(3, 4) * steps),
            "linear losses, of which the output keeps ¾ of the full gradients at least, as for Theorem 3.1.1",
            box={n: (100, 100)},
        )
    ],
)

theorem4_corrected = Claim(
    id="dwang20.theorem3.1.4.corrected",
    source=Source("dwang20", "Theorem 3.1.4", line=725),
    kind=Kind.PRIVACY,
    says="With c = 144 and c₁ = 1, for ε at most 1: the noisy steps number (2^(T+1)-2)·m.",
    assumes=[*losses, eps <= 1, eps <= 2**T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 144)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.4",
    checks=[
        Accountant(
            released, "two dimensions or more, all noisy gradients seen", box={T: (1.0, 12.0), inner: (1.0, 1e4)}
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
at13 = [*composite, Eq(eta, 1 / (13 * L_s))]
mean_gap = Symbol("mean_gap", positive=True)
over_an_epoch = {  # one step, read for the means over an epoch: see dp_svrg_proof.py
    gap_next: mean_gap,
    gap_x: mean_gap + (gap_begin - gap_end) / length,
    away: away / sqrt(length),
    apart: apart / sqrt(length),
}

equation49 = Claim(
    id="dwang20.equation3.49",
    source=Source("dwang20", "equation (3.49)", line=1255),
    kind=Kind.UTILITY,
    says="One epoch from x₀ to x₀': twice the excess risk of its mean; b, e are the distances of x₀ and x₀' from x°.",
    assumes=at13,
    states=Le(
        2 * excess_risk,
        (gap_begin - gap_end) / length + gap_snap + 3 * (away**2 - apart**2) / (2 * eta * length)
        + d * sigma_n**2 / (4 * L_s),
    ),
    checks=[
        Chain(
            2 * excess_risk,
            Step("<=", 2 * mean_gap, because=Premise("Jensen: the snapshot is the mean of the iterates")),
            Step("<=", STATEMENT, because=Slack(cited=[(3, Cites("dwang20.theorem3.1.5.step", over_an_epoch))])),
        )
    ],
)


def potential(risk: Expr, reach: Expr, excess: Expr, steps: Expr) -> Expr:
    """g̃ + 3/(4ηm)·‖x₀-x°‖² + g/(2m)."""
    return risk + 3 * reach**2 / (4 * eta * steps) + excess / (2 * steps)


before = potential(gap_snap, away, gap_begin, length / 2)

equation50 = Claim(
    id="dwang20.equation3.50",
    source=Source("dwang20", "equation (3.50)", line=1259),
    kind=Kind.UTILITY,
    says="The potential halves in an epoch, up to σ²d/(8L); m_s is twice m_(s-1).",
    assumes=at13,
    states=Le(2 * potential(excess_risk, apart, gap_end, length), before + d * sigma_n**2 / (4 * L_s)),
    checks=[
        Chain(
            2 * potential(excess_risk, apart, gap_end, length),
            Step("<=", STATEMENT, because=Slack(cited=[(1, Cites("dwang20.equation3.49"))])),
        )
    ],
)

start = potential(gap0, distance, gap0, inner)  # of the zeroth epoch, whose m_0 is m
last = Symbol("last", positive=True)  # the potential after T epochs

summed = Claim(
    id="dwang20.theorem3.1.5.proof",
    source=Source("dwang20", "proof of Theorem 3.1.5, after (3.50)", line=1263),
    kind=Kind.UTILITY,
    says="All epochs together, for every T and m.",
    assumes=at13,
    states=Le(
        excess_risk, gap0 / 2 ** (T - 1) + 3 * distance**2 / (2**T * 4 * eta * inner) + d * sigma_n**2 / (4 * L_s)
    ),
    cites=[Cites("dwang20.equation3.50")],
    checks=[
        Chain(
            excess_risk,
            Step("<=", last, because=Premise("the potential is the risk and terms ≥ 0")),
            Step(
                "<=",
                start / 2**T + d * sigma_n**2 / (4 * L_s),
                uses=[R_CONVEX],
                because=Induction(
                    T, start=start, step=lambda now: (now + equation50.formula - before) / 2, given="(3.50), halved"
                ),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

powers = n * eps / (G * sqrt(d))  # 2^T, logarithms apart
chosen = [Eq(T, log(powers / sqrt(log(1 / delta))) / log(2)), Eq(inner, L_s)]  # T as in the theorem, m = Θ(L)

theorem5 = Claim(
    id="dwang20.theorem3.1.5",
    source=Source("dwang20", "Theorem 3.1.5, equation (3.8), the noise of (3.7) with c = 1", line=729),
    kind=Kind.UTILITY,
    says="Excess risk of DP-SVRG++ after T = O(log(nε/(G√(d·log(1/δ))))) epochs, m = Θ(L), the start's A a constant.",
    assumes=[*at13, Eq(sigma_n, stated_noise.subs(c, 1)), *chosen],
    added=[gap0 <= 1, distance <= 1, delta <= Rational(1, 2)],
    states=Rate(excess_risk, G * sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites=[Cites("dwang20.theorem3.1.4")],
    checks=[
        Chain(excess_risk, Step("<=", because=Cites("dwang20.theorem3.1.5.proof")), Step("<=", 13 * STATEMENT)),
    ],
)
theorem5_corrected = theorem5

cost_proof = Claim(
    id="dwang20.theorem3.1.5.cost.proof",
    source=Source("dwang20", "proof of Theorem 3.1.5, last line: the gradient complexity with G", line=1273),
    kind=Kind.COST,
    says="Record gradients of DP-SVRG++ with the T and m of the theorem.",
    assumes=[*composite, Eq(inner, L_s)],
    added=[powers >= 2**T, 2 * log(powers) >= T],
    states=Rate(gradients, L_s * powers + n * log(powers)),
    ignores_units=True,
    checks=[
        Chain(
            gradients,
            Step("=", T * n + 2 * steps, because=Premise("Algorithm 3.1.3: n for each snapshot, two for each step")),
            Step("<=", 4 * STATEMENT, because=Slack(
                seen=[4 * L_s * (powers - 2**T), 4 * L_s, 2 * n * (2 * log(powers) - T), n * T])),
        )
    ],
)

far = Symbol("far", positive=True)

cost = Claim(
    id="dwang20.theorem3.1.5.cost",
    source=Source("dwang20", "Theorem 3.1.5, gradient complexity, without G and with nε/d for nε/(G√d)", line=762),
    kind=Kind.COST,
    says="Record gradients of DP-SVRG++ with the T and m of the theorem.",
    assumes=composite,
    states=Rate(gradients, n * L_s * eps / sqrt(d) + n * log(n * eps / d)),
    ignores_units=True,
    misprint_of="dwang20.theorem3.1.5.cost.proof",
    checks=[
        NoConstant(
            n * log(n * eps / (G * sqrt(d))) / log(2), {n: far, eps: 100 / far, d: 100, G: 1, L_s: 1}, far,
            "n gradients for each of T epochs: at ε = d/n the logarithm of nε/d is 0, that of nε/(G√d) is not",
        )
    ],
)

cost_corrected = replace(cost_proof, id=f"{cost.id}.corrected", says="As the proof has it.", corrects=cost.id)
