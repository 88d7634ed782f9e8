"""DP-PGD (wangxu19, Algorithm 1; dwang20, section 4.1.1, Algorithm 4.1.16): noisy proximal gradient steps.

Theorems 1 and 2 (4.1.1 and 4.1.2). The other noise stands in dp_pgd_zcdp.py, the proof in dp_pgd_proof.py, population
risk in dp_pgd_population.py. Solver: dpcheck/solvers/nonconvex/dp_pgd.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, sqrt, sympify

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, eta, gradient_map2, m, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.library.nonconvex.stationarity import (
    a,
    both,
    composite,
    extra,
    full_gradients,
    losses,
    seen_in_x_R,
    step_map,
    step_map2,
)
from dpcheck.bounds.library.nonconvex.stationarity_comparison import UTILITY, low, table1
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, Less, Minimises, NoConstant, Proof, Same, Units

rho = quantity("rho_z", "zero-concentrated privacy parameter", box=(1e-6, 1e2), printed="ρ", latex=r"\rho")
mapped = quantity("mapped", "P_C(x, g, γ)", loss=1, parameter=-1, printed="P_C(x,g,γ)", latex=r"P_C(x,g,\gamma)")
pulled = quantity("pulled", "g, the gradient that a step is taken along", loss=1, parameter=-1, printed="g", latex="g")
from_best = quantity("from_best", "T over the best T", printed="k", latex="k")

big = Symbol("big", positive=True)
stated_noise = G * sqrt(c * T * a) / (n * eps)  # (3) / (4.3)
A_STEP = Setting("a constant step size γ, printed η")
released = full_gradients(T)  # whichever iterate is chosen by them
THEOREM1, THEOREM2 = ("theorem1", "theorem4.1.1"), ("theorem2", "theorem4.1.2")
REMARK = ("remark1", "remark4.1.1")

# Privacy, by the moments accountant ----------------------------------------------------------------
theorem1, theorem1_dwang = both(
    *THEOREM1,
    places=("Theorem 1, equation (3)", "Theorem 4.1.1, equation (4.3)"),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-PGD is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*losses, eps < c1 * T],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites={"wangxu19": [Cites("wangxu19.lemma2", {m: n})], "dwang20": [Cites("dwang20.lemma2.1.7", {m: n})]},
    checks=[
        IterateAccountant(
            seen_in_x_R,
            "linear losses, x_R seen: T cancels, so a condition on it limits nothing, and the true ε grows like ε²",
        )
    ],
)

theorem1_corrected, theorem1_corrected_dwang = both(
    *THEOREM1,
    ".corrected",
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4. It is also the Taylor expansion of the noise by zCDP.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "T full gradients, each 2G/n apart"), for_every_delta],
)

# Utility -------------------------------------------------------------------------------------------
_x = Symbol("x", positive=True)
enough_steps = n * eps >= sqrt(d * a)  # else T = O(nε/√(d·ln(1/δ))) leaves no step at all

theorem2, theorem2_dwang = both(
    *THEOREM2, places=("Theorem 2, equation (4)", "Theorem 4.1.2, equation (4.4)"),
    kind=Kind.UTILITY,
    says="The noisy gradient map at x_R after T = O(nε/√(d·ln(1/δ))) ≥ 1 steps of size 1/(2L); G, L and Δ fixed.",
    assumes=[*composite, A_STEP, Eq(eta, 1 / (2 * L_s)), enough_steps],
    states=Rate(step_map, low),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites={"dwang20": [Cites("dwang20.theorem4.1.2.proof")]},
    checks=[
        Proof(
            [
                Same("the rate squared is x = √(d·ln(1/δ))/(nε), and T is 1/x, rounded up", low**2,
                     sqrt(d * a) / (n * eps)),
                Less(
                    "4/T + 2·8·x²T ≤ 36x for x ≤ 1, with c = 8",
                    4 * _x + 16 * _x**2 * (1 / _x + 1), 36 * _x, {_x: 1 / (1 + extra)},
                ),
            ],
            "hidden constant 6 suffices at G = L = Δ = 1",
        )
    ],
)

exact_map, exact_map_dwang = both(
    *THEOREM2, ".exact",
    places=(
        "Theorem 2, for the projected gradient that equation (2) defines", "Theorem 4.1.2, for that of equation (4.2)"
    ),
    kind=Kind.UTILITY,
    says="The squared map of the exact gradient at x_R, which is what the tables call the projected gradient.",
    assumes=[*composite, A_STEP, Eq(eta, 1 / (2 * L_s)), enough_steps],
    states=Rate(gradient_map2, low**2),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites={"dwang20": [Cites("dwang20.theorem4.1.2.noiseless")]},
    checks=[
        Proof(
            [
                Less(
                    "8/T + 6·8·x²T ≤ 104x for x ≤ 1, with c = 8",
                    8 * _x + 48 * _x**2 * (1 / _x + 1), 104 * _x, {_x: 1 / (1 + extra)},
                ),
            ],
            "hidden constant 104 suffices at G = L = Δ = 1",
        )
    ],
)

bound2 = 4 * L_s * gap0 / T + 2 * d * stated_noise**2  # dp_pgd_proof.py
best_T = n * eps * sqrt(2 * L_s * gap0) / (G * sqrt(c * d * a))

steps = Claim(
    id="dwang20.theorem4.1.2.steps",
    source=Source("dwang20", "proof of Theorem 4.1.2, the choice of T"),
    kind=Kind.UTILITY,
    says="T = nε√L/(G√(d·ln(1/δ))), up to a constant.",
    assumes=losses,
    states=Rate(T, n * eps * sqrt(L_s) / (G * sqrt(d * a))),
    checks=[Units()],
)

steps_corrected = Claim(
    id="dwang20.theorem4.1.2.steps.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.2, the choice of T"),
    kind=Kind.UTILITY,
    says="With Δ = F(x₁)-F° under the root: the T that makes the bound least.",
    assumes=losses,
    states=Eq(T, best_T),
    corrects="dwang20.theorem4.1.2.steps",
    checks=[Minimises(bound2, T, None, "4LΔ/T + 2dσ²")],
)

best_bound = Claim(
    id="dwang20.theorem4.1.2.best",
    source=Source("dwang20", "proof of Theorem 4.1.2, at the best T and with the corrected noise"),
    kind=Kind.UTILITY,
    says="The proof's bound at the best T: what the O(·) of (4.4) hides.",
    assumes=losses,
    states=Le(step_map2, 8 * G / n * sqrt(L_s * gap0 * d / rho)),
    checks=[
        AtMost(
            (4 * L_s * gap0 / T + 2 * d * (2 * G**2 * T / (n**2 * rho))).subs(T, n / G * sqrt(L_s * gap0 * rho / d)),
            "4LΔ/T + 2dσ² with σ² = 2G²T/(n²ρ) at T = (n/G)√(LΔρ/d)", exact=False,
        )
    ],
)

# What equation (2) and Remark 1 say ------------------------------------------------------------------
x, y = Symbol("x_real", real=True), Symbol("y_real", real=True)
gamma_k = Symbol("gamma_k", positive=True)

unconstrained, unconstrained_dwang = both(
    "equation2", "equation4.2", places=("after equation (2)", "after equation (4.2)"),
    kind=Kind.IDENTITY,
    says="For C = ℝᵈ and r = 0 the generalised projected gradient is the gradient.",
    states=Eq(mapped, pulled),
    checks=[
        Proof(
            [
                Same(
                    "⟨g,u⟩ + ‖x-u‖²/(2γ) is stationary at u = x-γg",
                    (y * big + (x - big) ** 2 / (2 * gamma_k)).diff(big).subs(big, x - gamma_k * y), y * 0,
                ),
                Same("(x - (x-γg))/γ = g", (x - (x - gamma_k * y)) / gamma_k, y),
            ]
        )
    ],
)

same_bound, same_bound_dwang = both(
    *REMARK, ".same",
    kind=Kind.UTILITY,
    says="The bound of DP-PGD over that of the earlier work, as the comparison table quotes it.",
    states=Rate(ratio, Integer(1)),
    checks=[
        Follows(
            sympify(table1.rows[2].cells[UTILITY].printed) / sympify(table1.rows[1].cells[UTILITY].printed), Integer(1),
            "two cells of the table",
        )
    ],
)

EXPERIMENTS = ("section.experiments", "section4.1.5")
ON_LENGTH = ("Experiments Results, on Figure 2", "section 4.1.5, on Figures 4.1 to 4.3 (a)")

any_T, any_T_dwang = both(
    *EXPERIMENTS, ".every_length", places=ON_LENGTH,
    kind=Kind.UTILITY,
    says="The upper bounds do not depend on T: the squared noisy map is of their order for every T (G, L, Δ fixed).",
    assumes=losses,
    states=Rate(step_map2, sqrt(d * a) / (n * eps)),
    ignores_units=True,
    checks=[
        NoConstant(
            d * stated_noise.subs({c: 8, G: 1}) ** 2, {n: Integer(100), d: Integer(1), eps: Integer(1),
                                                       delta: Rational(1, 100), T: big},
            big, "C = ℝᵈ and r = 0: the noise of step R alone adds dσ², which grows with T",
        )
    ],
)

any_T_corrected, any_T_corrected_dwang = both(
    *EXPERIMENTS, ".every_length.corrected", places=ON_LENGTH,
    kind=Kind.UTILITY,
    says="Up to a factor k either side of the best T, the bound is within (k + 1/k)/2 of its least value.",
    assumes=[Setting("T = k times the best one")],
    states=Eq(ratio, (from_best + 1 / from_best) / 2),
    checks=[
        Equals(
            (bound2.subs(T, from_best * best_T) / bound2.subs(T, best_T)).simplify(),
            "the bound at k times the best T over that at the best T",
        )
    ],
)
