"""Amplification by sampling (zhang17, Lemma 9)."""

from sympy import Integer, Le, Rational, Symbol, exp, integrate, log

from bounds.claim import Claim, Kind, Source
from bounds.guarantees import ApproxDP
from bounds.proofs import AtMost, Less, Proof, Same
from bounds.symbols import delta, eps, eps_out, q

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
