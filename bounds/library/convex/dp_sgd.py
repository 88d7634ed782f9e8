"""DP-SGD: noisy gradients of random batches, by moments of the privacy loss (dwang20, Lemma 2.1.7).

Of the mean gradient of l records out of n; the l of the source is m here. Solver: dpcheck/solvers/convex/dp_sgd.py.
"""

from sympy import Eq, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c1, c2, delta, eps, m, n
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release

multiplier = c2 * (m / n) * sqrt(T * log(1 / delta)) / eps  # printed σ; the noise that is added is printed (G/n)·σ
# Mean gradients of m different records: two records are up to 2G/m apart.
released = Release(2 * G / m, Gaussian(sigma_n), WithoutReplacement(m, n), T)

lemma7 = Claim(
    id="dwang20.lemma2.1.7",
    source=Source("dwang20", "Lemma 2.1.7", line=404),
    kind=Kind.PRIVACY,
    says="Noisy SGD (Algorithm 1 in [1]: noise on the mean gradient of a batch) with noise (G/n)·c₂·q√(T ln(1/δ))/ε, "
    "q = l/n, is (ε, δ)-private for ε < c₁q²T (m for l).",
    assumes=[lipschitz(G), m <= n, eps < c1 * (m / n) ** 2 * T],
    states=Eq(sigma_n, G / n * multiplier),
    guarantee=ApproxDP(eps, delta),
    hidden=(c1, c2),
    misprint_of="dwang20.lemma2.1.7.corrected",
    checks=[
        Accountant(
            released,
            "even for ε ≤ 1, by small batches: (G/n)·σ is smaller by q = l/n than the noise that they need",
            {eps: (0.1, 1.0), delta: (1e-6, 1e-3)},
        )
    ],
)

lemma7_corrected = Claim(
    id="dwang20.lemma2.1.7.corrected",
    source=Source("dwang20", "(3.19), where l = 1 and G = 1, for the Lemma 2.1.7 of any l", line=1003),
    kind=Kind.PRIVACY,
    says="With (G/l)·σ, as its source [1] has it, and (3.19) uses it: c₁ = 1 and c₂ = 3, for ε at most 1.",
    assumes=[lipschitz(G), m <= n, eps <= 1, eps <= (m / n) ** 2 * T],
    states=Eq(sigma_n, G / m * multiplier.subs(c2, 3)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.lemma2.1.7",
    checks=[Accountant(released, "m different records in each step, all noisy gradients seen")],
)
