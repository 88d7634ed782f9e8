"""Private sparse regression beside the lasso and orthogonal matching pursuit: support, error and time, in one run.

Rows have entries of ±1, θ* has s entries of ±1/√s, labels have Gaussian noise of deviation 0.3 and are clipped at 3;
eps = 1, delta = 1e-5, the same data for all. Private to records: DP-IGHT (`nonzeros=s`) by its own rules, Frank-Wolfe
and DP-GD over an l1 ball of θ*'s own radius, by the best of six step sizes and numbers of steps, chosen on θ* itself,
and DPSL-KT with as many public rows as records, at most 2,000. One more method is private to labels alone. Without
privacy: scikit-learn's lasso, its penalty 0.3·√(2·log d/n), and OMP with s entries. The figures are the share of θ*'s
support among the s largest weights, and ‖w-θ*‖, which is 1 for w = 0.

Run it: python -m benchmarks.sparse [--runs 5]; --record writes the tables into docs/sparse.md. The exit code is 1 if
DP-IGHT errs more at the middle size than another that is private to records, by more than three standard errors, or if
its fit of 1,000 records in 10,000 dimensions takes longer than OMP's.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import Lasso, OrthogonalMatchingPursuit

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck.estimators import LabelPrivateSparseRegression, PrivateSparseRegression
from dpcheck.problems.losses import Huber
from dpcheck.solvers.sparse.dpsl_kt import DPSLKT, TaughtProblem

EPS, DELTA, NOISE, LARGEST = 1.0, 1e-5, 0.3, 3.0
MIDDLE = (20_000, 500, 5)
SIZES = (
    (5_000, 500, 5),
    MIDDLE,
    (50_000, 500, 5),
    (20_000, 100, 5),
    (20_000, 2_000, 5),
    (20_000, 500, 2),
    (20_000, 500, 20),
)
Array = np.ndarray
Fit = Callable[[Array, Array, int, int], Array]  # X, y, s, seed -> weights, one row a setting that is tried
PRIVATE = (
    "`PrivateSparseRegression(nonzeros=s)`",
    "Frank-Wolfe, best of 6",
    "DP-GD, best of 6",
    "DPSL-KT, certified",
)
TRIED = [{"steps": steps, "step_size": size} for steps in (5, 20) for size in (0.02, 0.1, 0.5)]


def generated(n: int, d: int, s: int, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    truth = np.zeros(d)
    truth[rng.choice(d, s, replace=False)] = rng.choice([-1.0, 1.0], s) / math.sqrt(s)
    X = rng.choice([-1.0, 1.0], (n, d))
    return X, np.clip(X @ truth + NOISE * rng.standard_normal(n), -LARGEST, LARGEST), truth


def dp_ight(X: Array, y: Array, s: int, seed: int) -> Array:
    return by_estimator(X, y, seed, nonzeros=s)


def frank_wolfe(X: Array, y: Array, s: int, seed: int) -> Array:
    settings = [{"solver": "dp_fw_l1", "solver_options": {"entry_bound": 1.0, **tried}} for tried in TRIED]
    return np.array([by_estimator(X, y, seed, radius=math.sqrt(s), **one) for one in settings])


def dp_gd(X: Array, y: Array, s: int, seed: int) -> Array:
    return np.array([by_estimator(X, y, seed, radius=math.sqrt(s), solver_options=tried) for tried in TRIED])


def by_estimator(X: Array, y: Array, seed: int, **settings: object) -> Array:
    public = {"data_norm": math.sqrt(X.shape[1]), "target_bound": LARGEST, "fit_intercept": False}
    return np.asarray(PrivateSparseRegression(EPS, DELTA, **public, random_state=seed, **settings).fit(X, y).coef_)


def dpsl_kt(X: Array, y: Array, s: int, seed: int) -> Array:
    """A regulariser of a record's curvature over the root of n: the teacher's bias against its sensitivity."""
    n, d = X.shape
    public = np.random.default_rng([seed, 1]).choice([-1.0, 1.0], (min(n, 2_000), d))
    settings = {"row_bound": math.sqrt(d), "label_bound": LARGEST, "l2": d / math.sqrt(n), "public": public}
    problem = TaughtProblem(X, y, Huber(LARGEST), **settings)
    return DPSLKT(kept=s, teacher_steps=50).solution(problem, dp.ApproxDP(EPS, DELTA), seed).w[0]


def private_labels(X: Array, y: Array, s: int, seed: int) -> Array:
    model = LabelPrivateSparseRegression(EPS, DELTA, nonzeros=s, target_bound=LARGEST, random_state=seed)
    return np.asarray(model.fit(X, y).coef_)


def lasso(X: Array, y: Array, s: int, seed: int) -> Array:
    n, d = X.shape
    return np.asarray(Lasso(NOISE * math.sqrt(2 * math.log(d) / n), fit_intercept=False).fit(X, y).coef_)


def omp(X: Array, y: Array, s: int, seed: int) -> Array:
    return np.asarray(OrthogonalMatchingPursuit(n_nonzero_coefs=s, fit_intercept=False).fit(X, y).coef_)


METHODS: dict[str, Fit] = {
    **dict(zip(PRIVATE, (dp_ight, frank_wolfe, dp_gd, dpsl_kt), strict=True)),
    "labels alone private": private_labels,
    "lasso, not private": lasso,
    "OMP, not private": omp,
}


def measured(size: tuple[int, int, int], runs: int) -> dict[str, Array]:
    """Share of the support and error of each method, (runs, 2), on the same data; of several settings the best."""
    n, d, s = size
    found: dict[str, list[Array]] = {name: [] for name in METHODS}
    for seed in range(runs):
        X, y, truth = generated(n, d, s, seed)
        for name, fit in METHODS.items():
            w = np.atleast_2d(fit(X, y, s, seed))
            largest = np.argsort(-np.abs(w), axis=1, kind="stable")[:, :s]
            shown = np.mean((truth[largest] != 0) & (np.take_along_axis(w, largest, 1) != 0), axis=1)
            found[name].append(np.column_stack([shown, np.linalg.norm(w - truth, axis=1)]))
    return {name: best(np.array(values)) for name, values in found.items()}


def best(values: Array) -> Array:
    """Of (runs, settings, 2) the setting with the least mean error."""
    return np.asarray(values[:, values[:, :, 1].mean(axis=0).argmin()])


def table(runs: int) -> tuple[str, bool]:
    """By size; and whether DP-IGHT is no worse than other private methods at the middle one."""
    found = {}
    for size in SIZES:
        found[size] = measured(size, runs)
        print(size, {name: values.mean(axis=0).round(3).tolist() for name, values in found[size].items()}, flush=True)
    heads = [f"n = {n:,}, d = {d:,}, s = {s}" for n, d, s in SIZES]
    lines = [f"| method | {' | '.join(heads)} |", "|---" * (len(SIZES) + 1) + "|"]
    for name in METHODS:
        cells = [f"{shown:.2f}, {error:.2f}" for shown, error in (found[size][name].mean(axis=0) for size in SIZES)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    middle = {name: found[MIDDLE][name][:, 1] for name in PRIVATE}
    ours = middle[PRIVATE[0]]
    good = all(
        ours.mean() <= other.mean() + 3 * math.hypot(*(e.std() / math.sqrt(len(e)) for e in (ours, other)))
        for other in middle.values()
    )
    return "\n".join(lines), good


def speed() -> tuple[str, bool]:
    """One fit of 1,000 records in 10,000 dimensions, the least of three; data and bounds are read in it too."""
    X, y, _ = generated(1_000, 10_000, 10, 0)
    taken = {}
    for name in (PRIVATE[0], "lasso, not private", "OMP, not private"):
        seconds = []
        for seed in range(3):
            started = time.perf_counter()
            METHODS[name](X, y, 10, seed)
            seconds.append(time.perf_counter() - started)
        taken[name] = min(seconds)
    ours, theirs, pursuit = taken.values()
    said = (
        f"One fit of 1,000 records in 10,000 dimensions, s = 10, takes `PrivateSparseRegression` {ours:.2g} seconds,\n"
        f"{ours / theirs:.2g} of the lasso's and {ours / pursuit:.2g} of OMP's."
    )
    return said, ours <= pursuit


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--record", action="store_true", help="write the tables into docs/sparse.md")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    quick, fast = speed()
    print(quick, flush=True)
    rows, good = table(asked.runs)
    head = (
        f"ε = {EPS:g}, δ = {DELTA:g}, {asked.runs} runs on the same data: the share of the support found, and ‖w-θ*‖."
    )
    text = f"{head}\n\n{rows}\n\n{quick}"
    print(text)
    if asked.record:
        write_section("sparse.md", "beside other methods", text)
    return 0 if good and fast else 1


if __name__ == "__main__":
    sys.exit(main())
