"""DP-GD: full-batch noisy gradient descent, the plain baseline of section 3.1 of dwang20.

The source cites [356] for it, which perturbs the output (outpert_gd.py): the experiments are measured against that.
Solver: dpcheck/solvers/convex/dp_gd.py.
"""

from sympy import Eq, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, n
from dpcheck.bounds.library.convex.variance_reduction import G, losses, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release

released = Release(2 * G / n, Gaussian(sigma_n), steps=T)  # T full gradients, each 2G/n apart

privacy = Claim(
    id="dwang20.section3.1.5.dp_gd",
    source=Source("dwang20", "section 3.1.5, DP-GD read as noise on each gradient", line=830),
    kind=Kind.PRIVACY,
    says="T noisy full gradients with the noise of Lemma 2.1.7 at q = 1, c₂² = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, G * sqrt(8 * T * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)
