"""Long work says how far it is, how fast and how long it will take; where nobody looks it says nothing."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck import progress
from dpcheck.datasets import logistic_synthetic
from dpcheck.progress import Meter, advance, duration, shown_as, watching
from dpcheck.report.layout import Screen


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time that passes when it is told to."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


# What is said --------------------------------------------------------------------------------------
def test_amount_rate_and_time_left(clock: list[float]) -> None:
    with Meter("audit", "trials", 1000, shown=False) as meter:
        assert str(meter) == "audit, 0 of 1000 trials, 0.0 s"
        meter.guess = 50.0
        assert str(meter) == "audit, 0 of 1000 trials, 50/s, 20 s left"
        clock[0] += 4
        meter.update(400, note="choosing the event")
        assert str(meter) == "audit, 400 of 1000 trials, 100/s, 6.0 s left, choosing the event"
        clock[0] += 2  # nothing new, but time passes
        assert meter.seconds_left == pytest.approx(4)


def test_a_slow_unit_is_timed_by_itself(clock: list[float]) -> None:
    meter = Meter("measuring", "runs", 10, shown=False)
    clock[0] += 20
    meter.update(2.5)
    assert str(meter) == "measuring, 2 of 10 runs, 8.0 s each, 60 s left"


def test_the_rate_is_that_of_the_last_half_minute(clock: list[float]) -> None:
    meter = Meter("audit", "trials", 10_000, shown=False)
    for _ in range(100):
        clock[0] += 1
        meter.update(meter.done + 1)
    for _ in range(40):
        clock[0] += 1
        meter.update(meter.done + 50)
    assert meter.rate == pytest.approx(50)


@pytest.mark.parametrize(("seconds", "said"), [(0.04, "0.0 s"), (89, "89 s"), (95, "2 min"), (3600 * 30, "30 h 0 min")])
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_shares_go_to_the_work_that_has_parts() -> None:
    assert watching() is None
    advance(0.5)  # nobody listens
    with Meter("outer", "claims", 8, shown=False) as outer:
        advance(0.5)
        assert outer.done == 0
        with Meter("inner", "runs", 20, shown=False) as inner:
            inner.part = (10, 10)
            advance(0.25)
            assert (inner.done, outer.done) == (12.5, 0)
        assert watching() is outer


# Where it is shown ---------------------------------------------------------------------------------
def test_only_a_terminal_that_is_no_ci_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert Meter("x").shown == "nothing"
    assert Meter("x", shown=True).shown == "lines"
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert Meter("x").shown == "bar"
    assert Meter("x", shown=False).shown == "nothing"
    monkeypatch.setenv("CI", "true")
    assert Meter("x").shown == "nothing"
    assert Meter("x", shown=True).shown == "bar"
    with monkeypatch.context() as quiet:
        quiet.setenv("DPCHECK_QUIET", "1")
        with shown_as("lines"):
            assert Meter("x").shown == "nothing"
    with shown_as("lines"):
        assert Meter("x").shown == "lines"
        with Meter("outer", "claims", 3):
            assert Meter("inner", "trials", 5).shown == "nothing"
        with Meter("a command", shown="bar"):  # without a total it makes way for what has one
            assert Meter("inner", "trials", 5).shown == "lines"


def test_a_bar_is_drawn_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Meter("audit", "trials", 1000, shown=True) as meter:
        meter.update(250)
        until(lambda: "250 of 1000 trials" in screen.getvalue())
        result = Screen(file=io.StringIO())
        result.print("the result")
        assert screen.getvalue().endswith("\x1b[2K")  # the line is free before anything is printed
    before = screen.getvalue()
    monkeypatch.setattr(progress, "FIRST", 60.0)
    with Meter("short", "trials", 10, shown=True):
        pass  # over before anything was shown
    assert screen.getvalue() == before


def until(true: Any) -> None:
    for _ in range(500):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("not shown within five seconds")


# Who shows it --------------------------------------------------------------------------------------
def noisy(data: float, rng: np.random.Generator, trials: int) -> Any:
    time.sleep(1e-5 * trials)
    return data + rng.laplace(size=trials)


@pytest.mark.parametrize("how", [{}, {"stop_early": True}, {"assume": "gdp"}])
def test_an_audit_in_python_shows_itself(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    claim = dp.ApproxDP(1.0, 1e-3) if "assume" in how else dp.PureDP(1.0)
    asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": claim, "max_trials": 40_000, "executor": 1, **how}
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    shown = dp.audit(noisy, **asked)
    said = re.findall(r"audit, \d+ of 40000 trials, [\d.]+/s, .*? left", screen.getvalue())
    assert said
    before = screen.getvalue()
    quiet = dp.audit(noisy, **asked, progress=False)
    assert screen.getvalue() == before
    assert (quiet.epsilon_lower, quiet.counts) == (shown.epsilon_lower, shown.counts)


def test_a_measurement_counts_runs_within_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: ten minutes of silence. The kernel tells how far it is, and the bits are the same."""
    told: list[float] = []
    monkeypatch.setattr(Meter, "update", lambda self, done, *_, **__: told.append(done))
    problem = logistic_synthetic(50, 2, seed=0).problem(dp.Logistic(), l2=0.1)
    asked: dict[str, Any] = {"guarantee": dp.ApproxDP(1.0, 1e-3), "trials": 5, "progress": False}
    watched = dp.measure("dp_gd", problem, {"eps": [0.5, 1.0]}, **asked)
    inside = [done for done in told if 0 < done < 5]
    assert len(set(inside)) > 3
    assert told == sorted(told)
    assert max(told) == 10
    monkeypatch.setattr(progress, "watching", lambda: None)
    alone = dp.measure("dp_gd", problem, {"eps": [0.5, 1.0]}, **asked)
    assert np.array_equal(alone.mean, watched.mean)


SLOW = """
import time
def slow(data, rng, trials):
    time.sleep(2e-3 * trials)
    return data.mean() + rng.laplace(scale=1 / len(data), size=trials)
"""


def test_the_first_word_comes_while_the_first_call_is_still_running(tmp_path: Path) -> None:
    """A call of 1000 runs takes two seconds: rate and time left come from sixteen runs before it."""
    (tmp_path / "shop.py").write_text(SLOW)
    np.savez(tmp_path / "pair.npz", first=np.zeros(5), second=np.eye(5)[0])
    words = ["audit", "shop:slow", "--epsilon", "1", "--pair", "pair.npz", "--trials", "80000", "--workers", "1"]
    command = [sys.executable, "-m", "dpcheck.cli.main", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    line = run.stderr.readline()
    run.kill()
    run.communicate()
    assert re.fullmatch(r"audit, \d+ of 80000 trials, [\d.]+/s, \d+ (s|min) left.*\n", line), line


def test_a_command_on_a_terminal_leaves_its_result_alone() -> None:
    """As a person runs it: the bar is gone when the table comes."""
    leader, follower = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    words = ["bounds", "zhang17.lemma2", "--n=10", "--L=1", "--T=3", "--eta=0.1"]
    program = f"from dpcheck import progress; progress.FIRST_LINE = 0; from dpcheck.cli.main import main; main({words})"
    run = subprocess.Popen([sys.executable, "-c", program], stdout=follower, stderr=follower, env=surroundings)
    os.close(follower)
    said = b""
    try:
        while chunk := os.read(leader, 65536):
            said += chunk
    except OSError:  # the other end is closed
        pass
    assert run.wait(timeout=60) == 0
    bar, _, result = said.decode().rpartition("\x1b[2K")
    assert "dpcheck bounds, " in bar
    assert "dpcheck bounds, " not in result
    assert "zhang17.lemma2: Δ_T ≤ 3·L·T·η/n" in result


def test_a_forked_copy_is_not_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: "0 of 499 claims" from every worker of `verify`, whenever an audit of theirs ended."""
    monkeypatch.setattr(progress, "FIRST_LINE", 0.01)
    for process in (os.getpid() + 1, os.getpid()):
        meter = Meter("verifying", "claims", 499, "lines")
        meter.process = process
        with meter:
            time.sleep(0.2)
        assert ("0 of 499" in capsys.readouterr().err) is (process == os.getpid())


AUDITED = """
import time
import dpcheck as dp

def slow(data, rng, trials):
    time.sleep(1e-4 * trials)
    return data + rng.laplace(size=trials)

print("before")
result = dp.audit(slow, pair=(0.0, 1.0), guarantee=dp.PureDP(1.0), max_trials=8_000, executor=1)
print(result.violated)
"""


@pytest.fixture
def kernel() -> Iterator[Any]:
    """A notebook's kernel, where somebody looks."""
    manager = pytest.importorskip("jupyter_client.manager")
    seen = {name: value for name, value in os.environ.items() if name not in ("CI", "DPCHECK_QUIET")}
    kernel, client = manager.start_new_kernel(env=seen)
    yield client
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


def messages(client: Any, cell: str) -> list[tuple[str, Any]]:
    """Kind and content of all that comes back while the cell runs."""
    seen: list[tuple[str, Any]] = []
    reply = client.execute_interactive(cell, output_hook=lambda m: seen.append((m["msg_type"], m["content"])))
    assert reply["content"]["status"] == "ok", reply["content"]
    return seen


def test_a_notebook_shows_a_bar_below_the_cell(kernel: Any) -> None:
    """Seen: nothing for minutes. It is drawn while the audit runs, and gone before the cell prints what it found."""
    shown = ("display_data", "update_display_data")
    seen = [(kind, content) for kind, content in messages(kernel, AUDITED) if kind in (*shown, "stream")]
    assert [content["text"].strip() for kind, content in seen if kind == "stream"] == ["before", "False"]
    assert (seen[0][0], seen[1][0], seen[-1][0]) == ("stream", "display_data", "stream")
    bars = [content["data"]["text/html"] for kind, content in seen if kind in shown]
    wanted = r"<progress max='8000' value='[1-9]\d*'></progress> audit, \d+ of 8000 trials, \d+/s, [\d.]+ s left.*"
    assert re.fullmatch(wanted, bars[-2])
    assert bars[-1] == ""
    assert progress.FIRST_LINE < 2
    for quiet in ("CI", "DPCHECK_QUIET"):
        cell = f"import os; os.environ[{quiet!r}] = '1'\n{AUDITED}\ndel os.environ[{quiet!r}]"
        assert not [kind for kind, _ in messages(kernel, cell) if kind in shown]


def test_a_fit_and_a_solver_show_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(Meter, "update", lambda self, done, total=None, note="": told.append((self.what, done)))
    problem = logistic_synthetic(n=50, d=3, seed=0).problem(dp.Logistic(), l2=0.1)
    dp.solvers.DPGD(steps=20).solve(problem, dp.ApproxDP(1.0, 1e-3), 0, trials=3)
    model = dp.estimators.PrivateLogisticRegression(1.0, classes=(-1, 1), solver_options={"steps": 20})
    model.fit(np.asarray(problem.X), problem.y)
    for what in ("dp_gd", "fitting by dp_gd"):
        shares = [done for name, done in told if name == what]
        assert shares == sorted(shares)
        assert shares[-1] == 100
        assert len(set(shares)) > 3
