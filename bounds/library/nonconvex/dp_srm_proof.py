"""The proof of Theorem 4.5.4 of lwang21 (DP-SRM), section 4.9.2: Lemma 4.11.1, and (4.9.6) to (4.9.20).

E stands for a squared error E‖v-∇F‖² of a noisy estimator v. Inequalities that are linear in the quantities of a step
hold of their means over the steps, and are cited so. Vectors stand in one coordinate where squares are expanded.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.symbols import T, d, delta, eps, gradient_norm, m, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import (
    change,
    first_batch,
    later_batch,
    later_reach,
    losses,
    momentum,
    slope,
    slowing,
    split,
    target,
)
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant

sigma_first = quantity(
    "sigma_first", "noise on the first estimator", loss=1, parameter=-1, printed="σ₀", latex=r"\sigma_0"
)
reaching = quantity("reaching", "what a record's gradient reaches", loss=1, parameter=-1, printed="R")
estimate = quantity("estimate", "norm of a noisy estimator", loss=1, parameter=-1, printed="‖v‖", latex=r"\|v\|")
fall = quantity("srm_fall", "F(θ) - F(θ') of a step from θ to θ'", loss=1, printed="(F(θ)-F(θ'))")
error2 = quantity("error2", "E ||v - grad F||^2 of an estimator", loss=2, parameter=-2, printed="E")
error2_before = quantity("error2_before", "that of the one before", loss=2, parameter=-2, printed="E'")
error2_first = quantity("error2_first", "that of the first", loss=2, parameter=-2, printed="E⁰")
error2_last = quantity("error2_last", "that of the last", loss=2, parameter=-2, printed="Eᵀ")
mean_error2 = quantity("mean_error2", "mean of E over v⁰ to v^(T-1)", loss=2, parameter=-2, printed="mean E")
later_mean = quantity("later_mean", "mean of E over v¹ to v^T", loss=2, parameter=-2, printed="mean E¹..Eᵀ")
mean_error = quantity(
    "mean_error", "mean of E ||v - grad F|| over the steps", loss=1, parameter=-1, printed="mean E‖v-∇F‖"
)
mean_estimate = quantity("mean_estimate", "mean of E ||v|| over the steps", loss=1, parameter=-1, printed="mean E‖v‖")
mean_fall = quantity("srm_mean_fall", "mean fall of a step", loss=1, printed="mean(F(θ)-F(θ'))")
batch_spread = quantity("batch_spread", "E ||mean of a batch||^2 of vectors that add up to 0", printed="E‖ā‖²")
square = quantity("square", "mean of ||a||^2 over all records", printed="mean ‖a‖²")
noise_part = quantity("noise_part", "d sigma_0^2/(T zeta gamma)", loss=1, parameter=-1, printed="dσ₀²/(Tζγ)")
x, y = Symbol("x", positive=True), Symbol("y", positive=True)  # how a batch's change and its gradient deviate
u, v = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True)
big = Symbol("big", positive=True)

# The descent ---------------------------------------------------------------------------------------
lemma111 = Claim(
    id="lwang21.lemma4.11.1",
    source=Source("lwang21", "Lemma 4.11.1, quoted from LJC17", line=7928),
    kind=Kind.UTILITY,
    says="The mean square of a random batch of m < n out of n vectors that add up to 0 (at m = n it is 0).",
    assumes=[m < n],
    states=Le(batch_spread, square / m),
    checks=[
        Chain(
            batch_spread,
            Step("=", (m * square - m * (m - 1) * square / (n - 1)) / m**2,
                 because=Premise("m of m² pairs are equal; ⟨a,b⟩ of the others averages -mean ‖a‖²/(n-1), as Σa = 0")),
            Step("<=", STATEMENT),
        )
    ],
)


def gained(eta: Expr) -> Slack:
    """What a step of size η leaves of (4.9.6), times 4n₀L/ζ: the descent lemma, and parts that are seen."""
    gain = eta * (1 - eta * L_s) / 2 * estimate**2
    return Slack(
        given={
            "F is L-smooth: F(θ') ≤ F(θ) + η/2·E - η/2·(1-ηL)‖v‖²": 4
            * slowing * L_s / target * (fall + eta / 2 * error2 - gain)
        },
        seen=[
            error2 / target * (1 - 2 * slowing * L_s * eta),
            4 * slowing * L_s / target * gain + 2 * target - estimate,
        ],
    )


def step_of(eta: Expr) -> Chain:
    return Chain(estimate, Step("<=", STATEMENT, because=gained(eta)))


equation6 = Claim(
    id="lwang21.equation4.9.6",
    source=Source("lwang21", "equation (4.9.6), solved for ‖v‖", line=6696),
    kind=Kind.UTILITY,
    says="What a step of η = min{ζ/(n₀L‖v‖), 1/(2n₀L)} gains bounds the estimator, here by its two cases.",
    assumes=losses,
    added=[slowing >= 1],
    states=Le(estimate, 4 * slowing * L_s / target * fall + error2 / target + 2 * target),
    checks=[
        Cases(
            {
                estimate >= 2 * target: step_of(target / (slowing * L_s * estimate)),
                estimate <= 2 * target: step_of(1 / (2 * slowing * L_s)),
            }
        )
    ],
)

AVERAGED = {estimate: mean_estimate, fall: mean_fall, error2: mean_error2}

equation7 = Claim(
    id="lwang21.equation4.9.7",
    source=Source("lwang21", "equation (4.9.7), divided as in section 4.6.2", line=6718),
    kind=Kind.UTILITY,
    says="The mean size of the estimators.",
    assumes=losses,
    added=[slowing >= 1],
    states=Le(mean_estimate, 4 * slowing * L_s * gap0 / (T * target) + mean_error2 / target + 2 * target),
    checks=[
        Chain(
            mean_estimate,
            Step("<=", because=Cites("lwang21.equation4.9.6", AVERAGED)),
            Step("<=", STATEMENT, because=Slack(
                given={"(4.9.6) averaged over the steps; their falls add up to F(θ⁰)-E F(θᵀ) ≤ g₀": 4
                       * slowing * L_s / target * (gap0 / T - mean_fall)},
            )),
        )
    ],
)

# The error of the estimators -----------------------------------------------------------------------
added = (
    2 * (1 - momentum) ** 2 * target**2 / (slowing**2 * later_batch)
    + 2 * momentum**2 * G**2 / later_batch
    + d * sigma_n**2
)
kept = (1 - momentum) ** 2 * error2_before + d * sigma_n**2
SMALL_BATCH = later_batch < n  # a batch of all records does not deviate at all

equation13 = Claim(
    id="lwang21.equation4.9.13",
    source=Source("lwang21", "equation (4.9.13), by (4.9.8) to (4.9.12); = of (4.9.9) read as ≤", line=7083),
    kind=Kind.UTILITY,
    says="What a step makes of the estimator's error.",
    assumes=losses,
    added=[SMALL_BATCH],
    states=Le(error2, (1 - momentum) ** 2 * error2_before + added),
    checks=[
        Chain(
            error2,
            Step("=", kept + ((1 - momentum) * x + momentum * y) ** 2,
                 because=Premise("(4.9.8): deviations x, y of the batch and noise have mean 0 given the past")),
            Step("<=", kept + 2 * (1 - momentum) ** 2 * x**2 + 2 * momentum**2 * y**2,
                 because=Slack(seen=[((1 - momentum) * x - momentum * y) ** 2])),
            Step("<=", because=Cites("lwang21.lemma4.11.1", {batch_spread: x**2, square: change**2, m: later_batch})),
            Step("<=", because=Cites("lwang21.lemma4.11.1", {batch_spread: y**2, square: slope**2, m: later_batch})),
            Step("<=", STATEMENT, because=Slack(
                given={
                    "‖∇f(θ)-∇f(θ')‖ ≤ ζ/n₀, as in (4.9.4)": 2
                    * (1 - momentum) ** 2 / later_batch * (target**2 / slowing**2 - change**2),
                    "losses are G-Lipschitz": 2 * momentum**2 / later_batch * (G**2 - slope**2),
                }
            )),
        )
    ],
)

first_error = G**2 / first_batch + d * sigma_first**2
error_bound = (
    2 * (1 - momentum) ** 2 * target**2 / (slowing**2 * momentum * later_batch)
    + 2 * momentum * G**2 / later_batch
    + (T * d * sigma_n**2 + d * sigma_first**2) / (T * momentum)
    + G**2 / (T * momentum * first_batch)
)
rest = (error2_first - error2_last) / T - (1 - momentum) ** 2 * mean_error2

equation14 = Claim(
    id="lwang21.equation4.9.14",
    source=Source("lwang21", "equation (4.9.14), divided by T as in section 4.6.2", line=7174),
    kind=Kind.UTILITY,
    says="The mean squared error of the estimators.",
    assumes=losses,
    added=[SMALL_BATCH],
    states=Le(mean_error2, error_bound),
    checks=[
        Chain(
            mean_error2,
            Step("=", (later_mean + rest) / (momentum * (2 - momentum)),
                 because=Premise("the two means differ by (Eᵀ-E⁰)/T, and 1-(1-γ)² = γ(2-γ)")),
            Step("<=", because=Cites("lwang21.equation4.9.13", {error2: later_mean, error2_before: mean_error2})),
            Step("<=", (added + error2_first / T) / momentum),
            Step("<=", STATEMENT, because=Slack(
                given={"E⁰ ≤ G²/b₀ + dσ₀², by (4.9.12)": (first_error - error2_first) / (T * momentum)}
            )),
        )
    ],
)

first_root = sqrt(2) * target / (slowing * sqrt(momentum * later_batch))
roots = first_root + (
    sqrt(2 * momentum) * G / sqrt(later_batch)
    + sqrt(d / momentum) * sigma_n
    + sqrt(d / (T * momentum)) * sigma_first
    + G / sqrt(T * momentum * first_batch)
)

equation16 = Claim(
    id="lwang21.equation4.9.16",
    source=Source("lwang21", "equation (4.9.16)", line=7341),
    kind=Kind.UTILITY,
    says="The mean error of the estimators.",
    assumes=losses,
    added=[SMALL_BATCH],
    states=Le(mean_error, roots),
    checks=[
        Chain(
            mean_error,
            Step("<=", sqrt(mean_error2), because=Premise("Jensen")),
            Step("<=", because=Cites("lwang21.equation4.9.14")),
            Step("<=", roots - momentum * first_root, because=Premise("√(a+b) ≤ √a + √b")),
            Step("<=", STATEMENT),
        )
    ],
)

# The gradient of the output ------------------------------------------------------------------------
noisy = (d * sigma_n**2 + d * sigma_first**2 / T) / (target * momentum)
middle = 2 * target / (slowing**2 * momentum * later_batch) + G**2 / (T * target * momentum * first_batch) + noisy
any_steps = 4 * slowing * L_s * gap0 / (T * target) + 2 * target + 2 * momentum * G**2 / (target * later_batch)
enough_steps = 4 * slowing * L_s * gap0 / target**2 <= T

equation17_corrected = Claim(
    id="lwang21.equation4.9.17.corrected",
    source=Source("lwang21", "equation (4.9.17), by (4.9.7), (4.9.14) and (4.9.16)", line=7389),
    kind=Kind.UTILITY,
    says="The gradient norm of an iterate drawn uniformly from the first T, for any T: 2γG²/(ζb), and no 6ζ.",
    assumes=losses,
    added=[SMALL_BATCH, slowing >= 1],
    states=Le(gradient_norm, any_steps + middle + roots),
    corrects="lwang21.equation4.9.17",
    checks=[
        Chain(
            gradient_norm,
            Step("<=", mean_estimate + mean_error,
                 because=Premise("the output is one of θ⁰ to θ^(T-1), each as likely; ‖∇F‖ ≤ ‖v‖ + ‖v-∇F‖")),
            Step("<=", because=Cites("lwang21.equation4.9.7")),
            Step("<=", because=Cites("lwang21.equation4.9.16")),
            Step("<=", because=Cites("lwang21.equation4.9.14")),
            Step("<=", STATEMENT),
        )
    ],
)

equation17 = Claim(
    id="lwang21.equation4.9.17",
    source=Source("lwang21", "equation (4.9.17)", line=7389),
    kind=Kind.UTILITY,
    says="The same as printed: 6ζ for T ≥ 4n₀L·g₀/ζ², and γG²/(ζb). The γ and b chosen below it have γG² = √2ζ²b.",
    assumes=[*losses, enough_steps],
    added=[SMALL_BATCH, slowing >= 1, momentum * G**2 <= 3 * target**2 * later_batch],
    states=Le(gradient_norm, 6 * target + momentum * G**2 / (target * later_batch) + middle + roots),
    checks=[
        Chain(
            gradient_norm,
            Step("<=", because=Cites("lwang21.equation4.9.17.corrected")),
            Step("<=", 3 * target + 2 * momentum * G**2 / (target * later_batch) + middle + roots),
            Step("<=", STATEMENT),
        )
    ],
)

proof_parameters = [
    Eq(momentum, sqrt(2) * target / slowing),
    Eq(later_batch, G**2 / (slowing * target)),
    Eq(first_batch, G**2 / (target * L_s * gap0)),
]
left_of_noise = noisy + sqrt(d / momentum) * sigma_n + sqrt(d / (T * momentum)) * sigma_first

equation18 = Claim(
    id="lwang21.equation4.9.18",
    source=Source("lwang21", "equation (4.9.18); G > 1 'without loss of generality'", line=7490),
    kind=Kind.UTILITY,
    says="At the proof's γ, b and b₀.",
    assumes=[*losses, *proof_parameters, G >= 1, enough_steps],
    added=[SMALL_BATCH, slowing >= 1],
    states=Le(gradient_norm, 15 * target + left_of_noise),
    ignores_units=True,
    checks=[
        Chain(
            gradient_norm,
            Step("<=", because=Cites("lwang21.equation4.9.17.corrected")),
            Step("<=", STATEMENT, where={G: 1 + u, gap0: T * target**2 / (4 * slowing * L_s * (1 + v) ** 2)}),
        )
    ],
)

# The noise -----------------------------------------------------------------------------------------
chosen_order = log(1 / delta) / ((1 - split) * eps) + 1  # α


def noise(reach: Expr, alpha: Expr = chosen_order) -> Expr:
    """σ of Algorithm 4 and Theorem 4.5.1 for gradients that reach so far."""
    return sqrt(14 * T * alpha / (split * n**2 * eps)) * reach


equation19 = Claim(
    id="lwang21.equation4.9.19",
    source=Source("lwang21", "equation (4.9.19), R = (1-γ)ζ/n₀ + γG for σ and G for σ₀", line=7522),
    kind=Kind.UTILITY,
    says="The noise with log(1/δ)/ε² for α/(βε), as printed.",
    assumes=losses,
    states=Eq(sigma_n, sqrt(14 * T * log(1 / delta)) * reaching / (n * eps)),
    checks=[Equals(noise(reaching), "Algorithm 4 with α = log(1/δ)/((1-β)ε) + 1: α/(βε) is 4·log(1/δ)/ε² at least")],
)

equation19_corrected = Claim(
    id="lwang21.equation4.9.19.corrected",
    source=Source("lwang21", "equation (4.9.19)", line=7522),
    kind=Kind.UTILITY,
    says="At β = 1/2 it is at most √6 times that for ε ≤ log(1/δ).",
    assumes=[*losses, Eq(split, Rational(1, 2)), delta <= exp(-eps)],
    states=Le(sigma_n, sqrt(6 * 14 * T * log(1 / delta)) * reaching / (n * eps)),
    corrects="lwang21.equation4.9.19",
    checks=[
        Chain(
            sigma_n,
            Step("=", noise(reaching), because=Premise("lines 2 and 7 of Algorithm 4")),
            Step("<=", STATEMENT),
        )
    ],
)

# The printed term of C₅, at γ = √2ζ/n₀, and that of C₂ in the line before, which it stands for.
first_noise = d * sigma_first**2 / (T * target * momentum)
of_first = Cites("lwang21.equation4.9.19.corrected", {sigma_n: sigma_first, reaching: G})

equation20 = Claim(
    id="lwang21.equation4.9.20",
    source=Source("lwang21", "equation (4.9.20), the term of C₅", line=7592),
    kind=Kind.UTILITY,
    says="dσ₀²/(Tζγ) is of order n₀dG²log(1/δ)/(nε)², as printed.",
    assumes=[*losses, proof_parameters[0]],
    states=Rate(noise_part, slowing * d * G**2 * log(1 / delta) / (n * eps) ** 2),
    misprint_of="lwang21.equation4.9.20.corrected",
    ignores_units=True,
    checks=[
        NoConstant(
            d * 14 * G**2 * log(1 / delta) / (n * eps) ** 2 * slowing / (sqrt(2) * target**2),
            {n: big, eps: 1, d: 1, delta: Rational(1, 100), G: 1, slowing: sqrt(big), target: 1 / sqrt(big),
             momentum: sqrt(2) / big},
            big, "with σ₀ of (4.9.19) and γ = √2ζ/n₀ it is 7√2·n₀dG²log(1/δ)/((nε)²ζ²), and ζ is small",
        )
    ],
)

equation20_corrected = Claim(
    id="lwang21.equation4.9.20.corrected",
    source=Source("lwang21", "equation (4.9.20), its first line, the term of C₂", line=7561),
    kind=Kind.UTILITY,
    says="Over ζγ, as the line before has it: at γ = √2ζ/n₀ there is ζ² below, which makes it of order ζ.",
    assumes=[*losses, Eq(split, Rational(1, 2)), delta <= exp(-eps)],
    states=Rate(noise_part, d * G**2 * log(1 / delta) / ((n * eps) ** 2 * target * momentum)),
    corrects="lwang21.equation4.9.20",
    ignores_units=True,
    checks=[
        Chain(
            noise_part,
            Step("=", first_noise, because=Premise("(4.9.18)")),
            Step("<=", because=of_first),
            Step("<=", 84 * STATEMENT),
        )
    ],
)

reach = Claim(
    id="lwang21.equation4.9.20.reach",
    source=Source("lwang21", "equation (4.9.20), its first line", line=7540),
    kind=Kind.UTILITY,
    says="At the proof's γ what a record's gradient reaches, (1-γ)ζ/n₀ + γG, is of order ζG/n₀.",
    assumes=[*losses, proof_parameters[0], momentum < 1, G >= 1],
    states=Le(reaching, (1 + sqrt(2)) * G * target / slowing),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(reaching, Step("=", later_reach, because=Premise("line 7 of Algorithm 4")), Step("<=", STATEMENT))
    ],
)

# Theorem 4.5.4's ζ, its other parameters as in the proof; T without rounding.
accuracy = sqrt(G) * (L_s * gap0 * d * log(1 / delta)) ** Rational(1, 4) / sqrt(n * eps)
later = sqrt(336 / sqrt(2)) * (1 + sqrt(2)) * target  # the root of dσ²/(ζγ)

total = Claim(
    id="lwang21.equation4.9.20.total",
    source=Source("lwang21", "equation (4.9.20) to the end of the proof", line=7608),
    kind=Kind.UTILITY,
    says="With ζ of Theorem 4.5.4, here solved for n, the bound is a number times ζ: C₇, which the source leaves open.",
    assumes=[
        *losses, *proof_parameters, G >= 1, Eq(T, 4 * slowing * L_s * gap0 / target**2),
        Eq(gap0, slowing * target / L_s), Eq(n, G * sqrt(slowing * target * d * log(1 / delta)) / (eps * target**2)),
    ],
    added=[SMALL_BATCH, slowing >= 1, momentum < 1, target <= 1, Eq(split, Rational(1, 2)), delta <= exp(-eps)],
    states=Le(gradient_norm, 1900 * target),
    ignores_units=True,
    checks=[
        Chain(
            gradient_norm,
            Step("<=", because=Cites("lwang21.equation4.9.18")),
            Step("<=", because=Cites("lwang21.equation4.9.19.corrected")),
            Step("<=", because=Cites("lwang21.equation4.9.20.reach")),
            Step("<=", because=of_first),
            Step("=", 15 * target + later**2 + sqrt(target) * later + (84 / sqrt(2) + sqrt(84 / sqrt(2))) * target),
            Step("<=", STATEMENT, where={target: (1 + u) ** -2}),
        )
    ],
)
