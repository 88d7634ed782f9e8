"""The Laplace mechanism (zhang17, Lemma 1, first half; dwang20, Definition 2.1.2).

Solver: dpcheck/solvers/mechanisms/laplace.py.
"""

from sympy import Eq

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import Delta1, eps, sigma
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost

released = Release(Delta1, Laplace(sigma))  # a query of l1 sensitivity Δ₁


def mechanism(name: str, source: Source) -> Claim:
    """Printed in both documents."""
    return Claim(
        id=name,
        source=source,
        kind=Kind.PRIVACY,
        says="Laplace noise of scale Δ₁/ε on each coordinate makes a query of l1 sensitivity Δ₁ ε-private.",
        states=Eq(sigma, Delta1 / eps),
        guarantee=PureDP(eps),
        checks=[AtMost(Delta1 / sigma, "log-densities of scale σ differ by at most ‖q-q'‖₁/σ", against=eps)],
    )


lemma1 = mechanism("zhang17.lemma1.laplace", Source("zhang17", "Lemma 1", line=100))
definition2 = mechanism("dwang20.definition2.1.2", Source("dwang20", "Definition 2.1.2, last sentence", line=376))
