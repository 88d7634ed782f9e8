"""DP-SVRG on batches: what Theorems 3.1.1 and 3.1.2 of dwang20 become when each inner step draws b records.

A replaced record then moves a step by 4G/b when drawn, so that the noise of (3.3) suffices without a condition on ε
that excludes useful problems. Solver: dpcheck/solvers/convex/dp_svrg_minibatch.py.
"""

from sympy import Eq, Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, excess_risk, gradients, mu, n, quantity
from dpcheck.bounds.library.convex.dp_svrg import at_most_T, best, rate
from dpcheck.bounds.library.convex.dp_svrg_proof import noise_part
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    inner,
    kappa,
    losses,
    reduced_gradients,
    sigma_n,
    stated_noise,
    strong,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Follows, Less, Proof

batch = quantity("batch", "records of an inner step", box=(1, 1e4), integer=True, printed="b", latex="b")
extra, more, gap = (Symbol(name, nonnegative=True) for name in ("extra", "more", "gap"))
noise = stated_noise.subs(c, 72)
released = reduced_gradients(T * inner, batch)

privacy = Claim(
    id="dwang20.theorem3.1.1.minibatch",
    source=Source("dwang20", "Theorem 3.1.1, with b records drawn in each inner step"),
    kind=Kind.PRIVACY,
    says="Batches of b ≥ nε/√(Tm) records keep the noise of (3.3) private for every ε up to 1, with c = 72.",
    assumes=[*losses, eps <= 1, batch >= n * eps / sqrt(T * inner), batch <= n],
    states=Eq(sigma_n, noise),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.1",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)

utility = Claim(
    id="dwang20.theorem3.1.2.minibatch",
    source=Source("dwang20", "Theorem 3.1.2, with b records drawn in each inner step"),
    kind=Kind.UTILITY,
    says="The excess risk (3.4) of a run that is private: a batch's variance is at most that of one record.",
    assumes=[*strong, eps <= 1, delta <= Rational(1, 2), n >= 3, Setting("g₀ ≤ G²/(2μ), as at the minimiser of r")],
    states=Rate(excess_risk, rate),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.equation3.28")],
    checks=[
        Follows(
            d * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)
            + (noise_part.subs(best) * 2).subs(sigma_n, noise).subs(inner, 193 * kappa + 1).subs(T, at_most_T),
            Rational(10_000), "(3.28) with c = 72, η = 1/(48L), m = 193L/μ + 1", {n: exp(1 + more), L_s: mu + gap},
        )
    ],
)

x = Symbol("x", positive=True)  # log(nε/√d)

cost = Claim(
    id="dwang20.theorem3.1.2.minibatch.cost",
    source=Source("dwang20", "Theorem 3.1.2, gradient complexity with the least such batch"),
    kind=Kind.COST,
    says="Record gradients: n for each snapshot, 2b for each inner step, b = nε/√(Tm) rounded up.",
    assumes=[*strong, eps <= 1, delta <= Rational(1, 2), n * eps >= 2 * sqrt(d)],
    states=Rate(
        gradients,
        n * log(n * eps / sqrt(d)) + n * eps * sqrt(kappa * log(n * eps / sqrt(d))) + kappa * log(n * eps / sqrt(d)),
    ),
    checks=[
        Proof(
            [
                Less(
                    "T·n + 2·(nε/√(Tm) + 1)·Tm at T = 4.4·log(nε/√d) and m = 194L/μ",
                    Rational(44, 10) * x * n + 2 * n * eps * 30 * sqrt(kappa * x) + 2 * 854 * kappa * x,
                    1708 * (n * x + n * eps * sqrt(kappa * x) + kappa * x),
                ),
                Less("√(4.4·194) ≤ 30", Rational(44, 10) * 194, Integer(900)),
            ],
            "hidden constant 1708 suffices",
        )
    ],
)
