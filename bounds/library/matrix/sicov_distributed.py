"""Wishart noise made by n players, a rank of it each (dwang20, section 6.3.5, Algorithm 6.3.52).

Player i sends xxᵀ/n + vvᵀ, v ~ N(0, cI); a server adds m - n further outer products and lets out the sum. Of it
everybody sees a matrix with noise of m degrees of freedom, of which t players who take their own off leave m - t; the
server itself sees messages with one. Solver: dpcheck/solvers/matrix/sicov_distributed.py.
"""

from sympy import Eq, Le, log

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.library.matrix.graphical_lasso import degrees, row, scale, traced, unit
from dpcheck.bounds.library.matrix.sicov_cov_wishart_approx import MOVED, enough
from dpcheck.bounds.library.matrix.sicov_cov_wishart_pure import ADDED
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Step

colluding = quantity(
    "colluding", "players who take their own noise off", box=(1, 1e4), integer=True, printed="t", latex="t"
)
of_sum = Release(1 / n, Wishart(scale, degrees, d))
of_coalition = Release(1 / n, Wishart(scale, degrees - colluding, d))
of_message = Release(1 / n, Wishart(scale, 1, d))
trusted = Setting("the server is trusted, and lets out the sum alone")
shared = Setting("the noise of the sum is W_d(m, cI): a sum of m independent outer products")
SHARED = "a sum of m independent outer products is W_d(m, cI)"

of_sum_sensitivity = Claim(
    id="dwang20.algorithm6.3.52.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 6.3.52: what its noise must hide", line=8797),
    says="What a player's record adds to the sum, and what it takes from it, have traces of at most 1/n.",
    assumes=[unit, row <= 1],
    states=Le(traced, 1 / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[Chain(traced, Step("<=", because=Cites("dwang20.theorem6.3.4.sensitivity")), Step("<=", STATEMENT))],
)

approx = Claim(
    id="dwang20.algorithm6.3.52.approx", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 6.3.52, “(ε, δ)-differentially private”, C and m of Theorem 6.3.6", line=8793),
    says="The sum of the players' messages and of m - n outer products of the server is (ε, δ)-private.",
    assumes=[eps < 1, delta < 1 / eps, n < d, Eq(degrees, enough), unit],
    added=[trusted, shared],
    states=Eq(scale, 1 / n),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[Chain(Cites("dwang20.theorem6.3.6.privacy"), Step("<=", STATEMENT, uses=[trusted, shared]))],
)

pure = Claim(
    id="dwang20.algorithm6.3.52.pure", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 6.3.52, “or ε-differentially private”, C and m of Theorem 6.3.4", line=8793),
    says="With c = 3/(2εn) and m = d + 1 the sum is ε-private.",
    assumes=[unit, n < d, Eq(degrees, d + 1)],
    states=Eq(scale, 3 / (2 * eps * n)),
    guarantee=PureDP(eps),
    ignores_units=True,
    checks=[Accountant(of_sum, f"{SHARED}; {ADDED}")],
)

pure_corrected = Claim(
    id="dwang20.algorithm6.3.52.pure.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 6.3.52, “or ε-differentially private”", line=8793),
    says="The sum is (ε, δ)-private, at every ε, with c = 1/(2n log(1/(1-δ))) and m = d + 1.",
    assumes=[unit, n < d, Eq(degrees, d + 1)],
    added=[trusted],
    states=Eq(scale, 1 / (2 * n * log(1 / (1 - delta)))),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.algorithm6.3.52.pure",
    ignores_units=True,
    checks=[Accountant(of_sum, f"{SHARED}; {ADDED}")],
)

server = Claim(
    id="dwang20.algorithm6.3.52.server", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 6.3.52, line 3, against the server; the text is silent", line=8805),
    says="A player's message, with noise of the scale of Theorem 6.3.6, is (ε, δ)-private as the server sees it.",
    assumes=[eps < 1, unit, d >= 2],
    states=Eq(scale, 1 / n),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[Accountant(of_message, "a message less xxᵀ/n has rank one for the player's own x, and hardly any other")],
)

coalition = Claim(
    id="dwang20.algorithm6.3.52.coalition", kind=Kind.PRIVACY,
    source=Source("dwang20", "Algorithm 6.3.52, against t players; the text is silent", line=8793),
    says="With m = d + t + 14/ε²·ln(4/δ) the sum is (ε, δ)-private against any t players too.",
    assumes=[eps < 1, delta < 1 / eps, Eq(degrees, enough + colluding), unit],
    added=[trusted],
    states=Eq(scale, 1 / n),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[Accountant(of_coalition, f"t players take theirs off: m - t degrees are left; {MOVED}")],
)
