"""`python -m corpus.wild LIBRARY`: its subjects by every detector; `--page` writes the page from what was found."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import platform

from corpus.wild import LIBRARIES
from corpus.wild.looking import described, looked_at
from corpus.wild.page import FOUND, PAGE, found_of, written
from dpcheck.progress import Meter
from dpcheck.verdicts.written import as_json, write_whole

ASKED = ("name", "claim", "pair", "trials")  # what the figures of a subject depend on


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
    """At one subject, or at all; what was found of a subject before, by this version, is not looked for again."""
    room = "local" if library in ("pure_ldp", "multi_freq_ldpy") else library
    subjects = importlib.import_module(f"corpus.wild.of_{room}").SUBJECTS
    subjects = subjects[library] if isinstance(subjects, dict) else subjects
    if only is not None:
        rows = [looked_at(subject) for subject in subjects if subject.name == only]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    named = {"library": library, "version": importlib.metadata.version(library.replace("_", "-"))}
    before = found_of(library) or {"subjects": []}
    known = {row["name"]: row for row in before["subjects"] if before.get("version") == named["version"]}
    rows = []
    with Meter(library, "subjects", len(subjects)) as meter:
        for subject in sorted(subjects, key=lambda one: not one.finding):  # what matters first: it may be stopped
            old, words = known.get(subject.name, {}), described(subject)
            same = all(old.get(name) == words[name] for name in ASKED)
            rows.append({**old, **words} if same else looked_at(subject))
            left = [row for name, row in known.items() if name not in {row["name"] for row in rows}]
            said = {**named, "python": platform.python_version(), "subjects": [*rows, *left]}
            write_whole(FOUND / f"{library}.json", as_json(said))
            meter.update(len(rows))
    found = {row["name"]: row for row in rows}
    write_whole(FOUND / f"{library}.json", as_json({**said, "subjects": [found[one.name] for one in subjects]}))


if __name__ == "__main__":
    main()
