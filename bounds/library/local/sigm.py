"""The stochastic intermediate gradient method (dwang20, section 5.1.8, Algorithm 5.1.38, Lemma 5.1.5).

Not private by itself: it runs on the noisy gradients of other protocols, with p = 1. γ here is the error of the oracle
and its deviation is σ. The method: dpcheck/families/intermediate_gradient.py.
"""

from sympy import Ge, Integer, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source, convex
from dpcheck.bounds.language.symbols import R, T, beta, excess_risk, quantity, sigma_g
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import NoConstant

inexact = quantity("oracle_gap", "error of an inexact oracle", loss=1, printed="γ", latex=r"\gamma")
big = Symbol("big", positive=True)
oracle = [convex(), Setting("the objective has a (γ, β, σ) stochastic oracle; ‖w*‖ ≤ R = ‖C‖₂"), Ge(beta, 1)]

lemma5 = Claim(
    id="dwang20.lemma5.1.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.5", line=4804),
    says="Expected gap after T steps, said to be Lemma 5.1.16 at p = 1.",
    assumes=oracle,
    states=Rate(excess_risk, beta * sigma_g * R**2 / sqrt(T) + inexact),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 64),
            {beta: Integer(1), R: Integer(1), T: Integer(1), sigma_g: 1 / big, inexact: 1 / big}, big,
            "one step on (w-1)²/4 over [-1, 1], β = 1: y₁ tends to 5/8, and the gap to 9/256, with an exact oracle",
        )
    ],
)

b = 2 ** Rational(3, 4)  # as printed, at p = 1

lemma5_corrected = Claim(
    id="dwang20.lemma5.1.5.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.5", line=4804),
    says="There is a term without σ, as in Lemma 5.1.16 at p = 1, and no product of β and σ.",
    assumes=oracle,
    states=Rate(excess_risk, beta * R**2 / T + sigma_g * R / sqrt(T) + inexact),
    corrects="dwang20.lemma5.1.5",
    ignores_units=True,
    checks=[
        Chain(
            excess_risk,
            Step(
                "<=",
                (beta * R**2 / 2 + sigma_g * R * (b * sqrt(T + 2) / 2 + sqrt(T + 1) / b)) / (T + 1) + inexact,
                because=Premise(
                    "Σ(⟨Gᵢ, x̂ᵢ-u⟩ + βᵢ₋₁/2·‖x̂ᵢ-xᵢ‖²) ≤ β_T R²/2 along the minima of (5.14), as βᵢ grows; noise"
                    " costs σ²/(2(βᵢ₋₁-β)) of it in step i, where βᵢ₋₁-β ≥ bσ√(i+1)/R"
                ),
            ),
            Step(
                "<=",
                beta * R**2 / (2 * (T + 1)) + (b / 2 + 1 / b) * sigma_g * R / sqrt(T) + inexact,
                because=Premise("(T+2)/(T+1)² ≤ 1/T"),
            ),
            Step("<=", 2 * STATEMENT),
        )
    ],
)
