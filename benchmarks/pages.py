"""Sections of docs pages that benchmarks write: each its own, so that one can be measured again without the others."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write_section(page: str, name: str, text: str) -> None:
    """Put a section into docs/<page>, in place of its last version or at the end."""
    path, marks = DOCS / page, (f"<!-- {name} -->\n", f"<!-- end of {name} -->\n")
    content = path.read_text() if path.exists() else ""
    section = f"{marks[0]}{text.strip()}\n{marks[1]}"
    before, found, rest = content.partition(marks[0])
    if not found:
        path.write_text(f"{content.rstrip()}\n\n{section}" if content.strip() else section)
        return
    path.write_text(before + section + rest.partition(marks[1])[2])
