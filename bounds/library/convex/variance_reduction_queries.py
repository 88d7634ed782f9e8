"""The privacy proof of dwang20, section 3.1.7: a step as two noisy queries, (3.11) to (3.14), and the constants of
(3.19) and (3.20).

With G = 1. The moments of the two queries, (3.13) and (3.15) to (3.18), stand in variance_reduction.py.
"""

from sympy import Eq, Expr, Integer, Le, Rational, Symbol, exp, expand, integrate, log, oo, pi, simplify, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, c1, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import lam, moment, sigma_1, sigma_2
from dpcheck.bounds.proving.derivations import gaussian
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, NoConstant

query_noise = quantity("query_noise", "noise of a whole step over G", printed="σ", latex=r"\sigma")
query_shift = quantity("query_shift", "how far a replaced record moves a query, over G", printed="‖q(D)-q(D')‖")
mean_gap = quantity("mean_gap", "distance of the means of two Gaussians", printed="‖P-Q‖", latex=r"\|P-Q\|")
more, extra = (Symbol(name, nonnegative=True) for name in ("more", "extra"))
big = Symbol("big", positive=True)
x = Symbol("x", real=True)


def deviation_of_sum() -> Expr:
    """Of two independent Gaussians: E(x+y)² = E x² + 2·E x·E y + E y², integrated."""
    one, other = gaussian(sigma_1), gaussian(sigma_2)
    cross = 2 * one.mean(one.variable) * other.mean(other.variable)
    return sqrt(one.mean(one.variable**2) + cross + other.mean(other.variable**2))


equation11 = Claim(
    id="dwang20.equation3.11",
    source=Source("dwang20", "equations (3.11) and (3.12), and the sentence after (3.20): M_i = M_i1 + M_i2"),
    kind=Kind.PRIVACY,
    says="A step is the sum of two noisy queries, and its noise the sum of theirs: variances add up.",
    states=Eq(query_noise, sqrt(sigma_1**2 + sigma_2**2)),
    checks=[Equals(deviation_of_sum, "independent noise, integrated")],
)

equation12 = Claim(
    id="dwang20.equation3.12",
    source=Source("dwang20", "equation (3.12), as (3.15) uses it"),
    kind=Kind.SENSITIVITY,
    says="The full gradient moves by at most 2/n when a record is replaced.",
    assumes=[Setting("‖∇f‖ ≤ 1")],
    states=Le(query_shift, 2 / n),
    checks=[AtMost((1 + 1) / n, "the two gradients of the replaced record, opposite for linear losses")],
)


def log_moment() -> Expr:
    """log ∫ P^(λ+1) Q^-λ for Gaussians of deviation σ₂ whose means lie `mean_gap` apart."""
    power = -(lam + 1) * (x - mean_gap) ** 2 / (2 * sigma_2**2) + lam * x**2 / (2 * sigma_2**2)
    centre = (lam + 1) * mean_gap  # complete the square: -(x - centre)²/(2σ²) + rest
    rest = simplify(expand(power + (x - centre) ** 2 / (2 * sigma_2**2)))
    density = exp(-(x**2) / (2 * sigma_2**2)) / (sigma_2 * sqrt(2 * pi))
    return rest + log(simplify(integrate(density, (x, -oo, oo))))


equation14 = Claim(
    id="dwang20.equation3.14",
    source=Source("dwang20", "equation (3.14) and the equality of (3.15), with the divergence of Definition 2.1.5"),
    kind=Kind.PRIVACY,
    says="The moment of order λ is λ times the divergence of order λ+1: of two Gaussians, λ(λ+1)‖P-Q‖²/(2σ₂²).",
    states=Eq(moment, lam * (lam + 1) * mean_gap**2 / (2 * sigma_2**2)),
    checks=[Equals(log_moment, "log ∫P^(λ+1)Q^-λ, the square completed")],
)

# (3.19), (3.20): T·moment ≤ λε/2 with a λ for which exp(-λε/2) ≤ δ. The ratio of T·moment to λε/2 is what must be
# bounded by constants: at least (λ+1)·ε/log(1/δ) up to constants, for (3.15), and λ·ε/log(1/δ), λ ≥ 1, for (3.13).
sigma2 = T * log(1 / delta) / (n**2 * eps**2)  # σ₁² and σ₂² with c₄ = c₅ = 1
full_share = 2 * lam * (lam + 1) * T / (n**2 * sigma2) / (lam * eps / 2)
drawn_share = lam**2 * T / (n**2 * sigma2) / (lam * eps / 2)
many_steps = {eps: big, T: 100 * big, n: 10, delta: Rational(1, 10), lam: 1}
order = 2 * log(1 / delta) / eps + 1  # the chosen order, rounded up

equation19 = Claim(
    id="dwang20.equation3.19",
    source=Source("dwang20", "equation (3.19) and the sentence before it"),
    kind=Kind.PRIVACY,
    says="For all ε ≤ c₃T/n² some σ₁ of order √(T·log(1/δ))/(nε) brings the moments of (3.13) below λε/2.",
    assumes=[eps <= c1 * T / n**2],
    states=Rate(ratio, Integer(1)),
    hidden=(c1,),
    checks=[
        NoConstant(drawn_share, many_steps, big, "orders are at least 1, and ε grows with T: 2λε/log(1/δ) has no bound")
    ],
)

equation19_corrected = Claim(
    id="dwang20.equation3.19.corrected",
    source=Source("dwang20", "equation (3.19)"),
    kind=Kind.PRIVACY,
    says="It does for ε at most log(1/δ), with the order 2·log(1/δ)/ε rounded up.",
    assumes=[eps <= log(1 / delta)],
    states=Rate(ratio, Integer(1)),
    corrects="dwang20.equation3.19",
    checks=[
        Follows(
            drawn_share.subs(lam, order), Integer(6), "2λε/log(1/δ) with λε ≤ 2·log(1/δ) + ε ≤ 3·log(1/δ)",
            {eps: log(1 / delta) / (1 + more)},
        )
    ],
)

equation20 = Claim(
    id="dwang20.equation3.20",
    source=Source("dwang20", "equation (3.20)"),
    kind=Kind.PRIVACY,
    says="For all ε ≤ c₃T/n² some σ₂ of that order brings the moments of (3.15) below λε/2.",
    assumes=[eps <= c1 * T / n**2],
    states=Rate(ratio, Integer(1)),
    hidden=(c1,),
    cites=[Cites("dwang20.equation3.15")],
    checks=[NoConstant(full_share, many_steps, big, "4(λ+1)ε/log(1/δ) has no bound, whatever the order")],
)

equation20_corrected = Claim(
    id="dwang20.equation3.20.corrected",
    source=Source("dwang20", "equation (3.20)"),
    kind=Kind.PRIVACY,
    says="It does for ε at most log(1/δ), with the order 2·log(1/δ)/ε rounded up.",
    assumes=[eps <= log(1 / delta)],
    states=Rate(ratio, Integer(1)),
    corrects="dwang20.equation3.20",
    checks=[
        Follows(
            full_share.subs(lam, order), Integer(16), "4(λ+1)ε/log(1/δ) with (λ+1)ε ≤ 2·log(1/δ) + 2ε",
            {eps: log(1 / delta) / (1 + more)},
        )
    ],
)
