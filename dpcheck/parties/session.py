"""A computation of several processes on this machine, one a party: started, watched, and ended together.

Here one process plays all owners, as tests and benchmarks need it: each party gets its records through a pipe of its
own, and what all of them wrote is taken. Nothing is taken unless all parties wrote the same.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from threading import Thread
from types import TracebackType
from typing import IO, Any

from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, MissingDependency
from dpcheck.parties.task import Task

HERE = "127.0.0.1"
PATIENCE = 120.0  # seconds
LEFT_ALONE = 3.0  # that the others have to say why they ended, once one has
BETWEEN_LOOKS = 0.02
LEAST = 3  # with two parties a share is the number itself


class PartyStopped(DpcheckError, RuntimeError):
    """A computation ended without a release. Names the parties that ended, and what each said."""

    def __init__(self, said: dict[int, str]) -> None:
        super().__init__(said)
        self.said = said

    def __str__(self) -> str:
        told = "; ".join(f"party {j}: {why}" for j, why in sorted(self.said.items()))
        return f"the computation ended without a release ({told}). Nothing was opened: mend the party and start again."


class Session:
    """The processes of one computation; leaving the block ends those that still run.

    with Session(tasks) as session:
        opened = session.opened()
    """

    def __init__(self, tasks: Sequence[Task], patience: float = PATIENCE) -> None:
        if len(tasks) < LEAST or any(task.common is not tasks[0].common for task in tasks):
            limit = f"at least {LEAST}, with one common plan"
            raise InvalidInput("tasks", len(tasks), limit, "With two parties a share is the number itself.")
        if not patience > 0:
            raise InvalidInput(
                "patience", patience, "a number of seconds > 0", f"Pass patience={PATIENCE:g} for example."
            )
        if find_spec("mpyc") is None:
            raise MissingDependency("mpyc", "computing with other parties", "parties")
        self.tasks, self.patience, self.end = tasks, patience, 0.0
        self.processes: list[subprocess.Popen[bytes]] = []
        self.connected = [False] * len(tasks)
        self.lines: list[bytes] = [b""] * len(tasks)
        self._errors: list[IO[bytes]] = []
        self._held = ExitStack()

    def command(self, j: int, ports: Sequence[int]) -> list[str]:
        """How party j is started."""
        where = [word for port in ports for word in ("-P", f"{HERE}:{port}")]
        return [sys.executable, "-m", "dpcheck.parties.party", *where, "-I", str(j), "--no-log", "--no-uvloop"]

    def __enter__(self) -> Session:
        ports, self.end = free_ports(len(self.tasks)), time.monotonic() + self.patience
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            for j, task in enumerate(self.tasks):
                errors = self._held.enter_context(tempfile.TemporaryFile())
                self._errors.append(errors)
                pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
                process = subprocess.Popen(self.command(j, ports), env=one_thread, **pipes)
                self.processes.append(process)
                Thread(target=self._hand_over, args=(j, task), daemon=True).start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def wait_until(self, reached: Callable[[], bool]) -> None:
        """Look again and again; PartyStopped if a party ends before, or none of them gets there."""
        while not reached():
            ended = [j for j, p in enumerate(self.processes) if p.poll() is not None and not self.lines[j]]
            if ended or time.monotonic() > self.end:
                raise PartyStopped(self._said(ended))
            time.sleep(BETWEEN_LOOKS)

    def opened(self) -> list[list[int]]:
        """What was opened, round by round, once all parties have written it; PartyStopped if one ended before."""
        self.wait_until(lambda: all(self.lines))
        written = [json.loads(line)["opened"] for line in self.lines]
        if any(other != written[0] for other in written):
            raise PartyStopped(dict.fromkeys(range(len(written)), "opened something else than the others"))
        return [[int(value) for value in row] for row in written[0]]

    def _hand_over(self, j: int, task: Task) -> None:
        process = self.processes[j]
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError, ValueError):  # it may have ended
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            self.connected[j] = bool(process.stdout.readline())
            self.lines[j] = process.stdout.readline()

    def _said(self, ended: Sequence[int]) -> dict[int, str]:
        if not ended:
            return dict.fromkeys(range(len(self.tasks)), f"no answer within {self.patience:g} seconds")
        until = time.monotonic() + LEFT_ALONE
        while time.monotonic() < until and any(p.poll() is None for p in self.processes):
            time.sleep(BETWEEN_LOOKS)
        return {j: self._why(j) for j, p in enumerate(self.processes) if p.poll() is not None}

    def _why(self, j: int) -> str:
        code, errors = self.processes[j].returncode, self._errors[j]
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"ended with code {code}"

    def _stop(self) -> None:
        for process in self.processes:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
        for process in self.processes:
            try:
                process.wait(LEFT_ALONE if all(self.lines) else 0.1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._held.close()


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HERE, 0))
        return [int(one.getsockname()[1]) for one in sockets]
