"""Strong composition (zhang17, Lemma 10)."""

from sympy import Eq, Integer, Symbol, exp, integrate, log, sqrt

from bounds.checks import CompositionAccountant
from bounds.claim import Claim, Kind, Source
from bounds.guarantees import ApproxDP
from bounds.proofs import Less, Proof, Same
from bounds.symbols import T, delta, delta1, eps, eps_out

_v, _s = Symbol("v", nonnegative=True), Symbol("s", nonnegative=True)

lemma10 = Claim(
    id="zhang17.lemma10",
    source=Source("zhang17", "Lemma 10"),
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, as printed: ε stands under the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1) * eps) + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    checks=[
        CompositionAccountant("against the optimal composition of T randomised responses"),
        Proof(
            [
                Less("for ε ≤ 1 the root only grows: ε² ≤ ε", eps**2, eps, {eps: 1 / (1 + _v)}),
                Same(
                    "e^ε ≥ 1 + ε, by Taylor's remainder", exp(_v) - 1 - _v, integrate((_v - _s) * exp(_s), (_s, 0, _v))
                ),
                Less("so for ε ≥ 1 the second term alone exceeds basic composition Tε", Integer(1), eps, {eps: 1 + _v}),
            ],
            "the misprint is harmless: implied by Lemma 10 as meant (ε ≤ 1) or by basic composition (ε ≥ 1)",
        ),
    ],
)

lemma10_corrected = Claim(
    id="zhang17.lemma10.corrected",
    source=Source("zhang17", "Lemma 10"),
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, with ε outside the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1)) * eps + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    corrects="zhang17.lemma10",
    checks=[CompositionAccountant("against the optimal composition of T randomised responses")],
)
