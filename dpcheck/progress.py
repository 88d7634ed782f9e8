"""Progress of long work: how much is done, how fast, how long it will take.

A terminal has a bar on standard error, a notebook one below the cell. Nothing is shown of what is over at once, nor
where nobody looks: in CI, with DPCHECK_QUIET in the environment, or with `progress=False`. The command line prints
lines instead where there is no terminal. Who works deep inside reports by `advance`, whether somebody watches or not.
"""

from __future__ import annotations

import contextvars
import multiprocessing
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any, Literal

Display = Literal["bar", "notebook", "lines", "nothing"]
FIRST = 0.5  # seconds before a bar is shown
FIRST_LINE = 1.0  # seconds before a line is, or a bar that can only say how long; further lines at times that double,
SLOWEST = 60.0  # but with no more seconds than these between two
WINDOW = 30.0  # seconds that a rate is taken over
BETWEEN = 0.1  # seconds between two points of a rate
REFRESHED = 5.0  # times a second

_open: list[Meter] = []
_asked: list[Display] = []


class Meter:
    """What is known of one piece of work. A context: while it lasts, `advance` reports to it."""

    def __init__(
        self, what: str, unit: str = "", total: float | None = None, shown: bool | Display | None = None
    ) -> None:
        self.what, self.unit, self.total, self.note = what, unit, total, ""
        self.done, self.guess = 0.0, 0.0  # units, units a second before any is done
        self.part: tuple[float, float] | None = None  # what `advance` counts in shares of: from where, how much
        if isinstance(shown, bool):
            shown = (somebody_looks_at() or "lines") if shown else "nothing"
        self.shown: Display = chosen() if shown is None else shown
        self.started, self.thread, self.process = time.monotonic(), threading.get_ident(), os.getpid()
        self._marks: deque[tuple[float, float]] = deque([(self.started, 0.0)])
        self._display: _Bar | _Below | _Lines | None = None

    def __enter__(self) -> Meter:
        for other in _open if self.shown != "nothing" else ():
            other.hide()
        _open.append(self)
        self._show()
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        _open.remove(self)
        if _open and self.shown != "nothing":
            _open[-1]._show()

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        """So much is done."""
        now = time.monotonic()
        self.done, self.note = done, note
        self.total = self.total if total is None else total
        if len(self._marks) == 1 or now - self._marks[-1][0] > BETWEEN:
            self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > WINDOW:
            self._marks.popleft()

    def hide(self) -> None:
        """Clear the line; what is printed next has it to itself."""
        if self._display is not None:
            self._display.close()
            self._display = None

    def _show(self) -> None:
        if self.shown != "nothing" and os.getpid() == self.process:  # a forked worker has a copy that never moves
            self._display = _KINDS[self.shown](self)

    @property
    def rate(self) -> float:
        """Units a second, over the last half minute; the guess until one is done."""
        (then, before), (now, done) = self._marks[0], self._marks[-1]
        return (done - before) / (now - then) if done > before and now > then else self.guess

    @property
    def seconds_left(self) -> float | None:
        """By the rate; None if it is not known."""
        if self.total is None or self.rate <= 0:
            return None
        since = time.monotonic() - self._marks[-1][0]
        return max(0.0, (self.total - self.done) / self.rate - since)

    def __str__(self) -> str:
        """In one line."""
        parts = [self.what]
        if self.total is not None:
            parts.append(f"{int(self.done)} of {int(self.total)} {self.unit}".rstrip())
        if self.rate > 0:
            parts.append(f"{number(self.rate)}/s" if self.rate >= 1 else f"{duration(1 / self.rate)} each")
        left = self.seconds_left
        parts.append(f"{duration(left)} left" if left is not None else duration(time.monotonic() - self.started))
        return ", ".join([*parts, *([self.note] if self.note else [])])


def advance(share: float) -> None:
    """So much of the part under way is done, by who does it: of use where the innermost meter has parts."""
    meter = watching()
    if meter is not None and meter.part is not None:
        first, size = meter.part
        meter.update(first + share * size, note=meter.note)


@contextmanager
def in_percent(what: str) -> Iterator[None]:
    """Work that reports its shares by `advance`: to whom it is a part of, or shown by itself."""
    whole = watching()
    if whole is not None and whole.part is not None:
        yield
        return
    with Meter(what, "%", 100) as meter:
        meter.part = (0, 100)
        yield


def watching() -> Meter | None:
    """The meter of the innermost work under way in this thread."""
    if not _open:
        return None
    own = threading.get_ident()
    return next((meter for meter in reversed(_open) if meter.thread == own), None)


def make_way() -> None:
    """Clear what is shown: something else is about to be printed."""
    for meter in _open:
        meter.hide()


@contextmanager
def shown_as(how: Display) -> Iterator[None]:
    """While this lasts, work that leaves the choice open is shown so."""
    _asked.append(how)
    try:
        yield
    finally:
        _asked.pop()


def chosen() -> Display:
    """Nothing in somebody's worker, nor inside work that is shown itself.

    Else as asked for, or a bar if somebody looks, who is not a CI.
    """
    if multiprocessing.parent_process() is not None or any(m.total and m.shown != "nothing" for m in _open):
        return "nothing"
    if "DPCHECK_QUIET" in os.environ:
        return "nothing"
    if _asked:
        return _asked[-1]
    return (somebody_looks_at() if "CI" not in os.environ else None) or "nothing"


def somebody_looks_at() -> Display | None:
    """What a person would see: a cell's output, a terminal, or nothing."""
    return "notebook" if in_notebook() else "bar" if on_terminal() else None


def in_notebook() -> bool:
    """Whether this is the kernel of one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def on_terminal() -> bool:
    """Whether standard error is one that can clear a line."""
    with suppress(AttributeError, ValueError):  # none at all, or closed
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return False


# Shown -----------------------------------------------------------------------------------------------
class _Lines:
    """A line after one second, after two, four, ...; for logs."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.over = meter, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        wait = FIRST_LINE
        while not self.over.wait(wait):
            with suppress(OSError, ValueError):
                print(self.meter, file=sys.stderr, flush=True)
            wait = min(SLOWEST, time.monotonic() - self.meter.started)

    def close(self) -> None:
        self.over.set()


class _Bar:
    """A bar with the meter's words, drawn by rich."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.lock, self.closed = meter, threading.Lock(), False
        self.bar: Any = None
        self.timer = threading.Timer(FIRST_LINE if meter.total is None else FIRST, self._draw)
        self.timer.daemon = True
        self.timer.start()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, Task
        from rich.text import Text

        meter = self.meter

        class Words(ProgressColumn):
            max_refresh = None

            def render(self, task: Task) -> Text:
                task.total, task.completed = meter.total, meter.done
                return Text(str(meter), no_wrap=True, overflow="ellipsis")

        with self.lock:
            if not self.closed:
                console = Console(stderr=True)
                bar = [BarColumn(bar_width=max(8, min(30, console.width - 70)))] if console.width >= 80 else []
                self.bar = Progress(Words(), *bar, console=console, transient=True, refresh_per_second=REFRESHED)
                self.bar.add_task("", total=meter.total)
                self.bar.start()

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.closed = True
            if self.bar is not None:
                self.bar.stop()


class _Below:
    """A bar with the meter's words below the cell of a notebook; nothing stays of it."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.over = meter, threading.Event()
        # In the cell's own context: what another thread shows would belong to no cell.
        run = contextvars.copy_context().run
        self.thread = threading.Thread(target=run, args=(self._run,), daemon=True)
        self.thread.start()

    def _run(self) -> None:
        from IPython.display import display

        if self.over.wait(FIRST_LINE if self.meter.total is None else FIRST):
            return
        shown = display(self._drawn(), raw=True, display_id=True)
        while not self.over.wait(1 / REFRESHED):
            shown.update(self._drawn(), raw=True)
        shown.update({"text/plain": "", "text/html": ""}, raw=True)

    def _drawn(self) -> dict[str, str]:
        words, total = str(self.meter), self.meter.total
        share = "" if total is None else f" max='{total:g}' value='{self.meter.done:g}'"
        return {"text/plain": words, "text/html": f"<progress{share}></progress> {escape(words)}"}

    def close(self) -> None:
        self.over.set()
        self.thread.join()  # what is printed next comes after it


_KINDS: dict[Display, type[_Bar | _Below | _Lines]] = {"bar": _Bar, "notebook": _Below, "lines": _Lines}


# Words ---------------------------------------------------------------------------------------------
def number(value: float) -> str:
    """Whole where it can be, three digits where not.

    >>> number(120000.0), number(0.25), number(1234.5678)
    ('120000', '0.25', '1235')
    """
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def duration(seconds: float) -> str:
    """As one says it.

    >>> duration(0.2), duration(47), duration(600), duration(8000)
    ('0.2 s', '47 s', '10 min', '2 h 13 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
