"""The local Bernstein mechanism with O(log log n) bits of each user (dwang20, Algorithm 5.1.37, Theorem 5.1.12).

Everybody sees T draws y_t ~ Laplace(1/ε) for each user; she keeps each with probability ½·f_v(y_t)/f_0(y_t) and sends
the place of one that she kept, of any if she kept none.
"""

from sympy import Eq, Integer, Le, Rational

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import eps, eps_out, n
from dpcheck.bounds.library.local.local_bernstein_1bit import weight
from dpcheck.bounds.proving.proofs import Equals

messages = [Setting("y_1, ..., y_T ~ Laplace(1/ε) are public, T ≥ 1")]

theorem12_privacy = Claim(
    id="dwang20.theorem5.1.12.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.12", line=5557),
    says="The place that a user sends is 10ε-private for ε at most 1/4.",
    assumes=[eps <= Rational(1, 4), *messages],
    states=Le(eps_out, 10 * eps),
    guarantee=PureDP(eps_out, relation=LOCAL),
)

theorem12_tight = Claim(
    id="dwang20.theorem5.1.12.tight", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.12", line=5557),
    says="It is 2ε-private, and no better for large T.",
    assumes=[eps <= Rational(1, 4), *messages],
    states=Le(eps_out, 2 * eps),
    guarantee=PureDP(eps_out, relation=LOCAL),
    provenance=Provenance.CONSEQUENCE,
)

BECAUSE = "given the place g, y_g is v + Laplace but for the chance 2^-T that none is kept: the mean of y_g is v"

server = Claim(
    id="dwang20.algorithm5.1.37.server", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.37, line 17", line=5583),
    says="The server's value of a grid point is n times the mean over its group; printed is the mean of the places g.",
    assumes=[Setting("it is to estimate the mean loss of the group, and y_g is averaged")],
    states=Eq(weight, n),
    checks=[Equals(Integer(1), BECAUSE)],
)

server_corrected = Claim(
    id="dwang20.algorithm5.1.37.server.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.37, line 17", line=5583),
    says="The mean of y_g over the group.",
    assumes=[Setting("it is to estimate the mean loss of the group, and y_g is averaged")],
    states=Eq(weight, 1),
    corrects="dwang20.algorithm5.1.37.server",
    checks=[Equals(Integer(1), BECAUSE)],
)
