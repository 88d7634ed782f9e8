"""The experiments on DP-PGD (wangxu19, Figures 1 to 4; dwang20, section 4.1.5, Figures 4.1 to 4.4).

No numbers are printed: what the text reads off the figures is measured again by
dpcheck/evidence/nonconvex/dp_pgd_experiments.py. The printed loss, 1/(1+exp(-yθᵀx)), is least where every record is
misclassified; norms of gradients are the same for the other sign, with -θ for θ.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import ratio

STAND_IN = Setting("synthetic data of the paper's size in place of Covertype")  # which Figure 4 is about


def paper(part: str, figure: str, line: int, says: str) -> Claim:
    """A finding of wangxu19: the first of two quantities is the smaller."""
    source = Source("wangxu19", f"Experiments Results, on {figure}", line)
    added = [STAND_IN] if figure == "Figure 4" else []
    return Claim(f"wangxu19.section.experiments.{part}", source, Kind.EXPERIMENT, says, Le(ratio, 1), added=added)


def chapter(part: str, figure: str, line: int, says: str) -> Claim:
    """A finding of section 4.1.5 of dwang20."""
    source = Source("dwang20", f"section 4.1.5, on {figure}", line)
    return Claim(f"dwang20.section4.1.5.{part}", source, Kind.EXPERIMENT, says, Le(ratio, 1))


EPS, SIZE = "The norm falls as ε grows through 0.1, 0.5, 2 and 5.", "The norm falls as n grows, T and ε fixed."
LENGTH = "The number of steps changes the norm less than ε does."
ADVANCED = "Noise by zCDP leaves a smaller norm than by advanced composition."
MOMENTS = "Noise by zCDP leaves a smaller norm than by the moments accountant."

by_eps = paper("eps", "Figure 1", 308, EPS)
by_T = paper("steps", "Figure 2", 310, LENGTH)
by_n = paper("n", "Figure 3", 312, SIZE)
advanced = paper("advanced", "Figure 4", 314, ADVANCED)
moments = paper("moments", "Figure 4", 314, MOMENTS)

by_T_chapter = chapter("steps", "Figures 4.1 to 4.3 (a)", 2891, LENGTH)
by_n_chapter = chapter("n", "Figures 4.1 to 4.3 (b)", 2898, SIZE)
by_eps_chapter = chapter("eps", "Figures 4.1 to 4.3 (c)", 2900, EPS)
by_d = chapter("d", "Figures 4.1 to 4.3 (d)", 2902, "The norm grows with the dimension.")
advanced_chapter = chapter("advanced", "Figure 4.4", 2904, ADVANCED)
moments_chapter = chapter("moments", "Figure 4.4", 2904, MOMENTS)
