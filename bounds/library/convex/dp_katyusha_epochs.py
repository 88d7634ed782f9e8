"""DP-Katyusha: the epochs of the proof of Theorem 3.1.3 of dwang20, (3.38) to (3.46).

Its steps stand in dp_katyusha_proof.py.
"""

from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.symbols import T, d, delta, eps, eta, excess_risk, mu, n, quantity
from dpcheck.bounds.library.convex.dp_katyusha_proof import (
    case1,
    case2,
    extra,
    fits,
    growth,
    start,
    theta,
    unit_noise,
    weights,
)
from dpcheck.bounds.library.convex.dp_svrg_proof import gap_next
from dpcheck.bounds.library.convex.variance_reduction import (
    G,
    L_s,
    apart,
    gap0,
    gap_snap,
    inner,
    kappa,
    losses,
    sigma_n,
    strong,
)
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same

epoch_gaps = quantity(
    "epoch_gaps", "sum of w^t (F(y_(t+1)) - F(x*)) over an epoch", loss=1, printed="Σw^t·g(y)", latex=r"\sum w^tg(y_t)"
)
D_t, D_next, D_0, w, k = symbols("D_t D_next D_0 w k", nonnegative=True)

epoch_right = (
    (1 - theta) / theta * weights * gap_snap
    + start**2 / (2 * eta)
    + weights * (1 - theta) / (2 * L_s * theta) * d * sigma_n**2
)

equation38 = Claim(
    id="dwang20.equation3.38",
    source=Source("dwang20", "equation (3.38)"),
    kind=Kind.UTILITY,
    says="(3.37) with weights w^t, added up over an epoch; W = 1 + w + ... + w^(m-1) and e = ‖x_m-x°‖.",
    assumes=[*losses, Setting("r μ-strongly convex"), *fits],
    states=Le(epoch_gaps / theta + growth**inner / (2 * eta) * apart**2, epoch_right),
    cites=[Cites("dwang20.equation3.37")],
    checks=[
        Proof(
            [
                Same(
                    "w^t times the distances of (3.37), b² - w·e² with w = 1 + ημ, carry w^t·b² to w^(t+1)·e²",
                    D_0 - w**k * D_t + w**k * (D_t - w * D_next), D_0 - w ** (k + 1) * D_next,
                ),
                Same(
                    "and a term of (3.37) that is the same in each step adds up to W times: W + w^m is the next W",
                    (growth**inner - 1) / (growth - 1) + growth**inner, (growth ** (inner + 1) - 1) / (growth - 1),
                ),
                Same("W is 1 after one step", ((growth**inner - 1) / (growth - 1)).subs(inner, 1), Integer(1)),
            ],
            "by induction on the steps of the epoch",
        )
    ],
)

equation39 = Claim(
    id="dwang20.equation3.39",
    source=Source("dwang20", "equation (3.39)"),
    kind=Kind.UTILITY,
    says="One epoch, with W = 1 + w + ... + w^(m-1): g⁺ at the new snapshot, e = ‖x_m-x°‖.",
    assumes=[*losses, Setting("r μ-strongly convex"), *fits],
    states=Le(weights / theta * gap_next + growth**inner / (2 * eta) * apart**2, epoch_right),
    cites=[Cites("dwang20.equation3.38"), Cites("dwang20.remark3.1.2")],
    checks=[
        Proof(
            [
                Same(
                    "Jensen: the last step has the share w/W' of the mean, W' = W + w, w for w^m; shares add up to 1",
                    weights / (weights + w) + w / (weights + w),
                    Integer(1),
                ),
                Same(
                    "and W' times them are W and w, so that the sum of (3.38) grows by its next term",
                    (weights + w) * (weights / (weights + w) * D_t) + (weights + w) * (w / (weights + w) * D_next),
                    weights * D_t + w * D_next,
                ),
            ],
            "(3.38) with Jensen's inequality, W·g(x̃_s) ≤ Σw^t·g(y), and Remark 3.1.2",
        )
    ],
)

# F = 0, r = μ/2·x², from x₀ = x̃ = 1: x_t = w^-t, exactly.
w_ = 1 + case1[theta] / inner
W_ = (w_**inner - 1) / (w_ - 1)
snap_ = 1 - case1[theta] + case1[theta] * inner / (w_ * W_)
old_, new_ = ((1 - case1[theta]) / case1[theta] * W_ * mu / 2 * gap_ for gap_ in (1, snap_**2))

equation40 = Claim(
    id="dwang20.equation3.40",
    source=Source("dwang20", "equation (3.40)"),
    kind=Kind.UTILITY,
    says="Case 1, (3.39) times w^-m, printed with w^m/(2η) on the left.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(
        (1 - theta) / theta * weights * gap_next + growth**inner / (2 * eta) * apart**2,
        growth ** (-inner) * epoch_right,
    ),
    checks=[
        AtMost(
            new_ + w_ ** (-inner) / (2 * case1[eta]), "F = 0, r = μ/2·x², no noise: x_t = w^-t", exact=True,
            against=w_ ** (-inner) * (old_ + 1 / (2 * case1[eta])), box={inner: (2, 50), L_s: (1, 100), mu: (0.1, 1)},
        )
    ],
)

zeta = Symbol("zeta", nonnegative=True)
decreasing = {zeta: sqrt(3) * extra / (1 + extra)}  # ζ < √3

equation40_corrected = Claim(
    id="dwang20.equation3.40.corrected",
    source=Source("dwang20", "equation (3.40)"),
    kind=Kind.UTILITY,
    says="With 1/(2η).",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le((1 - theta) / theta * weights * gap_next + apart**2 / (2 * eta), growth ** (-inner) * epoch_right),
    corrects="dwang20.equation3.40",
    checks=[
        Proof(
            [
                Less(
                    "log φ(ζ) = log(1-ζ/√3) + m·log(1+ζ/(√3m)) falls: its slope is 1/(√3+ζ/m) - 1/(√3-ζ)",
                    1 / (sqrt(3) + zeta / inner), 1 / (sqrt(3) - zeta), decreasing,
                ),
                Same("from φ(0) = 1", (1 - zeta / sqrt(3)).subs(zeta, 0), Integer(1)),
            ],
            "(1-θ)w^m = φ(√(mμ/L)) ≤ 1, so 1/θ ≥ (1-θ)/θ·w^m",
        )
    ],
)

potential = theta / (2 * eta * (1 - theta) * weights)

equation41 = Claim(
    id="dwang20.equation3.41",
    source=Source("dwang20", "equation (3.41)"),
    kind=Kind.UTILITY,
    says="Case 1: the potential shrinks by w^m in an epoch.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(
        gap_next + potential * apart**2,
        growth ** (-inner) * (gap_snap + potential * start**2 + d * sigma_n**2 / (2 * L_s)),
    ),
    cites=[Cites("dwang20.equation3.40.corrected")],
    checks=[
        Proof(
            [
                Same(
                    "the left side of (3.40) corrected, divided",
                    ((1 - theta) / theta * weights * gap_next + apart**2 / (2 * eta)) / ((1 - theta) / theta * weights),
                    gap_next + potential * apart**2,
                ),
                Same(
                    "and the right side",
                    epoch_right / ((1 - theta) / theta * weights),
                    gap_snap + potential * start**2 + d * sigma_n**2 / (2 * L_s),
                ),
            ]
        )
    ],
)

equation42 = Claim(
    id="dwang20.equation3.42",
    source=Source("dwang20", "equation (3.42)"),
    kind=Kind.UTILITY,
    says="All epochs of case 1: T times the noise of one.",
    assumes=[*losses, Setting("r μ-strongly convex"), inner <= 3 * kappa / 4],
    states=Le(excess_risk, growth ** (-T * inner) * gap0 + potential * start**2 + T / (2 * L_s) * d * sigma_n**2),
    cites=[Cites("dwang20.equation3.41")],
    checks=[
        Proof(
            [
                Less("every w^-ms = 1/ζ is at most 1, so T of them at most T", 1 / zeta, Integer(1), {zeta: 1 + extra}),
            ],
            "(3.41) T times; the second term is printed outside the bracket, where it is larger",
        ),
    ],
)

equation43 = Claim(
    id="dwang20.equation3.43",
    source=Source("dwang20", "equation (3.43), second term"),
    kind=Kind.IDENTITY,
    says="The noise of (3.42) with σ² of (3.3), c = 1.",
    states=Eq(excess_risk, T**2 * inner * d * G**2 * log(1 / delta) / (2 * L_s * n**2 * eps**2)),
    checks=[Equals(T / (2 * L_s) * d * unit_noise, "σ² = G²Tm·log(1/δ)/(n²ε²)")],
)

equation44 = Claim(
    id="dwang20.equation3.44",
    source=Source("dwang20", "equation (3.44)"),
    kind=Kind.UTILITY,
    says="Case 2, m = 3/4·L/μ: one epoch.",
    assumes=[*losses, Setting("r μ-strongly convex"), Eq(inner, 3 * kappa / 4)],
    states=Le(
        weights * gap_next + 3 * L_s / 4 * apart**2,
        Rational(2, 3) * (weights * gap_snap + 3 * L_s / 4 * start**2 + weights * d * sigma_n**2 / (2 * L_s)),
    ),
    cites=[Cites("dwang20.equation3.39")],
    checks=[
        Proof(
            [
                Same(
                    "(3.39) at θ = 1/2, η = 2/(3L)", epoch_right.subs(case2),
                    weights * gap_snap + 3 * L_s / 4 * start**2 + weights * d * sigma_n**2 / (2 * L_s),
                ),
                Same("Bernoulli: w^m ≥ 1 + m·2μ/(3L) = 3/2", 1 + 3 * kappa / 4 * 2 * mu / (3 * L_s), Rational(3, 2)),
                Less("w^m ≤ e^(2mμ/(3L)) = √e ≤ 2 = 1/θ", exp(Rational(1, 2)), Integer(2)),
            ],
            "divided by w^m, which lies between 3/2 and 2",
        )
    ],
)

equation45 = Claim(
    id="dwang20.equation3.45",
    source=Source("dwang20", "equation (3.45), and divided by W as for (3.46)"),
    kind=Kind.UTILITY,
    says="Case 2: the noise of (3.44) is of order W·dσ²/L; here with its constant.",
    assumes=[*losses, Setting("r μ-strongly convex"), Eq(inner, 3 * kappa / 4)],
    states=Le(
        weights * gap_next + 3 * L_s / 4 * apart**2,
        Rational(2, 3) * (weights * gap_snap + 3 * L_s / 4 * start**2) + weights * d * sigma_n**2 / (3 * L_s),
    ),
    cites=[Cites("dwang20.equation3.44")],
    checks=[Implied(equation44, "two thirds of dσ²/(2L)")],
)

equation46 = Claim(
    id="dwang20.equation3.46",
    source=Source("dwang20", "equation (3.46)"),
    kind=Kind.UTILITY,
    says="All epochs of case 2.",
    assumes=[*strong, Setting("m ≤ 2L/μ")],
    states=Rate(excess_risk, Rational(2, 3) ** T * gap0 + d * T * G**2 * log(1 / delta) / (n**2 * eps**2 * mu)),
    cites=[Cites("dwang20.equation3.45")],
    checks=[
        Proof(
            [
                Same(
                    "Φ₀ = g₀ + 3L/(4m)·‖x₀-x°‖² ≤ g₀ + μ·2g₀/μ with m = 3/4·L/μ",
                    gap0 + 3 * L_s / (4 * (3 * kappa / 4)) * (2 / mu * gap0), 3 * gap0,
                ),
                Same("the noise of all epochs: 2/3 + 4/9 + ... = 2", Rational(2, 3) / (1 - Rational(2, 3)), Integer(2)),
                Same(
                    "times dσ²/(2L), with σ² of (3.3), c = 1 and m = 2L/μ",
                    (d * unit_noise / L_s).subs(inner, 2 * kappa),
                    2 * d * T * G**2 * log(1 / delta) / (n**2 * eps**2 * mu),
                ),
            ],
            "hidden constant 3 suffices",
        )
    ],
)
