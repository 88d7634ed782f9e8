"""A server that runs in polynomial time for convex losses (dwang20, Theorems 5.1.5 and 5.1.6, Lemma 5.1.7).

Post-processing of the local Bernstein mechanism by the optimiser of [249], which is not here: the solver goes along
slopes instead. The document's p is d, its failure probability β is γ; α is the uniform error of the polynomial.
Solver: dpcheck/solvers/local/bernstein_convex_server.py.
"""

from sympy import Integer

from dpcheck.bounds.language.claim import LOGS_FREE, Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz
from dpcheck.bounds.language.symbols import d, eps, likely_excess_risk, quantity, x_tail
from dpcheck.bounds.library.local.local_bernstein import (
    D_h,
    all_orders,
    equation5,
    some_D_p,
    target_error,
    users_needed,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import Equals

slack = quantity("server_gap", "what the server's point loses on the polynomial", printed="ε", latex=r"\epsilon")
on_sets = [convex(), lipschitz(Integer(1)), Setting("C is convex, μ-well-conditioned, and ‖C‖₂ ≤ 1")]
small_error, smaller_error = Setting("α ≤ Cμ/p^(3/2)"), Setting("α < Cμ/√p")
close = Setting("the polynomial is within α of the empirical risk, by Corollary 5.1.2")

theorem5 = Claim(
    id="dwang20.theorem5.1.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.5", line=4961),
    says="The server's point has an excess risk of O(pα).",
    assumes=[*on_sets, close, small_error],
    states=Rate(likely_excess_risk, d * target_error),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", slack + 2 * target_error, because=Premise(
                "the polynomial is within α of the risk, at the server's point and at the minimiser"), uses=[close]),
            Step("<=", 16348 * d * target_error + 2 * target_error, because=Premise(
                "Lemma 5.1.7 at ε = 16348pα: its second condition is Δ ≤ ε/(16348p) = α"),
                uses=[*on_sets, small_error]),
            Step("<=", 16350 * STATEMENT),
        )
    ],
)

theorem6 = Claim(
    id="dwang20.theorem5.1.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.6", line=4967),
    says="Users that make it O(α): those of (5.5) at α/p.",
    assumes=[*on_sets, *all_orders, smaller_error, LOGS_FREE],
    added=[some_D_p],
    states=Rate(users_needed, 4 ** (d * (d + 1)) * x_tail * D_h**2 * d**5 * eps**-2 * target_error**-4),
    ignores_units=True,
    checks=[
        Equals(
            lambda: equation5.formula.subs(target_error, target_error / d),
            "(5.5) at α/p",
            uses=[*on_sets, *all_orders, smaller_error, LOGS_FREE, some_D_p],
        )
    ],
    cites=[
        Cites("dwang20.equation5.5", {target_error: target_error / d}),
        Cites("dwang20.theorem5.1.5", {target_error: target_error / d}, granted="n is what (5.5) says at α/p"),
    ],
)
