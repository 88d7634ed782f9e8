"""What the privacy of DP-SRM rests on (lwang21, chapter 4): Rényi DP, sampling, and how far a record moves a gradient.

Lemmas 4.3.7, 4.3.9 and 4.9.1, the proof in section 4.10, the sensitivities (4.9.2) and (4.9.4) and their limits by
clipping. σ'² is the squared noise over sensitivity; (4.10.2) stands solved for the exponential. Theorems: dp_srm.py.
"""

from sympy import Eq, Expr, Le, Min, Rational, Symbol, exp, integrate, log, oo, pi, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.guarantees import RenyiDP
from dpcheck.bounds.language.symbols import Delta, T, delta, eps_out, quantity, sigma
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant

# The symbols of chapter 4 --------------------------------------------------------------------------
order = quantity("srm_order", "order of a Renyi divergence", box=(1.01, 1e3), printed="α", latex=r"\alpha")
whole_order = quantity("whole_order", "order, a whole number", box=(2, 1e3), integer=True, printed="α", latex=r"\alpha")
renyi = quantity("srm_renyi", "Renyi divergence of two neighbouring outputs", printed="ρ", latex=r"\rho")
renyi_1 = quantity("srm_renyi_1", "that of one release", printed="ρ₁", latex=r"\rho_1")
share = quantity("share", "share of the records in a batch", box=(1e-5, 1.0), printed="τ", latex=r"\tau")
noise2 = quantity("noise2", "squared noise over sensitivity", box=(0.7, 1e3), printed="σ'²", latex=r"\sigma'^2")
split = quantity("split", "part of epsilon for composition", box=(0.05, 0.95), below=1.0, printed="β", latex=r"\beta")
lemma_sum = quantity("lemma_sum", "terms of the amplification bound from the third on", printed="Σ", latex=r"\Sigma")
mass = quantity("srm_mass", "chance that the privacy loss exceeds ε'", box=(1e-10, 1), printed="P(loss > ε')")
momentum = quantity("momentum", "weight of the newest gradient", box=(1e-3, 0.999), below=1.0, printed="γ")
slowing = quantity("slowing", "divisor of the step size", box=(1, 1e3), printed="n₀", latex="n_0")
target = quantity("target", "gradient norm aimed at", loss=1, parameter=-1, printed="ζ", latex=r"\zeta")
first_batch = quantity(
    "first_batch", "records of the first batch", box=(1, 1e4), integer=True, printed="b₀", latex="b_0"
)
later_batch = quantity("later_batch", "records of each later batch", box=(1, 1e4), integer=True, printed="b", latex="b")
shift = quantity("shift", "sensitivity of a gradient estimator", loss=1, parameter=-1, printed="Δ", latex=r"\Delta")
change = quantity("change", "change of a record's gradient in a step", loss=1, parameter=-1, printed="‖∇f(θ)-∇f(θ')‖")
slope = quantity("srm_slope", "norm of a record's gradient", loss=1, parameter=-1, printed="‖∇f‖")
other_slope = quantity("srm_other_slope", "that of another record", loss=1, parameter=-1, printed="‖∇f'‖")
spread = quantity("spread", "distance of two records' gradients", loss=1, parameter=-1, printed="‖∇f-∇f'‖")
clip_1 = quantity("clip_1", "limit of a gradient", loss=1, parameter=-1, printed="C₁", latex="C_1")
clip_2 = quantity("clip_2", "limit of a change of gradient", loss=1, parameter=-1, printed="C₂", latex="C_2")
big, z = Symbol("big", positive=True), Symbol("z", real=True)

# Rényi DP ------------------------------------------------------------------------------------------
exponent = -(z**2 - 2 * order * Delta * z + order * Delta**2) / (2 * sigma**2)  # of N(Δ, σ²)^α·N(0, σ²)^(1-α)

gaussian = Claim(
    id="lwang21.lemma4.3.7.gaussian",
    source=Source("lwang21", "Lemma 4.3.7, first half", line=5044),
    kind=Kind.PRIVACY,
    says="The Gaussian mechanism's Rényi divergence of order α.",
    assumes=[order > 1],
    states=Eq(renyi, order * Delta**2 / (2 * sigma**2)),
    guarantee=RenyiDP(order, renyi),
    checks=[
        Equals(
            lambda: log(integrate(exp(exponent.expand()), (z, -oo, oo)) / (sqrt(2 * pi) * sigma)) / (order - 1),
            "Definition 4.3.6 integrated: p^α·q^(1-α), two Gaussians Δ apart",
        )
    ],
)


def allowed(a: Expr, before: Expr) -> Expr:
    """Lemma 4.3.7's limit on the order a, with `before` where it prints σ² before the logarithm."""
    return a - 1 <= Rational(2, 3) * before * log(1 / (share * a * (1 + noise2)))


amplified = Rational(7, 2) * share**2 * order / noise2

subsampled = Claim(
    id="lwang21.lemma4.3.7.subsampled",
    source=Source("lwang21", "Lemma 4.3.7, second half", line=5050),
    kind=Kind.PRIVACY,
    says="The same on a random τ-share of the records, as printed: σ² = σ'²Δ² before the logarithm in the limit on α.",
    assumes=[order > 1, noise2 >= Rational(7, 10), allowed(order, noise2 * Delta**2), share <= 1],
    states=Le(renyi, amplified),
    guarantee=RenyiDP(order, renyi),
    ignores_units=True,
    misprint_of="lwang21.lemma4.3.7.subsampled.corrected",
    checks=[
        AtMost(
            (order * log(share) + order * (order - 1) / (2 * noise2)) / (order - 1),
            "one term alone of the exact divergence of (1-τ)N(0,σ²) + τN(Δ,σ²) from N(0,σ²), at Δ > 1",
        )
    ],
)

subsampled_corrected = Claim(
    id="lwang21.lemma4.3.7.subsampled.corrected",
    source=Source("lwang21", "Lemma 4.3.7, with the limit that Theorem 4.5.1 and (4.10.2) print", line=7838),
    kind=Kind.PRIVACY,
    says="With σ'² = σ²/Δ² before the logarithm.",
    assumes=[order > 1, noise2 >= Rational(7, 10), allowed(order, noise2), share <= 1],
    states=Le(renyi, amplified),
    guarantee=RenyiDP(order, renyi),
    corrects="lwang21.lemma4.3.7.subsampled",
)

covered = Claim(
    id="lwang21.lemma4.3.7.range",
    source=Source("lwang21", "Lemma 4.3.7, its limit on α", line=5050),
    kind=Kind.PRIVACY,
    says="The lemma covers τα(α-1) ≤ 0.25 at most, which leaves out a9a at ε ≤ 1/2, δ = 1e-5 (section 4.7.1).",
    assumes=[order > 1, noise2 >= Rational(7, 10), allowed(order, noise2), share <= 1],
    states=Le(share * order * (order - 1), Rational(1, 4)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            share * order * (order - 1),
            Step("<=", Rational(2, 3) * share * order * noise2 * log(1 / (share * order * (1 + noise2))),
                 because=Premise("the lemma's limit on α")),
            Step("<=", Rational(2, 3) * noise2 / (1 + noise2) * exp(-1), because=Premise("y·log(1/y) ≤ 1/e")),
            Step("<=", STATEMENT),
        )
    ],
)

# The proof of Lemma 4.3.7, section 4.10 ------------------------------------------------------------
second = Min(4 * (exp(1 / noise2) - 1), 2 * exp(1 / noise2))
pairs = share**2 * whole_order * (whole_order - 1) / 2
third = share * whole_order * exp(Rational(3, 2) * (whole_order - 1) / noise2)
within = [noise2 >= Rational(7, 10), third <= 1 / (1 + noise2), share <= 1]  # (4.10.2)

theorem9 = Claim(
    id="lwang21.equation4.10.1",
    source=Source("lwang21", "equation (4.10.1), quoted as Theorem 9 of WBK19", line=7713),
    kind=Kind.PRIVACY,
    says="Amplification by sampling without replacement; Σ adds up 2τ^j·C(α,j)·e^(j(j-1)/(2σ²)) for j = 3 to α.",
    assumes=[whole_order >= 2, share <= 1],
    states=Le(renyi, log(1 + pairs * second + lemma_sum) / (whole_order - 1)),
    guarantee=RenyiDP(whole_order, renyi),
)


def below(part: Expr, chord: Expr, where: str) -> Chain:
    """The minimum by one of its parts, which is convex in 1/σ² and so below a chord."""
    convex = {f"e^x lies below its chord for 1/σ² {where}": chord - part}
    return Chain(
        second,
        Step("<=", part, because=Premise("a minimum is at most each of its parts")),
        Step("<=", STATEMENT, because=Slack(given=convex, seen=[6 / noise2 - chord])),
    )


bend, least, most = Rational(10, 7), exp(Rational(7, 10)), exp(Rational(10, 7))

second_term = Claim(
    id="lwang21.section4.10.second",
    source=Source("lwang21", "section 4.10, the second term", line=7721),
    kind=Kind.IDENTITY,
    says="min{4(e^(1/σ²)-1), 2e^(1/σ²)} is at most 6/σ² for σ² ≥ 0.7.",
    assumes=[noise2 >= Rational(7, 10)],
    states=Le(second, 6 / noise2),
    checks=[
        Cases(
            {
                noise2 >= bend: below(4 * (exp(1 / noise2) - 1), 4 * (least - 1) * bend / noise2, "from 0 to 0.7"),
                noise2 <= bend: below(
                    2 * exp(1 / noise2),
                    2 * least + 2 * (most - least) / (bend - Rational(7, 10)) * (1 / noise2 - Rational(7, 10)),
                    "from 0.7 to 1/0.7",
                ),
            }
        )
    ],
)

geometric = Claim(
    id="lwang21.section4.10.sum",
    source=Source("lwang21", "section 4.10, after (4.10.2)", line=7850),
    kind=Kind.IDENTITY,
    says="Under (4.10.2) the terms from the third on are at most τ²·C(α,2)/σ² in all.",
    assumes=within,
    added=[whole_order >= 3],
    states=Le(lemma_sum, pairs / noise2),
    checks=[
        Chain(
            lemma_sum,
            Step("<=", share**2 * whole_order**2 / 3 * third / (1 - third),
                 because=Premise("C(α,j) ≤ α^j/3! and j ≤ α: a geometric series of ratio at most τα·e^(3(α-1)/(2σ²))")),
            Step("<=", share**2 * whole_order**2 / (3 * noise2)),
            Step("<=", STATEMENT),
        )
    ],
)

whole = Claim(
    id="lwang21.equation4.10.2",
    source=Source("lwang21", "section 4.10, what it shows under (4.10.2)", line=7889),
    kind=Kind.PRIVACY,
    says="Lemma 4.3.7, second half, for whole α; its last line prints 10 for 6 + 1.",
    assumes=within,
    added=[whole_order >= 3],
    states=Le(renyi, Rational(7, 2) * share**2 * whole_order / noise2),
    guarantee=RenyiDP(whole_order, renyi),
    checks=[
        Chain(
            renyi,
            Step("<=", because=Cites("lwang21.equation4.10.1")),
            Step("<=", because=Cites("lwang21.section4.10.second")),
            Step("<=", because=Cites("lwang21.section4.10.sum")),
            Step("<=", 7 * pairs / noise2 / (whole_order - 1), because=Premise("log(1+x) ≤ x")),
            Step("<=", STATEMENT),
        )
    ],
)

# Composition and conversion ------------------------------------------------------------------------
conversion = Claim(
    id="lwang21.lemma4.3.9",
    source=Source("lwang21", "Lemma 4.3.9, quoted from Mir17", line=5085),
    kind=Kind.PRIVACY,
    says="Under (α, ρ)-Rényi DP the loss exceeds ε' = ρ + log(1/δ)/(α-1) with chance δ at most: that is (ε', δ)-DP.",
    assumes=[order > 1, Eq(eps_out, renyi + log(1 / delta) / (order - 1))],
    states=Le(mass, delta),
    checks=[
        Chain(
            mass,
            Step("<=", exp((order - 1) * (renyi - eps_out)), because=Premise("Markov: E e^((α-1)·loss) ≤ e^((α-1)ρ)")),
            Step("<=", STATEMENT),
        )
    ],
)

composition = Claim(
    id="lwang21.lemma4.9.1",
    source=Source("lwang21", "Lemma 4.9.1, quoted from Mir17", line=6171),
    kind=Kind.PRIVACY,
    says="Rényi divergences of one order add up over releases that may depend on those before: here T of ρ₁ each.",
    assumes=[order > 1],
    states=Le(renyi, T * renyi_1),
    checks=[
        Chain(
            renyi,
            Step(
                "<=", STATEMENT,
                because=Induction(
                    T, step=lambda b: log(exp((order - 1) * b) * exp((order - 1) * renyi_1)) / (order - 1),
                    given="whatever was released before, the next multiplies E(p/q)^α by e^((α-1)ρ₁) at most",
                ),
            ),
        )
    ],
)

# Sensitivity ---------------------------------------------------------------------------------------
losses = [lipschitz(G), smooth(L_s)]
later_reach = (1 - momentum) * target / slowing + momentum * G  # times 2/b it is the sensitivity of a later estimator
ONE_TERM = Premise("one term of the batch's mean differs, and ‖a+b‖ ≤ ‖a‖+‖b‖")
later_shift = (2 * (1 - momentum) * change + momentum * spread) / later_batch


def limits(of_change: Expr, why: str, gradient: Expr = G, bounded: str = "losses are G-Lipschitz") -> Slack:
    """What (4.9.4) gives away: both parts at their limits."""
    return Slack(
        given={
            why: 2 * (1 - momentum) * (of_change - change) / later_batch,
            f"‖∇f-∇f'‖ is at most twice the limit of a gradient: {bounded}": momentum * (2 * gradient - spread)
            / later_batch,
        }
    )


equation2 = Claim(
    id="lwang21.equation4.9.2",
    source=Source("lwang21", "equation (4.9.2)", line=6256),
    kind=Kind.SENSITIVITY,
    says="The first estimator moves by 2G/b₀ at most.",
    assumes=losses,
    states=Le(shift, 2 * G / first_batch),
    checks=[
        Chain(
            shift,
            Step("<=", (slope + other_slope) / first_batch, because=ONE_TERM),
            Step("<=", STATEMENT, because=Slack(
                given={
                    "the record's loss is G-Lipschitz": (G - slope) / first_batch,
                    "and so is that which replaces it": (G - other_slope) / first_batch,
                }
            )),
        )
    ],
)

equation4 = Claim(
    id="lwang21.equation4.9.4",
    source=Source("lwang21", "equation (4.9.4); (4.6.1), the step before, has a sign wrong", line=6453),
    kind=Kind.SENSITIVITY,
    says="A later estimator moves by 2((1-γ)ζ/n₀ + γG)/b at most.",
    assumes=losses,
    states=Le(shift, later_reach / later_batch * 2),
    checks=[
        Chain(
            shift,
            Step("<=", later_shift, because=ONE_TERM),
            Step("<=", STATEMENT, because=limits(target / slowing, "L-Lipschitz gradients, and a step of ζ/(n₀L)")),
        )
    ],
)

fixed_step = Claim(
    id="lwang21.section4.6.fixed_step",
    source=Source("lwang21", "section 4.6.1, a fixed step size 1/(2L)", line=5574),
    kind=Kind.SENSITIVITY,
    says="With a fixed step the sensitivity would be of order G²/b.",
    assumes=losses,
    states=Rate(shift, G**2 / later_batch),
    ignores_units=True,
    checks=[
        NoConstant(
            2 * momentum * G / later_batch, {G: 1 / big, later_batch: 1, momentum: Rational(1, 2)}, big,
            "linear losses, one of which turns round: 2γG/b whatever the step, and G may be small",
        )
    ],
)

fixed_step_corrected = Claim(
    id="lwang21.section4.6.fixed_step.corrected",
    source=Source("lwang21", "section 4.6.1, a fixed step size 1/(2L)", line=5574),
    kind=Kind.SENSITIVITY,
    says="It is at most 2(2-γ)G/b, whatever the step.",
    assumes=losses,
    states=Le(shift, 2 * (2 - momentum) * G / later_batch),
    corrects="lwang21.section4.6.fixed_step",
    checks=[
        Chain(
            shift,
            Step("<=", later_shift, because=ONE_TERM),
            Step("<=", STATEMENT, because=limits(2 * G, "two gradients of a record differ by 2G at most (Lipschitz)")),
        )
    ],
)

CLIPPED = Setting("gradients clipped to C₁, their changes in a step to C₂")
clipped = limits(clip_2, "changes are clipped to C₂", clip_1, "clipped to C₁")

clipping = Claim(
    id="lwang21.section4.5.clipping",
    source=Source("lwang21", "section 4.5, after Corollary 4.5.3", line=5294),
    kind=Kind.SENSITIVITY,
    says="With gradients clipped to C₁ and their changes to C₂ a later estimator moves by 2((1-γ)C₂ + γC₁)/b at most.",
    assumes=[CLIPPED],
    states=Le(shift, 2 * ((1 - momentum) * clip_2 + momentum * clip_1) / later_batch),
    checks=[
        Chain(shift, Step("<=", later_shift, because=ONE_TERM), Step("<=", STATEMENT, because=clipped, uses=[CLIPPED]))
    ],
)
