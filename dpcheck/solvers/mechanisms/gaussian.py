"""The Gaussian mechanism on the mean of the rows. Claims: bounds/library/mechanisms/gaussian.py and zcdp.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee
from dpcheck.bounds.language.symbols import sigma
from dpcheck.bounds.library.mechanisms import gaussian as theory
from dpcheck.bounds.library.mechanisms import zcdp
from dpcheck.kernels import noise
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Linear
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, gaussian_noise_for, on_grid

EXACT = "accounting.gaussian_sigma"


@dataclass(frozen=True)
class GaussianMechanism(Solver):
    """The mean of the rows, with Gaussian noise: exact, or as Definition 2.1.3 and Lemma 2.1.9 have it."""

    name: ClassVar[str] = "gaussian"
    minimises: ClassVar[bool] = False

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        sensitivity = 2 * problem.row_bound / problem.n
        if calibration == "stated":
            deviation, claim = stated_noise(guarantee, sensitivity)
        else:
            deviation, claim = gaussian_noise_for(guarantee, sensitivity), EXACT
        deviation *= self.noise_factor
        rng = np.random.default_rng(seed_of(seed))
        w = np.broadcast_to(problem.X.mean(axis=0), (trials, problem.d))
        if deviation > 0:
            w = w + noise.gaussian(rng, deviation, (trials, problem.d))  # privacy: the claim named in `rests_on`
        return Solution(on_grid(w, deviation, problem), guarantee, deviation, (claim,), steps=1)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """A row turns round, in one dimension: there the attack loses nothing to a projection."""
        return turned_row(d=1)


def turned_row(d: int, n: int = 4, row_bound: float = 1.0) -> tuple[Problem, Problem]:
    """Rows of zeros but one, which is as long as the bound allows and turns round."""
    row = np.full(d, row_bound / math.sqrt(d) * (1 - 1e-12))
    X = np.zeros((n, d))
    X[0] = row
    first = Problem(X, np.zeros(n), Linear(), row_bound=row_bound)
    return first, first.replace(0, -row, 0.0)


def stated_noise(guarantee: Guarantee, sensitivity: float) -> tuple[float, str]:
    """The noise as printed for (ε, δ)-DP or zCDP, and the claim that has it."""
    if isinstance(guarantee, ApproxDP):
        claim = theory.definition3
        return float(claim.evaluate(eps=guarantee.eps, delta=guarantee.delta, Delta=sensitivity)), claim.id
    if isinstance(guarantee, ZCDP):
        return float(for_zcdp()(sensitivity, guarantee.rho)), zcdp.lemma9.id
    raise InvalidInput("guarantee", str(guarantee), "ApproxDP or ZCDP, as printed", 'Use calibration="certified".')


@lru_cache(maxsize=1)
def for_zcdp() -> Any:
    """Lemma 2.1.9 as printed, solved for the noise: a function of Δ and ρ."""
    (root,) = sympy.solve(zcdp.lemma9.states, sigma)
    return lambdified(root)
