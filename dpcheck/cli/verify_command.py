"""`dpcheck verify`: judge, show, compare with the record, and write it on request."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from dpcheck import __version__
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.evidence import Effort
from dpcheck.cli.executor_option import executor_asked
from dpcheck.progress import Meter
from dpcheck.report import verdict_screen, verdicts_page
from dpcheck.report.verdict_browser import verdict_browser
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
    ids = select(args.names, args.source, args.algorithm, args.kind)
    if args.by_chance:
        ids = verify.by_chance(ids)
    if args.recorded:
        return write_recorded(args, ids, out)
    with executor_asked(args) as executor:
        return judge(args, ids, executor, out, err)


def judge(args: argparse.Namespace, ids: list[str], executor: Any, out: Console, err: Console) -> int:
    """Where it was asked for."""
    if args.mutants:
        from dpcheck.cli.mutants_command import run_mutants

        return run_mutants(args, ids, executor, out)
    if args.html is not None:
        write_html(args.html, ids, [])  # at once, from the record: judging may take minutes
        err.print(f"{args.html}: as recorded; written again when all is judged")
    started, done, stopped = time.perf_counter(), [], False
    with Meter("verifying", "claims", len(ids)) as meter:
        try:
            for judgement in verify.run(ids, Effort(args.thorough, args.seed), executor=executor, fresh=args.fresh):
                done.append(judgement)
                meter.update(len(done), note=judgement.id)
        except KeyboardInterrupt:
            stopped = True
    done = verify.with_standing(done)
    seconds, changed = time.perf_counter() - started, record.differences(done)
    if args.table or len(ids) <= verdict_screen.FEW:
        verdict_screen.show_rows(done, out)
        out.print(Text(verdict_screen.summary(done, len(ids), seconds), style="bold"))
        if changed and not args.record:
            verdict_screen.show_changes(changed, out)
    else:
        verdict_screen.show_screen(done, len(ids), seconds, () if args.record else changed, out)
    if args.html is not None:
        write_html(args.html, ids, done)
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


def write_recorded(args: argparse.Namespace, ids: Sequence[str], out: Console) -> int:
    """The pages that were asked for, of the verdicts as they are recorded: nothing is judged."""
    pages = [path for path in (args.html, args.markdown) if path is not None]
    other = [name for name in ("json", "record", "fresh", "thorough", "mutants", "table") if getattr(args, name)]
    if other or not pages:
        given = f"with --{other[0]}" if other else "without a page"
        raise InvalidInput("--recorded", given, "for pages: --html or --markdown", "Leave it out to judge.")
    if args.html is not None:
        write_html(args.html, ids, [])
    if args.markdown is not None:
        verdicts_page.write(args.markdown.resolve(), record.recorded(), catalogue())
    for path in pages:
        out.print(f"{path}: {counted(ids)}, as recorded", markup=False, highlight=False, soft_wrap=True)
    return OK


def counted(ids: Sequence[str]) -> str:
    return f"{len(ids)} claim{'' if len(ids) == 1 else 's'}"


def write_html(path: Path, ids: Sequence[str], done: Sequence[verify.Judgement]) -> None:
    """The page of these claims: those that are judged, and the others as recorded."""
    known = record.recorded() | record.as_recorded(done)
    some = "judged in this run" if len(done) == len(ids) else f"{len(done)} judged in this run, the others as recorded"
    lead = f"{counted(ids)}, {some if done else 'as recorded'} · dpcheck {__version__}"
    write_whole(path.resolve(), verdict_browser(ids, known, current(), lead))


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
