"""tools/explore: a planted failure is found with a fresh seed and printed as an example to paste."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXPLORE = Path(__file__).resolve().parents[2] / "tools" / "explore"


def explore(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(EXPLORE), *args], capture_output=True, text=True, timeout=120)


def test_what_fails_is_printed_to_be_pasted(tmp_path: Path) -> None:
    planted = tmp_path / "test_planted.py"
    planted.write_text(
        "from hypothesis import given, strategies as st\n"
        "@given(st.integers(0, 10**6), st.lists(st.booleans()))\n"
        "def test_planted(a, b):\n"
        "    assert a < 5000\n"
        "@given(st.integers())\n"
        "def test_sound(a):\n"
        "    assert a == a\n"
    )
    found = explore("--rounds", "1", "--seed", "3", str(planted))
    assert found.returncode == 1
    assert "test_planted: seed 3\n    @example(a=5000, b=[])" in found.stdout
    assert "test_sound" not in found.stdout


def test_nothing_found_is_said_so(tmp_path: Path) -> None:
    plain = tmp_path / "test_plain.py"
    plain.write_text(
        "from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_sound(a):\n    assert a == a\n"
    )
    found = explore("--rounds", "1", "--seed", "3", str(plain))
    assert (found.returncode, "0 tests failed" in found.stdout) == (0, True)
