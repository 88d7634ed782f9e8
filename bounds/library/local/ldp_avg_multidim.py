"""The average of vectors, one coordinate of each user (dwang20, section 5.1.3, Lemma 5.1.6, after Nissim and Stemmer).

Public coins put the users into p groups of equal size; a user of group j sends her j-th number with Laplace noise.
Solver: dpcheck/solvers/local/ldp_avg_multidim.py.
"""

from dataclasses import replace

from sympy import Eq, Ge, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.local.ldp_avg_1d import b
from dpcheck.bounds.library.local.ldp_avg_1d import released as one_number
from dpcheck.bounds.privacy.laws import Coins
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

max_error = quantity(
    "max_error",
    "largest distance of a coordinate of the server's average from that of the users' vectors",
    parameter=1,
    printed="max |a_j - v̄_j|",
    latex=r"\max_j|a_j-\bar v_j|",
    holds=LIKELY,
)

released = replace(one_number, coins=Coins.PUBLIC)

privacy = Claim(
    id="dwang20.lemma5.1.6.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 5.1.6, by the protocol that it quotes", line=4902),
    says="One coordinate in [0, b], which the user does not choose, with Laplace noise of scale b/ε, is ε-private.",
    states=Eq(sigma, b / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    provenance=Provenance.READING,
    checks=[AtMost(b / sigma, "given the group, log densities of scale σ differ by at most |v_j-v'_j|/σ", against=eps)],
)

# A group has n/(2p) users or more; L = log(4p/γ) is for two events of each group.
L, L_3 = log(4 * d / gamma), 3 * log(d / gamma)
in_box = Setting("every user holds a vector in [0, b]ᵖ")
enough = [Ge(n, 8 * d * log(8 * d / gamma)), Ge(sqrt(n), 12 / eps * sqrt(log(32 / gamma)))]

lemma6 = Claim(
    id="dwang20.lemma5.1.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.6", line=4902),
    says="There is an ε-local protocol of O(1) work for a user whose averages are all within O(bp√log(p/γ)/(√n ε)).",
    assumes=[*enough, in_box],
    added=[eps <= 1, gamma <= Rational(1, 2)],
    states=Rate(max_error, b * d / (sqrt(n) * eps) * sqrt(log(d / gamma))),
    checks=[
        Chain(
            max_error,
            Step(
                "<=",
                b / eps * (2 * sqrt(2 * d * L / n) + 2 * d * L / n) + b * sqrt(d * L / n),
                because=Premise(
                    "lemma5.1.1.corrected for the noise of a group of n/(2p) users, Hoeffding for who is in it, "
                    "with γ/(2p) for each"
                ),
                uses=[in_box],
            ),
            Step(
                "<=",
                b / eps * Rational(5, 2) * sqrt(2 * d * L / n) + b * sqrt(d * L / n),
                because=Premise("2pL/n ≤ 1/4, as n ≥ 8p log(8p/γ)"),
            ),
            Step(
                "<=",
                b / eps * Rational(5, 2) * sqrt(2 * d * L_3 / n) + b * sqrt(d * L_3 / n),
                because=Premise("4p/γ ≤ (p/γ)³, as γ ≤ 1/2"),
            ),
            Step("<=", 8 * STATEMENT),
        )
    ],
)
