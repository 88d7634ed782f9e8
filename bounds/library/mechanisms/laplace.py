"""The Laplace mechanism (zhang17, Lemma 1, first half; dwang20, Definition 2.1.2).

Solver: dpcheck/solvers/mechanisms/laplace.py.
"""

from sympy import Abs, Eq, Integer, Le, Symbol, exp, integrate, simplify

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import Delta1, eps, quantity, sigma
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import AtMost, Equals

released = Release(Delta1, Laplace(sigma))  # a query of l1 sensitivity Δ₁

reach = quantity("reach", "half the width of an interval around 0", parameter=1, printed="a", latex="a")
mass = quantity("mass", "probability of an interval", printed="P[-a, a]", latex="P[-a,a]")

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

definition2 = Claim(
    id="dwang20.definition2.1.2",
    source=Source("dwang20", "Definition 2.1.2, last sentence"),
    kind=Kind.PRIVACY,
    says="Laplace noise of scale Δ₁/ε on each coordinate makes a query of l1 sensitivity Δ₁ ε-private.",
    states=Eq(sigma, Delta1 / eps),
    guarantee=PureDP(eps),
    checks=[AtMost(Delta1 / (Delta1 / eps), "log-densities of scale b differ by at most ‖q-q'‖₁/b", against=eps)],
)

_x = Symbol("x", real=True)
_density = exp(-_x / sigma) / (2 * sigma)

density = Claim(
    id="dwang20.definition2.1.2.density",
    source=Source("dwang20", "Definition 2.1.2, the density"),
    kind=Kind.IDENTITY,
    says="exp(-x/λ)/(2λ), without the absolute value, is a density: no interval has a mass above 1 (σ for λ).",
    states=Le(mass, Integer(1)),
    checks=[AtMost(integrate(_density, (_x, -reach, reach)), "the printed density integrated over [-a, a]")],
)

density_corrected = Claim(
    id="dwang20.definition2.1.2.density.corrected",
    source=Source("dwang20", "Definition 2.1.2, the density"),
    kind=Kind.IDENTITY,
    says="With exp(-|x|/λ)/(2λ) the mass of [-a, a] is 1 - exp(-a/λ).",
    states=Eq(mass, 1 - exp(-reach / sigma)),
    corrects="dwang20.definition2.1.2.density",
    checks=[
        Equals(
            lambda: simplify(integrate(exp(-Abs(_x) / sigma) / (2 * sigma), (_x, -reach, reach))),
            "the density integrated over [-a, a]",
        )
    ],
)
