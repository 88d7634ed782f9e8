"""Places for an audit's trials: executors and processes of our own. The bits are the same everywhere.

Left to itself an audit starts processes when the mechanism turns out to be slow. They are spawned, never forked
(a fork copies locks that other threads hold), and never run the caller's script again, guarded or not: what
only the script or notebook itself defines therefore stays in this process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec
from itertools import count
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from dpcheck.audits.trials.dask_cluster import Cluster
from dpcheck.audits.trials.executor import SIDES, Chunk, Job, Place, Task, alike, said
from dpcheck.audits.trials.sent_jobs import PENDING, NotSendable, WorkerLost, packed, refuse_unless_alike, run_file
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput

MOST_PROCESSES = 16  # that nobody asked for: each takes a second to start, and a hundred megabytes
SLOW = 8.0  # seconds of work that are worth the second or two of starting processes
SURE = 0.3  # seconds in one call before its pace is believed: short ones mostly pay for being called
BUSY = 1.5  # cores kept busy by a mechanism that has threads of its own
PROBES = 16
RESTARTS = 3  # of our own processes, with no result in between


def workplace(executor: Any, max_trials: int, may_stop: bool) -> Place:
    """The place that `executor` stands for; up to `max_trials` per dataset are to come, all unless they `may_stop`."""
    kind = kind_of(executor)
    if kind == "own choice":
        return Undecided(2 * max_trials, may_stop)
    if kind == "processes":
        return Place() if executor == 1 else Processes(int(executor))
    return Pool(executor) if kind == "pool" else Cluster(executor)


def kind_of(executor: Any) -> Literal["own choice", "processes", "pool", "cluster"]:
    """Which of the executors that are taken everywhere this is; any other is refused."""
    if executor is None:
        return "own choice"
    if isinstance(executor, int | np.integer) and not isinstance(executor, bool) and executor >= 1:
        return "processes"
    if isinstance(executor, Executor):
        return "pool"
    dask = sys.modules.get("distributed")  # whoever has a client has imported it
    if dask is not None and isinstance(executor, dask.Client) and not executor.asynchronous:
        return "cluster"
    limit = "None, a number of processes >= 1, a concurrent.futures executor or a synchronous Dask client"
    raise InvalidInput("executor", executor, limit, "Leave it out: what is slow gets processes by itself.")


def cores() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Executors -----------------------------------------------------------------------------------------
@dataclass(eq=False)
class Call:
    """A chunk in a pool."""

    pool: Pool
    job: Job
    chunk: Chunk
    future: Future[Any] = field(default_factory=Future)

    def result(self) -> Any:
        while True:
            try:
                made = self.future.result()
            except BrokenExecutor as error:
                self.pool.mend(self, error)
            else:
                self.pool.done(self)
                return made

    def finished(self) -> bool:
        return self.future.done() and not self.future.cancelled() and self.future.exception() is None

    def cancel(self) -> None:
        self.future.cancel()

    def lost(self, error: BaseException) -> WorkerLost:
        """What to tell the caller."""
        return WorkerLost(SIDES[self.chunk.side], str(self.chunk), self.job.seed, said(error))


class Pool(Place):
    """Any concurrent.futures executor. It is the caller's: nothing is shut down."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        # Processes of one machine share files, which carry the data once; other executors get it with each chunk.
        self.folder = TemporaryDirectory(prefix="dpcheck-") if isinstance(executor, ProcessPoolExecutor) else None
        self.files: dict[Job, str] = {}
        self.names = count()  # never the same twice: processes remember what they read

    @property
    def copies(self) -> bool:
        return not isinstance(self.executor, ThreadPoolExecutor)

    @property
    def in_flight(self) -> int:
        return max(PENDING, 2 * getattr(self.executor, "_max_workers", 0))

    def start(self, job: Job, chunk: Chunk) -> Task:
        call = Call(self, job, chunk)
        self.submit(call)
        return call

    def submit(self, call: Call) -> None:
        """Hand a chunk over; if that fails, its result says so."""
        words = (call.job, call.chunk) if self.folder is None else (run_file, self._file(call.job), call.chunk)
        try:
            call.future = self.executor.submit(*words)
        except RuntimeError as error:  # broken, or shut down
            call.future = Future()
            call.future.set_exception(BrokenExecutor(str(error)))

    def _file(self, job: Job) -> str:
        assert self.folder is not None
        if job not in self.files:
            path = Path(self.folder.name) / f"{next(self.names)}.job"
            path.write_bytes(packed(job))
            self.files[job] = str(path)
        return self.files[job]

    def mend(self, call: Call, error: BrokenExecutor) -> None:
        """Called for a chunk that was lost; returns if waiting for it again makes sense."""
        raise call.lost(error) from error

    def done(self, call: Call) -> None:
        """Called for a chunk that came back."""

    def compare(self, job: Job, first: Any, again: Any) -> None:
        refuse_unless_alike(job, first, again)

    def forget(self, job: Job) -> None:
        if job in self.files:
            Path(self.files.pop(job)).unlink()

    def close(self) -> None:
        if self.folder is not None:
            self.folder.cleanup()


# Processes of our own ------------------------------------------------------------------------------
class Worker(SpawnProcess):
    """A spawned process that leaves the caller's script alone."""

    starting = threading.Lock()

    def start(self) -> None:
        main = sys.modules["__main__"]
        with self.starting:
            kept = main.__spec__
            # multiprocessing runs a script again in each child, but not the __main__ of a package.
            main.__spec__ = ModuleSpec("dpcheck.__main__", None)
            try:
                super().start()
            finally:
                main.__spec__ = kept


class Spawn(SpawnContext):
    """The context of such processes."""

    Process = Worker


def _settle_in() -> None:
    """Ctrl-C is the parent's affair; and when the parent is killed, its workers go, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class Processes(Pool):
    """Processes of our own: replaced when they die, ended with the audit."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.waited: dict[Call, None] = {}
        self.restarts = 0
        super().__init__(self._fresh())

    def _fresh(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, mp_context=Spawn(), initializer=_settle_in)

    def start(self, job: Job, chunk: Chunk) -> Task:
        call = Call(self, job, chunk)
        self.waited[call] = None
        self.submit(call)
        return call

    def done(self, call: Call) -> None:
        self.waited.pop(call)
        self.restarts = 0

    def mend(self, call: Call, error: BrokenExecutor) -> None:
        """New processes, and all that the old ones left undone: a chunk is the same wherever and whenever it runs."""
        if self.restarts == RESTARTS:
            raise call.lost(error) from error
        self.restarts += 1
        self._end()
        self.executor = self._fresh()
        for each in self.waited:
            if not each.finished():
                self.submit(each)

    def forget(self, job: Job) -> None:
        self.waited = {call: None for call in self.waited if call.job is not job}
        super().forget(job)

    def _end(self) -> None:
        processes = list((getattr(self.executor, "_processes", None) or {}).values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:  # nobody waits for the chunks under way
            process.kill()

    def close(self) -> None:
        self._end()
        super().close()


class Undecided(Place):
    """In this process, until the mechanism proves slow; then on processes of our own, if it can go there."""

    def __init__(self, trials: int, may_stop: bool) -> None:
        self.left, self.done = trials, 0  # both datasets together
        self.may_stop = may_stop
        self.took, self.pace, self.busy = 0.0, 0.0, 0.0  # of the last call: seconds, seconds a trial, cores in use
        self.repeats = False
        self.settled = not _may_start_processes()
        self.crew: Processes | None = None

    @property
    def copies(self) -> bool:
        return self._tempted()

    @property
    def in_flight(self) -> int:
        return 0 if self.crew is None else self.crew.in_flight

    def here(self, job: Job, chunk: Chunk) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        made = job(chunk)
        self.took = max(time.perf_counter() - wall, 1e-9)
        self.pace, self.busy = self.took / chunk.trials, (time.process_time() - cpu) / self.took
        self.left, self.done = self.left - chunk.trials, self.done + chunk.trials
        return made

    def start(self, job: Job, chunk: Chunk) -> Task:
        if self._tempted():
            self._decide(job, chunk)
        if self.crew is not None:
            try:
                return Lent(self, self.crew.start(job, chunk), job, chunk)
            except (NotSendable, OSError):
                self.dismiss()
        return super().start(job, chunk)

    def _tempted(self) -> bool:
        return not self.settled and self._slow()

    def _slow(self) -> bool:
        # What may stop at any time is expected to take as long again as it has taken.
        left = min(self.left, self.done) if self.may_stop else self.left
        return self.pace * left >= SLOW and self.busy < BUSY

    def _decide(self, job: Job, chunk: Chunk) -> None:
        """Start processes if the mechanism can go there, is a function of its rng, and is slow on a closer look."""
        self.settled = True
        bare, probe = replace(job, reduce=None), replace(chunk, trials=min(chunk.trials, PROBES))
        try:
            if b"__main__" in packed(job):
                return
            if not self.repeats:
                self.compare(job, self.here(bare, probe), self.here(bare, probe))
            while self.took < SURE and probe.trials < chunk.trials:
                probe = replace(probe, trials=min(2 * probe.trials, chunk.trials))
                self.here(bare, probe)
            if self.repeats and self._slow():
                self.crew = Processes(min(cores(), MOST_PROCESSES))
        except (DpcheckError, OSError, ImportError, NotImplementedError):
            return  # it cannot be sent, or it raises (and will say so here), or the system has no semaphores

    def compare(self, job: Job, first: Any, again: Any) -> None:
        self.repeats = alike(first, again)
        self.settled = self.settled or not self.repeats

    def skip(self, chunk: Chunk) -> None:
        self.left -= chunk.trials

    def forget(self, job: Job) -> None:
        if self.crew is not None:
            self.crew.forget(job)

    def dismiss(self) -> None:
        """Back to this process, for good."""
        if self.crew is not None:
            self.crew.close()
            self.crew = None

    def close(self) -> None:
        self.dismiss()


@dataclass(frozen=True)
class Lent:
    """A chunk on processes that nobody asked for: if they fail, it runs here."""

    place: Undecided
    task: Task
    job: Job
    chunk: Chunk

    def result(self) -> Any:
        if self.place.crew is not None or self.task.finished():
            try:
                return self.task.result()
            except (NotSendable, WorkerLost, OSError):
                self.place.dismiss()
        return self.place.here(self.job, self.chunk)

    def finished(self) -> bool:
        return self.task.finished()

    def cancel(self) -> None:
        self.task.cancel()


def _may_start_processes() -> bool:
    """Not in a worker of somebody's pool, nor in a thread: there the cores are spoken for."""
    alone = multiprocessing.parent_process() is None and "PYTEST_XDIST_WORKER" not in os.environ
    return alone and threading.current_thread() is threading.main_thread() and cores() > 1
