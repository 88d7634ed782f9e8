"""Mini-batch noisy SGD after Bassily et al. (zhang17, section 4: the baseline of its experiments).

Solver: dpcheck/solvers/convex/bassily_sgd.py.
"""

from sympy import Eq, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import L, T, alpha_g, delta, eps, m, n, q
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.numeric_checks import SampledGaussianAccountant
from dpcheck.bounds.privacy.release import Release

# Bassily et al.: variance 32 L^2 n^2 log(n/delta) log(1/delta) / eps^2 on n times a gradient, n^2 steps.
# A batch of m keeps that noise on the SUM of its gradients and takes (n/m)^2 steps.
batch_noise = sqrt(32 * L**2 * log(n / delta) * log(1 / delta)) / (m * eps)

released = Release(2 * L / m, Gaussian(alpha_g), WithoutReplacement(m, n), T)  # on the mean of a batch

minibatch = Claim(
    id="zhang17.section4.minibatch",
    source=Source("zhang17", "section 4, mini-batch version of the baseline, m = 50"),
    kind=Kind.PRIVACY,
    says="Batches of m records and (n/m)² steps keep the privacy of Bassily et al.'s single-record SGD.",
    assumes=[lipschitz(L), eps <= 1, m <= n, Setting("(n/m)² steps, each on m records drawn without replacement")],
    states=Eq(alpha_g, batch_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[
        SampledGaussianAccountant(
            batch_noise * m / L, (n / 50) ** 2, "(n/50)² steps on 50 records each, whole transcript seen",
            batch=50, sizes=(100, 500),
        )
    ],
    cites=[Cites("zhang17.lemma9", {q: m / n})],
)
