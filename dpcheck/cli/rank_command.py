"""`dpcheck rank` and `dpcheck need`: which method for my problem, and how much data it takes."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from dpcheck.cli.executor_option import executor_asked
from dpcheck.cli.parser import parse_options
from dpcheck.report.layout import rows_to

if TYPE_CHECKING:
    from dpcheck.theory.method_bounds import Findings

OK = 0


def run_rank(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """Methods by kind of bound; in a pipe one line each."""
    with err.status("reading the claims and their bounds ..."), executor_asked(args) as executor:
        from dpcheck.theory.ranking import rank

        found = rank(n=args.n, executor=executor, **asked(args), **parse_options(rest))  # type: ignore[arg-type]
    if args.plot is not None:
        found.plot(args.plot)
        err.print(Text(f"drawn: {args.plot}"))
    return show(found, args, out, err)


def run_need(args: argparse.Namespace, rest: list[str], out: Console, err: Console) -> int:
    """The least n of each method; in a pipe one line each."""
    with err.status("reading the claims and their bounds ..."):  # shown on a terminal only
        from dpcheck.theory.need import need

        found = need(error=args.error, measure=args.measure, **asked(args), **parse_options(rest))  # type: ignore[arg-type]
    return show(found, args, out, err)


def asked(args: argparse.Namespace) -> dict[str, Any]:
    """The options that both commands have."""
    names = ("d", "eps", "delta", "loss", "strongly_convex", "model", "row_bound")
    return {name: getattr(args, name) for name in names}


def show(found: Findings, args: argparse.Namespace, out: Console, err: Console) -> int:
    """As JSON, as a page on a terminal, as rows in a pipe."""
    from dpcheck.cli.theory_commands import json_safe
    from dpcheck.report.ranking_page import NOTHING, unranked_rows

    if args.json:
        out.print_json(json.dumps(json_safe(found.to_json()), ensure_ascii=False))
    elif out.is_terminal:
        out.print(found.shown.page(found))
    else:
        rows_to(out, found.shown.titles, [*found.shown.rows(found), *unranked_rows(found, found.shown.titles)])
        if not found.groups:
            err.print(Text(NOTHING))
    return OK
