"""DP-AccMD (dwang20, section 3.1.4, Algorithm 3.1.4): noisy accelerated mirror descent over a symmetric convex set.

Theorems 3.1.6 and 3.1.7; the lemmas stand in gaussian_width.py, the proof in dp_accmd_proof.py. As printed, the output
is a step with the exact gradient. Solver: dpcheck/solvers/convex/dp_accmd.py.
"""

from sympy import Eq, Integer, Rational, Symbol, exp, log, pi, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, delta, eps, excess_risk, gradients, m, n, ratio
from dpcheck.bounds.library.convex.dp_accmd_proof import L_C, divergence, steps2
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, full_gradients, losses, sigma_n
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Follows, NoConstant, Units

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
big = Symbol("big", positive=True)
stated_noise = G * sqrt(c * T * log(1 / delta)) / (n * eps)


# Privacy -------------------------------------------------------------------------------------------
released = full_gradients(T)  # of the algorithm that uses one noisy gradient in both steps

theorem6 = Claim(
    id="dwang20.theorem3.1.6",
    source=Source("dwang20", "Theorem 3.1.6, equation (3.9)"),
    kind=Kind.PRIVACY,
    says="There is a c with which DP-AccMD is (ε, δ)-private for all ε.",
    assumes=losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    cites=[Cites("dwang20.lemma2.1.7", {m: n})],
    checks=[Accountant(released, "linear losses, even if all steps used the noisy gradient: ε has no limit")],
)

theorem6_corrected = Claim(
    id="dwang20.theorem3.1.6.corrected",
    source=Source("dwang20", "Theorem 3.1.6, for the algorithm that uses one noisy gradient in both steps"),
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.6",
    checks=[Accountant(released, "T full gradients, each 2G/n apart"), for_every_delta],
)

# Utility -------------------------------------------------------------------------------------------
rate = sqrt(spread) * G * sqrt(log(1 / delta)) / (n * eps)
# C = [-1, 1], w = k·x²/2, f = λ/2·x² with λ = 4/T, L = 1, from x₀ = 1/2: ‖C‖₂ = 2 and V₀ = k/8. Each y is
# 1 - λ/4 = 1 - 1/T times x, which is at least the lesser of the last z and y, so that y_T ≥ (1-1/T)^T·min z ≥ min z/4.
# The gradients, at most λ, lower z by at most T(T+3)/8·λ/k in all; noise by less than 1/8 in half of the runs.
least_z = Rational(1, 2) - T * (T + 3) / 8 * (4 / T) / (8 * divergence) - Rational(1, 8)
stuck = Rational(1, 2) * (2 / T) * (least_z / 4) ** 2
interval = {diameter: Integer(2), width: sqrt(2 / pi), L_s: Integer(1), G: Integer(1), eps: Integer(1), delta: exp(-1)}
per_n = (steps2 / (n * sqrt(divergence))).subs(interval)  # T² over n·√V₀

theorem7 = Claim(
    id="dwang20.theorem3.1.7",
    source=Source("dwang20", "Theorem 3.1.7"),
    kind=Kind.UTILITY,
    says="Excess risk of DP-AccMD with the noise of (3.9), for any w that is 1-strongly convex in ‖·‖, without V₀.",
    assumes=losses,
    states=Rate(excess_risk, rate),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem3.1.6")],
    checks=[
        NoConstant(
            stuck, {n: big**4, T: big**3, divergence: (big**2 / per_n) ** 2, **interval}, big,
            "w = k·x²/2 on [-1, 1] with k of order n, f = 2x²/T: z hardly moves, so neither do x and y in T = n^(3/4) "
            "steps, which is the theorem's T", at=1e3,
        )
    ],
)

bound = 8 * L_C * divergence / T**2 + T * sigma_n**2 * spread / (2 * L_C)

theorem7_corrected = Claim(
    id="dwang20.theorem3.1.7.corrected",
    source=Source("dwang20", "Theorem 3.1.7, as its proof ends"),
    kind=Kind.UTILITY,
    says="With the factor √V₀, for the algorithm that uses one noisy gradient in both steps.",
    assumes=[*losses, Setting("C symmetric")],
    states=Rate(excess_risk, sqrt(divergence) * rate),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.7",
    cites=[Cites("dwang20.equation3.58")],
    checks=[
        Follows(
            bound.subs(sigma_n, stated_noise.subs(c, 1)).subs(T, sqrt(steps2)),
            Rational(17, 2), "(3.58) with c = 1 at T² of (3.59)",
        )
    ],
)

cost = Claim(
    id="dwang20.theorem3.1.7.cost",
    source=Source("dwang20", "Theorem 3.1.7, gradient complexity"),
    kind=Kind.COST,
    says="Record gradients: n for each of T steps.",
    assumes=losses,
    states=Rate(gradients, n ** Rational(3, 2) * sqrt(eps * L_s) / spread ** Rational(1, 4)),
    checks=[Units()],
)

cost_corrected = Claim(
    id="dwang20.theorem3.1.7.cost.corrected",
    source=Source("dwang20", "Theorem 3.1.7, gradient complexity"),
    kind=Kind.COST,
    says="With all that T depends on.",
    assumes=losses,
    states=Rate(
        gradients,
        n ** Rational(3, 2) * sqrt(eps * L_s) * diameter * divergence ** Rational(1, 4)
        / (sqrt(G) * log(1 / delta) ** Rational(1, 4) * spread ** Rational(1, 4)),
    ),
    corrects="dwang20.theorem3.1.7.cost",
    checks=[Follows(n * sqrt(steps2), Integer(1), "n·T with T² of the theorem", {delta: exp(-more)})],
)

mirror_descent = Claim(
    id="dwang20.section3.1.4.faster",
    source=Source("dwang20", "section 3.1.4, after Theorem 3.1.7"),
    kind=Kind.COST,
    says="The cost of noisy mirror descent over that of DP-AccMD (Table 3.3, n ≥ 3, ε and the set of order 1).",
    assumes=[n >= 3],
    states=Rate(ratio, n ** Rational(3, 2)),
    checks=[
        Follows(
            n**3 / log(n) ** 2 / n ** Rational(3, 2), Integer(1),
            "n³/log²n over n^(3/2): at least 1/log²n of that, too",
            {n: exp(1 + extra)},
        )
    ],
)
