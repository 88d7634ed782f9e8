"""Gradient descent on smooth convex risks: how far neighbouring runs part, and how fast it converges.

Lemmas 2, 3, 5 and 8 of zhang17 (section 3.1, A.1 to A.3), on which output perturbation rests. In proofs about one step
vectors stand in one coordinate: g is the mean difference of the gradients of the common records, h that of the record
that differs.
"""

from sympy import Eq, Expr, Le, exp, symbols

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
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, OneStep, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Contradictory, Less, Sharper

AT_ITERATES = "where both runs go"
end_norm = quantity(
    "end_norm", "norm of the last iterate of a run from 0", parameter=1, printed="‖w_T‖", latex=r"\|w_T\|"
)
end_away = quantity(
    "end_away", "distance of the last iterate from ŵ", parameter=1, printed="‖w_T-ŵ‖", latex=r"\|w_T-\hat w\|"
)
gap_T = quantity("gap_T", "F(w_T) - F(ŵ)", loss=1, printed="F(w_T) - F(ŵ)", latex=r"F(w_T)-F(\hat w)")
parted = quantity("parted", "distance of two neighbouring runs at a step", parameter=1, printed="Δ_t")
parted_next = quantity(
    "parted_next",
    "distance of two neighbouring runs a step later",
    parameter=1,
    printed="Δ_(t+1)",
    latex=r"\Delta_{t+1}",
)


def sensitivity_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case at a point of the hypotheses."""
    return gradient_descent_sensitivity(
        n=int(p["n"]), steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"],
        strong_convexity=p.get("mu", 0.0), lipschitz=p["L"],
    )


def regularised_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case of losses l + mu/2 ||w||^2 with l convex, (beta - mu)-smooth and L-Lipschitz."""
    return gradient_descent_sensitivity(
        n=int(p["n"]), steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"],
        strong_convexity=p["mu"], lipschitz=p["L"], regularised=True,
    )


def rate_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case of F(w_T) - F(w_hat) at distance 1."""
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


def rate_points(largest: float) -> list[dict[str, float]]:
    """For convergence, with steps up to `largest` / (β + μ)."""
    return [
        {"T": steps, "eta": share * largest / (1 + m_), "beta": 1.0, "mu": m_, "distance": 1.0}
        for steps, m_, share in
        [(1, 0.1, 1.0), (8, 0.9, 0.05), (6, 0.3, 1.0), (5, 0.01, 0.1), (8, 0.05, 0.5), (3, 0.5, 0.3), (1, 0.01, 0.01)]
    ]


natural_points = [{"T": k, "eta": 1.0, "beta": 1.0, "distance": 1.0} for k in (1, 2, 4, 8, 12, 20)]

# One step ------------------------------------------------------------------------------------------
g, h = symbols("g h", real=True)
after_a_step = (parted - eta * (g + h)) ** 2
ONE_STEP = Premise("w_(t+1) - w'_(t+1) = (w_t - w'_t) - η(g + h), by Algorithm 1")


def given_away(*more_seen: Expr, **more_given: Expr) -> Slack:
    """What both recursions give away at the record that differs, whose two gradients are at most L long."""
    return Slack(
        given=more_given
        | {
            "‖h‖ ≤ 2L/n": 2 * eta**2 * ((2 * L / n) ** 2 - h**2),
            "⟨Δ, h⟩ ≥ -2L/n·Δ": 2 * eta * parted * (2 * L / n + h),
        },
        seen=[*more_seen, eta**2 * (g - h) ** 2],
    )


recursion2 = Claim(
    id="zhang17.lemma2.recursion",
    source=Source("zhang17", "Lemma 2, the recursion of its proof", line=143),
    kind=Kind.SENSITIVITY,
    says="One step of gradient descent on convex losses, squared.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(parted_next**2, parted**2 + 4 * eta * L / n * parted + 8 * eta**2 * L**2 / n**2),
    checks=[
        Chain(
            parted_next**2,
            Step("=", after_a_step, because=ONE_STEP),
            Step(
                "<=", STATEMENT,
                because=given_away(
                    2 * eta * (1 / beta - eta) * g**2,
                    **{"⟨Δ, g⟩ ≥ ‖g‖²/β (convex, smooth)": 2 * eta * (parted * g - g**2 / beta)},
                ),
            ),
        )
    ],
)

recursion3 = Claim(
    id="zhang17.lemma3.recursion",
    source=Source("zhang17", "proof of Lemma 3, the recursion; its last line, printed =, read as ≤", line=395),
    kind=Kind.SENSITIVITY,
    says="One step of gradient descent on strongly convex losses, squared.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), n >= 2],
    states=Le(
        parted_next**2,
        (1 - 2 * (n - 1) * eta * mu * beta / (n * (mu + beta))) * parted**2
        + 4 * eta * L / n * parted
        + 8 * eta**2 * L**2 / n**2,
    ),
    provenance=Provenance.READING,
    checks=[
        Chain(
            parted_next**2,
            Step("=", after_a_step, because=ONE_STEP),
            Step(
                "<=", STATEMENT,
                because=given_away(
                    2 * eta * (1 / (mu + beta) - eta) * g**2,
                    **{
                        "⟨Δ, g⟩ ≥ (n-1)/n·μβ/(μ+β)·Δ² + ‖g‖²/(μ+β) (strongly convex, smooth)": 2 * eta * (
                            parted * g - (n - 1) / n * mu * beta / (mu + beta) * parted**2 - g**2 / (mu + beta)
                        )
                    },
                ),
            ),
        )
    ],
)

# Sensitivity ---------------------------------------------------------------------------------------
NOT_EXPANDING = "a gradient step on the common records does not expand; two gradients of the other differ by 2L/n"
CONTRACTING = "a gradient step on the common records contracts by 1-ημ; two gradients of the other differ by 2L/n"

lemma2 = Claim(
    id="zhang17.lemma2",
    source=Source("zhang17", "Lemma 2", line=137),
    kind=Kind.SENSITIVITY,
    says="T steps of gradient descent on neighbouring datasets end at most this far apart.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(Delta_T, 3 * L * T * eta / n),
    checks=[
        Chain(
            Delta_T,
            Step("<=", STATEMENT, because=Induction(T, step=OneStep("zhang17.lemma2.recursion", parted, parted_next))),
        ),
        Exactness(sensitivity_at, convex_points, "over all smooth convex losses", vary=["eta"]),
    ],
)

lemma2_corrected = Claim(
    id="zhang17.lemma2.corrected",
    source=Source("zhang17", "Lemma 2"),
    kind=Kind.SENSITIVITY,
    says="The exact constant is 2: attained by linear losses.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(Delta_T, 2 * L * T * eta / n),
    corrects="zhang17.lemma2",
    checks=[
        Chain(
            Delta_T,
            Step("<=", STATEMENT, because=Induction(T, step=lambda b: b + 2 * eta * L / n, given=NOT_EXPANDING)),
        ),
        Exactness(sensitivity_at, convex_points, "over all smooth convex losses", vary=["eta"]),
    ],
)

lemma3 = Claim(
    id="zhang17.lemma3",
    source=Source("zhang17", "Lemma 3, read as its proof does: Lipschitz where the iterates go", line=149),
    kind=Kind.SENSITIVITY,
    says="With strong convexity the distance stays bounded for any number of steps.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), mu <= beta],
    added=[n >= 2],
    states=Le(Delta_T, 5 * L * (mu + beta) / (n * mu * beta)),
    provenance=Provenance.READING,
    checks=[
        Chain(
            Delta_T,
            Step("<=", STATEMENT, because=Induction(T, step=OneStep("zhang17.lemma3.recursion", parted, parted_next))),
        ),
        Sharper(2 * L / (n * mu), "Lemma 3 corrected, for any number of steps"),
        Exactness(sensitivity_at, strong_points, "over all smooth strongly convex losses", vary=["eta"]),
    ],
)

lemma3_global = Claim(
    id="zhang17.lemma3.global",
    source=Source("zhang17", "Lemma 3, to the letter: Lipschitz on all of R^d", line=149),
    kind=Kind.SENSITIVITY,
    says="The same, with the Lipschitz bound on the whole space as the lemma states it.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L), eta <= 1 / (beta + mu)],
    states=Le(Delta_T, 5 * L * (mu + beta) / (n * mu * beta)),
    checks=[
        Contradictory(
            [Less("at distance 3L/μ strong convexity moves the gradient by more than 2L", 2 * L, mu * (3 * L / mu))],
            "no loss is strongly convex and Lipschitz on all of R^d",
        )
    ],
)

contraction = lambda b: (1 - eta * mu) * b + 2 * eta * L / n  # noqa: E731

lemma3_corrected = Claim(
    id="zhang17.lemma3.corrected",
    source=Source("zhang17", "Lemma 3"),
    kind=Kind.SENSITIVITY,
    says="The distance contracts by 1-ημ a step and grows by 2ηL/n, for every T.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), mu <= beta],
    states=Le(Delta_T, 2 * L / (n * mu) * (1 - (1 - eta * mu) ** T)),
    corrects="zhang17.lemma3",
    checks=[
        Chain(Delta_T, Step("<=", STATEMENT, because=Induction(T, step=contraction, given=CONTRACTING))),
        Exactness(sensitivity_at, strong_points, "over all smooth strongly convex losses", vary=["eta"]),
    ],
)

lemma3_regularised = Claim(
    id="zhang17.lemma3.regularised",
    source=Source("zhang17", "Lemma 3, for the losses of section 4"),
    kind=Kind.SENSITIVITY,
    says="For f = ℓ + μ/2·‖w‖² the regulariser is common to both runs: only the Lipschitz constant of ℓ counts.",
    assumes=[
        convex(),
        smooth(beta),
        lipschitz(L, "without its regulariser"),
        Setting("f = ℓ + μ/2·‖w‖² with ℓ convex"),
        eta <= 1 / (beta + mu),
        mu <= beta,
    ],
    states=Le(Delta_T, 2 * L / (n * mu) * (1 - (1 - eta * mu) ** T)),
    corrects="zhang17.lemma3",
    checks=[
        Chain(
            Delta_T,
            Step(
                "<=",
                STATEMENT,
                because=Induction(
                    T, step=contraction, given="the common part, μ/2·‖w‖² in it, contracts by 1-ημ; ∇ℓ differs by 2L/n"
                ),
            ),
        ),
        Exactness(regularised_at, strong_points, "over all such regularised losses"),
    ],
)

lemma2_confined = Claim(
    id="zhang17.lemma2.confined",
    source=Source("zhang17", "Lemma 2"),
    kind=Kind.SENSITIVITY,
    says="A run from 0 goes no further than its steps: a bound on the gradients is needed only within that ball.",
    assumes=[lipschitz(L, AT_ITERATES), Setting("the run starts at 0")],
    states=Le(end_norm, eta * L * T),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            end_norm,
            Step(
                "<=",
                STATEMENT,
                because=Induction(T, step=lambda b: b + eta * L, given="a step adds η∇f, of norm at most ηL"),
            ),
        )
    ],
)

lemma3_confined = Claim(
    id="zhang17.lemma3.regularised.confined",
    source=Source("zhang17", "Lemma 3, for the losses of section 4"),
    kind=Kind.SENSITIVITY,
    says="The regulariser keeps every run from 0 in the ball of radius L/μ: a bound on ‖∇ℓ‖ is needed only there.",
    assumes=[
        lipschitz(L, "without its regulariser, " + AT_ITERATES),
        Setting("f = ℓ + μ/2·‖w‖²; the run starts at 0"),
        eta <= 1 / (beta + mu),
        mu <= beta,
    ],
    states=Le(end_norm, L / mu * (1 - (1 - eta * mu) ** T)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            end_norm,
            Step(
                "<=",
                STATEMENT,
                because=Induction(
                    T,
                    step=lambda b: (1 - eta * mu) * b + eta * L,
                    given="a step keeps 1-ημ of w and adds η∇ℓ, of norm at most ηL",
                ),
            ),
        )
    ],
)

to_the_minimiser = Claim(
    id="zhang17.lemma3.ball.minimiser",
    source=Source("zhang17", "proof of Lemma 3: the iterates stay in the ball of radius 2D", line=403),
    kind=Kind.SENSITIVITY,
    says="A run from 0 never moves away from its minimiser, whose norm is at most D.",
    assumes=[convex(), smooth(beta), eta <= 2 / beta, Setting("w₀ = 0; ‖ŵ‖ ≤ D for both datasets")],
    states=Le(end_away, D),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            end_away,
            Step(
                "<=",
                STATEMENT,
                because=Induction(
                    T, start=D, step=lambda b: b, given="η²‖∇F‖² ≤ 2η⟨∇F, w-ŵ⟩, as ‖∇F‖² ≤ β⟨∇F, w-ŵ⟩ and η ≤ 2/β"
                ),
            ),
        )
    ],
)

ball3 = Claim(
    id="zhang17.lemma3.ball",
    source=Source("zhang17", "proof of Lemma 3: the iterates stay in the ball of radius 2D", line=403),
    kind=Kind.SENSITIVITY,
    says="A run from 0 never leaves the ball of radius 2D around 0, if its minimiser has norm at most D.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / (beta + mu), Setting("w₀ = 0; ‖ŵ‖ ≤ D for both datasets")],
    states=Le(end_norm, 2 * D),
    checks=[
        Chain(
            end_norm,
            Step("<=", end_away + D, because=Premise("‖w_T‖ ≤ ‖w_T-ŵ‖ + ‖ŵ‖")),
            Step("<=", because=Cites("zhang17.lemma3.ball.minimiser")),
            Step("=", STATEMENT),
        )
    ],
)

# Convergence -------------------------------------------------------------------
lemma5 = Claim(
    id="zhang17.lemma5",
    source=Source("zhang17", "Lemma 5", line=412),
    kind=Kind.UTILITY,
    says="Gradient descent on a strongly convex smooth risk converges exponentially.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 2 / (beta + mu), mu <= beta],
    states=Le(gap_T, beta / 2 * exp(-2 * eta * mu * beta * T / (mu + beta)) * distance**2),
    checks=[Exactness(rate_at, rate_points(2.0), "over all such risks", vary=["eta"])],
)

lemma5_corrected = Claim(
    id="zhang17.lemma5.corrected",
    source=Source("zhang17", "Lemma 5"),
    kind=Kind.UTILITY,
    says="The exact rate for steps up to 1/β.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / beta, mu <= beta],
    states=Le(gap_T, mu / 2 * distance**2 / (mu / beta - 1 + (1 - eta * mu) ** (-2 * T))),
    corrects="zhang17.lemma5",
    checks=[Exactness(rate_at, rate_points(1.0), "over all such risks", vary=["eta"])],
)

lemma8 = Claim(
    id="zhang17.lemma8",
    source=Source("zhang17", "Lemma 8", line=441),
    kind=Kind.UTILITY,
    says="Gradient descent with step 1/β on a convex smooth risk converges like 1/T.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(gap_T, 2 * beta * distance**2 / T),
    checks=[
        Chain(gap_T, Step("<=", because=Cites("zhang17.lemma8.corrected")), Step("<=", STATEMENT)),
        Exactness(rate_at, natural_points, "over all such risks", vary=["eta"]),
    ],
)

lemma8_corrected = Claim(
    id="zhang17.lemma8.corrected",
    source=Source("zhang17", "Lemma 8"),
    kind=Kind.UTILITY,
    says="The exact rate.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(gap_T, beta * distance**2 / (4 * T + 2)),
    corrects="zhang17.lemma8",
    checks=[Exactness(rate_at, natural_points, "over all such risks", vary=["eta"])],
)
