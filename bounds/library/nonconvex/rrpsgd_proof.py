"""The proofs of Theorems 4 to 6 of zhang17 (A.4 to A.6), step by step. The theorems stand in rrpsgd.py."""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, integrate, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.symbols import (
    L,
    alpha_g,
    beta,
    d,
    delta,
    eps,
    eps_out,
    eta,
    gamma,
    n,
    q,
    quantity,
    ratio,
    sigma_g,
)
from dpcheck.bounds.library.convex.lower_bounds import convex_rate
from dpcheck.bounds.library.nonconvex.rrpsgd import a_printed, amplified, losses, per_step, stated_noise, tail
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Equals, Follows, Less, Proof, Same

extra, more, v = (Symbol(name, nonnegative=True) for name in ("extra", "more", "v"))
small = {eta: 1 / (beta * (1 + v))}

# Privacy -------------------------------------------------------------------------------------------
amplification = Claim(
    id="zhang17.theorem4.amplification",
    source=Source("zhang17", "proof of Theorem 4, Lemma 9 with α = 1/n"),
    kind=Kind.PRIVACY,
    says="A step of ε/(2√(2 log(2/δ))) on one record out of n has ε/(n√(2 log(2/δ))).",
    assumes=[eps <= 1],
    states=Eq(eps_out, amplified),
    cites=[Cites("zhang17.lemma9.corrected", {q: 1 / n, eps: per_step})],
    checks=[Equals(2 * (1 / n) * per_step, "2αε of Lemma 9")],
)

# Utility -------------------------------------------------------------------------------------------
near_optimal = Claim(
    id="zhang17.section3.2.near_optimal",
    source=Source("zhang17", "section 3.2: the same utility as [1], near optimal for convex losses"),
    kind=Kind.UTILITY,
    says="The convex bound of Theorem 5 over the lower bound √d/(nε) of Bassily et al. is a product of logarithms.",
    assumes=[smooth(beta), lipschitz(L), convex(), d <= n**2 * eps**2],
    states=Rate(ratio, sqrt(log(n / delta) * log(1 / delta))),
    cites=[Cites("dwang20.table3.2.lower")],
    checks=[
        Proof(
            [
                Same(
                    "Theorem 5 at L = D = 1 over √d/(nε)",
                    (sqrt(d) * sqrt(log(n / delta) * log(1 / delta)) / (n * eps)) / convex_rate.args[1],
                    sqrt(log(n / delta) * log(1 / delta)),
                ),
                Less(
                    "√d/(nε) ≤ 1, squared, where d ≤ n²ε²",
                    d / (n**2 * eps**2),
                    Integer(1),
                    {eps: sqrt(d) * (1 + v) / n},
                ),
            ],
            "the ratio is √(log(n/δ)·log(1/δ))",
        )
    ],
)

# High probability: inequalities (1) to (5) of A.6 --------------------------------------------------
slope = quantity(
    "slope", "norm of the gradient of F at w_t", loss=1, parameter=-1, printed="‖∇F‖", latex=r"\|\nabla F\|"
)
drop = quantity("drop", "F(w_t) - F(w_(t+1))", loss=1, printed="F(w_t)-F(w_t⁺)", latex="F(w_t)-F(w_{t+1})")
X_t = quantity("X_t", "(βη²-η)<grad F, δ_t>", loss=1, printed="X_t")
Y_t = quantity("Y_t", "<(βη²-η) grad F + βη² δ_t, z_t>", loss=1, printed="Y_t")
R_t = quantity("R_t", "β/2·η²||z_t||²", loss=1, printed="R_t")
strayed = quantity(
    "strayed", "norm of δ_t, the sampling error", loss=1, parameter=-1, printed="‖δ_t‖", latex=r"\|\delta_t\|"
)
sums = {
    name: quantity(f"{name}_sum", f"sum of {words} over n² steps", loss=1, printed=f"Σ{words}", latex=rf"\sum {words}")
    for name, words in (("X", "X_t"), ("Y", "Y_t"), ("R", "R_t"), ("strayed", "β/2·η²‖δ_t‖²"))
}
p, e, z, F_0, F_1 = symbols("p e z F_0 F_1", real=True)

lemma11_step = Claim(
    id="zhang17.lemma11.step",
    source=Source("zhang17", "Lemma 11, part 1 and Theorem 5, for steps of any sizes: what is added up over the steps"),
    kind=Kind.UTILITY,
    says="One step of size η_t: its weight times the squared gradient, by the fall of F; 2(F(w₀)-F*) is βD_F².",
    assumes=[smooth(beta), eta < 2 / beta],
    states=Le((2 * eta - beta * eta**2) * slope**2, 2 * drop + beta * eta**2 * sigma_g**2),
    checks=[
        Adds(
            (2 * eta - beta * eta**2) * p**2,
            {drop: F_0 - F_1},
            {
                "F is β-smooth": 2 * (F_0 - eta * p * (p + e) + beta / 2 * eta**2 * (p + e) ** 2 - F_1),
                "E‖G-∇F‖² ≤ σ²": beta * eta**2 * (sigma_g**2 - e**2),
                "of mean 0": 2 * (eta - beta * eta**2) * p * e,
            },
        )
    ],
)

equation1 = Claim(
    id="zhang17.equation1",
    source=Source("zhang17", "A.6, the step before (1), whose sum over n² steps is (1)"),
    kind=Kind.UTILITY,
    says="One noisy step: what the gradient's square costs, with X_t, Y_t, R_t of the proof.",
    assumes=[smooth(beta)],
    states=Le((eta - beta / 2 * eta**2) * slope**2, drop + X_t + Y_t + R_t + beta / 2 * eta**2 * strayed**2),
    checks=[
        Adds(
            (eta - beta / 2 * eta**2) * p**2,
            {
                drop: F_0 - F_1,
                X_t: (beta * eta**2 - eta) * p * e,
                Y_t: ((beta * eta**2 - eta) * p + beta * eta**2 * e) * z,
                R_t: beta / 2 * eta**2 * z**2,
                strayed: e,
            },
            {"F is β-smooth": F_0 - eta * p * (e + p + z) + beta / 2 * eta**2 * (e + p + z) ** 2 - F_1},
        )
    ],
)

equation2 = Claim(
    id="zhang17.equation2",
    source=Source("zhang17", "A.6, inequality (2)"),
    kind=Kind.UTILITY,
    says="The sampling error of n² steps of one size.",
    assumes=losses,
    states=Le(sums["strayed"], 2 * beta * eta**2 * n**2 * L**2),
    checks=[AtMost(beta / 2 * n**2 * eta**2 * (2 * L) ** 2, "‖∇f-∇F‖ ≤ 2L at each of n² steps", exact=False)],
)

equation3 = Claim(
    id="zhang17.equation3",
    source=Source("zhang17", "A.6, inequality (3)"),
    kind=Kind.UTILITY,
    says="What the sum of X_t exceeds with probability at most γ/3, by Lemma 4.",
    assumes=[*losses, eta <= 1 / beta],
    states=Le(sums["X"], (eta - beta * eta**2) * n * L**2 * sqrt(12 * log(3 / gamma))),
    cites=[Cites("zhang17.lemma4")],
    checks=[
        AtMost(
            sqrt(3 * tail * n**2) * (eta - beta * eta**2) * L * (2 * L),
            "|X_t| ≤ (η-βη²)·L·2L serves as σ_t: E exp(X_t²/σ_t²) ≤ e",
            small,
            exact=False,
        )
    ],
)

equation4 = Claim(
    id="zhang17.equation4",
    source=Source("zhang17", "A.6, inequality (4)"),
    kind=Kind.UTILITY,
    says="What the sum of Y_t exceeds with probability at most γ/3, by Lemma 4; a = 1/(1-e^(-2/d)).",
    assumes=[*losses, eta <= 1 / beta],
    states=Le(
        sums["Y"],
        (eta + beta * eta**2)
        * n
        * L**2
        / eps
        * sqrt(24 * a_printed * log(3 / gamma) * log(3 * n / delta) * log(2 / delta)),
    ),
    cites=[Cites("zhang17.lemma4"), Cites("zhang17.theorem6.scale.corrected", {alpha_g: stated_noise})],
    checks=[
        Proof(
            [
                Same(
                    "the factor of z_t: (η-βη²)·L + βη²·2L",
                    (eta - beta * eta**2) * L + beta * eta**2 * 2 * L,
                    (eta + beta * eta**2) * L,
                ),
                Same(
                    "3·log(3/γ)·n²·σ_t² with σ_t² = 2a(ηL + βLη²)²α² is the square of (4)",
                    3 * tail * n**2 * 2 * a_printed * (eta * L + beta * L * eta**2) ** 2 * stated_noise**2,
                    (eta + beta * eta**2) ** 2 * n**2 * L**4 / eps**2
                    * 24 * a_printed * log(3 / gamma) * log(3 * n / delta) * log(2 / delta),
                ),
            ],
            "Lemma 4 with the scale as corrected",
        )
    ],
)

equation5 = Claim(
    id="zhang17.equation5",
    source=Source("zhang17", "A.6, inequality (5)"),
    kind=Kind.UTILITY,
    says="What the sum of R_t exceeds with probability at most γ/3, by the chi-square tail with dn² degrees.",
    states=Le(
        sums["R"],
        beta / 2 * alpha_g**2 * eta**2 * (d * n**2 + 2 * n * sqrt(d * log(3 / gamma)) + 2 * log(3 / gamma)),
    ),
    cites=[Cites("zhang17.theorem6.chi2")],
    checks=[
        Equals(
            beta / 2 * eta**2 * alpha_g**2 * (d * n**2 + 2 * sqrt(d * n**2 * tail) + 2 * tail),
            "β/2·η²α² times k + 2√(kx) + 2x with k = dn² and x = log(3/γ)",
        )
    ],
)

s, w = symbols("s w", nonnegative=True)
dimension = Claim(
    id="zhang17.theorem6.dimension",
    source=Source("zhang17", "A.6: a = (1-exp(-2/d))⁻¹ is O(d)"),
    kind=Kind.IDENTITY,
    says="The factor a of the martingale scale grows like d.",
    states=Rate(ratio, d),
    checks=[
        Proof(
            [
                Same("e^w - 1 - w = ∫(w-s)e^s ds ≥ 0", exp(w) - 1 - w, integrate((w - s) * exp(s), (s, 0, w))),
                Same("so 1/(1-e^-w) = 1 + 1/(e^w-1)", 1 / (1 - exp(-w)), 1 + 1 / (exp(w) - 1)),
            ],
            "a ≤ 1 + d/2, with w = 2/d",
        ),
        Follows(1 + d / 2, Rational(3, 2), "1 + d/2 for d ≥ 1", {d: 1 + extra}),
    ],
)
