"""The local Bernstein mechanism (dwang20, section 5.1.3, Algorithm 5.1.31; proofs in 5.1.6).

Every user reports her loss at all (k+1)^p points of a grid of [0, 1]^p with Laplace noise; the server makes of the
averages the iterated Bernstein polynomial of order h and minimises it. The document's p is d here, its failure
probability β is γ or, where only log(1/β) enters, e^-x. Solver: dpcheck/solvers/local/local_bernstein.py.
"""

from collections.abc import Sequence

from sympy import Eq, Expr, Le, Mul, Rational, Symbol, binomial, exp, log, prod, simplify, solve, sqrt, summation

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, eps, gamma, likely_excess_risk, n, quantity, sigma, x_tail
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, Quoted

k = quantity("grid_k", "cells of the grid along an axis", box=(1, 1e2), integer=True, printed="k", latex="k")
h = quantity("bernstein_h", "order of the iterated operator", box=(1, 8), integer=True, printed="h", latex="h")
D_h = quantity("D_h", "constant of the approximation of order h", printed="D_h", latex="D_h")
smooth_T = quantity("smooth_T", "bound on all partial derivatives", printed="T", latex="T")
target_error = quantity("target_error", "excess risk aimed at", box=(1e-4, 0.5), printed="α", latex=r"\alpha")
users_needed = quantity("users_needed", "users that make the excess risk at most α", printed="n(α)", latex=r"n(\alpha)")
basis_sum = quantity("basis_sum", "sum of |b_v^(h)(w)| over the grid", printed="Σ|b^(h)|", latex=r"\sum|b^{(h)}|")
approximation = quantity("approximation", "sup |f - B_k^(h) f|", printed="sup|f-Bf|", latex=r"\sup|f-B_k^{(h)}f|")
place = quantity("place", "a point of (0, 1)", box=(1e-3, 0.999), below=1.0, printed="x", latex="x")
grid_error = quantity(
    "grid_error", "largest error of a grid point's average", printed="max|L̃(v)-L(v)|", holds=LIKELY,
    latex=r"\max_v|\tilde L(v)-L(v)|",
)
sup_error = quantity(
    "sup_error", "sup |noisy polynomial - empirical risk|", printed="sup|L̃-L|", latex=r"\sup|\tilde L-L|", holds=LIKELY
)

i, t, points = Symbol("i", integer=True), Symbol("t", positive=True), Symbol("points", positive=True)

losses = [Setting("ℓ(·; x) is (2h, T)-smooth with values in [0, 1], T = O(1)")]
twice_bounded = Setting("T bounds the second derivative of what is approximated")
exact_grid = (D_h * sqrt(d * n) * eps / (2 ** ((h + 1) * d) * sqrt(x_tail))) ** (1 / (h + d))

# Privacy -------------------------------------------------------------------------------------------
released = Release((k + 1) ** d, Laplace(sigma), relation=LOCAL)  # losses in [0, 1] at (k+1)^p points

theorem2_privacy = Claim(
    id="dwang20.theorem5.1.2.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.2 with line 7 of Algorithm 5.1.31", line=4842),
    says="Laplace noise of scale (k+1)^p/ε on the losses at (k+1)^p points makes a user's report ε-private.",
    states=Eq(sigma, (k + 1) ** d / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[Accountant(released, "records whose losses are 0 and 1 at every grid point")],
)

# Approximation -------------------------------------------------------------------------------------
lemma2 = Claim(
    id="dwang20.lemma5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2", line=4752),
    says="The iterated Bernstein polynomial of a (2h, T)-smooth function of one variable errs by O(T k^-h).",
    assumes=[Eq(d, 1), *losses],
    states=Le(approximation, smooth_T * D_h / k**h),
    ignores_units=True,
    checks=[Quoted("from Micchelli: that D_h exists for every h")],
)

lemma2_first = Claim(
    id="dwang20.lemma5.1.2.first_order", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2, h = 1", line=4752),
    says="For h = 1 the constant is 1/8, attained by x²/2.",
    assumes=[Eq(d, 1), Eq(h, 1), twice_bounded],
    states=Le(approximation, smooth_T / (8 * k)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            approximation,
            Step("<=", smooth_T / 2 * place * (1 - place) / k, because=Premise(
                "Taylor at x: at most T/2 times the variance x(1-x)/k of a binomial share; equality for x²/2")),
            Step("<=", STATEMENT, because=Slack(seen=[smooth_T * (1 - 2 * place) ** 2 / (8 * k)])),
        )
    ],
)

lemma3 = Claim(
    id="dwang20.lemma5.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.3", line=4762),
    says="In p variables the error is at most p times that of one, up to a constant.",
    assumes=losses,
    states=Rate(approximation, d * smooth_T * D_h / k**h),
    ignores_units=True,
    checks=[Quoted("from Aldà and Rubinstein: that the factor is p and not p (2^h-1)^(p-1)")],
)

basis = Claim(
    id="dwang20.theorem5.1.2.basis", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.2, after (5.7)", line=5277),
    says="The absolute values of the basis add up to at most (2^h-1)^p at every point.",
    states=Le(basis_sum, (2**h - 1) ** d),
    checks=[
        AtMost(
            summation(binomial(h, i), (i, 1, h)) ** d,
            "on every axis b^(h) is Σ (h over i)(-1)^(i-1) B^(i-1)(b) over i = 1..h; B keeps signs and B 1 = 1",
            exact=False,
        )
    ],
)

# Error ---------------------------------------------------------------------------------------------
tail = sqrt(log(1 / gamma))
usual_n = [k >= 2, gamma <= Rational(1, 2), n >= log(2 * (k + 1) ** d / gamma)]
usual_x = [k >= 2, x_tail >= log(2), n >= log(2 * (k + 1) ** d * exp(x_tail))]  # γ = e^-x
explicit_grid_error = 2 * sqrt(2) * (k + 1) ** d * sqrt(log(2 * (k + 1) ** d / gamma)) / (sqrt(n) * eps)

lemma13_explicit = Claim(
    id="dwang20.lemma5.1.13.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Lemma 5.1.13", line=5289),
    says="All averages at once: one at γ/(k+1)^p and ε/(k+1)^p, with the constant that sums of Laplace noise have.",
    assumes=[n >= log(2 * (k + 1) ** d / gamma)],
    states=Le(grid_error, explicit_grid_error),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        AtMost(
            solve(2 * exp(-((eps / points) ** 2) * n * t**2 / 8) - gamma / points, t)[-1].subs(points, (k + 1) ** d),
            "a sum of n Laplace(1/ε') variables exceeds s with a chance of at most 2exp(-ε'²s²/(8n)) where s ≤ 3n/ε',"
            " as -log(1-u²) ≤ 2u² for u ≤ 3/4; ε' = ε/(k+1)^p, and (k+1)^p points share γ",
            exact=False,
        )
    ],
)

lemma13 = Claim(
    id="dwang20.lemma5.1.13", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.13", line=5283),
    says="With probability 1-β every grid point's average errs by O(√log(1/β) √(p log k) (k+1)^p/(√n ε)).",
    assumes=[n >= d * log(2 / gamma) * log(k + 1)],
    added=usual_n,
    states=Rate(grid_error, tail * sqrt(d) * sqrt(log(k)) * (k + 1) ** d / (sqrt(n) * eps)),
    ignores_units=True,
    checks=[
        Chain(
            grid_error,
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit")),
            Step("<=", 2 * sqrt(12 * d * log(k) * log(1 / gamma)) * (k + 1) ** d / (sqrt(n) * eps), because=Premise(
                "log 2 + p log(k+1) + log(1/β) ≤ 6 p log k log(1/β) for k ≥ 2 and β ≤ 1/2: equality fails least at both"
                " ends, where it is 2.49 ≤ 2.88")),
            Step("=", 2 * sqrt(12) * STATEMENT),
        )
    ],
)

noise_part = 2 ** ((h + 1) * d) * tail * sqrt(d * log(k)) * k**d / (sqrt(n) * eps)

equation8 = Claim(
    id="dwang20.equation5.8", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.8)", line=5293),
    says="The polynomial is uniformly close to the empirical risk: what is approximated, and the noise.",
    assumes=losses,
    added=usual_n,
    states=Rate(sup_error, D_h * d / k**h + noise_part),
    ignores_units=True,
    checks=[
        Chain(
            sup_error,
            Step("<=", approximation + basis_sum * grid_error, because=Premise("(5.7) and the triangle inequality")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis")),
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit")),
            Step("<=", D_h * d / k**h
                 + 2 ** (h * d) * 2**d * k**d * 2 * sqrt(12 * d * log(k)) * tail / (sqrt(n) * eps), because=Premise(
                     "Lemma 5.1.3 with T = 1 and its constant in D_h; 2^h-1 ≤ 2^h, k+1 ≤ 2k and the logarithms of"
                     " Lemma 5.1.13")),
            Step("<=", 2 * sqrt(12) * STATEMENT),
        )
    ],
    cites=[Cites("dwang20.lemma5.1.3")],
)


def excess(dimension: Expr) -> Expr:
    """(5.3), with this power of p."""
    return (
        x_tail ** (h / (2 * (h + d))) * D_h ** (d / (d + h)) * dimension
        * 2 ** ((h + 1) * d * h / (h + d)) / (n ** (h / (2 * (h + d))) * eps ** (h / (h + d)))
    )


right_power = d ** ((h + 2 * d) / (2 * (h + d)))
balanced = D_h * d / exact_grid**h  # (5.8) where its two terms are equal, √log k aside
at_theorem = [*losses, Setting("k and n as in Theorem 5.1.2")]

theorem2 = Claim(
    id="dwang20.theorem5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="Excess empirical risk of the local Bernstein mechanism, with p^(p/(2(h+p))).",
    assumes=at_theorem,
    added=usual_x,
    states=Rate(likely_excess_risk, excess(d ** (d / (2 * (h + d))))),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * sup_error, because=Premise("w_priv minimises a function that is so close to the risk")),
            Step("<=", 4 * balanced, because=Premise("(5.8) where its terms are equal; √log k is free under Õ")),
            Step("<=", 4 * STATEMENT),
        )
    ],
    cites=[Cites("dwang20.equation5.8", {gamma: exp(-x_tail)})],
)

theorem2_corrected = Claim(
    id="dwang20.theorem5.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="What (5.8) gives at that k: another factor of √p, which the proof divides by √(h+p) on the way.",
    assumes=at_theorem,
    added=usual_x,
    states=Rate(likely_excess_risk, excess(right_power)),
    corrects="dwang20.theorem5.1.2",
    ignores_units=True,
    checks=[Equals(lambda: balanced, "(5.8) at k = (D_h√(pn)ε/(2^((h+1)p)√x))^(1/(h+p)), where both terms are equal")],
    cites=[Cites("dwang20.equation5.8", {gamma: exp(-x_tail)})],
)


# Users ---------------------------------------------------------------------------------------------
def enough(dimension: Expr, order: Expr) -> Expr:
    """The n at which (5.3) with this power of p is α, its constant aside, at h = order."""
    factors = Mul.make_args(excess(dimension).subs(h, order).subs(n, 1) / target_error)
    power = 2 * (order + d) / order
    return prod(base ** simplify(exponent * power) for base, exponent in (f.as_base_exp() for f in factors))


def printed_and_corrected(
    number: str, source: Source, says: str, formulas: Sequence[Expr], order: Expr
) -> list[Claim]:
    """The number of users as printed, from (5.3) as printed, and from what (5.8) gives."""
    at_order = [*at_theorem, *([] if order == h else [Eq(h, order)])]
    claims = []
    for corrected, formula in enumerate(formulas):
        derived = enough(right_power, order)
        claims.append(
            Claim(
                id=f"dwang20.{number}" + ".corrected" * corrected, kind=Kind.UTILITY,
                source=source,
                says=says + " What (5.8) gives." * corrected,
                assumes=at_order,
                added=usual_x,
                states=Rate(users_needed, formula),
                corrects=f"dwang20.{number}" if corrected else None,
                ignores_units=True,
                checks=[
                    Equals(derived, "(5.8) at its best k is α, solved for n") if corrected
                    else Quoted("from (5.3), whose power of p the proof does not give")
                ],
                cites=[Cites("dwang20.theorem5.1.2" + ".corrected" * corrected)],
            )
        )
    return claims


p2 = target_error**-2 * eps**-2
equation4, equation4_corrected = printed_and_corrected(
    "equation5.4", Source("dwang20", "(5.4)", line=4854), "Users that make the excess risk at most α.",
    tuple(
        x_tail * D_h ** (2 * d / h) * power * 4 ** ((h + 1) * d) * p2 * target_error ** (-2 * d / h)
        for power in (d ** (d / h), d ** (1 + 2 * d / h))
    ), h,
)
corollary1, corollary1_corrected = printed_and_corrected(
    "corollary5.1.1", Source("dwang20", "Corollary 5.1.1", line=4860),
    "Users for (8, T)-smooth losses, h = 4; D_h is D_4 here.",
    (
        x_tail * p2 * target_error ** (-d / 2) * (4**5 * sqrt(D_h) * d ** Rational(1, 4)) ** d,
        x_tail * p2 * target_error ** (-d / 2) * 4 ** (5 * d) * D_h ** (d / 2) * d ** (d / 2) * d,
    ), Rational(4),
)
equation5, equation5_corrected = printed_and_corrected(
    "equation5.5", Source("dwang20", "(5.5), first term", line=4870),
    "Users for (∞, T)-smooth losses, h = p; D_h is D_p here.",
    tuple(4 ** (d * (d + 1)) * x_tail * D_h**2 * power * p2 * target_error**-2 for power in (d, d**3)), d,
)

corollary2 = Claim(
    id="dwang20.corollary5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.2", line=4866),
    says="Excess risk for (∞, T)-smooth losses, h = p; D_h is D_p here.",
    assumes=[*at_theorem, Eq(h, d)],
    added=usual_x,
    states=Rate(
        likely_excess_risk,
        x_tail * sqrt(D_h) * d ** Rational(1, 4) * sqrt(2) ** ((d + 1) * d) / (n ** Rational(1, 4) * sqrt(eps)),
    ),
    ignores_units=True,
    checks=[Quoted("from (5.3), whose power of p the proof does not give")],
    cites=[Cites("dwang20.theorem5.1.2")],
)

corollary2_corrected = Claim(
    id="dwang20.corollary5.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.2", line=4866),
    says="The same with p^(3/4) and the power of log(1/β) that (5.3) has.",
    assumes=[*at_theorem, Eq(h, d)],
    added=usual_x,
    states=Rate(
        likely_excess_risk,
        x_tail ** Rational(1, 4) * sqrt(D_h) * d ** Rational(3, 4) * sqrt(2) ** ((d + 1) * d)
        / (n ** Rational(1, 4) * sqrt(eps)),
    ),
    corrects="dwang20.corollary5.1.2",
    ignores_units=True,
    checks=[Equals(balanced.subs(h, d), "(5.8) where its terms are equal, h = p")],
    cites=[Cites("dwang20.theorem5.1.2.corrected")],
)
