"""DP-PGD and the gradient of the population risk (wangxu19, Theorem 3; dwang20, Theorem 4.1.3, Lemma 4.1.3).

No regulariser, no constraint. The failure probability over the data is printed β. Measured by
dpcheck/evidence/nonconvex/dp_pgd_population.py.
"""

from sympy import E, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, d, delta, eps, gradient_norm, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import L_s, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.stationarity import a, both, extra, losses, more
from dpcheck.bounds.proving.proofs import Less, NoConstant, Proof, Quoted, Same

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
C_u = quantity("C_u", "C₀·max(c_h, log(rτ/β), 1)", box=(1, 1e3), printed="C", latex="C")

big = Symbol("big", positive=True)
THEOREM3, REMARK2 = ("theorem3", "theorem4.1.3"), ("remark2", "remark4.1.2")
sampling = tau * sqrt(d * log(tau / beta_p) * log(n) / n)
private = (d * a) ** Rational(1, 4) / sqrt(n * eps)
together = tau * sqrt(d * log(tau / beta_p) * log(n) * sqrt(a) / (n * eps))

# f(x,z) = k(log cosh x - zx), z = ±1 of mean h or -h: k-sub-Gaussian, so τ-sub-Gaussian for τ ≥ k, and k ≤ τ², 0.77k ≤
# τ³ for k = 1/1000, τ ≥ 1/10. Success for both means with probability 9/10 each would need a total variation of 8/10;
# it is at most h√n/√(1-h²) = 0.503 at h = 1/(2√n), n = 100. So E_A|∇F_P| ≥ kh for one of them, 1 time in 10 or more.
two_means = Rational(1, 1000) / (2 * sqrt(n))
vanishing = {
    d: Integer(1), n: Integer(100), eps: Integer(1), beta_p: Rational(1, 10), tau: (1 + 1 / big) / 10,
    delta: exp(-1 / big),
}
WHY = (
    "two biased coins in one dimension: no algorithm tells their means apart, while log(τ/β) and log(1/δ) "
    "fall to 0 at τ = β and δ = 1, which are allowed"
)

theorem3, theorem3_dwang = both(
    *THEOREM3,
    places=("Theorem 3, equation (5)", "Theorem 4.1.3, equation (4.5)"),
    kind=Kind.UTILITY,
    says="An algorithm's population gradient for all ε, δ, β ≤ 1 and n of order d·log d (G, L, Δ fixed).",
    assumes=[*losses, Setting("gradients τ-sub-Gaussian"), Setting("Hessians bounded by τ²dᶜ, τ³dᶜ-Lipschitz")],
    states=Rate(population_gradient, sampling + private),
    ignores_units=True,
    cites={"dwang20": [Cites("dwang20.lemma4.1.3")]},
    checks=[NoConstant(two_means, vanishing, big, WHY)],
)

LAST = ("Theorem 3, the last equality of (5)", "Theorem 4.1.3, the last equality of (4.5)")

equality, equality_dwang = both(
    *THEOREM3, ".equality", places=LAST,
    kind=Kind.UTILITY,
    says="The two terms of the bound together, as one: their sum over it.",
    assumes=[eps <= 1],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[
        NoConstant(
            private / together, {**vanishing, delta: exp(-1)}, big,
            "the term of the noise alone, over the product: it has no τ and no log(τ/β)",
        )
    ],
)

l_tau, l_n, l_delta, root_d = (Symbol(name, positive=True) for name in ("l_tau", "l_n", "l_delta", "root_d"))
named = {log(tau / beta_p): l_tau, log(n): l_n, log(1 / delta): l_delta, log(delta): -l_delta, d: root_d**2}


def in_logs(expr):  # type: ignore[no-untyped-def]
    """With the logarithms, and √d, as symbols of their own."""
    return expr.subs(named)


equality_corrected, equality_corrected_dwang = both(
    *THEOREM3, ".equality.corrected", places=LAST,
    kind=Kind.UTILITY,
    says="It takes τ ≥ 1, τ ≥ eβ, δ ≤ 1/e and n ≥ 3.",
    assumes=[eps <= 1, tau >= 1, tau >= E * beta_p, delta <= exp(-1), n >= 3],
    states=Rate(ratio, Integer(1)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("the first term over it, squared, is ε/√ln(1/δ)", in_logs(sampling**2 / together**2),
                     eps / sqrt(l_delta)),
                Less("at most 1, its square", eps**2, l_delta, {eps: 1 / (1 + extra), l_delta: 1 + more}),
                Same("the second, squared, is 1/(τ²√d·log(τ/β)·log n)", in_logs(private**2 / together**2),
                     1 / (tau**2 * root_d * l_tau * l_n)),
                Less("at most 1", Integer(1), tau**2 * root_d * l_tau * l_n,
                     {tau: 1 + extra, root_d: 1 + more, l_tau: 1 + big, l_n: 1 + gap0}),
            ],
            "hidden constant 2 suffices",
        )
    ],
)

lemma3 = Claim(
    id="dwang20.lemma4.1.3",
    source=Source("dwang20", "Lemma 4.1.3, quoted from Mei, Bai and Montanari"),
    kind=Kind.UTILITY,
    says="Uniform convergence of gradients over a ball of radius r for n ≥ C·d·log d; C depends on c_h and log(rτ/β).",
    assumes=[Setting("gradients τ-sub-Gaussian"), Setting("Hessians bounded by τ²dᶜ, τ³dᶜ-Lipschitz")],
    states=Rate(uniform_error, tau * sqrt(d * log(n) / n)),
)

_x = Symbol("x", positive=True)

empirical = Claim(
    id="dwang20.theorem4.1.3.empirical",
    source=Source("dwang20", "proof of Theorem 4.1.3, the empirical risk (by Theorem 4.1.2, printed 4.1.1)"),
    kind=Kind.UTILITY,
    says="The gradient of the empirical risk at x_R, C = ℝᵈ and r = 0, is of the order of (4.4): G, L and Δ fixed.",
    assumes=[*losses, Setting("C = ℝᵈ, r = 0, γ = 1/(2L)"), n * eps >= sqrt(d * a)],
    states=Rate(gradient_norm, private),
    ignores_units=True,
    cites=[Cites("dwang20.theorem4.1.2.unconstrained")],
    checks=[
        Proof(
            [
                Same("the rate squared is x = √(d·ln(1/δ))/(nε), and T is 1/x, rounded up", private**2,
                     sqrt(d * a) / (n * eps)),
                Less("(8/T + 8·x²T)/3 ≤ 8x for x ≤ 1, with c = 8", (8 * _x + 8 * _x**2 * (1 / _x + 1)) / 3, 8 * _x,
                     {_x: 1 / (1 + extra)}),
            ],
            "hidden constant √8 suffices at G = L = Δ = 1, by Jensen's inequality",
        )
    ],
)

theorem3_corrected, theorem3_corrected_dwang = both(
    *THEOREM3, ".corrected",
    kind=Kind.UTILITY,
    says="With the constant C of the uniform convergence, over a ball that holds x_R, and the mean squared gradient.",
    assumes=[
        *losses, Setting("C = ℝᵈ, r = 0, γ = 1/(2L)"),
        Setting("sup ‖∇F_n-∇F_P‖ ≤ τ√(C·d·log n/n) on a ball that holds x_R"),
    ],
    states=Le(
        population_gradient, tau * sqrt(C_u * d * log(n) / n) + sqrt((8 * L_s * gap0 / T + d * sigma_n**2) / 3)
    ),
    cites={"dwang20": [Cites("dwang20.theorem4.1.2.unconstrained")]},
    checks=[
        Proof(
            [
                Same("E‖∇F‖ ≤ √E‖∇F‖²: the variance is what is left", big**2 * (1 - extra) + extra * more**2
                     - (big * (1 - extra) + extra * more) ** 2, extra * (1 - extra) * (big - more) ** 2),
            ],
            "the triangle inequality at x_R, Jensen, and dwang20.theorem4.1.2.unconstrained",
        )
    ],
)

remark2, remark2_dwang = both(
    *REMARK2,
    kind=Kind.UTILITY,
    says="The error due to privacy over that of uniform convergence, with ε and δ as constants.",
    assumes=[eps <= 1],
    states=Rate(ratio, a ** Rational(1, 4) / sqrt(eps)),
    ignores_units=True,
    checks=[
        NoConstant(
            private / sampling, {**vanishing, delta: exp(-1)}, big, "the second term of (5) over the first, τ near β"
        )
    ],
)

remark2_corrected, remark2_corrected_dwang = both(
    *REMARK2, ".corrected",
    kind=Kind.UTILITY,
    says="For τ ≥ 1, τ ≥ eβ and n ≥ 3; it then even falls with d.",
    assumes=[eps <= 1, tau >= 1, tau >= E * beta_p, n >= 3],
    states=Rate(ratio, a ** Rational(1, 4) / sqrt(eps)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("squared it is √ln(1/δ)/ε over τ²√d·log(τ/β)·log n", in_logs(private**2 / sampling**2),
                     sqrt(l_delta) / eps / (tau**2 * root_d * l_tau * l_n)),
                Less("at most √ln(1/δ)/ε", Integer(1), tau**2 * root_d * l_tau * l_n,
                     {tau: 1 + extra, root_d: 1 + more, l_tau: 1 + big, l_n: 1 + gap0}),
            ],
            "hidden constant 1 suffices",
        )
    ],
)

l_smaller = Symbol("l_smaller", positive=True)  # log(nε)
fewer = tau * sqrt(d * log(tau / beta_p) * log(n * eps) / (n * eps))

sample_size, sample_size_dwang = both(
    *REMARK2, ".sample_size",
    kind=Kind.UTILITY,
    says="Privacy makes n records nε, δ fixed: the last form of (5) over its first term at nε records, nε ≥ √n.",
    assumes=[eps <= 1, n >= 2, n * eps**2 >= 1],
    states=Rate(ratio, a ** Rational(1, 4)),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("squared it is √ln(1/δ)·log n/log(nε)",
                     in_logs((together**2 / fewer**2).subs(log(n * eps), l_smaller)), sqrt(l_delta) * l_n / l_smaller),
                Less("log n ≤ 2·log(nε)", l_n, 2 * l_smaller, {l_smaller: l_n / 2 + extra}),
            ],
            "hidden constant √2 suffices",
        )
    ],
)

convex_case, convex_case_dwang = both(
    *REMARK2,
    ".convex",
    places=("Remark 2, on convex losses", "Remark 4.1.2, on convex losses"),
    kind=Kind.UTILITY,
    says="For convex losses, the private population risk over the one without privacy has an extra factor √d.",
    states=Rate(ratio, sqrt(d)),
    checks=[Quoted("from Bassily, Smith and Thakurta 2014, appendix F, whose risk bounds no document prints")],
)
