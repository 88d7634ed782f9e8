"""What commands print: no word lost or broken at any width, plain rows in a pipe, no colour where none is wanted."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpcheck.cli.main import main
from dpcheck.cli.parser import build_parser, commands_of
from dpcheck.report.layout import Screen, hanging, indented, tabbed, wrapped
from dpcheck.verdicts.catalogue import catalogue

WIDTHS = (60, 80, 120, 200)
BOX = re.compile("[\u2500-\u257f]")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONGEST = max(catalogue(), key=len)
MECHANISM = """
def half(data, rng, trials):
    return data.mean() + rng.laplace(scale=0.5 / len(data), size=trials)
"""
# Every command, and the ways it prints.
COMMANDS = [
    "verify zhang17.lemma9 --workers 1",
    "audit shop:half --epsilon 1 --replace-one --values 0 1 --n 12 --trials 2000",
    "claims",
    f"claims {LONGEST}",
    "claims lwang21.theorem2.5.4.corrected",
    "bounds zhang17.lemma2 --n=10 --L 1 --T 3 --eta 0.1",
    "bounds zhang17.theorem2 --solve-for n --error 0.01 --d 50 --eps 1 --L 1 --beta 1 --mu 0.1",
    "compare outpert_gd dp_svrg dp_gd --n=1e5 --d 50 --eps 1",
    "tables",
    "tables dwang20.table3.2 lwang21.table4.1",
    "measure outpert_gd --over n 50 100 --d 2 --l2 0.1 --trials 5",
    "replay zhang17.lemma9 --check symbolic eps=2 q=0.1",
    "rank --n 1e5 --d 50 --eps 1",
    "need --error 0.01 --d 50 --eps 1",
    "account --noise 1.1 --rate 0.01 --steps 100 --delta 1e-5",
    "completion bash",
]
PAGES = ("compare", "rank", "need", "account")  # rows for programs, a page of another shape for people
FIRST_COLUMNS = {"id", "table", "method"}  # blocks show what is called so without saying it
TIMES = re.compile(r"\(checked by .*?\)|\d+\.\d+ s\b|^\d+ claims in .*$", re.M)  # another at each run


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(shlex.split(command)) in (0, 1)
    return capsys.readouterr().out


def words(text: str) -> list[str]:
    return [word.strip("(),;") for word in BOX.sub(" ", TIMES.sub(" ", ESCAPE.sub("", text))).split()]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def surroundings(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCHECK_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "shop.py").write_text(MECHANISM)


def as_on_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(width)}.items():
        monkeypatch.setenv(name, value)


def test_no_command_is_left_out() -> None:
    assert {command.split()[0] for command in COMMANDS} == commands_of(build_parser()).keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_is_lost_or_broken_at_any_width(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pipe gets, where nothing wraps, is all there is to show: ids, formulas, numbers."""
    whole = printed(command, capsys)
    if command.split()[0] in PAGES:  # a person reads sentences: none of their words, and every id of the rows
        ids = {cell for line in whole.splitlines() for cell in line.split("\t") if cell in catalogue()}
        as_on_a_terminal(monkeypatch, 5000)
        whole = f"{printed(command, capsys)} {' '.join(ids)}"
    if command == "claims":  # a person reads the places as headings
        whole = "\n".join("\t".join((*row[:2], row[3])) for row in (line.split("\t") for line in whole.splitlines()))
    everything = {word for word in words(whole) if len(word) > 1} - FIRST_COLUMNS
    for width in WIDTHS:
        as_on_a_terminal(monkeypatch, width)
        text = printed(command, capsys)
        assert everything - set(words(text)) == set(), width
        for line in ESCAPE.sub("", text).splitlines():
            if cell_len(line) > width and not command.startswith("completion") and "dpcheck replay" not in line:
                assert max(map(len, line.split())) > width - 24, line  # one word that no line has room for


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_a_pipe_gets_plain_rows(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(command, capsys)
    assert not BOX.search(text)
    assert "\x1b" not in text
    assert not any(line != line.rstrip(" ") for line in text.splitlines())


def test_a_record_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split("\t") for line in printed("claims", capsys).splitlines()]
    assert {len(row) for row in rows} == {4}
    assert {row[0] for row in rows} == catalogue().keys()
    assert [row[3] for row in rows if row[0] == LONGEST] == [catalogue()[LONGEST].says]
    rows = [line.split("\t") for line in printed("verify zhang17.lemma9 --workers 1", capsys).splitlines()[:-1]]
    assert [row[0] for row in rows] == ["zhang17.lemma9", "zhang17.lemma9.corrected", "zhang17.lemma9.exact"]
    assert {len(row) for row in rows} == {6}
    rows = [line.split("\t") for line in printed("tables", capsys).splitlines()]
    assert {len(row) for row in rows} == {6}


def test_colour_only_where_it_is_wanted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    command = "claims zhang17.lemma9"
    assert not COLOUR.search(printed(command, capsys))
    as_on_a_terminal(monkeypatch, 80)
    assert COLOUR.search(printed(command, capsys))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(printed(command, capsys))


# The pieces ----------------------------------------------------------------------------------------
def drawn(content: object, width: int) -> str:
    console = Screen(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    console.print(content)
    return ESCAPE.sub("", console.file.getvalue())  # type: ignore[attr-defined]


def grid() -> Table:
    table = Table()
    for name in ("method", "claim", "value"):
        table.add_column(name, overflow="fold")
    table.add_row("output perturbation", "zhang17.remark.population.strongly_convex.corrected", "1.5e-06 at n = 10")
    table.add_row("gradient descent", "zhang17.lemma2", "")
    return table


@pytest.mark.parametrize("width", [10, 40, 60, 79, 80, 100, 200])
def test_a_table_that_does_not_fit_becomes_blocks(width: int) -> None:
    text = drawn(grid(), width)
    assert "zhang17.remark.population.strongly_convex.corrected" in words(text)
    assert ("┏" in text) == (width >= 80)
    plain = Console(file=io.StringIO(), width=60)
    plain.print(grid())
    assert "zhang17.remark.population.strongly_convex.corrected" not in words(plain.file.getvalue())  # type: ignore[attr-defined]


def test_rows_without_names_of_columns_become_a_block_for_each_column() -> None:
    table = Table()
    for name in ("", "one", "two"):
        table.add_column(name)
    table.add_row("claim", "a" * 30, "b" * 30)
    assert drawn(table, 40).splitlines() == ["one", f"  claim  {'a' * 30}", "two", f"  claim  {'b' * 30}"]


@pytest.mark.parametrize("width", [1, 7, 12, 30, 80])
def test_wrapping_keeps_words_and_paragraphs(width: int) -> None:
    text = "σ² = TG²/(n²ρ) is  ρ-zCDP\n\n[loss] and w* stay"
    lines = [line.plain for line in wrapped(Text(text), width)]
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)
    assert "" in lines


def test_a_label_too_long_stands_alone() -> None:
    assert drawn(hanging("label", "text of some more words", 8), 32) == "label   text of some more words\n"
    assert drawn(hanging("label", "some more words than fit there", 8), 32).split("\n")[1] == "        there"
    assert drawn(hanging("a longer label", "text", 8), 40).split("\n")[:2] == ["a longer label", "    text"]
    assert drawn(indented("text " * 4), 80) == "  text text text text\n"


def test_a_record_keeps_its_tabs_and_stays_one_line() -> None:
    console = Screen(file=io.StringIO(), width=10)
    console.print(tabbed("an id that is long", "two\nlines", 3))
    assert console.file.getvalue() == "an id that is long\ttwo lines\t3\n"  # type: ignore[attr-defined]
