"""What an audit costs: against the generation of its samples, in memory, and on two cores.

Run: python -m benchmarks.audit [--trials 10000000]
What audits find is measured by benchmarks/strength.py.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from dpcheck.audits import audit
from dpcheck.audits.trials.executor import LARGEST_CHUNK
from dpcheck.bounds.language.guarantees import PureDP


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def generation(trials: int) -> float:
    """Seconds to draw the samples of both datasets in blocks, and nothing else."""
    rng = np.random.default_rng(0)
    started = time.perf_counter()
    for data in (0.0, 1.0):
        for first in range(0, trials, LARGEST_CHUNK):
            laplace(data, rng, min(LARGEST_CHUNK, trials - first))
    return time.perf_counter() - started


def whole(trials: int) -> float:
    """Seconds of the whole audit, all stages, in this process."""
    started = time.perf_counter()
    audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=trials, executor=1)
    return time.perf_counter() - started


def peak(trials: int) -> float:
    """Peak megabytes allocated by an audit."""
    tracemalloc.start()
    audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=trials)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 2**20


def slow(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A mechanism that works for its output: a sum of many draws."""
    return data + np.array([rng.laplace(size=4000).mean() for _ in range(trials)])


def scaling(trials: int = 20_000) -> tuple[float, float]:
    """How much faster two processes are than one on a slow mechanism: the whole audit, and the bare mechanism.

    The second is what the machine gives while this runs; cores that others use, or that share their units, lower it.
    """
    best = {(what, workers): math.inf for what in ("audit", "bare") for workers in (1, 2)}
    pieces = [trials // 32] * 64
    with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(2) as two:
        for pool in (one, two):
            list(pool.map(time.sleep, [0.5] * 2))  # long enough for each worker to take one
        for _ in range(3):
            for workers, pool in ((1, one), (2, two)):
                started = time.perf_counter()
                audit(slow, pair=(0.0, 0.1), guarantee=PureDP(1.0), max_trials=trials, executor=pool)
                between = time.perf_counter()
                list(pool.map(slow_piece, pieces))
                for what, took in (("audit", between - started), ("bare", time.perf_counter() - between)):
                    best[what, workers] = min(best[what, workers], took)
    return best["audit", 1] / best["audit", 2], best["bare", 1] / best["bare", 2]


def slow_piece(trials: int) -> float:
    """The mechanism and nothing else."""
    return float(slow(0.0, np.random.default_rng(0), trials)[0])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000_000)
    given = parser.parse_args()
    floor = min(generation(given.trials) for _ in range(3))
    cost = min(whole(given.trials) for _ in range(3))
    print(f"generation {floor:.2f} s, whole audit {cost:.2f} s: ratio {cost / floor:.2f} (goal: at most 2)")
    for trials in (given.trials // 10, given.trials):
        print(f"peak memory at {trials:.0e} trials: {peak(trials):.0f} MB")
    ratio, bare = scaling()
    print(f"two processes against one, slow mechanism: {ratio:.2f} times (goal: 1.7; without an audit: {bare:.2f})")


if __name__ == "__main__":
    main()
