"""Plans of a computation by several parties: grid, field, noise, and what each of them sees, as a Release.

plan = plan_average(parties, PureDP(1.0))           # MPC Out P: noise inside, which nobody knows
plan = plan_descent(parties, ApproxDP(1.0, 1e-5))   # MPC Grad P: noise of which each party knows its share
plan.seen_by(curious=1)                             # what a party sees beside its own numbers, to be audited
plan.run()                                          # as processes, over loopback
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.parties.noise import FARTHEST, LARGEST_DEVIATION, InsideNoise, SharedNoise
from dpcheck.parties.session import LEAST, PATIENCE, Session
from dpcheck.parties.task import Common, Task
from dpcheck.problems.parties import Parties
from dpcheck.solvers.distributed.mpc_grad_p import MPCGradP
from dpcheck.solvers.distributed.mpc_out_p import MPCOutP

CELLS = 1 << 12  # in how far a record moves a coordinate of the average
HELD_BACK = 2.0**-20  # of epsilon (or of the noise), for coins and draws on a grid in place of the formulas' own
MOST = FARTHEST / 4  # epsilon: a record shifts the noise by no more than a quarter of its range
CHUNKS = {InsideNoise: 64, SharedNoise: 4096}  # trials of an audit at once: noise that is made of bits needs many


@dataclass(frozen=True)
class Learned:
    """What a computation released: the model, the sums that were opened, and the promise against `curious` parties."""

    w: Array
    guarantee: Guarantee
    curious: int
    opened: tuple[tuple[int, ...], ...]
    rests_on: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """A computation before it is run. `released` is what everybody sees, with all its noise."""

    data: Parties
    common: Common
    released: Release
    guarantee: Guarantee
    curious: int
    rests_on: tuple[str, ...]

    @property
    def tasks(self) -> list[Task]:
        """One a party."""
        return [Task(self.common, problem) for problem in self.data.parties]

    def seen_by(self, curious: int = 1) -> Release:
        """What so many parties, who pool what they know, see of the others' records: less noise, where they drew some.

        More than `threshold` of them could put the shares of the others together: that is refused, not accounted.
        """
        must_be_few(curious, self.data.count)
        if isinstance(self.common.noise, InsideNoise):
            return self.released
        return self.released.with_noise_times(math.sqrt(1 - curious / self.data.count))

    def run(self, patience: float = PATIENCE) -> Learned:
        """The computation by processes that talk over loopback; PartyStopped if one of them ends early."""
        with Session(self.tasks, patience) as session:
            opened = session.opened()
        theta = self.common.start()
        for row in opened:
            theta = self.common.after(theta, np.array(row, float))
        return Learned(theta, self.guarantee, self.curious, tuple(map(tuple, opened)), self.rests_on)

    def view(self, curious: int = 1) -> Callable[[Parties, np.random.Generator, int], Array]:
        """(data, rng, trials) -> (trials, rounds, d): what the last `curious` parties see, for an audit.

        The same numbers and draws as the processes have, without their sockets: sums less the noise that they know.
        """
        self.seen_by(curious)  # refuses what nothing is promised of

        def seen(data: Parties, rng: np.random.Generator, trials: int) -> Array:
            tasks = [Task(self.common, problem) for problem in data.parties]
            size = CHUNKS[type(self.common.noise)]
            cuts = range(0, trials, size)
            return np.concatenate([self._seen(tasks, rng, min(size, trials - first), curious) for first in cuts])

        return seen

    def _seen(self, tasks: list[Task], rng: np.random.Generator, trials: int, curious: int) -> Array:
        common, noise = self.common, self.common.noise
        theta, sums = np.tile(common.start(), (trials, 1)), []
        for _ in range(common.rounds):
            exact = sum(task.whole(theta) for task in tasks)
            if isinstance(noise, InsideNoise):
                bits = rng.integers(0, 2, trials * common.d * noise.bits)
                unknown, known = noise.made_of(bits, trials * common.d).reshape(trials, common.d), 0
            else:
                draws = noise.draw(rng, (len(tasks), trials, common.d))
                honest = len(tasks) - curious
                unknown, known = draws[:honest].sum(axis=0), draws[honest:].sum(axis=0)
            sums.append((exact + unknown) * common.cell)
            theta = common.after(theta, exact + unknown + known)
        return np.stack(sums, axis=1)


def plan_average(data: Parties, guarantee: PureDP) -> Plan:
    """MPC Out P. What is promised has a delta, of 1e-13 or so a coordinate: digits of the noise end somewhere."""
    solver = MPCOutP()
    must_be_enough(data)
    solver.must_suit(data, guarantee, "certified")
    exact = solver.unrounded(data)
    moves = float(exact.sensitivity) / math.sqrt(data.d)
    cell = power_of_two(moves / CELLS)
    release = replace(exact, sensitivity=exact.sensitivity + ROUNDED * data.d * cell)
    released = release.calibrated(PureDP(guarantee.eps * (1 - HELD_BACK)))
    scale = float(released.law.scale) / cell
    least = data.d * InsideNoise(min(max(1.0, scale), 2.0**39)).rounding / HELD_BACK
    if not least <= guarantee.eps <= MOST:
        allowed = f"from {least:.3g} to {MOST:g}, for which coins of so many digits are made"
        raise InvalidInput("epsilon", guarantee.eps, allowed, "Choose another, or average in the clear.")
    noise = InsideNoise(scale)
    limit = math.ceil(data.data_lipschitz / (data.l2 * data.count * cell)) + 1
    common = Common(data.count, data.d, data.l2, cell, limit, noise)
    promised = ApproxDP(guarantee.eps, noise.delta(data.d))
    rests_on = ("lwang21.theorem6.3.1.coordinates", *trusted(data))
    return Plan(data, common, released, promised, threshold(data.count), rests_on)


def plan_descent(
    data: Parties, guarantee: ApproxDP, *, steps: int | None = None, eta: float | None = None,
    curious: int | None = None,
) -> Plan:  # fmt: skip
    """MPC Grad P, private against `curious` parties who pool what they know: by default as many as sharing allows.

    Every party draws noise of which the honest ones' is enough: sqrt(m/(m - curious)) times as much in all.
    """
    solver = MPCGradP(steps=steps, step_size=eta)
    must_be_enough(data)
    solver.must_suit(data, guarantee, "certified")
    curious = threshold(data.count) if curious is None else curious
    must_be_few(curious, data.count)
    rounds = solver.plan(data, guarantee)
    exact = solver.release(data, rounds)
    honest = math.sqrt(data.count - curious)
    first = float(exact.calibrated(guarantee).law.scale)
    cell = power_of_two(first / honest / LARGEST_DEVIATION) * 2
    release = replace(exact, sensitivity=exact.sensitivity + ROUNDED * math.sqrt(data.d) * cell)
    wanted = float(release.calibrated(guarantee).law.scale) * (1 + HELD_BACK)
    noise = SharedNoise(math.ceil((wanted / honest / cell) ** 2))
    limit = math.ceil(data.data_lipschitz / (data.count * cell)) + 1
    common = Common(data.count, data.d, data.l2, cell, limit, noise, rounds, eta or 1 / data.smoothness)
    released = release.with_noise(cell * math.sqrt(data.count * noise.variance))
    rests_on = ("lwang21.section6.1.shares", *trusted(data))
    return Plan(data, common, released, guarantee, curious, rests_on)


def average(data: Parties, guarantee: PureDP, *, patience: float = PATIENCE) -> Learned:
    """MPC Out P by processes: the average of the parties' minimisers, with noise that nobody knows."""
    return plan_average(data, guarantee).run(patience)


def descend(
    data: Parties, guarantee: ApproxDP, *, steps: int | None = None, eta: float | None = None,
    curious: int | None = None, patience: float = PATIENCE,
) -> Learned:  # fmt: skip
    """MPC Grad P by processes: gradient descent on sums of gradients, with noise of which each party knows a share."""
    return plan_descent(data, guarantee, steps=steps, eta=eta, curious=curious).run(patience)


def threshold(count: int) -> int:
    """How many of the parties may pool their shares and learn nothing: less than half of them."""
    return (count - 1) // 2


def must_be_few(curious: int, count: int) -> None:
    """Refuse to promise anything against half of the parties."""
    if not 0 <= curious <= threshold(count):
        limit = f"from 0 to {threshold(count)}, less than half of {count} parties"
        raise InvalidInput("curious", curious, limit, "More of them can put the others' shares together.")


def trusted(data: Parties) -> tuple[str, ...]:
    """What the computation takes on trust, and nothing here decides."""
    return (
        "assumed: parties follow the protocol, and give in what their records say",
        f"assumed: no more than {threshold(data.count)} of {data.count} parties pool what they see",
    )


def must_be_enough(data: Parties) -> None:
    """Refuse two parties, of whom either has the other's number by subtraction, or by its share."""
    if isinstance(data, Parties) and data.count < LEAST:
        raise InvalidInput("parties", data.count, f"at least {LEAST}", "A share of one of two is the number itself.")


def power_of_two(number: float) -> float:
    """The largest that does not exceed it."""
    return math.ldexp(1.0, math.frexp(number)[1] - 1)
