"""Moments of the privacy loss and noisy SGD (dwang20, Lemmas 2.1.6 and 2.1.7, with the remark between them).

Of the mean gradient of l records out of n; the l of the source is m here.
"""

from sympy import Eq, Integer, Rational, Symbol, exp, integrate, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Source, lipschitz
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP
from dpcheck.bounds.language.symbols import T, c1, c2, delta, eps, m, n, q, quantity, ratio
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, Poisson, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Less, Proof, Same
from dpcheck.bounds.proving.steps import Step

# The same symbols as in section 3.1 (bounds/library/convex/variance_reduction.py).
G = quantity("G", "bound on the gradient of each loss", loss=1, parameter=-1)
moment = quantity("moment", "log moment of the privacy loss of an order", printed="α_M", latex=r"\alpha_M")
lam = quantity("lam", "order of a moment", box=(1, 1e3), integer=True, printed="λ", latex=r"\lambda")
sigma_n = quantity(
    "sigma_n", "noise on each coordinate of a gradient", loss=1, parameter=-1, printed="σ", latex=r"\sigma"
)

_s, _v, _u = (Symbol(name, nonnegative=True) for name in ("s", "v", "u"))
_k = Symbol("k", positive=True)

# A loss l of the output counts 1 - e^(ε-l) towards δ: at most e^(λ(l-ε)) for any λ > 0. With v for |l - ε|:
tail: list[Step] = [
    Less("a loss above ε counts at most 1", 1 - 1 / (1 + _u), Integer(1)),
    Same("and e^(λv) is at least 1", exp(_k * _v) - 1, integrate(_k * exp(_k * _s), (_s, 0, _v))),
    Less("a loss below ε counts nothing", 1 - (1 + _u), Integer(0)),
]

lemma6_corrected = Claim(
    id="dwang20.lemma2.1.6.corrected",
    source=Source("dwang20", "Lemma 2.1.6, as its source [1] has it"),
    kind=Kind.PRIVACY,
    says="Moments of the privacy loss of all steps add up, and give (ε, exp(α_M(λ) - λε)) for every order λ.",
    states=Eq(delta, exp(moment - lam * eps)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.lemma2.1.6",
    checks=[Proof(tail, "δ ≤ E e^(λ(loss-ε)) = exp(α_M - λε)")],
)

# Lemma 2.1.7: σ stands for the noise that is added, (G/n)·σ or (G/l)·σ of the source -------------------
multiplier = c2 * (m / n) * sqrt(T * log(1 / delta)) / eps
few = [m <= n]


def batches() -> Release:
    """Mean gradients of m different records: two records are up to 2G/m apart."""
    return Release(2 * G / m, Gaussian(sigma_n), WithoutReplacement(m, n), T)


lemma7 = Claim(
    id="dwang20.lemma2.1.7",
    source=Source("dwang20", "Lemma 2.1.7"),
    kind=Kind.PRIVACY,
    says="Noisy SGD with noise (G/n)·c₂·q√(T ln(1/δ))/ε, q = l/n, is (ε, δ)-private for ε < c₁q²T (m for l).",
    assumes=[lipschitz(G), *few, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, G / n * multiplier),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    checks=[
        Accountant(
            batches(),
            "even for ε ≤ 1, by small batches: (G/n)·σ is smaller by q = l/n than the noise that they need",
            {eps: (0.1, 1.0), delta: (1e-6, 1e-3)},
        )
    ],
)

lemma7_batch = Claim(
    id="dwang20.lemma2.1.7.batch",
    source=Source("dwang20", "Lemma 2.1.7, with (G/l)·σ as in its source [1]"),
    kind=Kind.PRIVACY,
    says="The same with noise (G/l)·c₂·q√(T ln(1/δ))/ε, for every ε < c₁q²T.",
    assumes=[lipschitz(G), *few, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, G / m * multiplier),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    checks=[Accountant(batches(), "linear losses: the true ε grows like the square of the stated one")],
)

lemma7_corrected = Claim(
    id="dwang20.lemma2.1.7.corrected",
    source=Source("dwang20", "Lemma 2.1.7"),
    kind=Kind.PRIVACY,
    says="With (G/l)·σ, c₁ = 1 and c₂ = 3, for ε at most 1.",
    assumes=[lipschitz(G), *few, eps <= 1, eps <= (m / n) ** 2 * T],
    states=Eq(sigma_n, G / m * multiplier.subs(c2, 3)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.lemma2.1.7",
    checks=[Accountant(batches(), "m different records in each step, all noisy gradients seen")],
)

lemma7_batch_corrected = Claim(
    id="dwang20.lemma2.1.7.batch.corrected",
    source=Source("dwang20", "Lemma 2.1.7, for the neighbours and the sampling of its source [1]"),
    kind=Kind.PRIVACY,
    says="Each record drawn with probability q, a record added or removed: c₁ = 1 and c₂ = 3/2, for ε at most 1.",
    assumes=[lipschitz(G), q <= 1, eps <= 1, eps <= q**2 * T],
    states=Eq(sigma_n, G / m * (Rational(3, 2) * q * sqrt(T * log(1 / delta)) / eps)),
    guarantee=ApproxDP(eps, delta, relation=ADD_REMOVE),
    corrects="dwang20.lemma2.1.7.batch",
    checks=[Accountant(Release(G / m, Gaussian(sigma_n), Poisson(q), T), "sums over an expected m records")],
)

# Noise of T full gradients, sensitivity Δ = 2G/n, as (σε/Δ)²: by Lemma 2.1.5 with Definition 2.1.3 at (ε', δ/T), and by
# Lemma 2.1.7 corrected. With a for ln(1/δ) and b for ln T.
_a, _b = Symbol("a", positive=True), Symbol("b", nonnegative=True)
_by_composition = 2 * (log(Rational(5, 4)) + _b + _a) * 8 * T * (log(2) + _a)
_by_moments = Rational(9, 4) * T * _a

saving = Claim(
    id="dwang20.section2.1.saving",
    source=Source("dwang20", "after Lemma 2.1.6"),
    kind=Kind.PRIVACY,
    says="For Gaussian noise on gradients, moments save a factor √(ln(T/δ)) of the noise of advanced composition.",
    assumes=[lipschitz(G), eps < 1],
    states=Rate(ratio, sqrt(log(T / delta)), below=True),
    cites=[Cites("dwang20.lemma2.1.5"), Cites("dwang20.lemma2.1.7.corrected", {m: n})],
    checks=[
        Proof(
            [
                Less(
                    "noise by composition over noise by moments, squared, is at least 7·ln(T/δ)",
                    7 * (_a + _b) * _by_moments,
                    _by_composition,
                )
            ],
            "the ratio is at least √7 times that",
        )
    ],
)
