"""The Gaussian mechanism (zhang17, Lemma 1, second half; Lemma 7; dwang20, Definition 2.1.3).

Solver: dpcheck/solvers/mechanisms/gaussian.py.
"""

from sympy import Eq, Rational, Symbol, erfc, exp, integrate, log, oo, pi, simplify, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import Delta, d, delta, eps, noise_norm2, sigma
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.numeric_checks import GaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Equals, Less, Proof, Same

released = Release(Delta, Gaussian(sigma))  # a query of l2 sensitivity Δ
classical_noise = sqrt(2 * log(Rational(5, 4) / delta)) * Delta / eps

lemma1 = Claim(
    id="zhang17.lemma1.gaussian",
    source=Source("zhang17", "Lemma 1"),
    kind=Kind.PRIVACY,
    says="Gaussian noise of deviation √(2 ln(1.25/δ))·Δ/ε makes a query of l2 sensitivity Δ (ε, δ)-private.",
    states=Eq(sigma, classical_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[GaussianAccountant(simplify(Delta / classical_noise), "the range of ε is missing")],
)

lemma1_corrected = Claim(
    id="zhang17.lemma1.gaussian.corrected",
    source=Source("zhang17", "Lemma 1"),
    kind=Kind.PRIVACY,
    says="The same noise, for ε at most 1.",
    assumes=[eps <= 1],
    states=Eq(sigma, classical_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.lemma1.gaussian",
    checks=[GaussianAccountant(simplify(Delta / classical_noise), "with the range of ε")],
)

# Noise ε/√(2·ln(1/δ)) sensitivities apart (c = 8 in σ² = cG²T·ln(1/δ)/(n²ε²)): μ = ε/√(2a), so that δ(ε) ≤ Φ(-z) with
# z = ε/μ - μ/2, and Φ(-z) ≤ e^(-z²/2)/(z√(2π)).
_a = Symbol("a", positive=True)
_least_z = sqrt(2 * log(4)) - 1 / (2 * sqrt(2 * log(4)))
for_every_delta = Proof(
    [
        Same(
            "z²/2 = a - ε/2 + ε²/(16a) with a = ln(1/δ)",
            (sqrt(2 * _a) - eps / (2 * sqrt(2 * _a))) ** 2 / 2,
            _a - eps / 2 + eps**2 / (16 * _a),
        ),
        Less("so δ(ε)/δ ≤ e^(1/2)/(z√(2π)) ≤ 1, z being least at ε = 1 and a = ln 4", exp(Rational(1, 2)),
             _least_z * sqrt(2 * pi)),
    ],
    "for every δ ≤ 1/4, however small; c below 8 fails as δ falls to 0",
)


def Phi(x):  # type: ignore[no-untyped-def]
    """The normal distribution function, for sympy."""
    return erfc(-x / sqrt(2)) / 2


threshold = eps * sigma**2 / Delta + Delta / 2  # where the log-likelihood ratio equals eps

exact = Claim(
    id="zhang17.lemma1.gaussian.exact",
    source=Source("zhang17", "Lemma 1"),
    kind=Kind.PRIVACY,
    says="The exact curve of the Gaussian mechanism: the least δ at each ε and σ, for any ε.",
    states=Eq(delta, Phi(Delta / (2 * sigma) - eps * sigma / Delta)
              - exp(eps) * Phi(-Delta / (2 * sigma) - eps * sigma / Delta)),
    guarantee=ApproxDP(eps, delta),
    corrects="zhang17.lemma1.gaussian",
    checks=[
        Equals(
            simplify(Phi((Delta - threshold) / sigma)) - exp(eps) * simplify(Phi(-threshold / sigma)),
            "P(A) - e^ε Q(A) on the half-line A where the likelihood ratio exceeds e^ε",
        )
    ],
)

_x = Symbol("x", real=True)
lemma7 = Claim(
    id="zhang17.lemma7",
    source=Source("zhang17", "Lemma 7"),
    kind=Kind.IDENTITY,
    says="The mean squared norm of noise with density proportional to exp(-‖z‖²/2σ²).",
    states=Eq(noise_norm2, d * sigma**2),
    checks=[
        Equals(
            lambda: (
                d
                * integrate(_x**2 * exp(-(_x**2) / (2 * sigma**2)), (_x, -oo, oo))
                / integrate(exp(-(_x**2) / (2 * sigma**2)), (_x, -oo, oo))
            ),
            "d independent coordinates, each integrated",
        )
    ],
)

definition3 = Claim(
    id="dwang20.definition2.1.3",
    source=Source("dwang20", "Definition 2.1.3"),
    kind=Kind.PRIVACY,
    says="Gaussian noise of deviation √(2 ln(1.25/δ))·Δ/ε is (ε, δ)-private, with no range of ε given.",
    states=Eq(sigma, classical_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[GaussianAccountant(simplify(Delta / classical_noise), "the range of ε is missing")],
)

definition3_corrected = Claim(
    id="dwang20.definition2.1.3.corrected",
    source=Source("dwang20", "Definition 2.1.3"),
    kind=Kind.PRIVACY,
    says="The same noise, for ε at most 1.",
    assumes=[eps <= 1],
    states=Eq(sigma, classical_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.definition2.1.3",
    checks=[GaussianAccountant(simplify(Delta / classical_noise), "with the range of ε")],
)
