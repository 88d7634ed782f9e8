"""DP-FW-L2 (wangxu19, Algorithm 2; dwang20, section 4.1.2, Algorithm 4.1.17): Frank-Wolfe on noisy gradients.

Theorem 4 (4.1.4), over a bounded symmetric convex set C. Lemmas stand in stationarity.py. Solver:
dpcheck/solvers/nonconvex/dp_fw_l2.py.
"""

from typing import Any

from sympy import Eq, Integer, Le, Rational, Symbol, erfc, exp, pi, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, delta, eps, frank_wolfe_gap, m, n
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex import stationarity
from dpcheck.bounds.library.nonconvex.stationarity import a, both, gap_t, losses, miss, pace, stated_noise
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Minimiser, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

THEOREM4 = ("theorem4", "theorem4.1.4")
SYMMETRIC = Setting("C symmetric")
symmetric = [*losses, SYMMETRIC]
released = stationarity.full_gradients(T)

# Privacy -------------------------------------------------------------------------------------------
privacy, privacy_dwang = both(
    *THEOREM4, ".privacy", lines=(211, 2799),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-FW-L2 is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*symmetric, eps < c1 * T],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites={"wangxu19": [Cites("wangxu19.lemma2", {m: n})], "dwang20": [Cites("dwang20.lemma2.1.7", {m: n})]},
    checks=[
        IterateAccountant(
            stationarity.seen_in_x_R,
            "linear losses over an l2 ball, x_R seen: the other records' gradients, large against the noise, lie along "
            "one axis, so a vertex shows the noisy gradient across it, and x_R after small steps the sum; T cancels",
        )
    ],
)

privacy_corrected, privacy_corrected_dwang = both(
    *THEOREM4, ".privacy.corrected", lines=(211, 2799),
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*symmetric, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

# Utility -------------------------------------------------------------------------------------------
direct = gap0 / (pace * T) + L_s * pace * diameter**2 / 2 + 2 * sigma_n * width

theorem4_direct = Claim(
    id="dwang20.theorem4.1.4.direct",
    source=Source("dwang20", "proof of Theorem 4.1.4, without Young's inequality", line=3004),
    kind=Kind.UTILITY,
    says="The gap at x_R for every T and every γ_t up to 1: E max over C of ⟨ε, v⟩ is σ·G_C, nothing need be squared.",
    assumes=[*symmetric, pace <= 1],
    states=Le(frank_wolfe_gap, direct),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            frank_wolfe_gap,
            Step("=", gap_t / pace, because=Premise("R is uniform on 1..T: both stand for means over the steps")),
            Step("<=", because=Cites("dwang20.equation4.13")),
            Step(
                "<=", (gap0 / T + pace * miss + L_s * pace**2 * diameter**2 / 2) / pace,
                because=Premise("the falls of F add up to F(x₁) - F(x_(T+1)) ≤ g₀"),
            ),
            Step(
                "<=", (gap0 / T + pace * 2 * sigma_n * width + L_s * pace**2 * diameter**2 / 2) / pace,
                because=Premise("v is best for ∇F+ε, so β = ⟨v-v̂,-ε⟩ (4.10), of mean at most 2σ·G_C as C = -C"),
                uses=[SYMMETRIC],
            ),
            Step("=", STATEMENT),
        )
    ],
)

at_best_pace = direct.subs({pace: sqrt(2 * gap0 / (L_s * T)) / diameter, sigma_n: stated_noise})

steps = Claim(
    id="dwang20.theorem4.1.4.steps",
    source=Source("dwang20", "Theorem 4.1.4, T for the direct bound", line=2799),
    kind=Kind.UTILITY,
    says="The T that makes the direct bound with γ_t = √(2g₀/(LT))/‖C‖₂, and so its square, least.",
    assumes=symmetric,
    states=Eq(T, diameter * sqrt(2 * L_s * gap0) / (2 * width * stated_noise.subs(T, 1))),
    provenance=Provenance.CONSEQUENCE,
    checks=[Chain(T, Step("=", STATEMENT, because=Minimiser((at_best_pace**2).expand())))],
)

fourth_root = (spread * a) ** Rational(1, 4) / sqrt(n * eps)
printed_choice = [Eq(T, n * eps / sqrt(spread * a)), Eq(pace, fourth_root / diameter)]
PLACES: dict[str, Any] = {"places": ("Theorem 4, equation (6)", "Theorem 4.1.4, equation (4.6)"), "lines": (213, 2801)}
k = Symbol("k", positive=True)
small_set = {diameter: 1 / k, width: sqrt(1 / (2 * pi)) / k, n: 10 * k, eps: Integer(1), delta: exp(-2)}

theorem4, theorem4_dwang = both(
    *THEOREM4, **PLACES,
    kind=Kind.UTILITY,
    says="The Frank-Wolfe gap at x_R with these γ_t and T; G, L and F(x₁)-F(x°) are what O() hides.",
    assumes=[*symmetric, *printed_choice],
    added=[Setting("G, L and F(x₁)-F(x°) at most 1; the noise (3) has c = 8")],
    states=Rate(frank_wolfe_gap, diameter * fourth_root),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        NoConstant(
            erfc(1 / sqrt(2)) / 2 * diameter,
            small_set | {choice.lhs: choice.rhs.subs(small_set) for choice in printed_choice},
            k,
            "F(x) = x on [-s/2, s/2], s = 1/k, from x₁ = 0: σ is above 1, so that each step goes to the wrong end with "
            "probability Φ(-1) at least, and the gap is at least s·Φ(-1); stated is s². For another c take "
            "5k·c/4 records. The proof drops 1/(L‖C‖₂²)",
        )
    ],
)

theorem4_corrected, theorem4_corrected_dwang = both(
    *THEOREM4, ".corrected", **PLACES,
    kind=Kind.UTILITY,
    says="The same γ_t and T give the rate with 1 + ‖C‖₂ for ‖C‖₂: what Table 1 has for ‖C‖₂ ≤ 1.",
    assumes=[*symmetric, *printed_choice],
    added=[G <= 1, L_s <= 1, gap0 <= 1, Eq(sigma_n, stated_noise.subs(c, 8)), pace <= 1],
    states=Rate(frank_wolfe_gap, (1 + diameter) * fourth_root),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Chain(
            frank_wolfe_gap,
            Step("<=", because=Cites("dwang20.theorem4.1.4.direct")),
            Step("<=", direct.subs(width, sqrt(spread)), because=Premise("G_C ≤ √(‖C‖₂² + G_C²)")),
            Step("<=", 6 * STATEMENT),
        )
    ],
)
