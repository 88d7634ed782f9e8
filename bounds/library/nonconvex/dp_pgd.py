"""DP-PGD (wangxu19, Algorithm 1; dwang20, section 4.1.1, Algorithm 4.1.16): noisy proximal gradient steps.

Theorem 1 (4.1.1), the other noise of step 3 and what Remark 1 (4.1.1) says; Theorem 2 (4.1.2) with its proof from
section 4.1.6 of dwang20, the only one printed. Population risk: dp_pgd_population.py. The dimension, printed p, is d.
Solver: dpcheck/solvers/nonconvex/dp_pgd.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Eq, Ge, Gt, Le, Rational, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Effort,
    Evidence,
    Kind,
    Provenance,
    Rate,
    Setting,
    Source,
    Verdict,
)
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, eps_out, eta, gradient_map2, m, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import gain, modulus, shake, step_gap, weight
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, r_u, r_x, sigma_n
from dpcheck.bounds.library.nonconvex.stationarity import (
    a,
    both,
    composite,
    full_gradients,
    losses,
    seen_in_x_R,
    step_map,
    step_map2,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Minimiser, Premise, Rearranged, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Units

moved = quantity("moved_pgd", "||x+ - x||_2", parameter=1, printed="‖x⁺-x‖₂", latex=r"\|x^+-x\|_2")
map_size = quantity("map_size", "||g_C,k||", loss=1, parameter=-1, printed="‖g_k‖", latex=r"\|g_k\|")
noise_size = quantity("noise_size", "||ε_k||", loss=1, parameter=-1, printed="‖ε_k‖", latex=r"\|\varepsilon_k\|")
cross = quantity(
    "noise_cross", "<ε_k, g_C,k>", loss=2, parameter=-2, printed="⟨ε_k,g_k⟩", latex=r"\langle\varepsilon,g\rangle"
)
F_now = quantity("F_pgd", "F^r(x_k)", loss=1, printed="F(x_k)", latex="F^r(x_k)")
F_next = quantity("F_pgd_next", "F^r(x_(k+1))", loss=1, printed="F(x_(k+1))", latex="F^r(x_{k+1})")

_w, _x, _y, _z = symbols("w x y z", nonnegative=True)
usual = {delta: exp(-log(2) - _w)}  # all δ up to 1/2
THEOREM1, BOX, REMARK = ("theorem1", "theorem4.1.1"), ("algorithm1", "algorithm4.1.16"), ("remark1", "remark4.1.1")
SETTINGS = ("section.experiments", "section4.1.5")
IN_SETTINGS: dict[str, Any] = {
    "places": ("Experiment Settings", "section 4.1.5, experiment settings"), "lines": (290, 2885)
}

# Privacy, by the moments accountant ----------------------------------------------------------------
stated_noise = G * sqrt(c * T * a) / (n * eps)  # (3) / (4.3)
released = full_gradients(T)  # whichever iterate is chosen by them

theorem1, theorem1_dwang = both(
    *THEOREM1, places=("Theorem 1, equation (3)", "Theorem 4.1.1, equation (4.3)"), lines=(113, 2718),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-PGD is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*losses, eps < c1 * T],
    states=Eq(sigma_n, stated_noise), guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites={"wangxu19": [Cites("wangxu19.lemma2", {m: n})], "dwang20": [Cites("dwang20.lemma2.1.7", {m: n})]},
    checks=[IterateAccountant(
        seen_in_x_R,
        "linear losses, x_R seen: T cancels, so a condition on it limits nothing, and the true ε grows like ε²",
    )],
)

theorem1_corrected, theorem1_corrected_dwang = both(
    *THEOREM1, ".corrected", lines=(113, 2718), kind=Kind.PRIVACY,
    says="With c = 8, to which the text expands the noise by zCDP: for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)), guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

# Privacy, by zCDP ----------------------------------------------------------------------------------
rho_of = (sqrt(eps + a) - sqrt(a)) ** 2  # the ρ with ρ + 2√(ρ·ln(1/δ)) = ε
zcdp_noise = G * sqrt(2 * T) * (sqrt(eps + a) + sqrt(a)) / (n * eps)  # 2G²T/(n²ρ), without cancellation
composed_noise = G * sqrt(64 * T * log(Rational(5, 2) * T / delta) * log(2 / delta)) / (n * eps)
FLAT = "gradients of size G, whatever the smoothness; x_R seen"
AFTER = ("after Remark 1", "after Remark 4.1.1")

box_noise, box_noise_dwang = both(
    *BOX, ".noise", places=("Algorithm 1, step 3", "Algorithm 4.1.16, step 3"), lines=(127, 2713), kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ²) with ρ + 2√(ρ·ln(1/δ)) = ε makes DP-PGD (ε, δ)-private, L being the smoothness.",
    assumes=losses, misprint_of=(f"wangxu19.{REMARK[0]}.noise", f"dwang20.{REMARK[1]}.noise"),
    states=Eq(sigma_n, L_s * sqrt(2 * T) / (n * rho_of)), guarantee=ApproxDP(eps, delta),
    checks=[IterateAccountant(seen_in_x_R, FLAT), Units()],
)

box_corrected, box_corrected_dwang = both(
    *BOX, ".noise.corrected", lines=(127, 2713), kind=Kind.PRIVACY,
    says="σ² = 2G²T/(n²ρ), for every ε and δ: each step is 2G²/(n²σ²)-zCDP.",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise), guarantee=ApproxDP(eps, delta),
    cites={"dwang20": [Cites(f"dwang20.lemma2.1.{part}") for part in ("8", "9.corrected", "10")]},
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

text_noise, text_noise_dwang = both(
    *REMARK, ".noise", places=AFTER, lines=(149, 2738), kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ), as the text has it (the copy drops the root over ln(1/δ)+ε), L being the smoothness.",
    assumes=losses,
    states=Eq(sigma_n, L_s * zcdp_noise / G), guarantee=ApproxDP(eps, delta),
    checks=[IterateAccountant(seen_in_x_R, FLAT), Units()],
)

text_corrected, text_corrected_dwang = both(
    *REMARK, ".noise.corrected", places=AFTER, lines=(149, 2738), kind=Kind.PRIVACY,
    says="With G, the bound on the gradients, for L.",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise), guarantee=ApproxDP(eps, delta),
    checks=[Chain(Cites("wangxu19.algorithm1.noise.corrected"), Step("=", STATEMENT))],
)

less_noise, less_noise_dwang = both(
    *REMARK, ".less_noise", places=AFTER, lines=(149, 2738), kind=Kind.UTILITY,
    says="Noise by zCDP is at most that of advanced composition, of T steps of ε/√(8T·ln(2/δ)) and δ/(2T) each.",
    assumes=[*losses, Eq(sigma_n, zcdp_noise), eps <= 1],
    added=[delta <= Rational(1, 2)],
    states=Le(sigma_n, composed_noise),
    provenance=Provenance.READING,
    checks=[
        Chain(
            sigma_n,
            Step("=", zcdp_noise),
            Step("<=", G * sqrt(2 * T * (4 * a + 2 * eps)) / (n * eps), because=Premise("(x+y)² ≤ 2x² + 2y²")),
            Step("<=", STATEMENT, where={**usual, eps: 1 / (1 + _x), T: 1 + _y}),
        )
    ],
)


# Which iterate is put out, and how long its steps are ----------------------------------------------
@dataclass(frozen=True)
class PostProcessing:
    """A choice that is a function of released iterates leaks no more than they do, which is computed exactly."""

    because: str
    at: Mapping[str, float]
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.at)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        numbers = {str(s): float(point[str(s)]) for s in (eps, delta, n, T)}
        noise = float(box_corrected.evaluate(**numbers, G=1.0))
        seen = GaussianDP(2 * numbers["T"] ** 0.5 / (numbers["n"] * noise)).epsilon(numbers["delta"])
        verdict = Verdict.REFUTED if seen < claim.evaluate(**numbers) else Verdict.UNCHECKED
        figure = f"all T+1 iterates together have ε = {seen:.4g}, claimed more than {numbers['eps']:g}"
        return Evidence(self.kind, verdict, figure, self.because, counterexample=dict(point))


minimum, minimum_dwang = both(
    *REMARK, ".minimum", lines=(141, 2732), kind=Kind.LOWER_BOUND,
    says="With the R of the least ‖g_C,k‖, g_C,k = (x_k-x_(k+1))/γ, the output is not (ε, δ)-private.",
    assumes=losses,
    states=Gt(eps_out, eps), guarantee=ApproxDP(eps, delta),
    checks=[
        PostProcessing("g_C,k is made of released iterates: choosing by it is post-processing of what the noise covers",
                       {"eps": 1.0, "delta": 1e-3, "n": 100.0, "T": 50.0})
    ],
)

minimum_corrected, minimum_corrected_dwang = both(
    *REMARK, ".minimum.corrected", lines=(141, 2732), kind=Kind.LOWER_BOUND,
    says="It is the R of the least exact ‖P_C(x_k, ∇F(x_k), γ)‖ that breaks the guarantee.",
    assumes=[*losses, Setting("g_C,k without its noise")],
    states=Gt(eps_out, eps), guarantee=ApproxDP(eps, delta),
)

# Losses ‖x‖²/2 near x₁ = 0, d = 2 and T = 2, n large, one loss 0 in the other data set; a first step size between the
# inverses of the two curvatures is halved on one of them: x₂ is N(0, s²I) or N(0, s²I/4), whatever s. The δ at ε is
# that of the disc where the density of the second is at least e^ε times that of the first; x_R is x₂ half the time.
delta_searched = quantity("delta_searched", "delta of x_R whose steps were searched", box=(1e-10, 0.5), below=1.0,
                          printed="δ(x_R)", latex=r"\delta(x_R)")
halved = (1 - exp(eps) + Rational(3, 4) * 4 ** Rational(-1, 3) * exp(4 * eps / 3)) / 2

step_size, step_size_dwang = both(
    *SETTINGS, ".step_size", **IN_SETTINGS, kind=Kind.PRIVACY,
    says="The step size does not affect privacy: read as, so that backtracking on exact risks (TFOCS) may choose it.",
    assumes=[*losses, Setting("noise of any size, and a step size that is halved where the risk tells so")],
    states=Le(delta_searched, delta), guarantee=ApproxDP(eps, delta_searched), provenance=Provenance.READING,
    checks=[
        AtMost(halved, "the δ of x_R where backtracking halves the first step on one of two data sets, at any noise",
               box={eps: (0.1, 1), delta: (1e-10, 1e-2)})
    ],
)

FIXED_STEPS = Setting("step sizes that do not depend on the data")

step_size_corrected, step_size_corrected_dwang = both(
    *SETTINGS, ".step_size.corrected", **IN_SETTINGS, kind=Kind.PRIVACY,
    says="Step sizes that are fixed beforehand do not: the noise of Theorem 1 corrected stays enough.",
    assumes=[*losses, FIXED_STEPS, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Chain(Cites("wangxu19.theorem1.corrected"), Step("=", STATEMENT, uses=[FIXED_STEPS]))],
)

# Utility: one step ---------------------------------------------------------------------------------
PROXIMAL = Setting("r closed and convex")

lemma2 = Claim(
    id="dwang20.lemma4.1.2",
    source=Source("dwang20", "Lemma 4.1.2", line=2917),
    kind=Kind.UTILITY,
    says="What a proximal step with an error ε gains, where r(u) = r(x⁺) and r(x_j) = r(x).",
    assumes=[PROXIMAL],
    states=Ge(gain, moved**2 / eta + r_u - r_x + shake),
    checks=[
        Chain(
            gain,
            Step(
                ">=",
                because=Cites(
                    "dwang20.lemma4.1.5",
                    {modulus: Rational(1), weight: eta, step_gap: moved},
                    granted="w = ‖x‖²/2, so that V = ‖u-x‖²/2 and α = 1",
                ),
                uses=[PROXIMAL],
            ),
            Step("=", STATEMENT),
        )
    ],
)

one_step = Claim(
    id="dwang20.theorem4.1.2.step",
    source=Source("dwang20", "proof of Theorem 4.1.2, one step, second line", line=2932),
    kind=Kind.UTILITY,
    says="One step, the noise apart. (The line before has -γ⟨ε,g⟩ for +γ⟨ε,g⟩; this one holds either way.)",
    assumes=composite,
    states=Le(F_next, F_now - (eta - L_s * eta**2) * map_size**2 + noise_size**2 / (2 * L_s)),
    checks=[Chain(
        F_next,
        Step("<=", F_now - gain + L_s / 2 * moved**2 + r_u - r_x,
             because=Premise("F is L-smooth; r(u) and r(x_j) are r at x_(k+1) and x_k")),
        Step("<=", because=Cites("dwang20.lemma4.1.2")),
        Step("=", F_now - (1 / eta - L_s / 2) * (eta * map_size) ** 2 + eta * cross,
             because=Premise("x_k - x_(k+1) = γ·g_k")),
        Step(
            "<=",
            STATEMENT,
            because=Slack(given={"⟨ε,g⟩ ≤ ‖ε‖‖g‖ (Cauchy-Schwarz)": eta * (noise_size * map_size - cross)},
                          seen=[(L_s * eta * map_size - noise_size) ** 2 / (2 * L_s)]),
        ),
    )],
)

# Utility: all steps --------------------------------------------------------------------------------
SAME_STEP = Setting("a constant step size γ, which is η here")
half = [*composite, SAME_STEP, Eq(eta, 1 / (2 * L_s))]
UNIFORM = Premise("R is uniform: the mean over the steps k and their noise")
TELESCOPES = Premise("in that mean F(x_k) - F(x_(k+1)) is at most g₀/T, and ‖ε_k‖² is dσ²")

explicit = Claim(
    id="dwang20.theorem4.1.2.proof",
    source=Source("dwang20", "proof of Theorem 4.1.2, at γ = 1/(2L), before σ is put in", line=2960),
    kind=Kind.UTILITY,
    says="The mean squared noisy map at x_R with all constants: g₀ = F^r(x₁)-F^r(x°).",
    assumes=half,
    states=Le(step_map2, 4 * L_s * gap0 / T + 2 * d * sigma_n**2),
    checks=[
        Chain(
            step_map2,
            Step("=", map_size**2, because=UNIFORM),
            Step("<=", because=Rearranged("dwang20.theorem4.1.2.step")),
            Step(
                "<=",
                (gap0 / T + d * sigma_n**2 / (2 * L_s)) / (eta - L_s * eta**2),
                because=TELESCOPES,
                uses=[SAME_STEP],
            ),
            Step("=", STATEMENT),
        )
    ],
)

noiseless = Claim(
    id="dwang20.theorem4.1.2.noiseless",
    source=Source("dwang20", "Theorem 4.1.2, for the map of the exact gradient that equation (4.2) defines", line=2697),
    kind=Kind.UTILITY,
    says="The mean squared map of the exact gradient at x_R, which is what the tables call the projected gradient.",
    assumes=half,
    states=Le(gradient_map2, 8 * L_s * gap0 / T + 6 * d * sigma_n**2), provenance=Provenance.CONSEQUENCE,
    cites=[Cites("dwang20.lemma3.1.4")],
    checks=[Chain(
        gradient_map2,
        Step("<=", 2 * step_map2 + 2 * d * sigma_n**2,
             because=Premise("‖P(∇F)‖ ≤ ‖P(∇F+ε)‖ + ‖ε‖, as proximal steps do not expand; (a+b)² ≤ 2a² + 2b²")),
        Step("<=", because=Cites("dwang20.theorem4.1.2.proof")),
        Step("=", STATEMENT),
    )],
)

best_steps = Claim(
    id="dwang20.theorem4.1.2.steps",
    source=Source("dwang20", "proof of Theorem 4.1.2, the choice of T, with its constant and g₀", line=2962),
    kind=Kind.UTILITY,
    says="The T that makes 4Lg₀/T + 2dσ² least.",
    assumes=losses,
    states=Eq(T, n * eps * sqrt(2 * L_s * gap0) / (G * sqrt(c * d * a))), provenance=Provenance.CONSEQUENCE,
    checks=[Chain(T, Step("=", STATEMENT, because=Minimiser(4 * L_s * gap0 / T + 2 * d * stated_noise**2)))],
)

low = (d * a) ** Rational(1, 4) / sqrt(n * eps)
printed_choice = [Eq(sigma_n, stated_noise), Eq(T, n * eps / sqrt(d * a))]  # of T = O(nε/√(d·ln(1/δ)))
fixed = [G <= 1, L_s <= 1, gap0 <= 1, delta <= Rational(1, 2)]  # what the printed rates leave out, and usual δ
reached = {**usual, G: 1 / (1 + _x), L_s: 1 / (1 + _y), gap0: 1 / (1 + _z)}  # all that is fixed so

theorem2, theorem2_dwang = both(
    "theorem2", "theorem4.1.2", lines=(133, 2724),
    places=("Theorem 2, equation (4)", "Theorem 4.1.2, equation (4.4)"), kind=Kind.UTILITY,
    says="The noisy gradient map at x_R after T = O(nε/√(d·ln(1/δ))) steps of size 1/(2L), for G, L and g₀ fixed.",
    assumes=[*half, *printed_choice],
    added=fixed,
    states=Rate(step_map, low), guarantee=ApproxDP(eps, delta),
    hidden=(c,), ignores_units=True,
    checks=[Chain(
        step_map,
        Step("<=", sqrt(step_map2), because=Premise("Jensen")),
        Step("<=", because=Cites("dwang20.theorem4.1.2.proof")),
        Step("<=", 5 * STATEMENT, where=reached),
        choosing={c: Rational(8)},
    )],
)
