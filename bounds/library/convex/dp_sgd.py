"""DP-SGD: noisy gradients of random batches, the baseline [29] of section 3.1 of dwang20, with Lemma 2.1.7's noise.

Solver: dpcheck/solvers/convex/dp_sgd.py.
"""

from sympy import Eq, Integer, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, delta, eps, gradients, m, n
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G, losses, sigma_n
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Follows

share = batch / n
multiplier = c * share * sqrt(T * log(1 / delta)) / eps  # σ of Lemma 2.1.7


released = Release(2 * G / batch, Gaussian(sigma_n), WithoutReplacement(batch, n), T)

privacy = Claim(
    id="dwang20.section3.1.5.dp_sgd",
    source=Source("dwang20", "section 3.1.5, baseline DP-SGD, with the noise (G/n)·σ of Lemma 2.1.7"),
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which (G/n)·cq√(T·log(1/δ))/ε on a batch's mean is enough, for ε < c₁q²T, q = b/n.",
    assumes=[*losses, eps < c1 * share**2 * T, batch <= n],
    states=Eq(sigma_n, G / n * multiplier),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites=[Cites("dwang20.lemma2.1.7", {m: batch})],
    checks=[Accountant(released, "gradients G and -G of the differing record; G/n stands for G/b")],
)

privacy_corrected = Claim(
    id="dwang20.section3.1.5.dp_sgd.corrected",
    source=Source("dwang20", "section 3.1.5, baseline DP-SGD, with Lemma 2.1.7 as its source has it"),
    kind=Kind.PRIVACY,
    says="(G/b)·σ with c = 3 and c₁ = 1, for ε at most 1.",
    assumes=[*losses, eps <= 1, eps <= share**2 * T, batch <= n],
    states=Eq(sigma_n, (G / batch * multiplier).subs(c, 3)),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.section3.1.5.dp_sgd",
    checks=[Accountant(released, "gradients G and -G of the differing record, all noisy gradients seen")],
)

cost = Claim(
    id="dwang20.section3.1.3.dp_sgd",
    source=Source("dwang20", "section 3.1.3, after Theorem 3.1.2: the cost of DP-SGD"),
    kind=Kind.COST,
    says="Record gradients of DP-SGD: n² steps on one record each.",
    assumes=[Setting("T = n² steps, as in Bassily et al.")],
    states=Rate(gradients, n**2),
    checks=[Follows(n**2, Integer(1), "one record gradient a step")],
)
