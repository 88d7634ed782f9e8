"""Output-perturbation gradient descent (zhang17, section 3.1, Algorithm 1; proofs in A.1 to A.3).

Gradient descent from w₀ = 0 on a smooth convex risk, then one draw of noise on the last iterate.
Its sensitivity and convergence stand in gradient_descent.py. Solver: dpcheck/solvers/convex/outpert_gd.py.
"""

from dataclasses import replace

from sympy import Eq, Expr, Integer, Le, Rational, exp, log, pi, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Kind,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import (
    D,
    Delta,
    Delta_T,
    L,
    T,
    beta,
    d,
    delta,
    distance,
    eps,
    eta,
    excess_risk,
    mu,
    n,
    noise_norm2,
    sigma,
    w_hat,
)
from dpcheck.bounds.library.convex.gradient_descent import AT_ITERATES, gap_T, lemma2_corrected, lemma3_regularised
from dpcheck.bounds.privacy.laws import Gaussian, L2Laplace
from dpcheck.bounds.privacy.numeric_checks import GaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

# Privacy -------------------------------------------------------------------------------------------
# w_T with one draw of noise, as far from a neighbour's as the lemmas say: convex, and with a regulariser.
released = Release(lemma2_corrected.formula, Gaussian(sigma))
released_strong = Release(lemma3_regularised.formula, Gaussian(sigma))
released_pure, released_strong_pure = (replace(r, law=L2Laplace(sigma)) for r in (released, released_strong))

stated_noise = sqrt(2 * log(2 / delta)) * Delta / eps  # from exp(-eps^2 ||z||^2 / (4 log(2/delta) Delta^2))
convex_step, strong_step = {eta: 1 / beta}, {eta: 1 / (mu + beta)}
convex_Delta, convex_exact = 3 * L * T / (beta * n), released.sensitivity.subs(convex_step)
strong_Delta = 5 * L * (1 + beta / mu) / (n * beta)
CONVEX_STEPS, STRONG_STEPS = Setting("step size 1/β, T steps"), Setting("step size 1/(μ+β), any T")
convex_case = [convex(), smooth(beta), lipschitz(L), CONVEX_STEPS]
strong_case = [strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), STRONG_STEPS]
exactly = GaussianAccountant(Delta / sigma, "a query whose sensitivity is exactly Δ")

algorithm1_approx = Claim(
    id="zhang17.algorithm1.approx", kind=Kind.PRIVACY,
    source=Source("zhang17", "Algorithm 1, line 7", line=129),
    says="Noise with density proportional to exp(-ε²‖z‖²/(4 log(2/δ) Δ²)) makes l2 sensitivity Δ (ε, δ)-private.",
    states=Eq(sigma, stated_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[exactly],
)

algorithm1_approx_corrected = Claim(
    id="zhang17.algorithm1.approx.corrected", kind=Kind.PRIVACY,
    source=Source("zhang17", "Algorithm 1, line 7", line=129),
    says="The same noise, for ε at most 1.",
    assumes=[eps <= 1],
    states=Eq(sigma, stated_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.algorithm1.approx",
    checks=[exactly],
)

theorem1 = Claim(
    id="zhang17.theorem1", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, in the setting of Theorem 3", line=153),
    says="Algorithm 1 is (ε, δ)-private for any ε > 0 and δ in [0, 1).",
    assumes=convex_case,
    states=Eq(sigma, stated_noise.subs(Delta, convex_Delta)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        GaussianAccountant(
            convex_exact / sigma,
            "Huber losses with far minimisers have the full gradient all along the path: they attain 2LT/(βn)",
        )
    ],
    cites=[Cites("zhang17.lemma2", convex_step), Cites("zhang17.algorithm1.approx", {Delta: convex_Delta})],
)

theorem1_corrected = Claim(
    id="zhang17.theorem1.corrected", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, in the setting of Theorem 3", line=153),
    says="The same noise is (ε, δ)-private for ε at most 1.",
    assumes=[*convex_case, eps <= 1],
    states=Eq(sigma, stated_noise.subs(Delta, convex_Delta)),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.theorem1",
    checks=[GaussianAccountant(convex_exact / sigma, "with the exact sensitivity 2LT/(βn)")],
    cites=[Cites("zhang17.lemma2", convex_step), Cites("zhang17.algorithm1.approx.corrected", {Delta: convex_Delta})],
)

theorem1_strong = Claim(
    id="zhang17.theorem1.strongly_convex", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, in the setting of Theorem 2", line=153),
    says="Algorithm 1 on strongly convex losses is (ε, δ)-private for any ε > 0.",
    assumes=strong_case,
    states=Eq(sigma, stated_noise.subs(Delta, strong_Delta)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        GaussianAccountant(
            2 * L / (n * mu) / sigma,
            "β = 100μ and many steps: quadratics attain 2L/(nμ)",
            box={eps: (1e-2, 1e3)},
            where={beta: 100 * mu},
        )
    ],
    cites=[Cites("zhang17.lemma3", strong_step), Cites("zhang17.algorithm1.approx", {Delta: strong_Delta})],
)

theorem1_strong_corrected = Claim(
    id="zhang17.theorem1.strongly_convex.corrected", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, in the setting of Theorem 2", line=153),
    says="The same noise on strongly convex losses, for ε at most 1 and any condition number.",
    assumes=[*strong_case, eps <= 1],
    states=Eq(sigma, stated_noise.subs(Delta, strong_Delta)),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.theorem1.strongly_convex",
    checks=[
        GaussianAccountant(
            2 * L / (n * mu) / sigma,
            "the worst condition number (μ to 0): sensitivity 2L/(nμ)",
            where={mu: Integer(0)},
        )
    ],
    cites=[Cites("zhang17.lemma3", strong_step), Cites("zhang17.algorithm1.approx.corrected", {Delta: strong_Delta})],
)

theorem1_pure = Claim(
    id="zhang17.theorem1.pure", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, δ = 0, in the setting of Theorem 3", line=153),
    says="With δ = 0, Algorithm 1 is ε-private for any ε > 0.",
    assumes=convex_case,
    states=Eq(sigma, convex_Delta / eps),
    guarantee=PureDP(eps),
    checks=[
        Chain(
            Cites("zhang17.algorithm1.pure", {Delta: Delta_T}),
            Step("<=", because=Cites("zhang17.lemma2", convex_step), uses=[CONVEX_STEPS]),
            Step("=", STATEMENT),
        )
    ],
)

theorem1_pure_strong = Claim(
    id="zhang17.theorem1.pure.strongly_convex", kind=Kind.PRIVACY,
    source=Source("zhang17", "Theorem 1, δ = 0, in the setting of Theorem 2", line=153),
    says="With δ = 0, Algorithm 1 on strongly convex losses is ε-private for any ε > 0.",
    assumes=strong_case,
    added=[n >= 2],
    states=Eq(sigma, strong_Delta / eps),
    guarantee=PureDP(eps),
    checks=[
        Chain(
            Cites("zhang17.algorithm1.pure", {Delta: Delta_T}),
            Step("<=", because=Cites("zhang17.lemma3", strong_step), uses=[STRONG_STEPS]),
            Step("=", STATEMENT),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
def explicit(converges: Cites, noise: Cites, start: Setting) -> Chain:
    """Smoothness makes of the excess risk of w_T + z that of w_T and the noise; a lemma bounds each.

    The lemma's ‖w₀-ŵ‖ is at most D for what is said of the start.
    """
    return Chain(
        excess_risk,
        Step("<=", gap_T + beta / 2 * noise_norm2, because=Premise("F is β-smooth, and E z = 0 (A.2)")),
        Step("<=", because=converges, uses=[start]),
        Step("=", because=noise),
        Step("<=", STATEMENT),
    )


STRONG_START = Setting("‖ŵ‖ ≤ D, w₀ = 0, step size 1/(μ+β)")
CONVEX_START = Setting("‖ŵ‖ ≤ D, w₀ = 0, step size 1/β")
strong_losses = [strongly_convex(mu), smooth(beta), lipschitz(L, "where ‖w‖ ≤ 2D"), mu <= beta, STRONG_START]
exponentially = Cites("zhang17.lemma5", {**strong_step, distance: D})
of_pure_noise = Cites("zhang17.lemma6", {sigma: strong_Delta / eps})
of_approx_noise = Cites("zhang17.lemma7", {sigma: stated_noise.subs(Delta, strong_Delta)})
left_by_descent = beta / 2 * exp(-2 * mu * beta * T / (mu + beta) ** 2) * D**2
pure_risk = 25 * L**2 * (mu + beta) ** 2 * (d + 1) * d / (n**2 * eps**2 * mu**2 * beta)
approx_risk = 25 * L**2 * (mu + beta) ** 2 * d * log(2 / delta) / (n**2 * eps**2 * mu**2 * beta)

# T = (mu^2 + beta^2)/(mu beta) log X makes exp(-2 mu beta T/(mu + beta)^2) at most 1/X.
pure_X = mu**2 * n**2 * eps**2 * D**2 / (L**2 * d**2)
approx_X = mu**2 * n**2 * eps**2 * D**2 / (L**2 * d * log(1 / delta))
strong_steps_pure, strong_steps_approx = ((mu**2 + beta**2) / (mu * beta) * log(X) for X in (pure_X, approx_X))
after_T_steps = beta / 2 * D**2 / approx_X + approx_risk
ENOUGH_STEPS = Premise("exp(-2μβT/(μ+β)²) ≤ 1/X for T = (μ²+β²)/(μβ)·log X, as 2(μ²+β²) ≥ (μ+β)² and X ≥ 1")


LARGE_X = Setting("X ≥ 1, so that T is at least 0")
PURE_T = Setting("T = (μ²+β²)/(μβ)·log X steps, X = μ²n²ε²D²/(L²d²)")
APPROX_T = Setting("T = (μ²+β²)/(μβ)·log X steps, X = μ²n²ε²D²/(L²d log(1/δ))")


def after_enough(proof: str, left: Expr, end: Expr, steps: Setting) -> Chain:
    """The explicit bound of the proof, with the T that the theorem takes."""
    bound = Step("<=", because=Cites(proof))
    enough = Step("<=", left, because=ENOUGH_STEPS, uses=[steps, LARGE_X])
    return Chain(excess_risk, bound, enough, Step("<=", end))


theorem2_pure = Claim(
    id="zhang17.theorem2.pure", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 2, part 1", line=157),
    says="Excess risk of the ε-private output after T = Θ((μ²+β²)/(μβ)·log X) steps, X = μ²n²ε²D²/(L²d²).",
    assumes=[*strong_losses, PURE_T],
    added=[LARGE_X],
    states=Rate(excess_risk, beta * L**2 * d**2 / (n**2 * eps**2 * mu**2)),
    guarantee=PureDP(eps),
    checks=[after_enough("zhang17.theorem2.pure.proof", beta / 2 * D**2 / pure_X + pure_risk, 201 * STATEMENT, PURE_T)],
)

theorem2_approx = Claim(
    id="zhang17.theorem2.approx", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 2, part 2", line=161),
    says="Excess risk of the (ε, δ)-private output after T = Θ((μ²+β²)/(μβ)·log X) steps, X = μ²n²ε²D²/(L²d log(1/δ)).",
    assumes=[*strong_losses, APPROX_T],
    added=[LARGE_X, delta <= Rational(1, 2)],
    states=Rate(excess_risk, beta * L**2 * d * log(1 / delta) / (n**2 * eps**2 * mu**2)),
    guarantee=ApproxDP(eps, delta),
    checks=[after_enough("zhang17.theorem2.approx.proof.corrected", after_T_steps, 201 * STATEMENT, APPROX_T)],
)

theorem2_pure_proof = Claim(
    id="zhang17.theorem2.pure.proof", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 2, its proof sketch, and A.2, ε-DP", line=173),
    says="The explicit bound in the proof, for every T.",
    assumes=strong_losses,
    states=Le(excess_risk, left_by_descent + pure_risk),
    checks=[explicit(exponentially, of_pure_noise, STRONG_START)],
)

theorem2_approx_proof = Claim(
    id="zhang17.theorem2.approx.proof", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 2 in A.2, (ε, δ)-DP", line=435),
    says="The explicit bound in the proof: 50·L²(μ+β)²(d+1)d over n²ε²μ²β, without log(1/δ).",
    assumes=strong_losses,
    states=Le(excess_risk, left_by_descent + 2 * pure_risk),
    checks=[
        AtMost(
            approx_risk,
            "β/2·‖w‖² with its minimiser at the start has excess risk β/2·E‖z‖² exactly",
            box={D: (1e-6, 1e-4), L: (1, 100), beta: (1, 100), mu: (1e-2, 1), delta: (1e-10, 1e-3), d: (1, 3)},
        )
    ],
    cites=[exponentially, of_approx_noise],
)

theorem2_approx_proof_corrected = Claim(
    id="zhang17.theorem2.approx.proof.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 2 in A.2, (ε, δ)-DP", line=435),
    says="The explicit bound with Lemma 7's moment.",
    assumes=strong_losses,
    states=Le(excess_risk, left_by_descent + approx_risk),
    corrects="zhang17.theorem2.approx.proof",
    checks=[explicit(exponentially, of_approx_noise, STRONG_START)],
)

convex_losses = [convex(), smooth(beta), lipschitz(L), CONVEX_START]
slowly = Cites("zhang17.lemma8", {**convex_step, distance: D})
pure_steps = (beta**2 * n**2 * eps**2 * D**2 / (L**2 * d**2)) ** Rational(1, 3)
approx_steps = (beta**2 * n**2 * eps**2 * D**2 / (L**2 * d * log(1 / delta))) ** Rational(1, 3)
pure_rate = (sqrt(beta) * L * d * D**2 / (n * eps)) ** Rational(2, 3)
approx_rate = (L * sqrt(beta * d * log(1 / delta)) * D**2 / (n * eps)) ** Rational(2, 3)

theorem3_pure_proof = Claim(
    id="zhang17.theorem3.pure.proof", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 3 in A.3, ε-DP", line=451),
    says="The explicit bound in the proof, for every T.",
    assumes=convex_losses,
    states=Le(excess_risk, 2 * beta * D**2 / T + 9 * T**2 * L**2 * d * (d + 1) / (2 * beta * n**2 * eps**2)),
    checks=[explicit(slowly, Cites("zhang17.lemma6", {sigma: convex_Delta / eps}), CONVEX_START)],
)

theorem3_approx_proof = Claim(
    id="zhang17.theorem3.approx.proof", kind=Kind.UTILITY,
    source=Source("zhang17", "proof of Theorem 3 in A.3, (ε, δ)-DP", line=451),
    says="The explicit bound in the proof, for every T.",
    assumes=convex_losses,
    states=Le(excess_risk, 2 * beta * D**2 / T + 9 * T**2 * L**2 * d * log(2 / delta) / (beta * n**2 * eps**2)),
    checks=[explicit(slowly, Cites("zhang17.lemma7", {sigma: stated_noise.subs(Delta, convex_Delta)}), CONVEX_START)],
)


def noise_alone(steps, scale):  # type: ignore[no-untyped-def]
    """Why ‖ŵ‖ cannot stand for D: on a Huber loss in one dimension the noise alone costs E h(z) ≥ h(E|z|)."""
    reach = scale * convex_Delta.subs(T, steps) / eps  # E|z|
    return NoConstant(
        L * reach - L**2 / (2 * beta),  # at most the Huber loss at that distance
        {n: 10, d: 1, eps: 1, delta: Rational(1, 10), beta: 1, L: 1, w_hat: 1, D: D}, D,
        "T and the noise grow with D, the bound does not: Huber losses with ‖ŵ‖ = 1, given an ever larger D",
    )


theorem3_pure = Claim(
    id="zhang17.theorem3.pure", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 3, part 1", line=200),
    says="Excess risk of the ε-private output after T = Θ([β²n²ε²D²/(L²d²)]^(1/3)) steps, in terms of ‖ŵ‖.",
    assumes=[*convex_losses, w_hat <= D],
    states=Rate(excess_risk, pure_rate.subs(D, w_hat)),
    guarantee=PureDP(eps),
    misprint_of="zhang17.theorem3.pure.proof",
    checks=[noise_alone(pure_steps, 1)],
    cites=[Cites("zhang17.theorem3.pure.proof")],
)

theorem3_approx = Claim(
    id="zhang17.theorem3.approx", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 3, part 2", line=206),
    says="Excess risk of the (ε, δ)-private output after T = Θ([β²n²ε²D²/(L²d log(1/δ))]^(1/3)) steps, in ‖ŵ‖.",
    assumes=[*convex_losses, w_hat <= D],
    states=Rate(excess_risk, approx_rate.subs(D, w_hat)),
    guarantee=ApproxDP(eps, delta),
    misprint_of="zhang17.theorem3.approx.proof",
    checks=[noise_alone(approx_steps, sqrt(2 * log(2 / delta)) * sqrt(2 / pi))],
    cites=[Cites("zhang17.theorem3.approx.proof")],
)

theorem3_pure_corrected = Claim(
    id="zhang17.theorem3.pure.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 3, part 1", line=200),
    says="The same with D, the bound that T was chosen with.",
    assumes=convex_losses,
    added=[Eq(T, pure_steps)],
    states=Rate(excess_risk, pure_rate),
    guarantee=PureDP(eps),
    corrects="zhang17.theorem3.pure",
    checks=[Chain(excess_risk, Step("<=", because=Cites("zhang17.theorem3.pure.proof")), Step("<=", 11 * STATEMENT))],
)

theorem3_approx_corrected = Claim(
    id="zhang17.theorem3.approx.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Theorem 3, part 2", line=206),
    says="The same with D, the bound that T was chosen with.",
    assumes=convex_losses,
    added=[Eq(T, approx_steps), delta <= Rational(1, 2)],
    states=Rate(excess_risk, approx_rate),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.theorem3.approx",
    checks=[Chain(excess_risk, Step("<=", because=Cites("zhang17.theorem3.approx.proof")), Step("<=", 20 * STATEMENT))],
)
