"""Sections of docs pages that benchmarks write: each its own, so that one can be measured again without the others."""

from __future__ import annotations

from pathlib import Path

from dpcheck.verdicts.written import write_whole

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write_section(page: str, name: str, text: str) -> None:
    """Put a section into docs/<page>, in place of its last version or at the end."""
    path, marks = DOCS / page, (f"<!-- {name} -->\n", f"<!-- end of {name} -->\n")
    content = path.read_text() if path.exists() else ""
    section = f"{marks[0]}{text.strip()}\n{marks[1]}"
    before, found, rest = content.partition(marks[0])
    if not found:
        write_whole(path, f"{content.rstrip()}\n\n{section}" if content.strip() else section)
        return
    write_whole(path, before + section + rest.partition(marks[1])[2])


def write_rows(page: str, name: str, rows: list[str], counted: str, cells: int = 1) -> None:
    """Put rows into a section that says it was `counted` so, each in place of the one with the same first cells."""
    content = (DOCS / page).read_text()
    lines = content.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->\n")[0].splitlines()
    if not any(counted in line for line in lines):
        return
    fresh = {_start(row, cells): row for row in rows}
    last = max(i for i, line in enumerate(lines) if line.startswith("|"))
    known = {_start(line, cells) for line in lines}
    lines[last + 1 : last + 1] = [row for start, row in fresh.items() if start not in known]
    write_section(page, name, "\n".join(fresh.get(_start(line, cells), line) for line in lines))


def _start(line: str, cells: int) -> tuple[str, ...]:
    """What a row, or a remark below a table, is known by."""
    return tuple(line.split("|")[1 : 1 + cells]) if line.startswith("|") else (line.partition(":")[0],)
