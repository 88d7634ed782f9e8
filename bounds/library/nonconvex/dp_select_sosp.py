"""Selecting a second-order stationary point (dwang20, section 4.3.1, Algorithm 4.3.26) from the iterates of DP-GD.

Theorem 4.3.2: the first iterate whose noisy gradient is short and whose noisy Hessian is nearly positive. Solver:
dpcheck/solvers/nonconvex/dp_select_sosp.py.
"""

from sympy import Eq, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.nonconvex.saddle_points import (
    B,
    H_size,
    M,
    a,
    alpha,
    bounded,
    by_moments,
    e_size,
    enough,
    gradients,
    hessian_by_moments,
    hessian_lipschitz,
    hessians,
    losses,
    more,
    rank,
    rest,
    rho_h,
    sigma_H,
    sosp,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import Units

sigma_0 = quantity(
    "sigma_gd", "noise on a gradient of the descent", loss=1, parameter=-1, printed="σ₀", latex=r"\sigma_0"
)
g_out = quantity("g_out_select", "||grad L(w_out)||", loss=1, parameter=-1, printed="‖∇L(w_out)‖")
bent_out = quantity("bent_out_select", "size of a negative least eigenvalue", loss=1, parameter=-2, printed="|λ_min|")
seen_g = quantity("seen_g", "length of the noisy gradient that passed", loss=1, parameter=-1, printed="‖g_t‖")
seen_bend = quantity("seen_bend", "that of its noisy Hessian", loss=1, parameter=-2, printed="|λ_min(H̃_t)|")

# Privacy ---------------------------------------------------------------------------------------------
descent = Release(2 * G / n, Gaussian(sigma_0), steps=T)
released = Composed((descent, gradients(T + 1), hessians(T + 1, rank)))

privacy = Claim(
    id="dwang20.theorem4.3.2.privacy",
    source=Source("dwang20", "Theorem 4.3.2, privacy", line=3889),
    kind=Kind.PRIVACY,
    says="There are c₁ and c₂ with which the selection is (ε, δ)-private; no condition on ε is printed.",
    assumes=losses,
    states=Eq(sigma_n, by_moments),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    checks=[
        Accountant(
            gradients(T + 1),
            "linear losses, the gradients of steps 2 to 6 alone: the true ε grows like ε², whatever c₁",
        )
    ],
)

THREE = "T noisy gradients of the descent, T + 1 gradients and Hessians after it"
noises = {sigma_0: by_moments.subs(c, 16), sigma_n: by_moments.subs(c, 64), sigma_H: hessian_by_moments.subs(c, 64)}


def private(claim_id: str, says: str, noise: Symbol, corrects: str | None = None) -> Claim:
    """One of the three noises, beside the two others."""
    others = [Eq(symbol, formula) for symbol, formula in noises.items() if symbol != noise]
    return Claim(
        id=claim_id,
        source=Source("dwang20", "Theorem 4.3.2, privacy", line=3889),
        kind=Kind.PRIVACY,
        says=says,
        assumes=[*losses, eps <= 1, delta <= Rational(1, 4), *others],
        states=Eq(noise, noises[noise]),
        guarantee=ApproxDP(eps, delta),
        corrects=corrects,
        provenance=Provenance.CONSEQUENCE,
        checks=[Accountant([descent, gradients(T + 1), hessians(T + 1)], THREE)],
    )


privacy_corrected = private(
    "dwang20.theorem4.3.2.privacy.corrected",
    "With c₁ = c₂ = 64, and 16 in step 1, for ε at most 1 and δ at most 1/4.",
    sigma_n,
    "dwang20.theorem4.3.2.privacy",
)
descent_noise = private("dwang20.theorem4.3.2.descent", "The same of the noise of step 1.", sigma_0)
hessian_noise = private("dwang20.theorem4.3.2.hessian", "The same of the noise on Hessians.", sigma_H)

# What passes -----------------------------------------------------------------------------------------
quiet = [e_size <= alpha / 2, H_size <= (1 - sqrt(Rational(1, 2))) * sqrt(rho_h * alpha)]  # Err₁ and Err₂
passed = [seen_g <= alpha, seen_bend <= sqrt(rho_h * alpha)]
small = {e_size: alpha / 2 / (1 + more), seen_g: alpha / (1 + rest)}
flat = {
    H_size: (1 - sqrt(Rational(1, 2))) * sqrt(rho_h * alpha) / (1 + more),
    seen_bend: sqrt(rho_h * alpha) / (1 + rest),
}

out_gradient = Claim(
    id="dwang20.theorem4.3.2.gradient",
    source=Source("dwang20", "Theorem 4.3.2, the gradient of an iterate that passes step 4", line=4306),
    kind=Kind.UTILITY,
    says="What passes has a gradient of at most 3α/2; the proof shows the converse, that some α/2-SOSP passes.",
    assumes=[*bounded, *quiet, *passed],
    states=Le(g_out, Rational(3, 2) * alpha),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            g_out,
            Step("<=", seen_g + e_size, because=Premise("the triangle inequality")),
            Step("<=", STATEMENT, where=small),
        )
    ],
)

out_hessian = Claim(
    id="dwang20.theorem4.3.2.curvature",
    source=Source("dwang20", "Theorem 4.3.2, the Hessian of an iterate that passes step 4", line=4306),
    kind=Kind.UTILITY,
    says="Its least eigenvalue is at least -(2-√½)·√(ρα).",
    assumes=[*losses, *quiet, *passed],
    states=Le(bent_out, (2 - sqrt(Rational(1, 2))) * sqrt(rho_h * alpha)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            bent_out,
            Step(
                "<=",
                seen_bend + H_size,
                because=Premise("Weyl's inequality; it passes by the Hessians' ρ"),
                uses=[hessian_lipschitz],
            ),
            Step("<=", STATEMENT, where=flat),
        )
    ],
)

LARGER = Premise("Definition 4.3.2, ρ being that of Hessians: the larger of the two")
by_both = Chain(
    sosp,
    Step("<=", g_out + bent_out**2 / rho_h, because=LARGER, uses=[hessian_lipschitz]),
    Step("<=", because=Cites("dwang20.theorem4.3.2.gradient")),
    Step("<=", because=Cites("dwang20.theorem4.3.2.curvature")),
    Step("<=", 4 * STATEMENT),
)
out = Claim(
    id="dwang20.theorem4.3.2",
    source=Source("dwang20", "Theorem 4.3.2, the output; O(α)-SOSP, as Remark 4.3.2 quotes it", line=3889),
    kind=Kind.UTILITY,
    says="The output is an O(α)-SOSP where the noise is at most Err₁ and Err₂ (1.68α; the theorem has α itself).",
    assumes=[*losses, *quiet, *passed],
    states=Rate(sosp, alpha),
    provenance=Provenance.READING,
    checks=[by_both],
)

# How many records ------------------------------------------------------------------------------------
printed_size = Claim(
    id="dwang20.theorem4.3.2.records",
    source=Source("dwang20", "Theorem 4.3.2, the sample size, L read outside the root as in its proof", line=3891),
    kind=Kind.UTILITY,
    says="Md√(MB)·√(ln(1/δ)·ln(1/ξ))·L/(ρεα²) records are enough, logarithms left out.",
    assumes=[*losses, Eq(T, M * B / alpha**2)],
    states=Rate(enough, M * d * sqrt(M * B) * sqrt(a * log(1 / gamma)) * G / (rho_h * eps * alpha**2)),
    checks=[Units()],
)

proof_size = Claim(
    id="dwang20.theorem4.3.2.proof",
    source=Source("dwang20", "proof of Theorem 4.3.2, the second of the two sizes", line=4310),
    kind=Kind.UTILITY,
    says="√(ln(1/δ)·BM)·Md·ln(1/ξ)/(ρεα²) records make the noise on Hessians at most Err₂.",
    assumes=[*losses, Eq(T, M * B / alpha**2)],
    states=Rate(enough, sqrt(a * B * M) * M * d * log(1 / gamma) / (rho_h * eps * alpha**2)),
    checks=[Units()],
)

size_corrected = Claim(
    id="dwang20.theorem4.3.2.records.corrected",
    source=Source("dwang20", "Theorem 4.3.2, the sample size", line=3891),
    kind=Kind.UTILITY,
    says="The larger of √(MB)·L√(d·ln(1/δ))·ln(1/ξ)/(εα²) and Md√(MB·ln(1/δ))/(√ρ·εα^1.5), which their sum bounds.",
    assumes=[*losses, Eq(T, M * B / alpha**2)],
    states=Rate(
        enough,
        sqrt(M * B * a)
        * (G * sqrt(d) * log(1 / gamma) / alpha**2 + M * d / (sqrt(rho_h) * alpha ** Rational(3, 2)))
        / eps,
    ),
    corrects="dwang20.theorem4.3.2.records",
    checks=[
        Chain(
            enough,
            Step(
                "<=",
                8
                * (
                    G * sqrt(T * a * d) * log(1 / gamma) / (eps * alpha / 2)
                    + M * d * sqrt(T * a) / (eps * (1 - sqrt(Rational(1, 2))) * sqrt(rho_h * alpha))
                ),
                because=Premise(
                    "Theorem 4.3.1 has an α/2-SOSP among the iterates, as Hessians are ρ-Lipschitz, and what passes by "
                    "Err₁ ≤ α/2 and Err₂ ≤ (1-√½)√(ρα), solved for n, c = 64; ln T is left out"
                ),
                uses=[hessian_lipschitz],
            ),
            Step("<=", 32 * STATEMENT),
        )
    ],
)

crowd = sqrt(d * sqrt(a) / (n * eps))
remark_output = Claim(
    id="dwang20.remark4.3.2.selected",
    source=Source("dwang20", "Remark 4.3.2, n fixed, the output of Theorem 4.3.2; ln(1/ξ) left out", line=4025),
    kind=Kind.UTILITY,
    says="With n records the selection puts out an O((p√ln(1/δ)/(nε))^(1/2))-SOSP: α is what d/(εα²) allows.",
    assumes=[*losses, *quiet, *passed, Eq(alpha, crowd)],
    states=Rate(sosp, crowd),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    checks=[by_both],
)
