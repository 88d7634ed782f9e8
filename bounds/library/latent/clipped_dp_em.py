"""Private EM for any Gaussian mixture: T noisy means of clipped statistics, of norm 1 for each record.

Nobody printed it: it is what Algorithm 7.2.55 of dwang20 does to gradients, done to the statistics of an E-step with k
components, whose noise is accounted for exactly. A record's statistics are (r_j, r_j z_j/ρ, r_j φ(z_j)/ρ²)/√3 for each
component j, with responsibilities r_j that add up to 1 and ‖z_j‖ ≤ ρ; or, in one round, the cell of a grid that it is in.
Solver: dpcheck/solvers/latent/clipped_dp_em.py.
"""

from sympy import Eq, Le, Rational, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, n, quantity
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step

moved = quantity("moved_em", "l2 sensitivity of the mean of clipped statistics", printed="Δ", latex=r"\Delta")
noise = quantity("sigma_em", "deviation of the noise on it", printed="σ", latex=r"\sigma")
square = quantity("square_em", "squared norm of a record's statistics", box=(1e-3, 1), printed="‖s‖²")
other_square = quantity("square2_em", "the same of the record that takes its place", box=(1e-3, 1), printed="‖s'‖²")
inner = quantity("inner_em", "inner product of the two", box=(1e-3, 1), printed="⟨s,s'⟩", latex=r"\langle s,s'\rangle")

source = Source("dwang20", "section 7.2.6, Algorithm 7.2.57 with k components and clipped statistics", line=9804)
clipped = Setting("statistics (r_j, r_j z_j/ρ, r_j φ(z_j)/ρ²)/√3 with Σ r_j = 1, r_j ≥ 0, ‖z_j‖ ≤ ρ; or a cell's indicator")

sensitivity = Claim(
    id="dwang20.section7.2.6.clipped", kind=Kind.SENSITIVITY,
    source=source,
    says="One record moves the mean of clipped statistics by at most √2/n, whatever record and parameters are.",
    assumes=[clipped],
    states=Le(moved**2, 2 / n**2),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            moved**2,
            Step("=", (square + other_square - 2 * inner) / n**2, because=Premise("‖s-s'‖²/n² as records change places")),
            Step("<=", STATEMENT, because=Slack({
                "Σ r_j² (1 + ‖z_j‖²/ρ² + ‖z_j‖⁴/ρ⁴)/3 ≤ Σ r_j² ≤ 1, as ‖φ(z)‖ ≤ ‖z‖²": (1 - square) / n**2,
                "and so for the other record": (1 - other_square) / n**2,
                "Σ r_j r'_j (1 + ⟨z_j,z'_j⟩/ρ² + ⟨φ(z_j),φ(z'_j)⟩/ρ⁴)/3 ≥ 0, as ⟨z,z'⟩ ≥ -ρ² and ⟨φ(z),φ(z')⟩ ≥ 0":
                    2 * inner / n**2,
            }), uses=[clipped]),
        )
    ],
)
released = Release(sqrt(2) / n, Gaussian(noise), steps=T)

privacy = Claim(
    id="dwang20.section7.2.6.clipped.privacy", kind=Kind.PRIVACY,
    source=source,
    says="T rounds with the noise that zCDP asks for, as in Theorem 7.2.7, are (ε, δ)-private.",
    assumes=[eps < 1],
    added=[delta <= Rational(1, 2)],
    states=Eq(noise, sqrt(T) * (sqrt(log(1 / delta) + eps) + sqrt(log(1 / delta))) / (n * eps)),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[Accountant(released, "records in two cells, or on opposite sides of two components")],
)
