"""Lower bounds for local protocols over a cube and rows that are there or not (dwang20, section 6.2.5).

T = V ⊗ Λ; records have a law P_τ, reports M_τ; P_(j,±) are mixtures over all τ with v_j = ±1. Where laws are mixed
before users are drawn, hypotheses that n users tell apart look alike: with r = 1, Bernoulli(1/2) for v = + and
Bernoulli(1/2 ± h), as λ says, for v = -, mixtures of one user are equal, and the printed bounds do not fall with n.
The corrected bounds compare two laws that differ in v_j alone.
"""

from sympy import Expr, Ge, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Hypothesis, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import d, eps, n, quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

r = quantity("assouad_r", "coordinates of the cube", box=(1, 1e3), integer=True, printed="r", latex="r")
separation = quantity("assouad_alpha", "least Φ(ρ(θ_τ, θ_τ'))/2H(v, v')", printed="α", latex=r"\alpha")
gaps = quantity("assouad_gaps", "sum of 1 - TV of the reports at v_j = 1 and at v_j = -1", printed="Σ(1-TV_j)")
risk = quantity("assouad_risk", "minimax risk of local protocols", printed="M_n(θ,Φ∘ρ,ε)", latex=r"\mathcal{M}_n")
hamming = quantity("assouad_hamming", "mean distance of v from the v of the nearest θ_τ", printed="E H(v,v̂)")
near2 = quantity("assouad_near2", "mean loss between the true θ_τ and the nearest one", printed="E Φρ(θ,θ_τ)")
chi2_mixed = quantity("assouad_chi2", "χ² of the mixtures of one user's law", box=(1e-6, 10), printed="χ²(P_j+‖P_j-)")
chi2_mean = quantity("assouad_chi2_n", "mean n-th power of χ² over the other rows", printed="Average(χ²)ⁿ")
told = quantity("assouad_told", "sup_γ Σ_j (∫γ(dP_j+ - dP_j-))²", box=(1e-6, 10), printed="sup_γ Σ(∫γ(dP_j+-dP_j-))²")
told_apart = quantity("assouad_told_apart", "the same of pairs, averaged", printed="sup_γ Σ avg(∫γ(dP-dP'))²")
kl_sum = quantity("assouad_kl", "both relative entropies, averaged over pairs, summed", printed="ΣD(M‖M')+D(M'‖M)")
chi2_reports = quantity("assouad_chi2_reports", "χ² of a user's reports under two laws", printed="χ²(M‖M')")
tv = quantity("assouad_tv", "largest total variation of two laws that differ in v_j alone", box=(1e-3, 1), printed="TV")
mass = quantity("assouad_mass", "∫ inf_x q(z|x) dz", box=(1e-3, 1), printed="∫inf q")
top = quantity("family_top", "largest eigenvalue of Σ(τ)", printed="‖Σ(τ)‖", latex=r"\|\Sigma(\tau)\|_2")
scale = quantity("family_c", "c of (6.37)", box=(1e-6, 0.1), printed="c", latex="c")
entry = quantity("family_alpha", "α_(n,p,ε) of (6.37)", box=(1e-6, 0.1), printed="a", latex=r"\alpha_{n,p,\epsilon}")
ones = quantity("family_k", "ones in a row of λ", box=(1, 100), integer=True, printed="k", latex="k")
rho = quantity("family_rho", "sub-Gaussian parameter of the class", box=(1e-3, 1), printed="ρ", latex=r"\rho")
half_p = quantity("family_r", "⌊p/2⌋", box=(1, 1e3), integer=True, printed="⌊p/2⌋")
family_risk = quantity("family_risk", "minimax squared spectral error on the family (6.37)", printed="M_n on (6.37)")
u = Symbol("u", nonnegative=True)

squared = Setting("Φ∘ρ is the square of a distance")
at_once = Setting("no interaction: all users answer at once")
in_turn = Setting("users answer in turn")
mild, milder = eps <= log(2) / 2, eps <= Rational(1, 2)
pure = PureDP(eps, relation=LOCAL)


def bound(
    stem: str, place: str, line: int, says: str, *assumes: Hypothesis, gap: Expr, corrects: str | None = None,
    steps: tuple[Step, ...] = (),
) -> Claim:
    """The risk is at least rα/4 times what is left of 1."""
    return Claim(
        id=f"dwang20.{stem}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", place, line=line),
        says=says,
        assumes=[squared, *assumes],
        states=Ge(risk, r * separation / 4 * gap),
        guarantee=pure,
        corrects=corrects,
        ignores_units=True,
        checks=[Chain(Cites("dwang20.theorem6.2.4"), *steps, Step(">=", STATEMENT))] if steps else [],
    )  # fmt: skip


# Any protocol --------------------------------------------------------------------------------------
theorem4 = Claim(
    id="dwang20.theorem6.2.4", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Theorem 6.2.4, (6.29); α with H ≥ 1, as in Lemma 6.2.4", line=8059),
    says="The general Assouad lemma, of reports.",
    assumes=[squared],
    states=Ge(risk, separation / 4 * gaps),
    guarantee=pure,
    ignores_units=True,
    checks=[
        Chain(
            risk,
            Step(">=", near2 / 4, because=Premise(
                "the worst τ is as bad as the mean one; the θ_τ nearest to the estimate is at most twice as far from "
                "the true one as the estimate, which is a quarter of its loss"), uses=[squared]),
            Step(">=", STATEMENT, because=Slack({
                "α is the least of losses over 2H": (near2 - 2 * separation * hamming) / 4,
                "between two equally likely laws tests err with chance (1-TV)/2 or more":
                    separation * (hamming - gaps / 2) / 2})),
        )
    ],
)  # fmt: skip


informed = (exp(eps) - 1) ** 2 * tv**2
lemma12 = Claim(
    id="dwang20.lemma6.2.12", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 6.2.12, where its min{4, e^(2ε)} is used: up to ε = log 2 it is e^(2ε)", line=8461),
    says="How far a private report tells two laws of a record apart.",
    assumes=[eps <= log(2)],
    states=Le(chi2_reports, exp(2 * eps) * informed),
    guarantee=pure,
    ignores_units=True,
    checks=[
        Chain(
            chi2_reports,
            Step("<=", informed * mass, because=Premise(
                "densities of reports differ by (e^ε-1)·inf_x q(z|x)·TV at most, as q(z|·) is within e^ε of its least "
                "value, and neither is below that")),
            Step("<=", informed, because=Slack({"∫ inf_x q(z|x) dz ≤ 1": informed * (1 - mass)})),
            Step("<=", STATEMENT, where={eps: log(1 + u)}),
        )
    ],
)  # fmt: skip

theorem5 = bound(
    "theorem6.2.5", "Theorem 6.2.5, (6.30), the square outside of the integral as in [98]", 8067,
    "The risk of sequential protocols, by mixtures of one user's law.", in_turn, milder,
    gap=1 - sqrt(n * eps**2 / (2 * r) * told),
)  # fmt: skip
theorem5_corrected = bound(
    "theorem6.2.5.corrected", "Theorem 6.2.5", 8067,
    "Squares are averaged over pairs of laws that differ in v_j alone.", in_turn, milder,
    gap=1 - sqrt(n * eps**2 / (2 * r) * told_apart), corrects="dwang20.theorem6.2.5",
    steps=(
        Step(">=", separation / 4 * (r - sqrt(r * kl_sum) / 2),
             because=Premise("convexity leaves pairs; TV² is at most a quarter of both entropies (Pinsker); Cauchy")),
        Step(">=", separation / 4 * (r - sqrt(r * n * (exp(eps) - 1) ** 2 * told_apart / 4) / 2), because=Premise(
            "the chain rule leaves one user, whose channel is ε-private whatever came before: her densities differ by "
            "(e^ε-1)/2·inf q·∫γ_z(dP-dP') with |γ_z| ≤ 1"), uses=[in_turn]),
        Step(">=", separation / 4 * (r - sqrt(r * n * 2 * eps**2 * told_apart / 4) / 2),
             because=Premise("(e^ε-1)² ≤ 2ε² for ε ≤ 1/2")),
    ),
)  # fmt: skip

# Without interaction -------------------------------------------------------------------------------
apart = 1 - sqrt(n * exp(2 * eps) * (exp(eps) - 1) ** 2 * tv**2 / 2)
by_pairs = (
    Step(">=", separation / 4 * r * (1 - sqrt(n * chi2_reports / 2)), because=Premise(
        "convexity leaves a pair; TV² ≤ D/2 (Pinsker), D of n independent reports is n of one, and D ≤ χ²"),
         uses=[at_once]),
    Step(">=", because=Cites("dwang20.lemma6.2.12")),
)  # fmt: skip
theorem6 = bound(
    "theorem6.2.6", "Theorem 6.2.6, (6.31)", 8075, "The risk of protocols without interaction, by χ² of mixtures.",
    at_once, mild, gap=1 - sqrt((eps**2 * chi2_mixed) ** n / 2),
)  # fmt: skip
theorem6_corrected = bound(
    "theorem6.2.6.corrected", "Theorem 6.2.6", 8075,
    "Information adds up over users, and pairs of laws are compared.", at_once, mild, gap=apart,
    corrects="dwang20.theorem6.2.6", steps=by_pairs,
)  # fmt: skip
corollary2 = bound(
    "corollary6.2.2", "Corollary 6.2.2, (6.33)", 8097, "The same with an average over the other rows.", at_once, mild,
    gap=1 - sqrt(eps ** (2 * n) / 2 * chi2_mean),
)  # fmt: skip
corollary2_corrected = bound(
    "corollary6.2.2.corrected", "Corollary 6.2.2", 8097, "As Theorem 6.2.6, corrected.", at_once, mild, gap=apart,
    corrects="dwang20.corollary6.2.2", steps=by_pairs,
)  # fmt: skip

# The family of sparse covariances ------------------------------------------------------------------
in_family = [
    Setting("Σ(τ) = c(I + a·Σ_j v_j A_j(λ_j)), rows of λ with k ones, columns with 2k at most, v_j 0 or 1"),
    4 * ones * entry <= 1,  # 2k ≤ s, and n ≥ C s² log p/ε² with γ = √C/2 give 2ka ≤ 1/2
]


def in_class(part: str, says: str, small: Hypothesis, limit: Expr) -> Claim:
    return Claim(
        id=f"dwang20.lemma6.2.6.{part}", kind=Kind.LOWER_BOUND,
        source=Source("dwang20", "Lemma 6.2.6, with γ = √C/2, and (6.73)", line=8139),
        says=says,
        assumes=[*in_family, small],
        states=Le(top, limit),
        ignores_units=True,
        checks=[
            Chain(
                top,
                Step("<=", scale * (1 + 2 * ones * entry),
                     because=Premise("symmetric: the norm is at most the largest column sum"), uses=in_family[:1]),
                Step("<=", Rational(3, 2) * scale, because=Slack(seen=[scale * (1 - 4 * ones * entry) / 2])),
                Step("<=", STATEMENT),
            )
        ],
    )  # fmt: skip


lemma6_norm = in_class("norm", "Records of the family have norm at most 1 but for a chance of e^(-p): ‖Σ‖ ≤ 1/(5p).",
                       10 * d * scale <= 1, 1 / (5 * d))  # fmt: skip
lemma6_tails = in_class("tails", "They are ρ-sub-Gaussian.", 2 * scale <= rho, rho)


def separated(corrects: str | None, says: str, limit: Expr) -> Claim:
    return Claim(
        id="dwang20.lemma6.2.7" + (".corrected" if corrects else ""), kind=Kind.LOWER_BOUND,
        source=Source("dwang20", "Lemma 6.2.7", line=8147),
        says=says,
        assumes=[*in_family, 10 * d * scale <= 1, 2 * half_p <= d],
        states=Ge(separation, limit),
        corrects=corrects,
        ignores_units=True,
        checks=[
            Chain(
                separation,
                Step(">=", (ones * scale * entry) ** 2 / (2 * half_p), because=Premise(
                    "of the vector of ones on the last ⌊p/2⌋ coordinates Σ(τ)-Σ(τ') has an entry of size kca or more "
                    "in each row with v_j ≠ v_j'"), uses=in_family[:1]),
                Step(">=", STATEMENT, where={d: 2 * half_p * (1 + u)}),
            )
        ] if corrects else [],
    )  # fmt: skip


lemma7 = separated(None, "How far apart the covariances of the family are.", (ones * entry) ** 2 / d)
lemma7_corrected = separated("dwang20.lemma6.2.7", "Entries of Σ(τ) are c·a, not a.", (ones * scale * entry) ** 2 / d)

theorem7_family = Claim(
    id="dwang20.theorem6.2.7.family", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Proof of Theorem 6.2.7: what its family can show", line=8579),
    says="On the family the matrix 0, which no data are needed for, errs by 1/(25p²) at most, whatever n: the proof's "
    "family cannot give the rate s²log(p)/(nε²) where p is large.",
    assumes=[*in_family, 10 * d * scale <= 1],
    states=Le(family_risk, 1 / (25 * d**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            family_risk,
            Step("<=", top**2, because=Premise("the largest error of the estimate 0")),
            Step("<=", because=Cites("dwang20.lemma6.2.6.norm")),
            Step("<=", STATEMENT),
        )
    ],
)  # fmt: skip
