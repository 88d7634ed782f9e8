"""The experiments on precision matrices (dwang20, section 6.3.6, Tables 6.4 and 6.5).

Relative errors ‖Θ̂-Θ*‖_F/‖Θ*‖_F as printed; NA, above 200, is 200 here. ρ = 0.001, δ = 0.01; synthetic data have d = 400
and n = r·d. Measured: dpcheck/evidence/matrix/precision_experiments.py.
"""

from collections.abc import Mapping

from sympy import Le, Rational

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Setting, Source
from dpcheck.bounds.language.symbols import quantity, ratio
from dpcheck.bounds.library.matrix.graphical_lasso import rho
from dpcheck.bounds.privacy.numeric_checks import Counted

NA = 200.0
Rows = Mapping[float, tuple[float, ...]]  # by ε: r = 0.5, 1.0, 1.5, Colon, Parkinson's

PURE: Mapping[str, Rows] = {
    "Wishart": {
        0.5: (0.993, 0.9918, 0.9914, 0.995, 0.9140),
        1.0: (0.986, 0.9863, 0.9856, 0.993, 0.8899),
        1.5: (0.9817, 0.9815, 0.9806, 0.9907, 0.8796),
    },
    "Output": {0.5: (NA,) * 5, 1.0: (NA,) * 5, 1.5: (NA,) * 5},
    "Laplace": {
        0.5: (101.4, 52.85, 35.42, 190.57, 9.950),
        1.0: (49.44, 25.41, 16.83, 95.01, 4.690),
        1.5: (32.30, 16.41, 10.76, 63.67, 3.913),
    },
}
APPROX: Mapping[str, Rows] = {
    "Wishart": {
        0.5: (0.9999, 0.9997, 0.9993, 1.636, 1.00),
        1.0: (0.9982, 0.9947, 0.9906, 1.1155, 0.990),
        1.5: (0.9954, 0.9895, 0.9837, 1.0474, 0.9992),
    },
    "SULQ": {0.5: (NA, NA, NA, NA, 0.7419), 1.0: (NA, NA, NA, NA, 0.7318), 1.5: (NA, NA, NA, NA, 0.7065)},
    "Gaussian": {
        0.5: (0.1285, 0.1607, 0.1759, 0.3039, 0.1527),
        1.0: (0.1254, 0.1605, 0.1737, 0.1081, 0.1514),
        1.5: (0.1252, 0.1595, 0.1701, 0.0833, 0.1514),
    },
}
PRINTED = "the numbers that the document prints"
least_entry = quantity("least_entry", "-min S̃_ii over the diagonal", box=(1e-9, 1e3), printed="-min S̃_ii")


def below(ours: Rows, theirs: Rows) -> dict[str, list[bool]]:
    """By ε, in which columns ours is the lower."""
    return {f"ε = {e:g}": [a < b for a, b in zip(ours[e], theirs[e], strict=True)] for e in ours}


def counted(name: str, line: int, says: str, rows: Mapping[str, list[bool]], least: float = 1.0) -> Claim:
    """What the text says of a printed table, in the numbers of the table."""
    return Claim(
        id=f"dwang20.{name}", kind=Kind.EXPERIMENT,
        source=Source("dwang20", "section 6.3.6, Results Analysis", line=line),
        says=says,
        states=Le(ratio, 1),
        provenance=Provenance.PRINTED if least == 1.0 else Provenance.READING,
        checks=[Counted(rows, least, PRINTED)],
    )


wishart_wins = counted(
    "table6.4", 8886, "Wishart noise on moments is the best of the three pure methods, noise on the output the worst.",
    {f"{ours} below {theirs}, {name}": found
     for ours, theirs in (("Wishart", "Laplace"), ("Wishart", "Output"), ("Laplace", "Output"))
     for name, found in below(PURE[ours], PURE[theirs]).items()},
)
gaussian_wins = counted(
    "table6.5", 8886, "Gaussian noise has the lowest error of all methods compared, of Table 6.4 too.",
    {f"below {theirs}, {name}": found
     for theirs, rows in {**{f"{k} (ε, δ)": v for k, v in APPROX.items() if k != "Gaussian"}, **PURE}.items()
     for name, found in below(APPROX["Gaussian"], rows).items()},
)
falling = counted(
    "table6.5.eps", 8886, "In general the error falls as ε grows (nine steps in ten, where it is not NA throughout).",
    {"steps": [rows[b][i] <= rows[a][i] for table in (PURE, APPROX) for rows in table.values()
               for a, b in ((0.5, 1.0), (1.0, 1.5)) for i in range(5) if rows[a][i] < NA]},
    0.9,
)


def minimised(name: str, line: int, noise: str) -> Claim:
    """What Algorithm 6.3.51 needs in order to return anything."""
    return Claim(
        id=f"dwang20.{name}.minimiser", kind=Kind.EXPERIMENT,
        source=Source("dwang20", f"Table {name[5:]}, the {noise} rows of synthetic data, ρ = 0.001", line=line),
        says=f"With {noise} noise the problem has a minimiser: no entry of the diagonal of S̃ is below -ρ.",
        assumes=[Setting("rows scaled to norm 1, as section 6.3.2 asks")],
        states=Le(least_entry, rho),
        provenance=Provenance.READING,
        ignores_units=True,
    )


laplace_minimised = minimised("table6.4", 8857, "Laplace")
gaussian_minimised = minimised("table6.5", 8872, "Gaussian")
PENALTY, DELTA = Rational(1, 1000), Rational(1, 100)
