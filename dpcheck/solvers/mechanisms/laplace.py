"""The Laplace mechanism on the mean of the rows. Claims: bounds/library/mechanisms/laplace.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import laplace as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Solver


@dataclass(frozen=True)
class LaplaceMechanism(Solver):
    """The mean of the rows, with Laplace noise on each coordinate; right as printed."""

    name: ClassVar[str] = "laplace"
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Use the Gaussian mechanism for the others.")

    def release(self, data: Problem, plan: None) -> Release:
        return theory.released.at(Delta1=l1_sensitivity(data))  # privacy: dwang20.definition2.1.2

    def method(self, data: Problem, plan: None, released: Released) -> OneAnswer:
        return OneAnswer(lambda records: records.X.mean(axis=0), data.d)

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        claim, release = theory.definition2, self.release(data, plan)
        noise = claim.evaluate(Delta1=release.sensitivity, eps=guarantee.parameters["eps"])
        return release.with_noise(float(noise)), [claim]

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.definition2]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """A row with equal entries turns round: all of its l1 norm moves."""
        return turned_row(d=3)


def l1_sensitivity(problem: Problem) -> float:
    """Of the mean of rows of l2 norm at most `row_bound`, one of them replaced."""
    return 2 * problem.row_bound * math.sqrt(problem.d) / problem.n
