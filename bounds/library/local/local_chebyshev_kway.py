"""All k-way disjunctions from noisy coefficients (dwang20, section 5.1.5, Algorithm 5.1.35, Theorem 5.1.10).

A user with x in {0, 1}^p reports the coefficients of p_k(Σ y_j x_j), a polynomial in y of degree t_k, with Laplace
noise. The document's p is d. Solver: dpcheck/solvers/local/local_chebyshev_kway.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.local import ldp_avg_1d as one_number
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.proofs import AtMost

width = quantity("disjunct_k", "attributes in a query", box=(2, 1e3), integer=True, printed="k", latex="k")
t_k = quantity("t_k", "degree of the polynomial", printed="t_k", latex="t_k")
coefficients = quantity("coefficients", "(p+t_k over t_k)", box=(2, 1e6), integer=True, printed="N", latex="N")
bound_b = quantity("bound_b", "bound on a coefficient, of known sign", printed="b", latex="b")
fine = quantity("kway_gamma", "error of the polynomial", box=(1e-4, 0.5), below=1.0, printed="γₖ", latex=r"\gamma_k")
total = quantity("coefficient_l1", "sum of |c_i| p^i over i ≥ 1", printed="Σ|c_i|p^i", latex=r"\sum|c_i|p^i")
reported = Setting("coefficients are reported as in Algorithm 5.1.35")
query_error = quantity("kway_error", "largest error of a query", printed="sup|q̃-q|", holds="with probability 1-γ")

# Privacy -------------------------------------------------------------------------------------------
theorem10_privacy = Claim(
    id="dwang20.theorem5.1.10.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.10 with line 7 of Algorithm 5.1.35", line=5197),
    says="LDP-AVG on N coefficients in [0, b] or [-b, 0], noise of scale Nb/ε on each, is ε-private.",
    states=Eq(sigma, coefficients * bound_b / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[
        AtMost(
            coefficients * bound_b / sigma, "log densities of scale σ differ by b/σ at most for each", against=eps
        )
    ],
)

released = Release(total, Laplace(sigma), relation=LOCAL)  # x = 0 against x = 1: every coefficient but the constant

theorem10_exact = Claim(
    id="dwang20.theorem5.1.10.exact", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.10"),
    says="Noise of scale Σ|c_i|p^i/ε is enough: the coefficient of y^a is c_i·i!/a! or 0, and these add up to c_i p^i.",
    states=Eq(sigma, total / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[AtMost(total / sigma, "x = 0 and x = 1 differ in every coefficient but the constant", against=eps)],
)

# Accuracy ------------------------------------------------------------------------------------------
definition14 = Claim(
    id="dwang20.definition5.1.14", kind=Kind.UTILITY,
    source=Source("dwang20", "Definition 5.1.14, the degree", line=5173),
    says="There is a polynomial with p(0) = 0 and |p-1| ≤ γ on 1..k of degree O(√k log(1/γ)).",
    added=[width >= 2, fine <= Rational(1, 2)],
    states=Rate(t_k, sqrt(width) * log(1 / fine)),
    checks=[
        Chain(
            t_k,
            Step("<=", 1 + log(2 / fine) / log((sqrt(width) + 1) / (sqrt(width) - 1)), because=Premise(
                "p = 1 - 𝒯_r((k+1-2x)/(k-1))/𝒯_r((k+1)/(k-1)) and 𝒯_r(z) ≥ e^(r arccosh z)/2,"
                " arccosh((k+1)/(k-1)) = log((√k+1)/(√k-1))"), uses=[width >= 2]),
            Step("<=", 1 + sqrt(width) * log(2 / fine) / 2, because=Premise("log((1+u)/(1-u)) ≥ 2u")),
            Step("<=", 3 * STATEMENT),
        )
    ],
)

L_all = log(2 * coefficients / gamma)

theorem10_error = Claim(
    id="dwang20.theorem5.1.10", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.10, first display", line=5533),
    says="All queries err by at most γₖ, of the polynomial, and the noise of all coefficients; β is γ here.",
    assumes=[reported],
    added=[n >= L_all, gamma <= Rational(1, 2)],
    states=Rate(
        query_error, fine + bound_b * coefficients**2 * sqrt(log(coefficients / gamma)) / (sqrt(n) * eps)
    ),
    ignores_units=True,
    checks=[
        Chain(
            query_error,
            Step("<=", fine + coefficients * one_number.average_error, because=Premise(
                "a query is in {0, 1}^p: its error is that of all N coefficients at most, which share β and ε"),
                uses=[reported]),
            Step("<=", because=Cites("dwang20.lemma5.1.1.corrected", {
                gamma: gamma / coefficients, eps: eps / coefficients, one_number.b: bound_b},
                granted="a coefficient, of known sign, is a number in [0, b]")),
            Step("<=", fine + coefficients**2 * 3 * bound_b * sqrt(2 * log(coefficients / gamma)) / (sqrt(n) * eps),
                 because=Premise("log(2N/β) ≤ n, and 2N/β ≤ (N/β)²"), uses=[n >= L_all, gamma <= Rational(1, 2)]),
            Step("<=", 5 * STATEMENT),
        )
    ],
)

lemma10 = Claim(
    id="dwang20.lemma5.1.10", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.10, the degree", line=5175),
    says="In p variables the degree is the same.",
    added=[width >= 2, fine <= Rational(1, 2)],
    states=Rate(t_k, sqrt(width) * log(1 / fine)),
    checks=[Implied(definition14, "p_k(Σ y_j x_j) has the degree of p_k")],
)
