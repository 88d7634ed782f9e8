"""DP-LSAdam (lwang21, section 5.4.2; lssgd20, section 4.2): Adam on smoothed noisy gradients.

No theorem is stated. Its privacy is DP-LSSGD's, by post-processing; its experiments are in dp_lssgd_experiments.py.
Solver: dpcheck/solvers/nonconvex/dp_lsadam.py.
"""

from sympy import Eq, Integer

from dpcheck.bounds.language.claim import Kind, Provenance, Setting
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import delta, eps
from dpcheck.bounds.library.nonconvex.dp_lssgd import noise, nu, theorem1_corrected
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Step

FUNCTION = Setting("the iterates are a function of the noisy gradients alone")

privacy, privacy_v0 = both(
    "figure5.5.privacy", "figure5.privacy", places=("section 5.4.2, Figure 5.5", "section 4.2, Figure 5"),
    lines=(8742, 198), kind=Kind.PRIVACY,
    says="The budget grows at exactly the same speed for DP-SGD, DP-LSSGD, DP-Adam and DP-LSAdam: one noise does for "
    "all, here that of lssgd20's Theorem 1 where it does for DP-LSSGD.",
    assumes=[*theorem1_corrected.assumes, FUNCTION],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.READING,
    checks=[Chain(Cites("lssgd20.theorem1.corrected"), Step("<=", STATEMENT, uses=[FUNCTION]))],
)
