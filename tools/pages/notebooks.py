"""The notebooks of examples/: run, compared with the outputs they were saved with, and turned into pages."""

from __future__ import annotations

import copy
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from tools.pages.blocks import ROOT, essence

PICTURES = ("image/svg+xml", "image/png")  # compared by being there: their bits are the drawing library's


def paths() -> list[Path]:
    """Every notebook."""
    return sorted((ROOT / "examples").glob("*.ipynb"))


def run(path: Path) -> Any:
    """The notebook with the outputs of a run from the top, in a kernel of its own."""
    from nbclient import NotebookClient

    notebook = copy.deepcopy(nbformat.read(path, as_version=4))
    with tempfile.TemporaryDirectory(prefix="dpcheck-") as folder:
        place = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, resources=place, timeout=120, coalesce_streams=True)
        client.execute(env={**os.environ, "DPCHECK_QUIET": "1"})  # progress is of no interest either
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran is of no interest
    return notebook


def outputs_of(notebook: Any) -> list[str]:
    """What a reader sees below each cell, as far as it must be the same; of pictures, that they are there."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [essence("\n".join(map(_seen, cell.outputs))) for cell in code]


def _seen(output: Any) -> str:
    if output.output_type == "stream":
        return f"{output.name}: {output.text}"
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    data = {kind: "" if kind in PICTURES else value for kind, value in output.data.items()}
    return str(sorted(data.items()))


def as_markdown(path: Path) -> str:
    """A page of the site: text, code, and below it what came out."""
    notebook = nbformat.read(path, as_version=4)
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts += [f"```python\n{cell.source}\n```", *map(_shown, cell.outputs)]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    """An output as Markdown: a table, a picture, or text."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    data = output.data
    if "image/png" in data:
        return f'<img alt="what the code above draws" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return re.sub(r"\n\s*\n", "\n", data["text/html"])
    return str(data["text/markdown"]) if "text/markdown" in data else f"```text\n{_plain(data).rstrip()}\n```"


def _plain(data: Any) -> str:
    return str(data.get("text/plain", ""))
