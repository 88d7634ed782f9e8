"""`dpcheck verify`: judge, show, compare with the record, and write it on request."""

from __future__ import annotations

import argparse
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Effort
from dpcheck.report import verdict_screen, verdicts_page
from dpcheck.verdicts import record, verify
from dpcheck.verdicts.catalogue import catalogue, current, select
from dpcheck.verdicts.written import as_json, write_whole

OK, DIFFERENT, INTERRUPTED = 0, 1, 130


def run_verify(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Judge, show, compare with the record."""
    for path in (args.json, args.html, args.markdown):
        if path is not None and not path.resolve().parent.is_dir():
            raise InvalidInput("output file", str(path), "in a folder that exists", "Create the folder first.")
        if path is not None and path.is_dir():
            raise InvalidInput("output file", str(path), "a file, not a folder", "Add a file name to it.")
    if args.workers is not None and args.workers < 1:
        raise InvalidInput("workers", args.workers, "a whole number >= 1", "Leave it out for one per core.")
    ids = select(args.names, args.source, args.algorithm, args.kind)
    if args.by_chance:
        ids = verify.by_chance(ids)
    if args.mutants:
        from dpcheck.cli.mutants_command import run_mutants

        return run_mutants(args, ids, out)
    started, done, stopped = time.perf_counter(), [], False
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("verifying", total=len(ids))
        try:
            for judgement in verify.run(ids, Effort(args.thorough, args.seed), workers=args.workers, fresh=args.fresh):
                done.append(judgement)
                bar.update(task, advance=1, description=judgement.id)
        except KeyboardInterrupt:
            stopped = True
    done = verify.with_standing(done)
    seconds, changed = time.perf_counter() - started, record.differences(done)
    if args.table or len(ids) <= verdict_screen.FEW:
        verdict_screen.show_rows(done, out)
        out.print(Text(verdict_screen.summary(done, len(ids), seconds), style="bold"), soft_wrap=True)
        if changed and not args.record:
            verdict_screen.show_changes(changed, out)
    else:
        verdict_screen.show_screen(done, len(ids), seconds, () if args.record else changed, out)
    if args.html is not None:
        write_whole(args.html.resolve(), verdict_screen.html(done, len(ids), seconds))
    if args.json is not None:
        rows = [j.to_json() for j in sorted(done, key=lambda j: ids.index(j.id))]
        write_whole(args.json.resolve(), as_json(rows))
    if args.markdown is not None:
        verdicts_page.write(args.markdown.resolve(), record.recorded() | record.as_recorded(done), catalogue())
    if stopped:
        err.print("stopped; a rerun goes on from here", style="yellow")
        return INTERRUPTED
    if args.record:
        write_record(done)
        err.print(f"recorded {len(done)} verdicts")
        return OK
    return DIFFERENT if changed else OK


def write_record(done: list[verify.Judgement]) -> None:
    """The record, the index of claims, and in a checkout the two pages that are written from them."""
    from dpcheck.verdicts.indexing import write_index

    write_index(current())
    record.record(done)
    root = record.FOLDER.parents[2]  # an installed package has neither of these
    if (root / "docs").is_dir():
        verdicts_page.write(root / "docs" / "verdicts.md", record.recorded(), catalogue())
    if (root / "README.md").is_file():
        text = (root / "README.md").read_text(encoding="utf-8")
        write_whole(root / "README.md", verdicts_page.with_record(text, record.recorded()))
