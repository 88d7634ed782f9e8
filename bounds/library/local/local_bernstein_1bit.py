"""The local Bernstein mechanism with one bit of each user (dwang20, Algorithm 5.1.32, Theorem 5.1.4).

Everybody sees y ~ Laplace(1/ε) for each user; she keeps it with probability ½·f_v(y)/f_0(y), where v in [0, 1] is her
loss at the grid point of her group and f_v the density of v + Laplace(1/ε). A bit that says "not kept" leaks more
than ε. Solver, with plain randomised response in its place: dpcheck/solvers/local/local_bernstein_1bit.py.
"""

from sympy import Eq, Integer, exp, log

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import eps, n, quantity, sigma
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import OneBit
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost, Equals

weight = quantity("bit_weight", "factor of the mean of a group's kept y", box=(1, 1e6), printed="weight")

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
    checks=[AtMost(not_kept, BECAUSE + "; of all pairs and y the worst, as e^x + e^-x ≥ 2", against=eps)],
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

# The server ----------------------------------------------------------------------------------------
server = Claim(
    id="dwang20.algorithm5.1.32.server", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.32, line 17", line=4948),
    says="The server's value of a grid point is n times the mean of its group's kept y.",
    assumes=[Setting("it is to estimate the mean loss of the group")],
    states=Eq(weight, n),
    misprint_of="dwang20.theorem5.1.4.sampling",
    checks=[Equals(Integer(2), "half of the users keep y, and those who do keep v + Laplace: E[y·b] = v/2")],
)

sampling = Claim(
    id="dwang20.theorem5.1.4.sampling", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.4: Avg(S), with half of the users in S", line=5339),
    says="The mean over the half that is kept: twice the mean of the kept y.",
    assumes=[Setting("it is to estimate the mean loss of the group")],
    states=Eq(weight, 2),
    checks=[Equals(Integer(2), "half of the users keep y, and those who do keep v + Laplace: E[y·b] = v/2")],
)

server_corrected = Claim(
    id="dwang20.algorithm5.1.32.server.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.32, line 17", line=4948),
    says="It takes twice the mean of the kept y.",
    assumes=[Setting("it is to estimate the mean loss of the group")],
    states=Eq(weight, 2),
    corrects="dwang20.algorithm5.1.32.server",
    checks=[Equals(Integer(2), "half of the users keep y, and those who do keep v + Laplace: E[y·b] = v/2")],
)
