"""DP-PGD and the gradient of the population risk (wangxu19, Theorem 3; dwang20, Theorem 4.1.3, Lemma 4.1.3).

No regulariser, no constraint. The failure probability over the data is printed β.
"""

from sympy import E, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import c, d, delta, eps, gradient_map2, gradient_norm, n, quantity, ratio
from dpcheck.bounds.library.nonconvex.dp_pgd import fixed, half, low, printed_choice, reached, usual
from dpcheck.bounds.library.nonconvex.stationarity import a, both
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

population_gradient = quantity(
    "population_gradient", "E_A ||grad E f(x_R, z)||, with probability 1-β over the data", loss=1, parameter=-1,
    printed="E ‖∇F_P(x_R)‖", latex=r"\mathbb{E}\|\nabla F_P(x_R)\|",
)
uniform_error = quantity(
    "uniform_error", "sup over a ball of ||grad F_n - grad F_P||", loss=1, parameter=-1,
    printed="sup ‖∇F_n-∇F_P‖", latex=r"\sup\|\nabla F_n-\nabla F_P\|",
)
tau = quantity("tau_g", "sub-Gaussian constant of the gradients", loss=1, parameter=-1, printed="τ", latex=r"\tau")
beta_p = quantity(
    "beta_p", "failure probability over the data", box=(1e-6, 0.5), below=1.0, printed="β", latex=r"\beta"
)
_x, _y = symbols("x y", nonnegative=True)
C_u = quantity("C_u", "C₀·max(c_h, log(rτ/β), 1)", box=(1, 1e3), printed="C", latex="C")

THEOREM3, REMARK2 = ("theorem3", "theorem4.1.3"), ("remark2", "remark4.1.2")
of_the_data = [Setting("gradients τ-sub-Gaussian"), Setting("Hessians bounded by τ²dᶜ, τ³dᶜ-Lipschitz")]
FREE, IN_BALL = Setting("C = ℝᵈ and r = 0"), Setting("x_R lies in the ball of Lemma 4.1.3")
free = [*half, FREE]
sampling = tau * sqrt(d * log(tau / beta_p) * log(n) / n)
together = tau * sqrt(d / (n * eps)) * sqrt(log(tau / beta_p)) * sqrt(log(n)) * a ** Rational(1, 4)

lemma3 = Claim(
    id="dwang20.lemma4.1.3",
    source=Source("dwang20", "Lemma 4.1.3, quoted from Mei, Bai and Montanari; δ is β here", line=2968),
    kind=Kind.UTILITY,
    says="Uniform convergence of gradients over a ball of radius r; C is C₀·max(c_h, log(rτ/β), 1).",
    assumes=[*of_the_data, n >= C_u * d * log(d)],
    states=Le(uniform_error, tau * sqrt(C_u * d * log(n) / n)),
    checks=[Quoted("from a paper that is not among the documents, with a constant C₀ that nobody prints")],
)

empirical = Claim(
    id="dwang20.theorem4.1.3.empirical",
    source=Source("dwang20", "proof of Theorem 4.1.3 (the copy reads √ for ⁴√), with its constant at c = 8", line=2974),
    kind=Kind.UTILITY,
    says="The gradient of the empirical risk at x_R, which has no noise in it.",
    assumes=[*free, *(h.subs(c, 8) for h in printed_choice)],
    added=fixed,
    states=Le(gradient_norm, 8 * low),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Chain(
            gradient_norm,
            Step(
                "<=",
                sqrt(gradient_map2),
                because=Premise("Jensen; for C = ℝᵈ and r = 0 the map is the gradient"),
                uses=[FREE],
            ),
            Step("<=", because=Cites("dwang20.theorem4.1.2.noiseless")),
            Step("<=", STATEMENT, where=reached),
        )
    ],
)

theorem3, theorem3_dwang = both(
    *THEOREM3, places=("Theorem 3, equation (5)", "Theorem 4.1.3, equation (4.5)"), lines=(163, 2756),
    kind=Kind.UTILITY,
    says="The population gradient at DP-PGD's x_R, n of order d·log d, for G, L and g₀ fixed and C at most log(τ/β).",
    assumes=[*of_the_data, *free, *printed_choice, n >= C_u * d * log(d), eps <= 1],
    added=[*fixed, beta_p <= tau * exp(-C_u), IN_BALL],
    states=Rate(population_gradient, sampling + low),
    hidden=(c,),
    ignores_units=True,
    checks=[
        Chain(
            population_gradient,
            Step(
                "<=", uniform_error + gradient_norm, because=Premise("the triangle inequality at x_R"), uses=[IN_BALL]
            ),
            Step("<=", because=Cites("dwang20.lemma4.1.3")),
            Step("<=", because=Cites("dwang20.theorem4.1.3.empirical")),
            Step("<=", 8 * STATEMENT, where={beta_p: tau * exp(-((sqrt(C_u) + _x) ** 2)), n: exp(_y**2)}),
            choosing={c: Rational(8)},
        )
    ],
)

big = Symbol("big", positive=True)
vanishing = {tau: 1 / big, beta_p: exp(-1) / big}  # records that agree more and more
LAST = ("Theorem 3, the last equality of (5)", "Theorem 4.1.3, the last equality of (4.5)")
SUM = Premise("the sum in (5) over its last form")
logs = sqrt(log(tau / beta_p)) * sqrt(log(n))
both_logs = {beta_p: tau * exp(-((1 + _x) ** 2)), n: exp((1 + _y) ** 2)}  # τ ≥ eβ and n ≥ e: both are at least 1

equality, equality_dwang = both(
    *THEOREM3, ".equality", places=LAST, lines=(167, 2758), kind=Kind.UTILITY,
    says="The two terms of the bound together, as one: their sum over it.",
    assumes=[eps <= 1],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[
        NoConstant(low / together,
                   {d: Integer(1), n: Integer(100), eps: Integer(1), delta: Rational(1, 100), **vanishing}, big,
                   "the term of the noise has no τ: it stays where records agree, and the product does not")
    ],
)

equality_corrected, equality_corrected_dwang = both(
    *THEOREM3, ".equality.corrected", places=LAST, lines=(167, 2758), kind=Kind.UTILITY,
    says="It takes τ ≥ 1, τ ≥ eβ, δ ≤ 1/e and n ≥ 3.",
    assumes=[eps <= 1, tau >= 1, tau >= E * beta_p, delta <= exp(-1), n >= 3],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[Chain(
        ratio,
        Step("=", (sampling + low) / together, because=SUM),
        Step("=", sqrt(eps) / a ** Rational(1, 4) + 1 / (tau * d ** Rational(1, 4) * logs)),
        Step("<=", 1 + 1 / (tau * d ** Rational(1, 4) * logs),
             where={eps: (1 + _x) ** -2, delta: exp(-((1 + _y) ** 4))}),
        Step("<=", 1 + 1 / (tau * d ** Rational(1, 4)), where=both_logs),
        Step("<=", 2 * STATEMENT, where={tau: 1 + _x, d: (1 + _y) ** 4}),
    )],
)

remark2, remark2_dwang = both(
    *REMARK2, lines=(169, 2760), kind=Kind.UTILITY,
    says="The error due to privacy against that of uniform convergence; ε and δ are constants in the remark.",
    assumes=[eps <= 1],
    added=[tau >= 1, tau >= E * beta_p, n >= 3, delta <= Rational(1, 2)],
    states=Le(low, a ** Rational(1, 4) / sqrt(eps) * sampling), provenance=Provenance.READING,
    ignores_units=True,
    checks=[Chain(
        low,
        Step("<=", low * tau * d ** Rational(1, 4), where={**usual, tau: 1 + _x, d: (1 + _y) ** 4}),
        Step("<=", STATEMENT, where={**usual, **both_logs}),
    )],
)
