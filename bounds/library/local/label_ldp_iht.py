"""Label-LDP-IHT (dwang20, section 5.3.4, Algorithm 5.3.42): rows are public, each user adds noise to her own label.

The server thresholds on the noisy labels. Solver: dpcheck/solvers/local/label_ldp_iht.py; another: label_ldp_lasso.py.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, diff, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import LABEL_ONLY, ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, eta, n, quantity
from dpcheck.bounds.library.local.hard_thresholding import (
    linear,
    linear_iht,
    noise_C,
    off_iht,
    reach,
    rip,
)
from dpcheck.bounds.library.sparse.dp_ight import s_star, truth
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals

tau = quantity("tau", "deviation of the noise on a label", printed="τ", latex=r"\tau")
moved = quantity("moved", "one coordinate of an iterate after a step", printed="θ_(t+1)", latex=r"\theta_{t+1}")
at_now = quantity("at_now", "one coordinate of an iterate", printed="θ_t", latex=r"\theta_t")
label = quantity("label", "a user's noisy label", printed="ỹ", latex=r"\tilde y")

# Privacy -------------------------------------------------------------------------------------------
log_delta = log(Rational(5, 4) / delta)
printed_noise = sqrt(32 * log_delta) * noise_C / eps
private = ApproxDP(eps, delta, relation=LABEL_ONLY)


def reports(width: Expr) -> Release:
    """A noisy label of each user, of a range so wide."""
    return Release(width, Gaussian(tau), relation=LABEL_ONLY)


def labels(theorem: str, line: int, widest: Expr, mean: str, ends: str) -> tuple[Release, Claim, Claim, Claim]:
    """What is released, the theorem as its proof has it, and for any two labels of the class, printed and corrected."""

    def claim(name: str, says: str, noise: Expr, width: Expr, pair: str, *promise: Setting) -> Claim:
        place = f"Theorem {theorem}, its first sentence" + ("" if promise else ", for any two labels of its class")
        return Claim(
            id=f"dwang20.theorem{theorem}.{name}", kind=Kind.PRIVACY,
            source=Source("dwang20", place, line=line),
            says=says,
            assumes=[eps <= 1, *promise],
            states=Eq(tau, noise),
            guarantee=private,
            corrects=f"dwang20.theorem{theorem}.any_label" if name.endswith("corrected") else None,
            provenance=Provenance.PRINTED if promise else Provenance.READING,
            ignores_units=True,
            checks=[Accountant(reports(width), f"labels at the two ends of {pair}", uses=promise)],
        )

    return (
        reports(widest),
        claim(
            "privacy",
            f"Noise of variance 32C²ln(1.25/δ)/ε² makes labels (ε, δ)-private that lie within C of {mean}, as the "
            "proof has it: it hides ξ.",
            printed_noise, 2 * noise_C, "the interval, 2C apart",
            Setting(f"the user's label lies within C of {mean}, whichever it is"),
        ),
        claim(
            "any_label",
            "The same for any two labels that some θ* of the class allows: users do not know θ*, and Definition 2.2.1 "
            "is about all records.",
            printed_noise, widest, ends,
        ),
        claim(
            "any_label.corrected", "It takes the width of all labels for 4C.",
            widest * sqrt(2 * log_delta) / eps, widest, ends,
        ),
    )


released, printed, any_label, corrected = labels(
    "5.3.6", 6543, 2 * (sqrt(s_star) + noise_C), "⟨x, θ*⟩",
    "all: ±(√s*+C), by θ* of s* entries 1/√s* and a row of their signs or of the opposite",
)

# The step ------------------------------------------------------------------------------------------
descends = Equals(
    lambda: at_now - eta * diff((label - at_now) ** 2 / 2, at_now), "one user with x = 1, d = 1: θ - η·L'(θ)"
)

step = Claim(
    id="dwang20.algorithm5.3.42.step", kind=Kind.IDENTITY,
    source=Source("dwang20", "Algorithm 5.3.42, line 5", line=6532),
    says="A step is θ_t - η·(ỹ - ⟨x, θ_t⟩)x, a gradient step on the squared loss.",
    states=Eq(moved, at_now - eta * (label - at_now)),
    misprint_of="dwang20.algorithm5.3.42.step.corrected",
    ignores_units=True,
    checks=[descends],
)

step_corrected = Claim(
    id="dwang20.algorithm5.3.42.step.corrected", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 5.3.11, with f(u) = u", line=7249),
    says="It is θ_t + η·(ỹ - ⟨x, θ_t⟩)x: the other sign climbs.",
    states=Eq(moved, at_now + eta * (label - at_now)),
    corrects="dwang20.algorithm5.3.42.step",
    ignores_units=True,
    checks=[descends],
)

# Utility -------------------------------------------------------------------------------------------
v = Symbol("v", nonnegative=True)
CENTRED = Setting("p ≥ 2, and E[ξ | x] = 0 as in (5.70)")
USUAL = [delta <= Rational(1, 2), CENTRED]
DOWNHILL = Setting("the step of Algorithm 5.3.42 with its sign put right")


def after_steps(
    slope: Expr, users: Expr, where: dict[Symbol, Expr], privacy: Claim, constant: int, algorithm: Setting
) -> Chain:
    """T steps on noisy labels of so many users each, by the largest step size, 9/(7b²)."""
    tail = sqrt(6 * log(d) / users)
    largest = Premise(
        f"coordinates of the mean f'·(ξ+z)x of {'all' if users == n else 'n/T new'} users are sub-Gaussian with b²C² "
        "and b²τ² over their number: all are below √(6·log d) of their deviations but for 4/d² ≤ 2/d"
    )

    def bound(noise: Expr) -> Expr:
        return 2 ** (-T) * truth + Rational(9, 2) / slope * reach * tail * noise

    return Chain(
        off_iht,
        Step("<=", because=Cites("dwang20.theorem5.3.9.steps", where)),
        Step("<=", 2 ** (-T) * truth + Rational(7, 2) * eta * reach * tail * slope * (noise_C + tau), because=largest,
             uses=[CENTRED, algorithm]),
        Step("<=", bound(noise_C + tau), where={eta: Rational(9, 7) / (slope**2 * (1 + rip) * (1 + v))}),
        Step("<=", because=Cites(privacy.id, granted="|ξ| ≤ C")),
        Step("<=", bound(noise_C / eps * (1 + sqrt(32 * log_delta))), where={eps: 1 / (1 + v)}),
        Step("<=", bound(noise_C / eps * (1 + sqrt(8) * (1 + log_delta))), because=Slack(
            seen=[Rational(9, 2) / slope * reach * tail * noise_C / eps * sqrt(8) * (1 - sqrt(log_delta)) ** 2])),
        Step("<=", STATEMENT, where={delta: 2 ** -(1 + v)}),
        choosing={c: constant},
    )


theorem6 = Claim(
    id="dwang20.theorem5.3.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.3.6, equation (5.78)", line=6545),
    says="The distance from θ* after T steps with the noise of line 2, but for a chance of e^(-n) + 2/p^c.",
    assumes=[*linear_iht, eps <= 1],
    added=[*USUAL, DOWNHILL],
    states=Le(off_iht, 2 ** (-T) * truth + c * noise_C * log(1 / delta) * sqrt(s_star * log(d)) / (sqrt(n) * eps)),
    hidden=(c,),
    guarantee=private,
    ignores_units=True,
    checks=[after_steps(Rational(1), n, linear, printed, 450, DOWNHILL)],
)
