"""Gradient descent on smooth convex risks: how far neighbouring runs part, and how fast it converges.

Lemmas 2, 3, 5 and 8 of zhang17 (section 3.1, A.1 to A.3), on which output perturbation rests.
"""

from sympy import Eq, Le, Symbol, exp

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source, convex, lipschitz, smooth, strongly_convex
from dpcheck.bounds.language.symbols import Delta_T, L, T, beta, distance, eta, excess_risk, mu, n, quantity
from dpcheck.bounds.performance.worst_case import gradient_descent_rate, gradient_descent_sensitivity
from dpcheck.bounds.privacy.numeric_checks import Exactness
from dpcheck.bounds.proving.proofs import Contradictory, Induction, Less, Sharper

# Fresh non-negative symbols: eta = 1/(beta (1 + v)) covers exactly eta <= 1/beta, and so on.
v, extra = (Symbol(name, nonnegative=True) for name in ("v", "extra"))
small_step = {eta: 1 / ((mu + beta) * (1 + v)), n: 2 + extra}

AT_ITERATES = "where both runs go"
end_norm = quantity(
    "end_norm", "norm of the last iterate of a run from 0", parameter=1, printed="‖w_T‖", latex=r"\|w_T\|"
)


def sensitivity_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case at a point of the hypotheses."""
    return gradient_descent_sensitivity(
        n=int(p["n"]), steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"],
        strong_convexity=p.get("mu", 0.0), lipschitz=p["L"],
    )  # fmt: skip


def regularised_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case of losses l + mu/2 ||w||^2 with l convex, (beta - mu)-smooth and L-Lipschitz."""
    return gradient_descent_sensitivity(
        n=int(p["n"]), steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"],
        strong_convexity=p["mu"], lipschitz=p["L"], regularised=True,
    )  # fmt: skip


def rate_at(p):  # type: ignore[no-untyped-def]
    """The exact worst case of F(w_T) - F(w_hat) at distance 1."""
    return gradient_descent_rate(
        steps=int(p["T"]), step_size=p["eta"], smoothness=p["beta"], strong_convexity=p.get("mu", 0.0)
    )


convex_points = [
    {"n": size, "T": steps, "eta": 1.0, "beta": 1.0, "L": 1.0} for size, steps in
    [(2, 1), (2, 2), (10, 3), (10, 4), (10, 5), (3, 6), (100, 8), (50, 20)]
]  # fmt: skip
strong_points = [
    {"n": size, "T": steps, "eta": 1 / (1 + m_), "beta": 1.0, "mu": m_, "L": 1.0}
    for size, steps, m_ in [
        (2, 1, 0.1),
        (2, 5, 0.5),
        (10, 3, 0.1),
        (10, 5, 0.1),
        (10, 5, 0.9),
        (3, 8, 0.05),
        (5, 6, 0.3),
        (10, 20, 0.05),
    ]
]

# Sensitivity ---------------------------------------------------------------------------------------
lemma2 = Claim(
    id="zhang17.lemma2",
    source=Source("zhang17", "Lemma 2"),
    kind=Kind.SENSITIVITY,
    says="T steps of gradient descent on neighbouring datasets end at most this far apart.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(Delta_T, 3 * L * T * eta / n),
    checks=[
        Induction(
            T, 0 * L, lambda b: b**2 + 4 * eta * L / n * b + 8 * eta**2 * L**2 / n**2, "from the recurrence of A.1",
            squared=True,
        ),
        Exactness(sensitivity_at, convex_points, "gradient descent over all smooth convex losses"),
    ],
)  # fmt: skip

lemma2_corrected = Claim(
    id="zhang17.lemma2.corrected",
    source=Source("zhang17", "Lemma 2"),
    kind=Kind.SENSITIVITY,
    says="The exact constant is 2: attained by linear losses.",
    assumes=[convex(), smooth(beta), lipschitz(L), eta <= 1 / beta],
    states=Le(Delta_T, 2 * L * T * eta / n),
    corrects="zhang17.lemma2",
    checks=[
        Induction(
            T, 0 * L, lambda b: b + 2 * eta * L / n, "gradient steps do not expand; two gradients differ by 2L/n"
        ),
        Exactness(sensitivity_at, convex_points, "gradient descent over all smooth convex losses"),
    ],
)

lemma3_recurrence = lambda b: (  # noqa: E731
    (1 - 2 * (n - 1) * eta * mu * beta / (n * (mu + beta))) * b**2 + 4 * eta * L / n * b + 8 * eta**2 * L**2 / n**2
)

lemma3 = Claim(
    id="zhang17.lemma3",
    source=Source("zhang17", "Lemma 3, read as its proof does: Lipschitz where the iterates go"),
    kind=Kind.SENSITIVITY,
    says="With strong convexity the distance stays bounded for any number of steps.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), mu <= beta, n >= 2],
    states=Le(Delta_T, 5 * L * (mu + beta) / (n * mu * beta)),
    checks=[
        Induction(T, 0 * L, lemma3_recurrence, "from the recurrence of A.1", squared=True, where=small_step),
        Sharper(2 * L / (n * mu), "Lemma 3 corrected, for any number of steps"),
        Exactness(sensitivity_at, strong_points, "gradient descent over all smooth strongly convex losses"),
    ],
)

lemma3_global = Claim(
    id="zhang17.lemma3.global",
    source=Source("zhang17", "Lemma 3, to the letter: Lipschitz on all of R^d"),
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

lemma3_corrected = Claim(
    id="zhang17.lemma3.corrected",
    source=Source("zhang17", "Lemma 3"),
    kind=Kind.SENSITIVITY,
    says="The distance contracts by 1-ημ a step and grows by 2ηL/n, for every T.",
    assumes=[strongly_convex(mu), smooth(beta), lipschitz(L, AT_ITERATES), eta <= 1 / (beta + mu), mu <= beta],
    states=Le(Delta_T, 2 * L / (n * mu) * (1 - (1 - eta * mu) ** T)),
    corrects="zhang17.lemma3",
    checks=[
        Induction(
            T, 0 * L, lambda b: (1 - eta * mu) * b + 2 * eta * L / n, "a step contracts by 1-ημ", where=small_step
        ),
        Exactness(sensitivity_at, strong_points, "gradient descent over all smooth strongly convex losses"),
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
        Induction(
            T,
            0 * L,
            lambda b: (1 - eta * mu) * b + 2 * eta * L / n,
            "the common part, which holds μ/2·‖w‖², contracts by 1-ημ; ∇ℓ differs by 2L/n",
            where=small_step,
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
    checks=[Induction(T, 0 * L, lambda b: b + eta * L, "a step adds η∇f, of norm at most ηL")],
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
    checks=[
        Induction(
            T, 0 * L, lambda b: (1 - eta * mu) * b + eta * L,
            "a step keeps 1-ημ of w and adds η∇ℓ, of norm at most L", where=small_step,
        )
    ],
)  # fmt: skip

# Convergence -------------------------------------------------------------------
lemma5 = Claim(
    id="zhang17.lemma5",
    source=Source("zhang17", "Lemma 5"),
    kind=Kind.UTILITY,
    says="Gradient descent on a strongly convex smooth risk converges exponentially.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 2 / (beta + mu), mu <= beta],
    states=Le(excess_risk, beta / 2 * exp(-2 * eta * mu * beta * T / (mu + beta)) * distance**2),
    checks=[Exactness(rate_at, [p | {"distance": 1.0} for p in strong_points], "over all such risks")],
)

lemma5_corrected = Claim(
    id="zhang17.lemma5.corrected",
    source=Source("zhang17", "Lemma 5"),
    kind=Kind.UTILITY,
    says="The exact rate for steps up to 1/β.",
    assumes=[strongly_convex(mu), smooth(beta), eta <= 1 / beta, mu <= beta],
    states=Le(excess_risk, mu / 2 * distance**2 / (mu / beta - 1 + (1 - eta * mu) ** (-2 * T))),
    corrects="zhang17.lemma5",
    checks=[Exactness(rate_at, [p | {"distance": 1.0} for p in strong_points], "over all such risks")],
)

lemma8 = Claim(
    id="zhang17.lemma8",
    source=Source("zhang17", "Lemma 8"),
    kind=Kind.UTILITY,
    says="Gradient descent with step 1/β on a convex smooth risk converges like 1/T.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(excess_risk, 2 * beta * distance**2 / T),
    checks=[Exactness(rate_at, [p | {"distance": 1.0} for p in convex_points], "over all such risks")],
)

lemma8_corrected = Claim(
    id="zhang17.lemma8.corrected",
    source=Source("zhang17", "Lemma 8"),
    kind=Kind.UTILITY,
    says="The exact rate.",
    assumes=[convex(), smooth(beta), Eq(eta, 1 / beta)],
    states=Le(excess_risk, beta * distance**2 / (4 * T + 2)),
    corrects="zhang17.lemma8",
    checks=[Exactness(rate_at, [p | {"distance": 1.0} for p in convex_points], "over all such risks")],
)
