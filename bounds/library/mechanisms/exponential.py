"""The exponential mechanism (dwang20, Definition 2.1.4 and Lemma 2.1.3).

An element r is drawn with probability proportional to exp(ε·u(D, r)/(2Δ)): the largest score after Gumbel noise of
scale 2Δ/ε. Solver: dpcheck/solvers/mechanisms/exponential.py.
"""

from sympy import Eq, Le, exp, log

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import eps, quantity, x_tail
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

Delta_u = quantity("Delta_u", "largest change of a score between neighbours", loss=1, printed="Δu", latex=r"\Delta u")
gumbel = quantity("gumbel", "scale of the Gumbel noise on each score", loss=1, printed="s", latex="s")
candidates = quantity(
    "candidates", "number of elements to choose from", box=(1, 1e6), integer=True, printed="|R|", latex=r"|\mathcal{R}|"
)
missed = quantity(
    "missed", "probability that the chosen score falls short", printed="P(shortfall)", latex=r"P(\mathrm{shortfall})"
)
released = Release(Delta_u, Selected(gumbel))
shortfall = 2 * Delta_u / eps * (log(candidates) + x_tail)  # of Lemma 2.1.3

definition4 = Claim(
    id="dwang20.definition2.1.4",
    source=Source("dwang20", "Definition 2.1.4", line=382),
    kind=Kind.PRIVACY,
    says="Drawing r with probability proportional to exp(εu(D, r)/(2Δu)) is ε-private.",
    states=Eq(gumbel, 2 * Delta_u / eps),
    guarantee=PureDP(eps),
    checks=[
        AtMost(
            2 * Delta_u / gumbel,
            "the weight of r and the sum of all weights each change by a factor of at most e^(Δu/s)",
            against=eps,
        )
    ],
)

lemma3 = Claim(
    id="dwang20.lemma2.1.3",
    source=Source("dwang20", "Lemma 2.1.3", line=384),
    kind=Kind.UTILITY,
    says="The chosen score lies 2Δu/ε·(ln|R| + t) or more below the best with probability at most e^-t (x for t).",
    states=Le(missed, exp(-x_tail)),
    checks=[
        Chain(
            missed,
            Step(
                "<=",
                (candidates - 1) * exp(-eps / (2 * Delta_u) * shortfall),
                because=Premise("an element that far below the best weighs so much of it; there are at most |R|-1"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)
