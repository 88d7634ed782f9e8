"""DP-SVRG++ (dwang20, section 3.1.3, Algorithm 3.1.3): epochs that double, for convex losses and regularisers.

Theorems 3.1.4 and 3.1.5; the proof of the latter stands in dp_svrgpp_proof.py.
Solver: dpcheck/solvers/convex/dp_svrgpp.py.
"""

import math

from sympy import Eq, Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, distance, eps, excess_risk, gradients, m, n
from dpcheck.bounds.library.convex.dp_svrgpp_proof import composite
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    full_gradients,
    gap0,
    inner,
    losses,
    reduced_gradients,
    sigma_n,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.proofs import Contradictory, Equals, Less, NoConstant, Proof, Same, Units

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
big = Symbol("big", positive=True)
SEARCHED = {T: (1.0, 12.0), inner: (1.0, 1e4)}
stated_noise = G * sqrt(c * 2**T * inner * log(2 / delta)) / (n * eps)


# Privacy -------------------------------------------------------------------------------------------
steps = (2 ** (T + 1) - 2) * inner  # 2m + 4m + ... + 2^T m
released = reduced_gradients(steps)

theorem4 = Claim(
    id="dwang20.theorem3.1.4",
    source=Source("dwang20", "Theorem 3.1.4, equation (3.7)"),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-SVRG++ is (ε, δ)-private for all ε ≤ c₁·2^T·m/n².",
    assumes=[*losses, eps <= c1 * 2**T * inner / n**2],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[Cites("dwang20.lemma2.1.7", {m: 1, T: 2**T * inner, c1: 2 * c1})],  # as the source counts the steps
    checks=[Accountant(full_gradients(steps), "linear losses, as for Theorem 3.1.1: ε has no limit")],
)

theorem4_corrected = Claim(
    id="dwang20.theorem3.1.4.corrected",
    source=Source("dwang20", "Theorem 3.1.4"),
    kind=Kind.PRIVACY,
    says="With c = 144 and c₁ = 1, for ε at most 1: the noisy steps number (2^(T+1)-2)·m.",
    assumes=[*losses, eps <= 1, eps <= 2**T * inner / n**2],
    states=Eq(sigma_n, stated_noise.subs(c, 144)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.4",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen", SEARCHED)],
)

noisy_steps = Claim(
    id="dwang20.section3.1.7.steps.dp_svrgpp",
    source=Source("dwang20", "section 3.1.7, last line: the number of noisy steps of Algorithm 3.1.3"),
    kind=Kind.IDENTITY,
    says="Algorithm 3.1.3 takes T·m noisy steps.",
    states=Eq(gradients, T * inner),
    checks=[Equals(steps, "2m + 4m + ... + 2^T·m: the line swaps Algorithms 3.1.2 and 3.1.3")],
)

noisy_steps_corrected = Claim(
    id="dwang20.section3.1.7.steps.dp_svrgpp.corrected",
    source=Source("dwang20", "section 3.1.7, last line"),
    kind=Kind.IDENTITY,
    says="It takes (2^(T+1)-2)·m.",
    states=Eq(gradients, (2 ** (T + 1) - 2) * inner),
    corrects="dwang20.section3.1.7.steps.dp_svrgpp",
    checks=[
        Proof(
            [
                Same("none at T = 0", ((2 ** (T + 1) - 2) * inner).subs(T, 0), Integer(0)),
                Same(
                    "an epoch of 2^(T+1)·m steps more",
                    (2 ** (T + 1) - 2) * inner + 2 ** (T + 1) * inner,
                    (2 ** (T + 2) - 2) * inner,
                ),
            ]
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
# The explicit bound is A·2^-T + B·2^T: with 2^T = √(A/B) rounded up to a power of 2 it is at most A/x + 2Bx.
A = 2 * gap0 + 39 * L_s * distance**2 / (4 * inner)
B = c * G**2 * d * inner * log(2 / delta) / (4 * L_s * n**2 * eps**2)

least_case = {inner: 1, c: 1, gap0: L_s * distance**2 / 2}

theorem5 = Claim(
    id="dwang20.theorem3.1.5",
    source=Source("dwang20", "Theorem 3.1.5, equation (3.8)"),
    kind=Kind.UTILITY,
    says="Excess risk of DP-SVRG++ with the noise of (3.7), after T = O(log(nε/(G√(d·log(1/δ))))) epochs.",
    assumes=[*composite, delta <= Rational(1, 2)],
    states=Rate(excess_risk, G * sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem3.1.4")],
    checks=[Units()],
)

theorem5_corrected = Claim(
    id="dwang20.theorem3.1.5.corrected",
    source=Source("dwang20", "Theorem 3.1.5"),
    kind=Kind.UTILITY,
    says="With the distance of the start from a minimiser as a factor, m = 1 and 2^T = √(A/B) rounded up.",
    assumes=[
        *composite, delta <= Rational(1, 2), Setting("g₀ ≤ L/2·‖w₀-ŵ‖², as without a regulariser"),
        Setting("B ≤ A: data enough for an epoch"),
    ],
    states=Rate(excess_risk, G * distance * sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem3.1.5",
    checks=[
        Proof(
            [
                Same(
                    "A/x + 2Bx at x = √(A/B)",
                    big / sqrt(big / extra) + 2 * extra * sqrt(big / extra), 3 * sqrt(big) * sqrt(extra),
                ),
                Less(
                    "A·B ≤ 5.4·G²‖w₀-ŵ‖²·d·log(1/δ)/(n²ε²), squared and with c = 1; log(2/δ) ≤ 2·log(1/δ)",
                    (A * B).subs(log(2 / delta), 2 * log(1 / delta)).subs(least_case),
                    Rational(54, 10) * G**2 * distance**2 * d * log(1 / delta) / (n**2 * eps**2),
                    {delta: exp(-more)},
                ),
            ],
            f"hidden constant {3 * math.sqrt(5.4):.2f} suffices",
        )
    ],
)

theorem5_private = Claim(
    id="dwang20.theorem3.1.5.private",
    source=Source("dwang20", "Theorems 3.1.4 and 3.1.5 together"),
    kind=Kind.UTILITY,
    says="(3.8) with 2^T = nε/(G√(d·log(1/δ))), m = L and an ε that Theorem 3.1.4 covers, for n·G√(d·log(1/δ)) > c₁L.",
    assumes=[
        *composite,
        Setting("ε ≤ c₁·2^T·m/n² with 2^T = nε/(G√(d·log(1/δ))) and m = L"),
        Setting("n·G√(d·log(1/δ)) > c₁L"),
    ],
    states=Rate(excess_risk, G * sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1,),
    ignores_units=True,
    checks=[
        Contradictory(
            [
                Same(
                    "the condition over ε: ε cancels, and what is left is n·G√(d·log(1/δ)) ≤ c₁L",
                    c1 * (n * eps / (G * sqrt(d * log(1 / delta)))) * L_s / n**2 / eps,
                    c1 * L_s / (n * G * sqrt(d * log(1 / delta))),
                )
            ],
            "with G = L = 1, as in Table 3.2, no n·√(d·log(1/δ)) above c₁ is left",
        )
    ],
)

cost = Claim(
    id="dwang20.theorem3.1.5.cost",
    source=Source("dwang20", "Theorem 3.1.5, gradient complexity"),
    kind=Kind.COST,
    says="Record gradients of DP-SVRG++.",
    assumes=composite,
    states=Rate(gradients, n * L_s * eps / sqrt(d) + n * log(n * eps / d)),
    ignores_units=True,
    checks=[
        NoConstant(
            n * eps * L_s / (G * sqrt(d * log(1 / delta))),
            {G: 1 / big, n: 100, d: 1, eps: 1, L_s: 1, delta: exp(-1)}, big,
            "2^T·m inner steps with the theorem's own 2^T = nε/(G√(d·log(1/δ))) and m = L: G is lost",
        )
    ],
)

share = n * eps / (G * sqrt(d))

cost_proof = Claim(
    id="dwang20.theorem3.1.5.cost.proof",
    source=Source("dwang20", "proof of Theorem 3.1.5, last line: the gradient complexity with G"),
    kind=Kind.COST,
    says="Record gradients with 2^T = nε/(G√(d·log(1/δ))) and m = L, for log(1/δ) ≥ 1 and x = nε/(G√d) ≥ 2.",
    assumes=[*composite, delta <= exp(-1), share >= 2],
    states=Rate(gradients, L_s * share + n * log(share)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Less(
                    "two gradients for each of (2^(T+1)-2)·m steps, 2^T at most 2x/√(log(1/δ)) ≤ 2x",
                    2 * 2 * (2 * big / (1 + extra)) * L_s,
                    8 * L_s * big,
                ),
                Less("n·T ≤ n·(log₂x + 1) ≤ 8n·log x for x ≥ 2", 1 + big / log(2), 8 * big, {big: log(2) + extra}),
            ],
            "hidden constant 8 suffices",
        )
    ],
)

powers = n * eps * L_s * distance / (G * sqrt(d * log(1 / delta)))

cost_corrected = Claim(
    id="dwang20.theorem3.1.5.cost.corrected",
    source=Source("dwang20", "Theorem 3.1.5, gradient complexity"),
    kind=Kind.COST,
    says="2^T is of order nεL‖w₀-ŵ‖/(G√(d·log(1/δ))) with m = 1: that many inner steps, and n for each of T snapshots.",
    assumes=[*composite, delta <= Rational(1, 2), powers >= 2, Setting("g₀ ≤ L/2·‖w₀-ŵ‖², as without a regulariser")],
    states=Rate(gradients, powers + n * log(powers)),
    corrects="dwang20.theorem3.1.5.cost",
    checks=[
        Proof(
            [
                Less(
                    "2^T ≤ 2√(A/B) at m = c = 1, and log(2/δ) ≥ log(1/δ): its square is at most 172·x², with "
                    "x = nεL‖w₀-ŵ‖/(G√(d·log(1/δ)))",
                    4 * (A / B).subs(log(2 / delta), log(1 / delta)).subs(least_case),
                    172 * powers**2,
                    {delta: exp(-more)},
                ),
                Less(
                    "T·n + 2·2·2^T ≤ 53·x + n·(log₂x + 4) ≤ 53·x + 8n·log x for x ≥ 2",
                    4 + big / log(2), 8 * big, {big: log(2) + extra},
                ),
            ],
            "hidden constant 53 suffices",
        )
    ],
)

linear_cost = Claim(
    id="dwang20.section3.1.1.nlogn",
    source=Source("dwang20", "section 3.1.1, on Table 3.2"),
    kind=Kind.COST,
    says="For a constant ε, at most √d·log n, the cost nε/√d + n·log(nε/d) of 1-smooth losses is of order n·log n.",
    assumes=[eps <= sqrt(d) * log(n), eps <= n, n >= 2],
    states=Rate(gradients, n * log(n)),
    checks=[
        Proof(
            [
                Less(
                    "nε/√d ≤ n·log n", n * eps / sqrt(d), n * log(n),
                    {n: exp(more), eps: sqrt(d) * more / (1 + extra)},
                ),
                Less("log(nε/d) ≤ 2·log n for ε ≤ n", log(n) + log(n), 2 * log(n), {n: exp(more)}),
            ],
            "hidden constant 3 suffices",
        )
    ],
)
