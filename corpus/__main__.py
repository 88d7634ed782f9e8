"""`python -m corpus`: every detector on every bug and twin, as the page docs/real-bugs.md."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence

from corpus import CASES, Case, Said, Side
from corpus.detectors import DETECTORS
from corpus.page import PAGE, line_of, page
from corpus.record import judged, written
from dpcheck.progress import Meter

Detector = Callable[[Side, Case], Said]


def ran(cases: Sequence[Case], detectors: dict[str, Detector], keep: bool) -> None:
    """These detectors on these cases, printed case by case, and kept in the record if that is asked."""
    with Meter("detectors", "cases", len(cases)) as meter:
        for done, case in enumerate(cases, start=1):
            for name, look in detectors.items():
                said = judged(case, name, look) if not keep else written(case, name, look)
                print(line_of(case, name, said), flush=True)
            meter.update(done)


def loaded(where: str) -> Detector:
    """A detector of the user's own, by module:function."""
    module, _, name = where.partition(":")
    found: Detector = getattr(importlib.import_module(module), name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus", description=__doc__)
    parser.add_argument("--case", action="append", help="only this case (may be given again)")
    parser.add_argument("--only", action="append", choices=[*DETECTORS], help="only this detector (may be given again)")
    parser.add_argument("--detector", help="run a detector of your own instead, as module:function")
    parser.add_argument("--write", action="store_true", help=f"keep what is found, and write {PAGE.name}")
    asked = parser.parse_args()
    unknown = {*(asked.case or ())} - {case.name for case in CASES}
    if unknown:
        parser.error(f"no case named {sorted(unknown)[0]!r}: {', '.join(case.name for case in CASES)}")
    if asked.write and asked.detector:
        parser.error("--write keeps the detectors of the page alone")
    cases = [case for case in CASES if not asked.case or case.name in asked.case]
    known = {name: look for name, look in DETECTORS.items() if not asked.only or name in asked.only}
    ran(cases, {asked.detector: loaded(asked.detector)} if asked.detector else known, asked.write)
    if asked.write:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
