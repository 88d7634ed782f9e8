"""The local Bernstein mechanism (dwang20, section 5.1.3, Algorithm 5.1.31; proofs in 5.1.6).

Every user reports her loss at all (k+1)^p points of a grid of [0, 1]^p with Laplace noise; the server makes of the
averages the iterated Bernstein polynomial of order h and minimises it. The document's p is d here, and x is log(1/β).
Solver: dpcheck/solvers/local/local_bernstein.py.
"""

from typing import Any

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

from dpcheck.bounds.language.claim import LOGS_FREE, Check, Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, eps, gamma, likely_excess_risk, n, quantity, sigma, x_tail
from dpcheck.bounds.library.local.ldp_avg_1d import average_error, b
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant

k = quantity("grid_k", "cells of the grid along an axis", box=(1, 1e2), integer=True, printed="k", latex="k")
h = quantity("bernstein_h", "order of the operator, or of smoothness", box=(1, 8), integer=True, printed="h", latex="h")
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
smooth_on_axis, smooth_f = Setting("f is (2h, T)-smooth on [0, 1]"), Setting("f is (2h, T)-smooth on [0, 1]^p")
large_D_h = Setting("D_h is (5/2)^h (h!)² or more; printed is that there is a constant")
bent = Setting("T bounds the second derivative of f on [0, 1]")

lemma2 = Claim(
    id="dwang20.lemma5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2", line=4752),
    says="The iterated Bernstein polynomial of a (2h, T)-smooth function of one variable errs by T D_h/k^h.",
    assumes=[smooth_on_axis],
    added=[large_D_h],
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
                " r/(2k) at most on average and (1+r²)/(4k) in mean square; r = 2h at the next step"),
                uses=[smooth_on_axis]),
            Step("<=", smooth_T * D_h / k**h, because=Premise("what is assumed of D_h"), uses=[large_D_h]),
            Step("=", STATEMENT),
        )
    ],
)

lemma2_first = Claim(
    id="dwang20.lemma5.1.2.first_order", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.2, h = 1", line=4752),
    says="For h = 1 the constant is 1/8, attained by x²/2.",
    assumes=[bent],
    states=Le(on_axis, smooth_T / (8 * k)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            on_axis,
            Step("<=", smooth_T / 2 * place * (1 - place) / k, because=Premise(
                "Taylor at x: at most T/2 times the variance x(1-x)/k of a binomial share; equality for x²/2"),
                uses=[bent]),
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
            Step("<=", d * (2**h - 1) ** (d - 1) * smooth_T * D_h / k**h, because=Premise("Lemma 5.1.2 on an axis"),
                 uses=[smooth_f]),
            Step("=", STATEMENT),
        )
    ],
    cites=[Cites("dwang20.lemma5.1.2", granted="f is as smooth along every axis")],
)

# Error ---------------------------------------------------------------------------------------------
reported = Setting("losses are reported as in Algorithm 5.1.31")
all_points = (k + 1) ** d
L_all = log(2 * all_points / gamma)

lemma13_explicit = Claim(
    id="dwang20.lemma5.1.13.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Lemma 5.1.13", line=5289),
    says="All averages at once: one at β/(k+1)^p and ε/(k+1)^p.",
    assumes=[reported],
    states=Le(grid_error, 2 * all_points * sqrt(L_all) / (sqrt(n) * eps) + all_points * L_all / (n * eps)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            grid_error,
            Step("<=", average_error, because=Premise("(k+1)^p points share β and ε, and losses are at most 1"),
                 uses=[reported]),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.1.corrected", {gamma: gamma / all_points, eps: eps / all_points, b: Integer(1)},
                granted="a loss is a number in [0, 1]")),
            Step("=", STATEMENT),
        )
    ],
)

users_for_all, two_cells, enough_tail = n >= d * log(2 / gamma) * log(k + 1), k >= 2, x_tail >= log(2)

lemma13 = Claim(
    id="dwang20.lemma5.1.13", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.13", line=5283),
    says="With probability 1-β every grid point's average errs by O(√log(1/β) √(p log k) (k+1)^p/(√n ε)).",
    assumes=[users_for_all, *lemma13_explicit.assumes],
    added=[two_cells, gamma <= Rational(1, 2)],
    states=Rate(grid_error, sqrt(log(1 / gamma)) * sqrt(d) * sqrt(log(k)) * all_points / (sqrt(n) * eps)),
    ignores_units=True,
    checks=[
        Chain(
            grid_error,
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit")),
            Step("<=", 4 * all_points * sqrt(L_all) / (sqrt(n) * eps), because=Premise(
                "log(2(k+1)^p/β) ≤ 3n, as it is at most 3p log(2/β) log(k+1)"), uses=[users_for_all, two_cells]),
            Step("<=", 10 * all_points * sqrt(d * log(k) * log(1 / gamma)) / (sqrt(n) * eps), because=Premise(
                "log(2(k+1)^p/β) ≤ 6 p log k log(1/β) for k ≥ 2 and β ≤ 1/2"),
                uses=[two_cells, gamma <= Rational(1, 2)]),
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


MINIMISED = Premise("w_priv minimises a function that is so close to the risk, by (5.7)")
right_power = d ** ((h + 2 * d) / (2 * (h + d)))
enough_users = Ge(n, x_tail * 4 ** (d * (h + 1)) / (eps**2 * D_h**2))


def users_at(cells: Expr, order: Expr = h) -> Expr:
    """The n for which Theorem 5.1.2 sets k to this."""
    return (cells ** (order + d) * 2 ** ((order + 1) * d) * sqrt(x_tail) / (D_h * sqrt(d) * eps)) ** 2


# What the mechanism does on all records alike, for h = 2 and h = 4, where p is large and k at most e^(p/100).
LURE = (
    "ℓ = 1/2 + mean wᵢ(1-wᵢ) - k^-h/4 · Π φ(2√k(wᵢ-½)), φ(t) = (64-t⁶)/(64+t⁶), has values in [0, 1] and derivatives up"
    " to order 2h that grow neither with k nor with p; its polynomial has a factor of 1.07 or more for each φ at"
    " w = (½, ..., ½), and nowhere a larger one: 1.07^p k^-h is more than the rest and the noise together, and what is"
    " released lies there and loses 1/10 or more"
)
lured = {d: big, x_tail: Integer(1), eps: Integer(1), D_h: Integer(1)}
lured_cells = exp(d / 100)

theorem2 = Claim(
    id="dwang20.theorem5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="Excess empirical risk of the local Bernstein mechanism, where D_h depends on h alone.",
    assumes=[smooth_losses, Setting("k as in Theorem 5.1.2"), enough_users, LOGS_FREE],
    states=Rate(likely_excess_risk, excess(d ** (d / (2 * (h + d))))),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 10),
            {**lured, h: Integer(2), n: users_at(lured_cells, Integer(2)).subs(lured)}, big,
            f"h = 2, k = e^(p/100): {LURE}",
            at=1e3,
        )
    ],
    cites=[Cites("dwang20.lemma5.1.3", granted="the risk is as smooth as the losses")],
)

theorem2_corrected = Claim(
    id="dwang20.theorem5.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.2, (5.3)", line=4844),
    says="At that k: a root of p more, and (2^h-1)^(p-1) for what is approximated, √log k for the noise.",
    assumes=[smooth_losses, *lemma13_explicit.assumes],
    added=[many_users, Eq(n, users_at(k)), two_cells, enough_tail],
    states=Rate(likely_excess_risk, excess(right_power) * ((2**h - 1) ** (d - 1) + sqrt(log(k)))),
    corrects="dwang20.theorem5.1.2",
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (approximation + basis_sum * grid_error), because=MINIMISED),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.3.corrected", {smooth_T: Integer(1)}, granted="the risk is as smooth as the losses")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis")),
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit", {gamma: exp(-x_tail)})),
            Step("<=", 2 * (d * (2**h - 1) ** (d - 1) * D_h / k**h
                            + 10 * 2 ** ((h + 1) * d) * k**d * sqrt(x_tail * d * log(k)) / (sqrt(n) * eps)),
                 because=Premise("2^h-1 ≤ 2^h, k+1 ≤ 2k, and the logarithms of Lemma 5.1.13"),
                 uses=[smooth_losses, many_users, two_cells, enough_tail]),
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


FEWER = "with fewer users k is less than e^(p/100), and the excess risk above α"
small = {**lured, target_error: Rational(1, 40)}


def set_up(order: str) -> list[Setting]:
    """What all say how many users are needed."""
    return [smooth_losses, Setting(f"k as in Theorem 5.1.2{order}"), LOGS_FREE]


def users_of(name: str, place: str, line: int, says: str, order: str, needed: Expr, check: Check, **more: Any) -> Claim:
    """How many users make the excess risk at most α."""
    return Claim(
        id=f"dwang20.{name}", kind=Kind.UTILITY, source=Source("dwang20", place, line=line), says=says,
        assumes=set_up(order),
        states=Rate(users_needed, x_tail * eps**-2 * target_error**-2 * needed),
        ignores_units=True, checks=[check], **more,
    )


of_all_axes = D_h ** (2 * d / h) * 4 ** ((h + 1) * d) * target_error ** (-2 * d / h)

equation4 = users_of(
    "equation5.4", "(5.4)", 4854, "Users that make the excess risk at most α.", "",
    of_all_axes * d ** (d / h),
    NoConstant(users_at(lured_cells), {**small, h: Integer(2)}, big, f"h = 2: {FEWER}; {LURE}", at=1e3),
    cites=[Cites("dwang20.theorem5.1.2")],
)

equation4_corrected = users_of(
    "equation5.4.corrected", "(5.4)", 4854,
    "With the powers of p and 2^h-1 that Theorem 5.1.2 has when its proof is followed.", "",
    of_all_axes * d ** (1 + 2 * d / h) * (2**h - 1) ** (2 * (d - 1) * (h + d) / h),
    Equals(
        lambda: solved(excess(right_power) * (2**h - 1) ** (d - 1), h),
        "the risk of theorem5.1.2.corrected, √log k aside, is α at this n",
        uses=set_up(""),
    ),
    corrects="dwang20.equation5.4",
)

corollary1 = users_of(
    "corollary5.1.1", "Corollary 5.1.1", 4860, "Users for (8, T)-smooth losses, h = 4; D_h is D_4 here.", " with h = 4",
    target_error ** (-d / 2) * (4**5 * sqrt(D_h) * d ** Rational(1, 4)) ** d,
    NoConstant(
        users_at(lured_cells, Integer(4)), small, big,
        f"whatever D_4 is, e^(p²/50) outgrows its powers: {FEWER}; {LURE}", at=1e3,
    ),
    cites=[Cites("dwang20.theorem5.1.2")],
)

corollary1_corrected = users_of(
    "corollary5.1.1.corrected", "Corollary 5.1.1", 4860,
    "With the powers of p and 15 that (5.4) has when the proof is followed.", " with h = 4",
    target_error ** (-d / 2) * (4**5 * sqrt(D_h * d)) ** d * d * 15 ** ((d - 1) * (4 + d) / 2),
    Equals(
        lambda: equation4_corrected.formula.subs(h, 4), "equation5.4.corrected at h = 4", uses=set_up(" with h = 4")
    ),
    corrects="dwang20.corollary5.1.1",
)

# h = p ---------------------------------------------------------------------------------------------
all_orders = [Setting("ℓ(·; x) is (∞, T)-smooth with values in [0, 1], T = O(1)")]
some_D_p = Setting("D_p is p times a constant of Lemma 5.1.2, which only says that there is one")
whole_risk = x_tail * sqrt(D_h) * d ** Rational(1, 4) * sqrt(2) ** ((d + 1) * d) / (n ** Rational(1, 4) * sqrt(eps))
both_risks = 20 * whole_risk * x_tail ** -Rational(3, 4) * (1 + sqrt(log(k)))  # (5.3) has x^(1/4)
# 4 D_p/k^p for what is approximated and 20 √log k D_p/k^p for the noise, at this k
enough_for_both = Slack(seen=[16 * D_h / k**d])
enough_at_any_x = Slack({
    "x ≥ log 2": (30 - 20 * x_tail ** -Rational(3, 4)) * whole_risk * (1 + sqrt(log(k))),
    "k ≥ 2": (40 * sqrt(log(k)) - 30) * whole_risk,
})
bias_and_noise = 4 * D_h / k**d + 20 * 2 ** ((d + 1) * d) * k**d * sqrt(x_tail * d * log(k)) / (sqrt(n) * eps)

corollary2_explicit = Claim(
    id="dwang20.corollary5.1.2.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.3) at h = p, for (∞, T)-smooth losses", line=4866),
    says="Excess risk for (∞, T)-smooth losses, h = p, with a number and log(1/β) to the power 1/4; D_h is D_p here.",
    assumes=[*all_orders, *lemma13_explicit.assumes],
    # k with D_p/p in the place of D_p: p^(-1/(2p)), between 0.83 and 1, times the printed one
    added=[some_D_p, many_users, Eq(n, users_at(k, d).subs(D_h, D_h / d)), two_cells, enough_tail],
    states=Le(likely_excess_risk, both_risks),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (approximation + basis_sum * grid_error), because=MINIMISED),
            Step("<=", 2 * (2 * D_h / k**d + basis_sum * grid_error), because=Premise(
                "as all mixed derivatives are bounded, the error in p variables is (1+D/k^p)^p - 1 at most, D = D_p/p,"
                " and that is 2pD/k^p or the risk, at most 1, is less than this bound"), uses=[*all_orders, some_D_p]),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {h: d})),
            Step("<=", because=Cites("dwang20.lemma5.1.13.explicit", {gamma: exp(-x_tail)})),
            Step("<=", bias_and_noise,
                 because=Premise("2^p-1 ≤ 2^p, k+1 ≤ 2k, and the logarithms of Lemma 5.1.13"),
                 uses=[many_users, two_cells, enough_tail]),
            Step("<=", STATEMENT, because=enough_for_both),
        )
    ],
)

corollary2 = Claim(
    id="dwang20.corollary5.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Corollary 5.1.2", line=4866),
    says="Excess risk for (∞, T)-smooth losses, h = p; D_h is D_p here, and √log k is what Õ hides.",
    assumes=corollary2_explicit.assumes,
    added=corollary2_explicit.added,
    states=Rate(likely_excess_risk, whole_risk * sqrt(log(k))),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", because=Cites("dwang20.corollary5.1.2.explicit")),
            Step("<=", 70 * STATEMENT, because=enough_at_any_x),
        )
    ],
)

equation5 = Claim(
    id="dwang20.equation5.5", kind=Kind.UTILITY,
    source=Source("dwang20", "(5.5), first term", line=4870),
    says="Users for (∞, T)-smooth losses, h = p; D_h is D_p here.",
    assumes=[*all_orders, LOGS_FREE],
    added=[some_D_p],
    states=Rate(users_needed, 4 ** (d * (d + 1)) * x_tail * D_h**2 * d * eps**-2 * target_error**-4),
    ignores_units=True,
    checks=[
        Equals(
            lambda: solved(whole_risk * x_tail ** -Rational(3, 4), d),
            "the risk of corollary5.1.2.explicit, √log k aside, is α at this n",
            uses=[*all_orders, LOGS_FREE, some_D_p],
        )
    ],
    cites=[Cites("dwang20.corollary5.1.2.explicit", granted="n is what (5.5) says")],
)
