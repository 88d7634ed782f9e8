"""The proofs of Lemmas 2 and 3 of zhang17 (A.1): how far one step parts two neighbouring runs of gradient descent.

Vectors stand in one coordinate (proving/one_coordinate.py): a is w - w', g the mean difference of the gradients of the
common records, h that of the record that differs.
"""

from sympy import Le, Symbol, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source, convex, lipschitz, smooth, strongly_convex
from dpcheck.bounds.language.symbols import D, Delta_T, L, T, beta, eta, mu, n, quantity, t
from dpcheck.bounds.library.convex.gradient_descent import AT_ITERATES, end_norm, small_step
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

parted = quantity("parted", "distance of two neighbouring runs at a step", parameter=1, printed="Δ_t")
parted_next = quantity(
    "parted_next",
    "distance of two neighbouring runs a step later",
    parameter=1,
    printed="Δ_(t+1)",
    latex=r"\Delta_{t+1}",
)

a, L_n = Symbol("a", nonnegative=True), 2 * L / n  # of the differing record: its two gradients over n
g, h = symbols("g h", real=True)
moved = (a - eta * (g + h)) ** 2
whole_step = {
    "⟨a, h⟩ ≥ -2L/n·‖a‖": 2 * eta * (L_n * a + a * h),
    "‖h‖ ≤ 2L/n": 2 * eta**2 * (L_n**2 - h**2),
    "‖g+h‖² ≤ 2‖g‖² + 2‖h‖²": eta**2 * (g - h) ** 2,
}

recursion2 = Claim(
    id="zhang17.lemma2.recursion",
    source=Source("zhang17", "proof of Lemma 2, the recursion (also in its sketch)"),
    kind=Kind.SENSITIVITY,
    says="One step of gradient descent on convex losses, squared.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(parted_next**2, parted**2 + 4 * eta * L / n * parted + 8 * eta**2 * L**2 / n**2),
    checks=[
        Adds(
            moved,
            {parted: a},
            {
                "⟨a, g⟩ ≥ ‖g‖²/β": 2 * eta * (a * g - g**2 / beta),
                "η ≤ 1/β": 2 * eta * (1 / beta - eta) * g**2,
                **whole_step,
            },
        )
    ],
)

coercive = mu * beta / (mu + beta)

recursion3 = Claim(
    id="zhang17.lemma3.recursion",
    source=Source("zhang17", "proof of Lemma 3, the recursion; its last line, printed =, read as ≤"),
    kind=Kind.SENSITIVITY,
    says="One step of gradient descent on strongly convex losses, squared.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), n >= 2],
    states=Le(
        parted_next**2,
        (1 - 2 * (n - 1) * eta * mu * beta / (n * (mu + beta))) * parted**2
        + 4 * eta * L / n * parted
        + 8 * eta**2 * L**2 / n**2,
    ),
    checks=[
        Adds(
            moved,
            {parted: a},
            {
                "⟨a, g⟩ ≥ (n-1)/n·μβ/(μ+β)·‖a‖² + ‖g‖²/(μ+β)": 2
                * eta
                * (a * g - (n - 1) / n * coercive * a**2 - g**2 / (mu + beta)),
                "η ≤ 1/(μ+β)": 2 * eta * (1 / (mu + beta) - eta) * g**2,
                **whole_step,
            },
        )
    ],
)

start3 = Claim(
    id="zhang17.lemma3.start",
    source=Source("zhang17", "proof of Lemma 3, t = 1"),
    kind=Kind.SENSITIVITY,
    says="After one step the distance is at most 5L/(n(μ+β)), which is at most 5L(μ+β)/(nμβ).",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), T <= 1],
    states=Le(Delta_T, 5 * L / (n * (mu + beta))),
    checks=[
        AtMost(2 * eta * L / n, "both runs start alike: their gradients differ by 2L/n", small_step),
        Proof([Less("μβ ≤ (μ+β)²", mu * beta, (mu + beta) ** 2)], "the second inequality"),
    ],
)

ball3 = Claim(
    id="zhang17.lemma3.ball",
    source=Source("zhang17", "proof of Lemma 3: the iterates stay in the ball of radius 2D"),
    kind=Kind.SENSITIVITY,
    says="A run from 0 never leaves the ball of radius 2D around 0, if its minimiser has norm at most D.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / (beta + mu), Setting("w₀ = 0; ‖ŵ‖ ≤ D for both datasets")],
    states=Le(end_norm, 2 * D),
    checks=[
        Proof(
            [
                Less(
                    "a step does not move away from ŵ: η²‖∇F‖² ≤ 2η⟨∇F, w-ŵ⟩, as ‖∇F‖² ≤ β⟨∇F, w-ŵ⟩ (t for ⟨∇F, w-ŵ⟩)",
                    eta**2 * beta * t,
                    2 * eta * t,
                    {eta: 1 / ((mu + beta) * (1 + Symbol("v", nonnegative=True)))},
                ),
                Same("‖w_t‖ ≤ ‖w_t-ŵ‖ + ‖ŵ‖ ≤ ‖0-ŵ‖ + D", D + D, 2 * D),
            ]
        )
    ],
)
