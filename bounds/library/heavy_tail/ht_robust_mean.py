"""A private mean of numbers with a bounded second moment (dwang20, section 3.2.4, (3.64) to (3.81)).

Each record goes through φ, soft and bounded, after a multiplicative normal noise that is averaged out; the mean gets
Gaussian noise. In the text the width of the multiplicative noise is 1/√β and the failure probability δ'; here they are
1/√κ and γ. Solver: dpcheck/solvers/heavy_tail/ht_robust_mean.py; for practice, dpcheck.robust_mean.
"""

from functools import cache

from sympy import Eq, Expr, Le, Rational, Symbol, erfc, exp, expand, integrate, log, pi, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import LIKELY, Delta, c, delta, eps, gamma, n, quantity, sigma
from dpcheck.bounds.library.mechanisms.gaussian import Phi
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals

v = quantity("v_moment", "bound on the second moment of a number", parameter=2, printed="v", latex="v")
s = quantity("s_trunc", "size from which on φ holds a number down", parameter=1, printed="s", latex="s")
kappa = quantity("kappa_tr", "1 over the variance of the multiplicative noise", printed="β", latex=r"\beta")
inside = quantity("phi_arg", "an argument of φ", box=(1e-3, 1e3), printed="x", latex="x")
phi_size = quantity("phi_size", "|φ(x)|", printed="|φ(x)|", latex=r"|\phi(x)|")
a = quantity("phi_centre", "mean of φ's argument", box=(1e-3, 1e6), printed="a", latex="a")
b = quantity("phi_spread", "deviation of φ's argument", box=(1e-3, 1e6), printed="b", latex="b")
smoothed = quantity(
    "phi_smoothed", "E φ(a + b N)", printed="E φ(a+b√β η)", latex=r"\mathbb{E}\phi(a+b\sqrt{\beta}\eta)"
)
growth = quantity("growth_phi", "E log E exp φ(θx/s) - E x/s, θ = 1+η", printed="log E e^φ", latex=r"\log Ee^\phi")
entropy = quantity("entropy_eta", "relative entropy of the laws of 1+η and η", printed="KL", latex=r"\mathrm{KL}")
theta2 = quantity("theta2", "E (1+η)²", printed="E(1+η)²", latex=r"\mathbb{E}(1+\eta)^2")
mean_error = quantity(
    "robust_mean_error", "distance of the robust mean from E x", parameter=1, printed="|x̂ - E x|",
    latex=r"|\hat x-\mathbb{E}x|", holds=LIKELY,
)
private_error = quantity(
    "private_mean_error", "distance of the noisy robust mean from E x", parameter=1, printed="|A(D) - E x|",
    latex=r"|\mathcal{A}(D)-\mathbb{E}x|", holds=LIKELY,
)

PHI_MAX = 2 * sqrt(2) / 3
ell = log(1 / gamma)
_u, _w, _z = symbols("u w z", nonnegative=True)
_x = Symbol("x", real=True)
half = sqrt(log(2))
usual = {gamma: exp(-((half + _w) ** 2)), delta: exp(-((half + _z) ** 2)), eps: 1 / (1 + _u)}  # γ, δ ≤ 1/2 and ε ≤ 1

# φ ---------------------------------------------------------------------------------------------------
bounded = Claim(
    id="dwang20.equation3.65", kind=Kind.IDENTITY,
    source=Source("dwang20", "(3.65), “a key property”", line=1587),
    says="φ(x) = x - x³/6 up to √2, and constant beyond, is at most 2√2/3 in size.",
    assumes=[inside <= sqrt(2)],
    states=Le(phi_size, PHI_MAX),
    checks=[
        Chain(
            phi_size,
            Step("<=", inside - inside**3 / 6, because=Premise("φ is odd, and goes on as its value at √2")),
            Step("<=", STATEMENT, because=Slack(seen=[(sqrt(2) - inside) ** 2 * (2 * sqrt(2) + inside) / 6])),
        )
    ],
)

low, high = (sqrt(2) - a) / b, (sqrt(2) + a) / b  # V₋ and V₊ of (3.69)
F_low, F_high = Phi(-low), Phi(-high)
E_low, E_high = exp(-(low**2) / 2), exp(-(high**2) / 2)
correction = (  # C(a, b) = T₁ + ... + T₅
    PHI_MAX * (F_low - F_high)
    - (a - a**3 / 6) * (F_low + F_high)
    + b / sqrt(2 * pi) * (1 - a**2 / 2) * (E_high - E_low)
    + a * b**2 / 2 * (F_high + F_low + (high * E_high + low * E_low) / sqrt(2 * pi))
    + b**3 / (6 * sqrt(2 * pi)) * ((2 + low**2) * E_low - (2 + high**2) * E_high)
)


@cache
def integrated() -> Expr:
    """E φ(a + b N): the polynomial between -√2 and √2, and the constants outside."""
    argument = a + b * _x
    between = integrate(expand(argument - argument**3 / 6) * exp(-(_x**2) / 2) / sqrt(2 * pi), (_x, -high, low))
    return expand((between + PHI_MAX * (F_low - F_high)).rewrite(erfc))


closed_form = Claim(
    id="dwang20.equation3.68", kind=Kind.IDENTITY,
    source=Source("dwang20", "(3.68), with (3.69) to (3.77); for a > 0, as φ is odd", line=1603),
    says="The mean of φ over normal noise is a(1-b²/2) - a³/6 + C(a, b).",
    states=Eq(smoothed, a * (1 - b**2 / 2) - a**3 / 6 + correction),
    checks=[Equals(integrated, "φ integrated against the normal density, piece by piece")],
)

# Error without privacy -------------------------------------------------------------------------------
moments = [Setting("n independent numbers with E x² ≤ v")]
explicit_error = Claim(
    id="dwang20.lemma3.2.3.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.3, for any s and β, with numbers", line=1655),
    says="The robust mean errs by at most v/(2s)·(1+1/β) + s/n·(β/2 + log(2/γ)).",
    assumes=moments,
    states=Le(mean_error, v / (2 * s) * (1 + 1 / kappa) + s / n * (kappa / 2 + log(2 / gamma))),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            mean_error,
            Step("<=", s * growth + s / n * (entropy + log(2 / gamma)), because=Premise(
                "the PAC-Bayes inequality for θ = 1+η, on each side, as -log(1-u+u²/2) ≤ φ(u) ≤ log(1+u+u²/2)"),
                 uses=moments),
            Step("<=", v * theta2 / (2 * s) + s / n * (entropy + log(2 / gamma)), because=Premise(
                "log(1+u) ≤ u and E θ = 1: of E log E exp φ(θx/s) beyond E x/s there is E θ²·E x²/(2s²) at most"),
                 uses=moments),
            Step("<=", STATEMENT, because=Slack({
                "E θ² = 1 + 1/β under N(1, 1/β)": v / (2 * s) * (1 + 1 / kappa - theta2),
                "N(1, 1/β) is β/2 from N(0, 1/β) in relative entropy": s / n * (kappa / 2 - entropy)})),
        )
    ],
)

tuned = {kappa: 2 * ell, s: sqrt(n * v / (2 * ell))}
lemma3 = Claim(
    id="dwang20.lemma3.2.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 3.2.3, (3.79)", line=1655),
    says="With β = 2 log(1/γ) and s = √(nv/(2 log(1/γ))) the robust mean errs by O(√(v log(1/γ)/n)).",
    assumes=moments,
    added=[gamma <= Rational(1, 2)],
    states=Rate(mean_error, sqrt(v * ell / n)),
    checks=[
        Chain(
            mean_error,
            Step("<=", because=Cites("dwang20.lemma3.2.3.explicit", tuned)),
            Step("<=", 4 * STATEMENT, where={gamma: usual[gamma]}),
        )
    ],
)

# Privacy ---------------------------------------------------------------------------------------------
sensitivity = Claim(
    id="dwang20.equation3.80.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "after Lemma 3.2.3", line=1658),
    says="One record moves the robust mean by at most 4√2/3·s/n.",
    states=Le(Delta, 4 * sqrt(2) / 3 * s / n),
    checks=[
        Chain(
            Delta,
            Step("<=", 2 * s / n * phi_size, because=Premise("the mean of φ over noise lies between φ's ends")),
            Step("<=", because=Cites("dwang20.equation3.65", {inside: sqrt(2)})),
            Step("<=", STATEMENT),
        )
    ],
)
released = Release(sensitivity.formula, Gaussian(sigma))

privacy = Claim(
    id="dwang20.equation3.80", kind=Kind.PRIVACY,
    source=Source("dwang20", "(3.80)", line=1662),
    says="The robust mean with Gaussian noise of variance O(s² log(1/δ)/(ε²n²)) is (ε, δ)-private.",
    added=[eps <= 1, delta <= Rational(1, 2)],
    states=Eq(sigma, s * sqrt(c * log(1 / delta)) / (eps * n)),
    guarantee=ApproxDP(eps, delta),
    hidden=[c],
    checks=[Accountant(released, "all other records anywhere, one from far below to far above")],
)

explicit = Claim(
    id="dwang20.equation3.80.explicit", kind=Kind.PRIVACY,
    source=Source("dwang20", "(3.80), with a number", line=1662),
    says="c = 9 is enough.",
    added=[eps <= 1, delta <= Rational(1, 2)],
    states=Eq(sigma, 3 * s * sqrt(log(1 / delta)) / (eps * n)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(released, "all other records anywhere, one from far below to far above")],
)

theorem6 = Claim(
    id="dwang20.theorem3.2.6", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.6, (3.81)", line=1666),
    says="The private robust mean errs by O(√(v log(1/δ) log(1/γ)/(nε²))).",
    assumes=moments,
    added=[gamma <= Rational(1, 2), eps <= 1, delta <= Rational(1, 2)],
    states=Rate(private_error, sqrt(v * log(1 / delta) * ell / (n * eps**2))),
    checks=[
        Chain(
            private_error,
            Step("<=", mean_error + sigma * sqrt(6 * ell), because=Premise(
                "each but for 2γ³ ≤ γ/2, as Gaussian noise is beyond σ√(2 log(2/p)) with probability at most p")),
            Step("<=", because=Cites("dwang20.lemma3.2.3.explicit", {**tuned, gamma: 2 * gamma**3})),
            Step("=", because=Cites("dwang20.equation3.80.explicit", {s: tuned[s]})),
            Step("<=", 12 * STATEMENT, where=usual),
        )
    ],
)
