"""Row-sparse principal components from noisy outer products (dwang20, section 6.1.4, Algorithm 6.1.47).

X̂ maximises ⟨S̃, X⟩ - λ‖X‖₁₁ over the Fantope 0 ≤ X ≤ I, tr X = k; its k leading eigenvectors are let out. J are the s
rows of V that are not 0. Solver: dpcheck/solvers/local/ldp_sparse_pca_fps.py; noise, Σ and S̃: ldp_pca_gauss.py.
"""

import itertools
from collections.abc import Mapping

from sympy import Integer, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import c, c1, d, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.local.ldp_pca_gauss import (
    HIDDEN_SPIKE,
    gap,
    k,
    leading_ones,
    noise_variance,
    not_empty,
    packed,
    privacy,
    private,
    pure,
    sigma_1,
    sin2,
    spectrum,
    spiked,
    spread_out,
    top,
    u,
    unit,
    v,
    weak,
    x,
)
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

s = quantity("s_rows", "rows of V that are not 0", box=(1, 1e3), integer=True, printed="s", latex="s")
penalty = quantity("l1_penalty", "weight of the l1 norm", box=(1e-6, 10), printed="λ", latex=r"\lambda")
distance = quantity("fantope_distance", "distance of X̂ from VV'", printed="‖X̂-VVᵀ‖", latex=r"\|\hat X-VV^T\|_F")
on_J = quantity("pca_on_support", "l1 norm of X̂ - VV' on J x J", printed="‖(X̂-VVᵀ)_JJ‖₁₁")
off_J = quantity("pca_off_support", "l1 norm of X̂ elsewhere", printed="‖X̂_rest‖₁₁")
true_l1 = quantity("pca_true_l1", "l1 norm of VV'", printed="‖VVᵀ‖₁₁")
found_l1 = quantity("pca_found_l1", "l1 norm of X̂", printed="‖X̂‖₁₁")
alpha = quantity("limited_correlation", "constant of limited correlation", box=(0.01, 1), printed="α", latex=r"\alpha")
missed = quantity("support_missed", "chance that the support of X̂ is not within J", printed="Pr(supp X̂ ⊄ J)")
noise_over = quantity("pca_noise_over", "chance of an entry of Z above √(6 log p) deviations", printed="Pr(‖Z‖∞∞ > z)")
projections = quantity("pca_projections", "distance of two projections", printed="‖V̂V̂ᵀ-VVᵀ‖")
risk_sparse = quantity("risk_sparse_pca", "minimax squared subspace distance, sparse", printed="M(S(P(s,k,σ²)),ε)")

theorem4_privacy, theorem4_privacy_corrected = privacy("6.1.4", 7469, eps <= 1)

# Utility -------------------------------------------------------------------------------------------
few_rows = Setting("V has at most s rows that are not 0")
sparse = [*spectrum, few_rows, k <= s]
large_enough = Setting("λ ≥ ‖S̃-Σ‖∞∞")

lemma15 = Claim(
    id="dwang20.lemma6.1.15", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.1.15", line=7770),
    says="If λ is at least the largest entry of S̃-Σ, X̂ is as close as this to the projection on the true subspace.",
    assumes=[few_rows, large_enough],
    states=Le(distance, 4 * s * penalty / gap),
    ignores_units=True,
    checks=[
        Chain(
            distance,
            Step(
                "<=",
                2 * penalty * (on_J + off_J + true_l1 - found_l1) / (gap * distance),
                because=Premise(
                    "½(λ_k-λ_(k+1))‖X̂-VVᵀ‖² ≤ ⟨Σ, VVᵀ-X̂⟩ (Lemma 6.1.14); X̂ is optimal for S̃, and λ ≥ ‖S̃-Σ‖∞∞"
                ),
                uses=[few_rows, large_enough],
            ),
            Step(
                "<=",
                STATEMENT,
                because=Slack(
                    given={
                        "triangle inequality on J x J, where VVᵀ lives": 2 * penalty / (gap * distance)
                        * (found_l1 - true_l1 + on_J - off_J),
                        "J x J has s² entries: Cauchy-Schwarz": 4 * penalty / (gap * distance) * (s * distance - on_J),
                    }
                ),
            ),
        )
    ],
)

theorem4 = Claim(
    id="dwang20.theorem6.1.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.4", line=7471),
    says="The squared subspace distance with λ ≤ O(λ₁√(log p/(nε²))), but for a chance of 2/p² + 1/p^c.",
    assumes=[*sparse, unit, eps <= 1],
    states=Rate(sin2, top**2 * s**2 * log(d) / (gap**2 * n * eps**2)),
    guarantee=private,
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 2),
            {**spiked, s: Integer(1), eps: Rational(1, 2), delta: Rational(1, 10)}, x,
            f"whatever λ is: {HIDDEN_SPIKE}",
        )
    ],
)

normal_sample = Setting("‖S-Σ‖∞∞ ≤ 8λ₁√(log p/n), as of n ≥ 4·log p normal records but for a chance of 2/p²")
least_penalty = 8 * top * sqrt(log(d) / n) + sigma_1 * sqrt(6 * log(d) / n)

theorem4_corrected = Claim(
    id="dwang20.theorem6.1.4.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.4", line=7471),
    says="λ must be large enough, not small: with λ = 8λ₁√(log p/n) + σ₁√(6·log p/n), but for a chance of 1/p.",
    assumes=[*sparse, unit, eps <= 1, large_enough],
    added=[delta <= Rational(1, 2), normal_sample],
    states=Rate(sin2, s**2 * log(d) * (top**2 + log(1 / delta) / eps**2) / (gap**2 * n)),
    guarantee=private,
    corrects="dwang20.theorem6.1.4",
    ignores_units=True,
    checks=[
        Chain(
            sin2,
            Step("<=", 2 * distance**2, because=Premise("Lemma 6.1.13, of two matrices of which one has a gap of 1"),
                 uses=[leading_ones]),
            Step("<=", because=Cites("dwang20.lemma6.1.15")),
            Step(
                "=",
                32 * s**2 * least_penalty**2 / gap**2,
                because=Premise(
                    "this λ is at least ‖S-Σ‖∞∞ + ‖Z‖∞∞: of p(p+1)/2 normals none exceeds √(6·log p) deviations but "
                    "for a chance of 1/p"
                ),
                uses=[normal_sample],
            ),
            Step(
                "<=",
                64 * s**2 * log(d) / n * (64 * top**2 + 6 * sigma_1**2) / gap**2,
                because=Slack(seen=[32 * s**2 * log(d) / n / gap**2 * (8 * top - sqrt(6) * sigma_1) ** 2]),
            ),
            Step("<=", because=Cites("dwang20.theorem6.1.4.privacy.corrected")),
            Step("<=", 5000 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)

# Support recovery ----------------------------------------------------------------------------------
limited = Setting("8s‖Σ_(J^c J)‖₂∞/(λ_k-λ_(k+1)) ≤ 1-α")
printed_n = s**2 * top**2 * log(1 / delta) * log(d) * (8 * top + gap) / (eps**2 * alpha**2 * gap**2)

theorem5 = Claim(
    id="dwang20.theorem6.1.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.5, first part, with (6.6)", line=7497),
    says="From an n of the order (6.6) on, with λ = O(√(log(1/δ)log p/n)/(αε)), X̂ has no row outside of J.",
    assumes=[*sparse, unit, eps <= 1, limited, alpha <= 1, n >= c1 * printed_n],
    states=Le(missed, 2 / d**2 + d ** (-c)),
    guarantee=private,
    hidden=(c, c1),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 2),
            {**spiked, s: Integer(1), alpha: Integer(1), eps: Rational(1, 2), delta: Rational(1, 10)}, x,
            f"whatever λ is, n = p^(3/2) is far above (6.6), and Σ has no correlations: {HIDDEN_SPIKE}",
        )
    ],
)

enough_n = log(d) * (4 * s * (8 * top + sqrt(6) * sigma_1) * (8 * top + gap) / (alpha * gap**2)) ** 2

theorem5_corrected = Claim(
    id="dwang20.theorem6.1.5.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.5, first part, with (6.6)", line=7497),
    says="With 1/α times the λ of theorem6.1.4.corrected, from the n on at which λ ≤ gap²/(4s(8λ₁+gap)).",
    assumes=[*sparse, unit, limited, alpha <= 1, n >= enough_n],
    added=[normal_sample],
    states=Le(missed, 2 / d**2 + d ** (-c)),
    hidden=(c,),
    corrects="dwang20.theorem6.1.5",
    ignores_units=True,
    checks=[
        Chain(
            missed,
            Step(
                "<=",
                2 / d**2 + noise_over,
                because=Premise(
                    "Lemma 6.1.17 (Lei and Vu), where λ ≥ ‖S̃-Σ‖∞∞/α and 4λs(1 + 8λ₁/(λ_k-λ_(k+1))) ≤ λ_k-λ_(k+1)"
                ),
                uses=[leading_ones, few_rows, unit, limited, normal_sample, alpha <= 1, n >= enough_n],
            ),
            Step(
                "<=",
                2 / d**2 + d * (d + 1) / 2 * d**-3,
                because=Premise("a normal exceeds √(6·log p) deviations with a chance of p⁻³ at most"),
            ),
            Step("<=", STATEMENT),
            choosing={c: Integer(1)},
        )
    ],
)

# The lower bound -----------------------------------------------------------------------------------
enough_users = Setting("n ≥ (s-k)σ²(k + log p)/ε²")
half = 2 * noise_variance * s * k / (400_000 * n * eps**2)
theorem3 = Claim(
    id="dwang20.theorem6.1.3", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 6.1.3", line=7430),
    says="No ε-private protocol without interaction has a smaller squared distance over the sparse class.",
    assumes=[weak, 3 * k <= s, s <= d, *spread_out, enough_users],
    added=[k >= 4, not_empty],
    states=Rate(risk_sparse, noise_variance * s * (k + log(d)) / (n * eps**2), below=True),
    guarantee=pure,
    ignores_units=True,
    checks=[
        packed(
            risk_sparse,
            s - k,
            [3 * k <= s, s <= d, *spread_out],
            enough_users,
            Step(">=", half, where={k: 4 + u, s: 3 * (4 + u) + v}),
            Step(
                ">=",
                STATEMENT / 400_000,
                because=Slack({"log p ≤ log(4k) ≤ k, as k ≥ 4": half * (k - log(d)) / (2 * k)}),
                uses=[d <= 4 * k, k >= 4],
            ),
        )
    ],
)

# Tables --------------------------------------------------------------------------------------------
SPARSITY = {
    "cancer RNA-Seq": (3.162, 3.381, 3.668), "Leukemia": (3.162, 3.435, 3.701), "Colon cancer": (2.449, 3.058, 3.228),
    "isolet5": (1.441, 2.023, 2.508), "lung": (2.858, 3.464, 3.901), "NIPS": (3.643, 3.881, 4.472),
}
LEVELS = {
    "cancer RNA-Seq": (3.559, 3.790, 3.967), "Leukemia": (4.375, 4.403, 4.518), "Colon cancer": (3.013, 4.237, 4.310),
    "isolet5": (2.884, 3.405, 3.896),
}


def rising(name: str, line: int, says: str, cells: Mapping[str, tuple[float, ...]]) -> Claim:
    """What is said of a printed table, counted in its own numbers."""
    rows = {row: [a < b for a, b in itertools.pairwise(values)] for row, values in cells.items()}
    return Claim(
        id=f"dwang20.{name}", kind=Kind.EXPERIMENT, says=says,
        source=Source("dwang20", f"Table {name[5:]}, consistent with Theorem 6.1.4", line=line),
        provenance=Provenance.READING, states=Le(ratio, 1),
        checks=[Counted(rows, 1.0, "the numbers that the document prints")],
    )


table1 = rising("table6.1", 7567, "On every data set the error grows with s.", SPARSITY)
table2 = rising("table6.2", 7599, "On every data set the error grows as ε falls from 1 to 0.1.", LEVELS)

table2_range = Claim(
    id="dwang20.table6.2.range", kind=Kind.EXPERIMENT,
    source=Source("dwang20", "Table 6.2, with k = 10 and the error of section 6.1.5", line=7599),
    says="The errors are distances of projections on two subspaces of dimension 10, so that none exceeds √20.",
    states=Le(projections, sqrt(Integer(20))),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[AtMost(Rational(str(max(max(row) for row in LEVELS.values()))), "Leukemia at ε = 0.1, as printed")],
)
