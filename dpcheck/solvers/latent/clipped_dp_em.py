"""Private EM for Gaussian mixtures with k components. Claims: bounds/library/latent/clipped_dp_em.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.latent import clipped_dp_em as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.mixtures import HELD, Cells, Mixture, Round, Shape, statistics, width_of
from dpcheck.families.robust_means import must_be_rows
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.settings import count, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, approximate

MOST_CELLS, MOST_ROUNDS, MOST_AXES = 1500, 16, 4
LEAST = 1e-4  # of the first deviation: what deviations of components are kept above


@dataclass(frozen=True)
class Plan:
    """Rounds of each phase, the grid and the length that records are clipped to: from n, d and the guarantee alone."""

    settling: int
    rounds: int
    cells: Cells
    reach: float

    @property
    def steps(self) -> int:
        return self.settling + 1 + self.rounds


@dataclass(frozen=True, eq=False)
class MixtureRounds(Method):
    """Rounds with one component, which find the place and form of all records; a histogram; rounds with k.

    The output has the mean parameters of the later half of the rounds: weights, means, covariances, all of them.
    """

    k: int
    d: int
    shape: Shape
    first: float
    plan: Plan
    deviation: float

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.plan.steps

    @property
    def width(self) -> int:  # type: ignore[override]
        asked = (width_of(1, self.d, "full"), self.plan.cells.count, width_of(self.k, self.d, self.shape))
        return max(asked)

    def start(self, k: int) -> State:
        one = np.broadcast_to(self.first**2 * np.eye(self.d), (k, self.k, self.d, self.d)).copy()
        begin = (np.full((k, self.k), 1 / self.k), np.zeros((k, self.k, self.d)), one)
        ends = np.tile([(LEAST * self.first) ** 2, self.first**2], (k, 1))
        return (*begin, *(np.zeros_like(part) for part in begin), ends)

    def query(self, data: Array, state: State, t: int, drawn: Drawn) -> Array:
        rows, asked = self.held(data), np.zeros((len(state[0]), self.width))
        now, reach = Mixture(*state[:3]), self.plan.reach
        if t < self.plan.settling:
            found = statistics(rows, self.whole(now), reach, "full")
        elif t == self.plan.settling:
            found = self.plan.cells.histogram(rows, self.whole(now))
        else:
            found = statistics(rows, now, reach, self.shape)
        asked[:, : found.shape[1]] = found
        return asked

    def held(self, data: Array) -> Array:
        """Rows farther out than where components can be found are taken for the nearest that is not."""
        rows = np.asarray(data, float)
        far = 100 * self.first
        with np.errstate(over="ignore"):
            lengths = np.abs(rows).max(axis=1)
        return np.asarray(rows * np.minimum(1.0, far / np.maximum(lengths, far))[:, None])

    def whole(self, now: Mixture) -> Mixture:
        """The first component by itself, with all the weight."""
        return Mixture(np.ones((len(now.weights), 1)), now.means[:, :1], now.covariances[:, :1])

    def update(self, state: State, answer: Array, t: int) -> State:
        now, summed, ends = Mixture(*state[:3]), Mixture(*state[3:6]), state[6]
        if t < self.plan.settling:
            step = Round(self.plan.reach, "full", self.deviation)
            limits = [np.full(len(ends), x) for x in ((LEAST * self.first) ** 2, self.first**2)]
            one = step.moved(self.whole(now), answer, *limits, whole=True)
            now = Mixture(now.weights, np.repeat(one.means, self.k, 1), np.repeat(one.covariances, self.k, 1))
        elif t == self.plan.settling:
            values = np.linalg.eigvalsh(now.covariances[:, 0])
            ends = np.column_stack([LEAST * values[:, 0], values[:, -1]])
            shares = answer[:, : self.plan.cells.count]
            now = self.plan.cells.begun(self.whole(now), shares, self.deviation, self.k, self.shape)
        else:
            step = Round(self.plan.reach, self.shape, self.deviation)
            now = step.moved(now, answer, ends[:, 0], ends[:, 1])
            if t >= self.steps - self.averaged:
                summed = summed.plus(now)
        return (*now, *summed, ends)

    @property
    def averaged(self) -> int:
        return max(1, self.plan.rounds // 2)

    def point(self, state: State) -> Array:
        return flattened(Mixture(*state[:3]))

    def output(self, state: State) -> Array:
        return flattened(Mixture(*state[3:6]).scaled(1 / self.averaged))

    def grain(self, scale: float) -> float:
        return scale * min(1.0, (LEAST * self.first) ** 2)

    def block(self, data: Array) -> int:
        held = self.k * self.d * (len(data) + self.d) + 16 * self.k * self.plan.cells.count
        return max(1, min(2048, HELD // held))


def usual_reach(d: int) -> float:
    """ρ² is a deviation of ‖z‖² and 4 above its mean: noise on covariances grows with ρ⁴, clipping takes 2% of them."""
    return math.sqrt(d + math.sqrt(2 * d) + 4)


def flattened(found: Mixture) -> Array:
    """Weights, means and covariances of each trial in one row."""
    return np.concatenate([part.reshape(len(part), -1) for part in found], axis=1)


def unflattened(rows: Array, k: int, d: int) -> Mixture:
    """The mixtures of such rows."""
    weights, means, covariances = np.split(rows, [k, k + k * d], axis=1)
    return Mixture(weights, means.reshape(-1, k, d), covariances.reshape(-1, k, d, d))


@dataclass(frozen=True)
class ClippedDPEM(Solver):
    """A Gaussian mixture of k components, by EM on clipped statistics; see dpcheck/families/mixtures.py.

    `covariances` is "full", "diag" or "spherical". `first` is the deviation that the records are thought to have about
    0 before anything is known: ten times too much costs little, too little more. Records may be of any size. `rounds`
    and `reach`, the clipping in deviations of a component, are by default made of n, d and the guarantee.
    The output is a row of weights, means and covariances (families.mixtures), k (1 + d + d²) numbers.
    """

    k: int = count(2)
    covariances: str = one_of("full", "diag", "spherical")
    first: float = positive(0.5)
    rounds: int | None = count(None)
    reach: float | None = positive(None)
    name: ClassVar[str] = "clipped_dp_em"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        if self.k > len(must_be_rows(data)):
            raise InvalidInput("k", self.k, f"at most n = {len(data)}", "Ask for fewer components.")

    def plan(self, data: Array, guarantee: Guarantee) -> Plan:
        n, d = np.shape(data)
        unit = float(Release(1.0, Gaussian(1.0)).calibrated(guarantee).law.scale)
        clear = n / (unit * math.sqrt(2))  # records over the noise of one release on their sum
        rounds = self.rounds or max(3, min(MOST_ROUNDS, round(math.sqrt(clear / (8 * self.k * math.sqrt(d))))))
        axes = min(d, MOST_AXES, max(2, self.k - 1))
        side = math.floor((clear / math.sqrt(3 + rounds)) ** (1 / axes))
        side = max(3, min(side, math.floor(MOST_CELLS ** (1 / axes))))
        return Plan(2, rounds, Cells(axes, side), self.reach or usual_reach(d))

    def release(self, data: Array, plan: Plan) -> Release:
        return theory.released.at(n=len(data), T=plan.steps)  # privacy: dwang20.section7.2.6.clipped

    def method(self, data: Array, plan: Plan, released: Released) -> MixtureRounds:
        shape: Any = self.covariances
        scale = released.parts[0].law.scale
        return MixtureRounds(self.k, np.shape(data)[1], shape, self.first, plan, float(scale))

    def stated(self, data: Array, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        noise = theory.privacy.evaluate(n=len(data), T=plan.steps, eps=aim.eps, delta=aim.delta)
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: Plan) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[Array, Array]:
        """A record from far out on one side, on all axes, to the other."""
        data = np.full((4, 2), 1e6)
        data[2:] = -1e6
        other = data.copy()
        other[0] = -1e6
        return data, other

    @classmethod
    def example(cls) -> Example:
        # of a record's three parts the second moments point the same way wherever it lies
        return Example(cls(rounds=1), neighbour=another_row, reaches=0.9, bug=0.4)


def another_row(data: Array, rng: np.random.Generator) -> Array:
    """One record lies anywhere else."""
    found = np.array(data)
    found[rng.integers(len(data))] = rng.choice([-1, 1], data.shape[1]) * 10 ** rng.uniform(-3, 9, data.shape[1])
    return found
