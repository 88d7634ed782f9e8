"""Hinge losses from noisy copies of each record (dwang20, section 5.1.4, Algorithm 5.1.33, Theorems 5.1.7 and 5.1.8).

A user sends (x, y) once with noise N(0, 32 log(1.25/δ)/ε²) and d(d+1) times with more; the server multiplies copies to
unbiased powers, which make a Bernstein polynomial of the smoothed derivative. `copies` is its d, and d its p.
Not implemented: at α = 1/2 a user would send 65,793 copies, and the variance has some 3,700 digits.
"""

from sympy import Eq, Expr, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import c1, d, delta, eps, quantity, sigma
from dpcheck.bounds.library.local.local_bernstein import (
    on_axis,
    smooth_T,
    target_error,
    users_needed,
)
from dpcheck.bounds.library.local.local_bernstein import k as cells
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant, Quoted

copies = quantity("hinge_d", "degree of the Bernstein polynomial", box=(1, 1e3), integer=True, printed="d", latex="d")
smoothing = quantity("hinge_beta", "smoothing of the hinge", box=(1e-3, 1.0), printed="β", latex=r"\beta")
margin = quantity("kink_distance", "distance of the margin from the kink", box=(1e-3, 1e3), printed="|x-1/2|")
smoothed_gap = quantity("smoothed_gap", "|f_β - f|", printed="|f_β-f|", latex=r"|f_\beta-f|")
slope_change = quantity("slope_change", "f_β''", printed="f_β''", latex=r"f_\beta''")
bend_change = quantity("bend_change", "|f_β'''|", printed="|f_β'''|", latex=r"|f_\beta'''|")
polynomial_gap = quantity("polynomial_gap", "max over [-1, 1] of |P_d - f_β'|", printed="max|P_d-f_β'|")
oracle_std = quantity("oracle_std", "deviation of G(w, i)", printed="σ(G)", latex=r"\sigma(G)")
big = Symbol("big", positive=True)

# Privacy -------------------------------------------------------------------------------------------
# (x, y) and (-x, -y) with ‖x‖ = |y| = 1: a copy moves by √8. Copies after the first have d(d+1)/2 times its noise.
pair = 2 * sqrt(2)
released = Release(pair * sqrt(1 + 4 / (copies * (copies + 1))), Gaussian(sigma), relation=LOCAL)  # as one Gaussian
BECAUSE = "(x, y) and (-x, -y) at ‖x‖ = |y| = 1; all copies together are one Gaussian"
first_noise = sqrt(32 * log(Rational(5, 4) / delta)) / eps


def privacy(name: str, source: Source, printed_range: list[Expr]) -> list[Claim]:
    """As printed for this range of ε, and for ε at most 1."""
    common = {
        "kind": Kind.PRIVACY, "source": source, "states": Eq(sigma, first_noise), "ignores_units": True,
        "guarantee": ApproxDP(eps, delta, relation=LOCAL),
        "checks": [Accountant(released, BECAUSE, box={copies: (2, 1e3)})],
    }  # fmt: skip
    says = "Noise √(32 log(1.25/δ))/ε on the first copy, d(d+1)/2 times that on d(d+1) more, is (ε, δ)-private"
    found = [Claim(id=f"dwang20.{name}", says=f"{says}.", assumes=[copies >= 2, *printed_range], **common)]
    if not printed_range:
        found.append(
            Claim(
                id=f"dwang20.{name}.corrected", says=f"{says} for ε at most 1.", corrects=f"dwang20.{name}",
                assumes=[copies >= 2, eps <= 1], **common,
            )
        )
    return found


theorem8_privacy, theorem8_privacy_corrected = privacy(
    "theorem5.1.8.privacy", Source("dwang20", "Theorem 5.1.8 with lines 3 to 6 of Algorithm 5.1.33", line=5056), []
)

# Smoothing: Lemma 5.1.8 ------------------------------------------------------------------------------
curved = (margin**2 + smoothing**2) ** Rational(1, 2)
SMOOTH = Source("dwang20", "Lemma 5.1.8", line=5001)

lemma8_close = Claim(
    id="dwang20.lemma5.1.8.close", kind=Kind.UTILITY, source=SMOOTH,
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

lemma8_smooth = Claim(
    id="dwang20.lemma5.1.8.smooth", kind=Kind.UTILITY, source=SMOOTH,
    says="The smoothed hinge is 1/β-smooth.",
    states=Le(slope_change, 1 / smoothing),
    ignores_units=True,
    checks=[AtMost(1 / (2 * smoothing), "f_β'' = β²/(2((x-1/2)²+β²)^(3/2)) is largest at 1/2")],
)

lemma8_third = Claim(
    id="dwang20.lemma5.1.8.third", kind=Kind.UTILITY, source=SMOOTH,
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

# Approximation and oracle ----------------------------------------------------------------------------
in_section = [Setting("c_j = f_β'(j/d), the polynomial is used at y⟨w,x⟩ in [-1, 1]")]

approximated = Claim(
    id="dwang20.section5.1.4.approximation", kind=Kind.UTILITY,
    source=Source("dwang20", "section 5.1.4, before Theorem 5.1.7", line=5010),
    says="For some d = c/(β²α) the Bernstein polynomial of f_β' is within α/4 of it on [-1, 1].",
    assumes=in_section,
    states=Le(polynomial_gap, target_error / 4),
    ignores_units=True,
)

approximated_corrected = Claim(
    id="dwang20.section5.1.4.approximation.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "section 5.1.4, before Theorem 5.1.7", line=5010),
    says="With c_j = f_β'(2j/d-1) and powers of (1±y⟨w,x⟩)/2 it is, from 3/(β²α) on; T is 6/β².",
    assumes=[copies >= 3 / (smoothing**2 * target_error)],
    states=Le(polynomial_gap, target_error / 4),
    corrects="dwang20.section5.1.4.approximation",
    ignores_units=True,
    checks=[
        Chain(
            polynomial_gap,
            Step("<=", on_axis, because=Premise("the map x = 2u-1 from [0, 1] to [-1, 1]")),
            Step("<=", because=Cites(
                "dwang20.lemma5.1.2.first_order",
                {smooth_T: 6 / smoothing**2, cells: copies},
            )),
            Step("<=", STATEMENT),
        )
    ],
)

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
            {copies: big, d: Rational(1), eps: Rational(1), target_error: Rational(1)}, big,
            "⟨w,x⟩ = 0, ‖w‖ = 1: a product of d factors has a second moment of at least v^(2d), where v ≥ d⁴/ε² is the"
            " variance of a copy; the term j = 1 has c₁² ≥ 1/4, and the first copy E‖y₀x₀‖² ≥ p/ε⁴",
            at=1e2,
        )
    ],
)

theorem7_corrected = Claim(
    id="dwang20.theorem5.1.7.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.7, the deviation", line=5012),
    says="With this noise it is d^(4d).",
    assumes=[Setting("noise as in Algorithm 5.1.33"), eps <= 1, target_error <= 1],
    states=Rate(oracle_std, copies ** (4 * copies) * c1**copies * sqrt(d) / eps ** (2 * copies + 2) + target_error + 1),
    hidden=[c1],
    corrects="dwang20.theorem5.1.7",
    ignores_units=True,
    checks=[Quoted("from the proof of Theorem 5.1.7, with the variance 8log(1.25/δ)d²(d+1)²/ε² that a copy has")],
)

theorem8 = Claim(
    id="dwang20.theorem5.1.8", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.8", line=5056),
    says="Users that make the expected excess risk at most α, d = 32/α³, for some constant C.",
    assumes=[Setting("β = α/4 and d = 2/(β²α)")],
    states=Rate(users_needed, copies ** (6 * copies) * c1**copies * d / (eps ** (4 * copies + 4) * target_error**2)),
    hidden=[c1],
    ignores_units=True,
    checks=[Quoted("from Theorem 5.1.7 and an approximation that fail, and users drawn again with old noise")],
    cites=[Cites("dwang20.section5.1.4.approximation"), Cites("dwang20.theorem5.1.7")],
)
