"""What a project's audits have found so far, in a file beside its tests: `pytest --dpcheck-history FILE`.

Each audit is known by its test's name. Its evidence adds up from run to run (audits/over_time.py) as long as mechanism,
claim and datasets are the same; any change of them begins anew. The k-th version of a mechanism is tested at level
alpha / (k (k + 1)), which adds up to alpha: however often the tests run and the code changes, a test whose mechanism
keeps its promise is ever flagged with probability at most alpha.

Standard library only, as the plugin that loads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpcheck.verdicts.written import write_whole

Entry = Mapping[str, Any]
FORMAT = 1
REMEDY = "Restore it from version control, or delete it to begin anew"


class Unreadable(ValueError):
    """The file is not a history; the message says what to do."""


def read(path: Path) -> dict[str, Any]:
    """What is remembered of each audit; nothing if there is no file yet."""
    if not path.exists():
        return {}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        audits = said["audits"] if said["format"] == FORMAT else None
        whole = isinstance(audits, dict) and all(map(_is_kept, audits.values()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{path} cannot be read as a history ({type(error).__name__}: {error}). {REMEDY}") from error
    if audits is None or not whole:
        raise Unreadable(f"{path} is not a history of format {FORMAT}. {REMEDY}")
    return dict(audits)


def _is_kept(audit: Any) -> bool:
    return isinstance(audit["code"], str) and int(audit["version"]) >= 1 and "past" in audit


def write(path: Path, known: Mapping[str, Any], entries: Iterable[Entry]) -> None:
    """What was known, with what these audits add; whole or not at all, in an order that version control likes."""
    audits = dict(known) | {entry["claim"]: entry["remembered"] for entry in entries if "remembered" in entry}
    text = json.dumps({"format": FORMAT, "audits": dict(sorted(audits.items()))}, indent=1) + "\n"
    write_whole(path, text)


def version_of(kept: Entry | None, code: str) -> int:
    """Of the mechanism: 1, and one more whenever its code, data or claim changed."""
    if kept is None:
        return 1
    return int(kept["version"]) + (kept["code"] != code)


def level(alpha: float, version: int) -> float:
    """Of this version's tests: all together at most alpha."""
    return alpha / (version * (version + 1))
