"""A checkpoint: results of finished chunks, appended as they come, so that a rerun repeats none of them.

Each record carries its length and a checksum; what a kill leaves half-written is dropped on reading.
Only plain arrays are kept (no pickles): chunks of object outputs are simply run again.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bounds.errors import InvalidInput

MAGIC = b"dpcheck journal 1\n"
HEAD = struct.Struct("<qqqQI")  # stage, side, index, length, checksum


class Journal:
    """Finished chunks of one audit, in a file. `fingerprint` says which audit, so that no other resumes from it."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = Path(path)
        self.known: dict[tuple[int, int, int], np.ndarray] = {}
        opening = MAGIC + hashlib.sha256(fingerprint.encode()).hexdigest().encode() + b"\n"
        if self.path.exists() and self.path.stat().st_size:
            content = self.path.read_bytes()
            if not content.startswith(opening):
                limit = "a checkpoint of this very audit (mechanism, arguments, seed)"
                raise InvalidInput("checkpoint", str(self.path), limit, "Name another file, or delete this one.")
            end = self._read(content, len(opening))
            with self.path.open("r+b") as file:
                file.truncate(end)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(opening)

    def _read(self, content: bytes, at: int) -> int:
        """Load whole records; the place where the last of them ends."""
        while at + HEAD.size <= len(content):
            stage, side, index, length, checksum = HEAD.unpack_from(content, at)
            body = content[at + HEAD.size : at + HEAD.size + length]
            if len(body) < length or zlib.crc32(body) != checksum:
                break
            self.known[stage, side, index] = np.load(io.BytesIO(body), allow_pickle=False)
            at += HEAD.size + length
        return at

    def get(self, key: tuple[int, int, int]) -> np.ndarray | None:
        """A finished chunk's result, if it is known."""
        return self.known.get(key)

    def put(self, key: tuple[int, int, int], result: Any) -> None:
        """Append a result and push it to the system, so that it survives the process."""
        if not isinstance(result, np.ndarray) or result.dtype == object:
            return
        buffer = io.BytesIO()
        np.save(buffer, result, allow_pickle=False)
        body = buffer.getvalue()
        with self.path.open("ab") as file:
            file.write(HEAD.pack(*key, len(body), zlib.crc32(body)) + body)
