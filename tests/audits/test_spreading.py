"""Pieces of work have the same bits on every executor, outlive a worker that dies, and say so if they do not."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from spread_pieces import deadly, failing, fatal, precise, summed, where

from dpcheck.audits.trials.spreading import PieceLost, in_order, opened, spread
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency

PIECES = range(6)


@pytest.fixture(scope="module")
def alone() -> list[float]:
    return in_order(summed, PIECES)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_pools_give_the_bits_of_one(kind: type[Executor], alone: list[float]) -> None:
    with kind(2) as pool:  # type: ignore[call-arg]
        assert in_order(summed, PIECES, pool) == alone


def test_processes_and_a_cluster_give_the_bits_of_one(dask: Any, alone: list[float]) -> None:
    assert in_order(summed, PIECES, 2) == alone
    assert in_order(summed, PIECES, dask) == alone
    assert os.getpid() not in in_order(where, PIECES, 2)
    assert os.getpid() not in in_order(where, PIECES, dask)
    assert in_order(where, PIECES, 1) == [os.getpid()] * 6


def test_threads_do_not_disturb_each_other() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert in_order(precise, range(5, 45), threads) == in_order(precise, range(5, 45))


def test_a_worker_of_a_cluster_killed_on_the_way_changes_nothing(dask: Any, alone: list[float], tmp_path: Path) -> None:
    assert in_order(partial(fatal, tmp_path), PIECES, dask) == alone
    assert (tmp_path / "killed").exists()


def test_lost_processes_are_named(tmp_path: Path) -> None:
    with pytest.raises(PieceLost, match=r"a worker was lost before \d came back: BrokenProcessPool.*Run it again"):
        in_order(deadly, PIECES, 2)
    with ProcessPoolExecutor(1) as pool:
        for _ in "ab":  # the second time it is broken from the start
            with pytest.raises(PieceLost):
                in_order(deadly, PIECES, pool)


@pytest.mark.parametrize("executor", [1, 2, "dask"])
def test_what_a_piece_raises_is_raised_here(executor: Any, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("dask") if executor == "dask" else executor
    with pytest.raises(ZeroDivisionError, match="piece"):
        in_order(partial(failing, 3), PIECES, place)


def test_who_stops_early_waits_for_none(dask: Any) -> None:
    for place in (2, dask):
        pieces = spread(summed, range(200), place)
        assert next(pieces)[1] > 0
        pieces.close()  # type: ignore[attr-defined]


# What a command line names --------------------------------------------------------------------------
def test_names_are_opened_and_closed(dask: Any, alone: list[float]) -> None:
    with opened("processes:3") as three, opened(None) as nothing, opened(f"dask:{dask.scheduler.address}") as client:
        assert three == 3
        assert nothing is None
        assert in_order(summed, PIECES, client) == alone
    assert client.status == "closed"
    assert dask.status == "running"


@pytest.mark.parametrize("name", ["", "processes", "processes:0", "processes:two", "dask:", "threads:2", "4"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"executor is .* must be processes:N with N >= 1, or dask:ADDRESS"):
        opened(name)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("dpcheck.audits.trials.spreading.CONNECTING", 0.2)
    with pytest.raises(InvalidInput, match=r"dask:tcp://127\.0\.0\.1:9; it must be .*answers.*`dask scheduler`"):
        opened("dask:tcp://127.0.0.1:9")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingDependency, match=r"pip install 'dpcheck\[distributed\]'"):
        opened("dask:tcp://127.0.0.1:9")
