"""Wishart noise with d + 1 degrees of freedom on second moments (dwang20, section 6.3.5, Theorem 6.3.4).

Its density on the cone is exp(-tr(W)/(2c)): where both laws are positive the loss is at most ε/3, but a record taken or
added moves the cone, and answers outside a neighbour's cone have a probability that no ε helps against.
Solver: dpcheck/solvers/matrix/sicov_cov_wishart_pure.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.matrix.graphical_lasso import M, scale, unit
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

norm = quantity("row_norm", "largest norm of a row", box=(0.1, 10), printed="B", latex="B")
likely_error = quantity(
    "likely_precision_error", "Frobenius distance from the precision matrix", printed="‖Θ̂-Θ*‖_F",
    latex=r"\|\hat\Theta-\Theta^*\|_F", holds=LIKELY,
)
released = Release(1 / n, Wishart(scale, d + 1, d))
ADDED = "all records 0, or one of them a unit vector v: S' = S + vvᵀ/n"

lemma2 = Claim(
    id="dwang20.lemma6.3.2", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 6.3.2 (of Jiang, Xie and Zhang)", line=8651),
    says="AᵀA + N with N ~ W_d(d+1, 3B²/(2nε)·I) is ε-private, A having n rows of norm at most B.",
    assumes=[Setting("the n rows of A have norm at most B")],
    states=Eq(scale, 3 * norm**2 / (2 * n * eps)),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[Accountant(Release(norm**2, Wishart(scale, d + 1, d)), "A row of norm B in place of zeros: AᵀA + B²vvᵀ")],
)

lemma2_corrected = Claim(
    id="dwang20.lemma6.3.2.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 6.3.2", line=8651),
    says="It is (ε, δ)-private, at every ε, with c = B²/(2 log(1/(1-δ))), and with no less.",
    assumes=[Setting("the n rows of A have norm at most B")],
    states=Eq(scale, norm**2 / (2 * log(1 / (1 - delta)))),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.lemma6.3.2",
    ignores_units=True,
    checks=[Accountant(Release(norm**2, Wishart(scale, d + 1, d)), "A row of norm B in place of zeros: AᵀA + B²vvᵀ")],
)

privacy = Claim(
    id="dwang20.theorem6.3.4.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.4, first sentence", line=8763),
    says="S + N with N ~ W_d(d+1, cI), c = 3/(2εn), is ε-private.",
    assumes=[unit],
    states=Eq(scale, 3 / (2 * eps * n)),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[Accountant(released, ADDED)],
)

corrected = Claim(
    id="dwang20.theorem6.3.4.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.4, first sentence", line=8763),
    says="It is (ε, δ)-private, at every ε, with c = 1/(2n log(1/(1-δ))), and with no less: δ is 1 - e^(-ε/3) with the "
    "printed noise.",
    assumes=[unit],
    states=Eq(scale, 1 / (2 * n * log(1 / (1 - delta)))),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem6.3.4.privacy",
    ignores_units=True,
    checks=[Accountant(released, ADDED)],
)

drawn = Setting("N ~ W_d(d+1, cI), and the error is at most max‖Θ‖²‖N‖_F (Theorem 6.3.3)")
size = sqrt(d + 1) + sqrt(d) + sqrt(2 * log(1 / gamma))  # but for a chance of γ (Davidson and Szarek)

utility = Claim(
    id="dwang20.theorem6.3.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.4, (6.94)", line=8765),
    says="The error is O(log(d/γ)d^(3/2) max‖Θ‖²/(nε)).",
    assumes=[drawn, Eq(scale, 3 / (2 * eps * n))],
    added=[gamma <= Rational(1, 2)],
    states=Rate(likely_error, log(d / gamma) * d ** Rational(3, 2) * M / (n * eps)),
    ignores_units=True,
    checks=[
        Chain(
            likely_error,
            Step("<=", M * sqrt(d) * scale * size**2, because=Premise(
                "‖N‖_F ≤ √d‖N‖₂, and ‖N‖₂ = c‖G‖² for normal G, d by d+1, is that but for a chance of γ"),
                uses=[drawn]),
            Step("<=", 3 * M * sqrt(d) * scale * (2 * d + 1 + 2 * log(1 / gamma)), because=Premise(
                "(a+b+c)² ≤ 3(a²+b²+c²)")),
            Step("<=", 20 * M * d ** Rational(3, 2) * scale * log(1 / gamma)),
            Step("<=", 20 * M * d ** Rational(3, 2) * scale * log(d / gamma)),
            Step("<=", 30 * STATEMENT),
        )
    ],
)
