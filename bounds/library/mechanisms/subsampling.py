"""Amplification by sampling (zhang17, Lemma 9; dwang20, Lemma 2.1.2).

Checks by code: dpcheck/evidence/mechanisms/subsampling.py.
"""

from sympy import Integer, Le, Rational, Symbol, exp, integrate, log

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import delta, eps, eps_out, q
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

exact_epsilon = log(1 + q * (exp(eps) - 1))

lemma9 = Claim(
    id="zhang17.lemma9",
    source=Source("zhang17", "Lemma 9"),
    kind=Kind.PRIVACY,
    says="An (ε, δ)-private algorithm on a random α-share of the records is (2αε, αδ)-private.",
    assumes=[q <= 1],
    states=Le(eps_out, 2 * q * eps),
    guarantee=ApproxDP(eps_out, q * delta),
    checks=[
        AtMost(
            exact_epsilon,
            "an event of probability p with the record sampled and p·e^-ε without attains log(1 + α(e^ε-1))",
        )
    ],
)

_s, _y = Symbol("s", nonnegative=True), Symbol("y", positive=True)
lemma9_corrected = Claim(
    id="zhang17.lemma9.corrected",
    source=Source("zhang17", "Lemma 9"),
    kind=Kind.PRIVACY,
    says="The same, for ε at most 1.256.",
    assumes=[q <= 1, eps <= Rational(1256, 1000)],
    states=Le(eps_out, 2 * q * eps),
    guarantee=ApproxDP(eps_out, q * delta),
    corrects="zhang17.lemma9",
    checks=[
        Proof(
            [
                Same(
                    "log(1+x) ≤ x, as e^y - 1 - y = ∫(y-s)e^s ds ≥ 0",
                    exp(_y) - 1 - _y,
                    integrate((_y - _s) * exp(_s), (_s, 0, _y)),
                ),
                Less("e^ε - 1 ≤ 2ε up to 1.256", exp(eps) - 1, 2 * eps, box={eps: (1e-3, 1.256)}),
                Less("and below 1e-3, where e^ε - 1 ≤ ε e^ε", exp(Rational(1, 1000)), Integer(2)),
            ],
            "log(1 + α(e^ε-1)) ≤ α(e^ε-1) ≤ 2αε",
        )
    ],
)

lemma9_exact = Claim(
    id="zhang17.lemma9.exact",
    source=Source("zhang17", "Lemma 9"),
    kind=Kind.PRIVACY,
    says="For any ε: sampling an α-share gives log(1 + α(e^ε-1)), and no less.",
    assumes=[q <= 1],
    states=Le(eps_out, exact_epsilon),
    guarantee=ApproxDP(eps_out, q * delta),
    corrects="zhang17.lemma9",
    checks=[
        Proof(
            [
                Same(
                    "worst likelihood ratio: ((1-α)·x + α·e^ε·x) / x",
                    exp(exact_epsilon),
                    (1 - q) + q * exp(eps),
                )
            ],
            "attained by randomised response on one record",
        )
    ],
)

lemma2 = Claim(
    id="dwang20.lemma2.1.2",
    source=Source("dwang20", "Lemma 2.1.2"),
    kind=Kind.PRIVACY,
    says="An (ε, δ)-private algorithm on a random γ-share of the records is (2γε, δ)-private, for all ε (α for γ).",
    assumes=[q <= 1],
    states=Le(eps_out, 2 * q * eps),
    guarantee=ApproxDP(eps_out, delta),
    checks=[AtMost(exact_epsilon, "randomised response on one record attains log(1 + γ(e^ε-1)), with δ = 0")],
)

lemma2_corrected = Claim(
    id="dwang20.lemma2.1.2.corrected",
    source=Source("dwang20", "Lemma 2.1.2"),
    kind=Kind.PRIVACY,
    says="The same, for ε at most 1.256, and with γδ for δ.",
    assumes=[q <= 1, eps <= Rational(1256, 1000)],
    states=Le(eps_out, 2 * q * eps),
    guarantee=ApproxDP(eps_out, q * delta),
    corrects="dwang20.lemma2.1.2",
    checks=lemma9_corrected.checks,
)

_without, _theirs = (Symbol(name, nonnegative=True) for name in ("without", "theirs"))
_b = exp(exact_epsilon) / exp(eps)
lemma2_exact = Claim(
    id="dwang20.lemma2.1.2.exact",
    source=Source("dwang20", "Lemma 2.1.2"),
    kind=Kind.PRIVACY,
    says="For any ε: (log(1 + γ(e^ε-1)), γδ), and no smaller ε.",
    assumes=[q <= 1],
    states=Le(eps_out, exact_epsilon),
    guarantee=ApproxDP(eps_out, q * delta),
    corrects="dwang20.lemma2.1.2",
    checks=[
        Proof(
            [
                # S is a probability with the record drawn, R without, S' with its replacement: S is within (ε, δ) of
                # both, hence of any mixture of them (Balle, Barthe, Gaboardi 2018).
                Same(
                    "γS + (1-γ)R ≤ γ(e^ε·[(1-b)R + bS'] + δ) + (1-γ)R = e^ε'·[(1-γ)R + γS'] + γδ with b = e^(ε'-ε)",
                    q * (exp(eps) * ((1 - _b) * _without + _b * _theirs) + delta) + (1 - q) * _without,
                    exp(exact_epsilon) * ((1 - q) * _without + q * _theirs) + q * delta,
                ),
                Less("b ≤ 1: e^ε' ≤ e^ε", 1 + q * (exp(eps) - 1), exp(eps), {q: 1 / (1 + _s), eps: log(1 + _y)}),
                Same(
                    "attained: ((1-γ)·x + γ·e^ε·x) / x",
                    exp(exact_epsilon),
                    (1 - q) + q * exp(eps),
                ),
            ],
            "advanced joint convexity; attained by randomised response on one record",
        )
    ],
)
