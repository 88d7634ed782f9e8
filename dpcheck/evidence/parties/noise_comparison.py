"""The deviations that Table 6.1 prints of 1,000 samples. Claims: bounds/library/parties/noise_comparison.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.library.parties import noise_comparison as theory

SAMPLES, ERRORS = 1000, 5.0
# Deviation over scale and kurtosis of each law; what is printed is in thousandths.
LAPLACE, GAUSS = (math.sqrt(2), 6.0), (1.0, 3.0)
PRINTED: list[tuple[Claim, float, tuple[float, float]]] = [
    (theory.pathak, 1150.0, LAPLACE), (theory.local_out, 112.0, LAPLACE), (theory.local_obj, 11.6, LAPLACE),
    (theory.local_grad, 5.63, GAUSS), (theory.mpc_out, 12.2, LAPLACE), (theory.mpc_grad, 0.572, GAUSS),
]


@dataclass(frozen=True)
class SampledDeviations:
    """Each printed deviation against that of its law, in standard errors of the deviation of 1,000 samples."""

    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        off = {row[0].id.rsplit(".", 1)[-1]: self.errors(*row) for row in PRINTED}
        name, worst = max(off.items(), key=lambda item: item[1])
        fits = worst <= ERRORS * float(claim.formula)
        figure = f"at most {worst:.2g} standard errors off ({name}), of {len(off)} columns"
        return Evidence(self.kind, Verdict.SUPPORTED if fits else Verdict.NOT_REPRODUCED, figure)

    def errors(self, column: Claim, printed: float, law: tuple[float, float]) -> float:
        factor, kurtosis = law
        true = factor * 1000 * float(column.formula.subs(theory.SETTING))
        return abs(printed - true) / (true * math.sqrt((kurtosis - 1) / 4 / SAMPLES))


CHECKS = {"lwang21.table6.1.generated": [SampledDeviations()]}
