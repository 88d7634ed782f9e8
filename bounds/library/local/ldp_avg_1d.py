"""The average of numbers, each with Laplace noise of its user (dwang20, section 5.1.2, Algorithm 5.1.30).

Solver: dpcheck/solvers/local/ldp_avg_1d.py.
"""

from sympy import Eq, Gt, Le, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.local.laplace_sums import exact_quantile
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.exact_values import ExactValue
from dpcheck.bounds.proving.proofs import AtMost

b = quantity("b_user", "largest value that a user may hold", parameter=1, printed="b", latex="b")
average_error = quantity(
    "average_error",
    "distance of the server's average from that of the users' values",
    parameter=1,
    printed="|a - v̄|",
    latex=r"|a-\bar v|",
    holds=LIKELY,
)

# Privacy -------------------------------------------------------------------------------------------
released = Release(b, Laplace(sigma), relation=LOCAL)  # v in [0, b], as v + Lap(σ)

privacy = Claim(
    id="dwang20.lemma5.1.1.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Lemma 5.1.1, first sentence, and Algorithm 5.1.30, step 3", line=4724),
    says="A number in [0, b] with Laplace noise of scale b/ε is ε-private to its user, for any ε > 0.",
    states=Eq(sigma, b / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    checks=[AtMost(b / sigma, "log densities of scale σ at v and v' differ by at most |v-v'|/σ", against=eps)],
)

# Utility -------------------------------------------------------------------------------------------
reported = [Setting("every user holds a number in [0, b] and adds Laplace noise of scale b/ε")]
quantile = ExactValue(
    lambda at: exact_quantile(at["n"], at["gamma"]) / at["n"],
    box={n: (2, 100), gamma: (1e-9, 0.5)},
    because="the exact quantile of n draws of Laplace noise",
    unit={b: 1, eps: 1},
    samples=50,
)

lemma1 = Claim(
    id="dwang20.lemma5.1.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.1", line=4724),
    says="The average is within 2b√log(2/γ)/(√n ε) of that of the values, with probability 1-γ, if n > log(2/γ).",
    assumes=[*reported, Gt(n, log(2 / gamma))],
    states=Le(average_error, 2 * b * sqrt(log(2 / gamma)) / (sqrt(n) * eps)),
    checks=[quantile],
)

r = sqrt(log(2 / gamma) / n)
s = r / (1 + r)
lemma1_corrected = Claim(
    id="dwang20.lemma5.1.1.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.1", line=4724),
    says="With b log(2/γ)/(nε) more, it is so for every n and γ.",
    assumes=reported,
    states=Le(average_error, 2 * b * sqrt(log(2 / gamma)) / (sqrt(n) * eps) + b * log(2 / gamma) / (n * eps)),
    corrects="dwang20.lemma5.1.1",
    checks=[
        Chain(
            average_error,
            Step(
                "<=",
                b / (n * eps) * (log(2 / gamma) - n * log(1 - s**2)) / s,
                because=Premise("Chernoff's bound on each side: n draws have E exp(sε Σxᵢ/b) = (1-s²)⁻ⁿ for 0 < s < 1"),
            ),
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    {"-log(1-s²) ≤ s²/(1-s²)": b / (eps * s) * (s**2 / (1 - s**2) + log(1 - s**2))},
                    seen=[b * r**2 / (eps * (1 + 2 * r))],  # of s²/(1-s), which it is replaced by
                ),
            ),
        ),
        quantile,
    ],
)
