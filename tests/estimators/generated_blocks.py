"""Data that exist block by block only, made where they are needed; one block may kill its worker, once. Workers import
this file.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Generated:
    """Blocks of `rows` records: labels 0 and 1, rows of normal numbers that lean to one side or the other.

    Where `folder` is given, making block `fatal` for the second time kills the process that does it, once.
    """

    blocks: int
    rows: int
    d: int
    folder: Path | None = None
    fatal: int = 1

    def labels(self, block: int) -> np.ndarray:
        return np.random.default_rng([1, block]).integers(0, 2, self.rows)

    def table(self, block: int) -> np.ndarray:
        rows = np.random.default_rng([2, block]).standard_normal((self.rows, self.d))
        rows[:, 0] += 2.0 * self.labels(block) - 1.0
        self.perhaps_die(block)
        return rows

    def perhaps_die(self, block: int) -> None:
        """On the way, not at the start: in the second pass."""
        if self.folder is None or block != self.fatal:
            return
        for mark in ("first pass", "killed"):
            try:
                (self.folder / mark).touch(exist_ok=False)
            except FileExistsError:
                continue
            if mark == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            return

    def arrays(self) -> tuple[Any, Any]:
        """X and y as Dask arrays; nothing is made yet."""
        import dask.array as da

        seeds = da.arange(self.blocks, chunks=1)
        sizes = ((self.rows,) * self.blocks,)
        X = seeds.map_blocks(lambda b: self.table(int(b[0])), new_axis=1, chunks=(*sizes, (self.d,)), dtype=float)
        return X, seeds.map_blocks(lambda b: self.labels(int(b[0])), chunks=sizes, dtype=int)

    def in_memory(self) -> tuple[np.ndarray, np.ndarray]:
        whole = range(self.blocks)
        return np.concatenate([self.table(b) for b in whole]), np.concatenate([self.labels(b) for b in whole])
