"""Rows for pipes: one record a line, tabs between, nothing wrapped, coloured or cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console


def rows_to(out: Console, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A line of titles, then the rows."""
    for row in (titles, *rows):
        print(*(cell.replace("\t", " ").replace("\n", " ") for cell in row), sep="\t", file=out.file)
