"""DPSL-KT (lwang21, chapter 3, Algorithm 2): a student learns from noisy answers of a sparse teacher.

The teacher θ̂ is IGHT on L̄_S (ight.py), its answers to m public features are ⟨θ̂, x̃⟩ + N(0, σ²), the student θᵖ is IGHT
on them. Solver: dpcheck/solvers/sparse/dpsl_kt.py. κ is β/μ. Its corollaries on regressions stand in
regression_corollaries.py, its remarks in sparse_regression_comparison.py.
"""

from sympy import Eq, Expr, Ge, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source, convex, lipschitz, smooth
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import c, c1, c2, d, delta, eps, mu, n, quantity, ridge
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.sparse.dp_ight import (
    enough_kept,
    kappa_s,
    kept,
    label_noise,
    row,
    s_star,
    statistical,
)
from dpcheck.bounds.library.sparse.ight import beta_bar, off2
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant

slope = quantity(
    "slope_inf", "largest coordinate of a record's gradient at a minimiser", loss=1, parameter=-1, printed="γ",
    latex=r"\gamma",
)
answers = quantity("answers", "public features", box=(1, 1e6), integer=True, printed="m", latex="m")
alpha_pub = quantity("alpha_pub", "sub-Gaussian parameter of the public features", box=(0.1, 10), printed="α̃")
beta_pub = quantity("beta_pub", "norm of their covariance", box=(0.1, 10), printed="β̃", latex=r"\tilde\beta")
public_norm = quantity("public_norm", "spectral norm of the public features", box=(0.1, 1e3), printed="‖X̃‖₂")
sigma_y = quantity("sigma_y", "deviation of the noise on an answer", printed="σ", latex=r"\sigma")
teachers = quantity("teachers", "distance of the minimisers of neighbours", parameter=1, printed="‖θ_S-θ_S'‖")
risks = quantity("risks", "distance of two neighbours' gradients", loss=1, parameter=-1, printed="‖∇L̄_S'-∇L̄_S‖∞")
mean_slope = quantity("mean_slope_inf", "largest coordinate of ∇L there", loss=1, parameter=-1, printed="‖∇L(θ_min)‖∞")
records = quantity("records_apart", "that of the two records'", loss=1, parameter=-1, printed="‖∇ℓ(x)-∇ℓ(x')‖∞")
quadratic = quantity("quadratic", "||Xv||^2/m of an s-sparse v", printed="‖X̃v‖²/m")
size2 = quantity("size2", "||v||^2", printed="‖v‖²")
fails = quantity("fails", "chance that a bound fails", below=1.0, box=(1e-9, 0.5), printed="P(fails)")
taught2 = quantity("taught2", "||theta_p - theta_hat||^2", parameter=2, printed="‖θᵖ-θ̂‖²")
teacher2 = quantity("teacher2", "||theta_hat - theta*||^2", parameter=2, printed="‖θ̂-θ°‖²")
error_kt = quantity("error_kt", "||theta_p - theta*||^2", parameter=2, printed="‖θᵖ-θ°‖²")
big = Symbol("big", positive=True)
u, v, w = (Symbol(name, nonnegative=True) for name in "uvw")

# Privacy -------------------------------------------------------------------------------------------
log_delta = log(Rational(5, 2) / delta)
public = Setting("‖∇ℓ(θ_min)‖∞ ≤ γ; features are sub-Gaussian(α̃) with ‖Σ̃‖₂ ≤ β̃, m ≥ C₁α̃s·log d; T₁ is large")
FLIP = (
    "s = 1, squared losses, labels γ, half the rows e₁ and half e₂ but for one that moves from e₁ to e₂: the one "
    "feature that is kept changes, and the teacher goes from γ/(1+2λ)·e₁ to as much of e₂"
)
ANSWERS = "; answers to x̃ = ±√(β̃/2)·(e₁-e₂), whose signed mean is all that tells, and θᵖ has it in its one entry"


def printed_noise(curvature: Expr) -> Expr:
    """σ of (3.6.6)."""
    return sqrt(8 * answers * beta_pub * kept * log_delta) * slope / (n * eps * curvature)


theorem3 = Claim(
    id="lwang21.theorem3.3.3", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 3.3.3", line=2717),
    says="With σ² = 8mβ̃sγ²log(2.5/δ)/(nελ)² the student is (ε, δ)-private.",
    assumes=[public],
    states=Eq(sigma_y, printed_noise(ridge)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Accountant(
            Release(sqrt(2 * answers * beta_pub) * slope / (1 + 2 * ridge), Gaussian(sigma_y)), FLIP + ANSWERS,
            box={kept: (1, 1), eps: (1e-2, 1)},
        )
    ],
)

dense = Setting("the teacher is gradient descent from 0 on L̄_S without thresholding, η ≤ 1/(β̄+λ)")
released = Release(2 * G * public_norm / (n * ridge), Gaussian(sigma_y))

theorem3_corrected = Claim(
    id="lwang21.theorem3.3.3.corrected", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 3.3.3, for a teacher that is not sparse", line=2717),
    says="With a teacher that keeps all its entries σ = 2G‖X̃‖₂√(2·log(1.25/δ))/(nελ) is enough, ε ≤ 1; G is √d·γ if "
    "γ bounds gradients everywhere.",
    assumes=[convex(), smooth(beta_bar), lipschitz(G, "without its regulariser"), dense, eps <= 1],
    states=Eq(sigma_y, 2 * G * public_norm * sqrt(2 * log(Rational(5, 4) / delta)) / (n * eps * ridge)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.theorem3.3.3",
    ignores_units=True,
    checks=[Accountant(released, "descents on linear losses, one of which turns round, 2G/(nλ) apart: times ‖X̃‖₂")],
)

corollary7_privacy = Claim(
    id="lwang21.corollary3.3.7.privacy", kind=Kind.PRIVACY,
    source=Source("lwang21", "Corollary 3.3.7, its privacy", line=2793),
    says="Without a regulariser, on a loss with sparse eigenvalues from μ on, σ² = 8mβ̃sγ²log(2.5/δ)/(nεμ)².",
    assumes=[public, Setting("L_S satisfies Condition 3.3.2 with μ and β")],
    states=Eq(sigma_y, printed_noise(mu)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[
        Accountant(
            Release(sqrt(2 * answers * beta_pub) * slope * (n - 2) / (2 * n * mu), Gaussian(sigma_y)),
            "the same rows, scaled: curvatures are at least μ = (n-2)/(2n) of a row's square" + ANSWERS,
            box={kept: (1, 1), n: (4, 1e6), eps: (1e-2, 1)},
        )
    ],
)

equation63 = Claim(
    id="lwang21.equation3.6.3", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "equation (3.6.3), its equality", line=3703),
    says="The gradients of two neighbouring risks differ by 1/(2n) of those of the records.",
    states=Eq(risks, records / (2 * n)),
    checks=[Equals(records / n, "both are means of n losses, of which one differs")],
)

equation63_corrected = Claim(
    id="lwang21.equation3.6.3.corrected", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "equation (3.6.3), its equality", line=3703),
    says="By 1/n.",
    states=Eq(risks, records / n),
    corrects="lwang21.equation3.6.3",
    checks=[Equals(records / n, "both are means of n losses, of which one differs")],
)

flat_there = Setting("‖∇ℓ(θ_min)‖∞ ≤ γ, L̄_S and L̄_S' are λ-strongly convex")
everywhere = Setting("no sparsity is asked for")
equation64 = Claim(
    id="lwang21.equation3.6.4", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "equation (3.6.4)", line=3717),
    says="Sparse minimisers of neighbouring risks are √(2s)γ/(nλ) apart, by first-order conditions that need a convex "
    "set; (3.6.5) and (3.6.6) rest on it.",
    assumes=[flat_there],
    states=Le(teachers, sqrt(2 * kept) * slope / (n * ridge)),
    ignores_units=True,
    checks=[AtMost(sqrt(2) * slope / (1 + 2 * ridge), FLIP, box={kept: (1, 1), n: (3, 1e6)})],
)

equation64_corrected = Claim(
    id="lwang21.equation3.6.4.corrected", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "equation (3.6.4)", line=3717),
    says="Sparse minimisers are 2√s·γ/λ apart, whatever n.",
    assumes=[flat_there, mean_slope <= slope],
    states=Le(teachers, 2 * sqrt(kept) * slope / ridge),
    corrects="lwang21.equation3.6.4",
    checks=[
        Chain(
            teachers,
            Step("<=", 2 * sqrt(kept) * mean_slope / ridge, because=Premise(
                "‖θ-θ'‖ ≤ ‖θ‖ + ‖θ'‖, and on its s entries a minimiser is -∇L/λ"), uses=[flat_there]),
            Step("<=", STATEMENT),
        )
    ],
)

equation64_dense = Claim(
    id="lwang21.equation3.6.4.dense", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "equation (3.6.4), without the constraint", line=3717),
    says="Minimisers over all of R^d are 2√d·γ/(nλ) apart.",
    assumes=[flat_there, everywhere],
    states=Le(teachers, 2 * sqrt(d) * slope / (n * ridge)),
    corrects="lwang21.equation3.6.4",
    checks=[
        Chain(
            teachers,
            Step("<=", sqrt(d) * risks / ridge, because=Premise(
                "λ‖θ-θ'‖² ≤ ⟨∇L̄_S'(θ')-∇L̄_S(θ'), θ-θ'⟩, strongly convex with gradients 0 at the minimisers; of d "
                "coordinates"), uses=[flat_there, everywhere]),
            Step("=", because=Cites("lwang21.equation3.6.3.corrected")),
            Step("<=", STATEMENT, because=Slack(given={
                "no coordinate of the records' gradients, the new one's too, is above γ at θ'":
                sqrt(d) * (2 * slope - records) / (n * ridge)}), uses=[flat_there]),
        )
    ],
)

# Public features -----------------------------------------------------------------------------------
SUB_GAUSSIAN = Setting("rows are sub-Gaussian(α̃), m ≥ C₁sα̃²·log d")
lemma1 = Claim(
    id="lwang21.lemma3.6.1", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.1, its lower side", line=3448),
    says="Features with ‖Σ̃‖₂ ≤ β̃ have ‖X̃v‖²/m of at least 4/5·β̃‖v‖² for every sparse v, but for e^(-C₂m).",
    assumes=[SUB_GAUSSIAN, Setting("‖Σ̃‖₂ ≤ β̃")],
    states=Ge(quadratic, Rational(4, 5) * beta_pub * size2),
    ignores_units=True,
)

lemma1_corrected = Claim(
    id="lwang21.lemma3.6.1.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.1, its lower side", line=3448),
    says="It takes Σ̃ = β̃I, as in the experiments: a bound on ‖Σ̃‖₂ says nothing of directions with little variance.",
    assumes=[SUB_GAUSSIAN, Setting("Σ̃ = β̃I")],
    states=Ge(quadratic, Rational(4, 5) * beta_pub * size2),
    corrects="lwang21.lemma3.6.1",
    ignores_units=True,
)

lemma3 = Claim(
    id="lwang21.lemma3.6.3", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.3, its probability, and again Lemma 2.9.2", line=3835),
    says="‖X^Tε/n‖∞ ≤ C₇να√(log d/n) but for e^(-C₆n).",
    assumes=[Setting("ε is N(0, ν²I), rows of X are sub-Gaussian(α)"), d >= 2],
    states=Le(fails, exp(-c1 * n)),
    hidden=(c, c1),
    checks=[
        NoConstant(
            2 ** (-(c**2)) / 2, {n: big, d: 2}, big,
            "entries of X are ±1, d = 2: a coordinate is ν/√n times a normal number, which is above t in size with a "
            "chance of at least e^(-t²)/2, t² = C₇²·log 2, whatever n is", at=100,
        )
    ],
)

lemma3_corrected = Claim(
    id="lwang21.lemma3.6.3.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 3.6.3, with the probability of Theorem 3.3.5", line=3835),
    says="But for 2/d, with C₇ = 2.",
    assumes=[Setting("ε is N(0, ν²I), columns of X have norm √n·α at most"), d >= 2],
    states=Le(fails, 2 / d),
    corrects="lwang21.lemma3.6.3",
)

# Utility without curvature -------------------------------------------------------------------------
ALIKE = (
    "rows are K·e₁, so that data of θ* = 0 and of θ* = e₂ are alike, and θᵖ too: it is 1/2 away from one of them, half "
    "the time; ε is 1/n^(1/3), as s ∝ nε may not outgrow n"
)
grows = beta_bar**2 * s_star * n * eps / sqrt(s_star * log(d) * log(1 / delta))  # κ²s* at the prescribed λ, over γ


def without_curvature(name: str, place: str, line: int, says: str, bound: Expr, steep: Expr) -> Claim:
    """A bound on ‖θᵖ-θ*‖² for any data, with a γ so steep."""
    one = {beta_bar: 1, s_star: 1, slope: 1, row: 1, label_noise: 1, alpha_pub: 1, beta_pub: 1}
    path = {n: big**3, eps: 1 / big, d: big**3, delta: exp(-1), statistical: 1 / big, **one}
    asked = c2 * grows / steep
    conditions = [kept >= asked, n >= c1 * alpha_pub * kept * log(d)]
    used = bound.free_symbols | {s for condition in conditions for s in condition.free_symbols}
    return Claim(
        id=f"lwang21.{name}", kind=Kind.UTILITY,
        source=Source("lwang21", place, line=line),
        says=says,
        assumes=[Setting("Condition 3.3.1 or its model, λ as prescribed, n = m, T₁ and T₂ large enough"), *conditions],
        states=Rate(error_kt, bound),
        hidden=(c1, c2),
        ignores_units=True,
        checks=[
            NoConstant(Rational(1, 4), {**{s: e for s, e in path.items() if s in used}, kept: asked.subs(path)}, big,
                       ALIKE)
        ],
    )


answered = sqrt(s_star**3 * log(d) * log(1 / delta)) / (n * eps)
theorem5 = without_curvature(
    "theorem3.3.5", "Theorem 3.3.5", 2739, "The student's squared error, for any smooth loss and any rows.",
    s_star / beta_bar**2 * statistical**2 + (1 / beta_bar**2 + alpha_pub**2 / beta_pub) * slope * answered, slope,
)

# Utility with curvature ----------------------------------------------------------------------------
curved = Setting("L_S satisfies Condition 3.3.2 with μ and κμ, λ = 0, n = m, T₁ and T₂ large enough")
as_printed = Setting("σ of Corollary 3.3.7")
taught = alpha_pub**2 * slope**2 * s_star**2 * log(d) * log(1 / delta) / (beta_pub * (mu * n * eps) ** 2)

corollary7 = Claim(
    id="lwang21.corollary3.3.7", kind=Kind.UTILITY,
    source=Source("lwang21", "Corollary 3.3.7, its utility", line=2806),
    says="The student's squared error with sparse eigenvalues from μ to β = κμ.",
    assumes=[curved, kappa_s >= 1],
    states=Rate(error_kt, s_star * statistical**2 / (kappa_s * mu) ** 2 + taught),
    ignores_units=True,
    checks=[
        NoConstant(
            (statistical / mu) ** 2 / 4,
            {kappa_s: big, mu: 1, statistical: 1, n: big**5, eps: 1, delta: exp(-1), d: big**3, s_star: 1, slope: 1,
             alpha_pub: 1, beta_pub: 1},
            big,
            "curvature μ at the one coordinate of θ*, where the gradient at θ* is ε, and κμ elsewhere: the teacher is "
            "ε/μ away, and the student half of that at least, as its own error falls with n",
        )
    ],
)

noisy = 2 * alpha_pub * sigma_y * sqrt(log(d) / answers)  # ‖X̃ᵀξ/m‖∞ by Lemma 3.6.3, corrected
more_kept = (16 * kappa_s**2 + 1) * s_star
student = {
    off2: taught2, s_star: more_kept, kappa_s: Rational(3, 2), mu: 4 * beta_pub / 5, statistical: noisy,
}

taught_so = Setting(
    "η = 2/(β+μ); the student keeps 37s entries; Σ̃ = β̃I, so that X̃ᵀX̃/m has sparse eigenvalues 4/5β̃ to 6/5β̃"
)
chapter2 = [enough_kept, taught_so]

corollary7_explicit = Claim(
    id="lwang21.corollary3.3.7.explicit", kind=Kind.UTILITY,
    source=Source("lwang21", "proof of Corollary 3.3.7, (3.6.9) and (3.6.10), with numbers and any σ", line=4040),
    says="The student's squared error: what the teacher errs, and what the answers' noise adds at a θ̂ of s entries.",
    assumes=[curved, kappa_s >= 1],
    added=chapter2,
    states=Le(error_kt, 16_184 * kappa_s**2 * s_star * statistical**2 / mu**2
              + 227_588 * more_kept * alpha_pub**2 * sigma_y**2 * log(d) / (answers * beta_pub**2)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            error_kt,
            Step("<=", 2 * taught2 + 2 * teacher2, because=Premise("(a+b)² ≤ 2a² + 2b²")),
            Step("<=", because=Cites("lwang21.lemma3.6.2.limit", student, granted=(
                "the student's loss, with ‖X̃ᵀξ/m‖∞ ≤ 2α̃σ√(log d/m) by Lemma 3.6.3, but for 2/d")),
                 uses=[curved, *chapter2]),
            Step("<=", because=Cites("lwang21.lemma3.6.2.limit", {off2: teacher2}, granted="T₁ is large enough"),
                 uses=[curved, enough_kept]),
            Step("<=", STATEMENT),
        )
    ],
)



def explicit(steep: Expr = slope, **where: Expr) -> Cites:
    """The explicit bound at the printed σ, with a γ so steep and other symbols as given, by name."""
    read = {s: where[str(s)] for s in (kappa_s, mu, statistical) if str(s) in where}
    noise = printed_noise(mu).subs({answers: n, kept: more_kept, slope: steep}).subs(read)
    return Cites(corollary7_explicit.id, {answers: n, sigma_y: noise, **read})


corollary7_corrected = Claim(
    id="lwang21.corollary3.3.7.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Corollary 3.3.7, its utility, with chapter 2's step size", line=2806),
    says="κ²s*ε²/μ² for the teacher; the student finds a θ̂ of κ²s* entries, not s*: κ⁴ at the printed σ.",
    assumes=[curved, as_printed, kappa_s >= 1],
    added=[*chapter2, delta <= Rational(1, 2)],
    states=Rate(error_kt, kappa_s**2 * s_star * statistical**2 / mu**2 + kappa_s**4 * taught),
    corrects="lwang21.corollary3.3.7",
    ignores_units=True,
    checks=[
        Chain(
            error_kt,
            Step("<=", because=explicit(), uses=[as_printed]),
            Step("<=", 1_300_000_000 * STATEMENT, where={delta: 2 ** -(1 + v), kappa_s: 1 + u}),
        )
    ],
)
