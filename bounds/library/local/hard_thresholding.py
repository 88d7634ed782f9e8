"""Iterative hard thresholding on rows of ±1 (dwang20, section 5.3): what its four protocols share.

θ' = Trunc(θ - η·(gradient + noise), s), projected onto the unit ball, for y = f(⟨x, θ*⟩) + ξ, ‖θ*‖₀ ≤ s*, ‖θ*‖₂ ≤ 1,
|ξ| ≤ C, a ≤ f' ≤ b and s = 8s*; f(u) = u is linear regression. Solvers: dpcheck/families/hard_thresholding.py.
"""

from sympy import Expr, Le, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import T, d, eta, quantity
from dpcheck.bounds.library.sparse.dp_ight import kept, s_star, truth
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Induction, OneStep, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Units

noise_C = quantity("noise_C", "largest deviation of a label from its mean", box=(1e-3, 10), printed="C", latex="C")
slope_a = quantity("slope_a", "least slope of the link", box=(0.1, 10), printed="a", latex="a")
slope_b = quantity("slope_b", "largest slope of the link", box=(0.1, 10), printed="b", latex="b")
rip = quantity("rip", "restricted isometry constant", box=(1e-3, 0.99), below=1.0, printed="Δ", latex=r"\Delta")
factor = quantity(
    "factor", "max(1 - eta a^2 (1-rip), eta b^2 (1+rip) - 1), which bounds ||I - eta D|| on 2s + s* coordinates",
    printed="max{1-ηa²(1-Δ),ηb²(1+Δ)-1}",
)
cut2 = quantity("cut2", "||Trunc(v, s) - v||^2", parameter=2, printed="‖Trunc(v,s)-v‖²")
cut = quantity("cut", "||Trunc(v, s) - v||", parameter=1, printed="‖Trunc(v,s)-v‖")
aside2 = quantity("aside2", "||theta* - v||^2", parameter=2, printed="‖θ°-v‖²")
middle2 = quantity("middle2", "the s - s* squares of v next to its d - s least", parameter=2, printed="Σ middle v²")
half_off = quantity("half_off", "distance before thresholding", parameter=1, printed="‖θ̃-θ°‖")
off_now = quantity("off_now", "distance from the truth", parameter=1, printed="‖θ_t-θ°‖")
off_next = quantity("off_next", "distance from the truth a step later", parameter=1, printed="‖θ_(t+1)-θ°‖")
off_iht = quantity("off_iht", "||theta_T - theta*||_2", parameter=1, printed="‖θ_T-θ°‖", latex=r"\|\theta_T-\theta^*\|")
noise_max = quantity("noise_max", "largest coordinate of a gradient's noise", printed="‖noise‖∞")
v, w = Symbol("v", nonnegative=True), Symbol("w", positive=True)
BELOW_1 = {rip: 1 / (1 + w)}
CONTRACTS = Rational(2, 7)

# Thresholding --------------------------------------------------------------------------------------
sparser = [s_star <= kept, kept + 1 <= d]
off_s = (d - kept) / (d - s_star)

lemma3 = Claim(
    id="dwang20.lemma5.3.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.3", line=6775),
    says="Keeping the s largest of d entries is off by at most (d-s)/(d-s*) times the squared distance to an "
    "s*-sparse θ*.",
    assumes=sparser,
    states=Le(cut, off_s * aside2),
    misprint_of="dwang20.lemma5.3.3.corrected",
    checks=[Units()],
)

lemma3_corrected = Claim(
    id="dwang20.lemma5.3.3.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.3, as the proof of Theorem 5.3.9 uses it", line=7177),
    says="Its squared distance is.",
    assumes=sparser,
    states=Le(cut2, off_s * aside2),
    corrects="dwang20.lemma5.3.3",
    checks=[
        Chain(
            cut2,
            Step("<=", STATEMENT, because=Slack(given={
                "θ* is 0 on d-s* coordinates, where v has no less than its d-s* least squares":
                off_s * (aside2 - cut2 - middle2),
                "the s-s* squares beside the d-s least are no less than their mean":
                off_s * (middle2 - (kept - s_star) / (d - kept) * cut2),
            }), uses=sparser),
        )
    ],
)

# The step size -------------------------------------------------------------------------------------
slopes = [slope_a <= slope_b]
low, high = slope_a**2 * (1 - rip), slope_b**2 * (1 + rip)  # the ends of D's spectrum on 2s + s* coordinates, by RIP
best = (high - low) / (high + low)
BEST = "at the best step size, 2/(a²(1-Δ)+b²(1+Δ)), where the two terms are equal"

rip_linear = Claim(
    id="dwang20.theorem5.3.6.rip", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.6, its condition on Δ, as the proof of Theorem 5.3.9 uses it", line=6543),
    says="With Δ ≤ 2/7 there is a step size with which a linear step, a = b = 1, contracts by 2/7.",
    assumes=[rip <= CONTRACTS],
    states=Le(factor, CONTRACTS),
    checks=[AtMost(best.subs({slope_a: 1, slope_b: 1}), BEST, where={rip: CONTRACTS / (1 + v)})],
)

rip_link = Claim(
    id="dwang20.theorem5.3.9.rip", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorems 5.3.9 and 5.3.11, their condition on Δ, as the proof uses it", line=6634),
    says="With Δ ≤ (9a²-5b²)/14 there is a step size with which a step contracts by 2/7.",
    assumes=[*slopes, 5 * slope_b**2 <= 9 * slope_a**2, 14 * rip <= 9 * slope_a**2 - 5 * slope_b**2],
    states=Le(factor, CONTRACTS),
    checks=[AtMost(best, BEST)],
)

rip_link_corrected = Claim(
    id="dwang20.theorem5.3.9.rip.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorems 5.3.9 and 5.3.11, their condition on Δ", line=6634),
    says="It takes Δ ≤ (9a²-5b²)/(9a²+5b²), which is the same for a = b = 1.",
    assumes=[*slopes, 5 * high <= 9 * low],
    states=Le(factor, CONTRACTS),
    corrects="dwang20.theorem5.3.9.rip",
    checks=[
        Chain(
            factor,
            Step("=", best, because=Premise(BEST)),
            Step("<=", STATEMENT, because=Slack(seen=[(9 * low - 5 * high) / (7 * (high + low))]), where=BELOW_1),
        )
    ],
)

lower_end, upper_end = 7 * eta * low >= 5, 7 * eta * high <= 9


def end_of(value: Expr) -> Chain:
    """One end of the spectrum is the farther from 1."""
    return Chain(
        factor, Step("=", value, because=Premise("the larger of the two terms")),
        Step("<=", STATEMENT, because=Slack(seen=[CONTRACTS - value])),
    )


window = Claim(
    id="dwang20.theorem5.3.9.step_size", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, with a² for the a of its lower end", line=7167),
    says="A step contracts by 2/7 for η from 5/(7a²(1-Δ)) to 9/(7b²(1+Δ)).",
    assumes=[*slopes, lower_end, upper_end],
    states=Le(factor, CONTRACTS),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Cases({eta * (low + high) <= 2: end_of(1 - eta * low), eta * (low + high) > 2: end_of(eta * high - 1)})
    ],
)

# A step, and T of them -----------------------------------------------------------------------------
isometry = Setting("X, or each of its blocks, satisfies RIP at 2s + s* with Δ")
sparse_truth = Setting("θ₀ = 0, s = 8s*, ‖θ*‖₀ ≤ s*, ‖θ*‖₂ ≤ 1")
iht = [lower_end, upper_end, *slopes, isometry, sparse_truth]
linear = {slope_a: 1, slope_b: 1}
linear_iht = [lower_end.subs(linear), upper_end.subs(linear), isometry, sparse_truth]
reach = sqrt(17 * s_star)  # √(2s + s*)

one_step = Claim(
    id="dwang20.theorem5.3.9.step", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, with numbers", line=7185),
    says="A step halves the distance to θ*, up to its noise.",
    assumes=iht,
    states=Le(off_next, off_now / 2 + Rational(7, 4) * eta * reach * noise_max),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            off_next,
            Step("<=", half_off + sqrt(Rational(9, 16)) * half_off,
                 because=Premise("projecting brings no point of the ball farther away, and thresholding moves by "
                                 "√((s+s*)/2s) of the distance (Lemma 5.3.3 on 2s + s* coordinates)"),
                 uses=[sparse_truth]),
            Step("<=", Rational(7, 4) * (factor * off_now + eta * reach * noise_max),
                 because=Premise("θ̃-θ* = (I-ηD)(θ_t-θ*) - η·noise on 2s + s* coordinates, by the mean value theorem"),
                 uses=[isometry]),
            Step("<=", because=Cites(window.id)),
            Step("<=", STATEMENT),
        )
    ],
)

unrolled = Claim(
    id="dwang20.theorem5.3.9.steps", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.3.9, last lines, with numbers", line=7195),
    says="T steps, whose noise has coordinates of at most ‖noise‖∞.",
    assumes=iht,
    states=Le(off_iht, 2 ** (-T) * truth + Rational(7, 2) * eta * reach * noise_max),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(off_iht, Step("<=", STATEMENT, because=Induction(T, truth, OneStep(one_step.id, off_now, off_next))))
    ],
)
