"""Pairwise GIGA: how far runs on neighbouring streams part (dwang20, section 3.3.2, Lemma 3.3.1; proof in 3.3.6).

After T₁ points that ignore the data, step t takes the pairs of the record z_t with the t-1 before it, at the step size
(t-1)/(t-2)·2/(αt). Neighbouring streams differ in one position. In proofs about one step vectors stand in one
coordinate: g is the mean difference of the gradients of the common pairs, h that of the pair that differs.
What runs show: dpcheck/evidence/pairwise/pw_giga.py.
"""

from sympy import Expr, Le, symbols

from dpcheck.bounds.language.claim import (
    Claim,
    Hypothesis,
    Kind,
    Provenance,
    Setting,
    Source,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.symbols import eta, quantity, t
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.gradient_descent import parted, parted_next
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Induction, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Sharper

alpha = quantity("alpha_pair", "strong convexity of each loss of a pair", loss=1, parameter=-2, printed="α")
L = quantity("L_pair", "smoothness of each loss of a pair", loss=1, parameter=-2, printed="L", latex="L")
T1 = quantity("T1", "points that ignore the data", box=(7, 1e6), integer=True, printed="T₁", latex="T_1")
later = quantity("later", "steps after the first T₁ points", box=(1, 1e6), integer=True, printed="t-T₁", latex="t-T_1")
parted_at = quantity("parted_at", "distance of neighbouring runs at time t", parameter=1, printed="‖w_t-w'_t‖")
newest = quantity("newest", "the same, where z_t is what differs", parameter=1, printed="‖w_t-w'_t‖, z_t ≠ z'_t")
clean_regret = quantity(
    "clean_regret", "regret of Pairwise GIGA from T₁ on", loss=1, printed="R_GIGA", latex=r"\mathcal{R}_{GIGA}"
)

losses = [strongly_convex(alpha), smooth(L), lipschitz(G), alpha <= L]
STEP_SIZE = Setting("step size (t-1)/(t-2)·2/(αt), after T₁ points that ignore the data")
eta_t = (t - 1) / (t - 2) * 2 / (alpha * t)
printed_T1 = [16 * L**2 / alpha**2 <= T1, T1 >= 7]
enough_T1 = [2 + L / alpha <= T1, T1 >= 4]
now = T1 + later  # the time, t

# One step ------------------------------------------------------------------------------------------
g, h = symbols("g h", real=True)
common, own = (t - 2) / (t - 1), 2 * G / (t - 1)

recursion = Claim(
    id="dwang20.equation3.128", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Lemma 3.3.1, (3.128)", line=2454),
    says="One step on streams that differ in an earlier record, squared.",
    assumes=[*losses, t >= 3],
    states=Le(
        parted_next**2,
        (1 + 2 * L**2 * eta**2 * common**2 - 2 * eta * alpha * common) * parted**2
        + 8 * G**2 * eta**2 / (t - 1) ** 2 + 4 * eta * G * parted / (t - 1),
    ),
    checks=[
        Chain(
            parted_next**2,
            Step("<=", (parted - eta * (g + h)) ** 2, because=Premise("line 11, and projections do not expand")),
            Step("<=", STATEMENT, because=Slack(
                given={
                    "‖g‖ ≤ L(t-2)/(t-1)·Δ (smooth)": 2 * eta**2 * ((L * common * parted) ** 2 - g**2),
                    "⟨Δ, g⟩ ≥ α(t-2)/(t-1)·Δ² (strongly convex)": 2 * eta * (parted * g - alpha * common * parted**2),
                    "‖h‖ ≤ 2G/(t-1) (Lipschitz)": 2 * eta**2 * (own**2 - h**2),
                    "⟨Δ, h⟩ ≥ -2G/(t-1)·Δ": 2 * eta * parted * (own + h),
                },
                seen=[eta**2 * (g - h) ** 2],
            )),
        )
    ],
)

equation131 = Claim(
    id="dwang20.equation3.131", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Lemma 3.3.1, (3.131), for t ≥ T₁", line=2469),
    says="What the induction of Lemma 3.3.1 comes to.",
    assumes=[strongly_convex(alpha), smooth(L), t >= 16 * L**2 / alpha**2, t >= 7],
    states=Le(8 * L**2 / alpha**2 + t**2 / (2 * (t - 2) ** 2) + t**2 / (t - 2), 2 * t + 1),
    checks=[
        Chain(
            8 * L**2 / alpha**2 + t**2 / (2 * (t - 2) ** 2) + t**2 / (t - 2),
            Step("<=", t / 2 + t**2 / (2 * (t - 2) ** 2) + t**2 / (t - 2)),
            Step("<=", STATEMENT),
        )
    ],
)

after_T1 = [*losses, STEP_SIZE, t > 16 * L**2 / alpha**2, t > 7]

first_case = Claim(
    id="dwang20.lemma3.3.1.proof.newest", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Lemma 3.3.1, its first case, the first inequality of the last line", line=2421),
    says="A step whose own record differs moves the iterate by at most (t-1)/(t-2)·2G/(αt).",
    assumes=after_T1,
    states=Le(newest, eta_t * G),
    checks=[
        AtMost(
            eta_t * 3 * G / 2,
            "attained from the middle of a ball of radius G/(4α) by ±3G/4·w + α/2·‖w‖² for all pairs of z_t, which is "
            "G-Lipschitz and α-smooth there; from t = 8 on steps stay inside",
        )
    ],
)

first_case_corrected = Claim(
    id="dwang20.lemma3.3.1.proof.newest.corrected", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "proof of Lemma 3.3.1, its first case", line=2421),
    says="Two gradients of norm G differ by up to 2G: by at most (t-1)/(t-2)·4G/(αt), which the lemma has room for.",
    assumes=after_T1,
    states=Le(newest, 2 * eta_t * G),
    corrects="dwang20.lemma3.3.1.proof.newest",
    checks=[
        AtMost(2 * eta_t * G, "projections do not expand, and all pairs of z_t differ by 2G (Lipschitz)", exact=False,
               uses=[STEP_SIZE])
    ],
)

# Lemma 3.3.1 ---------------------------------------------------------------------------------------
reach = 4 * G / alpha * T1 / (T1 - 1)  # what one record moves t·w_t at most


def contracts(b: Expr) -> Expr:
    """One step from time `now` to the next: (1-2/t)·b, and what one pair of t-1 adds."""
    at = now + 1
    return (1 - 2 / at) * b + 4 * G / (alpha * at * (at - 2))


OWN_STEP = (
    "the step of the record itself, η·2G from equal points, is one of these from 4G/(α(t-2)) apart, T₁ its time less 1"
)
start = 4 * G / (alpha * (T1 - 1))


def carried(why: str, *uses: Hypothesis) -> Chain:
    """The bound on t·w_t, from one step to the next."""
    by_steps = Induction(later, start=start, step=contracts, given=f"{why}; {OWN_STEP}")
    return Chain(parted_at, Step("<=", STATEMENT, because=by_steps, uses=[STEP_SIZE, *uses]))


sharper = Claim(
    id="dwang20.lemma3.3.1.sharper", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Lemma 3.3.1", line=2113),
    says="The constant is 4·T₁/(T₁-1), and T₁ = 2+L/α is enough.",
    assumes=[*losses, STEP_SIZE, *enough_T1],
    states=Le(parted_at, reach / now),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        carried(
            "the t-2 common pairs contract by 1-2/t, as (t-2)/(t-1)·η = 2/(αt) ≤ 2/(α+L) (strongly convex, smooth); "
            "the pair that differs adds η·2G/(t-1) (Lipschitz)"
        )
    ],
)

REGULARISER = Setting("the loss is ℓ + α/2·‖w-w₀‖²")
regularised = Claim(
    id="dwang20.lemma3.3.1.regularised", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Lemma 3.3.1, for the losses of Algorithms 3.3.10, 3.3.13 and 3.3.15", line=2113),
    says="With a regulariser, which all pairs share, only the Lipschitz constant of ℓ counts.",
    assumes=[
        convex(), smooth(L), lipschitz(G, "without its regulariser"), REGULARISER, STEP_SIZE,
        3 + L / alpha <= T1, T1 >= 4,
    ],
    states=Le(parted_at, reach / now),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        carried(
            "the common pairs, and α/2·‖w-w₀‖² of all, contract by 1-ηα ≤ 1-2/t, as η ≤ 2/(2α+L) (convex, smooth); the "
            "pair that differs adds η·2G/(t-1) (Lipschitz)",
            REGULARISER,
        )
    ],
)

lemma1 = Claim(
    id="dwang20.lemma3.3.1", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Lemma 3.3.1", line=2113),
    says="Two runs on neighbouring streams are at most 8G/(αt) apart at time t.",
    assumes=[*losses, STEP_SIZE, *printed_T1],
    states=Le(parted_at, 8 * G / (alpha * now)),
    checks=[
        Chain(parted_at, Step("<=", because=Cites("dwang20.lemma3.3.1.sharper")), Step("<=", STATEMENT)),
        Sharper(reach / now, "Lemma 3.3.1 by contraction"),
    ],
)

# What goes on from its own noisy outputs: a record moves t·w_t in its own step and, as one pair of t-1, in later ones
moved_all = quantity("moved_all", "l2 movement of all t·w_t, given those before", parameter=1, printed="Δ, all steps")
own_move = quantity("own_move", "movement in a record's own step", parameter=1, printed="Δ, own step")
squares = quantity("squares", "sum of squared shares of a record in the steps after its own", printed="Σ share²")

in_loop = Claim(
    id="dwang20.lemma3.3.1.in_loop", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 3.3.9, line 11 going on from the noisy point of line 13", line=2107),
    says="Given the outputs before, one record moves the sequence of t·w_t by that in all, however long it is.",
    assumes=[lipschitz(G, "without its regulariser"), strongly_convex(alpha), STEP_SIZE, T1 >= 2],
    states=Le(moved_all**2, (1 + 1 / T1) * reach**2),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            moved_all**2,
            Step("<=", own_move**2 * (1 + squares), because=Premise(
                "from equal points all pairs differ in a record's own step, one of t-1 in later ones (Lipschitz)")),
            Step("<=", STATEMENT, because=Slack(given={
                "tη·2G = (t-1)/(t-2)·4G/α, largest at t = T₁+1": (1 + squares) * (reach**2 - own_move**2),
                "Σ 1/(t-1)² over t > T₁+1 is at most 1/T₁, an integral": reach**2 * (1 / T1 - squares),
            }), uses=[STEP_SIZE, T1 >= 2]),
        )
    ],
)

# Regret --------------------------------------------------------------------------------------------
bounded = alpha * diameter <= 2 * G  # gradients at two ends of the set differ by at least α‖C‖, and by at most 2G
steps_sum = quantity("steps_sum", "sum of the step sizes", loss=-1, parameter=2, printed="Ση_t", latex=r"\sum\eta_t")
late_sum = quantity("late_sum", "sum of 1/t over T₁ < t ≤ n", box=(1e-2, 20), printed="Σ1/t", latex=r"\sum_{t>T_1}1/t")


giga_regret = Claim(
    id="dwang20.theorem3.3.2.giga", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.2, the regret of GIGA", line=2527),
    says="Pairwise GIGA after T₁. The document quotes G²(1+log n)/(2α) here, 2G²(1+log n)/α later, and nothing for T₁.",
    assumes=[*losses, STEP_SIZE, bounded, T1 >= 2],
    states=Le(clean_regret, 2 * G**2 * late_sum / alpha + G * T1 * diameter / 2),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            clean_regret,
            Step("<=", alpha * T1 * diameter**2 / 4 + G**2 * steps_sum / 2, because=Premise(
                "1/η_t - 1/η_(t-1) ≤ α, and 1/η - α ≤ αT₁/2 at the first step (strongly convex, Lipschitz)"),
                 uses=[STEP_SIZE]),
            Step("<=", STATEMENT, because=Slack(
                given={"η_t ≤ T₁/(T₁-1)·2/(αt)": G**2 / 2 * (2 * T1 / ((T1 - 1) * alpha) * late_sum - steps_sum)},
                seen=[T1 * diameter / 4 * (2 * G - alpha * diameter), G**2 * late_sum / alpha * (2 - T1 / (T1 - 1))],
            ), uses=[STEP_SIZE]),
        )
    ],
)
