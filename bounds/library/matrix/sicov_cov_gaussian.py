"""Gaussian noise on the upper triangle of second moments (dwang20, section 6.3.5, Theorem 6.3.7).

Solver: dpcheck/solvers/matrix/sicov_cov_gaussian.py; the same in the local model: sicov_ldp_gaussian.py.
"""

from sympy import Eq, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.library.matrix.graphical_lasso import M, unit
from dpcheck.bounds.library.matrix.sicov_cov_laplace import high_error
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

deviation = quantity(
    "sd_entry", "deviation of Gaussian noise on an entry of S", box=(1e-9, 1e9), printed="β", latex=r"\beta"
)
released = Release(sqrt(2) / n, Gaussian(deviation))
classical = sqrt(2 * log(Rational(5, 4) / delta)) / (n * eps)
MOVED = (
    "a record moves from e₁ to e₂: two entries of the diagonal move by 1/n, and Θ̂, whose inverse has S̃_ii + ρ there, "
    "hides neither"
)

privacy = Claim(
    id="dwang20.theorem6.3.7.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.7, first sentence", line=8783),
    says="S + N with Gaussian noise of deviation √(2ln(1.25/δ))/(nε), once for an entry and its mirror image, is (ε, "
    "δ)-private.",
    assumes=[unit],
    states=Eq(deviation, classical),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Accountant(released, MOVED)],
)

corrected = Claim(
    id="dwang20.theorem6.3.7.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.7, first sentence", line=8783),
    says="It takes √2 times that deviation, for ε at most 1.",
    assumes=[unit, eps <= 1],
    states=Eq(deviation, sqrt(2) * classical),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem6.3.7.privacy",
    ignores_units=True,
    checks=[Accountant(released, MOVED)],
)

_v = Symbol("v", nonnegative=True)
drawn = Setting("N has normal entries of deviation β, and the error is at most max‖Θ‖²‖N‖_F (Theorem 6.3.3)")

utility = Claim(
    id="dwang20.theorem6.3.7", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.7, (6.97), where en stands for εn", line=8785),
    says="With high probability the error is O(d√ln(1/δ) max‖Θ‖²/(εn)).",
    assumes=[drawn, Eq(deviation, classical)],
    added=[delta <= Rational(1, 2)],
    states=Rate(high_error, d * sqrt(log(1 / delta)) * M / (eps * n)),
    ignores_units=True,
    checks=[
        Chain(
            high_error,
            Step("<=", M * sqrt(2 * d**2 * deviation**2), because=Premise(
                "E‖N‖_F² = d²β², which by Chebyshev it exceeds twice with a chance of 4/d² at most"), uses=[drawn]),
            Step("<=", 2 * d * M * sqrt(log(Rational(5, 4) / delta)) / (eps * n)),
            Step("<=", 2 * d * M * (sqrt(log(1 / delta)) + sqrt(log(Rational(5, 4)))) / (eps * n), because=Premise(
                "√(a+b) ≤ √a + √b")),
            Step("<=", 4 * STATEMENT, where={delta: exp(-((sqrt(log(2)) + _v) ** 2))}),
        )
    ],
)
