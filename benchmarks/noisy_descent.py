"""What the batched kernel of noisy descent costs: against drawing its noise alone, and against one run at a time.
All times are taken in one process, interleaved, the best of several repetitions; only their ratios mean anything.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.blocks import LARGEST_BLOCK
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.problems.losses import Logistic

N, D, STEPS = 20, 5, 10
FLOOR_GOAL, SPEEDUP_GOAL = 2.5, 40.0


def main() -> None:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--singles", type=int, default=300, help="runs of one trial each, extrapolated")
    parser.add_argument("--repetitions", type=int, default=15)
    chosen = parser.parse_args()
    times = measured(chosen.trials, chosen.singles, chosen.repetitions)
    Console().print(report(times, chosen.trials, chosen.singles))


def measured(trials: int, singles: int, repetitions: int) -> dict[str, float]:
    """Seconds of each contender for `trials` runs, the best of the repetitions."""
    problem = logistic_synthetic(N, D, 0).problem(Logistic())

    def kernel(k: int, seed: int = 0, precision: str = "auto") -> None:
        noisy_descent(
            problem,
            steps=STEPS,
            step_size=0.5,
            noise_std=1.0,
            seed=seed,
            trials=k,
            precision=precision,  # type: ignore[arg-type]
        )

    contenders: dict[str, Callable[[], None]] = {
        "noise alone": lambda: noise_alone(trials),
        "batched": lambda: kernel(trials),
        "batched, double": lambda: kernel(trials, precision="double"),
        "one by one": lambda: one_by_one(kernel, singles),
    }
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(repetitions):
        for name, contender in contenders.items():
            begun = time.perf_counter()
            contender()
            best[name] = min(best[name], time.perf_counter() - begun)
    return {**best, "one by one": best["one by one"] * trials / singles}


def one_by_one(kernel: Callable[[int, int], None], singles: int) -> None:
    """The same function, one trial a call."""
    for seed in range(singles):
        kernel(1, seed)


def noise_alone(trials: int) -> None:
    """The same number of normals, from the same generator, in blocks that stay in cache."""
    rng = np.random.default_rng(0)
    buffer = np.empty((LARGEST_BLOCK, D))
    for first in range(0, trials, LARGEST_BLOCK):
        wanted = min(LARGEST_BLOCK, trials - first)
        for _ in range(STEPS):
            rng.standard_normal(out=buffer[:wanted])


def report(times: dict[str, float], trials: int, singles: int) -> Table:
    """Times and ratios, with the goals."""
    table = Table(title=f"Noisy descent: logistic loss, n={N}, d={D}, {STEPS} steps, {trials:,} trials")
    for column in ("", "seconds", "/ noise alone", "speed-up over one by one"):
        table.add_column(column, justify="left" if not column else "right")
    for name, seconds in times.items():
        floor, gain = seconds / times["noise alone"], times["one by one"] / seconds
        shown = "" if name == "noise alone" else f"{gain:.1f}"
        table.add_row(name, f"{seconds:.4f}", f"{floor:.2f}", shown)
    table.caption = (
        f"Goals for batched: at most {FLOOR_GOAL} and at least {SPEEDUP_GOAL:g}. "
        f"One by one is measured on {singles} runs and extrapolated."
    )
    return table


if __name__ == "__main__":
    main()
