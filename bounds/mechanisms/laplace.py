"""The Laplace mechanism (zhang17, Lemma 1, first half)."""

from sympy import Eq

from bounds.claim import Claim, Kind, Source
from bounds.guarantees import PureDP
from bounds.proofs import AtMost
from bounds.symbols import Delta1, eps, sigma

lemma1 = Claim(
    id="zhang17.lemma1.laplace",
    source=Source("zhang17", "Lemma 1"),
    kind=Kind.PRIVACY,
    says="Laplace noise of scale Δ₁/ε on each coordinate makes a query of l1 sensitivity Δ₁ ε-private.",
    states=Eq(sigma, Delta1 / eps),
    guarantee=PureDP(eps),
    checks=[
        AtMost(
            Delta1 / (Delta1 / eps),
            "log-densities of scale b differ by at most ‖q-q'‖₁/b",
            against=eps,
        )
    ],
)
