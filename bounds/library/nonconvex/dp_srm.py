"""DP-SRM (lwang21, chapter 4, Algorithm 4): stochastic recursive momentum with Gaussian noise, risks of any shape.

Theorems 4.5.1 and 4.5.4, Corollary 4.5.3 and Remark 4.5.5. D_F, the excess risk of the start, is g₀ here. Lemmas:
dp_srm_privacy.py; the proof of Theorem 4.5.4: dp_srm_proof.py; Table 4.1: variance_reduction_comparison.py; Tables 4.2
and 4.3: dp_srm_experiments.py. Solver: dpcheck/solvers/nonconvex/dp_srm.py.
"""

from sympy import Eq, Expr, Ge, Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c1, d, delta, eps, gradient_norm, gradients, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import (
    CLIPPED,
    allowed,
    clip_1,
    clip_2,
    first_batch,
    later_batch,
    later_reach,
    losses,
    momentum,
    noise2,
    order,
    share,
    shift,
    slowing,
    split,
    target,
)
from dpcheck.bounds.library.nonconvex.dp_srm_proof import (
    SMALL_BATCH,
    accuracy,
    chosen_order,
    noise,
    proof_parameters,
    sigma_first,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant

MANY = 10**9  # records of which a share is drawn, where only the share counts
half = Rational(1, 2)
big = Symbol("big", positive=True)
inverse = quantity("srm_inverse", "squared sensitivity over noise", printed="1/σ'²")
done = quantity("done", "steps taken so far", box=(1, 1e4), integer=True, printed="T'", latex="T'")

# Privacy -------------------------------------------------------------------------------------------
# v₀ and v₁ to v_T: noise on each in the proportion of Theorem 4.5.1, which is that of what a record's gradient reaches.
released = Release(
    2 * G / first_batch, Gaussian(sigma_n * G / later_reach), WithoutReplacement(first_batch, n)
).followed_by(Release(2 * later_reach / later_batch, Gaussian(sigma_n), WithoutReplacement(later_batch, n), T))


def estimators(count: Expr, drawn: WithoutReplacement, reach: Expr = later_reach) -> Release:
    """So many estimators, each at the sensitivity of (4.9.4): linear losses attain it where ζ/n₀ is small beside γG."""
    return Release(2 * reach / later_batch, Gaussian(sigma_n), drawn, count)


def ratio_of(batch: Expr, alpha: Expr = chosen_order) -> Expr:
    """σ²/Δ² of a batch with the noise of Theorem 4.5.1."""
    return Rational(7, 2) * batch**2 * T * alpha / (split * n**2 * eps)


def met(*where: tuple[Expr, Expr]) -> list[Expr]:
    """The conditions of Theorem 4.5.1 on σ'² and α."""
    return [h.subs(dict(where)) for h in (noise2 >= Rational(7, 10), allowed(chosen_order, noise2))]


seen = "all T + 1 estimators of Algorithm 4 seen, each at its largest sensitivity"
# Only the share τ = b/n and σ'² count: T = 2σ'²βε/(7τ²α).
steps_for = noise2 * split * eps / (Rational(7, 2) * share**2 * chosen_order)

theorem1 = Claim(
    id="lwang21.theorem4.5.1",
    source=Source("lwang21", "Theorem 4.5.1, with b₀² in σ'² as its proof has it", line=5201),
    kind=Kind.PRIVACY,
    says="DP-SRM is (ε, δ)-private with this noise, and √(14Tα/(βn²ε))·G on the first batch, on its conditions.",
    assumes=[*losses, *met(), Eq(T, steps_for), Eq(later_batch, share * n), share <= 1, steps_for >= 1],
    added=[Setting("b₀ = b"), steps_for <= 10**8],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(estimators(T + 1, WithoutReplacement(share * MANY, MANY)), seen)],
    cites=[
        Cites("lwang21.lemma4.3.7.subsampled.corrected", {order: chosen_order}),
        Cites("lwang21.lemma4.9.1", {order: chosen_order}),
    ],
)

first_ratio = Claim(
    id="lwang21.theorem4.5.1.first_batch",
    source=Source("lwang21", "Theorem 4.5.1, σ'² of the first batch", line=5234),
    kind=Kind.IDENTITY,
    says="The squared noise over sensitivity of the first estimator is b₀σ₀²/(4G²), as printed.",
    assumes=losses,
    states=Eq(noise2, first_batch * sigma_first**2 / (4 * G**2)),
    misprint_of="lwang21.theorem4.5.1.first_batch.corrected",
    checks=[Equals(sigma_first**2 / (2 * G / first_batch) ** 2, "σ₀ over Δ of (4.9.2)")],
)

first_ratio_corrected = Claim(
    id="lwang21.theorem4.5.1.first_batch.corrected",
    source=Source("lwang21", "after equation (4.9.3)", line=6305),
    kind=Kind.IDENTITY,
    says="With b₀², as the proof has it.",
    assumes=losses,
    states=Ge(noise2, first_batch**2 * sigma_first**2 / (4 * G**2)),
    corrects="lwang21.theorem4.5.1.first_batch",
    checks=[
        Chain(
            noise2,
            Step("=", sigma_first**2 / shift**2, because=Premise("σ'² = σ₀²/Δ², as in Lemma 4.3.7")),
            Step(">=", because=Cites("lwang21.equation4.9.2")),
            Step(">=", STATEMENT),
        )
    ],
)

printed_ratio = Claim(
    id="lwang21.equation4.9.3.condition",
    source=Source("lwang21", "after equations (4.9.3) and (4.9.5)", line=6314),
    kind=Kind.IDENTITY,
    says="σ²/Δ², which must be 0.7 at least, is 7b²Tα/(βn²ε), as printed for both batches.",
    assumes=losses,
    states=Eq(noise2, 7 * later_batch**2 * T * order / (split * n**2 * eps)),
    checks=[
        Equals(noise(later_reach, order) ** 2 / (later_reach / later_batch * 2) ** 2, "σ of (4.9.5) over Δ of (4.9.4)")
    ],
)

true_ratio = Claim(
    id="lwang21.equation4.9.3.condition.corrected",
    source=Source("lwang21", "after equations (4.9.3) and (4.9.5)", line=6314),
    kind=Kind.IDENTITY,
    says="It is half of that.",
    assumes=losses,
    states=Ge(noise2, ratio_of(later_batch, order)),
    corrects="lwang21.equation4.9.3.condition",
    checks=[
        Chain(
            noise2,
            Step("=", noise(later_reach, order) ** 2 / shift**2, because=Premise("σ of (4.9.5) over Δ")),
            Step(">=", because=Cites("lwang21.equation4.9.4")),
            Step("=", STATEMENT),
        )
    ],
)

progress = Claim(
    id="lwang21.section4.6.progress",
    source=Source("lwang21", "sections 4.6.1 and 4.9.1, after T' iterations", line=5612),
    kind=Kind.PRIVACY,
    says="After T' of T iterations the algorithm is (T'ε/T, δ)-private.",
    assumes=[*losses, done <= T, *met((noise2, ratio_of(later_batch)), (share, later_batch / n))],
    added=[Eq(split, half), Setting("b₀ = b")],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(done * eps / T, delta),
    checks=[
        Accountant(
            estimators(done, WithoutReplacement(later_batch, n)), "T' estimators: their epsilon falls like √(T'/T)",
            box={T: (1e4, 1e8), eps: (0.5, 20), n: (1e2, 1e6)},
        )
    ],
)

progress_corrected = Claim(
    id="lwang21.section4.6.progress.corrected",
    source=Source("lwang21", "sections 4.6.1 and 4.9.1, after T' iterations", line=5612),
    kind=Kind.PRIVACY,
    says="Lemmas 4.9.1 and 4.3.9 give ((βT'/T + 1-β)ε, δ): only the part for composition falls.",
    assumes=[*losses, done <= T, *met((noise2, ratio_of(later_batch)), (share, later_batch / n))],
    added=[Eq(split, half), Setting("b₀ = b")],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP((split * done / T + 1 - split) * eps, delta),
    corrects="lwang21.section4.6.progress",
    checks=[
        Accountant(
            estimators(done, WithoutReplacement(later_batch, n)), "T' estimators, each at its largest sensitivity",
            box={T: (1e4, 1e8), eps: (0.5, 20), n: (1e2, 1e6)},
        )
    ],
)

large_batch = n * sqrt(eps / T)

corollary3 = Claim(
    id="lwang21.corollary4.5.3",
    source=Source("lwang21", "Corollary 4.5.3", line=5258),
    kind=Kind.PRIVACY,
    says="With b₀² = b² = n²ε/T and β = 1/2 there is a c₁ with which T ≥ c₁log⁴(1/δ)/ε³ is enough, for any ε.",
    assumes=[
        *losses, Eq(split, half), Eq(later_batch, large_batch), c1 * log(1 / delta) ** 4 / eps**3 <= T, eps <= T,
        large_batch >= 1,
    ],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1,),
    checks=[
        Accountant(
            estimators(T + 1, WithoutReplacement(sqrt(eps / T) * MANY, MANY)),
            "T + 1 estimators on shares √(ε/T), σ'² = 7α",
            box={T: (1, 1e8), n: (1e6, 1e6)},
        )
    ],
)

clipped_reach = (1 - momentum) * clip_2 + momentum * clip_1

tracked = Claim(
    id="lwang21.section4.7.privacy",
    source=Source("lwang21", "sections 4.5 and 4.7.1: a9a, b = 100, 4 to 5 data passes, δ = 1e-5", line=5301),
    kind=Kind.PRIVACY,
    says="With C₁ and C₂ for G and ζ/n₀ the noise is (ε, δ)-private at the experiment's settings, though Lemma 4.3.7 "
    "covers none of them (lwang21.lemma4.3.7.range).",
    assumes=[
        CLIPPED, Eq(n, 32561), Eq(later_batch, 100), Eq(delta, Rational(1, 10**5)), eps >= Rational(1, 5),
        eps <= half, T >= 650, T <= 1630,
    ],
    added=[Setting("b₀ = b")],
    states=Eq(sigma_n, noise(clipped_reach)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(estimators(T + 1, WithoutReplacement(later_batch, n), clipped_reach), seen)],
)

# Utility -------------------------------------------------------------------------------------------
steps_of_proof = 4 * slowing * L_s * gap0 / target**2  # and 1 more, rounded down
chosen = [*proof_parameters, Eq(T, steps_of_proof), Eq(target, accuracy), Eq(slowing, L_s * gap0 / target)]

theorem4 = Claim(
    id="lwang21.theorem4.5.4",
    source=Source("lwang21", "Theorem 4.5.4", line=5311),
    kind=Kind.UTILITY,
    says="The gradient norm after T = c₁·nε√(L·g₀)/(G√(d·log(1/δ))) steps, with ζ of this order and n₀ = L·g₀/ζ.",
    assumes=[*losses, Setting("T, ζ, n₀, b₀, b and γ as in the theorem")],
    states=Rate(gradient_norm, accuracy),
    guarantee=ApproxDP(eps, delta),
    misprint_of="lwang21.theorem4.5.4.corrected",
    checks=[
        NoConstant(
            G - c1,
            {n: big, eps: 1, d: 1, delta: half / 50, c1: 1, G: big ** Rational(1, 4), L_s: 1, gap0: sqrt(big) / 2},
            big,
            "T steps of at most ζ/(n₀L) lead c₁/L away: from the point of L/2·w² with slope G at least G - c₁ is left",
        )
    ],
)

theorem4_corrected = Claim(
    id="lwang21.theorem4.5.4.corrected",
    source=Source("lwang21", "Theorem 4.5.4 with T of its proof, without rounding", line=7615),
    kind=Kind.UTILITY,
    says="With n₀ times as many steps, 4n₀L·g₀/ζ², and the proof's γ, b and b₀; for privacy see theorem4.5.4.privacy.",
    assumes=[*losses, *chosen],
    added=[G >= 1, SMALL_BATCH, slowing >= 1, momentum < 1, target <= 1, Eq(split, half), delta <= exp(-eps)],
    states=Rate(gradient_norm, accuracy),
    corrects="lwang21.theorem4.5.4",
    checks=[
        Chain(
            gradient_norm,
            Step("<=", because=Cites("lwang21.equation4.9.20.total")),
            Step("<=", 1900 * STATEMENT),
        )
    ],
)

log_term = d * log(1 / delta)
many_cost = sqrt(G) * (L_s * gap0) ** Rational(1, 4) * (n * eps) ** Rational(3, 2) / log_term ** Rational(3, 4)
first_cost = G ** Rational(3, 2) * sqrt(n * eps) / ((L_s * gap0) ** Rational(5, 4) * log_term ** Rational(1, 4))

theorem4_cost = Claim(
    id="lwang21.theorem4.5.4.cost",
    source=Source("lwang21", "Theorem 4.5.4, gradient complexity, with T of the proof", line=7646),
    kind=Kind.COST,
    says="Record gradients; G, L, g₀ and log(1/δ), which it leaves out, stand here.",
    assumes=[*losses, *chosen],
    states=Rate(gradients, many_cost + first_cost),
    ignores_units=True,
    checks=[
        Chain(
            gradients,
            Step("<=", first_batch + 2 * T * later_batch, because=Premise("two for each record of a later batch")),
            Step("<=", 8 * STATEMENT),
        )
    ],
)

unit = {G: 1, L_s: 1, gap0: 1}
zeta = accuracy.subs(unit)  # and n₀ = 1/ζ, γ = √2ζ², b = 1
gamma_unit = sqrt(2) * zeta**2
reach_unit = (1 - gamma_unit) * zeta**2 + gamma_unit

theorem4_condition = Claim(
    id="lwang21.theorem4.5.4.condition",
    source=Source("lwang21", "Theorem 4.5.4, 'under the same conditions of Theorem 4.5.1 on α'", line=5311),
    kind=Kind.PRIVACY,
    says="With T, b and n₀ of Theorem 4.5.4 and any constants σ'² stays above a number: 1/σ'² is bounded.",
    assumes=[Eq(split, half), Setting("G = L = g₀ = 1")],
    states=Rate(inverse, Integer(1)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        NoConstant(
            1 / ratio_of(Integer(1)).subs(T, 4 / zeta**3).subs(split, half),
            {n: big, eps: 1, d: 1, delta: Rational(1, 10**5)}, big,
            "b stays G²/(L·g₀) while T grows like n^(3/2): σ'² falls like n^(-1/2), whatever the constants are",
        )
    ],
)

theorem4_privacy = Claim(
    id="lwang21.theorem4.5.4.privacy",
    source=Source("lwang21", "Table 4.1: Theorem 4.5.4's parameters with the noise of Theorem 4.5.1", line=4821),
    kind=Kind.PRIVACY,
    says="At the parameters of Theorem 4.5.4, constants as in its proof, DP-SRM is (ε, δ)-private; G = L = g₀ = 1.",
    assumes=[*losses, Eq(T, 4 / zeta**3), zeta <= half],
    added=[Eq(split, half), Setting("G = L = g₀ = 1, so b = 1")],
    states=Eq(sigma_n, noise(reach_unit)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Accountant(
            Release(2 * gamma_unit, Gaussian(sigma_n), WithoutReplacement(1, n), T),
            "gradients G and -G along the path, half of each, one of which turns: T estimators 2γG apart; the minimum "
            "lies g₀ below, further than T steps of ζ/(n₀L) lead",
            box={d: (1, 1e3), eps: (0.05, 5), n: (1e3, 1e6)},
        )
    ],
)

private_cost = Claim(
    id="lwang21.theorem4.5.4.cost.private",
    source=Source("lwang21", "Theorem 4.5.4 with the batches of Corollary 4.5.3", line=5269),
    kind=Kind.COST,
    says="With b₀ = b = n√(ε/T), which Corollary 4.5.3 takes, it is of order n^(7/4)ε^(5/4)/d^(3/8).",
    assumes=[*losses, Eq(T, steps_of_proof), Eq(target, accuracy), Eq(slowing, L_s * gap0 / target)],
    added=[Eq(later_batch, large_batch)],
    states=Rate(
        gradients,
        (L_s * gap0) ** Rational(5, 8) * n ** Rational(7, 4) * eps ** Rational(5, 4)
        / (G ** Rational(3, 4) * log_term ** Rational(3, 8)),
    ),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            gradients,
            Step("<=", 3 * T * later_batch, because=Premise("b₀ + 2Tb with b₀ = b")),
            Step("<=", 6 * STATEMENT),
        )
    ],
)

remark5 = Claim(
    id="lwang21.remark4.5.5",
    source=Source("lwang21", "Remark 4.5.5 and section 4.1: by a factor of Θ(√n)", line=5414),
    kind=Kind.COST,
    says="The first term of Theorem 4.5.4's complexity over DP-GD's n²ε/√d, as Table 4.1 has them, falls like 1/√n.",
    states=Rate(ratio, sqrt(eps / n)),
    checks=[
        Chain(
            ratio,
            Step("=", (n * eps) ** Rational(3, 2) / d ** Rational(3, 4) / (n**2 * eps / sqrt(d)),
                 because=Premise("the two cells of Table 4.1")),
            Step("<=", STATEMENT),
        )
    ],
)
