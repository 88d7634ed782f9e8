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
    corollary2,
    enough_for_both,
    grid_error,
    h,
    k,
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
group_log = log(4 * all_points) + x_tail  # two events of each group share β = e^-x

theorem4 = Claim(
    id="dwang20.theorem5.1.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.4, second sentence", line=4918),
    says="The excess risk of Corollary 5.1.2, from one bit of each user; D_h is D_p here, and √log k is what Õ hides.",
    assumes=[*all_orders, eps <= log(2), Setting("n ≥ 8(k+1)^p log(8(k+1)^p/β)")],
    added=[
        *corollary2.added,
        Setting("bits that are ε-private, as theorem5.1.4.plain says, and the mean of what those of a group estimate"),
    ],
    states=Rate(likely_excess_risk, corollary2.formula),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (2 * D_h / k**d + basis_sum * grid_error), because=Premise("as for Corollary 5.1.2")),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {h: d})),
            Step("<=", 4 * D_h / k**d + 6 * (2**d - 1) ** d * sqrt(all_points * group_log / n) / eps, because=Premise(
                "Hoeffding for the bits of n/(2(k+1)^p) users of a group, of scale 2.1/ε at most, and who they are")),
            Step("<=", bias_and_noise, because=Premise(
                "(k+1)^(p/2) ≤ (2k)^p, 2^p-1 ≤ 2^p, log(4(k+1)^p) + x ≤ 7 p x log k")),
            Step("<=", 40 * STATEMENT, because=enough_for_both),
        )
    ],
)
