"""Random-round private SGD (zhang17, section 3.2, Algorithm 2; proofs in A.4 to A.6).

At most n² noisy steps on one random record each, stopped at a random round; steps of one size.
Lemmas 11 and 12 stand in stochastic_gradient.py. Solver: dpcheck/solvers/nonconvex/rrpsgd.py.
"""

from sympy import Eq, Le, Min, Rational, erfc, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import (
    D_F,
    D,
    L,
    T,
    alpha_g,
    beta,
    c,
    d,
    delta,
    delta1,
    distance,
    eps,
    eta,
    excess_risk,
    gamma,
    gradient_norm2,
    n,
    noise_norm2,
    q,
    quantity,
    sigma,
    sigma_g,
    sigma_t,
    x_tail,
)
from dpcheck.bounds.library.nonconvex.stochastic_gradient import UNBIASED, mean_gap, mean_gradient2
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.numeric_checks import SampledGaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.derivations import gaussian
from dpcheck.bounds.proving.proofs import AtMost, Bounded, Equals, NoConstant

# Privacy -------------------------------------------------------------------------------------------
stated_noise = 2 * L * sqrt(log(3 * n / delta) * log(2 / delta)) / eps
released = Release(2 * L, Gaussian(alpha_g), WithoutReplacement(1, n), n**2)  # n² gradients of one random record each
per_step = eps / (2 * sqrt(2 * log(2 / delta)))  # epsilon the proof claims for one step

exponent = eps**2 / (8 * L**2 * log(3 * n / delta) * log(2 / delta))  # of ||z||^2 in the density
coordinate = gaussian(1 / sqrt(2 * c))  # density exp(-c z^2)

algorithm2 = Claim(
    id="zhang17.algorithm2.noise", kind=Kind.IDENTITY,
    source=Source("zhang17", "Algorithm 2, line 4", line=235),
    says="The variance of each coordinate of noise with density proportional to exp(-ε²‖z‖²/(8L² log(3n/δ) log(2/δ))).",
    assumes=[lipschitz(L)],
    states=Eq(alpha_g**2, stated_noise**2),
    checks=[Equals(lambda: coordinate.mean(coordinate.variable**2).subs(c, exponent), "the density, integrated")],
)

theorem4 = Claim(
    id="zhang17.theorem4", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 4, with the noise of Algorithm 2, line 4", line=216),
    says="Algorithm 2 is (ε, δ)-private for ε in (0, 1] and δ in (0, 1).",
    assumes=[lipschitz(L), eps <= 1],
    added=[Setting("step sizes that do not depend on the data")],
    states=Eq(alpha_g, stated_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[
        SampledGaussianAccountant(alpha_g / L, n**2, "n² steps on one random record each, whole transcript seen")
    ],
    cites=[
        Cites("zhang17.theorem4.step"), Cites("zhang17.lemma9", {q: 1 / n, eps: per_step}),
        Cites("zhang17.lemma10", {T: n**2, eps: 2 * per_step / n, delta1: delta / 2}),
    ],
)

step_mu = 2 * L / stated_noise  # two gradients differ by up to 2L

theorem4_step = Claim(
    id="zhang17.theorem4.step", kind=Kind.PRIVACY,
    source=Source("zhang17", "proof of Theorem 4 in A.4, first step", line=457),
    says="The privacy loss of one step exceeds ε/(2√(2 log(2/δ))) with probability at most δ/(2n).",
    assumes=[lipschitz(L), eps <= 1],
    states=Le(gamma, delta / (2 * n)),
    checks=[
        AtMost(
            erfc((per_step / step_mu - step_mu / 2) / sqrt(2)) / 2,
            "gradients L and -L: the loss is N(μ²/2, μ²) with μ = 2L over the noise",
            box={n: (2, 1e4), delta: (1e-8, 0.1), eps: (0.1, 1)},
        )
    ],
)

losses = [smooth(beta), lipschitz(L)]
deviation = sqrt(4 * L**2 + d * stated_noise**2)
theorem5_privacy = Claim(
    id="zhang17.theorem5.privacy", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 4 with the step size of Theorem 5", line=247),
    says="Algorithm 2 stays (ε, δ)-private when its step size is min(1/β, D_F/(σn)), which depends on the data.",
    assumes=[*losses, eps <= 1],
    states=Eq(eta, Min(1 / beta, D_F / (sigma_g * n))),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    cites=[Cites("zhang17.theorem4")],
)

# Utility -------------------------------------------------------------------------------------------
strays2 = quantity("strays2", "E||G - grad F||^2", loss=2, parameter=-2, printed="E ‖G-∇F‖²")

theorem5_deviation = Claim(
    id="zhang17.theorem5.deviation", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 5, in section 3.2 and A.5", line=465),
    says="The mean squared deviation of a noisy gradient, as the proof prints it: without d.",
    assumes=losses,
    states=Le(strays2, 4 * L**2 + 8 * L**2 * log(3 * n / delta) * log(2 / delta) / eps**2),
    misprint_of="zhang17.theorem5.deviation.corrected",
    checks=[AtMost(d * stated_noise**2, "all records alike: what strays is the noise, in d coordinates")],
)

theorem5_deviation_corrected = Claim(
    id="zhang17.theorem5.deviation.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 5, where σ² is printed with d", line=241),
    says="The mean squared deviation of a noisy gradient, as the theorem has it.",
    assumes=losses,
    states=Le(strays2, 4 * L**2 + 4 * d * L**2 * log(3 * n / delta) * log(2 / delta) / eps**2),
    corrects="zhang17.theorem5.deviation",
    checks=[
        Chain(
            strays2,
            Step(
                "<=",
                4 * L**2 + noise_norm2,
                because=Premise("‖∇f-∇F‖ ≤ 2L (Lipschitz); the noise is independent, of mean 0"),
            ),
            Step("=", because=Cites("zhang17.lemma7", {sigma: stated_noise})),
            Step("=", STATEMENT),
        )
    ],
)

weight = 2 * eta - beta * eta**2
end_gap = quantity("end_gap", "E F - F* after n² steps", loss=1, printed="E F(w_(n²)) - F*")

theorem5_general = Claim(
    id="zhang17.theorem5.general", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 5, first bound, steps of one size", line=243),
    says="The mean squared gradient at the output w_R, for any step size below 2/β.",
    assumes=[*losses, eta < 2 / beta, UNBIASED],
    states=Le(gradient_norm2, beta * (D_F**2 + sigma_g**2 * n**2 * eta**2) / (n**2 * (2 * eta - beta * eta**2))),
    checks=[
        Chain(
            gradient_norm2,
            Step("<=", mean_gradient2 + 2 * beta * end_gap / n**2, because=Premise(
                "R is uniform on 1 to n²: to the iterates of Lemma 11 comes the last, where ‖∇F‖² ≤ 2β(F-F*)")),
            Step("<=", because=Cites("zhang17.lemma11.step")),
            Step("=", (beta * D_F**2 / n**2 - 2 * end_gap / n**2 + beta * eta**2 * sigma_g**2) / weight
                 + 2 * beta * end_gap / n**2, because=Premise("F falls from F* + βD_F²/2 in n² steps")),
            Step("<=", STATEMENT, because=Slack(given={
                "β(2η-βη²) ≤ 1, as the rest is (1-βη)²": 2 * end_gap / n**2 * (1 - beta * eta) ** 2 / weight})),
        )
    ],
)

usual = [eps <= 1, delta <= Rational(1, 2), n >= 2]
order = L * sqrt(d * log(n / delta) * log(1 / delta)) / (n * eps)
u, v, w, x = symbols("u v w x", nonnegative=True)
all_of_them = {n: 2 * exp(u), delta: exp(-v) / 2, eps: 1 / (1 + w), d: 1 + x}
SIGMA = Premise("σ² = 4L² + 4dL² log(3n/δ) log(2/δ)/ε²")

NEAR_0 = Setting("‖ŵ‖ ≤ D, w₀ = 0")
STEP_SIZE = Setting("step size min(1/β, D_F/(σn))")

theorem5_rate = Claim(
    id="zhang17.theorem5.rate", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 5, second bound", line=249),
    says="The mean squared gradient at the output with step size min(1/β, D_F/(σn)).",
    assumes=[*losses, UNBIASED, STEP_SIZE],
    added=usual,
    states=Rate(gradient_norm2, beta * D_F * order),
    checks=[
        Cases(
            {
                beta * D_F <= sigma_g * n: Chain(
                    gradient_norm2,
                    Step("<=", because=Cites("zhang17.theorem5.general", {eta: D_F / (sigma_g * n)})),
                    Step("<=", 2 * beta * D_F * sigma_g / n),
                    Step("=", 2 * beta * D_F * deviation / n, because=SIGMA),
                    Step("<=", 10 * STATEMENT, where=all_of_them),
                ),
                beta * D_F > sigma_g * n: Chain(
                    gradient_norm2,
                    Step("<=", sigma_g**2, because=Premise("‖∇F‖ ≤ L ≤ σ")),
                    Step("<=", beta * D_F * sigma_g / n),
                    Step("=", beta * D_F * deviation / n, because=SIGMA),
                    Step("<=", 10 * STATEMENT, where=all_of_them),
                ),
            }
        )
    ],
)

flat = (1 / (sqrt(2) * n)) ** Rational(2, 3)  # slope of the flat family below

theorem5_convex = Claim(
    id="zhang17.theorem5.convex", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 5, convex case", line=253),
    says="Excess risk in the convex case.",
    assumes=[
        *losses,
        convex(),
        NEAR_0,
        UNBIASED,
        STEP_SIZE,
    ],
    added=usual,
    states=Rate(excess_risk, D * order),
    checks=[
        NoConstant(
            flat / 4,
            {L: 1, D: 1, d: 1, eps: 1, delta: Rational(1, 2), beta: 1, n: n},
            n,
            "Huber risk of slope s = (σ/(2√2 n))^(2/3), minimum at 1: D_F² ≤ 2s, so E w_R ≤ ηsn² ≤ 1/2 and by "
            "Jensen the risk left is at least s/4, with σ ≥ 2",
        )
    ],
    cites=[Cites("zhang17.theorem5.deviation")],
)

theorem5_convex_corrected = Claim(
    id="zhang17.theorem5.convex.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 5, convex case", line=253),
    says="The same with a step size from D, which is public, and n large enough for it to be at most 1/β.",
    assumes=[
        *losses,
        convex(),
        NEAR_0,
        UNBIASED,
        Setting("step size D/(σn)"),
        beta * D <= sigma_g * n,
    ],
    added=usual,
    states=Rate(excess_risk, D * order),
    corrects="zhang17.theorem5.convex",
    checks=[
        Chain(
            excess_risk,
            Step(
                "<=",
                mean_gap + beta * D**2 / (2 * n**2),
                because=Premise(
                    "w_R for w_(R-1) trades the first iterate for the last, where E F is at most n²βη²σ²/2 more"
                ),
            ),
            Step(
                "<=",
                because=Cites("zhang17.lemma11.convex", {T: n**2, eta: D / (sigma_g * n), distance: D}),
                uses=[NEAR_0],
            ),
            Step("<=", 3 * D * sigma_g / n),
            Step("=", 3 * D * deviation / n, because=SIGMA),
            Step("<=", 15 * STATEMENT, where=all_of_them),
        )
    ],
)

# High probability: inequalities (1) to (5) of A.6 --------------------------------------------------
a_printed = 1 / (1 - exp(-2 / d))
tail = log(3 / gamma)
slope2_sum = quantity("slope2_sum", "sum of ||grad F||² over n² steps", loss=2, parameter=-2, printed="Σ‖∇F(w_t)‖²")
first_gap = quantity("first_gap", "F(w_1) - F(ŵ)", loss=1, printed="F(w₁)-F(ŵ)", latex=r"F(w_1)-F(\hat w)")
strayed = quantity("strayed", "norm of δ_t, the sampling error", loss=1, parameter=-1, printed="‖δ_t‖")
X_sum, Y_sum, R_sum, strayed_sum = (
    quantity(f"{name}_sum", f"sum of {words} over n² steps", loss=1, printed=f"Σ{words}")
    for name, words in (("X", "X_t"), ("Y", "Y_t"), ("R", "R_t"), ("strayed", "β/2·η²‖δ_t‖²"))
)
martingale = quantity("martingale", "sum of T martingale differences, but for a share δ", loss=1, printed="ΣX_t")
chi2 = quantity("chi2", "chi-square with k degrees of freedom, but for a share e^-x", printed="χ²_k", latex=r"\chi^2_k")
k = quantity("chi2_degrees", "degrees of freedom", box=(1, 1e6), integer=True, printed="k", latex="k")

lemma4 = Claim(
    id="zhang17.lemma4", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 4, scales alike", line=259),
    says="A martingale whose differences have E exp(X²/σ_t²) ≤ e stays below this with probability 1-δ.",
    assumes=[Setting("E_(t-1) X_t = 0 and E_(t-1) exp(X_t²/σ_t²) ≤ e")],
    states=Le(martingale, sqrt(3 * log(1 / delta) * T) * sigma_t),
)

theorem6_chi2 = Claim(
    id="zhang17.theorem6.chi2", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 6, the tail behind (5), from [15]", line=526),
    says="What a chi-square exceeds with probability at most e^-x.",
    states=Le(chi2, k + 2 * sqrt(k * x_tail) + 2 * x_tail),
    provenance=Provenance.CONSEQUENCE,
)

p, e, z, fallen, f = symbols("p e z fallen f", real=True)  # ∇F(w_t), δ_t, z_t, the fall of F, ∇f(w_t)
bend = beta * eta**2

equation1 = Claim(
    id="zhang17.equation1", kind=Kind.UTILITY,
    source=Source("zhang17", "A.6, inequality (1), steps of one size", line=509),
    says="What the squared gradients of n² noisy steps cost, with X_t, Y_t, R_t of the proof.",
    assumes=[smooth(beta)],
    states=Le((eta - beta / 2 * eta**2) * slope2_sum, first_gap + X_sum + Y_sum + R_sum + strayed_sum),
    checks=[
        Chain(
            (eta - beta / 2 * eta**2) * slope2_sum,
            Step("=", (eta - bend / 2) * p**2, because=Premise("p, e, z stand for ∇F(w_t), δ_t, z_t, summed over t")),
            Step("<=", first_gap + (bend - eta) * p * e + ((bend - eta) * p + bend * e) * z + bend / 2 * (z**2 + e**2),
                 because=Slack(given={
                     "F is β-smooth": fallen - eta * p * (e + p + z) + bend / 2 * (e + p + z) ** 2,
                     "F(w_t) ≥ F(ŵ) after the last step": first_gap - fallen})),
            Step("=", first_gap + X_sum + Y_sum + R_sum + strayed_sum, because=Premise("X_t, Y_t, R_t as defined")),
            Step("=", STATEMENT),
        )
    ],
)

equation2 = Claim(
    id="zhang17.equation2", kind=Kind.UTILITY,
    source=Source("zhang17", "A.6, inequality (2), steps of one size", line=514),
    says="The sampling error of n² steps.",
    assumes=losses,
    states=Le(strayed_sum, 2 * beta * eta**2 * n**2 * L**2),
    checks=[
        Chain(
            strayed_sum,
            Step("<=", n**2 * bend / 2 * strayed**2, because=Premise("n² steps, δ_t the largest of them")),
            Step("<=", STATEMENT, because=Slack(given={
                "‖∇f-∇F‖² ≤ 2‖∇f‖² + 2‖∇F‖²": n**2 * bend / 2 * (2 * f**2 + 2 * p**2 - strayed**2),
                "‖∇f‖ ≤ L (Lipschitz)": n**2 * bend * (L**2 - f**2),
                "‖∇F‖ ≤ L (Lipschitz)": n**2 * bend * (L**2 - p**2)})),
        )
    ],
)

small = [*losses, eta <= 1 / beta]


def by_lemma4(total, words, scale):  # type: ignore[no-untyped-def]
    """A sum of n² martingale differences, but for a share γ/3 of the runs."""
    return Chain(
        total,
        Step("=", martingale, because=Premise(words), uses=[eta <= 1 / beta]),
        Step(
            "<=",
            because=Cites(
                "zhang17.lemma4", {T: n**2, delta: gamma / 3, sigma_t: scale}, granted="the sum is as Lemma 4 asks"
            ),
        ),
        Step("=", STATEMENT),
    )


equation3 = Claim(
    id="zhang17.equation3", kind=Kind.UTILITY,
    source=Source("zhang17", "A.6, inequality (3)", line=518),
    says="What the sum of X_t exceeds with probability at most γ/3, by Lemma 4.",
    assumes=small,
    states=Le(X_sum, (eta - beta * eta**2) * n * L**2 * sqrt(12 * log(3 / gamma))),
    checks=[by_lemma4(X_sum, "|X_t| ≤ (η-βη²)·L·2L = σ_t (Lipschitz)", 2 * (eta - beta * eta**2) * L**2)],
)

equation4 = Claim(
    id="zhang17.equation4", kind=Kind.UTILITY,
    source=Source("zhang17", "A.6, inequality (4)", line=523),
    says="What the sum of Y_t exceeds with probability at most γ/3, by Lemma 4; a = 1/(1-e^(-2/d)).",
    assumes=small,
    states=Le(
        Y_sum,
        (eta + beta * eta**2) * n * L**2 / eps * sqrt(24 * a_printed * tail * log(3 * n / delta) * log(2 / delta)),
    ),
    checks=[
        by_lemma4(
            Y_sum,
            "Y_t is Gaussian of deviation at most v = (ηL+βLη²)α (Lipschitz): E exp(Y_t²/(2av²)) is at most "
            "(1-1/a)^(-1/2) = e^(1/d)",
            sqrt(2 * a_printed) * (eta + beta * eta**2) * L * stated_noise,
        )
    ],
)

equation5 = Claim(
    id="zhang17.equation5", kind=Kind.UTILITY,
    source=Source("zhang17", "A.6, inequality (5)", line=528),
    says="What the sum of R_t exceeds with probability at most γ/3, by the chi-square tail with dn² degrees.",
    assumes=[smooth(beta)],
    states=Le(R_sum, beta / 2 * alpha_g**2 * eta**2 * (d * n**2 + 2 * n * sqrt(d * tail) + 2 * tail)),
    checks=[
        Chain(
            R_sum,
            Step("=", beta / 2 * eta**2 * alpha_g**2 * chi2, because=Premise("dn² coordinates of noise N(0, α²)")),
            Step("<=", because=Cites("zhang17.theorem6.chi2", {k: d * n**2, x_tail: tail})),
            Step("=", STATEMENT),
        )
    ],
)

unit_noise2 = stated_noise.subs(L, 1) ** 2
unit_step = 1 / (n * sqrt(4 + d * unit_noise2))  # D_F/(sigma n) with L = beta = D_F = 1
at_one = {L: 1, beta: 1, eta: unit_step, alpha_g: sqrt(unit_noise2)}

theorem6 = Claim(
    id="zhang17.theorem6", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 6", line=265),
    says="With probability 1-γ, the squared gradient averaged over the round (L, β, D_F fixed).",
    assumes=[*losses, eps <= 1],
    states=Rate(gradient_norm2, sqrt(d * log(1 / gamma) * log(n / delta) * log(1 / delta)) / (n * eps)),
    ignores_units=True,
    checks=[
        Bounded(
            (Rational(1, 2) + sum(eq.formula.subs(at_one) for eq in (equation2, equation3, equation4, equation5)))
            / (n**2 * unit_step / 2),
            {n: (30, 1e9), d: (1, 1e6), eps: (1e-3, 1), delta: (1e-12, 0.1), gamma: (1e-12, 0.1)},
            "inequalities (1) to (5) combined, at L = β = D_F = 1",
        )
    ],
    cites=[Cites(f"zhang17.equation{i}") for i in (1, 2)],
)
