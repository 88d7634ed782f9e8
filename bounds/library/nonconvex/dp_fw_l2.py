"""DP-FW-L2 (wangxu19, Algorithm 2; dwang20, section 4.1.2, Algorithm 4.1.17): Frank-Wolfe on noisy gradients.

Theorem 4 (4.1.4) and its proof (dwang20, section 4.1.6), over a bounded symmetric convex set C. Lemmas stand in
stationarity.py. Solver: dpcheck/solvers/nonconvex/dp_fw_l2.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, erfc, exp, pi, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, c1, delta, eps, frank_wolfe_gap, m, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import diameter, spread, width
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0, sigma_n
from dpcheck.bounds.library.mechanisms.gaussian import for_every_delta
from dpcheck.bounds.library.nonconvex.dp_pgd import stated_noise
from dpcheck.bounds.library.nonconvex.stationarity import a, both, extra, full_gradients, losses, seen_in_x_R
from dpcheck.bounds.library.nonconvex.stationarity_comparison import high
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.proving.proofs import AtMost, Follows, Less, NoConstant, Proof, Same, Units

step_fw = quantity("step_fw", "Frank-Wolfe step size", box=(1e-4, 10), printed="γ", latex=r"\gamma")
third = quantity("third_fw", "E||ε||*²/(2L̃γ), the third term of the proof", loss=1, printed="E‖ε‖*²/(2L̃γ)")
pulled_away = quantity("pulled_away", "<v_t - v^_t, grad F>", loss=1, printed="⟨v-v̂,∇F⟩")
by_noise = quantity(
    "by_noise", "<v_t - v^_t, -ε>", loss=1, printed="⟨v-v̂,-ε⟩", latex=r"\langle v-\hat v,-\varepsilon\rangle"
)
F_t = quantity("F_fw", "F(x_t)", loss=1, printed="F(x_t)", latex="F(x_t)")
F_t1 = quantity("F_fw_next", "F(x_(t+1))", loss=1, printed="F(x_(t+1))", latex="F(x_{t+1})")
toward = quantity(
    "toward_vertex", "<grad F(x_t), v_t - x_t>", loss=1, printed="⟨∇F,v-x⟩", latex=r"\langle\nabla F,v-x\rangle"
)
span = quantity("vertex_span", "||v_t - x_t||_C, at most 2", box=(1e-2, 2), printed="‖v-x‖_C", latex=r"\|v-x\|_C")

gap_at = quantity("gap_at", "max over v in C of <grad F(x), x - v>", loss=1, printed="𝒢(x)", latex=r"\mathcal{G}(x)")
slope_at = quantity("slope_at", "||grad F(x)||", loss=1, parameter=-1, printed="‖∇F(x)‖", latex=r"\|\nabla F(x)\|")
inside = quantity("inside", "radius of a ball around x inside C", parameter=1, printed="r", latex="r")

big = Symbol("big", positive=True)
THEOREM4 = ("theorem4", "theorem4.1.4")
symmetric = [*losses, Setting("C symmetric")]
released = full_gradients(T)

# Privacy -------------------------------------------------------------------------------------------
privacy, privacy_dwang = both(
    *THEOREM4,
    ".privacy",
    kind=Kind.PRIVACY,
    says="There are c and c₁ with which DP-FW-L2 is (ε, δ)-private for all ε < c₁T and δ < 1.",
    assumes=[*symmetric, eps < c1 * T],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c, c1),
    cites={"wangxu19": [Cites("wangxu19.lemma2", {m: n})], "dwang20": [Cites("dwang20.lemma2.1.7", {m: n})]},
    checks=[
        IterateAccountant(
            seen_in_x_R,
            "linear losses over an l2 ball, x_R seen: the other records' gradients, large against the noise, lie along "
            "one axis, so a vertex shows the noisy gradient across it, and x_R after small steps the sum; T cancels",
        )
    ],
)

privacy_corrected, privacy_corrected_dwang = both(
    *THEOREM4,
    ".privacy.corrected",
    kind=Kind.PRIVACY,
    says="With c = 8, for ε at most 1 and δ at most 1/4.",
    assumes=[*symmetric, eps <= 1, delta <= Rational(1, 4)],
    states=Eq(sigma_n, stated_noise.subs(c, 8)),
    guarantee=ApproxDP(eps, delta),
    checks=[Accountant(released, "T full gradients, each 2G/n apart"), for_every_delta],
)

# Utility -------------------------------------------------------------------------------------------
printed_step = (spread * a) ** Rational(1, 4) / (diameter * sqrt(n * eps))
wrong_vertex = erfc(1 / sqrt(2)) / 2  # Φ(-1)

theorem4, theorem4_dwang = both(
    *THEOREM4,
    places=("Theorem 4, equation (6)", "Theorem 4.1.4, equation (4.6)"),
    kind=Kind.UTILITY,
    says="The Frank-Wolfe gap at x_R, with γ and T of the theorem; G, L and Δ fixed, ‖C‖₂ not.",
    assumes=[*symmetric],
    states=Rate(frank_wolfe_gap, diameter * high),
    guarantee=ApproxDP(eps, delta),
    ignores_units=True,
    cites={"dwang20": [Cites("dwang20.theorem4.1.4.proof")]},
    checks=[
        NoConstant(
            wrong_vertex * diameter,
            {diameter: 1 / big, width: sqrt(1 / (2 * pi)) / big, n: 8 * big, eps: Integer(1), delta: exp(-1)},
            big,
            "F(x) = x on [-s/2, s/2], s = 1/k, from x₁ = 0, with n = 8k, c = 8 and T = n/s: σ = 1, so that each step "
            "goes to the wrong end with probability Φ(-1), and the gap is at least s·Φ(-1); stated is order s²",
        )
    ],
)

direct = gap0 / (step_fw * T) + L_s * step_fw * diameter**2 / 2 + 2 * sigma_n * width
least_T = diameter * sqrt(2 * L_s * gap0) / (2 * width * stated_noise.subs(T, 1))
free_step = sqrt(2 * gap0 / (L_s * T)) / diameter

theorem4_direct, theorem4_direct_dwang = both(
    *THEOREM4, ".direct", places=("Theorem 4, with all constants", "Theorem 4.1.4, with all constants"),
    kind=Kind.UTILITY,
    says="The gap at x_R for every T and every γ up to 1: E max over C of ⟨ε, v⟩ is σ·G_C, nothing need be squared.",
    assumes=[*symmetric, step_fw <= 1],
    states=Le(frank_wolfe_gap, direct),
    checks=[
        Proof(
            [
                Same(
                    "one step: F(x⁺) ≤ F - γ·gap + γ⟨v-v̂,-ε⟩ + L/2·γ²‖C‖², in the mean over T steps",
                    (gap0 / T + step_fw * 2 * sigma_n * width + L_s / 2 * step_fw**2 * diameter**2) / step_fw, direct,
                ),
            ],
            "by (4.10), and E max over v, v̂ in C of ⟨v-v̂,-ε⟩ = 2σ·G_C for symmetric C",
        )
    ],
    cites={"dwang20": [Cites("dwang20.equation4.10")]},
)

theorem4_corrected, theorem4_corrected_dwang = both(
    *THEOREM4, ".corrected", places=("Theorem 4, equation (6)", "Theorem 4.1.4, equation (4.6)"),
    kind=Kind.UTILITY,
    says="With γ = √(2Δ/(LT))/‖C‖₂ ≤ 1 and the best T ≥ 1: for ‖C‖₂ of order 1 it is at most the printed rate.",
    assumes=[*symmetric, step_fw <= 1, Setting("T ≥ 1 at these values")],
    states=Rate(frank_wolfe_gap, sqrt(diameter * width * G) * (L_s * gap0 * a) ** Rational(1, 4) / sqrt(n * eps)),
    guarantee=ApproxDP(eps, delta),
    cites={"dwang20": [Cites("dwang20.theorem4.1.4.direct")]},
    checks=[
        Follows(
            (diameter * sqrt(2 * L_s * gap0 / T) + sqrt(2) * 2 * stated_noise * width).subs(T, least_T).subs(c, 8),
            Rational(7), "‖C‖√(2LΔ/T) + 2σ·G_C with c = 8 at the best T, which rounding up at most doubles",
        ),
        Proof([Same("the direct bound at γ", direct.subs(step_fw, free_step),
                    diameter * sqrt(2 * L_s * gap0 / T) + 2 * sigma_n * width)]),
    ],
)

A, B, y = (Symbol(name, positive=True) for name in ("A", "B", "y"))

steps = Claim(
    id="dwang20.theorem4.1.4.steps",
    source=Source("dwang20", "Theorem 4.1.4, T for the direct bound"),
    kind=Kind.UTILITY,
    says="The T that makes ‖C‖√(2LΔ/T) + 2σ·G_C least.",
    assumes=symmetric,
    states=Eq(T, least_T),
    checks=[
        Proof(
            [
                Same(
                    "A/√T + B√T is 2√(AB) plus a square, with √T = y²: it is 0 at T = A/B", A / y**2 + B * y**2,
                    2 * sqrt(A * B) + (sqrt(A) / y - sqrt(B) * y) ** 2,
                ),
                Same("with A = ‖C‖√(2LΔ), B√T = 2σ·G_C",
                     diameter * sqrt(2 * L_s * gap0) / (2 * stated_noise * width / sqrt(T)), least_T),
            ]
        )
    ],
)

fits, fits_dwang = both(
    *THEOREM4,
    ".step",
    places=("Theorem 4, the step size", "Theorem 4.1.4, the step size"),
    kind=Kind.UTILITY,
    says="The step size of the theorem, constants taken as 1, is at most 1 where its T is at least 1.",
    assumes=[n * eps >= sqrt(spread * a)],
    states=Le(step_fw, 1),
    ignores_units=True,
    checks=[AtMost(printed_step, "γ = (…)^(1/4)/(‖C‖₂√(nε)): a set of diameter below 1 sends the iterates out of C")],
)

fits_corrected, fits_corrected_dwang = both(
    *THEOREM4, ".step.corrected", places=("Theorem 4, the step size", "Theorem 4.1.4, the step size"),
    kind=Kind.UTILITY,
    says="It takes nε ≥ √((‖C‖₂²+G_C²)·ln(1/δ))/‖C‖₂².",
    assumes=[n * eps >= sqrt(spread * a) / diameter**2],
    states=Le(step_fw, 1),
    ignores_units=True,
    checks=[
        Proof(
            [
                Same("γ squared", printed_step**2, sqrt(spread * a) / (diameter**2 * n * eps)),
                Less("at most 1, the root of the spread being k", big / (diameter**2 * n * eps), Integer(1),
                     {eps: big / (diameter**2 * n) * (1 + extra)}),
            ]
        )
    ],
)

# The gap as a measure ------------------------------------------------------------------------------
STATIONARY = ("section.frank_wolfe", "section4.1.2")
ON_THE_GAP = ("High Dimension Case, on the Frank-Wolfe gap", "section 4.1.2, on the Frank-Wolfe gap")
g_, x_, top_ = symbols("g_ x_ top_", real=True)

stationary, stationary_dwang = both(
    *STATIONARY, ".stationary", places=ON_THE_GAP,
    kind=Kind.IDENTITY,
    says="Where the gap is 0 and a ball of radius r > 0 around x lies in C, the gradient is 0: r‖∇F(x)‖ is below it.",
    states=Le(inside * slope_at, gap_at),
    checks=[
        Adds(
            inside * g_, {gap_at: top_},
            {"x less r·∇F/‖∇F‖ lies in C, where ⟨∇F, x-v⟩ is at most the gap": top_ - g_ * (x_ - (x_ - inside))},
        )
    ],
)

stationary_back, stationary_back_dwang = both(
    *STATIONARY, ".stationary.converse", places=ON_THE_GAP,
    kind=Kind.IDENTITY,
    says="Where the gradient is 0, so is the gap: it is at most ‖C‖₂‖∇F(x)‖.",
    states=Le(gap_at, diameter * slope_at),
    checks=[
        AtMost(diameter * slope_at, "⟨∇F, x-v⟩ ≤ ‖∇F‖‖x-v‖, attained by a linear F at one end of an interval")
    ],
)

# The proof (dwang20, section 4.1.6) ------------------------------------------------------------------
f_0, f_1, p, e, v, w, x, s = symbols("f_0 f_1 p e v w x s", real=True)

equation9 = Claim(
    id="dwang20.equation4.9",
    source=Source("dwang20", "equation (4.9)"),
    kind=Kind.UTILITY,
    says="One step, with L̃ = L‖C‖₂² in the norm of the set.",
    assumes=symmetric,
    states=Le(F_t1, F_t + step_fw * toward + L_s * diameter**2 * step_fw**2 / 2 * span**2),
    checks=[
        Adds(
            f_1,
            {F_t: f_0, toward: p * (v - x), span: s},
            {
                "F is L-smooth": f_0 + step_fw * p * (v - x) + L_s / 2 * step_fw**2 * (v - x) ** 2 - f_1,
                "Lemma 4.1.4": L_s / 2 * step_fw**2 * (diameter**2 * s**2 - (v - x) ** 2),
            },
        )
    ],
    cites=[Cites("dwang20.lemma4.1.4")],
)

equation10 = Claim(
    id="dwang20.equation4.10",
    source=Source("dwang20", "equation (4.10)"),
    kind=Kind.UTILITY,
    says="What the noisy vertex v loses against the exact one, v̂.",
    assumes=symmetric,
    states=Le(pulled_away, by_noise),
    checks=[Adds((v - w) * p, {by_noise: (v - w) * (-e)}, {"v is best for -∇F-ε": (v - w) * (-p - e)})],
)

with_young = (
    gap0 / (step_fw * T) + 4 * L_s * diameter**2 * step_fw + sigma_n**2 * spread / (2 * L_s * diameter**2 * step_fw)
)

proof = Claim(
    id="dwang20.theorem4.1.4.proof",
    source=Source("dwang20", "proof of Theorem 4.1.4, before the last step, with D = 2 and Lemma 4.1.1"),
    kind=Kind.UTILITY,
    says="The gap at x_R by Young's inequality: the direct bound is never above it.",
    assumes=[*symmetric, step_fw <= 1],
    states=Le(frank_wolfe_gap, with_young),
    checks=[
        Proof(
            [
                Same(
                    "the difference from the direct bound: a square, and what is left",
                    with_young - direct,
                    (2 * L_s * diameter**2 * step_fw - sigma_n * width) ** 2 / (2 * L_s * diameter**2 * step_fw)
                    + Rational(3, 2) * L_s * diameter**2 * step_fw + sigma_n**2 / (2 * L_s * step_fw),
                ),
            ]
        )
    ],
    cites=[Cites("dwang20.equation4.9"), Cites("dwang20.equation4.10"), Cites("dwang20.lemma4.1.1")],
)

third_term = Claim(
    id="dwang20.theorem4.1.4.third_term",
    source=Source("dwang20", "proof of Theorem 4.1.4, last inequality"),
    kind=Kind.UTILITY,
    says="The third term as the last inequality has it: L̃ is gone from its denominator, and with it ‖C‖₂².",
    assumes=symmetric,
    states=Rate(third, spread * G**2 * T * a / (step_fw * n**2 * eps**2)),
    checks=[Units()],
)

third_term_corrected = Claim(
    id="dwang20.theorem4.1.4.third_term.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.4, last inequality"),
    kind=Kind.UTILITY,
    says="With L̃ = L‖C‖₂².",
    assumes=symmetric,
    states=Rate(third, spread * G**2 * T * a / (L_s * diameter**2 * step_fw * n**2 * eps**2)),
    corrects="dwang20.theorem4.1.4.third_term",
    checks=[
        Follows(
            stated_noise.subs(c, 8) ** 2 * spread / (2 * L_s * diameter**2 * step_fw), Integer(4),
            "Lemma 4.1.1 with constant 1, c = 8",
        )
    ],
)
