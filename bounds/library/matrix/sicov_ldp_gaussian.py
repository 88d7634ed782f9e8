"""Noisy outer products of users for the graphical lasso (dwang20, section 6.3.5, Algorithm 6.3.53, Theorem 6.3.8).

User i sends the upper triangle of xxᵀ/n with Gaussian noise; the server adds them up. The theorem calls it Algorithm 4.
Solver: dpcheck/solvers/matrix/sicov_ldp_gaussian.py.
"""

from dataclasses import replace

from sympy import Eq, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, n
from dpcheck.bounds.library.matrix import sicov_cov_gaussian as central
from dpcheck.bounds.library.matrix.graphical_lasso import M
from dpcheck.bounds.library.matrix.sicov_cov_gaussian import classical, deviation
from dpcheck.bounds.library.matrix.sicov_cov_laplace import high_error
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

released = replace(central.released, relation=LOCAL)
private = ApproxDP(eps, delta, relation=LOCAL)
unit = Setting("‖x‖₂ ≤ 1 for every user")
MOVED = "users at e₁ and e₂: two entries of the diagonal move by 1/n"

privacy = Claim(
    id="dwang20.theorem6.3.8.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.8, first sentence, with line 2 of Algorithm 6.3.53", line=8816),
    says="Noise of deviation √(2ln(1.25/δ))/(nε) on each entry of xxᵀ/n makes it (ε, δ)-private to its user.",
    assumes=[unit],
    states=Eq(deviation, classical),
    guarantee=private,
    ignores_units=True,
    checks=[Accountant(released, MOVED)],
)

corrected = Claim(
    id="dwang20.theorem6.3.8.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.8, first sentence", line=8816),
    says="It takes √2 times that deviation, for ε at most 1.",
    assumes=[unit, eps <= 1],
    states=Eq(deviation, sqrt(2) * classical),
    guarantee=private,
    corrects="dwang20.theorem6.3.8.privacy",
    ignores_units=True,
    checks=[Accountant(released, MOVED)],
)

_v = Symbol("v", nonnegative=True)
drawn = Setting("N sums n users' normal entries of deviation β, and the error is at most max‖Θ‖²‖N‖_F (Theorem 6.3.3)")

utility = Claim(
    id="dwang20.theorem6.3.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.8", line=8820),
    says="With high probability the error is O(d√ln(1/δ) max‖Θ‖²/(ε√n)).",
    assumes=[drawn, Eq(deviation, classical)],
    added=[delta <= Rational(1, 2)],
    states=Rate(high_error, d * sqrt(log(1 / delta)) * M / (eps * sqrt(n))),
    ignores_units=True,
    checks=[
        Chain(
            high_error,
            Step("<=", M * sqrt(2 * n * d**2 * deviation**2), because=Premise(
                "E‖N‖_F² = nd²β², which by Chebyshev it exceeds twice with a chance of 4/d² at most"), uses=[drawn]),
            Step("<=", 2 * d * M * sqrt(log(Rational(5, 4) / delta)) / (eps * sqrt(n))),
            Step("<=", 2 * d * M * (sqrt(log(1 / delta)) + sqrt(log(Rational(5, 4)))) / (eps * sqrt(n)),
                 because=Premise("√(a+b) ≤ √a + √b")),
            Step("<=", 4 * STATEMENT, where={delta: exp(-((sqrt(log(2)) + _v) ** 2))}),
        )
    ],
)
