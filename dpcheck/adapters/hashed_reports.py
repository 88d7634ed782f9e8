"""Reports of local hashing: a value, and the seed of the user's hash function, without which it looks like noise.

dp.audit(client, attack=likelihood_ratio(HashedReports(g)), ...) reads them as their server does.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class HashedReports:
    """The log density, up to constants, of reports (value, seed) about hashes below `g` of items less `first`."""

    g: int
    first: int = 0

    def __call__(self, outputs: Any, data: Any) -> np.ndarray:
        xxhash = importlib.import_module("xxhash")  # the hash function of both libraries

        item = str(int(data) - self.first)
        rows = np.asarray(outputs).astype(np.int64)
        return np.array([float(xxhash.xxh32(item, seed=int(s)).intdigest() % self.g == value) for value, s in rows])


def numbers_of(sent: Any) -> np.ndarray:
    """A report in one row; of a seed the 32 bits that the hash function reads, as a float would lose these first."""
    sent = list(sent) if isinstance(sent, Iterator) else sent  # pure-ldp sends a zip now and then
    whole = np.hstack([np.ravel(np.asarray(part)) for part in (sent if isinstance(sent, tuple) else (sent,))])
    if np.issubdtype(whole.dtype, np.integer):
        whole = np.where(np.abs(whole) >= 1 << 53, whole & 0xFFFFFFFF, whole)
    return np.asarray(whole, float)
