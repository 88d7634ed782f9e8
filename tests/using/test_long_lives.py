"""What a long life brings: kill -9, a full disk, a cache that cannot be written, two runs on one cache.

Nothing is lost that was kept, a rerun has the same bits, and no half-written file is left. A full disk is a limit on
the size of files, which the system enforces as it does a full one: every write beyond it fails.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import audit
from dpcheck.audits.trials import journal as journals
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Effort
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.testing import history
from dpcheck.verdicts import verify, written
from dpcheck.verdicts.written import PART, write_whole

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits, signals and locks are the system's")
FEW = ["zhang17.lemma9", "zhang17.lemma9.exact", "zhang17.algorithm1.pure"]
ROOM = 2_000  # bytes
HANGS = 3600  # seconds after which a process is given up: far beyond what a busy machine needs


@contextmanager
def no_room(most: int = ROOM) -> Iterator[None]:
    """Every write beyond so many bytes of a file fails in this process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def parts(folder: Path) -> list[Path]:
    """Files that were being written."""
    return [path for path in folder.rglob("*") if path.is_file() and PART in path.name]


# Files written whole or not at all -----------------------------------------------------------------
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_whole(path, "old")
    with no_room(), pytest.raises(OSError, match="File too large"):
        write_whole(path, "x" * 10 * ROOM)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    """A pipe here; /dev/null and /dev/stdout are alike."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_whole(pipe, "heard\n")
        assert reader.communicate(timeout=30)[0] == "heard\n"
    assert pipe.is_fifo()
    assert not parts(tmp_path)


KILLED = """
import os, signal, sys
from pathlib import Path
from dpcheck.verdicts import written
written.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
written.write_whole(Path(sys.argv[1]), "new")
"""


def test_what_kill_leaves_half_written_the_next_write_removes(tmp_path: Path) -> None:
    path = tmp_path / "[kept].json"  # no pattern
    write_whole(path, "old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(parts(tmp_path)) == 1
    write_whole(path, "newer")
    assert path.read_text() == "newer"
    assert not parts(tmp_path)


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    handle, name = written.own_part(path)
    write_whole(path, "mine")
    assert Path(name).exists()
    os.close(handle)
    write_whole(path, "mine again")
    assert not parts(tmp_path)


# Audits --------------------------------------------------------------------------------------------
def noisy(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


ASKED: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": PureDP(1.0), "max_trials": 8_000, "alpha": 1e-6}


def plain(result: Any) -> dict[str, Any]:
    """The result without the seconds it took and what was said of its checkpoint."""
    return {
        **json.loads(result.to_json()),
        "seconds": 0,
        "health": [said for said in result.health if "checkpoint" not in said],
    }


@pytest.mark.parametrize("most", [ROOM, 30_000])
def test_an_audit_on_a_full_disk_ends_as_it_would_and_is_resumed(most: int, tmp_path: Path) -> None:
    file = tmp_path / "audit.ckpt"
    whole = audit(noisy, **ASKED)
    with no_room(most):
        short = audit(noisy, checkpoint=file, **ASKED)
    assert any("checkpoint not written to the end (File too large)" in said for said in short.health)
    assert plain(short) == plain(whole)
    resumed = audit(noisy, checkpoint=file, **ASKED)
    assert plain(resumed) == plain(whole)
    assert not any("checkpoint" in said for said in resumed.health)
    assert file.stat().st_size > most


def test_a_write_that_fails_halfway_hides_nothing_that_comes_after(tmp_path: Path) -> None:
    journal = journals.Journal(tmp_path / "kept", {})
    journal.put((0, 0, 0), np.arange(3))
    size = journal.path.stat().st_size
    with no_room(size + 20):
        journal.put((0, 0, 1), np.arange(100))
    assert journal.full
    assert journal.path.stat().st_size == size
    journal.close()
    again = journals.Journal(tmp_path / "kept", {})
    again.put((0, 0, 1), np.arange(100))
    again.close()
    assert len(journals.Journal(tmp_path / "kept", {}).known) == 2


@pytest.mark.parametrize("place", ["a file/audit.ckpt", "."])
def test_a_checkpoint_that_cannot_be_is_named(place: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    with pytest.raises(InvalidInput, match="a file that can be read and written"):
        audit(noisy, checkpoint=tmp_path / place, **ASKED)


def test_no_room_for_the_first_line_is_named(tmp_path: Path) -> None:
    with no_room(10), pytest.raises(InvalidInput, match="make room there"):
        audit(noisy, checkpoint=tmp_path / "kept", **ASKED)


# Verdicts ------------------------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def judged() -> dict[str, Any]:
    return {
        j.id: (j.verdict, [(e.check, e.figure, e.seed) for e in j.evidence])
        for j in verify.run(FEW, Effort(), executor=1)
    }


def test_verdicts_on_a_full_disk_are_the_same(cache: Path) -> None:
    with no_room(0):
        without = judged()
    assert not [path for path in cache.rglob("*") if path.is_file()]
    assert judged() == without
    assert {path.stem for path in cache.rglob("zhang17*.json")} == set(FEW)


def test_outcomes_of_mutants_without_a_cache_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcheck.verdicts.mutants import Kept

    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "a file"))
    monkeypatch.setattr(Kept, "content", "content")
    kept = Kept(FEW[0], 0, 1.0)
    kept.write([])
    assert kept.read() is None
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    kept.write([])
    assert kept.read() == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_a_full_standard_output_is_one_sentence() -> None:
    words = ["account", "--noise", "1.1", "--steps", "3", "--delta", "1e-5"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dpcheck.cli.main", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "dpcheck: [Errno 28] No space left on device\n"


VERIFY = [sys.executable, "-m", "dpcheck.cli.main", "verify", *FEW, "--workers", "1", "--quiet", "--json"]


def rows(path: Path) -> Any:
    return without_seconds(path.read_text())


def started(command: list[str], cache: Path) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env={**os.environ, "DPCHECK_CACHE": str(cache)}, **quiet)  # type: ignore[call-overload,no-any-return]


@pytest.mark.slow
def test_two_runs_on_one_cache_say_the_same(tmp_path: Path) -> None:
    shared, alone = tmp_path / "shared", tmp_path / "alone"
    names = [tmp_path / f"{name}.json" for name in "abc"]
    runs = [started([*VERIFY, str(name)], cache) for name, cache in zip(names, (shared, shared, alone), strict=True)]
    assert [run.wait(timeout=HANGS) for run in runs] == [0, 0, 0]
    assert rows(names[0]) == rows(names[1]) == rows(names[2])
    assert not parts(tmp_path)


def until(true: Callable[[], bool], run: subprocess.Popen[bytes]) -> None:
    while not true() and run.poll() is None:
        time.sleep(0.02)


@pytest.mark.slow
def test_killed_verdicts_go_on_with_the_same_bits(tmp_path: Path) -> None:
    cache, names = tmp_path / "cache", [tmp_path / f"{name}.json" for name in "ab"]
    run = started([*VERIFY, str(names[0])], cache)
    until(lambda: bool([*cache.rglob("zhang17*.json")]), run)
    run.kill()
    run.wait()
    kept = {path: path.stat().st_mtime_ns for path in cache.rglob("zhang17*.json")}
    assert kept
    again = [started([*VERIFY, str(name)], where) for name, where in zip(names, (cache, tmp_path / "new"), strict=True)]
    assert [one.wait(timeout=HANGS) for one in again] == [0, 0]
    assert rows(names[0]) == rows(names[1])
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # read, not made again


# Every other command that takes long: killed at any time, the next run says what one that was left alone says.
LONG = {
    "mutants": ["verify", FEW[0], "--mutants", "--quiet", "--workers", "1", "--json", "out.json"],
    "measure": ["measure", "dp_gd", "--over", "n", "50", "100", "--trials", "3", "--workers", "1", "--quiet", "--json"],
}


def ended(command: list[str], folder: Path, cache: Path, seconds: float | None = None) -> str:
    """What it printed, or wrote; killed after so many seconds."""
    program = [sys.executable, "-m", "dpcheck.cli.main", *command]
    folder.mkdir(exist_ok=True)
    surroundings = {**os.environ, "DPCHECK_CACHE": str(cache)}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    run = subprocess.Popen(program, cwd=folder, env=surroundings, **pipes)
    try:
        out, _ = run.communicate(timeout=seconds or HANGS)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        return ""
    return (folder / "out.json").read_text() if (folder / "out.json").exists() else out


@pytest.mark.slow
@pytest.mark.parametrize("mode", LONG)
def test_killed_at_any_time_the_next_run_says_the_same(mode: str, tmp_path: Path) -> None:
    whole = ended(LONG[mode], tmp_path / "left alone", tmp_path / "other cache")
    for seconds in (1.0, 2.5, 4.0):
        ended(LONG[mode], tmp_path / "killed", tmp_path / "cache", seconds)
    again = ended(LONG[mode], tmp_path / "killed", tmp_path / "cache")
    assert without_seconds(again) == without_seconds(whole)
    ended(LONG[mode], tmp_path / "killed", tmp_path / "cache")  # what was being written is swept as it is written again
    assert not parts(tmp_path)


def without_seconds(text: str) -> Any:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items() if "seconds" not in key}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return plain(json.loads(text))


# The record and the ledger -------------------------------------------------------------------------
def test_a_record_on_a_full_disk_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcheck.verdicts import record

    folder = tmp_path / "record"
    shutil.copytree(record.FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setattr(record, "FOLDER", folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    changed = {name: row | {"verdict": "UNCHECKED"} for name, row in record.recorded().items()}
    with no_room(), pytest.raises(OSError, match="File too large"):
        record.write(changed)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def entry(number: int) -> dict[str, Any]:
    return {"claim": f"test {number}", "remembered": {"code": "a", "version": 1, "past": {"long": "x" * ROOM}}}


def test_a_ledger_on_a_full_disk_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    history.write(path, {}, [entry(0)])
    before = path.read_bytes()
    with no_room(), pytest.raises(OSError, match="File too large"):
        history.write(path, history.read(path), [entry(1)])
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


LEDGER = """
import os, signal, sys
from pathlib import Path
from dpcheck.testing import history
from dpcheck.verdicts import written
written.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
history.write(Path(sys.argv[1]), {}, [{"claim": "new", "remembered": {"code": "a", "version": 1, "past": {}}}])
"""


def test_a_ledger_killed_as_it_is_written_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    history.write(path, {}, [entry(0)])
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", LEDGER, str(path)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    history.write(path, history.read(path), [entry(1)])
    assert [*tmp_path.iterdir()] == [path]
    assert len(history.read(path)) == 2
