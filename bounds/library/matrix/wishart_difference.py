"""A pure covariance: the difference of two Wishart matrices as noise, in place of the one of dwang20, section 6.3.

One Wishart matrix is positive, so that its noise has an edge, which a record moves: that is not private at any ε. Less
an independent copy, it is for matrices what Laplace noise is for numbers, and in one dimension the same. The law is
`WishartDifference` of bounds/privacy/laws.py. Solver: dpcheck/solvers/matrix/wishart_difference.py.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, integrate, oo

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import Delta, d, eps, n, noise_norm2, quantity, sigma
from dpcheck.bounds.library.local.ldp_pca_gauss import bounded, radius
from dpcheck.bounds.privacy.laws import WishartDifference
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals

place = Source("dwang20", "Lemma 6.3.2 and Algorithm 6.3.51, with two Wishart matrices for one", line=8747)
nuclear = quantity("nuclear_move", "nuclear norm of xxᵀ-yyᵀ", printed="‖xxᵀ-yyᵀ‖_*", latex=r"\|xx^\top-yy^\top\|_*")
sine = quantity("records_sine", "sine of the angle of two records", box=(1e-3, 1), printed="sin(x,y)")
u = Symbol("u", nonnegative=True)

sensitivity = Claim(
    id="dwang20.lemma6.3.2.difference.sensitivity", kind=Kind.SENSITIVITY,
    source=place,
    says="One record moves the mean of outer products by 2/n at most in nuclear norm; from e₁ to e₂ as far.",
    assumes=[bounded, sine <= 1],
    states=Le(Delta, 2 * radius**2 / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            Delta,
            Step("=", nuclear / n, because=Premise("the other records stay")),
            Step("<=", 2 * radius**2 * sine / n, because=Premise(
                "two eigenvalues, of sum ‖x‖²-‖y‖² and product ⟨x,y⟩²-‖x‖²‖y‖²: in size √((‖x‖²+‖y‖²)²-4⟨x,y⟩²), most "
                "for the longest, where it is 2max‖x‖² times the sine of their angle"), uses=[bounded]),
            Step("<=", STATEMENT, where={sine: 1 / (1 + u)}),
        ),
        AtMost(2 * radius**2 / n, "a record goes from e₁ to e₂: eigenvalues of max‖x‖²/n and -max‖x‖²/n"),
    ],
)  # fmt: skip

released = Release(sensitivity.formula, WishartDifference(sigma))

private = Claim(
    id="dwang20.lemma6.3.2.difference", kind=Kind.PRIVACY,
    source=place,
    says="Noise σ/2·(GGᵀ-HHᵀ), G and H of p × (p+1) standard normals, makes a symmetric matrix that a record moves by "
    "Δ in nuclear norm ε-private.",
    states=Eq(sigma, Delta / eps),
    guarantee=PureDP(eps),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        AtMost(
            Delta / sigma,
            "the density at A is the integral of exp(-(tr A + 2 tr W)/σ) over W ⪰ 0 with A + W ⪰ 0. For P ⪰ 0, putting "
            "W - P for W shows that at A + P it is at most exp(tr P/σ) times that at A; and as at A + P more W are let "
            "in, at A it is at most exp(tr P/σ) times that at A + P. A shift P - Q costs tr P + tr Q, which is its "
            "nuclear norm",
            against=eps,
        )
    ],
)  # fmt: skip

_x = Symbol("x", positive=True)


def mean_square() -> Expr:
    """E‖σ/2·(GGᵀ-HHᵀ)‖_F², by entries: an off-diagonal one is σ/2 times 2(p+1) products of two normals, a diagonal one
    the difference of two Gamma((p+1)/2, σ), whose variance is derived for Gamma(1, σ) and adds up.
    """
    unit = integrate(_x**2 * exp(-_x), (_x, 0, oo)) - integrate(_x * exp(-_x), (_x, 0, oo)) ** 2
    return d * 2 * (d + 1) * Rational(1, 2) * unit * sigma**2 + d * (d - 1) * 2 * (d + 1) * (sigma / 2) ** 2


error = Claim(
    id="dwang20.lemma6.3.2.difference.error", kind=Kind.IDENTITY,
    source=place,
    says="The mean squared Frobenius norm of that noise: of order p³, where noise of density e^(-‖Z‖_F/σ') has p⁴.",
    states=Eq(noise_norm2, d * (d + 1) ** 2 * sigma**2 / 2),
    provenance=Provenance.CONSEQUENCE,
    checks=[Equals(mean_square, "variances of the entries, added up")],
)  # fmt: skip
