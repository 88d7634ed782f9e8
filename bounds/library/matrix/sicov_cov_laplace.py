"""Laplace noise on the upper triangle of second moments (dwang20, section 6.3.5, Theorem 6.3.5).

Solver: dpcheck/solvers/matrix/sicov_cov_laplace.py.
"""

from sympy import Eq, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import d, eps, n, quantity
from dpcheck.bounds.library.matrix.graphical_lasso import M, triangle_sensitivity, unit
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

entry = quantity("b_entry", "scale of Laplace noise on an entry of S", box=(1e-9, 1e9), printed="b", latex="b")
high_error = quantity(
    "high_precision_error", "Frobenius distance from the precision matrix, but for a chance that falls with d",
    printed="‖Θ̂-Θ*‖_F", latex=r"\|\hat\Theta-\Theta^*\|_F",
)
released = Release(triangle_sensitivity.formula, Laplace(entry))

privacy = Claim(
    id="dwang20.theorem6.3.5.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.5, first sentence", line=8769),
    says="S + N with Laplace noise of scale 2d/(nε), drawn once for an entry and its mirror image, is ε-private.",
    assumes=[unit],
    states=Eq(entry, 2 * d / (n * eps)),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[Accountant(released, "a record moves the upper triangle by √(d(d+3)/2)/n at most in l1 (d = 2: by that)")],
)

drawn = Setting("N has Laplace noise of scale b, and the error is at most max‖Θ‖²‖N‖_F (Theorem 6.3.3)")

utility = Claim(
    id="dwang20.theorem6.3.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.5, (6.95)", line=8771),
    says="With high probability the error is O(d² max‖Θ‖²/(nε)).",
    assumes=[drawn, Eq(entry, 2 * d / (n * eps))],
    states=Rate(high_error, d**2 * M / (n * eps)),
    ignores_units=True,
    checks=[
        Chain(
            high_error,
            Step("<=", M * sqrt(4 * d**2 * entry**2), because=Premise(
                "E‖N‖_F² = 2d²b², which by Chebyshev it exceeds twice with a chance of 10/d² at most"), uses=[drawn]),
            Step("<=", 4 * STATEMENT),
        )
    ],
)
