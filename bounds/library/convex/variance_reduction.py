"""Noisy variance-reduced gradients (dwang20, section 3.1): lemmas and privacy proof that DP-SVRG and its kin share.

Lemmas 3.1.1 to 3.1.4 and equations (3.13) to (3.18). The dimension, printed p, is d here. Loop:
dpcheck/kernels/variance_reduction.py.
"""

from dataclasses import replace
from typing import Any

from sympy import Eq, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.symbols import T, c, c1, d, delta, eps, eta, mu, n, quantity
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import Follows, Less, NoConstant, Proof, Same

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
kappa = L_s / mu
strong = [*losses, Setting("r μ-strongly convex"), mu <= L_s]
stated_noise = G * sqrt(c * T * inner * log(1 / delta)) / (n * eps)  # (3.3)


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


def drawn_differences(steps: Any) -> Release:
    """What a loss leaves of it whose gradient at x~ is like the others', and opposite wherever x goes."""
    return Release(2 * G, Gaussian(sigma_n), WithoutReplacement(1, n), steps)


u, v, x, y, z = symbols("u v x y z", real=True)
big, q = (Symbol(name, positive=True) for name in ("big", "q"))
more = Symbol("more", nonnegative=True)

mean_step = quantity("mean_step", "E v, one coordinate", loss=1, parameter=-1, printed="E v", latex=r"\mathbb{E}v")
true_step = quantity("true_step", "gradient of F at x, one coordinate", loss=1, parameter=-1, printed="∇F(x)")
p, p_snap, w, w_snap = symbols("p p_snap w w_snap", real=True)  # gradients at x and x~ of a share q, and of the rest

unbiased = Claim(
    id="dwang20.section3.1.3.unbiased",
    source=Source("dwang20", "section 3.1.3: the noisy estimator is unbiased"),
    kind=Kind.IDENTITY,
    says="The mean of ∇f(x, z_i) - ∇f(x̃, z_i) + ∇F(x̃) + u over a uniform i and the noise is ∇F(x).",
    states=Eq(mean_step, true_step),
    checks=[
        Adds(
            q * (p - p_snap) + (1 - q) * (w - w_snap) + (q * p_snap + (1 - q) * w_snap),
            {true_step: q * p + (1 - q) * w},
        )
    ],
)

# Lemmas --------------------------------------------------------------------------------------------
lemma1 = Claim(
    id="dwang20.lemma3.1.1",
    source=Source("dwang20", "Lemma 3.1.1, for the convex losses of section 3.1.3"),
    kind=Kind.UTILITY,
    says="The variance of a noisy variance-reduced gradient at y with snapshot x̃.",
    assumes=[convex(), smooth(L_s)],
    states=Le(variance, 2 * L_s * bregman + d * sigma_n**2),
    checks=[
        Proof(
            [
                Same(
                    "f - ⟨∇f(y), ·⟩ is least at y, and a step 1/L from x̃ lowers it by ‖∇f(x̃)-∇f(y)‖²/(2L)",
                    -1 / L_s + L_s / 2 * (1 / L_s) ** 2,
                    -1 / (2 * L_s),
                ),
                Same(
                    "a variance is a second moment less a square",
                    q * (x - (q * x + (1 - q) * y)) ** 2 + (1 - q) * (y - (q * x + (1 - q) * y)) ** 2,
                    q * x**2 + (1 - q) * y**2 - (q * x + (1 - q) * y) ** 2,
                ),
            ],
            "mean of ‖∇f(x̃)-∇f(y)‖² ≤ 2L·D_f(x̃,y), plus independent noise on d coordinates",
        )
    ],
)

lemma2 = Claim(
    id="dwang20.lemma3.1.2",
    source=Source("dwang20", "Lemma 3.1.2"),
    kind=Kind.IDENTITY,
    says="At the minimiser z° of γ/2·‖x-z₀‖² + φ(x); a, b, e are ‖z₀-z°‖, ‖z-z₀‖, ‖z-z°‖, and g a subgradient of φ.",
    assumes=[Setting("φ convex")],
    states=Eq(inner_g, gamma_p / 2 * (near**2 - away**2 + apart**2)),
    checks=[Adds(gamma_p * (x - y) * (z - y), {near: x - y, away: z - x, apart: z - y})],
)

# x is x_(j-1), y is x_j: the subgradient of r at y is (x - y)/eta - v.
prox_where = {near: x - y, away: x - u, apart: y - u}
below = r_u - r_x - ((x - y) / eta - v) * (u - y)

lemma3 = Claim(
    id="dwang20.lemma3.1.3.convex",
    source=Source("dwang20", "Lemma 3.1.3, first inequality"),
    kind=Kind.UTILITY,
    says="A proximal step against any u, r convex; a, b, e are ‖x_(j-1)-x_j‖, ‖x_(j-1)-u‖, ‖x_j-u‖.",
    assumes=[Setting("r convex")],
    states=Le(inner_v, -(near**2) / (2 * eta) + away**2 / (2 * eta) - apart**2 / (2 * eta) + r_u - r_x),
    checks=[Adds(v * (y - u), prox_where, {"r lies above its tangent at x_j": below})],
)

lemma3_strong = Claim(
    id="dwang20.lemma3.1.3.strongly_convex",
    source=Source("dwang20", "Lemma 3.1.3, second inequality"),
    kind=Kind.UTILITY,
    says="The same for μ-strongly convex r.",
    assumes=[Setting("r μ-strongly convex")],
    states=Le(
        inner_v, -(near**2) / (2 * eta) + away**2 / (2 * eta) - (1 + eta * mu) / (2 * eta) * apart**2 + r_u - r_x
    ),
    checks=[Adds(v * (y - u), prox_where, {"r lies μ/2·e² above its tangent at x_j": below - mu / 2 * (u - y) ** 2})],
)

lemma4 = Claim(
    id="dwang20.lemma3.1.4",
    source=Source("dwang20", "Lemma 3.1.4"),
    kind=Kind.UTILITY,
    says="A proximal step does not expand: e is the distance of the images, b that of the points.",
    assumes=[Setting("r closed and convex")],
    states=Le(apart, away),
    checks=[
        Adds(
            u - v,
            {away: x - y},
            {
                "subgradients x-u and y-v of r are monotone, twice": 2 * ((x - u) - (y - v)) * (u - v),
                "a square": ((x - y) - (u - v)) ** 2,
            },
            squared=True,
        )
    ],
)

# The privacy proof, with G = 1 ---------------------------------------------------------------------
# Order 1 of (1-q) N(0, σ²) + q N(2, σ²) against N(0, σ²): a record whose sampled difference is 2 instead of 0.
first_moment = log(1 + (exp(4 / sigma_1**2) - 1) / n**2)
sampled_rate = lam**2 / (n**2 * sigma_1**2) + lam**3 / (n**3 * sigma_1**3)
# Noise as small as (3.18) allows at order 1: λ = 1 ≤ σ₁² log(n/σ₁).
smallest = {n: big, lam: 1, sigma_1: 1 / log(big) ** Rational(1, 2), sigma_2: 1}

equation13 = Claim(
    id="dwang20.equation3.13",
    source=Source("dwang20", "equation (3.13)"),
    kind=Kind.PRIVACY,
    says="The moments of one sampled difference with noise σ₁, as quoted from the moments accountant.",
    assumes=[lam <= sigma_1**2 * log(n / sigma_1)],
    states=Rate(moment, sampled_rate),
    checks=[
        NoConstant(
            first_moment, smallest, big,
            "σ₁ = 1/√(log n) meets (3.18) at λ = 1, and e^(4/σ₁²) = n⁴ outweighs 1/n²: the lemma asks for σ₁ ≥ 1",
        )
    ],
)

equation13_corrected = Claim(
    id="dwang20.equation3.13.corrected",
    source=Source("dwang20", "equation (3.13)"),
    kind=Kind.PRIVACY,
    says="With conditions like those of the lemma quoted, for a shift of 4: σ₁ ≥ 4, n ≥ 4σ₁, λ ≤ (σ₁/4)² log(4n/σ₁).",
    assumes=[sigma_1 >= 4, n >= 4 * sigma_1, lam <= sigma_1**2 / 16 * log(4 * n / sigma_1)],
    states=Le(moment, 32 * lam * (lam + 1) / (n**2 * sigma_1**2)),
    corrects="dwang20.equation3.13",
)

equation15 = Claim(
    id="dwang20.equation3.15",
    source=Source("dwang20", "equation (3.15)"),
    kind=Kind.PRIVACY,
    says="The moments of the full gradient with noise σ₂ (printed once as σ): means at most 2/n apart.",
    states=Le(moment, 2 * lam * (lam + 1) / (n**2 * sigma_2**2)),
    checks=[
        Adds(lam * (lam + 1) * (2 / n) ** 2 / (2 * sigma_2**2), {}),
        Proof([Less("λ(λ+1) ≤ 2λ², so c₁ = 4 serves", 2 * lam * (lam + 1), 4 * lam**2, {lam: 1 + more})]),
    ],
)

equation16 = Claim(
    id="dwang20.equation3.16",
    source=Source("dwang20", "equation (3.16)"),
    kind=Kind.PRIVACY,
    says="The moments of a whole step: (3.13) plus (3.15).",
    assumes=[lam <= sigma_1**2 * log(n / sigma_1)],
    states=Rate(moment, lam**2 / (n**2 * sigma_2**2) + sampled_rate),
    cites=[Cites("dwang20.equation3.13"), Cites("dwang20.equation3.15")],
    checks=[NoConstant(first_moment, smallest, big, "the sampled difference alone, as for (3.13)")],
)

equation16_corrected = Claim(
    id="dwang20.equation3.16.corrected",
    source=Source("dwang20", "equation (3.16)"),
    kind=Kind.PRIVACY,
    says="The moments of a whole step under the conditions of (3.13) corrected.",
    assumes=[sigma_1 >= 4, n >= 4 * sigma_1, lam <= sigma_1**2 / 16 * log(4 * n / sigma_1)],
    states=Rate(moment, lam**2 / (n**2 * sigma_2**2) + lam**2 / (n**2 * sigma_1**2)),
    corrects="dwang20.equation3.16",
    checks=[
        Follows(
            equation13_corrected.formula + equation15.formula,
            Rational(64),
            "(3.13) corrected plus (3.15); λ+1 ≤ 2λ",
            {lam: 1 + more},
        )
    ],
)

equation17 = Claim(
    id="dwang20.equation3.17",
    source=Source("dwang20", "equation (3.17)"),
    kind=Kind.PRIVACY,
    says="The moments after T steps, printed without T.",
    states=Rate(moment, lam**2 / (n**2 * sigma_2**2) + lam**2 / (n**2 * sigma_1**2)),
    cites=[Cites("dwang20.equation3.16")],
    checks=[
        NoConstant(
            T * equation15.formula, {T: big, lam: 1, n: 10, sigma_1: 10, sigma_2: 10}, big,
            "T full gradients of linear losses: their moments add up exactly",
        )
    ],
)

equation17_corrected = Claim(
    id="dwang20.equation3.17.corrected",
    source=Source("dwang20", "equation (3.17)"),
    kind=Kind.PRIVACY,
    says="The same with T, under the conditions of (3.13) corrected.",
    assumes=[sigma_1 >= 4, n >= 4 * sigma_1, lam <= sigma_1**2 / 16 * log(4 * n / sigma_1)],
    states=Rate(moment, T * lam**2 / (n**2 * sigma_2**2) + T * lam**2 / (n**2 * sigma_1**2)),
    corrects="dwang20.equation3.17",
    checks=[
        Follows(
            T * (equation13_corrected.formula + equation15.formula), Rational(64), "T times (3.16)", {lam: 1 + more}
        )
    ],
)

chosen = 2 * log(1 / delta) / eps  # the order that makes exp(-λε/2) = δ
chosen_sigma2 = c * T * log(1 / delta) / (n**2 * eps**2)  # σ₁² of (3.19), c for c₄²


equation18 = Claim(
    id="dwang20.equation3.18",
    source=Source("dwang20", "equations (3.18) to (3.20) and the sentence around them"),
    kind=Kind.PRIVACY,
    says="σ₁ of (3.19) can meet (3.18), which has room for an order only while σ₁ is below n.",
    assumes=[eps <= c1 * T / n**2],
    states=Rate(sigma_1, n),
    hidden=(c1,),
    checks=[
        NoConstant(
            sqrt(T * log(1 / delta)) / (n * eps), {T: big, n: 10, eps: 1, delta: Rational(1, 10)}, big,
            "with T large enough σ₁ exceeds n, whatever the constants, and log(n/σ₁) is negative",
        )
    ],
)

equation18_corrected = Claim(
    id="dwang20.equation3.18.corrected",
    source=Source("dwang20", "equations (3.18) to (3.20)"),
    kind=Kind.PRIVACY,
    says="It does where σ₁ is also at most n/e², with c at least c₁.",
    assumes=[eps <= c1 * T / n**2, c1 <= c, chosen_sigma2 * exp(4) <= n**2],
    states=Le(chosen, chosen_sigma2 * log(n / chosen_sigma2 ** Rational(1, 2))),
    corrects="dwang20.equation3.18",
    checks=[
        Proof(
            [
                Same(
                    "σ₁² at the least T, n²ε/c₁, is c/c₁·log(1/δ)/ε",
                    chosen_sigma2.subs(T, n**2 * eps / c1),
                    c / c1 * log(1 / delta) / eps,
                ),
                Less("times log(n/σ₁) ≥ 2 that is at least λ", 2 * c1, 2 * c, {c: c1 + more}),
            ],
            "σ₁² log(n/σ₁) ≥ 2·(c/c₁)·log(1/δ)/ε ≥ λ",
        )
    ],
)
