"""Local randomisers beside pure-ldp and multi-freq-ldpy on the same data, and what a report costs.

Frequencies: k = 64 items, n = 10,000 users, eps = 1, items of Zipf's law, the same users for all. The figure is the
mean over items and runs of the squared error, as estimated and after multi-freq-ldpy's own post-processing (negative
shares to 0, the rest scaled to sum 1), which it always does. Time is the least of a run, clients and server, of that
of the fastest of theirs.
Vectors: a million users of the l2 randomiser in d = 100, against drawing that many normals.
Principal components: users of norm 1 in d = 20, coordinates of random sign with two variances of 0.4 and the rest of
0.2/18, delta = 1e-5, 20,000 of them with eps = 4 and 100,000 with eps = 1. The figure is the mean of ||sin Theta||^2 to
the two axes, 1.8 by chance. What users would pick: each adds the textbook's Gaussian noise to every entry of her outer
product; the mean is symmetrised.

Run in the environment of tools/check-local: python -m benchmarks.local [--runs 100] [--pca-runs 20] [--users 1000000]
--record writes the tables into docs/local.md. The exit code is 1 if an error of ours is above the better of theirs by
more than three standard errors, or a million reports take more than 3 times as long as their normals.
"""

from __future__ import annotations

import argparse
import math
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck import local
from dpcheck.families.outer_products import leading, subspace_distance2
from dpcheck.solvers.local.ldp_pca_gauss import LdpPcaGauss
from dpcheck.solvers.local.ldp_sparse_pca_fps import LdpSparsePcaFps

K, N, EPS = 64, 10_000, 1.0
MOST_TIMES = 3.0
OURS = (local.SubsetSelection, local.UnaryEncoding, local.LocalHashing, local.HadamardResponse)
VARIANCES = np.r_[0.4, 0.4, np.full(18, 0.2 / 18)]
PCA_SIZES = ((20_000, 4.0), (100_000, 1.0))  # users, eps
DELTA = 1e-5
TEXTBOOK = "noisy covariance, textbook noise"
Run = Callable[[np.ndarray, int], np.ndarray]
Shown = tuple[str, bool]  # what is printed, and whether ours is good enough


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

    import numba

    theirs = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{part}")
    seeded = numba.njit(lambda seed: np.random.seed(seed))  # noqa: NPY002  # compiled clients have a state of their own

    def run(items: np.ndarray, seed: int) -> np.ndarray:
        seeded(seed)
        np.random.seed(seed)  # noqa: NPY002
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


def no_worse(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the first mean is at most the second, but for three standard errors."""
    return bool(mine.mean() <= theirs.mean() + 3 * math.hypot(*(e.std() / len(e) ** 0.5 for e in (mine, theirs))))


def frequencies(runs: int) -> Shown:
    """The table; whether our best is no worse than the best of theirs."""
    rows = [(True, f"`{kind.__name__}`", ours(kind)) for kind in OURS] + [(False, *rival) for rival in rivals()]
    found = {name: (own, *measured(run, runs)) for own, name, run in rows}
    fastest = min(seconds for own, _, _, seconds in found.values() if not own)
    lines = [
        paragraph(
            f"Shares of {K} items among {N:,} users, ε = {EPS:g}, {runs} runs on the same users: the mean squared "
            f"error as estimated, and after negative shares are cut, which multi-freq-ldpy always does. A rare item's "
            f"variance is {local.UnaryEncoding(EPS, K).variance(N):.3g} in theory."
        ),
        "| randomiser | error | error as shares | time, of the fastest of theirs |\n|---|---|---|---|",
    ]
    for name, (_, raw, shares, seconds) in found.items():
        error = "-" if name.startswith("multi") else f"{raw.mean():.3g}"
        lines.append(f"| {name} | {error} | {shares.mean():.3g} | {seconds / fastest:.2g} |")
    mine, theirs = (
        min((shares.mean(), name) for name, (own, _, shares, _) in found.items() if own is side)
        for side in (True, False)
    )
    best, other = found[mine[1]][2], found[theirs[1]][2]
    lines.append(f"\n{mine[1]} has {share(best, other)} of the error of {theirs[1]}, the better of theirs.")
    return "\n".join(lines), no_worse(best, other)


def paragraph(text: str) -> str:
    """As pages have it, with an empty line after it."""
    return textwrap.fill(text, 120) + "\n"


def textbook(rows: np.ndarray, eps: float, rng: np.random.Generator) -> np.ndarray:
    """The mean of noisy outer products, symmetrised: noise of √2 √(2 ln(1.25/δ))/ε on each of the d² entries."""
    noise = math.sqrt(2) * math.sqrt(2 * math.log(1.25 / DELTA)) / eps
    total = rows.T @ rows
    for _ in range(len(rows) // 1000):
        total += noise * rng.standard_normal((1000, *total.shape)).sum(axis=0)
    return (total + total.T) / (2 * len(rows))


def subspaces(users: int, eps: float, runs: int) -> dict[str, np.ndarray]:
    """The errors of every protocol, one a run, on the same users."""
    d, k, guarantee = len(VARIANCES), 2, dp.ApproxDP(eps, DELTA, relation=dp.LOCAL)
    solvers = {
        "`LocalPCA` of `dpcheck.estimators`": LdpPcaGauss(k=k, isometric=True),
        "`LocalPCA(sparse=True)`: axes are sparse": LdpSparsePcaFps(k=k, isometric=True),
        "Algorithm 6.1.46, noise certified": LdpPcaGauss(k=k),
    }
    errors: dict[str, list[float]] = {name: [] for name in [*solvers, TEXTBOOK]}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows = rng.choice([-1.0, 1.0], (users, d)) * np.sqrt(VARIANCES)
        bases = {name: one.solution(rows, guarantee, seed).w.reshape(1, k, d) for name, one in solvers.items()}
        bases[TEXTBOOK] = leading(textbook(rows, eps, rng)[None], k).transpose(0, 2, 1)
        for name, basis in bases.items():
            errors[name].append(float(subspace_distance2(basis.transpose(0, 2, 1), np.eye(d)[:, :k])[0]))
    return {name: np.array(values) for name, values in errors.items()}


def components(runs: int) -> Shown:
    """The table of principal components; whether ours are no worse than those of a noisy covariance."""
    d, k = len(VARIANCES), 2
    found = [subspaces(users, eps, runs) for users, eps in PCA_SIZES]
    head = [cell for users, eps in PCA_SIZES for cell in (f"{users:,} users, ε = {eps:g}", "of the textbook's")]
    lines = [
        paragraph(
            f"Two principal components in d = {d}, δ = {DELTA:g}, {runs} runs on the same users: ‖sin Θ‖², "
            f"{k * (1 - k / d):.2g} by chance."
        ),
        f"| protocol | {' | '.join(head)} |\n|---{'|---' * len(head)}|",
    ]
    for name in found[0]:
        cells = [cell for size in found for cell in (f"{size[name].mean():.4f}", share(size[name], size[TEXTBOOK]))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    mine = next(iter(found[0]))
    return "\n".join(lines), all(no_worse(size[mine], size[TEXTBOOK]) for size in found)


def share(mine: np.ndarray, theirs: np.ndarray) -> str:
    """The ratio of two means, with its standard error."""
    ratio = mine.mean() / theirs.mean()
    off, their_off = (e.std(ddof=1) / len(e) ** 0.5 for e in (mine, theirs))
    error = math.hypot(off, ratio * their_off) / theirs.mean()
    return "1" if mine is theirs else f"{ratio:.2f} ± {error:.2f}"


def vectors(count: int, d: int = 100) -> Shown:
    """What reports cost; whether it is at most MOST_TIMES of their normals."""
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
    said = f"Reports of `L2Ball` for {count:,} users in d = {d} take {ratio:.1f} times as long as that many normals."
    return said, bool(ratio <= MOST_TIMES)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="of frequencies")
    parser.add_argument("--pca-runs", type=int, default=20, help="of principal components")
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--record", action="store_true", help="write the tables into docs/local.md")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    shown: list[Shown] = []
    for part, size in ((frequencies, asked.runs), (components, asked.pca_runs), (vectors, asked.users)):
        shown.append(part(size))
        print(shown[-1][0], "\n", flush=True)
    if asked.record:
        write_section("local.md", "beside what users would pick", "\n\n".join(text for text, _ in shown))
    return 0 if all(good for _, good in shown) else 1


if __name__ == "__main__":
    sys.exit(main())
