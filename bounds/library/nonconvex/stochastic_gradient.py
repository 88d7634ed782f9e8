"""Stochastic gradients with a random stopping round (zhang17, Lemmas 11 and 12, after Ghadimi and Lan).

Steps have one size η, so that the round R is uniform and what is bounded is a mean over the iterates w₀ to w_(T-1).
In proofs about one step vectors stand in one coordinate: p is the gradient of F, e the error of the stochastic one.
"""

from sympy import Le, Rational, Symbol, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source, convex, smooth
from dpcheck.bounds.language.symbols import D_F, T, beta, distance, eta, quantity, sigma_g
from dpcheck.bounds.proving.chains import STATEMENT, Cases, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Units

mean_gradient2 = quantity(
    "sgd_gradient2", "E||grad F||^2, mean over the iterates before the last", loss=2, parameter=-2,
    printed="E ‖∇F(w_R)‖²", latex=r"\mathbb{E}\|\nabla F(w_R)\|^2",
)
mean_gap = quantity(
    "sgd_gap", "E F - F(w_hat), mean over the iterates before the last", loss=1,
    printed="E F(w_R) - F(ŵ)", latex=r"\mathbb{E}F(w_R)-F(\hat w)",
)
fall = quantity("sgd_fall", "E F(w_t) - F(w_(t+1)), mean over the steps", loss=1, printed="E F(w_t)-F(w_t⁺)")
nearing = quantity(
    "sgd_nearing", "E ||w_t - w_hat||^2 - ||w_(t+1) - w_hat||^2, mean over the steps", parameter=2,
    printed="E ‖w_t-ŵ‖²-‖w_t⁺-ŵ‖²",
)
p, e = symbols("p e", real=True)
s = Symbol("s", positive=True)  # ⟨∇F, w-ŵ⟩
weight = 2 * eta - beta * eta**2  # what the law of R is proportional to
UNBIASED = Setting("E G = ∇F and E‖G-∇F‖² ≤ σ²")

step11 = Claim(
    id="zhang17.lemma11.step", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 11, part 1: what is added up over the steps", line=467),
    says="A step, or the mean of many: the squared gradient by the fall of F.",
    assumes=[smooth(beta), UNBIASED, eta < 2 / beta],
    states=Le(mean_gradient2, (2 * fall + beta * eta**2 * sigma_g**2) / (2 * eta - beta * eta**2)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            mean_gradient2,
            Step(
                "=",
                p**2,
                because=Premise("p stands for ∇F(w_t), e for G-∇F; both sides are means over the steps"),
                uses=[UNBIASED],
            ),
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    given={
                        "F is β-smooth": 2 * (fall - eta * p * (p + e) + beta / 2 * eta**2 * (p + e) ** 2) / weight,
                        "E e = 0": (2 * eta * p * e - 2 * beta * eta**2 * p * e) / weight,
                        "E‖e‖² ≤ σ²": beta * eta**2 * (sigma_g**2 - e**2) / weight,
                    }
                ),
            ),
        )
    ],
)

oracle = [smooth(beta), UNBIASED]
ONE_NOISELESS = "one step without noise on β/2·w²: the gradient after it, and that before is larger"
after_one = beta**2 * (1 - beta * eta) ** 2 * D_F**2

lemma11 = Claim(
    id="zhang17.lemma11.gradient", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 11, part 1, steps of one size", line=475),
    says="The mean squared gradient after a random number of noisy steps, as printed: without β.",
    assumes=[*oracle, eta < 2 / beta],
    states=Le(mean_gradient2, (D_F**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    checks=[AtMost(after_one, ONE_NOISELESS, box={T: (1, 1), sigma_g: (1e-6, 1e-6)}), Units()],
)

lemma11_corrected = Claim(
    id="zhang17.lemma11.gradient.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 11, part 1, steps of one size", line=475),
    says="The same with the factor β, as in Theorem 5.",
    assumes=[*oracle, eta < 2 / beta],
    states=Le(mean_gradient2, beta * (D_F**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    corrects="zhang17.lemma11.gradient",
    checks=[
        Chain(
            mean_gradient2,
            Step("<=", because=Cites("zhang17.lemma11.step")),
            Step("<=", (beta * D_F**2 / T + beta * eta**2 * sigma_g**2) / weight,
                 because=Premise("the falls of F add up to at most F(w₀)-F* = βD_F²/2")),
            Step("=", STATEMENT),
        )
    ],
)

lemma11_convex = Claim(
    id="zhang17.lemma11.convex", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 11, part 2, steps of one size", line=481),
    says="The excess risk after a random number of noisy steps on a convex risk.",
    assumes=[*oracle, convex(), eta < 2 / beta],
    states=Le(mean_gap, (distance**2 + sigma_g**2 * T * eta**2) / (T * (2 * eta - beta * eta**2))),
    checks=[
        Chain(
            mean_gap,
            Step("<=", s, because=Premise("F(w)-F(ŵ) ≤ ⟨∇F, w-ŵ⟩ = s, F being convex")),
            Step(
                "<=",
                (nearing + eta**2 * sigma_g**2) / weight,
                uses=[UNBIASED],
                because=Slack(
                    given={
                        "‖w⁺-ŵ‖² = ‖w-ŵ‖² - 2η⟨G, w-ŵ⟩ + η²‖G‖², with E G = ∇F = p and E‖G‖² ≤ ‖p‖² + σ²": (
                            nearing - 2 * eta * s + eta**2 * (p**2 + sigma_g**2)
                        )
                        / weight,
                        "‖∇F‖² ≤ β⟨∇F, w-ŵ⟩ (convex, smooth)": eta**2 * (beta * s - p**2) / weight,
                    }
                ),
            ),
            Step(
                "<=",
                (distance**2 / T + eta**2 * sigma_g**2) / weight,
                because=Premise("the distances squared fall by at most ‖w₀-ŵ‖² in all"),
            ),
            Step("=", STATEMENT),
        )
    ],
)

# Lemma 12 ------------------------------------------------------------------------------------------
its_step = Setting("step size min(1/β, D_F/(σ√T))")
own_step = Setting("step size min(1/β, ‖w₀-ŵ‖/(σ√T))")


def by_step_size(subject, size, lemma):  # type: ignore[no-untyped-def]
    """Lemma 11 at 1/β where that is the smaller step, and at size/(σ√T) elsewhere."""
    def at(step):  # type: ignore[no-untyped-def]
        return Chain(subject, Step("<=", because=Cites(lemma, {eta: step})), Step("<=", STATEMENT))

    short = sigma_g * sqrt(T) <= beta * size
    return Cases({short: at(1 / beta), sigma_g * sqrt(T) > beta * size: at(size / (sigma_g * sqrt(T)))})


lemma12 = Claim(
    id="zhang17.lemma12.gradient", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 12, first bound", line=487),
    says="The mean squared gradient with step size min(1/β, D_F/(σ√T)), as printed: without β.",
    assumes=[*oracle, its_step],
    states=Le(mean_gradient2, beta * D_F**2 / T + 2 * D_F * sigma_g / sqrt(T)),
    checks=[
        AtMost(
            after_one.subs(eta, D_F / sigma_g), ONE_NOISELESS,
            box={T: (1, 1), D_F: (0.1, 1), beta: (1, 100), sigma_g: (100, 100)},
        ),
        Units(),
    ],
    cites=[Cites("zhang17.lemma11.gradient", {eta: 1 / beta})],
)

lemma12_corrected = Claim(
    id="zhang17.lemma12.gradient.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 12, first bound", line=487),
    says="The same with the factor β.",
    assumes=[*oracle, its_step],
    states=Le(mean_gradient2, beta**2 * D_F**2 / T + 2 * beta * D_F * sigma_g / sqrt(T)),
    corrects="zhang17.lemma12.gradient",
    checks=[by_step_size(mean_gradient2, D_F, "zhang17.lemma11.gradient.corrected")],
)

slope = (sigma_g * sqrt(beta * distance) / (2 * sqrt(2 * T))) ** Rational(2, 3)

lemma12_convex = Claim(
    id="zhang17.lemma12.convex", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 12, second bound", line=491),
    says="The excess risk on a convex risk with the same step size.",
    assumes=[*oracle, convex(), its_step],
    states=Le(mean_gap, beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T)),
    checks=[
        AtMost(
            slope * (distance / 2 - slope / (2 * beta)),
            "Huber risk of slope s at distance D: D_f² ≤ 2sD/β, so E w_R ≤ ηsT ≤ D/2; Jensen gives the risk left",
            box={T: (1e6, 1e10), beta: (1, 1), distance: (1, 1), sigma_g: (1, 1)},
        )
    ],
    cites=[Cites("zhang17.lemma11.convex", {eta: 1 / beta})],
)

lemma12_convex_corrected = Claim(
    id="zhang17.lemma12.convex.corrected", kind=Kind.UTILITY,
    source=Source("zhang17", "Lemma 12, second bound", line=491),
    says="The same with a step size from ‖w₀-ŵ‖.",
    assumes=[*oracle, convex(), own_step],
    states=Le(mean_gap, beta * distance**2 / T + 2 * distance * sigma_g / sqrt(T)),
    corrects="zhang17.lemma12.convex",
    checks=[by_step_size(mean_gap, distance, "zhang17.lemma11.convex")],
)
