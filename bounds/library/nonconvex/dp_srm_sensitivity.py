"""How far one record moves the estimators of DP-SRM (lwang21, chapter 4), and what noise that takes.

Equations (4.6.1) and (4.9.2) to (4.9.5), how the estimators compose, and the limits by clipping. Lemmas:
dp_srm_privacy.py; theorems: dp_srm.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, diff, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, delta, eps, n, quantity, t
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import noise2, order, reach, renyi, renyi_1, renyi_2, share, split
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, NoConstant, Proof, Same

momentum = quantity("momentum", "weight of the newest gradient", box=(1e-3, 0.999), below=1.0, printed="γ")
slowing = quantity("slowing", "divisor of the step size", box=(1, 1e3), printed="n₀", latex="n_0")
target = quantity("target", "gradient norm aimed at", loss=1, parameter=-1, printed="ζ", latex=r"\zeta")
first_batch = quantity(
    "first_batch", "records of the first batch", box=(1, 1e4), integer=True, printed="b₀", latex="b_0"
)
later_batch = quantity("later_batch", "records of each later batch", box=(1, 1e4), integer=True, printed="b", latex="b")
shift = quantity("shift", "sensitivity of a gradient estimator", loss=1, parameter=-1, printed="Δ", latex=r"\Delta")
sigma_first = quantity(
    "sigma_first", "noise on the first estimator", loss=1, parameter=-1, printed="σ₀", latex=r"\sigma_0"
)
first2 = quantity("srm_first2", "squared noise over sensitivity of the first", box=(0.7, 1e5), printed="σ₀'²")
change = quantity("change", "change of a record's gradient", loss=1, parameter=-1, printed="|∇f(θ)-∇f(θ')|")
spread = quantity("spread", "distance of two records' gradients", loss=1, parameter=-1, printed="|∇f-∇f'|")
clip_1 = quantity("clip_1", "limit of a gradient", loss=1, parameter=-1, printed="C₁", latex="C_1")
clip_2 = quantity("clip_2", "limit of a change of gradient", loss=1, parameter=-1, printed="C₂", latex="C_2")

losses = [lipschitz(G), smooth(L_s)]
big = Symbol("big", positive=True)

# Sensitivity ---------------------------------------------------------------------------------------
later_reach = (1 - momentum) * target / slowing + momentum * G  # times 2/b it is the sensitivity of a later estimator

equation2 = Claim(
    id="lwang21.equation4.9.2",
    source=Source("lwang21", "equation (4.9.2)"),
    kind=Kind.SENSITIVITY,
    says="The first estimator moves by 2G/b₀ at most, and opposite gradients attain it.",
    assumes=losses,
    states=Eq(shift, 2 * G / first_batch),
    checks=[Equals((G - (-G)) / first_batch, "gradients G and -G of the two records")],
)

equation61 = Claim(
    id="lwang21.equation4.6.1",
    source=Source("lwang21", "equation (4.6.1)"),
    kind=Kind.SENSITIVITY,
    says="The sensitivity of a later estimator, as printed with + ∇f_i'(θ) - ∇f_i'(θ'): here the two changes cancel.",
    assumes=[*losses, Setting("the gradients of the two records change by the same amount in opposite directions")],
    states=Le(shift, momentum * spread / later_batch),
    checks=[
        AtMost(
            (2 * (1 - momentum) * change + momentum * spread) / later_batch,
            "two losses on a line that curve in opposite ways",
        )
    ],
)

equation61_corrected = Claim(
    id="lwang21.equation4.6.1.corrected",
    source=Source("lwang21", "equation (4.6.1)"),
    kind=Kind.SENSITIVITY,
    says="With - ∇f_i'(θ) + ∇f_i'(θ'), as (4.9.4) has it.",
    assumes=[*losses, Setting("the gradients of the two records change by the same amount in opposite directions")],
    states=Le(shift, (2 * (1 - momentum) * change + momentum * spread) / later_batch),
    corrects="lwang21.equation4.6.1",
    checks=[
        AtMost(
            ((1 - momentum) * (change - (-change)) + momentum * spread) / later_batch,
            "the changes in one coordinate, opposite to each other",
        )
    ],
)

equation4 = Claim(
    id="lwang21.equation4.9.4",
    source=Source("lwang21", "equation (4.9.4)"),
    kind=Kind.SENSITIVITY,
    says="A later estimator moves by 2((1-γ)ζ/n₀ + γG)/b at most; one step of two records can attain it.",
    assumes=[*losses, target <= 2 * G * slowing],
    states=Eq(shift, 2 * later_reach / later_batch),
    checks=[
        Proof(
            [
                Same(
                    "∇f(θ) - (1-γ)∇f(θ') = (1-γ)(∇f(θ)-∇f(θ')) + γ∇f(θ), each part at its largest at once",
                    G - (1 - momentum) * (G - target / slowing),
                    later_reach,
                ),
                Less("the step: min{ζ/(n₀L‖v‖), 1/(2n₀L)}·‖v‖ ≤ ζ/(n₀L), attained for ‖v‖ ≥ 2ζ",
                     L_s * target / (slowing * L_s), target / slowing),
            ],
            "attained by gradients G - ζ/n₀ then G, and their opposites",
        )
    ],
)

fixed_step = Claim(
    id="lwang21.section4.6.fixed_step",
    source=Source("lwang21", "section 4.6.1, a fixed step size 1/(2L)"),
    kind=Kind.SENSITIVITY,
    says="With a fixed step the sensitivity would be of order G²/b.",
    assumes=losses,
    states=Rate(shift, G**2 / later_batch),
    ignores_units=True,
    checks=[
        NoConstant(
            2 * momentum * G / later_batch, {G: 1 / big, later_batch: 1, momentum: Rational(1, 2)}, big,
            "linear losses of small G: 2γG/b is attained whatever the step",
        )
    ],
)

fixed_step_corrected = Claim(
    id="lwang21.section4.6.fixed_step.corrected",
    source=Source("lwang21", "section 4.6.1, a fixed step size 1/(2L)"),
    kind=Kind.SENSITIVITY,
    says="It is at most 2(2-γ)G/b, whatever the step.",
    assumes=losses,
    states=Le(shift, 2 * (2 - momentum) * G / later_batch),
    corrects="lwang21.section4.6.fixed_step",
    checks=[
        AtMost(
            2 * ((1 - momentum) * 2 * G + momentum * G) / later_batch,
            "gradients -G then G of one record, opposite of the other",
        )
    ],
)

clipping = Claim(
    id="lwang21.section4.5.clipping",
    source=Source("lwang21", "section 4.5, after Corollary 4.5.3"),
    kind=Kind.SENSITIVITY,
    says="With gradients clipped to C₁ and their changes to C₂: 2((1-γ)C₂ + γC₁)/b.",
    states=Eq(shift, 2 * ((1 - momentum) * clip_2 + momentum * clip_1) / later_batch),
    checks=[
        Equals(
            ((1 - momentum) * (clip_2 + clip_2) + momentum * (clip_1 + clip_1)) / later_batch,
            "both parts at their limits, opposite for the other record",
        )
    ],
)

clipping_swapped = Claim(
    id="lwang21.section4.7.clipping",
    source=Source("lwang21", "section 4.7.1, gradient clipping"),
    kind=Kind.SENSITIVITY,
    says="The same in the experiments, as printed: 2((1-γ)C₁ + γC₂).",
    states=Le(shift, 2 * ((1 - momentum) * clip_1 + momentum * clip_2)),
    checks=[AtMost(clipping.formula, "both parts at their limits: C₁ and C₂ are swapped", box={later_batch: (1, 1)})],
)

# The noise -----------------------------------------------------------------------------------------
chosen_order = log(1 / delta) / ((1 - split) * eps) + 1
scale2 = 14 * T * order / (split * n**2 * eps)  # of the noise, over the squared reach of a gradient


def divergence(batch, reaching):  # type: ignore[no-untyped-def]
    """αΔ²/(2σ²) of a release on all records, Δ = 2·reaching/b."""
    return order * (2 * reaching / batch) ** 2 / (2 * scale2 * reaching**2)


unsampled = Claim(
    id="lwang21.equation4.9.3",
    source=Source("lwang21", "equations (4.9.3) and (4.9.5)"),
    kind=Kind.PRIVACY,
    says="With the noise of Theorem 4.5.1 a release on all records has Renyi divergence βεn²/(7b²T).",
    assumes=[*losses, order > 1],
    states=Eq(renyi, split * eps * n**2 / (7 * later_batch**2 * T)),
    checks=[
        Equals(divergence(later_batch, later_reach), "αΔ²/(2σ²)"),
        Proof(
            [
                Same(
                    "3.5τ²Δ²α/σ² = βε/T on a batch, first and later ones alike",
                    Rational(7, 2) * (later_batch / n) ** 2 * 2 * divergence(later_batch, later_reach),
                    split * eps / T,
                )
            ]
        ),
    ],
    cites=[Cites("lwang21.lemma4.3.7.gaussian")],
)

printed_ratio = Claim(
    id="lwang21.equation4.9.3.condition",
    source=Source("lwang21", "after equations (4.9.3) and (4.9.5)"),
    kind=Kind.PRIVACY,
    says="The squared noise over sensitivity is 7b²Tα/(βn²ε), as printed.",
    assumes=losses,
    states=Eq(noise2, 7 * later_batch**2 * T * order / (split * n**2 * eps)),
    checks=[Equals(scale2 * later_reach**2 / (2 * later_reach / later_batch) ** 2, "σ²/Δ²")],
)

true_ratio = Claim(
    id="lwang21.equation4.9.3.condition.corrected",
    source=Source("lwang21", "after equations (4.9.3) and (4.9.5)"),
    kind=Kind.PRIVACY,
    says="It is half of that (and the first batch counts squared, which Theorem 4.5.1 prints without the square).",
    assumes=losses,
    states=Eq(noise2, Rational(7, 2) * later_batch**2 * T * order / (split * n**2 * eps)),
    corrects="lwang21.equation4.9.3.condition",
    checks=[Equals(scale2 * later_reach**2 / (2 * later_reach / later_batch) ** 2, "σ²/Δ²")],
)

first_ratio = Claim(
    id="lwang21.theorem4.5.1.first_batch",
    source=Source("lwang21", "Theorem 4.5.1, σ'² of the first batch"),
    kind=Kind.PRIVACY,
    says="The squared noise over sensitivity of the first estimator is b₀σ₀²/(4G²), as printed.",
    assumes=losses,
    states=Eq(noise2, first_batch * sigma_first**2 / (4 * G**2)),
    checks=[Equals(sigma_first**2 / equation2.formula**2, "σ₀²/Δ² with Δ = 2G/b₀ of (4.9.2)")],
)

first_ratio_corrected = Claim(
    id="lwang21.theorem4.5.1.first_batch.corrected",
    source=Source("lwang21", "Theorem 4.5.1, σ'² of the first batch"),
    kind=Kind.PRIVACY,
    says="With b₀², as the proof has it.",
    assumes=losses,
    states=Eq(noise2, first_batch**2 * sigma_first**2 / (4 * G**2)),
    corrects="lwang21.theorem4.5.1.first_batch",
    checks=[Equals(sigma_first**2 / equation2.formula**2, "σ₀²/Δ² with Δ = 2G/b₀ of (4.9.2)")],
    cites=[Cites("lwang21.equation4.9.2")],
)

# Theorem 4.5.1 puts the smaller σ'² and the larger τ into the condition on α; with b₀ > b that is b's and b₀'s.
two_batches = [
    order > 1, noise2 >= Rational(7, 10), noise2 <= first2, share <= 1,
    order - 1 <= Rational(2, 3) * noise2 * reach(order),
]
reach_first = reach(order).subs(noise2, first2)

larger_first = Claim(
    id="lwang21.theorem4.5.1.two_batches",
    source=Source("lwang21", "Theorem 4.5.1, the condition on α where b₀ > b"),
    kind=Kind.PRIVACY,
    says="The condition with the smaller σ'² gives Lemma 4.3.7's for the first estimator, whose σ'² is larger.",
    assumes=two_batches,
    states=Le(order - 1, Rational(2, 3) * first2 * reach_first),
    checks=[AtMost(order - 1, "what the lemma allows falls where τα(1+σ'²) nears 1")],
)

larger_first_corrected = Claim(
    id="lwang21.theorem4.5.1.two_batches.corrected",
    source=Source("lwang21", "Theorem 4.5.1, the condition on α where b₀ > b"),
    kind=Kind.PRIVACY,
    says="It does if τα(1+σ'²) is at most 1/e for the first estimator too.",
    assumes=[*two_batches, share * order * (1 + first2) <= exp(-1)],
    states=Le(order - 1, Rational(2, 3) * first2 * reach_first),
    corrects="lwang21.theorem4.5.1.two_batches",
    checks=[
        Proof(
            [
                Same(
                    "how fast what it allows grows with σ'², over 2/3",
                    diff(first2 * reach_first, first2), reach_first - first2 / (1 + first2),
                ),
                Less("the logarithm is 1 at least, and σ'²/(1+σ'²) is 1 at most", first2 / (1 + first2), Integer(1)),
            ],
            "it grows, from the smaller σ'² to the larger",
        )
    ],
)

clipped_noise = Claim(
    id="lwang21.section4.5.clipping.privacy",
    source=Source("lwang21", "section 4.5, C₁ and C₂ in place of G and ζ/n₀"),
    kind=Kind.PRIVACY,
    says="With clipped gradients and the noise of Theorem 4.5.1 in C₁ and C₂, σ²/Δ² is the theorem's: so is privacy.",
    states=Eq(noise2, Rational(7, 2) * later_batch**2 * T * order / (split * n**2 * eps)),
    checks=[Equals(scale2 * ((1 - momentum) * clip_2 + momentum * clip_1) ** 2 / clipping.formula**2, "σ²/Δ²")],
    cites=[Cites("lwang21.section4.5.clipping")],
)

counted = Claim(
    id="lwang21.section4.9.composition",
    source=Source("lwang21", "section 4.9.1, the privacy of M_t"),
    kind=Kind.PRIVACY,
    says="The estimators G₀ to G_t together have Renyi divergence ρ₀ + (t-1)ρ, as printed.",
    assumes=[order > 1],
    states=Le(renyi, renyi_1 + (t - 1) * renyi_2),
    checks=[AtMost(renyi_1 + t * renyi_2, "one and t of them; divergences of Gaussians on all records add up exactly")],
)

counted_corrected = Claim(
    id="lwang21.section4.9.composition.corrected",
    source=Source("lwang21", "section 4.9.1, the privacy of M_t"),
    kind=Kind.PRIVACY,
    says="They are t + 1: ρ₀ + tρ. The released θ, out of θ⁰ to θ^(T-1), shows T - 1 of them at most.",
    assumes=[order > 1],
    states=Le(renyi, renyi_1 + t * renyi_2),
    corrects="lwang21.section4.9.composition",
    checks=[AtMost(renyi_1 + t * renyi_2, "Lemma 4.9.1, one after the other")],
    cites=[Cites("lwang21.lemma4.9.1")],
)

least_noise = Claim(
    id="lwang21.remark4.5.2.noise",
    source=Source("lwang21", "Remark 4.5.2, read of the noise itself"),
    kind=Kind.PRIVACY,
    says="The least noise it covers is no more than the moments accountant's, which is G over b.",
    assumes=[*losses, Setting("there a record comes or goes and moves a batch's gradient by G/b; here 2G/b, replaced")],
    states=Le(sigma_n, G / later_batch),
    checks=[AtMost(sqrt(Rational(7, 10)) * 2 * G / later_batch, "σ'² = 0.7 at the sensitivity 2G/b")],
)

least_noise_corrected = Claim(
    id="lwang21.remark4.5.2.noise.corrected",
    source=Source("lwang21", "Remark 4.5.2, read of the noise itself"),
    kind=Kind.PRIVACY,
    says="It is 1.68 times that at most.",
    assumes=losses,
    states=Le(sigma_n, Rational(168, 100) * G / later_batch),
    corrects="lwang21.remark4.5.2.noise",
    checks=[AtMost(sqrt(Rational(7, 10)) * 2 * G / later_batch, "σ'² = 0.7 at the sensitivity 2G/b")],
)
