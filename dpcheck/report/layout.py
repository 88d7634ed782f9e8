"""How commands print: no word is broken and none is lost at any width, and a pipe gets plain rows.

On a terminal, text is wrapped between words. A word wider than the line (an id, a formula, a path) sticks out and the
terminal carries it on, so that it can be copied and searched for. A table whose words do not fit beside each other
becomes blocks. Elsewhere a row is a line, its cells are separated by tabs, and nothing wraps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text

from dpcheck import progress

LEAST_BODY = 24  # columns of a hanging text; where there are fewer it starts on a line of its own


class Screen(Console):
    """A console that lays out what it prints for where it prints it."""

    def print(self, *objects: Any, **how: Any) -> None:
        """As rich does, without broken words; a bar of progress makes way."""
        progress.make_way()
        how = {"crop": False, **how} if self.is_terminal else {**how, "soft_wrap": True}
        if len(objects) > 1 and all(isinstance(one, str | Text) for one in objects):
            objects = (Text(how.pop("sep", " ")).join(map(as_text, objects)),)
        super().print(*(laid_out(one, self) for one in objects), **how)

    def status(self, *words: Any, **how: Any) -> Status:
        """As rich does, in place of the command's own bar."""
        progress.make_way()
        return super().status(*words, **how)

    def on_broken_pipe(self) -> None:
        """Whoever reads has seen enough; the command ends well."""
        raise  # the error that is being handled


def screen(stderr: bool = False) -> Screen:
    """Of standard output or standard error. Numbers keep the colour of their line, and brackets are brackets."""
    return Screen(stderr=stderr, highlight=False, markup=False, emoji=False)


def laid_out(content: Any, console: Console) -> Any:
    """The content as this console can show it whole."""
    if isinstance(content, Group):
        return Group(*(laid_out(one, console) for one in content.renderables))
    if isinstance(content, Table):
        return fitted(content, console) if console.is_terminal else rows_of(content)
    return hanging("", content, 0) if isinstance(content, str | Text) else content


# Text ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Hanging:
    """A text behind a label; further lines stand under its first one."""

    label: Text
    body: Text
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        label = self.label.copy()
        label.pad_right(max(0, self.indent - label.cell_len))
        room = options.max_width - self.indent
        if options.no_wrap:
            yield Text.assemble(label, self.body)
            return
        if room < LEAST_BODY or label.cell_len > self.indent:
            yield whole_line(self.label)
            label, room = Text("    "), options.max_width - 4
        for number, line in enumerate(wrapped(self.body, room)):
            yield whole_line(Text.assemble(label if number == 0 else " " * label.cell_len, line))


def hanging(label: str | Text, body: str | Text, indent: int) -> Hanging:
    """`body` from column `indent` on, behind `label`."""
    return Hanging(as_text(label), as_text(body), indent)


def indented(body: str | Text, by: int = 2) -> Hanging:
    """A text set in."""
    return hanging(" " * by, body, by)


@dataclass(frozen=True)
class OneLine:
    """A line that is never wrapped: a command to copy."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield whole_line(self.text)


def whole_line(text: Text) -> Text:
    """As one line, however long."""
    line = text.copy()
    line.no_wrap, line.overflow = True, "ignore"
    return line


def wrapped(text: Text, width: int) -> list[Text]:
    """Lines of whole words, none wider than this unless it is one word."""
    found = []
    for paragraph in text.split("\n", allow_blank=True):
        cuts: list[int] = []
        for word in re.finditer(r"\S+", paragraph.plain):
            first = cuts[-1] if cuts else 0
            if word.start() > first and cell_len(paragraph.plain[first : word.end()]) > width:
                cuts.append(word.start())
        for line in paragraph.divide(cuts):
            line.rstrip()
            found.append(line)
    return found


@dataclass(frozen=True)
class TabbedRow:
    """One record in one line, for programs: its parts as they are, separated by tabs."""

    parts: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        yield Segment("\t".join(" ".join(part.split()) for part in self.parts))  # a Text would turn tabs into blanks
        yield Segment.line()


def tabbed(*parts: object) -> TabbedRow:
    """A record of these parts."""
    return TabbedRow(tuple(str(part) for part in parts))


def rows_to(out: Console, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A line of titles, then the records."""
    for row in (titles, *rows):
        out.print(tabbed(*row))


def as_text(content: str | Text) -> Text:
    return content if isinstance(content, Text) else Text(content)


# Tables --------------------------------------------------------------------------------------------
def rows_of(table: Table) -> Group:
    """For a pipe: title, names of the columns, rows."""
    title = [Text(str(table.title))] if table.title else []
    names = [tabbed(*(str(column.header) for column in table.columns))] if table.show_header else []
    rows = zip(*(column.cells for column in table.columns), strict=True)
    return Group(*title, *names, *(tabbed(*(str(cell) for cell in row)) for row in rows))


def fitted(table: Table, console: Console) -> Table | Group:
    """For a terminal: columns at least as wide as their longest word, or blocks where there is no room for these."""
    cells = [[as_text(cell) for cell in column.cells] for column in table.columns]  # type: ignore[arg-type]
    heads = [as_text(column.header if table.show_header else "") for column in table.columns]  # type: ignore[arg-type]
    whole = [max(text.cell_len for text in (head, *own)) for head, own in zip(heads, cells, strict=True)]
    least = [max(longest(text) for text in (head, *own)) for head, own in zip(heads, cells, strict=True)]
    width = console.width
    for column, wanted in zip(table.columns, least, strict=True):
        column.width = wanted
    spare = width - Measurement.get(console, console.options.update(max_width=10**6), table).maximum
    if spare < 0:
        return blocks(table.title, heads, cells)
    for column, given in zip(table.columns, shared(spare, least, whole), strict=True):
        column.width = given
    return table


def longest(text: Text) -> int:
    """The widest word."""
    return max((Text(word).cell_len for word in text.plain.split()), default=0)


def shared(spare: int, least: Sequence[int], whole: Sequence[int]) -> list[int]:
    """Widths from `least` to `whole`: what is to spare goes to the narrowest first, until all are as wide."""
    widths = list(least)
    while spare > 0:
        wanting = [i for i, width in enumerate(widths) if width < whole[i]]
        if not wanting:
            break
        widths[min(wanting, key=lambda i: widths[i])] += 1
        spare -= 1
    return widths


def blocks(title: Any, heads: Sequence[Text], cells: Sequence[Sequence[Text]]) -> Group:
    """What a table compares, one below the other: each row by the names of the columns, or each column by those of the
    rows where the rows have names and the names have none.
    """
    by_row = bool(heads[0])
    things, names = (cells[0], heads[1:]) if by_row else (heads[1:], cells[0])
    parts: Iterable[Sequence[Text]] = zip(*cells[1:], strict=True) if by_row else cells[1:]
    indent = max(name.cell_len for name in names) + 4
    found: list[Any] = [hanging("", str(title), 0)] if title else []
    for thing, own in zip(things, parts, strict=True):
        found.append(hanging("", Text(thing.plain, style="bold"), 0))
        found += [hanging(f"  {name.plain}", cell, indent) for name, cell in zip(names, own, strict=True) if cell]
    return Group(*found)
