"""Composition, post-processing and local views (zhang17, Lemma 10; dwang20, Lemmas 2.1.1, 2.1.4 to 2.1.6, section 2.2).

Checks by code: dpcheck/evidence/mechanisms/composition.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sympy import Eq, Expr, Integer, Le, Rational, Symbol, diff, exp, integrate, log, sqrt, symbols, tanh

from dpcheck.bounds.language.claim import Cites, Claim, Effort, Evidence, Kind, Source, Verdict, lambdified
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, delta1, eps, eps_out, n, quantity
from dpcheck.bounds.privacy import exact as accounting
from dpcheck.bounds.privacy.box_accounts import LOOSE_FROM
from dpcheck.bounds.privacy.numeric_checks import CompositionAccountant
from dpcheck.bounds.proving.derivations import Recurrence
from dpcheck.bounds.proving.proofs import Less, Proof, Same
from dpcheck.bounds.proving.steps import Step

eps_step = quantity("eps_step", "epsilon of each of T mechanisms", printed="ε'", latex=r"\varepsilon'")
eps_a = quantity("eps_a", "epsilon of the first mechanism", printed="ε₁", latex=r"\varepsilon_1")
eps_b = quantity("eps_b", "epsilon of the second mechanism", printed="ε₂", latex=r"\varepsilon_2")
delta_a = quantity(
    "delta_a", "delta of the first mechanism", box=(1e-10, 0.5), below=1.0, printed="δ₁", latex=r"\delta_1"
)
delta_b = quantity(
    "delta_b", "delta of the second mechanism", box=(1e-10, 0.5), below=1.0, printed="δ₂", latex=r"\delta_2"
)

_v, _s = Symbol("v", nonnegative=True), Symbol("s", nonnegative=True)

lemma10 = Claim(
    id="zhang17.lemma10",
    source=Source("zhang17", "Lemma 10"),
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, as printed: ε stands under the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1) * eps) + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    checks=[
        CompositionAccountant("against the optimal composition of T randomised responses"),
        Proof(
            [
                Less("for ε ≤ 1 the root only grows: ε² ≤ ε", eps**2, eps, {eps: 1 / (1 + _v)}),
                Same(
                    "e^ε ≥ 1 + ε, by Taylor's remainder", exp(_v) - 1 - _v, integrate((_v - _s) * exp(_s), (_s, 0, _v))
                ),
                Less("so for ε ≥ 1 the second term alone exceeds basic composition Tε", Integer(1), eps, {eps: 1 + _v}),
            ],
            "the misprint is harmless: implied by Lemma 10 as meant (ε ≤ 1) or by basic composition (ε ≥ 1)",
        ),
    ],
)

lemma10_corrected = Claim(
    id="zhang17.lemma10.corrected",
    source=Source("zhang17", "Lemma 10"),
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, with ε outside the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1)) * eps + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    corrects="zhang17.lemma10",
    checks=[CompositionAccountant("against the optimal composition of T randomised responses")],
)

# dwang20, chapter 2 --------------------------------------------------------------------------------
_k, _l, _w, _more, _less, _g, _h = symbols("k l w more less g h", nonnegative=True)

lemma1 = Claim(
    id="dwang20.lemma2.1.1",
    source=Source("dwang20", "Lemma 2.1.1"),
    kind=Kind.PRIVACY,
    says="Whatever is computed from the output of an (ε, δ)-private mechanism is (ε, δ)-private.",
    states=Le(eps_out, eps),
    guarantee=ApproxDP(eps_out, delta),
    checks=[
        Proof(
            [
                # Of an answer that outputs 1 and 2 give with probabilities k and l; P - e^ε·Q is g - more at the
                # first output and h - less at the second.
                Less(
                    "P - e^ε·Q at an answer is at most what its positive parts send there",
                    _k * (_g - _more) + _l * (_h - _less),
                    _k * _g + _l * _h,
                ),
                Less("which is not negative", Integer(0), _k * _g + _l * _h),
                Same(
                    "and all answers together get the positive parts once",
                    _k * _g + (1 - _k) * _g + _l * _h + (1 - _l) * _h,
                    _g + _h,
                ),
            ],
            "a kernel does not raise the sum of (P - e^ε·Q)⁺",
        )
    ],
)

lemma4 = Claim(
    id="dwang20.lemma2.1.4",
    source=Source("dwang20", "Lemma 2.1.4"),
    kind=Kind.PRIVACY,
    says="Budgets add up: (ε₁+ε₂, δ₁+δ₂) for two mechanisms, the second chosen by the first, and so on for T.",
    states=Eq(eps_out, eps_a + eps_b),
    guarantee=ApproxDP(eps_out, delta_a + delta_b),
    checks=[
        Proof(
            [
                # w = min(1, e^ε₂·Q₂); P₂ ≤ w + δ₂ as P₂ is at most 1 too. P₁ = e^ε₁·Q₁ + g - h, and Σg ≤ δ₁.
                Less(
                    "P₁·w ≤ e^ε₁·Q₁·w + (P₁ - e^ε₁·Q₁)⁺ for w ≤ 1",
                    (exp(eps_a) * _k + _g - _h) * _w,
                    exp(eps_a) * _k * _w + _g,
                    {_w: 1 / (1 + _v)},
                ),
                Same("e^ε₁·Q₁·e^ε₂·Q₂", exp(eps_a) * _k * exp(eps_b) * _l, exp(eps_a + eps_b) * _k * _l),
            ],
            "ΣP₁P₂ ≤ ΣP₁·min(1, e^ε₂Q₂) + δ₂ ≤ e^(ε₁+ε₂)·ΣQ₁Q₂ + δ₁ + δ₂",
        )
    ],
)


ROUNDED = 1 + 1e-6  # of a total delta of 1e-9, which is computed as a difference from 1


@dataclass(frozen=True)
class StepAccountant:
    """The budget of each of T mechanisms against their optimal composition, which is exact and attained.

    `delta_step` is the delta of each, in T and delta; the claim's guarantee says what all of them promise.
    """

    delta_step: Expr
    because: str
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        counts = (1, 2, 5, 10, 50, 200, 1000) if effort.thorough else (1, 2, 10, 200)
        grid = np.geomspace(1e-2, 0.99, 12 if effort.thorough else 6)
        slacks = (0.3, 1e-2, 1e-5, 1e-9)
        tried = [{"eps": float(e), "T": float(k), "delta": s} for e in grid for k in counts for s in slacks]
        points = [p for p in tried if self.promised(claim, p) < 1]
        used = [self.spent(claim, p) / p["eps"] for p in points]
        worst = int(np.argmax(used))
        if used[worst] > 1 + 1e-9:
            return self.replay(claim, points[worst])
        verdict = Verdict.LOOSE if used[worst] < 1 / LOOSE_FROM else Verdict.CERTIFIED
        figure = f"optimal composition uses at most {used[worst]:.4f} of the stated epsilon"
        detail = f"{self.because}; {len(points)} points, eps 0.01 to 0.99, T up to {max(counts)}, delta 1e-9 to 0.3"
        return Evidence(self.kind, verdict, figure, detail, margin=1 / used[worst] - 1)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(point[k]) for k in ("eps", "T", "delta")}
        exact = self.spent(claim, here)
        verdict = Verdict.REFUTED if exact > here["eps"] * (1 + 1e-9) else Verdict.UNCHECKED
        figure = f"epsilon at delta {self.promised(claim, here):.3g} is {exact:.4g}, stated {here['eps']:.4g}"
        return Evidence(self.kind, verdict, figure, self.because, exact / here["eps"] - 1, counterexample=here)

    def spent(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The exact epsilon of T mechanisms with the stated budget, at the promised delta."""
        each = value_at(self.delta_step, point)
        composed = accounting.optimal_composition(float(claim.evaluate(**point)), each, int(point["T"]))
        return composed.epsilon(self.promised(claim, point) * ROUNDED)

    def promised(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The total delta."""
        assert claim.guarantee is not None
        return value_at(claim.guarantee.parameters["delta"], point)


def value_at(expr: Expr, point: Mapping[str, float]) -> float:
    """An expression in eps, delta and T as a number."""
    return float(lambdified(expr)(*(point[str(s)] for s in sorted(expr.free_symbols, key=str))))


lemma4_uniform = Claim(
    id="dwang20.lemma2.1.4.uniform",
    source=Source("dwang20", "after Lemma 2.1.4"),
    kind=Kind.PRIVACY,
    says="(ε/T, δ/T) for each of T mechanisms ensures (ε, δ).",
    assumes=[eps < 1],
    states=Eq(eps_step, eps / T),
    guarantee=ApproxDP(eps, delta),
    cites=[Cites("dwang20.lemma2.1.4")],
    checks=[
        Proof([Same("T·(ε/T)", T * (eps / T), eps), Same("T·(δ/T)", T * (delta / T), delta)], "they add up to ε and δ")
    ],
)

_log = Symbol("_log", nonnegative=True)  # ln(2/δ) less ln 2
advanced_budget = eps / (2 * sqrt(2 * T * log(2 / delta)))
_squared = eps**2 / (8 * T * (log(2) + _log))  # the square of the budget
_growth: list[Step] = [
    Same(
        "e^x - 1 ≤ x·e^x, as x·e^x - e^x + 1 = ∫s·e^s ds",
        _v * exp(_v) - exp(_v) + 1,
        integrate(_s * exp(_s), (_s, 0, _v)),
    ),
    Same("T·ε'² is ε²/(8 ln(2/δ))", T * _squared, eps**2 / (8 * (log(2) + _log))),
    Less(
        "e^ε'/(8 ln(2/δ)) ≤ 1/2: ε' is largest at ε = 1, T = 1 and δ = 1",
        exp(1 / (2 * sqrt(2 * log(2)))) / (8 * log(2)),
        Rational(1, 2),
    ),
]

_slack: list[Step] = [Less("√(2T ln(1/δ))·ε' ≤ ε/2, squared", 2 * T * _log * _squared, eps**2 / 4), *_growth]

lemma5 = Claim(
    id="dwang20.lemma2.1.5",
    source=Source("dwang20", "Lemma 2.1.5"),
    kind=Kind.PRIVACY,
    says="ε' = ε/(2√(2T ln(2/δ))) and δ' = δ/T for each of T mechanisms ensure (ε, Tδ' + δ), which is (ε, 2δ).",
    assumes=[eps < 1],
    states=Eq(eps_step, advanced_budget),
    guarantee=ApproxDP(eps, 2 * delta),
    checks=[
        StepAccountant(delta / T, "T mechanisms, each (ε', δ/T), at 2δ in all"),
        Proof(
            _slack,
            "strong composition with slack δ: ε/2 + T·ε'·(e^ε' - 1) ≤ ε/2 + ε²/2",
        ),
    ],
)

lemma5_total = Claim(
    id="dwang20.lemma2.1.5.total",
    source=Source("dwang20", "Lemma 2.1.5, as section 4.3 uses it"),
    kind=Kind.PRIVACY,
    says="The same ε' with δ' = δ/(2T) ensures (ε, δ).",
    assumes=[eps < 1],
    states=Eq(eps_step, advanced_budget),
    guarantee=ApproxDP(eps, delta),
    checks=[
        StepAccountant(delta / (2 * T), "T mechanisms, each (ε', δ/(2T)), at δ in all"),
        Proof(
            [
                Same("√(2T ln(2/δ))·ε' is ε/2, squared", 2 * T * (log(2) + _log) * _squared, eps**2 / 4),
                *_growth,
            ],
            "strong composition with slack δ/2: ε/2 + T·ε'·(e^ε' - 1) ≤ ε/2 + ε²/2",
        ),
    ],
)

_y = Symbol("y", nonnegative=True)
lemma5_sharper = Claim(
    id="dwang20.lemma2.1.5.sharper",
    source=Source("dwang20", "Lemma 2.1.5"),
    kind=Kind.PRIVACY,
    says="Twice the budget ensures the same: ε' = ε/√(2T ln(2/δ)) and δ' = δ/T give (ε, 2δ).",
    assumes=[eps < 1],
    states=Eq(eps_step, eps / sqrt(2 * T * log(2 / delta))),
    guarantee=ApproxDP(eps, 2 * delta),
    corrects="dwang20.lemma2.1.5",
    checks=[
        StepAccountant(delta / T, "T mechanisms, each (ε', δ/T), at 2δ in all"),
        Proof(
            [
                Same("tanh x ≤ x, as the slope of x - tanh x is tanh² x", diff(_v - tanh(_v), _v), tanh(_v) ** 2),
                Same(
                    "a step loses ε'·tanh(ε'/2) ≤ ε'²/2 on average; T·ε'²/2 is ε²/(4 ln(2/δ))",
                    T * (4 * _squared) / 2,
                    eps**2 / (4 * (log(2) + _log)),
                ),
                Less(
                    "√(1-y) ≤ 1 - y/2, squared, for √(2T ln(1/δ))·ε' = ε·√(1 - ln 2/ln(2/δ))",
                    1 - _y,
                    (1 - _y / 2) ** 2,
                ),
                Less("ε²/4 ≤ ε·(ln 2)/2 for ε ≤ 1", Rational(1, 4), log(2) / 2),
            ],
            "strong composition with slack δ and the exact mean loss: ε - ε·(ln 2)/(2 ln(2/δ)) + ε²/(4 ln(2/δ)) ≤ ε",
        ),
    ],
)

lemma6 = Claim(
    id="dwang20.lemma2.1.6",
    source=Source("dwang20", "Lemma 2.1.6"),
    kind=Kind.PRIVACY,
    says="“Moments accountant”: Lemma 2.1.5 with δ' = δ, which ensures (ε, Tδ' + δ), that is (ε, (T+1)δ).",
    assumes=[eps < 1],
    states=Eq(eps_step, advanced_budget),
    guarantee=ApproxDP(eps, (T + 1) * delta),
    checks=[
        StepAccountant(delta, "T mechanisms, each (ε', δ), at (T+1)δ in all"),
        Proof(_slack, "the proof of Lemma 2.1.5, whose slack is δ whatever δ' is"),
    ],
)

local_views = Claim(
    id="dwang20.definition2.2.1",
    source=Source("dwang20", "Definition 2.2.1 and the remark on its strength"),
    kind=Kind.PRIVACY,
    says="If each Z_i is an (ε, δ) sequentially local view of X_i, all of them together are (ε, δ)-private.",
    states=Le(eps_out, eps),
    guarantee=ApproxDP(eps_out, delta),
    cites=[Cites("dwang20.lemma2.1.1")],
    checks=[
        Proof(
            [
                Same(
                    "whatever was seen before Z_i, with probability w or 1-w, has the same law for both datasets",
                    _w * (exp(eps) * _k + delta) + (1 - _w) * (exp(eps) * _l + delta),
                    exp(eps) * (_w * _k + (1 - _w) * _l) + delta,
                )
            ],
            "only Z_i depends on the record, and what follows is computed from it and the past: post-processing",
        )
    ],
)

published = quantity(
    "published", "probability that some record is published", box=(1e-6, 1.0), printed="P(a record is out)"
)

negligible = Claim(
    id="dwang20.section2.1.delta",
    source=Source("dwang20", "after Definition 2.1.1: δ ≈ 1/n^ω(1) is small enough"),
    kind=Kind.PRIVACY,
    says="Publishing each record with probability δ is (0, δ)-private, and puts one out with probability at most nδ, "
    "which such a δ lets fall below every power of 1/n.",
    states=Le(published, n * delta),
    checks=[
        Recurrence(
            n, 0 * delta, lambda before: before + (1 - before) * delta, "one record more, published or not",
            at_most=True, where={delta: 1 / (1 + _v)},
        )
    ],
)
