"""DP-TR (dwang20, section 4.3.2, Algorithm 4.3.28): trust-region steps on noisy gradients and noisy Hessians.

Theorems 4.3.4 and 4.3.5 with their proofs, Lemma 4.3.1, Remark 4.3.2. u stands for α^(3/2)/√ρ, the loss that a step of
length r = √(α/ρ) is about. Solver: dpcheck/solvers/nonconvex/dp_tr.py.
"""

from sympy import Eq, Ge, Integer, Le, Rational, Symbol, exp, limit, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, d, delta, eps, gamma, n, quantity, ratio, run_time
from dpcheck.bounds.library.convex.variance_reduction import G, gap0, sigma_n
from dpcheck.bounds.library.nonconvex.saddle_points import (
    SENSITIVITIES,
    F_next,
    F_now,
    H_size,
    M,
    a,
    alpha,
    e_size,
    enough,
    hessian_lipschitz,
    in_turn,
    losses,
    more,
    rank,
    rest,
    rho_h,
    sigma_H,
    slack,
    sosp,
    usual,
)
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, OnlySolution, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals, Units

phi = quantity("phi_tr", "privacy parameter of zCDP for all steps", printed="φ", latex=r"\phi")
phi_root = quantity("phi_root", "the root of φ", printed="√φ", latex=r"\sqrt{\phi}")
lam = quantity("lam_tr", "multiplier of a trust-region step", loss=1, parameter=-2, printed="λ", latex=r"\lambda")
least = quantity(
    "least_tr", "minus the least eigenvalue of the matrix of a trust-region problem", loss=1, parameter=-2,
    printed="|λ_min(H)|", latex=r"|\lambda_{\min}(H)|",
)
stops_at = quantity(
    "stops_at", "multiplier at which DP-TR stops", loss=1, parameter=-2, printed="λ_stop", latex=r"\lambda_{stop}"
)
shake = quantity(
    "shake_tr", "what noise may add to a step", loss=1, printed="‖ε‖‖h‖+½‖H‖₂‖h‖²", latex=r"\|\epsilon\|\|h\|"
)
fall = quantity("fall_tr", "what a step gains", loss=1, printed="L(w^k)-L(w^(k+1))")
g_out = quantity("g_out_tr", "||grad L(w_out)||", loss=1, parameter=-1, printed="‖∇L(w_out)‖")
bent_out = quantity("bent_out_tr", "minus the least eigenvalue at the output", loss=1, parameter=-2, printed="|λ_min|")
constant = quantity("constant_tr", "n²ε²/(L²T·ln(1/δ)) times the squared noise, for small ε", printed="σ²n²ε²/(L²T·a)")

wide = Symbol("wide", nonnegative=True)
radius, u = sqrt(alpha / rho_h), alpha ** Rational(3, 2) / sqrt(rho_h)

# Privacy ---------------------------------------------------------------------------------------------
root_phi = eps / (sqrt(eps + a) + sqrt(a))  # √(ε+a) - √a, without cancellation
gradient_noise = 2 * G * sqrt(T) / (n * root_phi)
hessian_noise = 2 * M * sqrt(d * T) / (n * root_phi)
released = in_turn(rank)

theorem4 = Claim(
    id="dwang20.theorem4.3.4",
    source=Source("dwang20", "Theorem 4.3.4, with steps 3 and 4 of Algorithm 4.3.28", line=3994),
    kind=Kind.PRIVACY,
    says="DP-TR with σ² = 4G²T/(n²φ) and σ₂² = 4pM²T/(n²φ) is (ε, δ)-private.",
    assumes=[*losses, Eq(sigma_H, hessian_noise)],
    states=Eq(sigma_n, gradient_noise),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.theorem4.3.4.sensitivity"), Cites("dwang20.lemma2.1.10")],
    checks=[Accountant(in_turn(), SENSITIVITIES)],
)

theorem4_hessian = Claim(
    id="dwang20.theorem4.3.4.hessian",
    source=Source("dwang20", "Theorem 4.3.4, read as a statement on σ₂", line=3994),
    kind=Kind.PRIVACY,
    says="The same of the noise on Hessians, beside the printed noise on gradients.",
    assumes=[*losses, Eq(sigma_n, gradient_noise)],
    states=Eq(sigma_H, hessian_noise),
    guarantee=ApproxDP(eps, delta),
    provenance=Provenance.CONSEQUENCE,
    checks=[Accountant(in_turn(), SENSITIVITIES)],
)

root = Claim(
    id="dwang20.theorem4.3.5.root_phi",
    source=Source("dwang20", "proof of Theorem 4.3.5, the size of √φ", line=4502),
    kind=Kind.UTILITY,
    says="√φ = √(ε+ln(1/δ)) - √ln(1/δ) is O(ε/√ln(1/δ)).",
    assumes=[Eq(phi_root, root_phi)],
    added=[delta <= Rational(1, 2)],
    states=Rate(phi_root, eps / sqrt(a)),
    checks=[Chain(phi_root, Step("=", root_phi), Step("<=", STATEMENT / 2, where=usual))],
)

expanded = Claim(
    id="dwang20.section4.3.3.noise",
    source=Source("dwang20", "section 4.3.3, experimental results, the noise of DP-TR", line=4114),
    kind=Kind.IDENTITY,
    says="4L²T/(n²φ) ≈ 64L²T·ln(1/δ)/(n²ε²).",
    states=Eq(constant, Integer(64)),
    checks=[Equals(lambda: limit(4 * eps**2 / (a * root_phi**2), eps, 0), "4ε²/(φ·ln(1/δ)) as ε → 0")],
)

expanded_corrected = Claim(
    id="dwang20.section4.3.3.noise.corrected",
    source=Source("dwang20", "section 4.3.3, experimental results, the noise of DP-TR", line=4114),
    kind=Kind.IDENTITY,
    says="It is 16 times L²T·ln(1/δ)/(n²ε²), a quarter of what is printed.",
    states=Eq(constant, Integer(16)),
    corrects="dwang20.section4.3.3.noise",
    checks=[Equals(lambda: limit(4 * eps**2 / (a * root_phi**2), eps, 0), "4ε²/(φ·ln(1/δ)) as ε → 0")],
)

# The trust-region problem ----------------------------------------------------------------------------
lemma1 = Claim(
    id="dwang20.lemma4.3.1",
    source=Source("dwang20", "Lemma 4.3.1; ≻ read as ⪰, with which its proof works (4.83)", line=3978),
    kind=Kind.IDENTITY,
    says="The multiplier of a global minimum makes H + λI positive semidefinite.",
    states=Le(least, lam),
    provenance=Provenance.READING,
)

box_stop = Claim(
    id="dwang20.algorithm4.3.28.stop",
    source=Source("dwang20", "Algorithm 4.3.28, step 7", line=4011),
    kind=Kind.IDENTITY,
    says="DP-TR stops at λ ≤ √(αφ), φ being the privacy parameter of step 1.",
    assumes=losses,
    states=Eq(stops_at, sqrt(alpha * phi)),
    misprint_of="dwang20.theorem4.3.5.stop",
    checks=[Units()],
)

stop_corrected = Claim(
    id="dwang20.algorithm4.3.28.stop.corrected",
    source=Source("dwang20", "Algorithm 4.3.28, step 7", line=4011),
    kind=Kind.IDENTITY,
    says="With ρ for φ.",
    assumes=losses,
    states=Eq(stops_at, sqrt(alpha * rho_h)),
    corrects="dwang20.algorithm4.3.28.stop",
    checks=[Equals(alpha / radius, "λr = α there, so that λ‖h‖ is the gradient that is aimed at")],
)

stop = Claim(
    id="dwang20.theorem4.3.5.stop",
    source=Source("dwang20", "proof of Theorem 4.3.5, after (4.85), and Algorithm 4.3.29, step 7", line=4474),
    kind=Kind.IDENTITY,
    says="λ ≤ √(αρ) ends the run.",
    assumes=losses,
    states=Eq(stops_at, sqrt(alpha * rho_h)),
    checks=[Equals(alpha / radius, "λr = α there, so that λ‖h‖ is the gradient that is aimed at")],
)

# One step --------------------------------------------------------------------------------------------
printed_noise = [e_size <= alpha / 6, H_size <= sqrt(alpha * rho_h) / 3]  # (4.74), (4.75)
half_noise = [e_size <= alpha / 12, H_size <= sqrt(alpha * rho_h) / 6]
goes_on = [lam >= sqrt(alpha * rho_h)]
noise_given = {e_size: alpha / 12 / (1 + more), H_size: sqrt(alpha * rho_h) / 6 / (1 + rest)}

equation78 = Claim(
    id="dwang20.equation4.78",
    source=Source("dwang20", "equation (4.78)", line=4440),
    kind=Kind.UTILITY,
    says="What the noise of (4.74) and (4.75) adds to a step of length r at most.",
    assumes=[*losses, *printed_noise],
    states=Le(shake, u / 3),
    checks=[
        Chain(
            shake,
            Step("<=", e_size * radius + H_size * radius**2 / 2, because=Premise("‖h‖ ≤ r = √(α/ρ), ρ of the Hessians"),
                 uses=[hessian_lipschitz]),
            Step("<=", STATEMENT,
                 where={e_size: alpha / 6 / (1 + more), H_size: sqrt(alpha * rho_h) / 3 / (1 + rest)}),
        )
    ],
)

falls = F_now - lam * alpha / (2 * rho_h) + u / 3
attained = F_now - lam * alpha / (2 * rho_h) + e_size * radius + H_size * radius**2 / 2 + u / 6

equation85 = Claim(
    id="dwang20.equation4.85",
    source=Source("dwang20", "equation (4.85)", line=4468),
    kind=Kind.UTILITY,
    says="What a step with λ > √(αρ) gains; the cubic term of (4.77) is gone.",
    assumes=[*losses, *printed_noise, *goes_on],
    states=Le(F_next, falls),
    checks=[
        AtMost(
            attained,
            "one coordinate, noisy gradient 0 and noisy curvature -λ, so that h = r; the noise is against the step and "
            "the third derivative is ρ: ‖ε‖r + ½‖H‖₂r² + ρr³/6 is added to -λr²/2",
            box={F_now: (1e-1, 1e1), alpha: (0.1, 1), rho_h: (0.1, 10), lam: (0.1, 100),
                 e_size: (1e-3, 0.2), H_size: (1e-3, 2)},
        )
    ],
)

equation85_corrected = Claim(
    id="dwang20.equation4.85.corrected",
    source=Source("dwang20", "equation (4.85)", line=4468),
    kind=Kind.UTILITY,
    says="It holds with half the noise of (4.74) and (4.75), which a larger constant in (4.59) gives.",
    assumes=[*losses, *half_noise, *goes_on],
    states=Le(F_next, falls),
    corrects="dwang20.equation4.85",
    checks=[
        Chain(
            F_next,
            Step("<=", attained, because=Premise(
                "the Hessian is ρ-Lipschitz (4.77), ‖h‖ ≤ r; ⟨g̃,h⟩ + ½⟨H̃h,h⟩ = ½⟨g̃,h⟩ - ½λr² ≤ -½λr² (Lemma 4.3.1)"),
                uses=[hessian_lipschitz]),
            Step("<=", STATEMENT, where=noise_given),
        )
    ],
)

step_gain = Claim(
    id="dwang20.theorem4.3.5.gain",
    source=Source("dwang20", "proof of Theorem 4.3.5, after (4.85), with half the noise", line=4472),
    kind=Kind.UTILITY,
    says="Each step that does not stop gains a sixth of α^(3/2)/√ρ.",
    assumes=[*losses, *half_noise, *goes_on],
    states=Ge(fall, u / 6),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            fall,
            Step("=", F_now - F_next, because=Premise("that is what a step gains")),
            Step(">=", because=Cites("dwang20.equation4.85.corrected")),
            Step(">=", STATEMENT, where={lam: sqrt(alpha * rho_h) * (1 + slack)}),
        )
    ],
)

steps = Claim(
    id="dwang20.theorem4.3.5.steps",
    source=Source("dwang20", "Theorem 4.3.5, the number of steps; Δ is g₀", line=4019),
    kind=Kind.UTILITY,
    says="T = 6√ρ·Δ/α^(3/2): no more steps can gain, with half the noise of (4.74), (4.75): Ω leaves the number open.",
    assumes=[*losses, *goes_on],
    added=half_noise,
    states=Le(T, 6 * sqrt(rho_h) * gap0 / alpha ** Rational(3, 2)),
    checks=[
        Chain(
            T,
            Step("<=", gap0 / fall, because=Premise("T gains add up to Δ at most, and so does T times the least")),
            Step("<=", because=Cites("dwang20.theorem4.3.5.gain")),
            Step("=", STATEMENT),
        )
    ],
)

# The output ------------------------------------------------------------------------------------------
out_gradient = Claim(
    id="dwang20.theorem4.3.5.gradient",
    source=Source("dwang20", "proof of Theorem 4.3.5, the gradient at the output", line=4490),
    kind=Kind.UTILITY,
    says="Where λ ≤ √(αρ) the next gradient is at most 2α long.",
    assumes=[*losses, *printed_noise, lam <= sqrt(alpha * rho_h)],
    states=Le(g_out, 2 * alpha),
    checks=[
        Chain(
            g_out,
            Step("<=", lam * radius + e_size + H_size * radius + rho_h / 2 * radius**2, because=Premise(
                "(4.79): ‖g̃+H̃h‖ = λ‖h‖; noise; and the Hessian is ρ-Lipschitz, ‖h‖ ≤ r"), uses=[hessian_lipschitz]),
            Step("<=", STATEMENT, where={lam: sqrt(alpha * rho_h) / (1 + slack), e_size: alpha / 6 / (1 + more),
                                         H_size: sqrt(alpha * rho_h) / 3 / (1 + rest)}),
        )
    ],
)

out_hessian = Claim(
    id="dwang20.theorem4.3.5.curvature",
    source=Source("dwang20", "proof of Theorem 4.3.5, the Hessian at the output", line=4494),
    kind=Kind.UTILITY,
    says="Its least eigenvalue is at least -7/3·√(αρ).",
    assumes=[*losses, *printed_noise, lam <= sqrt(alpha * rho_h)],
    states=Le(bent_out, Rational(7, 3) * sqrt(alpha * rho_h)),
    checks=[
        Chain(
            bent_out,
            Step("<=", H_size + lam + rho_h * radius, because=Premise(
                "H̃ + λI ⪰ 0 (4.80), noise, and the Hessian is ρ-Lipschitz, ‖h‖ ≤ r"), uses=[hessian_lipschitz]),
            Step("<=", STATEMENT, where={lam: sqrt(alpha * rho_h) / (1 + slack),
                                         H_size: sqrt(alpha * rho_h) / 3 / (1 + rest)}),
        )
    ],
)

out = Claim(
    id="dwang20.theorem4.3.5.output",
    source=Source("dwang20", "proof of Theorem 4.3.5, last line on the output", line=4496),
    kind=Kind.UTILITY,
    says="The output is a 9α-SOSP.",
    assumes=[*losses, *printed_noise, lam <= sqrt(alpha * rho_h)],
    states=Le(sosp, 9 * alpha),
    checks=[
        Chain(
            sosp,
            Step("<=", g_out + bent_out**2 / rho_h, because=Premise("Definition 4.3.2: the larger of the two")),
            Step("<=", because=Cites("dwang20.theorem4.3.5.gradient")),
            Step("<=", because=Cites("dwang20.theorem4.3.5.curvature")),
            Step("<=", STATEMENT),
        )
    ],
)

vacuous = Claim(
    id="dwang20.section4.3.3.second_order",
    source=Source("dwang20", "section 4.3.3, α = 0.1 and the sigmoid loss", line=4108),
    kind=Kind.IDENTITY,
    says="At α = 0.1 every point meets the second condition for rows of norm 1: the runs test the gradient alone.",
    assumes=[*losses, Eq(M, sqrt(3) / 18), Eq(rho_h, Rational(1, 8)), Eq(alpha, Rational(1, 10))],
    states=Le(bent_out, sqrt(alpha * rho_h)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            bent_out,
            Step("<=", M, because=Premise("each loss is M-smooth")),
            Step("<=", STATEMENT, uses=[hessian_lipschitz]),
        )
    ],
)

# How many records ------------------------------------------------------------------------------------
short = [Eq(T, 6 * sqrt(rho_h) * gap0 / alpha ** Rational(3, 2))]
fixed = [
    Eq(G, 1), Eq(M, 1), Eq(rho_h, 1), Eq(gap0, 1), alpha <= 1, eps <= 1, delta <= Rational(1, 2),
    gamma <= Rational(1, 2),
]
per_gradient = sqrt(d) * sqrt(T) * G * log(1 / gamma) / (alpha * root_phi)
per_hessian = d * M * sqrt(T) / (sqrt(alpha * rho_h) * root_phi)
many = {**usual, gamma: exp(-log(2) - more), eps: 1 / (1 + rest), alpha: 1 / (1 + slack) ** 4, d: (1 + wide) ** 2}
RECORDS = Premise(
    "(4.74), (4.75), enough where Hessians are ρ-Lipschitz, with the noise of steps 3 and 4, but for a number and ln T"
)

size = Claim(
    id="dwang20.theorem4.3.5",
    source=Source("dwang20", "Theorem 4.3.5, equation (4.59)", line=4021),
    kind=Kind.UTILITY,
    says="Records that are enough for an O(α)-SOSP, ln(1/α) left out as printed; Ω hides G, M, ρ and Δ.",
    assumes=[*losses, *short],
    added=fixed,
    states=Rate(enough, d * log(1 / gamma) * sqrt(a) / (alpha ** Rational(7, 4) * eps)),
    ignores_units=True,
    cites=[Cites("dwang20.theorem4.3.5.steps"), Cites("dwang20.theorem4.3.5.output")],
    checks=[
        Chain(
            enough,
            Step("<=", per_gradient + per_hessian, because=RECORDS, uses=[hessian_lipschitz]),
            Step("<=", (per_gradient + per_hessian) * root_phi * sqrt(7 * a) / eps,
                 because=Premise("1/√φ = (√(ε+a) + √a)/ε ≤ √(4a+2ε)/ε ≤ √(7a)/ε, as ε ≤ 1 ≤ 3a/2, a = ln(1/δ)")),
            Step("<=", 20 * STATEMENT, where=many),
        )
    ],
)

remark_samples = Claim(
    id="dwang20.remark4.3.2.samples",
    source=Source("dwang20", "Remark 4.3.2, the sample sizes of Theorems 4.3.2 and 4.3.5", line=4025),
    kind=Kind.UTILITY,
    says="Theorem 4.3.5 improves the sample size of Theorem 4.3.2 by 1/α^0.25.",
    states=Eq(ratio, alpha ** Rational(-1, 4)),
    ignores_units=True,
    checks=[Equals((d * sqrt(a) / (alpha**2 * eps)) / (d * sqrt(a) / (alpha ** Rational(7, 4) * eps)),
                   "p√ln(1/δ)/(α²ε) over p√ln(1/δ)/(α^1.75·ε)")],
)

crowd = d * sqrt(a) / (n * eps)

remark_level = Claim(
    id="dwang20.remark4.3.2.level",
    source=Source("dwang20", "Remark 4.3.2, n fixed, DP-TR", line=4025),
    kind=Kind.UTILITY,
    says="With n records DP-TR reaches α = (p√ln(1/δ)/(nε))^(4/7).",
    states=Eq(alpha, crowd ** Rational(4, 7)),
    ignores_units=True,
    checks=[Chain(alpha, Step("=", STATEMENT, because=OnlySolution(
        lambda x: [n - d * sqrt(a) / (x ** Rational(7, 4) * eps)], only="(4.59) with equality falls as α grows")))],
)

remark_output = Claim(
    id="dwang20.remark4.3.2.output",
    source=Source("dwang20", "Remark 4.3.2, n fixed, the output of DP-TR; ln(1/ζ) left out", line=4025),
    kind=Kind.UTILITY,
    says="With n records DP-TR puts out an O((p√ln(1/δ)/(nε))^(4/7))-SOSP: α is what (4.59) allows.",
    assumes=[*losses, *printed_noise, lam <= sqrt(alpha * rho_h), Eq(alpha, crowd ** Rational(4, 7))],
    states=Rate(sosp, crowd ** Rational(4, 7)),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites=[Cites("dwang20.remark4.3.2.level")],
    checks=[Chain(sosp, Step("<=", because=Cites("dwang20.theorem4.3.5.output")), Step("<=", 9 * STATEMENT))],
)

remark_steps = Claim(
    id="dwang20.remark4.3.2.steps",
    source=Source("dwang20", "Remark 4.3.2, the number of steps", line=4027),
    kind=Kind.UTILITY,
    says="DP-TR takes O(α^-1.5) steps, and time O(n·poly(p)/α^1.5): n/α^1.5 evaluations of a gradient and a Hessian.",
    assumes=[*short],
    added=[Eq(rho_h, 1), gap0 <= 1],
    states=Rate(run_time, n / alpha ** Rational(3, 2)),
    ignores_units=True,
    checks=[Chain(run_time, Step("=", n * T, because=Premise("a gradient and a Hessian of each record in each step")),
                  Step("<=", 6 * STATEMENT))],
)
