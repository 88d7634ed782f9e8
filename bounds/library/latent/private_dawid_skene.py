"""Dawid and Skene's iteration on private answers (dwang20, Algorithm 7.1.54, Theorems 7.1.1 to 7.1.3).

Every answer goes through randomised response by itself: one of them is ε-private, a user's record of m answers mε.
In the text T_ij says whether the report of user i on task j is right, which it is with probability p̂_i; r is the mean
of |y_j - y*_j|, and v̂ the mean of (2p̂_i - 1)². Solver: dpcheck/solvers/latent/private_dawid_skene.py; for practice,
dpcheck.private_truth_inference.
"""

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, LOCAL_ATTRIBUTE, PureDP
from dpcheck.bounds.language.symbols import LIKELY, c, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.latent.dawid_skene import tasks
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import OneBit
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

wisdom = quantity("wisdom", "collective private wisdom", box=(1e-3, 1), printed="v̂", latex=r"\hat v")
lam = quantity("lam_clip", "abilities are held in [λ, 1-λ]", box=(1e-3, 0.5), printed="λ", latex=r"\lambda")
label_error = quantity(
    "label_error", "share of tasks whose label is wrong", printed="1/m Σ|ŷ_j - y*_j|",
    latex=r"\frac{1}{m}\sum|\hat y_j-y_j^*|", holds=LIKELY,
)
soft_error = quantity("soft_error", "mean of |y_j - y*_j| after a step", printed="r⁽ᵗ⁾", latex="r^t", holds=LIKELY)
before = quantity("error_before", "mean of |y_j - y*_j| before a step", printed="r⁽ᵗ⁻¹⁾", latex="r^{t-1}")
decay = quantity("decay", "minus log of the soft error", printed="-log r⁽ᵗ⁾", latex=r"-\log r^t", holds=LIKELY)
told = quantity("told", "sum over users of (2p̂-1) logit p̂_λ", printed="Σ(2p̂_i-1) log(p̂_λ,i/(1-p̂_λ,i))")
shaken = quantity("shaken", "largest |1/m Σ_j (T_ij - p̂_i)|", printed="max|1/m Σ(T_ij - p̂_i)|")
logit_gap = quantity(
    "logit_gap", "largest distance of logit p_i from logit p̂_λ,i", printed="max|logit p_i - logit p̂_λ,i|"
)
missed = quantity("missed_events", "probability that E₁ or E₂ fails", printed="P(not E₁ ∩ E₂)")
ability_error = quantity(
    "ability_error", "largest error of an ability", printed="max|p̂_i - p*_i|", latex=r"\max|\hat p_i-p_i^*|",
    holds=LIKELY,
)
_u, _w, _x = symbols("u w x", nonnegative=True)
x_ = Symbol("x", positive=True)

# Privacy -------------------------------------------------------------------------------------------
odds = (exp(eps) + 1) / (exp(eps) - 1)
answers = Setting("users with answers in {0,1}^m, one report of each answer")
released_bits = Release(2, OneBit(sigma), relation=LOCAL_ATTRIBUTE)
released_rows = Release(2, OneBit(sigma), steps=tasks, relation=LOCAL)
BY_COINS = "answers 0 and 1, as (1+1/σ)/2 = e^ε/(e^ε+1)"

theorem1 = Claim(
    id="dwang20.theorem7.1.1", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 7.1.1, with (7.9): an answer is kept with probability (1+1/σ)/2", line=9090),
    says="Kept with probability e^ε/(e^ε+1), one answer of a user is ε-private, the others being known.",
    assumes=[answers],
    states=Eq(sigma, odds),
    guarantee=PureDP(eps, relation=LOCAL_ATTRIBUTE),
    ignores_units=True,
    checks=[Accountant(released_bits, BY_COINS)],
)

record = Claim(
    id="dwang20.theorem7.1.1.record", kind=Kind.PRIVACY,
    source=Source("dwang20", "before Theorem 7.1.1, “also mε locally differentially private”", line=9088),
    says="A user's whole record of m answers is mε-private.",
    assumes=[answers],
    states=Eq(sigma, odds),
    guarantee=PureDP(tasks * eps, relation=LOCAL),
    ignores_units=True,
    checks=[Accountant(released_rows, f"{BY_COINS}, all m of them at once", box={tasks: (1, 1e3)})],
)

# The proof of Theorem 7.1.2 ------------------------------------------------------------------------
small = sqrt(log(tasks) / tasks)
noise = 4 * log(1 / lam) * sqrt(n * log(tasks))
event1 = Setting("E₁: |1/m Σ_j (T_ij - p̂_i)| ≤ √(log m/m) for every user")
event2 = Setting("E₂: |Σ_i (T_ij - p̂_i) logit p̂_λ,i| ≤ 2 log(1/λ)√(n log m) for every task")
model = Setting("user i's report on task j is right with probability p̂_i, independently")

lemma1 = Claim(
    id="dwang20.lemma7.1.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 7.1.1", line=9190),
    says="E₁ and E₂ hold but with probability O(1/m).",
    assumes=[model, n <= tasks],
    states=Rate(missed, 1 / tasks),
    ignores_units=True,
    checks=[
        Chain(
            missed,
            Step("<=", 2 * n / tasks**2 + 2 * tasks / tasks**8, because=Premise(
                "Hoeffding for each of n users at √(log m/m), and for each of m tasks, where |logit p̂_λ| ≤ log(1/λ)"),
                uses=[model]),
            Step("<=", 2 / tasks + 2 / tasks**7, where={n: tasks / (1 + _u)}),
            Step("<=", 4 * STATEMENT, where={tasks: 1 + _u}),
        )
    ],
)

interval = lam <= Rational(1, 2)  # [λ, 1-λ] is one
lemma3 = Claim(
    id="dwang20.lemma7.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 7.1.3", line=9214),
    says="A step's log odds of abilities are off by 2/λ times √(log m/m) and the labels' error before it.",
    assumes=[event1, interval, 2 * lam + before <= Rational(1, 4), tasks >= 9],
    states=Le(logit_gap, 2 / lam * small + 2 / lam * before),
    checks=[
        Chain(
            logit_gap,
            Step("<=", (shaken + before) / (lam * (1 - lam)), because=Premise(
                "(7.23), as p̄ - p̂ = 1/m Σ(T-p̂) + 1/m Σ(y-y*)(2X̂-1); projecting parts no two numbers, and the logit's "
                "slope on [λ, 1-λ] is at most 1/(λ(1-λ))")),
            Step("<=", (small + before) / (lam * (1 - lam)), because=Premise("E₁"), uses=[event1]),
            Step("<=", 2 / lam * (small + before), where={lam: 1 / (2 * (1 + _u))}),
            Step("<=", STATEMENT),
        )
    ],
)

sure_floor = 2 * lam + small <= Rational(1, 4)  # the upper end of (7.15), twice
near_before = Setting("the labels' error before the step is at most √(log m/m)")
equation33 = Claim(
    id="dwang20.equation7.33", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.33), as what -log r⁽ᵗ⁾ is at least", line=9304),
    says="A step leaves a soft error of at most exp(4n/λ √(log m/m) + 4 log(1/λ)√(n log m) - n v̂).",
    assumes=[event1, event2, near_before, interval, sure_floor, tasks >= 9],
    states=Ge(decay, n * wisdom - 4 * n / lam * small - noise),
    checks=[
        Chain(
            decay,
            Step(">=", told - n * logit_gap - noise, because=Premise(
                "|y_j - y*_j| = 1/(1+e^S) ≤ e^-S for S = Σ(2T_ij-1) logit p_i, which is Σ(2p̂_i-1) logit p̂_λ,i but for "
                "n times the largest distance of the logits, and by E₂ for 2·2 log(1/λ)√(n log m)"), uses=[event2]),
            Step(">=", n * wisdom - n * logit_gap - noise, because=Premise(
                "(2p-1) logit p ≥ (2p-1)², and (1-2λ) log((1-λ)/λ) ≥ 1 for λ ≤ 1/8"), uses=[sure_floor]),
            Step(">=", n * wisdom - n * (2 / lam * small + 2 / lam * small) - noise, because=Cites(
                "dwang20.lemma7.1.3", {before: small}), uses=[near_before]),
            Step(">=", STATEMENT),
        )
    ],
)

# Error of labels -----------------------------------------------------------------------------------
enough_told = log(tasks) / n <= wisdom
start = Setting("y⁽⁰⁾ with 1/m Σ|y⁽⁰⁾_j - y*_j| ≤ √(log m/m)")
floors = [interval, 16 / wisdom * small <= lam, sure_floor]
large = tasks >= 9  # “n and m sufficiently large”; Lemma 7.1.3 has the 9
printed = [model, start, n <= tasks, large, tasks <= exp(n), enough_told, *floors]
likely = Eq(gamma, c / tasks)
wise = 16 * log(1 / lam) * sqrt(log(tasks) / n) <= wisdom
by_steps = Premise("by induction on t, E₁ and E₂ being the same for all t: r⁽ᵗ⁻¹⁾ ≤ √(log m/m)")

equation34 = Claim(
    id="dwang20.equation7.34", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.34), for any t, with the condition that the proof needs", line=9306),
    says="Every step leaves a soft error of at most e^(-n v̂/2), with probability 1 - C'/m.",
    assumes=[*printed, Eq(gamma, 4 / tasks)],  # by lemma7.1.1
    added=[wise],
    states=Le(soft_error, exp(-n * wisdom / 2)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            soft_error,
            Step("=", exp(-decay), because=Premise("as decay is named")),
            Step("<=", exp(-n * wisdom + 4 * n / lam * small + noise), because=Cites(
                "dwang20.equation7.33", granted=by_steps.says), uses=[model, start]),
            Step("<=", exp(-n * wisdom * Rational(3, 4) + noise), where={
                tasks: exp(_x), lam: 16 / wisdom * sqrt(_x / exp(_x)) * (1 + _u)}),
            Step("<=", STATEMENT, where={tasks: exp(_x), wisdom: 16 * log(1 / lam) * sqrt(_x / n) + _u}),
        )
    ],
)

theorem2 = Claim(
    id="dwang20.theorem7.1.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.1.2, (7.16), γ = C'/m", line=9114),
    says="At most 2e^(-n v̂/2) of the labels are wrong, with probability at least 1 - C'/m for some constant C'.",
    assumes=[*printed, likely],
    states=Le(label_error, 2 * exp(-n * wisdom / 2)),
    hidden=[c],
    checks=[
        NoConstant(
            1 / tasks, {tasks: x_, n: 9 * log(x_), wisdom: Rational(1, 4), lam: Rational(1, 10), gamma: c / x_}, x_,
            "p*_i = 1 and ε = ln 3, reports being right with probability 3/4; y*_j fair coins on √(m log m) tasks "
            "where y⁽⁰⁾_j = 0, y⁽⁰⁾_j = y*_j elsewhere. Half of a task's 9 log m reports or more are wrong with "
            "probability about m^-1.29/√log m, and then no server tells its label: one label is wrong with "
            "probability about m^-0.79, beyond C'/m from some m on, whatever C' is; the bound, 2m^-1.125, allows none",
            at=1e7,
        )
    ],
)

theorem2_corrected = Claim(
    id="dwang20.theorem7.1.2.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.1.2, (7.16), γ = C'/m", line=9114),
    says="That holds if v̂ is at least 16 log(1/λ)√(log m/n), which the step from (7.33) to (7.34) takes.",
    assumes=[*printed, likely],
    added=[wise],
    states=theorem2.states,
    hidden=[c],
    corrects="dwang20.theorem7.1.2",
    checks=[
        Chain(
            label_error,
            Step("<=", 2 * soft_error, because=Premise("|1(y ≥ ½) - y*| ≤ 2|y - y*| for y* in {0, 1}")),
            Step("<=", because=Cites("dwang20.equation7.34")),
            Step("<=", STATEMENT),
            choosing={c: Integer(4)},
        )
    ],
)

# Error of abilities --------------------------------------------------------------------------------
largest_odds = 1 + 2 / eps
ABILITIES = (
    Step("<=", largest_odds * (shaken + soft_error), because=Premise(
        "(7.23) times (e^ε+1)/(e^ε-1) ≤ 1 + 2/ε, with r⁽ᵀ⁻¹⁾; p̂_i lies in [λ, 1-λ] for ε ≤ 1 and λ ≤ 1/8: projecting "
        "takes nothing away from it"), uses=[sure_floor, eps <= 1]),
    Step("<=", largest_odds * (small + soft_error), because=Premise("E₁, but with probability C'/m"), uses=[model]),
    Step("<=", largest_odds * (small + exp(-n * wisdom / 2)), because=Cites("dwang20.equation7.34")),
    Step("<=", largest_odds * 2 * small, because=Premise("e^(-n v̂/2) ≤ m^(-1/2), and log m ≥ 1"), uses=[enough_told]),
    Step("<=", STATEMENT, where={eps: 1 / (1 + _u)}),
)
bound3 = 6 * sqrt(log(tasks) / (tasks * eps**2))
theorem3 = Claim(
    id="dwang20.theorem7.1.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.1.3, (7.17), γ = C'/m", line=9132),
    says="Abilities err by at most 6√(log m/(mε²)) for ε ≤ 1, under the assumptions of Theorem 7.1.2.",
    assumes=[*printed, likely, eps <= 1],
    states=Le(ability_error, bound3),
    hidden=[c],
    checks=[Chain(ability_error, *ABILITIES, choosing={c: Integer(4)})],  # a gap: equation7.34 needs more
)

theorem3_explicit = Claim(
    id="dwang20.theorem7.1.3.conditioned", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.1.3, (7.17), with the condition of theorem7.1.2.corrected", line=9132),
    says="They do if v̂ is at least 16 log(1/λ)√(log m/n); after one step they do without it, as r⁽⁰⁾ is assumed small.",
    assumes=[*printed, likely, eps <= 1],
    added=[wise],
    states=Le(ability_error, bound3),
    hidden=[c],
    provenance=Provenance.CONSEQUENCE,
    checks=[Chain(ability_error, *ABILITIES, choosing={c: Integer(4)})],
)
