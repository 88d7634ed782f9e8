"""OnPairStrC with a buffer of s records (dwang20, section 3.3.2, Algorithm 3.3.12, Theorem 3.3.4).

Lines 12 to 14 as they stand go on from the noisy point: that is private, and nothing shows its regret. The proof of the
regret goes on from the point before its noise: then Lemma 3.3.1 fails, as a record that stays in the buffer enters
every step with weight 1/s and not 1/(t-1), and so does privacy. Solver, as it stands:
dpcheck/solvers/pairwise/pw_fbon_strc.py.
"""

from sympy import Eq, Expr, Integer, Le, Symbol, log, sqrt

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Kind,
    Provenance,
    Rate,
    Setting,
    Source,
    lipschitz,
    strongly_convex,
)
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, delta, eps, eta, gamma, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.pairwise.pw_giga import (
    STEP_SIZE,
    T1,
    L,
    alpha,
    later,
    losses,
    moved_all,
    now,
    own_move,
    parted_at,
    printed_T1,
    reach,
    squares,
)
from dpcheck.bounds.library.pairwise.pw_on2off import TWICE, conditioned, per_round, well_conditioned
from dpcheck.bounds.library.pairwise.pw_on_strc import (
    CLEAN,
    LITERAL,
    NOISE,
    POSITIVE,
    explicit2,
    known,
    likely_regret,
    noise_alone,
    noise_cost,
    noise_is_most,
    per_record,
    printed_noise,
    printed_release,
    scaled,
    small,
)
from dpcheck.bounds.library.pairwise.pw_rsx import capacity
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Premise, Slack, Step

weight = quantity("heaviest_share", "largest sum of squared shares of a record, its own step counted 1", printed="ω")
dimension_factor = quantity("C_dim", "dimension factor of the Rademacher average", loss=1, printed="C_d", latex="C_d")
buffer_regret = quantity("buffer_regret", "regret on the pairs of the buffer", loss=1, printed="R_buf(n)", holds=LIKELY)
buffer_mean, population_mean, pairs_mean = (
    quantity(f"{name}_mean", f"average of the {what}", loss=1, printed=f"{sign}/(n-1)", holds=holds)
    for name, what, sign, holds in (
        ("buffer", "regret on the pairs of the buffer", "R_buf(n)", LIKELY),
        ("population", "generalised regret", "R_(P,A)(n)", TWICE),
        ("pairs", "regret on all pairs", "R_A(n, D)", TWICE),
    )
)
buffered = [Setting("pairs with the records of an RS-x buffer, which nobody sees")]

# Privacy -------------------------------------------------------------------------------------------
released = Release(reach * sqrt(weight), Gaussian(scaled), in_pieces=True)  # for the places that were drawn

PLACES_KNOWN = Setting("the buffer's places are known")
in_loop = Claim(
    id="dwang20.theorem3.3.4.in_loop", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 3.3.12, lines 12 to 15", line=2226),
    says="Given outputs before and the places of the buffer, one record moves the sequence of t·w_t by that in all.",
    assumes=[
        lipschitz(G, "without its regulariser"), strongly_convex(alpha), STEP_SIZE,
        PLACES_KNOWN, T1 >= 2,
    ],
    states=Le(moved_all**2, weight * reach**2),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            moved_all**2,
            Step("<=", own_move**2 * (1 + squares), because=Premise(
                "from equal points all pairs differ in its own step, later as many as places hold it (Lipschitz)"),
                 uses=[PLACES_KNOWN]),
            Step("<=", STATEMENT, because=Slack(given={
                "tη·2G = (t-1)/(t-2)·4G/α, largest at t = T₁+1": (1 + squares) * (reach**2 - own_move**2),
                "ω is the largest 1 + Σ of squared shares": reach**2 * (weight - 1 - squares),
            }), uses=[STEP_SIZE, T1 >= 2]),
        )
    ],
)

theorem4_privacy = Claim(
    id="dwang20.theorem3.3.4.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.4, first sentence, with lines 12 to 14 of Algorithm 3.3.12", line=2209),
    says="The whole sequence of outputs is (ε, δ)-private, even to who knows which places the buffer took.",
    assumes=[*losses, STEP_SIZE, LITERAL, *buffered, *printed_T1, eps <= 1],
    states=Eq(scaled, printed_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(printed_release, "from equal points a step moves t·w_t by (t-1)/(t-2)·4G/α at most, T₁ ≥ 7")],
)

theorem4_clean = Claim(
    id="dwang20.theorem3.3.4.privacy.clean", kind=Kind.PRIVACY,
    source=Source("dwang20", "proof of Theorem 3.3.4: privacy by the proof of Theorem 3.3.1", line=2559),
    says="So it is if steps go on from the point before its noise, which the proof of its regret needs.",
    assumes=[*losses, STEP_SIZE, CLEAN, *buffered, *printed_T1, n > T1, eps <= 1],
    states=Eq(scaled, printed_noise),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
)

lemma1_buffer = Claim(
    id="dwang20.lemma3.3.1.buffer", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 3.3.4: Lemma 3.3.1, with a buffer", line=2559),
    says="Runs with a buffer on neighbouring streams are at most 8G/(αt) apart, whatever the places it takes.",
    assumes=[*losses, STEP_SIZE, CLEAN, *buffered, *printed_T1],
    states=Le(parted_at, 8 * G / (alpha * now)),
    provenance=Provenance.READING,
)

SHORT_STEPS = Setting("step size η ≤ 2/(α+L) at every step")
lemma1_buffer_corrected = Claim(
    id="dwang20.lemma3.3.1.buffer.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Theorem 3.3.4: Lemma 3.3.1, with a buffer", line=2559),
    says="They are at most 2G/α apart, and that is as much as one can say: the record may stay in every place.",
    assumes=[*losses, CLEAN, *buffered, eta <= 2 / (alpha + L), SHORT_STEPS],
    states=Le(parted_at, 2 * G / alpha),
    corrects="dwang20.lemma3.3.1.buffer",
    checks=[
        Chain(
            parted_at,
            Step("<=", 2 * G / alpha * (1 - (1 - alpha * eta) ** later), because=Induction(
                later, step=lambda b: (1 - alpha * eta) * b + 2 * G * eta,
                given="a step on equal pairs contracts by 1-ηα (strongly convex, smooth), and gradients differ by at "
                "most 2G (Lipschitz)"), uses=[CLEAN, *buffered, SHORT_STEPS]),
            Step("<=", STATEMENT),
        )
    ],
)

# Regret --------------------------------------------------------------------------------------------
explicit4 = Claim(
    id="dwang20.theorem3.3.4.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.4, the regret with a buffer, with constants", line=2573),
    says="Average regret on the pairs of the buffer, with probability 1-γ; γ is the document's ζ.",
    assumes=[*known, *buffered, small, eps <= 1, n >= 2],
    states=Le(buffer_mean, explicit2.formula / (n - 1)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            buffer_mean,
            Step("=", buffer_regret / (n - 1), because=Premise("by its name"), uses=buffered),
            Step("<=", because=Cites("dwang20.theorem3.3.2.explicit", {likely_regret: buffer_regret})),
            Step("=", STATEMENT),
        )
    ],
)


noise_alone4 = Claim(
    id="dwang20.theorem3.3.4.noise", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.4, (3.113), with a constant", line=2211),
    says="The same where the noise costs most.",
    assumes=explicit4.assumes,
    added=[*noise_is_most, well_conditioned],
    states=Le(buffer_mean, 2 * NOISE * per_round),
    ignores_units=True,
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            buffer_mean,
            Step("<=", because=Cites("dwang20.theorem3.3.4.explicit")),
            Step("<=", 2 * explicit2.formula / n, because=per_record(explicit2.formula)),
            Step("<=", 2 * NOISE * noise_cost / n, because=noise_alone(2 / n)),
            Step("<=", STATEMENT, because=conditioned(2 * NOISE), uses=[well_conditioned]),
        )
    ],
)


def with_buffer(name: str, equation: str, line: int, says: str, measure: Symbol, more: Expr, lemma: str) -> Claim:
    """A bound of Theorem 3.3.4: that of (3.113) and, by a lemma quoted from Kar et al. 2013, what the buffer costs."""
    quoted = [Step("<=", buffer_mean + more, because=Premise(lemma))] if lemma else []
    return Claim(
        id=f"dwang20.theorem3.3.4{name}", kind=Kind.UTILITY,
        source=Source("dwang20", f"Theorem 3.3.4, {equation}", line=line),
        says=says,
        assumes=explicit4.assumes,
        added=[*noise_is_most, well_conditioned],
        states=Rate(measure, per_round + more),
        ignores_units=True,
        checks=[
            Chain(
                measure,
                *quoted,
                Step("<=", because=Cites("dwang20.theorem3.3.4.noise")),
                Step("<=", 2 * NOISE * STATEMENT, because=Slack(given={POSITIVE: (2 * NOISE - 1) * more})),
            )
        ],
    )


theorem4 = with_buffer(
    "", "(3.113)", 2211, "Average regret on pairs of the buffer, with probability 1-γ.", buffer_mean, Integer(0), "",
)
theorem4_generalised = with_buffer(
    ".generalised", "(3.114)", 2248, "Average generalised regret, with probability 1-2γ.", population_mean,
    dimension_factor / sqrt(capacity) + G * diameter * sqrt(log(n / gamma) / capacity),
    "Lemma 3.3.3 (Theorem 6 of Kar et al. 2013), its left side as (3.114) has it, constant 1",
)
theorem4_all_pairs = with_buffer(
    ".all_pairs", "(3.115), where O() is left out", 2254, "Average regret on all pairs, with probability 1-2γ.",
    pairs_mean,
    dimension_factor * sqrt(log(n / gamma) / capacity),
    "Lemma 3.3.4 (Lemma 26 of Kar et al. 2013), its left side as (3.115) has it, constant 1",
)
