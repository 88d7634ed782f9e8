"""Files on disk: the user's cache, and texts written whole or not at all."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import fcntl

    LOCKS = True
except ImportError:  # Windows
    LOCKS = False


PART = ".part"  # what a file is called that is being written


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
    """All or nothing: no reader sees half a file, and what a killed write leaves beside it the next one removes.

    What is no file, as /dev/stdout and /dev/null, is written to as it is.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    sweep(path)
    handle, name = own_part(path)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.chmod(name, 0o644)
            if LOCKS:
                os.replace(name, path)  # while it is held, so that nobody sweeps it
        if not LOCKS:
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def own_part(path: Path) -> tuple[int, str]:
    """A file to write into, held until it is closed: no sweep takes it for one that was left behind."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=PART)
        if not LOCKS:
            return handle, name
        with suppress(OSError):  # file systems without locks: then nothing is swept there either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(name):
            return handle, name
        os.close(handle)  # swept before it was held


def sweep(path: Path) -> None:
    """Remove parts of this file whose writer is gone, as after kill -9: nobody holds them."""
    if not LOCKS:
        return
    for part in path.parent.glob(f"{glob.escape(path.name)}*{PART}"):
        with suppress(OSError), part.open("rb") as file:  # held, gone, or somebody else's
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink(missing_ok=True)
