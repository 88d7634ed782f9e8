"""The page docs/real-bugs.md: goals, the matrix of cases and detectors, and how to run a detector of one's own."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

from corpus import CASES, Case
from corpus.case import parameter
from corpus.detectors import DETECTORS, ON_REQUEST, OWN_PAIR, TRIALS, not_for
from corpus.record import Both, recorded

PAGE = Path(__file__).parents[1] / "docs" / "real-bugs.md"
NOT_RUN = (not_for("not run"), not_for("not run"))
FEW = 20  # runs in which replay is to find most of them
HEAD = """# Real bugs

Bugs that were reported in public code of differential privacy, rebuilt in a few lines each with a correct twin
(`corpus/`), and what detectors say of them: written by `python -m corpus --write`.

- **replay** is given the case's own pair, which was picked to show the bug: that flatters it. It is the figure for a
  user who knows where to look, and for a test that has a pair.
- **replay with search**, **audit with search** are the figures that count: default settings, and neighbours to search.
  The audit makes {trials:,} runs of each dataset, not its default of a million, at a false-alarm rate of 1e-6. Where a
  claim is about one pair alone, it is given that.
- **audit of bits** looks at the last digits of floats. It is on request: nearly every float implementation tells by
  them, correct twins of other cases too, so that it applies only where the claim is about arithmetic.
- **canaries** (`dp.audit_training`) needs one training run. Where the claim is a Gaussian curve it is used, with the
  gradients at right angles that this rests on, at 1e-6; otherwise nothing is assumed, at a hundred times delta.
- **accountant or loop** compares an accountant with sound bounds on a grid of releases, or a training loop with what
  its accountant was told (`dp.check_training`).
- **longer audit** makes ten times the runs, where so little is lost, or so rarely, that an audit does not show it. A
  cell that was not run counts as nothing found.

Truth is the loss on the case's own pair, in the claim's parameter. A control protects more than it claims. A disputed
case was reported, and nobody agreed: the note says what we compute. Seconds are those of one machine.

## Run your own detector

A detector is a function of one side of a case. `side.run(data, rng)` is one run of the mechanism, `side.claim` what it
claims, `case.pair` shows the bug, `case.neighbours` is where to search.

```python
# my_detectors.py
import numpy as np

from corpus import Said


def by_means(side, case):
    rng = np.random.default_rng(0)
    first, second = ([np.sum(side.run(data, rng)) for _ in range(300)] for data in case.pair)
    apart = abs(np.mean(first) - np.mean(second)) / (np.std(first) + np.std(second) + 1e-12)
    return Said(flagged=bool(apart > 1), epsilon=0.0, words="means", runs=600, seconds=0.0)
```

```python
from corpus import CASES

case = next(case for case in CASES if case.name == "sign of a root")
print([by_means(side, case).flagged for side in case.sides])
```

```text
[True, False]
```

From the root of a checkout, `python -m corpus --detector my_detectors:by_means` runs it over all cases, and `--case
"sign of a root"` over one. It is told nothing of which side is the twin: flag the bug, and not the twin.

"""


def line_of(case: Case, name: str, said: Both) -> str:
    """What a detector says of a case, in a line."""
    return f"{case.name}: {name}: {cell(said)}"


def cell(said: Both) -> str:
    """The bug, and the twin."""
    bug, twin = said
    if not bug.applies:
        return bug.words if said == NOT_RUN else f"does not apply: {bug.words}"
    cost = f"{bug.runs:,} runs, {bug.seconds:.2g} s"
    loss = "" if math.isinf(bug.epsilon) or bug.epsilon == 0 else f", {bug.epsilon:.3g}"
    found = f"**found**{loss} ({cost})" if bug.flagged else f"{bug.words} ({cost})"
    return f"{found}; twin {'FLAGGED' if twin.flagged else twin.words}"


def row(case: Case, said: dict[str, Both]) -> list[str]:
    """A case in cells."""
    truth = "unknown" if case.truth is None else "infinite" if math.isinf(case.truth) else f"{case.truth:.3g}"
    kind = "" if case.kind == "bug" else f" ({case.kind})"
    wrong = f"{case.wrong} *{case.note[0].upper()}{case.note[1:]}.*" if case.note else case.wrong
    claimed = f"{parameter(case.claim):.3g}"
    return [f"{case.name}{kind}", case.thread, case.leaks, wrong, claimed, truth, *map(cell, said.values())]


def found(said: dict[str, Both], without: tuple[str, ...] = ()) -> list[str]:
    """The detectors that find it."""
    return [name for name, (bug, _) in said.items() if bug.flagged and name not in without]


def alarms(case: Case, both: Both) -> int:
    """False ones: twins, and whatever keeps its claim, as far as we compute."""
    return both[1].flagged + (both[0].flagged and not case.breaks)


def goals(known: dict[str, dict[str, Both]]) -> str:
    """What is asked of the whole, and what came out."""
    bugs = [case for case in CASES if case.kind == "bug"]
    searched = [case for case in bugs if found(known[case.name], (*OWN_PAIR, *ON_REQUEST))]
    few = [case for case in bugs if known[case.name]["replay"][0].flagged and known[case.name]["replay"][0].runs <= FEW]
    wrong = sum(alarms(case, both) for case in CASES for both in known[case.name].values())
    looks = sum(both[1].applies for case in CASES for both in known[case.name].values())
    lost = [case.name for case in bugs if not found(known[case.name])]
    asked = [case.name for case in bugs if case not in searched and case.name not in lost]
    disputed = [case for case in CASES if case.kind == "disputed"]
    kinds = f"{len(bugs)} bugs, {sum(case.kind == 'control' for case in CASES)} controls, {len(disputed)} disputed"
    lines = [
        f"{len(CASES)} cases: {kinds}.",
        "",
        "| goal | found |",
        "| --- | --- |",
        f"| 90% of the bugs found at default settings, with a search | {share(len(searched), len(bugs))} |",
        f"| 70% by replay within {FEW} runs, given the pair | {share(len(few), len(bugs))} |",
        f"| no false alarm | {wrong} in {looks} looks at twins |",
        "",
        f"Found only by a given pair or on request: {', '.join(asked) or 'none'}.",
        f"Found by nothing: {', '.join(lost) or 'none'}.",
        "",
    ]
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f}%)"


def classes(known: dict[str, dict[str, Both]]) -> str:
    """What each detector finds of each class of bugs."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        if case.kind == "bug":
            groups[case.leaks].append(case)
    lines = [["class", "bugs", *DETECTORS], ["---"] * (2 + len(DETECTORS))]
    everything = [case for cases in groups.values() for case in cases]
    for leaks, cases in [*sorted(groups.items()), ("**all**", everything)]:
        lines.append([leaks, str(len(cases)), *(counted(known, cases, name) for name in DETECTORS)])
    false = [sum(alarms(case, known[case.name][name]) for case in CASES) for name in DETECTORS]
    lines.append(["false alarms", "", *map(str, false)])
    return table(lines)


def counted(known: dict[str, dict[str, Both]], cases: list[Case], name: str) -> str:
    """How many of these a detector finds, of those that it can look at."""
    said = [known[case.name][name][0] for case in cases]
    applies = [one for one in said if one.applies]
    return f"{sum(one.flagged for one in applies)} of {len(applies)}" if applies else ""


def table(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def page() -> str:
    """All of it, from the record."""
    kept = recorded()
    known = {case.name: {name: kept.get(case.name, {}).get(name, NOT_RUN) for name in DETECTORS} for case in CASES}
    header = ["case", "reported", "class", "what was wrong", "claimed", "truth", *DETECTORS]
    matrix = table([header, ["---"] * len(header), *(row(case, known[case.name]) for case in CASES)])
    head = HEAD.format(trials=TRIALS)
    return f"{head}## Goals\n\n{goals(known)}\n## Classes\n\n{classes(known)}\n## Every case\n\n{matrix}"
