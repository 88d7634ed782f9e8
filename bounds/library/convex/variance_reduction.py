"""Noisy variance-reduced gradients (dwang20, section 3.1): what DP-SVRG and its kin share.

The symbols of the section, what a run releases, Lemmas 3.1.1 to 3.1.4, the moments (3.13) and (3.15) of the privacy
proof, and one noisy proximal step with its variance (3.26). The dimension, printed p, is d here. In proofs about a
step vectors stand in one coordinate. Loop: dpcheck/kernels/variance_reduction.py.
"""

from dataclasses import replace
from typing import Any

from sympy import Eq, Le, Symbol, log, sqrt, symbols

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, eta, mu, n, quantity
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

# The symbols of section 3.1 ------------------------------------------------------------------------
G = quantity("G", "bound on the gradient of each loss", loss=1, parameter=-1)
L_s = quantity(
    "L_smooth", "smoothness of each loss, its regulariser apart", loss=1, parameter=-2, printed="L", latex="L"
)
inner = quantity(
    "inner", "steps of an epoch (of the zeroth, where they double)", box=(1, 1e6), integer=True, printed="m", latex="m"
)
sigma_n = quantity(
    "sigma_n", "noise on each coordinate of a gradient", loss=1, parameter=-1, printed="σ", latex=r"\sigma"
)
gap0 = quantity("gap0", "F(x_0) - F(x*) with regularisers", loss=1, printed="g₀", latex="g_0")
gap_x = quantity("gap_x", "F(x_(t-1)) - F(x*) with regularisers", loss=1, printed="g", latex="g")
gap_next = quantity("gap_next", "F(x_t) - F(x*) with regularisers", loss=1, printed="g⁺", latex="g^+")
gap_snap = quantity("gap_snap", "F(x~) - F(x*) with regularisers", loss=1, printed="g̃", latex=r"\tilde g")
variance = quantity(
    "variance", "E ||v - grad F||^2", loss=2, parameter=-2, printed="E‖v-∇F‖²", latex=r"\mathbb{E}\|v-\nabla F\|^2"
)
bregman = quantity(
    "bregman", "F(x~) - F(y) - <grad F(y), x~ - y>", loss=1, printed="D_F(x̃,y)", latex=r"D_F(\tilde x,y)"
)
inner_g = quantity("inner_g", "<g, z - z*>", loss=1, printed="⟨g,z-z°⟩", latex=r"\langle g,z-z^*\rangle")
inner_v = quantity("inner_v", "<v, x_j - u>", loss=1, printed="⟨v,x_j-u⟩", latex=r"\langle v,x_j-u\rangle")
gamma_p = quantity("gamma_p", "weight of a proximal term", loss=1, parameter=-2, printed="γ", latex=r"\gamma")
near = quantity("near", "||z_0 - z*|| or ||x_(j-1) - x_j||", parameter=1, printed="a", latex="a")
away = quantity("away", "||z - z_0|| or ||x_(j-1) - u||", parameter=1, printed="b", latex="b")
apart = quantity("apart", "||z - z*|| or ||x_j - u||", parameter=1, printed="e", latex="e")
r_u = quantity("r_u", "r(u)", loss=1, printed="r(u)", latex="r(u)")
r_x = quantity("r_x", "r(x_j)", loss=1, printed="r(x_j)", latex="r(x_j)")
moment = quantity("moment", "log moment of the privacy loss of an order", printed="α_M", latex=r"\alpha_M")
lam = quantity("lam", "order of a moment", box=(1, 1e3), integer=True, printed="λ", latex=r"\lambda")
sigma_1 = quantity("sigma_1", "noise for the sampled difference over G", printed="σ₁", latex=r"\sigma_1")
sigma_2 = quantity("sigma_2", "noise for the full gradient over G", printed="σ₂", latex=r"\sigma_2")

losses = [convex(), smooth(L_s), lipschitz(G)]
R_CONVEX, R_STRONG = Setting("r convex"), Setting("r μ-strongly convex")
composite, regularised = [*losses, R_CONVEX], [*losses, R_STRONG]
strong = [*regularised, mu <= L_s]
kappa = L_s / mu
stated_noise = G * sqrt(c * T * inner * log(1 / delta)) / (n * eps)  # (3.3)


# What a run releases -------------------------------------------------------------------------------
def reduced_gradients(steps: Any, batch: Any = 1) -> Release:
    """All noisy gradients: a replaced record moves the drawn differences by 4G/b and the full gradient by 2G/n."""
    drawn = WithoutReplacement(batch, n)
    return Release(4 * G / batch, Gaussian(sigma_n), drawn, steps, always=2 * G / n)


def on_a_line(released: Release) -> Release:
    """In one dimension all drawn differences have the sign of x - x~, which is seen: records move them by 2G/b."""
    return replace(released, sensitivity=released.sensitivity / 2)


def full_gradients(steps: Any) -> Release:
    """What linear losses leave of it, one of which turns round, and full batches: full gradients 2G/n apart."""
    return Release(2 * G / n, Gaussian(sigma_n), steps=steps)


# Lemmas --------------------------------------------------------------------------------------------
# ∇f(x~) - ∇f(y), its mean square over the records, and the least of f - <∇f(y), .> on the way down from x~.
turn = Symbol("turn", real=True)
lower = Symbol("lower", nonnegative=True)

lemma1 = Claim(
    id="dwang20.lemma3.1.1",
    source=Source("dwang20", "Lemma 3.1.1, for the convex losses of section 3.1.3", line=867),
    kind=Kind.UTILITY,
    says="The variance of a noisy variance-reduced gradient at y with snapshot x̃.",
    assumes=[convex(), smooth(L_s)],
    states=Le(variance, 2 * L_s * bregman + d * sigma_n**2),
    checks=[
        Chain(
            variance,
            Step("<=", turn**2 + d * sigma_n**2, because=Premise(
                "a variance is at most the second moment, here of Δ = ∇f(x̃)-∇f(y); u is independent, of mean 0")),
            Step("<=", STATEMENT, because=Slack(given={
                "f - ⟨∇f(y), ·⟩ is convex, hence least at y": 2 * L_s * lower,
                "and L-smooth along the step -Δ/L from x̃":
                    2 * L_s * (bregman - turn**2 / L_s + L_s / 2 * (turn / L_s) ** 2 - lower),
            })),
        )
    ],
)

lemma2 = Claim(
    id="dwang20.lemma3.1.2",
    source=Source("dwang20", "Lemma 3.1.2", line=879),
    kind=Kind.IDENTITY,
    says="At the minimiser z° of γ/2·‖x-z₀‖² + φ(x); a, b, e are ‖z₀-z°‖, ‖z-z₀‖, ‖z-z°‖, and g a subgradient of φ.",
    assumes=[Setting("φ convex")],
    states=Eq(inner_g, gamma_p / 2 * (near**2 - away**2 + apart**2)),
    checks=[Adds(gamma_p * near * (near + away), {apart: near + away})],  # g is γ(z₀ - z°), and z° between z₀ and z
)


def proximal_step(bend: Any, r_is: Setting) -> Chain:
    """(x_(j-1) - x_j)/η - v is a subgradient of r at x_j, and r lies `bend` above its tangent there, by what it is."""
    return Chain(
        inner_v,
        Step(
            "<=",
            STATEMENT,
            uses=[r_is],
            because=Slack(
                given={
                    f"(x_(j-1)-x_j)/η - v is a subgradient at x_j: {r_is}": r_u
                    - r_x
                    + near * apart / eta
                    - inner_v
                    - bend,
                    "x_(j-1)-u = (x_(j-1)-x_j) + (x_j-u)": (away**2 - (near + apart) ** 2) / (2 * eta),
                }
            ),
        ),
    )


lemma3 = Claim(
    id="dwang20.lemma3.1.3.convex",
    source=Source("dwang20", "Lemma 3.1.3, first inequality", line=903),
    kind=Kind.UTILITY,
    says="A proximal step against any u, r convex; a, b, e are ‖x_(j-1)-x_j‖, ‖x_(j-1)-u‖, ‖x_j-u‖.",
    assumes=[R_CONVEX],
    states=Le(inner_v, -(near**2) / (2 * eta) + away**2 / (2 * eta) - apart**2 / (2 * eta) + r_u - r_x),
    checks=[proximal_step(0, R_CONVEX)],
)

lemma3_strong = Claim(
    id="dwang20.lemma3.1.3.strongly_convex",
    source=Source("dwang20", "Lemma 3.1.3, second inequality", line=907),
    kind=Kind.UTILITY,
    says="The same for μ-strongly convex r.",
    assumes=[R_STRONG],
    states=Le(
        inner_v, -(near**2) / (2 * eta) + away**2 / (2 * eta) - (1 + eta * mu) / (2 * eta) * apart**2 + r_u - r_x
    ),
    checks=[proximal_step(mu / 2 * apart**2, R_STRONG)],
)

R_CLOSED = Setting("r closed and convex")

lemma4 = Claim(
    id="dwang20.lemma3.1.4",
    source=Source("dwang20", "Lemma 3.1.4, in squares", line=923),
    kind=Kind.UTILITY,
    says="A proximal step does not expand: e is the distance of the images, b that of the points.",
    assumes=[R_CLOSED],
    states=Le(apart**2, away**2),
    checks=[
        Chain(
            apart**2,
            Step(
                "<=",
                STATEMENT,
                uses=[R_CLOSED],
                because=Slack(
                    given={"subgradients x - prox(x) of r are monotone, twice": 2 * (away - apart) * apart},
                    seen=[(away - apart) ** 2],
                ),
            ),
        )
    ],
)

# The moments of the privacy proof, with G = 1 ------------------------------------------------------
sampled_rate = lam**2 / (n**2 * sigma_1**2) + lam**3 / (n**3 * sigma_1**3)
# Of (1-q) N(0, σ²) + q N(2, σ²) against N(0, σ²), q = 1/n, at least what the drawn part alone gives.
drawn_alone = (lam + 1) * (2 * lam / sigma_1**2 - log(n))
far = Symbol("far", positive=True)

equation13 = Claim(
    id="dwang20.equation3.13",
    source=Source("dwang20", "equation (3.13)", line=969),
    kind=Kind.PRIVACY,
    says="The moments of one sampled difference with noise σ₁, by Lemma 3 of the moments accountant.",
    assumes=[lam <= sigma_1**2 * log(n / sigma_1)],
    states=Rate(moment, sampled_rate),
    checks=[
        NoConstant(
            drawn_alone, {n: far, sigma_1: 10, lam: 100 * log(far / 10) / log(3)}, far,
            "that lemma is for vectors of norm 1, and ∇f(x)-∇f(x̃) has norm 2: at λ near the largest allowed, that the "
            "record is drawn outweighs its probability n^-(λ+1); n = 10·3^k, λ = 100k", at=590_490,
        )
    ],
)

equation13_corrected = Claim(
    id="dwang20.equation3.13.corrected",
    source=Source("dwang20", "equation (3.13)", line=969),
    kind=Kind.PRIVACY,
    says="With the conditions of that lemma for a shift of 4, which a replaced record causes; the constant is 64.",
    assumes=[sigma_1 >= 4, n >= 4 * sigma_1, lam <= sigma_1**2 / 16 * log(4 * n / sigma_1)],
    states=Rate(moment, sampled_rate),
    corrects="dwang20.equation3.13",
)

here, there = symbols("here there", real=True)  # the gradients at x~ of the record and of the one that replaces it
renyi = lam * (lam + 1) / (2 * sigma_2**2 * n**2)

UNIT = Setting("‖∇f‖ ≤ 1")

equation15 = Claim(
    id="dwang20.equation3.15",
    source=Source("dwang20", "equation (3.15), σ read as σ₂", line=979),
    kind=Kind.PRIVACY,
    says="The moments of the full gradient with noise σ₂.",
    assumes=[UNIT],
    states=Le(moment, 2 * lam * (lam + 1) / (n**2 * sigma_2**2)),
    checks=[
        Chain(
            moment,
            Step(
                "=",
                renyi * (here - there) ** 2,
                because=Premise(
                    "(3.14): λ times the Rényi divergence of order λ+1 of Gaussians whose means differ in one gradient"
                ),
            ),
            Step(
                "<=",
                STATEMENT,
                uses=[UNIT],
                because=Slack(
                    given={"‖∇f(x̃, z)‖ ≤ 1": 2 * renyi * (1 - here**2), "‖∇f(x̃, z')‖ ≤ 1": 2 * renyi * (1 - there**2)},
                    seen=[renyi * (here + there) ** 2],
                ),
            ),
        )
    ],
)

# One noisy step ------------------------------------------------------------------------------------
# One loss L/2 x² (a Huber loss that bends far out), the others 0, r and μ negligible: exact for every pair of gaps.
spread = 2 * L_s * (1 - 1 / n) * (sqrt(gap_x) + sqrt(gap_snap)) ** 2 + d * sigma_n**2

equation26 = Claim(
    id="dwang20.equation3.26",
    source=Source("dwang20", "equation (3.26)", line=1046),
    kind=Kind.UTILITY,
    says="The variance of a step by the excess risks g at x_(t-1) and g̃ at x̃, with 2L.",
    assumes=losses,
    states=Le(variance, 2 * L_s * (gap_x + gap_snap) + d * sigma_n**2),
    checks=[
        AtMost(
            spread, "one loss L/2·x², the others 0; x and x̃ on opposite sides", box={sigma_n: (1e-3, 1e-2), n: (3, 1e3)}
        )
    ],
)

# Of ∇f(x) - ∇f(x*) and ∇f(x~) - ∇f(x*): the variances, which are those of Lemma 3.1.1 at y = x* without noise.
spread_x, spread_snap = symbols("spread_x spread_snap", nonnegative=True)
bregman_x, bregman_snap = symbols("bregman_x bregman_snap", nonnegative=True)

equation26_corrected = Claim(
    id="dwang20.equation3.26.corrected",
    source=Source("dwang20", "equation (3.26)", line=1046),
    kind=Kind.UTILITY,
    says="The same with 4L.",
    assumes=losses,
    states=Le(variance, 4 * L_s * (gap_x + gap_snap) + d * sigma_n**2),
    corrects="dwang20.equation3.26",
    checks=[
        Chain(
            variance,
            Step("<=", 2 * spread_x + 2 * spread_snap + d * sigma_n**2, because=Premise(
                "‖a-b‖² ≤ 2‖a‖² + 2‖b‖², for the gradients at x and at x̃, each less that at x*")),
            Step("<=", because=Cites("dwang20.lemma3.1.1", {variance: spread_x, bregman: bregman_x, sigma_n: 0})),
            Step("<=", because=Cites("dwang20.lemma3.1.1", {variance: spread_snap, bregman: bregman_snap, sigma_n: 0})),
            Step("<=", STATEMENT, because=Slack(given={
                "-∇F(x*) is a subgradient of r at x*, so D_F(x, x*) ≤ g": 4 * L_s * (gap_x - bregman_x),
                "likewise at x̃": 4 * L_s * (gap_snap - bregman_snap)})),
        )
    ],
)

# F at x = x_(t-1), x_t and x*, ∇F(x), v - ∇F(x), and x_t - x; r(x*) - r(x_t) is F_t - F_z - gap_next.
F_x, F_t, F_z, slope, error = symbols("F_x F_t F_z slope error", real=True)
jump = apart - away
young = eta / (2 * (1 - eta * L_s))
per_step = 4 * eta * L_s / (1 - eta * L_s) * (gap_x + gap_snap) + eta / (1 - eta * L_s) * d * sigma_n**2
telescoping = (away**2 - apart**2) / (2 * eta)

step = Claim(
    id="dwang20.theorem3.1.5.step",
    source=Source("dwang20", "proof of Theorem 3.1.5, the display after (3.48)", line=1243),
    kind=Kind.UTILITY,
    says="What a proximal step with a noisy gradient gains; b and e are the distances of x_(t-1) and x_t from x°.",
    assumes=[*composite, eta < 1 / L_s],
    states=Le(gap_next, per_step + telescoping),
    checks=[
        Chain(
            gap_next,
            Step(
                "<=",
                young * error**2 + telescoping,
                uses=[R_CONVEX],
                because=Slack(
                    given={
                        "F is L-smooth": F_x + slope * jump + L_s / 2 * jump**2 - F_t,
                        "F is convex": F_z - F_x + slope * away,
                        "(x-x_t)/η - v is a subgradient at x_t of r, which is convex": F_t
                        - F_z
                        - gap_next
                        - (jump / eta + slope + error) * apart,
                        "E⟨v-∇F, x-x*⟩ = 0": error * away,
                        "Young": young * (error + jump * (1 - eta * L_s) / eta) ** 2,
                    },
                ),
            ),
            Step("=", young * variance + telescoping, because=Premise("the variance is E‖v-∇F‖²")),
            Step("<=", because=Cites("dwang20.equation3.26.corrected")),
            Step("<=", STATEMENT),
        )
    ],
)
