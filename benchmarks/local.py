"""Local randomisers beside pure-ldp and multi-freq-ldpy on the same data, and what a report costs.

Frequencies: k = 64 items, n = 10,000 users, eps = 1, items of Zipf's law, the same users for all. The figure is the
mean over items and runs of the squared error, as estimated and after multi-freq-ldpy's own post-processing (negative
shares to 0, the rest scaled to sum 1), which it always does. Time is that of one run, clients and server.
Vectors: a million users of the l2 randomiser in d = 100, against drawing that many normals.

Run in the environment of tools/check-local: python -m benchmarks.local [--runs 20] [--users 1000000]
The exit code is 1 if our error is above the better of theirs by more than three standard errors, or a million reports
take more than 3 times as long as their normals.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpcheck import local

K, N, EPS = 64, 10_000, 1.0
MOST_TIMES = 3.0
OURS = (local.SubsetSelection, local.UnaryEncoding, local.LocalHashing, local.HadamardResponse)
Run = Callable[[np.ndarray, int], np.ndarray]


def users(seed: int) -> np.ndarray:
    """Items of Zipf's law."""
    shares = 1 / np.arange(1, K + 1)
    return np.random.default_rng(seed).choice(K, N, p=shares / shares.sum())


def ours(kind: type[local.Frequencies]) -> Run:
    one = kind(EPS, K)
    return lambda items, seed: one.aggregate(one.privatize(items, seed))


def of_pure_ldp(name: str, **options: Any) -> Run:
    """Its client and server, one call a user, as its README has it."""
    from pure_ldp import frequency_oracles as theirs

    def run(items: np.ndarray, seed: int) -> np.ndarray:
        np.random.seed(seed)  # noqa: NPY002
        client = getattr(theirs, f"{name}Client")(epsilon=EPS, d=K, index_mapper=int, **options)
        server = getattr(theirs, f"{name}Server")(epsilon=EPS, d=K, index_mapper=int, **options)
        for item in items:
            server.aggregate(client.privatise(item))
        return np.array([server.estimate(i, suppress_warnings=True) for i in range(K)]) / N

    return run


def of_multi_freq(part: str, *, with_k: bool) -> Run:
    """Its client function for each user, its estimator by matrix inversion."""
    import importlib

    theirs = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{part}")

    def run(items: np.ndarray, seed: int) -> np.ndarray:
        reports = [getattr(theirs, f"{part}_Client")(int(item), K, EPS) for item in items]
        size = (K,) if with_k else ()
        return np.asarray(getattr(theirs, f"{part}_Aggregator_MI")(reports, *size, EPS))

    return run


def rivals() -> Iterator[tuple[str, Run]]:
    yield "pure-ldp UE (optimised)", of_pure_ldp("UE", use_oue=True)
    yield "pure-ldp LH (optimised)", of_pure_ldp("LH", use_olh=True)
    yield "multi-freq-ldpy UE", of_multi_freq("UE", with_k=False)
    yield "multi-freq-ldpy SS", of_multi_freq("SS", with_k=True)


def shares_of(found: np.ndarray) -> np.ndarray:
    """multi-freq-ldpy's post-processing."""
    kept = found.clip(0)
    return kept / kept.sum()


def measured(run: Run, runs: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean squared error of each run, as estimated and as shares; and the least seconds of a run."""
    errors, seconds = [], []
    for seed in range(runs):
        items = users(seed)
        truth = np.bincount(items, minlength=K) / N
        started = time.perf_counter()
        found = run(items, seed)
        seconds.append(time.perf_counter() - started)
        errors.append([((found - truth) ** 2).mean(), ((shares_of(found) - truth) ** 2).mean()])
    raw, shares = np.array(errors).T
    return raw, shares, min(seconds)


def frequencies(runs: int) -> bool:
    """Print the table; whether our best is no worse than the best of theirs."""
    print(
        f"k = {K}, n = {N}, eps = {EPS:g}, {runs} runs; UnaryEncoding's variance of a rare item: "
        f"{local.UnaryEncoding(EPS, K).variance(N):.3g}"
    )
    print("| randomiser | error | error as shares | seconds a run |\n|---|---|---|---|")
    best: dict[bool, tuple[float, float, str]] = {}
    rows = [(True, kind.__name__, ours(kind)) for kind in OURS] + [(False, name, run) for name, run in rivals()]
    for own, name, run in rows:
        raw, shares, seconds = measured(run, runs)
        always = name.startswith("multi")
        error = "-" if always else f"{raw.mean():.3g}"
        print(f"| {'ours: ' if own else ''}{name} | {error} | {shares.mean():.3g} | {seconds:.3g} |")
        kept = (float(shares.mean()), float(shares.std() / runs**0.5), name)
        best[own] = min(best.get(own, kept), kept)
    (mine, noise, who), (theirs, their_noise, other) = best[True], best[False]
    print(f"\n{who} / {other}: {mine / theirs:.3f}")
    return mine <= theirs + 3 * float(np.hypot(noise, their_noise))


def vectors(count: int, d: int = 100) -> bool:
    """Print what reports cost; whether it is at most MOST_TIMES of their normals."""
    rng = np.random.default_rng(0)
    one, records = local.L2Ball(EPS, d), np.full((count, d), 0.9 / d**0.5)
    seconds = {"normals": np.inf, "reports": np.inf}
    for _ in range(3):
        for name, work in {
            "normals": lambda: rng.standard_normal((count, d)),
            "reports": lambda: one.privatize(records, rng),
        }.items():
            started = time.process_time()
            work()
            seconds[name] = min(seconds[name], time.process_time() - started)
    ratio = seconds["reports"] / seconds["normals"]
    print(f"{count} users, d = {d}: reports {seconds['reports']:.2f} s, {ratio:.2f} times their normals")
    return bool(ratio <= MOST_TIMES)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--users", type=int, default=1_000_000)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    return 0 if all([vectors(asked.users), frequencies(asked.runs)]) else 1


if __name__ == "__main__":
    sys.exit(main())
