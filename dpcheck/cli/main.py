"""The command line: verify, audit, claims, bounds, compare, tables, measure, replay."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Verdict, pretty
from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.cli.theory_commands import add_compare, run_solve
from dpcheck.report import terminal, verdicts_page
from dpcheck.verdicts import verify
from dpcheck.verdicts.catalogue import catalogue

OK, DIFFERENT, USAGE, INTERRUPTED = 0, 1, 2, 130
TAKES_REST = ("bounds", "compare", "replay")  # these take any symbol's name


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors of the user's become one sentence and exit code 2."""
    parser = build_parser(sys.argv[1:] if argv is None else argv)
    args, rest = parser.parse_known_args(argv)
    if rest and args.command not in TAKES_REST:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    out, err = terminal.consoles()
    try:
        return int(args.run(args, rest, out, err))
    except DpcheckError as error:
        err.print(f"dpcheck: {error}", style="red", markup=False, highlight=False)
        return USAGE
    except BrokenPipeError:
        return OK
    except OSError as error:
        err.print(f"dpcheck: {error}", style="red", markup=False, highlight=False)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


def build_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The commands and their options. Only who may audit waits for the auditor to be imported."""
    parser = argparse.ArgumentParser(prog="dpcheck", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    check = commands.add_parser("verify", help="judge every published statement", allow_abbrev=False)
    add_filters(check)
    check.add_argument("--thorough", action="store_true", help="spend more: more points, trials and cases")
    check.add_argument("--record", action="store_true", help="write the verdicts to the committed record")
    check.add_argument("--json", metavar="FILE", type=Path, help="write all verdicts and evidence to FILE")
    check.add_argument("--html", metavar="FILE", type=Path, help="write the table to FILE")
    check.add_argument("--markdown", metavar="FILE", type=Path, help="write the page of all verdicts to FILE")
    check.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")
    check.add_argument("--fresh", action="store_true", help="judge again what an earlier run has judged")
    check.add_argument("--seed", type=int, default=0, help="the integer all randomness comes from (default 0)")
    check.add_argument(
        "--mutants", action="store_true", help="falsify each statement and see whether its checks notice"
    )
    check.add_argument("--sample", type=int, metavar="N", help="with --mutants: a random share of N of them")
    check.set_defaults(run=run_verify)

    if not argv or argv[0] not in ("verify", "claims", "bounds", "compare", "tables", "measure", "replay"):
        from dpcheck.cli.audit_command import add_audit

        add_audit(commands)

    listing = commands.add_parser("claims", help="list the claims, or show one", allow_abbrev=False)
    add_filters(listing)
    listing.set_defaults(run=run_claims)

    evaluate = commands.add_parser(
        "bounds", help="evaluate a claim: dpcheck bounds ID --n 10000 --eps 1 ...", allow_abbrev=False
    )
    evaluate.add_argument("id")
    evaluate.add_argument("--solve-for", metavar="SYMBOL", help="the value at which the bound comes down to --error")
    evaluate.set_defaults(run=run_bounds)

    add_compare(commands)

    again = commands.add_parser(
        "replay", help="show a counterexample again: dpcheck replay ID --check KIND NAME=VALUE ...", allow_abbrev=False
    )
    again.add_argument("id")
    again.add_argument("--check", required=True, help="the kind of check that found it")
    again.set_defaults(run=run_replay)
    return parser


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which claims: by beginning of id, document, algorithm, kind."""
    parser.add_argument("names", nargs="*", metavar="ID", help="ids or their beginnings: zhang17, zhang17.theorem1")
    parser.add_argument("--source", help="only this document")
    parser.add_argument("--algorithm", help="only this algorithm (file stem)")
    parser.add_argument("--kind", choices=[k.value for k in Kind], help="only this kind of claim")


def run_verify(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Judge, show, compare with the record."""
    for path in (args.json, args.html, args.markdown):
        if path is not None and not path.resolve().parent.is_dir():
            raise InvalidInput("output file", str(path), "in a folder that exists", "Create the folder first.")
        if path is not None and path.is_dir():
            raise InvalidInput("output file", str(path), "a file, not a folder", "Add a file name to it.")
    if args.workers is not None and args.workers < 1:
        raise InvalidInput("workers", args.workers, "a whole number >= 1", "Leave it out for one per core.")
    ids = verify.select(args.names, args.source, args.algorithm, args.kind)
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
        verify.write_whole(args.json.resolve(), json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    if args.markdown is not None:
        verdicts_page.write(args.markdown.resolve(), {**verify.recorded(), **verify.as_recorded(done)}, catalogue())
    if stopped:
        err.print("stopped; a rerun goes on from here", style="yellow")
        return INTERRUPTED
    if args.record:
        verify.record(done)
        home = verify.RECORD.parents[1]  # in a checkout; an installed package has neither of these
        if (home / "docs").is_dir():
            verdicts_page.write(home / "docs" / "verdicts.md", verify.recorded(), catalogue())
        if (home / "README.md").is_file():
            text = (home / "README.md").read_text(encoding="utf-8")
            verify.write_whole(home / "README.md", verdicts_page.with_record(text, verify.recorded()))
        err.print(f"recorded {len(done)} verdicts")
        return OK
    changed = verify.differences(done)
    if changed:
        out.print(terminal.difference_table(changed))
        out.print("If the new verdicts are right: dpcheck verify --record", highlight=False)
    return DIFFERENT if changed else OK


def show_verdicts(done: list[verify.Judgement], total: int, seconds: float, html: Path | None, out: Console) -> None:
    """The table, the replay commands, the summary line."""
    for console in [out, Console(record=True, width=160, file=open_null())] if html else [out]:
        console.print(terminal.verdict_table(done))
        if any(j.replay for j in done):
            console.print(terminal.replay_lines(done), soft_wrap=True)
        if any(j.gaps for j in done):
            console.print(terminal.gap_lines(done), soft_wrap=True)
        console.print(terminal.summary(done, total, seconds), style="bold", highlight=False, soft_wrap=True)
        if html and console is not out:
            console.save_html(str(html))


def open_null() -> Any:
    """Where the recording console prints to."""
    import io

    return io.StringIO()


def run_claims(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """One claim's page, or the list."""
    known = verify.recorded()
    if len(args.names) == 1 and args.names[0] in catalogue():
        out.print(terminal.claim_page(verify.entry_of(args.names[0]), known))
    else:
        ids = verify.select(args.names, args.source, args.algorithm, args.kind)
        out.print(terminal.claim_list(ids, known))
    return OK


def run_bounds(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Evaluate a claim's right-hand side at the given numbers."""
    from dpcheck.bounds.registry import Parts
    from dpcheck.verdicts.lookup import bounds as library

    values = parse_options(rest)
    if args.solve_for is not None:
        return run_solve(library[args.id], args.solve_for, values, out)
    unknown = sorted(values.keys() - {row.name for row in TABLE.values()})
    if unknown:
        raise UnknownName("option", f"--{unknown[0]}", "a symbol's name", f"See `dpcheck claims {args.id}`.")
    found = library[args.id]
    claim: Claim = found.pick(set(values)) if isinstance(found, Parts) else found
    value = claim.evaluate(**values)
    out.print(f"{claim.id}: {claim.text()}", highlight=False, markup=False)
    out.print(f"{pretty(claim.subject)}: {float(value):.6g}", style="bold", highlight=False, markup=False)
    verdict = verify.recorded().get(claim.id, {}).get("verdict", "not recorded")
    out.print("verdict:", terminal.coloured(verdict))
    if verdict == Verdict.REFUTED:
        better = [row.id for row in catalogue().values() if row.corrects == claim.id]
        out.print(f"This claim is refuted; corrected: {', '.join(better) or 'none'}", style="red", highlight=False)
    return OK


def run_replay(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Exit 0 if the counterexample shows again, 1 if it does not."""
    point = {}
    for pair in rest:
        name, sign, text = pair.partition("=")
        if not sign:
            raise InvalidInput("point", pair, "NAME=VALUE", "For example eps=40.")
        point[name] = number(name, text)
    found = verify.replay(args.id, args.check, point)
    claim = verify.entry_of(args.id).claim
    out.print(f"{claim.id} ({claim.source})", style="bold", highlight=False, markup=False)
    out.print(f"says: {claim.says}", highlight=False, markup=False)
    out.print(f"states: {claim.text()}", highlight=False, markup=False)
    out.print(f"at: {', '.join(f'{k}={v:g}' for k, v in point.items())}", highlight=False, markup=False)
    out.print(f"found: {found.figure} ({found.detail})", highlight=False, markup=False)
    shown = found.verdict if found.verdict in verify.AGAINST else "a gap in the proof"
    out.print(terminal.coloured(shown if verify.shows(found) else "does not show here"))
    return OK if verify.shows(found) else DIFFERENT


def parse_options(rest: list[str]) -> dict[str, float]:
    """--n 10000 --eps 1 as numbers by name."""
    if len(rest) % 2 or any(not name.startswith("--") for name in rest[::2]):
        raise InvalidInput("options", " ".join(rest), "pairs of --NAME VALUE", "For example --n 10000 --eps 1.")
    return {name[2:]: number(name[2:], text) for name, text in zip(rest[::2], rest[1::2], strict=True)}


def number(name: str, text: str) -> float:
    """A finite number, whole ones as int (seeds are), or the sentence that says which was not one."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    raise InvalidInput(name, text, "a finite number", f"For example {name}=1.")


if __name__ == "__main__":
    sys.exit(main())
