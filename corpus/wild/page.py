"""docs/in-the-wild.md, made of what was found: no figure and no verdict is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpus.wild import LIBRARIES

FOUND = Path(__file__).parent / "found"
PAGE = Path(__file__).parents[2] / "docs" / "in-the-wild.md"
Row = dict[str, Any]

HEAD = """# In the wild

Released packages, as installed from the index, each in an environment of its own, under the guarantee that they state:
by audit (false-alarm rate 1e-6 for each, on the pair named or on those that a search finds) and by replay under the
same noise. Written by `python -m corpus.wild --page` from what `python -m corpus.wild LIBRARY` found.

A thing is called a finding only if a detector flags it again and again, and if it breaks what the library's own words
promise; what these leave out (bounds read from the data where none are given, with a warning) was not tried. "Not
violated" means that the audit found nothing with as many runs as it had, no more. Subjects of `corpus/wild/` that are
in no table have not been looked at yet.
"""


def found_of(library: str) -> Row | None:
    """What was found of a library, if it was looked at."""
    path = FOUND / f"{library}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def flagged_by(row: Row) -> list[str]:
    """The detectors that say the claim is broken."""
    return [name for name in ("audit", "replay") if row[name]["violated"]]


def loss(row: Row) -> str:
    """How much at least, by the detector that says most."""
    audit, replay = row["audit"], row["replay"]
    said = []
    if audit["violated"]:
        said.append(f"audit: epsilon >= {audit['lower']:.3g} at delta = {audit['delta']:.3g}, "
                    f"claimed {audit['claimed']:.3g}, by {audit['runs']:,} runs")  # fmt: skip
    if replay["violated"]:
        shown = replay["leak"] or (f"epsilon {replay['lower']:.3g}" if replay["lower"] is not None else "violated")
        said.append(f"replay: {shown}, by {replay['runs']:,} runs")
    return "; ".join(said)


def heading(found: Row) -> str:
    return f"{found['library'].replace('_', '-')} {found['version']}"


def finding(library: str, row: Row) -> str:
    """A finding in a few lines: what breaks, what was promised, how it is seen again."""
    before = f"Reported as {row['thread']}, still there. " if row["thread"] else ""
    lines = [
        f"**{row['name']}**: {row['finding']} {before}".rstrip(),
        f"- Promised: {row['promise']}." if row["promise"] else "",
        f"- Found by {loss(row)}.",
        f"- Again: `python -m corpus.wild {library} --only {row['name']!r}`",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def cell(said: Row) -> str:
    if said["violated"]:
        return "**violated**"
    return str(said["verdict"])


def table(rows: list[Row]) -> str:
    """Every subject with what each detector said."""
    lines = ["| subject | claim | audit | measured | runs | replay |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        audit = row["audit"]
        measured = f">= {audit['lower']:.3g} of {audit['claimed']:.3g}"
        lines.append(
            f"| {row['name']} | {row['claim']} | {cell(audit)} | {measured} | {audit['runs']:,} "
            f"| {cell(row['replay'])} |"
        )
    return "\n".join(lines) + "\n"


def section(library: str, found: Row) -> str:
    """One library: how many subjects, its findings, what it says itself, and the table."""
    rows: list[Row] = found["subjects"]
    findings = [row for row in rows if row["finding"] and flagged_by(row)]
    said = [row for row in rows if row["limit"]]
    parts = [
        f"## {heading(found)}\n",
        f"{len(rows)} subjects, {len(findings)} findings. Environment: `{LIBRARIES[library]}`, then "
        f"`python -m corpus.wild {library}`.\n",
        *(finding(library, row) for row in findings),
    ]
    if said:
        parts.append("Known to the library, and no finding:\n")
        parts.append("\n".join(f"- {row['name']}: {row['limit']}." for row in said) + "\n")
    return "\n".join([*parts, table(rows)])


def accountants() -> str:
    """What the laws said of accountants."""
    found = found_of("accountants")
    if found is None:
        return ""
    lines = ["## Accountants\n", *(f"{line}\n" for line in found["words"])]
    lines += ["| accountant | version | law | tried | broken | worst |", "| --- | --- | --- | --- | --- | --- |"]
    for row in found["rows"]:
        broken = f"**{row['broken']:,}**" if row["broken"] else "0"
        cells = (row["accountant"], row["version"], row["law"], f"{row['tried']:,}", broken, row["worst"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def written() -> str:
    """The page."""
    known = {library: found_of(library) for library in LIBRARIES}
    sections = [section(library, found) for library, found in known.items() if found is not None]
    return "\n".join([HEAD, *sections, accountants()]).rstrip() + "\n"
