"""Experiments on sparse regression (lwang21, Tables 2.2, 2.3, 3.2 and 3.3, Figures 2.1 and 3.2): means of 10 runs.

Tables are counted in the numbers that they print; what figures show is run by dpcheck/evidence/sparse/.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import ratio
from dpcheck.bounds.privacy.numeric_checks import Counted


def lowest_in_table(number: str, line: int, what: str, ours: str, rows: dict[str, tuple[float, ...]]) -> Claim:
    """What the text says of a table: that a method has the lowest figure at every ε."""
    lower = {
        method: [o < t for o, t in zip(rows[ours], theirs, strict=True)]
        for method, theirs in rows.items() if method != ours
    }
    return Claim(
        id=f"lwang21.table{number}",
        source=Source("lwang21", f"Table {number} and the text on it", line=line),
        kind=Kind.EXPERIMENT,
        says=f"{ours} has the lowest {what} of the private methods at every ε.",
        states=Le(ratio, 1),
        checks=[Counted(lower, 1.0, "the numbers that the document prints, at each ε of its own")],
    )


# Chapter 2: ε = 2, 4, 6, 8, 10, δ = 0.01 -------------------------------------------------------------
table22 = lowest_in_table("2.2", 1079, "mean square error on E2006-TFIDF", "DP-IGHT", {
    "Frank-Wolfe": (1.514, 1.320, 1.210, 1.105, 1.094), "Two stage": (1.286, 1.072, 1.042, 0.997, 0.986),
    "DP-IGHT": (1.057, 0.890, 0.854, 0.823, 0.810),
})
table23 = lowest_in_table("2.3", 1093, "test error on RCV1", "DP-IGHT", {
    "Frank-Wolfe": (0.1271, 0.1034, 0.0938, 0.0852, 0.0807), "Two stage": (0.1213, 0.0989, 0.0893, 0.0810, 0.0791),
    "DP-IGHT": (0.1168, 0.0956, 0.0841, 0.0797, 0.0762),
})

figure21 = Claim(
    id="lwang21.figure2.1",
    source=Source("lwang21", "Figure 2.1(a) and section 2.6.1", line=1128),
    kind=Kind.EXPERIMENT,
    says="DP-IGHT's relative error on sparse linear regression is close to IGHT's: here, at most 1/2 at ε = 10.",
    assumes=[Setting("the document's generator, the noise of Remark 2.5.3 with the G of Corollary 2.5.6")],
    states=Le(ratio, 1),
    provenance=Provenance.READING,
)

# Chapter 3: δ = 10⁻⁵ ---------------------------------------------------------------------------------
table32 = lowest_in_table("3.2", 3240, "mean square error on E2006-TFIDF", "DPSL-KT", {
    "Frank-Wolfe": (4.471, 2.004, 1.535, 1.206, 1.099), "Two stage": (4.022, 1.803, 1.326, 1.107, 1.053),
    "DP-IGHT": (3.731, 1.687, 1.304, 1.067, 0.968), "DPSL-KT": (1.227, 1.178, 1.065, 0.971, 0.952),
})
table33 = lowest_in_table("3.3", 3269, "test error on RCV1", "DPSL-KT", {
    "Frank-Wolfe": (0.1381, 0.1134, 0.0978, 0.0882), "Two stage": (0.1272, 0.1061, 0.0949, 0.0866),
    "DP-IGHT": (0.1179, 0.1026, 0.0922, 0.0824), "DPSL-KT": (0.1105, 0.0974, 0.0885, 0.0787),
})


def figure32(name: str, says: str, provenance: Provenance) -> Claim:
    """What the text says of Figure 3.2(a)."""
    return Claim(
        id=f"lwang21.figure3.2.{name}", kind=Kind.EXPERIMENT,
        source=Source("lwang21", "Figure 3.2(a) and section 3.4.1", line=3262),
        says=says,
        assumes=[Setting("the document's generator and choices of λ; γ is the least that its hypothesis allows")],
        states=Le(ratio, 1),
        provenance=provenance,
    )


figure32_lower = figure32(
    "lower", "DPSL-KT's relative error on sparse linear regression is below DP-IGHT's at every ε.", Provenance.PRINTED
)
figure32_recovers = figure32(
    "recovers", "At ε = 0.8 its error is still reasonably small: here, at most 1/2.", Provenance.READING
)
