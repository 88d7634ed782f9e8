"""Mechanisms that tell where they ran, are slow by a clock of their own, raise or die; workers import this file."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpcheck.audits import AuditResult, audit, per_run, replace_one
from dpcheck.bounds.language.guarantees import GaussianDP, PureDP


@dataclass(frozen=True)
class Site:
    """A dataset that says where its mechanism left traces."""

    value: float
    folder: Path
    home: int = field(default_factory=os.getpid)

    def visitors(self) -> set[int]:
        return {int(file.name) for file in (self.folder / "pids").iterdir()}


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def mean(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data.mean() + rng.laplace(scale=0.5 / len(data), size=trials)


def coin(data: float) -> float:
    return data + np.random.laplace()  # noqa: NPY002


def traced(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    (data.folder / "pids" / str(os.getpid())).touch()
    return data.value + rng.laplace(size=trials)


class Clock:
    """Time that passes when a mechanism says so: no decision in these tests hangs on the machine's speed."""

    now = 0.0
    used = 0.0

    def perf_counter(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.used


CLOCK = Clock()


def slow(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Ten milliseconds a trial by that clock."""
    CLOCK.now += 0.01 * trials
    return traced(data, rng, trials)


def calling(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Slow to call, however many trials."""
    CLOCK.now += 0.05
    return traced(data, rng, trials)


def threaded(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """As slow, with two cores busy."""
    CLOCK.used += 0.02 * trials
    return slow(data, rng, trials)


def waking(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Slow in its first call only."""
    CLOCK.now += 1.0 if CLOCK.now == 0 else 1e-6 * trials
    return traced(data, rng, trials)


def napping(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    time.sleep(1e-3 * trials)
    return traced(data, rng, trials)


def fatal(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Kills the first worker that makes the tenth call."""
    calls = data.folder / "calls"
    with calls.open("a") as file:
        file.write("x")
    if calls.stat().st_size >= 10:
        try:
            (data.folder / "killed").open("x").close()
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return traced(data, rng, trials)


def deadly(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Survives at home only."""
    if os.getpid() != data.home:
        os.kill(os.getpid(), signal.SIGKILL)
    return slow(data, rng, trials)


def fragile(data: Site, rng: np.random.Generator) -> float:
    """Raises in about one trial of two thousand on the second dataset, until somebody repairs it."""
    value = float(rng.laplace())
    if data.value == 1 and value > 7 and not (data.folder / "repaired").exists():
        raise ZeroDivisionError("pole")
    return data.value + value


@dataclass
class Hidden:
    """A mechanism with randomness of its own."""

    own: np.random.Generator

    def __call__(self, data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
        return slow(data, self.own, trials)


MODES: dict[str, tuple[Any, dict[str, Any]]] = {
    "fixed": (laplace, {"pair": (0.0, 1.5)}),
    "early": (laplace, {"pair": (0.0, 1.5), "stop_early": True}),
    "gaussian": (gaussian, {"pair": (0.0, 1.0), "guarantee": GaussianDP(0.5), "assume": "gdp"}),
    "search": (mean, {"neighbours": replace_one(0, 1, n=3)}),
    "global state": (per_run(coin), {"pair": (0.0, 1.5), "max_trials": 1500}),
}


def run(mechanism: Any, **asked: Any) -> AuditResult:
    return audit(mechanism, **{"guarantee": PureDP(1.0), "max_trials": 6000, "alpha": 1e-6, **asked})


def facts(result: AuditResult) -> tuple[Any, ...]:
    pair = [np.asarray(part, object if isinstance(part, Site) else float).tolist() for part in result.pair]
    said = (result.event.sentence, result.direction, result.method, result.health, pair)
    return result.epsilon_lower, result.counts, result.trials, result.detectable_epsilon, *said
