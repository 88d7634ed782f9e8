"""Where trials run: in process, or on any concurrent.futures executor, with the same bits either way.

Trials come in chunks of a fixed size; each chunk has a seed of its own, spawned from the audit's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.journal import Journal
from audits.outputs import FailedRun, Mechanism, checked_outputs
from bounds.errors import DpcheckError, InvalidInput

LARGEST_CHUNK = 2**16
PENDING = 16  # chunks in flight: enough for any small pool, few enough to keep memory flat
SIDES = ("first", "second")


class MechanismFailed(DpcheckError, RuntimeError):
    """The mechanism raised. Names the dataset, the trials, the seed and the cause."""

    def __init__(self, dataset: str, trials: str, seed: int, cause: str) -> None:
        super().__init__(dataset, trials, seed, cause)
        self.dataset, self.trials, self.seed, self.cause = dataset, trials, seed, cause

    def __str__(self) -> str:
        return f"the mechanism raised on the {self.dataset} dataset in {self.trials} (seed={self.seed}): {self.cause}"


@dataclass(frozen=True)
class Chunk:
    """`trials` runs on one dataset: `side` 0 or 1, `index` within its stage."""

    stage: int
    side: int
    index: int
    trials: int
    first: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Its place among all chunks of the audit."""
        return self.stage, self.side, self.index

    def rng(self, seed: int) -> np.random.Generator:
        """The chunk's own stream: a function of the audit's seed and of the chunk's place, nothing else."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=self.key)))


def chunk_size(max_trials: int, width: int = 1) -> int:
    """Trials per chunk: at least 32 chunks for the workers to share, and no chunk over some tens of megabytes."""
    return max(1, min(LARGEST_CHUNK, -(-max_trials // 32), 2**23 // max(1, width)))


def chunks(stage: int, trials: int, size: int, start: int = 0) -> list[Chunk]:
    """The chunks of a stage, both datasets, in the order their results are used."""
    places = range(start, -(-trials // size))
    return [Chunk(stage, side, i, min(size, trials - i * size), i * size) for i in places for side in (0, 1)]


@dataclass(frozen=True)
class Runner:
    """A mechanism, its two datasets, a seed and a place to run."""

    mechanism: Mechanism
    pair: tuple[Any, Any]
    seed: int
    executor: Executor | None = None
    journal: Journal | None = None

    def outputs(self, chunk: Chunk) -> Any:
        """The checked outputs of one chunk, in this process."""
        return run_chunk(self.mechanism, self.pair[chunk.side], self.seed, chunk, None)

    def results(self, work: list[Chunk], reduce: Callable[[Any, Chunk], Any] | None) -> Iterator[tuple[Chunk, Any]]:
        """Each chunk with what `reduce` made of its outputs, always in the order of `work`."""
        for chunk, made in self._pending(work, reduce):
            result = made()
            if self.journal is not None and self.journal.get(chunk.key) is None:
                self.journal.put(chunk.key, result)
            yield chunk, result

    def _pending(
        self, work: list[Chunk], reduce: Callable[[Any, Chunk], Any] | None
    ) -> Iterator[tuple[Chunk, Callable[[], Any]]]:
        """Chunks with a way to get their result, a bounded number of them in flight."""
        ahead: deque[tuple[Chunk, Callable[[], Any]]] = deque()
        futures: deque[Future[Any]] = deque()
        try:
            for chunk in work:
                ahead.append((chunk, self._start(chunk, reduce, futures)))
                if self.executor is None or len(ahead) >= PENDING:
                    yield ahead.popleft()
            while ahead:
                yield ahead.popleft()
        finally:
            for future in futures:
                future.cancel()

    def _start(
        self, chunk: Chunk, reduce: Callable[[Any, Chunk], Any] | None, futures: deque[Future[Any]]
    ) -> Callable[[], Any]:
        known = None if self.journal is None else self.journal.get(chunk.key)
        if known is not None:
            return lambda: known
        call = (self.mechanism, self.pair[chunk.side], self.seed, chunk, reduce)
        if self.executor is None:
            return lambda: run_chunk(*call)
        future = self.executor.submit(run_chunk, *call)
        futures.append(future)
        if len(futures) > 2 * PENDING:
            futures.popleft()
        return future.result


def run_chunk(
    mechanism: Mechanism, data: Any, seed: int, chunk: Chunk, reduce: Callable[[Any, Chunk], Any] | None
) -> Any:
    """One chunk from its own seed; a raise is reported with its place."""
    try:
        raw = mechanism(data, chunk.rng(seed), chunk.trials)
    except FailedRun as error:
        trial = f"trial {chunk.first + error.run}"
        raise MechanismFailed(SIDES[chunk.side], trial, seed, _said(error.cause)) from error.cause
    except InvalidInput:
        raise
    except Exception as error:
        trials = f"trials {chunk.first} to {chunk.first + chunk.trials - 1}"
        raise MechanismFailed(SIDES[chunk.side], trials, seed, _said(error)) from error
    outputs = checked_outputs(raw, chunk.trials)
    return outputs if reduce is None else reduce(outputs, chunk)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
