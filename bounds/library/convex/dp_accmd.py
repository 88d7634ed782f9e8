"""DP-AccMD (dwang20, section 3.1.4, Algorithm 3.1.4): noisy accelerated mirror descent over a symmetric convex set.

Theorems 3.1.6 and 3.1.7; the lemmas stand in gaussian_width.py, the proof in dp_accmd_proof.py. As printed, the output
is a step with the exact gradient. Solver: dpcheck/solvers/convex/dp_accmd.py.
"""

from sympy import Eq, Integer, Rational, Symbol, exp, log, pi, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, delta, eps, excess_risk, gradients, n
from dpcheck.bounds.library.convex.dp_accmd_proof import divergence, dual2, exact_y, noisy_y
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread, symmetric, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, full_gradients, losses, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

# Privacy -------------------------------------------------------------------------------------------
stated_noise = G * sqrt(c * T * log(1 / delta)) / (n * eps)
released = full_gradients(T)  # of the algorithm that uses one noisy gradient in both steps

theorem6 = Claim(
    id="dwang20.theorem3.1.6",
    source=Source("dwang20", "Theorem 3.1.6, equation (3.9)", line=794),
    kind=Kind.PRIVACY,
    says="There is a c with which Algorithm 3.1.4 is (ε, δ)-private, though y_T moves by the exact gradient.",
    assumes=losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
)

theorem6_corrected = Claim(
    id="dwang20.theorem3.1.6.corrected",
    source=Source("dwang20", "Theorem 3.1.6, for the algorithm that uses one noisy gradient in both steps", line=794),
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.6",
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

# Utility -------------------------------------------------------------------------------------------
rate = sqrt(spread) * G * sqrt(log(1 / delta)) / (n * eps)
L_C = L_s * diameter**2  # smoothness in the norm of the set
steps2 = L_C * sqrt(divergence) * n * eps / (G * sqrt(log(1 / delta)) * sqrt(spread))  # T² of the theorem
# C = [-1, 1], w = k·x²/2, f = λ/2·x² with λ = 4/T, L = 1, from x₀ = 1/2: ‖C‖₂ = 2 and V₀ = k/8. Each y is
# 1 - λ/4 = 1 - 1/T times x, which is at least the lesser of the last z and y, so that y_T ≥ (1-1/T)^T·min z ≥ min z/4.
# The gradients, at most λ, lower z by at most T(T+3)/8·λ/k in all; noise by less than 1/8 in half of the runs.
big = Symbol("big", positive=True)
least_z = Rational(1, 2) - T * (T + 3) / 8 * (4 / T) / (8 * divergence) - Rational(1, 8)
stuck = Rational(1, 2) * (2 / T) * (least_z / 4) ** 2
interval = {diameter: Integer(2), width: sqrt(2 / pi), L_s: Integer(1), G: Integer(1), eps: Integer(1), delta: exp(-1)}
per_n = (steps2 / (n * sqrt(divergence))).subs(interval)  # T² over n·√V₀

theorem7 = Claim(
    id="dwang20.theorem3.1.7",
    source=Source("dwang20", "Theorem 3.1.7", line=800),
    kind=Kind.UTILITY,
    says="Excess risk of DP-AccMD with the noise of (3.9), for any w that is 1-strongly convex in ‖·‖, without V₀.",
    assumes=losses,
    states=Rate(excess_risk, rate),
    guarantee=ApproxDP(eps, delta),
    misprint_of="dwang20.theorem3.1.7.proof",
    checks=[
        NoConstant(
            stuck, {n: big**4, T: big**3, divergence: (big**2 / per_n) ** 2, **interval}, big,
            "w = k·x²/2 on [-1, 1] with k of order n, f = 2x²/T: z hardly moves, so neither do x and y in T = n^(3/4) "
            "steps, which is the theorem's T", at=1e3,
        )
    ],
)

explicit = 8 * L_C * divergence / T**2 + T * sigma_n**2 * (width**2 + diameter**2 / 4) / (2 * L_C)
at_T = explicit.subs(sigma_n, stated_noise.subs(c, 8)).subs(T, sqrt(steps2))


def with_divergence(name: str, says: str, setting: Setting, granted: str, corrects: str | None = None) -> Claim:
    """The rate at the T of the theorem, from (3.58)."""
    return Claim(
        id=f"dwang20.theorem3.1.7.{name}",
        source=Source("dwang20", "Theorem 3.1.7, as its proof ends", line=1359),
        kind=Kind.UTILITY,
        says=says,
        assumes=[*losses, symmetric, setting],
        states=Rate(excess_risk, sqrt(divergence) * rate),
        guarantee=ApproxDP(eps, delta),
        corrects=corrects,
        checks=[
            Chain(
                excess_risk,
                Step("<=", because=Cites("dwang20.equation3.58", {L_s: L_C}, granted=granted), uses=[setting]),
                Step("<=", 8 * L_C * divergence / T**2 + T * sigma_n**2 * dual2 / (2 * L_C)),
                Step(
                    "<=",
                    explicit,
                    because=Premise("the maximum's variance is at most ‖C‖₂²/4 (Lemma 3.1.7)"),
                    uses=[symmetric],
                ),
                Step("=", at_T, because=Premise("σ of (3.9) with c = 8, and T² of (3.59)")),
                Step("<=", 12 * STATEMENT),
            )
        ],
    )


IN_SET = "Lemma 3.1.6: F is L‖C‖₂²-smooth in the norm of the set, which stands for L in α too"
theorem7_proof = with_divergence("proof", "With the factor √V₀.", exact_y, IN_SET)
theorem7_corrected = with_divergence(
    "corrected",
    "With the factor √V₀, for the algorithm that uses one noisy gradient in both steps.",
    noisy_y,
    f"{IN_SET}; (3.55) holds for it too (dwang20.equation3.55.noisy_y)",
    corrects="dwang20.theorem3.1.7",
)

more, less, extra = (Symbol(name, nonnegative=True) for name in ("more", "less", "extra"))

cost = Claim(
    id="dwang20.theorem3.1.7.cost",
    source=Source("dwang20", "Theorem 3.1.7, gradient complexity", line=808),
    kind=Kind.COST,
    says="Record gradients: n for each of T steps, with what the formula leaves out at most 1.",
    assumes=losses,
    added=[Eq(G, 1), diameter <= 1, divergence <= 1, delta <= exp(-1)],
    states=Rate(gradients, n ** Rational(3, 2) * sqrt(eps * L_s) / spread ** Rational(1, 4)),
    ignores_units=True,
    checks=[
        Chain(
            gradients,
            Step("=", n * sqrt(steps2), because=Premise("n record gradients for each of the theorem's T steps")),
            Step("<=", STATEMENT, where={diameter: 1 / (1 + more), divergence: 1 / (1 + less), delta: exp(-1 - extra)}),
        )
    ],
)
