"""DP-PGD (wangxu19, Algorithm 1; dwang20, section 4.1.1, Algorithm 4.1.16): noisy proximal gradient steps.

Theorems 1 and 2 (4.1.1 and 4.1.2) and what is said around them of noise by zCDP. The proof stands in
dp_pgd_proof.py, population risk in dp_pgd_population.py. Solver: dpcheck/solvers/nonconvex/dp_pgd.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Eq, Gt, Integer, Le, Rational, Symbol, log, sqrt

from bounds.accountant import Accountant
from bounds.claim import Claim, Effort, Evidence, Kind, Rate, Setting, Source, Verdict
from bounds.convex.variance_reduction import G, L_s, gap0, sigma_n
from bounds.guarantees import ApproxDP, GaussianDP
from bounds.nonconvex.stationarity import a, both, composite, extra, for_every_delta, full_gradients, losses, step_map, step_map2
from bounds.nonconvex.stationarity_comparison import UTILITY, low, table1
from bounds.proofs import AtMost, Equals, Follows, Less, Minimises, NoConstant, Proof, Same, Units
from bounds.symbols import T, c, c1, d, delta, eps, eps_out, eta, gradient_map2, m, n, quantity, ratio

rho = quantity("rho_z", "zero-concentrated privacy parameter", box=(1e-6, 1e2), printed="ρ", latex=r"\rho")
mapped = quantity("mapped", "P_C(x, g, γ)", loss=1, parameter=-1, printed="P_C(x,g,γ)", latex=r"P_C(x,g,\gamma)")
pulled = quantity("pulled", "g, the gradient that a step is taken along", loss=1, parameter=-1, printed="g", latex="g")

from_best = quantity("from_best", "T over the best T", printed="k", latex="k")

big = Symbol("big", positive=True)
stated_noise = G * sqrt(c * T * a) / (n * eps)  # (3) / (4.3)
rho_of = (sqrt(eps + a) - sqrt(a)) ** 2
zcdp_noise = G * sqrt(2 * T) * (sqrt(eps + a) + sqrt(a)) / (n * eps)  # 2G²T/(n²ρ), without cancellation
A_STEP = Setting("a constant step size γ, printed η")
THEOREM1, THEOREM2 = ("theorem1", "theorem4.1.1"), ("theorem2", "theorem4.1.2")
BOX, REMARK = ("algorithm1", "algorithm4.1.16"), ("remark1", "remark4.1.1")
STEP3 = ("Algorithm 1, step 3", "Algorithm 4.1.16, step 3")
AFTER = ("after Remark 1", "after Remark 4.1.1")

# Privacy, by the moments accountant ----------------------------------------------------------------
theorem1, theorem1_dwang = both(
    THEOREM1,
    ("Theorem 1, equation (3)", "Theorem 4.1.1, equation (4.3)"),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-PGD is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*losses, eps < c1 * T],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[("wangxu19.lemma2", {m: n})],
    checks=[
        Accountant(
            full_gradients(T),
            "linear losses: T cancels, so that a condition on it limits nothing, and the true ε grows like ε²",
        )
    ],
)

theorem1_corrected, theorem1_corrected_dwang = both(
    THEOREM1,
    ("Theorem 1", "Theorem 4.1.1"),
    ".corrected",
    corrects="",
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4. It is also the Taylor expansion of the noise by zCDP.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_gradients(T), "T full gradients, each 2G/n apart"), for_every_delta],
)

# Privacy, by zCDP ----------------------------------------------------------------------------------
solved, solved_dwang = both(
    BOX,
    STEP3,
    ".rho",
    kind=Kind.IDENTITY,
    says="The ρ with ρ + 2√(ρ·ln(1/δ)) = ε, as the text solves it (the copy at hand drops the root over ln(1/δ)+ε).",
    states=Eq(rho, rho_of),
    checks=[
        Proof(
            [
                Same("it solves the equation", rho_of + 2 * (sqrt(eps + a) - sqrt(a)) * sqrt(a), eps),
                Less("its root √ρ is the positive one: √a ≤ √(a+ε)", big, big + eps),
            ]
        )
    ],
)

box_noise, box_noise_dwang = both(
    BOX,
    STEP3,
    ".noise",
    kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ²) with ρ + 2√(ρ·ln(1/δ)) = ε makes DP-PGD (ε, δ)-private, L being the smoothness.",
    assumes=losses,
    states=Eq(sigma_n, L_s * sqrt(2 * T) / (n * rho_of)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_gradients(T), "gradients of size G, whatever the smoothness"), Units()],
)

box_read, box_read_dwang = both(
    BOX,
    STEP3,
    ".noise.lipschitz",
    kind=Kind.PRIVACY,
    says="The same, read with G for L: σ² = 2G²T/(n²ρ²).",
    assumes=losses,
    states=Eq(sigma_n, G * sqrt(2 * T) / (n * rho_of)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_gradients(T), "where ρ > 1 its square makes the noise too small")],
)

box_corrected, box_corrected_dwang = both(
    BOX,
    STEP3,
    ".noise.corrected",
    corrects=".noise",
    kind=Kind.PRIVACY,
    says="σ² = 2G²T/(n²ρ), for every ε and δ: each step is 2G²/(n²σ²)-zCDP.",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_gradients(T), "T full gradients, each 2G/n apart")],
)

text_noise, text_noise_dwang = both(
    REMARK,
    AFTER,
    ".noise",
    kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ), as the text has it, L being the smoothness.",
    assumes=losses,
    states=Eq(sigma_n, L_s * zcdp_noise / G),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_gradients(T), "gradients of size G, whatever the smoothness"), Units()],
)

text_corrected, text_corrected_dwang = both(
    REMARK,
    AFTER,
    ".noise.corrected",
    corrects=".noise",
    kind=Kind.IDENTITY,
    says="With G for L it is the corrected noise of the algorithm: 2G²T/(n²ρ).",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise),
    checks=[
        Proof(
            [Same("1/√ρ = (√(a+ε)+√a)/ε", (sqrt(eps + big) - sqrt(big)) * (sqrt(eps + big) + sqrt(big)), eps)],
            "both forms of √(2T)·G/(n√ρ)",
        )
    ],
)

taylor, taylor_dwang = both(
    REMARK,
    AFTER,
    ".taylor",
    kind=Kind.IDENTITY,
    says="ρ is about ε²/(4·ln(1/δ)) where ε/ln(1/δ) is small: that over ρ is at most 1 + ε/(2·ln(1/δ)).",
    states=Le(ratio, 1 + eps / (2 * a)),
    checks=[
        Proof(
            [
                Same(
                    "with x = ε/a: (√(1+x)+1)²/4 = (2 + x + 2√(1+x))/4",
                    (sqrt(1 + big) + 1) ** 2 / 4, (2 + big + 2 * sqrt(1 + big)) / 4,
                ),
                Less("(1+x) ≤ (1+x/2)², so it is at most 1 + x/2", 1 + big, (1 + big / 2) ** 2),
            ],
            "the approximate noise is always the smaller: by up to 1 + ε/(2·ln(1/δ)) in σ²",
        )
    ],
)  # fmt: skip

# Noise against noise -------------------------------------------------------------------------------
quoted_composition = 32 * log(1 / delta) * log(T / delta)  # over G²/(n²ε²)

less_noise = Claim(
    id="wangxu19.remark1.less_noise",
    source=Source("wangxu19", "after Remark 1: σ₁² and σ₂²"),
    kind=Kind.PRIVACY,
    says="The noise by zCDP, 8T·ln(1/δ), is at most that of advanced composition as quoted, without its T.",
    assumes=[delta <= Rational(1, 2)],
    states=Le(ratio, 1),
    checks=[AtMost(8 * T * a / quoted_composition, "σ² over σ₁², in units of G²/(n²ε²)")],
)

less_noise_corrected = Claim(
    id="wangxu19.remark1.less_noise.corrected",
    source=Source("wangxu19", "after Remark 1"),
    kind=Kind.PRIVACY,
    says="With the factor T that composition brings: at most 1/(4·ln(T/δ)).",
    assumes=[delta <= Rational(1, 2)],
    states=Le(ratio, 1 / (4 * log(T / delta))),
    corrects="wangxu19.remark1.less_noise",
    checks=[AtMost(8 * T * a / (T * quoted_composition), "σ² over σ₁², in units of G²/(n²ε²)")],
)

less_noise_dwang = Claim(
    id="dwang20.remark4.1.1.less_noise",
    source=Source("dwang20", "after Remark 4.1.1, no formula for the other noise"),
    kind=Kind.PRIVACY,
    says="The noise by zCDP is at most that of advanced composition: 64T·ln(5T/(2δ))·ln(2/δ), δ at most 1/2.",
    assumes=[delta <= Rational(1, 2)],
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Less("ln(1/δ) ≤ ln(2/δ)", big, big + log(2)),
                Less("8 ≤ 64·ln(5T/(2δ)), as ln(5T/(2δ)) ≥ ln 5", Integer(8), 64 * (log(5) + extra)),
            ],
            "σ² by Taylor over (2G/n)²·2·ln(2.5T/δ)/ε₀² with ε₀ = ε/√(8T·ln(2/δ))",
        )
    ],
)

moments, moments_dwang = both(
    REMARK,
    AFTER,
    ".moments",
    kind=Kind.PRIVACY,
    says="The noise by zCDP is at most that of the moments accountant, whose orders λ are whole numbers.",
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Same(
                    "the moment λ(λ+1)ρ - λε is least at λ = (ε-ρ)/(2ρ), where it is -(ε-ρ)²/(4ρ)",
                    (lambda x: x * (x + 1) * rho - x * eps)((eps - rho) / (2 * rho)), -((eps - rho) ** 2) / (4 * rho),
                ),
                Same(
                    "which is -ln(1/δ) at ρ + 2√(ρ·ln(1/δ)) = ε", ((eps - rho) ** 2 / (4 * rho)).subs(
                        eps, rho + 2 * sqrt(rho * big)), big,
                ),
            ],
            "the best real order gives the zCDP noise itself: whole orders can only cost more, and tend to the same",
        )
    ],
)  # fmt: skip

# The choice of the output --------------------------------------------------------------------------
@dataclass(frozen=True)
class CoveredByTranscript:
    """A choice that is a function of released iterates leaks no more than they do, which is computed exactly."""

    because: str
    at: Mapping[str, float]
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.at)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        numbers = {str(s): float(point[str(s)]) for s in (eps, delta, n, T)}
        noise = box_corrected.evaluate(**numbers, G=1.0)
        seen = GaussianDP(2 * numbers["T"] ** 0.5 / (numbers["n"] * float(noise))).epsilon(numbers["delta"])
        verdict = Verdict.REFUTED if seen < numbers["eps"] else Verdict.UNCHECKED
        figure = f"all T+1 iterates together have ε = {seen:.4g}, claimed more than {numbers['eps']:g}"
        return Evidence(self.kind, verdict, figure, self.because, counterexample=dict(point))


minimum, minimum_dwang = both(
    REMARK,
    ("Remark 1", "Remark 4.1.1"),
    ".minimum",
    kind=Kind.PRIVACY,
    says="With the R of the least ‖g_C,k‖, g_C,k = (x_k-x_(k+1))/γ, the output is not (ε, δ)-private.",
    assumes=losses,
    states=Gt(eps_out, eps),
    guarantee=ApproxDP(eps, delta),
    checks=[
        CoveredByTranscript(
            "g_C,k is made of released iterates: choosing by it is post-processing of what the noise covers",
            {"eps": 1.0, "delta": 1e-3, "n": 100.0, "T": 50.0},
        )
    ],
)

minimum_corrected, minimum_corrected_dwang = both(
    REMARK,
    ("Remark 1", "Remark 4.1.1"),
    ".minimum.corrected",
    corrects=".minimum",
    kind=Kind.PRIVACY,
    says="It is the R of the least exact ‖P_C(x_k, ∇F(x_k), γ)‖ that breaks the guarantee.",
    assumes=losses,
    states=Gt(eps_out, eps),
    guarantee=ApproxDP(eps, delta),
)

# Utility -------------------------------------------------------------------------------------------
_x = Symbol("x", positive=True)
enough_steps = n * eps >= sqrt(d * a)  # else T = O(nε/√(d·ln(1/δ))) leaves no step at all

theorem2, theorem2_dwang = both(
    THEOREM2,
    ("Theorem 2, equation (4)", "Theorem 4.1.2, equation (4.4)"),
    kind=Kind.UTILITY,
    says="The noisy gradient map at x_R after T = O(nε/√(d·ln(1/δ))) ≥ 1 steps of size 1/(2L); G, L and Δ fixed.",
    assumes=[*composite, A_STEP, Eq(eta, 1 / (2 * L_s)), enough_steps],
    states=Rate(step_map, low),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites=[("dwang20.theorem4.1.2.proof", {})],
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
)  # fmt: skip

exact_map, exact_map_dwang = both(
    THEOREM2,
    ("Theorem 2, for the projected gradient that equation (2) defines", "Theorem 4.1.2, for that of equation (4.2)"),
    ".exact",
    kind=Kind.UTILITY,
    says="The squared map of the exact gradient at x_R, which is what the tables call the projected gradient.",
    assumes=[*composite, A_STEP, Eq(eta, 1 / (2 * L_s)), enough_steps],
    states=Rate(gradient_map2, low**2),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites=[("dwang20.theorem4.1.2.noiseless", {})],
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
)  # fmt: skip

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
)  # fmt: skip

# What equation (2) and Remark 1 say ------------------------------------------------------------------
x, y = Symbol("x_real", real=True), Symbol("y_real", real=True)
gamma_k = Symbol("gamma_k", positive=True)

unconstrained, unconstrained_dwang = both(
    ("equation2", "equation4.2"),
    ("after equation (2)", "after equation (4.2)"),
    kind=Kind.IDENTITY,
    says="For C = ℝᵈ and r = 0 the generalised projected gradient is the gradient.",
    states=Eq(mapped, pulled),
    checks=[
        Proof(
            [
                Same(
                    "⟨g,u⟩ + ‖x-u‖²/(2γ) is stationary at u = x-γg", (y * big + (x - big) ** 2 / (2 * gamma_k)).diff(big)
                    .subs(big, x - gamma_k * y), y * 0,
                ),
                Same("(x - (x-γg))/γ = g", (x - (x - gamma_k * y)) / gamma_k, y),
            ]
        )
    ],
)  # fmt: skip

same_bound, same_bound_dwang = both(
    REMARK,
    ("Remark 1", "Remark 4.1.1"),
    ".same",
    kind=Kind.UTILITY,
    says="The bound of DP-PGD over that of the earlier work, as the comparison table quotes it.",
    states=Rate(ratio, Integer(1)),
    checks=[
        Follows(
            table1.rows[2].cells[UTILITY].printed / table1.rows[1].cells[UTILITY].printed, Integer(1),
            "two cells of the table",
        )
    ],
)  # fmt: skip

any_T, any_T_dwang = both(
    ("experiments", "section4.1.5"),
    ("Experiments Results, on Figure 2", "section 4.1.5, on Figures 4.1 to 4.3 (a)"),
    ".every_T",
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
)  # fmt: skip

any_T_corrected, any_T_corrected_dwang = both(
    ("experiments", "section4.1.5"),
    ("Experiments Results, on Figure 2", "section 4.1.5, on Figures 4.1 to 4.3 (a)"),
    ".every_T.corrected",
    corrects=".every_T",
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
)  # fmt: skip
