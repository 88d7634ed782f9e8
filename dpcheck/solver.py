"""Solver: an algorithm that runs many independent trials in one pass, with noise from a claim's own formula."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import REPLACE_ONE, ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.problem import Problem

Calibration = Literal["certified", "stated"]
GRID_BITS = 30
Seed = int | np.random.SeedSequence | np.random.Generator | None


@dataclass(frozen=True)
class Solution:
    """What `solve` returns: one row of `w` per trial, and what the privacy of it rests on."""

    w: np.ndarray
    guarantee: Guarantee
    noise_std: float
    rests_on: tuple[str, ...]
    steps: int
    trace: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Mechanism:
    """A solver under one guarantee as an auditor wants it: (problem, rng, trials) -> (trials, d)."""

    solver: Solver
    guarantee: Guarantee
    calibration: Calibration = "certified"
    noise_factor: float = 1.0

    def __call__(self, data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
        return self.solved(data, rng, trials).w

    def solved(self, data: Problem, rng: Seed, trials: int, trace: bool = False) -> Solution:
        """The runs behind the outputs."""
        solver = replace(self.solver, noise_factor=self.solver.noise_factor * self.noise_factor)
        return solver.solve(data, self.guarantee, rng, trials=trials, calibration=self.calibration, trace=trace)


@dataclass(frozen=True)
class WhiteBox(Mechanism):
    """The solver seen from inside: (problem, rng, trials) -> (trials, T, d), every step before it is projected.

    Has the exact `log_density`, so that an audit attacks with the likelihood ratio of the whole transcript. Steps
    are as computed, not on the grid of the released iterate: the bits of floats are not what is attacked here.
    """

    def __call__(self, data: Problem, rng: np.random.Generator, trials: int) -> np.ndarray:
        trace, _ = self.traced(data, rng, trials)
        points = trace.iterates[1:] if trace.unprojected is None else trace.unprojected
        return np.ascontiguousarray(points.transpose(1, 0, 2))

    def log_density(self, outputs: np.ndarray, data: Problem) -> np.ndarray:
        """Of transcripts on these data, up to a constant, shape (trials,)."""
        _, law = self.traced(data, 0, 1)
        return law.log_density(data, np.asarray(outputs).reshape(len(outputs), -1, data.d))

    def traced(self, data: Problem, rng: Seed, trials: int) -> tuple[Any, Any]:
        """The trace and the law of its steps."""
        trace = self.solved(data, rng, trials, trace=True).trace
        law = getattr(trace, "law", None)
        if law is None:
            limit = "a solver that adds Gaussian noise in each step of a descent"
            raise InvalidInput("transcript", self.solver.name, limit, "Leave it out: only the last iterate is noisy.")
        return trace, law


@dataclass(frozen=True)
class Solver(ABC):
    """Base of all algorithms. Subclasses are frozen dataclasses of public settings.

    `noise_factor` scales the noise; anything but 1 plants a bug on purpose, for tests of the tests.
    """

    noise_factor: float = field(default=1.0, kw_only=True)
    name: ClassVar[str] = ""
    minimises: ClassVar[bool] = True  # the problem's risk; mechanisms release something else of its records
    multiclass: ClassVar[bool] = False  # takes a SoftmaxProblem: of the losses it needs gradients and constants only

    def __post_init__(self) -> None:
        if not 0 <= self.noise_factor < math.inf:
            raise InvalidInput("noise_factor", self.noise_factor, "a finite number >= 0", "Leave it at 1.")

    @abstractmethod
    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        """The algorithm itself; arguments have been checked."""

    @abstractmethod
    def worst_pair(self) -> tuple[Problem, Problem]:
        """The neighbouring problems on which this algorithm leaks the most."""

    def solve(
        self,
        problem: Problem,
        guarantee: Guarantee,
        rng: Seed = None,
        *,
        trials: int = 1,
        calibration: Calibration = "certified",
        trace: bool = False,
    ) -> Solution:
        """`trials` independent private solutions.

        "certified" takes its noise from a corrected claim or a tight accountant and refuses when a hypothesis
        fails; "stated" uses the formula as published, to be attacked.
        """
        if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
            raise InvalidInput("trials", trials, "a whole number >= 1", "Use trials=1 for one solution.")
        if calibration not in ("certified", "stated"):
            raise InvalidInput("calibration", calibration, '"certified" or "stated"', "Leave it out for certified.")
        if getattr(problem, "multiclass", False) and not self.multiclass:
            limit = "a loss of one margin (Logistic, Huber, ...)"
            raise InvalidInput(
                f"loss for {self.name}", type(problem.loss).__name__, limit, "Use dp_gd, or fit one class at a time."
            )
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput("guarantee", guarantee, "a Guarantee", "Use PureDP(1.0) or ApproxDP(1.0, 1e-5).")
        if guarantee.parameters.get("eps") == 0:
            raise InvalidInput("guarantee", str(guarantee), "one with eps > 0", "Give it a positive eps.")
        if guarantee.relation != REPLACE_ONE:
            limit = f"{REPLACE_ONE}, which this algorithm is calibrated for"
            raise MixedRelations(
                "neighbouring relation", str(guarantee.relation), limit, "Use a replace-one guarantee."
            )
        return self.run(problem, guarantee, rng, int(trials), calibration, trace)

    def mechanism(
        self,
        guarantee: Guarantee,
        calibration: Calibration = "certified",
        noise_factor: float = 1.0,
        *,
        transcript: bool = False,
    ) -> Mechanism:
        """This solver as a mechanism to audit: what it releases or, as `transcript`, every noisy step it takes."""
        return (WhiteBox if transcript else Mechanism)(self, guarantee, calibration, noise_factor)


def must_meet(claim: Claim, problem: Problem, **values: Any) -> None:
    """Refuse when the problem or the numbers break a hypothesis of the claim, naming it."""
    facts = {
        "convex": problem.convex,
        "strongly convex": problem.convex and problem.strong_convexity > 0,
        "smooth": math.isfinite(problem.smoothness),
        "Lipschitz": math.isfinite(problem.data_lipschitz),
    }
    for name, fact in facts.items():
        assumed = claim.has(name)
        if assumed is not None and not fact:
            remedy = "Choose a loss, a regulariser or a constraint set that gives it."
            raise HypothesisViolated(
                claim.id, f"the problem ({type(problem.loss).__name__} loss)", str(assumed), remedy
            )
    broken = claim.violated_by(values)
    if broken is not None:
        given = {str(s): values[str(s)] for s in broken.free_symbols}
        raise HypothesisViolated(claim.id, given, str(broken), 'Use calibration="certified" or change the values.')


def on_grid(w: np.ndarray, noise: float, problem: Problem) -> np.ndarray:
    """Outputs rounded to a public grid, about a billionth of the noise, and back into the constraint set.

    The last bits of a float tell what was added to the noise (Mironov 2012); the rounded value does not.
    """
    if noise == 0:
        return w
    step = math.ldexp(1.0, math.frexp(noise)[1] - GRID_BITS)
    rounded = np.rint(w / step) * step
    return rounded if isinstance(problem.constraint, WholeSpace) else problem.constraint.project(rounded)


def must_be_whole(**settings: int | None) -> None:
    """Refuse anything but None and whole numbers >= 1."""
    for what, value in settings.items():
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if value is not None and not (whole and value >= 1):
            raise InvalidInput(what, value, "a whole number >= 1", "Leave it out for the default.")


def gaussian_parameters(guarantee: Guarantee) -> tuple[float, float]:
    """(eps, delta) of a guarantee, for choosing public parameters such as the number of steps."""
    if isinstance(guarantee, PureDP):
        return float(guarantee.eps), 0.0
    if isinstance(guarantee, ApproxDP):
        return float(guarantee.eps), float(guarantee.delta)
    return float(guarantee.epsilon(1e-6)), 1e-6


def gaussian_noise_for(guarantee: Guarantee, sensitivity: float) -> float:
    """The least Gaussian deviation that gives this guarantee to a release of this l2 sensitivity."""
    from dpcheck.bounds.privacy.exact import gaussian_sigma

    if isinstance(guarantee, GaussianDP):
        return sensitivity / float(guarantee.mu)
    if isinstance(guarantee, ZCDP):
        return sensitivity / math.sqrt(2 * guarantee.rho)
    if isinstance(guarantee, RenyiDP):
        return sensitivity * math.sqrt(guarantee.alpha / (2 * guarantee.eps))
    if isinstance(guarantee, ApproxDP) and guarantee.delta > 0 and guarantee.eps > 0:
        return float(gaussian_sigma(guarantee.eps, guarantee.delta, sensitivity))
    raise InvalidInput(
        "guarantee", str(guarantee), "reachable with Gaussian noise", "Use delta > 0, zCDP or Gaussian DP."
    )
