"""One fit of rows that lie in a file, or in the partitions of a Dask array, beside the same fit of rows in memory.

All of them fit the same rows, on one core in this process: the file is mapped to memory, the partitions are cut from it
and read one after the other. Ratios are of the least CPU times of a few rounds in turn; memory is the most that Python
allocates on the way, in sizes of the rows (a mapped file is not among it). The coefficients must agree.

Run: OMP_NUM_THREADS=1 python -m benchmarks.out_of_memory [--size 2e5x100] [--rounds 3] [--partitions 10] [--record]
--record writes the table into docs/estimators.md. The exit code is 1 if a fit takes four times as long as in memory,
or allocates more than half of the rows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.estimators import drawn
from benchmarks.pages import write_section

MOST_TIMES, MOST_MEMORY = 4.0, 0.5  # a partition keeps nothing: it takes norms and labels anew in every pass
TEXT = """\
{n:,} rows of {d} numbers on one core, by `python -m benchmarks.out_of_memory`; the coefficients {agree}:

| rows | CPU time, of that in memory | allocated, of the rows |
|---|---|---|
{rows}
"""


def sources(folder: Path, X: np.ndarray, y: np.ndarray, partitions: int) -> dict[str, tuple[Any, Any]]:
    """The same rows in memory, in files of doubles and of single numbers, and in partitions."""
    import dask.array as da

    np.save(folder / "rows.npy", X)
    np.save(folder / "single.npy", X.astype(np.float32))
    mapped, single = (np.load(folder / name, mmap_mode="r") for name in ("rows.npy", "single.npy"))
    chunk = -(-len(X) // partitions)
    return {
        "in memory": (X, y),
        "in a file": (mapped, y),
        "in a file, float32": (single, y),
        f"in {partitions} Dask partitions": (da.from_array(mapped, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)),
    }


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="2e5x100")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--record", action="store_true", help="write the table into docs/estimators.md")
    given = parser.parse_args()
    import dask

    from dpcheck.estimators import PrivateLogisticRegression

    warnings.simplefilter("ignore")  # seeded on purpose
    n, d = (int(float(x)) for x in given.size.split("x"))
    model = PrivateLogisticRegression(1.0, classes=(0, 1), random_state=0)
    times: dict[str, float] = {}
    held: dict[str, float] = {}
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="sync"):
        every = sources(Path(folder), *drawn(n, d, 2), given.partitions)
        for _ in range(given.rounds):
            for name, (X, y) in every.items():
                started = time.process_time()
                found[name] = model.fit(X, y).coef_
                times[name] = min(times.get(name, np.inf), time.process_time() - started)
        for name, (X, y) in every.items():
            tracemalloc.start()
            model.fit(X, y)
            held[name] = tracemalloc.get_traced_memory()[1] / (8 * n * d)
            tracemalloc.stop()
    base = found["in memory"]
    off = {name: float(np.abs(coef - base).max() / np.abs(base).max()) for name, coef in found.items()}
    ratios = {name: seconds / times["in memory"] for name, seconds in times.items()}
    rows = [f"| {name} | {ratios[name]:.1f} | {held[name]:.2f} |" for name in every]
    agree = max(off[name] for name in every if "float32" not in name)
    text = TEXT.format(n=n, d=d, agree=f"agree to {agree:.0e}" if agree else "are the same bits", rows="\n".join(rows))
    print(text, off)
    if given.record:
        write_section("estimators.md", "one fit of rows that are not in memory", text)
    return int(max(ratios.values()) > MOST_TIMES or max(held.values()) > MOST_MEMORY or agree > 1e-8)


if __name__ == "__main__":
    sys.exit(main())
