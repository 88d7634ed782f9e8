"""The experiments on DP-PGD (wangxu19, Figures 1 to 4; dwang20, section 4.1.5, Figures 4.1 to 4.4).

No numbers are printed: the trends read off the figures are measured again, at sizes that take seconds, by
dpcheck/evidence/nonconvex/dp_pgd_experiments.py. The figures do not say whether the norm they show is that of the
noisy map of equation (4) or of the exact one of equation (2): each trend stands for the first, `.exact` for the second.
"""

from sympy import Eq, Integer, Le, Rational, exp, log, simplify, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.language.symbols import T, c, delta, eps, n, quantity, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, sigma_n
from dpcheck.bounds.library.convex.variance_reduction_experiments import margin, synthetic
from dpcheck.bounds.library.nonconvex.dp_pgd import stated_noise
from dpcheck.bounds.library.nonconvex.dp_pgd_zcdp import zcdp_noise
from dpcheck.bounds.library.nonconvex.stationarity import both, losses, step_map
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Sharper

loss_right = quantity("loss_right", "loss of a record at a margin above 0", loss=1, printed="f", latex="f")
SETTINGS = ("section.experiments", "section4.1.5")
PLACES = ("Experiment Settings", "section 4.1.5, experiment settings")


def trend(document: int, part: str, figure: str, says: str) -> Claim:
    """A trend that a figure of the paper (0) or of the chapter (1) shows: the first quantity is at most the second."""
    name = ("wangxu19", "dwang20")[document]
    return Claim(f"{name}.{SETTINGS[document]}.{part}", Source(name, figure), Kind.EXPERIMENT, says, Le(ratio, 1))


# Settings ------------------------------------------------------------------------------------------
labels = again(synthetic, "wangxu19.section.experiments.synthetic", "Experiment Settings, the synthetic data")

right_loss, right_loss_dwang = both(
    *SETTINGS,
    ".loss",
    places=PLACES,
    kind=Kind.EXPERIMENT,
    says="The printed loss 1/(1+exp(-yθᵀx)) of a record on its right side, at a margin above 0, is at most 1/2.",
    states=Le(loss_right, Rational(1, 2)),
    ignores_units=True,
    checks=[AtMost(1 / (1 + exp(-margin)), "it grows with the margin: minimising it misclassifies")],
)

right_loss_corrected, right_loss_corrected_dwang = both(
    *SETTINGS,
    ".loss.corrected",
    places=PLACES,
    kind=Kind.EXPERIMENT,
    says="With the other sign, 1/(1+exp(yθᵀx)), it is; norms of gradients are the same with -θ for θ.",
    states=Le(loss_right, Rational(1, 2)),
    ignores_units=True,
    checks=[Proof([Less("2 ≤ 1 + e^m, as e^m ≥ 1 + m", Integer(2), 1 + (1 + margin))], "1/(1+e^m) ≤ 1/(2+m) ≤ 1/2")],
)

one_lipschitz = Claim(
    id="wangxu19.section.experiments.lipschitz",
    source=Source("wangxu19", "Experiment Settings"),
    kind=Kind.EXPERIMENT,
    says="Rows of norm 1 make the sigmoid loss 1-Lipschitz.",
    states=Le(G, 1),
    ignores_units=True,
    checks=[
        AtMost(Rational(1, 4), "the slope s(1-s) of the sigmoid is at most 1/4"),
        Sharper(Rational(1, 4), "attained at 0: noise for G = 1 is four times what is needed"),
    ],
)

small_eps = Claim(
    id="wangxu19.section.experiments.practice",
    source=Source("wangxu19", "Experiment Settings, and Remark 1: ε/ln(1/δ) is always small"),
    kind=Kind.EXPERIMENT,
    says="ε/ln(1/δ) is as small in the experiments (ε up to 5, δ = 0.001) as in practice: at most 0.5/ln n, n = 10000.",
    states=Le(ratio, 1 / (2 * log(10_000))),
    checks=[AtMost(eps / log(1 / delta), "the printed ε and δ", box={eps: (0.1, 5), delta: (1e-3, 1e-3)})],
)

# Losses ‖x‖²/2 near x₁ = 0, d = 2 and T = 2, n large, one loss 0 in the other data set; a first step size between the
# inverses of the two curvatures is halved on one of them: x₂ is N(0, s²I) or N(0, s²I/4), whatever s. The δ at ε is
# that of the disc where the density of the second is at least e^ε times that of the first; x_R is x₂ half the time.
halved = (1 - exp(eps) + Rational(3, 4) * 4 ** Rational(-1, 3) * exp(4 * eps / 3)) / 2

step_size, step_size_dwang = both(
    *SETTINGS,
    ".step_size",
    places=PLACES,
    kind=Kind.PRIVACY,
    says="The step size does not affect privacy, so that a line search (TFOCS) on exact risks may choose it.",
    assumes=losses,
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
    checks=[
        AtMost(
            halved,
            "the δ of x_R where backtracking halves the first step on one of two data sets: no c is in it",
            box={eps: (0.1, 1), delta: (1e-10, 1e-2)},
            against=delta,
        )
    ],
)

step_size_corrected, step_size_corrected_dwang = both(
    *SETTINGS,
    ".step_size.corrected",
    places=PLACES,
    kind=Kind.PRIVACY,
    says="Step sizes that are fixed beforehand do not: noise that is enough stays so.",
    assumes=[*losses, Setting("step sizes that do not depend on the data")],
    states=Eq(sigma_n, stated_noise),
    guarantee=ApproxDP(eps, delta),
    hidden=(c,),
)

more_noise, more_noise_dwang = both(
    *SETTINGS,
    ".steps.noise",
    places=("Experiments Results, on Figure 2", "section 4.1.5, on Figures 4.1 to 4.3 (a)"),
    kind=Kind.IDENTITY,
    says="More steps mean more noise in each: twice as many, √2 times the deviation.",
    states=Eq(ratio, sqrt(2)),
    checks=[Equals(simplify(zcdp_noise.subs(T, 2 * T) / zcdp_noise), "the noise by zCDP at 2T over that at T")],
)

# Trends --------------------------------------------------------------------------------------------
PAPER, CHAPTER = 0, 1
FIGURES = "Figures 4.1 to 4.3"
EPS, EPS_EXACT = "The norm falls as ε grows through 0.1, 0.5, 2 and 5.", "The norm of the exact map falls as ε grows."
BY_N, BY_N_EXACT = "The norm falls as n grows, T and ε fixed.", "The norm of the exact map falls as n grows."
LENGTH = "The number of steps changes the norm less than ε does, by its factor."
ADVANCED = "Noise by zCDP leaves a smaller norm than by advanced composition."
MOMENTS = "Noise by zCDP leaves a smaller norm than by the moments accountant."
STABLE = "The norm is stable after some steps: it changes less from the third quarter of a run to the last than before."
SEEN = "The same by 1% at least: curves that a reader can tell apart."

by_eps = trend(PAPER, "eps", "Figure 1", EPS)
by_eps_exact = trend(PAPER, "eps.exact", "Figure 1", EPS_EXACT)
by_size = trend(
    PAPER, "size", "Figure 1, on its two data sets", "Of data sets of different sizes the larger has the smaller norm."
)
by_T = trend(PAPER, "steps", "Figure 2", LENGTH)
by_n = trend(PAPER, "n", "Figure 3", BY_N)
by_n_exact = trend(PAPER, "n.exact", "Figure 3", BY_N_EXACT)
advanced = trend(PAPER, "advanced", "Figure 4", ADVANCED)
moments = trend(PAPER, "moments", "Figure 4", MOMENTS)
moments_seen = trend(PAPER, "moments.seen", "Figure 4", SEEN)

by_T_dwang = trend(CHAPTER, "steps", f"{FIGURES} (a)", LENGTH)
settled = trend(CHAPTER, "stable", f"{FIGURES} (a)", STABLE)
settled_exact = trend(CHAPTER, "stable.exact", f"{FIGURES} (a)", f"{STABLE[:-1]}, for the exact map.")
by_n_dwang = trend(CHAPTER, "n", f"{FIGURES} (b)", BY_N)
by_n_exact_dwang = trend(CHAPTER, "n.exact", f"{FIGURES} (b)", BY_N_EXACT)
by_eps_dwang = trend(CHAPTER, "eps", f"{FIGURES} (c)", EPS)
by_eps_exact_dwang = trend(CHAPTER, "eps.exact", f"{FIGURES} (c)", EPS_EXACT)
by_d = trend(CHAPTER, "d", f"{FIGURES} (d)", "The norm grows with the dimension.")
by_d_exact = trend(CHAPTER, "d.exact", f"{FIGURES} (d)", "The norm of the exact map grows with the dimension.")
advanced_dwang = trend(CHAPTER, "advanced", "Figure 4.4", ADVANCED)
moments_dwang = trend(CHAPTER, "moments", "Figure 4.4", MOMENTS)
moments_seen_dwang = trend(CHAPTER, "moments.seen", "Figure 4.4", SEEN)

proportional = Claim(
    id="dwang20.section4.1.5.n.proportional",
    source=Source("dwang20", f"section 4.1.5, on {FIGURES} (b)"),
    kind=Kind.EXPERIMENT,
    says="The norm is reversely proportional to the sample size, read as 1/n, T and ε fixed.",
    states=Rate(step_map, 1 / n),
    ignores_units=True,
)

proportional_corrected = Claim(
    id="dwang20.section4.1.5.n.proportional.corrected",
    source=Source("dwang20", f"section 4.1.5, on {FIGURES} (b), and Theorem 4.1.2"),
    kind=Kind.EXPERIMENT,
    says="With the T of Theorem 4.1.2, which grows with n, the norm falls like 1/√n.",
    states=Rate(step_map, 1 / sqrt(n)),
    corrects="dwang20.section4.1.5.n.proportional",
    ignores_units=True,
)
