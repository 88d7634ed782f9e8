"""Sample and aggregate for strongly convex losses on heavy-tailed data (dwang20, section 3.2.3, Algorithm 3.2.5).

Line 5 averages the "top" ⌈s/β⌉ distances. Those ranked first, the least, are meant: with the largest, a quarter of far
points, which (3.60) allows, would widen the noise beyond the error that the theorem states. What the largest would do
is a reading of its own. Solver: dpcheck/solvers/heavy_tail/ht_sample_aggregate.py.
"""

from math import log as number_log

import numpy as np
from sympy import Eq, Gt, Le, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.library.heavy_tail.robust_descent import F_T, alpha, beta
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.privacy.smooth_noise import smooth_gaussian_scale
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.exact_values import ExactValue
from dpcheck.bounds.proving.proofs import AtMost, Quoted

m = quantity("m_sets", "subsets of the records", box=(1, 1e6), integer=True, printed="m", latex="m")
smooth_b = quantity("beta_sm", "ε/(4(d + log(2/δ)))", box=(1e-6, 0.5), printed="β", latex=r"\beta")
scale = quantity("scale_sa", "noise over its width", printed="1/γ", latex=r"1/\gamma")
width = quantity("width_sa", "S(𝒮), or the movement of g over 1-β", parameter=1, printed="S", latex="S")
width_other = quantity("width_sa_other", "S(𝒮')", parameter=1, printed="S'", latex="S'")
to_best = quantity("dist_subset", "‖w_D - w*‖", parameter=1, printed="‖w_D-w*‖", latex=r"\|w_D-w^*\|")
at_best = quantity("grad_mean_star", "‖∇L̂(w*, D)‖", loss=1, parameter=-1, printed="‖∇L̂(w*)‖")
E_star = quantity("grad_star2", "E ‖∇ℓ(w*, x)‖²", loss=2, parameter=-2, printed="E‖∇ℓ(w*)‖²")
L_star = quantity("risk_star", "L_D(w*)", loss=1, printed="L_D(w*)", latex=r"L_D(w^*)")
grad2 = quantity("grad_f2", "‖∇f(w)‖²", loss=2, parameter=-2, printed="‖∇f(w)‖²", latex=r"\|\nabla f(w)\|^2")
value = quantity("value_f", "f(w)", loss=1, printed="f(w)", latex="f(w)")
lower = quantity("value_f_lower", "f(w - ∇f(w)/β)", loss=1, printed="f(w-∇f/β)", latex=r"f(w-\nabla f/\beta)")

# Privacy ---------------------------------------------------------------------------------------------
released = Release(1 / (1 - smooth_b), SmoothNoise(scale, 2 * smooth_b, d, "gaussian"))
aggregated = Setting("m subsets, no record in more than √m of them; r_i(t) is the diameter of W for t > m")
MANY = Setting("⌈s/β⌉ ≤ m/2, which is more than ε > 2d/√m")

largest = Claim(
    id="dwang20.theorem3.2.1.largest", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.1, with line 5 of Algorithm 3.2.5, “top” read as largest", line=1436),
    says="With ρ(t) the mean of the ⌈s/β⌉ largest r_i(t), and noise of S/γ, Algorithm 3.2.5 is (ε, δ)-private.",
    assumes=[aggregated, Gt(eps, 2 * d / sqrt(m))],
    states=Eq(scale, 5 * sqrt(2 * log(2 / delta)) / eps),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
)


def needed(at: dict[str, np.ndarray]) -> np.ndarray:
    """The least scale that an account of shift and dilation allows, at each point."""
    found = []
    for e, p, width_ in zip(at["eps"], at["delta"], at["d"], strict=True):
        own = e / (4 * (width_ + number_log(2 / p)))
        found.append(smooth_gaussian_scale(ApproxDP(float(e), float(p)), 2 * own, int(width_)) / (1 - own))
    return np.array(found)


privacy = Claim(
    id="dwang20.theorem3.2.1.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.1, with Algorithm 3.2.5, “top” read as ranked first, the least", line=1436),
    says="With ρ(t) the mean of the ⌈s/β⌉ least r_i(t), and noise of S/γ, Algorithm 3.2.5 is (ε, δ)-private.",
    assumes=[aggregated],
    added=[eps <= 1, delta <= Rational(1, 2), MANY],
    states=Eq(scale, 5 * sqrt(2 * log(2 / delta)) / eps),
    guarantee=ApproxDP(eps, delta),
    checks=[
        ExactValue(
            needed, {eps: (0.01, 1.0), delta: (1e-10, 0.5), d: (1, 100)},
            "S is 2β-smooth and hides g up to 1/(1-β): what a shift of γ/(1-β) and a dilation of e^2β take",
            samples=15,
        )
    ],
    cites=[Cites("dwang20.theorem3.2.1.smooth")],
)

smooth = Claim(
    id="dwang20.theorem3.2.1.smooth", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 3.2.5, lines 4 and 5, with the least values", line=1453),
    says="Moving √m of the points changes S by a factor of e^2β at most, and g by S/(1-β).",
    assumes=[aggregated, MANY],
    states=Le(width, exp(2 * smooth_b) * width_other),
    provenance=Provenance.CONSEQUENCE,
)

# Utility ---------------------------------------------------------------------------------------------
SUBSET = Setting("L̂ is α-strongly convex with probability 5/6, E ∇ℓ(w*, x) = 0")
lemma1 = Claim(
    id="dwang20.lemma3.2.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.1, (3.61), with the √40 of its proof, and probability 3/4", line=1467),
    says="The minimiser of an α-strongly convex empirical risk is within √(40 E‖∇ℓ(w*)‖²/(nα²)) of w*.",
    assumes=[SUBSET],
    states=Le(to_best, sqrt(40 * E_star / (n * alpha**2))),
    checks=[
        Chain(
            to_best,
            Step("<=", at_best / alpha, because=Premise(
                "α‖w_D-w*‖² ≤ ⟨∇L̂(w_D)-∇L̂(w*), w_D-w*⟩ ≤ -⟨∇L̂(w*), w_D-w*⟩ (strongly convex)")),
            Step("<=", STATEMENT, because=Slack(
                {"E‖∇L̂(w*)‖² = E‖∇ℓ(w*)‖²/n and Markov's inequality, but for 1/12 = 1/4 - 1/6":
                    (sqrt(12 * E_star / n) - at_best) / alpha},
                seen=[(sqrt(40) - sqrt(12)) * sqrt(E_star / n) / alpha]), uses=[SUBSET]),
        )
    ],
)

theorem2 = Claim(
    id="dwang20.theorem3.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.2, (3.62); logarithms left out, as Õ does", line=1475),
    says="Excess risk of sample and aggregate, with high probability.",
    assumes=[aggregated, Setting("L̂ is α-strongly convex with probability 5/6, L_D is β-smooth")],
    states=Rate(F_T, (beta / alpha) ** 2 * d**3 / (n * eps**4) * L_star),
    cites=[Cites("dwang20.lemma3.2.1")],
    checks=[Quoted(
        "error of the aggregate from [233], for subsets of one dataset, where Lemma 3.2.1 is about independent ones; "
        "and E‖∇ℓ(w*)‖² ≤ 4βL_D(w*) takes smooth losses, not only a smooth L_D (dwang20.theorem3.2.2.gradients)")],
)

gradients = Claim(
    id="dwang20.theorem3.2.2.gradients", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.2.2, “by Lemma 3.2.1 [meaning 3.2.4]”", line=1748),
    says="E‖∇ℓ(w*, x)‖² is at most 4βL_D(w*), for non-negative losses with a β-smooth L_D.",
    assumes=[Setting("ℓ ≥ 0 is convex, L_D is β-smooth")],
    states=Le(E_star, 4 * beta * L_star),
    provenance=Provenance.READING,
    checks=[AtMost(2 * beta * d * L_star, "ℓ = (⟨w,x⟩-y)², x ~ N(0, I), noise of variance L_D: β = 2, E‖∇ℓ‖² = 4dL_D")],
)

NOT_NEGATIVE, EVERYWHERE = Setting("f ≥ 0 is β-smooth"), Setting("on all of ℝᵈ")  # where a step may lead
lemma4 = Claim(
    id="dwang20.lemma3.2.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.4, printed for a set W, where f(w) = w on [0, 1] is 0-smooth", line=1726),
    says="A non-negative β-smooth function has ‖∇f(w)‖² ≤ 4βf(w).",
    assumes=[NOT_NEGATIVE],
    added=[EVERYWHERE],
    states=Le(grad2, 4 * beta * value),
    checks=[
        Chain(
            grad2,
            Step("<=", 2 * beta * (value - lower), because=Premise("f(w-∇f/β) ≤ f(w) - ‖∇f‖²/(2β) (smooth)"),
                 uses=[EVERYWHERE]),
            Step("<=", STATEMENT, because=Slack(seen=[2 * beta * lower, 2 * beta * value]), uses=[NOT_NEGATIVE]),
        )
    ],
)

EACH_SMOOTH = Setting("each ℓ(·, x) ≥ 0 is β-smooth on ℝᵈ")
gradients_corrected = Claim(
    id="dwang20.theorem3.2.2.gradients.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.2.2", line=1748),
    says="It is for losses that are each β-smooth on ℝᵈ.",
    assumes=[EACH_SMOOTH],
    states=Le(E_star, 4 * beta * L_star),
    corrects="dwang20.theorem3.2.2.gradients",
    checks=[
        Chain(
            E_star,
            Step("=", grad2, because=Premise("at a record, before the mean is taken over all")),
            Step("<=", because=Cites("dwang20.lemma3.2.4", {value: L_star}, granted="each loss is smooth on ℝᵈ"),
                 uses=[EACH_SMOOTH]),
            Step("<=", STATEMENT),
        )
    ],
)
