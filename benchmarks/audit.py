"""What an audit costs: against the generation of its samples, in memory, and on two cores.

Run: python -m benchmarks.audit [--trials 10000000]
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from audits import audit
from audits.executor import LARGEST_CHUNK
from bounds.guarantees import PureDP


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


def whole(trials: int, workers: int = 0) -> float:
    """Seconds of the whole audit, all stages."""
    started = time.perf_counter()
    if not workers:
        audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=trials)
        return time.perf_counter() - started
    with ProcessPoolExecutor(workers) as pool:
        audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=trials, executor=pool)
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


def scaling(trials: int = 8000) -> float:
    """How much faster two processes are than one, on a slow mechanism."""
    seconds = []
    for workers in (1, 2):
        with ProcessPoolExecutor(workers) as pool:
            pool.submit(int).result()
            started = time.perf_counter()
            audit(slow, pair=(0.0, 0.1), guarantee=PureDP(1.0), max_trials=trials, executor=pool)
            seconds.append(time.perf_counter() - started)
    return seconds[0] / seconds[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000_000)
    given = parser.parse_args()
    floor = min(generation(given.trials) for _ in range(3))
    cost = min(whole(given.trials) for _ in range(3))
    print(f"generation {floor:.2f} s, whole audit {cost:.2f} s: ratio {cost / floor:.2f} (goal: at most 3)")
    for trials in (given.trials // 10, given.trials):
        print(f"peak memory at {trials:.0e} trials: {peak(trials):.0f} MB")
    print(f"two processes against one, slow mechanism: {scaling():.2f} times (goal: 1.7)")


if __name__ == "__main__":
    main()
