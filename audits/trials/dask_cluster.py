"""A Dask cluster as a place for an audit's trials."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from dpcheck.audits.trials.executor import SIDES, Chunk, Job, Place, Task, said
from dpcheck.audits.trials.sent_jobs import PENDING, WorkerLost, packed, refuse_unless_alike, run_job, unpacked


class Cluster(Place):
    """A Dask client. Jobs are tasks, too, so what a dead worker held is made again elsewhere."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.held: dict[Job, Any] = {}
        self.threads = 0

    @property
    def copies(self) -> bool:
        return True

    @property
    def in_flight(self) -> int:
        return max(PENDING, 2 * self.threads)

    def start(self, job: Job, chunk: Chunk) -> Task:
        if job not in self.held:
            from cloudpickle import dumps

            self.held[job] = self.client.submit(unpacked, packed(job, dumps), pure=False)
            self.threads = sum(self.client.nthreads().values())  # clusters grow
        return Errand(self.client.submit(run_job, self.held[job], chunk, pure=False), job, chunk)

    def compare(self, job: Job, first: Any, again: Any) -> None:
        refuse_unless_alike(job, first, again)

    def forget(self, job: Job) -> None:
        self.held.pop(job, None)


@dataclass(frozen=True)
class Errand:
    """A chunk on the cluster."""

    future: Any
    job: Job
    chunk: Chunk

    def result(self) -> Any:
        from distributed import KilledWorker

        try:
            return self.future.result()
        except (KilledWorker, CancelledError) as error:  # died too often, or the scheduler is gone
            raise WorkerLost(SIDES[self.chunk.side], str(self.chunk), self.job.seed, said(error)) from error

    def finished(self) -> bool:
        return bool(self.future.status == "finished")

    def cancel(self) -> None:
        self.future.cancel()
