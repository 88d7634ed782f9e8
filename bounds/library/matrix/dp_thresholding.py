"""DP-Thresholding for sparse covariances (dwang20, section 6.2.3, Algorithm 6.2.48).

Entries of Σ̃ = S + N up to a threshold t become 0, then negative eigenvalues do. The constants of Lemma 6.2.2 may be
C₁ = γ = 2, as ‖x‖ ≤ 1: with them t = 2√(log p/n) + 4σ₁√(log p), and the bounds have numbers. The document's open
question, whether (6.21) is tight, is answered by its own (6.57): the sharper claim has ε in the small term only.
Solver: dpcheck/solvers/matrix/dp_thresholding.py; each user by herself: ldp_thresholding.py.
"""

from sympy import Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.local.ldp_pca_gauss import sigma_1, unit
from dpcheck.bounds.library.matrix.naive_gaussian_cov import privacy, u, usual, w, y
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

t_dev = quantity("cov_deviation", "a size of |S_ij - Σ_ij|", box=(1e-3, 1), printed="t", latex="t")
width = quantity("product_width", "length of an interval that holds x_i x_j", box=(1e-2, 1), printed="|x_i x_j|")
entry_tail = quantity("cov_entry_tail", "P(|S_ij - Σ_ij| > t)", printed="P(|σ*-σ|>t)")
C1 = quantity("C1_cov", "constant of Lemma 6.2.2", printed="C₁", latex="C_1")
gamma_cov = quantity("gamma_cov", "constant of Lemma 6.2.2", printed="γ", latex=r"\gamma")
miss_all = quantity("cov_miss_all", "chance that (6.18) fails", printed="P(not (6.18))")
miss_one = quantity("cov_miss_one", "chance that (6.20) fails for an entry", printed="P(not (6.20))")
sparsity = quantity("cov_sparsity", "nonzeros of a column off the diagonal", box=(1, 100), integer=True, printed="s")
off1 = quantity("cov_off1", "E‖Σ̂-Σ‖₁², the largest column sum", printed="E‖Σ̂-Σ‖₁²")
kept1 = quantity("cov_kept1", "E of that of the entries that keep (6.20)", printed="E‖Σ̂-Σ-D‖₁²")
strays2 = quantity("cov_strays2", "E‖D‖₁² of the entries that break (6.20)", printed="E‖D‖₁²")
cov_error2 = quantity("cov_error2", "E‖Σ⁺-Σ‖₂²", printed="E‖Σ⁺-Σ‖²", latex=r"\mathbb{E}\|\Sigma^+-\Sigma\|_2^2")
cov_error_w2 = quantity("cov_error_w2", "E‖Σ̂-Σ‖_w², as a map of ℓ_w", printed="E‖Σ̂-Σ‖_w²")
L = log(d)
threshold = 2 * sqrt(L / n) + 4 * sigma_1 * sqrt(L)
sparse = Setting("Σ has at most s nonzeros off the diagonal in each column")
class_of = [unit, sparse]
several = d >= 2
shape = {**usual, d: 2 * exp(w), n: 2 + y}

# Privacy -------------------------------------------------------------------------------------------
theorem1, theorem1_corrected, theorem1_add_remove = privacy(
    "theorem6.2.1", "Theorem 6.2.1", 7957, eps <= 1, of_output="Algorithm 6.2.48, which lets out Σ⁺, is (ε, δ)-private."
)

# Entries -------------------------------------------------------------------------------------------
lemma2_explicit = Claim(
    id="dwang20.lemma6.2.2.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.2.2, with numbers, as ‖x‖ ≤ 1", line=7890),
    says="An entry of S is within t of its mean but for a chance of 2exp(-2nt²).",
    assumes=[unit, width <= 1],
    states=Le(entry_tail, 2 * exp(-2 * n * t_dev**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            entry_tail,
            Step("<=", 2 * exp(-2 * n * t_dev**2 / width**2),
                 because=Premise("Hoeffding; |x_i x_j| ≤ ‖x‖²/2 for i ≠ j, and 0 ≤ x_i² ≤ ‖x‖²: intervals of 1"),
                 uses=[unit]),
            Step("<=", STATEMENT, where={width: 1 / (1 + u)}),
        )
    ],
)  # fmt: skip

lemma2 = Claim(
    id="dwang20.lemma6.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.2.2, (6.14)", line=7890),
    says="There are constants C₁ and γ of such a bound; 2 and 2 are some.",
    assumes=[unit, width <= 1],
    states=Le(entry_tail, C1 * exp(-8 * n * t_dev**2 / gamma_cov**2)),
    hidden=[C1, gamma_cov],
    ignores_units=True,
    checks=[Chain(Cites(lemma2_explicit.id), Step("<=", STATEMENT), choosing={C1: 2, gamma_cov: 2})],
)  # fmt: skip


def entry(part: str, place: str, line: int, says: str, miss: Symbol, rate: Expr, many: Expr, share: Rational) -> Claim:
    """Sampling and noise within this share of what the threshold leaves to each."""
    return Claim(
        id=f"dwang20.{part}", kind=Kind.UTILITY,
        source=Source("dwang20", place, line=line),
        says=says,
        assumes=[unit, width <= 1],
        states=Rate(miss, rate),
        ignores_units=True,
        checks=[
            Chain(
                miss,
                Step("<=", many * (entry_tail + 2 * exp(-8 * share**2 * L)), because=Premise(
                    f"each entry is as said if |S_ij-Σ_ij| ≤ {share}·γ√(log p/n), |N_ij| ≤ {4 * share}·σ₁√log p: "
                    "by cases of |Σ_ij| against t; a normal number is that large at most (Lemma 6.2.1)")),
                Step("<=", because=Cites(lemma2_explicit.id, {t_dev: 2 * share * sqrt(L / n)})),
                Step("<=", 4 * STATEMENT),
            )
        ],
    )  # fmt: skip


equation18 = entry(
    "equation6.18", "(6.18), up to the last sign of equality", 7924,
    "All entries of Σ̃ are within t = γ√(log p/n) + 4σ₁√(log p) of Σ but for a chance of C/p⁶.",
    miss_all, d**-6, d**2, Rational(1),
)  # fmt: skip
lemma3 = entry(
    "lemma6.2.3", "Lemma 6.2.3, (6.20)", 7961,
    "An entry of Σ̂ is within 4min{|Σ_ij|, t} of Σ_ij but for a chance of C/p^(9/2).",
    miss_one, d ** -Rational(9, 2), Rational(1), Rational(3, 4),
)  # fmt: skip

# Matrices ------------------------------------------------------------------------------------------
explicit = Claim(
    id="dwang20.theorem6.2.2.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.2.2, (6.56) to (6.64), with numbers, for any noise σ₁ on an entry", line=8327),
    says="The largest column sum of the error, squared; on average.",
    assumes=class_of,
    added=[several],
    states=Le(off1, sparsity**2 * L * (1200 / n + 4500 * sigma_1**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            off1,
            Step("<=", 2 * kept1 + 2 * strays2, because=Premise("(a+b)² ≤ 2a² + 2b², D the entries that break (6.20)")),
            Step("<=", 2 * (4 * (sparsity + 1) * threshold) ** 2 + 2 * strays2,
                 because=Premise("entries that keep (6.20) are off by 4t at most, and by nothing where Σ_ij = 0"),
                 uses=[sparse]),
            Step("<=", 2 * (4 * (sparsity + 1) * threshold) ** 2 + 2 * (
                     Rational(506, 100) * (Rational(364, 100) / n + Rational(783, 100) * sigma_1**2)
                     + 8 * threshold**2 * d ** -Rational(3, 2)),
                 because=Premise(
                     "|D_ij| ≤ |Σ̃_ij-Σ_ij| + t, and E‖D‖₁² ≤ pΣE D_ij²; Hölder with 6 and 3/2, as an entry breaks "
                     "(6.20) with chance 4p^(-9/2), E|S_ij-Σ_ij|⁶ ≤ 1.5/n³ (Hoeffding) and E N_ij⁶ = 15σ₁⁶"),
                 uses=[unit]),
            Step("<=", 32 * (sparsity + 1) ** 2 * (8 * L / n + 32 * sigma_1**2 * L)
                 + 2 * (Rational(506, 100) * (Rational(364, 100) / n + Rational(783, 100) * sigma_1**2)
                        + 2 * (8 / n + 32 * sigma_1**2)),
                 because=Premise("t² ≤ 8log p/n + 32σ₁²log p, and p^(-3/2)·log p ≤ 1/4")),
            Step("<=", STATEMENT, where={d: 2 * exp(w), sparsity: 1 + u}),
        )
    ],
)  # fmt: skip

central = Cites("dwang20.theorem6.2.1.corrected")


def upper(
    stem: str, place: str, line: int, says: str, subject: Symbol, norm: tuple[int, str], rate: Expr,
    guarantee: Guarantee, noise: Cites, where: dict[Symbol, Expr], provenance: Provenance = Provenance.PRINTED,
) -> Claim:
    """An error by the largest column sum, so many times, under noise that the cited claim names."""
    share, why = norm
    return Claim(
        id=f"dwang20.{stem}", kind=Kind.UTILITY,
        source=Source("dwang20", place, line=line),
        says=says,
        assumes=[*class_of, eps <= 1],
        added=[delta <= Rational(1, 2), several, n >= 2],
        states=Rate(subject, rate),
        guarantee=guarantee,
        provenance=provenance,
        ignores_units=True,
        checks=[
            Chain(
                subject,
                Step("<=", share * off1, because=Premise(why)),
                Step("<=", because=Cites(explicit.id, where)),
                Step("<=", because=noise),
                Step("<=", 120_000 * STATEMENT, where=shape),
            )
        ],
    )  # fmt: skip


SPECTRAL = 4, (
    "‖Σ⁺-Σ‖₂ ≤ 2‖Σ̂-Σ‖₂, as eigenvalues of Σ̂ are within ‖Σ̂-Σ‖₂ of those of Σ, ≥ 0 (Weyl); ‖A‖₂ ≤ ‖A‖₁ for symmetric A"
)
EVERY = 1, "‖A‖_w ≤ max{‖A‖₁, ‖A‖∞} (Riesz and Thorin), which are the same for symmetric A"
stated_rate = sparsity**2 * L * log(1 / delta) / (n * eps**2)
sharp_rate = sparsity**2 * L * (1 / n + log(1 / delta) / (n * eps) ** 2)
one_by_one = ApproxDP(eps, delta)

theorem2 = upper("theorem6.2.2", "Theorem 6.2.2, (6.21)", 7967, "The squared spectral error on average.", cov_error2,
                 SPECTRAL, stated_rate, one_by_one, central, {})  # fmt: skip
theorem2_sharp = upper(
    "theorem6.2.2.sharp", "Theorem 6.2.2: what (6.57) shows", 8356,
    "Privacy costs a term of order 1/n², not a share of the sample.", cov_error2, SPECTRAL, sharp_rate, one_by_one,
    central, {}, Provenance.CONSEQUENCE,
)  # fmt: skip
corollary1 = upper("corollary6.2.1", "Corollary 6.2.1, (6.22)", 7973, "The same in every norm of maps of ℓ_w.",
                   cov_error_w2, EVERY, stated_rate, one_by_one, central, {})  # fmt: skip


# The experiments -----------------------------------------------------------------------------------
STAND_INS = Setting("entries of Ũ uniform on [-1, 1], γ = 0.1 and n = 100,000, none of which is printed")


NO_DIAGONAL = Setting("Ũ has no diagonal, so that E‖x‖² is p/4, whatever its other entries")


def finding(
    part: str, line: int, says: str, provenance: Provenance = Provenance.PRINTED, added: Setting = STAND_INS
) -> Claim:
    """What the text says of Figures 6.5 to 6.8: a ratio is at most 1."""
    return Claim(
        id=f"dwang20.section6.2.6.{part}", kind=Kind.EXPERIMENT,
        source=Source("dwang20", "section 6.2.6, on Figures 6.5 to 6.8", line=line),
        says=says,
        states=Le(ratio, 1),
        added=[added],
        provenance=provenance,
    )  # fmt: skip


bounded_samples = finding("bounded", 8227, "For λ = 50 and c = 200 a sample's norm is below 1 with high probability.",
                          added=NO_DIAGONAL)  # fmt: skip
denser = finding("sparsity", 8237, "The denser Σ is, the larger the relative error.")
larger_p = finding("dimension", 8237, "Where p doubles, the relative error grows slightly: by a quarter at most.",
                   Provenance.READING)  # fmt: skip
by_eps = finding("eps", 8237, "The error grows as privacy does (printed: as ε increases, “which means more private”).",
                 Provenance.READING)  # fmt: skip
