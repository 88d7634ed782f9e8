"""Zero-concentrated differential privacy (dwang20, Definition 2.1.5 and Lemmas 2.1.8 to 2.1.10).

Checks by code: dpcheck/evidence/mechanisms/zcdp.py.
"""

from sympy import Eq, Expr, Le, Symbol, exp, integrate, log, oo, pi, simplify, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Source
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP
from dpcheck.bounds.language.symbols import Delta, delta, eps_out, quantity, sigma
from dpcheck.bounds.library.mechanisms.moments_accountant import tail
from dpcheck.bounds.proving.proofs import AtMost, Equals, Proof, Same, Units

rho = quantity("rho", "privacy parameter of zCDP", box=(1e-4, 1e2), printed="ρ", latex=r"\rho")
rho_1 = quantity("rho_1", "rho of the first mechanism", box=(1e-4, 1e2), printed="ρ₁", latex=r"\rho_1")
rho_2 = quantity("rho_2", "rho of the second mechanism", box=(1e-4, 1e2), printed="ρ₂", latex=r"\rho_2")
rho_out = quantity("rho_out", "rho of two mechanisms together", box=(1e-4, 1e2), printed="ρ'", latex=r"\rho'")
order = quantity("order", "order of a Renyi divergence, above 1", box=(1.001, 1e3), printed="α", latex=r"\alpha")
renyi = quantity("renyi", "Renyi divergence of an order", printed="D_α", latex=r"D_\alpha")

_x = Symbol("x", real=True)


def gaussian_divergence() -> Expr:
    """Of N(Δ, σ²) from N(0, σ²), by the footnote's integral."""
    power = -(order * (_x - Delta) ** 2 + (1 - order) * _x**2) / (2 * sigma**2)
    integral = integrate(exp(power.expand()), (_x, -oo, oo)) / (sqrt(2 * pi) * sigma)
    return simplify(log(simplify(integral)).expand(force=True) / (order - 1))


definition5 = Claim(
    id="dwang20.definition2.1.5",
    source=Source("dwang20", "Definition 2.1.5 and its footnote"),
    kind=Kind.IDENTITY,
    says="The divergence of the footnote between Gaussians Δ apart is linear in α, as the definition's ρα is.",
    assumes=[order > 1],
    states=Eq(renyi, order * Delta**2 / (2 * sigma**2)),
    checks=[Equals(gaussian_divergence, "the integral of P^α·Q^(1-α) over the line")],
)

_p = symbols("p1 p2", positive=True)  # P^α·Q^(1-α) at the outputs of the first mechanism,
_r = symbols("r1 r2", positive=True)  # and at those of the second
_each = [sum(_p), sum(_r)]

lemma8 = Claim(
    id="dwang20.lemma2.1.8",
    source=Source("dwang20", "Lemma 2.1.8"),
    kind=Kind.PRIVACY,
    says="Two mechanisms of ρ₁- and ρ₂-zCDP are (ρ₁+ρ₂)-zCDP together.",
    states=Eq(rho_out, rho_1 + rho_2),
    guarantee=ZCDP(rho_out),
    checks=[
        Proof(
            [
                Same(
                    "P^α·Q^(1-α) summed over pairs of outputs",
                    sum(p * r for p in _p for r in _r),
                    _each[0] * _each[1],
                ),
                Same(
                    "the logarithms add up, and so do their bounds ρ₁α and ρ₂α at every order",
                    (log(_each[0]) + log(_each[1])) / (order - 1),
                    log(_each[0] * _each[1]) / (order - 1),
                ),
            ],
            "the integrals multiply; if the second is chosen by the first, its bound holds whatever that put out",
        )
    ],
)

lemma9 = Claim(
    id="dwang20.lemma2.1.9",
    source=Source("dwang20", "Lemma 2.1.9"),
    kind=Kind.PRIVACY,
    says="Gaussian noise is Δ/(2σ²)-zCDP, with the sensitivity not squared.",
    states=Eq(rho, Delta / (2 * sigma**2)),
    guarantee=ZCDP(rho),
    checks=[
        AtMost(Delta**2 / (2 * sigma**2), "the divergence over α of Gaussians Δ apart, at every order"),
        Units(),
    ],
)

lemma9_corrected = Claim(
    id="dwang20.lemma2.1.9.corrected",
    source=Source("dwang20", "Lemma 2.1.9"),
    kind=Kind.PRIVACY,
    says="Gaussian noise is Δ²/(2σ²)-zCDP.",
    states=Eq(rho, Delta**2 / (2 * sigma**2)),
    guarantee=ZCDP(rho),
    corrects="dwang20.lemma2.1.9",
    checks=[Equals(lambda: gaussian_divergence() / order, "the divergence over α; it grows with the distance")],
)

_log = Symbol("_log", positive=True)  # ln(1/δ)
_best = 1 + sqrt(_log / rho)

lemma10 = Claim(
    id="dwang20.lemma2.1.10",
    source=Source("dwang20", "Lemma 2.1.10"),
    kind=Kind.PRIVACY,
    says="ρ-zCDP is (ρ + 2√(ρ ln(1/δ)), δ)-DP for any δ.",
    states=Le(eps_out, rho + 2 * sqrt(rho * log(1 / delta))),
    guarantee=ApproxDP(eps_out, delta),
    checks=[
        Proof(
            [
                *tail,
                Same(
                    "exp((α-1)(ρα - ε')) = δ at α = 1 + √(ln(1/δ)/ρ)",
                    (_best - 1) * (rho * _best - (rho + 2 * sqrt(rho * _log))),
                    -_log,
                ),
            ],
            "δ ≤ exp((α-1)(D_α - ε')), at the best order",
        )
    ],
)
