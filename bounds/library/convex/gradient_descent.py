"""Gradient descent on smooth convex risks: how far neighbouring runs part, and how fast it converges.

Lemmas 2, 3, 5 and 8 of zhang17 (section 3.1, A.1 to A.3), on which output perturbation rests. In proofs about one step
vectors stand in one coordinate: g is the mean difference of the gradients of the common records, h that of the record
that differs.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, symbols

from dpcheck.bounds.language.claim import (
    Claim,
    Kind,
    Provenance,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.symbols import D, Delta_T, L, T, beta, distance, eta, mu, n, quantity
from dpcheck.bounds.performance.worst_case import gradient_descent_rate, gradient_descent_sensitivity
from dpcheck.bounds.privacy.numeric_checks import Exactness
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, OneStep, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Sharper

AT_ITERATES = "where both runs go"
end_norm = quantity("end_norm", "norm of the last iterate of a run from 0", parameter=1, printed="‖w_T‖")
end_away = quantity("end_away", "distance of the last iterate from ŵ", parameter=1, printed="‖w_T-ŵ‖")
gap_T = quantity("gap_T", "F(w_T) - F(ŵ)", loss=1, printed="F(w_T) - F(ŵ)", latex=r"F(w_T)-F(\hat w)")
parted = quantity("parted", "distance of two neighbouring runs at a step", parameter=1, printed="Δ_t")
parted_next = quantity("parted_next", "distance of neighbouring runs a step later", parameter=1, printed="Δ_(t+1)")


# Exact worst cases -----------------------------------------------------------------------------------
def sensitivity_at(p, regularised=False):  # type: ignore[no-untyped-def]
    """How far neighbouring runs part at a point of the hypotheses; `regularised`: of losses l + mu/2 ||w||^2."""
    return gradient_descent_sensitivity(
        n=int(p["n"]), steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"],
        strong_convexity=p.get("mu", 0.0), lipschitz=p["L"], regularised=regularised,
    )


def rate_at(p):  # type: ignore[no-untyped-def]
    """F(w_T) - F(w_hat) at distance 1."""
    return gradient_descent_rate(
        steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"], strong_convexity=p.get("mu", 0.0)
    )


# The largest step that is allowed and smaller ones, few records and many: what is certified is what was tried.
convex_points = [
    {"n": size, "T": steps, "eta": step, "beta": 1.0, "L": 1.0} for size, steps, step in
    [(2, 1, 1.0), (10, 5, 1.0), (100, 3, 0.01), (10, 4, 0.3), (1000, 8, 1.0), (3, 6, 0.5), (2, 2, 1.0), (50, 20, 1.0)]
]
strong_points = [
    {"n": size, "T": steps, "eta": share / (1 + m_), "beta": 1.0, "mu": m_, "L": 1.0} for size, steps, m_, share in
    [
        (2, 1, 0.1, 1.0), (10, 3, 0.1, 1.0), (3, 2, 0.01, 0.02), (10, 3, 0.3, 0.5), (2, 5, 0.5, 1.0),
        (10, 5, 0.9, 1.0), (3, 8, 0.05, 1.0), (10, 20, 0.05, 1.0),
    ]
]
natural_points = [{"T": k, "eta": 1.0, "beta": 1.0, "distance": 1.0} for k in (1, 2, 4, 8, 12, 20)]


def rate_points(largest: float) -> list[dict[str, float]]:
    """For convergence, with steps up to `largest` / (β + μ)."""
    return [
        {"T": steps, "eta": share * largest / (1 + m_), "beta": 1.0, "mu": m_, "distance": 1.0}
        for steps, m_, share in
        [(1, 0.1, 1.0), (8, 0.9, 0.05), (6, 0.3, 1.0), (5, 0.01, 0.1), (8, 0.05, 0.5), (3, 0.5, 0.3), (1, 0.01, 0.01)]
    ]


# One step ------------------------------------------------------------------------------------------
g, h = symbols("g h", real=True)
after_a_step = (parted - eta * (g + h)) ** 2
ONE_STEP = Premise("w_(t+1) - w'_(t+1) = (w_t - w'_t) - η(g + h), by Algorithm 1")
convex_losses = [convex(), smooth(beta), lipschitz(L), eta <= 1 / beta]
strong_losses = [strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), mu <= beta]


def given_away(coercive: str, part: Expr, seen: Expr) -> Slack:
    """What a recursion gives away: by co-coercivity on the common records, and at the record that differs."""
    return Slack(
        given={
            coercive: 2 * eta * part,
            "‖h‖ ≤ 2L/n (Lipschitz)": 2 * eta**2 * ((2 * L / n) ** 2 - h**2),
            "⟨Δ, h⟩ ≥ -2L/n·Δ": 2 * eta * parted * (2 * L / n + h),
        },
        seen=[2 * eta * seen * g**2, eta**2 * (g - h) ** 2],
    )


recursion2 = Claim(
    id="zhang17.lemma2.recursion", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 2, the recursion of its proof", line=143),
    says="One step of gradient descent on convex losses, squared.",
    assumes=convex_losses,
    states=Le(parted_next**2, parted**2 + 4 * eta * L / n * parted + 8 * eta**2 * L**2 / n**2),
    checks=[
        Chain(
            parted_next**2,
            Step("=", after_a_step, because=ONE_STEP),
            Step("<=", STATEMENT, because=given_away(
                "⟨Δ, g⟩ ≥ ‖g‖²/β (convex, smooth)", parted * g - g**2 / beta, 1 / beta - eta)),
        )
    ],
)

shared = (n - 1) / n * mu * beta / (mu + beta) * parted**2
recursion3 = Claim(
    id="zhang17.lemma3.recursion", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "proof of Lemma 3, the recursion; its last line, printed =, read as ≤", line=396),
    says="One step of gradient descent on strongly convex losses, squared.",
    assumes=[*strong_losses, n >= 2],
    states=Le(
        parted_next**2,
        (1 - 2 * (n - 1) * eta * mu * beta / (n * (mu + beta))) * parted**2
        + 4 * eta * L / n * parted + 8 * eta**2 * L**2 / n**2,
    ),
    checks=[
        Chain(
            parted_next**2,
            Step("=", after_a_step, because=ONE_STEP),
            Step("<=", STATEMENT, because=given_away(
                "⟨Δ, g⟩ ≥ (n-1)/n·μβ/(μ+β)·Δ² + ‖g‖²/(μ+β) (strongly convex, smooth)",
                parted * g - shared - g**2 / (mu + beta), 1 / (mu + beta) - eta)),
        )
    ],
)


# Sensitivity ---------------------------------------------------------------------------------------
def by_steps(subject, step, given, uses=()):  # type: ignore[no-untyped-def]
    """The bound carried from one step to the next, for a reason in words that rests on these hypotheses."""
    return Chain(subject, Step("<=", STATEMENT, because=Induction(T, step=step, given=given), uses=uses))


lemma2 = Claim(
    id="zhang17.lemma2", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 2", line=137),
    says="T steps of gradient descent on neighbouring datasets end at most this far apart.",
    assumes=convex_losses,
    states=Le(Delta_T, 3 * L * T * eta / n),
    checks=[
        by_steps(Delta_T, OneStep("zhang17.lemma2.recursion", parted, parted_next), ""),
        Exactness(sensitivity_at, convex_points, "over all smooth convex losses", vary=["eta"]),
    ],
)

lemma2_corrected = Claim(
    id="zhang17.lemma2.corrected", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 2", line=137),
    says="The exact constant is 2: attained by linear losses.",
    assumes=convex_losses,
    states=Le(Delta_T, 2 * L * T * eta / n),
    corrects="zhang17.lemma2",
    checks=[
        by_steps(
            Delta_T, lambda b: b + 2 * eta * L / n,
            "a gradient step on the common records does not expand (convex, smooth); two gradients of the other differ "
            "by 2L/n (Lipschitz)",
            uses=[eta <= 1 / beta],
        ),
        Exactness(sensitivity_at, convex_points, "over all smooth convex losses", vary=["eta"]),
    ],
)

lemma3 = Claim(
    id="zhang17.lemma3", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 3, Lipschitz as its proof in A.1 uses it: where the iterates go", line=149),
    says="With strong convexity the distance stays bounded for any number of steps.",
    assumes=[*strong_losses, n >= 2],
    states=Le(Delta_T, 5 * L * (mu + beta) / (n * mu * beta)),
    checks=[
        by_steps(Delta_T, OneStep("zhang17.lemma3.recursion", parted, parted_next), ""),
        Sharper(2 * L / (n * mu), "Lemma 3 corrected, for any number of steps"),
        Exactness(sensitivity_at, strong_points, "over all smooth strongly convex losses", vary=["eta"]),
    ],
)

contraction = lambda b: (1 - eta * mu) * b + 2 * eta * L / n  # noqa: E731

lemma3_corrected = Claim(
    id="zhang17.lemma3.corrected", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 3", line=149),
    says="The distance contracts by 1-ημ a step and grows by 2ηL/n, for every T.",
    assumes=strong_losses,
    states=Le(Delta_T, 2 * L / (n * mu) * (1 - (1 - eta * mu) ** T)),
    corrects="zhang17.lemma3",
    checks=[
        by_steps(
            Delta_T, contraction,
            "a gradient step on the common records contracts by 1-ημ (strongly convex, smooth); two gradients of the "
            "other differ by 2L/n (Lipschitz)",
            uses=[eta <= 1 / (beta + mu)],
        ),
        Exactness(sensitivity_at, strong_points, "over all smooth strongly convex losses", vary=["eta"]),
    ],
)

REGULARISED = Setting("f = ℓ + μ/2·‖w‖² with ℓ convex")
regularised = [REGULARISED, eta <= 1 / (beta + mu), mu <= beta]

lemma3_regularised = Claim(
    id="zhang17.lemma3.regularised", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 3, for the losses of section 4", line=149),
    says="For f = ℓ + μ/2·‖w‖² the regulariser is common to both runs: only the Lipschitz constant of ℓ counts.",
    assumes=[convex(), smooth(beta), lipschitz(L, "without its regulariser"), *regularised],
    states=Le(Delta_T, 2 * L / (n * mu) * (1 - (1 - eta * mu) ** T)),
    corrects="zhang17.lemma3",
    checks=[
        by_steps(
            Delta_T,
            contraction,
            "the common part, μ/2·‖w‖² in it, contracts by 1-ημ (convex, smooth); ∇ℓ differs by 2L/n (Lipschitz)",
            uses=[REGULARISED, eta <= 1 / (beta + mu)],
        ),
        Exactness(lambda p: sensitivity_at(p, regularised=True), strong_points, "over all such regularised losses"),
    ],
)

FROM_0, REGULARISED_FROM_0 = Setting("the run starts at 0"), Setting("f = ℓ + μ/2·‖w‖²; the run starts at 0")

lemma2_confined = Claim(
    id="zhang17.lemma2.confined", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 2"),
    says="A run from 0 goes no further than its steps: a bound on the gradients is needed only within that ball.",
    assumes=[lipschitz(L, AT_ITERATES), FROM_0],
    states=Le(end_norm, eta * L * T),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        by_steps(end_norm, lambda b: b + eta * L, "a step adds η∇f, of norm at most ηL (Lipschitz)", uses=[FROM_0])
    ],
)

lemma3_confined = Claim(
    id="zhang17.lemma3.regularised.confined", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "Lemma 3, for the losses of section 4"),
    says="The regulariser keeps every run from 0 in the ball of radius L/μ: a bound on ‖∇ℓ‖ is needed only there.",
    assumes=[
        lipschitz(L, "without its regulariser, " + AT_ITERATES),
        REGULARISED_FROM_0,
        eta <= 1 / (beta + mu),
        mu <= beta,
    ],
    states=Le(end_norm, L / mu * (1 - (1 - eta * mu) ** T)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        by_steps(
            end_norm, lambda b: (1 - eta * mu) * b + eta * L,
            "a step keeps 1-ημ of w and adds η∇ℓ, of norm at most ηL (Lipschitz)",
            uses=[REGULARISED_FROM_0],
        )
    ],
)

towards = Symbol("towards", nonnegative=True)  # ⟨∇F, w-ŵ⟩

NEAR_0 = Setting("w₀ = 0; ‖ŵ‖ ≤ D for both datasets")

ball3 = Claim(
    id="zhang17.lemma3.ball", kind=Kind.SENSITIVITY,
    source=Source("zhang17", "proof of Lemma 3: the iterates stay in the ball of radius 2D", line=398),
    says="A run from 0 never leaves the ball of radius 2D around 0, if its minimiser has norm at most D.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / (beta + mu), NEAR_0],
    states=Le(end_norm**2, (2 * D) ** 2),
    checks=[
        Chain(
            end_norm**2,
            Step(
                "<=", 2 * end_away**2 + 2 * D**2, because=Premise("(‖w_T-ŵ‖ + ‖ŵ‖)² ≤ 2‖w_T-ŵ‖² + 2‖ŵ‖²"), uses=[NEAR_0]
            ),
            Step(
                "<=",
                STATEMENT,
                because=Induction(
                    T,
                    start=4 * D**2,
                    step=lambda b: b - 2 * (2 * eta - beta * eta**2) * towards,
                    given="‖w-ŵ-η∇F‖² = ‖w-ŵ‖² - 2η⟨∇F, w-ŵ⟩ + η²‖∇F‖² with ‖∇F‖² ≤ β⟨∇F, w-ŵ⟩ (convex, smooth)",
                ),
            ),
        )
    ],
)

# Convergence -------------------------------------------------------------------
pulled_in = 2 * eta * mu * beta / (mu + beta)  # the share of ‖w-ŵ‖² that a step takes away

lemma5 = Claim(
    id="zhang17.lemma5", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 5", line=412),
    says="Gradient descent on a strongly convex smooth risk converges exponentially.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 2 / (beta + mu), mu <= beta],
    states=Le(gap_T, beta / 2 * exp(-2 * eta * mu * beta * T / (mu + beta)) * distance**2),
    checks=[
        Chain(
            gap_T,
            Step("<=", beta / 2 * end_away**2, because=Premise("F is β-smooth, and ∇F(ŵ) = 0")),
            Step("<=", beta / 2 * (1 - pulled_in) ** T * distance**2, because=Induction(
                T, start=beta / 2 * distance**2, step=lambda b: (1 - pulled_in) * b,
                given="‖w-ŵ-η∇F‖² ≤ (1-2ημβ/(μ+β))·‖w-ŵ‖², as ⟨∇F, w-ŵ⟩ ≥ ‖∇F‖²/(μ+β) + μβ/(μ+β)·‖w-ŵ‖² (strongly "
                "convex, smooth)")),
            Step("<=", beta / 2 * exp(-pulled_in) ** T * distance**2, because=Premise("1-x ≤ e^-x")),
            Step("=", STATEMENT),
        ),
        Exactness(rate_at, rate_points(2.0), "over all such risks", vary=["eta"]),
    ],
)

lemma5_corrected = Claim(
    id="zhang17.lemma5.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 5", line=412),
    says="The exact rate for steps up to 1/β.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / beta, mu <= beta],
    states=Le(gap_T, mu / 2 * distance**2 / (mu / beta - 1 + (1 - eta * mu) ** (-2 * T))),
    corrects="zhang17.lemma5",
    checks=[Exactness(rate_at, rate_points(1.0), "over all such risks", vary=["eta"])],
)

gap_sum = Symbol("gap_sum", nonnegative=True)  # of all T steps

lemma8 = Claim(
    id="zhang17.lemma8", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 8", line=441),
    says="Gradient descent with step 1/β on a convex smooth risk converges like 1/T.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(gap_T, 2 * beta * distance**2 / T),
    checks=[
        Chain(
            gap_T,
            Step(
                "<=",
                STATEMENT,
                uses=[Eq(eta, 1 / beta)],
                because=Slack(
                    given={
                        "F never rises: the last of T gaps is at most their mean": gap_sum / T - gap_T,
                        "F(w_t⁺)-F(ŵ) ≤ β/2·(‖w_t-ŵ‖²-‖w_t⁺-ŵ‖²) (convex, smooth: Nesterov [18]) adds up over T steps":
                        (beta / 2 * (distance**2 - end_away**2) - gap_sum) / T,
                    },
                    seen=[beta * end_away**2 / (2 * T), Rational(3, 2) * beta * distance**2 / T],
                ),
            ),
        ),
        Exactness(rate_at, natural_points, "over all such risks", vary=["eta"]),
    ],
)

lemma8_corrected = Claim(
    id="zhang17.lemma8.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 8", line=441),
    says="The exact rate.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(gap_T, beta * distance**2 / (4 * T + 2)),
    corrects="zhang17.lemma8",
    checks=[Exactness(rate_at, natural_points, "over all such risks", vary=["eta"])],
)
