"""Utility of DP-LSSGD (lwang21, Theorems 5.3.4 and 5.3.7; lssgd20, Theorems 2 and 3).

With the printed number of steps, which lacks γ (or β), the theorems fail: too few steps to get anywhere. The proofs
have it, and with it the convex theorems hold; the others do at a random iterate, for ‖∇F‖² at the mean of the iterates
is not at most its mean over them. Each proof is one step, T of them by induction, and the choice of T. η = 1/√T hides
units.
"""

from sympy import Eq, Expr, Integer, Le, Min, Rational, Symbol, diff, exp, log, pi, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Hypothesis,
    Kind,
    Rate,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
)
from dpcheck.bounds.language.printed_twice import place_of
from dpcheck.bounds.language.symbols import T, batch, c1, d, delta, eps, eta, excess_risk, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.nonconvex.dp_lssgd import conditions, noise, nu, order, order_right, split
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import (
    angle,
    beta_s,
    both,
    eigenvalue,
    gamma_s,
    induced2,
    smoothed2,
    smoothing,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, OneStep, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant

# Symbols -------------------------------------------------------------------------------------------
D_sigma = quantity("D_sigma", "‖w⁰-w*‖² in the norm of A_σ", parameter=2, printed="D_σ", latex=r"D_\sigma")
gap = quantity("ls_gap", "F(w⁰) - F(w*)", loss=1, printed="D_F", latex="D_F")
gap_k = quantity("ls_gap_k", "E F(w^k) - F(w*)", loss=1, printed="g_k")
gap_next = quantity("ls_gap_next", "F - F(w*) after a step along -∇F", loss=1, printed="g⁺")
inner = quantity("ls_inner", "E ⟨∇F(w^k), w^k-w*⟩", loss=1, printed="⟨∇F,w-w*⟩")
slope2 = quantity("ls_slope2", "E ‖∇F(w^k)‖²", loss=2, parameter=-2, printed="‖∇F(w^k)‖²")
dual2 = quantity("ls_dual2", "E ‖∇F(w^k)‖² in the norm of A_σ⁻¹", loss=2, parameter=-2, printed="‖∇F(w^k)‖²_{A⁻¹}")
grad2 = quantity(
    "ls_grad2", "E ‖∇f_i(w^k)‖² in the norm of A_σ⁻¹ or of A_σ⁻²", loss=2, parameter=-2, printed="E‖∇f_i‖²"
)
spread2 = quantity("ls_spread2", "E ‖∇f_B - ∇F‖²", loss=2, parameter=-2, printed="E‖∇f_B-∇F‖²")
before = quantity("ls_before", "what a proof adds up, before a step", printed="Φ_k")
after = quantity("ls_after", "what a proof adds up, after a step", printed="Φ_{k+1}")
total = quantity("ls_total", "what a proof adds up, after T steps", printed="Φ_T")
norm2 = quantity(
    "ls_norm2",
    "E‖∇F(w̃)‖² in the norm of A_σ⁻¹",
    loss=2,
    parameter=-2,
    printed="E‖∇F(w̃)‖²_{A⁻¹}",
    holds="in expectation",
)
plain2 = quantity(
    "ls_plain2", "E‖∇F(w̃)‖² in the ℓ₂ norm", loss=2, parameter=-2, printed="E‖∇F(w̃)‖₂²", holds="in expectation"
)
slope = quantity("ls_slope", "norm of the gradient", printed="‖∇f(a₂)‖")
factor = quantity("ls_height", "factor on the example's function", printed="s")

log_delta, spent = log(1 / delta), n**2 * eps**2
far = Symbol("far", positive=True)
gamma_modes = [gamma_s <= 1, gamma_s * d >= 1, d >= 2]  # one eigenvalue of A_σ is 1
beta_modes = [beta_s <= 1, beta_s * d >= 1, d >= 2]
small = delta <= exp(-eps)  # ε ≤ log(1/δ), so that α's 1 is no more than what stands beside it
constant_steps = Eq(eta, 1 / sqrt(T))
noise_v0 = Eq(nu, noise(Integer(8)).subs(order, 2 * log_delta / eps + 1))
noise_right = [Eq(order, order_right), Eq(nu, noise(20 / split))]
half = Eq(split, Rational(1, 2))
drawn = Setting("w̃ is a random one of the iterates")

UNBIASED = "gradients of random records have the mean ∇F, and the noise is independent of mean 0"
CONVEX, LIPSCHITZ = "F is convex", "f_i is G-Lipschitz, and A_σ ≥ I"
MEAN = Premise("Jensen: F is convex, and Φ_T holds the gaps of all T steps")
RANDOM = Premise("a random one of T iterates has the mean of their ‖∇F‖², which Φ_T holds; F ≥ F*")


def one_step(theorem: str, line: int, says: str, assumes: list[Hypothesis], rise: Expr, chain: Chain) -> Claim:
    """What one step adds to what a proof adds up."""
    document, _, number = theorem.partition(".")
    return Claim(
        id=f"{theorem}.step",
        source=Source(document, f"proof of {place_of(number)}, one step", line=line),
        kind=Kind.UTILITY,
        says=f"One step: Φ, {says}, rises by so much at most.",
        assumes=assumes,
        states=Le(after, before + rise),
        ignores_units=True,
        checks=[chain],
    )


def all_steps(step: Claim, line: int, says: str, start: Expr) -> Claim:
    """What T steps with one step size come to."""
    return Claim(
        id=step.id.replace(".step", ".proof"),
        source=Source(step.source.document, step.source.place.replace("one step", "summed over T steps"), line=line),
        kind=Kind.UTILITY,
        says=f"T steps of one size: {says}",
        assumes=step.assumes,
        states=Le(total, start + T * (step.formula - before)),
        ignores_units=True,
        checks=[Chain(total, Step("<=", STATEMENT, because=Induction(T, start, OneStep(step.id, before, after))))],
    )


def summed(subject: Expr, share: Expr, why: Premise, proof: str, end: Expr = STATEMENT) -> list[Chain]:
    """The statement from what T steps come to, of which `subject` is a part."""
    step = Step("<=", share * total / (eta * T), because=why, uses=[drawn] if why is RANDOM else [])
    return [Chain(subject, step, Step("<=", because=Cites(proof)), Step("<=", end))]


# Convex, lssgd20 -----------------------------------------------------------------------------------
step2 = one_step(
    "lssgd20.theorem2", 361,
    "E‖w^k-w*‖² in the norm of A_σ and 2η(F-F*) of the steps before",
    [convex(), lipschitz(G)],
    eta**2 * (G**2 + gamma_s * d * nu**2),
    Chain(
        after,
        Step(
            "=", before + 2 * eta * (gap_k - inner) + eta**2 * (grad2 + nu**2 * induced2),
            because=Premise(f"(4) in the norm of A_σ, squared: {UNBIASED}"),
        ),
        Step("=", because=Cites("lssgd20.lemma4")),
        Step("<=", STATEMENT, because=Slack({CONVEX: 2 * eta * (inner - gap_k), LIPSCHITZ: eta**2 * (G**2 - grad2)})),
    ),
)
sum2 = all_steps(step2, 369, "E‖w^T-w*‖² in the norm of A_σ and the sum of 2η(F-F*).", D_sigma)

bound2 = 2 * G * sqrt(6 * gamma_s * (D_sigma + G**2) * d * log_delta) / (n * eps)
printed_T = (D_sigma + G**2) * spent / (24 * d * G**2 * log_delta)
few = "F = G·max(0, ‖w*‖ - ⟨u,w⟩), u constant, so that A_σu = u: the mean iterate moves by √T·G at most, and Jensen"
theorem2 = Claim(
    id="lssgd20.theorem2",
    source=Source("lssgd20", "Theorem 2", line=136),
    kind=Kind.UTILITY,
    says="Excess risk of the mean iterate with η = 1/√T and T = (D_σ+G²)n²ε²/(24dG²log(1/δ)) steps.",
    assumes=[
        convex(), lipschitz(G), *gamma_modes, batch <= n, constant_steps, noise_v0, Eq(T, printed_T), printed_T >= 1,
        eps**2 <= 5 * printed_T * log_delta * batch**2 / n**2,
    ],
    states=Le(excess_risk, bound2),
    ignores_units=True,
    misprint_of="lssgd20.theorem2.corrected",
    checks=[
        AtMost(
            G * (sqrt(D_sigma) - G * sqrt(T + 1)), few,
            box={D_sigma: (1, 1e8), G: (0.1, 10), eps: (0.1, 2), n: (100, 1e6)},
        )
    ],
)

theorem2_corrected = Claim(
    id="lssgd20.theorem2.corrected",
    source=Source("lssgd20", "Theorem 2, with T as its proof has it", line=379),
    kind=Kind.UTILITY,
    says="The same bound with the proof's T = (D_σ+G²)n²ε²/(24γdG²log(1/δ)).",
    assumes=[convex(), lipschitz(G), batch <= n, constant_steps, Eq(T, printed_T / gamma_s), noise_v0],
    added=[small],
    states=Le(excess_risk, bound2),
    corrects="lssgd20.theorem2",
    ignores_units=True,
    checks=summed(excess_risk, Rational(1, 2), MEAN, "lssgd20.theorem2.proof"),
)

# Convex, lwang21 -----------------------------------------------------------------------------------
variance = Claim(
    id="lwang21.equation5.5.3",
    source=Source("lwang21", "(5.5.3)", line=9315),
    kind=Kind.UTILITY,
    says="The variance of the mean gradient of b records drawn without replacement.",
    assumes=[lipschitz(G), batch <= n],
    added=[n >= 2],
    states=Le(spread2, G**2 / batch),
    checks=[
        Chain(
            spread2,
            Step(
                "<=", G**2 * (n - batch) / ((n - 1) * batch),
                because=Premise(
                    "the variance of a mean of b of n vectors drawn without replacement, of norm at most G (Lipschitz)"
                ),
                uses=[n >= 2],
            ),
            Step("<=", STATEMENT),
        )
    ],
)

progress = Claim(
    id="lwang21.equation5.5.4",
    source=Source("lwang21", "(5.5.4)", line=9327),
    kind=Kind.UTILITY,
    says="(1-Lη/2)η‖∇F‖² ≤ F - F* for an L-smooth F.",
    assumes=[smooth(L_s), eta < 2 / L_s],
    states=Le(slope2, gap_k / ((1 - L_s * eta / 2) * eta)),
    checks=[
        Chain(
            slope2,
            Step(
                "<=", (gap_k - gap_next) / ((1 - L_s * eta / 2) * eta),
                because=Premise("F is L-smooth: a step η along -∇F takes (1-Lη/2)η‖∇F‖² off, at least"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

step4 = one_step(
    "lwang21.theorem5.3.4", 9371,
    "E‖w^k-w*‖² in the norm of A_σ and 2/3·η(F-F*) of the steps before",
    [convex(), lipschitz(G), smooth(L_s), batch <= n, n >= 2, eta <= 1 / (2 * L_s)],
    eta**2 * (G**2 / batch + gamma_s * d * nu**2),
    Chain(
        after,
        Step(
            "<=", before + 2 * eta * (gap_k / 3 - inner) + eta**2 * (spread2 + slope2 + nu**2 * induced2),
            because=Premise(f"(5.2.5) in the norm of A_σ ≥ I, squared: {UNBIASED}"),
        ),
        Step("<=", because=Cites("lwang21.equation5.5.3")),
        Step("<=", because=Cites("lwang21.equation5.5.4")),
        Step("=", because=Cites("lwang21.lemma5.5.7")),
        Step(
            "<=", STATEMENT,
            because=Slack(
                {CONVEX: 2 * eta * (inner - gap_k)}, [eta * gap_k * (Rational(4, 3) - 1 / (1 - L_s * eta / 2))]
            ),
        ),
    ),
)
sum4 = all_steps(step4, 9421, "E‖w^T-w*‖² in the norm of A_σ and the sum of 2/3·η(F-F*).", D_sigma)

rate4 = G * sqrt(6 * gamma_s * (D_sigma + G**2 / batch) * d * log_delta) / (n * eps)
steps4 = (D_sigma + G**2 / batch) * spent / (d * G**2 * log_delta)
applies = [batch <= n, *noise_right, *conditions, constant_steps]  # Theorem 5.3.2
theorem4 = Claim(
    id="lwang21.theorem5.3.4",
    source=Source("lwang21", "Theorem 5.3.4", line=8467),
    kind=Kind.UTILITY,
    says="Excess risk of the mean iterate, η = 1/√T, T = C₁(D_σ+G²/b)n²ε²/(dG²log(1/δ)), where Theorem 5.3.2 applies.",
    assumes=[convex(), lipschitz(G), *gamma_modes, *applies, Eq(T, c1 * steps4)],
    states=Rate(excess_risk, rate4),
    hidden=[c1],
    ignores_units=True,
    misprint_of="lwang21.theorem5.3.4.corrected",
    checks=[
        NoConstant(
            G * (sqrt(D_sigma) - G * sqrt(T)),
            {
                n: far, T: 2 * far**2, eps: Integer(10), delta: exp(-1), split: Rational(1, 2), order: Rational(6, 5),
                eta: 1 / (sqrt(2) * far), nu: sqrt(Rational(48, 5)),
                batch: Integer(1), G: Integer(1), d: 400 * c1 * far**2, gamma_s: 1 / far, D_sigma: 8 * far**2 - 1,
            },
            far,
            few,
            1e4,
        )
    ],
)

theorem4_corrected = Claim(
    id="lwang21.theorem5.3.4.corrected",
    source=Source("lwang21", "Theorem 5.3.4, with T as its proof has it", line=9529),
    kind=Kind.UTILITY,
    says="The same bound with γ in T, T = (D_σ+G²/b)n²ε²/(120γdG²log(1/δ)), for L-smooth losses and T ≥ 4L²; µ = 1/2.",
    assumes=[convex(), lipschitz(G), batch <= n, constant_steps, Eq(T, steps4 / (120 * gamma_s)), *noise_right],
    added=[smooth(L_s), eta <= 1 / (2 * L_s), n >= 2, small, half],
    states=Rate(excess_risk, rate4),
    corrects="lwang21.theorem5.3.4",
    ignores_units=True,
    checks=summed(excess_risk, Rational(3, 2), MEAN, "lwang21.theorem5.3.4.proof", 3 * sqrt(20) * STATEMENT),
)

# Nonconvex, lssgd20 --------------------------------------------------------------------------------
SMOOTH = f"F is L-smooth; {UNBIASED}"
step3 = one_step(
    "lssgd20.theorem3", 405,
    "E F(w^k) - F* and η/2·‖∇F‖² in the norm of A_σ⁻¹ of the steps before",
    [lipschitz(G), smooth(L_s)],
    L_s * eta**2 / 2 * (G**2 + d * beta_s * nu**2),
    Chain(
        after,
        Step(
            "<=", before + eta * dual2 / 2 - eta * dual2 + L_s * eta**2 / 2 * (grad2 + nu**2 * smoothed2),
            because=Premise(SMOOTH),
        ),
        Step("=", because=Cites("lssgd20.lemma5")),
        Step("<=", STATEMENT, because=Slack({LIPSCHITZ: L_s * eta**2 / 2 * (G**2 - grad2)}, [eta * dual2 / 2])),
    ),
)
sum3 = all_steps(step3, 409, "E F(w^T) - F* and the sum of η/2·‖∇F‖² in the norm of A_σ⁻¹.", gap)

bound3 = 4 * G * sqrt(6 * beta_s * d * L_s * (2 * gap + L_s * G**2) * log_delta) / (n * eps)
ledge = (
    "F falls with slope G along a constant u for a length x ≥ √T·G, then levels off: half of the time, by the symmetry "
    "of the noise, the mean iterate has not come so far"
)
# ν² = 8TG²(2log(1/δ)+ε)/(n²ε²) stands in the printed T = (D_F+Lν²)n²ε²/(12dLG²log(1/δ)): solved for T.
printed_T3 = gap * spent / (4 * L_s * G**2 * (3 * d * log_delta - 2 * (2 * log_delta + eps)))
theorem3 = Claim(
    id="lssgd20.theorem3",
    source=Source("lssgd20", "Theorem 3", line=148),
    kind=Kind.UTILITY,
    says="Gradient at the mean iterate, η = 1/√T and T = (D_F+Lν²)n²ε²/(12dLG²log(1/δ)).",
    assumes=[
        lipschitz(G), smooth(L_s), *beta_modes, batch <= n, constant_steps, noise_v0, Eq(T, printed_T3),
        printed_T3 >= 1, eps**2 <= 5 * printed_T3 * log_delta * batch**2 / n**2,
    ],
    states=Le(norm2, bound3),
    ignores_units=True,
    checks=[
        AtMost(
            Min(G**2 / 2, gap - G**2 / (2 * L_s) - G**2 * sqrt(T + 1)),
            f"{ledge}: G²/2 where D_F - G²/(2L) = G·x exceeds √(T+1)·G²",
            box={gap: (10, 1e4), G: (1, 2), L_s: (0.5, 2), d: (200, 1e4), n: (100, 1e6), eps: (0.1, 2)},
        )
    ],
)

best3 = (2 * gap + L_s * G**2) * spent / (24 * d * L_s * beta_s * G**2 * log_delta)
theorem3_corrected = Claim(
    id="lssgd20.theorem3.corrected",
    source=Source("lssgd20", "Theorem 3, with T as its proof has it", line=419),
    kind=Kind.UTILITY,
    says="The same bound at a random iterate, with the proof's T = (2D_F+LG²)n²ε²/(24dLβG²log(1/δ)).",
    assumes=[lipschitz(G), smooth(L_s), batch <= n, constant_steps, Eq(T, best3), noise_v0],
    added=[drawn, small],
    states=Le(norm2, bound3),
    corrects="lssgd20.theorem3",
    ignores_units=True,
    checks=summed(norm2, Integer(2), RANDOM, "lssgd20.theorem3.proof"),
)

# Nonconvex, lwang21 --------------------------------------------------------------------------------
step7 = one_step(
    "lwang21.theorem5.3.7", 9690,
    "E F(w^k) - F* and η/2·‖∇F‖² in the norm of A_σ⁻¹ of the steps before",
    [lipschitz(G), smooth(L_s), batch <= n, n >= 2, eta <= 1 / L_s],
    L_s * eta**2 / 2 * (G**2 / batch + d * beta_s * nu**2),
    Chain(
        after,
        Step(
            "<=", before + eta * dual2 / 2 - eta * dual2 + L_s * eta**2 / 2 * (spread2 + dual2 + nu**2 * smoothed2),
            because=Premise(f"{SMOOTH}; A_σ ≥ I"),
        ),
        Step("<=", because=Cites("lwang21.equation5.5.3")),
        Step("=", because=Cites("lwang21.lemma5.5.8")),
        Step("<=", STATEMENT, because=Slack(seen=[eta / 2 * (1 - L_s * eta) * dual2])),
    ),
)
sum7 = all_steps(step7, 9730, "E F(w^T) - F* and the sum of η/2·‖∇F‖² in the norm of A_σ⁻¹.", gap)

rate7 = G * sqrt(beta_s * d * L_s * (2 * gap + L_s * G**2 / batch) * log_delta) / (n * eps)
theorem7 = Claim(
    id="lwang21.theorem5.3.7",
    source=Source("lwang21", "Theorem 5.3.7", line=8546),
    kind=Kind.UTILITY,
    says="Gradient at the mean iterate, η = 1/√T, T = C₁(D_F+LG²/b)n²ε²/(dLG²log(1/δ)), where Theorem 5.3.2 applies.",
    assumes=[
        lipschitz(G), smooth(L_s), *beta_modes, *applies,
        Eq(T, c1 * (gap + L_s * G**2 / batch) * spent / (d * L_s * G**2 * log_delta)),
    ],
    states=Rate(norm2, rate7),
    hidden=[c1],
    ignores_units=True,
    checks=[
        NoConstant(
            G**2 / 2,
            {
                n: far, T: 2 * far**2, eps: Integer(10), delta: exp(-1), split: Rational(1, 2), order: Rational(6, 5),
                eta: 1 / (sqrt(2) * far), nu: sqrt(Rational(48, 5)),
                batch: Integer(1), G: Integer(1), L_s: Integer(1), d: c1 * (100 * far + 75), beta_s: 1 / sqrt(far),
                gap: 2 * far + Rational(1, 2),
            },
            far,
            f"{ledge}; x = 2n",
            1e6,
        )
    ],
)

theorem7_corrected = Claim(
    id="lwang21.theorem5.3.7.corrected",
    source=Source("lwang21", "Theorem 5.3.7, with T as its proof has it", line=9801),
    kind=Kind.UTILITY,
    says="The same bound at a random iterate, with β in T, T = (2D_F+LG²/b)n²ε²/(120dLβG²log(1/δ)) ≥ L²; µ = 1/2.",
    assumes=[
        lipschitz(G), smooth(L_s), batch <= n, constant_steps, *noise_right,
        Eq(T, (2 * gap + L_s * G**2 / batch) * spent / (120 * d * L_s * beta_s * G**2 * log_delta)),
    ],
    added=[drawn, eta <= 1 / L_s, n >= 2, small, half],
    states=Rate(norm2, rate7),
    corrects="lwang21.theorem5.3.7",
    ignores_units=True,
    checks=summed(norm2, Integer(2), RANDOM, "lwang21.theorem5.3.7.proof", 2 * sqrt(120) * STATEMENT),
)

# The l2 norm ---------------------------------------------------------------------------------------
plain_norm, plain_norm_v0 = both(
    "theorem5.3.7.l2", "theorem3.l2", places=("after Proposition 5.3.8", "after Proposition 2"), lines=(8605, 160),
    kind=Kind.UTILITY,
    says="‖∇F‖² in the ℓ₂ norm is at most 1+4σ times that in the norm of A_σ⁻¹.",
    states=Le(plain2, (1 + 4 * smoothing) * norm2),
    checks=[
        Chain(
            plain2,
            Step("<=", eigenvalue * norm2, because=Premise("v² ≤ λ·v²/λ' in each mode λ', λ at θ = π, the largest")),
            Step("=", because=Cites("lwang21.section5.2.fft", {angle: pi})),
            Step("=", STATEMENT),
        )
    ],
)

x, y = Symbol("x", real=True), Symbol("y", real=True)


def gradient_at(point: tuple[Expr, Expr]) -> Expr:
    """The norm of the gradient of x²/4 + y², the example's function where that is at most 1."""
    return sqrt(sum(diff(x**2 / 4 + y**2, z).subs({x: point[0], y: point[1]}) ** 2 for z in (x, y)))


example, example_v0 = both(
    "equation5.5.5", "equation5", lines=(9899, 166), kind=Kind.IDENTITY,
    says="In the example a₂ = (1, √3/2) is nearer to the minimum than a₁ = (2, 0), and its gradient larger: √13/2 (of "
    "s·f, s times that) against 1. By the first of the two cases, on whose border both points lie.",
    states=Eq(slope, factor * sqrt(13) / 2),
    checks=[Equals(lambda: factor * gradient_at((Integer(1), sqrt(3) / 2)), "x²/4 + y², differentiated")],
)
