"""`python -m corpus.wild LIBRARY`: every subject of an installed library by every detector; `--page` writes the page."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import platform
from typing import Any

from corpus.wild import LIBRARIES
from corpus.wild.looking import looked_at
from corpus.wild.page import FOUND, PAGE, written
from dpcheck.progress import Meter
from dpcheck.verdicts.written import as_json, write_whole


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus.wild", description=__doc__)
    parser.add_argument("library", nargs="?", choices=[*LIBRARIES, "accountants"])
    parser.add_argument("--only", metavar="NAME", help="print what is found of one subject, and write nothing")
    parser.add_argument("--page", action="store_true", help=f"write docs/{PAGE.name} from what was found")
    asked = parser.parse_args()
    if asked.page:
        write_whole(PAGE, written())
    elif asked.library == "accountants":
        laws = importlib.import_module("corpus.wild.accountants")
        write_whole(FOUND / "accountants.json", as_json(laws.found()))
    elif asked.library:
        look(asked.library, asked.only)
    else:
        parser.error("name a library, or --page")


def look(library: str, only: str | None) -> None:
    """At one subject, or at all; rows that are there already for this version are kept as they come."""
    room = "local" if library in ("pure_ldp", "multi_freq_ldpy") else library
    subjects = importlib.import_module(f"corpus.wild.of_{room}").SUBJECTS
    subjects = subjects[library] if isinstance(subjects, dict) else subjects
    chosen = [subject for subject in subjects if only in (None, subject.name)]
    rows: list[dict[str, Any]] = []
    with Meter(library, "subjects", len(chosen)) as meter:
        for subject in chosen:
            rows.append(looked_at(subject))
            meter.update(len(rows))
            if only is None:
                version = importlib.metadata.version(library.replace("_", "-"))
                said = {"library": library, "version": version, "python": platform.python_version(), "subjects": rows}
                write_whole(FOUND / f"{library}.json", as_json(said))
    if only is not None:
        print(json.dumps(rows, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
