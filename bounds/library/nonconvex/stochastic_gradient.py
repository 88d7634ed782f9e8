"""Stochastic gradients with a random stopping round (zhang17, Lemmas 11 and 12, after Ghadimi and Lan)."""

from sympy import Eq, Expr, Le, Min, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Source, convex, smooth
from dpcheck.bounds.language.symbols import (
    D_F,
    L,
    T,
    beta,
    distance,
    eta,
    excess_risk,
    gradient_norm2,
    ratio,
    sigma_g,
    t,
)
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same, Units

v = Symbol("v", nonnegative=True)

quadratic_after_one = beta**2 * (1 - beta * eta) ** 2 * D_F**2  # ||grad F(w_1)||^2 for F = beta/2 w^2, no noise


def weight(step: Expr) -> Expr:
    """What the law of R is proportional to."""
    return 2 * step - beta * step**2


one_step = {T: (1, 1), sigma_g: (1e-6, 1e-6)}

lemma11_distribution = Claim(
    id="zhang17.lemma11.distribution",
    source=Source("zhang17", "Lemma 11, the law of R, constant step"),
    kind=Kind.IDENTITY,
    says="The probabilities of R, printed with Lη² above and βη² below, add up to 1.",
    assumes=[eta < 2 / beta],
    states=Eq(ratio, 1),
    checks=[Equals((2 * eta - L * eta**2) / (2 * eta - beta * eta**2), "T weights alike, over the sum below")],
)

two_weights = weight(eta) + weight(1 / beta)

lemma11_distribution_corrected = Claim(
    id="zhang17.lemma11.distribution.corrected",
    source=Source("zhang17", "Lemma 11, the law of R; so in Theorem 5"),
    kind=Kind.IDENTITY,
    says="With β in both places they do, and are positive for η below 2/β: two steps η₁ and η₂ of any sizes (η, 1/β).",
    assumes=[eta < 2 / beta],
    states=Eq(ratio, 1),
    corrects="zhang17.lemma11.distribution",
    checks=[
        Equals(
            weight(eta) / (weight(eta) + weight(1 / beta)) + weight(1 / beta) / (weight(eta) + weight(1 / beta)),
            "P(1)+P(2)",
        ),
        Proof([Less("βη² ≤ 2η", beta * eta**2, 2 * eta, {eta: 2 / (beta * (1 + v))})], "no weight is negative"),
    ],
)

lemma11 = Claim(
    id="zhang17.lemma11.gradient",
    source=Source("zhang17", "Lemma 11, part 1, constant step"),
    kind=Kind.UTILITY,
    says="The mean squared gradient after a random number of noisy steps, as printed: without β.",
    assumes=[smooth(beta), eta < 2 / beta],
    states=Le(gradient_norm2, (D_F**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    checks=[AtMost(quadratic_after_one, "one noiseless step on β/2·w²", box=one_step), Units()],
)

lemma11_corrected = Claim(
    id="zhang17.lemma11.gradient.corrected",
    source=Source("zhang17", "Lemma 11, part 1, constant step"),
    kind=Kind.UTILITY,
    says="The same with the factor β, over the iterates 0 to T-1.",
    assumes=[smooth(beta), eta < 2 / beta],
    states=Le(gradient_norm2, beta * (D_F**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    corrects="zhang17.lemma11.gradient",
    checks=[
        Equals(
            (beta / 2 * D_F**2 + T * beta * eta**2 * sigma_g**2 / 2) / (T * (eta - beta * eta**2 / 2)),
            "the descent lemma summed over T steps and divided by the weights",
        )
    ],
)

lemma11_convex = Claim(
    id="zhang17.lemma11.convex",
    source=Source("zhang17", "Lemma 11, part 2, constant step"),
    kind=Kind.UTILITY,
    says="The excess risk after a random number of noisy steps on a convex risk.",
    assumes=[smooth(beta), convex(), eta < 2 / beta],
    states=Le(excess_risk, (distance**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    checks=[
        Proof(
            [
                Same(
                    "‖w-ŵ‖² falls by (2η-βη²)⟨∇F, w-ŵ⟩ at least, as ‖∇F‖² ≤ β⟨∇F, w-ŵ⟩",
                    -2 * eta * t + eta**2 * beta * t,
                    -(2 * eta - beta * eta**2) * t,
                ),
                Same(
                    "and grows by η²σ²: summed over T steps and divided by the weights",
                    (distance**2 + T * eta**2 * sigma_g**2) / (T * (2 * eta - beta * eta**2)),
                    (distance**2 / T + eta**2 * sigma_g**2) / (eta * (2 - beta * eta)),
                ),
            ]
        )
    ],
)

chosen_step = Min(1 / beta, D_F / (sigma_g * sqrt(T)))

lemma12 = Claim(
    id="zhang17.lemma12.gradient",
    source=Source("zhang17", "Lemma 12, first bound"),
    kind=Kind.UTILITY,
    says="The mean squared gradient with step size min(1/β, D_f/(σ√T)), as printed: without β.",
    assumes=[smooth(beta)],
    states=Le(gradient_norm2, beta * D_F**2 / T + 2 * D_F * sigma_g / sqrt(T)),
    checks=[
        AtMost(quadratic_after_one.subs(eta, chosen_step), "one noiseless step on β/2·w²", box={T: (1, 1)}),
        Units(),
    ],
    cites=[Cites("zhang17.lemma11.gradient", {eta: chosen_step})],
)

lemma12_corrected = Claim(
    id="zhang17.lemma12.gradient.corrected",
    source=Source("zhang17", "Lemma 12, first bound"),
    kind=Kind.UTILITY,
    says="The same with the factor β.",
    assumes=[smooth(beta)],
    states=Le(gradient_norm2, beta**2 * D_F**2 / T + 2 * beta * D_F * sigma_g / sqrt(T)),
    corrects="zhang17.lemma12.gradient",
    checks=[
        Proof(
            [
                Less("2η-βη² ≥ η for η ≤ 1/β", eta, 2 * eta - beta * eta**2, {eta: 1 / (beta * (1 + v))}),
                Less(
                    "η = 1/β, when σ√T ≤ βD_f",
                    beta * (D_F**2 + sigma_g**2 * T / beta**2) / (T / beta),
                    beta**2 * D_F**2 / T + 2 * beta * D_F * sigma_g / sqrt(T),
                    {sigma_g: beta * D_F / (sqrt(T) * (1 + v))},
                ),
                Less(
                    "η = D_f/(σ√T) otherwise",
                    beta * 2 * D_F**2 / (T * (D_F / (sigma_g * sqrt(T)))),
                    beta**2 * D_F**2 / T + 2 * beta * D_F * sigma_g / sqrt(T),
                ),
            ]
        )
    ],
    cites=[Cites("zhang17.lemma11.gradient.corrected", {eta: chosen_step})],
)

slope = (sigma_g * sqrt(beta * distance) / (2 * sqrt(2 * T))) ** Rational(2, 3)

lemma12_convex = Claim(
    id="zhang17.lemma12.convex",
    source=Source("zhang17", "Lemma 12, second bound"),
    kind=Kind.UTILITY,
    says="The excess risk on a convex risk with the step size min(1/β, D_f/(σ√T)).",
    assumes=[smooth(beta), convex()],
    states=Le(excess_risk, beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T)),
    checks=[
        AtMost(
            slope * (distance / 2 - slope / (2 * beta)),
            "Huber risk of slope s at distance D: D_f² ≤ 2sD/β, so E w_R ≤ ηsT ≤ D/2; Jensen gives the risk left",
            box={T: (1e6, 1e10), beta: (1, 1), distance: (1, 1), sigma_g: (1, 1)},
        )
    ],
    cites=[Cites("zhang17.lemma11.convex", {eta: chosen_step})],
)

lemma12_convex_corrected = Claim(
    id="zhang17.lemma12.convex.corrected",
    source=Source("zhang17", "Lemma 12, second bound"),
    kind=Kind.UTILITY,
    says="The same with the step size min(1/β, ‖w₀-ŵ‖/(σ√T)).",
    assumes=[smooth(beta), convex()],
    states=Le(excess_risk, beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T)),
    corrects="zhang17.lemma12.convex",
    checks=[
        Proof(
            [
                Less("2η-βη² ≥ η for η ≤ 1/β", eta, 2 * eta - beta * eta**2, {eta: 1 / (beta * (1 + v))}),
                Less(
                    "η = 1/β, when σ√T ≤ β‖w₀-ŵ‖",
                    (distance**2 + sigma_g**2 * T / beta**2) / (T / beta),
                    beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T),
                    {sigma_g: beta * distance / (sqrt(T) * (1 + v))},
                ),
                Less(
                    "η = ‖w₀-ŵ‖/(σ√T) otherwise",
                    2 * distance**2 / (T * (distance / (sigma_g * sqrt(T)))),
                    beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T),
                ),
            ]
        )
    ],
    cites=[Cites("zhang17.lemma11.convex", {eta: Min(1 / beta, distance / (sigma_g * sqrt(T)))})],
)
