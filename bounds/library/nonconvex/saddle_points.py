"""Escaping saddle points privately (dwang20, section 4.3): what its five algorithms share.

Symbols, what is released, how long Gaussian noise is (Lemma 4.3.11), how far a record moves a Hessian. The dimension,
printed p or d, is d; the Lipschitz constant, printed L or G, is G. γ stands for the printed ξ or ζ.
"""

from sympy import Eq, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import LIKELY, T, c, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

# Symbols ---------------------------------------------------------------------------------------------
M = quantity("M_second", "smoothness of each loss, that of section 4.3", loss=1, parameter=-2, printed="M", latex="M")
rho_h = quantity(
    "rho_h", "Lipschitz constant of the Hessian of each loss", loss=1, parameter=-3, printed="ρ", latex=r"\rho"
)
alpha = quantity("alpha_sosp", "gradient norm aimed at", loss=1, parameter=-1, printed="α", latex=r"\alpha")
B = quantity("B_risk", "bound on the empirical risk", loss=1, printed="B", latex="B")
rank = quantity("hessian_rank", "rank of a record's Hessian", box=(1, 1e4), integer=True, printed="k", latex="k")
sigma_H = quantity(
    "sigma_H", "noise on each entry of a Hessian", loss=1, parameter=-2, printed="σ₂", latex=r"\sigma_2"
)
moved_H = quantity(
    "moved_H", "Frobenius norm of the difference of two data sets' Hessians", loss=1, parameter=-2,
    printed="‖∇²L(D)-∇²L(D')‖_F", latex=r"\|\nabla^2L(D)-\nabla^2L(D')\|_F",
)
bend = quantity("bend_H", "operator norm of a record's Hessian", loss=1, parameter=-2, printed="‖∇²ℓ‖₂")
other_bend = quantity("other_bend_H", "that of another record", loss=1, parameter=-2, printed="‖∇²ℓ'‖₂")
long_noise = quantity(
    "long_noise", "length of Gaussian noise", loss=1, parameter=-1, printed="‖ε_t‖", latex=r"\|\varepsilon_t\|",
    holds=LIKELY,
)
spectral = quantity(
    "spectral", "operator norm of a symmetric Gaussian matrix", loss=1, parameter=-2, printed="‖H_t‖₂",
    latex=r"\|H_t\|_2",
)
g_size = quantity("g_size", "||grad F(w_t)||", loss=1, parameter=-1, printed="‖∇F‖", latex=r"\|\nabla F\|")
e_size = quantity("e_size", "length of the noise of a step", loss=1, parameter=-1, printed="‖ε‖", latex=r"\|\epsilon\|")
H_size = quantity("H_size", "operator norm of a step's noise", loss=1, parameter=-2, printed="‖H‖₂", latex=r"\|H\|_2")
F_now = quantity("F_saddle", "F(w_t)", loss=1, printed="F(w_t)", latex="F(w_t)")
F_next = quantity("F_saddle_next", "F(w_(t+1))", loss=1, printed="F(w_(t+1))", latex="F(w_{t+1})")
sosp = quantity(
    "sosp_level", "least α for which the output is an α-SOSP", loss=1, parameter=-1, printed="α(w_out)",
    latex=r"\alpha(w_{out})", holds=LIKELY,
)
enough = quantity("enough", "records that are enough", box=(1, 1e9), printed="n", latex="n")

a = log(1 / delta)
hessian_lipschitz = Setting("the Hessian of each loss is ρ-Lipschitz")
bounded = [lipschitz(G), smooth(M)]  # what needs no ρ
losses = [*bounded, hessian_lipschitz]  # Assumption 4.3.1, but for B
extra, more, rest, slack = (Symbol(name, nonnegative=True) for name in ("extra", "more", "rest", "slack"))
bends = {bend: M / (1 + more), other_bend: M / (1 + rest)}
usual = {delta: exp(-log(2) - extra)}  # all δ up to 1/2


# What is released ------------------------------------------------------------------------------------
def gradients(steps: object = T) -> Release:
    """Noisy full gradients, two of which differ by up to 2G/n."""
    return Release(2 * G / n, Gaussian(sigma_n), steps=steps)


def hessians(steps: object = T, dimension: Symbol = d) -> Release:
    """Upper triangles of noisy Hessians: they differ by up to 2M√d/n in Frobenius norm, 2M√k/n if of rank k."""
    return Release(2 * M * sqrt(dimension) / n, Gaussian(sigma_H), steps=steps)


def in_turn(dimension: Symbol = d) -> Composed:
    """T times a noisy gradient, then a noisy Hessian."""
    return Composed((gradients(), hessians(dimension=dimension)), in_turn=True)


SENSITIVITIES = "T noisy gradients 2G/n apart and T noisy Hessians 2M√d/n apart in Frobenius norm"
by_moments = G * sqrt(c * T * a) / (n * eps)
hessian_by_moments = M * sqrt(c * d * T * a) / (n * eps)

sensitivity = Claim(
    id="dwang20.theorem4.3.4.sensitivity",
    source=Source("dwang20", "proof of Theorem 4.3.4, the sensitivity of the Hessian", line=4406),
    kind=Kind.PRIVACY,
    says="How far one record moves the Hessian of the risk, and so its upper triangle.",
    assumes=[*bounded, bend <= M, other_bend <= M],
    states=Le(moved_H, 2 * M * sqrt(d) / n),
    checks=[
        Chain(
            moved_H,
            Step("<=", sqrt(d) * (bend + other_bend) / n,
                 because=Premise("one of n Hessians changes, and ‖A-A'‖_F ≤ √d‖A-A'‖₂ ≤ √d(‖A‖₂ + ‖A'‖₂)")),
            Step("<=", STATEMENT, where=bends),
        )
    ],
)

of_rank_k = Setting("a record's Hessian has rank k, a regulariser that all share apart")
low_rank = Claim(
    id="dwang20.theorem4.3.4.low_rank",
    source=Source("dwang20", "proof of Theorem 4.3.4, where a record's Hessian has rank k", line=4406),
    kind=Kind.PRIVACY,
    says="One record of a linear model has a Hessian of rank k = 1: noise on Hessians may be less by √d.",
    assumes=[*bounded, bend <= M, other_bend <= M, of_rank_k],
    states=Le(moved_H, 2 * M * sqrt(rank) / n),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            moved_H,
            Step("<=", (sqrt(rank) * bend + sqrt(rank) * other_bend) / n,
                 because=Premise("one of n Hessians changes, ‖A-A'‖_F ≤ ‖A‖_F + ‖A'‖_F, and ‖A‖_F ≤ √k‖A‖₂ at rank k"),
                 uses=[of_rank_k]),
            Step("<=", STATEMENT, where=bends),
        )
    ],
)

# How long noise is -----------------------------------------------------------------------------------
lemma11 = Claim(
    id="dwang20.lemma4.3.11.vector",
    source=Source("dwang20", "Lemma 4.3.11, vectors", line=4418),
    kind=Kind.UTILITY,
    says="The length of Gaussian noise. (At ζ = 1/2 and large p it is false: half of all draws are longer than √p·σ.)",
    added=[gamma <= Rational(1, 10)],
    states=Le(long_noise, sqrt(2 * d) * sigma_n * log(1 / gamma)),
    checks=[
        Chain(
            long_noise,
            Step("<=", sigma_n * (sqrt(d) + sqrt(2 * log(1 / gamma))), because=Premise(
                "E‖x‖ ≤ √p·σ, and Gaussian concentration")),
            Step("<=", STATEMENT, where={d: (1 + more) ** 2, gamma: exp(-((Rational(3, 2) + rest) ** 2))}),
        )
    ],
)

mean_spectral = quantity("mean_spectral", "mean operator norm", loss=1, parameter=-2, printed="E‖H_t‖₂")
C = quantity("C_spectral", "hidden constant of a random matrix", box=(1e-3, 1e3), printed="C", latex="C")

short_matrix = (
    Step("<=", mean_spectral + sqrt(2) * sqrt(d) * sigma_H, because=Premise(
        "Gaussian concentration, with chance 1 - e^(-p/2): ‖Z‖₂ moves by at most √2 times the entries drawn")),
    Step("<=", 5 * sqrt(d) * sigma_H, because=Slack(
        given={"E‖Z‖₂ ≤ (2√p+√2)σ (Slepian, over ±uᵀZu)": (2 + sqrt(2)) * sqrt(d) * sigma_H - mean_spectral},
        seen=[(3 - 2 * sqrt(2)) * sqrt(d) * sigma_H])),
    Step("=", STATEMENT),
)

lemma11_matrix = Claim(
    id="dwang20.lemma4.3.11.matrix",
    source=Source("dwang20", "Lemma 4.3.11, symmetric matrices", line=4420),
    kind=Kind.UTILITY,
    says="There is a C with which noise on a symmetric matrix has operator norm at most C√p·σ, with chance 1 - 1/p.",
    states=Le(spectral, C * sqrt(d) * sigma_H),
    hidden=(C,),
    checks=[Chain(spectral, *short_matrix, choosing={C: Rational(5)})],
)

# Lemma 4.3.8: the same for T steps with the noise of section 4.3.1 ------------------------------------------
lemma8 = Claim(
    id="dwang20.lemma4.3.8.gradient",
    source=Source("dwang20", "Lemma 4.3.8, (4.67); c is c₂, γ is ξ", line=4326),
    kind=Kind.UTILITY,
    says="How long the noise on T gradients is at most.",
    assumes=[*bounded, Eq(sigma_n, by_moments)],
    added=[gamma <= Rational(1, 2)],
    states=Le(long_noise, sqrt(c * a * T * d) * G * log(8 * T / gamma) / (n * eps)),
    checks=[
        Chain(
            long_noise,
            Step("<=", sigma_n * (sqrt(d) + sqrt(2 * log(2 * T / gamma))), because=Premise(
                "E‖x‖ ≤ √p·σ, and Gaussian concentration; each of T fails with chance ξ/(2T)")),
            Step("<=", STATEMENT, where={d: (1 + more) ** 2, delta: exp(-extra),
                                         gamma: 2 * T * exp(-((Rational(11, 10) + rest) ** 2))}),
        )
    ],
)

lemma8_matrix = Claim(
    id="dwang20.lemma4.3.8.hessian",
    source=Source("dwang20", "Lemma 4.3.8, (4.68); c is c₃", line=4328),
    kind=Kind.UTILITY,
    says="There is a C with which each of T noises on Hessians has operator norm at most Err₂, with chance 1 - T/p.",
    assumes=[*bounded, Eq(sigma_H, hessian_by_moments)],
    states=Le(spectral, C * sqrt(c * a * T) * M * d / (n * eps)),
    hidden=(C,),
    checks=[Chain(spectral, *short_matrix, choosing={C: Rational(5)})],
)
