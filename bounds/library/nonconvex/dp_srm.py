"""DP-SRM (lwang21, chapter 4, Algorithm 4): stochastic recursive momentum with Gaussian noise, risks of any shape.

Theorems 4.5.1 and 4.5.4, Corollary 4.5.3 and Remark 4.5.5. D_F, the excess risk of the start, is g₀ here. Beside it:
dp_srm_definitions, _privacy and _sensitivity (lemmas), _estimator and _proof (of Theorem 4.5.4), _algorithm,
_experiments, _networks; Table 4.1: variance_reduction_comparison.py. Solver: dpcheck/solvers/nonconvex/dp_srm.py.
"""

from sympy import Basic, Eq, Integer, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c1, d, delta, eps, gradient_norm, gradients, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import noise2, order, share, split
from dpcheck.bounds.library.nonconvex.dp_srm_proof import (
    accuracy,
    batch_of_proof,
    constant,
    first_of_proof,
    steps_of_proof,
)
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import (
    chosen_order,
    first_batch,
    later_batch,
    later_reach,
    losses,
    slowing,
    target,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Follows, Less, NoConstant, Proof, Same

MANY = 10**9  # records of which a share is drawn, where only the share counts
half = Rational(1, 2)
big = Symbol("big", positive=True)
more, extra = Symbol("more", nonnegative=True), Symbol("extra", nonnegative=True)
done = quantity("done", "steps taken so far", box=(1, 1e4), integer=True, printed="T'", latex="T'")
needed_steps = quantity("needed_steps", "least T that meets the conditions of Theorem 4.5.1", printed="T")


def noise(reaching):  # type: ignore[no-untyped-def]
    """σ of Theorem 4.5.1 for gradients that reach so far."""
    return sqrt(14 * T * chosen_order / (split * n**2 * eps)) * reaching


def ratio_of(batch):  # type: ignore[no-untyped-def]
    """σ²/Δ² of a batch with this noise."""
    return Rational(7, 2) * batch**2 * T * chosen_order / (split * n**2 * eps)


def estimators(batch, count):  # type: ignore[no-untyped-def]
    """So many noisy estimators on random batches."""
    return Release(1, Gaussian(sqrt(ratio_of(batch))), WithoutReplacement(batch, n), count)


# Privacy -------------------------------------------------------------------------------------------
# v₀ and v₁ to v_T: noise on each in the proportion of Theorem 4.5.1, which is that of what a record's gradient reaches.
released = Release(
    2 * G / first_batch, Gaussian(sigma_n * G / later_reach), WithoutReplacement(first_batch, n)
).followed_by(Release(2 * later_reach / later_batch, Gaussian(sigma_n), WithoutReplacement(later_batch, n), T))


# Only the share τ = b/n and the ratio σ'² = σ²/Δ² count, b₀ = b: T = 2σ'²βε/(7τ²α). (The theorem prints b₀ for b₀².)
def met(a):  # type: ignore[no-untyped-def]
    """The conditions of Theorem 4.5.1 on the order a."""
    return [noise2 >= Rational(7, 10), a - 1 <= Rational(2, 3) * noise2 * log(1 / (share * a * (1 + noise2)))]


steps_for = noise2 * split * eps / (Rational(7, 2) * share**2 * chosen_order)
seen = "all T + 1 estimators of Algorithm 4 seen, each at its largest sensitivity"
equal_batches = [
    Setting("b₀ = b"),
    Eq(T, steps_for),
    Eq(later_batch, share * n),
    steps_for >= 1,
    steps_for <= 10**8,
]

theorem1 = Claim(
    id="lwang21.theorem4.5.1",
    source=Source("lwang21", "Theorem 4.5.1"),
    kind=Kind.PRIVACY,
    says="DP-SRM is (ε, δ)-private with this noise, and √(14Tα/(βn²ε))·G on the first batch, on its conditions.",
    assumes=[*losses, *equal_batches, *met(chosen_order)],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(Release(1, Gaussian(sqrt(noise2)), WithoutReplacement(share * MANY, MANY), steps_for + 1), seen)
    ],
    cites=[
        Cites("lwang21.lemma4.3.7.subsampled.corrected", {order: chosen_order}),
        Cites("lwang21.lemma4.9.1", {order: chosen_order}),
        Cites("lwang21.lemma4.3.9", {order: chosen_order}),
    ],
)

at_half = chosen_order.subs(split, half)

theorem1_half = Claim(
    id="lwang21.theorem4.5.1.half",
    source=Source("lwang21", "Theorem 4.5.1, at β = 1/2"),
    kind=Kind.PRIVACY,
    says="The same at β = 1/2, for δ from 1e-8 to 1e-2 and ε up to 10.",
    assumes=[
        *losses, *(h.subs(split, half) if isinstance(h, Basic) else h for h in equal_batches), *met(at_half),
        delta >= Rational(1, 10**8), delta <= Rational(1, 100), eps <= 10,
    ],
    states=Eq(sigma_n, noise(later_reach).subs(split, half)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(
            Release(1, Gaussian(sqrt(noise2)), WithoutReplacement(share * MANY, MANY), steps_for.subs(split, half) + 1),
            seen,
        )
    ],
)

progress = Claim(
    id="lwang21.section4.6.progress",
    source=Source("lwang21", "sections 4.6.1 and 4.9.1, after T' iterations"),
    kind=Kind.PRIVACY,
    says="After T' of T iterations the algorithm is (T'ε/T, δ)-private.",
    assumes=[
        *losses, Eq(split, half), Setting("b₀ = b"), done <= T,
        *(h.subs({noise2: ratio_of(later_batch), share: later_batch / n}) for h in met(chosen_order)),
    ],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(done * eps / T, delta),
    checks=[
        Accountant(
            estimators(later_batch, done), "T' estimators: their epsilon falls like √(T'/T)",
            box={T: (1e4, 1e8), eps: (0.5, 20), n: (1e2, 1e6)},
        )
    ],
)

progress_corrected = Claim(
    id="lwang21.section4.6.progress.corrected",
    source=Source("lwang21", "sections 4.6.1 and 4.9.1, after T' iterations"),
    kind=Kind.PRIVACY,
    says="What the proof gives is ((βT'/T + 1-β)ε, δ), for whole α and the first T' estimators.",
    assumes=[*losses, *met(chosen_order), done <= T],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP((split * done / T + 1 - split) * eps, delta),
    corrects="lwang21.section4.6.progress",
    checks=[
        Proof(
            [
                Same(
                    "T'·βε/T of Renyi divergence, and log(1/δ)/(α-1) = (1-β)ε",
                    done * split * eps / T + log(1 / delta) / (chosen_order - 1),
                    (split * done / T + 1 - split) * eps,
                )
            ]
        )
    ],
    cites=[Cites("lwang21.lemma4.3.9", {order: chosen_order}), Cites("lwang21.equation4.9.3")],
)

# Batches of n√(ε/T) at β = 1/2: σ'² = 7α.
large_batch = n * sqrt(eps / T)

corollary3 = Claim(
    id="lwang21.corollary4.5.3",
    source=Source("lwang21", "Corollary 4.5.3"),
    kind=Kind.PRIVACY,
    says="With b₀² = b² = n²ε/T and β = 1/2 there is a c₁ with which T ≥ c₁log⁴(1/δ)/ε³ is enough, for any ε.",
    assumes=[*losses, c1 * log(1 / delta) ** 4 / eps**3 <= T, eps <= T, large_batch >= 1],
    states=Eq(sigma_n, noise(later_reach).subs(split, half)),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1,),
    checks=[
        Accountant(
            Release(1, Gaussian(sqrt(7 * at_half)), WithoutReplacement(sqrt(eps / T) * MANY, MANY), T + 1),
            "T + 1 estimators on shares √(ε/T), σ'² = 7α",
            box={T: (1, 1e8), n: (1e6, 1e6)},
        )
    ],
)

# The condition on α at σ'² = 7α and τ = √(ε/T), solved for T.
least_steps = eps * at_half**2 * (1 + 7 * at_half) ** 2 * exp(3 * (at_half - 1) / (7 * at_half))

corollary3_condition = Claim(
    id="lwang21.corollary4.5.3.condition",
    source=Source("lwang21", "Corollary 4.5.3, how large T must be"),
    kind=Kind.PRIVACY,
    says="T of order log⁴(1/δ)/ε³ meets the conditions of Theorem 4.5.1 with these batches, for any ε.",
    states=Rate(needed_steps, log(1 / delta) ** 4 / eps**3),
    checks=[
        NoConstant(
            least_steps, {eps: big, delta: Rational(1, 10**5)}, big,
            "(4.10.2) asks for √(T/ε) ≥ α(1+7α)e^(3(α-1)/(14α)) ≥ 8, so T grows with ε",
        )
    ],
)

corollary3_corrected = Claim(
    id="lwang21.corollary4.5.3.condition.corrected",
    source=Source("lwang21", "Corollary 4.5.3, how large T must be"),
    kind=Kind.PRIVACY,
    says="For ε at most log(1/δ), and with a constant of thousands.",
    assumes=[eps <= log(1 / delta), delta <= half],
    states=Rate(needed_steps, log(1 / delta) ** 4 / eps**3),
    corrects="lwang21.corollary4.5.3.condition",
    checks=[
        Follows(
            eps * at_half**2 * (1 + 7 * at_half) ** 2 * exp(Rational(3, 7)), 9**2 * 8**2 * exp(Rational(3, 7)) + 1,
            "α ≤ 3log(1/δ)/ε, 1 + 7α ≤ 8α and (α-1)/α ≤ 1", {delta: exp(-eps * (1 + more))},
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
log_term = d * log(1 / delta)

theorem4 = Claim(
    id="lwang21.theorem4.5.4",
    source=Source("lwang21", "Theorem 4.5.4"),
    kind=Kind.UTILITY,
    says="The gradient norm after T = c₁·nε√(L·g₀)/(G√(d·log(1/δ))) steps, with ζ of this order and n₀ = L·g₀/ζ.",
    assumes=[*losses, Setting("T, ζ, n₀, b₀, b and γ as in the theorem")],
    states=Rate(gradient_norm, accuracy),
    guarantee=ApproxDP(eps, delta),
    checks=[
        NoConstant(
            G - c1, {n: big, eps: 1, d: 1, delta: Rational(1, 100), G: big ** Rational(1, 4), L_s: 1,
                     gap0: sqrt(big) / 2, c1: 1}, big,
            "T steps of at most ζ/(n₀L) lead c₁/L away: from the point of L/2·w² with slope G at least G - c₁ is left",
        )
    ],
)

theorem4_corrected = Claim(
    id="lwang21.theorem4.5.4.corrected",
    source=Source("lwang21", "Theorem 4.5.4 with T of its proof"),
    kind=Kind.UTILITY,
    says="With n₀ times as many steps, 4n₀L·g₀/ζ² + 1, and the proof's γ = √2ζ/n₀: β = 1/2, G ≥ 1 ≥ ζ, n₀ ≥ 1.",
    assumes=[
        *losses, G >= 1, accuracy <= 1, L_s * gap0 / accuracy >= 1, eps <= log(1 / delta),
        Setting("T, ζ, n₀, b₀, b and γ as in the proof; privacy apart: see lwang21.theorem4.5.4.privacy"),
    ],
    states=Rate(gradient_norm, accuracy),
    corrects="lwang21.theorem4.5.4",
    checks=[
        Follows(
            constant * accuracy, Integer(1900), "(4.9.17) corrected, see lwang21.equation4.9.20.total"
        )
    ],
    cites=[Cites("lwang21.equation4.9.20.total", {split: half, target: accuracy, slowing: L_s * gap0 / accuracy})],
)

theorem4_steps = Claim(
    id="lwang21.theorem4.5.4.steps",
    source=Source("lwang21", "Theorem 4.5.4, T = O(nε/√d)"),
    kind=Kind.COST,
    says="The number of steps of the proof, 4n₀L·g₀/ζ², is of order nε√(L·g₀)/(G√(d·log(1/δ))).",
    states=Rate(needed_steps, n * eps * sqrt(L_s * gap0) / (G * sqrt(log_term))),
    ignores_units=True,
    checks=[
        NoConstant(
            steps_of_proof, {n: big, eps: 1, d: 1, delta: Rational(1, 100), G: 1, L_s: 1, gap0: 1}, big,
            "n₀ = L·g₀/ζ is missing",
        )
    ],
)

theorem4_steps_corrected = Claim(
    id="lwang21.theorem4.5.4.steps.corrected",
    source=Source("lwang21", "Theorem 4.5.4, T"),
    kind=Kind.COST,
    says="It is of order (nε)^(3/2)/d^(3/4).",
    states=Rate(
        needed_steps, (L_s * gap0) ** Rational(5, 4) * (n * eps / G) ** Rational(3, 2) / log_term ** Rational(3, 4)
    ),
    corrects="lwang21.theorem4.5.4.steps",
    ignores_units=True,
    checks=[Follows(steps_of_proof, Integer(4), "4(L·g₀)²/ζ³")],
)

many_cost = sqrt(G) * (L_s * gap0) ** Rational(1, 4) * (n * eps) ** Rational(3, 2) / log_term ** Rational(3, 4)
first_cost = G ** Rational(3, 2) * sqrt(n * eps) / ((L_s * gap0) ** Rational(5, 4) * log_term ** Rational(1, 4))

theorem4_cost = Claim(
    id="lwang21.theorem4.5.4.cost",
    source=Source("lwang21", "Theorem 4.5.4, gradient complexity"),
    kind=Kind.COST,
    says="Record gradients of the proof's T, b and b₀: two for each record of a later batch.",
    assumes=[*losses, Setting("T, b and b₀ as in the proof")],
    states=Rate(gradients, many_cost + first_cost),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("2(T-1)b ≤ 8L·g₀G²/ζ³", 2 * steps_of_proof * batch_of_proof, 8 * many_cost),
                Same("b₀ = G²/(ζL·g₀)", first_of_proof, first_cost),
            ],
            "hidden constant 8 suffices",
        )
    ],
)

# Theorem 4.5.4's b over the ratio that Theorem 4.5.1 asks for, G = L = g₀ = 1, β = 1/2.
unit = {G: 1, L_s: 1, gap0: 1}
ratio_of_proof = (ratio_of(batch_of_proof).subs(T, steps_of_proof)).subs(unit).subs(split, half)

theorem4_condition = Claim(
    id="lwang21.theorem4.5.4.condition",
    source=Source("lwang21", "Theorem 4.5.4 under the conditions of Theorem 4.5.1"),
    kind=Kind.PRIVACY,
    says="The parameters of Theorem 4.5.4 meet σ'² ≥ 0.7 of Theorem 4.5.1 up to a constant: 1/σ'² stays bounded.",
    assumes=[Eq(split, half), Setting("G = L = g₀ = 1")],
    states=Rate(ratio, Integer(1)),
    checks=[
        NoConstant(
            1 / ratio_of_proof, {n: big, eps: 1, d: 1, delta: Rational(1, 10**5)}, big,
            "b stays G²/(L·g₀) while T grows like n^(3/2): σ'² falls like n^(-1/2)",
        )
    ],
)

theorem4_privacy = Claim(
    id="lwang21.theorem4.5.4.privacy",
    source=Source("lwang21", "Theorem 4.5.4 with the noise of Theorem 4.5.1"),
    kind=Kind.PRIVACY,
    says="With the parameters of Theorem 4.5.4, constants of the proof and β = 1/2, DP-SRM is (ε, δ)-private.",
    assumes=[*losses, Eq(split, half), Setting("G = L = g₀ = 1, so b = 1"), accuracy.subs(unit) <= half],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Accountant(
            Release(1, Gaussian(sqrt(ratio_of_proof)), WithoutReplacement(1, n), steps_of_proof.subs(unit)),
            "linear losses: batches of one record hide nothing where σ'² is small",
            box={d: (1, 1e3), eps: (0.05, 5), n: (1e3, 1e6)},
        )
    ],
)

theorem4_cost_corrected = Claim(
    id="lwang21.theorem4.5.4.cost.corrected",
    source=Source("lwang21", "Theorem 4.5.4 with the batches of Corollary 4.5.3"),
    kind=Kind.COST,
    says="Privacy counted: with b₀ = b = n√(ε/T) and T of the proof it is of order n^(7/4)ε^(5/4)/d^(3/8).",
    assumes=[*losses, steps_of_proof >= 1],
    states=Rate(
        gradients,
        (L_s * gap0) ** Rational(5, 8) * n ** Rational(7, 4) * eps ** Rational(5, 4)
        / (G ** Rational(3, 4) * log_term ** Rational(3, 8)),
    ),
    corrects="lwang21.theorem4.5.4.cost",
    ignores_units=True,
    checks=[
        Proof(
            [
                Same(
                    "2Tb = 2n√(εT) is 4 times that",
                    2 * n * sqrt(eps * steps_of_proof),
                    4 * (L_s * gap0) ** Rational(5, 8) * n ** Rational(7, 4) * eps ** Rational(5, 4)
                    / (G ** Rational(3, 4) * log_term ** Rational(3, 8)),
                ),
                Less("b₀ = b adds at most half of 2Tb for T ≥ 1", Integer(1), 2 * T / 2, {T: 1 + more}),
            ],
            "hidden constant 6 suffices",
        )
    ],
)

# Remark 4.5.5 --------------------------------------------------------------------------------------
gd_cost = n**2 * eps / sqrt(d)

remark5 = Claim(
    id="lwang21.remark4.5.5",
    source=Source("lwang21", "Remark 4.5.5"),
    kind=Kind.COST,
    says="The cost of Theorem 4.5.4 over DP-GD's n²ε/√d and RRPSGD's n²: bounded, and falling like n^(-1/2).",
    assumes=[eps <= 1, n * eps >= sqrt(d)],
    states=Rate(ratio, 1 / sqrt(n)),
    checks=[
        Proof(
            [
                Less(
                    "first term over DP-GD's: √ε/d^(1/4) times 1/√n", sqrt(eps), d ** Rational(1, 4),
                    {eps: 1 / (1 + more) ** 2, d: (1 + extra) ** 4},
                ),
                Less(
                    "second: √d ≤ n²ε as √d ≤ nε", sqrt(d), n**2 * eps,
                    {eps: sqrt(d) * (1 + more) / (1 + extra), n: 1 + extra},
                ),
                Less(
                    "over RRPSGD's: ε^(3/2) ≤ d^(3/4), and √ε ≤ d^(1/4)·n", eps ** Rational(3, 2), d ** Rational(3, 4),
                    {eps: 1 / (1 + more) ** 2, d: (1 + extra) ** 4},
                ),
            ],
            "hidden constant 2 suffices for both",
        )
    ],
)

remark5_private = Claim(
    id="lwang21.remark4.5.5.corrected",
    source=Source("lwang21", "Remark 4.5.5, privacy counted"),
    kind=Kind.COST,
    says="With the batches of Corollary 4.5.3 it is n^(7/4)ε^(5/4)/d^(3/8), over DP-GD's cost (ε√d/n)^(1/4).",
    assumes=[eps <= n],
    states=Rate(ratio, (eps * sqrt(d) / n) ** Rational(1, 4)),
    corrects="lwang21.remark4.5.5",
    checks=[
        Follows(
            n ** Rational(7, 4) * eps ** Rational(5, 4) / d ** Rational(3, 8) / gd_cost, Integer(1), "the two costs"
        )
    ],
)
