"""`dpcheck verify --mutants`: statements falsified on purpose, and the checks that did not notice."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from dpcheck.report.layout import indented
from dpcheck.verdicts import mutants, verify

EACH, EACH_THOROUGH = 60.0, 600.0  # seconds for one mutant


def run_mutants(args: argparse.Namespace, ids: Sequence[str], executor: Any, out: Console) -> int:
    """Exit 1 if a false statement keeps its verdict."""
    each = EACH_THOROUGH if args.thorough else EACH
    found = mutants.survey(ids, sample_size=args.sample, seed=args.seed, executor=executor, each=each)
    if found.survivors:
        out.print(Text("False statements that keep their verdict", style="bold"))
    for one in found.survivors:
        out.print(Text.assemble((one.id, "bold"), f", {one.how}: {one.verdict}"))
        out.print(indented(one.statement), indented(one.why), sep="\n")
    for one in found.late:
        out.print(Text(f"out of time after {each:g} s: {one.id}, {one.how}"))
    for document, count in found.counts().items():
        out.print(Text(f"{document}: {', '.join(f'{number} {what}' for what, number in count.items())}"))
    if found.left:
        out.print(Text(f"not run, for want of time: {found.left}"))
    if args.json is not None:
        verify.write_whole(args.json.resolve(), json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n")
    if args.record and args.sample is None and not args.names:
        verify.write_whole(mutants.RECORD, json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n")
    return 1 if found.survivors else 0
