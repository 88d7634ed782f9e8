"""Clipped DP gradient EM, the baseline of dwang20 (section 7.2.3, Algorithm 7.2.55): its noise, and a number for c.

Solver: dpcheck/solvers/latent/clipped_dp_gradient_em.py; with k components: clipped_dp_em.py.
"""

from sympy import Eq, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, delta, eps, n, quantity, sigma_g
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

clip = quantity("clip_em", "norm that gradients are clipped to", loss=1, parameter=-1, printed="C", latex="C")
moved = quantity("moved_clip_em", "l2 sensitivity of the clipped gradient", loss=1, parameter=-1, printed="Δ_g")
one = quantity("one_clip_em", "norm of a record's clipped gradient", loss=1, parameter=-1, printed="‖∇q̄‖")
other = quantity("other_clip_em", "that of another record's", loss=1, parameter=-1, printed="‖∇q̄'‖")

source = Source("dwang20", "Algorithm 7.2.55, line 4", 9552)
clipped = Setting("∇q̄ = ∇q/max{1, ‖∇q‖/C}")
sensitivity = Claim(
    id="dwang20.algorithm7.2.55.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 7.2.55, line 3: what its noise must hide", 9550),
    says="One record moves the mean of clipped gradients by at most 2C/n.",
    assumes=[clipped], states=Le(moved, 2 * clip / n),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            moved,
            Step("<=", (one + other) / n, because=Premise("one of n terms gives way to another; triangle")),
            Step("<=", STATEMENT, because=Slack({
                "a clipped gradient has norm C at most": (clip - one) / n, "so has another": (clip - other) / n,
            }), uses=[clipped]),
        )
    ],
)
released = Release(sensitivity.formula, Gaussian(sigma_g), steps=T)
OPPOSITE = "a record whose gradient, longer than C, turns round"

privacy = Claim(
    id="dwang20.algorithm7.2.55", kind=Kind.PRIVACY, source=source,
    says="Noise of variance C²·cT log(1/δ)/(n²ε²), for some c, makes it (ε, δ)-private.",
    assumes=[clipped], added=[eps <= 1, delta <= Rational(1, 2)],
    states=Eq(sigma_g, clip * sqrt(c * T * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta), hidden=[c],
    checks=[Accountant(released, OPPOSITE)],
)
explicit = Claim(
    id="dwang20.algorithm7.2.55.explicit", kind=Kind.PRIVACY, source=source,
    says="c = 12 is enough.",
    assumes=[clipped], added=[eps <= 1, delta <= Rational(1, 2)],
    states=Eq(sigma_g, clip * sqrt(12 * T * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta), provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(released, OPPOSITE)],
)

