"""DP-FW-L1: the proof of Theorem 4.1.6 of dwang20, (4.12) and (4.13). The theorem stands in dp_fw_l1.py.

A is the finite set whose convex hull is C, size_1 = max ‖s‖₁ over A, M its number of points; η is the failure
probability γ of the table, and the step size, printed γ, is `pace`.
"""

from sympy import Eq, Integer, Le, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import LIKELY, T, delta, eps, gamma, n, quantity
from dpcheck.bounds.library.convex.gaussian_width import diameter
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, gap0
from dpcheck.bounds.proving.proofs import AtMost, Follows, Less, Minimises, NoConstant, Proof, Same, Units

size_1 = quantity("size_1", "largest l1 norm of a point of the set", parameter=1, printed="‖C‖₁", latex=r"\|C\|_1")
points = quantity("points", "number of points of A", box=(2, 1e6), integer=True, printed="|A|", latex="|A|")
pace = quantity("pace", "step size of Frank-Wolfe", box=(1e-4, 1.0), printed="γ_t", latex=r"\gamma_t")
eps0 = quantity("eps0", "epsilon of one selection", printed="ε₀", latex=r"\varepsilon_0")
score_gap = quantity("score_gap", "sensitivity of the score -<s, grad F>", loss=1, printed="Δu", latex=r"\Delta u")
miss = quantity("miss", "what a selection falls short of the best score", loss=1, printed="β", latex=r"\beta")
gap_t = quantity("gap_t", "γ times the Frank-Wolfe gap at x_t", loss=1, printed="γ𝒢_t", latex=r"\gamma\mathcal{G}_t")
gap_sum = quantity(
    "gap_sum", "sum of γ times the Frank-Wolfe gaps", loss=1, printed="Σγ𝒢_t", latex=r"\sum\gamma\mathcal{G}_t"
)
fallen = quantity("fallen", "F(x_t) - F(x_(t+1))", loss=1, printed="F(x_t)-F(x_{t+1})", latex="F(x_t)-F(x_{t+1})")
likely_gap = quantity(
    "likely_gap", "mean over R of the Frank-Wolfe gap at x_R", loss=1, printed="E_R FW-gap(x_R)",
    latex=r"\mathbb{E}_R\,\mathcal{G}_R", holds=LIKELY,
)
proof_bound = quantity("proof_bound", "the bound that the proof ends with", loss=1, printed="bound", latex="B")

diameter_1 = quantity("diameter_1", "l1 diameter of the set", parameter=1, printed="‖C‖₁", latex=r"\|C\|_1")

polytope = [smooth(L_s), lipschitz(G, "in l1"), Setting("C = conv(A), A finite")]
big = Symbol("big", positive=True)
a = log(1 / delta)
stated_eps0 = eps / sqrt(8 * T * a)
tail = log(points * T / gamma)

sensitivity = Claim(
    id="dwang20.theorem4.1.6.sensitivity",
    source=Source("dwang20", "proof of Theorem 4.1.6, Δu"),
    kind=Kind.SENSITIVITY,
    says="How far a replaced record moves a score, as printed: with ε below.",
    assumes=polytope,
    states=Rate(score_gap, size_1 * G / (n * eps)),
    checks=[
        NoConstant(
            2 * G * size_1 / n, {G: Integer(1), size_1: Integer(1), n: Integer(10), eps: big}, big,
            "a linear loss that turns round moves the score of the longest s by 2G‖s‖₁/n, whatever ε is",
        )
    ],
)

sensitivity_corrected = Claim(
    id="dwang20.theorem4.1.6.sensitivity.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.6, Δu"),
    kind=Kind.SENSITIVITY,
    says="How far a replaced record moves a score: ‖s‖₁ times 2G/n, the change of the gradient in l∞.",
    assumes=polytope,
    states=Le(score_gap, 2 * G * size_1 / n),
    corrects="dwang20.theorem4.1.6.sensitivity",
    checks=[
        Proof(
            [
                Same(
                    "Hölder: ‖s‖₁·‖∇F-∇F'‖∞, two gradients of at most G over n",
                    size_1 * (G + G) / n,
                    2 * G * size_1 / n,
                )
            ],
            "attained by linear losses",
        )
    ],
)

explicit_miss = 2 * (2 * G * size_1 / n) / stated_eps0 * tail  # (2Δu/ε₀)(ln|A| + t) with t = ln(T/η)

equation12 = Claim(
    id="dwang20.equation4.12",
    source=Source("dwang20", "equation (4.12), β"),
    kind=Kind.UTILITY,
    says="What a selection falls short by, with probability 1-η/T.",
    assumes=polytope,
    states=Rate(miss, G * size_1 * sqrt(8 * T * a) * tail / (n * eps)),
    cites=[Cites("wangxu19.lemma3")],
    checks=[Follows(explicit_miss, Integer(4), "Lemma 3 with Δu = 2G‖C‖₁/n, ε₀ = ε/√(8T·ln(1/δ)) and t = ln(T/η)")],
)

# In coordinates: x, s the selected point, v the best one; F at both iterates, p the gradient at x.
x, s, v, F_0, F_1, p, step, L_t, short = symbols("x s v F_0 F_1 p step L_t short", real=True)

equation13 = Claim(
    id="dwang20.equation4.13",
    source=Source("dwang20", "equation (4.13)"),
    kind=Kind.UTILITY,
    says="One step whose selection falls short by at most β.",
    assumes=polytope,
    states=Le(gap_t, fallen + pace * miss + L_s * pace**2 * diameter**2 / 2),
    checks=[
        Proof(
            [
                Same(
                    "F(x_t)-F(x_(t+1)) + γβ + L/2·γ²‖s-x‖² - γ⟨∇F, x-v⟩ is what smoothness leaves, and γ times what "
                    "the selection leaves",
                    (F_0 - F_1) + step * short + L_t / 2 * step**2 * (s - x) ** 2 - step * p * (x - v),
                    (F_0 + p * step * (s - x) + L_t / 2 * (step * (s - x)) ** 2 - F_1) + step * (p * v + short - p * s),
                )
            ],
            "both are at least 0, and ‖s-x‖₂ ≤ ‖C‖₂",
        )
    ],
)

summed = Claim(
    id="dwang20.theorem4.1.6.sum",
    source=Source("dwang20", "proof of Theorem 4.1.6, (4.13) summed"),
    kind=Kind.UTILITY,
    says="All steps with one step size, as printed: without L/2.",
    assumes=polytope,
    states=Le(gap_sum, gap0 + T * pace * miss + T * pace**2 * diameter**2),
    ignores_units=True,
    checks=[
        AtMost(
            pace * L_s * diameter**2 / 2,
            "F = L/2·x² on [-s/2, s/2] from x₁ = s/2, T = 1: the gap is Ls²/2 and g₀ = Ls²/8; L times larger breaks it",
            box={miss: (1e-6, 1e-3), L_s: (10, 100), diameter: (1, 10), pace: (0.5, 1)},
            against=(gap0 + pace * miss + pace**2 * diameter**2).subs(gap0, L_s * diameter**2 / 8),
        )
    ],
)

explicit = Claim(
    id="dwang20.theorem4.1.6.explicit",
    source=Source("dwang20", "proof of Theorem 4.1.6, with its constants"),
    kind=Kind.UTILITY,
    says="The gap at x_R in the mean over R, with probability 1-η, any step size γ ≤ 1: ε₀ is that of each selection.",
    assumes=polytope,
    states=Le(
        likely_gap, gap0 / (pace * T) + pace * L_s * diameter**2 / 2 + 4 * G * size_1 * tail / (n * eps0)
    ),
    corrects="dwang20.theorem4.1.6.sum",
    cites=[Cites("dwang20.equation4.13"), Cites("wangxu19.lemma3")],
    checks=[
        Proof(
            [
                Same(
                    "(4.13) summed over T steps, over γT",
                    (gap0 + T * (pace * miss + L_s * pace**2 * diameter**2 / 2)) / (pace * T),
                    gap0 / (pace * T) + pace * L_s * diameter**2 / 2 + miss,
                ),
                Same("β with ε₀", 2 * (2 * G * size_1 / n) / eps0 * tail, 4 * G * size_1 * tail / (n * eps0)),
                Same("T selections, each failing with probability at most η/T", T * gamma / T, gamma),
            ]
        )
    ],
)

step_size = Claim(
    id="dwang20.theorem4.1.6.step_size",
    source=Source("dwang20", "proof of Theorem 4.1.6, γ"),
    kind=Kind.IDENTITY,
    says="The step size that the proof takes.",
    assumes=polytope,
    states=Eq(pace, sqrt(2 / (T * diameter**2 * L_s))),
    checks=[Units()],
)

best_pace = sqrt(2 * gap0 / (T * L_s)) / diameter

step_size_corrected = Claim(
    id="dwang20.theorem4.1.6.step_size.corrected",
    source=Source("dwang20", "proof of Theorem 4.1.6, γ"),
    kind=Kind.IDENTITY,
    says="With g₀ = F(x₁)-F(x°): the minimiser of the bound; it must be at most 1, that is T ≥ 2g₀/(L‖C‖₂²).",
    assumes=polytope,
    states=Eq(pace, best_pace),
    corrects="dwang20.theorem4.1.6.step_size",
    checks=[Minimises(explicit.formula, pace, None, "the explicit bound")],
)

entry, other = (Symbol(name, nonnegative=True) for name in ("entry", "other"))

norms = Claim(
    id="dwang20.theorem4.1.6.norms",
    source=Source("dwang20", "proof of Theorem 4.1.6, last line, with diameters"),
    kind=Kind.IDENTITY,
    says="The l2 diameter is at most the l1 diameter; it may be twice the largest l1 norm.",
    states=Le(diameter, diameter_1),
    checks=[
        Proof(
            [
                Less("‖v‖₂² ≤ ‖v‖₁² for two entries, and so entry by entry", entry**2 + other**2, (entry + other) ** 2),
            ],
            "attained by an interval, whose largest norm is half of either",
        )
    ],
)

# T = n/√ln(|A|n): its last term carries ln^(3/4), not ln^(1/2).
proof_T = Claim(
    id="dwang20.theorem4.1.6.proof_steps",
    source=Source("dwang20", "proof of Theorem 4.1.6, T, with ln(|A|n) under the root"),
    kind=Kind.UTILITY,
    says="The proof's bound at its T is of the order of (4.8), with all but n and |A| set to 1.",
    assumes=[*polytope, Setting("G, L, g₀, ‖C‖₁, ‖C‖₂, ε and ln(1/δ) are 1")],
    states=Rate(proof_bound, sqrt(log(points * n)) / sqrt(n)),
    ignores_units=True,
    checks=[
        NoConstant(
            sqrt(n / sqrt(log(points * n))) * log(points * sqrt(n)) / n, {n: exp(big), points: Integer(2)}, big,
            "G‖C‖₁√(T·ln(1/δ))·ln(|A|T/η)/(nε) at T = n/√ln(|A|n), which is at least √n", at=100,
        )
    ],
)
