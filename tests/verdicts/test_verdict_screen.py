"""What `dpcheck verify` says to a person: one screen of 80 columns, and rows that lose nothing at the edge."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from typing import Any

import pytest

from dpcheck.bounds.language.evidence import Evidence, Verdict
from dpcheck.report import verdict_screen
from dpcheck.report.layout import Screen
from dpcheck.verdicts import record
from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.verify import Judgement

SCREEN = 40  # lines: a terminal of the usual height, not scrolled far


def judgement(claim_id: str, kept: dict[str, Any]) -> Judgement:
    evidence = [Evidence(e["check"], Verdict(e["verdict"]), e["figure"], e["detail"]) for e in kept["evidence"]]
    grave = kept.get("severity", ""), kept.get("instead", "")
    return Judgement(claim_id, Verdict(kept["verdict"]), tuple(evidence), 0.1, *grave)


@pytest.fixture(scope="module")
def everything() -> list[Judgement]:
    """All claims, as recorded."""
    return [judgement(key, kept) for key, kept in record.recorded().items() if key in catalogue()]


def shown(show: Any, *args: Any, width: int = 80) -> str:
    out = Screen(width=width, file=io.StringIO(), force_terminal=True, color_system=None, markup=False)
    show(*args, out)
    text: str = out.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_all_claims_fit_one_screen(everything: list[Judgement]) -> None:
    changed = [(j.id, "PROVED", "REFUTED") for j in everything[:50]]
    text = shown(verdict_screen.show_screen, everything, len(everything), 63.2, changed)
    assert len(text.splitlines()) <= SCREEN
    assert max(len(line) for line in text.splitlines()) <= 80
    for word in (
        "zhang17",
        "wangxu19",
        "proved",
        "refuted",
        "printed",
        "ours beside",
        "differ from the record: 50",
        "44 more",
    ):
        assert word in text
    failures = [j for j in everything if j.severity.startswith("privacy failure") and verdict_screen.printed(j)]
    assert all(j.id in text for j in failures[: verdict_screen.MOST])
    assert ("Privacy failures" in text) is bool(failures)


@pytest.mark.parametrize("width", [60, 120, 200])
def test_the_screen_breaks_no_id(width: int, everything: list[Judgement]) -> None:
    changed = [(j.id, "PROVED", "REFUTED") for j in everything[:50]]
    screen = (verdict_screen.show_screen, everything, len(everything), 63.2, changed)
    assert set(shown(*screen, width=width).split()) == set(shown(*screen, width=1000).split())


def test_what_is_ours_is_not_counted_as_printed(everything: list[Judgement]) -> None:
    text = shown(verdict_screen.show_screen, everything, len(everything), 1.0, ())
    (line,) = [x for x in text.splitlines() if x.startswith("printed")]
    assert int(line.split()[-1]) == sum(verdict_screen.printed(j) for j in everything) < len(everything)
    assert "no verdict changed" in text


def longest_word(judgement: Judgement) -> int:
    return max(map(len, judgement.about.statement.split()))


def test_rows_lose_nothing_at_the_edge(everything: list[Judgement]) -> None:
    """Statement, place and figure stand whole, whatever their length; markup in them is text."""
    some = [j for j in sorted(everything, key=lambda j: -len(j.about.statement)) if longest_word(j) <= 78][:20]
    odd = replace(some[0], evidence=(Evidence("property", some[0].verdict, "measured [loss] and w*"),))
    text = shown(verdict_screen.show_rows, [odd, *some[1:]])
    joined = "".join(text.split())
    assert max(len(line) for line in text.splitlines() if "dpcheck replay" not in line) <= 80
    assert "measured [loss] and w*" in text
    for one in some:
        assert "".join(one.about.statement.split()) in joined
        assert "".join(one.about.place.split()) in joined


def test_in_a_terminal_of_80_columns() -> None:
    """As a person runs it: progress goes, what stays is not wider than the terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "dpcheck.cli.main", "verify", "zhang17.lemma9.exact", "--workers", "1"]
    run = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=surroundings)
    os.close(follower)
    said = b""
    try:
        while chunk := os.read(leader, 4096):
            said += chunk
    except OSError:  # the other end is closed
        pass
    assert run.wait(timeout=60) in (0, 1)
    plain = [line.rstrip() for line in said.decode().split("\r\n")]
    assert any("zhang17.lemma9.exact" in line for line in plain)
    assert any("1 claims in" in line for line in plain)
