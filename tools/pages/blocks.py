"""Code blocks of README.md and docs/: run from the top of a page, and what they print compared with what is shown.

A `python` block runs in the page's namespace; a `text` block right below it shows what it prints. In a `console` block
each line `$ command` runs (dpcheck or pytest), and the lines below it show what it prints. A `python` block whose first
line is `# name.py` is also a file of that name in the page's folder, where its commands run.
Seconds differ from run to run, and digits beyond the sixth from machine to machine: they are shown, and not compared.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from functools import cache, partial
from pathlib import Path
from unittest import SkipTest
from unittest.mock import patch

from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.example import SybilFailure
from sybil.parsers.markdown import CodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ("README.md", "docs/*.md", "docs/*/*.md")
# Commands print as in a terminal of one width, the same everywhere.
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "0", "PY_COLORS": "0"}

SHOWN_OUTPUT = re.compile(r"\n+```text\n(?P<output>.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"# (?P<name>\w+\.py)\n")
SECONDS = re.compile(r"\b\d[\d.]*(?= ?s\b)")
BOLD = re.compile(r"\x1b\[[\d;]*m")  # a terminal's, which a page has no use for
MANY_DIGITS = re.compile(r"\b\d+\.\d{6,}\b")

Span = tuple[int, int]


class Differs(SybilFailure):
    """A block printed something else than its page shows at `place`."""

    def __init__(self, example: Example, printed: str, place: Span) -> None:
        shown = example.document.text[slice(*place)]
        remedy = "If this is right: tools/renew-pages"
        super().__init__(example, f"The page shows:\n{shown}\nIt printed:\n{printed}\n{remedy}")
        self.printed, self.place = printed, place


def python_blocks(document: Document) -> Iterator[Region]:
    """Each with the place of the output shown below it, if one is."""
    for region in CodeBlockParser("python", PythonEvaluator())(document):
        below = SHOWN_OUTPUT.match(document.text, region.end)
        region.evaluator = partial(run_python, place=below.span("output") if below else None)
        yield region


def console_blocks(document: Document) -> Iterable[Region]:
    """Commands with what they print."""
    return CodeBlockParser("console", run_console)(document)


PAGES = Sybil([python_blocks, console_blocks, SkipParser()], patterns=PATTERNS, path=str(ROOT))


def run_python(example: Example, place: Span | None) -> None:
    """Run a block; where an output is shown, it must print that."""
    __tracebackhide__ = True
    named = FILE_NAME.match(example.parsed)
    if named:
        (folder_of(example.path) / named["name"]).write_text(example.parsed, encoding="utf-8")
    with in_folder(example.path), redirect_stdout(io.StringIO()) as out:
        PythonEvaluator()(example)
    if place is not None:
        compare(example, out.getvalue(), place)


def run_console(example: Example) -> None:
    """Run the commands of a block, each of which must print what follows it."""
    __tracebackhide__ = True
    start = example.start + example.parsed.offset
    commands = [line for line in example.parsed.splitlines() if line.startswith("$ ")]
    with in_folder(example.path):
        printed = "".join(f"{line}\n{output_of(line[2:])}" for line in commands)
    compare(example, printed, (start, start + len(example.parsed)))


def compare(example: Example, printed: str, place: Span) -> None:
    """Line by line, trailing blanks aside."""
    __tracebackhide__ = True
    printed = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    if essence(printed) != essence(example.document.text[slice(*place)]):
        raise Differs(example, printed, place)


def essence(output: str) -> str:
    """What must be the same in every run, on every machine."""
    return MANY_DIGITS.sub(lambda number: f"{float(number[0]):.6g}", SECONDS.sub("0", output))


def output_of(command: str) -> str:
    """What `dpcheck ...` prints, here, or `pytest ...`, in a process of its own."""
    program, *arguments = shlex.split(command)
    if program == "pytest":
        line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
        return subprocess.run(line, capture_output=True, text=True, env=environment, check=False).stdout
    if program != "dpcheck":
        raise ValueError(f"{command}: a console block runs dpcheck or pytest. Make it a bash block.")
    from dpcheck.cli.main import main

    with redirect_stdout(io.StringIO()) as out:
        code = main(arguments)
    if code == 2:  # 1 is an answer: a violation, a verdict that differs
        raise ValueError(f"{command}: bad usage")
    return BOLD.sub("", out.getvalue())


@contextmanager
def in_folder(page: str) -> Iterator[None]:
    """Where a page's code runs: a folder of its own, a console of one width, no colours."""
    with chdir(folder_of(page)), patch.dict(os.environ, PLAIN):
        yield


def folder_of(page: str) -> Path:
    return Path(_folder(page).name)


@cache
def _folder(page: str) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="dpcheck-page-")


def renewed(path: Path) -> str:
    """The page with what its blocks print now."""
    document = PAGES.parse(path)
    edits: list[tuple[Span, str]] = []
    for example in document.examples():
        try:
            example.evaluate()
        except Differs as differs:
            edits.append((differs.place, differs.printed))
        except SkipTest:
            continue
    text = document.text
    for (start, end), printed in reversed(edits):
        text = text[:start] + printed + text[end:]
    return text


def pages() -> list[Path]:
    """Every page with code that runs."""
    return sorted({path for pattern in PATTERNS for path in ROOT.glob(pattern)})
