"""The Laplace mechanism on the mean of the rows. Claims: bounds/library/mechanisms/laplace.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import laplace as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import ROUNDED
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Solver


@dataclass(frozen=True)
class LaplaceMechanism(Solver):
    """The mean of the rows, with Laplace noise on each coordinate; right as printed.

    On a public grid, far finer than the noise, mean and noise are whole numbers, and the law of the sum is exact.
    """

    name: ClassVar[str] = "laplace"
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Use the Gaussian mechanism for the others.")

    def release(self, data: Problem, plan: None) -> Release:
        rounding = ROUNDED * data.d * lattice_of(data)
        return theory.released.at(Delta1=l1_sensitivity(data) + rounding)  # privacy: dwang20.definition2.1.2

    def method(self, data: Problem, plan: None, released: Released) -> OneAnswer:
        return OneAnswer(exact_mean, data.d, lattice=lattice_of(data))

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        claim, release = theory.definition2, self.release(data, plan)
        noise = claim.evaluate(Delta1=l1_sensitivity(data), eps=guarantee.parameters["eps"])
        return release.with_noise(float(noise)), [claim]

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.definition2]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """A row with equal entries turns round: all of its l1 norm moves."""
        return turned_row(d=3)


def l1_sensitivity(problem: Problem) -> float:
    """Of the mean of rows of l2 norm at most `row_bound`, one of them replaced."""
    return 2 * problem.row_bound * math.sqrt(problem.d) / problem.n


def lattice_of(problem: Problem) -> float:
    """A power of two, 2^-30 of the sensitivity of a coordinate or less; coarser where the mean has fewer digits."""
    finest = max(l1_sensitivity(problem) / problem.d * 2.0**-30, problem.row_bound * 2.0**-50)
    return math.ldexp(1.0, math.frexp(finest)[1])


def exact_mean(problem: Problem) -> np.ndarray:
    """To two roundings, whatever the number of rows: a quarter of the lattice at most."""
    return np.array([math.fsum(column) for column in np.asarray(problem.X).T]) / problem.n
