"""Mini-batch noisy SGD after Bassily et al. (zhang17, section 4: the baseline of its experiments; Table 1).

Solver: dpcheck/solvers/convex/bassily_sgd.py.
"""

from sympy import Eq, Expr, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import L, T, alpha_g, d, delta, eps, excess_risk, m, n, q
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.numeric_checks import SampledGaussianAccountant
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Quoted

# Bassily et al.: variance 32 L^2 n^2 log(n/delta) log(1/delta) / eps^2 on n times a gradient, n^2 steps.
# A batch of m keeps that noise on the SUM of its gradients and takes (n/m)^2 steps.
batch_noise = sqrt(32 * L**2 * log(n / delta) * log(1 / delta)) / (m * eps)

released = Release(2 * L / m, Gaussian(alpha_g), WithoutReplacement(m, n), T)  # on the mean of a batch

minibatch = Claim(
    id="zhang17.section4.minibatch", kind=Kind.PRIVACY,
    source=Source("zhang17", "section 4, mini-batch version of the baseline, m = 50, with the noise of [1]", line=286),
    says="Batches of m records and (n/m)² steps keep the privacy of Bassily et al.'s single-record SGD.",
    assumes=[lipschitz(L), eps <= 1, m <= n, Setting("(n/m)² steps, each on m records drawn without replacement")],
    states=Eq(alpha_g, batch_noise),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    checks=[
        SampledGaussianAccountant(
            alpha_g * m / L, (n / 50) ** 2, "(n/50)² steps on 50 records each, whole transcript seen, n as in Table 2",
            batch=50, sizes=(6497, 45211),
        )
    ],
    cites=[Cites("zhang17.lemma9", {q: m / n})],
)


def quoted(name: str, line: int, says: str, rate: Expr) -> Claim:
    """A cell of Table 1 on the error of Bassily et al."""
    return Claim(
        id=f"zhang17.table1.bassily.{name}", kind=Kind.UTILITY,
        source=Source("zhang17", "Table 1, utility of Bassily et al.", line),
        says=says,
        states=Rate(excess_risk, rate),
        ignores_units=True,
        checks=[Quoted("from Bassily et al. 2014, whose proof stands in none of the documents")],
    )


bassily_pure = quoted("pure", 40, "Strongly convex, ε-DP: utility.", log(n) * d**2 / (n**2 * eps**2))
bassily_approx = quoted(
    "approx", 41, "Strongly convex, (ε, δ)-DP: utility.", d * log(n / delta) ** 3 / (n**2 * eps**2)
)
