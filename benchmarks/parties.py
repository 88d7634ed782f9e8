"""What a secure computation costs beside plain averaging by as many processes, and what Dask saves in local training.

Descent: the same parties, gradients and steps. Plainly, each party's process sends its gradient through a pipe to one
that averages; securely, all share, sum and open over loopback (MPyC), with noise in shares. Average: the minimisers,
plainly through the same pipes, securely with noise made of secret bits inside. Times run from when all are connected
to when all have the result, and are the least of some runs; ratios are of one run of this file.
Training: minimisers of many parties in this process, and by Dask's workers, with the same bits.

python -m benchmarks.parties [--runs 3] [--record]; --record writes the table into docs/parties.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection

import numpy as np

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck.datasets import logistic_synthetic
from dpcheck.parties.protocol import Plan, plan_average, plan_descent
from dpcheck.parties.session import Session
from dpcheck.parties.task import Task
from dpcheck.problems.losses import Logistic
from dpcheck.problems.parties import Parties, split_evenly

SHAPES = ((3, 10), (3, 100), (7, 10))  # parties, dimension
EACH, ROUNDS, TRAINED = 500, 50, 200


def parties(count: int, d: int) -> Parties:
    """As many records each, of one synthetic population."""
    return split_evenly(logistic_synthetic(EACH * count, d, 0).problem(Logistic(), l2=0.1), count)


def answer(task: Task, pipe: Connection) -> None:
    """A plain party: numbers for every point that it is sent."""
    pipe.send(None)
    while (theta := pipe.recv()) is not None:
        pipe.send(task.numbers(theta))


def plainly(plan: Plan) -> float:
    """Seconds of the same rounds, in the clear."""
    context = multiprocessing.get_context("spawn")
    ends = [context.Pipe() for _ in plan.tasks]
    workers = [context.Process(target=answer, args=(t, end[1])) for t, end in zip(plan.tasks, ends, strict=True)]
    for worker in workers:
        worker.start()
    for ours, _ in ends:
        ours.recv()
    begin, theta = time.perf_counter(), plan.common.start()
    for _ in range(plan.common.rounds):
        for ours, _ in ends:
            ours.send(theta)
        theta = plan.common.after(theta, sum(ours.recv() for ours, _ in ends) / plan.common.cell)
    taken = time.perf_counter() - begin
    for (ours, _), worker in zip(ends, workers, strict=True):
        ours.send(None)
        worker.join()
    return taken


def securely(plan: Plan) -> float:
    """Seconds of the processes' computation."""
    with Session(plan.tasks) as session:
        session.wait_until(lambda: all(session.connected))
        begin = time.perf_counter()
        session.opened()
        return time.perf_counter() - begin


def row(count: int, d: int, runs: int) -> str:
    data = parties(count, d)
    cells = []
    for plan in (plan_descent(data, dp.ApproxDP(1.0, 1e-5), steps=ROUNDS), plan_average(data, dp.PureDP(1.0))):
        plain, secure = (min(run(plan) for _ in range(runs)) for run in (plainly, securely))
        cells += [f"{1000 * secure / plan.common.rounds:.0f}", f"{secure / plain:.1f}"]
    return f"| {count} | {d} | " + " | ".join(cells) + " |"


def training() -> str:
    """Many parties' minimisers, here and by Dask's workers on this machine."""
    from distributed import Client, LocalCluster

    data = split_evenly(logistic_synthetic(100 * TRAINED, 30, 0).problem(Logistic(), l2=0.01), TRAINED)
    begin = time.perf_counter()
    here = data.minimisers()
    alone = time.perf_counter() - begin
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        data.minimisers(client)  # workers import what they need
        begin = time.perf_counter()
        there = data.minimisers(client)
        spread = time.perf_counter() - begin
    same = "the same bits" if np.array_equal(here, there) else "OTHER BITS"
    what = f"Training {TRAINED} parties of 100 records in d = 30"
    return f"{what}: two Dask workers take {spread / alone:.2f} of the time of this process, with {same}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    head = (
        f"Parties of {EACH} records: milliseconds of one of {ROUNDS} rounds of descent, and how many times as long as "
        "in the clear; the same of one average.\n\n"
        "| parties | d | descent, ms | times plain | average, ms | times plain |\n|---|---|---|---|---|---|"
    )
    rows = []
    for shape in SHAPES:
        rows.append(row(*shape, asked.runs))
        print(rows[-1], flush=True)
    trained = training()
    print(trained)
    if asked.record:
        write_section("parties.md", "what it costs", "\n".join([head, *rows, "", trained]))
    return 0 if "the same bits" in trained else 1


if __name__ == "__main__":
    sys.exit(main())
