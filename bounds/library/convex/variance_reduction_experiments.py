"""The experiments of dwang20, section 3.1.5 (Figures 3.1 to 3.4): the findings read off the figures, and two settings.

No numbers are printed. The findings are measured again by dpcheck/evidence/convex/variance_reduction_experiments.py.
Not listed, as no printed number decides them: that DP-Katyusha reaches "almost the same" gap as DP-SVRG with
"considerably lower" complexity, and DP-SVRG++ one "comparable" with DP-GD's.
"""

from dataclasses import replace

from sympy import Eq, Integer, Le, log

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import c, delta, eps, quantity, ratio
from dpcheck.bounds.library.convex.dp_svrg import theorem1_corrected
from dpcheck.bounds.library.convex.variance_reduction import losses, sigma_n, stated_noise
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Cites, Step
from dpcheck.bounds.proving.proofs import Equals

label_mean = quantity("label_mean", "probability of the label 1", box=(1e-3, 1.0), printed="P(y=1|x)", latex="P(y=1|x)")
margin = quantity(
    "margin",
    "<theta*, x> of a record, here positive",
    box=(1e-2, 10),
    printed="⟨θ°,x⟩",
    latex=r"\langle\theta^*,x\rangle",
)
synthetic = Claim(
    id="dwang20.section3.1.5.synthetic",
    source=Source("dwang20", "section 3.1.5, the synthetic data", line=830),
    kind=Kind.EXPERIMENT,
    says="Labels that are 1 wherever the model's probability exceeds 1/2 follow the logistic model.",
    states=Eq(label_mean, 1 / (1 + 2 ** (-margin / log(2)))),
    checks=[Equals(Integer(1) + 0 * margin, "the rule as printed gives the label 1 for sure: the data are separable")],
)

step_size = Claim(
    id="dwang20.section3.1.5.step_size",
    source=Source("dwang20", "section 3.1.5: “the stepsize does not affect the privacy”", line=834),
    kind=Kind.PRIVACY,
    says="Step sizes by Barzilai and Borwein's rule, from exact gradients, do not affect the privacy of DP-SVRG.",
    assumes=losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
)

FIXED_STEPS = Setting("step sizes that do not depend on the data")

step_size_corrected = replace(
    step_size,
    id="dwang20.section3.1.5.step_size.corrected",
    says="Step sizes that are fixed beforehand do not: the noise that Theorem 3.1.1 needs stays enough.",
    assumes=[*theorem1_corrected.assumes, FIXED_STEPS],
    states=theorem1_corrected.states,
    hidden=(),
    corrects="dwang20.section3.1.5.step_size",
    checks=[Chain(Cites("dwang20.theorem3.1.1.corrected"), Step("=", STATEMENT, uses=[FIXED_STEPS]))],
)


def finding(name: str, says: str) -> Claim:
    """What the figures show: the first quantity over the second is at most 1."""
    place, line = ("Figures 3.1 and 3.2", 857) if name.startswith("strongly") else ("Figures 3.3 and 3.4", 859)
    source = Source("dwang20", f"section 3.1.5, {place}", line)
    return Claim(f"dwang20.section3.1.5.{name}", source, Kind.EXPERIMENT, says, Le(ratio, 1))


strong_gap = finding("strongly_convex.gap", "DP-SVRG and DP-Katyusha reach the lowest optimality gap.")
strong_cost = finding("strongly_convex.cost", "DP-SVRG and DP-Katyusha take fewer gradients than DP-SGD and DP-GD.")
strong_n = finding("strongly_convex.n", "The gap of DP-SVRG and DP-Katyusha falls as n grows.")
strong_d = finding("strongly_convex.d", "The gap of DP-SVRG and DP-Katyusha grows with the dimension.")
strong_eps = finding("strongly_convex.eps", "The gap of DP-SVRG and DP-Katyusha falls as ε grows.")
convex_cost = finding("convex.cost", "DP-SVRG++ takes fewer gradients than DP-GD and DP-SGD.")
convex_n = finding("convex.n", "The gap of DP-SVRG++ falls as n grows.")
convex_d = finding("convex.d", "The gap of DP-SVRG++ grows with the dimension.")
convex_eps = finding("convex.eps", "The gap of DP-SVRG++ falls as ε grows.")
