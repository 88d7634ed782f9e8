"""Descent on a population risk by gradients that err by at most χ (dwang20, section 3.2.6).

What Theorems 3.2.5, 3.2.7 and 3.2.8 have in common, whoever made the gradients.
"""

from sympy import Ge, Le, Symbol, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import T, quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step

alpha = quantity(
    "alpha_pop", "strong convexity of the population risk", loss=1, parameter=-2, printed="α", latex=r"\alpha"
)
beta = quantity("beta_pop", "smoothness of the population risk", loss=1, parameter=-2, printed="β", latex=r"\beta")
diam = quantity("diam_W", "diameter of the constraint set", parameter=1, printed="Δ", latex=r"\Delta")
D0 = quantity("start_gap_W", "‖w⁰ - w*‖", parameter=1, printed="D₀", latex="D_0")
chi = quantity("chi_err", "bound on the error of a gradient", loss=1, parameter=-1, printed="χ", latex=r"\chi")
err = quantity("grad_err", "error of a gradient", loss=1, parameter=-1, printed="‖g-∇L‖", latex=r"\|g-\nabla L\|")
grad = quantity("grad_pop", "‖∇L_D(w)‖", loss=1, parameter=-1, printed="‖∇L‖", latex=r"\|\nabla L\|")
along = quantity("grad_along", "<∇L_D(w), w - w*>", loss=1, printed="⟨∇L,w-w*⟩", latex=r"\langle\nabla L,w-w^*\rangle")
with_err = quantity(
    "grad_with_err", "<∇L_D(w), g - ∇L_D(w)>", loss=2, parameter=-2, printed="⟨∇L,g-∇L⟩",
    latex=r"\langle\nabla L,g-\nabla L\rangle",
)
falls = quantity("falls_pop", "<∇L_D(w), w - w⁺>", loss=1, printed="⟨∇L,w-w⁺⟩", latex=r"\langle\nabla L,w-w^+\rangle")
moved2 = quantity("moved2_pop", "‖w⁺ - w‖²", parameter=2, printed="‖w⁺-w‖²", latex=r"\|w^+-w\|^2")
dist = quantity("dist_pop", "‖w - w*‖", parameter=1, printed="‖w-w*‖", latex=r"\|w-w^*\|")
exact_next = quantity(
    "dist_exact", "‖w - ∇L_D(w)/β - w*‖", parameter=1, printed="‖w-∇L/β-w*‖", latex=r"\|w-\nabla L/\beta-w^*\|"
)
dist_next = quantity("dist_next", "‖w⁺ - w*‖", parameter=1, printed="‖w⁺-w*‖", latex=r"\|w^+-w^*\|")
dist_T = quantity("dist_T", "‖w^T - w*‖", parameter=1, printed="‖w^T-w*‖", latex=r"\|w^T-w^*\|")
F_now = quantity("risk_now", "L_D(w) - L_D(w*)", loss=1, printed="L(w)-L*", latex=r"L(w)-L^*")
F_next = quantity("risk_next", "L_D(w⁺) - L_D(w*)", loss=1, printed="L(w⁺)-L*", latex=r"L(w^+)-L^*")
F_low = quantity("risk_low", "L_D(w^t) - L_D(w*) of some t <= T", loss=1, printed="L(w^t)-L*", latex=r"L(w^t)-L^*")
F_T = quantity("risk_T", "L_D(w^T) - L_D(w*)", loss=1, printed="L(w^T)-L*", latex=r"L(w^T)-L^*")
_w = Symbol("w", nonnegative=True)

bent = [Setting("L_D is β-smooth, convex, ∇L_D(w*) = 0; η = 1/β")]
strong = [Setting("L_D is α-strongly convex, β-smooth, ∇L_D(w*) = 0; η = 1/β"), alpha <= beta]
erring = [Setting("every gradient errs by at most χ")]
ROOM = Setting("W holds {w: ‖w-w*‖ ≤ 2D₀}, and no step leads out of that")  # Assumption 3.2.5, and after (3.97)
shrink = 1 - alpha / (alpha + beta)

# Strongly convex -------------------------------------------------------------------------------------
contraction = Claim(
    id="dwang20.equation3.93", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.93)", line=1872),
    says="An exact gradient step of 1/β brings w nearer to w* by a factor of 1-2α/(α+β), squared.",
    assumes=strong,
    states=Le(exact_next**2, (1 - 2 * alpha / (alpha + beta)) * dist**2),
    checks=[
        Chain(
            exact_next**2,
            Step("=", dist**2 - 2 * along / beta + grad**2 / beta**2, because=Premise("one step, squared")),
            Step("<=", STATEMENT, because=Slack(
                {"⟨∇L, w-w*⟩ ≥ αβ/(α+β)‖w-w*‖² + ‖∇L‖²/(α+β) (strongly convex, smooth)":
                    2 / beta * (along - alpha * beta / (alpha + beta) * dist**2 - grad**2 / (alpha + beta))},
                seen=[grad**2 * (beta - alpha) / (beta**2 * (alpha + beta))])),
        )
    ],
)

one_step = Claim(
    id="dwang20.equation3.94", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.94), for gradients that err by χ", line=1884),
    says="A step by a gradient that errs by χ: the factor 1-α/(α+β), and χ/β more.",
    assumes=[*strong, *erring],
    states=Le(dist_next, shrink * dist + chi / beta),
    checks=[
        Chain(
            dist_next,
            Step("<=", sqrt(exact_next**2) + err / beta, because=Premise("a projection does not expand; triangle")),
            Step("<=", because=Cites("dwang20.equation3.93")),
            Step("<=", STATEMENT, because=Slack({
                "√(1-x) ≤ 1-x/2": dist * (shrink - sqrt(1 - 2 * alpha / (alpha + beta))),
                "the gradient errs by at most χ": (chi - err) / beta}), uses=erring),
        )
    ],
)

unrolled = Claim(
    id="dwang20.theorem3.2.5.distance", kind=Kind.UTILITY,
    source=Source("dwang20", "after (3.94), with (α+β)/α for O(β/α)", line=1888),
    says="T such steps end within (1-α/(α+β))^T Δ + (α+β)χ/(αβ) of w*.",
    assumes=[*strong, *erring],
    states=Le(dist_T, shrink**T * diam + (alpha + beta) / (alpha * beta) * chi),
    checks=[
        Chain(dist_T, Step("<=", STATEMENT, because=Induction(
            T, start=diam, step=lambda b: shrink * b + chi / beta,
            given="(3.94): a step brings a distance b to (1-α/(α+β))b + χ/β at most",
        )))
    ],
)


def risk_after(claim_id: str, corrected: str, source: Source, says: str) -> Claim:
    """What the distance makes of the risk: a sum of two errors, squared, where the document prints a product."""
    return Claim(
        id=claim_id, kind=Kind.UTILITY, source=source, says=says,
        assumes=[*strong, *erring],
        states=Le(F_T, beta / 2 * (shrink**T * diam + (alpha + beta) / (alpha * beta) * chi) ** 2),
        corrects=corrected,
        checks=[
            Chain(
                F_T,
                Step("<=", beta / 2 * dist_T**2, because=Premise("L_D is β-smooth, and ∇L_D(w*) = 0 (smooth)")),
                Step("<=", because=Cites("dwang20.theorem3.2.5.distance")),
                Step("<=", STATEMENT),
            )
        ],
    )


# Convex ----------------------------------------------------------------------------------------------
not_farther = Claim(
    id="dwang20.equation3.97", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.97), for gradients that err by χ", line=1937),
    says="A step leads away from w* by at most χ/β.",
    assumes=[*bent, *erring],
    states=Le(dist_next, dist + chi / beta),
    checks=[
        Chain(
            dist_next,
            Step("<=", sqrt(dist**2 - 2 * along / beta + grad**2 / beta**2) + err / beta, because=Premise(
                "one exact step, squared, and what the gradient errs by; triangle")),
            Step("<=", STATEMENT, because=Slack({
                "⟨∇L, w-w*⟩ ≥ ‖∇L‖²/β (convex, smooth)":
                    dist - sqrt(dist**2 - 2 * along / beta + grad**2 / beta**2),
                "the gradient errs by at most χ": (chi - err) / beta}), uses=erring),
        )
    ],
)

descent = Claim(
    id="dwang20.equation3.98", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.98), with χ²/(2β) for its O(), as (3.100) has it", line=1949),
    says="A step lowers the risk by ‖∇L‖²/(2β), but for χ²/(2β).",
    assumes=[*bent, *erring, ROOM],
    states=Le(F_next, F_now - grad**2 / (2 * beta) + chi**2 / (2 * beta)),
    checks=[
        Chain(
            F_next,
            Step("<=", F_now - falls + beta / 2 * moved2, because=Premise("L_D is β-smooth (smooth)")),
            Step("<=", STATEMENT, because=Slack({
                "⟨∇L, w-w⁺⟩ = ⟨∇L, g⟩/β": falls - (grad**2 + with_err) / beta,
                "‖w⁺-w‖ = ‖g‖/β, as (3.97) keeps the iterates in W":
                    ((grad**2 + 2 * with_err + err**2) / beta**2 - moved2) * beta / 2,
                "the gradient errs by at most χ": (chi**2 - err**2) / (2 * beta)}), uses=[*erring, ROOM]),
        )
    ],
)

steep = [Ge(grad, sqrt(2) * chi)]
steep_step = Claim(
    id="dwang20.lemma3.2.11.step", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Lemma 3.2.11, with the square that the next display has, D_t ≤ 2D₀", line=1971),
    says="While gradients are steep, the risk falls by (L-L*)²/(16βD₀²) a step.",
    assumes=[*bent, *erring, ROOM, *steep],
    states=Le(F_next, F_now - F_now**2 / (16 * beta * D0**2)),
    checks=[
        Chain(
            F_next,
            Step("<=", because=Cites("dwang20.equation3.98")),
            Step("<=", STATEMENT, because=Slack(
                {"‖∇L‖ ≥ (L-L*)/‖w-w*‖, and ‖w-w*‖ ≤ D_t ≤ 2D₀ (convex)":
                    grad**2 / (4 * beta) - F_now**2 / (16 * beta * D0**2)},
                seen=[(grad - sqrt(2) * chi) * (grad + sqrt(2) * chi) / (4 * beta)]), uses=[ROOM]),
        )
    ],
)

enough = Ge(T, beta * D0 / chi)  # at equality (3.97) keeps iterates within 2D₀
lemma11 = Claim(
    id="dwang20.lemma3.2.11", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.11", line=1957),
    says="In T = βD₀/χ steps some iterate has a risk of at most 16D₀χ.",
    assumes=[*bent, *erring, ROOM, enough],
    states=Le(F_low, 16 * D0 * chi),
    checks=[
        Chain(
            F_low,
            Step("<=", 16 * beta * D0**2 / T, because=Premise(
                "if no gradient is below √2χ, 1/(L-L*) grows by 1/(16βD₀²) a step; if one is, L-L* ≤ 2√2D₀χ there"),
                 uses=[ROOM]),
            Step("<=", STATEMENT, where={T: beta * D0 / chi * (1 + _w)}),
        )
    ],
)

last_iterate = Claim(
    id="dwang20.equation3.100", kind=Kind.UTILITY,
    source=Source("dwang20", "(3.100)", line=1989),
    says="The last iterate has a risk of at most 16D₀χ + χ²/(2β).",
    assumes=[*bent, *erring, ROOM, enough],
    states=Le(F_T, 16 * D0 * chi + chi**2 / (2 * beta)),
    checks=[
        Chain(
            F_T,
            Step("<=", F_low + chi**2 / (2 * beta), because=Premise(
                "after the last iterate with a risk of at most 16D₀χ one step adds at most χ²/(2β), by (3.98), and "
                "later ones lower the risk, as their gradients are at least 8χ (convex, smooth)"), uses=[ROOM]),
            Step("<=", because=Cites("dwang20.lemma3.2.11")),
            Step("<=", STATEMENT),
        )
    ],
)
