"""What an audit costs: against the generation of its samples, in memory, and on two cores.

Run: python -m benchmarks.audit [--trials 10000000]         time, memory, scaling
     python -m benchmarks.audit --strength [--seeds 20]     epsilon found, and trials to an early stop
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from scipy import optimize

from audits import audit, queries
from audits.executor import LARGEST_CHUNK
from bounds.guarantees import ApproxDP, GaussianDP, PureDP


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


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def noisy_max(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return (data + rng.laplace(scale=2.0, size=(trials, len(data)))).argmax(axis=1)


def sparse_vector(
    data: np.ndarray, rng: np.random.Generator, trials: int, threshold: float, query: float, stop: int | None
) -> np.ndarray:
    """Which noisy queries reach a noisy threshold; -1 after `stop` of them."""
    above = data + rng.laplace(scale=query, size=(trials, len(data))) >= rng.laplace(scale=threshold, size=(trials, 1))
    return above.astype(np.int8) if stop is None else np.where(_dead(above, stop), -1, above)


def leaky_vector(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """SVT3: as above with stop = 2, and it releases the noisy queries that reached the threshold (infinity: none)."""
    noisy = data + rng.laplace(scale=4.0, size=(trials, len(data)))
    above = noisy >= rng.laplace(scale=2.0, size=(trials, 1))
    dead = _dead(above, 2)
    return np.hstack([np.where(dead, -1, above), np.where(above & ~dead, noisy, np.inf)])


def _dead(above: np.ndarray, stop: int) -> np.ndarray:
    seen = above.cumsum(axis=1)
    return (seen > stop) | ((seen == stop) & ~above)


def svt1(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return sparse_vector(data, rng, trials, 2.0, 8.0, 2)


def svt4(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return sparse_vector(data, rng, trials, 4.0, 4 / 3, 2)


def svt6(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return sparse_vector(data, rng, trials, 2.0, 2.0, None)


MU = float(optimize.brentq(lambda mu: float(GaussianDP(mu).profile(1.0)) - 1e-5, 0.01, 5.0))
QUERIES = (np.zeros(10), np.repeat([1.0, -1.0], 5))
FINE = ApproxDP(1.0, 1e-5)
# Mechanism, what to ask, and the goals at 1e4, 1e5 and 1e6 trials.
GOALS: dict[str, tuple[Any, dict[str, Any], tuple[float | None, ...]]] = {
    "Laplace": (laplace, {"pair": (0.0, 1.0)}, (0.90, 0.975, 0.992)),
    "Gaussian": (gaussian, {"pair": (0.0, MU), "guarantee": FINE}, (0.36, 0.57, 0.74)),
    "Gaussian, gdp": (gaussian, {"pair": (0.0, MU), "guarantee": FINE, "assume": "gdp"}, (0.90, 0.965, 0.99)),
    "noisy max": (noisy_max, {"pair": (np.zeros(5), np.array([1.0, -1, -1, -1, -1]))}, (0.68, 0.75, 0.77)),
    "SVT1": (svt1, {"pair": QUERIES}, (None, 0.60, 0.69)),
    "SVT4": (svt4, {"pair": QUERIES}, (1.6, 2.6, 3.0)),
    "SVT6": (svt6, {"pair": QUERIES}, (1.7, 2.7, 3.5)),
}


def strength(seeds: int) -> None:
    """Median bounds against the goals, trials to an early stop, and the pair that shows SVT3 broken."""
    for name, (mechanism, asked, goals) in GOALS.items():
        for trials, goal in zip((10**4, 10**5, 10**6), goals, strict=True):
            asked = {"guarantee": PureDP(1.0), **asked, "max_trials": trials}
            found = np.median([audit(mechanism, seed=seed, **asked).epsilon_lower for seed in range(seeds)])
            print(f"{name}, {trials:.0e} trials: {found:.3f} (goal {goal})", flush=True)
    for eps, trials, goal in ((2.0, 5000, 150), (1.5, 10_000, 350), (1.1, 40_000, 5000)):
        asked = {"pair": (0.0, eps), "guarantee": PureDP(1.0), "max_trials": trials, "stop_early": True}
        stops = [audit(laplace, seed=seed, **asked).trials for seed in range(2 * seeds)]
        print(f"early stop, true epsilon {eps}: median {np.median(stops):.0f} trials (goal {goal})", flush=True)
    asked = {"neighbours": queries(k=10), "guarantee": PureDP(1.0), "max_trials": 300_000}
    runs = [audit(leaky_vector, seed=seed, **asked) for seed in range(seeds)]
    flagged, middle = sum(run.violated for run in runs), np.median([run.epsilon_lower for run in runs])
    print(f"SVT3 by search: flagged in {flagged} of {seeds}, median epsilon >= {middle:.3f}, one pair {runs[0].pair}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000_000)
    parser.add_argument("--strength", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    if given.strength:
        strength(given.seeds)
        return
    floor = min(generation(given.trials) for _ in range(3))
    cost = min(whole(given.trials) for _ in range(3))
    print(f"generation {floor:.2f} s, whole audit {cost:.2f} s: ratio {cost / floor:.2f} (goal: at most 3)")
    for trials in (given.trials // 10, given.trials):
        print(f"peak memory at {trials:.0e} trials: {peak(trials):.0f} MB")
    ratio, bare = scaling()
    print(f"two processes against one, slow mechanism: {ratio:.2f} times (goal: 1.7; without an audit: {bare:.2f})")


if __name__ == "__main__":
    main()
