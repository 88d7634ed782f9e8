"""`pytest --dpcheck-history`: what tests find adds up over runs, until the mechanism changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.testing import history

pytest_plugins = ["pytester"]

SUITE = """
import dpcheck as dp
from hypothesis import given, settings, strategies as st

SCALE = {scale}

def noisy(data, rng, trials):
    return data + rng.laplace(scale=SCALE, size=trials)

@dp.private(guarantee=dp.PureDP(1.0), pair=(0.0, 1.0), max_trials=5000)
def test_small():
    return noisy

def test_twice():
    for data in (0.0, 7.0):
        dp.assert_private(noisy, guarantee=dp.PureDP(2.0), pair=(data, data + 1), max_trials=2000)

@settings(max_examples=3, derandomize=True)
@given(st.integers(0, 5))
@dp.private(guarantee=dp.PureDP(2.0), pair=(0.0, 1.0), max_trials=2000)
def test_drawn(number):
    return noisy
"""


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """The suite, with its history."""
    return pytester.runpytest_subprocess("-q", "-p", "no:randomly", "--dpcheck-history=kept.json", *options)


def kept(pytester: pytest.Pytester) -> Any:
    """What the file says."""
    return json.loads((pytester.path / "kept.json").read_text())["audits"]


def test_a_small_violation_falls_after_some_runs_and_a_change_begins_anew(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile(SUITE.format(scale=1 / 1.12))
    name = f"{file.name}::test_small"
    run(pytester).assert_outcomes(passed=3)
    first = kept(pytester)
    assert set(first) == {name, f"{file.name}::test_twice", f"{file.name}::test_twice (2)"}
    assert first[name]["past"]["visits"] == 1
    for _ in range(20):
        result = run(pytester, "-n1", "-k", "test_small")
        if result.ret:
            break
    result.stdout.fnmatch_lines([f"VIOLATED {name}*"])
    fell = kept(pytester)
    assert fell[name]["past"]["visits"] > 2
    assert fell[f"{file.name}::test_twice"] == first[f"{file.name}::test_twice"]  # not run, not forgotten
    assert run(pytester, "-k", "test_small").ret != 0  # until it is mended
    pytester.makepyfile(SUITE.format(scale=1.0))
    result = run(pytester, "-k", "test_small")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*visit 1 since its code changed*", "*and all before it in its history*"])
    assert (kept(pytester)[name]["version"], kept(pytester)[name]["past"]["visits"]) == (2, 1)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "audits": {}}', '{"format": 1, "audits": {"a": 1}}'])
def test_a_file_that_is_no_history_is_refused_and_kept(pytester: pytest.Pytester, text: str) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    (pytester.path / "kept.json").write_text(text)
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*kept.json*Restore it from version control*"])
    assert (pytester.path / "kept.json").read_text() == text


def test_a_file_that_cannot_be_written_is_no_silent_loss(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): (__import__('pathlib').Path('kept.json')).mkdir()")
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*this run is not remembered*"])
    assert not list(pytester.path.glob("kept.json.*"))


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_a_report_on_a_full_disk_is_no_traceback(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = run(pytester, "--dpcheck-report=json", "--dpcheck-report-file=/dev/full")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*/dev/full was not written*No space left*"])
    assert Path("/dev/full").is_char_device()


@given(st.floats(1e-9, 0.5), st.integers(1, 1000))
def test_all_versions_together_have_one_level(alpha: float, versions: int) -> None:
    assert sum(history.level(alpha, k) for k in range(1, versions + 1)) <= alpha


def test_a_written_history_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    remembered = {"code": "ab", "version": 3, "past": {}}
    history.write(path, {"old": remembered}, [{"claim": "new", "remembered": remembered}, {"claim": "ill"}])
    assert history.read(path) == {"old": remembered, "new": remembered}
    assert [history.version_of(kept, "ab") for kept in (None, remembered, {**remembered, "code": "c"})] == [1, 3, 4]
