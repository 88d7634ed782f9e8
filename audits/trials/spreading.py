"""Independent pieces of work (claims to judge, points to measure) on the executors that audits take.

A piece is a function of its argument alone and runs with one thread of linear algebra, one at a time in a process:
where it runs changes no bit. What a command line calls `processes:4` or `dask:ADDRESS` is opened here.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from threading import RLock
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from dpcheck.audits.trials.executor import said
from dpcheck.audits.trials.workers import Spawn, kind_of
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, MissingDependency

Item = TypeVar("Item")
Result = TypeVar("Result")
Numbered = Iterator[tuple[int, Result]]

NAMED = "processes:N with N >= 1, or dask:ADDRESS of a scheduler"
CONNECTING = 10  # seconds that a scheduler has to answer
_alone = RLock()  # mpmath's precision, sympy's caches and the BLAS's threads belong to the whole process


class PieceLost(DpcheckError, RuntimeError):
    """A worker died. Names the piece of work that was waited for, and the cause."""

    def __init__(self, piece: str, cause: str) -> None:
        super().__init__(piece, cause)
        self.piece, self.cause = piece, cause

    def __str__(self) -> str:
        remedy = "Run it again; fewer workers, or workers with more memory, are lost less easily."
        return f"a worker was lost before {self.piece} came back: {self.cause}. {remedy}"


@dataclass(frozen=True)
class Alone(Generic[Item, Result]):
    """The work on one item, with nothing else of ours beside it in the process."""

    work: Callable[[Item], Result]

    def __call__(self, item: Item) -> Result:
        with _alone, threadpool_limits(1):
            return self.work(item)


def spread(work: Callable[[Item], Result], items: Iterable[Item], executor: Any = 1) -> Numbered[Result]:
    """(place, `work` of the item there) for every item, as they are finished.

    `executor` is what audits take: a number of processes (None and 1: this one), a concurrent.futures executor, a Dask
    client. What a piece raises is raised here; PieceLost says that a worker died. Whoever stops early waits for none.

    >>> sorted(spread(abs, [-3, 2]))
    [(0, 3), (1, 2)]
    """
    kind, pieces, alone = kind_of(executor), list(items), Alone(work)
    if kind == "processes" and executor > 1 and len(pieces) > 1:
        yield from _on_processes(alone, pieces, executor)
    elif kind == "pool":
        yield from _on_pool(alone, pieces, executor)
    elif kind == "cluster":
        yield from _on_cluster(alone, pieces, executor)
    else:
        for place, piece in enumerate(pieces):
            yield place, alone(piece)


def in_order(work: Callable[[Item], Result], items: Iterable[Item], executor: Any = 1) -> list[Result]:
    """All results, in the order of the items."""
    return [result for _, result in sorted(spread(work, items, executor), key=lambda done: done[0])]


def opened(name: str | None) -> AbstractContextManager[Any]:
    """The executor that a command line names, closed with the block: processes:4, dask:tcp://127.0.0.1:8786.

    >>> with opened("processes:2") as executor:
    ...     executor
    2
    """
    if name is None:
        return nullcontext()
    kind, _, rest = name.partition(":")
    if kind == "processes" and rest.isdigit() and int(rest) >= 1:
        return nullcontext(int(rest))
    if kind == "dask" and rest:
        return closing(_client(rest))
    raise InvalidInput("executor", name, NAMED, "For example --executor processes:4.")


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as missing:
        raise MissingDependency("distributed", "running on a Dask cluster", "distributed") from missing
    try:
        return Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        limit = f"the address of a Dask scheduler that answers ({said(error)})"
        raise InvalidInput("executor", f"dask:{address}", limit, "Start one with `dask scheduler`.") from error


# The places ----------------------------------------------------------------------------------------
def _on_processes(alone: Alone[Item, Result], pieces: Sequence[Item], workers: int) -> Numbered[Result]:
    # Forked where that is the custom here: what this process has imported is there at once.
    context = None if multiprocessing.get_start_method() == "fork" else Spawn()
    pool = ProcessPoolExecutor(min(workers, len(pieces)), mp_context=context, initializer=_settle_in)
    try:
        yield from _on_pool(alone, pieces, pool, ours=True)
    except BaseException:  # Ctrl-C, or a caller who stops: nobody waits for the pieces under way
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _settle_in() -> None:
    """A worker leaves Ctrl-C to its parent, and owes nothing to the pieces that its parent had under way."""
    global _alone
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _alone = RLock()


def _on_pool(
    alone: Alone[Item, Result], pieces: Sequence[Item], pool: Executor, ours: bool = False
) -> Numbered[Result]:
    try:
        waiting = {pool.submit(alone, piece): place for place, piece in enumerate(pieces)}
    except BrokenExecutor as error:
        raise PieceLost(str(pieces[0]), said(error)) from error
    try:
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except (BrokenExecutor, CancelledError) as error:
                raise PieceLost(str(pieces[waiting[future]]), said(error)) from error
    finally:
        for future in waiting if not ours else ():  # ours goes as a whole
            future.cancel()


def _on_cluster(alone: Alone[Item, Result], pieces: Sequence[Item], client: Any) -> Numbered[Result]:
    """Each piece is a task of its own: what a dead worker had is run again elsewhere."""
    from distributed import KilledWorker
    from distributed import as_completed as as_they_come

    waiting = {client.submit(alone, piece, pure=False): place for place, piece in enumerate(pieces)}
    try:
        for future in as_they_come(list(waiting)):
            try:
                yield waiting[future], future.result()
            except (KilledWorker, CancelledError) as error:  # died too often, or the scheduler is gone
                raise PieceLost(str(pieces[waiting[future]]), said(error)) from error
    finally:
        client.cancel(list(waiting))
