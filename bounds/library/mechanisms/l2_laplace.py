"""Noise with density proportional to exp(-ε‖z‖₂/Δ) (zhang17, Algorithm 1 line 5; Lemma 6)."""

from sympy import Eq

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import Delta, d, eps, noise_norm2, sigma
from dpcheck.bounds.privacy.laws import L2Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.derivations import Expectation, l2_laplace_length
from dpcheck.bounds.proving.proofs import AtMost

released = Release(Delta, L2Laplace(sigma))  # a query of l2 sensitivity Δ

algorithm1_pure = Claim(
    id="zhang17.algorithm1.pure",
    source=Source("zhang17", "Algorithm 1, line 5", line=116),
    kind=Kind.PRIVACY,
    says="Noise with density proportional to exp(-ε‖z‖/Δ) makes a query of l2 sensitivity Δ ε-private.",
    states=Eq(sigma, Delta / eps),
    guarantee=PureDP(eps),
    checks=[AtMost(Delta / sigma, "log-densities of scale σ differ by at most ‖q-q'‖₂/σ", against=eps)],
)

lemma6 = Claim(
    id="zhang17.lemma6",
    source=Source("zhang17", "Lemma 6", line=416),
    kind=Kind.IDENTITY,
    says="The mean squared norm of noise with density proportional to exp(-‖z‖/σ).",
    states=Eq(noise_norm2, d * (d + 1) * sigma**2),
    checks=[Expectation(lambda r: r**2, l2_laplace_length(d, sigma), "the length has density r^(d-1)·exp(-r/σ)")],
)
