"""What DP-LSSGD and DP-LSAdam share: batches, noise, its calibration, and the loop; the update is their own.

Each step adds noise to the mean gradient of a random batch, smooths the sum by A_σ⁻¹ and moves.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.audits.scores.transcript import gaussian_log_density, mixture_log_density
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_lssgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_noise
from dpcheck.kernels.blocks import block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.drawn import records
from dpcheck.kernels.noisy_steps import drawn, mean_of, record_gradients
from dpcheck.kernels.running import must_be_finite
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Array, Linear, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid

Document = Literal["lwang21", "lssgd20"]
EPOCHS = 50  # lwang21, section 5.4.1
THEOREMS = {"lwang21": theory.theorem2, "lssgd20": theory.theorem1}


@lru_cache(maxsize=256)
def stated_noise(
    document: Document,
    split: float,
    conditions: bool,
    eps: float,
    delta: float,
    n: int,
    batch: int,
    steps: int,
    G: float,
) -> float:
    """The deviation that the document's theorem states; where its `conditions` fail that is refused, or ignored."""
    claim = THEOREMS[document]
    share = split if document == "lwang21" else 0.5  # α = 2 log(1/δ)/ε + 1
    values = {
        "n": n, "batch": batch, "T": steps, "eps": eps, "delta": delta, "G": G, "ls_mu": split,
        "ls_order": math.log(1 / delta) / ((1 - share) * eps) + 1,
    }  # fmt: skip
    broken = claim.violated_by(values) if conditions else None
    if broken is not None:
        given = {str(s): values[str(s)] for s in broken.free_symbols}
        remedy = 'Use calibration="certified", or conditions=False to use the noise all the same.'
        raise HypothesisViolated(claim.id, given, str(broken), remedy)
    return float(claim.formula.subs({s: values[str(s)] for s in claim.formula.free_symbols}))


@dataclass(frozen=True, eq=False)
class SmoothedSteps:
    """What a white-box adversary knows: the law of each noisy gradient, given those before it.

    `solver` and `operator` say how the iterates follow from the noisy gradients, and back.
    """

    solver: SmoothedSolver
    operator: LaplacianSmoothing
    etas: Array
    sigma: float
    batch: int

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of transcripts (k, steps, d), up to a constant, shape (k,); batches are not revealed."""
        if self.sigma == 0:
            raise InvalidInput("noise_std", 0.0, "> 0", "Without noise a transcript has no density.")
        whole = self.batch == problem.n
        batches = [(1.0, None)] if whole else list(drawn(problem, self.batch))
        total = np.zeros(len(released))
        for w, noisy in self.solver.path(self.operator, self.etas, released):
            gradients = problem.gradient(w)[None] if whole else record_gradients(problem, w)
            means = ((p, mean_of(gradients, shares)) for p, shares in batches)
            total += mixture_log_density((p, gaussian_log_density(noisy, m, self.sigma)) for p, m in means)
        return total


@dataclass(frozen=True)
class SmoothedSolver(Solver):
    """`steps` noisy steps (by default 50 epochs) on `batch` random records each, smoothed with σ = `smoothing`.

    "stated" takes its noise from the theorem of `document`, with `split` for µ; without `conditions` it does so
    where the theorem does not apply, as the documents' own experiments do.
    """

    batch: int = 128
    steps: int | None = None
    smoothing: float = 1.0
    rate: float = 1.0
    document: Document = field(default="lwang21", kw_only=True)
    split: float = field(default=0.5, kw_only=True)
    conditions: bool = field(default=True, kw_only=True)
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(batch=self.batch, steps=self.steps)
        must_be_positive("rate", self.rate)
        LaplacianSmoothing(self.smoothing, 1)  # refuses a bad strength
        if self.document not in ("lwang21", "lssgd20"):
            raise InvalidInput("document", self.document, '"lwang21" or "lssgd20"', "Leave it out for lwang21.")
        if not 0 < self.split < 1:
            raise InvalidInput("split", self.split, "a number in (0, 1)", "Leave it at 0.5.")

    # The algorithm's own ----------------------------------------------------------------------------
    @abstractmethod
    def step_sizes(self, steps: int) -> Array:
        """One a step."""

    @abstractmethod
    def moved(self, w: Array, smooth: Array, eta: float, memory: list[Array]) -> Array:
        """The next iterate, from the smoothed noisy gradient; `memory` is the algorithm's own."""

    @abstractmethod
    def path(self, operator: LaplacianSmoothing, etas: Array, released: Array) -> Any:
        """(iterate, noisy gradient) of each step, from a transcript (k, steps, d)."""

    def transcript_of(self, iterates: Array, noisy: Array) -> Array | None:
        """What the adversary is shown, (steps, k, d); None for the iterates themselves."""
        return None

    def output(self, iterates: Array, rng: np.random.Generator) -> Array:
        """What is released of the iterates (steps + 1, k, d)."""
        return iterates[-1]

    needs_path = False  # whether `output` looks at more than the last iterate

    # The loop ---------------------------------------------------------------------------------------
    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(guarantee, ApproxDP) or guarantee.delta == 0:
            limit = "ApproxDP with delta > 0"
            raise InvalidInput("guarantee", str(guarantee), limit, "Convert with .to_approx(delta).")
        if not isinstance(problem.constraint, WholeSpace):
            raise InvalidInput("constraint", problem.constraint, "the whole space", "The algorithm does not project.")
        batch = min(self.batch, problem.n)
        steps = self.steps or max(1, round(EPOCHS * problem.n / batch))
        noise, claims = self.noise(problem, guarantee, batch, steps, calibration)
        noise *= self.noise_factor
        operator, etas = LaplacianSmoothing(self.smoothing, problem.d), self.step_sizes(steps)
        law = SmoothedSteps(self, operator, etas, noise, batch)
        w, traces, parent = np.empty((trials, problem.d)), [], seed_of(seed)
        for number, first, last in block_cuts(problem, trials):
            out, one = self._block(problem, law, child(parent, number), last - first, trace)
            w[first:last] = out
            traces += [one] if one is not None else []
        must_be_finite(w)
        scale = float(etas[-1]) * noise / (float(operator.eigenvalues.max()) * (steps if self.needs_path else 1))
        return Solution(on_grid(w, scale, problem), guarantee, noise, claims, steps, _joined(traces, law))

    def _block(
        self, problem: Problem, law: SmoothedSteps, seed: np.random.SeedSequence, k: int, traced: bool
    ) -> tuple[Array, Trace | None]:
        """Noise, records and the choice of the output have a stream each: none shifts another."""
        rng, picks, choice = (np.random.default_rng(child(seed, i)) for i in (0, 1, 2))
        w, memory = np.zeros((k, problem.d)), list[Array]()
        kept, releases, norms = [w], list[Array](), list[Array]()
        with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
            for eta in law.etas:
                if law.batch == problem.n:
                    gradient = problem.gradient(w)
                else:
                    gradient = problem.gradient_at(w, records(picks, k, problem.n, law.batch))
                noisy = gradient + law.sigma * rng.standard_normal(
                    (k, problem.d)
                )  # privacy: lssgd20.theorem1.corrected
                w = self.moved(w, law.operator.solve(noisy), float(eta), memory)
                if traced or self.needs_path:
                    kept.append(w)
                if traced:
                    releases.append(noisy)
                    norms.append(np.linalg.norm(gradient, axis=1))
        iterates = np.stack(kept) if traced or self.needs_path else w[None]
        if not traced:
            return self.output(iterates, choice), None
        shown = self.transcript_of(iterates, np.stack(releases))
        return self.output(iterates, choice), Trace(iterates, np.stack(norms), unprojected=shown)

    # Noise ------------------------------------------------------------------------------------------
    def noise(
        self, problem: Problem, guarantee: ApproxDP, batch: int, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation of each coordinate of the noise on a batch's mean gradient."""
        claim, G = THEOREMS[self.document], problem.data_lipschitz
        must_meet(claim, problem)
        if calibration == "certified":
            multiplier = subsampled_gaussian_noise(guarantee.eps, guarantee.delta, problem.n, batch, steps)
            return multiplier * G / batch, ("sampled_gaussian.subsampled_gaussian_noise",)
        numbers = (float(guarantee.eps), float(guarantee.delta), problem.n, batch, steps, G)
        return stated_noise(self.document, self.split, self.conditions, *numbers), (claim.id,)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: all records pull one way, the differing one with or against them."""
        return linear_pair(2 * self.batch)


def linear_pair(n: int, direction: Any = (1.0,)) -> tuple[Problem, Problem]:
    """n records with gradient u, the unit vector along `direction`, one of which turns round."""
    u = np.asarray(direction, float)
    u = u / np.linalg.norm(u)
    first = Problem(np.tile(u, (n, 1)), -np.ones(n), Linear(), row_bound=float(np.linalg.norm(u)))
    return first, first.replace(0, u, 1.0)


def _joined(parts: list[Trace], law: SmoothedSteps) -> Trace | None:
    """Those of the blocks, in order, as one."""
    if not parts:
        return None
    shown = [p.unprojected for p in parts if p.unprojected is not None]
    return Trace(
        np.concatenate([p.iterates for p in parts], axis=1),
        np.concatenate([p.gradient_norms for p in parts], axis=1),
        unprojected=np.concatenate(shown, axis=1) if shown else None,
        law=law,  # type: ignore[arg-type]
    )
