"""Zero-concentrated differential privacy (dwang20, Lemmas 2.1.8 to 2.1.10).

Checks by code: dpcheck/evidence/mechanisms/zcdp.py.
"""

from sympy import Eq, Expr, Le, Symbol, exp, integrate, log, oo, pi, simplify, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP
from dpcheck.bounds.language.symbols import Delta, delta, eps_out, quantity, sigma
from dpcheck.bounds.proving.proofs import AtMost, Equals, Units

rho = quantity("rho", "privacy parameter of zCDP", box=(1e-4, 1e2), printed="ρ", latex=r"\rho")
rho_1 = quantity("rho_1", "rho of the first mechanism", box=(1e-4, 1e2), printed="ρ₁", latex=r"\rho_1")
rho_2 = quantity("rho_2", "rho of the second mechanism", box=(1e-4, 1e2), printed="ρ₂", latex=r"\rho_2")
rho_out = quantity("rho_out", "rho of two mechanisms together", box=(1e-4, 1e2), printed="ρ'", latex=r"\rho'")
_x, _order = Symbol("x", real=True), Symbol("order", positive=True)


def gaussian_divergence() -> Expr:
    """D_α(N(Δ, σ²) ‖ N(0, σ²))/α, by the integral in the footnote to Definition 2.1.5: the same at every order α."""
    power = -(_order * (_x - Delta) ** 2 + (1 - _order) * _x**2) / (2 * sigma**2)
    integral = integrate(exp(power.expand()), (_x, -oo, oo)) / (sqrt(2 * pi) * sigma)
    return simplify(log(simplify(integral)).expand(force=True) / (_order - 1) / _order)


lemma8 = Claim(
    id="dwang20.lemma2.1.8",
    source=Source("dwang20", "Lemma 2.1.8", line=418),
    kind=Kind.PRIVACY,
    says="Two mechanisms of ρ₁- and ρ₂-zCDP are (ρ₁+ρ₂)-zCDP together.",
    states=Eq(rho_out, rho_1 + rho_2),
    guarantee=ZCDP(rho_out),
)

lemma9 = Claim(
    id="dwang20.lemma2.1.9",
    source=Source("dwang20", "Lemma 2.1.9", line=424),
    kind=Kind.PRIVACY,
    says="Gaussian noise is Δ/(2σ²)-zCDP, with the sensitivity not squared.",
    states=Eq(rho, Delta / (2 * sigma**2)),
    guarantee=ZCDP(rho),
    checks=[AtMost(Delta**2 / (2 * sigma**2), "the divergence over α of Gaussians Δ apart, at every order"), Units()],
)

lemma9_corrected = Claim(
    id="dwang20.lemma2.1.9.corrected",
    source=Source("dwang20", "Lemma 2.1.9", line=424),
    kind=Kind.PRIVACY,
    says="Gaussian noise is Δ²/(2σ²)-zCDP.",
    states=Eq(rho, Delta**2 / (2 * sigma**2)),
    guarantee=ZCDP(rho),
    corrects="dwang20.lemma2.1.9",
    checks=[Equals(gaussian_divergence, "the integral of P^α·Q^(1-α) over the line, its log over α(α-1)")],
)

lemma10 = Claim(
    id="dwang20.lemma2.1.10",
    source=Source("dwang20", "Lemma 2.1.10", line=426),
    kind=Kind.PRIVACY,
    says="ρ-zCDP is (ρ + 2√(ρ ln(1/δ)), δ)-DP for any δ.",
    states=Le(eps_out, rho + 2 * sqrt(rho * log(1 / delta))),
    guarantee=ApproxDP(eps_out, delta),
)
