"""Gradient EM and its three models (dwang20, section 7.2.2): posterior weights, gradients, M-steps.

GMM: y = zβ* + v. MRM: y = z⟨β*, x⟩ + v. RMC: y = ⟨β*, x⟩ + v, where covariates of x are missing. z is a random sign, v
normal with deviation σ, x standard normal. Code: dpcheck/families/em_models.py; second moments: em_moments.py.
"""

from sympy import Eq, Expr, Ge, Rational, diff, exp, simplify, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Minimiser, Premise, Step
from dpcheck.bounds.proving.proofs import Equals

along = quantity("along_em", "<β, y>/σ², or y<β, x>/σ²", printed="⟨β,y⟩/σ²", latex=r"\langle\beta,y\rangle/\sigma^2")
weight = quantity("weight_em", "P(z = 1) given the record, at β", box=(1e-3, 1), printed="w_β", latex=r"w_\beta")
grad = quantity("grad_size_em", "‖∇q(β; β)‖", printed="‖∇q‖", latex=r"\|\nabla q\|")
length = quantity("length_em", "‖y‖", box=(1, 1e6), printed="‖y‖", latex=r"\|y\|")
level = quantity("level_em", "a number that the gradient is to exceed", printed="c", latex="c")
b = quantity("beta_em", "β, in one dimension", printed="β", latex=r"\beta")
sd = quantity("sd_em", "deviation of v", box=(1e-2, 10), printed="σ", latex=r"\sigma")
label = quantity("label_em", "y", box=(1e-2, 1e2), printed="y")
slope_missing = quantity("slope_missing", "∇q(β; β) of a record whose only covariate is missing", printed="∇q")
step = quantity("step_em", "M_n(β') of one record", printed="M(β')", latex="M(\\beta')")
w = quantity("w_prime", "w_β'(y)", box=(0.51, 1), printed="w_β'", latex=r"w_{\beta'}")
_b, _y, _s, _j, _v = symbols("b y s j v", positive=True)


# Posterior weights -----------------------------------------------------------------------------------
def bayes() -> Expr:
    """P(z = 1 | y) for y = zβ + v, with β = y = σ √u in one dimension, so that <β, y>/σ² is u."""
    one, other = (exp(-((_y - sign * _b) ** 2) / (2 * _s**2)) for sign in (1, -1))
    return simplify((1 / (1 + simplify(other / one))).subs({_y: along * _s**2 / _b}))


GIVEN = "Bayes' rule for a sign that is as likely, and normal densities about β and -β"


def weights(number: str, line: int, what: str) -> tuple[Claim, Claim]:
    """The weight as printed, and by Bayes' rule."""

    def claim(says: str, power: Expr, corrects: str | None = None) -> Claim:
        return Claim(
            id=f"dwang20.equation{number}.weight{'.corrected' if corrects else ''}", kind=Kind.IDENTITY,
            source=Source("dwang20", f"after ({number})", line),
            says=says, states=Eq(weight, 1 / (1 + exp(-power))), corrects=corrects,
            checks=[Equals(bayes, GIVEN)],
        )

    return (
        claim(f"The posterior weight of {what}: w = 1/(1+exp(-u)), at which β* is no fixed point.", along),
        claim("It takes exp(-2u): 2w - 1 = tanh(u).", 2 * along, f"dwang20.equation{number}.weight"),
    )


gmm_weight, gmm_weight_corrected = weights("7.45", 9466, "a mixture, u = ⟨β, y⟩/σ²")
mrm_weight, mrm_weight_corrected = weights("7.47", 9476, "mixed regressions, u = y⟨β, x⟩/σ²")

# A gradient without a bound ----------------------------------------------------------------------------
far = Setting("β = e₁, σ = 1, and y of the proof's set: ⟨β, y⟩ ≥ ln 2, y ≥ 0, an open set of positive probability")
unbounded = Claim(
    id="dwang20.theorem7.2.1", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 7.2.1, with the set of its proof", 9528),
    says="With positive probability the gradient of a Gaussian mixture is longer than any number.",
    assumes=[far, Ge(length, 3 * (level + 1))],
    states=Ge(grad, level),
    checks=[
        Chain(
            grad,
            Step(">=", length / 3 - 1, because=Premise("‖(2w-1)y‖ - ‖β‖, and w ≥ 2/3 by either weight"), uses=[far]),
            Step(">=", STATEMENT, where={length: 3 * (level + 1) + _v}),
        )
    ],
)

# Missing covariates ------------------------------------------------------------------------------------
seen = label * b / (sd**2 + b**2)  # m_β: the mean of the missing covariate, given y


def slope_by_densities() -> Expr:
    """σ²∇q = E (y - xβ)x given y: moments of the density of x, by derivatives of its logarithmic Laplace transform."""
    transform = (label * b / sd**2 + _j) ** 2 / (2 * (1 + b**2 / sd**2))
    mean, spread = (diff(transform, _j, k).subs(_j, 0) for k in (1, 2))
    return simplify(label * mean - (mean**2 + spread) * b)


def missing(says: str, second: Expr, corrects: str | None = None) -> Claim:
    """(7.49) where d = 1 and the covariate is missing: σ² times the gradient, as (7.45) and (7.47) have it."""
    return Claim(
        id=f"dwang20.equation7.49{'.corrected' if corrects else ''}", kind=Kind.IDENTITY,
        source=Source("dwang20", "(7.49) with (7.50) and (7.51), at d = 1, z = 0", 9484),
        says=says, states=Eq(slope_missing, label * seen - second * b), corrects=corrects,
        checks=[Equals(slope_by_densities, "the derivative of (7.42), with the normal law of x given y")],
    )


rmc = missing("∇q = ym - Kβ, K with 1 for the second moment of a covariate that is missing.", Rational(1))
rmc_corrected = missing(
    "Given y it has a variance of σ²/(σ²+β²) about m; K's is right on average over y at β = β* alone.",
    sd**2 / (sd**2 + b**2) + seen**2, "dwang20.equation7.49",
)

# M-steps -----------------------------------------------------------------------------------------------
m_step = Claim(
    id="dwang20.section7.2.5.gmm", kind=Kind.IDENTITY,
    source=Source("dwang20", "section 7.2.5, Gaussian Mixture Model: M_n(β'), a record's term, in one dimension", 9762),
    says="Q_n(·; β') of a mixture is largest at the mean of (2w-1)y.",
    states=Eq(step, (2 * w - 1) * label),
    checks=[
        Chain(
            step,
            Step("=", (2 * w - 1) * label, because=Minimiser(
                of=(w * (label - step) ** 2 + (1 - w) * (label + step) ** 2) / 2)),
            Step("=", STATEMENT),
        )
    ],
)

