"""The experiments of dwang20, section 3.1.5 (Figures 3.1 to 3.4): their settings, and the trends read off the figures.

No numbers are printed. The trends are measured again, at a size that takes seconds, by
dpcheck/evidence/convex/variance_reduction_experiments.py.
"""

from sympy import Eq, Integer, Le, Rational, log

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, c, d, delta, eps, eta, gradients, mu, n, quantity, ratio
from dpcheck.bounds.library.convex.dp_katyusha import utility as katyusha_bound
from dpcheck.bounds.library.convex.dp_svrg import theorem2 as svrg_bound
from dpcheck.bounds.library.convex.dp_svrg_proof import contraction
from dpcheck.bounds.library.convex.variance_reduction import L_s, inner, kappa, losses, sigma_n, stated_noise
from dpcheck.bounds.proving.proofs import AtMost, Equals

label_mean = quantity("label_mean", "probability of the label 1", box=(1e-3, 1.0), printed="P(y=1|x)", latex="P(y=1|x)")
margin = quantity(
    "margin",
    "<theta*, x> of a record, here positive",
    box=(1e-2, 10),
    printed="⟨θ°,x⟩",
    latex=r"\langle\theta^*,x\rangle",
)

FIGURES_STRONG, FIGURES_CONVEX = "section 3.1.5, Figures 3.1 and 3.2", "section 3.1.5, Figures 3.3 and 3.4"


def experiment(name: str, place: str, says: str) -> Claim:
    """A trend that a figure shows: the first quantity is at most the second."""
    return Claim(f"dwang20.section3.1.5.{name}", Source("dwang20", place), Kind.EXPERIMENT, says, Le(ratio, 1))


# Settings ------------------------------------------------------------------------------------------
synthetic = Claim(
    id="dwang20.section3.1.5.synthetic",
    source=Source("dwang20", "section 3.1.5, the synthetic data"),
    kind=Kind.EXPERIMENT,
    says="Labels that are 1 wherever the model's probability exceeds 1/2 follow the logistic model.",
    states=Eq(label_mean, 1 / (1 + 2 ** (-margin / log(2)))),
    checks=[Equals(Integer(1) + 0 * margin, "the rule as printed gives the label 1 for sure: the data are separable")],
)

inner_steps = Claim(
    id="dwang20.section3.1.5.inner",
    source=Source("dwang20", "section 3.1.5, parameter settings of DP-SVRG: m = 100, λ = 1e-4"),
    kind=Kind.EXPERIMENT,
    says="For some step size the settings meet (3.5): 1-Lipschitz logistic losses, L at most 1/4 and at least 1e-3.",
    assumes=[
        Eq(inner, 100), Eq(mu, Rational(1, 10_000)), eta < 1 / (8 * L_s),
        L_s >= Rational(1, 1000), L_s <= Rational(1, 4),
    ],
    states=Le(contraction, Rational(1, 2)),
    checks=[
        AtMost(
            32 * kappa / inner, "the first term of (3.5), least at η = 1/(16L)",
            box={inner: (100, 100), mu: (1e-4, 1e-4), L_s: (1e-3, 0.25), eta: (0.1, 0.4)},
        )
    ],
)

covered = Claim(
    id="dwang20.section3.1.5.condition",
    source=Source("dwang20", "section 3.1.5, parameter settings of DP-SVRG: n = 1e5, T = 24, m = 100"),
    kind=Kind.EXPERIMENT,
    says="ε = 0.2 meets the condition ε ≤ c₁Tm/n² of Theorem 3.1.1 with a c₁ up to 10000.",
    assumes=[Eq(T, 24), Eq(inner, 100), Eq(n, 100_000), Eq(eps, Rational(1, 5))],
    states=Le(eps, 10_000 * T * inner / n**2),
    checks=[AtMost(eps, "the settings", box={eps: (0.2, 0.2), T: (24, 24), inner: (100, 100), n: (1e5, 1e5)})],
)

step_size = Claim(
    id="dwang20.section3.1.5.step_size",
    source=Source("dwang20", "section 3.1.5, parameter settings"),
    kind=Kind.PRIVACY,
    says="Step sizes by Barzilai and Borwein's rule, from exact gradients, do not affect the privacy of DP-SVRG.",
    assumes=losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
)

step_size_corrected = Claim(
    id="dwang20.section3.1.5.step_size.corrected",
    source=Source("dwang20", "section 3.1.5, parameter settings"),
    kind=Kind.PRIVACY,
    says="Step sizes that are fixed beforehand do not: noise that is enough stays so.",
    assumes=[*losses, Setting("step sizes that do not depend on the data")],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    corrects="dwang20.section3.1.5.step_size",
    hidden=(c,),
)

# Costs at the printed settings: outer 2⌈log n⌉ and inner 100, against outer ⌈log n⌉ and inner 3n/4.
katyusha_cost = Claim(
    id="dwang20.section3.1.5.katyusha.cost",
    source=Source("dwang20", "section 3.1.5, parameter settings and results"),
    kind=Kind.EXPERIMENT,
    says="At the printed settings DP-Katyusha takes considerably fewer gradients than DP-SVRG: at most 3/4.",
    assumes=[n >= 10_000],
    states=Le(gradients, Rational(3, 4) * 2 * (n + 100)),
    checks=[
        AtMost(
            n + 3 * n / 4,
            "per ⌈log n⌉: n + 3n/4 against 2(n + 100), with one gradient an inner step (two make it worse)",
            box={n: (1e4, 5e5)},
        )
    ],
)

linear = Claim(
    id="dwang20.section3.1.5.linear",
    source=Source("dwang20", "section 3.1.5, results: the error bound depends linearly on the dimension"),
    kind=Kind.EXPERIMENT,
    says="Twice the dimension makes the bounds (3.4) and (3.6), of Figures 3.1 and 3.2, twice as large.",
    states=Eq(ratio, 2),
    checks=[
        Equals(bound.formula.subs(d, 2 * d) / bound.formula, f"{bound.id} at 2d over d")
        for bound in (svrg_bound, katyusha_bound)
    ],
)

# Trends --------------------------------------------------------------------------------------------
strong_gap = experiment(
    "strongly_convex.gap", FIGURES_STRONG,
    "DP-SVRG and DP-Katyusha reach a lower optimality gap than DP-SGD and DP-GD (their gap over the best baseline's).",
)
strong_cost = experiment(
    "strongly_convex.cost", FIGURES_STRONG,
    "DP-SVRG and DP-Katyusha take fewer gradients than DP-SGD and DP-GD (their cost over the cheapest baseline's).",
)
katyusha_gap = experiment(
    "katyusha.gap",
    FIGURES_STRONG,
    "DP-Katyusha reaches almost the gap of DP-SVRG: at most twice it, and at least half.",
)
strong_n = experiment("strongly_convex.n", FIGURES_STRONG, "The gap of DP-SVRG and DP-Katyusha falls as n grows.")
strong_d = experiment(
    "strongly_convex.d", FIGURES_STRONG, "The gap of DP-SVRG and DP-Katyusha grows with the dimension."
)
strong_eps = experiment("strongly_convex.eps", FIGURES_STRONG, "The gap of DP-SVRG and DP-Katyusha falls as ε grows.")
convex_gap = experiment(
    "convex.gap", FIGURES_CONVEX, "DP-SVRG++ reaches a gap comparable with that of DP-GD: at most twice it."
)
convex_cost = experiment("convex.cost", FIGURES_CONVEX, "DP-SVRG++ takes fewer gradients than DP-GD and DP-SGD.")
convex_n = experiment("convex.n", FIGURES_CONVEX, "The gap of DP-SVRG++ falls as n grows.")
convex_d = experiment("convex.d", FIGURES_CONVEX, "The gap of DP-SVRG++ grows with the dimension.")
convex_eps = experiment("convex.eps", FIGURES_CONVEX, "The gap of DP-SVRG++ falls as ε grows.")
