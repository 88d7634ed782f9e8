"""DP-STR (dwang20, section 4.3.2, Algorithm 4.3.29): DP-TR on two fresh batches in every step.

Theorem 4.3.6 as the box prints its noise, as its proof comes to, and corrected; Theorem 4.3.7 and Lemma 4.3.12. |S| is
m, |T| is b. Solver: dpcheck/solvers/nonconvex/dp_str.py.
"""

from sympy import Eq, Integer, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.language.symbols import LIKELY, T, batch, d, delta, eps, gamma, m, n, quantity, run_time
from dpcheck.bounds.library.convex.variance_reduction import G, gap0, sigma_n
from dpcheck.bounds.library.nonconvex import dp_tr
from dpcheck.bounds.library.nonconvex.saddle_points import (
    M,
    a,
    alpha,
    enough,
    hessian_lipschitz,
    losses,
    rank,
    rest,
    rho_h,
    sigma_H,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

off_batch = quantity(
    "off_batch",
    "distance of a batch's gradient from the mean of all",
    loss=1,
    parameter=-1,
    printed="‖∇L(S)-∇L(D)‖₂",
    latex=r"\|\nabla L(S)-\nabla L(D)\|_2",
    holds=LIKELY,
)
off_hessian = quantity(
    "off_hessian",
    "distance of a batch's Hessian from the mean of all",
    loss=1,
    parameter=-2,
    printed="‖∇²L(T)-∇²L(D)‖₂",
    latex=r"\|\nabla^2L(T)-\nabla^2L(D)\|_2",
    holds=LIKELY,
)
flat, low = symbols("flat low", nonnegative=True)


# What is released ------------------------------------------------------------------------------------
def batch_gradients() -> Release:
    """Noisy mean gradients of m records out of n, which one of them moves by up to 2G/m."""
    return Release(2 * G / m, Gaussian(sigma_n), WithoutReplacement(m, n), T)


def batch_hessians() -> Release:
    """Noisy mean Hessians of b records, which one moves by up to 2M√k/b in Frobenius norm."""
    return Release(2 * M * sqrt(rank) / batch, Gaussian(sigma_H), WithoutReplacement(batch, n), T)


def full_hessians() -> Release:
    """The same for Hessians of any rank."""
    return Release(2 * M * sqrt(d) / batch, Gaussian(sigma_H), WithoutReplacement(batch, n), T)


released = Composed((batch_gradients(), batch_hessians()), in_turn=True)

# Privacy ---------------------------------------------------------------------------------------------
logs = log(5 * T / delta) * log(2 / delta)
unit = [*losses, m <= n, eps < 1]
TURNED = "the gradients alone: one of n records turns its gradient round, which shows in every step that draws it"

theorem6 = Claim(
    id="dwang20.theorem4.3.6",
    source=Source("dwang20", "Theorem 4.3.6, with step 3 of Algorithm 4.3.29", line=4043),
    kind=Kind.PRIVACY,
    says="σ² = 256G²·ln(5T/δ)·ln(2/δ)/(n²ε²) makes DP-STR (ε, δ)-private, whatever the size of its batches.",
    assumes=unit,
    states=Eq(sigma_n, 16 * G * sqrt(logs) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.lemma2.1.2"), Cites("dwang20.lemma2.1.5")],
    checks=[Accountant(batch_gradients(), TURNED)],
)

box_hessian = Claim(
    id="dwang20.algorithm4.3.29.hessian_noise",
    source=Source("dwang20", "Algorithm 4.3.29, step 4", line=4058),
    kind=Kind.PRIVACY,
    says="σ₂² = 256pM²T·ln(2/δ)·ln(5T/δ)/(n²ε²) does so for Hessians, whatever the size of the batches.",
    assumes=[*losses, batch <= n, eps < 1],
    states=Eq(sigma_H, 16 * M * sqrt(d * T * logs) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(full_hessians(), "the Hessians alone: one of n records has -M·I for M·I")],
)

proof_noise = 32 * G * sqrt(T * logs) / (n * eps)
proof_hessian_noise = 32 * M * sqrt(d * T * logs) / (n * eps)

theorem6_proof = Claim(
    id="dwang20.theorem4.3.6.proof",
    source=Source("dwang20", "proof of Theorem 4.3.6, its ε' and δ' put in: 8·4·32 = 1024, and T", line=4508),
    kind=Kind.PRIVACY,
    says="σ² = 1024G²T·ln(5T/δ)·ln(2/δ)/(n²ε²), which the proof comes to, whatever the size of the batches.",
    assumes=unit,
    states=Eq(sigma_n, proof_noise),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(batch_gradients(), TURNED)],
)

# The proof's ε'' = nε/(8|S|√(2T·ln(2/δ))) is at most 1/2: half the limit of its two lemmas.
large = [
    *losses,
    m <= n,
    Eq(batch, m),
    eps <= 1,
    delta <= Rational(1, 4),
    m >= n * eps / (4 * sqrt(2 * T * log(2 / delta))),
]

theorem6_corrected = Claim(
    id="dwang20.theorem4.3.6.corrected",
    source=Source("dwang20", "Theorem 4.3.6", line=4043),
    kind=Kind.PRIVACY,
    says="With the proof's noise, and batches so large that its ε'' is at most 1/2: a share of n.",
    assumes=[*large, Eq(sigma_H, proof_hessian_noise)],
    states=Eq(sigma_n, proof_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.theorem4.3.6",
    checks=[
        Accountant(
            [batch_gradients(), full_hessians()],
            "T noisy gradients and Hessians of a batch",
            box={n: (10, 1e6), T: (1, 1e3), eps: (0.05, 1)},
        )
    ],
)

# Utility ---------------------------------------------------------------------------------------------
lemma12 = Claim(
    id="dwang20.lemma4.3.12.gradient",
    source=Source("dwang20", "Lemma 4.3.12, gradients", line=4518),
    kind=Kind.UTILITY,
    says="How far the mean gradient of |S| records is from that of all.",
    assumes=losses,
    states=Rate(off_batch, G * sqrt(log(d / gamma) / m)),
)

lemma12_hessian = Claim(
    id="dwang20.lemma4.3.12.hessian",
    source=Source("dwang20", "Lemma 4.3.12, Hessians", line=4522),
    kind=Kind.UTILITY,
    says="How far the mean Hessian of |T| records is from that of all.",
    assumes=losses,
    states=Rate(off_hessian, M * sqrt(log(d / gamma) / batch)),
)

equation98 = again(dp_tr.equation85, "dwang20.equation4.98", "equation (4.98), s and t being the errors", 4572)
equation98_corrected = again(dp_tr.equation85_corrected, "dwang20.equation4.98.corrected", "equation (4.98)", 4572)

k = Symbol("k", positive=True)
short_noise = sqrt(log(5 / delta) * log(2 / delta)) * sqrt(T) / eps  # but for ln T, which ln(1/α) stands for

theorem7 = Claim(
    id="dwang20.theorem4.3.7",
    source=Source("dwang20", "Theorem 4.3.7, (4.59); O() hides no ln(1/δ)", line=4045),
    kind=Kind.UTILITY,
    says="As many records as for DP-TR are enough for an O(α)-SOSP, ln(1/α) left out as printed.",
    assumes=[*losses, *dp_tr.short],
    states=Rate(enough, dp_tr.size.formula),
    ignores_units=True,
    checks=[
        NoConstant(
            16 * M * d * sqrt(T) * a / ((M + sqrt(alpha * rho_h)) * eps),
            {d: 10 * k, delta: exp(-k), T: Integer(1), gap0: Rational(1, 6), gamma: Rational(1, 10), eps: Integer(1)}
            | dict.fromkeys((G, M, rho_h, alpha), Integer(1)),
            k,
            "with fewer the noise of step 4 has, with chance near 1 for large p, an eigenvalue below -σ₂√p, less than "
            "-M-√(αρ), as ln(5T/δ)ln(2/δ) ≥ ln(1/δ)²: then λ > √(αρ) in every step, and nothing is put out",
            at=0.7,
        )
    ],
)

proof_noises = [Eq(sigma_n, proof_noise), Eq(sigma_H, proof_hessian_noise)]
theorem7_corrected = Claim(
    id="dwang20.theorem4.3.7.corrected",
    source=Source("dwang20", "Theorem 4.3.7, as (4.87) and (4.88) have it: ln(T/δ) without a root", line=4045),
    kind=Kind.UTILITY,
    says="With ln(1/δ) for its root: noise by advanced composition is larger than by zCDP.",
    assumes=theorem7.assumes,
    added=[*dp_tr.fixed, *proof_noises],
    states=Rate(enough, d * log(1 / gamma) * a / (alpha ** Rational(7, 4) * eps)),
    corrects="dwang20.theorem4.3.7",
    ignores_units=True,
    cites=[Cites("dwang20.theorem4.3.5.steps"), Cites("dwang20.theorem4.3.5.output")],
    checks=[
        Chain(
            enough,
            Step("<=", (sqrt(d) * G * log(1 / gamma) / alpha + d * M / sqrt(alpha * rho_h)) * short_noise,
                 because=Premise("(4.87), (4.88), enough where Hessians are ρ-Lipschitz, with the noise of Theorem "
                                 "4.3.6's proof, but for numbers and ln T"), uses=[hessian_lipschitz, *proof_noises]),
            Step("<=", (sqrt(d) * G * log(1 / gamma) / alpha + d * M / sqrt(alpha * rho_h)) * 3 * a * sqrt(T) / eps,
                 because=Premise("ln(5/δ)·ln(2/δ) ≤ 3.33·2·ln(1/δ)² as δ ≤ 1/2")),
            Step("<=", 30 * STATEMENT, where=dp_tr.many),
        )
    ],
)  # fmt: skip

batches = Claim(
    id="dwang20.theorem4.3.7.batches",
    source=Source("dwang20", "Theorem 4.3.7, the size of S", line=4045),
    kind=Kind.UTILITY,
    says="With |S| = L²·ln(p/ζ)/α² the gradient of a batch is within O(α).",
    assumes=[*losses, Eq(m, G**2 * log(d / gamma) / alpha**2)],
    added=[d >= 2],
    states=Rate(off_batch, alpha),
    cites=[Cites("dwang20.lemma4.3.12.gradient")],
)

hessian_batches = Claim(
    id="dwang20.theorem4.3.7.hessian_batches",
    source=Source("dwang20", "Theorem 4.3.7, the size of T", line=4045),
    kind=Kind.UTILITY,
    says="With |T| = M²·ln(p/ζ)/(αρ) the Hessian of a batch is within O(√(αρ)).",
    assumes=[*losses, Eq(batch, M**2 * log(d / gamma) / (alpha * rho_h))],
    added=[d >= 2],
    states=Rate(off_hessian, sqrt(alpha * rho_h)),
    cites=[Cites("dwang20.lemma4.3.12.hessian")],
)

small = {alpha: 1 / (1 + rest) ** 2, rho_h: 1 / (1 + flat) ** 2, gap0: 1 / (1 + low)}
time = Claim(
    id="dwang20.theorem4.3.7.time",
    source=Source("dwang20", "after Theorem 4.3.7, the time of DP-STR", line=4068),
    kind=Kind.UTILITY,
    says="T(|S|+|T|) = O(α^-3.5), whatever n: batches of the size that Theorem 4.3.7 asks for, logarithms left out.",
    assumes=[*dp_tr.short, Eq(m, 1 / alpha**2), Eq(batch, 1 / alpha)],
    added=[rho_h <= 1, gap0 <= 1, alpha <= 1],
    states=Rate(run_time, alpha ** Rational(-7, 2)),
    ignores_units=True,
    checks=[
        Chain(
            run_time,
            Step("=", T * (m + batch), because=Premise("a gradient of |S| records and a Hessian of |T| in each step")),
            Step("<=", 12 * STATEMENT, where=small),
        )
    ],
)
