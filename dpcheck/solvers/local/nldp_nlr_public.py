"""Regression with a known link from one private report of each user, and public features (dwang20, Algorithm 5.2.40).

Claims: bounds/library/local/nldp_nlr_public.py and scaled_least_squares.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, Relation
from dpcheck.bounds.library.local import nldp_nlr_public as theory
from dpcheck.bounds.library.local.scaled_least_squares import released, report_shift
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.scaled_least_squares import (
    BELOW_ONE,
    LabelledUsers,
    Slope,
    another_user,
    must_be_labelled,
    protocol,
    worst_users,
)
from dpcheck.settings import not_negative, one_of
from dpcheck.solver import Calibration, Example, Solver, approximate


@dataclass(frozen=True)
class Link:
    """A known f: its derivative, f(0), and a bound on the derivative where |t| is at most so much."""

    slope: Slope
    at_zero: float
    steepest: Callable[[float], float]


LINKS = {
    "cubic": Link(Slope(np.square, degree=2), 0.0, lambda t: t**2),  # f(t) = t³/3
    "sigmoid": Link(Slope(lambda t: special.expit(t) * special.expit(-t), 4.0), 0.5, lambda t: 0.25),
    "sine": Link(Slope(np.cos, 1.0), 0.0, lambda t: 1.0),
}


@dataclass(frozen=True)
class PublicLinkRegression(Solver):
    """Least squares from users' noisy reports, scaled to the w* of y = f(<x, w*>) + noise by public features.

    A label may be as large as the model allows: L r + |f(0)| + C, where ‖w*‖₂ ≤ 1 and the noise is at most C.
    """

    name: ClassVar[str] = "nldp_nlr_public"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    link: str = one_of("cubic", "sigmoid", "sine")
    label_noise: float = not_negative(0.001)

    @classmethod
    def example(cls) -> Example:
        solver = cls()
        return Example(solver, BELOW_ONE, neighbour=partial(another_user, label_bound=solver.label_bound(1.0)))

    def label_bound(self, row_bound: float) -> float:
        """The largest label that the model allows."""
        link = LINKS[self.link]
        return link.steepest(row_bound) * row_bound + abs(link.at_zero) + self.label_noise

    def must_suit(self, data: LabelledUsers, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_labelled(data, self.label_bound(getattr(data, "row_bound", 1.0)))

    def release(self, data: LabelledUsers, plan: None) -> Release:
        return released  # privacy: dwang20.algorithm5.2.39.sensitivity, in units of the bound on labels

    def method(self, data: LabelledUsers, plan: None, released: Released) -> OneReport:
        return protocol(data, LINKS[self.link].slope, self.label_bound(data.row_bound))

    def stated(self, data: LabelledUsers, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = theory.algorithm40.evaluate(**approximate(guarantee).parameters)
        return released.with_noise(float(noise)), [theory.algorithm40]

    def certifying(self, data: LabelledUsers, plan: None) -> Sequence[Claim]:
        return [report_shift]

    def worst_pair(self) -> tuple[LabelledUsers, LabelledUsers]:
        """Two users 60 degrees apart with opposite labels, as large as the model allows."""
        return worst_users(self.label_bound(1.0))
