"""Files on disk: the user's cache, and texts written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """$DPCHECK_CACHE, or the user's cache folder."""
    home = os.environ.get("DPCHECK_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpcheck"


def as_json(value: Any) -> str:
    """Plain values as text that a diff can be read of."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def write_changed(path: Path, text: str) -> None:
    """Only what differs is written."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)


def write_whole(path: Path, text: str) -> None:
    """All or nothing: a reader never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
