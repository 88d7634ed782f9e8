"""What noise of the operating system costs a whole fit, beside numpy's generator.

Both fits have the same seed, so that they take as many steps and batches; one then draws its noise from the system.
CPU time, the least of several turns. Run: python -m benchmarks.generators [turns]
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.pages import write_section
from dpcheck.estimators import PrivateLogisticRegression
from dpcheck.kernels import running
from dpcheck.kernels.noisy_answers import NoisyAnswers
from dpcheck.kernels.system_generator import SystemGenerator

TURNS, DEAR = 7, 1.2
SIZES = ((200, 5), (10_000, 50))
SOLVERS = ("dp_gd", "dp_sgd", "dp_svrg", "dp_fw_l2", "dp_lssgd", "dp_srm", "outpert_gd")


def from_system(released: Any, rng: Any, method: Any, buffer: Any) -> NoisyAnswers:
    """The noise of a run, whatever its seed."""
    return NoisyAnswers(released, SystemGenerator(), method, buffer)


def ratio(model: Any, X: np.ndarray, y: np.ndarray, turns: int) -> float:
    """CPU time with the system's noise over that with numpy's."""
    best = dict.fromkeys((NoisyAnswers, from_system), float("inf"))
    for _ in range(turns):
        for noise in best:
            running.NoisyAnswers = noise  # type: ignore[misc, assignment]
            start = time.process_time()
            model.fit(X, y)
            best[noise] = min(best[noise], time.process_time() - start)
    running.NoisyAnswers = NoisyAnswers  # type: ignore[misc]
    return best[from_system] / best[NoisyAnswers]


def main(turns: int = TURNS) -> None:
    """All solvers at all sizes; the exit code is 1 where a fifth or more is added."""
    warnings.simplefilter("ignore")
    rng, rows, dearest = np.random.default_rng(0), [], 0.0
    for name in SOLVERS:
        found = []
        for n, d in SIZES:
            X = rng.standard_normal((n, d))
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            model = PrivateLogisticRegression(solver=name, classes=(0, 1), random_state=0)
            found.append(ratio(model, X, (X[:, 0] > 0).astype(int), turns))
        dearest = max(dearest, *found)
        rows.append(f"| {name} | " + " | ".join(f"{x:.2f}" for x in found) + " |")
        print(rows[-1], flush=True)
    table = "\n".join(rows)
    sizes = " | ".join(f"{n} x {d}" for n, d in SIZES)
    text = f"""
## What the system's generator costs

CPU time of a fit of `PrivateLogisticRegression` with noise of the operating system over that with numpy's PCG64, the
least of {turns} turns, by `python -m benchmarks.generators`: at most {dearest:.2f} times, below the {DEAR:g} at which
numpy's generator would be taken.

| solver | {sizes} |
|---|{"---|" * len(SIZES)}
{table}
"""
    write_section("security.md", "generators", text)
    sys.exit(dearest >= DEAR)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
