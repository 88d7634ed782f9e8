"""`python -m corpus`: every detector on every bug and twin, as the table of docs/real-bugs.md."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from corpus import CASES, Case
from corpus.detectors import DETECTORS, Said
from dpcheck.progress import Meter

PAGE = Path(__file__).parents[1] / "docs" / "real-bugs.md"
HEAD = """# Real bugs

Bugs that were reported in public code of differential privacy, rebuilt in a few lines each with a correct twin
(`corpus/`), and what detectors say of them: written by `python -m corpus --write`. An audit counts 20,000 runs of each
dataset at a false-alarm rate of 1e-6; replay reads the loss off a few runs. Truth is the loss on the case's own pair.
A control protects more than it claims.

"""


def row(case: Case, said: dict[str, tuple[Said, Said]]) -> list[str]:
    """A case in cells: what was wrong, what is true, and what each detector says of the bug and of the twin."""
    truth = "unknown" if case.truth is None else "infinite" if math.isinf(case.truth) else f"{case.truth:.3g}"
    claimed = f"{case.claim.parameters['eps']:.3g}"
    cells = [f"{case.name}{' (control)' if case.control else ''}", case.thread, case.wrong, claimed, truth]
    return [*cells, *(f"{_bug(bug)}; twin {_twin(twin)}" for bug, twin in said.values())]


def _bug(said: Said) -> str:
    if not said.flagged:
        return said.words
    return f"**found**{'' if math.isinf(said.epsilon) else f', {said.epsilon:.3g}'} ({said.runs:,} runs)"


def _twin(said: Said) -> str:
    return "FLAGGED" if said.flagged else said.words


def table() -> str:
    """All cases, and how many of those that protect too little each detector finds."""
    lines, found, alarms = [], dict.fromkeys(DETECTORS, 0), dict.fromkeys(DETECTORS, 0)
    bugs = [case for case in CASES if not case.control]
    with Meter("detectors", "cases", len(CASES)) as meter:
        for case in CASES:
            said = {name: (look(case.bug, case), look(case.twin, case)) for name, look in DETECTORS.items()}
            for name, (bug, twin) in said.items():
                found[name] += bug.flagged and not case.control
                alarms[name] += twin.flagged + (bug.flagged and case.control)
            lines.append(row(case, said))
            meter.update(len(lines))
    header = ["case", "reported", "what was wrong", "claimed", "truth", *DETECTORS]
    counts = [f"{found[name]} of {len(bugs)}, {alarms[name]} false alarms" for name in DETECTORS]
    lines.append(["**all**", "", "", "", "", *counts])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *lines)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    text = table()
    if parser.parse_args().write:
        PAGE.write_text(HEAD + text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
