"""DP-GD: full-batch noisy gradient descent, the plain baseline of section 3.1 of dwang20.

The source cites [356] for it, which perturbs the output (outpert_gd.py): the experiments are measured against that.
Solver: dpcheck/solvers/convex/dp_gd.py.
"""

from sympy import Eq, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, d, delta, eps, excess_risk, mu, n
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, losses, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Step

released = Release(2 * G / n, Gaussian(sigma_n), steps=T)  # T full gradients, each 2G/n apart

source = Source("dwang20", "section 3.1.5, DP-GD read as noise on each gradient", line=830)

privacy = Claim(
    id="dwang20.section3.1.5.dp_gd",
    source=source,
    kind=Kind.PRIVACY,
    says="T noisy full gradients with the noise of Lemma 2.1.7 at q = 1, c₂² = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*losses, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, G * sqrt(8 * T * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

A_STEP = (
    "a noisy step: F falls by ‖∇F‖²/(2β) and rises by ‖noise‖²/(2β), β = L+μ (smooth), and ‖∇F‖² ≥ 2μ(F-F°) "
    "(convex, and μ/2·‖x‖²)"
)
RIDGE = Setting("r = μ/2·‖x‖², step size 1/(L+μ)")
kept = L_s / (L_s + mu)  # of the gap, in a step
falls = Induction(T, gap0, lambda gap: kept * gap + d * sigma_n**2 / (2 * (L_s + mu)), given=A_STEP)

utility = Claim(
    id="dwang20.section3.1.5.dp_gd.utility",
    source=source,
    kind=Kind.UTILITY,
    says="Excess risk of the last iterate on strongly convex risks, for every T and noise.",
    assumes=[*losses, RIDGE],
    states=Le(excess_risk, kept**T * gap0 + d * sigma_n**2 / (2 * mu)),
    provenance=Provenance.CONSEQUENCE,
    checks=[Chain(excess_risk, Step("<=", STATEMENT, because=falls, uses=[RIDGE]))],
)
