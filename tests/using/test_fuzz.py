"""Whatever is passed in, the public face answers or refuses with one typed error: no traceback, no hang, no litter.

A good call (public_calls.py) has some arguments replaced by junk; a command line has words dropped, doubled, swapped
and spoilt. `pytest -m slow tests/using/test_fuzz.py` tries 10,000 calls and 2,000 command lines, the gate some hundred.
"""

from __future__ import annotations

import contextlib
import decimal
import fractions
import io
import math
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.cli.main import main
from tests.using.public_calls import CALLS, X, Y

CALLS_TRIED = {"few": 300, "many": 10_000}
LINES_TRIED = {"few": 60, "many": 2_000}
PATIENCE = 120  # seconds: what takes longer hangs
LONG = {
    "max_trials",
    "trials",
    "runs",
    "steps",
    "n",
    "k",
    "d",
    "classes",
    "executor",
}
CALLED = {
    "attack",
    "mechanism",
    "progress",
    "reference",
    "function",
    "means",
    "log_density",
    "law",
    "score",
    "train",
}
SIZES: list[Any] = [-1, 0, 1, 2, 3, 1.5, -2.5, True]
NUMBERS: list[Any] = [
    *SIZES, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 10**400, np.float32(0.5), np.int8(-3),
    1j, decimal.Decimal("NaN"), fractions.Fraction(1, 3),
]  # fmt: skip
THINGS: list[Any] = [
    None, "", "auto", "eps", "\x00", "é" * 5, "[bold]", b"bytes", (), [], {}, {"a": 1}, [1, "a"], [[1], [1, 2]], {1.0},
    object(), int, len, lambda: None, lambda *args: 1 / 0, Ellipsis, NotImplemented, range(3), iter([1, 2]),
    np.array([]), np.zeros((0, 2)), np.zeros((2, 0)), np.full((6, 2), np.nan), np.full(6, np.inf), np.array(["a", "b"]),
    np.array([None, 1], dtype=object), np.array(1.0), np.zeros((2, 2, 2)), X[:3], Y[:3], X * 1e300, Y + 0.5,
    np.zeros(6, dtype=[("a", int)]), np.ma.masked_array([1.0], [True]), np.datetime64("2020-01-01"),
    dp.PureDP(1.0), dp.ZCDP(0.5), dp.LOCAL, dp.ADD_REMOVE, dp.Logistic(), dp.L2Ball(), dp.Past(), dp.replace_one(n=2),
    Path("nowhere/at/all"), KeyError("error"),
]  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """The name of a call, and its arguments with junk among them."""
    name = draw(st.sampled_from(sorted(CALLS)))
    arguments = dict(CALLS[name][1])
    for victim in draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=2, unique=True)):
        if draw(st.integers(0, 19)) == 0:
            del arguments[victim]
        else:
            numbers = SIZES if victim in LONG else NUMBERS
            junk = draw(st.sampled_from(numbers) | st.sampled_from(THINGS))
            a_file = victim == "checkpoint" and isinstance(junk, str | Path)  # which is no junk there
            if not (callable(junk) and victim in CALLED) and not a_file:
                arguments[victim] = junk
    return name, arguments


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """What hangs is a failure, not a stuck run: by the processor's time, and far later by the clock's."""

    def give_up(*_: Any) -> None:
        raise AssertionError(f"it took longer than {PATIENCE} s")

    before = [signal.signal(one, give_up) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(10 * PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for one, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(one, handler)


def is_pythons_own(error: TypeError) -> bool:
    """Of a call without an argument it needs: the caller's frame and the function's name, no frame of ours below."""
    frames, at = [], error.__traceback__
    while at is not None:
        frames.append(at.tb_frame.f_code.co_filename)
        at = at.tb_next
    return "required" in str(error) and not any("/dpcheck/" in name for name in frames)


def is_scikit_learns(error: Exception) -> bool:
    """Of its own checks of X and y, which its users know."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and "/sklearn/" in at.tb_frame.f_code.co_filename


def tried(name: str, arguments: dict[str, Any]) -> None:
    """Passes if the call answers or refuses as it should."""
    with warnings.catch_warnings(), patience():
        warnings.simplefilter("ignore")
        try:
            CALLS[name][0](**arguments)
        except dp.DpcheckError:
            pass
        except (TypeError, ValueError) as error:
            if not (isinstance(error, TypeError) and is_pythons_own(error)) and not is_scikit_learns(error):
                raise


HURRIED = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}
MUCH = pytest.param("many", marks=pytest.mark.slow)


@pytest.fixture
def emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with the cache elsewhere."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "here"


def all_of(effort: str, counts: dict[str, int], strategy: Any, check: Callable[[Any], None]) -> None:
    """As many examples as the effort says."""

    @settings(max_examples=counts[effort], phases=[Phase.generate, Phase.shrink], **HURRIED)
    @given(strategy)
    def run(drawn: Any) -> None:
        check(drawn)

    run()


LINES = [
    "claims", "claims zhang17.theorem2.approx", "claims --document zhang17 --verdict refuted", "tables zhang17.table1",
    "bounds zhang17.theorem2.approx --n 100 --d 2 --eps 1 --delta 1e-3 --L 1 --beta 1 --mu 0.1",
    "bounds dwang20.theorem4.1.1 --solve n --sigma_n 0.1 --G 1 --c 1 --T 10 --eps 1 --delta 1e-5",
    "compare outpert_gd dp_gd --n 1000 --d 5 --eps 1", "compare --local --n 1000 --d 5 --eps 1",
    "account --noise 1.1 --rate 0.01 --steps 10 --delta 1e-5", "account --eps 1 --steps 3 --delta 1e-5 --json -",
    "audit gaussian --eps 1 --delta 1e-5 --trials 200 --quiet", "audit laplace --eps 1 --trials 200 --seed 3",
    "need --error 0.1 --d 2 --eps 1", "replay zhang17.theorem2.pure", "completion bash", "verify nothing.at.all",
    "measure outpert_gd --grid eps=1,2 --trials 3", "--version", "verify --help", "rank --n 1000 --d 2 --eps 1 --help",
]  # fmt: skip
WORDS = [
    "", "-", "--", "-1", "0", "1e400", "nan", "inf", "--n", "--eps", "--eps=-1", "--delta=2", "--json", "--json=",
    "[bold]", "é", "\x00", "'", "--trials=0",
    "--trials=1.5", "--seed=-1", "--nonsense", "zhang17", "*", "--workers=0", "--help",
    "--n=1e-400", "--d=1,2", "--eps=one", "--columns=3", "{}", "$(true)", "--quiet", "--out=nowhere/at/all",
]  # fmt: skip


@st.composite
def spoilt_lines(draw: st.DrawFn) -> list[str]:
    """A good line of words, some dropped, doubled, swapped or put in."""
    words = draw(st.sampled_from(LINES)).split()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(words)))
        match draw(st.sampled_from(["drop", "double", "swap", "put", "put", "spoil"])):
            case "drop":
                del words[at : at + 1]
            case "double":
                words[at:at] = words[at : at + 1]
            case "swap":
                words[at : at + 2] = words[at : at + 2][::-1]
            case "put":
                words.insert(at, draw(st.sampled_from(WORDS)))
            case "spoil":
                words[at : at + 1] = [draw(st.text(max_size=6))]
    return words


def typed(words: list[str]) -> None:
    """Passes if the command line ends with an exit code and, if it is not 0, with words on standard error."""
    if words[:1] in (["verify"], ["rank"]) and not {"--help", "-h"} & {*words}:
        words = [words[0], "nothing.at.all", *words[1:]] if words[0] == "verify" else ["rank", *words[1:], "--nonsense"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(), patience():
        warnings.simplefilter("ignore")
        try:
            code = main(words)
        except SystemExit as end:  # as argparse does
            code = int(end.code or 0)
    assert code in (0, 1, 2)
    assert "Traceback" not in err.getvalue()
    assert code != 2 or err.getvalue().strip()


@pytest.mark.parametrize("effort", ["few", MUCH])
def test_malformed_calls_are_refused_in_words(effort: str, emptied: Path) -> None:
    all_of(effort, CALLS_TRIED, spoilt(), lambda drawn: tried(*drawn))
    assert list(emptied.iterdir()) == []


@pytest.mark.parametrize("effort", ["few", MUCH])
def test_malformed_command_lines_end_in_words(effort: str, emptied: Path) -> None:
    all_of(effort, LINES_TRIED, spoilt_lines(), typed)
    assert list(emptied.iterdir()) == []


@pytest.mark.parametrize("line", LINES)
def test_good_lines_are_good(line: str, emptied: Path) -> None:
    typed(line.split())


def test_good_calls_are_good() -> None:
    for function, arguments in CALLS.values():
        function(**arguments)


def test_a_call_that_breaks_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CALLS, "broken", (lambda number: math.sqrt(number), {"number": 4.0}))
    tried("broken", {"number": 2.0})
    for junk in (-1, "a", None):
        with pytest.raises((TypeError, ValueError)):
            tried("broken", {"number": junk})
