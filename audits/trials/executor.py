"""How trials run: in chunks of a fixed size, each with a seed of its own, so that where they run changes no bit.

`Place` runs them in this process; audits/trials/workers.py and audits/trials/dask_cluster.py have the others.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from dpcheck.audits.outputs.encoding import encoding_of
from dpcheck.audits.outputs.returned import FailedRun, Mechanism, PerRun, checked_outputs
from dpcheck.audits.trials.journal import Journal
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput

LARGEST_CHUNK = 2**16
SIDES = ("first", "second")
OURS = str(Path(__file__).parents[2])  # files below are not the user's
MOST_LINES = 12  # of a mechanism's own traceback
GLOBAL_STATE = Lock()  # numpy's and random's global state can serve one run at a time


class MechanismFailed(DpcheckError, RuntimeError):
    """The mechanism raised. Names the dataset, the trials, the seed and the cause, and `where` in its own code."""

    def __init__(self, dataset: str, trials: str, seed: int, cause: str, where: str = "") -> None:
        super().__init__(dataset, trials, seed, cause)
        self.dataset, self.trials, self.seed, self.cause, self.where = dataset, trials, seed, cause, where

    def __str__(self) -> str:
        return f"the mechanism raised on the {self.dataset} dataset in {self.trials} (seed={self.seed}): {self.cause}"

    @classmethod
    def at(cls, chunk: Chunk, trials: str, seed: int, error: Exception) -> MechanismFailed:
        """What was raised, without the frames that led to the mechanism: those are ours."""
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename.startswith(OURS):
            frames = frames.tb_next
        error.__traceback__ = frames or error.__traceback__
        lines = "".join(traceback.format_tb(error.__traceback__)).splitlines()
        cut = lines if len(lines) <= MOST_LINES else ["  ...", *lines[-MOST_LINES:]]
        return cls(SIDES[chunk.side], trials, seed, said(error), "\n".join(cut))

    def alone(self) -> MechanismFailed:
        """Without the auditor's frames, for its callers to raise again; what another process raised is a note."""
        if isinstance(self.__cause__, Exception) and type(self.__cause__).__name__ != "_RemoteTraceback":
            return self.with_traceback(None)
        if self.where and self.where not in getattr(self, "__notes__", ()):
            self.add_note(self.where)
        self.__cause__ = None
        return self.with_traceback(None)


@dataclass(frozen=True)
class Chunk:
    """`trials` runs on one dataset: `side` 0 or 1, `index` within its stage; `twin` chunks share their seed."""

    stage: int
    side: int
    index: int
    trials: int
    first: int
    twin: bool = False

    @property
    def key(self) -> tuple[int, int, int]:
        """Its place among all chunks of the audit."""
        return self.stage, self.side, self.index

    def rng(self, seed: int) -> np.random.Generator:
        """The chunk's own stream: a function of the audit's seed and of the chunk's place, nothing else."""
        place = (self.stage, 0, self.index) if self.twin else self.key
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place)))

    def __str__(self) -> str:
        return f"trials {self.first} to {self.first + self.trials - 1}"


def chunk_size(max_trials: int, width: int = 1) -> int:
    """Trials per chunk: at least 32 chunks for the workers to share, and no chunk over some tens of megabytes."""
    return max(1, min(LARGEST_CHUNK, -(-max_trials // 32), 2**23 // max(1, width)))


def chunks(stage: int, trials: int, size: int, twin: bool = False) -> list[Chunk]:
    """The chunks of a stage, both datasets, in the order their results are used; `twin` ones use the same noise."""
    places = range(-(-trials // size))
    return [Chunk(stage, side, i, min(size, trials - i * size), i * size, twin) for i in places for side in (0, 1)]


Reduce = Callable[[Any, Chunk], Any]


@dataclass(frozen=True, eq=False)
class Job:
    """A mechanism on one dataset, and what to make of its outputs: all that a worker needs except the chunk."""

    mechanism: Mechanism
    data: Any = field(repr=False)
    seed: int
    reduce: Reduce | None = None

    def __call__(self, chunk: Chunk) -> Any:
        """One chunk from its own seed; a raise is reported with its place."""
        try:
            raw = self._raw(chunk)
        except FailedRun as error:
            trial = f"trial {chunk.first + error.run}"
            raise MechanismFailed.at(chunk, trial, self.seed, error.cause) from error.cause
        except InvalidInput:
            raise
        except Exception as error:
            raise MechanismFailed.at(chunk, str(chunk), self.seed, error) from error
        outputs = checked_outputs(raw, chunk.trials)
        return outputs if self.reduce is None else self.reduce(outputs, chunk)

    def _raw(self, chunk: Chunk) -> Any:
        if isinstance(self.mechanism, PerRun) and self.mechanism.global_state:
            with GLOBAL_STATE:
                return self.mechanism(self.data, chunk.rng(self.seed), chunk.trials)
        return self.mechanism(self.data, chunk.rng(self.seed), chunk.trials)


class Task(Protocol):
    """A chunk on its way."""

    def result(self) -> Any:
        """Wait for it; raises what the chunk raised."""

    def finished(self) -> bool:
        """Whether a result is there without waiting."""

    def cancel(self) -> Any:
        """Nobody wants it any more."""


class Place:
    """Where chunks run. This one: here, one after the other."""

    @property
    def copies(self) -> bool:
        """Whether workers have (or may soon have) copies of the mechanism, and of any state it keeps."""
        return False

    @property
    def in_flight(self) -> int:
        """Chunks to start before the first is waited for: enough for the workers, few enough to keep memory flat."""
        return 0

    def here(self, job: Job, chunk: Chunk) -> Any:
        """One chunk in this process."""
        return job(chunk)

    def start(self, job: Job, chunk: Chunk) -> Task:
        """A chunk wherever it belongs."""
        return Later(self, job, chunk)

    def compare(self, job: Job, first: Any, again: Any) -> None:
        """The same chunk twice: copies of a mechanism with randomness of its own would repeat each other."""

    def skip(self, chunk: Chunk) -> None:
        """A chunk whose result is known already."""

    def forget(self, job: Job) -> None:
        """No more chunks of this job will come."""

    def close(self) -> None:
        """Let go of everything."""


@dataclass(frozen=True)
class Later:
    """A chunk that runs in this process when its result is wanted."""

    place: Place
    job: Job
    chunk: Chunk

    def result(self) -> Any:
        return self.place.here(self.job, self.chunk)

    def finished(self) -> bool:
        return False

    def cancel(self) -> None:
        pass


@dataclass(frozen=True)
class KnownChunk:
    """A chunk whose result the checkpoint had."""

    value: Any

    def result(self) -> Any:
        return self.value

    def finished(self) -> bool:
        return False

    def cancel(self) -> None:
        pass


@dataclass(frozen=True)
class Runner:
    """A mechanism, its two datasets, a seed and a place to run."""

    mechanism: Mechanism
    pair: tuple[Any, Any]
    seed: int
    place: Place = field(default_factory=Place)
    journal: Journal | None = None
    spare: dict[Chunk, Any] = field(default_factory=dict, repr=False)
    ran: Callable[[Chunk], None] | None = None  # told of each chunk whose result is in

    def outputs(self, chunk: Chunk) -> Any:
        """The checked outputs of one chunk, always in this process: whoever asks twice sees the mechanism's state."""
        if chunk in self.spare:
            return self.spare.pop(chunk)
        job = Job(self.mechanism, self.pair[chunk.side], self.seed)
        made = self.place.here(job, chunk)
        if self.place.copies:
            self.spare[chunk] = self.place.here(job, chunk)
            self.place.compare(job, made, self.spare[chunk])
        return made

    def results(self, work: list[Chunk], reduce: Reduce | None) -> Iterator[tuple[Chunk, Any]]:
        """Each chunk with what `reduce` made of its outputs, always in the order of `work`."""
        jobs = [Job(self.mechanism, data, self.seed, reduce) for data in self.pair]
        ahead: deque[tuple[Chunk, Task]] = deque()
        try:
            for chunk in work:
                ahead.append((chunk, self._start(jobs[chunk.side], chunk)))
                while len(ahead) > self.place.in_flight:
                    yield self._next(ahead)
            while ahead:
                yield self._next(ahead)
        finally:
            for chunk, task in ahead:
                if task.finished():
                    self._keep(chunk, task.result())
                else:
                    task.cancel()
            for job in jobs:
                self.place.forget(job)

    def _start(self, job: Job, chunk: Chunk) -> Task:
        known = None if self.journal is None else self.journal.get(chunk.key)
        if known is None:
            return self.place.start(job, chunk)
        self.place.skip(chunk)
        return KnownChunk(known)

    def _next(self, ahead: deque[tuple[Chunk, Task]]) -> tuple[Chunk, Any]:
        chunk, task = ahead.popleft()
        result = task.result()
        self._keep(chunk, result)
        if self.ran is not None:
            self.ran(chunk)
        return chunk, result

    def _keep(self, chunk: Chunk, result: Any) -> None:
        if self.journal is not None and self.journal.get(chunk.key) is None:
            self.journal.put(chunk.key, result)


def alike(first: Any, again: Any) -> bool:
    """Whether the same seed gave the same outputs twice."""
    encode = encoding_of(first)
    return np.array_equal(encode(first), encode(again))


def said(error: BaseException) -> str:
    """Its type and text."""
    return f"{type(error).__name__}: {error}"
