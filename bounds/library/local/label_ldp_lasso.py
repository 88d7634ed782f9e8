"""The lasso on private labels (dwang20, section 5.3.4): another server for the labels of Algorithm 5.3.42.

What is released, and its privacy: label_ldp_iht.py. Solver: dpcheck/solvers/local/label_ldp_lasso.py.
"""

from sympy import Symbol, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.symbols import d, delta, eps, n, quantity
from dpcheck.bounds.library.local.hard_thresholding import isometry, noise_C, sparse_truth
from dpcheck.bounds.library.local.label_ldp_iht import USUAL, log_delta, printed, tau
from dpcheck.bounds.library.sparse.dp_ight import s_star
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Premise, Step

v = Symbol("v", nonnegative=True)
error_lasso = quantity("error_lasso", "squared error of the lasso", parameter=2, printed="‖θ-θ°‖²")
penalty = quantity("penalty", "penalty of the lasso", printed="λ", latex=r"\lambda")

lasso = Claim(
    id="dwang20.section5.3.4.lasso", kind=Kind.UTILITY,
    source=Source("dwang20", "section 5.3.4, after Theorem 5.3.6, with the C and δ of its noise", line=6549),
    says="The lasso on the noisy labels, with a penalty λ of order √(log p/(nε²)), has the same bound on the squared "
    "error; C and log(1/δ), which are left out there, are shown.",
    assumes=[isometry, sparse_truth, eps <= 1],
    added=USUAL,
    states=Rate(error_lasso, noise_C**2 * log(1 / delta) * s_star * log(d) / (n * eps**2)),
    provenance=Provenance.READING,
    ignores_units=True,
    checks=[
        Chain(
            error_lasso,
            Step("<=", 36 * s_star * penalty**2, because=Premise(
                "Negahban et al.: ‖θ-θ*‖ ≤ 3√s*·λ/κ for λ ≥ 2‖Xᵀ(ξ+z)/n‖∞, with restricted strong convexity κ ≥ 1/2")),
            Step("=", 36 * s_star * (2 * sqrt(6 * log(d) / n) * (noise_C + tau)) ** 2, because=Premise(
                "that λ is enough, as the coordinates are sub-Gaussian with C²/n and τ²/n, but for 4/d² ≤ 2/d")),
            Step("<=", because=Cites(printed.id, granted="|ξ| ≤ C")),
            Step("<=", 36 * s_star * 48 * log(d) / n * noise_C**2 * (1 + 32 * log_delta) / eps**2, because=Premise(
                "(a+b)² ≤ 2a² + 2b², and ε ≤ 1")),
            Step("<=", 160_000 * STATEMENT, where={delta: 2 ** -(1 + v)}),
        )
    ],
)
