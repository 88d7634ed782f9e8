"""DP-SVRG on batches: what Remark 3.1.1 of dwang20 asks for, the noise of (3.3) without a condition between ε, T, m, n.

A replaced record moves a step by 4G/b when it is drawn. Solver: dpcheck/solvers/convex/dp_svrg_minibatch.py.
"""

from sympy import Eq, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, batch, c, delta, eps, n
from dpcheck.bounds.library.convex.variance_reduction import inner, losses, reduced_gradients, sigma_n, stated_noise
from dpcheck.bounds.privacy.accountant import Accountant

released = reduced_gradients(T * inner, batch)

privacy = Claim(
    id="dwang20.theorem3.1.1.minibatch",
    source=Source("dwang20", "Theorem 3.1.1 and Remark 3.1.1, with b records drawn in each inner step", line=662),
    kind=Kind.PRIVACY,
    says="Batches of b ≥ nε/√(Tm) records keep the noise of (3.3) private for every ε up to 1, with c = 72.",
    assumes=[*losses, eps <= 1, batch >= n * eps / sqrt(T * inner), batch <= n],
    states=Eq(sigma_n, stated_noise.subs(c, 72)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.remark3.1.1",
    checks=[Accountant(released, "two dimensions or more, all noisy gradients seen")],
)
