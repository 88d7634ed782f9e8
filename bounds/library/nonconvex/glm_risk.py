"""Generalised linear models and robust regression, population risk (dwang20, section 4.2.2): what both Frank-Wolfe
algorithms rest on. The constants of the losses, and Lemmas 4.2.5 and 4.2.6: the risk by ⟨∇L_P(w), w-w*⟩.

Of the link σ: c_σ ≤ σ' ≤ C_σ, |σ''| ≤ C_σ and |σ| ≤ B on [-1, 1]; of the residual's loss ψ: |ψ'|, |ψ''| ≤ C_ψ. The
assumptions print σ'' ≤ C_σ and ψ'' ≤ C_ψ, and the proofs use sizes.
"""

from sympy import Expr, Le, Symbol, symbols

from dpcheck.bounds.language.claim import Claim, Hypothesis, Kind, Setting, Source
from dpcheck.bounds.language.symbols import LIKELY, MEAN, quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

C_link = quantity("C_slope", "bound on two derivatives of the link", box=(1, 10), printed="C_σ", latex=r"C_\sigma")
c_link = quantity("c_slope", "least derivative of the link", box=(1e-2, 1), printed="c_σ", latex=r"c_\sigma")
B_link = quantity("B_link", "largest size of the link", box=(0.1, 10), printed="B", latex="B")
C_res = quantity("C_res", "bound on the first two derivatives of ψ", box=(1, 10), printed="C_ψ", latex=r"C_\psi")
c_res = quantity("c_res", "below the derivative at 0 of h", box=(1e-2, 1), printed="c_ψ", latex=r"c_\psi")
slope_glm = quantity("slope_glm", "norm of the gradient of (σ⟨w,x⟩-y)²", printed="‖∇ℓ‖", latex=r"\|\nabla\ell\|")
bend_glm = quantity("bend_glm", "norm of the Hessian of (σ⟨w,x⟩-y)²", printed="‖∇²ℓ‖", latex=r"\|\nabla^2\ell\|")
slope_res = quantity("slope_res", "norm of the gradient of ψ(⟨w,x⟩-y)", printed="‖∇ψ‖", latex=r"\|\nabla\psi\|")
bend_res = quantity("bend_res", "norm of the Hessian of ψ(⟨w,x⟩-y)", printed="‖∇²ψ‖", latex=r"\|\nabla^2\psi\|")
link_size = quantity("link_size", "largest of σ, σ', |σ''| and 0.19/σ'", printed="max(σ,σ',|σ''|,0.19/σ')")
pop_gap = quantity("pop_gap", "L_P(w) - L_P(w*)", printed="L_P(w)-L_P(w*)", latex=r"L_P(w)-L_P(w^*)")
pop_inner = quantity(
    "pop_inner", "<grad L_P(w), w - w*>", printed="⟨∇L_P(w),w-w*⟩", latex=r"\langle\nabla L_P(w),w-w^*\rangle"
)
pop_mean = quantity(
    "pop_mean", "mean excess population risk", printed="Err_P(w_R)", latex=r"\mathrm{Err}_P(w_R)", holds=MEAN
)
pop_likely = quantity(
    "pop_likely", "likely excess population risk", printed="Err_P(w_R)", latex=r"\mathrm{Err}_P(w_R)", holds=LIKELY
)

# Norms are l2 and l2 in Theorem 4.2.5, l∞ and l1 in Theorem 4.2.6.
GLM = Setting("‖x‖, ‖w‖ ≤ 1, dual norms, y = 0 or 1, E[y|x] = σ⟨w*,x⟩, c_σ ≤ σ' ≤ C_σ, |σ''| ≤ C_σ, |σ| ≤ B on [-1,1]")
ROBUST = Setting(
    "‖x‖, ‖w‖ ≤ 1, dual norms, y = ⟨w*,x⟩+ξ, ξ symmetric, |ψ'|, |ψ''| ≤ C_ψ, ψ' odd, > 0 for s > 0, h'(0) > c_ψ"
)
STEEP = Setting("h(s)/s ≥ c_ψ for 0 < |s| ≤ 2, h(s) = E ψ'(s+ξ)")
m, tilt, apart, off, curve, row = symbols("m t a o b x", nonnegative=True)


links = Claim(
    id="dwang20.section4.2.2.links", kind=Kind.IDENTITY,
    source=Source("dwang20", "before Assumption 4.2.2: it includes the sigmoid and probit functions", line=3275),
    says="On [-1, 1] σ, σ', |σ''| and 0.19/σ' of the sigmoid and of the probit link are at most C_σ = B = 1.",
    states=Le(link_size, 1),
    ignores_units=True,
)


def glm_constant(part: str, line: int, place: str, subject: Symbol, size: Expr, fixed: bool) -> Claim:
    """A constant of the squared loss: as printed, without the 2 of its derivative, or with it."""
    doubled = 2 if fixed else 1
    first = subject == slope_glm
    reasons = (
        {"|σ-y| ≤ B+1": 2 * (B_link + 1 - off) * tilt * row, "σ' ≤ C_σ": 2 * (B_link + 1) * (C_link - tilt) * row,
         "‖x‖ ≤ 1": 2 * (B_link + 1) * C_link * (1 - row)}
        if first else
        {"σ' ≤ C_σ": 2 * (C_link**2 - tilt**2) * row**2, "|σ''| ≤ C_σ": 2 * (C_link - curve) * off * row**2,
         "|σ-y| ≤ B+1": 2 * C_link * (B_link + 1 - off) * row**2,
         "‖x‖ ≤ 1": 2 * (C_link**2 + C_link * (B_link + 1)) * (1 - row**2)}
    )
    start = 2 * off * tilt * row if first else 2 * (tilt**2 + curve * off) * row**2
    why = "2|σ-y|·σ'·‖x‖" if first else "at most 2(σ'² + |σ''||σ-y|)·‖x‖²"
    relation = "=" if first else "<="
    return Claim(
        id=f"dwang20.{part}{'.corrected' if fixed else ''}", kind=Kind.IDENTITY,
        source=Source("dwang20", place, line),
        says=f"How {'steep' if first else 'bent'} the loss (σ⟨w,x⟩-y)² is{', with the 2 of a square' * fixed}.",
        assumes=[GLM],
        states=Le(subject, doubled * size),
        corrects=f"dwang20.{part}" if fixed else None,
        ignores_units=True,
        checks=[
            Chain(
                subject,
                Step(relation, start, because=Premise(why)),
                Step("<=", STATEMENT, because=Slack(reasons), uses=[GLM]),
            )
        ] if fixed else [],
    )  # fmt: skip


lipschitz_glm = C_link * (B_link + 1)
smooth_glm = C_link**2 + C_link * (B_link + 1)
equation50 = glm_constant("equation4.50", 3683, "equation (4.50)", slope_glm, lipschitz_glm, fixed=False)
equation50_corrected = glm_constant("equation4.50", 3683, "equation (4.50)", slope_glm, lipschitz_glm, fixed=True)
hessian = glm_constant("theorem4.2.5.smooth", 3687, "after (4.50)", bend_glm, smooth_glm, fixed=False)
hessian_corrected = glm_constant("theorem4.2.5.smooth", 3687, "after (4.50)", bend_glm, smooth_glm, fixed=True)


def robust_constant(part: str, subject: Symbol, power: int) -> Claim:
    """C_ψ for the gradient and for the Hessian."""
    return Claim(
        id=f"dwang20.theorem4.2.5.{part}", kind=Kind.IDENTITY,
        source=Source("dwang20", "after Lemma 4.2.6", line=3729),
        says=f"The loss ψ(⟨w,x⟩-y) is C_ψ-{'Lipschitz' if power == 1 else 'smooth'}.",
        assumes=[ROBUST],
        states=Le(subject, C_res),
        ignores_units=True,
        checks=[
            Chain(
                subject,
                Step("=", tilt * row**power, because=Premise("a derivative of ψ, of size t, times a power of ‖x‖")),
                Step("<=", STATEMENT, because=Slack(
                    {"t ≤ C_ψ": (C_res - tilt) * row**power, "‖x‖ ≤ 1": C_res * (1 - row**power)}), uses=[ROBUST]),
            )
        ],
    )


robust_slope = robust_constant("robust_lipschitz", slope_res, 1)
robust_bend = robust_constant("robust_smooth", bend_res, 2)

# The risk by ⟨∇L_P(w), w-w*⟩: for one x, then in the mean ---------------------------------------------
lemma5 = Claim(
    id="dwang20.lemma4.2.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 4.2.5", line=3667),
    says="The excess risk of a generalised linear model.",
    assumes=[GLM],
    states=Le(pop_gap, C_link / (2 * c_link) * pop_inner),
    ignores_units=True,
    checks=[
        Chain(
            pop_gap,
            Step("=", (m * apart) ** 2, because=Premise("E(σ⟨w,x⟩-σ⟨w*,x⟩)², m the mean slope over ⟨w-w*,x⟩ = a")),
            Step("<=", STATEMENT, because=Slack({
                "⟨∇L_P(w), w-w*⟩ = 2E σ'(⟨w,x⟩)·m·a², t for σ'":
                    C_link / (2 * c_link) * (pop_inner - 2 * tilt * m * apart**2),
                "σ' ≥ c_σ": C_link / c_link * (tilt - c_link) * m * apart**2,
                "m ≤ C_σ": (C_link - m) * m * apart**2}), uses=[GLM]),
        )
    ],
)  # fmt: skip


def robust_risk(suffix: str, says: str, *assumes: Hypothesis) -> Claim:
    """Lemma 4.2.6, and with what its proof uses."""
    return Claim(
        id=f"dwang20.lemma4.2.6{suffix}", kind=Kind.UTILITY,
        source=Source("dwang20", "Lemma 4.2.6", line=3725),
        says=says,
        assumes=[ROBUST, *assumes],
        states=Le(pop_gap, C_res / (2 * c_res) * pop_inner),
        corrects="dwang20.lemma4.2.6" if suffix else None,
        ignores_units=True,
        checks=[
            Chain(
                pop_gap,
                Step("=", curve / 2 * apart**2,
                     because=Premise("∇L_P(w*) = E ψ'(-ξ)x = 0; b a mean of ψ'', a = ⟨w-w*,x⟩"), uses=[ROBUST]),
                Step("<=", STATEMENT, because=Slack({
                    "ψ'' ≤ C_ψ": (C_res - curve) / 2 * apart**2,
                    "⟨∇L_P(w), w-w*⟩ = E h(a)·a ≥ c_ψ·E a²": C_res / (2 * c_res) * (pop_inner - c_res * apart**2)}),
                    uses=[ROBUST, STEEP]),
            )
        ] if suffix else [],
    )  # fmt: skip


lemma6 = robust_risk("", "The excess risk of robust regression.")
lemma6_corrected = robust_risk(".corrected", "Where h(s) is at least c_ψ·s, not only near 0.", STEEP)
