"""How large coordinates of EM's gradients are (dwang20, Lemmas 7.2.4, 7.2.6, 7.2.8, 7.2.9 and their proofs).

r is the signal-to-noise ratio, R the radius of the ball in which β lies. Privacy rests on none of it: τ is a public
guess (dp_gradient_em.py).
"""

from typing import Any

from sympy import Le, Rational, Symbol, exp, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import d, quantity
from dpcheck.bounds.library.latent.gradient_em import sd
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

norm = quantity("norm_em", "‖β*‖₂", printed="‖β*‖₂", latex=r"\|\beta^*\|_2")
largest = quantity("linf_em", "‖β*‖_∞", printed="‖β*‖_∞", latex=r"\|\beta^*\|_\infty")
own = quantity("own_em", "|β*_j|", printed="|β*_j|", latex=r"|\beta^*_j|")
R = quantity("radius_em", "radius of the ball of β about β*", printed="R", latex="R")
r = quantity("snr_em", "bound on ‖β*‖/σ", box=(1e-1, 1e2), printed="r", latex="r")
moment = quantity("moment_em", "E (∇_j q(β; β))²", printed="E(∇_jq)²", latex=r"\mathbb{E}(\nabla_jq)^2")
xi = quantity("xi_em", "least ξ for which ∇_j q is ξ-sub-exponential", printed="ξ", latex=r"\xi")
second_y = quantity("second_y_em", "E y_j²", printed="E y_j²", latex=r"\mathbb{E}y_j^2")
far = Symbol("x", positive=True)
_u, _v = (Symbol(name, nonnegative=True) for name in "uv")

gmm = Setting("a mixture as in (7.44), β in the ball of radius R = ‖β*‖/4")
mrm = Setting("mixed regressions as in (7.46), β in the ball of radius ‖β*‖/32")
rmc = Setting("regression with missing covariates as in (7.48), β in the ball of radius k‖β*‖, k < 1")


def claim(number: str, line: int, says: str, states: Rate, check: Any, *assumes: Any, **how: Any) -> Claim:
    """A lemma of section 7.2 on sizes of gradients."""
    return Claim(
        id=f"dwang20.lemma{number}", kind=Kind.UTILITY,
        source=Source("dwang20", f"Lemma {number[:6].rstrip('.')}", line),
        says=says, states=states, assumes=[*assumes], ignores_units=True, checks=[check], **how,
    )


# Mixtures ----------------------------------------------------------------------------------------------
lemma4 = claim(
    "7.2.4", 9670, "A mixture's gradient has E(∇_jq)² = O(‖β*‖∞² + σ²) for every β of the ball.",
    Rate(moment, largest**2 + sd**2),
    NoConstant(
        norm**2 / 64, {norm: 1 + 0 * far, sd: 1 / far, largest: 1 / far, d: far**2, r: 10 + 0 * far}, far,
        "β = β* - R e₁ with all entries of β* alike: E∇_1q = M(β)_1 - β_1 is R - ‖M(β)-β*‖ ≥ R/2 = ‖β*‖/8 at least, "
        "where γ ≤ 1/2", at=1e3,
    ),
    gmm, norm >= r * sd, largest <= norm, norm <= sqrt(d) * largest,
)
lemma4_corrected = claim(
    "7.2.4.corrected", 9670, "The mean counts too: O(‖β*‖∞² + R² + σ²).", Rate(moment, largest**2 + R**2 + sd**2),
    Chain(
        moment,
        Step("<=", 2 * second_y + 2 * (own + R) ** 2, because=Premise(
            "∇_jq = (2w-1)y_j - β_j, |2w-1| ≤ 1, |β_j| ≤ |β*_j| + R; (a+b)² ≤ 2a² + 2b²"), uses=[gmm]),
        Step("<=", 2 * (own**2 + sd**2) + 2 * (own + R) ** 2, because=Premise("y_j = zβ*_j + v_j"), uses=[gmm]),
        Step("<=", 6 * own**2 + 4 * R**2 + 2 * sd**2, because=Slack(seen=[2 * (own - R) ** 2])),
        Step("<=", 6 * STATEMENT, where={largest: own + _u}),
    ),
    gmm, own <= largest, corrects="dwang20.lemma7.2.4",
)
moment_f = quantity("moment_f", "E f_j(β)², f = (2w-1)y", printed="E f_j²", latex=r"\mathbb{E}f_j^2")
anywhere = Setting("a mixture as in (7.44), any β")
lemma9 = claim(
    "7.2.9", 9843, "What EM averages for a mixture, f = (2w-1)y, has E f_j² = O(‖β*‖∞² + σ²).",
    Rate(moment_f, largest**2 + sd**2),
    Chain(
        moment_f,
        Step("<=", second_y, because=Premise("|2w-1| ≤ 1"), uses=[anywhere]),
        Step("=", own**2 + sd**2, because=Premise("y_j = zβ*_j + v_j"), uses=[anywhere]),
        Step("<=", STATEMENT, where={largest: own + _u}),
    ),
    anywhere, own <= largest,
)
MGF = (
    "E e^(t(X-EX)) ≤ E cosh(2tX), by another copy and a sign; ≤ E cosh(2ty_j) = cosh(2tβ*_j) e^(2t²σ²), as "
    "|X - c| ≤ |y_j| with c = -β_j or 0; cosh x ≤ e^(x²/2)"
)


def sub_exponential(number: str, line: int, what: str) -> Claim:
    """Lemmas 7.2.20 and 7.2.24."""
    return claim(
        number, line, f"{what} of a mixture is O(√(‖β*‖∞² + σ²))-sub-exponential about its mean.",
        Rate(xi, sqrt(largest**2 + sd**2)),
        Chain(
            xi,
            Step("<=", 2 * sqrt(own**2 + sd**2), because=Premise(MGF), uses=[anywhere]),
            Step("<=", 2 * STATEMENT, where={largest: own + _u}),
        ),
        anywhere, own <= largest,
    )


lemma20, lemma24 = sub_exponential("7.2.20", 10054, "∇_jq"), sub_exponential("7.2.24", 10254, "f_j")

# Mixed regressions -------------------------------------------------------------------------------------
loud = norm >= sd  # r ≥ 1
direct = 2 * (3 * norm**2 + sd**2) + 6 * Rational(33, 32) ** 2 * norm**2
BY_NORMALS = (
    "∇_jq = (2w-1)yx_j - x_j⟨x,β⟩; E y²x_j² = ‖β*‖² + 2β*_j² + σ², E x_j²⟨x,β⟩² = ‖β‖² + 2β_j², ‖β‖ ≤ 33/32‖β*‖"
)
lemma6 = claim(
    "7.2.6", 9702, "Mixed regressions have E(∇_jq)² = O(max{(‖β*‖²+σ²)², d‖β*‖²}); a sum for the larger of two.",
    Rate(moment, (norm**2 + sd**2) ** 2 + d * norm**2),
    Chain(
        moment,
        Step("<=", direct, because=Premise(BY_NORMALS), uses=[mrm]),
        Step("<=", 16 * STATEMENT, where={norm: sd + _u, d: 1 + _v}),
    ),
    mrm, loud,
)
lemma6_sharper = claim(
    "7.2.6.sharper", 9702, "No d is needed: it is O(‖β*‖² + σ²), and d^(3/2) in Theorem 7.2.5 becomes d.",
    Rate(moment, norm**2 + sd**2),
    Chain(moment, Step("<=", direct, because=Premise(BY_NORMALS), uses=[mrm]), Step("<=", 16 * STATEMENT)),
    mrm, provenance=Provenance.CONSEQUENCE,
)
lemma21 = claim(
    "7.2.21", 10106, "They are O(max{‖β*‖²+σ², 1, √d‖β*‖})-sub-exponential; a sum for the largest of three.",
    Rate(xi, norm**2 + sd**2 + 1 + sqrt(d) * norm),
    Chain(
        xi,
        Step("<=", 8 * (norm + sd + Rational(33, 32) * norm), because=Premise(
            "|∇_jq| ≤ |x_j| D, where D has moments at most those of s|N|, s = ‖β*‖ + σ + ‖β‖, N standard normal: "
            "E e^(t(X-EX)) ≤ E cosh(2tX) ≤ Σ (4ts)^(2m) ≤ e^(32t²s²) for |t| ≤ 1/(8s), as E N^(4m) ≤ 4^m (2m)!"),
            uses=[mrm]),
        Step("<=", 25 * norm, where={norm: sd + _u}),
        Step("<=", 25 * STATEMENT, where={d: (1 + _v) ** 2}),
    ),
    mrm, loud,
)

# Missing covariates ------------------------------------------------------------------------------------
QUIET = "no covariate is missing (p_m → 0) and β = β*: ∇_jq = v x_j, of second moment σ²"
printed = sqrt(d) * norm + sd**2 + norm**2
quiet = {sd: 1 / far, norm: 1 / far**2, d: 1 + 0 * far, r: 1 + 0 * far}
lemma8 = claim(
    "7.2.8", 9728, "Missing covariates have E(∇_jq)² = O((√d‖β*‖ + σ² + ‖β*‖²)²).", Rate(moment, printed**2),
    NoConstant(sd**2, quiet, far, QUIET, at=1e3), rmc, norm <= r * sd,
)
of_missing = norm**2 * (6 * (1 + 2 * r**2) ** 2 + 2) * 4
lemma8_corrected = claim(
    "7.2.8.corrected", 9728, "It is O((1+r²)²(‖β*‖² + σ²)): without d, and in the right unit.",
    Rate(moment, (1 + r**2) ** 2 * (norm**2 + sd**2)),
    Chain(
        moment,
        Step("<=", 3 * (sd**2 + 2 * norm**2) + of_missing, because=Premise(
            "with D = y - ⟨β, z⊙x⟩: where x_j is seen |∇_jq| ≤ |x_j D|, and E x_j²D² ≤ 3 E D² ≤ 3(σ² + (1+k²)‖β*‖²); "
            "where not, ∇_jq = β_j(D²/(σ²+‖β_mis‖²) - 1), E D⁴ ≤ 3(E D²)², E D² ≤ σ²(1 + (1+k²)r²)"),
            uses=[rmc, norm <= r * sd]),
        Step("<=", 100 * STATEMENT),
    ),
    rmc, norm <= r * sd, corrects="dwang20.lemma7.2.8",
)
lemma22 = claim(
    "7.2.22", 10156, "Missing covariates: ξ-sub-exponential, ξ = O(√d‖β*‖ + σ² + ‖β*‖²): (7.94) without its (1+kr)².",
    Rate(xi, printed), NoConstant(sd, quiet, far, f"ξ² is at least the variance; {QUIET}", at=1e3), rmc, norm <= r * sd,
)
lemma22_corrected = claim(
    "7.2.22.corrected", 10156, "ξ = O((1+r²)(‖β*‖ + σ)): without d, and in the right unit.",
    Rate(xi, (1 + r**2) * (norm + sd)),
    Chain(
        xi,
        Step("<=", 8 * (sd + Rational(3, 2) * norm + 4 * norm * (1 + 2 * r**2)), because=Premise(
            "with D as above and s² = σ² + 2‖β*‖²: |∇_jq| ≤ |x_j D|, or |β_j| times the larger of D²/σ² and 1; its "
            "moments are at most those of a N², N standard normal, a = s + 4‖β*‖s²/σ²: as in Lemma 7.2.21"),
            uses=[rmc, norm <= r * sd]),
        Step("<=", 100 * STATEMENT),
    ),
    rmc, norm <= r * sd, corrects="dwang20.lemma7.2.22",
)

# Tails -------------------------------------------------------------------------------------------------
log_mgf = quantity("log_mgf", "log E exp(tX)", printed="log E e^(tX)", latex=r"\log\mathbb{E}e^{tX}")
psi = quantity("psi_1", "‖X‖_ψ₁", printed="‖X‖_ψ₁", latex=r"\|X\|_{\psi_1}")
t_tail = quantity("t_tail", "t", box=(1e-4, 1), printed="t")
spread = quantity("centred_sup", "E φ(sup|Σ f(y_i) - E f|)", printed="Eφ(sup|Σ f-Ef|)")
ghost = quantity("ghost_sup", "E sup|Σ f(y_i) - f(y'_i)|, y' another sample", printed="E sup|Σ f(y)-f(y')|")
signed = quantity("signed_sup", "E φ(sup|Σ ε_i f(y_i)|)", printed="Eφ(sup|Σ εf|)")

linear = Setting("φ(x) = x; independent y_i")
near = t_tail * psi * exp(1) <= Rational(1, 2)  # |t| ≤ c/‖X‖ with c = 1/(2e); the counterexample is within any c
lemma10 = claim(
    "7.2.10", 9900, "E e^(tX) ≤ e^(Ct²‖X‖²) near 0 for a sub-exponential X, as printed of any mean.",
    Rate(log_mgf, t_tail**2 * psi**2),
    NoConstant(t_tail, {t_tail: 1 / far, psi: 1 + 0 * far}, far, "X = 1: log E e^(tX) = t, and ‖X‖ = 1", at=1e3), near,
)
centred = Setting("E X = 0")
power = exp(1) * t_tail * psi
lemma10_corrected = claim(
    "7.2.10.corrected", 9900, "It takes E X = 0.", Rate(log_mgf, t_tail**2 * psi**2),
    Chain(
        log_mgf,
        Step("<=", power**2 / (1 - power), because=Premise(
            "log x ≤ x - 1, and |t|^p E|X|^p/p! ≤ (e|t|‖X‖)^p, summed from p = 2 on"), uses=[centred]),
        Step("<=", 15 * STATEMENT, where={t_tail: 1 / (2 * exp(1) * psi * (1 + _u))}),
    ),
    centred, near, corrects="dwang20.lemma7.2.10",
)
lemma16 = Claim(
    id="dwang20.lemma7.2.16", kind=Kind.UTILITY, source=Source("dwang20", "Lemma 7.2.16, quoted from [44]", 9928),
    says="Symmetrisation: E φ(sup|Σ f(y_i) - E f|) is at most E φ(sup|Σ ε_i f(y_i)|).",
    states=Le(spread, signed),
    checks=[AtMost(Rational(162, 95) * signed, (
        "n = 2, f(y) = y, φ(x) = x, y = 1 with probability p = 1/10, else 0: 4p(1-p)² and p(2-p), nearly twice as much "
        "for small p"))],
)
lemma16_corrected = Claim(
    id="dwang20.lemma7.2.16.corrected", kind=Kind.UTILITY, source=Source("dwang20", "Lemma 7.2.16", 9928),
    says="There is a factor 2; here for φ(x) = x.",
    assumes=[linear],
    states=Le(spread, 2 * signed), corrects="dwang20.lemma7.2.16",
    checks=[
        Chain(
            spread,
            Step("<=", STATEMENT, because=Slack({
                "Jensen: E f is the mean over another sample y'": ghost - spread,
                "Σ f(y_i) - f(y'_i) and Σ ε_i(f(y_i) - f(y'_i)) have one law; the triangle inequality":
                    2 * signed - ghost}), uses=[linear]),
        )
    ],
)
