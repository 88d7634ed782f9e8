"""DP EM: a private robust mean of each coordinate of what EM averages (dwang20, section 7.2.6, Algorithm 7.2.57).

Of the three models only the mixture has an M-step that is a mean of terms of single records, f = (2w-1)y. (7.68) has
lost the s before C that (7.61) has: what is left is a cubic, which one record moves as far as it likes.
Symbols: dp_gradient_em.py. Solver: dpcheck/solvers/latent/dp_em.py.
"""

from sympy import Eq, Expr, Ge, Integer, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import LOGS_FREE, Check, Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.heavy_tail import ht_dpsco_robust_gd as descent
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as means
from dpcheck.bounds.library.latent.dp_gradient_em import R, dist, dist_T, each, ell, far, per_ratio
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant, Units

moment = quantity("tau_dp_em", "bound on E f_j²", parameter=2, printed="τ", latex=r"\tau")
v = quantity("v_dp_em", "strong concavity of Q(·; β*)", loss=1, parameter=-2, printed="v", latex="v")
gamma_Q = quantity("gamma_dp_em", "γ of Lipschitz-Gradient-2", loss=1, parameter=-2, printed="γ_Q", latex=r"\gamma_Q")
chi = quantity("chi_dp_em", "bound on what a noisy M-step errs by", parameter=1, printed="χ", latex=r"\chi")
moved = quantity("moved_dp_em", "l2 sensitivity of a robust M-step", parameter=1, printed="Δ_f", latex=r"\Delta_f")
stepped = quantity("stepped_em", "‖M(β) - β*‖", parameter=1, printed="‖M(β)-β*‖", latex=r"\|M(\beta)-\beta^*\|")
pulled = quantity("pulled_em", "<∇Q(M; β*) - ∇Q(β*; β*), β* - M>", loss=1, printed="⟨∇Q(M;β*)-∇Q(β*;β*),β*-M⟩")
drift = quantity("drift_em_step", "‖∇Q(M; β*) - ∇Q(M; β)‖", loss=1, parameter=-1, printed="‖∇Q(M;β*)-∇Q(M;β)‖")
s, g = means.s, descent.g

# Algorithm 7.2.57 --------------------------------------------------------------------------------------
polynomial = g * (1 - g**2 / (2 * descent.s**2 * means.kappa)) - g**3 / (6 * descent.s**2)
correction = means.correction.subs({means.a: g / descent.s, means.b: g / (descent.s * sqrt(means.kappa))})


def estimate(says: str, formula: Expr, check: Check, corrects: str | None = None) -> Claim:
    """(7.68), a record's term; f_ij stands where (7.61) has a gradient."""
    return Claim(
        id=f"dwang20.equation7.68{'.corrected' if corrects else ''}", kind=Kind.IDENTITY,
        source=Source("dwang20", "(7.68), a record's term, for f_ij > 0", 9814),
        says=says, states=Eq(descent.term, formula), corrects=corrects, ignores_units=True,
        misprint_of=None if corrects else "dwang20.equation7.61", checks=[check],
    )


right = descent.estimate.formula
printed = estimate(
    "What a record adds to a robust M-step, “by (7.53)-(7.57)”: C without the s before it.", polynomial + correction,
    Equals(right, "(7.53) to (7.57): s times the mean of φ over η"),
)
printed_corrected = estimate("With it.", right, Chain(
    descent.term, Step("=", because=Cites("dwang20.equation7.61")), Step("=", STATEMENT)), printed.id)

whole = Setting("C enters times s, as in (7.61)")
sensitivity = Claim(
    id="dwang20.theorem7.2.7.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Theorem 7.2.7, “almost the same” proof as Theorem 7.2.2's", 9825),
    says="One record moves a robust M-step, as (7.61) has the estimator, by at most 4√2/3·s√d/n.",
    assumes=[whole],
    states=Le(moved, 4 * sqrt(2) / 3 * s * sqrt(d) / n), provenance=Provenance.READING,
    checks=[
        Chain(
            moved,
            Step("<=", sqrt(d) * means.Delta, because=Premise("d coordinates, each moved by at most Δ"),
                 uses=[whole]),
            Step("<=", because=Cites("dwang20.equation7.59.sensitivity")),
            Step("<=", STATEMENT),
        )
    ],
)
released = Release(sensitivity.formula, Gaussian(sigma), steps=T)
tuned = sqrt(n * moment / (2 * each))
noise = sqrt(8 * moment * d * T / (9 * each * n)) * per_ratio


def private(says: str, *more: Setting, corrects: str | None = None) -> Claim:
    """Theorem 7.2.7 of the algorithm as printed, and of what its proof is about."""
    release = Release(released.sensitivity.subs(s, tuned), Gaussian(sigma), steps=T)
    return Claim(
        id=f"dwang20.theorem7.2.7{'.corrected' if corrects else ''}", kind=Kind.PRIVACY,
        source=Source("dwang20", "Theorem 7.2.7, (7.68) as (7.61) has it", 9637) if corrects else Source(
            "dwang20", "Theorem 7.2.7 (it names Algorithm 7.2.56), with Algorithm 7.2.57", 9823),
        misprint_of=None if corrects else "dwang20.theorem7.2.7.corrected",
        says=says, assumes=[eps < 1, *more],
        states=Eq(sigma, noise), guarantee=ApproxDP(eps, delta), corrects=corrects,
        cites=[Cites("dwang20.lemma7.2.18"), Cites("dwang20.lemma7.2.19")],
        checks=[Accountant(release, "a record whose f turns from far below to far above in every coordinate")]
        if corrects else [],
    )


privacy = private("σ² = 8τdT/(9βnε̃²) makes Algorithm 7.2.57, with (7.68) as printed, (ε, δ)-private.")
privacy_corrected = private("It does with s before C.", whole, corrects=privacy.id)

# Error -------------------------------------------------------------------------------------------------
curved = [
    Setting("Q(·; β*) is v-strongly concave on B, β* its maximiser"),
    Setting("‖∇Q(M(β); β*) - ∇Q(M(β); β)‖ ≤ γ_Q‖β - β*‖ on B, as for mixtures, where no first argument matters"),
]
contraction = Claim(
    id="dwang20.theorem7.2.8.step", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 7.2.8", 10228),
    says="An exact EM step brings β nearer to β* by the factor γ_Q/v.",
    assumes=curved[:1], added=curved[1:],
    states=Le(stepped, gamma_Q / v * dist),
    checks=[
        Chain(
            stepped,
            Step("<=", pulled / (v * stepped), because=Premise(
                "v‖M-β*‖² ≤ ⟨∇Q(M;β*)-∇Q(β*;β*), β*-M⟩: Q is v-strongly concave"), uses=curved),
            Step("<=", STATEMENT, because=Slack(
                {"∇Q(β*;β*) = 0 = ∇Q(M;β), Cauchy and Schwarz": (drift * stepped - pulled) / (v * stepped),
                 "stability at M": (gamma_Q * dist - drift) / v}), uses=curved),
        )
    ],
)

left = sqrt(moment * log(1 / delta) / (n * ell)) / (5 * eps)
LAST = (
    "Q(β; β') = -‖β-y‖²/2 in one dimension, y normal: the noise of the last step alone, √(8τT/(9 log(1/γ)n))/ε̃, is in "
    "β^T, however small R is"
)
theorem8 = Claim(
    id="dwang20.theorem7.2.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.2.8, (7.69) and (7.70); γ_Q < v for a condition with a μ it has not", 9829),
    says="The error of Algorithm 7.2.57 after T = O(v/(v-γ_Q) log n) steps, with R as a factor.",
    assumes=[
        Setting("Assumption 7.2.2: M_n is a mean of independent f_i, E f_j² ≤ τ"), gamma_Q < v, LOGS_FREE,
        Ge(n, c * (v / (v - gamma_Q)) ** 2 * d**2 * moment * log(1 / delta) * ell * log(n) / (eps**2 * R**2)),
    ],
    states=Rate(dist_T, R * sqrt(v / (v - gamma_Q) ** 3) * d * log(1 / delta) * ell * sqrt(moment) / sqrt(n * eps**2)),
    hidden=[c],
    checks=[
        NoConstant(left, {n: far**6, d: Integer(1), eps: Rational(1, 2), delta: Rational(1, 10), gamma: 1 / far,
                          R: 1 / far, moment: Integer(2), v: Integer(1), gamma_Q: Rational(1, 2)}, far, LAST),
        Units(),
    ],
)
erring = Setting("every noisy M-step errs by at most χ ≤ (1-γ_Q/v)R/2, and ‖β⁰-β*‖ ≤ R/2: no step leaves B")
theorem8_corrected = Claim(
    id="dwang20.theorem7.2.8.corrected", kind=Kind.UTILITY, source=theorem8.source,
    says="In what noisy M-steps err by: R multiplies what fades alone.",
    assumes=[*curved, erring, gamma_Q < v],
    states=Le(dist_T, (gamma_Q / v) ** T * R / 2 + v / (v - gamma_Q) * chi),
    corrects=theorem8.id, cites=[Cites("dwang20.theorem7.2.8.step")],
    checks=[
        Chain(dist_T, Step("<=", STATEMENT, uses=[*curved, erring], because=Induction(
            T, start=R / 2, step=lambda b: gamma_Q / v * b + chi,
            given="a step brings a distance b to γ_Q/v·b + χ at most",
        )))
    ],
)
