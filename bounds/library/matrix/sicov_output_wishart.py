"""Wishart noise on the solution of the graphical lasso (dwang20, section 6.3.4, Algorithm 6.3.50).

The noise is positive definite, so that the answer lies above Θ*: an answer that does not lie above a neighbour's Θ*
rules it out. Solver: dpcheck/solvers/matrix/sicov_output_wishart.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.matrix.graphical_lasso import rho, scale, unit
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

output_error = quantity(
    "output_precision_error", "Frobenius distance from the precision matrix without noise", printed="‖Θ̃-Θ*‖_F",
    latex=r"\|\tilde\Theta-\Theta^*\|_F", holds=LIKELY,
)
noise = Wishart(scale, d + 1, d)
moves = sqrt(2 * d) * d**2 / (rho**2 * n)  # √d times (6.99), with √2 for 2, and ‖Θ*‖₂ ≤ d/ρ
released = Release(moves, noise)
one_axis = Release(1 / (rho * (1 + n * rho)), noise)
E1 = "all records 0, or one of them e₁: Θ* is diagonal as S is (Hadamard), 1/ρ but for a first entry 1/(1/n+ρ)"
printed_scale = d ** Rational(5, 2) / (n * eps * rho**2)

privacy = Claim(
    id="dwang20.theorem6.3.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.1, with the noise of Algorithm 6.3.50", line=8721),
    says="Θ* + N with N ~ W_d(d+1, cI), c = d^(5/2)/(nερ²), is ε-private.",
    assumes=[unit],
    states=Eq(scale, printed_scale),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[Accountant(one_axis, E1, {d: (2, 2)})],
)

corrected = Claim(
    id="dwang20.theorem6.3.1.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 6.3.1", line=8721),
    says="It is (ε, δ)-private, at every ε, with c = d^(5/2)/(√2·nρ²·log(1/(1-δ))): with the printed noise δ may be "
    "1 - e^(-ε/√2).",
    assumes=[unit],
    states=Eq(scale, d ** Rational(5, 2) / (sqrt(2) * n * rho**2 * log(1 / (1 - delta)))),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem6.3.1",
    ignores_units=True,
    checks=[Accountant(released, "the traces of both parts of the move are at most √d times (6.99), and ‖Θ*‖₂ ≤ d/ρ")],
)

as_printed = Setting("N ~ W_d(d+1, cI), and the error is ‖N‖_F")
size = sqrt(d + 1) + sqrt(d) + sqrt(2 * log(1 / gamma))  # but for a chance of γ (Davidson and Szarek)

utility = Claim(
    id="dwang20.theorem6.3.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.3.2, (6.92)", line=8725),
    says="The error is O(log(d/γ)d⁴/(nερ²)).",
    assumes=[as_printed, Eq(scale, printed_scale)],
    added=[gamma <= Rational(1, 2)],
    states=Rate(output_error, log(d / gamma) * d**4 / (n * eps * rho**2)),
    ignores_units=True,
    checks=[
        Chain(
            output_error,
            Step("<=", sqrt(d) * scale * size**2, because=Premise(
                "‖N‖_F ≤ √d‖N‖₂, and ‖N‖₂ = c‖G‖² for normal G, d by d+1, is that but for a chance of γ"),
                uses=[as_printed]),
            Step("<=", 3 * sqrt(d) * scale * (2 * d + 1 + 2 * log(1 / gamma)), because=Premise(
                "(a+b+c)² ≤ 3(a²+b²+c²)")),
            Step("<=", 20 * d ** Rational(3, 2) * scale * log(1 / gamma)),
            Step("<=", 20 * d ** Rational(3, 2) * scale * log(d / gamma)),
            Step("<=", 20 * STATEMENT),
        )
    ],
)
