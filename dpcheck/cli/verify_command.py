"""`dpcheck verify`: judge, show, compare with the record, and write it on request."""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Effort
from dpcheck.report import terminal, verdicts_page
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
    show_verdicts(done, len(ids), time.perf_counter() - started, args.html, out)
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
    changed = record.differences(done)
    if changed:
        out.print(terminal.difference_table(changed))
        out.print("If the new verdicts are right: dpcheck verify --record", highlight=False)
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


def show_verdicts(done: list[verify.Judgement], total: int, seconds: float, html: Path | None, out: Console) -> None:
    """The table, the replay commands, the summary line."""
    for console in [out, Console(record=True, width=160, file=io.StringIO())] if html else [out]:
        console.print(terminal.verdict_table(done))
        if any(j.replay for j in done):
            console.print(terminal.replay_lines(done), soft_wrap=True)
        if any(j.gaps for j in done):
            console.print(terminal.gap_lines(done), soft_wrap=True)
        console.print(terminal.summary(done, total, seconds), style="bold", highlight=False, soft_wrap=True)
        if html and console is not out:
            console.save_html(str(html))
