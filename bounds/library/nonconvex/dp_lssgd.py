"""DP-LSSGD (lwang21, chapter 5, Algorithm 5; lssgd20, Algorithm 1): noisy gradients of batches, smoothed by A_σ⁻¹.

Privacy: Theorem 5.3.2 with Lemmas 5.5.3 to 5.5.5, and what the review version had, Theorem 1 with Lemmas 1 to 3.
Utility: dp_lssgd_proof.py. The operator: laplacian_smoothing.py. Solver: dpcheck/solvers/nonconvex/dp_lssgd.py.
"""

from sympy import Eq, Expr, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Source, lipschitz
from dpcheck.bounds.language.guarantees import ApproxDP, RenyiDP
from dpcheck.bounds.language.symbols import Delta, T, delta, eps, n, quantity, sigma
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.proofs import AtMost, Less, Proof, Same

nu = quantity(
    "ls_nu", "noise on each coordinate of a batch's gradient", loss=1, parameter=-1, printed="ν", latex=r"\nu"
)
split = quantity("ls_mu", "share of ε that the steps spend", box=(1e-2, 0.99), below=1.0, printed="µ", latex=r"\mu")
order = quantity("ls_order", "Rényi order", box=(1.05, 1e4), printed="α", latex=r"\alpha")
spread = quantity("ls_spread", "variance of the noise over the squared sensitivity", box=(0.1, 1e4), printed="σ'²")
share = quantity("ls_tau", "share of the records in a batch", box=(1e-6, 1.0), printed="τ", latex=r"\tau")
renyi = quantity("ls_renyi", "Rényi divergence of the order", box=(1e-6, 1e3), printed="ρ", latex=r"\rho")
renyi1 = quantity("ls_renyi1", "Rényi divergence of the first mechanism", box=(1e-6, 1e3), printed="ρ₁")
renyi2 = quantity("ls_renyi2", "Rényi divergence of the second", box=(1e-6, 1e3), printed="ρ₂")
step_change = quantity("ls_change", "change of a batch's mean gradient", loss=1, parameter=-1, printed="Δ(q_k)")

lipschitz_losses = [lipschitz(G), batch <= n]
released = Release(2 * G / batch, Gaussian(nu), WithoutReplacement(batch, n), T)
LINEAR = "linear losses: all noisy gradients of batches seen, smoothed or not"


def noise(constant: Expr) -> Expr:
    """The noise's deviation, ν² = constant·TαG²/(n²ε)."""
    return sqrt(constant * T * order * G**2 / (n**2 * eps))


# Sensitivity, Rényi accounting ---------------------------------------------------------------------
gaussian, gaussian_v0 = both(
    "lemma5.5.3",
    "lemma1.gaussian",
    kind=Kind.PRIVACY,
    says="The Gaussian mechanism has Rényi divergence αΔ²/(2σ²).",
    assumes=[order > 1],
    states=Eq(sigma, Delta * sqrt(order / (2 * renyi))),
    guarantee=RenyiDP(order, renyi),
    checks=[Accountant(Release(Delta, Gaussian(sigma)), "two means Δ apart")],
)

composition, composition_v0 = both(
    "lemma5.5.4",
    "lemma2",
    kind=Kind.PRIVACY,
    says="Rényi divergences of one order add up under adaptive composition.",
    assumes=[order > 1],
    states=Le(renyi, renyi1 + renyi2),
    checks=[
        Proof(
            [
                Same(
                    "E[(p₁p₂/q₁q₂)^α] is E[(p₁/q₁)^α] times the largest E[(p₂/q₂)^α] given what came before",
                    log(exp((order - 1) * renyi1) * exp((order - 1) * renyi2)) / (order - 1),
                    renyi1 + renyi2,
                )
            ],
            "moments multiply",
        )
    ],
)

more, x = Symbol("more", nonnegative=True), Symbol("x", positive=True)
conversion, conversion_v0 = both(
    "lemma5.5.5",
    "lemma3",
    kind=Kind.PRIVACY,
    says="(α, ρ)-Rényi privacy is (ρ + log(1/δ)/(α-1), δ)-privacy.",
    assumes=[order > 1],
    states=Le(eps, renyi + log(1 / delta) / (order - 1)),
    checks=[
        Proof(
            [
                Less(
                    "P(loss > ε) ≤ e^((α-1)(ρ-ε)) (Markov), which is δ there",
                    exp((order - 1) * (renyi - (renyi + log(1 / delta) / (order - 1)))),
                    delta,
                    {order: 1 + x},
                ),
            ],
            "the loss exceeds ε with probability at most δ",
        )
    ],
)

sensitivity, sensitivity_v0 = both(
    "remark5.5.6.sensitivity",
    "remark3.sensitivity",
    kind=Kind.SENSITIVITY,
    says="A replaced record moves a step's gradient by 2G/n at most.",
    assumes=lipschitz_losses,
    states=Le(step_change, 2 * G / n),
    checks=[AtMost(2 * G / batch, "it is in the batch: gradients G and -G, one of b")],
)

sensitivity_right, sensitivity_right_v0 = both(
    "remark5.5.6.sensitivity.corrected",
    "remark3.sensitivity.corrected",
    kind=Kind.SENSITIVITY,
    says="By 2G/b, as the proof of the theorem has it.",
    assumes=lipschitz_losses,
    states=Le(step_change, 2 * G / batch),
    checks=[
        Proof([Less("‖g - g'‖ ≤ ‖g‖ + ‖g'‖, over b", (G / (1 + more) + G / (1 + x)) / batch, 2 * G / batch, {x: more})])
    ],
)

# Amplification -------------------------------------------------------------------------------------
# The attained pair is (1-τ)N(0,σ'²) + τN(1,σ'²) against N(0,σ'²).
last_term = order / (order - 1) * log(share) + order / (2 * spread)

amplification_v0 = Claim(
    id="lssgd20.lemma1",
    source=Source("lssgd20", "Lemma 1, second part"),
    kind=Kind.PRIVACY,
    says="Without replacement the Gaussian mechanism has Rényi divergence τ²α/σ'² for σ'² ≥ 1/1.25 and every α.",
    assumes=[order > 1, share <= 1, spread >= Rational(4, 5)],
    states=Le(renyi, share**2 * order / spread),
    checks=[
        AtMost(
            last_term,
            "all other records alike: P ≥ τN(1,σ'²), Q = N(0,σ'²), so that E_Q[(P/Q)^α] ≥ τ^α·e^(α(α-1)/(2σ'²))",
            box={order: (2, 1000), share: (1e-3, 1), spread: (0.8, 100)},
        )
    ],
)

# What follows rests on Theorem 9 of Wang, Balle and Kasiviswanathan (2019), which bounds the moment of a whole order a
# by terms j = 2, ..., a. Over τ²a(a-1)/σ'², with s = σ'² ≥ 3/2, z = log(1/(τ(1+s))) + 1 and j ≤ a ≤ z, the term j ≥ 3
# is at most (2/j!)·z^(j-2)·e^(j-2-z(2j-5)/3): C(a,j) ≤ a(a-1)a^(j-2)/j!, τ = e^(1-z)/(1+s), j(j-1)/(2s) ≤ (j-1)z/3.
z, part = Symbol("z", positive=True), Symbol("part", nonnegative=True)
amplification_steps: list[Same | Less] = [
    Less(
        "j = 2: 2(e^y-1)/y ≤ 2.85 for y = 1/σ'² ≤ 2/3", 2 * (exp(x) - 1) / x, Rational(285, 100), box={x: (1e-6, 0.667)}
    ),
    Less("and below 1e-6, where (e^y-1)/y ≤ e^y", 2 * exp(Rational(1, 10**6)), Rational(285, 100)),
    Less("j = 3: z·e^(1-z/3)/3 at z = 3", exp(1 - Rational(3, 3)), Integer(1)),
    Less("falls beyond: its logarithm has the slope 1/z - 1/3", 1 / (3 + more) - Rational(1, 3), Integer(0)),
    Less("j = 4: z²e^(2-z)/12 at z = 4", 16 * exp(-2) / 12, Rational(19, 100)),
    Less("falls beyond: 2/z - 1", 2 / (4 + more) - 1, Integer(0)),
    Less("j = 5: z³e^(3-5z/3)/60 at z = 5", 125 * exp(3 - Rational(25, 3)) / 60, Rational(2, 100)),
    Less("falls beyond: 3/z - 5/3", 3 / (5 + more) - Rational(5, 3), Integer(0)),
    Less(
        "j ≥ 6: 2/j²·e^(j-2-2j(j-4)/3), as j^j ≤ j!·e^j and it falls beyond z = j; at most 2/36·e^-4·Σe^-i",
        Rational(1, 18) * exp(-4) / (1 - exp(-1)),
        Rational(1, 100),
    ),
    Less("together", Rational(285 + 100 + 19 + 2 + 1, 100), Rational(407, 100)),
    Less(
        "real α from 2 on: the log-moment is convex, and its chord between 2 and 3 exceeds α(α-1) by 8% at most",
        2 + 4 * part,
        Rational(108, 100) * (2 + part) * (1 + part),
        box={part: (0.0, 1.0)},
    ),
    Same(
        "between m and m+1 it exceeds α(α-1) by part - part², whatever m,",
        (1 - part) * z * (z - 1) + part * (z + 1) * z - (z + part) * (z + part - 1),
        part - part**2,
    ),
    Less("and α(α-1) grows with m", (2 + part) * (1 + part), (2 + more + part) * (1 + more + part)),
    Less("4.07·1.08 ≤ 5", Rational(407, 100) * Rational(108, 100), Integer(5)),
    Same(
        "α below 2: χ² against a third mean, e^(a/s)+e^(b/s)-2e^((a+b-1)/(2s)) with a, b ≤ 1, is convex in e^(a/2s) "
        "and e^(b/2s); with E = e^(1/2s), its corner E²-1 is below 2E(E-1)",
        2 * x * (x - 1) - (x**2 - 1),
        (x - 1) ** 2,
    ),
    Same("and so is 2-2/E", 2 * x * (x - 1) - (2 - 2 / x), 2 * (x - 1) ** 2 * (x + 1) / x),
    Less("and σ'²·2E(E-1) ≤ 1.7", exp(x) * (exp(x) - 1) / x, Rational(17, 10), box={x: (1e-6, 0.3334)}),
    Less("also where 1/(2σ'²) is below 1e-6", exp(2 * Rational(1, 10**6)), Rational(17, 10)),
]
AMPLIFIED = "Theorem 9 of Wang, Balle and Kasiviswanathan (2019), term by term; chords and χ² for orders between"
limited = [order > 1, spread >= Rational(3, 2), order <= log(1 / (share * (1 + spread)))]

amplification = Claim(
    id="lwang21.lemma5.5.3.subsampled",
    source=Source("lwang21", "Lemma 5.5.3, second part"),
    kind=Kind.PRIVACY,
    says="Without replacement it has 5τ²α/σ'² for σ'² ≥ 1.5 and α ≤ log(1/(τ(1+σ'²))).",
    assumes=limited,
    states=Le(renyi, 5 * share**2 * order / spread),
    checks=[Proof(amplification_steps, AMPLIFIED)],
)

amplification_right = Claim(
    id="lssgd20.lemma1.corrected",
    source=Source("lssgd20", "Lemma 1, second part"),
    kind=Kind.PRIVACY,
    says="5τ²α/σ'² for σ'² ≥ 1.5 and α ≤ log(1/(τ(1+σ'²))), as the later document has it.",
    assumes=limited,
    states=Le(renyi, 5 * share**2 * order / spread),
    corrects="lssgd20.lemma1",
    checks=[Implied(amplification, "lwang21, Lemma 5.5.3")],
)

# Theorem 1 of lssgd20 ------------------------------------------------------------------------------
order_v0 = Eq(order, 2 * log(1 / delta) / eps + 1)
theorem1 = Claim(
    id="lssgd20.theorem1",
    source=Source("lssgd20", "Theorem 1"),
    kind=Kind.PRIVACY,
    says="DP-LSSGD with ν² = 8TαG²/(n²ε), α = 2log(1/δ)/ε + 1, is (ε, δ)-private for ε² ≤ 5T·log(1/δ)b²/n².",
    assumes=[*lipschitz_losses, order_v0, eps**2 <= 5 * T * log(1 / delta) * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, LINEAR)],
    cites=[
        Cites(
            "lssgd20.lemma1", {share: batch / n, spread: 2 * T * (2 * log(1 / delta) + eps) * batch**2 / (n * eps) ** 2}
        ),
        Cites("lssgd20.lemma2"),
        Cites("lssgd20.lemma3"),
    ],
)

theorem1_corrected = Claim(
    id="lssgd20.theorem1.corrected",
    source=Source("lssgd20", "Theorem 1"),
    kind=Kind.PRIVACY,
    says="The same noise for ε at most 1 and at most Tb²/n².",
    assumes=[*lipschitz_losses, order_v0, eps <= 1, eps <= T * batch**2 / n**2],
    states=Eq(nu, noise(Integer(8))),
    guarantee=ApproxDP(eps, delta),
    corrects="lssgd20.theorem1",
    checks=[Accountant(released, LINEAR)],
)

# Theorem 5.3.2 of lwang21 --------------------------------------------------------------------------
order_right = log(1 / delta) / ((1 - split) * eps) + 1
limit = split * n**3 * eps / (5 * batch**3 * T * order + split * batch * n**2 * eps)
conditions = [order <= log(limit), 5 * batch**2 * T * order / (split * n**2 * eps) >= Rational(3, 2)]
identities: list[Same | Less] = [
    Same(
        "5τ²α/(ν²/Δ²), Δ = 2G/b",
        5 * (batch / n) ** 2 * (2 * G / batch) ** 2 * order / noise(20 / split) ** 2,
        split * eps / T,
    ),
    Same(
        "unsampled: αΔ²/(2ν²) = n²εµ/(10b²T)",
        order * (2 * G / batch) ** 2 / (2 * noise(20 / split) ** 2),
        n**2 * eps * split / (10 * batch**2 * T),
    ),
    Same(
        "ν²/Δ²",
        noise(20 / split) ** 2 / (2 * G / batch) ** 2,
        5 * T * order * batch**2 / (n**2 * eps * split),
    ),
    Same("1/(τ(1+ν²/Δ²))", n / batch / (1 + 5 * T * order * batch**2 / (n**2 * eps * split)), limit),
    Same("µε + log(1/δ)/(α-1)", split * eps + log(1 / delta) / (order_right - 1), eps),
]
theorem2 = Claim(
    id="lwang21.theorem5.3.2",
    source=Source("lwang21", "Theorem 5.3.2"),
    kind=Kind.PRIVACY,
    says="DP-LSSGD with ν² = 20TαG²/(µn²ε), α = log(1/δ)/((1-µ)ε) + 1, is (ε, δ)-private where two conditions hold.",
    assumes=[*lipschitz_losses, Eq(order, order_right), *conditions],
    states=Eq(nu, noise(20 / split)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Proof([*amplification_steps, *identities], "Lemma 5.5.3 with ρ = µε/T a step, composed and converted"),
        Accountant(
            released,
            LINEAR,
            box={eps: (1, 100), delta: (1e-10, 0.5), n: (10, 1e6), batch: (1, 1000), T: (1, 1e4), split: (0.05, 0.95)},
        ),
    ],
    cites=[
        Cites("lwang21.lemma5.5.3.subsampled", {share: batch / n, spread: (batch * noise(20 / split) / (2 * G)) ** 2}),
        Cites("lwang21.lemma5.5.4"),
        Cites("lwang21.lemma5.5.5"),
    ],
)

theorem2_proof = Claim(
    id="lwang21.theorem5.3.2.proof",
    source=Source("lwang21", "Proof of Theorem 5.3.2"),
    kind=Kind.PRIVACY,
    says="By Lemma 5.5.3 each step spends ρ = µε/T, and its conditions are those of the theorem.",
    assumes=[*lipschitz_losses, Eq(order, order_right)],
    states=Eq(renyi, split * eps / T),
    ignores_units=True,
    checks=[
        Proof(
            identities,
            "five identities",
        )
    ],
)

reach = Claim(
    id="lwang21.theorem5.3.2.reach",
    source=Source("lwang21", "Theorem 5.3.2, a consequence of its conditions"),
    kind=Kind.PRIVACY,
    says="The theorem covers no ε below log(1/δ)/(log(2n/(5b)) - 1), whatever µ and T: α > log(1/δ)/ε + 1.",
    assumes=[n >= 7 * batch],
    states=Le(log(1 / delta) / (log(2 * n / (5 * batch)) - 1), eps),
    checks=[
        Proof(
            [
                Same(
                    "the limit is 1/(τ(1+σ'²))",
                    n / batch / (1 + 5 * T * order * batch**2 / (n**2 * eps * split)),
                    limit,
                ),
                Less("at most 2n/(5b), as σ'² ≥ 3/2", n / batch / (1 + Rational(3, 2) + more), 2 * n / (5 * batch)),
                Less(
                    "and α ≥ log(1/δ)/ε + 1, as 1-µ ≤ 1",
                    x / eps + 1,
                    x / (eps * (1 - split)) + 1,
                    {split: more / (1 + more)},
                ),
            ],
            "log(1/δ)/ε + 1 ≤ log(2n/(5b))",
        )
    ],
)

theorem1_proof = Claim(
    id="lssgd20.theorem1.proof",
    source=Source("lssgd20", "Proof of Theorem 1"),
    kind=Kind.PRIVACY,
    says="The noise as the proof has it, and the condition σ'² ≥ 1/1.25 from that on ε.",
    assumes=[*lipschitz_losses, order_v0],
    states=Eq(nu, sqrt(4 * T * order * (order - 1) * G**2 / (n**2 * log(1 / delta)))),
    checks=[
        Proof(
            [
                Same("α - 1 = 2log(1/δ)/ε", 4 * T * order * (2 * x / eps) * G**2 / (n**2 * x), noise(Integer(8)) ** 2),
                Same(
                    "σ'² = 2T(2log(1/δ)+ε)b²/(n²ε²)",
                    (noise(Integer(8)) ** 2 / (2 * G / batch) ** 2).subs(order, 2 * x / eps + 1),
                    2 * T * (2 * x + eps) * batch**2 / (n**2 * eps**2),
                ),
                Less(
                    "at least 4/5 if 5T·log(1/δ)b²/(n²ε²) = 1 + more",
                    Rational(4, 5),
                    Rational(4, 5) * (1 + more) + 2 * T * batch**2 / (n**2 * eps),
                ),
            ],
            "three steps",
        )
    ],
)
