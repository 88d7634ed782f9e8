"""LDP-Thresholding for sparse covariances (dwang20, section 6.2.4, Algorithm 6.2.49).

Each user sends the upper triangle of xxᵀ with noise; the server averages and goes on as dp_thresholding does. The noise
of the average has the deviation of a user's over √n. Solver: dpcheck/solvers/matrix/ldp_thresholding.py.
"""

from sympy import sqrt

from dpcheck.bounds.language.claim import Cites
from dpcheck.bounds.language.symbols import n
from dpcheck.bounds.library.local.ldp_pca_gauss import noise_of_a_user, private, sigma_1
from dpcheck.bounds.library.matrix import dp_thresholding as central
from dpcheck.bounds.library.matrix.dp_thresholding import upper

algorithm49, algorithm49_corrected = noise_of_a_user("algorithm6.2.49.privacy", "Algorithm 6.2.49, line 2", 7998)

local = Cites("dwang20.algorithm6.2.49.privacy.corrected")
averaged = {sigma_1: sigma_1 / sqrt(n)}

theorem3 = upper(
    "theorem6.2.3", "Theorem 6.2.3, (6.24)", 8011, "The squared spectral error on average.", central.cov_error2,
    central.SPECTRAL, central.stated_rate, private, local, averaged,
)  # fmt: skip
theorem3_norms = upper(
    "theorem6.2.3.norms", "Theorem 6.2.3, last sentence", 8015, "The same in every norm of maps of ℓ_w.",
    central.cov_error_w2, central.EVERY, central.stated_rate, private, local, averaged,
)  # fmt: skip
