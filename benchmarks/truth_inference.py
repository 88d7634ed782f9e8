"""Truth inference from private answers: labels by the majority and by Dawid and Skene's iteration, and what they cost.

Users' abilities are uniform on [0.4, 1], truths are fair coins, and every user answers every task: the model of
section 7.1, as no data set of answers is at hand. The figures are shares of wrong labels, means over --runs draws of
the model (20), in one run and on the same answers for all: crowd-kit's OneCoinDawidSkene on the answers themselves, as
users would run it without privacy; private majority and private Dawid and Skene, which get the same private reports.
The ratio is that of the last two, with the standard error of the runs' differences over the majority's mean. Sizes,
abilities and eps were chosen before any run. Time is the least of three: small and large matrices at once
against one by one, and one large one by ours against crowd-kit's, with as many steps.

python -m benchmarks.truth_inference [--runs 20]; --record writes the tables into docs/truth-inference.md. crowd-kit
(the extra "crowd") wants its own environment: it brings transformers. Without it the answers themselves are given to
dpcheck.truth_inference. The exit code is 1 if private Dawid and Skene
are worse than the private majority by more than three standard errors at eps = 2 with 100 users and 2,000 tasks, or a
batch of small matrices takes longer than they do one by one, or one of large ones 1.25 times as long.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from benchmarks.pages import write_section
from dpcheck.bounds.language.guarantees import LOCAL_ATTRIBUTE, PureDP
from dpcheck.families.truth_inference import dawid_skene, drawn_reports, majority, truth_inference

SIZES = ((20, 200), (20, 2000), (100, 200), (100, 2000))  # users, tasks
EPSILONS = (0.5, 1.0, 2.0, 4.0)
STEPS = 20
BATCHES = ((10, 20, 2000), (50, 500, 200))  # users, tasks, matrices
WITH_CROWD_KIT = importlib.util.find_spec("crowdkit") is not None


def crowd(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers 0 and 1, and the truth."""
    rng = np.random.default_rng(seed)
    truth, p = rng.integers(0, 2, m), rng.uniform(0.4, 1.0, n)
    return np.where(rng.random((n, m)) < p[:, None], truth, 1 - truth).astype(float), truth


def theirs(answers: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """Labels by crowd-kit."""
    import pandas
    from crowdkit.aggregation import OneCoinDawidSkene

    users, tasks = np.indices(answers.shape).reshape(2, -1)
    frame = pandas.DataFrame({"worker": users, "task": tasks, "label": answers.ravel().astype(int)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(OneCoinDawidSkene(n_iter=steps, tol=-1.0).fit_predict(frame).sort_index().to_numpy())


def private_errors(answers: np.ndarray, truth: np.ndarray, eps: float, seed: int) -> tuple[float, float]:
    """Of the majority and of Dawid and Skene's iteration, on the same reports."""
    reports = drawn_reports(answers, PureDP(eps, relation=LOCAL_ATTRIBUTE), seed, 1)
    votes = majority(reports)
    _, y = dawid_skene(reports, votes, STEPS, float(special.expit(-eps)))
    return float(np.mean((votes[0] >= 0.5) != truth)), float(np.mean((y[0] >= 0.5) != truth))


def errors(runs: int) -> tuple[str, bool]:
    """The table of errors, and whether the page's advice holds."""
    without = "crowd-kit, no privacy" if WITH_CROWD_KIT else "truth_inference, no privacy"
    head = ["users", "tasks", without, "ε", "private majority", "private Dawid-Skene", "ratio"]
    rows, good = ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head)], True
    for n, m in SIZES:
        drawn = [crowd(n, m, seed) for seed in range(runs)]
        infer = theirs if WITH_CROWD_KIT else lambda X: truth_inference(X).labels
        plain = f"{np.mean([np.mean(infer(X) != y) for X, y in drawn]):.4f}"
        for eps in EPSILONS:
            found = np.array([private_errors(X, y, eps, 1000 + i) for i, (X, y) in enumerate(drawn)])
            vote, ours = found.mean(axis=0)
            gap = np.std(found[:, 1] - found[:, 0], ddof=1) / runs**0.5
            ratio = f"{ours / vote:.2f} ± {gap / vote:.2f}" if vote > 0 else "no errors"
            rows.append(
                "| " + " | ".join([str(n), str(m), plain, f"{eps:g}", f"{vote:.4f}", f"{ours:.4f}", ratio]) + " |"
            )
            if (n, m, eps) == (100, 2000, 2.0):
                good = ours <= vote + 3 * gap
    return "\n".join(rows), bool(good)


def least_time(act: Callable[[], Any]) -> float:
    """Of three runs, in seconds."""
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def times() -> tuple[str, bool]:
    """Batched against one by one, and against crowd-kit."""

    def of(some: np.ndarray) -> None:
        dawid_skene(some, majority(some), STEPS, 0.1)

    shares, parts = [], []
    for n, m, count in BATCHES:
        answers, _ = crowd(n, m, 0)
        reports = drawn_reports(answers, PureDP(1.0, relation=LOCAL_ATTRIBUTE), 0, count)
        together = least_time(lambda some=reports: of(some))  # type: ignore[misc]
        single = least_time(lambda some=reports: [of(some[i : i + 1]) for i in range(len(some))])  # type: ignore[misc]
        shares.append(together / single)
        parts.append(f"{count:,} matrices of {n} users and {m} tasks {shares[-1]:.2f}")
    text = f"Of the time that they take one by one, at once take {' and '.join(parts)}."
    if WITH_CROWD_KIT:
        ratio = least_time(lambda: theirs(answers)) / least_time(lambda: of(reports[:1]))
        text += f" One matrix takes crowd-kit {ratio:,.0f} times as long, which reads it from a table of answers."
    return text, shares[0] <= 1 and shares[1] <= 1.25


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--record", action="store_true", help="write the tables into docs/truth-inference.md")
    args = parser.parse_args()
    table, better = errors(args.runs)
    said, faster = times()
    text = f"{table}\n\n{said}"
    print(text)
    if args.record:
        write_section("truth-inference.md", "errors of labels", text)
    return 0 if better and faster else 1


if __name__ == "__main__":
    sys.exit(main())
