"""What the definitions of lwang21, section 4.3, come to: stationary points, Lipschitz losses, privacy, divergences.

What they are used for: dp_srm_privacy.py, dp_srm_sensitivity.py and dp_srm_estimator.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, erf, exp, integrate, log, oo, pi, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import RenyiDP
from dpcheck.bounds.language.symbols import Delta, c, delta, eps, gradient_norm, quantity, sigma
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.nonconvex.dp_srm_estimator import estimate
from dpcheck.bounds.library.nonconvex.dp_srm_privacy import exponent, order, reals, renyi
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import losses, slowing, target
from dpcheck.bounds.proving.proofs import Equals, Less, Proof, Same, Units

steepness = quantity(
    "srm_steepness", "change of a record's loss over the distance", loss=1, parameter=-1, printed="|f(θ)-f(θ')|/‖θ-θ'‖"
)
bending = quantity(
    "srm_bending",
    "change of a record's gradient over the distance",
    loss=1,
    parameter=-2,
    printed="‖∇f(θ)-∇f(θ')‖/‖θ-θ'‖",
)

u, v = Symbol("u", nonnegative=True), Symbol("v", nonnegative=True)
level = sqrt(Rational(2, 3)) * target  # of the tangent below min{ζg, g²/2} that gives the best bound

stationary = Claim(
    id="lwang21.definition4.3.1",
    source=Source("lwang21", "Definition 4.3.1, for the input ζ of Algorithm 4"),
    kind=Kind.UTILITY,
    says="Without noise, on all records and with T > 4n₀L·g₀/ζ², the output is ζ-approximately stationary in the mean.",
    assumes=[*losses, slowing >= 1, Setting("b₀ = b = n, no noise, T = ⌊4n₀L·g₀/ζ²⌋ + 1")],
    states=Le(gradient_norm, target),
    checks=[
        Proof(
            [
                Less("a step gains η(1-ηL/2)‖∇F‖² ≥ 3/4·η‖∇F‖² for η ≤ 1/(2n₀L)", Rational(3, 4), 1 - u / 2,
                     {u: 1 / (2 + v)}),
                Same("so min{ζg, g²/2} is ζ²/3 at most in the mean, for T ≥ 4n₀L·g₀/ζ²",
                     Rational(4, 3) * slowing * L_s / (4 * slowing * L_s / target**2), target**2 / 3),
                Same("g ≤ 2ζ: g²/2 is above its tangent s·g - s²/2 at s = √(2/3)ζ",
                     estimate**2 / 2 - (level * estimate - level**2 / 2), (estimate - level) ** 2 / 2),
                Less("g ≥ 2ζ: so is ζg, as s ≤ ζ", level, target),
                Same("s·g - s²/2 ≤ ζ²/3 in the mean: g is s at most", (target**2 / 3 + level**2 / 2) / level, level),
                Less("which is below ζ", level, target),
            ],
            "√(2/3)·ζ at most, g the gradient norm of an iterate",
        )
    ],
)

lipschitz = Claim(
    id="lwang21.definition4.3.2",
    source=Source("lwang21", "Definition 4.3.2"),
    kind=Kind.IDENTITY,
    says="For the losses used here, with G the largest gradient norm: no difference quotient of a record exceeds it.",
    assumes=losses,
    states=Le(steepness, G),
)

smooth = Claim(
    id="lwang21.definition4.3.3",
    source=Source("lwang21", "Definition 4.3.3"),
    kind=Kind.IDENTITY,
    says="For the losses used here, with L the largest curvature: no gradient changes faster.",
    assumes=losses,
    states=Le(bending, L_s),
)

# Privacy -------------------------------------------------------------------------------------------
# Of N(Δ, σ²) against N(0, σ²): p > e^ε·q from Δ/2 + σ²ε/Δ on.
edge = Delta / 2 + sigma**2 * eps / Delta


def density(centre):  # type: ignore[no-untyped-def]
    """Of N(centre, σ²) at z."""
    return exp(-((reals - centre) ** 2) / (2 * sigma**2)) / (sqrt(2 * pi) * sigma)


def normal(z):  # type: ignore[no-untyped-def]
    """Φ."""
    return (1 + erf(z / sqrt(2))) / 2


private = Claim(
    id="lwang21.definition4.3.4",
    source=Source("lwang21", "Definition 4.3.4, for the Gaussian mechanism"),
    kind=Kind.PRIVACY,
    says="The least δ for all outputs O at once, of Gaussians Δ apart: P(O) - e^ε·P'(O) is largest on a half line.",
    states=Eq(delta, normal(Delta / (2 * sigma) - eps * sigma / Delta)
              - exp(eps) * normal(-Delta / (2 * sigma) - eps * sigma / Delta)),
    checks=[
        Equals(
            lambda: integrate(density(Delta), (reals, edge, oo)) - exp(eps) * integrate(density(0), (reals, edge, oo)),
            "the integral of p - e^ε·p' where it is positive",
        ),
        Proof([Same("it begins where p = e^ε·p'", (density(Delta) / density(0)).subs(reals, edge), exp(eps))]),
    ],
)

proportional = Claim(
    id="lwang21.definition4.3.5.noise",
    source=Source("lwang21", "before Definition 4.3.5"),
    kind=Kind.PRIVACY,
    says="The Gaussian mechanism takes a variance in proportion to the sensitivity, whatever its size.",
    states=Eq(sigma**2, c * Delta),
    hidden=(c,),
    checks=[Units()],
)

proportional_corrected = Claim(
    id="lwang21.definition4.3.5.noise.corrected",
    source=Source("lwang21", "before Definition 4.3.5"),
    kind=Kind.PRIVACY,
    says="In proportion to its square.",
    states=Eq(sigma**2, c * Delta**2),
    hidden=(c,),
    corrects="lwang21.definition4.3.5.noise",
    checks=[
        Proof(
            [
                Same(
                    "δ at ε depends on Δ and σ through Δ/σ alone, which is 1/√c",
                    private.formula.subs(sigma, sqrt(c) * Delta),
                    private.formula.subs({sigma: sqrt(c), Delta: Integer(1)}, simultaneous=True),
                )
            ]
        )
    ],
    cites=[Cites("lwang21.definition4.3.4")],
)

divergence = Claim(
    id="lwang21.definition4.3.6",
    source=Source("lwang21", "Definition 4.3.6"),
    kind=Kind.PRIVACY,
    says="With E over M(S'), which it leaves open, the Gaussian mechanism has what Lemma 4.3.7 says.",
    assumes=[order > 1],
    states=Eq(renyi, order * Delta**2 / (2 * sigma**2)),
    guarantee=RenyiDP(order, renyi),
    checks=[
        Proof(
            [
                Same(
                    "the exponent of (p/p')^α·p', squares completed",
                    exponent.expand(),
                    (-((reals - order * Delta) ** 2) + order * (order - 1) * Delta**2) / (2 * sigma**2),
                ),
                Same(
                    "over α - 1",
                    order * (order - 1) * Delta**2 / (2 * sigma**2) / (order - 1),
                    order * Delta**2 / (2 * sigma**2),
                ),
            ]
        )
    ],
)

# Randomised response, the worst ε-private pair, says the truth p/q = e^ε times as often as not.
truth, lie = exp(eps) / (1 + exp(eps)), 1 / (1 + exp(eps))

limit = Claim(
    id="lwang21.definition4.3.6.limit",
    source=Source("lwang21", "after Definition 4.3.6"),
    kind=Kind.PRIVACY,
    says="RDP becomes ε-DP as α grows: of randomised response the divergence tends to ε from below.",
    assumes=[order > 1],
    states=Le(renyi, eps),
    guarantee=RenyiDP(order, renyi),
    checks=[
        Proof(
            [
                Same("Σp^α·q^(1-α) = (e^(αε) + e^((1-α)ε))/(1 + e^ε)",
                     truth**order * lie ** (1 - order) + lie**order * truth ** (1 - order),
                     (exp(order * eps) + exp((1 - order) * eps)) / (1 + exp(eps))),
                Same("e^((α-1)ε), times 1 + e^ε", (1 + exp(eps)) * exp((order - 1) * eps),
                     exp(order * eps) + exp((order - 1) * eps)),
                Less("above Σp^α·q^(1-α), times 1 + e^ε: it has (1-α)ε there", (1 - order) * eps, (order - 1) * eps,
                     {order: 1 + u}),
                Same("it is at least e^(αε)/(1+e^ε), so the divergence at least ε - log(1+e^(-ε))/(α-1)",
                     (order * eps - log(1 + exp(eps))) / (order - 1) - eps, -log(1 + exp(-eps)) / (order - 1)),
            ],
            "between ε - log(1+e^(-ε))/(α-1) and ε",
        )
    ],
)
