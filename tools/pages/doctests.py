"""Doctests of docstrings as code blocks: to Markdown, `>>>` alone would be a quotation in a quotation."""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)  # up to the next empty line


class Doctests(griffe.Extension):
    """Fences them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Each run of doctest lines in a block of its own."""
    return DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
