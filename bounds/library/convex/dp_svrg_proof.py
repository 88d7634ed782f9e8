"""DP-SVRG: the proof of Theorem 3.1.2 of dwang20, (3.27) and (3.28). The theorem stands in dp_svrg.py.

(3.27) follows from the step of Theorem 3.1.5's proof (variance_reduction.py), which is sharper than (3.23) to (3.25).
"""

from sympy import Le, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Source
from dpcheck.bounds.language.symbols import T, d, eta, excess_risk, mu
from dpcheck.bounds.library.convex.variance_reduction import (
    L_s,
    apart,
    away,
    gap0,
    gap_next,
    gap_snap,
    gap_x,
    inner,
    regularised,
    sigma_n,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step

contraction = 1 / (eta * (1 - 8 * eta * L_s) * mu * inner) + 8 * L_s * eta * (inner + 1) / (inner * (1 - 8 * L_s * eta))
noise_part = 2 * eta / (1 - 8 * L_s * eta) * sigma_n**2 * d
small_steps = [*regularised, eta <= 1 / (12 * L_s)]
left = (1 - 2 * eta * L_s) / (1 - eta * L_s)  # of the constants of (3.27), over those of the sharper step

equation27 = Claim(
    id="dwang20.equation3.27",
    source=Source("dwang20", "equation (3.27)", line=1053),
    kind=Kind.UTILITY,
    says="The expected squared distance e² from x° after a step, by b² before it.",
    assumes=small_steps,
    states=Le(
        apart**2, away**2 - 2 * eta * gap_next + 16 * eta**2 * L_s * (gap_x + gap_snap) + 4 * eta**2 * sigma_n**2 * d
    ),
    checks=[
        Chain(
            apart**2,
            Step("<=", STATEMENT, because=Slack(
                seen=[8 * eta**2 * L_s * left * (gap_x + gap_snap), 2 * eta**2 * sigma_n**2 * d * left],
                cited=[(2 * eta, Cites("dwang20.theorem3.1.5.step", granted="r is strongly convex, hence convex"))],
            )),
        )
    ],
)

# (3.27) is linear in risks and squared distances, so it holds for their means over an epoch from x_0 = x~ to x_m: the
# mean risk of x_0, ..., x_(m-1) is that of x_1, ..., x_m and (g~ - g_m)/m more, and the squares telescope.
mean_gap, last_gap = Symbol("mean_gap", positive=True), Symbol("last_gap", nonnegative=True)
over_an_epoch = {
    gap_next: mean_gap,
    gap_x: mean_gap + (gap_snap - last_gap) / inner,
    away: away / sqrt(inner),
    apart: apart / sqrt(inner),
}
share = 1 / (2 * eta * (1 - 8 * eta * L_s))

equation28 = Claim(
    id="dwang20.equation3.28",
    source=Source("dwang20", "equation (3.28)", line=1066),
    kind=Kind.UTILITY,
    says="One epoch: the excess risk of the new snapshot by that of the old.",
    assumes=small_steps,
    states=Le(excess_risk, contraction * gap_snap + noise_part),
    checks=[
        Chain(
            excess_risk,
            Step("<=", mean_gap, because=Premise("Jensen: the snapshot is the mean of the iterates")),
            Step("<=", STATEMENT, because=Slack(
                given={"the risk is μ-strongly convex": share / inner * (2 * gap_snap / mu - away**2)},
                seen=[share / inner * apart**2, share / inner * 16 * eta**2 * L_s * last_gap],
                cited=[(share, Cites("dwang20.equation3.27", over_an_epoch))],
            )),
        )
    ],
)

epoch = Claim(
    id="dwang20.theorem3.1.2.epoch",
    source=Source("dwang20", "proof of Theorem 3.1.2, after (3.28): A < 1/2 and 2η/(1-8Lη) < 1/(2L)", line=1072),
    kind=Kind.UTILITY,
    says="One epoch where (3.5) holds.",
    assumes=[*small_steps, contraction < Rational(1, 2)],
    states=Le(excess_risk, gap_snap / 2 + sigma_n**2 * d / (2 * L_s)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            excess_risk,
            Step("<=", because=Cites("dwang20.equation3.28")),
            Step("<=", STATEMENT, because=Slack(
                seen=[(Rational(1, 2) - contraction) * gap_snap, sigma_n**2 * d / (2 * L_s) - noise_part])),
        )
    ],
)

proof = Claim(
    id="dwang20.theorem3.1.2.proof",
    source=Source("dwang20", "proof of Theorem 3.1.2, the bound after T epochs, with A^T ≤ 2^-T", line=1074),
    kind=Kind.UTILITY,
    says="All epochs together, where (3.5) holds.",
    assumes=[*small_steps, contraction < Rational(1, 2)],
    states=Le(excess_risk, gap0 / 2**T + sigma_n**2 * d / L_s),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            excess_risk,
            Step("<=", STATEMENT, because=Induction(
                T, start=gap0, step=OneStep("dwang20.theorem3.1.2.epoch", gap_snap, excess_risk))),
        )
    ],
)
