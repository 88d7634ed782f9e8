"""What detectors said of each case, kept in corpus/record.json: a new case needs only its own rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpus.case import Case, Side
from corpus.detectors import Said

RECORD = Path(__file__).parent / "record.json"
Both = tuple[Said, Said]


def judged(case: Case, name: str, look: Callable[[Side, Case], Said]) -> Both:
    """What a detector says of both sides."""
    bug, twin = (look(side, case) for side in case.sides)
    return bug, twin


def written(case: Case, name: str, look: Callable[[Side, Case], Said]) -> Both:
    """The same, kept."""
    said = judged(case, name, look)
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    known.setdefault(case.name, {})[name] = [plain(one) for one in said]
    RECORD.write_text(lines(known), encoding="utf-8")
    return said


def lines(known: dict[str, dict[str, Any]]) -> str:
    """JSON with a line for each detector of each case."""
    cases = []
    for case, rows in sorted(known.items()):
        inside = ",\n".join(f"  {json.dumps(name)}: {json.dumps(both)}" for name, both in sorted(rows.items()))
        cases.append(f" {json.dumps(case)}: {{\n{inside}\n }}")
    return "{\n" + ",\n".join(cases) + "\n}\n"


def plain(said: Said) -> dict[str, Any]:
    """As JSON has it: an infinite loss is null."""
    epsilon = None if math.isinf(said.epsilon) else float(said.epsilon)
    return asdict(said) | {"flagged": bool(said.flagged), "epsilon": epsilon, "seconds": round(said.seconds, 2)}


def recorded() -> dict[str, dict[str, Both]]:
    """By case and detector."""
    known = json.loads(RECORD.read_text(encoding="utf-8"))
    return {case: {name: (read(bug), read(twin)) for name, (bug, twin) in row.items()} for case, row in known.items()}


def read(kept: dict[str, Any]) -> Said:
    return Said(**(kept | {"epsilon": math.inf if kept["epsilon"] is None else kept["epsilon"]}))
