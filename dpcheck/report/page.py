"""A page that needs nothing else: its style and its script are inside it, and it is read without a server.

Standard library only. A page is a heading, then what it is about: an article, or a listing whose items open articles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

ASSETS = Path(__file__).with_name("assets")
SHORT = 24  # letters of a word of a command that even a phone shows on one line


def page(title: str, lead: str, body: str) -> str:
    """The whole file around a body of HTML; title and lead are plain text."""
    style, script = ((ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'>"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>"
        "<script>document.documentElement.classList.add('js')</script></head>\n<body>"
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p></header>\n"
        f"<main>\n{body}\n</main>\n<script>\n{script}</script></body></html>\n"
    )


# Pieces --------------------------------------------------------------------------------------------
def badge(text: str, kind: str = "") -> str:
    """A verdict or an outcome in its colour."""
    return f"<span class='badge {css_name(kind or text)}'>{escape(text)}</span>"


def css_name(text: str) -> str:
    """`not-reproduced` of NOT REPRODUCED."""
    return re.sub(r"[^a-z]+", "-", text.lower()).strip("-")


def breakable(text: str) -> str:
    """A long name that a narrow page may break after its dots, slashes and underscores."""
    return re.sub(r"([._/]|::)(?=.)", r"\1<wbr>", escape(text))


def command(text: str) -> str:
    """A command to run again, with a button that copies it."""
    words = " ".join(
        f"<span class='whole'>{escape(word)}</span>" if len(word) <= SHORT else escape(word) for word in text.split(" ")
    )
    return f"<div class='command'><code>{words}</code><button type='button' class='copy'>copy</button></div>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Named facts; the names are text, what is said is HTML."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{said}</dd></div>" for name, said in pairs)
    return f"<dl class='facts'>{rows}</dl>"


def section(title: str, body: str) -> str:
    """A part of an article; nothing if there is nothing to say."""
    return f"<section><h3>{escape(title)}</h3>{body}</section>" if body else ""


def articles(bodies: Mapping[str, str], back: str) -> str:
    """One article for each item of a listing; the script shows the one that the address names."""
    around = "<a class='previous'>previous</a><a class='next'>next</a>"
    way = f"<nav><a href='#' class='back'>{escape(back)}</a>{around}</nav>"
    return "\n".join(f"<article id='{escape(key)}'>{way}{body}</article>" for key, body in bodies.items())


# Listing -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Item:
    """A row: its cells as HTML, and the plain values by which it is filtered and sorted."""

    id: str
    cells: Sequence[str]
    values: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column: its title, and the value that its heading sorts by."""

    title: str
    sorts: str


@dataclass(frozen=True)
class Filter:
    """A value to choose by, with what it may be, in order, and how these are called; few are shown as buttons."""

    name: str
    label: str
    choices: Mapping[str, str]
    buttons: bool = False


def listing(
    noun: str, columns: Sequence[Column], items: Sequence[Item], filters: Sequence[Filter], orders: Mapping[str, str]
) -> str:
    """A table to search, filter and sort; `orders` names the values to sort by, the first to begin with."""
    controls = "".join(buttons(f) if f.buttons else choice(f) for f in filters if len(f.choices) > 1)
    sorts = "".join(f"<option value='{escape(key)}'>{escape(name)}</option>" for key, name in orders.items())
    head = "".join(map(heading, columns))
    rows = "".join(row(item, columns) for item in items)
    return (
        f"<div class='listing' data-noun='{escape(noun)}'><form class='controls' role='search'>"
        "<label class='search'><span>search</span><input type='search' placeholder='words that must all occur'></label>"
        f"{controls}<label><span>order</span><select class='order'>{sorts}</select></label>"
        "<button type='reset'>clear</button></form>"
        f"<p class='count' role='status'>{len(items)} {escape(noun)}</p>"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def heading(of: Column) -> str:
    """A title that sorts by its column."""
    button = f"<button type='button' data-sort='{escape(of.sorts)}'>{escape(of.title)}</button>"
    return f"<th scope='col' class='{css_name(of.title)}'>{button}</th>"


def row(item: Item, columns: Sequence[Column]) -> str:
    """One item; on a narrow page its cells stand below each other."""
    values = "".join(f" data-{name}='{escape(str(value))}'" for name, value in item.values.items())
    cells = "".join(f"<td class='{css_name(c.title)}'>{cell}</td>" for c, cell in zip(columns, item.cells, strict=True))
    return f"<tr data-id='{escape(item.id)}'{values}>{cells}</tr>\n"


def choice(of: Filter) -> str:
    """A filter as a list to choose from."""
    options = "".join(f"<option value='{escape(key)}'>{escape(name)}</option>" for key, name in of.choices.items())
    return (
        f"<label><span>{escape(of.label)}</span><select data-filter='{escape(of.name)}'>"
        f"<option value=''>all</option>{options}</select></label>"
    )


def buttons(of: Filter) -> str:
    """A filter as buttons, of which several may be down."""
    shown = "".join(
        f"<button type='button' class='badge {css_name(key)}' value='{escape(key)}' aria-pressed='false'>"
        f"{escape(name)} <b></b></button>"
        for key, name in of.choices.items()
    )
    return f"<fieldset data-filter='{escape(of.name)}'><legend>{escape(of.label)}</legend>{shown}</fieldset>"
