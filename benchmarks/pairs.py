"""What losses of pairs cost, and what they buy: time beside plain gradients, AUC beside a private logistic regression.

Time: one run over n = 2,000 records, which takes n²/2 gradients of pairs (n times the places, with a buffer), against
as many gradients of single records with the same number of parameters, in blocks of n (timed for n²/2 of them), both in
this process; the least of `--turns`. Squared losses take sums of the other class in place of pairs. A step has a price
of its own, which a buffer does not share among many pairs.
AUC: two classes at distance 1.6 in d = 5, a twentieth or half of them positive, eps = 1, delta = 1e-5; on 5,000 fresh
records, the mean over `--runs` and its standard error. Regularisers of solvers for pairs are the best of five.

Run: python -m benchmarks.pairs [--turns 5] [--runs 20] [--record]
--record writes the tables into docs/pairs.md. The exit code is 1 if AUC takes more than 5 times as long as its
plain gradients.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_auc_score

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck.estimators import PrivateLogisticRegression
from dpcheck.families.pairwise import PairProblem, PairSolver, giga, stepped
from dpcheck.families.stream_buffers import rs_x
from dpcheck.problems.losses import Logistic, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.pairwise.pw_giga import PairwiseGIGA
from dpcheck.solvers.pairwise.pw_off_strc import OffPairStrC

N, D, PLACES, MOST = 2_000, 20, 50, 5.0
CLAIMED = dp.ApproxDP(1.0, 1e-5)
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


def records(n: int, d: int, seed: int, positive: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two classes apart along the first axis, clipped to norm 2 and scaled to 1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < positive, 1.0, -1.0)
    X = rng.standard_normal((n, d)) + 0.8 * y[:, None] * np.eye(d)[0]
    return X / np.maximum(2, np.linalg.norm(X, axis=1, keepdims=True)) / (1 + 1e-12), y


def least(run: Callable[[], object], turns: int) -> float:
    """Seconds of the quickest of some turns."""
    taken = []
    for _ in range(turns):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return min(taken)


def plain(width: int, gradients: int, turns: int) -> float:
    """Seconds for so many gradients of a logistic loss, by blocks of n."""
    problem = Problem(*records(N, width, 0), Logistic())
    w = np.zeros((1, width))
    return least(lambda: [problem.gradient(w) for _ in range(gradients // N)], turns)


def buffered(problem: PairProblem) -> None:
    """A run in which each record meets those of the buffer."""
    w = problem.middle[None]
    for t, held in enumerate(rs_x(N, PLACES, np.random.default_rng(0))):
        w = stepped(problem, w, t, held) if t >= PLACES else w


def times(turns: int) -> tuple[str, bool]:
    """A row for each way to take a stream's pairs."""
    auc = PairProblem(*records(N, D, 0), l2=1.0)
    metric = PairProblem(*records(N, 5, 0), l2=1.0, metric=True)
    squared = PairProblem(auc.X, auc.y, Squared(), l2=1.0)
    pairs = N * (N - 1) // 2
    rows = {
        f"AUC, logistic, {D} parameters": (lambda: giga(auc, 10), D, pairs),
        f"AUC, squared, {D} parameters, by sums": (lambda: giga(squared, 10), D, pairs),
        "metric learning, logistic, 25 parameters": (lambda: giga(metric, 10), 25, pairs),
        f"AUC, logistic, a buffer of {PLACES}": (lambda: buffered(auc), D, N * PLACES),
    }
    lines, good = ["| stream of 2,000 records | gradients | time, of as many plain gradients |", "|---|---|---|"], True
    for name, (run, width, gradients) in rows.items():
        each = plain(width, pairs, turns) / pairs  # of a long run: what interrupts it interrupts the other side too
        ratio = least(run, turns) / (each * gradients)
        good &= ratio <= MOST or not name.startswith(f"AUC, logistic, {D}")
        lines.append(f"| {name} | {gradients:,} | {ratio:.2g} |")
    return "\n".join(lines), good


def ranked(solver: PairSolver, positive: float, n: int, runs: int) -> np.ndarray:
    """AUC of the runs with the regulariser that does best."""
    X, y = records(n, 5, 1, positive)
    fresh, labels = records(5_000, 5, 2, positive)
    found = []
    for l2 in STRENGTHS:
        w = solver.solve(PairProblem(X, y, l2=l2), CLAIMED, rng=3, trials=runs).w
        found.append(np.array([roc_auc_score(labels, fresh @ row) for row in w]))
    return max(found, key=np.mean)


def single(positive: float, n: int, runs: int) -> np.ndarray:
    """AUC of a private logistic regression, which knows nothing of pairs."""
    X, y = records(n, 5, 1, positive)
    fresh, labels = records(5_000, 5, 2, positive)
    models = [PrivateLogisticRegression(1.0, 1e-5, classes=(-1, 1), random_state=seed) for seed in range(runs)]
    return np.array([roc_auc_score(labels, model.fit(X, y.astype(int)).decision_function(fresh)) for model in models])


def ranking(runs: int) -> str:
    """A row for each method, a column for each size and share."""
    asked = [(n, positive) for n in (1_000, 8_000) for positive in (0.5, 0.05)]
    lines = ["| AUC | " + " | ".join(f"n = {n:,}, {100 * share:g}% positive" for n, share in asked) + " |"]
    lines.append("|---|" + "---|" * len(asked))
    methods: dict[str, Callable[[float, int], np.ndarray]] = {
        "`OffPairStrC`": lambda share, n: ranked(OffPairStrC(), share, n, runs),
        "`PairwiseGIGA(averaged=True)`": lambda share, n: ranked(PairwiseGIGA(averaged=True), share, n, runs),
        "`PrivateLogisticRegression`": lambda share, n: single(share, n, runs),
    }
    for name, measure in methods.items():
        cells = [measure(share, n) for n, share in asked]
        lines.append(f"| {name} | " + " | ".join(f"{c.mean():.3f} ± {c.std() / runs**0.5:.3f}" for c in cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--record", action="store_true", help="write the tables into docs/pairs.md")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # seeds are what a benchmark is for
    table, good = times(asked.turns)
    auc = ranking(asked.runs)
    print(table, auc, sep="\n\n")
    if asked.record:
        write_section("pairs.md", "what pairs cost", table)
        write_section("pairs.md", "what pairs buy", auc)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
