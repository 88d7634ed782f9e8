"""The noisy estimators of DP-SRM (lwang21, section 4.9.2): equations (4.9.6) to (4.9.16) and Lemma 4.11.1.

Where a printed step loses a factor, it stands beside the one that follows. The parameters: dp_srm_proof.py.
"""

from sympy import Eq, Integer, Le, Max, Min, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import T, d, gradient_norm, m, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import (
    first_batch,
    later_batch,
    losses,
    momentum,
    sigma_first,
    slowing,
    target,
)
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

estimate = quantity("estimate", "norm of a noisy estimator", loss=1, parameter=-1, printed="‖v‖", latex=r"\|v\|")
error2 = quantity("error2", "E ||v - grad F||^2 of an estimator", loss=2, parameter=-2, printed="E‖v-∇F‖²")
error2_before = quantity("error2_before", "that of the one before", loss=2, parameter=-2, printed="E‖v'-∇F'‖²")
error2_first = quantity("error2_first", "that of the first", loss=2, parameter=-2, printed="E‖v⁰-∇F⁰‖²")
error2_added = quantity("error2_added", "what a step adds to it", loss=2, parameter=-2, printed="E")
mean_error2 = quantity("mean_error2", "its mean over the steps", loss=2, parameter=-2, printed="mean E‖v-∇F‖²")
mean_error = quantity(
    "mean_error", "mean of E ||v - grad F|| over the steps", loss=1, parameter=-1, printed="mean E‖v-∇F‖"
)
mean_estimate = quantity("mean_estimate", "mean of E ||v|| over the steps", loss=1, parameter=-1, printed="mean E‖v‖")
wobble_1 = quantity("wobble_1", "deviation of a batch's change of gradient", loss=1, parameter=-1, printed="x")
wobble_2 = quantity("wobble_2", "deviation of a batch's gradient", loss=1, parameter=-1, printed="y")
fall_srm = quantity("fall_srm", "what a step gains, eta/4 ||v||^2", loss=1, printed="η‖v‖²/4")
batch_spread = quantity("batch_spread", "E ||mean of a batch||^2 of vectors that add up to 0", printed="E‖ā‖²")
change_1 = quantity("srm_change_1", "change of one record's gradient", loss=1, parameter=-1, printed="p")
change_2 = quantity("srm_change_2", "change of another's", loss=1, parameter=-1, printed="q")
mean_change = quantity("srm_mean_change", "change of the mean gradient", loss=1, parameter=-1, printed="‖∇F(x)-∇F(y)‖")
square = quantity("square", "mean of ||a||^2 over all records", printed="mean ‖a‖²")

u, v, w, big = (
    Symbol("u", nonnegative=True),
    Symbol("v", nonnegative=True),
    Symbol("w", nonnegative=True),
    Symbol("big", positive=True),
)

# The descent ---------------------------------------------------------------------------------------
lemma111 = Claim(
    id="lwang21.lemma4.11.1",
    source=Source("lwang21", "Lemma 4.11.1"),
    kind=Kind.UTILITY,
    says="The mean square of a batch of m < n out of n vectors that add up to 0; exactly it is (n-m)/(n-1) of that.",
    assumes=[m < n, n >= 2],
    states=Le(batch_spread, square / m),
    checks=[
        Proof(
            [
                Same(
                    "m of m² pairs are equal, the others' products average -Σ‖a‖²/(n(n-1))",
                    (m * square + m * (m - 1) * (-square / (n - 1))) / m**2,
                    square / m * (n - m) / (n - 1),
                ),
                Less("(n-m)/(n-1) ≤ 1 for m ≥ 1", (n - m) / (n - 1), Integer(1), {n: 2 + u, m: 1 + v}),
            ]
        )
    ],
)

smooth_mean = Claim(
    id="lwang21.section4.9.smooth",
    source=Source("lwang21", "section 4.9.2, F has an L-Lipschitz gradient"),
    kind=Kind.UTILITY,
    says="‖∇F(x)-∇F(y)‖ is the mean of the records' changes, printed as an equation; here two, p and q in size.",
    assumes=[*losses, Setting("two records whose gradients change in opposite directions")],
    states=Eq(mean_change, (change_1 + change_2) / 2),
    checks=[Equals(Max(change_1 - change_2, change_2 - change_1) / 2, "opposite changes cancel")],
)

smooth_mean_corrected = Claim(
    id="lwang21.section4.9.smooth.corrected",
    source=Source("lwang21", "section 4.9.2, F has an L-Lipschitz gradient"),
    kind=Kind.UTILITY,
    says="At most that, which is what L-smoothness of F takes.",
    assumes=[*losses, Setting("two records at any angle whose cosine is z")],
    states=Le(mean_change, (change_1 + change_2) / 2),
    corrects="lwang21.section4.9.smooth",
    checks=[
        Proof(
            [
                Less(
                    "|p + q|² = p² + q² + 2pqz ≤ (p+q)² for z ≤ 1",
                    change_1**2 + change_2**2 + 2 * change_1 * change_2 * (1 - u), (change_1 + change_2) ** 2,
                )
            ]
        )
    ],
)

equation6 = Claim(
    id="lwang21.equation4.9.6",
    source=Source("lwang21", "before equation (4.9.6)"),
    kind=Kind.UTILITY,
    says="A step gains η‖v‖²/4 ≥ (ζ‖v‖ - 2ζ²)/(4n₀L) with η = min{ζ/(n₀L‖v‖), 1/(2n₀L)}; here with both signs turned.",
    assumes=losses,
    states=Le(
        -Min(target * estimate / (4 * slowing * L_s), estimate**2 / (8 * slowing * L_s)),
        (2 * target**2 - target * estimate) / (4 * slowing * L_s),
    ),
    checks=[
        Proof(
            [
                Less("‖v‖ ≥ 2ζ: ζ‖v‖ ≥ ζ‖v‖ - 2ζ²", target * estimate - 2 * target**2, target * estimate),
                Same(
                    "‖v‖ ≤ 2ζ: ‖v‖²/2 - (ζ‖v‖ - 2ζ²) = (‖v‖-ζ)²/2 + 3ζ²/2 ≥ 0",
                    estimate**2 / 2 - (target * estimate - 2 * target**2),
                    (estimate - target) ** 2 / 2 + Rational(3, 2) * target**2,
                ),
                Less(
                    "and the descent lemma keeps η(1/2 - ηL/2) ≥ η/4 for η ≤ 1/(2L)",
                    Rational(1, 4), (1 - u) / 2, {u: 1 / (2 + v)},
                ),
            ]
        )
    ],
)

equation7 = Claim(
    id="lwang21.equation4.9.7",
    source=Source("lwang21", "equation (4.9.7) and section 4.6.2"),
    kind=Kind.UTILITY,
    says="The mean size of the estimators.",
    assumes=losses,
    states=Le(mean_estimate, 4 * slowing * L_s * gap0 / (T * target) + mean_error2 / target + 2 * target),
    checks=[
        AtMost(
            4 * slowing * L_s / (T * target)
            * (gap0 + T * mean_error2 / (4 * slowing * L_s) + T * target**2 / (2 * slowing * L_s)),
            "(4.9.6) summed over T steps, times 4n₀L/(Tζ)", exact=False,
        )
    ],
    cites=[Cites("lwang21.equation4.9.6")],
)

# The error of the estimator ------------------------------------------------------------------------
parts = (
    (1 - momentum) ** 2 * error2_before
    + 2 * momentum**2 * wobble_2**2
    + 2 * (1 - momentum) ** 2 * wobble_1**2
    + d * sigma_n**2
)
exact = (1 - momentum) ** 2 * error2_before + ((1 - momentum) * wobble_1 + momentum * wobble_2) ** 2 + d * sigma_n**2

mean_b, mean_0, all_b, all_0, before = (
    Symbol(name, real=True) for name in ("mean_b", "mean_0", "all_b", "all_0", "v_0")
)

equation8 = Claim(
    id="lwang21.equation4.9.8",
    source=Source("lwang21", "equation (4.9.8)"),
    kind=Kind.UTILITY,
    says="The error of v is (1-γ) times that before, (1-γ) times the deviation x of the changes, γ times y; and noise.",
    assumes=losses,
    states=Eq(error2, exact),
    checks=[
        Proof(
            [
                Same(
                    "coordinate by coordinate, without the noise",
                    mean_b + (1 - momentum) * (before - mean_0) - all_b,
                    (1 - momentum) * (before - all_0) + (1 - momentum) * (mean_b - mean_0 + all_0 - all_b)
                    + momentum * (mean_b - all_b),
                ),
                Same(
                    "given the past, x, y and the noise have mean 0: squares add up, and x and y, here parallel, join",
                    (1 - momentum) ** 2 * error2_before
                    + (1 - momentum) ** 2 * wobble_1**2 + 2 * (1 - momentum) * momentum * wobble_1 * wobble_2
                    + momentum**2 * wobble_2**2 + d * sigma_n**2,
                    exact,
                ),
            ]
        )
    ],
)

equation9 = Claim(
    id="lwang21.equation4.9.9",
    source=Source("lwang21", "equation (4.9.9)"),
    kind=Kind.UTILITY,
    says="The error of an estimator, printed as an equation; x and y are how a batch's change and gradient deviate.",
    assumes=losses,
    states=Eq(error2, parts),
    checks=[Equals(exact, "change and gradient of a batch deviate together")],
)

equation9_corrected = Claim(
    id="lwang21.equation4.9.9.corrected",
    source=Source("lwang21", "equation (4.9.9)"),
    kind=Kind.UTILITY,
    says="It is an inequality.",
    assumes=losses,
    states=Le(error2, parts),
    corrects="lwang21.equation4.9.9",
    checks=[
        Proof(
            [
                Same(
                    "2p² + 2q² - (p+q)² = (p-q)²", parts - exact,
                    ((1 - momentum) * wobble_1 - momentum * wobble_2) ** 2,
                )
            ]
        )
    ],
)

added = (
    2 * (1 - momentum) ** 2 * target**2 / (slowing**2 * later_batch)
    + 2 * momentum**2 * G**2 / later_batch
    + d * sigma_n**2
)

equation13 = Claim(
    id="lwang21.equation4.9.13",
    source=Source("lwang21", "equations (4.9.10) to (4.9.13)"),
    kind=Kind.UTILITY,
    says="With x² ≤ ζ²/(n₀²b) and y² ≤ G²/b.",
    assumes=losses,
    states=Le(error2, (1 - momentum) ** 2 * error2_before + added),
    checks=[
        AtMost(
            parts.subs({wobble_1: L_s * target / (slowing * L_s) / sqrt(later_batch), wobble_2: G / sqrt(later_batch)}),
            "a batch of b deviates by 1/√b of the root mean square (Lemma 4.11.1); a step is at most ζ/(n₀L)",
            exact=False,
        )
    ],
    cites=[Cites("lwang21.equation4.9.9.corrected")],
)

telescope = Claim(
    id="lwang21.equation4.9.14.sum",
    source=Source("lwang21", "after equation (4.9.13), Lemma 9 of YLL20"),
    kind=Kind.UTILITY,
    says="From E_t ≤ (1-γ)²E_(t-1) + E: γ times the sum of E_0 to E_(T-1) is at most E_0 + T·E.",
    states=Le(momentum * T * mean_error2, error2_first + T * error2_added),
    checks=[
        Proof(
            [
                Less(
                    "γ·E_(t-1) ≤ E_(t-1) - (1-γ)²E_(t-1), so at most E_(t-1) - E_t + E, and the differences telescope",
                    momentum * error2_before, error2_before - (1 - momentum) ** 2 * error2_before,
                    {momentum: 1 / (1 + u)},
                )
            ],
            "even (2-γ)γ times the sum, nearly twice as much",
        )
    ],
)

first_error = G**2 / first_batch + d * sigma_first**2
error_bound = (
    2 * (1 - momentum) ** 2 * target**2 / (slowing**2 * momentum * later_batch) + 2 * momentum * G**2 / later_batch
    + d * sigma_n**2 / momentum + d * sigma_first**2 / (T * momentum) + G**2 / (T * momentum * first_batch)
)

equation14 = Claim(
    id="lwang21.equation4.9.14",
    source=Source("lwang21", "equation (4.9.14) and section 4.6.2"),
    kind=Kind.UTILITY,
    says="The mean squared error of the estimators.",
    assumes=losses,
    states=Le(mean_error2, error_bound),
    checks=[
        AtMost(
            (T * added + first_error) / (T * momentum), "the sum above over γT, with E_0 ≤ G²/b₀ + dσ₀²", exact=False
        )
    ],
    cites=[Cites("lwang21.equation4.9.14.sum"), Cites("lwang21.equation4.9.13")],
)

halved = 4 * slowing * L_s * gap0 / (T * target) + 2 * target + 2 * target / (slowing**2 * momentum * later_batch)
noisy = (d * sigma_n**2 + d * sigma_first**2 / T) / (target * momentum) + G**2 / (T * target * momentum * first_batch)
weaker = {(1 - momentum) ** 2: Integer(1)}

equation15 = Claim(
    id="lwang21.equation4.9.15",
    source=Source("lwang21", "equation (4.9.15), first line"),
    kind=Kind.UTILITY,
    says="What (4.9.7) and (4.9.14) give together, with (1-γ)² dropped, as printed: γG²/(ζb) without its 2.",
    assumes=losses,
    states=Eq(mean_estimate, halved + momentum * G**2 / (target * later_batch) + noisy),
    checks=[Equals(equation7.formula.subs(mean_error2, error_bound.subs(weaker)), "the two put together")],
)

estimate_bound = halved + 2 * momentum * G**2 / (target * later_batch) + noisy

equation15_corrected = Claim(
    id="lwang21.equation4.9.15.corrected",
    source=Source("lwang21", "equation (4.9.15), first line"),
    kind=Kind.UTILITY,
    says="With 2γG²/(ζb); the first two terms are 3ζ for T ≥ 4n₀L·g₀/ζ², where 6ζ is printed.",
    assumes=[*losses, momentum < 1],
    states=Le(mean_estimate, estimate_bound),
    corrects="lwang21.equation4.9.15",
    checks=[
        AtMost(
            equation7.formula.subs(mean_error2, error_bound),
            "(4.9.7) with (4.9.14)",
            {momentum: 1 / (1 + u)},
            exact=False,
        )
    ],
    cites=[Cites("lwang21.equation4.9.7"), Cites("lwang21.equation4.9.14")],
)

roots = [
    sqrt(2) * target / (slowing * sqrt(momentum * later_batch)), sqrt(2 * momentum) * G / sqrt(later_batch),
    sqrt(d / momentum) * sigma_n, sqrt(d / (T * momentum)) * sigma_first, G / sqrt(T * momentum * first_batch),
]

equation16 = Claim(
    id="lwang21.equation4.9.16",
    source=Source("lwang21", "equation (4.9.16)"),
    kind=Kind.UTILITY,
    says="The mean error of the estimators, by Jensen: the root of (4.9.14).",
    assumes=losses,
    states=Le(mean_error, sum(roots)),
    checks=[
        Proof(
            [
                Less(
                    "the root of a sum is at most the sum of the roots", error_bound, sum(roots) ** 2,
                    {momentum: 1 / (1 + u)},
                )
            ]
        )
    ],
    cites=[Cites("lwang21.equation4.9.14")],
)

# 4n₀L·g₀/(Tζ) + 2ζ is 3ζ for T ≥ 4n₀L·g₀/ζ².
equation17 = Claim(
    id="lwang21.equation4.9.17",
    source=Source("lwang21", "equation (4.9.17)"),
    kind=Kind.UTILITY,
    says="(4.9.15) and (4.9.16) added up at T = 4n₀L·g₀/ζ², as printed: 6ζ, and γG²/(ζb) without its 2.",
    assumes=losses,
    states=Eq(gradient_norm, 6 * target + 2 * target / (slowing**2 * momentum * later_batch)
              + momentum * G**2 / (target * later_batch) + noisy + sum(roots)),
    checks=[
        Equals(
            (estimate_bound - halved) + 3 * target + 2 * target / (slowing**2 * momentum * later_batch) + sum(roots),
            "(4.9.15) corrected and (4.9.16)",
        )
    ],
)

equation17_corrected = Claim(
    id="lwang21.equation4.9.17.corrected",
    source=Source("lwang21", "equation (4.9.17)"),
    kind=Kind.UTILITY,
    says="The gradient norm of an iterate drawn uniformly from the first T, for any parameters.",
    assumes=[*losses, momentum < 1, slowing >= 1],
    states=Le(gradient_norm, estimate_bound + sum(roots)),
    corrects="lwang21.equation4.9.17",
    checks=[
        Proof(
            [
                Same(
                    "‖∇F‖ ≤ ‖v‖ + ‖∇F - v‖ on average: (4.9.15) corrected plus (4.9.16)",
                    equation15_corrected.formula + equation16.formula,
                    estimate_bound + sum(roots),
                )
            ]
        )
    ],
    cites=[Cites("lwang21.equation4.9.15.corrected"), Cites("lwang21.equation4.9.16")],
)
