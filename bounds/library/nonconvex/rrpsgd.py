"""Random-round private SGD (zhang17, section 3.2, Algorithm 2; proofs in A.4 to A.6).

At most n² noisy steps on one random record each, stopped at a random round.
Lemmas 11 and 12 stand in stochastic_gradient.py. Solver: dpcheck/solvers/nonconvex/rrpsgd.py.
"""

from sympy import Eq, Integer, Le, Min, Rational, Symbol, erfc, exp, integrate, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import (
    D_F,
    D,
    L,
    T,
    alpha_g,
    beta,
    d,
    delta,
    delta1,
    distance,
    eps,
    eps_out,
    eta,
    excess_risk,
    gamma,
    gradient_norm2,
    n,
    q,
    sigma_g,
    sigma_t,
    t,
    x_tail,
)
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.numeric_checks import SampledGaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost, Bounded, Equals, Less, NoConstant, Proof, Same, Units

extra, more = (Symbol(name, nonnegative=True) for name in ("extra", "more"))
losses = [smooth(beta), lipschitz(L)]

# Privacy -------------------------------------------------------------------------------------------
stated_noise = 2 * L * sqrt(log(3 * n / delta) * log(2 / delta)) / eps
exponent = eps**2 / (8 * L**2 * log(3 * n / delta) * log(2 / delta))  # of ||z||^2 in the density

released = Release(2 * L, Gaussian(alpha_g), WithoutReplacement(1, n), n**2)  # n² gradients of one random record each

algorithm2 = Claim(
    id="zhang17.algorithm2.noise",
    source=Source("zhang17", "Algorithm 2, line 4"),
    kind=Kind.IDENTITY,
    says="The deviation of each coordinate of the noise on a gradient.",
    states=Eq(alpha_g, stated_noise),
    checks=[Equals(sqrt(1 / (2 * exponent)), "density exp(-c‖z‖²) has variance 1/(2c) per coordinate")],
)

per_step = eps / (2 * sqrt(2 * log(2 / delta)))  # epsilon the proof claims for one step

theorem4 = Claim(
    id="zhang17.theorem4",
    source=Source("zhang17", "Theorem 4"),
    kind=Kind.PRIVACY,
    says="Algorithm 2 is (ε, δ)-private for ε in (0, 1] and δ in (0, 1).",
    assumes=[lipschitz(L), eps <= 1, Setting("steps sizes that do not depend on the data")],
    states=Eq(alpha_g, stated_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[
        SampledGaussianAccountant(stated_noise / L, n**2, "n² steps on one random record each, whole transcript seen")
    ],
    cites=[
        Cites("zhang17.theorem4.step"),
        Cites("zhang17.lemma9", {q: 1 / n, eps: per_step}),
        Cites("zhang17.theorem4.composition"),
    ],
)

step_mu = 2 * L / stated_noise  # two gradients differ by up to 2L

theorem4_step = Claim(
    id="zhang17.theorem4.step",
    source=Source("zhang17", "proof of Theorem 4, first step"),
    kind=Kind.PRIVACY,
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

amplified = eps / (n * sqrt(2 * log(2 / delta)))

theorem4_composition = Claim(
    id="zhang17.theorem4.composition",
    source=Source("zhang17", "proof of Theorem 4, last step"),
    kind=Kind.PRIVACY,
    says="Strong composition of n² steps of ε/(n√(2 log(2/δ))) each, with δ' = δ/2, gives at most ε.",
    assumes=[eps <= 1],
    states=Le(eps_out, eps),
    checks=[
        AtMost(
            sqrt(2 * n**2 * log(2 / delta)) * amplified + n**2 * amplified * (exp(amplified) - 1),
            "Lemma 10 as meant: its first term alone is ε already",
        )
    ],
    cites=[Cites("zhang17.lemma10", {T: n**2, eps: amplified, delta1: delta / 2})],
)

theorem5_privacy = Claim(
    id="zhang17.theorem5.privacy",
    source=Source("zhang17", "Theorem 4 with the step size of Theorem 5"),
    kind=Kind.PRIVACY,
    says="Algorithm 2 stays (ε, δ)-private when its step size is min(1/β, D_F/(σn)), which depends on the data.",
    assumes=[*losses, eps <= 1],
    states=Eq(eta, Min(1 / beta, D_F / (sigma_g * n))),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("zhang17.theorem4")],
)

# Utility -------------------------------------------------------------------------------------------
deviation2 = 4 * L**2 + d * stated_noise**2

theorem5_deviation = Claim(
    id="zhang17.theorem5.deviation",
    source=Source("zhang17", "proof of Theorem 5"),
    kind=Kind.IDENTITY,
    says="The mean squared deviation of a noisy gradient, as the proof prints it: without d.",
    assumes=losses,
    states=Eq(sigma_g, sqrt(4 * L**2 + 8 * L**2 * log(3 * n / delta) * log(2 / delta) / eps**2)),
    checks=[Equals(sqrt(deviation2), "‖∇f-∇F‖² ≤ 4L², plus d coordinates of noise")],
)

theorem5_deviation_corrected = Claim(
    id="zhang17.theorem5.deviation.corrected",
    source=Source("zhang17", "Theorem 5"),
    kind=Kind.IDENTITY,
    says="The mean squared deviation of a noisy gradient, as the theorem has it.",
    assumes=losses,
    states=Eq(sigma_g, sqrt(4 * L**2 + 4 * d * L**2 * log(3 * n / delta) * log(2 / delta) / eps**2)),
    corrects="zhang17.theorem5.deviation",
    checks=[Equals(sqrt(deviation2), "‖∇f-∇F‖² ≤ 4L², plus d coordinates of noise")],
)

descent = (beta / 2 * D_F**2 + n**2 * beta * eta**2 * sigma_g**2 / 2) / (n**2 * (eta - beta * eta**2 / 2))

theorem5_general = Claim(
    id="zhang17.theorem5.general",
    source=Source("zhang17", "Theorem 5, first bound, constant step"),
    kind=Kind.UTILITY,
    says="The mean squared gradient at the output, for any step size below 2/β.",
    assumes=[*losses, eta < 2 / beta],
    states=Le(gradient_norm2, beta * (D_F**2 + sigma_g**2 * n**2 * eta**2) / (n**2 * (2 * eta - beta * eta**2))),
    cites=[Cites("zhang17.lemma11.gradient", {T: n**2})],
)

theorem5_general_corrected = Claim(
    id="zhang17.theorem5.general.corrected",
    source=Source("zhang17", "Theorem 5, first bound, for the iterate before the output"),
    kind=Kind.UTILITY,
    says="The same bound at w_(R-1): the weights of the proof belong to the iterates 0 to n²-1.",
    assumes=[*losses, eta < 2 / beta],
    states=Le(gradient_norm2, beta * (D_F**2 + sigma_g**2 * n**2 * eta**2) / (n**2 * (2 * eta - beta * eta**2))),
    corrects="zhang17.theorem5.general",
    checks=[
        Proof(
            [
                Same(
                    "the descent lemma: -η‖∇F‖² + β/2·η²(‖∇F‖² + σ²)",
                    -eta * t**2 + beta / 2 * eta**2 * (t**2 + sigma_g**2),
                    -(eta - beta / 2 * eta**2) * t**2 + beta * eta**2 * sigma_g**2 / 2,
                ),
                Same(
                    "summed over n² steps from βD_F²/2, and divided by the weights",
                    descent,
                    beta * (D_F**2 + sigma_g**2 * n**2 * eta**2) / (n**2 * (2 * eta - beta * eta**2)),
                ),
            ]
        )
    ],
    cites=[Cites("zhang17.lemma11.gradient.corrected", {T: n**2})],
)

# In the regime eta = D_F/(sigma n) <= 1/beta: 2 eta - beta eta^2 >= eta, so the bound is at most 2 beta D_F sigma/n.
variance_factor = Integer(20)
sigma_squared_over = 1 + (more + extra + log(2) * 2 + log(3)) * (extra + 2 * log(2))  # sigma^2 eps^2/(4 d L^2), at most
rate_squared_over = (more + extra + 2 * log(2)) * (
    extra + log(2)
)  # with log(1/delta) = extra + log 2, log n = more + log 2

theorem5_rate = Claim(
    id="zhang17.theorem5.rate",
    source=Source("zhang17", "Theorem 5, second bound"),
    kind=Kind.UTILITY,
    says="The mean squared gradient at the output with step size min(1/β, D_F/(σn)), as n grows.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 2), n >= 2, beta * D_F <= sigma_g * n],
    states=Rate(gradient_norm2, beta * L * sqrt(d * log(n / delta) * log(1 / delta)) * D_F / (n * eps)),
    checks=[
        Proof(
            [
                Same(
                    "at η = D_F/(σn) the first bound is at most β(D_F² + D_F²)/(n²η)",
                    beta * 2 * D_F**2 / (n**2 * (D_F / (sigma_g * n))),
                    2 * beta * D_F * sigma_g / n,
                ),
                Less("σ² ≤ 20·d·L²·log(n/δ)·log(1/δ)/ε²", 4 * sigma_squared_over, variance_factor * rate_squared_over),
            ],
            f"hidden constant {2 * float(sqrt(variance_factor)):.2f} suffices for δ ≤ 1/2",
        )
    ],
    cites=[Cites("zhang17.lemma12.gradient", {T: n**2}), Cites("zhang17.theorem5.deviation")],
)

flat = (1 / (sqrt(2) * n)) ** Rational(2, 3)  # slope of the flat family below

theorem5_convex = Claim(
    id="zhang17.theorem5.convex",
    source=Source("zhang17", "Theorem 5, convex case"),
    kind=Kind.UTILITY,
    says="Excess risk in the convex case, with the step size min(1/β, D_F/(σn)).",
    assumes=[*losses, convex(), Setting("‖ŵ‖ ≤ D, w₀ = 0")],
    states=Rate(excess_risk, L * sqrt(d * log(n / delta) * log(1 / delta)) * D / (n * eps)),
    checks=[
        NoConstant(
            flat / 4,
            {L: 1, D: 1, d: 1, eps: 1, delta: Rational(1, 2), beta: 1, n: n},
            n,
            "Huber risk of slope s = (σ/(2√2 n))^(2/3), minimum at 1: D_F² ≤ 2s, so E w_R ≤ ηsn² ≤ 1/2 and by "
            "Jensen the risk left is at least s/4, with σ ≥ 2",
        )
    ],
    cites=[Cites("zhang17.lemma12.convex", {T: n**2, distance: D}), Cites("zhang17.theorem5.deviation")],
)

theorem5_convex_corrected = Claim(
    id="zhang17.theorem5.convex.corrected",
    source=Source("zhang17", "Theorem 5, convex case"),
    kind=Kind.UTILITY,
    says="The same with the step size min(1/β, D/(σn)), which is public.",
    assumes=[*losses, convex(), eps <= 1, delta <= Rational(1, 2), n >= 2, beta * D <= sigma_g * n],
    states=Rate(excess_risk, L * sqrt(d * log(n / delta) * log(1 / delta)) * D / (n * eps)),
    corrects="zhang17.theorem5.convex",
    checks=[
        Proof(
            [
                Same("Lemma 11 at η = D/(σn)", 2 * D**2 / (n**2 * (D / (sigma_g * n))), 2 * D * sigma_g / n),
                Less("σ² ≤ 20·d·L²·log(n/δ)·log(1/δ)/ε²", 4 * sigma_squared_over, variance_factor * rate_squared_over),
            ],
            f"hidden constant {2 * float(sqrt(variance_factor)):.2f} suffices for δ ≤ 1/2",
        )
    ],
    cites=[
        Cites("zhang17.lemma11.convex", {T: n**2, eta: D / (sigma_g * n), distance: D}),
        Cites("zhang17.theorem5.deviation.corrected"),
    ],
)

# High probability ----------------------------------------------------------------------------------
_x, _u, _s = Symbol("x", positive=True), Symbol("u", positive=True), Symbol("s", nonnegative=True)
_nine = Rational(9, 16)

lemma4 = Claim(
    id="zhang17.lemma4",
    source=Source("zhang17", "Lemma 4"),
    kind=Kind.UTILITY,
    says="A martingale whose steps have E exp(X²/σ_t²) ≤ e exceeds √(3 log(1/δ) T)·σ_t with probability at most δ.",
    states=Le(gamma, exp(-((sqrt(3 * log(1 / delta) * T * sigma_t**2)) ** 2) / (3 * T * sigma_t**2))),
    checks=[
        Proof(
            [
                Less("e^x ≤ x + e^(9x²/16) on [1/20, 2]", exp(_x), _x + exp(_nine * _x**2), box={_x: (0.05, 2)}),
                Less("and on [-2, -1/20]", exp(-_x) + _x, exp(_nine * _x**2), box={_x: (0.05, 2)}),
                Less("near 0: |x|·e^(1/20)/6 ≤ 1/16", exp(Rational(1, 20)) / 120, Rational(1, 16)),
                Less("beyond 2: 9x²/16 ≥ x", _x, _nine * _x**2, {_x: 2 + extra}),
                Less("so E e^(λX) ≤ e^(3λ²σ²/4) for λσ ≤ 4/3", _nine * _x**2, Rational(3, 4) * _x**2),
                Less(
                    "and beyond, from λX ≤ 3λ²σ²/8 + 2X²/(3σ²)",
                    Rational(3, 8) * _x**2 + Rational(2, 3),
                    Rational(3, 4) * _x**2,
                    {_x: Rational(4, 3) + extra},
                ),
                Same(
                    "Chernoff at λ = 2t/(3Σσ²) leaves exp(-t²/(3Σσ²))",
                    -(2 * _x / (3 * _u)) * _x + Rational(3, 4) * (2 * _x / (3 * _u)) ** 2 * _u,
                    -(_x**2) / (3 * _u),
                ),
            ],
            "P ≤ exp(-t²/(3Σσ²)) = δ",
        )
    ],
)

a_printed = 1 / (1 - exp(-2 / d))
theorem6_scale = Claim(
    id="zhang17.theorem6.scale",
    source=Source("zhang17", "proof of Theorem 6, σ_t of Y_t"),
    kind=Kind.IDENTITY,
    says="The martingale scale of Y_t as printed: 2a(ηL + βLη²)α², without a square on the bracket.",
    states=Eq(sigma_t, sqrt(2 * a_printed * (eta * L + beta * L * eta**2) * alpha_g**2)),
    checks=[
        Equals(
            sqrt(2 * a_printed) * (eta * L + beta * L * eta**2) * alpha_g,
            "what inequality (4) uses: its right side squared, over 3 log(3/γ) n²",
        ),
        Units(),
    ],
)

theorem6_scale_corrected = Claim(
    id="zhang17.theorem6.scale.corrected",
    source=Source("zhang17", "proof of Theorem 6, σ_t of Y_t"),
    kind=Kind.IDENTITY,
    says="With the square, E exp(Y_t²/σ_t²) = e^(1/d) ≤ e; a = 1/(1-e^-2), without d, would do.",
    states=Eq(sigma_t, sqrt(2 * a_printed) * (eta * L + beta * L * eta**2) * alpha_g),
    corrects="zhang17.theorem6.scale",
    checks=[
        Proof(
            [
                Same(
                    "E exp(Y²/(2av)) = (1 - 1/a)^(-1/2) = e^(1/d)", (1 - 1 / a_printed) ** Rational(-1, 2), exp(1 / d)
                ),
                Less("1/d ≤ 1", 1 / d, Integer(1), {d: 1 + extra}),
            ]
        )
    ],
)

theorem6_chi2 = Claim(
    id="zhang17.theorem6.chi2",
    source=Source("zhang17", "proof of Theorem 6, inequality (5)"),
    kind=Kind.UTILITY,
    says="The chi-square tail: P(χ²_k ≥ k + 2√(kx) + 2x) ≤ e^-x, with k = dn² and x = log(3/γ).",
    states=Le(gamma, exp(-x_tail)),
    checks=[
        Proof(
            [
                Same(
                    "Chernoff needs log(1 + 2u + 2u²) ≤ 2u: e^(2u) - 1 - 2u - 2u² = ∫4(u-s)²e^(2s) ds ≥ 0",
                    exp(2 * _u) - 1 - 2 * _u - 2 * _u**2,
                    integrate(4 * (_u - _s) ** 2 * exp(2 * _s), (_s, 0, _u)),
                )
            ],
            "by Chernoff with u = √(x/k)",
        )
    ],
)

tail = log(3 / gamma)
unit_noise2 = stated_noise.subs(L, 1) ** 2
unit_step = 1 / (n * sqrt(4 + d * unit_noise2))  # D_F/(sigma n) with L = beta = D_F = 1
pieces = (
    Rational(1, 2)
    + (unit_step - unit_step**2) * n * sqrt(12 * tail)
    + (unit_step + unit_step**2) * n * sqrt(unit_noise2) * sqrt(6 * a_printed * tail)
    + unit_noise2 * unit_step**2 / 2 * (d * n**2 + 2 * n * sqrt(d * tail) + 2 * tail)
    + 2 * unit_step**2 * n**2
)

theorem6 = Claim(
    id="zhang17.theorem6",
    source=Source("zhang17", "Theorem 6"),
    kind=Kind.UTILITY,
    says="With probability 1-γ, the squared gradient averaged over the round (L, β, D_F fixed).",
    assumes=[*losses, eps <= 1],
    states=Rate(gradient_norm2, sqrt(d * log(1 / gamma) * log(n / delta) * log(1 / delta)) / (n * eps)),
    ignores_units=True,
    checks=[
        Bounded(
            pieces / (n**2 * unit_step / 2),
            {n: (30, 1e9), d: (1, 1e6), eps: (1e-3, 1), delta: (1e-12, 0.1), gamma: (1e-12, 0.1)},
            "inequalities (1) to (5) combined, at L = β = D_F = 1",
        )
    ],
    cites=[
        Cites("zhang17.lemma4"),
        Cites("zhang17.theorem6.scale"),
        Cites("zhang17.theorem6.chi2", {x_tail: tail}),
    ],
)
