"""The stochastic intermediate gradient method (dwang20, section 5.1.8, Algorithm 5.1.38, Lemmas 5.1.5 and 5.1.16).

Not private by itself: it runs on the noisy gradients of other protocols. γ here is the error of the oracle and its
deviation is σ.
"""

from sympy import Ge, Rational, Symbol, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source, convex
from dpcheck.bounds.language.symbols import R, T, beta, excess_risk, quantity, sigma_g
from dpcheck.bounds.proving.proofs import NoConstant, Quoted

inexact = quantity("oracle_gap", "error of an inexact oracle", loss=1, printed="γ", latex=r"\gamma")
power = quantity("sigm_p", "how far the method is towards the fast one", box=(1, 2), printed="p", latex="p")
big = Symbol("big", positive=True)
oracle = [convex(), Setting("the objective has a (γ, β, σ) stochastic oracle; ‖w*‖ ≤ R = ‖C‖₂")]

lemma16 = Claim(
    id="dwang20.lemma5.1.16", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.16", line=5601),
    says="Expected gap after T steps, for any p from 1 to 2.",
    assumes=oracle,
    states=Rate(excess_risk, beta * R**2 / T**power + sigma_g * R / sqrt(T) + T ** (power - 1) * inexact),
    ignores_units=True,
    checks=[Quoted("from Dvurechensky and Gasnikov, Theorem 3.4")],
)

lemma5 = Claim(
    id="dwang20.lemma5.1.5", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.5", line=4804),
    says="Expected gap after T steps, said to be Lemma 5.1.16 at p = 1.",
    assumes=[*oracle, Ge(beta, 1)],
    states=Rate(excess_risk, beta * sigma_g * R**2 / sqrt(T) + inexact),
    ignores_units=True,
    checks=[
        NoConstant(
            Rational(1, 64),
            {beta: Rational(1), R: Rational(1), T: Rational(1), sigma_g: 1 / big, inexact: 1 / big}, big,
            "one step on (w-1)²/4 over [-1, 1], β = 1: y₁ tends to 5/8, and the gap to 9/256, with an exact oracle",
        )
    ],
    cites=[Cites("dwang20.lemma5.1.16", {power: Rational(1)})],
)

lemma5_corrected = Claim(
    id="dwang20.lemma5.1.5.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.5", line=4804),
    says="Lemma 5.1.16 at p = 1 has a term without σ.",
    assumes=[*oracle, Ge(beta, 1)],
    states=Rate(excess_risk, beta * R**2 / T + sigma_g * R / sqrt(T) + inexact),
    corrects="dwang20.lemma5.1.5",
    ignores_units=True,
    checks=[
        Quoted("from Dvurechensky and Gasnikov, Theorem 3.4, at p = 1"),
    ],
    cites=[Cites("dwang20.lemma5.1.16", {power: Rational(1)})],
)
