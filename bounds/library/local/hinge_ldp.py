"""Hinge losses from noisy copies of each record (dwang20, section 5.1.4, Algorithm 5.1.33, Theorems 5.1.7 and 5.1.8).

A user sends (x, y) once with noise N(0, 32 log(1.25/δ)/ε²) and d(d+1) times with more; the server multiplies copies to
unbiased powers, which make a Bernstein polynomial of the smoothed slope. The document's d is `copies`, shown as deg,
and its p is d here.
At α = 1/2 the document's degree is 256: 65,793 copies a user, and a variance of some 3,700 digits.
Solver, for small degrees and on the whole interval: dpcheck/solvers/local/hinge_ldp.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import c1, d, delta, eps, excess_risk, n, quantity, sigma
from dpcheck.bounds.library.local.local_bernstein import k as cells
from dpcheck.bounds.library.local.local_bernstein import on_axis, smooth_T, target_error, users_needed
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

copies = quantity("hinge_d", "degree of the polynomial", box=(1, 1e3), integer=True, printed="deg", latex=r"\deg")
smoothing = quantity("hinge_beta", "smoothing of the hinge", box=(1e-3, 1.0), printed="β", latex=r"\beta")
margin = quantity("kink_distance", "distance of the margin from the kink", box=(1e-3, 1e3), printed="|x-1/2|")
smoothed_gap = quantity("smoothed_gap", "|f_β - f|", printed="|f_β-f|", latex=r"|f_\beta-f|")
slope = quantity("hinge_slope", "|f_β'|", printed="|f_β'|", latex=r"|f_\beta'|")
slope_change = quantity("slope_change", "f_β''", printed="f_β''", latex=r"f_\beta''")
bend_change = quantity("bend_change", "|f_β'''|", printed="|f_β'''|", latex=r"|f_\beta'''|")
polynomial_gap = quantity("polynomial_gap", "max over [-1, 1] of |P_d - f_β'|", printed="max|P_d-f_β'|")
smoothed_risk = quantity("smoothed_risk", "expected excess of the smoothed risk", printed="E L_β(w_n)-L_β*")
oracle_std = quantity("oracle_std", "deviation of G(w, i)", printed="σ(G)", latex=r"\sigma(G)")
first_var = quantity("first_var", "variance of the noise on the first copy", printed="σ₀²", latex=r"\sigma_0^2")
copy_var = quantity("copy_var", "variance of the noise on another copy", printed="σ₁²", latex=r"\sigma_1^2")
big = Symbol("big", positive=True)

# Privacy -------------------------------------------------------------------------------------------
# (x, y) and (-x, -y) with ‖x‖ = |y| = 1: a copy moves by √8. Copies after the first have d(d+1)/2 times its noise.
released = Release(sqrt(8) * sqrt(1 + 4 / (copies * (copies + 1))), Gaussian(sigma), relation=LOCAL)  # all as one
account = Accountant(released, "(x, y) and (-x, -y) at ‖x‖ = |y| = 1; all copies together are one Gaussian")
first_noise = sqrt(32 * log(Rational(5, 4) / delta)) / eps
SAYS = "Noise √(32 log(1.25/δ))/ε on the first copy, d(d+1)/2 times that on d(d+1) more, is (ε, δ)-private"

theorem8_privacy = Claim(
    id="dwang20.theorem5.1.8.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.8, first sentence, with lines 3 to 6 of Algorithm 5.1.33", line=5056),
    says=f"{SAYS}, for any ε.",
    added=[copies >= 2],  # d = 32/α³
    states=Eq(sigma, first_noise),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    ignores_units=True,
    checks=[account],
)

theorem8_privacy_corrected = Claim(
    id="dwang20.theorem5.1.8.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.8, first sentence, with lines 3 to 6 of Algorithm 5.1.33", line=5056),
    says=f"{SAYS} for ε at most 1.",
    assumes=[eps <= 1],
    added=[copies >= 2],
    states=Eq(sigma, first_noise),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    corrects="dwang20.theorem5.1.8.privacy",
    ignores_units=True,
    checks=[account],
)

# Smoothing: Lemma 5.1.8, with m = |x-1/2| ------------------------------------------------------------
curved = sqrt(margin**2 + smoothing**2)
SMOOTHED = Source("dwang20", "Lemma 5.1.8", line=5001)

lemma8_close = Claim(
    id="dwang20.lemma5.1.8.close", kind=Kind.UTILITY, source=SMOOTHED,
    says="The smoothed hinge is within β/2 of the hinge.",
    states=Le(smoothed_gap, smoothing / 2),
    ignores_units=True,
    checks=[
        Chain(
            smoothed_gap,
            Step("=", (curved - margin) / 2, because=Premise("on either side of 1/2; at 1/2 itself it is β/2")),
            Step("<=", STATEMENT, because=Slack(seen=[margin * smoothing / (margin + smoothing + curved)])),
        )
    ],
)

lemma8_lipschitz = Claim(
    id="dwang20.lemma5.1.8.lipschitz", kind=Kind.UTILITY, source=SMOOTHED,
    says="The smoothed hinge is 1-Lipschitz.",
    states=Le(slope, Integer(1)),
    ignores_units=True,
    checks=[
        Chain(
            slope,
            Step("<=", (1 + margin / curved) / 2, because=Premise("f_β' is -(1±m/√(m²+β²))/2")),
            Step("<=", STATEMENT, because=Slack(seen=[smoothing**2 / (2 * curved * (margin + curved))])),
        )
    ],
)

lemma8_smooth = Claim(
    id="dwang20.lemma5.1.8.smooth", kind=Kind.UTILITY, source=SMOOTHED,
    says="The smoothed hinge is 1/β-smooth and convex.",
    states=Le(slope_change, 1 / smoothing),
    ignores_units=True,
    checks=[
        Chain(
            slope_change,
            Step("=", smoothing**2 / (2 * curved**3), because=Premise("the derivative of f_β', which is positive")),
            Step("<=", STATEMENT),
        )
    ],
)

lemma8_third = Claim(
    id="dwang20.lemma5.1.8.third", kind=Kind.UTILITY, source=SMOOTHED,
    says="The third derivative is O(1/β²); the proof says 3/β².",
    states=Rate(bend_change, 1 / smoothing**2),
    ignores_units=True,
    checks=[
        Chain(
            bend_change,
            Step("=", Rational(3, 2) * smoothing**2 * margin / curved**5, because=Premise("the derivative of f_β''")),
            Step("<=", Rational(3, 2) * STATEMENT),
        )
    ],
)

# Approximation ---------------------------------------------------------------------------------------
approximated = Claim(
    id="dwang20.theorem5.1.7.approximation", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.7, the difference of Ĝ(w, i) and f_β'", line=5409),
    says="The Bernstein polynomial of f_β' from values at j/d is within 1/(β²d) of it at all y⟨w,x⟩, in [-1, 1].",
    assumes=[smoothing <= 1],
    states=Le(polynomial_gap, 1 / (smoothing**2 * copies)),
    ignores_units=True,
)

on_whole_interval = Setting("c_j = f_β'(2j/d-1), and factors (1+y⟨w,x⟩)/2 and (1-y⟨w,x⟩)/2")

approximated_corrected = Claim(
    id="dwang20.theorem5.1.7.approximation.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.7, the difference of Ĝ(w, i) and f_β'", line=5409),
    says="With values at 2j/d-1, and powers of (1±y⟨w,x⟩)/2, it is.",
    assumes=[smoothing <= 1, on_whole_interval],
    states=Le(polynomial_gap, 1 / (smoothing**2 * copies)),
    corrects="dwang20.theorem5.1.7.approximation",
    ignores_units=True,
    checks=[
        Chain(
            polynomial_gap,
            Step("<=", on_axis, because=Premise("the map x = 2u-1 from [0, 1] to [-1, 1]"), uses=[on_whole_interval]),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.2.first_order", {smooth_T: 6 / smoothing**2, cells: copies},
                granted="four times 3/(2β²), by lemma5.1.8.third")),
            Step("<=", STATEMENT),
        )
    ],
)

# Oracle ----------------------------------------------------------------------------------------------
theorem7 = Claim(
    id="dwang20.theorem5.1.7", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.7, the deviation", line=5012),
    says="G(w, i) has a deviation of O(d^(3d) C₄^d √p/ε^(2d+2) + α + 1) for some constant C₄.",
    assumes=[Setting("noise as in Algorithm 5.1.33"), eps <= 1, target_error <= 1],
    states=Rate(oracle_std, copies ** (3 * copies) * c1**copies * sqrt(d) / eps ** (2 * copies + 2) + target_error + 1),
    hidden=[c1],
    ignores_units=True,
    checks=[
        NoConstant(
            copies ** (4 * copies) * sqrt(d) / (2 * eps ** (2 * copies + 2)),
            {copies: big, d: Integer(1), eps: Integer(1), target_error: Integer(1)}, big,
            "⟨w,x⟩ = 0, ‖w‖ = 1: a product of d factors has a second moment of at least v^(2d), where v ≥ d⁴/ε² is the"
            " variance of a copy; the term j = 1 has c₁² ≥ 1/4, and the first copy E‖y₀x₀‖² ≥ p/ε⁴",
            at=4,
        )
    ],
)

factor_moment = quantity("factor_moment", "largest second moment of a factor", printed="E t²", latex=r"E\,t^2")
largest_factor = copy_var**2 + 2 * copy_var + 4
first_size = sqrt((first_var + 1) * (d * first_var + 1))

unit_records = Setting("‖x‖, |y| and ‖w‖ are at most 1; σ₀² = 32 log(1.25/δ)/ε², σ₁² = 8 log(1.25/δ)d²(d+1)²/ε²")

theorem7_corrected = Claim(
    id="dwang20.theorem5.1.7.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.7, the deviation", line=5012),
    says="With this noise it is at most √p(σ₀²+1)·2^d(σ₁⁴+2σ₁²+4)^(d/2), of order d^(4d).",
    assumes=[unit_records],
    states=Le(oracle_std, sqrt(d) * (first_var + 1) * 2**copies * largest_factor ** (copies / 2)),
    corrects="dwang20.theorem5.1.7",
    ignores_units=True,
    checks=[
        Chain(
            oracle_std,
            Step("<=", 2**copies * factor_moment ** (copies / 2) * first_size, because=Premise(
                "independent copies; |c_j| ≤ 1 and Σ(d over j) = 2^d; E‖y₀x₀‖² = (σ₀²+y²)(pσ₀²+‖x‖²)"),
                uses=[unit_records]),
            Step("<=", 2**copies * largest_factor ** (copies / 2) * first_size, because=Premise(
                "E(y⟨w,x⟩)² is (σ₁²+1)² at most, and E(1-y⟨w,x⟩)² is 3 more")),
            Step("<=", STATEMENT, because=Slack(seen=[
                2**copies * largest_factor ** (copies / 2) * sqrt(first_var + 1) * (d - 1)
                / (sqrt(d * (first_var + 1)) + sqrt(d * first_var + 1))])),
        )
    ],
)

theorem8 = Claim(
    id="dwang20.theorem5.1.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.8", line=5056),
    says="Users that make the expected excess risk at most α, d = 32/α³, for some constant C.",
    assumes=[Setting("β = α/4 and d = 2/(β²α)"), eps <= 1, target_error <= 1, smoothing <= 1],
    states=Rate(users_needed, copies ** (6 * copies) * c1**copies * d / (eps ** (4 * copies + 4) * target_error**2)),
    hidden=[c1],
    ignores_units=True,
    checks=[
        Quoted("from Theorem 5.1.7, whose deviation and approximation fail; users are drawn again with noise once used")
    ],
    cites=[
        Cites("dwang20.theorem5.1.7.approximation"),
        Cites("dwang20.theorem5.1.7", granted="noise as in Algorithm 5.1.33"),
    ],
)

one_use = Setting("users are independent draws, and each is used in one step")

one_pass = Claim(
    id="dwang20.theorem5.1.8.one_pass", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.8 and Remark 5.1.1, population risk", line=5056),
    says="Excess population risk of one pass over the users, with the polynomial on all of [-1, 1].",
    assumes=[*approximated_corrected.assumes, one_use],
    states=Rate(
        excess_risk, 1 / (smoothing * n) + oracle_std / sqrt(n) + 1 / (smoothing**2 * copies) + smoothing
    ),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            excess_risk,
            Step("<=", smoothed_risk + 2 * smoothed_gap, because=Premise("at w_n and at the minimiser")),
            Step("<=", because=Cites("dwang20.lemma5.1.8.close")),
            Step("<=", 2 * (1 / (smoothing * n) + oracle_std / sqrt(n) + 4 * polynomial_gap) + smoothing,
                 because=Premise(
                     "lemma5.1.5.corrected with its constant 2 on a set of diameter 2, as f_β'' ≤ 1/β (lemma5.1.8);"
                     " slopes off by η make an oracle of error 4η"), uses=[one_use]),
            Step("<=", because=Cites("dwang20.theorem5.1.7.approximation.corrected")),
            Step("<=", 8 * STATEMENT),
        )
    ],
)
