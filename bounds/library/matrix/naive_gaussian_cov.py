"""The covariance under symmetric Gaussian noise (dwang20, section 6.2.3, (6.16) and (6.17)).

Σ̃ = S + N: S is the mean of the records' outer products, N symmetric, its upper triangle, diagonal included, normal of
deviation σ₁. What is said of S serves every release of it. Solver: dpcheck/solvers/matrix/naive_gaussian_cov.py.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Hypothesis, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, Relation
from dpcheck.bounds.language.symbols import Delta, d, delta, eps, n, quantity
from dpcheck.bounds.library.local.ldp_pca_gauss import bounded, matrix2, radius, sigma_1, unit
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

naive_error = quantity("naive_cov_error", "E‖Σ̃-Σ‖₂", printed="E‖Σ̃-Σ‖", latex=r"\mathbb{E}\|\tilde\Sigma-\Sigma\|_2")
sampled = quantity("cov_sampled", "E‖S-Σ‖₂", printed="E‖S-Σ‖", latex=r"\mathbb{E}\|\Sigma^*-\Sigma\|_2")
noise_norm = quantity("cov_noise_norm", "E‖N‖₂", printed="E‖N‖", latex=r"\mathbb{E}\|N\|_2")
u, v, w, y, z = (Symbol(name, nonnegative=True) for name in "uvwyz")
rooted = {delta: exp(-((sqrt(log(2)) + z) ** 2)), eps: 1 / (1 + v)}  # δ ≤ 1/2 and ε ≤ 1, for roots of log(1/δ)
usual = {delta: 2 ** -(1 + z), eps: 1 / (1 + v)}  # δ ≤ 1/2 and ε ≤ 1

# Privacy -------------------------------------------------------------------------------------------
sensitivity = Claim(
    id="dwang20.equation6.16.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "(6.16): what its noise must hide", line=7906),
    says="One record moves the mean of outer products by √2/n at most in Frobenius norm, and its upper triangle too; "
    "one that goes from e₁ to e₂ moves it as far.",
    assumes=[bounded],
    states=Le(Delta, sqrt(2) * radius**2 / n),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            Delta,
            Step("<=", sqrt(matrix2) / n, because=Premise("the other records stay, and an upper triangle is a part")),
            Step("<=", because=Cites("dwang20.algorithm6.1.46.sensitivity")),
            Step("<=", STATEMENT),
        ),
        AtMost(sqrt(2) * radius**2 / n, "a record goes from e₁ to e₂: two entries of the diagonal move by max‖x‖²/n"),
    ],
)  # fmt: skip
released = Release(sensitivity.formula, Gaussian(sigma_1))
without = Release(radius**2 / n, Gaussian(sigma_1), relation=ADD_REMOVE)  # n is public, and what is divided by stays n
classical = sqrt(2 * log(Rational(5, 4) / delta)) / (n * eps)
OF_S = "Noise of variance 2ln(1.25/δ)/(nε)² on each entry makes S (ε, δ)-private, as one record is another."
PAIR = "a record goes from e₁ to e₂: two entries of the diagonal move by 1/n"


def privacy(
    stem: str, place: str, line: int, *assumes: Hypothesis, of_output: str = ""
) -> tuple[Claim, Claim, Claim]:
    """Noise that the section prints for S: under replace-one, as corrected, and where a record comes or goes.

    `of_output` is what the first says where it is of what is made of Σ̃, for which an account of Σ̃ decides nothing.
    """

    def claim(
        part: str, says: str, noise: Expr, relation: Relation | None = None, corrects: str | None = None
    ) -> Claim:
        here = released if relation is None else without
        account = Accountant(here.at(r_outer=1.0), PAIR if relation is None else "x or no record at all")
        return Claim(
            id=f"dwang20.{stem}{part}", kind=Kind.PRIVACY,
            source=Source("dwang20", place, line=line),
            says=says,
            assumes=[unit, *assumes],
            states=Eq(sigma_1, noise),
            guarantee=ApproxDP(eps, delta, relation=here.relation),
            corrects=corrects,
            provenance=Provenance.PRINTED if relation is None else Provenance.READING,
            ignores_units=True,
            checks=[] if of_output and not part else [account],
        )  # fmt: skip

    return (
        claim("", of_output or OF_S, classical),
        claim(".corrected", "It takes twice that variance.", sqrt(2) * classical, corrects=f"dwang20.{stem}"),
        claim(".add_remove", "The printed noise is enough where neighbours have a record more or less, n being public.",
              classical, ADD_REMOVE),
    )  # fmt: skip


printed, corrected, add_remove = privacy("equation6.16", "(6.16), “is (ε, δ)-differentially private”", 7904, eps <= 1)

# Error ---------------------------------------------------------------------------------------------


def noisy(*last: Step) -> Chain:
    """Sampling and noise, each on average."""
    return Chain(
        naive_error,
        Step("<=", sampled + noise_norm, because=Premise("Σ̃ = S + N, and the triangle inequality")),
        Step("<=", 1 / sqrt(n) + noise_norm,
             because=Premise("‖S-Σ‖ is at most the Frobenius norm, and E‖S-Σ‖_F² ≤ E‖x‖⁴/n ≤ 1/n"), uses=[unit]),
        Step("<=", 1 / sqrt(n) + 4 * sigma_1 * sqrt(d), because=Premise(
            "either end of N's spectrum is at most 2σ₁√p on average (Sudakov and Fernique), and has variance 2σ₁² at "
            "most (Poincaré): the larger one is at most 2σ₁√p + √2σ₁ on average")),
        Step("<=", because=Cites("dwang20.equation6.16.corrected")),
        Step("<=", 1 / sqrt(n) + 12 * sqrt(d * log(1 / delta)) / (n * eps),
             because=Premise("log(1.25/δ) ≤ 2log(1/δ) for δ ≤ 1/2")),
        *last,
    )  # fmt: skip


equation17 = Claim(
    id="dwang20.equation6.17", kind=Kind.UTILITY,
    source=Source("dwang20", "(6.17)", line=7914),
    says="The error of the noisy covariance in spectral norm, where p is at least n (“p ≫ n”).",
    assumes=[unit, n <= d, eps <= 1],
    added=[delta <= Rational(1, 2)],
    states=Rate(naive_error, sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[noisy(Step("<=", 16 * STATEMENT, where={**rooted, d: n * (1 + u) ** 2}))],
)  # fmt: skip

equation17_anywhere = Claim(
    id="dwang20.equation6.17.anywhere", kind=Kind.UTILITY,
    source=Source("dwang20", "(6.17), for any p and n", line=7914),
    says="Where p may be less than n the sampling error 1/√n belongs to it.",
    assumes=[unit, eps <= 1],
    added=[delta <= Rational(1, 2)],
    states=Rate(naive_error, 1 / sqrt(n) + sqrt(d * log(1 / delta)) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[noisy(Step("<=", 16 * STATEMENT, where=rooted))],
)  # fmt: skip
