"""Wishart noise with many degrees of freedom on second moments (dwang20, section 6.3.5, Theorem 6.3.6, Lemma 6.3.1).

Its privacy loss: bounds/privacy/wishart_noise.py. Solver: dpcheck/solvers/matrix/sicov_cov_wishart_approx.py.
"""

from sympy import Eq, Expr, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, gamma, n
from dpcheck.bounds.library.matrix.graphical_lasso import M, degrees, scale, unit
from dpcheck.bounds.library.matrix.sicov_cov_wishart_pure import likely_error, norm
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

released = Release(1 / n, Wishart(scale, degrees, d))
enough: Expr = d + 14 / eps**2 * log(4 / delta)
MOVED = "a record moves S by uuᵀ/n - vvᵀ/n at most, u and v orthogonal: the loss has a problem of 2 x 2 matrices"

lemma1 = Claim(
    id="dwang20.lemma6.3.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 6.3.1 (of Sheffet), with the least m", line=8649),
    says="AᵀA + N with N ~ W_d(m, B²I), m = d + 14/ε²·ln(4/δ), is (ε, δ)-private, rows of A having norm at most B.",
    assumes=[eps < 1, delta < exp(-1), Eq(scale, norm**2)],
    states=Eq(degrees, enough),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Accountant(Release(norm**2, Wishart(scale, degrees, d)), MOVED)],
)

privacy = Claim(
    id="dwang20.theorem6.3.6.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.6, first sentence; δ < 1/ε is printed for δ < 1/e", line=8777),
    says="S + N with N ~ W_d(m, I/n), m = d + 14/ε²·ln(4/δ), is (ε, δ)-private.",
    assumes=[eps < 1, delta < 1 / eps, Eq(degrees, enough), unit],
    states=Eq(scale, 1 / n),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Accountant(released, MOVED)],
)

drawn = Setting("N ~ W_d(m, I/n), and the error is at most max‖Θ‖²‖N‖_F (Theorem 6.3.3)")
spread = sqrt(d) + sqrt(2 * log(2 / gamma))

utility = Claim(
    id="dwang20.theorem6.3.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.6, (6.96)", line=8779),
    says="The error is O(max‖Θ‖² ln(1/δ) ln(1/γ) d^(3/2)/(nε²)) if m > (√d + √(2 log(2/γ)))².",
    assumes=[drawn, Eq(degrees, enough), eps < 1, spread**2 < degrees],
    added=[gamma <= Rational(1, 2), delta <= Rational(1, 2)],
    states=Rate(likely_error, M * log(1 / delta) * log(1 / gamma) * d ** Rational(3, 2) / (n * eps**2)),
    ignores_units=True,
    checks=[
        Chain(
            likely_error,
            Step("<=", M * sqrt(d) / n * (sqrt(degrees) + spread) ** 2, because=Premise(
                "‖N‖_F ≤ √d‖N‖₂, and Lemma 6.3.3 for ‖N‖₂, but for a chance of γ"), uses=[drawn]),
            Step("<=", 4 * M * sqrt(d) / n * degrees, because=Premise("√d + √(2 log(2/γ)) < √m")),
            Step("<=", 4 * M * sqrt(d) / n * (d + 42 / eps**2 * log(1 / delta)), because=Premise(
                "4/δ ≤ 1/δ³ for δ ≤ 1/2")),
            Step("<=", 4 * M * d ** Rational(3, 2) / n * 44 * log(1 / delta) / eps**2),
            Step("<=", 300 * STATEMENT),
        )
    ],
)
