"""What goes to another process and back: a job as bytes, its chunks, and the errors of the way."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpcheck.audits.trials.executor import Chunk, Job, alike, said
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput

PENDING = 16  # chunks in flight, on a small machine or cluster


class WorkerLost(DpcheckError, RuntimeError):
    """A worker died. Names the dataset and the trials that were waited for, the seed and the cause."""

    def __init__(self, dataset: str, trials: str, seed: int, cause: str) -> None:
        super().__init__(dataset, trials, seed, cause)
        self.dataset, self.trials, self.seed, self.cause = dataset, trials, seed, cause

    def __str__(self) -> str:
        where = f"{self.trials} on the {self.dataset} dataset (seed={self.seed})"
        remedy = "Run it again with checkpoint=FILE to keep what is finished; fewer workers need less memory."
        return f"a worker was lost before {where} came back: {self.cause}. {remedy}"


class NotSendable(InvalidInput):
    """The mechanism, its data or the attack cannot go to another process."""


def packed(job: Job, dumps: Callable[[Any], bytes] = pickle.dumps) -> bytes:
    """The job, for another process."""
    try:
        return dumps(job)
    except Exception as error:
        raise _not_sendable(job.mechanism, error) from error


def unpacked(parcel: bytes) -> Job:
    """The job, in the other process."""
    try:
        job: Job = pickle.loads(parcel)
    except Exception as error:
        raise _not_sendable("unknown in a worker", error) from error
    return job


def _not_sendable(mechanism: Any, error: Exception) -> NotSendable:
    limit = f"loadable in another process, with its data and the attack ({said(error)})"
    remedy = "Define it in a module, not in the script itself or inside a function; or use executor=1."
    return NotSendable("mechanism", mechanism, limit, remedy)


@lru_cache(maxsize=2)  # one for each dataset
def _read(path: str) -> Job:
    return unpacked(Path(path).read_bytes())


def run_file(path: str, chunk: Chunk) -> Any:
    """A chunk of the job in a file: read once by each process, however large the data."""
    return _read(path)(chunk)


def run_job(job: Job, chunk: Chunk) -> Any:
    """A chunk of a job that is there already."""
    return job(chunk)


def refuse_unless_alike(job: Job, first: Any, again: Any) -> None:
    """Copies of a mechanism with randomness of its own may repeat each other: trials that are not independent."""
    if not alike(first, again):
        limit = "a function of its rng, since workers have copies of it (here the same seed gave other outputs)"
        raise InvalidInput("mechanism", job.mechanism, limit, "Draw all randomness from rng, or use executor=1.")
