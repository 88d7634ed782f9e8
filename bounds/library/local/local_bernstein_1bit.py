"""The local Bernstein mechanism with one bit of each user (dwang20, Algorithm 5.1.32, Theorem 5.1.4).

Everybody sees y ~ Laplace(1/ε) for each user; she keeps it with probability ½·f_v(y)/f_0(y), where v in [0, 1] is her
loss at the grid point of her group and f_v the density of v + Laplace(1/ε). A bit that says "not kept" leaks more
than ε. Solver, with plain randomised response in its place: dpcheck/solvers/local/local_bernstein_1bit.py.
"""

from sympy import Eq, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import d, eps, likely_excess_risk, n, sigma, x_tail
from dpcheck.bounds.library.local.local_bernstein import (
    D_h,
    all_orders,
    all_points,
    basis_sum,
    bias_and_noise,
    both_risks,
    corollary2,
    enough_at_any_x,
    enough_for_both,
    enough_tail,
    grid_error,
    h,
    k,
    many_users,
    some_D_p,
    two_cells,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import OneBit
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

# Privacy -------------------------------------------------------------------------------------------
# Given y ≥ 1 the bit is 1 with probability e^(v/σ)/2: v = 0 and v = 1 give "not kept" 1/2 and 1 - e^(1/σ)/2.
not_kept = -log(2 - exp(1 / sigma))
BECAUSE = "users with v = 0 and v = 1 where y ≥ 1: the bit 0 has probabilities 1/2 and 1-e^(1/σ)/2"

theorem4_privacy = Claim(
    id="dwang20.theorem5.1.4.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.4 with lines 4 and 9 of Algorithm 5.1.32", line=4918),
    says="Bits that keep y ~ Laplace(1/ε) are ε-private for ε at most ln 2.",
    assumes=[eps <= log(2)],
    states=Eq(sigma, 1 / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[AtMost(not_kept, BECAUSE, against=eps)],
)

theorem4_privacy_corrected = Claim(
    id="dwang20.theorem5.1.4.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.4 with lines 4 and 9 of Algorithm 5.1.32", line=4918),
    says="With y ~ Laplace(1/ln(2-e^-ε)) they are ε-private, for any ε.",
    states=Eq(sigma, 1 / log(2 - exp(-eps))),
    guarantee=PureDP(eps, relation=LOCAL),
    corrects="dwang20.theorem5.1.4.privacy",
    ignores_units=True,
    checks=[
        AtMost(
            exp(1 / sigma),
            f"{BECAUSE}; their ratio is e^ε at most if e^(1/σ) ≤ 2-e^-ε; others leak less, as e^x+e^-x ≥ 2",
            against=2 - exp(-eps),
        )
    ],
)

# What a user may report instead, with less noise: a bit of her own loss.
released = Release(2, OneBit(sigma), relation=LOCAL)  # 2v-1 in [-1, 1]

plain_bits = Claim(
    id="dwang20.theorem5.1.4.plain", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.4"),
    says="Randomised response of 2v-1 with scale (e^ε+1)/(e^ε-1) is ε-private for any ε, and needs no public numbers.",
    states=Eq(sigma, (exp(eps) + 1) / (exp(eps) - 1)),
    guarantee=PureDP(eps, relation=LOCAL),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[Accountant(released, "users at v = 0 and v = 1")],
)

# Utility -------------------------------------------------------------------------------------------
full_groups = Setting("n ≥ 8(k+1)^p log(8(k+1)^p/β)")
group_log = log(2 * all_points) + x_tail  # each of four events of all groups has β = e^-x

theorem4 = Claim(
    id="dwang20.theorem5.1.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.4, second sentence", line=4918),
    says="The excess risk of Corollary 5.1.2, from one bit of each user; D_h is D_p here, and √log k is what Õ hides.",
    assumes=[*all_orders, eps <= log(2), full_groups],
    added=[h for h in corollary2.added if h != many_users],
    states=Rate(likely_excess_risk, corollary2.formula),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (2 * D_h / k**d + basis_sum * grid_error), because=Premise(
                "as for Corollary 5.1.2: v_ℓ is n/2 times an estimate of the loss, which moves no minimiser"),
                uses=[*all_orders, some_D_p]),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {h: d})),
            Step("<=", 4 * D_h / k**d + 19 * (2**d - 1) ** d * sqrt(all_points * group_log / n) / eps, because=Premise(
                "2z̃ is 2B(v + Laplace(1/ε)) with a fair coin B: lemma5.1.1.corrected for the noise of n/(2(k+1)^p) or"
                " more users of a group, Hoeffding for their coins and who they are"),
                uses=[full_groups, eps <= log(2)]),
            Step("<=", bias_and_noise, because=Premise(
                "(k+1)^(p/2) ≤ 0.44·(2k)^p, 2^p-1 ≤ 2^p, log(2(k+1)^p) + x ≤ 5.2 p x log k"),
                uses=[two_cells, enough_tail]),
            Step("<=", both_risks, because=enough_for_both),
            Step("<=", 70 * STATEMENT, because=enough_at_any_x),
        )
    ],
)
