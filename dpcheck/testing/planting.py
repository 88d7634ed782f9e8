"""Bugs planted on purpose, for tests of the tests: a solver whose noise was tampered with promises what it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dpcheck.audits import audit
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.privacy.release import Released
from dpcheck.solver import Calibrated, Calibration, Mechanism, Solver, WhiteBox

Change = Callable[[Released], Released]


@dataclass(frozen=True)
class Tampered(Mechanism):
    """A solver's mechanism with its calibrated release changed by `change`."""

    change: Change = field(default=lambda released: released)

    def calibrated(self, data: Any) -> Calibrated:
        done = super().calibrated(data)
        return replace(done, released=self.change(done.released))


@dataclass(frozen=True)
class TamperedWhiteBox(Tampered, WhiteBox):
    """The same, seen from inside."""


def flagged(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee, *, trials: int = 20_000, seed: int = 1
) -> bool:
    """Whether an audit calls it a violation, at a false-alarm rate of 1e-6."""
    return audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=1e-6, seed=seed).violated


def with_noise_times(
    factor: float,
    solver: Solver,
    guarantee: Guarantee,
    calibration: Calibration = "certified",
    *,
    transcript: bool = False,
) -> Mechanism:
    """The solver with its noise multiplied: below 1, a bug that an audit must flag."""
    made = TamperedWhiteBox if transcript else Tampered
    return made(solver, guarantee, calibration, lambda released: released.with_noise_times(factor))


def planted(factor: float, solver: Solver) -> Solver:
    """A solver with its noise multiplied, for tools that take a solver; what it says it promises is not true."""

    class Planted(type(solver)):  # type: ignore[misc]
        def calibrated(self, data: Any, guarantee: Guarantee, calibration: Calibration = "certified") -> Calibrated:
            done = super().calibrated(data, guarantee, calibration)
            return replace(done, released=done.released.with_noise_times(factor))

    made: Solver = Planted(**{f.name: getattr(solver, f.name) for f in fields(solver)})
    return made
