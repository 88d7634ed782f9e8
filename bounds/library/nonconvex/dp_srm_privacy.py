"""The lemmas behind the privacy of DP-SRM (lwang21, chapter 4): Renyi DP, sampling without replacement.

Lemmas 4.3.7, 4.3.9 and 4.9.1 with the proof in section 4.10, Remarks 4.3.8 and 4.5.2. What chapter 5 has of the same
kind stands with its own algorithm. Sensitivity and noise: dp_srm_sensitivity.py; theorems: dp_srm.py.
"""

from sympy import Eq, Integer, Le, Min, Rational, Symbol, exp, integrate, log, oo, pi, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import RenyiDP
from dpcheck.bounds.language.symbols import Delta, c1, delta, eps_out, quantity, sigma
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

# The symbols of chapter 4 --------------------------------------------------------------------------
order = quantity("srm_order", "order of a Renyi divergence", box=(1.01, 1e3), printed="α", latex=r"\alpha")
whole_order = quantity("whole_order", "order, a whole number", box=(2, 1e3), integer=True, printed="α", latex=r"\alpha")
renyi = quantity("srm_renyi", "Renyi divergence of two neighbouring outputs", printed="ρ", latex=r"\rho")
renyi_1 = quantity("srm_renyi_1", "that of one release", printed="ρ₁", latex=r"\rho_1")
renyi_2 = quantity("srm_renyi_2", "that of another", printed="ρ₂", latex=r"\rho_2")
share = quantity("share", "share of the records in a batch", box=(1e-5, 1.0), printed="τ", latex=r"\tau")
noise2 = quantity(
    "noise2", "squared noise over sensitivity", box=(0.7, 1e3), printed="σ'²", latex=r"\sigma'^2"
)  # of one release on all records
split = quantity("split", "part of epsilon for composition", box=(0.05, 0.95), below=1.0, printed="β", latex=r"\beta")
lemma_sum = quantity("lemma_sum", "terms of the amplification bound from the third on", printed="Σ", latex=r"\Sigma")
moment_log = quantity("moment_log", "logarithm in the amplification bound", printed="log(1+…)")

more, x, y = Symbol("more", nonnegative=True), Symbol("x", positive=True), Symbol("y", positive=True)
reals = Symbol("z", real=True)


def reach(a):  # type: ignore[no-untyped-def]
    """log(1/(τα(1+σ'²))), of which the order may be so much: Lemma 4.3.7's range."""
    return log(1 / (share * a * (1 + noise2)))


# Renyi DP ------------------------------------------------------------------------------------------
# ∫ p^α q^(1-α) for p = N(Δ, σ²) and q = N(0, σ²), the exponent multiplied out.
exponent = -(reals**2 - 2 * order * Delta * reals + order * Delta**2) / (2 * sigma**2)

gaussian = Claim(
    id="lwang21.lemma4.3.7.gaussian",
    source=Source("lwang21", "Lemma 4.3.7, first half"),
    kind=Kind.PRIVACY,
    says="The Gaussian mechanism's Renyi divergence of order α.",
    assumes=[order > 1],
    states=Eq(renyi, order * Delta**2 / (2 * sigma**2)),
    guarantee=RenyiDP(order, renyi),
    checks=[
        Equals(
            lambda: log(integrate(exp(exponent.expand()), (reals, -oo, oo)) / (sqrt(2 * pi) * sigma)) / (order - 1),
            "the integral of p^α q^(1-α), two Gaussians Δ apart",
        )
    ],
)

# The one term of the divergence of (1-τ)N(0,σ²) + τN(Δ,σ²) from N(0,σ²) with all α factors from the far part.
all_far = (order * log(share) + order * (order - 1) * Delta**2 / (2 * sigma**2)) / (order - 1)

subsampled = Claim(
    id="lwang21.lemma4.3.7.subsampled",
    source=Source("lwang21", "Lemma 4.3.7, second half"),
    kind=Kind.PRIVACY,
    says="The same on a random τ-share of the records, as printed: the limit on α has σ² before the logarithm.",
    assumes=[
        order > 1,
        sigma**2 / Delta**2 >= Rational(7, 10),
        order <= 2 * sigma**2 * log(1 / (share * order * (1 + sigma**2 / Delta**2))) / 3 + 1,
        share <= 1,
    ],
    states=Le(renyi, Rational(7, 2) * share**2 * Delta**2 * order / sigma**2),
    guarantee=RenyiDP(order, renyi),
    ignores_units=True,
    checks=[AtMost(all_far, "one term alone of the exact divergence, at a sensitivity above 1")],
)

subsampled_corrected = Claim(
    id="lwang21.lemma4.3.7.subsampled.corrected",
    source=Source("lwang21", "Lemma 4.3.7, second half"),
    kind=Kind.PRIVACY,
    says="With σ'² = σ²/Δ² in the limit on α.",
    assumes=[order > 1, noise2 >= Rational(7, 10), order - 1 <= Rational(2, 3) * noise2 * reach(order), share <= 1],
    states=Le(renyi, Rational(7, 2) * share**2 * order / noise2),
    guarantee=RenyiDP(order, renyi),
    corrects="lwang21.lemma4.3.7.subsampled",
)

theorem9 = Claim(
    id="lwang21.equation4.10.1",
    source=Source("lwang21", "equation (4.10.1), quoted as Theorem 9 of WBK19"),
    kind=Kind.PRIVACY,
    says="Amplification by sampling without replacement, whole α (written here for α = 2, checked up to 40).",
    assumes=[share <= 1],
    states=Le(renyi, log(1 + share**2 * Min(4 * (exp(1 / noise2) - 1), 2 * exp(1 / noise2)))),
    guarantee=RenyiDP(2, renyi),
)

second_term = Claim(
    id="lwang21.section4.10.second",
    source=Source("lwang21", "section 4.10, the second term"),
    kind=Kind.IDENTITY,
    says="min{4(e^(1/σ²)-1), 2e^(1/σ²)} is at most 6/σ² for σ² ≥ 0.7.",
    assumes=[noise2 >= Rational(7, 10)],
    states=Le(Min(4 * (exp(1 / noise2) - 1), 2 * exp(1 / noise2)), 6 / noise2),
    checks=[
        Proof(
            [
                Less("x = 1/σ² up to 1/1000: 4(e^x-1) ≤ 4x·e^x", 4 * exp(Rational(1, 1000)), Integer(6)),
                Less("4(e^x-1) ≤ 6x up to 0.7", 4 * (exp(x) - 1), 6 * x, box={x: (1e-3, 0.7)}),
                Less("2e^x ≤ 6x from 0.7 to 1/0.7", 2 * exp(x), 6 * x, box={x: (0.7, 1.4286)}),
            ]
        )
    ],
)

binomial = Claim(
    id="lwang21.section4.10.binomial",
    source=Source("lwang21", "section 4.10, after (4.10.1)"),
    kind=Kind.IDENTITY,
    says="2·C(α, j) ≤ C(α, 2)·α^(j-2) for 3 ≤ j ≤ α; here j = 3, as C(α, j) ≤ α^j/3!.",
    assumes=[whole_order >= 3],
    states=Le(2 * whole_order * (whole_order - 1) * (whole_order - 2) / 6, whole_order**2 * (whole_order - 1) / 2),
    checks=[
        Proof(
            [
                Less(
                    "2·α^j/3! ≤ C(α,2)·α^(j-2) for α ≥ 3: α²/3 ≤ α(α-1)/2",
                    whole_order**2 / 3, whole_order * (whole_order - 1) / 2, {whole_order: 3 + more},
                ),
                Less(
                    "C(α,3) ≤ α³/6", whole_order * (whole_order - 1) * (whole_order - 2) / 6, whole_order**3 / 6,
                    {whole_order: 3 + more},
                ),
            ]
        )
    ],
)

# r stands for τα·e^((α-1)/(2σ²)), at most 1/(1+σ²) by (4.10.2), whose left side has the larger exponent.
geometric = Claim(
    id="lwang21.section4.10.sum",
    source=Source("lwang21", "section 4.10, the geometric sum under (4.10.2)"),
    kind=Kind.IDENTITY,
    says="The terms from the third on are at most τ²C(α,2)/σ² in all.",
    assumes=[
        noise2 >= Rational(7, 10), whole_order >= 3, whole_order - 1 <= Rational(2, 3) * noise2 * reach(whole_order),
    ],
    states=Le(lemma_sum, share**2 * whole_order * (whole_order - 1) / (2 * noise2)),
    checks=[
        Proof(
            [
                Same(
                    "(4.10.2) as an equation: τα·e^(3(α-1)/(2σ²)) = 1/(1+σ²)",
                    (share * y * exp(Rational(3, 2) * x / noise2)).subs(x, Rational(2, 3) * noise2 * reach(y)),
                    1 / (1 + noise2),
                ),
                Less(
                    "(1/(1+σ²))/(1-r) ≤ 1/σ² for r ≤ 1/(1+σ²)",
                    1 / (1 + noise2) / (1 - x), 1 / noise2, {x: 1 / (1 + noise2 + more)},
                ),
            ],
            "the sum is e^((α-1)/σ²)·r/(1-r) at most, with r = τα·e^((α-1)/(2σ²)) ≤ 1/(1+σ²)",
        )
    ],
    cites=[Cites("lwang21.section4.10.binomial")],
)

converges = Claim(
    id="lwang21.section4.10.ratio",
    source=Source("lwang21", "section 4.10, the condition of the geometric sum"),
    kind=Kind.IDENTITY,
    says="τα·e^((α-1)/(2σ²)) stays below 1 under (4.10.2); here with α-1 at its limit, and no τ < 1 is needed.",
    assumes=[share * whole_order * (1 + noise2) <= 1],
    states=Le(share * whole_order * exp(reach(whole_order) / 3), 1),
    checks=[
        Proof(
            [
                Same(
                    "(α-1)/(2σ²) is log(1/(τα(1+σ²)))/3: the cube is (τα)²/(1+σ²)",
                    (share * y * exp(reach(y) / 3)) ** 3, (share * y) ** 2 / (1 + noise2),
                ),
                Less("τα(1+σ²) ≤ 1 for a positive logarithm", x**2, 1 + noise2, {x: 1 / (1 + noise2 + more)}),
            ]
        )
    ],
)

printed_condition = Claim(
    id="lwang21.section4.10.condition",
    source=Source("lwang21", "section 4.10, before its last line"),
    kind=Kind.PRIVACY,
    says="The result under another limit, as printed there: α ≤ log(1/(τ(1+σ²))), which does not give (4.10.2).",
    assumes=[order > 1, noise2 >= Rational(7, 10), order <= log(1 / (share * (1 + noise2))), share <= 1],
    states=Le(renyi, Rational(7, 2) * share**2 * order / noise2),
    guarantee=RenyiDP(order, renyi),
)

last_step = Claim(
    id="lwang21.section4.10.last",
    source=Source("lwang21", "section 4.10, last line"),
    kind=Kind.IDENTITY,
    says="log(1 + τ²C(α,2)·10/σ²) ≤ τ²C(α,2)·7/σ², as printed.",
    assumes=[share <= 1],
    states=Le(moment_log, share**2 * whole_order * (whole_order - 1) / 2 * 7 / noise2),
    checks=[AtMost(log(1 + share**2 * whole_order * (whole_order - 1) / 2 * 10 / noise2), "the left side as printed")],
)

term = share**2 * whole_order * (whole_order - 1) / 2 / noise2
last_step_corrected = Claim(
    id="lwang21.section4.10.last.corrected",
    source=Source("lwang21", "section 4.10, last line"),
    kind=Kind.IDENTITY,
    says="With 7, which is 6 + 1, on both sides: log(1+x) ≤ x.",
    assumes=[share <= 1],
    states=Le(moment_log, 7 * term),
    corrects="lwang21.section4.10.last",
    checks=[
        Proof(
            [
                Same("e^x - 1 - x = ∫(x-s)e^s ds ≥ 0", exp(x) - 1 - x, integrate((x - more) * exp(more), (more, 0, x))),
                Same("6/σ² and 1/σ² make 7/σ²", 6 * term + term, 7 * term),
            ]
        )
    ],
)

subsampled_whole = Claim(
    id="lwang21.lemma4.3.7.subsampled.whole",
    source=Source("lwang21", "Lemma 4.3.7, second half"),
    kind=Kind.PRIVACY,
    says="The corrected lemma for whole α, from (4.10.1).",
    assumes=[
        noise2 >= Rational(7, 10), whole_order >= 3, whole_order - 1 <= Rational(2, 3) * noise2 * reach(whole_order),
        share <= 1,
    ],
    states=Le(renyi, Rational(7, 2) * share**2 * whole_order / noise2),
    guarantee=RenyiDP(whole_order, renyi),
    corrects="lwang21.lemma4.3.7.subsampled",
    checks=[
        Proof(
            [
                Same(
                    "7·τ²C(α,2)/σ² over α-1",
                    7 * term / (whole_order - 1),
                    Rational(7, 2) * share**2 * whole_order / noise2,
                )
            ],
            "(4.10.1), its second term, the geometric sum and log(1+x) ≤ x",
        )
    ],
    cites=[
        Cites("lwang21.equation4.10.1"), Cites("lwang21.section4.10.second"), Cites("lwang21.section4.10.sum"),
        Cites("lwang21.section4.10.last.corrected"),
    ],
)

remark8 = Claim(
    id="lwang21.remark4.3.8",
    source=Source("lwang21", "Remark 4.3.8, the moments accountant"),
    kind=Kind.PRIVACY,
    says="The moments accountant (ACG16) with sensitivity 1, as quoted: each record drawn with probability τ, a c₁.",
    assumes=[
        order > 1, sigma >= 1, order <= sigma**2 * log(1 / (share * sigma)), share <= Rational(1, 2),
        Setting("each record drawn by itself, neighbours with a record more or less, as in ACG16"),
    ],
    states=Le(renyi, share**2 * order / ((1 - share) * sigma**2) + c1 * share**3 * order**3 / sigma**3),
    guarantee=RenyiDP(order, renyi),
    hidden=(c1,),
    ignores_units=True,
)

remark8_closed = Claim(
    id="lwang21.remark4.3.8.comparison",
    source=Source("lwang21", "Remark 4.3.8, the ranges of α"),
    kind=Kind.PRIVACY,
    says="Against the moments accountant Lemma 4.3.7 relaxes the noise (σ² ≥ 0.7, not 1); its range of α is no larger.",
    assumes=[noise2 >= 1, whole_order >= 2, share * whole_order * (1 + noise2) <= 1],
    states=Le(Rational(2, 3) * noise2 * reach(whole_order), noise2 * log(1 / (share * sqrt(noise2)))),
    checks=[
        Proof(
            [
                Less(
                    "α(1+σ²) ≥ √σ² for σ ≥ 1, so its logarithm is smaller", y, whole_order * (1 + y**2),
                    {whole_order: 2 + more, y: 1 + x},
                ),
                Less("and 2/3 of a positive number is less", Rational(2, 3), Integer(1)),
            ]
        )
    ],
)

remark2 = Claim(
    id="lwang21.remark4.5.2",
    source=Source("lwang21", "Remark 4.5.2"),
    kind=Kind.PRIVACY,
    says="The requirement on σ'² is relaxed: noise that meets the moments accountant's, σ'² ≥ 1, meets it.",
    assumes=[noise2 >= 1],
    states=Le(Rational(7, 10), noise2),
    checks=[AtMost(Rational(7, 10), "0.7, over each one's own sensitivity", {noise2: 1 + more})],
)

conversion = Claim(
    id="lwang21.lemma4.3.9",
    source=Source("lwang21", "Lemma 4.3.9"),
    kind=Kind.PRIVACY,
    says="(α, ρ)-Renyi DP gives (ρ + log(1/δ)/(α-1), δ)-DP.",
    assumes=[order > 1],
    states=Eq(eps_out, renyi + log(1 / delta) / (order - 1)),
    checks=[
        Proof(
            [
                Same(
                    "Markov: P(loss > ε') ≤ E e^((α-1)·loss)·e^(-(α-1)ε') = e^((α-1)(ρ-ε')) = δ",
                    exp((order - 1) * (renyi - (renyi + log(1 / delta) / (order - 1)))),
                    delta,
                )
            ]
        )
    ],
)

composition = Claim(
    id="lwang21.lemma4.9.1",
    source=Source("lwang21", "Lemma 4.9.1"),
    kind=Kind.PRIVACY,
    says="Renyi divergences of one order add up over releases that may depend on those before (here two).",
    assumes=[order > 1],
    states=Eq(renyi, renyi_1 + renyi_2),
    checks=[
        Equals(
            log(exp((order - 1) * renyi_1) * exp((order - 1) * renyi_2)) / (order - 1),
            "E over both of the likelihood ratio to the α: given the first release, the second's part is at most "
            "e^((α-1)ρ₂)",
        )
    ],
)
