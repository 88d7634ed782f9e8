"""`dpcheck verify --mutants`: statements falsified on purpose, and the checks that did not notice."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dpcheck.verdicts import mutants, verify

EACH, EACH_THOROUGH = 60.0, 600.0  # seconds for one mutant


def run_mutants(args: argparse.Namespace, ids: Sequence[str], out: Console) -> int:
    """Exit 1 if a false statement keeps its verdict."""
    each = EACH_THOROUGH if args.thorough else EACH
    found = mutants.survey(ids, sample_size=args.sample, seed=args.seed, workers=args.workers, each=each)
    if found.survivors:
        table = Table(title="False statements that keep their verdict", header_style="bold")
        for name in ("claim", "falsified by", "statement", "verdict", "because"):
            table.add_column(name, overflow="fold")
        for one in found.survivors:
            table.add_row(one.id, one.how, one.statement, one.verdict, one.why)
        out.print(table)
    for one in found.late:
        out.print(f"out of time after {each:g} s: {one.id}, {one.how}", highlight=False, markup=False)
    for document, count in found.counts().items():
        words = ", ".join(f"{number} {what}" for what, number in count.items())
        out.print(f"{document}: {words}", highlight=False, markup=False)
    if args.json is not None:
        verify.write_whole(args.json.resolve(), json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n")
    if args.record and args.sample is None and not args.names:
        verify.write_whole(mutants.RECORD, json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n")
    return 1 if found.survivors else 0
