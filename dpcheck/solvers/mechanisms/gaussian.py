"""The Gaussian mechanism on the mean of the rows. Claims: bounds/library/mechanisms/gaussian.py and zcdp.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import sympy

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee
from dpcheck.bounds.language.symbols import sigma
from dpcheck.bounds.library.mechanisms import gaussian as theory
from dpcheck.bounds.library.mechanisms import zcdp
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver


@dataclass(frozen=True)
class GaussianMechanism(Solver):
    """The mean of the rows, with Gaussian noise: exact, or as Definition 2.1.3 and Lemma 2.1.9 have it."""

    name: ClassVar[str] = "gaussian"
    minimises: ClassVar[bool] = False

    def release(self, data: Problem, plan: None) -> Release:
        return theory.released.at(Delta=2 * data.row_bound / data.n)  # privacy: zhang17.lemma1.gaussian.exact

    def method(self, data: Problem, plan: None, released: Released) -> OneAnswer:
        return OneAnswer(lambda records: records.X.mean(axis=0), data.d)

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        release = self.release(data, plan)
        if isinstance(guarantee, ApproxDP):
            noise = theory.definition3.evaluate(Delta=release.sensitivity, **guarantee.parameters)
            return release.with_noise(float(noise)), [theory.definition3]
        if isinstance(guarantee, ZCDP):
            return release.with_noise(float(for_zcdp()(release.sensitivity, guarantee.rho))), [zcdp.lemma9]
        raise InvalidInput("guarantee", str(guarantee), "ApproxDP or ZCDP, as printed", 'Use calibration="certified".')

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.exact]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """A row turns round, in one dimension: there the attack loses nothing to a projection."""
        return turned_row(d=1)


@lru_cache(maxsize=1)
def for_zcdp() -> Any:
    """Lemma 2.1.9 as printed, solved for the noise: a function of Δ and ρ."""
    (root,) = sympy.solve(zcdp.lemma9.states, sigma)
    return lambdified(root)
