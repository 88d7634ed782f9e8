"""Where trials run changes no bit: threads, processes, Dask, workers that die; and what is finished is kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from executor_mechanisms import (
    CLOCK,
    MODES,
    Hidden,
    Site,
    calling,
    deadly,
    facts,
    fatal,
    fragile,
    run,
    slow,
    threaded,
    traced,
    waking,
)

from dpcheck.audits import MechanismFailed, per_run
from dpcheck.audits.trials import workers
from dpcheck.audits.trials.workers import WorkerLost, workplace
from dpcheck.bounds.language.errors import InvalidInput


@pytest.fixture
def sites(tmp_path: Path) -> tuple[Site, Site]:
    (tmp_path / "pids").mkdir()
    return Site(0.0, tmp_path), Site(1.0, tmp_path)


@pytest.fixture(scope="module")
def alone() -> dict[str, tuple[Any, ...]]:
    """What one process finds."""
    return {name: facts(run(mechanism, **asked, executor=1)) for name, (mechanism, asked) in MODES.items()}


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, the mechanisms' clock, and leave to have children although xdist may run this."""
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(workers, "time", CLOCK)
    monkeypatch.setattr(CLOCK, "now", 0.0)
    monkeypatch.setattr(CLOCK, "used", 0.0)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


@pytest.mark.parametrize("mode", MODES)
def test_threads_and_processes_give_the_bits_of_one(mode: str, alone: Any, processes: ProcessPoolExecutor) -> None:
    mechanism, asked = MODES[mode]
    assert facts(run(mechanism, **asked, executor=processes)) == alone[mode]
    with ThreadPoolExecutor(3) as threads:
        assert facts(run(mechanism, **asked, executor=threads)) == alone[mode]
    assert facts(run(mechanism, **asked)) == alone[mode]


@pytest.mark.parametrize("mode", MODES)
def test_dask_gives_the_bits_of_one(mode: str, alone: Any, dask: Any) -> None:
    mechanism, asked = MODES[mode]
    assert facts(run(mechanism, **asked, executor=dask)) == alone[mode]


def test_dask_takes_what_only_this_function_knows(dask: Any, sites: tuple[Site, Site]) -> None:
    shift = 0.5
    here = run(lambda data, rng, trials: shift * traced(data, rng, trials), pair=sites, executor=1)
    there = run(lambda data, rng, trials: shift * traced(data, rng, trials), pair=sites, executor=dask)
    assert facts(there) == facts(here)
    assert sites[0].visitors() - {os.getpid()}


def test_a_dask_worker_killed_on_the_way_changes_nothing(dask: Any, sites: tuple[Site, Site]) -> None:
    here = run(traced, pair=sites, executor=1)
    there = run(fatal, pair=sites, executor=dask)
    assert (sites[0].folder / "killed").exists()
    assert facts(there) == facts(here)


def test_our_own_processes_are_replaced_when_they_die(sites: tuple[Site, Site]) -> None:
    here = run(traced, pair=sites, executor=1)
    there = run(fatal, pair=sites, executor=2)
    assert (sites[0].folder / "killed").exists()
    assert facts(there) == facts(here)
    others = sites[0].visitors() - {os.getpid()}
    assert others
    assert not _alive(others)


def test_a_mechanism_that_kills_every_worker_ends_in_an_error(
    sites: tuple[Site, Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "RESTARTS", 0)
    with pytest.raises(WorkerLost, match=r"trials 0 to \d+ on the first dataset \(seed=3\).*checkpoint=FILE"):
        run(deadly, pair=sites, seed=3, executor=2)


def test_a_broken_pool_is_named_and_the_rest_resumes(sites: tuple[Site, Site]) -> None:
    here = run(traced, pair=sites, executor=1)
    file = sites[0].folder / "kept"
    with ProcessPoolExecutor(2) as pool:
        with pytest.raises(WorkerLost, match="checkpoint=FILE"):
            run(fatal, pair=sites, executor=pool, checkpoint=file)
        with pytest.raises(WorkerLost):
            run(traced, pair=sites, executor=pool)
    whole = _calls(sites, lambda: run(fatal, pair=sites, executor=1))
    rest = _calls(sites, lambda: run(fatal, pair=sites, executor=1, checkpoint=file))
    assert rest < whole
    assert facts(run(fatal, pair=sites, executor=1, checkpoint=file)) == facts(here)


def test_slow_mechanisms_get_processes(sites: tuple[Site, Site], undecided: None) -> None:
    here = facts(run(traced, pair=sites, executor=1))
    assert facts(run(slow, pair=sites)) == here
    others = sites[0].visitors() - {os.getpid()}
    assert 1 <= len(others) <= 2
    assert not _alive(others)


CONTENT: dict[str, Any] = {
    "fast": traced,
    "slow in calls, not in trials": calling,
    "slow at first": waking,
    "threads of its own": threaded,
    "defined in a function": lambda data, rng, trials: slow(data, rng, trials),
    "randomness of its own": Hidden(np.random.default_rng(0)),
}


@pytest.mark.parametrize("kind", CONTENT)
def test_what_cannot_gain_stays_in_this_process(kind: str, sites: tuple[Site, Site], undecided: None) -> None:
    run(CONTENT[kind], pair=sites)
    assert sites[0].visitors() == {os.getpid()}


def test_what_only_the_script_defines_stays_in_this_process(
    sites: tuple[Site, Site], undecided: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mine(data: Site, rng: np.random.Generator, trials: int) -> np.ndarray:
        return slow(data, rng, trials)

    mine.__module__, mine.__qualname__ = "__main__", "mine"
    monkeypatch.setattr(sys.modules["__main__"], "mine", mine, raising=False)
    run(mine, pair=sites)
    assert sites[0].visitors() == {os.getpid()}
    with pytest.raises(InvalidInput, match=r"unknown in a worker.*Define it in a module"):
        run(mine, pair=sites, executor=2)


def test_what_may_stop_soon_stays_in_this_process(sites: tuple[Site, Site], undecided: None) -> None:
    far = Site(9.0, sites[0].folder)
    assert run(slow, pair=(sites[0], far), stop_early=True, max_trials=10_000).trials < 400
    assert sites[0].visitors() == {os.getpid()}


def test_where_cores_are_spoken_for_nothing_is_started(
    sites: tuple[Site, Site], undecided: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(run, slow, pair=sites).result()
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    run(slow, pair=sites)
    assert sites[0].visitors() == {os.getpid()}


def test_processes_that_nobody_asked_for_and_that_die_are_done_without(
    sites: tuple[Site, Site], undecided: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "RESTARTS", 0)
    here = facts(run(traced, pair=sites, executor=1))
    assert facts(run(deadly, pair=sites)) == here
    assert sites[0].visitors() == {os.getpid()}


@pytest.mark.parametrize("place", ["one", "threads", "processes", "dask"])
def test_a_raise_is_the_same_everywhere_and_what_was_measured_is_kept(
    place: str, sites: tuple[Site, Site], request: pytest.FixtureRequest
) -> None:
    asked: dict[str, Any] = {"pair": sites, "max_trials": 2000, "seed": 9}
    file, whole = sites[0].folder / "kept", sites[0].folder / "whole"
    with pytest.raises(MechanismFailed) as here:
        run(per_run(fragile), **asked, executor=1)
    with ThreadPoolExecutor(2) as threads:
        pool = {"one": 1, "threads": threads}.get(place) or request.getfixturevalue(place)
        with pytest.raises(MechanismFailed) as there:
            run(per_run(fragile), **asked, executor=pool, checkpoint=file)
        kept = file.stat().st_size
        (sites[0].folder / "repaired").touch()
        rest = run(per_run(fragile), **asked, executor=pool, checkpoint=file)
    assert str(there.value) == str(here.value)
    assert there.value.where == here.value.where
    assert "in fragile" in there.value.where
    text = "".join(traceback.format_exception(there.value))  # as a person sees it: the mechanism's frames, not ours
    assert "in fragile" in text
    assert len(text.splitlines()) <= 20
    assert re.search(r"second dataset in trial \d+ \(seed=9\): ZeroDivisionError: pole", str(here.value))
    assert facts(rest) == facts(run(per_run(fragile), **asked, executor=1, checkpoint=whole))
    # Had the rest been more than the rest, chunks would be there twice.
    assert 0.5 * whole.stat().st_size < kept < file.stat().st_size == whole.stat().st_size


def test_what_cannot_be_sent_is_named(processes: ProcessPoolExecutor) -> None:
    for pool in (2, processes):
        with pytest.raises(InvalidInput, match=r"loadable in another process.*executor=1"):
            run(lambda data, rng, trials: rng.random(trials), pair=(0, 1), executor=pool)


def test_copies_of_a_mechanism_with_randomness_of_its_own_are_refused(
    sites: tuple[Site, Site], processes: ProcessPoolExecutor
) -> None:
    """They would repeat each other, and the bound counts on independent trials."""
    with pytest.raises(InvalidInput, match="a function of its rng"):
        run(Hidden(np.random.default_rng(0)), pair=sites, max_trials=500, executor=processes)


@pytest.mark.parametrize("wrong", [0, -1, True, 2.0, "two", object()])
def test_other_executors_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match=r"executor is .* must be None, a number of processes"):
        workplace(wrong, 100, may_stop=False)


HERE = str(Path(__file__).parent)
SCRIPT = """
import sys
print("started", flush=True)
from dpcheck.audits import audit
from dpcheck.bounds.language.guarantees import PureDP
from executor_mechanisms import Site, napping
from pathlib import Path

def say(done, total, bound):
    print("progress", flush=True)

pair = Site(0.0, Path(sys.argv[1])), Site(3.0, Path(sys.argv[1]))
result = audit(napping, pair=pair, guarantee=PureDP(1.0), max_trials=6000, executor=2, progress=say)
print("stopped" if "stopped by hand" in str(result.health) else "ended", result.counts[2], flush=True)
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_keeps_what_is_known_and_no_worker_outlives_the_audit(stop: int, sites: tuple[Site, Site]) -> None:
    """The script has no `if __name__ == "__main__"` and yet runs once; Ctrl-C reaches its workers, too."""
    file = sites[0].folder / "script.py"
    file.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(file), str(sites[0].folder)],
        env={**os.environ, "TMPDIR": str(sites[0].folder), "PYTHONPATH": os.pathsep.join([HERE, *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert process.stdout.readline() == "progress\n"
    (os.killpg if stop == signal.SIGINT else os.kill)(process.pid, stop)
    out, err = process.communicate(timeout=60)
    assert "started" not in out
    assert "Traceback" not in err
    assert ("stopped" in out) == (stop == signal.SIGINT)
    assert len(sites[0].visitors()) >= 2
    assert not _alive(sites[0].visitors())


def test_the_command_line_takes_a_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpcheck.cli.main import main

    (tmp_path / "stall.py").write_text(
        "import os, pathlib\n"
        "def half(data, rng, trials):\n"
        "    pathlib.Path(f'pid{os.getpid()}').touch()\n"
        "    return data.mean() + rng.laplace(scale=0.5 / len(data), size=trials)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    said = []
    for count in ("1", "2"):
        words = ["audit", "stall:half", "--epsilon", "1", "--replace-one", "0", "1", "--n", "3", "--trials", "4000"]
        assert main([*words, "--json", "--workers", count]) == 1
        said.append({**json.loads(capsys.readouterr().out), "seconds": 0})
        assert len(list(tmp_path.glob("pid*"))) >= int(count)
    assert said[0] == said[1]


def _calls(sites: tuple[Site, Site], what: Callable[[], Any]) -> int:
    """How often the mechanism was called."""
    (sites[0].folder / "calls").write_text("")
    what()
    return (sites[0].folder / "calls").stat().st_size


def _alive(pids: set[int]) -> set[int]:
    """Those still running a while later."""
    for _ in range(50):
        pids = {pid for pid in pids if Path(f"/proc/{pid}").exists() and not _zombie(pid)}
        if not pids:
            break
        time.sleep(0.1)
    return pids


def _zombie(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
