"""Algorithm 4 of lwang21 (DP-SRM) by itself: its noise, for any inputs, and what it releases.

The theorems about it: dp_srm.py.
"""

from sympy import Eq, Le, Rational, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, gradient_norm, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import sigma_n
from dpcheck.bounds.library.nonconvex.dp_srm import estimators, noise, ratio_of
from dpcheck.bounds.library.nonconvex.dp_srm_estimator import estimate_bound, roots
from dpcheck.bounds.library.nonconvex.dp_srm_sensitivity import later_batch, later_reach, losses, momentum, slowing
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.proofs import Equals, Less, Proof

norm_1, norm_2, norm_3 = (
    quantity(f"srm_norm_{i}", f"E ||grad F|| at iterate {i}", loss=1, parameter=-1, printed=f"E‖∇F({i})‖")
    for i in (1, 2, 3)
)

# The noise -----------------------------------------------------------------------------------------
any_input = Claim(
    id="lwang21.algorithm4.noise",
    source=Source("lwang21", "Algorithm 4, lines 2 and 7"),
    kind=Kind.PRIVACY,
    says="With the noise that it prints Algorithm 4 is (ε, δ)-private whatever its inputs and batches.",
    assumes=[*losses, Setting("b₀ = b"), later_batch <= n],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(
            estimators(later_batch, T + 1), "linear losses, small batches and few steps",
            box={later_batch: (1, 2), T: (10, 100), n: (50, 200), eps: (0.5, 2), delta: (1e-6, 1e-3)},
        )
    ],
)

all_records = Claim(
    id="lwang21.algorithm4.noise.corrected",
    source=Source("lwang21", "Algorithm 4, lines 2 and 7"),
    kind=Kind.PRIVACY,
    says="On all records, b₀ = b = n, it is; on batches the conditions of Theorem 4.5.1 come in.",
    assumes=[*losses, Setting("b₀ = b = n")],
    states=Eq(sigma_n, noise(later_reach)),
    guarantee=ApproxDP(eps, delta),
    corrects="lwang21.algorithm4.noise",
    checks=[
        Accountant(Release(1, Gaussian(sqrt(ratio_of(n))), steps=T + 1), "T + 1 Gaussian releases, σ²/Δ² = 7Tα/(2βε)")
    ],
)

# What is released ----------------------------------------------------------------------------------
output = Claim(
    id="lwang21.algorithm4.output",
    source=Source("lwang21", "Algorithm 4, its output, and section 4.6.2, first line"),
    kind=Kind.UTILITY,
    says="The output, uniform on θ⁰ to θ^(T-1), has the mean of their gradient norms in expectation: here three.",
    states=Eq(gradient_norm, (norm_1 + norm_2 + norm_3) / 3),
    checks=[
        Equals(
            Rational(1, 3) * norm_1 + Rational(2, 3) * (Rational(1, 2) * norm_2 + Rational(1, 2) * norm_3),
            "the first with chance 1/3, each of the others if not: a choice that looks at no gradient",
        )
    ],
)

newest = Claim(
    id="lwang21.algorithm4.output.last",
    source=Source("lwang21", "Figures 4.1 and 4.4, which follow the newest iterate"),
    kind=Kind.UTILITY,
    says="What bounds the output, (4.9.17) corrected, bounds the gradient at the last iterate too.",
    assumes=[*losses, momentum < 1, slowing >= 1],
    states=Le(gradient_norm, estimate_bound + sum(roots)),
)

newest_corrected = Claim(
    id="lwang21.algorithm4.output.last.corrected",
    source=Source("lwang21", "Figures 4.1 and 4.4, which follow the newest iterate"),
    kind=Kind.UTILITY,
    says="T times that bound does, one iterate out of T.",
    assumes=[*losses, momentum < 1, slowing >= 1, Setting("the last of the T iterates that the output is drawn from")],
    states=Le(gradient_norm, T * (estimate_bound + sum(roots))),
    corrects="lwang21.algorithm4.output.last",
    checks=[
        Proof(
            [
                Less("one of three norms is at most their sum, 3 times their mean", norm_3, 3 * output.formula),
            ]
        )
    ],
    cites=[Cites("lwang21.equation4.9.17.corrected"), Cites("lwang21.algorithm4.output")],
)
