"""The experiments on private EM (dwang20, section 7.2.7, Figures 7.1 to 7.7).

Neither n nor d, τ or step sizes are printed: those are ours, and decide nothing against the document. Run again by
dpcheck/evidence/latent/em_experiments.py.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import ratio

OURS = Setting("n, d, τ and the step size, which are not printed, are ours")


def finding(part: str, figures: str, line: int, says: str, provenance: Provenance = Provenance.PRINTED) -> Claim:
    """What the text reads off its figures: the first of two errors is the smaller."""
    return Claim(
        f"dwang20.section7.2.7.{part}", Source("dwang20", f"section 7.2.7, on {figures}", line), Kind.EXPERIMENT, says,
        Le(ratio, 1), added=[OURS], provenance=provenance,
    )


by_clip = finding("clip", "Figure 7.1", 9871, "Of C = 0.1, 1, 5 and 10 in Algorithm 7.2.55, C = 1 has the least error.")


by_eps = finding("eps", "Figures 7.2 to 7.7", 9873, "The error of Algorithm 7.2.56 falls as ε grows, in each model.")
by_n = finding("n", "Figures 7.2 to 7.7", 9873, "It falls as n grows.")
by_d = finding("d", "Figures 7.2 to 7.7", 9873, "It grows with d.")
em = finding(
    "em", "Figures 7.2 to 7.4", 9873, "Its error is nearly that of gradient EM without privacy: at most twice as much.",
    Provenance.READING,
)
clipped = finding("clipped", "Figures 7.5 to 7.7", 9877, "It is far below that of Algorithm 7.2.55 with C = 1, T = 22.")
