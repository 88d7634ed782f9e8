"""A checkpoint: results of finished chunks, appended as they come, so that a rerun repeats none of them.

Each record carries its length and a checksum; what a kill leaves half-written is dropped on reading.
Only plain arrays are kept (no pickles): chunks of object outputs are simply run again.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

MAGIC = b"dpcheck journal 2\n"
HEAD = struct.Struct("<qqqQI")  # stage, side, index, length, checksum
PROBED = (-1, 0, 0)  # where the digest of the first probe is kept


class Journal:
    """Finished chunks of one audit, in a file that no other process has open.

    `fingerprint` says part by part which audit it is, so that no other resumes from it.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: Mapping[str, str]) -> None:
        if not isinstance(path, str | os.PathLike) or not str(path):
            raise InvalidInput("checkpoint", path, "a file's name", "Pass checkpoint='audit.journal' for example.")
        self.path = Path(path)
        self.known: dict[tuple[int, int, int], np.ndarray] = {}
        self.checked = False
        self.full = ""  # why nothing more is written, if so
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._lock()
            self._resume(fingerprint)
        except OSError as error:
            self.file.close()
            raise self._unusable(error) from error
        except BaseException:
            self.file.close()
            raise

    def _unusable(self, error: OSError) -> InvalidInput:
        limit = f"a file that can be read and written ({error.strerror or error})"
        return InvalidInput("checkpoint", str(self.path), limit, "Name another place, or make room there.")

    def _lock(self) -> None:
        """Held until the file is closed or this process is gone; processes that it forks do not have it."""
        try:
            import fcntl

            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            return  # Windows: it is up to the caller
        except (BlockingIOError, PermissionError) as error:
            limit = "used by one audit at a time (another process has it open)"
            raise InvalidInput("checkpoint", str(self.path), limit, "Wait for it, or name another file.") from error

    def _resume(self, fingerprint: Mapping[str, str]) -> None:
        opening = MAGIC + json.dumps(fingerprint).encode() + b"\n"
        self.file.seek(0)
        content = self.file.read()
        if not content:
            self._append(opening)
            return
        if not content.startswith(opening):
            limit = f"a checkpoint of this very audit ({_difference(content, fingerprint)})"
            remedy = "Name another file, or delete this one; a mechanism that changes as it runs needs a key='...'."
            raise InvalidInput("checkpoint", str(self.path), limit, remedy)
        self.file.truncate(self._read(content, len(opening)))

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
        """Append a result and push it to the system, so that it survives the process.

        Where there is no room for it, what was written stays and the audit goes on: a rerun repeats the rest.
        """
        if not isinstance(result, np.ndarray) or result.dtype == object or self.full:
            return
        buffer = io.BytesIO()
        np.save(buffer, result, allow_pickle=False)
        body = buffer.getvalue()
        try:
            self._append(HEAD.pack(*key, len(body), zlib.crc32(body)) + body)
        except OSError as error:
            self.full = error.strerror or str(error)

    def _append(self, record: bytes) -> None:
        """All of it, or nothing: half a record would hide all that come after it."""
        end = self.file.seek(0, os.SEEK_END)
        rest = memoryview(record)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError:
            self.file.truncate(end)
            raise

    def check(self, mechanism: Any, probe: Callable[[], Any]) -> None:
        """Refuse to go on with a mechanism whose outputs are no function of the seed: two laws would be mixed.

        `probe` runs the same few trials with the same seed whenever it is called. Done once, before anything else.
        """
        if self.checked:
            return
        self.checked = True
        first = probe()
        made = np.frombuffer(first, np.uint8)
        before = self.get(PROBED)
        if before is None:
            self.put(PROBED, made)
        elif not np.array_equal(before, made) or probe() != first:
            limit = "a function of its rng to be resumed (here the same seed gave other outputs)"
            raise InvalidInput("mechanism", mechanism, limit, "Draw all randomness from rng, or use no checkpoint.")

    def close(self) -> None:
        """Let others have the file."""
        self.file.close()


def _difference(content: bytes, fingerprint: Mapping[str, str]) -> str:
    """What is not as it was."""
    kind, _, rest = content.partition(b"\n")
    try:
        before = json.loads(rest.partition(b"\n")[0]) if kind + b"\n" == MAGIC else None
    except ValueError:  # half an opening, or somebody else's file
        before = None
    if not isinstance(before, dict):
        return "it is of another kind or version"
    names = [name for name in {**before, **fingerprint} if before.get(name) != fingerprint.get(name)]
    return f"other than it was: {', '.join(names)}"
