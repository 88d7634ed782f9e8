"""The Gaussian mechanism (zhang17, Lemma 1, second half; Lemma 7; dwang20, Definition 2.1.3).

Solver: dpcheck/solvers/mechanisms/gaussian.py.
"""

from sympy import Eq, Expr, Rational, Symbol, erfc, exp, integrate, log, oo, pi, simplify, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import Delta, d, delta, eps, noise_norm2, sigma
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.numeric_checks import GaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.derivations import Expectation, gaussian_length
from dpcheck.bounds.proving.proofs import Equals

released = Release(Delta, Gaussian(sigma))  # a query of l2 sensitivity Δ
classical_noise = sqrt(2 * log(Rational(5, 4) / delta)) * Delta / eps


def mechanism(name: str, source: Source, corrects: str | None = None) -> Claim:
    """Printed in both documents without a range of ε; corrected, for ε at most 1."""
    return Claim(
        id=name,
        source=source,
        kind=Kind.PRIVACY,
        says="Gaussian noise of deviation √(2 ln(1.25/δ))·Δ/ε makes a query of l2 sensitivity Δ (ε, δ)-private"
        + (", with no range of ε given." if corrects is None else ", for ε at most 1."),
        assumes=[] if corrects is None else [eps <= 1],
        states=Eq(sigma, classical_noise),
        guarantee=ApproxDP(eps, delta),
        corrects=corrects,
        checks=[GaussianAccountant(Delta / sigma, f"{'without' if corrects is None else 'with'} a range of ε")],
    )


in_zhang17, in_dwang20 = Source("zhang17", "Lemma 1", line=100), Source("dwang20", "Definition 2.1.3", line=378)
lemma1 = mechanism("zhang17.lemma1.gaussian", in_zhang17)
lemma1_corrected = mechanism("zhang17.lemma1.gaussian.corrected", in_zhang17, "zhang17.lemma1.gaussian")
definition3 = mechanism("dwang20.definition2.1.3", in_dwang20)
definition3_corrected = mechanism("dwang20.definition2.1.3.corrected", in_dwang20, "dwang20.definition2.1.3")


def Phi(x: Expr) -> Expr:
    """The normal distribution function, for sympy."""
    return erfc(-x / sqrt(2)) / 2


_x = Symbol("x", real=True)


def beyond_threshold() -> Expr:
    """P(A) - e^ε·Q(A) of N(Δ, σ²) and N(0, σ²), integrated over the A where the log-likelihood ratio exceeds ε."""
    start = eps * sigma**2 / Delta + Delta / 2
    masses = [
        integrate(exp(-((_x - mean) ** 2) / (2 * sigma**2)) / (sqrt(2 * pi) * sigma), (_x, start, oo))
        for mean in (Delta, 0)
    ]
    return simplify(masses[0].rewrite(erfc)) - exp(eps) * simplify(masses[1].rewrite(erfc))


exact = Claim(
    id="zhang17.lemma1.gaussian.exact",
    source=in_zhang17,
    kind=Kind.PRIVACY,
    says="The exact curve of the Gaussian mechanism: the least δ at each ε and σ, for any ε.",
    states=Eq(
        delta,
        Phi(Delta / (2 * sigma) - eps * sigma / Delta) - exp(eps) * Phi(-Delta / (2 * sigma) - eps * sigma / Delta),
    ),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.lemma1.gaussian",
    checks=[Equals(beyond_threshold, "P(A) - e^ε·Q(A), integrated where the likelihood ratio exceeds e^ε")],
)

lemma7 = Claim(
    id="zhang17.lemma7",
    source=Source("zhang17", "Lemma 7", line=420),
    kind=Kind.IDENTITY,
    says="The mean squared norm of noise with density proportional to exp(-‖z‖²/2σ²).",
    states=Eq(noise_norm2, d * sigma**2),
    checks=[Expectation(lambda r: r**2, gaussian_length(d, sigma), "the length has density r^(d-1)·exp(-r²/2σ²)")],
)
