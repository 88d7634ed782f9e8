"""Composition and post-processing (zhang17, Lemma 10; dwang20, Lemmas 2.1.1 and 2.1.4 to 2.1.6).

Checks by code: dpcheck/evidence/mechanisms/composition.py.
"""

from sympy import Eq, Expr, Le, Lt, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, delta1, eps, eps_out, quantity
from dpcheck.bounds.privacy.numeric_checks import CompositionAccountant

eps_step = quantity("eps_step", "epsilon of each of T mechanisms", printed="ε'", latex=r"\varepsilon'")
eps_a = quantity("eps_a", "epsilon of the first mechanism", printed="ε₁", latex=r"\varepsilon_1")
eps_b = quantity("eps_b", "epsilon of the second mechanism", printed="ε₂", latex=r"\varepsilon_2")
delta_a, delta_b = (
    quantity(f"delta_{name}", f"delta of the {which} mechanism", box=(1e-10, 0.5), below=1.0, printed=printed)
    for name, which, printed in (("a", "first", "δ₁"), ("b", "second", "δ₂"))
)
in_zhang17 = Source("zhang17", "Lemma 10", line=461)

lemma10 = Claim(
    id="zhang17.lemma10",
    source=in_zhang17,
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, as printed: ε stands under the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1) * eps) + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    checks=[CompositionAccountant("against the optimal composition of T randomised responses")],
)

lemma10_corrected = Claim(
    id="zhang17.lemma10.corrected",
    source=in_zhang17,
    kind=Kind.PRIVACY,
    says="T-fold adaptive composition, with ε outside the root.",
    states=Eq(eps_out, sqrt(2 * T * log(1 / delta1)) * eps + T * eps * (exp(eps) - 1)),
    guarantee=ApproxDP(eps_out, T * delta + delta1),
    corrects="zhang17.lemma10",
    checks=[CompositionAccountant("against the optimal composition of T randomised responses")],
)

# dwang20, section 2.1 ------------------------------------------------------------------------------
lemma1 = Claim(
    id="dwang20.lemma2.1.1",
    source=Source("dwang20", "Lemma 2.1.1", line=368),
    kind=Kind.PRIVACY,
    says="Whatever is computed from the output of an (ε, δ)-private mechanism is (ε, δ)-private.",
    states=Le(eps_out, eps),
    guarantee=ApproxDP(eps_out, delta),
)

lemma4 = Claim(
    id="dwang20.lemma2.1.4",
    source=Source("dwang20", "Lemma 2.1.4, for two mechanisms, which gives it for T", line=390),
    kind=Kind.PRIVACY,
    says="Budgets add up: (ε₁+ε₂, δ₁+δ₂) for two mechanisms, the second chosen by the first.",
    states=Eq(eps_out, eps_a + eps_b),
    guarantee=ApproxDP(eps_out, delta_a + delta_b),
    provenance=Provenance.READING,
)


def split(name: str, place: str, line: int, says: str, factor: Expr, each_delta: Expr, total: Expr) -> Claim:
    """What T mechanisms, each (ε', δ')-private, promise together, for a total ε below 1."""
    return Claim(
        id=f"dwang20.lemma{name}",
        source=Source("dwang20", f"{place}, solved for ε", line=line),
        kind=Kind.PRIVACY,
        says=says,
        assumes=[Lt(factor * eps_step, 1)],
        states=Eq(eps, factor * eps_step),
        guarantee=ApproxDP(eps, total),
        checks=[CompositionAccountant("T mechanisms, each (ε', δ')-private", eps_step, each_delta, delta)],
    )


advanced = 2 * sqrt(2 * T * log(2 / delta))
lemma4_uniform = split(
    "2.1.4.uniform", "after Lemma 2.1.4", 392, "ε' = ε/T and δ' = δ/T for each of T mechanisms ensure (ε, δ).",
    T, delta / T, delta,
)
lemma5 = split(
    "2.1.5", "Lemma 2.1.5", 396, "ε' = ε/(2√(2T ln(2/δ))) and δ' = δ/T ensure (ε, Tδ' + δ), which is (ε, 2δ).",
    advanced, delta / T, 2 * delta,
)
lemma6 = split(
    "2.1.6", "Lemma 2.1.6, “Moments Accountant”", 400,
    "The ε' of Lemma 2.1.5 with δ' = δ ensures (ε, Tδ' + δ), which is (ε, (T+1)δ) and never (ε, δ).",
    advanced, delta, (T + 1) * delta,
)
