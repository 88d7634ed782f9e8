"""Amplification by sampling (zhang17, Lemma 9; dwang20, Lemma 2.1.2).

Checks by code: dpcheck/evidence/mechanisms/subsampling.py.
"""

from sympy import Expr, Le, Rational, exp, log

from dpcheck.bounds.language.claim import Claim, Kind, Source, pretty
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import delta, eps, eps_out, q
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

exact_epsilon = log(1 + q * (exp(eps) - 1))
in_zhang17, in_dwang20 = Source("zhang17", "Lemma 9", line=459), Source("dwang20", "Lemma 2.1.2", line=370)
largest = Rational(1256, 1000)  # up to which e^ε - 1 ≤ 2ε


def printed(name: str, source: Source, remaining: Expr) -> Claim:
    """As printed, for all ε; `remaining` is the δ that is left."""
    return Claim(
        id=name,
        source=source,
        kind=Kind.PRIVACY,
        says=f"An (ε, δ)-private algorithm on a random α-share of the records is (2αε, {pretty(remaining)})-private.",
        assumes=[q <= 1],
        states=Le(eps_out, 2 * q * eps),
        guarantee=ApproxDP(eps_out, remaining),
        checks=[
            AtMost(
                exact_epsilon, "with δ = 0, randomised response on the record that differs attains log(1 + α(e^ε-1))"
            )
        ],
    )


def corrected(name: str, source: Source) -> Claim:
    """The same, where it holds."""
    return Claim(
        id=f"{name}.corrected",
        source=source,
        kind=Kind.PRIVACY,
        says="The same, for ε at most 1.256, and with αδ.",
        assumes=[q <= 1, eps <= largest],
        states=Le(eps_out, 2 * q * eps),
        guarantee=ApproxDP(eps_out, q * delta),
        corrects=name,
        checks=[
            Chain(
                Cites("zhang17.lemma9.exact"),
                Step("<=", q * (exp(eps) - 1), because=Premise("log(1+x) ≤ x")),
                Step(
                    "<=",
                    q * eps * (exp(largest) - 1) / largest,
                    because=Premise("e^ε lies below its chord"),
                    uses=[eps <= largest],
                ),
                Step("<=", STATEMENT),
            )
        ],
    )


lemma9 = printed("zhang17.lemma9", in_zhang17, q * delta)
lemma9_corrected = corrected("zhang17.lemma9", in_zhang17)
lemma2 = printed("dwang20.lemma2.1.2", in_dwang20, delta)
lemma2_corrected = corrected("dwang20.lemma2.1.2", in_dwang20)

lemma9_exact = Claim(
    id="zhang17.lemma9.exact",
    source=in_zhang17,
    kind=Kind.PRIVACY,
    says="For any ε: sampling an α-share gives log(1 + α(e^ε-1)), and no less.",
    assumes=[q <= 1],
    states=Le(eps_out, exact_epsilon),
    guarantee=ApproxDP(eps_out, q * delta),
    corrects="zhang17.lemma9",
)
