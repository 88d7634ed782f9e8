"""Everything on the pages that a program writes, written anew: see tools/renew-pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat

from tools.pages import blocks, notebooks, picture

ROOT = blocks.ROOT


def main(names: Sequence[str]) -> int:
    """Renew the files that are named, or all; say what changed."""
    jobs: dict[Path, Callable[[Path], str]] = {picture.PATH: lambda _: picture.svg()}
    jobs |= dict.fromkeys(notebooks.paths(), renewed_notebook)
    jobs |= dict.fromkeys(blocks.pages(), blocks.renewed)
    known = {path.name: path for path in jobs}
    for name in names:
        if Path(name).name not in known:
            print(f"{name} is no page; there are {', '.join(sorted(known))}")
            return 2
    for path in [known[Path(name).name] for name in names] or list(jobs):
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = jobs[path](path)
        if after != before:
            path.write_text(after, encoding="utf-8")
        print(f"{'changed' if after != before else 'as it was':<10} {path.relative_to(ROOT)}", flush=True)
    return 0


def renewed_notebook(path: Path) -> str:
    """Its text after a run, or as it is where a reader would see no difference."""
    before, after = nbformat.read(path, as_version=4), notebooks.run(path)
    same = notebooks.outputs_of(before) == notebooks.outputs_of(after)
    return path.read_text(encoding="utf-8") if same else nbformat.writes(after) + "\n"
