"""The exponential mechanism (dwang20, Definition 2.1.4 and Lemma 2.1.3).

An element r is drawn with probability proportional to exp(ε·u(D, r)/(2Δ)): the largest score after Gumbel noise of
scale 2Δ/ε. Solver: dpcheck/solvers/mechanisms/exponential.py.
"""

from sympy import Eq, Le, Symbol, exp, limit, log, oo

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import eps, quantity, x_tail
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

Delta_u = quantity("Delta_u", "largest change of a score between neighbours", loss=1, printed="Δu", latex=r"\Delta u")
gumbel = quantity("gumbel", "scale of the Gumbel noise on each score", loss=1, printed="s", latex="s")
candidates = quantity(
    "candidates", "number of elements to choose from", box=(1, 1e6), integer=True, printed="|R|", latex=r"|\mathcal{R}|"
)
shortfall = quantity(
    "shortfall", "how far the chosen score may lie below the best", loss=1, printed="OPT-u", latex=r"OPT_u-u"
)
missed = quantity(
    "missed", "probability that the chosen score falls short", printed="P(shortfall)", latex=r"P(\mathrm{shortfall})"
)
_more, _gap = Symbol("more", nonnegative=True), Symbol("gap", positive=True)
stated_scale = 2 * Delta_u / eps
released = Release(Delta_u, Selected(gumbel))
# An element's score rises by Δ and all others' fall by Δ; it lies `gap` (in units of 2Δ/ε) below them before.
_before = exp(-_gap) / (exp(-_gap) + 1)
_after = exp(eps / 2 - _gap) / (exp(eps / 2 - _gap) + exp(-eps / 2))

definition4 = Claim(
    id="dwang20.definition2.1.4",
    source=Source("dwang20", "Definition 2.1.4"),
    kind=Kind.PRIVACY,
    says="Drawing r with probability proportional to exp(εu(D, r)/(2Δu)) is ε-private.",
    states=Eq(gumbel, stated_scale),
    guarantee=PureDP(eps),
    checks=[
        AtMost(
            Delta_u / stated_scale + Delta_u / stated_scale,
            "the weight of r and the sum of all weights each change by a factor of at most e^(Δu/s)",
            against=eps,
        ),
        Proof(
            [
                Same(
                    "an unlikely r whose score rises by Δu while all others fall: the ratio tends to e^ε",
                    limit(_after / _before, _gap, oo),
                    exp(eps),
                )
            ],
            "no smaller scale would do: e^ε is approached",
        ),
    ],
)

_worst = (candidates - 1) * exp(-x_tail) / candidates  # all others at the threshold: their weights over the best one's

lemma3 = Claim(
    id="dwang20.lemma2.1.3",
    source=Source("dwang20", "Lemma 2.1.3"),
    kind=Kind.UTILITY,
    says="The chosen score lies 2Δu/ε·(ln|R| + t) or more below the best with probability at most e^-t (x for t).",
    states=Le(missed, exp(-x_tail)),
    checks=[
        Proof(
            [
                Same(
                    "an element at the threshold weighs e^-t/|R| of the best one",
                    exp(-(2 * Delta_u / eps * (log(candidates) + x_tail)) * eps / (2 * Delta_u)),
                    exp(-x_tail) / candidates,
                ),
                Less(
                    "the share of |R|-1 such elements is at most e^-t",
                    _worst / (1 + _worst),
                    exp(-x_tail),
                    {candidates: 1 + _more},
                ),
            ],
            "worst case: all but the best at the threshold, which is missed with probability below e^-t",
        ),
        AtMost(_worst / (1 + _worst), "all but the best at the threshold", {candidates: 1 + _more}),
    ],
)

worst_shortfall = Claim(
    id="dwang20.lemma2.1.3.shortfall",
    source=Source("dwang20", "Lemma 2.1.3, solved for the shortfall"),
    kind=Kind.UTILITY,
    says="With probability at least 1-e^-t the chosen score lies less than this below the best (x for t).",
    states=Eq(shortfall, 2 * Delta_u / eps * (log(candidates) + x_tail)),
    checks=[
        Equals(
            stated_scale * log(candidates * exp(x_tail)),
            "the depth at which |R| elements weigh e^-t of the best one together",
        )
    ],
)
