"""Row-sparse principal components from noisy outer products (dwang20, section 6.1.4, Algorithm 6.1.47).

X̂ maximises ⟨S̃, X⟩ - λ‖X‖₁₁ over the Fantope 0 ≤ X ≤ I, tr X = k; its k leading eigenvectors are let out. Solver:
dpcheck/solvers/local/ldp_sparse_pca_fps.py; noise and λ₁: ldp_pca_gauss.py.
"""

import itertools

from sympy import Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import c, d, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.local.ldp_pca_gauss import (
    gap,
    k,
    principal,
    privacy,
    private,
    sigma_1,
    sigma_k,
    sin2,
    top,
    unit,
)
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

rows = quantity("rows", "rows of V that are not 0", box=(1, 1e3), integer=True, printed="s", latex="s")
penalty = quantity("penalty", "weight of the l1 norm", box=(1e-6, 10), printed="λ", latex=r"\lambda")
fantope = quantity("fantope", "distance of the solution from VV'", printed="‖X̂-VVᵀ‖", latex=r"\|\hat X-VV^T\|_F")
on_support = quantity("on_support", "l1 norm of the difference on the support of VV'", printed="‖(X̂-VVᵀ)_Q‖₁₁")
off_support = quantity("off_support", "l1 norm of the difference elsewhere", printed="‖X̂_(Q^c)‖₁₁")
true_l1 = quantity("true_l1", "l1 norm of VV'", printed="‖VVᵀ‖₁₁")
found_l1 = quantity("found_l1", "l1 norm of the solution", printed="‖X̂‖₁₁")
correlation = quantity("correlation", "constant of limited correlation", box=(0.01, 1), printed="α", latex=r"\alpha")
risk_sparse_pca = quantity("risk_sparse_pca", "minimax squared distance, sparse", printed="M(S(P(s,k,σ²)),ε)")
v, x = Symbol("v", nonnegative=True), Symbol("x", positive=True)

theorem4_privacy, theorem4_privacy_corrected = privacy("6.1.4", 7469, eps <= 1)

# Utility -------------------------------------------------------------------------------------------
sparse = [*principal, Setting("V has s rows that are not 0"), k <= rows]

lemma15 = Claim(
    id="dwang20.lemma6.1.15", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 6.1.15", line=7770),
    says="If λ is at least the largest entry of S̃-Σ, X̂ is as close as this to the projection on the true subspace.",
    assumes=[*sparse, Setting("λ ≥ ‖S̃-Σ‖∞∞")],
    states=Le(fantope, 4 * rows * penalty / gap),
    ignores_units=True,
    checks=[
        Chain(
            fantope,
            Step("<=", 2 * penalty * (on_support + off_support + true_l1 - found_l1) / (gap * fantope),
                 because=Premise("½(λ_k-λ_(k+1))‖X̂-VVᵀ‖² ≤ ⟨Σ, VVᵀ-X̂⟩ (Lemma 6.1.14); X̂ is optimal for S̃, "
                 "and λ ≥ ‖S̃-Σ‖∞∞")),
            Step("<=", STATEMENT, because=Slack(given={
                "triangle inequality on Q, where VVᵀ lives": 2 * penalty / (gap * fantope)
                * (found_l1 - true_l1 + on_support - off_support),
                "Q has s² entries: Cauchy-Schwarz": 4 * penalty / (gap * fantope) * (rows * fantope - on_support),
            })),
        )
    ],
)

theorem4 = Claim(
    id="dwang20.theorem6.1.4", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.4", line=7471),
    says="The squared subspace distance with λ ≤ O(λ₁√(log p/(nε²))), but for a chance of 2/p² + 1/p^c.",
    assumes=[*sparse, unit, eps <= 1],
    states=Rate(sin2, top**2 * rows**2 * log(d) / (gap**2 * n * eps**2)),
    guarantee=private,
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 2),
            {top: x**-9, gap: x**-9 / 2, k: 1, rows: 2, d: x, n: x**3, eps: 1}, x,
            "Σ times t leaves λ₁/(λ_k-λ_(k+1)) as it is; as t falls tΣ and λ vanish beside the noise, whose own "
            "leading "
            "direction is at 45° or more from a given one but for a chance that p brings to 0",
        )
    ],
)

entries = 8 * top * sqrt(log(d) / n) + sigma_1 * sqrt(6 * log(d) / n)
theorem4_corrected = Claim(
    id="dwang20.theorem6.1.4.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.4", line=7471),
    says="With λ = 8λ₁√(log p/n) + σ₁√(6·log p/n), which is enough for Lemma 6.1.15, and enough noise.",
    assumes=[*sparse, unit, eps <= 1, Setting("λ ≥ ‖S̃-Σ‖∞∞")],
    added=[delta <= Rational(1, 2), d >= 2, Setting("‖S-Σ‖∞∞ ≤ 8λ₁√(log p/n), as normal samples have it but for 2/p²")],
    states=Rate(sin2, rows**2 * log(d) * (top**2 + log(1 / delta) / eps**2) / (gap**2 * n)),
    guarantee=private,
    corrects="dwang20.theorem6.1.4",
    ignores_units=True,
    checks=[
        Chain(
            sin2,
            Step("<=", 2 * fantope**2, because=Premise("Lemma 6.1.13, by that of Davis and Kahan")),
            Step("<=", because=Cites("dwang20.lemma6.1.15")),
            Step("=", 32 * rows**2 * entries**2 / gap**2,
                 because=Premise("the λ chosen: of p(p+1)/2 normal entries none exceeds √(6·log p) deviations "
                 "but for 1/p")),
            Step("<=", 64 * rows**2 * log(d) / n * (64 * top**2 + 6 * sigma_1**2) / gap**2, because=Slack(
                seen=[32 * rows**2 * log(d) / n / gap**2 * (8 * top - sqrt(6) * sigma_1) ** 2])),
            Step("<=", because=Cites("dwang20.theorem6.1.4.privacy.corrected")),
            Step("<=", 5000 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)

# Support recovery ----------------------------------------------------------------------------------
logs = log(1 / delta) * log(d) / (eps**2 * correlation**2)
allowed = gap**2 / (4 * rows * (gap + 8 * top))  # 0 ≤ gap - 4λs(1 + 8λ₁/gap), Lemma 6.1.17


printed_n = rows**2 * top**2 * logs * (8 * top + gap) / gap**2

support = Claim(
    id="dwang20.theorem6.1.5.n", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 6.1.5, equation (6.6)", line=7497),
    says="With n ≥ Ω(s²λ₁²log(1/δ)log p·(8λ₁+gap)/(ε²α²gap²)) the λ of the theorem is small enough for Lemma 6.1.17.",
    assumes=[n >= c * printed_n, gap <= top, Setting("λ = √(log(1/δ)log p/n)/(αε)")],
    states=Rate(penalty, allowed),
    hidden=(c,),
    ignores_units=True,
    checks=[
        NoConstant(
            sqrt(logs / n),
            {top: x**-4, gap: x**-4, rows: 2, d: 100, eps: 1, delta: Rational(1, 10), correlation: 1, n: x}, x,
            "Σ times t: λ must fall like t, which takes n like 1/t²; the printed bound on n falls like t",
        )
    ],
)

# The lower bound, and tables -----------------------------------------------------------------------
theorem3 = Claim(
    id="dwang20.theorem6.1.3", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 6.1.3", line=7430),
    says="No ε-private protocol without interaction has a smaller squared distance over the sparse class.",
    assumes=[eps <= Rational(1, 2), 3 * k <= rows, rows <= d, d <= 4 * k, 4 * k <= 3 * d],
    states=Rate(risk_sparse_pca, sigma_k * rows * (k + log(d)) / (n * eps**2), below=True),
    ignores_units=True,
    checks=[Quoted("in part: the packings of Lemmas 6.1.10 and 6.1.11 have constants that no source here gives")],
)

SPARSITY = {
    "cancer RNA-Seq": (3.162, 3.381, 3.668), "Leukemia": (3.162, 3.435, 3.701), "Colon cancer": (2.449, 3.058, 3.228),
    "isolet5": (1.441, 2.023, 2.508), "lung": (2.858, 3.464, 3.901), "NIPS": (3.643, 3.881, 4.472),
}
LEVELS = {
    "cancer RNA-Seq": (3.559, 3.790, 3.967), "Leukemia": (4.375, 4.403, 4.518), "Colon cancer": (3.013, 4.237, 4.310),
    "isolet5": (2.884, 3.405, 3.896),
}


def rising(cells: dict[str, tuple[float, ...]]) -> dict[str, list[bool]]:
    """Whether each number of a row is below the next."""
    return {name: [a < b for a, b in itertools.pairwise(row)] for name, row in cells.items()}


def table(name: str, line: int, says: str, lists: dict[str, list[bool]]) -> Claim:
    """What is said of a printed table, counted in its own numbers."""
    return Claim(
        id=f"dwang20.table{name}", kind=Kind.EXPERIMENT, says=says,
        source=Source("dwang20", f"Table {name[:3]}", line=line),
        states=Le(ratio, 1), checks=[Counted(lists, 1.0, "the numbers that the document prints")],
    )


table1 = table("6.1", 7571, "The error grows with the sparsity s.", rising(SPARSITY))
table2 = table("6.2", 7600, "The error grows as ε falls from 1 to 0.1.", rising(LEVELS))
table2_range = table(
    "6.2.range", 7600, "The errors are distances ‖V̂V̂ᵀ-VVᵀ‖ of subspaces of dimension 10, which are √20 at most.",
    {name: [cell <= 20**0.5 for cell in row] for name, row in LEVELS.items()},
)
