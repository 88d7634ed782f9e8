"""The majority of private answers (dwang20, (7.18), Theorem 7.1.4), and when Dawid and Skene's iteration beats it.

The instance: k = ⌈n^δ⌉ experts who are always right, δ < 1/2, and n - k users who guess. In the text the majority's
error is bounded for ε > ln(85/15) by way of all experts being right after randomised response; that they are k at most
is enough, at any ε. Solver: dpcheck/solvers/latent/private_majority_vote.py.
"""

from sympy import Eq, Ge, Integer, Le, Rational, binomial, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL_ATTRIBUTE, PureDP
from dpcheck.bounds.language.symbols import c, eps, n, quantity, sigma
from dpcheck.bounds.library.latent.private_dawid_skene import (
    BY_COINS,
    answers,
    label_error,
    likely,
    odds,
    printed,
    released_bits,
    wisdom,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Units

experts = quantity("experts", "number of users who are always right", box=(1, 1e4), integer=True, printed="k")
guessers = quantity("guessers", "half the number of users who guess", box=(1, 1e4), integer=True, printed="(n-k)/2")
vote_error = quantity(
    "vote_error", "expected share of tasks that the majority of reports gets wrong", printed="1/m Σ E|ȳ_j - y*_j|",
    latex=r"\frac{1}{m}\sum\mathbb{E}|\bar y_j-y_j^*|", holds="in expectation",
)
far_off = quantity("far_off", "largest distance of a normed sum's distribution from a normal one", printed="sup|F_n-Φ|")
deviation = quantity("deviation", "deviation of a number", parameter=1, printed="σ", latex=r"\sigma")
third = quantity("third", "E |X|³", parameter=3, printed="E|X₁|³", latex=r"\mathbb{E}|X_1|^3")
_u, _w = symbols("u w", nonnegative=True)

odd_share = (exp(eps) - 1) / (exp(eps) + 1)
instance = Setting("k = ⌈n^δ⌉ users with p* = 1, n-k with p* = 1/2")
loud = eps > log(Rational(85, 15))
few_experts = n >= 17 * experts**2
many = [experts >= 7, few_experts]  # what n > C gives, as δ < 1/2

privacy = Claim(
    id="dwang20.theorem7.1.4.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 7.1.4, first sentence", line=9148),
    says="The majority of reports is ε-private for each answer, at any ε > 0: it is made of the reports.",
    assumes=[answers],
    states=Eq(sigma, odds),
    guarantee=PureDP(eps, relation=LOCAL_ATTRIBUTE),
    ignores_units=True,
    checks=[Accountant(released_bits, BY_COINS)],
)

any_epsilon = Claim(
    id="dwang20.theorem7.1.4.sharper", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 7.1.4, as its proof shows when all experts may be right", line=9363),
    says="Whatever ε is, the majority errs nearly half the time where experts are few.",
    assumes=[instance],
    added=[few_experts],
    states=Ge(vote_error, Rational(2, 5) - Rational(1187, 10000) / experts),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            vote_error,
            Step(">=", Rational(1, 2) - (Rational(2, 5) * experts + Rational(4748, 10000)) / sqrt(n - experts),
                 because=Premise(
                "the majority errs if fewer than n/2-k of n-k guesses are right: by Berry and Esseen with 0.4748, and "
                "Φ(-x) ≥ 1/2 - 0.4x"), uses=[instance]),
            Step(">=", Rational(1, 2) - (Rational(2, 5) * experts + Rational(4748, 10000)) / (4 * experts),
                 where={n: (4 * experts + _u) ** 2 + experts}),
            Step(">=", STATEMENT),
        )
    ],
)

left = Claim(
    id="dwang20.theorem7.1.4", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 7.1.4, left inequality of (7.19)", line=9148),
    says="The majority of reports is wrong at least 2 exp(-k((e^ε-1)/(e^ε+1))²/2) of the time, for n > C(δ).",
    assumes=[instance, loud],
    added=many,
    states=Ge(vote_error, 2 * exp(-experts * odd_share**2 / 2)),
    checks=[
        Chain(
            vote_error,
            Step(">=", because=Cites(any_epsilon.id)),
            Step(">=", 2 * exp(-Rational(49, 200) * experts)),
            Step(">=", STATEMENT, where={eps: log(Rational(17, 3) * (1 + _u))}),
        )
    ],
)

right = Claim(
    id="dwang20.theorem7.1.4.right", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 7.1.4, right inequality of (7.19), under Theorem 7.1.2's assumptions", line=9148),
    says="Algorithm 7.1.54 is wrong at most 2 exp(-k((e^ε-1)/(e^ε+1))²/2) of the time.",
    assumes=[instance, loud, *printed, Eq(wisdom, experts * odd_share**2 / n), likely],
    states=Le(label_error, 2 * exp(-experts * odd_share**2 / 2)),
    hidden=[c],
    checks=[
        Chain(
            label_error,
            # It is refuted, so that this proves nothing; with the condition that it lacks there is no such k.
            Step("<=", because=Cites("dwang20.theorem7.1.2", {c: Integer(4)})),
            Step("<=", STATEMENT),
            choosing={c: Integer(4)},
        )
    ],
)

# Lines of its proof --------------------------------------------------------------------------------
independent = Setting("independent X₁, ..., X_n of one law, E X = 0")
lemma4 = Claim(
    id="dwang20.lemma7.1.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 7.1.4, (7.35)", line=9337),
    says="A normed sum is 0.4748 E|X|³/(σ√n) from normal.",
    assumes=[independent],
    states=Le(far_off, Rational(4748, 10000) * third / (deviation * sqrt(n))),
    checks=[Units()],
)

lemma4_corrected = Claim(
    id="dwang20.lemma7.1.4.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 7.1.4, (7.35)", line=9337),
    says="It is 0.4748 E|X|³/(σ³√n) from normal (Shevtsova 2011).",
    assumes=[independent],
    states=Le(far_off, Rational(4748, 10000) * third / (deviation**3 * sqrt(n))),
    corrects="dwang20.lemma7.1.4",
)

coins = Setting("X = ±1/2 with probability 1/2 each, an even number 2h = n-k of them")
central = binomial(2 * guessers, guessers) / 2 ** (2 * guessers) / 2  # half of what sits at 0, where Φ is 1/2
proof = Claim(
    id="dwang20.theorem7.1.4.proof", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.36), line of the proof of Theorem 7.1.4", line=9361),
    says="The normed sum of n-k fair coins is within 1/(16√(n-k)) of normal.",
    assumes=[coins],
    states=Le(far_off, 1 / (16 * sqrt(2 * guessers))),
    checks=[AtMost(central, "at t = 0, where half of the middle of an even number of coins is missing from 1/2")],
)

proof_corrected = Claim(
    id="dwang20.theorem7.1.4.proof.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "(7.36), line of the proof of Theorem 7.1.4", line=9361),
    says="It is within 0.4748/√(n-k), as σ = 1/2 and E|X|³ = 1/8.",
    assumes=[coins],
    states=Le(far_off, Rational(4748, 10000) / sqrt(2 * guessers)),
    corrects="dwang20.theorem7.1.4.proof",
    checks=[
        Chain(
            far_off,
            Step("<=", because=Cites("dwang20.lemma7.1.4.corrected", {
                n: 2 * guessers, deviation: Rational(1, 2), third: Rational(1, 8)}, granted="coins are of one law"),
                uses=[coins]),
            Step("<=", STATEMENT),
        )
    ],
)
