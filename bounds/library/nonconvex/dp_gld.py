"""DP-GLD (dwang20, section 4.2.2, Algorithm 4.2.20): gradient Langevin dynamics whose own noise is the privacy.

A step w - η∇F(w) + √(2η/β)·ξ is one on a gradient with noise of deviation √(2/(ηβ)): the shorter, the more private.
Theorems 4.2.1 to 4.2.3. What they rest on stands in langevin.py. Solver: dpcheck/solvers/nonconvex/dp_gld.py.
"""

from sympy import Eq, Expr, Ge, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import MEAN, L, T, c, c1, c2, d, delta, eps, eta, excess_risk, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import sigma_n
from dpcheck.bounds.library.nonconvex.langevin import (
    LAM,
    WELLS,
    M,
    escapes,
    heat,
    kept,
    lasting,
    left,
    on_wells,
    regular,
    ridge,
    ridged,
    stays,
    warm,
)
from dpcheck.bounds.library.nonconvex.stationarity import a
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, OnlySolution, Premise, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant, Quoted

population = quantity(
    "population_last", "mean excess population risk with its regulariser", loss=1, printed="Err_P(w_T)", holds=MEAN,
    latex=r"\mathrm{Err}_{\mathcal{P}}(w_T)",
)
far_bound = quantity("bound_17", "right-hand side of (4.17) as T grows", printed="(4.17), T → ∞", latex="(4.17)")
stuck_risk = quantity(  # of one algorithm on one problem: no bound on what any private algorithm attains
    "stuck_risk", "excess risk of DP-GLD on three wells", loss=1, printed="E F(w_j) - F(ŵ)", holds=MEAN,
    latex=r"\mathbb{E}F(w_j)-F(\hat w)",
)
even_bound = quantity("bound_19", "right-hand side of (4.19), C = 1, as T grows", printed="(4.19)", latex="(4.19)")
moment_w = quantity("moment_w", "sup over t of E ||w_t||^2", parameter=2, printed="sup E‖w_t‖²", holds=MEAN)
start_w = quantity("start_w", "E ||w_0||^2", parameter=2, printed="E‖w₀‖²", latex=r"\mathbb{E}\|w_0\|^2")
more, extra, wider, longer = symbols("more extra wider longer", nonnegative=True)
k = Symbol("k", positive=True)

# Privacy -------------------------------------------------------------------------------------------
gradients = Release(2 * L / n, Gaussian(sigma_n), steps=T)
released = gradients.with_noise(sqrt(2 / (eta * heat)))
stated_step = n**2 * eps**2 / (c2**2 * L**2 * heat * T * a)  # c = 1/c₂²

as_noise = Claim(
    id="dwang20.algorithm4.2.20.noise", kind=Kind.IDENTITY,
    source=Source("dwang20", "Algorithm 4.2.20, steps 2 and 4", line=3217),
    says="The deviation of the gradient that a step takes for ∇L̂, at the η of the box.",
    assumes=[lipschitz(L), Eq(eta, stated_step)],
    states=Eq(sigma_n, sqrt(2) * c2 * L * sqrt(T * a) / (n * eps)),
    hidden=(c2,),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Equals(sqrt(2 / (eta * heat)).subs(eta, stated_step), "η times it is √(2η/β)"),
    ],
)

privacy = Claim(
    id="dwang20.theorem4.2.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 4.2.1, with the η of Algorithm 4.2.20", line=3225),
    says="There are c₁ and c₂ with which DP-GLD is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[lipschitz(L), eps < c1 * T],
    states=Eq(eta, stated_step),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    checks=[
        Accountant(
            released,
            "linear losses, with the ∇L̂ of step 4: w_T is the sum of all noisy gradients, T cancels, and no condition "
            "limits ε as T grows",
        )
    ],
)

privacy_corrected = Claim(
    id="dwang20.theorem4.2.1.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 4.2.1", line=3225),
    says="With c₂ = 2, for ε at most 1 and δ at most 1/4.",
    assumes=[lipschitz(L), eps <= 1, delta <= Rational(1, 4)],
    states=Eq(eta, stated_step.subs(c2, 2)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem4.2.1",
    checks=[Accountant(released, "T full gradients, each 2L/n apart")],
)

proof_step = Claim(
    id="dwang20.theorem4.2.1.proof", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 4.2.1, the η for which both forms of a step are one", line=3349),
    says="The step size at which η times the noise of Lemma 2.1.7 has the variance η/β, half of that of a step.",
    assumes=[lipschitz(L)],
    states=Eq(eta, n**2 * eps**2 / (T * L**2 * c2**2 * heat * a)),
    checks=[
        Chain(
            eta,
            Step("=", STATEMENT, because=OnlySolution(
                lambda x: [x**2 * L**2 * c2**2 * a * T / (n * eps) ** 2 - x / heat],
                "the two variances are equal, η > 0")),
        )
    ],
)

# The last iterate (Theorem 4.2.2) --------------------------------------------------------------------
last = [
    *regular, *warm, (M + ridge) ** 2 * n**2 * eps**2 / (ridge * heat * a * L**2) <= T,
    Eq(eta, stated_step), Setting("w₀ has a bounded density with ln E e^‖w₀‖² finite"),
]
discretised = (n * eps) ** Rational(5, 2) / (heat ** Rational(3, 4) * T ** Rational(1, 4) * a)
mixing = exp(c1 * heat) * exp(-(n**2) * eps**2 / (heat * a * exp(c1 * heat)))
gibbs = d * log(heat) / heat


def last_iterate(number: str, line: int, subject: Symbol, beside: Expr, quoted: str) -> Claim:
    """(4.17) or (4.18), the first with a term for the population."""
    return Claim(
        id=f"dwang20.equation{number}", kind=Kind.UTILITY,
        source=Source("dwang20", f"Theorem 4.2.2, equation ({number}); each e^(O(β)) is e^(c₁β)", line=line),
        says="The excess risk at w_T of DP-GLD: what is left of discretisation and mixing, and the Gibbs law's own.",
        assumes=last,
        states=Le(subject, c * (discretised + mixing + beside + gibbs)),
        guarantee=ApproxDP(eps, delta),
        hidden=(c, c1, c2),
        ignores_units=True,
        cites=[Cites("dwang20.theorem4.2.2.dissipative")],
        checks=[Quoted(f"from Raginsky, Rakhlin and Telgarsky (2017): {quoted} are not derived here")],
    )


equation18 = last_iterate(
    "4.18", 3243, excess_risk, Integer(0),
    "discretisation (Proposition 3.1), the Sobolev constant (Proposition 3.2), risks by W₂ (Lemma 3.5)",
)
equation17 = last_iterate(
    "4.17", 3237, population, exp(c1 * heat) / n, "the same, and how stable a Gibbs draw is (Proposition 3.5),"
)

remark1 = Claim(
    id="dwang20.remark4.2.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Remark 4.2.1: β = ln(n)/2, as e^(O(β)) is e^β; ln β is what Õ hides", line=3245),
    says="What the bound on the population risk comes to as T grows, at β of order ln n.",
    assumes=[Eq(heat, log(n) / 2), n >= 3],
    added=[eps <= 1, delta <= exp(-1)],
    states=Rate(far_bound, a * d / (log(n) * eps**2)),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Chain(
            far_bound,
            Step("=", exp(heat) * a / (n**2 * eps**2) + exp(heat) / n + d / heat, because=Premise("(4.17) as T grows")),
            Step("=", a / (n ** Rational(3, 2) * eps**2) + 1 / sqrt(n) + 2 * d / log(n), because=Premise("e^β = √n")),
            Step("<=", a / (log(n) * eps**2) + 1 / log(n) + 2 * d / log(n), because=Premise("ln n ≤ √n")),
            Step("<=", 4 * STATEMENT,
                 where={delta: exp(-1 - more), eps: 1 / (1 + extra), d: 1 + wider, n: exp(1 + longer)}),
        )
    ],
)

remark1_convex = Claim(
    id="dwang20.remark4.2.1.convex", kind=Kind.UTILITY,
    source=Source("dwang20", "Remark 4.2.1, last sentence, for population risks", line=3245),
    says="The bound for convex losses, √(d·ln(1/δ))/(nε), over that for losses that are not, is at most 1.",
    assumes=[n >= 2],
    added=[eps <= 1, delta <= exp(-1)],
    states=Le(ratio, 1),
    ignores_units=True,
    checks=[
        Chain(
            ratio,
            Step("=", sqrt(d * a) / (n * eps) / remark1.formula, because=Premise("the two bounds, constants at 1")),
            Step("<=", eps / sqrt(d * a), because=Premise("ln n ≤ n")),
            Step("<=", STATEMENT, where={delta: exp(-1 - more)}),
        )
    ],
)

# A random iterate (Theorem 4.2.3) --------------------------------------------------------------------
random_one = [*regular, *warm, Setting("w₀ fixed; w_j is returned, j uniform on 1..T; T as large as it takes")]
one_well = kept * (1 - escapes(c * n**2 * eps**2 / (heat * a)))  # t = ηT with L = 1
STUCK = (
    f"{WELLS}, from w₀ = 2π: as T grows the chain becomes the diffusion up to the time c·n²ε²/(β·ln(1/δ)), which has "
    "left the well around 2π with the probability of theorem4.2.3.stays; beyond π the risk is at least λπ²/2"
)

theorem3 = Claim(
    id="dwang20.theorem4.2.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.3, equation (4.19); C, a polynomial of β, is β^c₁ for some c₁", line=3251),
    says="The excess risk at w_j, from a fixed start: C is polynomial in β, of a degree that depends on nothing.",
    assumes=random_one,
    states=Rate(excess_risk, heat**c1 * (heat**2 * a / (n**2 * eps**2) + n**2 * eps**2 / (T * heat**2 * a)) + gibbs),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    ignores_units=True,
    checks=[
        NoConstant(
            one_well,
            {heat: k, d: Integer(1), eps: Integer(1), delta: exp(-1), n: exp(k / 8), T: exp(k), ridge: LAM}, k,
            STUCK, at=400.0,
        )
    ],
)  # fmt: skip

equation20 = Claim(
    id="dwang20.equation4.20", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.3, equation (4.20); C is β^c₁, and c₂ is τ", line=3255),
    says="With the β at which both terms of (4.19) are equal, the excess risk falls as a power of nε.",
    assumes=[*random_one, Eq(n, sqrt(heat ** (c1 + 3) * a / (d * log(heat))) / eps)],
    states=Rate(excess_risk, a / (n * eps) ** c2),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1, c2),
    ignores_units=True,
    checks=[
        NoConstant(
            kept / 2,
            {heat: k, d: Integer(1), eps: Integer(1), delta: exp(-1), n: sqrt(k ** (c1 + 3) / log(k)), ridge: LAM}, k,
            f"{STUCK}: the time is a power of β here, so that this is below 1/2 from some β on", at=400.0,
        )
    ],
)  # fmt: skip

far_start = Setting("w₀ = 2π; w_j is returned, j uniform on 1..T, as T grows")
equation20_corrected = Claim(
    id="dwang20.equation4.20.corrected", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 4.2.3 on three wells, as T grows, c = 1", line=3255),
    says="The excess risk is at least this: it stays where β is a power of n; Theorem 4.2.2 takes β of order ln n.",
    assumes=[*regular, on_wells, far_start],
    states=Ge(stuck_risk, kept * (1 - escapes(n**2 * eps**2 / (heat * a)))),
    corrects="dwang20.equation4.20",
    ignores_units=True,
    checks=[
        Chain(
            stuck_risk,
            Step(">=", kept * (1 - left), because=Premise(
                "beyond π the risk is at least λπ²/2, and 0 at its minimum; the chain becomes the diffusion up to ηT"),
                uses=[ridged, on_wells, far_start]),
            Step(">=", because=Cites(stays.id, {lasting: n**2 * eps**2 / (heat * a)})),
            Step(">=", STATEMENT),
        )
    ],
)

remark2 = Claim(
    id="dwang20.remark4.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Remark 4.2.2, last sentence; C is 1, and ln β and ln(1/δ) are what Õ hides", line=3261),
    says="What (4.19) would come to with the best β if its C did not depend on β.",
    states=Rate(even_bound, d ** Rational(2, 3) / (n * eps) ** Rational(2, 3)),
    assumes=[Eq(heat, (d * n**2 * eps**2) ** Rational(1, 3))],
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Chain(
            even_bound,
            Step("=", heat**2 / (n * eps) ** 2 + d / heat, because=Premise("(4.19) as T grows, without logarithms")),
            Step("<=", 2 * STATEMENT),
        )
    ],
)

recurrence = lambda w: (1 - eta * ridge / 2) * w + eta * (L**2 / ridge + 2 * eta * L**2 + 2 * d / heat)  # noqa: E731
theorem7 = Claim(
    id="dwang20.theorem4.2.7", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.7 for m = 1", line=3485),
    says="The second moments of all iterates, by a number that depends on β only through d/β.",
    assumes=[*regular, eta <= 1 / (4 * ridge)],
    states=Le(moment_w, start_w + 3 * L**2 / ridge**2 + 4 * d / (ridge * heat)),
    provenance=Provenance.READING,
    checks=[
        Chain(
            moment_w,
            Step("<=", start_w + 2 / ridge * (L**2 / ridge + 2 * eta * L**2 + 2 * d / heat), because=Induction(
                T, start=start_w, step=recurrence,
                given="E‖w-η∇F‖² + 2ηd/β is at most that: F is dissipative, and ‖∇F‖² ≤ 2L² + 2λ²‖w‖² (Lipschitz)"),
                uses=[ridged]),
            Step("<=", STATEMENT),
        )
    ],
)
