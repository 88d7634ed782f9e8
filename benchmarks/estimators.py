"""One fit of PrivateLogisticRegression on large data: time beside scikit-learn's LogisticRegression, memory, accuracy.

Each size has a process of its own, in which both fit the same rows: standard normal ones scaled to norm 1, with
P(y = 1 | x) = 1 / (1 + exp(-2.4 <x, u>)) before scaling, u a unit vector. After one fit of each on a few rows, which
loads what is loaded once, they take turns; the ratio is that of the least times. Memory is the peak while fitting
over what the process held before, the data included, in sizes of the training rows: at most one more is the goal.
Accuracy is that on a tenth as many rows held out.

Run: python -m benchmarks.estimators [--epsilon 1] [--rounds 3] [--sizes 1e4x50 1e5x100 1e6x100] [--classes 2]
--record writes the table into docs/estimators.md. The exit code is 1 if a ratio is over 4 or the memory over the data
again. On a busy machine OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 gives steadier ratios: one core each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import write_section

SIZES = ("1e4x50", "1e5x100", "1e6x100")
MOST_TIMES, MOST_MEMORY = 4.0, 1.0
HEAD = """\
| n x d | steps | time, of its | CPU time, of its | memory beside the data, of them (its) | accuracy (its) |
|---|---|---|---|---|---|"""
TEXT = """\
## Large data

A fit reads the rows where they are, in blocks that stay in cache and once a step: a row is clipped as it is read, and
no copy is made of float64 rows. Where many steps pay, they have momentum: as far in fewer steps, so with less noise in
each. Beside scikit-learn's `LogisticRegression` (its), with epsilon = {epsilon:g} on {threads}, by
`python -m benchmarks.estimators`:

"""


def drawn(n: int, d: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of norm 1 and labels, made in blocks so that nothing but them is held."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((classes if classes > 2 else 1, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    X, y = np.empty((n, d)), np.empty(n, int)
    for first in range(0, n, 10_000):
        rows = X[first : first + 10_000]
        rows[...] = rng.standard_normal(rows.shape)
        scores = 2.4 * rows @ u.T
        if classes == 2:
            y[first : first + len(rows)] = rng.random(len(rows)) < 1 / (1 + np.exp(-scores[:, 0]))
        else:
            y[first : first + len(rows)] = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return X, y


def threads() -> str:
    """What both may use."""
    said = os.environ.get("OMP_NUM_THREADS")
    return f"{said or os.cpu_count()} core{'' if said == '1' else 's'}"


def resident() -> float:
    """Memory that this process holds, in bytes."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
    return 1024.0 * int(line.split()[1])


def peak(run: Callable[[], Any]) -> float:
    """The most that is held while it runs, over what was held before; looked at every 5 ms."""
    before, most, done = resident(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.005):
            most = max(most, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    run()
    done.set()
    watcher.join()
    return max(0.0, most - before)


def measure(n: int, d: int, classes: int, epsilon: float, rounds: int) -> dict[str, Any]:
    """The figures of one size, in this process."""
    from sklearn.linear_model import LogisticRegression

    from dpcheck.estimators import PrivateLogisticRegression

    warnings.simplefilter("ignore")  # scikit-learn's word that its solver stopped early
    X, y = drawn(n + n // 10, d, classes)
    X, y, held_out, labels = X[:n], y[:n], X[n:], y[n:]
    models = {
        "private": PrivateLogisticRegression(epsilon, classes=range(classes), random_state=0),
        "plain": LogisticRegression(),
    }
    for model in models.values():
        model.fit(X[:1000], y[:1000])
    memory = {name: peak(partial(model.fit, X, y)) / X.nbytes for name, model in models.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(rounds):
        for name, model in models.items():
            wall, cpu = time.perf_counter(), time.process_time()
            model.fit(X, y)
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    scores = [
        PrivateLogisticRegression(epsilon, classes=range(classes), random_state=i).fit(X, y).score(held_out, labels)
        for i in range(rounds)
    ]
    least = {name: [min(column) for column in zip(*times[name], strict=True)] for name in models}
    return {
        "times": least["private"][0] / least["plain"][0],
        "cpu_times": least["private"][1] / least["plain"][1],
        "memory": memory["private"],
        "plain_memory": memory["plain"],
        "accuracy": float(np.mean(scores)),
        "plain_accuracy": float(models["plain"].score(held_out, labels)),
        "steps": int(models["private"].n_iter_),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=list(SIZES))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write the table into docs/estimators.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        n, d = (int(float(x)) for x in arguments.one.split("x"))
        print(json.dumps(measure(n, d, arguments.classes, arguments.epsilon, arguments.rounds)))
        return 0
    table, over = [HEAD], False
    print(HEAD)
    for size in arguments.sizes:
        command = [sys.executable, "-m", "benchmarks.estimators", "--one", size, *sys.argv[1:]]
        f = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        cells = (
            size.replace("x", " x "),
            f["steps"],
            f"{f['times']:.1f}",
            f"{f['cpu_times']:.1f}",
            f"{f['memory']:.2f} ({f['plain_memory']:.2f})",
            f"{f['accuracy']:.4f} ({f['plain_accuracy']:.4f})",
        )
        table.append("| " + " | ".join(map(str, cells)) + " |")
        print(table[-1], flush=True)
        over |= f["times"] > MOST_TIMES or f["memory"] > MOST_MEMORY
    if arguments.record:
        text = TEXT.format(epsilon=arguments.epsilon, threads=threads())
        write_section("estimators.md", "one fit on large data", text + "\n".join(table))
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
