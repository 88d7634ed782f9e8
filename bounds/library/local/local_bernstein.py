"""The local Bernstein mechanism (dwang20, section 5.1.3, Algorithm 5.1.31; proofs in 5.1.6).

Every user reports her loss at all (k+1)^p points of a grid of [0, 1]^p with Laplace noise; the server makes of the
averages the iterated Bernstein polynomial of order h and minimises it. The document's p is d here, and x is log(1/β).
Solver: dpcheck/solvers/local/local_bernstein.py.
"""

from sympy import (
    Eq,
    Expr,
    Ge,
    Integer,
    Le,
    Mul,
    Rational,
    Symbol,
    binomial,
    exp,
    factorial,
    log,
    prod,
    simplify,
    sqrt,
    summation,
)

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, eps, gamma, likely_excess_risk, n, quantity, sigma, x_tail
from dpcheck.bounds.library.local.ldp_avg_1d import average_error, b
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant

k = quantity("grid_k", "cells of the grid along an axis", box=(1, 1e2), integer=True, printed="k", latex="k")
h = quantity("bernstein_h", "order of the iterated operator", box=(1, 8), integer=True, printed="h", latex="h")
D_h = quantity("D_h", "constant of the approximation of order h", printed="D_h", latex="D_h")
smooth_T = quantity("smooth_T", "bound on all partial derivatives", printed="T", latex="T")
target_error = quantity("target_error", "excess risk aimed at", box=(1e-4, 0.5), printed="α", latex=r"\alpha")
users_needed = quantity("users_needed", "users that make the excess risk at most α", printed="n(α)", latex=r"n(\alpha)")
basis_sum = quantity("basis_sum", "sum of |b_v^(h)(w)| over the grid", printed="Σ|b^(h)|", latex=r"\sum|b^{(h)}|")
on_axis = quantity("on_axis", "sup |f - B_k^(h) f|, one variable", printed="sup₁|f-Bf|", latex=r"\sup|f-B_k^{(h)}f|")
approximation = quantity("approximation", "sup |f - B_k^(h) f|", printed="sup|f-Bf|", latex=r"\sup|f-B_k^{(h)}f|")
place = quantity("place", "a point of (0, 1)", box=(1e-3, 0.999), below=1.0, printed="x", latex="x")
grid_error = quantity(
    "grid_error", "largest error of a grid point's average", printed="max|L̃(v)-L(v)|", holds=LIKELY,
    latex=r"\max_v|\tilde L(v)-L(v)|",
)

i, big = Symbol("i", integer=True), Symbol("big", positive=True)
many_users = Setting("n ≥ p log(2/β) log(k+1), as its proof says")
smooth_losses = Setting("ℓ(·; x) is (2h, T)-smooth with values in [0, 1], T = O(1)")
no_logs = Setting("powers of logarithms are left out, as Õ does")

# Privacy -------------------------------------------------------------------------------------------
released = Release((k + 1) ** d, Laplace(sigma), relation=LOCAL)  # losses in [0, 1] at (k+1)^p points

theorem2_privacy = Claim(
    id="dwang20.theorem5.1.2.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.2, first sentence, with line 7 of Algorithm 5.1.31", line=4842),
    says="Laplace noise of scale (k+1)^p/ε on the losses at (k+1)^p points makes a user's report ε-private.",
    states=Eq(sigma, (k + 1) ** d / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[
        AtMost(
            (k + 1) ** d / sigma,
            "log densities of scale σ differ by at most |v-v'|/σ at each point, and by 1/σ where losses are 0 and 1",
            against=eps,
        )
    ],
)

# Approximation -------------------------------------------------------------------------------------
lemma2 = Claim(
    id="dwang20.lemma5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2", line=4752),
    says="The iterated Bernstein polynomial of a (2h, T)-smooth function of one variable errs by T D_h/k^h.",
    assumes=[Setting("f is (2h, T)-smooth on [0, 1]")],
    added=[Setting("D_h is (5/2)^h (h!)² or more; printed is that there is a constant")],
    states=Le(on_axis, smooth_T * D_h / k**h),
    ignores_units=True,
    checks=[
        Chain(
            on_axis,
            Step("<=", smooth_T * Rational(5, 2) ** h * factorial(h) ** 2 / k**h, because=Induction(
                h, smooth_T, lambda bound: bound * Rational(5, 2) * (h + 1) ** 2 / k, given=
                "f - B^(h) f is (I-B)^h f, and I-B takes functions with derivatives up to r+2 of at most M to some"
                " with derivatives up to r of at most (5r²+1)M/(8k): the r-th derivative of Bf at x is Π(1-i/k), i < r,"
                " times the mean of f^(r) at (V+S)/k, V binomial of k-r and S a sum of r uniform numbers, off x by"
                " r/(2k) at most on average and (1+r²)/(4k) in mean square; r = 2h at the next step")),
            Step("<=", smooth_T * D_h / k**h, because=Premise("what is assumed of D_h")),
            Step("=", STATEMENT),
        )
    ],
)

lemma2_first = Claim(
    id="dwang20.lemma5.1.2.first_order", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2, h = 1", line=4752),
    says="For h = 1 the constant is 1/8, attained by x²/2.",
    assumes=[Setting("T bounds the second derivative of f on [0, 1]")],
    states=Le(on_axis, smooth_T / (8 * k)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            on_axis,
            Step("<=", smooth_T / 2 * place * (1 - place) / k, because=Premise(
                "Taylor at x: at most T/2 times the variance x(1-x)/k of a binomial share; equality for x²/2")),
            Step("<=", STATEMENT, because=Slack(seen=[smooth_T * (1 - 2 * place) ** 2 / (8 * k)])),
        )
    ],
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

smooth_f = Setting("f is (2h, T)-smooth on [0, 1]^p")

lemma3 = Claim(
    id="dwang20.lemma5.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.3", line=4762),
    says="In p variables the error is O(p T D_h/k^h), where D_h depends on h alone.",
    assumes=[smooth_f],
    states=Rate(approximation, d * smooth_T * D_h / k**h),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(13, 12) ** d - 1,
            {d: big, h: Integer(2), k: Integer(2), smooth_T: Integer(20_000), D_h: Integer(1)}, big,
            "f = Π cos(π(2yᵢ²-yᵢ)) at yᵢ = 1/6: |f| ≤ 1, derivatives up to order 4 are at most 20,000 for every p, and"
            " the polynomial is (13/12)^p there",
            at=8,
        )
    ],
)

lemma3_corrected = Claim(
    id="dwang20.lemma5.1.3.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.3", line=4762),
    says="The error is at most p(2^h-1)^(p-1) times that of one variable.",
    assumes=[smooth_f],
    states=Le(approximation, d * (2**h - 1) ** (d - 1) * smooth_T * D_h / k**h),
    corrects="dwang20.lemma5.1.3",
    ignores_units=True,
    checks=[
        Chain(
            approximation,
            Step("<=", d * basis_sum * on_axis, because=Premise(
                "one axis after the other: p differences, each under the polynomials of at most p-1 other axes")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {d: d - 1})),
            Step("<=", d * (2**h - 1) ** (d - 1) * smooth_T * D_h / k**h, because=Premise("Lemma 5.1.2 on an axis")),
            Step("=", STATEMENT),
        )
    ],
    cites=[Cites("dwang20.lemma5.1.2", granted="f is as smooth along every axis")],
)

# Error ---------------------------------------------------------------------------------------------
all_points = (k + 1) ** d
L_all = log(2 * all_points / gamma)

lemma13_explicit = Claim(
    id="dwang20.lemma5.1.13.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Lemma 5.1.13", line=5289),
    says="All averages at once: one at β/(k+1)^p and ε/(k+1)^p.",
    assumes=[Setting("losses are reported as in Algorithm 5.1.31")],
    states=Le(grid_error, 2 * all_points * sqrt(L_all) / (sqrt(n) * eps) + all_points * L_all / (n * eps)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            grid_error,
            Step("<=", average_error, because=Premise("(k+1)^p points share β and ε, and losses are at most 1")),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.1.corrected", {gamma: gamma / all_points, eps: eps / all_points, b: Integer(1)},
                granted="a loss is a number in [0, 1]")),
            Step("=", STATEMENT),
        )
    ],
)

lemma13 = Claim(
    id="dwang20.lemma5.1.13", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.13", line=5283),
    says="With probability 1-β every grid point's average errs by O(√log(1/β) √(p log k) (k+1)^p/(√n ε)).",
    assumes=[n >= d * log(2 / gamma) * log(k + 1), *lemma13_explicit.assumes],
    added=[k >= 2, gamma <= Rational(1, 2)],
    states=Rate(grid_error, sqrt(log(1 / gamma)) * sqrt(d) * sqrt(log(k)) * all_points / (sqrt(n) * eps)),
    ignores_units=True,
    checks=[
        Chain(
            grid_error,
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit")),
            Step("<=", 4 * all_points * sqrt(L_all) / (sqrt(n) * eps), because=Premise(
                "log(2(k+1)^p/β) ≤ 3n, as it is at most 3p log(2/β) log(k+1)")),
            Step("<=", 10 * all_points * sqrt(d * log(k) * log(1 / gamma)) / (sqrt(n) * eps), because=Premise(
                "log(2(k+1)^p/β) ≤ 6 p log k log(1/β) for k ≥ 2 and β ≤ 1/2")),
            Step("=", 10 * STATEMENT),
        )
    ],
)


def excess(dimension: Expr) -> Expr:
    """(5.3), with this power of p."""
    return (
        x_tail ** (h / (2 * (h + d))) * D_h ** (d / (d + h)) * dimension
        * 2 ** ((h + 1) * d * h / (h + d)) / (n ** (h / (2 * (h + d))) * eps ** (h / (h + d)))
    )


right_power = d ** ((h + 2 * d) / (2 * (h + d)))
enough_users = Ge(n, x_tail * 4 ** (d * (h + 1)) / (eps**2 * D_h**2))


def users_at(cells: Expr, order: Expr = h) -> Expr:
    """The n for which Theorem 5.1.2 sets k to this."""
    return (cells ** (order + d) * 2 ** ((order + 1) * d) * sqrt(x_tail) / (D_h * sqrt(d) * eps)) ** 2


# What the mechanism does on all records alike, for every h and k ≥ 25 with k^h ≥ p.
WAVES = (
    "ℓ = k^-h/2 · Σ sin²(πmwᵢ) + (1-2wᵢ)²/4, m = 2⌊√k⌋, whose derivatives up to order 2h do not grow with k: it is 0"
    " at w = (½, ..., ½), where its polynomial has no waves left and is larger than at 0; the noise is (2/3)^p of that"
    " difference at most, and what is released loses p/(20 k^h) or more"
)

theorem2 = Claim(
    id="dwang20.theorem5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="Excess empirical risk of the local Bernstein mechanism, with p^(p/(2(h+p))).",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2"), enough_users, no_logs],
    states=Rate(likely_excess_risk, excess(d ** (d / (2 * (h + d))))),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 20),
            {d: big, h: Integer(1), x_tail: Integer(1), eps: Integer(1), D_h: Rational(1, 8),
             n: users_at(big, Integer(1)).subs({d: big, x_tail: 1, eps: 1, D_h: Rational(1, 8)})}, big,
            f"h = 1, k = p: {WAVES}",
            at=25,
        )
    ],
    cites=[Cites("dwang20.lemma5.1.3", granted="the risk is as smooth as the losses")],
)

theorem2_corrected = Claim(
    id="dwang20.theorem5.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="At that k: a root of p more, and (2^h-1)^(p-1) for what is approximated, √log k for the noise.",
    assumes=[smooth_losses, *lemma13_explicit.assumes, many_users],
    added=[Eq(n, users_at(k)), k >= 2, x_tail >= log(2)],
    states=Rate(likely_excess_risk, excess(right_power) * ((2**h - 1) ** (d - 1) + sqrt(log(k)))),
    corrects="dwang20.theorem5.1.2",
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (approximation + basis_sum * grid_error), because=Premise(
                "w_priv minimises a function that is so close to the risk, by (5.7)")),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.3.corrected", {smooth_T: Integer(1)}, granted="the risk is as smooth as the losses")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis")),
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit", {gamma: exp(-x_tail)})),
            Step("<=", 2 * (d * (2**h - 1) ** (d - 1) * D_h / k**h
                            + 10 * 2 ** ((h + 1) * d) * k**d * sqrt(x_tail * d * log(k)) / (sqrt(n) * eps)),
                 because=Premise("2^h-1 ≤ 2^h, k+1 ≤ 2k, and the logarithms of Lemma 5.1.13")),
            Step("<=", 20 * STATEMENT, because=Slack({"2^h ≥ 1": 18 * d * (2**h - 1) ** (d - 1) * D_h / k**h})),
        )
    ],
)


# Users ---------------------------------------------------------------------------------------------
def solved(risk: Expr, order: Expr) -> Expr:
    """The n at which a risk that falls with the power h/(2(h+p)) of n is α, at h = order."""
    factors = Mul.make_args(risk.subs(h, order).subs(n, 1) / target_error)
    power = 2 * (order + d) / order
    return prod(base ** simplify(exponent * power) for base, exponent in (f.as_base_exp() for f in factors))


at_most_alpha = target_error**-2 * eps**-2
FEWER = "with fewer users k is below p/(20α), or below p, and the excess risk above α"
small = {d: big, x_tail: Integer(1), eps: Integer(1), target_error: Rational(1, 40)}

equation4 = Claim(
    id="dwang20.equation5.4", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.4)", line=4854),
    says="Users that make the excess risk at most α.",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2"), no_logs],
    states=Rate(
        users_needed,
        x_tail * D_h ** (2 * d / h) * d ** (d / h) * 4 ** ((h + 1) * d) * at_most_alpha * target_error ** (-2 * d / h),
    ),
    ignores_units=True,
    checks=[
        NoConstant(
            users_at(d / (20 * target_error)), {**small, h: Integer(1), D_h: Rational(1, 8)}, big,
            f"h = 1: {FEWER}; {WAVES}", at=25,
        )
    ],
    cites=[Cites("dwang20.theorem5.1.2")],
)

equation4_corrected = Claim(
    id="dwang20.equation5.4.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.4)", line=4854),
    says="With the powers of p and 2^h-1 that Theorem 5.1.2 has when its proof is followed.",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2"), no_logs],
    states=Rate(
        users_needed,
        x_tail * D_h ** (2 * d / h) * d ** (1 + 2 * d / h) * 4 ** ((h + 1) * d)
        * (2**h - 1) ** (2 * (d - 1) * (h + d) / h) * at_most_alpha * target_error ** (-2 * d / h),
    ),
    corrects="dwang20.equation5.4",
    ignores_units=True,
    checks=[
        Equals(
            lambda: solved(excess(right_power) * (2**h - 1) ** (d - 1), h),
            "the risk of theorem5.1.2.corrected, √log k aside, is α at this n",
        )
    ],
)

corollary1 = Claim(
    id="dwang20.corollary5.1.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.1", line=4860),
    says="Users for (8, T)-smooth losses, h = 4; D_h is D_4 here.",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2 with h = 4"), no_logs],
    states=Rate(
        users_needed,
        x_tail * at_most_alpha * target_error ** (-d / 2) * (4**5 * sqrt(D_h) * d ** Rational(1, 4)) ** d,
    ),
    ignores_units=True,
    checks=[
        NoConstant(
            users_at((d / (20 * target_error)) ** Rational(1, 4), Integer(4)), {**small, D_h: Integer(1)}, big,
            f"whatever D_4 is, p^(p/4) outgrows its powers: {FEWER}; {WAVES}", at=1e5,
        )
    ],
    cites=[Cites("dwang20.theorem5.1.2")],
)

corollary1_corrected = Claim(
    id="dwang20.corollary5.1.1.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.1", line=4860),
    says="With the powers of p and 15 that (5.4) has when the proof is followed.",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2 with h = 4"), no_logs],
    states=Rate(
        users_needed,
        x_tail * at_most_alpha * target_error ** (-d / 2)
        * (4**5 * sqrt(D_h * d)) ** d * d * 15 ** ((d - 1) * (4 + d) / 2),
    ),
    corrects="dwang20.corollary5.1.1",
    ignores_units=True,
    checks=[Equals(lambda: equation4_corrected.formula.subs(h, 4), "equation5.4.corrected at h = 4")],
)

# h = p ---------------------------------------------------------------------------------------------
all_orders = [
    Setting("ℓ(·; x) is (∞, T)-smooth with values in [0, 1], T = O(1)"),
    Setting("D_p is p times a constant of Lemma 5.1.2, which only says that there is one"),
]
whole_risk = x_tail * sqrt(D_h) * d ** Rational(1, 4) * sqrt(2) ** ((d + 1) * d) / (n ** Rational(1, 4) * sqrt(eps))
# 40 times that risk at this k, less 4 D_p/k^p for what is approximated and 20 √log k D_p/k^p for the noise
enough_for_both = Slack(
    {
        "x ≥ log 2": (40 * x_tail ** Rational(3, 4) - 30) * sqrt(log(k)) * D_h / k**d,
        "k ≥ 2": (10 * sqrt(log(k)) - 4) * D_h / k**d,
    }
)

bias_and_noise = 4 * D_h / k**d + 20 * 2 ** ((d + 1) * d) * k**d * sqrt(x_tail * d * log(k)) / (sqrt(n) * eps)

corollary2 = Claim(
    id="dwang20.corollary5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.2", line=4866),
    says="Excess risk for (∞, T)-smooth losses, h = p; D_h is D_p here, and √log k is what Õ hides.",
    assumes=[*all_orders, *lemma13_explicit.assumes, many_users],
    # k with D_p/p in the place of D_p: p^(-1/(2p)), between 0.83 and 1, times the printed one
    added=[Eq(n, users_at(k, d).subs(D_h, D_h / d)), k >= 2, x_tail >= log(2)],
    states=Rate(likely_excess_risk, whole_risk * sqrt(log(k))),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (approximation + basis_sum * grid_error), because=Premise(
                "w_priv minimises a function that is so close to the risk, by (5.7)")),
            Step("<=", 2 * (2 * D_h / k**d + basis_sum * grid_error), because=Premise(
                "as all mixed derivatives are bounded, the error in p variables is (1+D/k^p)^p - 1 at most, D = D_p/p,"
                " and that is 2pD/k^p or the risk, at most 1, is less than this bound")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {h: d})),
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit", {gamma: exp(-x_tail)})),
            Step("<=", bias_and_noise,
                 because=Premise("2^p-1 ≤ 2^p, k+1 ≤ 2k, and the logarithms of Lemma 5.1.13")),
            Step("<=", 40 * STATEMENT, because=enough_for_both),
        )
    ],
)

equation5 = Claim(
    id="dwang20.equation5.5", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.5), first term", line=4870),
    says="Users for (∞, T)-smooth losses, h = p; D_h is D_p here.",
    assumes=[*all_orders, no_logs],
    states=Rate(users_needed, 4 ** (d * (d + 1)) * x_tail * D_h**2 * d * eps**-2 * target_error**-4),
    ignores_units=True,
    checks=[
        Equals(
            lambda: solved(whole_risk * x_tail ** -Rational(3, 4), d),
            "the risk of Corollary 5.1.2, with log(1/β) to the power 1/4 as in (5.3), is α at this n",
        )
    ],
    cites=[Cites("dwang20.corollary5.1.2", granted="n is what (5.5) says")],
)
